"""Split a node: assign its rows to the children, write these to the tables, partition the lists."""

import cython
from cython.cimports.libc.math import rint
from cython.cimports.secateur._kernels import bits
from cython.cimports.secateur._kernels.evaluate import is_varying, n_missing_at_end
from cython.cimports.secateur._kernels.growing import (
    ABOVE,
    ARITY,
    BELOW,
    BIRTH,
    BRANCH,
    DEFAULT,
    DEPTH,
    END,
    FIRST,
    KIND,
    N_FIELDS,
    NUMERIC,
    SLOT,
    SQUARES,
    START,
    SUBSET,
    Entry,
)
from cython.cimports.secateur._kernels.partition import split_list, split_list_many


def _cut_list(facts, desk, entries, n, below, n_missing, default):
    """Two children of a list: slices, one of which the missing rows join."""
    shift: cython.int = facts.shift
    unit: Entry = 1
    mask: Entry = (unit << shift) - 1
    edges = cython.declare(cython.Py_ssize_t[4])
    counts: cython.p_double
    of_row: cython.p_double = cython.NULL if facts.of_class != cython.NULL else facts.weight
    part: cython.int
    c: cython.int
    e: Entry
    edges[0] = 0
    edges[1] = below
    edges[2] = n - n_missing
    edges[3] = n
    for part in range(3 if n_missing else 2):
        c = part if part < 2 else default
        counts = desk.child_counts + c * facts.n_sums
        desk.child_rows[c] += edges[part + 1] - edges[part]
        if of_row == cython.NULL:
            for i in range(edges[part], edges[part + 1]):
                e = entries[i]
                facts.goes_left[e >> shift] = 1 - c
                counts[(e & mask) >> 1] += 1
        else:
            for i in range(edges[part], edges[part + 1]):
                e = entries[i]
                facts.goes_left[e >> shift] = 1 - c
                counts[(e & mask) >> 1] += of_row[e >> shift]


def _is_alone(facts):
    """Whether all columns are words: they tell by themselves where they go, and nobody asks which rows they were."""
    is_asked: cython.bint = facts.n_lists > 0 or facts.n_coded > 0 or facts.n_surrogates > 0
    return facts.words != cython.NULL and not is_asked


