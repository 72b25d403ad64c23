"""Edits of a grown tree: what is stated is there, all else is grown by the usual rules, and certificates stay honest."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import secateur
from secateur import TreeClassifier, TreeRegressor, engines
from secateur.data.encoding import encode_weighted_rows
from secateur.errors import DataError, LeakageError, ParameterError, SecateurWarning, UnsupportedError
from secateur.growers.by_hand import HandGrower
from secateur.growers.parameters import GrowParameters
from secateur.growers.subtree import GrowingRows
from secateur.model_selection import Edit, edits_document
from secateur.model_selection._edit_model import apply_edits
from secateur.routing import apply

COLUMNS = ["age", "income", "postcode", "rate"]


def people(n=400, seed=0):
    """Return rows with numbers, missing numbers and categories, and a class that depends on age and postcode."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": rng.normal(50, 15, n).round(1),
            "postcode": rng.choice(list("ABCDEFGH"), n),
            "rate": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(1)),
        }
    )
    is_yes = ((X.age > 40) ^ X.postcode.isin(list("ABC"))) ^ (rng.random(n) < 0.15)
    return X, np.where(is_yes, "yes", "no")


def fitted(n=400, **parameters):
    """Return a fitted estimator of a single growing candidate, with its rows."""
    X, y = people(n)
    return TreeClassifier(**{"criterion": "gini", "cv": 3, "cv_repeats": 1} | parameters).fit(X, y), X, y


def columns_below(tree, node=0):
    """Return the names of the columns that are tested at and below a node."""
    names = tree.schema.names
    return {names[j] for j in tree.feature[node : tree.end[node]].tolist() if j >= 0}


def shape(tree, node=0):
    """Return structure and tests of a subtree, in a form that does not depend on where it is."""
    names, nodes = tree.schema.names, range(node, int(tree.end[node]))
    return [
        (
            int(tree.parent[v]) - node if v > node else -1,
            names[tree.feature[v]] if tree.feature[v] >= 0 else "",
            float(np.nan_to_num(tree.threshold[v], nan=-9e99)),
            int(tree.default[v]),
            tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]].tolist(),
        )
        for v in nodes
    ]


def test_the_task_list_use_income_first_forbid_postcode_prune_to_eight_leaves_certify():
    model, X, y = fitted()
    assert "postcode" in columns_below(model.tree_)
    edited = model.edit(
        [Edit("split", node=0, column="income"), Edit("forbid", node=0, column="postcode")], X, y
    ).prune_to(n_leaves=8)
    assert isinstance(edited, TreeClassifier)
    assert edited.tree_.feature[0] == COLUMNS.index("income")
    assert "postcode" not in columns_below(edited.tree_)
    assert edited.get_n_leaves() == 8
    fresh = people(300, seed=9)
    certified = edited.certified_on(*fresh)
    assert certified.certificate_.certified
    assert certified.certificate_.value > 1 - certified.score(*fresh)
    assert "postcode" not in certified.export_sql()
    assert [one["text"] for one in certified.model_.metadata["edits"]] == [
        "split node 0 by income", "forbid postcode at and below node 0",
    ]  # fmt: skip
    assert "changed by hand: split node 0 by income; forbid postcode" in str(certified.summary())


def test_below_a_stated_split_each_side_is_the_tree_that_grow_makes_of_its_rows():
    model, X, y = fitted(select=None)
    tree = model.edit([{"action": "split", "node": 0, "column": "age", "threshold": 33.5}], X, y).tree_
    assert tree.threshold[0] == 33.5
    is_left = (X.age <= 33.5).to_numpy()
    for child, rows in zip(tree.children(0), (is_left, ~is_left), strict=True):
        table = secateur.encode(X[rows], schema=tree.schema, target=y[rows])
        alone, _ = secateur.grow(table)
        assert shape(alone) == shape(tree, child)


