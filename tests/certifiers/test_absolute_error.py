"""The certificates of the mean absolute and squared error: naive values, coverage, freshness, ranges and files."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from secateur import Moments, Pruning, Tree, TreeClassifier, TreeRegressor, certify, count, grow
from secateur.certifiers import METHODS_FOR_NUMBERS, _mean_loss, absolute_error, betting_upper, squared_error
from secateur.core import GroupedRows, TargetRows
from secateur.errors import (
    CountsError,
    LeakageError,
    ModelFileError,
    ParameterError,
    SecateurError,
    UnsupportedError,
)
from secateur.modelfile import dumps_model, load_counts, loads_model, save_counts
from secateur.routing import apply

every_method = pytest.mark.parametrize("method", METHODS_FOR_NUMBERS)


def population(rng, n):
    """Rows whose target is 4 or 10 plus noise, always from 0 to 16."""
    X = rng.uniform(size=(n, 2))
    return X, np.where(X[:, 0] < 0.5, 4, 10) + rng.uniform(-4, 4, n) * X[:, 1]


def grown_tree(seed=0, n=300, **growing):
    rng = np.random.default_rng(seed)
    tree, grown = grow(*population(rng, n), criterion="squared_error", **{"max_depth": 3, **growing})
    return tree, grown, rng


def whole(tree):
    return Pruning.from_cuts(tree, [], seen={"grow"})


@pytest.mark.parametrize(("method", "power"), [("absolute-error", 1), ("squared-error", 2)])
@pytest.mark.parametrize("stated", [{"target_range": (0, 16)}, {"max_residual": 12.5}])
def test_the_limit_is_the_betting_bound_of_the_losses_of_the_rows(method, power, stated):
    tree, grown, rng = grown_tree()
    X, y = population(rng, 200)
    pruning = Pruning.from_cuts(tree, [int(np.flatnonzero(~tree.is_leaf)[1])], seen={"grow"})
    bound = certify(pruning, count(tree, X, y), method=method, grown=grown, delta=0.1, **stated)

    # Each row is followed down the pruned tree by hand.
    predicted = []
    for row in X:
        v = 0
        while not pruning.is_leaf[v]:
            children = list(tree.children(v))
            v = children[0] if row[tree.feature[v]] <= tree.threshold[v] else children[1]
        predicted.append(grown.mean[v])
    losses = np.abs(y - predicted) ** power
    largest = stated.get("max_residual") or max(max(p, 16 - p) for p in grown.mean[pruning.is_leaf])
    values, n_rows = np.unique(losses / largest**power, return_counts=True)
    expected = largest**power * betting_upper(values, n_rows, math.log(0.1))
    assert bound.value == pytest.approx(expected, rel=1e-9)
    assert bound.rate == pytest.approx(losses.mean())
    assert bound.scale == pytest.approx(largest**power)
    assert (bound.n, bound.errors) == (200, pytest.approx(losses.sum()))


@every_method
def test_the_limit_fails_no_more_often_than_delta(method):
    """Losses of two values, the rarer one near the largest that is possible: the worst case for a mean."""
    tree = Tree.from_parents([-1, 0, 0])
    values, n, n_runs, delta = np.array([0.0, 2.0, 10.0]), 40, 150, 0.2
    rng, failures = np.random.default_rng(1), 0
    truth = 0.05 * (9.0 if method == "absolute-error" else 81.0)
    for _ in range(n_runs):
        leaf = rng.integers(1, 3, n)
        target = values[leaf] + np.where(rng.random(n) < 0.05, 9.0, 0.0)
        sample = moments_of(tree, leaf, target)
        function = absolute_error if method == "absolute-error" else squared_error
        failures += function(whole(tree), sample, values=values, max_residual=9, delta=delta).value < truth
    assert failures <= binom.isf(1e-6, n_runs, delta)


def moments_of(tree, leaf, target, sample="fresh", group=None):
    """Moments that are entered by hand, with the rows."""
    counted = [target[leaf == v] for v in np.flatnonzero(tree.is_leaf)]
    moments = Moments.from_leaves(
        tree,
        [len(rows) for rows in counted],
        [rows.mean() if len(rows) else 0 for rows in counted],
        [((rows - rows.mean()) ** 2).sum() if len(rows) else 0 for rows in counted],
        sample=sample,
    )
    rows = TargetRows.sorted_by_leaf(leaf, target) if group is None else GroupedRows(leaf, target, group)
    return replace(moments, rows=rows, n_rows=len(leaf))


def test_a_row_outside_the_stated_range_refutes_it():
    tree, grown, rng = grown_tree()
    X, y = population(rng, 100)
    y[3] = 16.5
    held_out = count(tree, X, y)
    with pytest.raises(CountsError, match=r"1 of the 100 rows of sample 'prune' contradict target_range=\(0, 16\)"):
        certify(whole(tree), held_out, grown=grown, target_range=(0, 16))
    with pytest.raises(CountsError, match=r"contradict max_residual=2: one has the error"):
        certify(whole(tree), held_out, grown=grown, max_residual=2)
    with pytest.raises(ParameterError, match=r"predicts .*, outside target_range=\(5, 16\)"):
        certify(whole(tree), held_out, grown=grown, target_range=(5, 16))


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({}, "neither was given"),
        ({"target_range": (0, 1), "max_residual": 1}, "both were given"),
        ({"target_range": (1, 0)}, "(low, high)"),
        ({"target_range": (0, math.inf)}, "(low, high)"),
        ({"target_range": (0, math.nan)}, "(low, high)"),
        ({"target_range": "01"}, "(low, high)"),
        ({"target_range": (0, 1, 2)}, "(low, high)"),
        ({"max_residual": 0}, "a finite number above 0"),
        ({"max_residual": math.inf}, "a finite number above 0"),
        ({"max_residual": -1.0}, "a finite number above 0"),
    ],
)
def test_exactly_one_valid_range_is_needed(stated, message):
    tree, grown, rng = grown_tree()
    held_out = count(tree, *population(rng, 50))
    with pytest.raises(ParameterError, match=re.escape(message)):
        certify(whole(tree), held_out, grown=grown, **stated)
    with pytest.raises(ParameterError, match=re.escape(message)):
        TreeRegressor(certify=True, **stated).fit(*population(rng, 50))


@every_method
def test_only_fresh_rows_certify(method):
    X, y = population(np.random.default_rng(5), 500)
    tree, grown = grow(X[:300], y[:300], criterion="squared_error", max_depth=3)
    options = {"method": method, "grown": grown, "target_range": (0, 16)}

    with pytest.raises(LeakageError, match="rows that grew the tree cannot certify it"):
        certify(whole(tree), count(tree, X[200:400], y[200:400]), **options)

    chose = Pruning.from_cuts(tree, [], seen={"grow", "prune"})
    with pytest.raises(LeakageError, match="already helped to choose it"):
        certify(chose, count(tree, X[300:], y[300:]), **options)

    held_out = count(tree, X[300:], y[300:])
    assert certify(whole(tree), held_out, **options).is_checked
    with pytest.raises(LeakageError, match="was evaluated on other prunings"):
        certify(Pruning.from_cuts(tree, [0], seen={"grow"}), held_out, **options)


@pytest.mark.parametrize("evaluation", ["costs", "rates", "select", "score"])
def test_evaluations_of_squared_errors_are_recorded(evaluation):
    from secateur import prune, select

    X, y = population(np.random.default_rng(5), 500)
    model = TreeRegressor(cv=3, max_depth=4).fit(X[:300], y[:300])
    tree, grown = model.tree_, model.counts_
    held_out, sequence = count(tree, X[300:], y[300:]), prune(tree, grown)
    {
        "costs": lambda: held_out.squared_errors_if_leaf(grown.mean),
        "rates": lambda: sequence.rates_on(held_out, grown),
        "select": lambda: select(sequence, held_out, values=grown.mean),
        "score": lambda: [model.prune_to(n_leaves=k).score(X[300:], y[300:]) for k in (2, 3)],
    }[evaluation]()
    with pytest.raises(LeakageError, match="was evaluated on other prunings"):
        certify(model.pruning_, held_out, grown=grown, target_range=(0, 16))


def test_rows_that_may_be_copies_have_the_largest_error():
    rng = np.random.default_rng(2)
    X, y = population(rng, 600)
    tree, grown = grow(X[:300], y[:300], criterion="squared_error", max_depth=2)
    copied = np.r_[300:580, 300:320]
    held_out = count(tree, X[copied], y[copied])
    bound = absolute_error(whole(tree), held_out, values=grown.mean, target_range=(0, 16))
    taken = absolute_error(whole(tree), held_out, values=grown.mean, target_range=(0, 16), repeats="independent")
    assert bound.n_repeated == 20
    assert "up to 20 of 300 rows may be copies of other rows and count with the largest possible error" in str(bound)
    residuals = np.sort(np.abs(held_out.rows.residuals(whole(tree), grown.mean)))
    losses = np.append(residuals[20:], [bound.scale] * 20) / bound.scale
    expected = betting_upper(*np.unique(losses, return_counts=True), math.log(0.05)) * bound.scale
    assert bound.value == pytest.approx(expected)
    assert taken.value < bound.value


def test_weights_are_refused():
    tree, grown, rng = grown_tree()
    X, y = population(rng, 100)
    weighted = count(tree, X, y, sample_weight=rng.integers(1, 3, 100))
    with pytest.raises(UnsupportedError, match=r"has weights .*pass them as separate rows"):
        certify(whole(tree), weighted, grown=grown, target_range=(0, 16))
    with pytest.raises(ParameterError, match="repeated=True is for classes"):
        certify(whole(tree), weighted, grown=grown, target_range=(0, 16), repeated=True)
    weightless = count(tree, X, y, sample_weight=np.repeat([1, 0], 50))
    assert certify(whole(tree), weightless, grown=grown, target_range=(0, 16)).n == 50


def test_rows_in_groups_are_certified_by_the_mean_losses_of_the_groups():
    tree, grown, rng = grown_tree()
    X, y = population(rng, 120)
    groups = rng.integers(0, 40, 120)
    held_out = count(tree, X, y, groups=groups)
    bound = certify(whole(tree), held_out, grown=grown, max_residual=16)

    residuals = np.abs(y - grown.mean[apply(tree, X)])
    means = [residuals[groups == g].mean() / 16 for g in np.unique(groups)]
    expected = 16 * betting_upper(*np.unique(means, return_counts=True), math.log(0.05))
    assert bound.value == pytest.approx(expected)
    assert (bound.unit, bound.n, bound.n_rows) == ("group", len(means), 120)
    with pytest.raises(ParameterError, match="group_error='any' is for classes"):
        certify(whole(tree), held_out, grown=grown, max_residual=16, group_error="any")


def test_many_distinct_losses_are_rounded_up_a_little(monkeypatch):
    monkeypatch.setattr(_mean_loss, "MAX_DISTINCT_LOSSES", 500)
    tree = Tree.from_parents([-1, 0, 0])
    rng = np.random.default_rng(0)
    n = 2000
    leaf, residuals = rng.integers(1, 3, n), rng.beta(1, 5, n)
    sample = moments_of(tree, leaf, residuals)
    bound = absolute_error(whole(tree), sample, values=np.zeros(3), max_residual=1)
    exact = betting_upper(*np.unique(residuals, return_counts=True), math.log(0.05))
    assert exact < bound.value <= exact * 1.002


@pytest.mark.parametrize(("largest", "limit"), [(100, 5.7), (1000, 8.3)])
def test_a_wide_range_costs_little_if_most_errors_are_small(largest, limit):
    tree = Tree.from_parents([-1, 0, 0])
    residuals = np.minimum(np.random.default_rng(0).exponential(5, 1000), 60)
    sample = moments_of(tree, np.ones(1000, int), residuals)
    bound = absolute_error(whole(tree), sample, values=np.zeros(3), max_residual=largest)
    assert round(bound.value, 1) == limit


def test_methods_of_classes_and_of_numbers_are_told_apart():
    tree, grown, rng = grown_tree()
    held_out = count(tree, *population(rng, 100))
    with pytest.raises(UnsupportedError, match="certified by absolute-error or squared-error"):
        certify(whole(tree), held_out, method="test-sample", grown=grown)
    with pytest.raises(ParameterError, match="needs grown="):
        certify(whole(tree), held_out, target_range=(0, 16))
    X, y = population(rng, 200)
    model = TreeClassifier(certify=True, cv=3).fit(X, y > 7)
    with pytest.raises(UnsupportedError, match="certifies a regression tree"):
        certify(model.pruning_, model.holdout_, method="squared-error")
    with pytest.raises(ParameterError, match="max_residual= is for a numeric target"):
        model.certified_on(X, y > 7, max_residual=3)


def test_a_chain_of_100_000_nodes_is_certified():
    n = 50_000
    tree = Tree.from_parents([-1, *(2 * (i // 2) for i in range(2 * n))])
    leaves = np.flatnonzero(tree.is_leaf)
    leaf = np.repeat(leaves[[0, n // 2, n]], 30)
    sample = moments_of(tree, leaf, np.ones(90))
    for cuts in ([], [2], [n]):
        tree.evaluation_log.records.clear()
        bound = absolute_error(Pruning.from_cuts(tree, cuts), sample, values=np.zeros(tree.n_nodes), max_residual=2)
        assert bound.rate == 1


def test_an_estimator_is_certified_on_held_out_or_other_rows():
    rng = np.random.default_rng(3)
    X, y = population(rng, 600)
    model = TreeRegressor(certify=True, target_range=(0, 16), cv=3).fit(X, y)
    truth = np.abs(model.predict((fresh := population(rng, 20_000))[0]) - fresh[1]).mean()
    assert truth < model.certificate_.value < 1.4 * truth
    assert model.certificate_.quantity == "mean absolute error"
    assert "assumes every target is from 0 to 16 (stated beforehand) and rows" in str(model.certificate_)
    assert "mean absolute error" in str(model.summary())

    other = model.certified_on(*population(rng, 300), method="squared-error", delta=0.1)
    assert (other.certificate_.quantity, other.certificate_.delta) == ("mean squared error", 0.1)
    assert other.certificate_.details["target_range"] == [0, 16]
    assert model.certified_on(*population(rng, 300), max_residual=15).certificate_.details["target_range"] is None
    with pytest.raises(LeakageError):
        model.certified_on(X, y)


def test_a_file_keeps_the_certificate_of_numbers_and_checks_it():
    model = TreeRegressor(certify=True, target_range=(0, 16), cv=3).fit(*population(np.random.default_rng(3), 400))
    data = dumps_model(model.model_)
    loaded = loads_model(data)
    assert loaded.certificate == model.certificate_
    assert loaded.certificate.stated == ""
    assert dumps_model(loaded) == data

    # A lower limit does not follow from the rows in the file.
    document = json.loads(data)
    document["certificate"]["value"] *= 0.99
    assert loads_model(json.dumps(document).encode()).certificate.stated == "the model file"
    document["certificate"] |= {"errors": 1500, "value": 11.8}
    with pytest.raises(ModelFileError, match=r"certificate\.errors is 1,500; the moments .* allow at most"):
        loads_model(json.dumps(document).encode())
    without_rows = loads_model(dumps_model(model.model_, sketch=False))
    assert without_rows.holdout.rows is None
    assert without_rows.certificate.stated == "the model file"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows["leaf"].pop(), "one of each per row is needed"),
        (lambda rows: rows["leaf"].__setitem__(0, 0), "a leaf of the tree is needed"),
        (lambda rows: rows["leaf"].__setitem__(0, 10**6), "a leaf of the tree, below"),
        (lambda rows: rows["target"].__setitem__(0, None), "a finite number is needed"),
        (lambda rows: rows["target"].__setitem__(0, 99.0), "differ from the means"),
        (lambda rows: rows["leaf"].__setitem__(0, rows["leaf"][-1]), "differ from the weights"),
    ],
)
def test_rows_in_a_file_that_contradict_the_sample_are_refused(change, message):
    model = TreeRegressor(certify=True, target_range=(0, 16), cv=3).fit(*population(np.random.default_rng(3), 200))
    document = json.loads(dumps_model(model.model_))
    change(document["holdout"]["rows"])
    with pytest.raises(ModelFileError, match=message):
        loads_model(json.dumps(document).encode())


def test_a_file_of_counts_contains_no_rows_and_certifies_no_numbers(tmp_path):
    tree, grown, rng = grown_tree()
    held_out = count(tree, *population(rng, 100))
    save_counts(held_out, tmp_path / "counts.json")
    assert "target" not in (tmp_path / "counts.json").read_text()
    with pytest.raises(UnsupportedError, match="files of counts, and counts by engines, do not contain them"):
        certify(whole(tree), load_counts(tmp_path / "counts.json", tree), grown=grown, target_range=(0, 16))


def test_a_file_knows_that_numbers_had_groups(tmp_path):
    tree, grown, rng = grown_tree()
    held_out = count(tree, *population(rng, 100), groups=rng.integers(0, 30, 100))
    save_counts(held_out, tmp_path / "counts.json")
    loaded = load_counts(tmp_path / "counts.json", tree)
    assert loaded.grouped is not None
    with pytest.raises(UnsupportedError, match="belong to groups, which are not stored in files"):
        certify(whole(tree), loaded, grown=grown, target_range=(0, 16))


def test_a_large_sample_is_stored_in_part_and_its_certificate_is_then_only_stated(monkeypatch):
    from secateur.modelfile import _checks, _write

    for module in (_write, _checks):
        monkeypatch.setattr(module, "MAX_TARGET_ROWS", 50)
    model = TreeRegressor(certify=True, target_range=(0, 16), cv=3).fit(*population(np.random.default_rng(3), 400))
    loaded = loads_model(dumps_model(model.model_))
    assert loaded.holdout.rows.n_rows == 50
    assert loaded.certificate.stated == "the model file"
    stored = np.c_[loaded.holdout.rows.leaf, loaded.holdout.rows.target].tolist()
    assert all(row in np.c_[model.holdout_.rows.leaf, model.holdout_.rows.target].tolist() for row in stored)
    with pytest.raises(UnsupportedError, match="targets of single rows"):
        certify(loaded.pruning, loaded.holdout, grown=loaded.grown, target_range=(0, 16))


def test_rows_stay_with_a_smaller_tree():
    tree, grown, rng = grown_tree()
    X, y = population(rng, 100)
    pruning = Pruning.from_cuts(tree, [int(np.flatnonzero(~tree.is_leaf)[1])], seen={"grow"})
    small, small_grown, small_held_out = pruning.to_tree(grown, count(tree, X, y))
    expected = certify(pruning, count(tree, X, y), grown=grown, target_range=(0, 16))
    found = certify(whole(small), small_held_out, grown=small_grown, target_range=(0, 16))
    assert found.value == expected.value
    assert sorted(small_held_out.rows.target) == sorted(y)


def test_select_by_certificate_is_refused_for_numbers():
    for select in ("certificate", "certified"):
        with pytest.raises(SecateurError, match=r"classification|target_error"):
            TreeRegressor(select=select).fit(*population(np.random.default_rng(0), 60))
