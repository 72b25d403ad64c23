"""Search for files that the readers do not survive: scripts/fuzz [model | bytes | csv | arguments] [seconds] [seed].

    model   tiny model files changed on the parsed structure (tests/helpers/tiny_models.py), thousands a second
    bytes   the golden files broken as bytes and as JSON (tests/modelfile/test_fuzz.py)
    csv     small text files broken as text (tests/data/test_fuzz_files.py)
    arguments   public functions with hostile arguments (tests/helpers/hostile_arguments.py)
    guided  as `bytes`, guided by coverage (needs atheris)

A case that takes more than some seconds or more than 4 GB is a fault too. What is found is written into the current
folder. The last figures are in docs/explanation/lanes.md.
"""

import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "helpers")]
MOST_SECONDS = 20  # of processor time for a case
MOST_MEMORY = 4 << 30
TELL = 300  # seconds between two lines of figures


def guided(seconds: str) -> None:
    """Let atheris look for new paths through the loader."""
    import atheris

    import model_examples  # noqa: F401 first, so that it is not instrumented

    with atheris.instrument_imports(include=["secateur.modelfile"]):
        from modelfile.test_fuzz import mutated, survives

    options = [f"-max_total_time={seconds}", "-max_len=16384", "-timeout=20", "-rss_limit_mb=2000"]
    folders = [tempfile.mkdtemp(), str(TESTS / "modelfile" / "golden")]  # what it finds goes into the first
    atheris.Setup([sys.argv[0], *options, *folders], survives, custom_mutator=mutated)
    atheris.Fuzz()


class Broken:
    """Cases that are bytes, as `TinyModelFuzzer` has them: made by one function, tried by another."""

    def __init__(self, what: str, seed: int) -> None:
        self.what, self.seed = what, seed
        self.n_cases, self.n_valid = Counter[str](), Counter[str]()
        self.path = Path(tempfile.mkdtemp(), "broken.csv")

    def step(self) -> None:
        """Try one case; any exception is a fault."""
        rng = random.Random(f"{self.what} {self.seed} {self.n_cases.total()}")
        kind, self.failing_document, is_valid = self.case(rng)
        self.n_cases[kind] += 1
        self.n_valid[kind] += is_valid()

    def case(self, rng: random.Random) -> tuple[str, bytes, Callable[[], bool]]:
        """The kind of a case, its bytes, and what says whether they are valid."""
        if self.what == "csv":
            from data.test_fuzz_files import SEEDS, is_opened, is_table, mutated_text

            data = mutated_text(rng.choice(SEEDS), rng)
            if rng.random() < 0.2:
                return "table", data, lambda: is_table(data, self.path)
            return "opened", data, lambda: is_opened(data, self.path)
        from modelfile.test_fuzz import MODELS, mutated, survives

        broken = mutated(rng.choice(MODELS), 1 << 16, rng.randrange(1 << 62))
        return "bytes", broken, lambda: survives(broken)


def search(what: str, seconds: float, seed: int) -> int:
    """Try the cases of a seed until the time is over; the number of faults."""
    cases: Any
    if what == "model":
        from tiny_models import TinyModelFuzzer

        cases = TinyModelFuzzer(seed)
    elif what == "arguments":
        from hostile_arguments import ArgumentFuzzer

        cases = ArgumentFuzzer(seed)
    else:
        cases = Broken(what, seed)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    signal.signal(signal.SIGVTALRM, _too_long)
    faults, slowest, start = Counter[str](), 0.0, time.process_time()
    told = before = start
    while before - start < seconds:
        signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
        try:
            cases.step()
        except (Exception, TimeoutError) as error:  # noqa: BLE001 any of them is what we look for
            where = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__} in {Path(where.filename).name}, line {where.lineno}"
            faults[kind] += 1
            if faults[kind] == 1:  # the same fault again says nothing new
                data = cases.failing_document
                Path(f"fault-{what}-{seed}-{len(faults)}").write_bytes(
                    data if isinstance(data, bytes) else data.encode()
                )
                traceback.print_exc(limit=-6)
        now = time.process_time()
        slowest, before = max(slowest, now - before), now
        if now - told > TELL:
            told = now
            _tell(what, seed, cases, faults, slowest, now - start)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    _tell(what, seed, cases, faults, slowest, before - start)
    return len(faults)


def _tell(what: str, seed: int, cases: Any, faults: Counter[str], slowest: float, seconds: float) -> None:
    kinds = ", ".join(f"{kind} {n:,} ({cases.n_valid[kind]:,} valid)" for kind, n in cases.n_cases.items())
    used = f", {cases.n_checked:,} through all verbs" if hasattr(cases, "n_checked") else ""
    print(
        f"{what} {seed}: {cases.n_cases.total():,} cases: {kinds}{used}; {faults.total()} faults of {len(faults)} kinds; "
        f"{cases.n_cases.total() / seconds:,.0f} a second of processor time, slowest {slowest:.2f} s",
        flush=True,
    )


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {MOST_SECONDS} s")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    chosen, limit, first = (*sys.argv[1:], *("model", "60", "0")[len(sys.argv) - 1 :])
    if chosen == "guided":
        guided(limit)
    sys.exit(search(chosen, float(limit), int(first)) > 0)
