"""run: the parts of an experiment, then its tables, figures and summary."""

import json
import os
import platform
import re
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Protocol, cast

from .. import __version__
from .._utils.checks import check_int, check_name
from .._utils.progress import progress_bar
from ..errors import DataError, ParameterError
from . import NAMES
from ._samples import is_at_hand
from ._sheets import Sheet
from ._study import Config, Part, Result, run_parts, write_whole

Place = tuple[tuple[str, ...], tuple[str, ...]]  # how the keys of the parts begin that it needs; its sheets


class Study(Protocol):
    """What the module of an experiment has."""

    PLACES: dict[str, Place]

    def parts(self, config: Config) -> list[Part]: ...
    def sheets(self, results: dict[str, Result]) -> list[Sheet]: ...
    def draw(self, results: dict[str, Result], folder: Path) -> None: ...


@dataclass(frozen=True)
class Reproduction:
    """What an experiment found.

    Parameters
    ----------
    name : str
    sheets : tuple of Sheet
        The tables.
    facts : dict
        Seed, versions, seconds and the like.
    folder : Path
        Where everything was written.

    Examples
    --------
    >>> Reproduction("srm", (), {"seed": 0}, Path("out")).to_dict()["seed"]
    0
    """

    name: str
    sheets: tuple[Sheet, ...]
    facts: dict[str, str | float]
    folder: Path

    @property
    def markdown(self) -> str:
        """The summary to read."""
        lines = [f"# secateur reproduce {self.name}", "", *(sheet.markdown() for sheet in self.sheets)]
        return "\n".join([*lines, *(f"- {name}: {value}" for name, value in self.facts.items())]) + "\n"

    def to_dict(self) -> dict[str, object]:
        """Return the facts and the tables as plain values."""
        return {"name": self.name, **self.facts, "tables": [sheet.to_dict() for sheet in self.sheets]}


def run(
    name: str,
    *,
    data: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] = "reproduction",
    quick: bool = False,
    only: Sequence[str] = (),
    figure: str | None = None,
    jobs: object = None,
    seed: int = 0,
    quiet: bool = True,
) -> Reproduction:
    """Run a published experiment and set our figures beside the printed ones.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    data : path, optional
        A folder of real data sets, as `datasets.build` fills it. Without it, the parts run whose
        data can be generated; the others are named in the fact "left out".
    out : path
        Folder to write to; a folder of the experiment's name is made in it.
    quick : bool
        A minute's worth, on generated data only.
    only : sequence of str
        Data sets, or names of parts; all by default.
    figure : str, optional
        A figure or table of the document, such as "3" or "Table 1": only the parts that it needs
        are run, and only its tables are returned. `listed` names them.
    jobs : int or executor, optional
        Threads (-1: one per core), or an object with `submit`.
    seed : int
    quiet : bool
        No progress bar.

    Returns
    -------
    Reproduction
        Written to the folder too: summary.md, results.json, every table as CSV, figures as
        PNG. Finished parts stay in its folder parts and are not run again.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = run("accuracy-simplicity", out=folder, quick=True, only=["krk"])
    >>> done.sheets[0].rows[0][:4]
    (1, 86976, 86976, 0)
    """
    check_name("name", name, NAMES)
    study = study_of(name)
    folder = Path(out) / name
    config = Config(_checked_data(name, data, quick), bool(quick), check_int("seed", seed, 0))
    started, cpu = time.perf_counter(), time.process_time()
    place = None if figure is None else _place(study, name, figure)
    parts, left_out = _asked(study.parts(config), config, only, ("",) if place is None else place[0])
    with nullcontext() if quiet else progress_bar(name) as progress:
        done = run_parts(parts, config, folder / "parts", jobs, progress)
    results = {key: one.result for key, one in done.items()}
    versions = {"secateur": __version__, "Python": platform.python_version()}
    versions |= {library: metadata.version(library) for library in ("numpy", "scipy")}
    facts: dict[str, str | float] = {
        "command": _command(name, config),
        "seed": config.seed,
        "versions": ", ".join(f"{library} {version}" for library, version in versions.items()),
        "seconds of the parts": round(sum(one.seconds for one in done.values()), 1),
        "CPU seconds of the parts": round(sum(one.cpu_seconds for one in done.values()), 1),
        "seconds of this run": round(time.perf_counter() - started, 1),
        "CPU seconds of this run": round(time.process_time() - cpu, 1),
        "parts": len(done),
        "parts found finished": sum(one.is_old for one in done.values()),
    }
    if left_out:
        facts["left out"] = f"{', '.join(left_out)}: not in the data folder; secateur data build DIR creates one"
    sheets = [sheet for sheet in study.sheets(results) if sheet.rows and (place is None or sheet.key in place[1])]
    made = Reproduction(name, tuple(sheets), facts, folder)
    _write(made, results, study, is_whole=not (only or left_out or figure))
    return made


