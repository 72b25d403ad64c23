"""Many trees on subsets of presorted data: each is exactly the tree that `grow` returns for its rows."""

import pickle
import warnings
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur import Table, Tree, encode, grow
from secateur.errors import UnsupportedError
from secateur.growers.parameters import GrowParameters
from secateur.growers.presorted_data import PresortedData
from secateur.model_selection.folds import ValidationRows
from small_tables import CRITERIA, column_parallel_top, samples


def table_of_rows(table, rows):
    return Table(table.schema, tuple(column[rows] for column in table.columns), table.target[rows])


def assert_same(sample, is_kept, **growing):
    table = encode(sample.X, target=sample.y, nominal=list(sample.nominal))
    rows = np.flatnonzero(is_kept)
    weight = None if sample.weight is None else sample.weight[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `grow` warns about a single class.
        wanted = grow(table_of_rows(table, rows), sample_weight=weight, **growing)
    for is_shown in (True, False):
        grown = (
            PresortedData.of(table, sample.weight).subset(rows).grow(GrowParameters(**growing), has_rounded=is_shown)
        )
        assert grown[0] == wanted[0]
        assert grown[1] == wanted[1]
    for field in fields(Tree):  # Trusted arrays have the types of checked ones, and are write-protected.
        a, b = getattr(grown[0], field.name), getattr(wanted[0], field.name)
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)
        assert not (isinstance(a, np.ndarray) and a.flags.writeable)


@st.composite
def samples_with_subset(draw, **kinds):
    sample = draw(samples(max_rows=14, **kinds))
    n = len(sample.y)
    is_kept = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    is_kept[draw(st.integers(0, n - 1))] = True
    return sample, is_kept


@given(samples_with_subset(), st.sampled_from(CRITERIA), st.sampled_from(["binary", "multiway"]), st.integers(1, 3))
def test_a_subset_grows_the_tree_of_its_rows(drawn, criterion, splits, least):
    assert_same(*drawn, criterion=criterion, splits=splits, min_samples_leaf=least)


@given(samples_with_subset(weights="whole"), st.sampled_from([None, 2]))
def test_a_subset_with_whole_weights_grows_the_tree_of_its_rows(drawn, max_bins):
    assert_same(*drawn, max_bins=max_bins)


@given(samples_with_subset(weights="real"), st.sampled_from([0.0, 0.2]))
def test_a_subset_with_real_weights_grows_the_tree_of_its_rows(drawn, fraction):
    assert_same(*drawn, min_weight_fraction_leaf=fraction)


@given(samples_with_subset(), st.integers(0, 4))
def test_a_subset_grows_the_same_best_first_tree(drawn, max_splits):
    assert_same(*drawn, growth="best-first", max_splits=max_splits)


def test_a_large_subset_grows_the_same_tree_column_by_column():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, (400, 6)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=400) * 8 > 15).astype(int)
    table = encode(X, target=y)
    rows = np.flatnonzero(rng.random(400) < 0.7)
    with column_parallel_top():
        assert PresortedData.of(table).subset(rows).grow(GrowParameters()) == grow(table_of_rows(table, rows))


@pytest.mark.lane
def test_rows_of_weight_zero_belong_to_no_subset():
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 1, 1, 0, 1, 0, 1])
    weight = np.array([1.0, 0, 1, 1, 0, 1, 1, 1])
    grown = PresortedData.of(encode(X, target=y), weight).subset(np.arange(6)).grow(GrowParameters())
    wanted = grow(X[[0, 2, 3, 5]], y[[0, 2, 3, 5]])
    assert grown[1].by_class.tolist() == wanted[1].by_class.tolist()
    assert grown[0].threshold.tolist() == pytest.approx(wanted[0].threshold.tolist(), nan_ok=True)


@pytest.mark.lane
@given(samples_with_subset(weights="whole"))
def test_held_out_rows_are_counted_as_by_count(drawn):
    sample, is_kept = drawn
    table = encode(sample.X, target=sample.y, nominal=list(sample.nominal))
    data = PresortedData.of(table, sample.weight)
    tree, grown = data.subset(np.arange(len(sample.y))).grow(GrowParameters())
    assert (ValidationRows.of(data, np.arange(len(sample.y))).count(tree) == grown.by_class).all()
    kept, left_out = (ValidationRows.of(data, np.flatnonzero(rows)).count(tree) for rows in (is_kept, ~is_kept))
    assert (kept + left_out == grown.by_class).all()


@pytest.mark.lane
def test_pickled_presorted_data_grows_the_same_tree():
    rng = np.random.default_rng(0)
    data = PresortedData.of(encode(rng.normal(size=(50, 3)), target=rng.integers(0, 3, 50)))
    again = pickle.loads(pickle.dumps(data))
    rows = np.arange(0, 50, 2)
    assert again.subset(rows).grow(GrowParameters()) == data.subset(rows).grow(GrowParameters())


def test_too_many_branches_are_refused_as_in_grow():
    X = np.array([[f"v{i}"] for i in range(1001)], object)
    with pytest.warns(UserWarning, match="1,001 categories"):
        table = encode(X, target=np.arange(1001) % 2)
    with pytest.raises(UnsupportedError, match="1,001 categories"):
        PresortedData.of(table).subset(np.arange(1001)).grow(GrowParameters(splits="multiway"))


@pytest.mark.lane
@given(samples_with_subset(weights="whole"))
def test_growths_on_one_subset_do_not_influence_each_other(drawn):
    sample, is_kept = drawn
    data = PresortedData.of(encode(sample.X, target=sample.y, nominal=list(sample.nominal)), sample.weight)
    rows = np.flatnonzero(is_kept)
    subset = data.subset(rows)
    parameter_sets = [
        GrowParameters(criterion=name, splits=splits)
        for name in ("gini", "entropy")
        for splits in ("binary", "multiway")
    ]
    for parameters in (*parameter_sets, *parameter_sets):
        found, alone = subset.grow(parameters, has_rounded=False), data.subset(rows).grow(parameters)
        assert found[0] == alone[0]
        assert found[1] == alone[1]
        assert (found[0].right == alone[0].right).all()
