"""The page in a real browser: sliding, clicking, cutting, keys, and numbers equal to Python's."""

import numpy as np
import pytest

import secateur
from report_browser import AXE, click_node, leaves, shown_leaves, until, violations
from report_models import HOSTILE, full_reason, random_model, short_reason
from secateur import Column, Counts, Pruning, Schema, Tree, export_rules
from secateur.certifiers import leaf_shares, occam, path
from secateur.core.model import Model
from secateur.core.moments import Moments
from secateur.inspection.view import view_of
from secateur.inspection.wording import format_measure
from secateur.pruners import best_of_size, cost_complexity, reduced_error
from secateur.report import notebook_html, report_html
from secateur.report._reasons import fitted_reasons, sequence_reasons
from secateur.report._shown import costs_of, deciding_costs, default_sequence, with_alphas_per_row


def at_every_stop(page):
    return page.evaluate(
        """() => secateur.raw.stops.leaves.map((_, at) => { secateur.state.goTo(at);
        const { leaves, costs } = secateur.state.numbers; return [leaves, costs]; })"""
    )


def check_every_stop(page, model, sequence):
    members = page.evaluate("secateur.raw.stops.member")
    costs = [costs_of(model, sample) for sample in (model.grown, model.holdout) if sample is not None]
    for member, (found, found_costs) in zip(members, at_every_stop(page), strict=True):
        if member >= 0:
            assert found == sequence[member].leaves.tolist()
            assert found_costs == pytest.approx([sequence[member].cost(cost) for cost in costs], rel=1e-5)
    assert sorted(m for m in members if m >= 0) == list(range(len(sequence)))


def test_the_leaves_and_errors_of_every_stop_are_pythons(page, model):
    check_every_stop(page, model, model.sequence)


def test_members_that_are_not_nested_are_rebuilt_as_python_does(open_page):
    tree, grown, holdout = random_model(25, seed=3)
    sequence = best_of_size(tree, grown)
    model = Model(sequence.with_leaves(int(sequence.n_leaves[4])), grown, holdout, sequence)
    page = open_page(report_html(model))

    check_every_stop(page, model, sequence)
    assert page.trouble == []


def test_numbers_as_targets_are_shown_with_their_squared_errors(open_page):
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    moments = Moments(tree, [4, 3, 2, 1, 1], [2.5, 2.0, 1.5, 3.0, 4.0], [9.0, 4.5, 1.0, 0.5, 0.0])
    sequence = cost_complexity(tree, None, cost=moments.squared_errors_if_leaf(moments.mean))
    model = Model(sequence[0], moments, None, sequence)
    page = open_page(report_html(model))

    check_every_stop(page, model, sequence)
    page.evaluate("secateur.state.goTo(1)")
    rmse = format_measure((sequence.errors[1] / 4) ** 0.5)
    assert page.inner_text(".tile.sample-0 dd").startswith(rmse)
    page.click("#tab-members-part")
    assert rmse in page.locator("#members tr.now").inner_text()
    explained = 1 - sequence.errors[1] / moments.sse[0]
    assert f"R²\u00a0{explained:.3f}".rstrip("0") in page.inner_text(".tile.sample-0 dd")
    assert page.trouble == []


def test_the_shown_numbers_are_those_of_the_tree(page, model):
    sequence = model.sequence
    for at in range(0, len(sequence), 7):
        page.evaluate(f"secateur.state.goTo({at})")
        wrong = int(sequence.errors_on(model.holdout)[at])
        shown = page.inner_text(".tile.sample-1 dd").split("\n")
        assert shown_leaves(page) == sequence.n_leaves[at]
        assert shown[1] == f"{wrong} of 400"
        assert float(shown[0].rstrip("\u00a0%")) == pytest.approx(100 * wrong / 400, abs=0.051)


