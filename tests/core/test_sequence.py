"""Sequences: every member from one number per node, and questions that have no answer."""

import gc
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur import Counts, Pruning, PruningSequence, Tree, grow
from secateur.core import MemberChanges
from secateur.core.provenance import SampleUsage
from secateur.errors import ParameterError, PruningError
from secateur.pruners import best_of_size, cost_complexity
from strategies import counts as draw_counts
from strategies import trees_with_counts

TREE = Tree.from_parents([-1, 0, 1, 1, 0])
NESTED = PruningSequence(
    TREE, [3, 2, 1], [0, 1, 3], alphas=[0, 1, 2], steps=[2, 1, 0, 0, 0], node_labels=[0, 0, 0, 1, 1]
)


@given(trees_with_counts(), st.data())
def test_errors_of_all_members_equal_those_of_each_member(case, data):
    tree, counts = case
    own = np.array([0 if tree.is_leaf[v] else data.draw(st.integers(1, 4)) for v in range(tree.n_nodes)])
    for v in range(1, tree.n_nodes):
        own[v] = min(own[v], own[tree.parent[v]])
    n_members = int(own[0]) + 1
    members = range(n_members)
    sizes = [int(((own <= i) & (i < np.append(own, n_members)[tree.parent])).sum()) for i in members]
    sequence = PruningSequence(tree, sizes, [0] * n_members, steps=own, node_labels=counts.majority)
    held = data.draw(draw_counts(tree, "prune", counts.n_classes))

    assert sequence.errors_on(held).tolist() == [pruning.errors(held) for pruning in sequence]
    assert [pruning.n_leaves for pruning in sequence] == sizes
    assert all(later <= earlier for earlier, later in zip(sequence, list(sequence)[1:], strict=False))


@given(trees_with_counts())
def test_a_sequence_from_a_table_has_the_same_members_and_errors(case):
    tree, counts = case
    sequence = best_of_size(tree, counts)
    assert [pruning.n_leaves for pruning in sequence] == sequence.n_leaves.tolist()
    assert sequence.errors_on(counts).tolist() == sequence.errors.tolist()
    assert sequence == best_of_size(tree, counts)


@given(trees_with_counts(), st.data())
def test_member_changes_agree_with_a_list_of_prunings(case, data):
    """The oracle looks at every member on its own."""
    tree, counts = case
    cuts = st.lists(st.sampled_from(tree.internal.tolist()), max_size=3) if len(tree.internal) else st.just([])
    prunings = [Pruning.from_cuts(tree, data.draw(cuts)) for _ in range(data.draw(st.integers(1, 6)))]
    kept = [~tree.is_leaf, *(pruning.is_kept for pruning in prunings)]
    changed = [np.flatnonzero(a != b) for a, b in pairwise(kept)]
    start = np.cumsum([0, *map(len, changed)])
    members = MemberChanges(tree.parent, tree.is_leaf, start, np.concatenate(changed).astype(np.int32))
    sizes = [pruning.n_leaves for pruning in prunings]
    labels = counts.majority
    sequence = PruningSequence(tree, sizes, sizes, rebuild=members, node_labels=labels, nested=False)
    table = PruningSequence(tree, sizes, sizes, rebuild=lambda i: prunings[i].is_leaf, node_labels=labels, nested=False)
    asked = Pruning.from_cuts(tree, data.draw(cuts))

    assert [member.is_leaf.tolist() for member in sequence] == [pruning.is_leaf.tolist() for pruning in prunings]
    assert sequence.unrecorded_errors_on(counts).tolist() == [
        pruning.cost(counts.unrecorded_errors_if_leaf(labels)) for pruning in prunings
    ]
    real = counts.total / 7
    assert sequence.costs_on(real) == pytest.approx([pruning.cost(real) for pruning in prunings], abs=1e-9)
    place = next((i for i, pruning in enumerate(prunings) if pruning == asked), None)
    assert sequence.index_of(asked) == table.index_of(asked) == place
    assert sequence.n_different == 1 + sum(a != b for a, b in pairwise(prunings))
    assert table.n_different == len({pruning.is_leaf.tobytes() for pruning in prunings})
    assert sequence == table
    assert table == sequence


@given(trees_with_counts(), st.data())
def test_index_of_agrees_with_a_search_in_a_nested_sequence(case, data):
    tree, counts = case
    sequence = cost_complexity(tree, counts)
    asked = data.draw(
        st.sampled_from([*sequence, Pruning.from_cuts(tree, tree.internal[-1:], node_labels=counts.majority)])
    )

    assert sequence.index_of(asked) == next((i for i, member in enumerate(sequence) if member == asked), None)
    assert sequence.n_different == len(sequence)


@pytest.mark.parametrize(("alpha", "n_leaves"), [(0, 3), (0.99, 3), (1, 2), (1.5, 2), (2, 1), (np.inf, 1)])
def test_a_member_holds_from_its_alpha_up_to_the_next(alpha, n_leaves):
    assert NESTED.at(alpha).n_leaves == n_leaves


@pytest.mark.parametrize("alpha", [np.nan, -0.1])
def test_an_invalid_alpha_is_refused(alpha):
    with pytest.raises(ParameterError, match="alpha="):
        NESTED.at(alpha)


def test_a_size_that_no_member_has_is_refused_with_its_neighbours():
    gappy = PruningSequence(TREE, [3, 1], [0, 3], steps=[1, 1, 0, 0, 0])
    with pytest.raises(PruningError, match="no member has 2 leaves; the nearest have 1 and 3"):
        gappy.with_leaves(2)
    with pytest.raises(PruningError, match="no penalties"):
        gappy.at(0)
    counts = Counts.from_leaves(TREE, [[1], [1], [1]])
    with pytest.raises(PruningError, match="has no classes"):
        gappy.errors_on(counts)


