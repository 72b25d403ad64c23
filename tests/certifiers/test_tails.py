"""Upper limits against scipy, exact rational sums, and their order."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special

from secateur.certifiers import binomial_upper, chernoff_upper, kl_upper, log_binomial_tail
from secateur.errors import ParameterError, UnsupportedError

pytestmark = pytest.mark.lane


def exact_log_tail(errors, n, p):
    """ln Pr[Bin(n, p) <= errors], summed in whole numbers."""
    a, whole = p.as_integer_ratio()
    b = whole - a
    total = sum(math.comb(n, j) * a**j * b ** (n - j) for j in range(errors + 1))
    if total << 900 > whole**n:
        return math.log(total / whole**n)
    return _log_int(total) - n * math.log(whole)


def _log_int(number):
    shift = max(number.bit_length() - 64, 0)
    return math.log(number >> shift) + shift * math.log(2)


@pytest.mark.parametrize(
    ("n_prunings", "exact", "kl", "chernoff"),
    [
        (1, 0.1242, 0.1312, 0.1480),
        (20, 0.1348, 0.1410, 0.1616),
        (677, 0.1449, 0.1506, 0.1746),
        (458330, 0.1605, 0.1655, 0.1939),
    ],
)
def test_the_table_of_limits_for_100_errors_in_1000_rows(n_prunings, exact, kl, chernoff):
    log_delta = math.log(0.01) - math.log(n_prunings)
    assert round(binomial_upper(100, 1000, log_delta), 4) == exact
    assert round(kl_upper(100, 1000, log_delta), 4) == kl
    assert round(chernoff_upper(100, 1000, log_delta), 4) == chernoff


@given(st.integers(1, 3000), st.data())
def test_the_exact_limit_is_the_beta_quantile(n, data):
    errors = data.draw(st.integers(0, n - 1))
    delta = data.draw(st.floats(1e-280, 0.99))
    assert binomial_upper(errors, n, math.log(delta)) == pytest.approx(
        special.betainccinv(errors + 1, n - errors, delta), rel=1e-10
    )


@given(st.integers(1, 60), st.data())
def test_the_log_tail_is_that_of_exact_arithmetic(n, data):
    errors = data.draw(st.integers(0, n))
    p = data.draw(st.integers(1, 999)) / 1000
    assert log_binomial_tail(errors, n, p) == pytest.approx(exact_log_tail(errors, n, p), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize(("errors", "n"), [(0, 500), (3, 400), (100, 300), (270, 300), (299, 300)])
@pytest.mark.parametrize("exponent", [-30, -400, -5000])
def test_the_tail_at_the_limit_is_delta_even_where_delta_underflows(errors, n, exponent):
    log_delta = exponent * math.log(10)
    p = binomial_upper(errors, n, log_delta)
    if p < 1 - 1e-9:  # nearer to 1 the last bit of p moves the tail by more than we test
        found = exact_log_tail(errors, n, p)
        assert found == pytest.approx(log_delta, rel=1e-6)
    else:
        below = 1 - 1e-6
        assert exact_log_tail(errors, n, below) > log_delta


@given(st.integers(1, 10**7), st.data())
@example(n=1, data=None)
def test_exact_is_at_most_kl_and_kl_at_most_chernoff(n, data):
    errors = 0 if data is None else data.draw(st.integers(0, n))
    log_delta = -1.0 if data is None else -data.draw(st.floats(1e-6, 1e5))
    exact, kl, chernoff = (limit(errors, n, log_delta) for limit in (binomial_upper, kl_upper, chernoff_upper))
    assert exact <= kl * (1 + 1e-13)
    assert kl <= chernoff * (1 + 1e-13)
    assert errors / n <= kl


@given(st.integers(2, 2000), st.floats(-2000, -1e-3), st.data())
def test_the_limits_rise_with_errors_and_fall_with_delta(n, log_delta, data):
    errors = data.draw(st.integers(0, n - 1))
    for limit in (binomial_upper, kl_upper, chernoff_upper):
        here = limit(errors, n, log_delta)
        assert here <= limit(errors + 1, n, log_delta) * (1 + 1e-13)
        assert here <= limit(errors, n, log_delta - 1) * (1 + 1e-13)


@given(st.floats(0, 1), st.floats(1e-9, 50))
def test_the_kl_limit_solves_its_equation(rate, target):
    n = 1000
    p = kl_upper(rate * n, n, -target * n / 10)
    if 0 < p < 1 - 1e-12:
        kl = special.rel_entr(rate, p) + special.rel_entr(1 - rate, 1 - p)
        assert kl == pytest.approx(target / 10, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("limit", [binomial_upper, kl_upper, chernoff_upper])
def test_all_errors_give_one_and_no_rows_give_one(limit):
    assert limit(7, 7, math.log(0.3)) == 1
    assert limit(0, 0, math.log(0.3)) == 1
    assert limit(3, 7, -math.inf) == 1


def test_arrays_give_the_limits_of_their_entries():
    errors, log_delta = np.array([[3, 3, 0], [9, 10, 3]]), np.array([-1.0, -2.0, -3.0])
    found = binomial_upper(errors, 10, log_delta)
    assert found.shape == (2, 3)
    assert found.tolist() == [
        [binomial_upper(int(e), 10, x) for e, x in zip(row, log_delta, strict=True)] for row in errors
    ]


def test_a_billion_rows_are_no_trouble():
    assert binomial_upper(3 * 10**8, 10**9, math.log(0.01)) == pytest.approx(
        0.3 + 2.3263 * math.sqrt(0.21 / 1e9), abs=1e-7
    )


@pytest.mark.parametrize(
    ("errors", "n", "log_delta"), [(-1, 5, -1), (6, 5, -1), (1, -5, -1), (1, 5, 0.1), (1, 5, math.nan)]
)
def test_impossible_numbers_are_refused(errors, n, log_delta):
    for limit in (binomial_upper, kl_upper, chernoff_upper):
        with pytest.raises(ParameterError):
            limit(errors, n, log_delta)


def test_weighted_counts_are_refused_by_the_exact_tail():
    with pytest.raises(UnsupportedError, match="whole numbers"):
        binomial_upper(1.5, 5, -1)
    with pytest.raises(UnsupportedError, match="whole numbers"):
        log_binomial_tail(1.5, 5, 0.5)
    with pytest.raises(ParameterError, match="both excluded"):
        log_binomial_tail(1, 5, 1.0)
