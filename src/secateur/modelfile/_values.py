"""The values a file holds: arrays, texts, and the plain values of parameters and facts.

    in Python                      in the file
    array of whole numbers         [1, 2]
    array of real numbers          [0.5, null, "inf"]        null is NaN, "-inf" minus infinity
    class labels                   {"dtype": "int64", "values": [0, 1]}
    NaN, inf, -inf by itself       {"$float": "nan"}
    tuple                          {"$tuple": [1, 2]}
    dict with other keys than text, or with keys in "$"      {"$dict": [[key, value], ...]}

All other plain values are themselves. Real numbers are written with as many digits as it
takes to read the same bits again.
"""

import math
import re
from collections import Counter
from functools import partial

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Array, write_protect
from ..errors import ModelFileError
from ._text import Document, Json, check_keys, described, proper, shortened

MOST_BITS = 1024  # of one whole number among plain values
MOST_ALIKE = 64  # values that Python cannot tell apart at first look: more take the square of the time
MOST_LEVELS = 32  # of lists and dictionaries inside one another
MOST_NAME = 4096  # characters of a name or a class label: names are repeated wherever they are shown
MOST_TEXT = 1 << 16  # of any other text
_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_LABELS = re.compile(r"bool|u?int(?:8|16|32|64)|float(?:16|32|64)|object|U[1-9][0-9]{0,7}")


def numbers_out(array: Array, _where: str = "") -> list[Json]:
    """An array as a list for JSON; NaN is None, infinity a text."""
    values: list[Json] = array.tolist()
    if array.dtype.kind == "f":
        for i in np.flatnonzero(~np.isfinite(array)).tolist():
            values[i] = _special_out(values[i])
    return values


def whole_in(values: Json, where: str, length: int | None = None, dtype: npt.DTypeLike = np.int32) -> Array:
    """A list of whole numbers as a read-only array."""
    list_in(values, where, length)
    if set(map(type, values)) - {int}:
        at, wrong = next((i, x) for i, x in enumerate(values) if type(x) is not int)
        raise ModelFileError(f"{where}[{at}] is {described(wrong)}; a whole number is needed")
    try:
        return write_protect(np.array(values, dtype))
    except OverflowError:
        limits = np.iinfo(np.dtype(dtype))
        at, wrong = next((i, x) for i, x in enumerate(values) if not limits.min <= x <= limits.max)
        raise ModelFileError(
            f"{where}[{at}] is {described(wrong)}; a whole number from {limits.min} to {limits.max} is needed"
        ) from None


def real_in(values: Json, where: str, length: int | None = None) -> Array:
    """A list of real numbers, with null for NaN and "inf" for infinity, as a read-only array."""
    list_in(values, where, length)
    found = set(map(type, values))
    is_named = np.zeros(len(values), bool)
    if type(None) in found and found <= {int, float, type(None)}:
        values = [math.nan if x is None else x for x in values]
    elif not found <= {int, float}:
        is_named = np.array([type(x) is str for x in values])
        values = [x if type(x) in (int, float) else _special_in(x, f"{where}[{i}]") for i, x in enumerate(values)]
    try:
        array = np.array(values, np.float64)
    except OverflowError:
        raise ModelFileError(f"{where} holds a whole number too large for a float") from None
    wrong = np.flatnonzero(np.isinf(array) & ~is_named)
    if len(wrong):  # JSON's 1e999 is read as infinity
        raise ModelFileError(f"{where}[{wrong[0]}] is a number too large for a float")
    return write_protect(array)


def real_number_in(value: Json, where: str) -> int | float:
    """One number: whole ones stay whole; {"$float": ...} is NaN or infinity."""
    number: int | float = plain_in(value, where)
    proper(value, type(number) in (int, float), where, "a number")
    return number


def whole_number_in(value: Json, where: str, least: int = 0, most: int = (1 << 63) - 1) -> Json:
    """One whole number in a range."""
    is_whole = type(value) is int and least <= value <= most
    return proper(value, is_whole, where, f"a whole number from {least} to {most}")


def text_in(value: Json, where: str, most: int = MOST_NAME) -> str:
    """One text of bounded length, of whole characters only."""
    text: str = proper(value, type(value) is str, where, "a string")
    if len(text) > most:
        raise ModelFileError(f"{where} has {len(text):,} characters; at most {most:,} are kept: shorten it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ModelFileError(
            f"{where} is {shortened(text)}, which contains a lone surrogate ({text[error.start]!a}); "
            "replace it with a complete character"
        ) from None
    return text


