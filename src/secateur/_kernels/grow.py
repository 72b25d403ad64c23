"""Grow a tree, or a part of it, from presorted lists and columns of codes.

A node owns the same slice of every list. Evaluating a node finds its best test; splitting
it partitions every list. Depth-first and best-first differ only in which node comes next,
classes and numbers only in the sums that a test starts from and in how its gain follows
from them. The tables are described in grow_parts.py.
"""

import cython
import numpy as np
from cython.cimports.cpython.exc import PyErr_CheckSignals
from cython.cimports.libc.stdlib import free
from cython.cimports.libc.string import memcpy, memset
from cython.cimports.secateur._kernels import evaluate as search
from cython.cimports.secateur._kernels import growing, split, surrogate
from cython.cimports.secateur._kernels.growing import ARITY, BIRTH, END, START, Sums, Tables, Test
from cython.cimports.secateur._kernels.job import Job, Space

from .stop import STOPPED, check_stopped

TIE = cython.declare(cython.double, 1e-12)  # of drops in the queue: nearer than this they are tied
A_BREAK = cython.declare(cython.longlong, 1 << 26)  # entries looked at between two looks for Ctrl-C


def _is_before(t, a, b):
    """Queue order of best-first: larger drop, then the older node."""
    drop_a = t.reals[(a + 1) * t.n_reals - 1]
    drop_b = t.reals[(b + 1) * t.n_reals - 1]
    tie = TIE * (max(drop_b, drop_a))
    return drop_a > drop_b + tie or (drop_a >= drop_b - tie and a < b)


def _push(t, v):
    heap = t.heap
    i = t.n_heap
    heap[i] = v
    t.n_heap += 1
    while i > 0 and _is_before(t, heap[i], heap[(i - 1) >> 1]):
        heap[i] = heap[(i - 1) >> 1]
        heap[(i - 1) >> 1] = v
        i = (i - 1) >> 1


def _pop(t):
    heap = t.heap
    top = heap[0]
    i: cython.Py_ssize_t = 0
    t.n_heap -= 1
    heap[0] = heap[t.n_heap]
    while True:
        child = 2 * i + 1
        if child >= t.n_heap:
            break
        if child + 1 < t.n_heap and _is_before(t, heap[child + 1], heap[child]):
            child += 1
        if not _is_before(t, heap[child], heap[i]):
            break
        item = heap[i]
        heap[i] = heap[child]
        heap[child] = item
        i = child
    return top


def _record(facts, desk, t, node, test):
    """Write a node's best test to the tables; False: no memory."""
    n_codes = facts.n_codes[test.slot - facts.n_lists] if test.slot >= facts.n_lists else 0
    node[growing.SLOT] = test.slot
    node[growing.KIND] = test.kind
    node[growing.BELOW] = test.below
    node[growing.ABOVE] = test.above
    node[growing.DEFAULT] = test.default
    node[ARITY] = n_codes if test.kind == growing.MULTIWAY else 2
    if test.kind == growing.SUBSET:
        if not surrogate.make_branches(t, n_codes):
            return False
        node[growing.BRANCH] = t.n_branch
        memcpy(t.branch + t.n_branch, desk.histogram.branch, n_codes * cython.sizeof(cython.ushort))
        t.n_branch += n_codes
    return True


def _grow(facts, desk, lists, t, most):
    """Grow on: 0, the tree is done; 1, time for a break or for room between two nodes; -1, no memory.

    A node has at most so many children.
    """
    sums: Sums
    test: Test
    done: cython.longlong = 0
    while t.n_splits < facts.max_splits:
        if done > A_BREAK or t.n_nodes + most > t.capacity:
            return 1
        if t.n_fresh > 0:
            t.n_fresh -= 1
            v = t.fresh[t.n_fresh]
            node = t.nodes + v * t.n_columns
            real = t.reals + v * t.n_reals
            if node[END] - node[START] <= t.n_most:
                node[BIRTH] = growing.OPEN
                continue
            done += (node[END] - node[START]) * facts.n_slots
            if not search.evaluate(facts, desk, lists, node, real, cython.address(sums), cython.address(test)):
                continue
            if not _record(facts, desk, t, node, cython.address(test)):
                return -1
            real[t.n_reals - 2] = test.score if facts.is_ratio else test.score / sums.weight
            real[t.n_reals - 1] = test.score * sums.weight if facts.is_ratio else test.score
            if facts.best_first:
                _push(t, v)
                continue
        elif t.n_heap > 0:
            v = _pop(t)
        else:
            return 0
        node = t.nodes + v * t.n_columns
        n_children = node[ARITY]
        split.assign_children(facts, desk, lists, node, t.reals + v * t.n_reals, t.branch)
        if facts.n_surrogates > 0 and not surrogate.stand_in(facts, desk, lists, node, t):
            return -1
        keep = split.add_children(facts, desk, node, t.nodes, t.reals, t.n_columns, t.n_reals, t.n_nodes)
        node[BIRTH] = t.n_splits
        t.n_splits += 1
        if keep != 0:
            split.partition_slots(facts, desk, lists, node, 0, facts.n_lists + 1, keep, facts.best_first)
            for c in range(n_children - 1, -1, -1):
                if t.nodes[(t.n_nodes + c) * t.n_columns + START] >= 0:
                    t.fresh[t.n_fresh] = t.n_nodes + c
                    t.n_fresh += 1
        t.n_nodes += n_children
    return 0


