"""What the commands share: options, reading data, messages, and writing results."""

import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from .._utils.checks import did_you_mean
from ..errors import DataError, ParameterError, escape_unprintable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..core import Model

Function: TypeAlias = Callable[..., Any]
Option: TypeAlias = Callable[[Function], Function]  # what adds options to a command
Options: TypeAlias = dict[str, Any]  # the values of all options, by name

JSON_VERSION = 1
MOST_LINES = 60  # of a tree that is shown without being asked for
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
_OPTIONS = (
    (r"\b(numeric|nominal)=\[('[^']*'|\"[^\"]*\")\]", r"--\1 \2"),
    (r"\bpass names= if the file has no line of names", "give --no-header if the file has no line of names"),
    (r"\bmissing_target=", "--missing-target "),
    (r"\bsample_weight\b", "--sample-weight"),
    (r"\b(numeric|nominal|na|encoding|decimal|dates|delimiter|target|weight|engine|criterion|select)=", r"--\1 "),
    (r"--(\w+) (?=[\s;,)]|$)", r"--\1"),
    (r"use TreeRegressor for", "use --task regress for"),
    (r"use a criterion for classes \(TreeClassifier\)", "use --task classify"),
)


def command(*examples: str) -> Callable[[Callable[..., int | None]], click.Command]:
    """A command whose help ends with examples of it, and shows what options are by default."""
    epilog = "\n".join(["\b", "Example:", *(f"  {example}" for example in examples)])
    return click.command(epilog=epilog, context_settings={"show_default": True})


def model_command(*examples: str) -> Callable[[Callable[..., int | None]], click.Command]:
    """A command on the model in a file, which is loaded when its output is known to be free."""

    def of(function: Callable[..., int | None]) -> click.Command:
        @wraps(function)
        def run(model: str, **options: Any) -> int | None:
            check_output(options.get("output"), force=options.get("force", False))
            return function(load(model), **options)

        return command(*examples)(model_argument(run))

    return of


def together(*options: Option) -> Option:
    """Several options as one; the help lists the last first."""

    def add(function: Function) -> Function:
        for option in options:
            function = option(function)
        return function

    return add


class Choice(click.Choice):  # type: ignore[type-arg] # click 8.1 has no type argument
    """One of some names; the refusal of another word ends with the nearest name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            message = error.message.rstrip(".") + did_you_mean(value, self.choices)
            raise click.BadParameter(message, ctx, param) from None


def names_option(*flags: str, names: Sequence[str], help: str, **how: Any) -> Option:  # noqa: A002 as click has it
    """An option that takes one of many names, which its help lists."""
    return click.option(*flags, type=Choice(names), metavar="NAME", help=f"{help} One of: {', '.join(names)}.", **how)


def choice_option(*flags: str, names: Sequence[str], help: str, default: str | None = None) -> Option:  # noqa: A002 as click has it
    """An option that takes one of a few names, by default the first."""
    return click.option(*flags, type=Choice(names), default=default or names[0], help=help)


def whole_option(flag: str, least: int, *, metavar: str | None = "N", **how: Any) -> Option:
    """An option that takes a whole number, at least this one."""
    return click.option(flag, type=click.IntRange(least), metavar=metavar, **how)


def random_state_option(help: str) -> Option:  # noqa: A002 as click has it
    """The option --random-state; people type --seed, so that is a name of it too."""
    return click.option("--random-state", "--seed", type=click.IntRange(0), default=0, metavar="N", help=help)


def delta_option(what: str) -> Option:
    """The option --delta of what may fail."""
    return click.option("--delta", type=SHARE, default=0.05, help=f"Allowed failure probability of the {what}.")


def set_option(what: str) -> Option:
    """The option --set, for parameters of a function that another option names."""
    return click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help=f"Parameter of the {what}.")


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
write_options = together(
    click.option("--force", is_flag=True, help="Overwrite an existing file."),
    click.option("--output", "-o", type=click.Path(dir_okay=False), help="Write to this file."),
)
write_model_options = together(
    click.option(
        "--sketch/--no-sketch", default=True, show_default=False,
        help="Whether to store hashes of the rows used, so that certificates can recognise fresh rows.",
    ),
    write_options,
)  # fmt: skip
output_options = together(
    click.option("--quiet", "-q", is_flag=True, help="Suppress messages."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON: one document, or one line per prediction."),
)


def check_output(path: str | None, *, force: bool, is_file: bool = False) -> None:
    """Refuse to overwrite a file, before any work is done; and `-`, standard output, where it must be a file."""
    if path == "-" and is_file:
        raise click.UsageError("--output needs the name of a file here, not -")
    if path not in (None, "-") and not force and Path(path).exists():
        raise click.UsageError(f"{path} exists; use --force to overwrite it")


def parameters_of(options: Sequence[str]) -> Options:
    """NAME=VALUE pairs as a dict; a value is a number, true, false, null, or text."""
    found: Options = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise click.UsageError(f"--set {option}: NAME=VALUE is needed")
        try:
            found[name.replace("-", "_")] = json.loads(value)
        except json.JSONDecodeError:
            found[name.replace("-", "_")] = value
    return found


def load(path: str) -> "Model":
    """Return the model in a file."""
    from ..modelfile import load_model

    with local_file(path, ".json") as file:
        return load_model(file)


def deliver(model: "Model", options: Options, result: Options, text: "Iterable[RenderableType]") -> None:
    """Write a model to --output, if it is given, and show the result; `-` is standard output, for the model alone."""
    from ..modelfile import dumps_model, save_model

    path, sketch = options["output"], options["sketch"]
    if path == "-":
        sys.stdout.buffer.write(dumps_model(model, sketch=sketch))
    elif path:
        save_model(model, path, sketch=sketch)
    if path:
        talk(f"written to {path}", quiet=options["quiet"])
    if path != "-":
        show(options, result, text)


def deliver_fitted(model: "Model", options: Options) -> None:
    """Write a model to --output, if it is given, and show a summary of it."""
    from ..inspection import Summary

    deliver(model, options, Summary(model).to_dict(), printed(model))


def printed(model: "Model") -> Iterator["RenderableType"]:
    """Size, errors, certificate and, if it is small, the tree."""
    from ..inspection import errors
    from ..inspection.text import export_text
    from ..inspection.wording import error_text

    what = "error" if model.is_classifier else "mean squared error"
    pool = model.selection.growing if model.selection is not None else {}
    grown = ", ".join(f"{name} {value}" for name, value in pool.items() if name in ("criterion", "min_samples_leaf"))
    yield (
        f"{model.pruning.n_leaves} of {model.tree.n_leaves} leaves kept by {model.pruning.rule.split(' (')[0]}"
        + (f" ({grown})" if grown else "")
    )
    rows = [[where, error_text(value, is_share=model.is_classifier)] for where, value in errors(model).items()]
    yield grid(["measured by", what], rows)
    if model.certificate is not None:
        yield str(model.certificate)
    text = export_text(model.tree, model.grown, pruning=model.pruning)
    is_short = text.count("\n") < MOST_LINES
    yield text if is_short else "(`secateur show` prints the tree, `secateur report` writes an HTML page)"


def show(options: Options, result: Options, text: "Iterable[RenderableType]") -> None:
    """Write a result to standard output: as JSON, or as text."""
    if options["as_json"]:
        click.echo(json_text({"version": JSON_VERSION, **result}))
        return
    from rich.console import Console

    out = Console(highlight=False, soft_wrap=not sys.stdout.isatty(), emoji=False, markup=False)
    for part in text:
        out.print(escape_unprintable(part) if isinstance(part, str) else part)  # text of files cannot act


def grid(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> "RenderableType":
    """A table to print; the first `left` columns hold words, the others numbers."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    table = Grid(box=box.SIMPLE, show_edge=False, pad_edge=False)
    for i, name in enumerate(head):
        table.add_column(Text(escape_unprintable(name)), justify="left" if i < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(escape_unprintable(cell)) for cell in row))
    return table


