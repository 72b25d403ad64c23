"""The house itself: what is promised stands, what is light stays light, the checks pass."""

import ast
import importlib
import importlib.metadata
import inspect
import io
import os
import re
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import secateur

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "secateur"

NOUNS = {
    "Bound", "Column", "Counts", "Model", "Moments", "Monitor", "Pruning", "PruningSequence", "Schema", "Selection", "Table",
    "Tree",
}  # fmt: skip
VERBS = {
    "alternatives", "candidates", "certified_split", "certify", "certify_groups", "certify_predictions",
    "compare_models", "count", "count_groups", "cross_validate", "edit", "encode", "export_rules", "export_text",
    "from_sklearn", "grow", "load", "path_sklearn", "prune", "prune_sklearn", "select", "stability", "to_sklearn",
    "update", "write_report",
}  # fmt: skip
ESTIMATORS = {"TreeClassifier", "TreeRegressor"}

HEAVY = (
    "sklearn",
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "narwhals",
    "rich",
    "click",
    "onnx",
    "duckdb",
    "dask",
)

LONGEST = 600
LONGER: dict[str, str] = {}  # reason of each module that is longer, by its path


def python(code, **environment):
    process = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def tracked():
    """The files of the project: those git knows or would take, or all beside what is generated."""
    try:
        names = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if "__pycache__" not in path.parts]
        made = (".venv", ".hypothesis", ".mypy", ".ruff", "build/", "demo/")
        names = [name for name in names if not name.startswith(made) and not name.endswith(".so")]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def test_the_surface_is_what_we_promised():
    assert set(secateur.__all__) == NOUNS | VERBS | ESTIMATORS | {"SecateurError"}


def test_every_public_name_resolves_and_documents_itself():
    for name in secateur.__all__:
        assert inspect.getdoc(getattr(secateur, name)), name
        assert name in dir(secateur)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="prun"):
        secateur.prun  # noqa: B018


def test_importing_is_light():
    code = (
        "import time; start = time.process_time(); import secateur; "
        "import sys; print(time.process_time() - start, *sys.modules)"
    )

    seconds, *modules = python(code).split()

    assert float(seconds) < 0.3
    assert set(HEAVY).isdisjoint(modules)


def test_fitting_from_a_file_imports_neither_pandas_nor_scikit_learn(tmp_path):
    file = tmp_path / "small.csv"
    file.write_text("size,colour,answer\n" + "1.5,red,yes\n2,,no\n,blue,no\n" * 10)
    code = (
        "import sys; from secateur.cli import run\n"
        f"assert run(['fit', {str(file)!r}, '--target', 'answer']) == 0\n"
        "print('modules', *sys.modules)"
    )

    modules = python(code).partition("modules")[2].split()

    assert {"pandas", "sklearn", "scipy", "secateur.certifiers", "secateur.analysis"}.isdisjoint(modules)


def test_growing_and_pruning_need_no_frame_library_and_no_scikit_learn():
    code = (
        "import sys, secateur; from secateur import datasets\n"
        "import secateur.growers, secateur.pruners, secateur.certifiers; datasets.monks(1)\n"
        "print(*sys.modules)"
    )

    modules = python(code).split()

    assert {"sklearn", "pandas", "polars", "matplotlib", "scipy.stats"}.isdisjoint(modules)


def test_every_kernel_is_compiled_and_does_not_need_cython():
    kernels = [path.stem for path in (SOURCE / "_kernels").glob("*.py") if "\nimport cython\n" in path.read_text()]
    code = (
        "import importlib, sys, types\n"
        f"for name in {kernels}:\n"
        "    module = importlib.import_module('secateur._kernels.' + name)\n"
        "    print(module.__file__)\n"
        "assert {'cython', 'Cython'}.isdisjoint(sys.modules)"
    )

    assert kernels
    assert not any(file.endswith(".py") for file in python(code).split())


def test_the_stub_of_a_kernel_names_what_the_kernel_takes():
    for stub in (SOURCE / "_kernels").glob("[!_]*.pyi"):
        kernel = importlib.import_module(f"secateur._kernels.{stub.stem}")
        told = ast.parse(stub.read_text()).body
        functions = [node for node in told if isinstance(node, ast.FunctionDef)]
        assert functions or any(isinstance(node, ast.ClassDef) for node in told)
        for function in functions:
            taken = list(inspect.signature(getattr(kernel, function.name)).parameters)
            assert [argument.arg for argument in function.args.args] == taken, (stub.name, function.name)


def test_the_scripts_are_short_and_can_be_run():
    scripts = sorted((ROOT / "scripts").iterdir())

    assert {path.name for path in scripts} >= {"check", "test", "bench", "install"}
    for path in [*scripts, ROOT / ".ci" / "run"]:
        assert path.read_text(encoding="utf-8").startswith("#!"), path
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 20, path
        assert os.access(path, os.X_OK), path


def test_every_command_the_documents_name_is_in_the_makefile():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        named = set(re.findall(r"(?:`|^)make ([a-z]+)", text, re.MULTILINE))
        assert named <= targets, name
        assert set(re.findall(r"`scripts/([a-z]+(?:\.py)?)", text)) <= {
            path.name for path in (ROOT / "scripts").iterdir()
        }
    assert {"demo", "test", "check", "bench", "clean", "help"} <= targets


def test_continuous_integration_runs_what_you_run():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if line.startswith("make")] == ["make test"]
    assert "set -eu" in lines


def test_no_file_names_a_place_on_somebodys_machine():
    places = re.compile(r"/(home|root|work|Users)/\w")
    for path in tracked():
        if path.suffix != ".png":
            found = places.search(path.read_text(encoding="utf-8"))
            assert found is None, f"{path.relative_to(ROOT)}: {found}"


def test_the_version_is_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "secateur.__version__"}
    assert importlib.metadata.version("secateur") == secateur.__version__
    assert f"## {secateur.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_modules_are_short_or_have_a_reason():
    long = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST
    }

    assert long <= set(LONGER)


def test_changes_are_told_in_one_sentence_each():
    fragments = [path for path in (ROOT / "changelog.d").iterdir() if path.suffix == ".md" and path.name != "README.md"]

    for path in fragments:
        assert re.fullmatch(r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md", path.name), path.name
        text = path.read_text(encoding="utf-8").strip()
        assert "\n" not in text, path.name
        assert text.endswith("."), path.name


def test_the_code_of_the_readme_prints_what_the_readme_says():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pairs = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", text, re.DOTALL)

    assert pairs
    assert len(pairs) == text.count("```python")
    names: dict = {}
    for code, expected in pairs:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), names)
        assert printed.getvalue().split() == expected.split()


def test_the_readme_is_short_and_names_the_five_documents():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$|\]\([^)]*\)", "", text, flags=re.DOTALL | re.MULTILINE)
    named = set(re.findall(r"^- `([a-z-]+)`: ", text, re.MULTILINE))
    from secateur.research import NAMES

    assert len(prose.split()) <= 600
    assert set(NAMES) - {"certificates"} == named
