"""The penalty at which each node collapses, by one sweep from the leaves to the root.

Lowering the penalty opens tests one group after another. A finished subtree is a heap of
such *events*: "below `gain / size` something opens, the cost falls by `gain`, the size
rises by `size`". At a node the heaps of the children are merged, and events that open no
later than the node itself are fused into its own: each is taken out once, so the sweep is
O(n log n) whatever the depth. An event has the number of the node that made it.

The heaps are pairing heaps in two arrays (first child, next sibling): merging is one
comparison, and taking the top is O(log n) amortised. Keys of whole-number costs are
`whole + rest / size` with 0 <= rest < size < 2^31: the parts compare exactly in 64 bits
however large the costs are.
"""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ._jit import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[Any]

# Real costs are sums of rounded numbers: ratios this close are the same ratio.
TOLERANCE = 1e-12


def collapse_events(parent: Ints, weight: Longs, cost: Numbers) -> tuple[Numbers, Longs, Ints]:
    """Return (gain, size, owner): node v collapses at penalty `gain[o] / size[o]`, o = `owner[v]`.

    `weight` is what opening a node adds to the size (0 marks a leaf, whose owner is -1).
    An owner is a node that collapses before its parent does; it owns itself.
    """
    gain: Numbers
    if cost.dtype.kind == "i":
        whole, rest, gain, size = _sweep_whole(parent, weight, cost)
        return gain, size, _owners_whole(parent, size, whole, rest)
    ratio, gain, size = _sweep_real(parent, weight, cost)
    return gain, size, _owners_real(parent, size, ratio)


def ranked_ratios(gain: Numbers, size: Longs) -> tuple[Longs, Floats]:
    """Return (rank, values): the distinct ratios `gain / size` in rising order, and the place of each.

    Whole numbers: exact places, values rounded once (two values may print alike). Real
    numbers: a ratio within the tolerance of the one below it counts as the same.
    """
    if gain.dtype.kind == "i" and float(np.abs(gain).max(initial=0)) * float(size.max(initial=0)) >= 2.0**51:
        return _ranked_fractions(gain, size)
    ratio = gain / size
    order = np.argsort(ratio)
    values, g, s = ratio[order], gain[order], size[order]
    is_new = np.ones(len(order), np.bool_)
    if gain.dtype.kind == "f":
        is_new[1:] = np.diff(values) > TOLERANCE * np.abs(values[1:])
    else:
        # Different ratios differ by 1 / (gain * size) of their value at least, which is more than a float
        # rounds away as long as gain * size < 2^51: the order of the floats is the true order.
        is_new[1:] = g[1:] * s[:-1] != g[:-1] * s[1:]
    rank = np.empty(len(order), np.int64)
    rank[order] = np.cumsum(is_new) - 1
    return rank, values[is_new]


def _ranked_fractions(gain: Longs, size: Longs) -> tuple[Longs, Floats]:
    """The same for numbers so large that floats could confuse them."""
    exact = [Fraction(g, s) for g, s in zip(gain.tolist(), size.tolist(), strict=True)]
    rising = sorted(set(exact))
    place = {ratio: i for i, ratio in enumerate(rising)}
    return np.array([place[ratio] for ratio in exact], np.int64), np.array([float(ratio) for ratio in rising])


def _envelope(penalty: Any, cost: Any, slack: Any) -> Any:
    """Members that minimise `cost + alpha * penalty` for some alpha, in rising order of alpha.

    Points come in falling order of penalty, the first has the least cost. Of points on
    one line the last, the smallest, is taken. Runs on Python integers too, exactly.
    """
    chosen = [0]
    for j in range(1, len(penalty)):
        while len(chosen) > 1:
            i, k = chosen[-2], chosen[-1]
            # The step i -> k is no flatter than k -> j: k is never the only one chosen.
            steep = (cost[k] - cost[i]) * (penalty[k] - penalty[j])
            next_steep = (cost[j] - cost[k]) * (penalty[i] - penalty[k])
            if steep >= next_steep - slack * abs(next_steep):
                chosen.pop()
            else:
                break
        chosen.append(j)
    return chosen


_envelope_compiled = njit(_envelope)


