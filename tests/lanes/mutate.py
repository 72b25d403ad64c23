"""Change one operator or number at a time and see whether a test fails: scripts/mutate [number] [seed] [part of a place].

Mutants are drawn from the Python files of pruners, certifiers and core; a place is written `pruners/_greedy.py:40`.
The tests are collected once. Then everything happens in forks of this process: one for each file of tests runs it and
notes the lines that each test passes; one for each mutant puts the changed code into the functions that are loaded and
runs the tests that pass the changed line, until one fails: first those that have found a mutant of the file before, then
the quickest. The mutants that survive are printed; the answers to them are in docs/explanation/lanes.md.
"""

import ast
import gc
import importlib
import os
import pickle
import random
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, settings

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "secateur"
FOLDERS = ("pruners", "certifiers", "core")
TESTS = (
    *(f"src/secateur/{folder}" for folder in FOLDERS), "tests/pruners", "tests/certifiers",
    "tests/growers/test_surrogates.py", "tests/modelfile/test_round_trip.py", "tests/inspection/test_inspection.py",
    "tests/core/test_counts.py", "tests/model_selection/test_cross_validation.py", "tests/model_selection/test_fit_model.py", "tests/core/test_model.py",
    "tests/core/test_moments.py", "tests/statistics/test_overlap.py", "tests/routing/test_prediction.py", "tests/core/test_pruning.py",
    "tests/flows/test_reuse.py", "tests/routing/test_routing.py", "tests/model_selection/test_select.py", "tests/core/test_sequence.py",
    "tests/core/test_state_machines.py", "tests/core/test_tree.py",
)  # fmt: skip
READERS = ("test_the_registry_says_what_a", "test_every_certificate_promises")  # of tables and signatures
SECONDS = float(os.environ.get("SECONDS", "2.5"))  # of CPU time for one mutant; then no further test begins
LONGEST = 4.0  # seconds; tests that take longer are left out
EXAMPLES = 20  # of a law
_SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


class Change(NamedTuple):
    node: ast.expr | ast.AugAssign
    make: Callable[[], object]
    statement: ast.stmt  # the innermost that holds the node
    is_inside: bool  # a function


class Passed(NamedTuple):
    """What a test takes and where it goes."""

    seconds: float
    lines: set[tuple[str, int]]


def changes(tree: ast.Module) -> list[Change]:
    """What can be changed; annotations, docstrings and the texts of messages are no behaviour."""
    found: list[Change] = []
    waiting: list[tuple[Any, ast.stmt, bool]] = [(one, one, False) for one in tree.body]
    while waiting:
        node, statement, is_inside = waiting.pop()
        found += [Change(node, make, statement, is_inside) for make in _of_node(node)]
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.AnnAssign | ast.JoinedStr):
                continue
            below = is_inside or (isinstance(node, ast.FunctionDef) and name == "body")
            parts = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, ast.AST)]
            waiting += [(one, one if isinstance(one, ast.stmt) else statement, below) for one in parts]
    return found


def _of_node(node: Any) -> Iterator[Callable[[], object]]:
    if isinstance(node, ast.Compare):
        yield from (
            lambda i=i, op=op: node.ops.__setitem__(i, _SWAPS[type(op)]())  # type: ignore[misc]
            for i, op in enumerate(node.ops)
        )
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in _SWAPS:
        yield lambda: setattr(node, "op", _SWAPS[type(node.op)]())
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield lambda: setattr(node, "value", node.value + 1)  # type: ignore[operator]
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield lambda: setattr(node, "value", not node.value)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        yield lambda: setattr(node, "op", ast.UAdd())


