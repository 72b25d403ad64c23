"""Bins of numeric columns, and the codes that they give to values.

Bins are part of the result of growing, and can be used again for another tree.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._kernels import histograms, ranks
from .._utils.arrays import Array, ArrayLike, Floats, reduce_to_fields, write_protect
from .._utils.warn import format_names
from ..data.table import Schema
from ..errors import ParameterError, UnsupportedError, show
from ._coding import CodeTask
from ._order_statistics import KEY_BITS, OrderStatisticSearch, RankTask, bin_end_ranks
from ._passes import PassRunner
from ._source import GrowSource
from ._survey import MAX_CODES, ColumnSurvey, Survey


@dataclass(frozen=True, eq=False)
class Bins:
    """The bin edges of each numeric column.

    Parameters
    ----------
    edges : dict from str to array
        For each numeric column, the highest value of each bin but the last, in ascending order. A value belongs to the
        first bin whose edge it does not exceed.
    every_value : frozenset of str
        Columns in which every value is a bin of its own. A threshold of such a column lies halfway between two values
        in the node. A threshold of another column lies halfway between two bins, whatever values the node has.

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
        for name, values in self.edges.items():
            edges = np.array(values, np.float64)
            if edges.ndim != 1 or np.isnan(edges).any() or (np.diff(edges) <= 0).any():
                raise ParameterError(
                    f"the bin edges of column {show(name)} are {edges.tolist()}; rising numbers are needed"
                )
            checked[str(name)] = write_protect(edges)
        object.__setattr__(self, "edges", checked)
        object.__setattr__(self, "every_value", frozenset(self.every_value))

    __reduce__ = reduce_to_fields

    def codes(self, name: str, values: ArrayLike) -> Array:
        """Return the bin of each value of a column; for NaN, the number after the last bin."""
        numbers = np.asarray(values, np.float64)
        edges = self.edges[name]
        return np.where(np.isnan(numbers), len(edges) + 1, np.searchsorted(edges, numbers))


def find_bins(
    survey: Survey,
    source: GrowSource,
    passes: PassRunner,
    user_bins: Bins | None,
    max_bins: int,
    quantiles: str,
) -> Bins:
    """Return the bins of all numeric columns.

    Parameters
    ----------
    survey : Survey
        What the first pass has found.
    source : GrowSource
    passes : PassRunner
        Where further passes run, if exact order statistics are needed.
    user_bins : Bins, optional
        Bins that the caller gives for some columns.
    max_bins : int
        In columns with at most this number of values, every value is a bin.
    quantiles : {"exact", "sketch"}
        How the bins of the other columns are found.
    """
    user_edges = {} if user_bins is None else user_bins.edges
    edges: dict[str, Array] = {}
    every_value: set[str] = set()
    searches: list[OrderStatisticSearch] = []
    for column in survey.columns:
        name = column.name
        if column.value_type not in ("number", "missing") or name in source.nominal:
            continue
        if name in user_edges:
            edges[name] = user_edges[name]
        elif column.prefix_counts is None:
            edges[name] = np.zeros(0)
        elif column.n_different <= max_bins:
            edges[name] = column.values()[:-1]
            every_value.add(name)
        elif quantiles == "sketch":
            edges[name] = _sketch_edges(column, max_bins)
        else:
            end_ranks = bin_end_ranks(int(column.prefix_counts.sum()), max_bins)
            searches.append(OrderStatisticSearch.begin(name, end_ranks, column.prefix_counts))
            edges[name] = np.zeros(0)  # The search replaces these edges below.
    unknown = [name for name in user_edges if name not in edges]
    if unknown:
        raise ParameterError(
            f"bins names {format_names(unknown)}; the numeric columns are {format_names(tuple(edges))}"
        )
    if user_bins is not None:
        every_value |= user_bins.every_value & user_edges.keys()
    _run_searches(searches, passes)
    highest = {column.name: column.highest for column in survey.columns}
    for search in searches:
        values = search.values()
        edges[search.name] = values[values < highest[search.name]]
    return Bins(edges, frozenset(every_value))


def code_layout(schema: Schema, source: GrowSource, bins: Bins) -> tuple[CodeTask, histograms.CodeLayout]:
    """Return the pass that turns values into codes, and where the codes of each column lie in a histogram."""
    edges = tuple(bins.edges.get(column.name, np.zeros(0)) for column in schema.columns)
    is_nominal = np.array([column.kind == "nominal" for column in schema.columns])
    has_missing = np.array([column.has_missing for column in schema.columns])
    n_bins = [len(column_edges) + 1 for column_edges in edges]
    n_codes = np.where(is_nominal, [column.n_codes for column in schema.columns], n_bins).astype(np.int64)
    missing = np.where(~is_nominal & has_missing, n_codes, -1)
    sizes = n_codes + (missing >= 0)
    dtype = _code_type(sizes, schema)
    has_every_value = np.array([column.name in bins.every_value for column in schema.columns])
    # Columns with two codes and no missing numbers are stored as bits; a numeric column only if its codes are values.
    is_pair = (n_codes == 2) & (is_nominal | (has_every_value & ~has_missing))
    layout = histograms.CodeLayout(
        offset=np.append(0, np.cumsum(sizes)).astype(np.int64),
        n_codes=n_codes,
        missing=missing,
        is_nominal=is_nominal,
        lists=np.flatnonzero(~is_nominal & ~is_pair),
        bits=np.flatnonzero(is_pair),
        coded=np.flatnonzero(is_nominal & ~is_pair & (n_codes > 1)),
    )
    starts = tuple(_edge_starts(column_edges) for column_edges in edges)
    return CodeTask(schema, source.names, source.target, edges, starts, missing, dtype), layout


def _sketch_edges(column: ColumnSurvey, max_bins: int) -> Floats:
    """Return approximate bin edges of a column from its sketch."""
    shares = [k / max_bins for k in range(1, max_bins)]
    quantiles = np.unique(np.asarray(column.sketch.get_quantiles(shares), np.float64))
    return quantiles[quantiles < column.highest]


def _run_searches(searches: list[OrderStatisticSearch], passes: PassRunner) -> None:
    """Run passes over the source until all order statistics are known."""
    unfinished = searches
    while unfinished:
        found = passes.sum_over_source(RankTask(tuple(search.next_query() for search in unfinished)))
        for search, counts in zip(unfinished, found, strict=True):
            search.learn(counts)
        unfinished = [search for search in unfinished if not search.is_done]


def _code_type(sizes: Array, schema: Schema) -> np.dtype:
    """Return the smallest type that holds the codes of all columns."""
    largest = int(sizes.max())
    if largest > MAX_CODES:
        name = schema.names[int(sizes.argmax())]
        raise UnsupportedError(
            f"column {show(name)} needs {largest:,} codes; at most {MAX_CODES:,} are supported: use fewer bins"
        )
    return np.dtype(np.uint8 if largest <= 256 else np.uint16)


def _edge_starts(edges: Array) -> Array:
    """Return the number of edges below each prefix of sort keys."""
    starts: Array = ranks.prefix_starts(ranks.sort_keys(edges) >> np.uint64(KEY_BITS - ranks.PREFIX_BITS))
    return starts
