"""secateur show, report and export: a tree as text, as a page, and in other formats."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.output import write_file
from ..errors import escape_unprintable
from ..exports import EXPORTS
from . import _common as common
from ._rows import held_out_counts, held_out_options, input_output_options, read, target_of

if TYPE_CHECKING:
    from ..core import Model

ENDINGS = {ending: name for name, facts in EXPORTS.items() for ending in facts.endings}


@common.model_command("secateur show tree.json --rules")
@click.option("--rules", is_flag=True, help="Show one rule per leaf.")
@common.whole_option("--max-depth", 0, help="Omit nodes below this depth.")
@common.whole_option("--decimals", 0, help="Decimals of numbers; by default as few as needed.")
@click.option("--weights", is_flag=True, help="Show the weight of each class instead of rows and errors.")
@click.option("--node-ids", is_flag=True, help="Show node numbers; those in brackets are for prune --at.")
@click.option("--grown", is_flag=True, help="Show the unpruned tree.")
@common.output_options
def show(model: "Model", **options: Any) -> None:
    """Show a summary of the tree in the file MODEL and the tree as text.

    --rules, --max-depth, --weights, --node-ids and --grown omit the summary.
    """
    from ..inspection import summary
    from ..inspection.text import export_rules, export_text

    depth = options["max_depth"]
    how = {name: options[name] for name in ("decimals", "node_ids")}
    how["pruning"] = None if options["grown"] else model.pruning
    if options["as_json"]:
        common.show(options, summary(model).to_dict(), [])
    elif options["rules"]:
        click.echo(export_rules(model.tree, model.grown, **how))
    else:
        if not any(options[name] for name in ("grown", "weights", "node_ids")) and depth is None:
            click.echo(escape_unprintable(f"{summary(model)}\n"))
        click.echo(export_text(model.tree, model.grown, max_depth=depth, show_weights=options["weights"], **how))


@common.command(
    "secateur report tree.json -o tree.html", "secateur report tree.json --holdout newer.csv --data patients.csv"
)
@common.model_argument
@held_out_options
@click.option("--title", metavar="TEXT", help="Title of the page.")
@click.option(
    "--data",
    metavar="DATA",
    help="Rows that grew the tree, to show the distribution of each tested column. Only sums of them are written.",
)
@common.write_options
@input_output_options
def report(model: str, **options: Any) -> None:
    """Write an interactive HTML report of the tree in MODEL.

    The page is one file and works offline.
    """
    from ..report import write_report

    output = options["output"] or "report.html"
    common.check_output(output, force=options["force"], is_file=True)
    found = common.load(model)
    holdout = held_out_counts(found, options)
    if holdout is not None:
        found = replace(found, holdout=holdout)
    table = None
    if options["data"]:
        table, _ = read(options, options["data"], target=target_of(found, options), schema=found.tree.schema)
    write_report(found, output, title=options["title"], data=table)
    common.show(options, {"output": output}, [output])


@common.command("secateur export tree.json --to sql --set table=patients > tree.sql")
@common.model_argument
@common.names_option("--to", "language", names=list(EXPORTS), help="Format; by default that of --output.")
@click.option("--dialect", metavar="NAME", help="Dialect of SQL: ansi, duckdb, sqlite or postgres.")
@common.set_option("export")
@common.write_options
@common.output_options
def export(model: str, **options: Any) -> None:
    """Export the tree in MODEL to another format.

    Exported code and models predict exactly what the tree predicts.
    """
    from .. import exports

    output = options["output"]
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
    elif is_binary and (options["as_json"] or sys.stdout.isatty()):
        raise click.UsageError(f"--to {language} is binary; give --output FILE")
    elif options["as_json"]:
        common.show(options, {"to": language, "text": result}, [])
    else:
        sys.stdout.buffer.write(data if is_binary or data.endswith(b"\n") else data + b"\n")
