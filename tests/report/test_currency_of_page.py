"""The sentences that scripts compose on the page, in a browser: numbers from the rows, words from what samples did."""

import math
import re

import numpy as np
import pytest

from report_browser import until
from secateur import TreeClassifier, TreeRegressor
from secateur.inspection.sentences import describe_scores
from secateur.report import report_html

N_ROWS = 500
COSTS_OF_TWO = [[0, 3], [1, 0]]
COSTS = [[0, 1, 4], [2, 0, 1], [1, 3, 0]]


def draw(kind, n=N_ROWS, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    noisy = X[:, 0] + 0.7 * rng.normal(size=n)
    if kind == "numbers":
        return X, noisy
    names = np.array(["low", "high"]) if kind == "2 classes" else np.array(["low", "middle", "high"])
    return X, names[np.digitize(noisy, [0.6] if kind == "2 classes" else [-0.5, 0.7])]


def fit(kind, estimator=TreeClassifier, **parameters):
    with_holdout = parameters.pop("holdout_rows", False)
    rows = dict(zip(("X_holdout", "y_holdout"), draw(kind, 300, 1), strict=True)) if with_holdout else {}
    X, y = draw(kind)
    return estimator(cv=3, cv_repeats=1, max_depth=6, **parameters).fit(X, y, **rows)


MODELS = {
    "log loss": lambda: fit("2 classes", scoring="log_loss", holdout_rows=True),
    "cost": lambda: fit("2 classes", costs=COSTS_OF_TWO, criterion="gini"),
    "regression": lambda: fit("numbers", TreeRegressor),
    "three classes with costs": lambda: fit("3 classes", costs=COSTS, prune="reduced-error", holdout_rows=True),
    "reduced error": lambda: fit("2 classes", prune="reduced-error", holdout_rows=True),
    "area under the curve": lambda: fit("3 classes", scoring="roc_auc"),
}


@pytest.fixture(scope="module", params=MODELS)
def shown(request, open_page):
    model = MODELS[request.param]()
    sentences = describe_scores(model.model_)  # before the page, which evaluates the held-out rows on other prunings
    return request.param, model, open_page(report_html(model.model_)), sentences


def text_of(page):
    page.click("#tab-description")
    leaves = page.evaluate("secateur.state.numbers.leaves.length")
    rules = "1 rule" if leaves == 1 else f"{leaves} rules"
    until(page, f"document.getElementById('description-text')?.textContent.includes('with {rules}')")
    return page.inner_text("#description-text").replace("\xa0", " ")


def test_the_page_says_of_the_fitted_tree_what_python_says(shown):
    _, _, page, sentences = shown
    page.evaluate("secateur.state.goTo(secateur.raw.marks.fitted)")
    text = text_of(page)

    for sentence in sentences:
        assert sentence.replace("\xa0", " ") in text
    assert page.trouble == []


def rows_of(name, model):
    kind = {"regression": "numbers", "three classes with costs": "3 classes", "area under the curve": "3 classes"}
    is_held_out = model.model_.holdout is not None
    return draw(kind.get(name, "2 classes"), *((300, 1) if is_held_out else ()))


def test_a_tree_cut_to_its_root_is_no_better_than_the_best_constant_prediction(shown):
    name, model, page, _ = shown
    _, y = rows_of(name, model)
    page.evaluate("secateur.state.goTo(secateur.raw.marks.fitted)")
    page.evaluate("secateur.state.snip(0)")
    text = text_of(page)
    page.evaluate("secateur.state.undo()")

    assert "no better than" in text
    rows = "held-out" if model.model_.holdout is not None else "growing"
    assert f"On {len(y)} {rows} rows, " in text  # what the rows did for the fitted tree is not said of a cut by hand
    assert "pruned it" not in text
    if name == "cost":
        costs = np.array(COSTS_OF_TWO)
        truth = np.searchsorted(model.classes_, y)
        best = min(costs[truth, c].mean() for c in range(2))
        assert float(re.search(r"mean cost is ([\d.]+)", text)[1]) == pytest.approx(best, abs=5.1e-4)
    if name == "regression":
        assert float(re.search(r"off by ([\d.]+)", text)[1]) == pytest.approx(y.std(), abs=5.1e-3)


def test_every_stop_states_the_score_of_its_rows(shown):
    name, model, page, _ = shown
    X, y = rows_of(name, model)
    stops = page.evaluate("secateur.raw.stops.member")
    sequence = model.model_.sequence
    for stop in [i for i, member in enumerate(stops) if member >= 0 and sequence is not None][
        :: max(1, len(stops) // 4)
    ]:
        page.evaluate(f"secateur.state.goTo({stop})")
        value = re.search(
            r"On [^,]*?rows[^,]*?, (?:it is wrong for|its predictions are off by|its [^;]*? is) ([\d.]+)",
            text_of(page),
        )[1]
        smaller = model.prune_to(n_leaves=int(sequence.n_leaves[stops[stop]]))
        if smaller.model_.pruning.cuts.tolist() != sequence[stops[stop]].cuts.tolist():
            continue  # there are several prunings of this size
        expected = score_of(name, smaller, X, y)
        if expected is not None:
            assert float(value) == pytest.approx(expected, rel=6e-3), (stop, name)


def score_of(name, model, X, y):
    if name == "regression":
        return math.sqrt(np.mean((model.predict(X) - y) ** 2))
    truth = np.searchsorted(model.classes_, y)
    if name == "log loss":
        return -np.mean(np.log(np.maximum(model.predict_proba(X)[np.arange(len(y)), truth], 1e-15)))
    predicted = np.searchsorted(model.classes_, model.predict(X))
    if name == "cost":
        return np.array(COSTS_OF_TWO)[truth, predicted].mean()
    return None


def test_reasons_and_tiles_name_the_currency(shown):
    name, _, page, _ = shown
    page.evaluate("secateur.state.goTo(secateur.raw.marks.fitted)")
    page.click("#tab-node")
    unit = {
        "log loss": "log loss", "cost": " in cost", "regression": "squared error", "three classes with costs": " in cost",
        "reduced error": "errors on the held-out sample", "area under the curve": "Gini impurity",
    }[name]  # fmt: skip
    measure = {
        "log loss": "log loss", "cost": "mean cost", "regression": "RMSE", "three classes with costs": "mean cost",
        "reduced error": "error", "area under the curve": "1 - AUC",
    }[name]  # fmt: skip

    page.evaluate("secateur.picture.select(0)")
    assert unit in page.evaluate("document.getElementById('arithmetic').textContent")
    assert page.inner_text("#size-title").lower() == f"{measure} against size".lower()
    assert f"growing {measure}" in page.inner_text("#tiles")
    other = "RMSE" if name == "regression" else "error"
    assert f"growing {other}" in page.inner_text("#tiles")
    numbers = page.inner_text("#panel-body")
    assert not re.search(r"save 0 of its \d+ errors", numbers)
    assert not re.search(r"\d\.\d*,\d", page.inner_text("body"))  # a comma among decimals
