"""Run the growing kernels: the top of a large tree column by column, the rest subtree by subtree.

The division of labour depends on the data alone, never on the number of threads, so the
tree does not either.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock

import numpy as np

from .._kernels import grow, growing
from .._kernels.context import GrowContext, Workspace
from .._kernels.criteria import CriterionSpec
from .._kernels.stop import check_stopped
from .._utils.arrays import Array
from .prepare import Prepared

LARGE = 1 << 16  # rows from which on a tree has a top
TOP_SHARE = 16  # nodes with more than 1/16 of the rows belong to the top
COLUMNS_A_TASK = 8


@dataclass(frozen=True)
class Grown:
    """The kernels' tables; children come after their parent."""

    nodes: Array
    reals: Array
    branch: Array
    surrogates: tuple[Array, Array] | None = None  # whole and real numbers of each, see `growing.pxd`


class Grower:
    """Everything that stays the same while one tree is grown."""

    def __init__(
        self,
        criterion: CriterionSpec,
        data: Prepared,
        limits: growing.GrowLimits,
        n_sums: int,
        pool: ThreadPoolExecutor,
        n_jobs: int,
        y: Array | None = None,
        surrogates: growing.SurrogateSearch | None = None,
    ) -> None:
        self.data = data
        self.limits = limits
        self.n_sums = n_sums  # classes; of numbers 2
        self.pool = pool
        self.n_jobs = n_jobs
        self.surrogates = surrogates
        self.context = GrowContext(criterion, data.lists, data.codes, data.weights, limits, n_sums, y, surrogates)

    def run(self, counts: Array, n_rows: int) -> Grown:
        """Grow the whole tree from the class counts of the root."""
        nodes, reals = self.root(counts, n_rows)
        is_large = n_rows >= LARGE and not self.limits.is_best_first and not self.limits.is_gain_ratio
        if np.count_nonzero(counts) < 2 or self.is_too_small(n_rows):
            return Grown(nodes, reals, np.zeros(0, np.uint16))
        is_many = self.data.codes is not None and self.limits.is_multiway
        if not is_large or is_many or self.surrogates is not None or self.limits.max_splits < n_rows:
            space = Workspace(self.context, n_rows)
            return Grown(*grow.grow_subtree(self.context, space, nodes[0], reals[0]), space.surrogates)
        return _Top(self, n_rows).run(nodes, reals)

    def root(self, counts: Array, n_rows: int) -> tuple[Array, Array]:
        """Return the tables of the root."""
        n_slots = len(self.data.lists.feature_of_slot)
        n_words = max(1, -(-n_slots // 64)) + -(-len(self.limits.groups) // 64)
        nodes = np.zeros((1, growing.N_FIELDS + n_words), np.int64)
        nodes[0, growing.END] = n_rows
        nodes[0, growing.BRANCH_START] = nodes[0, growing.SPLIT_STEP] = -1
        nodes[0, growing.N_FIELDS :] = -1  # every slot may vary, every group be left
        reals = np.zeros((1, self.n_sums + 2))
        reals[0, : len(counts)] = counts
        return nodes, reals

    def is_too_small(self, n_rows: int) -> bool:
        """Whether the root may not be split."""
        weights, limits = self.data.weights, self.limits
        size = float(n_rows)
        if weights is not None and weights.has_weight_limits and weights.row_weight is not None:
            size = float(weights.row_weight.sum())
        is_small = size < max(limits.min_split_size, 2 * limits.min_leaf_size)
        return is_small or limits.max_depth < 1 or len(self.data.lists.feature_of_slot) == 0

    def joined(self, nodes: Array, reals: Array, branch: Array, below: list[int], most: int) -> Grown:
        """Grow the subtrees of the nodes `below`, largest first, and hang them into the top's tables."""
        size = nodes[:, growing.END] - nodes[:, growing.START]
        below.sort(key=lambda v: (-size[v], v))
        free = [Workspace(self.context, most) for _ in range(self.n_jobs)]
        joined = _Joined(nodes, reals, branch)

        def one(v: int) -> None:
            space = free.pop()
            try:
                joined.add(v, *grow.grow_subtree(self.context, space, nodes[v], reals[v]))
            finally:
                free.append(space)

        list(self.pool.map(one, below))
        return joined.grown()


class _Joined:
    """Tables of a top to which parts are added as they are done: in which order does not matter in pre-order."""

    def __init__(self, nodes: Array, reals: Array, branch: Array) -> None:
        self.lock = Lock()
        self.n = len(nodes)
        self.tables = [nodes, reals]
        self.branches, self.n_branch = [branch], len(branch)

    def add(self, v: int, nodes: Array, reals: Array, branch: Array) -> None:
        """Hang a part in at line v."""
        with self.lock:
            nodes[:, growing.FIRST_CHILD] += self.n - 1  # line 0 of the part goes to line v
            if len(branch):
                nodes[nodes[:, growing.BRANCH_START] >= 0, growing.BRANCH_START] += self.n_branch
            first, self.n = self.n, self.n + len(nodes) - 1
            for i, part in enumerate((nodes, reals)):
                if self.n > len(self.tables[i]):  # what is not written to costs no memory
                    larger = np.empty((4 * self.n, part.shape[1]), part.dtype)
                    larger[:first] = self.tables[i][:first]
                    self.tables[i] = larger
                self.tables[i][v], self.tables[i][first : self.n] = part[0], part[1:]
            self.branches.append(branch)
            self.n_branch += len(branch)

    def grown(self) -> Grown:
        """Return the whole."""
        return Grown(self.tables[0][: self.n], self.tables[1][: self.n], np.concatenate(self.branches))


class _Top:
    """The nodes with many rows, split one after the other, their columns in parallel."""

    def __init__(self, grower: Grower, n_rows: int) -> None:
        self.grower, self.n_rows, codes = grower, n_rows, grower.data.codes
        n_lists, n_slots = len(grower.data.lists.entries), len(grower.data.lists.feature_of_slot)
        n_coded = n_lists + (0 if codes is None else codes.n_code_slots)
        lists = _some(0, n_lists)
        self.tasks = [(grow.LISTS, slots) for slots in lists] + [
            (grow.CODES, slots) for slots in _some(n_lists, n_coded)
        ]
        if n_slots > n_coded:
            self.tasks.append((grow.TWO_VALUED, (n_coded, n_slots)))
        self.partition_tasks = [*lists, (n_lists, n_lists + 1)]
        self.first = Workspace(grower.context, n_rows)
        self.free = [self.first, *(Workspace(grower.context, n_rows, self.first) for _ in range(grower.n_jobs - 1))]

    def run(self, root: Array, root_reals: Array) -> Grown:
        """Split the top, then grow every subtree below it."""
        grower, data = self.grower, self.grower.data
        nodes, reals, branches = [root[0]], [root_reals[0]], [np.zeros(0, np.uint16)]
        n_branch = 0
        todo: list[int] = [0]
        below: list[int] = []  # roots of the subtrees under the top
        while todo:
            check_stopped()
            v = todo.pop()
            if nodes[v][growing.END] - nodes[v][growing.START] <= self.n_rows // TOP_SHARE:
                below.append(v)
                continue
            test, categories = self._best_test(nodes[v], reals[v])
            if test.slot < 0:
                continue
            lines, real_lines = np.vstack([nodes[v]] * 3), np.vstack([reals[v]] * 3)  # v, then its two children
            node = lines[0]
            node[[growing.SLOT, growing.KIND, growing.BELOW, growing.ABOVE, growing.DEFAULT_CHILD]] = test[1:]
            node[[growing.N_CHILDREN, growing.BRANCH_START]] = 2, 0
            real_lines[0, -2:] = test.score / reals[v][:-2].sum(), test.score
            keep = grow.split_node(grower.context, self.first, lines, real_lines, categories)
            node[[growing.FIRST_CHILD, growing.SPLIT_STEP]] = len(nodes), 0
            node[growing.BRANCH_START] = -1
            if test.kind == growing.SUBSET:
                assert data.codes is not None
                own = categories[: data.codes.n_codes[test.slot - len(data.lists.entries)]].copy()
                node[growing.BRANCH_START] = n_branch
                branches.append(own)
                n_branch += len(own)
            if keep:
                self._partition(node, keep)
            nodes[v], reals[v] = node, real_lines[0]
            todo += [len(nodes) + c for c in (1, 0) if lines[1 + c, growing.START] >= 0]
            nodes += list(lines[1:])
            reals += list(real_lines[1:])
        # The top's spaces share their counters of children; subtrees run side by side and need their own.
        most = self.n_rows // TOP_SHARE + 1
        return grower.joined(np.array(nodes), np.array(reals), np.concatenate(branches), below, most)

    def _best_test(self, node: Array, reals: Array) -> tuple[growing.Split, Array]:
        grower = self.grower
        own = [node.copy() for _ in self.tasks]  # each strikes out the constant columns it meets

        def one(i: int) -> tuple[growing.Split, Array]:
            space = self.free.pop()
            test = growing.Split(*grow.best_split(grower.context, space, own[i], reals, *self.tasks[i]))
            branch = space.branch.copy() if test.kind == growing.SUBSET else space.branch
            self.free.append(space)
            return test, branch

        found = list(grower.pool.map(one, range(len(self.tasks))))
        for other in own:
            node[growing.N_FIELDS :] &= other[growing.N_FIELDS :]
        best = 0
        for i in range(1, len(found)):
            best = i if grow.is_better(grower.context, found[best][0], found[i][0], reals) else best
        return found[best]

    def _partition(self, node: Array, keep: int) -> None:
        def one(i: int) -> None:
            space = self.free.pop()
            grow.partition(self.grower.context, space, node, self.partition_tasks[i], keep)
            self.free.append(space)

        list(self.grower.pool.map(one, range(len(self.partition_tasks))))


def _some(first: int, last: int) -> list[tuple[int, int]]:
    """Slots from `first` to `last`, a few at a time."""
    return [*pairwise([*range(first, last, COLUMNS_A_TASK), last])] if last > first else []
