"""secateur export: the tree in another language."""

import sys
from typing import Any

import click

from ..data.output import write_file
from . import _common as common

LANGUAGES = ("text", "rules", "dot", "mermaid", "sql", "python", "c", "onnx")


@click.command(
    epilog="""\b
Example:
  secateur export tree.json --to sql --set table=patients > tree.sql"""
)
@click.argument("model", metavar="MODEL")
@click.option("--to", "language", type=click.Choice(LANGUAGES), required=True)
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="Parameter of the export.")
@common.write_options
@common.output_options
def export(
    model: str, language: str, parameters: tuple[str, ...], output: str | None, force: bool, as_json: bool, quiet: bool
) -> int:
    """Write the tree in MODEL as something else that predicts exactly alike."""
    from .. import exports
    from ..show import text

    common.check_output(output, force=force)
    found: Any = common.load(model)
    more = common.parameters_of(parameters)
    result: Any
    if language in ("text", "rules"):
        function = text.export_text if language == "text" else text.export_rules
        result = function(found.tree, found.grown, pruning=found.pruning, **more)
    else:
        result = exports.export(found, to=language, **more)
    data = result.encode() if isinstance(result, str) else result.SerializeToString()
    if output and output != "-":
        write_file(output, data, overwrite=force)
        common.talk(f"written to {output}", quiet=quiet)
        return 0
    if as_json and isinstance(result, str):
        common.show({"to": language, "text": result}, as_json=True, text=print)
        return 0
    if not isinstance(result, str) and (as_json or sys.stdout.isatty()):
        raise click.UsageError(f"--to {language} is binary; give --output FILE")
    sys.stdout.buffer.write(data if not isinstance(result, str) or result.endswith("\n") else data + b"\n")
    return 0
