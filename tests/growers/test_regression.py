"""Regression trees: every test lowers the squared error most, whatever the order, the scale and the offset."""

import warnings
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secateur
from oracles import naive_tests
from secateur import count, encode, grow
from secateur.errors import DataError, ParameterError, UnsupportedError
from secateur.growers import grower
from small_tables import Sample, rows_of_nodes, samples

SQUARED = {"criterion": "squared_error"}


@st.composite
def numbered(draw, **options):
    """A small table whose targets are whole numbers, so that the naive grower is exact."""
    sample = draw(samples(classes=(2,), **options))
    y = draw(st.lists(st.integers(-4, 4), min_size=len(sample.y), max_size=len(sample.y)))
    return replace(sample, y=np.array(y, float))


def naive_data(sample):
    table = encode(sample.X, nominal=list(sample.nominal))
    n_codes = [about.n_codes if about.kind == "nominal" else None for about in table.schema.columns]
    weight = [1] * len(sample.y) if sample.weight is None else sample.weight.tolist()
    return [column.tolist() for column in table.columns], n_codes, [Fraction(y) for y in sample.y.tolist()], weight


def naive_spread(rows, y, weight):
    """Squared error around the mean, as an exact fraction."""
    if not rows:
        return Fraction(0)
    total = sum(Fraction(weight[r]) for r in rows)
    mean = sum(Fraction(weight[r]) * y[r] for r in rows) / total
    return sum(Fraction(weight[r]) * (y[r] - mean) ** 2 for r in rows)


def naive_best(data, rows, multiway=False, least=1, one_vs_rest=False):
    """(gain, column, children) of the best test, ties as promised; None without one."""
    columns, n_codes, y, weight = data
    best = None
    for j, column in enumerate(columns):
        for children in naive_tests(column, n_codes[j], rows, multiway, one_vs_rest):
            there = [child for child in children if child]
            if len(there) < 2 or min(sum(weight[r] for r in child) for child in there) < least:
                continue
            gain = naive_spread(rows, y, weight) - sum(naive_spread(child, y, weight) for child in there)
            if best is None or gain > best[0]:
                best = gain, j, children
    return best


def assert_best_everywhere(sample, tree, moments, *, multiway=False, one_vs_rest=False, least=1, max_depth=np.inf):
    data = naive_data(sample)
    columns, n_codes, y, weight = data
    rows = rows_of_nodes(tree, columns)
    for v in range(tree.n_nodes):
        total = sum(weight[r] for r in rows[v])
        sse = naive_spread(rows[v], y, weight)
        assert moments.weight[v] == pytest.approx(total, abs=1e-12)
        assert moments.sse[v] == pytest.approx(float(sse), abs=1e-12)
        if rows[v]:
            mean = sum(Fraction(weight[r]) * y[r] for r in rows[v]) / Fraction(total)
            assert moments.mean[v] == pytest.approx(float(mean), abs=1e-12)
        best = (
            None if sse == 0 or tree.depth[v] >= max_depth else naive_best(data, rows[v], multiway, least, one_vs_rest)
        )
        assert tree.is_leaf[v] == (best is None)
        if best is None:
            continue
        gain, j, children = best
        assert tree.score[v] * total == pytest.approx(float(gain), abs=1e-10)
        assert tree.feature[v] == j
        assert [sorted(rows[c]) for c in tree.children(v)] == [sorted(child) for child in children]
        if n_codes[j] is None:
            values = sorted({x for x in (columns[j][r] for r in rows[v]) if x == x})
            below, above = (
                [x for x in values if x <= tree.threshold[v]],
                [x for x in values if x > tree.threshold[v]],
            )
            assert tree.threshold[v] == ((below[-1] + above[0]) / 2 if above else np.inf)


@pytest.mark.parametrize("weights", [None, "whole"])
@given(sample=st.data())
def test_every_test_is_the_best_one_and_ties_go_as_promised(weights, sample):
    sample = sample.draw(numbered(weights=weights))
    tree, moments = sample.grow(**SQUARED)

    assert_best_everywhere(sample, tree, moments)


