"""From the kernels' tables to a Tree in pre-order and its Counts."""

from itertools import pairwise
from typing import Any

import numpy as np

from .._kernels import growing, structure, tables
from .._utils.arrays import Array, Floats, write_protect
from ..core import MAX_ROUNDED_DIGITS, NO_SAMPLES, Counts, EvaluationLog, Tree
from ..data.table import Table
from .grower import Grown
from .prepare import Prepared, midpoint

_EVERY = np.empty(0, np.intp)  # rows of a table: all, in order
_NO_CODES = np.empty(0, np.int64)
_NOTHING = np.empty((0, 0))  # values that nobody asks for


def assemble(
    grown: Grown,
    data: Prepared,
    table: Table,
    rows: Array | None = None,
    matrix: Array | None = None,
    *,
    is_whole: bool,
    has_births: bool,
    exponent: int,
    has_rounded: bool = True,
) -> tuple[Tree, Counts]:
    """Return the tree and its growing counts, which are `2**exponent` times those of the kernels.

    It was grown on these rows of the table (None: all), whose columns may be given as one `matrix`.
    `has_rounded` is False for trees that nobody will see: they need no numbers to read.
    """
    by_class = np.empty((len(grown.nodes), grown.reals.shape[1] - 2), np.int64 if is_whole else np.float64)
    parent, end, right, feature, default, split_order, score, test = tables.preorder_arrays(
        np.ascontiguousarray(grown.nodes), grown.reals, data.lists.feature_of_slot, by_class, has_births
    )
    n_codes = _NO_CODES if data.codes is None else data.codes.n_codes
    branch_start, branch = tables.category_branches(test, default, grown.branch, n_codes, len(data.lists.entries))
    threshold = _thresholds(test, feature, data, table, rows, matrix)
    fields: dict[str, Any] = {
        "parent": parent, "feature": feature, "threshold": threshold,
        "rounded": _rounded(test, feature, data, table, rows) if has_rounded else threshold,
        "branch_start": branch_start, "branch": branch, "default": default, "score": score, "split_order": split_order,
    }  # fmt: skip
    for array in (*fields.values(), by_class, end, right):
        array.flags.writeable = False
    tree = object.__new__(Tree)  # right by construction, as are its counts: to check takes longer than to grow
    ids = write_protect(np.arange(len(end), dtype=np.int32))
    about = {"schema": table.schema, "key": None, "history": NO_SAMPLES, "evaluation_log": EvaluationLog()}
    tree.__dict__.update(fields, ids=ids, end=end, right=right, has_tests=True, **about)
    if not is_whole:  # weights of inner nodes as the sum over their leaves, free of the rounding of growing
        own = np.where(tree.is_leaf[:, None], by_class, 0.0)
        by_class = write_protect(np.ldexp(structure.sum_upwards(tree.parent, own), exponent))
    counts = object.__new__(Counts)
    counts.__dict__.update(tree=tree, by_class=by_class, sample="grow", n_rows=None, sketch=None)
    return tree, counts


def _thresholds(
    test: Array, feature: Array, data: Prepared, table: Table, rows: Array | None, matrix: Array | None
) -> Array:
    """Halfway between the values around the cut; infinity where present is split from missing."""
    matrix = table.matrix if matrix is None else matrix
    matrix = matrix if len(data.lists.entries) else _NOTHING  # then there are columns of two values only
    if matrix is not None and len(data.two_valued) == len(data.values):  # all from one array: no need to go by column
        return tables.split_thresholds(test, feature, data.cuts, matrix, _EVERY if rows is None else rows)
    threshold = np.full(len(feature), np.nan)
    numeric, low, high = _around(np.flatnonzero(test[1] == growing.NUMERIC), test, feature, data, table, rows)
    threshold[numeric] = np.where(test[3, numeric] < 0, np.inf, midpoint(low, high))
    return threshold


def _rounded(test: Array, feature: Array, data: Prepared, table: Table, rows: Array | None) -> Array:
    """The shortest number between the values around each cut, for people."""
    rounded = np.full(len(feature), np.nan)
    two, of_column = data.two_valued, np.full(table.n_columns, np.nan)
    low, high = (np.array([getattr(known, end)[i] for known in two.values()]) for end, i in (("high", 0), ("low", 1)))
    of_column[list(two)] = shortest_decimals(low, midpoint(low, high), high)
    numeric = np.flatnonzero(test[1] == growing.NUMERIC)
    rounded[numeric] = of_column[feature[numeric]]
    numeric, low, high = _around(numeric[np.isnan(rounded[numeric])], test, feature, data, table, rows)
    is_cut = test[3, numeric] >= 0
    low, high = low[is_cut], high[is_cut]
    rounded[numeric[is_cut]] = shortest_decimals(low, midpoint(low, high), high)
    return rounded


def shortest_decimals(low: Floats, at: Floats, high: Floats) -> Floats:
    """Return numbers d with low <= d < high and as few digits after the point as can be.

    Of two that are as short it is the one nearer to `at`, the lower one in a tie. Where none is
    found, or `at` is not finite, it is `at` itself.
    """
    found = np.array(at, np.float64)
    waiting = np.flatnonzero(np.isfinite(found))
    for n_digits in range(MAX_ROUNDED_DIGITS + 1):
        if not len(waiting):
            break
        scale, exact = 10.0**n_digits, found[waiting]
        least, limit = low[waiting], high[waiting]
        with np.errstate(over="ignore", invalid="ignore"):
            down, up = np.floor(exact * scale) / scale, np.ceil(exact * scale) / scale
            is_up = (up < limit) & (~(down >= least) | (up - exact < exact - down))
            short = np.where(is_up, up, down) + 0.0  # never -0
            is_found = (least <= short) & (short < limit)
        found[waiting[is_found]] = short[is_found]
        waiting = waiting[~is_found]
    return found


def _around(
    numeric: Array, test: Array, feature: Array, data: Prepared, table: Table, rows: Array | None
) -> tuple[Array, Array, Array]:
    """Nodes that test numbers, column by column, and the values around their cuts; any where it is for missing."""
    numeric = numeric[np.argsort(feature[numeric], kind="stable")]
    below, above = test[2, numeric], test[3, numeric]
    low, high = np.empty(len(numeric)), np.empty(len(numeric))
    edges = np.append(np.flatnonzero(np.diff(feature[numeric], prepend=-1)), len(numeric))
    for first, last in pairwise(edges):
        here = slice(first, last)
        j = int(feature[numeric[first]])
        known = data.values.get(j)
        if known is None:
            column = table.columns[j] if rows is None else table.columns[j][rows]
            low[here], high[here] = column[below[here]], column[above[here]]
        elif not known.is_binned:
            low[here], high[here] = known.high[below[here]], known.low[above[here]]
        else:  # a cut between bins is at the edge of the lower one, whatever the node holds
            bins = below[here] if known.codes is None else known.codes[below[here]].astype(np.intp)
            low[here], high[here] = known.high[bins], known.low[np.minimum(bins + 1, len(known.low) - 1)]
    return numeric, low, high
