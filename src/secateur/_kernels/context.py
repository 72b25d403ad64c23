"""The memory that growing reads and writes, as C structures: the data of one tree, and the workspace of one thread.

`context.pxd` describes the structures. An object of this file keeps the arrays alive to which its structure points:

    GrowContext   Context: presorted lists, words of codes, weights, limits; one per tree, shared by all threads.
                  Growing partitions lists and words in place.
    Workspace     Scratch: sums of children, histograms, spare entries; one per thread.

The constants of the structures (START, NUMERIC, ...) are declared in `context.pxd` only. Python imports them from here.
"""

import cython
import numpy as np
from cython.cimports.cpython.buffer import PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cython.cimports.cpython.bytearray import PyByteArray_AS_STRING
from cython.cimports.libc.string import memset
from cython.cimports.secateur._kernels.context import N_FIELDS
from cython.cimports.secateur._kernels.criteria import set_criterion

MAX_COUNTERS = cython.declare(cython.Py_ssize_t, 1 << 16)  # of all columns counted at the same time: 256 kB
MAX_SHARED_COLUMNS = cython.declare(cython.Py_ssize_t, 8)  # columns of 8 bits in a word
MAX_WORD_COLUMNS = cython.declare(cython.Py_ssize_t, 64)


def bits_per_code(n_codes):
    """Return the number of bits per code in the words, for columns of at most `n_codes` codes."""
    return 8 if n_codes <= 1 << 8 else 16 if n_codes <= 1 << 16 else 32


def slot_words_of_groups(feature_of_slot, groups):
    """Return one line of words for each group of columns, with one bit per slot."""
    n_slots = len(feature_of_slot)
    n_words = (n_slots + 63) // 64  # compiled code rounds quotients towards zero, so that -(-n // 64) would round down
    bits = np.zeros((len(groups), 64 * max(1, n_words)), np.bool_)
    for line, group in zip(bits, groups, strict=True):
        line[:n_slots] = np.isin(feature_of_slot, group)
    return np.packbits(bits, axis=1, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)


@cython.cfunc
def _pointer(array: object) -> cython.p_void:
    """Return the address of the first value of a contiguous array; NULL for None and for an empty array."""
    view: Py_buffer
    if array is None:
        return cython.NULL
    PyObject_GetBuffer(array, cython.address(view), PyBUF_SIMPLE)  # refuses arrays that are not contiguous
    begin = view.buf if view.len > 0 else cython.NULL
    PyBuffer_Release(cython.address(view))
    return begin


@cython.cclass
class GrowContext:
    """Everything that stays constant while one tree grows.

    Parameters
    ----------
    criterion : CriterionSpec
    lists : PresortedLists
    codes : PackedCodes or None
    weights : RowWeights or None
    limits : GrowLimits
    n_sums : int
        Number of classes; 2 for regression.
    target : array, optional
        Regression: the number of each row.
    surrogates : SurrogateSearch, optional
        None: no surrogates are searched.
    """

    def __init__(self, criterion, lists, codes, weights, limits, n_sums: int, target=None, surrogates=None) -> None:
        memset(cython.address(self.context), 0, cython.sizeof(Context))
        set_criterion(cython.address(self.context.criterion), criterion)
        self.context.n_sums = n_sums
        self.max_codes = 2
        self.arrays = [criterion, lists, codes, weights, target, surrogates]
        _set_lists(self, lists)
        if codes is not None:
            _set_codes(self, codes, limits.is_multiway)
        if weights is not None:
            _set_weights(self, weights)
        if target is not None:
            _set_target(self, target, lists.feature_of_slot)
        _set_limits(self, limits, lists.feature_of_slot)
        if surrogates is not None:
            _set_surrogates(self, surrogates)


@cython.cfunc
def _keep(owner: GrowContext, array: object) -> cython.p_void:
    """Return the address of the first value of an array, and keep the array alive as long as the context."""
    owner.arrays.append(array)
    return _pointer(array)


