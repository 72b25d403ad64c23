"""(min, +) combination of two tables: out[k] = min over i of a[i] + b[k - i].

By hulls it is exact and nearly linear for tables that are nearly convex. The lower convex
hulls of both sequences, added, bound every candidate from below; the bound is convex along
the candidates of one entry, and the place of its minimum moves by at most one from entry to
entry. We start there, walk outwards, and stop where the bound rules out any improvement.
Heights of hulls are floats: `lower_hull` bounds what rounding can have done to them.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ._jit import njit

Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[Any]

EPSILON = 2.0**-52


@njit
def combine_plain(a: Numbers, b: Numbers, out: Numbers, absent: Any) -> None:
    """out[k] = min over i of a[i] + b[k - i]; a is the shorter."""
    n = out.shape[0]
    if a.shape[0] == 1:
        add = a[0]
        for j in range(min(n, b.shape[0])):
            v = add + b[j]
            out[j] = min(absent, v)
        out[b.shape[0] :] = absent
        return
    out[:] = absent
    for i in range(min(a.shape[0], n)):
        add = a[i]
        if add < absent:
            m = min(b.shape[0], n - i)
            o = out[i : i + m]
            for j in range(m):
                v = add + b[j]
                o[j] = min(o[j], v)


@njit
def lower_hull(a: Numbers, absent: Any, height: Floats, slope: Floats, corners: Longs) -> Any:
    """Height of the lower convex hull at every place, its slope to the next; returns what rounding may do.

    The first and the last entry are present. Corners of whole numbers are exact; each of n
    corners of real numbers may be a few ulps of the largest entry off, and so may a height, and
    so may the place where slopes send the search (slopes are rounded, but equal ones alike).
    """
    n = a.shape[0]
    top = 0
    largest = 0.0
    for i in range(n):
        if a[i] >= absent:
            continue
        largest = max(largest, abs(float(a[i])))
        while top >= 2:
            p, q = corners[top - 1], corners[top - 2]
            if (a[p] - a[q]) * (i - q) >= (a[i] - a[q]) * (p - q):
                top -= 1
            else:
                break
        corners[top] = i
        top += 1
    for s in range(top - 1):
        q, p = corners[s], corners[s + 1]
        base = float(a[q])
        rise = float(a[p] - a[q]) / (p - q)
        for i in range(q, p):
            height[i] = base + rise * (i - q)
            slope[i] = rise
    height[n - 1] = float(a[n - 1])
    slope[n - 1] = np.inf
    return 32 * EPSILON * largest * n


@njit
def combine_hulls(a: Numbers, b: Numbers, out: Numbers, rule: Numbers, hulls: Floats, corners: Longs) -> None:
    """The same as `combine_plain`, by hull bounds."""
    absent, least = rule[0], float(rule[1])
    n_a, n_b = a.shape[0], b.shape[0]
    ha, sa, hb, sb = hulls[0], hulls[1], hulls[2], hulls[3]
    # A table cut short by the limit may end in a gap; the hull needs an end that exists.
    while a[n_a - 1] >= absent:
        n_a -= 1
    while b[n_b - 1] >= absent:
        n_b -= 1
    room = lower_hull(a[:n_a], absent, ha, sa, corners) + lower_hull(b[:n_b], absent, hb, sb, corners) - least
    n_out = min(out.shape[0], n_a + n_b - 1)
    out[n_out:] = absent
    i0 = 0
    for k in range(n_out):
        if k > 0:
            j0 = k - 1 - i0
            if j0 + 1 >= n_b or (i0 + 1 < n_a and sa[i0] < sb[j0]):
                i0 += 1
        j0 = k - i0
        best = a[i0] + b[j0]
        limit = float(best) + room  # nothing above it can improve
        if ha[i0] + hb[j0] <= limit:
            n_up, n_down = min(n_a - 1 - i0, j0), min(i0, n_b - 1 - j0)
            s = 1
            while s <= n_up or s <= n_down:
                if s <= n_up:
                    if ha[i0 + s] + hb[j0 - s] > limit:
                        n_up = 0
                    else:
                        v = a[i0 + s] + b[j0 - s]
                        if v < best:
                            best = v
                            limit = float(best) + room
                if s <= n_down:
                    if ha[i0 - s] + hb[j0 + s] > limit:
                        n_down = 0
                    else:
                        v = a[i0 - s] + b[j0 + s]
                        if v < best:
                            best = v
                            limit = float(best) + room
                s += 1
        out[k] = min(absent, best)
