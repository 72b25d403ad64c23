"""Held-out rows of a command: a file to count here, counts made elsewhere, or an engine that counts."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ..engines.registry import FROM_FILES
from . import _common as common
from ._reading import Reading

if TYPE_CHECKING:
    from ..nouns import Model, Sample

READING = ("ignore", "sample_weight", "delimiter", "header", "encoding", "decimal", "dates", "missing_target", "engine")
ROWS = ("sample", "target", "nominal", "numeric", *READING, "na")  # options that say which rows, and how they are read
held_out_options = common.together(
    click.option("--sample", metavar="NAME", help="Name of the held-out sample; derived from its rows by default."),
    click.option(
        "--engine", type=common.Choice(FROM_FILES), default="memory", show_default=True,
        help="Engine that reads the rows.",
    ),
    click.option("--target", metavar="COL", help="Target column; by default that of the model."),
    click.option("--counts", metavar="FILE", help="Counts written by `secateur count`, instead of rows."),
    click.option(
        "--holdout", metavar="DATA", help="Held-out rows: a file, folder or pattern; - is standard input."
    ),
)  # fmt: skip


def held_out_counts(model: "Model", options: common.Options) -> "Sample | None":
    """The counts of the held-out rows in the model's tree, or None if there are none."""
    if options["holdout"] and options["counts"]:
        raise click.UsageError("--holdout and --counts exclude each other; give one of them")
    if not options["holdout"] and not options.get("data"):
        _refuse_reading(options)
    if options["counts"]:
        from ..modelfile import load_counts

        return load_counts(options["counts"], model.tree)
    return count_rows(model, options["holdout"], options) if options["holdout"] else None


def count_rows(model: "Model", data: str, options: common.Options) -> "Sample":
    """The counts of a file's rows in the model's tree.

    Without a name given the sample is called by its rows, so that two files are not one sample.
    """
    counts = _counted(model, data, options)
    return counts if options["sample"] else replace(counts, sample=f"rows {counts.mark.hex()[:8]}")


def _refuse_reading(options: common.Options) -> None:
    """Refuse options that say how rows are read where none are."""
    context, typed = click.get_current_context(), click.core.ParameterSource.COMMANDLINE
    given = [f"--{name.replace('_', '-')}" for name in ROWS if context.get_parameter_source(name) is typed]
    if not given:
        return
    why = "--counts contains counts, not rows" if options["counts"] else "there are no rows without --holdout"
    raise click.UsageError(f"{', '.join(given)}: {why}")


def _check_kinds(model: "Model", options: common.Options) -> None:
    """An engine reads each column as the tree was grown on it: refuse to be asked for another kind."""
    assert model.tree.schema is not None
    kinds = {column.name: column.kind for column in model.tree.schema.columns}
    for kind in ("nominal", "numeric"):
        for name in options[kind]:
            if kinds.get(name) != kind:
                why = (
                    f"it was {kinds[name]} when the tree was grown" if name in kinds else "the tree has no such column"
                )
                raise click.UsageError(f"--{kind} {name} with --engine {options['engine']}: {why}")


def _counted(model: "Model", data: str, options: common.Options) -> "Sample":
    sample = options["sample"] or "prune"
    target = common.target_of(model, options["target"])
    if options["engine"] != "memory":
        from .. import engines
        from ..data.progress import progress_bar

        _check_kinds(model, options)
        with common.local_file(data) as file, common.told(), progress_bar("counting rows") as progress:
            elsewhere: Sample = engines.count(
                model.tree, file, target, sample=sample, na=("", *options["na"]),
                progress=None if options["quiet"] else progress, **{name: options[name] for name in READING},
            )  # fmt: skip
            return elsewhere
    from ..routing import count

    table, weights = Reading(options).read(data, target=target, schema=model.tree.schema)
    with common.told():
        counts: Sample = count(model.tree, table, sample_weight=weights, sample=sample)
    return counts
