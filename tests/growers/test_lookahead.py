"""Trees of few leaves that look ahead: as good as the best of all trees, exactly as large as asked for."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from secateur import TreeClassifier, encode, grow
from secateur._kernels.small_trees import best_small_trees
from secateur.growers.lookahead import LookaheadSplit, _category_splits, _purest_different, grow_with_lookahead
from secateur.pruners import best_of_size
from secateur.routing import apply


def least_errors(X, y, n_leaves):
    """Errors of the best tree of so many leaves, that parts no pure node, on columns of 0 and 1, found by trying all."""

    @cache
    def best(rows, n):
        own = y[list(rows)]
        errors = len(own) - np.bincount(own).max()
        if n == 1:
            return errors
        if errors == 0:
            return np.inf
        errors = np.inf
        for j in range(X.shape[1]):
            left = tuple(r for r in rows if X[r, j] == 0)
            right = tuple(r for r in rows if X[r, j] == 1)
            if left and right:
                errors = min([errors, *(best(left, k) + best(right, n - k) for k in range(1, n))])
        return errors

    return best(tuple(range(len(y))), n_leaves)


@st.composite
def bits(draw, n_classes=2):
    n, d = draw(st.integers(4, 24)), draw(st.integers(2, 5))
    X = draw(st.lists(st.lists(st.integers(0, 1), min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    return np.array(X, float), np.array(y)


@pytest.mark.lane
@given(bits(3), st.integers(2, 4))
@example(
    (np.column_stack([1 - np.eye(11)[0], np.eye(11)[10]]), np.repeat([0, 1], [5, 6])), 2
)  # a value that no quantile reaches
@example(
    (np.array([[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]], float), np.array([1, 0, 0, 0, 0])), 4
)  # a pure child, which cannot have two of the leaves
def test_up_to_four_leaves_no_tree_errs_less(sample, n_leaves):
    X, y = sample
    counts = grow_with_lookahead(encode(X, target=y), None, n_leaves)
    least = least_errors(X, y, n_leaves)
    if counts is None:
        assert least == np.inf
    else:
        assert counts.tree.n_leaves == n_leaves
        assert counts.resubstitution_costs[counts.tree.leaves].sum() == least


def test_parity_of_three_columns_needs_lookahead():
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 5, float)
    X = np.column_stack([X, np.arange(40) % 5 % 2])
    y = X[:, 0].astype(int) ^ X[:, 2].astype(int)
    model = TreeClassifier(select=4).fit(X, y)
    assert (model.get_n_leaves(), model.score(X, y)) == (4, 1.0)
    assert set(model.tree_.feature[model.tree_.internal].tolist()) == {0, 2}


def test_an_estimator_of_four_leaves_finds_the_parity_that_greedy_growth_misses():
    parity = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 10)
    y = parity[:, 0] ^ parity[:, 1]
    resembling = np.where(np.arange(40) < 12, 1 - y, y)  # as the class in 28 of 40 rows
    X = np.column_stack([resembling, parity]).astype(float)
    for criterion in ("gini", "sqrt"):
        tree, counts = grow(X, y, criterion=criterion)
        assert best_of_size(tree, counts, max_leaves=4).errors[0] > 0
    model = TreeClassifier(select=4).fit(X, y)
    assert (model.get_n_leaves(), model.score(X, y)) == (4, 1.0)
    assert TreeClassifier(select=4, prune="best-of-size").fit(X, y).score(X, y) < 1  # without lookahead


@pytest.mark.parametrize("is_inverted", [False, True])
def test_six_leaves_find_a_conjunction_of_two_columns_on_each_side(is_inverted):
    X = np.array(list(product((0.0, 1.0), repeat=5)))
    first, *others = (1 - X if is_inverted else X).T
    y = np.where(first == 0, others[0] * others[1], others[2] * others[3]).astype(int)
    counts = grow_with_lookahead(encode(X, target=y), None, 6)
    assert counts.tree.n_leaves == 6
    assert counts.resubstitution_costs[counts.tree.leaves].sum() == 0


@pytest.mark.parametrize("n_leaves", range(2, 9))
def test_few_leaves_err_no_more_than_the_best_cut_of_a_greedy_tree(n_leaves):
    rng = np.random.default_rng(n_leaves)
    X = np.column_stack([rng.normal(size=(200, 3)), rng.integers(0, 5, 200)])
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + np.isnan(X[:, 2]) + rng.normal(size=200) > 0).astype(int)
    model = TreeClassifier(select=n_leaves).fit(X, y)
    tree, counts = grow(X, y)
    assert model.get_n_leaves() == n_leaves
    assert (model.predict(X) != y).sum() <= best_of_size(tree, counts, max_leaves=n_leaves).errors[0]


def test_rows_in_another_order_and_repeated_rows_give_the_same_tree():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, (150, 4)).astype(float), rng.integers(0, 3, 150)
    X[:, 3] = rng.normal(size=150)
    weight = rng.integers(1, 4, 150)
    order = rng.permutation(150)
    one = grow_with_lookahead(encode(X, target=y, nominal=[0]), weight.astype(float), 5)
    other = grow_with_lookahead(encode(X[order], target=y[order], nominal=[0]), weight[order].astype(float), 5)
    again = np.repeat(np.arange(150), weight)
    repeated = grow_with_lookahead(encode(X[again], target=y[again], nominal=[0]), None, 5)
    assert one.tree == other.tree == repeated.tree
    assert (one.by_class == repeated.by_class).all()
    assert one.tree.n_leaves == 5


def test_categories_without_rows_go_to_the_larger_child():
    colours = np.array(["red"] * 10 + ["blue"] * 20 + ["green"] * 10)
    model = TreeClassifier(select=2).fit(colours[:, None], ["a"] * 10 + ["b"] * 30)
    assert model.predict([["red"], ["green"], ["none"]]).tolist() == ["a", "b", "b"]


def test_what_a_tree_must_meet_besides_is_met():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    for asked in ({"max_depth": 2}, {"min_samples_leaf": 20}, {"max_bins": 30}, {"criterion": "gini"}):
        model = TreeClassifier(select=4, **asked).fit(X, y)
        assert model.tree_ == grow(X, y, **asked)[0]


@pytest.mark.lane
def test_a_node_of_one_class_or_without_rows_has_no_tests():
    meet = np.array([[[3.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [2.0, 0.0]]])
    costs, tests = best_small_trees(meet, np.array([5.0, 0.0]), 0.1)
    assert costs.tolist() == [0.0, np.inf, np.inf]
    assert (tests == -1).all()
    assert best_small_trees(np.zeros((2, 2, 2)), np.zeros(2), 0.1)[0].tolist() == [np.inf] * 3


@pytest.mark.parametrize("weight", [None, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]])
def test_the_score_of_a_split_is_the_drop_of_the_gini_impurity_per_row(weight):
    X = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0) for _ in range(3)])
    y = np.array([0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1])
    weights = np.ones(12) if weight is None else np.array(weight, float)
    tree = grow_with_lookahead(encode(X, target=y), None if weight is None else weights, 4).tree
    node_of_row = apply(tree, X)

    def gini(rows):
        shares = np.bincount(y[rows], weights[rows]) / weights[rows].sum()
        return 1 - (shares**2).sum()

    for v in tree.internal:
        rows, *of_children = (
            np.flatnonzero((node_of_row >= u) & (node_of_row < tree.end[u])) for u in (v, *tree.children(v))
        )
        drop = gini(rows) - sum(weights[child].sum() / weights[rows].sum() * gini(child) for child in of_children)
        assert tree.score[v] == pytest.approx(drop)


def test_the_splits_that_are_tried_become_fewer_with_more_rows():
    splits = [LookaheadSplit(0, np.arange(64) < i, 0, i, i + 1) for i in range(1, 64)]
    purity = np.arange(63.0)
    kept = _purest_different(splits, purity, 100_000)
    assert len(kept) == 27  # 27 cubed, times the rows, is below 2**31; 28 cubed is above
    assert [split.below for split in kept] == list(range(37, 64))  # the purest
    assert len(_purest_different(splits, purity, 1000)) == 63


def test_a_set_of_categories_is_split_from_the_others():
    colours = np.array(["red", "blue", "green", "red", "grey", "blue", "green", "grey"])
    table = encode(colours[:, None], target=np.isin(colours, ["red", "green"]).astype(int))
    counts = grow_with_lookahead(table, None, 2)
    child_of = dict(zip(table.schema.columns[0].categories, counts.tree.branch.tolist(), strict=True))
    assert child_of["red"] == child_of["green"] != child_of["blue"] == child_of["grey"]
    assert sorted(counts.by_class[1:].tolist()) == [[0, 4], [4, 0]]


def test_sets_of_categories_are_prefixes_by_the_share_of_a_class_and_unseen_ones_follow_most_rows():
    # Shares of the first class: category 2 has none of 4 rows, 0 a quarter of 20, 1 half of 2, 3 all of 3.
    column = np.repeat([0, 1, 2, 3], [20, 2, 4, 3])
    is_first = np.concatenate([np.arange(20) < 5, [True, False], [False] * 4, [True] * 3])
    of_class = np.column_stack([is_first, ~is_first]).astype(float)

    splits = _category_splits(7, column, 5, of_class)

    prefixes = [{2}, {0, 2}, {0, 1, 2}]
    lefts = [set(np.unique(column[split.goes_left]).tolist()) for split in splits]
    assert all(prefix in lefts for prefix in prefixes)
    assert all(len(left) == 1 or left in prefixes for left in lefts)
    for split in splits:
        assert split.default == (0 if split.goes_left.sum() >= 14.5 else 1)
        assert split.branch[4] == split.default
