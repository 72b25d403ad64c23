"""The guarantee of bottom-up SRM, as a number."""

import math

import pytest

from secateur.analysis import srm_excess_bound
from secateur.errors import ParameterError


def test_the_formula_of_theorem_12_5():
    m, s, depth, tests, delta = 5_000, 7, 3, 12, 0.1
    first = 12 * math.log(s / delta) * s / m
    second = 2 / m * math.sqrt(s * ((1 + depth) * math.log(tests) + math.log(m / delta)) * m * depth)
    assert srm_excess_bound(m, s, depth, n_tests=tests, delta=delta) == pytest.approx(3 * (first + second))


def test_the_size_counts_nodes_as_in_the_notes():
    n_leaves, depth = 8, 4
    assert srm_excess_bound(1_000, 2 * n_leaves - 1, depth, n_tests=20) == pytest.approx(10.41, abs=0.005)


def test_it_falls_with_the_sample_and_rises_with_the_best_pruning():
    assert srm_excess_bound(10**6, 9, 3, n_tests=5) < srm_excess_bound(10**5, 9, 3, n_tests=5)
    assert srm_excess_bound(10**5, 9, 3, n_tests=5) < srm_excess_bound(10**5, 9, 4, n_tests=5)
    with pytest.raises(ParameterError, match="n_nodes=0"):
        srm_excess_bound(10, 0, 0, n_tests=5)
