"""Pruned scikit-learn trees and forests keep their class and make the predictions of our Pruning."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from secateur import Column, Counts, Pruning, Schema, Tree, count, prune
from secateur.core.model import Model
from secateur.errors import CountsError, DataError, ParameterError, TreeError, UnsupportedError
from secateur.interop import from_sklearn, path_sklearn, prune_sklearn, to_sklearn
from secateur.interop._sklearn_tree import shares_with_majority
from secateur.pruners import RULES
from secateur.routing.prediction import predict
from sklearn_trees import CLASSIFIERS, FORESTS, KINDS, REGRESSORS, assert_sound, fitted, hard_rows, rows, walk
from versions import is_older, needs

CHOICES = {"smallest-within": {"accuracy": 0.8}, "critical-value": {"threshold": 0.2}}


def held_out(kind, seed):
    X, y, _ = rows(seed + 1000, 60, kind=kind)
    return X, y


def pruned_by_secateur(tree, X, y, rule, *, n_leaves=None, alpha=None, **parameters):
    """The same answer from our own reading, routing and counting of the tree."""
    model = from_sklearn(tree)
    samples = [model.grown]
    if "holdout" in RULES[rule].samples:
        samples.append(count(model.tree, X, y))
    result = prune(model.tree, *samples, rule=rule, **parameters)
    if isinstance(result, Pruning):
        labels = model.grown.majority if result.node_labels is None else result.node_labels
        return replace(model, pruning=replace(result, node_labels=labels))
    if alpha is not None:
        chosen = result.at(alpha)
    elif n_leaves is not None:
        chosen = max((member for member in result if member.n_leaves <= n_leaves), key=lambda member: member.n_leaves)
    else:
        errors = result.errors_on(count(model.tree, X, y))
        chosen = result[int(np.flatnonzero(errors == errors.min())[-1])]
    return replace(model, pruning=chosen)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["gini", "best-first", "missing"])
def test_every_rule_gives_a_tree_that_predicts_as_our_pruning_does(rule, kind):
    tree, *_ = fitted(kind, 7)
    X, y = held_out(kind, 7)
    parameters = CHOICES.get(rule, {})

    smaller = prune_sklearn(tree, X, y, rule=rule, **parameters)

    model = pruned_by_secateur(tree, X, y, rule, **parameters)
    fresh = hard_rows(tree, 7)
    assert type(smaller) is type(tree)
    assert smaller.get_n_leaves() == model.pruning.n_leaves
    assert smaller.predict(fresh).tolist() == predict(model, fresh).tolist()
    assert_sound(smaller)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("labels", ["grow", "prune", "both"])
def test_reduced_error_labels_leaves_by_the_sample_asked_for(kind, seed, labels):
    tree, *_ = fitted(kind, seed)
    X, y = held_out(kind, seed)
    parameters = {"labels": labels, "original": "relabel"}

    smaller = prune_sklearn(tree, X, y, rule="reduced-error", **parameters)

    model = pruned_by_secateur(tree, X, y, "reduced-error", **parameters)
    fresh = hard_rows(tree, seed)
    assert smaller.predict(fresh).tolist() == predict(model, fresh).tolist()
    assert (smaller.predict(X) == y).sum() == len(y) - model.pruning.errors(count(model.tree, X, y))
    np.testing.assert_allclose(smaller.predict_proba(fresh).sum(axis=1), 1)
    assert_sound(smaller)


@needs("scikit-learn", "1.9", "decision_path compares missing values with the threshold")
@pytest.mark.parametrize("kind", KINDS)
def test_kept_nodes_keep_their_statistics_and_rows_stop_at_the_cuts(kind):
    tree, X, _, _ = fitted(kind, 2)
    smaller = prune_sklearn(tree, n_leaves=6)
    assert smaller.get_n_leaves() <= 6
    assert_sound(smaller)
    fresh = np.vstack([hard_rows(tree, 2), X])
    small_leaves = smaller.apply(fresh)
    paths = tree.decision_path(fresh).toarray().astype(bool)
    big, small = tree.tree_, smaller.tree_
    for row, leaf in list(zip(range(len(fresh)), small_leaves, strict=True))[::7]:
        # Follow both trees from the root: the same test or a leaf, the same numbers.
        v, w = 0, 0
        while True:
            for name in ("impurity", "n_node_samples", "weighted_n_node_samples"):
                assert getattr(big, name)[v] == getattr(small, name)[w]
            assert (big.value[v] == small.value[w]).all()
            assert paths[row, v]
            if small.children_left[w] == -1:
                assert w == leaf
                break
            assert (big.feature[v], big.threshold[v]) == (small.feature[w], small.threshold[w])
            assert big.missing_go_to_left[v] == small.missing_go_to_left[w]
            goes_left = paths[row, big.children_left[v]]
            v = big.children_left[v] if goes_left else big.children_right[v]
            w = small.children_left[w] if goes_left else small.children_right[w]


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_the_tree_holds_its_growing_counts(kind):
    if kind == "missing" and is_older("scikit-learn", "1.8"):
        pytest.skip(
            "scikit-learn before 1.8 grows some splits on other rows than it predicts with if values are missing"
        )
    tree, X, y, weight = fitted(kind, 3)
    model = from_sklearn(tree)

    counts = count(model.tree, X, y, sample_weight=weight, sample="grow")

    assert model.grown.has_integer_weights == (weight is None)
    np.testing.assert_allclose(model.grown.by_class, counts.by_class, atol=1e-9)
    if weight is None:
        assert model.grown == Counts(model.tree, counts.by_class)


@pytest.mark.parametrize("kind", ["gini", "squared", "best-first numbers"])
def test_alpha_in_units_of_impurity_is_ccp_alpha(kind):
    tree, X, y, _ = fitted(kind, 4)
    for alpha in (0.003, 0.01, 0.03):
        refitted = type(tree)(**{**tree.get_params(), "ccp_alpha": alpha}).fit(X, y)
        smaller = prune_sklearn(tree, alpha=alpha, cost="impurity")
        assert (smaller.predict(X) == refitted.predict(X)).all()
        assert smaller.get_n_leaves() == refitted.get_n_leaves()
        if kind != "gini":  # the loss of a regressor is its impurity, and every alpha is per row
            assert prune_sklearn(tree, alpha=alpha).get_n_leaves() == refitted.get_n_leaves()


def test_alpha_is_a_share_of_the_rows_and_weighs_errors_against_leaves():
    tree, X, y, _ = fitted("gini", 4)
    for alpha in (0, 1, 2.5, 7):
        smaller = prune_sklearn(tree, alpha=alpha / len(y))
        price = (smaller.predict(X) != y).sum() + alpha * smaller.get_n_leaves()
        for j in range(1, 20):
            other = prune_sklearn(tree, n_leaves=j, rule="best-of-size")
            assert price <= (other.predict(X) != y).sum() + alpha * other.get_n_leaves()


def test_best_of_size_has_exactly_the_leaves_asked_for():
    tree = fitted("gini", 5)[0]
    assert [prune_sklearn(tree, rule="best-of-size", n_leaves=j).get_n_leaves() for j in range(1, 15)] == list(
        range(1, 15)
    )


@pytest.mark.parametrize("kind", ["gini", "squared", "absolute"])
def test_held_out_rows_choose_the_member_of_least_error_and_the_smallest_within_one_se(kind):
    tree, *_ = fitted(kind, 6)
    X, y = held_out(kind, 6)
    losses = {
        "gini": lambda model: model.predict(X) != y,
        "squared": lambda model: (model.predict(X) - y) ** 2,
        "absolute": lambda model: np.abs(model.predict(X) - y),
    }[kind]
    members = {prune_sklearn(tree, n_leaves=j).get_n_leaves(): prune_sklearn(tree, n_leaves=j) for j in range(1, 90)}
    sums = {j: losses(model).sum() for j, model in members.items()}
    least = min(sums.values())
    best = min(j for j, s in sums.items() if s <= least + 1e-9)
    limit = least + np.sqrt(len(y)) * losses(members[best]).std()

    assert prune_sklearn(tree, X, y).get_n_leaves() == best
    assert prune_sklearn(tree, X, y, select="1se").get_n_leaves() == min(j for j, s in sums.items() if s <= limit)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_reduced_error_of_a_regressor_has_the_least_held_out_loss(kind):
    tree, *_ = fitted(kind, 1, min_samples_leaf=12)
    X, y = held_out(kind, 1)

    smaller = prune_sklearn(tree, X, y, rule="reduced-error")

    def loss(model):
        difference = np.abs(model.predict(X) - y)
        return (difference if kind == "absolute" else difference**2).sum()

    best = min(
        loss(prune_sklearn(tree, rule="best-of-size", n_leaves=j, cost=held_out_cost(tree, X, y, kind)))
        for j in range(1, tree.get_n_leaves() + 1)
    )
    assert loss(smaller) == pytest.approx(best)
    assert_sound(smaller)
    same = prune_sklearn(tree, X, y, rule="reduced-error", cost=held_out_cost(tree, X, y, kind))
    assert loss(same) == pytest.approx(best)


def held_out_cost(tree, X, y, kind):
    """Loss of each node, in scikit-learn's numbering, from the rows that pass it."""
    passes = tree.decision_path(X).toarray().astype(bool)
    difference = np.abs(tree.tree_.value[:, 0, 0][:, None] - y[None, :])
    return ((difference if kind == "absolute" else difference**2) * passes.T).sum(axis=1)


