"""Histograms of the tested column at each test, by class or with the mean of the target.

Only sums of rows are kept: a few bars for each test.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .._utils.arrays import Array, Bools, Floats
from ..core import Tree
from ..data.encoding import encode
from ..data.table import Table
from ..errors import TreeError
from ..routing import route_table

__all__ = ["Bars", "encode_shown_rows", "known_values", "node_bars"]

N_BARS = 20
MAX_CLASSES_SHOWN = 5  # the rows of all other classes are summed
QUANTILES_SHOWN = (0.005, 0.995)  # one percent of the values, at most, lies outside the bars


@dataclass(frozen=True)
class Bars:
    """The histogram of one test.

    Parameters
    ----------
    rows : array of shape (n_lines, n_bars)
        Rows in each bar: one line for each class, the most frequent first; a single line without classes.
    classes : list of int
        The class of each line; -1 for the sum of all other classes. Empty without classes.
    mean : array, optional
        For regression, the mean of the target in each bar.
    ends : tuple of float, optional
        For a numeric column, the lower end of the first bar and the upper end of the last. Values outside are counted
        in these two bars.
    codes : list of int, optional
        For a nominal column, the category of each bar; a further bar counts all other categories.
    n_missing : int
        Number of rows whose value is missing.
    """

    rows: Array
    classes: list[int]
    mean: Floats | None
    ends: tuple[float, float] | None
    codes: list[int] | None
    n_missing: int


def encode_shown_rows(tree: Tree, data: object) -> Table | None:
    """Return the rows that a figure shows (a Table, X, or (X, y)) in the schema of the tree; None stays None."""
    if data is None:
        return None
    if not tree.has_tests or tree.schema is None:
        raise TreeError(f"{tree} has no tests, so no rows can be shown in it; omit data=")
    X, y = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
    table: Table = encode(X, schema=tree.schema, target=y)
    return table


def known_values(table: Table, column: int, rows: Array | slice) -> tuple[Array, Bools]:
    """Return the known values of a column among some rows (categories as codes), and for each row if it has one."""
    schema, values = table.schema.columns[column], table.columns[column][rows]
    if schema.kind == "nominal":
        is_known: Bools = (values >= 0) & (values < len(schema.categories))
    else:
        is_known = np.isfinite(values)
    return values[is_known], is_known


def node_bars(tree: Tree, table: Table, nodes: Iterable[int]) -> dict[int, Bars]:
    """Return the histograms of some tests of a tree.

    Parameters
    ----------
    tree : Tree
    table : Table
        Rows in the schema of the tree.
    nodes : iterable of int
        The tests.

    Examples
    --------
    >>> import secateur
    >>> table = secateur.encode([[1.0], [2.0], [3.0]], target=["no", "yes", "yes"])
    >>> tree, _ = secateur.grow(table)
    >>> bars = node_bars(tree, table, [0])[0]
    >>> bars.rows.sum(axis=1).tolist(), bars.classes
    ([2, 1], [1, 0])
    """
    leaf = route_table(tree, table, None, 0)
    order = np.argsort(leaf, kind="stable")  # the rows of a branch are then neighbours
    start = np.searchsorted(leaf[order], np.arange(tree.n_nodes + 1))
    return {v: _bars(tree, table, v, order[start[v] : start[tree.end[v]]]) for v in nodes}


def _bars(tree: Tree, table: Table, v: int, rows: Array) -> Bars:
    """Return the histogram of node `v` for the rows that reach it."""
    column = int(tree.feature[v])
    values, is_known = known_values(table, column, rows)
    n_missing, ends, codes = int(np.count_nonzero(~is_known)), None, None
    if table.schema.columns[column].kind == "nominal":
        bar, codes = _group_rare_values(values, N_BARS)
        n_bars = int(bar.max(initial=len(codes) - 1)) + 1
    else:
        ends = _bar_ends(values, float(tree.threshold[v]))
        n_bars = N_BARS
        bar = np.clip(((values - ends[0]) / (ends[1] - ends[0]) * n_bars).astype(int), 0, n_bars - 1)
    if table.target is None or table.schema.has_numeric_target:
        n_rows = np.bincount(bar, minlength=n_bars)
        mean = None
        if table.target is not None:
            mean = np.bincount(bar, table.target[rows[is_known]], minlength=n_bars) / np.maximum(n_rows, 1)
        return Bars(n_rows[None, :], [], mean, ends, codes, n_missing)
    line, classes = _group_rare_values(table.target[rows[is_known]], MAX_CLASSES_SHOWN)
    n_lines = int(line.max(initial=len(classes) - 1)) + 1
    n_rows = np.bincount(line * n_bars + bar, minlength=n_lines * n_bars).reshape(n_lines, n_bars)
    line_classes = [*classes, *[-1] * (n_lines - len(classes))]
    return Bars(n_rows, line_classes, None, ends, codes, n_missing)


def _group_rare_values(values: Array, max_values: int) -> tuple[Array, list[int]]:
    """Return the group of each value, and the most frequent values.

    Each of the most frequent values is a group of its own, the most frequent first; all others are one group after
    them.
    """
    distinct, index = np.unique(values, return_inverse=True)
    frequent = np.argsort(-np.bincount(index, minlength=len(distinct)), kind="stable")[:max_values]
    group = np.full(len(distinct), len(frequent))
    group[frequent] = np.arange(len(frequent))
    return group[index], distinct[frequent].tolist()


def _bar_ends(values: Array, threshold: float) -> tuple[float, float]:
    """Return the ends of a histogram that contains the threshold and nearly all values."""
    ends = [] if not np.isfinite(threshold) else [threshold]
    ends += np.quantile(values, QUANTILES_SHOWN).tolist() if len(values) else [0.0, 1.0]
    low, high = min(ends), max(ends)
    return low, high if high > low else low + (abs(low) or 1.0) * 1e-6
