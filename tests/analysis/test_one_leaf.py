"""The exact probability that pure noise is pruned to one leaf."""

import math
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtr

from secateur._kernels.polynomials import log_power_coefficient
from secateur.analysis import earlier_pruning_probability, one_leaf_probability, one_leaf_probability_uniform
from secateur.errors import ParameterError

pytestmark = pytest.mark.lane


def enumerated(occupancy, p):
    """Sum over every number of positives in every safe node."""
    total = 0.0
    for positives in product(*(range(m + 1) for m in occupancy)):
        weight = math.prod(
            math.comb(m, s) * p**s * (1 - p) ** (m - s) for m, s in zip(occupancy, positives, strict=True)
        )
        plus = all(2 * s >= m for m, s in zip(occupancy, positives, strict=True))
        minus = all(2 * s <= m for m, s in zip(occupancy, positives, strict=True))
        total += weight * (plus or minus)
    return total


def one_node_at_a_time(n, k, p):
    """The recursion over safe nodes, O(k n^2), in plain floats."""

    def majority(m, wins):
        return sum(math.comb(m, s) * p**s * (1 - p) ** (m - s) for s in range(m + 1) if wins(2 * s, m))

    def deviation(g):
        f = [g[m] for m in range(n + 1)]  # one safe node holds all
        for b in range(2, k + 1):
            f = [
                sum(math.comb(m, j) * (1 / b) ** j * (1 - 1 / b) ** (m - j) * g[j] * f[m - j] for j in range(m + 1))
                for m in range(n + 1)
            ]
        return f[n]

    parts = [[majority(m, wins) for m in range(n + 1)] for wins in (int.__ge__, int.__le__, int.__eq__)]
    return deviation(parts[0]) + deviation(parts[1]) - deviation(parts[2])


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.floats(0, 1))
def test_given_occupancies_it_is_the_enumerated_sum(occupancy, p):
    assert one_leaf_probability(occupancy, p) == pytest.approx(enumerated(occupancy, p), rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 0.6, 0.95, 1.0])
@pytest.mark.parametrize(("n", "k"), [(0, 3), (1, 1), (1, 2), (2, 2), (5, 1), (7, 3), (12, 5), (9, 20)])
def test_under_uniform_occupancy_it_is_the_recursion_over_safe_nodes(n, k, p):
    assert one_leaf_probability_uniform(n, k, p) == pytest.approx(one_node_at_a_time(n, k, p), rel=1e-11)


@given(st.integers(0, 5), st.integers(1, 4), st.floats(0.01, 0.99))
def test_under_uniform_occupancy_it_is_the_mean_over_all_assignments(n, k, p):
    assignments = list(product(range(k), repeat=n))
    mean = np.mean([one_leaf_probability(np.bincount(a, minlength=k) if n else [0] * k, p) for a in assignments])

    assert one_leaf_probability_uniform(n, k, p) == pytest.approx(mean, rel=1e-10)


@pytest.mark.parametrize(
    ("p", "printed"), [(0.6, "4.7e-13"), (0.7, "1.7e-06"), (0.75, "2.3e-04"), (0.8, "7.7e-03"), (0.9, "3.4e-01")]
)
def test_the_table_of_exact_values_for_500_rows_and_100_safe_nodes(p, printed):
    assert f"{one_leaf_probability_uniform(500, 100, p):.1e}" == printed


def test_ten_safe_nodes_of_two_rows():
    assert one_leaf_probability([2] * 10, 0.6) == pytest.approx(0.1858, abs=5e-5)
    assert pytest.approx(0.1749, abs=5e-5) == 0.84**10  # counting the majority class only


def test_one_safe_node_never_disagrees_with_itself():
    assert one_leaf_probability([17], 0.3) == pytest.approx(1)
    assert one_leaf_probability_uniform(400, 1, 0.3) == pytest.approx(1)


def test_empty_safe_nodes_never_object():
    assert one_leaf_probability([3, 4, 0, 0], 0.7) == pytest.approx(one_leaf_probability([3, 4], 0.7))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.floats(0, 1))
def test_the_names_of_the_classes_do_not_matter(occupancy, p):
    assert one_leaf_probability(occupancy, p) == pytest.approx(one_leaf_probability(occupancy, 1 - p), rel=1e-9)


