"""The whole path of a fitted tree equals scikit-learn's own, alpha by alpha and node by node."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text

from secateur.errors import CountsError, ParameterError, UnsupportedError
from secateur.interop import path_sklearn
from sklearn_trees import KINDS, assert_sound, fitted, rows


def grouped(alphas, impurities):
    """scikit-learn's path with steps at one penalty, rounding apart, taken together: the last of each.

    A penalty below 1e-12 of the root's impurity is rounding to us, and so no step.
    """
    alphas = np.where(alphas <= 1e-12 * impurities[-1], 0.0, alphas)
    last = np.append(np.diff(alphas) > 1e-9 * np.maximum(alphas[1:], 1e-6), True)
    first = np.append(True, last[:-1])
    return alphas[first], impurities[last]


@pytest.mark.parametrize("kind", ["gini", "entropy", "squared", "weighted", "missing", "best-first", "poisson"])
def test_alphas_and_impurities_are_those_of_scikit_learn_on_many_trees(kind):
    for seed in range(50):
        tree, X, y, weight = fitted(kind, seed, n=20 + seed)
        theirs = tree.cost_complexity_pruning_path(X, y, sample_weight=weight)
        alphas, impurities = grouped(theirs.ccp_alphas, theirs.impurities)

        path = path_sklearn(tree)

        np.testing.assert_allclose(path.ccp_alphas, alphas, rtol=1e-7, atol=1e-13)
        np.testing.assert_allclose(path.impurities, impurities, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("kind", ["gini", "squared", "weighted", "missing"])
@pytest.mark.parametrize("seed", range(3))
def test_members_are_the_trees_that_refitting_with_ccp_alpha_gives(kind, seed):
    tree, X, y, weight = fitted(kind, seed, n=60)
    path = path_sklearn(tree)
    between = np.append((path.ccp_alphas[1:] + path.ccp_alphas[:-1]) / 2, 1.0 + path.ccp_alphas[-1])
    for i, alpha in enumerate(between):
        refitted = type(tree)(**{**tree.get_params(), "ccp_alpha": alpha}).fit(X, y, sample_weight=weight)
        member = path[i]
        assert export_text(member, max_depth=99, decimals=9) == export_text(refitted, max_depth=99, decimals=9)
        for name in ("children_left", "threshold", "impurity", "n_node_samples", "weighted_n_node_samples", "value"):
            np.testing.assert_array_equal(getattr(member.tree_, name), getattr(refitted.tree_, name), err_msg=name)
        assert path.at(alpha).get_n_leaves() == refitted.get_n_leaves()
        assert_sound(member)


@pytest.mark.parametrize("kind", KINDS)
def test_the_path_of_errors_measures_what_the_members_get_wrong(kind):
    tree, X, y, weight = fitted(kind, 5)
    path = path_sklearn(tree, cost="errors")

    assert (np.diff(path.sequence.n_leaves) < 0).all()
    assert (np.diff(path.ccp_alphas) > 0).all()
    for i in range(0, len(path), 5):
        predicted = path.tree(i).predict(X)
        if path.tree(i).__class__.__name__.endswith("Classifier"):
            loss = predicted != y
        elif kind == "absolute":
            loss = np.abs(predicted - y)
        elif kind == "poisson":
            loss = np.where(y > 0, y * np.log(np.where(y > 0, y / predicted, 1)), 0) - y + predicted
        else:
            loss = (predicted - y) ** 2
        assert path.impurities[i] == pytest.approx(np.average(loss, weights=weight), abs=1e-9)


@pytest.mark.parametrize("kind", ["gini", "weighted", "missing", "squared"])
@pytest.mark.parametrize("cost", ["impurity", "errors"])
def test_an_alpha_is_the_cost_per_unit_of_weight_that_a_step_adds_for_each_leaf_it_removes(kind, cost):
    tree, X, y, weight = fitted(kind, 3, n=90)
    path = path_sklearn(tree, cost=cost)

    def mean_loss(member):
        if cost == "impurity":
            nodes = member.tree_
            is_leaf = nodes.children_left < 0
            return np.average(nodes.impurity[is_leaf], weights=nodes.weighted_n_node_samples[is_leaf]) * (
                nodes.weighted_n_node_samples[is_leaf].sum() / nodes.weighted_n_node_samples[0]
            )
        predicted = member.predict(X)
        return np.average(predicted != y if y.dtype.kind == "U" else (predicted - y) ** 2, weights=weight)

    losses, leaves = [mean_loss(member) for member in path], [member.get_n_leaves() for member in path]
    expected = [(losses[k] - losses[k - 1]) / (leaves[k - 1] - leaves[k]) for k in range(1, len(path))]
    assert path.ccp_alphas[0] == 0
    np.testing.assert_allclose(path.ccp_alphas[1:], expected, rtol=1e-6, atol=1e-12)


def test_a_path_has_a_length_and_can_be_walked():
    tree = fitted("gini", 1)[0]
    path = path_sklearn(tree)

    assert [member.get_n_leaves() for member in path] == path.sequence.n_leaves.tolist()
    assert len(path) == len(path.ccp_alphas) == len(path.impurities)
    assert path[-1].get_n_leaves() == 1
    assert repr(path) == f"SklearnPath({len(path)} trees, {tree.get_n_leaves()} to 1 leaves)"


@pytest.mark.parametrize("maker", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_a_single_leaf_is_its_own_path(maker):
    path = path_sklearn(maker().fit([[1.0], [1.0]], [0, 1]))

    assert (len(path), path.ccp_alphas.tolist()) == (1, [0.0])
    assert path[0].get_n_leaves() == 1


def test_errors_under_class_weights_are_counted_again_or_refused():
    X, y, _ = rows(3)
    tree = DecisionTreeClassifier(class_weight="balanced", random_state=0).fit(X, y)

    with pytest.raises(CountsError, match=r"class_weight='balanced'.*pass the rows"):
        path_sklearn(tree, cost="errors")
    path = path_sklearn(tree, X, y, cost="errors")
    share = np.bincount(np.unique(y, return_inverse=True)[1])
    weight = (len(y) / 3 / share)[np.unique(y, return_inverse=True)[1]]
    wrong = path[-4].predict(X) != y
    assert path.impurities[-4] == pytest.approx(np.average(wrong, weights=weight))
    assert path_sklearn(tree).ccp_alphas[0] == 0


def test_what_is_no_single_tree_or_no_cost_is_refused():
    X, y, _ = rows(0)
    with pytest.raises(UnsupportedError, match=r"forest of trees; pass one of its members"):
        path_sklearn(RandomForestClassifier(3).fit(X, y))
    tree = fitted("gini", 0)[0]
    with pytest.raises(ParameterError, match="cost='gini'"):
        path_sklearn(tree, cost="gini")
    with pytest.raises(ParameterError, match="ccp_alpha=-1"):
        path_sklearn(tree).at(-1)


def test_errors_of_a_monotonic_regressor_are_counted_from_its_rows():
    X, y, _ = rows(2, kind="squared")
    tree = DecisionTreeRegressor(monotonic_cst=[1, 0, 0], random_state=0, max_depth=5).fit(X, y)

    path = path_sklearn(tree, X, y, cost="errors")

    losses = [np.mean((member.predict(X) - y) ** 2) for member in path]
    np.testing.assert_allclose(path.impurities, losses, rtol=1e-6)
    with pytest.raises(CountsError):
        path_sklearn(tree, cost="errors")
