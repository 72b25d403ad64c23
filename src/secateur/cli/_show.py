"""secateur show: a tree, or its rules, as text."""

from typing import Any

import click

from . import _common as common
from ._summary import summary


@click.command(
    epilog="""\b
Example:
  secateur show tree.json --rules"""
)
@click.argument("model", metavar="MODEL")
@click.option("--rules", is_flag=True, help="One rule for each leaf.")
@click.option("--max-depth", type=click.IntRange(0), metavar="N", help="Leave out what is deeper.")
@click.option("--decimals", type=click.IntRange(0), metavar="N", help="Digits after the point; as few as can be.")
@click.option("--weights", is_flag=True, help="The weight of each class in place of rows and errors.")
@click.option("--node-ids", is_flag=True, help="Numbers of nodes; those in brackets are for prune --at.")
@click.option("--grown", is_flag=True, help="The whole tree, before it was cut.")
@common.output_options
def show(model: str, **options: Any) -> int:
    """Show the tree in the file MODEL."""
    from ..show.text import export_rules, export_text

    found = common.load(model)
    if options["as_json"]:
        common.show(summary(found), as_json=True, text=print)
        return 0
    how = {name: options[name] for name in ("decimals", "node_ids")}
    how["pruning"] = None if options["grown"] else found.pruning
    if options["rules"]:
        click.echo(export_rules(found.tree, found.grown, **how))
    else:
        weights = options["weights"]
        click.echo(export_text(found.tree, found.grown, max_depth=options["max_depth"], show_weights=weights, **how))
    return 0
