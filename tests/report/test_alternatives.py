"""The part "Alternatives": shares, colours, and the prunings that it shows, against the set in Python."""

import base64
import re

import numpy as np
import pytest

import secateur
from report_browser import AXE, until, violations
from report_models import random_model
from secateur import TreeClassifier
from secateur.core.model import as_model
from secateur.model_selection.alternatives import alternatives_of
from secateur.report import Report, report_html
from secateur.report._alternatives import alternative_entries


@pytest.fixture(scope="module")
def members(model):
    return alternatives_of(model, within=0.01)


@pytest.fixture
def part(page):
    page.click("#tab-alternatives")
    yield page
    page.click("#tab-node")


def kept(page):
    return np.array(page.evaluate("Array.from(secateur.state.kept)"), bool)


def test_the_data_are_those_of_the_set(model, members):
    entries = alternative_entries(model, is_estimator=False)
    internal = model.tree.internal

    assert entries["sentence"] == str(members)
    shares = np.array(entries["shares"])
    assert np.abs(shares / 1000 - members.node_shares[internal]).max() <= 0.0011
    assert ((shares == 1000) == (members.node_shares[internal] == 1)).all()
    assert ((shares == 0) == (members.node_shares[internal] == 0)).all()
    for column in entries["columns"]:
        assert (column[2] is None) == (column[3] in members.essential_columns)
    bits = np.unpackbits(np.frombuffer(base64.b64decode(entries["smallest"]), np.uint8))[: len(internal)]
    assert (bits.astype(bool) == members.smallest().is_kept[internal]).all()


def test_the_page_states_the_sentence_and_shows_the_smallest(part, members):
    assert str(members) in part.inner_text("#alternatives .paragraph").replace("\n", " ")
    part.click("#take-smallest")
    assert (kept(part) == members.smallest().is_kept).all()
    assert part.evaluate("document.activeElement.id") == "take-smallest"
    assert part.inner_text("#state") == "smallest good tree"
    part.click("#take-best")
    assert (kept(part) == members.best.is_kept).all()
    part.click("#undo")
    assert (kept(part) == members.smallest().is_kept).all()
    assert part.trouble == []


def test_random_members_are_those_that_the_python_code_draws(part, members):
    drawn = members.sample(50, random_state=0)
    part.focus("#take-random")
    for i in range(3):
        part.keyboard.press("Enter")
        assert (kept(part) == drawn[i].is_kept).all()
        assert f".sample(50, random_state=0)[{i}]" in part.inner_text("#code")
    assert part.inner_text("#state") == "random tree 3 of 50"


def test_the_python_code_of_a_member_makes_it(part, model):
    part.click("#take-smallest")
    code = re.search(r"pruning = (.*)", part.inner_text("#code"))[1]
    assert (eval(code, {"model": model, "secateur": secateur}).is_kept == kept(part)).all()
    part.evaluate("secateur.state.snip(0)")
    code = re.search(r"pruning = (.*)", part.inner_text("#code"))[1]
    assert eval(code, {"model": model, "secateur": secateur}).n_leaves == 1
    assert part.inner_text("#state") == "smallest good tree, 1 change by hand"


def test_the_limit_of_a_member_pays_for_the_choice(part, model):
    part.click("#take-smallest")
    limit = part.evaluate("secateur.state.limit()")
    assert limit["from"] == "branching"
    bound = secateur.certifiers.occam(
        model.tree, model.grown, model.holdout, prior="branching", tail="kl", delta=part.evaluate("secateur.raw.delta"),
        pruning=alternatives_of(model, within=0.01).smallest(), repeats="independent",
    )  # fmt: skip
    assert limit["value"] == pytest.approx(bound.value, abs=1e-6)


def test_nodes_have_the_colours_of_their_shares_while_the_part_is_open(part, model, members):
    def colour(v):
        return part.evaluate(f"secateur.picture.elementOf({v}).querySelector('.disc')?.getAttribute('fill')")

    part.evaluate("secateur.state.goTo(0)")
    shown = [
        v for v in model.tree.internal.tolist() if part.evaluate(f"!!secateur.picture.elementOf({v})") and colour(v)
    ]
    needed = [v for v in shown if members.node_shares[v] == 1]
    arbitrary = [v for v in shown if 0 < members.node_shares[v] < 1]
    assert needed
    assert arbitrary
    assert {colour(v) for v in needed} == {"rgb(230,130,0)"}
    assert "rgb(230,130,0)" not in {colour(v) for v in arbitrary}
    title = part.evaluate(f"secateur.picture.elementOf({needed[0]}).querySelector('title').textContent")
    assert "Split in all of the good trees." in title
    part.click("#tab-node")
    until(part, f"!secateur.picture.elementOf({needed[0]}).querySelector('title').textContent.includes('good trees')")


@pytest.mark.skipif(not AXE.exists(), reason="no axe-core; scripts/browser installs it with npm")
def test_the_part_has_no_accessibility_violation(part):
    part.click("#take-smallest")
    assert violations(part) == []
    part.emulate_media(color_scheme="dark")
    found = violations(part, "{ runOnly: ['color-contrast'] }")
    part.emulate_media(color_scheme="light")
    assert found == []


def test_a_printed_page_has_the_colours_of_the_classes(page, model):
    colour = "secateur.picture.elementOf(0).querySelector('.disc').getAttribute('fill')"
    before = page.evaluate(colour)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(colour) == before
    page.evaluate("secateur.picture.highlightRowPath([])")  # of the part "What if", which is drawn for print, too


def test_a_pruning_without_a_column(open_page):
    rng = np.random.default_rng(0)
    X = rng.random((600, 3))
    y = (X[:, 0] > 0.5) ^ (rng.random(600) < 0.15)
    model = TreeClassifier(criterion="gini", prune="reduced-error", random_state=0).fit(X, y)
    members = model.alternatives()
    page = open_page(Report(model.model_, is_estimator=True).html)
    page.click("#tab-alternatives")
    name = members.dispensable_columns[0]
    page.select_option("#take-without", name)
    assert (kept(page) == members.without(name).is_kept).all()
    assert f'model.alternatives(within=0.01).without("{name}")' in page.inner_text("#code")
    until(page, "document.getElementById('live').textContent.startsWith('without')")
    cells = page.locator("#alternatives tbody tr").all_inner_texts()
    assert sum("needed" in cell for cell in cells) == len(members.essential_columns)
    assert page.trouble == []


def test_pages_without_such_a_set_have_no_such_part(open_page):
    tree, grown, held = random_model(20)
    weighted = secateur.Counts.from_leaves(tree, held.by_class[tree.is_leaf] * 0.5, sample="prune")
    assert alternative_entries(as_model((tree, grown)), is_estimator=False) is None
    assert alternative_entries(as_model((tree, grown, weighted)), is_estimator=False) is None
    page = open_page(report_html((tree, grown)))
    assert page.locator("#tab-alternatives").count() == 0
    assert page.trouble == []


@pytest.mark.parametrize("n_leaves", [1, 20, 2_000])
def test_bare_trees_of_any_size_have_the_part(open_page, n_leaves):
    page = open_page(report_html(random_model(n_leaves)))
    page.click("#tab-alternatives")
    page.click("#take-smallest")
    page.click("#take-random")
    assert "within 1.0 percentage point" in page.inner_text("#alternatives").replace("\n", " ")
    assert page.trouble == []
