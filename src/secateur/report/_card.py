"""The model card: where a model comes from, and what is known about its error, as sections of names and texts.

The page shows the card unchanged; the governance file contains its entries on the pruning and the choice of the size.
"""

import platform
from typing import Any

import numpy as np

from .. import __version__
from .._utils.arrays import Array
from ..core import Bound, Counts, Model, PruningSequence, Selection
from ..core.class_names import as_one_line
from ..data.table import Schema, Table
from ..inspection.currency import Currency
from ..inspection.wording import format_number, format_percent, value_text
from ._groups import group_card_entries
from ._shown import ShownModel, column_summary

NOT_COVERED = (
    "Rows from another place or time, rows chosen in another way, and errors of measurement. A limit on the error of "
    "all rows says nothing of a single group of them."
)
ASSUMPTIONS = (
    "The rows are independent of one another and come from where new rows will come from; the sample did not grow the "
    "tree, and chose it at most among the prunings that the limit covers. Choosing another tree after a look at the "
    "limit needs another statement."
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
        "Tree and pruning": [*pruning_entries(model), _slider_entry(model, shown.sequence)],
        "Choice of the size": [] if model.selection is None else selection_entries(model.selection),
        "Certificate": certificate_entries(model.certificate, shown.currency),
        "Population groups": group_card_entries(model),
        "Prediction intervals" if not model.is_classifier else "Prediction sets": calibration_entries(model),
        "Parameters": value_entries(model.parameters),
        "Where it comes from": value_entries({**versions, **_metadata_of(model)}),
    }
    return [[title, entries] for title, entries in sections.items() if entries]


def _metadata_of(model: Model) -> dict[str, Any]:
    """Return the metadata with the edits of the tree in words."""
    return model.metadata | {"edits": "; ".join(model.edit_texts)} if "edits" in model.metadata else model.metadata


def _data_entries(model: Model, classes: list[str]) -> list[Entry]:
    """Return the entries on samples, columns and target."""
    schema, grown = model.tree.schema, model.class_grown
    entries = []
    for name, sample in (("growing", model.grown), ("held-out", model.holdout)):
        if sample is not None:
            rows = format_number(sample.total[0].item())
            entries.append([f"{name} sample", f"{rows} rows, named {as_one_line(sample.sample)}"])
    if schema is not None:
        entries.append(["columns", columns_text(schema)])
    tested = np.unique(model.tree.feature[model.pruning.is_kept])
    entries.append(["columns used", f"{np.count_nonzero(tested >= 0):,} by the tree as fitted"])
    if grown is None:
        entries.append(["target", "a number; RMSE is the root of the mean squared error"])
    else:
        entries += class_entries(grown, classes)
    return entries


def columns_text(schema: Schema) -> str:
    """Return the numbers of columns of each kind, in words."""
    n_columns = len(schema.columns)
    n_nominal = sum(column.kind == "nominal" for column in schema.columns)
    n_missing = sum(column.has_missing for column in schema.columns)
    n_dates = sum(column.is_date for column in schema.columns)
    dates = f" ({n_dates:,} of them dates)" if n_dates else ""
    kinds = f"{n_nominal:,} nominal, {n_columns - n_nominal:,} numeric{dates}"
    return f"{n_columns:,}: {kinds}; {n_missing:,} with missing values in growing"


def class_entries(grown: Counts, classes: list[str]) -> list[Entry]:
    """Return the entries on the classes of the growing rows."""
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


def pruning_entries(model: Model) -> list[Entry]:
    """Return the entries on the sizes of the tree, the rule that pruned it and the guarantee of the rule."""
    pruning, tree = model.pruning, model.tree
    entries = [
        ["as grown", f"{tree.n_leaves:,} leaves, {tree.n_nodes:,} nodes, depth {int(tree.depth.max()):,}"],
        ["as fitted", f"{pruning.n_leaves:,} leaves, {pruning.n_nodes:,} nodes, {len(pruning.cuts):,} cuts"],
        ["rule", as_one_line(pruning.rule) or "not named"],
        ["samples that shaped it", ", ".join(as_one_line(name) for name in sorted(pruning.seen)) or "not named"],
    ]
    if pruning.certified is not None:
        text = "holds" if pruning.certified else f"does not hold: {as_one_line(pruning.note)}"
        entries.append(["guarantee of the rule", text])
    elif pruning.note:
        entries.append(["note", as_one_line(pruning.note)])
    return entries


