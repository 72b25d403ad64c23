"""Prediction intervals and sets on the command line: their options, their guarantee, and the columns of `predict`."""

from typing import TYPE_CHECKING, Any

import click

from ._command import FRACTION, OptionDecorator, Options, choice_option, combine_options, print_message, write_model

if TYPE_CHECKING:
    from ..core import Model, PredictionRegions, Sample
    from ..data.table import Table

SEPARATOR = " | "  # between the classes of a set in a cell
OPTIONS_WITH_COVERAGE = {"confidence": "--confidence", "two_sided": "--two-sided", "by": "--by"}


def coverage_options(default: str) -> OptionDecorator:
    """Return the options that state what intervals or sets cover; `default` says what happens without --coverage."""
    return combine_options(
        choice_option(
            "--by", names=("leaf", "all"),
            help="Whether intervals are guaranteed in each leaf (small leaves are pooled), or over all rows together.",
        ),
        click.option(
            "--two-sided", is_flag=True, help="Leave out rows on each side alike; intervals are symmetric by default."
        ),
        click.option(
            "--confidence", type=FRACTION, metavar="F",
            help="Confidence that the share --coverage of new rows is covered; by default it is a probability.",
        ),
        click.option(
            "--coverage", type=FRACTION, metavar="F",
            help=f"Share of new rows that intervals (for classes: sets) contain, such as 0.9; {default}.",
        ),
    )  # fmt: skip


def check_coverage_options(*, goes_with: str) -> None:
    """Raise a usage error if an option about coverage is on the command line without what it goes with."""
    context = click.get_current_context()
    for name, flag in OPTIONS_WITH_COVERAGE.items():
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{flag} goes with {goes_with}, which is not given")


def regions_of(model: "Model", options: Options) -> "PredictionRegions":
    """Return the prediction intervals, or sets, that the options state."""
    from ..model_selection import intervals_of, sets_of

    required = {"coverage": options["coverage"] or 0.9, "confidence": options["confidence"], "by": options["by"]}
    if not model.is_classifier:
        return intervals_of(model, symmetric=not options["two_sided"], **required)
    if options["two_sided"]:
        raise click.UsageError("--two-sided is for numbers; a set of classes has no sides")
    return sets_of(model, **required)


def region_columns(model: "Model", table: "Table", options: Options) -> dict[str, list[Any]]:
    """Return the columns of --coverage by name, and print the guarantee as a note; none without this option."""
    if options["coverage"] is None:
        check_coverage_options(goes_with="--coverage")
        return {}
    import numpy as np

    from ..routing import prediction

    regions: Any = regions_of(model, options)
    print_message(f"note: {regions.guarantee}", quiet=options["quiet"])
    of_rows = regions.of_leaves(prediction.predict_leaf(model, table))
    if model.is_classifier:
        sets = [list(classes) for classes in of_rows]
        return {"set": sets if options["as_json"] else [SEPARATOR.join(map(str, classes)) for classes in sets]}
    lower, upper = of_rows.T
    if options["as_json"]:  # JSON has no infinite numbers
        lower, upper = (np.where(np.isfinite(ends), ends.astype(object), None) for ends in (lower, upper))
    return {"lower": lower.tolist(), "upper": upper.tolist()}


def calibrate(model: "Model", holdout: "Sample", options: Options) -> None:
    """Calibrate a model by a held-out sample, print the guarantee of its regions, and write the calibrated model."""
    from ..model_selection import calibrate_model
    from ._command import warnings_as_notes

    with warnings_as_notes():
        model = calibrate_model(model, holdout, options["repeats"])
    regions = regions_of(model, options)
    write_model(model, options, {"of": options["quantity"], **regions.to_dict()}, [regions.guarantee])
