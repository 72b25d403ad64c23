"""How the tree and the curves are drawn: labels, zooming, hovering, limits, numbers of any size."""

import re

import numpy as np
import pytest

import secateur
from report_browser import until
from report_models import random_model
from secateur.core.model import Model
from secateur.inspection.wording import format_measure, format_percent
from secateur.pruners import reduced_error
from secateur.report import report_html
from secateur.report._shown import costs_of

STRUCK = """() => {
  const shown = [...document.querySelectorAll('#tree .node text')].filter((t) => t.closest('[role=treeitem]'));
  const boxes = shown.map((t) => [t, t.getBoundingClientRect()]).filter(([, b]) => b.width > 0);
  const found = [];
  boxes.forEach(([t, a], i) => boxes.slice(i + 1).forEach(([u, b]) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && down > 0.3 * Math.min(a.height, b.height)) found.push([t.textContent, u.textContent]);
  }));
  for (const link of document.querySelectorAll('#tree .link')) {
    const matrix = link.getScreenCTM();
    for (let s = 0; s <= 40; s++) {
      const p = link.getPointAtLength((link.getTotalLength() * s) / 40).matrixTransform(matrix);
      for (const [t, b] of boxes) {
        const inner = { left: b.left + 1, right: b.right - 1, top: b.top + 0.25 * b.height, bottom: b.bottom - 0.25 * b.height };
        if (p.x > inner.left && p.x < inner.right && p.y > inner.top && p.y < inner.bottom) found.push([t.textContent, "branch"]);
      }
    }
  }
  return found; }"""


def test_labels_are_neither_struck_through_nor_on_top_of_one_another(page, open_page):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1500, 5))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0.3) ^ (rng.random(1500) < 0.2)
    names = ["duration in month", "credit amount", "age", "residence since", "x"]
    larger = open_page(report_html(secateur.grow(secateur.encode(X, names=names, target=y))))
    for shown, widths in ((page, (1280,)), (larger, (1280, 500))):
        for width in widths:
            shown.set_viewport_size({"width": width, "height": 900})
            shown.wait_for_timeout(60)
            for act in ("view.fit()", "view.zoomBy(0.5)", "view.zoomBy(4)", "changeDetail(2)", "changeDetail(0.5)"):
                shown.evaluate(f"secateur.picture.{act}")
                assert shown.evaluate(STRUCK) == [], (width, act)
        shown.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize("n_leaves", [3, 30, 400])
def test_a_tree_of_any_size_fits_its_window_at_first(open_page, n_leaves):
    page = open_page(report_html(random_model(n_leaves)))

    world, room, at = (page.evaluate(f"secateur.picture.view.{name}()") for name in ("world", "room", "current"))
    assert world["width"] * at["zoom"] <= room["width"] + 1
    assert world["height"] * at["zoom"] <= room["height"] + 1
    assert at["zoom"] >= 0.65
    assert not page.is_visible("#minimap")


def test_the_wheel_zooms_about_the_pointer_and_dragging_moves(page):
    box = page.locator("#scroll").bounding_box()
    x, y = box["x"] + 300, box["y"] + 80
    world = f"""() => {{ const b = document.getElementById('scroll').getBoundingClientRect();
        const at = secateur.picture.view.current();
        return [at.x + ({x} - b.left) / at.zoom, at.y + ({y} - b.top) / at.zoom, at.zoom]; }}"""
    before = page.evaluate(world)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -300)
    until(page, "!secateur.picture.view.isFitted()")
    after = page.evaluate(world)
    assert after[2] > before[2]
    assert after[:2] == pytest.approx(before[:2], abs=0.5)
    assert page.is_visible("#minimap")

    page.mouse.down()
    page.mouse.move(x + 40, y + 25, steps=4)
    page.mouse.up()
    moved = page.evaluate("secateur.picture.view.current()")
    assert page.evaluate(world)[0] < after[0]
    assert page.evaluate("secateur.state.selected") == 0, "a drag is no click"

    corner = page.locator("#minimap").bounding_box()
    page.mouse.click(corner["x"] + corner["width"] - 4, corner["y"] + corner["height"] - 4)
    assert page.evaluate("secateur.picture.view.current().x") > moved["x"]
    page.click("#fit")
    assert page.evaluate("secateur.picture.view.isFitted()")
    page.locator('#tree [data-node="0"]').focus()
    page.keyboard.press("+")
    assert not page.evaluate("secateur.picture.view.isFitted()")
    page.keyboard.press("0")
    assert page.evaluate("secateur.picture.view.isFitted()")


