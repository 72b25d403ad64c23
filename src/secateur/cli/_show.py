"""The commands `secateur show`, `report` and `export`: print a tree, write it as an HTML page, or export it."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.output import write_file
from ..errors import escape_unprintable
from ..exports import EXPORTS
from ._command import (
    Options,
    PathText,
    check_output_path,
    command,
    int_option,
    model_argument,
    name_option,
    output_options,
    parse_parameters,
    print_message,
    print_result,
    set_option,
    write_options,
)
from ._input import (
    held_out_counts,
    held_out_options,
    input_output_options,
    load_model_file,
    model_command,
    read_table,
    target_name,
)

if TYPE_CHECKING:
    from ..core import Model

FORMAT_OF_SUFFIX = {suffix: name for name, export in EXPORTS.items() for suffix in export.endings}


@model_command("secateur show tree.json --rules")
@click.option("--rules", is_flag=True, help="Show one rule per leaf.")
@int_option("--max-depth", 0, help="Omit nodes below this depth.")
@int_option("--decimals", 0, help="Decimals of numbers; by default as few as needed.")
@click.option("--weights", is_flag=True, help="Show the weight of each class instead of rows and errors.")
@click.option("--node-ids", is_flag=True, help="Show node numbers; those in brackets are for prune --at.")
@click.option("--grown", is_flag=True, help="Show the unpruned tree.")
@output_options
def show(model: "Model", **options: Any) -> None:
    """Show a summary of the tree in the file MODEL and the tree as text.

    --rules, --max-depth, --weights, --node-ids and --grown omit the summary.
    """
    from ..inspection import summary
    from ..inspection.text import export_rules, export_text

    max_depth = options["max_depth"]
    settings = {
        "decimals": options["decimals"],
        "node_ids": options["node_ids"],
        "pruning": None if options["grown"] else model.pruning,
    }
    if options["as_json"]:
        print_result(options, summary(model).to_dict(), [])
        return
    if options["rules"]:
        click.echo(export_rules(model.tree, model.grown, **settings))
        return
    is_detailed = options["grown"] or options["weights"] or options["node_ids"] or max_depth is not None
    if not is_detailed:
        click.echo(escape_unprintable(f"{summary(model)}\n"))
    text = export_text(model.tree, model.grown, max_depth=max_depth, show_weights=options["weights"], **settings)
    click.echo(text)


@command(
    "secateur report tree.json -o tree.html",
    "secateur report tree.json --holdout newer.csv --data patients.csv",
    "secateur report tree.json --card card.md --owner 'Credit risk'",
)
@model_argument
@held_out_options
@click.option("--fit-date", metavar="DATE", help="When the model was fitted, for --card.")
@click.option("--date", metavar="DATE", help="When the file of --card is written; today by default.")
@click.option("--owner", metavar="TEXT", help="Who answers for the model, for --card.")
@click.option("--purpose", metavar="TEXT", help="What the model is for, for --card.")
@click.option("--monitor", metavar="STATE", help="State file of `secateur monitor`, to show its results.")
@click.option(
    "--card", type=PathText(dir_okay=False), metavar="FILE",
    help="Write all that is known about the model to this file (.md, .html or .json), and no page without --output.",
)  # fmt: skip
@click.option("--title", metavar="TEXT", help="Title of the page.")
@click.option(
    "--data",
    metavar="DATA",
    help="Rows that grew the tree, to show the distribution of each tested column. Only sums of the rows are written.",
)
@write_options
@input_output_options
def report(model: str, **options: Any) -> None:
    """Write an interactive HTML report of the tree in MODEL.

    The page is one file and works offline. With --card, write an audit file
    instead: purpose, owner, data files with their hashes, columns, parameters,
    errors, certificate, monitoring, and what was not checked.
    """
    from ..report import write_report

    card, output = options["card"], options["output"]
    output = output or (None if card else "report.html")
    _check_card_options(options)
    for path in filter(None, (card, output)):
        check_output_path(path, force=options["force"], is_file=True)
    loaded = load_model_file(model)
    holdout = held_out_counts(loaded, options)
    if holdout is not None:
        loaded = replace(loaded, holdout=holdout, group_rates=())
    table = None
    if options["data"]:
        target = target_name(loaded, options)
        table, *_ = read_table(options, options["data"], target=target, schema=loaded.tree.schema)
    outputs = {"card": _write_card(loaded, model, options)} if card else {}
    if output:
        write_report(loaded, output, title=options["title"], data=table, monitor=options["monitor"])
        outputs["output"] = output
    print_result(options, outputs, list(outputs.values()))


def _check_card_options(options: Options) -> None:
    """Refuse options of --card without it, and a file of no known format, before any work is done."""
    from ..report import Governance

    if options["card"]:
        Governance.check_path(options["card"])
        return
    for name in ("purpose", "owner", "date", "fit_date"):
        if options[name] is not None:
            raise click.UsageError(f"--{name.replace('_', '-')} goes with --card FILE, which is not given")


def _write_card(model: "Model", path: str, options: Options) -> str:
    """Write the file of --card, and return its name."""
    from ..report import governance

    file = governance(
        model, data=options["data"], model_file=None if path == "-" else path,
        **{name: options[name] for name in ("purpose", "owner", "date", "fit_date", "title", "monitor")},
    )  # fmt: skip
    file.save(options["card"], overwrite=options["force"])
    return str(options["card"])


@command("secateur export tree.json --to sql --set table=patients > tree.sql")
@model_argument
@name_option("--to", "format_name", names=list(EXPORTS), help="Format; by default that of --output.")
@click.option("--dialect", metavar="NAME", help="Dialect of SQL: ansi, duckdb, sqlite or postgres.")
@set_option("export")
@write_options
@output_options
def export(model: str, **options: Any) -> None:
    """Export the tree in MODEL to another format.

    Exported code and models predict exactly what the tree predicts.
    """
    from .. import exports

    output = options["output"]
    format_name = options["format_name"] or FORMAT_OF_SUFFIX.get(Path(output or "").suffix)
    if format_name is None:
        raise click.UsageError(f"--to is needed: one of {', '.join(EXPORTS)}")
    check_output_path(output, force=options["force"])
    parameters = parse_parameters(options["parameters"])
    if options["dialect"] is not None:
        parameters["dialect"] = options["dialect"]
    result = exports.export(load_model_file(model), to=format_name, **parameters)
    is_binary = EXPORTS[format_name].is_binary
    data: bytes = result.SerializeToString() if is_binary else result.encode()
    if output and output != "-":
        write_file(output, data, overwrite=options["force"])
        print_message(f"written to {output}", quiet=options["quiet"])
    elif is_binary and (options["as_json"] or sys.stdout.isatty()):
        raise click.UsageError(f"--to {format_name} is binary; give --output FILE")
    elif options["as_json"]:
        print_result(options, {"to": format_name, "text": result}, [])
    else:
        sys.stdout.buffer.write(data if is_binary or data.endswith(b"\n") else data + b"\n")
