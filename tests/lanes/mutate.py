"""Change one operator or number at a time and see whether a test fails: scripts/mutate [number] [seed] [part of a path].

Mutants are drawn from the Python files of pruners, certifiers and nouns. Each stands in a copy of the package and is
tried with the tests of its module, the quickest first, until one fails; one that survives is printed as a difference.
Forked from one process, because importing takes longer than most tests. The answers to the survivors are in
docs/explanation/lanes.md.
"""

import ast
import difflib
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "secateur"
FOLDERS = ("pruners", "certifiers", "nouns")
MOST_SECONDS = 300  # of a mutant; one that runs for ever is found
OTHERS = {  # tests of modules that no test file is named after
    "certifiers/_certify.py": ("certifiers/test_certify.py",),
    "certifiers/_checks.py": ("certifiers/test_certify.py", "certifiers/test_every_certificate.py"),
    "certifiers/_fresh.py": ("certifiers/test_certify.py", "test_overlap.py", "test_reuse.py"),
    "certifiers/_offered.py": ("certifiers/test_certify.py",),
    "nouns/bound.py": ("certifiers/test_bound.py",),
    "nouns/choice.py": ("test_selection.py", "test_cross_validation.py"),
    "nouns/costs.py": ("pruners/test_every_pruner.py", "pruners/test_squared_costs.py", "test_counts.py"),
    "nouns/counted.py": ("test_counts.py", "test_moments.py", "pruners/test_every_pruner.py"),
    "nouns/model.py": ("modelfile/test_round_trip.py", "test_fitting.py"),
    "nouns/seen.py": ("test_reuse.py", "certifiers/test_certify.py"),
    "nouns/shares.py": ("certifiers/test_leaf_shares.py",),
}
_SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def mutants(source: str) -> Iterator[str]:
    """Every text with one change, as `ast.unparse` writes it."""
    n = len(list(_changes(ast.parse(source))))
    for i in range(n):
        tree = ast.parse(source)
        list(_changes(tree))[i]()
        yield ast.unparse(tree)


def _changes(tree: ast.AST) -> Iterator:  # type: ignore[type-arg]
    """What can be changed, each as a function that does it; annotations and docstrings are no behaviour."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Compare):
            yield from (_set(node.ops, i, _SWAPS[type(op)]()) for i, op in enumerate(node.ops))
        elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in _SWAPS:
            yield lambda node=node: setattr(node, "op", _SWAPS[type(node.op)]())
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield lambda node=node: setattr(node, "value", node.value + 1)
        elif isinstance(node, ast.Constant) and type(node.value) is bool:
            yield lambda node=node: setattr(node, "value", not node.value)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
            yield lambda node=node: setattr(node, "op", ast.UAdd())
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.AnnAssign | ast.JoinedStr):
                continue  # types, and texts of messages
            waiting += [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, ast.AST)]


def _set(items: list, i: int, value: object):  # type: ignore[no-untyped-def, type-arg]
    return lambda: items.__setitem__(i, value)


def tests_of(name: str) -> list[str]:
    """The test files of a module, by its path in the package."""
    folder, file = name.split("/")
    own = f"test_{file.lstrip('_')}"
    found = [own] if folder == "nouns" else [f"{folder}/{own}"]
    found = [*found, *OTHERS.get(name, ())]
    laws = {"pruners": "pruners/test_every_pruner.py", "certifiers": "certifiers/test_every_certificate.py"}
    found += [laws[folder]] if folder in laws else []
    return [str(ROOT / "tests" / one) for one in dict.fromkeys(found) if (ROOT / "tests" / one).exists()]


def _tried(copy: Path, tests: list[str]) -> int:
    import pytest

    for stream in (1, 2):
        os.dup2(os.open(f"{copy}/told", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    sys.path.insert(0, str(copy))
    os.chdir(ROOT)
    words = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=short", "-W"]
    words.append("ignore::pytest.PytestAssertRewriteWarning")  # of what is imported already
    status = int(pytest.main([*words, *tests]))
    loaded = Path(sys.modules["secateur"].__file__ or "")
    assert loaded.is_relative_to(copy), loaded
    return status


def survives(copy: Path, tests: list[str]) -> bool:
    """Whether all tests pass with the package of a copy, in a process of its own."""
    pid = os.fork()
    if pid == 0:
        status = 3
        try:
            status = _tried(copy, tests)
        finally:  # whatever happens: nothing of the parent is done a second time
            os._exit(status)
    end = time.monotonic() + MOST_SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            if os.WIFEXITED(status) and os.WEXITSTATUS(status) not in (0, 1, 2):  # 1: a test fails; 2: it is no module
                raise SystemExit(f"pytest could not run:\n{(copy / 'told').read_text()[-2000:]}")
            return status == 0
        time.sleep(0.02)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return False


def main(n_wanted: int, seed: int, part: str) -> int:
    import numpy as np  # noqa: F401
    import pandas as pd  # noqa: F401
    import pytest  # noqa: F401
    import scipy.stats  # noqa: F401

    sys.dont_write_bytecode = True
    names = [f"{folder}/{path.name}" for folder in FOLDERS for path in sorted((PACKAGE / folder).glob("*.py"))]
    drawn = [
        (name, k) for name in names if part in name and tests_of(name)
        for k in range(len(list(_changes(ast.parse((PACKAGE / name).read_text("utf-8"))))))
    ]  # fmt: skip
    n_all = len(drawn)
    drawn = random.Random(seed).sample(drawn, min(n_wanted, n_all))
    n_alive = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(PACKAGE, copy / "secateur", ignore=shutil.ignore_patterns("__pycache__"))
        for i, (name, k) in enumerate(drawn, 1):
            source = (PACKAGE / name).read_text("utf-8")
            tree = ast.parse(source)
            list(_changes(tree))[k]()
            before, after = (ast.unparse(one).splitlines() for one in (ast.parse(source), tree))
            (copy / "secateur" / name).write_text("\n".join(after))
            if i == 1:  # the copy as it is: all tests must pass, or every mutant would be found
                (copy / "secateur" / name).write_text(source)
                if not survives(copy, tests_of(name)):
                    raise SystemExit(f"the tests do not pass without a mutant:\n{(copy / 'told').read_text()[-3000:]}")
                (copy / "secateur" / name).write_text("\n".join(after))
            if survives(copy, tests_of(name)):
                n_alive += 1
                shown = [line for line in difflib.unified_diff(before, after, n=0, lineterm="") if line[:1] in "+-"]
                print(f"survived: {name}", *shown[2:], sep="\n    ", flush=True)
            (copy / "secateur" / name).write_text(source)
            if i % 10 == 0:
                print(f"{i} of {len(drawn)} mutants (of {n_all:,} there are), {n_alive} survive", flush=True)
    print(f"{len(drawn)} of {n_all:,} mutants, seed {seed}: {n_alive} survive")
    return 0


if __name__ == "__main__":
    number, first, where = (*sys.argv[1:], *("100", "0", "")[len(sys.argv) - 1 :])
    sys.exit(main(int(number), int(first), where))
