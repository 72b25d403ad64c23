"""Check that the claims of a model follow from its own counts: the choice of a member, and certificates.

A claim that contradicts itself or the samples in the model is refused. A certificate is computed again from the
samples in the model; one that does not follow from them is marked as stated in the file.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.arrays import MAX_EXACT_INT, Array
from ..core import Bound, Calibration, Counts, GroupRates, Model, Moments, Sample, SampleUsage, Selection
from ..core.bound import ERROR_IN_GROUPS, GAP, LOSSES_OF_NUMBERS
from ..errors import ModelFileError, SecateurError, show
from ..model_selection.losses import PATH_COSTS, check_cost_matrix
from ..statistics.freshness import Freshness
from ..statistics.repeats import RepeatRule, Repeats, Verdict
from ..statistics.tails import binomial_upper
from ._values import REPEATS_KEYS, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

# Largest number of errors for which a binomial tail is computed. A certificate of more errors is compared with the
# limit for this number of errors, which is lower than its own.
MAX_TAIL_ERRORS = 10**12
FIXED_SEQUENCE = "fixed sequence"  # with which `Bound.method` of certifiers.fixed_sequence begins
IN_FILE = "the model file"  # where a claim is stated that does not follow from the model
MAX_CLASS_SIZE = 10_000_000  # nodes x growing errors k for which a certificate "within k errors" is computed again
# Number of standard deviations by which a certificate may state fewer repeated rows than estimated from the sketches.
MAX_DEVIATIONS = 4.0
DELTA_OF_CALIBRATION = 0.01  # at which repeated rows of a calibration are counted again
TOLERANCE = 1e-9  # relative: logarithms differ between machines


# Keys of dictionaries of plain values whose values are whole numbers, if they are numbers.
WHOLE_NUMBER_KEYS = frozenset({
    "columns", "cv", "cv_repeats", "folds", "held_out_rows", "max_bins", "max_depth", "max_splits", "member",
    "min_samples_leaf", "min_samples_split", "n_leaves", "n_members", "n_pairs", "random_state", "repeats", "rows",
    "seed", "surrogates", "verbose",
})  # fmt: skip


def check_claims(model: Model) -> None:
    """Refuse a model whose parameters, choice or certificate are contradictory."""
    _check_plain_values(model)
    _check_whole_numbers(model)
    if model.selection is not None:
        _check_selection(model.selection, model)
    for i, rates in enumerate(model.group_rates):
        _check_group_rates(rates, model, i)
    bound = model.certificate
    if bound is None:
        return
    if model.is_classifier == (bound.quantity in LOSSES_OF_NUMBERS):
        kind = "classes" if model.is_classifier else "a numeric target"
        raise ModelFileError(f"certificate.quantity is {bound.quantity!a}, which a model of {kind} does not have")
    _check_bound(bound)
    if _is_about_holdout(bound, model):
        _check_bound_fits_holdout(bound, model)


def verify_claims(model: Model) -> Model:
    """Return the model, with all that does not follow from it marked as stated in the file.

    These are the certificate and the rates of population groups.
    """
    check_claims(model)
    if model.calibration is not None and not _is_confirmed(model.calibration, model):
        model = replace(model, calibration=replace(model.calibration, stated=IN_FILE))
    if model.group_rates:
        model = replace(model, group_rates=_verify_group_rates(model))
    bound = model.certificate
    if bound is None:
        return model
    if _is_about_holdout(bound, model):
        recomputed = _recompute_if_possible(_recompute, bound, model)
        if recomputed is not None and _follows_from(bound, recomputed):
            names = ("freshness", "covers_choice", *(REPEATS_KEYS if bound.repeats else ()))
            findings = {name: getattr(recomputed, name) for name in names}
            return replace(model, certificate=replace(bound, **findings))
    return replace(model, certificate=replace(bound, stated=IN_FILE))


def _check_group_rates(rates: GroupRates, model: Model, i: int) -> None:
    """Refuse rates of population groups whose numbers of rows are not those of the held-out counts."""
    from ..certifiers._group_rates import count_events, find_positive

    holdout = model.class_holdout
    assert holdout is not None
    population = holdout.populations[i]
    if rates.groups != population.names:
        raise ModelFileError(f"group_rates[{i}].groups are not the groups of the held-out counts")
    try:
        positive = find_positive(model.pruning, holdout, rates.positive or None)
    except SecateurError as error:
        raise ModelFileError(f"group_rates[{i}].positive: {error}") from error
    events, n = count_events(model.pruning, population, rates.rates, max(positive.number, 0))
    if not (np.array_equal(rates.events, events) and np.array_equal(rates.n, n)):
        raise ModelFileError(
            f"group_rates[{i}] counts other rows than the held-out counts of the groups of {rates.column!a}"
        )


def _verify_group_rates(model: Model) -> tuple[GroupRates, ...]:
    """Return the rates of population groups, marked as stated in the file unless they follow from the model."""
    recomputed = _recompute_if_possible(_recompute_group_rates, model.group_rates[0], model)
    if recomputed is None or len(recomputed) != len(model.group_rates):
        return tuple(replace(rates, stated=IN_FILE) for rates in model.group_rates)
    pairs = zip(model.group_rates, recomputed, strict=True)
    return tuple(
        found if _rates_follow_from(rates, found) else replace(rates, stated=IN_FILE) for rates, found in pairs
    )


def _rates_follow_from(rates: GroupRates, recomputed: GroupRates) -> bool:
    """Return whether rates of groups claim no more than the recomputed ones."""
    names = ("rates", "positive", "delta", "n_repeated", "n_rows", "n_columns", "method", "sample")
    if any(getattr(rates, name) != getattr(recomputed, name) for name in names):
        return False
    is_lower_valid = (rates.lower <= recomputed.lower * (1 + TOLERANCE)).all()
    return bool(is_lower_valid and (rates.upper * (1 + TOLERANCE) >= recomputed.upper).all())


def _recompute_group_rates(rates: GroupRates, model: Model) -> tuple[GroupRates, ...]:
    """Compute the rates of all groups again, with the settings that those of the first column state."""
    from ..certifiers import certify_groups

    assert model.class_holdout is not None
    found = certify_groups(
        model.pruning, model.class_holdout, positive=rates.positive or None, delta=rates.delta,
        repeats=_stated_repeats(rates, model),
    )  # fmt: skip
    return found if isinstance(found, tuple) else (found,)


def _check_plain_values(model: Model) -> None:
    """Check the types of parameters and details that other functions compute with."""
    probabilities = model.parameters.get("probabilities")
    if probabilities is not None and not isinstance(probabilities, str):
        raise ModelFileError(f"parameters.probabilities is {shorten(probabilities)}; a string is needed")
    details: dict[str, Any] = {} if model.selection is None else model.selection.details
    _check_number_of_rows("shrinkage", details.get("shrinkage", 0.0))
    if "cost" in details:
        _check_number_of_rows("m", details.get("m"))
        if details["cost"] not in PATH_COSTS:
            raise ModelFileError(
                f"selection.details.cost is {shorten(details['cost'])}; one of {', '.join(PATH_COSTS)} is needed"
            )
    if details.get("costs") is not None and isinstance(model.grown, Counts):
        check_cost_matrix(details["costs"], model.grown.n_classes)


def _check_whole_numbers(model: Model) -> None:
    """Check that numbers of rows, leaves, folds and the like are whole, in all dictionaries of plain values."""
    dictionaries: dict[str, Mapping[str, Any]] = {"parameters": model.parameters, "metadata": model.metadata}
    if model.selection is not None:
        dictionaries |= {"selection.growing": model.selection.growing, "selection.details": model.selection.details}
        dictionaries |= {f"selection.pool[{i}]": entry for i, entry in enumerate(model.selection.pool)}
    if model.certificate is not None:
        dictionaries["certificate.details"] = model.certificate.details
    for location, dictionary in dictionaries.items():
        for key in WHOLE_NUMBER_KEYS.intersection(dictionary):
            if isinstance(dictionary[key], float):
                raise ModelFileError(f"{location}.{key} is {show(dictionary[key])}; a whole number is needed")


def _check_number_of_rows(name: str, value: Any) -> None:
    if type(value) not in (int, float) or not 0 <= value < MAX_EXACT_INT:
        raise ModelFileError(f"selection.details.{name} is {shorten(value)}; a number of rows is needed")


def _check_selection(selection: Selection, model: Model) -> None:
    """Check that the best member has the lowest error, and that errors on held-out rows are those of their counts."""
    error, best = selection.error, selection.best
    if model.grown.has_integer_weights and selection.n != int(selection.n):
        raise ModelFileError(f"selection.n is {show(selection.n)}; a whole number of rows is needed")
    if (error < 0).any() or (selection.se < 0).any():
        raise ModelFileError(
            "selection.error and selection.se must not be negative: losses and their deviations are not"
        )
    if (error < error[best] * (1 - TOLERANCE)).any():  # also where errors are infinite
        raise ModelFileError(f"selection.best is {best}, whose error is {error[best]:.6g}; others have a lower error")
    if not _is_measured_on_holdout(selection, model):
        return
    assert model.holdout is not None
    total = float(model.holdout.total[0])
    tolerance = 0.0 if model.holdout.has_integer_weights else 1.0
    if selection.n != model.holdout.n_rows and abs(selection.n - total) > tolerance:
        raise ModelFileError(
            f"selection.n is {selection.n:,.10g} rows of sample {selection.sample!a}; the file holds {total:,.10g}"
        )
    has_costs = "loss" in selection.details or model.parameters.get("costs") is not None
    has_other_loss = has_costs or not selection.is_error
    if not has_other_loss and total > 0:
        _check_selection_errors(selection, model, total)


def _is_measured_on_holdout(selection: Selection, model: Model) -> bool:
    """Return whether a choice was made on the held-out sample of the model."""
    holdout = model.holdout
    if holdout is None or selection.sample != holdout.sample:
        return False
    return all(sample.sketch == holdout.sketch for sample in selection.evaluated_on.samples)


def _check_selection_errors(selection: Selection, model: Model, total: float) -> None:
    """Check that the errors of a choice are those of the held-out counts, whose weight is `total`."""
    assert model.holdout is not None
    members = selection.sequence
    predictions = model.grown.predictions if members.node_labels is None else members.node_labels
    expected = members.costs_on(_costs_if_leaf(model.holdout, predictions)) / total
    # Numbers of errors are whole, and so are those that the error rates stand for; their quotients are rounded once.
    is_whole = isinstance(model.holdout, Counts) and model.holdout.has_integer_weights
    tolerance = 4 * np.finfo(float).eps if is_whole else TOLERANCE
    is_wrong = ~(np.abs(selection.error - expected) <= tolerance * np.abs(expected).max())
    if is_wrong.any():
        i = int(is_wrong.argmax())
        raise ModelFileError(
            f"selection.error[{i}] is {selection.error[i]:.6g} on sample {selection.sample!a}; the file holds "
            f"{expected[i]:.6g} (if these are given costs, which early files did not note, add "
            '"loss": "given costs" to selection.details)'
        )


def _costs_if_leaf(holdout: Sample, predictions: Any) -> Array:
    """Return what each node costs as a leaf with these predictions, without a record of an evaluation."""
    if isinstance(holdout, Counts):
        return holdout.unrecorded_errors_if_leaf(predictions)
    return holdout.unrecorded_costs_if_leaf(predictions)


def _check_bound(bound: Bound) -> None:
    """Refuse a certificate that contradicts its own number of errors and rows."""
    n, errors = bound.n, bound.errors
    if bound.unit == "group" and not 1 <= n <= bound.n_rows:
        raise ModelFileError(f"certificate.n is {n:,.10g} groups of certificate.n_rows = {bound.n_rows:,} rows")
    if bound.quantity == "importance-weighted error":  # its errors are sums of weights
        return
    counts_errors = not bound.is_amount and not bound.predictor and bound.unit != "group"
    if bound.certified and (n != int(n) or (counts_errors and errors != int(errors))):
        raise ModelFileError(
            f"certificate.errors is {show(errors)} in certificate.n = {show(n)} rows; whole numbers are needed"
        )
    if not bound.is_amount and bound.scale != 1:
        raise ModelFileError(
            f"certificate.scale is {bound.scale:g} for {bound.quantity!a}; only a cost or a mean error of numbers can "
            "have a scale other than 1"
        )
    if n >= MAX_EXACT_INT or errors > n * bound.scale * (1 + TOLERANCE):
        raise ModelFileError(
            f"certificate.errors is {errors:,.10g} in certificate.n = {n:,.10g} rows; such numbers are impossible"
        )
    lowest_limit = 0.0 if bound.quantity.startswith(GAP) else bound.rate
    if not _is_about_groups(bound) and not bound.is_amount and n == int(n) and bound.unit == "row":
        lowest_limit = binomial_upper(min(int(errors), MAX_TAIL_ERRORS), int(n), math.log(bound.delta))
    if bound.certified and bound.value < lowest_limit * (1 - TOLERANCE):
        raise ModelFileError(
            f"certificate.value is {bound.value:.6g}; {errors:,.10g} errors in {n:,} rows allow no limit below "
            f"{lowest_limit:.6g} at certificate.delta = {bound.delta:g}"
        )


def _is_about_holdout(bound: Bound, model: Model) -> bool:
    """Return whether a certificate bounds the error of the model's pruning on the held-out counts of the model."""
    is_error = bound.quantity in ("error", *LOSSES_OF_NUMBERS) or _is_about_groups(bound)
    is_about_rows = is_error and not bound.predictor and bound.unit == "row"
    return is_about_rows and model.holdout is not None and bound.sample == model.holdout.sample


