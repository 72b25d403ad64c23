"""Reason codes agree, row by row, with a simple implementation that follows one row at a time."""

import itertools
import json
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secateur
from secateur import TreeClassifier, TreeRegressor
from secateur.errors import DataError, ParameterError, UnsupportedError
from secateur.inspection import read_reason_texts, reason_codes
from secateur.inspection.counterfactual import nearest_change, threshold_ranges
from secateur.inspection.view import view_of

NAMES = ["size", "age", "colour"]
COLOURS = ["red", "blue", "green", None]
cell = st.one_of(st.none(), st.integers(0, 6).map(float))
row = st.tuples(cell, cell, st.sampled_from(COLOURS))
asked_row = st.tuples(cell, cell, st.sampled_from([*COLOURS, "violet"]))  # growing knows no violet


def fitted(sample, targets, splits="binary"):
    table = secateur.encode([list(r) for r in sample], names=NAMES, target=targets, nominal=["colour"])
    tree, counts = secateur.grow(table, min_samples_leaf=1, splits=splits)
    return secateur.Model(secateur.Pruning.from_cuts(tree, [], node_labels=counts.labels), counts)


def branch_of(tree, schema, v, value):
    """The child number to which node `v` sends a value of its column: a number, a category or None."""
    column = schema.columns[tree.feature[v]]
    if column.kind == "nominal":
        codes = tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
        if value in column.categories:
            return int(codes[column.categories.index(value)])
        return int(codes[-1]) if value is None and column.has_missing else int(tree.default[v])
    if value is None:
        return int(tree.default[v])
    return 0 if value <= tree.threshold[v] else 1


def children_of(tree, v):
    return [u for u in range(tree.n_nodes) if tree.parent[u] == v]


def path_to_leaf(tree, schema, cells):
    nodes = [0]
    while children := children_of(tree, nodes[-1]):
        nodes.append(children[branch_of(tree, schema, nodes[-1], cells[tree.feature[nodes[-1]]])])
    return nodes


def naive_moves(model, cells, estimate):
    """By column, in the order of the tests: the sum of the moves, and the tests with their moves."""
    tree, moves = model.tree, {}
    nodes = path_to_leaf(tree, tree.schema, cells)
    for parent, child in itertools.pairwise(nodes):
        moves.setdefault(int(tree.feature[parent]), []).append((parent, child, estimate[child] - estimate[parent]))
    return moves


def satisfies(text, value):
    """Whether a value is among those that `Reason.needed` names."""
    if value is None or text == "missing":
        return value is None and text == "missing"
    if isinstance(value, str):
        return value in text.split(" or ")
    low, high = re.search(r"above (\S+)", text), re.search(r"at most (\S+)", text)
    return (low is None or value > float(low[1])) and (high is None or value <= float(high[1]))


def is_needed(model, tests, estimate, value):
    """Whether a row with this value passes to the first lowering test of the column, and then goes to a better child."""
    tree = model.tree
    for parent, child, move in tests:
        goes_to = children_of(tree, parent)[branch_of(tree, tree.schema, parent, value)]
        if move < -1e-9:
            return estimate[goes_to] > estimate[parent] + 1e-9
        if goes_to != child:
            return False
    raise AssertionError("no test of the column lowered the estimate")


def lies_between(tree, v, value):
    return min(tree.threshold[v], tree.rounded[v]) <= value <= max(tree.threshold[v], tree.rounded[v])


def check_row(model, codes, i, cells, estimate, values_of_column):
    moves = naive_moves(model, cells, estimate)
    total = {j: sum(move for *_, move in tests) for j, tests in moves.items()}
    lowering = sorted((j for j in moves if total[j] < -1e-9), key=lambda j: round(total[j], 9))
    reasons = codes[i]
    if not lowering:
        changed = codes.nearest_change[i]
        assert (not reasons) == (changed is None)
        assert changed is None or " and ".join(f"{r.column} {r.needed}" for r in reasons) == changed
        return
    assert [r.column for r in reasons] == [NAMES[j] for j in lowering][: codes.column.shape[1]]
    for reason, j in zip(reasons, lowering, strict=False):
        assert reason.moved == pytest.approx(total[j])
        for value in values_of_column[j]:
            if value is None and reason.needed != "missing":
                continue  # a missing value is named only where no known value leads
            # The shown range is sufficient, and all that is left out lies between an exact and a shortened threshold.
            needed = is_needed(model, moves[j], estimate, value)
            if satisfies(reason.needed, value) != needed:
                assert needed
                assert any(lies_between(model.tree, parent, value) for parent, _, _ in moves[j])
        assert not satisfies(reason.needed, cells[j])


