"""The tables of ways to choose a member of a sequence, and of scores by which members are compared."""

import numbers
import re
from dataclasses import dataclass, replace
from typing import Any

from .._utils.checks import check_name
from ..errors import Argument, ParameterError

_STANDARD_ERRORS = re.compile(r"(\d+(?:\.\d+)?|\.\d+)se")


@dataclass(frozen=True)
class Choice:
    """An entry of `CHOICES`: which member is chosen, and which data the choice needs.

    Parameters
    ----------
    description : str
        The chosen member, in a few words.
    n_standard_errors : float, optional
        For a choice by errors: how many standard errors above the lowest error the smallest member may be.
    form : str
        For a choice that is not written as a fixed word: the form in which it is written.
    needs_holdout : bool
        Whether rows must be held out for it.
    uses_cross_validation : bool
        Whether members are compared by cross-validation if the pruning rule is "cost-complexity", and on held-out
        rows for other rules.
    """

    description: str
    n_standard_errors: float | None = None
    form: str = ""
    needs_holdout: bool = False
    uses_cross_validation: bool = True


CHOICES = {
    "1se": Choice("the smallest tree within one standard error of the lowest error", 1.0),
    "0se": Choice("the tree of lowest error", 0.0),
    "kse": Choice("the smallest tree within k standard errors of the lowest error", form="a multiple such as 0.25se"),
    "holdout": Choice(
        "the tree of lowest error on held-out rows", 0.0, needs_holdout=True, uses_cross_validation=False
    ),
    "min-error": Choice("the same as holdout", 0.0, needs_holdout=True, uses_cross_validation=False),
    "certificate": Choice("the tree with the lowest certified error", needs_holdout=True),
    "accuracy": Choice("the smallest tree with this accuracy", form="an accuracy such as 0.9"),
    "leaves": Choice(
        "the tree with this number of leaves", form="a number of leaves such as 12", uses_cross_validation=False
    ),
}
CHOICE_NAMES = tuple(name for name, choice in CHOICES.items() if not choice.form)


@dataclass(frozen=True)
class Score:
    """An entry of `SCORES`; lower values are better.

    Parameters
    ----------
    description : str
        The definition, in a few words.
    target : "class" or "number"
    path_cost : str
        Cost that the cost-complexity path weighs against leaves: "predictions" (errors, their m-estimates, or
        costs), "deviance" or "impurity" of the growing rows, or their squared errors ("squares").
    is_probability_score : bool
        Whether the score is a mean over the rows of a loss of their class probabilities.
    """

    description: str
    target: str = "class"
    path_cost: str = "predictions"
    is_probability_score: bool = False


SCORES = {
    "error": Score("share of wrong predictions"),
    "cost": Score("mean cost of the predictions under costs="),
    "balanced_error": Score("share of wrong predictions in each class, averaged over the classes"),
    "log_loss": Score("mean of minus the log of the true class's probability", "class", "deviance", True),
    "brier": Score("mean squared error of the probabilities; halved for two classes", "class", "impurity", True),
    "roc_auc": Score("1 - area under the ROC curve; of each class against the rest, averaged", path_cost="impurity"),
    "squared_error": Score("mean squared error", "number", "squares"),
    "absolute_error": Score("mean absolute error", "number", "squares"),
}


def check_scoring(scoring: Any, *, is_class: bool, has_costs: bool) -> str:
    """Return the checked name of a score; None is the error, or the cost if there are costs."""
    if scoring is None:
        return ("cost" if has_costs else "error") if is_class else "squared_error"
    target = "class" if is_class else "number"
    check_name("scoring", scoring, [name for name, score in SCORES.items() if score.target == target])
    if scoring == "cost" and not has_costs:
        raise ParameterError(
            Argument("scoring", "cost"),
            " needs ",
            Argument("costs"),
            ", the cost of predicting class j for a row of class i",
        )
    if scoring == "balanced_error" and has_costs:
        raise ParameterError(
            Argument("scoring", "balanced_error"),
            " and ",
            Argument("costs"),
            " exclude each other; ",
            Argument("scoring", "cost"),
            " uses the costs",
        )
    return str(scoring)


def parse_select(select: Any) -> Choice | None:
    """Return the entry of `CHOICES` for a value of `select=`; None chooses no member.

    Examples
    --------
    >>> parse_select("0.25se").n_standard_errors, parse_select(0.9).description
    (0.25, 'the smallest tree with this accuracy')
    """
    if select is None:
        return None
    if is_accuracy(select):
        return CHOICES["accuracy"]
    if is_number_of_leaves(select):
        return CHOICES["leaves"]
    multiple = _STANDARD_ERRORS.fullmatch(select) if isinstance(select, str) else None
    if multiple is not None:
        return replace(CHOICES["kse"], n_standard_errors=float(multiple[1]))
    alternative = (
        ", another number of standard errors ('0.25se'), an accuracy above 0 and up to 1, a number of leaves, or None"
    )
    check_name("select", select, CHOICE_NAMES, alternative=alternative)
    return CHOICES[select]


def n_standard_errors(parameter: str, value: Any, k: float | None) -> float:
    """Return the number of standard errors in the value of a parameter: "1se", "0.25se", or "kse" with `k`."""
    if value == "kse":
        if isinstance(k, bool) or not isinstance(k, numbers.Real) or not 0 <= k < float("inf"):
            raise ParameterError(f"{parameter}='kse' with k={k!r}; a number of standard errors, 0 or more, is needed")
        return float(k)
    if k is not None:
        raise ParameterError(f"k={k!r} goes with {parameter}='kse', not with {value!r}")
    multiple = _STANDARD_ERRORS.fullmatch(value) if isinstance(value, str) else None
    if multiple is not None:
        return float(multiple[1])
    names = [name for name, choice in CHOICES.items() if choice.n_standard_errors is not None]
    check_name(parameter, value, names, alternative=" or 'kse' with k=")
    return CHOICES[value].n_standard_errors or 0.0


def is_accuracy(value: Any) -> bool:
    """Return whether a value is an accuracy: a float above 0 and up to 1."""
    return isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral) and 0 < float(value) <= 1


def is_number_of_leaves(value: Any) -> bool:
    """Return whether a value is a whole number of 1 or more."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1