def _slider_entry(model: Model, sequence: PruningSequence) -> Entry:
    nesting = "each a pruning of the one before" if sequence.nested else "not nested"
    origin = "" if model.sequence is not None else "; made for this page, as the model came without a sequence"
    return [
        "slider",
        f"{len(sequence):,} prunings ({as_one_line(sequence.rule) or 'rule not named'}), {nesting}{origin}",
    ]


def selection_entries(selection: Selection) -> list[Entry]:
    """Return the entries on the table from which the size was chosen."""
    entries = [
        ["rule", as_one_line(selection.select)],
        *([["chosen on", "held-out rows, by their certificates"]] if selection.is_by_certificate else []),
        ["measured on", f"{as_one_line(selection.sample)}, {selection.n:,} rows"],
        [f"least {selection.score}", _member_text(selection, selection.best)],
        ["chosen", _member_text(selection, selection.chosen)],
        *value_entries({**selection.growing, **selection.details}),
    ]
    if selection.pool:
        entries.append(["candidates compared", f"{len(selection.pool):,}"])
    return entries


def _member_text(selection: Selection, member: int) -> str:
    error, se = format_number(float(selection.error[member])), format_number(float(selection.se[member]))
    n_leaves = f"{selection.sequence.n_leaves[member]:,} leaves"
    return f"{n_leaves}, {selection.score} {error} with standard error {se}"


def _quantity_text(bound: Bound, currency: Currency) -> str:
    """Return what a certificate limits; if this is not the score that chose the tree, also name that score."""
    quantity = as_one_line(bound.quantity)
    is_other = not (currency.is_error and bound.quantity == "error") and bound.quantity != currency.score
    return f"the {quantity}; the tree was chosen by its {currency.name}" if is_other else f"the {quantity}"


def certificate_entries(bound: Bound | None, currency: Currency) -> list[Entry]:
    """Return the entries on a certificate: its statement, numbers and assumptions."""
    if bound is None:
        return [["statement", "The model has no certificate: nothing here limits the error on new rows."]]
    unit = "errors" if bound.quantity == "error" else "in all"
    entries = [
        ["statement", as_one_line(str(bound))],
        ["method", as_one_line(bound.method)],
        ["certified quantity", _quantity_text(bound, currency)],
        ["found in the sample", f"{format_number(bound.errors)} {unit} in {bound.n:,} {bound.unit}s"],
        ["price of the choice", f"{format_number(bound.complexity)} nats"],
    ]
    if bound.freshness:
        entries.append(["are the rows fresh?", as_one_line(bound.freshness)])
    if bound.certified:
        entries += [["assumptions", ASSUMPTIONS], ["not covered", NOT_COVERED]]
    return entries


def calibration_entries(model: Model) -> list[Entry]:
    """Return the entries on the rows that calibrate prediction intervals or sets; none if there are no such rows."""
    calibration = model.calibration
    if calibration is None or not calibration.fits(model.pruning):
        return []
    from ..model_selection import intervals_of, sets_of

    find, method = (sets_of, "predict_set") if model.is_classifier else (intervals_of, "predict_interval")
    return [
        ["statement, for 90 %", as_one_line(find(model, coverage=0.9).guarantee)],
        ["calibrated by", f"sample {as_one_line(calibration.sample.sample)}; {method} computes them for any coverage"],
    ]


def value_entries(values: dict[str, Any]) -> list[Entry]:
    """Return one entry for each value, such as a parameter, by name."""
    return [[as_one_line(str(name)), _value_text(value)] for name, value in values.items()]


def _value_text(value: object) -> str:
    """Return the value of a parameter or of metadata as text; long lists are replaced by their length."""
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, dict):
        return ", ".join(f"{as_one_line(str(name))} {_value_text(entry)}" for name, entry in value.items()) or "none"
    if isinstance(value, list | tuple) and len(value) > MAX_VALUES_LISTED:
        return f"{len(value):,} values"
    if isinstance(value, list | tuple) and value and all(isinstance(item, dict) for item in value):
        return "; ".join(map(_value_text, value))
    return as_one_line(str(value))
