"""The model card: where a tree comes from and what may be said of it."""

import platform
from typing import Any

import numpy as np

from .. import __version__
from ..data.arrays import Array
from ..nouns import Bound, Model, PruningSequence, Selection
from ..show.wording import plain
from ._numbers import number, percent

NOT_COVERED = (
    "Rows from another place or time, rows chosen in another way, and errors of measurement. A limit on the error of "
    "all rows says nothing of a single group of them."
)
ASSUMPTIONS = (
    "The rows are independent of one another and come from where new rows will come from; the sample did not grow the "
    "tree. Choosing another tree after a look at this page needs another statement."
)
Section = list[Any]  # title, then a list of [name, text]


def card(model: Model, sequence: PruningSequence, rows: list[list[str]], classes: list[str]) -> list[Section]:
    """Return the sections of the model card: a title, and a list of names and texts; `rows` tell of the rows."""
    made_with = {"secateur": __version__, "python": platform.python_version(), "numpy": np.__version__}
    sections = {
        "Data": [*_data(model, classes), *rows],
        "Tree and pruning": _pruning(model, sequence),
        "Choice of the size": [] if model.selection is None else _selection(model.selection),
        "Certificate": _certificate(model.certificate),
        "Parameters": _listed(model.parameters),
        "Where it comes from": _listed({**made_with, **model.facts}),
    }
    return [[title, facts] for title, facts in sections.items() if facts]


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
    least = grown.wrong(grown.majority)[model.tree.is_leaf].sum().item() / (grown.total[0].item() or 1)
    why = "rows that are equal in all columns but not in class cannot be told apart"
    return [
        *found,
        ["target", f"{grown.n_classes:,} classes"],
        ["unavoidable error", f"at most {100 * least:.3g} % in growing, that of the whole tree: {why}"],
        ["classes in growing", _class_rows(grown.by_class[0], classes)],
        ["counts", "whole numbers, compared exactly" if grown.is_whole else "weights"],
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


def _listed(facts: dict[str, Any]) -> list[list[str]]:
    return [[plain(str(name)), _text(value)] for name, value in facts.items()]


def _text(value: object) -> str:
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return ", ".join(f"{plain(str(k))} {_text(v)}" for k, v in value.items()) or "none"
    if isinstance(value, list | tuple) and len(value) > 12:
        return f"{len(value):,} values"
    return plain(str(value))
