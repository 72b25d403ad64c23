"""Certificates refuse requests that they cannot answer, by name."""

import numpy as np
import pytest

from secateur import Counts, Pruning, PruningSequence, Tree
from secateur.certifiers import certify, class_rates, freshness, occam, path, test_sample
from secateur.certifiers._groups import labels_of_pruning
from secateur.core import GroupedRows
from secateur.errors import CountsError, ParameterError, TreeError

STUMP = Tree.from_parents([-1, 0, 0])
UNCUT = Pruning.from_cuts(STUMP, [], node_labels=[0, 0, 1])
SEQUENCE = PruningSequence(STUMP, [2, 1], [0, 50], steps=[1, 0, 0], node_labels=[0, 0, 1])


def held_out(**fields):
    counts = Counts.from_leaves(STUMP, [[40, 10], [5, 45]], sample="test")
    return Counts(STUMP, counts.by_class, "test", **fields)


def grouped():
    leaves, labels = np.array([1] * 50 + [2] * 50), np.array([0] * 40 + [1] * 10 + [0] * 5 + [1] * 45)
    return held_out(grouped=GroupedRows(leaves, labels, np.arange(100) // 2))


def test_a_list_of_prunings_is_certified_by_path_only():
    with pytest.raises(
        ParameterError, match="method='test-sample' certifies one pruning or a sequence; for a list use 'path'"
    ):
        certify([UNCUT, UNCUT], held_out(), method="test-sample")


def test_an_empty_sequence_is_refused():
    with pytest.raises((ParameterError, TreeError), match=r"at least one is needed"):
        path([], held_out())


def test_a_pruning_that_is_no_member_of_the_sequence_is_refused():
    other = Pruning.from_cuts(STUMP, [], node_labels=[1, 1, 0])

    with pytest.raises(ParameterError, match="the pruning is not a member of the sequence"):
        certify(other, held_out(), method="path", sequence=SEQUENCE)


def test_class_rates_need_predicted_classes():
    made_from_costs = Pruning.from_cuts(STUMP, [])

    with pytest.raises(CountsError, match="made from costs and has no classes"):
        class_rates(made_from_costs, held_out())


def test_groups_need_predicted_classes():
    made_from_costs = Pruning.from_cuts(STUMP, [])

    with pytest.raises(CountsError, match="made from costs and has no classes"):
        labels_of_pruning(made_from_costs)


def test_a_tail_of_rows_is_refused_for_groups():
    grown = Counts.from_leaves(STUMP, [[40, 10], [5, 45]])

    with pytest.raises(ParameterError, match="tail='kl' counts rows; leave it out for a sample with groups"):
        occam(STUMP, grown, grouped(), pruning=Pruning.from_cuts(STUMP, [], node_labels=grown.majority), tail="kl")


def test_counts_of_another_tree_are_refused():
    other = Tree.from_parents([-1, 0, 0, 1, 1])
    counts = Counts.from_leaves(other, [[40, 10], [5, 45], [3, 3]], sample="test")

    with pytest.raises((CountsError, TreeError)):
        test_sample(UNCUT, counts)


def test_only_class_counts_are_fresh_for_prunings():
    with pytest.raises(ParameterError, match="the counts are 'test'; the Counts of held-out rows are needed"):
        freshness(UNCUT, "test")
    for nothing in ([], 3, [UNCUT, "root"]):
        with pytest.raises(ParameterError, match="a Pruning, or a sequence of them, is needed"):
            freshness(nothing, held_out())
