"""Repeated rows: do rows occur twice by chance, or because somebody copied them?

A certificate counts independent draws. Suppose a certifying row equals a row that grew the tree, or another certifying
row. If it is a copy of that row, it is not a further draw. If both rows were drawn independently, it is one. This is
frequent where columns have few values.

Pool the samples, and let f_j be the number of different rows that occur j times. If rows are independent draws,
whatever the population, these numbers are mixtures of Poisson variables. So, in expectation,

    the share of rows that occur a multiple of d times is at most 1/d (d = 2, 3), or slightly more (d = 5, 7)
    (j! f_j)^2 <= (j-1)! f_(j-1) * (j+1)! f_(j+1)          (Cauchy-Schwarz)

Rows that violate this were copied: many pairs without triples, or only even numbers. A *twin* is a certifying row that
also occurs in a sample that shaped the tree, or that repeats another certifying row. If rows were copied, every twin
counts as an error in the certificate. If it is in doubt whether rows were copied, some twins count as errors: those of
rows that occur j times, for each j for which too many rows occur j times. Counting a twin as an error is always valid,
because it only raises the number of errors.

Copies whose numbers were rounded are found by the sketches of rounded rows. Rounded rows of continuous columns can be
equal by chance. For every two digits that are rounded away, each continuous column multiplies the number of such pairs
by about a hundred, while copies are pairs at every rounding. So pairs of rounded rows are suspect only if their number
is clearly above a thirtieth of the number of pairs of more coarsely rounded rows. The coarsest rounding, to about one
digit, serves only this comparison.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from .._utils.arrays import Array, Floats
from ..data.sketch import HASH_RANGE, N_RECOGNISED, Sketch
from .overlap import MAX_P_DOUBTED, PRICE_OF_ROUNDED_ROWS, overlap
from .tails import binomial_upper

Verdict = Literal["natural", "in doubt", "copies", "independent", "unknown"]
RepeatRule = Literal["errors", "independent"]

MAX_P_COPIES = 1e-3  # rows are taken for copies if one of the two main tests has a lower p-value
# Both the number of pairs and the number of triples vary by chance. If each of them deviates with this p-value, the two
# deviations together have the p-value MAX_P_COPIES.
MAX_P_OF_EACH = 0.0145
MAX_P_FURTHER = 1e-5  # as MAX_P_COPIES, for all other tests and for each confidence limit in them
MIN_SINGLE_ROWS = 50  # the Poisson test on pairs and triples needs this number of rows that occur once
MIN_EXPECTED_TRIPLES = 5.0  # pairs can be called natural if at least this number of triples is expected ...
MIN_NATURAL_P = 0.05  # ... and the probability of as few triples as were found, or fewer, is at least this
# The largest share, among the different rows of a sample, of those that occur a multiple of d times: its maximum over
# all rates of the Poisson distribution.
MAX_SHARE_OF_MULTIPLES = {2: 0.5, 3: 1 / 3 + 1e-9, 5: 0.2035, 7: 0.158}
MAX_MULTIPLICITY = 8  # multiplicities up to this one are compared with their neighbours
MIN_RATIO_OF_FREQUENT_ROWS = 2.0  # of rows that occur four to six times to those that occur three times
# The number of pairs or triples that frequent rows do not explain is taken for 0 below this many standard deviations.
MIN_DEVIATIONS = 2.0
# Before a multiplicity above 2 is compared with its neighbours, the number of rows of each neighbour is raised by this
# number of rows and this number of standard deviations.
NEIGHBOUR_MARGIN = 2.0
NEIGHBOUR_DEVIATIONS = 3.0
MAX_P_ROUNDED_COPIES = 1e-5  # p-value of the tests on rounded rows below which these are taken for copies
MAX_P_ROUNDED_PAIRS = 1e-3  # p-value of more pairs of rounded rows than coarser rounding explains
MIN_P_FINE_PAIRS = 0.05  # p-value of the pairs of unrounded rows above which coarser rounding explains them
# At the next coarser rounding, about 100 times as many pairs are due to chance. The tests assume only this ratio, so
# that pairs that are due to chance are not taken for copies.
RATIO_OF_PAIRS = 30.0
MAX_REPEATED_SHARE = 0.5  # of the certifying rows; a sample with more copies is refused
SHARE_OF_DELTA = 0.1  # paid for the upper limit on the number of twins, if the sketches hold only a part of the rows
# Copies could be noticed if the verdict would not be "natural" after any one of these shares of the rows was doubled.
NOTICED_SHARES = (0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Repeats:
    """What is known about the rows of a certifying sample that occur more than once.

    Parameters
    ----------
    verdict : str
        "copies": rows were copied. "natural": rows repeat by chance. "in doubt": neither is clear. "independent": the
        caller states that equal rows are independent draws. "unknown": the rows are not known.
    n_rows : int
        Number of rows of the certifying sample.
    n_twins : int
        Estimated number of the twins among them that count as errors: 0 if the verdict is "natural".
    n_errors : int
        Number of errors that these twins count as: their exact number or, if the sketches hold only a part of the rows,
        an upper limit on it.
    errors_by_class : tuple of int
        `n_errors` for the rows of each class; empty if only the total is known.
    n_seen : int
        Number of these twins whose hashes are in the sketches.
    n_within : int
        Estimated number of these twins that repeat a certifying row, but no row of the samples that shaped the tree.
    multiplicities : tuple of int
        The numbers f_1, f_2, ..., f_8 of different rows of the pooled sketches that occur once, twice, ... eight times.
    copies_detectable : bool
        Whether the verdict is not "natural", or would not be if a twentieth of the rows had been doubled, nor if a
        tenth or a fifth had been.
    delta : float
        The part of the failure probability that was paid for the upper limit `n_errors`.
    is_rounded : bool
        Whether the rows are equal only up to the rounding of their numbers.
    """

    verdict: Verdict = "unknown"
    n_rows: int = 0
    n_twins: int = 0
    n_errors: int = 0
    errors_by_class: tuple[int, ...] = ()
    n_seen: int = 0
    n_within: int = 0
    multiplicities: tuple[int, ...] = ()
    copies_detectable: bool = False
    delta: float = 0.0
    is_rounded: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether the sample is refused, because more than half of its rows count as errors."""
        return self.n_errors > MAX_REPEATED_SHARE * self.n_rows

    @property
    def text(self) -> str:
        """The finding in words, for the assumptions of a certificate; empty if there is nothing to state."""
        if self.verdict == "independent":
            return "equal rows are taken as independent draws, as the caller states"
        if self.n_errors:
            limit = "" if self.n_errors <= self.n_twins else f" (at most {self.n_errors:,})"
            number = min(self.n_twins, self.n_errors)
            place = "also occur in the growing sample"
            if self.n_within:
                place = "occur in the growing sample or more than once"
            if self.is_rounded:
                place += ", up to the rounding of numbers"
            return f"{number:,}{limit} of {self.n_rows:,} rows {place}; they count as errors"
        if self.verdict != "unknown" and not self.copies_detectable:
            return "rows are not distinct enough to notice copies"
        return ""

    def of_classes(self, n_classes: int) -> Array:
        """Return how many rows of each class count as errors: `n_errors` for every class if only the total is known."""
        if not self.errors_by_class:
            return np.full(n_classes, self.n_errors, np.int64)
        by_class = np.zeros(n_classes, np.int64)
        by_class[: len(self.errors_by_class)] = self.errors_by_class[:n_classes]
        return by_class

    def as_independent(self) -> "Repeats":
        """Return the finding where the caller states that equal rows are independent draws: nothing is paid."""
        return replace(self, verdict="independent", n_errors=0, errors_by_class=(), n_seen=0, delta=0.0)


