"""secateur show: a summary and the tree, or its rules, as text."""

from typing import Any

import click

from ..errors import printable
from . import _common as common


@common.command("secateur show tree.json --rules")
@common.model_argument
@click.option("--rules", is_flag=True, help="Show one rule per leaf.")
@click.option("--max-depth", type=click.IntRange(0), metavar="N", help="Omit nodes below this depth.")
@click.option(
    "--decimals", type=click.IntRange(0), metavar="N", help="Decimals of numbers; by default as few as needed."
)
@click.option("--weights", is_flag=True, help="Show the weight of each class instead of rows and errors.")
@click.option("--node-ids", is_flag=True, help="Show node numbers; those in brackets are for prune --at.")
@click.option("--grown", is_flag=True, help="Show the unpruned tree.")
@common.output_options
def show(model: str, **options: Any) -> int:
    """Show a summary of the tree in the file MODEL and the tree as text.

    --rules, --max-depth, --weights, --node-ids and --grown omit the summary.
    """
    from ..show.text import export_rules, export_text

    found = common.load(model)
    if options["as_json"]:
        common.show(options, common.summary(found), [])
        return 0
    how = {name: options[name] for name in ("decimals", "node_ids")}
    how["pruning"] = None if options["grown"] else found.pruning
    if options["rules"]:
        click.echo(export_rules(found.tree, found.grown, **how))
    else:
        if not any(options[name] for name in ("grown", "weights", "node_ids")) and options["max_depth"] is None:
            from ..asking import summary as asked

            click.echo(printable(f"{asked(found)}\n"))
        weights = options["weights"]
        click.echo(export_text(found.tree, found.grown, max_depth=options["max_depth"], show_weights=weights, **how))
    return 0
