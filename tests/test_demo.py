"""The demonstration: what it prints, and the page it leaves behind."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

import secateur
from secateur import demo


@pytest.fixture(scope="module")
def chapters():
    return [demo.car(), demo.led24()]


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What a user sees who runs it into a pipe, and the page."""
    page = tmp_path_factory.mktemp("demo") / "deep" / "report.html"
    found = subprocess.run(
        [sys.executable, "-m", "secateur.demo", str(page)], capture_output=True, text=True, timeout=600, check=False
    )
    assert found.returncode == 0, found.stderr
    return found.stdout, page


class Page(HTMLParser):
    """Which tags were opened, and whether each was closed again."""

    VOID = ("meta", "link", "br", "img", "!doctype")

    def __init__(self, text):
        super().__init__()
        self.seen, self.open, self.attributes, self.text = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.text += " "

    def handle_data(self, data):
        self.text += data


def test_the_last_line_names_the_page_and_the_page_is_there(printed):
    text, page = printed

    assert text.rstrip().splitlines()[-1].endswith(str(page))
    assert page.stat().st_size > 2000
    assert [path.name for path in page.parent.iterdir()] == ["report.html"]  # nothing unfinished beside it


def test_a_pipe_gets_plain_text_without_escapes_that_fits_a_page(printed):
    text, page = printed

    assert "\x1b" not in text
    assert max(len(line) for line in text.splitlines() if str(page) not in line) <= 100


def test_every_number_that_is_printed_is_on_the_page(printed):
    text, page = printed
    shown = re.sub(r"\s+", " ", Page(page.read_text(encoding="utf-8")).text)

    assert set(re.findall(r"\d+\.\d+ %", text)) <= set(re.findall(r"\d+\.\d+ %", shown))
    assert "|--- upper_left = 0" in shown


def test_the_page_is_well_formed_and_asks_nothing_of_the_network(printed):
    page = Page(printed[1].read_text(encoding="utf-8"))

    assert page.open == []
    assert {"script", "link", "img", "iframe"}.isdisjoint(page.seen)
    assert not [name for name, _ in page.attributes if name in ("src", "href", "onclick", "style")]
    assert secateur.__version__ in page.text


def test_text_from_the_data_cannot_become_markup(tmp_path, chapters):
    from dataclasses import replace

    hostile = replace(chapters[0], tree_text="|--- x = <script>alert(1)</script> & $version")
    demo.write_page([hostile], tmp_path / "page.html")

    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))

    assert "script" not in page.seen
    assert "<script>alert(1)</script> & $version" in page.text


def percent(text):
    return float(text.removesuffix(" %"))


def test_no_error_on_the_test_rows_exceeds_what_the_same_rows_certify(chapters):
    for chapter in chapters:
        for _, leaves, growing, _, test, certified in chapter.trees.rows:
            assert percent(test) < percent(certified)
            assert percent(growing) <= 100
            assert int(leaves.replace(",", "")) >= 1


def test_pruning_a_tree_that_has_learnt_noise_makes_it_smaller_and_better(chapters):
    whole, pruned = chapters[1].trees.rows[:2]

    assert int(pruned[1]) < int(whole[1]) / 5
    assert percent(pruned[4]) < percent(whole[4]) - 5
    assert percent(pruned[5]) > 26  # no certificate may promise less than the least possible error


def test_the_small_tree_keeps_the_accuracy_that_was_asked_for(chapters):
    for chapter, accuracy in zip(chapters, (90, 70), strict=True):
        assert percent(chapter.trees.rows[3][2]) <= 100 - accuracy


def test_the_sizes_fall_and_the_growing_error_rises_along_the_sequence(chapters):
    for chapter in chapters:
        leaves = [int(row[0].replace(",", "")) for row in chapter.sizes.rows]
        errors = [percent(row[2]) for row in chapter.sizes.rows]
        assert leaves == sorted(leaves, reverse=True)
        assert errors == sorted(errors)
        assert leaves[-1] == 1


@pytest.mark.parametrize(("n", "at_most"), [(3, 12), (12, 12), (52, 12), (100, 2)])
def test_thinning_keeps_the_ends_and_repeats_nothing(n, at_most):
    rows = tuple((str(i),) for i in range(n))

    thinned = demo._thinned(rows, at_most)

    assert len(thinned) == len(set(thinned)) == min(n, at_most)
    assert (thinned[0], thinned[-1]) == (rows[0], rows[-1])
