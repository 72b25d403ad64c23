"""The ranked candidate splits of a node are those that the grower compares, and the first one is its choice."""

import math
import warnings
from itertools import pairwise

import numpy as np
import pytest

import secateur
from oracles import naive_best, naive_impurity, naive_tests
from secateur.core import Tree
from secateur.data.encoding import encode_weighted_rows
from secateur.growers.candidate_splits import NodeRows, rank_splits
from secateur.growers.parameters import GrowParameters
from secateur.growers.subtree import GrowingRows, leaves_of, replace_subtrees

CLASS_CRITERIA = ("gini", "sqrt", "entropy", "error", "sqrt_pairs", "gain_ratio")


def random_rows(rng, n):
    """Return rows of a number, a two-valued number, a category and a number with missing values."""
    X = np.empty((n, 4), object)
    X[:, 0] = rng.normal(size=n).round(int(rng.integers(0, 3)))
    X[:, 1] = rng.integers(0, 2, n)
    X[:, 2] = np.array(list("abcdefgh"))[rng.integers(0, rng.integers(1, 9), n)]
    X[:, 3] = np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 6, n))
    return X


def random_case(rng, criterion):
    """Return rows, target, weights and growing parameters of one random tree."""
    n = int(rng.integers(5, 60))
    is_number = criterion == "squared_error"
    y = rng.normal(size=n).round(1) if is_number else rng.integers(0, int(rng.integers(2, 4)), n)
    weight = [None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1][int(rng.integers(3))]
    parameters = {
        "criterion": criterion,
        "nominal": [2],
        "min_samples_leaf": int(rng.integers(1, 4)),
        "splits": ["binary", "multiway", "one-vs-rest"][int(rng.integers(3))],
        "max_depth": [None, 3][int(rng.integers(2))],
        "max_bins": [None, None, 4, 7][int(rng.integers(4))],
    }
    if (is_number or y.max() == 1) and rng.random() < 0.5:
        parameters["monotonic_cst"] = [*rng.integers(-1, 2, 2).tolist(), 0, int(rng.integers(-1, 2))]
    if rng.random() < 0.3:
        parameters["interaction_cst"] = [[0, 2], [1, 3]]
    if rng.random() < 0.3:
        parameters |= {"min_weight_fraction_leaf": 0.05, "min_samples_leaf": 1}
    return random_rows(rng, n), y, weight, parameters


