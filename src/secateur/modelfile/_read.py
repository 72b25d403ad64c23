"""Read documents: check every part as plain values and arrays, then make the model or the counts from them."""

from dataclasses import replace

import numpy as np

from .. import core
from .._utils.arrays import Array, write_protect
from ..core.tree import blank_tests
from ..data.sketch import RowKey, Sketch
from ..data.table import Column, Schema
from ..errors import ModelFileError, SecateurError
from ._certificate import verify_claims
from ._checks import Structure, check_schema, check_splits, check_structure
from ._fields import KIND_OF_KEY, REQUIRED_KEYS, check_lengths, keep_unchecked, optional, read_fields
from ._json import Document, Json, check_keys, require
from ._parts import (
    check_cuts,
    check_node_labels,
    check_sample,
    check_sample_fits_schema,
    check_selection,
    check_sequence,
)
from ._provenance import MAX_COLUMN, read_row_key, read_rows, read_sketch
from ._values import read_bool, read_floats, read_ints, read_labels, read_list, read_scalars, read_text
from ._versions import COUNTS_FORMAT, MODEL_FORMAT, check_format, upgrade
from ._write import tree_fingerprint


def read_model(document: Document) -> core.Model:
    """Return the model in a document of any version; raise `ModelFileError` if it is invalid."""
    check_format(document, MODEL_FORMAT)
    try:
        return _make_model(_read_parts(upgrade(document)))
    except ModelFileError:
        raise
    except SecateurError as error:  # an invalid value that only the class of a part has found
        raise ModelFileError(str(error)) from error


def read_counts(document: Document, tree: core.Tree | None) -> core.Sample:
    """Return the counts in a document of any version; raise `ModelFileError` if it is invalid.

    Parameters
    ----------
    document : dict
    tree : Tree or None
        The tree on which the rows were counted. Without it, the counts are on the structure of their tree.
    """
    check_format(document, COUNTS_FORMAT)
    document = upgrade(document)
    check_keys(document, "the file", REQUIRED_KEYS["countsFile"])
    structure = check_structure(read_ints(document["parent"], "parent"))
    if tree is not None and not np.array_equal(structure.parent, tree.parent):
        raise ModelFileError(
            f"the counts are of another tree, of {structure.n_nodes:,} nodes, than the one given, of {tree.n_nodes:,}"
        )
    fingerprint = read_text(document["fingerprint"], "fingerprint")
    key = read_row_key(document["key"], MAX_COLUMN)
    fields = _read_sample(document["counts"], structure, "counts")
    if tree is not None:
        _check_fingerprint(tree, fingerprint, fields["sample"])
    try:
        tree = core.Tree(structure.parent, key=key) if tree is None else tree
        if key != tree.key:  # hashes of another key say nothing about rows of this tree
            fields["sketch"] = None
        return _make_sample(fields, tree)
    except SecateurError as error:
        raise ModelFileError(str(error)) from error


def _check_fingerprint(tree: core.Tree, fingerprint: str, sample: str) -> None:
    """Refuse counts of another tree than the given one."""
    expected = tree_fingerprint(tree)
    if fingerprint != expected:
        raise ModelFileError(
            f"the counts of sample {sample!r} are of another tree (fingerprint {fingerprint[7:19]}) than the one "
            f"given ({expected[7:19]}): the tests, columns or classes differ; count the rows on this tree"
        )


def _read_parts(document: Document) -> Document:
    """Return the checked parts of a model by name, as fields of the classes that `_make_model` makes from them."""
    check_keys(document, "the file", REQUIRED_KEYS["model"])
    schema = optional(_read_schema)(document["schema"], "schema")
    structure, tree = _read_tree(document["tree"], schema)
    grown = _read_sample(document["grown"], structure, "grown")
    n_classes = grown["by_class"].shape[1] if "by_class" in grown else None
    check_sample_fits_schema(n_classes, schema)
    holdout = sequence = selection = certificate = None
    if document["holdout"] is not None:
        holdout = _read_sample(document["holdout"], structure, "holdout")
        if holdout.keys() != grown.keys():
            raise ModelFileError("grown and holdout must both be counts or both be moments")
    pruning = _read_pruning(document["pruning"], structure, n_classes)
    labels = pruning["node_labels"]
    if document["sequence"] is not None:
        sequence = _read_sequence(document["sequence"], "sequence", structure, n_classes, labels)
    if document["selection"] is not None:
        selection = _read_selection(document["selection"], structure, n_classes, labels, sequence)
    if document["certificate"] is not None:
        certificate = read_fields(document["certificate"], "certificate", REQUIRED_KEYS["certificate"])
    n_columns = MAX_COLUMN if schema is None else len(schema.columns)
    sketches = {"grown": grown["sketch"], "holdout": None if holdout is None else holdout["sketch"]}
    return {
        "schema": schema,
        "tree": tree,
        "grown": grown,
        "holdout": holdout,
        "pruning": pruning,
        "sequence": sequence,
        "selection": selection,
        "certificate": certificate,
        "rows": read_rows(document["rows"], n_columns, sketches, has_sequence=sequence is not None),
        **{name: KIND_OF_KEY[name].read(document[name], name) for name in ("parameters", "metadata")},
    }


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
    kind = _read_choice(fields["kind"], f"{location}.kind", "numeric", "nominal")
    if kind == "nominal" or "categories" in fields:
        fields["categories"] = tuple(read_scalars(fields.get("categories"), f"{location}.categories"))
    return Column(**fields)


