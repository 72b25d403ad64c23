"""Collect what is known about a model for those who must answer for it: the contents of a governance file.

Every statement follows from the model, from the monitor, or from an argument of the caller; what is not known is
"not recorded". The sentences on errors, certificates and monitoring are those that the rest of the package prints.
Nothing here evaluates a sample anew, so writing the file uses up no rows.
"""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import __version__
from ..core import Bound, DataRecord, Model
from ..core.class_names import as_one_line, class_names_of
from ..data.file_record import FileRecord
from ..inspection.currency import currency_of, growing_role, holdout_role
from ..inspection.sentences import describe_scores
from ..inspection.text import export_rules, export_text
from ..inspection.wording import percent_text
from ..modelfile import model_hash
from ..monitoring import Monitor, MonitorStatus
from ..statistics.monitor_status import format_limit
from ._card import (
    calibration_entries,
    certificate_entries,
    class_entries,
    columns_text,
    pruning_entries,
    selection_entries,
    value_entries,
)

NOT_RECORDED = "not recorded"
MAX_RULES = 64  # of a larger tree, the file contains no rules
MAX_LISTED_LEAVES = 64  # of a monitor; of more leaves, those nearest to a contradiction are listed
JUDGED_REPEATS = ("natural", "copies", "in doubt")  # values of `Bound.repeats` for rows that were compared


@dataclass(frozen=True)
class Entry:
    """A named statement, or a list of statements.

    Parameters
    ----------
    name : str
    text : str or tuple of str
    is_code : bool
        Whether the text is shown line by line, in letters of one width.
    """

    name: str
    text: str | tuple[str, ...]
    is_code: bool = False


@dataclass(frozen=True)
class TableEntry:
    """A named table of texts."""

    name: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    """A titled list of entries."""

    title: str
    entries: tuple[Entry | TableEntry, ...]


@dataclass(frozen=True)
class Responsibility:
    """What the caller states about a model; None stands for what is not recorded.

    Parameters
    ----------
    purpose, owner : str, optional
        What the model is for, and who answers for it.
    date, fit_date : str, optional
        When the file was written, and when the model was fitted.
    """

    purpose: str | None = None
    owner: str | None = None
    date: str | None = None
    fit_date: str | None = None


def collect_sections(
    model: Model, responsibility: Responsibility, files: Sequence[FileRecord] = (), monitor: Monitor | None = None
) -> tuple[Section, ...]:
    """Return the sections of a governance file.

    Parameters
    ----------
    model : Model
    responsibility : Responsibility
    files : sequence of FileRecord
        Files that the caller names, such as the model file, or data files of a fit that recorded none.
    monitor : Monitor, optional
        The monitor of this model.
    """
    record = DataRecord.of(model)
    status = None if monitor is None else monitor.status()
    return (
        Section("Purpose and responsibility", _responsibility_entries(model, responsibility)),
        Section("Data", _data_entries(model, record, files)),
        Section("Columns", _column_entries(model, record)),
        Section("How the tree was made", _method_entries(model)),
        Section("Parameters", (_parameter_table(model),)),
        Section("The tree", _tree_entries(model)),
        Section("Error", (Entry("measured", tuple(describe_scores(model))),)),
        Section("Certificate", _named(certificate_entries(model.certificate, currency_of(model)))),
        _calibration_section(model),
        Section("Population groups", _group_entries(model)),
        Section("Monitoring", _monitoring_entries(monitor, status)),
        Section("What was not checked", (Entry("not checked", tuple(_unchecked(model, record, status))),)),
        Section("Versions", _version_entries(record)),
    )


def _named(entries: Sequence[Sequence[str]]) -> tuple[Entry | TableEntry, ...]:
    """Return entries of the model card as entries of the file."""
    return tuple(Entry(name, text) for name, text in entries)


def _parameter_table(model: Model) -> Entry | TableEntry:
    if not model.parameters:
        return Entry("parameters", NOT_RECORDED)
    return TableEntry("parameters", ("parameter", "value"), tuple(map(_pair, value_entries(model.parameters))))


def _pair(entry: Sequence[str]) -> tuple[str, str]:
    name, text = entry
    return name, text


def _responsibility_entries(model: Model, stated: Responsibility) -> tuple[Entry, ...]:
    target = model.metadata.get("target")
    predicts = "classes" if model.is_classifier else "numbers"
    return (
        Entry("purpose", _one_line(stated.purpose)),
        Entry("owner", _one_line(stated.owner)),
        Entry("file written on", _one_line(stated.date)),
        Entry("model fitted on", _one_line(stated.fit_date)),
        Entry("predicts", f"{predicts}; target column: {_one_line(target)}"),
        Entry("hash of the predictions", f"{model_hash(model)} (equal for models with the same tree and predictions)"),
    )


