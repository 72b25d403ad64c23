"""The tree as a plain nested CASE with the names of its columns, for people who read SQL.

What is missing meets no condition and takes the ELSE, which is therefore always where the tree sends it. NaN does
the same where it differs from everything; DuckDB and PostgreSQL sort it above all numbers, and there a guard
stands beside the tests that would let it pass. A threshold that float32 holds as well is written in digits; others
get an exponent, which makes them doubles.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np

from ..data.cells import EPOCH
from ..errors import UnsupportedError
from ..show.wording import plain
from ._dialects import Dialect
from ._walk import Exported, Family, categories_of, check_exact

MOST_LEVELS = 30  # that readers and parsers bear: SQLite stops at 50
LARGEST = float(np.finfo(np.float64).max)


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
    waiting: list[tuple[int, int | str]] = [(1, 0)]
    while waiting:
        level, what = waiting.pop()
        pad = "  " * level
        if isinstance(what, str):
            yield pad + what
        elif not exported.children[what]:
            yield f"{pad}{_answer(exported, speech, what, is_leaf=is_leaf)}  -- {_told(exported, what)}"
        else:
            yield f"{pad}CASE"
            waiting.append((level, "END"))
            waiting.append((level + 2, exported.default[what]))
            waiting.append((level + 1, "ELSE"))
            for child, condition in reversed(_conditions(exported, speech, what)):
                waiting.append((level + 2, child))
                waiting.append((level + 1, f"WHEN {condition} THEN"))


def _answer(exported: Exported, speech: Dialect, v: int, *, is_leaf: bool) -> str:
    if is_leaf:
        return str(exported.nodes[v])
    answer = exported.answers[v]
    return speech.literal(exported.labels[answer] if exported.labels else answer)


def _told(exported: Exported, v: int) -> str:
    """The number of a leaf, its rows and its shares."""
    view = exported.view
    told = f"leaf {exported.nodes[v]}" + (f", {view.size(v)}" if view.sample is not None else "")
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
        check_exact(column)
        known = categories_of(column)
        found = [(child, _among(speech, known, cell, codes)) for child, codes in exported.sets(v)]
        return found or [(exported.default[v], "1 = 0")]  # a CASE has one WHEN at least
    (low, high), threshold = exported.children[v], exported.threshold[v]
    goes_low = exported.default[v] == high
    has_high_nan = speech.name in ("duckdb", "postgres") and not column.is_date
    guard = f" AND {cell} < CAST('NaN' AS double precision)" if has_high_nan else ""
    if threshold == np.inf:
        return [(low, f"{cell} IS NOT NULL{guard}")] if goes_low else [(high, "1 = 0")]
    number = -LARGEST if threshold == -np.inf else threshold
    sign = ("<" if goes_low else ">=") if threshold == -np.inf else "<=" if goes_low else ">"
    literal = _moment(number) if column.is_date else _number(speech, number)
    if goes_low:
        return [(low, f"{cell} {sign} {literal}")]
    return [(high, f"{cell} {sign} {literal}{guard}")]


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
