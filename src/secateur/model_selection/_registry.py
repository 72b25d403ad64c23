"""The tables of ways to choose a member of a sequence, and of what members are judged by."""

import numbers
import re
from dataclasses import dataclass, replace
from typing import Any

from .._utils.checks import check_name
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
        For a choice by errors: how many standard errors above the least error the smallest member may be.
    form : str
        For a choice that is not a word: its description.
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
    "kse": Choice("the smallest tree within k standard errors of the least error", form="a multiple such as 0.25se"),
    "holdout": Choice("the tree of least error on held-out rows", 0.0, needs_holdout=True, is_measured=False),
    "min-error": Choice("the same as holdout", 0.0, needs_holdout=True, is_measured=False),
    "certificate": Choice("the tree with the least certified error", needs_holdout=True),
    "accuracy": Choice("the smallest tree with this accuracy", form="an accuracy such as 0.9"),
    "leaves": Choice("the tree with this number of leaves", form="a number of leaves such as 12", is_measured=False),
}
WORDS = tuple(name for name, choice in CHOICES.items() if not choice.form)


@dataclass(frozen=True)
class Score:
    """An entry of `SCORES`.

    Parameters
    ----------
    what : str
        What it is, in a few words; less is better.
    target : "class" or "number"
    path : str
        What the cost-complexity path weighs against leaves: "answers" (errors, their m-estimates, or costs),
        "deviance" or "impurity" of the growing rows, or their squared errors.
    is_likelihood : bool
        Whether it judges the probability of each row.
    """

    what: str
    target: str = "class"
    path: str = "answers"
    is_likelihood: bool = False


SCORES = {
    "error": Score("share of wrong answers"),
    "cost": Score("mean cost of the answers under costs="),
    "balanced_error": Score("share of wrong answers in each class, averaged over the classes"),
    "log_loss": Score("mean of minus the log of the true class's probability", "class", "deviance", True),
    "brier": Score("mean squared error of the probabilities; halved for two classes", "class", "impurity", True),
    "roc_auc": Score("1 - area under the ROC curve; of each class against the rest, averaged", path="impurity"),
    "squared_error": Score("mean squared error", "number", "squares"),
    "absolute_error": Score("mean absolute error", "number", "squares"),
}


def check_scoring(scoring: Any, *, is_class: bool, has_costs: bool) -> str:
    """Return the name of the score, checked; None is the error, or the cost where there are costs."""
    if scoring is None:
        return ("cost" if has_costs else "error") if is_class else "squared_error"
    target = "class" if is_class else "number"
    check_name("scoring", scoring, [name for name, score in SCORES.items() if score.target == target])
    if scoring == "cost" and not has_costs:
        raise ParameterError("scoring='cost' needs costs=, the cost of predicting class j for a row of class i")
    if scoring == "balanced_error" and has_costs:
        raise ParameterError("scoring='balanced_error' and costs= exclude each other; scoring='cost' judges by costs")
    return str(scoring)


def parse_select(select: Any) -> Choice | None:
    """Return the entry of `CHOICES` for a value of `select=`; None chooses nothing.

    Examples
    --------
    >>> parse_select("0.25se").k, parse_select(0.9).what
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
    check_name("select", select, WORDS, alternative=also)
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
    check_name(
        what, value, [name for name, one in CHOICES.items() if one.k is not None], alternative=" or 'kse' with k="
    )
    return CHOICES[value].k or 0.0


def is_accuracy(value: Any) -> bool:
    """Whether a value is a share: a float above 0 and up to 1."""
    return isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral) and 0 < float(value) <= 1


def is_number_of_leaves(value: Any) -> bool:
    """Whether a value is a whole number of 1 or more."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1
