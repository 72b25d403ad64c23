"""From rows to a model: every rule, every way of choosing, and the order that keeps certificates true."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold

from oracles import all_prunings
from secateur import TreeClassifier, TreeRegressor, __version__, count, encode, grow, prune
from secateur.certifiers import path
from secateur.certifiers import test_sample as certify_test_sample
from secateur.core import DataRecord
from secateur.errors import DataError, LeakageError, ParameterError, PruningError, UnsupportedError
from secateur.model_selection import Recipe, certify_model, fit_model, path_table, prune_to
from secateur.model_selection.losses import Scoring, leaf_predictions
from secateur.pruners import RULES
from secateur.routing.prediction import node_probabilities, predict, predict_proba
from secateur.statistics import PROBABILITIES


def noisy(n=240, n_classes=3, seed=0):
    """Rows with a rule in them, a tenth of the labels wrong, mixed columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    X[rng.random((n, 4)) < 0.03] = np.nan
    y = (X[:, 0] > 0).astype(int) + (np.nan_to_num(X[:, 1]) > 0.5) * (n_classes > 2)
    y = np.where(rng.random(n) < 0.1, rng.integers(0, n_classes, n), y)
    return X, np.array(["ash", "birch", "cedar"])[y]


X, Y = noisy()
TABLE = encode(X, target=Y)
GINI = {"criterion": "gini"}


def same(a, b):
    """Whether two models predict by the same tests."""
    return (
        a.pruned_tree == b.pruned_tree
        and a.pruning.labels[a.pruning.leaves].tolist() == b.pruning.labels[b.pruning.leaves].tolist()
    )


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_of_the_registry_makes_a_model(rule):
    parameters = {"accuracy": 0.8} if rule == "smallest-within" else {}
    model = fit_model(TABLE, Recipe(growing=GINI, prune=rule, prune_parameters=parameters))
    assert 1 <= model.pruning.n_leaves <= model.tree.n_leaves
    assert (model.holdout is not None) == ("holdout" in RULES[rule].samples or rule in OTHER_SEQUENCES)
    assert (model.sequence is not None) == (RULES[rule].returns == "sequence")
    assert predict(model, X).dtype == Y.dtype


OTHER_SEQUENCES = {"best-of-size", "greedy", "weakest-links", "critical-value"}


@pytest.mark.parametrize("how", ["1se", "0se", "0.5se", "holdout", "certificate", 0.7, 4, None])
@pytest.mark.parametrize("rule", ["cost-complexity", "greedy", "best-of-size"])
def test_every_choice_is_a_member_of_the_sequence(rule, how):
    model = fit_model(TABLE, Recipe(growing=GINI, prune=rule, select=how, cv=5))
    if how is None:
        assert model.pruning.n_leaves == model.tree.n_leaves
    else:
        assert any((member.is_leaf == model.pruning.is_leaf).all() for member in model.sequence)
    if how == 4:
        fits = [n for n in model.sequence.n_leaves if n <= 4]
        assert model.pruning.n_leaves == max(fits)
    if how == "certificate":
        assert (
            model.certificate.value
            == min(
                certify_model(prune_to(model, n_leaves=int(n)), method="path").value for n in model.sequence.n_leaves
            )
            or rule == "cost-complexity"
        )  # whose members have weights of their own


def test_more_standard_errors_never_give_a_larger_tree():
    sizes = [
        fit_model(TABLE, Recipe(growing=GINI, select=how, cv=5)).pruning.n_leaves
        for how in ("0se", "0.5se", "1se", "3se")
    ]
    assert sizes == sorted(sizes, reverse=True)


def test_an_accuracy_chooses_the_smallest_member_that_reaches_it():
    model = fit_model(TABLE, Recipe(growing=GINI, select=0.7, cv=5))
    reached = 1 - model.selection.error
    leaves = model.sequence.n_leaves
    assert reached[model.selection.chosen] >= 0.7
    assert all(leaves[i] >= model.pruning.n_leaves for i in range(len(leaves)) if reached[i] >= 0.7)
    with pytest.raises(PruningError, match="the best reaches"):
        fit_model(TABLE, Recipe(growing=GINI, select=0.999, cv=5))


