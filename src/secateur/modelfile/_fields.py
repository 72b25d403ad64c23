"""Read and write the keys of the objects in a file, by one table of the kind of value under each key.

The JSON Schema of the files (`schema.json`) states which keys an object has. A key has the same kind of value
wherever it occurs.
"""

import json
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ..errors import ModelFileError
from . import _values as values
from ._json import Document, Json, check_keys, require

Converter: TypeAlias = Callable[[Any, str], Any]  # of a value and its location in the file


class ValueKind(NamedTuple):
    """How values of one kind are read from a file and written to it."""

    read: Converter
    write: Converter


def optional(convert: Converter) -> Converter:
    """Return a converter that also accepts null and keeps it."""
    return lambda value, location: None if value is None else convert(value, location)


def keep_unchecked(value: Json, _location: str) -> Json:
    """Return the value as it is; the caller checks it."""
    return value


def _read_names(value: Json, location: str) -> list[str]:
    names = [values.read_text(name, f"{location}[{i}]") for i, name in enumerate(values.read_list(value, location))]
    if len(set(names)) < len(names):
        raise ModelFileError(f"{location} holds a name twice")
    return names


def _write_names(names: Collection[str], location: str) -> list[str]:
    return [values.read_text(str(name), location) for name in sorted(names)]


def _read_amount(value: Json, location: str) -> int | float:
    """Return a number of rows, or their weight."""
    number = values.read_number(value, location)
    require(value, 0 <= number < float("inf"), location, "a number of 0 or more")
    return number


def _read_dictionary(value: Json, location: str) -> Document:
    dictionary: Document = values.read_plain(value, location)
    require(value, isinstance(dictionary, dict), location, "an object")
    return dictionary


def _write_dictionary(dictionary: Document, location: str) -> Document:
    written: Document = values.write_plain(dict(dictionary), location)
    return written


def _read_dictionaries(value: Json, location: str) -> tuple[Document, ...]:
    return tuple(_read_dictionary(item, location) for item in values.read_list(value, location))


def _read_texts(value: Json, location: str) -> tuple[str, ...]:
    return tuple(values.read_text(text, f"{location}[{i}]") for i, text in enumerate(values.read_list(value, location)))


NAME = ValueKind(values.read_text, lambda text, location: values.read_text(str(text), location))
TEXT = ValueKind(values.read_long_text, lambda text, location: values.read_long_text(str(text), location))
TEXTS = ValueKind(_read_texts, lambda texts, location: list(_read_texts(list(texts), location)))
BOOL = ValueKind(values.read_bool, optional(lambda value, _: bool(value)))
NAMES = ValueKind(_read_names, _write_names)
DICTIONARY = ValueKind(_read_dictionary, _write_dictionary)
DICTIONARIES = ValueKind(
    _read_dictionaries, lambda items, location: [_write_dictionary(item, location) for item in items]
)
AMOUNT = ValueKind(_read_amount, values.write_plain)
NUMBER = ValueKind(values.read_number, values.write_plain)
FLOATS = ValueKind(values.read_floats, values.write_array)
INTS = ValueKind(partial(values.read_ints, dtype="i4"), values.write_array)
LONGS = ValueKind(partial(values.read_ints, dtype="i8"), values.write_array)
BRANCHES = ValueKind(partial(values.read_ints, dtype="u2"), values.write_array)
OPTIONAL_FLOATS = ValueKind(optional(values.read_floats), optional(values.write_array))
OPTIONAL_INTS = ValueKind(optional(values.read_ints), optional(values.write_array))
INDEX = ValueKind(keep_unchecked, lambda index, _: int(index))

SCHEMA: Document = json.loads(Path(__file__).with_name("schema.json").read_text("utf-8"))
_DEFINITIONS: Document = SCHEMA["$defs"] | {
    "counts": SCHEMA["$defs"]["sample"]["oneOf"][0],
    "moments": SCHEMA["$defs"]["sample"]["oneOf"][1],
    "surrogates": SCHEMA["$defs"]["tree"]["properties"]["surrogates"],
    "evaluation": SCHEMA["$defs"]["rows"]["properties"]["evaluations"]["items"],
}
REQUIRED_KEYS = {name: tuple(part["required"]) for name, part in _DEFINITIONS.items() if "required" in part}

KIND_OF_KEY = {
    **dict.fromkeys(("rule", "sample", "method", "predictor", "quantity", "name", "text", "cost", "alpha_unit"), NAME),
    **dict.fromkeys(("note", "reason", "freshness"), TEXT),
    "edits": TEXTS,
    **dict.fromkeys(("nested", "certified", "is_checked", "has_missing", "has_names", "has_numeric_target"), BOOL),
    **dict.fromkeys(("is_date", "is_sequence", "is_unrestricted", "has_other_sequences"), BOOL),
    **dict.fromkeys(("seen", "evaluated_on", "history"), NAMES),
    **dict.fromkeys(("growing", "details", "parameters", "metadata"), DICTIONARY),
    "pool": DICTIONARIES,
    **dict.fromkeys(("n", "errors"), AMOUNT),
    **dict.fromkeys(("value", "delta", "complexity", "scale", "tolerance"), NUMBER),
    **dict.fromkeys(("parent", "feature", "default", "split_order", "ids", "low", "cuts", "steps", "changes"), INTS),
    **dict.fromkeys(("start", "branch_start", "change_start", "n_leaves", "classes", "copies", "n_by_class"), LONGS),
    "branch": BRANCHES,
    **dict.fromkeys(("threshold", "rounded", "score", "agreement", "weight", "mean", "sse", "error", "se"), FLOATS),
    **dict.fromkeys(("alphas", "betas"), OPTIONAL_FLOATS),
    "node_labels": OPTIONAL_INTS,
    **dict.fromkeys(("best", "chosen"), INDEX),
}


def read_fields(
    part: Json,
    location: str,
    required: Collection[str],
    optional_keys: Collection[str] = (),
    **readers: Converter,
) -> Document:
    """Return the values of an object by key; refuse missing and unknown keys.

    Parameters
    ----------
    part : value of a parsed file
    location : str
        Where the object is in the file.
    required, optional_keys : collections of str
        The keys of the object.
    **readers : functions
        How the values of single keys are read; by default as `KIND_OF_KEY` states.
    """
    check_keys(part, location, required, optional_keys)
    fields = {}
    for key in (*required, *optional_keys):
        if key in part:
            kind = KIND_OF_KEY.get(key)
            read = readers.get(key) or (keep_unchecked if kind is None else kind.read)
            fields[key] = read(part[key], f"{location}.{key}")
    return fields


def write_fields(value: object, location: str, keys: Collection[str], **written: Json) -> Document:
    """Return an object for JSON from the attributes of `value`.

    Parameters
    ----------
    value : object
        Its attributes have the names of the keys.
    location : str
        Where the object is in the file.
    keys : collection of str
        The keys, in order.
    **written : JSON values
        The values of single keys, which are not attributes or are written in another way.
    """
    document = {}
    for key in keys:
        if key in written:
            document[key] = written[key]
        else:
            document[key] = KIND_OF_KEY[key].write(getattr(value, key), f"{location}.{key}")
    return document


def check_lengths(fields: Document, location: str, length: int, *keys: str) -> None:
    """Refuse values under these keys that have another length; missing values and null are accepted."""
    for key in keys:
        if fields.get(key) is not None and len(fields[key]) != length:
            raise ModelFileError(f"{location}.{key} has {len(fields[key]):,} entries; {length:,} are needed")
