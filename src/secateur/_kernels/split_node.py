"""Split a node: assign its rows to the children, write the children to the tables, partition lists and words.

    assign_children     L R R L L R      the child of each row of the node: `goes_left`, or `child_of_row`
    add_children        | L  3 | R  3 |  two lines of the tables, and which of them may be split again
    partition_slots     the slice of the node in every list, and in every line of words:

        before  | a b c d e f |          in order of value (lists), or class after class (codes)
        after   | a d e | b c f |        the slices of the children, each still in that order

The partition is stable. The difference bit of an entry says whether its value differs from the value of the entry
before. In the slice of a child, the entry before is the last entry that went to the same child. The new bit is
therefore the bitwise or of the old bits of all entries since then:

    before              slice of child L     slice of child R
    child     L R R L L R          L L L                R R R
    value     1 1 2 2 3 3    ->    1 2 3                1 2 3
    differs   0 0 1 0 1 0          . 1 1                . 1 1       (the first bit of a slice is never read)

Each list costs O(rows of the node), a few instructions per row. No branch of the code depends on the row: every entry
is written to both children, but only the position of its own child advances. The slice of a child that will not be
split is never read, and may be left in any state.
"""

import cython
from cython.cimports.libc.math import rint
from cython.cimports.libc.string import memcpy
from cython.cimports.secateur._kernels.best_split import count_missing, is_varying
from cython.cimports.secateur._kernels.code_histogram import packed_column
from cython.cimports.secateur._kernels.context import (
    ABOVE,
    BELOW,
    BRANCH_START,
    DEFAULT_CHILD,
    DEPTH,
    END,
    FIRST_CHILD,
    KIND,
    N_CHILDREN,
    N_FIELDS,
    NUMERIC,
    SLOT,
    SPLIT_STEP,
    SQUARED_ERROR,
    START,
    SUBSET,
    Entry,
    code_of,
)

FIRST_SPLITTABLE = cython.declare(cython.int, 1)  # bit of `splittable` that is set if child 0 may be split
OTHERS_SPLITTABLE = cython.declare(cython.int, 2)  # bit that is set if at least one other child may be split


def assign_children(context, scratch, lists, node, counts, branch):
    """Write the child of each row of a node to `goes_left` or `child_of_row`, and count the children into `scratch`.

    Sets DEFAULT_CHILD to the largest child if no value is missing in the node. For a list, BELOW contains the number of
    entries below the threshold; writes the row below the threshold to BELOW, and the row above to ABOVE. Costs O(rows
    of the node).
    """
    n_children = cython.cast(cython.int, node[N_CHILDREN])
    n_rows: cython.Py_ssize_t = node[END] - node[START]
    below: cython.Py_ssize_t = node[BELOW]
    largest: cython.int = 0
    clear_children(context, scratch, n_children)
    if node[SLOT] < context.n_lists:
        entries = lists + node[SLOT] * context.n_rows + node[START]
        n_missing = count_missing(context, node[SLOT], entries, n_rows)
        missing_child = cython.cast(cython.int, node[DEFAULT_CHILD])
        _assign_by_list(context, scratch, entries, n_rows, below, n_missing, missing_child)
        node[BELOW] = entries[below - 1] >> context.shift
        node[ABOVE] = -1
        if below < n_rows - n_missing:
            node[ABOVE] = entries[below] >> context.shift
    else:
        rows = cython.cast(cython.typeof(lists), context.code_entries) + node[START]
        has_row_weights: cython.bint = context.row_weight != cython.NULL and context.weight_of_class == cython.NULL
        column = packed_column(context, node[SLOT] - context.n_lists, node[START])
        if n_children > 2 or has_row_weights or column.words == cython.NULL:
            _assign_by_row_codes(context, scratch, rows, node, branch)
        else:
            _assign_by_class_codes(context, scratch, rows, node, counts, branch)
    weigh_children(context, scratch, n_children)
    for child in range(n_children):
        if scratch.child_size[child] > scratch.child_size[largest]:
            largest = child
    if node[DEFAULT_CHILD] < 0:
        node[DEFAULT_CHILD] = largest


