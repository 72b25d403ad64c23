"""Surrogates of a node that is being split: tests of other columns that agree best with its own.

They are found from the lists and codes of the node, when its rows know their child. Those whose value is missing at
the test (UNKNOWN in `goes_left` meanwhile) are then sent where the first surrogate that knows them says.
"""

import cython
from cython.cimports.libc.math import NAN
from cython.cimports.libc.stdlib import realloc
from cython.cimports.secateur._kernels import growing
from cython.cimports.secateur._kernels.coded import lane_of
from cython.cimports.secateur._kernels.evaluate import is_varying, n_missing_at_end
from cython.cimports.secateur._kernels.growing import END, START, Entry, Peak, Surrogate, as_entries, code_of, weight_of
from cython.cimports.secateur._kernels.split import clear_children, size_children

UNKNOWN = cython.declare(cython.int, 2)


def _of_list(facts, lists, node, slot, out):
    """Best cut of a list, the lower one of a tie; False: none is better than one side for all."""
    entries = lists + slot * facts.n_rows + node[START]
    n: cython.Py_ssize_t = node[END] - node[START]
    n -= n_missing_at_end(facts, slot, entries, n)
    ahead = 0.0  # of child 0, among the rows so far
    left = right = 0.0
    peaks = cython.declare(Peak[2])  # where that is most, and where it is least
    differs: cython.int = 0
    before: cython.Py_ssize_t = -1
    peaks[0] = peaks[1] = Peak(0, -1, -1, 0)
    for i in range(n):
        differs |= cython.cast(cython.int, entries[i] & 1)
        row = cython.cast(cython.Py_ssize_t, entries[i] >> facts.shift)
        if facts.goes_left[row] == UNKNOWN:
            continue
        if differs and before >= 0:
            if peaks[0].below < 0 or ahead > peaks[0].ahead:
                peaks[0] = Peak(ahead, before, row, i)
            if peaks[1].below < 0 or ahead < peaks[1].ahead:
                peaks[1] = Peak(ahead, before, row, i)
        differs = 0
        before = row
        w = weight_of(facts, row)
        if facts.goes_left[row]:
            left += w
            ahead += w
        else:
            right += w
            ahead -= w
    if peaks[0].below < 0:
        return False
    agreed = right + peaks[0].ahead
    other = left - peaks[1].ahead
    out.low = other > agreed or (other == agreed and peaks[1].at < peaks[0].at)
    low = facts.values[slot * facts.n_rows + peaks[out.low].below]
    high = facts.values[slot * facts.n_rows + peaks[out.low].above]
    out.threshold = low / 2 + high / 2
    if not (low <= out.threshold and out.threshold < high):
        out.threshold = low
    out.branch = -1
    return _agrees(other if out.low else agreed, left, right, out)


def _send(facts, desk, lists, node, slot):
    """Weights of the codes of a column in the children: `keys` of child 0, `run_keys` of child 1."""
    j = slot - facts.n_lists
    rows = as_entries(facts.rows, lists) + node[START]
    lane = lane_of(facts, j, node[START])
    for k in range(facts.n_codes[j]):
        desk.histogram.keys[k] = 0
        desk.histogram.run_keys[k] = 0
    for i in range(node[END] - node[START]):
        row = rows[i] >> facts.shift
        code = code_of(facts, cython.address(lane), i, row)
        if facts.goes_left[row] == UNKNOWN or code >= facts.n_known[j]:
            continue
        if facts.goes_left[row]:
            desk.histogram.keys[code] += weight_of(facts, row)
        else:
            desk.histogram.run_keys[code] += weight_of(facts, row)


def _of_codes(facts, desk, lists, node, slot, out):
    """Each category goes where most of its weight does, of a tie to child 0; of two values, the better way round."""
    j = slot - facts.n_lists
    zero = desk.histogram.keys
    one = desk.histogram.run_keys
    left = right = agreed = 0.0
    _send(facts, desk, lists, node, slot)
    for k in range(facts.n_codes[j]):
        left += zero[k]
        right += one[k]
        agreed += max(zero[k], one[k])
    out.low = 0
    out.branch = 0 if facts.is_nominal[j] else -1
    if not facts.is_nominal[j]:
        agreed = zero[0] + one[1]
        if left + right - agreed > agreed:
            agreed = left + right - agreed
            out.low = 1
    out.threshold = NAN
    return _agrees(agreed, left, right, out)


def _agrees(agreed, left, right, out):
    """Write how well a surrogate agrees; whether better than one side for all."""
    out.total = left + right
    out.agreement = agreed / out.total
    return agreed > max(left, right)


def _is_before(facts, a, b):
    """Whether a agrees better than b; of a tie knows more; of a tie has the lower column."""
    if a.agreement != b.agreement:
        return a.agreement > b.agreement
    if a.total != b.total:
        return a.total > b.total
    return facts.feature[a.slot] < facts.feature[b.slot]


