"""Bottom-up SRM: its penalty, its single pass, and when it may call itself certified."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings, children_of
from secateur import Column, Counts, Schema, Tree
from secateur.errors import CountsError, ParameterError
from secateur.pruners._bottom_up_srm import bottom_up_srm, srm_penalty
from strategies import trees_with_counts

pytestmark = pytest.mark.lane

TWO_LEAVES = Tree.from_parents([-1, 0, 0])
CLEAR = Counts.from_leaves(TWO_LEAVES, [[1000, 0], [0, 1000]])


def catalan(i):
    return math.comb(2 * i, i) // (i + 1)


# The penalty


@pytest.mark.parametrize(
    ("n_examples", "n_nodes", "depth", "path", "subtree", "alpha"),
    [
        (1000, 3, 0, 0.693, 6.174, 0.1230),
        (200, 3, 3, 14.062, 6.174, 0.4593),
        (50, 7, 5, 22.182, 16.365, 1.165),
        (1000, 15, 2, 9.863, 36.853, 0.2431),
    ],
)
def test_the_numbers_of_the_worked_example(n_examples, n_nodes, depth, path, subtree, alpha):
    penalty = srm_penalty(n_examples, depth, (n_nodes - 1) // 2, n_tests=20, n_classes=2, delta=0.05)

    assert round(penalty.path, 3) == path
    assert round(penalty.subtree, 3) == subtree
    assert penalty.value == pytest.approx(alpha, abs=5e-4 if alpha > 1 else 5e-5)


@given(st.integers(1, 30), st.integers(2, 4))
def test_the_codes_of_binary_subtrees_fill_kraft_s_sum_exactly(n_tests, n_classes):
    """All subtrees with i tests together weigh 1/((i+1)(i+2)), which sums to 1 over i."""
    for i in range(30):
        n_subtrees = catalan(i) * n_tests**i * n_classes ** (i + 1)
        length = srm_penalty(1, 0, i, n_tests=n_tests, n_classes=n_classes).subtree

        assert math.log(n_subtrees) - length == pytest.approx(-math.log((i + 1) * (i + 2)), abs=1e-8)


def test_the_codes_of_paths_fill_kraft_s_sum_exactly():
    for depth in range(20):
        n_paths = (2 * 7) ** depth

        assert math.log(n_paths) - srm_penalty(1, depth, 0, n_tests=7).path == pytest.approx(
            -math.log((depth + 1) * (depth + 2)), abs=1e-8
        )


@pytest.mark.parametrize("arity", [3, 5])
def test_the_codes_of_wider_subtrees_meet_kraft_s_inequality(arity):
    weight = 0.0
    for i in range(60):
        n_shapes = math.comb(arity * i, i) // ((arity - 1) * i + 1)
        n_subtrees = n_shapes * 4**i * 3 ** (1 + i * (arity - 1))
        weight += math.exp(math.log(n_subtrees) - srm_penalty(1, 0, i, n_tests=4, n_classes=3, arity=arity).subtree)

    assert 0.5 < weight <= 1


def test_the_published_form_covers_one_deviation_with_the_constant_two():
    penalty = srm_penalty(100, 2, 1, n_tests=20, form="printed", n_total=500)
    paths, trees = 2 * math.log(40), math.log(20) + 2 * math.log(2)

    assert penalty.value == pytest.approx(2 * math.sqrt((paths + trees + math.log(500 / 0.05)) / 100))


def test_the_vc_form_covers_tree_and_leaf():
    n_tests = 3 * (2 * 500 + 1)
    penalty = srm_penalty(100, 2, 3, n_tests=n_tests, form="vc")
    paths = 2 * math.log(2 * n_tests)
    trees = math.log(catalan(3)) + 3 * math.log(n_tests) + 4 * math.log(2)

    tree_part = math.sqrt(8 * (paths + trees + math.log(4 / 0.05)) / 100)
    leaf_part = math.sqrt(8 * (paths + math.log(2) + math.log(4 / 0.05)) / 100)
    assert penalty.value == pytest.approx(tree_part + leaf_part)


# The pass


def by_definition(tree, counts, n_tests, delta, scale, form="finite"):
    """Leaves after the rule; everything from the formulas, nothing carried along."""
    children = children_of(tree.parent.tolist())
    rows = counts.by_class.tolist()
    k = counts.n_classes
    is_binary = all(len(c) in {0, 2} for c in children)
    arities = []  # of the tests above the node being decided

    def penalty(m, n_internal, n_leaves):
        l = len(arities)
        path = sum(math.log(a * n_tests) for a in arities)
        subtree = n_internal * math.log(n_tests) + n_leaves * math.log(k)
        subtree += math.log(catalan(n_internal)) if is_binary else (n_internal + n_leaves) * math.log(2)
        if form == "vc":
            variance, confidence = 8, math.log(4 / delta)
        else:
            variance, confidence = 1 / 2, math.log(2 / delta)
            path += math.log((l + 1) * (l + 2))
            subtree += math.log((n_internal + 1) * (n_internal + 2)) if is_binary else 0
        return sum(math.sqrt(variance * (path + x + confidence) / m) for x in (subtree, math.log(k)))

    def settle(v):
        """(leaves, errors, tests) of what is left of the subtree at v."""
        m, errors = sum(rows[v]), sum(rows[v]) - max(rows[v])
        as_leaf = ([v], errors, 0)
        if not children[v]:
            return as_leaf
        arities.append(len(children[v]))
        parts = [settle(c) for c in children[v]]
        arities.pop()
        leaves = [leaf for part in parts for leaf in part[0]]
        below, n_internal = sum(part[1] for part in parts), 1 + sum(part[2] for part in parts)
        if m == 0 or below + scale * penalty(m, n_internal, len(leaves)) * m >= errors:
            return as_leaf
        return leaves, below, n_internal

    return settle(0)[0]


@given(
    trees_with_counts(max_count=40),
    st.sampled_from([0.0, 0.02, 0.1, 0.3, 1.0]),
    st.sampled_from([1, 20, 1e6]),
    st.sampled_from([0.5, 0.001]),
)
def test_it_follows_its_definition(case, scale, n_tests, delta):
    tree, counts = case

    pruning = bottom_up_srm(tree, counts, n_tests=n_tests, delta=delta, scale=scale)

    assert pruning.leaves.tolist() == by_definition(tree, counts, n_tests, delta, scale)


@given(trees_with_counts(max_count=40), st.sampled_from([0.005, 0.02, 0.1]))
def test_the_vc_form_follows_its_definition(case, scale):
    tree, counts = case
    n_tests = 3 * (2 * int(counts.total[0]) + 1)

    pruning = bottom_up_srm(tree, counts, form="vc", n_features=3, scale=scale)

    assert pruning.leaves.tolist() == by_definition(tree, counts, n_tests, 0.05, scale, "vc")


@given(trees_with_counts())
def test_scale_zero_is_the_smallest_pruning_with_the_errors_of_the_uncut_tree(case):
    tree, counts = case
    errors = [sum(row) - max(row) for row in counts.by_class.tolist()]
    best = min(all_prunings(tree), key=lambda leaves: (sum(errors[v] for v in leaves), len(leaves)))

    assert set(bottom_up_srm(tree, counts, n_tests=5, scale=0).leaves.tolist()) == best


@given(trees_with_counts())
def test_an_infinite_scale_cuts_to_the_root(case):
    tree, counts = case

    assert bottom_up_srm(tree, counts, n_tests=5, scale=math.inf).n_leaves == 1


@given(trees_with_counts(max_count=40), st.randoms(use_true_random=False))
def test_the_order_of_siblings_does_not_matter(case, random):
    tree, counts = case
    # The same tree with children visited in another order: pre-order by shuffled siblings.
    children, order, todo = children_of(tree.parent.tolist()), [], [0]
    while todo:
        v = todo.pop()
        order.append(v)
        todo.extend(random.sample(children[v], len(children[v])))
    new_id = {v: i for i, v in enumerate(order)}
    other = Tree([new_id.get(int(tree.parent[v]), -1) for v in order])
    shuffled = Counts(other, counts.by_class[order])

    pruning = bottom_up_srm(tree, counts, n_tests=20, scale=0.1)
    pruning_of_shuffled = bottom_up_srm(other, shuffled, n_tests=20, scale=0.1)

    assert set(pruning.leaves.tolist()) == {order[i] for i in pruning_of_shuffled.leaves}


def test_a_node_without_rows_is_cut():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    counts = Counts.from_leaves(tree, [[0, 0], [0, 0], [500, 500]])

    assert bottom_up_srm(tree, counts, n_tests=2, scale=0).cuts.tolist() == [0]
    assert bottom_up_srm(tree, Counts.from_leaves(tree, [[0, 0]] * 3), n_tests=2).cuts.tolist() == [0]


def test_a_tie_of_weights_cuts():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    counts = Counts.from_leaves(tree, [[0.1, 0.7], [0.2, 0.7], [9.0, 0.3]])

    assert bottom_up_srm(tree, counts, n_tests=2, scale=0).cuts.tolist() == [1]


def test_a_single_leaf_is_left_alone():
    tree = Tree.from_parents([-1])

    assert bottom_up_srm(tree, Counts.from_leaves(tree, [[3, 4]]), n_tests=2).cuts.tolist() == []


def test_a_chain_of_depth_100_000_passes():
    depth = 100_000
    parent = np.repeat(np.arange(-2, 2 * depth, 2), 2)[1:]
    parent[0] = -1
    tree = Tree.from_parents(parent)
    counts = Counts.from_leaves(tree, 5 * np.eye(2, dtype=np.int64)[np.arange(depth + 1) % 2])

    assert bottom_up_srm(tree, counts, n_tests=20, scale=0).n_leaves == depth + 1
    assert bottom_up_srm(tree, counts, n_tests=20).n_leaves == 1


# The certificate


def test_a_given_number_of_tests_is_certified():
    pruning = bottom_up_srm(TWO_LEAVES, CLEAR, n_tests=20)

    assert pruning.certified is True
    assert pruning.note == "for 20 binary tests fixed before growing"
    assert bottom_up_srm(TWO_LEAVES, CLEAR, n_tests=20, scale=2).certified is True


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"n_tests": 20, "scale": 0.5}, "scaled by 0.5"),
        ({"form": "vc", "n_features": 3}, "VC form"),
        ({"form": "printed", "n_tests": 20}, "leaves its constant open"),
        ({"n_features": 3}, "taken from the sample"),
    ],
)
def test_heuristics_say_that_they_are_not_certified(parameters, why):
    pruning = bottom_up_srm(TWO_LEAVES, CLEAR, **parameters)

    assert pruning.certified is False
    assert why in pruning.note


def test_whole_weights_are_not_certified_where_the_rows_are_known():
    tree = Tree.from_parents([-1, 0, 0])
    heavy = Counts.from_leaves(tree, [[500, 0], [0, 500]])
    object.__setattr__(heavy, "n_rows", 10)
    pruning = bottom_up_srm(tree, heavy, n_tests=2)

    assert not pruning.certified
    assert "10 rows weigh 1000" in pruning.note


def test_weights_are_not_certified():
    weights = Counts(TWO_LEAVES, CLEAR.by_class * 0.5)

    assert "weights" in bottom_up_srm(TWO_LEAVES, weights, n_tests=20).note


def nominal_tree(n_codes, branch, *columns):
    """One test of the first column."""
    schema = Schema(tuple(Column(f"c{i}", "nominal", tuple(range(n))) for i, n in enumerate((n_codes, *columns))))
    n_children = max(branch) + 1
    return Tree(
        [-1] + [0] * n_children,
        feature=[0] + [-1] * n_children,
        branch_start=[0] + [n_codes] * (n_children + 1),
        branch=branch,
        schema=schema,
    )


def limit_of_keeping(tree, **parameters):
    """The least number of examples, half to each outer child, with which the root stays."""
    n_leaves = tree.n_leaves
    for n in range(2, 2000):
        at_leaves = [[n, 0]] + [[0, 0]] * (n_leaves - 2) + [[0, n]]
        pruning = bottom_up_srm(tree, Counts.from_leaves(tree, at_leaves), **parameters)
        if pruning.n_leaves > 1:
            return n, pruning
    raise AssertionError


def test_multiway_tests_of_nominal_columns_are_counted_by_columns():
    tree = nominal_tree(3, [0, 1, 2], 4, 2)  # three columns

    n, pruning = limit_of_keeping(tree)

    assert pruning.certified is True
    assert "multiway tests of 3 nominal columns" in pruning.note
    assert n == limit_of_keeping(Tree.from_parents([-1, 0, 0, 0]), n_tests=3)[0]


def test_two_valued_columns_have_binary_tests():
    tree = nominal_tree(2, [0, 1], 2, 2)

    assert limit_of_keeping(tree)[0] == limit_of_keeping(TWO_LEAVES, n_tests=3)[0]


def test_groupings_of_categories_are_counted_too():
    tree = nominal_tree(4, [0, 1, 0, 1], 3)

    pruning = bottom_up_srm(tree, Counts.from_leaves(tree, [[1000, 0], [0, 1000]]))

    assert pruning.certified is True
    assert "two-way groupings" in pruning.note


def test_numbers_among_the_columns_make_thresholds_read_off_the_sample():
    columns = (Column("size", "numeric"), Column("colour", "nominal", ("blue", "red")))
    tree = Tree([-1, 0, 0], feature=[0, -1, -1], threshold=[1.5, np.nan, np.nan], schema=Schema(columns))

    pruning = bottom_up_srm(tree, CLEAR)

    assert pruning.certified is False
    assert "taken from the sample" in pruning.note


def test_groupings_into_three_are_not_certified():
    tree = nominal_tree(5, [0, 1, 2, 0, 1])

    pruning = bottom_up_srm(tree, Counts.from_leaves(tree, [[9, 0], [0, 9], [9, 0]]))

    assert pruning.certified is False
    assert "neither multiway nor two-way" in pruning.note


# Bad input


@pytest.mark.parametrize("form", ["finite", "printed"])
def test_a_bare_tree_asks_for_the_number_of_tests(form):
    with pytest.raises(ParameterError, match="pass n_tests="):
        bottom_up_srm(TWO_LEAVES, CLEAR, form=form)


def test_a_bare_tree_asks_for_the_number_of_columns_in_the_vc_form():
    with pytest.raises(ParameterError, match="pass n_features="):
        bottom_up_srm(TWO_LEAVES, CLEAR, form="vc")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("delta", 0),
        ("delta", 1),
        ("delta", math.nan),
        ("n_tests", 0),
        ("n_tests", math.inf),
        ("n_tests", math.nan),
        ("n_features", 0),
        ("scale", -1),
        ("scale", math.nan),
        ("form", "catalan"),
    ],
)
def test_a_parameter_outside_its_range_is_refused(name, value):
    with pytest.raises(ParameterError, match=f"{name}="):
        bottom_up_srm(TWO_LEAVES, CLEAR, **{"n_tests": 20, name: value})


def test_the_vc_form_refuses_a_number_of_tests():
    with pytest.raises(ParameterError, match="no n_tests"):
        bottom_up_srm(TWO_LEAVES, CLEAR, form="vc", n_tests=20, n_features=2)


def test_counts_of_another_tree_are_refused():
    with pytest.raises(CountsError, match="another tree"):
        bottom_up_srm(Tree.from_parents([-1]), CLEAR, n_tests=20)


def test_a_wider_test_costs_a_bit_and_every_leaf_another():
    penalty = srm_penalty(1000, 0, 1, n_tests=20, n_classes=3, arity=3)
    assert penalty.subtree == pytest.approx(np.log(20) + np.log(2) + 3 * (np.log(3) + np.log(2)))


def test_groupings_are_as_many_as_halves_of_the_categories():
    tree = nominal_tree(4, [0, 1, 0, 1], 3)
    n_tests = 2 + 2**3 + 2**2  # columns, and the ways to part four categories and three
    base = np.log(2) + np.log(2 / 0.05)  # the path of length 0, and the confidence
    subtree = np.log(n_tests) + np.log(2) + 2 * (np.log(2) + np.log(2))
    per_root = np.sqrt(0.5 * (base + subtree)) + np.sqrt(0.5 * (base + np.log(2)))  # the penalty times sqrt(m)

    n, _ = limit_of_keeping(tree)

    assert n - 1 <= np.sqrt(2 * (n - 1)) * per_root
    assert n > np.sqrt(2 * n) * per_root


def test_one_column_is_one_test_or_as_many_as_there_are_rows():
    nominal = nominal_tree(3, [0, 1, 2])
    n, pruning = limit_of_keeping(nominal)
    assert "multiway tests of 1 nominal columns" in pruning.note
    assert n == limit_of_keeping(Tree.from_parents([-1, 0, 0, 0]), n_tests=1)[0]

    schema = Schema((Column("size", "numeric"),))
    numeric = Tree([-1, 0, 0], feature=[0, -1, -1], threshold=[1.5, np.nan, np.nan], schema=schema)
    n = limit_of_keeping(numeric)[0]
    assert n == limit_of_keeping(TWO_LEAVES, n_features=1)[0]
    counts = [Counts.from_leaves(TWO_LEAVES, [[m, 0], [0, m]]) for m in (n - 1, n)]
    assert [bottom_up_srm(TWO_LEAVES, c, n_tests=int(c.total[0])).n_leaves for c in counts] == [1, 2]


def test_the_vc_form_counts_the_ways_to_part_twice_the_rows():
    n, _ = limit_of_keeping(TWO_LEAVES, form="vc", n_features=3)
    few, enough = (srm_penalty(m, 0, 1, n_tests=3 * (2 * m + 1), form="vc").value for m in (2 * n - 2, 2 * n))
    assert few >= 0.5 > enough  # half of the rows are errors of the root
    for n_features in (0, math.inf):
        with pytest.raises(ParameterError, match="n_features="):
            bottom_up_srm(TWO_LEAVES, CLEAR, form="vc", n_features=n_features)


def test_one_row_has_a_printed_penalty():
    penalty = srm_penalty(1, 0, 1, n_tests=2, form="printed")
    assert penalty.value == pytest.approx(2 * math.sqrt(3 * math.log(2) + math.log(20)))


def test_every_doubt_is_named():
    tree = nominal_tree(5, [0, 1, 2, 0, 1])
    pruning = bottom_up_srm(tree, Counts.from_leaves(tree, [[9, 0], [0, 9], [9, 0]]), form="printed")
    assert "leaves its constant open; some tests are neither" in pruning.note


def test_a_wider_column_that_no_test_uses_could_have_been_grouped():
    tree = nominal_tree(2, [0, 1], 3)
    assert "two-way groupings" in bottom_up_srm(tree, CLEAR).note
