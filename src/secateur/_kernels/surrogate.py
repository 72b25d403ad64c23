"""Find the surrogate splits of a node that is being split, and send its rows with missing values by them.

The node is split on a tested column. A surrogate is the split of another column that sends as much weight as possible
to the same children. Surrogates are searched in the lists and codes of the node, after `assign_children` has written
the child of every row. During the search, `goes_left` is UNKNOWN for rows whose value in the tested column is missing.
The first surrogate whose column has a value for such a row decides where the row goes. The default child takes the
remaining rows.

    split of node   L  L  R  R  ?  R         ?  the value of the tested column is missing
    surrogate 1     L  R  R  R  R  -         -  the value of the surrogate's column is missing

Surrogate 1 agrees with the split on 3 of the 4 rows with both values, and sends the fifth row right. A surrogate is
useful only if it agrees on more weight than a split that sends all rows to the heavier child. Costs O(rows) for each
column.
"""

import cython
from cython.cimports.libc.math import NAN
from cython.cimports.libc.stdlib import realloc
from cython.cimports.secateur._kernels.best_split import count_missing, is_varying
from cython.cimports.secateur._kernels.code_histogram import packed_column
from cython.cimports.secateur._kernels.context import (
    ABOVE,
    DEFAULT_CHILD,
    END,
    SLOT,
    START,
    Entry,
    Surrogate,
    code_of,
    weight_of,
)
from cython.cimports.secateur._kernels.split_node import clear_children, weigh_children, weights_within_class

UNKNOWN = cython.declare(cython.int, 2)  # stands for a child where the value of the row is missing


def find_surrogates(context, scratch, lists, node, tree):
    """Find the surrogates of a node, and assign its rows with missing values by them.

    Returns False if memory is exhausted. A node has no surrogates if they would make a child too small, or if the node
    tests only whether a value is missing.
    """
    tested_slot: cython.Py_ssize_t = node[SLOT]
    n_rows: cython.Py_ssize_t = node[END] - node[START]
    n_missing: cython.Py_ssize_t = 0
    n_branch_before: cython.Py_ssize_t = tree.n_branch
    entries = lists
    if tested_slot < context.n_lists:
        if node[ABOVE] < 0:
            return True
        entries = lists + tested_slot * context.n_rows + node[START]
        n_missing = count_missing(context, tested_slot, entries, n_rows)
        for i in range(n_rows - n_missing, n_rows):
            context.goes_left[entries[i] >> context.shift] = UNKNOWN
    if not _reserve_surrogates(tree, context.max_surrogates):
        return False
    ranked = tree.surrogates + tree.n_surrogates
    n_ranked = _rank_surrogates(context, scratch, lists, node, tree.n_splits, ranked)
    if not _store_branches(context, scratch, lists, node, tree, n_ranked):
        return False
    if n_missing > 0:
        _assign_missing(context, scratch, entries, node, n_missing, tree, n_ranked)
        if scratch.child_size[0] < context.min_leaf_size or scratch.child_size[1] < context.min_leaf_size:
            # A child would be too small: remove the surrogates, and assign the rows again without them.
            n_ranked = 0
            tree.n_branch = n_branch_before
            _assign_missing(context, scratch, entries, node, n_missing, tree, 0)
    tree.n_surrogates += n_ranked
    return True


def _rank_surrogates(context, scratch, lists, node, split_step, ranked):
    """Write the best surrogates to `ranked`, best first; return their number."""
    n_ranked: cython.Py_ssize_t = 0
    surrogate: Surrogate
    for slot in range(context.n_slots):
        if slot == node[SLOT]:
            continue
        if slot >= context.n_lists:
            is_useful = _best_assignment(context, scratch, lists, node, slot, cython.address(surrogate))
        else:
            is_useful = is_varying(node, slot)
            is_useful = is_useful and _best_threshold(context, lists, node, slot, cython.address(surrogate))
        if not is_useful:
            continue
        surrogate.slot = slot
        surrogate.split_step = split_step
        # Insert the surrogate into the ranking. If the ranking is full, its last surrogate is lost.
        place = n_ranked
        while place > 0 and _agrees_better(context, cython.address(surrogate), ranked + place - 1):
            if place < context.max_surrogates:
                ranked[place] = ranked[place - 1]
            place -= 1
        if place < context.max_surrogates:
            ranked[place] = surrogate
            n_ranked = min(n_ranked + 1, context.max_surrogates)
    return n_ranked


