"""Write models and print results: as text, or as JSON."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import ParameterError, escape_unprintable
from ._command import print_message
from ._options import Options

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..core import Model

JSON_VERSION = 1
MAX_TREE_LINES = 60  # a longer tree is printed only by `secateur show`
_UNSAFE_CHARACTER = re.compile(r"[^ -~]")


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
