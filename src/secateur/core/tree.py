"""Tree: structure and tests as parallel arrays in pre-order; no counts.

Children follow their parent, so a subtree is a slice `v:end[v]`, bottom-up is a
backwards loop, and no depth limit exists anywhere.

    field          of an internal node                                   of a leaf
    feature        column that is tested (-1: a bare structure)          -1
    threshold      numeric test: `x <= threshold` goes to child 0        NaN
    rounded        numeric test: the shortest number that parts the      NaN
                   rows it was grown on as the threshold does
                   (NaN: not known)
    branch         nominal test: child number of each category code      empty
                   (slice `branch_start[v]:branch_start[v + 1]`)
    default        child number of missing and unseen values             0
    score          what the test gained when it was chosen (NaN: unknown)  NaN
    split_order    the step at which the node was split (-1: unknown)    -1
    ids            number of the node in the tree this one was cut from  same
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from .._kernels import route, structure
from .._utils.arrays import Array, ArrayLike, Bools, Floats, Ints, Longs, immutable_array, write_protect
from .._utils.immutable import Immutable
from ..data.sketch import RowKey
from ..data.table import Schema
from ..errors import TreeError
from .provenance import NO_SAMPLES, EvaluationLog, SampleUsage
from .surrogates import Surrogates

PER_NODE_FIELDS = ("feature", "threshold", "default", "score", "split_order", "rounded")  # what a test has one of
MAX_ROUNDED_DIGITS = 22  # of `rounded`, after the point; 10**22 is the largest power of ten that is a double


@dataclass(frozen=True, eq=False, repr=False)
class Tree(Immutable):
    """A grown tree: the parent and the test of each node.

    Parameters
    ----------
    parent : array of int
        Parent of each node in pre-order; -1 for the root.
    feature, threshold, rounded, branch_start, branch, default, score, birth, ids : arrays, optional
        The tests; see the table at the head of the module. Left out, the tree is a bare
        structure that can carry counts and be pruned but cannot route rows.
    schema : Schema, optional
        The columns of the table the tree was grown on, and its classes.
    key : RowKey, optional
        How rows are told apart; made from the tests, and kept by the trees that are cut from this one.
    history : set of str or Seen
        The samples that grew the tree, and those that cut it from a larger one.
    ledger : Ledger, optional
        The samples that have been looked at; a new one by default.
    surrogates : Surrogates, optional
        Tests that decide, before `default` does, where the value a node tests is missing.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> tree
    Tree(3 leaves, 5 nodes, depth 2)
    >>> list(tree.children(0)), tree.end.tolist()
    ([1, 4], [5, 4, 3, 4, 5])
    """

    parent: Ints
    feature: Ints = None  # type: ignore[assignment]
    threshold: Floats = None  # type: ignore[assignment]
    branch_start: Longs = None  # type: ignore[assignment]
    branch: npt.NDArray[np.uint16] = None  # type: ignore[assignment]
    default: Ints = None  # type: ignore[assignment]
    score: Floats = None  # type: ignore[assignment]
    split_order: Ints = None  # type: ignore[assignment]
    ids: Ints = None  # type: ignore[assignment]
    rounded: Floats = field(default=None, compare=False)  # type: ignore[arg-type]
    schema: Schema | None = None
    key: RowKey | None = field(default=None, compare=False)
    history: SampleUsage = field(default_factory=SampleUsage, compare=False)
    evaluation_log: EvaluationLog = field(default_factory=EvaluationLog, compare=False)
    surrogates: Surrogates | None = None
    end: Ints = field(init=False)

    def __post_init__(self) -> None:
        parent = _whole_numbers("parent", self.parent)
        n = len(parent)
        set_field = object.__setattr__
        set_field(self, "parent", parent)
        set_field(self, "history", SampleUsage(self.history))
        for name, blank in blank_tests(n).items():
            given = getattr(self, name)
            array = write_protect(blank) if given is None else immutable_array(given, blank.dtype)
            if name != "branch" and array.shape != blank.shape:
                raise TreeError(f"{name} has shape {array.shape}; {blank.shape} needed for {n} nodes")
            set_field(self, name, array)
        set_field(self, "end", write_protect(_check_structure(parent)))
        _check_tests(self)
        if self.surrogates is not None:
            self.surrogates.check_fits(self.arity, self.schema)

    @classmethod
    @overload
    def from_parents(cls, parent: ArrayLike, *, return_order: Literal[False] = False) -> "Tree": ...
    @classmethod
    @overload
    def from_parents(cls, parent: ArrayLike, *, return_order: Literal[True]) -> tuple["Tree", Ints]: ...
    @classmethod
    def from_parents(cls, parent: ArrayLike, *, return_order: bool = False) -> "Tree | tuple[Tree, Ints]":
        """Return the bare tree with these parents, renumbered to pre-order if needed.

        Parameters
        ----------
        parent : array of int
            `parent[0]` is -1 and `parent[i] < i`; siblings keep their order.
        return_order : bool
            Also return the old id of each new node.

        Returns
        -------
        Tree, or (Tree, array)

        Examples
        --------
        >>> tree, order = Tree.from_parents([-1, 0, 0, 1, 1], return_order=True)
        >>> tree.parent.tolist(), order.tolist()
        ([-1, 0, 1, 1, 0], [0, 1, 3, 4, 2])
        """
        old = _whole_numbers("parent", parent)
        _check_parents(old)
        order = structure.preorder(old)
        new_id = np.empty_like(order)
        new_id[order] = np.arange(len(order), dtype=np.int32)
        renumbered = np.where(order == 0, -1, new_id[old[order]]).astype(np.int32)
        tree = cls(renumbered)
        return (tree, write_protect(order)) if return_order else tree

    @classmethod
    def from_trusted_arrays(cls, schema: Schema | None, **arrays: Array) -> "Tree":
        """Return a tree with splits from valid arrays, and write-protect them.

        The constructor checks and copies its arrays, which takes longer than growing a small tree. Growers build all
        arrays themselves, so that nothing is left to check. Any other caller uses the constructor.

        Parameters
        ----------
        schema : Schema, optional
        **arrays : arrays
            All per-node fields but `ids`, in the types of the constructor, and the attributes `end` and `right`.
        """
        arrays["ids"] = np.arange(len(arrays["parent"]), dtype=np.int32)
        for array in arrays.values():
            array.flags.writeable = False
        tree = cls.__new__(cls)
        tree.__dict__.update(arrays, schema=schema, key=None, history=NO_SAMPLES, surrogates=None, has_tests=True)
        tree.__dict__["evaluation_log"] = EvaluationLog()
        return tree

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.parent)

    @cached_property
    def is_leaf(self) -> Bools:
        """Which nodes have no children."""
        return write_protect(self.end == np.arange(1, self.n_nodes + 1))

    @cached_property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.is_leaf))

    @cached_property
    def arity(self) -> Ints:
        """Number of children of each node."""
        return write_protect(np.bincount(self.parent[1:], minlength=self.n_nodes).astype(np.int32))

    @cached_property
    def depth(self) -> Ints:
        """Number of tests between the root and each node."""
        return write_protect(structure.depths(self.parent))

    @cached_property
    def internal(self) -> Ints:
        """The internal nodes in pre-order."""
        return write_protect(np.flatnonzero(~self.is_leaf).astype(np.int32))

    @cached_property
    def leaves(self) -> Ints:
        """The leaves in pre-order."""
        return write_protect(np.flatnonzero(self.is_leaf).astype(np.int32))

    @cached_property
    def has_tests(self) -> bool:
        """Whether every internal node tests something, so that rows can be routed."""
        return not (self.feature[self.internal] < 0).any()

    @cached_property
    def right(self) -> Ints:
        """The second child of each internal node, 0 for a leaf; the first child of `v` is `v + 1`."""
        following = np.minimum(np.arange(1, self.n_nodes + 1), self.n_nodes - 1)
        return write_protect(np.where(self.is_leaf, 0, self.end[following]).astype(np.int32))

    @cached_property
    def child_lists(self) -> tuple[Longs, Ints]:
        """Where each node's children begin in one list of all children, and that list."""
        start, child = structure.child_lists(self.parent)
        return write_protect(start), write_protect(child)

    @cached_property
    def tested(self) -> tuple[Ints, Ints]:
        """The columns that are tested, and the test of each node, then of each surrogate, among these (-1: a leaf)."""
        every = self.feature if self.surrogates is None else np.append(self.feature, self.surrogates.feature)
        used, position = np.unique(every[every >= 0], return_inverse=True)
        feature = np.full(len(every), -1, np.int32)
        feature[every >= 0] = position
        return write_protect(used), write_protect(feature)

    @cached_property
    def surrogate_tests(self) -> tuple[Array, Array, Array, Array, Ints, Ints, Array]:
        """The tests of the nodes, then of the surrogates, but for their columns, as `route_surrogates` reads them."""
        assert self.surrogates is not None
        tests = self.surrogates.behind(self.threshold, self.branch_start, self.branch)
        return (*tests, self.default, self.right, self.surrogates.start + self.n_nodes)

    @cached_property
    def packed(self) -> Floats:
        """The tests for `route_packed`, if all compare a number."""
        return write_protect(route.pack_nodes(self.feature, self.threshold, self.right, self.default))

    @cached_property
    def packed_tested(self) -> Floats:
        """The same for rows of the columns in `tested` alone."""
        return write_protect(route.pack_nodes(self.tested[1], self.threshold, self.right, self.default))

    @cached_property
    def row_key(self) -> RowKey:
        """How the rows of this tree's samples are told apart."""
        if self.key is None and self.surrogates is not None:
            return RowKey.of(np.append(self.feature, self.surrogates.feature), self.parent, *self.surrogate_tests)
        return self.key or RowKey.of(self.feature, self.parent, self.threshold, self.branch)

    def children(self, node: int) -> Iterator[int]:
        """Yield the children of `node` in order."""
        child = node + 1
        while child < self.end[node]:
            yield child
            child = int(self.end[child])

    def same_structure(self, other: "Tree") -> bool:
        """Whether counts of the one tree fit the other."""
        return self is other or np.array_equal(self.parent, other.parent)

    def __repr__(self) -> str:
        leaves = "1 leaf" if self.n_leaves == 1 else f"{self.n_leaves:,} leaves"
        nodes = "1 node" if self.n_nodes == 1 else f"{self.n_nodes:,} nodes"
        return f"Tree({leaves}, {nodes}, depth {int(self.depth.max())})"


