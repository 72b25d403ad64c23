"""The report as a file: its arguments, its content and its size."""

import base64
import hashlib
import html.parser
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import secateur
from report_models import CLASSES, HOSTILE, hostile_rows, random_model
from secateur import Bound, Counts, Pruning, Tree, TreeClassifier, TreeRegressor, datasets, grow, prune
from secateur.certifiers import path
from secateur.core.model import Model, as_model
from secateur.core.moments import Moments
from secateur.errors import OutputError, SecateurError, UnsupportedError
from secateur.pruners import best_of_size, cost_complexity, reduced_error
from secateur.report import Report, notebook_html, report_html, write_report
from secateur.report._card import pruning_entries
from secateur.report._shown import read_model
from secateur.report._static import picture, static_html


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL).group(1))


class Seen(html.parser.HTMLParser):
    """What a browser would see of a page: its elements and their attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_the_policy_names_the_only_script_and_style(model):
    page = report_html(model)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)

    assert policy.startswith("default-src 'none'")
    for kind, texts in (("script-src", scripts), ("style-src", styles)):
        assert len(texts) == 1
        digest = base64.b64encode(hashlib.sha256(texts[0].encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_the_page_makes_no_request_and_has_no_inline_style_or_handler(model):
    for tag, attributes in Seen(report_html(model)).found:
        assert tag not in ("img", "iframe", "object", "embed")
        assert tag != "link" or (attributes["rel"] == "icon" and attributes["href"].startswith("data:image/svg+xml,"))
        assert not {name for name in attributes if name.startswith("on") or name in ("src", "style")}


def test_hostile_names_are_escaped_everywhere(model):
    page = report_html(model, title=HOSTILE)

    assert HOSTILE not in page
    assert CLASSES[0] not in page
    assert data_of(page)["columns"][2]["name"] == HOSTILE
    assert CLASSES[0] in data_of(page)["classes"]
    assert "\u202e" not in page


def test_the_page_and_python_compute_the_same_errors_of_members(model):
    stops = data_of(report_html(model))["stops"]
    of_member = [(m, at) for at, m in enumerate(stops["member"]) if m >= 0]

    assert [m for m, _ in of_member] == list(range(len(model.sequence)))
    for place, sample in enumerate((model.grown, model.holdout)):
        assert [stops["errors"][place][at] for _, at in of_member] == model.sequence.errors_on(sample).tolist()


def test_the_scores_of_members_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)).round(2)
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    model = TreeClassifier(criterion="gini", cv=2, cv_repeats=1, scoring="log_loss").fit(X, y)
    stops = data_of(report_html(model))["stops"]

    for n_leaves in (2, 3):
        score = stops["scores"][0][stops["leaves"].index(n_leaves)]
        assert score == pytest.approx(metrics.log_loss(y, model.prune_to(n_leaves=n_leaves).predict_proba(X)), rel=1e-6)


def test_the_whole_tree_and_a_pruning_that_is_no_member_are_stops_too():
    tree, grown, holdout = random_model(60)
    pruning = reduced_error(tree, grown, holdout)

    data = data_of(report_html(Model(pruning, grown, holdout)))

    fitted = data["marks"]["fitted"]
    assert data["names"][str(fitted)] == "as fitted"
    assert data["cuts"][str(fitted)] == pruning.cuts.tolist()
    assert data["stops"]["leaves"][fitted] == pruning.n_leaves
    assert data["stops"]["errors"][1][fitted] == pruning.errors(holdout)
    assert data["stops"]["leaves"][0] == tree.n_leaves
    assert data["stops"]["leaves"] == sorted(data["stops"]["leaves"], reverse=True)


def test_no_path_limit_is_shown_where_the_sample_made_the_sequence(model):
    sequence = prune(model.tree, model.grown)
    spoilt = type(sequence)(
        sequence.tree, sequence.n_leaves, sequence.errors, alphas=sequence.alphas, steps=sequence.steps,
        node_labels=sequence.node_labels, seen={"grow", "prune"},
    )  # fmt: skip

    assert "bound" in data_of(report_html(model))["stops"]
    assert "bound" not in data_of(report_html(Model(sequence[1], model.grown, model.holdout, spoilt)))["stops"]


@pytest.mark.filterwarnings("ignore:.*copies of rows")
@pytest.mark.parametrize("rule", ["errors", "independent"])
def test_limits_of_the_path_take_equal_rows_as_the_certificate_does(model, rule):
    rows, target = hostile_rows(300, 2)
    holdout = secateur.count(model.tree, rows + rows[:100], target + target[:100], sample="prune")
    certificate = replace(model.certificate, repeats="independent" if rule == "independent" else "natural")
    page = report_html(replace(model, holdout=holdout, certificate=certificate))
    limits = [bound.value for bound in path(model.sequence, holdout, repeats=rule)]

    stops = data_of(page)["stops"]
    shown = [bound for member, bound in zip(stops["member"], stops["bound"], strict=True) if member >= 0]
    assert shown == pytest.approx([limits[member] for member in stops["member"] if member >= 0], rel=1e-6)


def test_no_limit_is_promised_for_classes_that_the_held_out_sample_chose():
    tree, grown, holdout = random_model(40)
    pruning = reduced_error(tree, grown, holdout, labels="prune")

    limit = data_of(report_html(Model(pruning, grown, holdout)))["limit"]

    assert "chose the classes" in limit["why_not"]


@pytest.mark.parametrize(
    "parts",
    [
        lambda t, g, h, s: (t, g),
        lambda t, g, h, s: (t, g, h),
        lambda t, g, h, s: (s, g, h),
        lambda t, g, h, s: [g, s[1]],
        lambda t, g, h, s: g,
    ],
)
def test_parts_are_taken_in_any_order(parts):
    tree, grown, holdout = random_model(12)

    assert "<!doctype html>" in report_html(parts(tree, grown, holdout, prune(tree, grown)))


@pytest.mark.parametrize("wrong", [None, 3, "model", (1, 2), Tree.from_parents([-1, 0, 0])])
def test_an_object_that_is_not_a_model_is_refused_with_advice(wrong):
    with pytest.raises(UnsupportedError, match="cannot be reported; a fitted estimator"):
        report_html(wrong)


def test_counts_of_another_tree_are_refused():
    _, grown, _ = random_model(12)

    with pytest.raises(SecateurError):
        report_html((Pruning.from_cuts(Tree.from_parents([-1, 0, 0]), [], node_labels=[0, 0, 0]), grown))


def shares_of(page, tmp_path):
    """The limits as the scripts of the page unpack them, in tenths of a percent."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine; the browser tests look at the same numbers")
    folder = Path(secateur.report.__file__).parent / "page"
    (tmp_path / "data.json").write_text(json.dumps(data_of(page)), "utf-8")
    script = "".join((folder / name).read_text("utf-8") for name in ("numbers.js", "data.js"))
    script += "const raw = JSON.parse(require('fs').readFileSync(process.argv[2]));"
    script += "console.log(JSON.stringify(Array.from(unpackTree(raw).shareLimits)));"
    (tmp_path / "script.js").write_text(script, "utf-8")
    process = subprocess.run(
        [node, tmp_path / "script.js", tmp_path / "data.json"], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(process.stdout)


@pytest.mark.parametrize("kind", ["two classes", "three classes", "a class that was not held out", "empty nodes"])
def test_limits_on_class_shares_are_those_of_all_nodes(kind, model, tmp_path):
    if kind == "two classes":
        model = as_model(random_model(40, rows=30.0))
    elif kind == "empty nodes":
        model = as_model(random_model(40, rows=0.3))
    elif kind == "a class that was not held out":
        tree, grown, held = random_model(40, rows=30.0)
        more = Counts.from_leaves(tree, np.pad(grown.by_class[tree.is_leaf], ((0, 0), (0, 1)), constant_values=1))
        model = as_model((tree, more, held))
    held_out = model.holdout.by_class
    held_out = np.pad(held_out, ((0, 0), (0, model.grown.n_classes - held_out.shape[1])))
    n_nodes, n_classes = held_out.shape
    n = held_out.sum(axis=1, keepdims=True)
    sides = 2 if n_classes == 2 else 2 * n_classes
    upper = stats.beta.ppf(1 - 0.05 / n_nodes / sides, held_out + 1, np.maximum(n - held_out, 1e-9))
    expected = np.where((n == held_out) | (n == 0), 1.0, upper)

    found = np.reshape(shares_of(report_html(model), tmp_path), held_out.shape)
    assert (found >= 1000 * expected - 1e-6).all()
    assert (found <= 1000 * expected + 1).all()


@pytest.mark.parametrize(
    "bound",
    [
        Bound(0.2, 0.05, "x", 400, 60, certified=False, reason="no prior"),
        Bound(2.0, 0.05, "x", 400, 60, quantity="cost", scale=5.0),
        Bound(0.2, 0.05, "x", 400, 60, predictor="a vote"),
    ],
)
def test_only_a_guarantee_for_the_error_of_the_tree_is_its_limit(model, bound):
    data = data_of(report_html(replace(model, certificate=bound)))

    assert data["certified"] is None
    assert data["certificate"] == str(bound)
    assert data_of(report_html(model))["certified"] == model.certificate.value


def test_limits_on_class_shares_are_omitted_if_the_rows_allow_none():
    tree, grown, held = random_model(12)
    weights = Counts.from_leaves(tree, held.by_class[tree.is_leaf] * 0.5, sample="prune")

    assert data_of(report_html((tree, grown, held)))["shares"]["delta"] == 0.05
    assert data_of(report_html((tree, grown)))["shares"] is None
    assert data_of(report_html((tree, grown, weights)))["shares"] is None
    assert data_of(report_html((tree, grown, Counts(tree, held.by_class, "grow"))))["shares"] is None


def test_a_file_is_written_whole_and_replaced_only_if_allowed(model, tmp_path):
    target = tmp_path / "new" / "report.html"
    with pytest.raises(OutputError, match=r"cannot be written \(No such file"):
        write_report(model, target)
    target.parent.mkdir()

    assert write_report(model, target) == target
    assert target.read_text("utf-8") == report_html(model)
    assert [path.name for path in target.parent.iterdir()] == ["report.html"]
    with pytest.raises(OutputError, match="exists; pass overwrite=True"):
        write_report(model, target, overwrite=False)
    with pytest.raises(OutputError, match="is a folder"):
        write_report(model, tmp_path)


def test_the_same_model_gives_the_same_page(model):
    assert report_html(model) == report_html(model)


def test_the_card_states_the_guarantee_of_prediction_intervals():
    X = np.random.default_rng(0).normal(size=(300, 2)).round(4)
    certified = TreeRegressor(cv=3, certify=True, max_residual=20).fit(X, X[:, 0])
    page = report_html(certified.model_)
    assert "With a probability of at least 90 %, over the draw of the 100 held-out rows" in page
    assert "the mean absolute error on new rows like these is at most" in page
    assert "With a probability of at least" not in report_html(certified.prune_to(n_leaves=2).model_)


def test_the_card_states_the_guarantee_of_the_rule(model):
    pruning = replace(model.pruning, certified=False, note="too <few> rows")
    held = replace(model.pruning, certified=True)

    assert ["guarantee of the rule", "does not hold: too <few> rows"] in pruning_entries(
        replace(model, pruning=pruning)
    )
    assert ["guarantee of the rule", "holds"] in pruning_entries(replace(model, pruning=held))


def test_a_report_shows_itself_in_a_notebook(model):
    report = Report(model, "A <title>")
    (tag, attributes), *rest = Seen(report._repr_html_()).found

    assert tag == "iframe"
    assert not rest
    assert attributes["srcdoc"] == report.html
    assert attributes["sandbox"] == "allow-scripts allow-downloads"
    assert notebook_html(model, height=400).count('height="400"') == 1


def test_an_estimator_brings_its_own_names(model):
    class Fitted:
        model_ = model

    code = data_of(report_html(Fitted()))["code"]
    assert "model.sequence_" in Report(model, is_estimator=True)._repr_html_()
    fitted = TreeClassifier(criterion="gini", cv=2).fit([[0.0], [1.0]] * 9, [0, 1] * 9)
    assert "model.sequence_" in fitted.report()._repr_html_()

    assert code["sequence"] == "model.sequence_"
    assert data_of(report_html(model))["code"]["sequence"] == "model.sequence"


def test_a_tree_of_one_leaf_has_a_page():
    tree = Tree.from_parents([-1])

    data = data_of(report_html((tree, Counts.from_leaves(tree, [[5, 3]]))))

    assert data["stops"]["leaves"] == [1]


def test_a_sample_of_one_row_is_described():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[3, 0], [0, 4]])
    one = Counts.from_leaves(tree, [[1, 0], [0, 0]], sample="prune")

    assert "On 1 held-out row" in report_html((tree, grown, one))


