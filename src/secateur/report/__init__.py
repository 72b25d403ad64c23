"""The report: one HTML file that shows all prunings of a sequence and lets the reader cut the tree by hand.

    _shown.py     what the page shows of a model    page/page.html, page.css   the page and its style
    _data.py      the data block, with the card     page/*.js                  the scripts, one concept each,
    _reasons.py   why each node was cut or kept                                joined in the order of SCRIPTS
    _groups.py    certified rates of population groups
    _candidates.py  what else the nodes could have asked
    _static.py    the tree for readers without scripts
    _alternatives.py  the prunings that are about as good as the best
    _card.py      the model card

The governance file, which states all that is known about a model, is collected by `_governance.py` and written by
`_governance_file.py`.

This module reads the model once (`_shown`) and joins the parts of the page. The page needs no network and no other
file. Its content security policy allows only its own script and style, which it names by their hashes. Names that come
from data are inserted as text, never as HTML.
"""

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from .. import __version__
from .._utils.output import write_file
from ..core import Model, as_model, check_no_surrogates
from ..core.class_names import as_one_line
from ..data.table import Table
from ..errors import show
from ..inspection.currency import error_currency, score_on
from ..monitoring import Monitor
from ..plot.distribution import encode_shown_rows
from ._data import page_data
from ._governance_file import Governance, governance
from ._monitoring import monitor_of, static_monitoring
from ._shown import ShownModel, read_model
from ._static import picture, static_html

__all__ = [
    "Governance",
    "Report",
    "governance",
    "notebook_html",
    "picture",
    "report_html",
    "write_report",
]

SCRIPTS = (
    "numbers", "elements", "data", "error-format", "words", "state", "chart", "folding", "layout", "node", "motion",
    "viewport", "minimap", "keyboard", "tree", "details", "panel", "route", "whatif", "scores", "plots", "evaluation",
    "groups", "compare", "alternatives", "downloads", "description", "rules", "members", "by-hand", "monitoring",
    "code", "tabs", "main",
)  # fmt: skip
DEFAULT_FRAME_PIXELS = 820


def write_report(
    model_or_parts: object,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    data: object = None,
    monitor: Monitor | str | PathLike[str] | None = None,
    overwrite: bool = True,
) -> Path:
    """Write the interactive report of a model as one HTML file that works offline.

    Parameters
    ----------
    model_or_parts : estimator, Model, or tuple of parts
        A fitted estimator, a `Model`, or some of its parts in any order: a `Tree` or `Pruning`,
        the `Counts` (or `Moments`) of the growing sample and then of a held-out one, a
        `PruningSequence`, a `Selection`, a `Bound`.
    path : str or path
        The file to write; missing folders are created. An older file is replaced only when the new one is complete.
    title : str, optional
        The title of the page; by default the name of the estimator.
    data : Table, or (X, y), optional
        The rows the tree was grown on. The page then shows the distribution of each tested column, by
        class, and its range. It contains sums of these rows, never a single row.
    monitor : Monitor or path of a state file, optional
        The monitor of the model. The page then shows the evidence against the limit, the rules that have broken, and
        the shares of rows.
    overwrite : bool
        Whether an older file may be replaced.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from secateur import datasets, grow
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(grow(datasets.monks(1)), f"{folder}/tree.html", title="Monks")
    ...     print(page.name, page.read_text("utf-8").startswith("<!doctype html>"))
    tree.html True
    """
    return _report(model_or_parts, title, data, monitor).save(path, overwrite=overwrite)


def report_html(
    model_or_parts: object,
    *,
    title: str | None = None,
    data: object = None,
    monitor: Monitor | str | PathLike[str] | None = None,
) -> str:
    """Return the report as text.

    Parameters
    ----------
    model_or_parts, title, data, monitor
        As for `write_report`.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> "http://" in report_html((tree, Counts.from_leaves(tree, [[3, 1], [0, 2]]))).replace("http://www.w3.org", "")
    False
    """
    return _report(model_or_parts, title, data, monitor).html


def notebook_html(model_or_parts: object, *, title: str | None = None, height: int = DEFAULT_FRAME_PIXELS) -> str:
    """Return the report in an HTML frame, for a notebook.

    Parameters
    ----------
    model_or_parts, title
        As for `write_report`.
    height : int
        Height of the frame in pixels.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> notebook_html((tree, Counts.from_leaves(tree, [[3, 1], [0, 2]])))[:7]
    '<iframe'
    """
    return _frame(report_html(model_or_parts, title=title), height)


