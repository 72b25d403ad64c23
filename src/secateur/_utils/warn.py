"""Warnings to the user, and names in messages."""

import inspect
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from ..errors import MessagePart, SecateurWarning
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


def format_names(names: Sequence[Category], at_most: int = 10) -> str:
    """Return the first few names, quoted, and how many more there are."""
    more = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return ", ".join(repr(name.item() if isinstance(name, np.generic) else name) for name in names[:at_most]) + more


def describe_repeated(names: Iterable[Category]) -> str:
    """Return what is wrong with column names that occur twice; nothing if none do."""
    twice = [repr(name) for name, n in Counter(names).items() if n > 1]
    return f"column names must be unique; repeated: {', '.join(twice[:5])}; rename them" if twice else ""
