"""Options of `secateur fit` that are parameters of the estimators, and a file of options."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import _common as common

if TYPE_CHECKING:
    from ..data.arrays import Array, Floats
    from ..data.table import Table

# Parameters of growing under the same name.
PLAIN = ("max_depth", "splits", "growth", "max_splits", "min_samples_split", "min_weight_fraction_leaf", "max_bins",
         "surrogates")  # fmt: skip
growing_options = common.together(
    common.choice_option("--growth", "depth-first", "best-first",
                         help="Order in which nodes are split; it matters with --max-splits."),
    click.option("--max-splits", type=click.IntRange(0), metavar="N", help="Maximum number of splits."),
    click.option("--min-samples-split", type=click.IntRange(2), default=2, show_default=True, metavar="N",
                 help="Minimum number of rows to split a node."),
    click.option("--min-weight-fraction-leaf", type=click.FloatRange(0, 0.5), default=0.0, show_default=True,
                 metavar="F", help="Minimum share of the total weight in a leaf."),
    click.option("--monotonic-cst", multiple=True, metavar="COL=1|-1",
                 help="Allow predictions only to rise (1) or only to fall (-1) as this column rises."),
    click.option("--interaction-cst", multiple=True, metavar="COL,COL",
                 help="Columns that may be tested together on the way to a leaf; all others form one more group."),
    click.option("--surrogates", type=click.IntRange(0), default=0, show_default=True, metavar="K",
                 help="Number of surrogate tests per node, for rows whose tested value is missing."),
    common.choice_option("--penalty", "leaves", "sqrt", "log", help="Penalty on size in cost-complexity pruning."),
    click.option("--max-bins", type=click.IntRange(2), metavar="N",
                 help="Bin numeric columns into this many bins; by default every threshold is tried."),
    click.option("--class-weight", multiple=True, metavar="CLASS=W|balanced",
                 help="Weight of a class; balanced gives all classes the same total weight."),
    click.option("--cost", "costs", multiple=True, metavar="CLASS:ANSWER=C",
                 help="Cost of giving ANSWER to a row of CLASS; other errors cost 1."),
    click.option("--cv-repeats", default="auto", show_default=True, metavar="N",
                 help="Number of repeats of cross-validation."),
)  # fmt: skip


def grown_by(options: common.Options, table: "Table") -> common.Options:
    """The parameters of growing that these options state."""
    from ..growers.interactions import WORDS

    found = {name: options[name] for name in PLAIN}
    found["min_samples_leaf"] = whole_or_auto("--min-samples-leaf", options["min_samples_leaf"])
    if options["monotonic_cst"]:
        pairs = [one.rpartition("=") for one in options["monotonic_cst"]]
        found["monotonic_cst"] = {
            name: int(_number("--monotonic-cst", f"{name}={sign}", sign)) for name, _, sign in pairs
        }
    if options["interaction_cst"]:
        words = options["interaction_cst"]
        found["interaction_cst"] = (
            words[0] if words[0] in WORDS and len(words) == 1 else [one.split(",") for one in words]
        )
    given = options["class_weight"]
    if given:
        found["class_weight"] = "balanced" if tuple(given) == ("balanced",) else _weights(given, table)
    return found


def costs_of(given: tuple[str, ...], table: "Table") -> "Floats | None":
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


def whole_or_auto(option: str, text: str) -> int | str:
    """A whole number of 1 or more, or auto."""
    if text != "auto" and not (text.isdigit() and int(text) > 0):
        raise click.UsageError(f"{option} {text}: a whole number of 1 or more, or auto, is needed")
    return text if text == "auto" else int(text)


def _weights(given: tuple[str, ...], table: "Table") -> dict[object, float]:
    classes = _classes("--class-weight", table)
    found = {}
    for one in given:
        name, equals, value = one.rpartition("=")
        if not equals:
            raise click.UsageError(f"--class-weight {one}: CLASS=W, or balanced alone, is needed")
        label = classes.tolist()[_class("--class-weight", name, classes)]
        found[label] = _number("--class-weight", one, value)
    return found


def _classes(option: str, table: "Table") -> "Array":
    if table.schema.classes is None:
        raise click.UsageError(f"{option}: a numeric target has no classes")
    return table.schema.classes


def _class(option: str, name: str, classes: "Array") -> int:
    from ..data.names import check_name

    names = [str(label) for label in classes.tolist()]
    check_name(option, name, names)
    return names.index(name)


def _number(option: str, given: str, value: str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise click.UsageError(f"{option} {given}: {value!r} is not a number") from error


def _configured(context: click.Context, _: click.Parameter, path: str | None) -> None:
    """Make the options of a file the defaults of the command."""
    if path is None:
        return
    from ..data.names import nearest

    flags = {
        flag.removeprefix("--"): one.name
        for one in context.command.params
        for flag in (*one.opts, *one.secondary_opts)
        if flag.startswith("--") and one.name != "config"
    }
    found: common.Options = {}
    for name, value in _read(path).items():
        key = name.replace("_", "-")
        if key not in flags:
            raise click.UsageError(f"{path}: {name!r} is not an option of {context.info_name}{nearest(key, flags)}")
        is_many = any(one.name == flags[key] and getattr(one, "multiple", False) for one in context.command.params)
        found[str(flags[key])] = _many(value) if is_many else value
    context.default_map = {**(context.default_map or {}), **found}


def _many(value: object) -> list[Any]:
    """The value of an option that may be repeated; a table is NAME=VALUE, as for --set and --class-weight."""
    if isinstance(value, dict):
        return [f"{name}={one if isinstance(one, str) else json.dumps(one)}" for name, one in value.items()]
    return value if isinstance(value, list) else [value]


def _read(path: str) -> common.Options:
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


config_option = click.option(
    "--config", type=click.Path(dir_okay=False), is_eager=True, expose_value=False, callback=_configured,
    help="Read options from a TOML or JSON file; the command line takes precedence.",
)  # fmt: skip
