"""The files, functions and values that CONTRIBUTING.md and ARCHITECTURE.md name exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "secateur"
PAGES = ["CONTRIBUTING.md", "ARCHITECTURE.md"]
PYTHON_FOLDERS = [SOURCE, ROOT / "tests", ROOT / "scripts", ROOT / "docs"]
PATH = re.compile(r"\.?[\w<>./-]+(?:/[\w.]*|\.(?:py|pxd|pyi|js|md|toml|yml))")

# What the pages let a newcomer choose: the names of the files and functions of examples.
PLACEHOLDERS = {
    "_my_bound", "_my_name", "_my_rule", "_name", "export_name", "my_bound", "my_name", "my_rule", "name",
    "test_my_bound", "test_my_rule", "test_name",
}  # fmt: skip
# Names of other software, and words of commands and of the generated code.
FOREIGN = {
    "HYPOTHESIS_PROFILE", "NEW", "None", "Sniffer", "True", "False", "bint", "build", "build_ext", "cfunc", "csv", "cython",
    "exceptval", "import", "install", "mark", "nightly", "nogil", "pip", "predict_probabilities", "pytest",
    "towncrier", "with", "ziglang",
}  # fmt: skip


def code_spans(text):
    """Return what stands between backticks, without fenced blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


@cache
def python_files():
    found = [path for folder in PYTHON_FOLDERS for path in folder.rglob("*.py") if "_build" not in path.parts]
    return [*found, ROOT / "setup.py"]


@cache
def defined_names():
    """Return all names that the project defines: modules, folders, functions, classes, parameters and variables."""
    names = {part for path in python_files() for part in (path.stem, *path.relative_to(ROOT).parts)}
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                    names.add(name)
                case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                    names.add(name)
    for path in (SOURCE / "_kernels").glob("*.pxd"):
        names.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    markers = re.findall(r'^  "(\w+): ', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    return names | set(markers)


def exists(name):
    """Return whether a path is one from the root, the package or its kernels, or the bare name of a file there."""
    path = Path(name)
    if path.stem in PLACEHOLDERS or "<" in name:
        return (SOURCE / path.parent).is_dir() or (ROOT / path.parent).is_dir()
    if any((folder / name).exists() for folder in (ROOT, SOURCE, SOURCE / "_kernels")):
        return True
    return "/" not in name and any(True for folder in (SOURCE, ROOT / "tests") for _ in folder.rglob(name))


def missing_names(text):
    """Return the paths and names between backticks that the project does not have."""
    missing = []
    for span in code_spans(text):
        if span.startswith("make ") or "*" in span.split(".")[0]:
            continue  # a command of the Makefile, which another test checks; a pattern of files
        words = span.split()
        paths = [word for word in words if PATH.fullmatch(word)]
        missing += [path for path in paths if not path.startswith(".venv") and not exists(path)]
        code = " ".join(re.sub(r'"[^"]*"', "", word) for word in words if word not in paths)
        # Two letters are a loop variable or an option; a word that ends in an underscore is the beginning of a name.
        names = re.findall(r"(?<![\w.-])[A-Za-z_][\w.]{2,}(?![\w/-])", code)
        known = defined_names() | PLACEHOLDERS | FOREIGN
        missing += [
            name
            for name in names
            if not name.endswith("_") and not set(filter(None, name.removeprefix("secateur.").split("."))) <= known
        ]
    return missing


@pytest.mark.parametrize("page", PAGES)
def test_the_files_and_names_of_a_page_exist(page):
    missing = missing_names((ROOT / page).read_text(encoding="utf-8"))

    assert missing == [], f"{page} names what does not exist: correct the page, or add to FOREIGN what is not ours"


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("`check_fresh_rows` of `certifiers/_fresh.py`", []),
        ("`fresh_rows` of `certifiers/_freshness.py`", ["certifiers/_freshness.py", "fresh_rows"]),
        ("`Counts.has_integer_weights`, `Counts.is_wet`", ["Counts.is_wet"]),
        ("`_no_such_rule.py` and `prune(tree, no_such_sample)`", ["_no_such_rule.py", "no_such_sample"]),
        ('`Method("my_bound", covers_choice=False)` in `src/secateur/pruners/_my_rule.py`', []),
        ("no backticks: fresh_rows", []),
    ],
)  # fmt: skip
def test_a_name_that_does_not_exist_is_found(text, missing):
    assert sorted(missing_names(text)) == missing
