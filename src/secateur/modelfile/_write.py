"""Write models and counts as documents: dictionaries of plain values, ready to become JSON.

Every part is checked by the functions that check it on reading, so that every written file can be read.
"""

import hashlib
import json

import numpy as np

from .._utils.arrays import Array, Bools, Ints, Longs, equal_values
from ..core import (
    Bound,
    MemberChanges,
    Model,
    Moments,
    Pruning,
    PruningSequence,
    RuleProvenance,
    Sample,
    Selection,
    Tree,
)
from ..core.tree import blank_tests
from ..data.table import Column, Schema
from ..errors import ModelFileError
from ._certificate import check_claims
from ._checks import Structure, check_schema, check_splits
from ._fields import REQUIRED_KEYS, write_fields
from ._json import Document, Json
from ._parts import check_node_labels, check_sample, check_sample_fits_schema, check_sequence
from ._provenance import write_row_key, write_rows, write_sketch
from ._values import read_text, write_array, write_labels, write_plain, write_scalars
from ._versions import COUNTS_FORMAT, MODEL_FORMAT, VERSION

MAX_CELLS = 1 << 31  # members x nodes that are examined, of a sequence that is not nested
MAX_CHANGES = 20_000_000  # between the members of a sequence


def write_model_document(model: Model, *, sketch: bool = True) -> Document:
    """Return the document of a model; `sketch=False` omits the sketches of rows.

    An object that two parts share is written once, and the other part refers to it by name.
    """
    check_claims(model)
    structure = _structure_of(model.tree)
    n_classes = None if model.class_grown is None else model.class_grown.n_classes
    check_sample_fits_schema(n_classes, model.tree.schema)
    holdout = sequence = selection = certificate = None
    if model.holdout is not None:
        holdout = _write_sample(model.holdout, structure, "holdout", sketch=sketch)
    if model.sequence is not None:
        sequence = _write_sequence(model.sequence, "sequence", model, structure)
    if model.selection is not None:
        selection = _write_selection(model.selection, model, structure)
    if model.certificate is not None:
        certificate = _write_bound(model.certificate)
    return {
        "format": MODEL_FORMAT,
        "version": VERSION,
        "schema": None if model.tree.schema is None else _write_schema(model.tree.schema),
        "tree": _write_tree(model.tree, structure),
        "pruning": _write_pruning(model.pruning, structure, n_classes),
        "grown": _write_sample(model.grown, structure, "grown", sketch=sketch),
        "holdout": holdout,
        "sequence": sequence,
        "selection": selection,
        "certificate": certificate,
        "parameters": write_plain(dict(model.parameters), "parameters"),
        "metadata": write_plain(dict(model.metadata), "metadata"),
        "rows": write_rows(model, sketch=sketch),
    }


def write_counts_document(counts: Sample, *, sketch: bool = True) -> Document:
    """Return the document of one sample, counted on a tree that is identified by its fingerprint."""
    return {
        "format": COUNTS_FORMAT,
        "version": VERSION,
        "fingerprint": tree_fingerprint(counts.tree),
        "parent": write_array(counts.tree.parent),
        "key": write_row_key(counts.tree.key),
        "counts": _write_sample(counts, _structure_of(counts.tree), "counts", sketch=sketch),
    }


def tree_fingerprint(tree: Tree) -> str:
    """Return a fingerprint that two trees share only if they route all rows alike and have the same classes.

    It is a hash of all that decides where a row goes and what the counts mean: structure, splits, columns, classes.

    Examples
    --------
    >>> tree_fingerprint(Tree.from_parents([-1, 0, 0]))[:15]
    'sha256:...'
    """
    digest = hashlib.sha256()
    schema = None if tree.schema is None else _write_schema(tree.schema)
    digest.update(json.dumps(schema, sort_keys=True).encode())
    for name in ("parent", "feature", "threshold", "branch_start", "branch", "default"):
        array = getattr(tree, name)
        array = array.astype(array.dtype.newbyteorder("<"))
        if array.dtype.kind == "f":
            array[np.isnan(array)] = np.nan  # a NaN has many bit patterns
        digest.update(f"{name}{len(array)}".encode())
        digest.update(array.tobytes())
    if tree.surrogates is not None:
        surrogates = write_fields(tree.surrogates, "", REQUIRED_KEYS["surrogates"])
        digest.update(json.dumps(surrogates, sort_keys=True).encode())
    return f"sha256:{digest.hexdigest()}"


