"""Documents as nouns: every part is read and proved as plain values and arrays; then all nouns are made of them."""

from dataclasses import replace

import numpy as np

from .. import core
from .._utils.arrays import Ints, write_protect
from ..core.tree import blank_tests
from ..data.sketch import RowKey, Sketch
from ..data.table import Column, Schema
from ..errors import ModelFileError, SecateurError
from . import _prove
from ._certificate import checked
from ._fields import KINDS, NAMES_OF, as_it_is, check_lengths, maybe, read_fields
from ._prove import Shape
from ._rows import key_in, rows_in, sketch_in
from ._text import Document, Json, check_keys, described, proper
from ._values import labels_in, list_in, real_in, scalars_in, text_in, truth_in, whole_in, whole_number_in
from ._write import COUNTS_FORMAT, MODEL_FORMAT, VERSION, tree_fingerprint

_NEW = {"quantity": "error", "scale": 1.0, "freshness": "", "is_checked": True}  # of certificates, in version 2
_ANY_COLUMN = np.iinfo(np.int32).max  # where the columns are not known


def read_model(document: Document) -> core.Model:
    """The model in a document; every failure is a `ModelFileError`."""
    check_format(document, MODEL_FORMAT)
    try:
        return _made(_proved(_from_version_1(document)))
    except ModelFileError:
        raise
    except SecateurError as error:  # a second line: what a noun refuses that the proofs let through
        raise ModelFileError(str(error)) from error


def read_counts(document: Document, tree: core.Tree | None) -> core.Sample:
    """The counts in a document, on `tree`, which must be theirs, or on their bare structure."""
    check_format(document, COUNTS_FORMAT)
    document = _from_version_1(document)
    check_keys(document, "the file", NAMES_OF["countsFile"])
    shape = _prove.prove_shape(whole_in(document["parent"], "parent"))
    if tree is not None and not np.array_equal(shape.parent, tree.parent):
        raise ModelFileError(
            f"the counts are of another tree, of {shape.n_nodes:,} nodes, than the one given, of {tree.n_nodes:,}"
        )
    found = text_in(document["fingerprint"], "fingerprint")
    key = key_in(document["key"], _ANY_COLUMN)
    part = sample_in(document["counts"], shape, "counts")
    if tree is not None and found != (wanted := tree_fingerprint(tree)):
        raise ModelFileError(
            f"the counts of sample {part['sample']!r} are of another tree (fingerprint {found[7:19]}) than the one "
            f"given ({wanted[7:19]}): the tests, columns or classes differ; count the rows on this tree"
        )
    try:
        tree = core.Tree(shape.parent, key=key) if tree is None else tree
        return sample_of(part if key == tree.key else part | {"sketch": None}, tree)
    except SecateurError as error:
        raise ModelFileError(str(error)) from error


def check_format(document: Document, wanted: str) -> None:
    """Refuse other formats and other versions, with the way out."""
    found, version = document.get("format"), document.get("version")
    other = {MODEL_FORMAT: "load_model reads it", COUNTS_FORMAT: "load_counts reads it"}
    if found != wanted:
        hint = f"; {other[found]}" if isinstance(found, str) and found in other else ""
        raise ModelFileError(f'its "format" is {described(found)}; {wanted!r} is needed{hint}')
    if whole_number_in(version, '"version"', least=1) > VERSION:
        raise ModelFileError(
            f"it is version {version} of the format, and this secateur reads up to version {VERSION}; install a newer "
            "secateur, or save the model again with an older one"
        )


def _from_version_1(document: Document) -> Document:
    """A document of version 1, as one that knows nothing of the rows behind it."""
    if document.get("version") != 1:
        return document
    unknown = {"n_rows": None, "sketch": None}
    new: Document = {"rows": None} if document.get("format") == MODEL_FORMAT else {"key": None}
    for name in ("grown", "holdout", "counts"):
        if isinstance(document.get(name), dict):
            new[name] = document[name] | unknown
    selection = document.get("selection")
    if isinstance(selection, dict):
        judge, counts = selection.get("sample"), selection.get("counts")
        new["selection"] = {"judges": [] if judge == "cross-validation" else [judge], **selection}
        if isinstance(counts, dict):
            new["selection"]["counts"] = counts | unknown
    if isinstance(document.get("certificate"), dict):
        new["certificate"] = _NEW | document["certificate"]
    return document | new


