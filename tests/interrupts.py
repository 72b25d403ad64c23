"""Send Ctrl-C at random moments to a long verb, again and again, and tell what became of each.

python tests/interrupts.py fit 100        a hundred signals; scripts/interrupt.py does this for every verb
"""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any


def verbs() -> dict[str, Callable[[], Any]]:
    """What is interrupted: a call that takes some tenths of a second."""
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
    many = np.tile(X, (5, 1))

    def fit() -> None:
        before = fitted.model_
        try:
            fitted.fit(X[:10_000], y[:10_000])
        except BaseException:
            assert fitted.model_ is before  # nothing half-done is left in the estimator
            raise

    return {
        "fit": fit,
        "grow": lambda: secateur.grow(X, y),
        "grow by engine": lambda: engines.grow(X[:20_000], y[:20_000]),
        "cross-validate": lambda: secateur.cross_validate(X[:10_000], y[:10_000], criterion="gini"),
        "count": lambda: secateur.count(tree, many, np.tile(y, 5)),
        "certify": lambda: rademacher(tree, grown, held, draws=200, rng=0),
        "predict": lambda: model.predict_proba(many),
        "report": lambda: model.report().html,
    }


def child(verb: str) -> None:
    """Call the verb for ever; a signal that comes between two calls is let pass."""
    is_inside = False

    def on_signal(*_: object) -> None:
        if is_inside:
            raise KeyboardInterrupt

    call = verbs()[verb]
    call()
    began = time.perf_counter()
    call()
    signal.signal(signal.SIGINT, on_signal)
    print("ready", time.perf_counter() - began, flush=True)
    while True:
        print("go", flush=True)
        try:
            is_inside = True
            call()
            is_inside, outcome = False, "finished"
        except BaseException as error:  # noqa: BLE001 whatever becomes of a signal is told
            is_inside, outcome = False, type(error).__name__
        print("end", outcome, time.time(), flush=True)
        sys.stdin.readline()  # the signal has been sent by now


def interrupted(verb: str, n_signals: int, seed: int = 0) -> tuple[Counter[str], list[float]]:
    """Return how often each outcome came of a signal, and how many seconds each KeyboardInterrupt took."""
    rng, outcomes, delays = random.Random(seed), Counter[str](), []
    process = None
    for _ in range(n_signals):
        if process is None:
            process = subprocess.Popen(
                [sys.executable, __file__, "--child", verb], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            assert process.stdin is not None
            assert process.stdout is not None
            span = float(process.stdout.readline().split()[1])
        process.stdout.readline()
        time.sleep(rng.random() * span)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        told = process.stdout.readline().split()
        if not told:
            process.wait()
            outcomes[f"exit status {process.returncode}"] += 1
            process = None
            continue
        process.stdin.write("next\n")
        process.stdin.flush()
        outcomes[told[1]] += 1
        if told[1] == "KeyboardInterrupt":
            delays.append(float(told[2]) - sent)
    if process is not None:
        process.kill()
        process.communicate()
    return outcomes, delays


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        child(sys.argv[2])
    else:
        print(*interrupted(sys.argv[1], int(sys.argv[2])))