def blank_tests(n_nodes: int) -> dict[str, Array]:
    """Return the arrays of a tree that tests nothing."""
    return {
        "feature": np.full(n_nodes, -1, np.int32),
        "threshold": np.full(n_nodes, np.nan),
        "branch_start": np.zeros(n_nodes + 1, np.int64),
        "branch": np.zeros(0, np.uint16),
        "default": np.zeros(n_nodes, np.int32),
        "score": np.full(n_nodes, np.nan),
        "split_order": np.full(n_nodes, -1, np.int32),
        "ids": np.arange(n_nodes, dtype=np.int32),
        "rounded": np.full(n_nodes, np.nan),
    }


def _whole_numbers(name: str, values: ArrayLike) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1 or len(array) == 0:
        raise TreeError(f"{name} has shape {array.shape}; a list with one entry per node is needed")
    if array.dtype.kind not in "iu":
        raise TreeError(f"{name} holds {array.dtype} values; whole numbers are needed")
    if len(array) > np.iinfo(np.int32).max:
        raise TreeError(f"{len(array)} nodes; at most {np.iinfo(np.int32).max} fit")
    return immutable_array(array, np.int32)


def _check_parents(parent: Ints) -> None:
    if parent[0] != -1:
        raise TreeError(f"node 0 has parent {parent[0]}; the root comes first and has parent -1")
    last = np.arange(-1, len(parent) - 1)  # the node before each
    is_wrong = (parent < np.minimum(last, 0)) | (parent > last)
    _refuse(is_wrong, "has parent {}; a parent between 0 and {} is needed", parent, last)
    _refuse(np.bincount(parent[1:], minlength=len(parent)) == 1, "has 1 child; a node has none or at least two")


