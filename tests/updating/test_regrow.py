"""Updates that grow new subtrees below leaves of the deployed tree."""

import numpy as np
import pytest

import secateur
from secateur import TreeClassifier
from secateur.data.fold_assignment import assign_folds
from secateur.errors import LeakageError, ParameterError
from secateur.modelfile import load_model, save_model
from secateur.pruners import changed_nodes, fewest_changes
from secateur.routing.prediction import predict, predict_leaf
from secateur.updating import update
from secateur.updating._fronts import FrontMaker


def rows(n, seed, *, has_drift=False):
    """Return rows of three columns, of which the first decides; after the drift, the third one, too."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    is_bad = X[:, 0] > 0.5
    if has_drift:
        is_bad = is_bad | (X[:, 2] > 0.7)
    return X, np.where(is_bad ^ (rng.random(n) < 0.03), "bad", "good")


@pytest.fixture(scope="module")
def fitted():
    return TreeClassifier(cv=3, cv_repeats=1, criterion="gini", select=2, max_depth=30).fit(*rows(400, 0))


@pytest.fixture(scope="module")
def found(fitted):
    return update(fitted, *rows(500, 1, has_drift=True), regrow=True)


def test_new_tests_reach_what_no_pruning_reaches(fitted, found):
    pruned = update(fitted, *rows(500, 1, has_drift=True), select="0se")
    X, y = rows(4000, 2, has_drift=True)

    assert np.mean(predict(pruned.model(), X) != y) > 0.1
    assert np.mean(predict(found.model(), X) != y) < 0.06
    assert found.n_changes <= 5
    assert len(found.regrown) == 1


def test_the_tests_above_stay_and_rows_outside_the_regrown_leaves_keep_their_predictions(fitted, found):
    X, _ = rows(1000, 3, has_drift=True)
    before, after = predict(fitted.model_, X), predict(found.model(), X)
    is_elsewhere = ~np.isin(predict_leaf(fitted.model_, X), found.regrown)

    assert (predict(found.deployed, X) == before).all()
    assert is_elsewhere.any()
    assert (before[is_elsewhere] == after[is_elsewhere]).all()
    assert "is split anew by x2 <= " in str(found)


def test_a_subtree_grows_only_below_the_named_leaves(fitted):
    X, y = rows(500, 1, has_drift=True)
    for leaf in fitted.pruning_.leaves.tolist():
        found = update(fitted, X, y, regrow=[leaf], select="0se")
        assert [old for old, _ in found.grown_below] == [leaf]
        assert set(found.regrown) <= {leaf}
    with pytest.raises(ParameterError, match="node 0 is not a leaf"):
        update(fitted, X, y, regrow=[0])
    with pytest.raises(ParameterError, match="regrow"):
        update(fitted, X, y, regrow=["all"])


def test_nothing_is_grown_if_a_pruning_reaches_the_target(fitted):
    X, y = rows(500, 4)

    assert update(fitted, X, y, target_error=0.1, regrow=True).grown_below == ()
    X, y = rows(500, 1, has_drift=True)
    regrown = update(fitted, X, y, target_error=0.1, regrow=True)
    assert regrown.grown_below
    assert regrown.is_met


def test_the_front_is_that_of_the_larger_tree(fitted, found):
    X, y = rows(500, 1, has_drift=True)
    model = found.deployed
    counts = secateur.count(model.tree, X, y, sample="again")

    again = fewest_changes(model.pruning, model.grown, counts)

    assert again.errors.tolist() == found.front.errors.tolist()
    for k in found.front.n_changes.tolist():
        updated = found.model(k)
        assert np.count_nonzero(changed_nodes(model.pruning, updated.pruning)) == k
        assert np.count_nonzero(predict(updated, X) != y) == found.front.errors[found.front.index_within(k)]


def test_folds_grow_their_own_subtrees(fitted):
    X, y = rows(150, 5, has_drift=True)
    model = fitted.model_
    leaves = tuple(model.pruning.leaves.tolist())

    found = update(fitted, X, y, regrow=True, cv=3, random_state=2)

    table = secateur.encode(X, schema=model.tree.schema, target=y)
    fold = assign_folds(table, 3, seed=2)
    errors = np.zeros(len(found.front))
    for f in range(3):
        others = FrontMaker(model, "nodes", "others", leaves).make(
            table.take(np.flatnonzero(fold != f)), max_changes=None, convex=None
        )
        for i, k in enumerate(found.front.n_changes.tolist()):
            small = secateur.Model(others.front.within(k), others.model.grown)
            errors[i] += np.count_nonzero(predict(small, X[fold == f]) != y[fold == f])
    np.testing.assert_allclose(found.cv_errors, errors / 150)


def test_rows_that_grew_a_subtree_cannot_certify_the_tree(found, tmp_path):
    X, y = rows(500, 1, has_drift=True)

    with pytest.raises(LeakageError):
        found.certify(X, y, target=0.2)
    with pytest.raises(LeakageError):
        secateur.certify(found.pruning(), secateur.count(found.deployed.tree, X, y), grown=found.deployed.grown)
    save_model(found.model(), tmp_path / "updated.json")
    loaded = load_model(tmp_path / "updated.json")
    with pytest.raises(LeakageError):
        secateur.certify(loaded.pruning, secateur.count(loaded.tree, X, y))


def test_rows_that_were_evaluated_on_the_deployed_tree_are_not_fresh_for_the_larger_one(fitted):
    X, y = rows(800, 6, has_drift=True)
    pruned = update(fitted, *rows(500, 7, has_drift=True))
    pruned.certify(X, y, target=0.5)

    regrown = update(fitted, *rows(500, 7, has_drift=True), regrow=True)

    with pytest.raises(LeakageError):
        regrown.certify(X, y, target=0.1)


def test_fresh_rows_certify_new_subtrees(found):
    certified = found.certify(*rows(2000, 8, has_drift=True), target=0.08)

    assert certified.certificate.certified
    assert certified.n_changes > 0
    assert certified.model().certificate.value == 0.08


def test_the_deployed_model_is_not_changed(fitted):
    before = fitted.model_.tree.evaluation_log.snapshot()
    pruning, parent = fitted.pruning_, fitted.tree_.parent.copy()

    update(fitted, *rows(300, 9, has_drift=True), regrow=True)

    assert fitted.pruning_ == pruning
    assert (fitted.tree_.parent == parent).all()
    assert len(fitted.model_.tree.evaluation_log.snapshot()) >= len(before)
