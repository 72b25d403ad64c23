"""Monotone trees: whatever is cut, answers rise with the column, all else being equal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings
from secateur import Pruning, TreeClassifier, TreeRegressor, grow
from secateur.core.model import Model
from secateur.errors import ParameterError, UnsupportedError
from secateur.routing.prediction import predict_proba

GRID = np.array([[a, b] for b in range(4) for a in range(5)], float)  # the first column rises, run by run


@st.composite
def rows(draw):
    X = np.array(draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=4, max_size=30)), float)
    return X, np.array(draw(st.lists(st.integers(0, 1), min_size=len(X), max_size=len(X))))


def rises(values, sign):
    return (sign * np.diff(np.asarray(values, float).reshape(4, 5), axis=1) >= -1e-12).all()


@pytest.mark.lane
@given(rows(), st.sampled_from([-1, 1]), st.data())
def test_every_pruning_of_a_monotone_tree_is_monotone(sample, sign, data):
    X, y = sample
    if len(set(y)) < 2:
        return
    tree, grown = grow(X, y, monotonic_cst=[sign, 0], max_depth=4)
    leaves = data.draw(st.sampled_from(list(all_prunings(tree))))
    cuts = [v for v in leaves if not tree.is_leaf[v]]
    model = Model(Pruning.from_cuts(tree, cuts, node_labels=grown.majority), grown)
    for kind in ("frequency", "shrunk"):
        assert rises(predict_proba(model, GRID, kind=kind)[:, 1], sign)


@given(rows(), st.sampled_from([-1, 1]))
def test_estimators_are_monotone_too(sample, sign):
    X, y = sample
    if len(set(y)) < 2:
        return
    model = TreeClassifier(criterion="gini", cv=2, cv_repeats=1, monotonic_cst=[sign, 0]).fit(X, y)
    assert rises(model.predict(GRID), sign)
    assert rises(model.predict_proba(GRID)[:, 1], sign)
    numbers = TreeRegressor(min_samples_leaf=1, cv=2, cv_repeats=1, select="0se", monotonic_cst=[sign, 0])
    assert rises(numbers.fit(X, y + X[:, 1]).predict(GRID), sign)


def test_a_test_is_cut_only_where_it_breaks_the_order():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    tree, counts = grow(X, y, monotonic_cst={"x0": 1})
    # 0 | 1, 0, 1 is in order; 1 | 0, 1 is not, nor is 0 | 1 below it once that is a leaf.
    assert [counts.by_class[v].tolist() for v in tree.leaves] == [[1, 0], [1, 2]]
    free, _ = grow(X, y, monotonic_cst=[0])
    assert free == grow(X, y)[0]


@pytest.mark.parametrize(
    ("signs", "error", "says"),
    [
        ([1], ParameterError, "each of the 2 columns"),
        ([2, 0], ParameterError, "monotonic_cst"),
        ({"z": 1}, ParameterError, "names column 'z'"),
        ([0, 1], UnsupportedError, "have no order"),
    ],
)
def test_orders_that_cannot_be_are_refused(signs, error, says):
    X = np.array([[0.0, "a"], [1.0, "b"]] * 5, object)
    with pytest.raises(error, match=says):
        grow(X, [0, 1] * 5, monotonic_cst=signs)
    with pytest.raises(UnsupportedError, match="3 classes"):
        grow([[0.0], [1.0], [2.0]], [0, 1, 2], monotonic_cst=[1])
