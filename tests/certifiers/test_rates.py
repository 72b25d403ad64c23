"""False positive and false negative rates, and the error of each class."""

import numpy as np
import pytest
from scipy import stats

import secateur
from secateur import Counts, Pruning, Tree
from secateur.certifiers import class_rates
from secateur.errors import LeakageError, ParameterError

TREE = Tree.from_parents([-1, 0, 1, 1, 0])
LABELS = [0, 0, 0, 1, 1]
WHOLE = Pruning.from_cuts(TREE, [], node_labels=LABELS, seen={"grow"})
FRESH = Counts.from_leaves(TREE, [[40, 5], [10, 30], [5, 10]], sample="test")


def exact(errors, n, delta):
    return 1.0 if errors == n else stats.beta.ppf(1 - delta, errors + 1, n - errors)


def test_two_classes_have_a_false_positive_and_a_false_negative_rate():
    # Class 0: 55 rows, 15 of them in the leaves 3 and 4 that answer 1. Class 1: 45 rows, 5 in leaf 2.
    negative, positive = class_rates(WHOLE, FRESH, delta=0.1)

    part = 1 - 0.9**0.5
    assert (negative.quantity, negative.errors, negative.n) == ("false positive rate", 15, 55)
    assert (positive.quantity, positive.errors, positive.n) == ("false negative rate", 5, 45)
    assert negative.value == pytest.approx(exact(15, 55, part))
    assert positive.value == pytest.approx(exact(5, 45, part))
    assert negative.delta == 0.1
    assert "the false negative rate on new rows like these is at most" in str(positive)


def test_limits_that_hold_separately_have_the_full_delta():
    alone = class_rates(WHOLE, FRESH, delta=0.1, together=False)

    assert [bound.value for bound in alone] == pytest.approx([exact(15, 55, 0.1), exact(5, 45, 0.1)])


def test_the_positive_class_is_the_second_by_default():
    tree, grown = secateur.grow([[0.0], [1.0]], ["bad", "good"])
    pruning = Pruning.from_cuts(tree, [], node_labels=grown.majority, seen={"grow"})
    counts = secateur.count(tree, [[0.1], [0.2], [0.9]], ["bad", "good", "good"], sample="test")

    assert [b.quantity for b in class_rates(pruning, counts)] == ["false positive rate", "false negative rate"]
    other = class_rates(pruning, counts, positive="bad")
    assert [b.quantity for b in other] == ["false negative rate", "false positive rate"]
    assert [b.details["class"] for b in other] == ["bad", "good"]
    with pytest.raises(ParameterError, match="'ugly' is not known; the classes are 'bad', 'good'"):
        class_rates(pruning, counts, positive="ugly")


def test_quantities_of_more_classes_have_their_names_and_empty_classes_no_share_of_delta():
    tree = Tree.from_parents([-1, 0, 0])
    pruning = Pruning.from_cuts(tree, [], node_labels=[0, 0, 2])
    bounds = class_rates(pruning, Counts.from_leaves(tree, [[9, 0, 1], [2, 0, 8]], sample="test"))

    assert [b.quantity for b in bounds][1] == "error among rows of class '1'"
    assert [(b.errors, b.n) for b in bounds] == [(2, 11), (0, 0), (1, 9)]
    part = 1 - 0.95**0.5
    assert [b.value for b in bounds] == pytest.approx([exact(2, 11, part), 1, exact(1, 9, part)])
    with pytest.raises(ParameterError, match="it needs two classes"):
        class_rates(pruning, Counts.from_leaves(tree, [[9, 0, 1], [2, 0, 8]], sample="test"), positive=1)


def test_a_class_that_no_leaf_predicts_is_always_an_error():
    one_answer = Pruning.from_cuts(TREE, [0], node_labels=LABELS)
    right, wrong = class_rates(one_answer, FRESH)

    assert right.errors == 0
    assert wrong.errors == wrong.n == 45
    assert wrong.value == 1


def test_a_predicted_class_may_have_no_rows():
    pruning = Pruning.from_cuts(TREE, [], node_labels=[0, 0, 0, 5, 1])

    assert [b.errors for b in class_rates(pruning, FRESH)] == [15, 35]


def test_all_limits_hold_at_once_and_single_ones_do_not():
    rng = np.random.default_rng(4)
    tree = Tree.from_parents([-1, 0, 0, 0])
    pruning = Pruning.from_cuts(tree, [], node_labels=[0, 0, 1, 2])
    chance = np.array([[0.2, 0.1, 0.05], [0.05, 0.2, 0.1], [0.1, 0.05, 0.15]])
    true = 1 - chance.diagonal() / chance.sum(axis=0)
    runs, delta, failed = 500, 0.1, {True: 0, False: 0}
    for _ in range(runs):
        counts = Counts.from_leaves(tree, rng.multinomial(400, chance.ravel()).reshape(3, 3), sample="test")
        for together in failed:
            bounds = class_rates(pruning, counts, delta=delta, together=together)
            failed[together] += any(b.value < t for b, t in zip(bounds, true, strict=True))

    most = stats.binom.ppf(0.999, runs, delta)
    assert failed[True] <= most < failed[False]


def test_rows_that_shaped_the_pruning_are_refused():
    with pytest.raises(LeakageError):
        class_rates(Pruning.from_cuts(TREE, [], node_labels=LABELS, seen={"test"}), FRESH)


def test_classes_without_rows_have_no_share_of_delta():
    tree = Tree.from_parents([-1, 0, 0])
    unpruned = Pruning.from_cuts(tree, [], node_labels=[0, 0, 2], seen={"grow"})
    fresh = Counts.from_leaves(tree, [[480, 40], [20, 60]], sample="test")  # the second leaf answers a third class
    bounds = class_rates(unpruned, fresh)
    assert [(bound.errors, bound.n) for bound in bounds] == [(20, 500), (100, 100)]
    assert {bound.method for bound in bounds} == {"class rate, exact tail, 2 classes at once"}
    assert {bound.method for bound in class_rates(unpruned, fresh, together=False)} == {"class rate, exact tail"}
    alone = Counts.from_leaves(tree, [[480, 0], [20, 0]], sample="test")
    assert class_rates(unpruned, alone)[0].method == "class rate, exact tail"
