"""A certificate for any classifier, from its predictions for rows that had no part in fitting it."""

import math

import numpy as np

from .._utils.arrays import ArrayLike, Bools, Labels
from .._utils.warn import format_names
from ..core import Bound
from ..data.groups import group_numbers, hash_groups
from ..data.raw_column import CategoryColumn, factorize
from ..data.target import check_labels, read_labels
from ..errors import DataError, UnsupportedError
from ..statistics.tails import binomial_upper, check_delta
from ._betting import betting_upper

UNKNOWN_ROWS = "not checked: only predictions are given, and not the rows"


def certify_predictions(
    y_true: Labels,
    y_pred: Labels,
    *,
    delta: float = 0.05,
    groups: Labels = None,
    sample_weight: ArrayLike | None = None,
) -> Bound:
    """Return an upper limit on the error of any classifier, from its predictions for fresh rows.

    Parameters
    ----------
    y_true : array-like
        The class of each row: text, booleans or whole numbers.
    y_pred : array-like
        The class that the classifier predicts for each row. No row may have had a part in fitting any step of the
        classifier, or in choosing it; `certified_split` holds such rows out.
    delta : float
        Probability, over samples, that the limit is too low.
    groups : array-like, optional
        The group of each row, for rows that belong together, such as the visits of one patient. Groups are then the
        independent draws, and the limit is on the error of a random row of a random group.
    sample_weight : None
        Weights are refused: a certificate counts independent rows, each once.

    Returns
    -------
    Bound
        The exact binomial limit, or with groups the betting bound on their shares of wrong rows. The rows are not
        known, so the bound states that their freshness was not checked.

    Notes
    -----
    Certify one classifier with one sample. If the sample compares several classifiers, divide delta by their number.

    Examples
    --------
    >>> from secateur import certify_predictions
    >>> print(certify_predictions(["no"] * 60 + ["yes"] * 40, ["no"] * 55 + ["yes"] * 45))
    With 95 % confidence the error on new rows like these is at most 10.3 %, from 100
    held-out rows (method: predictions, exact tail); assumes rows are independent, identically
    distributed and not used before (not checked: only predictions are given, and not the rows)
    and were not used to choose the classifier.
    """
    delta = check_delta(delta)
    if sample_weight is not None:
        raise UnsupportedError(
            "sample_weight is given; a certificate counts independent rows, each once: certify on rows without weights "
            "(for a tree and another population: certifiers.importance_weighted)"
        )
    is_wrong = compare_labels(y_true, y_pred)
    n_rows, log_delta = len(is_wrong), math.log(delta)
    if groups is not None:
        return _certify_groups(is_wrong, groups, delta)
    errors = int(np.count_nonzero(is_wrong))
    return Bound(
        value=binomial_upper(errors, n_rows, log_delta),
        delta=delta,
        method="predictions, exact tail",
        n=n_rows,
        errors=errors,
        freshness=UNKNOWN_ROWS,
        is_checked=False,
        details={"tail": "exact", "log_delta": log_delta},
    )


def _certify_groups(is_wrong: Bools, groups: Labels, delta: float) -> Bound:
    """Return the limit on the error of a random row of a random group."""
    numbers, sizes = group_numbers(hash_groups(groups, len(is_wrong)))
    shares = np.bincount(numbers, weights=is_wrong) / sizes
    values, n_groups = np.unique(shares, return_counts=True)
    return Bound(
        value=betting_upper(values, n_groups, math.log(delta)),
        delta=delta,
        method="predictions, shares of wrong rows, betting",
        n=len(sizes),
        errors=float(shares.sum()),
        freshness=UNKNOWN_ROWS,
        is_checked=False,
        unit="group",
        n_rows=len(is_wrong),
    )


def compare_labels(y_true: Labels, y_pred: Labels, name: str = "y_pred") -> Bools:
    """Return whether each prediction is wrong; raise `DataError` if the labels cannot be compared.

    Parameters
    ----------
    y_true, y_pred : array-like
        One label per row.
    name : str
        What messages call the predictions.
    """
    true, predicted = _read(y_true, "y_true"), _read(y_pred, name)
    if len(true) != len(predicted):
        raise DataError(f"y_true has {len(true):,} labels and {name} {len(predicted):,}; one of each per row is needed")
    examples = f"{name} holds {format_names(predicted.categories[:3])}, and y_true {format_names(true.categories[:3])}"
    if true.is_text != predicted.is_text:
        raise DataError(f"{examples}; text and numbers are never equal: convert one of them")
    codes = predicted.recode(true.categories).codes
    if (codes < 0).all():
        raise DataError(f"{examples}; no prediction is a class of y_true: decode the predictions")
    is_wrong: Bools = codes != true.codes
    return is_wrong


def _read(labels: Labels, name: str) -> CategoryColumn:
    """Return labels as categories; raise `DataError` unless they are complete, and text, booleans or whole numbers."""
    column = read_labels(labels, name)
    check_labels(column, name)
    return factorize(column)
