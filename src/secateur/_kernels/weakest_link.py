"""The penalty at which each node collapses into a leaf, and the nested sequence of prunings that follows.

As the penalty per unit of size falls, the tests of the optimal pruning open in groups. Each group is an *event*,
named by the node at its top: below the ratio gain / size its tests open together, the cost falls by `gain`, and the
size rises by `size`. One sweep from the leaves to the root finds all events. A finished subtree is a heap of its
events, the largest ratio on top:

    node v:   1. merge the heaps of the children
              2. make the event of v: gain = cost[v] - sum of the costs of the children, size = weight[v]
              3. while the ratio at the top of the heap is not smaller than that of v, its tests open together with
                 v, because they cannot open before v: remove the top, and add its gain and size to the event of v
              4. put the event of v into the heap

The events that are left in the end are the *owners*: node v opens with the event `owner[v]`.

A pairing heap takes two arrays (first child, next sibling). Merging two heaps is one comparison; removing the top is
O(log n) amortised. Every event is removed at most once, so the sweep takes O(n log n) steps whatever the depth.

Ratios of whole-number costs are kept as `ratio + rest / size` with 0 <= rest < size < 2^31; the parts compare exactly
in 64 bits however large the costs are. Ratios of real costs are floats, and tie within a relative 1e-12.
"""

import itertools
from fractions import Fraction

import cython
import numpy as np
from cython.cimports.secateur._kernels.views import Floats, Ints, Longs, Number, Numbers

# Real costs are sums of rounded numbers, so ratios this close count as equal.
TOLERANCE = cython.declare(cython.double, 1e-12)


def collapse_events(parent: Ints, weight: Longs, cost: Numbers):
    """Return (gain, size, owner): node v collapses at the penalty gain[o] / size[o] of its owner o = owner[v].

    `weight` is what opening a node adds to the size; it is 0 at leaves, whose owner is -1. An owner is a node that
    collapses at a smaller penalty than its parent; it is its own owner.
    """
    n = parent.shape[0]
    ratio: Number[::1] = np.zeros(n, cost.base.dtype)
    rest: cython.longlong[::1] = np.zeros(n, np.int64)
    gain: Number[::1] = np.array(cost)
    size: cython.longlong[::1] = np.array(weight)
    top: cython.int[::1] = np.full(n, -1, np.int32)
    child: cython.int[::1] = np.empty(n, np.int32)
    sibling: cython.int[::1] = np.empty(n, np.int32)
    owner: cython.int[::1] = top  # reuses the memory of the heaps, which are no longer needed then
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            # All children are done: gain[v] is now cost[v] less the costs of the children.
            if size[v] > 0:
                top[v] = _add_event(v, top[v], cost[v], child, sibling, ratio, rest, gain, size)
            if v > 0:
                p = parent[v]
                gain[p] -= cost[v]
                top[p] = _merge_heaps(top[p], top[v], child, sibling, ratio, rest, size)
        for v in range(n):
            owner[v] = -1
            if size[v] > 0:
                owner_above = owner[parent[v]] if v > 0 else v
                is_owner = _is_smaller(
                    ratio[v], rest[v], size[v], ratio[owner_above], rest[owner_above], size[owner_above]
                )
                owner[v] = v if is_owner else owner_above
    return gain.base, size.base, owner.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add_event(
    v: cython.int,
    heap: cython.int,
    cost: Number,
    child: cython.int[::1],
    sibling: cython.int[::1],
    ratio: Number[::1],
    rest: cython.longlong[::1],
    gain: Number[::1],
    size: cython.longlong[::1],
) -> cython.int:
    """Make the event of node v, put it into the merged heap of the children, and return the new top.

    `gain[v]` and `size[v]` are those of v alone. While the event at the top of the heap has no smaller ratio, it joins
    the event of v, and is removed.
    """
    event_gain, event_size = gain[v], size[v]
    quotient: Number
    remainder: cython.longlong = 0
    while True:
        if Number is cython.longlong:
            quotient = event_gain // event_size
            remainder = event_gain - quotient * event_size
            if remainder < 0:  # division in C rounds towards 0
                quotient, remainder = quotient - 1, remainder + event_size
        else:
            if abs(event_gain) <= TOLERANCE * cost:  # a rounding error of the cost is no gain
                event_gain = 0.0
            quotient = event_gain / event_size
        if heap < 0 or _is_smaller(ratio[heap], rest[heap], size[heap], quotient, remainder, event_size):
            break
        event_gain += gain[heap]  # equal ratios join too
        event_size += size[heap]
        heap = _remove_top(heap, child, sibling, ratio, rest, size)
    gain[v], size[v], ratio[v], rest[v] = event_gain, event_size, quotient, remainder
    child[v] = sibling[v] = -1
    return _merge_heaps(heap, v, child, sibling, ratio, rest, size)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_smaller(
    ratio: Number,
    rest: cython.longlong,
    size: cython.longlong,
    other_ratio: Number,
    other_rest: cython.longlong,
    other_size: cython.longlong,
) -> cython.bint:
    """Return whether the ratio of an event is smaller than that of another one; real ratios that tie are not."""
    if Number is cython.longlong:
        return ratio < other_ratio or (ratio == other_ratio and rest * other_size < other_rest * size)
    return ratio < other_ratio - TOLERANCE * abs(other_ratio)


