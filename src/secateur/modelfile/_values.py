"""Read and write the values of a file, and the objects that hold them, by one table of the kind of value of each key.

    in Python                      in the file
    array of integers              [1, 2]
    array of floats                [0.5, null, "inf"]        null is NaN, "-inf" minus infinity
    class labels                   {"dtype": "int64", "values": [0, 1]}
    NaN, inf, -inf outside arrays  {"$float": "nan"}
    tuple                          {"$tuple": [1, 2]}
    dict with a key that is not a string, or that starts with "$"      {"$dict": [[key, value], ...]}

All other plain values do not change. Floats have as many digits as are needed to restore the same bits. Each `read_...`
function returns the Python value for a value of a parsed file, or raises `ModelFileError` with the location of the
value. Each `write_...` function is its inverse. `KIND_OF_KEY` names the two functions for each key of a file, because a
key has the same kind of value wherever it occurs. The JSON Schema (`schema.json`) states which keys an object has.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Array, write_protect
from .._utils.checks import did_you_mean
from ..errors import ModelFileError, show

Json: TypeAlias = Any  # an unchecked value of a parsed file
Document: TypeAlias = dict[str, Json]
Converter: TypeAlias = Callable[[Any, str], Any]  # of a value and its location in the file

MAX_SHOWN_CHARACTERS = 60  # of a value in an error message
MAX_INT_BITS = 1024  # of an integer among plain values
# Values with equal hashes in one set or dictionary, whose construction takes time in the square of their number.
MAX_EQUAL_HASHES = 64
MAX_NESTING = 32  # levels of lists and dictionaries
MAX_NAME_CHARACTERS = 4096  # of a name or a class label, which are repeated wherever they are shown
MAX_TEXT_CHARACTERS = 1 << 16  # of any other string
_SPECIAL_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_LABEL_DTYPE = re.compile(r"bool|u?int(?:8|16|32|64)|float(?:16|32|64)|object|U[1-9][0-9]{0,7}")
_TYPE_OF_LABEL_DTYPE = {"b": bool, "i": int, "u": int, "f": float, "U": str}  # by the first letter of the dtype


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
        return json.dumps(value)
    return shorten(value)


def shorten(value: object) -> str:
    """Return the ASCII form of a string or number, cut after a few characters."""
    text = ascii(value)
    return text if len(text) <= MAX_SHOWN_CHARACTERS else text[: MAX_SHOWN_CHARACTERS - 3] + "..."


def check_keys(part: Json, location: str, required: Collection[str], optional: Collection[str] = ()) -> Document:
    """Return `part` if it is an object with all required keys and no unknown key; otherwise raise `ModelFileError`."""
    require(part, isinstance(part, dict), location, "an object")
    for key in part:
        if key not in required and key not in optional:
            hint = did_you_mean(key, [*required, *optional])
            raise ModelFileError(f"{location} has the unknown key {shorten(key)}{hint}")
    for key in required:
        if key not in part:
            raise ModelFileError(f"{location} lacks the key {show(key)}")
    checked: Document = part
    return checked


def write_array(array: Array, _location: str = "") -> list[Json]:
    """Return an array as a list for JSON: NaN as None, infinity as a string."""
    values: list[Json] = array.tolist()
    if array.dtype.kind == "f":
        for i in np.flatnonzero(~np.isfinite(array)).tolist():
            values[i] = None if math.isnan(values[i]) else str(values[i])  # "inf" or "-inf"
    return values


def read_ints(values: Json, location: str, length: int | None = None, dtype: npt.DTypeLike = np.int32) -> Array:
    """Return a list of integers as a read-only array."""
    read_list(values, location, length)
    if set(map(type, values)) - {int}:
        i, value = next((i, value) for i, value in enumerate(values) if type(value) is not int)
        raise ModelFileError(f"{location}[{i}] is {describe(value)}; a whole number is needed")
    try:
        return write_protect(np.array(values, dtype))
    except OverflowError:
        limits = np.iinfo(np.dtype(dtype))
        i, value = next((i, value) for i, value in enumerate(values) if not limits.min <= value <= limits.max)
        raise ModelFileError(
            f"{location}[{i}] is {describe(value)}; a whole number from {limits.min} to {limits.max} is needed"
        ) from None


def read_floats(values: Json, location: str, length: int | None = None) -> Array:
    """Return a list of numbers as a read-only float array; null is NaN, "inf" and "-inf" are infinite."""
    read_list(values, location, length)
    types = set(map(type, values))
    is_string = np.zeros(len(values), bool)
    if type(None) in types and types <= {int, float, type(None)}:
        values = [math.nan if value is None else value for value in values]
    elif not types <= {int, float}:
        is_string = np.array([type(value) is str for value in values])
        values = [_read_float(value, f"{location}[{i}]") for i, value in enumerate(values)]
    try:
        array = np.array(values, np.float64)
    except OverflowError:
        raise ModelFileError(f"{location} holds a whole number too large for a float") from None
    overflows = np.flatnonzero(np.isinf(array) & ~is_string)
    if len(overflows):  # JSON's 1e999 is parsed as infinity
        raise ModelFileError(f"{location}[{overflows[0]}] is a number too large for a float")
    return write_protect(array)


def read_number(value: Json, location: str) -> int | float:
    """Return one number; {"$float": ...} is NaN or infinity."""
    number: int | float = read_plain(value, location)
    require(value, type(number) in (int, float), location, "a number")
    return number


def read_int(value: Json, location: str, minimum: int = 0, maximum: int = (1 << 63) - 1) -> Json:
    """Return one integer from `minimum` to `maximum`."""
    is_valid = type(value) is int and minimum <= value <= maximum
    return require(value, is_valid, location, f"a whole number from {minimum} to {maximum}")


def read_text(value: Json, location: str, max_characters: int = MAX_NAME_CHARACTERS) -> str:
    """Return one string of bounded length without lone surrogates."""
    text: str = require(value, type(value) is str, location, "a string")
    if len(text) > max_characters:
        raise ModelFileError(
            f"{location} has {len(text):,} characters; at most {max_characters:,} are kept: shorten it"
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ModelFileError(
            f"{location} is {shorten(text)}, which contains a lone surrogate ({text[error.start]!a}); "
            "replace it with a complete character"
        ) from None
    return text


read_long_text = partial(read_text, max_characters=MAX_TEXT_CHARACTERS)


def read_bool(value: Json, location: str) -> Json:
    """Return true or false."""
    return require(value, type(value) is bool, location, "true or false")


def read_choice(value: Json, location: str, *names: str) -> Json:
    """Return a string that must be one of `names`."""
    return require(value, type(value) is str and value in names, location, " or ".join(map(show, names)))


def read_list(values: Json, location: str, length: int | None = None) -> list[Json]:
    """Return a list, of the given length if there is one."""
    checked: list[Json] = require(values, type(values) is list, location, "a list")
    if length is not None and len(checked) != length:
        raise ModelFileError(f"{location} has {len(checked):,} entries; {length:,} are needed")
    return checked


def write_scalars(values: Json, location: str) -> list[Json]:
    """Return categories or class labels (strings, numbers and booleans) as a list for JSON."""
    written = []
    for i, value in enumerate(values):
        item_location = f"{location}[{i}]"
        written.append(_check_scalar(write_plain(value, item_location), item_location))
    read_scalars(written, location)  # refuses duplicates
    return written


def read_scalars(values: Json, location: str) -> list[Json]:
    """Return categories or class labels; each must differ from all others."""
    scalars = []
    for i, value in enumerate(read_list(values, location)):
        item_location = f"{location}[{i}]"
        scalars.append(read_plain(_check_scalar(value, item_location), item_location))
    check_hash_collisions(scalars, location)
    first_position: dict[Json, int] = {}
    for i, value in enumerate(scalars):
        is_nan = value != value  # noqa: PLR0124 only NaN differs from itself
        if is_nan or first_position.setdefault(value, i) != i:
            raise ModelFileError(f"{location}[{i}] is {shorten(value)}, which is a duplicate or not a value")
    return scalars


def check_hash_collisions(values: list[Json], location: str) -> None:
    """Refuse integers that were chosen to have equal hashes, which would make a set of them slow."""
    if len(values) <= MAX_EQUAL_HASHES:
        return
    ((most_common_hash, n_values),) = Counter(map(hash, values)).most_common(1)
    if n_values > MAX_EQUAL_HASHES:
        example = next(value for value in values if hash(value) == most_common_hash)
        raise ModelFileError(
            f"{location} holds {n_values:,} values with the hash of {shorten(example)}; at most {MAX_EQUAL_HASHES} are "
            "kept: write them as strings"
        )


def write_labels(labels: Array, location: str) -> Document:
    """Return class labels with their dtype, as an object for JSON."""
    dtype = labels.dtype.name
    if labels.dtype.kind == "U":
        dtype = f"U{max(1, labels.dtype.itemsize // 4)}"
    if labels.ndim != 1 or not _LABEL_DTYPE.fullmatch(dtype):
        raise ModelFileError(
            f"{location} are {labels.dtype} of shape {labels.shape}; a list of numbers, strings or booleans is needed"
        )
    document = {"dtype": dtype, "values": write_scalars(labels.tolist(), location)}
    read_labels(document, location)  # refuses labels that are too long
    return document


def read_labels(value: Json, location: str) -> Array:
    """Return class labels as an array of their dtype; no label occurs twice."""
    part = check_keys(value, location, ("dtype", "values"))
    dtype = read_text(part["dtype"], f"{location}.dtype")
    labels = read_scalars(part["values"], f"{location}.values")
    if not _LABEL_DTYPE.fullmatch(dtype):
        raise ModelFileError(
            f"{location}.dtype is {shorten(dtype)}; bool, int64, float64, object or U<width> is needed"
        )
    _check_labels_fit_dtype(labels, dtype, location)
    array: Array = np.empty(len(labels), object)
    array[:] = labels
    if dtype == "object":
        return write_protect(array)
    with np.errstate(over="ignore"):
        try:
            typed = array.astype(np.dtype(dtype))
        except OverflowError:
            typed = array[:0]
    if typed.tolist() != labels:
        raise ModelFileError(f"{location} holds labels that {dtype} cannot hold")
    return write_protect(typed)


def _check_labels_fit_dtype(labels: list[Json], dtype: str, location: str) -> None:
    """Refuse labels of another Python type than the dtype's, and strings that are too long for it."""
    for i, label in enumerate(labels):
        if type(label) is str:
            read_text(label, f"{location}.values[{i}]")
    required_type = _TYPE_OF_LABEL_DTYPE.get(dtype[0])
    for label in labels:
        if required_type is not None and type(label) is not required_type:
            raise ModelFileError(f"{location} holds {shorten(label)}, which is not {dtype}")
    if dtype[0] != "U":
        return
    width = int(dtype[1:])
    n_longest = max(map(len, labels), default=0)
    if not n_longest <= width <= MAX_NAME_CHARACTERS:  # NumPy takes memory of this width for each predicted row
        raise ModelFileError(
            f"{location}.dtype is {dtype} for labels of up to {n_longest:,} characters; a width from {n_longest:,} to "
            f"{MAX_NAME_CHARACTERS:,} is needed: shorten the labels, or give them as objects"
        )


