"""How long every question about prunings takes, beside what was promised.

    python benchmarks/prune.py            all rows (minutes: scikit-learn grows and prunes large trees)
    python benchmarks/prune.py --quick    small trees only

CPU time of this process, the least of several runs; the first run of each question, which may
compile, is not counted. Ratios compare runs of one process on the same tree.
"""

import math
import resource
import sys
import time

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import ccp_pruning_path

from secateur import Counts, Tree, pruners

PATH_ROWS = {"1k": 2_400, "10k": 27_500, "100k": 300_000, "200k": 620_000}  # training rows for about so many nodes
SIZE_ROWS = {"10k": 57_000, "100k": 620_000, "140k": 880_000}  # the same for so many leaves
SIZE_LIMITS = {"10k": 10, "100k": 100, "140k": 150}  # milliseconds


def main():
    is_quick = "--quick" in sys.argv[1:]
    print(f"{'question':58} {'measured':>22}   reach")
    for benchmark in (additive_path, chains, best_sizes, capped, rep, k_rep, greedy_cuts, scoring):
        benchmark(is_quick)


def additive_path(is_quick):
    sizes, seconds = [], []
    for name, rows in PATH_ROWS.items():
        if is_quick and rows > 50_000:
            continue
        foreign, tree, grown = grown_tree(rows)
        impurity = foreign.impurity * foreign.weighted_n_node_samples
        ours, by_impurity, theirs = (
            least_time(pruners.cost_complexity, tree, grown),
            least_time(pruners.cost_complexity, tree, grown, cost=impurity),
            least_time(ccp_pruning_path, foreign, n_runs=3 if rows < 50_000 else 1),
        )
        reach = {"100k": "at least 100x", "200k": "at least 300x"}.get(name, "never slower")
        says(f"additive path, {tree.n_nodes:,} nodes, errors", f"{ours * 1e3:.2f} ms, {theirs / ours:.1f}x", reach)
        says(
            "   the same, impurity (scikit-learn's cost)",
            f"{by_impurity * 1e3:.2f} ms, {theirs / by_impurity:.1f}x",
            reach,
        )
        sizes.append(tree.n_nodes)
        seconds.append(ours)
    first = min(1, len(sizes) - 2)  # below 10k nodes the fixed costs hide the growth
    exponent = math.log(seconds[-1] / seconds[first]) / math.log(sizes[-1] / sizes[first])
    says("   growth exponent from 10k nodes on", f"{exponent:.2f}", "below 1.2")