def nested_path(parent, weight, cost):
    """Return the nested sequence of minimisers of cost + alpha * size as (steps, alphas).

    `steps[v]` is the first member in which node v is a leaf or removed, `alphas[i]` the least alpha of member i.
    """
    return nested_steps(*collapse_events(parent, weight, cost))


def nested_steps(gain, size, owner, includes_useless=False):
    """Return (steps, alphas): the first member in which each node is closed, and the ratio at which each member begins.

    Nodes close with their owner, in the order of gain / size. Owners that gain nothing are closed in the first
    member; if `includes_useless`, they get members of their own. Owners of equal ratio close together: ratios of
    whole numbers compare exactly (two alphas may be equal as floats), real ones within the tolerance of the next
    smaller ratio.
    """
    if gain.dtype.kind == "f" or float(np.abs(gain).max(initial=0)) * float(size.max(initial=0)) < 2.0**51:
        return _nested_steps(gain, size, owner, includes_useless)
    owners = np.flatnonzero((owner == np.arange(len(owner))) & (includes_useless | (gain > 0)))
    ratios = [Fraction(g, s) for g, s in zip(gain[owners].tolist(), size[owners].tolist(), strict=True)]
    rising = sorted({*ratios} if includes_useless else {Fraction(0), *ratios})
    member = {ratio: i for i, ratio in enumerate(rising)}
    steps = np.zeros(len(owner), np.int32)
    steps[owners] = [member[ratio] for ratio in ratios]
    return np.where(owner >= 0, steps[owner], 0).astype(np.int32), np.array([float(ratio) for ratio in rising])


def _nested_steps(gain: Numbers, size: Longs, owner: Ints, includes_useless: cython.bint):
    """Do the same as `nested_steps` in floats.

    Different ratios of whole numbers differ by at least 1 / (gain * size) of their value. While gain * size < 2^51,
    that is more than the rounding error of a float, so the order of the floats is the true order.
    """
    n = owner.shape[0]
    owners: cython.int[::1] = np.empty(n, np.int32)
    n_owners: cython.Py_ssize_t = 0
    n_members: cython.Py_ssize_t = 0 if includes_useless else 1
    ratios = np.empty(n)
    ratio: cython.double[::1] = ratios
    steps: cython.int[::1] = np.zeros(n, np.int32)
    is_new: cython.bint
    with cython.nogil:
        for v in range(n):
            if owner[v] == v and (includes_useless or gain[v] > 0):
                owners[n_owners] = cython.cast(cython.int, v)
                ratio[n_owners] = cython.cast(cython.double, gain[v]) / cython.cast(cython.double, size[v])
                n_owners += 1
    order: cython.const[cython.Py_ssize_t][:] = np.argsort(ratios[:n_owners])
    alphas = np.empty(n_owners + 1)
    alpha: cython.double[::1] = alphas
    with cython.nogil:
        previous = 0
        alpha[0] = 0
        for k in range(n_owners):
            v = owners[order[k]]
            if k == 0:
                is_new = True
            elif Number is cython.double:
                is_new = ratio[order[k]] - ratio[order[k - 1]] > TOLERANCE * abs(ratio[order[k]])
            else:
                is_new = gain[v] * size[previous] != gain[previous] * size[v]
            if is_new:
                alpha[n_members] = ratio[order[k]]
                n_members += 1
            steps[v] = cython.cast(cython.int, n_members - 1)
            previous = v
        for v in range(n):
            if owner[v] >= 0:
                steps[v] = steps[owner[v]]
    return steps.base, alphas[:n_members]


def member_sums(parent: Ints, steps: Ints, values: Numbers, n_members: cython.Py_ssize_t):
    """Return the sum of `values` over the leaves of every member of a nested sequence.

    Node v is a leaf in the members steps[v] <= i < steps[parent[v]], so all sums are one difference array.
    """
    sums = np.zeros(n_members + 1, values.base.dtype)
    total: Number[::1] = sums
    with cython.nogil:
        for v in range(parent.shape[0]):
            total[steps[v]] += values[v]
            if v > 0:
                total[steps[parent[v]]] -= values[v]
            else:
                total[n_members] -= values[v]
        for i in range(1, n_members):
            total[i] += total[i - 1]
    return sums[:n_members]


