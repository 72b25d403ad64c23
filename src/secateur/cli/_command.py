"""Functions that all commands share: to declare a command and its options, word messages, and print results."""

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from .._utils.checks import did_you_mean
from ..errors import (
    UNSET,
    Argument,
    DataError,
    MessagePart,
    ModelFileError,
    OutputError,
    ParameterError,
    SecateurError,
    SecateurWarning,
    UnsupportedError,
    Wording,
    escape_unprintable,
    show,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..core import Model

Function: TypeAlias = Callable[..., Any]
OptionDecorator: TypeAlias = Callable[[Function], Function]
Options: TypeAlias = dict[str, Any]  # the values of all options of a command, by name

FRACTION = click.FloatRange(0, 1, min_open=True, max_open=True)
EXIT_STATUS_OF_ERROR: tuple[tuple[type[SecateurError], int], ...] = (  # the first class that fits decides
    (OutputError, 5),
    (ModelFileError, 4),
    (DataError, 3),
    (ParameterError, 2),
    (UnsupportedError, 3),
    (SecateurError, 1),
)
FLAG_OF_PARAMETER = {"overwrite": "--force"}  # Python parameters whose option has another name
JSON_VERSION = 1
MAX_CONFIG_BYTES = 1 << 16
MAX_DOTS_PER_LINE = 1000  # in the file of --config; see _read_config_text
MAX_TREE_LINES = 60  # a longer tree is printed only by `secateur show`
_UNSAFE_CHARACTER = re.compile(r"[^ -~]")


class CommandError(click.ClickException):
    """An error of the library, worded for the command line, with the exit status of its class."""

    def __init__(self, message: str, exit_status: int) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = exit_status  # click declares a class variable

    def show(self, file: Any = None) -> None:  # noqa: ARG002 the signature of click
        """Print the error on standard error, in one line."""
        click.echo(f"error: {self.format_message()}", err=True)


class Command(click.Command):
    """A command that reports errors of the library in one line, worded for the command line."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; raise `CommandError` for an error of the library."""
        try:
            return super().invoke(ctx)
        except SecateurError as error:
            exit_status = next(status for kind, status in EXIT_STATUS_OF_ERROR if isinstance(error, kind))
            message = escape_unprintable(word_message(error.parts, self))
            raise CommandError(" ".join(message.split()), exit_status) from error


def command(*examples: str) -> Callable[[Callable[..., int | None]], click.Command]:
    """Return a decorator that makes a function a command whose help ends with `examples`."""
    epilog = "\n".join(["\b", "Example:", *(f"  {example}" for example in examples)])
    return click.command(cls=Command, epilog=epilog, context_settings={"show_default": True})


def print_message(message: str, *, quiet: bool = False) -> None:
    """Print a message on standard error, unless `quiet`."""
    if not quiet:
        click.echo(escape_unprintable(message), err=True)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print the warnings that are issued inside the context as notes on standard error, each text once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    running = click.get_current_context().command
    messages = []
    for warning in caught:
        message = warning.message
        parts = message.parts if isinstance(message, SecateurWarning) else (str(message),)
        messages.append(word_message(parts, running))
    for text in dict.fromkeys(messages):
        print_message(f"note: {text}")


def word_message(parts: Iterable[MessagePart], running: click.Command) -> str:
    """Return the message of an error or a warning in terms of the command line.

    Parameters
    ----------
    parts : iterable of str, Argument or Wording
        The parts of the message.
    running : click.Command
        The command that shows the message. Parameters that are not among its options keep their Python form.

    Examples
    --------
    >>> from secateur.cli._fit import fit
    >>> word_message(["pass ", Argument("numeric", ["size"]), " or ", Argument("strict", False)], fit)
    "pass --numeric 'size' or strict=False"
    """
    flags = {str(option.name): option.opts[0] for option in running.params if isinstance(option, click.Option)}
    texts = []
    for part in parts:
        if isinstance(part, Argument):
            texts.append(_word_argument(part, flags))
        else:
            texts.append(part.command_line if isinstance(part, Wording) else part)
    return "".join(texts)


def _word_argument(argument: Argument, flags: Mapping[str, str]) -> str:
    """Return a parameter as an option, given the flag of each option by name; in Python form if there is no option."""
    flag = FLAG_OF_PARAMETER.get(argument.name) or flags.get(argument.name)
    if flag is None:
        return str(argument)
    if argument.value is UNSET or argument.value is True:
        return flag
    if argument.value is None:
        return f"no {flag}"
    values = argument.value if isinstance(argument.value, list | tuple) else [argument.value]
    return " ".join(f"{flag} {show(value)}" for value in values)


def combine_options(*options: OptionDecorator) -> OptionDecorator:
    """Return a decorator that adds all `options`; the help lists the last one first."""

    def add_options(function: Function) -> Function:
        for add_option in options:
            function = add_option(function)
        return function

    return add_options


class PathText(click.Path):
    """A path that a file system can have; the type of click fails for text with the character 0."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or raise a usage error."""
        if "\0" in str(value):
            raise click.BadParameter(f"{show(value)} is no path: it contains the character 0", ctx, param)
        return super().convert(value, param, ctx)


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
    """Return an option that takes one of a few `names`; without `default`, the first name is the default."""
    return click.option(*flags, type=Choice(names), default=default or names[0], help=help)


def int_option(flag: str, minimum: int, *, metavar: str | None = "N", **settings: Any) -> OptionDecorator:
    """Return an option that takes an integer of at least `minimum`."""
    return click.option(flag, type=click.IntRange(minimum), metavar=metavar, **settings)


def random_state_option(help: str) -> OptionDecorator:  # noqa: A002 the name in click
    """Return the option --random-state, which can also be given as --seed."""
    return click.option("--random-state", "--seed", type=click.IntRange(0), default=0, metavar="N", help=help)


def delta_option(result: str) -> OptionDecorator:
    """Return the option --delta, the failure probability of a result; the help calls it `result`."""
    return click.option("--delta", type=FRACTION, default=0.05, help=f"Allowed failure probability of the {result}.")


repeats_option = choice_option(
    "--repeats", names=("errors", "independent"),
    help="Rows that occur twice count as errors in the certificate if they may be copies, or are independent draws.",
)  # fmt: skip


def set_option(function: str) -> OptionDecorator:
    """Return the option --set for parameters of what another option selects; the help calls it `function`."""
    return click.option(
        "--set", "parameters", multiple=True, metavar="NAME=VALUE", help=f"Parameter of the {function}."
    )


model_argument = click.argument("model", metavar="MODEL")
files_argument = click.argument("data", metavar="DATA...", nargs=-1, required=True)
rows_argument = click.argument("data", metavar="DATA", required=False)
target_option = click.option("--target", required=True, metavar="COL", help="Target column.")
target_error_option = click.option(
    "--certified-error", "--target-error", "target_error", type=FRACTION, metavar="X",
    help="Choose the smallest tree certified to err at most X; exit with status 1 if there is none.",
)  # fmt: skip
max_error_option = click.option(
    "--max-error", type=float, metavar="X", help="Exit with status 1 if the certified error is above X."
)


def _parse_target_range(_context: click.Context, option: click.Parameter, text: str | None) -> list[float] | None:
    """Return the two numbers of a text of the form LOW,HIGH."""
    if text is None:
        return None
    ends = text.split(",")
    if len(ends) != 2:
        raise click.UsageError(f"{option.opts[0]} {text}: LOW,HIGH is needed, such as 0,100")
    return [parse_number(option.opts[0], text, end) for end in ends]


stated_range_options = combine_options(
    click.option(
        "--max-residual", type=float, metavar="X",
        help="Largest possible difference between a target and its prediction, in place of --target-range.",
    ),
    click.option(
        "--target-range", metavar="LOW,HIGH", callback=_parse_target_range,
        help="Least and largest possible target. A certificate of numbers needs one, stated without looking at them.",
    ),
)  # fmt: skip
n_jobs_option = click.option(
    "--n-jobs", type=int, default=-1, show_default=False, metavar="N", help="Number of threads; all cores by default."
)
write_options = combine_options(
    click.option("--force", is_flag=True, help="Overwrite an existing file."),
    click.option("--output", "-o", type=PathText(dir_okay=False), help="Write to this file."),
)
write_model_options = combine_options(
    click.option(
        "--sketch/--no-sketch", default=True, show_default=False,
        help="Whether to store hashes of the rows used, so that certificates can recognise fresh rows, and for numbers "
        "the targets of held-out rows.",
    ),
    write_options,
)  # fmt: skip
output_options = combine_options(
    click.option("--quiet", "-q", is_flag=True, help="Suppress messages."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON: one document, or one line per prediction."),
)


class NestedTooDeeplyError(ValueError):
    """Text of JSON or TOML with more levels of lists or tables than Python reads."""

    def __init__(self) -> None:
        super().__init__("lists or tables are nested too deeply; a few levels are enough for every option")


def parse_json(text: str) -> Any:
    """Return the value of a JSON text; raise ValueError if it is not valid, or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise NestedTooDeeplyError from error


def parse_parameters(texts: Sequence[str]) -> Options:
    """Return texts of the form NAME=VALUE as a dictionary; a value is JSON, or else a string."""
    parameters: Options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"--set {text}: NAME=VALUE is needed")
        try:
            parameters[name.replace("-", "_")] = parse_json(value)
        except NestedTooDeeplyError as error:
            raise click.UsageError(f"--set {show(text)}: {error}") from error
        except ValueError:  # also for a whole number of more digits than Python reads
            parameters[name.replace("-", "_")] = value
    return parameters


def parse_number(flag: str, text: str, number: str) -> float:
    """Return the number in the value `text` of an option, or raise a usage error."""
    try:
        return float(number)
    except ValueError as error:
        raise click.UsageError(f"{flag} {text}: {show(number)} is not a number") from error


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
            raise click.UsageError(f"{path}: {show(name)} is not an option of {context.info_name}{hint}")
        option = options[key]
        is_repeatable = getattr(option, "multiple", False)
        if isinstance(value, list | dict) and not is_repeatable:
            raise click.UsageError(f"{path}: {name} is {show(value)}; one value is needed")
        defaults[str(option.name)] = _as_list(value) if is_repeatable else value
    context.default_map = {**(context.default_map or {}), **defaults}


def _as_list(value: object) -> list[Any]:
    """Return the values of a repeatable option; those of a table are NAME=VALUE, as for --set and --class-weight."""
    if isinstance(value, dict):
        return [f"{name}={item if isinstance(item, str) else json.dumps(item)}" for name, item in value.items()]
    return value if isinstance(value, list) else [value]


def _read_config_text(path: str) -> str:
    """Return the text of the file of --config; refuse text whose parser would need too much memory."""
    with Path(path).open("rb") as file:
        data = file.read(MAX_CONFIG_BYTES + 1)
    if len(data) > MAX_CONFIG_BYTES:
        raise click.UsageError(f"--config {path} is too long; at most {MAX_CONFIG_BYTES:,} bytes are read")
    text = data.decode()
    # The memory for a key such as a.b.c is quadratic in the number of its parts.
    if any(line.count(".") > MAX_DOTS_PER_LINE for line in text.splitlines()):
        raise NestedTooDeeplyError
    return text


def _read_config(path: str) -> Options:
    """Return the names and values in a TOML or JSON file."""
    import tomllib

    try:
        text = _read_config_text(path)
        config = parse_json(text) if path.lower().endswith(".json") else tomllib.loads(text)
    except OSError as error:
        raise click.UsageError(f"--config {path} cannot be read ({error.strerror})") from error
    except (NestedTooDeeplyError, RecursionError) as error:
        raise click.UsageError(f"--config {path}: {NestedTooDeeplyError()}") from error
    except ValueError as error:
        raise click.UsageError(f"--config {path} is neither TOML nor JSON ({error})") from error
    if not isinstance(config, dict):
        raise click.UsageError(f"--config {path}: it must contain names and values of options")
    return config


def check_output_path(path: str | None, *, force: bool, is_file: bool = False) -> None:
    """Refuse, before any work is done, an output file that exists.

    Parameters
    ----------
    path : str or None
        The value of --output; "-" is standard output.
    force : bool
        Whether an existing file may be replaced.
    is_file : bool
        Whether the output must be a file, so that "-" is refused.
    """
    if path == "-" and is_file:
        raise click.UsageError("--output needs the name of a file here, not -")
    if path not in (None, "-") and not force and Path(path).exists():
        raise click.UsageError(f"{path} exists; use --force to overwrite it")


def write_model(model: "Model", options: Options, result: Options, text: "Iterable[RenderableType]") -> None:
    """Write a model to the file of --output, if there is one, and print the result.

    If --output is "-", the model is written to standard output and nothing else is printed there.
    """
    from ..modelfile import dumps_model, save_model

    path, sketch = options["output"], options["sketch"]
    if path == "-":
        sys.stdout.buffer.write(dumps_model(model, sketch=sketch))
    elif path:
        save_model(model, path, sketch=sketch)
    if path:
        print_message(f"written to {path}", quiet=options["quiet"])
    if path != "-":
        print_result(options, result, text)


def write_fitted_model(model: "Model", options: Options) -> None:
    """Write a model to the file of --output, if there is one, and print a summary of the model."""
    from ..inspection import Summary

    result = Summary(model).to_dict() if options["as_json"] else {}
    write_model(model, options, result, describe_model(model))


def describe_model(model: "Model") -> Iterator["RenderableType"]:
    """Yield the parts of a description: size, errors, certificate and, if it is small, the tree."""
    from ..inspection import measurement_table
    from ..inspection.text import export_text

    tree = export_text(model.tree, model.grown, pruning=model.pruning)
    growing = {} if model.selection is None else model.selection.growing
    chosen = [f"{name} {growing[name]}" for name in growing if name in ("criterion", "min_samples_leaf")]
    rule = model.pruning.rule.split(" (")[0]
    size = f"{model.pruning.n_leaves} of {model.tree.n_leaves} leaves kept by {rule}"
    yield f"{size} ({', '.join(chosen)})" if chosen else size
    yield make_table(*measurement_table(model))
    if model.certificate is not None:
        yield str(model.certificate)
    if tree.count("\n") < MAX_TREE_LINES:
        yield tree
    else:
        yield "(`secateur show` prints the tree, `secateur report` writes an HTML page)"


def print_result(options: Options, result: Options, text: "Iterable[RenderableType]") -> None:
    """Print a result on standard output: `result` as JSON with --json, otherwise the parts of `text`."""
    if options["as_json"]:
        click.echo(to_json({"version": JSON_VERSION, **result}))
        return
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty(), emoji=False, markup=False)
    for part in text:
        console.print(escape_unprintable(part) if isinstance(part, str) else part)


def make_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, n_left: int = 1, left: Sequence[int] | None = None
) -> "RenderableType":
    """Return a table to print.

    The columns at the positions `left`, by default the first `n_left`, are aligned left, the others right.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)
    for i, name in enumerate(head):
        head_cell = Text(escape_unprintable(name))
        is_left = i < n_left if left is None else i in left
        table.add_column(head_cell, justify="left" if is_left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(escape_unprintable(cell)) for cell in row))
    return table


