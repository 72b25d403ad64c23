"""secateur prune: a smaller tree from a tree, with or without held-out rows."""

from dataclasses import replace
from typing import Any

import click

from . import _common as common
from ._held_out import held_out_counts, held_out_options
from ._reading import data_options


@common.command(
    "secateur prune tree.json --holdout newer.csv -o smaller.json",
    "secateur prune tree.json --leaves 8 -o eight.json",
    "secateur prune tree.json --rule error-based --set confidence=0.1",
)
@common.model_argument
@held_out_options
@click.option(
    "--rule",
    metavar="RULE",
    help="Pruning rule; see `secateur rules`. With held-out rows the default is reduced-error.",
)
@common.set_option("rule")
@click.option(
    "--leaves", type=click.IntRange(1), metavar="N", help="Return the largest tree of the path with at most N leaves."
)
@click.option("--alpha", type=float, metavar="A", help="Return the tree of the path for this penalty per leaf.")
@click.option(
    "--accuracy", type=float, metavar="A", help="Return the smallest tree of the path with at least this accuracy."
)
@click.option("--at", "nodes", multiple=True, type=int, metavar="NODE", help="Cut at this node.")
@common.write_options
@common.sketch_option
@data_options
@common.output_options
def prune(model: str, **options: Any) -> int:
    """Prune the tree in the file MODEL."""
    from .. import fitting
    from ..nouns import PruningSequence
    from ..pruners import RULES

    common.check_output(options["output"], force=options["force"])
    found = common.load(model)
    holdout = held_out_counts(found, options)
    sizes = {"n_leaves": options["leaves"], "alpha": options["alpha"], "accuracy": options["accuracy"]}
    sizes = {name: value for name, value in sizes.items() if value is not None}
    if len(sizes) + bool(options["nodes"]) > 1:
        raise click.UsageError("--leaves, --alpha, --accuracy and --at exclude each other; give one of them")
    if holdout is not None:
        found = replace(found, holdout=holdout, certificate=None)
    if options["nodes"]:
        for node in options["nodes"]:
            found = fitting.snip(found, node)
    elif options["rule"] is None and not sizes and holdout is None:
        raise click.UsageError(
            "nothing to prune with; give --holdout FILE, --rule, --leaves, --alpha, --accuracy or --at"
        )
    elif options["rule"] is None and sizes:
        found = fitting.prune_to(found, **sizes)
    else:
        rule = options["rule"] or "reduced-error"
        if rule in RULES and RULES[rule].needs_holdout and found.holdout is None:
            raise click.UsageError(f"rule {rule} needs held-out rows; give --holdout FILE or --counts FILE")
        parameters = common.parameters_of(options["parameters"])
        result = fitting.pruned_by(rule, found.grown, found.holdout, **parameters)
        if isinstance(result, PruningSequence):
            found = replace(found, sequence=result, selection=None, certificate=None)
            if not sizes and holdout is None:
                raise click.UsageError(
                    f"rule {rule} returns a sequence; choose with --leaves, --alpha, --accuracy or --holdout"
                )
            found = fitting.prune_to(found, **sizes) if sizes else fitting.choose_on_holdout(found)
        else:
            labels = result.node_labels if result.node_labels is not None else found.pruning.node_labels
            found = replace(found, pruning=replace(result, node_labels=labels), selection=None, certificate=None)
    common.deliver(found, options, common.summary(found), common.printed(found))
    return 0
