"""What the tests of a node of numbers start from.

A node with weight W and sum S of `y - centre` loses, when L goes to the left,

    gain = (S_L W - S W_L)^2 / (W W_L W_R),

so a scan adds up weights and deviations and compares without dividing. `centre` is near the
node's mean, so that a node of close values far from the others keeps all its digits, and it
is a round number, so that sums of whole numbers stay exact.
"""

import cython
from cython.cimports.libc.math import exp2, floor, log2, rint
from cython.cimports.secateur._kernels.growing import END, N_FIELDS, START, as_entries, weight_of

CENTRE_BITS = cython.declare(cython.int, 20)  # the centre is a multiple of the range over 2**20


def _sums_over(facts, entries, sums):
    y = facts.y
    shift = facts.shift
    n = sums.n
    first = y[entries[0] >> shift]
    low = first
    high = first
    near = weight = total = spread = 0.0
    for i in range(n):
        value = y[entries[i] >> shift]
        low = min(low, value)
        high = max(high, value)
        near += value - first
    if low == high:
        return False
    unit = exp2(floor(log2(high - low)) - CENTRE_BITS)
    # A whole number of units above the lowest value: 2**21 units at most, so no digit is lost.
    sums.centre = low + rint((first + near / n - low) / unit) * unit
    for i in range(n):
        row = entries[i] >> shift
        d = y[row] - sums.centre
        w = weight_of(facts, row)
        weight += w
        total += w * d
        spread += w * d * d
    spread -= total * total / weight
    sums.weight = weight
    sums.total = total
    sums.size = weight if facts.by_weight else cython.cast(cython.double, n)
    sums.base = max(1e-300, spread)  # what ties are measured by: squared error around the mean
    return True


def square_sums(facts, lists, node, sums):
    """Centre, weight and sums of a node, over a list that is kept up to date; False where no test is left."""
    sums.n = node[END] - node[START]
    if facts.rows != cython.NULL:
        return _sums_over(facts, as_entries(facts.rows, lists) + node[START], sums)
    for slot in range(facts.n_lists):
        if (node[N_FIELDS + (slot >> 6)] >> (slot & 63)) & 1:
            return _sums_over(facts, lists + slot * facts.n_rows + node[START], sums)
    return False