def _assign_by_list(context, scratch, entries, n_rows, below, n_missing, missing_child):
    """Assign the rows of a list that is split at a threshold: the first `below` entries go left, the others right.

    The last `n_missing` entries go to `missing_child`.
    """
    shift: cython.int = context.shift
    low_mask: Entry = context.low_mask
    # Three parts: rows below the threshold, rows above, missing rows.
    part_start = cython.declare(cython.Py_ssize_t[4], [0, below, n_rows - n_missing, n_rows])
    row_weight = weights_within_class(context)
    child: cython.int
    for part in range(3 if n_missing else 2):
        child = part if part < 2 else missing_child
        counts = scratch.child_counts + child * context.n_sums
        scratch.child_rows[child] += part_start[part + 1] - part_start[part]
        for i in range(part_start[part], part_start[part + 1]):
            entry = entries[i]
            context.goes_left[entry >> shift] = 1 - child
            counts[(entry & low_mask) >> 1] += 1.0 if row_weight == cython.NULL else row_weight[entry >> shift]


def _assign_by_row_codes(context, scratch, entries, node, branch):
    """Assign the rows of a column of codes, for rows with different weights or more than two children."""
    shift = context.shift
    n_sums = context.n_sums
    n_children = cython.cast(cython.int, node[N_CHILDREN])
    column = packed_column(context, node[SLOT] - context.n_lists, node[START])
    row_weight = weights_within_class(context)
    child_of_code: cython.p_ushort = branch
    low_mask: Entry = context.low_mask
    code: cython.int
    child: cython.int
    i: cython.Py_ssize_t
    is_subset: cython.bint = node[KIND] == SUBSET
    is_threshold: cython.bint = node[KIND] == NUMERIC
    if is_subset:
        child_of_code += node[BRANCH_START]
    for i in range(node[END] - node[START]):
        entry = entries[i]
        row = entry >> shift
        code = cython.cast(cython.int, code_of(context, cython.address(column), i, row))
        child = code
        if is_subset:
            child = child_of_code[code]
        elif is_threshold:
            child = code > node[BELOW]
        if n_children > 2:
            context.child_of_row[row] = child
        else:
            context.goes_left[row] = 1 - child
        scratch.child_rows[child] += 1
        line = scratch.child_counts + child * n_sums
        line[(entry & low_mask) >> 1] += 1.0 if row_weight == cython.NULL else row_weight[row]


def _assign_by_class_codes(context, scratch, entries, node, counts, branch):
    """Assign the rows of a column of codes class after class: for rows with equal weights in each class."""
    n_sums = context.n_sums
    shift = context.shift
    column = packed_column(context, node[SLOT] - context.n_lists, node[START])
    words = column.words
    child_of_code: cython.p_ushort = branch
    is_subset: cython.bint = node[KIND] == SUBSET
    code: cython.int
    child: cython.int
    i: cython.Py_ssize_t
    start: cython.Py_ssize_t = 0
    if is_subset:
        child_of_code += node[BRANCH_START]
    for class_index in range(n_sums):
        class_weight = 1.0 if context.weight_of_class == cython.NULL else context.weight_of_class[class_index]
        n_class_rows = cython.cast(cython.Py_ssize_t, rint(counts[class_index] / class_weight))
        end = start + n_class_rows
        n_right = 0
        if _has_only_bit_words(context):
            for i in range(start, end):
                n_right += cython.cast(cython.Py_ssize_t, (words[i] >> column.shift) & 1)
        else:
            for i in range(start, end):
                code = cython.cast(cython.int, (words[i] >> column.shift) & column.mask)
                child = child_of_code[code] if is_subset else code > node[BELOW]
                context.goes_left[entries[i] >> shift] = 1 - child
                n_right += child
        scratch.child_counts[class_index] = cython.cast(cython.double, n_class_rows - n_right)
        scratch.child_counts[n_sums + class_index] = cython.cast(cython.double, n_right)
        scratch.child_rows[0] += n_class_rows - n_right
        scratch.child_rows[1] += n_right
        start = end


