"""Find order statistics of many columns exactly, in a few passes and little memory.

Each number has a sort key of 64 bits; the keys have the order of the numbers. The first pass counts how many keys begin
with each prefix (`_survey.py`), which gives the prefix of the key of each order statistic. Every further pass finds the
next bits of the keys that are not known yet. If only a few values of a column have one of these prefixes, a pass
collects their keys instead of counting, and the column is done. The counts of partitions are added, so the order of the
partitions does not matter.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .._kernels import ranks
from .._utils.arrays import Array, Bools
from ..data.batch import Batch
from ..data.raw_column import NumberColumn, column_as_floats
from ._coding import source_changed_error
from ._passes import ColumnSums

KEY_BITS = 64
MAX_COLLECTED_KEYS = 1 << 18  # Up to this number, the keys of a column are collected rather than counted again.


def bin_end_ranks(n_rows: int, n_bins: int) -> Array:
    """Return the positions, among the sorted values, of the last row of each bin of about equally many rows.

    A value begins a new bin where `int(n_smaller * n_bins / n_rows)` increases, as in memory; n_smaller is the number
    of smaller values.
    """
    k = np.arange(1, n_bins)
    n_smaller = np.ceil(k * (n_rows / n_bins)).astype(np.int64)  # the next two lines correct rounding errors
    n_smaller = np.where((n_smaller - 1) * float(n_bins) / n_rows >= k, n_smaller - 1, n_smaller)
    n_smaller = np.where(n_smaller * float(n_bins) / n_rows < k, n_smaller + 1, n_smaller)
    n_smaller = np.unique(n_smaller)
    return n_smaller[n_smaller < n_rows] - 1


class KeyQuery(NamedTuple):
    """What a pass looks for in one column: the keys with certain prefixes.

    Parameters
    ----------
    name : str
        The column.
    prefixes : array of uint64
        Ascending prefixes.
    starts : array of int
        Where the prefixes with the same first bits begin; see `ranks.prefix_starts`.
    shift : int
        Number of bits after a prefix.
    collects_keys : bool
        Whether the keys are collected; if not, the next bits after each prefix are counted.
    """

    name: str
    prefixes: Array
    starts: Array
    shift: int
    collects_keys: bool


@dataclass
class KeyCounts:
    """What a pass has found in one column.

    Parameters
    ----------
    counts : array of int64
        For each prefix, the number of keys with each value of the next bits.
    lowest, highest : array of uint64
        The lowest and the highest key with each prefix.
    keys : list of arrays, optional
        The collected keys, in place of the counts; None if the pass counts.
    """

    counts: Array
    lowest: Array
    highest: Array
    keys: list[Array] | None

    def merge(self, other: "KeyCounts") -> None:
        """Add the keys or counts of other rows."""
        if self.keys is not None:
            self.keys += other.keys or []
            return
        self.counts += other.counts
        self.lowest = np.minimum(self.lowest, other.lowest)
        self.highest = np.maximum(self.highest, other.highest)


@dataclass
class OrderStatisticSearch:
    """The search for some order statistics of one column. Make it with `OrderStatisticSearch.begin`.

    Parameters
    ----------
    name : str
        The column.
    rank : array of int
        Position of each order statistic among the sorted values.
    prefix : array of uint64
        The bits that are known of each key, or the whole key.
    n_before : array of int
        Number of values whose keys are below the prefix.
    n_with_prefix : array of int
        Number of values whose keys have the prefix.
    shift : int
        Number of bits that are not known yet.
    is_known : array of bool
        Whether `prefix` is the whole key.
    """

    name: str
    rank: Array
    prefix: Array
    n_before: Array
    n_with_prefix: Array
    shift: int
    is_known: Array

    @classmethod
    def begin(cls, name: str, rank: Array, prefix_counts: Array) -> "OrderStatisticSearch":
        """Return a search from the number of keys with each prefix of `ranks.PREFIX_BITS` bits."""
        cumulated = np.cumsum(prefix_counts)
        prefix = np.searchsorted(cumulated, rank, side="right")
        n_with_prefix = prefix_counts[prefix]
        return cls(
            name=name,
            rank=rank,
            prefix=prefix.astype(np.uint64),
            n_before=cumulated[prefix] - n_with_prefix,
            n_with_prefix=n_with_prefix,
            shift=KEY_BITS - ranks.PREFIX_BITS,
            is_known=np.zeros(len(rank), bool),
        )

    @property
    def is_done(self) -> bool:
        """Whether every order statistic is known."""
        return bool(self.is_known.all())

    def next_query(self) -> KeyQuery:
        """Return what the next pass looks for."""
        prefixes, first = np.unique(self.prefix[~self.is_known], return_index=True)
        starts = ranks.prefix_starts(prefixes >> np.uint64(KEY_BITS - ranks.PREFIX_BITS - self.shift))
        n_keys = int(self.n_with_prefix[~self.is_known][first].sum())
        return KeyQuery(self.name, prefixes, starts, self.shift, n_keys <= MAX_COLLECTED_KEYS)

    def learn(self, found: KeyCounts) -> None:
        """Take in what the pass for `next_query` has found."""
        unknown = np.flatnonzero(~self.is_known)
        prefixes, prefix_index = np.unique(self.prefix[unknown], return_inverse=True)
        rank_in_prefix = self.rank[unknown] - self.n_before[unknown]
        if found.keys is not None:
            self._learn_keys(found.keys, unknown, prefixes, prefix_index, rank_in_prefix)
            return
        self._check_unchanged((found.counts.sum(axis=1)[prefix_index] == self.n_with_prefix[unknown]).all())
        cumulated = np.cumsum(found.counts, axis=1)[prefix_index]
        digit = (cumulated <= rank_in_prefix[:, None]).sum(axis=1)
        n_with_digit = found.counts[prefix_index, digit]
        is_one_key = found.lowest[prefix_index] == found.highest[prefix_index]
        longer = (self.prefix[unknown] << np.uint64(ranks.DIGIT_BITS)) | digit.astype(np.uint64)
        self.shift -= ranks.DIGIT_BITS
        self.n_before[unknown] += cumulated[np.arange(len(unknown)), digit] - n_with_digit
        self.n_with_prefix[unknown] = n_with_digit
        self.prefix[unknown] = np.where(is_one_key, found.lowest[prefix_index], longer)
        self.is_known[unknown] = is_one_key | (self.shift == 0)

    def values(self) -> Array:
        """Return the different order statistics in ascending order."""
        values: Array = ranks.values_of_keys(np.unique(self.prefix))
        return values

    def _learn_keys(
        self, collected: list[Array], unknown: Array, prefixes: Array, prefix_index: Array, rank_in_prefix: Array
    ) -> None:
        """Find the remaining order statistics among the collected keys."""
        keys = np.sort(np.concatenate([*collected, np.zeros(0, np.uint64)]))
        first_with_prefix = np.searchsorted(keys, prefixes << np.uint64(self.shift))
        position = first_with_prefix[prefix_index] + rank_in_prefix
        self._check_unchanged(position < len(keys))
        self.prefix[unknown], self.is_known[unknown] = keys[position], True

    def _check_unchanged(self, is_same: Bools | np.bool_) -> None:
        """Refuse a source whose values differ between two passes."""
        if not np.all(is_same):
            raise source_changed_error(self.name)


@dataclass(frozen=True)
class RankTask:
    """A further pass over the columns whose order statistics are not known yet.

    Parameters
    ----------
    queries : tuple of KeyQuery
    """

    queries: tuple[KeyQuery, ...] = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that are read."""
        return tuple(query.name for query in self.queries)

    def start(self) -> ColumnSums:
        """Return the counts of no rows."""
        found = ColumnSums()
        for query in self.queries:
            n = 0 if query.collects_keys else len(query.prefixes)
            counts = np.zeros((n, 1 << ranks.DIGIT_BITS), np.int64)
            lowest, highest = np.full(n, ~np.uint64(0)), np.zeros(n, np.uint64)
            found.append(KeyCounts(counts, lowest, highest, [] if query.collects_keys else None))
        return found

    def add(self, found: ColumnSums, rows: Batch, _: int) -> None:
        """Count or collect the keys of one batch."""
        for query, counts in zip(self.queries, found, strict=True):
            raw = rows.read(query.name)
            if not isinstance(raw, NumberColumn):  # All values of the batch are missing.
                continue
            values = np.asarray(column_as_floats(raw), np.float64)
            lookup = query.prefixes, query.starts, query.shift
            if counts.keys is not None:
                counts.keys.append(ranks.collect_keys(values, *lookup))
            else:
                ranks.count_digits(values, *lookup, counts.counts, counts.lowest, counts.highest)
