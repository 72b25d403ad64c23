"""Shared rows: honest samples are never refused, re-used rows are, and the arithmetic is that of the definition."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from secateur.data.sketch import RowKey
from secateur.statistics.overlap import MAX_P_REFUSED, _chernoff, _log_none, _p_values, overlap

KEY = RowKey(bytes(range(16)), (0, 1))


def sketch(rows, answer):
    return KEY.sketch([np.asarray(rows, float)], np.asarray(answer), 3)


def continuous(rng, n):
    return rng.normal(size=(n, 2))


def sixty_values(rng, n):
    return np.column_stack([rng.integers(0, 30, n), np.zeros(n)])


def heavy_tail(rng, n):
    return np.column_stack([np.minimum(rng.zipf(1.3, n), 10**6), np.zeros(n)])


KINDS = [continuous, sixty_values, heavy_tail]


def halves(rng, kind, n, m, *, stratified=False):
    X, y = kind(rng, n + m), rng.integers(0, 2, n + m)
    order = rng.permutation(n + m)
    if stratified:
        order = np.argsort(y[order], kind="stable")[np.argsort(np.arange(n + m) % 2, kind="stable")]
    return (X[order[:n]], y[order[:n]]), (X[order[n:]], y[order[n:]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m"), [(60, 60), (2000, 300), (300, 2000)])
def test_honest_samples_are_not_refused(kind, n, m):
    rng = np.random.default_rng(n + m)
    found = []
    for _ in range(40):
        a, b = halves(rng, kind, n, m)
        found.append(overlap(sketch(*a), sketch(*b)).p)
    assert min(found) > 1e-4  # of 80 tests; refusals are at 5e-7


@pytest.mark.parametrize("kind", KINDS)
def test_stratified_halves_are_honest(kind):
    rng = np.random.default_rng(7)
    for _ in range(40):
        a, b = halves(rng, kind, 300, 300, stratified=True)
        assert not overlap(sketch(*a), sketch(*b)).is_doubtful


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("kind", [*KINDS, lambda rng, n: rng.integers(0, 2, (n, 2)), lambda _, n: np.zeros((n, 2))])
def test_honest_halves_are_refused_no_more_often_than_stated(kind, stratified):
    """Each of two tests is made at half of a level; what holds at 5 % and 1 % is what the refusal at 1e-6 rests on."""
    rng = np.random.default_rng(11)
    pairs = [halves(rng, kind, 150, 150, stratified=stratified) for _ in range(60)]
    p_values = np.array([overlap(sketch(*a), sketch(*b)).p for a, b in pairs])
    for level in (0.05, 0.01):
        most = binom.isf(1e-6, len(p_values), level)
        assert np.count_nonzero(p_values < level / 2) <= most


@pytest.mark.parametrize("share", [1.0, 0.95, 0.5, 0.05, 0.02])
def test_reused_rows_among_fresh_ones_are_refused_where_rows_differ(share):
    rng = np.random.default_rng(1)
    (X, y), (Z, t) = halves(rng, continuous, 2000, 2000)
    n = round(share * 2000)
    again = rng.permutation(2000)[:n]
    comparison = overlap(sketch(X, y), sketch(np.vstack([X[again], Z[n:]]), np.concatenate([y[again], t[n:]])))
    assert comparison.is_refused
    assert comparison.is_detectable
    assert comparison.low <= n <= comparison.high
    assert comparison.n_chance == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_is_refused_again_shuffled_or_without_a_few_rows(kind):
    rng = np.random.default_rng(2)
    (X, y), _ = halves(rng, kind, 2000, 10)
    for rows in (np.arange(2000), rng.permutation(2000), rng.permutation(2000)[:1900], np.repeat(np.arange(2000), 3)):
        comparison = overlap(sketch(X, y), sketch(X[rows], y[rows]))
        assert comparison.is_refused
        assert comparison.is_detectable


def test_one_percent_of_a_large_sample_is_recognised():
    rng = np.random.default_rng(3)
    X, y = continuous(rng, 200_000), rng.integers(0, 2, 200_000)
    assert overlap(sketch(X, y), sketch(X[:2000], y[:2000])).is_refused


def test_twelve_rows_that_occur_once_are_enough_to_recognise_a_sample():
    X, y = np.arange(24.0).reshape(12, 2), np.zeros(12, int)
    assert overlap(sketch(X, y), sketch(X, y)).is_refused


def test_equal_rows_cannot_be_compared_and_the_result_states_it():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 400)
    comparison = overlap(sketch(np.zeros((200, 2)), y[:200]), sketch(np.zeros((200, 2)), y[200:]))
    assert (comparison.p, comparison.is_detectable) == (1.0, False)


@given(st.integers(1, 40), st.data())
def test_the_chance_that_no_row_is_drawn_is_that_of_the_definition(total, data):
    c, drawn = data.draw(st.integers(0, total)), data.draw(st.integers(0, total))
    exact = Fraction(math.comb(total - c, drawn), math.comb(total, drawn)) if drawn <= total - c else Fraction(0)
    probability = math.exp(_log_none(np.array([total]), np.array([c]), np.array([drawn]))[0])
    assert probability == pytest.approx(float(exact), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(("total", "c", "drawn"), [(10**9, 2, 1000), (10**9, 500, 10**6), (10**6, 300, 4 * 10**5)])
def test_large_samples_keep_their_digits(total, c, drawn):
    exact = math.prod(Fraction(total - drawn - i, total - i) for i in range(c))
    probability = _log_none(np.array([total]), np.array([c]), np.array([drawn]))[0]
    assert -math.expm1(probability) == pytest.approx(float(1 - exact), rel=1e-5)


@given(st.lists(st.floats(0.01, 0.99), min_size=1, max_size=9), st.integers(0, 9))
def test_the_tail_is_bounded_from_above(chances, x):
    exact = sum(
        math.prod(p if happens else 1 - p for p, happens in zip(chances, case, strict=True))
        for case in itertools.product([True, False], repeat=len(chances))
        if sum(case) >= x
    )
    assert _chernoff(x, np.array(chances)) >= exact * (1 - 1e-9)
    assert MAX_P_REFUSED < 1e-6


@pytest.mark.parametrize(("times", "is_tested"), [(1, False), (2, False), (3, False), (4, True)])
def test_frequencies_are_compared_only_where_at_least_four_rows_are_expected(times, is_tested):
    """Chi-square is not valid for smaller counts: an honest pair had a p-value of 2.7e-7 (simulated)."""
    copies = np.full(30, times)  # 30 different rows that occur equally often in both samples of 1,000 rows
    n_rows = np.full(30, 1000)
    p_too_alike = _p_values(copies, copies, n_rows, n_rows)[1]
    assert (p_too_alike < 1e-6) == is_tested
