"""The parts under the tree (what if, details, evaluate, compare, in words): their numbers are those of Python."""

import itertools
import json
import sqlite3
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import secateur
from report_browser import until
from report_models import CLASSES, HOSTILE, hostile_rows, random_model
from secateur import TreeClassifier
from secateur.core.model import Model, as_model
from secateur.inspection.counterfactual import nearest_change, threshold_ranges
from secateur.inspection.path import path_of
from secateur.inspection.view import view_of
from secateur.inspection.wording import format_measure, format_percent
from secateur.plot.distribution import encode_shown_rows
from secateur.report import report_html
from secateur.report._data import page_data
from secateur.report._shown import costs_of, read_model, row_distributions
from secateur.report._static import _clip
from secateur.statistics.ranking import ranking_of


def coded(model, rows):
    """Rows as the page has them: numbers, codes, None where missing, -1 for a new category."""
    table = secateur.encode(rows, schema=model.tree.schema)
    found = []
    for i in range(table.n_rows):
        row = []
        for about, values in zip(table.schema.columns, table.columns, strict=True):
            if about.kind == "numeric":
                row.append(None if np.isnan(values[i]) else float(values[i]))
            else:
                row.append(None if values[i] == len(about.categories) else int(values[i]))
        found.append(row)
    return found


def test_rows_take_the_path_that_python_takes(page, model):
    rows, _ = hostile_rows(150, 7)
    rows += [[None, "never seen", 0.1], [0.2, None, None]]
    view = view_of(model.tree, model.grown, pruning=model.pruning)

    page_values = page.evaluate("rows => rows.map((row) => secateur.routing.pathOf(row))", coded(model, rows))

    for i, path in enumerate(page_values):
        assert path[-1] == path_of(view, rows, i).leaf
    page.evaluate("secateur.state.goTo(0)")
    whole = page.evaluate("rows => rows.map((row) => secateur.routing.pathOf(row).at(-1))", coded(model, rows))
    assert whole == secateur.routing.apply(model.tree, rows).tolist()


def least_by_trying(model, row, answer):
    """Try every value that could matter in every column: fewest columns, then least change."""
    tree, kept = model.tree, model.pruning.is_kept
    choices, span = [], []
    for j, about in enumerate(tree.schema.columns):
        if about.kind == "nominal":
            choices.append([row[j], *(c for c in about.categories if c != row[j])])
            span.append(None)
            continue
        cuts = tree.threshold[(tree.feature == j) & np.isfinite(tree.threshold)]
        here = tree.threshold[kept & (tree.feature == j)]
        choices.append([row[j], *here, *np.nextafter(here, np.inf)])
        span.append(cuts.max() - cuts.min())
    rows = [list(r) for r in itertools.product(*choices)]
    leaf = secateur.routing.apply(model.pruning.to_tree(), rows)
    labels = model.pruning.labels[model.nodes][leaf]
    best = None
    for tried, label in zip(rows, labels, strict=True):
        if label == answer:
            continue
        moved = [j for j in range(len(row)) if tried[j] != row[j]]
        size = sum(1.0 if span[j] is None or row[j] is None else abs(tried[j] - row[j]) / span[j] for j in moved)
        best = min(best or (99, 99.0), (len(moved), size))
    return best


def test_the_least_change_is_the_least_of_all_that_were_tried(page, model):
    rows = [r for r in hostile_rows(60, 11)[0] if r[1] != ""][:12]
    answers = model.pruning.labels[model.nodes][secateur.routing.apply(model.pruning.to_tree(), rows)].tolist()
    script = """([row, answer]) => { const { tree, whatIf, routing } = secateur;
        const cuts = (j) => Array.from(tree.exactThreshold).filter((t, v) => tree.feature[v] === j && isFinite(t));
        const range = (j) => Math.max(...cuts(j)) - Math.min(...cuts(j));
        const found = routing.smallestChange(row, (v) => tree.labels[v] !== answer, range);
        return found && [found.changes.length, found.size]; }"""

    for row, as_codes, answer in zip(rows, coded(model, rows), answers, strict=True):
        assert page.evaluate(script, [as_codes, answer]) == pytest.approx(least_by_trying(model, row, answer), abs=1e-9)


