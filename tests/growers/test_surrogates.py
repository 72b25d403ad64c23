"""Surrogate splits against slow and obvious twins."""

import json
import pickle
import re

import numpy as np
import pytest

import secateur
from secateur import Column, Model, Pruning, Schema, TreeClassifier, TreeRegressor, count, encode, grow
from secateur.core.surrogates import Surrogates
from secateur.errors import ModelFileError, ParameterError, TreeError, UnsupportedError
from secateur.inspection import explain
from secateur.modelfile import dumps_model, loads_model
from secateur.routing import apply, plan_count


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


def sides(tree, v, table, rows):
    """The child that the test of a node sends each row to, 2 where its value is missing."""
    values = table.columns[tree.feature[v]][rows]
    codes = tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
    if len(codes):
        return codes[values].astype(int)
    return np.where(np.isnan(values), 2, values > tree.threshold[v])


def gaps_as_minus_one(table, j, rows):
    values = table.columns[j][rows].astype(float)
    if table.schema.columns[j].kind == "nominal":
        values[values == len(table.schema.columns[j].categories)] = -1
    return values


def check_node(tree, v, table, rows, weight, k):
    """The surrogates of a node are the best of all tests of all other columns, and agree with as many as they say."""
    side, surrogates = sides(tree, v, table, rows), tree.surrogates
    own = np.ones(len(rows)) if weight is None else weight[rows]
    expected = {}
    for j, about in enumerate(table.schema.columns):
        best = best_of_column(gaps_as_minus_one(table, j, rows), side, own, about.kind == "nominal")
        if j != tree.feature[v] and best is not None:
            expected[j] = best
    order = sorted(expected, key=lambda j: (-expected[j][0], -expected[j][1], j))[:k]
    here = surrogates.of(v)
    assert surrogates.feature[here].tolist() == order
    assert surrogates.agreement[here] == pytest.approx([expected[j][0] for j in order])
    for s, j in zip(here, order, strict=True):
        values = gaps_as_minus_one(table, j, rows)
        goes = np.array([surrogates.child_for(s, value) for value in values])
        both = (goes < 2) & (side < 2)
        assert np.sum(own[both & (goes == side)]) / np.sum(own[both]) == pytest.approx(surrogates.agreement[s])
    return len(order)


@pytest.mark.lane
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("k", [1, 9])
def test_surrogates_agree_best_of_all_tests_of_each_column(seed, is_weighted, k):
    table = mixed(seed, 40)
    weight = np.random.default_rng(seed).integers(1, 4, 40).astype(float) if is_weighted else None
    tree, _ = grow(table, surrogates=k, sample_weight=weight)
    leaves = apply(tree, table)
    checked = 0
    for v in tree.internal.tolist():
        if tree.threshold[v] == np.inf:
            assert len(tree.surrogates.of(v)) == 0
            continue
        rows = np.flatnonzero((leaves >= v) & (leaves < tree.end[v]))
        checked += check_node(tree, v, table, rows, weight, k)
    assert checked > 0


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


@pytest.mark.parametrize("criterion", ["entropy", "sqrt", "squared_error"])
def test_surrogates_of_other_criteria_are_those_of_the_rows_that_reach_the_node(criterion):
    table = mixed(3, 150, 0.3)
    if criterion == "squared_error":
        table = encode(table, target=np.nan_to_num(table.columns[1]) + table.target, target_kind="number")
    tree, _ = grow(table, surrogates=3, max_depth=3, criterion=criterion)
    leaves = apply(tree, table)
    checked = 0
    for v in tree.internal.tolist():
        if tree.threshold[v] != np.inf:
            rows = np.flatnonzero((leaves >= v) & (leaves < tree.end[v]))
            checked += check_node(tree, v, table, rows, None, 3)
    assert checked > 1
    assert int(tree.depth.max()) <= 3


def test_two_valued_columns_are_surrogates_in_both_directions():
    table = encode(
        [[float(i), 5.0 * (i > 3), 5.0 * (i <= 3), "no" if i > 3 else "yes", 1.0 * (i % 2)] for i in range(8)],
        target=[0] * 4 + [1] * 4,
    )
    tree, _ = grow(table, surrogates=4)
    surrogates = tree.surrogates
    assert check_node(tree, 0, table, np.arange(8), None, 4) == 3
    assert surrogates.threshold[:2].tolist() == [2.5, 2.5]
    assert surrogates.low[:2].tolist() == [0, 1]
    assert surrogates.branch.tolist() == [1, 0]  # no, yes
    gaps = encode([[None, 5.0, 0.0, "no", 0.0], [None, 0.0, 5.0, "yes", 0.0]], schema=table)
    assert apply(tree, gaps).tolist() == [2, 1]


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
    small = plan_count(tree, (*names, "y"), "y")
    pd = pytest.importorskip("pandas")
    batch = pd.DataFrame(frame | {"y": table.schema.classes[table.target]})
    assert small.leaves(batch).tolist() == apply(tree, table).tolist()
    tally = small(batch).finish(tree, "grow")
    assert np.array_equal(tally.by_class, model.grown.by_class)
    assert tally.sketch == model.grown.sketch


