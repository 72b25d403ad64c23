"""Governance: the file that states all that is known about a model, as Markdown, HTML or JSON."""

import datetime as dt
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from .._utils.output import write_file
from ..core import as_model
from ..core.class_names import as_one_line
from ..data.file_record import FileRecord, record_file, record_files
from ..data.files import is_path_or_paths
from ..errors import Argument, ParameterError, show
from ..monitoring import Monitor
from ._governance import Entry, Responsibility, Section, TableEntry, as_plain, collect_sections
from ._monitoring import monitor_of

FORMAT, VERSION = "secateur-governance", 1
_MARKDOWN_CHARACTER = re.compile(r"([\\`*{}\[\]<>|#~]|(?<!\w)_|_(?!\w))")
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;"
    "background:#fff}table{border-collapse:collapse;margin:.5rem 0}th,td{border:1px solid #999;padding:.2rem .5rem;"
    "text-align:left;vertical-align:top;overflow-wrap:anywhere}dt{font-weight:600}dd{margin:0 0 .5rem 1rem}"
    "pre{overflow-x:auto;background:#f3f3f3;padding:.5rem}"
)


@dataclass(frozen=True, repr=False)
class Governance:
    """All that is known about a model, for those who must answer for it; made by `governance`.

    Parameters
    ----------
    title : str
    sections : tuple of Section
        Titled lists of statements and tables.

    Examples
    --------
    >>> from secateur import Counts, Model, Pruning, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[3, 1], [0, 2]])
    >>> file = governance(Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown), owner="Risk", date="")
    >>> print(file.markdown.splitlines()[0])
    # Audit file: A pruned tree
    >>> file.to_dict()["sections"]["Purpose and responsibility"]["purpose"]
    'not recorded'
    """

    title: str
    sections: tuple[Section, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {"format": FORMAT, "version": VERSION, "title": self.title, "sections": as_plain(self.sections)}

    @cached_property
    def markdown(self) -> str:
        """The file as Markdown."""
        parts = [f"# {_escape_markdown(self.title)}"]
        for section in self.sections:
            parts.append(f"## {_escape_markdown(section.title)}")
            parts += map(_markdown_entry, section.entries)
        return "\n\n".join(parts) + "\n"

    @cached_property
    def html(self) -> str:
        """The file as an HTML page without scripts."""
        parts = [f"<h1>{escape(self.title)}</h1>"]
        for section in self.sections:
            parts.append(f"<h2>{escape(section.title)}</h2>")
            parts += map(_html_entry, section.entries)
        head = (
            '<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
            f'\'unsafe-inline\'"><meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style>"
        )
        body = "\n".join(parts)
        return (
            f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body><main>\n{body}\n</main></body>\n</html>\n'
        )

    @cached_property
    def json(self) -> str:
        """The file as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def save(self, path: str | PathLike[str], *, overwrite: bool = True) -> Path:
        """Write the file in the format of its ending: .md, .html or .json."""
        write = FORMATS[self.check_path(path)]
        write_file(path, write(self), overwrite=overwrite)
        return Path(path)

    @staticmethod
    def check_path(path: str | PathLike[str]) -> str:
        """Return the ending of a path; raise `ParameterError` if there is no format for it."""
        ending = Path(path).suffix.lower()
        if ending not in FORMATS:
            raise ParameterError(
                f"a governance file named {show(str(path))} has no known format; end its name with {', '.join(FORMATS)}"
            )
        return ending

    def __str__(self) -> str:
        return self.markdown

    def __repr__(self) -> str:
        return f"Governance({show(self.title)}, {len(self.sections)} sections)"


FORMATS: dict[str, Callable[[Governance], str]] = {
    ".md": lambda file: file.markdown,
    ".html": lambda file: file.html,
    ".json": lambda file: file.json,
}


def governance(
    model: object,
    *,
    purpose: str | None = None,
    owner: str | None = None,
    date: str | dt.date | None = None,
    fit_date: str | dt.date | None = None,
    title: str | None = None,
    data: Any = None,
    model_file: str | PathLike[str] | None = None,
    monitor: Monitor | str | PathLike[str] | None = None,
) -> Governance:
    """Return all that is known about a model, for those who must answer for it.

    The file states the purpose and the owner, the data files with their hashes, the columns with their missing values,
    the parameters, how the tree was made, its rules and errors, the certificate with its assumptions, the results of
    population groups and of a monitor, the versions, and what was not checked. What is not known is "not recorded".

    Parameters
    ----------
    model : estimator, Model, or tuple of parts
    purpose, owner : str, optional
        What the model is for, and who answers for it.
    date : str or date, optional
        When the file is written; by default today's date (UTC). With "", it is not recorded. Equal arguments give equal
        files, so state the date if files are compared.
    fit_date : str or date, optional
        When the model was fitted; a model contains no date.
    title : str, optional
        By default the name of the estimator.
    data : path, or list of paths, optional
        Data files to name with their hashes, if the model does not name those of the fit (`secateur fit` records them).
    model_file : path, optional
        The file of the model, to name with its hash.
    monitor : Monitor or path of a state file, optional
        The monitor of this model, for the results of monitoring.

    Returns
    -------
    Governance

    Raises
    ------
    ModelFileError
        If the monitor is of another model.
    """
    fitted = as_model(model, done="documented")
    for name, paths in (("data", data), ("model_file", model_file)):
        is_list = isinstance(paths, list | tuple)
        if paths is not None and (not is_path_or_paths(paths) or (is_list and name == "model_file")):
            raise ParameterError(Argument(name, paths), "; the path of a file is needed")
    texts = {"purpose": purpose, "owner": owner, "title": title}
    for name, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise ParameterError(Argument(name, text), "; text is needed")
    today = dt.datetime.now(dt.UTC).date() if date is None else date
    stated = Responsibility(purpose, owner, _date_text("date", today), _date_text("fit_date", fit_date))
    files: list[FileRecord] = [] if data is None else list(record_files(data, "given"))
    if model_file is not None:
        files.append(record_file(model_file, "model"))
    name = title or str(fitted.parameters.get("estimator") or "A pruned tree")
    sections = collect_sections(fitted, stated, files, monitor_of(fitted, monitor))
    return Governance(f"Audit file: {as_one_line(name)}", sections)


def _date_text(name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, dt.date):
        raise ParameterError(Argument(name, value), "; a date, or its text, is needed")
    return value.isoformat()[:10]


def _escape_markdown(text: str) -> str:
    return _MARKDOWN_CHARACTER.sub(r"\\\1", text)


def _markdown_entry(entry: Entry | TableEntry) -> str:
    name = _escape_markdown(entry.name)
    if isinstance(entry, TableEntry):
        lines = [entry.head, tuple("---" for _ in entry.head), *entry.rows]
        cells = [[cell if i == 1 else _escape_markdown(cell) for cell in line] for i, line in enumerate(lines)]
        return f"**{name}**\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in cells)
    if entry.is_code:
        return f"**{name}**\n\n" + "\n".join(f"    {line}" for line in entry.text)
    if isinstance(entry.text, tuple):
        return f"**{name}**\n\n" + "\n".join(f"- {_escape_markdown(text)}" for text in entry.text)
    return f"**{name}**: {_escape_markdown(entry.text)}"


def _html_entry(entry: Entry | TableEntry) -> str:
    name = escape(entry.name)
    if isinstance(entry, TableEntry):
        head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in entry.head)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in entry.rows)
        caption = f"<caption>{name}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    if entry.is_code:
        return f'<h3>{name}</h3><pre tabindex="0">{escape(chr(10).join(entry.text))}</pre>'
    if isinstance(entry.text, tuple):
        return f"<h3>{name}</h3><ul>{''.join(f'<li>{escape(text)}</li>' for text in entry.text)}</ul>"
    return f"<dl><dt>{name}</dt><dd>{escape(entry.text)}</dd></dl>"