@pytest.mark.parametrize("maker", FORESTS)
def test_every_tree_of_a_forest_is_pruned_by_its_own_rows(maker):
    X, y, _ = rows(8, kind="gini" if "Classifier" in maker.__name__ else "squared")
    forest = maker(6, random_state=0).fit(X, y)

    smaller = prune_sklearn(forest, n_leaves=5)

    assert type(smaller) is maker
    fresh = hard_rows(forest.estimators_[0], 8)
    assert len(smaller.estimators_) == 6
    for before, after in zip(forest.estimators_, smaller.estimators_, strict=True):
        assert type(after) is type(before)
        alone = prune_sklearn(before, n_leaves=5)
        assert (after.predict(fresh) == alone.predict(fresh)).all()
        assert after.get_n_leaves() <= 5
        assert_sound(after)
    each = np.array(
        [(t.predict_proba if hasattr(t, "predict_proba") else t.predict)(fresh) for t in smaller.estimators_]
    )
    together = (smaller.predict_proba if hasattr(smaller, "predict_proba") else smaller.predict)(fresh)
    np.testing.assert_allclose(together, each.mean(axis=0))
    assert max(t.get_n_leaves() for t in forest.estimators_) > 5


def test_held_out_rows_prune_the_trees_of_a_forest_in_the_labels_of_the_forest():
    X, y, _ = rows(9)
    forest = RandomForestClassifier(5, random_state=0).fit(X[:80], y[:80])

    smaller = prune_sklearn(forest, X[80:], y[80:], rule="reduced-error")

    for before, after in zip(forest.estimators_, smaller.estimators_, strict=True):
        wrong = [np.mean(forest.classes_[tree.predict(X[80:]).astype(int)] != y[80:]) for tree in (before, after)]
        assert wrong[1] <= wrong[0]
    assert smaller.score(X[80:], y[80:]) > 0.3


