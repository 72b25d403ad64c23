"""Updates of a deployed tree: the choice of the number of changes, the changes in words, certificates."""

import numpy as np
import pytest

import secateur
from secateur import Counts, Model, Pruning, Tree, TreeClassifier, TreeRegressor
from secateur.data.fold_assignment import assign_folds
from secateur.errors import DataError, LeakageError, ParameterError, SecateurError, UnsupportedError
from secateur.modelfile import load_model, save_model
from secateur.pruners import changed_nodes, fewest_changes
from secateur.routing.prediction import predict
from secateur.updating import Update, describe_changes, update
from sequential import is_refuted


def rows(n, seed, shift=0.0):
    """Return rows of three columns with classes that depend on the first two; `shift` moves the border."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    y = (X[:, 0] > 0.5 + shift) ^ (X[:, 1] > 0.7)
    return X, np.where(y ^ (rng.random(n) < 0.1), "bad", "good")


@pytest.fixture(scope="module")
def fitted():
    return TreeClassifier(select=6, max_depth=30).fit(*rows(600, 0))


def test_the_errors_of_each_member_are_those_of_its_predictions(fitted):
    X, y = rows(500, 1, shift=0.1)

    found = update(fitted, X, y)

    assert len(found.front) > 3
    for n_changes, errors in zip(found.front.n_changes.tolist(), found.front.errors.tolist(), strict=True):
        model = found.model(n_changes)
        assert np.count_nonzero(predict(model, X) != y) == errors
        assert np.count_nonzero(changed_nodes(fitted.pruning_, model.pruning)) == n_changes


def test_changed_rows_are_those_whose_prediction_differs(fitted):
    X, y = rows(500, 1, shift=0.1)

    found = update(fitted, X, y, distance="rows")

    before = predict(fitted.model_, X)
    for n_changes in found.front.n_changes.tolist():
        assert np.count_nonzero(predict(found.model(n_changes), X) != before) == n_changes


@pytest.mark.parametrize("distance", ["nodes", "rows"])
def test_cross_validated_errors_are_those_of_rows_predicted_without_their_fold(fitted, distance):
    X, y = rows(200, 2, shift=0.1)
    model = fitted.model_

    found = update(model, X, y, distance=distance, cv=4, random_state=3)

    fold = assign_folds(secateur.encode(X, schema=model.tree.schema, target=y), 4, seed=3)
    errors = np.zeros(len(found.front))
    for f in range(4):
        others = secateur.count(model.tree, X[fold != f], y[fold != f])
        front = fewest_changes(model.pruning, model.grown, others, distance=distance)
        for i, k in enumerate(found.front.n_changes.tolist()):
            limit = k if distance == "nodes" else k * int((fold != f).sum()) // 200
            small = Model(front.within(limit), model.grown)
            errors[i] += np.count_nonzero(predict(small, X[fold == f]) != y[fold == f])
    np.testing.assert_allclose(found.cv_errors, errors / 200)


def test_the_default_choice_has_the_fewest_changes_within_one_standard_error(fitted):
    X, y = rows(400, 3, shift=0.15)
    found = update(fitted, X, y)

    lowest = found.cv_errors.min()
    allowed = lowest + np.sqrt(lowest * (1 - lowest) / 400)

    assert found.cv_errors[found.chosen] <= allowed
    assert (found.cv_errors[: found.chosen] > allowed).all()
    assert update(fitted, X, y, select="0se").chosen == found.cv_errors.argmin()


def test_a_target_takes_the_fewest_changes_that_reach_it(fitted):
    X, y = rows(400, 3, shift=0.15)
    errors = update(fitted, X, y).cv_errors
    target = float(errors.min()) + 0.01

    found = update(fitted, X, y, target_error=target)

    assert found.is_met
    assert found.chosen == np.flatnonzero(errors <= target)[0]


def test_a_target_that_no_pruning_reaches_is_stated(fitted):
    X, y = rows(400, 3)

    with pytest.warns(UserWarning, match="no pruning of the grown tree errs on at most 1 %"):
        found = update(fitted, X, y, target_error=0.01)

    assert not found.is_met
    assert found.cv_errors[found.chosen] == found.cv_errors.min()


def test_max_changes_limits_the_front(fitted):
    X, y = rows(400, 3, shift=0.15)

    found = update(fitted, X, y, max_changes=4)

    assert found.n_changes <= 4
    assert found.pruning() == update(fitted, X, y).pruning(4)


def test_the_order_of_the_new_rows_does_not_matter(fitted):
    X, y = rows(300, 4, shift=0.1)
    order = np.random.default_rng(0).permutation(300)

    one, other = update(fitted, X, y), update(fitted, X[order], y[order])

    assert one.cv_errors.tolist() == other.cv_errors.tolist()
    assert one.pruning() == other.pruning()


def test_the_changes_in_words_name_rule_test_and_label():
    X = np.array([[x] for x in range(12)], float)
    tree, grown = secateur.grow(X, list("aaaabbccccdd"))
    labels = grown.majority
    full, stump = Pruning.from_cuts(tree, [], node_labels=labels), Pruning.from_cuts(tree, [2], node_labels=labels)
    relabelled = Pruning.from_cuts(tree, [2], node_labels=np.where(np.arange(7) == 2, 3, labels))

    assert [str(change) for change in describe_changes(stump, full, grown)] == [
        "node 2 is split again by x0 <= 5: IF x0 > 3",
        "new leaf 3 below node 2, where x0 <= 5: b",
        "new split 4 below node 2, where x0 > 5: by x0 <= 9",
        "new leaf 5 below node 4, where x0 <= 9: c",
        "new leaf 6 below node 4, where x0 > 9: d",
    ]
    assert [str(change) for change in describe_changes(full, stump, grown)] == [
        "node 2 becomes a leaf, and 4 nodes below it go: IF x0 > 3 THEN c"
    ]
    assert [str(change) for change in describe_changes(stump, relabelled, grown)] == [
        "the rule IF x0 > 3 now says d (before: c)"
    ]
    assert describe_changes(full, full, grown) == ()


def test_the_words_count_every_changed_node_once():
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(200, 2))
    tree, grown = secateur.grow(X, rng.integers(0, 3, 200))
    bare = Tree.from_parents(tree.parent.tolist())
    for _ in range(40):
        one, other = (
            Pruning.from_cuts(tree, rng.random(tree.n_nodes) < 0.2, node_labels=rng.integers(0, 3, tree.n_nodes))
            for _ in range(2)
        )
        changes = describe_changes(one, other, grown)
        assert sum(change.n_nodes for change in changes) == np.count_nonzero(changed_nodes(one, other))
        without_tests = [Pruning.from_cuts(bare, p.cuts, node_labels=p.node_labels) for p in (one, other)]
        grown_of_bare = Counts.from_leaves(bare, grown.by_class[tree.is_leaf])
        assert len(describe_changes(*without_tests, grown_of_bare)) == len(changes)


def test_rows_that_updated_the_tree_cannot_certify_it(fitted):
    X, y = rows(500, 1, shift=0.1)
    found = update(fitted, X, y)

    with pytest.raises(LeakageError):
        found.certify(X, y, target=0.3)
    with pytest.raises(LeakageError):
        secateur.certify(found.pruning(), secateur.count(fitted.tree_, X, y, sample="other name"), method="test-sample")
    with pytest.raises(LeakageError):  # also as one of the members, and for the deployed tree among them
        secateur.certify(found.pruning(0), found.front.counts, method="test-sample")


def test_fresh_rows_certify_the_fewest_changes(fitted, tmp_path):
    found = update(fitted, *rows(3000, 11, shift=0.1))

    certified = found.certify(*rows(3000, 12, shift=0.1), target=0.175)

    assert certified.certificate.certified
    assert certified.certificate.value == 0.175
    assert 0 < certified.n_changes <= found.front.n_changes[found.first_tested]
    model = certified.model()
    assert model.certificate == certified.certificate
    assert certified.model(int(found.front.n_changes[-1])).certificate is None
    save_model(model, tmp_path / "updated.json")
    assert load_model(tmp_path / "updated.json").pruning == model.pruning


def test_an_updated_model_is_shown_and_written_like_any_other(fitted, tmp_path):
    model = update(fitted, *rows(500, 1, shift=0.1), max_changes=8).model()

    secateur.write_report(model, tmp_path / "report.html")

    summary = str(secateur.inspection.Summary(model))
    assert "fewest errors within" in summary
    assert "held out (pruned it)" in summary
    assert model.pruning.n_leaves == secateur.export_rules(model.tree, model.grown, pruning=model.pruning).count("THEN")


def test_rows_that_chose_labels_certify_nothing_on_noise():
    rng = np.random.default_rng(0)
    tree = Tree.from_parents([-1, *((i - 1) // 2 for i in range(1, 31))])
    grown, new = (
        Counts.from_leaves(tree, rng.multinomial(20, [0.5, 0.5], tree.n_leaves), sample=name)
        for name in ("grow", "new")
    )
    front = fewest_changes(Pruning.from_cuts(tree, [0], node_labels=grown.majority), grown, new)

    with pytest.raises(LeakageError, match="already helped to choose it"):
        secateur.certify(front[-1], new, method="test-sample")
    with pytest.raises(SecateurError, match="labels were not fixed"):
        secateur.certify(front[-1], new, grown=grown)


def test_nothing_is_certified_below_a_target_that_is_too_low(fitted):
    found = update(fitted, *rows(500, 1, shift=0.1))

    refused = found.certify(*rows(500, 13, shift=0.1), target=0.02)

    assert not refused.is_met
    assert not refused.certificate.certified
    assert refused.chosen == found.chosen
    assert refused.model().certificate is None


def test_certificates_of_updates_fail_no_more_often_than_delta():
    share = np.array([0.55, 0.75, 0.3, 0.62])  # of the second class in each leaf
    errors = np.stack([share, 1 - share], axis=1)

    def runs(target):
        rng = np.random.default_rng(0)
        while True:
            tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
            grown = Counts.from_leaves(tree, [[30, 10], [10, 30], [30, 10], [10, 30]])
            deployed = Pruning.from_cuts(tree, [1], node_labels=grown.majority)
            n_second = rng.binomial(10, share)
            new = Counts.from_leaves(tree, np.stack([10 - n_second, n_second], axis=1), sample="new")
            front = fewest_changes(deployed, grown, new)
            found = Update(Model(deployed, grown), front, None, 0, "", True, len(front) - 1)
            n_rows = rng.multinomial(120, np.full(4, 0.25))
            n_second = rng.binomial(n_rows, share)
            fresh = Counts.from_leaves(tree, np.stack([n_rows - n_second, n_second], axis=1), sample="fresh")
            certified = found.certify_counts(fresh, target=target, delta=0.1)
            pruning = certified.pruning()
            labels = [pruning.labels[pruning.leaf_above(v)] for v in np.flatnonzero(tree.is_leaf)]
            yield certified.certificate.certified and errors[range(4), labels].mean() > target

    assert not is_refuted(runs(0.36))  # the smallest error of any pruning is .345
    assert not is_refuted(runs(0.34))


def test_what_cannot_be_updated_is_refused_by_name(fitted):
    X, y = rows(100, 1)

    with pytest.raises(UnsupportedError, match="predicts a number"):
        update(TreeRegressor().fit(X, X[:, 0]), X, X[:, 0])
    with pytest.raises(DataError, match="y is None"):
        update(fitted, X)
    with pytest.raises(DataError, match="at least 2"):
        update(fitted, X[:1], y[:1])
    for name, value in {"max_changes": -1, "target_error": 1.5, "cv": 1, "select": "2se", "distance": "leaves"}.items():
        with pytest.raises(ParameterError, match=name):
            update(fitted, X, y, **{name: value})


def test_growing_rows_warn_that_they_are_not_new():
    X, y = rows(600, 0)

    with pytest.warns(UserWarning, match="to update the tree"):
        update(TreeClassifier(select=6, max_depth=30).fit(X, y), X, y)


def test_a_few_rows_change_nothing_that_cross_validation_does_not_confirm(fitted):
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(8, 3))

    found = update(fitted, X, rng.permutation(["bad", "good"] * 4))

    assert found.cv_errors[found.chosen] <= found.cv_errors[0]
    assert found.cv_errors.tolist() != (found.front.errors / 8).tolist()


def test_the_text_and_the_facts_agree(fitted):
    found = update(fitted, *rows(500, 1, shift=0.1))

    facts = found.to_dict()

    assert facts["chosen"]["changes"] == found.n_changes
    assert [entry["changes"] for entry in facts["front"]] == found.front.n_changes.tolist()
    assert found.headline in str(found)
    assert all(change["text"] in str(found) for change in facts["changes"][:5])
    assert len(found.shown_members(5)) <= 5


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"costs": [[0, 1], [5, 0]]}, "minimise expected costs"),
        ({"class_weight": "balanced"}, "class_weight"),
        ({"scoring": "balanced_error"}, "balanced error"),
        ({"monotonic_cst": [1, 0, 0]}, "monotonic_cst"),
    ],
)
def test_labels_that_serve_another_purpose_than_few_errors_are_not_changed(parameters, words):
    model = TreeClassifier(cv=3, cv_repeats=1, **parameters).fit(*rows(200, 0))

    with pytest.raises(UnsupportedError, match=words):
        update(model, *rows(100, 1))


def test_the_rows_of_a_group_are_in_one_fold(fitted):
    X, y = rows(120, 21, shift=0.1)
    copies, label, groups = np.repeat(X, 4, axis=0), np.repeat(y, 4), np.repeat(np.arange(120), 4)
    order = np.random.default_rng(0).permutation(480)

    alone = update(fitted, copies, label, regrow=True)
    grouped = update(fitted, copies, label, groups=groups, regrow=True)
    shuffled = update(fitted, copies[order], label[order], groups=groups[order], regrow=True)

    assert shuffled.cv_errors.tolist() == grouped.cv_errors.tolist()
    assert grouped.cv_errors[-1] > alone.cv_errors[-1] + 0.05  # subtrees learn copies in other folds by heart
