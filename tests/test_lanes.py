"""Marked tests once more, with checks that the kernels themselves leave out.

Compiled kernels do not notice an index out of bounds. For tests marked `lane` they are compiled again, with bounds checks,
into a folder of their own.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(*command, **environment):
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


def test_the_marked_tests_pass_with_bounds_checks():
    library = ROOT / "build" / "checked-lib"  # kept: what has not changed is not compiled again
    build = [
        "setup.py",
        "-q",
        "build",
        "--build-lib",
        str(library),
        "--build-temp",
        str(library.parent / "checked-objects"),
    ]
    run(*build, SECATEUR_KERNELS="checked")
    where = {"PYTHONPATH": str(library), "HYPOTHESIS_PROFILE": "lane"}
    files = [str(path) for path in (ROOT / "tests").rglob("test_*.py") if "mark.lane" in path.read_text("utf-8")]

    told = run("-c", CHECKED, **where)
    found = run("-m", "pytest", "-q", "-p", "no:xdist", *files, "-m", "lane and not large", **where)

    assert Path(told.splitlines()[0]).is_relative_to(library)
    assert told.splitlines()[1].startswith("Out of bounds")
    assert int(re.findall(r"(\d+) passed", found)[0]) >= 100


# A label that is one too many: without checks the count would land in memory of somebody else.
CHECKED = """
import numpy as np
from secateur._kernels import route
print(route.__file__)
one = np.ones(1, np.int32)
try:
    route.count_leaves(one * 0, one, np.zeros(0, np.int64), np.zeros((1, 1), np.int64))
except IndexError as error:
    print(error)
"""