@pytest.mark.parametrize("name", [*(name for name, facts in secateur.exports.EXPORTS.items() if facts.runs), "rules"])
def test_exports_that_run_refuse_surrogates(name):
    if name == "onnx":
        pytest.importorskip("onnx")
    with pytest.raises(UnsupportedError, match="surrogates=0"):
        secateur.exports.export(fitted()[1], to=name)


def test_functions_that_do_not_support_surrogates_refuse_them():
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
    assert "prediction: b" in told
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
    surrogates = Surrogates([0, 1, 1, 1], [0], [2.5], [1], [0, 0], [], [0.9])
    schema = Schema((Column("size", "numeric"),))
    surrogates.check_fits(np.array([2, 0, 0]), schema)
    for arity, says in (([2, 0, 0, 0], "5 are needed"), ([3, 0, 0], "two children"), ([0, 2, 0], "a leaf has none")):
        with pytest.raises(TreeError, match=says):
            surrogates.check_fits(np.array(arity), schema)
    for columns, says in (((), "a column is needed"), ((Column("size", "nominal", ("a",)),), "number of categories")):
        with pytest.raises(TreeError, match=says):
            surrogates.check_fits(np.array([2, 0, 0]), Schema(columns))


def test_a_surrogate_answers_a_child_or_that_it_does_not_know():
    two = Surrogates([0, 2, 2, 2], [0, 1], [2.5, np.nan], [1, 0], [0, 0, 3], [1, 2, 0], [0.9, 0.8])
    assert [two.child_for(0, value) for value in (2.4, 2.5, 2.6, np.nan)] == [1, 1, 0, 2]
    assert [two.child_for(1, value) for value in (0, 1, 2, -1)] == [1, 2, 0, 2]


def test_the_surrogates_of_some_nodes_are_taken_along_and_a_share_of_nothing_is_one():
    three = Surrogates(
        [0, 2, 3, 3, 3, 3], [7, 8, 9], [1.5, np.nan, np.nan], [1, 0, 0], [0, 0, 2, 5], [0, 1, 1, 0, 2], [0.0, 0.5, 0.9]
    )
    last = three.select_nodes(np.array([1]), np.array([True]))
    assert (last.feature.tolist(), last.branch.tolist(), last.start.tolist()) == ([9], [1, 0, 2], [0, 1])
    ends = three.select_nodes(np.array([0, 1, 4]), np.array([True, False, False]))
    assert (ends.feature.tolist(), ends.branch.tolist(), ends.start.tolist()) == ([7, 8], [0, 1], [0, 2, 2, 2])


def test_a_smaller_tree_hashes_rows_as_the_grown_tree_does():
    table = mixed(0)
    tree, _ = grow(table, surrogates=2)
    assert tree.surrogates is not None
    small = Pruning.from_cuts(tree, [1]).to_tree()
    assert small.row_key is tree.row_key


@pytest.mark.parametrize("values", [(0.0, 1.0), (-2.5, 7.0)])
def test_a_column_of_two_values_replaces_a_missing_one_while_growing(values):
    """Growing sends the rows without a value of the tested column where routing sends them later."""
    rng = np.random.default_rng(6)
    a = rng.normal(size=400)
    b = np.where(rng.random(400) < 0.4, rng.random(400) < 0.5, a > 0)
    X = np.column_stack([np.where(rng.random(400) < 0.1, np.nan, a), np.where(b, *values[::-1])])
    y = (a > 0).astype(int)
    tree, grown = grow(X, y, surrogates=1, max_depth=1)

    assert tree.feature[0] == 0
    assert tree.surrogates.feature[tree.surrogates.of(0)].tolist() == [1]
    assert (count(tree, X, y).by_class == grown.by_class).all()
    followed_b = np.isnan(X[:, 0]) & b
    above = list(tree.children(0))[1]
    assert grown.total[above] == (X[:, 0] > tree.threshold[0]).sum() + followed_b.sum()
