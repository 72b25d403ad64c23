"""How often do prediction intervals and sets cover, and limits on mean losses hold? Simulated on known populations.

    python benchmarks/intervals.py [runs] [new rows]

Each run grows a tree on new rows, calibrates it on others, and measures the coverage among further rows: over all, and
in the unit (a leaf, or pooled leaves) with the least coverage on average. Trees are grown with small leaves, so that
leaves are pooled. With a confidence, the share of runs in which a unit is covered is compared with the confidence.

The table also shows the rule that gives a leaf with too few rows those of its nearest ancestor with enough, while the
other leaves keep their own interval ("nearest ancestor"): it looks natural, and covers too few rows. If MAPIE is
installed, its split conformal intervals of the same trees are shown: they have one width for all rows, so that the
leaf with the noisiest growing rows is covered too rarely.

The script exits with 1 if a coverage is below what is stated by more than 3.7 standard errors of the simulation.
"""

import sys
import time
from collections import defaultdict

import numpy as np

from secateur import Pruning, TreeClassifier, TreeRegressor, certify, count, grow
from secateur.certifiers import calibrate, prediction_intervals, prediction_sets
from secateur.routing import apply

COVERAGE = 0.9
CONFIDENCE = 0.9
DELTA = 0.1  # of limits on mean losses
LARGEST_TARGET = 40.0  # stated as the range of the target, from 0
N_DEVIATIONS = 3.7
N_GROWN, N_HELD_OUT = 300, 250


def heteroscedastic(rng, n):
    """Noise that grows with the second column, skewed to the right."""
    X = rng.uniform(size=(n, 2))
    return X, 10 * (X[:, 0] > 0.5) + rng.gamma(1.5, 0.5 + 4 * X[:, 1], n)


def discrete(rng, n):
    """Whole numbers with many ties."""
    X = rng.integers(0, 6, (n, 2)).astype(float)
    return X + rng.uniform(0, 1e-6, X.shape), rng.poisson(1 + X[:, 0])


def heavy_tailed(rng, n):
    """Amounts of loss: most are small, a few are enormous."""
    X = rng.uniform(size=(n, 3))
    return X, np.exp(rng.normal(X[:, 0] * 2, 1.5, n)) + rng.pareto(1.2, n) * (X[:, 1] > 0.8)


def missing(rng, n):
    """The first population with a fifth of the cells missing."""
    X, y = heteroscedastic(rng, n)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


POPULATIONS = {f.__name__: f for f in (heteroscedastic, discrete, heavy_tailed, missing)}
OPTIONS = {
    "symmetric": {},
    "two-sided": {"symmetric": False},
    "all leaves": {"by": "all"},
    "confidence": {"confidence": CONFIDENCE},
    "confidence, two-sided": {"confidence": CONFIDENCE, "symmetric": False},
}


class Shares:
    """Shares of rows covered, one per run, and their mean with its standard error."""

    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value)

    @property
    def mean(self):
        return float(np.mean(self.values))

    @property
    def error(self):
        return max(float(np.std(self.values)), 0.3 / len(self.values)) / np.sqrt(len(self.values))

    def is_below(self, stated):
        return self.mean < stated - N_DEVIATIONS * self.error


def simulate_intervals(draw, n_runs, n_new, seed=0):
    """Return the shares covered, by option and kind: over all rows, in one leaf, and reached with confidence."""
    found = defaultdict(Shares)
    rng = np.random.default_rng(seed)
    for _ in range(n_runs):
        X, y = draw(rng, N_GROWN)
        tree, grown = grow(X, y, criterion="squared_error", max_depth=3, min_samples_leaf=4)
        pruning = Pruning.from_cuts(tree, [], seen={"grow"})
        held_out = draw(rng, N_HELD_OUT)
        rows = calibrate(pruning, count(tree, *held_out, sample="fresh"), repeats="independent")
        X_new, y_new = draw(rng, n_new)
        leaves = apply(tree, X_new)
        for name, options in OPTIONS.items():
            intervals = prediction_intervals(pruning, grown, rows, coverage=COVERAGE, **options)
            lower, upper = intervals.of_leaves(leaves).T
            is_covered = (lower <= y_new) & (y_new <= upper)
            unit = intervals.unit[np.searchsorted(intervals.leaves, leaves)]
            add_coverage(found, name, is_covered, unit, intervals)
            if name == "symmetric":
                found[name, "noisiest leaf"].add(is_covered[leaves == noisiest_leaf(pruning, grown)].mean())
        found["nearest ancestor", "all"].add(_nearest_ancestor(pruning, grown, rows, leaves, y_new))
        by_mapie = _mapie(grown, rows, leaves, y_new)
        found["MAPIE", "all"].add(by_mapie.mean())
        found["MAPIE", "noisiest leaf"].add(by_mapie[leaves == noisiest_leaf(pruning, grown)].mean())
    return {key: shares for key, shares in found.items() if np.isfinite(shares.values).all()}