def test_the_least_change_is_that_of_nearest_change(page, model):
    rows, _ = hostile_rows(80, 13)
    table = secateur.encode(rows, schema=model.tree.schema)
    view = view_of(model.tree, model.grown, pruning=model.pruning)
    scales = threshold_ranges(model.tree)
    script = """row => { const { tree, whatIf, routing } = secateur; const leaf = routing.pathOf(row).at(-1);
        const found = routing.smallestChange(row, (v) => tree.labels[v] !== tree.labels[leaf], whatIf.rangeOf);
        return found && [found.changes.map((c) => secateur.raw.columns[c.column].name).sort(), found.size]; }"""

    for i, as_codes in enumerate(coded(model, rows)):
        expected = nearest_change(view, table, i, scales=scales)
        names, _ = page.evaluate(script, as_codes)
        assert names == sorted(change.column for change in expected.changes)


def test_a_pasted_row_highlights_its_path_and_the_named_change_alters_the_prediction(page, model):
    page.click("#tab-what-if")
    row = {"size": 1.5, "colour": "red", HOSTILE: 0.9}
    page.fill("#paste", json.dumps(row))
    page.click("#use-row")

    leaf = path_of(view_of(model.tree, model.grown, pruning=model.pruning), [list(row.values())]).leaf
    assert page.inner_text("#prediction-text") == model_class(model, leaf)
    lit = page.evaluate("[...document.querySelectorAll('#tree .node.on-row-path')].map((g) => Number(g.dataset.node))")
    assert leaf in lit
    assert 0 in lit
    page.fill("#paste", f'size,colour,"{HOSTILE}"\n-2.5,,0.1')
    page.click("#use-row")
    assert page.evaluate("secateur.whatIf.row") == [-2.5, None, 0.1]
    assert "then the prediction is" in page.inner_text("#change")
    for text, shown_text in (
        ("{oops", "not JSON"),
        ("1,2", "2 values"),
        ('{"other": 1}', "No column"),
        ("", "nothing to read"),
    ):
        page.fill("#paste", text)
        page.click("#use-row")
        assert shown_text in page.inner_text("#paste-note")
    page.click("#tab-node")
    assert page.query_selector("#tree .node.on-row-path") is None


def model_class(model, leaf):
    return view_of(model.tree, model.grown).classes[model.pruning.labels[leaf]]


def test_a_slider_and_the_box_for_missing_change_the_row(page):
    page.click("#tab-what-if")
    field = page.locator(".field", has=page.locator("#field-0"))
    field.locator("#field-0").fill("0.75")
    assert page.evaluate("secateur.whatIf.row[0]") == 0.75
    field.locator("#field-0-missing").check()
    assert page.evaluate("secateur.whatIf.row[0]") is None
    page.select_option("#field-1", label="red")
    assert page.evaluate("secateur.raw.columns[1].categories[secateur.whatIf.row[1]]") == "red"
    page.click("#tab-node")


@pytest.mark.parametrize("sample", [0, 1])
def test_evaluation_numbers_are_those_of_scikit_learn(page, model, sample):
    counts = (model.grown, model.holdout)[sample].by_class
    leaves = model.pruning.leaves
    expected = np.zeros((3, 3), int)
    np.add.at(expected.T, model.pruning.labels[leaves], counts[leaves])
    script = f"secateur.numbers.confusionMatrix(secateur.tree, secateur.state.numbers.leaves, {sample}, 3)"
    assert page.evaluate(script) == expected.tolist()
    for c in range(3):
        score = np.repeat(model.grown.by_class[leaves, c] / model.grown.total[leaves], counts[leaves].sum(1))
        truth = np.concatenate([np.repeat([1, 0], [n[c], n.sum() - n[c]]) for n in counts[leaves]])
        script = f"""secateur.numbers.rankingCurves(secateur.numbers.rankLeaves(
            secateur.tree, secateur.state.numbers.leaves, {sample}, {c}, 3))"""
        page_values = page.evaluate(script)
        assert page_values["auc"] == pytest.approx(metrics.roc_auc_score(truth, score))
        assert page_values["ap"] == pytest.approx(metrics.average_precision_score(truth, score))
        curve = metrics.roc_curve(truth, score, drop_intermediate=False)
        assert np.array(page_values["roc"]) == pytest.approx(np.column_stack(curve[:2]))


@pytest.mark.parametrize("c", [0, 2])
def test_curves_are_those_of_a_ranking(page, model, c):
    leaves, held = model.pruning.leaves, model.holdout.by_class
    share = model.grown.by_class[leaves, c] / model.grown.total[leaves]
    expected = ranking_of(share, held[leaves, c], held[leaves].sum(axis=1) - held[leaves, c])
    page_values = page.evaluate(
        f"""secateur.numbers.rankingCurves(secateur.numbers.rankLeaves(
            secateur.tree, secateur.state.numbers.leaves, 1, {c}, 3))"""
    )

    assert page_values["auc"] == pytest.approx(expected.auc)
    assert page_values["ap"] == pytest.approx(expected.average_precision)
    assert pytest.approx(np.stack([expected.false_positive_rate, expected.recall])) == np.array(page_values["roc"]).T


