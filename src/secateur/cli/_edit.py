"""The commands `secateur candidates` and `secateur edit`: what a node could have asked, and a tree changed by hand."""

from typing import TYPE_CHECKING, Any

import click

from ._command import (
    Options,
    PathText,
    check_max_error,
    int_option,
    max_error_option,
    print_result,
    warnings_as_notes,
    write_fitted_model,
    write_model_options,
)
from ._input import InputRows, groups_option, input_output_options, model_command, read_table, target_name

if TYPE_CHECKING:
    from ..core import Model
    from ..model_selection._growing_rows import RowsToGrow

model_target_option = click.option("--target", metavar="COL", help="Target column; by default that of the model.")


@model_command(
    "secateur candidates tree.json patients.csv --node 0",
    "secateur candidates tree.json patients.csv --node 3 --per-column 5 --json",
)
@click.argument("data", metavar="DATA")
@int_option("--node", 0, default=0, metavar="NODE", help="Number of the node in the grown tree.")
@int_option("--per-column", 1, default=1, help="Maximum number of thresholds of one column.")
@model_target_option
@groups_option
@input_output_options
def candidates(model: "Model", data: str, **options: Any) -> None:
    """Show what else a node of the tree in MODEL could have asked.

    Prints the best split of every column, ranked as growing compares them.
    DATA are the rows that were given to fit. `secateur edit` takes another split.
    """
    from ..inspection import list_candidates

    rows, parameters = read_growing_rows(model, data, options)
    listed = list_candidates(model.tree, options["node"], rows, parameters, per_column=options["per_column"])
    print_result(options, listed.to_dict(), [str(listed)])


@model_command(
    "secateur edit tree.json patients.csv --edits edits.json -o edited.json",
    "secateur edit tree.json patients.csv --split 0:income -o edited.json",
)
@click.argument("data", metavar="DATA")
@click.option(
    "--edits", type=PathText(dir_okay=False), metavar="FILE", help="JSON file of edits, as the report writes it."
)
@click.option(
    "--split", "splits", multiple=True, metavar="NODE:COL[<=X]",
    help="Split this node by a column, at the best threshold or at X.",
)  # fmt: skip
@click.option("--forbid", multiple=True, metavar="NODE:COL", help="Do not test a column at and below this node.")
@click.option("--leaf", "leaves", multiple=True, type=int, metavar="NODE", help="Make this node a leaf.")
@click.option("--regrow", multiple=True, type=int, metavar="NODE", help="Grow this node and all below it anew.")
@click.option("--holdout", metavar="DATA", help="The file of held-out rows that was given to fit, if there was one.")
@model_target_option
@groups_option
@max_error_option
@write_model_options
@input_output_options
def edit(model: "Model", data: str, **options: Any) -> int:
    """Change the grown tree in MODEL by hand, and grow all else anew.

    DATA are the rows that were given to fit. The edited tree is pruned and
    certified as fit did. The edits of --edits come first, then --split,
    --forbid, --leaf and --regrow; nodes have the numbers of the tree in MODEL.
    """
    from ..model_selection import edit_model, read_edits, recipe_of

    edits = [] if options["edits"] is None else read_edits(options["edits"], model.tree)
    edits += read_edits(given, model.tree) if (given := _given_edits(options)) else []
    if not edits:
        raise click.UsageError("nothing to edit; give --edits FILE, --split, --forbid, --leaf or --regrow")
    rows = _read_fitted_rows(model, data, options)
    held_out = None if options["holdout"] is None else _read_fitted_rows(model, options["holdout"], options)
    with warnings_as_notes():
        edited = edit_model(
            model, edits, rows.table, recipe_of(model), sample_weight=rows.weights, groups=rows.groups,
            held_out=None if held_out is None else held_out.table,
            held_out_weight=None if held_out is None else held_out.weights,
            held_out_groups=None if held_out is None else held_out.groups,
        )  # fmt: skip
    write_fitted_model(edited, options)
    if edited.certificate is None:
        return 0
    return check_max_error(options, [("the certified error", edited.certificate.value)])


def read_growing_rows(model: "Model", data: str, options: Options) -> "RowsToGrow":
    """Return the rows that grew the tree of a model, from the file that was given to `secateur fit`."""
    from ..model_selection import recipe_of, rows_of_candidates

    rows = _read_fitted_rows(model, data, options)
    with warnings_as_notes():
        return rows_of_candidates(model, rows.table, recipe_of(model), sample_weight=rows.weights, groups=rows.groups)


def _read_fitted_rows(model: "Model", data: str, options: Options) -> InputRows:
    """Return rows as `secateur fit` read them: with its columns of weights and groups, unless options name others."""
    fitted = model.metadata.get("command") or {}
    if options["sample_weight"] is None and isinstance(fitted, dict):
        options = {**options, "sample_weight": fitted.get("sample_weight")}
    return read_table(
        options,
        data,
        target=target_name(model, options),
        schema=model.tree.schema,
        default_groups=model.metadata.get("groups_column"),
    )


def _given_edits(options: Options) -> list[dict[str, Any]]:
    """Return the edits of the options, in the form of a file."""
    edits = [_parse_split(text) for text in options["splits"]]
    for text in options["forbid"]:
        node, column = _parse_place("--forbid", text)
        edits.append({"action": "forbid", "node": node, "column": column})
    edits += [{"action": "leaf", "node": node} for node in options["leaves"]]
    return edits + [{"action": "regrow", "node": node} for node in options["regrow"]]


def _parse_split(text: str) -> dict[str, Any]:
    """Return the edit of one --split, of the form NODE:COLUMN or NODE:COLUMN<=X."""
    node, rest = _parse_place("--split", text)
    column, has_threshold, threshold = rest.rpartition("<=")
    if not has_threshold:
        return {"action": "split", "node": node, "column": rest}
    try:
        return {"action": "split", "node": node, "column": column.strip(), "threshold": float(threshold)}
    except ValueError as error:
        raise click.UsageError(f"--split {text}: {threshold.strip()} is not a number") from error


def _parse_place(flag: str, text: str) -> tuple[int, str]:
    """Return the number of a node and what follows the colon."""
    node, colon, rest = text.partition(":")
    if not colon or not node.strip().isdecimal() or not rest:
        raise click.UsageError(f"{flag} {text}: NODE:COLUMN is needed, such as 0:income")
    return int(node), rest