@settings(max_examples=10)
@given(st.integers(0, 1000), st.sampled_from(["cost-complexity", "reduced-error"]))
def test_rows_in_any_order_and_threads_in_any_number_give_the_same_model(seed, rule):
    order = np.random.default_rng(seed).permutation(len(X))
    recipe = Recipe(growing={"criterion": "auto"}, prune=rule, cv=3, cv_repeats=1, certify=True)
    model = fit_model(TABLE, recipe)
    two = fit_model(encode(X[order], target=Y[order]), Recipe(**{**vars(recipe), "n_jobs": 2}))
    assert same(model, two)
    assert model.certificate == two.certificate


@settings(max_examples=10)
@given(st.integers(0, 1000), st.sampled_from([None, "error-based", "minimum-error", "best-of-size"]))
def test_whole_weights_are_repetitions_if_rows_are_not_assigned_to_folds(seed, rule):
    weight = np.random.default_rng(seed).integers(0, 4, len(X))
    recipe = Recipe(growing=GINI, prune=rule, select=5)
    weighted = fit_model(encode(X, target=Y, sample_weight=weight), recipe, sample_weight=weight)
    repeated = fit_model(encode(np.repeat(X, weight, axis=0), target=np.repeat(Y, weight)), recipe)
    for name in ("parent", "feature", "threshold"):  # scores are rounded otherwise
        assert np.array_equal(
            getattr(weighted.pruned_tree, name), getattr(repeated.pruned_tree, name), equal_nan=name == "threshold"
        )
    assert (weighted.grown.by_class == repeated.grown.by_class).all()


@pytest.mark.parametrize("rule", ["cost-complexity", "reduced-error", "greedy"])
def test_a_row_is_held_out_with_all_its_weight(rule):
    """Equal weights deal the rows as no weights do, and choose the same tree."""
    recipe = Recipe(growing=GINI, prune=rule, cv=3, cv_repeats=1, select="0se")
    plain, heavy = fit_model(TABLE, recipe), fit_model(TABLE, recipe, sample_weight=np.full(len(X), 8))
    assert (heavy.pruning.is_leaf == plain.pruning.is_leaf).all()
    if plain.holdout is not None:
        assert (heavy.holdout.by_class == 8 * plain.holdout.by_class).all()
        assert heavy.holdout.n_rows == plain.holdout.n_rows == plain.holdout.total[0]


@pytest.mark.parametrize(
    "recipe", [{"certify": True}, {"select": "certificate"}, {"prune": "reduced-error", "certify": "occam"}]
)
def test_weighted_held_out_rows_are_refused_before_growing(recipe):
    with pytest.raises(UnsupportedError, match=r"rows held out to certify have weights .*certified_on"):
        fit_model(TABLE, Recipe(growing=GINI, **recipe), sample_weight=np.full(len(X), 8))
    assert fit_model(TABLE, Recipe(growing=GINI, cv=3, **recipe), sample_weight=np.ones(len(X))).certificate is not None


def test_the_seed_decides_which_rows_are_held_out():
    held = [fit_model(TABLE, Recipe(growing=GINI, prune="reduced-error", seed=s)).holdout for s in (0, 0, 1)]
    assert held[0] == held[1]
    assert held[0] != held[2]


def test_explicit_folds_name_the_rows_of_the_table():
    splitter = KFold(4, shuffle=True, random_state=0)
    model = fit_model(TABLE, Recipe(growing=GINI, cv=splitter))
    two = fit_model(TABLE, Recipe(growing=GINI, cv=list(splitter.split(X))))
    assert model.selection.error.tolist() == two.selection.error.tolist()
    assert model.selection.details["folds"] == 4


def test_a_certificate_after_cross_validation_is_from_held_out_rows():
    model = fit_model(TABLE, Recipe(growing=GINI, cv=5, certify=True))
    assert model.metadata["rows"] + model.metadata["held_out_rows"] == len(X)
    assert model.holdout.sample not in model.pruning.seen
    assert model.certificate == certify_test_sample(model.pruning, model.holdout, delta=0.05)


def test_a_choice_on_held_out_rows_is_certified_for_the_whole_path():
    model = fit_model(TABLE, Recipe(growing=GINI, prune="weakest-links", select="holdout", certify=True))
    bounds = path(model.sequence, model.holdout, delta=0.05)
    assert model.holdout.sample in model.pruning.seen
    assert model.certificate.value in {bound.value for bound in bounds}