def add_coverage(found, name, is_covered, unit, regions):
    """Add what one run shows about the regions of one option."""
    found[name, "all"].add(is_covered.mean())
    # The unit of a random new row: the guarantee holds for each unit, so also for the smallest one.
    smallest = int(np.argmin(np.where(regions.n_rows > 0, regions.n_rows, np.inf)))
    in_unit = is_covered[unit == smallest]
    if len(in_unit):
        found[name, "smallest unit"].add(in_unit.mean())
        if regions.confidence is not None and len(in_unit) > 200:
            slack = 2 * np.sqrt(COVERAGE * (1 - COVERAGE) / len(in_unit))  # the share is measured on a sample
            found[name, "reached"].add(in_unit.mean() >= COVERAGE - slack)


def _nearest_ancestor(pruning, grown, rows, leaves, y):
    """Return the coverage if each leaf with too few rows uses those of its nearest ancestor with enough."""
    tree, sample = pruning.tree, rows.sample.rows
    own_leaf = sample.leaves_of(pruning)
    scores = np.abs(sample.residuals(pruning, grown.mean))
    width = np.full(tree.n_nodes, np.inf)
    for leaf in pruning.leaves.tolist():
        node = leaf
        while True:
            inside = scores[(own_leaf >= node) & (own_leaf < tree.end[node])]
            k = int(np.ceil((len(inside) + 1) * COVERAGE - 1e-9))
            if k <= len(inside) or node == 0:
                break
            node = tree.parent[node]
        if k <= len(inside):
            width[leaf] = np.sort(inside)[k - 1]
    return float((np.abs(y - grown.mean[leaves]) <= width[leaves]).mean())


def _mapie(grown, rows, leaves, y):
    """Return which rows MAPIE's split conformal intervals of the same tree cover; NaN if MAPIE is not installed."""
    try:
        from mapie.regression import SplitConformalRegressor
        from sklearn.base import BaseEstimator, RegressorMixin
    except ImportError:
        return np.full(len(y), np.nan)

    class Leaf(RegressorMixin, BaseEstimator):
        """Predict the mean of a leaf, given its number."""

        def fit(self, _X, _y):
            self.fitted_ = True
            return self

        def predict(self, X):
            return grown.mean[np.asarray(X)[:, 0].astype(int)]

    sample = rows.sample.rows
    conformal = SplitConformalRegressor(Leaf().fit(None, None), confidence_level=COVERAGE, prefit=True)
    conformal.conformalize(sample.leaf[:, None].astype(float), sample.target)
    _, ends = conformal.predict_interval(leaves[:, None].astype(float))
    return (ends[:, 0, 0] <= y) & (y <= ends[:, 1, 0])


def noisiest_leaf(pruning, grown):
    """Return the leaf with the largest mean squared error of its growing rows, among those with enough rows."""
    leaves = pruning.leaves
    noise = np.where(grown.weight[leaves] >= 40, grown.sse[leaves] / grown.weight[leaves], -1)
    return int(leaves[noise.argmax()])


def simulate_sets(n_runs, n_new, seed=0):
    """Return the shares covered by prediction sets of five classes, one of them rare."""
    found = defaultdict(Shares)
    rng = np.random.default_rng(seed)

    def draw(n):
        X = rng.uniform(size=(n, 2))
        first = np.array([0.6, 0.2, 0.1, 0.08, 0.02])
        shares = np.where(X[:, :1] < 0.4, first, first[::-1])
        return X, (rng.random((n, 1)) > shares.cumsum(axis=1)).sum(axis=1).clip(max=4)

    for _ in range(n_runs):
        tree, grown = grow(*draw(N_GROWN), max_depth=3, min_samples_leaf=4)
        pruning = Pruning.from_cuts(tree, [], node_labels=np.asarray(grown.majority), seen={"grow"})
        rows = calibrate(pruning, count(tree, *draw(N_HELD_OUT), sample="fresh"), repeats="independent")
        X_new, y_new = draw(n_new)
        leaves = apply(tree, X_new)
        for name in ("symmetric", "all leaves", "confidence"):
            sets = prediction_sets(pruning, grown, rows, coverage=COVERAGE, **OPTIONS[name])
            position = np.searchsorted(sets.leaves, leaves)
            rank = np.argmax(sets.order[position] == y_new[:, None], axis=1) + 1
            add_coverage(found, f"sets, {name}", rank <= sets.size[position], sets.unit[position], sets)
    return found


