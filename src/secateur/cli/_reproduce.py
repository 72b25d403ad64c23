"""secateur reproduce: the experiments of the five documents."""

from typing import Any

import click

from ..experiments import NAMES
from . import _common as common


@common.command(
    "secateur reproduce rep-analysis --quick",
    "secateur reproduce rademacher --data data --only kropt --out results",
    "secateur reproduce accuracy-simplicity --figure 4",
)
@click.argument("name", type=common.Choice([*NAMES, "claims"]), metavar="NAME", required=False)
@click.option("--list", "is_list", is_flag=True, help="List the experiments, their figures and their data sets.")
@click.option("--data", "data_dir", metavar="DIR", help="Folder of data sets, created by `secateur data build`.")
@click.option("--out", default="reproduction", show_default=True, metavar="DIR", help="Output folder.")
@click.option("--quick", is_flag=True, help="Run a short version on generated data; takes less than a minute.")
@click.option("--only", multiple=True, metavar="SET", help="Run only this data set or part; can be repeated.")
@click.option("--figure", metavar="N", help='Run only this figure or table of the document, such as 3 or "table 1".')
@common.n_jobs_option
@common.random_state_option("Random seed.")
@common.output_options
def reproduce(name: str | None, **options: Any) -> int:
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
    from ..experiments import listed, run

    if name == "claims":
        return _claims(options)
    if options["is_list"] or name is None:
        found = {one: listed(one) for one in ([name] if name else NAMES)}
        lines = []
        for key, one in found.items():
            lines += [f"{key}: {one['document']}", f"  --figure {', '.join(one['figures']) or 'none'}"]
            lines.append(f"  --only {', '.join(one['only'])}")
        common.show(options, found, lines)
        return 0
    same = {one: options[one] for one in ("out", "quick", "only", "figure", "quiet")}
    result = run(name, data=options["data_dir"], jobs=options["n_jobs"], seed=options["random_state"], **same)
    common.show(options, result.to_dict(), [result.markdown])
    return 0


def _claims(options: common.Options) -> int:
    """Check the claims of the documents that --only names, or of all."""
    from ..experiments import check_claims

    found = [one for document in options["only"] or [None] for one in check_claims(document)]
    plain = [
        {"document": one.claim.document, "place": one.claim.place, "says": one.claim.says, "where": one.claim.where,
         "verdict": one.verdict, "evidence": one.evidence}
        for one in found
    ]  # fmt: skip
    lines = [
        f"{one['verdict']}: {one['document']}, {one['place']}: {one['says']} [{one['where']}] - {one['evidence']}"
        for one in plain
    ]
    common.show(options, {"claims": plain}, lines)
    return 0
