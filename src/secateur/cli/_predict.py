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
    parse_number,
    print_message,
    print_result,
    to_json,
    write_options,
)
from ._coverage import coverage_options, region_columns
from ._edit import read_growing_rows
from ._input import input_output_options, model_command, read_table

if TYPE_CHECKING:
    from ..core import Model
    from ..data.raw_column import RawColumn
    from ..data.table import Table

# Beginnings of cells that spreadsheets evaluate; some of them treat the wide forms as equal.
FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n")


@model_command(
    "secateur predict tree.json new.csv > answers.csv",
    "cat new.csv | secateur predict tree.json - --probabilities",
    "secateur predict tree.json new.csv --coverage 0.9",
    "secateur predict tree.json new.csv --reasons --favourable repaid",
)
@files_argument
@click.option("--probabilities", is_flag=True, help="Add the probability of each class.")
@click.option(
    "--spreadsheet-safe", is_flag=True,
    help="Put an apostrophe before text that a spreadsheet would read as a formula (= + - @, tab, line break), and "
    "all text in quotes.",
)  # fmt: skip
@click.option("--leaf", is_flag=True, help="Add the number of the leaf.")
@coverage_options("adds columns with their ends, or the set")
@click.option("--ids", metavar="COL", help="Column of row ids to print first, such as a customer number.")
@click.option(
    "--actionable", multiple=True, metavar="COL", help="Column that may change in the nearest change; all by default."
)
@click.option(
    "--reason-texts", "texts", type=click.Path(dir_okay=False), metavar="FILE",
    help="JSON or CSV file with a text for each column, to add to the reasons.",
)  # fmt: skip
@int_option("--n-reasons", 1, default=4, help="Largest number of reasons of a row.")
@click.option(
    "--favourable", multiple=True, metavar="CLASS",
    help="Favourable class, whose rows need no reasons; for numbers high, low, a smallest number or LOW:HIGH.",
)  # fmt: skip
@click.option(
    "--reasons", is_flag=True,
    help="Add the reasons of unfavourable predictions, and the nearest change to a favourable one.",
)  # fmt: skip
@write_options
@input_output_options
def predict(model: "Model", data: tuple[str, ...], **options: Any) -> None:
    """Predict the target for the rows of DATA with the tree in MODEL.

    Prints one line per row, in order, as CSV; with --json as JSON lines. With
    --reasons, a row of unfavourable prediction has up to 4 reasons: the column,
    the value of the row, the values needed, and how much the tests of the
    column moved the estimate.
    """
    table, _, ids, _ = read_table(_with_id_column(model, options), data, target=None, schema=model.tree.schema)
    _note_unknown_values(table, quiet=options["quiet"])
    columns = _id_column(options, ids) | _prediction_columns(model, table, options)
    columns |= _reason_columns(model, table, options)
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


def _with_id_column(model: "Model", options: Options) -> Options:
    """Return the options with which `read_table` returns the column of --ids, as text, beside the table."""
    name = options["ids"]
    if name is None:
        return options
    assert model.tree.schema is not None
    if name in model.tree.schema.names:
        raise click.UsageError(f"--ids {show(name)}: the tree uses this column; copy it under another name")
    if name in ("prediction", "leaf", "nearest change") or name.startswith(("probability of ", "reason ")):
        raise click.UsageError(f"--ids {show(name)}: a column of the output has this name; rename the column of ids")
    return {**options, "groups": name, "text_columns": (name,)}


def _id_column(options: Options, ids: "RawColumn | None") -> dict[str, list[Any]]:
    """Return the column of row ids by its name; nothing without --ids."""
    from ..data.raw_column import original_values

    return {} if ids is None else {options["ids"]: original_values(ids).tolist()}


def _prediction_columns(model: "Model", table: "Table", options: Options) -> dict[str, list[Any]]:
    """Return the columns of the output by name: predictions and, if wanted, leaves, probabilities and intervals."""
    from ..routing import prediction

    columns = {"prediction": prediction.predict(model, table).tolist()}
    if options["leaf"]:
        columns["leaf"] = prediction.predict_leaf(model, table).tolist()
    if options["probabilities"]:
        shares = prediction.predict_proba(model, table).T.tolist()
        assert table.schema.classes is not None
        for label, values in zip(table.schema.classes.tolist(), shares, strict=True):
            columns[f"probability of {label}"] = values
    return columns | region_columns(model, table, options)


def _reason_columns(model: "Model", table: "Table", options: Options) -> dict[str, list[Any]]:
    """Return the columns of --reasons by name; none without this option."""
    from ..inspection import reason_codes

    if not options["reasons"]:
        _refuse_reason_options()
        return {}
    if model.is_classifier and not options["favourable"]:
        print_message(
            "note: without --favourable, every row has reasons: why the tree predicts no other class for it",
            quiet=options["quiet"],
        )
    codes = reason_codes(
        model,
        table,
        favourable=_parse_favourable(model, options["favourable"]),
        n=options["n_reasons"],
        texts=options["texts"],
        actionable=options["actionable"] or None,
    )
    if codes.texts:
        used = {str(name) for name in codes.column.flat if name is not None}
        for name in sorted(used - set(codes.texts)):
            print_message(f"note: column {show(name)} has no text in {options['texts']}", quiet=options["quiet"])
    return codes.reason_columns()


def _refuse_reason_options() -> None:
    """Raise a usage error if an option of --reasons is on the command line without it."""
    context = click.get_current_context()
    for name, flag in (
        ("favourable", "--favourable"),
        ("n_reasons", "--n-reasons"),
        ("texts", "--reason-texts"),
        ("actionable", "--actionable"),
    ):
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{flag} goes with --reasons, which is not given")


def _parse_favourable(model: "Model", texts: tuple[str, ...]) -> Any:
    """Return the value of --favourable: classes or, for a tree that predicts numbers, a direction, number or range."""
    if model.is_classifier:
        return list(texts) or None
    if len(texts) != 1:
        raise click.UsageError("--favourable is needed once: high, low, the smallest favourable number, or LOW:HIGH")
    (text,) = texts
    if text in ("high", "low"):
        return text
    ends = [parse_number("--favourable", text, part) for part in text.split(":")]
    return ends[0] if len(ends) == 1 else ends


def _escape_formulas(cells: Iterable[Any]) -> list[Any]:
    """Return cells with an apostrophe before text that a spreadsheet would evaluate; numbers do not change."""
    return [f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell for cell in cells]


@model_command("secateur explain tree.json new.csv --row 3 --actionable income")
@click.argument("data", metavar="DATA")
@int_option("--row", 1, default=1, metavar=None, help="Row of DATA, counted from 1.")
@click.option("--actionable", multiple=True, metavar="COL", help="Column that may change; all by default.")
@click.option("--wanted", metavar="CLASS", help="Prediction to reach; any other class by default.")
@delta_option("limits on class shares")
@click.option(
    "--grown-on", metavar="DATA",
    help="Rows that were given to fit, to show what else the nodes on the path could have asked.",
)  # fmt: skip
@click.option("--target", metavar="COL", help="Target column of --grown-on; by default that of the model.")
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
    growing = None if options["grown_on"] is None else read_growing_rows(model, options["grown_on"], options)
    result = explain_row(
        model, table, index=options["row"] - 1, actionable=options["actionable"] or None,
        wanted=options["wanted"], delta=options["delta"], growing=growing,
    )  # fmt: skip
    print_result(options, result.to_dict(), [str(result)])
