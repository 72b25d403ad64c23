"""The printed text and the report of the demonstration."""

import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return the text that is printed into a pipe, and the path of the report."""
    page = tmp_path_factory.mktemp("demo") / "deep" / "report.html"
    process = subprocess.run(
        [sys.executable, "-m", "secateur.cli.demo", str(page)], capture_output=True, text=True, timeout=600, check=False
    )
    assert process.returncode == 0, process.stderr
    return process.stdout, page


def shares(text, what):
    """Return the percentages in the lines that start with `what`."""
    lines = [line for line in text.splitlines() if line.startswith(what)]
    return [[float(share) for share in re.findall(r"([\d.]+) %", line)] for line in lines]


def test_the_last_line_names_the_page_and_the_page_exists(printed):
    text, page = printed
    assert text.rstrip().splitlines()[-1].endswith(str(page))
    assert page.stat().st_size > 20_000
    assert [path.name for path in page.parent.iterdir()] == ["report.html"]  # nothing unfinished beside it


def test_a_pipe_gets_plain_text_without_escapes_that_fits_a_page(printed):
    text, page = printed
    assert "\x1b" not in text
    assert max(len(line) for line in text.splitlines() if str(page) not in line) <= 100


def test_pruning_a_noisy_tree_makes_it_better_and_the_limit_holds(printed):
    grown, chosen = shares(printed[0], "unpruned")[0], shares(printed[0], "chosen by")[0]
    assert grown[0] < chosen[0]  # the whole tree has learnt its own rows by heart
    assert chosen[2] < grown[2] - 5
    assert chosen[3] > chosen[2] > 20  # nothing can beat 26.0 % but by chance
    assert chosen[3] > 26


def test_the_page_contains_the_certificate_and_makes_no_network_request(printed):
    page = printed[1].read_text(encoding="utf-8")
    assert "confidence the error on new rows like these is at most" in page
    assert not re.search(r"""(src|href)=["']?https?:""", page)


def test_the_readme_shows_the_printed_text(printed):
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- demo -->\n```\n(.*?)```", readme, re.DOTALL)[1]
    lines = [line.split() for line in printed[0].splitlines()]
    assert all(line.split() in lines for line in shown.splitlines())
