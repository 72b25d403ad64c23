"""secateur predict and explain: answers for the rows of a file, and why one of them gets its answer."""

import csv
import io
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from .._utils.output import write_file
from . import _common as common
from ._rows import input_output_options, read

if TYPE_CHECKING:
    from ..core import Model

FORMULAS = ("=", "+", "-", "@", "\t", "\r")


@common.model_command(
    "secateur predict tree.json new.csv > answers.csv",
    "cat new.csv | secateur predict tree.json - --probabilities",
)
@common.files_argument
@click.option("--probabilities", is_flag=True, help="Add the probability of each class.")
@click.option(
    "--spreadsheet-safe", is_flag=True,
    help="Put an apostrophe before text that a spreadsheet would read as a formula (= + - @, tab, return).",
)  # fmt: skip
@click.option("--leaf", is_flag=True, help="Add the number of the leaf.")
@common.write_options
@input_output_options
def predict(model: "Model", data: tuple[str, ...], **options: Any) -> None:
    """Predict the target for the rows of DATA with the tree in MODEL.

    Prints one line per row, in order, as CSV; with --json as JSON lines.
    """
    from ..routing import prediction

    table, _ = read(options, data, target=None, schema=model.tree.schema)
    for about, n_unseen, n_missing in zip(table.schema.columns, table.n_unseen, table.n_missing, strict=True):
        if n_unseen or (n_missing and not about.has_missing):
            what = f"{n_unseen:,} unseen categories" if n_unseen else f"{n_missing:,} missing values"
            goes = "such rows take the branch that most growing rows took"
            common.talk(
                f"note: column {about.name!r} has {what}, none when the tree was grown; {goes}", quiet=options["quiet"]
            )
    columns: dict[str, Any] = {"prediction": prediction.predict(model, table).tolist()}
    if options["leaf"]:
        columns["leaf"] = prediction.predict_leaf(model, table).tolist()
    if options["probabilities"]:
        shares = prediction.predict_proba(model, table).T.tolist()
        assert table.schema.classes is not None
        names = [f"probability of {label}" for label in table.schema.classes.tolist()]
        columns |= dict(zip(names, shares, strict=True))
    text = io.StringIO()
    lines = zip(*columns.values(), strict=True)
    if options["as_json"]:
        for line in lines:
            text.write(common.json_text(dict(zip(columns, line, strict=True))) + "\n")
    else:
        writer = csv.writer(text, lineterminator="\n")
        safe = _spreadsheet_safe if options["spreadsheet_safe"] else list
        writer.writerow(safe(columns))
        writer.writerows(map(safe, lines))
    if options["output"] and options["output"] != "-":
        write_file(options["output"], text.getvalue(), overwrite=options["force"])
        common.talk(f"{table.n_rows:,} rows written to {options['output']}", quiet=options["quiet"])
    else:
        sys.stdout.write(text.getvalue())


def _spreadsheet_safe(cells: Iterable[Any]) -> list[Any]:
    """Cells that no spreadsheet takes for a formula; numbers stay."""
    return [f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell for cell in cells]


@common.model_command("secateur explain tree.json new.csv --row 3 --actionable income")
@click.argument("data", metavar="DATA")
@common.whole_option("--row", 1, default=1, metavar=None, help="Row of DATA, counted from 1.")
@click.option("--actionable", multiple=True, metavar="COL", help="Column that may change; all by default.")
@click.option("--wanted", metavar="CLASS", help="Answer to reach; any other by default.")
@common.delta_option("limits on class shares")
@input_output_options
def explain(model: "Model", data: str, **options: Any) -> None:
    """Explain the answer of the tree in MODEL for one row of DATA.

    Prints the tests that the row passes through, the answer of its leaf with
    limits on the class shares, and the smallest change to another answer.
    """
    from ..inspection import explain as explained

    table, _ = read(options, data, target=None, schema=model.tree.schema)
    if options["row"] > table.n_rows:
        raise click.UsageError(f"--row {options['row']}: {data} has {table.n_rows:,} rows")
    result = explained(
        model, table, index=options["row"] - 1, actionable=options["actionable"] or None,
        wanted=options["wanted"], delta=options["delta"],
    )  # fmt: skip
    common.show(options, result.to_dict(), [str(result)])
