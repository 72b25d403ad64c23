"""Which lines of the package each test executes, measured once and kept in build/executed_lines.

One file is kept for each file of tests. It is measured anew if the file of tests or a helper of it has changed. If a source file
has changed, its lines are moved with the text, and new lines count as executed by the tests that executed the lines they
replace or follow. Delete the folder to measure everything. Lines are bits of one integer for each source file, so that the
lines of all tests fit into memory.
"""

import difflib
import hashlib
import os
import pickle
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "secateur"
KEPT = ROOT / "build" / "executed_lines"
KERNEL_FOLDER = "_kernels"
MAX_MEASURING_SECONDS = 900  # of CPU time, for one file of tests


class ExecutedLines(NamedTuple):
    """The CPU time of a test that passes, and the lines that it executes: a bit for each line of each source file."""

    seconds: float
    lines: dict[str, int]

    def has_any(self, name: str, first: int, last: int) -> bool:
        """Return whether the test executes one of the lines `first` to `last` of a source file."""
        return bool(self.lines.get(name, 0) >> first & (1 << (last - first + 1)) - 1)


class KeptRuns(NamedTuple):
    """What was measured for one file of tests, and the digests of the files that it depends on."""

    digests: dict[str, str]
    tests: dict[str, ExecutedLines]


class LineMoves:
    """How the lines of a text that was edited have moved."""

    def __init__(self, before: str, after: str) -> None:
        matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
        self._blocks = matcher.get_opcodes()
        self._moved: dict[int, int] = {}

    def move(self, lines: int) -> int:
        """Return the bits of the lines of the new text that stand for lines of the old one."""
        if lines not in self._moved:
            self._moved[lines] = self._compute_move(lines)
        return self._moved[lines]

    def _compute_move(self, lines: int) -> int:
        moved = 0
        for kind, first, end, new_first, new_end in self._blocks:
            # Lines are counted from 0 in blocks and from 1 in bits. Inserted lines stand for the line before them.
            block = lines >> (first + 1) & (1 << (end - first)) - 1 if kind != "insert" else lines >> first & 1
            if kind == "equal":
                moved |= block << (new_first + 1)
            elif block:
                moved |= ((1 << (new_end - new_first)) - 1) << (new_first + 1)
        return moved


class ExecutedLinesOfTests:
    """The lines of all files of tests but those with some names: reads what is kept, and measures the others."""

    def __init__(self, skipped: Iterable[str]) -> None:
        self._digests: dict[Path, str] = {}
        self._moves: dict[tuple[str, str], LineMoves] = {}
        paths = [*(ROOT / "tests").rglob("test_*.py"), *_sources()]
        self.files = sorted(path for path in paths if path.name not in skipped)
        self.of_file = {path: kept for path in self.files if (kept := self._read_kept(path)) is not None}

    @property
    def tests(self) -> dict[str, ExecutedLines]:
        return {test: run for kept in self.of_file.values() for test, run in kept.items()}

    def unmeasured_files(self) -> list[Path]:
        return [path for path in self.files if path not in self.of_file]

    def measure(
        self,
        items: list[pytest.Item],
        passes: Callable[[pytest.Item], bool],
        run_in_fork: Callable[[Callable[[], Any], float], Any],
    ) -> None:
        """Run the collected tests of the unmeasured files, each file in a process of its own, and keep the result."""
        (KEPT / "sources").mkdir(parents=True, exist_ok=True)
        for path in self.unmeasured_files():
            tests = [item for item in items if item.path == path]
            start = time.monotonic()
            runs = run_in_fork(lambda tests=tests: measure_tests(tests, passes), MAX_MEASURING_SECONDS)  # type: ignore[misc]
            if runs is None:
                print(f"{path.relative_to(ROOT)}: took too much time or memory, or ended the process", flush=True)
                runs = {}
            names = sorted({name for run in runs.values() for name in run.lines})
            for name in names:
                shutil.copyfile(PACKAGE / name, KEPT / "sources" / self._digest_of(PACKAGE / name))
            digests = {name: self._digest_of(PACKAGE / name) for name in names}
            digests |= {"": self._digest_of_helpers(path), "test": self._digest_of(path)}
            _kept_path(path).write_bytes(pickle.dumps(KeptRuns(digests, runs)))
            self.of_file[path] = runs
            if tests:
                seconds = time.monotonic() - start
                print(f"{path.relative_to(ROOT)}: {len(runs)} of {len(tests)} tests pass, {seconds:.1f} s", flush=True)

    def _read_kept(self, path: Path) -> dict[str, ExecutedLines] | None:
        if not _kept_path(path).exists():
            return None
        kept = pickle.loads(_kept_path(path).read_bytes())
        if kept.digests[""] != self._digest_of_helpers(path) or kept.digests["test"] != self._digest_of(path):
            return None
        sources = {name: digest for name, digest in kept.digests.items() if name not in ("", "test")}
        for name, digest in sources.items():
            if self._digest_of(PACKAGE / name) != digest:
                moves = self._moves_of(name, digest)
                for run in kept.tests.values():
                    if name in run.lines:
                        run.lines[name] = moves.move(run.lines[name])
        return kept.tests

    def _moves_of(self, name: str, digest: str) -> "LineMoves":
        """Return how the lines of a source file have moved since its text had a digest."""
        if (name, digest) not in self._moves:
            before, after = KEPT / "sources" / digest, PACKAGE / name
            texts = [path.read_text("utf-8") if path.exists() else "" for path in (before, after)]
            self._moves[name, digest] = LineMoves(*texts)
        return self._moves[name, digest]

    def _digest_of_helpers(self, path: Path) -> str:
        """Return a digest of the files of tests/helpers that a file of tests names, or that such a helper names."""
        others = sorted((ROOT / "tests/helpers").glob("*.py"))
        found = [path]
        for named in found:  # grows meanwhile
            text = named.read_text("utf-8")
            found += [other for other in others if other.stem in text and other not in found]
        return _digest("".join(self._digest_of(helper) for helper in found[1:]).encode())

    def _digest_of(self, path: Path) -> str:
        if path not in self._digests:
            self._digests[path] = _digest(path.read_bytes()) if path.exists() else ""
        return self._digests[path]


def _digest(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()


def _sources() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if path.parent.name != KERNEL_FOLDER and path.name != "__main__.py"]


def _kept_path(path: Path) -> Path:
    return KEPT / (path.relative_to(ROOT).as_posix().replace("/", "-") + ".pickle")


def measure_tests(items: list[pytest.Item], passes: Callable[[pytest.Item], bool]) -> dict[str, ExecutedLines]:
    """Run tests and return the CPU time and the lines of those that pass."""
    measured = coverage.Coverage(
        data_file=None,
        include=[f"{PACKAGE}/*"],
        omit=[f"{PACKAGE / KERNEL_FOLDER}/*"],
        messages=False,
        config_file=False,
    )
    seconds = {}
    measured.start()
    for item in items:
        measured.switch_context(item.nodeid)
        start = time.process_time()
        if passes(item):
            seconds[item.nodeid] = time.process_time() - start
    measured.stop()
    warnings.simplefilter("ignore", coverage.exceptions.CoverageWarning)  # no test executes the package
    data = measured.get_data()
    result = {test: ExecutedLines(t, {}) for test, t in seconds.items()}
    for path in data.measured_files():
        name = sys.intern(os.path.relpath(path, PACKAGE))
        for line, tests in data.contexts_by_lineno(path).items():
            for test in tests:
                if test in result:
                    result[test].lines[name] = result[test].lines.get(name, 0) | 1 << line
    return result
