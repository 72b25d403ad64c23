"""The penalty at which each node collapses, by one sweep from the leaves to the root.

Lowering the penalty opens tests one group after another. A finished subtree is a heap of
such *events*: "below `gain / size` something opens, the cost falls by `gain`, the size
rises by `size`". At a node the heaps of the children are merged, and events that open no
later than the node itself are fused into its own: each is taken out once, so the sweep is
O(n log n) whatever the depth. An event has the number of the node that made it.

Keys of whole-number costs are `whole + rest / size` with 0 <= rest < size < 2^31: the parts
compare exactly in 64 bits however large the costs are; those of real costs are ratios. A heap is two
arrays (first child, next sibling): merging is one comparison, and taking the top is O(log n) amortised.
"""

import itertools
from fractions import Fraction

import cython
import numpy as np
from cython.cimports.secateur._kernels.views import Floats, Ints, Longs, Number, Numbers

# Real costs are sums of rounded numbers: ratios this close are the same ratio.
TOLERANCE = cython.declare(cython.double, 1e-12)


def collapse_events(parent: Ints, weight: Longs, cost: Numbers):
    """Return (gain, size, owner): node v collapses at penalty `gain[o] / size[o]`, o = `owner[v]`.

    `weight` is what opening a node adds to the size (0 marks a leaf, whose owner is -1).
    An owner is a node that collapses before its parent does; it owns itself.
    """
    n = parent.shape[0]
    whole: Number[::1] = np.zeros(n, cost.base.dtype)
    rest: cython.longlong[::1] = np.zeros(n, np.int64)
    gain: Number[::1] = np.array(cost)
    size: cython.longlong[::1] = np.array(weight)
    top: cython.int[::1] = np.full(n, -1, np.int32)
    child: cython.int[::1] = np.empty(n, np.int32)
    sibling: cython.int[::1] = np.empty(n, np.int32)
    owner: cython.int[::1] = top  # a heap is done with when its owners are sought
    q: Number
    is_later: cython.bint
    r: cython.longlong = 0
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            # Children come after their parent: gain[v] is by now cost[v] less the cost of the children.
            if size[v] > 0:
                g, s, h = gain[v], size[v], top[v]
                while True:
                    if Number is cython.longlong:
                        q = g // s
                        r = g - q * s
                        if r < 0:  # division in C rounds towards 0
                            q, r = q - 1, r + s
                    else:
                        if abs(g) <= TOLERANCE * cost[v]:  # what is left of cost[v] after rounding away is no gain
                            g = 0.0
                        q = g / s
                    if h < 0:
                        break
                    if Number is cython.longlong:
                        is_later = whole[h] < q or (whole[h] == q and rest[h] * s < r * size[h])
                    else:
                        is_later = whole[h] < q - TOLERANCE * abs(q)
                    if is_later:
                        break
                    g += gain[h]  # a tie fuses
                    s += size[h]
                    h = _without_top(h, child, sibling, whole, rest, size)
                gain[v], size[v], whole[v], rest[v] = g, s, q, r
                child[v] = sibling[v] = -1
                top[v] = _merged(h, v, child, sibling, whole, rest, size)
            if v > 0:
                p = parent[v]
                gain[p] -= cost[v]
                top[p] = _merged(top[p], top[v], child, sibling, whole, rest, size)
        for v in range(n):
            owner[v] = -1
            if size[v] > 0:
                o = owner[parent[v]] if v > 0 else v
                if Number is cython.longlong:
                    is_later = whole[v] < whole[o] or (whole[v] == whole[o] and rest[v] * size[o] < rest[o] * size[v])
                else:
                    is_later = whole[v] < whole[o] - TOLERANCE * abs(whole[o])
                owner[v] = v if is_later else o
    return gain.base, size.base, owner.base


def nested_path(parent, weight, cost):
    """Return (steps, alphas): the first minimiser of cost + alpha * size in which each node is a leaf or gone."""
    return nested_steps(*collapse_events(parent, weight, cost))


def nested_steps(gain, size, owner, is_all=False):
    """(steps, alphas): the first member of the family in which each node is shut, and the ratios at which they begin.

    Nodes shut with the node that owns them, in the order of gain / size; those that gain nothing are shut in the
    first member, unless `is_all` gives them members of their own. Equal ratios shut together: whole ones by exact
    comparison (two alphas may print alike), real ones within the tolerance of the one below.
    """
    if gain.dtype.kind == "f" or float(np.abs(gain).max(initial=0)) * float(size.max(initial=0)) < 2.0**51:
        return _nested_steps(gain, size, owner, is_all)
    links = np.flatnonzero((owner == np.arange(len(owner))) & (is_all | (gain > 0)))
    ratios = [Fraction(g, s) for g, s in zip(gain[links].tolist(), size[links].tolist(), strict=True)]
    rising = sorted({*ratios} if is_all else {Fraction(0), *ratios})
    place = {ratio: i for i, ratio in enumerate(rising)}
    steps = np.zeros(len(owner), np.int32)
    steps[links] = [place[ratio] for ratio in ratios]
    return np.where(owner >= 0, steps[owner], 0).astype(np.int32), np.array([float(ratio) for ratio in rising])


