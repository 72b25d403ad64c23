"""secateur export: the tree in another format."""

import sys
from pathlib import Path

import click

from ..data.output import write_file
from ..exports import EXPORTS
from . import _common as common

ENDINGS = {ending: name for name, facts in EXPORTS.items() for ending in facts.endings}


@click.command(
    epilog="""\b
Example:
  secateur export tree.json --to sql --set table=patients > tree.sql"""
)
@click.argument("model", metavar="MODEL")
@common.names_option("--to", "language", names=list(EXPORTS), help="Format; by default that of --output.")
@click.option("--dialect", metavar="NAME", help="Dialect of SQL: ansi, duckdb, sqlite or postgres.")
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="Parameter of the export.")
@common.write_options
@common.output_options
def export(
    model: str,
    language: str | None,
    dialect: str | None,
    parameters: tuple[str, ...],
    output: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Export the tree in MODEL to another format.

    Code in SQL, Python, C or ONNX predicts exactly what the tree predicts.
    """
    from .. import exports

    language = language or ENDINGS.get(Path(output or "").suffix)
    if language is None:
        raise click.UsageError(f"--to is needed: one of {', '.join(EXPORTS)}")
    common.check_output(output, force=force)
    given = common.parameters_of(parameters) | ({} if dialect is None else {"dialect": dialect})
    result = exports.export(common.load(model), to=language, **given)
    is_binary = EXPORTS[language].is_binary
    data: bytes = result.SerializeToString() if is_binary else result.encode()
    if output and output != "-":
        write_file(output, data, overwrite=force)
        common.talk(f"written to {output}", quiet=quiet)
        return 0
    if is_binary and (as_json or sys.stdout.isatty()):
        raise click.UsageError(f"--to {language} is binary; give --output FILE")
    if as_json:
        common.show({"to": language, "text": result}, as_json=True, text=print)
        return 0
    sys.stdout.buffer.write(data if is_binary or data.endswith(b"\n") else data + b"\n")
    return 0