def test_limits_along_the_slider_are_those_of_the_path(page, model):
    page_values = page.evaluate(
        "secateur.raw.stops.leaves.map((_, at) => { secateur.state.goTo(at); return secateur.state.limit(); })"
    )
    members = page.evaluate("secateur.raw.stops.member")

    bounds = path(model.sequence, model.holdout)
    fitted = page.evaluate("secateur.raw.marks.fitted")
    for at, (member, limit) in enumerate(zip(members, page_values, strict=True)):
        if at == fitted:
            assert limit["from"] == "certificate"
            assert limit["value"] == model.certificate.value
        elif member >= 0:
            assert limit["from"] == "path"
            assert limit["value"] == pytest.approx(bounds[member].value, rel=1e-6)


def test_the_limit_of_a_tree_cut_by_hand_pays_for_every_pruning(page, model):
    cut = int(model.pruning.is_kept.nonzero()[0][-1])
    page.evaluate(f"secateur.state.snip({cut})")

    limit = page.evaluate("secateur.state.limit()")
    by_hand = model.pruning.snip(cut)
    expected = occam(model.tree, model.grown, model.holdout, prior="branching", tail="kl", pruning=by_hand)
    assert limit["from"] == "branching"
    assert limit["value"] == pytest.approx(expected.value, abs=1e-9)
    assert "do not hold for it" in page.inner_text("#node")


def test_without_a_held_out_sample_no_limit_is_shown(open_page):
    tree, grown, _ = random_model(12)
    page = open_page(report_html((tree, grown)))

    page.evaluate("secateur.state.snip(0)")

    assert page.query_selector(".tile.bound") is None
    assert "not certified" in page.inner_text("#node")
    assert page.trouble == []


def test_reasons_on_the_page_are_those_of_python(page, model):
    internal = model.tree.internal.tolist()
    page_values = page.evaluate("ids => ids.map((v) => secateur.words.fullReason(secateur.raw.reasons, v))", internal)

    sequence = with_alphas_per_row(model.sequence, float(model.grown.total[0]))
    reasons = sequence_reasons(sequence, deciding_costs(model, model.sequence), model.grown.total)
    assert page_values == [full_reason(reasons, v) for v in internal]
    for is_cut in (True, False):
        script = f"ids => ids.map((v) => secateur.words.shortReason(secateur.raw.reasons, v, {str(is_cut).lower()}))"
        assert page.evaluate(script, internal) == [short_reason(reasons, v, is_cut=is_cut) for v in internal]


def test_the_fitted_tree_of_another_rule_has_reasons_of_its_own(open_page):
    tree, grown, holdout = random_model(40, seed=5)
    pruning = reduced_error(tree, grown, holdout)
    model = Model(pruning, grown, holdout)
    page = open_page(report_html(model))
    reasons = fitted_reasons(model)

    for v in pruning.cuts[:5].tolist():
        page.evaluate(f"secateur.picture.select({v})")
        assert page.inner_text("#why") == short_reason(reasons, v, is_cut=True)
        assert page.text_content("#arithmetic") == full_reason(reasons, v)
    check_every_stop(page, model, default_sequence(model))
    assert page.trouble == []


def test_rules_are_those_of_export_rules(page, model):
    page_values = page.evaluate("secateur.state.numbers.leaves.map(secateur.words.ruleText)")

    assert page_values == export_rules(model.tree, model.grown, pruning=model.pruning).split("\n")
    page.evaluate("secateur.state.goTo(0)")
    page_values = page.evaluate("secateur.state.numbers.leaves.map(secateur.words.ruleText)")
    assert page_values == export_rules(model.tree, model.grown, pruning=model.sequence[0]).split("\n")


def branches_of(page, tree):
    return page.evaluate(f"Array.from({{ length: {tree.n_nodes} }}, (_, v) => secateur.words.branchText(v))")[1:]


def test_branches_have_the_words_of_the_text(page, model):
    view = view_of(model.tree, model.grown)

    assert branches_of(page, model.tree) == [view.branch_text(v) for v in range(1, model.tree.n_nodes)]


