"""What the commands share: options, reading data, messages, and writing results."""

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import DataError, ParameterError

if TYPE_CHECKING:
    from ..data.sources import Batch
    from ..data.table import Schema, Table
    from ..nouns.model import Model

JSON_VERSION = 1


def names_option(flag: str, *more: str, names: Sequence[str], help: str, **how: Any) -> Callable[[Any], Any]:  # noqa: A002 as click has it
    """An option that takes one of many names, which its help lists."""
    listed = f"{help} One of: {', '.join(names)}."
    return click.option(flag, *more, type=click.Choice(names), metavar="NAME", help=listed, **how)


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json and --quiet."""
    function = click.option("--quiet", "-q", is_flag=True, help="Suppress messages.")(function)
    return click.option("--json", "as_json", is_flag=True, help="Print the result as a JSON document.")(function)


def data_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a data file is read."""
    for option in (
        click.option("--nominal", multiple=True, metavar="COL", help="Read this column of numbers as categories."),
        click.option("--numeric", multiple=True, metavar="COL", help="Read this column of text as numbers."),
        click.option("--ignore", multiple=True, metavar="COL", help="Ignore this column."),
        click.option("--sample-weight", metavar="COL", help="Column of row weights."),
        click.option(
            "--delimiter", metavar="CHAR", help="Delimiter of a CSV file; detected from its first line by default."
        ),
        click.option(
            "--na",
            multiple=True,
            metavar="TEXT",
            help="Treat cells with this text as missing; by default, empty cells.",
        ),
        click.option(
            "--header/--no-header", default=True, help="Whether the first line of a CSV file contains column names."
        ),
    ):
        function = option(function)
    return function


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


class Reading:
    """How data files are read: the values of `data_options`."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.nominal, self.numeric, self.ignore = options["nominal"], options["numeric"], options["ignore"]
        self.weight, self.delimiter, self.na = options["sample_weight"], options["delimiter"], options["na"] or ("",)
        self.header = options["header"]

    def read(
        self, path: str, *, target: str | None, schema: "Schema | None" = None, kind: str | None = None
    ) -> tuple["Table", Any]:
        """Return the table in a file, and its row weights; notes of the reader go to standard error."""
        from ..data.columns import values_of
        from ..data.encoding import encode
        from ..data.names import nearest

        with local_file(path) as file, told():
            rows = self._rows(file, () if schema is None else schema.text)
            asked = [
                ("--target", target),
                ("--sample-weight", self.weight),
                *(("--ignore", name) for name in self.ignore),
            ]
            for what, name in asked:
                if name is not None and name not in rows.names:
                    near = nearest(name, rows.names) or f"; its columns are {', '.join(map(repr, rows.names[:20]))}"
                    raise DataError(f"{path} has no column {name!r} ({what}){near}")
            weights = None if self.weight is None else values_of(rows.read(self.weight))
            left_out = {self.weight, *self.ignore}
            table = encode(
                rows.select([j for j, name in enumerate(rows.names) if name not in left_out]),
                target=target,
                target_kind=kind,  # type: ignore[arg-type]
                nominal=list(self.nominal) or None,
                numeric=list(self.numeric) or None,
                schema=schema,
                strict=False,
                sample_weight=weights,
            )
        return table, weights

    def _rows(self, file: str, text: Sequence[str]) -> "Batch":
        from ..data.files import csv_head
        from ..data.sources import open_source

        names = None if self.header else csv_head(file, self.delimiter, has_header=False)[0]
        return open_source(file, names=names, delimiter=self.delimiter, na=self.na, text=text)


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
        document = json.dumps({"version": JSON_VERSION, **result}, default=_plain, allow_nan=False, ensure_ascii=False)
        click.echo(document)
    else:
        text(console())


def console() -> Any:
    """A console on standard output, no wider than the terminal."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=not sys.stdout.isatty(), emoji=False, markup=False)


def grid(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> Any:
    """A table to print; the first `left` columns hold words, the others numbers."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    table = Grid(box=box.SIMPLE, show_edge=False, pad_edge=False)
    for i, name in enumerate(head):
        table.add_column(Text(name), justify="left" if i < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def talk(message: str, *, quiet: bool = False) -> None:
    """Print a message on standard error."""
    if not quiet:
        click.echo(message, err=True)


@contextmanager
def told() -> Iterator[None]:
    """Turn warnings of the library into notes on standard error, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        talk(f"note: {message}")


@contextmanager
def local_file(path: str, ending: str | None = None) -> Iterator[str]:
    """A path to read; `-` is standard input, kept in a file for the while."""
    if path != "-":
        yield path
        return
    data = sys.stdin.buffer.read()
    if not data:
        raise DataError("standard input is empty")
    suffix = ending or (".parquet" if data[:4] == b"PAR1" else ".csv.gz" if data[:2] == b"\x1f\x8b" else ".csv")
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
