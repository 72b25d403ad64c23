"""Search for bytes that the readers do not survive: scripts/fuzz [model | csv] [seconds] [seed].

Structure-aware mutations of the tests' files, each of a new seed; what is found is written beside this script. With
`guided` in place of `model`, guided by coverage (needs atheris). The last figures are in docs/explanation/lanes.md.
"""

import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))


def guided(seconds: str) -> None:
    """Let atheris look for new paths through the loader."""
    import atheris

    import modelfile.examples  # noqa: F401 first, so that it is not instrumented

    with atheris.instrument_imports(include=["secateur.modelfile"]):
        from modelfile.test_fuzz import mutated, survives

    options = [f"-max_total_time={seconds}", "-max_len=16384", "-timeout=20", "-rss_limit_mb=2000"]
    folders = [tempfile.mkdtemp(), str(TESTS / "modelfile" / "golden")]  # what it finds goes into the first
    atheris.Setup([sys.argv[0], *options, *folders], survives, custom_mutator=mutated)
    atheris.Fuzz()


def search(what: str, seconds: float, seed: int) -> int:
    """Try cases of one seed after the other; the number of faults."""
    if what == "csv":
        from test_fuzz_files import SEEDS, is_table, mutated_text

        path = Path(tempfile.mkdtemp(), "broken.csv")

        def case(rng: random.Random) -> bytes:
            return mutated_text(rng.choice(SEEDS), rng)

        def is_valid(data: bytes) -> bool:
            return is_table(data, path)
    else:
        from modelfile.test_fuzz import MODELS, mutated, survives

        def case(rng: random.Random) -> bytes:
            return mutated(rng.choice(MODELS), 1 << 16, rng.randrange(1 << 62))

        is_valid = survives
    n = n_valid = n_faults = 0
    slowest, start = 0.0, time.process_time()
    while time.process_time() - start < seconds:
        data = case(random.Random(f"{what} {seed} {n}"))
        before = time.process_time()
        try:
            n_valid += is_valid(data)
        except Exception:  # noqa: BLE001 any of them is what we look for
            n_faults += 1
            Path(f"fault-{what}-{seed}-{n}").write_bytes(data)
            traceback.print_exc(limit=-3)
        slowest = max(slowest, time.process_time() - before)
        n += 1
    rate = n / (time.process_time() - start)
    print(f"{what}: {n:,} cases, {n_valid:,} valid, {n_faults} faults, {rate:,.0f} a second, slowest {slowest:.2f} s")
    return n_faults


if __name__ == "__main__":
    kind, limit, first = (*sys.argv[1:], *("model", "60", "0")[len(sys.argv) - 1 :])
    if kind == "guided":
        guided(limit)
    sys.exit(search(kind, float(limit), int(first)) > 0)
