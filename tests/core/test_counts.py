"""Counts and costs: sums, labels, and what a cut adds."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings
from secateur import Counts, Tree
from secateur.core.costs import excess_cost, full_cost, m_estimate, node_cost, sample_usage_of
from secateur.core.counts import leaf_labels
from secateur.errors import CountsError, ParameterError
from strategies import trees_with_counts

pytestmark = pytest.mark.lane

TREE = Tree.from_parents([-1, 0, 0])


@given(trees_with_counts())
def test_counts_of_inner_nodes_are_the_sums_of_their_children(case):
    tree, counts = case
    for v in tree.internal:
        assert (counts.by_class[v] == sum(counts.by_class[c] for c in tree.children(v))).all()
    assert counts.total.tolist() == counts.by_class.sum(axis=1).tolist()


@given(trees_with_counts())
def test_the_majority_is_the_lowest_of_the_largest_and_the_parents_where_empty(case):
    tree, counts = case
    for v in range(tree.n_nodes):
        row = counts.by_class[v].tolist()
        expected = row.index(max(row)) if sum(row) or v == 0 else counts.majority[tree.parent[v]]
        assert counts.majority[v] == expected
        assert counts.errors_if_leaf(counts.majority)[v] == sum(row) - row[counts.majority[v]]


@given(trees_with_counts())
def test_the_cost_of_a_pruning_is_that_of_the_tree_and_the_excess_of_its_cuts(case):
    tree, counts = case
    cost = counts.errors_if_leaf(counts.majority)
    full, excess = full_cost(tree, cost), excess_cost(tree, cost)
    for leaves in all_prunings(tree):
        assert sum(cost[v] for v in leaves) == full[0] + sum(excess[v] for v in leaves)
    assert (excess >= 0).all()


@given(trees_with_counts(samples=("grow", "prune")))
def test_label_rules_take_the_majority_of_the_named_samples(case):
    tree, grown, held = case
    for rule in ("prune", "both"):
        for original in ("fixed", "relabel"):
            labels = leaf_labels(grown, held, rule, original)
            votes = held.by_class + (grown.by_class if rule == "both" else 0)
            for v in range(tree.n_nodes):
                row, kept = votes[v].tolist(), int(grown.majority[v])
                is_fixed = original == "fixed" and tree.is_leaf[v]
                expected = kept if is_fixed or row[kept] == max(row) else row.index(max(row))
                assert labels[v] == expected


@pytest.mark.parametrize(
    ("by_class", "says"),
    [
        ([[1, -1], [1, 0], [0, -1]], "node 0, class 1: count -1"),
        ([[5, 1], [1, 0], [0, 1]], "node 0, class 0: count 5, but the leaves below it hold 1"),
        ([[1.0, np.nan], [1, 0], [0, 1]], "node 0, class 1: count nan"),
        ([[np.inf, 1.0], [1, 0], [np.inf, 1]], "node 0, class 0: count inf"),
        ([[1, 1], [1, 0]], r"shape \(2, 2\)"),
        ([[], [], []], r"shape \(3, 0\)"),
        ([["a"], ["b"], ["c"]], "numbers are needed"),
    ],
)
def test_counts_that_do_not_fit_are_refused_by_node_class_and_value(by_class, says):
    with pytest.raises(CountsError, match=says):
        Counts(TREE, np.array(by_class))


def test_whole_counts_stay_whole_beyond_32_bits():
    counts = Counts.from_leaves(TREE, [[2**40, 1], [0, 2**40]])
    assert counts.by_class.dtype == np.int64
    assert counts.total[0] == 2**41 + 1
    assert counts.has_integer_weights
    assert not Counts.from_leaves(TREE, [[0.5, 1], [0, 1]]).has_integer_weights


def test_counts_that_add_up_to_2_to_the_53_are_refused_with_a_remedy():
    four = Tree.from_parents([-1, 0, 0, 0, 0])
    wraps = [[2**62, 0]] * 4  # 0 in 64 bits
    for tree, leaves in [(TREE, [[2**52, 0], [0, 2**52]]), (TREE, [[2**62, 0], [0, 2**62]]), (four, wraps)]:
        with pytest.raises(CountsError, match=r"2\*\*53 or more.*divide them by a common factor"):
            Counts.from_leaves(tree, leaves)
    with pytest.raises(CountsError):
        Counts.from_leaves(TREE, np.array([[2**63, 0], [2**63, 0]], np.uint64))
    assert Counts.from_leaves(TREE, [[2**52, 0], [0, 2**52 - 1]]).total[0] == 2**53 - 1


def test_weights_that_add_up_to_2_to_the_53_are_refused_too():
    for leaves in ([[2.0**52, 0], [0, 2.0**52]], [[1e308, 0], [0, 1e308]]):
        with pytest.raises(CountsError, match=r"2\*\*53 or more"):
            Counts.from_leaves(TREE, leaves)
    with pytest.raises(CountsError, match=r"2\*\*53 or more"):
        Counts(TREE, [[1e308, 1e308], [5.0, 0], [7, 7]])  # the slack for rounding was infinite, too
    assert not Counts.from_leaves(TREE, [[2.0**52, 0], [0, 2.0**51]]).has_integer_weights


def test_a_class_beyond_those_counted_errs_everywhere():
    counts = Counts.from_leaves(TREE, [[3, 1], [0, 2]])
    assert counts.errors_if_leaf([2, 2, 2]).tolist() == counts.total.tolist()
    with pytest.raises(CountsError, match="from 0; found -1"):
        counts.errors_if_leaf([0, -1, 0])


def test_counts_of_another_tree_are_refused():
    other = Tree.from_parents([-1, 0, 1, 1, 0])
    with pytest.raises(CountsError, match="counted on another tree"):
        Counts.from_leaves(TREE, [[1, 0], [0, 1]]).check_fits(other)


def test_labels_from_a_held_out_sample_need_one():
    grown = Counts.from_leaves(TREE, [[1, 0], [0, 1]])
    with pytest.raises(CountsError, match="needs a held-out sample"):
        leaf_labels(grown, None, "prune")
    with pytest.raises(ParameterError, match="labels='first'"):
        leaf_labels(grown, None, "first")


def test_equality_pickling_and_write_protection():
    counts = Counts.from_leaves(TREE, [[1, 0], [0, 1]])
    again = pickle.loads(pickle.dumps(counts))
    assert again == counts
    assert again != Counts.from_leaves(TREE, [[1, 0], [0, 1]], sample="prune")
    with pytest.raises(ValueError, match="read-only"):
        again.by_class[0, 0] = 9


@pytest.mark.parametrize(
    ("cost", "says"), [([1, 2], "shape"), ([1, -1, 0], "node 1 is -1"), ([0.0, 0.0, np.nan], "node 2 is nan")]
)
def test_invalid_costs_are_refused(cost, says):
    with pytest.raises(ParameterError, match=says):
        node_cost(TREE, None, np.array(cost))


def test_the_m_estimate_of_the_printed_node():
    # Prior (.6, .4) at the root is (12, 8) of 20; the node (7, 3) with m = 2: (3 + .4 * 2) / 12.
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[7, 3], [5, 5]])
    assert m_estimate(grown, 2)[1] == pytest.approx(10 / 20 * (3 + 0.8) / 12)


def test_a_class_that_growing_did_not_see_has_no_vote():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[3, 0], [0, 2]])
    held = Counts.from_leaves(tree, [[0, 1, 9], [0, 0, 9]], sample="prune")
    assert leaf_labels(grown, held, "prune").max() < 2
    assert leaf_labels(grown, held, "both", "relabel").max() < 2


@given(trees_with_counts(max_classes=3), st.sampled_from([1.0, 0.1]), st.sampled_from([0.0, 2.0, 3.7]))
def test_m_estimates_and_errors_are_those_of_plain_arithmetic(case, unit, m):
    tree, grown = case
    counts = Counts(tree, grown.by_class * unit) if unit != 1.0 else grown
    rows = counts.by_class.astype(float).tolist()
    whole = sum(rows[0]) or 1.0
    estimate, errors = m_estimate(counts, m), counts.errors_if_leaf(counts.majority)
    assert estimate.dtype == np.float64
    assert (estimate.shape, errors.shape) == ((tree.n_nodes,), (tree.n_nodes,))
    for v, row in enumerate(rows):
        total = sum(row)
        wrong = min(total - own + (1 - first / whole) * m for own, first in zip(row, rows[0], strict=True))
        assert estimate[v] == (total / whole * (wrong / (total + m)) if total + m else 0)
        assert errors[v] == total - row[counts.majority[v]]
        assert counts.unrecorded_errors_if_leaf(np.full(tree.n_nodes, 2**40))[v] == total


@pytest.mark.parametrize("leaves", [[1, 2], [[1], [2], [3]], [[[1]], [[2]]]])
def test_leaf_counts_need_a_row_for_each_leaf(leaves):
    with pytest.raises(CountsError, match="leaf counts have shape"):
        Counts.from_leaves(Tree.from_parents([-1, 0, 0]), leaves)


def test_weights_add_up_within_rounding_and_whole_counts_exactly():
    assert Counts(TREE, np.array([[0.3], [0.1], [0.2]])).total[0] == 0.3  # 0.1 + 0.2 is a little more
    with pytest.raises(CountsError, match="node 0, class 0"):
        Counts(TREE, np.array([[0.3 + 1e-8], [0.1], [0.2]]))
    with pytest.raises(CountsError, match="node 0, class 0"):
        Counts(TREE, np.array([[2**40 + 1], [2**39], [2**39]]))


def test_costs_whose_sums_do_not_fit_64_bits_are_refused():
    assert node_cost(TREE, None, np.array([2**60 - 1, 0, 0])).dtype == np.int64
    with pytest.raises(ParameterError, match="node 1 is 1152921504606846976; times 2 leaves"):
        node_cost(TREE, None, np.array([0, 2**60, 0]))


@pytest.mark.parametrize("rule", ["prune", "both"])
def test_a_held_out_sample_may_have_fewer_classes(rule):
    grown = Counts.from_leaves(TREE, [[3, 0, 0], [0, 1, 2]])
    held = Counts.from_leaves(TREE, [[1, 4], [0, 3]], sample="prune")
    votes = np.append(held.by_class, np.zeros((3, 1), int), axis=1) + (rule == "both") * grown.by_class
    assert leaf_labels(grown, held, rule, "relabel").tolist() == votes.argmax(axis=1).tolist()  # there are no ties


def test_counts_end_just_below_2_to_the_53_and_zeros_are_compared_too():
    leaf = Tree.from_parents([-1])
    assert Counts(leaf, [[2**53 - 1]]).total[0] == 2**53 - 1
    assert Counts(leaf, [[2**52, 0]]).total[0] == 2**52
    with pytest.raises(CountsError, match=r"2\*\*53 or more"):
        Counts(leaf, [[2**53]])
    with pytest.raises(CountsError, match="count 0, but the leaves below it hold 1"):
        Counts(TREE, [[0, 1], [1, 0], [0, 1]])


def test_an_m_estimate_has_a_weight_of_two_and_any_prior():
    counts = Counts.from_leaves(TREE, [[7, 3], [5, 5]])
    assert m_estimate(counts).tolist() == m_estimate(counts, m=2).tolist() != m_estimate(counts, m=3).tolist()
    assert m_estimate(counts, prior=0.5).tolist() == m_estimate(counts, prior=[0.5, 0.5]).tolist()


@pytest.mark.parametrize("wrong", [-1, np.inf, np.nan])
def test_an_invalid_count_is_refused_as_such_and_not_as_a_wrong_sum(wrong):
    with pytest.raises(CountsError, match="a number of 0 or more is needed"):
        Counts(TREE, np.array([[wrong, 1], [wrong, 0], [0, 1]]))


def test_a_cost_may_come_from_any_sample_that_was_evaluated():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[1, 0], [0, 1]])
    held = Counts(tree, [[2, 2], [2, 0], [0, 2]], sample="prune", n_rows=4)
    tree.evaluation_log.record_nodes(held)
    assert sample_usage_of(tree, grown) == {"grow"}
    assert sample_usage_of(tree, grown, cost=[1, 0, 0]) == {"grow", "prune"}
