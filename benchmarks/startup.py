"""What the first and every later use of an installation costs, in wall seconds of fresh processes.

python benchmarks/startup.py
"""

import os
import subprocess
import sys
import tempfile
import time

from _timing import table

SMALL = "from secateur import grow; grow([[1.0], [2.0], [3.0], [4.0]] * 25, [0, 0, 1, 1] * 25)"
QUESTIONS = [
    ("import secateur", "import secateur"),
    ("import, load kernels, grow a small tree", SMALL),
    (
        "TreeClassifier (with scikit-learn) fits it",
        "from secateur import TreeClassifier as T; T().fit([[1.0], [2.0]], [0, 1])",
    ),
    ("import scikit-learn's tree alone", "import sklearn.tree"),
]


def seconds(code, folder, repeats):
    """Least wall time of a fresh process."""
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "NUMBA_CACHE_DIR": folder})
        best = min(best, time.perf_counter() - began)
    return best


def main():
    with tempfile.TemporaryDirectory() as folder:
        first = seconds(SMALL, folder, 1)
        rows = [["first use: compile the default path and grow", f"{first:.1f}"]]
        rows += [[name, f"{seconds(code, folder, 5):.2f}"] for name, code in QUESTIONS]
    table(["question", "wall s"], rows)


if __name__ == "__main__":
    main()
