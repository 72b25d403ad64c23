"""Read documents: each part of a file is read, checked and made a value, in one function per part.

The parts are read in the order in which they depend on one another: the columns, the tree, the samples and their
sketches, the pruning, the sequence, the choice, and the evaluations. Arrays are checked (`_checks`) before a class or a
compiled kernel uses them.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from .. import core
from .._utils.arrays import Array, write_protect
from ..core.tree import blank_tests
from ..data.sketch import RowKey, Sketch
from ..data.table import Column, Schema
from ..errors import ModelFileError, SecateurError
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
    check_splits,
    check_structure,
)
from ._values import (
    KIND_OF_KEY,
    MAX_NAME_CHARACTERS,
    REQUIRED_KEYS,
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


@dataclass(frozen=True)
class _KnownParts:
    """The parts of a model that are read first, because later parts refer to them.

    Parameters
    ----------
    tree : Tree
    grown : Counts or Moments
    holdout : Counts or Moments, optional
    used_samples : list of UsedSample
        The samples that are listed under `rows`.
    """

    tree: core.Tree
    grown: core.Sample
    holdout: core.Sample | None
    used_samples: list[core.UsedSample]

    @property
    def n_classes(self) -> int | None:
        """Number of classes of the growing sample; None for a numeric target."""
        return self.grown.n_classes if isinstance(self.grown, core.Counts) else None

    def usage_of(self, names: list[str]) -> core.SampleUsage:
        """Return the samples with these names, with their sketches if they are listed."""
        return _usage_of(names, self.used_samples)


def read_model(document: Document) -> core.Model:
    """Return the model in a document of any version; raise `ModelFileError` if it is invalid."""
    document = _as_current_version(document, MODEL_FORMAT)
    check_keys(document, "the file", REQUIRED_KEYS["model"])
    with _class_errors_as_file_errors():
        schema = optional(_read_schema)(document["schema"], "schema")
        rows = read_fields(document["rows"], "rows", REQUIRED_KEYS["rows"])
        parts = _read_tree_and_samples(document, schema, rows)
        pruning = _read_pruning(document["pruning"], parts)
        read_sequence = optional(partial(_read_sequence, parts=parts, pruning_labels=pruning.node_labels))
        sequence = read_sequence(document["sequence"], "sequence")
        selection = None
        if document["selection"] is not None:
            selection = _read_selection(document["selection"], parts, pruning.node_labels, sequence)
        evaluations = _read_evaluations(rows["evaluations"], parts.used_samples, sequence)
        model = core.Model(
            pruning,
            parts.grown,
            parts.holdout,
            sequence,
            selection,
            certificate=optional(_read_bound)(document["certificate"], "certificate"),
            **{name: KIND_OF_KEY[name].read(document[name], name) for name in ("parameters", "metadata")},
        )
        model = verify_claims(model)
    parts.tree.evaluation_log.records.update(evaluations)
    return model


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
    parent = check_structure(read_ints(document["parent"], "parent")).parent
    if tree is not None and not np.array_equal(parent, tree.parent):
        raise ModelFileError(
            f"the counts are of another tree, of {len(parent):,} nodes, than the one given, of {tree.n_nodes:,}"
        )
    fingerprint = read_text(document["fingerprint"], "fingerprint")
    key = _read_row_key(document["key"], MAX_COLUMNS)
    with _class_errors_as_file_errors():
        counted_tree = core.Tree(parent, key=key) if tree is None else tree
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
            f"the counts of sample {sample!r} are of another tree (fingerprint {fingerprint[7:19]}) than the one "
            f"given ({expected[7:19]}): the tests, columns or classes differ; count the rows on this tree"
        )


def _as_current_version(document: Document, expected: str) -> Document:
    """Return a document of any version as one of the current version; refuse other formats and newer versions."""
    found, version = document.get("format"), document.get("version")
    if found != expected:
        hint = ""
        if isinstance(found, str) and found in LOADER_OF_FORMAT:
            hint = f"; {LOADER_OF_FORMAT[found]} reads it"
        raise ModelFileError(f'its "format" is {describe(found)}; {expected!r} is needed{hint}')
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


def _read_tree_and_samples(document: Document, schema: Schema | None, rows: Document) -> _KnownParts:
    """Return the tree with its history, the samples counted on it, and the samples that were used.

    The history names samples, whose sketches belong to the tree: so the tree is made without its history at first.
    """
    tree = _read_tree(document["tree"], schema, rows["key"])
    grown = _read_sample(document["grown"], "grown", tree)
    check_sample_fits_schema(grown["by_class"].shape[1] if "by_class" in grown else None, schema)
    holdout = optional(partial(_read_sample, tree=tree))(document["holdout"], "holdout")
    if holdout is not None and holdout.keys() != grown.keys():
        raise ModelFileError("grown and holdout must both be counts or both be moments")
    sketches = {"grown": grown["sketch"], "holdout": None if holdout is None else holdout["sketch"]}
    used_samples = _read_used_samples(rows["samples"], sketches, tree)
    if rows["history"]:
        tree = replace(tree, history=_usage_of(rows["history"], used_samples))
    return _KnownParts(
        tree=tree,
        grown=_make_sample(grown, tree),
        holdout=None if holdout is None else _make_sample(holdout, tree),
        used_samples=used_samples,
    )


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
    fields = read_fields(part, "tree", ("parent",), (*blank_tests(0), "surrogates"))
    structure = check_structure(fields["parent"])
    arrays = blank_tests(structure.n_nodes)
    for name, default in arrays.items():
        if name != "branch":
            check_lengths(fields, "tree", len(default), name)
    arrays |= {name: fields[name] for name in fields.keys() & arrays}
    check_splits(structure, schema, arrays)
    if "surrogates" in fields:
        surrogates = read_fields(fields["surrogates"], "tree.surrogates", REQUIRED_KEYS["surrogates"])
        fields["surrogates"] = core.Surrogates(**surrogates)
    n_columns = MAX_COLUMNS if schema is None else len(schema.columns)
    return core.Tree(**fields, schema=schema, key=_read_row_key(key, n_columns))


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
    fields = read_fields(part, location, REQUIRED_KEYS["moments" if has_moments else "counts"])
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
    check_sample(tree, fields, location)
    return fields


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


def _read_pruning(part: Json, parts: _KnownParts) -> core.Pruning:
    """Return the pruning that predicts."""
    fields = read_fields(
        part, "pruning", REQUIRED_KEYS["pruning"],
        certified=optional(read_bool), provenance=optional(_read_rule_provenance),
    )  # fmt: skip
    check_cuts(parts.tree, fields["cuts"], "pruning.cuts")
    check_node_labels(parts.tree, fields["node_labels"], "pruning.node_labels", parts.n_classes)
    return core.Pruning.from_cuts(parts.tree, **fields | {"seen": parts.usage_of(fields["seen"])})


def _read_rule_provenance(part: Json, location: str) -> core.RuleProvenance:
    """Return the rule that made a pruning or a sequence, with its parameters and the unit of its cost."""
    fields = read_fields(part, location, REQUIRED_KEYS["provenance"])
    read_choice(fields["cost"], f"{location}.cost", *core.COST_UNITS)
    read_choice(fields["alpha_unit"], f"{location}.alpha_unit", *core.ALPHA_UNITS)
    require(fields["tolerance"], fields["tolerance"] >= 0, f"{location}.tolerance", "a number of 0 or more")
    return core.RuleProvenance(**fields)


def _read_sequence(part: Json, location: str, parts: _KnownParts, pruning_labels: Array | None) -> core.PruningSequence:
    """Return a sequence of prunings; its labels may be those of the pruning."""
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
    tree = parts.tree
    check_sequence(tree, fields, location, parts.n_classes)
    fields["seen"] = parts.usage_of(fields["seen"])
    if not is_nested:
        start, changes = fields.pop("change_start"), fields.pop("changes")
        fields["rebuild"] = core.MemberChanges(tree.parent, tree.is_leaf, start, changes)
    return core.PruningSequence(tree, **fields)


def _read_selection(
    part: Json, parts: _KnownParts, pruning_labels: Array | None, sequence: core.PruningSequence | None
) -> core.Selection:
    """Return the choice of a member; its sequence and its counts may be those of the model, given by name."""
    fields = read_fields(part, "selection", REQUIRED_KEYS["selection"])
    if fields["sequence"] != "sequence":
        fields["sequence"] = _read_sequence(fields["sequence"], "selection.sequence", parts, pruning_labels)
    elif sequence is not None:
        fields["sequence"] = sequence
    else:
        raise ModelFileError("selection.sequence names the sequence of the model, which is null")
    n_members = len(fields["sequence"])
    if isinstance(fields["counts"], str):
        name = read_choice(fields["counts"], "selection.counts", "grown", "holdout")
        fields["counts"] = parts.grown if name == "grown" else parts.holdout
    elif fields["counts"] is not None:
        fields["counts"] = _make_sample(_read_sample(fields["counts"], "selection.counts", parts.tree), parts.tree)
    if fields["fold_error"] is not None:
        folds = []
        for i, errors in enumerate(read_list(fields["fold_error"], "fold_error")):
            folds.append(read_floats(errors, f"selection.fold_error[{i}]", n_members))
        fields["fold_error"] = write_protect(np.array(folds).reshape(len(folds), n_members))
    check_selection(fields, n_members)
    fields["evaluated_on"] = parts.usage_of(fields["evaluated_on"])
    fields["select"] = fields.pop("rule")
    return core.Selection(**fields)


def _read_bound(part: Json, location: str) -> core.Bound:
    """Return the certificate; `verify_claims` checks it."""
    return core.Bound(**read_fields(part, location, REQUIRED_KEYS["certificate"]))


def _read_evaluations(
    part: Json, used_samples: list[core.UsedSample], sequence: core.PruningSequence | None
) -> dict[bytes, core.EvaluationRecord]:
    """Return the record of the evaluations of each sample, by the identity of the sample."""
    items = read_list(part, "rows.evaluations")
    check_number_of_entries(len(items), "rows.evaluations")
    records = {}
    for i, item in enumerate(items):
        location = f"rows.evaluations[{i}]"
        fields = read_fields(
            item, location, REQUIRED_KEYS["evaluation"],
            sample_id=_read_bytes, sample=keep_unchecked, pruning=optional(_read_bytes),
        )  # fmt: skip
        if not used_samples:
            raise ModelFileError(f"{location}.sample: rows.samples is empty")
        read_int(fields["sample"], f"{location}.sample", maximum=len(used_samples) - 1)
        if fields["is_sequence"] and sequence is None:
            raise ModelFileError(f"{location}.is_sequence: the file has no sequence")
        records[fields["sample_id"]] = core.EvaluationRecord(
            used_samples[fields["sample"]],
            pruning=fields["pruning"],
            sequence=sequence if fields["is_sequence"] else None,
            is_unrestricted=fields["is_unrestricted"],
            has_other_sequences=fields["has_other_sequences"],
        )
    return records
