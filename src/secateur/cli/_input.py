"""Read what a command works on: the model, the rows of data files, and the counts of held-out rows.

The options that state which rows are read, and how, are the same for every command that reads rows.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..engines.registry import COMMAND_LINE_ENGINES
from ..errors import DataError, show
from ._command import (
    Options,
    check_output_path,
    choice_option,
    combine_options,
    command,
    model_argument,
    output_options,
    print_message,
    warnings_as_notes,
)

if TYPE_CHECKING:
    from .._utils.arrays import Array
    from ..core import Model, Sample
    from ..data.batch import Batch
    from ..data.file_record import FileUse
    from ..data.raw_column import RawColumn
    from ..data.table import Schema, Table
    from ..data.target import TargetKind
    from ..data.text_options import TextOptions

MAX_LISTED_COLUMNS = 20  # in an error message
FILE_TYPE_OF_FIRST_BYTES = {b"PAR1": ".parquet", b"\x1f\x8b\x08": ".txt.gz", b"PK\x03\x04": ".zip"}
ENGINE_PARAMETERS = (  # options that are parameters of `engines.count` under the same name
    "ignore", "sample_weight", "delimiter", "header", "encoding", "decimal", "dates", "missing_target", "engine"
)  # fmt: skip
ROW_PARAMETERS = (
    "sample",
    "target",
    "nominal",
    "numeric",
    "groups",
    *ENGINE_PARAMETERS,
    "na",
)  # options that need rows
data_options = combine_options(  # how a data file is read
    click.option("--nominal", multiple=True, metavar="COL", help="Read this column of numbers as categories."),
    click.option("--numeric", multiple=True, metavar="COL", help="Read this column of text as numbers."),
    click.option("--ignore", multiple=True, metavar="COL", help="Ignore this column."),
    click.option("--sample-weight", metavar="COL", help="Column of row weights."),
    click.option(
        "--delimiter", metavar="CHAR", help="Delimiter of a text file; detected from its first lines by default."
    ),
    click.option("--encoding", metavar="NAME", help="Encoding of a text file; UTF-8 or cp1252 by default."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark; detected by default."),
    choice_option(
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
    choice_option(
        "--missing-target", names=("drop", "error"), help="Drop rows without a target, or report an error."
    ),
)  # fmt: skip
input_output_options = combine_options(output_options, data_options)
groups_option = click.option(
    "--groups", metavar="COL",
    help="Column of groups, such as patients: rows of one group stay together, and certificates count groups.",
)  # fmt: skip
group_option = click.option(
    "--group", multiple=True, metavar="COL",
    help="Column of population groups, such as sex; for several columns together, repeat it. The tree need not use it.",
)  # fmt: skip
keep_option = click.option(
    "--keep", multiple=True, metavar="COL",
    help="Keep this column, even if it looks like an identifier or gives away the target; `all` keeps every column.",
)  # fmt: skip
held_out_options = combine_options(
    click.option("--sample", metavar="NAME", help="Name of the held-out sample; derived from its rows by default."),
    choice_option("--engine", names=COMMAND_LINE_ENGINES, default="memory", help="Engine that reads the rows."),
    click.option("--target", metavar="COL", help="Target column; by default that of the model."),
    groups_option,
    click.option("--counts", metavar="FILE", help="Counts written by `secateur count`, instead of rows."),
    click.option("--holdout", metavar="DATA", help="Held-out rows: a file, folder or pattern; - is standard input."),
)


def model_command(*examples: str) -> Callable[[Callable[..., int | None]], click.Command]:
    """Return a decorator for a function that takes a model; the command loads the model from the file that it is given.

    The command checks the output file before it loads the model.
    """

    def make_command(function: Callable[..., int | None]) -> click.Command:
        @wraps(function)
        def load_and_run(model: str, **options: Any) -> int | None:
            check_output_path(options.get("output"), force=options.get("force", False))
            return function(load_model_file(model), **options)

        return command(*examples)(model_argument(load_and_run))

    return make_command


def load_model_file(path: str) -> "Model":
    """Return the model in a file; "-" is standard input."""
    from ..modelfile import load_model

    with local_file(path, suffix=".json") as file:
        return load_model(file)


@contextmanager
def local_file(path: str | Sequence[str], suffix: str | None = None) -> Iterator[Any]:
    """Yield a path, or a list of paths, that can be read; "-" is standard input, copied to a temporary file.

    Parameters
    ----------
    path : str or sequence of str
    suffix : str, optional
        Suffix of the temporary file; by default its first bytes decide.
    """
    if not isinstance(path, str) and len(path) == 1:
        path = path[0]
    if path != "-":
        yield path if isinstance(path, str) else [Path(part) for part in path]
        return
    data = sys.stdin.buffer.read()
    if not data:
        raise DataError("standard input is empty")
    if suffix is None:
        types = FILE_TYPE_OF_FIRST_BYTES.items()
        suffix = next((suffix for first_bytes, suffix in types if data.startswith(first_bytes)), ".txt")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"standard-input{suffix}")
        file.write_bytes(data)
        yield os.fspath(file)


class InputRows(NamedTuple):
    """The rows of data files, with their weights and groups; None if there is no column of weights or groups.

    `groups` are the groups of rows that belong together, `populations` the columns of population groups by name.
    """

    table: "Table"
    weights: "Array | None"
    groups: "RawColumn | None"
    populations: "dict[str, RawColumn]"


def read_table(
    options: Options,
    path: str | Sequence[str],
    *,
    target: str | None,
    schema: "Schema | None" = None,
    target_kind: "Callable[[RawColumn], TargetKind] | TargetKind | None" = None,
    keep: Sequence[str] | None = None,
    default_groups: str | None = None,
) -> InputRows:
    """Return the rows of data files as a table, with their weights and groups; print the reader's warnings as notes.

    Parameters
    ----------
    options : dict
        The values of `data_options`. "text_columns", if given, names columns that are read as text.
    path : str or sequence of str
        The files; "-" is standard input.
    target : str or None
        Name of the target column; None if there is no target.
    schema : Schema, optional
        The schema of the tree in which the rows will be routed; by default a new schema is made from the rows.
    target_kind : {"class", "number"} or function, optional
        How the target is read; a function decides from the target column.
    keep : sequence of str, optional
        Leave out columns that cannot generalise, such as identifiers, except those named here; None leaves out none.
    default_groups : str, optional
        The column of groups that is used if --groups is not given and the files have a column of this name.
    """
    from ..data.encoding import encode, warn_categories
    from ..data.raw_column import original_values
    from ..data.target import drop_unlabelled_rows

    weight_column = options["sample_weight"]
    with local_file(path) as file, warnings_as_notes():
        rows = _open_rows(options, path, file, target, schema)
        if target is not None:
            classes = None if schema is None else schema.classes
            rows, _ = drop_unlabelled_rows(rows, target, options["missing_target"], classes)
        weights = None if weight_column is None else original_values(rows.read(weight_column))
        groups_column = options.get("groups") or (default_groups if default_groups in rows.names else None)
        groups = None if groups_column is None else rows.read(groups_column)
        populations = {name: rows.read(name) for name in options.get("group") or ()}
        rows = _select_columns(rows, options, target)
        table = encode(
            rows,
            target=target,
            target_kind=target_kind(rows.read(str(target))) if callable(target_kind) else target_kind,
            nominal=list(options["nominal"]) or None,
            numeric=list(options["numeric"]) or None,
            schema=schema,
            strict=False,
            sample_weight=weights,
            missing_target=options["missing_target"],
        )
        if schema is None and table.schema.classes is not None:
            warn_categories(str(target), table.schema.classes.tolist())
        if keep is not None:
            table = _drop_screened_columns(table, keep)
        return InputRows(table, weights, groups, populations)


def _open_rows(
    options: Options, path: str | Sequence[str], file: Any, target: str | None, schema: "Schema | None"
) -> "Batch":
    """Open data files whose path is `file`, given by the user as `path`; check that they have the named columns."""
    from ..data.batch import cell_types_for, open_batch
    from ..data.text_options import TextOptions

    text_options = TextOptions(
        na=("", *options["na"]),
        has_header=options["header"],
        **{name: options[name] for name in ("delimiter", "encoding", "decimal", "dates")},
    )
    cell_types = cell_types_for(schema, options["nominal"], options["numeric"], target)
    for name in options.get("text_columns", ()):
        cell_types.setdefault(name, "text")
    rows = open_batch(file, options=text_options, cell_types=cell_types)
    named_columns = [("--target", target), ("--sample-weight", options["sample_weight"])]
    named_columns.append(("--ids" if options.get("ids") else "--groups", options.get("groups")))
    named_columns += [("--ignore", name) for name in options["ignore"]]
    population_columns = [("--group", name) for name in options.get("group") or ()]
    for flag, name in (*named_columns, *population_columns):
        if name is not None and name not in rows.names:
            shown_path = path if isinstance(path, str) else " ".join(path)
            hint = _suggest_column(name, rows.names, text_options)
            raise DataError(f"{shown_path} has no column {show(name)} ({flag}){hint}")
    _check_roles(named_columns[1:], target, schema)
    _check_roles(population_columns, target, None)  # the tree may use these columns
    return rows


def _check_roles(named_columns: Sequence[tuple[str, str | None]], target: str | None, schema: "Schema | None") -> None:
    """Raise `DataError` if a column of weights, groups or --ignore is also the target, or used by the tree."""
    for flag, name in named_columns:
        if name is not None and name == target:
            raise DataError(f"{flag} {show(name)}: this is the target column; name another column")
        if name is not None and schema is not None and name in schema.names:
            raise DataError(
                f"{flag} {show(name)}: the tree was grown on this column; leave {flag} out, or name another column"
            )


def _select_columns(rows: "Batch", options: Options, target: str | None) -> "Batch":
    """Return the rows without the columns of weights, groups and --ignore; at least one column must remain."""
    dropped = {options["sample_weight"], options.get("groups"), *options["ignore"]} - {None}
    if set(rows.names) <= {target, *dropped}:
        names = ", ".join(map(show, rows.names[:MAX_LISTED_COLUMNS]))
        raise DataError(
            f"there is no column to predict {show(target)} from (found {names}); is the delimiter right (--delimiter)?"
        )
    if not dropped:
        return rows
    return rows.select([j for j, name in enumerate(rows.names) if name not in dropped])


def _suggest_column(name: str, names: Sequence[str], text_options: "TextOptions") -> str:
    """Return a hint for a column that does not exist: the nearest name, or all names."""
    from .._utils.checks import did_you_mean

    hint = did_you_mean(name, names)
    if hint:
        return hint
    hint = f"; its columns are {', '.join(map(show, names[:MAX_LISTED_COLUMNS]))}"
    if text_options.has_header and any(column.replace(".", "", 1).lstrip("-").isdigit() for column in names):
        hint += " (if its first line is data: --no-header, and --target column1)"
    return hint


def _drop_screened_columns(table: "Table", keep: Sequence[str]) -> "Table":
    """Return the table without columns that cannot generalise and are not in `keep`; print a note for each."""
    from ..data.screening import drop_columns, screen_columns

    dropped = set()
    for finding in screen_columns(table):
        if not finding.is_left_out:
            print_message(
                f"note: column {show(finding.name)} {finding.reason}; if that means missing, give --na with it"
            )
        elif finding.name not in keep and "all" not in keep:
            dropped.add(finding.name)
            print_message(
                f"note: column {show(finding.name)} is left out ({finding.reason}); --keep "
                f"{show(finding.name)} keeps it"
            )
    if len(dropped) == table.n_columns:
        print_message("note: all columns would be left out, so all are kept; use --ignore to drop some of them")
        return table
    return drop_columns(table, dropped) if dropped else table


def record_data_files(paths: Sequence[str], use: "FileUse") -> list[dict[str, Any]]:
    """Return names, sizes and hashes of data files for the metadata of a model; standard input is left out."""
    from ..data.file_record import record_files

    return [asdict(record) for record in record_files([path for path in paths if path != "-"], use)]


def with_holdout_file(model: "Model", options: Options) -> Options:
    """Return the metadata of the model, in which the file of --holdout replaces earlier files of held-out rows.

    Without --holdout and --counts, the held-out rows are those of the model, and the metadata does not change.
    """
    from ..core import DataRecord

    if not (options["holdout"] or options["counts"]):
        return dict(model.metadata)
    files = [asdict(file) for file in DataRecord.of(model).files or () if file.use != "held out"]
    if options["holdout"]:
        files += record_data_files([options["holdout"]], "held out")
    return {**model.metadata, "files": files}


def target_name(model: "Model", options: Options) -> str:
    """Return the name of the target column in new data: --target, or else that of the model."""
    name = options["target"] or model.metadata.get("target")
    if not name:
        raise click.UsageError("--target is needed: the model file does not contain the name of the target column")
    return str(name)


def held_out_counts(model: "Model", options: Options) -> "Sample | None":
    """Return the held-out rows of --holdout or --counts, counted in the model's tree; None without these options."""
    if options["holdout"] and options["counts"]:
        raise click.UsageError("--holdout and --counts exclude each other; give one of them")
    if options["holdout"]:
        return count_rows(model, options["holdout"], options)
    if not options.get("data"):
        _refuse_row_options(options)
    if options["counts"]:
        from ..modelfile import load_counts

        return load_counts(options["counts"], model.tree)
    return None


