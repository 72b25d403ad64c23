"""Deviation bounds hold for the exact distribution, and ours is the sharper one."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.analysis import deviation_at_most, deviation_counted, deviation_empty, printed_deviation_counted
from secateur.errors import ParameterError


def exact_tails(n, k, c, number):
    """(x, Pr[|number - mean| >= x]) for every distance that occurs."""
    values = np.array([number(np.bincount(a, minlength=k), c * n / k) for a in product(range(k), repeat=n)])
    off = np.abs(values - values.mean())
    return [(x, (off >= x - 1e-12).mean()) for x in np.unique(off)]


def n_empty(held, limit):
    return (held == 0).sum()


def n_at_most(held, limit):
    return (held <= limit).sum()


def n_counted(held, limit):
    return ((held <= limit) & (held > 0)).sum()


@pytest.mark.parametrize(("n", "k"), [(1, 2), (3, 2), (5, 3), (5, 4), (3, 8)])
@pytest.mark.parametrize("c", [0.5, 1.0, 1.7])
def test_no_exact_tail_exceeds_its_bound(n, k, c):
    for x, tail in exact_tails(n, k, c, n_empty):
        assert tail <= deviation_empty(n, k, x) + 1e-12
    for x, tail in exact_tails(n, k, c, n_at_most):
        assert tail <= deviation_at_most(n, x) + 1e-12
    for x, tail in exact_tails(n, k, c, n_counted):
        assert tail <= deviation_counted(n, x) + 1e-12


def test_large_samples_stay_within_the_bounds():
    n, k, c, runs = 300, 60, 1.2, 4000
    held = np.random.default_rng(0).multinomial(n, np.full(k, 1 / k), size=runs)
    counted = ((held <= c * n / k) & (held > 0)).sum(axis=1)
    off = np.abs(counted - counted.mean())
    for x in (1, 5, 10, 20):
        assert (off >= x).mean() <= deviation_counted(n, x)


@given(st.integers(1, 1000), st.integers(1, 300), st.floats(0, 200))
def test_ours_is_never_above_the_published_one(n, k, x):
    assert deviation_counted(n, x) <= printed_deviation_counted(n, k, x)


def test_the_formulas_are_as_written():
    n, k, x = 400, 50, 35.0
    empty = k * (1 - 1 / k) ** n
    assert deviation_empty(n, k, x) == pytest.approx(2 * math.exp(-(x**2) * (k - 0.5) / (k**2 - empty**2)))
    assert deviation_at_most(n, x) == pytest.approx(2 * math.exp(-2 * x**2 / n))
    assert deviation_counted(n, x) == pytest.approx(2 * math.exp(-(x**2) / (2 * n)))
    published = 2 * math.exp(-(x**2) / (2 * n)) + 2 * math.exp(-(x**2) * (k - 0.5) / (4 * (k**2 - empty**2)))
    assert printed_deviation_counted(n, k, x) == pytest.approx(published)


def test_a_number_that_cannot_vary_never_strays():
    assert deviation_empty(0, 5, 0) == 1
    assert deviation_empty(0, 5, 0.1) == 0
    assert deviation_at_most(0, 1) == 0


@pytest.mark.parametrize("x", [-1, math.nan])
def test_a_distance_is_not_negative(x):
    with pytest.raises(ParameterError, match="x="):
        deviation_at_most(10, x)
