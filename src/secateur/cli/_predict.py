"""The commands `secateur predict` and `secateur explain`: predict the rows of a file, and explain one prediction."""

import csv
import io
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import click

from .._utils.output import write_file
from ..errors import show
from ._command import (
    Options,
    delta_option,
    files_argument,
    int_option,
    print_message,
    print_result,
    to_json,
    write_options,
)
from ._input import input_output_options, model_command, read_table

if TYPE_CHECKING:
    from ..core import Model
    from ..data.table import Table

# Beginnings of cells that spreadsheets evaluate; some of them treat the wide forms as equal.
FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n")


@model_command(
    "secateur predict tree.json new.csv > answers.csv",
    "cat new.csv | secateur predict tree.json - --probabilities",
)
@files_argument
@click.option("--probabilities", is_flag=True, help="Add the probability of each class.")
@click.option(
    "--spreadsheet-safe", is_flag=True,
    help="Put an apostrophe before text that a spreadsheet would read as a formula (= + - @, tab, line break), and "
    "all text in quotes.",
)  # fmt: skip
@click.option("--leaf", is_flag=True, help="Add the number of the leaf.")
@write_options
@input_output_options
def predict(model: "Model", data: tuple[str, ...], **options: Any) -> None:
    """Predict the target for the rows of DATA with the tree in MODEL.

    Prints one line per row, in order, as CSV; with --json as JSON lines.
    """
    table, *_ = read_table(options, data, target=None, schema=model.tree.schema)
    _note_unknown_values(table, quiet=options["quiet"])
    columns = _prediction_columns(model, table, options)
    rows = zip(*columns.values(), strict=True)
    text = io.StringIO(newline="")
    if options["as_json"]:
        for row in rows:
            text.write(to_json(dict(zip(columns, row, strict=True))) + "\n")
    else:
        is_safe = options["spreadsheet_safe"]
        # Quotes keep text together that contains the delimiter of another locale, such as a semicolon.
        quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if is_safe else csv.QUOTE_MINIMAL
        writer = csv.writer(_Lines(text), lineterminator="\r\n", quoting=quoting)
        prepare = _escape_formulas if is_safe else list
        writer.writerow(prepare(columns))
        writer.writerows(map(prepare, rows))
    if options["output"] and options["output"] != "-":
        write_file(options["output"], text.getvalue(), overwrite=options["force"])
        print_message(f"{table.n_rows:,} rows written to {options['output']}", quiet=options["quiet"])
    else:
        sys.stdout.write(text.getvalue())


class _Lines:
    """Write the lines of a CSV writer, which end in "\\r\\n", to `stream` with "\\n" at their ends.

    The writer itself must end its lines in "\\r\\n": otherwise it does not put cells that contain "\\r" in quotes.
    """

    def __init__(self, stream: io.StringIO) -> None:
        self.stream = stream

    def write(self, line: str) -> int:
        """Write one line."""
        return self.stream.write(line.removesuffix("\r\n") + "\n")


def _note_unknown_values(table: "Table", *, quiet: bool) -> None:
    """Print a note for each column with unseen categories, or with missing values where there were none."""
    for column, n_unseen, n_missing in zip(table.schema.columns, table.n_unseen, table.n_missing, strict=True):
        if n_unseen:
            values = f"{n_unseen:,} unseen categories"
        elif n_missing and not column.has_missing:
            values = f"{n_missing:,} missing values"
        else:
            continue
        print_message(
            f"note: column {show(column.name)} has {values}, none when the tree was grown; such rows take the "
            "branch that most growing rows took",
            quiet=quiet,
        )


def _prediction_columns(model: "Model", table: "Table", options: Options) -> dict[str, list[Any]]:
    """Return the columns of the output by name: predictions and, if wanted, leaves and probabilities."""
    from ..routing import prediction

    columns = {"prediction": prediction.predict(model, table).tolist()}
    if options["leaf"]:
        columns["leaf"] = prediction.predict_leaf(model, table).tolist()
    if options["probabilities"]:
        shares = prediction.predict_proba(model, table).T.tolist()
        assert table.schema.classes is not None
        for label, values in zip(table.schema.classes.tolist(), shares, strict=True):
            columns[f"probability of {label}"] = values
    return columns


def _escape_formulas(cells: Iterable[Any]) -> list[Any]:
    """Return cells with an apostrophe before text that a spreadsheet would evaluate; numbers do not change."""
    return [f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell for cell in cells]


@model_command("secateur explain tree.json new.csv --row 3 --actionable income")
@click.argument("data", metavar="DATA")
@int_option("--row", 1, default=1, metavar=None, help="Row of DATA, counted from 1.")
@click.option("--actionable", multiple=True, metavar="COL", help="Column that may change; all by default.")
@click.option("--wanted", metavar="CLASS", help="Prediction to reach; any other class by default.")
@delta_option("limits on class shares")
@input_output_options
def explain(model: "Model", data: str, **options: Any) -> None:
    """Explain the prediction of the tree in MODEL for one row of DATA.

    Prints the tests that the row passes through, the prediction of its leaf
    with limits on the class shares, and the smallest change to another
    prediction.
    """
    from ..inspection import explain as explain_row

    table, *_ = read_table(options, data, target=None, schema=model.tree.schema)
    if options["row"] > table.n_rows:
        raise click.UsageError(f"--row {options['row']}: {data} has {table.n_rows:,} rows")
    result = explain_row(
        model, table, index=options["row"] - 1, actionable=options["actionable"] or None,
        wanted=options["wanted"], delta=options["delta"],
    )  # fmt: skip
    print_result(options, result.to_dict(), [str(result)])
