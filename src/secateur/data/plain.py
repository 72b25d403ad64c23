"""Small CSV files of plain cells, read here: importing a library that reads them would take ten times as long.

Only what can be read in one way is: numbers in their usual form, and columns with a word that nobody takes for
a number, a date or a truth value. Of any doubt the answer is None, and a library decides. What is read here
is read as pyarrow would.
"""

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from .columns import Given, Numbers, read_cells

MOST_BYTES = 1 << 18
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})").fullmatch
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?").fullmatch
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_ -]*").fullmatch
_NO_WORDS = {"true", "false", "nan", "inf", "infinity", "null", "none", "na"}


def read_plain(
    path: str | os.PathLike[str],
    delimiter: str,
    na: Collection[str],
    text: Collection[str],
    names: Sequence[str] | None,
) -> tuple[Sequence[str], list[Given]] | None:
    """Return the names and columns of a small CSV file, None if it is not small or not plain.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "rows.csv")
    ...     _ = file.write_text("size,colour\\n1.5,red\\n2,\\n")
    ...     names, (size, colour) = read_plain(file, ",", [""], [], None)
    >>> names, size.values.tolist(), colour.levels, colour.codes.tolist()
    (['size', 'colour'], [1.5, 2.0], ('red',), [0, -1])
    """
    file = Path(path)
    if file.suffix.lower() not in (".csv", ".tsv") or file.stat().st_size > MOST_BYTES:
        return None
    try:
        content = file.read_bytes().decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
    lines = content.removesuffix("\n").split("\n")
    if any(mark in content for mark in ('"', "\r", "\0", "\ufeff")) or not all(lines) or len(delimiter) != 1:
        return None
    if names is None:
        names = lines.pop(0).split(delimiter)
    cells = [line.split(delimiter) for line in lines]
    if not cells or {len(row) for row in cells} != {len(names)} or not all(names) or len(set(names)) < len(names):
        return None
    columns = [
        _column(list(column), name, na, name in text)
        for name, column in zip(names, zip(*cells, strict=True), strict=True)
    ]
    return None if None in columns else (names, columns)  # type: ignore[return-value]


def _column(cells: Sequence[str], name: str, na: Collection[str], is_text: bool) -> Given | None:
    """A column, None if its cells could be read in more than one way."""
    is_missing = np.array([cell in na for cell in cells])
    there = [cell for cell in cells if cell not in na]
    if not there:
        return None
    if is_text or any(_WORD(cell) and cell.lower() not in _NO_WORDS for cell in there):
        return read_cells(np.array([None if cell in na else cell for cell in cells], object), name)
    if all(map(_WHOLE, there)):
        whole = np.array([0 if cell in na else int(cell) for cell in cells], np.int64)
        return Numbers(whole, is_missing if is_missing.any() else None)
    if all(map(_NUMBER, there)):
        return Numbers(np.array([np.nan if cell in na else float(cell) for cell in cells]))
    return None
