"""A text file of cells as all readers take it: UTF-8, one delimiter, a line of names, rows of equal length.

Most files are so. Of any other (another encoding, an archive, a title above the names, cells parted by blanks)
a copy is made that is, in a folder that lives as long as it is needed.
"""

import codecs
import csv
import errno
import gzip
import io
import itertools
import os
import re
import shutil
import tempfile
import weakref
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Literal, get_args

from .._utils.warn import describe_repeated, format_names, warn
from ..errors import Argument, DataError, ParameterError, Wording
from .cell_text import has_decimal_comma

DateReading = Literal["auto", "dmy", "mdy", "text"]

DELIMITERS = ",;\t|"
BLANKS = " "  # stands for runs of blanks
HEAD = 1 << 16  # characters that tell what a file is like
MOST_TITLES = 20  # lines above the names
_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class TextOptions:
    """How text files are read; None is found from the file itself.

    Parameters
    ----------
    delimiter : str, optional
        What parts cells. A blank stands for any number of blanks.
    na : tuple of str
        Cells that mean "missing" in every column.
    has_header : bool
        Whether the first line contains names; else columns are called column1, column2, ...
    encoding : str, optional
        As Python calls it: "utf-8", "cp1252", "latin-1", ...
    decimal : "." or ",", optional
    dates : {"auto", "dmy", "mdy", "text"}
        Whether columns of dates become days since 1970-01-01, and whether the day or the month of 3/4/2024 is first.
    """

    delimiter: str | None = None
    na: tuple[str, ...] = ("",)
    has_header: bool = True
    encoding: str | None = None
    decimal: str | None = None
    dates: DateReading = "auto"

    def __post_init__(self) -> None:
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise ParameterError(Argument("delimiter", self.delimiter), "; one character is needed")
        if self.decimal not in (None, ".", ","):
            raise ParameterError(Argument("decimal", self.decimal), "; '.' or ',' is needed")
        if self.dates not in get_args(DateReading):
            raise ParameterError(Argument("dates", self.dates), "; 'auto', 'dmy', 'mdy' or 'text' is needed")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError as error:
                raise ParameterError(
                    Argument("encoding", self.encoding),
                    " is not known; 'utf-8', 'cp1252', 'latin-1' or 'utf-16' are common",
                ) from error


@dataclass(frozen=True)
class TextFile:
    """A text file that any reader takes: where it is, its names, and how it is read, with nothing left to find."""

    path: str
    names: tuple[str, ...]
    how: TextOptions
    folder: object = None  # of a copy; it goes when this does


