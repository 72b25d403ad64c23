"""The model card: where a model comes from, and how far its error is known."""

import platform
from typing import Any

import numpy as np

from .. import __version__
from .._utils.arrays import Array
from ..core import Bound, Counts, Model, PruningSequence, Selection
from ..core.class_names import as_one_line
from ..data.table import Schema, Table
from ..inspection.wording import format_number, format_percent, value_text
from ._shown import ShownModel, column_summary

NOT_COVERED = (
    "Rows from another place or time, rows chosen in another way, and errors of measurement. A limit on the error of "
    "all rows says nothing of a single group of them."
)
ASSUMPTIONS = (
    "The rows are independent of one another and come from where new rows will come from; the sample did not grow the "
    "tree. Choosing another tree after a look at this page needs another statement."
)
MAX_CLASSES_LISTED = 10
MAX_COLUMNS_LISTED = 40
MAX_VALUES_LISTED = 12
Entry = list[str]  # name and text
Section = list[Any]  # title and list of entries


def card(shown: ShownModel) -> list[Section]:
    """Return the sections of the model card, each a title and a list of entries."""
    model, table = shown.model, shown.table
    versions = {"secateur": __version__, "python": platform.python_version(), "numpy": np.__version__}
    sections = {
        "Data": _data_entries(model, shown.view.classes) + ([] if table is None else _row_entries(model, table)),
        "Tree and pruning": _pruning_entries(model, shown.sequence),
        "Choice of the size": [] if model.selection is None else _selection_entries(model.selection),
        "Certificate": _certificate_entries(model.certificate),
        "Parameters": _value_entries(model.parameters),
        "Where it comes from": _value_entries({**versions, **model.metadata}),
    }
    return [[title, entries] for title, entries in sections.items() if entries]


def _data_entries(model: Model, classes: list[str]) -> list[Entry]:
    """Return the entries on samples, columns and target."""
    schema, grown = model.tree.schema, model.class_grown
    entries = []
    for name, sample in (("growing", model.grown), ("held-out", model.holdout)):
        if sample is not None:
            rows = format_number(sample.total[0].item())
            entries.append([f"{name} sample", f"{rows} rows, named {as_one_line(sample.sample)}"])
    if schema is not None:
        entries.append(["columns", _columns_text(schema)])
    tested = np.unique(model.tree.feature[model.pruning.is_kept])
    entries.append(["columns used", f"{np.count_nonzero(tested >= 0):,} by the tree as fitted"])
    if grown is None:
        entries.append(["target", "a number; RMSE is the root of the mean squared error"])
    else:
        entries += _class_entries(grown, classes)
    return entries


def _columns_text(schema: Schema) -> str:
    n_columns = len(schema.columns)
    n_nominal = sum(column.kind == "nominal" for column in schema.columns)
    n_missing = sum(column.has_missing for column in schema.columns)
    n_dates = sum(column.is_date for column in schema.columns)
    dates = f" ({n_dates:,} of them dates)" if n_dates else ""
    kinds = f"{n_nominal:,} nominal, {n_columns - n_nominal:,} numeric{dates}"
    return f"{n_columns:,}: {kinds}; {n_missing:,} with missing values in growing"


def _class_entries(grown: Counts, classes: list[str]) -> list[Entry]:
    leaf_errors = grown.unrecorded_errors_if_leaf(grown.majority)[grown.tree.is_leaf]
    unavoidable = leaf_errors.sum().item() / (grown.total[0].item() or 1)
    reason = "rows that are equal in all columns but not in class cannot be told apart"
    return [
        ["target", f"{grown.n_classes:,} classes"],
        ["unavoidable error", f"at most {100 * unavoidable:.3g} % in growing, that of the whole tree: {reason}"],
        ["classes in growing", _class_rows_text(grown.by_class[0], classes)],
        ["counts", "whole numbers, compared exactly" if grown.has_integer_weights else "weights"],
    ]


def _class_rows_text(rows: Array, names: list[str]) -> str:
    """Return the number and the share of the rows of each class, the most frequent class first."""
    order = np.argsort(-rows, kind="stable")
    total = max(rows.sum(), 1e-300)
    texts = [
        f"{names[c]} {format_number(rows[c].item())} ({format_percent(rows[c] / total)})"
        for c in order[:MAX_CLASSES_LISTED]
    ]
    n_more = len(order) - MAX_CLASSES_LISTED
    return ", ".join([*texts, f"{n_more:,} more"] if n_more > 0 else texts)


