"""Read documents: all parts of a file are read and checked first, and then made the objects of a model.

The functions `_read_...` read one part each, in the order in which the parts depend on one another: the columns, the
tree, the samples and their sketches, the pruning, the sequence, the choice, and the evaluations. They return the fields
of a part, whose arrays are checked (`_checks`) before a class or a compiled kernel uses them. The functions `_make_...`
create the objects from these fields. If a part refers to another by name, both get the same object.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .. import core
from .._utils.arrays import Array, Floats, write_protect
from ..core.provenance import register_sequence
from ..core.tree import blank_tests
from ..data.sketch import N_RECOGNISED, N_ROUNDED, RowKey, Sketch
from ..data.table import Column, Schema
from ..errors import ModelFileError, SecateurError, TreeError, show
from ._certificate import verify_claims
from ._checks import (
    MAX_COLUMNS,
    MAX_SKETCH_HASHES,
    check_cuts,
    check_lengths,
    check_node_labels,
    check_number_of_entries,
    check_row_key,
    check_sample,
    check_sample_fits_schema,
    check_schema,
    check_selection,
    check_sequence,
    check_sketch,
    check_target_rows,
    check_tree,
)
from ._population_groups import read_group_rates, read_populations
from ._values import (
    DICTIONARY,
    GROUP_KEYS,
    MAX_NAME_CHARACTERS,
    REPEATS_KEYS,
    REQUIRED_KEYS,
    Converter,
    Document,
    Json,
    check_keys,
    describe,
    keep_unchecked,
    optional,
    read_bool,
    read_choice,
    read_fields,
    read_floats,
    read_int,
    read_ints,
    read_labels,
    read_list,
    read_scalars,
    read_text,
    require,
)
from ._versions import upgrade
from ._write import COUNTS_FORMAT, MODEL_FORMAT, VERSION, tree_fingerprint

ID_BYTES = 16
HASH_DIGITS = 16  # hexadecimal digits of a hash of 64 bits
LOADER_OF_FORMAT = {MODEL_FORMAT: "load_model", COUNTS_FORMAT: "load_counts"}


def read_model(document: Document) -> core.Model:
    """Return the model in a document of any version; raise `ModelFileError` if it is invalid."""
    document = _as_current_version(document, MODEL_FORMAT)
    check_keys(document, "the file", REQUIRED_KEYS["model"], ("calibration", "group_rates"))
    with _class_errors_as_file_errors():
        schema = optional(_read_schema)(document["schema"], "schema")
        rows = read_fields(document["rows"], "rows", REQUIRED_KEYS["rows"])
        tree = _read_tree(document["tree"], schema, rows["key"])
        return _make_model(_read_parts(document, rows, tree), tree)


def _read_parts(document: Document, rows: Document, tree: core.Tree) -> Document:
    """Return the fields of all parts of a model except the tree, by the keys of the file."""
    grown = _read_sample(document["grown"], "grown", tree)
    n_classes = grown["by_class"].shape[1] if "by_class" in grown else None
    check_sample_fits_schema(n_classes, tree.schema)
    holdout = optional(partial(_read_sample, tree=tree))(document["holdout"], "holdout")
    if holdout is not None and ("by_class" in holdout) != ("by_class" in grown):
        raise ModelFileError("grown and holdout must both be counts or both be moments")
    sketches = {"grown": grown["sketch"], "holdout": None if holdout is None else holdout["sketch"]}
    samples = _read_used_samples(rows["samples"], sketches, tree)
    pruning = _read_pruning(document["pruning"], tree, n_classes)
    read_sequence = partial(_read_sequence, tree=tree, n_classes=n_classes, pruning_labels=pruning["node_labels"])
    sequence = optional(read_sequence)(document["sequence"], "sequence")
    selection = None
    if document["selection"] is not None:
        selection = _read_selection(document["selection"], tree, sequence, read_sequence)
    read_certificate = partial(
        read_fields,
        required=REQUIRED_KEYS["certificate"],
        optional_keys=(*REPEATS_KEYS, *GROUP_KEYS, "covers_choice", "assumes"),
        n_rows=partial(read_int, minimum=0),
    )
    return {
        "grown": grown,
        "holdout": holdout,
        "samples": samples,
        "history": rows["history"],
        "pruning": pruning,
        "sequence": sequence,
        "selection": selection,
        "evaluations": _read_evaluations(rows["evaluations"], len(samples), has_sequence=sequence is not None),
        "certificate": optional(read_certificate)(document["certificate"], "certificate"),
        "calibration": _read_calibration(document, holdout, tree, n_classes),
        "group_rates": read_group_rates(document.get("group_rates", []), "group_rates"),
        "parameters": DICTIONARY.read(document["parameters"], "parameters"),
        "metadata": DICTIONARY.read(document["metadata"], "metadata"),
    }


def _read_calibration(
    document: Document, holdout: Document | None, tree: core.Tree, n_classes: int | None
) -> Document | None:
    """Return the checked fields of the calibration of a model; None if it has none."""
    if "calibration" not in document:
        return None
    fields = read_fields(document["calibration"], "calibration", REQUIRED_KEYS["calibration"], sample=keep_unchecked)
    sample = fields["sample"]
    if sample != "holdout":
        fields["sample"] = _read_sample(sample, "calibration.sample", tree)
    elif holdout is None:
        raise ModelFileError('calibration.sample is "holdout", but holdout is null')
    rows = holdout if sample == "holdout" else fields["sample"]
    assert rows is not None
    if ("by_class" in rows) != (n_classes is not None):
        raise ModelFileError("calibration.sample and grown must both be counts or both be moments")
    if rows.get("grouped") is not None or isinstance(rows.get("rows"), core.GroupedRows):
        raise ModelFileError("calibration.sample has groups, and a calibration counts rows")
    total = float(rows["by_class"][0].sum() if n_classes is not None else rows["weight"][0])
    if not (0 <= fields["delta"] < 1 and fields["n_repeated"] <= total):
        raise ModelFileError(
            f"calibration.delta is {fields['delta']} and calibration.n_repeated {fields['n_repeated']:,}; a "
            f"probability and a number of the {total:,.10g} rows are needed"
        )
    return fields


def _make_model(parts: Document, tree: core.Tree) -> core.Model:
    """Return the model of the fields of its parts, with its claims verified and its evaluations recorded."""
    samples = parts["samples"]
    if parts["history"]:
        tree = replace(tree, history=_usage_of(parts["history"], samples))
    grown = _make_sample(parts["grown"], tree)
    holdout = None if parts["holdout"] is None else _make_sample(parts["holdout"], tree)
    pruning = core.Pruning.from_cuts(tree, **_make_origin(parts["pruning"], samples))
    sequence = None if parts["sequence"] is None else _make_sequence(parts["sequence"], tree, samples)
    selection = None
    if parts["selection"] is not None:
        shared_parts = {"grown": grown, "holdout": holdout, "sequence": sequence}
        selection = _make_selection(parts["selection"], tree, samples, shared_parts)
    model = verify_claims(
        core.Model(
            pruning,
            grown,
            holdout,
            sequence,
            selection,
            certificate=None if parts["certificate"] is None else core.Bound(**parts["certificate"]),
            calibration=_make_calibration(parts["calibration"], pruning, holdout),
            group_rates=tuple(core.GroupRates(**rates, pruning=pruning.digest) for rates in parts["group_rates"]),
            parameters=parts["parameters"],
            metadata=parts["metadata"],
        )
    )
    for evaluation in parts["evaluations"]:
        tree.evaluation_log.add(*_make_evaluation(evaluation, samples, sequence))
    tree.evaluation_log.join(tree.row_key.salt)
    return model


def _make_calibration(
    fields: Document | None, pruning: core.Pruning, holdout: core.Sample | None
) -> core.Calibration | None:
    """Return the calibration of a pruning; `verify_claims` then checks that its rows are fresh."""
    if fields is None:
        return None
    is_holdout = fields["sample"] == "holdout"
    sample = holdout if is_holdout else _make_sample(fields["sample"], pruning.tree)
    assert sample is not None
    return core.Calibration(**{**fields, "sample": sample, "digest": pruning.digest})


def read_counts(document: Document, tree: core.Tree | None) -> core.Sample:
    """Return the counts in a document of any version; raise `ModelFileError` if it is invalid.

    Parameters
    ----------
    document : dict
    tree : Tree or None
        The tree on which the rows were counted. Without it, the counts are on the structure of their tree.
    """
    document = _as_current_version(document, COUNTS_FORMAT)
    check_keys(document, "the file", REQUIRED_KEYS["countsFile"])
    parent = read_ints(document["parent"], "parent")
    if tree is not None and not np.array_equal(parent, tree.parent):
        raise ModelFileError(
            f"the counts are of another tree, of {len(parent):,} nodes, than the one given, of {tree.n_nodes:,}"
        )
    fingerprint = read_text(document["fingerprint"], "fingerprint")
    key = _read_row_key(document["key"], MAX_COLUMNS)
    with _class_errors_as_file_errors():
        counted_tree = _make_tree({"parent": parent, "key": key}) if tree is None else tree
        fields = _read_sample(document["counts"], "counts", counted_tree)
        if tree is not None:
            _check_fingerprint(tree, fingerprint, fields["sample"])
        if key != counted_tree.key:  # hashes of another key say nothing about rows of this tree
            fields["sketch"] = None
        return _make_sample(fields, counted_tree)


def _check_fingerprint(tree: core.Tree, fingerprint: str, sample: str) -> None:
    """Refuse counts of another tree than the given one."""
    expected = tree_fingerprint(tree)
    if fingerprint != expected:
        raise ModelFileError(
            f"the counts of sample {show(sample)} are of another tree (fingerprint {fingerprint[7:19]}) than the one "
            f"given ({expected[7:19]}): the tests, columns or classes differ; count the rows on this tree"
        )


def _as_current_version(document: Document, expected: str) -> Document:
    """Return a document of any version as one of the current version; refuse other formats and newer versions."""
    found, version = document.get("format"), document.get("version")
    if found != expected:
        hint = ""
        if isinstance(found, str) and found in LOADER_OF_FORMAT:
            hint = f"; {LOADER_OF_FORMAT[found]} reads it"
        raise ModelFileError(f'its "format" is {describe(found)}; {show(expected)} is needed{hint}')
    if read_int(version, '"version"', minimum=1) > VERSION:
        raise ModelFileError(
            f"it is version {version} of the format, and this secateur reads up to version {VERSION}; install a newer "
            "secateur, or save the model again with an older one"
        )
    return document if version == VERSION else upgrade(document)


@contextmanager
def _class_errors_as_file_errors() -> Iterator[None]:
    """Raise the error of a class that has found an invalid value as `ModelFileError`."""
    try:
        yield
    except ModelFileError:
        raise
    except SecateurError as error:
        raise ModelFileError(str(error)) from error


def _read_schema(part: Json, location: str) -> Schema:
    """Return the columns and the classes."""
    fields = read_fields(part, location, REQUIRED_KEYS["schema"], classes=optional(read_labels))
    columns = []
    for i, column in enumerate(read_list(fields.pop("columns"), f"{location}.columns")):
        columns.append(_read_column(column, f"{location}.columns[{i}]"))
    schema = Schema(tuple(columns), **fields)
    check_schema(schema)
    return schema


def _read_column(part: Json, location: str) -> Column:
    """Return one column; a nominal column has categories."""
    fields = read_fields(part, location, ("name", "kind", "has_missing"), ("categories", "is_date"))
    kind = read_choice(fields["kind"], f"{location}.kind", "numeric", "nominal")
    if kind == "nominal" or "categories" in fields:
        fields["categories"] = tuple(read_scalars(fields.get("categories"), f"{location}.categories"))
    return Column(**fields)


def _read_tree(part: Json, schema: Schema | None, key: Json) -> core.Tree:
    """Return the tree, whose rows are hashed by `key`; arrays that the file omits are those of a tree without splits.

    `Surrogates` checks its own fields.
    """
    fields = read_fields(part, "tree", ("parent",), (*blank_tests(0), "surrogates", "estimate_limits"))
    if "surrogates" in fields:
        surrogates = read_fields(fields["surrogates"], "tree.surrogates", REQUIRED_KEYS["surrogates"])
        fields["surrogates"] = core.Surrogates(**surrogates)
    if "estimate_limits" in fields:
        fields["estimate_limits"] = _read_limits(fields["estimate_limits"], len(fields["parent"]))
    n_columns = MAX_COLUMNS if schema is None else len(schema.columns)
    tree = _make_tree(fields | {"schema": schema, "key": _read_row_key(key, n_columns)})
    check_tree(tree)
    return tree


def _read_limits(part: Json, n_nodes: int) -> Floats:
    """Return the limits of the estimates of the nodes; `Tree` checks their order."""
    limits = read_fields(part, "tree.estimate_limits", REQUIRED_KEYS["estimate_limits"])
    check_lengths(limits, "tree.estimate_limits", n_nodes, *limits)
    return write_protect(np.column_stack([limits["lower"], limits["upper"]]))


def _make_tree(fields: Document) -> core.Tree:
    """Return a tree; its class checks the structure and the splits."""
    try:
        return core.Tree(**fields)
    except TreeError as error:
        raise ModelFileError(f"tree: {error}") from error


def _read_row_key(part: Json, n_columns: int) -> RowKey | None:
    """Return the key by which the rows of a tree with `n_columns` columns are hashed."""
    if part is None:
        return None
    check_keys(part, "rows.key", REQUIRED_KEYS["key"])
    columns = read_ints(part["columns"], "rows.key.columns").tolist()
    key = RowKey(_read_bytes(part["salt"], "rows.key.salt"), tuple(columns))
    check_row_key(key, n_columns)
    return key


def _read_sample(part: Json, location: str, tree: core.Tree) -> Document:
    """Return the checked fields of counts or moments."""
    has_moments = isinstance(part, dict) and part.get("kind") == "moments"
    optional_keys = ("has_groups", "rows") if has_moments else ("has_groups", "populations")
    fields = read_fields(part, location, REQUIRED_KEYS["moments" if has_moments else "counts"], optional_keys)
    read_choice(fields.pop("kind"), f"{location}.kind", "counts", "moments")
    if not has_moments:
        number_type = fields.pop("numbers")
        columns = read_list(fields["by_class"], f"{location}.by_class")
        if not columns:
            raise ModelFileError(f"{location}.by_class is empty; at least one class is needed")
        arrays = []
        for c, column in enumerate(columns):
            arrays.append(_read_numbers(column, number_type, f"{location}.by_class[{c}]", tree.n_nodes))
        fields["by_class"] = write_protect(np.ascontiguousarray(np.array(arrays).T))
    fields["sketch"] = _read_sketch(fields["sketch"], f"{location}.sketch", tree)
    has_groups = fields.pop("has_groups", False)
    if has_groups and not has_moments:
        fields["grouped"] = core.GroupedRows.unknown()
    if has_groups and has_moments:
        fields["rows"] = core.GroupedRows.unknown()
    elif "rows" in fields:
        fields["rows"] = _read_target_rows(fields["rows"], f"{location}.rows", fields, tree)
    populations = fields.pop("populations", None)
    check_sample(tree, fields, location)
    if populations is not None:
        if fields["by_class"].dtype.kind != "i":
            raise ModelFileError(f"{location}.populations need whole counts")
        place = f"{location}.populations"
        fields["populations"] = read_populations(populations, place, tree, fields["by_class"])
    return fields


def _read_target_rows(part: Json, location: str, sample: Document, tree: core.Tree) -> core.TargetRows:
    """Return the leaf and target of each row of a sample, of which there must not be more than in its leaves."""
    rows = read_fields(part, location, REQUIRED_KEYS["targetRows"])
    check_target_rows(rows, sample, tree, location)
    return core.TargetRows(**rows)


def _make_sample(fields: Document, tree: core.Tree) -> core.Sample:
    """Return counts or moments on a tree."""
    return core.Counts(tree, **fields) if "by_class" in fields else core.Moments(tree, **fields)


def _read_numbers(values: Json, number_type: Json, location: str, length: int | None = None) -> Array:
    """Return an array of integers or floats, as the key "numbers" of the file states."""
    if read_choice(number_type, f'"numbers" beside {location}', "whole", "real") == "whole":
        return read_ints(values, location, length, np.int64)
    return read_floats(values, location, length)


def _read_sketch(part: Json, location: str, tree: core.Tree) -> Sketch | None:
    """Return the sketch of a sample that was counted on a tree; None for null."""
    if part is None:
        return None
    rounded: tuple[Sketch, ...] = ()
    if isinstance(part, dict) and "rounded" in part:
        items = read_list(part["rounded"], f"{location}.rounded")
        if not N_RECOGNISED <= len(items) <= N_ROUNDED:  # earlier files have two sketches
            raise ModelFileError(
                f"{location}.rounded has {len(items)} sketches; {N_RECOGNISED} or {N_ROUNDED} are needed"
            )
        rounded = tuple(_read_single_sketch(item, f"{location}.rounded[{i}]", tree) for i, item in enumerate(items))
        part = {key: value for key, value in part.items() if key != "rounded"}
    sketch = _read_single_sketch(part, location, tree)
    if any(not np.array_equal(one.n_by_class, sketch.n_by_class) for one in rounded):
        raise ModelFileError(f"{location}.rounded: n_by_class differs from that of the sketch")
    return replace(sketch, rounded=rounded)


def _read_single_sketch(part: Json, location: str, tree: core.Tree) -> Sketch:
    """Return a sketch without the sketches of rounded rows."""
    fields = read_fields(part, location, REQUIRED_KEYS["sketch"])
    digits = read_text(fields["hashes"], f"{location}.hashes", HASH_DIGITS * MAX_SKETCH_HASHES)
    if len(digits) % HASH_DIGITS:
        raise ModelFileError(f"{location}.hashes must be numbers of {HASH_DIGITS} hexadecimal digits")
    data = _read_bytes(digits, f"{location}.hashes", len(digits) // 2)
    fields["hashes"] = np.frombuffer(data, ">u8").astype(np.uint64)
    check_sketch(fields, location)
    return Sketch(tree.row_key, **fields)


def _read_bytes(value: Json, location: str, n_bytes: int = ID_BYTES) -> bytes:
    """Return bytes from hexadecimal digits."""
    digits = read_text(value, location, 2 * max(n_bytes, MAX_NAME_CHARACTERS))
    if not re.fullmatch(f"[0-9A-Fa-f]{{{2 * n_bytes}}}", digits):
        raise ModelFileError(f"{location} is {describe(value)}; {2 * n_bytes} hexadecimal digits are needed")
    return bytes.fromhex(digits)


def _read_used_samples(
    part: Json, shared_sketches: Mapping[str, Sketch | None], tree: core.Tree
) -> list[core.UsedSample]:
    """Return the samples that are named anywhere in the file; "grown" and "holdout" share the sketch of that sample."""
    items = read_list(part, "rows.samples")
    check_number_of_entries(len(items), "rows.samples")
    used_samples = []
    for i, item in enumerate(items):
        location = f"rows.samples[{i}]"
        fields = read_fields(item, location, ("sample", "sketch"))
        sketch = fields["sketch"]
        if not isinstance(sketch, str):
            sketch = _read_sketch(sketch, f"{location}.sketch", tree)
        elif sketch in shared_sketches:
            sketch = shared_sketches[sketch]
        else:
            raise ModelFileError(f"{location}.sketch is {describe(sketch)}; a sketch, 'grown' or 'holdout' is needed")
        used_samples.append(core.UsedSample(fields["sample"], sketch))
    return used_samples


def _usage_of(names: list[str], used_samples: list[core.UsedSample]) -> core.SampleUsage:
    """Return the samples with these names, with their sketches if they are listed."""
    used_names = set(names)
    return core.SampleUsage([*names, *(sample for sample in used_samples if sample.name in used_names)])


def _read_pruning(part: Json, tree: core.Tree, n_classes: int | None) -> Document:
    """Return the fields of the pruning that predicts."""
    fields = read_fields(
        part, "pruning", REQUIRED_KEYS["pruning"],
        certified=optional(read_bool), provenance=optional(_read_rule_provenance),
    )  # fmt: skip
    check_cuts(tree, fields["cuts"], "pruning.cuts")
    check_node_labels(tree, fields["node_labels"], "pruning.node_labels", n_classes)
    return fields


def _make_origin(fields: Document, samples: list[core.UsedSample]) -> Document:
    """Return the fields of a pruning or a sequence, with the objects that state which samples and rule made it."""
    provenance = None if fields["provenance"] is None else core.RuleProvenance(**fields["provenance"])
    return fields | {"seen": _usage_of(fields["seen"], samples), "provenance": provenance}


def _read_rule_provenance(part: Json, location: str) -> Document:
    """Return the fields of the rule that made a pruning or a sequence, with its parameters and the unit of its cost."""
    fields = read_fields(part, location, REQUIRED_KEYS["provenance"])
    read_choice(fields["cost"], f"{location}.cost", *core.COST_UNITS)
    read_choice(fields["alpha_unit"], f"{location}.alpha_unit", *core.ALPHA_UNITS)
    require(fields["tolerance"], fields["tolerance"] >= 0, f"{location}.tolerance", "a number of 0 or more")
    return fields


def _read_sequence(
    part: Json, location: str, tree: core.Tree, n_classes: int | None, pruning_labels: Array | None
) -> Document:
    """Return the fields of a sequence of prunings; its labels may be those of the pruning."""
    is_nested = isinstance(part, dict) and "steps" in part
    member_keys = ("steps",) if is_nested else ("change_start", "changes")
    fields = read_fields(
        part, location, (*REQUIRED_KEYS["sequence"], *member_keys),
        errors=keep_unchecked, node_labels=keep_unchecked, provenance=optional(_read_rule_provenance),
    )  # fmt: skip
    if fields["node_labels"] == "pruning":
        fields["node_labels"] = pruning_labels
    else:
        fields["node_labels"] = optional(read_ints)(fields["node_labels"], f"{location}.node_labels")
    fields["errors"] = _read_numbers(fields["errors"], fields.pop("numbers"), f"{location}.errors")
    check_sequence(tree, fields, location, n_classes)
    return fields


def _make_sequence(fields: Document, tree: core.Tree, samples: list[core.UsedSample]) -> core.PruningSequence:
    """Return a sequence of prunings of a tree."""
    fields = _make_origin(fields, samples)
    if "steps" not in fields:
        start, changes = fields.pop("change_start"), fields.pop("changes")
        fields["rebuild"] = core.MemberChanges(tree.parent, tree.is_leaf, start, changes)
    return core.PruningSequence(tree, **fields)


def _read_selection(part: Json, tree: core.Tree, model_sequence: Document | None, read_sequence: Converter) -> Document:
    """Return the fields of the choice of a member; its sequence and its counts may be those of the model, by name."""
    fields = read_fields(part, "selection", REQUIRED_KEYS["selection"])
    sequence = model_sequence
    if fields["sequence"] != "sequence":
        fields["sequence"] = sequence = read_sequence(fields["sequence"], "selection.sequence")
    elif sequence is None:
        raise ModelFileError("selection.sequence names the sequence of the model, which is null")
    n_members = len(sequence["n_leaves"])
    if isinstance(fields["counts"], str):
        read_choice(fields["counts"], "selection.counts", "grown", "holdout")
    elif fields["counts"] is not None:
        fields["counts"] = _read_sample(fields["counts"], "selection.counts", tree)
    if fields["fold_error"] is not None:
        folds = []
        for i, errors in enumerate(read_list(fields["fold_error"], "fold_error")):
            folds.append(read_floats(errors, f"selection.fold_error[{i}]", n_members))
        fields["fold_error"] = write_protect(np.array(folds).reshape(len(folds), n_members))
    check_selection(fields, n_members)
    fields["select"] = fields.pop("rule")
    return fields


def _make_selection(
    fields: Document, tree: core.Tree, samples: list[core.UsedSample], shared_parts: Mapping[str, Any]
) -> core.Selection:
    """Return the choice of a member; `shared_parts` are the parts of the model that the file gives by name."""
    sequence, counts = fields["sequence"], fields["counts"]
    sequence = shared_parts[sequence] if isinstance(sequence, str) else _make_sequence(sequence, tree, samples)
    if isinstance(counts, str):
        counts = shared_parts[counts]
    elif counts is not None:
        counts = _make_sample(counts, tree)
    evaluated_on = _usage_of(fields["evaluated_on"], samples)
    return core.Selection(**fields | {"sequence": sequence, "counts": counts, "evaluated_on": evaluated_on})


def _read_evaluations(part: Json, n_samples: int, *, has_sequence: bool) -> list[Document]:
    """Return the fields of the record of the evaluations of each sample."""
    items = read_list(part, "rows.evaluations")
    check_number_of_entries(len(items), "rows.evaluations")
    evaluations = []
    for i, item in enumerate(items):
        location = f"rows.evaluations[{i}]"
        fields = read_fields(
            item, location, REQUIRED_KEYS["evaluation"], ("chose_splits",),
            sample_id=_read_bytes, sample=keep_unchecked, pruning=optional(_read_bytes),
        )  # fmt: skip
        if not n_samples:
            raise ModelFileError(f"{location}.sample: rows.samples is empty")
        read_int(fields["sample"], f"{location}.sample", maximum=n_samples - 1)
        if fields["is_sequence"] and not has_sequence:
            raise ModelFileError(f"{location}.is_sequence: the file has no sequence")
        evaluations.append(fields)
    return evaluations


def _make_evaluation(
    fields: Document, samples: list[core.UsedSample], sequence: core.PruningSequence | None
) -> tuple[bytes, core.EvaluationRecord]:
    """Return the identity of a sample and the record of its evaluations."""
    record = core.EvaluationRecord(
        samples[fields["sample"]],
        pruning=fields["pruning"],
        sequence=register_sequence(sequence) if sequence is not None and fields["is_sequence"] else None,
        is_unrestricted=fields["is_unrestricted"],
        has_other_sequences=fields["has_other_sequences"],
        chose_splits=fields.get("chose_splits", False),
    )
    return fields["sample_id"], record
