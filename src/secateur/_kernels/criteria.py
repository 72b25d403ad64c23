"""Splitting criteria, and the statistics of a node that the search for its best split starts from.

A criterion is a function of the class weights of a node that returns

    weight * G(class shares),

where G is concave, exactly 0 on pure nodes, and at least the error of the node. The gain of a split is the value of the
node less the values of its children. A class weight can be a rounding error below 0, because weights are subtracted
from sums of weights.

To add a criterion, write its function below and call `_declare` with its name and function. Every split is then scored
by that function. Four criteria have faster code besides, which `fast_path` selects:

    gini, sqrt        scores of many splits in one loop, for sorted lists, nominal and two-valued columns
    entropy           if all rows have weight 1: x log2 x from a table of whole numbers, whose sums are exact
    squared_error     has no impurity function: a node keeps its weight and the sum of its deviations
"""

from typing import NamedTuple

import cython
import numpy as np
import numpy.typing as npt
from cython.cimports.libc.math import INFINITY, exp2, floor, log, log1p, log2, rint, sqrt
from cython.cimports.secateur._kernels.context import (
    END,
    ENTROPY_TABLE,
    GINI,
    N_FIELDS,
    OTHER,
    SQRT,
    SQUARED_ERROR,
    START,
    Criterion,
    weight_of,
)

Floats = npt.NDArray[np.float64]

RELATIVE_TIE = cython.declare(
    cython.double, 1e-12
)  # scores that differ by less than this share of the impurity are tied
MIN_ROWS_GAIN_RATIO = cython.declare(cython.double, 2)  # minimum size of two branches with the gain ratio
CENTRE_BITS = cython.declare(cython.int, 20)  # the centre is a multiple of the range of the targets over 2**20
MIN_IMPURITY = cython.declare(cython.double, 1e-300)
NO_TABLE = np.zeros(1, np.int64)
IMPURITIES: dict[str, int] = {}  # address of the function of each criterion


class CriterionSpec(NamedTuple):
    """A criterion as the kernels read it.

    Entropy of whole counts reads x log2 x from a table of whole numbers. Sums of table entries are exact, so equal
    splits have equal scores, whatever the order of classes or columns.
    """

    name: str  # a key of IMPURITIES, or "squared_error"
    table: npt.NDArray[np.int64] = NO_TABLE
    unit: float = 0.0  # the table contains multiples of this number; 0 if there is no table


def entropy_table(n: int) -> CriterionSpec:
    """Return the entropy criterion with a table, for nodes of at most n rows that all have weight 1.

    The table contains x log2 x for x = 0..n, rounded to multiples of the smallest unit that does not overflow int64.
    """
    x = np.arange(n + 1, dtype=np.float64)
    values = x * np.log2(np.maximum(x, 1))
    unit = 2.0 ** (np.ceil(np.log2(max(values.max(), 1.0))) - 60)
    return CriterionSpec("entropy", np.rint(values / unit).astype(np.int64), float(unit))


def impurity(spec: CriterionSpec, counts: Floats, total: float) -> float:
    """Return the weight of a node times its impurity, from the weight of each class and their sum."""
    criterion: Criterion
    weights: cython.double[::1] = np.ascontiguousarray(counts, np.float64)
    set_criterion(cython.address(criterion), spec)
    n_classes = cython.cast(cython.int, weights.shape[0])
    weight: cython.double = total
    return impurity_of(cython.address(criterion), cython.address(weights[0]), n_classes, weight)


def _declare(name, formula):
    """Register the impurity function of a criterion under its name."""
    IMPURITIES[name] = cython.cast(cython.size_t, formula)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _gini(
    criterion: cython.pointer[Criterion], counts: cython.p_double, n_classes: cython.int, total: cython.double
) -> cython.double:
    """Sum of p (1 - p) over the classes."""
    result = 0.0
    if total <= 0:
        return 0.0
    for c in range(n_classes):
        result += counts[c] * (total - counts[c])
    return result / total


_declare("gini", _gini)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _entropy(
    criterion: cython.pointer[Criterion], counts: cython.p_double, n_classes: cython.int, total: cython.double
) -> cython.double:
    """Half the entropy in bits: half the sum of -p log2 p. Half, so that it is at least the error."""
    result = 0.0
    for c in range(n_classes):
        if counts[c] > 0:
            result += counts[c] * log1p(max(total - counts[c], 0.0) / counts[c]) / (2 * log(2.0))
    return result


_declare("entropy", _entropy)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sqrt(
    criterion: cython.pointer[Criterion], counts: cython.p_double, n_classes: cython.int, total: cython.double
) -> cython.double:
    """Half the sum of sqrt(p (1 - p)) over the classes."""
    result = 0.0
    if n_classes == 2:
        return sqrt(max(counts[0], 0.0) * max(counts[1], 0.0))
    for c in range(n_classes):
        result += sqrt(max(counts[c], 0.0) * max(total - counts[c], 0.0))
    return 0.5 * result


