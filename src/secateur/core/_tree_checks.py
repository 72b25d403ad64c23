"""Checks of the fields of a `Tree`: every tree is checked when it is made, wherever its arrays come from."""

from typing import TYPE_CHECKING

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, ArrayLike, Bools, Floats, Ints, Longs, immutable_array
from ..data.table import Schema
from ..errors import TreeError

if TYPE_CHECKING:
    from .tree import Tree


def as_node_numbers(name: str, values: ArrayLike) -> Ints:
    """Return `values` as a read-only array of int32; raise `TreeError` unless it has one integer per node."""
    array = np.asarray(values)
    if array.ndim != 1 or len(array) == 0:
        raise TreeError(f"{name} has shape {array.shape}; a list with one entry per node is needed")
    if array.dtype.kind not in "iu":
        raise TreeError(f"{name} holds {array.dtype} values; whole numbers are needed")
    if len(array) > np.iinfo(np.int32).max:
        raise TreeError(f"{len(array)} nodes; at most {np.iinfo(np.int32).max} fit")
    return immutable_array(array, np.int32)


def check_parents(parent: Ints) -> None:
    """Raise `TreeError` unless the root comes first, parents precede children, and no node has exactly one child."""
    if parent[0] != -1:
        raise TreeError(f"node 0 has parent {parent[0]}; the root comes first and has parent -1")
    previous_node = np.arange(-1, len(parent) - 1)
    is_invalid = (parent < np.minimum(previous_node, 0)) | (parent > previous_node)
    _refuse(is_invalid, "has parent {}; a parent between 0 and {} is needed", parent, previous_node)
    _refuse(np.bincount(parent[1:], minlength=len(parent)) == 1, "has 1 child; a node has none or at least two")


def check_structure(parent: Ints) -> Ints:
    """Return the end of the subtree of each node; raise `TreeError` unless the nodes are in pre-order."""
    check_parents(parent)
    end = structure.subtree_ends(parent)
    node = structure.first_out_of_preorder(parent, end)
    if node >= 0:
        raise TreeError(
            f"node {node} (parent {parent[node]}) is not in pre-order; "
            "Tree.from_parents renumbers a tree given in another order"
        )
    return end


def check_estimate_limits(parent: Ints, limits: ArrayLike) -> Floats:
    """Return the limits of estimates as a read-only array; raise `TreeError` unless those of children are narrower."""
    array = np.asarray(limits)
    if array.shape != (len(parent), 2) or array.dtype.kind not in "iuf":
        raise TreeError(
            f"estimate_limits have shape {array.shape} of {array.dtype}; two numbers per node are needed, "
            f"({len(parent)}, 2)"
        )
    lower, upper = array.T
    _refuse(
        ~(lower <= upper), "has the estimate limits {} and {}; two numbers in ascending order are needed", lower, upper
    )
    outer = array[np.maximum(parent, 0)]
    is_wider = (lower < outer[:, 0]) | (upper > outer[:, 1])
    _refuse(is_wider, "has the estimate limits {} and {}, which are wider than those of its parent", lower, upper)
    checked: Floats = immutable_array(limits, np.float64)
    return checked


def check_splits(tree: "Tree") -> None:
    """Raise `TreeError` if a split is inconsistent, or could send a row to a child that does not exist."""
    start, n_codes = tree.branch_start, np.diff(tree.branch_start)
    if start[0] != 0 or (n_codes < 0).any() or start[-1] != len(tree.branch):
        raise TreeError(f"branch_start must rise from 0 to {len(tree.branch)}, the length of branch")
    has_split = tree.feature >= 0
    is_nominal = n_codes > 0
    is_numeric = has_split & ~is_nominal
    _refuse(tree.feature < -1, "tests feature {}; -1 (none) or a column number is needed", tree.feature)
    _refuse(has_split & tree.is_leaf, "is a leaf but tests feature {}", tree.feature)
    _refuse(is_numeric & (tree.arity != 2), "compares with a threshold but has {} children", tree.arity)
    _refuse(is_numeric & np.isnan(tree.threshold), "compares with the threshold {}", tree.threshold)
    _refuse(is_nominal & ~has_split, "has {} branches but tests no feature", n_codes)
    _check_child_numbers(tree, n_codes)
    if tree.schema is not None:
        _check_columns(tree, tree.schema, n_codes)
        n_classes = 0 if tree.schema.classes is None else len(tree.schema.classes)
        if tree.estimate_limits is not None and n_classes > 2:
            raise TreeError(f"estimate_limits with {n_classes} classes; the share of the second of two is limited")


def _check_child_numbers(tree: "Tree", n_codes: Longs) -> None:
    """Raise `TreeError` if missing values or a category are sent to a child that does not exist."""
    n_children = np.maximum(tree.arity, 1)
    has_no_child = (tree.default < 0) | (tree.default >= n_children)
    _refuse(has_no_child, "sends missing values to child {}, which it does not have", tree.default)
    node_of_code = np.repeat(np.arange(tree.n_nodes), n_codes)
    invalid = np.flatnonzero(tree.branch >= n_children[node_of_code])
    if len(invalid):
        node = node_of_code[invalid[0]]
        raise TreeError(
            f"node {node} sends category {invalid[0] - tree.branch_start[node]} to child {tree.branch[invalid[0]]}; "
            f"it has {tree.arity[node]} children"
        )


def _check_columns(tree: "Tree", schema: Schema, n_codes: Longs) -> None:
    """Raise `TreeError` if a split compares a column that the schema lacks, or with another number of categories."""
    n_columns = len(schema.columns)
    _refuse(tree.feature >= n_columns, f"tests feature {{}}; the table has {n_columns} columns", tree.feature)
    codes_of_column = np.array([column.n_codes for column in schema.columns] + [0])  # the last is for feature -1
    is_other = (tree.feature >= 0) & (n_codes != codes_of_column[tree.feature])
    _refuse(is_other, "has {} branches; its column has another number of categories", n_codes)


def _refuse(is_invalid: Bools, message: str, *values: Array) -> None:
    """Raise `TreeError` about the first invalid node, if any; `message` has a place for its entry in each array."""
    if is_invalid.any():
        node = int(is_invalid.argmax())
        raise TreeError(f"node {node} " + message.format(*(array[node] for array in values)))