@dataclass(frozen=True)
class Report:
    """A report that a notebook displays and that can be saved.

    Parameters
    ----------
    model : Model
        The model that the page shows.
    title : str, optional
        The title of the page.
    is_estimator : bool
        Whether the Python code on the page uses an estimator (`model.sequence_`) or a `Model` (`model.sequence`).
    table : Table, optional
        Rows whose distributions are shown; see `write_report`.

    Examples
    --------
    >>> from secateur import Counts, Pruning, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[3, 1], [0, 2]])
    >>> report = Report(Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown), "Two leaves")
    >>> report
    Report('Two leaves', 2 of 2 leaves)
    >>> "<title>Two leaves</title>" in report.html
    True
    """

    model: Model
    title: str | None = None
    is_estimator: bool = False
    table: Table | None = None
    monitor: Monitor | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "monitor", monitor_of(self.model, self.monitor))

    @cached_property
    def html(self) -> str:
        """The page with its style, scripts and data, and a policy that allows nothing else."""
        shown = read_model(self.model, self.table)
        style = _page_file("page.css")
        modules = "\n".join(_minify(_page_file(f"{name}.js")) for name in SCRIPTS)
        script = f'(() => {{\n"use strict";\n{modules}\n}})();\n'
        data = page_data(shown, self.name, is_estimator=self.is_estimator, monitor=self.monitor)
        policy = (
            f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
            "img-src data: blob:; base-uri 'none'; form-action 'none'"
        )
        return Template(_page_file("page.html")).substitute(
            policy=policy,
            version=__version__,
            title=escape(as_one_line(self.name)),
            summary=escape(_summary(shown)),
            style=style,
            icon=f"data:image/svg+xml,{quote(_page_file('icon.svg').strip())}",
            static=static_html(shown) + static_monitoring(self.monitor),
            # Without "<" the data can neither end the script element nor start a comment in it. JSON allows the escape.
            data=json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
            script=script,
        )

    @property
    def name(self) -> str:
        """The title, or by default the name of the estimator."""
        return self.title or str(self.model.parameters.get("estimator") or "A pruned tree")

    def save(self, path: str | PathLike[str], *, overwrite: bool = True) -> Path:
        """Write the page to a file and return its path; an older file is replaced when the new one is complete."""
        write_file(path, self.html, overwrite=overwrite)
        return Path(path)

    def _repr_html_(self) -> str:
        return _frame(self.html, DEFAULT_FRAME_PIXELS)

    def __repr__(self) -> str:
        return f"Report({show(self.name)}, {self.model.pruning.n_leaves:,} of {self.model.tree.n_leaves:,} leaves)"


def _report(model_or_parts: object, title: str | None, data: object = None, monitor: Any = None) -> Report:
    model = as_model(model_or_parts, done="reported")
    check_no_surrogates(model.tree, "the page, which sends rows through the tree itself,", "show the tree as text")
    table = None if data is None else encode_shown_rows(model.tree, data)
    return Report(model, title, hasattr(model_or_parts, "model_"), table, monitor)


def _page_file(name: str) -> str:
    """Return the text of a file in the folder `page`."""
    return files(__package__).joinpath("page", name).read_text("utf-8")


def _frame(page: str, height: int) -> str:
    return (
        f'<iframe title="secateur report" sandbox="allow-scripts allow-downloads" width="100%" height="{int(height)}" '
        f'frameborder="0" srcdoc="{escape(page, quote=True)}"></iframe>'
    )


def _minify(script: str) -> str:
    """Return a script without indentation and comment lines; no script may contain a text of several lines."""
    lines = (line.strip() for line in script.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _summary(shown: ShownModel) -> str:
    """Return the sentences under the title: size, score and error on each sample, and certificate."""
    model, pruning, currency = shown.model, shown.model.pruning, shown.currency
    error = error_currency(model)
    leaves = "1 leaf" if pruning.n_leaves == 1 else f"{pruning.n_leaves:,} leaves"
    sentences = [f"{leaves} of {model.tree.n_leaves:,}."]
    for item in shown.samples:
        total = float(item.sample.total[0])
        if total == 0:
            continue
        score = None if currency.is_error else score_on(currency, model, item.sample)
        texts = [] if score is None else [f"{currency.name} {currency.format(score)}"]
        texts.append(f"{error.name} {error.format(item.fitted_cost / total)}{item.sentence_inputs.unit}")
        sentences.append(f"On {item.sentence_inputs.role.text}: {', '.join(texts)}.")
    if model.certificate is not None:
        sentences.append(as_one_line(str(model.certificate)))
    return " ".join(sentences)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