_declare("sqrt", _sqrt)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sqrt_pairs(
    criterion: cython.pointer[Criterion], counts: cython.p_double, n_classes: cython.int, total: cython.double
) -> cython.double:
    """Sum of sqrt(p q) over pairs of classes."""
    result = 0.0
    for c in range(n_classes):
        for d in range(c):
            result += sqrt(max(counts[c], 0.0) * max(counts[d], 0.0))
    return result


_declare("sqrt_pairs", _sqrt_pairs)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _error(
    criterion: cython.pointer[Criterion], counts: cython.p_double, n_classes: cython.int, total: cython.double
) -> cython.double:
    """Error rate of predicting the largest class: 1 - the largest p."""
    largest = 0.0
    for c in range(n_classes):
        largest = max(largest, counts[c])
    return max(total - largest, 0.0)


_declare("error", _error)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _entropy_units(
    criterion: cython.pointer[Criterion], counts: cython.p_double, n_classes: cython.int, total: cython.double
) -> cython.longlong:
    """Twice the entropy criterion in units of the table."""
    units = criterion.table[cython.cast(cython.Py_ssize_t, total)]
    for c in range(n_classes):
        units -= criterion.table[cython.cast(cython.Py_ssize_t, counts[c])]
    return units


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _entropy_from_table(
    criterion: cython.pointer[Criterion], counts: cython.p_double, n_classes: cython.int, total: cython.double
) -> cython.double:
    """The entropy criterion of whole counts."""
    return 0.5 * criterion.unit * _entropy_units(criterion, counts, n_classes, total)


def set_criterion(criterion, spec):
    """Translate a `CriterionSpec` into the structure that the kernels read; the caller keeps the table alive."""
    table: cython.longlong[::1] = spec.table
    address: cython.size_t = IMPURITIES.get(spec.name, 0)
    criterion.impurity = cython.cast(Impurity, address)
    criterion.table = cython.address(table[0])
    criterion.unit = spec.unit
    criterion.fast_path = OTHER
    if spec.unit:
        criterion.fast_path = ENTROPY_TABLE
        criterion.impurity = _entropy_from_table
    elif spec.name == "gini":
        criterion.fast_path = GINI
    elif spec.name == "sqrt":
        criterion.fast_path = SQRT
    elif spec.name == "squared_error":
        criterion.fast_path = SQUARED_ERROR


def units_of(score, unit):
    """Return a score in multiples of a unit, rounded down; minus infinity becomes -2**62, below all scores."""
    bit: cython.longlong = 1
    return cython.cast(cython.longlong, floor(score / unit)) if score > -INFINITY else -(bit << 62)


def impurity_of_sides(context, scratch, n_lines, total):
    """Compute the impurity of both children for a split at every two-valued column.

    `scratch.ones` holds one line of columns for each class in the node: the weight of its rows that go right.
    `scratch.class_totals` holds the weight of each of these classes. Fills `scratch.right_weight` with the weight that
    goes right, and `scratch.side_impurity` with the sum of the impurities of both children, which is undefined if one
    child is empty. Costs O(classes x columns) with a fast path; otherwise two calls of the criterion per column.
    """
    criterion = cython.address(context.criterion)
    n_columns: cython.Py_ssize_t = context.bit_line_bytes
    ones = scratch.ones
    right = scratch.right_weight
    out = scratch.side_impurity
    spare = scratch.column_spare
    for j in range(n_columns):
        right[j] = 0
        out[j] = 0
    if criterion.fast_path == GINI:
        _gini_of_sides(context, scratch, n_lines, total)
        return
    for h in range(n_lines):
        line = ones + h * n_columns
        for j in range(n_columns):
            right[j] += line[j]
    if criterion.fast_path == SQRT:
        _sqrt_of_sides(context, scratch, n_lines, total)
        return
    for j in range(n_columns):
        for h in range(n_lines):
            spare[h] = ones[h * n_columns + j]
        out[j] = impurity_of(criterion, spare, n_lines, right[j])
        for h in range(n_lines):
            spare[h] = scratch.class_totals[h] - spare[h]
        out[j] += impurity_of(criterion, spare, n_lines, total - right[j])


def _gini_of_sides(context, scratch, n_lines, total):
    """Compute the gini criterion of both children of every column, in one pass over the classes.

    The criterion of a child is its weight minus the sum of the squared class weights divided by its weight.
    """
    n_columns: cython.Py_ssize_t = context.bit_line_bytes
    right = scratch.right_weight
    squares_right = scratch.side_impurity  # holds sums of squares until the last loop writes the impurity
    squares_left = scratch.column_spare
    for j in range(n_columns):
        squares_left[j] = 0
    for h in range(n_lines):
        class_total = scratch.class_totals[h]
        line = scratch.ones + h * n_columns
        for j in range(n_columns):
            right_class = line[j]
            left_class = class_total - right_class
            right[j] += right_class
            squares_right[j] += right_class * right_class
            squares_left[j] += left_class * left_class
    for j in range(n_columns):
        right_total = right[j]
        left_total = total - right_total
        right_impurity = (right_total * right_total - squares_right[j]) / right_total
        left_impurity = (left_total * left_total - squares_left[j]) / left_total
        scratch.side_impurity[j] = right_impurity + left_impurity