def test_fresh_rows_certify_a_fitted_estimator_and_growing_rows_do_not():
    model = TreeClassifier(criterion="gini", cv=3).fit(X, Y).prune_to(n_leaves=4)
    fresh_X, fresh_y = noisy(seed=11)
    certified = model.certified_on(fresh_X, fresh_y)
    errors = int((model.predict(fresh_X) != fresh_y).sum())
    assert (certified.certificate_.errors, certified.certificate_.n) == (errors, len(fresh_y))
    assert model.certificate_ is None
    with pytest.raises(LeakageError, match="grew the tree"):
        model.certified_on(X, Y)


def test_rows_that_pruned_are_refused_as_a_test_sample():
    with pytest.raises(LeakageError, match="prune"):
        fit_model(TABLE, Recipe(growing=GINI, prune="reduced-error", certify="test-sample"))


def test_k_rep_with_a_rademacher_certificate_is_one_call():
    model = TreeClassifier(prune="k-reduced-error", certify="rademacher").fit(X, Y)
    assert model.counts_.total[0] + model.holdout_.total[0] == len(X)
    assert abs(model.holdout_.total[0] - len(X) / 3) <= 1
    k = int(re.fullmatch(r"Rademacher penalty, centred, within (\d+) growing errors", model.certificate_.method)[1])
    assert model.pruning_.errors(model.counts_) <= k
    assert str(k) in model.pruning_.rule
    assert k > 0  # gini trees are pure, and the paper's are not


@pytest.mark.parametrize("method", ["pac-bayes", "occam", "best"])
def test_every_certificate_that_includes_the_price_certifies_k_rep(method):
    assert TreeClassifier(prune="k-reduced-error", certify=method).fit(X, Y).certificate_.certified


def test_k_rep_refuses_a_test_sample_certificate():
    with pytest.raises(LeakageError, match="already helped to choose"):
        TreeClassifier(prune="k-reduced-error", certify="test-sample").fit(X, Y)


def test_an_explicit_held_out_sample_replaces_a_share():
    later_X, later_y = noisy(seed=9)
    model = TreeClassifier(prune="reduced-error").fit(X, Y, X_holdout=later_X, y_holdout=later_y)
    tree, grown = grow(TABLE)
    expected = prune(tree, grown, count(tree, later_X, later_y), rule="reduced-error")
    assert model.tree_ == tree
    assert (model.pruning_.is_leaf == expected.is_leaf).all()


def test_costs_give_labels_prunings_and_choices_of_lowest_cost():
    costs = np.array([[0, 1, 9], [2, 0, 1], [1, 4, 0]])
    held_X, held_y = noisy(80, seed=4)
    model = TreeClassifier(max_depth=3, prune="reduced-error", costs=costs).fit(
        X, Y, X_holdout=held_X, y_holdout=held_y
    )
    expected = model.counts_.by_class @ costs
    assert model.pruning_.node_labels.tolist() == expected.argmin(axis=1).tolist()
    node_cost = (model.holdout_.by_class @ costs)[np.arange(model.tree_.n_nodes), model.pruning_.node_labels]
    least = min((node_cost[list(leaves)].sum(), len(leaves)) for leaves in all_prunings(model.tree_))
    assert (model.pruning_.cost(node_cost), model.pruning_.n_leaves) == least
    paid = costs[np.searchsorted(model.classes_, held_y), np.searchsorted(model.classes_, model.predict(held_X))].sum()
    assert paid == model.pruning_.cost(node_cost)


def test_costs_of_zero_and_one_are_errors():
    plain = TreeClassifier(criterion="gini", cv=5).fit(X, Y)
    priced = TreeClassifier(criterion="gini", cv=5, costs=1 - np.eye(3, dtype=int)).fit(X, Y)
    assert same(plain.model_, priced.model_)
    assert np.allclose(plain.selection_.error, priced.selection_.error)


def test_rules_that_need_classes_refuse_costs_and_numbers():
    with pytest.raises(UnsupportedError, match="reduced-error"):
        TreeClassifier(prune="pessimistic", costs=1 - np.eye(3)).fit(X, Y)
    with pytest.raises(UnsupportedError, match="reduced-error"):
        TreeRegressor(prune="pessimistic").fit(X, np.arange(len(X)))