def _make_room(t, n):
    """Room for so many more; False: no memory."""
    if t.n_surrogates + n > t.surrogate_capacity:
        t.surrogate_capacity = 2 * (t.n_surrogates + n)
        found = cython.cast(
            cython.pointer[Surrogate], realloc(t.surrogates, t.surrogate_capacity * cython.sizeof(Surrogate))
        )
        if found == cython.NULL:
            return False
        t.surrogates = found
    return True


def make_branches(t, n):
    """Room for the children of so many more categories; False: no memory."""
    if t.n_branch + n > t.branch_capacity:
        t.branch_capacity = 2 * (t.n_branch + n)
        branch = cython.cast(cython.p_ushort, realloc(t.branch, t.branch_capacity * cython.sizeof(cython.ushort)))
        if branch == cython.NULL:
            return False
        t.branch = branch
    return True


def _side(facts, one, branch, i, row):
    """The child that a surrogate sends a row to, or UNKNOWN."""
    low = cython.cast(cython.int, one.low)
    if one.slot >= facts.n_lists:
        lane = lane_of(facts, one.slot - facts.n_lists, 0)
        code = code_of(facts, cython.address(lane), i, row)
        return branch[one.branch + code] if one.branch >= 0 else low if code == 0 else 1 - low
    x = facts.values[one.slot * facts.n_rows + row]
    if x != x:
        return UNKNOWN
    return low if x <= one.threshold else 1 - low


def _place(facts, desk, tested, node, n_missing, t, n_found):
    """Send the rows whose value is missing to a child, by so many surrogates and then by default; count anew."""
    found = t.surrogates + t.n_surrogates
    entries = tested if facts.rows == cython.NULL else as_entries(facts.rows, tested) + node[START]
    n: cython.Py_ssize_t = node[END] - node[START]
    mask: Entry = facts.mask
    of_row: cython.p_double = cython.NULL if facts.of_class != cython.NULL else facts.weight
    c: cython.int
    for i in range(n - n_missing, n):
        facts.goes_left[tested[i] >> facts.shift] = UNKNOWN
    clear_children(facts, desk, 2)
    for i in range(n):
        e = entries[i]
        row = e >> facts.shift
        c = 1 - facts.goes_left[row]
        if c < 0:
            c = UNKNOWN
            for s in range(n_found):
                c = _side(facts, found + s, t.branch, node[START] + i, row)
                if c != UNKNOWN:
                    break
            if c == UNKNOWN:
                c = cython.cast(cython.int, node[growing.DEFAULT])
            facts.goes_left[row] = 1 - c
        desk.child_rows[c] += 1
        desk.child_counts[c * facts.n_sums + cython.cast(cython.int, (e & mask) >> 1)] += (
            1.0 if of_row == cython.NULL else of_row[row]
        )
    size_children(facts, desk, 2)


def stand_in(facts, desk, lists, node, t):
    """Find the surrogates of a node whose children are assigned, and send rows as they say; False: no memory.

    Where that would leave a child too small, it has none; nor has a test of what is missing.
    """
    tested: cython.Py_ssize_t = node[growing.SLOT]
    n: cython.Py_ssize_t = node[END] - node[START]
    n_missing: cython.Py_ssize_t = 0
    n_found: cython.Py_ssize_t = 0
    n_branch: cython.Py_ssize_t = t.n_branch
    one: Surrogate
    own = lists
    if tested < facts.n_lists:
        if node[growing.ABOVE] < 0:
            return True
        own = lists + tested * facts.n_rows + node[START]
        n_missing = n_missing_at_end(facts, tested, own, n)
        for i in range(n - n_missing, n):
            facts.goes_left[own[i] >> facts.shift] = UNKNOWN
    if not _make_room(t, facts.n_surrogates):
        return False
    found = t.surrogates + t.n_surrogates
    for slot in range(facts.n_slots):
        if slot == tested:
            continue
        if slot >= facts.n_lists:
            is_any = _of_codes(facts, desk, lists, node, slot, cython.address(one))
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
        if not make_branches(t, facts.n_codes[slot - facts.n_lists]):
            return False
        _send(facts, desk, lists, node, slot)
        found[s].branch = t.n_branch
        for k in range(facts.n_codes[slot - facts.n_lists]):
            zero = desk.histogram.keys[k]
            other = desk.histogram.run_keys[k]
            t.branch[t.n_branch] = UNKNOWN if zero + other == 0 else other > zero
            t.n_branch += 1
    if n_missing > 0:
        _place(facts, desk, own, node, n_missing, t, n_found)
        if desk.child_size[0] < facts.least_leaf or desk.child_size[1] < facts.least_leaf:
            n_found = 0
            t.n_branch = n_branch
            _place(facts, desk, own, node, n_missing, t, 0)
    t.n_surrogates += n_found
    return True
