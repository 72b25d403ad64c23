"""The command `secateur update`: follow new rows by as few changes of a deployed tree as possible."""

from typing import TYPE_CHECKING, Any

import click

from ._certify import bound_to_dict
from ._command import (
    FRACTION,
    Options,
    choice_option,
    delta_option,
    int_option,
    make_table,
    print_message,
    random_state_option,
    repeats_option,
    warnings_as_notes,
    write_model,
    write_model_options,
)
from ._input import count_rows, groups_option, input_output_options, model_command, read_table, target_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..core import Model
    from ..updating import Update

MAX_PRINTED_CHANGES = 40


@model_command(
    "secateur update tree.json march.csv --output updated.json",
    "secateur update tree.json may.csv --certified-error 0.15 --fresh june.csv",
)
@click.argument("data", metavar="DATA")
@click.option("--target", metavar="COL", help="Target column; by default that of the model.")
@int_option("--max-changes", 0, help="Change the tree in at most N places.")
@click.option(
    "--target-error", type=FRACTION, metavar="X",
    help="Make the fewest changes with a cross-validated error of at most X; exit with status 1 if there are none.",
)  # fmt: skip
@click.option(
    "--certified-error", type=FRACTION, metavar="X",
    help="Make the fewest changes certified on --fresh to err at most X; exit with status 1 if there are none.",
)  # fmt: skip
@click.option("--fresh", metavar="DATA", help="Rows for --certified-error, which had no part in the tree.")
@choice_option("--distance", names=("nodes", "rows"), help="Count changed nodes, or changed predictions for DATA.")
@choice_option(
    "--select", names=("1se", "0se"),
    help="Without a target: the fewest changes within one standard error of the lowest error, or with the lowest.",
)  # fmt: skip
@int_option("--cv", 2, default=10, help="Number of folds of DATA that compare the numbers of changes.")
@click.option(
    "--regrow", is_flag=True,
    help="Grow new subtrees below leaves if no pruning of the grown tree reaches the error; without a target, always.",
)  # fmt: skip
@click.option("--below", multiple=True, type=int, metavar="NODE", help="With --regrow: only below this leaf.")
@groups_option
@random_state_option("Seed for the folds.")
@delta_option("certificate (--certified-error)")
@repeats_option
@write_model_options
@input_output_options
def update(model: "Model", data: str, **options: Any) -> int:
    """Update the tree in MODEL on the labelled rows of DATA, with as few changes as possible.

    Its tests stay: nodes are split again as they were grown, become leaves, or
    predict another class; --regrow adds new tests below leaves. DATA chooses the changes, so that it cannot certify
    the result; --certified-error takes the rows of --fresh for this.
    """
    from ..updating import update as update_model

    _check_options(options)
    groups_column = model.metadata.get("groups_column")
    rows = read_table(
        options, data, target=target_name(model, options), schema=model.tree.schema, default_groups=groups_column
    )
    names = ("max_changes", "target_error", "distance", "select", "cv", "random_state")
    settings: Options = {name: options[name] for name in names}
    settings["regrow"] = list(options["below"]) or options["regrow"]
    if options["regrow"] and options["certified_error"] is not None:  # whether to grow is decided before the test
        settings["target_error"] = options["certified_error"]
    with warnings_as_notes():
        found = update_model(model, rows.table, groups=rows.groups, **settings)
    if options["certified_error"] is not None:
        reading = {**options, "sample": "fresh", "engine": "memory"}
        fresh: Any = count_rows(found.deployed, options["fresh"], reading)
        target = options["certified_error"]
        found = found.certify_counts(fresh, target=target, delta=options["delta"], repeats=options["repeats"])
    bound = found.certificate
    result = {**found.to_dict(), "certificate": None if bound is None else bound_to_dict(bound)}
    write_model(found.model(), options, result, _describe(found))
    if found.is_met:
        return 0
    if bound is None:
        reason = f"--target-error {options['target_error']:g}: {found.reason}"
    else:
        reason = f"--certified-error {options['certified_error']:g}: {bound.reason}"
    print_message(f"not met: {reason}", quiet=options["quiet"])
    return 1


def _check_options(options: Options) -> None:
    """Refuse options that contradict each other, or that an update does not support."""
    if options["sample_weight"] is not None:
        raise click.UsageError("--sample-weight: changes are exchanged for whole errors, so each row counts once")
    if options["target_error"] is not None and options["certified_error"] is not None:
        raise click.UsageError("--target-error and --certified-error exclude each other; give one of them")
    if options["below"] and not options["regrow"]:
        raise click.UsageError("--below names leaves for --regrow; give both")
    if (options["certified_error"] is None) != (options["fresh"] is None):
        raise click.UsageError(
            "--certified-error and --fresh belong together: the rows of DATA choose the changes, and rows that had no "
            "part in this certify them"
        )


def _describe(found: "Update") -> "list[RenderableType]":
    """Return what to print: a sentence, the errors by number of changes, the changes, and the certificate."""
    counts, cv_errors = found.front.counts, found.cv_errors
    cells = []
    for i in found.shown_members():
        cv_error = "" if cv_errors is None else f"{cv_errors[i]:.2%}"
        error = f"{found.front.errors[i] / counts.total[0]:.2%}"
        cells.append([f"{found.front.n_changes[i]:,}", error, cv_error, "<- chosen" if i == found.chosen else ""])
    parts: list[RenderableType] = [found.headline, make_table(["changes", "error", "cross-validated", ""], cells)]
    changes = found.changes()
    parts += [f"- {change}" for change in changes[:MAX_PRINTED_CHANGES]]
    if len(changes) > MAX_PRINTED_CHANGES:
        parts.append(f"- and {len(changes) - MAX_PRINTED_CHANGES:,} more")
    if found.certificate is not None:
        parts.append(str(found.certificate))
    return parts
