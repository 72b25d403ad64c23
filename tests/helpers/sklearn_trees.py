"""Fitted scikit-learn trees of many kinds, rows that are hard to route, and slow reference implementations."""

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

KINDS = {
    "gini": (DecisionTreeClassifier, {}),
    "entropy": (DecisionTreeClassifier, {"criterion": "entropy"}),
    "best-first": (DecisionTreeClassifier, {"max_leaf_nodes": 20}),
    "missing": (DecisionTreeClassifier, {}),
    "weighted": (DecisionTreeClassifier, {}),
    "extra": (ExtraTreeClassifier, {}),
    "squared": (DecisionTreeRegressor, {}),
    "absolute": (DecisionTreeRegressor, {"criterion": "absolute_error"}),
    "poisson": (DecisionTreeRegressor, {"criterion": "poisson"}),
    "best-first numbers": (DecisionTreeRegressor, {"max_leaf_nodes": 20}),
    "extra numbers": (ExtraTreeRegressor, {}),
}
CLASSIFIERS = [kind for kind, (maker, _) in KINDS.items() if "Classifier" in maker.__name__]
REGRESSORS = [kind for kind in KINDS if kind not in CLASSIFIERS]
FORESTS = [RandomForestClassifier, ExtraTreesClassifier, RandomForestRegressor, ExtraTreesRegressor]


def rows(seed, n=120, d=3, kind="gini"):
    """X, y and weights (None but for the weighted kind)."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), rng.integers(0, 4))
    signal = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n)
    if kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    weight = rng.integers(0, 4, n) * 0.7 if kind == "weighted" else None
    if kind in CLASSIFIERS:
        return X, np.array(["a", "b", "c"])[np.digitize(signal, [-0.7, 0.7])], weight
    return X, np.abs(signal), weight


def fitted(kind, seed, n=120, **parameters):
    """A fitted tree, and the rows it was grown on."""
    maker, own = KINDS[kind]
    X, y, weight = rows(seed, n, kind=kind)
    return maker(random_state=seed, **own, **parameters).fit(X, y, sample_weight=weight), X, y, weight


def hard_rows(estimator, seed, n=200):
    """Rows on, just beside and far from the thresholds, with missing values."""
    rng = np.random.default_rng(seed)
    tree = estimator.tree_
    X = rng.normal(size=(n, estimator.n_features_in_)) * 3
    for j in range(X.shape[1]):
        own = tree.threshold[(tree.feature == j) & np.isfinite(tree.threshold)]
        if len(own):
            near = rng.choice(own, n).astype(np.float32)
            step = rng.choice([-np.inf, np.inf], n).astype(np.float32)
            beside = np.nextafter(near, step)
            between = near / 2.0 + beside.astype(np.float64) / 2  # exactly where rounding to float32 is a tie
            picked = np.choose(rng.integers(0, 3, n), [near.astype(np.float64), beside.astype(np.float64), between])
            X[:, j] = np.where(rng.random(n) < 0.8, picked, X[:, j])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def walk(estimator, x, cuts=()):
    """The node where a row stops, told step by step from the public arrays."""
    tree, v = estimator.tree_, 0
    x = np.float32(x)
    while tree.children_left[v] != -1 and v not in cuts:
        value = x[tree.feature[v]]
        goes_left = tree.missing_go_to_left[v] if np.isnan(value) else value <= tree.threshold[v]
        v = tree.children_left[v] if goes_left else tree.children_right[v]
    return v


def assert_sound(estimator):
    """What every tool relies on: structure, sums, depth and importances of a scikit-learn tree."""
    tree = estimator.tree_
    left, right = tree.children_left, tree.children_right
    inner = np.flatnonzero(left != -1)
    leaves = np.flatnonzero(left == -1)
    assert (right[leaves] == -1).all()
    assert (tree.feature[leaves] == -2).all()
    assert (tree.threshold[leaves] == -2).all()
    assert (left[inner] > inner).all()
    assert (right[inner] > left[inner]).all()
    assert sorted([*left[inner], *right[inner]]) == list(range(1, tree.node_count))
    assert ((tree.feature[inner] >= 0) & (tree.feature[inner] < estimator.n_features_in_)).all()
    assert (tree.n_node_samples[inner] == tree.n_node_samples[left[inner]] + tree.n_node_samples[right[inner]]).all()
    weight = tree.weighted_n_node_samples
    np.testing.assert_allclose(weight[inner], weight[left[inner]] + weight[right[inner]])
    depth = np.zeros(tree.node_count, int)
    for v in inner:
        depth[[left[v], right[v]]] = depth[v] + 1
    assert tree.max_depth == depth.max() == estimator.get_depth()
    assert tree.n_leaves == len(leaves) == estimator.get_n_leaves()
    assert np.isfinite(estimator.feature_importances_).all()
