"""Rows per second of prediction and counting against scikit-learn, for a full and a small tree.

python benchmarks/predict.py
"""

import numpy as np
from _timing import cpu, table
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from secateur import TreeClassifier, count


def main():
    rows = []
    for dtype in (np.float32, np.float64):
        X, y = make_classification(200_000, 20, n_informative=10, flip_y=0.1, random_state=0)
        X = X.astype(dtype)
        for name, depth in (("full", None), ("small", 4)):
            ours = TreeClassifier(max_depth=depth).fit(X[:100_000], y[:100_000])
            theirs = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X[:100_000], y[:100_000])
            ours.predict(X)
            count(ours.tree_, X, y)
            mine, _ = cpu(lambda ours=ours, X=X: ours.predict(X), 5)
            counting, _ = cpu(lambda ours=ours, X=X, y=y: count(ours.tree_, X, y), 5)
            other, _ = cpu(lambda theirs=theirs, X=X: theirs.predict(X), 5)
            speed = [f"{len(X) / seconds / 1e6:.1f}" for seconds in (mine, other, counting)]
            rows.append([np.dtype(dtype).name, name, ours.tree_.n_leaves, *speed, f"{other / mine:.1f}x"])
    table(["type", "tree", "leaves", "Mrows/s", "sklearn", "count", "ratio"], rows)


if __name__ == "__main__":
    main()
