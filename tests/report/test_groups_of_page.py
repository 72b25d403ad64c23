"""The part "Groups" of the page: the certified rates of population groups of the tree as fitted."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from report_models import HOSTILE
from secateur import Counts, Pruning, PruningSequence, Tree, certify_groups
from secateur.core import Model, PopulationGroups
from secateur.report import report_html

AXE = Path(__file__).parents[2] / ".cache" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
TREE = Tree.from_parents([-1, 0, 1, 1, 0])
LABELS = np.array([0, 0, 0, 1, 1])
NAMES = ["women", HOSTILE, "nobody", *"abcdefgh"]


def grouped_model():
    grown = Counts.from_leaves(TREE, [[80, 10], [5, 30], [10, 65]])
    cells = np.random.default_rng(0).integers(3, 60, (len(NAMES), 3, 2))
    cells[NAMES.index("nobody")] = 0
    groups = PopulationGroups.from_leaves(TREE, f"column {HOSTILE}", NAMES, cells)
    holdout = Counts(TREE, groups.by_class.sum(axis=0), "fresh", populations=(groups,))
    sequence = PruningSequence(
        TREE, [3, 2, 1], [25, 40, 95], steps=[2, 1, 0, 0, 0], node_labels=LABELS, seen={"grow"}, rule="by hand"
    )
    pruning = Pruning.from_cuts(TREE, [], node_labels=LABELS, seen={"grow"})
    return Model(pruning, grown, holdout, sequence, group_rates=(certify_groups(pruning, holdout),))


MODEL = grouped_model()


@pytest.fixture(scope="module")
def page(open_page):
    opened = open_page(report_html(MODEL, title="groups"))
    opened.click("#tab-groups-part")
    return opened


def test_the_page_shows_the_texts_of_the_table(page):
    (rates,) = MODEL.group_rates

    tables = page.locator("#groups-part table").all()
    assert len(tables) == len(rates.rates) == 4
    for table, rate in zip(tables, rates.rates, strict=True):
        for row, texts in zip(table.locator("tbody tr").all(), rates.rows_of(rate), strict=True):
            shown = [cell.strip() for cell in row.inner_text().split("\t")]
            assert shown[1:] == texts[1:]
        _, difference, limit = rates.gap_texts(rate)
        assert f"{difference} in the sample" in page.inner_text("#groups-part") or not difference
        assert f"{limit} points" in page.inner_text("#groups-part")
    assert "nothing is known of 'nobody', without rows" in page.inner_text("#groups-part")
    assert page.trouble == []


def test_hostile_names_are_text(page):
    assert page.locator("#groups-part script, #groups-part img, #groups-part b").count() == 0
    assert page.trouble == []


def test_the_drawn_limits_are_those_of_the_numbers(page):
    (rates,) = MODEL.group_rates
    drawn = page.evaluate(
        """() => [...document.querySelectorAll("#groups-part .interval .limits")].map((line) =>
        [line.x1.baseVal.value, line.x2.baseVal.value])"""
    )
    expected = np.stack([rates.lower.T.ravel(), rates.upper.T.ravel()], axis=1)
    assert np.allclose((np.array(drawn) - 6) / (130 - 12), expected, atol=0.001)
    assert page.locator("#groups-part .interval circle").count() == 4 * (len(NAMES) - 1)


def test_a_note_states_that_another_tree_is_shown(page):
    assert page.locator("#groups-note").count() == 0
    page.evaluate("secateur.state.goTo(1)")
    page.wait_for_selector("#groups-note")
    assert "whose groups are not certified" in page.inner_text("#groups-note")
    page.evaluate("secateur.state.goTo(secateur.raw.marks.fitted)")
    page.wait_for_selector("#groups-note", state="detached")


@pytest.mark.skipif(not AXE.exists(), reason="no axe-core; scripts/browser installs it with npm")
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_no_accessibility_violation(page, colours):
    page.emulate_media(color_scheme=colours)
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run(document)")["violations"]
    page.emulate_media(color_scheme="light")

    assert [(rule["id"], node["target"]) for rule in found for node in rule["nodes"]] == []


def test_a_narrow_screen_does_not_scroll_sideways(page):
    page.set_viewport_size({"width": 390, "height": 844})
    width = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size({"width": 1280, "height": 900})
    assert width <= 390


def test_a_model_without_groups_has_no_such_part(open_page):
    opened = open_page(report_html(replace(MODEL, group_rates=())))

    assert opened.locator("#tab-groups-part").count() == 0
    assert opened.trouble == []


def test_the_card_and_the_page_without_scripts_have_the_sentence():
    text = report_html(MODEL)

    static = text[text.index("<noscript>") : text.index("</noscript>")]
    assert "in each of the 11 groups of" in static
    assert "<script" not in static
    assert '["Population groups",[["groups of column' in text
