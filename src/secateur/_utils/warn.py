"""Warnings to the user, and lists of names in messages."""

import inspect
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from ..errors import MessagePart, SecateurWarning, show
from .arrays import Category


def warn(*parts: MessagePart) -> None:
    """Issue a `SecateurWarning` that points at the first line outside the package.

    Parameters
    ----------
    *parts : str, Argument or Wording
        The parts of the message, in order.
    """
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "secateur":
        frame, level = frame.f_back, level + 1
    warnings.warn(SecateurWarning(*parts), stacklevel=level + 1)


def format_names(names: Sequence[Category], max_shown: int = 10) -> str:
    """Return the first names, quoted and joined by commas, and the number of the others."""
    shown = [name.item() if isinstance(name, np.generic) else name for name in names[:max_shown]]
    rest = f" and {len(names) - max_shown} more" if len(names) > max_shown else ""
    return ", ".join(map(show, shown)) + rest


def describe_repeated(names: Iterable[Category]) -> str:
    """Return a message about column names that occur more than once, or "" if all names are different."""
    repeated = [show(name) for name, count in Counter(names).items() if count > 1]
    return f"column names must be unique; repeated: {', '.join(repeated[:5])}; rename them" if repeated else ""