long_text_in = partial(text_in, most=MOST_TEXT)


def truth_in(value: Json, where: str) -> Json:
    """True or false."""
    return proper(value, type(value) is bool, where, "true or false")


def list_in(values: Json, where: str, length: int | None = None) -> list[Json]:
    """Any list, of this length."""
    found: list[Json] = proper(values, type(values) is list, where, "a list")
    if length is not None and len(found) != length:
        raise ModelFileError(f"{where} has {len(found):,} entries; {length:,} are needed")
    return found


def scalars_out(values: Json, where: str) -> list[Json]:
    """Categories or labels: texts, numbers and booleans."""
    return [_scalar(plain_out(value, f"{where}[{i}]"), f"{where}[{i}]") for i, value in enumerate(values)]


def scalars_in(values: Json, where: str) -> list[Json]:
    """Categories or labels, each different from all others."""
    found = [plain_in(_scalar(x, f"{where}[{i}]"), f"{where}[{i}]") for i, x in enumerate(list_in(values, where))]
    check_hashes(found, where)
    if len(set(found)) < len(found) or any(value != value for value in found):  # noqa: PLR0124 only NaN is not itself
        first: dict[Json, int] = {}
        at, value = next((i, x) for i, x in enumerate(found) if x != x or first.setdefault(x, i) != i)  # noqa: PLR0124
        raise ModelFileError(f"{where}[{at}] is {shortened(value)}, which is a duplicate or not a value")
    return found


def check_hashes(values: list[Json], where: str) -> None:
    """Refuse values made so that a set or a dictionary of them is slow: whole numbers of equal hashes."""
    if len(values) <= MOST_ALIKE:
        return
    ((value, n),) = Counter(map(hash, values)).most_common(1)
    if n > MOST_ALIKE:
        alike = next(one for one in values if hash(one) == value)
        raise ModelFileError(
            f"{where} holds {n:,} values with the hash of {shortened(alike)}; at most {MOST_ALIKE} are kept: write "
            "them as strings"
        )


def labels_out(labels: Array, where: str) -> Document:
    """Class labels with their type."""
    kind = labels.dtype.kind
    name = f"U{max(1, labels.dtype.itemsize // 4)}" if kind == "U" else labels.dtype.name
    if labels.ndim != 1 or not _LABELS.fullmatch(name):
        raise ModelFileError(
            f"{where} are {labels.dtype} of shape {labels.shape}; a list of numbers, strings or booleans is needed"
        )
    return {"dtype": name, "values": scalars_out(labels.tolist(), where)}


def labels_in(value: Json, where: str) -> Array:
    """Class labels in their type, none of them twice."""
    part = check_keys(value, where, ("dtype", "values"))
    name, values = text_in(part["dtype"], f"{where}.dtype"), scalars_in(part["values"], f"{where}.values")
    for i, one in enumerate(values):
        if type(one) is str:
            text_in(one, f"{where}.values[{i}]")
    if not _LABELS.fullmatch(name):
        raise ModelFileError(f"{where}.dtype is {shortened(name)}; bool, int64, float64, object or U<width> is needed")
    kind = {"b": bool, "i": int, "u": int, "f": float, "U": str}.get(name[0])
    wrong = [x for x in values if kind is not None and type(x) is not kind]
    if wrong:
        raise ModelFileError(f"{where} holds {shortened(wrong[0])}, which is not {name}")
    if name[0] == "U":
        width = int(name[1:])
        longest = max(map(len, values), default=0)
        if not longest <= width <= MOST_NAME:  # NumPy takes the width for each row that is predicted
            raise ModelFileError(
                f"{where}.dtype is {name} for labels of up to {longest:,} characters; a width from {longest:,} to "
                f"{MOST_NAME:,} is needed: shorten the labels, or give them as objects"
            )
    array: Array = np.empty(len(values), object)
    array[:] = values
    if name == "object":
        return write_protect(array)
    with np.errstate(over="ignore"):
        try:
            typed = array.astype(np.dtype(name))
        except OverflowError:
            typed = array[:0]
    if typed.tolist() != values:
        raise ModelFileError(f"{where} holds labels that {name} cannot hold")
    return write_protect(typed)


