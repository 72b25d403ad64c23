"""Change the code in one place at a time and see whether a test fails: scripts/mutate [number] [seed] [place] [kind].

A place is the beginning of a folder, file and line of src/secateur: `data`, `pruners/_greedy.py`, `pruners/_greedy.py:40`
or `_kernels/structure`. Without a place, changes are drawn from all Python files except the kernels. The kind `calls` draws only
calls that are removed, such as warnings, checks and records; by default every kind is drawn.

Python files. The tests of the drawn folders (TESTS) are collected once. Everything else happens in forks of this process.
One fork for each file of tests runs these tests and notes which lines each test executes. One fork for each change
puts the changed code into the loaded functions and runs the tests that execute the changed lines until one fails: first
those that noticed another change of the same file, then the quickest.

Kernels. The project is copied to build/mutants. Each change is compiled there, with little optimization, and a fork
runs the tests of the folders that import the kernel until one fails, the quickest first.

A change that no test notices is printed as `place: before -> after`. docs/explanation/lanes.md states the reasons.
"""

import ast
import copy
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
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import coverage
import pytest
from hypothesis import HealthCheck, Phase, settings

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "secateur"
SCRATCH = ROOT / "build" / "mutants"
KERNEL_FOLDER = "_kernels"
# The tests of a folder: its own, the examples in its docstrings, and these.
TESTS = {
    "": ["tests/project/test_messages.py", "tests/data", "tests/core/test_tree.py", "tests/flows/test_bad_arguments.py"],
    "_utils": ["tests/data", "tests/core", "tests/project/test_messages.py", "tests/model_selection", "tests/cli/test_output.py"],
    "certifiers": ["tests/flows", "tests/statistics", "tests/model_selection/test_fit_model.py"],
    "cli": ["tests/flows/test_bad_inputs.py"],
    "core": [
        "tests/pruners", "tests/certifiers/test_certify.py", "tests/inspection/test_inspection.py", "tests/flows/test_reuse.py",
        "tests/growers/test_surrogates.py", "tests/modelfile/test_round_trip.py", "tests/routing", "tests/statistics",
        "tests/model_selection/test_select.py", "tests/model_selection/test_fit_model.py", "tests/certifiers/test_bound.py",
    ],
    "data": [
        "tests/routing", "tests/engines/test_options.py", "tests/engines/test_stream.py", "tests/flows/test_bad_inputs.py",
        "tests/growers/test_nominal.py", "tests/growers/test_missing.py", "tests/growers/test_weights.py",
        "tests/modelfile/test_round_trip.py", "tests/model_selection",
    ],
    "engines": ["tests/data/test_files.py"],
    "estimators": ["tests/model_selection/test_fit_model.py", "tests/flows"],
    "growers": ["tests/core/test_tree.py", "tests/engines/test_growing.py"],
    "inspection": ["tests/report/test_reasons.py", "tests/report/test_parts.py"],
    "model_selection": [
        "tests/estimators", "tests/flows", "tests/cli", "tests/growers/test_presorted_data.py", "tests/growers/test_lookahead.py",
        "tests/growers/test_monotone.py", "tests/inspection/test_scores_shown.py", "tests/modelfile/test_round_trip.py",
        "tests/report/test_page.py",
    ],
    "pruners": ["tests/core/test_pruning.py", "tests/core/test_sequence.py", "tests/model_selection/test_cross_validation.py"],
    "report": ["tests/inspection"],
    "routing": [
        "tests/engines/test_options.py", "tests/engines/test_tally.py", "tests/engines/test_stream.py", "tests/engines/test_sums_of_parts.py",
        "tests/core/test_counts.py", "tests/core/test_moments.py", "tests/growers/test_weights.py",
        "tests/growers/test_surrogates.py", "tests/growers/test_regression.py", "tests/statistics", "tests/interop/test_from_sklearn.py",
        "tests/model_selection/test_fit_model.py", "tests/estimators", "tests/flows/test_groups.py",
    ],
    "statistics": ["tests/certifiers", "tests/flows", "tests/pruners/test_pessimistic.py", "tests/routing/test_prediction.py"],
}  # fmt: skip
SKIPPED_FILES = ("__main__.py",)  # run when they are imported
SKIPPED_TESTS = (  # other processes do the work, or a cluster that does not survive a fork
    "test_browser.py", "test_firefox.py", "test_spark.py", "test_interrupts.py", "test_dask.py", "test_dask_jobs.py", "test_growing.py",
    "test_faults.py",
)  # fmt: skip
TABLE_TESTS = ("test_the_registry_says_what_a", "test_every_certificate_promises")  # read tables and signatures
CPU_SECONDS = float(os.environ.get("SECONDS", "2.5"))  # no further test begins after this time for one change
SURVIVOR_CPU_SECONDS = 10 * CPU_SECONDS  # for a change that no test noticed in that time
KERNEL_CPU_SECONDS = 10 * CPU_SECONDS  # the lines of a kernel that a test executes are unknown, so more tests run
MAX_TEST_SECONDS = 4.0  # slower tests are left out
MAX_SECONDS = 900  # by the clock, for one file of tests
MAX_EXAMPLES = 20  # of a property test
MEMORY_LIMIT_BYTES = 8 << 30
SWAPPED_OPERATORS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NOT_BEHAVIOUR = ("annotation", "returns", "decorator_list", "type_params", "bases")
Functions = dict[tuple[str, int], list[FunctionType]]


