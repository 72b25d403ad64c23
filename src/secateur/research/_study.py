"""Run an experiment in parts whose results are kept on disk.

The result of a part depends only on its arguments and the options of the run, so parts run in any order and in any
process. Each result is written atomically as soon as the part has finished: after Ctrl-C or on a full disk, finished
parts are kept, and the next run loads them. A part runs again if its arguments, an option of the run (`Config`) or the
version of this package changed.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from .. import __version__
from .._utils.output import write_file
from ..errors import OutputError
from ..model_selection.folds import Progress, run_tasks

Result = dict[str, Any]  # plain values by name
Measure = TypeVar("Measure")


@dataclass(frozen=True)
class Config:
    """Options of a run: the data folder, whether it is short, and the seed."""

    data: str | None
    quick: bool
    seed: int


@dataclass(frozen=True)
class Part:
    """One part of an experiment: `function(config, **arguments)` returns plain values; `key` names its file."""

    key: str
    function: Callable[..., Result]
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PartResult:
    """Result and running time of a part; `is_reused` if an earlier run computed it."""

    result: Result
    seconds: float
    cpu_seconds: float
    is_reused: bool = False


def run_parts(
    parts: list[Part], config: Config, folder: Path, jobs: object, progress: Progress
) -> dict[str, PartResult]:
    """Return the result of each part, in order; results kept in `folder` are loaded instead of computed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"the folder {folder} cannot be created ({error.strerror or error}); pass another with --out"
        ) from error
    done = {part.key: _load_part(part, config, folder) for part in parts}
    todo = [part for part in parts if done[part.key] is None]
    n_loaded = len(parts) - len(todo)
    report_progress = None if progress is None else lambda n, _: progress(n_loaded + n, len(parts))
    tasks = [(_run_part, (part, str(folder))) for part in todo]
    computed = run_tasks(config, tasks, jobs, report_progress) if tasks else []
    done.update(zip((part.key for part in todo), computed, strict=True))
    return {key: result for key, result in done.items() if result is not None}


def collect_values(runs: Iterable[Mapping[str, Measure]]) -> dict[str, list[Measure]]:
    """Return the values of several runs as one list for each quantity."""
    values_of: dict[str, list[Measure]] = {}
    for run in runs:
        for key, value in run.items():
            values_of.setdefault(key, []).append(value)
    return values_of


def results_under(results: Mapping[str, Result], prefix: str) -> dict[str, Result]:
    """Return the results whose keys begin with a prefix, keyed by the rest."""
    return {key.removeprefix(prefix): result for key, result in results.items() if key.startswith(prefix)}


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file atomically; the error message says that finished parts are kept."""
    try:
        write_file(path, content, overwrite=True)
    except OutputError as error:
        raise OutputError(f"{error}; finished parts in {path.parent} are not run again") from error


def to_plain_values(value: Any) -> Any:
    """Return arrays and NumPy numbers as plain values; floats keep seven digits."""
    if isinstance(value, dict):
        return {str(key): to_plain_values(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):
        return to_plain_values(value.tolist())
    if isinstance(value, list | tuple):
        return [to_plain_values(inner) for inner in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def _run_part(config: Config, part: Part, folder: str) -> PartResult:
    """Compute a part, keep its result in the folder, and return the result."""
    start, cpu_start = time.perf_counter(), time.thread_time()
    result = to_plain_values(part.function(config, **part.arguments))
    computed = PartResult(result, round(time.perf_counter() - start, 3), round(time.thread_time() - cpu_start, 3))
    content = {**vars(computed), "asked": _part_identity(part, config)}
    write_atomically(Path(folder, f"{part.key}.json"), json.dumps(content))
    return computed


def _load_part(part: Part, config: Config, folder: Path) -> PartResult | None:
    """Return the result that an earlier run kept for the same part; None if there is none or the file is damaged."""
    try:
        kept = json.loads((folder / f"{part.key}.json").read_text(encoding="utf-8"))
        if kept.pop("asked") != _part_identity(part, config):
            return None
        return PartResult(**{**kept, "is_reused": True})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _part_identity(part: Part, config: Config) -> object:
    """Return everything that the result of a part depends on: if it changes, the part runs again."""
    return json.loads(json.dumps({**vars(config), "arguments": part.arguments, "version": __version__}))
