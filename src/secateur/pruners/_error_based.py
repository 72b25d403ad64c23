"""Error-based pruning (C4.5): each leaf is charged the upper confidence limit of its errors.

Bottom-up, a subtree gives way to a leaf whose estimated errors are no higher. With
*raising* it may also give way to its largest branch, through which the examples of the
other branches are then sent as well. That makes a tree which is no pruning of the first
one, so the certificates for prunings do not hold for it.
"""

from collections.abc import Callable
from typing import Literal, overload

import numpy as np

from .._kernels.bottom_up import cheapest_within
from .._utils.arrays import Array, ArrayLike, Bools, Floats, Ints, Longs, LongsOrFloats, write_protect
from ..core import Counts, Pruning, RuleProvenance, SampleUsage, Tree, check_no_surrogates
from ..data.table import Table
from ..errors import CountsError, ParameterError

ChildOf = Callable[[Longs, int], Array]

_TOLERANCE = 1e-12  # relative: estimates this close count as equal


@overload
def error_based(
    tree: Tree,
    counts: Counts,
    *,
    confidence: float = 0.25,
    raise_subtrees: Literal[False] = False,
    slack: float = 0.0,
    table: Table | None = None,
    sample_weight: ArrayLike | None = None,
) -> Pruning: ...
@overload
def error_based(
    tree: Tree,
    counts: Counts,
    *,
    confidence: float = 0.25,
    raise_subtrees: Literal[True],
    slack: float = 0.0,
    table: Table | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Tree, Counts]: ...
def error_based(
    tree: Tree,
    counts: Counts,
    *,
    confidence: float = 0.25,
    raise_subtrees: bool = False,
    slack: float = 0.0,
    table: Table | None = None,
    sample_weight: ArrayLike | None = None,
) -> Pruning | tuple[Tree, Counts]:
    """Return the smallest pruning with the fewest errors by the estimate of C4.5.

    A leaf with N examples and E errors is charged N U(E, N); see `upper_limit`.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts
        Counts of the sample the tree was grown on.
    confidence : float
        C4.5's CF: the probability left above the limit. Smaller cuts more.
    raise_subtrees : bool
        Also replace a subtree by its largest branch where that is estimated no worse.
    slack : float
        A leaf (and then a raised branch) is preferred if it is estimated at most this
        many errors worse. C4.5 uses 0.1.
    table : Table
        The growing table with its target; raising sends its rows through new branches.
    sample_weight : array, optional
        Weights of the rows of the table, where the counts were made with weights.

    Returns
    -------
    Pruning
        Without raising. With `slack=0` it is optimal over all prunings of `tree` for the
        estimate, and a tie (within a relative 1e-12) cuts: the smallest such pruning.
    (Tree, Counts)
        With raising: a new tree, whose node `v` carries the test of node `ids[v]`, and
        the growing sample on it. On ties a leaf wins over a raised branch, and that over
        the subtree; among branches with equally many examples the first is raised.

    Notes
    -----
    Without raising one backwards pass, O(n_nodes). To weigh a raise at a node only the
    examples outside its largest branch are routed, which is O(m log m) rows in all
    for m examples; a branch that is raised is then processed again, for its counts have
    changed. Quinlan, C4.5 (1993); the limits here are exact, those of the original
    program approximate.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 0, 0])
    >>> error_based(tree, Counts.from_leaves(tree, [[6, 0], [9, 0], [0, 1]]))
    Pruning(1 of 3 leaves, cuts at 0)
    >>> error_based(tree, Counts.from_leaves(tree, [[6, 0], [9, 0], [0, 9]]))
    Pruning(3 of 3 leaves, no cut)
    """
    counts.check_fits(tree)
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence={confidence}; a probability strictly between 0 and 1 is needed")
    if not 0 <= slack < np.inf:
        raise ParameterError(f"slack={slack}; a finite number of errors, 0 or more, is needed")
    if raise_subtrees:
        rows = _rows_of(tree, counts, table, sample_weight)
        return raise_branches(counts, *rows, confidence=confidence, slack=slack)
    provenance = RuleProvenance(
        "error-based",
        {"confidence": confidence, "slack": slack},
        cost="estimated errors",
        sample=counts.sample,
        tolerance=1e-12,
        text=f"error-based, confidence {confidence:g}",
    )
    return Pruning.from_cuts(
        tree,
        cheapest_within(tree.parent, estimated_errors(counts.by_class, confidence), float(slack)),
        node_labels=counts.majority,
        seen=SampleUsage.of(counts),
        provenance=provenance,
        note="estimates compared within a relative 1e-12",
    )


