"""Send Ctrl-C at random moments to a long call or command, many times, and count the outcomes.

python tests/helpers/interrupts.py fit 100        sends a hundred signals; scripts/interrupt.py does so for every call

A delay is the processor time from the signal to the end of the call, an upper limit for an idle machine.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

QUICK = ("rules", "doctor")  # commands without long work


@cache
def verbs() -> dict[str, Callable[[], Any]]:
    """Return calls of the library by name, each of which takes some tenths of a second."""
    import numpy as np

    import secateur
    from secateur import engines
    from secateur.certifiers import rademacher

    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 10))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    tree, grown = secateur.grow(X[:30_000], y[:30_000])
    held = secateur.count(tree, X[30_000:], y[30_000:])
    model = secateur.TreeClassifier(criterion="gini", prune=None).fit(X[:5_000], y[:5_000])
    fitted = secateur.TreeClassifier(criterion="gini")
    fitted.fit(X[:100], y[:100])
    X_repeated = np.tile(X, (5, 1))

    def fit() -> None:
        before = fitted.model_
        try:
            fitted.fit(X[:10_000], y[:10_000])
        except BaseException:
            assert fitted.model_ is before  # the estimator has not changed
            raise

    return {
        "fit": fit,
        "grow": lambda: secateur.grow(X, y),
        "grow by engine": lambda: engines.grow(X[:20_000], y[:20_000]),
        "cross-validate": lambda: secateur.cross_validate(X[:10_000], y[:10_000], criterion="gini"),
        "two threads": lambda: secateur.cross_validate(X[:60_000], y[:60_000], criterion="gini", n_jobs=2),
        "count": lambda: secateur.count(tree, X_repeated, np.tile(y, 5)),
        "certify": lambda: rademacher(tree, grown, held, draws=200, rng=0),
        "predict": lambda: model.predict_proba(X_repeated),
        "report": lambda: model.report().html,
    }


@cache
def commands(folder: Path) -> dict[str, list[str]]:
    """Create files, and return the arguments of every command that takes some time, by name."""
    import numpy as np

    from secateur.cli import run

    rng = np.random.default_rng(0)
    for name, n in (("rows", 8_000), ("more", 40_000)):
        X = rng.normal(size=(n, 6)).round(4)
        y = np.where(X[:, 0] + rng.normal(size=n) > 0, "yes", "no")
        lines = [",".join([*map(str, row), label]) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(["a,b,c,d,e,f,y", *lines]) + "\n")
    rows, more, model, out = (str(folder / name) for name in ("rows.csv", "more.csv", "tree.json", "out"))
    assert run(["fit", rows, "--target", "y", "--select", "0se", "-o", model, "--force", "-q"]) == 0
    return {
        "fit": ["fit", rows, "--target", "y", "-o", out, "--force", "-q"],
        "prune": ["prune", model, "--holdout", more, "-o", out, "--force", "-q"],
        "certify": ["certify", model, "--holdout", more, "-q"],
        "predict": ["predict", model, more, "-o", out, "--force"],
        "evaluate": ["evaluate", model, more],
        "explain": ["explain", model, more],
        "count": ["count", model, more, "-o", out, "--force"],
        "monitor": ["monitor", model, more, "--limit", "0.9", "--state", str(folder / "state.json")],
        "update": ["update", model, more, "--max-changes", "3", "-o", out, "--force", "-q"],
        "stability": ["stability", model, rows, "--n", "10"],
        "candidates": ["candidates", model, rows, "--node", "0"],
        "edit": ["edit", model, rows, "--leaf", "1", "-o", out, "--force", "-q"],
        "alternatives": ["alternatives", model, "--holdout", more, "--within", "0.01"],
        "compare-models": ["compare-models", model, model, more],
        "path": ["path", model, "--holdout", more],
        "show": ["show", model],
        "report": ["report", model, "-o", out + ".html", "--force"],
        "export": ["export", model, "--to", "pmml", "-o", out, "--force"],
        "compare": ["compare", rows, "--target", "y", "-q"],
        "data": ["data", "build", str(folder / "data"), "--only", "nursery", "--offline"],
        "reproduce": ["reproduce", "certificates", "--quick", "--out", str(folder / "results"), "-q"],
    }


def calls_of(verb: str, folder: Path) -> Callable[[], Any]:
    """Return the call for a name, such as "fit", or for a command, such as "secateur fit".

    Several names, separated by commas, are called one after the other. Exit status 130 becomes a KeyboardInterrupt.
    """
    if "," in verb:
        calls = [calls_of(name, folder) for name in verb.split(",")]
        return lambda: [call() for call in calls]
    if not verb.startswith("secateur "):
        return verbs()[verb]
    from secateur.cli import run

    words = commands(folder)[verb.removeprefix("secateur ")]

    def call() -> None:
        import shutil

        for name in ("data", "results"):  # existing results are not computed again
            shutil.rmtree(folder / name, ignore_errors=True)
        (folder / "state.json").unlink(missing_ok=True)  # the same rows are counted once
        status = run(words)
        remaining = [path.name for path in folder.iterdir() if path.name.endswith((".tmp", ".part"))]
        assert not remaining, f"{remaining} is left over"
        if status == 130:
            raise KeyboardInterrupt
        assert status == 0, f"exit status {status}"

    return call


def child(verb: str, folder: Path) -> None:
    """Repeat a call forever, and print the outcome of each; signals between two calls are ignored."""
    out = os.fdopen(os.dup(1), "w")
    for stream in (1, 2):  # of the commands
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    is_inside = False

    def on_signal(*_: object) -> None:
        if is_inside:
            raise KeyboardInterrupt

    call = calls_of(verb, folder)
    call()
    began = time.perf_counter()
    call()
    signal.signal(signal.SIGINT, on_signal)
    print("ready", time.perf_counter() - began, file=out, flush=True)
    while True:
        print("go", file=out, flush=True)
        try:
            is_inside = True
            call()
            is_inside, outcome = False, "finished"
        except BaseException as error:  # noqa: BLE001 every outcome is reported
            is_inside, outcome = False, type(error).__name__
        print("end", outcome, time.process_time(), file=out, flush=True)
        sys.stdin.readline()  # the signal has been sent by now


def interrupted(verb: str, n_signals: int, seed: int = 0) -> tuple[Counter[str], list[float]]:
    """Send signals to a call; return how often each outcome occurred, and the delay of each KeyboardInterrupt in seconds."""
    rng, outcomes, delays = random.Random(seed), Counter[str](), []
    process = None
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(n_signals):
            if process is None:
                process = subprocess.Popen(
                    [sys.executable, __file__, "--child", verb, folder],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                )  # fmt: skip
                assert process.stdin is not None
                assert process.stdout is not None
                span = float(process.stdout.readline().split()[1])
            process.stdout.readline()
            time.sleep(rng.random() * span)
            used = time.clock_gettime((~process.pid << 3) | 2)  # the processor time of another process, on Linux
            process.send_signal(signal.SIGINT)
            outcome = process.stdout.readline().split()
            if not outcome:
                process.wait()
                outcomes[f"exit status {process.returncode}"] += 1
                process = None
                continue
            process.stdin.write("next\n")
            process.stdin.flush()
            outcomes[outcome[1]] += 1
            if outcome[1] == "KeyboardInterrupt":
                delays.append(float(outcome[2]) - used)
        if process is not None:
            process.kill()
            process.communicate()
    return outcomes, delays


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        child(sys.argv[2], Path(sys.argv[3]))
    else:
        print(*interrupted(sys.argv[1], int(sys.argv[2])))
