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
from typing import IO, Any

from .._utils.output import error_reason
from .._utils.warn import format_names, warn
from ..errors import Argument, DataError
from .text_layout import BLANKS, detect_decimal, detect_delimiter, detect_layout, regular_rows, split_rows
from .text_options import TextOptions

HEAD_CHARACTERS = 1 << 16  # the beginning of a file, from which its format is detected
CHUNK_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 25  # room for a million columns; a longer line takes a multiple of its size in memory
MAX_UNCHECKED_BYTES = 1 << 26  # contents of an archive up to this size may have any ratio of compression
MAX_COMPRESSION = 200  # larger contents have at most this multiple of the size of their archive
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
    if options.encoding:
        _check_line_lengths(path)
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


class _LimitedContents(io.RawIOBase):
    """The contents of an archive; reading them raises `DataError` if a small archive has very large contents."""

    def __init__(self, contents: Any, path: str) -> None:
        self.contents, self.path = contents, path
        self.n_bytes = 0
        self.max_bytes = max(MAX_UNCHECKED_BYTES, MAX_COMPRESSION * Path(path).stat().st_size)

    def readable(self) -> bool:
        """Return True, as `io.BufferedReader` requires."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes into a buffer, and return their number."""
        data = self.contents.read(len(buffer))
        self.n_bytes += len(data)
        if self.n_bytes > self.max_bytes:
            raise DataError(
                f"{self.path} contains more than {self.max_bytes:,} bytes, over {MAX_COMPRESSION} times its own size; "
                "unpack it and name the file in it, if you trust where it comes from"
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the archive."""
        self.contents.close()
        super().close()


def _open_bytes(path: str) -> IO[bytes]:
    """Open a file, the contents of a .gz file, or the only file in a zip archive, whatever the ending of its name."""
    if path.lower().endswith(".gz"):
        return io.BufferedReader(_LimitedContents(gzip.open(path), path), CHUNK_BYTES)
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
        contents = archive.open(members[0])  # keeps the archive open
        return io.BufferedReader(_LimitedContents(contents, path), CHUNK_BYTES)


class _LineLengths:
    """Refuse a file with a very long line, before any reader takes a multiple of its length in memory."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.n_open_bytes = 0  # since the last end of a line

    def add(self, chunk: bytes) -> None:
        """Read the next bytes of the file; raise `DataError` if a line is too long."""
        ends = [at for at in (chunk.find(b"\n"), chunk.find(b"\r")) if at >= 0]
        if self.n_open_bytes + min(ends, default=len(chunk)) > MAX_LINE_BYTES:
            raise DataError(
                f"{self.path} has a line of more than {MAX_LINE_BYTES:,} bytes; shorten it, or save the "
                "table as Parquet"
            )
        n_last = len(chunk) - max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) - 1
        self.n_open_bytes = n_last if ends else self.n_open_bytes + n_last


def _check_line_lengths(path: str) -> None:
    """Read a whole file, and raise `DataError` if a line is too long or the file is an archive of too many bytes."""
    lines = _LineLengths(path)
    with _open_bytes(path) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            lines.add(chunk)


def _detect_encoding(path: str) -> str:
    """Return "utf-8" if the whole file is UTF-8. Otherwise warn, and return UTF-16 or a Western European encoding."""
    decoder, encoding = codecs.getincrementaldecoder("utf-8")(), "utf-8"
    lines = _LineLengths(path)
    with _open_bytes(path) as stream:
        chunk = stream.read(CHUNK_BYTES)
        for mark, marked_encoding in _BYTE_ORDER_MARKS.items():
            if chunk.startswith(mark):
                if marked_encoding == "utf-16":
                    warn(f"{path} is read as UTF-16")
                _check_line_lengths(path)
                return marked_encoding
        while chunk:
            lines.add(chunk)
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
