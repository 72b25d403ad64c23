"""Moments: weight, mean and squared error of every node, exact to the last digits that a float has."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur import Counts, Moments, Pruning, PruningSequence, Tree, count, encode, grow
from secateur.data.target import encode_numeric_target
from secateur.errors import CountsError, DataError, ParameterError, SchemaError, UnsupportedError
from strategies import trees

pytestmark = pytest.mark.lane


@st.composite
def trees_with_rows(draw, weights=False):
    """(tree, leaf of each row, target, weight); some leaves may be empty."""
    tree = draw(trees())
    n = draw(st.integers(1, 12))
    leaves = draw(st.lists(st.sampled_from(tree.leaves.tolist()), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n))
    weight = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)) if weights else [1] * n
    return tree, np.array(leaves), y, weight


def naive_moments(tree, leaves, y, weight):
    """(weight, mean, spread) of each node from its rows, as fractions; an empty node has its parent's mean."""
    moments = []
    for v in range(tree.n_nodes):
        rows = [r for r, leaf in enumerate(leaves) if v <= leaf < tree.end[v]]
        total = Fraction(sum(weight[r] for r in rows))
        mean = sum(Fraction(weight[r] * y[r]) for r in rows) / total if total else moments[tree.parent[v]][1]
        moments.append((total, mean, sum(weight[r] * (y[r] - mean) ** 2 for r in rows)))
    return np.array([[float(x) for x in node] for node in moments]).T


def from_rows(tree, leaves, y, weight, sample="grow"):
    """The moments of rows, through the leaves."""
    total, mean, sse = (values[tree.is_leaf] for values in naive_moments(tree, leaves, y, weight))
    return Moments.from_leaves(tree, total, mean, sse, sample=sample)


@given(trees_with_rows(weights=True))
def test_moments_of_leaves_add_up_to_those_of_all_nodes(case):
    moments = from_rows(*case)

    for name, expected in zip(("weight", "mean", "sse"), naive_moments(*case), strict=True):
        assert np.allclose(getattr(moments, name), expected, rtol=1e-12, atol=1e-12)


@given(trees_with_rows(), st.lists(st.integers(-9, 9), min_size=20, max_size=20))
def test_the_cost_of_a_prediction_is_its_squared_error(case, answers):
    tree, leaves, y, _ = case
    answers = np.resize(answers, tree.n_nodes)
    costs = from_rows(*case).squared_errors_if_leaf(answers)

    for v in range(tree.n_nodes):
        rows = [r for r, leaf in enumerate(leaves) if v <= leaf < tree.end[v]]
        assert costs[v] == pytest.approx(sum((y[r] - int(answers[v])) ** 2 for r in rows), abs=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e9, -3e12])
def test_counting_equals_the_direct_computation(offset):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 50, 400) * 1.0
    tree, _ = grow(X, y + offset, max_depth=4, criterion="squared_error")
    new, new_y, weight = rng.normal(size=(300, 3)), rng.integers(0, 50, 300) * 1.0, rng.random(300)
    weight[:20] = 0
    leaves = [_leaf(tree, row) for row in new]

    for w in (None, weight):
        counted = count(tree, new, new_y + offset, sample_weight=w)
        for v in range(tree.n_nodes):
            is_here = np.array([v <= leaf < tree.end[v] for leaf in leaves])
            own = np.ones(300) if w is None else w
            total = own[is_here].sum()
            assert counted.weight[v] == pytest.approx(total, rel=1e-12)
            if total > 0:
                mean = np.average(new_y[is_here], weights=own[is_here])
                assert counted.mean[v] == pytest.approx(mean + offset, rel=1e-13, abs=1e-12)
                sse = (own[is_here] * (new_y[is_here] - mean) ** 2).sum()
                assert counted.sse[v] == pytest.approx(sse, rel=1e-10, abs=1e-10)


def _leaf(tree, row):
    v = 0
    while not tree.is_leaf[v]:
        left, right = tree.children(v)
        v = left if row[tree.feature[v]] <= tree.threshold[v] else right
    return v


