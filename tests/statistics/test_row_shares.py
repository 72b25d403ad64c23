"""Shares of rows in the leaves, then and now: the p-value is that of the exact test."""

import itertools
import math

import numpy as np
import pytest

from secateur.statistics.row_shares import RowShares


def exact_p_value(before, now):
    """The probability, with all ways to draw the second sample, of a chi-square statistic that is as large."""
    total, n_now = np.add(before, now), sum(now)
    expected = total * (n_now / total.sum())

    def statistic(rows):
        return ((np.array(rows) - expected) ** 2 / expected).sum()  # proportional to that of both samples

    ways = [rows for rows in itertools.product(*(range(t + 1) for t in total)) if sum(rows) == n_now]
    weights = [math.prod(math.comb(t, k) for t, k in zip(total, rows, strict=True)) for rows in ways]
    above = [w for w, rows in zip(weights, ways, strict=True) if statistic(rows) >= statistic(now) - 1e-9]
    return sum(above) / sum(weights)


@pytest.mark.parametrize(
    ("before", "now"), [([4, 1, 2], [1, 3, 1]), ([3, 0, 2], [0, 4, 0]), ([2, 2, 2], [1, 1, 1]), ([9, 1], [2, 6])]
)
def test_few_rows_have_nearly_the_p_value_of_the_exact_permutation_test(before, now):
    shares = RowShares(before, now, "prune")

    assert shares.method == "permutation"
    expected = exact_p_value(before, now)
    error = math.sqrt(expected * (1 - expected) / 1000)
    assert shares.p_value == pytest.approx(expected, abs=4 * error + 1e-3)
    assert 0 < shares.p_value <= 1


def test_samples_without_rows_or_with_one_leaf_show_no_change():
    for before, now in ([3, 4], [0, 0]), ([5], [9]), ([5, 0], [9, 0]):
        shares = RowShares(before, now, "prune")
        assert (shares.p_value, shares.method) == (1.0, "chi-square")
    assert RowShares([3, 1], [1, 1], "prune").share_before.tolist() == [0.75, 0.25]
    assert RowShares([3, 1], [1, 1], "prune").share_now.tolist() == [0.5, 0.5]
    assert np.isnan(RowShares([3, 1], [0, 0], "prune").share_now).all()
