"""The command `secateur compare-models`: compare two trees on the same fresh rows."""

from typing import TYPE_CHECKING, Any

import click

from ..errors import show
from ._command import (
    Options,
    command,
    delta_option,
    int_option,
    print_message,
    print_result,
    repeats_option,
    warnings_as_notes,
)
from ._input import input_output_options, load_model_file, read_table, target_name

if TYPE_CHECKING:
    from ..certifiers import ModelComparison

NAMES = ("champion", "challenger")


@command(
    "secateur compare-models champion.json challenger.json fresh.csv",
    "secateur compare-models old.json new.json fresh.csv --max-increase 0.01",
)
@click.argument("champion", metavar="CHAMPION")
@click.argument("challenger", metavar="CHALLENGER")
@click.argument("data", metavar="DATA...", nargs=-1, required=True)
@click.option("--target", metavar="COL", help="Target column; by default that of the models.")
@click.option(
    "--max-increase", type=click.FloatRange(-1, 1), metavar="X",
    help="Exit with status 1 unless the error of CHALLENGER is certified to be at most X above that of CHAMPION.",
)  # fmt: skip
@int_option("--n-comparisons", 1, default=1, help="Number of comparisons on these rows, which share delta.")
@delta_option("limits on the difference")
@repeats_option
@input_output_options
def compare_models(champion: str, challenger: str, data: tuple[str, ...], **options: Any) -> int:
    """Compare the trees in two model files on the same labelled rows of DATA.

    Prints the rows that only one of them predicts wrongly, the p-value of
    McNemar's exact test, and exact limits on the difference of the errors.
    The rows must be fresh: rows that made one of the trees are refused.
    """
    if options["sample_weight"] is not None:
        raise click.UsageError("--sample-weight: a paired comparison counts independent rows, each once; leave it out")
    if "-" in (champion, challenger, *data):
        raise click.UsageError("-: standard input can be read once, and this command reads the rows for each model")
    from ..certifiers._compare_models import check_comparable, compare_predictions, hold_logs, predict_by_tree

    models = [load_model_file(path) for path in (champion, challenger)]
    for model, name in zip(models, NAMES, strict=True):
        check_comparable(model, name)
    targets = [target_name(model, options) for model in models]
    if targets[0] != targets[1]:
        raise click.UsageError(
            f"the models predict {show(targets[0])} and {show(targets[1])}; give --target, the column that both predict"
        )
    tables = [read_table(options, data, target=targets[0], schema=model.tree.schema).table for model in models]
    with warnings_as_notes(), hold_logs(*models):
        first, second = (
            predict_by_tree(model, name, table, options["delta"], options["repeats"])
            for model, name, table in zip(models, NAMES, tables, strict=True)
        )
        result = compare_predictions(first, second, NAMES, options["delta"], options["n_comparisons"])
    print_result(options, result.to_dict(), [str(result)])
    return _check_max_increase(result, options)


def _check_max_increase(result: "ModelComparison", options: Options) -> int:
    """Return exit status 1 if the certified increase of the error is above --max-increase, otherwise 0."""
    limit = options["max_increase"]
    increase = -result.lower  # the difference is champion minus challenger
    if limit is None or increase <= limit:
        return 0
    print_message(
        f"not met: the error of the challenger may be {100 * increase:.4g} percentage points above that of the "
        f"champion, and --max-increase {limit:g} allows {100 * limit:.4g}",
        quiet=options["quiet"],
    )
    return 1
