"""What the commands share: options, reading data, messages, and writing results."""

import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import DataError, ParameterError, printable

if TYPE_CHECKING:
    from ..nouns.model import Model

JSON_VERSION = 1
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


def names_option(flag: str, *more: str, names: Sequence[str], help: str, **how: Any) -> Callable[[Any], Any]:  # noqa: A002 as click has it
    """An option that takes one of many names, which its help lists."""
    listed = f"{help} One of: {', '.join(names)}."
    return click.option(flag, *more, type=click.Choice(names), metavar="NAME", help=listed, **how)


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json and --quiet."""
    function = click.option("--quiet", "-q", is_flag=True, help="Suppress messages.")(function)
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON: one document; of predictions, a line each."
    )(function)


def n_jobs_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --n-jobs."""
    return click.option("--n-jobs", type=int, default=-1, metavar="N", help="Number of threads; all cores by default.")(
        function
    )


def random_state_option(help: str) -> Callable[[Any], Any]:  # noqa: A002 as click has it
    """The option --random-state; people type --seed, so that is a name of it too."""
    return click.option(
        "--random-state", "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help=help
    )


def write_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --output and --force."""
    function = click.option("--force", is_flag=True, help="Overwrite an existing file.")(function)
    return click.option("--output", "-o", type=click.Path(dir_okay=False), help="Write to this file.")(function)


def sketch_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --sketch."""
    return click.option(
        "--sketch/--no-sketch", default=True,
        help="Whether to store hashes of the rows used, so that certificates can recognise fresh rows.",
    )(function)  # fmt: skip


def check_output(path: str | None, *, force: bool) -> None:
    """Refuse to overwrite a file, before any work is done."""
    if path is not None and not force and Path(path).exists():
        raise click.UsageError(f"{path} exists; use --force to overwrite it")


def parameters_of(options: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE pairs as a dict; a value is a number, true, false, null, or text."""
    found: dict[str, Any] = {}
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


def save(model: "Model", path: str, *, sketch: bool) -> None:
    """Write a model to a file; `-` is standard output."""
    from ..modelfile import dumps_model, save_model

    if path == "-":
        sys.stdout.buffer.write(dumps_model(model, sketch=sketch))
    else:
        save_model(model, path, sketch=sketch)


def target_of(model: "Model", target: str | None) -> str:
    """The name of the target column in new data."""
    name = target or model.facts.get("target")
    if not name:
        raise click.UsageError("--target is needed: the model file does not contain the name of the target column")
    return str(name)


def show(result: dict[str, Any], *, as_json: bool, text: Callable[[Any], None]) -> None:
    """Write a result: as JSON, or as text by a function of a console."""
    if as_json:
        click.echo(json_text({"version": JSON_VERSION, **result}))
    else:
        text(console())


def console() -> Any:
    """A console on standard output, no wider than the terminal."""
    from rich.console import Console

    class Plain(Console):
        """A console on which text of files cannot act."""

        def print(self, *objects: Any, **options: Any) -> None:
            super().print(*(printable(one) if isinstance(one, str) else one for one in objects), **options)

    return Plain(highlight=False, soft_wrap=not sys.stdout.isatty(), emoji=False, markup=False)


def grid(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> Any:
    """A table to print; the first `left` columns hold words, the others numbers."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    table = Grid(box=box.SIMPLE, show_edge=False, pad_edge=False)
    for i, name in enumerate(head):
        table.add_column(Text(printable(name)), justify="left" if i < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def talk(message: str, *, quiet: bool = False) -> None:
    """Print a message on standard error."""
    if not quiet:
        click.echo(printable(message), err=True)


def json_text(document: Any) -> str:
    """JSON on one line, readable in a terminal: what would act there is escaped."""
    text = json.dumps(document, default=_plain, allow_nan=False, ensure_ascii=False)
    return re.sub(r"[^ -~]", lambda found: _json_escape(found[0]), text)


def _json_escape(letter: str) -> str:
    return letter if printable(letter) == letter else json.dumps(letter)[1:-1]


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
        yield path if isinstance(path, str) else list(path)
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


def _plain(value: Any) -> Any:
    """NumPy values as plain ones."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise ParameterError(f"{type(value).__name__} cannot be written as JSON")


def gate(certificate: Any, max_error: float | None, *, quiet: bool) -> int:
    """The exit status for a certified error that must not exceed a limit."""
    if max_error is None or (certificate is not None and certificate.value <= max_error):
        return 0
    found = "there is no certificate" if certificate is None else f"the certified error is {certificate.value:.4g}"
    talk(f"not met: {found}, above --max-error {max_error:g}", quiet=quiet)
    return 1
