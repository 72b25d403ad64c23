"""secateur explain: why a row gets its answer, and what would change it."""

from typing import Any

import click

from . import _common as common
from ._reading import Reading, data_options


@common.command("secateur explain tree.json new.csv --row 3 --actionable income")
@common.model_argument
@click.argument("data", metavar="DATA")
@click.option("--row", type=click.IntRange(1), default=1, show_default=True, help="Row of DATA, counted from 1.")
@click.option("--actionable", multiple=True, metavar="COL", help="Column that may change; all by default.")
@click.option("--wanted", metavar="CLASS", help="Answer to reach; any other by default.")
@common.delta_option("limits on class shares")
@data_options
@common.output_options
def explain(model: str, data: str, **options: Any) -> int:
    """Explain the answer of the tree in MODEL for one row of DATA.

    Prints the tests that the row passes through, the answer of its leaf with
    limits on the class shares, and the smallest change to another answer.
    """
    from ..asking import explain as explained

    found = common.load(model)
    table, _ = Reading(options).read(data, target=None, schema=found.tree.schema)
    if options["row"] > table.n_rows:
        raise click.UsageError(f"--row {options['row']}: {data} has {table.n_rows:,} rows")
    result = explained(
        found, table, index=options["row"] - 1, actionable=options["actionable"] or None,
        wanted=options["wanted"], delta=options["delta"],
    )  # fmt: skip
    common.show(options, result.to_dict(), [str(result)])
    return 0
