"""The betting bound: by enumeration it holds, against slow products it is itself."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from secateur.certifiers import betting_upper, binomial_upper
from secateur.errors import ParameterError


def capital(m, losses, delta):
    """K(m) as the definition says: a product over rows for each stake, averaged with halving weights."""
    best = math.sqrt(2 * math.log(1 / delta) * (1 - m) / (len(losses) * m))
    total = weights = 0.0
    for k in range(16):
        stake, weight = min(1.0, best * 1.5**k), 0.5**k
        total += weight * math.prod(1 + stake * (m - x) / (1 - m) for x in losses)
        weights += weight
    return total / weights


def outcomes(values, n):
    """Every way in which n rows can fall on the values, as counts, with its number of orders."""
    for counts in itertools.product(range(n + 1), repeat=len(values)):
        if sum(counts) == n:
            orders = math.factorial(n) / math.prod(math.factorial(c) for c in counts)
            yield counts, orders


@pytest.mark.parametrize("losses", [[0, 0, 0, 1], [0.2, 0.2, 0.9], [0] * 30 + [0.5] * 9 + [1] * 2, [0.3], [1, 1, 0.99]])
@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-6])
def test_the_limit_is_where_the_capital_reaches_one_over_delta(losses, delta):
    values, counts = np.unique(losses, return_counts=True)
    limit = betting_upper(values, counts, math.log(delta))

    assert limit >= np.mean(losses)
    assert limit == 1 or capital(limit, losses, delta) >= 1 / delta
    below = limit - 1e-7
    assert below <= np.mean(losses) or capital(below, losses, delta) < 1 / delta


@pytest.mark.parametrize("chances", [(0.5, 0.3, 0.2), (0.9, 0.05, 0.05), (0.02, 0.96, 0.02), (0.0, 0.1, 0.9)])
@pytest.mark.parametrize("delta", [0.3, 0.1, 0.01])
def test_the_limit_fails_with_probability_at_most_delta_over_all_samples(chances, delta):
    values, n = (0.0, 0.4, 1.0), 9
    mean = sum(v * p for v, p in zip(values, chances, strict=True))
    expected = failed = 0.0
    for counts, orders in outcomes(values, n):
        chance = orders * math.prod(p**c for p, c in zip(chances, counts, strict=True))
        losses = [v for v, c in zip(values, counts, strict=True) for _ in range(c)]
        expected += chance * capital(mean, losses, delta)
        failed += chance * (betting_upper(values, counts, math.log(delta)) < mean)

    assert expected <= 1 + 1e-12
    assert failed <= delta


def test_the_capital_never_falls_in_the_mean_it_bets_against():
    rng = np.random.default_rng(5)
    for _ in range(50):
        losses = rng.choice([0.0, 0.1, 0.5, 0.7, 1.0], rng.integers(1, 30))
        found = [capital(m, losses.tolist(), 0.05) for m in np.linspace(0.001, 0.999, 200)]
        assert (np.diff(found) >= -1e-12 * np.abs(found[1:])).all()


def test_without_losses_the_betting_limit_is_the_exact_limit():
    for n in (3, 7, 1000, 10**9):
        assert betting_upper([0.0], [n], math.log(0.05)) == pytest.approx(
            binomial_upper(0, n, math.log(0.05)), rel=1e-8
        )


def test_the_betting_limit_is_between_the_exact_limit_and_empirical_bernstein():
    for n, errors, delta in itertools.product((50, 1000, 20_000), (0.02, 0.1, 0.4), (0.05, 0.001)):
        e = int(n * errors)
        mean = e / n
        exact = stats.beta.ppf(1 - delta, e + 1, n - e) - mean
        variance = mean * (1 - mean) * n / (n - 1)
        bernstein = math.sqrt(2 * variance * math.log(2 / delta) / n) + 7 * math.log(2 / delta) / (3 * (n - 1))
        ours = betting_upper([0, 1], [n - e, e], math.log(delta)) - mean
        assert exact < ours < 1.7 * exact
        assert ours < bernstein


def test_the_limit_is_near_one_for_one_row_and_for_losses_of_one():
    assert betting_upper([1.0], [50], math.log(0.05)) == 1
    assert 0.95 < betting_upper([0.0], [1], math.log(0.05)) < 1
    assert betting_upper([], [], math.log(0.05)) == 1


def test_a_billion_rows_are_supported():
    limit = betting_upper([0, 0.25, 1], [9 * 10**8, 5 * 10**7, 5 * 10**7], math.log(0.05))

    assert 0.0625 < limit < 0.0625 + 4e-5


@pytest.mark.parametrize(
    ("values", "counts", "log_delta"),
    [([0, 1.1], [1, 1], -1), ([-0.1], [1], -1), ([0.5], [1.5], -1), ([0.5], [-1], -1), ([0.5], [1], 0.1), ([0.5], [1, 2], -1)],
)  # fmt: skip
def test_invalid_losses_and_counts_are_refused(values, counts, log_delta):
    with pytest.raises(ParameterError):
        betting_upper(values, counts, log_delta)
