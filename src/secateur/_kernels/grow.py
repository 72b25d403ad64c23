"""Grow a tree, or a subtree, from presorted lists and columns of codes.

A node owns the same slice of every list and of every line of words. It passes through these steps:

    find_best_split     best_split.py     compute its statistics, and find the best split over all columns
    assign_children     split_node.py     find the child of every row
    find_surrogates     surrogate.py      if wanted: find splits of other columns, which place rows with missing values
    add_children        split_node.py     write the lines of the children to the tables
    partition_slots     split_node.py     partition its slices into the slices of the children

Depth-first growth takes the next node from a stack, best-first growth from a heap of evaluated nodes. Classification
and regression differ only in the statistics of a node and in how the gain follows from them.

`grow_subtree` runs this loop without the GIL. Each function after it is a single step of the loop. Python calls these
functions for the few nodes at the top of a large tree, whose columns are searched and partitioned by several threads.
"""

import cython
import numpy as np
from cython.cimports.cpython.exc import PyErr_CheckSignals
from cython.cimports.libc.stdlib import free
from cython.cimports.libc.string import memcpy, memset
from cython.cimports.secateur._kernels.best_split import (
    find_best_split,
    is_better_split,
    no_split,
    search_codes,
    search_lists,
    search_two_valued,
    write_two_valued_branch,
)
from cython.cimports.secateur._kernels.context import (
    ABOVE,
    BELOW,
    BRANCH_START,
    DEFAULT_CHILD,
    END,
    KIND,
    MULTIWAY,
    N_CHILDREN,
    OPEN,
    SLOT,
    SPLIT_STEP,
    START,
    SUBSET,
    GrowContext,
    NodeStats,
    Split,
    TreeTables,
    Workspace,
)
from cython.cimports.secateur._kernels.criteria import class_stats
from cython.cimports.secateur._kernels.monotone import limit_children, read_limits
from cython.cimports.secateur._kernels.split_node import add_children, assign_children, partition_slots
from cython.cimports.secateur._kernels.surrogate import find_surrogates, reserve_branches

from .stop import STOPPED, check_stopped

RELATIVE_TIE = cython.declare(cython.double, 1e-12)  # drops are tied within this share when the next node is chosen
ENTRIES_BETWEEN_CHECKS = cython.declare(cython.longlong, 1 << 26)  # entries searched between two checks for Ctrl-C
LISTS, CODES, BITS = 0, 1, 2  # kinds of column, for callers of `best_split`
LISTS_KIND = cython.declare(cython.int, LISTS)  # the same constants as C integers, for `_search_slots`
CODES_KIND = cython.declare(cython.int, CODES)

FINISHED = cython.declare(cython.int, 0)  # results of `_grow`
PAUSED = cython.declare(cython.int, 1)
OUT_OF_MEMORY = cython.declare(cython.int, -1)
LEAF = cython.declare(cython.int, 0)  # results of `_evaluate`, besides OUT_OF_MEMORY
SPLITTABLE = cython.declare(cython.int, 1)


def _is_before(tree, a, b):
    """Return whether best-first growth splits node a before node b: larger drops first, then older nodes."""
    drop_a = tree.reals[(a + 1) * tree.n_reals - 1]
    drop_b = tree.reals[(b + 1) * tree.n_reals - 1]
    tie = RELATIVE_TIE * (max(drop_b, drop_a))
    return drop_a > drop_b + tie or (drop_a >= drop_b - tie and a < b)


def _push(tree, node_number):
    """Add a node to the heap."""
    heap = tree.heap
    i = tree.n_heap
    heap[i] = node_number
    tree.n_heap += 1
    while i > 0 and _is_before(tree, heap[i], heap[(i - 1) >> 1]):
        heap[i] = heap[(i - 1) >> 1]
        heap[(i - 1) >> 1] = node_number
        i = (i - 1) >> 1


