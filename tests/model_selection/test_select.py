"""Choosing a member of a sequence on a sample: the rules, the table, the trail that the sample leaves."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur import Counts, Pruning, PruningSequence, Tree, certify, count, grow, pruners
from secateur.core.moments import Moments
from secateur.core.selection import Selection
from secateur.errors import CountsError, LeakageError, ParameterError, PruningError
from secateur.model_selection import choose, select
from secateur.model_selection._select import better_than_single_leaf, smallest_within_difference
from strategies import trees_with_counts


@pytest.fixture
def example():
    """Five trees that make 25, 23, 22, 24 and 30 errors on 200 rows, large to small."""
    tree = Tree.from_parents([-1, 0, 1, 2, 3, 3, 2, 1, 0, 0])
    labels = [1, 1, 1, 0, 0, 1, 0, 0, 0, 1]
    steps = [4, 3, 2, 1, 0, 0, 0, 0, 0, 0]
    sequence = PruningSequence(tree, [6, 5, 4, 3, 1], range(5), steps=steps, node_labels=labels, seen={"grow"})
    held = Counts.from_leaves(tree, [[5, 23], [2, 0], [15, 0], [2, 0], [6, 0], [0, 147]], sample="prune")
    return sequence, held


@st.composite
def sequences(draw, max_internal=5):
    """(path of the growing counts, held-out counts with at least one row)."""
    tree, grown, held = draw(trees_with_counts(samples=("grow", "prune"), max_internal=max_internal, max_count=6))
    if held.total[0] == 0:
        held = Counts.from_leaves(tree, np.ones((tree.n_leaves, grown.n_classes), int), sample="prune")
    return pruners.cost_complexity(tree, grown), held


def test_the_selection_example_of_the_specification(example):
    sequence, held = example
    pruning, table = select(sequence, held, rule="0se")
    assert (table.error * 200).round(9).tolist() == [25, 23, 22, 24, 30]
    assert table.n == 200
    assert round(float(table.se[2]), 5) == 0.02212
    assert (table.chosen, pruning.n_leaves) == (2, 4)
    smaller, table = select(sequence, held, rule="1se")
    assert (table.best, table.chosen, smaller.n_leaves) == (2, 3, 3)


@pytest.mark.parametrize(
    ("rule", "k", "chosen"), [("kse", 0.45, 2), ("kse", 0.46, 3), ("0.45se", None, 2), ("2se", None, 4)]
)
def test_any_number_of_standard_errors_is_accepted(example, rule, k, chosen):
    # (24 - 22) / 200 is 0.452 standard errors, (30 - 22) / 200 is 1.81.
    assert select(*example, rule=rule, k=k)[1].chosen == chosen


def test_ties_go_to_the_smallest_tree():
    assert choose([0.2, 0.1, 0.1, 0.3], [0.1] * 4) == (2, 2)


def test_an_error_of_zero_is_within_the_limit():
    assert choose([0.0, 0.0, 0.5], [0.0, 0.0, 0.1], k=1) == (1, 1)


def test_errors_that_differ_only_by_rounding_are_tied():
    assert choose([0.3, 0.1 + 0.2], [0.0, 0.0])[0] == 1


@given(sequences())
def test_the_table_has_the_error_of_every_member(drawn):
    sequence, held = drawn
    _, table = select(sequence, held)
    n = held.total[0]
    for i, pruning in enumerate(sequence):
        e = pruning.errors(held) / n
        assert table.error[i] == e
        assert np.isclose(table.se[i], np.sqrt(e * (1 - e) / n))


@given(sequences(), st.floats(0, 3))
def test_more_standard_errors_never_give_a_larger_tree(drawn, k):
    sequence, held = drawn
    least, some = select(sequence, held)[0], select(sequence, held, rule="kse", k=k)[0]
    assert some.n_leaves <= least.n_leaves
    assert some <= least


@given(trees_with_counts(samples=("grow", "prune"), max_count=4))
def test_members_of_a_sequence_that_is_not_nested_are_evaluated(drawn):
    tree, grown, _ = drawn
    held = Counts.from_leaves(tree, np.ones((tree.n_leaves, grown.n_classes), int), sample="prune")
    sequence = pruners.best_of_size(tree, grown)
    pruning, table = select(sequence, held)
    errors = [member.errors(held) for member in sequence]
    smallest = max(i for i, e in enumerate(errors) if e == min(errors))
    assert table.chosen == smallest
    assert pruning.errors(held) == min(errors)


def test_the_pruning_records_the_sample_it_was_chosen_on(example):
    sequence, held = example
    pruning, table = select(sequence, held)
    assert pruning.seen == table.pruning.seen == {"grow", "prune"}
    with pytest.raises(LeakageError, match="prune"):
        certify(pruning, held, method="test-sample")


def test_a_cost_matrix_replaces_errors(example):
    sequence, held = example
    costs = np.array([[0, 5], [1, 0]])
    _, table = select(sequence, held, costs=costs)
    for i, pruning in enumerate(sequence):
        rows = [
            c
            for v in pruning.leaves
            for true in (0, 1)
            for c in [costs[true, pruning.labels[v]]] * held.by_class[v, true]
        ]
        assert np.isclose(table.error[i], np.mean(rows))
        assert np.isclose(table.se[i], np.std(rows) / np.sqrt(len(rows)))


def test_a_cost_of_one_for_every_error_gives_the_errors(example):
    plain, charged = select(*example)[1], select(*example, costs=1 - np.eye(2, dtype=int))[1]
    assert (plain.error == charged.error).all()
    assert np.allclose(plain.se, charged.se)


def test_a_class_that_the_tree_does_not_know_has_the_highest_cost():
    tree = Tree.from_parents([-1, 0, 0])
    sequence = PruningSequence(tree, [2, 1], [0, 1], steps=[1, 0, 0], node_labels=[0, 0, 1])
    held = Counts.from_leaves(tree, [[1, 0, 1], [0, 1, 0]], sample="prune")
    assert select(sequence, held)[1].error.tolist() == [1 / 3, 2 / 3]
    assert select(sequence, held, costs=[[0, 1], [4, 0]])[1].error.tolist() == [4 / 3, 8 / 3]


def test_regression_is_evaluated_by_squared_error():
    tree = Tree.from_parents([-1, 0, 0])
    sequence = PruningSequence(tree, [2, 1], [0.0, 6.0], steps=[1, 0, 0])
    held = Moments(tree, [4, 2, 2], [3.0, 1.0, 5.0], [20.0, 2.0, 2.0], "prune")
    values = [2.0, 1.0, 4.0]
    pruning, table = select(sequence, held, values=values)
    assert table.error.tolist() == [(2 + (2 + 2)) / 4, (20 + 4) / 4]
    assert np.allclose(table.se, table.error * np.sqrt(2 / 4))
    assert pruning.n_leaves == 2
    by_cost = select(sequence, held, cost=held.squared_errors_if_leaf(values))[1]
    assert (by_cost.error == table.error).all()


def test_a_selection_survives_pickling(example):
    _, table = select(*example, rule="1se")
    assert pickle.loads(pickle.dumps(table)) == table


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"rule": "best"}, "rule='best'"),
        ({"rule": "-1se"}, "rule='-1se'"),
        ({"rule": None}, "rule=None"),
        ({"rule": "kse"}, "k=None"),
        ({"rule": "kse", "k": -1.0}, "k=-1.0"),
        ({"rule": "kse", "k": np.nan}, "k=nan"),
        ({"rule": "kse", "k": np.inf}, "k=inf"),
        ({"rule": "1se", "k": 1}, "k=1"),
        ({"se": "folds"}, "se='folds'"),
        ({"cost": [1.0]}, "one finite number per node"),
        ({"cost": np.full(10, np.nan)}, "one finite number per node"),
        ({"cost": np.ones(10), "rule": "1se"}, "pass a matrix"),
        ({"cost": np.ones(10), "costs": np.eye(2)}, "at most one"),
        ({"costs": np.eye(3)[:2]}, "shape"),
        ({"costs": [[0, -1], [1, 0]]}, r"costs\[0, 1\] is -1"),
        ({"values": np.ones(10)}, "needs Moments"),
    ],
)
def test_invalid_parameters_are_refused(example, changes, says):
    with pytest.raises(ParameterError, match=says):
        select(*example, **changes)


def test_counts_of_another_tree_and_empty_counts_are_refused(example):
    sequence, _ = example
    with pytest.raises(CountsError, match="another tree"):
        select(sequence, Counts.from_leaves(Tree.from_parents([-1, 0, 0]), [[1, 0], [0, 1]]))
    with pytest.raises(CountsError, match="no rows"):
        select(sequence, Counts.from_leaves(sequence.tree, np.zeros((6, 2), int)))
    with pytest.raises(CountsError, match="ndarray"):
        select(sequence, np.ones((10, 2)))


def test_a_sequence_without_classes_needs_costs():
    tree = Tree.from_parents([-1, 0, 0])
    sequence = PruningSequence(tree, [2, 1], [0, 1], steps=[1, 0, 0])
    with pytest.raises(PruningError, match="no classes"):
        select(sequence, Counts.from_leaves(tree, [[1, 0], [0, 1]]))
    with pytest.raises(ParameterError, match="values="):
        select(sequence, Moments(tree, [2, 1, 1], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]))


@pytest.mark.parametrize(
    ("error", "se", "k"), [([], [], 0), ([0.1], [0.1, 0.2], 0), ([[0.1]], [[0.1]], 0), ([0.1], [np.nan], 1)]
)
def test_invalid_tables_are_refused(error, se, k):
    with pytest.raises(ParameterError):
        choose(error, se, k)


def test_the_table_marks_the_best_and_the_chosen_member_and_the_one_standard_error_limit():
    sequence = PruningSequence(Tree.from_parents([-1, 0, 1, 1, 0]), [3, 2, 1], [0, 1, 3], steps=[2, 1, 0, 0, 0])
    selection = Selection(sequence, [0.1, 0.11, 0.3], [0.02, 0.3, 0.4], 0, 2, "2se", "prune", 200)
    table = selection.to_dict()
    assert selection.limit == pytest.approx(0.12)
    assert selection.one_se == 1
    assert table["best"].tolist() == [True, False, False]
    assert table["chosen"].tolist() == [False, False, True]
    for wrong in ({"error": [0.1]}, {"best": 3}, {"chosen": -1}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            Selection(**{**vars(selection), **wrong})


def test_selections_are_equal_only_if_all_fields_are_equal():
    sequence = PruningSequence(Tree.from_parents([-1, 0, 1, 1, 0]), [3, 2, 1], [0, 1, 3], steps=[2, 1, 0, 0, 0])
    one = Selection(sequence, [0.1, 0.11, 0.3], [0.02, 0.3, 0.4], 0, 2, "2se", "prune", 200)
    assert one == Selection(**{**vars(one), "error": [0.1, 0.11, 0.3]})
    assert one != Selection(**{**vars(one), "error": [0.1, 0.12, 0.3]})
    assert one != Selection(**{**vars(one), "chosen": 1})
    assert one.evaluated_on == {"prune"}
    assert Selection(sequence, one.error, one.se, 0, 2, "2se", "cross-validation", 200).evaluated_on == set()


def test_an_error_equal_to_the_limit_is_within_the_limit():
    sequence = PruningSequence(Tree.from_parents([-1, 0, 0]), [2, 1], [0, 1], steps=[1, 0, 0])
    assert Selection(sequence, [0.5, 0.75], [0.25, 0.25], 0, 0, "0se", "prune", 4).one_se == 1


def test_given_costs_of_nodes_with_numbers_have_the_standard_error_of_squared_errors():
    tree = Tree.from_parents([-1, 0, 0])
    sequence = PruningSequence(tree, [2, 1], [0.0, 6.0], steps=[1, 0, 0])
    held = Moments(tree, [8, 4, 4], [3.0, 1.0, 5.0], [10.0, 4.0, 4.0], "prune")
    pruning, table = select(sequence, held, cost=[10.0, 4.0, 4.0], rule="1se")
    assert table.error.tolist() == [1.0, 1.25]
    assert table.se.tolist() == [0.5, 0.625]
    assert pruning.n_leaves == 1  # 1.25 is within 1 + 0.5


def test_the_table_names_the_losses_that_were_compared(example):
    assert "scoring" not in select(*example)[1].details
    assert select(*example, cost=np.ones(10))[1].details["scoring"] == "given cost"
    by_costs = select(*example, costs=[[0, 5], [1, 0]])[1].details
    assert (by_costs["scoring"], by_costs["costs"]) == ("cost", [[0, 5], [1, 0]])


def test_rows_that_chose_a_member_certify_no_other_without_paying():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 2))
    y = X[:, 0] + rng.normal(size=600) > 0
    tree, grown = grow(X[:300], y[:300])
    sequence = pruners.cost_complexity(tree, grown)
    held_out = count(tree, X[300:], y[300:], sample="held out")
    chosen, _ = select(sequence, held_out, rule="0se")

    other = sequence[0] if chosen.n_leaves != sequence.n_leaves[0] else sequence[-1]
    with pytest.raises(LeakageError, match="held out"):
        certify(other, held_out, method="test-sample")
    by_hand = Pruning.from_cuts(tree, [0], node_labels=grown.majority)
    with pytest.raises(LeakageError, match="was evaluated on other prunings"):
        certify(by_hand, held_out, method="test-sample")


def test_members_are_compared_by_the_standard_error_of_their_own_difference():
    """Member 1 differs from the best in one fold only, by much; member 2 in every fold, by little but equally."""
    fold_error = np.array([[0.1, 0.1, 0.2], [0.1, 0.1, 0.2], [0.1, 0.4, 0.2], [0.1, 0.1, 0.2]])
    assert smallest_within_difference(0, fold_error, 4, 1.0) == 1
    assert smallest_within_difference(0, fold_error[:, [0, 2]], 4, 1.0) == 0
    leaves = np.array([5, 3, 1])
    gains = np.column_stack([0.5 - fold_error[:, 2], 0.5 - fold_error[:, 1], np.full(4, 0.5)])
    assert better_than_single_leaf(2, gains, 4, leaves) == 1