def _store_branches(context, scratch, lists, node, tree, n_ranked):
    """Write the child of every category of the nominal surrogates to the branch array.

    Returns False if memory is exhausted.
    """
    ranked = tree.surrogates + tree.n_surrogates
    for rank in range(n_ranked):
        slot = cython.cast(cython.int, ranked[rank].slot)
        if ranked[rank].branch_start < 0:
            continue
        n_codes = context.n_codes[slot - context.n_lists]
        if not reserve_branches(tree, n_codes):
            return False
        _weigh_codes(context, scratch, lists, node, slot)
        ranked[rank].branch_start = tree.n_branch
        for code in range(n_codes):
            left_weight = scratch.histogram.keys[code]
            right_weight = scratch.histogram.sorted_keys[code]
            tree.branch[tree.n_branch] = UNKNOWN if left_weight + right_weight == 0 else right_weight > left_weight
            tree.n_branch += 1
    return True


def _best_threshold(context, lists, node, slot, surrogate):
    """Find the threshold of a list that agrees best with the split of a node; return whether it is useful.

    The lead is the weight of child 0 less that of child 1 among the rows below a threshold. Of all thresholds that send
    lower values to child 0, the one with the largest lead agrees best. Of those that send lower values to child 1, the
    one with the smallest lead agrees best. Of tied thresholds, the lowest wins.
    """
    entries = lists + slot * context.n_rows + node[START]
    n_known: cython.Py_ssize_t = node[END] - node[START]
    n_known -= count_missing(context, slot, entries, n_known)
    lead = 0.0
    left_weight = right_weight = 0.0
    largest = LeadExtreme(0, -1, -1, 0)
    smallest = LeadExtreme(0, -1, -1, 0)
    differs: cython.int = 0  # whether the value of the row differs from that of the last row with a known child
    row_before: cython.Py_ssize_t = -1
    # Find the thresholds of the largest and of the smallest lead.
    for i in range(n_known):
        differs |= cython.cast(cython.int, entries[i] & 1)
        row = cython.cast(cython.Py_ssize_t, entries[i] >> context.shift)
        if context.goes_left[row] == UNKNOWN:
            continue
        if differs and row_before >= 0:
            if largest.row_below < 0 or lead > largest.lead:
                largest = LeadExtreme(lead, row_before, row, i)
            if smallest.row_below < 0 or lead < smallest.lead:
                smallest = LeadExtreme(lead, row_before, row, i)
        differs = 0
        row_before = row
        added = weight_of(context, row)
        if context.goes_left[row]:
            left_weight += added
            lead += added
        else:
            right_weight += added
            lead -= added
    if largest.row_below < 0:
        return False
    # Choose the threshold that agrees on more weight, and in a tie the lower one.
    agreed = right_weight + largest.lead
    agreed_reversed = left_weight - smallest.lead
    is_reversed: cython.bint = agreed_reversed > agreed
    if agreed_reversed == agreed:
        is_reversed = smallest.position < largest.position
    chosen = smallest if is_reversed else largest
    # The threshold lies halfway between the values on both sides.
    values = context.list_values + slot * context.n_rows
    value_below = values[chosen.row_below]
    value_above = values[chosen.row_above]
    surrogate.low_child = is_reversed
    surrogate.threshold = value_below / 2 + value_above / 2
    if not (value_below <= surrogate.threshold and surrogate.threshold < value_above):
        surrogate.threshold = value_below
    surrogate.branch_start = -1
    return _is_better_than_default(agreed_reversed if is_reversed else agreed, left_weight, right_weight, surrogate)


def _weigh_codes(context, scratch, lists, node, slot):
    """Add up the weight of each code of a column in both children, without missing values.

    The arrays `keys` and `sorted_keys` of the histogram are free here. They receive the weights in child 0 and child 1.
    """
    column = slot - context.n_lists
    rows = cython.cast(cython.typeof(lists), context.code_entries) + node[START]
    packed = packed_column(context, column, node[START])
    left = scratch.histogram.keys
    right = scratch.histogram.sorted_keys
    for code_index in range(context.n_codes[column]):
        left[code_index] = 0
        right[code_index] = 0
    for i in range(node[END] - node[START]):
        row = rows[i] >> context.shift
        code = code_of(context, cython.address(packed), i, row)
        if context.goes_left[row] == UNKNOWN or code >= context.n_known_codes[column]:
            continue
        if context.goes_left[row]:
            left[code] += weight_of(context, row)
        else:
            right[code] += weight_of(context, row)