def test_members_are_indexed_as_in_a_list():
    assert NESTED[-1].n_leaves == 1
    assert NESTED[-3] == NESTED[0]
    with pytest.raises(IndexError, match="member -4"):
        NESTED[-4]
    with pytest.raises(IndexError, match="member 3 does not exist; the sequence has 3"):
        NESTED[3]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "either steps"),
        ({"steps": [1, 2, 0, 0, 0]}, "step 2 of node 1 is above step 1 of its parent"),
        ({"steps": [3, 1, 0, 0, 0]}, "below the number of members"),
        ({"steps": [2, 1, 1, 0, 0]}, "0 at leaves"),
        ({"steps": [2, 1, 0, 0, 0], "alphas": [0, 1]}, "one entry per member"),
    ],
)
def test_inconsistent_fields_of_a_sequence_are_refused(fields, says):
    with pytest.raises(PruningError, match=says):
        PruningSequence(TREE, [3, 2, 1], [0, 1, 3], **fields)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_the_members_become_a_data_frame(backend):
    frame = NESTED.to_frame(backend)
    assert frame.shape == (3, 3)


def test_a_table_equals_the_nested_sequence_with_its_members_and_no_other():
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    first, second = (
        PruningSequence(tree, [4, 3, 1], [0, 1, 3], steps=steps)
        for steps in ([2, 1, 0, 0, 2, 0, 0], [2, 2, 0, 0, 1, 0, 0])
    )
    table = PruningSequence(tree, [4, 3, 1], [0, 1, 3], rebuild=lambda i: first[i].is_leaf)
    assert table == first
    assert first == table
    assert table != second
    assert first != second


def test_errors_on_records_even_counts_entered_by_hand():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    counts = Counts.from_leaves(tree, [[1, 0], [0, 1], [0, 1]], sample="prune")
    sequence = PruningSequence(tree, [3, 1], [0, 3], steps=[1, 1, 0, 0, 0], node_labels=[0, 0, 0, 1, 1])
    assert sequence.unrecorded_errors_on(counts).tolist() == [0, 2]
    assert "prune" not in tree.evaluation_log.possible_choosers
    sequence.errors_on(counts)
    assert "prune" in tree.evaluation_log.possible_choosers


def test_a_sequence_made_by_hand_carries_the_samples_that_may_have_chosen_its_members():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    counts = Counts.from_leaves(tree, [[1, 0], [0, 1], [0, 1]], sample="prune")
    cost_complexity(tree, counts).errors_on(counts)

    by_hand = {"steps": [1, 1, 0, 0, 0], "node_labels": [0, 0, 0, 1, 1]}
    assert "prune" in PruningSequence(tree, [3, 1], [0, 3], **by_hand).seen
    assert "prune" not in PruningSequence(tree, [3, 1], [0, 3], **by_hand, rule="depth", seen={"grow"}).seen


def test_sequences_differ_where_a_tree_a_label_or_a_number_differs():
    same = {"tree": TREE, "n_leaves": [3, 2, 1], "errors": [0, 1, 3], "steps": [2, 1, 0, 0, 0]}
    sequence = PruningSequence(**same, node_labels=[0, 0, 0, 1, 1])
    assert sequence == PruningSequence(**same, node_labels=[0, 0, 0, 1, 1])
    assert sequence != PruningSequence(**same, node_labels=[1, 0, 0, 1, 1])
    assert sequence != PruningSequence(**{**same, "errors": [0, 1, 2]}, node_labels=[0, 0, 0, 1, 1])
    other = {**same, "tree": Tree.from_parents([-1, 0, 0, 2, 2]), "steps": [2, 0, 1, 0, 0]}
    assert sequence != PruningSequence(**other, node_labels=[0, 0, 0, 1, 1])


def test_a_pickled_log_keeps_that_a_sample_was_evaluated_on_a_sequence_or_on_a_single_pruning():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    first, second = (
        Counts(tree, [[n, 2], [n, 1], [n, 0], [0, 1], [0, 1]], sample=str(n), n_rows=n + 2) for n in (1, 2)
    )
    sequence = PruningSequence(tree, [3, 1], [0, 3], steps=[1, 1, 0, 0, 0], node_labels=[0, 0, 0, 1, 1])
    tree.evaluation_log.record_sequence(first, sequence)
    tree.evaluation_log.record_pruning(second, sequence[0])
    again = pickle.loads(pickle.dumps(tree.evaluation_log))
    assert [again.records[counts.sample_id].may_have_chosen for counts in (first, second)] == [True, False]


def test_a_log_is_shared_with_later_copies_even_if_the_copy_that_was_pickled_last_is_gone():
    X = np.arange(20.0)[:, None]
    tree, _ = grow(X, X[:, 0] > 9)
    pickled = pickle.dumps(tree)
    copy = pickle.loads(pickled)
    pickle.dumps(copy)
    del copy
    gc.collect()

    assert pickle.loads(pickled).evaluation_log.records is tree.evaluation_log.records


def test_error_rates_on_counts_are_errors_per_row():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[3, 1], [0, 4]])
    sequence = cost_complexity(tree, counts)

    # Two leaves have 1 error in 8 rows, the root alone has 3.
    assert dict(zip(sequence.n_leaves.tolist(), sequence.rates_on(counts, counts).tolist(), strict=True)) == {
        2: 1 / 8,
        1: 3 / 8,
    }


def test_usage_without_other_samples_keeps_the_rest():
    assert [*SampleUsage(["grow", "prune"]).without(SampleUsage(["prune", "test"]))] == ["grow"]