def in_fork(job: Callable[[], Any], seconds: float) -> Any:
    """What a function returns in a process of its own; None if it dies, or takes more CPU time or 8 GB."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            signal.alarm(int(20 * seconds))
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


def functions_of(module: str) -> dict[tuple[str, int], list[FunctionType]]:
    """The functions of a module that have come since the last `gc.freeze`, by name and line; it may stand there twice."""
    found: dict[tuple[str, int], list[FunctionType]] = {}
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__module__ == module:
            found.setdefault((one.__qualname__, one.__code__.co_firstlineno), []).append(one)
    return found


def put_in(
    module: ModuleType, loaded: dict[tuple[str, int], list[FunctionType]], tree: ast.Module, change: Change | None
) -> None:
    """Give the functions of a module the code of a tree; if the change is in no function, what follows from it."""
    fresh = ModuleType(module.__name__)
    fresh.__dict__.update(__file__=module.__file__, __package__=module.__package__)
    exec(compile(tree, str(module.__file__), "exec"), fresh.__dict__)
    for key, (new, *_) in functions_of(module.__name__).items():
        for old in loaded.get(key, ()):
            old.__code__ = new.__code__
            if change is not None and not change.is_inside:
                old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
    if change is not None and isinstance(change.statement, ast.Assign) and not change.is_inside:
        for name in [one.id for each in tree.body for one in getattr(each, "targets", ()) if isinstance(one, ast.Name)]:
            old = module.__dict__[name]
            for other in list(sys.modules.values()):  # where it has been imported to
                if getattr(other, "__dict__", {}).get(name, other) is old:
                    setattr(other, name, fresh.__dict__[name])


class Mutants:
    """A plugin of pytest that tries mutants where the tests would run."""

    def __init__(self, n_wanted: int, seed: int, part: str) -> None:
        self.n_wanted, self.seed, self.part = n_wanted, seed, part
        self.has_failed = False
        self.modules: dict[str, ModuleType] = {}
        self.loaded: dict[str, dict[tuple[str, int], list[FunctionType]]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.has_failed |= report.failed

    def passes(self, item: pytest.Item) -> bool:
        self.has_failed = False
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.has_failed

    def lines_passed(self, items: list[pytest.Item]) -> dict[str, Passed]:
        """What each test passes, with the code that is there put in anew; those that fail are left out."""
        ours = tuple(f"{PACKAGE / folder}{os.sep}" for folder in FOLDERS)
        result = {}
        for name in self.modules:
            put_in(self.modules[name], self.loaded[name], _tree(name), None)

        def trace(frame: Any, *_: object) -> Any:
            if not frame.f_code.co_filename.startswith(ours):
                return None
            lines.add((frame.f_code.co_filename, frame.f_lineno))
            return trace

        for item in items:
            lines: set[tuple[str, int]] = set()
            start = time.process_time()
            sys.settrace(trace)
            threading.settrace(trace)
            if self.passes(item):
                result[item.nodeid] = Passed(time.process_time() - start, lines)
        return result

    def covered(self, items: list[pytest.Item]) -> dict[str, Passed]:
        """The same, one process for each file."""
        result: dict[str, Passed] = {}
        for path in dict.fromkeys(item.path for item in items):
            some = [item for item in items if item.path == path]
            told = in_fork(lambda some=some: self.lines_passed(some), 3600) or {}  # type: ignore[misc]
            seconds = sum(outcome.seconds for outcome in told.values())
            print(f"{path.relative_to(ROOT)}: {len(told)} of {len(some)} tests pass, {seconds:.1f} s", flush=True)
            result |= told
        return result

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        names = [f"{folder}/{path.name}" for folder in FOLDERS for path in sorted((PACKAGE / folder).glob("*.py"))]
        self.modules = {name: importlib.import_module(_dotted(name)) for name in names}
        for name in ("pandas", "scipy.optimize", "scipy.special", "scipy.stats", "sklearn.tree"):
            importlib.import_module(name)  # or every fork would do it
        gc.unfreeze()  # what the tests have frozen
        self.loaded = {name: functions_of(module.__name__) for name, module in self.modules.items()}
        gc.freeze()
        items = {item.nodeid: item for item in session.items}
        passed = self.covered(session.items)
        drawn = [
            (name, k) for name in names
            for k, change in enumerate(changes(_tree(name))) if self.part in f"{name}:{change.node.lineno}"
        ]  # fmt: skip
        n_all = len(drawn)
        drawn = random.Random(self.seed).sample(drawn, min(self.n_wanted, n_all))
        finders: dict[str, set[str]] = {name: set() for name in names}
        n_alive = 0
        for i, (name, k) in enumerate(drawn, 1):
            tree = _tree(name)
            change = changes(tree)[k]
            before = ast.unparse(change.node)
            change.make()
            after = ast.unparse(change.node)
            tests = [t for t in _passing(str(PACKAGE / name), change, passed) if passed[t].seconds < LONGEST]
            tests.sort(key=lambda t: (t not in finders[name], passed[t].seconds))

            def finder() -> str:
                """The test that fails, or nothing."""
                try:
                    put_in(self.modules[name], self.loaded[name], tree, change)  # noqa: B023
                except Exception:  # noqa: BLE001
                    return "the module cannot be imported"
                for test in tests:  # noqa: B023
                    if time.process_time() < SECONDS and not self.passes(items[test]):
                        return test
                return ""

            found = in_fork(finder, SECONDS + 2 * LONGEST)  # None if it goes on for ever
            finders[name] |= {found} & set(tests)
            if found == "":
                n_alive += 1
                print(
                    f"survived {len(tests)} tests: {name}:{change.node.lineno}", before, after, sep="\n    ", flush=True
                )
            if i % 50 == 0:
                print(f"{i} of {len(drawn)} mutants (of {n_all:,} there are), {n_alive} survive", flush=True)
        print(f"{len(drawn)} of {n_all:,} mutants, seed {self.seed}: {n_alive} survive")
        return True


def _tree(name: str) -> ast.Module:
    return ast.parse((PACKAGE / name).read_text("utf-8"))


def _dotted(name: str) -> str:
    return "secateur." + name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _passing(path: str, change: Change, passed: dict[str, Passed]) -> list[str]:
    """The tests that pass the changed statement; if it is in no function, those that pass the file, or read it."""
    statement = change.statement
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    if isinstance(statement, ast.If | ast.For | ast.While | ast.With):
        last = max(first, statement.body[0].lineno - 1)
    if not change.is_inside and not isinstance(statement, ast.FunctionDef):
        first, last = 0, sys.maxsize
    found = [t for t, one in passed.items() if any(at == path and first <= line <= last for at, line in one.lines)]
    return found if change.is_inside else [*found, *(t for t in passed if any(name in t for name in READERS))]


def main(n_wanted: int, seed: int, part: str) -> int:
    settings.register_profile(
        "mutate", max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, report_multiple_bugs=False,
        phases=(Phase.explicit, Phase.generate), suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    os.environ |= {"HYPOTHESIS_PROFILE": "mutate", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    os.chdir(ROOT)
    ignored = "ignore::pytest.PytestAssertRewriteWarning"  # of hypothesis, which is imported already
    return int(
        pytest.main(
            ["-q", "-s", "-n", "0", "--tb=native", "-W", ignored, *TESTS], plugins=[Mutants(n_wanted, seed, part)]
        )
    )


if __name__ == "__main__":
    number, first, where = (*sys.argv[1:], *("100", "0", "")[len(sys.argv) - 1 :])
    sys.exit(main(int(number), int(first), where))
