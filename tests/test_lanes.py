"""A selection again, without the compiler, and with the compiler checking every index.

Compiled kernels do not notice an index out of bounds, and coverage and debuggers do not
see into them. Tests marked `lane` are run uncompiled; compiling with checks is slow, so that
lane holds only a few files that need few kernels. Each lane is a process of its own.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FEW_KERNELS = ["tests/kernels/test_bottom_up.py", "tests/pruners/test_greedy.py", "tests/pruners/test_weakest_links.py"]
LANES = {
    "uncompiled": ("NUMBA_DISABLE_JIT", [*FEW_KERNELS, "-k", "not deep"]),
    "uncompiled-marked": ("NUMBA_DISABLE_JIT", ["tests", "-m", "lane"]),
    "bounds": ("NUMBA_BOUNDSCHECK", FEW_KERNELS),
}


@pytest.mark.parametrize("lane", LANES)
def test_the_lane_passes(lane, tmp_path):
    setting, selection = LANES[lane]
    # Uncompiled arithmetic warns where compiled arithmetic gives infinity or wraps around, as kernels expect.
    quiet = ["-W", "ignore::RuntimeWarning"]

    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", *quiet, *selection],
        cwd=ROOT,
        env={**os.environ, setting: "1", "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert found.returncode == 0, found.stdout[-4000:] + found.stderr[-2000:]
    assert int(re.findall(r"(\d+) passed", found.stdout)[0]) >= 5