@cython.cfunc
def _set_lists(owner: GrowContext, lists: object) -> object:
    context = cython.address(owner.context)
    context.entries = _pointer(lists.entries)
    context.n_lists, context.n_rows = lists.entries.shape
    context.n_slots = lists.feature_of_slot.shape[0]
    context.shift = lists.shift
    context.low_mask = (1 << lists.shift) - 1
    context.feature_of_slot = cython.cast(cython.p_int, _pointer(lists.feature_of_slot))
    has_distinct_values = np.zeros(context.n_lists + 1, np.uint8)
    context.has_distinct_values = cython.cast(cython.p_uchar, _keep(owner, has_distinct_values))
    context.goes_left = cython.cast(cython.p_uchar, _keep(owner, np.zeros(context.n_rows, np.uint8)))
    owner.is_wide = lists.entries.dtype == np.uint64


@cython.cfunc
def _set_codes(owner: GrowContext, codes: object, is_multiway: cython.bint) -> object:
    context = cython.address(owner.context)
    n_codes: cython.const[cython.longlong][::1] = codes.n_codes
    for j in range(n_codes.shape[0]):
        owner.max_codes = max(owner.max_codes, cython.cast(cython.int, n_codes[j]))
        context.n_code_slots += n_codes[j] > 2 and codes.code_words.shape[0] > 0
    context.n_bit_slots = context.n_slots - context.n_lists - context.n_code_slots
    context.code_entries = _pointer(codes.entries)
    context.n_codes = cython.cast(cython.p_longlong, _pointer(codes.n_codes))
    context.is_nominal = cython.cast(cython.p_uchar, _pointer(codes.is_nominal))
    context.code_bits = bits_per_code(owner.max_codes)
    context.n_code_words = codes.code_words.shape[0]
    context.code_words = cython.cast(cython.p_ulonglong, _pointer(codes.code_words))
    context.n_bit_words = codes.bit_words.shape[0]
    context.bit_words = cython.cast(cython.p_ulonglong, _pointer(codes.bit_words))
    context.bit_bytes = cython.cast(cython.p_uchar, _pointer(codes.bit_bytes))
    context.bit_line_bytes = codes.bit_line_bytes
    if is_multiway and owner.max_codes > 2:
        context.child_of_row = cython.cast(cython.p_ushort, _keep(owner, np.zeros(context.n_rows, np.uint16)))


@cython.cfunc
def _set_weights(owner: GrowContext, weights: object) -> object:
    context = cython.address(owner.context)
    context.row_weight = cython.cast(cython.p_double, _pointer(weights.row_weight))
    context.weight_of_class = cython.cast(cython.p_double, _pointer(weights.weight_of_class))
    context.has_weight_limits = weights.has_weight_limits
    context.is_missing = cython.cast(cython.p_uchar, _pointer(weights.is_missing))
    if context.is_missing != cython.NULL:
        context.missing_line = cython.cast(cython.p_longlong, _pointer(weights.missing_line))


@cython.cfunc
def _set_target(owner: GrowContext, target: object, feature_of_slot: object) -> object:
    slots_by_feature = np.argsort(feature_of_slot, kind="stable").astype(np.int64)
    owner.context.slots_by_feature = cython.cast(cython.p_longlong, _keep(owner, slots_by_feature))
    owner.context.target = cython.cast(cython.p_double, _pointer(target))


