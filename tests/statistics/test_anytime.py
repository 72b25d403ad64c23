"""Tests of an error rate that stay valid at any time: exact fractions, numeric integration and enumeration decide."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate

from secateur.errors import ParameterError
from secateur.statistics.anytime import confidence_sequence, log_evidence, mixture_shape


def exact_evidence(errors, n, limit, a, b):
    """The evidence as a fraction, for whole numbers a and b: the integrands are polynomials."""

    def integral(power, power_of_rest):
        total = Fraction(0)
        for k in range(power_of_rest + 1):  # (1-q)^m expanded
            sign = (-1) ** k * math.comb(power_of_rest, k)
            exponent = power + k + 1
            total += Fraction(sign, exponent) * (1 - limit**exponent)
        return total

    mean = integral(a + errors - 1, b + n - errors - 1) / integral(a - 1, b - 1)
    return mean / (limit**errors * (1 - limit) ** (n - errors))


@pytest.mark.quick
@pytest.mark.parametrize("limit", [Fraction(1, 1000), Fraction(3, 25), Fraction(1, 2), Fraction(99, 100)])
@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 8), (3, 2)])
def test_the_evidence_is_that_of_exact_fractions(limit, a, b):
    for n in (0, 1, 2, 17, 40):
        for errors in sorted({0, 1, n // 8, n // 2, n} & set(range(n + 1))):
            exact = exact_evidence(errors, n, limit, a, b)
            log_exact = math.log(exact.numerator) - math.log(exact.denominator)

            assert log_evidence(errors, n, float(limit), a=a, b=b) == pytest.approx(log_exact, abs=1e-11, rel=1e-13)


@pytest.mark.parametrize("n", [10_000, 10**6, 10**8])
@pytest.mark.parametrize("limit", [1e-3, 0.12, 0.9])
@pytest.mark.parametrize("deviation", [-3, 0, 2, 5])
def test_the_evidence_is_that_of_numeric_integration_for_many_rows(n, limit, deviation):
    sd = math.sqrt(n * limit * (1 - limit))
    errors = round(n * limit + deviation * sd)
    rate, b = errors / n, 8.0

    def log_weight(q):
        excess = (q - rate) / rate, (rate - q) / (1 - rate)
        gain = errors * math.log1p(excess[0]) + (n - errors) * math.log1p(excess[1])
        return gain + (b - 1) * math.log1p(-q) - b * math.log1p(-limit) + math.log(b)

    kept = sd / n
    end = min(1 - 1e-12, max(rate, limit) + 12 * kept)
    top = max(map(log_weight, np.linspace(limit, end, 2001).tolist()))
    points = np.linspace(limit, end, 41).tolist()
    area = sum(integrate.quad(lambda q: math.exp(log_weight(q) - top), *ends)[0] for ends in pairwise(points))
    likelihood = errors * math.log1p((rate - limit) / limit) + (n - errors) * math.log1p((limit - rate) / (1 - limit))

    assert log_evidence(errors, n, limit, b=b) == pytest.approx(top + math.log(area) + likelihood, abs=1e-6)


@pytest.mark.parametrize("limit", [1e-6, 0.01, 0.999])
@pytest.mark.parametrize("n", [1, 100, 10**8])
def test_the_evidence_without_errors_has_a_short_form(limit, n):
    """With a = 1 and no errors, the mean is b / (b + n)."""
    assert log_evidence(0, n, limit, b=8.0) == pytest.approx(math.log(8 / (8 + n)), rel=1e-9)


@pytest.mark.parametrize("limit", [0.05, 0.12, 0.6])
def test_one_more_row_does_not_increase_the_expected_evidence(limit):
    for p in (0.0, limit / 2, limit):
        for n in range(25):
            for errors in range(n + 1):
                now, right, wrong = np.exp(log_evidence([errors, errors, errors + 1], [n, n + 1, n + 1], limit))

                assert p * wrong + (1 - p) * right <= now * (1 + 1e-9)


@pytest.mark.parametrize(("limit", "alpha"), [(0.12, 0.1), (0.4, 0.2)])
def test_the_evidence_reaches_its_threshold_with_at_most_the_stated_probability(limit, alpha):
    """All streams of 300 rows at the limit, by their exact probabilities; a stream that has reached it stops."""
    reached, alive = 0.0, {0: 1.0}
    for n in range(1, 301):
        after: dict[int, float] = {}
        for errors, chance in alive.items():
            after[errors] = after.get(errors, 0.0) + chance * (1 - limit)
            after[errors + 1] = after.get(errors + 1, 0.0) + chance * limit
        alarms = log_evidence(list(after), n, limit) >= -math.log(alpha)
        reached += sum(chance for chance, alarm in zip(after.values(), alarms, strict=True) if alarm)
        alive = {errors: chance for (errors, chance), alarm in zip(after.items(), alarms, strict=True) if not alarm}

    assert alpha / 10 < reached <= alpha


def test_the_weights_depend_on_the_limit_only():
    assert mixture_shape(0.12)[1] == pytest.approx(8.0, abs=0.05)
    assert mixture_shape(0.999)[1] == 1.0
    assert mixture_shape(1e-6)[1] > 1000


@pytest.mark.parametrize(("errors", "n"), [(0, 1), (0, 50), (3, 50), (50, 50), (120, 1000), (10**7, 10**8)])
def test_the_confidence_sequence_holds_the_rates_whose_evidence_is_below_the_threshold(errors, n):
    alpha = 0.05
    log_gamma = math.lgamma(errors + 0.5) + math.lgamma(n - errors + 0.5) - math.lgamma(n + 1) - math.log(math.pi)

    def log_mean_ratio(p):
        return log_gamma - errors * math.log(p) - (n - errors) * math.log1p(-p)

    lower, upper = confidence_sequence(errors, n, alpha)

    assert lower <= errors / n <= upper
    for limit, is_end in ((lower, errors == 0), (upper, errors == n)):
        if is_end:
            assert limit in (0.0, 1.0)
        else:
            assert log_mean_ratio(limit) == pytest.approx(-math.log(alpha), abs=1e-5)


@pytest.mark.quick
@pytest.mark.parametrize(("errors", "n", "limit"), [(1, 10, 0.0), (1, 10, 1.0), (11, 10, 0.5), (-1, 10, 0.5)])
def test_impossible_numbers_are_refused(errors, n, limit):
    with pytest.raises(ParameterError):
        log_evidence(errors, n, limit)


def test_a_confidence_sequence_needs_possible_numbers_and_begins_without_rows():
    assert confidence_sequence(0, 0, 0.05) == (0.0, 1.0)
    for errors, n in ((3, 2), (-1, 5)):
        with pytest.raises(ParameterError, match="errors between 0 and n are needed"):
            confidence_sequence(errors, n, 0.05)
    with pytest.raises(ParameterError, match="delta"):
        confidence_sequence(1, 2, 1.5)