def test_scores_that_a_forest_measured_with_its_old_trees_are_removed():
    X, y, _ = rows(8)
    forest = RandomForestClassifier(30, random_state=0, oob_score=True).fit(X, y)

    smaller = prune_sklearn(forest, n_leaves=4)

    assert hasattr(forest, "oob_score_")
    assert not hasattr(smaller, "oob_score_")
    assert not hasattr(smaller, "oob_decision_function_")


@pytest.mark.parametrize("class_weight", ["balanced", {"a": 1, "b": 5, "c": 2}])
def test_class_weights_are_counted_again_under_the_same_weights_or_refused(class_weight):
    X, y, _ = rows(11)
    tree = DecisionTreeClassifier(class_weight=class_weight, random_state=0).fit(X, y)

    with pytest.raises(CountsError, match=r"class_weight=.*pass the rows it was fitted on as X, y"):
        prune_sklearn(tree, n_leaves=5)
    smaller = prune_sklearn(tree, X, y, n_leaves=5)
    counts = from_sklearn(tree, X, y).grown
    np.testing.assert_allclose(counts.by_class, tree.tree_.value[:, 0] * tree.tree_.weighted_n_node_samples[:, None])
    assert smaller.get_n_leaves() <= 5
    assert (
        smaller.predict(X).tolist() == tree.classes_[smaller.tree_.value[smaller.apply(X), 0].argmax(axis=1)].tolist()
    )
    assert_sound(smaller)


