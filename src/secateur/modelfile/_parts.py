"""Check the parts of a model against its tree: samples, prunings, sequences, and the choice of a member.

`check_sample`, `check_sequence` and `check_selection` take the fields of a part by name, as they are read from a file
or taken from a model that is written.
"""

import numpy as np

from .._utils.arrays import Array, Floats, Ints
from ..data.table import Schema
from ..errors import ModelFileError
from ._checks import Structure, check_counts, check_entries, check_moments
from ._fields import check_lengths
from ._json import Document
from ._provenance import check_number_of_rows
from ._values import read_int


def check_sample(structure: Structure, fields: Document, location: str) -> None:
    """Check counts, of shape (nodes, classes), or moments, and the number of rows behind them."""
    by_class = None
    if "by_class" in fields:
        by_class = fields["by_class"].T
        check_counts(structure, by_class, location)
    else:
        check_lengths(fields, location, structure.n_nodes, "weight", "mean", "sse")
        check_moments(structure, fields["weight"], fields["mean"], fields["sse"], location)
    check_number_of_rows(by_class, fields["n_rows"], fields["sketch"], location)


def check_sample_fits_schema(n_classes: int | None, schema: Schema | None) -> None:
    """Check that the growing sample has the classes of the schema; moments have none."""
    if schema is None:
        return
    expected = None if schema.classes is None else len(schema.classes)
    if n_classes != expected:
        sample = "moments" if n_classes is None else f"counts of {n_classes} classes"
        classes = "none" if expected is None else expected
        raise ModelFileError(f"grown holds {sample}; schema.classes has {classes}, and they must fit")


def check_sequence(structure: Structure, fields: Document, location: str, n_classes: int | None) -> None:
    """Check the members of a sequence, given by `steps` or by `change_start` and `changes`, and their labels."""
    n_leaves = fields["n_leaves"]
    check_members(structure, n_leaves, fields["alphas"], location)
    if "steps" in fields:
        check_lengths(fields, location, structure.n_nodes, "steps")
        check_steps(structure, fields["steps"], n_leaves, location)
    else:
        check_lengths(fields, location, len(n_leaves) + 1, "change_start")
        changes = fields["changes"]
        check_changes(structure, fields["change_start"], changes, n_leaves, location)
        if fields["nested"] and len(np.unique(changes)) < len(changes):
            raise ModelFileError(f"{location}.nested is true, but a node tests again after it was cut; false is needed")
    check_lengths(fields, location, len(n_leaves), "errors")
    check_node_labels(structure, fields["node_labels"], f"{location}.node_labels", n_classes)


def check_selection(fields: Document, n_members: int) -> None:
    """Check that a choice has one number per member, and that its members exist."""
    check_lengths(fields, "selection", n_members, "error", "se", "betas")
    for name in ("best", "chosen"):
        read_int(fields[name], f"selection.{name}", maximum=n_members - 1)


def check_cuts(structure: Structure, cuts: Ints, location: str) -> None:
    """Check that cuts are inner nodes in ascending order, none of them below another."""
    is_invalid = (cuts < 0) | (cuts >= structure.n_nodes)
    check_entries(is_invalid, location, cuts, "the number of a node is needed")
    check_entries(structure.arity[cuts] == 0, location, cuts, "the node is a leaf anyway")
    is_inside = cuts[1:] < structure.end[cuts[:-1]]
    check_entries(is_inside, location, cuts[1:], "it does not come after the subtree before it", first=1)


def check_node_labels(structure: Structure, labels: Ints | None, location: str, n_classes: int | None) -> None:
    """Check that there is a label for each node, if there are labels, and that each is the number of a class."""
    if labels is None:
        return
    if len(labels) != structure.n_nodes:
        raise ModelFileError(f"{location} has {len(labels):,} entries; {structure.n_nodes:,} are needed")
    limit = 1 << 31 if n_classes is None else n_classes
    is_invalid = (labels < 0) | (labels >= limit)
    check_entries(is_invalid, location, labels, f"a class number below {limit:,} is needed")


def check_members(structure: Structure, n_leaves: Ints, alphas: Floats | None, location: str) -> None:
    """Check that a sequence has members, at most one per node, whose sizes do not rise and penalties do not fall."""
    n_members = len(n_leaves)
    if n_members == 0:
        raise ModelFileError(f"{location}.n_leaves is empty; at least one member is needed")
    check_ascending(-n_leaves, f"{location}.n_leaves, turned round,")
    if alphas is not None:
        if len(alphas) != n_members:
            raise ModelFileError(f"{location}.alphas has {len(alphas):,} entries; {n_members:,} are needed")
        check_ascending(alphas, f"{location}.alphas")
    if n_members > structure.n_nodes:  # commands show every member, so that their number must be bounded by the file
        raise ModelFileError(
            f"{location}.n_leaves has {n_members:,} members, more than the {structure.n_nodes:,} nodes of the tree: "
            "some are equal; keep one of each"
        )


