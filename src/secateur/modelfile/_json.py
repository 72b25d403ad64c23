"""Write documents as JSON that people can read and compare line by line, and parse JSON strictly.

Python's own parser accepts NaN, a key that occurs twice, and numbers that overflow to infinity. This module
refuses all of them. The result of parsing is plain lists, dictionaries and values; `_read` checks their meaning.
"""

import json
import re
from collections.abc import Collection
from typing import Any, Never, TypeAlias

from .._utils.checks import did_you_mean
from ..errors import ModelFileError

Json: TypeAlias = Any  # an unchecked value of a parsed file
Document: TypeAlias = dict[str, Json]

MIN_CONTAINER_LIMIT = 1000  # number of lists and objects that any text may have
BYTES_PER_CONTAINER = 16  # longer texts may have one per 16 bytes: an empty list takes 2 bytes of text, 80 of memory
MAX_SHOWN_CHARACTERS = 60  # of a value in an error message
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_COMPACT = (",", ":")
_READABLE = (", ", ": ")


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


def check_keys(part: Json, location: str, required: Collection[str], optional: Collection[str] = ()) -> Document:
    """Return `part` if it is an object with all required keys and no unknown key; otherwise raise `ModelFileError`."""
    require(part, isinstance(part, dict), location, "an object")
    for key in part:
        if key not in required and key not in optional:
            hint = did_you_mean(key, [*required, *optional])
            raise ModelFileError(f"{location} has the unknown key {shorten(key)}{hint}")
    for key in required:
        if key not in part:
            raise ModelFileError(f"{location} lacks the key {key!r}")
    checked: Document = part
    return checked


def require(value: Json, is_valid: bool, location: str, expected: str) -> Json:
    """Return `value` if it is valid; otherwise raise an error with its location and the expected kind of value."""
    if not is_valid:
        raise ModelFileError(f"{location} is {describe(value)}; {expected} is needed")
    return value


def describe(value: object) -> str:
    """Return a short description of a JSON value that is safe to print."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 100:
        return f"a number of {value.bit_length():,} bits"
    if value is None or isinstance(value, bool):
        return _to_json(value)
    return shorten(value)


def shorten(value: object) -> str:
    """Return the ASCII form of a string or number, cut after a few characters."""
    text = ascii(value)
    return text if len(text) <= MAX_SHOWN_CHARACTERS else text[: MAX_SHOWN_CHARACTERS - 3] + "..."


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