def upper_limit(errors: ArrayLike, n: ArrayLike, confidence: float = 0.25) -> Floats:
    """Return U(E, N): the error rate p at which N examples show at most E errors with probability `confidence`.

    Parameters
    ----------
    errors, n : numbers or arrays
        E and N; real numbers too (weights), by the Beta quantile that extends the limit.
    confidence : float

    Returns
    -------
    array
        Between 0 and 1; 1 if all examples (or none) are there and all are errors.

    Examples
    --------
    >>> upper_limit([0, 0, 0, 1], [6, 9, 1, 16]).round(4).tolist()
    [0.2063, 0.1428, 0.75, 0.1596]
    """
    e, total = np.broadcast_arrays(np.asarray(errors, float), np.asarray(n, float))
    limit = np.ones(e.shape)
    is_pure = (e <= 0) & (total > 0)
    limit[is_pure] = -np.expm1(np.log(confidence) / total[is_pure])
    is_mixed = (e > 0) & (e < total)
    if is_mixed.any():
        from scipy.special import betaincinv

        # Small nodes share few pairs (E, N), and a quantile costs more than sorting: one per pair.
        pairs, number = np.unique(e[is_mixed] + 1j * total[is_mixed], return_inverse=True)
        limit[is_mixed] = betaincinv(pairs.real + 1, pairs.imag - pairs.real, 1 - confidence)[number]
    return limit


def estimated_errors(by_class: LongsOrFloats, confidence: float = 0.25) -> Floats:
    """Return N U(E, N) of leaves with these class counts, one leaf per row.

    Examples
    --------
    >>> estimated_errors(np.array([[6, 0], [9, 0], [0, 1], [15, 1]])).round(4).tolist()
    [1.2378, 1.2848, 0.75, 2.5538]
    """
    total = by_class.sum(axis=1)
    return np.asarray(total * upper_limit(total - by_class.max(axis=1), total, confidence), float)


def raise_branches(
    counts: Counts,
    leaf_of_row: Array,
    class_of_row: Array,
    weight_of_row: LongsOrFloats | None,
    child_of: ChildOf,
    *,
    confidence: float = 0.25,
    slack: float = 0.0,
) -> tuple[Tree, Counts]:
    """Return the tree that error-based pruning with raising makes, and its counts.

    Parameters
    ----------
    counts : Counts
        The growing counts on the tree to prune.
    leaf_of_row : array of int
        The leaf that each row reaches.
    class_of_row : array of int
    weight_of_row : array, optional
        None where every row counts once.
    child_of : callable
        `child_of(rows, node)` is the child number that the test of `node` sends each row to.
    confidence, slack : float

    Notes
    -----
    The bare algorithm behind `error_based(raise_subtrees=True)`, which supplies the rows.
    """
    state = _Raising(counts, leaf_of_row, class_of_row, weight_of_row, child_of, confidence, slack)
    # A stack in pre-order: the last node is one whose subtree is settled.
    pending = counts.tree.internal.tolist()
    while pending:
        pending.extend(state.settle(pending.pop()))
    return state.result()


