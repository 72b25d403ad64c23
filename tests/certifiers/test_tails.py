"""Upper limits against scipy, exact rational sums, and their order."""

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext

import numpy as np
import pytest
from hypothesis import assume, example, given
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


def sixty_digits(errors, n, p):
    """ln Pr[Bin(n, p) <= errors] to some 50 digits: the binary fraction p as it is, terms summed downwards."""
    with localcontext(Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        good = 1 - Decimal(p)
        ways = math.comb(n, errors)
        shift = max(ways.bit_length() - 220, 0)
        last = (
            Decimal(ways >> shift).ln() + shift * Decimal(2).ln() + errors * Decimal(p).ln() + (n - errors) * good.ln()
        )
        term = total = Decimal(1)
        for j in range(errors, 0, -1):
            ratio = j * good / ((n - j + 1) * Decimal(p))
            term *= ratio
            total += term
            if ratio < 1 and term < total * (1 - ratio) * Decimal("1e-40"):
                break
        return last + total.ln()


def is_above(limit, errors, n, log_delta):
    """Whether so few errors have at most probability delta under the limit: then it is not below the true one."""
    return limit == 1 or sixty_digits(errors, n, limit) <= Decimal(log_delta)


log_deltas = st.one_of(
    st.sampled_from([0.5, 0.25, 0.1, 0.05, 0.01, 0.001, 1e-10, 0.9, 0.99]).map(math.log),
    st.floats(-13, 4).map(lambda x: -(10**x)),
)


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
    delta = data.draw(st.floats(1e-100, 0.99))  # at 1e-280 SciPy is off by 1e-10 for 35 of 166
    expected = special.betainccinv(errors + 1, n - errors, delta)
    assume(not math.isnan(expected))  # SciPy has no answer to some, such as 1 of 5 at 1e-273
    assert binomial_upper(errors, n, math.log(delta)) == pytest.approx(expected, rel=1e-10)


def test_the_exact_limit_of_a_tiny_delta_is_one():
    assert binomial_upper(1, 5, math.log(1.3e-273)) == 1  # 1 - 1e-68


@given(st.integers(1, 3000), log_deltas, st.data())
def test_the_exact_limit_is_never_below_the_true_one(n, log_delta, data):
    errors = data.draw(st.one_of(st.integers(0, n), st.integers(0, min(n, 40)), st.integers(max(n - 40, 0), n)))
    assert is_above(binomial_upper(errors, n, log_delta), errors, n, log_delta)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 17, 40])
def test_no_limit_of_a_small_sample_is_an_ulp_low(n):
    # About half of them were. (1, 0) with delta .01 gave the double below .99, (3, 0) with exp(-58.7) one near 1.
    targets = [math.log(x) for x in (0.99, 0.5, 0.1, 0.05, 0.01, 1e-6)] + [-1e-9, -58.67771636115471, -700.0]
    for errors in range(n):
        for log_delta in targets:
            assert is_above(binomial_upper(errors, n, log_delta), errors, n, log_delta), (errors, log_delta)


@pytest.mark.parametrize(
    ("errors", "n"), [*((e, 10**6) for e in (0, 1, 31, 40, 60, 1000, 999_000, 999_999)), (20_000, 40_000)]
)
def test_the_exact_limit_of_many_rows_is_above_and_close(errors, n):
    for log_delta in (math.log(0.9), math.log(0.05), -60.0, -5000.0):
        limit = binomial_upper(errors, n, log_delta)
        assert is_above(limit, errors, n, log_delta)
        assert limit == 1 or not is_above(limit * (1 - 1e-11), errors, n, log_delta)


@given(st.integers(1, 3000), st.floats(-7, 3.3), st.data())
def test_the_exact_limit_is_above_by_a_trillionth(n, exponent, data):
    errors = data.draw(st.integers(0, n - 1))
    log_delta = -(10.0**exponent)
    limit = binomial_upper(errors, n, log_delta)
    lower = limit * (1 - 2e-12 / min(1, -log_delta)) - 2e-16
    assert limit == 1 or not is_above(lower, errors, n, log_delta)


def test_with_delta_one_the_limit_is_zero():
    assert binomial_upper(3, 10, 0.0) == 0
    assert binomial_upper(0, 10, -5e-324) > 0


@given(st.integers(1, 3000), log_deltas, st.data())
def test_the_kl_limit_is_never_below_the_true_one(n, log_delta, data):
    errors = data.draw(st.one_of(st.integers(0, n), st.floats(0, n)))
    limit = kl_upper(errors, n, log_delta)
    if limit == 1:
        return
    with localcontext(Context(prec=60)):
        p, e = Decimal(limit), Decimal(errors)
        kl = (n - e) * ((n - e) / (n * (1 - p))).ln() + (e * (e / (n * p)).ln() if errors else 0)
        assert p * n >= e
        assert kl >= -Decimal(log_delta)


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
        log_tail = exact_log_tail(errors, n, p)
        assert log_tail == pytest.approx(log_delta, rel=1e-6)
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
    assert limit(0, 7, -math.inf) == 1


def test_arrays_give_the_limits_of_their_entries():
    errors, log_delta = np.array([[3, 3, 0], [9, 10, 3]]), np.array([-1.0, -2.0, -3.0])
    limits = binomial_upper(errors, 10, log_delta)
    assert limits.shape == (2, 3)
    assert limits.tolist() == [
        [binomial_upper(int(e), 10, x) for e, x in zip(row, log_delta, strict=True)] for row in errors
    ]


def test_a_billion_rows_are_supported():
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


def test_a_limit_that_holds_surely_is_the_error_rate():
    for errors in (0, 1, 7):
        assert kl_upper(errors, 10, 0.0) == pytest.approx(errors / 10)
        assert kl_upper(errors, 10, 0.0) >= errors / 10
    assert kl_upper(0, 10, 0.0) == 0