class Change(NamedTuple):
    """One node of a syntax tree, and what replaces it."""

    parent: ast.AST
    field: str
    index: int | None  # in the list of the field
    node: ast.AST
    replacement: ast.AST | None  # None removes a keyword argument
    statement: ast.stmt  # the innermost that holds the node
    is_in_function: bool

    @property
    def line(self) -> int:
        return self.node.lineno  # type: ignore[attr-defined]

    def apply(self) -> None:
        if self.index is None:
            setattr(self.parent, self.field, self.replacement)
        elif self.replacement is None:
            del getattr(self.parent, self.field)[self.index]
        else:
            getattr(self.parent, self.field)[self.index] = self.replacement

    @property
    def is_removed_call(self) -> bool:
        return isinstance(self.node, ast.Expr) and isinstance(self.replacement, ast.Pass)

    def describe(self) -> str:
        if isinstance(self.node, ast.FunctionDef):
            return f"{self.node.name}(...) -> return at once"
        after = "(removed)" if self.replacement is None else ast.unparse(self.replacement)
        return f"{ast.unparse(self.node)} -> {after}"


class TestRun(NamedTuple):
    """The CPU time of a test, and the lines of the package that it executes."""

    __test__ = False
    seconds: float
    lines: set[tuple[str, int]]


def find_changes(tree: ast.Module) -> list[Change]:
    """Return all changes of a file; annotations, docstrings and the texts of messages are no behaviour."""
    result: list[Change] = []
    waiting: list[tuple[ast.AST, ast.stmt | None, bool]] = [(tree, None, False)]
    while waiting:
        node, statement, is_in_function = waiting.pop()
        for field, index, child in _children(node):
            innermost = child if isinstance(child, ast.stmt) else statement
            assert innermost is not None or not hasattr(child, "lineno")
            is_inside = is_in_function or (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and field == "body")
            if _is_no_behaviour(node, field, child, is_inside):
                continue
            result += [
                Change(node, field, index, child, new, innermost, is_inside)  # type: ignore[arg-type]
                for new in _replacements(node, field, child)
            ]
            waiting.append((child, innermost, is_inside))
    return result


