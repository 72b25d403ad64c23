"""Files written whole or not at all: what was there before stays until the new file is complete."""

import contextlib
import gzip
import os
import secrets
import stat
from pathlib import Path

from ..errors import Argument, OutputError

PACKING = 4  # of 9: half the time of the usual 6 for a tenth more bytes

PathLike = str | os.PathLike[str]


def write_file(path: PathLike, data: bytes | str, *, overwrite: bool) -> None:
    """Put `data` at `path`: a new file beside it, made durable, then renamed over it.

    Whatever happens before the rename (an error, a full disk, a kill), the old file stays whole.
    """
    data = data.encode() if isinstance(data, str) else data
    try:
        target = Path(os.path.realpath(path))  # a link is followed, not replaced
        if target.is_dir():
            raise OutputError(f"{printable_path(path)} is a folder; the name of a file is needed")
        mode = None
        if target.exists():
            if not overwrite:
                raise _in_the_way(path)
            if not target.is_file():  # a device or a pipe keeps its place
                target.write_bytes(data)
                return
            os.close(os.open(target, os.O_WRONLY))  # a rename would also replace what may not be written
            mode = stat.S_IMODE(target.stat().st_mode)
        if target.suffix == ".gz":
            data = gzip.compress(data, PACKING, mtime=0)  # no clock in the file: equal contents, equal bytes
        beside = target.with_name(f".secateur-{secrets.token_hex(8)}.tmp")
        try:
            _write_durably(beside, data, mode)
            if overwrite:
                beside.replace(target)
            else:
                _rename_to_nothing(beside, target, path)
        finally:
            with contextlib.suppress(OSError):
                beside.unlink()
        _sync_folder(target.parent)
    except (OSError, ValueError) as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(
            f"{printable_path(path)} cannot be written ({error_reason(error)}); the previous file is unchanged: "
            "free some space, check the permissions or choose another path"
        ) from error


def _write_durably(path: Path, data: bytes, mode: int | None) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(handle, "wb", buffering=0) as file:
        rest = memoryview(data)
        while rest:  # an unbuffered write may take only a part, as on a disk that is nearly full
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
    if mode is not None:
        with contextlib.suppress(OSError):
            path.chmod(mode)


def _rename_to_nothing(beside: Path, target: Path, path: PathLike) -> None:
    """Give the file its name unless somebody took that name in the meantime."""
    try:
        os.link(beside, target)
    except FileExistsError as error:
        raise _in_the_way(path) from error
    except OSError:  # a disk without hard links
        if target.exists():
            raise _in_the_way(path) from None
        beside.replace(target)


def _sync_folder(folder: Path) -> None:
    """Make the new name durable too, where folders can be synchronised (not on Windows)."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _in_the_way(path: PathLike) -> OutputError:
    return OutputError(
        f"{printable_path(path)} exists; pass ", Argument("overwrite", True), " to replace it, or choose another name"
    )


def error_reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def printable_path(path: PathLike) -> str:
    return ascii(os.fspath(path)) if not str(path).isprintable() else str(path)
