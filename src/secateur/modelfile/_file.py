"""Turn the bytes of a file into a JSON document, up to limits of size and strictly, and a document into bytes.

Python's own parser accepts NaN, a key that occurs twice, and numbers that overflow to infinity. This module refuses the
first two; `_values` refuses numbers that overflow. Parsing gives plain lists, dictionaries and values; `_read` checks
their meaning. Documents are written as JSON that people can read and compare line by line.
"""

import json
import os
import re
import stat
import zlib
from pathlib import Path
from typing import Never

from .._utils.output import PathLike, error_reason
from ..errors import ModelFileError
from ._values import Document, Json, describe, shorten

MAX_FILE_BYTES = 1 << 30  # of JSON text, compressed or not: about twenty million nodes
MIN_EXPANSION_LIMIT_BYTES = 1 << 24  # any compressed file may expand to this size ...
MAX_EXPANSION_RATIO = 100  # ... and to this multiple of its own size; compressed models expand to 3 to 30 times
CHUNK_BYTES = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"
MIN_CONTAINER_LIMIT = 1000  # number of lists and objects that any text may have
BYTES_PER_CONTAINER = 16  # longer texts may have one per 16 bytes: an empty list takes 2 bytes of text, 80 of memory
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_COMPACT = (",", ":")
_READABLE = (", ", ": ")


def read_file(path: PathLike) -> bytes:
    """Return the text of a file as bytes, decompressed if it is gzip; its first bytes decide, not its name."""
    if not isinstance(path, str | os.PathLike):
        raise ModelFileError("this is not the path of a file; text or a Path is needed")
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


def parse_json(data: bytes) -> Document:
    """Return the object in a JSON text; raise `ModelFileError` for anything else."""
    _check_number_of_containers(data)
    try:
        document = json.loads(data.decode(), object_pairs_hook=_object_of_unique_keys, parse_constant=_refuse_constant)
    except ModelFileError:
        raise
    except UnicodeDecodeError as error:
        raise ModelFileError(
            f"byte {error.start:,} is not UTF-8 text; it is not a model file, or it is damaged"
        ) from error
    except json.JSONDecodeError as error:
        raise ModelFileError(f"it is not JSON (line {error.lineno}, column {error.colno}: {error.msg})") from error
    except RecursionError as error:
        raise ModelFileError("its lists are nested too deeply; a model file is a few levels deep") from error
    except (ValueError, MemoryError) as error:  # a number with more digits than Python converts
        raise ModelFileError(f"it holds a value that cannot be read ({error})") from error
    if not isinstance(document, dict):
        raise ModelFileError(f"it holds {describe(document)} where an object is needed; it is not a model file")
    return document


def _check_number_of_containers(data: bytes) -> None:
    """Refuse text that is mostly brackets: parsed, it would take thirty times its size in memory."""
    limit = MIN_CONTAINER_LIMIT + len(data) // BYTES_PER_CONTAINER
    if data.count(b"[") + data.count(b"{") <= limit:
        return
    outside_strings = _STRING.sub(b"", data)  # brackets in names and categories are only text
    n_containers = outside_strings.count(b"[") + outside_strings.count(b"{")
    if n_containers > limit:
        raise ModelFileError(f"it has {n_containers:,} lists and objects in {len(data):,} bytes; no model has so many")


def _object_of_unique_keys(pairs: list[tuple[str, Json]]) -> Document:
    document = dict(pairs)
    if len(document) != len(pairs):
        earlier_keys: set[str] = set()
        for key, _ in pairs:
            if key in earlier_keys:
                raise ModelFileError(f"the key {shorten(key)} occurs twice in one object; it must be unique")
            earlier_keys.add(key)
    return document


def _refuse_constant(name: str) -> Never:
    raise ModelFileError(f"it holds {name}, which is not JSON; null stands for NaN in an array of numbers")


def write_json(document: Document) -> bytes:
    """Return a document as UTF-8 JSON with one key per line and each array on one line."""
    lines: list[str] = []
    _append_lines(lines, document, "", "")
    try:
        return ("\n".join(lines) + "\n").encode()
    except UnicodeEncodeError as error:
        raise ModelFileError(
            f"a string contains a lone surrogate ({error.object[error.start]!a}); replace it with a complete character"
        ) from error


def _append_lines(lines: list[str], value: Json, prefix: str, indent: str) -> None:
    """Append the lines of a value to `lines`; its first line begins with `prefix`."""
    deeper = indent + "  "
    is_tagged = isinstance(value, dict) and bool(value) and next(iter(value)).startswith("$")
    if isinstance(value, dict) and value and not is_tagged:
        lines.append(prefix + "{")
        for key, item in value.items():
            _append_lines(lines, item, f"{deeper}{_to_json(key)}: ", deeper)
            lines[-1] += ","
        lines[-1] = lines[-1][:-1]
        lines.append(indent + "}")
    elif isinstance(value, list) and not {list, dict}.isdisjoint(map(type, value)):
        lines.append(prefix + "[")
        for item in value:
            separators = _READABLE if isinstance(item, dict) else _COMPACT
            lines.append(f"{deeper}{_to_json(item, separators)},")
        lines[-1] = lines[-1][:-1]
        lines.append(indent + "]")
    else:
        lines.append(prefix + _to_json(value))


def _to_json(value: Json, separators: tuple[str, str] = _COMPACT) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators)
