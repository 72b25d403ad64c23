"""secateur reproduce: the experiments of the five documents."""

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
@click.option("--data", "data_dir", metavar="DIR", help="Folder of data sets: gzipped CSV files and SCHEMA.json.")
@click.option("--out", default="reproduction", show_default=True, metavar="DIR", help="Output folder.")
@click.option("--quick", is_flag=True, help="Run a short version on generated data; takes less than a minute.")
@common.n_jobs_option
@common.random_state_option("Random seed.")
@common.output_options
def reproduce(name: str, **options: Any) -> int:
    """Run the experiment NAME and compare our figures with the published ones.

    \b
    NAME is one of
      rep-analysis          An Analysis of Reduced Error Pruning (2001)
      rademacher            Selective Rademacher Penalization and REP (2004)
      accuracy-simplicity   Trading Accuracy for Simplicity (1994)
      srm                   lecture notes on growing and pruning
      subadditive           Pruning with Subadditive Penalties (2006)
      certificates          the certificates of this library

    Finished parts are kept in the output folder and not run again.
    """
    from ..experiments import run

    result = run(
        name,
        data=options["data_dir"],
        out=options["out"],
        quick=options["quick"],
        jobs=options["n_jobs"],
        seed=options["random_state"],
        quiet=options["quiet"],
    )
    common.show(result.to_dict(), as_json=options["as_json"], text=lambda console: console.print(result.markdown))
    return 0
