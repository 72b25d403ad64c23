"""Error-based pruning: the limits, the optimum of the estimate, and subtree raising."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings, children_of
from secateur import Counts, Pruning, Tree
from secateur.data.encoding import encode
from secateur.errors import CountsError, ParameterError
from secateur.pruners._error_based import error_based
from secateur.pruners._error_estimate import estimated_errors, upper_limit
from secateur.pruners._raise_branches import GrowingRows, raise_branches
from secateur.routing import count
from strategies import trees, trees_with_counts

pytestmark = pytest.mark.lane


@cache
def limit_by_bisection(errors, n, confidence):
    """The rate at which a binomial tail, summed term by term, is the confidence."""
    low, high = 0.0, 1.0
    for _ in range(100):
        p = (low + high) / 2
        tail = math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(errors + 1))
        low, high = (p, high) if tail > confidence else (low, p)
    return low


def estimate(class_counts, confidence=0.25):
    n = sum(class_counts)
    errors = n - max(class_counts)
    return n * limit_by_bisection(errors, n, confidence) if n else 0.0


# The limits


def test_the_limits_of_the_worked_example():
    limits = upper_limit([0, 0, 0, 1], [6, 9, 1, 16])

    assert limits.round(5).tolist() == [0.20630, 0.14276, 0.75, 0.15961]
    assert round(6 * limits[0], 4) == 1.2378
    assert round(9 * limits[1], 4) == 1.2848
    assert round(float([6, 9, 1] @ limits[:3]), 4) == 3.2726
    assert round(16 * limits[3], 4) == 2.5538


@given(st.integers(1, 60), st.data(), st.sampled_from([0.01, 0.25, 0.5, 0.9]))
def test_the_limit_is_where_the_binomial_tail_is_the_confidence(n, data, confidence):
    errors = data.draw(st.integers(0, n - 1))

    assert upper_limit(errors, n, confidence) == pytest.approx(limit_by_bisection(errors, n, confidence), rel=1e-11)


def test_the_limit_is_one_when_all_rows_are_errors():
    assert upper_limit([3, 0], [3, 0]).tolist() == [1, 1]


def test_the_limit_of_weights_lies_between_those_of_whole_counts():
    assert upper_limit(1, 10) < upper_limit(1.5, 10) < upper_limit(2, 10)
    assert upper_limit(1, 11) < upper_limit(1, 10.5) < upper_limit(1, 10)


def test_the_limit_stays_accurate_for_many_rows():
    n = 2**40
    # With so few errors the count is Poisson: Pr[at most 1] = exp(-x) (1 + x) = 1/4 at x = 2.6926345...
    assert float(upper_limit(1, n)) * n == pytest.approx(2.692634, abs=1e-5)


# Without raising


def test_the_worked_example_is_cut():
    tree = Tree.from_parents([-1, 0, 0, 0])
    counts = Counts.from_leaves(tree, [[6, 0], [9, 0], [0, 1]])

    assert error_based(tree, counts).cuts.tolist() == [0]


@given(trees_with_counts(max_internal=5), st.sampled_from([0.05, 0.25, 0.6]))
def test_it_is_the_smallest_pruning_with_the_least_estimate(case, confidence):
    tree, counts = case
    cost = [estimate(row, confidence) for row in counts.by_class.tolist()]
    prunings = {leaves: math.fsum(cost[v] for v in leaves) for leaves in all_prunings(tree)}
    least = min(prunings.values())
    smallest = min((p for p, value in prunings.items() if value <= least + 1e-9), key=len)

    pruning = error_based(tree, counts, confidence=confidence)

    assert set(pruning.leaves.tolist()) == smallest


@given(trees_with_counts(max_internal=4))
def test_slack_prefers_a_leaf_that_is_a_little_worse(case):
    tree, counts = case
    children = children_of(tree.parent.tolist())
    slack, cuts = 0.1, set()

    def best(v):
        leaf = estimate(counts.by_class[v].tolist())
        below = sum(best(c) for c in children[v])
        if not children[v]:
            return leaf
        if leaf <= below + slack + 1e-12:
            cuts.add(v)
            return leaf
        return below

    best(0)

    assert np.array_equal(error_based(tree, counts, slack=slack).is_leaf, _leaves(tree, cuts))


def _leaves(tree, cuts):
    return Pruning.from_cuts(tree, sorted(cuts)).is_leaf


def test_weights_are_taken():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[20.5, 0.0], [0.0, 20.5]])

    assert error_based(tree, counts).n_leaves == 2
    assert error_based(tree, Counts.from_leaves(tree, [[20.5, 0.0], [0.5, 0.0]])).n_leaves == 1


def test_a_single_leaf_is_left_alone():
    tree = Tree.from_parents([-1])
    counts = Counts.from_leaves(tree, [[3, 4]])

    assert error_based(tree, counts).cuts.tolist() == []


def test_an_empty_sample_leaves_the_root():
    tree = Tree.from_parents([-1, 0, 0])

    assert error_based(tree, Counts.from_leaves(tree, [[0, 0], [0, 0]])).cuts.tolist() == [0]


def test_a_chain_of_depth_100_000_passes():
    tree, counts = chain(100_000)

    assert error_based(tree, counts).n_leaves == tree.n_leaves


def chain(depth):
    """Each test sends five rows of its own class to a leaf and the others on; the classes take turns."""
    parent = np.empty(2 * depth + 1, np.int64)
    parent[0] = -1
    parent[1::2] = parent[2::2] = np.arange(0, 2 * depth, 2)
    tree = Tree.from_parents(parent)  # leaf 1, test 2, leaf 3, test 4, ...
    turns = np.arange(depth + 1) % 2
    return tree, Counts.from_leaves(tree, 5 * np.eye(2, dtype=np.int64)[turns])


@pytest.mark.parametrize("confidence", [0, 1, -0.1, math.nan])
def test_a_confidence_outside_its_range_is_refused(confidence):
    tree = Tree.from_parents([-1])

    with pytest.raises(ParameterError, match="confidence="):
        error_based(tree, Counts.from_leaves(tree, [[1]]), confidence=confidence)


@pytest.mark.parametrize("slack", [-0.1, math.inf, math.nan])
def test_a_slack_outside_its_range_is_refused(slack):
    tree = Tree.from_parents([-1])

    with pytest.raises(ParameterError, match="slack="):
        error_based(tree, Counts.from_leaves(tree, [[1]]), slack=slack)


def test_counts_of_another_tree_are_refused():
    tree = Tree.from_parents([-1])
    other = Tree.from_parents([-1, 0, 0])

    with pytest.raises(CountsError, match="another tree"):
        error_based(tree, Counts.from_leaves(other, [[1, 0], [0, 1]]))


# Raising. A row is a list with the child it takes at every node, so any tree can be routed.


@st.composite
def routed_trees(draw, max_internal=6, max_rows=30):
    """About half the tests tell the classes apart, nearly; without them there would be nothing to raise."""
    tree = draw(trees(max_internal=max_internal))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    classes = rng.integers(0, 2, draw(st.integers(0, max_rows)))
    is_noise = rng.random((tree.n_nodes, len(classes))) < rng.choice([0.1, 1], (tree.n_nodes, 1))
    turns = np.where(is_noise, rng.integers(0, 6, is_noise.shape), classes)
    return tree, classes, turns % np.maximum(tree.arity, 1)[:, None]


def leaf_of_rows(tree, goes_to):
    children = children_of(tree.parent.tolist())
    leaves = []
    for row in range(goes_to.shape[1]):
        v = 0
        while children[v]:
            v = children[v][goes_to[v, row]]
        leaves.append(v)
    return np.array(leaves, np.int64)


def counts_of(tree, leaf_of_row, classes, n_classes=2):
    at_leaves = np.zeros((tree.n_nodes, n_classes), np.int64)
    np.add.at(at_leaves, (leaf_of_row, classes), 1)
    return Counts.from_leaves(tree, at_leaves[tree.is_leaf])


def raised(tree, classes, goes_to, **parameters):
    leaf_of_row = leaf_of_rows(tree, goes_to)
    rows = GrowingRows(leaf_of_row, classes, None, lambda rows, node: goes_to[node, rows])
    return raise_branches(counts_of(tree, leaf_of_row, classes), rows, **parameters)


def naive(tree, classes, goes_to, slack):
    """The definition, recursively: nested (node, branches, class counts)."""
    children = children_of(tree.parent.tolist())

    def class_counts(rows):
        return (sum(classes[r] == 0 for r in rows), sum(classes[r] == 1 for r in rows))

    def total_estimate(node, branches, rows):
        if not branches:
            return estimate(class_counts(rows))
        return sum(
            total_estimate(*branch, [r for r in rows if goes_to[node, r] == i]) for i, branch in enumerate(branches)
        )

    def integer_counts(node):
        return node, [integer_counts(c) for c in children[node]]

    def process(node, branches, rows):
        if not branches:
            return node, []
        parts = [[r for r in rows if goes_to[node, r] == i] for i in range(len(branches))]
        branches = [process(*branch, part) for branch, part in zip(branches, parts, strict=True)]
        sizes = [len(part) for part in parts]
        largest = branches[sizes.index(max(sizes))]
        as_leaf = estimate(class_counts(rows))
        as_branch = total_estimate(*largest, rows)
        as_subtree = total_estimate(node, branches, rows)
        if as_leaf <= min(as_branch, as_subtree) + slack + 1e-11:
            return node, []
        if as_branch <= as_subtree + slack + 1e-11:
            return process(*largest, rows)
        return node, branches

    def with_counts(node, branches, rows):
        parts = [[r for r in rows if goes_to[node, r] == i] for i in range(len(branches))]
        return node, class_counts(rows), [with_counts(*b, p) for b, p in zip(branches, parts, strict=True)]

    rows = list(range(len(classes)))
    return with_counts(*process(*integer_counts(0), rows), rows)


def nested(tree, counts, v=0):
    inside = [nested(tree, counts, c) for c in tree.children(v)]
    return int(tree.ids[v]), tuple(counts.by_class[v].tolist()), inside


@given(routed_trees(), st.sampled_from([0.0, 0.1, 0.5]))
def test_raising_follows_its_definition(case, slack):
    tree, classes, goes_to = case

    small, counts = raised(tree, classes, goes_to, slack=slack)

    assert nested(small, counts) == naive(tree, classes, goes_to, slack)


def raisable():
    """The root's test is noise; its second branch holds a test that separates the classes.

    Nodes: 0 (1 (2, 3), 4 (5, 6)). Rows 0-2 go to node 1, which tests noise; rows 3-12 to
    node 4, whose test is the class for all rows.
    """
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    classes = np.array([0, 1, 0] + [0] * 5 + [1] * 5)
    goes_to = np.zeros((7, 13), np.int64)
    goes_to[0, 3:] = 1
    goes_to[4] = classes
    return tree, classes, goes_to


def test_a_branch_is_raised_over_a_useless_test():
    small, counts = raised(*raisable())

    assert small.ids.tolist() == [4, 5, 6]
    assert counts.by_class.tolist() == [[7, 6], [7, 0], [0, 6]]


def test_raising_beats_every_pruning_here():
    tree, classes, goes_to = raisable()
    counts = counts_of(tree, leaf_of_rows(tree, goes_to), classes)
    cost = [estimate(row) for row in counts.by_class.tolist()]

    small, small_counts = raised(tree, classes, goes_to)
    value = sum(estimate(row) for row in small_counts.by_class[small.is_leaf].tolist())

    assert value < min(sum(cost[v] for v in leaves) for leaves in all_prunings(tree)) - 0.5


def test_a_raised_branch_takes_its_tests_along():
    """The tree of `raisable` with nominal and numeric tests in its nodes."""
    tree, classes, goes_to = raisable()
    tested = Tree(
        tree.parent,
        feature=[0, 1, -1, -1, 2, -1, -1],
        threshold=[1.5, np.nan, np.nan, np.nan, np.nan, np.nan, np.nan],
        branch_start=[0, 0, 3, 3, 3, 5, 5, 5],
        branch=[0, 1, 0, 1, 0],
        default=[1, 0, 0, 0, 1, 0, 0],
        score=[0.1, 0.2, np.nan, np.nan, 0.3, np.nan, np.nan],
        split_order=[0, 2, -1, -1, 1, -1, -1],
    )

    small, _ = raised(tested, classes, goes_to)

    assert small.feature.tolist() == [2, -1, -1]
    assert small.branch.tolist() == [1, 0]
    assert small.branch_start.tolist() == [0, 2, 2, 2]
    assert (small.default[0], small.score[0], small.split_order[0]) == (1, 0.3, 1)


def test_weighted_rows_count_with_their_weight():
    tree, classes, goes_to = raisable()
    leaf_of_row = leaf_of_rows(tree, goes_to)
    integer_counts = counts_of(tree, leaf_of_row, classes)
    weighted = Counts(tree, integer_counts.by_class * 2.0)

    rows = GrowingRows(leaf_of_row, classes, np.full(13, 2.0), lambda rows, node: goes_to[node, rows])
    small, counts = raise_branches(weighted, rows)

    assert small.ids.tolist() == [4, 5, 6]
    assert counts.by_class.tolist() == [[14, 12], [14, 0], [0, 12]]


def test_raising_leaves_a_single_leaf_alone():
    tree = Tree.from_parents([-1])

    small, counts = raised(tree, np.array([0, 1, 1]), np.zeros((1, 3), np.int64))

    assert (small.n_nodes, counts.by_class.tolist()) == (1, [[1, 2]])


def test_raising_passes_a_deep_chain_without_recursion():
    depth = 3_000
    tree, counts = chain(depth)
    leaf_of_row = np.repeat(tree.leaves, 5)
    classes = np.repeat(np.arange(depth + 1) % 2, 5)

    def child_of(rows, node):
        return (leaf_of_row[rows] > node + 1).astype(np.int64)

    small, _ = raise_branches(counts, GrowingRows(leaf_of_row, classes, None, child_of))

    assert small.n_leaves > 1_000


# Raising on tables


def mixed_table(n_rows=300, seed=0):
    """Numbers with gaps and categories; the label depends on both, and one in five is noise."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 6, n_rows).astype(float)
    numbers[rng.random(n_rows) < 0.1] = np.nan
    letters = rng.integers(0, 4, n_rows)
    noise = rng.integers(0, 5, n_rows)
    labels = np.where(rng.random(n_rows) < 0.2, rng.integers(0, 2, n_rows), (numbers > 2) ^ (letters == 1))
    frame = {"number": numbers, "letter": np.array(list("abcd"))[letters], "noise": noise.astype(float)}
    return pd.DataFrame(frame), labels


