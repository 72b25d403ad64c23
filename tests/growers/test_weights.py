"""Weights: whole ones are repetitions, zero ones are absences."""

import numpy as np
import pytest
from hypothesis import given

from secateur import count, grow
from small_tables import CRITERIA, EXACT, Sample, assert_best_everywhere, per_criterion, samples


def same_but_for_rounding(one, other):
    """The same tests and counts; scores may differ by rounding."""
    (tree, counts), (wanted, wanted_counts) = one, other
    for name in ("parent", "feature", "branch_start", "branch", "default", "split_order"):
        assert np.array_equal(getattr(tree, name), getattr(wanted, name))
    assert np.array_equal(tree.threshold, wanted.threshold, equal_nan=True)
    assert np.allclose(tree.score, wanted.score, rtol=1e-9, atol=1e-12, equal_nan=True)
    assert counts.by_class.dtype == wanted_counts.by_class.dtype
    assert np.allclose(counts.by_class, wanted_counts.by_class, rtol=1e-12)


def repeated(sample):
    rows = np.repeat(np.arange(len(sample.y)), sample.weight)
    return Sample(sample.X[rows], sample.y[rows], sample.nominal)


@pytest.mark.parametrize("criterion", CRITERIA)
@per_criterion
@given(sample=samples(weights="whole"))
def test_whole_weights_are_repetitions(criterion, sample):
    for max_bins in EXACT:
        rules = {"criterion": criterion, "max_bins": max_bins}
        same_but_for_rounding(sample.grow(**rules), repeated(sample).grow(**rules))


@pytest.mark.lane
@given(sample=samples(weights="whole"))
def test_whole_weights_are_repetitions_to_the_limits(sample):
    rules = {"min_samples_leaf": 3, "min_samples_split": 8, "max_depth": 3}

    same_but_for_rounding(sample.grow(**rules), repeated(sample).grow(**rules))


@given(sample=samples(weights="whole"))
def test_whole_weights_are_repetitions_best_first_and_multiway(sample):
    rules = {"growth": "best-first", "splits": "multiway", "max_splits": 3}

    same_but_for_rounding(sample.grow(**rules), repeated(sample).grow(**rules))


@pytest.mark.parametrize("max_bins", [None, 2, 7, 300])
def test_whole_weights_are_repetitions_in_bins(max_bins):
    rng = np.random.default_rng(0)
    sample = Sample(rng.normal(size=(400, 2)), rng.integers(0, 2, 400), weight=rng.integers(1, 6, 400))

    same_but_for_rounding(sample.grow(max_bins=max_bins), repeated(sample).grow(max_bins=max_bins))


def test_whole_weights_written_as_floats_keep_the_counts_whole():
    _, counts = grow([[1.0], [2.0]], [0, 1], sample_weight=[2.0, 3.0])

    assert counts.by_class.dtype == np.int64
    assert counts.by_class.tolist() == [[2, 3], [2, 0], [0, 3]]


@pytest.mark.parametrize("criterion", CRITERIA)
@per_criterion
@given(sample=samples(weights="real", kinds=("numeric", "flag")))
def test_no_test_is_better_under_real_weights(criterion, sample):
    for max_bins in EXACT:
        tree, counts = sample.grow(criterion=criterion, max_bins=max_bins)
        assert_best_everywhere(sample, tree, counts, criterion=criterion)


@given(sample=samples(weights="real"))
def test_with_real_weights_limits_count_rows(sample):
    weight = sample.weight / 4 + 0.1  # never whole
    tree, counts = grow(sample.X, sample.y, nominal=list(sample.nominal), sample_weight=weight, min_samples_leaf=2)
    rows = count(tree, sample.X, sample.y)

    assert counts.total[0] == pytest.approx(weight.sum())
    assert tree.n_nodes == 1 or rows.total[tree.is_leaf].min() >= 2


