"""Write models and counts as documents: dictionaries of plain values, ready to become JSON.

Every part is checked by the functions that check it on reading, so that every written file can be read. An object that
two parts share is written once, and the other part refers to it by name.

A sketch of rows is written with its sample. The part `rows` lists all samples that are named anywhere in the model. The
sketch of a listed sample is written there, unless it is that of the growing or the held-out sample.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import NoReturn, TypeAlias

import numpy as np

from .._utils.arrays import Array, Floats, equal_values
from ..core import (
    EvaluationRecord,
    MemberChanges,
    Model,
    Moments,
    Pruning,
    PruningSequence,
    RuleProvenance,
    Sample,
    SampleUsage,
    Selection,
    TargetRows,
    Tree,
)
from ..core.tree import blank_tests
from ..data.sketch import RowKey, Sketch
from ..data.table import Column, Schema
from ..errors import ModelFileError, PruningError
from ._certificate import check_claims
from ._checks import (
    MAX_COLUMNS,
    MAX_TARGET_ROWS,
    check_node_labels,
    check_number_of_entries,
    check_row_key,
    check_sample,
    check_sample_fits_schema,
    check_schema,
    check_sequence,
    check_sketch,
    check_tree,
)
from ._population_groups import write_group_rates, write_populations
from ._values import (
    GROUP_KEYS,
    REPEATS_KEYS,
    REQUIRED_KEYS,
    Document,
    Json,
    optional,
    read_text,
    write_array,
    write_fields,
    write_labels,
    write_plain,
    write_scalars,
)

VERSION = 3
MODEL_FORMAT = "secateur-model"
COUNTS_FORMAT = "secateur-counts"
MAX_CELLS = 1 << 31  # members x nodes that are examined, of a sequence that is not nested
MAX_CHANGES = 20_000_000  # between the members of a sequence

SampleKey: TypeAlias = tuple[bytes | None, str]  # digest of the sketch, and name


def write_model_document(model: Model, *, sketch: bool = True) -> Document:
    """Return the document of a model; `sketch=False` omits the sketches of rows."""
    check_claims(model)
    check_sample_fits_schema(_n_classes(model), model.tree.schema)
    holdout = sequence = selection = certificate = None
    if model.holdout is not None:
        holdout = _write_sample(model.holdout, "holdout", sketch=sketch)
    if model.sequence is not None:
        sequence = _write_sequence(model.sequence, "sequence", model)
    if model.selection is not None:
        selection = _write_selection(model.selection, model)
    group_rates = {"group_rates": write_group_rates(model.group_rates)} if model.group_rates else {}
    if model.certificate is not None:
        keys = REQUIRED_KEYS["certificate"]
        if model.certificate.repeats:  # empty if an earlier version computed the certificate
            keys = (*keys, *REPEATS_KEYS)
        if model.certificate.unit == "group":
            keys = (*keys, *GROUP_KEYS)
        keys = (*keys, *(name for name in ("covers_choice", "assumes") if getattr(model.certificate, name)))
        certificate = {name: write_plain(getattr(model.certificate, name), f"certificate.{name}") for name in keys}
    document: Document = {
        "format": MODEL_FORMAT,
        "version": VERSION,
        "schema": None if model.tree.schema is None else _write_schema(model.tree.schema),
        "tree": _write_tree(model.tree),
        "pruning": _write_pruning(model.pruning, _n_classes(model)),
        "grown": _write_sample(model.grown, "grown", sketch=sketch),
        "holdout": holdout,
        "sequence": sequence,
        "selection": selection,
        "certificate": certificate,
        **group_rates,
        "parameters": write_plain(dict(model.parameters), "parameters"),
        "metadata": write_plain(dict(model.metadata), "metadata"),
        "rows": _write_rows(model, sketch=sketch),
    }
    if _has_calibration(model, sketch=sketch):
        document["calibration"] = _write_calibration(model, sketch=sketch)
    return document


def _has_calibration(model: Model, *, sketch: bool) -> bool:
    """Return whether a model has a calibration that the file can hold: of its pruning, and for numbers with rows."""
    calibration = model.calibration
    if calibration is None or not calibration.fits(model.pruning):
        return False
    return sketch or calibration.sample.has_classes


def _write_calibration(model: Model, *, sketch: bool) -> Document:
    """Return the calibration; a sample that is the held-out sample of the model is written as "holdout"."""
    calibration = model.calibration
    assert calibration is not None
    sample: Json = "holdout"
    if calibration.sample is not model.holdout:
        sample = _write_sample(calibration.sample, "calibration.sample", sketch=sketch)
    return write_fields(calibration, "calibration", REQUIRED_KEYS["calibration"], sample=sample)


def write_counts_document(counts: Sample, *, sketch: bool = True) -> Document:
    """Return the document of one sample, counted on a tree that is identified by its fingerprint."""
    return {
        "format": COUNTS_FORMAT,
        "version": VERSION,
        "fingerprint": tree_fingerprint(counts.tree),
        "parent": write_array(counts.tree.parent),
        "key": _write_row_key(counts.tree.key),
        "counts": _write_sample(counts, "counts", sketch=sketch, has_rows=False),
    }


def _n_classes(model: Model) -> int | None:
    """Return the number of classes of the growing sample; None for a numeric target."""
    return None if model.class_grown is None else model.class_grown.n_classes


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


def _write_tree(tree: Tree) -> Document:
    """Return the parents, and the arrays that differ from those of a tree without splits."""
    check_tree(tree)
    defaults = blank_tests(tree.n_nodes)
    names = [name for name, default in defaults.items() if not equal_values(getattr(tree, name), default)]
    document = write_fields(tree, "tree", ("parent", *names))
    if tree.surrogates is not None:
        document["surrogates"] = write_fields(tree.surrogates, "tree.surrogates", REQUIRED_KEYS["surrogates"])
    if tree.estimate_limits is not None:
        document["estimate_limits"] = _write_limits(tree.estimate_limits)
    return document


def _write_limits(limits: Floats) -> Document:
    """Return the limits of the estimates of the nodes."""
    return {name: write_array(np.ascontiguousarray(limits[:, i])) for i, name in enumerate(("lower", "upper"))}


def _write_pruning(pruning: Pruning, n_classes: int | None) -> Document:
    check_node_labels(pruning.tree, pruning.node_labels, "pruning.node_labels", n_classes)
    provenance = optional(_write_rule_provenance)(pruning.provenance, "pruning.provenance")
    return write_fields(pruning, "pruning", REQUIRED_KEYS["pruning"], provenance=provenance)


def _write_rule_provenance(provenance: RuleProvenance, location: str) -> Document:
    return write_fields(provenance, location, REQUIRED_KEYS["provenance"])


def _write_sample(counts: Sample, location: str, *, sketch: bool, has_rows: bool = True) -> Document:
    """Return counts or moments, with the sketch of the rows if `sketch` is true.

    Moments have the targets of their rows, too, unless `has_rows` is false, as in files of counts: the owner of the
    rows can pass such a file on without the rows.
    """
    written_sketch = _write_sketch(counts.sketch, counts.tree) if sketch else None
    fields = {name: getattr(counts, name) for name in counts.array_fields}
    fields |= {"n_rows": counts.n_rows, "sketch": None if written_sketch is None else counts.sketch}
    has_groups = counts.grouped is not None
    if has_groups:
        fields["has_groups"] = True
    check_sample(counts.tree, fields, location)
    document: Document = {
        "kind": "counts" if counts.has_classes else "moments",
        "sample": read_text(str(counts.sample), "sample"),
        "n_rows": None if counts.n_rows is None else int(counts.n_rows),
        "sketch": written_sketch,
    }
    if isinstance(counts, Moments):
        document |= write_fields(counts, "sample", counts.array_fields)
        stored = counts.rows if sketch and has_rows and not has_groups else None
        if stored is not None:
            document["rows"] = write_fields(
                _bounded_rows(stored, counts.sample_id), f"{location}.rows", REQUIRED_KEYS["targetRows"]
            )
        return document | {"has_groups": True} if has_groups else document
    document["numbers"] = "whole" if counts.has_integer_weights else "real"
    document["by_class"] = [write_array(column) for column in counts.by_class.T]
    if has_groups:
        document["has_groups"] = True
    if counts.populations:
        document["populations"] = write_populations(counts.populations, counts.tree, f"{location}.populations")
    return document


def _bounded_rows(rows: TargetRows, sample_id: bytes) -> TargetRows:
    """Return the rows; of too many rows a random part, drawn with the identity of the sample as the seed."""
    if rows.n_rows <= MAX_TARGET_ROWS:
        return rows
    kept = np.sort(np.random.default_rng(list(sample_id)).permutation(rows.n_rows)[:MAX_TARGET_ROWS])
    return TargetRows(rows.leaf[kept], rows.target[kept])


def _write_sketch(sketch: Sketch | None, tree: Tree) -> Document | None:
    """Return a sketch as an object for JSON; None if it was made for another tree, whose hashes differ."""
    if sketch is None or sketch.key != tree.row_key:
        return None
    keys = REQUIRED_KEYS["sketch"]
    check_sketch({name: getattr(sketch, name) for name in keys}, "sketch")
    hashes = sketch.hashes.astype(">u8").tobytes().hex()
    document = write_fields(sketch, "sketch", keys, size=sketch.size, hashes=hashes)
    if sketch.rounded:
        document["rounded"] = [_write_sketch(rounded, tree) for rounded in sketch.rounded]
    return document


def _write_sequence(sequence: PruningSequence, location: str, model: Model) -> Document:
    """Return a sequence; labels that are those of the model's pruning are written as "pruning"."""
    errors = sequence.errors
    if errors.ndim != 1 or errors.dtype.kind not in "iuf":
        raise ModelFileError(f"{location}.errors are {errors.dtype} values; one number per member is needed")
    if sequence.steps is not None:
        members: dict[str, Array] = {"steps": sequence.steps}
    else:
        changes = _member_changes(sequence)
        members = {"change_start": changes.start, "changes": changes.changes}
    fields = {name: getattr(sequence, name) for name in ("n_leaves", "alphas", "errors", "nested", "node_labels")}
    check_sequence(sequence.tree, fields | members, location, _n_classes(model))
    written: Document = {
        "numbers": "real" if errors.dtype.kind == "f" else "whole",
        "errors": write_array(errors),
        "provenance": optional(_write_rule_provenance)(sequence.provenance, f"{location}.provenance"),
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
        _refuse_sequence(sequence, f"{n_cells:,} nodes to examine; at most {MAX_CELLS:,} are examined")
    try:
        return sequence.member_changes(MAX_CHANGES)
    except PruningError as error:
        return _refuse_sequence(sequence, str(error))


def _refuse_sequence(sequence: PruningSequence, reason: str) -> NoReturn:
    raise ModelFileError(
        f"the sequence has {len(sequence):,} members that are not nested ({reason}); make it shorter (max_leaves=), "
        "or save the model without it: dataclasses.replace(model, sequence=None, selection=None)"
    )


def _write_selection(selection: Selection, model: Model) -> Document:
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
        sequence="sequence" if is_model_sequence else _write_sequence(selection.sequence, "selection.sequence", model),
        fold_error=None if fold_error is None else [write_array(row) for row in fold_error],
        counts=_write_selection_counts(selection, model),
    )


