"""The pre-order budget walk: the best value within every budget, one decision bit per cell.

Internal nodes in pre-order are stations 0..n-1. At station i a pruning either *keeps*
(pays `charge[i, 1]` of the budget, adds `value[i, 1]`, goes to i + 1) or *cuts* (pays
`charge[i, 0]`, adds `value[i, 0]`, goes to `jump[i]`, the first station outside the
subtree). Row i is the least value of the rest of the walk for every budget:

    F[i][j] = min( F[jump[i]][j - charge[i, 0]] + value[i, 0],  F[i + 1][j - charge[i, 1]] + value[i, 1] )

Time is stations x budget for every shape of tree. Rows still needed form a stack: the
subtrees of two stations are nested or apart, so what is read last was written first.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .size_rows import fill_rows, walk_forward

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.int64]
Sums = npt.NDArray[Any]


class BudgetWalk(NamedTuple):
    """Least values of the whole walk by budget, and what is needed to walk it again."""

    best: Sums
    jump: Longs
    charge: Longs
    bit_start: Longs
    bits: Bytes

    def kept(self, budget: int) -> Bools:
        """Which stations the best walk of this budget keeps; it keeps wherever keeping is no worse."""
        return walk_forward(self.jump, self.charge, self.bit_start, self.bits, budget)


def budget_walk(jump: Longs, charge: Longs, value: Sums, width: Longs, rule: Sums) -> BudgetWalk:
    """Return the table of a walk.

    `width[i]` is the number of budgets row i needs; the last row is all zeros, so a width
    of 1 asks for budgets spent to the full and a full width for budgets as upper limits.
    `rule` is (absent, slack): the value of what cannot be, and how much worse still ties.
    """
    bit_start = np.append(0, np.cumsum((width[:-1] + 7) // 8)).astype(np.int64)
    best, bits = fill_rows(jump, charge, value, width, rule, bit_start)
    return BudgetWalk(best, jump, charge, bit_start, bits)


def station_jumps(end: npt.NDArray[np.int32], internal: npt.NDArray[np.int32]) -> Longs:
    """The first station outside the subtree of each internal node."""
    return np.searchsorted(internal, end[internal]).astype(np.int64)