def test_limits_on_shares_are_those_of_clopper_and_pearson(page):
    cases = [(0, 5), (5, 5), (1, 3), (40, 100), (3, 2000), (12345, 20000)]
    page_values = page.evaluate("cases => cases.map(([x, n]) => secateur.numbers.shareLimits(x, n, 0.05))", cases)

    for (x, n), limits in zip(cases, page_values, strict=True):
        exact = stats.binomtest(x, n).proportion_ci(0.95, "exact")
        assert limits == pytest.approx([exact.low, exact.high], abs=1e-9)


@pytest.fixture(scope="module")
def credit():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 3)).round(3)
    y = np.where((X[:, 0] > 0) ^ (rng.random(600) < 0.2), "yes", "no")
    return X, y, secateur.TreeClassifier(random_state=0, certify=True).fit(X, y)


@pytest.fixture(scope="module")
def credit_page(open_page, credit):
    X, y, fitted = credit
    return open_page(fitted.report(X=X, y=y).html)


def test_importances_are_those_of_the_estimator(credit_page, credit):
    page_values = dict(credit_page.evaluate("secateur.numbers.columnImportances(secateur.tree, secateur.state.kept)"))

    for j, share in enumerate(credit[2].feature_importances_):
        assert page_values.get(j, 0) == pytest.approx(share, rel=1e-4, abs=1e-9)


def test_the_evaluation_follows_the_slider(credit_page):
    credit_page.click("#tab-evaluation")
    before = credit_page.inner_text("#evaluation")
    credit_page.evaluate("secateur.state.goTo(secateur.raw.stops.leaves.length - 1)")
    until(credit_page, "document.querySelector('#evaluation h2').textContent.includes('the 1 leaf')")
    assert credit_page.inner_text("#evaluation") != before
    credit_page.select_option("#evaluation-curve", "pr")
    assert "precision" in credit_page.inner_text("#ranking")
    credit_page.evaluate("secateur.state.goTo(secateur.raw.marks.fitted)")
    credit_page.click("#tab-node")


def test_the_evaluation_shows_no_limits_from_the_growing_rows(credit_page):
    credit_page.click("#tab-evaluation")
    credit_page.select_option("#evaluation-sample", "0")
    assert credit_page.inner_text("#calibration") == "No confidence limits: these rows helped to make the tree."
    credit_page.select_option("#evaluation-sample", "1")
    assert "limits of that leaf" in credit_page.inner_text("#calibration")
    credit_page.click("#tab-node")


def test_the_bars_at_a_test_are_the_rows_that_reach_it(credit):
    X, y, fitted = credit
    model = fitted.model_
    rows = row_distributions(model, encode_shown_rows(model.tree, (X, y)))

    for v, about in rows["nodes"].items():
        reached = secateur.count(model.tree, X, y).by_class[int(v)]
        by_class = dict(zip(about["classes"], np.sum(about["by_class"], axis=1).tolist(), strict=True))
        assert {c: n for c, n in by_class.items() if n} == {c: n for c, n in enumerate(reached.tolist()) if n}
        below = np.sum(about["by_class"])
        low, high = about["range"]
        assert low <= model.tree.threshold[int(v)] <= high
        assert below + about["missing"] == reached.sum()
    assert rows["columns"]["0"]["low"] == X[:, 0].min()
    assert rows["columns"]["0"]["high"] == X[:, 0].max()


def test_bars_of_categories_and_of_numbers_add_up_too(model):
    rows, target = hostile_rows(500, 1)
    for v, about in row_distributions(model, encode_shown_rows(model.tree, (rows, target)))["nodes"].items():
        assert np.sum(about["by_class"]) + about["missing"] == model.grown.total[int(v)]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    fitted = secateur.TreeRegressor(random_state=0).fit(X, X[:, 0])
    about = row_distributions(fitted.model_, encode_shown_rows(fitted.tree_, (X, X[:, 0])))["nodes"]["0"]
    assert sum(about["n"]) == 200
    assert np.dot(about["n"], about["mean"]) == pytest.approx(X[:, 0].sum(), abs=0.1)


