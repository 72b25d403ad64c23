r"""The best trees of one, two and three leaves on the rows of a node, for the lookahead of the grower.

All that is needed is how many rows pass every two tests. For tests i and j and class c:

    n_both[i, j, c]     rows of class c that pass test i and test j; n_both[i, i, c] pass test i
    total[c]            all rows of class c

A tree of three leaves tests i at the root, and j below one of the branches:

             i                      i               rows that pass
         yes / \ no             yes / \ no           i and j        n_both[i, j]
            j   leaf           leaf   j              i, not j       n_both[i, i] - n_both[i, j]
        yes / \ no                yes / \ no         j, not i       n_both[j, j] - n_both[i, j]
        leaf   leaf              leaf   leaf         neither        the rest

Cost: tests x tests x classes.
"""

import cython
import numpy as np

IMPOSSIBLE = cython.declare(cython.double, float("inf"))  # the cost of a leaf without rows


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _leaf_cost(
    total: cython.double, max_count: cython.double, squares: cython.double, unit: cython.double
) -> cython.double:
    """Return the cost of a leaf: its errors, plus `unit` times its Gini impurity. A leaf without rows is impossible."""
    return total - max_count + unit * (total - squares / total) if total > 0 else IMPOSSIBLE


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _split_cost(
    node: cython.p_double, part: cython.p_double, n_classes: cython.Py_ssize_t, unit: cython.double
) -> cython.double:
    """Return the cost of the two leaves into which a part of the rows of a node and the rest of them are split."""
    left = right = max_left = max_right = squares_left = squares_right = 0.0
    for c in range(n_classes):
        n_left = part[c]
        n_right = node[c] - n_left
        left += n_left
        right += n_right
        max_left = max(max_left, n_left)
        max_right = max(max_right, n_right)
        squares_left += n_left * n_left
        squares_right += n_right * n_right
    return _leaf_cost(left, max_left, squares_left, unit) + _leaf_cost(right, max_right, squares_right, unit)


def best_small_trees(
    n_both: cython.const[cython.double][:, :, ::1], total: cython.const[cython.double][::1], unit: cython.double
):
    """Return the least cost of a tree of one, two and three leaves, and the tests of these trees.

    The tests are: that of the tree of two leaves; of the tree of three leaves the first test, the test below the rows
    that pass it, and the test below the rows that fail it (-1: none). A cost is infinite where there is no such tree.
    Of trees that are equally good within 1e-9 rows, the one with the first tests.
    """
    n_tests, n_classes = n_both.shape[0], n_both.shape[2]
    costs: cython.double[::1] = np.full(3, np.inf)
    tests: cython.longlong[::1] = np.full(4, -1)
    # Class counts: the rows that pass and that fail test i, and of each the rows that pass test j.
    counts: cython.double[:, ::1] = np.empty((4, n_classes))
    side: cython.Py_ssize_t
    leaf_cost: cython.double[2]
    split_cost: cython.double[2]
    second_test: cython.longlong[2]
    n: cython.double[2]
    max_count: cython.double[2]
    squares: cython.double[2]
    min_gain: cython.double = 1e-9  # a tree is better only if it costs this much less
    with cython.nogil:
        # One leaf.
        n[0] = max_count[0] = squares[0] = 0
        for c in range(n_classes):
            n[0] += total[c]
            max_count[0] = max(max_count[0], total[c])
            squares[0] += total[c] * total[c]
        costs[0] = _leaf_cost(n[0], max_count[0], squares[0], unit)
        for i in range(n_tests if max_count[0] < n[0] else 0):  # a pure node stays a leaf
            for side in range(2):
                n[side] = max_count[side] = squares[side] = 0
            for c in range(n_classes):
                counts[0, c] = n_both[i, i, c]
                counts[1, c] = total[c] - n_both[i, i, c]
                for side in range(2):
                    n[side] += counts[side, c]
                    max_count[side] = max(max_count[side], counts[side, c])
                    squares[side] += counts[side, c] * counts[side, c]
            if n[0] <= 0 or n[1] <= 0:
                continue
            for side in range(2):
                leaf_cost[side] = _leaf_cost(n[side], max_count[side], squares[side], unit)
                split_cost[side] = IMPOSSIBLE
                second_test[side] = -1
            cost = leaf_cost[0] + leaf_cost[1]
            if cost < costs[1] - min_gain:
                costs[1] = cost
                tests[0] = i
            for j in range(n_tests):
                for c in range(n_classes):
                    counts[2, c] = n_both[i, j, c]
                    counts[3, c] = n_both[j, j, c] - n_both[i, j, c]
                for side in range(2):
                    if max_count[side] == n[side]:  # a pure side stays a leaf
                        continue
                    node, part = cython.address(counts[side, 0]), cython.address(counts[2 + side, 0])
                    cost = _split_cost(node, part, n_classes, unit)
                    if cost < split_cost[side] - min_gain:
                        split_cost[side] = cost
                        second_test[side] = j
            for side in range(2):
                cost = split_cost[side] + leaf_cost[1 - side]
                if cost < costs[2] - min_gain:
                    costs[2] = cost
                    tests[1] = i
                    tests[2] = second_test[0] if side == 0 else -1
                    tests[3] = second_test[1] if side == 1 else -1
    return costs.base, tests.base
