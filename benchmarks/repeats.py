"""The share of false certificates when rows occur twice: a memorising classifier on noise, before and after the rule.

    .venv/bin/python benchmarks/repeats.py [RUNS]

Each row of the table is a population of rows, each column a way in which rows come to be copied. The classifier learns
the growing rows by heart and answers at random elsewhere, so that its true error is one half. A certificate is false if
its limit, at delta = .1, is below one half. Without the rule the limit counts the wrong rows; with it, rows that may be
copies count as wrong, and a sample with more than half of such rows is refused.

A second table is about copies whose numbers were rounded to float16 on the way, and about the price that honest samples
pay for the search.
"""

import math
import sys
import time

import numpy as np

from secateur.certifiers import binomial_upper
from secateur.data.sketch import RowKey, Sketch
from secateur.statistics.repeats import find_repeats

KEY = RowKey(bytes(16), (0,))
DELTA = 0.1
N_IDS = 2**62
POPULATIONS = {
    "continuous, n = 300": ("continuous", 300),
    "continuous, n = 3,000": ("continuous", 3000),
    "90 % continuous, 10 % of 30 values, n = 300": ("mixed", 300),
    "the same, n = 3,000": ("mixed", 3000),
    "100,000 values, n = 3,000": ("100,000 values", 3000),
    "5,000 heavy-tailed values, n = 3,000": ("heavy tail", 3000),
    "60 values, n = 3,000": ("60 values", 3000),
}
WAYS = [("doubled", 0.0), ("doubled", 1.0), ("doubled", 0.2), ("doubled", 0.05)]
WAYS += [("re-used", 0.5), ("re-used", 0.2), ("re-used", 0.05)]


def draw(kind, n, rng):
    """Return a number for each of n independent rows; equal numbers are equal rows."""
    if kind == "continuous":
        return rng.integers(0, N_IDS, n)
    if kind == "mixed":
        return np.where(rng.random(n) < 0.1, rng.integers(0, 30, n), rng.integers(100, N_IDS, n))
    if kind == "heavy tail":
        weight = 1 / np.arange(1, 5001)
        return rng.choice(5000, n, p=weight / weight.sum())
    return rng.integers(0, int(kind.split()[0].replace(",", "")), n)


def samples(kind, n, way, share, rng):
    """Return rows and labels of a growing and a certifying sample."""
    rows, labels = draw(kind, n, rng), rng.integers(0, 2, n)
    if way == "doubled":
        copied = rng.choice(n, round(share * n), replace=False)
        rows, labels = np.concatenate([rows, rows[copied]]), np.concatenate([labels, labels[copied]])
    order = rng.permutation(len(rows))
    rows, labels = rows[order], labels[order]
    n_certifying = n // 2 if way == "re-used" else len(rows) // 3
    held, held_labels = rows[:n_certifying], labels[:n_certifying]
    grown, grown_labels = rows[n_certifying:], labels[n_certifying:]
    if way == "re-used":
        n_reused = round(share * n_certifying)
        taken = rng.choice(len(grown), n_reused, replace=False)
        held[:n_reused], held_labels[:n_reused] = grown[taken], grown_labels[taken]
    return (grown, grown_labels), (held, held_labels)


def sketch(rows, labels):
    """Return the complete sketch of rows."""
    hashes, copies = np.unique(rows * 2 + labels, return_counts=True)
    n = len(rows)
    return Sketch(KEY, hashes.astype(np.uint64), np.zeros(len(hashes), np.int64), copies, [n], size=n + 1)


def count_errors(grown, held):
    """Return the number of held-out rows that the memorising classifier predicts wrongly."""
    known, position = np.unique(grown[0], return_inverse=True)
    votes = np.bincount(position, 2 * grown[1] - 1)
    at = np.minimum(np.searchsorted(known, held[0]), len(known) - 1)
    answers = np.where(known[at] == held[0], votes[at] > 0, False)
    return int(np.count_nonzero(answers != held[1]))


