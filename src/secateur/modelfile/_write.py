"""Nouns as documents: dictionaries of plain values, ready to become JSON."""

import hashlib
import json

import numpy as np

from .._utils.arrays import Bools, Ints, Longs, equal_values
from ..core import Bound, MemberChanges, Model, Moments, Pruning, PruningSequence, Sample, Selection, Tree
from ..core.tree import blank_tests
from ..data.table import Column, Schema
from ..errors import ModelFileError
from ._fields import NAMES_OF, write_fields
from ._rows import key_out, rows_out, sketch_out
from ._text import Document, Json
from ._values import labels_out, numbers_out, plain_out, scalars_out, text_in

MODEL_FORMAT = "secateur-model"
COUNTS_FORMAT = "secateur-counts"
VERSION = 2
MOST_CELLS = 1 << 31  # members x nodes of a sequence that is not nested
MOST_CHANGES = 20_000_000  # between its members


def model_document(model: Model, *, sketch: bool = True) -> Document:
    """All parts of a model. What two parts share is written once and named in the other.

    Without `sketch` nothing is told of the rows but their number.
    """
    return {
        "format": MODEL_FORMAT,
        "version": VERSION,
        "schema": None if model.tree.schema is None else _schema(model.tree.schema),
        "tree": _tree(model.tree),
        "pruning": _pruning(model.pruning),
        "grown": _sample(model.grown, sketch=sketch),
        "holdout": None if model.holdout is None else _sample(model.holdout, sketch=sketch),
        "sequence": None if model.sequence is None else _sequence(model.sequence, model.pruning),
        "selection": None if model.selection is None else _selection(model.selection, model),
        "certificate": None if model.certificate is None else _bound(model.certificate),
        "parameters": plain_out(dict(model.parameters), "parameters"),
        "facts": plain_out(dict(model.metadata), "facts"),
        "rows": rows_out(model, sketch=sketch),
    }


def counts_document(counts: Sample, *, sketch: bool = True) -> Document:
    """A sample counted on a tree that is known by its structure and its fingerprint."""
    return {
        "format": COUNTS_FORMAT,
        "version": VERSION,
        "fingerprint": tree_fingerprint(counts.tree),
        "parent": numbers_out(counts.tree.parent),
        "key": key_out(counts.tree.key),
        "counts": _sample(counts, sketch=sketch),
    }


def tree_fingerprint(tree: Tree) -> str:
    """Return a fingerprint that two trees share only if they route all rows alike and have the same classes.

    It is a hash of all that decides where a row ends up and what its count means: structure, tests, columns, classes.

    Examples
    --------
    >>> tree_fingerprint(Tree.from_parents([-1, 0, 0]))[:15]
    'sha256:...'
    """
    found = hashlib.sha256()
    schema = None if tree.schema is None else _schema(tree.schema)
    found.update(json.dumps(schema, sort_keys=True).encode())
    for name in ("parent", "feature", "threshold", "branch_start", "branch", "default"):
        array = getattr(tree, name)
        array = array.astype(array.dtype.newbyteorder("<"))
        if array.dtype.kind == "f":
            array[np.isnan(array)] = np.nan  # a NaN has many bit patterns
        found.update(f"{name}{len(array)}".encode())
        found.update(array.tobytes())
    if tree.surrogates is not None:
        found.update(json.dumps(write_fields(tree.surrogates, "", NAMES_OF["surrogates"]), sort_keys=True).encode())
    return f"sha256:{found.hexdigest()}"


def _schema(schema: Schema) -> Document:
    classes = None if schema.classes is None else labels_out(np.asarray(schema.classes), "schema.classes")
    columns = [_column(column, f"schema.columns[{i}]") for i, column in enumerate(schema.columns)]
    return write_fields(schema, "schema", NAMES_OF["schema"], classes=classes, columns=columns)


def _column(column: Column, where: str) -> Document:
    about = write_fields(column, where, ("name", "kind", "has_missing"), kind=column.kind)
    if column.kind == "nominal":
        about["categories"] = scalars_out(column.categories, f"{where}.categories")
    if column.is_date:
        about["is_date"] = True
    return about


def _tree(tree: Tree) -> Document:
    """The parents, and the arrays that are not as they are in a bare structure."""
    names = [name for name, blank in blank_tests(tree.n_nodes).items() if not equal_values(getattr(tree, name), blank)]
    about = write_fields(tree, "tree", ("parent", *names))
    if tree.surrogates is not None:
        about["surrogates"] = write_fields(tree.surrogates, "tree.surrogates", NAMES_OF["surrogates"])
    return about