def test_two_fingers_zoom(page):
    page.evaluate(
        """() => { const box = document.getElementById('scroll'); const b = box.getBoundingClientRect();
        box.setPointerCapture = () => {};
        const send = (type, id, x, y) => box.dispatchEvent(new PointerEvent(type, {
            pointerId: id, clientX: b.left + x, clientY: b.top + y, bubbles: true, pointerType: 'touch' }));
        send('pointerdown', 11, 100, 60); send('pointerdown', 12, 140, 60);
        send('pointermove', 12, 180, 60); send('pointerup', 11, 100, 60); send('pointerup', 12, 180, 60); }"""
    )

    assert page.evaluate(
        "secateur.picture.view.current().zoom / secateur.picture.view.fittedView().zoom"
    ) == pytest.approx(2, rel=0.01)


def test_hovering_over_the_curves_describes_the_member(page, model):
    box = page.locator("#slider").bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 40)

    text = page.inner_text("#tip")
    assert text.startswith("1 leaf")
    assert f"pruning {len(model.sequence) - 1} of {len(model.sequence) - 1}" in text
    assert format_percent(model.sequence.errors_on(model.holdout)[-1] / 400) in text
    page.mouse.move(5, 5)
    assert not page.is_visible("#tip")


def test_the_difference_of_two_limits_is_explained_beside_them(open_page):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = (X[:, 0] > 0) ^ (rng.random(900) < 0.2)
    fitted = secateur.TreeClassifier(random_state=0, certify=True).fit(X, y)
    page = open_page(report_html(fitted))
    value = f"{np.ceil(1000 * fitted.certificate_.value - 1e-9) / 10:.1f}\u00a0%"

    assert value in page.inner_text(".tile.bound dd")
    assert page.inner_text("#limits").startswith(f"Two limits: {value}")
    page.evaluate("secateur.state.goTo(secateur.raw.marks.fitted + 1)")
    assert page.inner_text("#limits") == ""
    assert "all stops" in page.inner_text(".tile.bound dd")


def test_the_tree_as_grown_has_one_line_of_code_and_its_point_in_the_chart(open_page):
    tree, grown, holdout = random_model(60)
    page = open_page(report_html(Model(reduced_error(tree, grown, holdout), grown, holdout)))
    page.evaluate("secateur.state.goTo(0)")

    lines = page.inner_text("#code").split("\n")
    assert len(lines) == len(set(lines)) == 1
    dots = page.evaluate("[...document.querySelectorAll('#now .dot')].map((d) => d.getBBox().y)")
    assert all(0 <= y <= 220 for y in dots)
    assert page.inner_text("#limits").startswith("This tree is not a member")


@pytest.mark.parametrize("scale", [1e9, 1e-6])
def test_a_regression_page_fits_whatever_the_unit(open_page, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    fitted = secateur.TreeRegressor(random_state=0).fit(X, scale * (X[:, 0] + rng.normal(size=400)))
    page = open_page(report_html(fitted))
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_timeout(60)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        over = """() => { const card = document.querySelector('.side-column .card').getBoundingClientRect();
            return [...document.querySelectorAll('.tile dd, .tile dt, #curves text')].filter((e) => {
            const b = e.getBoundingClientRect(); return b.left < card.left || b.right > card.right; }).length; }"""
        assert page.evaluate(over) == 0
        wide = "[...document.querySelectorAll('.tile')].map((t) => t.scrollWidth - t.clientWidth)"
        assert max(page.evaluate(wide)) <= 1
    rmse = format_measure(rmse_of(fitted))
    assert rmse in page.inner_text("#summary")
    assert rmse in page.inner_text(".tile.sample-0 dd")


def rmse_of(fitted):
    model = fitted.model_
    return float(np.sqrt(model.pruning.cost(costs_of(model, model.grown)) / model.grown.total[0]))


def test_a_table_of_rules_prints_on_one_page(open_page):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1000, 6))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0.3) ^ (rng.random(1000) < 0.2)
    tree, grown = secateur.grow(secateur.encode(X, names=[f"a name of column {j}" for j in range(6)], target=y))
    sequence = secateur.prune(tree, grown)
    pruning = sequence[int(np.flatnonzero(sequence.n_leaves <= 25)[0])]
    page = open_page(report_html(Model(pruning, grown, None, sequence)))
    assert pruning.n_leaves > 12
    page.click("#tab-rules-part")
    page.evaluate("document.body.classList.add('rules-only')")

    assert len(re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4"))) == 1
