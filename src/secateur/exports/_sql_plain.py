"""The tree as a plain nested CASE with the names of its columns, for people who read SQL.

A missing value meets no condition and takes the ELSE, so the ELSE is always the default child of the test. NaN does
the same in engines where NaN differs from every number. DuckDB and PostgreSQL sort NaN above all numbers, so there
the tests that NaN would pass get a guard. A threshold that float32 can hold is written in digits; any other gets an
exponent, which makes it a double.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta

import numpy as np

from ..core.class_names import as_one_line
from ..data.dates import EPOCH
from ..data.table import Column
from ..errors import UnsupportedError
from ._dialect import Dialect
from ._exported_tree import ExportedTree
from ._values import categories_of

MAX_LEVELS = 30  # readers and parsers cope with so deep a CASE; SQLite stops at 50


def can_be_plain(exported: ExportedTree) -> bool:
    """Return whether a nested CASE can express the tree, and engines can parse it."""
    values = [value for j in exported.tested_columns for value in exported.columns[j].categories]
    return int(exported.tree.depth.max()) <= MAX_LEVELS and not any(
        isinstance(value, float) and not np.isfinite(value) for value in values
    )


def has_dates(exported: ExportedTree) -> bool:
    """Return whether the tree tests dates, which only a plain query compares as dates."""
    return any(exported.columns[j].is_date for j in exported.tested_columns)


def nested_case(exported: ExportedTree, target: Dialect, *, returns_leaf: bool) -> Iterator[str]:
    """Yield the lines of the expression that returns the leaf or the prediction of one row."""
    parts = case_parts(exported, 0, lambda v: _conditions(exported, target, v), lambda v: not exported.children[v])
    for level, part in parts:
        indent = "  " * (level + 1)
        if isinstance(part, str):
            yield indent + part
        else:
            value = exported.node_ids[part] if returns_leaf else exported.prediction(part)
            yield f"{indent}{target.literal(value)}  -- {_leaf_comment(exported, part)}"


def case_parts(
    exported: ExportedTree, v: int, conditions: Callable[[int], list[tuple[int, str]]], is_end: Callable[[int], bool]
) -> Iterator[tuple[int, str | int]]:
    """Yield the parts of the CASE of the subtree of node `v`, each with its level of nesting.

    A part is text, or the number of a node at which the CASE ends. `conditions(v)` returns the children of a node but
    its default child, with the condition of each.
    """
    pending: list[tuple[int, int | str]] = [(0, v)]
    while pending:
        level, part = pending.pop()
        if isinstance(part, str) or is_end(part):
            yield level, part
            continue
        yield level, "CASE"
        pending += [(level, "END"), (level + 2, exported.default[part]), (level + 1, "ELSE")]
        for child, condition in reversed(conditions(part)):
            pending += [(level + 2, child), (level + 1, f"WHEN {condition} THEN")]


def _leaf_comment(exported: ExportedTree, v: int) -> str:
    """Return the number of a leaf, its rows and its three largest class shares, for a comment."""
    view = exported.view
    comment = f"leaf {exported.node_ids[v]}" + (f", {view.rows_text(v)}" if view.sample is not None else "")
    if view.shares is None:
        return comment
    order = np.argsort(-view.shares[v], kind="stable")[:3].tolist()
    shares = [f"{as_one_line(view.classes[c])} {100 * float(view.shares[v, c]):.1f} %" for c in order]
    return f"{comment}: {', '.join(shares)}"


def _conditions(exported: ExportedTree, target: Dialect, v: int) -> list[tuple[int, str]]:
    """Return the children of a node but its default child, and the condition of each."""
    column = exported.columns[exported.feature[v]]
    cell = target.identifier(column.name)
    if exported.is_nominal[v]:
        conditions = [(child, _membership(target, column, cell, codes)) for child, codes in exported.category_sets(v)]
        return conditions or [(exported.default[v], "1 = 0")]  # a CASE has at least one WHEN
    child, sign, threshold = exported.numeric_condition(v)
    if sign == "never":
        return [(child, "1 = 0")]
    if sign == "known":
        test = "IS NOT NULL"
    else:
        test = f"{sign} {_date(threshold) if column.is_date else _number(target, threshold)}"
    # NaN is above all numbers in these dialects; the guard makes NaN fail the test.
    needs_guard = target.name in ("duckdb", "postgres") and not column.is_date and sign in (">", ">=", "known")
    guard = f" AND {cell} < CAST('NaN' AS double precision)" if needs_guard else ""
    return [(child, f"{cell} {test}{guard}")]


def _membership(target: Dialect, column: Column, cell: str, codes: list[int]) -> str:
    """Return the condition that a cell holds a category with one of these codes."""
    family, values = categories_of(column)
    literals = [
        target.literal(float(values[code]) if family == "number" else values[code])
        for code in codes
        if code < len(values)
    ]
    alternatives = []
    if literals:
        alternatives.append(f"{cell} = {literals[0]}" if len(literals) == 1 else f"{cell} IN ({', '.join(literals)})")
    if len(values) in codes:  # the code after the last category is a missing value
        alternatives.append(f"{cell} IS NULL")
    return " OR ".join(alternatives) or "1 = 0"


def _number(target: Dialect, value: float) -> str:
    """Return a threshold in digits where any arithmetic reads the same number, else as a double."""
    with np.errstate(over="ignore"):
        is_short = float(np.float32(value)) == value and abs(value) < 1e15
    return repr(value).removesuffix(".0") if is_short and "e" not in repr(value) else target.number(value)


def _date(days: float) -> str:
    """Return days since 1970-01-01 as a literal of a date, or of a time where it is no whole day."""
    try:
        if days == int(days):
            return f"DATE '{EPOCH + timedelta(days=int(days)):%Y-%m-%d}'"
        return f"TIMESTAMP '{EPOCH + timedelta(days=days):%Y-%m-%d %H:%M:%S.%f}'"
    except OverflowError as error:
        raise UnsupportedError(
            f"a test compares a date with day {days:g} since 1970-01-01; years from 1 to 9999 can be written: export "
            "to Python or C"
        ) from error
