"""Prediction intervals: naive values, exact coverage over all samples, pooling, freshness, misuse, deep trees, files."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.tree import DecisionTreeRegressor

from secateur import Moments, Pruning, Tree, TreeClassifier, TreeRegressor, count, grow
from secateur.certifiers import calibrate, prediction_intervals
from secateur.certifiers._pooling import pool_leaves
from secateur.core import Calibration, TargetRows
from secateur.errors import LeakageError, ModelFileError, ParameterError, UnsupportedError
from secateur.model_selection import intervals_of
from secateur.modelfile import dumps_model, loads_model
from secateur.report import report_html
from secateur.routing import apply


def population(rng, n):
    """Four plateaus with noise of different sizes, skewed to the right; a tenth of the cells is missing."""
    X = rng.uniform(size=(n, 2))
    noise = rng.gamma(1.5, 1 + 3 * (X[:, 1] > 0.5), n)
    y = 10 * (X[:, 0] > 0.5) + 5 * (X[:, 1] > 0.5) + noise
    X[rng.random(n) < 0.1, 1] = np.nan
    return X, y


def parts(seed=0, n_grown=400, n_held_out=300, **growing):
    rng = np.random.default_rng(seed)
    tree, grown = grow(*population(rng, n_grown), criterion="squared_error", **{"max_depth": 2, **growing})
    pruning = Pruning.from_cuts(tree, [], seen={"grow"})
    X, y = population(rng, n_held_out)
    return pruning, grown, X, y, rng


def by_hand(tree, leaf, target, grown_mean, weight, sample="fresh"):
    """A pruning without cuts, growing moments and a calibration, from rows that are entered by hand."""
    pruning = Pruning.from_cuts(tree, [])
    leaves = np.flatnonzero(tree.is_leaf)
    grown = Moments.from_leaves(tree, weight, grown_mean)
    rows = [target[leaf == v] for v in leaves]
    moments = Moments.from_leaves(
        tree, [len(r) for r in rows], [r.mean() if len(r) else 0 for r in rows],
        [((r - r.mean()) ** 2).sum() if len(r) else 0 for r in rows], sample=sample,
    )  # fmt: skip
    moments = replace(moments, rows=TargetRows.sorted_by_leaf(leaf, target), n_rows=len(leaf))
    return pruning, grown, Calibration(moments, pruning.digest)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("is_discrete", [False, True])
def test_intervals_are_order_statistics_of_the_residuals_of_a_leaf(coverage, is_discrete):
    pruning, grown, X, y, _ = parts()
    y = y.round() if is_discrete else y
    intervals = prediction_intervals(pruning, grown, calibrate(pruning, count(pruning.tree, X, y)), coverage=coverage)
    assert intervals.n_units == pruning.n_leaves
    leaf_of_row = apply(pruning.tree, X)
    for i, leaf in enumerate(pruning.leaves.tolist()):
        residuals = sorted(abs(target - grown.mean[leaf]) for target in y[leaf_of_row == leaf])
        k = math.ceil(round((len(residuals) + 1) * coverage, 9))
        assert intervals.upper[i] == pytest.approx(grown.mean[leaf] + residuals[k - 1])
        assert intervals.lower[i] == pytest.approx(grown.mean[leaf] - residuals[k - 1])
        assert intervals.n_rows[intervals.unit[i]] == len(residuals)


def test_two_sided_intervals_leave_out_rows_on_each_side():
    pruning, grown, X, y, _ = parts()
    rows = calibrate(pruning, count(pruning.tree, X, y))
    intervals = prediction_intervals(pruning, grown, rows, coverage=0.8, symmetric=False)
    leaf_of_row = apply(pruning.tree, X)
    for i, leaf in enumerate(pruning.leaves.tolist()):
        targets = np.sort(y[leaf_of_row == leaf])
        s = math.floor(round((len(targets) + 1) * 0.1, 9))
        assert (intervals.lower[i], intervals.upper[i]) == pytest.approx((targets[s - 1], targets[-s]))


def test_with_a_confidence_the_rank_is_that_of_a_tolerance_limit():
    tree = Tree.from_parents([-1, 0, 0])
    leaf, target = np.repeat([1, 2], 100), np.tile(np.arange(100.0), 2)
    parts_by_hand = by_hand(tree, leaf, target, [0, 0], [500, 500])
    intervals = prediction_intervals(*parts_by_hand, coverage=0.9, confidence=0.95)
    assert intervals.upper.tolist() == [95, 95]  # the 96th smallest of 0, ..., 99
    assert "With 95 % confidence, over the draw of the 200 held-out rows" in intervals.guarantee
    assert "by itself, not in all at once" in intervals.guarantee


@pytest.mark.parametrize("coverage", [0.5, 0.7])
def test_each_unit_is_covered_over_all_samples(coverage):
    """Two leaves of different noise, five calibrating rows and a new row: every outcome, with its probability.

    Too few rows in a leaf give an unbounded interval, which covers. The coverage among new rows of each leaf is exact.
    """
    tree, n = Tree.from_parents([-1, 0, 0]), 4
    cells = [(1, 0.0, 0.3), (1, 3.0, 0.2), (2, 0.0, 0.1), (2, 1.0, 0.25), (2, 9.0, 0.15)]  # leaf, target, probability
    covered, chance_of_leaf = {1: 0.0, 2: 0.0}, {1: 0.5, 2: 0.5}
    for by, weight in (("leaf", [10**6, 10**6]), ("all", [1, 1])):
        covered = {1: 0.0, 2: 0.0}
        for drawn in itertools.combinations_with_replacement(range(len(cells)), n):
            numbers = np.bincount(drawn, minlength=len(cells))
            orders = math.factorial(n) / math.prod(math.factorial(k) for k in numbers.tolist())
            chance = orders * math.prod(cells[i][2] for i in drawn)
            leaf, target = (np.array([cells[i][j] for i in drawn]) for j in (0, 1))
            pruning, grown, rows = by_hand(tree, leaf, target, [0, 1], weight)
            lower, upper = _intervals_in_units(pruning, grown, rows, coverage, by)
            for v, y, p in cells:
                covered[v] += chance * p * (lower[v - 1] <= y <= upper[v - 1])
        if by == "leaf":
            assert all(covered[v] / chance_of_leaf[v] >= coverage - 1e-9 for v in (1, 2))
        assert sum(covered.values()) >= coverage - 1e-9


def _intervals_in_units(pruning, grown, rows, coverage, by):
    """Intervals with each leaf as a unit by itself, although few rows are expected in it."""
    from secateur.certifiers import _prediction_intervals

    if by == "all":
        intervals = prediction_intervals(pruning, grown, rows, coverage=coverage, by="all")
        return intervals.lower, intervals.upper
    unpooled = pytest.MonkeyPatch()
    with unpooled.context() as patch:
        patch.setattr(_prediction_intervals, "pool_leaves", lambda *_: np.arange(pruning.n_leaves))
        intervals = prediction_intervals(pruning, grown, rows, coverage=coverage)
    return intervals.lower, intervals.upper


@pytest.mark.parametrize("options", [{}, {"symmetric": False}, {"by": "all"}, {"confidence": 0.8}])
def test_new_rows_are_covered_as_often_as_stated(options):
    """A tree with small leaves, drawn anew in each run; the coverage is summed over its units."""
    rng, n_runs, coverage, n_covered, n_new = np.random.default_rng(7), 40, 0.8, 0, 60
    reached = 0
    for seed in range(n_runs):
        pruning, grown, X, y, _ = parts(seed, 150, 120, max_depth=4, min_samples_leaf=3)
        rows = calibrate(pruning, count(pruning.tree, X, y))
        intervals = prediction_intervals(pruning, grown, rows, coverage=coverage, **options)
        X_new, y_new = population(rng, n_new if "confidence" not in options else 2000)
        ends = intervals.of_leaves(apply(pruning.tree, X_new))
        is_covered = (ends[:, 0] <= y_new) & (y_new <= ends[:, 1])
        n_covered += int(is_covered.sum())
        reached += is_covered.mean() >= coverage
    if "confidence" in options:
        assert reached >= binom.isf(1 - 1e-6, n_runs, options["confidence"])
    else:
        # New rows of one run share the calibrating rows, so that the number of runs decides.
        assert n_covered / (n_runs * n_new) >= coverage - 0.03


def naive_units(tree, share, enough):
    """Units by the rule as it is written: sets of leaves, joined from the leaves upwards."""
    left, units = {}, []
    for v in range(tree.n_nodes - 1, -1, -1):
        own = {v} if tree.is_leaf[v] else set().union(*(left.pop(c) for c in tree.children(v)))
        if own and enough(sum(share[u] for u in own)):
            units.append(own)
            own = set()
        left[v] = own
    rest = left[0]
    if rest and units:
        smallest = min(units, key=lambda unit: sum(share[u] for u in unit))
        smallest |= rest
    elif rest:
        units.append(rest)
    return {frozenset(unit) for unit in units}


@pytest.mark.parametrize("seed", range(30))
def test_leaves_with_too_few_expected_rows_are_pooled_from_below(seed):
    rng = np.random.default_rng(seed)
    parent = [-1]
    while len(parent) < 41:
        leaves = [v for v in range(len(parent)) if v not in parent]
        parent += [int(rng.choice(leaves))] * int(rng.integers(2, 4))
    tree = Tree.from_parents(parent)
    at_leaves = np.where(tree.is_leaf, rng.lognormal(0, 2, tree.n_nodes), 0)
    weight = np.array([at_leaves[v : tree.end[v]].sum() for v in range(tree.n_nodes)])
    n, needed, n_grown = 400, 9, 800

    def enough(share):
        expected = n * share
        return expected - 3 * math.sqrt(expected * max(1 - share, 0) * (1 + n / n_grown)) >= needed - 1e-6

    unit = pool_leaves(Pruning.from_cuts(tree, []), weight, n, needed, n_grown)
    leaves = np.flatnonzero(tree.is_leaf)
    found = {frozenset(leaves[unit == u].tolist()) for u in range(unit.max() + 1)}
    assert found == naive_units(tree, weight / weight[0], enough)


def test_pooling_does_not_depend_on_the_held_out_rows():
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    rng = np.random.default_rng(0)
    units = []
    for chances in ([0.4, 0.1, 0.4, 0.1], [0.1, 0.4, 0.1, 0.4], [0, 0, 0, 1]):
        leaf = rng.choice(np.flatnonzero(tree.is_leaf), 200, p=chances)
        pruning, grown, rows = by_hand(tree, leaf, rng.normal(size=200), [0] * 4, [400, 100, 400, 100])
        units.append(prediction_intervals(pruning, grown, rows).unit.tolist())
    assert units == [[0, 1, 2, 1]] * 3


def test_too_few_rows_give_unbounded_intervals_and_say_so():
    tree = Tree.from_parents([-1, 0, 0])
    pruning, grown, rows = by_hand(tree, np.array([1, 1, 2, 2, 2, 1, 2, 1]), np.arange(8.0), [0, 5], [50, 50])
    intervals = prediction_intervals(pruning, grown, rows, coverage=0.9)
    assert np.isinf([intervals.lower, intervals.upper]).all()
    assert "the only unit has fewer than the 9 held-out rows needed: unbounded there" in str(intervals)
    assert intervals.to_dict()["leaves"][0] == {"leaf": 1, "unit": 0, "rows": 8, "lower": None, "upper": None}
    bounded = prediction_intervals(pruning, grown, rows, coverage=0.8)
    assert np.isfinite([bounded.lower, bounded.upper]).all()

    # A leaf that rows of growing promised, but in which none were drawn.
    leaf = np.ones(200, int)
    pruning, grown, rows = by_hand(tree, leaf, np.arange(200.0), [0, 5], [500, 500])
    intervals = prediction_intervals(pruning, grown, rows, coverage=0.9)
    assert np.isinf(intervals.upper).tolist() == [False, True]
    assert "1 of 2 units have fewer than the 9 held-out rows needed" in str(intervals)
    assert intervals.unit_of(2) == [2]


def test_one_leaf_and_constant_targets():
    tree, grown = grow([[0.0], [1.0]], [3.0, 3.0], criterion="squared_error")
    pruning = Pruning.from_cuts(tree, [], seen={"grow"})
    held_out = count(tree, [[float(i)] for i in range(30)], [3.0] * 15 + [4.0] * 15)
    intervals = prediction_intervals(pruning, grown, calibrate(pruning, held_out, repeats="independent"), coverage=0.5)
    assert intervals.of_leaves(apply(tree, [[7.0]])).tolist() == [[2, 4]]
    assert "it holds in" not in intervals.guarantee


def test_a_chain_of_100_000_nodes_has_intervals():
    n = 50_000
    tree = Tree.from_parents([-1, *(2 * (i // 2) for i in range(2 * n))])
    leaves = np.flatnonzero(tree.is_leaf)
    rng = np.random.default_rng(0)
    leaf = rng.choice(leaves, 2000)
    intervals = prediction_intervals(*by_hand(tree, leaf, rng.normal(size=2000), np.zeros(n + 1), np.ones(n + 1)))
    assert 20 < intervals.n_units < 200
    assert np.isfinite(intervals.upper).all()


def test_rows_that_took_part_do_not_calibrate():
    pruning, grown, X, y, rng = parts(0, 400, 400)
    X_grown, y_grown = population(np.random.default_rng(0), 400)
    with pytest.raises(LeakageError, match="rows that grew the tree"):
        calibrate(pruning, count(pruning.tree, X_grown, y_grown))
    held_out = count(pruning.tree, X, y)
    with pytest.raises(LeakageError, match="already helped to choose it"):
        calibrate(replace(pruning, seen={"grow", "prune"}), held_out)
    rows = calibrate(pruning, held_out)
    cut = Pruning.from_cuts(pruning.tree, [0], seen={"grow"})
    with pytest.raises(LeakageError, match="the rows calibrate another pruning"):
        prediction_intervals(cut, grown, rows)
    with pytest.raises(LeakageError, match="was evaluated on other prunings"):
        calibrate(cut, held_out)
    with pytest.raises(UnsupportedError, match="has weights"):
        calibrate(pruning, count(pruning.tree, *population(rng, 50), sample_weight=rng.integers(1, 4, 50)))
    with pytest.raises(UnsupportedError, match="has groups"):
        calibrate(pruning, count(pruning.tree, *population(rng, 60), groups=np.arange(60) // 3))


def test_rows_that_may_be_copies_widen_the_intervals():
    pruning, grown, X, y, _ = parts(0, 400, 300, max_depth=1)
    copied = np.r_[0:285, 0:15]
    rows = calibrate(pruning, count(pruning.tree, X[copied], y[copied]))
    taken = replace(rows, n_repeated=0)
    assert rows.n_repeated == 15
    wide, narrow = (prediction_intervals(pruning, grown, one, coverage=0.8) for one in (rows, taken))
    assert (wide.upper > narrow.upper).all()
    assert "up to 15 of 300 rows may be copies of other rows and count as not covered" in wide.guarantee
    tripled = np.repeat(np.arange(100), 3)
    with pytest.raises(LeakageError, match="so they certify nothing"):
        calibrate(pruning, count(pruning.tree, X[tripled], y[tripled], sample="tripled"))


def test_an_estimator_predicts_intervals_from_its_certifying_rows():
    rng = np.random.default_rng(3)
    model = TreeRegressor(certify=True, max_residual=200, cv=3).fit(*population(rng, 900))
    X, y = population(rng, 3000)
    for options in ({}, {"confidence": 0.95}, {"symmetric": False}, {"by": "all"}):
        lower, upper = model.predict_interval(X, 0.8, **options).T
        assert ((lower <= y) & (y <= upper)).mean() > 0.76
        assert (lower < model.predict(X)).all() or "symmetric" in options
    assert "from" not in model.prediction_intervals().stated

    # What is evaluated later cannot change the tree that the rows calibrate.
    report_html(model.model_)
    model.prune_to(n_leaves=2).score(X, y)
    model.score(X, y)
    model.holdout_.squared_errors_if_leaf(model.counts_.mean)
    assert (model.predict_interval(X, 0.8, by="all") == np.c_[lower, upper]).all()

    smaller = model.prune_to(n_leaves=2)
    with pytest.raises(LeakageError, match=r"calibrated_on\(X, y\)"):
        smaller.predict_interval(X)
    with pytest.raises(LeakageError, match="was evaluated on other prunings"):
        smaller.calibrated_on(X, y)  # two prunings were scored on these rows
    fresh = smaller.calibrated_on(*population(rng, 400), sample="fresh")
    assert fresh.predict_interval(X).shape == (3000, 2)
    assert fresh.get_n_leaves() == 2


def test_intervals_need_rows_that_had_no_part():
    rng = np.random.default_rng(1)
    X, y = population(rng, 300)
    with pytest.raises(UnsupportedError, match=r"need held-out rows .* call calibrated_on\(X, y\)"):
        TreeRegressor(cv=3).fit(X, y).predict_interval(X)
    with pytest.raises(LeakageError, match=r"had one .*helped to choose it.* calibrated_on\(X, y\)"):
        TreeRegressor(prune="reduced-error").fit(X, y).predict_interval(X)
    unused = TreeRegressor(cv=3).fit(X[:200], y[:200], X_holdout=X[200:], y_holdout=y[200:])
    assert unused.predict_interval(X[:1], 0.8).shape == (1, 2)
    classifier = TreeClassifier(certify=True, cv=3).fit(X, y > 10)
    with pytest.raises(UnsupportedError, match="predict_set"):
        intervals_of(classifier.model_)
    with pytest.raises(LeakageError, match="grew the tree"):
        TreeRegressor(cv=3).fit(X, y).calibrated_on(X, y)
    weighted = TreeRegressor(cv=3).fit(X[:100], y[:100])
    with pytest.raises(UnsupportedError, match="has weights"):
        weighted.calibrated_on(X[100:], y[100:], np.arange(200) % 3)
    assert weighted.calibrated_on(X[100:], y[100:], np.arange(200) % 2).prediction_intervals(0.5).n_rows.sum() == 100


def test_a_tree_of_scikit_learn_has_intervals_whose_rows_could_not_be_compared():
    rng = np.random.default_rng(1)
    X, y = (np.nan_to_num(part) for part in population(rng, 900))
    foreign = DecisionTreeRegressor(max_leaf_nodes=4).fit(X[:300], y[:300])
    model = TreeRegressor.from_sklearn(foreign).calibrated_on(X[300:600], y[300:600])
    lower, upper = model.predict_interval(X[600:], 0.8).T
    assert ((lower <= y[600:]) & (y[600:] <= upper)).mean() > 0.7
    assert np.allclose((lower + upper) / 2, foreign.predict(X[600:]))
    assert "not checked" in model.prediction_intervals(0.8).guarantee


@pytest.mark.parametrize(
    ("options", "name"),
    [({"coverage": 0}, "coverage"), ({"coverage": 1}, "coverage"), ({"coverage": math.nan}, "coverage"),
     ({"confidence": 1.0}, "confidence"), ({"by": "node"}, "by"), ({"symmetric": "no"}, "symmetric")],
)  # fmt: skip
def test_invalid_options_are_refused(options, name):
    pruning, grown, X, y, _ = parts()
    rows = calibrate(pruning, count(pruning.tree, X, y))
    with pytest.raises(ParameterError, match=f"{name}="):
        prediction_intervals(pruning, grown, rows, **options)


def test_a_file_keeps_the_calibration():
    rng = np.random.default_rng(3)
    X, y = population(rng, 500)
    certified = TreeRegressor(certify=True, max_residual=200, cv=3).fit(X, y)
    other = certified.calibrated_on(*population(rng, 200), sample="other")
    for model in (certified, other):
        data = dumps_model(model.model_)
        loaded = loads_model(data)
        assert dumps_model(loaded) == data
        assert loaded.calibration.stated == ""
        again = TreeRegressor.from_model(loaded)
        assert (again.predict_interval(X) == model.predict_interval(X)).all()
        assert again.prediction_intervals().guarantee == model.prediction_intervals().guarantee
    without_rows = loads_model(dumps_model(other.model_, sketch=False))
    assert without_rows.calibration is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sample": "grown"}, "calibration.sample"),
        ({"n_repeated": 10**6}, "n_repeated"),
        ({"delta": 1.5}, "delta"),
        ({"extra": 1}, "extra"),
        ({"n_repeated": -1}, "n_repeated"),
    ],
)
def test_an_invalid_calibration_in_a_file_is_refused(change, message):
    model = TreeRegressor(certify=True, max_residual=200, cv=3).fit(*population(np.random.default_rng(3), 200))
    document = json.loads(dumps_model(model.model_))
    document["calibration"] |= change
    with pytest.raises(ModelFileError, match=message):
        loads_model(json.dumps(document).encode())


def test_a_file_that_calls_used_rows_fresh_is_marked():
    model = TreeRegressor(prune="reduced-error").fit(*population(np.random.default_rng(3), 300))
    document = json.loads(dumps_model(model.model_))
    document["calibration"] = {
        "sample": "holdout", "n_repeated": 0, "delta": 0.0, "freshness": "fresh, I promise", "is_checked": True,
        "repeats": "natural", "repeats_text": "",
    }  # fmt: skip
    loaded = loads_model(json.dumps(document).encode())
    assert loaded.calibration.stated == "the model file"
    assert (
        "Stated in the model file and not checked" in TreeRegressor.from_model(loaded).prediction_intervals().guarantee
    )


def test_a_part_of_the_rows_in_a_file_still_calibrates(monkeypatch):
    from secateur.modelfile import _checks, _write

    for module in (_write, _checks):
        monkeypatch.setattr(module, "MAX_TARGET_ROWS", 60)
    rng = np.random.default_rng(3)
    X, y = population(rng, 900)
    model = TreeRegressor(certify=True, max_residual=200, cv=3).fit(X, y)
    again = TreeRegressor.from_model(loads_model(dumps_model(model.model_)))
    assert again.prediction_intervals(0.8).n_rows.sum() == 60
    assert np.isfinite(again.predict_interval(X, 0.8, by="all")).all()