def _pop(tree):
    """Remove the node that is split next from the heap, and return it."""
    heap = tree.heap
    first = heap[0]
    i: cython.Py_ssize_t = 0
    tree.n_heap -= 1
    heap[0] = heap[tree.n_heap]
    while True:
        child = 2 * i + 1
        if child >= tree.n_heap:
            break
        if child + 1 < tree.n_heap and _is_before(tree, heap[child + 1], heap[child]):
            child += 1
        if not _is_before(tree, heap[child], heap[i]):
            break
        item = heap[i]
        heap[i] = heap[child]
        heap[child] = item
        i = child
    return first


def _grow(context, scratch, lists, tree, max_children):
    """Grow on, and return FINISHED, OUT_OF_MEMORY or PAUSED.

    Growth pauses so that the caller can check for Ctrl-C, or enlarge the tables. The next call continues it.
    """
    n_entries: cython.longlong = 0
    while tree.n_splits < context.max_splits:
        if n_entries > ENTRIES_BETWEEN_CHECKS or tree.n_nodes + max_children > tree.capacity:
            return PAUSED
        if tree.n_unevaluated > 0:
            tree.n_unevaluated -= 1
            v = tree.unevaluated[tree.n_unevaluated]
            node = tree.nodes + v * tree.n_columns
            if node[END] - node[START] <= tree.max_open_rows:
                node[SPLIT_STEP] = OPEN
                continue
            n_entries += (node[END] - node[START]) * context.n_slots
            status = _evaluate(context, scratch, lists, tree, v)
            if status == OUT_OF_MEMORY:
                return OUT_OF_MEMORY
            if status == LEAF:
                continue
            if context.is_best_first:
                _push(tree, v)
                continue
        elif tree.n_heap > 0:
            v = _pop(tree)
        else:
            return FINISHED
        if not _split(context, scratch, lists, tree, v):
            return OUT_OF_MEMORY
    return FINISHED


def _evaluate(context, scratch, lists, tree, node_number):
    """Find the best split of a node and write it to the tables: return LEAF, SPLITTABLE or OUT_OF_MEMORY."""
    stats: NodeStats
    split: Split
    node = tree.nodes + node_number * tree.n_columns
    reals = tree.reals + node_number * tree.n_reals
    if not find_best_split(context, scratch, lists, node, reals, cython.address(stats), cython.address(split)):
        return LEAF
    if not _record_split(context, scratch, tree, node, cython.address(split)):
        return OUT_OF_MEMORY
    # The score is the gain per unit of weight, or the gain ratio. The drop is the gain of all rows, by which best-first
    # growth orders the nodes; with the gain ratio, it is the ratio times the weight.
    reals[tree.n_reals - 2] = split.score if context.is_gain_ratio else split.score / stats.weight
    reals[tree.n_reals - 1] = split.score * stats.weight if context.is_gain_ratio else split.score
    return SPLITTABLE


def _record_split(context, scratch, tree, node, split):
    """Write the best split of a node to the tables; return False if memory is exhausted."""
    n_codes = context.n_codes[split.slot - context.n_lists] if split.slot >= context.n_lists else 0
    node[SLOT] = split.slot
    node[KIND] = split.kind
    node[BELOW] = split.below
    node[ABOVE] = split.above
    node[DEFAULT_CHILD] = split.default_child
    node[N_CHILDREN] = n_codes if split.kind == MULTIWAY else 2
    if split.kind == SUBSET:
        if not reserve_branches(tree, n_codes):
            return False
        node[BRANCH_START] = tree.n_branch
        memcpy(tree.branch + tree.n_branch, scratch.histogram.branch, n_codes * cython.sizeof(cython.ushort))
        tree.n_branch += n_codes
    return True


