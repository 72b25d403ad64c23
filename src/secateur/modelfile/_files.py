"""Read the bytes of a model file, decompressed up to a limit."""

import os
import stat
import zlib
from pathlib import Path

from .._utils.output import PathLike, error_reason
from ..errors import ModelFileError

MAX_FILE_BYTES = 1 << 30  # of JSON text, compressed or not: about twenty million nodes
MIN_EXPANSION_LIMIT_BYTES = 1 << 24  # any compressed file may expand to this size ...
MAX_EXPANSION_RATIO = 100  # ... and to this multiple of its own size; compressed models expand to 3 to 30 times
CHUNK_BYTES = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"


def read_file(path: PathLike) -> bytes:
    """Return the text of a file as bytes, decompressed if it is gzip; its first bytes decide, not its name."""
    try:
        status = Path(path).stat()  # before opening: opening a pipe would wait for a writer
        _check_status(status)
        with Path(path).open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except ModelFileError:
        raise
    except (OSError, ValueError) as error:
        raise ModelFileError(
            f"it cannot be read ({error_reason(error)}); check the name and the permissions"
        ) from error
    return decompress(data)


def _check_status(status: os.stat_result) -> None:
    """Refuse what is not a regular file, and files that are too large."""
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError("it is a folder, a pipe or a device; a file is needed")
    _check_size(status.st_size)


def _check_size(n_bytes: int) -> None:
    if n_bytes > MAX_FILE_BYTES:
        raise ModelFileError(f"it has {n_bytes:,} bytes; at most {MAX_FILE_BYTES:,} are read")


def decompress(data: bytes) -> bytes:
    """Return `data`, expanded if it is gzip; refuse data that exceed the limits of size."""
    _check_size(len(data))
    if not data.startswith(GZIP_MAGIC):
        return data
    limit = min(MAX_FILE_BYTES, max(MIN_EXPANSION_LIMIT_BYTES, MAX_EXPANSION_RATIO * len(data)))
    try:
        return _decompress_gzip(data, limit)
    except zlib.error as error:
        raise ModelFileError(f"the compressed data is damaged ({error})") from error


def _decompress_gzip(data: bytes, limit: int) -> bytes:
    """Return the expanded data, in chunks, so that no more than `limit` bytes are expanded."""
    decompressor = zlib.decompressobj(wbits=31)
    chunks: list[bytes] = []
    n_bytes = 0
    rest = data
    while not decompressor.eof:
        chunk = decompressor.decompress(rest, CHUNK_BYTES)
        rest = decompressor.unconsumed_tail
        n_bytes += len(chunk)
        if n_bytes > limit:
            raise ModelFileError(
                f"it unpacks to more than {limit:,} bytes from {len(data):,}; no model does: it is not a model "
                "file; if it is, decompress it first"
            )
        if not chunk and not rest and not decompressor.eof:
            raise ModelFileError("the compressed data ends too early; the file is truncated")
        chunks.append(chunk)
    if decompressor.unused_data:
        n_unused = len(decompressor.unused_data)
        raise ModelFileError(f"{n_unused:,} bytes follow the end of the compressed data; none are needed")
    return b"".join(chunks)