def _is_about_groups(bound: Bound) -> bool:
    """Return whether a certificate is about population groups: their errors, or the gap of a rate between them."""
    return bound.quantity.startswith((GAP, ERROR_IN_GROUPS))


def _check_bound_fits_holdout(bound: Bound, model: Model) -> None:
    """Refuse a certificate whose numbers of rows and errors are not those of the held-out counts."""
    holdout, labels = model.class_holdout, model.pruning.node_labels
    if holdout is None or labels is None:
        _check_bound_fits_moments(bound, model)
        return
    n = float(holdout.total[0])
    errors = float(model.pruning.cost(holdout.unrecorded_errors_if_leaf(labels)))
    tolerance = 0.0 if holdout.has_integer_weights else TOLERANCE
    if bound.n not in (n, holdout.n_rows) or abs(bound.errors - errors) > tolerance * errors:
        raise ModelFileError(
            f"the certificate counts {bound.errors:,.10g} errors in {bound.n:,} rows of sample {bound.sample!a}; the "
            f"file holds {errors:,.10g} in {n:,.10g}"
        )


def _check_bound_fits_moments(bound: Bound, model: Model) -> None:
    """Refuse a certificate of numbers whose rows, or whose squared errors, are not those of the held-out moments."""
    holdout = model.holdout
    assert isinstance(holdout, Moments)
    if bound.n not in (float(holdout.weight[0]), holdout.n_rows):
        raise ModelFileError(
            f"the certificate is from {bound.n:,} rows of sample {bound.sample!a}; the file holds {holdout.n_rows:,}"
        )
    # The mean absolute error of the rows is at most the root of their mean squared error.
    squared = float(model.pruning.cost(holdout.unrecorded_costs_if_leaf(model.grown.predictions)))
    is_squared = bound.quantity == "mean squared error"
    largest = squared if is_squared else math.sqrt(squared * bound.n)
    is_wrong = abs(bound.errors - squared) > 1e-6 * squared if is_squared else bound.errors > largest * (1 + 1e-6)
    if is_wrong:
        raise ModelFileError(
            f"certificate.errors is {bound.errors:,.10g}; the moments of sample {bound.sample!a} in the file allow "
            f"{'exactly' if is_squared else 'at most'} {largest:,.10g}"
        )


