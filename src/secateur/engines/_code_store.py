"""Rows as codes, in memory or in a temporary file.

Growing out of core reads the source a few times. Every value is then stored as a small code, one byte per column for up
to 255 bins, and growing reads these codes instead of the source.
"""

import tempfile
import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import Array


class CodedRows(NamedTuple):
    """Rows whose values are codes.

    Parameters
    ----------
    codes : 2-D array
        One line per row, one code per column.
    target : array
        Class of each row.
    node : array of int32
        The node that each row has reached. Empty until small nodes are grown from their rows.
    """

    codes: Array
    target: Array
    node: Array = np.zeros(0, np.int32)


class CodeStore:
    """A list of `CodedRows`, in memory or in a temporary file.

    Parameters
    ----------
    folder : str, optional
        Where the temporary folder is made; None for the folder of the system.
    is_on_disk : bool
        Whether the rows are kept in a file.
    """

    def __init__(self, folder: str | None = None, is_on_disk: bool = False) -> None:
        self.is_on_disk = is_on_disk
        self._items: list[Any] = []  # The rows themselves, or where each of them begins in the file.
        self._lock = threading.Lock()
        if is_on_disk:
            self._home = tempfile.TemporaryDirectory(prefix="secateur-", dir=folder, ignore_cleanup_errors=True)
            self._path = Path(self._home.name) / "codes"

    def __len__(self) -> int:
        return len(self._items)

    def append(self, rows: CodedRows) -> None:
        """Add some rows. Threads may add rows at the same time."""
        if not self.is_on_disk:
            self._items.append(rows)
            return
        with self._lock, self._path.open("ab") as file:
            self._items.append(file.tell())
            for array in rows:
                np.save(file, array)

    def get(self, k: int) -> CodedRows:
        """Return item k."""
        if not self.is_on_disk:
            return self._items[k]  # type: ignore[no-any-return]
        with self._path.open("rb") as file:
            file.seek(self._items[k])
            return CodedRows(np.load(file), np.load(file), np.load(file))

    def get_all(self) -> list[CodedRows]:
        """Return all items."""
        return [self.get(k) for k in range(len(self))]

    def close(self) -> None:
        """Drop all rows and remove the file."""
        self._items = []
        if self.is_on_disk:
            self._home.cleanup()