def test_the_candidate_with_the_lowest_error_wins():
    model = TreeClassifier(cv=3, cv_repeats=1).fit(X, Y)
    pool = model.selection_.pool
    assert [(way["criterion"], way["min_samples_leaf"]) for way in pool] == [("gini", 1), ("sqrt", 1)]
    best = min(pool, key=lambda way: (way["error"], way["n_leaves"]))
    assert model.selection_.growing["criterion"] == best["criterion"]
    assert model.get_n_leaves() == best["n_leaves"]
    fewer = TreeClassifier(min_samples_leaf=5, cv=3, cv_repeats=1).fit(X, Y)
    assert [way["criterion"] for way in fewer.selection_.pool] == ["gini", "sqrt"]
    assert TreeClassifier(criterion="sqrt", cv=3).fit(X, Y).selection_.pool == ()


def test_prune_to_and_snip_give_new_estimators_and_leave_the_old_one():
    model = TreeClassifier(criterion="gini", select=None, cv=5).fit(X, Y)
    whole = model.get_n_leaves()
    small = model.prune_to(n_leaves=5)
    assert small.get_n_leaves() <= 5 < whole == model.get_n_leaves()
    assert small.tree_ is model.tree_
    at_alpha = model.prune_to(alpha=float(model.sequence_.alphas[-1]))
    assert at_alpha.get_n_leaves() == 1
    node = next(iter(model.tree_.children(0)))
    snipped = model.snip(node)
    assert snipped.pruning_.is_leaf[node]
    assert set(snipped.apply(X)) <= set(snipped.pruning_.leaves)
    with pytest.raises(ParameterError, match="exactly one"):
        model.prune_to(n_leaves=3, alpha=0.1)


def test_cutting_a_certified_model_further_gives_the_certificate_of_the_path():
    model = fit_model(TABLE, Recipe(growing=GINI, cv=5, certify=True))
    small = prune_to(model, n_leaves=2)
    assert (
        small.certificate.value
        == path(model.sequence, model.holdout, delta=0.05)[int(np.flatnonzero(model.sequence.n_leaves <= 2)[0])].value
    )


def test_penalties_are_shares_of_the_rows_and_mean_the_same_for_copies_of_the_data():
    once = fit_model(TABLE, Recipe(growing=GINI, select=3))
    thrice = fit_model(encode(np.repeat(X, 3, axis=0), target=np.repeat(Y, 3)), Recipe(growing=GINI, select=3))
    assert np.allclose(once.sequence.alphas, thrice.sequence.alphas)


def test_the_path_table_has_a_row_for_each_member():
    model = fit_model(TABLE, Recipe(growing=GINI, cv=5, certify=True))
    table = path_table(model, model.holdout)
    assert {len(column) for column in table.values()} == {len(model.sequence)}
    assert (table["certified"] >= table["held_out"]).all()
    assert table["leaves"][table["shown"]].tolist() == [model.pruning.n_leaves]


def test_the_path_table_of_numbers_has_squared_errors_and_no_limits():
    rng = np.random.default_rng(5)
    x, held_x = rng.normal(size=(60, 2)), rng.normal(size=(40, 2))
    target, held_target = x[:, 0] + rng.normal(size=60), held_x[:, 0] + rng.normal(size=40)
    recipe = Recipe(growing={"criterion": "squared_error", "max_depth": 3}, prune="reduced-error")
    rows, held_rows = (
        encode(x, target=target, target_kind="number"),
        encode(held_x, target=held_target, target_kind="number"),
    )
    model = fit_model(rows, recipe, held_out=held_rows)
    table = path_table(model, model.holdout)
    assert "certified" not in table
    assert np.isclose(table["growing"][-1], target.var())
    assert np.isclose(table["held_out"][-1], np.mean((held_target - target.mean()) ** 2))


def test_a_model_without_held_out_rows_says_so():
    model = fit_model(TABLE, Recipe(growing=GINI, prune=None))
    expected = {"fitted_with": f"secateur {__version__}", "rows": len(X), "columns": 4, "held_out_rows": 0}
    assert {name: value for name, value in model.metadata.items() if name != "missing_values"} == expected


