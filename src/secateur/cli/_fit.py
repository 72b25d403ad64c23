"""secateur fit: grow and prune a tree from a file of rows; its options are the parameters of the estimators."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..model_selection import CHOICES, SCORES
from ..statistics import PROBABILITIES
from . import _common as common
from ._growing_options import growing_options
from ._rows import data_options, keep_option, read

if TYPE_CHECKING:
    from .._utils.arrays import Floats
    from ..core import Model
    from ..data.raw_column import RawColumn
    from ..data.table import Table
    from ..data.target import TargetKind


model_options = common.together(
    common.choice_option("--penalty", names=("leaves", "sqrt", "log"),
                         help="Penalty on size in cost-complexity pruning."),
    click.option("--cost", "costs", multiple=True, metavar="CLASS:ANSWER=C",
                 help="Cost of giving ANSWER to a row of CLASS; other errors cost 1."),
    click.option("--cv-repeats", default="auto", metavar="N", help="Number of repeats of cross-validation."),
)  # fmt: skip


def _configured(context: click.Context, _: click.Parameter, path: str | None) -> None:
    """Make the options of a file the defaults of the command."""
    if path is None:
        return
    from .._utils.checks import did_you_mean

    flags = {
        flag.removeprefix("--"): one
        for one in context.command.params
        for flag in (*one.opts, *one.secondary_opts)
        if flag.startswith("--") and one.name != "config"
    }
    found: common.Options = {}
    for name, value in _options_in(path).items():
        key = name.replace("_", "-")
        if key not in flags:
            raise click.UsageError(
                f"{path}: {name!r} is not an option of {context.info_name}{did_you_mean(key, flags)}"
            )
        found[str(flags[key].name)] = _many(value) if getattr(flags[key], "multiple", False) else value
    context.default_map = {**(context.default_map or {}), **found}


def _many(value: object) -> list[Any]:
    """The value of an option that may be repeated; a table is NAME=VALUE, as for --set and --class-weight."""
    if isinstance(value, dict):
        return [f"{name}={one if isinstance(one, str) else json.dumps(one)}" for name, one in value.items()]
    return value if isinstance(value, list) else [value]


def _options_in(path: str) -> common.Options:
    import tomllib

    try:
        text = Path(path).read_text(encoding="utf-8")
        found = json.loads(text) if path.lower().endswith(".json") else tomllib.loads(text)
    except OSError as error:
        raise click.UsageError(f"--config {path} cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise click.UsageError(f"--config {path} is neither TOML nor JSON ({error})") from error
    if not isinstance(found, dict):
        raise click.UsageError(f"--config {path}: it must contain names and values of options")
    return found


@common.command(
    "secateur fit patients.csv --target outcome -o tree.json",
    "secateur fit patients.csv --target outcome --certify --max-error 0.2",
)
@common.files_argument
@common.target_option
@common.choice_option(
    "--task", names=("auto", "classify", "regress"),
    help="Whether to predict classes or numbers; auto decides from the target.",
)  # fmt: skip
@growing_options
@click.option("--prune", default="cost-complexity", metavar="RULE", help="Pruning rule; see `secateur rules`.")
@common.set_option("rule")
@click.option(
    "--select", default="1se", metavar="HOW",
    help=f"How to choose the size: {', '.join(one.form or name for name, one in CHOICES.items())}, or none.",
)  # fmt: skip
@common.names_option(
    "--scoring", names=list(SCORES),
    help="Score that the chosen tree minimises; by default the error, or the squared error for numbers.",
)  # fmt: skip
@common.names_option(
    "--probabilities", names=list(PROBABILITIES), default="shrunk", help="How leaves estimate class probabilities."
)
@click.option("--cv", type=click.IntRange(2), default=10, help="Number of cross-validation folds.")
@click.option(
    "--holdout", metavar="SHARE|FILE", default=str(1 / 3), show_default=False,
    help="Share of the rows to hold out (by default a third), or a file of held-out rows.",
)  # fmt: skip
@click.option("--certify", is_flag=True, help="Certify the error on held-out rows.")
@common.delta_option("certificate")
@common.max_error_option
@model_options
@common.random_state_option("Seed for folds and held-out rows.")
@common.n_jobs_option
@common.write_model_options
@data_options
@keep_option
@click.option("--verbose", "-v", is_flag=True, help="Show progress and a summary with the pruning path.")
@click.option(
    "--config", type=click.Path(dir_okay=False), is_eager=True, expose_value=False, callback=_configured,
    help="Read options from a TOML or JSON file; the command line takes precedence.",
)  # fmt: skip
@common.output_options
def fit(data: tuple[str, ...], **options: Any) -> int:
    """Grow and prune a tree on DATA and choose its size.

    DATA is a text file (.csv, .tsv, .txt, .gz, a .zip with one file), a
    Parquet file, several files, a folder or a pattern; - is standard input.
    """
    from .._utils.progress import progress_bar
    from ..model_selection import Recipe, fit_model

    common.check_output(options["output"], force=options["force"])
    criterion, target = options["criterion"], options["target"]
    if options["task"] == "regress" and criterion not in ("auto", "squared_error"):
        raise click.UsageError(f"--task regress uses the criterion squared_error, not {criterion}; omit --criterion")
    kinds: Any = {"regress": "number", "classify": "class", "auto": partial(_kind, options=options)}
    table, weights = read(options, data, target=target, kind=kinds[options["task"]], keep=options["keep"])
    regress = table.schema.has_numeric_target
    holdout, held_out, held_weights = 1 / 3, None, None
    try:
        holdout = float(options["holdout"])
    except ValueError:
        held_out, held_weights = read(options, options["holdout"], target=target, schema=table.schema)
    recipe = Recipe.of(  # most options are parameters under the same name and with the same values
        options | {"criterion": "squared_error" if regress else criterion, **_grown_by(options, table)},
        prune=None if options["prune"] == "none" else options["prune"],
        prune_parameters=common.parameters_of(options["parameters"]),
        select=_how_to_select(options["select"]),
        cv_repeats=_whole_or_auto("--cv-repeats", options["cv_repeats"]),
        costs=_costs_of(options["costs"], table),
        holdout=holdout,
        certify=(options["certify"] or options["max_error"] is not None) or None,
        seed=options["random_state"],
    )
    with common.told(), progress_bar("growing and cross-validating", options["verbose"]) as progress:
        model = fit_model(
            table, recipe, sample_weight=weights, held_out=held_out, held_out_weight=held_weights,
            progress=None if options["quiet"] else progress,
        )  # fmt: skip
        _tell_of_one_column(model)
    parameters = recipe.estimator_parameters(is_classifier=not regress) | {"nominal": list(options["nominal"]) or None}
    about_output = ("as_json", "quiet", "force", "output", "verbose")
    command = {name: one for name, one in options.items() if name not in about_output and one not in (None, ())}
    model = replace(model, parameters=parameters, metadata={**model.metadata, "target": target, "command": command})
    if options["verbose"]:
        from ..inspection import summary

        common.talk(f"{summary(model)}\n")
    common.deliver_fitted(model, options)
    return common.gate(options, [("the certified error", model.certificate.value)] if model.certificate else [])


def _how_to_select(text: str) -> float | str | None:
    """A number of leaves, an accuracy, or a word."""
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return None if text == "none" else text


def _kind(given: "RawColumn", options: common.Options) -> "TargetKind":
    """Whether a target is classes or numbers, told if it is numbers."""
    from ..data.raw_column import NumberColumn, original_values
    from ..data.screening import looks_continuous

    if options["criterion"] == "squared_error":
        return "number"
    if (
        options["criterion"] != "auto"
        or not isinstance(given, NumberColumn)
        or not looks_continuous(original_values(given))
    ):
        return "class"
    common.talk(f"note: {options['target']!r} is predicted as a number; --task classify treats its values as classes")
    return "number"


def _grown_by(options: common.Options, table: "Table") -> common.Options:
    """The parameters of growing that options state in another way."""
    from ..growers.interaction import NAMED_GROUPS

    pairs = [one.rpartition("=") for one in options["monotonic_cst"]]
    words, given = options["interaction_cst"], options["class_weight"]
    is_word = len(words) == 1 and words[0] in NAMED_GROUPS
    return {
        "min_samples_leaf": _whole_or_auto("--min-samples-leaf", options["min_samples_leaf"]),
        "monotonic_cst": {name: int(_number("--monotonic-cst", f"{name}={sign}", sign)) for name, _, sign in pairs}
        or None,
        "interaction_cst": words[0] if is_word else [one.split(",") for one in words] or None,
        "class_weight": "balanced" if tuple(given) == ("balanced",) else _weights(given, table) or None,
    }


def _costs_of(given: tuple[str, ...], table: "Table") -> "Floats | None":
    """The cost matrix: errors cost 1 but for those that are named."""
    if not given:
        return None
    import numpy as np

    classes = _classes("--cost", table)
    costs = 1.0 - np.eye(len(classes))
    for one in given:
        pair, equals, value = one.rpartition("=")
        true, colon, answer = pair.partition(":")
        if not equals or not colon:
            raise click.UsageError(f"--cost {one}: CLASS:ANSWER=C is needed")
        costs[_class("--cost", true, classes), _class("--cost", answer, classes)] = _number("--cost", one, value)
    return costs


def _weights(given: tuple[str, ...], table: "Table") -> dict[object, float]:
    found = {}
    for one in given:
        classes = _classes("--class-weight", table)
        name, equals, value = one.rpartition("=")
        if not equals:
            raise click.UsageError(f"--class-weight {one}: CLASS=W, or balanced alone, is needed")
        found[classes[_class("--class-weight", name, classes)]] = _number("--class-weight", one, value)
    return found


def _classes(option: str, table: "Table") -> list[Any]:
    if table.schema.classes is None:
        raise click.UsageError(f"{option}: a numeric target has no classes")
    return list(table.schema.classes.tolist())


def _class(option: str, name: str, classes: list[Any]) -> int:
    from .._utils.checks import check_name

    names = [str(label) for label in classes]
    check_name(option, name, names)
    return names.index(name)


def _number(option: str, given: str, value: str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise click.UsageError(f"{option} {given}: {value!r} is not a number") from error


def _whole_or_auto(option: str, text: str) -> int | str:
    """A whole number of 1 or more, or auto."""
    if text != "auto" and not (text.isdigit() and int(text) > 0):
        raise click.UsageError(f"{option} {text}: a whole number of 1 or more, or auto, is needed")
    return text if text == "auto" else int(text)


def _tell_of_one_column(model: "Model") -> None:
    """Point out a column that predicts all rows by itself: often it is written down only when the target is known."""
    from .._utils.warn import warn

    assert model.tree.schema is not None
    tested = set(model.pruned_tree.feature[~model.pruned_tree.is_leaf].tolist())
    if len(tested) == 1 and model.pruning.cost(model.grown.resubstitution_costs) == 0:
        name = model.tree.schema.names[tested.pop()]
        warn(
            f"column {name!r} alone predicts every row; if it is not known when the tree is used, leave it out: "
            f"--ignore {name!r}"
        )