def any_tree(schema, seed, depth=5):
    """A tree with random tests: thresholds in the numeric columns, one child per letter or two groups of letters."""
    rng = np.random.default_rng(seed)
    nodes = []  # parent, feature, threshold, branch, default
    todo = [(-1, 0)]
    while todo:
        parent, level = todo.pop()
        v = len(nodes)
        feature = int(rng.integers(0, 3)) if level < depth and rng.random() < 0.8 else -1
        branch = [[0, 1, 2, 3], [0, 1, 1, 0]][rng.integers(0, 2)] if feature == 1 else []
        threshold = rng.integers(0, 5) + 0.5 if feature in {0, 2} else np.nan
        nodes.append((parent, feature, threshold, branch, int(feature >= 0 and rng.integers(0, 2))))
        todo += [(v, level + 1)] * ((max(branch) + 1 if branch else 2) if feature >= 0 else 0)
    parent, feature, threshold, branch, default = zip(*nodes, strict=True)
    return Tree(
        np.array(parent),
        feature=feature,
        threshold=threshold,
        branch_start=np.cumsum([0] + [len(b) for b in branch]),
        branch=np.concatenate([np.array(b, int) for b in branch]),
        default=default,
        schema=schema,
    )


@pytest.mark.parametrize("seed", [0, 2, 6, 7, 8, 11])
def test_the_counts_of_a_raised_tree_are_those_of_its_rows(seed):
    frame, labels = mixed_table(seed=seed)
    table = encode(frame, target=labels)
    tree = any_tree(table.schema, seed)

    small, counts = error_based(tree, count(tree, table, sample="grow"), raise_subtrees=True, table=table)

    assert counts == count(small, table, sample="grow")


