"""The cache of compiled kernels never stands in the way."""

import os
import subprocess
import sys

PROGRAM = "import numpy; from secateur._kernels import presort; print(presort.sorted_rows_64(numpy.array([2.0, 1.0])))"


def run(folder):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_index_that_cannot_be_read_is_written_anew(tmp_path):
    expected = run(tmp_path)
    indices = list(tmp_path.rglob("*.nbi"))
    for index in indices:
        index.write_bytes(index.read_bytes()[:-20])

    assert indices
    assert run(tmp_path) == expected
    assert all(len(index.read_bytes()) > 100 for index in indices)
