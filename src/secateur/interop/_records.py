"""Read the node records of a scikit-learn tree, and create a tree from such records.

A tree is read and created as pickle does it, with `__reduce__` and `__setstate__`. The arguments of its constructor are
copied, so that versions with further arguments work. Records with unknown fields raise an error.

    version   field of the threshold         further fields
    1.9       threshold                      -
    1.10      split_value.threshold          split_value.left_cat_bitset: categories that go left
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, Bools, Longs
from ..errors import TreeError, UnsupportedError

Estimator: TypeAlias = Any  # a tree, a forest or a transformer of scikit-learn, which has no types
Dtype: TypeAlias = np.dtype[Any]  # of node records
NO_CHILD, NO_FEATURE = -1, -2  # children and feature of a leaf in scikit-learn
NODE_FIELDS = {
    "left_child",
    "right_child",
    "feature",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
}
# The known sets of fields that describe a split. They are fields of the record or, if it has one, of `split_value`.
SPLIT_FIELD_SETS = ({"threshold"}, {"threshold", "left_cat_bitset"})
STATE_FIELDS = {"max_depth", "node_count", "nodes", "values"}


@dataclass(frozen=True)
class Records:
    """The state of one scikit-learn tree, as it is pickled.

    Parameters
    ----------
    tree_type : type
        The class of the tree.
    arguments : tuple
        Arguments of its constructor, copied from a tree.
    nodes : structured array
        One record per node.
    values : array of shape (n_nodes, n_outputs, n_classes)
        The predictions of each node.
    """

    tree_type: type
    arguments: tuple[Array | int, ...]
    nodes: Array
    values: Array

    @classmethod
    def of(cls, tree: Estimator) -> "Records":
        """Return the records of a tree; raise an error if their layout is unknown."""
        tree_type, arguments, state = tree.__reduce__()
        if set(state) != STATE_FIELDS:
            raise _unknown_layout(f"the state {sorted(state)}")
        nodes = np.asarray(state["nodes"])[: state["node_count"]]
        check_layout(nodes.dtype)
        return cls(tree_type, tuple(arguments), nodes, np.asarray(state["values"])[: len(nodes)])

    def build(self, max_depth: int) -> Estimator:
        """Return the tree with these records."""
        tree = self.tree_type(*self.arguments)
        tree.__setstate__(
            {"max_depth": max_depth, "node_count": len(self.nodes), "nodes": self.nodes, "values": self.values}
        )
        return tree

    def nominal_features(self) -> Longs:
        """Return the features whose tests are sets of categories (scikit-learn 1.10)."""
        if "left_cat_bitset" not in (split_part(self.nodes).dtype.names or ()) or len(self.arguments) < 4:
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.asarray(self.arguments[3]) > 0)


def check_layout(dtype: Dtype) -> None:
    """Raise an error if node records have unknown fields, whose meaning a pruned tree could not keep."""
    names = set(dtype.names or ())
    split = {"threshold"} & names
    if "split_value" in names:
        split = set(dtype["split_value"].names or ())
        names -= {"split_value"}
    if split not in SPLIT_FIELD_SETS or names - {"threshold"} != NODE_FIELDS:
        raise _unknown_layout(f"node records of {dtype}")


def blank_nodes(n: int, dtype: Dtype) -> Array:
    """Return records of `n` leaves without statistics; padding bytes are 0, so that equal trees pickle equally."""
    nodes = np.zeros(n, dtype)
    nodes["left_child"] = nodes["right_child"] = NO_CHILD
    nodes["feature"] = NO_FEATURE
    split_part(nodes)["threshold"] = NO_FEATURE
    return nodes


def split_part(nodes: Array) -> Array:
    """Return the part of the records with the threshold, as a view: writing to it changes the nodes."""
    part: Array = nodes["split_value"] if "split_value" in (nodes.dtype.names or ()) else nodes
    return part


def preorder(left: Array, right: Array, is_leaf: Bools) -> tuple[Array, Array]:
    """Return the reachable nodes in pre-order, and the position of each node's parent in this order (-1 for the root).

    In trees that scikit-learn has grown, both children have larger numbers than their parent, and the left child has a
    smaller number than the right one. Trees that were edited may have any numbering and unreachable nodes.
    """
    n = len(left)
    internal = np.flatnonzero(~is_leaf)
    children = np.append(left[internal], right[internal])
    reaches_all_once = np.array_equal(np.sort(children), np.arange(1, n))
    is_ordered = (left[internal] < right[internal]).all() and (left[internal] > internal).all()
    if not (reaches_all_once and is_ordered):
        return _preorder_any_numbering(left.tolist(), right.tolist(), is_leaf.tolist())
    parent = np.full(n, -1, np.int32)
    parent[children] = np.append(internal, internal)
    order = structure.preorder(parent)
    position = np.empty(n, np.int32)
    position[order] = np.arange(n, dtype=np.int32)
    return order, np.where(order == 0, -1, position[parent[order]])


def _preorder_any_numbering(left: list[int], right: list[int], is_leaf: list[bool]) -> tuple[Array, Array]:
    """Return what `preorder` returns, whatever the numbering; raise an error if the nodes are not those of a tree."""
    order: list[int] = []
    parents: list[int] = []
    n, stack = len(left), [(0, -1)]
    is_seen = bytearray(n)
    while stack:
        v, parent = stack.pop()
        if not 0 <= v < n or is_seen[v]:
            problem = "is reached twice" if 0 <= v < n else f"is not one of the {n} nodes"
            raise TreeError(f"node {v} {problem}: the estimator's tree was edited and is no longer a tree; refit it")
        is_seen[v] = True
        if not is_leaf[v]:
            stack += [(right[v], len(order)), (left[v], len(order))]
        order.append(v)
        parents.append(parent)
    return np.array(order, np.int32), np.array(parents, np.int32)


def _unknown_layout(layout: str) -> UnsupportedError:
    """Return the error for trees of an unknown version of scikit-learn."""
    import sklearn

    return UnsupportedError(
        f"scikit-learn {sklearn.__version__} keeps its trees in a layout that is not known here ({layout}); "
        "install scikit-learn 1.9, or a newer secateur"
    )