def test_logs_do_not_underflow():
    each = one_leaf_probability([1], 0.5, log=True)  # 0: one node agrees with itself
    many = one_leaf_probability([1] * 100_000, 0.5, log=True)

    assert each == pytest.approx(0, abs=1e-15)
    assert many == pytest.approx(-99_999 * math.log(2), rel=1e-12)
    assert one_leaf_probability([1] * 100_000, 0.5) == 0


@pytest.mark.parametrize("k", [2, 50, 400])
def test_the_logarithm_for_uniform_occupancy_stays_within_its_limits(k):
    value = one_leaf_probability_uniform(400, k, 0.55, log=True)

    assert (1 - k) * math.log(2) <= value < 0


def test_a_poisson_number_of_rows_makes_the_safe_nodes_independent():
    k, p, rate = 10, 0.8, 2.0
    ns = np.arange(0, 70)
    weights = np.exp(ns * math.log(k * rate) - k * rate - np.array([math.lgamma(n + 1) for n in ns]))
    mixed = sum(w * one_leaf_probability_uniform(int(n), k, p) for n, w in zip(ns, weights, strict=True) if w > 1e-14)

    def alone(wins):
        return sum(
            math.exp(m * math.log(rate) - rate - math.lgamma(m + 1))
            * sum(math.comb(m, s) * p**s * (1 - p) ** (m - s) for s in range(m + 1) if wins(2 * s, m))
            for m in range(60)
        )

    independent = alone(int.__ge__) ** k + alone(int.__le__) ** k - alone(int.__eq__) ** k
    assert mixed == pytest.approx(independent, rel=1e-8)


@pytest.mark.large
def test_the_published_setting_takes_well_under_a_second():
    one_leaf_probability_uniform(10, 3, 0.6)  # compile
    start = time.perf_counter()
    one_leaf_probability_uniform(500, 100, 0.6)

    assert time.perf_counter() - start < 0.5


@pytest.mark.parametrize("occupancy", [[], [[1, 2]], [1.5], [2, -1]])
def test_occupancies_must_be_whole_numbers_from_zero(occupancy):
    with pytest.raises(ParameterError, match="occupancy"):
        one_leaf_probability(occupancy, 0.6)


@pytest.mark.parametrize(
    ("n", "k", "p", "name"),
    [(-1, 2, 0.6, "n=-1"), (5, 0, 0.6, "k=0"), (2.5, 2, 0.6, "n=2.5"), (5, 2, 1.1, "p=1.1"), (5, 2, math.nan, "p=nan")],
)
def test_uniform_arguments_outside_their_range_are_named(n, k, p, name):
    with pytest.raises(ParameterError, match=name):
        one_leaf_probability_uniform(n, k, p)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(1, 7))
def test_the_kernel_finds_the_coefficient_of_a_power(weights, power):
    if sum(weights) == 0:
        return
    product_of_all = np.array([1])
    for _ in range(power):
        product_of_all = np.convolve(product_of_all, weights)
    wanted = product_of_all[len(weights) - 1]

    computed = log_power_coefficient(np.array(weights, float), power)
    assert computed == (pytest.approx(math.log(wanted), abs=1e-12) if wanted else -math.inf)


@pytest.mark.parametrize("power", [2, 3])
def test_a_power_that_has_left_the_range_has_no_coefficient(power):
    assert log_power_coefficient(np.array([0.0, 0.0, 1.0]), power) == -math.inf
    assert log_power_coefficient(np.array([0.0, 1.0, 0.0]), 3) == -math.inf


def test_the_earlier_model_is_the_normal_limit_of_its_binomials():
    p, share, n = 0.7, 0.4, 2_000
    error = p + share - 2 * p * share
    exact = 1 - bdtr(math.ceil(n * (1 - p)) - 1, n, error)
    assert earlier_pruning_probability(n, p, share) == pytest.approx(exact, abs=1e-3)
    assert earlier_pruning_probability(80, p, share, depth=2) == earlier_pruning_probability(20, p, share) ** 4
    assert earlier_pruning_probability(50, 1.0, 1.0) == 1  # neither errs: a tie, which cuts
