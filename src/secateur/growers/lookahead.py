"""Trees of few leaves, found by looking ahead: a test is taken for what the best tests below it will make of it.

The tests to choose from are few: cuts at quantiles, categories and sets of them, and those of greedy trees. How many
rows of each class meet every two of them tells what the best trees of up to three leaves cost
(`_kernels/small_trees.py`), in a node and, test by test, on both of its sides. So up to four leaves the tree is the
best there is with these tests; with more, a test is taken for what up to three leaves on each side make of it.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .._kernels import structure
from .._kernels.small_trees import best_small_trees
from .._utils.arrays import Array, Floats
from ..core import Counts, Tree
from ..data.table import Table
from ..routing import with_growing_rows
from .kernel_arguments import scale_weights
from .prepare import midpoint
from .tree_assembly import shortest_decimals

FEWEST, MOST = 2, 8  # leaves; with more, greedy growing is as good
MOST_ROWS, MOST_CELLS = 100_000, 10_000_000
MOST_WORK = 1 << 31  # rows times the third power of the tests: a node takes some tenths of a second at most
MOST_TESTS = 128
N_CUTS = 5  # of a numeric column
MOST_CATEGORIES = 10  # that are set against the rest, of a column
AHEAD = 6  # leaves that a test is judged by, three on each side
TIE = 1e-9  # of a row


_ALL = np.zeros(0, np.uint16)  # of a test of numbers


class Test(NamedTuple):
    """A test: a column, the numbers around its threshold or the child of each code; and which rows go to child 0."""

    feature: int
    passes: Array
    default: int
    around: tuple[float, float] = (np.nan, np.nan)
    branch: Array = _ALL


_LEAF = Test(-1, _ALL, 0)


class _Best(NamedTuple):
    """Of a node: the least cost of 1 to 6 leaves, and by what test, with how many leaves on each side."""

    cost: Floats
    by: dict[int, tuple[int, int, int]]


def can_look_ahead(table: Table, n_leaves: int) -> bool:
    """Whether a tree of so many leaves is looked for among so many rows."""
    n = table.n_rows
    return FEWEST <= n_leaves <= MOST and n <= MOST_ROWS and n * table.n_columns <= MOST_CELLS


def grow_with_lookahead(table: Table, weight: Array | None, n_leaves: int, also: Iterable[Tree] = ()) -> Counts | None:
    """Return the counts of the tree of so many leaves with the fewest errors that is found; None if there is none.

    Parameters
    ----------
    table : Table
        With classes.
    weight : array, optional
        Of each row, above 0.
    n_leaves : int
        From 2 to 8.
    also : trees
        Trees grown on the same table, whose tests are tried, too.
    """
    weight, is_whole, exponent = scale_weights(weight)
    tests = _tests(table, weight, also)
    found = _Search(table, weight, tests).tree(n_leaves) if tests else None
    if found is None:
        return None
    tree, by_class = found
    by_class = by_class.astype(np.int64) if is_whole else np.ldexp(by_class, exponent)
    return with_growing_rows(Counts(tree, by_class, "grow"), table)  # type: ignore[no-any-return]


class _Search:
    """What stays the same while a tree is looked for."""

    def __init__(self, table: Table, weight: Array | None, tests: list[Test]) -> None:
        assert table.schema.classes is not None
        self.table, self.tests, self.target = table, tests, table.required_target
        self.n_classes = len(table.schema.classes)
        self.passes = np.column_stack([test.passes for test in tests])
        # Sums of whole numbers are exact; in float32 up to 2**24, which is more than there are rows.
        self.weight = None if weight is None else weight.astype(np.float64)
        self.kind: Any = np.float32 if weight is None else np.float64
        self.unit = 0.5 / float(table.n_rows if weight is None else weight.sum())  # all impurity is below one error

    def meet(self, rows: Array) -> tuple[Floats, Floats]:
        """How many rows of each class meet every two tests, and how many there are."""
        found = np.empty((len(self.tests), len(self.tests), self.n_classes))
        total = np.zeros(self.n_classes)
        for c in range(self.n_classes):
            of = rows[self.target[rows] == c]
            passes = self.passes[of].astype(self.kind)
            given = None if self.weight is None else self.weight[of]
            total[c] = len(of) if given is None else given.sum()
            found[:, :, c] = passes.T @ (passes if given is None else passes * given[:, None])
        return found, total

    def best(self, rows: Array) -> _Best:
        """The least costs of a node."""
        meet, total = self.meet(rows)
        cost, by = np.full(AHEAD + 1, np.inf), {}
        cost[1] = best_small_trees(meet, total, self.unit)[0][0]
        for f in range(len(self.tests)):
            passes = self.passes[rows, f]
            some = rows[passes]
            if len(some) in (0, len(rows)):
                continue
            is_few = 2 * len(some) <= len(rows)
            part = self.meet(some if is_few else rows[~passes])
            rest = meet - part[0], total - part[1]
            left, right = (best_small_trees(*side, self.unit)[0] for side in ((part, rest) if is_few else (rest, part)))
            for n_left, n_right in ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1), (2, 3), (3, 2), (3, 3)):
                found = left[n_left - 1] + right[n_right - 1]
                if found < cost[n_left + n_right] - TIE:
                    cost[n_left + n_right], by[n_left + n_right] = found, (f, n_left, n_right)
        return _Best(cost, by)

    def parted(self, rows: Array, n_leaves: int) -> tuple[int, int, int] | None:
        """The test of a node that is to have so many leaves, and how many each of its sides gets."""
        if n_leaves <= 3:
            _, (two, first, passed, _) = best_small_trees(*self.meet(rows), self.unit)
            if n_leaves == 2:
                return None if two < 0 else (int(two), 1, 1)
            return None if first < 0 else (int(first), *((2, 1) if passed >= 0 else (1, 2)))
        best = self.best(rows)
        ahead = min(n_leaves, AHEAD)
        if ahead not in best.by:
            return None
        if n_leaves <= 4:
            return best.by[ahead]
        test = best.by[ahead][0]
        passes = self.passes[rows, test]
        left, right = (self.best(rows[side]).cost[np.minimum(np.arange(n_leaves), AHEAD)] for side in (passes, ~passes))
        n_left = 1 + int((left[1:] + right[:0:-1]).argmin())
        return test, n_left, n_leaves - n_left

    def tree(self, n_leaves: int) -> tuple[Tree, Floats] | None:
        """The tree, its nodes in pre-order, and the rows of each class in them."""
        parent: list[int] = []
        tests: list[Test] = []
        own: list[Array] = []
        waiting = [(-1, np.arange(self.table.n_rows), n_leaves)]
        while waiting:
            above, rows, n = waiting.pop()
            found = self.parted(rows, n) if n > 1 else (-1, 0, 0)
            if found is None:
                return None
            v, (test, n_left, n_right) = len(parent), found
            parent.append(above)
            tests.append(self.tests[test] if test >= 0 else _LEAF)
            weight = None if self.weight is None else self.weight[rows]
            is_leaf = 1.0 if test < 0 else 0.0
            own.append(np.bincount(self.target[rows], weight, minlength=self.n_classes) * is_leaf)
            if test >= 0:
                passes = self.passes[rows, test]
                waiting += [(v, rows[~passes], n_right), (v, rows[passes], n_left)]
        parents = np.array(parent, np.int32)
        by_class: Floats = structure.sum_upwards(parents, np.array(own))
        return _tree(parents, tests, by_class, self.table), by_class


def _tree(parent: Array, tests: list[Test], by_class: Floats, table: Table) -> Tree:
    low, high = np.array([test.around for test in tests]).T
    threshold = midpoint(low, high)
    total = by_class.sum(axis=1)
    impurity = total - (by_class * by_class).sum(axis=1) / total
    below = np.bincount(parent[1:], impurity[1:], minlength=len(parent))
    return Tree(
        parent,
        feature=np.array([test.feature for test in tests], np.int32),
        threshold=threshold,
        rounded=shortest_decimals(low, threshold, high),
        branch_start=np.append(0, np.cumsum([len(test.branch) for test in tests])),
        branch=np.concatenate([test.branch for test in tests]),
        default=np.array([test.default for test in tests], np.int32),
        score=np.where([test.feature < 0 for test in tests], np.nan, (impurity - below) / total),
        schema=table.schema,
    )


def _tests(table: Table, weight: Array | None, also: Iterable[Tree]) -> list[Test]:
    """The tests to choose from: those of trees, then the purest, all different and in the order of their columns."""
    assert table.schema.classes is not None
    given = np.ones(table.n_rows) if weight is None else weight
    of_class = np.zeros((table.n_rows, len(table.schema.classes)))
    of_class[np.arange(table.n_rows), table.required_target] = given
    found = [test for tree in also for test in _tests_of(tree, table)]
    n_first = len(found)
    for j, about in enumerate(table.schema.columns):
        if about.kind == "numeric":
            found += _cuts(j, table.columns[j], given)
        else:
            found += _sets(j, table.columns[j], about.n_codes, of_class)
    some = np.array([of_class[test.passes].sum(axis=0) for test in found]).reshape(-1, of_class.shape[1])
    sides = some, of_class.sum(axis=0) - some
    purity = sum((side * side).sum(axis=1) / np.maximum(side.sum(axis=1), 1e-300) for side in sides)
    purity[:n_first] = np.inf
    most = int(np.clip(np.cbrt(MOST_WORK / table.n_rows), 8, MOST_TESTS))
    kept: dict[bytes, int] = {}
    for i in np.argsort(-purity, kind="stable").tolist():
        passes = found[i].passes
        if passes.any() and not passes.all() and len(kept) < most:
            kept.setdefault(np.packbits(passes ^ passes[0]).tobytes(), i)
    return [found[i] for i in sorted(kept.values(), key=lambda i: (found[i].feature, i))]


def _cuts(j: int, column: Array, weight: Array) -> list[Test]:
    """Cuts of a numeric column at quantiles, and whether it is there at all."""
    is_missing = np.isnan(column)
    known = ~is_missing
    values, place = np.unique(column[known].astype(np.float64), return_inverse=True)
    tests = [Test(j, known, 1, (np.inf, np.inf))] if is_missing.any() else []
    for i in _quantiles(np.bincount(place, weight[known], minlength=len(values))):
        passes = column <= values[i]
        default = int(2 * weight[passes].sum() < weight[known].sum())
        tests.append(Test(j, passes | (is_missing & (default == 0)), default, (values[i], values[i + 1])))
    return tests


def _sets(j: int, column: Array, n_codes: int, of_class: Floats) -> list[Test]:
    """Each of the most frequent categories against the rest; and those with the least share of a class."""
    n = np.array([np.bincount(column, rows, minlength=n_codes) for rows in of_class.T])
    total = n.sum(axis=0)
    seen = np.flatnonzero(total)
    sets = [seen[i : i + 1] for i in np.argsort(-total[seen], kind="stable")[:MOST_CATEGORIES]]
    for rows in n if len(n) > 2 else n[:1]:
        order = seen[np.argsort(rows[seen] / total[seen], kind="stable")]
        sets += [order[: i + 1] for i in _quantiles(total[order])]
    tests = []
    for codes in sets:
        is_in = np.isin(np.arange(n_codes), codes)
        default = int(2 * total[is_in].sum() < total.sum())
        branch = np.where(total > 0, ~is_in, default).astype(np.uint16)
        tests.append(Test(j, branch[column] == 0, default, branch=branch))
    return tests


def _quantiles(weight: Array) -> Array:
    """Values after which to cut so that the parts weigh about the same, all if they are few; not after the last."""
    if len(weight) <= N_CUTS + 1:
        return np.arange(len(weight) - 1)
    reached = np.cumsum(weight)
    shares = np.arange(1, N_CUTS + 1) / (N_CUTS + 1) * (1 - 1e-12)
    at: Array = np.unique(np.searchsorted(reached, shares * reached[-1]))
    return at[at < len(weight) - 1]


def _tests_of(tree: Tree, table: Table) -> list[Test]:
    """The tests of a tree that was grown on the table."""
    tests = []
    for v in tree.internal:
        j, default, threshold = int(tree.feature[v]), int(tree.default[v]), tree.threshold[v]
        column, branch = table.columns[j], tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
        if len(branch):
            tests.append(Test(j, branch[column] == 0, default, branch=branch))
            continue
        passes, above = column <= threshold, column[column > threshold]
        around = (float(column[passes].max()), float(above.min())) if len(above) else (np.inf, np.inf)
        tests.append(Test(j, passes | (np.isnan(column) & (default == 0)), default, around))
    return tests
