"""The set of all prunings within a budget of the best: times by size, and limits on noise with and without the price.

    python benchmarks/alternatives.py [--data DIR] [--runs 400] [--seed 0]

Times are CPU times; those of the questions come after that of the set. DIR holds adult.csv.gz, the class in the last
column, and SCHEMA.json with the kind of every column; without it, random trees of about the same size take its place.
Then, for `--runs` trees grown on noise, how often the limit on the error of the best pruning is false: computed from
its errors as if it had not been chosen, and by Occam's method, which pays for the choice.
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
from _timing import cpu, table  # beside this script
from quality import read  # beside this script

from secateur import Counts, Tree, alternatives, certify, count, encode, grow
from secateur.certifiers import binomial_upper

DELTA = 0.05
MAX_EXACT_LOG = 1_000  # larger sets are not counted as integers
MAX_MILLISECONDS = 50  # promised for adult, one percentage point of 10,000 held-out rows


def adult(folder):
    """About 2,800 leaves and 10,000 held-out rows of adult."""
    X, y = read("adult", folder)
    rows = encode(X, target=y)
    order = np.random.default_rng(0).permutation(rows.n_rows)
    tree, grown = grow(rows.take(order[:20_000]))
    return tree, grown, count(tree, rows.take(order[20_000:30_000]))


def random_samples(tree, n_rows, seed=0):
    """Growing and held-out counts of noisy leaves; about `n_rows` rows each."""
    rng = np.random.default_rng(seed)
    share = rng.beta(0.5, 0.5, tree.n_leaves)
    samples = []
    for name in ("grow", "prune"):
        n = rng.poisson(n_rows / tree.n_leaves, tree.n_leaves)
        hits = rng.binomial(n, share)
        samples.append(Counts.from_leaves(tree, np.stack([n - hits, hits], 1), sample=name))
    return tree, *samples


def random_tree(n_leaves, seed=0):
    """A binary tree that is grown at random leaves."""
    rng = np.random.default_rng(seed)
    parent, leaves = [-1], [0]
    while len(leaves) < n_leaves:
        i = int(rng.integers(len(leaves)))
        leaves[i], leaves[-1] = leaves[-1], leaves[i]
        v = leaves.pop()
        leaves += [len(parent), len(parent) + 1]
        parent += [v, v]
    return Tree.from_parents(parent)


def chain(n_splits):
    """A tree of that depth, whose splits each have a leaf on the left."""
    return Tree(np.concatenate([[-1], np.repeat(2 * np.arange(n_splits), 2)])[: 2 * n_splits + 1])


def times(name, samples, within, max_leaves=None):
    """The CPU seconds of the set, and a line of the table: milliseconds of the set and of further questions."""
    tree, grown, held = samples
    seconds, members = cpu(lambda: alternatives(tree, grown, held, within=within, max_leaves=max_leaves), 1)
    questions = (
        lambda: members.node_shares,
        lambda: members.column_shares,
        lambda: members.n_leaves,
        lambda: members.sample(20, 0),
        lambda: members.log_count < MAX_EXACT_LOG and members.count(),
    )
    cells = []
    for ask in questions:  # once each, because the answers are kept
        began = time.process_time()
        ask()
        cells.append(f"{1e3 * (time.process_time() - began):,.1f}")
    size = f"10^{members.log_count / math.log(10):,.0f}"
    leaves = "-".join(f"{n:,}" for n in members.n_leaves)
    return seconds, [name, members.budget, size, leaves, f"{1e3 * seconds:,.1f}", *cells]


def noise(n_runs, seed):
    """How often the limit on the best pruning of noise is false: without and with the price of the choice."""
    n_false = np.zeros(2, int)
    for run in range(n_runs):
        rng = np.random.default_rng([seed, run])
        draw = lambda n, rng=rng: (rng.random((n, 3)), rng.integers(2, size=n))  # noqa: E731
        tree, grown = grow(*draw(800))
        held = count(tree, *draw(400))
        best = alternatives(tree, grown, held, within=0.01).best
        errors = best.cost(held.unrecorded_errors_if_leaf(grown.majority))
        n_false[0] += binomial_upper(errors, 400, math.log(DELTA)) < 0.5
        n_false[1] += certify(best, held, grown=grown, method="occam", delta=DELTA).value < 0.5
    return n_false


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    name = "random" if given.data is None else "adult"
    samples = random_samples(random_tree(2_800), 10_000) if given.data is None else adult(given.data)
    seconds, first = times(f"{name}, {samples[0].n_leaves:,} leaves", samples, 0.01)
    large, deep = random_samples(random_tree(50_000), 500_000), random_samples(chain(100_000), 200_000)
    lines = [
        first,
        times("the same, at most 50 leaves", samples, 0.01, 50)[1],
        times("random, 50,000 leaves", large, 500)[1],
        times("chain of 100,000 splits", deep, 20)[1],
    ]
    head = ["tree", "budget", "prunings", "leaves", "set", "shares", "columns", "extremes", "20 draws", "exact"]
    table(head, lines)
    print(f"\nthe set of the first line: {1e3 * seconds:.1f} ms of at most {MAX_MILLISECONDS} ms")
    without, paid = noise(given.runs, given.seed)
    print(f"noise, delta {DELTA}, {given.runs} runs: false {without} without the price, {paid} with it")


if __name__ == "__main__":
    main()