def _cut_codes(facts, desk, entries, node, reals, branch):
    """Children of a column of codes; rows of weight 1 (in their class) are taken class after class."""
    shift = facts.shift
    n: cython.Py_ssize_t = node[END] - node[START]
    n_sums = facts.n_sums
    n_children = cython.cast(cython.int, node[ARITY])
    j: cython.Py_ssize_t = node[SLOT] - facts.n_lists
    p: cython.Py_ssize_t = j - facts.n_coded
    per_word: cython.int
    at: cython.int = 0
    one: cython.ulonglong = 1
    lane: cython.ulonglong = 1
    is_subset: cython.bint = node[KIND] == SUBSET
    is_number: cython.bint = node[KIND] == NUMERIC
    of_row: cython.p_double = cython.NULL if facts.of_class != cython.NULL else facts.weight
    words: cython.p_ulonglong = cython.NULL
    child: cython.p_ushort = branch
    unit: Entry = 1
    mask: Entry = (unit << shift) - 1
    row: Entry
    c: cython.int
    i: cython.Py_ssize_t
    start: cython.Py_ssize_t = 0
    if is_subset:
        child += node[BRANCH]
    if p < 0:
        per_word = 64 // facts.code_bits
        words = facts.codes + (j // per_word) * facts.n_rows + node[START]
        at = facts.code_bits * cython.cast(cython.int, j % per_word)
        lane = (one << facts.code_bits) - 1
    elif facts.words != cython.NULL:
        words = facts.words + (p >> 6) * facts.n_rows + node[START]
        at = p & 63
    if n_children > 2 or of_row != cython.NULL or words == cython.NULL:
        for i in range(n):
            e = entries[i]
            row = e >> shift
            if words != cython.NULL:
                c = cython.cast(cython.int, (words[i] >> at) & lane)
            else:
                c = facts.bits[cython.cast(cython.size_t, row) * facts.width + p]
            if is_subset:
                c = child[c]
            elif is_number:
                c = c > node[BELOW]
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
                ones += cython.cast(cython.Py_ssize_t, (words[i] >> at) & 1)
        elif is_subset:
            for i in range(start, end):
                c = child[(words[i] >> at) & lane]
                facts.goes_left[entries[i] >> shift] = 1 - c
                ones += c
        else:
            for i in range(start, end):
                c = cython.cast(cython.int, (words[i] >> at) & lane) > node[BELOW]
                facts.goes_left[entries[i] >> shift] = 1 - c
                ones += c
        desk.child_counts[k] = cython.cast(cython.double, m - ones)
        desk.child_counts[n_sums + k] = cython.cast(cython.double, ones)
        desk.child_rows[0] += m - ones
        desk.child_rows[1] += ones
        start = end


def assign_children(facts, desk, lists, rows, node, reals, branch):
    """Write each row's child to `goes_left` (many children: to `child_of`).

    Counts the children into `desk`, fills in DEFAULT where growing saw nothing missing
    (the child with most examples) and turns the position of a cut into the rows around it.
    """
    n_children = cython.cast(cython.int, node[ARITY])
    n_sums = facts.n_sums
    n: cython.Py_ssize_t = node[END] - node[START]
    below: cython.Py_ssize_t = node[BELOW]
    largest: cython.int = 0
    for c in range(n_children):
        desk.child_rows[c] = 0
        for k in range(n_sums):
            desk.child_counts[c * n_sums + k] = 0
    if node[SLOT] < facts.n_lists:
        entries = lists + node[SLOT] * facts.n_rows + node[START]
        n_missing = n_missing_at_end(facts, node[SLOT], entries, n)
        _cut_list(facts, desk, entries, n, below, n_missing, cython.cast(cython.int, node[DEFAULT]))
        node[BELOW] = entries[below - 1] >> facts.shift
        node[ABOVE] = -1
        if below < n - n_missing:
            node[ABOVE] = entries[below] >> facts.shift
    else:
        _cut_codes(facts, desk, rows + node[START], node, reals, branch)
    for c in range(n_children):
        counts = desk.child_counts + c * n_sums
        if facts.of_class != cython.NULL:
            for k in range(n_sums):
                counts[k] *= facts.of_class[k]
        desk.child_size[c] = cython.cast(cython.double, desk.child_rows[c])
        if facts.by_weight:
            desk.child_size[c] = 0
            for k in range(n_sums):
                desk.child_size[c] += counts[k]
        if desk.child_size[c] > desk.child_size[largest]:
            largest = c
    if node[DEFAULT] < 0:
        node[DEFAULT] = largest


def _is_splittable(facts, counts, size, n_rows, depth):
    """Whether a node may be tested at all: large enough, not too deep, not pure."""
    n_here: cython.int = 0
    if depth >= facts.max_depth or size < facts.least_split or size < 2 * facts.least_leaf:
        return False
    if facts.measure.number == SQUARES:
        return n_rows > 1
    for c in range(facts.n_sums):
        n_here += counts[c] > 0
    return n_here > 1


def _narrow(facts, node, tested):
    """Leave a node the groups that hold the slot tested above it, and the slots of these groups."""
    one: cython.ulonglong = 1
    bit: cython.longlong
    allowed: cython.ulonglong
    g: cython.int
    k: cython.int
    n: cython.int = facts.n_slot_words
    for k in range(n):
        allowed = 0
        for g in range(facts.n_groups):
            if not (facts.groups[g * n + (tested >> 6)] >> (tested & 63)) & 1:
                bit = cython.cast(cython.longlong, one << (g & 63))
                node[N_FIELDS + n + (g >> 6)] &= ~bit
            elif (node[N_FIELDS + n + (g >> 6)] >> (g & 63)) & 1:
                allowed |= facts.groups[g * n + k]
        node[N_FIELDS + k] &= cython.cast(cython.longlong, allowed)


def add_children(facts, desk, parent, nodes, reals, n_columns, n_reals, first):
    """Write the children of a node to the tables; returns which may be split: bit 0 the first, bit 1 any other.

    START of a child that may not be split is -1.
    """
    keep: cython.int = 0
    at = parent[START]
    c: cython.int
    parent[FIRST] = first
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
        child[DEPTH] = parent[DEPTH] + 1
        child[BRANCH] = -1
        child[BIRTH] = -1
        child[START] = at
        at += desk.child_rows[c]
        child[END] = at
        if _is_splittable(facts, counts, desk.child_size[c], desk.child_rows[c], child[DEPTH]):
            keep |= 1 if c == 0 else 2
        else:
            child[START] = -1
    return keep


def _split(facts, desk, entries, node, keep, has_ties):
    n: cython.Py_ssize_t = node[END] - node[START]
    n_children = cython.cast(cython.int, node[ARITY])
    if Entry is cython.uint:
        scratch = cython.cast(cython.p_uint, desk.entries)
    else:
        scratch = cython.cast(cython.p_ulonglong, desk.entries)
    if n_children == 2:
        split_list(entries, n, desk.child_rows[0], facts.goes_left, facts.shift, keep, has_ties, scratch)
    else:
        split_list_many(entries, n, n_children, desk.child_rows, facts.child_of, facts.shift, scratch, desk.child_place)


def partition_slots(facts, desk, lists, rows, node, first, last, keep, force_ties):
    """Partition the lists from `first` to `last`; slot n_lists stands for the rows of the coded columns."""
    p: cython.Py_ssize_t
    n: cython.Py_ssize_t = node[END] - node[START]
    for s in range(first, min(facts.n_lists, last)):
        if is_varying(node, s):
            _split(facts, desk, lists + s * facts.n_rows + node[START], node, keep, force_ties | desk.has_ties[s])
    if last <= facts.n_lists or rows == cython.NULL:
        return
    if _is_alone(facts):
        p = node[SLOT]
        by = facts.words + (p >> 6) * facts.n_rows + node[START]
        for j in range(facts.n_words):
            words = facts.words + j * facts.n_rows + node[START]
            if j != p >> 6:
                bits.split_words_by_bit(words, by, n, p & 63, desk.words)
        bits.split_words_by_bit(by, by, n, p & 63, desk.words)
        return
    for j in range(facts.n_words):
        words = facts.words + j * facts.n_rows + node[START]
        bits.split_words(facts, rows + node[START], n, facts.goes_left, words, desk.words)
    for j in range(facts.n_code_words):
        words = facts.codes + j * facts.n_rows + node[START]
        if node[ARITY] == 2:
            bits.split_words(facts, rows + node[START], n, facts.goes_left, words, desk.words)
        else:
            bits.split_words_many(
                facts, rows + node[START], n, cython.cast(cython.int, node[ARITY]), desk.child_rows, words, desk.words,
                desk.child_place,
            )  # fmt: skip
    _split(facts, desk, rows + node[START], node, keep, False)