def _one_line(text: object) -> str:
    return as_one_line(text) if isinstance(text, str) and text.strip() else NOT_RECORDED


def _data_entries(model: Model, record: DataRecord, files: Sequence[FileRecord]) -> tuple[Entry | TableEntry, ...]:
    growing = sum(file.use == "growing" for file in record.files or ())
    entries: list[Entry | TableEntry] = [_file_table((*(record.files or ()), *files))]
    if not growing:
        entries.append(Entry("files of the growing rows", f"{NOT_RECORDED}: the model does not name them"))
    entries.append(Entry("growing rows", _sentence(growing_role(model).text)))
    role = holdout_role(model)
    entries.append(Entry("held-out rows", "none" if role is None else role.text))
    for name, key in (
        ("groups among the growing rows", "groups"),
        ("groups among the held-out rows", "held_out_groups"),
    ):
        if key in model.metadata:
            entries.append(Entry(name, f"{model.metadata[key]}"))
    if model.class_grown is None:
        return (*entries, Entry("target", "a number"))
    names = class_names_of(model.tree, None, model.class_grown.n_labels)
    return (*entries, *_named(class_entries(model.class_grown, names)))


def _sentence(text: str) -> str:
    return text.removeprefix("the ")


def _file_table(files: Sequence[FileRecord]) -> TableEntry:
    uses = {
        "growing": "grew the tree (and what was held out from these rows)",
        "held out": "held out",
        "model": "contains the model",
        "given": "named when this file was written; whether the model was made from it is not recorded",
    }
    rows = tuple(
        (as_one_line(file.name), uses.get(file.use, NOT_RECORDED), f"{file.n_bytes:,}", as_one_line(file.sha256))
        for file in files
    )
    return TableEntry("files", ("file", "use", "bytes", "SHA-256"), rows or ((NOT_RECORDED,) * 4,))


def _column_entries(model: Model, record: DataRecord) -> tuple[Entry | TableEntry, ...]:
    schema, n_rows = model.tree.schema, record.n_rows
    if schema is None or record.columns is None:
        return (Entry("columns", f"{NOT_RECORDED}: the tree is a bare structure"),)
    rows = []
    for column in record.columns:
        if column.n_missing is None:
            missing = "some; number not recorded"
        elif n_rows:
            missing = f"{column.n_missing:,} of {n_rows:,} ({percent_text(column.n_missing / n_rows)})"
        else:
            missing = f"{column.n_missing:,}"
        rows.append((as_one_line(column.name), column.kind, missing, "yes" if column.is_used else "no"))
    return (
        Entry("columns", columns_text(schema)),
        TableEntry("list of columns", ("column", "kind", "missing in growing", "tested by the tree"), tuple(rows)),
    )


def _method_entries(model: Model) -> tuple[Entry | TableEntry, ...]:
    entries = list(_named(pruning_entries(model)))
    if model.edit_texts:
        entries.append(Entry("changed by hand", tuple(map(as_one_line, model.edit_texts))))
    if model.selection is None:
        return (*entries, Entry("choice of the size", f"{NOT_RECORDED}: the model has no table of candidates"))
    rows = tuple(map(_pair, selection_entries(model.selection)))
    return (*entries, TableEntry("choice of the size", ("of the choice", "value"), rows))


def _tree_entries(model: Model) -> tuple[Entry, ...]:
    n_leaves = model.pruning.n_leaves
    if n_leaves > MAX_RULES or model.tree.schema is None or not model.tree.has_tests:
        reason = f"the tree has {n_leaves:,} leaves" if n_leaves > MAX_RULES else "the tree is a bare structure"
        return (Entry("rules", f"not listed: {reason}"),)
    # Rules would not follow surrogates, which take the place of a test whose value is missing.
    has_surrogates = model.tree.surrogates is not None
    export, name = (export_text, "tree") if has_surrogates else (export_rules, "rules")
    text: str = export(model.tree, model.grown, pruning=model.pruning)
    return (Entry(name, tuple(text.splitlines()), is_code=True),)


def _group_entries(model: Model) -> tuple[Entry | TableEntry, ...]:
    entries: list[Entry | TableEntry] = []
    for rates in model.group_rates:
        head, rows = rates.table()
        name = f"groups of {as_one_line(rates.column)}"
        entries += [Entry(name, as_one_line(str(rates))), TableEntry(name, tuple(head), _with_rates(rows))]
    return tuple(entries) or (
        Entry(
            "groups", f"{NOT_RECORDED}: nothing here limits the error in any population group or a difference of groups"
        ),
    )


def _calibration_section(model: Model) -> Section:
    title = "Prediction sets" if model.is_classifier else "Prediction intervals"
    entries = _named(calibration_entries(model))
    return Section(title, entries or (Entry("statement", f"{NOT_RECORDED}: no rows calibrate them"),))