@pytest.mark.filterwarnings("ignore:every row has the class")
@given(
    st.lists(st.tuples(st.sampled_from([None, 1.0, 2.0]), st.sampled_from([None, "a", "b"])), min_size=12, max_size=30),
    st.sampled_from([0.0, 0.3]),
)
def test_the_missing_values_of_the_growing_rows_are_recorded(cells, holdout):
    rows = [list(row) for row in cells]
    table = encode(rows, names=["number", "word"], target=["no", "yes"] * (len(rows) // 2) + ["no"] * (len(rows) % 2))
    recipe = Recipe(growing=GINI, prune="reduced-error" if holdout else None, holdout=holdout or 1 / 3)
    model = fit_model(table, recipe)
    recorded = {name: n for name, n in model.metadata.get("missing_values", {}).items() if n}
    columns = {column.name: column for column in DataRecord.of(model).columns}
    if not holdout:
        expected = {name: sum(row[j] is None for row in rows) for j, name in enumerate(["number", "word"])}
        assert recorded == {name: n for name, n in expected.items() if n}
    # The held-out rows are not counted: a tree that is grown on the same rows again has the same numbers.
    assert model.metadata["rows"] == model.grown.n_rows
    assert all(columns[name].n_missing == n for name, n in recorded.items())
    assert all(n <= model.metadata["rows"] for n in recorded.values())


def test_rows_of_weight_zero_have_no_recorded_missing_values():
    table = encode([[None], [1.0], [2.0], [None], [3.0]], target=["a", "b", "a", "b", "b"])
    model = fit_model(table, Recipe(growing=GINI, prune=None), sample_weight=[1, 1, 2, 0, 1])
    assert model.metadata["missing_values"] == {"x0": 1}


def test_shrunk_probabilities_follow_the_path_from_the_root():
    model = fit_model(TABLE, Recipe(growing=GINI, select=6))
    shares = node_probabilities(model, kind="frequency")
    shrunk = node_probabilities(model, kind="shrunk")
    total, parent = model.grown.total, model.tree.parent
    for leaf in model.pruning.leaves:
        way = [int(leaf)]
        while parent[way[-1]] >= 0:
            way.append(int(parent[way[-1]]))
        expected = shares[0].copy()
        for above, below in zip(way[::-1][:-1], way[::-1][1:], strict=True):
            expected += (shares[below] - shares[above]) / (1 + 10 / total[above])
        assert np.allclose(shrunk[leaf], expected)


@pytest.mark.parametrize("kind", PROBABILITIES)
def test_probabilities_add_up_to_one_and_do_not_change_predictions(kind):
    model = TreeClassifier(criterion="gini", cv=3, probabilities=kind).fit(X, Y)
    shares = model.predict_proba(X)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()
    assert (model.predict(X) == TreeClassifier(criterion="gini", cv=3).fit(X, Y).predict(X)).all()


def test_m_estimates_add_two_rows_with_the_class_shares_of_the_root():
    model = fit_model(TABLE, Recipe(growing=GINI, select=4))
    root = model.grown.by_class[0] / model.grown.total[0]
    leaf = int(model.pruning.leaves[0])
    expected = (model.grown.by_class[leaf] + 2 * root) / (model.grown.total[leaf] + 2)
    assert np.allclose(node_probabilities(model, kind="m-estimate")[leaf], expected)


def test_a_regression_explains_the_requested_share_of_variance():
    rng = np.random.default_rng(2)
    rows = rng.uniform(0, 10, (400, 2))
    target = np.floor(rows[:, 0]) + rng.normal(0, 0.3, 400)
    model = TreeRegressor(min_samples_leaf=1, select=0.9, cv=5).fit(rows, target)
    assert 1 - model.selection_.error[model.selection_.chosen] / target.var() >= 0.9
    assert model.score(rows, target) >= 0.9
    smaller = model.prune_to(accuracy=0.5)
    assert smaller.get_n_leaves() < model.get_n_leaves()
    assert np.allclose(smaller.predict(rows)[:5], model.counts_.mean[smaller.apply(rows)[:5]])


def test_reduced_error_pruning_of_a_regression_has_the_lowest_squared_error():
    rng = np.random.default_rng(3)
    rows, held = rng.normal(size=(60, 2)), rng.normal(size=(40, 2))
    target, held_target = rows[:, 0] + rng.normal(size=60), held[:, 0] + rng.normal(size=40)
    model = TreeRegressor(max_depth=3, prune="reduced-error").fit(rows, target, X_holdout=held, y_holdout=held_target)
    cost = model.holdout_.squared_errors_if_leaf(model.counts_.mean)
    least = min(cost[list(leaves)].sum() for leaves in all_prunings(model.tree_))
    assert np.isclose(model.pruning_.cost(cost), least)
    assert np.isclose(((model.predict(held) - held_target) ** 2).sum(), least)


def test_a_certificate_for_a_regression_is_refused():
    with pytest.raises(UnsupportedError, match="classification"):
        fit_model(encode(X, target=np.arange(len(X)), target_kind="number"),
                  Recipe(growing={"criterion": "squared_error"}, select="certificate"))  # fmt: skip
    with pytest.raises(UnsupportedError, match="no class probabilities"):
        predict_proba(TreeRegressor().fit(X, np.arange(len(X))).model_, X)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_five_rows_can_be_fitted(n):
    model = TreeClassifier().fit(np.arange(n, dtype=float)[:, None], ["a", *["b"] * (n - 1)])
    assert model.get_n_leaves() >= 1


@pytest.mark.parametrize("kind", PROBABILITIES)
def test_exported_probabilities_are_those_of_predict_proba(kind):
    model = TreeClassifier(criterion="gini", cv=3, probabilities=kind).fit(X, Y)
    space = {}
    exec(model.export("python"), space)
    rows = np.nan_to_num(X[:20])
    assert np.allclose([space["predict_probabilities"](row) for row in rows], model.predict_proba(rows))


@pytest.mark.parametrize("how", [{}, {"scoring": "log_loss"}, {"costs": [[0, 1, 2], [3, 0, 1], [1, 1, 0]]}])
def test_a_number_of_leaves_gives_the_best_pruning_of_exactly_that_size(how):
    model = TreeClassifier(criterion="gini", cv=3, cv_repeats=1, max_depth=4, **how).fit(X, Y)
    scoring = Scoring(model.selection_.details["cost"], 2.0, None if "costs" not in how else np.array(how["costs"]))
    cost = leaf_predictions(model.counts_, scoring).cost
    by_size = {}
    for pruning in all_prunings(model.tree_):
        by_size.setdefault(len(pruning), []).append(sum(cost[v] for v in pruning))
    for n in range(1, model.tree_.n_leaves + 1):
        smaller = model.prune_to(n_leaves=n)
        assert smaller.get_n_leaves() == n
        assert smaller.pruning_.cost(cost) == pytest.approx(min(by_size[n]))
    exact = TreeClassifier(criterion="gini", max_depth=4, select=6, **how).fit(X, Y)
    assert exact.get_n_leaves() == 6


def test_a_number_of_leaves_that_no_pruning_has_gives_a_warning():
    rows = pd.DataFrame({"c": pd.Categorical(list("abc") * 10)})
    target = [0, 1, 2] * 10
    model = TreeClassifier(criterion="entropy", splits="multiway", prune=None).fit(rows, target)
    with pytest.warns(UserWarning, match="no pruning of the tree has 2 leaves.*has 1"):
        assert model.prune_to(n_leaves=2).get_n_leaves() == 1
    with pytest.warns(UserWarning, match="9 leaves are requested, but the grown tree has 3"):
        assert model.prune_to(n_leaves=9).get_n_leaves() == 3


def test_what_has_nothing_to_certify_or_to_grow_on_is_refused():
    model = fit_model(TABLE, Recipe(growing=GINI))
    with pytest.raises(UnsupportedError, match="there is no certificate: held-out rows are needed"):
        certify_model(model)
    with pytest.raises(UnsupportedError, match="no error can be certified: held-out rows are needed"):
        prune_to(model, certified_error=0.5)
    with pytest.raises(DataError, match="the table has no target"):
        fit_model(encode(X), Recipe(growing=GINI))
    with pytest.raises(ParameterError, match="costs= is for classification"):
        fit_model(
            encode(X, target=np.arange(240.0), target_kind="number"),
            Recipe(growing={"criterion": "squared_error"}, costs=[[0, 1], [1, 0]]),
        )
