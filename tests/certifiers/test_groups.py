"""Certificates of samples whose rows belong to groups: groups are the independent draws."""

import math

import numpy as np
import pytest

import secateur
from secateur import Counts, Pruning, Tree, TreeClassifier, count, grow, prune
from secateur.certifiers import (
    betting_upper,
    binomial_upper,
    certified_cost,
    certify,
    class_rates,
    leaf_shares,
    occam,
    pac_bayes,
    path,
    rademacher,
    test_sample,
)
from secateur.core import GroupedRows
from secateur.errors import CountsError, ParameterError, UnsupportedError

STUMP = Tree.from_parents([-1, 0, 0])
# Leaf, class and group of ten rows. The tree predicts class 0 in leaf 1 and class 1 in leaf 2.
ROWS = np.array(
    [[1, 0, 0], [1, 1, 0], [2, 1, 0], [2, 0, 0], [1, 0, 1], [1, 0, 1], [2, 1, 2], [2, 0, 2], [1, 1, 2], [1, 1, 3]]
)
SHARES = [0.5, 0.0, 2 / 3, 1.0]  # of wrong rows in each group
UNCUT = Pruning.from_cuts(STUMP, [], node_labels=[0, 0, 1])


def sample():
    by_leaf = np.zeros((2, 2), np.int64)
    np.add.at(by_leaf, (ROWS[:, 0] - 1, ROWS[:, 1]), 1)
    counts = Counts.from_leaves(STUMP, by_leaf, sample="test")
    return Counts(STUMP, counts.by_class, "test", grouped=GroupedRows(*ROWS.T))


