"""A small selection again, without the compiler, and with the compiler checking every index.

Compiled kernels do not notice an index out of bounds, and coverage and debuggers do not
see into them. Tests marked `lane` are run in both ways, each in a process of its own.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Quick ones that reach many kernels; others join by the mark.
SELECTION = ["tests/kernels/test_bottom_up.py", "tests/pruners/test_greedy.py", "tests/pruners/test_weakest_links.py"]
UNCOMPILED = [*SELECTION, "tests/pruners/test_reduced_error.py"]


@pytest.mark.parametrize(
    ("setting", "files"),
    [("NUMBA_DISABLE_JIT", UNCOMPILED), ("NUMBA_BOUNDSCHECK", SELECTION)],
    ids=["uncompiled", "bounds"],
)
def test_the_selection_passes(setting, files, tmp_path):
    marked = [str(path) for path in ROOT.glob("tests/**/test_*.py") if "mark.lane" in path.read_text(encoding="utf-8")]
    marked = [path for path in marked if Path(path) != Path(__file__)]

    for arguments in ([*files, "-k", "not deep"], [*marked, "-m", "lane"]):
        if not arguments[0].endswith(".py"):
            continue  # nothing is marked
        found = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", *arguments],
            cwd=ROOT,
            env={**os.environ, setting: "1", "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert found.returncode == 0, found.stdout[-4000:] + found.stderr[-2000:]
        assert int(re.findall(r"(\d+) passed", found.stdout)[0]) > 0