def _follows_from(bound: Bound, recomputed: Bound) -> bool:
    """Return whether a certificate claims no more than the recomputed one, for the same method and complexity."""
    if bound.certified != recomputed.certified or bound.is_checked > recomputed.is_checked:
        return False
    if bound.n_repeated != recomputed.n_repeated:
        return False
    if (bound.method, bound.reason) != (recomputed.method, recomputed.reason):
        return False
    if abs(recomputed.complexity - bound.complexity) > TOLERANCE * abs(recomputed.complexity):
        return False
    return not recomputed.value > bound.value * (1 + TOLERANCE)


def _recompute_if_possible(recompute: Callable[[Any, Model], Any], claim: Any, model: Model) -> Any:
    """Return what a function computes for a claim of a model; None if it refuses."""
    try:
        return recompute(claim, model)
    except SecateurError:  # for instance because the rows are not fresh, as the file itself states
        return None
    finally:
        # Recomputing must not be recorded as an evaluation. The evaluations in the file are added later.
        model.tree.evaluation_log.records.clear()


def _recompute(bound: Bound, model: Model) -> Bound | None:
    """Compute a certificate again with the method that its description names; None if the method is not known."""
    from ..certifiers import certify

    repeats = _stated_repeats(bound, model)
    if not model.is_classifier:
        return _recompute_for_numbers(bound, model, repeats)
    assert model.class_holdout is not None
    if bound.method.startswith(FIXED_SEQUENCE):
        return _recompute_fixed_sequence(bound, model, repeats)
    method = _method_of(bound)
    k = bound.details.get("k")
    can_recompute_k = k is None or (type(k) is int and 0 <= k * model.tree.n_nodes <= MAX_CLASS_SIZE)
    if method is None or not can_recompute_k:
        return None
    return certify(
        model.pruning, model.class_holdout, method=method, delta=bound.delta, grown=model.class_grown,
        sequence=model.sequence, repeated=True, repeats=repeats, **_parameters_of_method(method, bound, model),
    )  # fmt: skip


