"""Every sentence and table about how good a tree is, checked against the rows.

Models of many kinds are fitted: tasks, scores, rules, samples and weights are combined. For each model the tests route
the rows themselves, count, and compare every number; and they know from the parameters what each sample was used for.
The scores are computed here from predictions of rows, without the statistics of nodes that the texts are made from.
"""

import json
import math
import random
import re
import warnings
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np
import pytest

from report_models import fill_template
from secateur import TreeClassifier, TreeRegressor
from secateur.cli._command import describe_model
from secateur.data.fold_assignment import draw_holdout
from secateur.errors import SecateurError
from secateur.inspection import summary
from secateur.inspection.currency import currency_of
from secateur.inspection.sentences import describe_scores
from secateur.report import report_html
from secateur.report._reasons import fitted_reasons, sequence_reasons
from secateur.report._shown import read_model
from secateur.routing import apply

N_ROWS, N_HELD_OUT = 240, 120
RULES = {
    "cross-validation": {"prune": "cost-complexity"},
    "reduced-error": {"prune": "reduced-error"},
    "k-reduced-error": {"prune": "k-reduced-error"},
    "error-based": {"prune": "error-based"},
    "best-of-size": {"prune": "best-of-size", "select": "0se"},
    "smallest-within": {"prune": "smallest-within", "prune_parameters": {"accuracy": 0.7}},
    "certificate": {"select": "certificate"},
    "none": {"prune": None},
}
SCORES = {
    "2 classes": ("error", "cost", "log_loss", "brier", "balanced_error", "roc_auc"),
    "3 classes": ("error", "cost", "log_loss", "brier", "balanced_error", "roc_auc"),
    "numbers": ("squared_error", "absolute_error"),
}
SAMPLES = ("none", "X_holdout", "certify", "certified_on")
WEIGHTS = ("none", "class_weight", "sample_weight")
N_CLASSIFIERS, N_REGRESSORS = 80, 14  # of the combinations that are supported
NUMBER = r"(-?[\d,]+(?:\.\d+)?)"
VALUE = rf"{NUMBER}(\s%)?"


@dataclass(frozen=True)
class Case:
    """One combination of the factors."""

    task: str
    score: str
    rule: str
    samples: str
    weights: str

    def __str__(self):
        return f"{self.task}, {self.score}, {self.rule}, {self.samples}, {self.weights}"


def is_supported(case):
    """Whether a fit accepts the combination, as the pages about rules, weights and certificates say."""
    is_class = case.task != "numbers"
    is_cross_validated_score = case.score in ("log_loss", "brier", "roc_auc", "absolute_error")
    is_cost = case.score in ("cost", "balanced_error")
    has_row_weights = case.weights == "sample_weight"
    return not (
        (not is_class and case.rule in ("error-based", "k-reduced-error", "certificate"))
        or (not is_class and case.samples == "certified_on")
        or (case.rule == "best-of-size" and is_cross_validated_score)
        or (case.rule in ("error-based", "k-reduced-error") and is_cost)
        or (case.rule == "k-reduced-error" and case.weights != "none")
        or (case.rule == "reduced-error" and is_cost and case.samples == "certify")
        or (case.rule == "smallest-within" and case.score == "cost" and case.task == "3 classes")  # out of reach
        or (is_class and has_row_weights and case.samples == "certify")
        or (has_row_weights and case.rule == "certificate" and case.samples != "X_holdout")
    )


def cases(is_wanted):
    """A fixed random part of the combinations that are wanted."""
    chosen = []
    for tasks, n in ((("2 classes", "3 classes"), N_CLASSIFIERS), (("numbers",), N_REGRESSORS)):
        weights = WEIGHTS if "numbers" not in tasks else ("none", "sample_weight")
        every = [Case(*values) for task in tasks for values in product([task], SCORES[task], RULES, SAMPLES, weights)]
        wanted = [case for case in every if is_wanted(case)]
        chosen += random.Random(4).sample(wanted, min(n, len(wanted)))
    return chosen