def test_held_out_rows_and_growing_rows_can_both_be_given():
    X, y, _ = rows(11)
    fresh, labels = held_out("gini", 11)
    tree = DecisionTreeClassifier(class_weight="balanced", random_state=0).fit(X, y)

    with pytest.raises(CountsError, match=r"growing=\(X, y\)"):
        prune_sklearn(tree, fresh, labels, rule="reduced-error")
    smaller = prune_sklearn(tree, fresh, labels, rule="reduced-error", growing=(X, y))
    assert smaller.score(fresh, labels) >= tree.score(fresh, labels)


@pytest.mark.parametrize(
    ("bootstrap", "class_weight", "is_held"),
    [(True, "balanced", True), (True, "balanced_subsample", False), (False, "balanced", False)],
)
def test_class_weights_of_a_forest_are_seen(bootstrap, class_weight, is_held):
    X, y, _ = rows(12)
    forest = RandomForestClassifier(4, bootstrap=bootstrap, class_weight=class_weight, random_state=0).fit(X, y)

    if not is_held:
        with pytest.raises(CountsError, match="RandomForestClassifier has class_weight"):
            prune_sklearn(forest, n_leaves=5)
    smaller = prune_sklearn(forest, X, y, n_leaves=5)
    assert all(tree.get_n_leaves() <= 5 for tree in smaller.estimators_)


@pytest.mark.parametrize("maker", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_monotone_trees_are_counted_again_and_stay_monotone(maker):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + rng.normal(size=300)
    y = (y > 0).astype(int) if maker is DecisionTreeClassifier else y
    tree = maker(monotonic_cst=[1, 0], random_state=0).fit(X, y)

    with pytest.raises(CountsError, match="monotonic_cst"):
        prune_sklearn(tree, n_leaves=9)
    smaller = prune_sklearn(tree, X, y, n_leaves=9)
    line = np.column_stack([np.linspace(-3, 3, 200), np.zeros(200)])
    answers = smaller.predict_proba(line)[:, 1] if hasattr(smaller, "predict_proba") else smaller.predict(line)
    assert (np.diff(answers) >= 0).all()
    assert 1 < smaller.get_n_leaves() <= 9
    assert_sound(smaller)


def test_trees_of_a_monotone_forest_are_counted_with_the_rows_that_their_bootstrap_drew():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 1.2).astype(int)
    forest = RandomForestClassifier(4, monotonic_cst=[1, 0], random_state=0).fit(X, y)
    smaller = prune_sklearn(forest, X, y, n_leaves=9)
    for tree, drawn, pruned in zip(forest.estimators_, forest.estimators_samples_, smaller.estimators_, strict=True):
        n_drawn = np.bincount(drawn, minlength=len(y))
        alone = prune_sklearn(tree, X, y.astype(float), sample_weight=n_drawn, n_leaves=9)
        assert pruned.tree_.threshold.tolist() == alone.tree_.threshold.tolist()
        assert pruned.tree_.value.tolist() == alone.tree_.value.tolist()


