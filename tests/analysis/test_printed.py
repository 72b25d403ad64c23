"""The published formulas, to the digit, and where they fail."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.analysis import (
    best_c,
    expected_empty,
    expected_safe_nodes_at_most,
    one_leaf_probability,
    one_leaf_probability_uniform,
    printed_bound_general,
    printed_bound_uniform,
    printed_empty,
    printed_safe_nodes_at_most,
    valid_bound_general,
)
from secateur.errors import ParameterError

TABLE = [  # n = 500, k = 100: p, best c, equation 5, equation 2
    (0.60, 1.72, "7.6e-14", "3.0e-07"),
    (0.70, 1.40, "2.2e-05", "1.3e-02"),
    (0.75, 1.22, "4.2e-03", "1.8e-01"),
    (0.80, 1.00, "9.4e-02", "6.4e-01"),
    (0.90, 0.02, "7.5e-01", "1.0e+00"),
]


def phi(x):
    return math.erfc(-x / math.sqrt(2)) / 2


@pytest.mark.parametrize(("p", "c", "uniform", "general"), TABLE)
def test_the_table_of_the_published_setting(p, c, uniform, general):
    assert best_c(500, 100, p) == pytest.approx(c)
    assert f"{printed_bound_uniform(500, 100, p, c):.1e}" == uniform
    assert f"{printed_bound_general(500, 100, p):.1e}" == general


@pytest.mark.parametrize(("p", "c"), [(0.55, 0.5), (0.7, 1.0), (0.85, 1.9)])
def test_equations_2_and_5_are_as_printed(p, c):
    n, k = 60, 12
    r = 2 * n / k
    assert printed_bound_general(n, k, p) == pytest.approx(phi((p - 0.5) * r / math.sqrt(r * p * (1 - p))) ** (k / 2))
    r = c * n / k
    q = k * phi((c - 1) * (n / k) / math.sqrt((n / k) * (1 - 1 / k)))
    expected = phi((p - 0.5) * r / math.sqrt(r * p * (1 - p))) ** (q - k * math.exp(-n / k))
    assert printed_bound_uniform(n, k, p, c) == pytest.approx(expected)


def test_without_c_the_best_c_is_taken():
    p = np.array([0.6, 0.75])
    at_best = [printed_bound_uniform(500, 100, x, best_c(500, 100, x)) for x in p]

    assert printed_bound_uniform(500, 100, p) == pytest.approx(at_best)
    assert all(printed_bound_uniform(500, 100, 0.7, c) >= printed_bound_uniform(500, 100, 0.7) for c in (0.5, 1, 1.6))


def test_arrays_broadcast_and_single_numbers_stay_numbers():
    p, c = np.array([0.6, 0.7, 0.8])[:, None], np.array([0.5, 1.0])

    surface = printed_bound_uniform(500, 100, p, c)

    assert surface.shape == (3, 2)
    assert surface[1, 1] == pytest.approx(printed_bound_uniform(500, 100, 0.7, 1.0))
    assert isinstance(printed_bound_uniform(500, 100, 0.7, 1.0), float)


def test_c1_the_published_step_omits_the_probability_of_a_tie():
    m, p = 2, 0.6
    wins = (1 - p) ** 2  # more than half of two examples against the majority
    claimed = 1 - phi((p - 0.5) * m / math.sqrt(m * p * (1 - p)))

    assert wins == pytest.approx(0.16)
    assert claimed == pytest.approx(0.3864, abs=5e-5)
    assert printed_bound_general(20, 10, 0.6) == pytest.approx(0.1238, abs=5e-5)
    assert printed_bound_general(20, 10, 0.6) < one_leaf_probability([2] * 10, 0.6)


def test_c2_the_uniform_formula_lies_below_the_truth_in_its_own_setting():
    assert printed_bound_uniform(500, 100, 0.6) < one_leaf_probability_uniform(500, 100, 0.6)


def occupancies(n, k):
    """All ways to put n examples into k safe nodes with one or more in each, up to order."""
    if k == 1:
        return [(n,)]
    return [(a, *rest) for a in range(1, n - k + 2) for rest in occupancies(n - a, k - 1) if a <= rest[0]]


@given(st.integers(1, 5), st.integers(0, 9), st.floats(0, 1))
def test_c4_the_valid_bound_holds_for_every_occupancy_without_empty_nodes(k, more, p):
    n = k + more
    bound = valid_bound_general(n, k, p)

    assert max(one_leaf_probability(sizes, p) for sizes in occupancies(n, k)) <= bound * (1 + 1e-12)
    assert bound <= 1


def test_c4_is_as_derived():
    # r = 4: the largest of g+(1..4) at p = .6 is g+(2) = .84, of g-(1..4) it is g-(2) = .64.
    assert valid_bound_general(20, 10, 0.6) == pytest.approx(0.84**5 + 0.64**5)


def test_c4_needs_a_row_for_every_safe_node():
    with pytest.raises(ParameterError, match="n=4 rows leave some of k=5"):
        valid_bound_general(4, 5, 0.6)


def test_expected_numbers_of_the_published_setting():
    assert expected_safe_nodes_at_most(500, 100, 1) == pytest.approx(61.60, abs=5e-3)
    assert printed_safe_nodes_at_most(500, 100, 1) == pytest.approx(50.00)
    assert expected_safe_nodes_at_most(500, 100, 1.5) == pytest.approx(86.77, abs=5e-3)
    assert printed_safe_nodes_at_most(500, 100, 1.5) == pytest.approx(86.94, abs=5e-3)
    assert expected_empty(500, 100) == pytest.approx(0.6570, abs=5e-5)
    assert printed_empty(500, 100) == pytest.approx(0.6738, abs=5e-5)


@pytest.mark.parametrize(("n", "k"), [(0, 2), (3, 1), (4, 3), (6, 2)])
@pytest.mark.parametrize("c", [0.3, 0.7, 1.0, 1.5, 3.0])
def test_expectations_are_means_over_all_assignments(n, k, c):
    held = [np.bincount(a, minlength=k) if n else np.zeros(k) for a in product(range(k), repeat=n)]

    assert expected_safe_nodes_at_most(n, k, c) == pytest.approx(np.mean([(h <= c * n / k + 1e-9).sum() for h in held]))
    assert expected_empty(n, k) == pytest.approx(np.mean([(h == 0).sum() for h in held]))


def test_a_limit_that_is_whole_but_for_rounding_counts_as_whole():
    n, k, c = 22, 2, 15 * 2 / 22
    assert c * n / k < 15  # in floats
    up_to_15 = sum(math.comb(n, j) for j in range(16)) / 2**n

    assert expected_safe_nodes_at_most(n, k, c) == pytest.approx(k * up_to_15)


@given(st.integers(1, 500), st.integers(1, 500))
def test_the_printed_number_of_empty_nodes_is_never_too_small(n, k):
    assert printed_empty(n, k) >= expected_empty(n, k)


def test_certain_labels_are_certainly_pruned():
    assert printed_bound_general(500, 100, 1.0) == 1
    assert printed_bound_uniform(500, 100, 1.0, 1.0) == 1


@pytest.mark.parametrize(
    "call",
    [lambda: printed_bound_general(5, 2, 0.4), lambda: printed_bound_uniform(5, 2, 0.4, 1), lambda: best_c(5, 2, 0.4)],
)
def test_the_minority_class_is_refused_with_advice(call):
    with pytest.raises(ParameterError, match=r"p=0\.4.*1 - p"):
        call()


@pytest.mark.parametrize("c", [0, -1, math.inf, math.nan])
def test_c_must_be_positive(c):
    with pytest.raises(ParameterError, match="c="):
        printed_bound_uniform(500, 100, 0.6, c)


def test_one_safe_node_has_no_variance_for_the_uniform_formula():
    with pytest.raises(ParameterError, match="k=1"):
        printed_bound_uniform(500, 1, 0.6, 1)
