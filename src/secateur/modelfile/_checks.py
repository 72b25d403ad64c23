"""Check that arrays are a valid tree, and that counts and moments fit the tree.

The same functions check arrays from a file, before any class or compiled kernel uses them, and the arrays of a model
that is written, so that every written file can be read. Compiled kernels do not check bounds: only checked arrays may
reach them. Each function raises `ModelFileError` for the first invalid entry; its time is linear in the arrays.
"""

from collections.abc import Mapping
from operator import mul
from typing import NamedTuple

import numpy as np

from .._utils.arrays import MAX_EXACT_INT, Array, Bools, Floats, Ints
from ..core import MAX_ROUNDED_DIGITS
from ..data.raw_column import value_type_of_class
from ..data.table import Column, Schema
from ..errors import ModelFileError

MIN_TEXT_LIMIT_CHARACTERS = 1 << 24  # of names, categories and labels as a drawing repeats them at the nodes ...
MAX_TEXT_CHARACTERS_PER_NODE = 256  # ... or, if that is more, this number for each node and branch
SUM_TOLERANCE = 1e-9  # relative to the whole sample: far above rounding errors, far below the weight of a row


class Structure(NamedTuple):
    """The checked structure of a tree, one entry per node in pre-order."""

    parent: Ints
    end: Ints  # the first node after the subtree
    arity: Ints  # number of children
    is_leaf: Bools

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.parent)


def check_entries(is_invalid: Array, location: str, values: Array, expected: str, first: int = 0) -> None:
    """Raise an error for the first invalid entry of `values`; entry 0 has the number `first` in the message."""
    if is_invalid.any():
        i = int(is_invalid.argmax())
        raise ModelFileError(f"{location}[{i + first}] is {values[i]}; {expected}")


def check_structure(parent: Ints) -> Structure:
    """Return the structure of a tree with these parents; each node must follow its parent, in pre-order."""
    n_nodes = len(parent)
    if n_nodes == 0 or parent[0] != -1:
        raise ModelFileError("tree.parent must begin with -1, the parent of the root")
    parents = parent[1:]
    is_invalid = (parents < 0) | (parents >= np.arange(1, n_nodes))
    check_entries(is_invalid, "tree.parent", parents, "an earlier node is needed", first=1)
    arity = np.bincount(parents, minlength=n_nodes).astype(np.int32)
    check_entries(arity == 1, "tree.parent: the number of children of node", arity, "0, or 2 or more, are needed")
    end = [n_nodes] * n_nodes
    path = [0]  # from the root to the node before v
    for v, parent_of_v in enumerate(parents.tolist(), 1):
        while path[-1] != parent_of_v:
            end[path.pop()] = v
            if not path:
                raise ModelFileError(
                    f"tree.parent[{v}] is {parent_of_v}, whose subtree has ended before; pre-order is needed: "
                    "a subtree is one run of nodes"
                )
        path.append(v)
    return Structure(parent, np.array(end, np.int32), arity, arity == 0)


def check_schema(schema: Schema) -> None:
    """Check that columns have different names, and categories and classes are of one type each."""
    if not schema.columns:
        raise ModelFileError("schema.columns is empty; at least one column is needed")
    earlier_names: set[str] = set()
    for i, column in enumerate(schema.columns):
        location = f"schema.columns[{i}]"
        if column.name in earlier_names:
            raise ModelFileError(
                f"{location}.name is {column.name!a}, the name of an earlier column; it must be unique"
            )
        earlier_names.add(column.name)
        _check_categories(column, location)
    if schema.classes is not None:
        if schema.has_numeric_target or not len(schema.classes):
            raise ModelFileError("schema.classes must be null for a numeric target, else contain at least one class")
        if len({value_type_of_class(type(label)) for label in schema.classes.tolist()}) > 1:
            raise ModelFileError("schema.classes mix text, numbers and booleans; one kind is needed")


def _check_categories(column: Column, location: str) -> None:
    """Check that a numeric column has no categories, and that those of a nominal one are of one type."""
    if column.kind == "numeric" and column.categories:
        raise ModelFileError(f"{location}.categories are for nominal columns; this one is numeric")
    if len({value_type_of_class(type(value)) for value in column.categories}) > 1:
        raise ModelFileError(f"{location}.categories mix text, numbers and booleans; one kind is needed")