def _recompute_for_numbers(bound: Bound, model: Model, repeats: Repeats | RepeatRule) -> Bound | None:
    """Return the certificate of the mean loss of a regression tree for the range that the file states."""
    from ..certifiers import METHODS_FOR_NUMBERS, certify

    method, holdout = _method_of(bound), model.holdout
    if method not in METHODS_FOR_NUMBERS or holdout is None:
        return None
    stated = {name: bound.details.get(name) for name in ("target_range", "max_residual")}
    recomputed: Bound = certify(
        model.pruning, holdout, method=method, delta=bound.delta, grown=model.grown, repeats=repeats, **stated
    )
    is_same = abs(recomputed.errors - bound.errors) <= TOLERANCE * abs(recomputed.errors)
    is_same = is_same and (recomputed.assumes, recomputed.scale) == (bound.assumes, bound.scale)
    return recomputed if is_same else None


def _recompute_fixed_sequence(bound: Bound, model: Model, repeats: Repeats | RepeatRule) -> Bound | None:
    """Return the certificate of the plan whose order and target the file states, if it chooses the model's pruning."""
    from ..certifiers import fixed_sequence

    sequence, holdout, details = model.sequence, model.class_holdout, bound.details
    assert holdout is not None
    target = details.get("target")
    if sequence is None or details.get("targets") != ([] if target is None else [target]):
        return None
    conditions = {name: details[name] for name in ("per_group", "max_gap", "rate", "positive") if name in details}
    if sequence.node_labels is None:
        sequence = replace(sequence, node_labels=model.pruning.node_labels)
    plan = fixed_sequence(sequence, target=target, order=details.get("order"), **conditions)
    _, recomputed = plan.certify(holdout, bound.delta, repeated=True, repeats=repeats)
    is_chosen = bool((sequence[recomputed.details["member"]].is_leaf == model.pruning.is_leaf).all())
    return recomputed if is_chosen and isinstance(recomputed, Bound) else None


