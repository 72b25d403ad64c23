"""Run the tests with the oldest versions of all dependencies that pyproject.toml allows: scripts/oldest [pytest arguments].

The compiled kernels of this checkout are used; they do not depend on the version of NumPy.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = ("arrow", "dask", "duckdb", "onnx", "plot", "sketch")
TEST_LIBRARIES = ("pandas", "polars")  # frames that the package reads but does not need
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "jsonschema")
# Not run: checks of the project itself, the experiments, and the report in a browser. None depends on old versions.
FOLDERS = (
    "analysis", "certifiers", "cli", "core", "data", "datasets", "engines", "estimators", "exports", "flows", "growers",
    "inspection", "interop", "kernels", "model_selection", "modelfile", "plot", "pruners", "routing", "statistics",
)  # fmt: skip


def oldest_requirements() -> list[str]:
    """Return the lowest allowed version of each dependency as a pip requirement."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for name in EXTRAS for one in extras[name])]
    wanted += [one for one in extras["test"] if re.match(r"\w+", one)[0] in TEST_LIBRARIES]  # type: ignore[index]
    return sorted({re.sub(r">=([\d.]+).*", r"==\1.*", one) for one in wanted})


def main() -> int:
    """Install the oldest versions into a temporary environment and run the tests there."""
    requirements = oldest_requirements()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder, "bin", "python")
        install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *requirements, *TOOLS]
        subprocess.run(install, check=True)
        print("with", ", ".join(requirements), flush=True)
        # Old versions warn of the future of their own dependencies, which newer versions have met.
        quiet = ["-W", "ignore::DeprecationWarning", "-W", "ignore::FutureWarning"]
        tests = sys.argv[1:] or [f"tests/{name}" for name in FOLDERS]
        command = [python, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", *quiet, *tests]
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
