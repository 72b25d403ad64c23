"""Check the parts of a model against its tree: samples, prunings, sequences, and the choice of a member.

Each function takes the fields of a part by name, as they are read from a file or taken from a model that is written.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data.table import Schema
from ..errors import ModelFileError
from ._checks import (
    Structure,
    check_changes,
    check_counts,
    check_members,
    check_moments,
    check_node_labels,
    check_steps,
)
from ._fields import check_lengths
from ._json import Document
from ._provenance import check_number_of_rows
from ._values import read_int

Fields = Mapping[str, Any]


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
