"""Data files of commands: the options that say how they are read, their rows, and the counts of held-out ones."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ..engines.registry import COMMAND_LINE_ENGINES
from ..errors import DataError
from . import _common as common
from ._common import local_file, talk, told

if TYPE_CHECKING:
    from .._utils.arrays import Array
    from ..core import Model, Sample
    from ..data.raw_column import RawColumn
    from ..data.table import Schema, Table
    from ..data.target import TargetKind
    from ..data.text_options import TextOptions

READING = ("ignore", "sample_weight", "delimiter", "header", "encoding", "decimal", "dates", "missing_target", "engine")
ROWS = ("sample", "target", "nominal", "numeric", *READING, "na")  # options that say which rows, and how they are read
data_options = common.together(  # how a data file is read
    click.option("--nominal", multiple=True, metavar="COL", help="Read this column of numbers as categories."),
    click.option("--numeric", multiple=True, metavar="COL", help="Read this column of text as numbers."),
    click.option("--ignore", multiple=True, metavar="COL", help="Ignore this column."),
    click.option("--sample-weight", metavar="COL", help="Column of row weights."),
    click.option(
        "--delimiter", metavar="CHAR", help="Delimiter of a text file; detected from its first lines by default."
    ),
    click.option("--encoding", metavar="NAME", help="Encoding of a text file; UTF-8 or cp1252 by default."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark; detected by default."),
    common.choice_option(
        "--dates", names=("auto", "dmy", "mdy", "text"),
        help="Read dates as numbers of days, or as text; dmy and mdy give the order if it is ambiguous.",
    ),
    click.option(
        "--na", multiple=True, metavar="TEXT",
        help="Treat cells with this text as missing. By default: empty cells, and words such as NA among numbers.",
    ),
    click.option(
        "--header/--no-header", default=True, show_default=False,
        help="Whether the first line of a text file contains column names.",
    ),
    common.choice_option(
        "--missing-target", names=("drop", "error"), help="Drop rows without a target, or report an error."
    ),
)  # fmt: skip
input_output_options = common.together(common.output_options, data_options)
keep_option = click.option(
    "--keep", multiple=True, metavar="COL",
    help="Keep this column, even if it looks like an identifier or gives away the target; `all` keeps every column.",
)  # fmt: skip
held_out_options = common.together(
    click.option("--sample", metavar="NAME", help="Name of the held-out sample; derived from its rows by default."),
    common.choice_option("--engine", names=COMMAND_LINE_ENGINES, default="memory", help="Engine that reads the rows."),
    click.option("--target", metavar="COL", help="Target column; by default that of the model."),
    click.option("--counts", metavar="FILE", help="Counts written by `secateur count`, instead of rows."),
    click.option("--holdout", metavar="DATA", help="Held-out rows: a file, folder or pattern; - is standard input."),
)


def read(
    options: common.Options,
    path: str | Sequence[str],
    *,
    target: str | None,
    schema: "Schema | None" = None,
    kind: "Callable[[RawColumn], TargetKind] | TargetKind | None" = None,
    keep: Sequence[str] | None = None,
) -> tuple["Table", "Array | None"]:
    """Return the table in a file, and its row weights; notes of the reader go to standard error.

    `kind` may be a function of the target column. With `keep`, columns that cannot generalise are left out, but
    for these.
    """
    from ..data.column_warnings import warn_categories
    from ..data.encoding import encode
    from ..data.input import cell_types_for, open_batch
    from ..data.raw_column import original_values
    from ..data.target import drop_unlabelled_rows
    from ..data.text_options import TextOptions

    weight, nominal, numeric = options["sample_weight"], options["nominal"], options["numeric"]
    asked = [("--target", target), ("--sample-weight", weight), *(("--ignore", name) for name in options["ignore"])]
    form = {name: options[name] for name in ("delimiter", "encoding", "decimal", "dates")}
    with local_file(path) as file, told():
        text_options = TextOptions(na=("", *options["na"]), has_header=options["header"], **form)
        rows = open_batch(file, options=text_options, cell_types=cell_types_for(schema, nominal, numeric, target))
        for what, name in asked:
            if name is not None and name not in rows.names:
                shown = path if isinstance(path, str) else " ".join(path)
                raise DataError(f"{shown} has no column {name!r} ({what}){_nearest(name, rows.names, text_options)}")
        if target is not None:
            rows, _ = drop_unlabelled_rows(
                rows, target, options["missing_target"], None if schema is None else schema.classes
            )
        weights = None if weight is None else original_values(rows.read(weight))
        left_out = {weight, *options["ignore"]} - {None}
        if set(rows.names) <= {target, *left_out}:
            raise DataError(
                f"there is no column to predict {target!r} from (found {', '.join(map(repr, rows.names[:20]))}); "
                "is the delimiter right (--delimiter)?"
            )
        if left_out:
            rows = rows.select([j for j, name in enumerate(rows.names) if name not in left_out])
        table = encode(
            rows,
            target=target,
            target_kind=kind(rows.read(str(target))) if callable(kind) else kind,
            nominal=list(nominal) or None,
            numeric=list(numeric) or None,
            schema=schema,
            strict=False,
            sample_weight=weights,
            missing_target=options["missing_target"],
        )
        if schema is None and table.schema.classes is not None:
            warn_categories(str(target), table.schema.classes.tolist())
        return (table if keep is None else _screened(table, keep)), weights


def target_of(model: "Model", options: common.Options) -> str:
    """The name of the target column in new data."""
    name = options["target"] or model.metadata.get("target")
    if not name:
        raise click.UsageError("--target is needed: the model file does not contain the name of the target column")
    return str(name)


def held_out_counts(model: "Model", options: common.Options) -> "Sample | None":
    """The counts of the held-out rows in the model's tree, or None if there are none."""
    if options["holdout"] and options["counts"]:
        raise click.UsageError("--holdout and --counts exclude each other; give one of them")
    if options["holdout"]:
        return count_rows(model, options["holdout"], options)
    context, typed = click.get_current_context(), click.core.ParameterSource.COMMANDLINE
    given = [f"--{name.replace('_', '-')}" for name in ROWS if context.get_parameter_source(name) is typed]
    if given and not options.get("data"):
        why = "--counts contains counts, not rows" if options["counts"] else "there are no rows without --holdout"
        raise click.UsageError(f"{', '.join(given)}: {why}")
    if options["counts"]:
        from ..modelfile import load_counts

        return load_counts(options["counts"], model.tree)
    return None


