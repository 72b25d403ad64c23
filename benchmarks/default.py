"""What the default tree is chosen from, and what was tried beside it: test error, leaves and trees grown.

    python benchmarks/default.py --data DIR                         the 16 small sets, three deals of outer folds
    python benchmarks/default.py --data DIR --sets iris,glass       some of them (names and files as in quality.py)
    python benchmarks/default.py                                    the two sets that scikit-learn brings

Options: --seeds 1,2,3, one deal of five stratified outer folds each. Every choice is made inside the
training rows, on the same inner folds for all: one standard error, the m-estimate as path cost.

    nine ways       gini, entropy and sqrt, at least 1, 2 and 5 rows a leaf, three repeats: 279 trees
    two ways        gini and sqrt, at least 1 row a leaf, three repeats: 62 trees
    one repeat      the same with one repeat: 22 trees
    default         up to three repeats, fewer where the choice stays the same; a way that is behind
                    drops out: TreeClassifier() as it is
"""

import argparse
import statistics
import warnings
from pathlib import Path

import numpy as np
from _timing import table as print_table
from quality import BROUGHT, read
from sklearn.model_selection import StratifiedKFold

from secateur import count, encode
from secateur.model_selection import cross_validate

SETS = (
    "breast-cancer", "iris", "glass", "heart-statlog", "new-thyroid", "hepatitis", "ionosphere", "vote", "australian",
    "diabetes", "balance-scale", "tic-tac-toe", "breast-w", "zoo", "wdbc", "german",
)  # fmt: skip
NINE = [(criterion, least) for criterion in ("gini", "entropy", "sqrt") for least in (1, 2, 5)]
TWO = [("gini", 1), ("sqrt", 1)]


def main():
    warnings.simplefilter("ignore")  # rare classes are dealt as far as they go
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", help="names with commas between them")
    parser.add_argument("--seeds", default="1,2,3")
    given = parser.parse_args()
    names = given.sets.split(",") if given.sets else list(SETS if given.data else BROUGHT)
    found = {}
    for name in names:
        X, y = read(name, given.data)
        for seed in map(int, given.seeds.split(",")):
            for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(np.zeros(len(y)), y):
                rows = encode(X.iloc[train], target=y[train])
                fresh = encode(X.iloc[test], schema=rows.schema, target=y[test])
                for method, (choice, n_trees) in choices(rows).items():
                    wrong = choice.pruning.errors(count(choice.tree, fresh)) / len(test)
                    found.setdefault((method, name), []).append((100 * wrong, choice.pruning.n_leaves, n_trees))
        print(name, flush=True)
    lines = []
    for method in dict.fromkeys(method for method, _ in found):
        of = [np.mean(found[method, name], axis=0) for name in names]
        error, _, trees = np.mean(of, axis=0)
        leaves = statistics.geometric_mean(line[1] for line in of)
        lines.append([method, f"{error:.2f} %", f"{leaves:.2f}", f"{trees:.0f}"])
    print_table(["chosen from", "test error", "leaves", "trees grown"], lines)


def choices(rows):
    """Name to (what cross-validation chose, trees grown)."""
    three = {way: run(rows, way, 3) for way in NINE}
    once = [run(rows, way, 1) for way in TWO]
    grown = []
    auto = cross_validate(
        rows, criterion="auto", cost="m-estimate", cv_repeats="auto", progress=lambda *done: grown.append(done)
    )
    return {
        "nine ways": (least(three.values()), 279),
        "two ways": (least(three[way] for way in TWO), 62),
        "one repeat": (least(once), 22),
        "default": (auto, len(grown)),
    }


def run(rows, way, repeats):
    return cross_validate(rows, criterion=way[0], min_samples_leaf=way[1], cost="m-estimate", cv_repeats=repeats)


def least(selections):
    return min(selections, key=lambda found: (found.error[found.chosen], found.pruning.n_leaves))


if __name__ == "__main__":
    main()
