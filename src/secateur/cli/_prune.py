"""The commands `secateur prune` and `secateur path`: prune the tree of a model, and show its pruning sequence."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ._command import (
    FRACTION,
    Options,
    check_certified,
    choice_option,
    delta_option,
    int_option,
    make_table,
    parse_parameters,
    print_message,
    print_result,
    repeats_option,
    set_option,
    target_error_option,
    warnings_as_notes,
    write_fitted_model,
    write_model_options,
)
from ._input import (
    check_group_option,
    group_option,
    held_out_counts,
    held_out_options,
    input_output_options,
    model_command,
    with_holdout_file,
)

if TYPE_CHECKING:
    from .._utils.arrays import Array
    from ..core import Model, Sample
    from ..inspection.currency import Currency

RATE_NAMES = ("error", "false-positive-rate", "false-negative-rate", "selection-rate")
MAX_MEMBERS = 40  # members that `secateur path` shows without --all
HEAD_OF_COLUMN = {"cross_validated": "cross-val.", "standard_error": "+- SE", "held_out": "held out", "shown": ""}
ERROR_COLUMNS = ("growing", "held_out", "certified")  # of a tree that was chosen by another score


@model_command(
    "secateur prune tree.json --holdout newer.csv -o smaller.json",
    "secateur prune tree.json --leaves 8 -o eight.json",
    "secateur prune tree.json --holdout fresh.csv --certified-error 0.15",
    "secateur prune tree.json --holdout new.csv --certified-error 0.2 --group sex",
    "secateur prune tree.json --rule error-based --set confidence=0.1",
)
@held_out_options
@click.option(
    "--rule",
    metavar="RULE",
    help="Pruning rule; see `secateur rules`. With held-out rows the default is reduced-error.",
)
@set_option("rule")
@int_option("--leaves", 1, help="Return the best pruning with exactly N leaves, or the largest smaller one.")
@click.option("--alpha", type=float, metavar="A", help="Return the tree of the path for this penalty per leaf.")
@click.option(
    "--accuracy", type=float, metavar="A", help="Return the smallest tree of the path with at least this accuracy."
)
@target_error_option
@group_option
@click.option(
    "--max-gap", type=FRACTION, metavar="X",
    help="Choose the smallest tree whose --rate is certified to differ by at most X between the groups of --group.",
)  # fmt: skip
@choice_option("--rate", names=RATE_NAMES, help="Rate of --max-gap.")
@click.option("--positive", metavar="CLASS", help="Positive class of --rate.")
@delta_option("certificate (--certified-error, --max-gap)")
@repeats_option
@click.option("--at", "nodes", multiple=True, type=int, metavar="NODE", help="Cut at this node.")
@write_model_options
@input_output_options
def prune(model: "Model", **options: Any) -> int:
    """Prune the tree in the file MODEL."""
    from ..model_selection import prune_to, snip

    holdout = held_out_counts(model, options)
    _note_shared_rows(model, holdout)
    size = {
        "n_leaves": options["leaves"],
        "alpha": options["alpha"],
        "accuracy": options["accuracy"],
        "certified_error": options["target_error"],
    }
    size = {name: value for name, value in size.items() if value is not None}
    is_gap_alone = options["max_gap"] is not None and options["target_error"] is None
    if len(size) + bool(options["nodes"]) + is_gap_alone > 1:
        raise click.UsageError(
            "--leaves, --alpha, --accuracy, --certified-error (or --max-gap) and --at exclude each other; give one of "
            "them"
        )
    if options["target_error"] is not None or options["max_gap"] is not None:
        size |= _conditions_on_groups(holdout, options)
        size |= {"delta": options["delta"], "repeats": options["repeats"]}
    elif options["group"]:
        raise click.UsageError("--group goes with --certified-error or --max-gap")
    if holdout is not None:
        model = replace(
            model, holdout=holdout, certificate=None, group_rates=(), metadata=with_holdout_file(model, options)
        )
    if options["nodes"]:
        for node in options["nodes"]:
            model = snip(model, node)
    elif options["rule"] is not None or (holdout is not None and not size):
        model = _prune_by_rule(model, options, size, has_new_holdout=holdout is not None)
    elif size:
        with warnings_as_notes():
            model = prune_to(model, **size)
    else:
        raise click.UsageError(
            "nothing to prune with; give --holdout FILE, --rule, --leaves, --alpha, --accuracy, --certified-error or "
            "--at"
        )
    write_fitted_model(model, options)
    return check_certified(model, options)


def _conditions_on_groups(holdout: "Sample | None", options: Options) -> Options:
    """Return what --group, --max-gap, --rate and --positive require of population groups."""
    if options["max_gap"] is not None and not options["group"]:
        raise click.UsageError("--max-gap needs --group COL, the population groups to compare")
    if options["group"] and holdout is None:
        raise click.UsageError("--group needs fresh rows with this column; give --holdout FILE")
    check_group_option(holdout, options)
    conditions: Options = {"per_group": bool(options["group"]) and options["target_error"] is not None}
    if options["max_gap"] is not None:
        conditions |= {"max_gap": options["max_gap"], "rate": options["rate"], "positive": options["positive"]}
    return conditions


def _prune_by_rule(model: "Model", options: Options, size: Options, *, has_new_holdout: bool) -> "Model":
    """Return the model, pruned by the rule of --rule.

    Parameters
    ----------
    model : Model
        The model, with the held-out sample if there is one.
    options : dict
        The options of the command.
    size : dict
        The value of --leaves, --alpha or --accuracy by the name of the parameter of `prune_to`; may be empty.
    has_new_holdout : bool
        Whether the command read held-out rows, on which a member of a sequence can be chosen.
    """
    from ..core import PruningSequence
    from ..model_selection import choose_on_holdout, prune_by_rule, prune_to
    from ..pruners import RULES

    rule = options["rule"] or "reduced-error"
    if rule in RULES and RULES[rule].needs_holdout and model.holdout is None:
        raise click.UsageError(f"rule {rule} needs held-out rows; give --holdout FILE or --counts FILE")
    result = prune_by_rule(rule, model.grown, model.holdout, **parse_parameters(options["parameters"]))
    if not isinstance(result, PruningSequence):
        labels = model.pruning.node_labels if result.node_labels is None else result.node_labels
        pruning = replace(result, node_labels=labels)
        return replace(model, pruning=pruning, selection=None, certificate=None, group_rates=())
    model = replace(model, sequence=result, selection=None, certificate=None)
    if size:
        return prune_to(model, **size)
    if not has_new_holdout:
        raise click.UsageError(
            f"rule {rule} returns a sequence; choose with --leaves, --alpha, --accuracy or --holdout"
        )
    return choose_on_holdout(model)


@model_command("secateur path tree.json --holdout newer.csv")
@held_out_options
@delta_option("certificates")
@click.option("--all", "show_all", is_flag=True, help=f"Show every member instead of at most {MAX_MEMBERS}.")
@input_output_options
def path(model: "Model", **options: Any) -> None:
    """Show the pruning sequence of the tree in MODEL: leaves, errors, certificates.

    If another score than the error chose the tree, the score is shown, too.
    """
    import numpy as np

    from ..inspection.currency import currency_of, holdout_role, score_columns
    from ..model_selection import path_table, sequence_of

    given = held_out_counts(model, options)
    _note_shared_rows(model, given)
    holdout = given or model.holdout
    sequence, currency = sequence_of(model), currency_of(model)
    role = holdout_role(replace(model, holdout=holdout, group_rates=()), sequence)
    table = path_table(model, holdout, delta=options["delta"])
    table = _insert_scores(table, score_columns(model, sequence, holdout))
    n_members = len(table["leaves"])
    members = np.arange(n_members)
    if not options["show_all"] and n_members > MAX_MEMBERS and not options["as_json"]:
        distances_from_end = np.unique(np.round(np.geomspace(1, n_members, MAX_MEMBERS)).astype(int)) - 1
        # Small trees are at the end of the sequence. More of them are shown than of the large ones.
        members = n_members - 1 - distances_from_end[::-1]
        print_message(
            f"{len(members)} of {n_members} members shown; use --all to show every member", quiet=options["quiet"]
        )
    rows = [[_format_cell(name, values[i]) for name, values in table.items()] for i in members]
    head = [_head_of(name, currency) for name in table]
    result = {"score": currency.score, "members": {name: _plain_numbers(values) for name, values in table.items()}}
    note = [] if role is None else [f"Held out: {role.text}."]
    print_result(options, result, [make_table(head, rows, n_left=0), *note])


def _plain_numbers(values: "Array") -> list[Any]:
    """Return a column for JSON: None for scores that were left out."""
    return [None if isinstance(value, float) and math.isnan(value) else value for value in values.tolist()]


def _insert_scores(table: "dict[str, Array]", scores: "dict[str, Array]") -> "dict[str, Array]":
    """Return the table of a path with the columns of scores before those of errors."""
    first_columns = {name: table[name] for name in ("leaves", "alpha") if name in table}
    return first_columns | scores | table


def _head_of(column: str, currency: "Currency") -> str:
    """Return the head of a column of the path; where another score is shown, that of an error says so."""
    suffix = f"_{currency.score.replace(' ', '_')}"
    if not currency.is_error and column.endswith(suffix):
        name = column.removesuffix(suffix)
        head = HEAD_OF_COLUMN.get(name, name)
        return head if name == "standard_error" else f"{head} {currency.name}"
    head = HEAD_OF_COLUMN.get(column, column)
    return head if currency.is_error or column not in ERROR_COLUMNS else f"{head} error"


def _format_cell(column: str, value: Any) -> str:
    """Return a value of a column of the path as text."""
    if column == "shown":
        return "<-" if value else ""
    if column == "leaves":
        return f"{value:,}"
    if math.isnan(value):  # the score of this member was left out
        return ""
    return f"{value:.2e}" if column == "alpha" else f"{value:.4f}"


def _note_shared_rows(model: "Model", holdout: "Sample | None") -> None:
    """Print a note if rows of --holdout are among those that grew the tree."""
    from ..statistics.freshness import warn_of_shared_rows

    if holdout is not None:
        with warnings_as_notes():
            warn_of_shared_rows(model.grown.tree.history, holdout, "to prune or choose the tree")