def _has_only_bit_words(context):
    """Return whether all columns are stored as bits of words.

    The words of a node are then partitioned by the bit of the tested column, and the child of a row is never needed.
    """
    has_other_columns: cython.bint = context.n_lists > 0 or context.n_code_slots > 0
    return context.bit_words != cython.NULL and not has_other_columns and context.max_surrogates == 0


def clear_children(context, scratch, n_children):
    """Set the counts of the children to 0."""
    for child in range(n_children):
        scratch.child_rows[child] = 0
        for class_index in range(context.n_sums):
            scratch.child_counts[child * context.n_sums + class_index] = 0


def weigh_children(context, scratch, n_children):
    """Compute the class weights of the children, and their sizes, which the limits refer to.

    Before this call, `child_counts` holds numbers of rows if all rows of a class have the same weight.
    """
    for child in range(n_children):
        counts = scratch.child_counts + child * context.n_sums
        if context.weight_of_class != cython.NULL:
            for class_index in range(context.n_sums):
                counts[class_index] *= context.weight_of_class[class_index]
        scratch.child_size[child] = cython.cast(cython.double, scratch.child_rows[child])
        if context.has_weight_limits:
            scratch.child_size[child] = 0
            for class_index in range(context.n_sums):
                scratch.child_size[child] += counts[class_index]


def add_children(context, scratch, parent, nodes, reals, n_columns, n_reals, first):
    """Write the children of a node to lines `first` and following of the tables; return which of them may be split.

    Bit 0 of the result stands for child 0, bit 1 for any other child. START of a child that may not be split is -1.
    """
    splittable: cython.int = 0
    position = parent[START]
    child_index: cython.int
    parent[FIRST_CHILD] = first
    for child_index in range(parent[N_CHILDREN]):
        child = nodes + (first + child_index) * n_columns
        child_reals = reals + (first + child_index) * n_reals
        counts = scratch.child_counts + child_index * context.n_sums
        # The reals of the child: class counts, score and drop.
        for k in range(context.n_sums):
            child_reals[k] = counts[k]
        child_reals[n_reals - 2] = 0
        child_reals[n_reals - 1] = 0
        # The whole numbers: fields, and the bits of the slots and groups, which the child takes over.
        for k in range(N_FIELDS):
            child[k] = 0
        for k in range(N_FIELDS, n_columns):
            child[k] = parent[k]
        if context.n_groups > 0:
            _allow_group_slots(context, child, parent[SLOT])
        child[DEPTH] = parent[DEPTH] + 1
        child[BRANCH_START] = -1
        child[SPLIT_STEP] = -1
        child[START] = position
        position += scratch.child_rows[child_index]
        child[END] = position
        size = scratch.child_size[child_index]
        if _can_be_split(context, counts, size, scratch.child_rows[child_index], child[DEPTH]):
            splittable |= FIRST_SPLITTABLE if child_index == 0 else OTHERS_SPLITTABLE
        else:
            child[START] = -1
    return splittable


def _can_be_split(context, counts, size, n_rows, depth):
    """Return whether a node may be split at all: it is large enough, not too deep and not pure."""
    n_present: cython.int = 0
    if depth >= context.max_depth or size < context.min_split_size or size < 2 * context.min_leaf_size:
        return False
    if context.criterion.fast_path == SQUARED_ERROR:
        return n_rows > 1
    for class_index in range(context.n_sums):
        n_present += counts[class_index] > 0
    return n_present > 1


def _allow_group_slots(context, node, tested_slot):
    """Clear the bits of the groups that lack the tested slot, and then the bits of the slots in none of the rest."""
    one: cython.ulonglong = 1
    n_words: cython.int = context.n_slot_words
    group_bits = node + N_FIELDS + n_words
    for word in range(n_words):
        allowed = 0
        for group in range(context.n_groups):
            if not (context.group_slots[group * n_words + (tested_slot >> 6)] >> (tested_slot & 63)) & 1:
                group_bits[group >> 6] &= ~cython.cast(cython.longlong, one << (group & 63))
            elif (group_bits[group >> 6] >> (group & 63)) & 1:
                allowed |= context.group_slots[group * n_words + word]
        node[N_FIELDS + word] &= cython.cast(cython.longlong, allowed)