def check_ascending(values: Array, location: str) -> None:
    """Check that numbers do not fall and none is NaN."""
    check_entries(np.isnan(values), location, values, "a number is needed")
    is_falling = values[1:] < values[:-1]
    check_entries(is_falling, location, values[1:], "numbers that do not fall are needed", first=1)


def check_steps(structure: Structure, steps: Ints, n_leaves: Ints, location: str) -> None:
    """Check the members of a nested sequence: `steps` is the first member in which each node is not an inner node.

    No node may remain an inner node longer than its parent, and each member must have as many leaves as `n_leaves`.
    """
    n_members = len(n_leaves)
    is_invalid = (steps < 0) | (steps >= n_members)
    check_entries(is_invalid, f"{location}.steps", steps, f"a member below {n_members:,} is needed")
    is_invalid = structure.is_leaf & (steps != 0)
    check_entries(is_invalid, f"{location}.steps", steps, "the node is a leaf: 0 is needed")
    step_of_parent = steps[structure.parent[1:]]
    is_invalid = steps[1:] > step_of_parent
    check_entries(is_invalid, f"{location}.steps", steps[1:], "the parent has less; a node ends first", first=1)
    # A node is a leaf from its own step until the step of its parent.
    n_new_leaves = np.bincount(steps, minlength=n_members + 1)
    n_removed_leaves = np.bincount(np.append(n_members, step_of_parent), minlength=n_members + 1)
    counted = np.cumsum(n_new_leaves - n_removed_leaves)[:n_members]
    is_invalid = counted != n_leaves
    check_entries(is_invalid, f"{location}.n_leaves", n_leaves, "the member has another number of leaves")


def check_changes(structure: Structure, start: Array, changes: Ints, n_leaves: Ints, location: str) -> None:
    """Check the members of a sequence that is given by the nodes that change from each member to the next.

    In every member, an inner node must have an inner parent, and there may be no more leaves than `n_leaves`. Only
    nodes that change can violate this, so the time is linear in the changes, whatever the number of members.
    """
    if start[0] != 0 or (np.diff(start) < 0).any() or start[-1] != len(changes):
        raise ModelFileError(f"{location}.change_start must rise from 0 to {len(changes):,}, the length of changes")
    is_invalid = (changes < 0) | (changes >= structure.n_nodes)
    check_entries(is_invalid, f"{location}.changes", changes, "the number of a node is needed")
    check_entries(structure.arity[changes] == 0, f"{location}.changes", changes, "the node is a leaf anyway")
    member = _Member(structure)
    bounds, changed_nodes = start.tolist(), changes.tolist()
    for i, max_leaves in enumerate(n_leaves.tolist()):
        nodes = changed_nodes[bounds[i] : bounds[i + 1]]
        for previous, v in zip([-1, *nodes], nodes, strict=False):
            if v <= previous:
                raise ModelFileError(f"{location}.changes of member {i} must rise; {v} follows {previous}")
            member.toggle(v)
        for v in nodes:
            if not member.is_valid_at(v):
                raise ModelFileError(f"{location}.changes of member {i}: node {v} leaves a test under a leaf")
        if member.n_leaves > max_leaves:
            raise ModelFileError(f"{location}.n_leaves[{i}] is {max_leaves}; the member has {member.n_leaves:,} leaves")


class _Member:
    """A member of a sequence, of which nodes become leaves and inner nodes in turn; at first the grown tree."""

    def __init__(self, structure: Structure) -> None:
        is_inner = ~structure.is_leaf
        n_inner_children = np.bincount(structure.parent[1:], weights=is_inner[1:], minlength=structure.n_nodes)
        self.parent: list[int] = structure.parent.tolist()
        self.arity: list[int] = structure.arity.tolist()
        self.is_inner: list[bool] = is_inner.tolist()
        self.n_inner_children: list[int] = n_inner_children.astype(int).tolist()
        self.n_leaves = int(np.count_nonzero(structure.is_leaf))

    def toggle(self, v: int) -> None:
        """Make a leaf an inner node, or an inner node a leaf."""
        self.is_inner[v] = not self.is_inner[v]
        sign = 1 if self.is_inner[v] else -1
        self.n_leaves += sign * (self.arity[v] - 1)
        if v > 0:
            self.n_inner_children[self.parent[v]] += sign

    def is_valid_at(self, v: int) -> bool:
        """Return whether an inner node has an inner parent, or a leaf no inner child."""
        if self.is_inner[v]:
            return v == 0 or self.is_inner[self.parent[v]]
        return self.n_inner_children[v] == 0