def _refuse_row_options(options: Options) -> None:
    """Raise a usage error if an option that states how rows are read is on the command line."""
    context = click.get_current_context()
    typed = click.core.ParameterSource.COMMANDLINE
    flags = [f"--{name.replace('_', '-')}" for name in ROW_PARAMETERS if context.get_parameter_source(name) is typed]
    if flags:
        reason = "--counts contains counts, not rows" if options["counts"] else "there are no rows without --holdout"
        raise click.UsageError(f"{', '.join(flags)}: {reason}")


def count_rows(model: "Model", data: str, options: Options) -> "Sample":
    """Return the rows of data files, counted in the model's tree.

    Without --sample, the name of the sample is derived from its rows, so that the samples of two files have different
    names. Without --groups, the column of groups is the one that the model was fitted with, if the files have it.
    """
    counts: Sample
    if options.get("group") and options["sample_weight"]:
        raise click.UsageError("--group with --sample-weight: rates of population groups count rows without weights")
    if options["engine"] == "memory":
        rows = read_table(
            options, data, target=target_name(model, options), schema=model.tree.schema,
            default_groups=model.metadata.get("groups_column"),
        )  # fmt: skip
        with warnings_as_notes():
            counts = _count_in_memory(model, rows, options)
    elif options.get("groups"):
        raise click.UsageError(
            f"--groups {options['groups']} with --engine {options['engine']}: rows are counted by group in memory "
            "only; leave --engine out"
        )
    else:
        counts = _count_with_engine(model, data, options)
    return counts if options["sample"] else replace(counts, sample=f"rows {counts.sample_id.hex()[:8]}")


