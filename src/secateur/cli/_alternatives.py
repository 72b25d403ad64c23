"""The command `secateur alternatives`: all prunings of a tree that are about as good as the best."""

from typing import TYPE_CHECKING, Any

import click

from ..errors import show
from ._command import (
    Options,
    choice_option,
    int_option,
    make_table,
    print_message,
    random_state_option,
    warnings_as_notes,
    write_model,
    write_model_options,
)
from ._input import held_out_counts, held_out_options, input_output_options, model_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from ..analysis import Alternatives
    from ..core import Pruning

MAX_PRINTED_COLUMNS = 20


@model_command(
    "secateur alternatives tree.json --holdout newer.csv --within 0.01",
    "secateur alternatives tree.json --without postcode --output smaller.json",
)
@held_out_options
@click.option(
    "--within", default="0.01", metavar="N|SHARE",
    help="Errors more than the best: a number such as 25, or a share of the rows such as 0.01.",
)  # fmt: skip
@int_option("--max-leaves", 1, help="Consider only prunings with at most N leaves.")
@int_option("--draws", 1, help="Print N random members.")
@click.option("--without", multiple=True, metavar="COL", help="Show the best member that does without this column.")
@choice_option(
    "--member", names=("smallest", "best", "random"), help="Member to show and to write; not with --without."
)
@random_state_option("Seed of random members.")
@write_model_options
@input_output_options
def alternatives(model: Any, **options: Any) -> None:
    """Count all prunings of the tree in MODEL that are as good as the best.

    As good means: at most --within more errors on held-out rows. The columns
    that all of these prunings use are needed; each of the others can be left
    out. A member is written to --output as a model; a certificate of it needs
    rows that were not counted here, or a method that pays for the choice.
    """
    from ..model_selection.alternatives import alternatives_of, with_pruning

    holdout = held_out_counts(model, options)
    if holdout is None and model.holdout is None:
        raise click.UsageError("held-out rows are needed; give --holdout FILE or --counts FILE")
    within = _parse_within(options["within"])
    with warnings_as_notes():
        members = alternatives_of(model, holdout, within=within, max_leaves=options["max_leaves"])
    name, member = _chosen_member(members, options)
    drawn = members.sample(options["draws"], options["random_state"]) if options["draws"] else []
    result = {
        "sentence": str(members),
        **members.to_dict(),
        "member": {"name": name, **_describe_member(members, member)},
        "draws": [_describe_member(members, pruning) for pruning in drawn],
    }
    write_model(with_pruning(model, member, holdout), options, result, _describe(members, name, member, drawn))
    if options["output"]:
        print_message(
            "note: the held-out rows chose among all prunings; certify the written tree on other rows",
            quiet=options["quiet"],
        )


def _parse_within(text: str) -> int | float:
    """Return --within as a whole number of errors or as a share of the rows."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    raise click.UsageError(
        f"--within {show(text)}: a number of errors such as 25, or a share of the rows such as 0.01, is needed"
    )


def _chosen_member(members: "Alternatives", options: Options) -> "tuple[str, Pruning]":
    """Return the member that the options ask for, and its name."""
    is_typed = click.get_current_context().get_parameter_source("member") is click.core.ParameterSource.COMMANDLINE
    if options["without"]:
        if is_typed:
            raise click.UsageError("--without and --member exclude each other; give one of them")
        return f"best without {' and '.join(options['without'])}", members.without(*options["without"])
    name = options["member"]
    if name == "random":
        return name, members.sample(1, options["random_state"])[0]
    return name, members.best if name == "best" else members.smallest()


def _describe_member(members: "Alternatives", pruning: "Pruning") -> dict[str, Any]:
    """Return the leaves and the errors of a member."""
    errors = int(pruning.cost(members.node_cost))
    return {"leaves": pruning.n_leaves, "errors": errors, "errors_above_best": errors - members.least_cost}


def _describe(
    members: "Alternatives", name: str, member: "Pruning", drawn: "list[Pruning]"
) -> "Iterator[RenderableType]":
    """Yield what to print: the sentence, the shares of the columns, and the members that were asked for."""
    yield f"{members}."
    shares = list(members.column_shares.items())
    if shares:
        rows = [
            [column, _format_share(share), "needed" if share == 1 else "can be left out"]
            for column, share in shares[:MAX_PRINTED_COLUMNS]
        ]
        yield make_table(["column", "share of members", ""], rows)
    if len(shares) > MAX_PRINTED_COLUMNS:
        yield f"({len(shares) - MAX_PRINTED_COLUMNS} more columns: --json)"
    rows = [
        [title, f"{facts['leaves']:,}", f"{facts['errors']:,}", f"+{facts['errors_above_best']:,}"]
        for title, facts in (
            ("best", _describe_member(members, members.best)),
            *([] if name == "best" else [(name, _describe_member(members, member))]),
            *((f"draw {i + 1}", _describe_member(members, pruning)) for i, pruning in enumerate(drawn)),
        )
    ]
    yield make_table(["member", "leaves", "errors", "above the best"], rows)


def _format_share(share: float) -> str:
    """Return a share; only shares of exactly 0 and 1 are written as such."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return "below 0.1%" if share < 0.001 else "above 99.9%" if share > 0.999 else f"{share:.1%}"