GRID = [None, *(k / 2 - 0.25 for k in range(-1, 16))]


@pytest.mark.filterwarnings("ignore:every row has the class", "ignore:.*were not in the growing")
@given(
    st.lists(st.tuples(row, st.sampled_from("abc")), min_size=5, max_size=30),
    st.lists(asked_row, min_size=1, max_size=6),
    st.sampled_from(["binary", "multiway"]),
    st.sampled_from([["a"], ["a", "b"]]),
)
def test_reasons_agree_with_following_one_row(sample, asked, splits, favourable):
    model = fitted([r for r, _ in sample], ["a", "b", "c", *(y for _, y in sample)][3:] or ["a"], splits)
    schema = model.tree.schema
    classes = [str(c) for c in schema.classes]
    favourable = [c for c in favourable if c in classes]
    if not favourable or len(favourable) == len(classes):
        return
    by_class = model.grown.by_class
    shares = by_class / np.maximum(by_class.sum(axis=1, keepdims=True), 1)
    shares = np.where(by_class.sum(axis=1, keepdims=True) > 0, shares, shares[np.maximum(model.tree.parent, 0)])
    estimate = shares[:, [classes.index(c) for c in favourable]].sum(axis=1)
    codes = reason_codes(model, [list(r) for r in asked], favourable=favourable, n=2)
    known_colours = [c for c in COLOURS if c in schema.columns[2].categories]

    for i, cells in enumerate(asked):
        leaf = path_to_leaf(model.tree, schema, cells)[-1]
        predicted = classes[model.pruning.node_labels[leaf]]
        assert codes.prediction[i] == predicted
        assert codes.is_favourable[i] == (predicted in favourable)
        if predicted in favourable:
            assert codes[i] == ()
            assert codes.nearest_change[i] is None
        else:
            check_row(model, codes, i, cells, estimate, [GRID, GRID, known_colours])


@pytest.mark.filterwarnings("ignore:every row has the class", "ignore:.*were not in the growing")
@given(
    st.lists(st.tuples(row, st.sampled_from("abc")), min_size=5, max_size=30),
    st.lists(asked_row, min_size=1, max_size=8),
    st.sampled_from(["binary", "multiway"]),
    st.sets(st.sampled_from(NAMES)),
)
def test_nearest_changes_agree_with_the_search_for_one_row(sample, asked, splits, actionable):
    model = fitted([r for r, _ in sample], [y for _, y in sample], splits)
    view = view_of(model.tree, model.grown, pruning=model.pruning)
    codes = reason_codes(model, [list(r) for r in asked], actionable=sorted(actionable))
    later = secateur.encode([list(r) for r in asked], names=NAMES, schema=model.tree.schema)
    for i in range(len(asked)):
        change = nearest_change(view, later, i, actionable=sorted(actionable), scales=threshold_ranges(model.tree))
        assert (change is None) == (codes.nearest_change[i] is None)
        if change is not None:
            parts = re.split(r" and (?!at most)", codes.nearest_change[i])
            assert [part.split(" ")[0] for part in parts] == [c.column for c in change.changes]
            for part, c in zip(parts, change.changes, strict=True):
                needed = part.split(" ", 1)[1]
                assert satisfies(needed, c.new) or any(
                    lies_between(model.tree, v, c.new) for v in np.flatnonzero(~model.tree.is_leaf)
                )


