"""Measure which lines and branches of the Python code the tests execute: scripts/coverage [folder] ...

Without an argument, all tests run. With folders of src/secateur, such as `pruners certifiers`, only the tests run that
scripts/mutate runs for them. The gaps of each file are listed as lines, and as branches `line->line` that were never
taken. The exit status is 1 if a test fails, or if a measured file of COMPLETE has a gap. Kernels are not measured.
"""

import os
import sys
from pathlib import Path

import coverage
from mutate import KERNEL_FOLDER, PACKAGE, PYTEST_OPTIONS, ROOT, tests_of_folder

COMPLETE = ("pruners/", "certifiers/", "statistics/freshness.py")  # no gaps
EXCLUDED = ["pragma: no cover", "if TYPE_CHECKING:", r"raise AssertionError", r"^\s*@overload"]


def measure(folders: list[str]) -> int:
    """Run the tests of some folders, or all, and list the gaps; return 1 if a file of COMPLETE has one."""
    import pytest

    tests = list(dict.fromkeys(path for folder in folders for path in tests_of_folder(folder))) or ["tests", "src"]
    include = [f"{PACKAGE / folder}/*" for folder in folders] or [f"{PACKAGE}/*"]
    measured = coverage.Coverage(
        data_file=None, branch=True, include=include, omit=[f"{PACKAGE / KERNEL_FOLDER}/*"], config_file=False
    )
    measured.set_option("report:exclude_lines", EXCLUDED)
    measured.start()
    status = pytest.main([*PYTEST_OPTIONS, *tests])
    measured.stop()
    has_gap = False
    n_branches = n_missing_branches = n_lines = n_missing_lines = 0
    for path in sorted(measured.get_data().measured_files()):
        analysis = measured._analyze(path)
        numbers = analysis.numbers
        n_lines, n_missing_lines = n_lines + numbers.n_statements, n_missing_lines + numbers.n_missing
        n_branches += numbers.n_branches
        n_missing_branches += numbers.n_missing_branches
        if numbers.n_missing or numbers.n_missing_branches:
            name = Path(path).relative_to(PACKAGE).as_posix()
            print(f"{name}: {analysis.missing_formatted(branches=True)}")
            has_gap |= name.startswith(COMPLETE)
    print(
        f"{n_lines - n_missing_lines} of {n_lines} statements, {n_branches - n_missing_branches} of {n_branches} branches"
    )
    return int(has_gap or status != 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(measure(sys.argv[1:]))