def find_repeats(used: Sequence[Sketch], certifying: Sketch, delta: float = 0.05) -> Repeats:
    """Return what is known about repeated rows of a sample, given the sketches of the samples that shaped the tree.

    Parameters
    ----------
    used : sequence of Sketch
        The sketches of the samples that shaped the tree. Of equal ones only the first is used.
    certifying : Sketch
        The sketch of the sample that certifies.
    delta : float
        The failure probability of the certificate. If the sketches hold only a part of the rows and there are twins
        that count as errors, a tenth of `delta` is paid for the upper limit on the number of twins.

    Examples
    --------
    >>> import numpy as np
    >>> from secateur.data.sketch import RowKey
    >>> rng, key = np.random.default_rng(0), RowKey(bytes(16), (0,))
    >>> X, y = rng.normal(size=(300, 1)), rng.integers(0, 2, 300)
    >>> grown, fresh = key.sketch([X[:200]], y[:200], 2), key.sketch([X[200:]], y[200:], 2)
    >>> find_repeats([grown], fresh).verdict
    'natural'
    >>> mixed = key.sketch([np.concatenate([X[200:280], X[:20]])], np.concatenate([y[200:280], y[:20]]), 2)
    >>> repeats = find_repeats([grown], mixed)
    >>> repeats.verdict, repeats.n_errors
    ('in doubt', 20)
    """
    different = {sketch.digest: sketch for sketch in used}
    return _find_repeats(tuple(different.values()), certifying, delta)


