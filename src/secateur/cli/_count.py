"""The commands `secateur count` and `secateur evaluate`: count rows in the nodes of a tree, and measure its errors."""

from typing import TYPE_CHECKING, Any

import click

from ._command import (
    check_max_error,
    check_output_path,
    command,
    int_option,
    model_argument,
    print_message,
    print_result,
    rows_argument,
    write_model_options,
)
from ._input import (
    count_rows,
    group_option,
    held_out_counts,
    held_out_options,
    input_output_options,
    load_model_file,
    model_command,
)

if TYPE_CHECKING:
    from ..core import Model


@command(
    "secateur count tree.json 'march/*.parquet' --engine duckdb -o march.json",
    "secateur prune tree.json --counts march.json -o smaller.json",
)
@model_argument
@rows_argument
@group_option
@held_out_options
@write_model_options
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
    check_output_path(options["output"], force=options["force"], is_file=True)
    counts = count_rows(load_model_file(model), rows, options)
    if options["output"]:
        save_counts(counts, options["output"], sketch=options["sketch"])
        print_message(f"written to {options['output']}", quiet=options["quiet"])
    result = {"sample": counts.sample, "rows": counts.total[0], "nodes": counts.tree.n_nodes}
    print_result(options, result, [repr(counts)])


@model_command(
    "secateur evaluate tree.json fresh.csv",
    "secateur evaluate tree.json fresh.csv --positive default --false-negative 5",
)
@rows_argument
@held_out_options
@click.option("--positive", metavar="CLASS", help="Class to rank by; by default the rarer of two classes.")
@click.option("--false-positive", type=float, default=1.0, help="Cost of a false positive.")
@click.option("--false-negative", type=float, default=1.0, help="Cost of a missed positive.")
@int_option("--bands", 1, default=10, metavar=None, help="Number of bands in the lift table.")
@click.option(
    "--max-error", type=click.FloatRange(0), metavar="X", help="Exit with status 1 if the error on DATA is above X."
)
@input_output_options
def evaluate(model: "Model", data: str | None, **options: Any) -> int:
    """Measure the tree in MODEL on the rows of DATA.

    Prints the error with its confidence interval and the confusion matrix; for
    two classes also AUC, KS, the lift table and the threshold of least cost.
    """
    from ..inspection import evaluate as evaluate_model

    if data and (options["holdout"] or options["counts"]):
        raise click.UsageError("DATA, --holdout and --counts exclude each other; give one of them")
    counts = count_rows(model, data, options) if data else held_out_counts(model, options)
    if counts is None:
        raise click.UsageError("DATA is needed: the file of rows to measure on")
    costs = {name: options[name] for name in ("false_positive", "false_negative")}
    result = evaluate_model(model, counts, positive=options["positive"], **costs)
    print_result(options, result.to_dict(n_bands=options["bands"]), [str(result)])
    return check_max_error(options, [("the error", result.error)])