@pytest.mark.parametrize("parameters", [{"rule": "critical-value"}, {"cost": "impurity"}])
def test_without_growing_rows_every_node_predicts_what_it_predicted(parameters):
    X, y, _ = rows(11)
    fresh, labels = held_out("gini", 11)
    tree = DecisionTreeClassifier(class_weight="balanced", random_state=0).fit(X, y)

    smaller = prune_sklearn(tree, fresh, labels, **parameters)

    assert 1 < smaller.get_n_leaves() < tree.get_n_leaves()
    assert described_nodes(smaller) < described_nodes(tree)


def described_nodes(estimator):
    """The weight, impurity and class shares of each node."""
    tree = estimator.tree_
    shares = map(tuple, tree.value[:, 0].tolist())
    return set(zip(tree.weighted_n_node_samples.tolist(), tree.impurity.tolist(), shares, strict=True))


@given(
    st.lists(st.floats(0.01, 1), min_size=3, max_size=3),
    st.integers(0, 2),
    st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), max_size=3),
)
@example([0.2, 0.3, 0.5], 0, [[0, 0, 0]])  # a sample without rows
@example([0.2, 0.3, 0.5], 0, [[1, 2, 0], [2, 1, 0]])  # another majority in the first sample
def test_class_shares_are_those_of_the_first_sample_with_the_majority(weights, label, samples):
    shares = np.array(weights) / sum(weights)
    found = shares_with_majority(shares, label, map(np.array, samples))
    assert found.argmax() == label
    assert found.sum() == pytest.approx(1)
    candidates = [np.array(sample) / sum(sample) for sample in samples if any(sample)]
    expected = next((c for c in [*candidates, shares] if c.argmax() == label), None)
    if expected is None:  # all samples have another majority: the share of the class is raised
        others = np.arange(3) != label
        ratios = found[others] / shares[others]
        assert ratios == pytest.approx(ratios[0])
        assert found[label] == pytest.approx(found.max())
    else:
        assert found == pytest.approx(expected)


def test_rows_that_did_not_grow_the_tree_are_not_taken_for_those_that_did():
    X, y, _ = rows(11)
    tree = DecisionTreeClassifier(class_weight="balanced", random_state=0).fit(X, y)

    with pytest.raises(DataError, match=r"rows to node 0, but the tree was grown with 120"):
        prune_sklearn(tree, X[:-1], y[:-1], n_leaves=5)


@needs("scikit-learn", "1.9", "no threshold is infinite")
def test_missing_or_present_tests_with_an_infinite_threshold_travel():
    X = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan], [4.0]] * 5)
    y = np.array([0, 1, 0, 1, 1, 0] * 5)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert np.isinf(tree.tree_.threshold).any()

    smaller = prune_sklearn(tree, n_leaves=2)

    assert smaller.get_n_leaves() == 2
    fresh = np.array([[np.nan], [1e30], [-5.0]])
    model = from_sklearn(tree)
    assert predict(model, fresh).tolist() == tree.predict(fresh).tolist()
    assert smaller.predict(fresh).tolist() == [
        smaller.classes_[smaller.tree_.value[walk(smaller, x), 0].argmax()] for x in fresh
    ]


