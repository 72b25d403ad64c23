"""The command `secateur monitor`: test, as labelled rows arrive, whether the certificate of a tree still holds."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..engines.registry import COMMAND_LINE_ENGINES
from ..errors import show
from ..statistics.monitor_status import format_limit
from ._command import (
    FRACTION,
    Options,
    choice_option,
    files_argument,
    make_table,
    print_message,
    print_result,
    warnings_as_notes,
)
from ._input import count_rows, input_output_options, model_command, read_table, target_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..core import Model
    from ..monitoring import Monitor, MonitorStatus

MAX_PRINTED_LEAVES = 20


@model_command(
    "secateur monitor tree.json march.csv --state monitor.json",
    "secateur monitor tree.json april.csv may.csv --state monitor.json --ids id",
)
@files_argument
@choice_option("--engine", names=COMMAND_LINE_ENGINES, default="memory", help="Engine that reads the rows.")
@click.option("--target", metavar="COL", help="Target column; by default that of the model.")
@click.option("--ids", metavar="COL", help="Column of row ids, which recognise rows that are handed in twice.")
@click.option(
    "--alpha", type=FRACTION, default=0.05, help="Allowed probability of a false alarm, over all looks together."
)
@click.option(
    "--limit", type=FRACTION, metavar="P", help="Largest error accepted; by default the certificate of the model."
)
@click.option(
    "--state", required=True, metavar="FILE", type=click.Path(dir_okay=False),
    help="File with the state of the monitor, which is created or updated.",
)  # fmt: skip
@input_output_options
def monitor(model: "Model", data: tuple[str, ...], **options: Any) -> int:
    """Test whether the certificate of the tree in MODEL holds on the labelled rows of DATA.

    Each file is a batch, in the given order. Look as often as you like: the
    probability of a false alarm covers all looks. Exit status 0: not
    contradicted; 1: the certificate, or the limit of a leaf, is contradicted.
    If a file is refused, none is counted.
    """
    running = _open_monitor(model, options)
    for path in data:
        counts, ids = _count_batch(model, path, options)
        status = running.update_counts(counts, ids=ids)
    running.save(options["state"])
    print_message(f"written to {options['state']}", quiet=options["quiet"])
    print_result(options, status.to_dict(), _describe(status))
    return 1 if status.is_alarm else 0


def _open_monitor(model: "Model", options: Options) -> "Monitor":
    """Return the monitor in the state file, or a new one; refuse options that contradict the file."""
    from ..monitoring import Monitor

    path = options["state"]
    if not Path(path).exists():
        with warnings_as_notes():
            return Monitor(model, limit=options["limit"], alpha=options["alpha"])
    running = Monitor.load(path, model)
    plan = running.status().plan
    typed = click.core.ParameterSource.COMMANDLINE
    for name, value in (("limit", plan.limit), ("alpha", plan.alpha)):
        is_typed = click.get_current_context().get_parameter_source(name) is typed
        if is_typed and options[name] != value:
            raise click.UsageError(
                f"--{name} {options[name]:g}: {path} was started with {value:g}, which cannot change while rows are "
                "counted; leave the option out, or start a new state file"
            )
    return running


def _count_batch(model: "Model", path: str, options: Options) -> tuple[Any, Any]:
    """Return the counts of the rows of a file, and their ids; None without --ids."""
    from ..routing import count

    if options["ids"] is None:
        return count_rows(model, path, {**options, "sample": path, "groups": None}), None
    if options["engine"] != "memory":
        raise click.UsageError(
            f"--ids {show(options['ids'])} with --engine {options['engine']}: ids are read in memory only; leave "
            "--engine or --ids out"
        )
    settings = {**options, "groups": options["ids"]}  # read_table returns this column beside the table
    rows = read_table(settings, path, target=target_name(model, options), schema=model.tree.schema)
    with warnings_as_notes():
        counts = count(model.tree, rows.table, sample_weight=rows.weights, sample=path)
    return counts, rows.groups


def _describe(status: "MonitorStatus") -> "list[RenderableType]":
    """Return what to print: a sentence, the leaves with most evidence against their limits, and the shares of rows."""
    tested = [leaf for leaf in status.leaves if leaf.limit is not None]
    parts: list[RenderableType] = [str(status)]
    if tested:
        needed = {leaf.leaf: 1 / leaf.alpha for leaf in tested}
        tested.sort(key=lambda leaf: leaf.alpha * leaf.evidence, reverse=True)
        rows = [
            [
                leaf.rule,
                f"{leaf.n:,}",
                f"{leaf.errors:,}",
                format_limit(leaf.limit or 0.0),
                f"{leaf.evidence:,.1f} of {needed[leaf.leaf]:,.0f}",
                "broken" if leaf.is_contradicted else "",
            ]
            for leaf in tested[:MAX_PRINTED_LEAVES]
        ]
        parts.append(make_table(["rule", "rows", "errors", "limit", "evidence", ""], rows))
    else:
        parts.append(f"no rule is tested by itself: {status.plan.leaf_note}")
    parts.append(str(status.shares))
    return parts