def rows_of_groups(n_groups, seed, n_rows=4):
    """Visits of patients: the class belongs to the patient, and is pure noise."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(n_groups, 3)), n_rows, axis=0) + 0.01 * rng.normal(size=(n_groups * n_rows, 3))
    return X, np.repeat(rng.integers(0, 2, n_groups), n_rows), np.repeat(np.arange(n_groups), n_rows)


def test_the_limit_is_the_betting_bound_on_the_shares_of_the_groups():
    bound = test_sample(UNCUT, sample(), delta=0.1)
    assert bound.value == betting_upper(SHARES, [1, 1, 1, 1], math.log(0.1))
    assert (bound.n, bound.n_rows, bound.unit, bound.quantity) == (4, 10, "group", "error")
    assert bound.rate == pytest.approx(np.mean(SHARES))
    text = "of a random row of a new group like these is at most 90 %, from 4 held-out groups of 10 rows"
    assert text.replace("90", f"{math.ceil(1000 * bound.value) / 10:g}") in str(bound)
    assert "assumes groups are independent" in str(bound)


def test_the_share_of_groups_with_an_error_has_the_binomial_limit():
    bound = test_sample(UNCUT, sample(), delta=0.1, group_error="any")
    assert bound.value == binomial_upper(3, 4, math.log(0.1))
    assert (bound.errors, bound.n, bound.quantity) == (3, 4, "share of groups with an error")
    assert "the share of groups with an error among new groups like these" in str(bound)


def test_members_of_a_path_and_chosen_prunings_pay_as_for_rows():
    root = Pruning.from_cuts(STUMP, [0], node_labels=[0, 0, 1])
    bounds = path([UNCUT, root], sample(), delta=0.1)
    assert [bound.value for bound in bounds] == [
        betting_upper(SHARES, [1] * 4, math.log(0.05)),
        betting_upper([0.5, 0, 2 / 3, 1], [1] * 4, math.log(0.05)),  # of class 1, which the root never predicts
    ]
    grown = Counts.from_leaves(STUMP, [[5, 0], [0, 5]])
    bound = occam(STUMP, grown, sample(), delta=0.1, pruning=UNCUT)  # two prunings
    assert bound.value == pytest.approx(betting_upper(SHARES, [1] * 4, math.log(0.05)))
    with pytest.raises(ParameterError, match="pruning=None"):
        occam(STUMP, grown, sample(), delta=0.1)


def test_costs_are_averaged_over_the_rows_of_a_group():
    bound = certified_cost(UNCUT, sample(), [[0, 1], [10, 0]], delta=0.1)
    means = [11 / 4, 0, 11 / 3, 10]  # group 0: one row of each kind of error
    assert bound.value == pytest.approx(10 * betting_upper(np.array(means) / 10, [1] * 4, math.log(0.1)))
    assert bound.rate == pytest.approx(np.mean(means))
    assert bound.unit == "group"


@pytest.mark.parametrize("method", [class_rates, leaf_shares, rademacher, pac_bayes])
def test_limits_that_count_rows_refuse_groups_by_name(method):
    grown = Counts.from_leaves(STUMP, [[5, 0], [0, 5]])
    arguments = (STUMP, grown, sample()) if method in (rademacher, pac_bayes) else (UNCUT, sample())
    with pytest.raises(UnsupportedError, match=r"sample 'test' has groups, and a.* counts rows as independent draws"):
        method(*arguments)


def test_a_chosen_pruning_is_certified_by_methods_that_take_groups():
    X, y, groups = rows_of_groups(200, 0)
    tree, grown = grow(X[:400], y[:400])
    held = count(tree, X[400:], y[400:], groups=groups[400:])
    pruning = prune(tree, grown, held, rule="reduced-error")
    bound = certify(pruning, held, grown=grown)
    assert bound.unit == "group"
    assert bound.method.startswith("Occam")
    assert len(bound.details["tried"]) == 2


def test_counts_on_a_smaller_tree_keep_the_groups():
    X, y, groups = rows_of_groups(100, 1)
    tree, grown = grow(X[:200], y[:200])
    pruning = prune(tree, grown)[1]
    held = count(tree, X[200:], y[200:], groups=groups[200:], sample="test")
    small, small_held = pruning.to_tree(held)
    uncut = Pruning.from_cuts(small, [], node_labels=pruning.node_labels[pruning.is_kept | pruning.is_leaf])
    assert test_sample(uncut, small_held).value == test_sample(pruning, held).value


def test_equal_rows_of_one_group_are_no_copies_and_equal_rows_of_two_groups_are():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    tree, grown = grow(X[:100], y[:100])
    pruning = Pruning.from_cuts(tree, [], node_labels=grown.majority)
    twice, answers = np.repeat(X[100:], 2, axis=0), np.repeat(y[100:], 2)
    bound = test_sample(pruning, count(tree, twice, answers, groups=np.repeat(np.arange(100), 2)))
    assert (bound.n, bound.n_repeated) == (100, 0)
    with pytest.warns(secateur.errors.SecateurWarning, match="100 of the 200 rows of sample 'test' are copies"):
        bound = test_sample(pruning, count(tree, twice, answers, groups=np.arange(200), sample="test"))
    assert (bound.n, bound.n_repeated) == (200, 100)


def test_rows_of_weight_0_have_no_group():
    X, y, groups = rows_of_groups(50, 3)
    tree, _ = grow(X[:100], y[:100])
    weight = np.ones(100)
    weight[groups[100:] == 30] = 0
    assert count(tree, X[100:], y[100:], sample_weight=weight, groups=groups[100:]).grouped.n_groups == 24


def test_weights_and_groups_together_are_refused():
    X, y, groups = rows_of_groups(50, 3)
    tree, grown = grow(X[:100], y[:100])
    held = count(tree, X[100:], y[100:], sample_weight=np.full(100, 2), groups=groups[100:])
    with pytest.raises(UnsupportedError, match="has weights and groups"):
        test_sample(Pruning.from_cuts(tree, [], node_labels=grown.majority), held, repeated=True)


def test_a_loss_of_groups_needs_groups():
    fresh = Counts.from_leaves(STUMP, [[5, 0], [0, 5]], sample="test")
    with pytest.raises(ParameterError, match="group_error='any' needs the group of each row: groups="):
        test_sample(UNCUT, fresh, group_error="any")
    with pytest.raises(ParameterError, match="group_error='all'"):
        certify(UNCUT, sample(), group_error="all")


def test_arrays_of_different_lengths_are_refused():
    with pytest.raises(CountsError, match="one of each per row"):
        GroupedRows([1, 1], [0, 1], [0])


def test_a_limit_on_held_out_groups_says_that_evaluations_have_none():
    X, y, groups = rows_of_groups(100, 4)
    model = TreeClassifier(criterion="gini", cv=3, certify=True).fit(X, y, groups=groups)
    assert model.certificate_.unit == "group"
    assert secateur.inspection.evaluate(model.model_, model.holdout_).error_limits is None


def test_figures_show_no_limits_of_leaves_for_rows_in_groups():
    plot = pytest.importorskip("secateur.plot", reason="matplotlib is needed")
    X, y, groups = rows_of_groups(100, 5)
    model = TreeClassifier(criterion="gini", cv=3, certify=True).fit(X, y, groups=groups)
    assert np.isnan(plot.LeafCalibrationDisplay.from_model(model).low).all()
    ungrouped = count(model.tree_, X, y)
    assert not np.isnan(plot.LeafCalibrationDisplay.from_model(model, sample=ungrouped).low).any()