def test_forbidding_a_column_at_the_root_grows_the_tree_without_the_column():
    model, X, y = fitted(select=None)
    edited = model.edit([Edit("forbid", node=0, column="postcode")], X, y).tree_
    without, _ = secateur.grow(X.drop(columns="postcode"), y)
    assert shape(edited) == shape(without)


def test_an_explanation_states_what_the_nodes_on_the_path_could_have_asked():
    model, X, y = fitted(certify=True)
    explained = model.explain(X, index=3, X=X, y=y)
    assert [found.node for found in explained.candidates] == [step.node for step in explained.path.steps]
    for found in explained.candidates:
        assert found == secateur.candidates(model.model_, found.node, X, y)
        assert found[0].is_current
    assert str(explained).count("could have asked instead") == len(explained.path.steps)
    assert model.explain(X, index=3).candidates == ()


def test_the_rest_of_the_tree_is_kept():
    model, X, y = fitted(select=None)
    tree = model.tree_
    node = next(v for v in tree.internal.tolist() if tree.depth[v] == 2)
    edited = model.edit([Edit("split", node=node, column="income")], X, y).tree_
    assert edited.feature[node] == COLUMNS.index("income")
    assert shape(edited)[:node] == shape(tree)[:node]
    after = edited.n_nodes - (tree.n_nodes - int(tree.end[node]))
    for name in ("feature", "threshold", "default", "score", "rounded"):
        np.testing.assert_array_equal(getattr(edited, name)[after:], getattr(tree, name)[tree.end[node] :])


def test_a_leaf_that_is_grown_anew_is_the_tree_before():
    model, X, y = fitted(select=None)
    node = int(model.tree_.internal[3])
    smaller = model.edit([Edit("leaf", node=node)], X, y)
    assert smaller.tree_.is_leaf[node]
    again = smaller.edit([Edit("regrow", node=node)], X, y)
    assert shape(again.tree_) == shape(model.tree_)
    assert [one["at"] for one in again.model_.metadata["edits"]] == [None, node]


def test_forbidden_columns_stay_forbidden_in_later_edits():
    model, X, y = fitted(select=None)
    first = model.edit([Edit("forbid", node=0, column="postcode")], X, y)
    second = first.edit([Edit("split", path=(), column="rate"), Edit("regrow", path=(1,))], X, y)
    assert "postcode" not in columns_below(second.tree_)
    with pytest.raises(ParameterError, match="forbidden"):
        first.edit([Edit("split", node=1, column="postcode")], X, y)


def test_the_order_of_a_stated_root_and_a_forbidden_column_does_not_matter():
    model, X, y = fitted(select=None)
    edits = [Edit("split", node=0, column="income"), Edit("forbid", node=0, column="postcode")]
    assert shape(model.edit(edits, X, y).tree_) == shape(model.edit(edits[::-1], X, y).tree_)


def test_nodes_keep_the_numbers_of_the_tree_that_the_edits_were_made_for():
    model, X, y = fitted(select=None)
    left, right = list(model.tree_.children(0))
    edited = model.edit([Edit("leaf", node=left), Edit("split", node=right, column="income")], X, y)
    assert edited.tree_.is_leaf[1]
    assert edited.tree_.feature[2] == COLUMNS.index("income")
    assert [one["at"] for one in edited.model_.metadata["edits"]] == [1, 2]
    with pytest.raises(ParameterError, match="no longer exists"):
        model.edit([Edit("leaf", node=0), Edit("leaf", node=left)], X, y)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"action": "split", "node": 0, "column": "agee"}, "no such column"),
        ({"action": "split", "node": 99999, "column": "age"}, "nodes 0 to"),
        ({"action": "split", "path": [0, 7], "column": "age"}, "child 7 does not exist"),
        ({"action": "split", "node": 0, "column": "age", "threshold": 500}, "no rows"),
        ({"action": "split", "node": 0, "column": "age", "categories": ["A"]}, "threshold is needed"),
        ({"action": "split", "node": 0, "column": "postcode", "threshold": 1.0}, "categories is needed"),
        ({"action": "split", "node": 0, "column": "postcode", "categories": ["Z"]}, "no category 'Z'"),
        ({"action": "split", "node": 0, "column": "age", "threshold": "old"}, "a number is needed"),
        ({"action": "cut", "node": 0}, "one of 'split'"),
        ({"action": "leaf"}, "a node or a path"),
        ({"action": "leaf", "node": 0, "column": "age"}, "has no column"),
        ({"action": "forbid", "node": 0}, "needs a column"),
        ({"action": "leaf", "node": 0, "why": "x"}, "why"),
        ({"action": "leaf", "node": 0, "looked_at": "moon"}, "samples that this model has met"),
    ],
)
def test_an_edit_that_cannot_be_made_is_refused_with_the_reason(edit, message):
    model, X, y = fitted(select=None)
    with pytest.raises(ParameterError, match=message):
        model.edit([edit], X, y)


