"""The numbers of summaries, explanations and evaluations are those of the model and of other libraries."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import secateur
from secateur import Counts, Model, Pruning, Tree, TreeClassifier, TreeRegressor
from secateur.cli import run
from secateur.errors import CountsError, ParameterError, TreeError
from secateur.inspection import evaluate, explain, summary


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    found = pd.DataFrame({"age": rng.uniform(20, 80, 600), "income": rng.uniform(1, 9, 600)})
    found["region"] = rng.choice(["north", "south", "west"], 600)
    is_bad = (found.age < 35) & (found.region != "west") | (found.income < 2)
    found["loan"] = np.where(is_bad ^ (rng.random(600) < 0.1), "default", "repaid")
    return found


@pytest.fixture(scope="module")
def model(frame):
    X = frame[["age", "income", "region"]]
    return TreeClassifier(criterion="gini", cv=3, cv_repeats=1, certify=True, random_state=0).fit(
        X[:400], frame.loan[:400]
    )


def test_a_summary_fits_a_terminal_and_has_sizes_errors_and_certificate(model):
    text = str(model.summary())

    assert max(map(len, text.splitlines())) <= 80
    assert f"TreeClassifier: {model.get_n_leaves()} of {model.tree_.n_leaves} leaves" in text
    chosen = next(line for line in text.splitlines() if line.startswith(">"))
    assert int(chosen.split()[1]) == model.selection_.sequence.n_leaves[model.selection_.chosen]
    for part in ("cross-validation", "held out", "importance: ", "With 95 % confidence"):
        assert part in text
    plain = model.summary().to_dict()
    assert json.loads(json.dumps(plain))["leaves"] == model.get_n_leaves()
    assert sum(plain["importances"].values()) == pytest.approx(1)
    assert list(plain["importances"].values()) == model.feature_importances_.tolist()


def test_every_kind_of_tree_has_a_summary(frame):
    X = frame[["age"]]
    for made in (TreeRegressor(cv=3), TreeClassifier(prune=None), TreeClassifier(prune="pessimistic")):
        y = frame.income if isinstance(made, TreeRegressor) else frame.loan
        assert "leaves" in str(made.fit(X, y).summary())


def test_importances_follow_the_criterion_also_where_nothing_was_cross_validated(frame):
    X = frame[["age", "income", "region"]]
    fitted = TreeClassifier(criterion="gain_ratio", prune="pessimistic").fit(X, frame.loan)
    score, total = fitted.tree_.score, fitted.counts_.total
    shares = np.zeros(X.shape[1])
    for v in np.flatnonzero(fitted.pruning_.is_kept):  # the drop of the entropy: the ratio times what it was divided by
        parts = total[list(fitted.tree_.children(v))] / total[v]
        shares[fitted.tree_.feature[v]] -= score[v] * total[v] * (parts * np.log2(parts)).sum()

    expected = pytest.approx((shares / shares.sum()).tolist())
    assert fitted.feature_importances_.tolist() == expected
    assert list(fitted.summary().to_dict()["importances"].values()) == expected


def test_an_explanation_follows_the_row_and_its_change_works(model, frame):
    for k in range(400, 420):
        row = frame[["age", "income", "region"]].iloc[[k]]
        explanation = model.explain(row, actionable=["age", "income"])
        assert explanation.path.leaf == model.apply(row)[0]
        assert explanation.path.prediction == model.predict(row)[0]
        if explanation.change is not None:
            changed = row.copy()
            for change in explanation.change.changes:
                assert change.column in ("age", "income")
                changed[change.column] = change.new
            assert model.predict(changed)[0] == explanation.change.prediction != explanation.path.prediction
        assert explanation.n_held_out == 0 or all(
            low <= share <= high for share, low, high in explanation.limits.values()
        )


def test_rows_are_given_in_any_form(model, frame):
    row = frame[["age", "income", "region"]].iloc[5]
    shown_text = {
        str(model.explain(one))
        for one in (row, row.to_dict(), row.tolist(), frame[["age", "income", "region"]].iloc[[5]])
    }

    assert len(shown_text) == 1
    assert "prediction: " in shown_text.pop()
    with pytest.raises(ParameterError, match="did you mean 'region'"):
        model.explain({"regoin": "north"})
    assert str(model.explain(row, wanted="default").change or "").endswith(("default", ""))
    with pytest.raises(ParameterError, match="did you mean 'default'"):
        model.explain(row, wanted="defualt")


def test_an_evaluation_is_what_scikit_learn_measures(model, frame):
    X, y = frame[["age", "income", "region"]][400:], frame.loan[400:]
    evaluation = model.evaluate(X, y, false_negative=5)
    score = secateur.routing.prediction.predict_proba(model.model_, X)[:, 0]

    assert evaluation.positive == "default"
    assert evaluation.error == pytest.approx(1 - model.score(X, y))
    assert (
        evaluation.confusion.tolist() == metrics.confusion_matrix(y, model.predict(X), labels=model.classes_).tolist()
    )
    assert evaluation.ranking.auc == pytest.approx(metrics.roc_auc_score(y == "default", score))
    assert evaluation.brier == pytest.approx(2 * metrics.brier_score_loss(y == "default", score))
    low, high = evaluation.error_limits
    assert low < evaluation.error < high
    text = str(evaluation)
    assert max(map(len, text.splitlines())) <= 120
    for part in ("AUC", "KS", "lift", "least cost"):
        assert part in text
    json.dumps(evaluation.to_dict(), allow_nan=False)


def test_numbers_are_evaluated_too(frame):
    model = TreeRegressor(cv=3, random_state=0).fit(frame[["age"]][:400], frame.income[:400])
    evaluation = model.evaluate(frame[["age"]][400:], frame.income[400:])

    assert evaluation.r2 == pytest.approx(model.score(frame[["age"]][400:], frame.income[400:]))
    assert evaluation.ranking is None
    assert "R2" in str(evaluation)
    with pytest.raises(CountsError, match="another"):
        evaluate(TreeClassifier(select=None).fit([[1], [2]], ["a", "b"]), evaluation.counts)


def test_commands_say_the_same(model, frame, tmp_path, capsys):
    model.save(tmp_path / "m.json")
    frame[400:].to_csv(tmp_path / "d.csv", index=False)
    files = [str(tmp_path / "m.json"), str(tmp_path / "d.csv")]

    assert run(["evaluate", *files, "--target", "loan", "--json"]) == 0
    shown_text = json.loads(capsys.readouterr().out)
    assert shown_text["error"] == pytest.approx(
        model.evaluate(frame[["age", "income", "region"]][400:], frame.loan[400:]).error
    )
    assert run(["evaluate", *files, "--target", "loan", "--max-error", "0.001"]) == 1
    assert run(["evaluate", *files, "--target", "loan", "--positive", "defalt"]) == 2
    assert "did you mean 'default'" in capsys.readouterr().err
    assert run(["explain", *files, "--row", "3", "--actionable", "age"]) == 0
    assert capsys.readouterr().out.startswith(
        str(model.explain(frame[["age", "income", "region"]].iloc[[402]], actionable=["age"]))
    )
    assert run(["explain", *files, "--row", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["prediction"] in ("default", "repaid")
    assert run(["explain", *files, "--row", "999"]) == 2
    assert run(["show", files[0]]) == 0
    assert capsys.readouterr().out.startswith(str(model.summary()).partition("\n")[0])


def test_rows_without_variance_have_no_r2(frame):
    model = TreeRegressor(cv=3, random_state=0).fit(frame[["age"]][:400], frame.income[:400])

    assert np.isnan(model.evaluate(frame[["age"]][400:], np.full(200, 5.0)).r2)


def test_the_summary_of_a_tree_without_tests_has_no_importances():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[3, 1], [0, 4]])
    model = Model(Pruning.from_cuts(tree, [], node_labels=counts.majority), counts)

    assert "importances" not in summary(model).to_dict()
    assert summary(model).to_dict()["leaves"] == 2


def test_a_row_cannot_be_explained_by_a_tree_without_a_schema():
    tree = Tree([-1, 0, 0], [0, -1, -1], [2.5, np.nan, np.nan])
    counts = Counts.from_leaves(tree, [[3, 1], [0, 4]])
    model = Model(Pruning.from_cuts(tree, [], node_labels=counts.majority), counts)

    with pytest.raises(TreeError, match="cannot route rows"):
        explain(model, [2.5])


def test_a_summary_names_the_growing_parameters_that_are_known(model):
    model = model.model_
    known = replace(model, selection=replace(model.selection, growing={"min_samples_leaf": 7}))
    other = replace(model, selection=replace(model.selection, growing={"max_depth": 3}))
    assert "columns; min_samples_leaf 7" in " ".join(str(summary(known)).split())
    assert str(summary(other)).splitlines()[1].endswith("columns")
