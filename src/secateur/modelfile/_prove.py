"""Proofs that arrays from a file are a tree and fit it, before any noun or kernel sees them.

NumPy and one plain loop, linear in the size of the file: a compiled kernel checks no bounds,
so nothing that has not passed here may reach one. The nouns then check themselves again.
"""

from operator import mul
from typing import NamedTuple

import numpy as np

from .._utils.arrays import MAX_EXACT_INT, Array, Bools, Ints
from ..core import MAX_ROUNDED_DIGITS
from ..data.raw_column import value_type_of_class
from ..data.table import Schema
from ..errors import ModelFileError
from ._text import Document

FREE_TEXT = 1 << 24  # characters of names, categories and labels, written out at every node of the tree ...
MOST_TEXT = 256  # ... and how many for each node and branch beyond that
NEAR = 1e-9  # of the whole: far above rounding, far below a row


class Shape(NamedTuple):
    """A proved structure: parents in pre-order, where each subtree ends, how many children, whether there are none."""

    parent: Ints
    end: Ints
    arity: Ints
    is_leaf: Bools

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.parent)


def prove_shape(parent: Ints) -> Shape:
    """The structure of pre-order parents: every node the child of one on the path to the node before it."""
    n = len(parent)
    if n == 0 or parent[0] != -1:
        raise ModelFileError("tree.parent must begin with -1, the parent of the root")
    later = parent[1:]
    refuse((later < 0) | (later >= np.arange(1, n)), "tree.parent", parent[1:], "an earlier node is needed", first=1)
    arity = np.bincount(later, minlength=n).astype(np.int32)
    refuse(arity == 1, "tree.parent: the number of children of node", arity, "0, or 2 or more, are needed")
    end = [n] * n
    path = [0]
    for v, above in enumerate(later.tolist(), 1):
        while path[-1] != above:
            end[path.pop()] = v
            if not path:
                raise ModelFileError(
                    f"tree.parent[{v}] is {above}, whose subtree has ended before; pre-order is needed: "
                    "a subtree is one run of nodes"
                )
        path.append(v)
    return Shape(parent, np.array(end, np.int32), arity, arity == 0)


def prove_schema(schema: Schema) -> None:
    """Column names that differ, and categories of one kind that differ."""
    seen: set[str] = set()
    for i, column in enumerate(schema.columns):
        where = f"schema.columns[{i}]"
        if column.name in seen:
            raise ModelFileError(f"{where}.name is {column.name!a}, the name of an earlier column; it must be unique")
        seen.add(column.name)
        if column.kind == "numeric" and column.categories:
            raise ModelFileError(f"{where}.categories are for nominal columns; this one is numeric")
        if len({value_type_of_class(type(value)) for value in column.categories}) > 1:
            raise ModelFileError(f"{where}.categories mix text, numbers and booleans; one kind is needed")
    if not schema.columns:
        raise ModelFileError("schema.columns is empty; at least one column is needed")
    if schema.classes is not None:
        if schema.has_numeric_target or not len(schema.classes):
            raise ModelFileError("schema.classes must be null for a numeric target, else contain at least one class")
        if len({value_type_of_class(type(label)) for label in schema.classes.tolist()}) > 1:
            raise ModelFileError("schema.classes mix text, numbers and booleans; one kind is needed")


def prove_tests(shape: Shape, schema: Schema | None, tests: dict[str, Array]) -> None:
    """Tests that send every row to a child that is there."""
    n, arity = shape.n_nodes, shape.arity
    feature, threshold, start, branch, default, _, split_order, ids, rounded = tests.values()  # as in `blank_tests`
    n_codes = np.diff(start)
    if start[0] != 0 or (n_codes < 0).any() or start[-1] != len(branch):
        raise ModelFileError(f"tree.branch_start must rise from 0 to {len(branch):,}, the length of tree.branch")
    n_columns = 1 << 31 if schema is None else len(schema.columns)
    refuse((feature < -1) | (feature >= n_columns), "tree.feature", feature, "-1 or the number of a column is needed")
    is_tested = feature >= 0
    refuse(is_tested & shape.is_leaf, "tree.feature", feature, "the node is a leaf, which tests nothing: -1 is needed")
    is_numeric = is_tested & (n_codes == 0)
    refuse(is_numeric & np.isnan(threshold), "tree.threshold", threshold, "the node compares with it")
    refuse(is_numeric & (arity != 2), "the number of children of node", arity, "a comparison has 2")
    refuse(~is_tested & (n_codes > 0), "the number of branches of node", n_codes, "it tests no column")
    limit = np.maximum(arity, 1)
    refuse((default < 0) | (default >= limit), "tree.default", default, "the number of a child is needed")
    owner = np.repeat(np.arange(n), n_codes)
    refuse(branch >= limit[owner], "tree.branch", branch, "the number of a child is needed")
    if schema is not None:
        refuse(~is_tested & ~shape.is_leaf, "tree.feature", feature, "the node has children: a column is needed")
        expected = np.array([column.n_codes for column in schema.columns] + [0])[feature]
        refuse(is_tested & (n_codes != expected), "the number of branches of node", n_codes, "its column has another")
        _prove_texts(shape, schema, feature, len(branch))
    refuse(~_is_rounded(rounded, threshold), "tree.rounded", rounded, "it is not the threshold, rounded to a digit")
    refuse(split_order < -1, "tree.birth", split_order, "-1 or a step is needed")
    refuse(ids < 0, "tree.ids", ids, "a node number is needed")
    if len(np.unique(ids)) < n:
        raise ModelFileError("tree.ids contains a number twice; each node comes from a different node")


