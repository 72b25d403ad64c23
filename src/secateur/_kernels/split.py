"""Split a node: assign its rows to the children, write these to the tables, partition the lists."""

import cython
from cython.cimports.libc.math import rint
from cython.cimports.secateur._kernels import bits, growing
from cython.cimports.secateur._kernels.coded import lane_of
from cython.cimports.secateur._kernels.evaluate import is_varying, n_missing_at_end
from cython.cimports.secateur._kernels.growing import ARITY, END, N_FIELDS, SLOT, START, Entry, as_entries, code_of
from cython.cimports.secateur._kernels.partition import split_list, split_list_many


def _cut_list(facts, desk, entries, n, below, n_missing, default):
    """Two children of a list: slices, one of which the missing rows join."""
    shift: cython.int = facts.shift
    mask: Entry = facts.mask
    edges = cython.declare(cython.Py_ssize_t[4], [0, below, n - n_missing, n])
    of_row: cython.p_double = cython.NULL if facts.of_class != cython.NULL else facts.weight
    c: cython.int
    for part in range(3 if n_missing else 2):
        c = part if part < 2 else default
        counts = desk.child_counts + c * facts.n_sums
        desk.child_rows[c] += edges[part + 1] - edges[part]
        for i in range(edges[part], edges[part + 1]):
            e = entries[i]
            facts.goes_left[e >> shift] = 1 - c
            counts[(e & mask) >> 1] += 1.0 if of_row == cython.NULL else of_row[e >> shift]


def _is_alone(facts):
    """Whether all columns are words: they tell by themselves where they go, and nobody asks which rows they were."""
    is_asked: cython.bint = facts.n_lists > 0 or facts.n_coded > 0 or facts.n_surrogates > 0
    return facts.words != cython.NULL and not is_asked


def _cut_codes(facts, desk, entries, node, reals, branch):
    """Children of a column of codes; rows of weight 1 (in their class) are taken class after class."""
    shift = facts.shift
    n_sums = facts.n_sums
    n_children = cython.cast(cython.int, node[ARITY])
    lane = lane_of(facts, node[SLOT] - facts.n_lists, node[START])
    words = lane.words
    is_subset: cython.bint = node[growing.KIND] == growing.SUBSET
    is_number: cython.bint = node[growing.KIND] == growing.NUMERIC
    of_row: cython.p_double = cython.NULL if facts.of_class != cython.NULL else facts.weight
    child: cython.p_ushort = branch
    mask: Entry = facts.mask
    c: cython.int
    i: cython.Py_ssize_t
    start: cython.Py_ssize_t = 0
    if is_subset:
        child += node[growing.BRANCH]
    if n_children > 2 or of_row != cython.NULL or words == cython.NULL:
        for i in range(node[END] - node[START]):
            e = entries[i]
            row = e >> shift
            c = cython.cast(cython.int, code_of(facts, cython.address(lane), i, row))
            if is_subset:
                c = child[c]
            elif is_number:
                c = c > node[growing.BELOW]
            if n_children > 2:
                facts.child_of[row] = c
            else:
                facts.goes_left[row] = 1 - c
            desk.child_rows[c] += 1
            desk.child_counts[c * n_sums + cython.cast(cython.int, (e & mask) >> 1)] += (
                1.0 if of_row == cython.NULL else of_row[row]
            )
        return
    for k in range(n_sums):
        m = cython.cast(
            cython.Py_ssize_t, rint(reals[k] if facts.of_class == cython.NULL else reals[k] / facts.of_class[k])
        )
        end = start + m
        ones = 0
        if _is_alone(facts):
            for i in range(start, end):
                ones += cython.cast(cython.Py_ssize_t, (words[i] >> lane.at) & 1)
        else:
            for i in range(start, end):
                c = cython.cast(cython.int, (words[i] >> lane.at) & lane.mask)
                c = child[c] if is_subset else c > node[growing.BELOW]
                facts.goes_left[entries[i] >> shift] = 1 - c
                ones += c
        desk.child_counts[k] = cython.cast(cython.double, m - ones)
        desk.child_counts[n_sums + k] = cython.cast(cython.double, ones)
        desk.child_rows[0] += m - ones
        desk.child_rows[1] += ones
        start = end


def clear_children(facts, desk, n_children):
    """Begin to count the children."""
    for c in range(n_children):
        desk.child_rows[c] = 0
        for k in range(facts.n_sums):
            desk.child_counts[c * facts.n_sums + k] = 0


def size_children(facts, desk, n_children):
    """From rows and classes, as counted, what the children weigh and what the limits count."""
    for c in range(n_children):
        counts = desk.child_counts + c * facts.n_sums
        if facts.of_class != cython.NULL:
            for k in range(facts.n_sums):
                counts[k] *= facts.of_class[k]
        desk.child_size[c] = cython.cast(cython.double, desk.child_rows[c])
        if facts.by_weight:
            desk.child_size[c] = 0
            for k in range(facts.n_sums):
                desk.child_size[c] += counts[k]


