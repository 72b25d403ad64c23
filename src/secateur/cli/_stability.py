"""The command `secateur stability`: how much a tree changes if it is grown on other rows of the same kind."""

from typing import TYPE_CHECKING, Any

import click

from ._command import FRACTION, int_option, make_table, n_jobs_option, print_result, random_state_option
from ._input import groups_option, input_output_options, model_command, read_table, target_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..core import Model
    from ..core.stability import Stability


@model_command("secateur stability tree.json patients.csv --n 100")
@click.argument("data", metavar="DATA")
@click.option("--target", metavar="COL", help="Target column; by default that of the model.")
@int_option("--n", 2, default=50, help="Number of subsamples.")
@click.option("--share", type=FRACTION, default=0.5, metavar="X", help="Share of the rows in each subsample.")
@int_option("--max-depth", 0, default=2, help="Compare the splits down to this level; the root has level 0.")
@click.option(
    "--tolerance", type=FRACTION, default=0.05, metavar="X",
    help="Share of the rows that another threshold of the same split may send another way.",
)  # fmt: skip
@groups_option
@random_state_option("Seed of the subsamples.")
@n_jobs_option
@input_output_options
def stability(model: "Model", data: str, **options: Any) -> None:
    """Grow the tree in MODEL again on subsamples of DATA, and compare the trees.

    DATA are the rows that the model was fitted on. All trees are grown, pruned
    and chosen by the parameters of the model.
    """
    from .._utils.progress import progress_bar
    from ..resampling import stability as find_stability

    if options["sample_weight"] is not None:
        raise click.UsageError("--sample-weight: subsamples are drawn from rows that count once each")
    groups_column = model.metadata.get("groups_column")
    rows = read_table(
        options, data, target=target_name(model, options), schema=model.tree.schema, default_groups=groups_column
    )
    names = ("n", "share", "max_depth", "tolerance", "n_jobs", "random_state")
    settings = {name: options[name] for name in names}
    with progress_bar("growing") as progress:
        found = find_stability(model, rows.table, groups=rows.groups, progress=progress, **settings)
    print_result(options, found.to_dict(), _describe(found))


def _describe(found: "Stability") -> "list[RenderableType]":
    """Return what to print: two sentences, and the splits near the top."""
    cells = [
        [
            "  " * split.depth + split.text,
            ", ".join(f"{name} {share:.0%}" for name, share in list(split.others.items())[:3]),
            f"{split.column_share:.0%}",
            f"{split.split_share:.0%}",
        ]
        for split in found.splits
    ]
    return [found.headline, make_table(["split", "instead", "same column", "same split"], cells, n_left=2)]