def test_counting_does_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(1)
    X, y, weight = rng.normal(size=(500, 2)), rng.normal(size=500), rng.random(500)
    tree, _ = grow(X, y, max_depth=5, criterion="squared_error")
    order = rng.permutation(500)

    for w, permuted in ((None, None), (weight, weight[order])):
        assert count(tree, X[order], y[order], sample_weight=permuted) == count(tree, X, y, sample_weight=w)


@pytest.mark.lane
def test_an_empty_node_has_the_mean_of_its_parent():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    moments = Moments.from_leaves(tree, [0, 0, 4], [7.0, 8.0, 5.0], sample="prune")

    assert moments.mean.tolist() == [5.0, 5.0, 5.0, 5.0, 5.0]
    assert moments.sse.tolist() == [0.0] * 5


def test_to_tree_restricts_moments_to_the_smaller_tree():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    moments = Moments.from_leaves(tree, [1, 1, 2], [1.0, 3.0, 5.0])
    small, cut = Pruning.from_cuts(tree, [1]).to_tree(moments)

    assert cut == Moments(small, [4, 2, 2], [3.5, 2.0, 5.0], [11.0, 2.0, 0.0])


def test_moments_survive_copying_and_pickling():
    moments = Moments.from_leaves(Tree.from_parents([-1, 0, 0]), [2, 1], [1.0, 4.0], sample="x")

    for again in (copy.copy(moments), copy.deepcopy(moments), pickle.loads(pickle.dumps(moments))):
        assert again == moments
        assert hash(again) == hash(moments)
    assert not moments.mean.flags.writeable
    assert moments != Moments.from_leaves(moments.tree, [2, 1], [1.0, 5.0], sample="x")
    assert moments != 3


@pytest.mark.parametrize(
    ("weight", "mean", "sse", "says"),
    [
        ([3, 2], [1, 1, 1], [0, 0, 0], r"weight.*shape \(2,\)"),
        ([3, 2, 1], [1, 1, np.nan], [0, 0, 0], "mean.*nan at node 2"),
        ([3, 2, 1], [1, 1, 1], [0, -1, 0], r"sse.*-1\.0 at node 1"),
        ([4, 2, 1], [1, 1, 1], [0, 0, 0], r"weight.*4\.0 at node 0.*hold 3\.0"),
        (["a", "b", "c"], [1, 1, 1], [0, 0, 0], "not numbers"),
        ([2**53, 2**52, 2**52], [1, 1, 1], [0, 0, 0], r"2\*\*53 or more"),
    ],
)
def test_invalid_moments_are_refused(weight, mean, sse, says):
    with pytest.raises(CountsError, match=says):
        Moments(Tree.from_parents([-1, 0, 0]), weight, mean, sse)


def test_moments_of_leaves_need_one_number_per_leaf():
    with pytest.raises(CountsError, match=r"mean has shape \(3,\).*\(2,\)"):
        Moments.from_leaves(Tree.from_parents([-1, 0, 0]), [1, 1], [1, 2, 3])


@pytest.mark.parametrize(("answers", "says"), [([1.0], r"shape \(1,\)"), ([1.0, np.inf, 2.0], "node 1 is inf")])
def test_predictions_need_one_finite_number_per_node(answers, says):
    moments = Moments.from_leaves(Tree.from_parents([-1, 0, 0]), [1, 1], [1, 2])
    with pytest.raises(CountsError, match=says):
        moments.squared_errors_if_leaf(answers)


def test_moments_of_another_tree_are_refused():
    moments = Moments.from_leaves(Tree.from_parents([-1, 0, 0]), [1, 1], [1, 2])
    with pytest.raises(CountsError, match="another tree"):
        moments.check_fits(Tree.from_parents([-1]))


def test_moments_have_no_attributes_of_classes():
    moments = Moments.from_leaves(Tree.from_parents([-1, 0, 0]), [1, 1], [1, 2])

    for name in ("by_class", "majority", "n_classes", "errors_if_leaf"):
        with pytest.raises(UnsupportedError, match="is a number"):
            getattr(moments, name)
        assert not hasattr(moments, name)
    with pytest.raises(AttributeError, match="colour"):
        moments.colour  # noqa: B018


