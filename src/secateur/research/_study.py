"""A study in parts: each is computed once, kept on disk, and found there the next time.

A part is a function of its arguments alone, so it may run anywhere and in any order. What it
returns is written at once, whole or not at all; after Ctrl-C or a full disk nothing that was
finished is lost. A part is run again if its arguments, the seed, the data or the version of
the library changed.
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
from ..model_selection.tasks import Progress, run_tasks

Result = dict[str, Any]  # what a part measured: plain values by name
Measure = TypeVar("Measure")


@dataclass(frozen=True)
class Config:
    """What the user asked for."""

    data: str | None
    quick: bool
    seed: int


@dataclass(frozen=True)
class Part:
    """One piece of work: `function(config, **arguments)` returns plain values."""

    key: str
    function: Callable[..., Result]
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """What a part found, and how long it took."""

    result: Result
    seconds: float
    cpu_seconds: float
    is_old: bool = False


def run_parts(parts: list[Part], config: Config, folder: Path, jobs: object, progress: Progress) -> dict[str, Done]:
    """Return what each part found, in order; parts found in `folder` are not run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"the folder {folder} cannot be created ({error.strerror or error}); pass another with --out"
        ) from error
    done = {part.key: _found(part, config, folder) for part in parts}
    todo = [part for part in parts if done[part.key] is None]
    n_old = len(parts) - len(todo)
    tell = None if progress is None else lambda n, _: progress(n_old + n, len(parts))
    fresh = run_tasks(config, [(_run, (part, str(folder))) for part in todo], jobs, tell) if todo else []
    done.update(zip((part.key for part in todo), fresh, strict=True))
    return {key: one for key, one in done.items() if one is not None}


def collected(runs: Iterable[Mapping[str, Measure]]) -> dict[str, list[Measure]]:
    """What several runs measured, one list per quantity."""
    found: dict[str, list[Measure]] = {}
    for one in runs:
        for key, value in one.items():
            found.setdefault(key, []).append(value)
    return found


def under(results: Mapping[str, Result], prefix: str) -> dict[str, Result]:
    """The parts whose keys begin with a prefix, by the rest of their keys."""
    return {key.removeprefix(prefix): one for key, one in results.items() if key.startswith(prefix)}


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all."""
    try:
        write_file(path, content, overwrite=True)
    except OutputError as error:
        raise OutputError(f"{error}; finished parts in {path.parent} are not run again") from error


def plain(value: Any) -> Any:
    """Arrays and NumPy numbers as plain values; seven digits of a float are kept."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def _run(config: Config, part: Part, folder: str) -> Done:
    start, cpu = time.perf_counter(), time.thread_time()
    result = plain(part.function(config, **part.arguments))
    done = Done(result, round(time.perf_counter() - start, 3), round(time.thread_time() - cpu, 3))
    write_whole(Path(folder, f"{part.key}.json"), json.dumps({**vars(done), "asked": _asked(part, config)}))
    return done


def _found(part: Part, config: Config, folder: Path) -> Done | None:
    """What an earlier run kept, if it was asked the same; a damaged file is as good as none."""
    try:
        kept = json.loads((folder / f"{part.key}.json").read_text(encoding="utf-8"))
        return Done(**{**kept, "is_old": True}) if kept.pop("asked") == _asked(part, config) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _asked(part: Part, config: Config) -> object:
    return json.loads(json.dumps({**vars(config), "arguments": part.arguments, "version": __version__}))