@cython.cclass
class _Growth:
    """A tree while it grows."""

    t: Tables
    nodes: object
    reals: object
    _kept: object

    def __cinit__(self) -> None:
        memset(cython.address(self.t), 0, cython.sizeof(Tables))

    def __dealloc__(self) -> None:
        free(self.t.branch)
        free(self.t.surrogates)

    @cython.cfunc
    def make_room(self, capacity: cython.Py_ssize_t) -> object:
        """Tables of another size. What is not written to costs no memory, so they may be too large."""
        t = cython.address(self.t)
        nodes: cython.longlong[:, ::1] = np.empty((capacity, t.n_columns), np.int64)
        reals: cython.double[:, ::1] = np.empty((capacity, t.n_reals))
        fresh: cython.longlong[::1] = np.empty(capacity, np.int64)
        heap: cython.longlong[::1] = np.empty(capacity, np.int64)
        if t.capacity:
            memcpy(cython.address(nodes[0, 0]), t.nodes, t.n_nodes * t.n_columns * cython.sizeof(cython.longlong))
            memcpy(cython.address(reals[0, 0]), t.reals, t.n_nodes * t.n_reals * cython.sizeof(cython.double))
            memcpy(cython.address(fresh[0]), t.fresh, t.n_fresh * cython.sizeof(cython.longlong))
            memcpy(cython.address(heap[0]), t.heap, t.n_heap * cython.sizeof(cython.longlong))
        t.nodes = cython.address(nodes[0, 0])
        t.reals = cython.address(reals[0, 0])
        t.fresh = cython.address(fresh[0])
        t.heap = cython.address(heap[0])
        t.capacity = capacity
        self.nodes, self.reals, self._kept = nodes.base, reals.base, (fresh.base, heap.base)


def grow_part(
    job: Job, space: Space, root: cython.longlong[::1], root_reals: cython.double[::1], n_most: cython.Py_ssize_t = 0
):
    """Grow the subtree of one node: (nodes, reals, branch), good until the next part is grown in this space.

    Depth-first, nodes of at most `n_most` rows are left OPEN (0: none is).
    """
    growth: _Growth = space.tables if space.tables is not None else _Growth()
    space.tables = growth
    t = cython.address(growth.t)
    facts = cython.address(job.facts)
    desk = cython.address(space.desk)
    status: cython.int = 1
    t.n_columns = cython.cast(cython.int, root.shape[0])
    t.n_reals = cython.cast(cython.int, root_reals.shape[0])
    t.n_most = n_most
    t.n_nodes = 0
    t.n_fresh = 0
    t.n_heap = 0
    t.n_branch = 0
    t.n_splits = 0
    t.n_surrogates = 0
    if t.capacity < root[END] - root[START] + job.most + 1:
        growth.make_room(root[END] - root[START] + job.most + 1)
    t.n_nodes = 1
    t.n_fresh = 1
    memcpy(t.nodes, cython.address(root[0]), t.n_columns * cython.sizeof(cython.longlong))
    memcpy(t.reals, cython.address(root_reals[0]), t.n_reals * cython.sizeof(cython.double))
    t.nodes[BIRTH] = -1
    t.fresh[0] = 0
    while status == 1:
        if t.n_nodes + job.most > t.capacity:
            growth.make_room(2 * t.capacity + job.most)
        with cython.nogil:
            if job.is_wide:
                status = _grow(facts, desk, cython.cast(cython.p_ulonglong, facts.entries), t, job.most)
            else:
                status = _grow(facts, desk, cython.cast(cython.p_uint, facts.entries), t, job.most)
        PyErr_CheckSignals()
        if STOPPED:
            check_stopped()
    if status < 0:
        raise MemoryError
    branch = np.empty(t.n_branch, np.uint16)
    children: cython.ushort[::1] = branch
    if t.n_branch:
        memcpy(cython.address(children[0]), t.branch, t.n_branch * cython.sizeof(cython.ushort))
    if facts.n_surrogates > 0:
        wholes: cython.longlong[:, ::1] = np.empty((t.n_surrogates, 4), np.int64)
        reals: cython.double[:, ::1] = np.empty((t.n_surrogates, 2))
        for i in range(t.n_surrogates):
            one = t.surrogates + i
            wholes[i, 0], wholes[i, 1], wholes[i, 2], wholes[i, 3] = one.step, one.slot, one.low, one.branch
            reals[i, 0], reals[i, 1] = one.threshold, one.agreement
        space.surrogates = wholes.base, reals.base
    return growth.nodes[: t.n_nodes], growth.reals[: t.n_nodes], branch
