"""Exact order statistics of many columns at once, in a few passes over a source.

Each pass learns the next bits of every wanted order statistic; a column whose candidates are
few has them collected and is done. Partitions add up counts, so their order does not matter.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .._kernels import ranks
from ..data.arrays import Array, Bools
from ..data.columns import Numbers, floats_of
from ..data.sources import Batch
from ._parts import Each, changed

COLLECT = 1 << 18  # keys of one column that are collected rather than counted again


def wanted_ranks(n_rows: int, n_bins: int) -> Array:
    """Return the positions, among the sorted values, of the last rows of bins of equally many rows.

    A value begins a new bin where `int(smaller values * n_bins / n_rows)` grows, as in memory.
    """
    k = np.arange(1, n_bins)
    least = np.ceil(k * (n_rows / n_bins)).astype(np.int64)  # smaller values that bin k needs, but for rounding
    least = np.where((least - 1) * float(n_bins) / n_rows >= k, least - 1, least)
    least = np.where(least * float(n_bins) / n_rows < k, least + 1, least)
    least = np.unique(least)
    return least[least < n_rows] - 1


@dataclass
class Search:
    """The search for some order statistics of one column: what is known of each one's key.

    A key begins with `prefix`, which `shift` bits follow; `before` values are smaller than any
    that begin so, `n` begin so.
    """

    name: str
    rank: Array
    prefix: Array
    before: Array
    n: Array
    shift: int
    found: Array  # whether `prefix` is the whole key

    @classmethod
    def begin(cls, name: str, rank: Array, top: Array) -> "Search":
        """Begin with the counts of the first bits of all keys."""
        through = np.cumsum(top)
        bucket = np.searchsorted(through, rank, side="right")
        before = through[bucket] - top[bucket]
        return cls(
            name, rank, bucket.astype(np.uint64), before, top[bucket], 64 - ranks.TOP_BITS, np.zeros(len(rank), bool)
        )

    @property
    def is_done(self) -> bool:
        """Whether every order statistic is known."""
        return bool(self.found.all())

    def look(self) -> "Look":
        """Return what the next pass looks for."""
        prefixes, at = np.unique(self.prefix[~self.found], return_index=True)
        starts = ranks.starts_of(prefixes >> np.uint64(64 - ranks.TOP_BITS - self.shift))
        return Look(self.name, prefixes, starts, self.shift, int(self.n[~self.found][at].sum()) <= COLLECT)

    def learn(self, seen: "Seen") -> None:
        """Take in what one pass has seen."""
        open_ = np.flatnonzero(~self.found)
        prefixes, line = np.unique(self.prefix[open_], return_inverse=True)
        within = self.rank[open_] - self.before[open_]
        if seen.keys is not None:
            keys = np.sort(np.concatenate([*seen.keys, np.zeros(0, np.uint64)]))
            start = np.searchsorted(keys, prefixes << np.uint64(self.shift))
            at = start[line] + within
            self._check(at < len(keys))
            self.prefix[open_], self.found[open_] = keys[at], True
            return
        self._check((seen.counts.sum(axis=1)[line] == self.n[open_]).all())
        through = np.cumsum(seen.counts, axis=1)[line]
        bucket = (through <= within[:, None]).sum(axis=1)
        n = seen.counts[line, bucket]
        is_one = seen.lowest[line] == seen.highest[line]
        self.shift -= ranks.MORE_BITS
        deeper = (self.prefix[open_] << np.uint64(ranks.MORE_BITS)) | bucket.astype(np.uint64)
        self.before[open_] += through[np.arange(len(open_)), bucket] - n
        self.n[open_] = n
        self.prefix[open_] = np.where(is_one, seen.lowest[line], deeper)
        self.found[open_] = is_one | (self.shift == 0)

    def values(self) -> Array:
        """Return the order statistics, each once."""
        values: Array = ranks.values_of(np.unique(self.prefix))
        return values

    def _check(self, is_same: Bools | np.bool_) -> None:
        if not np.all(is_same):
            raise changed(self.name)


class Look(NamedTuple):
    """What a pass looks for in one column: keys that begin with a prefix; all of them, or counts of their next bits."""

    name: str
    prefixes: Array
    starts: Array  # where the prefixes with each beginning begin
    shift: int
    collects: bool


@dataclass
class Seen:
    """What one pass has seen of one column: counts of the next bits, or where `keys` is a list the keys."""

    counts: Array
    lowest: Array
    highest: Array
    keys: list[Array] | None

    def merge(self, other: "Seen") -> None:
        """Add what the other saw."""
        if self.keys is not None:
            self.keys += other.keys or []
            return
        self.counts += other.counts
        self.lowest = np.minimum(self.lowest, other.lowest)
        self.highest = np.maximum(self.highest, other.highest)


@dataclass(frozen=True)
class RankTask:
    """A further pass over the columns whose order statistics are not known yet."""

    looks: tuple[Look, ...] = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that are read."""
        return tuple(look.name for look in self.looks)

    def start(self) -> Each:
        """Return what no rows show."""
        seen = Each()
        for look in self.looks:
            n = 0 if look.collects else len(look.prefixes)
            counts = np.zeros((n, 1 << ranks.MORE_BITS), np.int64)
            seen.append(Seen(counts, np.full(n, ~np.uint64(0)), np.zeros(n, np.uint64), [] if look.collects else None))
        return seen

    def add(self, seen: Each, rows: Batch, _: int) -> None:
        """Look at one batch."""
        for (name, prefixes, starts, shift, _), one in zip(self.looks, seen, strict=True):
            given = rows.read(name)
            if not isinstance(given, Numbers):  # missing throughout this batch
                continue
            values = np.asarray(floats_of(given), np.float64)
            if one.keys is not None:
                one.keys.append(ranks.collect(values, prefixes, starts, shift))
            else:
                ranks.refine(values, prefixes, starts, shift, one.counts, one.lowest, one.highest)
