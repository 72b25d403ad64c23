"""Splitting criteria as compile-time choices.

A criterion travels through the kernels as a named tuple whose *type* picks the code, so
that a user of one criterion never compiles another. All of them are measured as
`weight * G(proportions)`: concave, 0 on pure nodes, at least the errors of the node.
Weights are subtracted from sums of weights, so a count can come out a rounding below 0.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import overload

from ._jit import INNER, njit, njit_inner

Floats = npt.NDArray[np.float64]


class Gini(NamedTuple):
    """1 - sum of squared proportions."""

    unused: int = 0


class GiniTwo(NamedTuple):
    """Gini of two classes."""

    unused: int = 0


class Entropy(NamedTuple):
    """Half the entropy in bits, for whole counts: x log2 x read from a table of whole numbers.

    Sums of table entries are exact, so equal splits have equal scores whatever the order
    of classes or columns.
    """

    table: npt.NDArray[np.int64]
    unit: float


class Sqrt(NamedTuple):
    """Half the sum of sqrt(q (1 - q)) over the classes."""

    unused: int = 0


class SqrtTwo(NamedTuple):
    """`Sqrt` of two classes."""

    unused: int = 0


class General(NamedTuple):
    """Any criterion, by number, for weights: one kernel serves them all."""

    number: int


GENERAL = {"gini": 0, "entropy": 1, "sqrt": 2, "sqrt_pairs": 3, "error": 4}


def entropy_table(n: int) -> Entropy:
    """x log2 x for x = 0..n as whole multiples of a unit so small that int64 just holds them."""
    x = np.arange(n + 1, dtype=np.float64)
    values = x * np.log2(np.maximum(x, 1))
    unit = 2.0 ** (np.ceil(np.log2(max(values[-1], 1.0))) - 60)
    return Entropy(np.rint(values / unit).astype(np.int64), float(unit))


@njit
def _gini(criterion: Any, counts: Any, total: Any) -> Any:
    result = 0.0
    if total > 0:
        for c in range(counts.shape[0]):
            result += counts[c] * (total - counts[c])
        result /= total
    return result


@njit
def _entropy(criterion: Any, counts: Any, total: Any) -> Any:
    units = criterion.table[np.int64(total)]
    for c in range(counts.shape[0]):
        units -= criterion.table[np.int64(counts[c])]
    return float(0.5 * criterion.unit * units)


@njit
def _sqrt(criterion: Any, counts: Any, total: Any) -> Any:
    if counts.shape[0] == 2:
        return float(np.sqrt(max(counts[0], 0.0) * max(counts[1], 0.0)))
    result = 0.0
    for c in range(counts.shape[0]):
        result += np.sqrt(max(counts[c], 0.0) * max(total - counts[c], 0.0))
    return 0.5 * result


@njit
def _general(criterion: Any, counts: Any, total: Any) -> Any:
    result = 0.0
    largest = 0.0
    for c in range(counts.shape[0]):
        x = max(counts[c], 0.0)
        rest = max(total - x, 0.0)
        if criterion.number == 0:
            result += x * rest / total if total > 0 else 0.0
        elif criterion.number == 1:
            result += x * np.log1p(rest / x) / (2 * np.log(2.0)) if x > 0 else 0.0
        elif criterion.number == 2:
            result += 0.5 * np.sqrt(x * rest)
        elif criterion.number == 3:
            for d in range(c):
                result += np.sqrt(x * max(counts[d], 0.0))
        largest = max(largest, x)
    return max(total - largest, 0.0) if criterion.number == 4 else result


_BY_TYPE: dict[type, Any] = {
    Gini: _gini,
    GiniTwo: _gini,
    Entropy: _entropy,
    Sqrt: _sqrt,
    SqrtTwo: _sqrt,
    General: _general,
}


def impurity(criterion: NamedTuple, counts: Floats, total: float) -> float:
    """`total * G(counts / total)` under the criterion."""
    result: float = _BY_TYPE[type(criterion)](criterion, counts, total)
    return result


@overload(impurity, jit_options=INNER)  # type: ignore[untyped-decorator]
def _impurity(criterion: Any, counts: Any, total: Any) -> Any:
    return _BY_TYPE[criterion.instance_class].py_func


@njit
def _gini_sides(criterion: Any, ones: Any, counts: Any, total: Any, right: Any, out: Any, spare: Any) -> Any:
    """With x ones of N in each class: t - (sum of squares) / t on both sides, in one pass over the classes."""
    width = out.shape[0]
    for j in range(width):
        right[j] = 0
        out[j] = 0
        spare[j] = 0
    for h in range(counts.shape[0]):
        own = counts[h]
        at = np.uint64(h * width)
        for j in range(width):
            x = ones[at + np.uint64(j)]
            right[j] += x
            out[j] += x * x
            spare[j] += (own - x) * (own - x)
    for j in range(width):
        left = total - right[j]
        out[j] = (right[j] * right[j] - out[j]) / right[j] + (left * left - spare[j]) / left


@njit
def _sqrt_sides(criterion: Any, ones: Any, counts: Any, total: Any, right: Any, out: Any, spare: Any) -> Any:
    width = out.shape[0]
    _add_lines(ones, counts.shape[0], right)
    for j in range(width):
        out[j] = 0
    for h in range(counts.shape[0]):
        own = counts[h]
        at = np.uint64(h * width)
        for j in range(width):
            x = ones[at + np.uint64(j)]
            y = own - x
            left = total - right[j]
            out[j] += 0.5 * (np.sqrt(x * (right[j] - x)) + np.sqrt(y * (left - y)))


@njit
def _any_sides(criterion: Any, ones: Any, counts: Any, total: Any, right: Any, out: Any, spare: Any) -> Any:
    width = out.shape[0]
    _add_lines(ones, counts.shape[0], right)
    own = spare[: counts.shape[0]]
    for j in range(width):
        for h in range(counts.shape[0]):
            own[h] = ones[h * width + j]
        out[j] = impurity(criterion, own, right[j])
        for h in range(counts.shape[0]):
            own[h] = counts[h] - own[h]
        out[j] += impurity(criterion, own, total - right[j])


@njit_inner
def _add_lines(lines: Any, n_lines: Any, out: Any) -> Any:
    width = out.shape[0]
    for j in range(width):
        out[j] = 0
    for h in range(n_lines):
        at = np.uint64(h * width)
        for j in range(width):
            out[j] += lines[at + np.uint64(j)]


_SIDES: dict[type, Any] = {Gini: _gini_sides, GiniTwo: _gini_sides, Sqrt: _sqrt_sides, SqrtTwo: _sqrt_sides}


def impurity_sides(criterion: Any, ones: Any, counts: Any, total: Any, right: Any, out: Any, spare: Any) -> Any:
    """Impurity of both sides of many two-way splits at once.

    `ones` holds, line after line, how much of each class goes right in every split; `counts`
    the classes in all. Fills `right` with the weight that goes right, `out` with the sum of
    both sides' impurities (anything where one side is empty). `spare` is scratch space.
    """
    _SIDES.get(type(criterion), _any_sides)(criterion, ones, counts, total, right, out, spare)


@overload(impurity_sides, jit_options=INNER)  # type: ignore[untyped-decorator]
def _impurity_sides(criterion: Any, ones: Any, counts: Any, total: Any, right: Any, out: Any, spare: Any) -> Any:
    return _SIDES.get(criterion.instance_class, _any_sides).py_func
