"""Text files in the one format that all readers understand: UTF-8, one delimiter, a line of names, equally long rows.

Most files have this format, and are read in place. For any other file (another encoding, an archive, a title above the
names, cells separated by blanks) a copy in this format is written to a temporary folder.
"""

import codecs
import csv
import errno
import gzip
import io
import os
import re
import shutil
import tempfile
import weakref
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from .._utils.output import error_reason
from .._utils.warn import format_names, warn
from ..errors import Argument, DataError
from .text_layout import BLANKS, detect_decimal, detect_delimiter, detect_layout, regular_rows, split_rows
from .text_options import TextOptions

HEAD_CHARACTERS = 1 << 16  # the beginning of a file, from which its format is detected
CHUNK_BYTES = 1 << 20
_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_UNDEFINED_IN_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


@dataclass(frozen=True)
class TextFile:
    """A text file that all readers understand.

    Parameters
    ----------
    path : str
        The file, or its copy in a temporary folder.
    names : tuple of str
        The column names.
    options : TextOptions
        How the file is read, with nothing left to detect.
    folder : object
        Keeps the temporary folder of a copy: the folder is removed when this object is no longer used.
    """

    path: str
    names: tuple[str, ...]
    options: TextOptions
    folder: object = None


class _TemporaryFolder:
    """A folder that is removed when the object is no longer used. Errors of the removal are ignored."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="secateur-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


def open_text_file(path: str | os.PathLike[str], options: TextOptions) -> TextFile:
    """Return a text file, or a copy of it, that all readers understand.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.csv").write_bytes(b"x;y\\n1,5;a\\n2,5;b\\n")
    ...     file = open_text_file(Path(folder, "a.csv"), TextOptions(decimal=","))
    >>> file.names, file.options.delimiter, file.options.encoding
    (('x', 'y'), ';', 'utf-8')
    """
    path = os.fspath(path)
    try:
        return _open(path, options)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        is_disk_full = getattr(error, "errno", None) == errno.ENOSPC  # while a copy was written
        hint = f"; set TMPDIR to a folder with more room than {tempfile.gettempdir()}" if is_disk_full else ""
        raise DataError(f"{path} cannot be read ({error_reason(error)}){hint}") from error
    except UnicodeError as error:
        raise DataError(
            f"{path} is not {options.encoding or 'text'} ({error}); pass its ", Argument("encoding")
        ) from error


def _open(path: str, options: TextOptions) -> TextFile:
    """Detect the format of a text file, and copy the file if its format is not regular."""
    encoding = options.encoding or _detect_encoding(path)
    head, newline = _read_head(path, encoding)
    delimiter = options.delimiter or detect_delimiter(head, path.lower())
    layout = detect_layout(list(split_rows(io.StringIO(head), delimiter, path)), options, path)
    decimal = options.decimal or detect_decimal(layout.body, path)
    complete = replace(options, delimiter=delimiter, encoding="utf-8", decimal=decimal)
    is_readable_in_place = (
        layout.is_regular
        and encoding in ("utf-8", "utf-8-sig")
        and newline == ""
        and delimiter != BLANKS
        and not path.lower().endswith(".zip")
    )
    if is_readable_in_place:
        return TextFile(path, layout.names, complete)
    folder = _TemporaryFolder()
    copy = Path(folder.name, "copy.csv")
    with _open_as_text(path, encoding, newline) as stream, copy.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\r\n")  # quotes cells with "\r" and cells with "\n"
        if options.has_header:
            writer.writerow([" ".join(name.split()) for name in layout.names])
        n_skipped = layout.first_row if options.has_header else layout.first_row - 1
        rows = split_rows(stream, delimiter, path)
        writer.writerows(regular_rows(rows, n_skipped, len(layout.names), layout.extra_cell, path))
    return TextFile(str(copy), layout.names, replace(complete, delimiter=","), folder)


def check_row_lengths(path: str, shown_path: str, options: TextOptions, n_columns: int) -> None:
    """Raise `DataError` for the first row of a regular file that does not have `n_columns` cells.

    Messages call the file `shown_path`: `path` may be a copy of that file.
    """
    with _open_as_text(path, "utf-8") as stream:
        rows = split_rows(stream, options.delimiter or ",", shown_path)
        for _ in regular_rows(rows, 0, n_columns, "none", shown_path):
            pass


def _open_as_text(path: str, encoding: str, newline: str | None = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(_open_bytes(path), encoding=encoding, newline=newline)


def _open_bytes(path: str) -> IO[bytes]:
    """Open a file, the contents of a .gz file, or the only file in a zip archive, whatever the ending of its name."""
    if path.lower().endswith(".gz"):
        return gzip.open(path)  # type: ignore[return-value]
    file = Path(path).open("rb")  # noqa: SIM115 the caller closes it
    is_zip = file.read(4) == b"PK\3\4"
    file.seek(0)
    if not is_zip:
        return file
    file.close()
    with zipfile.ZipFile(path) as archive:
        members = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
        if any(name.startswith("xl/") for name in members):
            raise DataError(f"{path} is an Excel workbook; save the sheet as CSV (UTF-8)")
        if len(members) != 1:
            raise DataError(
                f"{path} contains {len(members)} files ({format_names(members, 5)}); unpack it and name one"
            )
        if archive.getinfo(members[0]).flag_bits & 1:
            raise DataError(f"{path} is encrypted; unpack it first")
        return archive.open(members[0])  # keeps the archive open


def _detect_encoding(path: str) -> str:
    """Return "utf-8" if the whole file is UTF-8. Otherwise warn, and return UTF-16 or a Western European encoding."""
    decoder, encoding = codecs.getincrementaldecoder("utf-8")(), "utf-8"
    with _open_bytes(path) as stream:
        chunk = stream.read(CHUNK_BYTES)
        for mark, marked_encoding in _BYTE_ORDER_MARKS.items():
            if chunk.startswith(mark):
                if marked_encoding == "utf-16":
                    warn(f"{path} is read as UTF-16")
                return marked_encoding
        while chunk:
            if encoding == "utf-8" and not chunk.isascii():
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    encoding = "cp1252"
            if encoding == "cp1252" and _UNDEFINED_IN_CP1252.search(chunk):
                encoding = "latin-1"
            chunk = stream.read(CHUNK_BYTES)
    if encoding != "utf-8":
        warn(
            f"{path} is not UTF-8 and is read as {encoding} (Western European); use ",
            Argument("encoding"),
            " if it has another encoding",
        )
    return encoding


def _read_head(path: str, encoding: str) -> tuple[str, str | None]:
    """Return the first lines of a file, and the `newline` argument with which Python splits it into lines.

    The argument is "" for lines that end in "\\n" or "\\r\\n", and None for lines that end in "\\r", as on old Macs.
    """
    with _open_as_text(path, encoding) as stream:
        head = stream.read(HEAD_CHARACTERS)
        newline = None if "\r" in head and "\n" not in head else ""
        if len(head) == HEAD_CHARACTERS:
            head += stream.readline()
    if newline is None:
        head = head.replace("\r", "\n")
    if "\0" in head:
        raise DataError(f"{path} is not a text file; save it as CSV or Parquet")
    if not head.strip(' \t\r\n"'):
        raise DataError(f"{path} is empty (it has no first line); a line of column names and rows are needed")
    return head, newline
