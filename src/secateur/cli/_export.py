"""secateur export: the tree in another language."""

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
@click.option("--to", "language", type=click.Choice(list(EXPORTS)), help="By default what the ending of --output says.")
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="Parameter of the export.")
@common.write_options
@common.output_options
def export(
    model: str,
    language: str | None,
    parameters: tuple[str, ...],
    output: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Write the tree in MODEL as something else that predicts exactly alike."""
    from .. import exports

    language = language or ENDINGS.get(Path(output or "").suffix)
    if language is None:
        raise click.UsageError(f"--to is needed: one of {', '.join(EXPORTS)}")
    common.check_output(output, force=force)
    result = exports.export(common.load(model), to=language, **common.parameters_of(parameters))
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
