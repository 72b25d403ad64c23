"""Bins of numeric columns, which once fixed are part of the result and can be given again; values as codes.

Bins of about equally many rows need exact order statistics of many columns at once. Each pass over
the source learns the next bits of every wanted one; a column whose candidates are few has them
collected and is done. Partitions add up counts, so their order does not matter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._kernels import histograms, ranks
from .._utils.arrays import Array, ArrayLike, Bools, Floats, reduce_to_fields, write_protect
from .._utils.warn import format_names
from ..data.batch import Batch
from ..data.raw_column import NumberColumn, column_as_floats
from ..data.table import Schema
from ..errors import ParameterError, UnsupportedError
from ._grow_source import GrowSource
from ._parts import CodeTask, Each, LocalPasses, changed
from ._survey import MOST_CODES, Survey

if TYPE_CHECKING:
    from ._dask import Cluster

COLLECT = 1 << 18  # keys of one column that are collected rather than counted again


@dataclass(frozen=True, eq=False)
class Bins:
    """The bin edges of each numeric column.

    Parameters
    ----------
    edges : dict from str to array
        For each numeric column, the ascending highest values of its bins, without the last bin:
        a value belongs to the first bin whose edge it does not exceed.
    every_value : frozenset of str
        Columns in which every value is a bin of its own. A test there lies halfway between the
        values in the node; in other columns halfway between two bins, whatever the node holds.

    Examples
    --------
    >>> bins = Bins({"size": [1.0, 2.5]})
    >>> bins.codes("size", [0.5, 1.0, 2.0, 9.0]).tolist()
    [0, 0, 1, 2]
    """

    edges: Mapping[str, Floats]
    every_value: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        checked = {}
        for name, given in self.edges.items():
            edges = np.array(given, np.float64)
            if edges.ndim != 1 or np.isnan(edges).any() or (np.diff(edges) <= 0).any():
                raise ParameterError(
                    f"the bin edges of column {name!r} are {edges.tolist()}; rising numbers are needed"
                )
            checked[str(name)] = write_protect(edges)
        object.__setattr__(self, "edges", checked)
        object.__setattr__(self, "every_value", frozenset(self.every_value))

    __reduce__ = reduce_to_fields

    def codes(self, name: str, values: ArrayLike) -> Array:
        """Return the bin of each value of a column (of NaN: one past the last bin)."""
        given = np.asarray(values, np.float64)
        edges = self.edges[name]
        return np.where(np.isnan(given), len(edges) + 1, np.searchsorted(edges, given))


def find_bins(
    survey: Survey,
    source: GrowSource,
    where: "LocalPasses | Cluster",
    given: Bins | None,
    max_bins: int,
    quantiles: str,
) -> Bins:
    """Return the bins of all numeric columns: given, of every value, from the sketch, or found in further passes."""
    edges: dict[str, Array] = {}
    every_value: set[str] = set()
    searches: list[Search] = []
    for one in survey.columns:
        name = one.name
        if one.value_type not in ("number", "missing") or name in source.nominal:
            continue
        if given is not None and name in given.edges:
            edges[name] = given.edges[name]
            every_value |= {name} & given.every_value
        elif one.top is None:
            edges[name] = np.zeros(0)
        elif one.n_different <= max_bins:
            edges[name] = one.values()[:-1]
            every_value.add(name)
        elif quantiles == "sketch":
            asked = one.sketch.get_quantiles([k / max_bins for k in range(1, max_bins)])
            found = np.unique(np.asarray(asked, np.float64))
            edges[name] = found[found < one.highest]
        else:
            searches.append(Search.begin(name, wanted_ranks(int(one.top.sum()), max_bins), one.top))
    unknown = [] if given is None else [name for name in given.edges if name not in edges]
    if unknown:
        raise ParameterError(
            f"bins names {format_names(unknown)}; the numeric columns are {format_names(tuple(edges))}"
        )
    highest = {one.name: one.highest for one in survey.columns}
    left = searches
    while left:
        seen = where.sum_over_source(RankTask(tuple(search.look() for search in left)))
        for search, own in zip(left, seen, strict=True):
            search.learn(own)
        left = [search for search in left if not search.is_done]
    for search in searches:
        values = search.values()
        edges[search.name] = values[values < highest[search.name]]
    return Bins(edges, frozenset(every_value))


def coding_of(schema: Schema, source: GrowSource, bins: Bins) -> tuple[CodeTask, histograms.CodeLayout]:
    """Return the pass that turns values into codes, and where the codes of each column lie in a histogram."""
    edges = tuple(bins.edges.get(column.name, np.zeros(0)) for column in schema.columns)
    is_nominal = np.array([column.kind == "nominal" for column in schema.columns])
    has_missing = np.array([column.has_missing for column in schema.columns])
    of_edges = [len(one) + 1 for one in edges]
    n_codes = np.where(is_nominal, [column.n_codes for column in schema.columns], of_edges).astype(np.int64)
    missing = np.where(~is_nominal & has_missing, n_codes, -1)
    sizes = n_codes + (missing >= 0)
    most = int(sizes.max())
    if most > MOST_CODES:
        name = schema.names[int(sizes.argmax())]
        raise UnsupportedError(
            f"column {name!r} needs {most:,} codes; at most {MOST_CODES:,} are supported: use fewer bins"
        )
    starts = tuple(ranks.prefix_starts(ranks.sort_keys(one) >> np.uint64(64 - ranks.PREFIX_BITS)) for one in edges)
    dtype = np.dtype(np.uint8 if most <= 256 else np.uint16)
    is_two = np.array([column.name in bins.every_value for column in schema.columns]) & ~has_missing
    is_bit = (n_codes == 2) & (is_nominal | is_two)
    layout = histograms.CodeLayout(
        np.append(0, np.cumsum(sizes)).astype(np.int64),
        n_codes,
        missing,
        is_nominal,
        np.flatnonzero(~is_nominal & ~is_bit),
        np.flatnonzero(is_bit),
        np.flatnonzero(is_nominal & ~is_bit & (n_codes > 1)),
    )
    return CodeTask(schema, source.names, source.target, edges, starts, missing, dtype), layout


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
            name, rank, bucket.astype(np.uint64), before, top[bucket], 64 - ranks.PREFIX_BITS, np.zeros(len(rank), bool)
        )

    @property
    def is_done(self) -> bool:
        """Whether every order statistic is known."""
        return bool(self.found.all())

    def look(self) -> "Look":
        """Return what the next pass looks for."""
        prefixes, at = np.unique(self.prefix[~self.found], return_index=True)
        starts = ranks.prefix_starts(prefixes >> np.uint64(64 - ranks.PREFIX_BITS - self.shift))
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
        self.shift -= ranks.DIGIT_BITS
        deeper = (self.prefix[open_] << np.uint64(ranks.DIGIT_BITS)) | bucket.astype(np.uint64)
        self.before[open_] += through[np.arange(len(open_)), bucket] - n
        self.n[open_] = n
        self.prefix[open_] = np.where(is_one, seen.lowest[line], deeper)
        self.found[open_] = is_one | (self.shift == 0)

    def values(self) -> Array:
        """Return the order statistics, each once."""
        values: Array = ranks.values_of_keys(np.unique(self.prefix))
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
            counts = np.zeros((n, 1 << ranks.DIGIT_BITS), np.int64)
            seen.append(Seen(counts, np.full(n, ~np.uint64(0)), np.zeros(n, np.uint64), [] if look.collects else None))
        return seen

    def add(self, seen: Each, rows: Batch, _: int) -> None:
        """Look at one batch."""
        for (name, prefixes, starts, shift, _), one in zip(self.looks, seen, strict=True):
            given = rows.read(name)
            if not isinstance(given, NumberColumn):  # missing throughout this batch
                continue
            values = np.asarray(column_as_floats(given), np.float64)
            if one.keys is not None:
                one.keys.append(ranks.collect_keys(values, prefixes, starts, shift))
            else:
                ranks.count_digits(values, prefixes, starts, shift, one.counts, one.lowest, one.highest)