def _check_structure(parent: Ints) -> Ints:
    _check_parents(parent)
    end = structure.subtree_ends(parent)
    wrong = structure.first_out_of_preorder(parent, end)
    if wrong >= 0:
        raise TreeError(
            f"node {wrong} (parent {parent[wrong]}) is not in pre-order; "
            "Tree.from_parents renumbers a tree given in another order"
        )
    return end


def _check_tests(tree: Tree) -> None:
    """Refuse tests that could send a row to a child that is not there."""
    start, n_codes, default = tree.branch_start, np.diff(tree.branch_start), tree.default
    if start[0] != 0 or (n_codes < 0).any() or start[-1] != len(tree.branch):
        raise TreeError(f"branch_start must rise from 0 to {len(tree.branch)}, the length of branch")
    tested = tree.feature >= 0
    is_nominal = n_codes > 0
    _refuse(tree.feature < -1, "tests feature {}; -1 (none) or a column number is needed", tree.feature)
    _refuse(tested & tree.is_leaf, "is a leaf but tests feature {}", tree.feature)
    is_numeric = tested & ~is_nominal
    _refuse(is_numeric & (tree.arity != 2), "compares with a threshold but has {} children", tree.arity)
    _refuse(is_numeric & np.isnan(tree.threshold), "compares with the threshold {}", tree.threshold)
    _refuse(is_nominal & ~tested, "has {} branches but tests no feature", n_codes)
    limit = np.maximum(tree.arity, 1)
    _refuse((default < 0) | (default >= limit), "sends missing values to child {}, which it does not have", default)
    if len(tree.branch):
        owner = np.repeat(np.arange(tree.n_nodes), n_codes)
        wrong = np.flatnonzero(tree.branch >= limit[owner])
        if len(wrong):
            v = owner[wrong[0]]
            raise TreeError(
                f"node {v} sends category {wrong[0] - start[v]} to child {tree.branch[wrong[0]]}; "
                f"it has {tree.arity[v]} children"
            )
    if tree.schema is not None:
        n_columns = len(tree.schema.columns)
        _refuse(tree.feature >= n_columns, f"tests feature {{}}; the table has {n_columns} columns", tree.feature)
        expected = np.array([column.n_codes for column in tree.schema.columns] + [0])[tree.feature]
        _refuse(tested & (n_codes != expected), "has {} branches; its column has another number of categories", n_codes)


def _refuse(is_wrong: Bools, says: str, *found: Array) -> None:
    if is_wrong.any():
        at = int(is_wrong.argmax())
        raise TreeError(f"node {at} " + says.format(*(array[at] for array in found)))