def draw(task, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    if task == "numbers":
        return X, X[:, 0] + 0.5 * rng.normal(size=n)
    noisy = X[:, 0] + 0.7 * rng.normal(size=n)
    names = np.array(["low", "high"]) if task == "2 classes" else np.array(["low", "middle", "high"])
    return X, names[np.digitize(noisy, [0.6] if task == "2 classes" else [-0.5, 0.7])]


@dataclass(frozen=True)
class Rows:
    """The rows of a sample with their weights."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray


class Fitted:
    """A fitted model of a case, with the rows of its samples."""

    def __init__(self, case):
        self.case = case
        X, y = draw(case.task, N_ROWS, 1)
        held_out = draw(case.task, N_HELD_OUT, 2)
        is_class = case.task != "numbers"
        parameters = {"cv": 3, "cv_repeats": 1, "max_depth": 5, **RULES[case.rule]}
        if case.score in ("cost", "balanced_error") or case.score not in ("error", "squared_error"):
            parameters["scoring"] = case.score
        self.costs = None
        if case.score == "cost":
            k = len(np.unique(y))
            self.costs = np.array([[0, 1, 4], [2, 0, 1], [1, 3, 0]])[:k, :k]
            parameters["costs"] = self.costs.tolist()
        weight = np.ones(N_ROWS)
        if case.weights == "class_weight":
            parameters["class_weight"] = "balanced"
        if case.weights == "sample_weight":
            weight = np.random.default_rng(3).integers(1, 4, N_ROWS) / 2
        if case.samples == "certify" and is_class:
            parameters["certify"] = True
        fit = {} if case.weights != "sample_weight" else {"sample_weight": weight}
        if case.samples == "X_holdout":
            fit |= {"X_holdout": held_out[0], "y_holdout": held_out[1]}
        estimator = TreeClassifier if is_class else TreeRegressor
        self.estimator = estimator(**parameters).fit(X, y, **fit)
        self.made_with_holdout = self.estimator.model_.holdout is not None
        if case.samples == "certified_on":
            self.estimator = self.estimator.certified_on(*held_out)
        self.model = self.estimator.model_
        self.grown, self.held_out = Rows(X, y, weight), None
        if self.made_with_holdout and case.samples != "X_holdout":
            table = secateur_table(self.model, X, y)
            is_held_out = draw_holdout(table, 1 / 3, seed=0)
            self.held_out = Rows(X[is_held_out], y[is_held_out], weight[is_held_out])
            self.grown = Rows(X[~is_held_out], y[~is_held_out], weight[~is_held_out])
        if case.samples in ("X_holdout", "certified_on"):
            self.held_out = Rows(*held_out, np.ones(N_HELD_OUT))
        if case.weights == "class_weight":
            names, index, count = np.unique(self.grown.y, return_inverse=True, return_counts=True)
            balanced = len(index) / (len(names) * count)[index]
            self.grown = Rows(self.grown.X, self.grown.y, self.grown.weight * balanced)

        # All texts are made in the order in which a user makes them: a page evaluates the held-out rows on other prunings,
        # after which sentences no longer say that these rows had no part in the choice.
        self.sentences = [text.replace("\xa0", " ") for text in describe_scores(self.model)]
        self.notebook = self.estimator._html_repr()
        self.page = report_html(self.model)

    @property
    def is_class(self):
        return self.case.task != "numbers"

    @property
    def shown_rows(self):
        return self.grown if self.held_out is None else self.held_out

    @cached_property
    def chosen_by(self):
        """The score that chose this tree: the one that was asked for, if a table or costs were used, else the error."""
        case = self.case
        if not self.is_class:
            is_chosen = case.rule in ("cross-validation", "certificate")
            return case.score if is_chosen else "squared_error"
        chosen_by_score = case.rule in ("cross-validation", "certificate")
        if chosen_by_score or case.score == "cost":
            return case.score
        return "class_weighted_error" if case.score == "balanced_error" and case.rule != "none" else "error"

    def score(self, name, rows, predicted=None):
        """A score, computed from the predictions of rows; `predicted` replaces those of the model."""
        weight, y = rows.weight, rows.y
        if predicted is None:
            predicted = self.estimator.predict(rows.X)
        if name == "squared_error":
            return np.average((predicted - y) ** 2, weights=weight)
        if name == "error":
            return np.average(predicted != y, weights=weight)
        classes = self.estimator.classes_.tolist()
        if name == "cost":
            return np.average(
                [self.costs[classes.index(a), classes.index(b)] for a, b in zip(y, predicted, strict=True)],
                weights=weight,
            )
        if name == "balanced_error":
            return np.mean([np.average((predicted != y)[y == c], weights=weight[y == c]) for c in np.unique(y)])
        if name == "class_weighted_error":
            share = {c: self.grown.weight[self.grown.y == c].sum() / self.grown.weight.sum() for c in classes}
            return np.average(
                [(a != b) / share[a] / len(classes) for a, b in zip(y, predicted, strict=True)], weights=weight
            )
        return self.probability_score(name, rows, self.estimator.predict_proba(rows.X))

    def probability_score(self, name, rows, shares):
        classes = self.estimator.classes_.tolist()
        truth = np.array([[float(c == a) for c in classes] for a in rows.y])
        if name == "log_loss":
            return np.average(-np.log(np.maximum((truth * shares).sum(axis=1), 1e-15)), weights=rows.weight)
        if name == "brier":
            squares = ((truth - shares) ** 2).sum(axis=1)
            return np.average(squares / (2 if len(classes) == 2 else 1), weights=rows.weight)
        areas = []
        for c in range(len(classes)):
            is_class = truth[:, c] == 1
            higher = shares[is_class, c][:, None] - shares[~is_class, c][None, :]
            pairs = rows.weight[is_class][:, None] * rows.weight[~is_class][None, :]
            areas.append((pairs * ((higher > 1e-12) + 0.5 * (abs(higher) <= 1e-12))).sum() / pairs.sum())
        return 1 - np.mean(areas)

    def best_constant(self, name, rows):
        """The score of the best constant prediction for some rows, found by trying, and that prediction as text."""
        if name == "squared_error":
            mean = np.average(rows.y, weights=rows.weight)
            return np.average((rows.y - mean) ** 2, weights=rows.weight), None
        if name in ("log_loss", "brier"):
            classes = self.estimator.classes_
            shares = np.array([rows.weight[rows.y == c].sum() for c in classes]) / rows.weight.sum()
            return self.probability_score(name, rows, np.tile(shares, (len(rows.y), 1))), None
        if name == "roc_auc":
            return 0.5, None
        found = {c: self.score(name, rows, np.full(len(rows.y), c)) for c in self.estimator.classes_.tolist()}
        best = min(found, key=found.get)
        return found[best], best


def secateur_table(model, X, y):
    from secateur import encode

    return encode(X, schema=model.tree.schema, target=y)


@cache
def fitted(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Fitted(case)


CASES = cases(is_supported)
each_case = pytest.mark.parametrize("case", CASES, ids=str)


@pytest.fixture
def model(case):
    return fitted(case)


def as_number(text, percent):
    return float(text.replace(",", "")) / (100 if percent else 1)


def is_rounded(text, percent, value):
    """Whether a number in a text is a value, rounded to the digits that the text has."""
    step = 10.0 ** -len(text.partition(".")[2]) / (100 if percent else 1)
    return abs(as_number(text, percent) - value) <= 0.5 * step * (1 + 1e-6) + 1e-9


NAMES = {
    "cost": "mean cost", "log_loss": "log loss", "brier": "Brier score", "balanced_error": "balanced error",
    "class_weighted_error": "error weighted by class", "roc_auc": "1 - AUC", "absolute_error": "mean absolute error",
    "error": "error", "squared_error": "RMSE",
}  # fmt: skip
CONSTANT = r"always predicting (?P<label>\S+), the best constant prediction there,"
ENDS = {
    "error": (rf"{CONSTANT} would be wrong for", rf"{CONSTANT} which would be wrong for"),
    "prediction": (rf"{CONSTANT} would have", rf"{CONSTANT} which would have"),
    "probabilities": (
        "the best constant probabilities there would have",
        "the best constant probabilities there, which would have",
    ),
    "roc_auc": ("constant probabilities would have", "constant probabilities, which would have"),
    "squared_error": (rf"{CONSTANT} would be off by", rf"{CONSTANT} which would be off by"),
}
KIND = {
    "error": "error",
    "squared_error": "squared_error",
    "roc_auc": "roc_auc",
    "log_loss": "probabilities",
    "brier": "probabilities",
}


def check_score_sentence(model, text, name, where):
    """Check the words and both numbers of a sentence that states a score on the shown rows."""
    rows = model.shown_rows
    value, (baseline, label) = model.score(name, rows), model.best_constant(name, rows)
    if name == "squared_error":
        value, baseline = math.sqrt(value), math.sqrt(baseline)
    start = {"error": "it is wrong for", "squared_error": "its predictions are off by"}.get(
        name, f"its {NAMES[name]} is"
    )
    note = r" \(root mean square\)" if name == "squared_error" else ""
    unit = " of the weight" if name == "error" and rows.weight.std() > 0 else ""
    better, worse = ENDS[KIND.get(name, "prediction")]
    is_better = value < baseline * (1 - 1e-6)
    joint = f"; {better}" if is_better else f", no better than {worse}"
    pattern = rf"On {re.escape(where)}, {start} {VALUE}{unit}{note}{joint} {VALUE}{unit}\."
    found = re.fullmatch(pattern, text)
    assert found, (text, pattern)
    groups = [group for i, group in enumerate(found.groups(), 1) if i != found.re.groupindex.get("label")]
    assert is_rounded(groups[0], groups[1], value), (text, value)
    assert is_rounded(groups[2], groups[3], baseline), (text, baseline)
    if label is not None:
        shown = found["label"]
        assert model.score(name, rows, np.full(len(rows.y), shown)) == pytest.approx(baseline)


def expected_where(model):
    """The rows and what they were used for, from the parameters of the fit."""
    rows, rule = model.shown_rows, model.case.rule
    weight = f" of weight {number_text(rows.weight.sum())}" if rows.weight.std() > 0 else ""
    if model.held_out is None:
        return f"the {len(rows.y)} rows{weight} it was grown on"
    use = {
        "reduced-error": "that pruned it", "k-reduced-error": "that pruned it", "best-of-size": "that chose its size",
        "certificate": "that helped to choose it",
    }.get(rule, "that had no part in making it")  # fmt: skip
    if model.case.samples == "certified_on":
        use = "that had no part in making it"
    article = "" if "no part" in use else "the "
    return f"{article}{len(rows.y)} held-out rows{weight} {use}"


def number_text(value):
    return f"{value:,.0f}" if value == round(value) else f"{value:.4g}"


@each_case
def test_the_currency_is_the_score_that_chose_the_tree(model):
    assert currency_of(model.model).score == model.chosen_by


@each_case
def test_every_number_and_role_in_the_sentences_is_that_of_the_rows(model):
    sentences = list(model.sentences)
    has_table = model.case.rule in ("cross-validation", "certificate")
    if has_table:
        check_cross_validation_sentence(model, sentences.pop())
    names = [model.chosen_by]
    if model.chosen_by == "absolute_error":
        names = ["squared_error"]
    elif model.is_class and model.chosen_by != "error":
        names.append("error")
    assert len(sentences) == len(names)
    for i, (text, name) in enumerate(zip(sentences, names, strict=True)):
        check_score_sentence(model, text, name, "the same rows" if i else expected_where(model))


def check_cross_validation_sentence(model, text):
    selection = model.model.selection
    value, se = selection.error[selection.chosen], selection.se[selection.chosen]
    if model.chosen_by == "squared_error":
        value, se = math.sqrt(value), se / (2 * math.sqrt(value))
    weighted = "weighted " if model.grown.weight.std() > 0 else ""
    found = re.fullmatch(
        rf"Its cross-validated {weighted}{NAMES[model.chosen_by]} is {VALUE}, with a standard error of {VALUE}\.", text
    )
    assert found, text
    assert is_rounded(found[1], found[2], value)
    assert is_rounded(found[3], found[4], se)


@each_case
def test_the_tables_of_summary_and_fit_have_the_scores_and_errors_of_the_rows(model):
    lines = str(summary(model.model)).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("measured by"))
    stop = lines.index("", start) if "" in lines[start:] else len(lines)
    head, *table = [re.split(r"  +", line.strip()) for line in lines[start:stop]]
    error_name = "error" if model.is_class else "mean squared error"
    is_error = model.chosen_by in ("error", "squared_error")
    assert head == ["measured by", *([] if is_error else [NAMES[model.chosen_by]]), error_name]
    kept = "\n".join(lines[start:stop]).replace(" ", "")
    assert all(
        cell.replace(" ", "") in "".join(printed_text(model.model)).replace(" ", "") for row in table for cell in row
    )
    assert "growing" in kept
    for name, *cells in table:
        rows = {"growing": model.grown, "held out": model.held_out}.get(name.partition(" (")[0])
        if rows is None:
            continue
        expected = [model.score("error" if model.is_class else "squared_error", rows)]
        if not is_error and model.chosen_by != "absolute_error":
            expected.insert(0, model.score(model.chosen_by, rows))
        shares = [re.fullmatch(VALUE, cell) for cell in cells]
        assert len(shares) == len(expected), (name, cells)
        for cell, value in zip(shares, expected, strict=True):
            assert as_number(cell[1], cell[2]) == pytest.approx(value, rel=1e-5, abs=6e-5), (name, cells, expected)
        assert ("by weight" in name) == (rows.weight.std() > 0)


def printed_text(model):
    """What `secateur fit` prints."""
    from rich.console import Console

    console = Console(width=200, force_terminal=False)
    with console.capture() as capture:
        for part in describe_model(model):
            console.print(part, markup=False)
    return capture.get()


@each_case
def test_a_notebook_shows_the_sentences_as_text(model):
    for sentence in model.sentences:
        assert sentence in model.notebook.replace("\xa0", " ")


@each_case
def test_a_certificate_states_its_quantity_and_its_rows(model):
    bound = model.model.certificate
    if bound is None:
        return
    text, rows = " ".join(str(bound).split()), model.held_out

    assert f"confidence the {bound.quantity} on new rows like these is at most" in text
    assert f"from {len(rows.y)} held-out rows" in text
    assert bound.quantity == "error"
    assert bound.errors == round(model.score("error", rows) * len(rows.y))
    limit = re.search(rf"at most {VALUE},", text)
    assert as_number(limit[1], limit[2]) >= bound.value >= model.score("error", rows)
    assert as_number(limit[1], limit[2]) == pytest.approx(bound.value, abs=1e-3)
    if model.chosen_by != "error":
        assert f"the error; the tree was chosen by its {NAMES[model.chosen_by]}" in model.page


@each_case
def test_an_explanation_has_the_rows_of_the_leaf(model):
    row = model.grown.X[0]
    text = str(model.estimator.explain(row))
    found = re.search(r"prediction: (\S+) \(leaf (\d+), (?:weight )?([\d.,]+)", text)

    leaves = apply(model.model.tree, secateur_table(model.model, model.grown.X, model.grown.y))
    v = int(found[2])
    is_here = (leaves >= v) & (leaves < model.model.tree.end[v])
    assert is_here[0]
    assert as_number(found[3], None) == pytest.approx(model.grown.weight[is_here].sum(), rel=1e-3)
    predicted = model.estimator.predict(row[None])[0]
    assert found[1] == predicted if model.is_class else float(found[1]) == pytest.approx(predicted, abs=6e-3)
    for share in re.findall(r"(\w+) ([\d.]+) %", text.partition("prediction:")[2].splitlines()[0]):
        here = model.grown.weight[is_here & (model.grown.y == share[0])].sum() / model.grown.weight[is_here].sum()
        assert float(share[1]) / 100 == pytest.approx(here, abs=6e-4)


def page_data_of(model):
    return json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', model.page, re.DOTALL)[1])


@each_case
def test_the_page_has_the_scores_of_the_rows_at_the_fitted_stop(model):
    data, page = page_data_of(model), model.page
    fitted_stop = data["marks"]["fitted"]
    samples = [rows for rows in (model.grown, model.held_out) if rows is not None]
    is_error = model.chosen_by in ("error", "squared_error")
    error = "error" if model.is_class else "squared_error"

    assert data["currency"]["score"] == model.chosen_by
    assert data["currency"]["name"] == NAMES[model.chosen_by]
    for s, (entry, rows) in enumerate(zip(data["samples"], samples, strict=True)):
        assert data["stops"]["errors"][s][fitted_stop] == pytest.approx(
            model.score(error, rows) * rows.weight.sum(), rel=1e-6
        )
        assert entry["error_baseline"]["value"] == pytest.approx(model.best_constant(error, rows)[0])
        if model.chosen_by == "absolute_error":
            assert data["stops"]["scores"][s] is None
            continue
        value = model.score(model.chosen_by, rows)
        assert entry["baseline"]["value"] == pytest.approx(model.best_constant(model.chosen_by, rows)[0])
        if not is_error:
            assert data["stops"]["scores"][s][fitted_stop] == pytest.approx(value, rel=1e-6)
        if "loss" in entry:
            losses = np.array(entry["loss"])[model.model.pruning.leaves].sum()
            assert losses / rows.weight.sum() == pytest.approx(value, rel=1e-5)
    assert data["samples"][-1]["where"]["fitted"] == expected_where(model)
    header = re.search(r'<p id="summary">(.*?)</p>', page, re.DOTALL)[1].replace("\xa0", " ")
    found = re.findall(
        rf"(On [^:]*): (?:{NAMES[model.chosen_by]} {VALUE}, )?{'error' if model.is_class else 'RMSE'} {VALUE}", header
    )
    assert len(found) == len(samples)
    for (_, score, score_percent, text, percent), rows in zip(found, samples, strict=True):
        value = model.score(error, rows)
        assert is_rounded(text, percent, value if model.is_class else math.sqrt(value))
        if not is_error and model.chosen_by != "absolute_error":
            assert is_rounded(score, score_percent, model.score(model.chosen_by, rows))
    assert expected_where(model) in header


@each_case
def test_reasons_state_the_cost_that_the_rule_compared(model):
    shown = read_model(model.model)
    reasons = [sequence_reasons(shown.sequence, shown.costs, model.model.grown.total)]
    if shown.stops.fitted in shown.stops.other_prunings:
        reasons.append(fitted_reasons(model.model))
    tree = model.model.tree
    leaf_of = {}
    for name, rows in (("growing", model.grown), ("held-out", model.held_out)):
        if rows is not None:
            leaf_of[name] = apply(tree, secateur_table(model.model, rows.X, rows.y)), rows
    for found in reasons:
        for v in tree.internal.tolist():
            sentence = found.sentences[found.sentence[v]]
            check_cost_in_sentence(model, found, v, fill_template(found, sentence.full, v), leaf_of)
            for text in (sentence.if_cut, sentence.if_kept):
                filled = fill_template(found, text, v)
                assert "{" not in filled
                check_saved_unit(model, sentence.full, filled)


def check_saved_unit(model, full, short):
    """The short sentence speaks of the unit of the full one."""
    if "errors" in short and " of its " in short:
        assert "errors" in full
    if "log loss" in short:
        assert model.chosen_by == "log_loss"
        assert "log loss" in full
    if " cost of " in short:
        assert model.chosen_by == "cost"


UNITS = (
    ("estimated errors", None), ("corrected errors", None), ("errors", "error"),
    (r"in log loss \(of the class shares in each leaf\)", "deviance"), ("in Gini impurity", "impurity"),
    (r"in estimated (?:cost|error weighted by class) \(m-estimate with m = 2\)", None), ("in cost", "cost"),
    ("in error weighted by class", "class_weighted_error"), ("in squared error", "squared_error"),
)  # fmt: skip


def check_cost_in_sentence(model, found, v, text, leaf_of):
    """Recompute the cost of a node as a leaf from the rows that reach it, in the unit that the sentence names."""
    match = re.search(r"As a leaf this node costs \S+ (.*?) on the (growing|held-out) sample", text)
    if not match:
        assert "estimated errors" in text or "half an error" in text, text
        return
    unit = next(cost for pattern, cost in UNITS if re.fullmatch(pattern, match[1]))
    if unit is None:
        return
    leaves, rows = leaf_of[match[2]]
    tree = model.model.tree
    is_here = (leaves >= v) & (leaves < tree.end[v])
    weight, y = rows.weight[is_here], rows.y[is_here]
    assert found.values["leaf"][v] == pytest.approx(node_cost(model, unit, v, y, weight), rel=1e-6, abs=1e-6), text
    if model.chosen_by == "log_loss" and model.case.rule in ("cross-validation", "certificate"):
        assert unit == "deviance"


def node_cost(model, unit, v, y, weight):
    if unit == "squared_error":
        return (weight * (y - model.model.grown.predictions[v]) ** 2).sum()
    classes = model.estimator.classes_.tolist()
    label = classes[model.model.pruning.node_labels[v]]
    of_class = np.array([weight[y == c].sum() for c in classes])
    total = of_class.sum()
    if unit == "deviance":
        return -sum(w * math.log(w / total) for w in of_class if w > 0)
    if unit == "impurity":
        return total - (of_class**2).sum() / max(total, 1e-300)
    if unit == "error":
        return weight[y != label].sum()
    if unit == "cost":
        return of_class @ model.costs[:, classes.index(label)]
    share = np.array([model.grown.weight[model.grown.y == c].sum() for c in classes]) / model.grown.weight.sum()
    is_other = np.arange(len(classes)) != classes.index(label)
    return (of_class / share / len(classes))[is_other].sum()


def test_every_value_of_every_factor_occurs():
    assert {case.score for case in CASES} == {score for scores in SCORES.values() for score in scores}
    assert {case.rule for case in CASES} == set(RULES)
    assert {(case.task, case.samples) for case in CASES} >= set(product(["2 classes", "3 classes"], SAMPLES))
    assert {case.weights for case in CASES} == set(WEIGHTS)


@pytest.mark.parametrize("case", random.Random(0).sample(cases(lambda case: not is_supported(case)), 12), ids=str)
def test_a_combination_that_is_not_supported_is_refused(case):
    with pytest.raises(SecateurError):
        fitted(case)
