"""The governance file states what the samples, the files and the monitor show, and nothing else."""

import dataclasses
import datetime as dt
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import secateur
from report_models import hostile_model
from secateur import Bound, Monitor, TreeClassifier, TreeRegressor
from secateur.cli import run
from secateur.errors import ModelFileError, ParameterError
from secateur.modelfile import dumps_model, load_model, loads_model
from secateur.report import Governance, governance

DAY = "2026-03-01"
GOLDEN = Path(__file__).parents[1] / "modelfile" / "golden"


def loans(n, seed):
    """Rows with missing values in two columns, a column that no tree needs, and 10 % wrong labels."""
    rng = np.random.default_rng(seed)
    income, late = rng.integers(10, 100, n).astype(float), rng.integers(0, 5, n)
    frame = pd.DataFrame(
        {"income": income, "late": late, "home": rng.choice(["own", "rent"], n), "noise": rng.random(n)}
    )
    is_good = (income > 40) & (late < 3)
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame.loc[rng.random(n) < 0.05, "home"] = None
    frame["outcome"] = np.where(is_good ^ (rng.random(n) < 0.1), "repaid", "defaulted")
    return frame


@pytest.fixture(scope="module")
def rows():
    return loans(700, 1), loans(400, 2), loans(300, 3)


@pytest.fixture(scope="module")
def model(rows):
    grow, held_out, _ = rows
    estimator = TreeClassifier(criterion="gini", cv=3, cv_repeats=1, certify=True)
    return estimator.fit(
        grow.drop(columns="outcome"), grow["outcome"],
        X_holdout=held_out.drop(columns="outcome"), y_holdout=held_out["outcome"],
    )  # fmt: skip


def sections(model, **options):
    return governance(model, date=DAY, **options).to_dict()["sections"]


def by_name(rows, key):
    return {row[key]: row for row in rows}


def test_what_is_not_stated_is_not_recorded(model):
    responsibility = sections(model)["Purpose and responsibility"]
    assert (responsibility["purpose"], responsibility["owner"]) == ("not recorded", "not recorded")
    assert responsibility["model fitted on"] == "not recorded"
    assert responsibility["file written on"] == DAY
    stated = sections(model, purpose="Lend", owner="Risk", fit_date=dt.date(2026, 2, 3))
    responsibility = stated["Purpose and responsibility"]
    assert (responsibility["purpose"], responsibility["owner"]) == ("Lend", "Risk")
    assert responsibility["model fitted on"] == "2026-02-03"


def test_parameters_are_those_of_the_estimator(model):
    parameters = by_name(sections(model)["Parameters"]["parameters"], "parameter")
    assert (parameters["criterion"]["value"], parameters["cv"]["value"]) == ("gini", "3")
    bare = dataclasses.replace(model.model_, parameters={})
    assert sections(bare)["Parameters"]["parameters"] == "not recorded"


def test_the_date_is_today_unless_it_is_stated(model):
    before = dt.datetime.now(dt.UTC).date()
    written = governance(model).to_dict()["sections"]["Purpose and responsibility"]["file written on"]
    after = dt.datetime.now(dt.UTC).date()
    assert written in {before.isoformat(), after.isoformat()}


def test_equal_arguments_give_equal_files(model):
    first, second = (governance(loads_model(dumps_model(model.model_)), date=DAY) for _ in range(2))
    assert (first.markdown, first.html, first.json) == (second.markdown, second.html, second.json)


def test_missing_values_and_used_columns_are_those_of_the_growing_rows(model, rows):
    columns = by_name(sections(model)["Columns"]["list of columns"], "column")
    grow = rows[0]
    for name in ("income", "late", "home", "noise"):
        n = int(grow[name].isna().sum())
        assert columns[name]["missing in growing"] == f"{n} of 700 ({100 * n / 700:.1f} %)"
    tested = {model.tree_.schema.names[j] for j in model.tree_.feature[model.pruning_.is_kept]}
    assert {name for name, row in columns.items() if row["tested by the tree"] == "yes"} == tested
    assert columns["home"]["kind"] == "nominal"


