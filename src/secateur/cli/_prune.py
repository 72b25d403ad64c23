"""secateur prune and path: a smaller tree from a tree, with or without held-out rows, and the sequence of them."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from . import _common as common
from ._rows import held_out_counts, held_out_options, input_output_options

if TYPE_CHECKING:
    from ..core import Model

MOST_ROWS = 40
HEADS = {"cross_validated": "cross-val.", "standard_error": "+- SE", "held_out": "held out", "shown": ""}


@common.model_command(
    "secateur prune tree.json --holdout newer.csv -o smaller.json",
    "secateur prune tree.json --leaves 8 -o eight.json",
    "secateur prune tree.json --rule error-based --set confidence=0.1",
)
@held_out_options
@click.option(
    "--rule",
    metavar="RULE",
    help="Pruning rule; see `secateur rules`. With held-out rows the default is reduced-error.",
)
@common.set_option("rule")
@common.whole_option("--leaves", 1, help="Return the best pruning with exactly N leaves, or the largest smaller one.")
@click.option("--alpha", type=float, metavar="A", help="Return the tree of the path for this penalty per leaf.")
@click.option(
    "--accuracy", type=float, metavar="A", help="Return the smallest tree of the path with at least this accuracy."
)
@click.option("--at", "nodes", multiple=True, type=int, metavar="NODE", help="Cut at this node.")
@common.write_model_options
@input_output_options
def prune(model: "Model", **options: Any) -> None:
    """Prune the tree in the file MODEL."""
    from .. import model_selection
    from ..core import PruningSequence
    from ..pruners import RULES

    holdout = held_out_counts(model, options)
    sizes = {"n_leaves": options["leaves"], "alpha": options["alpha"], "accuracy": options["accuracy"]}
    sizes = {name: value for name, value in sizes.items() if value is not None}
    if len(sizes) + bool(options["nodes"]) > 1:
        raise click.UsageError("--leaves, --alpha, --accuracy and --at exclude each other; give one of them")
    if holdout is not None:
        model = replace(model, holdout=holdout, certificate=None)
    if options["nodes"]:
        for node in options["nodes"]:
            model = model_selection.snip(model, node)
    elif options["rule"] is None and not sizes and holdout is None:
        raise click.UsageError(
            "nothing to prune with; give --holdout FILE, --rule, --leaves, --alpha, --accuracy or --at"
        )
    elif options["rule"] is None and sizes:
        model = model_selection.prune_to(model, **sizes)
    else:
        rule = options["rule"] or "reduced-error"
        if rule in RULES and RULES[rule].needs_holdout and model.holdout is None:
            raise click.UsageError(f"rule {rule} needs held-out rows; give --holdout FILE or --counts FILE")
        parameters = common.parameters_of(options["parameters"])
        result = model_selection.prune_by_rule(rule, model.grown, model.holdout, **parameters)
        if isinstance(result, PruningSequence):
            model = replace(model, sequence=result, selection=None, certificate=None)
            if not sizes and holdout is None:
                raise click.UsageError(
                    f"rule {rule} returns a sequence; choose with --leaves, --alpha, --accuracy or --holdout"
                )
            model = model_selection.prune_to(model, **sizes) if sizes else model_selection.choose_on_holdout(model)
        else:
            labels = result.node_labels if result.node_labels is not None else model.pruning.node_labels
            model = replace(model, pruning=replace(result, node_labels=labels), selection=None, certificate=None)
    common.deliver_fitted(model, options)


@common.model_command("secateur path tree.json --holdout newer.csv")
@held_out_options
@common.delta_option("certificates")
@click.option("--all", "every", is_flag=True, help=f"Show every member instead of at most {MOST_ROWS}.")
@input_output_options
def path(model: "Model", **options: Any) -> None:
    """Show the pruning sequence of the tree in MODEL: leaves, errors, certificates."""
    import numpy as np

    from ..model_selection import path_table

    holdout = held_out_counts(model, options)
    table = path_table(model, holdout or model.holdout, delta=options["delta"])
    n = len(table["leaves"])
    shown = np.arange(n)
    if not options["every"] and n > MOST_ROWS and not options["as_json"]:
        shown = np.unique(np.round(np.geomspace(1, n, MOST_ROWS)).astype(int)) - 1
        shown = n - 1 - shown[::-1]  # the small trees are what people look for
        common.talk(f"{len(shown)} of {n} members shown; use --all to show every member", quiet=options["quiet"])
    rows = [[_cell(name, values[i]) for name, values in table.items()] for i in shown]
    result = {"members": {name: list(values) for name, values in table.items()}}
    common.show(options, result, [common.grid([HEADS.get(name, name) for name in table], rows, left=0)])


def _cell(name: str, value: Any) -> str:
    if name == "shown":
        return "<-" if value else ""
    return f"{value:,}" if name == "leaves" else f"{value:.2e}" if name == "alpha" else f"{value:.4f}"