def _read_tree(part: Json, schema: Schema | None) -> tuple[Structure, Document]:
    """Return the structure of the tree, and the fields of the tree that are in the file."""
    fields = read_fields(part, "tree", ("parent",), (*blank_tests(0), "surrogates"))
    structure = check_structure(fields["parent"])
    arrays = blank_tests(structure.n_nodes)
    for name, default in arrays.items():
        if name != "branch":
            check_lengths(fields, "tree", len(default), name)
    arrays |= {name: fields[name] for name in fields.keys() & arrays}
    check_splits(structure, schema, arrays)
    if "surrogates" in fields:
        fields["surrogates"] = read_fields(fields["surrogates"], "tree.surrogates", REQUIRED_KEYS["surrogates"])
    return structure, fields


def _read_sample(part: Json, structure: Structure, location: str) -> Document:
    """Return the fields of counts or moments."""
    has_moments = isinstance(part, dict) and part.get("kind") == "moments"
    fields = read_fields(part, location, REQUIRED_KEYS["moments" if has_moments else "counts"])
    _read_choice(fields.pop("kind"), f"{location}.kind", "counts", "moments")
    if not has_moments:
        number_type = fields.pop("numbers")
        columns = read_list(fields["by_class"], f"{location}.by_class")
        if not columns:
            raise ModelFileError(f"{location}.by_class is empty; at least one class is needed")
        arrays = []
        for c, column in enumerate(columns):
            arrays.append(_read_numbers(column, number_type, f"{location}.by_class[{c}]", structure.n_nodes))
        fields["by_class"] = write_protect(np.ascontiguousarray(np.array(arrays).T))
    fields["sketch"] = read_sketch(fields["sketch"], f"{location}.sketch")
    check_sample(structure, fields, location)
    return fields


def _read_numbers(values: Json, number_type: Json, location: str, length: int | None = None) -> Array:
    """Return an array of integers or floats, as the key "numbers" of the file states."""
    if _read_choice(number_type, f'"numbers" beside {location}', "whole", "real") == "whole":
        return read_ints(values, location, length, np.int64)
    return read_floats(values, location, length)


def _read_choice(value: Json, location: str, *names: str) -> Json:
    """Return a string that must be one of `names`."""
    return require(value, type(value) is str and value in names, location, " or ".join(map(repr, names)))


def _read_pruning(part: Json, structure: Structure, n_classes: int | None) -> Document:
    """Return the fields of the pruning that predicts."""
    fields = read_fields(
        part, "pruning", REQUIRED_KEYS["pruning"],
        certified=optional(read_bool), node_labels=optional(read_ints), provenance=optional(_read_rule_provenance),
    )  # fmt: skip
    check_cuts(structure, fields["cuts"], "pruning.cuts")
    check_node_labels(structure, fields["node_labels"], "pruning.node_labels", n_classes)
    return fields


def _read_rule_provenance(part: Json, location: str) -> core.RuleProvenance:
    """Return the rule that made a pruning or a sequence, with its parameters and the unit of its cost."""
    fields = read_fields(part, location, REQUIRED_KEYS["provenance"])
    _read_choice(fields["cost"], f"{location}.cost", *core.COST_UNITS)
    _read_choice(fields["alpha_unit"], f"{location}.alpha_unit", *core.ALPHA_UNITS)
    require(fields["tolerance"], fields["tolerance"] >= 0, f"{location}.tolerance", "a number of 0 or more")
    return core.RuleProvenance(**fields)


def _read_sequence(
    part: Json, location: str, structure: Structure, n_classes: int | None, pruning_labels: Array | None
) -> Document:
    """Return the fields of a sequence; its labels may be those of the pruning."""
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
    check_sequence(structure, fields, location, n_classes)
    return fields


