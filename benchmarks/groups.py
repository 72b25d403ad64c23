"""Population groups: how often limits that hold at once fail, and how often a pruning is certified falsely.

    python benchmarks/groups.py [--runs 2000] [--seed 0]

Every population is known, so that the true rates are. First, the share of samples in which any limit of any group and
rate is wrong, and in which any gap is above its limit, for 2, 5 and 26 groups; a correct procedure is at most at delta.
Then the fixed sequence on prunings of which the second is just above the target in one group, or just above the gap:
the share of samples in which it is certified. Last, trees grown on rows, with certifying rows of which a fifth was
doubled: copies must not make any limit false.
"""

import argparse
import itertools
import time
import warnings

import numpy as np

from secateur import Counts, Pruning, PruningSequence, Tree, certify_groups, count_groups, grow, prune
from secateur.certifiers import fixed_sequence
from secateur.core import GROUP_RATES, PopulationGroups
from secateur.errors import LeakageError

DELTA = 0.05
NUMBERS = itertools.count()  # of samples: a plan knows its samples by name
STUMP = Tree.from_parents([-1, 0, 0])
WHOLE = Pruning.from_cuts(STUMP, [], node_labels=[0, 0, 1])
CHAIN = Tree.from_parents([-1, 0, 1, 1, 0])
SEQUENCE = PruningSequence(CHAIN, [3, 2, 1], [0, 0, 0], steps=[2, 1, 0, 0, 0], node_labels=[0, 0, 0, 1, 1])
# The cells of the leaves of CHAIN by class, in two groups. The second member errs in the second, fourth and fifth.
BELOW_TARGET = [0.4, 0.05, 0.02, 0.05, 0.05, 0.43]
ABOVE_TARGET = [0.4, 0.05, 0.02, 0.1005, 0.05, 0.3795]  # an error of 20.05 %
FEW_SELECTED = [0.45, 0.05, 0.02, 0.08, 0.05, 0.35]  # the second member selects the last leaf: 40 %
MANY_SELECTED = [0.3, 0.05, 0.02, 0.0795, 0.05, 0.5005]  # 55.05 %


def by_group(tree, cells, name):
    """Counts by population group, from the cells of each group by leaf and class."""
    names = [f"group {i}" for i in range(len(cells))]
    groups = PopulationGroups.from_leaves(tree, "column", names, np.asarray(cells))
    return Counts(tree, groups.by_class.sum(axis=0), name, populations=(groups,))


def true_rates(shares):
    """The rates of groups, from the shares of their cells: predicted 0 or 1, by class."""
    right_0, wrong_0, wrong_1, right_1 = shares.T
    return np.stack(
        [wrong_0 + wrong_1, wrong_1 / (right_0 + wrong_1), wrong_0 / (wrong_0 + right_1), wrong_1 + right_1], axis=1
    )


def has_failed(rates, truth):
    """Whether any limit is wrong, and whether any gap is above its limit."""
    is_wrong = ((truth < rates.lower) | (truth > rates.upper)).any()
    gaps = [rates.largest_gap(rate).limit for rate in GROUP_RATES]
    return is_wrong, bool((np.ptp(truth, axis=0) > gaps).any())


def limits_of_known_populations(n_groups, n_rows, runs, seed):
    failures = []
    for run in range(runs):
        rng = np.random.default_rng([seed, n_groups, n_rows, run])
        shares = rng.dirichlet([3, 1, 1, 3], size=n_groups)
        sizes = rng.multinomial(n_rows, rng.dirichlet(np.full(n_groups, 2.0)))
        cells = [rng.multinomial(n, share).reshape(2, 2) for n, share in zip(sizes, shares, strict=True)]
        rates = certify_groups(WHOLE, by_group(STUMP, cells, "known"), delta=DELTA)
        failures.append(has_failed(rates, true_rates(shares)))
    return np.mean(failures, axis=0)


