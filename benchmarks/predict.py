"""Prediction against scikit-learn in one process, and what a new process costs before its first tree.

CPU time, the least of several repeats. A ratio above 1 says that secateur is faster.

    python benchmarks/predict.py
    python benchmarks/predict.py --start    only new processes
"""

import os
import resource
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from _timing import cpu, table
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from secateur import TreeClassifier

N_ROWS, N_COLUMNS = 100_000, 20
ROWS = "import numpy as np, secateur; X = np.random.default_rng(0).normal(size=(150, 4)); "
FIT = ROWS + "secateur.TreeClassifier().fit(X, X[:, 0] + X[:, 1] > 0)"
AFTER = "import time, sklearn.base; began = time.process_time(); " + FIT + "; print(time.process_time() - began)"
GROW = ROWS + "secateur.grow(X, X[:, 0] + X[:, 1] > 0)"


def of_one_call(call, n_calls):
    """Least CPU seconds of one call, measured over many."""

    def many():
        for _ in range(n_calls):
            call()

    many()
    return cpu(many, 7)[0] / n_calls


def prediction():
    X, y = make_classification(N_ROWS, N_COLUMNS, n_informative=10, flip_y=0.1, random_state=0)
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(N_COLUMNS)])
    rows = []
    for name, depth in (("full", None), ("depth 4", 4)):
        for library, data in (("NumPy", X), ("pandas", frame)):
            ours = TreeClassifier(criterion="gini", max_depth=depth, select=None).fit(data, y)
            theirs = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(data, y)
            for n_rows, n_calls in ((1, 200), (N_ROWS, 1)):
                for method in ("predict", "predict_proba"):
                    some = data[:n_rows]
                    mine, other = (of_one_call(partial(getattr(m, method), some), n_calls) for m in (ours, theirs))
                    speed = [f"{1e6 * seconds:,.0f}" for seconds in (mine, other)]
                    rows.append([name, f"{n_rows:,} {library}", method, *speed, f"{other / mine:.2f}x"])
    table(["tree", "rows", "method", "us", "sklearn us", "ratio"], rows)


def of_a_process(arguments, environment, repeats=5):
    """Least CPU seconds of a new Python process, or what it prints itself."""
    best = float("inf")
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best, float(done.stdout) if arguments[-1] == AFTER else seconds)
    return best


def starting():
    with tempfile.TemporaryDirectory() as folder:
        X = np.random.default_rng(0).normal(size=(150, 4))
        lines = ["a,b,c,d,y", *(f"{a:.4f},{b:.4f},{c:.4f},{d:.4f},c{int(a + b > 0)}" for a, b, c, d in X)]
        file = os.fspath(Path(folder, "small.csv"))
        Path(file).write_text("\n".join(lines) + "\n")
        command = ["-m", "secateur", "fit", file, "--target", "y", "--output", file + ".json", "--force"]
        questions = {
            "import numpy": ["-c", "import numpy"],
            "import secateur, grow a tree of 150 x 4": ["-c", GROW],
            "import sklearn.base": ["-c", "import sklearn.base"],
            "TreeClassifier().fit of 150 x 4": ["-c", FIT],
            "the same after sklearn.base": ["-c", AFTER],
            "secateur fit small.csv": command,
            "secateur --help": ["-m", "secateur", "--help"],
        }
        # As where programs are installed: their bytecode is kept, here in a folder of its own.
        kept = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        rows = [[name, f"{of_a_process(code, kept):.2f}"] for name, code in questions.items()]
        table(["a new process", "CPU s"], rows)


if __name__ == "__main__":
    if "--start" not in sys.argv[1:]:
        prediction()
        print()
    starting()
