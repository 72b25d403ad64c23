"""Two ways to the best of each size must agree: subtree tables and the budget walk."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur import Tree
from secateur._kernels import size_dp
from strategies import trees

pytestmark = pytest.mark.lane


def random_tree(n_internal, max_arity, seed, *, deep=False):
    rng = np.random.default_rng(seed)
    parent, leaves = [-1], [0]
    for _ in range(n_internal):
        at = len(leaves) - 1 - int(rng.integers(min(3, len(leaves)))) if deep else int(rng.integers(len(leaves)))
        v = leaves.pop(at)
        for _ in range(int(rng.integers(2, max_arity + 1))):
            leaves.append(len(parent))
            parent.append(v)
    return Tree.from_parents(parent)


def charges(tree):
    return np.maximum(tree.arity.astype(np.int64) - 1, 0)


def errors_like(tree, seed, n_examples=3):
    """Growing errors: what trees really carry, full of ties."""
    rng = np.random.default_rng(seed)
    by_class = np.zeros((tree.n_nodes, 2), np.int64)
    by_class[tree.is_leaf] = rng.integers(0, n_examples, (tree.n_leaves, 2))
    for v in range(tree.n_nodes - 1, 0, -1):
        by_class[tree.parent[v]] += by_class[v]
    return by_class.min(axis=1)


def both_ways(tree, charge, cost, limit):
    layout = size_dp.table_layout(tree.parent, tree.end, charge, limit)
    tables = size_dp.subtree_tables(tree.parent, tree.end, charge, cost, layout)
    return tables, size_dp.size_walk(tree.parent, tree.end, charge, cost, limit)


@pytest.mark.parametrize("max_arity", [2, 3, 5])
@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_tables_and_walk_agree_in_every_entry_and_every_pruning(max_arity, deep, seed):
    tree = random_tree(100, max_arity, seed, deep=deep)
    cost = errors_like(tree, seed)
    limit = tree.n_leaves - 1
    tables, walk = both_ways(tree, charges(tree), cost, limit)
    best = tables.table[: tree.n_leaves]
    assert best.tolist() == walk.best.tolist()
    for place in np.flatnonzero(best < size_dp.ABSENT_COST):
        assert walk.kept(place).tolist() == tables.kept(place).tolist()


@pytest.mark.parametrize("seed", range(2))
def test_arbitrary_costs_agree_too(seed):
    tree = random_tree(120, 3, seed)
    cost = np.random.default_rng(seed).integers(0, 50, tree.n_nodes)
    tables, walk = both_ways(tree, tree.arity.astype(np.int64), cost, tree.n_nodes - 1)
    assert tables.table[: tree.n_nodes].tolist() == walk.best.tolist()


@pytest.mark.parametrize("seed", range(2))
def test_real_costs_agree_and_the_prunings_attain_them(seed):
    tree = random_tree(150, 3, seed)
    cost = np.random.default_rng(seed).random(tree.n_nodes)
    tables, walk = both_ways(tree, charges(tree), cost, tree.n_leaves - 1)
    best = tables.table[: tree.n_leaves]
    np.testing.assert_allclose(best, walk.best, rtol=1e-12)
    for place in np.flatnonzero(np.isfinite(best))[::7]:
        kept = tables.kept(place)
        leaves = ~kept & np.append(True, kept[tree.parent[1:]])
        assert cost[leaves].sum() == pytest.approx(best[place], rel=1e-12)
        assert np.count_nonzero(leaves) == place + 1


@given(trees(max_internal=6), st.data())
def test_huge_costs_take_the_plain_loop_and_stay_exact(tree, data):
    cost = np.array(data.draw(st.lists(st.integers(0, 2**55), min_size=tree.n_nodes, max_size=tree.n_nodes)))
    tables, walk = both_ways(tree, charges(tree), cost, tree.n_leaves - 1)
    assert tables.table[: tree.n_leaves].tolist() == walk.best.tolist()


@pytest.mark.parametrize("limit", [0, 1, 5, 40])
def test_a_limit_gives_the_start_of_the_full_table(limit):
    tree = random_tree(100, 4, 1)
    cost = errors_like(tree, 1)
    full, _ = both_ways(tree, charges(tree), cost, tree.n_leaves - 1)
    short, walk = both_ways(tree, charges(tree), cost, limit)
    assert short.table[: limit + 1].tolist() == walk.best.tolist() == full.table[: limit + 1].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_the_walk_by_errors_finds_the_least_size_within_each_number(seed):
    tree = random_tree(60, 3, seed)
    cost = errors_like(tree, seed)
    full = int(cost[tree.is_leaf].sum())
    table = size_dp.best_by_size(tree.parent, tree.end, charges(tree), cost, tree.n_leaves - 1)
    walk = size_dp.errors_walk(tree.parent, tree.end, charges(tree), cost, 20)
    expected = [int(np.flatnonzero(table.best <= full + d)[0]) * table.unit for d in range(21)]
    assert walk.best.tolist() == expected


def test_tests_of_one_arity_need_no_cells_for_the_gaps():
    tree = random_tree(50, 2, 0)
    three_way = Tree.from_parents([-1, 0, 0, 0, 1, 1, 1])
    table = size_dp.best_by_size(
        three_way.parent, three_way.end, charges(three_way), np.array([4, 2, 0, 0, 0, 1, 1]), 4
    )
    assert (table.unit, table.best.tolist()) == (2, [4, 4, 2])
    assert size_dp.best_by_size(tree.parent, tree.end, charges(tree), errors_like(tree, 0), 50).unit == 1


def chain(n_tests, *, heavy_first):
    """A chain of tests, the long branch first or last."""
    if not heavy_first:
        return Tree.from_parents(np.append(-1, np.repeat(np.arange(0, 2 * n_tests, 2), 2)))
    parent = [*range(-1, n_tests), *range(n_tests - 1, -1, -1)]
    return Tree(np.array(parent, np.int32))


@pytest.mark.parametrize("heavy_first", [False, True])
@pytest.mark.parametrize("n", [300, pytest.param(3000, marks=pytest.mark.large)])
def test_a_chain_keeps_its_first_tests(heavy_first, n):
    tree = chain(n, heavy_first=heavy_first)
    cost = np.arange(tree.n_nodes, 0, -1) * np.where(tree.is_leaf, 0, 1)  # what is cut last costs least
    table = size_dp.best_by_size(tree.parent, tree.end, charges(tree), cost, tree.n_leaves - 1)
    assert isinstance(table.solution, size_dp.SubtreeTables) == (n == 300)
    for place in (0, 1, n // 2, n - 1):
        assert np.flatnonzero(table.kept(place)).tolist() == tree.internal[:place].tolist()
        assert table.best[place] == cost[tree.internal[place]]


def test_a_spine_with_side_tests_agrees_both_ways():
    # Every spine node has a side test, so many rows are alive at once.
    tree = Tree.from_parents(_spine(60))
    cost = errors_like(tree, 3)
    tables, walk = both_ways(tree, charges(tree), cost, tree.n_leaves - 1)
    assert tables.table[: tree.n_leaves].tolist() == walk.best.tolist()
    for place in range(0, tree.n_leaves, 5):
        assert walk.kept(place).tolist() == tables.kept(place).tolist()


def _spine(n):
    """Parents (not in pre-order) of a spine whose nodes continue first and test aside second."""
    parent, at = [-1], 0
    for _ in range(n):
        spine, side = len(parent), len(parent) + 1
        parent += [at, at, side, side]
        at = spine
    return parent


@pytest.mark.large
def test_a_cap_on_a_deep_chain_is_fast():
    tree = chain(50_000, heavy_first=True)
    cost = errors_like(tree, 0)
    size_dp.best_by_size(tree.parent, tree.end, charges(tree), cost, 3)
    began = time.process_time()
    table = size_dp.best_by_size(tree.parent, tree.end, charges(tree), cost, 200)
    assert time.process_time() - began < 2
    assert np.count_nonzero(table.kept(200)) == 200