def chains(is_quick):
    tree = chain(20_000 if is_quick else 100_000)
    grown = random_counts(tree)
    took = least_time(pruners.cost_complexity, tree, grown)
    says(f"additive path, chain of depth {tree.n_leaves - 1:,}", f"{took:.3f} s", "under 1 s")
    tree = chain(5_000 if is_quick else 19_999)
    grown = random_counts(tree)
    took = least_time(pruners.best_of_size, tree, grown, n_runs=1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    says(
        f"best of size, chain of {tree.n_leaves:,} leaves", f"{took:.2f} s, {memory:.0f} MB so far", "under 5 s, 500 MB"
    )


def best_sizes(is_quick):
    for name, rows in SIZE_ROWS.items():
        if is_quick and rows > 100_000:
            continue
        _, tree, grown = grown_tree(rows)
        took = least_time(pruners.best_of_size, tree, grown)
        says(f"best of all sizes, {tree.n_leaves:,} leaves", f"{took * 1e3:.1f} ms", f"under {SIZE_LIMITS[name]} ms")
        sequence = pruners.best_of_size(tree, grown)
        took = least_time(sequence.with_leaves, tree.n_leaves // 2)
        says("   one member rebuilt", f"{took * 1e3:.1f} ms", "")


def capped(is_quick):
    tree = random_tree(10_000 if is_quick else 100_000)
    grown = random_counts(tree)
    took = least_time(pruners.best_of_size, tree, grown, max_leaves=1000)
    says(f"best of sizes up to 1,000, {tree.n_leaves - 1:,} tests", f"{took:.3f} s", "under 0.5 s")
    tree = chain(tree.n_leaves - 1)
    grown = random_counts(tree)
    took = least_time(pruners.best_of_size, tree, grown, max_leaves=1000)
    says("   the same on a chain", f"{took:.3f} s", "under 0.5 s")


def rep(is_quick):
    tree = random_tree(50_000 if is_quick else 500_000)
    grown, holdout = random_counts(tree), random_counts(tree, 1)
    took = least_time(pruners.reduced_error, tree, grown, holdout)
    says(f"reduced error, {tree.n_nodes:,} nodes", f"{took:.3f} s", "under 0.1 s")


def k_rep(is_quick):
    tree = random_tree(5_000 if is_quick else 50_000)
    grown, holdout = random_counts(tree), random_counts(tree, 1)
    least = int(grown.errors_if_leaf(grown.majority)[tree.is_leaf].sum())
    took = least_time(pruners.k_reduced_error_path, tree, grown, holdout, max_k=least + 1000)
    says(f"k-REP for all k, {tree.n_nodes:,} nodes, budget 1,000", f"{took:.2f} s", "under 2 s")


def greedy_cuts(is_quick):
    _, tree, grown = grown_tree(SIZE_ROWS["10k" if is_quick else "100k"])
    took = least_time(pruners.greedy, tree, grown)
    says(f"GREEDY, {tree.n_leaves:,} leaves", f"{took:.3f} s", "under 2 s")


def scoring(is_quick):
    foreign, tree, grown = grown_tree(PATH_ROWS["10k" if is_quick else "200k"])
    holdout = random_counts(tree, 1)
    path = pruners.cost_complexity(tree, grown, cost=foreign.impurity * foreign.weighted_n_node_samples)
    took = least_time(path.errors_on, holdout)
    says(f"errors of {len(path):,} members, {tree.n_nodes:,} nodes", f"{took * 1e3:.2f} ms", "under 20 ms")


def says(question, measured, reach):
    print(f"{question:58} {measured:>22}   {reach}", flush=True)


def least_time(question, *arguments, n_runs=5, **options):
    """CPU seconds of the fastest run, after one that is not counted."""
    question(*arguments, **options)
    took = []
    for _ in range(n_runs):
        began = time.process_time()
        question(*arguments, **options)
        took.append(time.process_time() - began)
    return max(min(took), 1e-7)


_GROWN = {}


def grown_tree(rows):
    """A scikit-learn tree on noisy labels, our tree of the same structure, and its counts."""
    if rows not in _GROWN:
        rng = np.random.default_rng(0)
        x = rng.random((rows, 10)).astype(np.float32)
        y = ((x[:, 0] + x[:, 1] > 1) ^ (x[:, 2] > 0.5)).astype(int)
        is_noise = rng.random(rows) < 0.25
        y[is_noise] = rng.integers(0, 2, is_noise.sum())
        foreign = DecisionTreeClassifier(max_features=3, random_state=0).fit(x, y).tree_
        parent = np.full(foreign.node_count, -1, np.int32)
        internal = np.flatnonzero(foreign.children_left >= 0)
        parent[foreign.children_left[internal]] = internal
        parent[foreign.children_right[internal]] = internal
        tree = Tree(parent)
        by_class = np.rint(foreign.value[:, 0, :] * foreign.weighted_n_node_samples[:, None]).astype(np.int64)
        _GROWN[rows] = foreign, tree, Counts(tree, by_class)
    return _GROWN[rows]


def random_tree(n_tests):
    """A binary tree that splits a random leaf again and again."""
    rng = np.random.default_rng(0)
    leaves = [0]
    parent = [-1]
    for draw in rng.random(n_tests).tolist():
        at = int(draw * len(leaves))
        v, leaves[at] = leaves[at], len(parent)
        leaves.append(len(parent) + 1)
        parent += [v, v]
    return Tree.from_parents(parent)


def chain(n_tests):
    return Tree.from_parents(np.append(-1, np.repeat(np.arange(0, 2 * n_tests, 2), 2)))


def random_counts(tree, seed=0):
    rng = np.random.default_rng(seed)
    sample = "prune" if seed else "grow"
    return Counts.from_leaves(tree, rng.integers(0, 4, (tree.n_leaves, 2)), sample=sample)


if __name__ == "__main__":
    main()
