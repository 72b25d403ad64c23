"""The path of a row is the one that routing takes, and its texts are true of the row."""

import numpy as np
import pandas as pd
import pytest

import secateur
from export_cases import CASES, chain, infinite
from secateur import TreeClassifier
from secateur.errors import ParameterError, TreeError
from secateur.inspection.path import path_of
from secateur.inspection.view import view_of


def shown(model):
    return view_of(model.tree, model.grown, pruning=model.pruning)


def rows_of(case):
    rows = np.empty((len(case.columns[0]), len(case.columns)), object)
    for j, column in enumerate(case.columns):
        rows[:, j] = column.tolist() if isinstance(column, np.ndarray) else column
    if all(column.kind == "numeric" for column in case.model.tree.schema.columns):
        return np.column_stack(case.columns)
    return rows


@pytest.mark.parametrize("name", CASES)
def test_the_path_ends_where_routing_sends_the_row(name):
    case = CASES[name]()
    view, leaves = shown(case.model), case.leaves()
    table = secateur.encode(rows_of(case), schema=case.model.tree.schema)

    for row in range(0, table.n_rows, 7):
        path = path_of(view, table, row)
        assert path.leaf == leaves[row]
        assert [step.node for step in path.steps] == [v for v in range(path.leaf) if case.model.tree.end[v] > path.leaf]


def test_infinite_thresholds_are_walked_too():
    for case in infinite():
        table = secateur.encode(np.column_stack(case.columns), schema=case.model.tree.schema)
        assert [path_of(shown(case.model), table, row).leaf for row in range(table.n_rows)] == case.leaves()


def test_a_step_has_the_test_the_value_and_the_side():
    X = [["red", 1.0], ["red", 4.0], ["blue", 1.5], ["green", None]]
    table = secateur.encode(X, names=["colour", "size"], target=["a", "b", "a", "b"])
    path = path_of(view_of(*secateur.grow(table)), [["red", 1.25]])

    (step,) = path.steps
    assert (step.node, step.number, step.column, step.value, step.test, step.child, step.is_default) == (
        0, 1, "size", "1.25", "size <= 3", 0, False,
    )  # fmt: skip
    assert (path.leaf, path.number, path.prediction, path.shares) == (1, 2, "a", {"a": 1.0, "b": 0.0})


def test_categories_and_missing_values_have_words():
    table = secateur.encode([["red"], ["blue"], ["red"], [None]], names=["colour"], target=["x", "y", "x", "y"])
    view = view_of(*secateur.grow(table))
    text = {value: path_of(view, [[value]]).steps[0] for value in ("red", None, "pink")}

    assert [text[value].value for value in text] == ["red", "missing", "new"]
    assert [text[value].is_default for value in text] == [False, False, True]
    assert text["red"].test == "colour = red"
    assert text[None].test == "colour = blue or missing"


def test_a_row_between_the_short_and_the_exact_threshold_gets_the_exact_one():
    tree, counts = secateur.grow([[21673.2], [21675.1]], ["a", "b"])
    view = view_of(tree, counts, feature_names=["income"])

    assert path_of(view, [[21674.1]]).steps[0].test == "income <= 21674.15"
    assert path_of(view, [[21673.0]]).steps[0].test == "income <= 21674"
    assert path_of(view, [[21674.2]]).steps[0].test == "income > 21674"


def test_a_path_of_20_000_steps_is_walked():
    case = chain(20_000)

    assert len(path_of(shown(case.model), [[1e9]]).steps) == 20_000


def test_what_has_no_path_is_refused():
    case = CASES["a chain"]()
    with pytest.raises(ParameterError, match=r"row=1\.5"):
        path_of(shown(case.model), [[1.0]], 1.5)
    with pytest.raises(ParameterError, match="row=3"):
        path_of(shown(case.model), [[1.0]], 3)
    with pytest.raises(TreeError, match="a whole tree with tests"):
        path_of(view_of(secateur.Tree.from_parents([-1, 0, 0])), [[1.0]])
    with pytest.raises(TreeError, match="a whole tree with tests"):
        path_of(view_of(case.model.tree, max_depth=1), [[1.0]])


@pytest.fixture(scope="module")
def stump():
    """A tree with one test and two surrogates: `b` is a multiple of `a`, and `c` names the side of nearly all rows."""
    rng = np.random.default_rng(1)
    a = rng.normal(size=300).round(2)
    frame = pd.DataFrame({"a": a, "b": 2 * a, "c": np.where(a > 0, "high", "low")})
    for column, share in (("a", 0.05), ("b", 0.1), ("c", 0.15)):
        frame.loc[rng.random(300) < share, column] = None
    frame.loc[rng.random(300) < 0.05, "c"] = "other"
    parameters = {"prune": None, "criterion": "gini", "surrogates": 2, "max_depth": 1}
    return TreeClassifier(**parameters).fit(frame, np.where(a > 0, "yes", "no")), frame


@pytest.mark.parametrize("n_missing", [1, 2, 3])
def test_a_missing_value_follows_the_first_surrogate_whose_column_is_known(stump, n_missing):
    model, frame = stump
    tree = model.tree_
    order = [int(tree.feature[0]), *tree.surrogates.feature[tree.surrogates.of(0)].tolist()]
    names = [tree.schema.names[j] for j in order]
    rows = frame.dropna().copy()
    rows[names[:n_missing]] = None
    table = secateur.encode(rows, schema=tree.schema)
    leaves = secateur.routing.apply(tree, table)

    for row in range(0, len(rows), 9):
        path = path_of(shown(model.model_), table, row)
        [step] = path.steps
        assert (path.leaf, step.is_default) == (leaves[row], True)
        if n_missing == 3:
            assert step.surrogate == ""
        else:
            name, sign, *_ = step.surrogate.split(" ")
            assert (name, sign == "=") == (names[n_missing], name == "c")
            assert str(rows[name].iloc[row]).removesuffix(".0") in step.surrogate


def test_an_explanation_names_the_surrogate_that_replaced_a_missing_value(stump):
    model, _ = stump
    tree = model.tree_
    row = pd.DataFrame({"a": [3.0], "b": [6.0], "c": ["high"]})
    row[tree.schema.names[int(tree.feature[0])]] = None

    explanation = model.explain(row)

    assert explanation.to_dict()["steps"][0]["surrogate"] == explanation.path.steps[0].surrogate != ""
    assert explanation.path.steps[0].surrogate in str(explanation)
