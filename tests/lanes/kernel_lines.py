"""Measure which lines and branches of the kernels the tests execute: scripts/coverage _kernels [test paths].

The kernels are compiled with gcc's option --coverage into build/measured-lib, and the tests (by default all that run in
this process) use them. gcov counts the lines of the generated C. Before the statements of each line of a kernel, Cython
writes a comment with the line's number; the counts are summed by these numbers, also over the types of a fused kernel.
Statements that handle errors of Python are left out.

A line is a gap if no test executes it, and a branch if a test executes its line, but the condition is always true or
always false.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from executed_lines import KERNEL_FOLDER, PACKAGE, ROOT
from mutate import SKIPPED_TESTS

LIBRARY = ROOT / "build" / "measured-lib"
OBJECTS = ROOT / "build" / "measured-objects"
SLOW_TESTS = ("test_coverage.py", "test_estimators.py")  # repeat what quicker tests do
NOT_RUN = tuple(name for name in SKIPPED_TESTS if name not in ("test_growing.py", "test_faults.py"))
LINE_COMMENT = re.compile(r'^\s*/\* "secateur/_kernels/(\w+)\.py":(\d+)$')
ERROR_HANDLING = ("__PYX_ERR", "__Pyx_", "PyErr_", "__pyx_L1_error")  # in statements for Python's errors
ERROR_CHECK = "unlikely("  # in conditions that look for such an error: executed with the line, but no branch of it
HEADS = ("def ", "@", "import ", "from ", "class ", '"""')  # of lines that are no statements of a function


def build() -> None:
    """Compile the kernels so that they count which lines are executed."""
    options = {"SECATEUR_KERNELS": "sanitized", "CC": "gcc", "CFLAGS": "--coverage", "LDFLAGS": "--coverage"}
    command = ["setup.py", "-q", "build", "--build-lib", str(LIBRARY), "--build-temp", str(OBJECTS)]
    subprocess.run([sys.executable, *command], env=os.environ | options, check=True, cwd=ROOT, capture_output=True)


def run_tests(paths: list[str]) -> int:
    for path in OBJECTS.rglob("*.gcda"):
        path.unlink()
    ignored = [f"--ignore-glob=*/{name}" for name in (*NOT_RUN, *SLOW_TESTS)]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", *ignored, *(paths or ["tests"])]
    return subprocess.run(command, env=os.environ | {"PYTHONPATH": str(LIBRARY)}, check=False, cwd=ROOT).returncode


def counted_statements(kernel: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the lines of the generated C of a kernel, as text and as what gcov counted."""
    [notes] = OBJECTS.rglob(f"{kernel}.gcno")
    folder = OBJECTS / "gcov" / kernel
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(
        ["gcov", "--json-format", "--branch-probabilities", str(notes)], cwd=folder, check=True, capture_output=True
    )
    [generated] = ROOT.glob(f"build/plain-cython-*/src/secateur/{KERNEL_FOLDER}/{kernel}.c")
    texts = generated.read_text("utf-8").splitlines()
    for path in folder.glob("*.json.gz"):
        for file in json.loads(gzip.decompress(path.read_bytes()))["files"]:
            if file["file"].endswith(f"/{kernel}.c"):
                yield from ((texts[line["line_number"] - 1], line) for line in file["lines"])


def source_lines(kernel: str) -> dict[int, int]:
    """Return the line of the kernel for each line of the generated C that belongs to one."""
    [generated] = ROOT.glob(f"build/plain-cython-*/src/secateur/{KERNEL_FOLDER}/{kernel}.c")
    result, current, is_comment = {}, 0, False
    for k, text in enumerate(generated.read_text("utf-8").splitlines(), 1):
        if text.startswith("}"):  # the end of a C function
            current = 0
        if "/*" in text and "*/" not in text:
            is_comment = True
            found = LINE_COMMENT.match(text)
            current = int(found[2]) if found is not None and found[1] == kernel else 0
        elif "*/" in text:
            is_comment = False
        elif current and not is_comment:
            result[k] = current
    return result


def find_gaps(kernel: str) -> tuple[list[int], list[int], int]:
    """Return the lines that are never executed, the lines with a branch that is never taken, and the number of lines."""
    source = (PACKAGE / KERNEL_FOLDER / f"{kernel}.py").read_text("utf-8").splitlines()
    line_of = source_lines(kernel)
    executed: dict[int, int] = {}
    branches: dict[tuple[int, str], list[int]] = {}
    for text, counted in counted_statements(kernel):
        line = line_of.get(counted["line_number"])
        is_check = ERROR_CHECK in text
        is_skipped = not is_check and any(word in text for word in ERROR_HANDLING)
        if line is None or is_skipped or source[line - 1].lstrip().startswith(HEADS):
            continue
        executed[line] = executed.get(line, 0) + counted["count"]
        if is_check:
            continue
        taken = [branch["count"] for branch in counted["branches"]]
        if taken:
            before = branches.get((line, text.strip()), [0] * len(taken))
            branches[line, text.strip()] = [a + b for a, b in zip(before, taken, strict=False)]
    missing = sorted(line for line, count in executed.items() if count == 0)
    one_way = sorted({line for (line, _), taken in branches.items() if 0 in taken and executed[line]})
    return missing, one_way, len(executed)


def measure_kernels(paths: list[str]) -> int:
    """Run tests on measured kernels and list the gaps; return 1 if a test fails."""
    build()
    status = run_tests(paths)
    n_lines = n_missing = n_one_way = 0
    for notes in sorted(OBJECTS.rglob("*.gcno")):
        if notes.stem == "_cyutility":
            continue
        missing, one_way, n = find_gaps(notes.stem)
        n_lines, n_missing, n_one_way = n_lines + n, n_missing + len(missing), n_one_way + len(one_way)
        source = (PACKAGE / KERNEL_FOLDER / f"{notes.stem}.py").read_text("utf-8").splitlines()
        for line in missing:
            print(f"{notes.stem}.py:{line}: never executed: {source[line - 1].strip()}")
        for line in one_way:
            print(f"{notes.stem}.py:{line}: a branch is never taken: {source[line - 1].strip()}")
    print(
        f"{n_lines - n_missing} of {n_lines} lines of kernels executed; {n_one_way} lines with a branch that is never taken"
    )
    return int(status != 0)