@given(sample=numbered(weights="whole"), least=st.integers(2, 4), depth=st.integers(0, 3))
def test_limits_are_kept_and_what_they_leave_is_the_best(sample, least, depth):
    tree, moments = sample.grow(**SQUARED, min_samples_leaf=least, max_depth=depth)

    assert_best_everywhere(sample, tree, moments, least=least, max_depth=depth)
    assert tree.depth.max() <= depth
    assert tree.n_nodes == 1 or moments.weight.min() >= least


@given(sample=numbered(kinds=("numeric", "nominal", "pair")))
def test_multiway_tests_have_one_child_per_category(sample):
    tree, moments = sample.grow(**SQUARED, splits="multiway")

    assert_best_everywhere(sample, tree, moments, multiway=True)


@given(sample=numbered(kinds=("numeric", "nominal", "pair")))
def test_no_split_of_one_category_from_the_rest_is_better(sample):
    tree, moments = sample.grow(**SQUARED, splits="one-vs-rest")

    assert_best_everywhere(sample, tree, moments, one_vs_rest=True)


@given(st.data())
def test_a_set_of_categories_is_the_best_of_all_sets(data):
    codes = data.draw(st.lists(st.integers(0, 6), min_size=2, max_size=20))
    y = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=len(codes), max_size=len(codes))), float)
    tree, moments = grow(np.array(codes)[:, None], y, nominal=[0], max_depth=1, **SQUARED)

    present = sorted(set(codes))
    spreads = []
    for n in range(1, len(present)):
        for chosen in combinations(present, n):
            sides = [y[np.isin(codes, chosen) == side] for side in (True, False)]
            spreads.append(sum(((side - side.mean()) ** 2).sum() for side in sides))
    if tree.n_nodes == 1:
        assert len(present) == 1 or np.ptp(y) == 0
    else:
        assert moments.sse[tree.is_leaf].sum() == pytest.approx(min(spreads), abs=1e-9)


def test_seventy_categories_are_split_by_their_means():
    rng = np.random.default_rng(0)
    codes, effect = rng.integers(0, 70, 3000), rng.permutation(70) * 1.0
    tree, _ = grow(codes[:, None], effect[codes], nominal=[0], max_depth=1, **SQUARED)

    left, right = (effect[tree.branch[: len(effect)] == side] for side in (0, 1))
    assert left.max() < right.min() or right.max() < left.min()
    assert tree.branch[0] == 0


@given(sample=numbered(weights="whole"))
def test_a_whole_weight_is_the_same_as_repeating_the_row(sample):
    repeated = replace(sample.rows(np.repeat(np.arange(len(sample.y)), sample.weight)), weight=None)
    (tree, moments), (other, other_moments) = sample.grow(**SQUARED), repeated.grow(**SQUARED)

    assert np.array_equal(tree.parent, other.parent)
    assert np.array_equal(tree.feature, other.feature)
    assert np.array_equal(tree.threshold, other.threshold, equal_nan=True)
    assert np.array_equal(tree.default, other.default)
    assert np.allclose(moments.sse, other_moments.sse, atol=1e-12)


@given(sample=numbered())
def test_rows_of_weight_zero_have_no_influence(sample):
    extra = sample.X[:2] * 7 + 1
    doubled = Sample(
        np.vstack([sample.X, extra]), np.append(sample.y, [99.0, -99.0]), (), np.append(np.ones(len(sample.y)), [0, 0])
    )

    assert doubled.grow(**SQUARED) == replace(sample, nominal=()).grow(**SQUARED)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_order_of_the_rows_does_not_matter_to_the_last_bit(weighted):
    rng = np.random.default_rng(3)
    X = np.column_stack(
        [rng.normal(size=(900, 2)).round(1), rng.integers(0, 9, (900, 2)), rng.integers(0, 2, (900, 2))]
    )
    X[rng.random(X.shape) < 0.03] = np.nan
    weight = rng.random(900) + 0.01 if weighted else None
    sample = Sample(X, rng.normal(size=900) / 3, (2,), weight)

    for _ in range(3):
        assert sample.rows(rng.permutation(900)).grow(**SQUARED) == sample.grow(**SQUARED)


@given(sample=numbered(weights="whole"), seed=st.integers(0, 9))
def test_the_order_of_the_rows_does_not_matter_to_a_small_table(sample, seed):
    permuted = sample.rows(np.random.default_rng(seed).permutation(len(sample.y)))

    assert permuted.grow(**SQUARED) == sample.grow(**SQUARED)


