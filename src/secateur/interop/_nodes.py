"""The memory of a scikit-learn tree: its node records taken apart and put together again.

A tree hands out its records, and is made from them, the way pickle does it: through
`__reduce__` and `__setstate__`. No argument is written down here, so versions that take more of
them work; the names of the fields are compared with those we know, and any other is refused.

    version   where the threshold is         what else
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
NO_CHILD, NO_FEATURE = -1, -2  # what scikit-learn writes into a leaf
_FIELDS = {
    "left_child",
    "right_child",
    "feature",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
}
_SPLITS = ({"threshold"}, {"threshold", "left_cat_bitset"})  # in the record itself, or in split_value
_STATE = {"max_depth", "node_count", "nodes", "values"}


@dataclass(frozen=True)
class Records:
    """One scikit-learn tree as arrays; every field is public in pickles of it.

    Parameters
    ----------
    maker : type
        The class of the tree.
    arguments : tuple
        What the class is called with; copied from a tree, never made up.
    nodes : structured array
    values : array of shape (n_nodes, n_outputs, n_classes)
    """

    maker: type
    arguments: tuple[Array | int, ...]
    nodes: Array
    values: Array

    @classmethod
    def of(cls, tree: Estimator) -> "Records":
        """Take a tree apart; refuse layouts that are not known."""
        maker, arguments, state = tree.__reduce__()
        if set(state) != _STATE:
            raise _unknown_layout(f"the state {sorted(state)}")
        nodes = np.asarray(state["nodes"])[: state["node_count"]]
        check_layout(nodes.dtype)
        return cls(maker, tuple(arguments), nodes, np.asarray(state["values"])[: len(nodes)])

    def build(self, max_depth: int) -> Estimator:
        """Return the tree of these records."""
        tree = self.maker(*self.arguments)
        tree.__setstate__(
            {"max_depth": max_depth, "node_count": len(self.nodes), "nodes": self.nodes, "values": self.values}
        )
        return tree

    def nominal_features(self) -> Longs:
        """Features that are compared with a set of categories (scikit-learn 1.10)."""
        if "left_cat_bitset" not in (split_part(self.nodes).dtype.names or ()) or len(self.arguments) < 4:
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.asarray(self.arguments[3]) > 0)


def check_layout(dtype: Dtype) -> None:
    """Refuse node records with fields that are not known: what they mean could not be kept."""
    names = set(dtype.names or ())
    split = {"threshold"} & names
    if "split_value" in names:
        split = set(dtype["split_value"].names or ())
        names -= {"split_value"}
    if split not in _SPLITS or names - {"threshold"} != _FIELDS:
        raise _unknown_layout(f"node records of {dtype}")


def blank_nodes(n: int, dtype: Dtype) -> Array:
    """Return `n` leaves without statistics; also the bytes between the fields are 0, so that pickles are equal."""
    nodes = np.zeros(n, dtype)
    nodes["left_child"] = nodes["right_child"] = NO_CHILD
    nodes["feature"] = NO_FEATURE
    split_part(nodes)["threshold"] = NO_FEATURE
    return nodes


def split_part(nodes: Array) -> Array:
    """The records that hold the threshold: a view, writing to it writes to the nodes."""
    part: Array = nodes["split_value"] if "split_value" in (nodes.dtype.names or ()) else nodes
    return part


def preorder(left: Array, right: Array, is_leaf: Bools) -> tuple[Array, Array]:
    """Return the nodes that can be reached, in pre-order, and the parent of each, by its place among them.

    Trees that scikit-learn grows number both children after their parent, the left one
    first; trees that were edited may not, and may hold nodes that nothing leads to.
    """
    n = len(left)
    inner = np.flatnonzero(~is_leaf)
    children = np.append(left[inner], right[inner])
    is_plain = np.array_equal(np.sort(children), np.arange(1, n)) and (left[inner] < right[inner]).all()
    if not (is_plain and (left[inner] > inner).all()):
        return _walk(left.tolist(), right.tolist(), is_leaf.tolist())
    above = np.full(n, -1, np.int32)
    above[children] = np.append(inner, inner)
    order = structure.preorder(above)
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    return order, np.where(order == 0, -1, place[above[order]])


def _walk(left: list[int], right: list[int], is_leaf: list[bool]) -> tuple[Array, Array]:
    """The same for any numbering; refuse what is no tree."""
    order: list[int] = []
    above: list[int] = []
    n, stack = len(left), [(0, -1)]
    is_seen = bytearray(n)
    while stack:
        v, parent = stack.pop()
        if not 0 <= v < n or is_seen[v]:
            what = "is reached twice" if 0 <= v < n else f"is not one of the {n} nodes"
            raise TreeError(f"node {v} {what}: the estimator's tree was edited and is no longer a tree; refit it")
        is_seen[v] = True
        if not is_leaf[v]:
            stack += [(right[v], len(order)), (left[v], len(order))]
        order.append(v)
        above.append(parent)
    return np.array(order, np.int32), np.array(above, np.int32)


def _unknown_layout(found: str) -> UnsupportedError:
    import sklearn

    return UnsupportedError(
        f"scikit-learn {sklearn.__version__} keeps its trees in a layout that is not known here ({found}); "
        "install scikit-learn 1.9, or a newer secateur"
    )