def test_a_node_shows_its_bars_and_the_way_to_it(credit_page, credit):
    X = credit[0]
    v = int(np.flatnonzero(credit[2].pruning_.is_kept)[1]) if credit[2].pruning_.n_leaves > 2 else 0
    credit_page.evaluate(f"secateur.picture.select({v})")

    assert credit_page.locator("#node .bars rect").count() > 5
    assert credit_page.locator("#node .crumbs li").count() == 1 + credit[2].tree_.depth[v]
    assert f"{X[:, 0].min():.6g} to {X[:, 0].max():.6g}" in credit_page.text_content("#card-part")


def test_without_rows_the_page_has_none_of_them(model):
    page = report_html(model)

    assert '"rows":null' in page


def test_the_comparison_shows_the_cost_of_a_cut(page, model):
    page.click("#tab-compare")
    sequence = model.sequence
    page.select_option("#compare-with", str(len(sequence) - 1 + page.evaluate("secateur.raw.stops.member.indexOf(0)")))

    held, grown = costs_of(model, model.holdout), costs_of(model, model.grown)
    cells = page.locator("#compare .differing tbody tr").first.locator("td").all_inner_texts()
    assert cells[1:3] == [str(model.pruning.n_leaves), "1"]
    for cell, cost in zip(cells[-2:], (grown, held), strict=True):
        change = int(model.pruning.cost(cost) - cost[0])
        assert cell == f"{'+' if change > 0 else chr(0x2212)}{format_measure(abs(change))}"
    assert format_percent(model.pruning.cost(held) / 400) in page.inner_text("#compare")
    page.click("#tab-node")


def saved(page, name):
    with page.expect_download() as download:
        page.click(f'[data-download="{name}"]')
    return download.value


def test_the_paragraph_and_the_downloads_are_of_the_shown_tree(page, model, tmp_path):
    page.click("#tab-description")
    shown_text = page.inner_text("#description-text")
    assert f"{model.pruning.n_leaves} rules" in shown_text
    assert format_percent(model.pruning.errors(model.holdout) / 400) in shown_text
    picture = ET.fromstring(saved(page, "SVG").path().read_text("utf-8"))
    assert len(picture.findall(".//{*}path")) >= model.pruning.n_leaves
    assert saved(page, "PNG").path().read_bytes().startswith(b"\x89PNG")
    rules = saved(page, "Rules").path().read_text("utf-8")
    assert rules.strip().split("\n") == secateur.export_rules(model.tree, model.grown, pruning=model.pruning).split(
        "\n"
    )
    nodes = json.loads(saved(page, "JSON").path().read_text("utf-8"))["nodes"]
    assert [node["node"] for node in nodes if "prediction" in node] == model.pruning.leaves.tolist()
    page.click("#tab-node")


@pytest.mark.parametrize("stop", ["secateur.raw.marks.fitted", "0"])
def test_the_sql_answers_as_python_does(page, model, stop):
    page.evaluate(f"secateur.state.goTo({stop})")
    query = page.evaluate("secateur.numbers.sqlOf(secateur.raw, secateur.tree, secateur.state)")
    rows, _ = hostile_rows(200, 21)
    rows += [[None, "never seen", 0.1], [0.2, None, None]]
    connection = sqlite3.connect(":memory:")
    name = HOSTILE.replace('"', '""')
    connection.execute(f'create table data (size real, colour text, "{name}" real)')
    connection.executemany("insert into data values (?, ?, ?)", rows)
    query_rows = [row[0] for row in connection.execute(f"select {query} from data order by rowid")]

    pruning = model.pruning if stop != "0" else model.sequence[0]
    leaf = secateur.routing.apply(pruning.to_tree(), rows)
    nodes = np.flatnonzero(pruning.is_kept | pruning.is_leaf)
    labels = pruning.labels[nodes][leaf]
    assert query_rows == model.tree.schema.classes[labels].tolist()
    assert set(query_rows) <= set(CLASSES)


def test_a_tree_without_tests_has_no_what_if(open_page):
    page = open_page(report_html(random_model(12)))

    assert page.query_selector("#tab-what-if") is None
    for tab in ("evaluation", "compare", "description", "rules-part", "members-part", "card-part"):
        page.click(f"#tab-{tab}")
    assert page.trouble == []


def test_one_leaf_weights_and_an_empty_sample_have_all_parts(open_page):
    tree, grown, holdout = random_model(12)
    weights = secateur.Counts.from_leaves(tree, holdout.by_class[tree.is_leaf] * 0.5, sample="prune")
    empty = secateur.Counts.from_leaves(tree, 0 * holdout.by_class[tree.is_leaf], sample="none")
    one_leaf = secateur.Pruning.from_cuts(tree, [0], node_labels=grown.majority)
    for model in (Model(one_leaf, grown, weights), Model(one_leaf, grown, empty)):
        page = open_page(report_html(model))
        for tab in page.query_selector_all("#tabs button"):
            tab.click()
        assert page.trouble == []