def _is_rounded(rounded: Array, threshold: Array) -> Bools:
    """Whether each number is nearer to the threshold than one unit of its last digit; a foreign tree's is a float32."""
    scale = np.ones(len(rounded))
    with np.errstate(over="ignore", invalid="ignore"):
        for n_digits in range(1, MAX_ROUNDED_DIGITS + 1):
            scale = np.where(np.rint(rounded * scale) / scale == rounded, scale, 10.0**n_digits)
        gap = np.abs(rounded - threshold) - np.abs(threshold) * 2.0**-23
        found: Bools = np.isnan(rounded) | (rounded == threshold) | (gap < 1 / scale)
    return found


def _prove_texts(shape: Shape, schema: Schema, feature: Ints, n_branches: int) -> None:
    """So few characters that a drawing of the tree, which repeats names at every node, is of its size."""
    lengths = [len(column.name) + sum(len(str(value)) for value in column.categories) for column in schema.columns]
    longest = 0 if schema.classes is None else max(len(str(label)) for label in schema.classes.tolist())
    n_times = np.bincount(feature[feature >= 0], minlength=len(lengths)).tolist()
    found = sum(map(mul, lengths, n_times)) + longest * int(np.count_nonzero(shape.is_leaf))
    if found > (limit := max(FREE_TEXT, MOST_TEXT * (shape.n_nodes + n_branches))):
        raise ModelFileError(
            f"the names, categories and labels of schema have {found:,} characters where the tree repeats them; at "
            f"most {limit:,} are kept: shorten them"
        )


def prove_counts(shape: Shape, by_class: Array, where: str) -> None:
    """Counts of 0 or more, each the sum of those of its children. Of shape (classes, nodes) here."""
    total = 0.0 if by_class.dtype.kind == "i" else float(by_class[:, 0].sum())
    for c, column in enumerate(by_class):
        _prove_sums(shape, column, total, f"{where}.by_class[{c}]")
    if sum(by_class[:, 0].tolist()) >= MAX_EXACT_INT:
        raise ModelFileError(f"{where}.by_class adds up to 2**53 or more; whole counts below are exact: rescale them")


def prove_moments(shape: Shape, weight: Array, mean: Array, spread: Array, where: str) -> None:
    """Finite moments of 0 or more that are those of the children together, but for rounding.

    Sums of n numbers up to L are rounded by less than `NEAR` times n L, their squares by less than `NEAR` times n L^2,
    also where a foreign tree found its squared errors as differences of such sums. Here L is the largest answer and
    the spread of the root beside it; all is divided by it first, so that no square overflows.
    """
    _prove_sums(shape, weight, float(weight[0]), f"{where}.weight")
    refuse(~np.isfinite(mean), f"{where}.mean", mean, "a finite number is needed")
    refuse(~((spread >= 0) & (spread < np.inf)), f"{where}.spread", spread, "a number of 0 or more is needed")
    with np.errstate(all="ignore"):
        scale = np.abs(mean[weight > 0]).max(initial=0) + np.sqrt(spread[0] / max(weight[0], 1e-300)) or 1.0
        share, centre, error = weight / (weight[0] or 1.0), mean / scale, spread / scale / scale / (weight[0] or 1.0)
        above = shape.parent[1:]
        moved = share[1:] * (centre[1:] - centre[above])
        n = shape.n_nodes
        first = np.bincount(above, moved, n)
        second = np.bincount(above, error[1:] + moved * (centre[1:] - centre[above]), n)
        slack = NEAR * (1 + shape.arity)
        is_off = ~shape.is_leaf & (np.abs(first) > slack)
        is_other = ~shape.is_leaf & (np.abs(second - error) > 4 * slack)
    refuse(is_off, f"{where}.mean", mean, "it is not the mean of the children")
    refuse(is_other, f"{where}.spread", spread, "it is not that of the children around their common mean")


def prove_cuts(shape: Shape, cuts: Ints, where: str) -> None:
    """Internal nodes, rising, none under another."""
    refuse((cuts < 0) | (cuts >= shape.n_nodes), where, cuts, "the number of a node is needed")
    refuse(shape.arity[cuts] == 0, where, cuts, "the node is a leaf anyway")
    refuse(cuts[1:] < shape.end[cuts[:-1]], where, cuts[1:], "it does not come after the subtree before it", first=1)


