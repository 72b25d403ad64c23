"""Small CSV files of plain cells, read here: importing a library that reads them would take ten times as long.

Only what can be read in one way is: numbers in their usual form, and columns with a word that nobody takes for
a number, a date or a boolean. Of any doubt the answer is None, and a library decides. What is read here
is read as pyarrow would.
"""

import re
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from .columns import Given, read_cells
from .textfile import TextFile

MOST_BYTES = 1 << 18
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})").fullmatch
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?").fullmatch
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_ -]*").fullmatch
_NO_WORDS = {"true", "false", "nan", "inf", "infinity", "null", "none", "na"}


def read_plain(opened: TextFile, text: Collection[str]) -> dict[str, Given] | None:
    """Return the columns of a small text file by name, None if it is not small or not plain.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from secateur.data.textfile import Csv, open_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "rows.csv")
    ...     _ = file.write_text("size,colour\\n1.5,red\\n2,\\n")
    ...     found = read_plain(open_text(file, Csv()), [])
    >>> found["size"].values.tolist(), found["colour"].levels, found["colour"].codes.tolist()
    ([1.5, 2.0], ('red',), [0, -1])
    """
    file, names, how = Path(opened.path), opened.names, opened.how
    if file.suffix == ".gz" or file.stat().st_size > MOST_BYTES or how.decimal != "." or how.delimiter is None:
        return None
    content = file.read_bytes().decode().removeprefix("\ufeff").replace("\r\n", "\n")
    lines = content.removesuffix("\n").split("\n")
    if any(mark in content for mark in ('"', "\r", "\0", "\ufeff")) or not all(lines):
        return None
    cells = [line.split(how.delimiter) for line in lines[how.has_header :]]
    if not cells or {len(row) for row in cells} != {len(names)}:
        return None
    columns = [
        _column(column, name, how.na, name in text)
        for name, column in zip(names, zip(*cells, strict=True), strict=True)
    ]
    return None if None in columns else dict(zip(names, columns, strict=True))  # type: ignore[arg-type]


def _column(cells: Sequence[str], name: str, na: Collection[str], is_text: bool) -> Given | None:
    """A column, None if its cells could be read in more than one way."""
    there = [cell for cell in cells if cell not in na]
    convert: type[str | int | float]
    if there and (is_text or any(_WORD(cell) and cell.lower() not in _NO_WORDS for cell in there)):
        convert = str
    elif there and all(map(_NUMBER, there)):
        convert = int if all(map(_WHOLE, there)) else float
    else:
        return None
    return read_cells(np.array([None if cell in na else convert(cell) for cell in cells], object), name)