@given(sample=samples(weights="whole"))
def test_rows_of_weight_zero_have_no_influence(sample):
    n = len(sample.y)
    order = np.random.default_rng(n).permutation(2 * n)
    noise = np.where(np.isnan(sample.X[::-1]), 7.0, sample.X[::-1] + 0.5)  # values and categories of their own
    X = np.vstack([sample.X, noise])[order]
    y = np.append(sample.y, sample.y)[order]
    weight = np.append(sample.weight, np.zeros(n, int))[order]

    same_but_for_rounding(grow(X, y, nominal=list(sample.nominal), sample_weight=weight), sample.grow())


def test_rows_of_weight_zero_have_no_influence_on_bins():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    more, labels = np.vstack([X, rng.normal(5, 1, (500, 2))]), np.append(y, rng.integers(0, 2, 500))

    grown = grow(more, labels, sample_weight=np.append(np.ones(300), np.zeros(500)), max_bins=5)
    same_but_for_rounding(grown, grow(X, y, max_bins=5))


def test_scaling_real_weights_changes_the_counts_only():
    rng = np.random.default_rng(2)
    X, y, weight = rng.normal(size=(400, 3)), rng.integers(0, 3, 400), rng.random(400) + 0.1
    tree, counts = grow(X, y, sample_weight=weight)
    other, other_counts = grow(X, y, sample_weight=weight * 1024)

    assert tree == other
    assert np.array_equal(other_counts.by_class, counts.by_class * 1024)


def test_more_weight_than_fits_32_bits():
    weight = [2**40, 2**33 + 1, 2**33, 2**51]
    tree, counts = grow([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], sample_weight=weight)

    assert tree.n_leaves == 4
    assert counts.by_class[0].tolist() == [2**40 + 2**33, 2**33 + 1 + 2**51]
    assert counts.by_class[tree.is_leaf].max(axis=1).tolist() == weight


def test_class_weights_are_weights_of_the_rows_of_the_class():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 3)), np.array(["a", "b", "c"])[rng.integers(0, 3, 300)]
    weight = rng.integers(1, 4, 300)

    for factors in ({"a": 3}, {"a": 0.5, "c": 2.25}):
        factor = np.array([factors.get(label, 1) for label in y])
        assert grow(X, y, class_weight=factors) == grow(X, y, sample_weight=factor)
        together = grow(X, y, class_weight=factors, sample_weight=weight)
        assert together == grow(X, y, sample_weight=factor * weight)


def test_balanced_classes_weigh_the_same():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(300, 3)), (rng.random(300) < 0.1).astype(int)
    _, counts = grow(X, y, class_weight="balanced")

    assert counts.by_class[0] == pytest.approx([150, 150])


def test_weights_of_one_are_no_weights():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)

    assert grow(X, y, sample_weight=np.ones(300)) == grow(X, y)


def test_a_class_of_weight_zero_is_ignored():
    X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 2, 1, 0]
    tree, counts = grow(X, y, class_weight={2: 0})

    assert tree.threshold[0] in (2.0, 3.5)
    assert counts.by_class[0].tolist() == [2, 1, 0]


@pytest.mark.parametrize("criterion", ["gini", "entropy", "sqrt"])
def test_tied_tests_stay_tied_under_real_weights(criterion):
    rng = np.random.default_rng(6)
    x, y, weight = rng.normal(size=(300, 1)), rng.integers(0, 2, 300), rng.random(300) + 0.01
    tree, _ = grow(np.hstack([x, -x]), y, sample_weight=weight, criterion=criterion)

    assert set(tree.feature[tree.internal]) == {0}


def test_weights_of_any_accepted_scale_give_the_same_tree():
    rng = np.random.default_rng(7)
    X, y, weight = rng.normal(size=(300, 2)), rng.integers(0, 2, 300), rng.random(300) + 0.01
    wanted = grow(X, y, sample_weight=weight)[0]

    for power in (-130, -60, 40):
        tree = grow(X, y, sample_weight=weight * 2.0**power)[0]
        assert np.array_equal(tree.threshold, wanted.threshold, equal_nan=True)
        assert np.array_equal(tree.feature, wanted.feature)
