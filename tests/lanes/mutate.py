"""Change the code in one place at a time and see whether a test fails: scripts/mutate [number] [seed] [place] [kind].

A place is the beginning of a folder, file and line of src/secateur: `data`, `pruners/_greedy.py`, `pruners/_greedy.py:40`
or `_kernels/structure`. Several places are separated by commas; the number of changes is drawn from each. Without a place,
changes are drawn from all Python files except the kernels. Kernels and others do not mix. The kind `calls` draws only
calls that are removed, such as warnings, checks and records; by default every kind is drawn.

Python files. The lines that each test of the project executes are measured once and kept (executed_lines.py). Everything else
happens in forks of this process. One fork for each change puts the changed code into the loaded functions and runs the tests
that execute the changed lines until one fails: first those that noticed another change of the same file, then the file's own
tests, and then one test of each function, those of the same folder before the others; tests of the same functions with other
arguments follow. A test that fails with the unchanged code put in is left out.

Kernels. The project is copied to build/mutants. Each change is compiled there, with little optimization, and a fork
runs tests of the files that import the kernel, in the same order, until one fails.

A change that no test notices is printed as `place: before -> after`. docs/explanation/lanes.md states the reasons.
"""

import ast
import functools
import gc
import importlib
import os
import pickle
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import pytest
from changes import Change, find_changes
from executed_lines import KERNEL_FOLDER, PACKAGE, ROOT, ExecutedLines, ExecutedLinesOfTests
from hypothesis import HealthCheck, Phase, settings

SCRATCH = ROOT / "build" / "mutants"
SKIPPED_FILES = ("__main__.py",)  # run when they are imported
SKIPPED_TESTS = (  # other processes do the work, or a cluster that does not survive a fork
    "test_browser.py", "test_firefox.py", "test_spark.py", "test_interrupts.py", "test_dask.py", "test_dask_jobs.py", "test_growing.py",
    "test_faults.py", "test_check.py", "test_docs.py", "test_builds.py", "test_install.py", "test_types.py", "test_quality.py",
)  # fmt: skip
TABLE_TESTS = ("test_the_registry_says_what_a", "test_every_certificate_promises")  # read tables and signatures
CPU_SECONDS = float(os.environ.get("SECONDS", "10"))  # no further test begins after this time for one change
KERNEL_CPU_SECONDS = 2 * CPU_SECONDS  # the lines of a kernel that a test executes are unknown, so more tests run
MAX_TEST_SECONDS = 2.0  # slower tests run last, and not for kernels
MAX_LAST_SECONDS = 30.0  # for the last test that begins: with the change it may be slower, or never end
MAX_FIRST_ARGUMENTS = 20  # tests of one function that run before tests of other files
MAX_SECONDS = 900  # by the clock, for one file of tests
MAX_EXAMPLES = 20  # of a property test
MEMORY_LIMIT_BYTES = 8 << 30
MAX_LINES = 100_000  # of a source file
Functions = dict[tuple[str, int], list[FunctionType]]