def check_splits(structure: Structure, schema: Schema | None, arrays: Mapping[str, Array]) -> None:
    """Check that every split sends every row to an existing child, and that the columns of the schema exist.

    Parameters
    ----------
    structure : Structure
        The structure of the tree.
    schema : Schema or None
        The columns; None for a bare structure.
    arrays : dict
        All arrays of the tree except `parent`, by name, as in `blank_tests`.
    """
    feature, threshold, start, branch = (arrays[name] for name in ("feature", "threshold", "branch_start", "branch"))
    arity, is_leaf = structure.arity, structure.is_leaf
    n_codes = np.diff(start)
    if start[0] != 0 or (n_codes < 0).any() or start[-1] != len(branch):
        raise ModelFileError(f"tree.branch_start must rise from 0 to {len(branch):,}, the length of tree.branch")
    n_columns = 1 << 31 if schema is None else len(schema.columns)
    is_invalid = (feature < -1) | (feature >= n_columns)
    check_entries(is_invalid, "tree.feature", feature, "-1 or the number of a column is needed")
    has_split = feature >= 0
    check_entries(has_split & is_leaf, "tree.feature", feature, "the node is a leaf, which tests nothing: -1 is needed")
    is_numeric = has_split & (n_codes == 0)
    check_entries(is_numeric & np.isnan(threshold), "tree.threshold", threshold, "the node compares with it")
    check_entries(is_numeric & (arity != 2), "the number of children of node", arity, "a comparison has 2")
    check_entries(~has_split & (n_codes > 0), "the number of branches of node", n_codes, "it tests no column")
    n_allowed = np.maximum(arity, 1)
    default = arrays["default"]
    is_invalid = (default < 0) | (default >= n_allowed)
    check_entries(is_invalid, "tree.default", default, "the number of a child is needed")
    node_of_branch = np.repeat(np.arange(structure.n_nodes), n_codes)
    check_entries(branch >= n_allowed[node_of_branch], "tree.branch", branch, "the number of a child is needed")
    if schema is not None:
        expected = "the node has children: a column is needed"
        check_entries(~has_split & ~is_leaf, "tree.feature", feature, expected)
        n_codes_of_column = np.array([column.n_codes for column in schema.columns] + [0])[feature]
        is_invalid = has_split & (n_codes != n_codes_of_column)
        check_entries(is_invalid, "the number of branches of node", n_codes, "its column has another")
        _check_text_size(structure, schema, feature, len(branch))
    _check_descriptive_arrays(arrays)


def _check_descriptive_arrays(arrays: Mapping[str, Array]) -> None:
    """Check the arrays of a tree that do not decide where a row goes."""
    rounded, split_order, ids = arrays["rounded"], arrays["split_order"], arrays["ids"]
    is_invalid = ~_is_rounded(rounded, arrays["threshold"])
    check_entries(is_invalid, "tree.rounded", rounded, "it is not the threshold, rounded to a digit")
    check_entries(split_order < -1, "tree.split_order", split_order, "-1 or a step is needed")
    check_entries(ids < 0, "tree.ids", ids, "a node number is needed")
    if len(np.unique(ids)) < len(ids):
        raise ModelFileError("tree.ids contains a number twice; each node comes from a different node")


def _is_rounded(rounded: Floats, threshold: Floats) -> Bools:
    """Return whether each number differs from the threshold by less than one unit of its last decimal digit.

    The thresholds of trees from other libraries are float32, so that the difference may be larger by their rounding.
    """
    scale = np.ones(len(rounded))  # 10 to the power of the number of decimals
    with np.errstate(over="ignore", invalid="ignore"):
        for n_digits in range(1, MAX_ROUNDED_DIGITS + 1):
            has_fewer_digits = np.rint(rounded * scale) / scale == rounded
            scale = np.where(has_fewer_digits, scale, 10.0**n_digits)
        difference = np.abs(rounded - threshold) - np.abs(threshold) * 2.0**-23
        is_rounded: Bools = np.isnan(rounded) | (rounded == threshold) | (difference < 1 / scale)
    return is_rounded