def listed(name: str) -> dict[str, Any]:
    """Return what an experiment reproduces: its document, the figures and tables of it, and the names for `only`.

    Examples
    --------
    >>> listed("rep-analysis")["figures"]
    ['Figure 3']
    """
    check_name("name", name, NAMES)
    study = study_of(name)
    parts = study.parts(Config(None, False, 0))
    return {"document": NAMES[name], "figures": list(study.PLACES), "parts": len(parts), "only": _names(parts)}


def _names(parts: list[Part]) -> list[str]:
    """What `only` can be: data sets, and names of parts without their numbers."""
    return list(dict.fromkeys(part.arguments.get("name") or re.sub(r"-[\d.-]+$", "", part.key) for part in parts))


def _place(study: Study, name: str, figure: str) -> Place:
    wanted = f"Figure {figure}" if figure[:1].isdigit() else figure.capitalize()
    if wanted not in study.PLACES:
        there = ", ".join(study.PLACES) or "none"
        raise ParameterError(f"{name} reproduces no {wanted!r}; of the document's figures and tables: {there}")
    return study.PLACES[wanted]


def _asked(
    parts: list[Part], config: Config, only: Sequence[str], prefixes: tuple[str, ...]
) -> tuple[list[Part], list[str]]:
    """The parts to run, and the names of the sets that are not at hand."""
    for one in only:
        if not any(_is_named(part, one) for part in parts):
            raise ParameterError(f"--only {one}: there is no such set or part; there are {', '.join(_names(parts))}")
    chosen = [part for part in parts if not only or any(_is_named(part, one) for one in only)]
    chosen = [part for part in chosen if part.key.startswith(prefixes)]
    missing = dict.fromkeys(part.arguments["name"] for part in chosen if not is_at_hand(part, config))
    chosen = [part for part in chosen if part.arguments.get("name") not in missing]
    if not chosen:
        raise DataError(
            f"{', '.join(missing)} cannot be generated; give a folder with --data (secateur data build DIR creates one)"
        )
    return chosen, list(missing)


def _is_named(part: Part, name: str) -> bool:
    return name in (part.key, part.arguments.get("name")) or part.key.startswith(f"{name}-")


def study_of(name: str) -> Study:
    """The module of an experiment."""
    return cast("Study", import_module(f"._{name.replace('-', '_')}", __package__))


def _checked_data(name: str, data: str | os.PathLike[str] | None, quick: bool) -> str | None:
    if quick or name == "srm" or data is None:
        return None  # generated data only
    folder = Path(data)
    if not folder.is_dir():
        raise DataError(f"no data folder {folder} (looked for {folder.absolute()}); --data names the folder")
    if not (folder / "SCHEMA.json").is_file():
        raise DataError(
            f"{folder} is not a folder of data sets: it has no SCHEMA.json next to files NAME.csv.gz; "
            "secateur data build DIR creates one"
        )
    return str(folder)


def _command(name: str, config: Config) -> str:
    more = " --quick" if config.quick else " --data DIR" if config.data is not None else ""
    return f"secateur reproduce {name}{more}" + (f" --random-state {config.seed}" if config.seed else "")


def _write(made: Reproduction, results: dict[str, Result], study: Study, *, is_whole: bool) -> None:
    folder = made.folder
    for sheet in made.sheets:
        write_whole(folder / f"{sheet.key}.csv", sheet.csv())
    write_whole(folder / "results.json", json.dumps({"name": made.name, **made.facts, "results": results}) + "\n")
    write_whole(folder / "summary.md", made.markdown)
    try:
        import matplotlib as mpl
    except ImportError:
        sys.stderr.write("note: no figures, because matplotlib is not installed; pip install 'secateur[plot]'\n")
        return
    with mpl.rc_context({"backend": "Agg"}):
        try:
            study.draw(results, folder)
        except (KeyError, IndexError, ValueError):
            if is_whole:
                raise
            sys.stderr.write("note: some figures are not drawn, because they need all parts\n")
