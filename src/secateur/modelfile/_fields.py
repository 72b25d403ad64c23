"""What each name holds, wherever it stands in a file: one table, by which parts are read and written.

Which names a part has is told by the JSON Schema of the files.
"""

import json
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ..errors import ModelFileError
from . import _values as values
from ._text import Document, Json, check_keys, proper

Way: TypeAlias = Callable[[Any, str], Any]  # of a value into or out of a place of the file


class Kind(NamedTuple):
    """How values of one kind are read and written."""

    read: Way
    write: Way


def maybe(way: Way) -> Way:
    """The way of values that may also be null."""
    return lambda value, where: None if value is None else way(value, where)


def as_it_is(value: Json, _: str) -> Json:
    """The way of a value that is read by whoever knows what it may be."""
    return value


def _names_in(value: Json, where: str) -> list[str]:
    names = [values.text_in(name, f"{where}[{i}]") for i, name in enumerate(values.list_in(value, where))]
    if len(set(names)) < len(names):
        raise ModelFileError(f"{where} holds a name twice")
    return names


def _rows_in(value: Json, where: str) -> int | float:
    """A number of rows, or their weight."""
    number = values.real_number_in(value, where)
    proper(value, 0 <= number < float("inf"), where, "a number of 0 or more")
    return number


def _dictionary_in(value: Json, where: str) -> Document:
    found: Document = values.plain_in(value, where)
    proper(value, isinstance(found, dict), where, "an object")
    return found


NAME = Kind(values.text_in, lambda text, where: values.text_in(str(text), where))
TEXT = Kind(values.long_text_in, lambda text, where: values.long_text_in(str(text), where))
TRUTH = Kind(values.truth_in, maybe(lambda truth, _: bool(truth)))
NAMES = Kind(_names_in, lambda names, where: [values.text_in(str(name), where) for name in sorted(names)])
PLAIN = Kind(_dictionary_in, lambda plain, where: values.plain_out(dict(plain), where))
ROWS = Kind(_rows_in, values.plain_out)
NUMBER = Kind(values.real_number_in, values.plain_out)
REAL = Kind(values.real_in, values.numbers_out)
WHOLE, LONG, SHORT = (Kind(partial(values.whole_in, dtype=t), values.numbers_out) for t in ("i4", "i8", "u2"))
INDEX = Kind(as_it_is, lambda index, _: int(index))
TEXTS = Kind(
    lambda texts, where: tuple(
        values.text_in(text, f"{where}[{i}]") for i, text in enumerate(values.list_in(texts, where))
    ),
    lambda texts, where: [values.text_in(text, f"{where}[{i}]") for i, text in enumerate(texts)],
)
POOL = Kind(
    lambda pool, where: tuple(PLAIN.read(one, where) for one in values.list_in(pool, where)),
    lambda pool, where: [PLAIN.write(one, where) for one in pool],
)

SCHEMA: Document = json.loads(Path(__file__).with_name("schema.json").read_text("utf-8"))
_DEFINED: Document = SCHEMA["$defs"]
_INSIDE = {
    "counts": _DEFINED["sample"]["oneOf"][0],
    "moments": _DEFINED["sample"]["oneOf"][1],
    "surrogates": _DEFINED["tree"]["properties"]["surrogates"],
    "look": _DEFINED["rows"]["properties"]["looks"]["items"],
}
NAMES_OF = {part: tuple(said["required"]) for part, said in (_DEFINED | _INSIDE).items() if "required" in said}

KINDS = {
    **dict.fromkeys(("rule", "sample", "method", "predictor", "quantity", "name"), NAME),
    **dict.fromkeys(("note", "reason", "freshness"), TEXT),
    **dict.fromkeys(("text", "cost", "alpha_unit"), NAME),
    "edits": TEXTS,
    **dict.fromkeys(("nested", "certified", "is_checked", "has_missing", "has_names", "has_numeric_target"), TRUTH),
    **dict.fromkeys(("is_date", "is_sequence", "is_open", "is_several"), TRUTH),
    **dict.fromkeys(("seen", "judges", "history"), NAMES),
    **dict.fromkeys(("growing", "details", "parameters", "facts"), PLAIN),
    **dict.fromkeys(("n", "errors"), ROWS),
    **dict.fromkeys(("value", "delta", "complexity", "scale", "tolerance"), NUMBER),
    **dict.fromkeys(("parent", "feature", "default", "birth", "ids", "low", "cuts", "steps", "changes"), WHOLE),
    **dict.fromkeys(("start", "branch_start", "change_start", "n_leaves", "classes", "copies", "n_by_class"), LONG),
    **dict.fromkeys(("threshold", "rounded", "score", "agreement", "weight", "mean", "spread", "error", "se"), REAL),
    **dict.fromkeys(("alphas", "betas"), Kind(maybe(values.real_in), maybe(values.numbers_out))),
    "branch": SHORT,
    **dict.fromkeys(("best", "chosen"), INDEX),
    "pool": POOL,
    "node_labels": Kind(maybe(values.whole_in), maybe(values.numbers_out)),
}


# Keys of the file whose fields have another name.
FIELD_OF_KEY = {"birth": "split_order", "judges": "evaluated_on", "spread": "sse"}
KEY_OF_FIELD = {field: key for key, field in FIELD_OF_KEY.items()}


def read_fields(
    part: Json, where: str, names: Collection[str], optional: Collection[str] = (), **ways: Way
) -> Document:
    """The values of an object with all these names and no unknown one, each of its kind or by `ways`."""
    names, optional = ([KEY_OF_FIELD.get(name, name) for name in given] for given in (names, optional))
    check_keys(part, where, names, optional)
    ways = {name: kind.read for name, kind in KINDS.items()} | ways
    return {
        FIELD_OF_KEY.get(key, key): ways.get(key, as_it_is)(part[key], f"{where}.{key}")
        for key in (*names, *optional)
        if key in part
    }


def write_fields(noun: object, where: str, names: Collection[str], **given: Json) -> Document:
    """The attributes of a noun by these names, each as its kind is written; `given` are written already."""
    keys = [KEY_OF_FIELD.get(name, name) for name in names]
    return {
        key: given[key]
        if key in given
        else KINDS[key].write(getattr(noun, FIELD_OF_KEY.get(key, key)), f"{where}.{key}")
        for key in keys
    }


def check_lengths(read: Document, where: str, length: int, *names: str) -> None:
    """Refuse lists of another length."""
    for name in names:
        if read.get(name) is not None and len(read[name]) != length:
            raise ModelFileError(f"{where}.{name} has {len(read[name]):,} entries; {length:,} are needed")