def test_errors_are_those_of_the_rows(model, rows):
    grow, held_out, _ = rows
    text = " ".join(sections(model)["Error"]["measured"])
    wrong = np.mean(model.predict(held_out.drop(columns="outcome")) != held_out["outcome"])
    constant = min(held_out["outcome"].value_counts(normalize=True))
    assert f"On 400 held-out rows that had no part in making it, it is wrong for {100 * wrong:.1f}\u00a0%" in text
    assert f"would be wrong for {100 * constant:.1f}\u00a0%" in text
    assert "(table)" not in text
    classes = sections(model)["Data"]["classes in growing"]
    for name, n in grow["outcome"].value_counts().items():
        assert f"{name} {n} ({100 * n / 700:.1f}\u00a0%)" in classes


def test_the_certificate_is_that_of_the_model(model, rows):
    certificate = sections(model)["Certificate"]
    assert certificate["statement"] == str(model.certificate_)
    wrong = int(np.sum(model.predict(rows[1].drop(columns="outcome")) != rows[1]["outcome"]))
    assert certificate["found in the sample"] == f"{wrong} errors in 400 rows"


def test_a_model_without_a_certificate_claims_no_limit():
    model = TreeClassifier(select=None).fit([[1.0], [2.0], [4.0], [5.0]], ["no", "no", "yes", "yes"])
    text = governance(model, date=DAY).markdown
    assert "nothing here limits the error on new rows" in text
    assert "confidence" not in text
    assert "certifying" not in text