def _count_in_memory(model: "Model", rows: InputRows, options: Options) -> "Sample":
    """Return the counts of rows that have been read, by population group if --group is given."""
    from ..routing import count, count_groups

    sample = options["sample"] or "prune"
    if not options.get("group"):
        counts: Sample = count(model.tree, rows.table, sample_weight=rows.weights, sample=sample, groups=rows.groups)
        return counts
    flag = f"--group {options['group'][0]}"
    if rows.groups is not None:
        raise click.UsageError(
            f"{flag}: rates of population groups count independent rows, but rows belong together here (--groups); "
            "use rows of which each stands alone"
        )
    return count_groups(model.tree, rows.table, group=rows.populations, sample=sample)


def check_group_option(counts: "Sample | None", options: Options) -> None:
    """Refuse --group unless the held-out counts are by population group, and of just the columns of --group."""
    names = tuple(dict.fromkeys(options["group"]))
    found = tuple(population.column for population in getattr(counts, "populations", ()))
    if not names or found == names:
        return
    if not found:
        raise click.UsageError(
            f"--group {names[0]}: the held-out rows were not counted by population group; give them with --holdout"
        )
    raise click.UsageError(
        f"--group {' --group '.join(names)}: the held-out rows were counted by {', '.join(map(show, found))}; the "
        "groups of all these columns are certified together"
    )


