"""Full trees against scikit-learn: CPU time, size, training error, memory, threads.

    python benchmarks/grow.py [--quick] [--data DIR]

DIR is a folder with covertype.csv.gz. `--quick` leaves out the sets above 100,000 rows.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from _timing import cpu, peak_memory, table, wall
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from secateur import grow


def continuous(n, d):
    X, y = make_classification(n, d, n_informative=10, flip_y=0.1, random_state=0)
    return X.astype(np.float32), y


def many_classes(n, d):
    X, y = make_classification(n, d, n_informative=10, n_classes=10, flip_y=0.1, random_state=0)
    return X.astype(np.float32), y


def led24(n):
    lit = [0b1110111, 0b0010010, 0b1011101, 0b1011011, 0b0111010, 0b1101011, 0b1101111, 0b1010010, 0b1111111, 0b1111011]
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, n)
    segments = (np.array(lit)[y][:, None] >> np.arange(6, -1, -1)) & 1
    X = np.hstack([segments ^ (rng.random((n, 7)) < 0.1), rng.integers(0, 2, (n, 17))])
    return X.astype(np.float32), y


def covertype(folder):
    import pandas as pd

    frame = pd.read_csv(Path(folder) / "covertype.csv.gz")
    y = frame.iloc[:, -1].to_numpy()
    X = frame.iloc[:, :-1]
    X = X.apply(lambda c: c if c.dtype.kind in "if" else c.astype("category").cat.codes)
    return X.to_numpy(np.float32), y


def training_errors(tree, counts):
    return int(counts.errors_if_leaf(counts.majority)[tree.is_leaf].sum())


def compare(name, X, y, repeats):
    began = time.process_time()
    grow(X[:500], y[:500])
    first = time.process_time() - began
    ours, (tree, counts) = cpu(lambda: grow(X, y), repeats)
    theirs, model = cpu(lambda: DecisionTreeClassifier(random_state=0).fit(X, y), 1 if len(X) > 50_000 else repeats)
    wrong = int((model.predict(X) != y).sum())
    return [
        name, f"{first:.1f}", f"{ours:.3f}", f"{theirs:.2f}", f"{theirs / ours:.1f}x",
        tree.n_nodes, model.tree_.node_count, training_errors(tree, counts), wrong,
    ]  # fmt: skip


MEMORY = """
import numpy as np
from sklearn.datasets import make_classification
X, y = make_classification({n}, {d}, n_informative=10, flip_y=0.1, random_state=0)
np.save({path!r} + "float64", X); np.save({path!r} + "float32", X.astype(np.float32)); np.save({path!r} + "y", y)
"""
DATA = "import numpy as np\nX = np.load({path!r} + '{kind}.npy'); y = np.load({path!r} + 'y.npy')\n"
OURS = "from secateur import grow\ngrow(X[:500], y[:500])\n", "grow(X, y)"
THEIRS = (
    "from sklearn.tree import DecisionTreeClassifier\nDecisionTreeClassifier().fit(X[:500], y[:500])\n",
    "DecisionTreeClassifier(random_state=0).fit(X, y)",
)


def memory(n, d):
    """Peak memory above the data and what is imported: scikit-learn copies what is not float32."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/"
        peak_memory("", MEMORY.format(n=n, d=d, path=path))
        for kind in ("float32", "float64"):
            data = DATA.format(path=path, kind=kind)
            ours, theirs = (peak_memory(data + before, call) for before, call in (OURS, THEIRS))
            print(f"\npeak memory above {n:,} x {d} of {kind}: ours {ours:.0f} MB, scikit-learn {theirs:.0f} MB")


def variants(X, y, X_many, y_many):
    base, _ = cpu(lambda: grow(X, y))
    lines = [["gini, 2 classes", f"{base:.3f}", "1.0x"]]
    for name, rows, target, options in [
        ("entropy", X, y, {"criterion": "entropy"}),
        ("sqrt", X, y, {"criterion": "sqrt"}),
        ("gini, 10 classes", X_many, y_many, {}),
        ("entropy, 10 classes", X_many, y_many, {"criterion": "entropy"}),
        ("sqrt, 10 classes", X_many, y_many, {"criterion": "sqrt"}),
        ("gain ratio", X, y, {"criterion": "gain_ratio"}),
        ("max_bins=255", X, y, {"max_bins": 255}),
        ("whole weights", X, y, {"sample_weight": np.arange(len(y)) % 3 + 1}),
    ]:
        grow(rows[:500], target[:500], **{k: v[:500] if k == "sample_weight" else v for k, v in options.items()})
        seconds, _ = cpu(lambda rows=rows, target=target, options=options: grow(rows, target, **options), 2)
        lines.append([name, f"{seconds:.3f}", f"{seconds / base:.1f}x"])
    print()
    table(["100,000 x 50", "CPU s", "of gini"], lines)


