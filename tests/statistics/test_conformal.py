"""Ranks of order statistics: against their definitions, by enumeration of all samples, and for repeated rows."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from secateur.errors import ParameterError
from secateur.statistics.conformal import Coverage


@pytest.mark.parametrize("share", ["0.5", "0.55", "0.7", "0.8", "0.9", "0.95", "0.99"])
def test_the_conformal_rank_is_the_least_that_reaches_the_share_of_n_plus_1(share):
    for n in range(1, 120):
        ranks = [k for k in range(1, n + 1) if Fraction(k) >= Fraction(share) * (n + 1)]
        assert Coverage(float(share)).rank(n) == (ranks[0] if ranks else None)


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_the_tolerance_rank_is_the_least_whose_coverage_is_large_enough(share, confidence):
    for n in [*range(1, 60), 100, 473]:
        # The share of new rows below the k-th smallest of n continuous scores is a Beta(k, n + 1 - k) variable.
        ranks = [k for k in range(1, n + 1) if 1 - special.betainc(k, n + 1 - k, share) >= confidence - 1e-12]
        assert Coverage(share, confidence).rank(n) == (ranks[0] if ranks else None)


def test_the_examples_of_the_literature():
    assert Coverage(0.9, 0.95).rank(100) == 96
    assert Coverage(0.9, 0.95).min_rows() == 29  # Wilks: 0.9 ** 29 < 0.05
    assert Coverage(0.95, 0.95).min_rows() == 59
    assert Coverage(0.9, 0.9).min_rows(is_two_sided=True) == 38
    assert Coverage(0.9, 0.95).min_rows(is_two_sided=True) == 46
    assert [Coverage(0.9).rank(n) for n in (8, 9, 10, 19, 99)] == [None, 9, 10, 18, 90]


@pytest.mark.parametrize("confidence", [None, 0.9])
@pytest.mark.parametrize("is_two_sided", [False, True])
def test_the_least_number_of_rows_is_the_first_that_has_a_rank(confidence, is_two_sided):
    for share, n_repeated in itertools.product((0.5, 0.8, 0.9, 0.97), (0, 3)):
        coverage = Coverage(share, confidence, n_repeated)
        find = coverage.trimmed if is_two_sided else coverage.rank
        expected = next(n for n in range(1, 1000) if find(n) is not None)
        assert coverage.min_rows(is_two_sided=is_two_sided) == expected


@pytest.mark.parametrize("chances", [(0.2, 0.3, 0.5), (0.9, 0.05, 0.05), (0.01, 0.01, 0.98), (1 / 3, 1 / 3, 1 / 3)])
@pytest.mark.parametrize("share", [0.5, 0.7, 0.8])
def test_a_new_row_is_covered_often_enough_over_all_samples_also_with_ties(chances, share):
    n, values = 4, (0.0, 1.0, 2.0)
    one_sided = two_sided = total = 0.0
    for drawn in itertools.product(range(3), repeat=n + 1):
        chance = math.prod(chances[i] for i in drawn)
        *scores, new = (values[i] for i in drawn)
        scores.sort()
        rank, trimmed = Coverage(share).rank(n), Coverage(share).trimmed(n)
        total += chance
        one_sided += chance * (rank is None or new <= scores[rank - 1])
        two_sided += chance * (trimmed is None or scores[trimmed - 1] <= new <= scores[-trimmed])
    assert total == pytest.approx(1)
    assert one_sided >= share - 1e-12
    assert two_sided >= share - 1e-12


@pytest.mark.parametrize("chances", [(0.2, 0.3, 0.5), (0.85, 0.1, 0.05), (0.5, 0.5, 0.0)])
@pytest.mark.parametrize("share", [0.3, 0.6])
def test_the_share_of_new_rows_is_covered_with_confidence_over_all_samples(chances, share):
    n, confidence = 6, 0.8
    coverage = Coverage(share, confidence)
    rank, trimmed = coverage.rank(n), coverage.trimmed(n)
    reached = reached_two_sided = 0.0
    for drawn in itertools.product(range(3), repeat=n):
        chance, scores = math.prod(chances[i] for i in drawn), sorted(drawn)
        reached += chance * (rank is None or sum(chances[: scores[rank - 1] + 1]) >= share - 1e-12)
        if trimmed is not None:
            inside = sum(chances[scores[trimmed - 1] : scores[-trimmed] + 1])
            reached_two_sided += chance * (inside >= share - 1e-12)
    assert rank is not None
    assert reached >= confidence
    assert trimmed is None or reached_two_sided >= confidence


@pytest.mark.parametrize("n_repeated", [1, 3])
@pytest.mark.parametrize("confidence", [None, 0.9])
def test_repeated_rows_never_narrow_a_region(n_repeated, confidence):
    """Any rows may be the copies: the rank among all rows is no lower than that among the others."""
    rng = np.random.default_rng(0)
    for n in (40, 60, 80):
        scores = rng.normal(size=n).round(1)
        rank = Coverage(0.8, confidence, n_repeated).rank(n)
        trimmed = Coverage(0.8, confidence, n_repeated).trimmed(n)
        for _ in range(20):
            independent = np.sort(rng.permutation(scores)[n_repeated:])
            alone, alone_trimmed = (
                getattr(Coverage(0.8, confidence), name)(n - n_repeated) for name in ("rank", "trimmed")
            )
            assert np.sort(scores)[rank - 1] >= independent[alone - 1]
            assert trimmed == alone_trimmed
            assert np.sort(scores)[trimmed - 1] <= independent[alone_trimmed - 1]
            assert np.sort(scores)[-trimmed] >= independent[-alone_trimmed]


def test_a_failure_probability_that_is_spent_already_is_taken_from_the_rest():
    assert Coverage(0.9, delta=0.01).rank(99) == Coverage(0.91).rank(99)
    assert Coverage(0.9, 0.95, delta=0.01).rank(200) == Coverage(0.9, 0.96).rank(200)
    assert Coverage(0.995, delta=0.01).rank(10**6) is None


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, math.nan, math.inf, True, "0.9", [0.9]])
def test_invalid_shares_are_refused(value):
    with pytest.raises(ParameterError, match="coverage="):
        Coverage(value)
    with pytest.raises(ParameterError, match="confidence="):
        Coverage(0.9, value)


def test_a_share_that_no_number_of_rows_reaches_is_refused():
    with pytest.raises(ParameterError, match="too near 1"):
        Coverage(0.995, delta=0.01).min_rows()