def partition_slots(context, scratch, lists, node, first, last, splittable, force_ties):
    """Partition the rows of a node among its children, in the slots from `first` to `last - 1`.

    Slot `n_lists` stands for all columns of codes together, two-valued ones included. `force_ties` says that every list
    may have equal values, whatever `has_ties` says.
    """
    for slot in range(first, min(context.n_lists, last)):
        if is_varying(node, slot):
            entries = lists + slot * context.n_rows + node[START]
            _partition_entries(context, scratch, entries, node, splittable, force_ties | scratch.has_ties[slot])
    if last > context.n_lists and context.code_entries != cython.NULL:
        rows = cython.cast(cython.typeof(lists), context.code_entries) + node[START]
        _partition_codes(context, scratch, rows, node, splittable)


def _partition_codes(context, scratch, rows, node, splittable):
    """Partition the words of all columns of codes, and then the entries, which hold the row of each word."""
    slot: cython.Py_ssize_t = node[SLOT]
    n_rows: cython.Py_ssize_t = node[END] - node[START]
    words = context.bit_words + node[START]
    if _has_only_bit_words(context):
        # The line of words with the tested column is partitioned last: its bits decide where all words go.
        tested = words + (slot >> 6) * context.n_rows
        for word_index in range(context.n_bit_words):
            if word_index != slot >> 6:
                line = words + word_index * context.n_rows
                _partition_words(context, rows, n_rows, tested, slot & 63, line, scratch.spare_words)
        _partition_words(context, rows, n_rows, tested, slot & 63, tested, scratch.spare_words)
        return
    for word_index in range(context.n_bit_words):
        line = words + word_index * context.n_rows
        _partition_words(context, rows, n_rows, cython.NULL, 0, line, scratch.spare_words)
    for word_index in range(context.n_code_words):
        words = context.code_words + word_index * context.n_rows + node[START]
        if node[N_CHILDREN] == 2:
            _partition_words(context, rows, n_rows, cython.NULL, 0, words, scratch.spare_words)
        else:
            n_children = cython.cast(cython.int, node[N_CHILDREN])
            _partition_words_among_many(context, scratch, rows, n_rows, n_children, words)
    _partition_entries(context, scratch, rows, node, splittable, False)


def _partition_entries(context, scratch, entries, node, splittable, has_ties):
    """Partition the slice of a node in one list. `has_ties` says that values may be equal, so that bits may change."""
    n_rows: cython.Py_ssize_t = node[END] - node[START]
    n_children = cython.cast(cython.int, node[N_CHILDREN])
    n_left = scratch.child_rows[0]
    spare = cython.cast(cython.typeof(entries), scratch.spare_entries)
    if n_children > 2:
        _partition_among_many(context, scratch, entries, n_rows, n_children, spare)
    elif has_ties:
        _partition_ties(entries, n_rows, n_left, context.goes_left, context.shift, splittable, spare)
    else:
        _partition_distinct(entries, n_rows, n_left, context.goes_left, context.shift, splittable, spare)


def _partition_distinct(entries, n_rows, n_left, goes_left, shift, splittable, spare):
    """Partition entries without changing difference bits; the slice of a child that is not splittable is undefined."""
    left_end: cython.size_t = 0  # number of entries that went left
    # Every entry is written to its own child, and also to the other child, where the next entry overwrites it.
    if splittable == FIRST_SPLITTABLE | OTHERS_SPLITTABLE:
        for i in range(n_rows):
            entry = entries[i]
            entries[left_end] = entry
            spare[i - left_end] = entry
            left_end += goes_left[entry >> shift]
        memcpy(entries + n_left, spare, (n_rows - n_left) * cython.sizeof(entry))
    elif splittable == FIRST_SPLITTABLE:
        for i in range(n_rows):
            entry = entries[i]
            entries[left_end] = entry
            left_end += goes_left[entry >> shift]
    else:
        # Only the right child is splittable: its entries move to the end of the slice, the last one first.
        last_right: cython.size_t = n_rows - 1
        for i in range(n_rows - 1, -1, -1):
            entry = entries[i]
            entries[last_right] = entry
            last_right -= 1 - goes_left[entry >> shift]


