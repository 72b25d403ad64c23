"""Find the splits to cut so that the predictions of a tree respect monotone constraints."""

import cython
import numpy as np


def monotone_cuts(
    end: cython.const[cython.int][:], value: cython.const[cython.double][:], sign: cython.const[cython.schar][:]
):
    """Return whether each split must be cut, so that the predictions of the tree respect monotone constraints.

    `value[v]` is the prediction of node v as a leaf. Where `sign[v]` is 1, no leaf below the first child may predict
    more than a leaf below the second child; where it is -1, no leaf may predict less; 0 allows any order. Nodes are
    decided from the leaves to the root, and a node that is cut is a leaf for the nodes above it.

    Cost: one step per node; `low` and `high` are the least and the greatest prediction below each node.
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
                first, second = v + 1, end[v + 1]
                if (sign[v] > 0 and high[first] > low[second]) or (sign[v] < 0 and low[first] < high[second]):
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
