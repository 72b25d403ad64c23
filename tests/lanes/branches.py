"""Measure which lines and branches of the Python code the tests execute: scripts/coverage [folder] ...

Without an argument, all tests run. With folders of src/secateur, such as `pruners certifiers`, only the tests run that
TESTS lists. The gaps of each file are listed as lines, and as branches `line->line` that were never
taken. The exit status is 1 if a test fails, or if a measured file of COMPLETE has a gap. Kernels are not measured.
"""

import os
import sys
from pathlib import Path

import coverage
from executed_lines import KERNEL_FOLDER, PACKAGE, ROOT
from mutate import PYTEST_OPTIONS

COMPLETE = ("pruners/", "certifiers/", "statistics/freshness.py")  # no gaps
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
EXCLUDED = ["pragma: no cover", "if TYPE_CHECKING:", r"raise AssertionError", r"^\s*@overload"]


def tests_of_folder(folder: str) -> list[str]:
    own = [f"src/secateur/{folder}", f"tests/{folder}"] if folder else ["src/secateur/errors.py"]
    return [path for path in (*own, *TESTS.get(folder, ())) if (ROOT / path).exists()]


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
    if sys.argv[1:2] == [KERNEL_FOLDER]:
        from kernel_lines import measure_kernels

        sys.exit(measure_kernels(sys.argv[2:]))
    sys.exit(measure(sys.argv[1:]))
