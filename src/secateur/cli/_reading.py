"""Data files of commands: the options that say how they are read, and their rows."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from ..errors import DataError
from . import _common as common
from ._common import local_file, talk, told

if TYPE_CHECKING:
    from ..data.arrays import Array
    from ..data.columns import Given
    from ..data.table import Schema, Table
    from ..data.target import TargetKind
    from ..data.textfile import Csv

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
        "--dates", "auto", "dmy", "mdy", "text",
        help="Read dates as numbers of days, or as text; dmy and mdy give the order if it is ambiguous.",
    ),
    click.option(
        "--na", multiple=True, metavar="TEXT",
        help="Treat cells with this text as missing. By default: empty cells, and words such as NA among numbers.",
    ),
    click.option(
        "--header/--no-header", default=True, help="Whether the first line of a text file contains column names."
    ),
    common.choice_option("--missing-target", "drop", "error", help="Drop rows without a target, or report an error."),
)  # fmt: skip
keep_option = click.option(
    "--keep", multiple=True, metavar="COL",
    help="Keep this column, even if it looks like an identifier or gives away the target; `all` keeps every column.",
)  # fmt: skip


class Reading:
    """How data files are read: the values of `data_options`."""

    def __init__(self, options: common.Options) -> None:
        self.nominal, self.numeric, self.ignore = options["nominal"], options["numeric"], options["ignore"]
        self.weight, self.missing_target = options["sample_weight"], options["missing_target"]
        self.how = (
            options["delimiter"], ("", *options["na"]) if options["na"] else ("",), options["header"],
            options["encoding"], options["decimal"], options["dates"],
        )  # fmt: skip

    def read(
        self,
        path: str | Sequence[str],
        *,
        target: str | None,
        schema: "Schema | None" = None,
        kind: "Callable[[Given], TargetKind] | TargetKind | None" = None,
        keep: Sequence[str] | None = None,
    ) -> tuple["Table", "Array | None"]:
        """Return the table in a file, and its row weights; notes of the reader go to standard error.

        `kind` may be a function of the target column. With `keep`, columns that cannot generalise are left out, but
        for these.
        """
        from ..data.columns import values_of
        from ..data.encoding import encode
        from ..data.remarks import tell_categories
        from ..data.sources import open_source, reading_of
        from ..data.target import labelled
        from ..data.textfile import Csv

        asked = [("--target", target), ("--sample-weight", self.weight), *(("--ignore", name) for name in self.ignore)]
        with local_file(path) as file, told():
            wanted = reading_of(schema, self.nominal, self.numeric, target)
            how = Csv(*self.how)
            rows = open_source(file, how=how, wanted=wanted)
            for what, name in asked:
                if name is not None and name not in rows.names:
                    shown = path if isinstance(path, str) else " ".join(path)
                    raise DataError(f"{shown} has no column {name!r} ({what}){_nearest(name, rows.names, how)}")
            if target is not None:
                classes = None if schema is None else schema.classes
                rows, _ = labelled(rows, target, self.missing_target, classes)
            weights = None if self.weight is None else values_of(rows.read(self.weight))
            left_out = {self.weight, *self.ignore} - {None}
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
                nominal=list(self.nominal) or None,
                numeric=list(self.numeric) or None,
                schema=schema,
                strict=False,
                sample_weight=weights,
                missing_target=self.missing_target,
            )
            if schema is None and table.schema.classes is not None:
                tell_categories(str(target), table.schema.classes.tolist())
            return (table if keep is None else _screened(table, keep)), weights


def _screened(table: "Table", keep: Sequence[str]) -> "Table":
    """The table without columns that cannot generalise; each is reported."""
    from ..data.screening import screened, without

    left_out = set()
    for one in screened(table):
        if not one.is_left_out:
            talk(f"note: column {one.name!r} {one.why}; if that means missing, give --na with it")
        elif one.name not in keep and "all" not in keep:
            left_out.add(one.name)
            talk(f"note: column {one.name!r} is left out ({one.why}); --keep {one.name!r} keeps it")
    if len(left_out) == table.n_columns:
        talk("note: all columns would be left out, so all are kept; use --ignore to drop some of them")
        return table
    return without(table, left_out) if left_out else table


def _nearest(name: str, names: Sequence[str], how: "Csv") -> str:
    from ..data.names import nearest

    near = nearest(name, names)
    if near:
        return near
    listed = f"; its columns are {', '.join(map(repr, names[:20]))}"
    is_data = how.has_header and any(one.replace(".", "", 1).lstrip("-").isdigit() for one in names)
    return listed + (" (if its first line is data: --no-header, and --target column1)" if is_data else "")