def _read_selection(
    part: Json,
    structure: Structure,
    n_classes: int | None,
    pruning_labels: Array | None,
    sequence: Document | None,
) -> Document:
    """Return the fields of a choice; its sequence and its counts may be those of the model, given by name."""
    fields = read_fields(part, "selection", REQUIRED_KEYS["selection"])
    members = sequence
    if fields["sequence"] != "sequence":
        location = "selection.sequence"
        members = _read_sequence(fields["sequence"], location, structure, n_classes, pruning_labels)
        fields["sequence"] = members
    if members is None:
        raise ModelFileError("selection.sequence names the sequence of the model, which is null")
    n_members = len(members["n_leaves"])
    if isinstance(fields["counts"], str):
        _read_choice(fields["counts"], "selection.counts", "grown", "holdout")
    elif fields["counts"] is not None:
        fields["counts"] = _read_sample(fields["counts"], structure, "selection.counts")
    if fields["fold_error"] is not None:
        folds = []
        for i, errors in enumerate(read_list(fields["fold_error"], "fold_error")):
            folds.append(read_floats(errors, f"selection.fold_error[{i}]", n_members))
        fields["fold_error"] = write_protect(np.array(folds).reshape(len(folds), n_members))
    check_selection(fields, n_members)
    fields["select"] = fields.pop("rule")
    return fields


def _make_model(parts: Document) -> core.Model:
    """Return the model that consists of checked parts."""
    rows = parts["rows"]
    tree = _make_tree(parts["tree"], parts["schema"], rows["key"])
    used_samples = [core.UsedSample(name, _make_sketch(sketch, tree)) for name, sketch in rows["samples"]]
    if rows["history"]:
        tree = replace(tree, history=_make_usage(rows["history"], used_samples))
    grown = _make_sample(parts["grown"], tree)
    holdout = None if parts["holdout"] is None else _make_sample(parts["holdout"], tree)
    pruning = parts["pruning"]
    pruning["seen"] = _make_usage(pruning["seen"], used_samples)
    sequence = None
    if parts["sequence"] is not None:
        sequence = _make_sequence(parts["sequence"], tree, used_samples)
    model = core.Model(
        core.Pruning.from_cuts(tree, **pruning),
        grown,
        holdout,
        sequence,
        _make_selection(parts["selection"], tree, {"grown": grown, "holdout": holdout}, sequence, used_samples),
        certificate=None if parts["certificate"] is None else core.Bound(**parts["certificate"]),
        parameters=parts["parameters"],
        metadata=parts["metadata"],
    )
    model = verify_claims(model)
    for evaluation in rows["evaluations"]:
        tree.evaluation_log.records[evaluation["sample_id"]] = core.EvaluationRecord(
            used_samples[evaluation["sample"]],
            pruning=evaluation["pruning"],
            sequence=sequence if evaluation["is_sequence"] else None,
            is_unrestricted=evaluation["is_unrestricted"],
            has_other_sequences=evaluation["has_other_sequences"],
        )
    return model


def _make_tree(fields: Document, schema: Schema | None, key: RowKey | None) -> core.Tree:
    """Return the tree of checked fields; `Surrogates` checks its own fields."""
    if "surrogates" in fields:
        fields = fields | {"surrogates": core.Surrogates(**fields["surrogates"])}
    return core.Tree(**fields, schema=schema, key=key)


def _make_sample(fields: Document, tree: core.Tree) -> core.Sample:
    """Return counts or moments on a tree."""
    fields = fields | {"sketch": _make_sketch(fields["sketch"], tree)}
    return core.Counts(tree, **fields) if "by_class" in fields else core.Moments(tree, **fields)


def _make_sketch(fields: Document | None, tree: core.Tree) -> Sketch | None:
    return None if fields is None else Sketch(tree.row_key, **fields)


def _make_usage(names: list[str], used_samples: list[core.UsedSample]) -> core.SampleUsage:
    """Return the samples with these names, with their sketches if they are listed."""
    used_names = set(names)
    return core.SampleUsage([*names, *(sample for sample in used_samples if sample.name in used_names)])


def _make_sequence(fields: Document, tree: core.Tree, used_samples: list[core.UsedSample]) -> core.PruningSequence:
    """Return a sequence of prunings of the tree."""
    fields = fields | {"seen": _make_usage(fields["seen"], used_samples)}
    if "changes" in fields:
        start, changes = fields.pop("change_start"), fields.pop("changes")
        fields["rebuild"] = core.MemberChanges(tree.parent, tree.is_leaf, start, changes)
    return core.PruningSequence(tree, **fields)


def _make_selection(
    fields: Document | None,
    tree: core.Tree,
    samples: dict[str, core.Sample | None],
    sequence: core.PruningSequence | None,
    used_samples: list[core.UsedSample],
) -> core.Selection | None:
    """Return the choice of a member; a sequence and counts that are given by name are those of the model."""
    if fields is None:
        return None
    counts, members = fields["counts"], fields["sequence"]
    if isinstance(counts, str):
        fields["counts"] = samples[counts]
    elif counts is not None:
        fields["counts"] = _make_sample(counts, tree)
    fields["sequence"] = sequence if members == "sequence" else _make_sequence(members, tree, used_samples)
    fields["evaluated_on"] = _make_usage(fields["evaluated_on"], used_samples)
    return core.Selection(**fields)