def lower_envelope(penalty: Numbers, cost: Numbers) -> tuple[Longs, Floats]:
    """Return (members, alphas) of the envelope of `cost + alpha * penalty`; ties to the smallest.

    Points in falling order of penalty, the first of least cost. Exact when both are whole.
    """
    if penalty.dtype.kind == "i" and cost.dtype.kind == "i":
        x, y = penalty.tolist(), cost.tolist()
        chosen = _envelope(x, y, 0)
    else:
        x, y = penalty.astype(np.float64), cost.astype(np.float64)
        chosen = _envelope_compiled(x, y, TOLERANCE)
    alphas = [0.0] + [(y[k] - y[i]) / (x[i] - x[k]) for i, k in itertools.pairwise(chosen)]
    return np.array(chosen, np.int64), np.array(alphas, np.float64)


@njit
def member_sums(parent: Ints, steps: Ints, values: Numbers, n_members: int) -> Numbers:
    """Sum of `values` over the leaves of every member of a nested sequence."""
    total = np.zeros(n_members + 1, values.dtype)
    for v in range(parent.shape[0]):
        until = n_members if v == 0 else steps[parent[v]]
        total[steps[v]] += values[v]
        total[until] -= values[v]
    for i in range(1, n_members):
        total[i] += total[i - 1]
    return total[:n_members]


@njit
def _sweep_whole(parent: Ints, weight: Longs, cost: Longs) -> tuple[Longs, Longs, Longs, Longs]:
    n = parent.shape[0]
    whole, rest = np.zeros(n, np.int64), np.zeros(n, np.int64)
    gain, size = cost.copy(), weight.copy()
    top, child, sibling = np.full(n, -1, np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    for v in range(n - 1, -1, -1):
        # Children come after their parent: gain[v] is by now cost[v] less the cost of the children.
        if size[v] > 0:
            g, s, h = gain[v], size[v], top[v]
            q = g // s
            r = g - q * s
            while h >= 0 and (whole[h] > q or (whole[h] == q and rest[h] * s >= r * size[h])):  # a tie fuses
                g += gain[h]
                s += size[h]
                q = g // s
                r = g - q * s
                h = _without_top(h, child, sibling, whole, rest, size)
            gain[v], size[v], whole[v], rest[v] = g, s, q, r
            top[v] = _merged(h, np.int32(v), child, sibling, whole, rest, size)
        if v > 0:
            p = parent[v]
            gain[p] -= cost[v]
            top[p] = _merged(top[p], top[v], child, sibling, whole, rest, size)
    return whole, rest, gain, size


@njit
def _sweep_real(parent: Ints, weight: Longs, cost: Floats) -> tuple[Floats, Floats, Longs]:
    n = parent.shape[0]
    ratio, rest = np.zeros(n), np.zeros(n, np.int64)
    gain, size = cost.copy(), weight.copy()
    top, child, sibling = np.full(n, -1, np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
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
            top[v] = _merged(h, np.int32(v), child, sibling, ratio, rest, size)
        if v > 0:
            p = parent[v]
            gain[p] -= cost[v]
            top[p] = _merged(top[p], top[v], child, sibling, ratio, rest, size)
    return ratio, gain, size


@njit
def _merged(x: Any, y: Any, child: Ints, sibling: Ints, whole: Numbers, rest: Longs, size: Longs) -> Any:
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


@njit
def _without_top(x: Any, child: Ints, sibling: Ints, whole: Numbers, rest: Longs, size: Longs) -> Any:
    """The heap x less its top: join the children in pairs, then the pairs from the last to the first."""
    none = np.int32(-1)
    c, done = child[x], none
    while c >= 0:
        d = sibling[c]
        following = none
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
    sibling[x] = none
    while done >= 0:
        following = sibling[done]
        x = _merged(x, done, child, sibling, whole, rest, size)
        done = following
    sibling[x] = none
    return x


@njit
def _owners_whole(parent: Ints, size: Longs, whole: Longs, rest: Longs) -> Ints:
    n = parent.shape[0]
    owner = np.full(n, -1, np.int32)
    for v in range(n):
        if size[v] > 0:
            o = owner[parent[v]] if v > 0 else v
            is_lower = whole[v] < whole[o] or (whole[v] == whole[o] and rest[v] * size[o] < rest[o] * size[v])
            owner[v] = v if is_lower else o
    return owner


@njit
def _owners_real(parent: Ints, size: Longs, ratio: Floats) -> Ints:
    n = parent.shape[0]
    owner = np.full(n, -1, np.int32)
    for v in range(n):
        if size[v] > 0:
            o = owner[parent[v]] if v > 0 else v
            owner[v] = v if ratio[v] < ratio[o] - TOLERANCE * abs(ratio[o]) else o
    return owner
