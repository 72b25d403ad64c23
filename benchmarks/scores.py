"""Trees where a class is rare: log loss, Brier score, AUC, balanced error and leaves, beside scikit-learn's.

    python benchmarks/scores.py --data DIR                        real sets (files as in quality.py) and generated ones
    python benchmarks/scores.py                                   generated ones only
    python benchmarks/scores.py --probabilities --data DIR        what predict_proba says, kind by kind

Options: --sets NAMES with commas, --rows 10000 (at most so many, drawn with a seed), --folds 3 outer folds.
scikit-learn's tree is refitted at 20 penalties of its path, evenly spread, and the best by the same score in
5 folds is taken: least log loss ("sklearn log loss"), largest AUC ("sklearn AUC").
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _timing import table as print_table
from quality import one_hot, read
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from secateur import TreeClassifier
from secateur.routing.prediction import predict_proba

REAL = ("census-income", "adult", "musk2", "hepatitis", "german", "breast-cancer")
MADE = ("rare 5 %", "rare 15 %")
KINDS = ("frequency", "m-estimate", "mixture", "shrunk")
N_PENALTIES = 20


def main():
    warnings.simplefilter("ignore")  # trees of one or two leaves are what is measured here
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--probabilities", action="store_true")
    given = parser.parse_args()
    names = given.sets.split(",") if given.sets else [*(REAL if given.data else ()), *MADE]
    lines = []
    for name in names:
        X, y = made(name) if name in MADE else drawn(*read(name, given.data), given.rows)
        found = {}
        for train, test in StratifiedKFold(given.folds, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
            for method, (said, answers, leaves) in (kinds if given.probabilities else trees)(X, y, train, test).items():
                found.setdefault(method, []).append([*measures(y[test], said, answers), leaves])
        for method, values in found.items():
            lines.append([name, method, *(f"{value:.3f}" for value in np.mean(values, axis=0)[:-1])])
            lines[-1].append(f"{np.mean(values, axis=0)[-1]:.1f}")
        print(name, flush=True)
    print_table(["data", "tree", "log loss", "Brier", "AUC", "balanced error", "error", "leaves"], lines)


def drawn(X, y, rows):
    """At most so many rows, of two classes: the rarest against the rest where there are more."""
    at = np.random.default_rng(0).permutation(len(y))[:rows]
    X, y = X.iloc[at].reset_index(drop=True), y[at]
    labels, counts = np.unique(y, return_counts=True)
    return X, (y == labels[counts.argmin()]).astype(int)


def made(name):
    """Ten numbers, of which three tell a rare class apart, never for certain."""
    rng = np.random.default_rng(0)
    share = float(name.split()[1]) / 100
    X = rng.normal(size=(10_000, 10))
    likely = X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + rng.logistic(size=len(X))
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(10)]), (likely > np.quantile(likely, 1 - share)).astype(int)


def trees(X, y, train, test):
    found = {}
    for name, how in (
        ("default", {}),
        *((score, {"scoring": score}) for score in ("log_loss", "brier", "roc_auc", "balanced_error")),
    ):
        model = TreeClassifier(**how).fit(X.iloc[train], y[train])
        found[name] = model.predict_proba(X.iloc[test])[:, 1], model.predict(X.iloc[test]), model.get_n_leaves()
    coded = one_hot(X)
    alphas = np.unique(
        DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(coded[train], y[train]).ccp_alphas
    )
    alphas = np.unique(alphas[np.linspace(0, len(alphas) - 1, N_PENALTIES).round().astype(int)].clip(0))
    for name, score in (("sklearn log loss", "neg_log_loss"), ("sklearn AUC", "roc_auc")):
        search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"ccp_alpha": alphas}, scoring=score, cv=5)
        model = search.fit(coded[train], y[train]).best_estimator_
        found[name] = model.predict_proba(coded[test])[:, 1], model.predict(coded[test]), model.get_n_leaves()
    return found


def kinds(X, y, train, test):
    model = TreeClassifier().fit(X.iloc[train], y[train])
    answers = model.predict(X.iloc[test])
    return {
        kind: (predict_proba(model.model_, X.iloc[test], kind=kind)[:, 1], answers, model.get_n_leaves())
        for kind in KINDS
    }


def measures(y, said, answers):
    said = np.clip(said, 1e-15, 1 - 1e-15)
    balanced = 1 - balanced_accuracy_score(y, answers)
    return log_loss(y, said), brier_score_loss(y, said), roc_auc_score(y, said), balanced, np.mean(answers != y)


if __name__ == "__main__":
    main()