class _Raising:
    """A tree being rebuilt; nodes keep the ids of the tree it came from."""

    def __init__(
        self,
        counts: Counts,
        leaf_of_row: Array,
        class_of_row: Array,
        weight_of_row: LongsOrFloats | None,
        child_of: ChildOf,
        confidence: float,
        slack: float,
    ) -> None:
        tree = counts.tree
        self.counts, self.child_of, self.confidence, self.slack = counts, child_of, confidence, slack
        self.class_of_row, self.weight_of_row = class_of_row, weight_of_row
        self.root = 0
        self.above = tree.parent.tolist()
        self.children: list[list[int]] = [[] for _ in self.above]
        for v in range(1, tree.n_nodes):
            self.children[self.above[v]].append(v)
        self.by_class = counts.by_class.copy()
        self.estimate = estimated_errors(self.by_class, confidence)  # of a leaf; of the subtree once settled
        order = np.argsort(leaf_of_row, kind="stable")
        start = np.searchsorted(leaf_of_row[order], np.arange(tree.n_nodes + 1))
        # Of each leaf, in parts: joining two leaves then moves no rows.
        self.rows = {int(v): [order[start[v] : start[v + 1]]] for v in tree.leaves}

    def settle(self, v: int) -> list[int]:
        """Decide at a node whose branches are settled; return the tests to decide again, in pre-order."""
        branches = self.children[v]
        largest = branches[int(np.argmax(self.by_class[branches].sum(axis=1)))]
        others = [c for c in branches if c != largest]
        as_leaf = self.cost(self.by_class[v])
        as_subtree = float(sum(self.estimate[c] for c in branches))
        moved = [part for leaf in self.leaves_under(others) for part in self.rows[leaf]]
        as_branch, visits = self.sent_through(largest, np.concatenate(moved))
        if self.is_no_worse(as_leaf, as_branch) and self.is_no_worse(as_leaf, as_subtree):
            self.rows[v] = self.joined_lists(branches)
            self.children[v] = []
            self.estimate[v] = as_leaf
            return []
        if not self.is_no_worse(as_branch, as_subtree):
            self.estimate[v] = as_subtree
            return []
        for node, rows in visits:
            self.by_class[node] += self.count(rows)
            if not self.children[node]:
                self.rows[node].append(rows)
                self.estimate[node] = self.cost(self.by_class[node])
        p = self.above[largest] = self.above[v]
        if p < 0:
            self.root = largest
        else:
            self.children[p][self.children[p].index(v)] = largest
        return [node for node in self.preorder([largest]) if self.children[node]]

    def count(self, rows: Longs) -> LongsOrFloats:
        weights = None if self.weight_of_row is None else self.weight_of_row[rows]
        by_class = np.bincount(self.class_of_row[rows], weights, minlength=self.counts.n_classes)
        return by_class.astype(self.by_class.dtype)  # weights that are whole numbers keep counts whole

    def is_no_worse(self, preferred: float, other: float) -> bool:
        return preferred <= other + _TOLERANCE * other + self.slack

    def cost(self, by_class: LongsOrFloats) -> float:
        return float(estimated_errors(by_class[None, :], self.confidence)[0])

    def sent_through(self, top: int, rows: Longs) -> tuple[float, list[tuple[int, Longs]]]:
        """The estimate of the subtree at `top` with further rows, and the rows each node would get."""
        estimate = float(self.estimate[top])
        visits: list[tuple[int, Longs]] = []
        moving = [(top, rows)] if len(rows) else []
        while moving:
            node, here = moving.pop()
            visits.append((node, here))
            if not self.children[node]:
                more = self.by_class[node] + self.count(here)
                estimate += self.cost(more) - float(self.estimate[node])
                continue
            number = self.child_of(here, node)
            moving.extend((self.children[node][int(i)], here[number == i]) for i in np.unique(number))
        return estimate, visits

    def joined_lists(self, nodes: list[int]) -> list[Longs]:
        """The parts of all leaves under nodes that are about to go; the shorter lists are added to the longest."""
        lists = [self.rows.pop(leaf) for leaf in self.leaves_under(nodes)]
        longest = max(lists, key=len)
        for parts in lists:
            if parts is not longest:
                longest.extend(parts)
        return longest

    def leaves_under(self, nodes: list[int]) -> list[int]:
        return [node for node in self.preorder(nodes) if not self.children[node]]

    def preorder(self, tops: list[int]) -> list[int]:
        found, waiting = [], tops[::-1]
        while waiting:
            node = waiting.pop()
            found.append(node)
            waiting.extend(self.children[node][::-1])
        return found

    def result(self) -> tuple[Tree, Counts]:
        # A branch takes a place between the siblings of the node above it, so old ids still rise in pre-order.
        nodes = np.array(self.preorder([self.root]))
        is_leaf = np.array([not self.children[v] for v in nodes])
        new_id = np.zeros(self.counts.tree.n_nodes, np.int32)
        new_id[nodes] = np.arange(len(nodes))
        above = np.array(self.above)[nodes]
        tree = _rebuilt(self.counts.tree, nodes, np.where(above < 0, -1, new_id[above]).astype(np.int32), is_leaf)
        return tree, Counts.from_leaves(tree, self.by_class[nodes[is_leaf]], sample=self.counts.sample)


