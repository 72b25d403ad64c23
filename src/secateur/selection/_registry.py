"""The table of ways to choose a member of a sequence: what `select=` may be, and what each needs."""

import numbers
import re
from dataclasses import dataclass, replace
from typing import Any

from ..data.names import check_name
from ..errors import ParameterError

_NAMED = re.compile(r"(\d+(?:\.\d+)?|\.\d+)se")


@dataclass(frozen=True)
class Choice:
    """An entry of `CHOICES`: which member is taken, and what must be known for it.

    Parameters
    ----------
    what : str
        Which member, in a few words.
    k : float, optional
        Of a choice by errors: how many standard errors above the least error the smallest member may be.
    form : str
        Of a choice that is not a word: what stands in its place.
    needs_holdout : bool
        Whether rows must be held out for it.
    is_measured : bool
        Whether it asks for the error of every member: by cross-validation where the rule is
        "cost-complexity" and nothing else is said, else on held-out rows.
    """

    what: str
    k: float | None = None
    form: str = ""
    needs_holdout: bool = False
    is_measured: bool = True


CHOICES = {
    "1se": Choice("the smallest tree within one standard error of the least error", 1.0),
    "0se": Choice("the tree of least error", 0.0),
    "kse": Choice("the smallest tree within k standard errors of the least error", form="a number and se: 0.25se"),
    "holdout": Choice("the tree of least error on held-out rows", 0.0, needs_holdout=True, is_measured=False),
    "min-error": Choice("the same", 0.0, needs_holdout=True, is_measured=False),
    "certificate": Choice("the tree with the least certified error", needs_holdout=True),
    "accuracy": Choice("the smallest tree with this accuracy", form="an accuracy: 0.9"),
    "leaves": Choice("the tree with this number of leaves", form="a whole number: 12", is_measured=False),
}
WORDS = tuple(name for name, choice in CHOICES.items() if not choice.form)


def choice_of(select: Any) -> Choice | None:
    """Return what is known of a value of `select=`; None chooses nothing.

    Examples
    --------
    >>> choice_of("0.25se").k, choice_of(0.9).what
    (0.25, 'the smallest tree with this accuracy')
    """
    if select is None:
        return None
    if is_accuracy(select):
        return CHOICES["accuracy"]
    if is_number_of_leaves(select):
        return CHOICES["leaves"]
    named = _NAMED.fullmatch(select) if isinstance(select, str) else None
    if named is not None:
        return replace(CHOICES["kse"], k=float(named[1]))
    also = (
        ", another number of standard errors ('0.25se'), an accuracy above 0 and up to 1, a number of leaves, or None"
    )
    check_name("select", select, WORDS, also=also)
    return CHOICES[select]


def n_standard_errors(what: str, value: Any, k: float | None) -> float:
    """Return the number of standard errors that parameter `what` asks for, by its name or as "kse" with `k`."""
    if value == "kse":
        if isinstance(k, bool) or not isinstance(k, numbers.Real) or not 0 <= k < float("inf"):
            raise ParameterError(f"{what}='kse' with k={k!r}; a number of standard errors, 0 or more, is needed")
        return float(k)
    if k is not None:
        raise ParameterError(f"k={k!r} goes with {what}='kse', not with {value!r}")
    named = _NAMED.fullmatch(value) if isinstance(value, str) else None
    if named is not None:
        return float(named[1])
    check_name(what, value, [name for name, one in CHOICES.items() if one.k is not None], also=" or 'kse' with k=")
    return CHOICES[value].k or 0.0


def is_accuracy(value: Any) -> bool:
    """Whether a value is a share: a float above 0 and up to 1."""
    return isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral) and 0 < float(value) <= 1


def is_number_of_leaves(value: Any) -> bool:
    """Whether a value is a whole number of 1 or more."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1
