"""Trees of few leaves: test error of ours, of scikit-learn's best-first tree and of optimal trees.

    python benchmarks/small.py --data DIR [--leaves 4] [--sets NAMES] [--seeds 0]     files as in quality.py
    python benchmarks/small.py                                            the two sets that scikit-learn brings

Five stratified outer folds a seed; greedy is our gini tree cut back to the size. Optimal trees are those of
pystreed (STreeD), if it is installed: least growing errors
among all trees of so many leaves, on columns cut at up to five quantiles.
"""

import argparse
import itertools
import warnings
from pathlib import Path

import numpy as np
from _timing import table as print_table
from quality import BROUGHT, one_hot, read
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from secateur import TreeClassifier

SETS = (
    "breast-cancer", "heart-statlog", "ionosphere", "vote", "australian", "diabetes", "balance-scale", "tic-tac-toe",
    "breast-w", "german", "car",
)  # fmt: skip


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--leaves", type=int, default=4)
    parser.add_argument("--sets")
    parser.add_argument("--seeds", default="0")
    given = parser.parse_args()
    names = given.sets.split(",") if given.sets else list(SETS if given.data else BROUGHT)
    methods = ["secateur", "greedy", "sklearn", *(["optimal"] if streed() else [])]
    lines = []
    for name in names:
        X, y = read(name, given.data)
        coded = one_hot(X)
        found = []
        deals = [StratifiedKFold(5, shuffle=True, random_state=int(seed)) for seed in given.seeds.split(",")]
        for train, test in itertools.chain(*(deal.split(coded, y) for deal in deals)):
            ours = [
                TreeClassifier(select=given.leaves, criterion=criterion).fit(X.iloc[train], y[train])
                for criterion in ("auto", "gini")
            ]
            theirs = DecisionTreeClassifier(max_leaf_nodes=given.leaves, random_state=0).fit(coded[train], y[train])
            answers = [*(one.predict(X.iloc[test]) for one in ours), theirs.predict(coded[test])]
            if streed():
                answers.append(optimal(coded, y, train, test, given.leaves))
            found.append([100 * np.mean(answer != y[test]) for answer in answers])
        lines.append([name, *np.mean(found, axis=0)])
        print(name, flush=True)
    lines.append(["mean", *np.mean([line[1:] for line in lines], axis=0)])
    print_table(["error %", *methods], [[name, *(f"{value:.2f}" for value in values)] for name, *values in lines])
    if not streed():
        print("pystreed is not installed: no optimal trees")


def streed():
    try:
        import pystreed
    except ImportError:
        return None
    return pystreed


def optimal(coded, y, train, test, n_leaves):
    """Answers of the tree with the fewest growing errors among those of so many leaves."""
    cuts = [np.unique(np.quantile(column, np.linspace(0, 1, 7)[1:-1])) for column in coded[train].T]
    binary = np.column_stack([coded[:, j] <= cut for j, some in enumerate(cuts) for cut in some]).astype(int)
    codes = np.unique(y, return_inverse=True)[1]
    model = streed().STreeDClassifier(max_depth=min(n_leaves - 1, 4), max_num_nodes=n_leaves - 1, time_limit=60)
    model.fit(binary[train], codes[train])
    return np.unique(y)[model.predict(binary[test]).astype(int)]


if __name__ == "__main__":
    main()