def test_raising_a_tree_on_a_table_makes_what_no_pruning_does():
    frame, labels = mixed_table()
    table = encode(frame, target=labels)
    tree = any_tree(table.schema, 6)

    small, _ = error_based(tree, count(tree, table), raise_subtrees=True, table=table)

    assert 1 < small.n_leaves < tree.n_leaves
    assert (tree.parent[small.ids[1:]] != small.ids[small.parent[1:]]).any()


def test_whole_weights_are_rows_repeated():
    frame, labels = mixed_table(80)
    weights = np.arange(80) % 3 + 1
    table = encode(frame, target=labels)
    tree = any_tree(table.schema, 6)
    counts = count(tree, table, sample_weight=weights)
    repeated = np.repeat(np.arange(80), weights)
    long = encode(frame.iloc[repeated], target=labels[repeated], schema=tree.schema)

    of_weights = error_based(tree, counts, raise_subtrees=True, table=table, sample_weight=weights)
    of_repeated_rows = error_based(tree, counts, raise_subtrees=True, table=long)

    assert of_weights == of_repeated_rows


def test_weights_that_are_not_whole_are_taken_when_raising():
    frame, labels = mixed_table(80)
    weights = np.linspace(0.1, 2, 80)
    table = encode(frame, target=labels)
    tree = any_tree(table.schema, 6)
    counts = count(tree, table, sample_weight=weights)

    small, small_counts = error_based(tree, counts, raise_subtrees=True, table=table, sample_weight=weights)

    expected = count(small, table, sample_weight=weights).by_class
    assert small_counts.by_class == pytest.approx(expected)


