"""The part "Grow by hand": the splits are those of Python, and the file that the page writes gives the same model."""

import json

import numpy as np
import pandas as pd
import pytest

import secateur
from report_browser import AXE, click_node, violations
from secateur import TreeClassifier
from secateur.cli import run
from secateur.model_selection import Edit
from secateur.modelfile import load_model
from secateur.report import report_html
from secateur.report._candidates import MAX_NODES, MAX_SPLITS, hand_entries


def people(n=300, seed=0):
    """Return rows with numbers, missing numbers and categories, and a class that depends on two columns."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": rng.normal(50, 15, n).round(1),
            "post code": rng.choice(["A", "B,", '"C"', "<d>"], n),
            "rate": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(1)),
        }
    )
    return X, np.where(((X.age > 40) ^ (X["post code"] == "A")) ^ (rng.random(n) < 0.15), "yes", "no")


@pytest.fixture(scope="module")
def fitted():
    X, y = people()
    return TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(X, y), X, y


@pytest.fixture(scope="module")
def hand_page(open_page, fitted):
    model, X, y = fitted
    page = open_page(model.report(X=X, y=y).html, accept_downloads=True)
    page.click("#tab-by-hand")
    return page


@pytest.fixture
def page(hand_page):
    """The page at the root, without edits."""
    hand_page.evaluate("secateur.picture.select(0)")
    for _ in range(hand_page.evaluate("secateur.byHand.edits().length")):
        hand_page.locator("#hand-edits button").first.click()
    yield hand_page
    assert hand_page.trouble == []


def edits_of(page):
    return json.loads(page.inner_text("#hand-file"))["edits"]


def test_the_listed_splits_are_those_of_python(page, fitted):
    model, X, y = fitted
    for v in model.tree_.internal[:3].tolist():
        click_node(page, v)
        rows = page.locator("#candidates tbody tr")
        found = model.candidates(v, X, y)
        assert rows.count() == len(found)
        for i, split in enumerate(found):
            cells = rows.nth(i).locator("th, td").all_inner_texts()
            assert cells[0] == split.text
            assert cells[4] == " + ".join(f"{n:g}" for n in split.rows)
            assert float(cells[2].strip().rstrip("\u00a0%")) == pytest.approx(100 * split.share, abs=0.2)
            assert (cells[1] == "as grown") is split.is_current


def test_the_downloaded_file_the_command_and_python_give_the_same_model(page, fitted, tmp_path):
    model, X, y = fitted
    page.click('[aria-label="Use income at the root"]')
    page.select_option("#hand-column", label="post code")
    page.click("#hand-forbid")
    with page.expect_download() as download:
        page.click("#hand-download")
    assert download.value.suggested_filename == "edits.json"
    file = tmp_path / "edits.json"
    download.value.save_as(file)
    edits = [Edit("split", node=0, column="income"), Edit("forbid", node=0, column="post code")]
    expected = model.edit(edits, X, y).model_
    assert model.edit(file, X, y).model_ == expected

    X.assign(outcome=y).to_csv(tmp_path / "rows.csv", index=False)
    model.save(tmp_path / "model.json")
    arguments = page.inner_text("#hand-command").split()[1:]
    names = {
        "MODEL.json": "model.json",
        "DATA.csv": "rows.csv",
        "edits.json": "edits.json",
        "edited.json": "edited.json",
    }
    arguments = [str(tmp_path / names[word]) if word in names else word for word in arguments]
    assert run([*arguments, "--target", "outcome", "--quiet"]) == 0
    by_command = load_model(tmp_path / "edited.json")
    assert by_command.tree == expected.tree
    assert by_command.pruning == expected.pruning
    assert by_command.metadata["edits"] == expected.metadata["edits"]


def test_a_node_is_split_made_a_leaf_and_edits_are_removed_and_undone(page, fitted):
    model, X, y = fitted
    left, right = list(model.tree_.children(0))
    click_node(page, left)
    page.click("#hand-leaf")
    click_node(page, right)
    page.select_option("#hand-column", label="rate")
    page.click("#hand-split")
    assert edits_of(page) == [{"action": "leaf", "node": left}, {"action": "split", "node": right, "column": "rate"}]
    page.click(f'[aria-label="Remove: Make node {left} a leaf"]')
    assert edits_of(page) == [{"action": "split", "node": right, "column": "rate"}]
    page.click("#hand-undo")
    assert len(edits_of(page)) == 2
    edited = model.edit(json.loads(page.inner_text("#hand-file")), X, y)
    assert edited.tree_.is_leaf[1]


def test_the_root_is_forced_from_any_node_and_replaces_edits_below(page, fitted):
    model, X, y = fitted
    left = next(model.tree_.children(0))
    click_node(page, left)
    page.click("#hand-leaf")
    page.select_option("#hand-column", label="income")
    page.select_option("#hand-place", label="at the root")
    page.click("#hand-split")
    assert edits_of(page) == [{"action": "split", "node": 0, "column": "income"}]
    assert "grows anew above this node" in page.inner_text("#by-hand")
    assert page.locator("#hand-split").count() == 0
    assert model.edit(json.loads(page.inner_text("#hand-file")), X, y).tree_.feature[0] == 1


def test_a_column_that_is_forbidden_cannot_be_used(page):
    page.select_option("#hand-column", label="income")
    page.click("#hand-forbid")
    assert page.locator('[aria-label="Use income at the root"]').is_disabled()
    page.click("#hand-split")
    assert "forbidden" in page.inner_text("#hand-message")
    assert edits_of(page) == [{"action": "forbid", "node": 0, "column": "income"}]


def test_every_list_of_edits_that_the_page_allows_can_be_made(page, fitted):
    model, X, y = fitted
    rng = np.random.default_rng(0)
    nodes = model.tree_.internal[:12].tolist()
    for _ in range(8):
        for _ in range(4):
            page.evaluate(f"secateur.picture.select({rng.choice(nodes)})")
            if page.locator("#hand-split").count():
                page.select_option("#hand-column", index=int(rng.integers(4)))
                page.click(["#hand-split", "#hand-forbid", "#hand-leaf"][int(rng.integers(3))])
        edits = edits_of(page)
        edited = model.edit({"format": "secateur edits", "version": 1, "edits": edits}, X, y).model_.metadata["edits"]
        assert len(edited) == len(edits)
        assert None not in [edit["at"] for edit in edited]
        page.evaluate("secateur.picture.select(0)")
        for _ in edits:
            page.locator("#hand-edits button").first.click()


def test_the_part_works_by_keyboard(page):
    page.focus("#hand-column")
    page.keyboard.type("income")
    page.focus("#hand-forbid")
    page.keyboard.press("Enter")
    assert edits_of(page) == [{"action": "forbid", "node": 0, "column": "income"}]
    assert page.evaluate("document.activeElement.id") == "hand-forbid"
    page.focus("#hand-undo")
    page.keyboard.press("Space")
    assert page.evaluate("secateur.byHand.edits().length") == 0


@pytest.mark.skipif(not AXE.exists(), reason="no axe-core; scripts/browser installs it with npm")
def test_the_part_has_no_accessibility_violation(page):
    page.click('[aria-label="Use income at the root"]')
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    found = violations(page, "{ runOnly: ['color-contrast'] }")
    page.emulate_media(color_scheme="light")
    assert found == []


def test_the_part_fits_into_a_narrow_window(page):
    page.set_viewport_size({"width": 360, "height": 800})
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    page.wait_for_function(f"{overflow} <= 0", timeout=5_000)  # the page is laid out anew after it was resized
    page.set_viewport_size({"width": 1280, "height": 900})


def test_without_the_growing_rows_the_page_says_why_no_splits_are_ranked(open_page, fitted):
    model, X, _ = fitted
    other = people(300, 5)
    for html, why in (
        (model.report().html, "without the rows"),
        (model.report(X=X).html, "without the target"),
        (model.report(X=other[0], y=other[1]).html, "not those that grew the tree"),
    ):
        page = open_page(html)
        page.click("#tab-by-hand")
        assert why in page.inner_text("#by-hand")
        page.click("#hand-forbid")
        assert edits_of(page) == [{"action": "forbid", "node": 0, "column": "age"}]
        assert page.trouble == []


def test_a_single_leaf_and_a_bare_structure_have_no_such_part():
    tree = secateur.Tree.from_parents([-1, 0, 0])
    counts = secateur.Counts.from_leaves(tree, [[3, 1], [0, 2]])
    assert '"hand":null' in report_html((tree, counts))


def test_the_report_of_a_thousand_leaves_stays_small_with_its_splits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3400, 6)).round(2)
    y = rng.integers(0, 3, 3400)
    model = TreeClassifier(criterion="gini", select=None, min_samples_leaf=2).fit(X, y).model_
    assert 1000 <= model.tree.n_leaves < 1100
    assert len(report_html(model, data=(X, y)).encode()) < 400_000
    entries = hand_entries(model, secateur.encode(X, schema=model.tree.schema, target=y))
    assert len(entries["nodes"]) == MAX_NODES
    assert max(len(node["splits"]) for node in entries["nodes"].values()) <= MAX_SPLITS + 1
    assert len(json.dumps(entries)) < 60_000


def test_the_model_card_lists_the_edits(fitted):
    model, X, y = fitted
    assert "forbid age at and below node 0" in model.edit([Edit("forbid", node=0, column="age")], X, y).report().html


def test_the_report_of_a_thousand_leaves_stays_small_with_every_part():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5400, 6)).round(2)
    y = rng.integers(0, 3, 5400)
    model = TreeClassifier(criterion="gini", min_samples_leaf=2, certify=True, cv=3, cv_repeats=1).fit(X, y).model_
    page = report_html(model, data=(X, y))

    assert 1000 <= model.tree.n_leaves < 1100
    assert '"alternatives":null' not in page
    assert '"hand":null' not in page
    assert len(page.encode()) < 400_000
