"""The criteria at the printed points, and what all of them have in common."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import naive_impurity
from secateur import grow
from secateur._kernels import criteria

EVERY = [
    *((name, criteria.CriterionSpec(name)) for name in criteria.IMPURITIES),
    ("entropy", criteria.entropy_table(1000)),
]

PRINTED = [(name, criterion) for name, criterion in EVERY if name in ("gini", "entropy", "sqrt", "sqrt_pairs", "error")]

whole_counts = st.lists(st.integers(0, 100), min_size=2, max_size=5).filter(any)


def impurity(criterion, counts):
    """G of the proportions."""
    counts = np.array(counts, float)
    return criteria.impurity(criterion, counts, counts.sum()) / counts.sum()


@pytest.mark.lane
@pytest.mark.parametrize(("name", "criterion"), PRINTED)
def test_the_printed_criteria_are_one_half_at_even_classes(name, criterion):
    assert impurity(criterion, [5, 5]) == pytest.approx(0.5, abs=1e-15)


@pytest.mark.lane
@pytest.mark.parametrize(("name", "criterion"), PRINTED)
def test_the_printed_values_of_three_classes(name, criterion):
    printed = {"error": 0.5, "gini": 0.62, "entropy": 0.7427, "sqrt": 0.6791, "sqrt_pairs": 0.9485}

    assert impurity(criterion, [5, 3, 2]) == pytest.approx(printed[name], abs=5e-5)


@pytest.mark.lane
@pytest.mark.parametrize(("name", "criterion"), PRINTED)
def test_the_printed_drops_of_a_useful_split(name, criterion):
    printed = {"error": 0, "gini": 0.0800, "entropy": 0.1182, "sqrt": 0.1551, "sqrt_pairs": 0.1551}
    drop = impurity(criterion, [2, 8]) - impurity(criterion, [2, 3]) / 2 - impurity(criterion, [0, 5]) / 2

    assert drop == pytest.approx(printed[name], abs=5e-5)


@pytest.mark.lane
@pytest.mark.parametrize("name", ["gini", "entropy", "sqrt", "sqrt_pairs", "error"])
def test_a_grown_test_scores_the_printed_drop(name):
    printed = {"error": 0, "gini": 0.0800, "entropy": 0.1182, "sqrt": 0.1551, "sqrt_pairs": 0.1551}
    tree, _ = grow([[0.0]] * 5 + [[1.0]] * 5, [0, 0, 1, 1, 1, 1, 1, 1, 1, 1], criterion=name)

    assert tree.score[0] == pytest.approx(printed[name], abs=5e-5)


def test_gain_ratio_is_gain_in_bits_over_split_information():
    tree, _ = grow([[0.0]] * 6 + [[1.0]] * 2, [0, 0, 0, 0, 0, 1, 1, 1], criterion="gain_ratio")
    bits = [-sum(q * np.log2(q) for q in share) for share in ([5 / 8, 3 / 8], [5 / 6, 1 / 6], [3 / 4, 1 / 4])]

    assert tree.score[0] == pytest.approx((bits[0] - 0.75 * bits[1]) / bits[2], rel=1e-12)


@given(whole_counts)
def test_the_kernels_equal_the_definitions(counts):
    for name, criterion in EVERY:
        assert impurity(criterion, counts) == pytest.approx(
            naive_impurity(name, counts) / sum(counts), rel=1e-12, abs=1e-13
        )


@given(whole_counts)
def test_no_criterion_is_below_the_error_of_the_leaf(counts):
    error = 1 - max(counts) / sum(counts)

    for name, criterion in EVERY:
        assert impurity(criterion, counts) >= error - 1e-13, name


@given(st.integers(2, 5), st.integers(1, 100))
def test_pure_nodes_have_no_impurity(n_classes, n):
    for _, criterion in EVERY:
        for c in range(n_classes):
            assert impurity(criterion, [n * (k == c) for k in range(n_classes)]) == 0


@given(whole_counts, st.randoms(use_true_random=False))
def test_criteria_are_symmetric_in_the_classes(counts, random):
    other = counts[:]
    random.shuffle(other)

    for _, criterion in EVERY:
        assert impurity(criterion, other) == pytest.approx(impurity(criterion, counts), rel=1e-13)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=5))
def test_criteria_are_concave_so_that_no_split_raises_them(sides):
    left, right = zip(*sides, strict=True)
    if not (sum(left) and sum(right)):
        return
    both = [a + b for a, b in sides]

    for _, criterion in EVERY:
        after = sum(left) * impurity(criterion, left) + sum(right) * impurity(criterion, right)
        assert sum(both) * impurity(criterion, both) - after >= -1e-12 * sum(both)


@given(st.integers(0, 400), st.integers(0, 400))
def test_many_class_forms_agree_with_the_two_class_forms(a, b):
    if a + b == 0:
        return
    q = a / (a + b)
    two = {
        "error": min(q, 1 - q),
        "gini": 2 * q * (1 - q),
        "entropy": sum(-x * np.log2(x) / 2 for x in (q, 1 - q) if x > 0),
        "sqrt": np.sqrt(q * (1 - q)),
        "sqrt_pairs": np.sqrt(q * (1 - q)),
    }
    for name, criterion in PRINTED:
        assert impurity(criterion, [a, b]) == pytest.approx(two[name], rel=1e-12, abs=1e-14)
        assert impurity(criterion, [a, b, 0]) == pytest.approx(two[name], rel=1e-12, abs=1e-14)


def test_entropy_of_equal_splits_is_exactly_equal_whatever_the_order_of_classes():
    table = criteria.entropy_table(10_000)
    rng = np.random.default_rng(0)
    for _ in range(200):
        counts = rng.integers(0, 1000, 7).astype(float)
        values = {criteria.impurity(table, rng.permutation(counts), counts.sum()) for _ in range(5)}
        assert len(values) == 1
