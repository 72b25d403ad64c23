"""The model card: where a tree comes from and what may be said of it; and what the page shows of the rows."""

import platform
from typing import Any

import numpy as np

from .. import __version__
from .._utils.arrays import Array
from ..core import Bound, Model, PruningSequence, Selection
from ..core.class_names import plain
from ..data.table import Table
from ..inspection.wording import value_text
from ..plot.distribution import Bars, known_values, node_bars
from ._numbers import Entries, number, percent, short

NOT_COVERED = (
    "Rows from another place or time, rows chosen in another way, and errors of measurement. A limit on the error of "
    "all rows says nothing of a single group of them."
)
ASSUMPTIONS = (
    "The rows are independent of one another and come from where new rows will come from; the sample did not grow the "
    "tree. Choosing another tree after a look at this page needs another statement."
)
MOST_NODES = 250  # tests with most rows; the others have no bars
Section = list[Any]  # title, then a list of [name, text]


def card(model: Model, sequence: PruningSequence, table: Table | None, classes: list[str]) -> list[Section]:
    """Return the sections of the model card: a title, and a list of names and texts."""
    made_with = {"secateur": __version__, "python": platform.python_version(), "numpy": np.__version__}
    sections = {
        "Data": _data(model, classes) + ([] if table is None else _rows(model, table)),
        "Tree and pruning": _pruning(model, sequence),
        "Choice of the size": [] if model.selection is None else _selection(model.selection),
        "Certificate": _certificate(model.certificate),
        "Parameters": _listed(model.parameters),
        "Where it comes from": _listed({**made_with, **model.metadata}),
    }
    return [[title, metadata] for title, metadata in sections.items() if metadata]


def _data(model: Model, classes: list[str]) -> list[list[str]]:
    schema, grown = model.tree.schema, model.class_grown
    found = [
        [f"{name} sample", f"{number(sample.total[0].item())} rows, named {plain(sample.sample)}"]
        for name, sample in (("growing", model.grown), ("held-out", model.holdout))
        if sample is not None
    ]
    if schema is not None:
        n_nominal = sum(column.kind == "nominal" for column in schema.columns)
        n_gaps = sum(column.has_missing for column in schema.columns)
        n_dates = sum(column.is_date for column in schema.columns)
        columns = f"{len(schema.columns):,}: {n_nominal:,} nominal, {len(schema.columns) - n_nominal:,} numeric"
        columns += f" ({n_dates:,} of them dates)" if n_dates else ""
        found.append(["columns", f"{columns}; {n_gaps:,} with missing values in growing"])
    used = np.unique(model.tree.feature[model.pruning.is_kept])
    found.append(["columns used", f"{np.count_nonzero(used >= 0):,} by the tree as fitted"])
    if grown is None:
        return [*found, ["target", "a number; RMSE is the root of the mean squared error"]]
    least = grown.unrecorded_errors_if_leaf(grown.majority)[model.tree.is_leaf].sum().item() / (
        grown.total[0].item() or 1
    )
    why = "rows that are equal in all columns but not in class cannot be told apart"
    return [
        *found,
        ["target", f"{grown.n_classes:,} classes"],
        ["unavoidable error", f"at most {100 * least:.3g} % in growing, that of the whole tree: {why}"],
        ["classes in growing", _class_rows(grown.by_class[0], classes)],
        ["counts", "whole numbers, compared exactly" if grown.has_integer_weights else "weights"],
    ]


def _class_rows(rows: Array, names: list[str]) -> str:
    """The rows of each class, the most frequent first."""
    order = np.argsort(-rows, kind="stable")
    told = [f"{names[c]} {number(rows[c].item())} ({percent(rows[c] / max(rows.sum(), 1e-300))})" for c in order[:10]]
    return ", ".join([*told, *([f"{len(order) - 10:,} more"] if len(order) > 10 else [])])


def _pruning(model: Model, sequence: PruningSequence) -> list[list[str]]:
    pruning, tree = model.pruning, model.tree
    kind = "each a pruning of the one before" if sequence.nested else "not nested"
    whose = "" if model.sequence is not None else "; made for this page, as the model came without a sequence"
    found = [
        ["as grown", f"{tree.n_leaves:,} leaves, {tree.n_nodes:,} nodes, depth {int(tree.depth.max()):,}"],
        ["as fitted", f"{pruning.n_leaves:,} leaves, {pruning.n_nodes:,} nodes, {len(pruning.cuts):,} cuts"],
        ["rule", plain(pruning.rule) or "not named"],
        ["samples that shaped it", ", ".join(plain(s) for s in sorted(pruning.seen)) or "not named"],
        ["slider", f"{len(sequence):,} prunings ({plain(sequence.rule) or 'rule not named'}), {kind}{whose}"],
    ]
    if pruning.certified is not None:
        told = "holds" if pruning.certified else f"does not hold: {plain(pruning.note)}"
        found.append(["guarantee of the rule", told])
    elif pruning.note:
        found.append(["note", plain(pruning.note)])
    return found


