"""Groups of columns that may be tested together: every path stays in one, and takes the best test that it may."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur import TreeClassifier, TreeRegressor, grow, load
from secateur.errors import ParameterError
from secateur.routing import apply

GROUPS = st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=4)


def data(seed, n=60):
    """Two columns of numbers, two of two values, two of categories."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 9, (n, 2)), rng.integers(0, 2, (n, 2)), rng.integers(0, 4, (n, 2))])
    return X.astype(float), rng.integers(0, 3, n)


def allowed(path, groups):
    rest = set(range(6)).difference(*groups)
    return sorted(set().union(*(group for group in (*groups, rest) if path <= set(group))))


def check(X, y, tree, groups, **how):
    """Whether every node has the best test of the columns it may test, which is the root of a tree of these alone."""
    reaches = apply(tree, X)
    for v in range(tree.n_nodes):
        rows = (reaches >= v) & (reaches < tree.end[v])
        path, u = set(), v
        while tree.parent[u] >= 0:
            u = tree.parent[u]
            path.add(int(tree.feature[u]))
        columns = allowed(path, groups) if path else list(range(6))
        own = [columns.index(j) for j in (4, 5) if j in columns]
        small = grow(X[rows][:, columns], y[rows], nominal=own, max_depth=1, **how)[0] if columns else None
        if tree.is_leaf[v]:
            assert small is None or small.n_leaves == 1
        else:
            assert columns[small.feature[0]] == tree.feature[v]
            assert small.threshold[0] == tree.threshold[v] or np.isnan(tree.threshold[v])


@pytest.mark.lane
@pytest.mark.filterwarnings("ignore:every row has the class")
@settings(max_examples=10, deadline=None)
@given(GROUPS, st.integers(0, 1000))
def test_a_node_takes_the_best_of_the_columns_it_may_test(groups, seed):
    X, y = data(seed)
    check(X, y, grow(X, y, nominal=[4, 5], interaction_cst=groups)[0], groups)


@settings(max_examples=6, deadline=None)
@given(GROUPS, st.integers(0, 1000))
def test_numbers_keep_to_the_groups_too(groups, seed):
    X, y = data(seed)
    y = y * 1.0 + X[:, 0] * X[:, 2]
    how = {"criterion": "squared_error"}
    check(X, y, grow(X, y, nominal=[4, 5], interaction_cst=groups, **how)[0], groups, **how)


def test_words_names_and_more_groups_than_a_word_has_bits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 14)), rng.integers(0, 2, 300)
    for word, most in (("pairwise", 2), ("no_interactions", 1)):  # 91 pairs
        tree = grow(X, y, interaction_cst=word)[0]
        widths = set()
        for leaf in tree.leaves:
            path, u = set(), int(leaf)
            while tree.parent[u] >= 0:
                u = int(tree.parent[u])
                path.add(int(tree.feature[u]))
            widths.add(len(path))
        assert max(widths) == most
    names = grow(X, y, interaction_cst=[["x0", "x3"], {1, np.int64(2)}])[0]
    assert names == grow(X, y, interaction_cst=[(3, 0), [2, 1]])[0]
    assert grow(X, y, interaction_cst=[range(14)])[0] == grow(X, y)[0]


@pytest.mark.parametrize("n_columns", [64, 65, 130])
def test_columns_may_fill_several_words(n_columns):
    rng = np.random.default_rng(n_columns)
    X = rng.integers(0, 9, (80, n_columns)).astype(float)
    y = rng.integers(0, 2, 80)
    first, last = range(n_columns // 2), range(n_columns // 2, n_columns)

    tree = grow(X, y, interaction_cst=[first, last])[0]
    group = first if tree.feature[0] in first else last

    assert set(tree.feature[tree.internal].tolist()) <= set(group)
    assert tree == grow(np.where(np.isin(np.arange(n_columns), group), X, 0.0), y)[0]


def test_the_top_of_a_large_tree_keeps_to_the_groups():
    X, y = data(1, 1 << 16)
    tree = grow(X, y, interaction_cst=[[0, 2], [1, 2, 3]], max_depth=4)[0]
    for v in tree.internal[1:]:
        columns, u = {int(tree.feature[v])}, int(v)
        while tree.parent[u] >= 0:
            u = int(tree.parent[u])
            columns.add(int(tree.feature[u]))
        assert any(columns <= group for group in ({0, 2}, {1, 2, 3}, {4, 5}))


def test_estimators_take_groups_and_the_file_keeps_them(tmp_path):
    X, y = data(3, 200)
    model = TreeClassifier(select=None, criterion="gini", interaction_cst=[{0, 1}]).fit(X, y)
    assert model.tree_ == grow(X, y, interaction_cst=[[0, 1], [2, 3, 4, 5]])[0]
    assert model.model_.parameters["interaction_cst"] == [[0, 1]]
    chosen = TreeClassifier(interaction_cst=[{0, 1}]).fit(X, y)
    assert chosen.selection_.growing["interaction_cst"] == [[0, 1]]
    chosen.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").tree_ == chosen.tree_
    TreeRegressor(interaction_cst="pairwise").fit(X, y)


@pytest.mark.parametrize(("wrong", "says"), [
    ("pairs", "interaction_cst='pairs'"), ([], r"interaction_cst=\[\]"), (["x0"], "list of groups"), (3, "=3"),
    ([[6]], "names column 6; .*0 to 5"), ([["age"]], "names column 'age'"), ([[True]], "names column True"),
])  # fmt: skip
def test_what_is_no_group_is_said(wrong, says):
    with pytest.raises(ParameterError, match=says):
        grow(*data(0), interaction_cst=wrong)
