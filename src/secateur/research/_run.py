"""Run an experiment: compute its parts, then write its tables, figures and summary."""

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
from ..errors import DataError, ParameterError, show
from . import NAMES
from ._samples import is_available
from ._sheets import Sheet
from ._study import Config, Part, Result, run_parts, write_atomically

# What a figure or table of a document needs: the prefixes of the keys of its parts, and the keys of its sheets.
Place = tuple[tuple[str, ...], tuple[str, ...]]


class Experiment(Protocol):
    """The functions and tables that the module of an experiment defines."""

    PLACES: dict[str, Place]

    def parts(self, config: Config) -> list[Part]: ...
    def sheets(self, results: dict[str, Result]) -> list[Sheet]: ...
    def draw(self, results: dict[str, Result], folder: Path) -> None: ...
    def findings(self, results: dict[str, Result]) -> list[str]: ...


@dataclass(frozen=True)
class Reproduction:
    """Results of an experiment.

    Parameters
    ----------
    name : str
    sheets : tuple of Sheet
        The tables.
    run_info : dict
        Command, seed, versions, seconds and numbers of parts.
    folder : Path
        Where everything was written.
    findings : tuple of str
        What was found, in at most three sentences; those that need parts that were not run are missing.

    Examples
    --------
    >>> Reproduction("srm", (), {"seed": 0}, Path("out")).to_dict()["seed"]
    0
    """

    name: str
    sheets: tuple[Sheet, ...]
    run_info: dict[str, str | float]
    folder: Path
    findings: tuple[str, ...] = ()

    @property
    def markdown(self) -> str:
        """The summary as Markdown."""
        lines = [f"# secateur reproduce {self.name}", "", *(sheet.markdown() for sheet in self.sheets)]
        lines += [f"- {name}: {value}" for name, value in self.run_info.items()]
        if self.findings:
            lines += ["", "**What was found**", "", *(f"- {sentence}" for sentence in self.findings)]
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, object]:
        """Return the information about the run and the tables as plain values."""
        tables = [sheet.to_dict() for sheet in self.sheets]
        return {"name": self.name, **self.run_info, "findings": list(self.findings), "tables": tables}


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
    """Run a published experiment and compare our figures with the printed ones.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    data : path, optional
        A folder of real data sets, as `research.build_data` fills it. Without it, only the parts run whose
        data can be generated; `run_info["left out"]` names the others.
    out : path
        Folder to write to; a folder of the experiment's name is made in it.
    quick : bool
        Whether to run a short version of about a minute, on generated data only.
    only : sequence of str
        Data sets, or names of parts; all by default.
    figure : str, optional
        A figure or table of the document, such as "3" or "Table 1": only the parts that it needs
        are run, and only its tables are returned. `describe_experiment` names them.
    jobs : int or executor, optional
        Number of threads (-1: one per core), or an object with a method `submit`.
    seed : int
    quiet : bool
        Whether to show no progress bar.

    Returns
    -------
    Reproduction
        Written to the folder too: summary.md, results.json, every table as CSV, figures as
        PNG, SVG and PDF. Finished parts stay in its folder parts and are not run again.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = run("accuracy-simplicity", out=folder, quick=True, only=["krk"])
    >>> done.sheets[0].rows[0][:4]
    (1, 86976, 86976, 0)
    """
    check_name("name", name, NAMES)
    experiment = experiment_module(name)
    folder = Path(out) / name
    config = Config(_check_data_folder(name, data, quick), bool(quick), check_int("seed", seed, 0))
    started, cpu = time.perf_counter(), time.process_time()
    place = None if figure is None else _find_place(experiment, name, figure)
    parts, left_out = _choose_parts(experiment.parts(config), config, only, ("",) if place is None else place[0])
    with nullcontext() if quiet else progress_bar(name) as progress:
        done = run_parts(parts, config, folder / "parts", jobs, progress)
    results = {key: part.result for key, part in done.items()}
    versions = {"secateur": __version__, "Python": platform.python_version()}
    versions |= {library: metadata.version(library) for library in ("numpy", "scipy")}
    run_info: dict[str, str | float] = {
        "command": _command_text(name, config),
        "seed": config.seed,
        "versions": ", ".join(f"{library} {version}" for library, version in versions.items()),
        "seconds of the parts": round(sum(part.seconds for part in done.values()), 1),
        "CPU seconds of the parts": round(sum(part.cpu_seconds for part in done.values()), 1),
        "seconds of this run": round(time.perf_counter() - started, 1),
        "CPU seconds of this run": round(time.process_time() - cpu, 1),
        "parts": len(done),
        "parts found finished": sum(part.is_reused for part in done.values()),
    }
    if left_out:
        run_info["left out"] = f"{', '.join(left_out)}: not in the data folder; secateur data build DIR creates one"
    sheets = [sheet for sheet in experiment.sheets(results) if sheet.rows and (place is None or sheet.key in place[1])]
    findings = tuple(experiment.findings(results))
    reproduction = Reproduction(name, tuple(sheets), run_info, folder, findings)
    _write_results(reproduction, results, experiment, is_whole=not (only or left_out or figure))
    return reproduction