def test_stated_splits_respect_the_size_of_leaves_and_monotone_constraints():
    model, X, y = fitted(select=None, min_samples_leaf=30)
    with pytest.raises(ParameterError, match="allows no fewer than 30"):
        model.edit([Edit("split", node=0, column="age", threshold=18.5)], X, y)
    model, X, y = fitted(select=None, monotonic_cst={"age": -1})
    with pytest.raises(ParameterError, match="monotonic_cst"):
        model.edit([Edit("split", node=0, column="age", threshold=40.5)], X, y)
    edited = model.edit([Edit("split", node=0, column="postcode", categories=["A", "B"])], X, y)
    ages = pd.DataFrame({"age": np.arange(18.0, 80), "income": 50.0, "postcode": "A", "rate": 0.0})
    assert (np.diff(edited.predict_proba(ages)[:, 1]) <= 0).all()


def test_other_rows_than_the_growing_rows_are_refused():
    model, X, y = fitted(select=None)
    with pytest.raises(DataError, match="not those that grew the tree"):
        model.edit([Edit("leaf", node=0)], *people(400, seed=3))
    with pytest.raises(DataError, match="not those that grew the tree"):
        model.candidates(0, *people(400, seed=3))
    with pytest.raises(DataError, match="not those that grew the tree"):
        model.edit([Edit("leaf", node=0)], X, y, np.full(len(y), 2.0))


def test_growth_that_cannot_be_edited_is_refused_by_name():
    model, X, y = fitted(select=None, growth="best-first")
    with pytest.raises(UnsupportedError, match="best-first"):
        model.edit([Edit("leaf", node=0)], X, y)
    model, X, y = fitted(select=None, surrogates=2)
    with pytest.raises(UnsupportedError, match="surrogate"):
        model.edit([Edit("leaf", node=0)], X, y)
    assert model.candidates(0, X, y)[0].is_current
    model, X, y = fitted(select=None, splits="multiway")
    with pytest.raises(UnsupportedError, match="multiway"):
        model.edit([Edit("split", node=0, column="postcode", categories=["A"])], X, y)
    edited = model.edit([Edit("split", node=0, column="postcode")], X, y)
    assert edited.tree_.arity[0] == 8


@pytest.mark.parametrize("has_weights", [False, True])
def test_regression_trees_are_edited_in_the_same_way(has_weights):
    X, _ = people(300)
    y = np.random.default_rng(1).normal(size=300) + X.age.to_numpy() / 20
    weight = np.random.default_rng(2).random(300) + 0.5 if has_weights else None
    model = TreeRegressor(cv=3, min_samples_leaf=5).fit(X, y, weight)
    assert model.candidates(0, X, y, weight)[0].is_current
    edited = model.edit(
        [Edit("split", node=0, column="income"), Edit("forbid", node=0, column="postcode")], X, y, weight
    )
    assert isinstance(edited, TreeRegressor)
    assert edited.tree_.feature[0] == COLUMNS.index("income")
    assert "postcode" not in columns_below(edited.tree_)
    rows = np.flatnonzero(apply(edited.tree_, X) < edited.tree_.end[1])
    share = None if weight is None else weight[rows]
    assert edited.counts_.mean[1] == pytest.approx(np.average(y[rows], weights=share))
    alone, _ = secateur.grow(
        secateur.encode(X.iloc[rows].drop(columns="postcode"), target=y[rows], target_kind="number"),
        criterion="squared_error", min_samples_leaf=5, sample_weight=share,
    )  # fmt: skip
    assert [step[1:3] for step in shape(alone)] == [step[1:3] for step in shape(edited.tree_, 1)]