def _rebuilt(tree: Tree, nodes: Array, parent: Ints, is_leaf: Bools) -> Tree:
    """The tree of these nodes under their new parents; the tests of new leaves are dropped."""
    n_codes = np.where(is_leaf, 0, np.diff(tree.branch_start)[nodes])
    branch_start = np.append(0, np.cumsum(n_codes)).astype(np.int64)
    position = np.arange(branch_start[-1]) + np.repeat(tree.branch_start[nodes] - branch_start[:-1], n_codes)
    # Only where nothing above has moved do the same rows arrive, and part the same way.
    is_as_grown = np.append(nodes[0] == 0, tree.parent[nodes[1:]] == nodes[parent[1:]])
    for v in range(1, len(nodes)):
        is_as_grown[v] &= is_as_grown[parent[v]]
    return Tree(
        write_protect(parent),
        feature=write_protect(np.where(is_leaf, -1, tree.feature[nodes])),
        threshold=write_protect(np.where(is_leaf, np.nan, tree.threshold[nodes])),
        branch_start=write_protect(branch_start),
        branch=write_protect(tree.branch[position]),
        default=write_protect(np.where(is_leaf, 0, tree.default[nodes])),
        score=write_protect(np.where(is_leaf, np.nan, tree.score[nodes])),
        split_order=write_protect(np.where(is_leaf, -1, tree.split_order[nodes])),
        ids=write_protect(tree.ids[nodes]),
        rounded=write_protect(np.where(is_leaf | ~is_as_grown, np.nan, tree.rounded[nodes])),
        schema=tree.schema,
    )


def _rows_of(
    tree: Tree, counts: Counts, table: Table | None, sample_weight: ArrayLike | None
) -> tuple[Ints, Ints, LongsOrFloats | None, ChildOf]:
    """The rows behind the counts, as `raise_branches` takes them."""
    if table is None or table.target is None:
        what = "no table" if table is None else "a table without a target"
        raise ParameterError(
            f"raise_subtrees=True with {what}; raising sends rows through other branches: "
            "pass table=encode(X, target=y, schema=tree.schema)"
        )
    check_no_surrogates(tree, "raise_subtrees=True", "prune with raise_subtrees=False")
    from ..data.weights import check_weights
    from ..routing import apply

    if table.schema.columns != (tree.schema and tree.schema.columns):
        raise ParameterError("table has other columns than the tree was grown on; encode it with schema=tree.schema")
    target, weight = table.target, check_weights(sample_weight, table.n_rows)
    n_classes = max(counts.n_classes, int(target.max(initial=0)) + 1)
    leaf_of_row = apply(tree, table)
    cells = np.bincount(leaf_of_row.astype(np.int64) * n_classes + target, weight, minlength=tree.n_nodes * n_classes)
    found, expected = cells.reshape(-1, n_classes)[tree.is_leaf], counts.by_class[tree.is_leaf]
    if n_classes != counts.n_classes or not np.allclose(found, expected, rtol=1e-9, atol=0):
        raise CountsError(
            f"the rows of the table ({table.n_rows:,}) do not add up to the counts of sample {counts.sample!r} "
            f"({counts.total[0]:,}); pass the table the tree was grown on, with its sample_weight if it had one"
        )

    def child_of(rows: Longs, node: int) -> Array:
        # One test by itself; routing.apply follows whole paths. Gaps and unseen values take the default child.
        values = table.columns[tree.feature[node]][rows]
        codes = tree.branch[tree.branch_start[node] : tree.branch_start[node + 1]]
        number: Array
        if len(codes):
            number = np.where(values < 0, tree.default[node], codes[values])
        else:
            # NumPy compares a float32 column with a float64 threshold in float64, as routing does.
            number = np.where(np.isnan(values), tree.default[node], values > tree.threshold[node])
        return number.astype(np.int64)

    return leaf_of_row, target, weight, child_of