def _selection(selection: Selection) -> list[list[str]]:
    def told(i: int) -> str:
        value, spread = number(float(selection.error[i])), number(float(selection.se[i]))
        return f"{selection.sequence.n_leaves[i]:,} leaves, {selection.score} {value} with standard error {spread}"

    return [
        ["rule", plain(selection.select)],
        ["measured on", f"{plain(selection.sample)}, {selection.n:,} rows"],
        [f"least {selection.score}", told(selection.best)],
        ["chosen", told(selection.chosen)],
        *_listed({**selection.growing, **selection.details}),
        *([["other ways of growing tried", f"{len(selection.pool):,}"]] if selection.pool else []),
    ]


def _certificate(bound: Bound | None) -> list[list[str]]:
    if bound is None:
        return [["statement", "None was asked for: nothing here limits the error on new rows."]]
    found = [
        ["statement", plain(str(bound))],
        ["method", plain(bound.method)],
        ["found in the sample", f"{number(bound.errors)} errors in {bound.n:,} rows"],
        ["price of the choice", f"{number(bound.complexity)} nats"],
    ]
    if bound.freshness:
        found.append(["are the rows fresh?", plain(bound.freshness)])
    if bound.certified:
        found += [["assumptions", ASSUMPTIONS], ["not covered", NOT_COVERED]]
    return found


def _listed(metadata: dict[str, Any]) -> list[list[str]]:
    return [[plain(str(name)), _text(value)] for name, value in metadata.items()]


def _text(value: object) -> str:
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return ", ".join(f"{plain(str(k))} {_text(v)}" for k, v in value.items()) or "none"
    if isinstance(value, list | tuple) and len(value) > 12:
        return f"{len(value):,} values"
    return plain(str(value))


def rows_of(model: Model, table: Table) -> Entries:
    """Return the number of rows, what each tested column holds, and the distributions at tests."""
    tree = model.tree
    internal = tree.internal
    largest = internal[np.argsort(-model.grown.total[internal], kind="stable")][:MOST_NODES]
    bars = node_bars(tree, table, sorted(largest.tolist()))
    return {
        "n": table.n_rows,
        "columns": {str(j): _column(table, int(j)) for j in np.unique(tree.feature[internal])},
        "nodes": {str(v): _packed(found) for v, found in bars.items()},
    }


def _packed(bars: Bars) -> Entries:
    found: Entries = {"missing": bars.n_missing}
    if bars.codes is not None:
        found["codes"] = bars.codes
    if bars.ends is not None:
        found["range"] = short(bars.ends)
    if bars.classes:
        return found | {"classes": bars.classes, "by_class": bars.rows.tolist()}
    return found | {"n": bars.rows[0].tolist()} | ({} if bars.mean is None else {"mean": short(bars.mean, 4)})


def _column(table: Table, j: int) -> Entries:
    """The range, the middle and the gaps of a column of numbers; the most frequent category of another."""
    values, is_known = known_values(table, j, slice(None))
    found: Entries = {"missing": int(np.count_nonzero(~is_known))}
    if not len(values):
        return found
    if table.schema.columns[j].kind == "nominal":
        return found | {"common": int(np.bincount(values).argmax())}
    parts = short(np.quantile(values, [0, 0.5, 1], method="lower"))
    return found | dict(zip(("low", "middle", "high"), parts, strict=True))


def _rows(model: Model, table: Table) -> list[list[str]]:
    """Gaps and ranges of the columns that the tree as fitted tests."""
    found = [["rows shown", f"{table.n_rows:,}, as bars at tests"]]
    for j in np.unique(model.tree.feature[model.pruning.is_kept]).tolist()[:40]:
        about, column = _column(table, j), table.schema.columns[j]
        told = f"{100 * about['missing'] / table.n_rows:.3g} % missing"
        if "low" in about:
            low, middle, high = (value_text(column, about[name]) for name in ("low", "middle", "high"))
            told = f"{low} to {high}, half at most {middle}; {told}"
        elif "common" in about:
            told = f"{len(column.categories):,} categories, most often {value_text(column, about['common'])}; {told}"
        found.append([plain(column.name), told])
    return found
