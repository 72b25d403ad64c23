"""The share of false certificates behind a pipeline step that reads the target: rows held out too late, and in time.

    python benchmarks/pipelines.py [RUNS]

The classes are coin tosses, so that every classifier has an error of one half. `SelectKBest` selects 10 of 500 columns
of noise, `TargetEncoder` encodes two columns of 150 categories; both stand before a tree. A certificate with delta = .1
is false if its limit is below one half. "tree": `TreeClassifier(certify=True)` holds rows out after the step has read
all of them. "split": `certified_split` holds rows out before, and `certify_predictions` certifies the whole pipeline.
"""

import sys
import warnings

import numpy as np
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder

from secateur import TreeClassifier, certified_split, certify_predictions

DELTA = 0.1
N_ROWS = 300
QUICK = {"criterion": "gini", "cv": 3, "cv_repeats": 1}
STEPS = {
    "SelectKBest": (lambda: SelectKBest(f_classif, k=10), lambda rng: rng.normal(size=(N_ROWS, 500))),
    "TargetEncoder": (
        lambda: TargetEncoder(random_state=0),
        lambda rng: rng.integers(0, 150, size=(N_ROWS, 2)).astype(str),
    ),
}


def limit_of_tree(step, X, y):
    """Return the limit of a tree that holds rows out itself, after the step before it was fitted to all rows."""
    tree = TreeClassifier(**QUICK, certify=True, delta=DELTA)
    return make_pipeline(step, tree).fit(X, y)[-1].certificate_.value


def limit_of_split(step, X, y):
    """Return the limit of a pipeline that was fitted after rows were held out."""
    X_fit, X_certify, y_fit, y_certify = certified_split(X, y)
    pipeline = make_pipeline(step, TreeClassifier(**QUICK)).fit(X_fit, y_fit)
    return certify_predictions(y_certify, pipeline.predict(X_certify), delta=DELTA).value


def main():
    """Print the shares of false certificates."""
    n_runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    warnings.simplefilter("ignore")
    print("| step | tree holds rows out | certified_split |", "|---|---|---|", sep="\n")
    for name, (make_step, draw_rows) in STEPS.items():
        shares = []
        for limit in (limit_of_tree, limit_of_split):
            n_false = 0
            for seed in range(n_runs):
                rng = np.random.default_rng([6, seed])
                n_false += limit(make_step(), draw_rows(rng), rng.integers(0, 2, N_ROWS)) < 0.5
            shares.append(n_false / n_runs)
        print(f"| {name} | {shares[0]:.1%} | {shares[1]:.1%} |", flush=True)


if __name__ == "__main__":
    main()