def _nested_steps(gain: Numbers, size: Longs, owner: Ints, is_all: cython.bint):
    """The same in floats.

    Different ratios of whole numbers differ by 1 / (gain * size) of their value at least, which is more than a float
    rounds away as long as gain * size < 2^51: the order of the floats is the true order.
    """
    n = owner.shape[0]
    link: cython.int[::1] = np.empty(n, np.int32)
    n_links: cython.Py_ssize_t = 0
    n_members: cython.Py_ssize_t = 0 if is_all else 1
    found = np.empty(n)
    ratio: cython.double[::1] = found
    steps: cython.int[::1] = np.zeros(n, np.int32)
    is_new: cython.bint
    with cython.nogil:
        for v in range(n):
            if owner[v] == v and (is_all or gain[v] > 0):
                link[n_links] = cython.cast(cython.int, v)
                ratio[n_links] = cython.cast(cython.double, gain[v]) / cython.cast(cython.double, size[v])
                n_links += 1
    order: cython.const[cython.Py_ssize_t][:] = np.argsort(found[:n_links])
    alphas = np.empty(n_links + 1)
    alpha: cython.double[::1] = alphas
    with cython.nogil:
        before = 0
        alpha[0] = 0
        for k in range(n_links):
            v = link[order[k]]
            if k == 0:
                is_new = True
            elif Number is cython.double:
                is_new = ratio[order[k]] - ratio[order[k - 1]] > TOLERANCE * abs(ratio[order[k]])
            else:
                is_new = gain[v] * size[before] != gain[before] * size[v]
            if is_new:
                alpha[n_members] = ratio[order[k]]
                n_members += 1
            steps[v] = cython.cast(cython.int, n_members - 1)
            before = v
        for v in range(n):
            if owner[v] >= 0:
                steps[v] = steps[owner[v]]
    return steps.base, alphas[:n_members]


def member_sums(parent: Ints, steps: Ints, values: Numbers, n_members: cython.Py_ssize_t):
    """Sum of `values` over the leaves of every member of a nested sequence."""
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
    """Size of every member of a nested sequence: 1, and the charge of each node that is not yet shut."""
    leaving = np.bincount(steps, weights=charge, minlength=n_members).astype(np.int64)
    return 1 + np.cumsum(leaving[::-1])[::-1] - leaving


def _envelope(penalty: Floats, cost: Floats):
    """Members that minimise `cost + alpha * penalty` for some alpha, in rising order of alpha.

    The rule of `_envelope_of_whole_numbers`, where a relative 1e-12 counts as equal.
    """
    n = penalty.shape[0]
    members = np.zeros(n, np.int64)
    chosen: cython.longlong[::1] = members
    top: cython.Py_ssize_t = 0
    with cython.nogil:
        for j in range(1, n):
            while top > 0:
                i, k = chosen[top - 1], chosen[top]
                steep = (cost[k] - cost[i]) * (penalty[k] - penalty[j])
                next_steep = (cost[j] - cost[k]) * (penalty[i] - penalty[k])
                if steep >= next_steep - TOLERANCE * abs(next_steep):
                    top -= 1
                else:
                    break
            top += 1
            chosen[top] = j
    return members[: top + 1]


def _envelope_of_whole_numbers(penalty, cost):
    """Members that minimise `cost + alpha * penalty` for some alpha, in rising order of alpha.

    Points come in falling order of penalty, the first has the least cost. Of points on
    one line the last, the smallest, is taken. Exact: Python's integers have no limit.
    """
    chosen = [0]
    for j in range(1, len(penalty)):
        while len(chosen) > 1:
            i, k = chosen[len(chosen) - 2], chosen[len(chosen) - 1]  # lists have no negative places here
            # The step i -> k is no flatter than k -> j: k is never the only one chosen.
            if (cost[k] - cost[i]) * (penalty[k] - penalty[j]) < (cost[j] - cost[k]) * (penalty[i] - penalty[k]):
                break
            chosen.pop()
        chosen.append(j)
    return chosen


def lower_envelope(penalty, cost):
    """Return (members, alphas) of the envelope of `cost + alpha * penalty`; ties to the smallest.

    Points in falling order of penalty, the first of least cost. Exact when both are whole.
    """
    if penalty.dtype.kind == "i" and cost.dtype.kind == "i":
        x, y = penalty.tolist(), cost.tolist()
        chosen = _envelope_of_whole_numbers(x, y)
    else:
        x, y = penalty.astype(np.float64), cost.astype(np.float64)
        chosen = _envelope(x, y).tolist()
    alphas = [0.0] + [(y[k] - y[i]) / (x[i] - x[k]) for i, k in itertools.pairwise(chosen)]
    return np.array(chosen, np.int64), np.array(alphas, np.float64)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _merged(
    x: cython.int,
    y: cython.int,
    child: cython.int[::1],
    sibling: cython.int[::1],
    whole: Number[::1],
    rest: cython.longlong[::1],
    size: cython.longlong[::1],
) -> cython.int:
    """Join two heaps (-1: empty): the lower top becomes the first child of the higher one."""
    if x < 0:
        return y
    if y < 0:
        return x
    if whole[y] > whole[x] or (whole[y] == whole[x] and rest[y] * size[x] > rest[x] * size[y]):
        x, y = y, x
    sibling[y] = child[x]
    child[x] = y
    return x


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _without_top(
    x: cython.int,
    child: cython.int[::1],
    sibling: cython.int[::1],
    whole: Number[::1],
    rest: cython.longlong[::1],
    size: cython.longlong[::1],
) -> cython.int:
    """The heap x less its top: join the children in pairs, then the pairs from the last to the first."""
    c: cython.int = child[x]
    done: cython.int = -1
    following: cython.int
    while c >= 0:
        d = sibling[c]
        following = -1
        if d >= 0:
            following = sibling[d]
            c = _merged(c, d, child, sibling, whole, rest, size)
        sibling[c] = done
        done = c
        c = following
    if done < 0:
        return done
    x = done
    done = sibling[x]
    sibling[x] = -1
    while done >= 0:
        following = sibling[done]
        x = _merged(x, done, child, sibling, whole, rest, size)
        done = following
    sibling[x] = -1
    return x
