"""secateur data and reproduce: folders of data sets, and the experiments of the five documents on them."""

from dataclasses import asdict
from typing import Any

import click

from ..research import NAMES
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
def build(folder: str, **options: Any) -> None:
    """Generate, copy and download data sets into the folder DIR.

    Sets defined by a rule or a game are generated, those of scikit-learn are
    copied, the others are downloaded from OpenML. Checksums verify their rows.
    A missing set is listed with the reason.
    """
    from .._utils.progress import progress_bar
    from ..research import build_data

    with progress_bar("data sets") as progress:
        shown = None if options["quiet"] else progress
        made = build_data(folder, only=options["only"], network=not options["offline"], progress=shown)
    rows = [[one.name, one.how, f"{one.rows:,}" if one.rows else "missing", one.checked, one.note] for one in made]
    head = ["set", "how", "rows", "checksum", "note"]
    common.show(options, {"sets": [asdict(one) for one in made]}, [common.grid(head, rows, left=5)])


@common.command(
    "secateur reproduce rep-analysis --quick",
    "secateur reproduce rademacher --data data --only kropt --out results",
    "secateur reproduce accuracy-simplicity --figure 4",
)
@click.argument("name", type=common.Choice([*NAMES, "claims"]), metavar="NAME", required=False)
@click.option("--list", "is_list", is_flag=True, help="List the experiments, their figures and their data sets.")
@click.option("--data", "data_dir", metavar="DIR", help="Folder of data sets, created by `secateur data build`.")
@click.option("--out", default="reproduction", metavar="DIR", help="Output folder.")
@click.option("--quick", is_flag=True, help="Run a short version on generated data; takes less than a minute.")
@click.option("--only", multiple=True, metavar="SET", help="Run only this data set or part; can be repeated.")
@click.option("--figure", metavar="N", help='Run only this figure or table of the document, such as 3 or "table 1".')
@common.n_jobs_option
@common.random_state_option("Random seed.")
@common.output_options
def reproduce(name: str | None, **options: Any) -> None:
    """Run the experiment NAME and compare our figures with the published ones.

    \b
    NAME is one of
      rep-analysis          An Analysis of Reduced Error Pruning (2001)
      rademacher            Selective Rademacher Penalization and REP (2004)
      accuracy-simplicity   Trading Accuracy for Simplicity (1994)
      srm                   lecture notes on growing and pruning
      subadditive           Pruning with Subadditive Penalties (2006)
      certificates          the certificates of this library
      claims                every claim of the documents, and whether it holds

    Without --data, data sets that cannot be generated are skipped. Finished
    parts are kept in the output folder and are not run again.
    """
    from ..research import listed, run

    if name == "claims":
        _claims(options)
    elif options["is_list"] or name is None:
        found = {one: listed(one) for one in ([name] if name else NAMES)}
        lines = []
        for key, one in found.items():
            lines += [f"{key}: {one['document']}", f"  --figure {', '.join(one['figures']) or 'none'}"]
            lines.append(f"  --only {', '.join(one['only'])}")
        common.show(options, found, lines)
    else:
        same = {one: options[one] for one in ("out", "quick", "only", "figure", "quiet")}
        result = run(name, data=options["data_dir"], jobs=options["n_jobs"], seed=options["random_state"], **same)
        common.show(options, result.to_dict(), [result.markdown])


def _claims(options: common.Options) -> None:
    """Check the claims of the documents that --only names, or of all."""
    from ..research import check_claims

    found = [one for document in options["only"] or [None] for one in check_claims(document)]
    plain = [
        {name: getattr(one.claim, name) for name in ("document", "place", "says", "where")}
        | {"verdict": one.verdict, "evidence": one.evidence}
        for one in found
    ]
    lines = ["{verdict}: {document}, {place}: {says} [{where}] - {evidence}".format(**one) for one in plain]
    common.show(options, {"claims": plain}, lines)
