"""Surrogate splits against slow and obvious twins."""

import json
import pickle
import re

import numpy as np
import pytest

import secateur
from secateur import Column, Model, Pruning, Schema, TreeClassifier, TreeRegressor, count, encode, grow
from secateur.asking import explain
from secateur.errors import ModelFileError, ParameterError, TreeError, UnsupportedError
from secateur.growers.surrogates import find_surrogates
from secateur.modelfile import dumps_model, loads_model
from secateur.nouns.surrogates import Surrogates
from secateur.routing import apply, plan


def mixed(seed, n=60, gaps=0.2):
    """Two numeric columns that nearly agree, one of few values, one of categories; all with gaps."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=n), 1)
    near = np.round(x + 0.2 * rng.normal(size=n), 1)
    few = rng.integers(0, 3, n).astype(float)
    word = np.where(x + rng.normal(size=n) > 0, "up", "down").astype(object)
    word[rng.random(n) < 0.2] = "odd"
    columns = [x, near, few]
    for column in columns:
        column[rng.random(n) < gaps] = np.nan
    word[rng.random(n) < gaps] = None
    rows = [
        [*(None if np.isnan(v) else float(v) for v in values), w] for *values, w in zip(*columns, word, strict=True)
    ]
    y = np.where(rng.random(n) < 0.1, 1 - (near > 0), np.nan_to_num(near) > 0).astype(int)
    return encode(rows, target=y, names=["x", "near", "few", "word"])


def best_of_column(values, side, weight, is_nominal):
    """Agreement and rows known of the best test of one column, by trying all; None if no better than one side."""
    known = [
        i for i in range(len(values)) if side[i] < 2 and not (values[i] < 0 if is_nominal else np.isnan(values[i]))
    ]
    total = sum(weight[i] for i in known)
    majority = max((sum(weight[i] for i in known if side[i] == c) for c in (0, 1)), default=0)
    best = 0
    if is_nominal:
        for value in {int(values[i]) for i in known}:
            best += max(sum(weight[i] for i in known if values[i] == value and side[i] == c) for c in (0, 1))
    else:
        for cut in {float(values[i]) for i in known}:
            for low in (0, 1):
                agreed = sum(weight[i] for i in known if side[i] == (low if values[i] <= cut else 1 - low))
                best = max(best, agreed)
    return None if best <= majority else (best / total, total)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("is_weighted", [False, True])
def test_surrogates_agree_best_of_all_tests_of_each_column(seed, is_weighted):
    table = mixed(seed, 25)
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, 25).astype(float) if is_weighted else None
    x = table.columns[0]
    side = np.where(np.isnan(x), 2, x > 0.1)
    own = np.ones(25) if weight is None else weight
    expected = {}
    for j in (1, 2, 3):
        values = table.columns[j].astype(float)
        if j == 3:
            values[values == len(table.schema.columns[3].categories)] = -1
        found = best_of_column(values, side, own, j == 3)
        if found is not None:
            expected[j] = found
    order = sorted(expected, key=lambda j: (-expected[j][0], -expected[j][1], j))
    found = find_surrogates(table, np.arange(25), weight, side, 0, 9)
    assert [one.feature for one in found] == order
    assert [one.agreement for one in found] == pytest.approx([expected[j][0] for j in order])
    for one in found:  # the test itself agrees with as many as it says
        values = table.columns[one.feature]
        if one.feature == 3:
            goes = np.array([2 if v < 0 else one.branch[v] for v in values])
        else:
            goes = np.where(np.isnan(values), 2, np.where(values <= one.threshold, one.low, 1 - one.low))
        both = (goes < 2) & (side < 2)
        assert np.sum(own[both & (goes == side)]) / np.sum(own[both]) == pytest.approx(one.agreement)
    assert find_surrogates(table, np.arange(25), weight, side, 0, 1) == found[:1] or len(found) < 2


def naive_leaf(tree, row):
    """The leaf of one row of numbers and codes, test by test."""
    others, v = tree.surrogates, 0
    while tree.feature[v] >= 0:
        codes = tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
        value, child = row[tree.feature[v]], None
        if len(codes):
            child = None if value < 0 else int(codes[int(value)])
        elif not np.isnan(value):
            child = 0 if value <= tree.threshold[v] else 1
        for s in range(others.start[v], others.start[v + 1]):
            if child is not None:
                break
            branch = others.branch[others.branch_start[s] : others.branch_start[s + 1]]
            value = row[others.feature[s]]
            if len(branch):
                child = None if value < 0 or branch[int(value)] == 2 else int(branch[int(value)])
            elif not np.isnan(value):
                child = int(others.low[s]) if value <= others.threshold[s] else 1 - int(others.low[s])
        child = int(tree.default[v]) if child is None else child
        v = list(tree.children(v))[child]
    return v


@pytest.mark.lane
@pytest.mark.parametrize("seed", range(8))
def test_rows_go_where_a_slow_walk_goes_and_the_counts_agree(seed):
    table = mixed(seed, 120, 0.3)
    tree, grown = grow(table, surrogates=2)
    assert len(tree.surrogates.feature) > 0
    assert (np.diff(tree.surrogates.start) <= 2).all()
    rows = zip(*table.columns, strict=True)
    assert apply(tree, table).tolist() == [naive_leaf(tree, row) for row in rows]
    again = count(tree, table, sample="grow")
    assert np.array_equal(again.by_class, grown.by_class)
    assert (grown.total[tree.leaves] > 0).all()


def test_surrogates_of_a_node_are_those_of_the_rows_that_reach_it():
    table = mixed(3, 150, 0.3)
    tree, _ = grow(table, surrogates=3, max_depth=3, min_samples_leaf=4)
    leaves = apply(tree, table)
    checked = 0
    for v in tree.internal.tolist():
        rows = np.flatnonzero((leaves >= v) & (leaves < tree.end[v]))
        if np.diff(tree.surrogates.start)[v] == 0 or tree.branch_start[v] < tree.branch_start[v + 1]:
            continue
        values = table.columns[tree.feature[v]][rows]
        side = np.where(np.isnan(values), 2, values > tree.threshold[v])
        found = find_surrogates(table, rows, None, side, int(tree.feature[v]), 3)
        here = list(tree.surrogates.of(v))
        assert [one.feature for one in found] == tree.surrogates.feature[here].tolist()
        assert [one.agreement for one in found] == tree.surrogates.agreement[here].tolist()
        checked += 1
    assert checked > 1
    assert int(tree.depth.max()) <= 3


def copied(n=1500, seed=0):
    """A column, noise, and a copy; and the same with three rows in ten missing in each, never in both."""
    rng = np.random.default_rng(seed)
    x, noise, u = rng.normal(size=n), rng.normal(size=(n, 2)), rng.random(n)
    y = (x > 0.3) ^ (rng.random(n) < 0.05)
    full = np.column_stack([x, noise, 2 * x])
    holed = full.copy()
    holed[u < 0.3, 0] = np.nan
    holed[(u > 0.5) & (u < 0.8), 3] = np.nan
    return full, holed, y


def test_a_copy_with_other_gaps_gives_the_tree_and_error_of_complete_data():
    full, holed, y = copied()
    complete = TreeClassifier(criterion="gini", min_samples_leaf=5, cv=5, random_state=0).fit(full, y)
    plain = TreeClassifier(criterion="gini", min_samples_leaf=5, cv=5, random_state=0).fit(holed, y)
    model = TreeClassifier(criterion="gini", min_samples_leaf=5, cv=5, random_state=0, surrogates=1).fit(holed, y)
    assert model.get_n_leaves() == complete.get_n_leaves() < plain.get_n_leaves()
    assert model.score(holed, y) == complete.score(full, y)
    assert model.selection_.growing["surrogates"] == 1


def test_a_tree_grown_without_gaps_predicts_rows_with_gaps_as_if_they_had_none():
    full, holed, y = copied()
    tree, _ = grow(full, y, surrogates=1, max_depth=1)
    assert np.array_equal(apply(tree, holed), apply(tree, full))
    plain, _ = grow(full, y, max_depth=1)
    assert not np.array_equal(apply(plain, holed), apply(plain, full))
    assert np.array_equal(plain.threshold, tree.threshold, equal_nan=True)  # nothing was missing in growing


def test_without_gaps_the_tree_is_the_plain_one():
    full, _, y = copied(300)
    for criterion, target in (("gini", y), ("squared_error", full[:, 0] + y)):
        plain, counts = grow(full, target, criterion=criterion)
        tree, own = grow(full, target, criterion=criterion, surrogates=2)
        assert np.array_equal(plain.feature, tree.feature)
        assert np.array_equal(plain.threshold, tree.threshold, equal_nan=True)
        assert np.array_equal(counts.total, own.total)


def test_the_least_size_of_a_leaf_and_weights_hold():
    table = mixed(5, 150, 0.4)
    weight = np.random.default_rng(5).integers(1, 4, 150).astype(float)
    tree, grown = grow(table, surrogates=5, min_samples_leaf=6, sample_weight=weight)
    assert grown.total[tree.leaves].min() >= 6
    halves, half = grow(table, surrogates=5, min_samples_leaf=6, sample_weight=weight / 2)
    assert np.array_equal(count(halves, table, sample_weight=weight / 2).by_class, half.by_class)
    assert count(halves, table).total[halves.leaves].min() >= 6


def test_a_regression_tree_has_surrogates_too():
    _, holed, _ = copied()
    y = np.where(np.nan_to_num(holed[:, 0], nan=0) + np.nan_to_num(holed[:, 3], nan=0) > 0, 5.0, 1.0)
    tree, moments = grow(holed, y, criterion="squared_error", surrogates=2, max_depth=4)
    assert count(tree, holed, y, sample="grow").mean.tolist() == moments.mean.tolist()
    assert TreeRegressor(surrogates=2, cv=3, min_samples_leaf=5).fit(holed, y).score(holed, y) > 0.9


def fitted():
    table = mixed(1, 150, 0.3)
    tree, grown = grow(table, surrogates=3)
    return table, Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)


def test_files_pickles_and_smaller_trees_keep_the_surrogates():
    table, model = fitted()
    tree = model.tree
    for again in (loads_model(dumps_model(model)).tree, pickle.loads(pickle.dumps(tree))):
        assert again == tree
        assert again.surrogates == tree.surrogates
        assert again.row_key == tree.row_key
    cuts = [v for v in tree.internal.tolist() if tree.depth[v] == 2]
    pruning = Pruning.from_cuts(tree, cuts)
    small = pruning.to_tree()
    kept = small.ids
    rows = zip(*table.columns, strict=True)
    assert apply(small, table).tolist() == [naive_leaf(small, row) for row in rows]
    leaf_above = apply(tree, table)
    assert all(kept[s] <= v < tree.end[kept[s]] for s, v in zip(apply(small, table), leaf_above, strict=True))


@pytest.mark.parametrize(
    "wrong",
    [
        {"low": [2]},
        {"feature": [9]},
        {"branch_start": [0, 1], "branch": [3]},
        {"start": [0, 0, 1, 1]},
        {"start": [0, 1]},
    ],
)
def test_a_file_with_wrong_surrogates_is_refused(wrong):
    tree, grown = grow([[1.0, 5.0], [2.0, 6.0], [3.0, 8.0], [4.0, 9.0]], ["a", "a", "b", "b"], surrogates=1)
    model = Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    document = json.loads(dumps_model(model))
    assert document["tree"]["surrogates"]["feature"] == [1]
    document["tree"]["surrogates"] |= wrong
    with pytest.raises(ModelFileError, match="surrogates"):
        loads_model(json.dumps(document).encode())


def test_batches_are_counted_as_memory_counts():
    table, model = fitted()
    tree, names = model.tree, table.schema.names
    words = np.array([*table.schema.columns[3].categories, None], object)[table.columns[3]]
    frame = {name: table.columns[j] for j, name in enumerate(names[:3])} | {"word": words}
    small = plan(tree, (*names, "y"), "y")
    pd = pytest.importorskip("pandas")
    batch = pd.DataFrame(frame | {"y": table.schema.classes[table.target]})
    assert small.leaves(batch).tolist() == apply(tree, table).tolist()
    tally = small(batch).finish(tree, "grow")
    assert np.array_equal(tally.by_class, model.grown.by_class)
    assert tally.sketch == model.grown.sketch


@pytest.mark.parametrize("name", ["python", "sql", "c", "pmml", "onnx", "rules"])
def test_exports_that_run_refuse_surrogates(name):
    if name == "onnx":
        pytest.importorskip("onnx")
    with pytest.raises(UnsupportedError, match="surrogates=0"):
        secateur.exports.export(fitted()[1], to=name)


def test_other_roads_that_cannot_follow_surrogates_refuse_them():
    table, model = fitted()
    pytest.importorskip("sklearn")
    from secateur.interop import to_sklearn
    from secateur.report import report_html

    row = [None, 1.0, 2.0, "up"]
    for road in (
        lambda: to_sklearn(model),
        lambda: report_html(model),
        lambda: explain(model, row, actionable=["near"]),
        lambda: secateur.pruners.error_based(model.tree, model.grown, raise_subtrees=True, table=table),
    ):
        with pytest.raises(UnsupportedError, match="surrogates=0"):
            road()


def test_a_lazy_frame_is_not_pushed_down():
    pl = pytest.importorskip("polars")
    model = fitted()[1]
    frame = pl.LazyFrame({"x": [1.0], "near": [None], "few": [0.0], "word": ["up"], "y": [1]})
    with pytest.raises(UnsupportedError, match="surrogates=0"):
        secateur.engines.count(model.tree, frame, "y", engine="narwhals")


def test_an_explanation_and_the_text_name_surrogates():
    X = [[float(i), 10.0 * i, 1.0] for i in range(8)]
    tree, grown = grow(encode(X, names=["size", "width", "none"], target=["a"] * 4 + ["b"] * 4), surrogates=2)
    model = Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    told = str(explain(model, {"size": None, "width": 61.0, "none": 1.0}))
    assert "surrogate width > 35 (is 61)" in told
    assert "answer: b" in told
    assert "surrogate" not in str(explain(model, {"size": 2.0, "width": 61.0, "none": 1.0})).splitlines()[0]
    assert "1 test has some" in secateur.export_text(tree, grown)


@pytest.mark.parametrize(
    "given",
    [
        {"splits": "multiway"}, {"growth": "best-first"}, {"max_bins": 8}, {"min_weight_fraction_leaf": 0.1},
        {"interaction_cst": "pairwise"}, {"monotonic_cst": [1, 0, 0, 0]},
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_refused(given):
    full, _, y = copied(50)
    with pytest.raises(UnsupportedError, match=next(iter(given))):
        grow(full, y, surrogates=1, **given)


def test_a_number_of_surrogates_is_needed():
    with pytest.raises(ParameterError, match="surrogates"):
        grow([[1.0], [2.0]], ["a", "b"], surrogates=-1)


def test_surrogates_check_themselves():
    with pytest.raises(TreeError, match="agreement"):
        Surrogates([0, 1], [0], [1.0], [0], [0, 0], [], [2.0])


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"low": [2]}, "low 0 is 2"),
        ({"low": [-1]}, "low 0 is -1"),
        ({"threshold": [np.nan]}, "threshold 0 is nan"),
        ({"agreement": [1.1]}, "agreement 0 is 1.1"),
        ({"agreement": [-0.1]}, "agreement 0 is -0.1"),
        ({"agreement": [0.9, 0.8]}, "agreement has 2 entries; 1 are needed"),
        ({"branch_start": [0, 2], "branch": [0, 3]}, "branch 1 is 3"),
        ({"branch_start": [0]}, "branch_start has 1 entries; 2 are needed"),
        ({"branch_start": [0, 1]}, "branch_start must rise from 0 to 0"),
        ({"start": [1, 1, 1, 1]}, "start must rise from 0 to 1"),
        ({"start": [0, 1, 0, 1]}, "start must rise from 0 to 1"),
        ({"start": []}, "start must rise from 0 to 1"),
    ],
)
def test_numbers_that_make_no_surrogate_are_refused(fields, says):
    one = {"start": [0, 1, 1, 1], "feature": [4], "threshold": [2.5], "low": [1], "branch_start": [0, 0], "branch": []}
    with pytest.raises(TreeError, match=re.escape(says)):
        Surrogates(**{**one, "agreement": [0.9], **fields})


def test_surrogates_of_another_tree_are_refused():
    one = Surrogates([0, 1, 1, 1], [0], [2.5], [1], [0, 0], [], [0.9])
    schema = Schema((Column("size", "numeric"),))
    one.check_fits(np.array([2, 0, 0]), schema)
    for arity, says in (([2, 0, 0, 0], "5 are needed"), ([3, 0, 0], "two children"), ([0, 2, 0], "a leaf has none")):
        with pytest.raises(TreeError, match=says):
            one.check_fits(np.array(arity), schema)
    for columns, says in (((), "a column is needed"), ((Column("size", "nominal", ("a",)),), "number of categories")):
        with pytest.raises(TreeError, match=says):
            one.check_fits(np.array([2, 0, 0]), Schema(columns))


def test_a_surrogate_answers_a_child_or_that_it_does_not_know():
    two = Surrogates([0, 2, 2, 2], [0, 1], [2.5, np.nan], [1, 0], [0, 0, 3], [1, 2, 0], [0.9, 0.8])
    assert [two.side(0, value) for value in (2.4, 2.5, 2.6, np.nan)] == [1, 1, 0, 2]
    assert [two.side(1, value) for value in (0, 1, 2, -1)] == [1, 2, 0, 2]