def test_integer_weights_are_recognised():
    tree = Tree.from_parents([-1, 0, 0])

    assert Moments.from_leaves(tree, [1, 1], [1, 2]).has_integer_weights
    assert not Moments.from_leaves(tree, [0.5, 1], [1, 2]).has_integer_weights


def test_a_gain_from_rounding_only_counts_as_no_gain():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    moments = Moments.from_leaves(tree, [1, 1, 2], [1.0, 1.0 + 1e-9, 5.0])

    assert moments.sse[1] > 0
    assert moments.resubstitution_costs[1] == 0
    assert moments.resubstitution_costs[0] == moments.sse[0]


def test_a_numeric_target_is_read_as_numbers_in_later_data_too():
    table = encode([[1.0], [2.0]], target=[3, 4.5], target_kind="number")

    assert table.target.tolist() == [3.0, 4.5]
    assert (table.schema.classes, table.schema.has_numeric_target) == (None, True)
    assert repr(table).endswith("a numeric target)")
    assert encode([[5.0]], target=[7], schema=table).target.tolist() == [7.0]
    assert pickle.loads(pickle.dumps(table)) == table
    assert table.schema != encode([[1.0], [2.0]]).schema
    with pytest.raises(SchemaError, match=r"'class'.*'number'"):
        encode([[5.0]], target=[7], schema=table, target_kind="class")
    with pytest.raises(ParameterError, match="target_kind='real'"):
        encode([[5.0]], target=[7], target_kind="real")


def test_a_column_of_the_data_can_be_the_numeric_target():
    rows = [[1.0, 9.5], [2.0, 8.5]]

    assert encode(rows, names=["x", "y"], target="y", target_kind="number").target.tolist() == [9.5, 8.5]


@pytest.mark.parametrize("values", [[1, 2], [1.0, 2.0], np.array([1, 2], np.uint8), np.array([1, 2], object), (1, 2)])
def test_numbers_of_any_type_are_targets(values):
    target = encode_numeric_target(values)

    assert target.tolist() == [1.0, 2.0]
    assert target.dtype == np.float64


def test_columns_of_frames_are_targets():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")

    assert encode_numeric_target(pandas.Series([1, 2], dtype="Int64")).tolist() == [1.0, 2.0]
    assert encode_numeric_target(polars.Series([1.5, 2.0])).tolist() == [1.5, 2.0]
    assert encode_numeric_target(pandas.Series([True, False])).tolist() == [1.0, 0.0]
    with pytest.raises(DataError, match=r"rows 1"):
        encode_numeric_target(pandas.Series([1, None], dtype="Int64"))


def test_a_table_of_classes_cannot_be_counted_as_numbers():
    tree, _ = grow([[1.0], [2.0]], [1.0, 2.0], criterion="squared_error")

    with pytest.raises(DataError, match="text"):
        count(tree, [[1.0]], ["a"])
    with pytest.raises(DataError, match="y is None"):
        count(tree, [[1.0]])
    assert isinstance(count(*_classes()), Counts)


def _classes():
    X, y = [[1.0], [2.0]], ["a", "b"]
    return grow(X, y)[0], X, y


def test_only_gains_from_rounding_are_removed():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    moments = Moments.from_leaves(tree, [1, 1, 2], [1.0, 1.0 + 1e-6, 5.0], [1.0, 2.0, 3.0])
    assert moments.sse[1] > 3 == moments.resubstitution_costs[1]
    own = Moments.from_leaves(tree, [1, 1, 2], [1.0, 2.0, 5.0], [1.0, 2.0, 3.0]).resubstitution_costs
    assert own[1] == 3.5


def test_the_rates_of_a_sequence_are_mean_squared_errors():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Moments.from_leaves(tree, [2, 2], [1.0, 3.0])
    held = Moments.from_leaves(tree, [1, 3], [1.0, 2.0], sample="prune")
    sequence = PruningSequence(tree, [2, 1], [0, 4], steps=[1, 0, 0])
    assert sequence.rates_on(held, grown).tolist() == [3 / 4, 1 / 4]
