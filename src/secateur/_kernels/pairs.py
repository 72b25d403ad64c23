"""The best trees of one, two and three leaves, from how many rows of each class meet every two tests."""

import cython
import numpy as np

NONE = cython.declare(cython.double, float("inf"))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _cost(total: cython.double, most: cython.double, squares: cython.double, unit: cython.double) -> cython.double:
    """What a leaf costs: its errors, and `unit` times its Gini impurity. A leaf without rows is none."""
    return total - most + unit * (total - squares / total) if total > 0 else NONE


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _split_cost(
    whole: cython.p_double, part: cython.p_double, n_classes: cython.Py_ssize_t, unit: cython.double
) -> cython.double:
    """What the two leaves cost that a part of a node and its rest make; infinite where one has no rows."""
    left = right = most_left = most_right = squares_left = squares_right = 0.0
    for c in range(n_classes):
        n = part[c]
        rest = whole[c] - n
        left += n
        right += rest
        most_left = max(most_left, n)
        most_right = max(most_right, rest)
        squares_left += n * n
        squares_right += rest * rest
    return _cost(left, most_left, squares_left, unit) + _cost(right, most_right, squares_right, unit)


def best_small_trees(
    meet: cython.const[cython.double][:, :, ::1], total: cython.const[cython.double][::1], unit: cython.double
):
    """(costs, tests): the least cost of a tree of one, two and three leaves on the rows of a node.

    `meet[i, j, c]` rows of class c pass both test i and test j, `total[c]` are all. The tests are those of the
    tree of two leaves; of three leaves: the first; the second below those that pass; or below those that do not (-1:
    none). Infinite where there is no such tree. Of trees as good, within 1e-9 of a row, that of the first tests.
    """
    n_tests, n_classes = meet.shape[0], meet.shape[2]
    costs: cython.double[::1] = np.full(3, np.inf)
    tests: cython.longlong[::1] = np.full(4, -1)
    work: cython.double[:, ::1] = np.empty((4, n_classes))
    k: cython.Py_ssize_t
    side: cython.Py_ssize_t
    alone: cython.double[2]
    below: cython.double[2]
    found: cython.longlong[2]
    least: cython.double = 1e-9
    n: cython.double[2]
    most: cython.double[2]
    squares: cython.double[2]
    with cython.nogil:
        for k in range(2):
            n[k] = most[k] = squares[k] = 0
        for c in range(n_classes):
            n[0] += total[c]
            most[0] = max(most[0], total[c])
            squares[0] += total[c] * total[c]
        costs[0] = _cost(n[0], most[0], squares[0], unit)
        for i in range(n_tests if most[0] < n[0] else 0):  # a pure node is a leaf
            for k in range(2):
                n[k] = most[k] = squares[k] = 0
            for c in range(n_classes):
                work[0, c] = meet[i, i, c]
                work[1, c] = total[c] - meet[i, i, c]
                for k in range(2):
                    n[k] += work[k, c]
                    most[k] = max(most[k], work[k, c])
                    squares[k] += work[k, c] * work[k, c]
            if n[0] <= 0 or n[1] <= 0:
                continue
            for k in range(2):
                alone[k] = _cost(n[k], most[k], squares[k], unit)
                below[k] = NONE
                found[k] = -1
            cost = alone[0] + alone[1]
            if cost < costs[1] - least:
                costs[1] = cost
                tests[0] = i
            for j in range(n_tests):
                for c in range(n_classes):
                    work[2, c] = meet[i, j, c]
                    work[3, c] = meet[j, j, c] - meet[i, j, c]
                for k in range(2):
                    if most[k] < n[k]:
                        cost = _split_cost(cython.address(work[k, 0]), cython.address(work[2 + k, 0]), n_classes, unit)
                        if cost < below[k] - least:
                            below[k] = cost
                            found[k] = j
            for side in range(2):
                cost = below[side] + alone[1 - side]
                if cost < costs[2] - least:
                    costs[2] = cost
                    tests[1] = i
                    tests[2] = found[0] if side == 0 else -1
                    tests[3] = found[1] if side == 1 else -1
    return costs.base, tests.base