def test_an_empty_sample_has_a_page():
    tree = Tree.from_parents([-1, 0, 0])
    empty = Counts.from_leaves(tree, [[0, 0], [0, 0]])

    assert data_of(report_html((tree, empty, Counts.from_leaves(tree, [[0, 0], [0, 0]], sample="prune"))))


def test_weights_and_numbers_have_pages():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    weights = Counts.from_leaves(tree, [[0.5, 1.25], [2.0, 0.1], [0.3, 3.0]])
    moments = Moments(tree, [4, 3, 2, 1, 1], [2.5, 2.0, 1.5, 3.0, 4.0], [9.0, 4.5, 1.0, 0.5, 0.0])
    sequence = cost_complexity(tree, None, cost=moments.squared_errors_if_leaf(moments.mean))

    assert data_of(report_html((tree, weights)))["samples"][0]["is_whole"] is False
    data = data_of(report_html(Model(sequence[0], moments, None, sequence)))
    assert data["kind"] == "numbers"
    assert data["stops"]["errors"][0] == pytest.approx(sequence.errors.tolist(), rel=1e-6)


def test_a_sequence_that_is_not_nested_is_stored_as_changes():
    tree, grown, _ = random_model(30)
    sequence = best_of_size(tree, grown)
    data = data_of(report_html(Model(sequence[3], grown, None, sequence)))

    kept = set(tree.internal.tolist())
    for member, changes in zip(data["stops"]["member"], data["changes"], strict=True):
        kept ^= set(changes)
        if member >= 0:
            assert kept == set(np.flatnonzero(sequence[member].is_kept).tolist())


