"""No text, figure or page calls another score, by which a tree was chosen, an error."""

import json
import re

import matplotlib as mpl
import numpy as np
import pytest

from secateur import TreeClassifier, TreeRegressor
from secateur.cli import run
from secateur.errors import UnsupportedError
from secateur.model_selection import path_table
from secateur.plot import PruningPathDisplay, SelectionDisplay
from secateur.report import report_html

mpl.use("agg")


@pytest.fixture(scope="module")
def by_log_loss():
    return TreeClassifier(criterion="gini", scoring="log_loss").fit(*random_rows())


def random_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    return X, (rng.random(400) < 1 / (1 + np.exp(2 - 2 * X[:, 0]))).astype(int)


def test_the_summary_names_the_score_and_writes_it_as_a_number(by_log_loss):
    text = str(by_log_loss.summary())

    assert re.search(r"alpha +log loss +std\. error", text)
    score = by_log_loss.selection_.error[by_log_loss.selection_.chosen]
    # In the table of scores and errors, the row of cross-validation has no error, which nobody measured.
    assert re.search(rf"^cross-validation +{score:.6g} *$", text, re.MULTILINE)
    assert f"{by_log_loss.selection_.error[by_log_loss.selection_.chosen]:.6g}" in text


def test_the_page_draws_the_score_that_chose_the_tree_and_no_errors_in_its_chart(by_log_loss):
    page = report_html(by_log_loss)
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])

    selection = by_log_loss.selection_
    assert data["currency"]["name"] == "log loss"
    assert data["stops"]["cv"] == pytest.approx(selection.error.tolist(), rel=1e-6)
    assert data["marks"]["best"] == selection.best
    assert data["marks"]["one_se"] == selection.chosen
    assert any(name == "least log loss" for part in data["card"] for name, *_ in part[1])


def test_figures_name_the_score_or_leave_it_out(by_log_loss):
    display = SelectionDisplay.from_estimator(by_log_loss).plot()

    assert display.ax_.get_ylabel() == "log loss"
    assert display.limit is None
    assert not any(
        "one standard error" in line.get_label() and "least" in line.get_label() for line in display.ax_.lines
    )
    path = PruningPathDisplay.from_estimator(by_log_loss).plot()
    assert path.ax_.get_ylabel() == "log loss"
    assert path.ax_.get_title() == "Log loss along the pruning sequence"
    growing, cross_validated = path.curves
    assert cross_validated.error.tolist() == by_log_loss.selection_.error.tolist()
    member = by_log_loss.selection_.chosen
    assert growing.error[member] == pytest.approx(growing_log_loss(by_log_loss))


def growing_log_loss(model):
    X, y = random_rows()
    return -np.mean(np.log(model.predict_proba(X)[np.arange(len(y)), y]))


def test_the_path_on_the_command_line_has_the_score_and_the_error(by_log_loss, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    by_log_loss.save(tmp_path / "tree.json")

    assert run(["path", str(tmp_path / "tree.json"), "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert run(["path", str(tmp_path / "tree.json")]) == 0
    printed = capsys.readouterr().out

    selection = by_log_loss.selection_
    X, y = random_rows()
    members = table["members"]
    assert table["score"] == "log_loss"
    assert members["cross_validated_log_loss"] == pytest.approx(selection.error.tolist())
    assert members["growing_log_loss"][selection.chosen] == pytest.approx(growing_log_loss(by_log_loss))
    assert members["growing"][selection.chosen] == pytest.approx(np.mean(by_log_loss.predict(X) != y))
    assert "cross-val. log loss" in printed
    assert "growing error" in printed


def test_no_accuracy_is_read_from_another_score(by_log_loss):
    assert "cross_validated" not in path_table(by_log_loss.model_)
    with pytest.raises(UnsupportedError, match="measured by their log loss, which is not an accuracy"):
        by_log_loss.prune_to(accuracy=0.8)
    X, y = [[float(i)] for i in range(40)], [0, 1] * 20
    with pytest.raises(UnsupportedError, match=r"select=0\.9 is an accuracy, and scoring='brier' measures none"):
        TreeClassifier(select=0.9, scoring="brier").fit(X, y)
    with pytest.raises(UnsupportedError, match="is an accuracy"):
        TreeRegressor(select=0.9, scoring="absolute_error").fit(X, [float(i) for i in range(40)])


def test_the_mark_of_one_standard_error_is_the_member_that_the_rule_chose(by_log_loss):
    selection = by_log_loss.selection_

    assert selection.select == "1se"
    assert selection.one_se == selection.chosen