def _row_entries(model: Model, table: Table) -> list[Entry]:
    """Return the missing values and the range of each column that the fitted tree tests."""
    entries = [["rows shown", f"{table.n_rows:,}, as bars at tests"]]
    for j in np.unique(model.tree.feature[model.pruning.is_kept]).tolist()[:MAX_COLUMNS_LISTED]:
        column, summary = table.schema.columns[j], column_summary(table, j)
        text = f"{100 * summary['missing'] / table.n_rows:.3g} % missing"
        if "low" in summary:
            low, middle, high = (value_text(column, summary[name]) for name in ("low", "middle", "high"))
            text = f"{low} to {high}, half at most {middle}; {text}"
        elif "common" in summary:
            most_frequent = value_text(column, summary["common"])
            text = f"{len(column.categories):,} categories, most often {most_frequent}; {text}"
        entries.append([as_one_line(column.name), text])
    return entries


def _pruning_entries(model: Model, sequence: PruningSequence) -> list[Entry]:
    pruning, tree = model.pruning, model.tree
    nesting = "each a pruning of the one before" if sequence.nested else "not nested"
    origin = "" if model.sequence is not None else "; made for this page, as the model came without a sequence"
    entries = [
        ["as grown", f"{tree.n_leaves:,} leaves, {tree.n_nodes:,} nodes, depth {int(tree.depth.max()):,}"],
        ["as fitted", f"{pruning.n_leaves:,} leaves, {pruning.n_nodes:,} nodes, {len(pruning.cuts):,} cuts"],
        ["rule", as_one_line(pruning.rule) or "not named"],
        ["samples that shaped it", ", ".join(as_one_line(name) for name in sorted(pruning.seen)) or "not named"],
        ["slider", f"{len(sequence):,} prunings ({as_one_line(sequence.rule) or 'rule not named'}), {nesting}{origin}"],
    ]
    if pruning.certified is not None:
        text = "holds" if pruning.certified else f"does not hold: {as_one_line(pruning.note)}"
        entries.append(["guarantee of the rule", text])
    elif pruning.note:
        entries.append(["note", as_one_line(pruning.note)])
    return entries


def _selection_entries(selection: Selection) -> list[Entry]:
    entries = [
        ["rule", as_one_line(selection.select)],
        ["measured on", f"{as_one_line(selection.sample)}, {selection.n:,} rows"],
        [f"least {selection.score}", _member_text(selection, selection.best)],
        ["chosen", _member_text(selection, selection.chosen)],
        *_value_entries({**selection.growing, **selection.details}),
    ]
    if selection.pool:
        entries.append(["other candidates", f"{len(selection.pool):,}"])
    return entries


def _member_text(selection: Selection, member: int) -> str:
    error, se = format_number(float(selection.error[member])), format_number(float(selection.se[member]))
    n_leaves = f"{selection.sequence.n_leaves[member]:,} leaves"
    return f"{n_leaves}, {selection.score} {error} with standard error {se}"


def _certificate_entries(bound: Bound | None) -> list[Entry]:
    if bound is None:
        return [["statement", "The model has no certificate: nothing here limits the error on new rows."]]
    entries = [
        ["statement", as_one_line(str(bound))],
        ["method", as_one_line(bound.method)],
        ["found in the sample", f"{format_number(bound.errors)} errors in {bound.n:,} rows"],
        ["price of the choice", f"{format_number(bound.complexity)} nats"],
    ]
    if bound.freshness:
        entries.append(["are the rows fresh?", as_one_line(bound.freshness)])
    if bound.certified:
        entries += [["assumptions", ASSUMPTIONS], ["not covered", NOT_COVERED]]
    return entries


def _value_entries(values: dict[str, Any]) -> list[Entry]:
    return [[as_one_line(str(name)), _value_text(value)] for name, value in values.items()]


def _value_text(value: object) -> str:
    """Return the value of a parameter or of metadata as text; long lists are replaced by their length."""
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, dict):
        return ", ".join(f"{as_one_line(str(name))} {_value_text(entry)}" for name, entry in value.items()) or "none"
    if isinstance(value, list | tuple) and len(value) > MAX_VALUES_LISTED:
        return f"{len(value):,} values"
    return as_one_line(str(value))