@given(sample=numbered(), exponent=st.integers(-60, 60))
def test_scaling_and_mirroring_the_target_changes_no_test(sample, exponent):
    tree, moments = sample.grow(**SQUARED)
    for factor in (2.0**exponent, -1.0):
        other, other_moments = replace(sample, y=sample.y * factor).grow(**SQUARED)

        assert np.array_equal(tree.parent, other.parent)
        assert np.array_equal(tree.threshold, other.threshold, equal_nan=True)
        assert np.array_equal(tree.branch, other.branch)
        assert np.allclose(other_moments.mean, moments.mean * factor, rtol=1e-12, atol=1e-12 * abs(factor))


@pytest.mark.parametrize("offset", [1e9, -1e12, 2.0**52])
def test_a_large_offset_loses_no_split(offset):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 5, 300) * 1.0
    (tree, moments), (other, other_moments) = grow(X, y, **SQUARED), grow(X, y + offset, **SQUARED)

    assert np.array_equal(tree.parent, other.parent)
    assert np.array_equal(tree.threshold, other.threshold, equal_nan=True)
    assert np.allclose(other_moments.sse, moments.sse, rtol=1e-12, atol=1e-12)


def test_an_outlier_does_not_hide_the_rest():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 4, 200) / 7
    tree, moments = grow(np.vstack([X, [[99.0, 99.0]]]), np.append(y, -1e13), **SQUARED)

    assert moments.sse[tree.is_leaf].max() < 1e-20


def test_close_values_far_from_the_other_values_are_split():
    X = np.array([[1.0, 0], [2, 0], [3, 1], [4, 1], [11, 5], [12, 5], [13, 5], [14, 5]])
    y = np.array([1, 1, 1 + 1e-9, 1 + 1e-9, -1, -1, -1, -1.0])
    tree, _ = grow(X, y, **SQUARED)

    assert tree.feature.tolist() == [0, 0, -1, -1, -1]  # a tie: the lower column
    assert tree.threshold[[0, 1]].tolist() == [7.5, 2.5]


@pytest.mark.parametrize("n_rows", [60, 700])
def test_scikit_learn_reaches_the_same_training_error_at_every_depth(n_rows):
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32)
    y = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=n_rows)
    weight = rng.random(n_rows) + 0.1
    for depth in (1, 2, 4, 8, None):
        for w in (None, weight):
            tree, moments = grow(X, y, max_depth=depth, sample_weight=w, **SQUARED)
            sklearn_tree = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y, w)
            error = np.average((sklearn_tree.predict(X) - y) ** 2, weights=w)
            assert moments.sse[tree.is_leaf].sum() / moments.weight[0] == pytest.approx(error, rel=1e-9, abs=1e-12)
            assert tree.n_nodes == sklearn_tree.tree_.node_count


@given(sample=numbered())
def test_best_first_without_limits_grows_the_same_tree(sample):
    tree, moments = sample.grow(**SQUARED)
    other, other_moments = sample.grow(**SQUARED, growth="best-first", allow_zero=True)

    assert np.array_equal(tree.parent, other.parent)
    assert np.array_equal(tree.threshold, other.threshold, equal_nan=True)
    assert np.array_equal(moments.sse, other_moments.sse)


@given(sample=numbered(weights="whole"))
def test_best_first_splits_the_leaf_with_the_largest_drop(sample):
    tree, moments = sample.grow(**SQUARED, growth="best-first")
    drop = tree.score * moments.weight
    born = {0: -1}
    for step, v in enumerate(sorted(tree.internal.tolist(), key=lambda v: tree.split_order[v])):
        assert tree.split_order[v] == step
        assert drop[v] > 0
        waiting = [u for u in born if not tree.is_leaf[u]]
        assert drop[v] >= max(drop[u] for u in waiting) - 1e-9
        tied = [u for u in waiting if drop[u] >= drop[v] - 1e-13]
        assert born[v] == min(born[u] for u in tied)
        del born[v]
        born |= {c: step for c in tree.children(v)}


@given(sample=numbered(), n=st.integers(0, 6))
def test_fewer_best_first_splits_are_a_part_of_more(sample, n):
    few, _ = sample.grow(**SQUARED, growth="best-first", max_splits=n)
    more, _ = sample.grow(**SQUARED, growth="best-first")
    kept = [v for v in range(more.n_nodes) if v == 0 or 0 <= more.split_order[more.parent[v]] < n]

    assert few.n_nodes == len(kept)
    assert np.array_equal(few.split_order[~few.is_leaf], more.split_order[kept][~few.is_leaf])


