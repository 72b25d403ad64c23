"""Declare commands, word the messages of the library for the command line, and write results as text or JSON."""

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
)
from ._options import Options

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..core import Model

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
    return " ".join(f"{flag} {value!r}" for value in values)


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
    from ..inspection import errors
    from ..inspection.text import export_text
    from ..inspection.wording import error_text

    growing = {} if model.selection is None else model.selection.growing
    chosen = [f"{name} {growing[name]}" for name in growing if name in ("criterion", "min_samples_leaf")]
    rule = model.pruning.rule.split(" (")[0]
    size = f"{model.pruning.n_leaves} of {model.tree.n_leaves} leaves kept by {rule}"
    yield f"{size} ({', '.join(chosen)})" if chosen else size
    rows = []
    for sample, error in errors(model).items():
        rows.append([sample, error_text(error, is_share=model.is_classifier)])
    yield make_table(["measured by", "error" if model.is_classifier else "mean squared error"], rows)
    if model.certificate is not None:
        yield str(model.certificate)
    tree = export_text(model.tree, model.grown, pruning=model.pruning)
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


def make_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, n_left: int = 1) -> "RenderableType":
    """Return a table to print; the first `n_left` columns are aligned left, the others right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)
    for i, name in enumerate(head):
        head_cell = Text(escape_unprintable(name))
        table.add_column(head_cell, justify="left" if i < n_left else "right", overflow="fold")
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
