"""scikit-learn as oracle: both libraries grow trees with the same values of the criterion."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from secateur import count, grow
from secateur.routing import apply

THEIRS = {"gini": ("gini", 1.0), "entropy": ("entropy", 0.5)}  # our entropy is half of theirs


def table(seed, n=400, d=4, n_classes=2, n_values=None):
    """Whole numbers, which float32 holds exactly: scikit-learn reads no others."""
    rng = np.random.default_rng(seed)
    if n_values is None:
        X = np.column_stack([rng.permutation(n) for _ in range(d)])
    else:
        X = rng.integers(0, n_values, (n, d))
    signal = X[:, 0] / X[:, 0].max() + X[:, 1] / X[:, 1].max() + 0.5 * rng.normal(size=n)
    return X.astype(float), np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))


def their_total(model, weight=None):
    """Impurity of the leaves, weighted by their share."""
    tree = model.tree_
    is_leaf = tree.children_left < 0
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    return float((share * tree.impurity)[is_leaf].sum())


def our_total(tree, counts, criterion):
    before = impurity(counts.by_class[0], criterion)
    return before - np.nansum(tree.score * counts.total) / counts.total[0]


def impurity(row, criterion):
    q = row / row.sum()
    return 1 - (q**2).sum() if criterion == "gini" else -sum(x * np.log2(x) for x in q if x > 0) / 2


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(3))
def test_the_root_test_is_theirs(criterion, n_classes, seed):
    X, y = table(seed, n_classes=n_classes)
    name, factor = THEIRS[criterion]
    sklearn_tree = DecisionTreeClassifier(criterion=name, max_depth=1, random_state=0).fit(X, y)
    tree, counts = grow(X, y, criterion=criterion, max_depth=1)

    assert our_total(tree, counts, criterion) == pytest.approx(factor * their_total(sklearn_tree), abs=1e-12)
    assert tree.feature[0] == sklearn_tree.tree_.feature[0]
    assert tree.threshold[0] == sklearn_tree.tree_.threshold[0]


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_shallow_trees_reach_their_impurity_and_error(criterion, n_classes, seed):
    X, y = table(seed, n=600, n_classes=n_classes)
    name, factor = THEIRS[criterion]
    rules = {"max_depth": 3, "min_samples_leaf": 20}
    sklearn_tree = DecisionTreeClassifier(criterion=name, random_state=0, **rules).fit(X, y)
    tree, counts = grow(X, y, criterion=criterion, **rules)

    assert our_total(tree, counts, criterion) == pytest.approx(factor * their_total(sklearn_tree), abs=1e-12)
    assert tree.n_nodes == sklearn_tree.tree_.node_count
    errors = counts.errors_if_leaf(counts.majority)[tree.is_leaf].sum()
    assert errors == np.count_nonzero(sklearn_tree.predict(X) != y)


@pytest.mark.parametrize("n_values", [None, 12])
@pytest.mark.parametrize("seed", range(3))
def test_full_trees_have_their_error_and_nearly_their_size(n_values, seed):
    X, y = table(seed, n=800, n_classes=3, n_values=n_values)
    sizes = [DecisionTreeClassifier(random_state=k).fit(X, y).tree_.node_count for k in range(5)]
    sklearn_tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    tree, counts = grow(X, y)

    errors = counts.errors_if_leaf(counts.majority)[tree.is_leaf].sum()
    assert errors == np.count_nonzero(sklearn_tree.predict(X) != y)
    assert min(sizes) * 0.93 <= tree.n_nodes <= max(sizes) * 1.07  # they break ties at random


@pytest.mark.parametrize("seed", range(3))
def test_weighted_roots_are_theirs(seed):
    X, y = table(seed, n_classes=3)
    weight = np.random.default_rng(seed).random(len(y)) + 0.1
    sklearn_tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, sample_weight=weight)
    tree, counts = grow(X, y, sample_weight=weight, max_depth=2)

    assert our_total(tree, counts, "gini") == pytest.approx(their_total(sklearn_tree), abs=1e-12)
    assert tree.n_nodes == sklearn_tree.tree_.node_count


@pytest.mark.parametrize("seed", range(3))
def test_balanced_classes_give_their_root(seed):
    X, y = table(seed)
    y = np.where(np.random.default_rng(seed).random(len(y)) < 0.7, 0, y)
    sklearn_tree = DecisionTreeClassifier(max_depth=2, class_weight="balanced", random_state=0).fit(X, y)
    tree, counts = grow(X, y, class_weight="balanced", max_depth=2)

    assert our_total(tree, counts, "gini") == pytest.approx(their_total(sklearn_tree), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_missing_values_reach_their_impurity_at_the_root(seed):
    X, y = table(seed, n_classes=3)
    X[np.random.default_rng(seed).random(X.shape) < 0.3] = np.nan
    sklearn_tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    tree, counts = grow(X, y, max_depth=1)

    assert our_total(tree, counts, "gini") <= their_total(sklearn_tree) + 1e-12  # present against missing is ours alone
    if np.isfinite(tree.threshold[0]):
        assert our_total(tree, counts, "gini") == pytest.approx(their_total(sklearn_tree), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_best_first_trees_reach_their_impurity(seed):
    X, y = table(seed, n=600)
    for n_leaves in (2, 5, 12):
        sklearn_tree = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=0).fit(X, y)
        tree, counts = grow(X, y, growth="best-first", max_splits=n_leaves - 1)
        assert tree.n_leaves == sklearn_tree.get_n_leaves()
        assert our_total(tree, counts, "gini") == pytest.approx(their_total(sklearn_tree), abs=1e-12)


def test_their_rows_reach_our_leaves():
    X, y = table(5, n=600)
    rules = {"max_depth": 3, "min_samples_leaf": 20}
    sklearn_tree = DecisionTreeClassifier(random_state=0, **rules).fit(X, y)
    tree, _ = grow(X, y, **rules)
    fresh, labels = table(6, n=600)

    # Both number nodes in pre-order.
    assert np.array_equal(apply(tree, fresh), sklearn_tree.apply(fresh))
    assert count(tree, fresh, labels).total.tolist() == sklearn_tree.decision_path(fresh).sum(axis=0).tolist()[0]
