"""Bins of numeric columns, and what a survey makes of a source: its schema, its codes.

Bins once fixed are part of the result and can be given again.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._kernels import histograms, ranks
from ..data.arrays import Array, ArrayLike, Floats, Level, rebuilt, sealed
from ..data.remarks import listed, tell, tell_categories
from ..data.table import Column, Schema
from ..data.target import encode_target
from ..errors import DataError, ParameterError, UnsupportedError
from ._parts import CodeTask
from ._ranks import RankTask, Search, wanted_ranks
from ._survey import Survey, Surveyed
from ._where import Site

MOST_ENTROPY_ROWS = 1 << 26  # its table takes 8 bytes a row
MOST_CODES = 1 << 16


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
            checked[str(name)] = sealed(edges)
        object.__setattr__(self, "edges", checked)
        object.__setattr__(self, "every_value", frozenset(self.every_value))

    __reduce__ = rebuilt

    def codes(self, name: str, values: ArrayLike) -> Array:
        """Return the bin of each value of a column (of NaN: one past the last bin)."""
        given = np.asarray(values, np.float64)
        edges = self.edges[name]
        return np.where(np.isnan(given), len(edges) + 1, np.searchsorted(edges, given))


def read_schema(survey: Survey, source: Site, criterion: str) -> tuple[Schema, Array]:
    """Return what the columns are, and the rows of each class."""
    if survey.n_rows == 0:
        raise DataError("the source has 0 rows; at least one is needed")
    if criterion == "entropy" and survey.n_rows > MOST_ENTROPY_ROWS:
        raise UnsupportedError(
            f"criterion='entropy' keeps a table of 8 bytes per row; the source has {survey.n_rows:,} rows, at most "
            f"{MOST_ENTROPY_ROWS:,} are supported; criterion='gini' or 'sqrt' needs no table"
        )
    classes = source.classes
    if classes is None:
        labels = list(survey.labels)
        _check_labels(labels, source.target)
        classes = encode_target(labels)[1]
    counts = np.array([survey.labels.get(label, 0) for label in classes.tolist()], np.int64)
    if len(classes) > MOST_CODES:
        raise UnsupportedError(
            f"target {source.target!r} has {len(classes):,} classes; at most {MOST_CODES:,} are supported"
        )
    if np.count_nonzero(counts) == 1:
        tell(f"every row has the class {classes[int(np.argmax(counts))]!r}; the tree is one leaf")
    columns = tuple(_column(one, source, survey.n_rows) for one in survey.columns)
    return Schema(columns, sealed(classes), source.has_names), counts


def _column(one: Surveyed, source: Site, n_rows: int) -> Column:
    name = source.shown.get(one.name, one.name)
    if one.family in ("number", "missing") and one.name not in source.nominal:
        if not source.is_memory and one.is_large:
            tell(
                f"column {name!r} holds whole numbers beyond 2**53, where neighbours become equal as float64; "
                "subtract an offset, or pass it in nominal= if it is an identifier"
            )
        if not source.is_memory and one.n_infinite > n_rows / 100:
            tell(f"column {name!r} is infinite in {one.n_infinite:,} of {n_rows:,} rows; they are ordered as values")
        return Column(name, "numeric", (), one.has_missing)
    categories = one.categories()
    if not source.is_memory:
        tell_categories(name, categories)
    if len(categories) + one.has_missing > MOST_CODES:
        raise UnsupportedError(
            f"column {name!r} has {len(categories):,} categories; at most {MOST_CODES:,} are supported here: is it an "
            "identifier? Leave it out with columns=, or group the rare categories"
        )
    return Column(name, "nominal", categories, one.has_missing)


def _check_labels(labels: list[Level], name: str) -> None:
    if len({isinstance(label, str) for label in labels}) > 1:
        raise DataError(f"target {name!r} holds {listed(labels[:5])}: text in one partition, numbers in another")


def find_bins(survey: Survey, source: Site, given: Bins | None, max_bins: int, quantiles: str) -> Bins:
    """Return the bins of all numeric columns: given, of every value, from the sketch, or found in further passes."""
    edges: dict[str, Array] = {}
    every_value: set[str] = set()
    searches: list[Search] = []
    for one in survey.columns:
        name = source.shown.get(one.name, one.name)
        if one.family not in ("number", "missing") or one.name in source.nominal:
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
            searches.append(Search.begin(one.name, wanted_ranks(int(one.top.sum()), max_bins), one.top))
    unknown = [] if given is None else [name for name in given.edges if name not in edges]
    if unknown:
        raise ParameterError(f"bins names {listed(unknown)}; the numeric columns are {listed(tuple(edges))}")
    highest = {one.name: one.highest for one in survey.columns}
    left = searches
    while left:
        seen = source.where.over_source(RankTask.of(left))
        for search, own in zip(left, seen.columns, strict=True):
            search.learn(own)
        left = [search for search in left if not search.is_done]
    for search in searches:
        values = search.values()
        edges[source.shown.get(search.name, search.name)] = values[values < highest[search.name]]
    return Bins(edges, frozenset(every_value))


def code_task(schema: Schema, source: Site, bins: Bins) -> CodeTask:
    """Return the pass that turns values into codes."""
    edges = tuple(bins.edges.get(column.name, np.zeros(0)) for column in schema.columns)
    edges = tuple(sealed(np.array(one)) for one in edges)
    missing = np.array(
        [
            len(one) + 1 if column.kind == "numeric" and column.has_missing else -1
            for column, one in zip(schema.columns, edges, strict=True)
        ]
    )
    n_codes = [
        len(one) + 1 + column.has_missing if column.kind == "numeric" else column.n_codes
        for column, one in zip(schema.columns, edges, strict=True)
    ]
    most = max(n_codes)
    if most > MOST_CODES:
        name = schema.names[n_codes.index(most)]
        raise UnsupportedError(
            f"column {name!r} needs {most:,} codes; at most {MOST_CODES:,} are supported: use fewer bins"
        )
    starts = tuple(ranks.starts_of(ranks.keys_of(one) >> np.uint64(64 - ranks.TOP_BITS)) for one in edges)
    dtype = np.dtype(np.uint8 if most <= 256 else np.uint16)
    return CodeTask(schema, source.names, source.target, edges, starts, missing, dtype)


def layout_of(schema: Schema, bins: Bins, code: CodeTask) -> histograms.Columns:
    """Return where the codes of each column lie in a histogram, and how each is looked at."""
    is_nominal = np.array([column.kind == "nominal" for column in schema.columns])
    n_codes = np.array(
        [
            column.n_codes if column.kind == "nominal" else len(edges) + 1
            for column, edges in zip(schema.columns, code.edges, strict=True)
        ],
        np.int64,
    )
    sizes = n_codes + (code.missing >= 0)
    is_two = np.array([column.name in bins.every_value and not column.has_missing for column in schema.columns])
    is_bit = (n_codes == 2) & (is_nominal | is_two)
    return histograms.Columns(
        np.append(0, np.cumsum(sizes)).astype(np.int64),
        n_codes,
        code.missing.astype(np.int64),
        is_nominal,
        np.flatnonzero(~is_nominal & ~is_bit),
        np.flatnonzero(is_bit),
        np.flatnonzero(is_nominal & ~is_bit & (n_codes > 1)),
    )