@pytest.mark.lane
def test_a_node_without_a_useful_test_is_split_depth_first_only():
    X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 1.0, 1.0, 0.0]

    assert grow(X, y, **SQUARED)[0].n_leaves == 4
    assert grow(X, y, allow_zero=False, **SQUARED)[0].n_leaves == 1
    assert grow(X, y, growth="best-first", **SQUARED)[0].n_leaves == 1


@pytest.mark.lane
def test_missing_numbers_go_to_the_better_side_or_stand_alone():
    X = [[1.0], [2.0], [np.nan], [np.nan]]

    for target, threshold, default in (([0, 9, 0, 0], 1.5, 0), ([0, 9, 9, 9], 1.5, 1), ([0, 0, 5, 5], np.inf, 1)):
        tree, _ = grow(X, target, **SQUARED)
        assert (tree.threshold[0], tree.default[0], tree.n_leaves) == (threshold, default, 2)


def test_thresholds_lie_between_bins():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(400, 1)), rng.normal(size=400)
    tree, _ = grow(X, y, max_bins=4, **SQUARED)

    cuts = {float(t) for t in tree.threshold[tree.internal]}
    values = np.sort(X[:, 0])
    assert cuts == {float((values[k - 1] + values[k]) / 2) for k in (100, 200, 300)}


@given(sample=numbered(missing=False), bins=st.integers(4, 8))
def test_as_many_bins_as_values_are_exact(sample, bins):
    assert sample.grow(**SQUARED, max_bins=bins) == sample.grow(**SQUARED)


@pytest.mark.parametrize("nominal", [(), (4,)])
def test_the_number_of_threads_does_not_matter(nominal):
    rng = np.random.default_rng(7)
    X = np.column_stack([rng.normal(size=(2000, 4)), rng.integers(0, 12, 2000), rng.integers(0, 2, 2000)])
    sample = Sample(X, X[:, 0] + rng.normal(size=2000), nominal)

    for rules in ({}, {"max_depth": 5}, {"growth": "best-first", "max_splits": 40}):
        assert sample.grow(**SQUARED, n_jobs=3, **rules) == sample.grow(**SQUARED, **rules)


def test_every_child_has_the_minimum_share_of_the_weight():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
    for weight in (None, rng.integers(1, 5, 300), rng.random(300) * 1e-9):
        tree, moments = grow(X, y, sample_weight=weight, min_weight_fraction_leaf=0.1, **SQUARED)

        assert tree.n_leaves > 2
        assert moments.weight[tree.is_leaf].min() >= 0.1 * moments.weight[0] * (1 - 1e-8)


@given(sample=numbered(weights="real"))
def test_counting_the_growing_rows_gives_the_growing_moments(sample):
    tree, grown = sample.grow(**SQUARED)
    table = encode(sample.X, target=sample.y, target_kind="number", nominal=list(sample.nominal))

    assert count(tree, table, sample_weight=sample.weight, sample="grow") == grown


def test_a_constant_target_gives_one_leaf():
    tree, moments = grow([[1.0], [2.0], [3.0]], [0.1, 0.1, 0.1], **SQUARED)

    assert tree.n_nodes == 1
    assert (moments.mean[0], moments.sse[0]) == (0.1, 0)


def test_one_row_and_constant_columns_give_one_leaf():
    assert grow([[1.0]], [5.0], **SQUARED)[0].n_nodes == 1
    assert grow([[1.0], [1.0]], [5.0, 6.0], **SQUARED)[0].n_nodes == 1
    assert grow([[np.nan], [np.nan]], [5.0, 6.0], **SQUARED)[0].n_nodes == 1


def test_a_chain_of_ten_thousand_levels_is_grown():
    x = np.repeat(np.arange(10_001.0), 2)  # every value has a 0 and a 1: no test gains, so the lowest threshold is cut
    tree, moments = grow(x[:, None], np.tile([0.0, 1.0], 10_001), **SQUARED)

    assert tree.depth.max() == 10_000
    assert (moments.sse[tree.is_leaf] == 0.5).all()