def test_a_very_deep_tree_has_a_page():
    n = 20_000
    tree = Tree.from_parents(np.append(-1, np.repeat(np.arange(0, 2 * n, 2), 2)))
    grown = Counts.from_leaves(tree, np.tile([[2, 1], [0, 1]], (n, 1))[: tree.n_leaves])

    assert len(report_html((tree, grown))) < 15e6


def test_pages_are_small():
    tree, counts = grow(datasets.led24(2000))
    assert tree.n_leaves > 500
    page = report_html((tree, counts))

    assert len(page.encode()) < 170_000 + 180 * tree.n_leaves


@pytest.mark.parametrize(("n_leaves", "limit"), [(1000, 350_000), (20_000, 15_000_000)])
def test_a_report_keeps_within_its_size(n_leaves, limit):
    tree, grown, holdout = random_model(n_leaves)

    assert len(report_html((tree, grown, holdout)).encode()) < limit


def test_without_scripts_the_fitted_tree_is_drawn_and_listed_as_rules(model):
    page = report_html(model)
    static = page.split("<noscript>")[1].split("</noscript>")[0]

    assert static.count("<circle") == np.count_nonzero(model.pruning.is_kept)
    assert static.count("<tr>") == model.pruning.n_leaves + 1
    assert "With 95 % confidence" in static
    assert len(re.findall(r"[\d.]+ % of \d+ held out \(at least [\d.]+ %\)", static)) == model.pruning.n_leaves