def _split(context, scratch, lists, tree, node_number):
    """Split a node as the tables say, and push the children that may be split; return False if memory is exhausted."""
    node = tree.nodes + node_number * tree.n_columns
    n_children = node[N_CHILDREN]
    assign_children(context, scratch, lists, node, tree.reals + node_number * tree.n_reals, tree.branch)
    if context.max_surrogates > 0 and not find_surrogates(context, scratch, lists, node, tree):
        return False
    splittable = add_children(
        context, scratch, node, tree.nodes, tree.reals, tree.n_columns, tree.n_reals, tree.n_nodes
    )
    if context.sign_of_slot != cython.NULL:
        limit_children(context, scratch, lists, node, tree.nodes + tree.n_nodes * tree.n_columns, tree.n_columns)
    node[SPLIT_STEP] = tree.n_splits
    tree.n_splits += 1
    if splittable != 0:
        # `has_ties` is that of the node evaluated last. In best-first growth, this may be another node.
        partition_slots(context, scratch, lists, node, 0, context.n_lists + 1, splittable, context.is_best_first)
        for c in range(n_children - 1, -1, -1):
            if tree.nodes[(tree.n_nodes + c) * tree.n_columns + START] >= 0:
                tree.unevaluated[tree.n_unevaluated] = tree.n_nodes + c
                tree.n_unevaluated += 1
    tree.n_nodes += n_children
    return True


@cython.cclass
class _Growth:
    """The tables of a tree while it grows, and the arrays behind them."""

    tree: TreeTables
    nodes: object
    reals: object
    _queue_arrays: object

    def __cinit__(self) -> None:
        memset(cython.address(self.tree), 0, cython.sizeof(TreeTables))

    def __dealloc__(self) -> None:
        free(self.tree.branch)
        free(self.tree.surrogates)

    @cython.cfunc
    def start(self, root: cython.longlong[::1], root_reals: cython.double[::1], max_children: cython.int) -> object:
        """Begin a new tree with its root as the only node."""
        tree = cython.address(self.tree)
        tree.n_columns = cython.cast(cython.int, root.shape[0])
        tree.n_reals = cython.cast(cython.int, root_reals.shape[0])
        tree.n_nodes = 0
        tree.n_unevaluated = 0
        tree.n_heap = 0
        tree.n_branch = 0
        tree.n_splits = 0
        tree.n_surrogates = 0
        capacity = root[END] - root[START] + max_children + 1
        if tree.capacity < capacity:
            self.resize(capacity)
        tree.n_nodes = 1
        tree.n_unevaluated = 1
        memcpy(tree.nodes, cython.address(root[0]), tree.n_columns * cython.sizeof(cython.longlong))
        memcpy(tree.reals, cython.address(root_reals[0]), tree.n_reals * cython.sizeof(cython.double))
        tree.nodes[SPLIT_STEP] = -1
        tree.unevaluated[0] = 0

    @cython.cfunc
    def resize(self, capacity: cython.Py_ssize_t) -> object:
        """Move the tables to larger arrays. Pages of an array that are never written to use no memory."""
        tree = cython.address(self.tree)
        nodes: cython.longlong[:, ::1] = np.empty((capacity, tree.n_columns), np.int64)
        reals: cython.double[:, ::1] = np.empty((capacity, tree.n_reals))
        unevaluated: cython.longlong[::1] = np.empty(capacity, np.int64)
        heap: cython.longlong[::1] = np.empty(capacity, np.int64)
        if tree.capacity:
            node_bytes: cython.size_t = tree.n_columns * cython.sizeof(cython.longlong)
            real_bytes: cython.size_t = tree.n_reals * cython.sizeof(cython.double)
            memcpy(cython.address(nodes[0, 0]), tree.nodes, tree.n_nodes * node_bytes)
            memcpy(cython.address(reals[0, 0]), tree.reals, tree.n_nodes * real_bytes)
            n_unevaluated: cython.size_t = tree.n_unevaluated
            memcpy(cython.address(unevaluated[0]), tree.unevaluated, n_unevaluated * cython.sizeof(cython.longlong))
            memcpy(cython.address(heap[0]), tree.heap, tree.n_heap * cython.sizeof(cython.longlong))
        tree.nodes = cython.address(nodes[0, 0])
        tree.reals = cython.address(reals[0, 0])
        tree.unevaluated = cython.address(unevaluated[0])
        tree.heap = cython.address(heap[0])
        tree.capacity = capacity
        self.nodes = nodes.base
        self.reals = reals.base
        self._queue_arrays = (unevaluated.base, heap.base)

    @cython.cfunc
    def copy_branch(self) -> object:
        """Return the child of each category, one subset split or surrogate after the other."""
        copied = np.empty(self.tree.n_branch, np.uint16)
        children: cython.ushort[::1] = copied
        if self.tree.n_branch:
            n_bytes: cython.size_t = self.tree.n_branch * cython.sizeof(cython.ushort)
            memcpy(cython.address(children[0]), self.tree.branch, n_bytes)
        return copied

    @cython.cfunc
    def copy_surrogates(self) -> object:
        """Return the surrogates as (split_step, slot, low_child, branch_start) and (threshold, agreement)."""
        n = self.tree.n_surrogates
        whole_numbers: cython.longlong[:, ::1] = np.empty((n, 4), np.int64)
        reals: cython.double[:, ::1] = np.empty((n, 2))
        for i in range(n):
            surrogate = self.tree.surrogates + i
            whole_numbers[i, 0] = surrogate.split_step
            whole_numbers[i, 1] = surrogate.slot
            whole_numbers[i, 2] = surrogate.low_child
            whole_numbers[i, 3] = surrogate.branch_start
            reals[i, 0] = surrogate.threshold
            reals[i, 1] = surrogate.agreement
        return whole_numbers.base, reals.base


