"""Compare the shares of rows in the leaves of a tree between two samples.

The population stability index (PSI) is the sum over the leaves of (now - before) ln(now / before). By convention, a
value below 0.1 is small, and one above 0.25 is large. Half a row is added to every leaf of both samples, so that
an empty leaf has a finite index.

The p-value belongs to Pearson's statistic of the two rows of numbers. If every expected number is at least 5, the
statistic has a chi-square distribution. Otherwise, its distribution is simulated by permuting the rows of both samples,
which gives an exact test.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._utils.arrays import Floats, Immutable, Longs, write_protect
from ..errors import show

PSI_MARKS = (0.1, 0.25)  # above the first a change is moderate, above the second it is large
MIN_EXPECTED_ROWS = 5.0  # in every leaf and sample, for the chi-square distribution
N_PERMUTATIONS = 9_999
PERMUTATION_SEED = 0  # fixed, so that equal counts have equal p-values
MAX_PERMUTED_ENTRIES = 20_000_000  # leaves times permutations
NOTE = "describes a change of the rows, does not refute the certificate"


@dataclass(frozen=True, eq=False)
class RowShares(Immutable):
    """The rows in each leaf of two samples: an earlier one, and the rows now.

    Parameters
    ----------
    before, now : array of int
        Number of rows in each leaf.
    sample : str
        Name of the earlier sample.

    Examples
    --------
    >>> shares = RowShares([400, 600], [150, 350], "prune")
    >>> round(shares.psi, 3), round(shares.p_value, 4), shares.method
    (0.044, 0.0002, 'chi-square')
    >>> print(shares)
    population stability index 0.044 (small) against sample 'prune', p-value 0.00015 (chi-square): describes a
    change of the rows, does not refute the certificate
    """

    before: Longs
    now: Longs
    sample: str

    def __post_init__(self) -> None:
        self._freeze_arrays(before=np.int64, now=np.int64)

    @cached_property
    def psi(self) -> float:
        """The population stability index."""
        before, now = (_smoothed_shares(rows) for rows in (self.before, self.now))
        return float(((now - before) * np.log(now / before)).sum())

    @property
    def size(self) -> str:
        """The size of the change by the usual marks of the index: "small", "moderate" or "large"."""
        return ("small", "moderate", "large")[sum(self.psi > mark for mark in PSI_MARKS)]

    @property
    def p_value(self) -> float:
        """The p-value of the hypothesis that both samples have the same shares; valid for one look at the rows."""
        return self._test[0]

    @property
    def method(self) -> str:
        """How the p-value was computed: "chi-square" or "permutation"."""
        return self._test[1]

    @property
    def share_before(self) -> Floats:
        """The share of rows in each leaf of the earlier sample."""
        return _shares(self.before)

    @property
    def share_now(self) -> Floats:
        """The share of rows in each leaf now."""
        return _shares(self.now)

    @cached_property
    def _test(self) -> tuple[float, str]:
        table = np.array([self.before, self.now])
        table = table[:, table.sum(axis=0) > 0]
        if table.shape[1] < 2 or not table.sum(axis=1).all():
            return 1.0, "chi-square"
        expected = table.sum(axis=1)[:, None] * (table.sum(axis=0) / table.sum())
        statistic = float(((table - expected) ** 2 / expected).sum())
        is_large = expected.min() >= MIN_EXPECTED_ROWS or table.shape[1] * N_PERMUTATIONS > MAX_PERMUTED_ENTRIES
        if is_large:
            from scipy.special import chdtrc

            return float(chdtrc(table.shape[1] - 1, statistic)), "chi-square"
        return _permutation_p_value(table, expected, statistic), "permutation"

    def __str__(self) -> str:
        return (
            f"population stability index {self.psi:.3f} ({self.size}) against sample {show(self.sample)}, "
            f"p-value {self.p_value:.2g} ({self.method}): {NOTE}"
        )


def _permutation_p_value(table: Longs, expected: Floats, statistic: float) -> float:
    """Return the share of permutations of the rows whose statistic is at least as large."""
    random = np.random.default_rng(PERMUTATION_SEED)
    drawn = random.multivariate_hypergeometric(
        table.sum(axis=0), int(table[1].sum()), size=N_PERMUTATIONS, method="marginals"
    )
    # The numbers of the other sample are the rest, so its deviations are the same with the opposite sign.
    statistics = ((drawn - expected[1]) ** 2 * (1 / expected).sum(axis=0)).sum(axis=1)
    n_above = int(np.count_nonzero(statistics >= statistic * (1 - 1e-12)))
    return (1 + n_above) / (1 + N_PERMUTATIONS)


def _smoothed_shares(rows: Longs) -> Floats:
    smoothed: Floats = (rows + 0.5) / (rows.sum() + 0.5 * len(rows))
    return smoothed


def _shares(rows: Longs) -> Floats:
    """Return shares of the sum; NaN for a sample without rows."""
    total = int(rows.sum())
    return write_protect(rows / total if total else np.full(len(rows), math.nan))
