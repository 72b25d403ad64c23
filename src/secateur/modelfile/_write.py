"""Nouns as documents: dictionaries of plain values, ready to become JSON."""

import hashlib
import json
from collections.abc import Iterable

import numpy as np

from ..data.arrays import same
from ..data.table import Column, Schema
from ..errors import ModelFileError
from ..nouns import Bound, Model, Moments, Pruning, PruningSequence, Sample, Selection, Surrogates, Tree
from ..nouns.surrogates import DTYPES as SURROGATES
from ._members import members_of
from ._rows import key_out, rows_out, sketch_out
from ._text import Document, Json
from ._values import MOST_TEXT, labels_out, numbers_out, plain_out, scalars_out, text_in

MODEL_FORMAT = "secateur-model"
COUNTS_FORMAT = "secateur-counts"
VERSION = 2
TESTS = ("feature", "threshold", "branch_start", "branch", "default", "score", "birth", "ids", "rounded")


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
        "facts": plain_out(dict(model.facts), "facts"),
        "rows": rows_out(model, sketch=sketch),
    }


def counts_document(counts: Sample, *, sketch: bool = True) -> Document:
    """A sample counted on a tree that is known by its structure and its fingerprint."""
    return {
        "format": COUNTS_FORMAT,
        "version": VERSION,
        "fingerprint": fingerprint(counts.tree),
        "parent": numbers_out(counts.tree.parent),
        "key": key_out(counts.tree.key),
        "counts": _sample(counts, sketch=sketch),
    }


def fingerprint(tree: Tree) -> str:
    """A hash of all that decides where a row ends up and what its count means: structure, tests, columns, classes."""
    found = hashlib.sha256()
    schema = None if tree.schema is None else _schema(tree.schema)
    found.update(json.dumps(schema, sort_keys=True).encode())
    for name, dtype in (
        ("parent", "<i4"), ("feature", "<i4"), ("threshold", "<f8"), ("branch_start", "<i8"), ("branch", "<u2"),
        ("default", "<i4"),
    ):  # fmt: skip
        array = getattr(tree, name).astype(dtype)
        if array.dtype.kind == "f":
            array[np.isnan(array)] = np.nan  # a NaN has many bit patterns
        found.update(f"{name}{len(array)}".encode())
        found.update(array.tobytes())
    if tree.surrogates is not None:
        found.update(json.dumps(_surrogates(tree.surrogates), sort_keys=True).encode())
    return f"sha256:{found.hexdigest()}"


def _schema(schema: Schema) -> Document:
    return {
        "has_names": bool(schema.has_names),
        "has_numeric_target": bool(schema.has_numeric_target),
        "classes": None if schema.classes is None else labels_out(np.asarray(schema.classes), "schema.classes"),
        "columns": [_column(column, f"schema.columns[{i}]") for i, column in enumerate(schema.columns)],
    }


def _column(column: Column, where: str) -> Document:
    about: Document = {
        "name": text_in(str(column.name), f"{where}.name"),
        "kind": column.kind,
        "has_missing": bool(column.has_missing),
    }
    if column.kind == "nominal":
        about["categories"] = scalars_out(column.categories, f"{where}.categories")
    if column.is_date:
        about["is_date"] = True
    return about


def _tree(tree: Tree) -> Document:
    """The parents, and the arrays that are not as they are in a bare structure."""
    blank = Tree(tree.parent)
    arrays = {name: getattr(tree, name) for name in TESTS if not same(getattr(tree, name), getattr(blank, name))}
    about = {"parent": numbers_out(tree.parent), **{name: numbers_out(array) for name, array in arrays.items()}}
    return about if tree.surrogates is None else {**about, "surrogates": _surrogates(tree.surrogates)}


def _surrogates(surrogates: Surrogates) -> Document:
    return {name: numbers_out(getattr(surrogates, name)) for name in SURROGATES}


def _pruning(pruning: Pruning) -> Document:
    return {
        "rule": text_in(str(pruning.rule), "pruning.rule"),
        "certified": None if pruning.certified is None else bool(pruning.certified),
        "note": text_in(str(pruning.note), "pruning.note", MOST_TEXT),
        "seen": _names(pruning.seen, "pruning.seen"),
        "cuts": numbers_out(pruning.cuts),
        "node_labels": None if pruning.node_labels is None else numbers_out(pruning.node_labels),
    }


def _sample(counts: Sample, *, sketch: bool) -> Document:
    about: Document = {
        "sample": text_in(str(counts.sample), "sample"),
        "n_rows": None if counts.n_rows is None else int(counts.n_rows),
        "sketch": sketch_out(counts.sketch, counts.tree) if sketch else None,
    }
    if isinstance(counts, Moments):
        arrays = {name: numbers_out(getattr(counts, name)) for name in ("weight", "mean", "spread")}
        return {"kind": "moments", **about, **arrays}
    by_class = [numbers_out(column) for column in counts.by_class.T]
    return {"kind": "counts", **about, "numbers": "whole" if counts.is_whole else "real", "by_class": by_class}


def _sequence(sequence: PruningSequence, pruning: Pruning) -> Document:
    labels: Json = None if sequence.node_labels is None else numbers_out(sequence.node_labels)
    if sequence.node_labels is not None and same(sequence.node_labels, pruning.node_labels):
        labels = "pruning"
    if sequence.errors.ndim != 1 or sequence.errors.dtype.kind not in "iuf":
        raise ModelFileError(f"sequence.errors are {sequence.errors.dtype} values; one number per member is needed")
    about: Document = {
        "rule": text_in(str(sequence.rule), "sequence.rule"),
        "nested": bool(sequence.nested),
        "seen": _names(sequence.seen, "sequence.seen"),
        "numbers": "real" if sequence.errors.dtype.kind == "f" else "whole",
        "n_leaves": numbers_out(sequence.n_leaves),
        "errors": numbers_out(sequence.errors),
        "alphas": None if sequence.alphas is None else numbers_out(sequence.alphas),
        "node_labels": labels,
    }
    if sequence.steps is not None:
        return {**about, "steps": numbers_out(sequence.steps)}
    members = members_of(sequence)
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
    return {
        "rule": text_in(str(selection.select), "selection.rule"),
        "sample": text_in(str(selection.sample), "selection.sample"),
        "judges": _names(selection.judges, "selection.judges"),
        "n": plain_out(selection.n, "selection.n"),
        "best": int(selection.best),
        "chosen": int(selection.chosen),
        "sequence": "sequence" if is_shared else _sequence(selection.sequence, model.pruning),
        "error": numbers_out(selection.error),
        "se": numbers_out(selection.se),
        "betas": None if selection.betas is None else numbers_out(selection.betas),
        "fold_error": None if folds is None else [numbers_out(row) for row in folds],
        "counts": counts,
        "growing": plain_out(dict(selection.growing), "selection.growing"),
        "pool": [plain_out(dict(one), "selection.pool") for one in selection.pool],
        "details": plain_out(dict(selection.details), "selection.details"),
    }


def _bound(bound: Bound) -> Document:
    about = {name: plain_out(getattr(bound, name), f"certificate.{name}") for name in BOUND_FIELDS}
    return {**about, "details": plain_out(dict(bound.details), "certificate.details")}


BOUND_FIELDS = (
    "value", "delta", "method", "n", "errors", "complexity", "certified", "reason", "sample", "predictor",
    "quantity", "scale", "freshness", "is_checked",
)  # fmt: skip


def _names(seen: Iterable[str], where: str) -> list[str]:
    return [text_in(str(name), where) for name in sorted(seen)]