def false_certificates(shares, conditions, n_rows, runs, seed):
    found = []
    for run in range(runs):
        rng = np.random.default_rng([seed, n_rows, run])
        cells = [rng.multinomial(n_rows // 2, share).reshape(3, 2) for share in shares]
        plan = fixed_sequence(SEQUENCE, **conditions)
        _, bound = plan.certify(by_group(CHAIN, cells, f"run {next(NUMBERS)}"), delta=DELTA)
        found.append(1 in bound.details["accepted"])
    return np.mean(found)


def draw(rng, n):
    """Rows of two groups, whose classes depend on the columns with more noise in the second group."""
    X, group = rng.normal(size=(n, 3)), rng.random(n) < 0.3
    noise = np.where(group, 1.0, 0.5) * rng.normal(size=n)
    return X, (X[:, 0] + X[:, 1] + noise > 0).astype(int), np.where(group, "few", "many")


def limits_with_copies(share, runs, seed):
    """The share of failures if a share of the certifying rows was doubled, and how many samples were refused."""
    failures, n_refused = [], 0
    for run in range(runs):
        rng = np.random.default_rng([seed, 7, run])
        X, y, _ = draw(rng, 300)
        tree, grown = grow(X, y, min_samples_leaf=20)
        pruning = prune(tree, grown)[1]
        X, y, group = draw(rng, 600)
        X_large, y_large, group_large = draw(rng, 30_000)
        large = count_groups(tree, X_large, y_large, group=group_large, sketch=False, sample="truth")
        truth = certify_groups(pruning, Counts(tree, large.by_class, "truth", populations=large.populations))
        # The worst rows are doubled: those of one group that are right, so that its errors look too few.
        doubled = rng.permutation(np.flatnonzero(group == "few"))[: round(share * len(y))]
        index = np.concatenate([np.arange(len(y)), doubled])
        counts = count_groups(tree, X[index], y[index], group=group[index])
        try:
            rates = certify_groups(pruning, counts, delta=DELTA)
        except LeakageError:
            n_refused += 1
            continue
        failures.append(has_failed(rates, truth.value))
    return (*np.mean(failures, axis=0), n_refused)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    print(f"delta {DELTA}, {chosen.runs} runs each")
    print(f"{'all limits at once':34} {'any limit wrong':>16} {'any gap wrong':>14}")
    for n_groups, n_rows in ((2, 200), (2, 1000), (5, 1000), (26, 1000), (26, 5000)):
        limit, gap = limits_of_known_populations(n_groups, n_rows, chosen.runs, chosen.seed)
        print(f"{f'{n_groups} groups, {n_rows:,} rows':34} {limit:16.2%} {gap:14.2%}", flush=True)
    print(f"\n{'fixed sequence':42} {'certified falsely':>17}")
    gap = {"max_gap": 0.15, "rate": "selection rate"}
    settings = [
        ("error of every group <= 20 %", [BELOW_TARGET, ABOVE_TARGET], {"target": 0.2, "per_group": True}),
        ("the same, both groups above", [ABOVE_TARGET, ABOVE_TARGET], {"target": 0.2, "per_group": True}),
        ("gap of selection <= 15 points", [FEW_SELECTED, MANY_SELECTED], gap),
        ("both", [FEW_SELECTED, MANY_SELECTED], {"target": 0.3, "per_group": True, **gap}),
    ]
    for name, shares, conditions in settings:
        for n_rows in (400, 4000):
            false = false_certificates(shares, conditions, n_rows, chosen.runs, chosen.seed)
            print(f"{f'{name}, {n_rows:,} rows':42} {false:17.2%}", flush=True)
    runs = max(1, chosen.runs // 10)
    print(f"\n{f'doubled rows ({runs} runs)':34} {'any limit wrong':>16} {'any gap wrong':>14} {'refused':>8}")
    for share in (0.0, 0.05, 0.2):
        limit, gap_failure, n_refused = limits_with_copies(share, runs, chosen.seed)
        print(f"{f'{share:.0%} of the certifying rows':34} {limit:16.2%} {gap_failure:14.2%} {n_refused:8}", flush=True)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
