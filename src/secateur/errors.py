"""The exceptions of the package, and the parts of their messages.

    SecateurError
    ├── DataError          (ValueError)  rows, columns, labels or weights that cannot be used
    │   └── SchemaError    (ValueError)  columns that differ from those the tree was grown on
    ├── TreeError          (ValueError)  arrays that do not describe a tree
    ├── CountsError        (ValueError)  counts that do not fit their tree
    ├── PruningError       (ValueError)  a pruning that does not exist or does not fit its tree
    ├── ParameterError     (ValueError)  a parameter value outside its allowed range
    ├── LeakageError       (ValueError)  a sample used twice where a fresh one is needed
    ├── ModelFileError     (ValueError)  a model or counts file that cannot be read
    ├── OutputError        (ValueError)  a file that cannot be written
    └── UnsupportedError   (TypeError)   an input of a kind that is not supported

A message states what is wrong, the value found, what is allowed, and what to do.

A parameter has one name in Python (`missing_target="drop"`) and another on the command line
(`--missing-target 'drop'`). An exception or warning that mentions parameters is therefore created from several parts:
strings, `Argument` objects and `Wording` objects. `str(error)` joins the parts for Python users; `secateur.cli` reads
`error.parts` and words them for the command line.

Names and values in messages come from data and files. Characters that cannot be printed are shown as escape sequences,
here and in every other text for people (`escape_unprintable`). Values are written by `show`: in every message as Python
writes them, without the types of NumPy, and shortened if they are long.
"""

import reprlib
import sys
import unicodedata
from typing import Any, NamedTuple, TypeAlias

MAX_SHOWN_CHARACTERS = 200  # of one value in a message
MAX_SHOWN_ITEMS = 10  # of a list, an array or a dict
_JOINERS = "\u200c\u200d"  # invisible, but necessary to spell some words and emoji


def escape_unprintable(text: str, *, keep: str = "\n") -> str:
    """Return the text with control and formatting characters replaced by escape sequences.

    Such characters could send commands to a terminal or reverse the direction of the text.

    Parameters
    ----------
    text : str
    keep : str
        Characters that are not replaced.

    Examples
    --------
    >>> print(escape_unprintable("red \\x1b[2J\\u202e"))
    red \\x1b[2J\\u202e
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if character in keep else _escape(character) for character in text)


def _escape(character: str) -> str:
    is_printable = unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp") or character in _JOINERS
    return character if is_printable else character.encode("unicode_escape").decode("ascii")


class _ValueWriter(reprlib.Repr):
    """Write values as `repr` does, but NumPy scalars as plain values, and long values shortened."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = MAX_SHOWN_ITEMS
        self.maxstring = self.maxlong = self.maxother = MAX_SHOWN_CHARACTERS

    def repr1(self, x: Any, level: int) -> str:
        """Return the text of a value; `level` is the number of levels of nesting that may still be written."""
        np = sys.modules.get("numpy")  # not imported here, because `secateur --help` does without it
        if np is not None and isinstance(x, np.generic | np.ndarray):
            return self._write_array(x, level)
        if isinstance(x, str):
            return self.repr_str(x, level)
        if isinstance(getattr(x, "shape", None), tuple):
            return f"<{type(x).__name__} of shape {x.shape}>"
        return super().repr1(x, level)

    def _write_array(self, array: Any, level: int) -> str:
        """Return the text of a NumPy scalar, the items of a short array, or the shape of any other array."""
        if array.ndim > 1 or array.size > MAX_SHOWN_ITEMS:
            return f"<array of shape {array.shape}>"
        if array.dtype.kind in "mM":
            return f"'{array}'"
        if array.ndim == 1:
            return f"array({super().repr1(array.tolist(), level)})"
        if array.dtype.kind == "f":
            return str(array)  # a float32 has fewer digits than the float64 of the same value
        return self.repr1(array.item(), level)

    def repr_int(self, x: int, level: int) -> str:
        """Return the text of a whole number; Python refuses to write those of more than 4,300 digits."""
        try:
            return super().repr_int(x, level)
        except ValueError:
            return f"<a whole number of {x.bit_length():,} bits>"

    def repr_instance(self, x: object, level: int) -> str:
        """Return the text of any other object, on one line."""
        return " ".join(super().repr_instance(x, level).split())


