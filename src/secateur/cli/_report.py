"""secateur report: an interactive HTML page of a tree."""

from typing import Any

import click

from . import _common as common
from ._held_out import held_out_counts, held_out_options
from ._reading import Reading, data_options


@common.command(
    "secateur report tree.json -o tree.html",
    "secateur report tree.json --holdout newer.csv --data patients.csv",
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
@data_options
@common.output_options
def report(model: str, **options: Any) -> int:
    """Write an interactive HTML report of the tree in MODEL.

    The page is one file and works offline.
    """
    from dataclasses import replace

    from ..report import write_report

    output = options["output"] or "report.html"
    common.check_output(output, force=options["force"], is_file=True)
    found = common.load(model)
    holdout = held_out_counts(found, options)
    if holdout is not None:
        found = replace(found, holdout=holdout)
    table = None
    if options["data"]:
        target = common.target_of(found, options["target"])
        table, _ = Reading(options).read(options["data"], target=target, schema=found.tree.schema)
    write_report(found, output, title=options["title"], data=table)
    common.show(options, {"output": output}, [output])
    return 0