def test_dates_are_dates_everywhere(open_page):
    days = np.array(["2024-01-01"], "M8[D]") + np.arange(120)
    rows = [[str(day)] for day in days]
    schema = secateur.Schema((secateur.Column("since", "numeric", (), is_date=True),), np.array(["new", "old"]))
    table = secateur.Table(schema, (days.astype("i8").astype(float),), (np.arange(120) < 70).astype(np.int32))
    tree, counts = secateur.grow(table)
    page = open_page(report_html((tree, counts), data=table))
    page.click("#tab-what-if")
    page.fill("#paste", f'{{"since": "{rows[69][0]}"}}')
    page.click("#use-row")

    assert page.inner_text("#prediction-text") == "old"
    assert page.input_value("#field-0") == rows[69][0]
    assert "2024-03-" in page.inner_text("#change")
    page.fill("#field-0", "2024-04-20")
    assert page.inner_text("#prediction-text") == "new"
    assert page.trouble == []


def test_a_page_of_a_monotone_tree_ranks_by_the_limited_shares(open_page):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3)).round(1)
    y = X[:, 0] + 2 * X[:, 1] * X[:, 2] + rng.normal(size=400) > 0
    tree, grown = secateur.grow(X, y, monotonic_cst=[1, 0, 0], min_samples_leaf=5)
    model = Model(secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    raw = grown.by_class[:, 1] / grown.total
    shares = np.clip(raw, *tree.estimate_limits.T)
    assert (shares != raw)[tree.is_leaf].any()
    page = open_page(report_html(model))
    for c in (0, 1):
        values = page.evaluate(
            f"""Array.from(secateur.tree.labels, (_, v) => secateur.numbers.rankLeaves(
                secateur.tree, [v], 0, {c}, 2)[0].score)"""
        )
        np.testing.assert_allclose(values, shares if c else 1 - shares, rtol=0, atol=1e-12)
    page.click("#tab-evaluation")
    assert "within the limits of the monotone constraints" in page.inner_text("#ranking")


def test_parameters_and_classes_are_shown_as_they_were_given():
    X = np.arange(40.0)[:, None]
    weights, columns = {0: 1.0, 1: 2.5}, [f"c{i}" for i in range(13)]
    fitted = (
        TreeClassifier(prune=None, criterion="gini", class_weight=weights).fit(X, (X[:, 0] > 19.5).astype(int)).model_
    )
    model = replace(fitted, parameters={**fitted.parameters, "names": columns, "few": columns[:12], "nothing": {}})
    data = page_data(read_model(model), "title", is_estimator=True)
    shown = dict(next(entries for name, entries in data["card"] if name == "Parameters"))

    assert shown["class_weight"] == "0 1, 1 2.5"
    assert (shown["names"], shown["nothing"]) == ("13 values", "none")
    assert shown["few"] == str(columns[:12])
    assert data["class_values"] == [0, 1]
    assert all(type(value) is int for value in data["class_values"])


def test_categories_that_are_numbers_keep_their_kind():
    table = secateur.encode([[1.5], [2.0], [-7.0]] * 5, names=["size"], nominal=[0], target=["a", "b", "a"] * 5)
    (column,) = page_data(read_model(as_model(secateur.grow(table))), "title", is_estimator=True)["columns"]

    assert column["values"] == [-7.0, 1.5, 2.0]
    assert all(type(value) is float for value in column["values"])


def test_a_threshold_is_exact_where_its_text_is_rounded():
    X = np.array([[0.1], [0.25], [0.5], [0.75]] * 10)
    model = TreeClassifier(prune=None, criterion="gini").fit(X, ["a", "b", "a", "b"] * 10).model_
    data = page_data(read_model(model), "title", is_estimator=True)
    texts = [text for text in data["threshold"] if text]
    assert texts
    for text, exact in zip(texts, data["exact_threshold"], strict=True):
        assert exact is None or float(text) != exact
    by_text = {
        float(text) if exact is None else exact for text, exact in zip(texts, data["exact_threshold"], strict=True)
    }
    assert by_text == set(model.tree.threshold[model.tree.feature >= 0].tolist())


def test_long_text_is_cut_to_the_number_of_characters():
    assert _clip("abcdef", 6) == "abcdef"
    assert _clip("abcdefg", 6) == "abcde…"
    assert _clip("<b>", 9) == "&lt;b&gt;"