def _proved(document: Document) -> Document:
    """The parts of a model, each proved and fitting the others: arguments of the nouns that are made of them."""
    check_keys(document, "the file", NAMES_OF["model"])
    parts = dict(document)
    schema = parts["schema"] = maybe(schema_in)(document["schema"], "schema")
    shape, parts["tree"] = tree_in(document["tree"], schema)
    grown = parts["grown"] = sample_in(document["grown"], shape, "grown")
    n_classes = grown["by_class"].shape[1] if "by_class" in grown else None
    if schema is not None and n_classes != (known := None if schema.classes is None else len(schema.classes)):
        raise ModelFileError(
            f"grown holds {'moments' if n_classes is None else f'counts of {n_classes} classes'}; schema.classes has "
            f"{'none' if known is None else known}, and they must fit"
        )
    if document["holdout"] is not None:
        parts["holdout"] = sample_in(document["holdout"], shape, "holdout")
        if parts["holdout"].keys() != grown.keys():
            raise ModelFileError("grown and holdout must both be counts or both be moments")
    parts["pruning"] = pruning_in(document["pruning"], shape, n_classes)
    labels = parts["pruning"]["node_labels"]
    if document["sequence"] is not None:
        parts["sequence"] = sequence_in(document["sequence"], "sequence", shape, n_classes, labels)
    if document["selection"] is not None:
        parts["selection"] = selection_in(document["selection"], shape, n_classes, labels, parts["sequence"])
    if document["certificate"] is not None:
        parts["certificate"] = read_fields(document["certificate"], "certificate", NAMES_OF["certificate"])
    n_columns = _ANY_COLUMN if schema is None else len(schema.columns)
    held = {name: parts[name] and parts[name]["sketch"] for name in ("grown", "holdout")}
    parts["rows"] = rows_in(document["rows"], n_columns, held, has_sequence=document["sequence"] is not None)
    return parts | {name: KINDS[name].read(document[name], name) for name in ("parameters", "facts")}


def schema_in(part: Json, where: str) -> Schema:
    """The columns and the classes."""
    read = read_fields(part, where, NAMES_OF["schema"], classes=maybe(labels_in))
    columns = enumerate(list_in(read.pop("columns"), f"{where}.columns"))
    schema = Schema(tuple(_column(column, f"{where}.columns[{i}]") for i, column in columns), **read)
    _prove.prove_schema(schema)
    return schema


def _column(part: Json, where: str) -> Column:
    read = read_fields(part, where, ("name", "kind", "has_missing"), ("categories", "is_date"))
    if one_of(read["kind"], f"{where}.kind", "numeric", "nominal") == "nominal" or "categories" in read:
        read["categories"] = tuple(scalars_in(read.get("categories"), f"{where}.categories"))
    return Column(**read)


def tree_in(part: Json, schema: Schema | None) -> tuple[Shape, Document]:
    """The structure of the tree, and the arrays of its tests, which fit it and the columns."""
    read = read_fields(part, "tree", ("parent",), (*blank_tests(0), "surrogates"))
    shape = _prove.prove_shape(read["parent"])
    blanks = blank_tests(shape.n_nodes)
    for name, blank in blanks.items():
        if name != "branch":
            check_lengths(read, "tree", len(blank), name)
    _prove.prove_tests(shape, schema, blanks | {name: read[name] for name in read.keys() & blanks})
    if "surrogates" in read:
        read["surrogates"] = read_fields(read["surrogates"], "tree.surrogates", NAMES_OF["surrogates"])
    return shape, read


def sample_in(part: Json, shape: Shape, where: str) -> Document:
    """Counts or moments in every node, how many rows, and their sketch."""
    is_moments = isinstance(part, dict) and part.get("kind") == "moments"
    read = read_fields(part, where, NAMES_OF["moments" if is_moments else "counts"])
    one_of(read.pop("kind"), f"{where}.kind", "counts", "moments")
    if is_moments:
        check_lengths(read, where, shape.n_nodes, "weight", "mean", "sse")
        _prove.prove_moments(shape, read["weight"], read["mean"], read["sse"], where)
    else:
        columns = list_in(read["by_class"], f"{where}.by_class")
        if not columns:
            raise ModelFileError(f"{where}.by_class is empty; at least one class is needed")
        kind, n = read.pop("numbers"), shape.n_nodes
        by_class = np.array([numbers_in(x, kind, f"{where}.by_class[{c}]", n) for c, x in enumerate(columns)])
        _prove.prove_counts(shape, by_class, where)
        read["by_class"] = write_protect(np.ascontiguousarray(by_class.T))
    if read["n_rows"] is not None:
        whole_number_in(read["n_rows"], f"{where}.n_rows", most=2**53)
    sketch = read["sketch"] = sketch_in(read["sketch"], f"{where}.sketch")
    if sketch is not None and (n_rows := int(sketch["n_by_class"].sum())) != read["n_rows"]:
        raise ModelFileError(f"{where}.n_rows is {described(read['n_rows'])}; its sketch is of {n_rows:,} rows")
    if not is_moments:
        _prove.prove_rows(by_class, read["n_rows"], sketch, where)
    return read