def _sqrt_of_sides(context, scratch, n_lines, total):
    """Compute half the sum of sqrt(p (1 - p)), times the weight, of both children of every column."""
    n_columns: cython.Py_ssize_t = context.bit_line_bytes
    right = scratch.right_weight
    out = scratch.side_impurity
    for h in range(n_lines):
        class_total = scratch.class_totals[h]
        line = scratch.ones + h * n_columns
        for j in range(n_columns):
            right_class = line[j]
            left_class = class_total - right_class
            left_total = total - right[j]
            right_product = max(right_class * (right[j] - right_class), 0.0)
            left_product = max(left_class * (left_total - left_class), 0.0)
            out[j] += 0.5 * (sqrt(right_product) + sqrt(left_product))


def class_stats(context, n_rows, counts, stats):
    """Fill the statistics of a node from the weight of each class. Costs O(classes)."""
    stats.n_rows = n_rows
    stats.counts = counts
    stats.n_present_classes = 0
    stats.deviation = stats.centre = 0
    weight = sum_of_squares = 0.0
    for c in range(context.n_sums):
        weight += counts[c]
        sum_of_squares += counts[c] * counts[c]
        if counts[c] > 0:
            if stats.n_present_classes == 0:
                stats.first_class = c
            stats.last_class = c
            stats.n_present_classes += 1
    stats.weight = weight
    stats.sum_of_squares = sum_of_squares
    stats.size = stats.weight if context.has_weight_limits else cython.cast(cython.double, n_rows)
    stats.impurity = impurity_of(cython.address(context.criterion), counts, context.n_sums, stats.weight)
    if context.criterion.fast_path == ENTROPY_TABLE:
        stats.entropy_units = _entropy_units(cython.address(context.criterion), counts, context.n_sums, stats.weight)
    _set_limits(context, stats)


def number_stats(context, lists, node, stats):
    """Fill the statistics of a regression node; return False if no column is left to test or all targets are equal.

    With W the weight of the node, S the sum of weight times (target - centre), and W_L, S_L, W_R the same of the
    children, the gain of a split is

        (S_L W - S W_L)^2 / (W W_L W_R),

    so a scan adds up weights and deviations, and compares without dividing. The centre is near the mean of the node, so
    no digits are lost if the targets of the node are large and differ little. The centre is also a round number, so
    sums of whole numbers stay exact. Costs O(rows). The rows are read from the first list that this node still has.
    """
    stats.n_rows = node[END] - node[START]
    if context.code_entries != cython.NULL:
        entries = cython.cast(cython.typeof(lists), context.code_entries)
        return _sum_deviations(context, entries + node[START], stats)
    for slot in range(context.n_lists):
        if (node[N_FIELDS + (slot >> 6)] >> (slot & 63)) & 1:
            return _sum_deviations(context, lists + slot * context.n_rows + node[START], stats)
    return False


def _sum_deviations(context, entries, stats):
    """Choose the centre of a node and add up weights and deviations; return False if all targets are equal."""
    target = context.target
    shift = context.shift
    n_rows = stats.n_rows
    first = target[entries[0] >> shift]
    low = first
    high = first
    distance = weight = deviation = sse = 0.0
    for i in range(n_rows):
        value = target[entries[i] >> shift]
        low = min(low, value)
        high = max(high, value)
        distance += value - first
    if low == high:
        return False
    # A whole number of units above the lowest target: at most 2**21 units, so that no digit is lost.
    unit = exp2(floor(log2(high - low)) - CENTRE_BITS)
    stats.centre = low + rint((first + distance / n_rows - low) / unit) * unit
    for i in range(n_rows):
        row = entries[i] >> shift
        row_deviation = target[row] - stats.centre
        added = weight_of(context, row)
        weight += added
        deviation += added * row_deviation
        sse += added * row_deviation * row_deviation
    sse -= deviation * deviation / weight  # around the mean
    stats.weight = weight
    stats.deviation = deviation
    stats.size = weight if context.has_weight_limits else cython.cast(cython.double, n_rows)
    stats.impurity = max(MIN_IMPURITY, sse)
    _set_limits(context, stats)
    return True


def _set_limits(context, stats):
    """Set the tolerance of ties and the smallest size of a child from the impurity of a node and the options.

    Estimates are not limited yet. Shares of classes are quotients of exact sums; means have rounding errors, and the
    targets lie between -1 and 1.
    """
    stats.is_limited = context.sign_of_slot != cython.NULL
    stats.sign = 0
    stats.lower = -INFINITY
    stats.upper = INFINITY
    stats.estimate_tie = RELATIVE_TIE if context.criterion.fast_path == SQUARED_ERROR else 0.0
    stats.tie = RELATIVE_TIE * stats.impurity
    stats.min_child_size = context.min_leaf_size
    if context.is_gain_ratio:
        stats.min_child_size = max(MIN_ROWS_GAIN_RATIO, context.min_leaf_size)
