"""The tree as a plain nested CASE with the names of its columns, for people who read SQL.

What is missing meets no condition and takes the ELSE, which is therefore always where the tree sends it. NaN does
the same where it differs from everything; DuckDB and PostgreSQL sort it above all numbers, and there a guard
stands beside the tests that would let it pass. A threshold that float32 holds as well is written in digits; others
get an exponent, which makes them doubles.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import numpy as np

from ..core.class_names import plain
from ..data.cell_text import EPOCH
from ..errors import UnsupportedError
from ._dialects import Dialect
from ._walk import Exported, Family, categories_of

MOST_LEVELS = 30  # that readers and parsers bear: SQLite stops at 50


def can_be_plain(exported: Exported) -> bool:
    """Whether a nested CASE can say what the tree says, and engines can parse it."""
    values = [value for j in exported.used for value in exported.columns[j].categories]
    return int(exported.tree.depth.max()) <= MOST_LEVELS and not any(
        isinstance(value, float) and not np.isfinite(value) for value in values
    )


def has_dates(exported: Exported) -> bool:
    """Whether the tree tests dates, which only a plain query compares as such."""
    return any(exported.columns[j].is_date for j in exported.used)


def nested_case(exported: Exported, speech: Dialect, *, is_leaf: bool) -> Iterator[str]:
    """The lines of the expression that answers for one row."""
    words = case_words(exported, 0, lambda v: _conditions(exported, speech, v), lambda v: not exported.children[v])
    for level, word in words:
        pad = "  " * (level + 1)
        if isinstance(word, str):
            yield pad + word
        else:
            answer = exported.nodes[word] if is_leaf else exported.answer(word)
            yield f"{pad}{speech.literal(answer)}  -- {_told(exported, word)}"


def case_words(
    exported: Exported, v: int, conditions: Callable[[int], list[tuple[int, str]]], is_end: Callable[[int], bool]
) -> Iterator[tuple[int, str | int]]:
    """The words of the CASE that node `v` is, each with its level, down to nodes that are ends, which stay numbers."""
    waiting: list[tuple[int, int | str]] = [(0, v)]
    while waiting:
        level, what = waiting.pop()
        if isinstance(what, str) or is_end(what):
            yield level, what
            continue
        yield level, "CASE"
        waiting += [(level, "END"), (level + 2, exported.default[what]), (level + 1, "ELSE")]
        for child, condition in reversed(conditions(what)):
            waiting += [(level + 2, child), (level + 1, f"WHEN {condition} THEN")]


def _told(exported: Exported, v: int) -> str:
    """The number of a leaf, its rows and its shares."""
    view = exported.view
    told = f"leaf {exported.nodes[v]}" + (f", {view.rows_text(v)}" if view.sample is not None else "")
    if view.shares is None:
        return told
    order = np.argsort(-view.shares[v], kind="stable")[:3].tolist()
    shares = [f"{plain(view.classes[c])} {100 * float(view.shares[v, c]):.1f} %" for c in order]
    return f"{told}: {', '.join(shares)}"


def _conditions(exported: Exported, speech: Dialect, v: int) -> list[tuple[int, str]]:
    """The children of a node but its default, and when a row goes there."""
    column = exported.columns[exported.feature[v]]
    cell = speech.identifier(column.name)
    if exported.is_nominal[v]:
        known = categories_of(column)
        found = [(child, _among(speech, known, cell, codes)) for child, codes in exported.sets(v)]
        return found or [(exported.default[v], "1 = 0")]  # a CASE has one WHEN at least
    child, sign, number = exported.other_way(v)
    if sign == "never":
        return [(child, "1 = 0")]
    test = (
        "IS NOT NULL" if sign == "known" else f"{sign} {_moment(number) if column.is_date else _number(speech, number)}"
    )
    lets_nan_pass = speech.name in ("duckdb", "postgres") and not column.is_date and sign in (">", ">=", "known")
    return [(child, f"{cell} {test}" + (f" AND {cell} < CAST('NaN' AS double precision)" if lets_nan_pass else ""))]


def _among(speech: Dialect, known: tuple[Family, list[Any]], cell: str, codes: list[int]) -> str:
    family, values = known
    words = [speech.literal(float(values[c]) if family == "number" else values[c]) for c in codes if c < len(values)]
    parts = [f"{cell} = {words[0]}" if len(words) == 1 else f"{cell} IN ({', '.join(words)})"] if words else []
    return " OR ".join(parts + ([f"{cell} IS NULL"] if len(values) in codes else [])) or "1 = 0"


def _number(speech: Dialect, value: float) -> str:
    """A threshold in digits where any arithmetic reads the same number, else as a double."""
    with np.errstate(over="ignore"):
        is_short = float(np.float32(value)) == value and abs(value) < 1e15
    return repr(value).removesuffix(".0") if is_short and "e" not in repr(value) else speech.number(value)


def _moment(days: float) -> str:
    """Days since 1970-01-01 as a date or a time."""
    try:
        if days == int(days):
            return f"DATE '{EPOCH + timedelta(days=int(days)):%Y-%m-%d}'"
        return f"TIMESTAMP '{EPOCH + timedelta(days=days):%Y-%m-%d %H:%M:%S.%f}'"
    except OverflowError as error:
        raise UnsupportedError(
            f"a test compares a date with day {days:g} since 1970-01-01; years from 1 to 9999 can be written: export "
            "to Python or C"
        ) from error