def assign_children(facts, desk, lists, node, reals, branch):
    """Write each row's child to `goes_left` (many children: to `child_of`).

    Counts the children into `desk`, fills in DEFAULT where growing saw nothing missing
    (the child with most examples) and turns the position of a cut into the rows around it.
    """
    n_children = cython.cast(cython.int, node[ARITY])
    n: cython.Py_ssize_t = node[END] - node[START]
    below: cython.Py_ssize_t = node[growing.BELOW]
    largest: cython.int = 0
    clear_children(facts, desk, n_children)
    if node[SLOT] < facts.n_lists:
        entries = lists + node[SLOT] * facts.n_rows + node[START]
        n_missing = n_missing_at_end(facts, node[SLOT], entries, n)
        _cut_list(facts, desk, entries, n, below, n_missing, cython.cast(cython.int, node[growing.DEFAULT]))
        node[growing.BELOW] = entries[below - 1] >> facts.shift
        node[growing.ABOVE] = -1
        if below < n - n_missing:
            node[growing.ABOVE] = entries[below] >> facts.shift
    else:
        _cut_codes(facts, desk, as_entries(facts.rows, lists) + node[START], node, reals, branch)
    size_children(facts, desk, n_children)
    for c in range(n_children):
        if desk.child_size[c] > desk.child_size[largest]:
            largest = c
    if node[growing.DEFAULT] < 0:
        node[growing.DEFAULT] = largest


def _is_splittable(facts, counts, size, n_rows, depth):
    """Whether a node may be tested at all: large enough, not too deep, not pure."""
    n_here: cython.int = 0
    if depth >= facts.max_depth or size < facts.least_split or size < 2 * facts.least_leaf:
        return False
    if facts.measure.number == growing.SQUARES:
        return n_rows > 1
    for c in range(facts.n_sums):
        n_here += counts[c] > 0
    return n_here > 1


def _narrow(facts, node, tested):
    """Leave a node the groups that hold the slot tested above it, and the slots of these groups."""
    one: cython.ulonglong = 1
    n: cython.int = facts.n_slot_words
    left = node + N_FIELDS + n
    for k in range(n):
        allowed = 0
        for g in range(facts.n_groups):
            if not (facts.groups[g * n + (tested >> 6)] >> (tested & 63)) & 1:
                left[g >> 6] &= ~cython.cast(cython.longlong, one << (g & 63))
            elif (left[g >> 6] >> (g & 63)) & 1:
                allowed |= facts.groups[g * n + k]
        node[N_FIELDS + k] &= cython.cast(cython.longlong, allowed)


def add_children(facts, desk, parent, nodes, reals, n_columns, n_reals, first):
    """Write the children of a node to the tables; returns which may be split: bit 0 the first, bit 1 any other.

    START of a child that may not be split is -1.
    """
    keep: cython.int = 0
    at = parent[START]
    c: cython.int
    parent[growing.FIRST] = first
    for c in range(parent[ARITY]):
        child = nodes + (first + c) * n_columns
        own = reals + (first + c) * n_reals
        counts = desk.child_counts + c * facts.n_sums
        for k in range(facts.n_sums):
            own[k] = counts[k]
        own[n_reals - 2] = 0
        own[n_reals - 1] = 0
        for k in range(N_FIELDS):
            child[k] = 0
        for k in range(N_FIELDS, n_columns):
            child[k] = parent[k]
        if facts.n_groups > 0:
            _narrow(facts, child, parent[SLOT])
        child[growing.DEPTH] = parent[growing.DEPTH] + 1
        child[growing.BRANCH] = -1
        child[growing.BIRTH] = -1
        child[START] = at
        at += desk.child_rows[c]
        child[END] = at
        if _is_splittable(facts, counts, desk.child_size[c], desk.child_rows[c], child[growing.DEPTH]):
            keep |= 1 if c == 0 else 2
        else:
            child[START] = -1
    return keep


def _split(facts, desk, entries, node, keep, has_ties):
    n: cython.Py_ssize_t = node[END] - node[START]
    n_children = cython.cast(cython.int, node[ARITY])
    scratch = as_entries(desk.entries, entries)
    if n_children == 2:
        split_list(entries, n, desk.child_rows[0], facts.goes_left, facts.shift, keep, has_ties, scratch)
    else:
        split_list_many(entries, n, n_children, desk.child_rows, facts.child_of, facts.shift, scratch, desk.child_place)


def partition_slots(facts, desk, lists, node, first, last, keep, force_ties):
    """Partition the lists from `first` to `last`; slot n_lists stands for the rows of the coded columns."""
    p: cython.Py_ssize_t = node[SLOT]
    n: cython.Py_ssize_t = node[END] - node[START]
    rows = as_entries(facts.rows, lists) + node[START]
    for s in range(first, min(facts.n_lists, last)):
        if is_varying(node, s):
            _split(facts, desk, lists + s * facts.n_rows + node[START], node, keep, force_ties | desk.has_ties[s])
    if last <= facts.n_lists or facts.rows == cython.NULL:
        return
    words = facts.words + node[START]
    if _is_alone(facts):
        by = words + (p >> 6) * facts.n_rows
        for j in range(facts.n_words):
            if j != p >> 6:
                bits.split_words(facts, rows, n, by, p & 63, words + j * facts.n_rows, desk.words)
        bits.split_words(facts, rows, n, by, p & 63, by, desk.words)
        return
    for j in range(facts.n_words):
        bits.split_words(facts, rows, n, cython.NULL, 0, words + j * facts.n_rows, desk.words)
    for j in range(facts.n_code_words):
        words = facts.codes + j * facts.n_rows + node[START]
        if node[ARITY] == 2:
            bits.split_words(facts, rows, n, cython.NULL, 0, words, desk.words)
        else:
            bits.split_words_many(facts, desk, rows, n, cython.cast(cython.int, node[ARITY]), words)
    _split(facts, desk, rows, node, keep, False)