def _structure_of(tree: Tree) -> Structure:
    """Return the structure of a tree, which its class has checked."""
    return Structure(tree.parent, tree.end, tree.arity, tree.is_leaf)


def _write_schema(schema: Schema) -> Document:
    check_schema(schema)
    classes = None if schema.classes is None else write_labels(np.asarray(schema.classes), "schema.classes")
    columns = [_write_column(column, f"schema.columns[{i}]") for i, column in enumerate(schema.columns)]
    return write_fields(schema, "schema", REQUIRED_KEYS["schema"], classes=classes, columns=columns)


def _write_column(column: Column, location: str) -> Document:
    document = write_fields(column, location, ("name", "kind", "has_missing"), kind=column.kind)
    if column.kind == "nominal":
        document["categories"] = write_scalars(column.categories, f"{location}.categories")
    if column.is_date:
        document["is_date"] = True
    return document


def _write_tree(tree: Tree, structure: Structure) -> Document:
    """Return the parents, and the arrays that differ from those of a tree without splits."""
    defaults = blank_tests(tree.n_nodes)
    check_splits(structure, tree.schema, {name: getattr(tree, name) for name in defaults})
    names = [name for name, default in defaults.items() if not equal_values(getattr(tree, name), default)]
    document = write_fields(tree, "tree", ("parent", *names))
    if tree.surrogates is not None:
        document["surrogates"] = write_fields(tree.surrogates, "tree.surrogates", REQUIRED_KEYS["surrogates"])
    return document


def _write_sample(counts: Sample, structure: Structure, location: str, *, sketch: bool) -> Document:
    """Return counts or moments, with the sketch of the rows if `sketch` is true."""
    written_sketch = write_sketch(counts.sketch, counts.tree) if sketch else None
    arrays = {name: getattr(counts, name) for name in counts.array_fields}
    sketch_fields = None
    if written_sketch is not None and counts.sketch is not None:
        sketch_fields = {"n_by_class": counts.sketch.n_by_class}
    check_sample(structure, {**arrays, "n_rows": counts.n_rows, "sketch": sketch_fields}, location)
    document: Document = {
        "kind": "counts" if counts.has_classes else "moments",
        "sample": read_text(str(counts.sample), "sample"),
        "n_rows": None if counts.n_rows is None else int(counts.n_rows),
        "sketch": written_sketch,
    }
    if isinstance(counts, Moments):
        return document | write_fields(counts, "sample", counts.array_fields)
    by_class = [write_array(column) for column in counts.by_class.T]
    return {**document, "numbers": "whole" if counts.has_integer_weights else "real", "by_class": by_class}


def _write_pruning(pruning: Pruning, structure: Structure, n_classes: int | None) -> Document:
    check_node_labels(structure, pruning.node_labels, "pruning.node_labels", n_classes)
    provenance = _write_rule_provenance(pruning.provenance, "pruning.provenance")
    return write_fields(pruning, "pruning", REQUIRED_KEYS["pruning"], provenance=provenance)


def _write_rule_provenance(provenance: RuleProvenance | None, location: str) -> Document | None:
    return None if provenance is None else write_fields(provenance, location, REQUIRED_KEYS["provenance"])


