"""The nearest change is the nearest of all leaves, and leads to the wanted prediction."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secateur
from secateur import TreeClassifier, TreeRegressor
from secateur.errors import ParameterError
from secateur.inspection.counterfactual import nearest_change, threshold_ranges
from secateur.inspection.view import view_of
from secateur.routing import apply

NAMES = ["size", "age", "colour"]
cell = st.one_of(st.none(), st.integers(0, 4).map(float))
row = st.tuples(cell, cell, st.sampled_from(["red", "blue", "green", None]))
asked_row = st.tuples(cell, cell, st.sampled_from(["red", "blue", "green", "violet", None]))  # growing knows no violet


@pytest.mark.filterwarnings("ignore:every row has the class", "ignore:.*were not in the growing")
@given(
    st.lists(st.tuples(row, st.sampled_from("ab")), min_size=4, max_size=25),
    asked_row,
    st.sets(st.sampled_from(NAMES)),
)
def test_no_change_is_nearer_and_the_change_works(sample, asked, actionable):
    table = secateur.encode(
        [list(r) for r, _ in sample], names=NAMES, target=[y for _, y in sample], nominal=["colour"]
    )
    tree, counts = secateur.grow(table, min_samples_leaf=1)
    view = view_of(tree, counts)
    later = secateur.encode([list(asked)], names=NAMES, schema=table.schema)
    own = predicted(tree, counts, table.schema, asked)

    found = nearest_change(view, later, actionable=sorted(actionable), scales={0: 2.0, 1: 2.0})
    brute = by_force(tree, counts, table.schema, asked, actionable, own)

    assert (found is None) == (brute is None)
    if found is None:
        return
    changed = list(asked)
    for change in found.changes:
        changed[NAMES.index(change.column)] = change.new
    assert predicted(tree, counts, table.schema, changed) == found.prediction != own
    assert len(found.changes) == brute[0]
    assert {change.column for change in found.changes} <= actionable
    cost = sum(distance(a, b) for a, b in zip(asked, changed, strict=True))
    assert cost <= brute[1] + 1e-9


def predicted(tree, counts, schema, row):
    leaf = apply(tree, secateur.encode([list(row)], names=NAMES, schema=schema))[0]
    return str(schema.classes[counts.majority[leaf]])


def distance(a, b):
    if a == b:
        return 0.0
    return abs(a - b) / 2 if isinstance(a, float) and isinstance(b, float) else 1.0


def by_force(tree, counts, schema, asked, actionable, own):
    """The fewest changes, and the least distance, over a grid that has a value in every cell of the tree."""
    grid = [k / 4 for k in range(-2, 19)]
    choices = [
        [asked[j], *(grid if name != "colour" else ["red", "blue", "green"])] if name in actionable else [asked[j]]
        for j, name in enumerate(NAMES)
    ]
    seen = schema.columns[2].categories
    choices[2] = [value for k, value in enumerate(choices[2]) if k == 0 or value in seen]
    every = list(itertools.product(*choices))
    leaves = apply(tree, secateur.encode([list(cells) for cells in every], names=NAMES, schema=schema))
    answers = schema.classes[counts.majority[leaves]]
    best = None
    for one, answer in zip(every, answers, strict=True):
        if str(answer) != own:
            n_changed = sum(a != b for a, b in zip(asked, one, strict=True))
            cost = (n_changed, sum(distance(a, b) for a, b in zip(asked, one, strict=True)))
            best = cost if best is None or cost < best else best
    return best


def test_a_deep_chain_is_searched():
    n = 3_000
    x = np.arange(n, dtype=float)[:, None]
    tree, counts = secateur.grow(x, np.arange(n) % 2, min_samples_leaf=1, criterion="gini")
    change = nearest_change(view_of(tree, counts), secateur.encode([[7.0]], schema=tree.schema))

    assert abs(change.changes[0].new - 7) <= 0.5 + 1e-9
    assert threshold_ranges(tree)[0] == n - 2


def test_an_unknown_column_is_refused_with_the_nearest():
    table = secateur.encode([[1.0], [2.0]], names=["size"], target=["a", "b"])
    tree, counts = secateur.grow(table)

    with pytest.raises(ParameterError, match="did you mean 'size'"):
        nearest_change(view_of(tree, counts), table, actionable=["sise"])
    assert math.isfinite(threshold_ranges(tree)[0])


@pytest.mark.parametrize(
    ("value", "says"),
    [(np.inf, "size at most 3 (is inf) would give a"), (-np.inf, "size above 3 (is -inf) would give b")],
)
def test_an_infinite_value_can_change_too(value, says):
    table = secateur.encode([[1.0], [2.0], [4.0], [5.0]], names=["size"], target=["a", "a", "b", "b"])
    tree, counts = secateur.grow(table)

    row = secateur.encode([[value]], schema=table.schema)

    assert str(nearest_change(view_of(tree, counts), row)) == says


def test_a_missing_value_changes_to_a_range_without_an_infinite_end():
    table = secateur.encode([[1.0], [2.0], [4.0], [5.0]], names=["size"], target=["a", "a", "b", "b"])
    tree, counts = secateur.grow(table)
    row = secateur.encode([[None]], schema=table.schema)

    assert apply(tree, row).tolist() == [1]
    assert str(nearest_change(view_of(tree, counts), row)) == "size above 3 (is missing) would give b"


def test_the_nearest_change_reaches_the_wanted_class_or_range():
    X = np.arange(90.0)[:, None]
    model = TreeClassifier(prune=None, criterion="gini").fit(X, np.repeat(["low", "middle", "high"], 30))
    for wanted, row, to in (
        ("high", 10.0, "above 59.5"),
        ("low", 40.0, "at most 29.5"),
        ("middle", 10.0, "above 29.5"),
    ):
        change = model.explain([row], wanted=wanted).change
        assert (change.prediction, change.changes[0].to.split(" and ")[0]) == (wanted, to)
        assert model.predict([[change.changes[0].new]]).tolist() == [wanted]
    numbers = TreeRegressor(prune=None, max_depth=2).fit(X, X[:, 0] // 30)
    assert numbers.explain([10.0], wanted=(0.9, 1.1)).change.prediction == "1.00"
    with pytest.raises(ParameterError, match="of a range are needed"):
        numbers.explain([10.0], wanted="high")