@lru_cache(maxsize=64)  # method="best" computes several certificates from the same samples
def _find_repeats(used: tuple[Sketch, ...], certifying: Sketch, delta: float) -> Repeats:
    n_keys = min(len(sketch.rounded) for sketch in (*used, certifying))  # 0 if a sketch is from an earlier file
    pools = [_pool(used, certifying)]
    pools += [_pool([sketch.rounded[k] for sketch in used], certifying.rounded[k]) for k in range(n_keys)]
    verdict, doubtful = judge(pools[0].copies)
    if doubtful == [2] and n_keys and _is_explained(pools[0], pools[1]):
        verdict, doubtful = "natural", []
    found = _repeats_of(pools[0], certifying, delta, verdict, doubtful)
    if verdict == "copies":
        return found
    is_doubtful = False  # once rows of one rounding are in doubt, those of every coarser rounding are, too
    for k in range(1, min(N_RECOGNISED, n_keys) + 1):
        is_doubtful = is_doubtful or _shares_rounded_rows(used, certifying, k)
        verdict, doubtful = _judge_rounded(pools, k, is_doubtful=is_doubtful)
        is_doubtful = verdict != "natural"
        if verdict != "natural":
            rounded = _repeats_of(pools[k], certifying, delta, verdict, doubtful)
            if rounded.n_errors > found.n_errors:
                found = replace(rounded, is_rounded=True)
    return found


def _is_explained(pooled: "_Pool", coarser: "_Pool") -> bool:
    """Return whether chance explains the number of rows that occur twice, given the coarser rounding."""
    from scipy.special import pdtrc

    n_pairs = int(np.count_nonzero(pooled.copies == 2))
    explained = coarser.n_coincidences / RATIO_OF_PAIRS * pooled.share / coarser.share
    return bool(pdtrc(n_pairs - 1, explained) >= MIN_P_FINE_PAIRS)


def _shares_rounded_rows(used: Sequence[Sketch], certifying: Sketch, k: int) -> bool:
    """Return whether the certifying sample shares more rows of the k-th rounding with a used sample than expected."""
    results = [overlap(sketch.rounded[k - 1], certifying.rounded[k - 1]) for sketch in used]
    return any(PRICE_OF_ROUNDED_ROWS * result.p < MAX_P_DOUBTED for result in results)


def _judge_rounded(pools: "list[_Pool]", k: int, *, is_doubtful: bool) -> tuple[Verdict, list[int]]:
    """Return the verdict on the rows of the k-th rounding, and the multiplicities in doubt, as `judge` does.

    `pools[0]` are the unrounded rows. `is_doubtful` states that rows are in doubt for another reason: they were in
    doubt at a finer rounding, or more of them than expected occur in both samples.
    """
    from scipy.special import pdtrc

    pooled = pools[k]
    if _has_too_many_multiples(pooled.copies, MAX_P_ROUNDED_COPIES) or _has_isolated_multiplicity(
        pooled.copies, MAX_P_ROUNDED_COPIES
    ):
        return "copies", []
    if is_doubtful:
        return "in doubt", [2]
    if k + 1 == len(pools):  # sketches from an earlier file, without the last rounding
        return "natural", []
    n_pairs, n_exact = (int(np.count_nonzero(pool.copies == 2)) for pool in (pooled, pools[0]))
    explained = pools[k + 1].n_coincidences / RATIO_OF_PAIRS * pooled.share / pools[k + 1].share
    # Pairs of unrounded rows are pairs of rounded rows, too, and were judged before. Leave them out: exactly, or by an
    # upper limit if the sketches hold only a part of the rows.
    if pooled.is_complete and pools[0].is_complete:
        n_pairs -= n_exact
    else:
        explained += (n_exact + 1 + 3 * math.sqrt(n_exact)) * pooled.share / pools[0].share
    is_explained = n_pairs < 1 or pdtrc(n_pairs - 1, explained) >= MAX_P_ROUNDED_PAIRS
    return ("natural", []) if is_explained else ("in doubt", [2])