def to_json(document: object) -> str:
    """Return a document as one line of JSON; characters that could act on a terminal are escaped."""
    text = json.dumps(document, default=_to_plain, allow_nan=False, ensure_ascii=False)
    return _UNSAFE_CHARACTER.sub(_escape_in_json, text)


def _escape_in_json(match: re.Match[str]) -> str:
    character = match[0]
    return character if escape_unprintable(character) == character else json.dumps(character)[1:-1]


def _to_plain(value: object) -> object:
    """Return a NumPy value as a plain one."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise ParameterError(f"{type(value).__name__} cannot be written as JSON")


def check_certified(model: "Model", options: Options) -> int:
    """Return exit status 1 if a tree certified below --certified-error was requested and not found, otherwise 0.

    --max-gap is such a request, too.
    """
    bound = model.certificate
    wanted = {"--certified-error": options["target_error"], "--max-gap": options.get("max_gap")}
    requests = [f"{flag} {value:g}" for flag, value in wanted.items() if value is not None]
    if not requests or (bound is not None and bound.certified):
        return 0
    reason = "" if bound is None else f": {bound.reason}"
    print_message(f"not met: {', '.join(requests)}{reason}", quiet=options["quiet"])
    return 1


def check_max_error(options: Options, values: "Iterable[tuple[str, float]]", flag: str = "--max-error ") -> int:
    """Return exit status 1 if one of the named `values` is above --max-error, otherwise 0.

    Parameters
    ----------
    options : dict
        Options of the command, with "max_error" and "quiet".
    values : iterable of (str, float)
        Names of the values, for the message, and the values.
    flag : str
        Text before the limit in the message.
    """
    limit = options["max_error"]
    if limit is None:
        return 0
    exceeding = [f"{name} is {value:.4g}" for name, value in values if value > limit]
    for text in exceeding:
        print_message(f"not met: {text}, above {flag}{limit:g}", quiet=options["quiet"])
    return 1 if exceeding else 0
