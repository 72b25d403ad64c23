"""Bytes on disk, read and unpacked up to a limit."""

import stat
import zlib
from pathlib import Path

from .._utils.output import PathLike, error_reason
from ..errors import ModelFileError

MOST_BYTES = 1 << 30  # of JSON text, packed or not: about twenty million nodes
FREE_BYTES = 1 << 24  # what a packed file may always unpack to ...
MOST_RATIO = 100  # ... and how many times its own size beyond that; packed models unpack to 3 to 30 times
CHUNK = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"


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
        raise ModelFileError(
            f"it cannot be read ({error_reason(error)}); check the name and the permissions"
        ) from error
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