def run_in_fork(job: Callable[[], Any], cpu_seconds: float) -> Any:
    """Return the result of a function in a process of its own; None if it dies, or takes more CPU time or memory."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_seconds), int(cpu_seconds)))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
            signal.alarm(int(min(20 * cpu_seconds, MAX_SECONDS)))
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            os.write(writing, b"+" + pickle.dumps(job()))
        finally:  # whatever happens: nothing of the parent is done a second time
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        result = pickle.load(pipe) if pipe.read(1) else None
    os.waitpid(pid, 0)
    return result


def functions_of(module: str) -> Functions:
    """Return the functions of a module that were created after the last `gc.freeze`, by name and line."""
    result: Functions = {}
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__module__ == module:
            result.setdefault((function.__qualname__, function.__code__.co_firstlineno), []).append(function)
    return result


def replace_code(module: ModuleType, loaded: Functions, tree: ast.Module, change: Change | None) -> None:
    """Give the functions of a module the code of a tree, and its variables the new values if the change is outside functions."""
    changed = ModuleType(module.__name__)
    changed.__dict__.update(
        __file__=module.__file__, __package__=module.__package__, __path__=getattr(module, "__path__", None)
    )
    exec(compile(ast.fix_missing_locations(tree), str(module.__file__), "exec"), changed.__dict__)
    for key, (new, *_) in functions_of(module.__name__).items():
        for old in loaded.get(key, ()):
            old.__code__ = new.__code__
            if change is not None and not change.is_in_function:
                old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
    if change is not None and isinstance(change.statement, ast.Assign | ast.AnnAssign) and not change.is_in_function:
        for name in _assigned_names(tree):
            old = module.__dict__[name]
            for other in list(sys.modules.values()):  # the modules that have imported the variable
                if getattr(other, "__dict__", {}).get(name, other) is old:
                    setattr(other, name, changed.__dict__[name])


def _assigned_names(tree: ast.Module) -> list[str]:
    targets = [t for s in tree.body for t in getattr(s, "targets", [getattr(s, "target", None)])]
    return [target.id for target in targets if isinstance(target, ast.Name)]


class TestRunner:
    """Run collected tests, one at a time."""

    __test__ = False

    def __init__(self) -> None:
        self.has_failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.has_failed |= report.failed

    def passes(self, item: pytest.Item) -> bool:
        self.has_failed = False
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.has_failed

    def first_failure(self, items: list[pytest.Item], cpu_seconds: float) -> str:
        """Return the name of the first test that fails within some CPU time, or an empty text."""
        end = time.process_time() + cpu_seconds
        for item in items:
            if time.process_time() < end and not self.passes(item):
                return item.nodeid
        return ""


class PythonMutants(TestRunner):
    """A plugin of pytest that tries changes of Python files where the tests would run."""

    def __init__(self, executed: ExecutedLinesOfTests, samples: list["Sample"]) -> None:
        super().__init__()
        self.executed, self.samples = executed, samples
        names = sorted({name for sample in samples for name, _ in sample.drawn})
        self.modules = {name: importlib.import_module(dotted(name)) for name in names}
        self.loaded: dict[str, Functions] = {}
        self.finders: dict[str, set[str]] = {name: set() for name in names}  # tests that noticed a change of a file
        self.unusable: dict[str, set[str]] = {name: set() for name in names}  # tests that fail without a change

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        gc.unfreeze()  # what the tests have frozen
        self.loaded = {name: functions_of(module.__name__) for name, module in self.modules.items()}
        gc.freeze()
        items = {item.nodeid: item for item in session.items if item.path.name not in SKIPPED_TESTS}
        self.executed.measure(list(items.values()), self.passes, run_in_fork)
        runs = {test: run for test, run in self.executed.tests.items() if test in items}
        for sample in self.samples:
            self.try_sample(sample, items, runs)
        return True

    def try_sample(self, sample: "Sample", items: dict[str, pytest.Item], runs: Mapping[str, ExecutedLines]) -> None:
        outcomes = Outcomes(sample)
        for name, k in sample.drawn:
            tree = read_tree(name)
            change = find_changes(tree)[k]
            description = f"{name}:{change.line}: {change.describe()}"
            change.apply()
            tests = in_order(tests_that_execute(name, change, runs), name, runs, self.finders[name])
            found = self.find_failure(name, tree, change, {test: items[test] for test in tests}, runs)
            self.finders[name] |= {found} & set(tests)  # type: ignore[arg-type]
            outcomes.add(found, len(tests), description)
        print(outcomes, flush=True)

    def find_failure(
        self,
        name: str,
        tree: ast.Module,
        change: Change,
        items: dict[str, pytest.Item],
        runs: Mapping[str, ExecutedLines],
    ) -> str | None:
        """Return the test that notices a change, an empty text, or None if the tests never end."""
        while True:
            usable = [item for test, item in items.items() if test not in self.unusable[name]]
            usable.sort(key=lambda item: runs[item.nodeid].seconds > MAX_TEST_SECONDS)
            found = self.try_in_fork(name, tree, change, usable)
            if found not in items or self.try_in_fork(name, read_tree(name), None, [items[found]]) != found:
                return found
            self.unusable[name].add(found)
            print(f"{found} fails with the unchanged code of {name} put in")

    def try_in_fork(self, name: str, tree: ast.Module, change: Change | None, items: list[pytest.Item]) -> str | None:
        """Return the test that notices a change, an empty text, or None if the tests never end."""
        job = functools.partial(self.try_change, name, tree, change, items)
        return run_in_fork(job, CPU_SECONDS + MAX_LAST_SECONDS)  # type: ignore[no-any-return]

    def try_change(self, name: str, tree: ast.Module, change: Change | None, items: list[pytest.Item]) -> str:
        """Return the test that notices a change, or an empty text."""
        try:
            replace_code(self.modules[name], self.loaded[name], tree, change)
        except ValueError:  # a function with another number of variables of outer functions cannot be replaced
            return "untried"
        except Exception:  # noqa: BLE001
            return "the module cannot be imported"
        return self.first_failure(items, CPU_SECONDS)


class Sample(NamedTuple):
    """Random changes at a place, as file and number, and the number of all changes there."""

    place: str
    drawn: list[tuple[str, int]]
    n_all: int


class Outcomes:
    """Numbers of changes of a sample, and how many survive."""

    def __init__(self, sample: Sample) -> None:
        self.place, self.n_all = sample.place or "all files", sample.n_all
        self.n_tried = self.n_untried = self.n_alive = 0

    def add(self, found: str | None, n_tests: int, description: str) -> None:
        """Count a change; `found` is the test that noticed it, or None if it never ended."""
        self.n_tried += 1
        self.n_untried += found == "untried"
        if found == "":
            self.n_alive += 1
            print(f"{description}  [{n_tests} tests]", flush=True)
        if self.n_tried % 50 == 0:
            print(self, flush=True)

    def __str__(self) -> str:
        n_changes = self.n_tried - self.n_untried
        survivors = f"{self.n_alive} survive ({self.n_alive / max(n_changes, 1):.1%})"
        return f"{self.place}: {n_changes} of {self.n_all:,} changes tried, {survivors}"


def lines_of(change: Change) -> tuple[int, int]:
    """Return the first and the last line that a test must execute to notice a change."""
    statement = change.statement
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    if isinstance(statement, ast.If | ast.For | ast.While | ast.With) and not isinstance(change.node, ast.stmt):
        last = max(first, statement.body[0].lineno - 1)
    if not change.is_in_function and not isinstance(statement, ast.FunctionDef):
        return 0, MAX_LINES
    return first, last


def tests_that_execute(name: str, change: Change, runs: Mapping[str, ExecutedLines]) -> list[str]:
    """Return the tests that execute the changed statement; if it is in no function, those that execute the file."""
    tests = [test for test, run in runs.items() if run.has_any(name, *lines_of(change))]
    return tests if change.is_in_function else [*tests, *(t for t in runs if any(name in t for name in TABLE_TESTS))]


def in_order(tests: Iterable[str], name: str, runs: Mapping[str, ExecutedLines], first: Container[str]) -> list[str]:
    """Sort the tests of a file: `first`, then its own tests, and then one of each function, of its folder before others.

    Of own functions with many arguments, MAX_FIRST_ARGUMENTS come first.
    """
    n_of_function: dict[str, int] = {}
    keys: dict[str, tuple[Any, ...]] = {}
    for test in sorted(tests, key=lambda test: runs[test].seconds):
        function = test.partition("[")[0]
        n_of_function[function] = n_before = n_of_function.get(function, -1) + 1
        far = distance(test, name)
        is_later = far > 0 or n_before >= MAX_FIRST_ARGUMENTS
        keys[test] = (test not in first, is_later, n_before if is_later else 0, far, runs[test].seconds)
    return sorted(keys, key=keys.__getitem__)


def distance(test: str, name: str) -> int:
    """Return 0 if a test is of the file of tests of a source file or of its examples, 1 if of its folder, 2 if not."""
    path = test.partition("::")[0]
    own = f"tests/{folder_of(name)}/test_{Path(name).stem.lstrip('_')}.py"
    if path in (own, f"src/secateur/{name}"):
        return 0
    return 1 if f"tests/{folder_of(name)}/" in path else 2


class KernelMutants(TestRunner):
    """A plugin of pytest that runs the collected tests on a copy of the package with one changed kernel."""

    def __init__(self, tests: list[str]) -> None:
        super().__init__()
        self.tests = tests
        self.failure = ""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        import secateur

        assert Path(str(secateur.__file__)).is_relative_to(SCRATCH), "the tests must import the copy"
        items = {item.nodeid: item for item in session.items}
        self.failure = self.first_failure([items[test] for test in self.tests if test in items], KERNEL_CPU_SECONDS)
        return True


def try_kernels(sample: Sample, executed: ExecutedLinesOfTests) -> None:
    """Compile changes of kernels in a copy of the project, and run the tests of the files that import them."""
    shutil.rmtree(SCRATCH, ignore_errors=True)
    for path in ("src", "setup.py", "pyproject.toml", "README.md", "LICENSE", "scripts/compiler.py"):
        copy_path(path)
    for generated in (ROOT / "build").glob("plain-cython-*"):
        copy_path(f"build/{generated.name}")
    for pattern in ("build/*/src/secateur/_kernels/*.c", "src/secateur/_kernels/*.so"):
        for path in SCRATCH.glob(pattern):
            path.touch()  # newer than the sources, so that only changed kernels are compiled
    for name in ("pandas", "scipy.stats", "sklearn.tree", "polars", "pyarrow"):
        importlib.import_module(name)  # or every fork would import it
    outcomes = Outcomes(sample)
    os.environ["PYTHONPATH"] = str(SCRATCH / "src")
    runs = executed.tests
    finders: dict[str, set[str]] = {}
    for name, k in sample.drawn:
        tests = tests_of_kernel(name, runs, finders.setdefault(name, set()))
        source, tree = SCRATCH / "src/secateur" / name, read_tree(name)
        change = find_changes(tree)[k]
        description = f"{name}:{change.line}: {change.describe()}"
        change.apply()
        source.write_text(ast.unparse(ast.fix_missing_locations(tree)) + "\n", "utf-8")
        found: str | None = "the kernel does not compile"
        if compile_kernels():
            found = run_in_fork(functools.partial(run_on_copy, tests), KERNEL_CPU_SECONDS + MAX_LAST_SECONDS)
            finders[name] |= {found} & set(tests)  # type: ignore[arg-type]
        outcomes.add(found, len(tests), description)
        restore_kernel(name)
    print(outcomes)


def copy_path(path: str) -> None:
    source, target = ROOT / path, SCRATCH / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    else:
        shutil.copy2(source, target)


def restore_kernel(name: str) -> None:
    """Copy the source, the generated C and the compiled extension of a kernel back, each newer than the one before."""
    stem = Path(name).stem
    generated = (ROOT / "build").glob(f"plain-cython-*/src/secateur/{KERNEL_FOLDER}/{stem}.c")
    compiled = (PACKAGE / KERNEL_FOLDER).glob(f"{stem}.*.so")
    for path in (PACKAGE / name, *generated, *compiled):
        shutil.copyfile(path, SCRATCH / path.relative_to(ROOT))


def compile_kernels() -> bool:
    """Compile what has changed in the copy, and return whether that succeeds."""
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace", "-j1"]
    environment = os.environ | {"SECATEUR_KERNELS": "sanitized"}  # little optimization
    environment.pop("PYTHONPATH", None)
    outcome = subprocess.run(command, cwd=SCRATCH, env=environment, capture_output=True, check=False, timeout=600)
    return outcome.returncode == 0


def tests_of_kernel(name: str, runs: Mapping[str, ExecutedLines], first: Container[str]) -> list[str]:
    """Return the tests of the files that import a kernel, or a kernel that calls it, as many as the time allows."""
    callers = {Path(name).stem}
    while True:
        more = {
            path.stem for path in (PACKAGE / KERNEL_FOLDER).glob("*.p*")
            if path.suffix in (".py", ".pxd") and imported_kernels(path) & callers
        }  # fmt: skip
        if more <= callers:
            break
        callers |= more
    importing = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.glob("[!_]*/*.py") if imported_kernels(path) & callers
    ]  # fmt: skip
    tests = [
        test for test, run in runs.items()
        if run.seconds < MAX_TEST_SECONDS
        and (test.startswith("tests/kernels/") or any(run.has_any(name, 0, MAX_LINES) for name in importing))
    ]  # fmt: skip
    result, seconds = [], 0.0
    for test in in_order(tests, f"kernels/{Path(name).name}", runs, first):
        seconds += runs[test].seconds
        if seconds < KERNEL_CPU_SECONDS:
            result.append(test)
    return result


def imported_kernels(path: Path) -> set[str]:
    """Return the names of the kernels that a file imports, in Python or in Cython."""
    names: set[str] = set()
    for line in path.read_text("utf-8").splitlines():
        words = line.replace(",", " ").replace("(", " ").split()
        if words[:1] in (["from"], ["cimport"]) and len(words) > 1:
            names |= {words[1].rpartition(".")[2]}
            if words[1].endswith("_kernels"):
                names |= set(words[3:])
    return names


def run_on_copy(tests: list[str]) -> str:
    """Run tests in this process, which must not have imported the package, and return the first that fails."""
    sys.path.insert(0, str(SCRATCH / "src"))
    plugin = KernelMutants(tests)
    pytest.main([*PYTEST_OPTIONS, *dict.fromkeys(test.partition("::")[0] for test in tests)], plugins=[plugin])
    return plugin.failure


def read_tree(name: str) -> ast.Module:
    return ast.parse((PACKAGE / name).read_text("utf-8"))


def dotted(name: str) -> str:
    return "secateur." + name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def folder_of(name: str) -> str:
    return name.rpartition("/")[0]


PYTEST_OPTIONS = ["-q", "-s", "-n", "0", "--tb=native", "-W", "ignore::pytest.PytestAssertRewriteWarning"]


def draw(place: str, n_wanted: int, seed: int, kind: str) -> Sample:
    """Return random changes at a place."""
    every = [
        (name, k)
        for name in names_at(place)
        for k, change in enumerate(find_changes(read_tree(name)))
        if f"{name}:{change.line}".startswith(place) and (kind != "calls" or change.is_removed_call)
    ]
    return Sample(place, random.Random(seed).sample(every, min(n_wanted, len(every))), len(every))


def names_at(place: str) -> list[str]:
    """Return the files at a place that can be changed."""
    is_kernel = place.startswith(KERNEL_FOLDER)
    names = [
        name for path in sorted(PACKAGE.rglob("*.py"))
        if (folder_of(name := path.relative_to(PACKAGE).as_posix()) == KERNEL_FOLDER) == is_kernel
        and path.name not in SKIPPED_FILES and name != "__init__.py" and name.startswith(place.partition(":")[0])
    ]  # fmt: skip
    return [name for name in names if not is_kernel or "\nimport cython\n" in (PACKAGE / name).read_text("utf-8")]


def main(n_wanted: int, seed: int, places: list[str], kind: str) -> int:
    settings.register_profile(
        "mutate", max_examples=MAX_EXAMPLES, deadline=None, derandomize=True, database=None, report_multiple_bugs=False,
        phases=(Phase.explicit, Phase.generate), suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    os.environ |= {"HYPOTHESIS_PROFILE": "mutate", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    os.chdir(ROOT)
    samples = [draw(place, n_wanted, seed, kind) for place in places]
    changes = [
        (name, find_changes(read_tree(name))[k])
        for sample in samples
        for name, k in sample.drawn
        if folder_of(name) != KERNEL_FOLDER
    ]
    executed = ExecutedLinesOfTests(SKIPPED_TESTS)
    unmeasured = executed.unmeasured_files()
    print(f"{len(unmeasured)} of {len(executed.files)} files of tests must be measured", flush=True)
    if not changes and n_wanted:
        if unmeasured:
            # This process must not import the package. The exit status says that pytest itself ran no tests.
            subprocess.run([sys.executable, __file__, "0"], check=False)
            executed = ExecutedLinesOfTests(SKIPPED_TESTS)
        for sample in samples:
            try_kernels(sample, executed)
        return 0
    needed = [
        path for path, runs in executed.of_file.items()
        if any(tests_that_execute(name, change, runs) for name, change in changes)
    ]  # fmt: skip
    for name in ("pandas", "scipy.optimize", "scipy.special", "scipy.stats", "sklearn.tree"):
        importlib.import_module(name)  # or every fork would import it
    paths = [str(path) for path in (*unmeasured, *needed)]
    return int(pytest.main([*PYTEST_OPTIONS, *paths], plugins=[PythonMutants(executed, samples)]))


if __name__ == "__main__":
    number, first, where, which = (*sys.argv[1:], *("100", "0", "", "")[len(sys.argv) - 1 :])
    print(f"seed {first}, {number} changes of {where or 'all Python files'}, {which or 'every kind'}")
    sys.exit(main(int(number), int(first), where.split(","), which))
