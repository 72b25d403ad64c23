"""The exceptions of the package.

    SecateurError
    ├── DataError          (ValueError)  rows, columns, labels, weights that cannot be used
    │   └── SchemaError    (ValueError)  data that does not meet the growing table
    ├── TreeError          (ValueError)  arrays that are not a tree
    ├── CountsError        (ValueError)  counts that do not fit their tree
    ├── PruningError       (ValueError)  a pruning that does not exist or does not fit
    ├── ParameterError     (ValueError)  a parameter outside its range
    ├── LeakageError       (ValueError)  a sample used twice where it must be fresh
    ├── ModelFileError     (ValueError)  a model or counts file that cannot be read
    ├── OutputError        (ValueError)  a file that cannot be written
    └── UnsupportedError   (TypeError)   a kind of input we do not take, with the way out

Each message names the thing, the value found, what was needed, and the way out. Names and values in it come from
data and files: what is not printable is shown as an escape, here and in every text that people read
(`escape_unprintable`).
"""

import unicodedata

_JOINERS = "\u200c\u200d"  # invisible, but part of how words and emoji are spelled


def escape_unprintable(text: str, *, keep: str = "\n") -> str:
    """Return the text with everything that acts on a terminal, or turns its direction, as an escape.

    Examples
    --------
    >>> print(escape_unprintable("red \\x1b[2J\\u202e"))
    red \\x1b[2J\\u202e
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if letter in keep else _escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    is_safe = unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp") or letter in _JOINERS
    return letter if is_safe else letter.encode("unicode_escape").decode("ascii")


class SecateurError(Exception):
    """Base class of all exceptions raised by secateur.

    Examples
    --------
    >>> import secateur
    >>> try:
    ...     secateur.Tree.from_parents([-1, 0])
    ... except secateur.SecateurError as error:
    ...     print(error)
    node 0 has 1 child; a node has none or at least two
    """

    def __str__(self) -> str:
        return escape_unprintable(super().__str__())


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
