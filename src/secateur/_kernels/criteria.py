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

from ._jit import njit

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


@overload(impurity)  # type: ignore[untyped-decorator]
def _impurity(criterion: Any, counts: Any, total: Any) -> Any:
    return _BY_TYPE[criterion.instance_class].py_func


@njit
def _gini_lines(criterion: Any, counts: Any, totals: Any, out: Any) -> Any:
    for j in range(out.shape[0]):
        out[j] = 0
    for c in range(counts.shape[0]):
        line = counts[c]
        for j in range(out.shape[0]):
            out[j] += line[j] * (totals[j] - line[j])
    for j in range(out.shape[0]):
        out[j] /= totals[j]


@njit
def _sqrt_lines(criterion: Any, counts: Any, totals: Any, out: Any) -> Any:
    for j in range(out.shape[0]):
        out[j] = 0
    for c in range(counts.shape[0]):
        line = counts[c]
        for j in range(out.shape[0]):
            out[j] += 0.5 * np.sqrt(line[j] * (totals[j] - line[j]))


@njit
def _any_lines(criterion: Any, counts: Any, totals: Any, out: Any) -> Any:
    own = np.empty(counts.shape[0])
    for j in range(out.shape[0]):
        for c in range(counts.shape[0]):
            own[c] = counts[c, j]
        out[j] = impurity(criterion, own, totals[j])


_LINES: dict[type, Any] = {Gini: _gini_lines, GiniTwo: _gini_lines, Sqrt: _sqrt_lines, SqrtTwo: _sqrt_lines}


def impurity_lines(criterion: Any, counts: Any, totals: Any, out: Any) -> Any:
    """`impurity` of many nodes at once: a line of `counts` per class, a column per node (0/0 for empty ones)."""
    _LINES.get(type(criterion), _any_lines)(criterion, counts, totals, out)


@overload(impurity_lines)  # type: ignore[untyped-decorator]
def _impurity_lines(criterion: Any, counts: Any, totals: Any, out: Any) -> Any:
    return _LINES.get(criterion.instance_class, _any_lines).py_func
