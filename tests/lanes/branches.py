"""Measure which lines and branches of the package the tests execute: scripts/coverage [folder or kernels] ...

Without an argument, all tests run. With folders of src/secateur, such as `pruners certifiers`, only the tests that
scripts/mutate runs for them. The gaps of each file are listed as lines, and as jumps `line->line` that never happened. The
exit status is 1 if a file of COMPLETE has a gap. With `kernels`, the kernels are compiled with line tracing in a copy of
the project, in build/traced, and the tests of the folders that import kernels run on this copy.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import coverage
from mutate import KERNEL_FOLDER, PACKAGE, PYTEST_OPTIONS, ROOT, tests_of_folder

COMPLETE = ("pruners/", "certifiers/", "statistics/freshness.py")  # no gaps
TRACED = ROOT / "build" / "traced"
EXCLUDED = ["pragma: no cover", "if TYPE_CHECKING:", r"raise AssertionError", r"^\s*@overload"]
KERNEL_TESTS = (
    "tests/kernels",
    "tests/growers",
    "tests/pruners",
    "tests/certifiers",
    "tests/routing",
    "tests/engines/test_growing.py",
)


def measure_python(folders: list[str]) -> int:
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


def measure_kernels() -> int:
    """Compile the kernels with line tracing, run their tests, and list the lines that no test executes."""
    shutil.rmtree(TRACED, ignore_errors=True)
    for name in ("src", "scripts", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        source, target = ROOT / name, TRACED / name
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so")
        shutil.copytree(source, target, ignore=ignored) if source.is_dir() else shutil.copy2(source, target)
    environment = os.environ | {"SECATEUR_KERNELS": "traced"}
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=TRACED, env=environment, check=True
    )
    settings = TRACED / "coverage.ini"
    settings.write_text(
        f"[run]\nplugins = Cython.Coverage\nsource = {TRACED / 'src/secateur' / KERNEL_FOLDER}\ndata_file = {TRACED / 'data'}\n"
        "[report]\nshow_missing = true\n"
    )
    command = [sys.executable, "-m", "coverage"]
    environment = os.environ | {"PYTHONPATH": str(TRACED / "src")}
    options = [f"--rcfile={settings}"]
    tests = [str(ROOT / path) for path in KERNEL_TESTS]
    ran = subprocess.run(
        [*command, "run", *options, "-m", "pytest", *PYTEST_OPTIONS, *tests], env=environment, check=False
    )
    subprocess.run([*command, "report", *options], cwd=TRACED, env=environment, check=False)
    return ran.returncode


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(measure_kernels() if sys.argv[1:] == ["kernels"] else measure_python(sys.argv[1:]))
