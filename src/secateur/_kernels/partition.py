"""Split a node's presorted lists among its children, keeping the order of values.

    before   | L1 R1 R2 L2 L3 R3 |           the node's slice of a list
    after    | L1 L2 L3 | R1 R2 R3 |         the children's slices, each still sorted

An entry's difference bit compares it with the entry before it; when that one went to the
other side, the bit must also carry the differences of all entries that were passed over.
"""

from typing import Any

import numpy as np

from ._jit import njit_inner

LEFT, RIGHT, BOTH = 1, 2, 3


@njit_inner
def _copy(source: Any, target: Any) -> Any:
    for i in range(target.shape[0]):
        target[i] = source[i]


@njit_inner
def split_list(entries: Any, n_left: Any, goes_left: Any, shift: Any, keep: Any, has_ties: Any, scratch: Any) -> Any:
    """Stable split into two by `goes_left[row]`; sides not in `keep` may be left as rubbish.

    Without ties every entry differs from every other, so no bit needs mending.
    """
    n = entries.shape[0]
    one = entries.dtype.type(1)
    move = entries.dtype.type(shift)
    to = np.uint64(0)  # unsigned: an index that needs no test for wrap-around
    if not has_ties:
        if keep == BOTH:
            for i in range(n):
                e = entries[i]
                entries[to] = e
                scratch[np.uint64(i) - to] = e
                to += np.uint64(goes_left[e >> move])
            _copy(scratch, entries[n_left:])
        elif keep == LEFT:
            for i in range(n):
                e = entries[i]
                entries[to] = e
                to += np.uint64(goes_left[e >> move])
        else:
            to = np.uint64(n - 1)
            for i in range(n - 1, -1, -1):
                e = entries[i]
                entries[to] = e
                to -= np.uint64(1) - np.uint64(goes_left[e >> move])
        return
    left_bit = one  # the first entry of a child: its bit is never read, any value will do
    right_bit = one
    if keep == LEFT:
        for i in range(n):
            e = entries[i]
            bit = e & one
            goes = entries.dtype.type(goes_left[e >> move])
            left_bit |= bit
            entries[to] = (e ^ bit) | left_bit
            to += np.uint64(goes)
            left_bit &= one - goes
    else:
        for i in range(n):
            e = entries[i]
            bit = e & one
            rest = e ^ bit
            goes = entries.dtype.type(goes_left[e >> move])
            left_bit |= bit
            right_bit |= bit
            entries[to] = rest | left_bit
            scratch[np.uint64(i) - to] = rest | right_bit
            to += np.uint64(goes)
            left_bit &= one - goes
            right_bit &= goes
        _copy(scratch, entries[n_left:])


@njit_inner
def split_list_many(entries: Any, child_rows: Any, child_of: Any, shift: Any, scratch: Any, place: Any) -> Any:
    """Stable split among many children, of `child_rows` rows each; `place` has two lines per child."""
    n = entries.shape[0]
    one = entries.dtype.type(1)
    move = entries.dtype.type(shift)
    start = 0
    for c in range(child_rows.shape[0]):
        place[0, c] = start  # where the child's next entry goes
        place[1, c] = -1  # the value of its last one, by number
        start += child_rows[c]
    value: Any = 0
    for i in range(n):
        e = entries[i]
        bit = e & one
        value += np.int64(bit)
        c = child_of[e >> move]
        differs = one if place[1, c] != value else entries.dtype.type(0)
        scratch[place[0, c]] = (e ^ bit) | differs
        place[1, c] = value
        place[0, c] += 1
    _copy(scratch, entries)