CLAIMS = {  # what is not checked, and the certificates for which the file says so
    "Whether the certifying rows were used before (no sketch).": {"is_checked": False, "freshness": "no sketch"},
    "The certificate: it is stated in the model file and was not computed again.": {"stated": "the model file"},
    "Whether equal rows are copies: the caller stated that all rows are independent draws.": {"repeats": "independent"},
    "Whether the certifying rows are copies of one another or of growing rows.": {"repeats": "unknown"},
    "copies of some rows would not have been noticed.": {"repeats": "natural", "copies_detectable": False},
    "Whether the certifying groups are independent and come from where new rows will come from.": {"unit": "group"},
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_is_not_checked_follows_from_the_certificate(model, claim):
    checked = {"repeats": "natural", "copies_detectable": True, "is_checked": True, "stated": "", "unit": "row"}
    for fields, is_stated in ((CLAIMS[claim], True), ({}, False)):
        bound = dataclasses.replace(model.certificate_, **{**checked, **fields})
        fitted = dataclasses.replace(model.model_, certificate=bound)
        assert any(claim in text for text in sections(fitted)["What was not checked"]["not checked"]) is is_stated


def test_an_uncertified_limit_is_no_guarantee(model):
    bound = Bound(0.2, 0.05, "quarter bit", 400, 40, certified=False, reason="the prior is not one")
    certificate = sections(dataclasses.replace(model.model_, certificate=bound))["Certificate"]
    assert certificate["statement"].startswith("Not a guarantee")
    assert "assumptions" not in certificate


def test_monitoring_is_that_of_the_monitor(model, rows, tmp_path):
    fresh = rows[2]
    monitor = Monitor(model)
    status = monitor.update(fresh.drop(columns="outcome"), fresh["outcome"])
    monitor.save(tmp_path / "state.json")
    unchecked = sections(model)["What was not checked"]["not checked"]
    assert "Whether rows have changed since the model was made: no monitoring results were given." in unchecked
    for given in (monitor, tmp_path / "state.json"):
        parts = sections(model, monitor=given)
        assert parts["Monitoring"]["status"] == str(status)
        leaf_of_row = model.apply(fresh.drop(columns="outcome"))
        is_wrong = model.predict(fresh.drop(columns="outcome")) != fresh["outcome"]
        n_rows = sorted(
            (int(np.sum(leaf_of_row == v)), int(is_wrong[leaf_of_row == v].sum())) for v in set(leaf_of_row)
        )
        listed = [(int(row["rows"]), int(row["errors"])) for row in parts["Monitoring"]["rules"]]
        assert sorted(pair for pair in listed if pair[0]) == n_rows
        assert not any("no monitoring" in text for text in parts["What was not checked"]["not checked"])


def test_population_groups_are_those_that_were_certified(rows):
    grow, _, fresh = rows
    model = TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(grow.drop(columns="outcome"), grow["outcome"])
    assert "nothing here limits the error in any population group" in sections(model)["Population groups"]["groups"]
    X, y = fresh.drop(columns="outcome"), fresh["outcome"]
    group = np.where(fresh["late"] > 2, "often", "rarely")
    counts = secateur.count_groups(model.tree_, X, y, group=group)
    rates = secateur.certify_groups(model.pruning_, counts)
    fitted = dataclasses.replace(model.model_, holdout=counts, group_rates=(rates,))
    parts = sections(fitted)
    (table,) = (value for name, value in parts["Population groups"].items() if name.endswith("(table)"))
    is_wrong = model.predict(X) != y
    for row in (row for row in table if row["rate"] == "error" and row[rates.column] in ("often", "rarely")):
        is_wrong_there = is_wrong[group == row[rates.column]]
        assert row["rows"] == f"{is_wrong_there.sum()} of {len(is_wrong_there)}"
        assert row["sample"] == f"{100 * is_wrong_there.mean():.1f} %"
    assert {row["rate"] for row in table} == set(rates.rates)
    assert str(rates) in parts["Population groups"].values()
    assert not any("population groups alike" in text for text in parts["What was not checked"]["not checked"])


def test_the_monitor_of_another_model_is_refused(model, rows):
    other = TreeClassifier(select=2).fit(rows[0].drop(columns="outcome"), rows[0]["outcome"])
    with pytest.raises(ModelFileError, match="the monitor is that of another model"):
        governance(model, monitor=Monitor(other, limit=0.3))
    with pytest.raises(ParameterError, match="monitor=3; a Monitor"):
        governance(model, monitor=3)


def test_writing_the_file_uses_up_no_rows(rows):
    grow, held_out, _ = rows
    model = TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(grow.drop(columns="outcome"), grow["outcome"])
    counts = secateur.count(model.tree_, held_out.drop(columns="outcome"), held_out["outcome"], sample="fresh")
    fitted = dataclasses.replace(model.model_, holdout=counts)
    assert governance(fitted).html
    assert secateur.certify(fitted.pruning, counts).complexity == 0


def test_files_have_the_hashes_of_their_bytes(tmp_path, rows):
    grow, held_out, _ = rows
    grow.to_csv(tmp_path / "loans.csv", index=False)
    held_out.to_csv(tmp_path / "later.csv", index=False)
    path = tmp_path / "tree.json"
    options = ["--criterion", "gini", "--cv", "3", "--holdout", str(tmp_path / "later.csv"), "-q", "-o", str(path)]
    assert run(["fit", str(tmp_path / "loans.csv"), "--target", "outcome", *options]) == 0
    files = by_name(sections(load_model(path), model_file=path)["Data"]["files"], "file")
    for name, use in (("loans.csv", "grew"), ("later.csv", "held out"), ("tree.json", "contains the model")):
        data = (tmp_path / name).read_bytes()
        assert files[name]["SHA-256"] == hashlib.sha256(data).hexdigest()
        assert files[name]["bytes"] == f"{len(data):,}"
        assert files[name]["use"].startswith(use)


def test_rows_in_memory_have_no_recorded_file(model, tmp_path):
    parts = sections(model)
    assert parts["Data"]["files"][0]["file"] == "not recorded"
    assert "Which data files the growing rows came from." in parts["What was not checked"]["not checked"]
    file = tmp_path / "said.csv"
    file.write_text("a,b\n")
    parts = sections(model, data=file)
    assert "whether the model was made from it is not recorded" in parts["Data"]["files"][0]["use"]
    assert "Which data files the growing rows came from." in parts["What was not checked"]["not checked"]


def test_numbers_of_missing_values_that_no_fit_recorded_are_not_stated(model):
    fitted = dataclasses.replace(model.model_, metadata={"files": "loans.csv", "missing_values": [3]})
    columns = by_name(sections(fitted)["Columns"]["list of columns"], "column")
    assert columns["income"]["missing in growing"] == "some; number not recorded"
    assert columns["late"]["missing in growing"] == "0"
    assert sections(fitted)["Versions"]["model fitted with"] == "not recorded"
    assert sections(fitted)["Data"]["files"][0]["file"] == "not recorded"


def test_changes_by_hand_are_stated(model):
    assert "changed by hand" not in sections(model)["How the tree was made"]
    edits = [{"text": "node 3: split on late"}, {"text": "node 5: a leaf"}]
    fitted = dataclasses.replace(model.model_, metadata={"edits": edits})
    assert sections(fitted)["How the tree was made"]["changed by hand"] == ["node 3: split on late", "node 5: a leaf"]


def test_a_regression_tree_has_a_file():
    X = np.random.default_rng(0).random((200, 2))
    model = TreeRegressor(cv=3, cv_repeats=1).fit(X, X[:, 0] > 0.5)
    parts = sections(model)
    assert parts["Purpose and responsibility"]["predicts"].startswith("numbers")
    assert "root mean square" in parts["Error"]["measured"][0]


def test_a_tree_with_surrogates_is_shown_as_a_tree():
    X, y = np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) % 2
    model = TreeClassifier(surrogates=2, select=3).fit(X + y[:, None], y)
    assert "\n".join(sections(model)["The tree"]["tree"]) == model.export_text()


