"""Surrogates of a node that is being split: tests of other columns that agree best with its own.

They are found from the lists and codes of the node, when its rows know their child. Those whose value is missing at
the test (UNKNOWN in `goes_left` meanwhile) are then sent where the first surrogate that knows them says.
"""

import cython
from cython.cimports.libc.math import NAN
from cython.cimports.libc.stdlib import realloc
from cython.cimports.secateur._kernels.evaluate import is_varying, n_missing_at_end
from cython.cimports.secateur._kernels.growing import ABOVE, DEFAULT, END, SLOT, START, Entry, Surrogate

UNKNOWN = cython.declare(cython.int, 2)


def _weight(facts, row):
    return 1.0 if facts.weight == cython.NULL else facts.weight[row]


def _code(facts, slot, i, row):
    """The code of a row, which is the i-th of all coded ones."""
    j = slot - facts.n_lists
    p = j - facts.n_coded
    one: cython.ulonglong = 1
    if p < 0:
        per_word: cython.int = 64 // facts.code_bits
        word = facts.codes[(j // per_word) * facts.n_rows + i]
        return cython.cast(
            cython.Py_ssize_t, (word >> (facts.code_bits * (j % per_word))) & ((one << facts.code_bits) - 1)
        )
    if facts.words != cython.NULL:
        return cython.cast(cython.Py_ssize_t, (facts.words[(p >> 6) * facts.n_rows + i] >> (p & 63)) & 1)
    return facts.bits[row * facts.width + p]


def _of_list(facts, lists, node, slot, out):
    """Best cut of a list, the lower one of a tie; False: none is better than one side for all."""
    entries = lists + slot * facts.n_rows + node[START]
    n: cython.Py_ssize_t = node[END] - node[START]
    n -= n_missing_at_end(facts, slot, entries, n)
    ahead: cython.double = 0  # of child 0, among the rows so far
    most: cython.double = 0
    least: cython.double = 0
    left: cython.double = 0
    right: cython.double = 0
    differs: cython.int = 0
    before: cython.Py_ssize_t = -1
    up: cython.Py_ssize_t = -1  # where it is the most: the row below the cut, the row above, its place
    up_above: cython.Py_ssize_t = -1
    up_at: cython.Py_ssize_t = 0
    down: cython.Py_ssize_t = -1  # and the least
    down_above: cython.Py_ssize_t = -1
    down_at: cython.Py_ssize_t = 0
    for i in range(n):
        differs |= cython.cast(cython.int, entries[i] & 1)
        row = cython.cast(cython.Py_ssize_t, entries[i] >> facts.shift)
        if facts.goes_left[row] == UNKNOWN:
            continue
        if differs and before >= 0:
            if up < 0 or ahead > most:
                most = ahead
                up = before
                up_above = row
                up_at = i
            if down < 0 or ahead < least:
                least = ahead
                down = before
                down_above = row
                down_at = i
        differs = 0
        before = row
        w = _weight(facts, row)
        if facts.goes_left[row]:
            left += w
            ahead += w
        else:
            right += w
            ahead -= w
    if up < 0:
        return False
    agreed = right + most
    out.low = 0
    if left - least > agreed or (left - least == agreed and down_at < up_at):
        agreed = left - least
        out.low = 1
        up = down
        up_above = down_above
    if agreed <= max(left, right):
        return False
    low = facts.values[slot * facts.n_rows + up]
    high = facts.values[slot * facts.n_rows + up_above]
    out.threshold = low / 2 + high / 2
    if not (low <= out.threshold and out.threshold < high):
        out.threshold = low
    out.branch = -1
    out.total = left + right
    out.agreement = agreed / out.total
    return True


def _send(facts, desk, rows, node, slot):
    """Weights of the codes of a column in the children: `keys` of child 0, `run_keys` of child 1."""
    j = slot - facts.n_lists
    for k in range(facts.n_codes[j]):
        desk.histogram.keys[k] = 0
        desk.histogram.run_keys[k] = 0
    for i in range(node[START], node[END]):
        row = cython.cast(cython.Py_ssize_t, rows[i] >> facts.shift)
        code = _code(facts, slot, i, row)
        if facts.goes_left[row] == UNKNOWN or code >= facts.n_known[j]:
            continue
        if facts.goes_left[row]:
            desk.histogram.keys[code] += _weight(facts, row)
        else:
            desk.histogram.run_keys[code] += _weight(facts, row)


def _of_codes(facts, desk, rows, node, slot, out):
    """Each category goes where most of its weight does, of a tie to child 0; of two values, the better way round."""
    j = slot - facts.n_lists
    zero = desk.histogram.keys
    one = desk.histogram.run_keys
    left: cython.double = 0
    right: cython.double = 0
    agreed: cython.double = 0
    _send(facts, desk, rows, node, slot)
    for k in range(facts.n_codes[j]):
        left += zero[k]
        right += one[k]
        agreed += max(zero[k], one[k])
    out.low = 0
    out.branch = 0
    if not facts.is_nominal[j]:
        out.branch = -1
        agreed = zero[0] + one[1]
        if left + right - agreed > agreed:
            agreed = left + right - agreed
            out.low = 1
    if agreed <= max(left, right):
        return False
    out.threshold = NAN
    out.total = left + right
    out.agreement = agreed / out.total
    return True


def _is_before(facts, a, b):
    """Whether a agrees better than b; of a tie knows more; of a tie has the lower column."""
    if a.agreement != b.agreement:
        return a.agreement > b.agreement
    if a.total != b.total:
        return a.total > b.total
    return facts.feature[a.slot] < facts.feature[b.slot]


def _make_room(t, n, n_branch):
    """Room for so many more; False: no memory."""
    if t.n_surrogates + n > t.surrogate_capacity:
        t.surrogate_capacity = 2 * (t.n_surrogates + n)
        found = cython.cast(
            cython.pointer[Surrogate], realloc(t.surrogates, t.surrogate_capacity * cython.sizeof(Surrogate))
        )
        if found == cython.NULL:
            return False
        t.surrogates = found
    if t.n_branch + n_branch > t.branch_capacity:
        t.branch_capacity = 2 * (t.n_branch + n_branch)
        branch = cython.cast(cython.p_ushort, realloc(t.branch, t.branch_capacity * cython.sizeof(cython.ushort)))
        if branch == cython.NULL:
            return False
        t.branch = branch
    return True


def _side(facts, one, branch, i, row):
    """The child that a surrogate sends a row to, or UNKNOWN."""
    low = cython.cast(cython.int, one.low)
    if one.slot >= facts.n_lists:
        code = _code(facts, one.slot, i, row)
        return branch[one.branch + code] if one.branch >= 0 else low if code == 0 else 1 - low
    x = facts.values[one.slot * facts.n_rows + row]
    if x != x:
        return UNKNOWN
    return low if x <= one.threshold else 1 - low


def _place(facts, desk, tested, rows, node, n_missing, t, n_found):
    """Send the rows whose value is missing to a child, by so many surrogates and then by default; count anew."""
    found = t.surrogates + t.n_surrogates
    entries = tested if rows == cython.NULL else rows + node[START]
    n: cython.Py_ssize_t = node[END] - node[START]
    unit: Entry = 1
    mask: Entry = (unit << facts.shift) - 1
    of_row: cython.p_double = cython.NULL if facts.of_class != cython.NULL else facts.weight
    c: cython.int
    for i in range(n - n_missing, n):
        facts.goes_left[tested[i] >> facts.shift] = UNKNOWN
    for c in range(2):
        desk.child_rows[c] = 0
        desk.child_size[c] = 0
        for k in range(facts.n_sums):
            desk.child_counts[c * facts.n_sums + k] = 0
    for i in range(n):
        e = entries[i]
        row = cython.cast(cython.Py_ssize_t, e >> facts.shift)
        c = 1 - facts.goes_left[row]
        if c < 0:
            c = UNKNOWN
            for s in range(n_found):
                c = _side(facts, found + s, t.branch, node[START] + i, row)
                if c != UNKNOWN:
                    break
            if c == UNKNOWN:
                c = cython.cast(cython.int, node[DEFAULT])
            facts.goes_left[row] = 1 - c
        desk.child_rows[c] += 1
        desk.child_counts[c * facts.n_sums + cython.cast(cython.int, (e & mask) >> 1)] += (
            1.0 if of_row == cython.NULL else of_row[row]
        )
    for c in range(2):
        for k in range(facts.n_sums):
            if facts.of_class != cython.NULL:
                desk.child_counts[c * facts.n_sums + k] *= facts.of_class[k]
            desk.child_size[c] += desk.child_counts[c * facts.n_sums + k]
        if not facts.by_weight:
            desk.child_size[c] = cython.cast(cython.double, desk.child_rows[c])


def stand_in(facts, desk, lists, rows, node, t):
    """Find the surrogates of a node whose children are assigned, and send rows as they say; False: no memory.

    Where that would leave a child too small, it has none; nor has a test of what is missing.
    """
    tested: cython.Py_ssize_t = node[SLOT]
    n: cython.Py_ssize_t = node[END] - node[START]
    n_missing: cython.Py_ssize_t = 0
    n_found: cython.Py_ssize_t = 0
    n_branch: cython.Py_ssize_t = t.n_branch
    at: cython.Py_ssize_t
    one: Surrogate
    is_any: cython.bint
    own = lists
    if tested < facts.n_lists:
        if node[ABOVE] < 0:
            return True
        own = lists + tested * facts.n_rows + node[START]
        n_missing = n_missing_at_end(facts, tested, own, n)
        for i in range(n - n_missing, n):
            facts.goes_left[own[i] >> facts.shift] = UNKNOWN
    if not _make_room(t, facts.n_surrogates, 0):
        return False
    found = t.surrogates + t.n_surrogates
    for slot in range(facts.n_slots):
        if slot == tested:
            continue
        if slot >= facts.n_lists:
            is_any = _of_codes(facts, desk, rows, node, slot, cython.address(one))
        else:
            is_any = is_varying(node, slot) and _of_list(facts, lists, node, slot, cython.address(one))
        if not is_any:
            continue
        one.slot = slot
        one.step = t.n_splits
        at = n_found
        while at > 0 and _is_before(facts, cython.address(one), found + at - 1):
            if at < facts.n_surrogates:
                found[at] = found[at - 1]
            at -= 1
        if at < facts.n_surrogates:
            found[at] = one
            n_found = min(n_found + 1, facts.n_surrogates)
    for s in range(n_found):
        slot = cython.cast(cython.int, found[s].slot)
        if found[s].branch < 0:
            continue
        if not _make_room(t, facts.n_surrogates, facts.n_codes[slot - facts.n_lists]):
            return False
        found = t.surrogates + t.n_surrogates
        _send(facts, desk, rows, node, slot)
        found[s].branch = t.n_branch
        for k in range(facts.n_codes[slot - facts.n_lists]):
            zero = desk.histogram.keys[k]
            other = desk.histogram.run_keys[k]
            t.branch[t.n_branch] = UNKNOWN if zero + other == 0 else other > zero
            t.n_branch += 1
    if n_missing > 0:
        _place(facts, desk, own, rows, node, n_missing, t, n_found)
        if desk.child_size[0] < facts.least_leaf or desk.child_size[1] < facts.least_leaf:
            n_found = 0
            t.n_branch = n_branch
            _place(facts, desk, own, rows, node, n_missing, t, 0)
    t.n_surrogates += n_found
    return True
