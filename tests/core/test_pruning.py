"""Prunings: cutting by hand, the lattice, smaller trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings, keep_vector, n_nodes_of
from secateur import Counts, Pruning, Tree, grow
from secateur.core import RuleProvenance
from secateur.errors import PruningError
from secateur.routing import apply
from strategies import trees_with_counts

TREE = Tree.from_parents([-1, 0, 1, 1, 0])


def pruning_of(tree, leaves, **fields):
    return Pruning.from_cuts(tree, sorted(leaves), **fields)


@given(trees_with_counts())
def test_the_numbers_of_a_pruning_agree_with_enumeration(case):
    tree, counts = case
    for leaves in all_prunings(tree):
        pruning = pruning_of(tree, leaves, node_labels=counts.majority)
        assert set(pruning.leaves.tolist()) == leaves
        assert set(pruning.cuts.tolist()) == {v for v in leaves if not tree.is_leaf[v]}
        assert tuple(pruning.is_kept[tree.internal]) == keep_vector(tree, leaves)
        assert pruning.n_nodes == n_nodes_of(tree, leaves)
        assert pruning.errors(counts) == sum(counts.errors_if_leaf(counts.majority)[v] for v in leaves)
        assert [v for v in range(tree.n_nodes) if pruning.labels[v] >= 0] == sorted(leaves)


@given(trees_with_counts(), st.data())
def test_intersection_and_union_are_those_of_the_kept_nodes(case, data):
    tree, _ = case
    every = sorted(all_prunings(tree), key=sorted)
    first, second = (pruning_of(tree, data.draw(st.sampled_from(every))) for _ in range(2))

    meet, join = first & second, first | second

    assert (meet.is_kept == (first.is_kept & second.is_kept)).all()
    assert (join.is_kept == (first.is_kept | second.is_kept)).all()
    assert meet <= first <= join
    assert join >= second >= meet
    assert (first <= second) == set(np.flatnonzero(first.is_kept)).issubset(np.flatnonzero(second.is_kept))


@given(trees_with_counts())
def test_a_smaller_tree_has_the_counts_of_the_nodes_it_keeps(case):
    tree, counts = case
    for leaves in all_prunings(tree):
        pruning = pruning_of(tree, leaves)
        small, kept = pruning.to_tree(counts)
        assert (small.n_leaves, small.n_nodes) == (pruning.n_leaves, pruning.n_nodes)
        assert (kept.by_class == counts.by_class[small.ids]).all()
        assert set(small.ids[small.leaves].tolist()) == leaves
        assert pruning.to_tree() == small


def test_a_smaller_tree_sends_rows_to_the_leaves_of_the_pruning():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    tree, grown = grow(X, rng.integers(0, 2, 200))
    pruning = Pruning.from_cuts(tree, tree.internal[3::5], node_labels=grown.majority)

    small, counts = pruning.to_tree(grown)

    assert [pruning.leaf_above(v) for v in apply(tree, X)] == small.ids[apply(small, X)].tolist()
    assert counts.total[0] == 200


def test_a_node_is_cut_and_restored_by_hand():
    full = Pruning.from_cuts(TREE, [], node_labels=[0, 0, 0, 1, 1], seen={"grow"})

    cut = full.snip(1)

    assert cut.cuts.tolist() == [1]
    assert cut.labels.tolist() == [-1, 0, -1, -1, 1]
    assert cut.restore(1) == full
    assert cut.seen == {"grow"}
    assert full.snip(1).snip(0).restore(0) == full  # the whole original subtree comes back


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda p: p.snip(2), "node 2 is already removed: it is below leaf 1"),
        (lambda p: p.snip(9), "node 9 does not exist; ids run from 0 to 4"),
        (lambda p: p.restore(0), "node 0 is not cut"),
        (lambda p: p.restore(3), "node 3 lies under leaf 1; restore that one"),
        (lambda p: p.leaf_above(0), "node 0 is not under a leaf"),
        (lambda p: p & Pruning.from_cuts(Tree.from_parents([-1, 0, 0]), []), "different trees"),
        (lambda p: p.errors(Counts.from_leaves(TREE, [[1], [1], [1]])), "has no classes"),
    ],
)
def test_impossible_edits_are_refused_with_the_reason(act, says):
    with pytest.raises(PruningError, match=says):
        act(Pruning.from_cuts(TREE, [1]))


@pytest.mark.parametrize(
    ("is_leaf", "says"),
    [
        ([False, True, True, False, True], "no leaf or more than one"),
        ([False, False, True, True, False], "no leaf or more than one"),
        ([True, False], "shape"),
        ([0, 1, 0, 0, 1], "bool is needed"),
    ],
)
def test_leaves_that_do_not_cover_every_path_once_are_refused(is_leaf, says):
    with pytest.raises(PruningError, match=says):
        Pruning(TREE, np.array(is_leaf))


def test_cuts_at_nodes_that_do_not_exist_are_refused():
    with pytest.raises(PruningError, match="node ids from 0 to 4"):
        Pruning.from_cuts(TREE, [5])


def test_prunings_are_equal_with_the_same_leaves_labels_and_tree_only():
    tree, other = Tree.from_parents([-1, 0, 1, 1, 0]), Tree.from_parents([-1, 0, 0, 2, 2])
    one_leaf = Pruning.from_cuts(tree, [0], node_labels=[0, 1, 0, 1, 1])
    assert one_leaf == Pruning.from_cuts(tree, [0], node_labels=[0, 0, 0, 0, 0])  # only the label of a leaf counts
    assert one_leaf != Pruning.from_cuts(tree, [0], node_labels=[1, 1, 0, 1, 1])
    assert one_leaf != Pruning.from_cuts(other, [0], node_labels=[0, 1, 0, 1, 1])
    assert Pruning.from_cuts(tree, [0]) != Pruning.from_cuts(tree, [1])


def test_ids_end_before_the_number_of_nodes():
    pruning = Pruning.from_cuts(Tree.from_parents([-1, 0, 0]), [])
    assert pruning.snip(2) == pruning
    for node in (-1, 3):
        with pytest.raises(PruningError, match=f"node {node} does not exist; ids run from 0 to 2"):
            pruning.snip(node)


@pytest.mark.parametrize(("n_cuts", "more"), [(8, ""), (9, ", ...")])
def test_eight_cuts_are_named(n_cuts, more):
    parent = [-1, *(v for i in range(n_cuts) for v in (0, 3 * i + 1, 3 * i + 1))]
    pruning = Pruning.from_cuts(Tree.from_parents(parent), [3 * i + 1 for i in range(n_cuts)])
    assert repr(pruning).endswith(f"cuts at 1, 4, 7, 10, 13, 16, 19, 22{more})")


@pytest.mark.parametrize("labels", [[0], [0.0, 0.0, 1.0], [[0, 0, 1]]])
def test_labels_are_a_whole_number_for_each_node(labels):
    with pytest.raises(PruningError, match="node_labels have shape"):
        Pruning.from_cuts(Tree.from_parents([-1, 0, 0]), [], node_labels=labels)


def test_a_new_leaf_has_no_test_left():
    fields = {
        "feature": [0, 0, -1, -1, -1],
        "threshold": [1.5, 0.5, np.nan, np.nan, np.nan],
        "split_order": [0, 1, -1, -1, -1],
    }
    tree = Tree([-1, 0, 1, 1, 0], **fields, score=[3.0, 2.0, np.nan, np.nan, np.nan], default=[1, 1, 0, 0, 0])
    small = Pruning.from_cuts(tree, [1]).to_tree()
    assert small == Tree(
        [-1, 0, 0], feature=[0, -1, -1], threshold=[1.5, np.nan, np.nan], split_order=[0, -1, -1], ids=[0, 1, 4],
        score=[3.0, np.nan, np.nan], default=[1, 0, 0],
    )  # fmt: skip


def test_the_provenance_names_the_rule_and_every_later_edit():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    provenance = RuleProvenance("my-rule", {"m": np.float64(2)}, "errors", "grow", text="my rule, m = 2")

    pruning = Pruning.from_cuts(tree, [1], provenance=provenance)

    assert (pruning.rule, pruning.provenance.parameters) == ("my rule, m = 2", {"m": 2.0})
    assert type(pruning.provenance.parameters["m"]) is float
    assert pruning.restore(1).snip(0).provenance.edits == ("restore", "snip")
    assert pruning.snip(0).rule == "my rule, m = 2, snip"
    assert Pruning.from_cuts(tree, [1]).snip(0).provenance is None