def simulate_estimators(n_runs, n_new, seed=0):
    """Return the shares covered in the ways that users take: certify=True, calibrated_on, and after prune_to."""
    found = defaultdict(Shares)
    rng = np.random.default_rng(seed)
    for _ in range(n_runs):
        X_new, y_new = heteroscedastic(rng, n_new)
        certified = TreeRegressor(certify=True, max_residual=1e6, cv=3, cv_repeats=1)
        certified.fit(*heteroscedastic(rng, N_GROWN + N_HELD_OUT))
        pruned = certified.prune_to(n_leaves=2).calibrated_on(*heteroscedastic(rng, N_HELD_OUT))
        for name, model in (("certify=True", certified), ("prune_to, calibrated_on", pruned)):
            lower, upper = model.predict_interval(X_new, COVERAGE).T
            found[name, "all"].add(((lower <= y_new) & (y_new <= upper)).mean())
        classifier = TreeClassifier(criterion="gini", select=4, certify=True)
        X, y = heteroscedastic(rng, N_GROWN + N_HELD_OUT)
        classifier.fit(X, np.digitize(y, [5, 10, 15]))
        sets = classifier.predict_set(X_new, COVERAGE)
        labels = np.digitize(y_new, [5, 10, 15])
        found["classifier", "all"].add(np.mean([c in found_set for c, found_set in zip(labels, sets, strict=True)]))
    return found


def rare_large(rng, n):
    """Errors that are 0 for most rows, and as large as stated for one row in fifty: the hardest mean to limit."""
    X, _ = heteroscedastic(rng, n)
    return X, np.where(rng.random(n) < 0.02, LARGEST_TARGET, 5.0)


def simulate_certificates(n_runs, n_rows=200, n_truth=200_000, seed=0):
    """Return the shares of runs whose limit on the mean absolute and squared error holds, on trees that are fixed."""
    found = defaultdict(Shares)
    rng = np.random.default_rng(seed)
    for draw in (heteroscedastic, discrete, rare_large):

        def draw_bounded(n, draw=draw):
            X, y = draw(rng, n)
            return X, np.minimum(y, LARGEST_TARGET).astype(float)

        tree, grown = grow(*draw_bounded(N_GROWN), criterion="squared_error", max_depth=3)
        X, y = draw_bounded(n_truth)
        residuals = np.abs(y - grown.mean[apply(tree, X)])
        for _ in range(n_runs):
            sample = count(tree, *draw_bounded(n_rows), sample="fresh")
            for method, power in (("absolute-error", 1), ("squared-error", 2)):
                tree.evaluation_log.records.clear()
                bound = certify(
                    Pruning.from_cuts(tree, [], seen={"grow"}), sample, method=method, grown=grown, delta=DELTA,
                    target_range=(0, LARGEST_TARGET), repeats="independent",
                )  # fmt: skip
                found[f"{method}, {draw.__name__}", "holds"].add(bound.value >= (residuals**power).mean())
    return found


def stated(name, kind):
    """Return the coverage that must be reached; None where nothing is stated."""
    if name == "nearest ancestor" or (name, kind) == ("MAPIE", "noisiest leaf"):
        return None
    if kind == "reached":
        return CONFIDENCE
    if kind == "holds":
        return 1 - DELTA
    # With a confidence, the mean coverage is not stated, but it exceeds the share.
    return COVERAGE


def print_table(title, found):
    """Print the shares, and return whether one is too low."""
    is_wrong = False
    print(f"\n{title}")
    for (name, kind), shares in found.items():
        needed = stated(name, kind)
        is_low = needed is not None and shares.is_below(needed)
        is_wrong |= is_low
        print(f"  {name:<34}{kind:<16}{shares.mean:7.3f} +- {shares.error:.3f}{'  TOO LOW' if is_low else ''}")
    return is_wrong


def main():
    """Print the tables of all simulations."""
    n_runs, n_new = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((1, 1000), (2, 1000)))
    started, is_wrong = time.perf_counter(), False
    print(f"coverage {COVERAGE}, confidence {CONFIDENCE}, {n_runs:,} runs of {n_new:,} new rows")
    for name, draw in POPULATIONS.items():
        is_wrong |= print_table(name, simulate_intervals(draw, n_runs, n_new))
    is_wrong |= print_table("five classes", simulate_sets(n_runs, n_new))
    is_wrong |= print_table(f"limits on mean losses at delta {DELTA}", simulate_certificates(n_runs))
    is_wrong |= print_table("estimators", simulate_estimators(max(n_runs // 10, 1), n_new))
    print(f"\n{time.perf_counter() - started:.0f} s")
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
