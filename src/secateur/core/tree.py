"""Tree: structure and splits as parallel arrays with one entry per node, in pre-order; no counts.

In pre-order children follow their parent. A subtree is the slice `v:end[v]`, a bottom-up pass is a loop backwards,
and nothing is recursive, so that the depth has no limit.

    field          of an internal node                                       of a leaf
    feature        number of the column that is compared (-1: bare tree)     -1
    threshold      numeric column: `x <= threshold` goes to child 0          NaN
    rounded        numeric column: the shortest number that splits the       NaN
                   growing rows as the threshold does (NaN: unknown)
    branch         nominal column: child number of each category code,       no entries
                   in the slice `branch_start[v]:branch_start[v + 1]`
    default        child number of missing and of unseen values              0
    score          decrease of the criterion by the split (NaN: unknown)     NaN
    split_order    step of best-first growth that made the split             -1
                   (-1: not grown best-first)
    ids            number of the node in the tree this one was cut from      the same

Under monotone constraints, `estimate_limits` has one line per node: the lower and the upper limit of its estimate.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from .._kernels import route, structure
from .._utils.arrays import Array, ArrayLike, Bools, Floats, Immutable, Ints, Longs, immutable_array, write_protect
from ..data.sketch import RowKey
from ..data.table import Schema
from ..errors import TreeError
from ._tree_checks import as_node_numbers, check_estimate_limits, check_parents, check_splits, check_structure
from .provenance import NO_SAMPLES, EvaluationLog, SampleUsage
from .surrogates import Surrogates

PER_NODE_FIELDS = ("feature", "threshold", "default", "score", "split_order", "rounded")  # one entry per split
MAX_ROUNDED_DIGITS = 22  # decimals of `rounded`: 10**22 is the largest power of ten that a double holds exactly


@dataclass(frozen=True, eq=False, repr=False)
class Tree(Immutable):
    """A grown tree: the parent and the split of each node.

    Parameters
    ----------
    parent : array of int
        Parent of each node in pre-order; -1 for the root.
    feature, threshold, rounded, branch_start, branch, default, score, split_order, ids : arrays, optional
        The splits; see the table at the head of the module. Without them the tree is a bare structure, which can
        carry counts and be pruned but cannot route rows.
    schema : Schema, optional
        The columns of the table the tree was grown on, and its classes.
    key : RowKey, optional
        How rows are hashed into sketches. By default the key follows from the splits. A tree that was cut from
        another one keeps the key of the other, so that their sketches can be compared.
    history : SampleUsage, or set of str
        The samples that grew the tree, and those that cut it from a larger one.
    evaluation_log : EvaluationLog, optional
        The samples that were evaluated on prunings of the tree; by default a new, empty log.
    surrogates : Surrogates, optional
        Splits on other columns, used before `default` where the value of the split's own column is missing.
    estimate_limits : array of shape (n_nodes, 2), optional
        With monotone constraints, the limits into which the share of the second class, or the mean, of each node is
        moved before the node predicts it; see `secateur.growers.monotone`.

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
    estimate_limits: Floats | None = None
    end: Ints = field(init=False)

    def __post_init__(self) -> None:
        parent = as_node_numbers("parent", self.parent)
        n = len(parent)
        set_field = object.__setattr__
        set_field(self, "parent", parent)
        set_field(self, "history", SampleUsage(self.history))
        for name, blank in blank_tests(n).items():
            values = getattr(self, name)
            array = write_protect(blank) if values is None else immutable_array(values, blank.dtype)
            if name != "branch" and array.shape != blank.shape:
                raise TreeError(f"{name} has shape {array.shape}; {blank.shape} needed for {n} nodes")
            set_field(self, name, array)
        set_field(self, "end", write_protect(check_structure(parent)))
        check_splits(self)
        if self.surrogates is not None:
            self.surrogates.check_fits(self.arity, self.schema)
        if self.estimate_limits is not None:
            set_field(self, "estimate_limits", check_estimate_limits(parent, self.estimate_limits))

    @classmethod
    @overload
    def from_parents(cls, parent: ArrayLike, *, return_order: Literal[False] = False) -> "Tree": ...
    @classmethod
    @overload
    def from_parents(cls, parent: ArrayLike, *, return_order: Literal[True]) -> tuple["Tree", Ints]: ...
    @classmethod
    def from_parents(cls, parent: ArrayLike, *, return_order: bool = False) -> "Tree | tuple[Tree, Ints]":
        """Return the bare tree with the given parents, renumbered to pre-order if needed.

        Parameters
        ----------
        parent : array of int
            `parent[0]` is -1 and `parent[i] < i`; siblings keep their order.
        return_order : bool
            Whether to return the old number of each new node, too.

        Returns
        -------
        Tree, or (Tree, array)

        Examples
        --------
        >>> tree, order = Tree.from_parents([-1, 0, 0, 1, 1], return_order=True)
        >>> tree.parent.tolist(), order.tolist()
        ([-1, 0, 1, 1, 0], [0, 1, 3, 4, 2])
        """
        old_parent = as_node_numbers("parent", parent)
        check_parents(old_parent)
        order = structure.preorder(old_parent)
        new_number = np.empty_like(order)
        new_number[order] = np.arange(len(order), dtype=np.int32)
        renumbered = np.where(order == 0, -1, new_number[old_parent[order]]).astype(np.int32)
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
        tree.__dict__["estimate_limits"] = None
        tree.__dict__["evaluation_log"] = EvaluationLog()
        return tree

    def with_history(self, history: SampleUsage) -> "Tree":
        """Return this tree with another history and an empty evaluation log.

        Both trees share their arrays, which are not checked again: that would take longer than growing a small tree.
        """
        tree = type(self).__new__(type(self))
        tree.__dict__.update(self.__dict__, history=history, evaluation_log=EvaluationLog())
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
        """Number of splits between the root and each node."""
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
        """Whether every internal node has a split, so that rows can be routed."""
        return not (self.feature[self.internal] < 0).any()

    @cached_property
    def right(self) -> Ints:
        """The second child of each internal node, 0 for a leaf. (The first child of node `v` is `v + 1`.)"""
        first_child = np.minimum(np.arange(1, self.n_nodes + 1), self.n_nodes - 1)
        return write_protect(np.where(self.is_leaf, 0, self.end[first_child]).astype(np.int32))

    @cached_property
    def child_lists(self) -> tuple[Longs, Ints]:
        """The children of all nodes in one array, and where the children of each node start in it: (start, child)."""
        start, child = structure.child_lists(self.parent)
        return write_protect(start), write_protect(child)

    @cached_property
    def tested_columns(self) -> Ints:
        """The columns that splits and surrogates compare: sorted numbers, each once."""
        feature = self.feature_of_all_splits
        return write_protect(np.unique(feature[feature >= 0]))

    @cached_property
    def tested_position(self) -> Ints:
        """The position in `tested_columns` of the column of each node, then of each surrogate; -1 for a leaf."""
        feature = self.feature_of_all_splits
        position = np.searchsorted(self.tested_columns, feature)
        return write_protect(np.where(feature >= 0, position, -1).astype(np.int32))

    @property
    def feature_of_all_splits(self) -> Ints:
        """The column of each node, then of each surrogate."""
        return self.feature if self.surrogates is None else np.append(self.feature, self.surrogates.feature)

    @cached_property
    def surrogate_tests(self) -> tuple[Array, Array, Array, Array, Ints, Ints, Array] | None:
        """The splits of the nodes, then of the surrogates, without their columns: arguments of `route_surrogates`.

        None for a tree without surrogates.
        """
        if self.surrogates is None:
            return None
        splits = self.surrogates.appended_to(self.threshold, self.branch_start, self.branch)
        return (*splits, self.default, self.right, self.surrogates.start + self.n_nodes)

    @cached_property
    def packed(self) -> Floats:
        """The splits as one array for `route_packed`, if all of them compare with a threshold."""
        return write_protect(route.pack_nodes(self.feature, self.threshold, self.right, self.default))

    @cached_property
    def packed_tested(self) -> Floats:
        """The same array as `packed`, for rows that have the columns in `tested_columns` only."""
        return write_protect(route.pack_nodes(self.tested_position, self.threshold, self.right, self.default))

    @cached_property
    def row_key(self) -> RowKey:
        """How the rows of samples of this tree are hashed into sketches."""
        if self.key is not None:
            return self.key
        if self.surrogate_tests is not None:
            return RowKey.of(self.feature_of_all_splits, self.parent, *self.surrogate_tests)
        return RowKey.of(self.feature, self.parent, self.threshold, self.branch)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        # While this tree is alive, what is evaluated with its unpickled copies is known to this tree, too.
        self.evaluation_log.offer(self.row_key.salt)
        return super().__reduce__()

    def children(self, node: int) -> Iterator[int]:
        """Yield the children of `node` in order."""
        child = node + 1
        while child < self.end[node]:
            yield child
            child = int(self.end[child])

    def same_structure(self, other: "Tree") -> bool:
        """Whether another tree has the same parents, so that counts of one tree fit the other."""
        return self is other or np.array_equal(self.parent, other.parent)

    def __repr__(self) -> str:
        leaves = "1 leaf" if self.n_leaves == 1 else f"{self.n_leaves:,} leaves"
        nodes = "1 node" if self.n_nodes == 1 else f"{self.n_nodes:,} nodes"
        return f"Tree({leaves}, {nodes}, depth {int(self.depth.max())})"


def blank_tests(n_nodes: int) -> dict[str, Array]:
    """Return the fields of a tree without splits, by name."""
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
