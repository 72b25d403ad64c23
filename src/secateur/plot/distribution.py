"""How the rows that reach a test are spread over the column it asks, by class or with the mean of the target.

Only sums: a few bars for each test.
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
MOST_CLASSES = 5  # others are added up


@dataclass(frozen=True)
class Bars:
    """The bars of one test.

    Parameters
    ----------
    rows : array of shape (n_kinds, n_bars)
        Rows in each bar: by class, the most frequent first; a single line without classes.
    classes : list of int
        The class of each line; -1 for all others together. Empty without classes.
    mean : array, optional
        Regression: the mean of the target in each bar.
    ends : tuple of float, optional
        A column of numbers: where the first bar begins and the last ends. What lies outside, one
        percent at most unless a threshold does, is in these two.
    codes : list of int, optional
        A column of categories: that of each bar; a bar more is all others.
    n_missing : int
    """

    rows: Array
    classes: list[int]
    mean: Floats | None
    ends: tuple[float, float] | None
    codes: list[int] | None
    n_missing: int


def encode_shown_rows(tree: Tree, data: object) -> Table | None:
    """Return rows to be shown, coded as the tree was grown: a Table, X, or (X, y); None stays None."""
    if data is None:
        return None
    if not tree.has_tests or tree.schema is None:
        raise TreeError(f"{tree} has no tests, so no rows can be shown in it; omit data=")
    X, y = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
    table: Table = encode(X, schema=tree.schema, target=y)
    return table


def known_values(table: Table, column: int, rows: Array | slice) -> tuple[Array, Bools]:
    """Return the values of a column that are known (categories as codes), and which they are."""
    about, values = table.schema.columns[column], table.columns[column][rows]
    is_nominal = about.kind == "nominal"
    is_known = (values >= 0) & (values < len(about.categories)) if is_nominal else np.isfinite(values)
    return values[is_known], is_known


def node_bars(tree: Tree, table: Table, nodes: Iterable[int]) -> dict[int, Bars]:
    """Return the bars of some tests of a tree.

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
    order = np.argsort(leaf, kind="stable")  # the rows under a node are then neighbours
    ends = np.searchsorted(leaf[order], np.arange(tree.n_nodes + 1))
    return {v: _bars(tree, table, v, order[ends[v] : ends[tree.end[v]]]) for v in nodes}


def _bars(tree: Tree, table: Table, v: int, rows: Array) -> Bars:
    column = int(tree.feature[v])
    values, is_known = known_values(table, column, rows)
    n_missing, ends, codes = int(np.count_nonzero(~is_known)), None, None
    if table.schema.columns[column].kind == "nominal":
        bar, codes = _most(values, N_BARS)
        n_bars = int(bar.max(initial=len(codes) - 1)) + 1
    else:
        ends = _ends(values, float(tree.threshold[v]))
        n_bars = N_BARS
        bar = np.clip(((values - ends[0]) / (ends[1] - ends[0]) * n_bars).astype(int), 0, n_bars - 1)
    if table.target is None or table.schema.has_numeric_target:
        n = np.bincount(bar, minlength=n_bars)
        target = None if table.target is None else table.target[rows[is_known]]
        mean = None if target is None else np.bincount(bar, target, minlength=n_bars) / np.maximum(n, 1)
        return Bars(n[None, :], [], mean, ends, codes, n_missing)
    line, classes = _most(table.target[rows[is_known]], MOST_CLASSES)
    n_lines = int(line.max(initial=len(classes) - 1)) + 1
    counted = np.bincount(line * n_bars + bar, minlength=n_lines * n_bars).reshape(n_lines, n_bars)
    return Bars(counted, [*classes, *[-1] * (n_lines - len(classes))], None, ends, codes, n_missing)


def _most(values: Array, n_most: int) -> tuple[Array, list[int]]:
    """The place of each value among the most frequent ones, the others in one place behind them; and those."""
    found, at = np.unique(values, return_inverse=True)
    most = np.argsort(-np.bincount(at, minlength=len(found)), kind="stable")[:n_most]
    place = np.full(len(found), len(most))
    place[most] = np.arange(len(most))
    return place[at], found[most].tolist()


def _ends(values: Array, threshold: float) -> tuple[float, float]:
    ends = [] if not np.isfinite(threshold) else [threshold]
    ends += np.quantile(values, [0.005, 0.995]).tolist() if len(values) else [0.0, 1.0]
    low, high = min(ends), max(ends)
    return low, high if high > low else low + (abs(low) or 1.0) * 1e-6
