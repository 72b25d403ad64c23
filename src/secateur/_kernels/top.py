"""The parts of growing that the top of a large tree calls one by one from Python.

Each takes the data and the space of its thread; a node is a line of the tables.
"""

import cython
from cython.cimports.secateur._kernels import evaluate as search
from cython.cimports.secateur._kernels import growing, split
from cython.cimports.secateur._kernels.growing import Sums, Test
from cython.cimports.secateur._kernels.job import Job, Space

LISTS, CODES, BITS = 0, 1, 2  # kinds of column


def _best(facts, desk, lists, node, reals, kind, first, last, best):
    sums: Sums
    best[0] = search.no_test(facts)
    search.class_sums(facts, node[growing.END] - node[growing.START], reals, cython.address(sums))
    if kind == 0:
        search.best_of_lists(facts, desk, lists, node, cython.address(sums), first, last, best)
    elif kind == 1:
        search.best_of_codes(facts, desk, lists, node, cython.address(sums), first, last, best)
    else:
        search.best_of_bits(facts, desk, lists, node, cython.address(sums), best)
        search.part_two(facts, desk, best)


def best_test(
    job: Job, space: Space, node: cython.longlong[::1], reals: cython.double[::1], kind: cython.int, slots: tuple
):
    """Best test of a node of classes among the columns `slots = (first, last)` of one kind."""
    facts = cython.address(job.facts)
    desk = cython.address(space.desk)
    best: Test
    first: cython.int = slots[0]
    last: cython.int = slots[1]
    at = cython.address(node[0])
    own = cython.address(reals[0])
    to = cython.address(best)
    with cython.nogil:
        if job.is_wide:
            _best(facts, desk, cython.cast(cython.p_ulonglong, facts.entries), at, own, kind, first, last, to)
        else:
            _best(facts, desk, cython.cast(cython.p_uint, facts.entries), at, own, kind, first, last, to)
    return best.score, best.slot, best.kind, best.below, best.above, best.default


def is_better(job: Job, a, b, reals: cython.double[::1]):
    """Whether test b of a node is better than a."""
    sums: Sums
    first = Test(a[0], a[1], 0, 0, 0, 0)
    second = Test(b[0], b[1], 0, 0, 0, 0)
    search.class_sums(cython.address(job.facts), 0, cython.address(reals[0]), cython.address(sums))
    return search.is_better(cython.address(job.facts), cython.address(first), cython.address(second), sums.tie)


def split_node(
    job: Job, space: Space, nodes: cython.longlong[:, ::1], reals: cython.double[:, ::1], branch: cython.ushort[::1]
):
    """Split line 0 into the lines after it; returns which of these may be split."""
    facts = cython.address(job.facts)
    desk = cython.address(space.desk)
    at = cython.address(nodes[0, 0])
    real = cython.address(reals[0, 0])
    to = cython.address(branch[0])
    with cython.nogil:
        if job.is_wide:
            split.assign_children(facts, desk, cython.cast(cython.p_ulonglong, facts.entries), at, real, to)
        else:
            split.assign_children(facts, desk, cython.cast(cython.p_uint, facts.entries), at, real, to)
    return split.add_children(
        facts, desk, at, at, real, cython.cast(cython.int, nodes.shape[1]), cython.cast(cython.int, reals.shape[1]), 1
    )


def partition(job: Job, space: Space, node: cython.longlong[::1], slots: tuple, keep: cython.int):
    """Partition the lists `slots = (first, last)`; slot n_lists stands for the rows of the coded columns."""
    facts = cython.address(job.facts)
    desk = cython.address(space.desk)
    at = cython.address(node[0])
    first: cython.int = slots[0]
    last: cython.int = slots[1]
    with cython.nogil:
        if job.is_wide:
            lists = cython.cast(cython.p_ulonglong, facts.entries)
            split.partition_slots(facts, desk, lists, at, first, last, keep, False)
        else:
            narrow = cython.cast(cython.p_uint, facts.entries)
            split.partition_slots(facts, desk, narrow, at, first, last, keep, False)
