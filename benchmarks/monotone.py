"""Compare monotone trees with those of scikit-learn with equally many leaves: error, AUC, explained variance.

    python benchmarks/monotone.py --data DIR      all sets
    python benchmarks/monotone.py                 the sets that are generated or brought by scikit-learn

Options: --leaves 4,8,16,32, --repeats 4 (5 stratified folds each), --rows 6000 (at most, drawn with seed 0).

DIR holds NAME.csv.gz with the class in the last column, and SCHEMA.json. Missing numbers are replaced by the median,
because scikit-learn supports no missing values with constraints, and categories by one column each, so that both
libraries see the same numbers. Both grow best-first by gini (squared error) to at most the same number of leaves, and
nothing is pruned. `free` is our tree without constraints.

The table gives means over all folds and numbers of leaves: error and AUC in percent, the share of the variance that is
explained for numbers, and the difference to scikit-learn with its standard error over the repeats of cross-validation.
"""

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from secateur import TreeClassifier, TreeRegressor

SIGNS = {  # of the probability of the class that is named first
    "german": ("bad", {"duration": 1, "credit_amount": 1, "installment_commitment": 1, "age": -1}),
    "heart-statlog": (
        "present",
        {
            "age": 1, "resting_blood_pressure": 1, "oldpeak": 1, "number_of_major_vessels": 1,
            "maximum_heart_rate_achieved": -1,
        },
    ),
    "breast-w": (
        "malignant",
        dict.fromkeys(
            (
                "Clump_Thickness", "Cell_Size_Uniformity", "Cell_Shape_Uniformity", "Marginal_Adhesion",
                "Single_Epi_Cell_Size", "Bare_Nuclei", "Bland_Chromatin", "Normal_Nucleoli", "Mitoses",
            ),
            1,
        ),
    ),
    "diabetes": ("tested_positive", {"plas": 1, "mass": 1, "age": 1, "pedi": 1, "preg": 1}),
    "adult": (">50K", {"education-num": 1, "hours-per-week": 1, "capital-gain": 1}),
    "australian": ("1", {"A7": 1, "A10": 1, "A14": 1}),
    "hepatitis": ("DIE", {"AGE": 1, "BILIRUBIN": 1, "ALBUMIN": -1, "PROTIME": -1}),
}  # fmt: skip
N_FOLDS = 5


class Sample(NamedTuple):
    """The rows of a set, all numbers, and the sign of every column."""

    X: np.ndarray
    y: np.ndarray
    signs: list[int]


def read_sample(folder: Path, name: str, max_rows: int) -> Sample:
    """Return the rows of a file."""
    positive, signs_by_name = SIGNS[name]
    kinds = json.loads((folder / "SCHEMA.json").read_text(encoding="utf-8"))[name]["columns"]
    frame = pd.read_csv(folder / f"{name}.csv.gz", dtype=str, keep_default_na=False, na_values=[""])
    if len(frame) > max_rows:
        frame = frame.sample(max_rows, random_state=0)
    y = (frame.pop(frame.columns[-1]) == positive).to_numpy()
    columns, signs = [], []
    for column in frame:
        if kinds[column] == "numeric":
            values = pd.to_numeric(frame[column])
            columns.append(values.fillna(values.median()).to_numpy())
            signs.append(signs_by_name.get(column, 0))
        else:
            assert column not in signs_by_name, column
            ones = pd.get_dummies(frame[column], dummy_na=bool(frame[column].isna().any()))
            columns += [ones[category].to_numpy(float) for category in ones]
            signs += [0] * ones.shape[1]
    return Sample(np.column_stack(columns), y, signs)


def generated_samples() -> dict[str, Sample]:
    """Return the sets that need no files."""
    rng = np.random.default_rng(0)
    wdbc, progression = datasets.load_breast_cancer(), datasets.load_diabetes()
    noise = rng.normal(size=(800, 3))
    n = 3000
    credit = np.column_stack(
        [
            rng.poisson(0.4, n), rng.beta(2, 3, n), rng.lognormal(10, 0.6, n), rng.integers(18, 80, n),
            rng.poisson(1.5, n), rng.integers(0, 2, n), rng.normal(size=n),
        ]
    )  # fmt: skip
    risk = 0.9 * credit[:, 0] + 3 * credit[:, 1] - np.log(credit[:, 2]) + 9 + 0.5 * credit[:, 5] * (credit[:, 4] > 2)
    waves = rng.random((1500, 6))
    level = 10 * np.sin(np.pi * waves[:, 0] * waves[:, 1] / 2) + 20 * (waves[:, 2] - 0.5) ** 2 + 5 * waves[:, 3]
    return {
        "wdbc": Sample(wdbc.data, wdbc.target == 0, [0] * 20 + [1] * 10),
        "noise (generated)": Sample(noise, noise[:, 0] + noise[:, 1] / 2 + rng.normal(size=800) > 0, [1, 0, 0]),
        "credit (generated)": Sample(credit, rng.random(n) < 1 / (1 + np.exp(1.5 - risk)), [1, 1, -1, 0, 1, 1, 0]),
        "progression": Sample(progression.data, progression.target, [0, 0, 1, 1, 0, 0, -1, 0, 1, 1]),
        "waves (generated)": Sample(waves, level + rng.normal(size=1500) * 3, [1, 1, 0, 1, 0, 0]),
    }


