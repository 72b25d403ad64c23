"""secateur reproduce: the experiments of the published papers."""

from typing import Any

import click

from . import _common as common

NAMES = ("rep-analysis", "rademacher", "accuracy-simplicity", "srm", "subadditive", "certificates")


@click.command(
    epilog="""\b
Example:
  secateur reproduce rep-analysis --quick
  secateur reproduce rademacher --data data --out results"""
)
@click.argument("name", type=click.Choice(NAMES), metavar="NAME")
@click.option("--data", "data_dir", metavar="DIR", help="Folder of real data sets (gzip CSV files with SCHEMA.json).")
@click.option("--out", default="reproduction", show_default=True, metavar="DIR", help="Folder to write to.")
@click.option("--quick", is_flag=True, help="A minute's worth, on generated data only.")
@click.option("--jobs", type=int, default=None, metavar="N", help="Threads; -1 for one per core.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@common.output_options
def reproduce(name: str, **options: Any) -> int:
    """Run the experiment NAME and set our figures beside the published ones.

    NAME is one of rep-analysis, rademacher, accuracy-simplicity, srm, subadditive, certificates.
    Finished parts are kept in the folder and not run again.
    """
    from ..experiments import run

    result = run(
        name,
        data=options["data_dir"],
        out=options["out"],
        quick=options["quick"],
        jobs=options["jobs"],
        seed=options["seed"],
        quiet=options["quiet"],
    )
    common.show(result.to_dict(), as_json=options["as_json"], text=lambda console: console.print(result.markdown))
    return 0
