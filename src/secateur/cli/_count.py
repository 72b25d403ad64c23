"""secateur count: count the rows of a file, to prune or certify elsewhere."""

from typing import Any

import click

from . import _common as common
from ._held_out import count_rows, held_out_options
from ._reading import data_options


@common.command(
    "secateur count tree.json 'march/*.parquet' --engine duckdb -o march.json",
    "secateur prune tree.json --counts march.json -o smaller.json",
)
@common.model_argument
@click.argument("data", metavar="DATA", required=False)
@held_out_options
@common.write_options
@common.sketch_option
@data_options
@common.output_options
def count(model: str, data: str | None, **options: Any) -> int:
    """Count the rows of DATA in every node of the tree in MODEL.

    The output contains only counts, no rows.
    """
    from ..modelfile import save_counts

    if options["counts"]:
        raise click.UsageError("--counts contains counts, not rows; `secateur count` needs DATA")
    if data and options["holdout"]:
        raise click.UsageError("DATA and --holdout exclude each other; give one of them")
    rows = data or options["holdout"]
    if rows is None:
        raise click.UsageError("DATA is needed: the file of rows to count")
    common.check_output(options["output"], force=options["force"], is_file=True)
    counts = count_rows(common.load(model), rows, options)
    if options["output"]:
        save_counts(counts, options["output"], sketch=options["sketch"])
        common.talk(f"written to {options['output']}", quiet=options["quiet"])
    result = {"sample": counts.sample, "rows": counts.total[0], "nodes": counts.tree.n_nodes}
    common.show(options, result, [repr(counts)])
    return 0
