"""secateur export: the tree in another format."""

import sys
from pathlib import Path
from typing import Any

import click

from ..data.output import write_file
from ..exports import EXPORTS
from . import _common as common

ENDINGS = {ending: name for name, facts in EXPORTS.items() for ending in facts.endings}


@common.command("secateur export tree.json --to sql --set table=patients > tree.sql")
@common.model_argument
@common.names_option("--to", "language", names=list(EXPORTS), help="Format; by default that of --output.")
@click.option("--dialect", metavar="NAME", help="Dialect of SQL: ansi, duckdb, sqlite or postgres.")
@common.set_option("export")
@common.write_options
@common.output_options
def export(model: str, **options: Any) -> int:
    """Export the tree in MODEL to another format.

    Exported code and models predict exactly what the tree predicts.
    """
    from .. import exports

    output, as_json = options["output"], options["as_json"]
    language = options["language"] or ENDINGS.get(Path(output or "").suffix)
    if language is None:
        raise click.UsageError(f"--to is needed: one of {', '.join(EXPORTS)}")
    common.check_output(output, force=options["force"])
    given = common.parameters_of(options["parameters"])
    given |= {} if options["dialect"] is None else {"dialect": options["dialect"]}
    result = exports.export(common.load(model), to=language, **given)
    is_binary = EXPORTS[language].is_binary
    data: bytes = result.SerializeToString() if is_binary else result.encode()
    if output and output != "-":
        write_file(output, data, overwrite=options["force"])
        common.talk(f"written to {output}", quiet=options["quiet"])
        return 0
    if is_binary and (as_json or sys.stdout.isatty()):
        raise click.UsageError(f"--to {language} is binary; give --output FILE")
    if as_json:
        common.show(options, {"to": language, "text": result}, [])
        return 0
    sys.stdout.buffer.write(data if is_binary or data.endswith(b"\n") else data + b"\n")
    return 0