def _write_sequence(sequence: PruningSequence, location: str, model: Model, structure: Structure) -> Document:
    """Return a sequence; labels that are those of the model's pruning are written as "pruning"."""
    errors = sequence.errors
    if errors.ndim != 1 or errors.dtype.kind not in "iuf":
        raise ModelFileError(f"{location}.errors are {errors.dtype} values; one number per member is needed")
    if sequence.steps is not None:
        members: dict[str, Array] = {"steps": sequence.steps}
    else:
        changes = _member_changes(sequence)
        members = {"change_start": changes.start, "changes": changes.changes}
    n_classes = None if model.class_grown is None else model.class_grown.n_classes
    fields = {name: getattr(sequence, name) for name in ("n_leaves", "alphas", "errors", "nested", "node_labels")}
    check_sequence(structure, fields | members, location, n_classes)
    written: Document = {
        "numbers": "real" if errors.dtype.kind == "f" else "whole",
        "errors": write_array(errors),
        "provenance": _write_rule_provenance(sequence.provenance, f"{location}.provenance"),
    }
    if sequence.node_labels is not None and equal_values(sequence.node_labels, model.pruning.node_labels):
        written["node_labels"] = "pruning"
    document = write_fields(sequence, location, REQUIRED_KEYS["sequence"], **written)
    return document | {name: write_array(array) for name, array in members.items()}


def _member_changes(sequence: PruningSequence) -> MemberChanges:
    """Return the changes between the members of a sequence that is not nested; refuse a sequence that is too large."""
    if isinstance(sequence.rebuild, MemberChanges):
        return sequence.rebuild
    tree = sequence.tree
    n_cells = len(sequence) * tree.n_nodes
    if n_cells > MAX_CELLS:
        _refuse_sequence(sequence, f"{n_cells:,} nodes to look at; at most {MAX_CELLS:,} are")
    is_inner: Bools = ~tree.is_leaf
    changes: list[Longs] = []
    start = [0]
    for member in sequence:
        changes.append(np.flatnonzero(member.is_kept != is_inner))
        is_inner = member.is_kept
        start.append(start[-1] + len(changes[-1]))
        if start[-1] > MAX_CHANGES:
            _refuse_sequence(sequence, f"more than {MAX_CHANGES:,} changes between them")
    all_changes: Ints = np.concatenate([np.zeros(0, np.int32), *changes], dtype=np.int32)
    return MemberChanges(tree.parent, tree.is_leaf, np.array(start, np.int64), all_changes)


def _refuse_sequence(sequence: PruningSequence, reason: str) -> None:
    raise ModelFileError(
        f"the sequence has {len(sequence):,} members that are not nested ({reason}); make it shorter (max_leaves=), "
        "or save the model without it: dataclasses.replace(model, sequence=None, selection=None)"
    )


def _write_selection(selection: Selection, model: Model, structure: Structure) -> Document:
    """Return the choice of a member; a sequence and counts that the model has are written as their names."""
    fold_error = selection.fold_error
    if selection.error.ndim != 1 or selection.se.ndim != 1 or (fold_error is not None and fold_error.ndim != 2):
        raise ModelFileError("selection.error and se need one number per member, fold_error one row per fold")
    is_model_sequence = model.sequence is not None and selection.sequence is model.sequence
    return write_fields(
        selection,
        "selection",
        REQUIRED_KEYS["selection"],
        rule=read_text(str(selection.select), "selection.rule"),
        sequence="sequence" if is_model_sequence else _write_selection_sequence(selection, model, structure),
        fold_error=None if fold_error is None else [write_array(row) for row in fold_error],
        counts=_write_selection_counts(selection, model, structure),
    )


def _write_selection_sequence(selection: Selection, model: Model, structure: Structure) -> Document:
    return _write_sequence(selection.sequence, "selection.sequence", model, structure)


def _write_selection_counts(selection: Selection, model: Model, structure: Structure) -> Json:
    """Return the counts of a selection: the name of a sample of the model, or the counts without their sketch."""
    counts = selection.counts
    if counts is None:
        return None
    for name, sample in (("holdout", model.holdout), ("grown", model.grown)):
        if counts is sample:
            return name
    return _write_sample(counts, structure, "selection.counts", sketch=False)


def _write_bound(bound: Bound) -> Document:
    return {name: write_plain(getattr(bound, name), f"certificate.{name}") for name in REQUIRED_KEYS["certificate"]}