_VALUE_WRITER = _ValueWriter()


def show(value: object) -> str:
    """Return a value as messages write it: NumPy scalars as plain values, and long values shortened.

    Examples
    --------
    >>> import numpy as np
    >>> show(np.float64(0.5)), show([np.int64(1), np.str_("a")]), show(list(range(1000)))
    ('0.5', "[1, 'a']", '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...]')
    """
    return _VALUE_WRITER.repr(value)


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


UNSET = _Unset()  # None can be the value of an argument


class Argument(NamedTuple):
    """A part of a message: a parameter, with or without a value.

    Parameters
    ----------
    name : str
        Name of the parameter in Python.
    value : object
        Its value; `UNSET` to mention the parameter alone.

    Examples
    --------
    >>> str(Argument("dates", "text")), str(Argument("encoding"))
    ("dates='text'", 'encoding=')
    """

    name: str
    value: object = UNSET

    def __str__(self) -> str:
        return f"{self.name}=" if self.value is UNSET else f"{self.name}={show(self.value)}"


class Wording(NamedTuple):
    """A part of a message that differs between the Python interface and the command line.

    Parameters
    ----------
    python, command_line : str
        The text for each interface.
    """

    python: str
    command_line: str

    def __str__(self) -> str:
        return self.python


MessagePart: TypeAlias = str | Argument | Wording


class SecateurError(Exception):
    """Base class of all exceptions raised by secateur.

    Parameters
    ----------
    *parts : str, Argument or Wording
        The parts of the message, in order.

    Examples
    --------
    >>> import secateur
    >>> try:
    ...     secateur.Tree.from_parents([-1, 0])
    ... except secateur.SecateurError as error:
    ...     print(error)
    node 0 has 1 child; a node has none or at least two
    """

    def __init__(self, *parts: MessagePart) -> None:
        super().__init__(*parts)

    @property
    def parts(self) -> tuple[MessagePart, ...]:
        """The parts of the message."""
        return self.args

    def __str__(self) -> str:
        return escape_unprintable("".join(map(str, self.args)))


class SecateurWarning(UserWarning):
    """A warning from secateur.

    Parameters
    ----------
    *parts : str, Argument or Wording
        The parts of the message, in order.
    """

    def __init__(self, *parts: MessagePart) -> None:
        super().__init__(*parts)

    @property
    def parts(self) -> tuple[MessagePart, ...]:
        """The parts of the message."""
        return self.args

    def __str__(self) -> str:
        return escape_unprintable("".join(map(str, self.args)))


class DataError(SecateurError, ValueError):
    """Rows, columns, labels or weights that cannot be used."""


class SchemaError(DataError):
    """Data whose columns do not match those the tree was grown on."""


class TreeError(SecateurError, ValueError):
    """Arrays that do not describe a tree."""


class CountsError(SecateurError, ValueError):
    """Counts that do not fit their tree."""


class PruningError(SecateurError, ValueError):
    """A pruning that does not exist, or that does not fit its tree."""


class ParameterError(SecateurError, ValueError):
    """A parameter value outside its allowed range."""


class LeakageError(SecateurError, ValueError):
    """A sample that was used before, where a fresh one is needed."""


class ModelFileError(SecateurError, ValueError):
    """A model file or counts file that is invalid or cannot be read."""


class OutputError(SecateurError, ValueError):
    """A file that cannot be written; the previous file is unchanged."""


class UnsupportedError(SecateurError, TypeError):
    """An input that is not supported; the message names an alternative."""
