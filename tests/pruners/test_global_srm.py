"""Global structural risk minimisation: two routes, one answer, the enumerated one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nine_tests import nine_tests
from oracles import all_prunings, n_nodes_of
from secateur import Counts, Tree
from secateur.errors import CountsError, ParameterError
from secateur.pruners import global_srm, global_srm_prunings, global_srm_table
from strategies import trees_with_counts


def test_the_least_sizes_of_the_nine_test_tree():
    tree, counts = nine_tests()
    assert global_srm_table(tree, counts, size="leaves").size.tolist() == [15, 12, 10, 8, 6, 4, 3, 3, 3, 1]
    assert global_srm_table(tree, counts).size.tolist() == [24, 19, 16, 12, 9, 6, 4, 4, 4, 1]
    assert global_srm_table(tree, counts).errors.tolist() == [0, 1, 2, 3, 4, 5, 6, 6, 6, 9]


def test_the_values_of_the_nine_test_tree():
    tree, counts = nine_tests()
    table = global_srm_table(tree, counts, size="leaves")
    value = dict(zip(table.size.tolist(), table.value.tolist(), strict=True))
    assert {n: value[n] for n in (1, 3, 4, 15)} == pytest.approx(
        {1: 0.7357, 3: 0.7416, 4: 0.7492, 15: 0.9129}, abs=5e-5
    )
    assert global_srm(tree, counts, size="leaves").n_leaves == 1


def test_ten_copies_of_the_sample_are_not_pruned():
    tree, counts = nine_tests(copies=10)
    table = global_srm_table(tree, counts, size="leaves")
    value = dict(zip(table.size.tolist(), table.value.tolist(), strict=True))
    expected = {15: 0.2887, 12: 0.3138, 4: 0.4269, 1: 0.5745}
    assert {n: value[n] for n in expected} == pytest.approx(expected, abs=1e-4)
    for route in ("path", "table"):
        assert global_srm(tree, counts, size="leaves", route=route).n_leaves == 15


def test_two_pure_leaves_give_the_corrected_table():
    tree = Tree.from_parents([-1, 0, 0])
    assert global_srm_table(tree, Counts.from_leaves(tree, [[1, 0], [0, 1]])).size.tolist() == [3, 1]


@pytest.mark.parametrize("size", ["nodes", "leaves"])
@given(data=st.data())
def test_both_routes_give_the_enumerated_minimum_smallest_on_ties(size, data):
    tree, counts = data.draw(trees_with_counts())
    c = data.draw(st.sampled_from([0.0, 0.1, 0.3, 1.0, 2.5]))
    m = int(counts.total[0])
    if m == 0:
        return
    cost = counts.errors_if_leaf(counts.majority)
    measure = len if size == "leaves" else lambda leaves: n_nodes_of(tree, leaves)
    values = {
        leaves: (sum(cost[v] for v in leaves) / m + c * math.sqrt(measure(leaves) / m), measure(leaves))
        for leaves in all_prunings(tree)
    }
    least = min(value for value, _ in values.values())
    smallest = min(n for value, n in values.values() if value <= least + 1e-9)
    chosen = {route: global_srm(tree, counts, c=c, size=size, route=route) for route in ("path", "table")}
    assert chosen["path"] == chosen["table"]
    assert values[frozenset(chosen["path"].leaves.tolist())] == (pytest.approx(least), smallest)


@pytest.mark.parametrize("size", ["nodes", "leaves"])
@given(data=st.data())
def test_the_table_is_the_enumerated_one(size, data):
    tree, grown, held = data.draw(trees_with_counts(samples=("grow", "prune")))
    if held.total[0] == 0:
        return
    cost = held.errors_if_leaf(grown.majority)
    measure = len if size == "leaves" else lambda leaves: n_nodes_of(tree, leaves)
    numbers = [(measure(leaves), int(sum(cost[v] for v in leaves))) for leaves in all_prunings(tree)]
    table = global_srm_table(tree, held, size=size, cost=cost)
    expected = [min(((n, e) for n, e in numbers if e <= d), default=(0, -1)) for d in range(int(cost[0]) + 1)]
    assert list(zip(table.size.tolist(), table.errors.tolist(), strict=True)) == expected
    assert np.isinf(table.value).tolist() == [n == 0 for n, _ in expected]


def test_costs_alone_need_the_number_of_rows():
    tree = Tree.from_parents([-1, 0, 0])
    cost = [40, 0, 0]
    assert global_srm(tree, None, cost=cost, n=100).n_leaves == 2
    assert global_srm(tree, None, cost=np.array(cost) * 0.5, n=100).n_leaves == 2
    with pytest.raises(ParameterError, match="pass the number of rows"):
        global_srm(tree, None, cost=cost)


def test_an_empty_sample_is_refused():
    tree = Tree.from_parents([-1, 0, 0])
    with pytest.raises(CountsError, match="empty"):
        global_srm(tree, Counts.from_leaves(tree, [[0, 0], [0, 0]]))


@pytest.mark.parametrize("bad", [{"c": -1}, {"c": math.nan}, {"size": "depth"}, {"n": 0}, {"route": "guess"}])
def test_parameters_out_of_range_are_refused(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        global_srm(*nine_tests(), **bad)


def test_the_table_needs_whole_numbers():
    tree, counts = nine_tests()
    with pytest.raises(ParameterError, match="whole numbers"):
        global_srm_table(tree, counts, cost=np.ones(tree.n_nodes))


def test_a_single_leaf_is_returned_as_it_is():
    tree = Tree.from_parents([-1])
    counts = Counts(tree, [[1, 2]])
    assert global_srm(tree, counts).n_leaves == global_srm(tree, counts, route="table").n_leaves == 1


@given(trees_with_counts(("grow",), max_internal=5).filter(lambda case: case[1].total[0] > 0))
def test_the_prunings_behind_the_table_are_the_smallest_within_d_errors(case):
    tree, counts = case
    errors = counts.errors_if_leaf(counts.majority)
    for size in ("leaves", "nodes"):
        table, prunings = global_srm_table(tree, counts, size=size), global_srm_prunings(tree, counts, size=size)
        for d, (least, n_errors) in enumerate(zip(table.size, table.errors, strict=True)):
            within = [i for i, e in enumerate(prunings.errors) if e <= d]
            if least:
                member = prunings[within[-1]]
                assert (getattr(member, f"n_{size}"), member.cost(errors)) == (least, n_errors)
            else:
                assert within == []


def test_both_routes_lead_to_the_same_pruning():
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    rng = np.random.default_rng(0)
    for c in (0.1, 0.3, 1.0):
        for _ in range(15):
            counts = Counts.from_leaves(tree, rng.integers(0, 30, (4, 2)))
            assert global_srm(tree, counts, c=c, route="table") == global_srm(tree, counts, c=c, route="path")


def test_a_test_that_saves_no_error_is_in_no_pruning_and_one_row_is_a_number():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    counts = Counts.from_leaves(tree, [[5, 0], [5, 0], [0, 5]])
    prunings = global_srm_prunings(tree, counts)
    assert (prunings.errors.tolist(), prunings.n_leaves.tolist()) == ([0, 5], [2, 1])
    assert (prunings.node_labels.tolist(), prunings.nested) == (counts.majority.tolist(), False)
    assert global_srm(tree, None, cost=[5, 0, 0, 0, 0], n=1, c=0).n_leaves == 2


def test_the_number_of_rows_is_the_one_given_or_that_of_the_sample():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[3, 0], [0, 7]])
    for n, m in ((None, 10), (40, 40)):
        table = global_srm_table(tree, counts, c=0.5, n=n)
        assert table.value[0] == pytest.approx(0.5 * math.sqrt(3 / m))
        assert table.value[3] == pytest.approx(3 / m + 0.5 * math.sqrt(1 / m))
