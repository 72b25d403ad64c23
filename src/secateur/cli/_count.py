"""secateur count and evaluate: the rows of a file in every node of a tree, and how well it does on them."""

from typing import TYPE_CHECKING, Any

import click

from . import _common as common
from ._rows import count_rows, held_out_counts, held_out_options, input_output_options

if TYPE_CHECKING:
    from ..core import Model


@common.command(
    "secateur count tree.json 'march/*.parquet' --engine duckdb -o march.json",
    "secateur prune tree.json --counts march.json -o smaller.json",
)
@common.model_argument
@common.rows_argument
@held_out_options
@common.write_model_options
@input_output_options
def count(model: str, data: str | None, **options: Any) -> None:
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


@common.model_command(
    "secateur evaluate tree.json fresh.csv",
    "secateur evaluate tree.json fresh.csv --positive default --false-negative 5",
)
@common.rows_argument
@held_out_options
@click.option("--positive", metavar="CLASS", help="Class to rank by; by default the rarer of two classes.")
@click.option("--false-positive", type=float, default=1.0, help="Cost of a false positive.")
@click.option("--false-negative", type=float, default=1.0, help="Cost of a missed positive.")
@common.whole_option("--bands", 1, default=10, metavar=None, help="Number of bands in the lift table.")
@click.option(
    "--max-error", type=click.FloatRange(0), metavar="X", help="Exit with status 1 if the error on DATA is above X."
)
@input_output_options
def evaluate(model: "Model", data: str | None, **options: Any) -> int:
    """Measure the tree in MODEL on the rows of DATA.

    Prints the error with its confidence interval and the confusion matrix; for
    two classes also AUC, KS, the lift table and the threshold of least cost.
    """
    from ..inspection import evaluate as evaluated

    if data and (options["holdout"] or options["counts"]):
        raise click.UsageError("DATA, --holdout and --counts exclude each other; give one of them")
    counts = count_rows(model, data, options) if data else held_out_counts(model, options)
    if counts is None:
        raise click.UsageError("DATA is needed: the file of rows to measure on")
    costs = {name: options[name] for name in ("false_positive", "false_negative")}
    result = evaluated(model, counts, positive=options["positive"], **costs)
    common.show(options, result.to_dict(n_bands=options["bands"]), [str(result)])
    return common.gate(options, [("the error", result.error)])
