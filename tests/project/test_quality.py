"""The quality benchmark compares with what scikit-learn's refits would give, and keeps what it has computed."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def quality():
    spec = importlib.util.spec_from_file_location("quality", ROOT / "benchmarks" / "quality.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 3)).astype(np.float32)
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=150) > 0, "yes", "no")
    return X, y


def refit(X, y, alpha):
    return DecisionTreeClassifier(random_state=0, ccp_alpha=alpha).fit(X, y)


def test_errors_at_every_alpha_are_those_of_refits(quality, rows):
    X, y = rows
    train, test = np.arange(100), np.arange(100, 150)
    fitted = DecisionTreeClassifier(random_state=0).fit(X[train], y[train])
    alphas = [0.0, 0.0051, 0.0137, 0.0212, 0.04, 0.9]

    found = quality.errors_at(fitted, X[test], y[test], alphas)

    assert found.tolist() == [
        np.count_nonzero(refit(X[train], y[train], alpha).predict(X[test]) != y[test]) for alpha in alphas
    ]


@pytest.mark.parametrize("n_errors", [0, 1])
def test_the_alpha_is_the_one_that_refits_at_geometric_means_would_choose(quality, rows, n_errors):
    X, y = rows
    alphas = np.unique(DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y).ccp_alphas)
    middles = [*np.sqrt(alphas[:-1] * alphas[1:]), 9.0]
    wrong = np.zeros(len(middles))
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        wrong += [np.count_nonzero(refit(X[train], y[train], a).predict(X[test]) != y[test]) for a in middles]
    error = wrong / len(y)
    limit = error.min() + n_errors * np.sqrt(error.min() * (1 - error.min()) / len(y))
    largest = max(alpha for alpha, rate in zip(middles, error, strict=True) if rate <= limit)

    chosen = quality.chosen_alpha(X, y, n_errors=n_errors, n_folds=3)

    assert refit(X, y, chosen).get_n_leaves() == refit(X, y, largest).get_n_leaves()


def test_categories_become_columns_and_gaps_one_more(quality):
    frame = pd.DataFrame({"n": [1.0, None, 3.0], "c": pd.Categorical(["b", None, "a"], categories=["a", "b", "z"])})

    assert np.isnan(quality.one_hot(frame)[1, 0])
    assert quality.one_hot(frame)[:, 1:].tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_a_set_is_read_by_its_schema_run_once_and_then_taken_from_what_was_kept(quality, tmp_path, monkeypatch, capsys):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X["kind"] = np.where(X.iloc[:, 0] > 6, "1", "0")
    X.assign(target=y).to_csv(tmp_path / "small.csv.gz", index=False)
    columns = dict.fromkeys(X.columns[:-1], "numeric") | {"kind": {"nominal": ["0", "1"]}}
    (tmp_path / "SCHEMA.json").write_text(json.dumps({"small": {"columns": columns, "class": {}}}))
    frame, labels = quality.read("small", tmp_path)
    assert frame["kind"].cat.categories.tolist() == ["0", "1"]
    assert set(labels) == {"0", "1", "2"}
    out = tmp_path / "out"
    line = ["quality", "--data", str(tmp_path), "--sets", "small", "--folds", "2", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", line)

    quality.main()
    first = (out / "quality.md").read_text()
    monkeypatch.setattr(quality, "runs", None)  # a second run would fail
    quality.main()

    assert (out / "quality.md").read_text() == first
    assert "mean of 1" in capsys.readouterr().out
    assert len((out / "quality.csv").read_text().splitlines()) == 1 + 2 * (len(quality.METHODS) - len(quality.RPART))


def test_an_unknown_set_is_named(quality, tmp_path):
    (tmp_path / "SCHEMA.json").write_text("{}")
    with pytest.raises(SystemExit, match="nothing-such is not in"):
        quality.read("nothing-such", tmp_path)
    with pytest.raises(SystemExit, match="--data"):
        quality.read("iris", None)