def member_sizes(steps, charge, n_members):
    """Return the size of every member of a nested sequence: 1 plus the charges of the nodes that are still open."""
    closed_charge = np.bincount(steps, weights=charge, minlength=n_members).astype(np.int64)
    return 1 + np.cumsum(closed_charge[::-1])[::-1] - closed_charge


def _envelope(penalty: Floats, cost: Floats):
    """Do the same as `_envelope_of_whole_numbers` in floats, where slopes tie within a relative 1e-12."""
    n = penalty.shape[0]
    members = np.zeros(n, np.int64)
    stack: cython.longlong[::1] = members
    top: cython.Py_ssize_t = 0
    with cython.nogil:
        for j in range(1, n):
            while top > 0:
                i, k = stack[top - 1], stack[top]
                slope = (cost[k] - cost[i]) * (penalty[k] - penalty[j])
                next_slope = (cost[j] - cost[k]) * (penalty[i] - penalty[k])
                if slope >= next_slope - TOLERANCE * abs(next_slope):
                    top -= 1
                else:
                    break
            top += 1
            stack[top] = j
    return members[: top + 1]


def _envelope_of_whole_numbers(penalty, cost):
    """Return the members that minimise cost + alpha * penalty for some alpha, in rising order of alpha.

    Points come in falling order of penalty, and the first has the least cost. Of points on one line only the last, the
    smallest, is a member. Exact, because Python's integers have no limit.
    """
    stack = [0]
    for j in range(1, len(penalty)):
        while len(stack) > 1:
            i, k = stack[len(stack) - 2], stack[len(stack) - 1]  # compiled lists take no negative index
            # Drop k if the step from i to k is at least as steep as the step from k to j.
            if (cost[k] - cost[i]) * (penalty[k] - penalty[j]) < (cost[j] - cost[k]) * (penalty[i] - penalty[k]):
                break
            stack.pop()
        stack.append(j)
    return stack


def lower_envelope(penalty, cost):
    """Return the members of the lower envelope of cost + alpha * penalty, and the least alpha of each.

    Points come in falling order of penalty, and the first has the least cost. Ties go to the smallest penalty. Exact if
    both arrays hold whole numbers.
    """
    if penalty.dtype.kind == "i" and cost.dtype.kind == "i":
        x, y = penalty.tolist(), cost.tolist()
        members = _envelope_of_whole_numbers(x, y)
    else:
        x, y = penalty.astype(np.float64), cost.astype(np.float64)
        members = _envelope(x, y).tolist()
    alphas = [0.0] + [(y[k] - y[i]) / (x[i] - x[k]) for i, k in itertools.pairwise(members)]
    return np.array(members, np.int64), np.array(alphas, np.float64)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _merge_heaps(
    x: cython.int,
    y: cython.int,
    child: cython.int[::1],
    sibling: cython.int[::1],
    ratio: Number[::1],
    rest: cython.longlong[::1],
    size: cython.longlong[::1],
) -> cython.int:
    """Merge two heaps (-1: empty) and return the top: the smaller of both tops becomes a child of the larger one."""
    if x < 0:
        return y
    if y < 0:
        return x
    if ratio[y] > ratio[x] or (ratio[y] == ratio[x] and rest[y] * size[x] > rest[x] * size[y]):
        x, y = y, x
    sibling[y] = child[x]
    child[x] = y
    return x


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _remove_top(
    x: cython.int,
    child: cython.int[::1],
    sibling: cython.int[::1],
    ratio: Number[::1],
    rest: cython.longlong[::1],
    size: cython.longlong[::1],
) -> cython.int:
    """Return the top of heap x after its top is removed.

    The children of the top are merged in pairs from the first to the last; the pairs, chained through `sibling`, are
    then merged from the last to the first.
    """
    first: cython.int = child[x]
    pairs: cython.int = -1  # the pair made last
    following: cython.int
    while first >= 0:
        second = sibling[first]
        following = -1
        if second >= 0:
            following = sibling[second]
            first = _merge_heaps(first, second, child, sibling, ratio, rest, size)
        sibling[first] = pairs
        pairs = first
        first = following
    if pairs < 0:
        return pairs
    x = pairs
    pairs = sibling[x]
    sibling[x] = -1
    while pairs >= 0:
        following = sibling[pairs]
        x = _merge_heaps(x, pairs, child, sibling, ratio, rest, size)
        pairs = following
    sibling[x] = -1
    return x