def test_an_infinite_threshold_and_a_test_for_missing_have_the_words_of_the_text(open_page):
    nan = np.nan
    schema = Schema((Column("x", "numeric", (), has_missing=True),), np.array(["a", "b"]))
    tree = Tree(
        [-1, 0, 1, 1, 0, 4, 4, 6, 6], feature=[0, 0, -1, -1, 0, -1, 0, -1, -1],
        threshold=[1.0, 5.0, nan, nan, np.inf, nan, 0.5, nan, nan], default=[1, 0, 0, 0, 1, 0, 1, 0, 0], schema=schema,
    )  # fmt: skip
    counts = Counts.from_leaves(tree, [[1, 0]] * 5)
    page = open_page(report_html((tree, counts)))
    view = view_of(tree, counts)

    assert branches_of(page, tree) == [view.branch_text(v) for v in range(1, tree.n_nodes)]
    page_values = page.evaluate("secateur.state.goTo(0), secateur.state.numbers.leaves.map(secateur.words.ruleText)")
    assert page_values == export_rules(tree, counts).split("\n")


def test_nodes_stand_where_the_layout_puts_them(page, model):
    lines = page.evaluate("[...secateur.picture.plan().line]")

    assert dict(lines) == dict(zip(model.nodes.tolist(), view_of(model.pruned_tree).position.tolist(), strict=True))


def test_keys_move_the_slider_along_the_sequence(page, model):
    n_leaves = page.evaluate("secateur.raw.stops.leaves")
    slider = page.locator("#slider")
    slider.focus()

    for key, at in (("End", 0), ("ArrowLeft", 1), ("PageDown", 11), ("ArrowRight", 10), ("PageUp", 0), ("Home", -1)):
        slider.press(key)
        assert shown_leaves(page) == n_leaves[at]
    assert slider.get_attribute("aria-valuetext").startswith("1 leaf, growing error")
    until(page, "document.getElementById('live').textContent.startsWith('1 leaf')")


def test_dragging_in_the_chart_shrinks_the_tree(page):
    box = page.locator("#slider").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 11, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 12, box["y"] + 60, steps=6)
    page.mouse.up()

    assert shown_leaves(page) == 1
    assert len(page.query_selector_all("#tree .node")) == 1


def test_the_classes_of_a_node_have_limits_on_their_shares(page, model):
    limits = leaf_shares(model.pruning, model.holdout, over="nodes", grown=model.grown)
    for v in (0, int(model.pruning.leaves[-1])):
        page.evaluate(f"secateur.picture.select({v})")
        for row in page.locator("#panel-body table").last.locator("tbody tr").all()[:-1]:
            name, shown_text = row.locator("th").inner_text().strip(), row.locator("td").last.inner_text()
            most = limits.upper[v, limits.classes.index(name)]
            assert float(shown_text.removesuffix("%").strip()) == pytest.approx(np.ceil(1000 * most) / 10)
    assert "for all" in page.inner_text("#shares")


def test_a_click_on_a_node_shows_its_rule_counts_and_reason(page, model):
    v = int(model.pruning.leaves[2])
    click_node(page, v)

    text = page.inner_text("#node")
    assert text.startswith(f"Node {v}: ")
    assert export_rules(model.tree, model.grown, pruning=model.pruning).split("\n")[2] in text.replace("\n", " ")
    for sample in (model.grown, model.holdout):
        assert f"{sample.total[v]:,}" in text


