"""Updates of a deployed tree: the error and the changed nodes, against the same tree unchanged and a full refit.

    python benchmarks/updates.py --data DIR [--sets adult,letter] [--max-rows 20000] [--seed 0]

DIR holds NAME.csv.gz, the class in the last column, and SCHEMA.json with the kind of every column. A tree is fitted to
the first half of the rows, in the order of the file. Of the second half, two thirds update the tree, or fit a new one,
and one third, drawn at random, measures the errors. If the order carries nothing, a drift is simulated in the second
half: in the rows that lie in the upper half of two random columns, 70 % of the classes become the next class. The order
carries something if the error on the second half differs from the cross-validated one by more than three standard
errors. Changes are given as a share of the nodes of the deployed tree.

An update is a pruning of the grown tree ("pruned"), or has new subtrees ("regrown"). It has the fewest changes within
one standard error of the lowest cross-validated error ("1se"), or the lowest error with at most a quarter of the nodes
changed ("1/4").
"""

import argparse
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from quality import read  # beside this script

from secateur import encode
from secateur.model_selection import Recipe, fit_model
from secateur.routing.prediction import predict
from secateur.updating import update

SETS = (
    "adult", "census-income", "connect-4", "covertype", "german", "kropt", "letter", "nursery", "optdigits",
    "page-blocks", "pendigits", "waveform",
)  # fmt: skip
UPDATES = ("pruned 1se", "pruned 1/4", "regrown 1se", "regrown 1/4")
DRIFT_SHARE = 0.7
MAX_DIFFERENCE, MAX_CHANGED_SHARE = 0.005, 0.25  # of the error from that of a refit, and of the nodes


class Result(NamedTuple):
    """The errors on the test rows of one data set, and the changed share of the nodes of each update."""

    drift: str
    n_nodes: int
    unchanged: float
    refit: float
    refit_all: float
    updates: dict[str, tuple[float, float]]


def error_on(model, table):
    """Return the share of wrong predictions."""
    classes = np.asarray(table.schema.classes)
    return float(np.mean(predict(model, table) != classes[table.required_target]))


def with_drift(table, is_new, rng):
    """Return the table with other classes in a part of the new rows."""
    is_changed = is_new & (rng.random(table.n_rows) < DRIFT_SHARE)
    upper = [np.asarray(column, float) > np.nanmedian(np.asarray(column, float)) for column in table.columns]
    usable = [is_upper for is_upper in upper if 0.25 <= is_upper.mean() <= 0.75]
    for j in rng.choice(len(usable), min(2, len(usable)), replace=False):
        is_changed &= usable[j]
    target = np.where(is_changed, (table.required_target + 1) % len(table.schema.classes), table.required_target)
    return replace(table, target=target.astype(table.required_target.dtype))


def run(table, seed):
    """Return the result of one data set."""
    rng = np.random.default_rng([20260201, seed])
    n = table.n_rows
    recipe = Recipe(growing={"criterion": "auto", "min_samples_leaf": "auto"}, cv=5, cv_repeats=1)
    is_new = np.arange(n) >= n // 2
    old, later = np.flatnonzero(~is_new), rng.permutation(np.flatnonzero(is_new))
    deployed = fit_model(table.take(old), recipe)
    expected = float(deployed.selection.error[deployed.selection.chosen])
    difference = error_on(deployed, table.take(np.sort(later))) - expected
    drift = f"order ({100 * difference:+.1f})"
    if abs(difference) < 3 * math.sqrt(max(expected * (1 - expected), 1 / n) * 4 / n):
        table, drift = with_drift(table, is_new, rng), "simulated"
    new, test = np.sort(later[: 2 * len(later) // 3]), np.sort(later[2 * len(later) // 3 :])
    tested = table.take(test)
    updates = {}
    n_nodes = deployed.pruning.n_nodes
    for regrow in (False, True):
        for max_changes in (None, int(MAX_CHANGED_SHARE * n_nodes)):
            found = update(deployed, table.take(new), max_changes=max_changes, regrow=regrow)
            if max_changes is not None:
                found = replace(found, chosen=int(found.cv_errors.argmin()))
            name = f"{'regrown' if regrow else 'pruned'} {'1se' if max_changes is None else '1/4'}"
            updates[name] = error_on(found.model(), tested), found.n_changes / n_nodes
    refit = fit_model(table.take(new), recipe)
    refit_all = fit_model(table.take(np.concatenate([old, new])), recipe)
    errors = [error_on(model, tested) for model in (deployed, refit, refit_all)]
    return Result(drift, n_nodes, *errors, updates)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--max-rows", type=int, default=20_000, help="of larger sets, every so many rows are taken")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{'data set':15} {'drift':15} {'nodes':>5} {'unchanged':>10} {'refit':>6} {'refit on all':>13} |", end="")
    print("".join(f" {name:>16}" for name in UPDATES))
    n_met = 0
    for name in options.sets.split(","):
        start = time.perf_counter()
        X, y = read(name, options.data)
        table = encode(X, target=y)
        step = math.ceil(table.n_rows / options.max_rows)
        result = run(table.take(np.arange(0, table.n_rows, step)), options.seed)
        cells = "".join(f" {100 * result.updates[name][0]:9.2f} {result.updates[name][1]:6.0%}" for name in UPDATES)
        limit = result.refit + MAX_DIFFERENCE
        met = [name for name in UPDATES if name.endswith("1/4") and result.updates[name][0] <= limit]
        n_met += bool(met)
        errors = f"{100 * result.unchanged:10.2f} {100 * result.refit:6.2f} {100 * result.refit_all:13.2f}"
        text = f"{name:15} {result.drift:15} {result.n_nodes:5} {errors} |{cells} {', '.join(met)}"
        print(f"{text} ({time.perf_counter() - start:.0f} s)", flush=True)
    print(f"within .5 points of a refit on the new rows with at most a quarter of the nodes changed: {n_met}")


if __name__ == "__main__":
    main()