def _stated_repeats(bound: Bound | GroupRates, model: Model) -> Repeats | RepeatRule:
    """Return the number of repeated rows that a certificate states, unless the sketches in the model show more.

    Fitting counts repeated rows exactly, from the hashes of all rows. The sketches in a file hold a part of them.
    """
    holdout = model.holdout
    assert holdout is not None
    if bound.repeats == "independent":
        return "independent"
    if not bound.repeats:  # earlier versions did not look for copies, and their certificates state nothing about them
        return Repeats()
    used = model.tree.history | SampleUsage.of(model.grown)
    found = Freshness(used=used).find_repeats(holdout, bound.delta)
    verdicts: dict[str, Verdict] = {"natural": "natural", "copies": "copies", "in doubt": "in doubt"}
    if found.verdict == "unknown" or bound.repeats not in verdicts or bound.n_repeated < _min_repeated(found):
        return "errors"
    return replace(
        found,
        verdict=verdicts[bound.repeats],
        n_errors=bound.n_repeated,
        n_twins=bound.n_repeated,
        errors_by_class=found.errors_by_class if found.n_errors == bound.n_repeated else (),
        copies_detectable=bound.copies_detectable and found.copies_detectable,
        delta=0.0,
    )


def _min_repeated(found: Repeats) -> float:
    """Return the least number of repeated rows that the sketches allow.

    The sketches hold a random part of the rows. The number seen in them is binomial, so the standard deviation of the
    estimate is at most its value divided by the square root of the number seen.
    """
    estimated = found.n_twins * (1 - MAX_DEVIATIONS / math.sqrt(max(found.n_seen, 1)))
    return max(found.n_seen, estimated)