def _partition_ties(entries, n_rows, n_left, goes_left, shift, splittable, spare):
    """Partition entries and update difference bits; the slice of a right child that is not splittable is undefined."""
    bit: Entry
    is_left: Entry
    # Bitwise or of the difference bits since the last entry that went left, or right. The initial values do not matter.
    left_bit: Entry = 1
    right_bit: Entry = 1
    left_end: cython.size_t = 0
    if splittable == FIRST_SPLITTABLE:
        for i in range(n_rows):
            entry = entries[i]
            bit = entry & 1
            is_left = goes_left[entry >> shift]
            left_bit |= bit
            entries[left_end] = (entry ^ bit) | left_bit
            left_end += is_left
            left_bit &= 1 - is_left
        return
    for i in range(n_rows):
        entry = entries[i]
        bit = entry & 1
        is_left = goes_left[entry >> shift]
        left_bit |= bit
        right_bit |= bit
        entries[left_end] = (entry ^ bit) | left_bit
        spare[i - left_end] = (entry ^ bit) | right_bit
        left_end += is_left
        left_bit &= 1 - is_left
        right_bit &= is_left
    memcpy(entries + n_left, spare, (n_rows - n_left) * cython.sizeof(entry))


def _partition_among_many(context, scratch, entries, n_rows, n_children, spare):
    """Partition entries among more than two children, and set their difference bits."""
    position = scratch.child_position  # per child: where its next entry goes
    last_value = position + n_children  # per child: rank of the value of its last entry
    child_of_row = context.child_of_row
    shift = context.shift
    start: cython.longlong = 0
    value: cython.longlong = 0
    bit: Entry
    for child in range(n_children):
        position[child] = start
        last_value[child] = -1
        start += scratch.child_rows[child]
    for i in range(n_rows):
        entry = entries[i]
        bit = entry & 1
        value += bit
        child = child_of_row[entry >> shift]
        spare[position[child]] = (entry ^ bit) | (1 if last_value[child] != value else 0)
        last_value[child] = value
        position[child] += 1
    memcpy(entries, spare, n_rows * cython.sizeof(entry))


def _partition_words(context, rows, n_rows, bits, bit, words, spare):
    """Partition a line of words of a node among two children; `rows` are not partitioned yet.

    If `bits` is NULL, `goes_left` says where the word of a row goes. Otherwise word i goes left if bit number `bit` of
    `bits[i]` is 0. `bits` may be `words` itself.
    """
    shift = context.shift
    goes_left = context.goes_left
    left_end: cython.Py_ssize_t = 0
    for i in range(n_rows):
        word = words[i]
        if bits == cython.NULL:
            is_left = cython.cast(cython.Py_ssize_t, goes_left[rows[i] >> shift])
        else:
            is_left = 1 - cython.cast(cython.Py_ssize_t, (bits[i] >> bit) & 1)
        words[left_end] = word
        spare[i - left_end] = word
        left_end += is_left
    for i in range(n_rows - left_end):
        words[left_end + i] = spare[i]


def _partition_words_among_many(context, scratch, rows, n_rows, n_children, words):
    """Partition a line of words of a node among more than two children; `rows` are not partitioned yet."""
    start: cython.longlong = 0
    for child in range(n_children):
        scratch.child_position[child] = start
        start += scratch.child_rows[child]
    for i in range(n_rows):
        child = context.child_of_row[rows[i] >> context.shift]
        scratch.spare_words[scratch.child_position[child]] = words[i]
        scratch.child_position[child] += 1
    memcpy(words, scratch.spare_words, n_rows * cython.sizeof(cython.ulonglong))
