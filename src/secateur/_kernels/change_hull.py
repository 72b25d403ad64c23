"""The corners of the lower convex hull of (changes, errors) over all prunings, from the leaves to the root.

Each node v has options: points (changes, errors) of v as a leaf. A split at v adds its own changes to the sum of one
point of each child. The hull of such sums has the edges of the hulls of the children, sorted by slope:

    hull of a child     hull of another      hull of the sum          hull of the node
    |.                  |.                   |.                       |.     the option o lies below:
    | \\                 |  ` .               | \\                      | \\    corners above it go
    |   ` .             |                    |   ` .  ` .             |   o . ` .

A hull here ends at the point with the fewest errors: more changes without fewer errors are of no use. Its corners are
stored by rising changes. Nodes are visited in reverse pre-order, so that the hulls of the children of a node lie on top
of a stack, the first child uppermost:

    xs, ys:    | hull of the last child | ... | hull of the first child |
               start of it                      first of the top hull     end

Cost: the sum of the lengths of all hulls. Equal slopes are merged, so a hull within n changes and e errors has a number
of corners in the order of (n e)^(1/3) at most, and those of small subtrees have few.
"""

import cython
import numpy as np
from cython.cimports.secateur._kernels.views import Ints, Longs


def hull_of_changes(n_children: Ints, start: Longs, changes: Longs, errors: Longs, split_changes: Longs):
    """Return changes and errors of the corners of the root's hull, by rising changes.

    `start[v]:start[v + 1]` are the options of node v, by falling changes. Nodes without children are no splits.
    """
    n = n_children.shape[0]
    n_options = changes.shape[0]
    xs: cython.longlong[::1] = np.empty(n_options + 1, np.int64)
    ys: cython.longlong[::1] = np.empty(n_options + 1, np.int64)
    new_xs: cython.longlong[::1] = np.empty(2 * n_options + 1, np.int64)
    new_ys: cython.longlong[::1] = np.empty(2 * n_options + 1, np.int64)
    first: cython.longlong[::1] = np.zeros(n + 1, np.int64)  # of each hull on the stack, and the end of the last one
    n_hulls: cython.Py_ssize_t = 0
    length: cython.Py_ssize_t
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            for _ in range(n_children[v] - 1):
                upper, lower = first[n_hulls - 1], first[n_hulls - 2]
                length = _add_hulls(
                    xs[lower:upper], ys[lower:upper], xs[upper : first[n_hulls]], ys[upper : first[n_hulls]],
                    new_xs, new_ys,
                )  # fmt: skip
                for i in range(length):
                    xs[lower + i] = new_xs[i]
                    ys[lower + i] = new_ys[i]
                n_hulls -= 1
                first[n_hulls] = lower + length
            if n_children[v] == 0:
                n_hulls += 1
                first[n_hulls] = first[n_hulls - 1]
            bottom, top = first[n_hulls - 1], first[n_hulls]
            for i in range(bottom, top):
                xs[i] += split_changes[v]
            length = _insert_points(
                xs[bottom:top], ys[bottom:top], changes[start[v] : start[v + 1]], errors[start[v] : start[v + 1]],
                new_xs, new_ys,
            )  # fmt: skip
            for i in range(length):
                xs[bottom + i] = new_xs[i]
                ys[bottom + i] = new_ys[i]
            first[n_hulls] = bottom + length
    n_corners = first[1]
    return xs.base[:n_corners].copy(), ys.base[:n_corners].copy()


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add_hulls(
    xs_a: cython.longlong[::1], ys_a: cython.longlong[::1], xs_b: cython.longlong[::1], ys_b: cython.longlong[::1],
    xs: cython.longlong[::1], ys: cython.longlong[::1]
) -> cython.Py_ssize_t:  # fmt: skip
    """Write the hull of all sums of one point of each hull, and return its length. Edges of equal slope become one."""
    xs[0] = xs_a[0] + xs_b[0]
    ys[0] = ys_a[0] + ys_b[0]
    length: cython.Py_ssize_t = 1
    i: cython.Py_ssize_t = 1
    j: cython.Py_ssize_t = 1
    order: cython.longlong
    while i < xs_a.shape[0] or j < xs_b.shape[0]:
        if i == xs_a.shape[0]:
            order = 1
        elif j == xs_b.shape[0]:
            order = -1
        else:  # below 0 if the edge of a falls more steeply
            order = (ys_a[i] - ys_a[i - 1]) * (xs_b[j] - xs_b[j - 1]) - (ys_b[j] - ys_b[j - 1]) * (
                xs_a[i] - xs_a[i - 1]
            )
        xs[length] = xs[length - 1]
        ys[length] = ys[length - 1]
        if order <= 0:
            xs[length] += xs_a[i] - xs_a[i - 1]
            ys[length] += ys_a[i] - ys_a[i - 1]
            i += 1
        if order >= 0:
            xs[length] += xs_b[j] - xs_b[j - 1]
            ys[length] += ys_b[j] - ys_b[j - 1]
            j += 1
        length += 1
    return length


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _insert_points(
    hull_xs: cython.longlong[::1], hull_ys: cython.longlong[::1], option_xs: Longs, option_ys: Longs,
    xs: cython.longlong[::1], ys: cython.longlong[::1]
) -> cython.Py_ssize_t:  # fmt: skip
    """Write the falling part of the lower hull of a hull and further points, and return its length."""
    length: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t = option_xs.shape[0] - 1  # options have falling changes
    x: cython.longlong
    y: cython.longlong
    while i < hull_xs.shape[0] or j >= 0:
        if j < 0 or (
            i < hull_xs.shape[0]
            and (hull_xs[i] < option_xs[j] or (hull_xs[i] == option_xs[j] and hull_ys[i] <= option_ys[j]))
        ):
            x, y = hull_xs[i], hull_ys[i]
            i += 1
        else:
            x, y = option_xs[j], option_ys[j]
            j -= 1
        if length > 0 and y >= ys[length - 1]:
            continue  # more changes without fewer errors
        while length >= 2 and (ys[length - 1] - ys[length - 2]) * (x - xs[length - 2]) >= (y - ys[length - 2]) * (
            xs[length - 1] - xs[length - 2]
        ):
            length -= 1
        xs[length] = x
        ys[length] = y
        length += 1
    return length
