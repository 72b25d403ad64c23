"""What the growing kernels are given, as C structures: the data of a tree, and the space of a thread.

The structures are described in growing.pxd. The objects of this file keep the arrays behind
them alive.
"""

import cython
import numpy as np
from cython.cimports.cpython.buffer import PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cython.cimports.cpython.bytearray import PyByteArray_AS_STRING
from cython.cimports.libc.string import memset
from cython.cimports.secateur._kernels.growing import Facts, Test

from .grow_parts import code_bits, slots_of_groups

MOST_COUNTERS = cython.declare(cython.Py_ssize_t, 1 << 16)  # of the columns counted at once: 256 kB


@cython.cfunc
def _pointer(array: object) -> cython.p_void:
    """Where an array's values begin; NULL for None and for nothing."""
    view: Py_buffer
    if array is None:
        return cython.NULL
    PyObject_GetBuffer(array, cython.address(view), PyBUF_SIMPLE)  # it refuses what is not contiguous
    where = view.buf if view.len > 0 else cython.NULL
    PyBuffer_Release(cython.address(view))
    return where


@cython.cclass
class Job:
    """Everything that stays the same while one tree is grown."""

    def __init__(self, criterion, lists, codes, weights, limits, n_sums: int, y=None, surrogates=None) -> None:
        f = cython.address(self.facts)
        memset(f, 0, cython.sizeof(Facts))
        n_rows = lists.entries.shape[1]
        f.measure.number = criterion.number
        f.measure.table = cython.cast(cython.p_longlong, _pointer(criterion.table))
        f.measure.unit = criterion.unit
        f.n_sums = n_sums
        f.entries = _pointer(lists.entries)
        f.n_rows = n_rows
        f.n_lists = lists.entries.shape[0]
        f.n_slots = lists.feature.shape[0]
        f.shift = lists.shift
        f.mask = (1 << lists.shift) - 1
        f.feature = cython.cast(cython.p_int, _pointer(lists.feature))
        is_distinct = np.zeros(f.n_lists + 1, np.uint8)
        f.is_distinct = cython.cast(cython.p_uchar, _pointer(is_distinct))
        self.is_wide = lists.entries.dtype == np.uint64
        self.most = 2
        goes_left = np.zeros(n_rows, np.uint8)
        f.goes_left = cython.cast(cython.p_uchar, _pointer(goes_left))
        child_of = None
        if codes is not None:
            f.rows = _pointer(codes.rows)
            n_codes: cython.const[cython.longlong][::1] = codes.n_codes
            for j in range(n_codes.shape[0]):
                self.most = max(self.most, cython.cast(cython.int, n_codes[j]))
                f.n_coded += n_codes[j] > 2 and codes.codes.shape[0] > 0
            f.n_bits = f.n_slots - f.n_lists - f.n_coded
            f.width = codes.width
            f.code_bits = code_bits(self.most)
            f.n_code_words = codes.codes.shape[0]
            f.codes = cython.cast(cython.p_ulonglong, _pointer(codes.codes))
            f.bits = cython.cast(cython.p_uchar, _pointer(codes.bits))
            f.words = cython.cast(cython.p_ulonglong, _pointer(codes.words))
            f.n_words = codes.words.shape[0]
            f.n_codes = cython.cast(cython.p_longlong, _pointer(codes.n_codes))
            f.is_nominal = cython.cast(cython.p_uchar, _pointer(codes.is_nominal))
            if limits.multiway and self.most > 2:
                child_of = np.zeros(n_rows, np.uint16)
                f.child_of = cython.cast(cython.p_ushort, _pointer(child_of))
        if weights is not None:
            f.weight = cython.cast(cython.p_double, _pointer(weights.weight))
            f.of_class = cython.cast(cython.p_double, _pointer(weights.of_class))
            f.by_weight = weights.by_weight
            f.missing = cython.cast(cython.p_uchar, _pointer(weights.missing))
            f.line = cython.cast(cython.p_longlong, _pointer(weights.line)) if f.missing != cython.NULL else cython.NULL
        by_feature = None if y is None else np.argsort(lists.feature, kind="stable").astype(np.int64)
        f.by_feature = cython.cast(cython.p_longlong, _pointer(by_feature))
        f.y = cython.cast(cython.p_double, _pointer(y))
        f.max_depth = limits.max_depth
        f.max_splits = limits.max_splits
        f.least_leaf = limits.least_leaf
        f.least_split = limits.least_split
        f.allow_zero = limits.allow_zero
        f.multiway = limits.multiway
        f.best_first = limits.best_first
        f.is_ratio = limits.is_ratio
        f.penalise_numeric = limits.penalise_numeric
        f.above = limits.above
        groups = None
        if limits.groups:
            groups = slots_of_groups(lists.feature, limits.groups)
            f.n_groups, f.n_slot_words = groups.shape
            f.groups = cython.cast(cython.p_ulonglong, _pointer(groups))
        if surrogates is not None:
            f.n_surrogates = min(surrogates.most, f.n_slots)
            f.values = cython.cast(cython.p_double, _pointer(surrogates.values))
            f.n_known = cython.cast(cython.p_longlong, _pointer(surrogates.n_known))
        made = (is_distinct, goes_left, child_of, by_feature, groups)
        self._kept = (criterion, lists, codes, weights, y, surrogates, made)