def _repeats_of(
    pooled: "_Pool", certifying: Sketch, delta: float, verdict: Verdict, doubtful: Sequence[int]
) -> Repeats:
    """Return the twins that count as errors, given the verdict and the multiplicities that are in doubt."""
    is_counted = np.ones(len(pooled.copies), bool)
    if verdict != "copies":
        is_counted = np.isin(pooled.copies, doubtful)
    twins = np.where(is_counted, pooled.twins, 0)
    n_seen = int(twins.sum())
    estimate = _Estimate(pooled, certifying, delta)
    return Repeats(
        verdict=verdict,
        n_rows=certifying.n_rows,
        n_twins=round(n_seen * estimate.scale),
        n_errors=estimate.upper_limit(twins),
        errors_by_class=estimate.by_class(twins),
        n_seen=n_seen,
        n_within=round(int(twins[pooled.times_used == 0].sum()) * estimate.scale),
        multiplicities=tuple(_spectrum(pooled.copies)[1:].astype(int).tolist()),
        copies_detectable=verdict != "natural" or _would_notice_copies(pooled.copies),
        delta=estimate.delta_paid(twins),
    )


@dataclass(frozen=True)
class _Pool:
    """The different rows of all samples together, as far as every sketch would contain them: by their hashes.

    `times_used` and `times` state how often each row occurs in the samples that shaped the tree, and in the certifying
    sample. `classes` holds the class of each row. `share` is the share of all possible hashes that every sketch covers.
    """

    times_used: Array
    times: Array
    classes: Array
    share: float

    @property
    def is_complete(self) -> bool:
        """Whether the sketches hold all rows."""
        return self.share == 1

    @property
    def n_coincidences(self) -> float:
        """Number of pairs of equal rows: a row that occurs c times has c (c - 1) / 2 of them."""
        return float((self.copies * (self.copies - 1.0)).sum() / 2)

    @property
    def copies(self) -> Array:
        """How often each row occurs in all samples."""
        copies: Array = self.times_used + self.times
        return copies

    @property
    def twins(self) -> Array:
        """The number of twins among the certifying rows that are equal to each row."""
        twins: Array = np.maximum(np.where(self.times_used > 0, self.times, self.times - 1), 0)
        return twins


def _pool(used: Sequence[Sketch], certifying: Sketch) -> _Pool:
    """Return the different rows of all samples."""
    sketches = (*used, certifying)
    theta = min(sketch.theta for sketch in sketches)
    n_below = [len(s.hashes) if theta == HASH_RANGE else int(s.hashes.searchsorted(np.uint64(theta))) for s in sketches]
    hashes = np.concatenate([s.hashes[:n] for s, n in zip(sketches, n_below, strict=True)])
    copies = np.concatenate([s.copies[:n] for s, n in zip(sketches, n_below, strict=True)])
    classes = np.concatenate([s.classes[:n] for s, n in zip(sketches, n_below, strict=True)])
    is_certifying = np.arange(len(hashes)) >= sum(n_below[:-1])
    _, index, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    times_used = np.bincount(inverse, np.where(is_certifying, 0, copies), len(index)).astype(np.int64)
    times = np.bincount(inverse, np.where(is_certifying, copies, 0), len(index)).astype(np.int64)
    return _Pool(times_used, times, classes[index], theta / HASH_RANGE)