def numbers_in(values: Json, kind: Json, where: str, length: int) -> Json:
    """Whole or real numbers, as `kind` says."""
    if one_of(kind, f'"numbers" beside {where}', "whole", "real") == "whole":
        return whole_in(values, where, length, np.int64)
    return real_in(values, where, length)


def one_of(value: Json, where: str, *known: str) -> Json:
    """One of two words."""
    return proper(value, type(value) is str and value in known, where, " or ".join(map(repr, known)))


def pruning_in(part: Json, shape: Shape, n_classes: int | None) -> Document:
    """The pruning that predicts."""
    ways = {"certified": maybe(truth_in), "node_labels": as_it_is, "provenance": provenance_in}
    read = read_fields(part, "pruning", NAMES_OF["pruning"], ("provenance",), **ways)
    _prove.prove_cuts(shape, read["cuts"], "pruning.cuts")
    return read | {"node_labels": _labels(read["node_labels"], "pruning.node_labels", shape, n_classes)}


def provenance_in(part: Json, where: str) -> core.RuleProvenance:
    """Return the provenance of a pruning or of a sequence; files written before it existed have none."""
    read = read_fields(part, where, NAMES_OF["provenance"])
    one_of(read["cost"], f"{where}.cost", *core.COST_UNITS)
    one_of(read["alpha_unit"], f"{where}.alpha_unit", *core.ALPHA_UNITS)
    proper(read["tolerance"], read["tolerance"] >= 0, f"{where}.tolerance", "a number of 0 or more")
    return core.RuleProvenance(**read)


def _labels(values: Json, where: str, shape: Shape, n_classes: int | None) -> Ints | None:
    """The class of each node, if there are any; whole numbers below the number of classes."""
    if values is None:
        return None
    labels, limit = whole_in(values, where, shape.n_nodes), 1 << 31 if n_classes is None else n_classes
    _prove.refuse((labels < 0) | (labels >= limit), where, labels, f"a class number below {limit:,} is needed")
    return labels


def sequence_in(part: Json, where: str, shape: Shape, n_classes: int | None, labels: Json) -> Document:
    """A sequence; `labels` are those of the pruning, which it may name."""
    is_nested = isinstance(part, dict) and "steps" in part
    names = (*NAMES_OF["sequence"], *(("steps",) if is_nested else ("change_start", "changes")))
    ways = {"errors": as_it_is, "node_labels": as_it_is, "provenance": provenance_in}
    read = read_fields(part, where, names, ("provenance",), **ways)
    n_leaves = read["n_leaves"]
    n = len(n_leaves)
    if n == 0:
        raise ModelFileError(f"{where}.n_leaves is empty; at least one member is needed")
    _prove.prove_rising(-n_leaves, f"{where}.n_leaves, turned round,")
    check_lengths(read, where, n, "alphas")
    if read["alphas"] is not None:
        _prove.prove_rising(read["alphas"], f"{where}.alphas")
    if n > shape.n_nodes:  # what is shown of each is of the size of the file
        raise ModelFileError(
            f"{where}.n_leaves has {n:,} members, more than the {shape.n_nodes:,} nodes of the tree: some are equal; "
            "keep one of each"
        )
    if is_nested:
        check_lengths(read, where, shape.n_nodes, "steps")
        _prove.prove_steps(shape, read["steps"], n_leaves, where)
    else:
        check_lengths(read, where, n + 1, "change_start")
        start, changes = read["rebuild"] = read.pop("change_start"), read.pop("changes")
        _prove.prove_changes(shape, start, changes, n_leaves, where)
        if read["nested"] and len(np.unique(changes)) < len(changes):
            raise ModelFileError(f"{where}.nested is true, but a node tests again after it was cut; false is needed")
    read["errors"] = numbers_in(read["errors"], read.pop("numbers"), f"{where}.errors", n)
    if read["node_labels"] != "pruning":
        labels = _labels(read["node_labels"], f"{where}.node_labels", shape, n_classes)
    return read | {"node_labels": labels}


