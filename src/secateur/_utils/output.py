"""Atomic output: a file is replaced only when the new contents are complete on disk."""

import contextlib
import gzip
import os
import secrets
import stat
from pathlib import Path

from ..errors import Argument, OutputError

GZIP_LEVEL = 4  # takes half the time of the usual level 6, for files a tenth larger

MAX_SHOWN_CHARACTERS = 1_000  # of a path in a message

PathLike = str | os.PathLike[str]


def write_file(path: PathLike, data: bytes | str, *, overwrite: bool) -> None:
    """Write `data` to `path`, compressed if the name ends in .gz.

    The data is written to a temporary file in the same folder, flushed to disk, and renamed. Whatever happens before
    the rename (an error, a full disk, a killed process), a previous file stays unchanged.
    """
    data = data.encode() if isinstance(data, str) else data
    try:
        target = Path(os.path.realpath(path))  # a symbolic link is followed, not replaced
        mode = _mode_of_replaced_file(target, path, overwrite=overwrite)
        if target.exists() and not target.is_file():  # a device or a pipe cannot be replaced by a rename
            target.write_bytes(data)
            return
        if target.suffix == ".gz":
            data = gzip.compress(data, GZIP_LEVEL, mtime=0)  # without the time, equal contents give equal bytes
        _replace_atomically(target, data, mode, path, overwrite=overwrite)
    except OutputError:
        raise
    except (OSError, ValueError) as error:
        raise OutputError(
            f"{printable_path(path)} cannot be written ({error_reason(error)}); the previous file is unchanged: "
            "free some space, check the permissions or choose another path"
        ) from error


def _mode_of_replaced_file(target: Path, path: PathLike, *, overwrite: bool) -> int | None:
    """Return the permissions of the file that will be replaced, None if there is none; raise if it must stay."""
    if not target.exists():
        return None
    if target.is_dir():
        raise OutputError(f"{printable_path(path)} is a folder; the name of a file is needed")
    if not overwrite:
        raise _file_exists(path)
    if not target.is_file():
        return None
    os.close(os.open(target, os.O_WRONLY))  # raises if the file is write-protected, which a rename would ignore
    return stat.S_IMODE(target.stat().st_mode)


def _replace_atomically(target: Path, data: bytes, mode: int | None, path: PathLike, *, overwrite: bool) -> None:
    """Write `data` to a temporary file beside `target`, and rename it."""
    temporary = target.with_name(f".secateur-{secrets.token_hex(8)}.tmp")
    try:
        _write_durably(temporary, data, mode)
        if overwrite:
            temporary.replace(target)
        else:
            _rename_unless_exists(temporary, target, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    _sync_folder(target.parent)


def _write_durably(path: Path, data: bytes, mode: int | None) -> None:
    """Create a file with `data` and the permissions `mode`, and wait until the data is on disk."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(handle, "wb", buffering=0) as file:
        rest = memoryview(data)
        while rest:  # an unbuffered write may write only a part, for example when the disk is nearly full
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
    if mode is not None:
        with contextlib.suppress(OSError):
            path.chmod(mode)


def _rename_unless_exists(temporary: Path, target: Path, path: PathLike) -> None:
    """Rename the temporary file; raise if another process has created `target` in the meantime."""
    try:
        os.link(temporary, target)
    except FileExistsError as error:
        raise _file_exists(path) from error
    except OSError:  # the file system has no hard links
        if target.exists():
            raise _file_exists(path) from None
        temporary.replace(target)


def _sync_folder(folder: Path) -> None:
    """Wait until the new name is on disk too, where folders can be synchronised (not on Windows)."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _file_exists(path: PathLike) -> OutputError:
    return OutputError(
        f"{printable_path(path)} exists; pass ", Argument("overwrite", True), " to replace it, or choose another name"
    )


def error_reason(error: Exception) -> str:
    """Return the text of an error of the operating system without its number and path."""
    return getattr(error, "strerror", None) or str(error)


def printable_path(path: PathLike) -> str:
    """Return a path for messages, with control characters escaped and the end of a very long path left out."""
    text = str(path) if str(path).isprintable() else ascii(os.fspath(path))
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}..."
