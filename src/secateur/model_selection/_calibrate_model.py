"""Prediction intervals and sets of a fitted model, from rows that had no part in making its pruning."""

from dataclasses import replace
from typing import Any

from ..core import Calibration, Model, PredictionIntervals, PredictionSets, Sample
from ..errors import LeakageError, SecateurError, UnsupportedError, Wording
from ..statistics.repeats import RepeatRule, Repeats
from ._certify_model import check_groups_given

REMEDY = Wording(
    "call calibrated_on(X, y), with rows",
    "run `secateur certify MODEL --of intervals --holdout DATA --output FILE` (for classes --of sets), with rows",
)


def calibrate_model(model: Model, sample: Sample, repeats: Repeats | RepeatRule = "errors") -> Model:
    """Return the model with a calibration by a sample, which must be fresh for its pruning."""
    from ..certifiers import calibrate

    check_groups_given(model, sample)
    return replace(model, calibration=calibrate(model.pruning, sample, repeats=repeats))


def calibrate_if_fresh(model: Model, repeats: Repeats | RepeatRule = "errors") -> Model:
    """Return the model, calibrated by its held-out rows if `calibrate` accepts them."""
    if model.holdout is None:
        return model
    try:
        return calibrate_model(model, model.holdout, repeats)
    except SecateurError:
        return model


def intervals_of(model: Model, **options: Any) -> PredictionIntervals:
    """Return the prediction intervals of a regression model; the options are those of `prediction_intervals`."""
    if model.is_classifier:
        raise UnsupportedError("the target is a class; prediction sets take the place of intervals (predict_set)")
    from ..certifiers import prediction_intervals

    intervals: PredictionIntervals = _cached(model, prediction_intervals, options)
    return intervals


def sets_of(model: Model, **options: Any) -> PredictionSets:
    """Return the prediction sets of a classification model; the options are those of `prediction_sets`."""
    if not model.is_classifier:
        raise UnsupportedError("the target is a number; prediction intervals take the place of sets (predict_interval)")
    from ..certifiers import prediction_sets

    sets: PredictionSets = _cached(model, prediction_sets, options)
    return sets


def _cached(model: Model, function: Any, options: dict[str, Any]) -> Any:
    """Return the result of a function of the model's parts, computed once for the same options."""
    calibration = _calibration_of(model)
    key = repr(sorted(options.items()))
    cache = model.cached_regions
    if key not in cache:
        cache[key] = function(model.pruning, model.grown, calibration, **options)
    return cache[key]


def _calibration_of(model: Model) -> Calibration:
    """Return the calibration of a model, by its held-out rows if it has none; raise an error if they are not fresh."""
    if model.calibration is not None and model.calibration.fits(model.pruning):
        return model.calibration
    if "calibration" not in model.cached_regions:
        if model.holdout is None:
            raise UnsupportedError(
                "prediction intervals and sets need held-out rows that had no part in making the tree: ",
                REMEDY,
                " on which the tree was not grown",
            )
        try:
            calibrated = calibrate_model(model, model.holdout)
        except LeakageError as error:
            raise LeakageError(
                "prediction intervals and sets need rows that had no part in making the tree, and the held-out rows of "
                f"the model had one ({error}); ",
                REMEDY,
                " that no step has used",
            ) from error
        model.cached_regions["calibration"] = calibrated.calibration
    calibration: Calibration = model.cached_regions["calibration"]
    return calibration