def scores(estimator, train: Sample, test: Sample) -> tuple[float, ...]:
    """Return the error and 100 less the AUC of a classifier, or the unexplained share of the variance, in percent."""
    estimator.fit(train.X, train.y)
    if train.y.dtype != bool:
        left = ((estimator.predict(test.X) - test.y) ** 2).mean()
        return (100 * left / test.y.var(),)
    probability = estimator.predict_proba(test.X)[:, 1]
    return 100 * (estimator.predict(test.X) != test.y).mean(), 100 * (1 - roc_auc_score(test.y, probability))


def estimators(sample: Sample, n_leaves: int) -> dict[str, object]:
    """Return the three estimators to compare."""
    ours = {"prune": None, "growth": "best-first", "max_splits": n_leaves - 1, "min_samples_leaf": 1}
    theirs = {"max_leaf_nodes": n_leaves, "random_state": 0, "monotonic_cst": sample.signs}
    if sample.y.dtype != bool:
        return {
            "ours": TreeRegressor(monotonic_cst=sample.signs, **ours),
            "scikit-learn": DecisionTreeRegressor(**theirs),
            "free": TreeRegressor(**ours),
        }
    ours["criterion"] = "gini"
    return {
        "ours": TreeClassifier(monotonic_cst=sample.signs, **ours),
        "scikit-learn": DecisionTreeClassifier(**theirs),
        "free": TreeClassifier(**ours),
    }


def measure(sample: Sample, leaves: list[int], n_repeats: int) -> dict[str, np.ndarray]:
    """Return the scores of each estimator, one line per repeat: means over folds and numbers of leaves."""
    found: dict[str, list] = {}
    splitter = StratifiedKFold if sample.y.dtype == bool else KFold
    for repeat in range(n_repeats):
        of_repeat: dict[str, list] = {}
        for train, test in splitter(N_FOLDS, shuffle=True, random_state=repeat).split(sample.X, sample.y):
            for n_leaves in leaves:
                for name, estimator in estimators(sample, n_leaves).items():
                    parts = (Sample(sample.X[rows], sample.y[rows], sample.signs) for rows in (train, test))
                    of_repeat.setdefault(name, []).append(scores(estimator, *parts))
        for name, values in of_repeat.items():
            found.setdefault(name, []).append(np.mean(values, axis=0))
    return {name: np.array(values) for name, values in found.items()}


def line(name: str, measured: dict[str, np.ndarray]) -> str:
    """Return a line of the table."""
    cells = []
    difference = measured["ours"] - measured["scikit-learn"]
    error = difference.std(axis=0, ddof=1) / np.sqrt(len(difference))
    for k in range(difference.shape[1]):
        sign = -1 if k == 1 or difference.shape[1] == 1 else 1  # AUC and explained variance are better if larger
        means = {key: values[:, k].mean() for key, values in measured.items()}
        shown = {key: 100 - value if sign < 0 else value for key, value in means.items()}
        cells += [f"{shown[key]:.2f}" for key in ("ours", "scikit-learn", "free")]
        cells.append(f"{sign * difference[:, k].mean():+.2f} ± {error[k]:.2f}")
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Print a table for classes and one for numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--leaves", default="4,8,16,32")
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--rows", type=int, default=6000)
    options = parser.parse_args()
    samples = {} if options.data is None else {name: read_sample(options.data, name, options.rows) for name in SIGNS}
    samples |= generated_samples()
    leaves = [int(n) for n in options.leaves.split(",")]
    classes = {name: sample for name, sample in samples.items() if sample.y.dtype == bool}
    kinds = ("ours", "scikit-learn", "free", "difference")
    heads = [f"{what} {kind}" for what in ("error", "AUC") for kind in kinds]
    for part, head in (
        (classes, heads),
        ({name: samples[name] for name in samples.keys() - classes.keys()}, [f"explained {kind}" for kind in kinds]),
    ):
        print(f"| set | {' | '.join(head)} |", f"|---|{'---|' * len(head)}", sep="\n")
        for name, sample in part.items():
            print(line(name, measure(sample, leaves, options.repeats)), flush=True)
        print()


if __name__ == "__main__":
    main()
