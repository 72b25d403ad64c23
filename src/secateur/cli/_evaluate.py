"""secateur evaluate: errors, ranking, lift and the threshold of least cost on other rows."""

from typing import Any

import click

from . import _common as common
from ._held_out import count_rows, held_out_counts, held_out_options
from ._reading import data_options


@common.command(
    "secateur evaluate tree.json fresh.csv",
    "secateur evaluate tree.json fresh.csv --positive default --false-negative 5",
)
@common.model_argument
@click.argument("data", metavar="DATA", required=False)
@held_out_options
@click.option("--positive", metavar="CLASS", help="Class to rank by; by default the rarer of two classes.")
@click.option("--false-positive", type=float, default=1.0, show_default=True, help="Cost of a false positive.")
@click.option("--false-negative", type=float, default=1.0, show_default=True, help="Cost of a missed positive.")
@click.option(
    "--bands", type=click.IntRange(1), default=10, show_default=True, help="Number of bands in the lift table."
)
@click.option(
    "--max-error", type=click.FloatRange(0), metavar="X", help="Exit with status 1 if the error on DATA is above X."
)
@data_options
@common.output_options
def evaluate(model: str, data: str | None, **options: Any) -> int:
    """Measure the tree in MODEL on the rows of DATA.

    Prints the error with its confidence interval and the confusion matrix; for
    two classes also AUC, KS, the lift table and the threshold of least cost.
    """
    from ..asking import evaluate as evaluated

    found = common.load(model)
    if data and (options["holdout"] or options["counts"]):
        raise click.UsageError("DATA, --holdout and --counts exclude each other; give one of them")
    counts = count_rows(found, data, options) if data else held_out_counts(found, options)
    if counts is None:
        raise click.UsageError("DATA is needed: the file of rows to measure on")
    costs = {name: options[name] for name in ("false_positive", "false_negative")}
    result = evaluated(found, counts, positive=options["positive"], **costs)
    common.show(options, result.to_dict(n_bands=options["bands"]), [str(result)])
    limit = options["max_error"]
    if limit is not None and result.error > limit:
        common.talk(f"not met: the error is {result.error:.4g}, above --max-error {limit:g}", quiet=options["quiet"])
        return 1
    return 0