def test_without_scripts_a_large_tree_is_folded():
    tree, grown, _ = random_model(3000)
    static = report_html((tree, grown)).split("<noscript>")[1].split("</noscript>")[0]

    assert "leaves, " in static
    assert len(static) < 30_000


@pytest.mark.parametrize("rows", [(10, 100), (100, 10)])
def test_a_small_picture_opens_the_branch_with_more_rows(rows):
    tree = Tree.from_parents([-1, 0, 1, 1, 1, 0, 5, 5, 5])  # two branches of three leaves
    grown = Counts.from_leaves(tree, [[n, 0] for n in rows for _ in range(3)])
    drawn = picture(as_model((tree, grown)), n_leaves=4)

    assert f"+3 leaves, {3 * min(rows)} rows" in drawn
    assert drawn.count("<circle") == 2


@pytest.mark.parametrize("n_leaves", [2, 9])
def test_without_scripts_every_line_is_inside_the_picture(n_leaves):
    drawn = picture(as_model(random_model(n_leaves)))
    height = float(re.search(r'height="([\d.-]+)"', drawn)[1])
    lines = [float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.-]+)"', drawn)]

    assert min(lines) > 0
    assert height - 40 < max(lines) < height


def test_without_scripts_a_model_without_a_certificate_has_no_paragraph_about_one(model):
    assert static_html(read_model(model)).startswith("<p>With 95 % confidence")
    assert "<p>" not in static_html(read_model(replace(model, certificate=None)))


def test_means_of_held_out_rows_are_not_limited():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3)).round(1)
    y = X[:, 0] + 2 * X[:, 1] * X[:, 2] + rng.normal(size=400)
    tree, grown = secateur.grow(X, y, monotonic_cst=[1, 0, 0], criterion="squared_error", min_samples_leaf=5)
    held_out = secateur.count(tree, X[:50], y[:50] + 9, sample="prune")
    model = Model(secateur.Pruning.from_cuts(tree, []), grown, holdout=held_out)
    samples = data_of(report_html(model))["samples"]
    np.testing.assert_allclose(samples[0]["mean"], grown.predictions, rtol=1e-6)
    np.testing.assert_allclose(samples[1]["mean"], held_out.mean, rtol=1e-6)