def test_cut_restore_undo_and_redo_follow_pythons_prunings(page, model):
    v = int(np.flatnonzero(model.pruning.is_kept)[2])
    click_node(page, v)

    page.click("#cut")
    assert leaves(page) == model.pruning.snip(v).leaves.tolist()
    assert "1 change by hand" in page.inner_text("#state")
    page.click("#restore")
    assert leaves(page) == model.pruning.snip(v).restore(v).leaves.tolist()
    page.click("#undo")
    assert leaves(page) == model.pruning.snip(v).leaves.tolist()
    page.keyboard.press("Control+z")
    assert leaves(page) == model.pruning.leaves.tolist()
    page.click("#redo")
    assert leaves(page) == model.pruning.snip(v).leaves.tolist()
    page.evaluate("secateur.state.goTo(0)")
    page.click("#undo")
    assert leaves(page) == model.pruning.snip(v).leaves.tolist(), "leaving work done by hand can be taken back"


def test_the_python_call_makes_what_is_shown(page, model):
    kept = np.flatnonzero(model.pruning.is_kept)
    page.evaluate(f"secateur.state.snip({kept[-1]})")
    page.evaluate(f"secateur.state.restore({model.pruning.cuts[0]})")

    for line in page.inner_text("#code").split("\n"):
        if line.startswith("pruning"):
            pruning = eval(line.removeprefix("pruning = "), {"model": model, "secateur": secateur})
            assert pruning.leaves.tolist() == leaves(page)


def test_keys_walk_the_tree_and_cut_it(page, model):
    tree = model.tree
    page.locator('#tree [data-node="0"]').focus()
    focused = "Number(document.activeElement.getAttribute('data-node'))"
    children = list(tree.children(0))

    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == children[0]
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == children[1]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(focused) == 0
    page.keyboard.press("End")
    assert page.evaluate(focused) == model.pruning.leaves[-1]
    page.keyboard.press("Home")
    page.keyboard.press("Delete")
    assert leaves(page) == [0]
    assert page.evaluate(focused) == 0
    page.keyboard.press("Insert")
    assert len(leaves(page)) == tree.n_leaves
    assert page.evaluate("document.querySelectorAll('#tree [tabindex=\"0\"]').length") == 1


def test_a_search_marks_the_tests_of_a_column(page, model):
    page.fill("#search", "SIZ")

    tests = np.flatnonzero(model.pruning.is_kept & (model.tree.feature == 0)).tolist()
    assert page.inner_text("#found").startswith(str(len(tests)))
    page_values = page.evaluate("[...document.querySelectorAll('#tree .found')].map((g) => Number(g.dataset.node))")
    assert sorted(page_values) == tests
    page.press("#search", "Enter")
    assert page.evaluate("secateur.state.selected") == tests[0]
    page.fill("#search", "nothing like it")
    assert page.inner_text("#found") == "not tested here"
    page.press("#search", "Escape")
    assert page.query_selector("#tree .dim") is None


def test_the_rules_are_a_table_that_sorts(page, model):
    page.click("#tab-rules-part")
    page.click('#rules [data-key="error-1"]')

    nodes = [int(cell) for cell in page.locator("#rules tbody th").all_inner_texts()]
    rates = costs_of(model, model.holdout) / np.maximum(model.holdout.total, 1)
    assert sorted(nodes) == model.pruning.leaves.tolist()
    assert (np.diff(rates[nodes]) <= 0).all()
    assert page.get_attribute('#rules th:has([data-key="error-1"])', "aria-sort") == "descending"


def test_a_row_of_the_members_goes_there(page, model):
    page.click("#tab-members-part")
    page.locator("#members tbody tr").nth(3).locator("button").click()

    assert shown_leaves(page) == model.sequence.n_leaves[3]
    assert page.locator("#members tr.now").get_attribute("data-stop") == "3"


def test_a_rule_can_be_copied_where_there_is_no_clipboard(page, model):
    page.evaluate(
        """() => { Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
        window.copied = ""; document.addEventListener("copy", () => (window.copied = document.activeElement.value)); }"""
    )
    page.click("#node .copy")

    until(page, "window.copied.startsWith('IF TRUE THEN')")


