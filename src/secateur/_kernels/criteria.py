"""Splitting criteria.

All of them are measured as `weight * G(proportions)`: concave, 0 on pure nodes, at least the
errors of the node. Weights are subtracted from sums of weights, so a count can come out a
rounding below 0.

A new criterion is its number in `NUMBERS` and its branch of `impurity_of`; the scans that know a
criterion by its number are shortcuts.
"""

from typing import NamedTuple

import cython
import numpy as np
import numpy.typing as npt
from cython.cimports.libc.math import INFINITY, floor, log, log1p, sqrt
from cython.cimports.secateur._kernels import growing

Floats = npt.NDArray[np.float64]

# A new one takes the next number that is free; only those up to 6 have a name in growing.pxd.
NUMBERS = {"gini": 0, "entropy": 1, "sqrt": 2, "sqrt_pairs": 3, "error": 4}
ENTROPY_TABLE, SQUARES = 5, 6


class Criterion(NamedTuple):
    """A criterion as the kernels take it.

    Entropy of whole counts reads x log2 x from a table of whole numbers. Sums of table
    entries are exact, so equal splits have equal scores whatever the order of classes or
    columns.
    """

    number: int
    table: npt.NDArray[np.int64]
    unit: float = 0.0


def criterion_of(name: str) -> Criterion:
    """Return a criterion for any weights."""
    return Criterion(NUMBERS[name], np.zeros(1, np.int64))


def squares() -> Criterion:
    """Return the criterion of regression."""
    return Criterion(SQUARES, np.zeros(1, np.int64))


def entropy_table(n: int) -> Criterion:
    """x log2 x for x = 0..n as whole multiples of a unit so small that int64 just holds them."""
    x = np.arange(n + 1, dtype=np.float64)
    values = x * np.log2(np.maximum(x, 1))
    unit = 2.0 ** (np.ceil(np.log2(max(values.max(), 1.0))) - 60)
    return Criterion(ENTROPY_TABLE, np.rint(values / unit).astype(np.int64), float(unit))


def impurity(criterion: Criterion, counts: Floats, total: float) -> float:
    """`total * G(counts / total)` under the criterion."""
    measure: growing.Measure
    own: cython.double[::1] = np.ascontiguousarray(counts, np.float64)
    table: cython.longlong[::1] = criterion.table
    weight: cython.double = total
    measure.number = criterion.number
    measure.table = cython.address(table[0])
    measure.unit = criterion.unit
    return impurity_of(cython.address(measure), cython.address(own[0]), cython.cast(cython.int, own.shape[0]), weight)


def node_units(measure, counts, n, total):
    """The impurity of n classes in halves of the units of the entropy table."""
    units = measure.table[cython.cast(cython.Py_ssize_t, total)]
    for c in range(n):
        units -= measure.table[cython.cast(cython.Py_ssize_t, counts[c])]
    return units


def units_of(score, half):
    """A score in units of the entropy table, rounded down."""
    one: cython.longlong = 1
    return cython.cast(cython.longlong, floor(score / half)) if score > -INFINITY else -(one << 62)


def impurity_of(measure, counts, n, total):
    """`total * G(counts / total)` of n classes."""
    number = measure.number
    result = 0.0
    if number == growing.GINI:  # sum of q (1 - q) over the classes
        for c in range(n if total > 0 else 0):
            result += counts[c] * (total - counts[c])
        return result / total if total > 0 else 0.0
    if number == growing.ENTROPY_TABLE:
        return 0.5 * measure.unit * node_units(measure, counts, n, total)
    if number == growing.SQRT and n == 2:
        return sqrt(max(counts[0], 0.0) * max(counts[1], 0.0))
    if number == growing.SQRT:  # half the sum of sqrt(q (1 - q)) over the classes
        for c in range(n):
            result += sqrt(max(counts[c], 0.0) * max(total - counts[c], 0.0))
        return 0.5 * result
    if number == growing.ENTROPY:  # half the entropy, in bits
        for c in range(n):
            if counts[c] > 0:
                result += counts[c] * log1p(max(total - counts[c], 0.0) / counts[c]) / (2 * log(2.0))
        return result
    if number == growing.SQRT_PAIRS:  # sum of sqrt(q r) over pairs of classes
        for c in range(n):
            for d in range(c):
                result += sqrt(max(counts[c], 0.0) * max(counts[d], 0.0))
        return result
    for c in range(n):  # growing.ERROR: what the largest class leaves
        result = max(result, counts[c])
    return max(total - result, 0.0)


def impurity_sides(facts, desk, n_lines, total):
    """Impurity of both sides of many two-way splits at once.

    `desk.ones` holds, line after line, how much of each class goes right in every split; `desk.own`
    the classes in all. Fills the first line of `desk.sides` with the weight that goes right, the second with
    the sum of both sides' impurities (anything where one side is empty).
    """
    measure = cython.address(facts.measure)
    width: cython.Py_ssize_t = facts.width
    ones = desk.ones
    counts = desk.own
    right = desk.sides
    out = desk.sides + width
    spare = desk.spare
    for j in range(width):
        right[j] = 0
        out[j] = 0
    if measure.number == growing.GINI:  # t - (sum of squares) / t on both sides, in one pass over the classes
        for j in range(width):
            spare[j] = 0
        for h in range(n_lines):
            own = counts[h]
            line = ones + h * width
            for j in range(width):
                x = line[j]
                right[j] += x
                out[j] += x * x
                spare[j] += (own - x) * (own - x)
        for j in range(width):
            left = total - right[j]
            out[j] = (right[j] * right[j] - out[j]) / right[j] + (left * left - spare[j]) / left
        return
    for h in range(n_lines):
        line = ones + h * width
        for j in range(width):
            right[j] += line[j]
    if measure.number == growing.SQRT:
        for h in range(n_lines):
            own = counts[h]
            line = ones + h * width
            for j in range(width):
                x = line[j]
                left = total - right[j]
                out[j] += 0.5 * (sqrt(max(x * (right[j] - x), 0.0)) + sqrt(max((own - x) * (left - (own - x)), 0.0)))
        return
    for j in range(width):
        for h in range(n_lines):
            spare[h] = ones[h * width + j]
        out[j] = impurity_of(measure, spare, n_lines, right[j])
        for h in range(n_lines):
            spare[h] = counts[h] - spare[h]
        out[j] += impurity_of(measure, spare, n_lines, total - right[j])