def plain_out(value: object, where: str, level: int = 0) -> Json:
    """A plain value, as JSON can hold it; arrays become lists and NumPy's numbers Python's."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return long_text_in(str.__str__(value), where)
    if isinstance(value, int):
        return _checked_bits(int(value), where)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": _special_out(float(value)) or "nan"}
    if level == MOST_LEVELS:
        raise ModelFileError(f"{where} is nested more than {MOST_LEVELS} levels deep")
    if isinstance(value, np.ndarray):
        return plain_out(value.tolist(), where, level)
    if isinstance(value, dict):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {
                text_in(str.__str__(key), where): plain_out(item, f"{where}.{shortened(key)[1:-1]}", level + 1)
                for key, item in value.items()
            }
        pairs = [[plain_out(key, where, level + 1), plain_out(item, where, level + 1)] for key, item in value.items()]
        return {"$dict": pairs}
    if isinstance(value, list | tuple):
        items = [plain_out(item, f"{where}[{i}]", level + 1) for i, item in enumerate(value)]
        return items if isinstance(value, list) else {"$tuple": items}
    raise ModelFileError(
        f"{where} is a {type(value).__name__} ({shortened(value)}); only plain values can be saved: None, truth "
        "values, numbers, text, and lists and dictionaries of them"
    )


def plain_in(value: Json, where: str, level: int = 0) -> Json:
    """A plain value from what JSON held."""
    if value is None or type(value) is bool:
        return value
    if type(value) is str:
        return long_text_in(value, where)
    if type(value) is int:
        return _checked_bits(value, where)
    if type(value) is float:
        if not math.isfinite(value):
            raise ModelFileError(f"{where} is a number too large for a float")
        return value
    if level == MOST_LEVELS:
        raise ModelFileError(f"{where} is nested more than {MOST_LEVELS} levels deep")
    if type(value) is list:
        return [plain_in(item, f"{where}[{i}]", level + 1) for i, item in enumerate(value)]
    if len(value) == 1 and next(iter(value)).startswith("$"):
        return _tagged_in(value, where, level)
    found = {}
    for key, item in value.items():
        if key.startswith("$"):
            raise ModelFileError(f'{where} has the key {shortened(key)}; "$" marks reserved keys: write it as "$dict"')
        found[text_in(key, where)] = plain_in(item, f"{where}.{shortened(key)[1:-1]}", level + 1)
    return found


def _tagged_in(value: Document, where: str, level: int) -> Json:
    ((tag, held),) = value.items()
    if tag == "$float" and type(held) is str and held in _SPECIAL:
        return _SPECIAL[held]
    if tag == "$tuple":
        return tuple(plain_in(item, f"{where}[{i}]", level + 1) for i, item in enumerate(list_in(held, where)))
    if tag == "$dict":
        pairs = [list_in(pair, where) for pair in list_in(held, where)]
        if all(len(pair) == 2 for pair in pairs):
            keys = [plain_in(pair[0], where, level + 1) for pair in pairs]
            try:
                check_hashes(keys, where)
                found = {key: plain_in(pair[1], where, level + 1) for key, pair in zip(keys, pairs, strict=True)}
            except TypeError:
                raise ModelFileError(
                    f"{where} has a key that is a list or an object; a plain value is needed"
                ) from None
            if len(found) == len(pairs):
                return found
    raise ModelFileError(f'{where} holds {shortened(tag)}, which is not a valid "$float", "$tuple" or "$dict"')


def _special_in(value: Json, where: str) -> float:
    is_special = value is None or (type(value) is str and value in ("inf", "-inf"))
    return _SPECIAL[proper(value, is_special, where, 'a number, null for NaN, "inf" or "-inf"') or "nan"]


def _special_out(value: float) -> str | None:
    return None if math.isnan(value) else "inf" if value > 0 else "-inf"


def _scalar(value: Json, where: str) -> Json:
    is_special = isinstance(value, dict) and list(value) == ["$float"]
    is_scalar = is_special or type(value) in (str, bool, int, float)
    return proper(value, is_scalar, where, "a string, a number or a boolean")


def _checked_bits(value: int, where: str) -> int:
    if value.bit_length() > MOST_BITS:
        raise ModelFileError(f"{where} is a number of {value.bit_length():,} bits; at most {MOST_BITS:,} are kept")
    return value
