"""JSON text that people can read and compare line by line, and the strict way back.

Python's own reader takes NaN, keys that occur twice, and numbers that overflow to infinity;
none of them passes here. What comes back is plain lists, dictionaries and values: nothing is
known yet of what they mean.
"""

import json
import re
from collections.abc import Collection
from typing import Any, Never, TypeAlias

from .._utils.checks import did_you_mean
from ..errors import ModelFileError

Json: TypeAlias = Any  # what a file holds, of which nothing is known before it is proved
Document: TypeAlias = dict[str, Json]

FREE_CONTAINERS = 1000  # lists and objects any text may have, and the bytes of text for each further one:
BYTES_PER_CONTAINER = 16  # an empty list takes 2 bytes of text but 80 of memory
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_COMPACT = (",", ":")
_READABLE = (", ", ": ")


def to_text(document: Document) -> bytes:
    """Return a document as UTF-8 JSON: a key per line, an array per line."""
    lines: list[str] = []
    _add(lines, document, "", "")
    try:
        return ("\n".join(lines) + "\n").encode()
    except UnicodeEncodeError as error:
        raise ModelFileError(
            f"a string contains a lone surrogate ({error.object[error.start]!a}); replace it with a complete character"
        ) from error


def from_text(data: bytes) -> Document:
    """Return the object that a JSON text holds; `ModelFileError` for anything else."""
    _check_containers(data)
    try:
        document = json.loads(data.decode(), object_pairs_hook=_without_doubles, parse_constant=_no_constant)
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
    except (ValueError, MemoryError) as error:  # a number of more digits than Python converts
        raise ModelFileError(f"it holds a value that cannot be read ({error})") from error
    if not isinstance(document, dict):
        raise ModelFileError(f"it holds {described(document)} where an object is needed; it is not a model file")
    return document


def check_keys(part: Json, where: str, needed: Collection[str], optional: Collection[str] = ()) -> Document:
    """Return `part`, which must be an object with all the needed keys and no unknown one."""
    proper(part, isinstance(part, dict), where, "an object")
    for key in part:
        if key not in needed and key not in optional:
            raise ModelFileError(
                f"{where} has the unknown key {shortened(key)}{did_you_mean(key, [*needed, *optional])}"
            )
    for key in needed:
        if key not in part:
            raise ModelFileError(f"{where} lacks the key {key!r}")
    found: Document = part
    return found


def proper(value: Json, is_proper: bool, where: str, needed: str) -> Json:
    """Return a value that is what it must be; refuse any other, with its place and what is needed."""
    if not is_proper:
        raise ModelFileError(f"{where} is {described(value)}; {needed} is needed")
    return value


def described(value: object) -> str:
    """A value of a document in a few words, safe to print."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 100:
        return f"a number of {value.bit_length():,} bits"
    if value is None or isinstance(value, bool):
        return _json(value)
    return shortened(value)


def shortened(value: object) -> str:
    """A text or number in quotes, cut after some characters, safe to print."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _add(lines: list[str], value: Json, start: str, indent: str) -> None:
    """Add the lines of a value; `start` stands before its first line."""
    deeper = indent + "  "
    if isinstance(value, dict) and value and not next(iter(value)).startswith("$"):  # marks stay on one line
        lines.append(start + "{")
        for key, item in value.items():
            _add(lines, item, f"{deeper}{_json(key)}: ", deeper)
            lines[-1] += ","
        lines[-1] = lines[-1][:-1]
        lines.append(indent + "}")
    elif isinstance(value, list) and not {list, dict}.isdisjoint(map(type, value)):
        lines.append(start + "[")
        lines.extend(f"{deeper}{_json(item, _READABLE if isinstance(item, dict) else _COMPACT)}," for item in value)
        lines[-1] = lines[-1][:-1]
        lines.append(indent + "]")
    else:
        lines.append(start + _json(value))


def _json(value: Json, separators: tuple[str, str] = _COMPACT) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators)


def _check_containers(data: bytes) -> None:
    """Refuse text of little but brackets, which takes thirty times its size in memory."""
    limit = FREE_CONTAINERS + len(data) // BYTES_PER_CONTAINER
    if data.count(b"[") + data.count(b"{") <= limit:
        return
    outside = _STRING.sub(b"", data)  # brackets in names and categories are only text
    n_containers = outside.count(b"[") + outside.count(b"{")
    if n_containers > limit:
        raise ModelFileError(f"it has {n_containers:,} lists and objects in {len(data):,} bytes; no model has so many")


def _without_doubles(pairs: list[tuple[str, Json]]) -> Document:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ModelFileError(f"the key {shortened(key)} occurs twice in one object; it must be unique")
            seen.add(key)
    return found


def _no_constant(name: str) -> Never:
    raise ModelFileError(f"it holds {name}, which is not JSON; null stands for NaN in an array of numbers")