def _write_selection_counts(selection: Selection, model: Model) -> Json:
    """Return the counts of a selection: the name of a sample of the model, or the counts without their sketch."""
    counts = selection.counts
    if counts is None:
        return None
    for name, sample in (("holdout", model.holdout), ("grown", model.grown)):
        if counts is sample:
            return name
    return _write_sample(counts, "selection.counts", sketch=False)


def _write_rows(model: Model, *, sketch: bool) -> Document:
    """Return the part `rows` of the file of a model, without sketches if `sketch` is false."""
    tree = model.tree
    tree.evaluation_log.offer(tree.row_key.salt)
    records = dict(tree.evaluation_log.snapshot())
    samples = _all_samples(model, records).samples
    index_of_sample: dict[SampleKey, int] = {}
    for i, sample in enumerate(samples):
        index_of_sample.setdefault((None, sample.name), i)
        if sample.sketch is not None:
            index_of_sample[sample.sketch.digest, sample.name] = i
    written_samples = []
    for sample in samples:
        name = read_text(sample.name, "rows.samples")
        written_samples.append(
            {"sample": name, "sketch": _write_shared_sketch(sample.sketch, model) if sketch else None}
        )
    check_number_of_entries(len(samples), "rows.samples")
    check_number_of_entries(len(records), "rows.evaluations")
    return {
        "key": _write_row_key(tree.key),
        "history": [read_text(name, "rows.history") for name in tree.history],
        "samples": written_samples,
        "evaluations": [
            _write_evaluation(sample_id, record, index_of_sample, model)
            for sample_id, record in sorted(records.items())
        ],
    }