def _best_assignment(context, scratch, lists, node, slot, surrogate):
    """Find the surrogate of a column of codes that agrees best; return whether it is useful.

    Each category goes to the child that has most of its weight, in a tie to child 0. For a column of two numbers, the
    lower value goes to the child with which the surrogate agrees on more weight, in a tie to child 0.
    """
    column = slot - context.n_lists
    in_left = scratch.histogram.keys
    in_right = scratch.histogram.sorted_keys
    left_weight = right_weight = agreed = 0.0
    _weigh_codes(context, scratch, lists, node, slot)
    for code in range(context.n_codes[column]):
        left_weight += in_left[code]
        right_weight += in_right[code]
        agreed += max(in_left[code], in_right[code])
    surrogate.low_child = 0
    surrogate.branch_start = 0 if context.is_nominal[column] else -1
    if not context.is_nominal[column]:
        agreed = in_left[0] + in_right[1]
        if left_weight + right_weight - agreed > agreed:
            agreed = left_weight + right_weight - agreed
            surrogate.low_child = 1
    surrogate.threshold = NAN
    return _is_better_than_default(agreed, left_weight, right_weight, surrogate)


def _is_better_than_default(agreed, left_weight, right_weight, surrogate):
    """Write the agreement of a surrogate; return whether it agrees on more weight than one child for all rows."""
    surrogate.known_weight = left_weight + right_weight
    surrogate.agreement = agreed / surrogate.known_weight
    return agreed > max(left_weight, right_weight)


def _agrees_better(context, first, second):
    """Return whether the first surrogate is ranked before the second.

    It is if its agreement is larger; in a tie, if the rows that both splits know weigh more; in another tie, if its
    column is lower.
    """
    if first.agreement != second.agreement:
        return first.agreement > second.agreement
    if first.known_weight != second.known_weight:
        return first.known_weight > second.known_weight
    return context.feature_of_slot[first.slot] < context.feature_of_slot[second.slot]


def _reserve_surrogates(tree, n):
    """Make room for n more surrogates; return False if memory is exhausted."""
    if tree.n_surrogates + n > tree.surrogate_capacity:
        tree.surrogate_capacity = 2 * (tree.n_surrogates + n)
        n_bytes: cython.size_t = tree.surrogate_capacity * cython.sizeof(Surrogate)
        moved = cython.cast(cython.pointer[Surrogate], realloc(tree.surrogates, n_bytes))
        if moved == cython.NULL:
            return False
        tree.surrogates = moved
    return True


def reserve_branches(tree, n):
    """Make room for the children of n more categories; return False if memory is exhausted."""
    if tree.n_branch + n > tree.branch_capacity:
        tree.branch_capacity = 2 * (tree.n_branch + n)
        n_bytes: cython.size_t = tree.branch_capacity * cython.sizeof(cython.ushort)
        moved = cython.cast(cython.p_ushort, realloc(tree.branch, n_bytes))
        if moved == cython.NULL:
            return False
        tree.branch = moved
    return True


def _child_by_surrogate(context, surrogate, branch, position, row):
    """Return the child to which a surrogate sends a row, or UNKNOWN; `position` is that of the row in the words."""
    low_child = cython.cast(cython.int, surrogate.low_child)
    if surrogate.slot >= context.n_lists:
        column = packed_column(context, surrogate.slot - context.n_lists, 0)
        code = code_of(context, cython.address(column), position, row)
        if surrogate.branch_start >= 0:
            return branch[surrogate.branch_start + code]
        return low_child if code == 0 else 1 - low_child
    value = context.list_values[surrogate.slot * context.n_rows + row]
    if value != value:
        return UNKNOWN
    return low_child if value <= surrogate.threshold else 1 - low_child


def _assign_missing(context, scratch, tested, node, n_missing, tree, n_surrogates):
    """Assign the rows with a missing tested value by the surrogates, and count the rows of both children again.

    The default child takes the rows that no surrogate can assign.
    """
    surrogates = tree.surrogates + tree.n_surrogates
    entries = tested
    if context.code_entries != cython.NULL:
        entries = cython.cast(cython.typeof(tested), context.code_entries) + node[START]
    n_rows: cython.Py_ssize_t = node[END] - node[START]
    low_mask: Entry = context.low_mask
    row_weight = weights_within_class(context)
    child: cython.int
    for i in range(n_rows - n_missing, n_rows):
        context.goes_left[tested[i] >> context.shift] = UNKNOWN
    clear_children(context, scratch, 2)
    for i in range(n_rows):
        entry = entries[i]
        row = entry >> context.shift
        child = 1 - context.goes_left[row]
        if context.goes_left[row] == UNKNOWN:
            child = UNKNOWN
            for rank in range(n_surrogates):
                child = _child_by_surrogate(context, surrogates + rank, tree.branch, node[START] + i, row)
                if child != UNKNOWN:
                    break
            if child == UNKNOWN:
                child = cython.cast(cython.int, node[DEFAULT_CHILD])
            context.goes_left[row] = 1 - child
        scratch.child_rows[child] += 1
        line = scratch.child_counts + child * context.n_sums
        line[(entry & low_mask) >> 1] += 1.0 if row_weight == cython.NULL else row_weight[row]
    weigh_children(context, scratch, 2)
