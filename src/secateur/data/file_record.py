"""Record which data files were read: their names, sizes and SHA-256 hashes."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .._utils.arrays import Rows
from .._utils.output import error_reason, printable_path
from ..errors import DataError
from .files import find_files

FileUse = Literal["growing", "held out", "given", "model"]
BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class FileRecord:
    """A data file and the SHA-256 hash of its bytes.

    Parameters
    ----------
    name : str
        The name of the file, without its folder.
    use : {"growing", "held out", "given", "model"}
        What the rows of the file were read for. "given": the file was named later, so that it is not known whether it
        was read in fitting. "model": the file contains the model.
    n_bytes : int
    sha256 : str
        64 hexadecimal digits.
    """

    name: str
    use: FileUse
    n_bytes: int
    sha256: str


def record_files(paths: Rows, use: FileUse) -> tuple[FileRecord, ...]:
    """Return the records of the files of a path, a folder, a pattern, or a list of these.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "loans.csv")
    ...     _ = file.write_text("age,outcome")
    ...     (record,) = record_files(file, "growing")
    >>> record.name, record.n_bytes, record.sha256[:8]
    ('loans.csv', 11, '262688bf')
    """
    return tuple(record_file(path, use) for path in find_files(paths))


def record_file(path: str | os.PathLike[str], use: FileUse) -> FileRecord:
    """Return the record of one file of any format."""
    digest, n_bytes = hashlib.sha256(), 0
    try:
        with Path(path).open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                digest.update(block)
                n_bytes += len(block)
    except (OSError, ValueError) as error:  # ValueError: no file has such a name
        raise DataError(
            f"{printable_path(path)} cannot be read ({error_reason(error)}); check its name and permissions"
        ) from error
    return FileRecord(Path(path).name, use, n_bytes, digest.hexdigest())


def read_records(values: object) -> tuple[FileRecord, ...] | None:
    """Return the records in plain values, as a model file has them; None if they are no valid records."""
    if not isinstance(values, Sequence) or isinstance(values, str):
        return None
    records = []
    for value in values:
        if not isinstance(value, dict) or set(value) != {"name", "use", "n_bytes", "sha256"}:
            return None
        is_text = all(isinstance(value[name], str) for name in ("name", "use", "sha256"))
        if not is_text or isinstance(value["n_bytes"], bool) or not isinstance(value["n_bytes"], int):
            return None
        records.append(FileRecord(**value))
    return tuple(records)