def _all_samples(model: Model, records: Mapping[bytes, EvaluationRecord]) -> SampleUsage:
    """Return all samples that are named in a model."""
    usage = model.tree.history | model.pruning.seen
    usage |= [record.sample for record in records.values()]
    if model.sequence is not None:
        usage |= model.sequence.seen
    if model.selection is not None:
        usage |= model.selection.evaluated_on | model.selection.sequence.seen
    return usage


def _write_shared_sketch(sketch: Sketch | None, model: Model) -> Document | str | None:
    """Return a sketch as JSON holds it: "grown" or "holdout" if it is that of the sample of this name."""
    if sketch is None or sketch.key != model.tree.row_key:
        return None
    for name, sample in (("holdout", model.holdout), ("grown", model.grown)):
        if sample is not None and sample.sketch == sketch:
            return name
    return _write_sketch(sketch, model.tree)


def _write_row_key(key: RowKey | None) -> Document | None:
    """Return the key by which rows are hashed; None if it follows from the splits of the tree."""
    if key is None:
        return None
    check_row_key(key, MAX_COLUMNS)
    return {"salt": key.salt.hex(), "columns": list(key.columns)}


def _write_evaluation(
    sample_id: bytes, record: EvaluationRecord, index_of_sample: Mapping[SampleKey, int], model: Model
) -> Document:
    """Return the record of the evaluations of one sample as an object for JSON."""
    name, sketch = record.sample
    is_model_sequence = False
    if record.sequence is not None and model.sequence is not None:
        is_model_sequence = record.sequence == model.sequence.digest
    is_other_sequence = record.sequence is not None and not is_model_sequence
    return {
        "sample_id": sample_id.hex(),
        "sample": index_of_sample[None if sketch is None else sketch.digest, name],
        "pruning": None if record.pruning is None else record.pruning.hex(),
        "is_sequence": is_model_sequence,
        "is_unrestricted": record.is_unrestricted or is_other_sequence,  # the other sequence is not in the file
        "has_other_sequences": record.has_other_sequences,
        **({"chose_splits": True} if record.chose_splits else {}),
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
    if tree.estimate_limits is not None:
        digest.update(json.dumps(_write_limits(tree.estimate_limits), sort_keys=True).encode())
    return f"sha256:{digest.hexdigest()}"


def model_hash(model: Model) -> str:
    """Return a hash of all that decides the predictions of a model: its tree, its leaves and their predictions.

    Examples
    --------
    >>> from secateur import Counts, Pruning
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[3, 1], [0, 2]])
    >>> model_hash(Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown))[:15]
    'sha256:0aebe69c'
    """
    digest = hashlib.sha256(tree_fingerprint(model.tree).encode())
    leaves = model.pruning.leaves
    digest.update(leaves.astype("<i4").tobytes() + model.pruning.labels[leaves].astype("<i4").tobytes())
    if not model.is_classifier:
        digest.update(model.grown.predictions[leaves].astype("<f8").tobytes())
    return f"sha256:{digest.hexdigest()}"