def test_raising_without_a_table_says_what_to_pass():
    tree = Tree.from_parents([-1])

    with pytest.raises(ParameterError, match="table=encode"):
        error_based(tree, Counts.from_leaves(tree, [[1, 0]]), raise_subtrees=True)


def test_raising_with_other_rows_than_those_counted_is_refused():
    frame, labels = mixed_table(60)
    table = encode(frame, target=labels)
    tree = any_tree(table.schema, 6)
    fewer = encode(frame.iloc[:50], target=labels[:50], schema=tree.schema)

    with pytest.raises(CountsError, match="do not add up to the counts"):
        error_based(tree, count(tree, table), raise_subtrees=True, table=fewer)


def test_raising_with_other_columns_is_refused():
    frame, labels = mixed_table(60)
    table = encode(frame, target=labels)
    tree = any_tree(table.schema, 6)
    other = encode(frame[["noise", "number"]], target=labels)

    with pytest.raises(ParameterError, match="other columns"):
        error_based(tree, count(tree, table), raise_subtrees=True, table=other)


def test_estimated_errors_of_an_empty_leaf_are_zero():
    assert estimated_errors(np.zeros((1, 3), np.int64)).tolist() == [0]


@pytest.mark.parametrize("seed", [8, 18, 193])
def test_rows_on_a_threshold_and_of_every_category_are_raised_as_they_are_routed(seed):
    frame, labels = mixed_table(200, seed)
    table = encode(frame.assign(number=frame["number"] / 2, noise=frame["noise"] / 2), target=labels)
    tree = any_tree(table.schema, seed)

    small, counts = error_based(tree, count(tree, table, sample="grow"), raise_subtrees=True, table=table)

    assert counts == count(small, table, sample="grow")