def grown(X, y, weight, parameters):
    """Return the tree, its growing rows and the parameters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree, _ = secateur.grow(X, y, sample_weight=weight, **parameters)
    checked = GrowParameters(**parameters)
    rows = encode_weighted_rows(
        X, y, weight, target_kind=checked.target_kind, nominal=parameters.get("nominal"), purpose="growing"
    )
    return tree, GrowingRows(rows), checked


@pytest.mark.parametrize("criterion", [*CLASS_CRITERIA, "squared_error"])
def test_the_first_split_is_the_choice_of_the_grower_and_leaves_have_none(criterion):
    rng = np.random.default_rng(len(criterion))
    n_nodes = 0
    for _ in range(8):
        tree, rows, parameters = grown(*random_case(rng, criterion))
        leaf = leaves_of(tree, rows.table)
        for v in range(tree.n_nodes):
            ranked = rank_splits(tree, v, NodeRows.of(tree, v, rows, parameters, leaf))
            assert [split.is_current for split in ranked] == [True, *[False] * (len(ranked) - 1)][: len(ranked)]
            assert bool(ranked) == (tree.feature[v] >= 0)
            if ranked:
                assert ranked[0].gain == pytest.approx(tree.score[v], abs=1e-12)
        n_nodes += tree.n_nodes
    assert n_nodes > 25


@pytest.mark.parametrize("criterion", [*CLASS_CRITERIA, "squared_error"])
def test_a_subtree_grown_from_the_rows_of_its_node_is_that_of_the_tree(criterion):
    rng = np.random.default_rng(7)
    n_compared = 0
    for _ in range(8):
        tree, rows, parameters = grown(*random_case(rng, criterion))
        for v in tree.internal[:4].tolist():
            of_node = NodeRows.of(tree, v, rows, parameters)
            subtree = rows.grow(of_node.rows, parameters, of_node.start)
            regrown = replace_subtrees(tree, {v: subtree})
            for name in ("parent", "feature", "threshold", "branch", "default", "rounded"):
                np.testing.assert_array_equal(getattr(regrown.tree, name), getattr(tree, name))
            if tree.estimate_limits is not None:
                np.testing.assert_allclose(regrown.tree.estimate_limits, tree.estimate_limits, rtol=1e-12)
            assert regrown.new_number[: v + 1].tolist() == list(range(v + 1))
            n_compared += 1
    assert n_compared > 10


@pytest.mark.parametrize("criterion", ["gini", "entropy", "sqrt"])
@pytest.mark.parametrize("multiway", [False, True])
def test_the_best_split_of_every_column_is_that_of_brute_force(criterion, multiway):
    rng = np.random.default_rng(3)
    for _ in range(25):
        n, min_leaf = int(rng.integers(4, 16)), int(rng.integers(1, 3))
        X, y = random_rows(rng, n), rng.integers(0, 2, n)
        if y.min() == y.max():
            continue
        parameters = {"criterion": criterion, "nominal": [2], "min_samples_leaf": min_leaf}
        tree, rows, checked = grown(X, y, None, parameters | {"splits": "multiway" if multiway else "binary"})
        ranked = rank_splits(tree, 0, NodeRows.of(tree, 0, rows, checked))
        about = rows.table.schema.columns
        n_codes = [column.n_codes if column.kind == "nominal" else None for column in about]
        columns = [column.tolist() for column in rows.table.columns]
        expected = {}
        for j in range(4):
            constant = [columns[k] if k == j else [0.0] * n for k in range(4)]
            data = constant, [n_codes[k] if k == j else None for k in range(4)], y.tolist(), [1] * n, [1] * n
            best, _ = naive_best(data, range(n), criterion=criterion, multiway=multiway, min_samples_leaf=min_leaf)
            if best is not None:
                expected[j] = best / n
        assert {split.feature: pytest.approx(split.gain, abs=1e-12) for split in ranked} == expected
        gains = [expected[split.feature] for split in ranked]
        assert all(first >= second - 1e-12 for first, second in pairwise(gains))
        assert all(sum(split.weights) == n for split in ranked)


def test_further_thresholds_of_a_column_are_the_best_of_all_thresholds():
    rng = np.random.default_rng(5)
    for _ in range(20):
        n, min_leaf = 14, int(rng.integers(1, 4))
        column = np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 7, n).astype(float))
        y = rng.integers(0, 2, n)
        if y.min() == y.max():
            continue
        tree, rows, parameters = grown(column[:, None], y, None, {"min_samples_leaf": min_leaf})
        ranked = rank_splits(tree, 0, NodeRows.of(tree, 0, rows, parameters), per_column=20)
        expected = {}
        for test in naive_tests(column.tolist(), None, range(n), multiway=False):
            children = [child for child in test if child]
            known = [column[r] for r in children[0] if not math.isnan(column[r])]
            if len(children) < 2 or min(map(len, children)) < min_leaf:
                continue
            counts = [[sum(y[r] == c for r in child) for c in (0, 1)] for child in children]
            drop = naive_impurity("gini", [sum(y == 0), sum(y == 1)]) - sum(naive_impurity("gini", c) for c in counts)
            below = max(known)
            expected[below] = max(expected.get(below, -1.0), drop / n)
        found = {}
        for split in ranked:
            known = column[~np.isnan(column)]
            found[known[known <= split.threshold].max()] = split.gain
        best = max(expected.values())
        for below, gain in found.items():
            assert gain == pytest.approx(expected[below], abs=1e-12)
        assert {below for below, gain in expected.items() if gain > 1e-12} <= set(found)
        assert ranked[0].gain == pytest.approx(best, abs=1e-12)


def test_the_split_of_the_tree_is_listed_even_if_the_grower_would_not_choose_it():
    X, y = [[1.0, 7.0], [2.0, 9.0], [4.0, 8.0], [5.0, 6.0]], ["no", "no", "yes", "yes"]
    tree, rows, parameters = grown(X, y, None, {})
    stated = Tree([-1, 0, 0], feature=[1, -1, -1], threshold=[7.5, np.nan, np.nan], schema=tree.schema)
    ranked = rank_splits(stated, 0, NodeRows.of(stated, 0, rows, parameters))
    assert [(split.feature, split.threshold, split.is_current) for split in ranked] == [
        (0, 3.0, False), (1, 6.5, False), (1, 7.5, True),
    ]  # fmt: skip
    assert ranked[2].gain == 0.0


def test_a_chain_of_many_nodes_has_candidates_at_its_end():
    n = 3000
    X = np.column_stack([np.arange(n, dtype=float), np.arange(n) % 2])
    tree, rows, parameters = grown(X, np.arange(n) % 2, None, {"criterion": "gini"})
    depth = 20_000
    deep = Tree(_chain(depth), **_chain_splits(depth), schema=tree.schema)
    last = int(np.flatnonzero(deep.depth == deep.depth.max())[-1])
    ranked = rank_splits(deep, last, NodeRows.of(deep, last, rows, parameters))
    assert ranked[0].feature == 1


def _chain(depth):
    """Return the parents of a chain: each internal node has a leaf as its first child."""
    parent = np.empty(2 * depth + 1, int)
    parent[0] = -1
    parent[1::2] = np.arange(0, 2 * depth, 2)
    parent[2::2] = np.arange(0, 2 * depth, 2)
    return parent


def _chain_splits(depth):
    feature = np.full(2 * depth + 1, -1)
    feature[0:-1:2] = 0
    threshold = np.full(2 * depth + 1, np.nan)
    threshold[0:-1:2] = np.arange(depth) * 0.1
    return {"feature": feature, "threshold": threshold}


def test_further_thresholds_of_a_binned_column_lie_between_the_bins_of_all_rows():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    tree, rows, parameters = grown(X, y, None, {"max_bins": 6})
    edges = set(rows.bins(parameters).values[0].low[1:].tolist())
    assert len(edges) == 5
    ranked = rank_splits(tree, 0, NodeRows.of(tree, 0, rows, parameters), per_column=9)
    thresholds = [split.threshold for split in ranked if split.feature == 0]
    assert len(thresholds) > 1
    for threshold in thresholds:
        assert min(X[X[:, 0] > threshold, 0]) in edges