def test_hostile_names_are_text(page):
    assert page.inner_text("h1") == HOSTILE
    assert page.query_selector("img, iframe, header script, main script, i, #app b b") is None
    assert HOSTILE in page.evaluate("[...document.querySelectorAll('#names option')].map((o) => o.value)")


@pytest.mark.skipif(not AXE.exists(), reason="no axe-core; scripts/browser installs it with npm")
def test_no_accessibility_violation(page, model):
    page.evaluate(f"secateur.state.snip({np.flatnonzero(model.pruning.is_kept)[-1]})")

    assert violations(page) == []


@pytest.mark.skipif(not AXE.exists(), reason="no axe-core; scripts/browser installs it with npm")
def test_the_dark_page_has_enough_contrast(page):
    page.emulate_media(color_scheme="dark")
    found = violations(page, "{ runOnly: ['color-contrast'] }")
    page.emulate_media(color_scheme="light")

    assert found == []


def test_dark_and_print_have_their_own_colours(page):
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(colour) != light
    page.emulate_media(media="print")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert not page.is_visible("#undo")
    assert page.is_visible("#tree")
    page.emulate_media(media="screen", color_scheme="light")


def test_a_narrow_screen_does_not_scroll_sideways(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(100)
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size({"width": 1280, "height": 900})

    assert wide <= 390


def test_without_scripts_there_is_a_drawing_and_a_table(open_page, model):
    page = open_page(report_html(model), java_script_enabled=False)

    assert page.is_visible(".static svg")
    assert page.locator(".static tbody tr").count() == model.pruning.n_leaves
    assert not page.is_visible("#app")
    assert page.query_selector("img") is None


def test_a_large_tree_is_drawn_in_part_and_unfolds(open_page):
    tree, grown, holdout = random_model(5000)
    page = open_page(report_html((tree, grown, holdout)))

    assert shown_leaves(page) == tree.n_leaves
    drawn = page.evaluate("document.querySelectorAll('#tree .node').length")
    assert 20 < drawn < 150
    folded = page.locator("#tree .folded").first
    v = int(folded.get_attribute("data-node"))
    click_node(page, v)
    assert page.evaluate(f"secateur.picture.plan().open.has({v})")
    assert page.evaluate("document.querySelectorAll('#tree .node').length") > drawn
    took = page.evaluate(
        """() => { const times = []; const n = secateur.raw.stops.leaves.length;
        for (let i = 0; i < 8; i++) { const start = performance.now();
        secateur.state.goTo(Math.floor((i * (n - 1)) / 7)); document.body.offsetHeight;
        times.push(performance.now() - start); } return times; }"""
    )
    assert sorted(took)[len(took) // 2] < 250  # 100 on a quiet machine
    assert page.trouble == []


def test_a_deep_tree_and_a_single_leaf_open(open_page):
    n = 3000
    chain = Tree.from_parents(np.append(-1, np.repeat(np.arange(0, 2 * n, 2), 2)))
    deep = Counts.from_leaves(chain, np.tile([[2, 1], [0, 1]], (n, 1))[: chain.n_leaves])
    alone = Tree.from_parents([-1])

    for parts, n_leaves in (((chain, deep), n + 1), ((alone, Counts.from_leaves(alone, [[5, 3]])), 1)):
        page = open_page(report_html(parts))
        assert shown_leaves(page) == n_leaves
        assert page.trouble == []


def test_a_notebook_frame_shows_the_same_page(open_page, model):
    page = open_page(f"<!doctype html><title>notebook</title><body>{notebook_html(model)}")

    frame = page.frame_locator("iframe")
    assert frame.locator(".tile.leaves dd").inner_text().startswith(str(model.pruning.n_leaves))
    assert not [text for text in page.trouble if not text.startswith("about:srcdoc")]


def test_cuts_of_the_page_are_prunings(page, model):
    cuts = page.evaluate("secateur.state.numbers.cuts")

    assert Pruning.from_cuts(model.tree, cuts).leaves.tolist() == model.pruning.leaves.tolist()
