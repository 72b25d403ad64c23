"""What `make check` checks holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("part", ["lint", "format", "types", "layers"])
def test_the_check_passes(part):
    process = subprocess.run(
        ["sh", "scripts/check", part],
        cwd=ROOT,
        env={**os.environ, "VENV": sys.prefix},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert process.returncode == 0, process.stdout[-6000:] + process.stderr[-2000:]
