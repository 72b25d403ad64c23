"""The parts of growing that the top of a large tree calls one by one from Python.

Each takes the data and the space of its thread; a node is a line of the tables.
"""

import cython
from cython.cimports.secateur._kernels import evaluate as search
from cython.cimports.secateur._kernels import split
from cython.cimports.secateur._kernels.growing import Sums, Test
from cython.cimports.secateur._kernels.job import Job, Space

LISTS, CODES, BITS = 0, 1, 2  # kinds of column


def _best(facts, desk, lists, rows, node, sums, kind, first, last, best):
    search.no_test(facts, best)
    if kind == 0:
        search.best_of_lists(facts, desk, lists, node, sums, first, last, best)
    elif kind == 1:
        search.best_of_codes(facts, desk, rows, node, sums, first, last, best)
    else:
        search.best_of_bits(facts, desk, rows, node, sums, best)


def best_test(
    job: Job, space: Space, node: cython.longlong[::1], reals: cython.double[::1], kind: cython.int, slots: tuple
):
    """Best test of a node of classes among the columns `slots = (first, last)` of one kind."""
    facts = cython.address(job.facts)
    sums: Sums
    best: Test
    first: cython.int = slots[0]
    last: cython.int = slots[1]
    at = cython.address(node[0])
    with cython.nogil:
        search.class_sums(facts, at, cython.address(reals[0]), cython.address(sums))
        if job.is_wide:
            _best(
                facts, cython.address(space.desk), cython.cast(cython.p_ulonglong, facts.entries),
                cython.cast(cython.p_ulonglong, facts.rows), at, cython.address(sums), kind, first, last,
                cython.address(best),
            )  # fmt: skip
        else:
            _best(
                facts, cython.address(space.desk), cython.cast(cython.p_uint, facts.entries),
                cython.cast(cython.p_uint, facts.rows), at, cython.address(sums), kind, first, last,
                cython.address(best),
            )  # fmt: skip
    return best.score, best.slot, best.kind, best.below, best.above, best.default


def is_better(job: Job, a, b, reals: cython.double[::1]):
    """Whether test b of a node is better than a."""
    node = cython.declare(cython.longlong[2])
    sums: Sums
    tests = cython.declare(Test[2])
    node[0] = 0
    node[1] = 0
    search.class_sums(cython.address(job.facts), node, cython.address(reals[0]), cython.address(sums))
    tests[0].score, tests[0].slot = a[0], a[1]
    tests[1].score, tests[1].slot = b[0], b[1]
    return search.is_better(cython.address(job.facts), cython.address(tests[0]), cython.address(tests[1]), sums.base)


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
            split.assign_children(
                facts, desk, cython.cast(cython.p_ulonglong, facts.entries),
                cython.cast(cython.p_ulonglong, facts.rows), at, real, to,
            )  # fmt: skip
        else:
            split.assign_children(
                facts, desk, cython.cast(cython.p_uint, facts.entries), cython.cast(cython.p_uint, facts.rows),
                at, real, to,
            )  # fmt: skip
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
            split.partition_slots(
                facts, desk, cython.cast(cython.p_ulonglong, facts.entries),
                cython.cast(cython.p_ulonglong, facts.rows), at, first, last, keep, False,
            )  # fmt: skip
        else:
            split.partition_slots(
                facts, desk, cython.cast(cython.p_uint, facts.entries), cython.cast(cython.p_uint, facts.rows),
                at, first, last, keep, False,
            )  # fmt: skip