class _Estimate:
    """The number of twins in the whole certifying sample, from those in the sketches."""

    def __init__(self, pooled: _Pool, certifying: Sketch, delta: float) -> None:
        self.pooled, self.certifying, self.delta = pooled, certifying, delta
        n_sketched = int(pooled.times.sum())
        self.scale = 1.0 if pooled.is_complete else certifying.n_rows / max(n_sketched, 1)

    def upper_limit(self, twins: Array) -> int:
        """Return the number of twins or, from partial sketches, an upper confidence limit.

        Which different rows are in a sketch depends on their hashes only. So the share of different certifying rows
        that have twins has a binomial limit. The limit on this share is multiplied by the number of different rows and
        by the mean number of twins of a row that has some.
        """
        n_seen = int(twins.sum())
        if self.pooled.is_complete or n_seen == 0:
            return n_seen
        n_different, n_with_twins = np.count_nonzero(self.pooled.times), np.count_nonzero(twins)
        share = binomial_upper(n_with_twins, n_different, math.log(self.delta_paid(twins)))
        limit = share * n_different * (n_seen / n_with_twins) * self.scale
        return int(min(math.ceil(limit), self.certifying.n_rows))

    def delta_paid(self, twins: Array) -> float:
        """Return the part of delta that the upper limit costs."""
        return 0.0 if self.pooled.is_complete or not twins.any() else SHARE_OF_DELTA * self.delta

    def by_class(self, twins: Array) -> tuple[int, ...]:
        """Return the number of twins of each class; empty if the sketches hold a part of the rows."""
        if not self.pooled.is_complete:
            return ()
        n_classes = len(self.certifying.n_by_class)
        by_class = np.bincount(self.pooled.classes, twins, n_classes)[:n_classes]
        return tuple(by_class.astype(int).tolist())


def judge(copies: Array) -> tuple[Verdict, list[int]]:
    """Return whether rows were copied, given how often each different row occurs.

    Parameters
    ----------
    copies : array of int
        The number of times that each different row occurs.

    Returns
    -------
    verdict : "copies", "natural" or "in doubt"
    doubtful : list of int
        If the verdict is "in doubt": each j for which chance does not explain how many rows occur j times.

    Examples
    --------
    >>> judge(np.repeat(2, 100))[0], judge(np.repeat(3, 100))[0], judge(np.ones(100, int))[0]
    ('copies', 'copies', 'natural')
    >>> judge(np.repeat([1, 2], [95, 5]))
    ('in doubt', [2])
    """
    if _has_too_many_multiples(copies) or _has_isolated_multiplicity(copies):
        return "copies", []
    f = _spectrum(copies)
    doubtful = [] if _is_natural(f) else [2]
    doubtful += [j for j in range(3, MAX_MULTIPLICITY) if _is_isolated(f, j)]
    return ("in doubt" if doubtful else "natural"), doubtful


def _spectrum(copies: Array) -> Floats:
    """Return the array of f_j, the number of different rows that occur j times, for j from 0 to `MAX_MULTIPLICITY`."""
    few = copies[copies <= MAX_MULTIPLICITY]
    return np.bincount(few, minlength=MAX_MULTIPLICITY + 1).astype(np.float64)


def _has_too_many_multiples(copies: Array, max_p_of_pairs: float = MAX_P_COPIES) -> bool:
    """Return whether more rows than chance allows occur a multiple of 2, 3, 5 or 7 times."""
    from scipy.special import bdtrc

    for d, share in MAX_SHARE_OF_MULTIPLES.items():
        n_multiples = int(np.count_nonzero(copies % d == 0))
        max_p = max_p_of_pairs if d == 2 else MAX_P_FURTHER
        if n_multiples and bdtrc(n_multiples - 1, len(copies), share) < max_p:
            return True
    return False