def grow_subtree(
    context: GrowContext,
    workspace: Workspace,
    root: cython.longlong[::1],
    root_reals: cython.double[::1],
    max_open_rows: cython.Py_ssize_t = 0,
):
    """Grow the subtree of one node; return its tables (nodes, reals) and the child of each category (branch).

    The tables are valid until the next subtree is grown in this workspace. Nodes of at most `max_open_rows` rows are
    not split, but marked as OPEN. Surrogates are written to `workspace.surrogates`.
    """
    growth: _Growth = workspace.tables if workspace.tables is not None else _Growth()
    workspace.tables = growth
    tree = cython.address(growth.tree)
    data = cython.address(context.context)
    scratch = cython.address(workspace.scratch)
    max_children = context.max_codes
    status: cython.int = PAUSED
    growth.start(root, root_reals, max_children)
    tree.max_open_rows = max_open_rows
    while status == PAUSED:
        if tree.n_nodes + max_children > tree.capacity:
            growth.resize(2 * tree.capacity + max_children)
        with cython.nogil:
            if context.is_wide:
                status = _grow(data, scratch, cython.cast(cython.p_ulonglong, data.entries), tree, max_children)
            else:
                status = _grow(data, scratch, cython.cast(cython.p_uint, data.entries), tree, max_children)
        PyErr_CheckSignals()
        if STOPPED:
            check_stopped()
    if status == OUT_OF_MEMORY:
        raise MemoryError
    branch = growth.copy_branch()
    if data.max_surrogates > 0:
        workspace.surrogates = growth.copy_surrogates()
    return growth.nodes[: tree.n_nodes], growth.reals[: tree.n_nodes], branch


def best_split(
    context: GrowContext,
    workspace: Workspace,
    node: cython.longlong[::1],
    reals: cython.double[::1],
    kind: cython.int,
    slots: tuple,
):
    """Return the best split of a node with classes, as the fields of `growing.Split`.

    `slots` is a pair (first, last). The slots from `first` to `last - 1`, all of the given kind, are searched. The
    child of each category is written to `workspace.branch`.
    """
    data = cython.address(context.context)
    scratch = cython.address(workspace.scratch)
    best: Split
    first: cython.int = slots[0]
    last: cython.int = slots[1]
    line = cython.address(node[0])
    counts = cython.address(reals[0])
    out = cython.address(best)
    with cython.nogil:
        if context.is_wide:
            wide = cython.cast(cython.p_ulonglong, data.entries)
            _search_slots(data, scratch, wide, line, counts, kind, first, last, out)
        else:
            narrow = cython.cast(cython.p_uint, data.entries)
            _search_slots(data, scratch, narrow, line, counts, kind, first, last, out)
    return best.score, best.slot, best.kind, best.below, best.above, best.default_child