class _Folder:
    """A folder that goes, without a word, when nobody needs it any more."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="secateur-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


def open_text_file(path: str | os.PathLike[str], how: TextOptions) -> TextFile:
    """Return a text file as all readers take it.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.csv").write_bytes(b"x;y\\n1,5;a\\n2,5;b\\n")
    ...     file = open_text_file(Path(folder, "a.csv"), TextOptions(decimal=","))
    >>> file.names, file.how.delimiter, file.how.encoding
    (('x', 'y'), ';', 'utf-8')
    """
    shown = os.fspath(path)
    try:
        return _opened(shown, how)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        is_full = getattr(error, "errno", None) == errno.ENOSPC  # where a copy in UTF-8 would go
        more = f"; set TMPDIR to a folder with more room than {tempfile.gettempdir()}" if is_full else ""
        raise DataError(f"{shown} cannot be read ({getattr(error, 'strerror', None) or error}){more}") from error
    except UnicodeError as error:
        raise DataError(
            f"{shown} is not {how.encoding or 'text'} ({error}); pass its ", Argument("encoding")
        ) from error


def _opened(shown: str, how: TextOptions) -> TextFile:
    encoding = how.encoding or _encoding(shown)
    with _text(shown, encoding) as stream:
        head = stream.read(HEAD)
        newline = None if "\r" in head and "\n" not in head else ""  # lines may end as on old Macs
        if len(head) == HEAD:  # to the end of a line
            head += stream.readline()
    if newline is None:
        head = head.replace("\r", "\n")
    if "\0" in head:
        raise DataError(f"{shown} is not a text file; save it as CSV or Parquet")
    if not head.strip(' \t\r\n"'):
        raise DataError(f"{shown} is empty (it has no first line); a line of column names and rows are needed")
    mark = how.delimiter or _delimiter(head, shown.lower())
    rows = list(enumerate(_rows(io.StringIO(head), mark, shown), 1))
    there = [(n, row) for n, row in rows if any(cell.strip() for cell in row)] or rows
    width = Counter(len(row) for _, row in there[1:] or there).most_common(1)[0][0]
    first = _first(there, width)
    (line, header), body = there[first], [row for _, row in there[first + 1 :]]
    if first:
        warn(f"{shown}: the first {line - 1} lines are skipped because they do not have {width} cells")
    names, extra = _names(header, body, width, how, shown)
    decimal = how.decimal or ("," if any(has_decimal_comma(cell) for row in body for cell in row) else ".")
    if decimal == "," and how.decimal is None:
        warn(f"{shown} writes numbers with a decimal comma; ", Argument("decimal", "."), " would read them as words")
    settled = replace(how, delimiter=mark, encoding="utf-8", decimal=decimal)
    is_one_line = not any(end in cell for cell in header for end in "\r\n")  # readers skip a line of names
    is_plain = (
        is_one_line and
        encoding in ("utf-8", "utf-8-sig") and not shown.lower().endswith(".zip")
        and mark != BLANKS and newline == "" and line == 1 and not extra and len(there) == len(rows)
    )  # fmt: skip
    if is_plain:
        return TextFile(shown, names, settled)
    folder = _Folder()
    copy = Path(folder.name, "copy.csv")
    with _text(shown, encoding, newline) as stream, copy.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\r\n")  # puts quotes around both
        cells = _even(_rows(stream, mark, shown), line - (not how.has_header), len(names), extra, shown)
        writer.writerows([[" ".join(name.split()) for name in names]] if how.has_header else [])
        writer.writerows(cells)
    return TextFile(str(copy), names, replace(settled, delimiter=","), folder)


def check_row_lengths(path: str, shown: str, how: TextOptions, n_columns: int) -> None:
    """Refuse a file with a row of another length, by its line."""
    with _text(path, "utf-8") as stream:
        for _ in _even(_rows(stream, how.delimiter or ",", shown), 0, n_columns, "", shown):
            pass


def _encoding(path: str) -> str:
    """UTF-8 if all of the file is; else Western European, and told."""
    decoder, found = codecs.getincrementaldecoder("utf-8")(), "utf-8"
    with _bytes(path) as stream:
        chunk = stream.read(1 << 20)
        for bom, name in _BOMS.items():
            if chunk.startswith(bom):
                if name == "utf-16":
                    warn(f"{path} is read as UTF-16")
                return name
        while chunk:
            if found == "utf-8" and not chunk.isascii():
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    found = "cp1252"
            if found == "cp1252" and re.search(rb"[\x81\x8d\x8f\x90\x9d]", chunk):
                found = "latin-1"
            chunk = stream.read(1 << 20)
    if found != "utf-8":
        warn(
            f"{path} is not UTF-8 and is read as {found} (Western European); use ", Argument("encoding"),
            " if it has another encoding",
        )  # fmt: skip
    return found


def _bytes(path: str) -> IO[bytes]:
    if path.lower().endswith(".gz"):
        return gzip.open(path)  # type: ignore[return-value]
    file = Path(path).open("rb")  # noqa: SIM115 the caller closes it
    is_zip = file.read(4) == b"PK\3\4"
    file.seek(0)
    if not is_zip:
        return file
    file.close()
    with zipfile.ZipFile(path) as archive:
        inside = [one for one in archive.namelist() if not one.endswith("/") and not one.startswith("__MACOSX")]
        if any(one.startswith("xl/") for one in inside):
            raise DataError(f"{path} is an Excel workbook; save the sheet as CSV (UTF-8)")
        if len(inside) != 1:
            raise DataError(f"{path} contains {len(inside)} files ({format_names(inside, 5)}); unpack it and name one")
        if archive.getinfo(inside[0]).flag_bits & 1:
            raise DataError(f"{path} is encrypted; unpack it first")
        return archive.open(inside[0])  # keeps the archive open


def _text(path: str, encoding: str, newline: str | None = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(_bytes(path), encoding=encoding, newline=newline)


def _rows(lines: Iterable[str], mark: str, shown: str) -> Iterator[list[str]]:
    if mark == BLANKS:
        yield from (line.split() for line in lines)
        return
    try:
        reader = csv.reader(lines, delimiter=mark)
        yield from reader
    except TypeError as error:
        raise ParameterError(Argument("delimiter", mark), " cannot separate cells; one character is needed") from error
    except csv.Error as error:
        raise DataError(
            f"{shown}, line {reader.line_num} cannot be split into cells ({error}); cells with line breaks need quotes"
        ) from error


def _delimiter(head: str, lower: str) -> str:
    """The mark that parts all lines into equally many cells."""
    if ".tsv" in lower:
        return "\t"
    scores = {}
    for order, mark in enumerate([*DELIMITERS, BLANKS]):
        try:
            rows = [len(row) for row in _rows(io.StringIO(head), mark, "") if row]
        except DataError:  # of another mark, cells may be unreadable
            continue
        width, n_rows = Counter(rows or [0]).most_common(1)[0]
        if width > 1:
            scores[mark] = (mark != BLANKS or n_rows == len(rows) > 2, n_rows / len(rows), width, -order)
    if set(scores) == {BLANKS} and (not scores[BLANKS][0] or lower.endswith((".csv", ".csv.gz"))):
        return ","  # words in a single column
    if BLANKS in scores and len(scores) > 1:
        del scores[BLANKS]
    return max(scores, key=scores.__getitem__) if scores else ","


def _first(rows: list[tuple[int, list[str]]], width: int) -> int:
    """Which row is the first of the table: titles above it have one filled cell, or fewer cells."""
    if width < 2 or len(rows) < 3:
        return 0
    is_table = (len(row) >= width - 1 and sum(bool(cell.strip()) for cell in row) > 1 for _, row in rows)
    return next((k for k, found in enumerate(itertools.islice(is_table, MOST_TITLES + 1)) if found), 0)


def _names(
    first: list[str], rows: list[list[str]], width: int, how: TextOptions, shown: str
) -> tuple[tuple[str, ...], str]:
    """The column names, and what rows have beside: names of their own in front, or an empty cell at their end."""
    if not how.has_header:
        return tuple(f"column{j + 1}" for j in range(width)), ""
    names = [cell.strip().removeprefix("\ufeff") for cell in first]
    extra = ""
    if rows and all(len(row) == len(names) + 1 for row in rows):  # as R writes tables, or a delimiter at each end
        extra = "ends" if all(not row[-1].strip() for row in rows) else "names"
        if extra == "names" and len({row[0] for row in rows}) < len(rows):
            raise DataError(
                f"{shown}: the first line has {len(names)} names, the rows have {len(names) + 1} cells; name every "
                'column (cells that contain the delimiter need double quotes: "a, b")'
            )
        names = names if extra == "ends" else ["row", *names]
    names = [name or f"column{j + 1}" for j, name in enumerate(names)]
    if twice := describe_repeated(names):
        raise DataError(
            f"{shown}: {twice}, or ", Wording("pass names=", "give --no-header"), " if the file has no line of names"
        )
    return tuple(names), extra


def _even(rows: Iterator[list[str]], skip: int, width: int, extra: str, shown: str) -> Iterator[list[str]]:
    """The rows after the first `skip`, blank ones left out, each of `width` cells."""
    for n, row in enumerate(itertools.islice(rows, skip, None), skip + 1):
        if not any(cell.strip() for cell in row) and (len(row) != width or width > 1):
            continue
        cells = row[:-1] if extra == "ends" and len(row) == width + 1 else row
        if len(cells) != width:
            raise DataError(
                f"{shown}, row {n}: {len(cells)} cells where {width} are needed ({format_names(cells, 4)}); correct it "
                "(cells that contain the delimiter need quotes), or remove it"
            )
        yield cells
