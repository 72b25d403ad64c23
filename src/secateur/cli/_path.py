"""secateur path: the errors of the pruning sequence."""

from typing import Any

import click

from . import _common as common
from ._held_out import held_out_counts, held_out_options
from ._reading import data_options

MOST_ROWS = 40
HEADS = {"cross_validated": "cross-val.", "standard_error": "+- SE", "held_out": "held out", "shown": ""}


@common.command("secateur path tree.json --holdout newer.csv")
@common.model_argument
@held_out_options
@common.delta_option("certificates")
@click.option("--all", "every", is_flag=True, help=f"Show every member instead of at most {MOST_ROWS}.")
@data_options
@common.output_options
def path(model: str, **options: Any) -> int:
    """Show the pruning sequence of the tree in MODEL: leaves, errors, certificates."""
    import numpy as np

    from ..fitting import path_table

    found = common.load(model)
    holdout = held_out_counts(found, options)
    table = path_table(found, holdout or found.holdout, delta=options["delta"])
    n = len(table["leaves"])
    shown = np.arange(n)
    if not options["every"] and n > MOST_ROWS and not options["as_json"]:
        shown = np.unique(np.round(np.geomspace(1, n, MOST_ROWS)).astype(int)) - 1
        shown = n - 1 - shown[::-1]  # the small trees are what people look for
        common.talk(f"{len(shown)} of {n} members shown; use --all to show every member", quiet=options["quiet"])
    rows = [[_cell(name, values[i]) for name, values in table.items()] for i in shown]
    result = {"members": {name: list(values) for name, values in table.items()}}
    common.show(options, result, [common.grid([HEADS.get(name, name) for name in table], rows, left=0)])
    return 0


def _cell(name: str, value: Any) -> str:
    if name == "shown":
        return "<-" if value else ""
    return f"{value:,}" if name == "leaves" else f"{value:.2e}" if name == "alpha" else f"{value:.4f}"
