"""Trees certified below a target: the path, with equal or cross-validated shares of delta, and the fixed sequence.

    python benchmarks/targets.py --data DIR [--sets adult,connect-4] [--runs 100] [--seed 0]

DIR holds NAME.csv.gz, the class in the last column, and SCHEMA.json with the kind of every column. Each run draws rows
to grow and to certify; the error on all other rows is taken for the truth. For every target: the share of runs in which
any tree is certified, the geometric mean of the leaves of the smallest one, and the share of runs in which that tree
errs more than the target. Then the mean limit of each way to a low limit, without a target.
"""

import argparse
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from quality import read  # beside this script

from secateur import Counts, count, encode
from secateur.certifiers import cross_validation_weights, fixed_sequence, least_bound, path
from secateur.model_selection import cross_validate
from secateur.statistics.tails import binomial_upper

DELTA = 0.05


@dataclass(frozen=True)
class Setting:
    n_grow: int
    n_certify: int
    targets: tuple[float, ...]


SETTINGS = {"adult": Setting(4000, 1000, (0.18, 0.17)), "connect-4": Setting(8000, 2000, (0.30, 0.28))}
METHODS = ("path, equal shares", "path, CV shares", "fixed sequence")
LOWEST = ("path, equal shares", "path, CV shares", "0se + test sample", "1se + test sample")


def by_hand(counts, name):
    """The same numbers without a sketch, so that several methods can use one sample."""
    return Counts.from_leaves(counts.tree, counts.by_class[counts.tree.is_leaf], sample=name)


def run(table, setting, seed):
    """(leaves, true error) by target and method, None if nothing is certified; (limit, true error) by way."""
    rows = np.random.default_rng([20260101, seed]).permutation(table.n_rows)
    grow, certify, rest = np.split(rows, [setting.n_grow, setting.n_grow + setting.n_certify])
    selection = cross_validate(table.take(grow), select="0se", random_state=seed)
    sequence, tree = selection.sequence, selection.tree
    counts = count(tree, table.take(certify), sample="certify", sketch=False)
    rest_counts = count(tree, table.take(rest), sample="rest", sketch=False)
    truth = sequence.unrecorded_errors_on(rest_counts) / len(rest)
    weights = cross_validation_weights(selection.error, selection.se)
    limits = {}
    for name, shares in (("path, equal shares", None), ("path, CV shares", weights)):
        bounds = path(sequence, by_hand(counts, name), delta=DELTA, weights=shares)
        limits[name] = np.array([bound.value for bound in bounds]), least_bound(bounds).details["member"]
    found = {}
    for target in setting.targets:
        for name, (values, _) in limits.items():
            certified = np.flatnonzero(values <= target)
            found[target, name] = certified[-1] if len(certified) else None
        _, bound = fixed_sequence(selection, target=target).certify(by_hand(counts, f"target {target}"), DELTA)
        found[target, "fixed sequence"] = bound.details["member"] if bound.certified else None
    results = {
        key: None if member is None else (int(sequence.n_leaves[member]), float(truth[member]))
        for key, member in found.items()
    }
    lowest = {name: (float(values[member]), float(truth[member])) for name, (values, member) in limits.items()}
    errors = sequence.unrecorded_errors_on(counts)
    for name, member in (("0se + test sample", selection.best), ("1se + test sample", selection.one_se)):
        limit = binomial_upper(int(errors[member]), len(certify), math.log(DELTA))
        lowest[name] = float(limit), float(truth[member])
    return results, lowest


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=",".join(SETTINGS))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="number of the first run")
    chosen = parser.parse_args()
    for name in chosen.sets.split(","):
        setting, began = SETTINGS[name], time.perf_counter()
        X, y = read(name, chosen.data)
        table = encode(X, target=y)
        runs = [run(table, setting, seed) for seed in range(chosen.seed, chosen.seed + chosen.runs)]
        size = f"{setting.n_grow:,} growing and {setting.n_certify:,} certifying rows"
        print(f"\n{name}: {size}, {chosen.runs} runs, delta {DELTA} ({time.perf_counter() - began:.0f} s)", flush=True)
        print(f"{'':20} {'target':>7} {'certified':>10} {'leaves':>8} {'false':>7}")
        for target in setting.targets:
            for method in METHODS:
                certified = [results[target, method] for results, _ in runs if results[target, method] is not None]
                leaves = np.exp(np.mean(np.log([n for n, _ in certified]))) if certified else math.nan
                false = sum(error > target for _, error in certified)
                share = len(certified) / len(runs)
                print(f"{method:20} {target:7.0%} {share:10.1%} {leaves:8.1f} {false / len(runs):7.1%}")
        print(f"{'lowest limit':20} {'limit':>7} {'true':>10} {'':8} {'false':>7}")
        for method in LOWEST:
            limits, errors = np.array([lowest[method] for _, lowest in runs]).T
            print(f"{method:20} {limits.mean():7.2%} {errors.mean():10.2%} {'':8} {(errors > limits).mean():7.1%}")


if __name__ == "__main__":
    main()