def describe_experiment(name: str) -> dict[str, Any]:
    """Return what an experiment reproduces: its document, the figures and tables of it, and the names for `only`.

    Examples
    --------
    >>> describe_experiment("rep-analysis")["figures"]
    ['Figure 1', 'Figure 2', 'Figure 3']
    """
    check_name("name", name, NAMES)
    experiment = experiment_module(name)
    parts = experiment.parts(Config(None, False, 0))
    return {
        "document": NAMES[name],
        "figures": list(experiment.PLACES),
        "parts": len(parts),
        "only": _part_names(parts),
    }


def _part_names(parts: list[Part]) -> list[str]:
    """Return the names that `only` accepts: data sets, and keys of parts without their numbers."""
    return list(dict.fromkeys(part.arguments.get("name") or re.sub(r"-[\d.-]+$", "", part.key) for part in parts))


def _find_place(experiment: Experiment, name: str, figure: str) -> Place:
    """Return what a figure or table of the document needs; raise `ParameterError` if it is not reproduced."""
    place_name = f"Figure {figure}" if figure[:1].isdigit() else figure.capitalize()
    if place_name not in experiment.PLACES:
        reproduced = ", ".join(experiment.PLACES) or "none"
        raise ParameterError(
            f"{name} reproduces no {show(place_name)}; of the document's figures and tables: {reproduced}"
        )
    return experiment.PLACES[place_name]


def _choose_parts(
    parts: list[Part], config: Config, only: Sequence[str], prefixes: tuple[str, ...]
) -> tuple[list[Part], list[str]]:
    """Return the parts to run, and the names of the data sets that are not available."""
    for name in only:
        if not any(_has_name(part, name) for part in parts):
            raise ParameterError(
                f"--only {name}: there is no such set or part; there are {', '.join(_part_names(parts))}"
            )
    chosen = [part for part in parts if not only or any(_has_name(part, name) for name in only)]
    chosen = [part for part in chosen if part.key.startswith(prefixes)]
    missing = dict.fromkeys(part.arguments["name"] for part in chosen if not is_available(part, config))
    chosen = [part for part in chosen if part.arguments.get("name") not in missing]
    if not chosen:
        raise DataError(
            f"{', '.join(missing)} cannot be generated; give a folder with --data (secateur data build DIR creates one)"
        )
    return chosen, list(missing)


def _has_name(part: Part, name: str) -> bool:
    """Return whether a name in `only` selects a part: by its key, the beginning of the key, or its data set."""
    return name in (part.key, part.arguments.get("name")) or part.key.startswith(f"{name}-")


def experiment_module(name: str) -> Experiment:
    """Return the module of an experiment."""
    return cast("Experiment", import_module(f"._{name.replace('-', '_')}", __package__))


def _check_data_folder(name: str, data: str | os.PathLike[str] | None, quick: bool) -> str | None:
    """Return the checked data folder; None if the run uses generated data only."""
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


def _command_text(name: str, config: Config) -> str:
    """Return the command that repeats a run."""
    more = " --quick" if config.quick else " --data DIR" if config.data is not None else ""
    return f"secateur reproduce {name}{more}" + (f" --random-state {config.seed}" if config.seed else "")


def _write_results(
    reproduction: Reproduction, results: dict[str, Result], experiment: Experiment, *, is_whole: bool
) -> None:
    """Write the tables, the results, the summary and the figures; if parts are missing, figures may be missing too."""
    folder = reproduction.folder
    for sheet in reproduction.sheets:
        write_atomically(folder / f"{sheet.key}.csv", sheet.csv())
    write_atomically(
        folder / "results.json",
        json.dumps({"name": reproduction.name, **reproduction.run_info, "results": results}) + "\n",
    )
    write_atomically(folder / "summary.md", reproduction.markdown)
    try:
        import matplotlib as mpl
    except ImportError:
        sys.stderr.write("note: no figures, because matplotlib is not installed; pip install 'secateur[plot]'\n")
        return
    with mpl.rc_context({"backend": "Agg"}):
        try:
            experiment.draw(results, folder)
        except (KeyError, IndexError, ValueError):
            if is_whole:
                raise
            sys.stderr.write("note: some figures are not drawn, because they need all parts\n")
