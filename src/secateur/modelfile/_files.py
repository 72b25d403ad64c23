"""Bytes on disk: written whole or not at all, read and unpacked up to a limit."""

import contextlib
import gzip
import os
import secrets
import stat
import zlib
from pathlib import Path

from ..errors import ModelFileError

MOST_BYTES = 1 << 30  # of JSON text, packed or not: about twenty million nodes
FREE_BYTES = 1 << 24  # what a packed file may always unpack to ...
MOST_RATIO = 100  # ... and how many times its own size beyond that; packed models unpack to 3 to 30 times
CHUNK = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"
PACKING = 4  # of 9: half the time of the usual 6 for a tenth more bytes

PathLike = str | os.PathLike[str]


def write_file(path: PathLike, data: bytes, *, overwrite: bool) -> None:
    """Put `data` at `path`: a new file beside it, made durable, then renamed over it.

    Whatever happens before the rename (an error, a full disk, a kill), the old file stays whole.
    """
    try:
        target = Path(os.path.realpath(path))  # a link is followed, not replaced
        if target.is_dir():
            raise ModelFileError(f"{_shown(path)} is a folder; the name of a file is needed")
        if target.exists() and not overwrite:
            raise _in_the_way(path)
        if target.suffix == ".gz":
            data = gzip.compress(data, PACKING, mtime=0)  # no clock in the file: equal models, equal bytes
        beside = target.with_name(f".secateur-{secrets.token_hex(8)}.tmp")
        try:
            _write_durably(beside, data, mode=stat.S_IMODE(target.stat().st_mode) if target.exists() else None)
            if overwrite:
                beside.replace(target)
            else:
                _rename_to_nothing(beside, target, path)
        finally:
            with contextlib.suppress(OSError):
                beside.unlink()
        _sync_folder(target.parent)
    except (OSError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(
            f"{_shown(path)} cannot be written ({_reason(error)}); the previous file is unchanged: "
            "free some space or choose another path, and save again"
        ) from error


def read_file(path: PathLike) -> bytes:
    """Return the text of a file as bytes, unpacked if it is gzip (known by its first bytes, not by its name)."""
    try:
        about = Path(path).stat()  # before it is opened: a pipe would wait for somebody to write
        if not stat.S_ISREG(about.st_mode):
            raise ModelFileError("it is a folder, a pipe or a device; a file is needed")
        if about.st_size > MOST_BYTES:
            raise ModelFileError(f"it has {about.st_size:,} bytes; at most {MOST_BYTES:,} are read")
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"it cannot be read ({_reason(error)}); check the name and the permissions") from error
    return unpacked(data)


def unpacked(data: bytes) -> bytes:
    """Return `data`, or what it unpacks to if it is gzip, never more than the limits."""
    if len(data) > MOST_BYTES:
        raise ModelFileError(f"it has {len(data):,} bytes; at most {MOST_BYTES:,} are read")
    if not data.startswith(GZIP_MAGIC):
        return data
    limit = min(MOST_BYTES, max(FREE_BYTES, MOST_RATIO * len(data)))
    stream = zlib.decompressobj(wbits=31)
    parts, n_bytes, rest = [], 0, data
    try:
        while not stream.eof:
            part = stream.decompress(rest, CHUNK)
            rest = stream.unconsumed_tail
            n_bytes += len(part)
            if n_bytes > limit:
                raise ModelFileError(
                    f"it unpacks to more than {limit:,} bytes from {len(data):,}; no model does: it is not a model "
                    "file; if it is, decompress it first"
                )
            if not part and not rest and not stream.eof:
                raise ModelFileError("the compressed data ends too early; the file is truncated")
            parts.append(part)
    except zlib.error as error:
        raise ModelFileError(f"the compressed data is damaged ({error})") from error
    if stream.unused_data:
        raise ModelFileError(f"{len(stream.unused_data):,} bytes follow the end of the packed data; none are needed")
    return b"".join(parts)


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


def _in_the_way(path: PathLike) -> ModelFileError:
    return ModelFileError(f"{_shown(path)} exists; pass overwrite=True to replace it, or choose another name")


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _shown(path: PathLike) -> str:
    return ascii(os.fspath(path)) if not str(path).isprintable() else str(path)
