"""Documents as nouns. Every part is proved (`_prove`) before the noun is made of it."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ..data.arrays import Array, sealed
from ..data.table import Column, Schema
from ..errors import ModelFileError, SecateurError
from ..nouns import Bound, Members, Model, Pruning, PruningSequence, Sample, Selection, Surrogates, Tree
from ..nouns.surrogates import DTYPES as SURROGATES
from . import _prove
from ._certificate import checked
from ._prove import Shape
from ._rows import Rows, key_in, sketch_in
from ._samples import numbers_in, one_of, sample_in
from ._text import Document, Json, check_keys, described
from ._values import (
    MOST_NAME,
    MOST_TEXT,
    labels_in,
    list_in,
    plain_in,
    real_in,
    real_number_in,
    scalars_in,
    text_in,
    truth_in,
    whole_in,
    whole_number_in,
)
from ._versions import from_version_1
from ._write import BOUND_FIELDS, COUNTS_FORMAT, MODEL_FORMAT, TESTS, VERSION

_DTYPES: dict[str, type[np.integer]] = {
    "feature": np.int32, "branch_start": np.int64, "branch": np.uint16, "default": np.int32, "birth": np.int32,
    "ids": np.int32,
}  # fmt: skip
_MODEL_KEYS = (
    "format", "version", "schema", "tree", "pruning", "grown", "holdout", "sequence", "selection", "certificate",
    "parameters", "facts", "rows",
)  # fmt: skip
_SEQUENCE_KEYS = ("rule", "nested", "seen", "numbers", "n_leaves", "errors", "alphas", "node_labels")
_SELECTION_KEYS = (
    "rule", "sample", "judges", "n", "best", "chosen", "sequence", "error", "se", "betas", "fold_error", "counts",
    "growing", "pool", "details",
)  # fmt: skip


def check_format(document: Document, wanted: str) -> None:
    """Refuse other formats and other versions, with the way out."""
    found, version = document.get("format"), document.get("version")
    other = {MODEL_FORMAT: "load_model reads it", COUNTS_FORMAT: "load_counts reads it"}
    if found != wanted:
        hint = f"; {other[found]}" if isinstance(found, str) and found in other else ""
        raise ModelFileError(f'its "format" is {described(found)}; {wanted!r} is needed{hint}')
    whole_number_in(version, '"version"', least=1)
    assert isinstance(version, int)
    if version > VERSION:
        raise ModelFileError(
            f"it is version {version} of the format, and this secateur reads up to version {VERSION}; install a newer "
            "secateur, or save the model again with an older one"
        )


def read_model(document: Document) -> Model:
    """The model in a document; every failure is a `ModelFileError`."""
    check_format(document, MODEL_FORMAT)
    try:
        document = from_version_1(document)
        check_keys(document, "the file", _MODEL_KEYS)
        return _model(document)
    except ModelFileError:
        raise
    except SecateurError as error:  # a second line: what a noun refuses that the proofs let through
        raise ModelFileError(str(error)) from error


def read_counts(document: Document, tree: Tree | None) -> tuple[Sample, str]:
    """The counts in a document, on `tree` or on their bare structure, and the fingerprint of their tree."""
    check_format(document, COUNTS_FORMAT)
    document = from_version_1(document)
    check_keys(document, "the file", ("format", "version", "fingerprint", "parent", "key", "counts"))
    shape = _prove.prove_shape(whole_in(document["parent"], "parent"))
    if tree is not None and not np.array_equal(shape.parent, tree.parent):
        raise ModelFileError(
            f"the counts are of another tree, of {shape.n_nodes:,} nodes, than the one given, of {tree.n_nodes:,}"
        )
    mark = text_in(document["fingerprint"], "fingerprint")
    try:
        key = key_in(document["key"], np.iinfo(np.int32).max)
        if tree is None:
            tree = Tree(shape.parent, key=key)
        counts = sample_in(document["counts"], shape, tree, "counts")
        return (counts if key == tree.key else replace(counts, sketch=None)), mark
    except ModelFileError:
        raise
    except SecateurError as error:
        raise ModelFileError(str(error)) from error


def _model(document: Document) -> Model:
    schema = None if document["schema"] is None else _schema(document["schema"])
    shape, tests = _tests(document["tree"], schema)
    tree, rows = _remembered(document, shape, schema, tests)
    grown = sample_in(document["grown"], shape, tree, "grown")
    n_classes = grown.n_labels or None
    if schema is not None and n_classes != (known := None if schema.classes is None else len(schema.classes)):
        raise ModelFileError(
            f"grown holds {'moments' if n_classes is None else f'counts of {n_classes} classes'}; schema.classes has "
            f"{'none' if known is None else known}, and they must fit"
        )
    holdout = None if document["holdout"] is None else sample_in(document["holdout"], shape, tree, "holdout")
    if holdout is not None and type(holdout) is not type(grown):
        raise ModelFileError("grown and holdout must both be counts or both be moments")
    pruning = _pruning(document["pruning"], shape, tree, n_classes, rows)
    sequence = None
    if document["sequence"] is not None:
        sequence = _sequence(document["sequence"], "sequence", shape, pruning, n_classes, rows)
    selection = None
    if document["selection"] is not None:
        selection = _selection(document["selection"], shape, pruning, grown, holdout, sequence, rows)
    certificate = None if document["certificate"] is None else _bound(document["certificate"])
    parameters, facts = (_dictionary(document[name], name) for name in ("parameters", "facts"))
    model = checked(Model(pruning, grown, holdout, sequence, selection, certificate, parameters, facts))
    rows.fill(tree.ledger, sequence)
    return model


def _remembered(document: Document, shape: Shape, schema: Schema | None, tests: dict[str, Any]) -> tuple[Tree, Rows]:
    """The tree with what it knows of rows, and the part of the file that tells it."""
    part = document["rows"]
    if part is None:  # version 1
        part = {"key": None, "history": [], "samples": [], "looks": []}
    check_keys(part, "rows", ("key", "history", "samples", "looks"))
    n_columns = np.iinfo(np.int32).max if schema is None else len(schema.columns)
    tree = Tree(shape.parent, schema=schema, key=key_in(part["key"], n_columns), **tests)
    held = {}
    for name in ("grown", "holdout"):
        sample = document[name]
        held[name] = (
            sketch_in(sample.get("sketch"), tree.row_key, f"{name}.sketch") if isinstance(sample, dict) else None
        )
    rows = Rows(part, tree, held)
    return (replace(tree, history=rows.history) if rows.history else tree), rows


def _schema(part: Json) -> Schema:
    check_keys(part, "schema", ("has_names", "has_numeric_target", "classes", "columns"))
    columns = list_in(part["columns"], "schema.columns")
    schema = Schema(
        tuple(_column(column, f"schema.columns[{i}]") for i, column in enumerate(columns)),
        None if part["classes"] is None else labels_in(part["classes"], "schema.classes"),
        truth_in(part["has_names"], "schema.has_names"),
        truth_in(part["has_numeric_target"], "schema.has_numeric_target"),
    )
    _prove.prove_schema(schema)
    return schema


def _column(part: Json, where: str) -> Column:
    check_keys(part, where, ("name", "kind", "has_missing"), ("categories", "is_date"))
    kind = one_of(part["kind"], f"{where}.kind", "numeric", "nominal")
    categories: tuple[Json, ...] = ()
    if kind == "nominal" or "categories" in part:
        categories = tuple(scalars_in(part.get("categories"), f"{where}.categories"))
    kinds: dict[str, Literal["numeric", "nominal"]] = {"numeric": "numeric", "nominal": "nominal"}
    has_missing = truth_in(part["has_missing"], f"{where}.has_missing")
    is_date = truth_in(part.get("is_date", False), f"{where}.is_date")
    return Column(text_in(part["name"], f"{where}.name"), kinds[kind], categories, has_missing, is_date)


def _tests(part: Json, schema: Schema | None) -> tuple[Shape, dict[str, Any]]:
    """The structure of the tree and the arrays of its tests, which fit it and the columns."""
    check_keys(part, "tree", ("parent",), (*TESTS, "surrogates"))
    shape = _prove.prove_shape(whole_in(part["parent"], "tree.parent"))
    n = shape.n_nodes
    arrays: dict[str, Any] = {}
    for name in TESTS:
        if name in part:
            length = {"branch_start": n + 1, "branch": None}.get(name, n)
            where = f"tree.{name}"
            is_real = name in ("threshold", "rounded", "score")
            arrays[name] = (
                real_in(part[name], where, length) if is_real else whole_in(part[name], where, length, _DTYPES[name])
            )
    _prove.prove_tests(shape, schema, arrays)
    if "surrogates" in part:
        arrays["surrogates"] = _surrogates(part["surrogates"])
    return shape, arrays


def _surrogates(part: Json) -> Surrogates:
    """The surrogates, which prove themselves when they are made; that they fit the tree, when it is."""
    check_keys(part, "tree.surrogates", tuple(SURROGATES))
    read = {name: (part[name], f"tree.surrogates.{name}", None) for name in SURROGATES}
    is_real = {"threshold", "agreement"}
    return Surrogates(**{n: real_in(*r) if n in is_real else whole_in(*r, SURROGATES[n]) for n, r in read.items()})


def _pruning(part: Json, shape: Shape, tree: Tree, n_classes: int | None, rows: Rows) -> Pruning:
    check_keys(part, "pruning", ("rule", "certified", "note", "seen", "cuts", "node_labels"))
    is_leaf = _prove.prove_cuts(shape, whole_in(part["cuts"], "pruning.cuts"), "pruning.cuts")
    return Pruning(
        tree,
        sealed(is_leaf),
        _labels(part["node_labels"], "pruning.node_labels", shape, n_classes),
        rows.seen(list_in(part["seen"], "pruning.seen"), "pruning.seen"),
        text_in(part["rule"], "pruning.rule"),
        None if part["certified"] is None else truth_in(part["certified"], "pruning.certified"),
        text_in(part["note"], "pruning.note", MOST_TEXT),
    )


def _sequence(
    part: Json, where: str, shape: Shape, pruning: Pruning, n_classes: int | None, rows: Rows
) -> PruningSequence:
    is_nested = isinstance(part, dict) and "steps" in part
    check_keys(part, where, (*_SEQUENCE_KEYS, *(("steps",) if is_nested else ("change_start", "changes"))))
    n_leaves = whole_in(part["n_leaves"], f"{where}.n_leaves", dtype=np.int64)
    n = len(n_leaves)
    if n == 0:
        raise ModelFileError(f"{where}.n_leaves is empty; at least one member is needed")
    _prove.prove_rising(-n_leaves, f"{where}.n_leaves, turned round,")
    alphas = None if part["alphas"] is None else real_in(part["alphas"], f"{where}.alphas", n)
    if alphas is not None:
        _prove.prove_rising(alphas, f"{where}.alphas")
    _prove.prove_members(shape, n, where)
    steps = members = None
    if is_nested:
        steps = whole_in(part["steps"], f"{where}.steps", shape.n_nodes)
        _prove.prove_steps(shape, steps, n_leaves, where)
    else:
        start = whole_in(part["change_start"], f"{where}.change_start", n + 1, np.int64)
        changes = whole_in(part["changes"], f"{where}.changes")
        _prove.prove_changes(shape, start, changes, n_leaves, where)
        if truth_in(part["nested"], f"{where}.nested") and len(np.unique(changes)) < len(changes):
            raise ModelFileError(f"{where}.nested is true, but a node tests again after it was cut; false is needed")
        members = Members(shape.parent, sealed(shape.is_leaf), start, changes)
    labels = part["node_labels"]
    return PruningSequence(
        pruning.tree,
        n_leaves,
        numbers_in(part["errors"], part["numbers"], f"{where}.errors", n),
        alphas,
        steps,
        members,
        pruning.node_labels if labels == "pruning" else _labels(labels, f"{where}.node_labels", shape, n_classes),
        rows.seen(list_in(part["seen"], f"{where}.seen"), f"{where}.seen"),
        text_in(part["rule"], f"{where}.rule"),
        truth_in(part["nested"], f"{where}.nested"),
    )


def _selection(
    part: Json,
    shape: Shape,
    pruning: Pruning,
    grown: Sample,
    holdout: Sample | None,
    sequence: PruningSequence | None,
    rows: Rows,
) -> Selection:
    check_keys(part, "selection", _SELECTION_KEYS)
    if part["sequence"] == "sequence":
        if sequence is None:
            raise ModelFileError("selection.sequence names the sequence of the model, which is null")
        members = sequence
    else:
        members = _sequence(part["sequence"], "selection.sequence", shape, pruning, grown.n_labels or None, rows)
    n, counts, folds = len(members), part["counts"], part["fold_error"]
    if counts is not None and not isinstance(counts, str):
        counts = sample_in(counts, shape, pruning.tree, "selection.counts")
    elif counts is not None:
        counts = {"grown": grown, "holdout": holdout}[one_of(counts, "selection.counts", "grown", "holdout")]
    by_fold = None
    if folds is not None:
        read = [real_in(row, f"selection.fold_error[{i}]", n) for i, row in enumerate(list_in(folds, "fold_error"))]
        by_fold = sealed(np.array(read).reshape(len(read), n))
    return Selection(
        members,
        real_in(part["error"], "selection.error", n),
        real_in(part["se"], "selection.se", n),
        whole_number_in(part["best"], "selection.best", most=n - 1),
        whole_number_in(part["chosen"], "selection.chosen", most=n - 1),
        text_in(part["rule"], "selection.rule"),
        text_in(part["sample"], "selection.sample"),
        _rows(part["n"], "selection.n"),
        None if part["betas"] is None else real_in(part["betas"], "selection.betas", n),
        by_fold,
        counts,
        _dictionary(part["growing"], "selection.growing"),
        tuple(_dictionary(one, "selection.pool") for one in list_in(part["pool"], "selection.pool")),
        _dictionary(part["details"], "selection.details"),
        rows.seen(list_in(part["judges"], "selection.judges"), "selection.judges"),
    )


def _bound(part: Json) -> Bound:
    check_keys(part, "certificate", (*BOUND_FIELDS, "details"))
    fields: Document = {}
    for name in BOUND_FIELDS:
        where = f"certificate.{name}"
        if name in ("method", "reason", "sample", "predictor", "quantity", "freshness"):
            fields[name] = text_in(part[name], where, MOST_TEXT if name in ("reason", "freshness") else MOST_NAME)
        elif name in ("certified", "is_checked"):
            fields[name] = truth_in(part[name], where)
        elif name in ("n", "errors"):
            fields[name] = _rows(part[name], where)
        else:
            fields[name] = real_number_in(part[name], where)
    return Bound(**fields, details=_dictionary(part["details"], "certificate.details"))


def _rows(value: Json, where: str) -> Json:
    """A number of rows, or their weight."""
    number = real_number_in(value, where)
    if not 0 <= number < float("inf"):
        raise ModelFileError(f"{where} is {described(value)}; a number of 0 or more is needed")
    return number


def _labels(values: Json, where: str, shape: Shape, n_classes: int | None) -> Array | None:
    if values is None:
        return None
    labels = whole_in(values, where, shape.n_nodes)
    _prove.prove_labels(labels, n_classes, where)
    return labels


def _dictionary(value: Json, where: str) -> Document:
    found = plain_in(value, where)
    if not isinstance(found, dict):
        raise ModelFileError(f"{where} is {described(value)}; an object is needed")
    return found