def _check_text_size(structure: Structure, schema: Schema, feature: Ints, n_branches: int) -> None:
    """Limit the text of a drawing of the tree, which repeats names, categories and labels at the nodes."""
    n_characters = [  # at a node that tests the column
        len(column.name) + sum(len(str(value)) for value in column.categories) for column in schema.columns
    ]
    longest_label = 0
    if schema.classes is not None:
        longest_label = max(len(str(label)) for label in schema.classes.tolist())
    n_nodes_of_column = np.bincount(feature[feature >= 0], minlength=len(n_characters)).tolist()
    n_leaves = int(np.count_nonzero(structure.is_leaf))
    total = sum(map(mul, n_characters, n_nodes_of_column)) + longest_label * n_leaves
    limit = max(MIN_TEXT_LIMIT_CHARACTERS, MAX_TEXT_CHARACTERS_PER_NODE * (structure.n_nodes + n_branches))
    if total > limit:
        raise ModelFileError(
            f"the names, categories and labels of schema have {total:,} characters where the tree repeats them; at "
            f"most {limit:,} are kept: shorten them"
        )


def check_counts(structure: Structure, by_class: Array, location: str) -> None:
    """Check that counts, of shape (classes, nodes), are 0 or more and add up from the children to each node."""
    total = 0.0 if by_class.dtype.kind == "i" else float(by_class[:, 0].sum())
    for c, counts in enumerate(by_class):
        _check_sums(structure, counts, total, f"{location}.by_class[{c}]")
    if sum(by_class[:, 0].tolist()) >= MAX_EXACT_INT:
        raise ModelFileError(
            f"{location}.by_class adds up to 2**53 or more; whole counts below are exact: rescale them"
        )


def check_moments(structure: Structure, weight: Floats, mean: Floats, sse: Floats, location: str) -> None:
    """Check that weights, means and squared errors are finite, and are those of the children combined.

    Rounding must be tolerated. Let L be the largest mean plus the standard deviation in the root. A sum of n numbers up
    to L is rounded by less than `SUM_TOLERANCE` times n L, a sum of squares by less than `SUM_TOLERANCE` times n L^2;
    this includes trees whose squared errors were computed as differences of such sums. All numbers are divided by L
    first, so that no square overflows.
    """
    _check_sums(structure, weight, float(weight[0]), f"{location}.weight")
    check_entries(~np.isfinite(mean), f"{location}.mean", mean, "a finite number is needed")
    check_entries(~((sse >= 0) & (sse < np.inf)), f"{location}.sse", sse, "a number of 0 or more is needed")
    with np.errstate(all="ignore"):
        root_weight = weight[0] or 1.0
        largest_mean = np.abs(mean[weight > 0]).max(initial=0)
        scale = largest_mean + np.sqrt(sse[0] / max(weight[0], 1e-300)) or 1.0
        share = weight / root_weight
        scaled_mean = mean / scale
        scaled_sse = sse / scale / scale / root_weight
        parent = structure.parent[1:]
        shift = scaled_mean[1:] - scaled_mean[parent]  # of the mean of a child from that of its parent
        first_moment = share[1:] * shift
        second_moment = scaled_sse[1:] + first_moment * shift
        sum_of_first = np.bincount(parent, first_moment, structure.n_nodes)
        sum_of_second = np.bincount(parent, second_moment, structure.n_nodes)
        tolerance = SUM_TOLERANCE * (1 + structure.arity)
        is_wrong_mean = ~structure.is_leaf & (np.abs(sum_of_first) > tolerance)
        is_wrong_sse = ~structure.is_leaf & (np.abs(sum_of_second - scaled_sse) > 4 * tolerance)
    check_entries(is_wrong_mean, f"{location}.mean", mean, "it is not the mean of the children")
    check_entries(is_wrong_sse, f"{location}.sse", sse, "it is not that of the children around their common mean")


def _check_sums(structure: Structure, values: Array, total: float, location: str) -> None:
    """Check that values are 0 or more and add up from the children to each node; `total` scales the tolerance."""
    is_invalid = ~((values >= 0) & (values < MAX_EXACT_INT))
    check_entries(is_invalid, location, values, f"a number from 0 to below {MAX_EXACT_INT} is needed")
    # Whole numbers are compared exactly: correct sums stay below 2**53, and others cannot become equal by rounding.
    sums = np.bincount(structure.parent[1:], weights=values[1:], minlength=structure.n_nodes)
    with np.errstate(over="ignore", invalid="ignore"):
        # `Counts` tolerates this rounding error for each node, hence here also for each child.
        tolerance = SUM_TOLERANCE * total * (1 + structure.arity)
        is_invalid = ~structure.is_leaf & ~(np.abs(sums - values) <= tolerance)
    check_entries(is_invalid, location, values, "it is not the sum over the children")
