"""run: the parts of an experiment, then its tables, figures and summary."""

import json
import os
import platform
import sys
import time
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from .. import __version__
from ..data.names import nearest
from ..data.progress import progress_bar
from ..errors import DataError, ParameterError
from ._sheets import Sheet
from ._study import Config, Result, make_folder, run_parts, write_whole

NAMES = ("rep-analysis", "rademacher", "accuracy-simplicity", "srm", "subadditive", "certificates")
NEED_DATA = ("rademacher", "accuracy-simplicity", "subadditive", "certificates")
LIBRARIES = ("numpy", "scipy")


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
    facts: dict[str, Any]
    folder: Path

    @property
    def markdown(self) -> str:
        """The summary to read."""
        lines = [f"# secateur reproduce {self.name}", "", *(sheet.markdown() for sheet in self.sheets)]
        return "\n".join([*lines, *(f"- {name}: {value}" for name, value in self.facts.items())]) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return the facts and the tables as plain values."""
        return {"name": self.name, **self.facts, "tables": [sheet.to_dict() for sheet in self.sheets]}


def run(
    name: str,
    *,
    data: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] = "reproduction",
    quick: bool = False,
    jobs: Any = None,
    seed: int = 0,
    quiet: bool = True,
) -> Reproduction:
    """Run a published experiment and set our figures beside the printed ones.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    data : path, optional
        A folder of real data sets, as `datasets.load` reads them. The full experiments on
        real data need it.
    out : path
        Folder to write to; a folder of the experiment's name is made in it.
    quick : bool
        A minute's worth, on generated data only.
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
    ...     done = run("accuracy-simplicity", out=folder, quick=True)
    >>> done.sheets[0].rows[0][:4]
    (1, 86976, 86976, 0)
    """
    study = _study_of(name)
    folder = Path(out) / name
    config = Config(_checked_data(name, data, quick), bool(quick), _checked_seed(seed))
    started, cpu = time.perf_counter(), time.process_time()
    parts = study.parts(config)
    if quiet:
        done = run_parts(parts, config, folder / "parts", jobs, None)
    else:
        with progress_bar(name) as progress:
            done = run_parts(parts, config, folder / "parts", jobs, progress)
    results = {key: one.result for key, one in done.items()}
    facts = {
        "command": _command(name, config),
        "seed": config.seed,
        "versions": _versions(),
        "seconds of the parts": round(sum(one.seconds for one in done.values()), 1),
        "CPU seconds of the parts": round(sum(one.cpu_seconds for one in done.values()), 1),
        "seconds of this run": round(time.perf_counter() - started, 1),
        "CPU seconds of this run": round(time.process_time() - cpu, 1),
        "parts": len(done),
        "parts found finished": sum(one.is_old for one in done.values()),
    }
    made = Reproduction(name, tuple(study.sheets(results)), facts, folder)
    _write(made, results, study)
    return made


def study_of(name: str) -> Any:
    """The module of an experiment."""
    return import_module(f"._{name.replace('-', '_')}", __package__)


def _study_of(name: str) -> Any:
    if name not in NAMES:
        hint = nearest(name, NAMES) or f"; the experiments are {', '.join(NAMES)}"
        raise ParameterError(f"{name!r} is not an experiment{hint}")
    return study_of(name)


def _checked_data(name: str, data: Any, quick: bool) -> str | None:
    if quick or name not in NEED_DATA:
        return None  # generated data only: the folder plays no part
    if data is None:
        raise DataError(
            f"{name} needs the real data sets; give their folder with --data, or --quick for generated data alone"
        )
    folder = Path(data)
    if not folder.is_dir():
        raise DataError(f"no data folder {folder} (looked for {folder.absolute()}); --data names the folder")
    if not (folder / "SCHEMA.json").is_file():
        raise DataError(f"{folder} is not a folder of data sets: it has no SCHEMA.json next to files NAME.csv.gz")
    return str(folder)


def _checked_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"seed={seed!r}; a whole number of 0 or more is needed")
    return seed


def _command(name: str, config: Config) -> str:
    more = " --quick" if config.quick else " --data DIR" if name in NEED_DATA else ""
    return f"secateur reproduce {name}{more}" + (f" --random-state {config.seed}" if config.seed else "")


def _versions() -> str:
    named = [("secateur", __version__), ("Python", platform.python_version())]
    return ", ".join(f"{a} {b}" for a, b in [*named, *((x, metadata.version(x)) for x in LIBRARIES)])


def _write(made: Reproduction, results: dict[str, Result], study: Any) -> None:
    folder = made.folder
    make_folder(folder)
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
        study.draw(results, folder)
