"""A choice and a certificate in a file: refused if their numbers contradict one another or the samples beside them.

A certificate is recomputed from these samples, and marked as stated where that is not possible.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.arrays import MAX_EXACT_INT
from ..core import Bound, Counts, Model
from ..errors import ModelFileError, SecateurError
from ..model_selection.losses import PATH_COSTS, check_cost_matrix
from ..statistics.tails import binomial_upper
from ._text import shortened

MOST_ERRORS = 10**12  # that a tail is computed for; more errors only raise a limit
MOST_WORK = 10_000_000  # nodes x growing errors, where a choice was within so many of them
SLACK = 1e-9  # rounding of another machine's logarithms


def checked(model: Model) -> Model:
    """The model with its certificate as it is if it follows from the model, else marked as stated in the file."""
    bound, holdout = model.certificate, model.holdout
    _check_said(model)
    _check_choice(model)
    if bound is None:
        return model
    if not model.is_classifier:
        raise ModelFileError("certificate must be null for a numeric target: squared errors have no limit to certify")
    _check_alone(bound)
    is_error = bound.quantity == "error" and not bound.predictor
    if is_error and isinstance(holdout, Counts) and bound.sample == holdout.sample:
        _check_counts(bound, model, holdout)
        if (again := _following(bound, model, holdout)) is not None:
            return replace(model, certificate=replace(bound, freshness=again.freshness))
    return replace(model, certificate=replace(bound, stated="the model file"))


def _check_said(model: Model) -> None:
    """Refuse plain values that later verbs compute with and that are of another kind."""
    kind = model.parameters.get("probabilities")
    if kind is not None and not isinstance(kind, str):
        raise ModelFileError(f"parameters.probabilities is {shortened(kind)}; a string is needed")
    details: dict[str, Any] = {} if model.selection is None else model.selection.details
    numbers = ("shrinkage", "m") if "cost" in details else ("shrinkage",)
    for name in numbers:
        value: Any = details.get(name, 0.0 if name == "shrinkage" else None)
        if type(value) not in (int, float) or not 0 <= value < MAX_EXACT_INT:
            raise ModelFileError(f"selection.details.{name} is {shortened(value)}; a number of rows is needed")
    if "cost" in details and details["cost"] not in PATH_COSTS:
        raise ModelFileError(
            f"selection.details.cost is {shortened(details['cost'])}; one of {', '.join(PATH_COSTS)} is needed"
        )
    if details.get("costs") is not None and isinstance(model.grown, Counts):
        check_cost_matrix(details["costs"], model.grown.n_classes)


def _check_choice(model: Model) -> None:
    """Refuse a choice whose best member is not its best, or whose errors are not those of the sample it names."""
    selection, holdout = model.selection, model.holdout
    if selection is None:
        return
    error, best = selection.error, selection.best
    if (error < 0).any() or (selection.se < 0).any():
        raise ModelFileError(
            "selection.error and selection.se must not be negative: losses and their deviations are not"
        )
    if (error < error[best] * (1 - SLACK)).any():  # also where errors are infinite
        raise ModelFileError(f"selection.best is {best}, whose error is {error[best]:.6g}; others have a lower error")
    is_other = any(holdout is not None and one.sketch != holdout.sketch for one in selection.evaluated_on.samples)
    if holdout is None or is_other or selection.sample != holdout.sample or not selection.is_error:
        return
    if selection.n != holdout.n_rows and abs(selection.n - float(holdout.total[0])) > 1:
        raise ModelFileError(
            f"selection.n is {selection.n:,.10g} rows of sample {selection.sample!a}; the file holds "
            f"{holdout.total[0]:,.10g}"
        )
    if "loss" in selection.details or model.parameters.get("costs") is not None or not holdout.total[0] > 0:
        return  # losses of other kinds are what the file says
    members = selection.sequence
    predictions = model.grown.predictions if members.node_labels is None else members.node_labels
    found = members.costs_on(holdout.unrecorded_costs_if_leaf(predictions)) / float(holdout.total[0])
    is_off = ~(np.abs(error - found) <= SLACK * np.abs(found).max())
    if is_off.any():
        at = int(is_off.argmax())
        raise ModelFileError(
            f"selection.error[{at}] is {error[at]:.6g} on sample {selection.sample!a}; the file holds {found[at]:.6g} "
            '(if these are given costs, which early files did not note, add "loss": "given costs" to selection.details)'
        )


def _check_alone(bound: Bound) -> None:
    """Refuse a limit that its own errors and rows contradict."""
    n, errors = bound.n, bound.errors
    if bound.quantity == "importance-weighted error":  # its errors are sums of weights
        return
    if bound.quantity != "cost" and bound.scale != 1:
        raise ModelFileError(
            f"certificate.scale is {bound.scale:g} for {bound.quantity!a}; only a cost can have a scale other than 1"
        )
    if n >= MAX_EXACT_INT or errors > n * bound.scale * (1 + SLACK):
        raise ModelFileError(
            f"certificate.errors is {errors:,.10g} in certificate.n = {n:,.10g} rows; such numbers are impossible"
        )
    least = bound.rate
    if bound.quantity != "cost" and n == int(n):
        least = binomial_upper(min(int(errors), MOST_ERRORS), int(n), math.log(bound.delta))
    if bound.certified and bound.value < least * (1 - SLACK):
        raise ModelFileError(
            f"certificate.value is {bound.value:.6g}; {errors:,.10g} errors in {n:,} rows allow no limit below "
            f"{least:.6g} at certificate.delta = {bound.delta:g}"
        )


def _check_counts(bound: Bound, model: Model, holdout: Counts) -> None:
    """Refuse a certificate that the counts of its sample contradict."""
    assert model.pruning.node_labels is not None  # of a model that classifies
    n, wrong = (
        float(holdout.total[0]),
        float(model.pruning.cost(holdout.unrecorded_errors_if_leaf(model.pruning.node_labels))),
    )
    if bound.n not in (n, holdout.n_rows) or abs(bound.errors - wrong) > SLACK * wrong:
        raise ModelFileError(
            f"the certificate counts {bound.errors:,.10g} errors in {bound.n:,} rows of sample {bound.sample!a}; the "
            f"file holds {wrong:,.10g} in {n:,.10g}"
        )


def _following(bound: Bound, model: Model, holdout: Counts) -> Bound | None:
    """What `certify` computes from the model, if it is no higher, said alike, and rows are compared no less."""
    try:
        again = _again(bound, model, holdout)
    except SecateurError:  # such as rows that are not fresh, by what the file says
        return None
    finally:
        model.tree.evaluation_log.records.clear()  # nobody has asked; the file's own looks are entered later
    if again is None or again.certified != bound.certified or again.is_checked < bound.is_checked:
        return None
    if (again.method, again.reason) != (bound.method, bound.reason):  # people read them
        return None
    is_dearer = abs(again.complexity - bound.complexity) > SLACK * abs(again.complexity)
    return None if is_dearer or again.value > bound.value * (1 + SLACK) else again


def _again(bound: Bound, model: Model, holdout: Counts) -> Bound | None:
    """The certificate computed again, None where the file does not tell how."""
    from ..certifiers import METHODS, certify, cross_validation_weights

    said = bound.method.lower().replace(" ", "-")  # which begins with the name of the method
    method = max((name for name in METHODS if said.startswith(name)), key=len, default=None)
    k, prior, seed = bound.details.get("k"), bound.details.get("prior"), model.parameters.get("random_state")
    if method is None or not (k is None or (type(k) is int and 0 <= k * model.tree.n_nodes <= MOST_WORK)):
        return None
    method = "best" if "best of" in bound.method else method
    how = METHODS.get(method)
    more: dict[str, Any] = {}
    if method == "path" and "given weights" in bound.method and model.selection is not None:
        more["weights"] = cross_validation_weights(model.selection.error, model.selection.se)
    if how is None or how.is_random:
        more["rng"] = seed if type(seed) is int and seed >= 0 else 0
    if method == "occam":
        more["prior"] = prior
    if k is not None and (how is None or how.takes_k):
        more["k"] = k
    return certify(
        model.pruning, holdout, method=method, delta=bound.delta, grown=model.class_grown, sequence=model.sequence,
        repeated=True, **more,
    )  # fmt: skip