@cython.cfunc
def _set_limits(owner: GrowContext, limits: object, feature_of_slot: object) -> object:
    context = cython.address(owner.context)
    context.max_depth = limits.max_depth
    context.max_splits = limits.max_splits
    context.min_leaf_size = limits.min_leaf_size
    context.min_split_size = limits.min_split_size
    context.root_depth = limits.root_depth
    context.allows_zero_gain = limits.allows_zero_gain
    context.is_multiway = limits.is_multiway
    context.is_one_vs_rest = limits.is_one_vs_rest
    context.is_best_first = limits.is_best_first
    context.is_gain_ratio = limits.is_gain_ratio
    context.penalises_numeric = limits.penalises_numeric
    n_node_words = max(1, (context.n_slots + 63) // 64) + (len(limits.groups) + 63) // 64
    context.limit_field = N_FIELDS + cython.cast(cython.int, n_node_words)
    if limits.signs:
        signs = np.array(limits.signs, np.int8)[feature_of_slot]
        context.sign_of_slot = cython.cast(cython.p_schar, _keep(owner, signs))
    if limits.groups:
        words = slot_words_of_groups(feature_of_slot, limits.groups)
        context.n_groups, context.n_slot_words = words.shape
        context.group_slots = cython.cast(cython.p_ulonglong, _keep(owner, words))


@cython.cfunc
def _set_surrogates(owner: GrowContext, surrogates: object) -> object:
    context = cython.address(owner.context)
    context.max_surrogates = min(surrogates.max_surrogates, context.n_slots)
    context.list_values = cython.cast(cython.p_double, _pointer(surrogates.list_values))
    context.n_known_codes = cython.cast(cython.p_longlong, _pointer(surrogates.n_known_codes))


@cython.cfunc
def _zeros(arrays: list, n: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.p_void:
    """Return n zeros of `size` bytes each, which live as long as `arrays`.

    A bytearray is used because small trees take less time to grow than NumPy takes to make the arrays.
    """
    block: bytearray = bytearray(max(n, 1) * size)
    arrays.append(block)
    return cython.cast(cython.p_void, PyByteArray_AS_STRING(block))


@cython.cfunc
def _uninitialized(arrays: list, n_bytes: cython.Py_ssize_t) -> cython.p_void:
    """Return `n_bytes` of uninitialized memory. Pages that are never written to cost no memory."""
    block = np.empty(n_bytes, np.uint8)
    arrays.append(block)
    return _pointer(block)


@cython.cfunc
def _doubles(arrays: list, n: cython.Py_ssize_t) -> cython.p_double:
    return cython.cast(cython.p_double, _zeros(arrays, n, 8))


@cython.cfunc
def _longs(arrays: list, n: cython.Py_ssize_t) -> cython.p_longlong:
    return cython.cast(cython.p_longlong, _zeros(arrays, n, 8))


@cython.cclass
class Workspace:
    """Memory of one thread, for nodes of at most `n_rows` rows.

    Parameters
    ----------
    context : GrowContext
    n_rows : int
    shared : Workspace, optional
        Another workspace of the same context, with which the counts of the children are shared. Threads that split one
        node together need shared counts. Threads that grow different subtrees must not share counts.
    """

    def __init__(self, context: GrowContext, n_rows: int, shared: object = None) -> None:
        self.arrays = []
        _set_scans(self, context)
        _set_two_valued(self, context)
        _set_histogram(self, context)
        _set_children(self, context, n_rows, shared)


@cython.cfunc
def _set_scans(owner: Workspace, context: GrowContext) -> object:
    scratch = cython.address(owner.scratch)
    k: cython.Py_ssize_t = max(context.context.n_sums, 2)
    scratch.left = _doubles(owner.arrays, k)
    scratch.right = _doubles(owner.arrays, k)
    scratch.missing = _doubles(owner.arrays, k)
    scratch.factor = _doubles(owner.arrays, k)
    scratch.product = _doubles(owner.arrays, k)
    scratch.left_rows = _longs(owner.arrays, k)
    scratch.missing_rows = _longs(owner.arrays, k)
    scratch.present_classes = _longs(owner.arrays, k)
    scratch.class_line = _longs(owner.arrays, k)
    scratch.block_rows = cython.cast(cython.p_int, _zeros(owner.arrays, 2 * k, 4))
    scratch.slot_gain = _doubles(owner.arrays, context.context.n_slots)
    scratch.slot_split = cython.cast(
        cython.pointer[Split], _zeros(owner.arrays, context.context.n_slots, cython.sizeof(Split))
    )


@cython.cfunc
def _set_two_valued(owner: Workspace, context: GrowContext) -> object:
    scratch = cython.address(owner.scratch)
    k: cython.Py_ssize_t = max(context.context.n_sums, 2)
    width: cython.Py_ssize_t = context.context.bit_line_bytes
    scratch.class_totals = _doubles(owner.arrays, k)
    scratch.ones = _doubles(owner.arrays, k * width)
    sides = _doubles(owner.arrays, 3 * width)
    scratch.right_weight = sides
    scratch.side_impurity = sides + width
    scratch.right_size = sides + 2 * width
    scratch.column_spare = _doubles(owner.arrays, max(width, k))
    scratch.bit_counts = cython.cast(cython.p_uint, _zeros(owner.arrays, MAX_WORD_COLUMNS, 4))


@cython.cfunc
def _set_histogram(owner: Workspace, context: GrowContext) -> object:
    histogram = cython.address(owner.scratch.histogram)
    k: cython.Py_ssize_t = max(context.context.n_sums, 2)
    max_codes: cython.Py_ssize_t = context.max_codes
    histogram.n_sums = context.context.n_sums
    histogram.counts = _doubles(owner.arrays, max_codes * k)
    histogram.table_size = max_codes * k
    n_tables = max(1, min(MAX_SHARED_COLUMNS, MAX_COUNTERS // histogram.table_size))
    histogram.n_tables = cython.cast(cython.int, n_tables)
    histogram.row_counts = cython.cast(cython.p_int, _zeros(owner.arrays, n_tables * histogram.table_size, 4))
    histogram.sizes = _doubles(owner.arrays, max_codes)
    histogram.weights = _doubles(owner.arrays, max_codes)
    histogram.is_present = cython.cast(cython.p_uchar, _zeros(owner.arrays, max_codes, 1))
    histogram.present = _longs(owner.arrays, max_codes)
    histogram.order = _longs(owner.arrays, max_codes)
    histogram.keys = _doubles(owner.arrays, max_codes)
    histogram.sorted_keys = _doubles(owner.arrays, max_codes)
    histogram.merged_keys = _doubles(owner.arrays, max_codes)
    histogram.merged_items = _longs(owner.arrays, max_codes)
    histogram.left = _doubles(owner.arrays, k)
    histogram.right = _doubles(owner.arrays, k)
    owner.branch = np.zeros(max_codes, np.uint16)
    histogram.branch = cython.cast(cython.p_ushort, _pointer(owner.branch))


@cython.cfunc
def _set_children(owner: Workspace, context: GrowContext, n_rows: cython.Py_ssize_t, shared: object) -> object:
    scratch = cython.address(owner.scratch)
    max_codes: cython.Py_ssize_t = context.max_codes
    has_words: cython.bint = context.context.n_bit_words + context.context.n_code_words > 0
    scratch.spare_entries = _uninitialized(owner.arrays, (n_rows + 1) * (8 if context.is_wide else 4))
    scratch.spare_words = cython.cast(
        cython.p_ulonglong, _uninitialized(owner.arrays, 8 * (n_rows + 1) if has_words else 8)
    )
    scratch.child_position = _longs(owner.arrays, 2 * max_codes)
    if shared is None:
        k: cython.Py_ssize_t = max(context.context.n_sums, 2)
        scratch.has_ties = cython.cast(cython.p_uchar, _zeros(owner.arrays, context.context.n_slots, 1))
        scratch.child_counts = _doubles(owner.arrays, max_codes * k)
        scratch.child_size = _doubles(owner.arrays, max_codes)
        scratch.child_rows = _longs(owner.arrays, max_codes)
    else:
        other: Workspace = shared
        owner.arrays.append(shared)
        scratch.has_ties = other.scratch.has_ties
        scratch.child_counts = other.scratch.child_counts
        scratch.child_size = other.scratch.child_size
        scratch.child_rows = other.scratch.child_rows
