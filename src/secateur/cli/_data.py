"""secateur data: folders of data sets for the experiments."""

from dataclasses import asdict
from typing import Any

import click

from . import _common as common


@click.group(
    epilog="""\b
Example:
  secateur data build data
  secateur data build data --only kropt --only nursery --offline"""
)
def data() -> None:
    """Create a folder of data sets."""


@data.command(
    epilog="""\b
Example:
  secateur data build data
  secateur reproduce rademacher --data data"""
)
@click.argument("folder", type=click.Path(file_okay=False), metavar="DIR")
@click.option("--only", multiple=True, metavar="SET", help="Create only this data set; can be repeated.")
@click.option("--offline", is_flag=True, help="Do not download from OpenML.")
@common.output_options
def build(folder: str, **options: Any) -> int:
    """Generate, copy and download data sets into the folder DIR.

    Sets defined by a rule or a game are generated, those of scikit-learn are
    copied, the others are downloaded from OpenML. Checksums verify their rows.
    A missing set is listed with the reason.
    """
    from .. import datasets
    from ..data.progress import progress_bar

    with progress_bar("data sets") as progress:
        shown = None if options["quiet"] else progress
        made = datasets.build(folder, only=options["only"], network=not options["offline"], progress=shown)
    rows = [[one.name, one.how, f"{one.rows:,}" if one.rows else "missing", one.checked, one.note] for one in made]
    head = ["set", "how", "rows", "checksum", "note"]
    common.show(options, {"sets": [asdict(one) for one in made]}, [common.grid(head, rows, left=5)])
    return 0