@pytest.mark.parametrize(
    "path", sorted(GOLDEN.glob("*model*.json")) + sorted(GOLDEN.glob("*regression*.json")), ids=lambda path: path.stem
)
def test_models_of_earlier_versions_have_a_file(path):
    parts = sections(load_model(path))
    assert parts["Versions"]["model fitted with"] == "not recorded"
    assert parts["Data"]["files"][0]["file"] == "not recorded"


class _Cells(HTMLParser):
    """Collect the tags of a page and the text of its cells."""

    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text.append(data)


def test_names_from_data_are_text_only():
    file = governance(hostile_model(), date=DAY, owner="<script>alert(1)</script> | *x*\n# y")
    parser = _Cells()
    parser.feed(file.html)
    assert parser.tags <= set(
        [
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "main",
            "h1",
            "h2",
            "h3",
            "p",
            "dl",
            "dt",
            "dd",
            "table",
            "caption",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "ul",
            "li",
            "pre",
        ]
    )
    for line in file.markdown.splitlines():
        if not line.startswith("    "):
            assert not re.search(r"(?<!\\)<", line), line
    tables = re.findall(r"^\| .*$", file.markdown, re.MULTILINE)
    assert all(re.split(r"(?<!\\)\|", line)[-1] == "" for line in tables)
    assert json.loads(file.json)["sections"]["Purpose and responsibility"]["owner"].startswith("<script>")


@pytest.mark.parametrize("ending", [".md", ".html", ".json"])
def test_every_format_states_the_same(model, tmp_path, ending):
    path = tmp_path / f"card{ending}"
    file = model.governance(path, date=DAY)
    text = path.read_text(encoding="utf-8")
    assert isinstance(file, Governance)
    for section in file.sections:
        assert section.title in text
        for entry in section.entries:
            assert entry.name in text
    assert str(model.certificate_.n) in text


@pytest.mark.parametrize("kind", [list, tuple])
def test_several_files_may_hold_data_but_only_one_the_model(model, tmp_path, kind):
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n")

    assert sections(model, data=kind([file]))["Data"]["files"][0]["file"] == "rows.csv"
    with pytest.raises(ParameterError, match=r"model_file=.*the path of a file is needed"):
        sections(model, model_file=kind([file]))


def test_other_endings_are_refused(model, tmp_path):
    with pytest.raises(ParameterError, match=r"'.*card.txt' has no known format; end its name with .md, .html, .json"):
        model.governance(tmp_path / "card.txt")


def test_a_large_tree_lists_no_rules():
    X = np.arange(300.0).reshape(-1, 1)
    model = TreeClassifier(select=None, prune=None).fit(X, (np.arange(300) % 2).astype(str))
    assert sections(model)["The tree"]["rules"] == "not listed: the tree has 300 leaves"