@given(
    st.lists(st.tuples(row, st.integers(0, 9)), min_size=5, max_size=30),
    st.lists(row, min_size=1, max_size=6),
    st.sampled_from(["high", "low", 4.5, (3.0, 6.0)]),
)
def test_reasons_of_numbers_agree_with_following_one_row(sample, asked, favourable):
    table = secateur.encode(
        [list(r) for r, _ in sample], names=NAMES, target=[float(y) for _, y in sample], nominal=["colour"],
        target_kind="number",
    )  # fmt: skip
    tree, moments = secateur.grow(table, min_samples_leaf=1, criterion="squared_error")
    model = secateur.Model(secateur.Pruning.from_cuts(tree, []), moments)
    mean = np.array([float(x) for x in moments.predictions])
    low, high = {"high": (mean[0], math.inf), "low": (-math.inf, mean[0]), 4.5: (4.5, math.inf)}.get(
        favourable, (3.0, 6.0)
    )
    codes = reason_codes(model, [list(r) for r in asked], favourable=favourable)
    known_colours = [c for c in COLOURS if c in tree.schema.columns[2].categories]
    for i, cells in enumerate(asked):
        predicted = mean[path_to_leaf(tree, tree.schema, cells)[-1]]
        assert codes.is_favourable[i] == (low <= predicted <= high)
        if not codes.is_favourable[i]:
            check_row(model, codes, i, cells, mean if predicted < low else -mean, [GRID, GRID, known_colours])


def loans(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.integers(10, 100, n).astype(float),
            "late": rng.integers(0, 5, n),
            "housing": rng.choice(["owner", "tenant"], n),
        },
        index=[f"applicant {i}" for i in range(n)],
    )
    is_good = (frame["income"] > 40) & (frame["late"] < 2) | (frame["housing"] == "owner") & (frame["income"] > 70)
    return frame, np.where(is_good ^ (rng.random(n) < 0.05), "repaid", "defaulted")


@pytest.fixture(scope="module")
def loan_model():
    X, y = loans()
    return TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(X, y)


def test_frames_give_frames_of_the_same_library(loan_model):
    X, _ = loans()
    expected = loan_model.reasons(X, favourable="repaid", n=2)
    assert list(expected.index) == list(X.index)
    assert list(expected.columns) == [
        "prediction", "reason 1", "reason 1 value", "reason 1 needed", "reason 1 moved",
        "reason 2", "reason 2 value", "reason 2 needed", "reason 2 moved", "nearest change",
    ]  # fmt: skip
    plain = X.reset_index(drop=True)
    for library in (pl.from_pandas(plain), pa.Table.from_pandas(plain)):
        frame = loan_model.reasons(library, favourable="repaid", n=2)
        assert type(frame) is type(library)
        columns = frame.to_dict(as_series=False) if isinstance(frame, pl.DataFrame) else frame.to_pydict()
        assert columns == reason_codes(loan_model, plain, favourable="repaid", n=2).to_dict()


def test_a_frame_without_any_reason_has_the_same_types(loan_model):
    favourable_rows = pl.DataFrame({"income": [99.0], "late": [0], "housing": ["owner"]})
    unfavourable_rows = pl.DataFrame({"income": [11.0], "late": [4], "housing": ["tenant"]})
    without, with_reasons = (
        loan_model.reasons(rows, favourable="repaid") for rows in (favourable_rows, unfavourable_rows)
    )
    assert without["reason 1"].to_list() == [None] != with_reasons["reason 1"].to_list()
    assert without.schema == with_reasons.schema


def test_rows_without_a_frame_give_the_table():
    X, y = loans()
    model = TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(X.to_numpy().tolist(), y)
    codes = model.reasons([[11.0, 4.0, "tenant"], [99.0, 0.0, "owner"]], favourable="repaid")
    assert codes.is_favourable.tolist() == [False, True]
    assert list(codes)[1] == ()
    assert "x1: 4, needed: at most 1" in [str(reason) for reason in codes[0]]
    with pytest.raises(ValueError, match="read-only"):
        codes.moved[0, 0] = 0


