"""Run tests with the oldest versions of all dependencies that pyproject.toml allows: scripts/oldest [pytest arguments].

Kernels must be compiled in place (make does it); they are those of this Python.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = ("arrow", "plot")
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "pandas==2.3.0", "polars", "jsonschema")
TESTS = (
    "tests/flows/test_bad_inputs.py", "tests/data/test_encoding.py", "tests/inspection/test_text.py",
    "tests/model_selection/test_cross_validation.py", "tests/pruners/test_every_pruner.py", "tests/certifiers/test_certify.py",
    "tests/cli/test_exit_codes.py", "tests/modelfile/test_hostile.py", "tests/flows/test_flows.py",
)  # fmt: skip


def oldest() -> list[str]:
    """The lowest versions, as requirements."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for name in EXTRAS for one in project["optional-dependencies"][name])]
    return sorted({re.sub(r">=([\d.]+).*", r"==\1", one) for one in wanted})


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder, "bin", "python")
        install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *oldest(), *TOOLS]
        subprocess.run(install, check=True)
        print("with", ", ".join(oldest()), flush=True)
        command = [
            python,
            "-m",
            "pytest",
            "-q",
            "-n",
            "0",
            "-W",
            "ignore::DeprecationWarning",
            *(sys.argv[1:] or TESTS),
        ]
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