def test_dead_nodes_of_pruning_in_place_are_dropped_with_a_warning():
    tree = fitted("gini", 3)[0]
    edited = pickle.loads(pickle.dumps(tree))
    inner = np.flatnonzero(edited.tree_.children_left != -1)[3:6]
    edited.tree_.children_left[inner] = edited.tree_.children_right[inner] = -1

    with pytest.warns(UserWarning, match="nodes cannot be reached.*they are dropped"):
        clean = prune_sklearn(edited, alpha=0)

    assert_sound(clean)
    fresh = hard_rows(tree, 3)
    assert (clean.predict(fresh) == edited.predict(fresh)).all()
    assert clean.tree_.node_count < edited.tree_.node_count


def test_a_tree_edited_into_a_loop_is_refused():
    tree = fitted("gini", 3)[0]
    tree.tree_.children_left[5] = 0
    with pytest.raises(TreeError, match="node 0 is reached twice"):
        prune_sklearn(tree, n_leaves=3)


def test_the_original_is_untouched_and_the_copy_survives_pickling_and_cloning():
    tree, X, y, _ = fitted("gini", 6)
    before = pickle.dumps(tree)

    smaller = prune_sklearn(tree, n_leaves=4)

    assert pickle.dumps(tree) == before
    again = pickle.loads(pickle.dumps(smaller))
    assert (again.predict(X) == smaller.predict(X)).all()
    assert pickle.dumps(again) == pickle.dumps(smaller) == pickle.dumps(prune_sklearn(tree, n_leaves=4))
    with pytest.raises(NotFittedError):
        clone(smaller).predict(X)
    assert clone(smaller).fit(X, y).get_n_leaves() == tree.get_n_leaves()


def test_a_single_leaf_stays_a_single_leaf():
    tree = DecisionTreeClassifier().fit([[0.0], [0.0]], ["x", "y"])
    for rule in ("cost-complexity", "pessimistic", "reduced-error"):
        assert prune_sklearn(tree, [[1.0]], ["y"], rule=rule).get_n_leaves() == 1


