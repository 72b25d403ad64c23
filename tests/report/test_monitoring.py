"""The part "Monitoring" of the page shows what the monitor has found."""

import math
from html import escape
from pathlib import Path

import numpy as np
import pytest

from secateur import Bound, Counts, Model, Monitor, Pruning, TreeClassifier, grow
from secateur.errors import ModelFileError, ParameterError
from secateur.report import Report, report_html

AXE = Path(__file__).parents[2] / ".cache" / "axe" / "node_modules" / "axe-core" / "axe.min.js"


def certified_model(n_leaves=2):
    """A tree with a held-out sample and a certificate of 12 %."""
    x = np.repeat(np.arange(n_leaves, dtype=float), 20)
    tree, grown = grow(x.reshape(-1, 1), (x % 2).astype(int))
    pruning = Pruning.from_cuts(tree, [], node_labels=grown.majority)
    per_leaf = [[90, 10] if label == 0 else [10, 90] for label in pruning.labels[pruning.leaves]]
    holdout = Counts.from_leaves(tree, per_leaf, sample="held out")
    return Model(pruning, grown, holdout, certificate=Bound(0.12, 0.025, "test sample", 100 * n_leaves, 10 * n_leaves))


@pytest.fixture(scope="module")
def monitor():
    """A monitor with two quiet batches and one in which the rule of the second leaf is broken."""
    monitor = Monitor(certified_model())
    for i, by_leaf in enumerate(([[46, 4], [5, 45]], [[44, 6], [4, 46]], [[45, 5], [60, 40]])):
        monitor.update_counts(Counts.from_leaves(monitor.model.tree, by_leaf, sample=f"batch {i}"))
    return monitor


@pytest.fixture(scope="module")
def monitored_page(open_page, monitor):
    page = open_page(report_html(monitor.model, monitor=monitor))
    page.click("#tab-monitoring")
    yield page
    assert page.trouble == []


def test_a_page_without_a_monitor_has_no_such_part(page):
    assert page.query_selector("#tab-monitoring") is None
    assert page.evaluate("secateur.raw.monitor") is None


def test_the_status_and_the_table_are_those_of_the_monitor(monitored_page, monitor):
    status = monitor.status()
    assert monitored_page.inner_text("#monitor-status") == str(status)
    assert monitored_page.inner_text("#monitor-shares") == str(status.shares)
    cells = [
        [cell.inner_text() for cell in row.query_selector_all("th, td")]
        for row in monitored_page.query_selector_all("#monitored-rules tbody tr")
    ]
    expected = {leaf.leaf: leaf for leaf in status.leaves}
    before = dict(zip(status.plan.leaves.tolist(), status.plan.reference_rows.tolist(), strict=True))
    assert len(cells) == len(expected)
    for node, rule, rows, errors, limit, _, verdict, then, now in cells:
        leaf = expected[int(node)]
        assert (rule, int(rows), int(errors)) == (leaf.rule, leaf.n, leaf.errors)
        assert verdict == ("broken" if leaf.is_contradicted else "not contradicted")
        assert float(limit.removesuffix(" %")) >= 100 * leaf.limit
        assert float(then.split("\u00a0")[0]) == pytest.approx(100 * before[leaf.leaf] / 200, abs=0.05)
        assert float(now.split("\u00a0")[0]) == pytest.approx(100 * leaf.n / status.n, abs=0.05)
    assert [cell[6] for cell in cells] == ["broken", "not contradicted"]


def test_the_curve_is_that_of_the_looks(monitored_page, monitor):
    entries = monitored_page.evaluate("secateur.raw.monitor")
    looks = monitor.status().looks
    assert entries["looks"] == looks[:, 0].tolist()
    assert entries["evidence"] == pytest.approx(np.clip(looks[:, 2] / math.log(10), -3, 12), abs=1e-3)
    curves = monitored_page.query_selector_all("#monitoring polyline")
    assert [len(curve.get_attribute("points").split()) for curve in curves] == [3, 2]


def test_a_node_of_the_table_is_selected_in_the_tree(monitored_page, monitor):
    leaf = monitor.status().broken_leaves[0].leaf
    monitored_page.click(f"#monitored-rules button[aria-label='Show node {leaf}']")
    assert monitored_page.evaluate("secateur.state.selected") == leaf
    monitored_page.click("#tab-monitoring")


@pytest.mark.skipif(not AXE.exists(), reason="no axe-core; scripts/browser installs it with npm")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_part_is_accessible(monitored_page, scheme):
    monitored_page.emulate_media(color_scheme=scheme)
    monitored_page.evaluate(AXE.read_text("utf-8"))
    found = monitored_page.evaluate("axe.run(document)")["violations"]
    monitored_page.emulate_media(color_scheme="light")
    assert [(rule["id"], node["target"]) for rule in found for node in rule["nodes"]] == []


def test_a_monitor_without_rows_and_a_long_table_are_shown(open_page):
    model = certified_model(n_leaves=80)
    page = open_page(report_html(model, monitor=Monitor(model)))
    page.click("#tab-monitoring")
    assert "No rows have been counted." in page.inner_text("#monitoring")
    assert len(page.query_selector_all("#monitored-rules tbody tr")) == 60
    page.click("text=Show 20 more rules")
    assert len(page.query_selector_all("#monitored-rules tbody tr")) == 80
    assert page.trouble == []


def test_the_page_states_the_status_without_scripts(monitor):
    page = report_html(monitor.model, monitor=monitor)
    static = page[page.index("<noscript>") : page.index("</noscript>")]
    assert escape(str(monitor.status())) in static
    assert "Monitoring" not in report_html(monitor.model).split("</noscript>")[0]


def test_a_state_file_stands_for_its_monitor(monitor, tmp_path):
    monitor.save(tmp_path / "state.json")
    assert report_html(monitor.model, monitor=tmp_path / "state.json") == report_html(monitor.model, monitor=monitor)


def test_the_monitor_of_another_model_is_refused(monitor):
    other = TreeClassifier(select=None).fit([[1.0], [2.0], [4.0], [5.0]], ["no", "no", "yes", "yes"])
    with pytest.raises(ModelFileError, match="the monitor is that of another model"):
        other.report(monitor=monitor)
    with pytest.raises(ParameterError, match="monitor=1; a Monitor, or the path of its state file"):
        Report(monitor.model, monitor=1)