def write_plain(value: object, location: str, level: int = 0) -> Json:
    """Return a plain value as JSON can hold it; arrays become lists, NumPy numbers Python numbers."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return read_long_text(str.__str__(value), location)
    if isinstance(value, int):
        return _check_int_bits(int(value), location)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, np.ndarray | dict | list | tuple):
        return _write_container(value, location, level)
    raise ModelFileError(
        f"{location} is a {type(value).__name__} ({shorten(value)}); only plain values can be saved: None, truth "
        "values, numbers, text, and lists and dictionaries of them"
    )


def _write_container(
    value: Array | dict[Json, Json] | list[Json] | tuple[Json, ...], location: str, level: int
) -> Json:
    """Return an array, a dictionary, a list or a tuple of plain values as JSON can hold it."""
    if level == MAX_NESTING:
        raise ModelFileError(f"{location} is nested more than {MAX_NESTING} levels deep")
    if isinstance(value, np.ndarray):
        return write_plain(value.tolist(), location, level)
    if isinstance(value, list | tuple):
        items = [write_plain(item, f"{location}[{i}]", level + 1) for i, item in enumerate(value)]
        return items if isinstance(value, list) else {"$tuple": items}
    if any(not isinstance(key, str) or key.startswith("$") for key in value):
        tagged = {"$dict": [[write_plain(part, location, level + 1) for part in pair] for pair in value.items()]}
        read_plain(tagged, location, level)  # refuses keys that are equal after reading, such as two NaN
        return tagged
    document: Document = {}
    for key, item in value.items():
        name = read_text(str.__str__(key), location)
        document[name] = write_plain(item, f"{location}.{shorten(key)[1:-1]}", level + 1)
    return document


def read_plain(value: Json, location: str, level: int = 0) -> Json:
    """Return the plain value that a JSON value stands for."""
    if value is None or type(value) is bool:
        return value
    if type(value) is str:
        return read_long_text(value, location)
    if type(value) is int:
        return _check_int_bits(value, location)
    if type(value) is float:
        if not math.isfinite(value):
            raise ModelFileError(f"{location} is a number too large for a float")
        return value
    if level == MAX_NESTING:
        raise ModelFileError(f"{location} is nested more than {MAX_NESTING} levels deep")
    if type(value) is list:
        return [read_plain(item, f"{location}[{i}]", level + 1) for i, item in enumerate(value)]
    is_tagged = len(value) == 1 and next(iter(value)).startswith("$")
    return _read_tagged(value, location, level) if is_tagged else _read_plain_dictionary(value, location, level)


def _read_plain_dictionary(value: Document, location: str, level: int) -> Document:
    """Return a dictionary of plain values; its keys must not be reserved."""
    dictionary = {}
    for key, item in value.items():
        if key.startswith("$"):
            raise ModelFileError(f'{location} has the key {shorten(key)}; "$" marks reserved keys: write it as "$dict"')
        dictionary[read_text(key, location)] = read_plain(item, f"{location}.{shorten(key)[1:-1]}", level + 1)
    return dictionary


def _read_tagged(value: Document, location: str, level: int) -> Json:
    """Return the value of an object whose only key is "$float", "$tuple" or "$dict"."""
    ((tag, content),) = value.items()
    if tag == "$float" and type(content) is str and content in _SPECIAL_FLOATS:
        return _SPECIAL_FLOATS[content]
    if tag == "$tuple":
        items = enumerate(read_list(content, location))
        return tuple(read_plain(item, f"{location}[{i}]", level + 1) for i, item in items)
    if tag == "$dict":
        dictionary = _read_pairs(content, location, level)
        if dictionary is not None:
            return dictionary
    raise ModelFileError(f'{location} holds {shorten(tag)}, which is not a valid "$float", "$tuple" or "$dict"')


def _read_pairs(content: Json, location: str, level: int) -> dict[Json, Json] | None:
    """Return the dictionary of a list of pairs; None if an entry is not a pair or a key occurs twice."""
    pairs = [read_list(pair, location) for pair in read_list(content, location)]
    if any(len(pair) != 2 for pair in pairs):
        return None
    keys = [read_plain(key, location, level + 1) for key, _ in pairs]
    try:
        check_hash_collisions(keys, location)
        dictionary = {}
        for key, (_, item) in zip(keys, pairs, strict=True):
            dictionary[key] = read_plain(item, location, level + 1)
    except TypeError:
        raise ModelFileError(f"{location} has a key that is a list or an object; a plain value is needed") from None
    return dictionary if len(dictionary) == len(pairs) else None


def _read_float(value: Json, location: str) -> Json:
    """Return an entry of a float array: a number, NaN for null, or an infinity."""
    if type(value) in (int, float):
        return value
    is_special = value is None or (type(value) is str and value in ("inf", "-inf"))
    require(value, is_special, location, 'a number, null for NaN, "inf" or "-inf"')
    return math.nan if value is None else _SPECIAL_FLOATS[value]


def _check_scalar(value: Json, location: str) -> Json:
    is_special = isinstance(value, dict) and list(value) == ["$float"]
    is_scalar = is_special or type(value) in (str, bool, int, float)
    return require(value, is_scalar, location, "a string, a number or a boolean")


def _check_int_bits(value: int, location: str) -> int:
    n_bits = value.bit_length()
    if n_bits > MAX_INT_BITS:
        raise ModelFileError(f"{location} is a number of {n_bits:,} bits; at most {MAX_INT_BITS:,} are kept")
    return value


def optional(convert: Converter) -> Converter:
    """Return a converter that also accepts null and keeps it."""
    return lambda value, location: None if value is None else convert(value, location)


def keep_unchecked(value: Json, _location: str) -> Json:
    """Return the value as it is; the caller checks it."""
    return value


def _read_names(value: Json, location: str) -> list[str]:
    names = [read_text(name, f"{location}[{i}]") for i, name in enumerate(read_list(value, location))]
    if len(set(names)) < len(names):
        raise ModelFileError(f"{location} holds a name twice")
    return names


def _write_names(names: Collection[str], location: str) -> list[str]:
    return [read_text(str(name), location) for name in sorted(names)]


def _read_amount(value: Json, location: str) -> int | float:
    """Return a number of rows, or their weight."""
    number = read_number(value, location)
    require(value, 0 <= number < float("inf"), location, "a number of 0 or more")
    return number


def _read_dictionary(value: Json, location: str) -> Document:
    dictionary: Document = read_plain(value, location)
    require(value, isinstance(dictionary, dict), location, "an object")
    return dictionary


def _write_dictionary(dictionary: Document, location: str) -> Document:
    written: Document = write_plain(dict(dictionary), location)
    return written


def _read_dictionaries(value: Json, location: str) -> tuple[Document, ...]:
    return tuple(_read_dictionary(item, location) for item in read_list(value, location))


def _read_texts(value: Json, location: str) -> tuple[str, ...]:
    return tuple(read_text(text, f"{location}[{i}]") for i, text in enumerate(read_list(value, location)))


class ValueKind(NamedTuple):
    """How values of one kind are read from a file and written to it."""

    read: Converter
    write: Converter


NAME = ValueKind(read_text, lambda text, location: read_text(str(text), location))
TEXT = ValueKind(read_long_text, lambda text, location: read_long_text(str(text), location))
TEXTS = ValueKind(_read_texts, lambda texts, location: list(_read_texts(list(texts), location)))
BOOL = ValueKind(read_bool, optional(lambda value, _: bool(value)))
NAMES = ValueKind(_read_names, _write_names)
DICTIONARY = ValueKind(_read_dictionary, _write_dictionary)
DICTIONARIES = ValueKind(
    _read_dictionaries, lambda items, location: [_write_dictionary(item, location) for item in items]
)
AMOUNT = ValueKind(_read_amount, write_plain)
NUMBER = ValueKind(read_number, write_plain)
FLOATS = ValueKind(read_floats, write_array)
INTS = ValueKind(partial(read_ints, dtype="i4"), write_array)
LONGS = ValueKind(partial(read_ints, dtype="i8"), write_array)
BRANCHES = ValueKind(partial(read_ints, dtype="u2"), write_array)
OPTIONAL_FLOATS = ValueKind(optional(read_floats), optional(write_array))
OPTIONAL_INTS = ValueKind(optional(read_ints), optional(write_array))
COUNT = ValueKind(partial(read_int, minimum=0), lambda number, _: int(number))
INDEX = ValueKind(keep_unchecked, lambda index, _: int(index))

SCHEMA: Document = json.loads(Path(__file__).with_name("schema.json").read_text("utf-8"))
_DEFINITIONS: Document = SCHEMA["$defs"] | {
    "counts": SCHEMA["$defs"]["sample"]["oneOf"][0],
    "moments": SCHEMA["$defs"]["sample"]["oneOf"][1],
    "targetRows": SCHEMA["$defs"]["sample"]["oneOf"][1]["properties"]["rows"],
    "surrogates": SCHEMA["$defs"]["tree"]["properties"]["surrogates"],
    "estimate_limits": SCHEMA["$defs"]["tree"]["properties"]["estimate_limits"],
    "evaluation": SCHEMA["$defs"]["rows"]["properties"]["evaluations"]["items"],
}
REQUIRED_KEYS = {name: tuple(part["required"]) for name, part in _DEFINITIONS.items() if "required" in part}

# Keys of a certificate about repeated rows. Files of earlier versions lack them.
REPEATS_KEYS = ("n_repeated", "repeats", "repeats_text", "copies_detectable")

GROUP_KEYS = ("unit", "n_rows")  # of a certificate from groups

KIND_OF_KEY = {
    **dict.fromkeys(
        ("rule", "sample", "method", "predictor", "quantity", "repeats", "unit", "name", "text", "cost", "alpha_unit"),
        NAME,
    ),
    **dict.fromkeys(("note", "reason", "freshness", "repeats_text", "assumes"), TEXT),
    "edits": TEXTS,
    **dict.fromkeys(
        ("nested", "certified", "is_checked", "copies_detectable", "has_missing", "has_names", "has_numeric_target"),
        BOOL,
    ),
    **dict.fromkeys(("is_date", "is_sequence", "is_unrestricted", "has_other_sequences", "has_groups"), BOOL),
    **dict.fromkeys(("covers_choice", "chose_splits"), BOOL),
    **dict.fromkeys(("seen", "evaluated_on", "history"), NAMES),
    **dict.fromkeys(("growing", "details", "parameters", "metadata"), DICTIONARY),
    "pool": DICTIONARIES,
    **dict.fromkeys(("n", "errors"), AMOUNT),
    **dict.fromkeys(("value", "delta", "complexity", "scale", "tolerance"), NUMBER),
    **dict.fromkeys(
        ("parent", "feature", "default", "split_order", "ids", "low", "cuts", "steps", "changes", "leaf"), INTS
    ),
    **dict.fromkeys(("start", "branch_start", "change_start", "n_leaves", "classes", "copies", "n_by_class"), LONGS),
    "branch": BRANCHES,
    **dict.fromkeys(
        (
            "threshold",
            "rounded",
            "score",
            "agreement",
            "weight",
            "mean",
            "sse",
            "error",
            "se",
            "target",
            "lower",
            "upper",
        ),
        FLOATS,
    ),
    **dict.fromkeys(("alphas", "betas"), OPTIONAL_FLOATS),
    "n_repeated": COUNT,
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