def _is_confirmed(calibration: Calibration, model: Model) -> bool:
    """Return whether the sketches in the file confirm that the calibrating rows are fresh, as the file states."""
    from ..certifiers import freshness

    result = freshness(model.pruning, calibration.sample)
    if not result.is_fresh or calibration.is_checked > result.is_checked:
        return False
    if calibration.repeats == "independent" or not calibration.is_checked:
        return True
    found = result.find_repeats(calibration.sample, DELTA_OF_CALIBRATION)
    if found.verdict == "natural" or calibration.n_repeated >= found.n_errors:
        return True
    return calibration.repeats in ("natural", "copies", "in doubt") and calibration.n_repeated >= _min_repeated(found)


def _method_of(bound: Bound) -> str | None:
    """Return the name of the method of a certificate, with which its description begins; None if there is none."""
    from ..certifiers import METHODS

    description = bound.method.lower().replace(" ", "-")
    names = [name for name in METHODS if description.startswith(name)]
    if not names:
        return None
    return "best" if "best of" in bound.method else max(names, key=len)


def _parameters_of_method(method: str, bound: Bound, model: Model) -> dict[str, Any]:
    """Return the parameters with which a method computed a certificate, as far as the file states them."""
    from ..certifiers import METHODS, cross_validation_weights

    properties = METHODS.get(method)  # None for "best", which may use every method
    parameters: dict[str, Any] = {}
    if method == "path" and "given weights" in bound.method and model.selection is not None:
        parameters["weights"] = cross_validation_weights(model.selection.error, model.selection.se)
    if properties is None or properties.is_random:
        seed = model.parameters.get("random_state")
        parameters["rng"] = seed if type(seed) is int and seed >= 0 else 0
    if method == "occam":
        parameters["prior"] = bound.details.get("prior")
    k = bound.details.get("k")
    if k is not None and (properties is None or properties.takes_k):
        parameters["k"] = k
    return parameters
