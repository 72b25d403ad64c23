"""The sweep of `weakest_link` with its pairing heaps, and what is read off a nested sequence.

A heap is two arrays (first child, next sibling): merging is one comparison, and taking the top
is O(log n) amortised. Its keys are `whole + rest / size` (whole-number costs) or ratios.
"""

import cython
import numpy as np
from cython.cimports.secateur._kernels.views import Floats, Ints, Longs, Number, Numbers

# Real costs are sums of rounded numbers: ratios this close are the same ratio.
TOLERANCE = cython.declare(cython.double, 1e-12)


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


def envelope(penalty: Floats, cost: Floats):
    """Members that minimise `cost + alpha * penalty` for some alpha, in rising order of alpha.

    The rule of `weakest_link.envelope_of_whole_numbers`, where a relative 1e-12 counts as equal.
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


def sweep_whole(parent: Ints, weight: Longs, cost: Longs):
    """(whole, rest, gain, size) of the event that each node makes; whole-number costs."""
    n = parent.shape[0]
    whole: cython.longlong[::1] = np.zeros(n, np.int64)
    rest: cython.longlong[::1] = np.zeros(n, np.int64)
    gain: cython.longlong[::1] = np.array(cost, np.int64)
    size: cython.longlong[::1] = np.array(weight, np.int64)
    top: cython.int[::1] = np.empty(n, np.int32)
    child: cython.int[::1] = np.empty(n, np.int32)
    sibling: cython.int[::1] = np.empty(n, np.int32)
    with cython.nogil:
        for v in range(n):
            top[v] = child[v] = sibling[v] = -1
        for v in range(n - 1, -1, -1):
            # Children come after their parent: gain[v] is by now cost[v] less the cost of the children.
            if size[v] > 0:
                g, s, h = gain[v], size[v], top[v]
                q = _floor(g, s)
                r = g - q * s
                while h >= 0 and (whole[h] > q or (whole[h] == q and rest[h] * s >= r * size[h])):  # a tie fuses
                    g += gain[h]
                    s += size[h]
                    q = _floor(g, s)
                    r = g - q * s
                    h = _without_top(h, child, sibling, whole, rest, size)
                gain[v], size[v], whole[v], rest[v] = g, s, q, r
                top[v] = _merged(h, v, child, sibling, whole, rest, size)
            if v > 0:
                p = parent[v]
                gain[p] -= cost[v]
                top[p] = _merged(top[p], top[v], child, sibling, whole, rest, size)
    return whole.base, rest.base, gain.base, size.base


def sweep_real(parent: Ints, weight: Longs, cost: Floats):
    """(ratio, gain, size) of the event that each node makes; real costs."""
    n = parent.shape[0]
    ratio: cython.double[::1] = np.zeros(n)
    rest: cython.longlong[::1] = np.zeros(n, np.int64)
    gain: cython.double[::1] = np.array(cost)
    size: cython.longlong[::1] = np.array(weight, np.int64)
    top: cython.int[::1] = np.empty(n, np.int32)
    child: cython.int[::1] = np.empty(n, np.int32)
    sibling: cython.int[::1] = np.empty(n, np.int32)
    with cython.nogil:
        for v in range(n):
            top[v] = child[v] = sibling[v] = -1
        for v in range(n - 1, -1, -1):
            if size[v] > 0:
                g, s, h = gain[v], size[v], top[v]
                # What is left of cost[v] after rounding away is no gain.
                if abs(g) <= TOLERANCE * cost[v]:
                    g = 0.0
                while h >= 0 and ratio[h] >= g / s - TOLERANCE * abs(g / s):
                    g += gain[h]
                    s += size[h]
                    if abs(g) <= TOLERANCE * cost[v]:
                        g = 0.0
                    h = _without_top(h, child, sibling, ratio, rest, size)
                gain[v], size[v], ratio[v] = g, s, g / s
                top[v] = _merged(h, v, child, sibling, ratio, rest, size)
            if v > 0:
                p = parent[v]
                gain[p] -= cost[v]
                top[p] = _merged(top[p], top[v], child, sibling, ratio, rest, size)
    return ratio.base, gain.base, size.base


def owners_whole(parent: Ints, size: Longs, whole: Longs, rest: Longs):
    """The node with whose event each node collapses; -1 at leaves."""
    n = parent.shape[0]
    owner: cython.int[::1] = np.empty(n, np.int32)
    is_lower: cython.bint
    with cython.nogil:
        for v in range(n):
            owner[v] = -1
            if size[v] > 0:
                o = owner[parent[v]] if v > 0 else v
                is_lower = whole[v] < whole[o] or (whole[v] == whole[o] and rest[v] * size[o] < rest[o] * size[v])
                owner[v] = v if is_lower else o
    return owner.base


def owners_real(parent: Ints, size: Longs, ratio: Floats):
    """The node with whose event each node collapses; -1 at leaves."""
    n = parent.shape[0]
    owner: cython.int[::1] = np.empty(n, np.int32)
    with cython.nogil:
        for v in range(n):
            owner[v] = -1
            if size[v] > 0:
                o = owner[parent[v]] if v > 0 else v
                owner[v] = v if ratio[v] < ratio[o] - TOLERANCE * abs(ratio[o]) else o
    return owner.base


def nested_steps(gain: Numbers, size: Longs, owner: Ints):
    """(steps, alphas): the first member of the family in which each node is shut, and the ratios at which they begin.

    Nodes shut with the node that owns them, in the order of gain / size; those that gain nothing
    are shut in the first member. Equal ratios shut together: whole ones by exact comparison, for
    which no gain times size may exceed 2^51, real ones within the tolerance.
    """
    n = owner.shape[0]
    link: cython.int[::1] = np.empty(n, np.int32)
    n_links: cython.Py_ssize_t = 0
    n_members: cython.Py_ssize_t = 1
    found = np.empty(n)
    ratio: cython.double[::1] = found
    steps: cython.int[::1] = np.zeros(n, np.int32)
    is_new: cython.bint
    with cython.nogil:
        for v in range(n):
            if owner[v] == v and gain[v] > 0:
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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _floor(a: cython.longlong, b: cython.longlong) -> cython.longlong:
    """a // b as Python has it, for b > 0: division in C rounds towards 0."""
    q = a // b
    return q - 1 if q * b > a else q


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
