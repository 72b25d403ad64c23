"""What `make check` checks holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("part", ["lint", "format", "types", "layers"])
def test_the_check_passes(part):
    found = subprocess.run(
        ["sh", "scripts/check", part],
        cwd=ROOT,
        env={**os.environ, "VENV": sys.prefix},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert found.returncode == 0, found.stdout[-6000:] + found.stderr[-2000:]