def test_raising_names_what_is_missing_and_takes_a_single_class():
    tree = Tree.from_parents([-1])
    counts = Counts.from_leaves(tree, [[1, 0]])
    with pytest.raises(ParameterError, match="with no table"):
        error_based(tree, counts, raise_subtrees=True)
    with pytest.raises(ParameterError, match="with a table without a target"):
        error_based(tree, counts, raise_subtrees=True, table=encode([[1.0], [2.0]]))
    table = encode([[1.0], [2.0], [3.0]], target=["a", "a", "a"])
    tree = Tree([-1, 0, 0], feature=[0, -1, -1], threshold=[1.5, np.nan, np.nan], schema=table.schema)
    assert error_based(tree, count(tree, table), raise_subtrees=True, table=table)[0].n_leaves == 1


@pytest.mark.parametrize(("seed", "is_root_raised"), [(6, False), (12, True)])
def test_what_is_known_of_a_test_stays_with_it_and_leaves_have_none(seed, is_root_raised):
    frame, labels = mixed_table(seed=seed * is_root_raised)
    table = encode(frame, target=labels)
    tree = any_tree(table.schema, seed)
    known = np.where(tree.is_leaf, np.nan, np.arange(tree.n_nodes) + 0.5)
    tree = replace(tree, score=known, rounded=known, split_order=np.where(tree.is_leaf, -1, np.arange(tree.n_nodes)))

    small, _ = error_based(tree, count(tree, table), raise_subtrees=True, table=table)

    above = [-1, *small.ids[small.parent[1:]].tolist()]
    as_grown = []
    for v, old in enumerate(small.ids.tolist()):
        parent = int(small.parent[v])
        as_grown.append(above[v] == tree.parent[old] and (parent < 0 or as_grown[parent]))
        if small.is_leaf[v]:
            assert (small.feature[v], small.default[v], small.split_order[v]) == (-1, 0, -1)
            assert np.isnan([small.score[v], small.rounded[v], small.threshold[v]]).all()
        else:
            assert (small.split_order[v], small.score[v]) == (old, old + 0.5)
            assert small.rounded[v] == old + 0.5 if as_grown[v] else np.isnan(small.rounded[v])
    assert any(as_grown) != is_root_raised


def test_one_row_that_differs_is_noticed_when_raising():
    frame, labels = mixed_table(60)
    table = encode(frame, target=labels)
    tree = any_tree(table.schema, 6)
    other = encode(frame, target=np.append(1 - labels[:1], labels[1:]))
    with pytest.raises(CountsError, match="do not add up to the counts"):
        error_based(tree, count(tree, table), raise_subtrees=True, table=other)


def test_a_single_row_that_is_an_error_has_the_limit_one():
    assert upper_limit([1, 0], [1, 1]).tolist() == [1, 0.75]