def _sample(counts: Sample, *, sketch: bool) -> Document:
    about: Document = {
        "kind": "counts" if counts.has_classes else "moments",
        "sample": text_in(str(counts.sample), "sample"),
        "n_rows": None if counts.n_rows is None else int(counts.n_rows),
        "sketch": sketch_out(counts.sketch, counts.tree) if sketch else None,
    }
    if isinstance(counts, Moments):
        return about | write_fields(counts, "sample", counts.kept)
    by_class = [numbers_out(column) for column in counts.by_class.T]
    return {**about, "numbers": "whole" if counts.is_whole else "real", "by_class": by_class}


def _pruning(pruning: Pruning) -> Document:
    """Return the document of a pruning."""
    return write_fields(pruning, "pruning", NAMES_OF["pruning"]) | _provenance(pruning, "pruning")


def _provenance(pruning: Pruning | PruningSequence, where: str) -> Document:
    """Return the provenance of a pruning or a sequence under its key; an empty document if it has none."""
    if pruning.provenance is None:
        return {}
    return {"provenance": write_fields(pruning.provenance, f"{where}.provenance", NAMES_OF["provenance"])}


def _sequence(sequence: PruningSequence, pruning: Pruning) -> Document:
    errors = sequence.errors
    if errors.ndim != 1 or errors.dtype.kind not in "iuf":
        raise ModelFileError(f"sequence.errors are {errors.dtype} values; one number per member is needed")
    given: Document = {"numbers": "real" if errors.dtype.kind == "f" else "whole", "errors": numbers_out(errors)}
    if sequence.node_labels is not None and equal_values(sequence.node_labels, pruning.node_labels):
        given["node_labels"] = "pruning"
    about = write_fields(sequence, "sequence", NAMES_OF["sequence"], **given) | _provenance(sequence, "sequence")
    if sequence.steps is not None:
        return {**about, "steps": numbers_out(sequence.steps)}
    members = _members(sequence)
    return {**about, "change_start": numbers_out(members.start), "changes": numbers_out(members.changes)}


def _selection(selection: Selection, model: Model) -> Document:
    folds = selection.fold_error
    if selection.error.ndim != 1 or selection.se.ndim != 1 or (folds is not None and folds.ndim != 2):
        raise ModelFileError("selection.error and se need one number per member, fold_error one row per fold")
    counts: Json = None if selection.counts is None else _sample(selection.counts, sketch=False)
    for name in ("grown", "holdout"):
        if selection.counts is not None and selection.counts is getattr(model, name):
            counts = name
    is_shared = model.sequence is not None and selection.sequence is model.sequence
    return write_fields(
        selection,
        "selection",
        NAMES_OF["selection"],
        rule=text_in(str(selection.select), "selection.rule"),
        sequence="sequence" if is_shared else _sequence(selection.sequence, model.pruning),
        fold_error=None if folds is None else [numbers_out(row) for row in folds],
        counts=counts,
    )


def _bound(bound: Bound) -> Document:
    return {name: plain_out(getattr(bound, name), f"certificate.{name}") for name in NAMES_OF["certificate"]}


def _members(sequence: PruningSequence) -> MemberChanges:
    """The changes of a sequence that is not stored as steps; refused where they are too many."""
    if isinstance(sequence.rebuild, MemberChanges):
        return sequence.rebuild
    tree, n_cells = sequence.tree, len(sequence) * sequence.tree.n_nodes
    why = f"{n_cells:,} nodes to look at; at most {MOST_CELLS:,} are" if n_cells > MOST_CELLS else ""
    before: Bools = ~tree.is_leaf
    found: list[Longs] = []
    start = [0]
    for member in () if why else sequence:
        found.append(np.flatnonzero(member.is_kept != before))
        before = member.is_kept
        start.append(start[-1] + len(found[-1]))
        if start[-1] > MOST_CHANGES:
            why = f"more than {MOST_CHANGES:,} changes between them"
            break
    if why:
        raise ModelFileError(
            f"the sequence has {len(sequence):,} members that are not nested ({why}); make it shorter (max_leaves=), "
            "or save the model without it: dataclasses.replace(model, sequence=None, selection=None)"
        )
    changes: Ints = np.concatenate([np.zeros(0, np.int32), *found], dtype=np.int32)
    return MemberChanges(tree.parent, tree.is_leaf, np.array(start, np.int64), changes)
