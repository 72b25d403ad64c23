"""Gain ratio: what is noted of each column's best test."""

import cython
from cython.cimports.libc.math import log2
from cython.cimports.secateur._kernels.growing import weight_of


def information(share):
    """Split information of two branches."""
    rest = 1 - share
    return (-share * log2(share) if share > 0 else 0.0) + (-rest * log2(rest) if rest > 0 else 0.0)


def keep_ratio(desk, test, gain, information):
    """Note a column's best test, its gain in bits and its gain ratio."""
    desk.gains[test.slot] = gain
    desk.tests[test.slot] = test[0]
    desk.tests[test.slot].score = gain / information


def list_ratio(facts, desk, entries, n_missing, sums, test):
    """Note the gain ratio of a cut of a list."""
    left = 0.0
    gain = 2 * test.score / sums.weight
    n_values: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(test.below):
        left += weight_of(facts, entries[i] >> facts.shift)
    for i in range(sums.n - n_missing if test.default == 0 else sums.n, sums.n):
        left += weight_of(facts, entries[i] >> facts.shift)
    if facts.penalise_numeric:
        for i in range(1, sums.n):
            n_values += entries[i] & 1
        gain -= log2(cython.cast(cython.double, max(1, n_values))) / sums.weight
    keep_ratio(desk, test, gain, information(left / sums.weight))