def _with_rates(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the rows of `GroupRates.table` with the name of the rate in each of them, not only in the first."""
    complete, rate = [], ""
    for first, *cells in rows:
        rate = first or rate
        complete.append((rate, *map(as_one_line, cells)))
    return tuple(complete)


def _monitoring_entries(monitor: Monitor | None, status: MonitorStatus | None) -> tuple[Entry | TableEntry, ...]:
    if monitor is None or status is None:
        return (Entry("status", f"{NOT_RECORDED}: no monitor was given"),)
    leaves = sorted(status.leaves, key=lambda leaf: leaf.alpha * leaf.evidence, reverse=True)[:MAX_LISTED_LEAVES]
    rows = []
    for leaf in leaves:
        limit = "not tested" if leaf.limit is None else format_limit(leaf.limit)
        verdict = "contradicted" if leaf.is_contradicted else "not contradicted"
        cells = (f"{leaf.n:,}", f"{leaf.errors:,}", limit, "" if leaf.limit is None else verdict)
        rows.append((as_one_line(leaf.rule), *cells))
    entries: list[Entry | TableEntry] = [
        Entry("status", as_one_line(str(status))),
        Entry("batches", f"{monitor.n_batches:,}"),
        Entry("shares of rows", as_one_line(str(status.shares)) if status.n else "no rows were counted"),
        TableEntry("rules", ("rule", "rows", "errors", "limit", "verdict"), tuple(rows)),
    ]
    if status.plan.leaf_note:
        entries.append(Entry("limits of rules", f"none: {as_one_line(status.plan.leaf_note)}"))
    if len(leaves) < len(status.leaves):
        entries.append(Entry("rules not listed", f"{len(status.leaves) - len(leaves):,}, with less evidence"))
    return tuple(entries)


def _unchecked(model: Model, record: DataRecord, status: MonitorStatus | None) -> list[str]:
    """Return what was not checked, according to the model and the monitor."""
    bound = model.certificate
    statements = [] if bound is None else _unchecked_of_certificate(bound)
    if not any(file.use == "growing" for file in record.files or ()):
        statements.append("Which data files the growing rows came from.")
    if not model.group_rates:
        statements.append("Whether the tree treats population groups alike: no group results are recorded.")
    if status is None:
        statements.append("Whether rows have changed since the model was made: no monitoring results were given.")
    elif not status.n:
        statements.append("Whether rows have changed since the model was made: the monitor has counted no rows.")
    statements.append("Whether the data are right: values and outcomes were taken as they are.")
    statements.append("Whether a tested column is a cause of the outcome: a tree describes the rows it was grown on.")
    return statements


def _unchecked_of_certificate(bound: Bound) -> list[str]:
    statements = []
    if bound.stated:
        statements.append(f"The certificate: it is stated in {as_one_line(bound.stated)} and was not computed again.")
    statements.append(
        f"Whether the certifying {bound.unit}s are independent and come from where new rows will come from."
    )
    statements.append(
        "Whether somebody looked at the certifying rows before the tree was chosen: a look leaves no record."
    )
    if not bound.is_checked:
        reason = f" ({as_one_line(bound.freshness)})" if bound.freshness else ""
        statements.append(f"Whether the certifying rows were used before{reason}.")
    if bound.repeats == "independent":
        statements.append("Whether equal rows are copies: the caller stated that all rows are independent draws.")
    elif bound.repeats not in JUDGED_REPEATS:
        statements.append("Whether the certifying rows are copies of one another or of growing rows.")
    elif not bound.copies_detectable:
        statements.append(
            "Whether a part of the certifying rows was copied: among rows with so few distinct values, copies of some "
            "rows would not have been noticed."
        )
    return statements


def _version_entries(record: DataRecord) -> tuple[Entry, ...]:
    return (
        Entry("model fitted with", _one_line(record.fitted_with)),
        Entry("this file written with", f"secateur {__version__}"),
        Entry("python", platform.python_version()),
        Entry("numpy", np.__version__),
    )


def as_plain(sections: Sequence[Section]) -> dict[str, Any]:
    """Return sections as plain values: by title, and within a section by name; a table is a list of rows by column."""
    document: dict[str, Any] = {}
    for section in sections:
        values: dict[str, Any] = {}
        for entry in section.entries:
            if isinstance(entry, TableEntry):
                name = f"{entry.name} (table)" if entry.name in values else entry.name
                values[name] = [dict(zip(entry.head, row, strict=True)) for row in entry.rows]
            else:
                values[entry.name] = list(entry.text) if isinstance(entry.text, tuple) else entry.text
        document[section.title] = values
    return document