def _children(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield field, None, value
        elif isinstance(value, list):
            yield from ((field, i, child) for i, child in enumerate(value) if isinstance(child, ast.AST))


def _is_no_behaviour(node: ast.AST, field: str, child: ast.AST, is_in_function: bool) -> bool:
    is_type_checking = isinstance(child, ast.If) and ast.unparse(child.test) in (
        "TYPE_CHECKING",
        "__name__ == '__main__'",
    )
    is_field = isinstance(child, ast.AnnAssign) and isinstance(node, ast.ClassDef)
    is_type_alias = not is_in_function and isinstance(node, ast.Module) and isinstance(child, ast.Assign) and (
        isinstance(child.value, ast.BinOp) and isinstance(child.value.op, ast.BitOr)
    )  # fmt: skip
    return field in NOT_BEHAVIOUR or isinstance(child, ast.JoinedStr) or is_type_checking or is_field or is_type_alias


def _replacements(parent: ast.AST, field: str, node: ast.AST) -> Iterator[ast.AST | None]:
    """Yield the nodes that may replace a node."""
    yield from _other_operators(node)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield ast.Constant(node.value + 1)  # type: ignore[operator]
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        yield from (_without(node, i) for i in range(len(node.values)))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        yield from (node.left, node.right)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()
    elif isinstance(node, ast.FunctionDef) and _returns_nothing(node):
        yield _with(node, body=[ast.Return()])
    elif isinstance(node, ast.keyword) and node.arg is not None and isinstance(parent, ast.Call):
        yield None
    if field == "test" and isinstance(parent, ast.If | ast.IfExp):
        yield from (ast.Constant(True), ast.Constant(False))
    elif field == "test" and isinstance(parent, ast.While):
        yield ast.Constant(False)
    elif field == "ifs":
        yield ast.Constant(True)


def _other_operators(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            yield _with(node, ops=[*node.ops[:i], SWAPPED_OPERATORS[type(operator)](), *node.ops[i + 1 :]])
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in SWAPPED_OPERATORS:
        yield _with(node, op=SWAPPED_OPERATORS[type(node.op)]())


def _with(node: ast.AST, **fields: Any) -> Any:
    result = copy.copy(node)
    for name, value in fields.items():
        setattr(result, name, value)
    return result


def _without(node: ast.BoolOp, i: int) -> ast.AST:
    others = [*node.values[:i], *node.values[i + 1 :]]
    return others[0] if len(others) == 1 else _with(node, values=others)


def _returns_nothing(function: ast.FunctionDef) -> bool:
    has_body = any(not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in function.body)
    return has_body and not any(
        isinstance(node, ast.Yield | ast.YieldFrom) or (isinstance(node, ast.Return) and node.value is not None)
        for node in ast.walk(function)
    )


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

    def __init__(self, names: list[str], n_wanted: int, seed: int, place: str, kind: str) -> None:
        super().__init__()
        self.names, self.n_wanted, self.seed, self.place, self.kind = names, n_wanted, seed, place, kind
        self.modules: dict[str, ModuleType] = {}
        self.loaded: dict[str, Functions] = {}
        self.finders: dict[str, set[str]] = {name: set() for name in names}  # tests that noticed a change of a file

    def run_measured(self, items: list[pytest.Item]) -> dict[str, TestRun]:
        """Return what each test executes, with the unchanged code put in anew; tests that fail are left out."""
        for name in self.names:
            replace_code(self.modules[name], self.loaded[name], read_tree(name), None)
        measured = coverage.Coverage(
            data_file=None, include=[str(PACKAGE / name) for name in self.names], messages=False
        )
        seconds = {}
        measured.start()
        for item in items:
            measured.switch_context(item.nodeid)
            start = time.process_time()
            if self.passes(item):
                seconds[item.nodeid] = time.process_time() - start
        measured.stop()
        warnings.simplefilter("ignore", coverage.exceptions.CoverageWarning)  # no test executes these files
        result = {test: TestRun(seconds[test], set()) for test in seconds}
        data = measured.get_data()
        for path in data.measured_files():
            for line, tests in data.contexts_by_lineno(path).items():
                for test in tests:
                    if test in result:
                        result[test].lines.add((path, line))
        return result

    def measure(self, items: list[pytest.Item]) -> dict[str, TestRun]:
        """Return what each test executes, measured in one process for each file of tests."""
        result: dict[str, TestRun] = {}
        for path in dict.fromkeys(item.path for item in items):
            tests = [item for item in items if item.path == path]
            runs = run_in_fork(lambda tests=tests: self.run_measured(tests), 3600) or {}  # type: ignore[misc]
            result |= {test: run for test, run in runs.items() if run.lines}
            seconds = sum(run.seconds for run in runs.values())
            print(f"{path.relative_to(ROOT)}: {len(runs)} of {len(tests)} tests pass, {seconds:.1f} s", flush=True)
        return result

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.modules = {name: importlib.import_module(dotted(name)) for name in self.names}
        for name in ("pandas", "scipy.optimize", "scipy.special", "scipy.stats", "sklearn.tree"):
            importlib.import_module(name)  # or every fork would import it
        gc.unfreeze()  # what the tests have frozen
        self.loaded = {name: functions_of(module.__name__) for name, module in self.modules.items()}
        gc.freeze()
        items = {item.nodeid: item for item in session.items if item.path.name not in SKIPPED_TESTS}
        runs = self.measure(list(items.values()))
        drawn, n_all = draw(self.names, self.n_wanted, self.seed, self.place, self.kind)
        outcomes = Outcomes(len(drawn), n_all)
        for name, k in drawn:
            tree = read_tree(name)
            change = find_changes(tree)[k]
            description = f"{name}:{change.line}: {change.describe()}"
            change.apply()
            tests = tests_that_execute(str(PACKAGE / name), change, runs)
            tests.sort(key=lambda t: (t not in self.finders[name], runs[t].seconds))
            quick = [items[t] for t in tests if runs[t].seconds < MAX_TEST_SECONDS]
            found = self.try_in_fork(name, tree, change, quick, CPU_SECONDS)
            if found == "":  # once more, with the slow tests and those for which no time was left
                found = self.try_in_fork(name, tree, change, [items[t] for t in tests], SURVIVOR_CPU_SECONDS)
            self.finders[name] |= {found} & set(tests)
            outcomes.add(found, len(tests), description)
        print(f"{outcomes}, seed {self.seed}")
        return True

    def try_in_fork(
        self, name: str, tree: ast.Module, change: Change, items: list[pytest.Item], cpu_seconds: float
    ) -> str | None:
        """Return the test that notices a change, an empty text, or None if the tests never end."""
        job = functools.partial(self.try_change, name, tree, change, items, cpu_seconds)
        return run_in_fork(job, cpu_seconds + SURVIVOR_CPU_SECONDS)  # type: ignore[no-any-return]

    def try_change(
        self, name: str, tree: ast.Module, change: Change, items: list[pytest.Item], cpu_seconds: float
    ) -> str:
        """Return the test that notices a change, or an empty text."""
        try:
            replace_code(self.modules[name], self.loaded[name], tree, change)
        except ValueError:  # a function with another number of variables of outer functions cannot be replaced
            return "untried"
        except Exception:  # noqa: BLE001
            return "the module cannot be imported"
        return self.first_failure(items, cpu_seconds)


class Outcomes:
    """Numbers of changes, and how many survive."""

    def __init__(self, n_drawn: int, n_all: int) -> None:
        self.n_drawn, self.n_all = n_drawn, n_all
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
        return f"{n_changes} of {self.n_all:,} changes tried, {self.n_alive} survive ({self.n_alive / max(n_changes, 1):.1%})"


def draw(names: list[str], n_wanted: int, seed: int, place: str, kind: str) -> tuple[list[tuple[str, int]], int]:
    """Return random changes at a place, as file and number, and the number of all of them."""
    every = [
        (name, k)
        for name in names
        for k, change in enumerate(find_changes(read_tree(name)))
        if f"{name}:{change.line}".startswith(place) and (kind != "calls" or change.is_removed_call)
    ]
    return random.Random(seed).sample(every, min(n_wanted, len(every))), len(every)


def tests_that_execute(path: str, change: Change, runs: dict[str, TestRun]) -> list[str]:
    """Return the tests that execute the changed statement; if it is in no function, those that execute the file."""
    statement = change.statement
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    if isinstance(statement, ast.If | ast.For | ast.While | ast.With) and not isinstance(change.node, ast.stmt):
        last = max(first, statement.body[0].lineno - 1)
    if not change.is_in_function and not isinstance(statement, ast.FunctionDef):
        first, last = 0, sys.maxsize
    tests = [t for t, run in runs.items() if any(at == path and first <= line <= last for at, line in run.lines)]
    return tests if change.is_in_function else [*tests, *(t for t in runs if any(name in t for name in TABLE_TESTS))]


class KernelMutants(TestRunner):
    """A plugin of pytest that runs the collected tests on a copy of the package with one changed kernel."""

    def __init__(self, seconds: dict[str, float] | None) -> None:
        super().__init__()
        self.known_seconds = seconds
        self.seconds: dict[str, float] = {}  # CPU time of the tests that pass, in the first run
        self.failure = ""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        import secateur

        assert Path(str(secateur.__file__)).is_relative_to(SCRATCH), "the tests must import the copy"
        items = [item for item in session.items if item.path.name not in SKIPPED_TESTS]
        if self.known_seconds is None:
            for item in items:
                start = time.process_time()
                if self.passes(item):
                    self.seconds[item.nodeid] = time.process_time() - start
            return True
        known = {test: t for test, t in self.known_seconds.items() if t < MAX_TEST_SECONDS}
        items = sorted((item for item in items if item.nodeid in known), key=lambda item: known[item.nodeid])
        self.failure = self.first_failure(items, KERNEL_CPU_SECONDS)
        return True


def try_kernels(names: list[str], n_wanted: int, seed: int, place: str, kind: str) -> None:
    """Compile changes of kernels in a copy of the project, and run the tests of the folders that import them."""
    shutil.rmtree(SCRATCH, ignore_errors=True)
    for path in ("src", "setup.py", "pyproject.toml", "README.md", "LICENSE", "scripts/compiler.py"):
        copy_path(path)
    for generated in (ROOT / "build").glob("plain-cython-*"):
        copy_path(f"build/{generated.name}")
    for pattern in ("build/*/src/secateur/_kernels/*.c", "src/secateur/_kernels/*.so"):
        for path in SCRATCH.glob(pattern):
            path.touch()  # newer than the sources, so that only changed kernels are compiled
    drawn, n_all = draw(names, n_wanted, seed, place, kind)
    outcomes = Outcomes(len(drawn), n_all)
    seconds: dict[tuple[str, ...], dict[str, float]] = {}
    os.environ["PYTHONPATH"] = str(SCRATCH / "src")
    for name, k in drawn:
        tests = tuple(tests_of_kernel(Path(name).stem))
        if tests not in seconds:
            seconds[tests] = run_in_fork(lambda: run_on_copy(tests, None).seconds, 3600) or {}  # noqa: B023
            print(f"{name}: {len(seconds[tests])} tests in {', '.join(tests)}", flush=True)
        source, tree = SCRATCH / "src/secateur" / name, read_tree(name)
        change = find_changes(tree)[k]
        description = f"{name}:{change.line}: {change.describe()}"
        change.apply()
        source.write_text(ast.unparse(ast.fix_missing_locations(tree)) + "\n", "utf-8")
        if compile_kernels():
            found = run_in_fork(
                lambda: run_on_copy(tests, seconds[tests]).failure,  # noqa: B023
                5 * KERNEL_CPU_SECONDS,
            )
            outcomes.add(found, len(seconds[tests]), description)
        else:
            outcomes.add("the kernel does not compile", 0, description)
        restore_kernel(name)
    print(f"{outcomes}, seed {seed}")


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


def tests_of_kernel(kernel: str) -> list[str]:
    """Return the tests of the folders that import a kernel, or a kernel that calls it; at most three folders."""
    callers = {kernel}
    while True:
        more = {
            path.stem for path in (PACKAGE / KERNEL_FOLDER).glob("*.p*")
            if path.suffix in (".py", ".pxd") and imported_kernels(path) & callers
        }  # fmt: skip
        if more <= callers:
            break
        callers |= more
    n_importing: dict[str, int] = {}
    for path in PACKAGE.glob("[!_]*/*.py"):
        if imported_kernels(path) & callers and (ROOT / "tests" / path.parent.name).exists():
            n_importing[path.parent.name] = n_importing.get(path.parent.name, 0) + 1
    folders = sorted(n_importing, key=lambda folder: (-n_importing[folder], folder))[:3]
    return ["tests/kernels", *(f"tests/{folder}" for folder in folders)]


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


def run_on_copy(tests: tuple[str, ...], seconds: dict[str, float] | None) -> KernelMutants:
    """Run tests in this process, which must not have imported the package."""
    sys.path.insert(0, str(SCRATCH / "src"))
    plugin = KernelMutants(seconds)
    pytest.main([*PYTEST_OPTIONS, *tests], plugins=[plugin])
    return plugin


def read_tree(name: str) -> ast.Module:
    return ast.parse((PACKAGE / name).read_text("utf-8"))


def dotted(name: str) -> str:
    return "secateur." + name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def folder_of(name: str) -> str:
    return name.rpartition("/")[0]


def tests_of_folder(folder: str) -> list[str]:
    own = [f"src/secateur/{folder}", f"tests/{folder}"] if folder else ["src/secateur/errors.py"]
    return [path for path in (*own, *TESTS.get(folder, ())) if (ROOT / path).exists()]


PYTEST_OPTIONS = ["-q", "-s", "-n", "0", "--tb=native", "-W", "ignore::pytest.PytestAssertRewriteWarning"]


def main(n_wanted: int, seed: int, place: str, kind: str) -> int:
    settings.register_profile(
        "mutate", max_examples=MAX_EXAMPLES, deadline=None, derandomize=True, database=None, report_multiple_bugs=False,
        phases=(Phase.explicit, Phase.generate), suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    os.environ |= {"HYPOTHESIS_PROFILE": "mutate", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    os.chdir(ROOT)
    is_kernel = place.startswith(KERNEL_FOLDER)
    names = [
        name for path in sorted(PACKAGE.rglob("*.py"))
        if (folder_of(name := path.relative_to(PACKAGE).as_posix()) == KERNEL_FOLDER) == is_kernel
        and path.name not in SKIPPED_FILES and name != "__init__.py" and name.startswith(place.partition(":")[0])
    ]  # fmt: skip
    if is_kernel:
        names = [name for name in names if "\nimport cython\n" in (PACKAGE / name).read_text("utf-8")]
        for name in ("pandas", "scipy.stats", "sklearn.tree", "polars", "pyarrow"):
            importlib.import_module(name)  # or every fork would import it
        try_kernels(names, n_wanted, seed, place, kind)
        return 0
    tests = dict.fromkeys(path for name in names for path in tests_of_folder(folder_of(name)))
    return int(pytest.main([*PYTEST_OPTIONS, *tests], plugins=[PythonMutants(names, n_wanted, seed, place, kind)]))


if __name__ == "__main__":
    number, first, where, which = (*sys.argv[1:], *("100", "0", "", "")[len(sys.argv) - 1 :])
    sys.exit(main(int(number), int(first), where, which))