def _has_isolated_multiplicity(copies: Array, max_p: float = MAX_P_COPIES) -> bool:
    """Return whether there are fewer triples than the number of pairs requires, or too few rows that occur more often.

    The number of rows that occur j + 1 times is compared with those that occur j and j - 1 times.
    """
    from scipy.special import pdtr

    f = _spectrum(copies)
    if f[1] >= MIN_SINGLE_ROWS and pdtr(f[3], _expected_triples(f[1], f[2])) < max_p:
        fewer_pairs = _poisson_lower(f[2], MAX_P_OF_EACH)
        if pdtr(f[3], _expected_triples(f[1], fewer_pairs)) < MAX_P_OF_EACH:
            return True
    for j in range(2, MAX_MULTIPLICITY):
        least = _poisson_lower(f[j])
        expected = least**2 * j / (_poisson_upper(f[j - 1]) * (j + 1))  # j! j! / ((j-1)! (j+1)!) = j / (j+1)
        if pdtr(f[j + 1], expected) < MAX_P_FURTHER:
            return True
    return False


def _expected_triples(n_singles: float, n_pairs: float) -> float:
    """Return how many triples there must be at least, given the numbers of rows that occur once and twice."""
    return float((2 * n_pairs) ** 2 / (6 * (n_singles + 1)))


def _is_natural(f: Floats) -> bool:
    """Return whether chance explains the pairs: there are none, or as many triples as that number of pairs requires.

    If at least twice as many rows occur four to six times as occur three times, and some occur five times, some rows
    are frequent. The triples then belong to frequent rows, and do not explain the pairs of other rows. In this case,
    the part of f_1, f_2 and f_3 that follows from f_3, f_4 and f_5 is subtracted first. The inequality holds for the
    remainders, too: the matrix of the factorial moments j! f_j is positive semidefinite, and so is its Schur
    complement. The remainders vary as much as the numbers before the subtraction, so they must be clearly above 0.
    """
    from scipy.special import pdtr

    if f[2] == 0:
        return True
    expected = _expected_triples(f[1], f[2])
    if expected < MIN_EXPECTED_TRIPLES:
        return False
    if f[4:7].sum() < MIN_RATIO_OF_FREQUENT_ROWS * f[3] or f[5] == 0:
        return bool(pdtr(f[3], expected) >= MIN_NATURAL_P)
    m3, m4, m5 = 6 * f[3], 24 * f[4], 120 * f[5]
    singles, pairs, triples = f[1] - m3**2 / m5, f[2] - m3 * m4 / m5 / 2, f[3] - m4**2 / m5 / 6
    if pairs <= MIN_DEVIATIONS * math.sqrt(f[2]):
        return True
    expected = _expected_triples(max(singles, 0.0), pairs)
    is_clear = triples >= MIN_DEVIATIONS * math.sqrt(f[3])
    return bool(is_clear and pdtr(round(triples), expected) >= MIN_NATURAL_P)


def _is_isolated(f: Floats, j: int) -> bool:
    """Return whether clearly more rows occur j times than the neighbouring multiplicities explain."""
    fewer, more = (f[k] + NEIGHBOUR_MARGIN + NEIGHBOUR_DEVIATIONS * math.sqrt(f[k]) for k in (j - 1, j + 1))
    return bool(f[j] ** 2 * j > fewer * more * (j + 1))


def _poisson_upper(number: float, p: float = MAX_P_FURTHER) -> float:
    """Return an upper confidence limit on the mean of a Poisson variable."""
    from scipy.special import gammaincinv

    return float(gammaincinv(number + 1, 1 - p))


def _poisson_lower(number: float, p: float = MAX_P_FURTHER) -> float:
    """Return a lower confidence limit on the mean of a Poisson variable."""
    from scipy.special import gammaincinv

    return float(gammaincinv(number, p)) if number > 0 else 0.0


def _would_notice_copies(copies: Array) -> bool:
    """Return whether, for each of `NOTICED_SHARES`, the verdict would not be "natural" if that share were doubled.

    What is judged is the expected number of rows that occur j times, if each row were doubled with this probability.
    """
    f = _spectrum(copies)
    times = np.arange(len(f))
    for share in NOTICED_SHARES:
        n_raised = np.minimum(share * times, 1.0) * f
        raised = f - n_raised
        raised[1:] += n_raised[:-1]
        rounded = np.rint(raised).astype(np.int64)
        others = copies[copies > MAX_MULTIPLICITY]
        if judge(np.concatenate([np.repeat(times, rounded), others]))[0] == "natural":
            return False
    return True
