"""Functions by which tests of the page use a browser."""

from pathlib import Path

AXE = Path(__file__).parents[2] / ".cache" / "axe" / "node_modules" / "axe-core" / "axe.min.js"


def until(page, expression):
    """Wait for something to become true; the page's policy forbids the browser's own way of waiting."""
    for _ in range(50):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(20)
    raise AssertionError(expression)


def click_node(page, v):
    page.evaluate(f"secateur.picture.reveal({v})")
    hit = page.locator(f'#tree [data-node="{v}"] .hit')
    hit.scroll_into_view_if_needed()
    box = hit.bounding_box()
    page.mouse.click(box["x"] + 12, box["y"] + box["height"] / 2)


def leaves(page):
    return page.evaluate("secateur.state.numbers.leaves")


def shown_leaves(page):
    return int(page.inner_text(".tile.leaves dd").split("\n")[0].replace(",", ""))


def violations(page, options="{}"):
    """Return what axe finds on the page: the rule and the element."""
    page.evaluate(AXE.read_text("utf-8"))
    page_values = page.evaluate(f"axe.run(document, {options})")["violations"]
    return [(rule["id"], node["target"]) for rule in page_values for node in rule["nodes"]]