def _count_with_engine(model: "Model", data: str, options: Options) -> "Sample":
    """Return the rows of data files, counted by the engine of --engine."""
    from .. import engines
    from .._utils.progress import progress_bar

    target = target_name(model, options)
    _check_column_kinds(model, options)
    with local_file(data) as file, warnings_as_notes(), progress_bar("counting rows") as progress:
        counts: Sample = engines.count(
            model.tree, file, target, sample=options["sample"] or "prune", na=("", *options["na"]),
            group=list(options.get("group") or ()) or None, progress=None if options["quiet"] else progress,
            **{name: options[name] for name in ENGINE_PARAMETERS},
        )  # fmt: skip
    return counts


def _check_column_kinds(model: "Model", options: Options) -> None:
    """Refuse --nominal and --numeric if they contradict the tree: engines read columns in the kinds of the tree."""
    assert model.tree.schema is not None
    kind_of_column = {column.name: column.kind for column in model.tree.schema.columns}
    for kind in ("nominal", "numeric"):
        for name in options[kind]:
            if name not in kind_of_column:
                reason = "the tree has no such column"
            elif kind_of_column[name] != kind:
                reason = f"it was {kind_of_column[name]} when the tree was grown"
            else:
                continue
            raise click.UsageError(f"--{kind} {name} with --engine {options['engine']}: {reason}")