def test_a_chain_of_twenty_thousand_tests_can_be_pruned():
    n = 20_000
    parent = np.append(-1, np.repeat(2 * np.arange(n), 2))
    is_inner = np.append(np.tile([True, False], n), False)
    tree = Tree(
        parent,
        feature=np.where(is_inner, 0, -1),
        threshold=np.where(is_inner, np.arange(2 * n + 1) / 2, np.nan),
        schema=Schema((Column("x", "numeric"),), np.array(["even", "odd"])),
    )
    leaf = np.eye(2, dtype=int)[np.arange(n + 1) % 2]
    grown = Counts.from_leaves(tree, leaf)
    whole = to_sklearn(Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown))
    assert whole.get_depth() == n
    assert whole.predict([[0.0], [1.0], [n - 1.0], [n + 5.0]]).tolist() == ["even", "odd", "odd", "even"]

    smaller = prune_sklearn(whole, rule="best-of-size", n_leaves=9, max_leaves=9)

    assert (smaller.get_n_leaves(), smaller.get_depth()) == (9, 8)
    assert len(path_sklearn(whole)) > 1
    assert from_sklearn(whole).tree.parent.tolist() == parent.tolist()


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (
            lambda X, y, tree: prune_sklearn(DecisionTreeClassifier(), n_leaves=2),
            ParameterError,
            "DecisionTreeClassifier is not fitted",
        ),
        (lambda X, y, tree: prune_sklearn(RandomForestRegressor(), n_leaves=2), ParameterError, "not fitted"),
        (lambda X, y, tree: prune_sklearn(StandardScaler().fit(X)), UnsupportedError, "StandardScaler"),
        (
            lambda X, y, tree: prune_sklearn(
                make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(X, y), n_leaves=2
            ),
            UnsupportedError,
            "pipeline, pass its last step",
        ),
        (
            lambda X, y, tree: prune_sklearn(GradientBoostingClassifier(n_estimators=2).fit(X, y), n_leaves=2),
            UnsupportedError,
            "boosting",
        ),
        (
            lambda X, y, tree: prune_sklearn(DecisionTreeRegressor().fit(X, X[:, :2]), n_leaves=2),
            UnsupportedError,
            "2 outputs",
        ),
        (
            lambda X, y, tree: prune_sklearn(RandomForestRegressor(2).fit(X, X[:, :2]), n_leaves=2),
            UnsupportedError,
            "2 outputs",
        ),
        (lambda X, y, tree: prune_sklearn(tree), ParameterError, "needs held-out rows X, y, or alpha= or n_leaves="),
        (lambda X, y, tree: prune_sklearn(tree, rule="reduced-error"), ParameterError, "needs held-out rows"),
        (lambda X, y, tree: prune_sklearn(tree, X), ParameterError, "y is None"),
        (lambda X, y, tree: prune_sklearn(tree, alpha=1, n_leaves=2), ParameterError, "exclude each other"),
        (lambda X, y, tree: prune_sklearn(tree, alpha=1, rule="pessimistic"), ParameterError, "returns one pruning"),
        (lambda X, y, tree: prune_sklearn(tree, n_leaves=0), ParameterError, "n_leaves=0"),
        (lambda X, y, tree: prune_sklearn(tree, alpha=-1), ParameterError, "alpha=-1"),
        (lambda X, y, tree: prune_sklearn(tree, rule="prettiest"), ParameterError, "rule='prettiest'"),
        (lambda X, y, tree: prune_sklearn(tree, X, y, select="best"), ParameterError, "select='best'"),
        (lambda X, y, tree: prune_sklearn(tree, n_leaves=3, cost="money"), ParameterError, "cost='money'"),
        (lambda X, y, tree: prune_sklearn(tree, n_leaves=3, cost=[1, 2]), ParameterError, "one number per node"),
        (lambda X, y, tree: prune_sklearn(tree, X[:, :2], y, rule="reduced-error"), DataError, "2 features"),
        (lambda X, y, tree: prune_sklearn(tree, X, y[:-1], rule="reduced-error"), DataError, "one label per row"),
        (
            lambda X, y, tree: prune_sklearn(tree, X, y, rule="reduced-error", sample_weight=-np.ones(len(y))),
            DataError,
            "sample_weight",
        ),
        (lambda X, y, tree: prune_sklearn(tree, sample_weight=np.ones(3), n_leaves=2), ParameterError, "without X"),
        (
            lambda X, y, tree: prune_sklearn(DecisionTreeRegressor().fit(X, X[:, 0]), rule="pessimistic"),
            UnsupportedError,
            "predicts numbers",
        ),
        (
            lambda X, y, tree: prune_sklearn(DecisionTreeRegressor().fit(X, X[:, 0]), X, np.full(len(X), np.nan)),
            DataError,
            "y",
        ),
        (
            lambda X, y, tree: prune_sklearn(tree, rule="error-based", raise_subtrees=True),
            (ParameterError, DataError, UnsupportedError),
            "raise",
        ),
    ],
)
def test_objects_that_cannot_be_pruned_are_refused_with_reason_and_advice(call, error, says):
    tree, X, y, _ = fitted("gini", 0)
    with pytest.raises(error, match=says):
        call(X, y, tree)


def test_sparse_rows_are_refused():
    from scipy.sparse import csr_array

    tree, X, y, _ = fitted("gini", 0)
    with pytest.raises(UnsupportedError, match=r"sparse.*X\.toarray\(\)"):
        prune_sklearn(tree, csr_array(X), y, rule="reduced-error")


def test_classes_that_growing_did_not_see_count_as_errors_and_are_never_predicted():
    tree, X, *_ = fitted("gini", 0)
    fresh, labels = held_out("gini", 0)
    labels = labels.astype(object)
    labels[:40] = "new"

    for how in ({}, {"labels": "prune", "original": "relabel"}):
        with pytest.warns(UserWarning, match="classes the tree has not seen"):
            smaller = prune_sklearn(tree, fresh, labels, rule="reduced-error", **how)
        assert set(smaller.predict(X)) <= set("abc")