def test_texts_come_from_a_mapping_or_a_file(loan_model, tmp_path):
    texts = {"late": "Too many late payments", "income": "Income, too low"}
    as_json, as_csv = tmp_path / "texts.json", tmp_path / "texts.csv"
    as_json.write_text(json.dumps(texts), encoding="utf-8")
    as_csv.write_text('column,text\nlate,Too many late payments\nincome,"Income, too low"\n', encoding="utf-8-sig")
    rows = [[11.0, 4.0, "tenant"]]
    for source in (texts, as_json, str(as_csv)):
        codes = reason_codes(loan_model, rows, favourable="repaid", texts=source)
        assert [reason.text for reason in codes[0]] == [texts.get(r.column, r.column) for r in codes[0]]
        assert codes.to_dict()["reason 1 text"] == [texts[codes[0][0].column]]
    assert read_reason_texts(as_csv) == texts


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "[1]", "must contain one object"),
        ("a.json", "{", "is not valid JSON"),
        ("a.json", '{"late": 1}', "the text of column 'late' is 1"),
        ("a.json", '{"late": "a", "late": "b"}', "two texts for column 'late'"),
        ("a.csv", "late,a,b\n", "line 1 of .* has 3 cells"),
        ("a.csv", '"late,a\n', "is not valid CSV"),
        ("a.csv", "lates,a\n", "did you mean 'late'"),
    ],
)
def test_wrong_texts_are_refused(loan_model, tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises((DataError, ParameterError), match=message):
        reason_codes(loan_model, [[11.0, 4.0, "tenant"]], favourable="repaid", texts=path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"favourable": "repayed"}, "did you mean 'repaid'"),
        ({"favourable": ["repaid", "defaulted"]}, "contains all of the classes"),
        ({"favourable": []}, "contains none of the classes"),
        ({"favourable": "repaid", "n": 0}, "n=0; a whole number of 1 or more"),
        ({"favourable": "repaid", "actionable": ["incom"]}, "did you mean 'income'"),
        ({"favourable": "repaid", "texts": 3}, "texts=3"),
    ],
)
def test_wrong_arguments_are_refused(loan_model, options, message):
    with pytest.raises(ParameterError, match=message):
        reason_codes(loan_model, [[11.0, 4.0, "tenant"]], **options)


@pytest.mark.parametrize("favourable", [None, "higher", True, (2, 1), (1, 2, 3), math.nan])
def test_numbers_need_a_favourable_direction_or_range(favourable):
    model = TreeRegressor(select=None).fit([[float(i)] for i in range(20)], [float(i) for i in range(20)])
    with pytest.raises(ParameterError, match=r'favourable=.*"high" or "low"'):
        model.reasons([[1.0]], favourable=favourable)


def test_trees_with_surrogates_are_refused():
    X, y = loans()
    model = TreeClassifier(surrogates=2, select=None).fit(X, y)
    with pytest.raises(UnsupportedError, match="surrogate tests for missing values, and the reasons of a prediction"):
        model.reasons(X, favourable="repaid")


def test_a_single_leaf_has_no_reasons():
    model = TreeClassifier(select=1).fit([[1.0], [2.0], [3.0]] * 5, ["no", "no", "yes"] * 5)
    codes = model.reasons([[1.0]], favourable="yes")
    assert codes[0] == ()
    assert codes.nearest_change[0] is None
    assert not codes.is_favourable[0]


def test_a_row_whose_tests_all_raised_the_estimate_has_the_reasons_of_the_nearest_change():
    # One half of the rows has a = 1 and 40 % "yes", more than the others; "yes" is the majority only where b > 5 too.
    X = [[1.0, 0.0]] * 7 + [[1.0, 9.0]] * 3 + [[0.0, 0.0]] * 10
    y = ["no"] * 6 + ["yes"] * 4 + ["no"] * 10
    model = TreeClassifier(criterion="gini", select=None, prune=None).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    codes = reason_codes(model, pd.DataFrame([[1.0, 0.0], [0.0, 0.0]], columns=["a", "b"]), favourable="yes", n=1)
    for reasons, change in zip(codes, codes.nearest_change, strict=True):
        assert len(reasons) == 1
        assert change is not None


def test_a_tree_of_great_depth_gives_reasons():
    depth = 20_000
    X = np.arange(depth, dtype=float).reshape(-1, 1)
    y = np.where(np.arange(depth) % 2, "a", "b")
    tree, counts = chain(X, y, depth)
    model = secateur.Model(secateur.Pruning.from_cuts(tree, [], node_labels=counts.majority), counts)
    codes = reason_codes(model, X[-3:], favourable="a")
    assert codes.is_favourable.tolist() == [True, False, True]
    assert codes.nearest_change[1] is not None


def chain(X, y, depth):
    """A tree in which each test cuts off the smallest value, and its counts."""
    table = secateur.encode(X, target=y)
    parent = np.array([-1, *(k for i in range(depth - 1) for k in (2 * i, 2 * i))])
    internal = np.arange(0, 2 * depth - 2, 2)
    feature, threshold = np.full(2 * depth - 1, -1), np.full(2 * depth - 1, np.nan)
    feature[internal], threshold[internal] = 0, np.arange(depth - 1) + 0.5
    tree = secateur.Tree(parent, feature=feature, threshold=threshold, schema=table.schema)
    return tree, secateur.count(tree, table)