def prove_steps(shape: Shape, steps: Ints, n_leaves: Array, where: str) -> None:
    """Steps that never outlive the parent's, and the numbers of leaves they lead to."""
    n_members = len(n_leaves)
    refuse((steps < 0) | (steps >= n_members), f"{where}.steps", steps, f"a member below {n_members:,} is needed")
    refuse(shape.is_leaf & (steps != 0), f"{where}.steps", steps, "the node is a leaf: 0 is needed")
    above = steps[shape.parent[1:]]
    refuse(steps[1:] > above, f"{where}.steps", steps[1:], "the parent has less; a node ends first", first=1)
    until = np.append(n_members, above)
    begins = np.bincount(steps, minlength=n_members + 1)
    ends = np.bincount(until, minlength=n_members + 1)
    found = np.cumsum(begins - ends)[:n_members]
    refuse(found != n_leaves, f"{where}.n_leaves", n_leaves, "the member has another number of leaves")


def prove_changes(shape: Shape, start: Array, changes: Ints, n_leaves: Array, where: str) -> None:
    """Members given by the tests that change from one to the next: all valid, none larger than it says.

    Only a node that changes can break the rule that a test stands under a test, so looking at
    the changes is enough: linear in them, whatever the number of members.
    """
    if start[0] != 0 or (np.diff(start) < 0).any() or start[-1] != len(changes):
        raise ModelFileError(f"{where}.change_start must rise from 0 to {len(changes):,}, the length of changes")
    refuse((changes < 0) | (changes >= shape.n_nodes), f"{where}.changes", changes, "the number of a node is needed")
    refuse(shape.arity[changes] == 0, f"{where}.changes", changes, "the node is a leaf anyway")
    parent, arity = shape.parent.tolist(), shape.arity.tolist()
    is_kept = (~shape.is_leaf).tolist()
    n_below = np.bincount(shape.parent[1:], weights=~shape.is_leaf[1:], minlength=shape.n_nodes).astype(int).tolist()
    size = int(np.count_nonzero(shape.is_leaf))
    bounds, nodes, allowed = start.tolist(), changes.tolist(), n_leaves.tolist()
    for i, n_allowed in enumerate(allowed):
        here = nodes[bounds[i] : bounds[i + 1]]
        for before, v in zip([-1, *here], here, strict=False):
            if v <= before:
                raise ModelFileError(f"{where}.changes of member {i} must rise; {v} follows {before}")
            is_kept[v] = not is_kept[v]
            sign = 1 if is_kept[v] else -1
            size += sign * (arity[v] - 1)
            if v > 0:
                n_below[parent[v]] += sign
        for v in here:
            if (v > 0 and not is_kept[parent[v]]) if is_kept[v] else n_below[v] > 0:
                raise ModelFileError(f"{where}.changes of member {i}: node {v} leaves a test under a leaf")
        if size > n_allowed:
            raise ModelFileError(f"{where}.n_leaves[{i}] is {n_allowed}; the member has {size:,} leaves")


def prove_rising(values: Array, where: str) -> None:
    """Numbers, none below the one before it."""
    refuse(np.isnan(values), where, values, "a number is needed")
    refuse(values[1:] < values[:-1], where, values[1:], "numbers that do not fall are needed", first=1)


def refuse(is_wrong: Array, where: str, found: Array, needed: str, first: int = 0) -> None:
    """Raise for the first entry that is wrong; entry 0 is number `first`."""
    if is_wrong.any():
        at = int(is_wrong.argmax())
        raise ModelFileError(f"{where}[{at + first}] is {found[at]}; {needed}")


def _prove_sums(shape: Shape, values: Array, total: float, where: str) -> None:
    refuse(
        ~((values >= 0) & (values < MAX_EXACT_INT)),
        where,
        values,
        f"a number from 0 to below {MAX_EXACT_INT} is needed",
    )
    # Exact for whole numbers: sums that are right stay below 2**53, the others cannot come out right.
    below = np.bincount(shape.parent[1:], weights=values[1:], minlength=shape.n_nodes)
    with np.errstate(over="ignore", invalid="ignore"):
        # Weights are sums in some order: `Counts` allows so much of all for each node, so also for the children.
        slack = NEAR * total * (1 + shape.arity)
        is_wrong = ~shape.is_leaf & ~(np.abs(below - values) <= slack)
    refuse(is_wrong, where, values, "it is not the sum over the children")


def prove_rows(by_class: Array, n_rows: int | None, sketch: Document | None, where: str) -> None:
    """That so many rows, and those of the sketch, can be behind the counts (one line per class)."""
    if n_rows is None:
        return
    total = by_class[:, 0]
    if by_class.dtype.kind == "i" and n_rows > int(total.sum()):
        raise ModelFileError(f"{where}.n_rows is {n_rows:,}, more than the {total.sum():,} that are counted")
    if sketch is None or by_class.dtype.kind != "i" or n_rows != int(total.sum()):
        return  # weighted: a sum of weights does not tell the rows
    if not np.array_equal(np.trim_zeros(total, "b"), np.trim_zeros(sketch["n_by_class"], "b")):
        raise ModelFileError(f"{where}.sketch.n_by_class differs from the counts of the root")