@cython.cfunc
def _new(kept: list, n: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.p_void:
    """New zeros, n of that size, which live as long as `kept`; small trees notice how long an array takes."""
    block: bytearray = bytearray(max(n, 1) * size)
    kept.append(block)
    return cython.cast(cython.p_void, PyByteArray_AS_STRING(block))


@cython.cfunc
def _large(kept: list, n: cython.Py_ssize_t) -> cython.p_void:
    """New bytes of any value: what is not written to costs no memory."""
    block = np.empty(n, np.uint8)
    kept.append(block)
    return _pointer(block)


@cython.cfunc
def _reals(kept: list, n: cython.Py_ssize_t) -> cython.p_double:
    return cython.cast(cython.p_double, _new(kept, n, 8))


@cython.cfunc
def _wholes(kept: list, n: cython.Py_ssize_t) -> cython.p_longlong:
    return cython.cast(cython.p_longlong, _new(kept, n, 8))


@cython.cclass
class Space:
    """Space of one thread, for nodes of at most `n_rows` rows.

    Given another one it shares the fields in which the parts of one node's split are told.
    """

    def __init__(self, job: Job, n_rows: int, shared: object = None) -> None:
        d = cython.address(self.desk)
        f = cython.address(job.facts)
        k: cython.Py_ssize_t = max(f.n_sums, 2)
        most: cython.Py_ssize_t = job.most
        width: cython.Py_ssize_t = f.width
        n_slots: cython.Py_ssize_t = f.n_slots
        self._kept = []
        d.left = _reals(self._kept, k)
        d.right = _reals(self._kept, k)
        d.gone = _reals(self._kept, k)
        d.factor = _reals(self._kept, k)
        d.product = _reals(self._kept, k)
        d.whole = _wholes(self._kept, 2 * k)
        d.line = _wholes(self._kept, k)
        d.count = cython.cast(cython.p_int, _new(self._kept, 2 * k, 4))
        d.histogram.n_sums = f.n_sums
        d.histogram.counts = _reals(self._kept, most * k)
        d.histogram.table = most * k
        d.histogram.n_tables = cython.cast(cython.int, max(1, min(8, MOST_COUNTERS // (most * k))))
        d.histogram.tally = cython.cast(cython.p_int, _new(self._kept, d.histogram.n_tables * most * k, 4))
        d.histogram.sizes = _reals(self._kept, most)
        d.histogram.weights = _reals(self._kept, most)
        d.histogram.is_seen = cython.cast(cython.p_uchar, _new(self._kept, most, 1))
        d.histogram.present = _wholes(self._kept, most)
        d.histogram.order = _wholes(self._kept, most)
        d.histogram.keys = _reals(self._kept, most)
        d.histogram.run_keys = _reals(self._kept, most)
        d.histogram.other_keys = _reals(self._kept, most)
        d.histogram.other_items = _wholes(self._kept, most)
        self.branch = np.zeros(most, np.uint16)
        d.histogram.branch = cython.cast(cython.p_ushort, _pointer(self.branch))
        d.histogram.left = _reals(self._kept, k)
        d.histogram.right = _reals(self._kept, k)
        d.entries = _large(self._kept, (n_rows + 1) * (8 if job.is_wide else 4))
        has_words: cython.bint = f.n_words + f.n_code_words > 0
        d.words = cython.cast(cython.p_ulonglong, _large(self._kept, 8 * (n_rows + 1) if has_words else 8))
        if shared is None:
            d.has_ties = cython.cast(cython.p_uchar, _new(self._kept, n_slots, 1))
            d.child_counts = _reals(self._kept, most * k)
            d.child_size = _reals(self._kept, most)
            d.child_rows = _wholes(self._kept, most)
        else:
            other: Space = shared
            self._kept.append(shared)
            d.has_ties = other.desk.has_ties
            d.child_counts = other.desk.child_counts
            d.child_size = other.desk.child_size
            d.child_rows = other.desk.child_rows
        d.child_place = _wholes(self._kept, 2 * most)
        d.own = _reals(self._kept, k)
        d.tally = cython.cast(cython.p_uint, _new(self._kept, 64, 4))
        d.ones = _reals(self._kept, k * width)
        d.sides = _reals(self._kept, 3 * width)
        d.spare = _reals(self._kept, max(width, k))
        d.gains = _reals(self._kept, n_slots)
        d.tests = cython.cast(cython.pointer[Test], _new(self._kept, n_slots, cython.sizeof(Test)))
