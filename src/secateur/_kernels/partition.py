"""Split a node's presorted lists among its children, keeping the order of values.

    before   | L1 R1 R2 L2 L3 R3 |           the node's slice of a list
    after    | L1 L2 L3 | R1 R2 R3 |         the children's slices, each still sorted

An entry's difference bit compares it with the entry before it; when that one went to the
other side, the bit must also carry the differences of all entries that were passed over.
"""

import cython
from cython.cimports.libc.string import memcpy
from cython.cimports.secateur._kernels.growing import Entry


def split_list(entries, n, n_left, goes_left, shift, keep, has_ties, scratch):
    """Stable split into two by `goes_left[row]`; sides not in `keep` (1 left, 2 right) may be left as rubbish.

    Without ties every entry differs from every other, so no bit needs mending.
    """
    bit: Entry
    goes: Entry
    left_bit: Entry = 1  # the first entry of a child: its bit is never read, any value will do
    right_bit: Entry = 1
    to: cython.size_t = 0
    if not has_ties:
        if keep == 3:
            for i in range(n):
                e = entries[i]
                entries[to] = e
                scratch[i - to] = e
                to += goes_left[e >> shift]
            memcpy(entries + n_left, scratch, (n - n_left) * cython.sizeof(e))
        elif keep == 1:
            for i in range(n):
                e = entries[i]
                entries[to] = e
                to += goes_left[e >> shift]
        else:
            to = n - 1
            for i in range(n - 1, -1, -1):
                e = entries[i]
                entries[to] = e
                to -= 1 - goes_left[e >> shift]
    elif keep == 1:
        for i in range(n):
            e = entries[i]
            bit = e & 1
            goes = goes_left[e >> shift]
            left_bit |= bit
            entries[to] = (e ^ bit) | left_bit
            to += goes
            left_bit &= 1 - goes
    else:
        for i in range(n):
            e = entries[i]
            bit = e & 1
            goes = goes_left[e >> shift]
            left_bit |= bit
            right_bit |= bit
            entries[to] = (e ^ bit) | left_bit
            scratch[i - to] = (e ^ bit) | right_bit
            to += goes
            left_bit &= 1 - goes
            right_bit &= goes
        memcpy(entries + n_left, scratch, (n - n_left) * cython.sizeof(e))


def split_list_many(entries, n, n_children, child_rows, child_of, shift, scratch, place):
    """Stable split among many children, of `child_rows` rows each; `place` has two lines per child."""
    value_of = place + n_children
    start: cython.longlong = 0
    value: cython.longlong = 0
    bit: Entry
    for c in range(n_children):
        place[c] = start  # where the child's next entry goes
        value_of[c] = -1  # the value of its last one, by number
        start += child_rows[c]
    for i in range(n):
        e = entries[i]
        bit = e & 1
        value += bit
        c = child_of[e >> shift]
        scratch[place[c]] = (e ^ bit) | (1 if value_of[c] != value else 0)
        value_of[c] = value
        place[c] += 1
    memcpy(entries, scratch, n * cython.sizeof(e))
