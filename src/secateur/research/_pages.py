"""Fill the documentation pages about the experiments with tables and pictures from committed results.

`docs/results/NAME.json` is the `results.json` of a full run, and `docs/results/claims.json` has the findings on the
claims. A page marks a place to fill by two comments, the second of which is `<!-- end -->`. The first is
`<!-- table: NAME KEY -->` for a table of an experiment, `<!-- found: NAME -->` for what it found in three sentences,
`<!-- claims: NAME -->` for the claims of a document, and `<!-- facts -->` for the list of commands, times and versions.
The text between the comments is replaced.
"""

import json
import os
import re
import shutil
import tempfile
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from ..errors import DataError, show
from . import NAMES
from ._run import experiment_module
from ._sheets import Sheet
from ._study import Result, write_atomically

OVERVIEW = Path("explanation", "reproductions.md")
WHERE = Path("explanation", "where-is-it.md")
PAGES = (OVERVIEW, WHERE, *(Path("explanation", "reproductions", f"{name}.md") for name in NAMES))
PICTURES = Path("images", "reproductions")
_PLACE = re.compile(r"(<!-- (table: \S+ \S+|found: \S+|claims: \S+|facts) -->\n).*?(<!-- end -->)", re.DOTALL)


def write_docs(folder: str | os.PathLike[str] = "docs", *, pictures: bool = True) -> list[Path]:
    """Update the tables and pictures of the reproduction pages from the committed results.

    Parameters
    ----------
    folder : path
        Contains `results/claims.json`, `results/NAME.json` and `explanation/reproductions/NAME.md` for every
        experiment, and the pages `explanation/reproductions.md` and `explanation/where-is-it.md`.
    pictures : bool
        Whether to draw the pictures too; this needs matplotlib.

    Returns
    -------
    list of Path
        The pages.

    Examples
    --------
    >>> write_docs("nowhere")
    Traceback (most recent call last):
    secateur.errors.DataError: nowhere/explanation/reproductions.md cannot be read (No such file or directory)
    """
    pages = [Path(folder) / page for page in PAGES]
    for page in pages:
        write_atomically(page, fill_tables(_read(page), Path(folder) / "results"))
    if pictures:
        _draw_pictures(Path(folder))
    return pages


def fill_tables(text: str, results: Path) -> str:
    """Return the text of a page with its tables made from the results."""
    runs = {name: json.loads(_read(results / f"{name}.json")) for name in NAMES}
    tables = {
        f"table: {name} {sheet.key}": sheet.markdown()
        for name in NAMES
        for sheet in experiment_module(name).sheets(runs[name]["results"])
    }
    for name in NAMES:
        found = experiment_module(name).findings(runs[name]["results"])
        tables[f"found: {name}"] = "\n".join([*(f"- {sentence}" for sentence in found), ""])
    tables["facts"] = _runs_table(runs)
    tables |= _claim_tables(json.loads(_read(results / "claims.json"))["claims"])

    def replace(match: re.Match[str]) -> str:
        if match[2] not in tables:
            raise DataError(f"the page asks for {show(match[2])}; there are {', '.join(tables)}")
        return f"{match[1]}\n{tables[match[2]]}\n{match[3]}"

    return _PLACE.sub(replace, text)


def _draw_pictures(folder: Path) -> None:
    """Draw the pictures of all experiments from the results in `folder`, into its folder of pictures."""
    (folder / PICTURES).mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        results = json.loads(_read(folder / "results" / f"{name}.json"))["results"]
        with tempfile.TemporaryDirectory() as made:
            experiment_module(name).draw(results, Path(made))
            for picture in Path(made).glob("*.png"):
                shutil.copy(picture, folder / PICTURES / f"{name}-{picture.name}")


def _claim_tables(findings: list[dict[str, str]]) -> dict[str, str]:
    """Return a table of claims for each document."""
    head = ("place", "claim", "in the library", "verdict", "evidence", "the check rejects")
    keys = ("place", "says", "where", "verdict", "evidence", "rejects")
    tables = {}
    for document, of_document in groupby(findings, key=itemgetter("document")):
        rows = []
        for finding in of_document:
            cells = [finding[key].replace("|", "\\|") for key in keys]
            cells[2] = ", ".join(f"`{name}`" for name in re.split(r"[;,] (?=[a-z]+[ .])", cells[2]) if name)
            rows.append(cells)
        tables[f"claims: {document}"] = Sheet("claims", NAMES[document], head, rows).markdown()
    return tables


def _runs_table(runs: dict[str, Result]) -> str:
    """Return the commands, times, versions and seeds of all runs as Markdown."""
    lines = ["| command | parts | seconds | CPU seconds |", "| --- | ---: | ---: | ---: |"]
    for run in runs.values():
        seconds, cpu_seconds = run["seconds of the parts"], run["CPU seconds of the parts"]
        lines.append(f"| `{run['command']}` | {run['parts']} | {seconds:.0f} | {cpu_seconds:.0f} |")
    versions = sorted({run["versions"] for run in runs.values()})
    seeds = sorted({run["seed"] for run in runs.values()})
    return "\n".join([*lines, "", f"Seed {', '.join(map(str, seeds))}; {'; '.join(versions)}.", ""])


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error})") from error