def people(n, d):
    """The cases that data of people brings: weights, gaps, categories, many classes, wide tables, numbers."""
    rng = np.random.default_rng(0)
    X, y = continuous(n, d)
    gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X).astype(np.float32)
    real = rng.random(n) + 0.1
    letters, letter = make_classification(n // 5, 16, n_informative=12, n_classes=26, random_state=0)
    wide, side = continuous(500, 5000)
    number = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n)).astype(np.float64)
    cases = [
        ("plain", X, y, {}, {}),
        ("class weights", X, y, {"class_weight": {0: 1.0, 1: 2.5}}, {"class_weight": {0: 1.0, 1: 2.5}}),
        ("whole weights", X, y, {"sample_weight": np.arange(n) % 3 + 1.0}, {"sample_weight": np.arange(n) % 3 + 1.0}),
        ("real weights", X, y, {"sample_weight": real}, {"sample_weight": real}),
        ("10 % missing", gaps, y, {}, {}),
        ("26 classes", letters.astype(np.float32), letter, {}, {}),
        ("wide 500 x 5,000", wide, side, {}, {}),
        ("regression", X, number, {"criterion": "squared_error"}, {}),
    ]
    for n_categories in (10, 1000):
        codes = rng.integers(0, n_categories, (n, 10))
        noisy = (codes[:, 0] % 7 > 2) ^ (codes[:, 1] % 5 > 2) ^ (rng.random(n) < 0.2)
        cases.append(
            (f"{n_categories:,} categories", codes.astype(np.float32), noisy * 1, {"nominal": [*range(10)]}, {})
        )
    lines = []
    for name, rows, target, options, theirs in cases:
        model = DecisionTreeRegressor if name == "regression" else DecisionTreeClassifier
        weight = theirs.pop("sample_weight", None)
        ours, (tree, _) = cpu(lambda rows=rows, target=target, options=options: grow(rows, target, **options), 3)
        other, fitted = cpu(
            lambda rows=rows, target=target, theirs=theirs, model=model, weight=weight: model(
                random_state=0, **theirs
            ).fit(rows, target, weight),
            1,
        )
        nodes = (tree.n_nodes, fitted.tree_.node_count)
        lines.append([name, f"{ours:.3f}", f"{other:.2f}", f"{other / ours:.1f}x", *nodes])
    print()
    table([f"{n:,} x {d}", "ours s", "sklearn s", "ratio", "nodes", "sklearn's"], lines)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--data")
    chosen = options.parse_args()
    sets = [("10k x 20", *continuous(10_000, 20), 5), ("100k x 50", *continuous(100_000, 50), 3)]
    if not chosen.quick:
        sets += [("500k x 50", *continuous(500_000, 50), 2), ("LED24 300k x 24", *led24(300_000), 3)]
    if chosen.data:
        sets.append(("covertype", *covertype(chosen.data), 3))
    header = ["data", "first s", "ours s", "sklearn s", "ratio", "nodes", "sklearn's", "errors", "sklearn's"]
    table(header, [compare(*given) for given in sets])
    X, y = sets[1][1:3]
    variants(X, y, *many_classes(100_000, 50))
    people(20_000 if chosen.quick else 100_000, 50)
    if not chosen.quick:
        X, y = sets[2][1:3]
        one, two = wall(lambda: grow(X, y, n_jobs=1)), wall(lambda: grow(X, y, n_jobs=2))
        bins, _ = cpu(lambda: grow(X, y, max_bins=255), 2)
        exact, _ = cpu(lambda: grow(X, y), 2)
        print(f"\n500k x 50, CPU: 255 bins {bins:.2f} s, every threshold {exact:.2f} s, {exact / bins:.2f}x")
        print(f"\n500k x 50, wall: one thread {one:.2f} s, two threads {two:.2f} s, {one / two:.2f}x")
        memory(500_000, 50)
    print(f"\nPython {sys.version.split()[0]}, NumPy {np.__version__}")


if __name__ == "__main__":
    main()
