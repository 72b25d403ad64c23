"""Best-first: the leaf with the largest drop is split next, and the order is remembered."""

import numpy as np
import pytest
from hypothesis import given

from oracles import naive_grow
from secateur import grow
from secateur._kernels import criteria
from small_tables import Sample, rows_of_nodes, samples

BEST = {"growth": "best-first"}


def prefix(tree, n_splits):
    """The rows of (parent, feature, threshold) of the tree after its first splits."""
    kept = tree.is_leaf.copy()
    kept[:] = False
    kept[0] = True
    for v in range(1, tree.n_nodes):
        p = tree.parent[v]
        kept[v] = kept[p] and 0 <= tree.split_order[p] < n_splits
    number = np.cumsum(kept) - 1
    inner = kept & (tree.split_order >= 0) & (tree.split_order < n_splits)
    parent = [-1 if p < 0 else int(number[p]) for p in tree.parent[kept]]
    return (
        parent,
        np.where(inner, tree.feature, -1)[kept].tolist(),
        np.nan_to_num(np.where(inner, tree.threshold, np.nan)[kept], nan=-99.0).tolist(),
        np.where(inner, tree.split_order, -1)[kept].tolist(),
    )


def noise(n=400, d=3, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    return Sample(rng.normal(size=(n, d)), rng.integers(0, n_classes, n))


@pytest.mark.lane
def test_the_drop_counts_the_share_of_the_leaf():
    def inner(q, r, p):
        gini = [criteria.impurity(criteria.CriterionSpec("gini"), np.array([x, 1 - x]), 1.0) for x in (q, r, p)]
        return gini[0] - gini[1] / 2 - gini[2] / 2

    assert inner(0.5, 0.0, 1.0) == pytest.approx(0.5)
    assert 0.05 * inner(0.5, 0.0, 1.0) == pytest.approx(0.025)
    assert inner(0.8, 0.6, 1.0) == pytest.approx(0.08)
    assert 0.95 * inner(0.8, 0.6, 1.0) == pytest.approx(0.076)


def test_a_large_leaf_with_a_fair_test_goes_before_a_small_leaf_with_a_perfect_one():
    # Column 0 tells leaf A (w = .05, classes 2 and 3 even, told apart by column 1) from leaf B
    # (w = .95, class 1 .8, which column 2 splits into .6 and 1). Elsewhere columns 1 and 2 say nothing.
    cells = [(0, z, x, 2 + z) for z in (0, 1) for x in (0, 1) for _ in range(5)]
    for x, label, n in ((0, 0, 76), (0, 1, 114), (1, 1, 190)):
        cells += [(1, k % 2, x, label) for k in range(n)]
    rows = np.array(cells, float)
    tree, counts = grow(rows[:, :3], rows[:, 3].astype(int), criterion="sqrt", **BEST)

    in_order = tree.internal[np.argsort(tree.split_order[tree.internal])]
    assert tree.feature[in_order].tolist() == [0, 2, 1]
    assert counts.total[in_order].tolist() == [400, 380, 20]
    assert tree.score[in_order[1:]] == pytest.approx([0.1551, 0.5], abs=5e-5)


@pytest.mark.lane
@given(sample=samples(kinds=("numeric", "flag"), missing=False))
def test_the_order_of_splits_is_that_of_the_naive_queue(sample):
    tree, _ = sample.grow(**BEST)
    naive = naive_grow(sample.naive(), criterion="gini", allow_zero=False)

    rows = rows_of_nodes(tree, sample.naive()[0])
    found = [sorted(rows[v]) for v in sorted(tree.internal, key=lambda v: tree.split_order[v])]
    split = sorted((node for node in naive if node["split_order"] >= 0), key=lambda node: node["split_order"])
    assert found == [sorted(node["rows"]) for node in split]


@given(sample=samples())
def test_split_order_counts_from_zero_and_parents_come_first(sample):
    tree, _ = sample.grow(**BEST)

    assert sorted(tree.split_order[tree.internal]) == list(range(len(tree.internal)))
    assert (tree.split_order[tree.is_leaf] == -1).all()
    for v in tree.internal[1:]:
        assert tree.split_order[v] > tree.split_order[tree.parent[v]]


def test_depth_first_growth_records_no_split_order():
    assert (noise(60).grow()[0].split_order == -1).all()


@pytest.mark.parametrize("criterion", ["gini", "error"])
def test_t_splits_give_the_first_t_splits_of_any_longer_growth(criterion):
    sample = noise(120, n_classes=3)
    whole, _ = sample.grow(criterion=criterion, **BEST)
    for t in range(len(whole.internal) + 2):
        tree, _ = sample.grow(criterion=criterion, max_splits=t, **BEST)
        n = min(t, len(whole.internal))
        assert len(tree.internal) == n
        assert tree.n_nodes == 2 * n + 1
        assert prefix(tree, n) == prefix(whole, n)


@pytest.mark.parametrize("with_nominal", [False, True])
def test_without_limits_both_orders_give_the_same_tree(with_nominal):
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.normal(size=500), rng.integers(0, 6, 500), rng.integers(0, 3, 500)])
    sample = Sample(X, rng.integers(0, 2, 500), (1, 2) if with_nominal else ())
    deep, deep_counts = sample.grow(allow_zero=False)
    best, best_counts = sample.grow(**BEST)

    for name in ("parent", "feature", "branch", "default"):
        assert np.array_equal(getattr(deep, name), getattr(best, name))
    assert np.array_equal(deep.threshold, best.threshold, equal_nan=True)
    assert np.array_equal(deep.score, best.score, equal_nan=True)
    assert deep_counts.by_class.tolist() == best_counts.by_class.tolist()


def test_each_step_takes_the_largest_drop_there_is():
    tree, counts = noise(500).grow(**BEST)
    drop = np.where(tree.is_leaf, -1, tree.score * counts.total)
    for v in tree.internal:
        rivals = [
            u
            for u in tree.internal
            if u and tree.split_order[tree.parent[u]] < tree.split_order[v] < tree.split_order[u]
        ]
        assert all(drop[u] <= drop[v] * (1 + 1e-9) for u in rivals)


def test_of_equal_drops_the_older_leaf_is_split_first():
    # Four cells; both halves of the root offer the same drop, and so do their children.
    X = [[0, 0], [0, 1], [1, 0], [1, 1], [0, 0], [0, 1], [1, 0], [1, 1]]
    y = [0, 1, 2, 3, 0, 1, 2, 3]
    tree, _ = grow(X, y, **BEST)

    assert tree.split_order.tolist() == [0, 1, -1, -1, 2, -1, -1]


def test_limits_hold_best_first_too():
    tree, counts = noise(300).grow(max_depth=4, min_samples_leaf=7, min_samples_split=20, **BEST)

    assert tree.depth.max() <= 4
    assert counts.total[tree.is_leaf].min() >= 7
    assert counts.total[tree.internal].min() >= 20