@pytest.mark.parametrize(
    "edits",
    [
        [Edit("split", node=0, column="income")],
        [Edit("split", node=0, column="income", threshold=45.0), Edit("split", path=(1,), column="rate")],
        [Edit("forbid", node=0, column="postcode"), Edit("leaf", path=(1,))],
        [Edit("leaf", path=(0, 0)), Edit("forbid", path=(1,), column="age")],
        [Edit("split", path=(0,), column="postcode", categories=["A", "H"]), Edit("forbid", node=0, column="rate")],
    ],
)
def test_the_top_that_folds_grow_from_gives_the_edited_tree_on_all_rows(edits):
    X, y = people(300)
    rows = encode_weighted_rows(X, y, None, target_kind="class", nominal=None, purpose="growing")
    parameters = GrowParameters(min_samples_leaf=3)
    tree, _ = secateur.grow(X, y, min_samples_leaf=3)
    edited = apply_edits(tree, edits, HandGrower(GrowingRows(rows), parameters))
    top = edited.fixed_top
    assert top.tree.n_nodes <= 7
    assert shape(top.grow(rows, parameters).tree) == shape(edited.tree)


def test_the_trees_of_folds_have_what_was_stated_and_the_size_is_chosen_by_them():
    model, X, y = fitted(600)
    edited = model.edit([Edit("split", node=0, column="income"), Edit("forbid", node=0, column="postcode")], X, y)
    selection = edited.selection_
    # Without the postcode, nothing explains the classes well; the unedited tree finds the postcode below any test.
    assert selection.error.min() > model.selection_.error.min() + 0.05
    kept = model.edit([Edit("split", node=0, column="income")], X, y).selection_
    assert kept.error.min() < selection.error.min() - 0.03
    same = model.edit([Edit("regrow", node=0)], X, y).selection_
    np.testing.assert_array_equal(same.error, model.selection_.error)


def test_the_chosen_candidate_of_the_search_is_kept():
    X, y = people(300)
    model = TreeClassifier(cv=3, cv_repeats=1).fit(X, y)
    edited = model.edit([Edit("regrow", node=0)], X, y)
    assert edited.selection_.growing["criterion"] == model.selection_.growing["criterion"]
    assert shape(edited.tree_) == shape(model.tree_)
    np.testing.assert_array_equal(edited.selection_.error, model.selection_.error)


@pytest.mark.parametrize(
    "parameters", [{"prune": "reduced-error"}, {"select": "holdout"}, {"select": 6}, {"prune": None}]
)
def test_other_ways_to_prune_work_as_for_a_grown_tree(parameters):
    model, X, y = fitted(**parameters)
    edited = model.edit([Edit("split", node=0, column="income")], X, y)
    assert edited.tree_.feature[0] == COLUMNS.index("income")
    assert edited.counts_.total[0] == model.counts_.total[0]
    if model.holdout_ is not None:
        assert edited.holdout_.total[0] == model.holdout_.total[0]
    if parameters.get("select") == 6:
        assert edited.get_n_leaves() == 6


