"""Trees: structure, numbering, and the refusal of arrays that are none."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import children_of
from secateur import Column, Schema, Tree
from secateur.errors import TreeError
from strategies import trees

pytestmark = pytest.mark.lane


@given(trees(max_internal=8))
def test_properties_of_a_tree_follow_from_its_parents(tree):
    children = children_of(tree.parent.tolist())
    below = [set() for _ in children]
    for v in reversed(range(tree.n_nodes)):
        below[v] = {v}.union(*(below[c] for c in children[v]))

    for v in range(tree.n_nodes):
        assert list(tree.children(v)) == children[v]
        assert set(range(v, tree.end[v])) == below[v]
        assert tree.arity[v] == len(children[v])
        assert tree.depth[v] == (0 if v == 0 else tree.depth[tree.parent[v]] + 1)
    assert tree.leaves.tolist() == [v for v in range(tree.n_nodes) if not children[v]]
    assert tree.n_leaves + len(tree.internal) == tree.n_nodes


@given(trees(max_internal=8), st.randoms(use_true_random=False))
def test_any_order_of_nodes_with_parents_first_gives_the_same_tree_up_to_the_order_of_siblings(tree, random):
    order, ready = [], [0]
    while ready:
        v = ready.pop(random.randrange(len(ready)))
        order.append(v)
        ready.extend(tree.children(v))
    position = {v: i for i, v in enumerate(order)}
    shuffled = [-1 if v == 0 else position[int(tree.parent[v])] for v in order]

    again, old = Tree.from_parents(shuffled, return_order=True)

    assert sorted(old.tolist()) == list(range(tree.n_nodes))
    for v in range(1, again.n_nodes):
        assert old[again.parent[v]] == shuffled[old[v]]
    for v in range(again.n_nodes):
        siblings = [old[c] for c in again.children(v)]
        assert siblings == sorted(siblings)


@pytest.mark.parametrize(
    ("parent", "says"),
    [
        ([0, 0, 0], "node 0 has parent 0; the root"),
        ([-1, 0, 2], "node 2 has parent 2"),
        ([-1, -1, 0], "node 1 has parent -1"),
        ([-1, 0], "node 0 has 1 child"),
        ([], "shape"),
        ([[-1]], "shape"),
        ([-1.0, 0.0, 0.0], "float64"),
    ],
)
def test_invalid_parents_are_refused_by_node_and_value(parent, says):
    with pytest.raises(TreeError, match=says):
        Tree.from_parents(parent)


def test_nodes_that_are_not_in_pre_order_are_refused_with_a_remedy():
    with pytest.raises(TreeError, match=r"node 2 \(parent 0\).*from_parents"):
        Tree([-1, 0, 0, 1, 1])


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"feature": [0, 0, -1], "threshold": [1.0, 1.0, np.nan]}, "node 1 is a leaf but tests feature 0"),
        ({"feature": [0, -1, -1]}, "node 0 compares with the threshold nan"),
        ({"feature": [-2, -1, -1]}, "node 0 tests feature -2"),
        ({"feature": [0, -1, -1], "threshold": [1.0, np.nan, np.nan], "default": [2, 0, 0]}, "node 0 sends missing .* child 2"),
        ({"feature": [0, -1, -1], "branch_start": [0, 2, 2, 2], "branch": [0, 2]}, "node 0 sends category 1 to child 2"),
        ({"branch_start": [0, 2, 2, 2], "branch": [0, 1]}, "node 0 has 2 branches but tests no feature"),
        ({"branch_start": [0, 3, 2, 2], "branch": [0, 1]}, "branch_start must rise"),
        ({"feature": [0, -1]}, r"feature has shape \(2,\)"),
    ],
)  # fmt: skip
def test_splits_to_children_that_do_not_exist_are_refused_by_node_and_value(fields, says):
    with pytest.raises(TreeError, match=says):
        Tree([-1, 0, 0], **fields)


def test_arrays_cannot_be_written_and_are_not_the_callers():
    parent = np.array([-1, 0, 0], np.int32)
    tree = Tree(parent)
    parent[1] = 7

    assert tree.parent.tolist() == [-1, 0, 0]
    for array in (tree.parent, tree.end, tree.depth, tree.feature, tree.threshold, tree.is_leaf):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("again", [copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))])
def test_copies_are_equal_hash_alike_and_stay_write_protected(again):
    tree = Tree([-1, 0, 0], feature=[3, -1, -1], threshold=[0.5, np.nan, np.nan])

    assert again(tree) == tree
    assert hash(again(tree)) == hash(tree)
    assert not again(tree).parent.flags.writeable
    assert tree != Tree([-1, 0, 0])
    assert tree != "a tree"


def test_many_threads_can_read_a_tree_at_once():
    tree = Tree.from_parents([-1] + [v // 2 for v in range(2 * 20_000)])
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: (tree.n_leaves, int(tree.depth.max()), int(tree.arity.sum())), range(16)))
    assert len(set(answers)) == 1


def test_the_repr_of_a_single_leaf_is_singular():
    assert repr(Tree.from_parents([-1])) == "Tree(1 leaf, 1 node, depth 0)"


def test_columns_and_children_end_before_their_number():
    schema = Schema((Column("size", "numeric"),))
    fields = {"threshold": [1.5, np.nan, np.nan], "schema": schema}
    assert Tree([-1, 0, 0], feature=[0, -1, -1], default=[1, 0, 0], **fields).has_tests
    with pytest.raises(TreeError, match="tests feature 1; the table has 1 columns"):
        Tree([-1, 0, 0], feature=[1, -1, -1], **fields)
    for default in ([2, 0, 0], [0, 0, 1], [-1, 0, 0]):
        with pytest.raises(TreeError, match="sends missing values to child"):
            Tree([-1, 0, 0], feature=[0, -1, -1], default=default, **fields)


def test_the_second_child_follows_the_first_subtree():
    assert Tree.from_parents([-1, 0, 1, 1, 0, 4, 4]).right.tolist() == [4, 3, 0, 0, 6, 0, 0]


def test_a_column_of_one_category_is_nominal_and_branches_are_all_used():
    one = Tree([-1, 0, 0], feature=[0, -1, -1], branch_start=[0, 1, 1, 1], branch=[0])
    assert one.has_tests
    for start in ([0, 1, 1, 2], [1, 1, 1, 1], [0, 2, 1, 1]):
        with pytest.raises(TreeError, match="branch_start must rise from 0 to 1"):
            Tree([-1, 0, 0], feature=[0, -1, -1], branch_start=start, branch=[0])