def run(kind, n, way, share, rng):
    """Return whether the limit is false without and with the rule, its price, and whether copies are detectable."""
    grown, held = samples(kind, n, way, share, rng)
    n_held, errors = len(held[0]), count_errors(grown, held)
    found = find_repeats([sketch(*grown)], sketch(*held), DELTA)

    def is_false(n_errors):
        return binomial_upper(min(n_errors, n_held), n_held, math.log(DELTA)) < 0.5

    is_false_after = not found.is_refused and is_false(errors + found.n_errors)
    return is_false(errors), is_false_after, found.n_errors, found.copies_detectable


def continuous(n_columns, offset=0.0):
    """Return a function that draws rows of normal numbers."""
    return lambda n, rng: offset + rng.normal(size=(n, n_columns))


ROUNDED_POPULATIONS = {
    "1 normal column": continuous(1),
    "2 normal columns": continuous(2),
    "4 normal columns": continuous(4),
    "2 columns around 1,000": continuous(2, 1000.0),
    "1 normal column, 40 categories": lambda n, rng: np.column_stack([rng.normal(size=n), rng.integers(0, 40, n)]),
}


def run_rounded(draw_rows, n, share, rng):
    """Return whether the limit is false without and with the rule, and its price; a share is copied through float16."""
    X, y = draw_rows(n, rng), rng.integers(0, 2, n)
    copied = rng.choice(n, round(share * n), replace=False)
    X = np.concatenate([X, X[copied].astype(np.float16).astype(float)])
    y = np.concatenate([y, y[copied]])
    rows, source = rng.permutation(len(y)), np.concatenate([np.arange(n), copied])
    held, grown = rows[: len(y) // 3], rows[len(y) // 3 :]
    key = RowKey(bytes(16), tuple(range(X.shape[1])))
    found = find_repeats([key.sketch([X[grown]], y[grown], 2)], key.sketch([X[held]], y[held], 2), DELTA)
    is_known = np.isin(source[held], source[grown])
    errors = int(
        np.count_nonzero(~is_known & (y[held] == 1))
    )  # copies are predicted rightly, all other rows as class 0
    is_false = [
        binomial_upper(min(e, len(held)), len(held), math.log(DELTA)) < 0.5 for e in (errors, errors + found.n_errors)
    ]
    return is_false[0], is_false[1] and not found.is_refused, found.n_errors


def print_rounded(n_runs):
    """Print the table of rounded copies."""
    print("a share of the rows occurs again through float16; false before -> after")
    for name, draw_rows in ROUNDED_POPULATIONS.items():
        for n in (300, 3000):
            cells = []
            for share in (0.0, 0.2, 0.1, 0.05):
                runs = [run_rounded(draw_rows, n, share, np.random.default_rng([12, i])) for i in range(n_runs)]
                before, after, price = np.array(runs, float).mean(axis=0)
                cells.append(f"{share:.0%}: {before:.2f} -> {after:.2f}, price {price:.1f}")
            print(f"{name}, n = {n:,}", *cells, sep="\n    ", flush=True)


def main():
    n_runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    start, n_above = time.perf_counter(), 0
    print(f"{n_runs} runs a cell; false before -> after; (false although copies are called detectable)")
    for name, (kind, n) in POPULATIONS.items():
        cells = []
        for way, share in WAYS:
            runs = [run(kind, n, way, share, np.random.default_rng([11, i])) for i in range(n_runs)]
            before, after, price, detectable = np.array(runs, float).T
            is_claimed_false = after * detectable
            n_above += is_claimed_false.mean() > DELTA + 3.1 * math.sqrt(DELTA * (1 - DELTA) / n_runs)
            cell = f"{before.mean():.2f} -> {after.mean():.2f} ({is_claimed_false.mean():.2f})"
            cells.append(f"{way} {share:.0%}: {cell}, price {price.mean():.1f}")
        print(name, *cells, sep="\n    ", flush=True)
    print_rounded(n_runs)
    print(f"{time.perf_counter() - start:.0f} s; {n_above} cells above delta although copies are called detectable")
    return 1 if n_above else 0


if __name__ == "__main__":
    sys.exit(main())