@pytest.mark.parametrize(
    ("y", "says"),
    [
        ([1.0, np.nan, 2.0, np.nan], r"NaN.*2 rows \(rows 1, 3\)"),
        ([1.0, 2.0, np.inf, 2.0], r"infinity \(rows 2\)"),
        ([1.0, 2.0, 3.0, -1e200], r"-1e\+200 \(rows 3\)"),
        (["a", "b", "a", "b"], r"text \('a', 'b'\).*numbers"),
        ([1.0, 2.0, 3.0], "4 rows but y has 3"),
        ([[1.0, 2.0]] * 4, r"shape \(4, 2\)"),
        ([0.0, 1e-200, 0.0, 0.0], "1e-200"),
        ([0.0, 1e-61, 0.0, 0.0], "1e-61"),
        ([0.0, 1e61, 0.0, 0.0], r"1e\+61 \(rows 1\)"),
        ([1 + 2j] * 4, "Complex"),
        ([], "4 rows|0 numbers"),
        (None, "y is None"),
    ],
)
def test_targets_that_are_no_numbers_are_refused_with_their_rows(y, says):
    with pytest.raises(DataError, match=says):
        grow([[1.0], [2.0], [3.0], [4.0]], y, **SQUARED)


@pytest.mark.lane
def test_truth_values_and_whole_numbers_are_numbers():
    X = [[1.0], [2.0], [3.0], [4.0]]
    assert grow(X, [False, False, True, True], **SQUARED)[1].mean.tolist() == [0.5, 0.0, 1.0]
    assert grow(X, np.array([3, 3, 5, 5], np.int8), **SQUARED)[1].mean.tolist() == [4.0, 3.0, 5.0]


def test_classes_that_are_numbers_can_be_taken_as_numbers():
    table = encode([[1.0], [2.0], [3.0]], target=[10, 10, 40])

    assert grow(table, **SQUARED)[1].mean.tolist() == [20.0, 10.0, 40.0]
    with pytest.raises(DataError, match="text"):
        grow(encode([[1.0], [2.0]], target=["a", "b"]), **SQUARED)


def test_a_numeric_target_is_no_class():
    table = encode([[1.0], [2.0], [3.0]], target=[1.0, 2.5, 3.0], target_kind="number")

    with pytest.raises(DataError, match="is a number"):
        grow(table, criterion="gini")
    assert grow(table, [0, 0, 1], criterion="gini")[1].n_classes == 2


def test_class_weights_and_too_many_branches_are_refused():
    with pytest.raises(ParameterError, match="class_weight"):
        grow([[1.0], [2.0]], [1.0, 2.0], class_weight="balanced", **SQUARED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(UnsupportedError, match="categories"):
            grow(np.arange(1500)[:, None], np.arange(1500.0), nominal=[0], splits="multiway", **SQUARED)


def test_the_text_shows_values_and_their_mean_squared_error():
    tree, moments = grow([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 0.001, 0.001], max_depth=1, **SQUARED)

    assert secateur.export_text(tree, moments, feature_names=["size"]).splitlines() == [
        "|--- size <= 2",
        "|   |--- value: 1.50 (2 rows, mean squared error 0.25)",
        "|--- size > 2",
        "|   |--- value: 0.00100 (2 rows, mean squared error 0)",
    ]
    cut = secateur.Pruning.from_cuts(tree, [0])
    assert secateur.export_text(tree, moments, pruning=cut).startswith("|--- value: 0.750 (4 rows")
    assert secateur.export_rules(tree, moments).splitlines()[0] == (
        "IF x0 <= 2 THEN 1.50 (2 rows, mean squared error 0.25)"
    )
    assert "weight: 2 value: 1.50" in secateur.export_text(tree, moments, show_weights=True)


def test_subtrees_grown_side_by_side_are_attached_to_their_nodes(monkeypatch):
    monkeypatch.setattr(grower, "SUBTREE_DIVISOR", 2)
    rng = np.random.default_rng(11)
    X = np.column_stack([rng.normal(size=(120, 2)).round(1), rng.integers(0, 5, 120)])
    sample = Sample(X, rng.integers(0, 9, 120) * 1.0, (2,))

    for splits in ("binary", "multiway"):
        assert sample.grow(**SQUARED, n_jobs=2, splits=splits) == sample.grow(**SQUARED, splits=splits)
