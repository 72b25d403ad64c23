"""Declare the options that several commands share, parse their values, and read options from a file."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click

from .._utils.checks import did_you_mean

Function: TypeAlias = Callable[..., Any]
OptionDecorator: TypeAlias = Callable[[Function], Function]
Options: TypeAlias = dict[str, Any]  # the values of all options of a command, by name

FRACTION = click.FloatRange(0, 1, min_open=True, max_open=True)


def combine_options(*options: OptionDecorator) -> OptionDecorator:
    """Return a decorator that adds all `options`; the help lists the last one first."""

    def add_options(function: Function) -> Function:
        for add_option in options:
            function = add_option(function)
        return function

    return add_options


class Choice(click.Choice):  # type: ignore[type-arg] # click 8.1 has no type argument
    """A choice among names whose error message suggests the nearest name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the chosen name; name the nearest one if there is no such name."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            message = error.message.rstrip(".") + did_you_mean(value, self.choices)
            raise click.BadParameter(message, ctx, param) from None


def name_option(*flags: str, names: Sequence[str], help: str, **settings: Any) -> OptionDecorator:  # noqa: A002 the name in click
    """Return an option that takes one of many `names`, which its help lists."""
    full_help = f"{help} One of: {', '.join(names)}."
    return click.option(*flags, type=Choice(names), metavar="NAME", help=full_help, **settings)


def choice_option(*flags: str, names: Sequence[str], help: str, default: str | None = None) -> OptionDecorator:  # noqa: A002 the name in click
    """Return an option that takes one of two or three `names`; the default is the first."""
    return click.option(*flags, type=Choice(names), default=default or names[0], help=help)


def int_option(flag: str, minimum: int, *, metavar: str | None = "N", **settings: Any) -> OptionDecorator:
    """Return an option that takes an integer of at least `minimum`."""
    return click.option(flag, type=click.IntRange(minimum), metavar=metavar, **settings)


def random_state_option(help: str) -> OptionDecorator:  # noqa: A002 the name in click
    """Return the option --random-state, which can also be given as --seed."""
    return click.option("--random-state", "--seed", type=click.IntRange(0), default=0, metavar="N", help=help)


def delta_option(result: str) -> OptionDecorator:
    """Return the option --delta: the failure probability of a `result`, named in the help."""
    return click.option("--delta", type=FRACTION, default=0.05, help=f"Allowed failure probability of the {result}.")


def set_option(function: str) -> OptionDecorator:
    """Return the option --set for the parameters of a `function`, named in the help, that another option selects."""
    return click.option(
        "--set", "parameters", multiple=True, metavar="NAME=VALUE", help=f"Parameter of the {function}."
    )


model_argument = click.argument("model", metavar="MODEL")
files_argument = click.argument("data", metavar="DATA...", nargs=-1, required=True)
rows_argument = click.argument("data", metavar="DATA", required=False)
target_option = click.option("--target", required=True, metavar="COL", help="Target column.")
max_error_option = click.option(
    "--max-error", type=float, metavar="X", help="Exit with status 1 if the certified error is above X."
)
n_jobs_option = click.option(
    "--n-jobs", type=int, default=-1, show_default=False, metavar="N", help="Number of threads; all cores by default."
)
write_options = combine_options(
    click.option("--force", is_flag=True, help="Overwrite an existing file."),
    click.option("--output", "-o", type=click.Path(dir_okay=False), help="Write to this file."),
)
write_model_options = combine_options(
    click.option(
        "--sketch/--no-sketch", default=True, show_default=False,
        help="Whether to store hashes of the rows used, so that certificates can recognise fresh rows.",
    ),
    write_options,
)  # fmt: skip
output_options = combine_options(
    click.option("--quiet", "-q", is_flag=True, help="Suppress messages."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON: one document, or one line per prediction."),
)


def parse_parameters(texts: Sequence[str]) -> Options:
    """Return texts of the form NAME=VALUE as a dictionary; a value is JSON, or else a string."""
    parameters: Options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"--set {text}: NAME=VALUE is needed")
        try:
            parameters[name.replace("-", "_")] = json.loads(value)
        except json.JSONDecodeError:
            parameters[name.replace("-", "_")] = value
    return parameters


def parse_number(flag: str, text: str, number: str) -> float:
    """Return the number in the value `text` of an option, or raise a usage error."""
    try:
        return float(number)
    except ValueError as error:
        raise click.UsageError(f"{flag} {text}: {number!r} is not a number") from error


def parse_int_or_auto(flag: str, text: str) -> int | str:
    """Return the value of an option that takes an integer of 1 or more, or "auto"."""
    if text != "auto" and not (text.isdigit() and int(text) > 0):
        raise click.UsageError(f"{flag} {text}: a whole number of 1 or more, or auto, is needed")
    return text if text == "auto" else int(text)


def set_defaults_from_file(context: click.Context, _parameter: click.Parameter, path: str | None) -> None:
    """Make the options in the file `path` the defaults of the command; options of the command line take precedence.

    This is the callback of the option --config.
    """
    if path is None:
        return
    options = {}
    for option in context.command.params:
        for flag in (*option.opts, *option.secondary_opts):
            if flag.startswith("--") and option.name != "config":
                options[flag.removeprefix("--")] = option
    defaults: Options = {}
    for name, value in _read_config(path).items():
        key = name.replace("_", "-")
        if key not in options:
            hint = did_you_mean(key, options)
            raise click.UsageError(f"{path}: {name!r} is not an option of {context.info_name}{hint}")
        option = options[key]
        is_repeatable = getattr(option, "multiple", False)
        defaults[str(option.name)] = _as_list(value) if is_repeatable else value
    context.default_map = {**(context.default_map or {}), **defaults}


def _as_list(value: object) -> list[Any]:
    """Return the values of a repeatable option; those of a table are NAME=VALUE, as for --set and --class-weight."""
    if isinstance(value, dict):
        return [f"{name}={item if isinstance(item, str) else json.dumps(item)}" for name, item in value.items()]
    return value if isinstance(value, list) else [value]


def _read_config(path: str) -> Options:
    """Return the names and values in a TOML or JSON file."""
    import tomllib

    try:
        text = Path(path).read_text(encoding="utf-8")
        config = json.loads(text) if path.lower().endswith(".json") else tomllib.loads(text)
    except OSError as error:
        raise click.UsageError(f"--config {path} cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise click.UsageError(f"--config {path} is neither TOML nor JSON ({error})") from error
    if not isinstance(config, dict):
        raise click.UsageError(f"--config {path}: it must contain names and values of options")
    return config