def _search_slots(context, scratch, lists, node, reals, kind, first, last, best):
    """Write to `best` the best split of a node with classes among the slots `first` to `last - 1`, all of one kind."""
    stats: NodeStats
    best[0] = no_split(context)
    class_stats(context, node[END] - node[START], reals, cython.address(stats))
    read_limits(context, node, cython.address(stats))
    if kind == LISTS_KIND:
        search_lists(context, scratch, lists, node, cython.address(stats), first, last, best)
    elif kind == CODES_KIND:
        search_codes(context, scratch, lists, node, cython.address(stats), first, last, best)
    else:
        search_two_valued(context, scratch, lists, node, cython.address(stats), best)
        write_two_valued_branch(context, scratch, best)


def is_better(context: GrowContext, best, rival, reals: cython.double[::1]):
    """Return whether the split `rival` of a node is better than `best`; `reals` is the line of the node."""
    stats: NodeStats
    data = cython.address(context.context)
    # The comparison reads only the score and the slot of a split.
    best_split_found = Split(best[0], best[1], 0, 0, 0, 0)
    rival_split = Split(rival[0], rival[1], 0, 0, 0, 0)
    class_stats(data, 0, cython.address(reals[0]), cython.address(stats))
    return is_better_split(data, cython.address(best_split_found), cython.address(rival_split), stats.tie)


def split_node(
    context: GrowContext,
    workspace: Workspace,
    nodes: cython.longlong[:, ::1],
    reals: cython.double[:, ::1],
    branch: cython.ushort[::1],
):
    """Split the node in line 0 of the tables, and write its children to the lines after line 0.

    Returns which children may be split, as bits; see `split_node.add_children`.
    """
    data = cython.address(context.context)
    scratch = cython.address(workspace.scratch)
    node = cython.address(nodes[0, 0])
    counts = cython.address(reals[0, 0])
    children = cython.address(branch[0])
    n_columns = cython.cast(cython.int, nodes.shape[1])
    n_reals = cython.cast(cython.int, reals.shape[1])
    with cython.nogil:
        if context.is_wide:
            assign_children(data, scratch, cython.cast(cython.p_ulonglong, data.entries), node, counts, children)
        else:
            assign_children(data, scratch, cython.cast(cython.p_uint, data.entries), node, counts, children)
    kept_children = add_children(data, scratch, node, node, counts, n_columns, n_reals, 1)
    if data.sign_of_slot != cython.NULL:  # the counts of the children suffice for classes, so the lists are not read
        limit_children(data, scratch, cython.cast(cython.p_uint, data.entries), node, node + n_columns, n_columns)
    return kept_children


def partition(
    context: GrowContext,
    workspace: Workspace,
    node: cython.longlong[::1],
    slots: tuple,
    splittable: cython.int,
):
    """Partition the rows of a node among its children, in the slots `first` to `last - 1` of `slots = (first, last)`.

    Slot n_lists stands for all columns of codes together. `splittable` is the result of `split_node`.
    """
    data = cython.address(context.context)
    scratch = cython.address(workspace.scratch)
    line = cython.address(node[0])
    first: cython.int = slots[0]
    last: cython.int = slots[1]
    with cython.nogil:
        if context.is_wide:
            wide = cython.cast(cython.p_ulonglong, data.entries)
            partition_slots(data, scratch, wide, line, first, last, splittable, False)
        else:
            narrow = cython.cast(cython.p_uint, data.entries)
            partition_slots(data, scratch, narrow, line, first, last, splittable, False)