def talk(message: str, *, quiet: bool = False) -> None:
    """Print a message on standard error."""
    if not quiet:
        click.echo(escape_unprintable(message), err=True)


def json_text(document: object) -> str:
    """JSON on one line, readable in a terminal: what would act there is escaped."""
    text = json.dumps(document, default=_plain, allow_nan=False, ensure_ascii=False)
    return re.sub(
        r"[^ -~]", lambda one: one[0] if escape_unprintable(one[0]) == one[0] else json.dumps(one[0])[1:-1], text
    )


@contextmanager
def told() -> Iterator[None]:
    """Turn warnings of the library into notes on standard error, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        talk(f"note: {on_command_line(message)}")


def on_command_line(message: str) -> str:
    """A message of the library in terms of the command line: options in place of arguments.

    Examples
    --------
    >>> on_command_line("pass numeric=['size'], or use decimal=','")
    "pass --numeric 'size', or use --decimal ','"
    """
    for pattern, option in _OPTIONS:
        message = re.sub(pattern, option, message)
    return message


@contextmanager
def local_file(path: str | Sequence[str], ending: str | None = None) -> Iterator[Any]:
    """A path to read, or several; `-` is standard input, kept in a file for the while."""
    if not isinstance(path, str) and len(path) == 1:
        path = path[0]
    if path != "-":
        yield path if isinstance(path, str) else [Path(one) for one in path]
        return
    data = sys.stdin.buffer.read()
    if not data:
        raise DataError("standard input is empty")
    magic = {b"PAR1": ".parquet", b"\x1f\x8b\x08": ".txt.gz", b"PK\x03\x04": ".zip"}
    suffix = ending or next((end for start, end in magic.items() if data.startswith(start)), ".txt")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"standard-input{suffix}")
        file.write_bytes(data)
        yield os.fspath(file)


def _plain(value: object) -> object:
    """NumPy values as plain ones."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise ParameterError(f"{type(value).__name__} cannot be written as JSON")


def gate(options: Options, measured: "Iterable[tuple[str, float]]", limit: str = "--max-error ") -> int:
    """The exit status for what must not exceed --max-error, and its value."""
    most = options["max_error"]
    missed = [f"{what} is {value:.4g}" for what, value in measured if most is not None and value > most]
    for one in missed:
        talk(f"not met: {one}, above {limit}{most:g}", quiet=options["quiet"])
    return 1 if missed else 0
