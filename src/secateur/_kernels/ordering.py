"""Tests whose two sides are not in the order that was asked for."""

import cython
import numpy as np


def monotone_cuts(
    end: cython.const[cython.int][:], value: cython.const[cython.double][:], sign: cython.const[cython.schar][:]
):
    """Which tests to cut, from the leaves upwards, so that every leaf on one side is at most every leaf on the other.

    `value` is what each node answers as a leaf; a node with sign 1 wants its first child to answer no more than its
    second, with -1 no less, with 0 anything. A node that is cut is a leaf for the nodes above it.
    """
    n = end.shape[0]
    is_cut: cython.uchar[::1] = np.zeros(n, np.bool_)
    low: cython.double[::1] = np.array(value)
    high: cython.double[::1] = np.array(value)
    second: cython.Py_ssize_t
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            if end[v] == v + 1:
                continue
            if sign[v] != 0:
                second = end[v + 1]
                if (sign[v] > 0 and high[v + 1] > low[second]) or (sign[v] < 0 and low[v + 1] < high[second]):
                    is_cut[v] = True
                    continue
            low[v] = low[v + 1]
            high[v] = high[v + 1]
            child = v + 1
            while child < end[v]:
                low[v] = min(low[v], low[child])
                high[v] = max(high[v], high[child])
                child = end[child]
    return is_cut.base