def test_weights_class_weights_groups_and_held_out_rows_are_those_of_fit():
    X, y = people(300)
    weight = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    model = TreeClassifier(class_weight="balanced", criterion="gini", cv=3).fit(X, y, weight)
    edited = model.edit([Edit("regrow", node=0)], X, y, weight)
    np.testing.assert_array_equal(edited.counts_.by_class, model.counts_.by_class)
    frame = X.assign(house=np.arange(300) // 3)
    model = TreeClassifier(criterion="gini", cv=3).fit(frame, y, groups="house")
    edited = model.edit([Edit("regrow", node=0)], frame, y, groups="house")
    assert edited.model_.metadata["groups_column"] == "house"
    np.testing.assert_array_equal(edited.selection_.error, model.selection_.error)
    other = people(100, seed=4)
    model = TreeClassifier(criterion="gini", cv=3, certify=True).fit(X, y, X_holdout=other[0], y_holdout=other[1])
    edited = model.edit([Edit("leaf", node=1)], X, y, X_holdout=other[0], y_holdout=other[1])
    assert edited.holdout_.total[0] == 100


def test_the_edited_model_is_saved_loaded_and_edited_again(tmp_path):
    model, X, y = fitted()
    edited = secateur.edit(model, [Edit("split", node=0, column="income")], X, y)
    edited.save(tmp_path / "model.json")
    loaded = secateur.load(tmp_path / "model.json")
    assert loaded.model_.metadata["edits"] == edited.model_.metadata["edits"]
    np.testing.assert_array_equal(loaded.predict(X), edited.predict(X))
    again = loaded.edit([Edit("forbid", node=0, column="postcode")], X, y)
    assert [one["action"] for one in again.model_.metadata["edits"]] == ["split", "forbid"]
    assert again.tree_.feature[0] == COLUMNS.index("income")
    as_model = secateur.edit(edited.model_, [Edit("forbid", node=0, column="postcode")], X, y)
    assert isinstance(as_model, secateur.Model)
    assert shape(as_model.tree) == shape(again.tree_)


@pytest.mark.parametrize(
    "edits", [5, ["x"], [{"action": "leaf", "node": 0, "at": 99999}], [{"action": "cut", "node": 0, "at": 0}], [{}]]
)
def test_edits_in_the_metadata_that_are_not_valid_are_refused_when_they_are_needed(edits):
    model, X, y = fitted(select=None)
    changed = TreeClassifier.from_model(replace(model.model_, metadata={"edits": edits}))
    assert "of" in str(changed.summary())
    assert changed.report().html
    with pytest.raises(ParameterError):
        changed.edit([Edit("leaf", node=0)], X, y)


def test_means_of_an_edited_regression_tree_keep_their_order():
    X, _ = people(300)
    y = np.random.default_rng(1).normal(size=300).round(1) + (X.age.to_numpy() // 20)
    model = TreeRegressor(prune=None, monotonic_cst={"age": 1, "income": 1}).fit(X, y)
    edited = model.edit([Edit("split", node=0, column="postcode")], X, y)
    for postcode in "ABH":
        rows = pd.DataFrame({"age": np.arange(18.0, 80), "income": 50.0, "postcode": postcode, "rate": 0.0})
        assert (np.diff(edited.predict(rows)) >= 0).all()


def test_rows_in_files_are_counted_in_an_edited_tree_that_tests_other_columns(tmp_path):
    X, _ = people(200)
    y = np.where(X.age > 40, "yes", "no")
    model = TreeClassifier(criterion="gini", select=None).fit(X, y)
    assert model.tree_.row_key.columns == (0,)
    tree = model.edit([Edit("split", node=0, column="income"), Edit("forbid", node=0, column="age")], X, y).tree_
    assert tree.row_key.columns == (0,)
    assert 0 not in tree.tested_columns
    X.assign(outcome=y).to_csv(tmp_path / "rows.csv", index=False)
    in_memory = secateur.count(tree, X, y)
    from_file = engines.count(tree, str(tmp_path / "rows.csv"), target="outcome")
    np.testing.assert_array_equal(from_file.by_class, in_memory.by_class)
    assert from_file.sketch == in_memory.sketch
    assert from_file.sketch is not None


def test_a_file_of_edits_gives_the_same_model_and_is_refused_for_another_tree(tmp_path):
    model, X, y = fitted()
    edits = [Edit("split", node=0, column="income", threshold=44.5), Edit("forbid", node=0, column="postcode")]
    path = tmp_path / "edits.json"
    path.write_text(json.dumps(edits_document(edits, model.tree_)))
    assert model.edit(path, X, y).model_ == model.edit(edits, X, y).model_
    other = TreeClassifier(criterion="entropy", select=None).fit(X, y)
    with pytest.raises(ParameterError, match="another tree"):
        other.edit(path, X, y)
    for content in ("[", "3", '{"format": "x"}', '{"format": "secateur edits", "version": 2, "edits": []}'):
        path.write_text(content)
        with pytest.raises(ParameterError):
            model.edit(path, X, y)


def noise(n, seed):
    """Return rows whose class is independent of all columns."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 8)), rng.integers(0, 2, n)


def split_of_held_out(model, X, y):
    """Return the edit that makes the best root for the held-out rows."""
    best = model.candidates(0, X, y, sample="prune")[0]
    return {"action": "split", "node": 0, "column": best.column, "threshold": best.threshold}


@pytest.mark.parametrize("looked_at", ["growing", "held-out", "prune"])
def test_rows_that_chose_a_split_cannot_certify_the_edited_tree(looked_at):
    (X, y), (X_held, y_held) = noise(60, 0), noise(60, 1)
    model = TreeClassifier(criterion="gini", certify=True, select=2).fit(X, y, X_holdout=X_held, y_holdout=y_held)
    edit = split_of_held_out(model, X_held, y_held) | {"looked_at": looked_at}
    with pytest.raises(LeakageError, match="cannot certify"):
        model.edit([edit], X, y, X_holdout=X_held, y_holdout=y_held)
    later = TreeClassifier.from_model(model.model_).set_params(certify=None)
    with pytest.warns(SecateurWarning, match="has learnt these rows"):
        later = later.edit([edit], X, y, X_holdout=X_held, y_holdout=y_held)
    assert "prune" in later.tree_.history
    with pytest.raises(LeakageError):
        later.certified_on(X_held, y_held, sample="again")
    assert later.certified_on(*noise(60, 2)).certificate_.certified


def test_the_record_of_candidates_is_saved_with_the_model(tmp_path):
    (X, y), held_out = noise(60, 0), noise(60, 1)
    model = TreeClassifier(criterion="gini", select=2).fit(X, y)
    edit = split_of_held_out(model, *held_out)
    model.save(tmp_path / "model.json")
    del model
    edited = secateur.load(tmp_path / "model.json").edit([edit], X, y)
    with pytest.raises(LeakageError):
        edited.certified_on(*held_out, sample="prune")


def test_held_out_rows_evaluated_before_the_edit_certify_by_a_method_that_pays():
    model, X, y = fitted(certify=True)
    assert model.certificate_.method == "test sample, exact tail"
    edited = model.edit([Edit("split", node=0, column="income")], X, y)
    assert edited.certificate_.certified
    assert edited.certificate_.method != "test sample, exact tail"
    fresh = TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(X, y)
    fresh = fresh.edit([Edit("split", node=0, column="income")], X, y)
    assert fresh.certified_on(*people(300, seed=5)).certificate_.method == "test sample, exact tail"


def test_certificates_of_edited_trees_fail_on_noise_no_more_often_than_delta():
    n_runs, delta, n_wrong = 25, 0.2, 0
    for seed in range(n_runs):
        X, y = noise(90, seed)
        model = TreeClassifier(criterion="gini", certify=True, select=3, delta=delta).fit(X, y)
        root = model.candidates(0, X, y)[1]
        edit = {"action": "split", "node": 0, "column": root.column, "threshold": root.threshold}
        n_wrong += model.edit([edit], X, y).certificate_.value < 0.5
    # A certificate that fails with probability 0.2 fails more than 11 times of 25 in one of 600 such tests.
    assert n_wrong <= 11