def count_rows(model: "Model", data: str, options: common.Options) -> "Sample":
    """The counts of a file's rows in the model's tree.

    Without a name given the sample is called by its rows, so that two files are not one sample.
    """
    tree, target = model.tree, target_of(model, options)
    counts: Sample
    if options["engine"] == "memory":
        from ..routing import count

        table, weights = read(options, data, target=target, schema=tree.schema)
        with told():
            counts = count(tree, table, sample_weight=weights, sample=options["sample"] or "prune")
    else:
        from .. import engines
        from .._utils.progress import progress_bar

        _check_kinds(model, options)
        with local_file(data) as file, told(), progress_bar("counting rows") as progress:
            counts = engines.count(
                tree, file, target, sample=options["sample"] or "prune", na=("", *options["na"]),
                progress=None if options["quiet"] else progress, **{name: options[name] for name in READING},
            )  # fmt: skip
    return counts if options["sample"] else replace(counts, sample=f"rows {counts.sample_id.hex()[:8]}")


def _check_kinds(model: "Model", options: common.Options) -> None:
    """An engine reads each column as the tree was grown on it: refuse to be asked for another kind."""
    assert model.tree.schema is not None
    kinds = {column.name: column.kind for column in model.tree.schema.columns}
    for kind in ("nominal", "numeric"):
        for name in options[kind]:
            if kinds.get(name) != kind:
                was = (
                    f"it was {kinds[name]} when the tree was grown" if name in kinds else "the tree has no such column"
                )
                raise click.UsageError(f"--{kind} {name} with --engine {options['engine']}: {was}")


def _screened(table: "Table", keep: Sequence[str]) -> "Table":
    """The table without columns that cannot generalise; each is reported."""
    from ..data.screening import drop_columns, screen_columns

    left_out = set()
    for one in screen_columns(table):
        if not one.is_left_out:
            talk(f"note: column {one.name!r} {one.why}; if that means missing, give --na with it")
        elif one.name not in keep and "all" not in keep:
            left_out.add(one.name)
            talk(f"note: column {one.name!r} is left out ({one.why}); --keep {one.name!r} keeps it")
    if len(left_out) == table.n_columns:
        talk("note: all columns would be left out, so all are kept; use --ignore to drop some of them")
        return table
    return drop_columns(table, left_out) if left_out else table


def _nearest(name: str, names: Sequence[str], text_options: "TextOptions") -> str:
    from .._utils.checks import did_you_mean

    near = did_you_mean(name, names)
    if near:
        return near
    listed = f"; its columns are {', '.join(map(repr, names[:20]))}"
    is_data = text_options.has_header and any(one.replace(".", "", 1).lstrip("-").isdigit() for one in names)
    return listed + (" (if its first line is data: --no-header, and --target column1)" if is_data else "")
