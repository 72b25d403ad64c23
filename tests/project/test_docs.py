"""The documentation is true: its code runs, its commands print what the pages show, its links lead somewhere."""

import contextlib
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import secateur
from secateur.cli import COMMANDS, run

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
GALLERY = sorted((DOCS / "gallery").glob("plot_*.py"))
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n(?:\n*^```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)


WORDS_OF_PAGES = {  # words that readers search for, and the page that must contain them
    "how-to/monitor.md": ["drift", "PSI", "stability", "monitor", "alarm"],
    "how-to/audit-file.md": ["audit", "governance", "model card", "SHA-256", "fairness", "validation"],
    "how-to/reason-codes.md": ["adverse action", "reason codes", "letters", "applicant"],
    "how-to/certify-groups.md": ["fairness", "bias", "disparate impact", "equalized odds", "gap"],
    "how-to/prediction-intervals.md": ["interval", "conformal", "tolerance", "MAPIE", "coverage"],
    "how-to/alternatives.md": ["equally good", "Rashomon", "needed"],
    "how-to/update-a-tree.md": ["changes", "drift"],
    "how-to/compare-models.md": ["champion", "challenger", "McNemar", "compare"],
}


def name_of(path):
    return str(path.relative_to(DOCS))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files of the tutorial, where the code of a page runs."""
    for path in (DOCS / "tutorial").glob("*.csv"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    matplotlib = pytest.importorskip("matplotlib", reason="the pages draw")
    matplotlib.use("Agg")
    yield tmp_path
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("page", WORDS_OF_PAGES)
def test_a_search_finds_the_page(page):
    """The search of the documentation finds words that a page contains, and ranks titles and headings first."""
    text = (DOCS / page).read_text(encoding="utf-8")
    assert [word for word in WORDS_OF_PAGES[page] if word.lower() not in text.lower()] == []
    assert f"\n{Path(page).stem}\n" in (DOCS / page).with_name("index.md").read_text(encoding="utf-8")


def agrees(shown, printed):
    """Whether what was printed is what a page shows; `...` stands for anything."""
    parts = [" ".join(part.split()) for part in shown.split("...")]
    pattern = r"\s*.*?\s*".join(re.escape(part) for part in parts)
    return re.fullmatch(pattern, " ".join(printed.split()), re.DOTALL) is not None


@pytest.mark.parametrize(
    ("shown", "printed", "is_same"),
    [
        ("a  b\n", "a b", True),
        ("a ... c", "a 1 2 c", True),
        ("a\n...", "a", True),
        ("a", "a b", False),
        ("a", "b", False),
    ],
)
def test_three_dots_stand_for_anything_and_nothing_else_does(shown, printed, is_same):
    assert agrees(shown, printed) is is_same


def commands_of(block):
    """The commands of a console block, each with what it is shown to print."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], ""])
        elif found and found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0][:-1] + line.strip()
        else:
            found[-1][1] += line + "\n"
    return found


class Console:
    """Runs commands as a shell would, `secateur` without a new process."""

    def __init__(self):
        self.code = 0

    def run(self, command):
        if command == "echo $?":
            printed, self.code = f"{self.code}\n", 0
            return printed
        command, _, target = command.partition(" > ")
        if command.startswith("secateur "):
            printed = self._secateur(shlex.split(command)[1:], to_file=bool(target))
        else:
            printed = self._shell(command)
        if target:
            Path(target).write_text(printed, encoding="utf-8")
            return ""
        return printed

    def _secateur(self, words, *, to_file):
        out, talk = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(talk):
            self.code = run(words)
        out.flush()
        result = out.buffer.getvalue().decode()
        # A terminal shows both; where the pages show both, the talk comes first.
        return result if to_file else talk.getvalue() + result

    def _shell(self, command):
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        process = subprocess.run(
            command, shell=True, capture_output=True, text=True, timeout=120, env=environment, check=False
        )
        self.code = process.returncode
        return process.stdout + process.stderr


def run_block(kind, code, shown, names, console, page):
    if kind == "python":
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), names)
        assert shown is None or agrees(shown, printed.getvalue()), f"{page}\n{code}\nprinted:\n{printed.getvalue()}"
        return
    commands = [entry for entry in commands_of(code) if not entry[0].startswith("pip ")]
    for i, (command, expected) in enumerate(commands):
        printed = console.run(command)
        is_code_shown = i + 1 < len(commands) and commands[i + 1][0] == "echo $?"
        assert console.code == 0 or is_code_shown, f"{page}: {command}\n{printed}"
        assert not expected.strip() or agrees(expected, printed), f"{page}: {command}\nprinted:\n{printed}"


@pytest.mark.parametrize("path", [p for p in PAGES if BLOCK.search(p.read_text(encoding="utf-8"))], ids=name_of)
def test_the_code_of_a_page_does_what_the_page_shows(path, folder):
    names: dict = {"__name__": "page"}
    console = Console()
    text = path.read_text(encoding="utf-8")
    for package in re.findall(r"<!-- needs (\w+) -->", text):
        pytest.importorskip(package)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind, code, shown in BLOCK.findall(text):
            run_block(kind, code, shown or None, names, console, name_of(path))


def test_the_commands_of_the_readme_print_what_it_shows(folder):
    """Its Python is run by test_house.py."""
    (folder / "docs").mkdir()
    shutil.copytree(DOCS / "tutorial", folder / "docs" / "tutorial")
    blocks = [m for m in BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8")) if m[0] == "console"]

    assert blocks
    for kind, code, shown in blocks:
        run_block(kind, code, shown or None, {}, Console(), "README.md")


@pytest.mark.parametrize("path", GALLERY, ids=name_of)
def test_a_script_of_the_gallery_runs_and_draws(path, folder):
    import matplotlib.pyplot as plt

    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(path), run_name="__main__")

    assert plt.get_fignums()


def slugs(text):
    """The anchors of a page: its headings as links name them."""
    headings = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading)).lower() for heading in headings]
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md"], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_links_and_pictures_of_a_page_are_there(path):
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        linked = (path.parent / file).resolve() if file else path
        assert linked.exists() or made_by_the_build(linked), f"{name_of_any(path)}: {target}"
        if anchor and linked.suffix == ".md":
            assert anchor in slugs(linked.read_text(encoding="utf-8")), f"{name_of_any(path)}: {target}"


def name_of_any(path):
    return str(path.relative_to(ROOT))


def made_by_the_build(path):
    return path in {DOCS / "reference" / "commands.md", DOCS / "explanation" / "architecture.md"}


@pytest.mark.quick
def test_every_page_can_be_reached_from_the_front_page():
    reached, waiting = set(), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or not page.exists():
            continue
        reached.add(page)
        for listing in re.findall(
            r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        ):
            entries = [line for line in listing.splitlines() if line and not line.startswith(":")]
            waiting += [(page.parent / f"{entry.split('<')[-1].rstrip('>')}.md").resolve() for entry in entries]

    assert set(PAGES) - {p for p in PAGES if "results" in p.parts} <= reached


@pytest.fixture(scope="module")
def lists():
    """The module that fills in the lists of the reference when the site is built."""
    return runpy.run_path(str(DOCS / "lists.py"))


@pytest.mark.quick
def test_the_reference_names_everything_public(lists):
    text = lists["fill"]((DOCS / "reference" / "index.md").read_text(encoding="utf-8"))
    listed = set(re.findall(r"^ {3}(\w+(?:\.\w+)*)$", text, re.MULTILINE))

    assert set(secateur.__all__) <= listed
    for module in (
        "pruners",
        "certifiers",
        "analysis",
        "datasets",
        "model_selection",
        "interop",
        "plot",
        "report",
    ):
        names = {f"{module}.{name}" for name in getattr(secateur, module).__all__ if name.islower() or name.istitle()}
        assert {name for name in names if name.split(".")[1] not in secateur.__all__} <= listed, module


def test_the_built_reference_lists_everything_that_has_a_name(lists):
    text = lists["fill"]((DOCS / "reference" / "registries.md").read_text(encoding="utf-8"))
    rows = set(re.findall(r"^\| (?:\{py:obj\})?`([\w-]+)[ `]", text, re.MULTILINE))
    from secateur.certifiers import METHODS
    from secateur.engines import ENGINES
    from secateur.exports import EXPORTS
    from secateur.growers import CRITERIA
    from secateur.growers.parameters import DECLARATIONS
    from secateur.model_selection import CHOICES
    from secateur.pruners import RULES

    named = {name for name, one in CHOICES.items() if not one.form}
    assert rows == {*RULES, *METHODS, *CRITERIA, *EXPORTS, *ENGINES, *DECLARATIONS, *named}


def test_lists_that_are_filled_in_twice_are_the_same(lists):
    text = lists["fill"]((DOCS / "reference" / "index.md").read_text(encoding="utf-8"))

    assert lists["fill"](text) == text


def test_the_rules_that_pages_recommend_exist():
    from secateur.pruners import RULES

    chosen = (DOCS / "explanation" / "which-rule-when.md").read_text(encoding="utf-8")
    recommended = {
        name
        for row in re.findall(r"^\|[^|]*\|([^|]*)\|", chosen, re.MULTILINE)
        for name in re.findall(r"`([a-z-]+)`", row)
    }

    assert len(recommended) > 10
    assert recommended <= set(RULES)


def test_the_documentation_builds_without_a_warning():
    pytest.importorskip("sphinx")
    built = subprocess.run(
        [
            "sh",
            "scripts/docs",
            "-b",
            "dummy",
            "-D",
            "plot_gallery=0",
            "-D",
            "smartquotes=0",
        ],  # all is read and resolved; `make docs` writes it, with its quotes
        cwd=DOCS.parent,
        env={**os.environ, "VENV": sys.prefix},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert built.returncode == 0, built.stderr[-4000:]


@pytest.mark.quick
def test_every_command_is_shown_somewhere():
    shown = "".join(path.read_text(encoding="utf-8") for path in PAGES)

    assert {command for command in COMMANDS if f"secateur {command}" not in shown} == set()