def selection_in(part: Json, shape: Shape, n_classes: int | None, labels: Json, sequence: Document | None) -> Document:
    """A choice; the sequence and the counts it was made from are parts of their own, or named."""
    read = read_fields(part, "selection", NAMES_OF["selection"])
    members = sequence
    if read["sequence"] != "sequence":
        members = read["sequence"] = sequence_in(read["sequence"], "selection.sequence", shape, n_classes, labels)
    if members is None:
        raise ModelFileError("selection.sequence names the sequence of the model, which is null")
    n = len(members["n_leaves"])
    if isinstance(read["counts"], str):
        one_of(read["counts"], "selection.counts", "grown", "holdout")
    elif read["counts"] is not None:
        read["counts"] = sample_in(read["counts"], shape, "selection.counts")
    if read["fold_error"] is not None:
        folds = enumerate(list_in(read["fold_error"], "fold_error"))
        by_fold = [real_in(row, f"selection.fold_error[{i}]", n) for i, row in folds]
        read["fold_error"] = write_protect(np.array(by_fold).reshape(len(by_fold), n))
    check_lengths(read, "selection", n, "error", "se", "betas")
    for name in ("best", "chosen"):
        whole_number_in(read[name], f"selection.{name}", most=n - 1)
    return read | {"select": read.pop("rule")}


def _made(parts: Document) -> core.Model:
    """The model of parts that are proved."""
    rows, selection, certificate = parts["rows"], parts["selection"], parts["certificate"]
    tree = tree_of(parts["tree"], parts["schema"], rows["key"])
    samples = [core.UsedSample(name, _sketch(part, tree)) for name, part in rows["samples"]]

    def seen(names: list[str]) -> core.SampleUsage:
        wanted = set(names)
        return core.SampleUsage([*names, *(sample for sample in samples if sample.name in wanted)])

    def sequence_of(part: Document) -> core.PruningSequence:
        if "rebuild" in part:
            part = part | {"rebuild": core.MemberChanges(tree.parent, tree.is_leaf, *part["rebuild"])}
        return core.PruningSequence(tree, **part | {"seen": seen(part["seen"])})

    if rows["history"]:
        tree = replace(tree, history=seen(rows["history"]))
    held = {name: parts[name] and sample_of(parts[name], tree) for name in ("grown", "holdout")}
    pruning = core.Pruning.from_cuts(tree, **parts["pruning"] | {"seen": seen(parts["pruning"]["seen"])})
    sequence = parts["sequence"] and sequence_of(parts["sequence"])
    if selection is not None:
        members, counts = selection["sequence"], selection["counts"]
        selection |= {
            "sequence": sequence if members == "sequence" else sequence_of(members),
            "counts": held[counts] if isinstance(counts, str) else counts and sample_of(counts, tree),
            "evaluated_on": seen(selection["evaluated_on"]),
        }
    model = core.Model(
        pruning,
        **held,
        sequence=sequence,
        selection=selection and core.Selection(**selection),
        certificate=certificate and core.Bound(**certificate),
        parameters=parts["parameters"],
        metadata=parts["facts"],
    )
    model = checked(model)
    for look in rows["looks"]:
        mark, of_path = look.pop("mark"), sequence if look.pop("is_sequence") else None
        tree.evaluation_log.records[mark] = core.EvaluationRecord(
            **look | {"sample": samples[look["sample"]], "sequence": of_path}
        )
    return model


def tree_of(part: Document, schema: Schema | None, key: RowKey | None) -> core.Tree:
    """The tree of arrays that are proved; surrogates prove themselves."""
    if "surrogates" in part:
        part = part | {"surrogates": core.Surrogates(**part["surrogates"])}
    return core.Tree(**part, schema=schema, key=key)


def sample_of(part: Document, tree: core.Tree) -> core.Sample:
    """Counts or moments on a tree."""
    fields = part | {"sketch": _sketch(part["sketch"], tree)}
    return core.Counts(tree, **fields) if "by_class" in part else core.Moments(tree, **fields)


def _sketch(part: Document | None, tree: core.Tree) -> Sketch | None:
    return None if part is None else Sketch(tree.row_key, **part)
