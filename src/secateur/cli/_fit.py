"""The command `secateur fit`: grow and prune a tree on the rows of files.

The options of the growing parameters are made from the declarations of these parameters.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import click

from .._utils.checks import OneOf, RealNumber, WholeNumber
from ..errors import show
from ..growers.parameters import DECLARATIONS, Declaration
from ..model_selection import CHOICES, SCORES
from ..statistics import PROBABILITIES
from ._command import (
    Function,
    OptionDecorator,
    Options,
    PathText,
    check_certified,
    check_max_error,
    check_output_path,
    choice_option,
    combine_options,
    command,
    delta_option,
    files_argument,
    max_error_option,
    n_jobs_option,
    name_option,
    output_options,
    parse_int_or_auto,
    parse_number,
    parse_parameters,
    print_message,
    random_state_option,
    repeats_option,
    set_defaults_from_file,
    set_option,
    stated_range_options,
    target_error_option,
    target_option,
    warnings_as_notes,
    write_fitted_model,
    write_model_options,
)
from ._input import InputRows, data_options, groups_option, keep_option, read_table, record_data_files

if TYPE_CHECKING:
    from .._utils.arrays import Floats
    from ..core import Model
    from ..data.raw_column import RawColumn
    from ..data.table import Schema, Table
    from ..data.target import TargetKind
    from ..model_selection import Recipe

DEFAULT_HOLDOUT = 1 / 3  # share of the rows
METAVAR_OF_REPEATED = {  # parameters whose option may be repeated, once per column, group or class
    "monotonic_cst": "COL=1|-1",
    "interaction_cst": "COL,COL",
    "class_weight": "CLASS=W|balanced",
}
OPTION_NAMES = tuple(  # without --nominal, which is one of the options for reading data
    name for name, declaration in DECLARATIONS.items() if declaration.is_in_estimators and name != "nominal"
)
model_options = combine_options(
    choice_option("--penalty", names=("leaves", "sqrt", "log"), help="Penalty on size in cost-complexity pruning."),
    click.option(
        "--cost", "costs", multiple=True, metavar="CLASS:PREDICTION=C",
        help="Cost of predicting PREDICTION for a row of CLASS; other errors cost 1.",
    ),
    click.option("--cv-repeats", default="auto", metavar="N", help="Number of repeats of cross-validation."),
)  # fmt: skip


def growing_options(function: Function) -> Function:
    """Add an option for each growing parameter to a command."""
    options = [growing_option(DECLARATIONS[name]) for name in OPTION_NAMES]
    return reduce(lambda decorated, add_option: add_option(decorated), reversed(options), function)


def growing_option(declaration: Declaration) -> OptionDecorator:
    """Return the option for one growing parameter, with its default, allowed values and description."""
    flag = f"--{declaration.name.replace('_', '-')}"
    text = f"{declaration.description} {declaration.auto_description}".rstrip()
    if declaration.name in METAVAR_OF_REPEATED:
        return click.option(flag, multiple=True, metavar=METAVAR_OF_REPEATED[declaration.name], help=text)
    settings: dict[str, Any] = {"default": "auto" if declaration.searched else declaration.default, "help": text}
    allowed = declaration.allowed
    if isinstance(allowed, OneOf) and declaration.searched:
        return name_option(flag, names=["auto", *allowed.names], **settings)
    if isinstance(allowed, OneOf):
        return choice_option(flag, names=allowed.names, **settings)
    if isinstance(allowed, RealNumber):
        return click.option(flag, type=click.FloatRange(allowed.minimum, allowed.maximum), metavar="F", **settings)
    assert isinstance(allowed, WholeNumber)
    if declaration.searched:
        return click.option(flag, metavar="N|auto", **settings)
    return click.option(flag, type=click.IntRange(allowed.minimum, allowed.maximum), metavar="N", **settings)


@command(
    "secateur fit patients.csv --target outcome -o tree.json",
    "secateur fit patients.csv --target outcome --certify --max-error 0.2",
)
@files_argument
@target_option
@choice_option(
    "--task", names=("auto", "classify", "regress"),
    help="Whether to predict classes or numbers; auto decides from the target.",
)  # fmt: skip
@growing_options
@click.option("--prune", default="cost-complexity", metavar="RULE", help="Pruning rule; see `secateur rules`.")
@set_option("rule")
@click.option(
    "--select", default="1se", metavar="HOW",
    help=f"How to choose the size: {', '.join(choice.form or name for name, choice in CHOICES.items())}, or none.",
)  # fmt: skip
@target_error_option
@name_option(
    "--scoring", names=list(SCORES),
    help="Score that the chosen tree minimises; by default the error, or the squared error for numbers.",
)  # fmt: skip
@name_option(
    "--probabilities", names=list(PROBABILITIES), default="shrunk", help="How leaves estimate class probabilities."
)
@click.option("--cv", type=click.IntRange(2), default=10, help="Number of cross-validation folds.")
@click.option(
    "--holdout", metavar="SHARE|FILE", default=str(DEFAULT_HOLDOUT), show_default=False,
    help="Share of the rows to hold out (by default a third), or a file of held-out rows.",
)  # fmt: skip
@click.option(
    "--certify", is_flag=True, help="Certify the error (for numbers the mean absolute error) on held-out rows."
)
@stated_range_options
@delta_option("certificate")
@repeats_option
@max_error_option
@model_options
@random_state_option("Seed for folds and held-out rows.")
@n_jobs_option
@write_model_options
@data_options
@groups_option
@keep_option
@click.option("--verbose", "-v", is_flag=True, help="Show progress and a summary with the pruning path.")
@click.option(
    "--config", type=PathText(dir_okay=False), is_eager=True, expose_value=False, callback=set_defaults_from_file,
    help="Read options from a TOML or JSON file; the command line takes precedence.",
)  # fmt: skip
@output_options
def fit(data: tuple[str, ...], **options: Any) -> int:
    """Grow and prune a tree on DATA and choose its size.

    DATA is a text file (.csv, .tsv, .txt, .gz, a .zip with one file), a
    Parquet file, several files, a folder or a pattern; - is standard input.
    """
    from .._utils.progress import progress_bar
    from ..model_selection import fit_model

    check_output_path(options["output"], force=options["force"])
    table, weights, groups, _ = read_table(
        options, data, target=options["target"], target_kind=_target_kind(options), keep=options["keep"]
    )
    holdout, held_out = _read_holdout(options, table.schema)
    recipe = _make_recipe(options, table, holdout)
    parameters = recipe.estimator_parameters(is_classifier=not table.schema.has_numeric_target)
    with warnings_as_notes(), progress_bar("growing and cross-validating", options["verbose"]) as progress:
        model = fit_model(
            table, recipe, sample_weight=weights, groups=groups,
            held_out=None if held_out is None else held_out.table,
            held_out_weight=None if held_out is None else held_out.weights,
            held_out_groups=None if held_out is None else held_out.groups,
            progress=None if options["quiet"] else progress,
        )  # fmt: skip
        _warn_single_column(model)
    model = replace(
        model,
        parameters=parameters | {"nominal": list(options["nominal"]) or None},
        metadata={
            **model.metadata,
            **_column_names(options),
            "files": record_data_files(data, "growing") + record_data_files(_holdout_file(options), "held out"),
            "command": _recorded_options(options),
        },
    )
    if options["verbose"]:
        from ..inspection import summary

        print_message(f"{summary(model)}\n")
    write_fitted_model(model, options)
    if model.certificate is None:
        return 0
    return check_certified(model, options) or check_max_error(
        options, [(f"the certified {model.certificate.quantity}", model.certificate.value)]
    )


def _target_kind(options: Options) -> "Callable[[RawColumn], TargetKind] | TargetKind":
    """Return whether the target is classes or numbers, or a function that decides from the target column."""
    criterion = options["criterion"]
    if options["task"] == "classify":
        return "class"
    if options["task"] == "regress":
        if criterion not in ("auto", "squared_error"):
            raise click.UsageError(
                f"--task regress uses the criterion squared_error, not {criterion}; omit --criterion"
            )
        return "number"
    return partial(_guess_target_kind, options=options)


def _guess_target_kind(target: "RawColumn", options: Options) -> "TargetKind":
    """Return whether a target column is classes or numbers; print a note if this is a guess."""
    from ..data.raw_column import NumberColumn, original_values
    from ..data.screening import looks_continuous

    if options["criterion"] == "squared_error":
        return "number"
    if options["criterion"] != "auto" or not isinstance(target, NumberColumn):
        return "class"
    if not looks_continuous(original_values(target)):
        return "class"
    name = options["target"]
    print_message(f"note: {show(name)} is predicted as a number; --task classify treats its values as classes")
    return "number"


def _column_names(options: Options) -> Options:
    """Return the names of the target column and of the column of groups, for the metadata of the model."""
    groups_column = {} if options["groups"] is None else {"groups_column": options["groups"]}
    return {"target": options["target"], **groups_column}


def _read_holdout(options: Options, schema: "Schema") -> "tuple[float, InputRows | None]":
    """Return the share of rows to hold out, and the held-out rows if --holdout names a file."""
    files = _holdout_file(options)
    if not files:
        return float(options["holdout"]), None
    return DEFAULT_HOLDOUT, read_table(options, files[0], target=options["target"], schema=schema)


def _holdout_file(options: Options) -> tuple[str, ...]:
    """Return the value of --holdout if it names a file, and not a share of the rows."""
    try:
        float(options["holdout"])
    except ValueError:
        return (options["holdout"],)
    return ()


def _make_recipe(options: Options, table: "Table", holdout: float) -> "Recipe":
    """Return the recipe that the options describe; most options are parameters of the same name and value."""
    from ..model_selection import Recipe

    criterion = "squared_error" if table.schema.has_numeric_target else options["criterion"]
    return Recipe.of(
        options | {"criterion": criterion, **_parse_growing_options(options, table)},
        prune=None if options["prune"] == "none" else options["prune"],
        prune_parameters=parse_parameters(options["parameters"]),
        select=_parse_select(_select_option(options)),
        cv_repeats=parse_int_or_auto("--cv-repeats", options["cv_repeats"]),
        costs=_parse_costs(options["costs"], table),
        holdout=holdout,
        certify=(options["certify"] or options["max_error"] is not None) or None,
        seed=options["random_state"],
    )


def _select_option(options: Options) -> str:
    """Return the value of --select; --certified-error implies "certified"."""
    is_given = click.get_current_context().get_parameter_source("select") is not click.core.ParameterSource.DEFAULT
    if options["target_error"] is None or is_given:
        return str(options["select"])
    return "certified"


def _recorded_options(options: Options) -> Options:
    """Return the options for the metadata of the model: those that affect the model and have a value."""
    return {
        name: value
        for name, value in options.items()
        if name not in ("as_json", "quiet", "force", "output", "verbose") and value not in (None, ())
    }


def _parse_select(text: str) -> float | str | None:
    """Return the value of --select: a number of leaves, an accuracy, the name of a rule, or None."""
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return None if text == "none" else text


def _parse_growing_options(options: Options, table: "Table") -> Options:
    """Return the growing parameters whose options have another form than the parameter."""
    return {
        "min_samples_leaf": parse_int_or_auto("--min-samples-leaf", options["min_samples_leaf"]),
        "monotonic_cst": _parse_monotonic(options["monotonic_cst"]),
        "interaction_cst": _parse_interactions(options["interaction_cst"]),
        "class_weight": _parse_class_weight(options["class_weight"], table),
    }


def _parse_monotonic(texts: Sequence[str]) -> dict[str, int] | None:
    """Return the direction of each column in texts of the form COLUMN=1 or COLUMN=-1."""
    directions = {}
    for text in texts:
        name, _, direction = text.rpartition("=")
        directions[name] = int(parse_number("--monotonic-cst", f"{name}={direction}", direction))
    return directions or None


def _parse_interactions(texts: Sequence[str]) -> str | list[list[str]] | None:
    """Return the groups of columns in texts of the form COLUMN,COLUMN, or the name of a grouping."""
    from ..growers.interaction import NAMED_GROUPS

    if len(texts) == 1 and texts[0] in NAMED_GROUPS:
        return texts[0]
    return [text.split(",") for text in texts] or None


def _parse_class_weight(texts: Sequence[str], table: "Table") -> str | dict[object, float] | None:
    """Return the weight of each class in texts of the form CLASS=WEIGHT, or "balanced"."""
    if tuple(texts) == ("balanced",):
        return "balanced"
    weights = {}
    for text in texts:
        classes = _class_labels("--class-weight", table)
        name, equals, weight = text.rpartition("=")
        if not equals:
            raise click.UsageError(f"--class-weight {text}: CLASS=W, or balanced alone, is needed")
        label = classes[_class_number("--class-weight", name, classes)]
        weights[label] = parse_number("--class-weight", text, weight)
    return weights or None


def _parse_costs(texts: Sequence[str], table: "Table") -> "Floats | None":
    """Return the cost matrix in texts of the form CLASS:PREDICTION=COST; all other errors cost 1."""
    if not texts:
        return None
    import numpy as np

    classes = _class_labels("--cost", table)
    costs = 1.0 - np.eye(len(classes))
    for text in texts:
        pair, equals, cost = text.rpartition("=")
        true_class, colon, prediction = pair.partition(":")
        if not equals or not colon:
            raise click.UsageError(f"--cost {text}: CLASS:PREDICTION=C is needed")
        row, column = (_class_number("--cost", name, classes) for name in (true_class, prediction))
        costs[row, column] = parse_number("--cost", text, cost)
    return costs


def _class_labels(flag: str, table: "Table") -> list[Any]:
    """Return the classes of the target, or raise a usage error if it is numeric."""
    if table.schema.classes is None:
        raise click.UsageError(f"{flag}: a numeric target has no classes")
    return list(table.schema.classes.tolist())


def _class_number(flag: str, name: str, classes: list[Any]) -> int:
    """Return the position of the class whose label is `name` as text."""
    from .._utils.checks import check_name

    names = [str(label) for label in classes]
    check_name(flag, name, names)
    return names.index(name)


def _warn_single_column(model: "Model") -> None:
    """Warn of a column that alone predicts all rows; such a column is often recorded after the target is known."""
    from .._utils.warn import warn

    assert model.tree.schema is not None
    tree = model.pruned_tree
    tested_columns = set(tree.feature[~tree.is_leaf].tolist())
    if len(tested_columns) == 1 and model.pruning.cost(model.grown.resubstitution_costs) == 0:
        name = model.tree.schema.names[tested_columns.pop()]
        warn(
            f"column {show(name)} alone predicts every row; if it is not known when the tree is used, leave it out: "
            f"--ignore {show(name)}"
        )
