"""What the rows of a held-out sample were used for, case by case, and the currency of models without a table."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from secateur import Counts, Model, Pruning, Tree, TreeClassifier, TreeRegressor, count, grow
from secateur.inspection import evaluate, summary
from secateur.inspection.currency import Currency, currency_of, holdout_role, score_on, scores_along
from secateur.inspection.sentences import describe_scores
from secateur.model_selection import choose_on_holdout, snip
from secateur.pruners import cost_complexity, reduced_error
from secateur.report._data import page_data
from secateur.report._reasons import fitted_reasons
from secateur.report._shown import deciding_costs, read_model
from secateur.routing import apply
from secateur.statistics.probabilities import node_probabilities

rng = np.random.default_rng(0)
X = rng.normal(size=(900, 2))
y = np.where(X[:, 0] + 0.7 * rng.normal(size=900) > 0.4, "yes", "no")


@pytest.fixture
def grown():
    return grow(X[:300], y[:300])


def held_out(tree, start, *, sample="prune"):
    return count(tree, X[start : start + 300], y[start : start + 300], sample=sample)


def test_rows_that_pruned_a_tree_are_told_from_later_rows_of_the_same_name(grown):
    tree, counts = grown
    pruning = reduced_error(tree, counts, held_out(tree, 300))
    made = Model(pruning, counts, held_out(tree, 300))
    later = replace(made, holdout=held_out(tree, 600))

    assert holdout_role(made).use == "pruned"
    assert holdout_role(later).use == "unused"
    assert deciding_costs(made, pruning).is_deciding
    assert not deciding_costs(later, pruning).is_deciding
    assert "on the held-out rows" in fitted_reasons(made).sentences[0].if_cut
    assert "held-out" not in fitted_reasons(later).sentences[0].if_cut


def test_rows_that_chose_the_size(grown):
    tree, counts = grown
    model = Model(Pruning.from_cuts(tree, [], node_labels=counts.majority), counts, held_out(tree, 300))
    chosen = choose_on_holdout(replace(model, sequence=cost_complexity(tree, counts)))

    assert holdout_role(chosen).use == "chose"
    assert holdout_role(chosen, chosen.sequence).use == "evaluated"  # a reader may choose another member
    assert holdout_role(snip(chosen, 0)).use == "helped"


def test_growing_rows_are_recognised_among_the_held_out_rows(grown):
    tree, counts = grown
    model = Model(Pruning.from_cuts(tree, [], node_labels=counts.majority), counts, held_out(tree, 150))

    assert holdout_role(model).use == "grew"
    assert "some of which grew the tree" in describe_scores(model)[0]


def test_rows_that_were_evaluated_on_other_prunings_may_have_chosen_one(grown):
    tree, counts = grown
    sequence, fresh = cost_complexity(tree, counts), held_out(tree, 300)
    model = Model(sequence[-2], counts, fresh, sequence)

    assert holdout_role(model).use == "unused"
    assert holdout_role(model, sequence).use == "evaluated"
    sequence.errors_on(fresh)
    assert holdout_role(model).use == "evaluated"


def test_nothing_is_claimed_of_rows_that_are_not_known():
    tree = Tree.from_parents([-1, 0, 0])
    counts, other = (Counts.from_leaves(tree, [[9, 1], [2, 8]], sample=name) for name in ("grow", "test"))
    model = Model(Pruning.from_cuts(tree, [], node_labels=counts.majority), counts, other)

    assert holdout_role(model).use == "not recorded"
    assert "no record shows as used" in describe_scores(model)[0]


@pytest.mark.parametrize(("scoring", "score"), [("log_loss", "log_loss"), ("brier", "brier"), ("error", "error")])
def test_without_its_table_the_cost_of_the_rule_names_the_currency(scoring, score):
    model = TreeClassifier(criterion="gini", scoring=scoring, cv=3, cv_repeats=1).fit(X[:300], y[:300]).model_

    assert currency_of(replace(model, selection=None)).score == score


def samples_on_page(model):
    return page_data(read_model(model), "title", is_estimator=False)["samples"]


USED_MODELS = {
    "pruned": lambda tree, counts: Model(reduced_error(tree, counts, held_out(tree, 300)), counts, held_out(tree, 300)),
    "chose": lambda tree, counts: choose_on_holdout(
        Model(
            Pruning.from_cuts(tree, [], node_labels=counts.majority),
            counts,
            held_out(tree, 300),
            cost_complexity(tree, counts),
        )
    ),
    "grew": lambda tree, counts: Model(
        Pruning.from_cuts(tree, [], node_labels=counts.majority), counts, held_out(tree, 150)
    ),
}


@pytest.mark.parametrize("use", USED_MODELS)
def test_rows_that_made_the_tree_say_so_beside_their_figures_and_have_no_limits(grown, use):
    model = USED_MODELS[use](*grown)
    growing, held = samples_on_page(model)

    assert holdout_role(model).use == use
    assert growing["no_limits"] == held["no_limits"] == "No confidence limits: these rows helped to make the tree."
    assert "grown on" in growing["warning"]
    assert {"pruned": "pruned it", "chose": "chose its size", "grew": "grew the tree"}[use] in held["warning"]
    assert f"held out ({holdout_role(model).short})" in str(summary(model))
    assert evaluate(model, model.holdout).error_limits is None


def test_fresh_rows_have_limits_unless_they_have_weights_or_groups(grown):
    tree, counts = grown
    pruning = reduced_error(tree, counts, held_out(tree, 300))
    rows = X[600:], y[600:]
    fresh = held_out(tree, 600)
    grouped = count(tree, *rows, groups=np.arange(300) // 3)
    weighted = count(tree, *rows, sample_weight=np.full(300, 0.5))

    reasons = [samples_on_page(Model(pruning, counts, held))[1]["no_limits"] for held in (fresh, grouped, weighted)]
    assert reasons[0] == ""
    assert "groups" in reasons[1]
    assert "weights" in reasons[2]


def test_bars_of_regression_need_rows_that_did_not_make_the_tree():
    numbers = X[:, 0] + rng.normal(size=900)
    tree, moments = grow(X[:300], numbers[:300], criterion="squared_error", max_depth=4)
    used, fresh = (count(tree, X[i : i + 300], numbers[i : i + 300], sample="prune") for i in (300, 600))
    pruning = reduced_error(tree, moments, used)

    assert "helped to make" in samples_on_page(Model(pruning, moments, used))[1]["no_limits"]
    assert samples_on_page(Model(pruning, moments, fresh))[1]["no_limits"] == ""


@pytest.mark.parametrize("extra", [{"groups": np.arange(300) // 3}, {"sample_weight": np.full(300, 0.5)}])
def test_an_evaluation_of_rows_with_weights_or_groups_has_no_limits(grown, extra):
    tree, counts = grown
    model = Model(Pruning.from_cuts(tree, [], node_labels=counts.majority), counts)

    assert evaluate(model, held_out(tree, 600)).error_limits is not None
    assert evaluate(model, count(tree, X[600:], y[600:], sample="test", **extra)).error_limits is None


def test_an_evaluation_as_plain_values_has_no_used_rows_if_the_rows_are_fresh(grown):
    tree, counts = grown
    model = Model(Pruning.from_cuts(tree, [], node_labels=counts.majority), counts)

    assert evaluate(model, held_out(tree, 600)).to_dict()["used_rows"] is None


def test_the_area_under_the_roc_curve_is_known_for_each_member_of_a_sequence(grown):
    tree, counts = grown
    sequence, held = cost_complexity(tree, counts), held_out(tree, 600)
    model = Model(Pruning.from_cuts(tree, [], node_labels=counts.majority), counts)
    shares = node_probabilities(model)[:, 1]
    leaf = apply(tree, X[600:])

    expected = []
    for i in range(len(sequence)):
        pruning = sequence[i]
        nodes = [int(v) if pruning.is_leaf[v] else pruning.leaf_above(int(v)) for v in leaf]
        expected.append(1 - roc_auc_score(y[600:] == "yes", shares[nodes]))
    assert len(expected) > 2
    assert scores_along(Currency("roc_auc"), model, sequence, held) == pytest.approx(expected)


def test_rows_of_a_class_that_growing_did_not_know_have_a_brier_score():
    tree, counts = grow([[1.0], [2.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    held = Counts.from_leaves(tree, [[3, 0, 1], [0, 4, 0]], sample="prune")
    model = Model(Pruning.from_cuts(tree, [], node_labels=counts.majority), counts)

    expected = 0.0
    for leaf, rows in zip(tree.leaves, held.by_class[tree.leaves], strict=True):
        shares = np.append(node_probabilities(model)[leaf], 0.0)
        expected += sum(n * ((shares - np.eye(3)[c]) ** 2).sum() for c, n in enumerate(rows))
    assert score_on(Currency("brier"), model, held) == pytest.approx(expected / 8)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"select": "0se"}, "chosen by 0se on cross-validation"),
        ({"select": "holdout"}, "chosen by 0se on held-out rows"),
        ({"select": "certificate"}, "chosen by select=certificate on held-out rows"),
        ({"select": "certified", "target_error": 0.45}, "chosen by select=certified on held-out rows"),
    ],
)
def test_the_summary_and_the_model_card_name_the_rows_that_chose_the_size(parameters, sentence, tmp_path):
    model = TreeClassifier(criterion="gini", cv_repeats=1, **parameters).fit(X, y)
    model.report(tmp_path / "page.html")

    assert sentence in " ".join(str(model.summary()).split())
    is_by_certificate = parameters["select"].startswith("certif")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert ("held-out rows, by their certificates" in page) == is_by_certificate


def test_held_out_numbers_are_chosen_by_squared_errors():
    model = TreeRegressor(select="holdout").fit(X[:, :1], X[:, 1])

    assert model.selection_.score == "mean squared error"
    assert "mean squared error" in str(model.summary()).splitlines()[4]
