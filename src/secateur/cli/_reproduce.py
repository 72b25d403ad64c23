"""The commands `secateur data` and `secateur reproduce`: create data sets, and rerun the published experiments."""

import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ..research import NAMES
from ._command import (
    Choice,
    Command,
    Options,
    PathText,
    command,
    make_table,
    n_jobs_option,
    output_options,
    print_result,
    random_state_option,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..research import Reproduction
    from ..research._sheets import Sheet

COLUMN_GAP = 3  # letters between two columns of a table


@click.group(
    epilog="""\b
Example:
  secateur data build data
  secateur data build data --only kropt --only nursery --offline"""
)
def data() -> None:
    """Create a folder of data sets."""


@data.command(
    cls=Command,
    epilog="""\b
Example:
  secateur data build data
  secateur reproduce rademacher --data data""",
)
@click.argument("folder", type=PathText(file_okay=False), metavar="DIR")
@click.option("--only", multiple=True, metavar="SET", help="Create only this data set; can be repeated.")
@click.option("--offline", is_flag=True, help="Do not download from OpenML.")
@output_options
def build(folder: str, **options: Any) -> None:
    """Generate, copy and download data sets into the folder DIR.

    Sets defined by a rule or a game are generated, those of scikit-learn are
    copied, the others are downloaded from OpenML. Checksums verify their rows.
    A missing set is listed with the reason.
    """
    from .._utils.progress import progress_bar
    from ..research import build_data

    with progress_bar("data sets") as progress:
        data_sets = build_data(
            folder, only=options["only"], network=not options["offline"],
            progress=None if options["quiet"] else progress,
        )  # fmt: skip
    rows = []
    for item in data_sets:
        n_rows = f"{item.rows:,}" if item.rows else "missing"
        rows.append([item.name, item.how, n_rows, item.checked, item.note])
    table = make_table(["set", "how", "rows", "checksum", "note"], rows, n_left=5)
    print_result(options, {"sets": [asdict(item) for item in data_sets]}, [table])


@command(
    "secateur reproduce rep-analysis --quick",
    "secateur reproduce rademacher --data data --only kropt --out results",
    "secateur reproduce accuracy-simplicity --figure 4",
)
@click.argument("name", type=Choice([*NAMES, "claims"]), metavar="NAME", required=False)
@click.option("--list", "is_list", is_flag=True, help="List the experiments, their figures and their data sets.")
@click.option("--data", "data_dir", metavar="DIR", help="Folder of data sets, created by `secateur data build`.")
@click.option("--out", default="reproduction", metavar="DIR", help="Output folder.")
@click.option("--quick", is_flag=True, help="Run a short version on generated data; takes less than a minute.")
@click.option("--only", multiple=True, metavar="SET", help="Run only this data set or part; can be repeated.")
@click.option("--figure", metavar="N", help='Run only this figure or table of the document, such as 3 or "table 1".')
@n_jobs_option
@random_state_option("Random seed.")
@output_options
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
    from ..research import run

    if name == "claims":
        _check_claims(options)
    elif options["is_list"] or name is None:
        _list_experiments([name] if name else NAMES, options)
    else:
        result = run(
            name, data=options["data_dir"], out=options["out"], quick=options["quick"], only=options["only"],
            figure=options["figure"], jobs=options["n_jobs"], seed=options["random_state"], quiet=options["quiet"],
        )  # fmt: skip
        print_result(options, result.to_dict(), _summary_parts(result))


def _summary_parts(result: "Reproduction") -> list["RenderableType"]:
    """Return the parts of a summary: on a terminal tables of its width, otherwise the Markdown of summary.md."""
    if not sys.stdout.isatty():
        return [result.markdown]
    from rich.console import Console

    width = Console().width
    parts: list[RenderableType] = []
    for sheet in result.sheets:
        parts += [sheet.title, *_sheet_tables(sheet, width), *([sheet.note] if sheet.note else []), ""]
    facts = [f"{name}: {value}" for name, value in result.run_info.items()]
    return [*parts, *facts, "", *(["What was found", *result.findings] if result.findings else [])]


def _sheet_tables(sheet: "Sheet", width: int) -> list["RenderableType"]:
    """Return a table as tables no wider than `width` if possible: the first column and as many others as fit.

    Headings are wrapped between words. Numbers are not wrapped. A column of text takes the width that is left.
    """
    rows = sheet.formatted_rows
    widths = []
    for i, heading in enumerate(sheet.head):
        shown = [row[i] for row in rows]
        if i and sheet.is_text_column[i]:  # sentences are wrapped, too
            shown = [word for cell in shown for word in cell.split()]
        widths.append(max(map(len, [*heading.split(), *shown, ""])))
    blocks: list[list[int]] = [[0]]
    for i in range(1, len(widths)):
        block = blocks[-1]
        if len(block) > 1 and sum(widths[j] + COLUMN_GAP for j in [*block, i]) > width:
            blocks.append([0, i])
        else:
            block.append(i)
    return [
        make_table(
            [sheet.head[i] for i in block],
            [[row[i] for i in block] for row in rows],
            left=[at for at, i in enumerate(block) if sheet.is_text_column[i]],
        )
        for block in blocks
    ]


def _list_experiments(names: Iterable[str], options: Options) -> None:
    """Print the document, the figures and the data sets of experiments."""
    from ..research import describe_experiment

    experiments = {name: describe_experiment(name) for name in names}
    lines = []
    for name, experiment in experiments.items():
        lines.append(f"{name}: {experiment['document']}")
        lines.append(f"  --figure {', '.join(experiment['figures']) or 'none'}")
        lines.append(f"  --only {', '.join(experiment['only'])}")
    print_result(options, experiments, lines)


def _check_claims(options: Options) -> None:
    """Check the claims of the documents of --only, or of all documents, and print the results."""
    from ..research.claims import FAULTS, check_claims

    claims = []
    lines = []
    for document in options["only"] or [None]:
        for check in check_claims(document):
            claim = check.claim
            claims.append({
                "document": claim.document, "place": claim.place, "says": claim.says, "where": claim.library,
                "verdict": check.verdict, "evidence": check.evidence,
                "rejects": FAULTS[claim.name].description if claim.name in FAULTS else "",
            })  # fmt: skip
            lines.append(
                f"{check.verdict}: {claim.document}, {claim.place}: {claim.says} [{claim.library}] - {check.evidence}"
            )
    print_result(options, {"claims": claims}, lines)
