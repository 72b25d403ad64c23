"""Reading changes nothing: only functions that evaluate a sample write to the evaluation log of a tree."""

import contextlib
import dataclasses
import inspect
import io
import pickle

import numpy as np
import pytest

import secateur
from secateur import Pruning, PruningSequence, TreeClassifier, TreeRegressor, certify, count, grow, prune
from secateur.certifiers import freshness, leaf_shares
from secateur.core import leaf_labels, m_estimate, node_cost
from secateur.errors import LeakageError, SecateurError
from secateur.inspection import evaluate, explain, summary
from secateur.inspection.view import view_of
from secateur.pruners import best_of_size, cost_complexity, greedy, reduced_error, smallest_within, weakest_links


def draw_rows(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(4)
    return X, np.where((X[:, 0] > 0) ^ (rng.random(n) < 0.2), "yes", "no")


class Fit:
    """A grown tree with its sequence and the counts of a held-out sample that was not evaluated yet."""

    def __init__(self):
        self.X, self.y = draw_rows(400, 1)
        self.tree, self.grown = grow(*draw_rows(500, 0), max_depth=5)
        self.sequence = prune(self.tree, self.grown)
        self.pruning = self.sequence[len(self.sequence) // 2]
        self.held = self.count()

    def count(self, sample="held"):
        return count(self.tree, self.X, self.y, sample=sample)

    def labelled(self, pruning):
        return dataclasses.replace(pruning, node_labels=self.grown.majority)


def entries(tree):
    """The contents of the evaluation log as plain values."""
    return {
        sample_id: (record.pruning, record.sequence, record.is_unrestricted, record.has_other_sequences)
        for sample_id, record in tree.evaluation_log.records.items()
    }


def read_everything(value):
    """Read all attributes of a value, and use it in every way that an interpreter or a debugger does."""
    with contextlib.suppress(SecateurError):  # a property of classes, read from a model of numbers
        inspect.getmembers(value)
    for name in dir(value):
        with contextlib.suppress(SecateurError, AttributeError):
            getattr(value, name)
    repr(value)
    str(value)
    with contextlib.suppress(TypeError):  # values with dicts have no hash
        hash(value)
    assert (value == value) in (True, False)
    pickle.loads(pickle.dumps(value))


def test_reading_the_members_of_counts_leaves_them_fresh():
    fit = Fit()
    inspect.getmembers(fit.held)
    assert entries(fit.tree).keys().isdisjoint({fit.held.sample_id})
    assert certify(fit.pruning, fit.held).method == "test sample, exact tail"


def frozen_values(model, held):
    """All frozen values that a fitted model consists of or leads to, by name."""
    values = {
        "tree": model.tree,
        "pruned tree": model.pruned_tree,
        "grown": model.grown,
        "held": held,
        "pruning": model.pruning,
        "sequence": model.sequence,
        "selection": model.selection,
        "member": model.sequence[0],
        "model": model,
        "log": model.tree.evaluation_log,
        "history": model.tree.history,
        "sketch": held.sketch,
        "key": model.tree.row_key,
        "schema": model.tree.schema,
        "view": view_of(model.tree, held, pruning=model.pruning),
        "summary": summary(model),
        "certificate": secateur.Bound(0.1, 0.05, "test sample", 100, 5),
    }
    return {name: value for name, value in values.items() if value is not None}


@pytest.mark.parametrize("prune_rule", ["cost-complexity", "reduced-error"])
def test_reading_any_frozen_value_of_a_fit_changes_no_certificate(prune_rule):
    def fitted():
        X, y = draw_rows(500, 0)
        options = {"criterion": "gini", "max_depth": 5, "cv": 3, "cv_repeats": 1, "random_state": 0}
        model = TreeClassifier(prune=prune_rule, **options).fit(X, y).model_
        return model, count(model.tree, *draw_rows(400, 1), sample="held")

    model, held = fitted()
    expected = certify(model.pruning, held)
    model, held = fitted()
    model = model if model.sequence is not None else dataclasses.replace(model, sequence=prune(model.tree, model.grown))
    values = frozen_values(model, held)
    before = entries(model.tree)
    for name, value in values.items():
        read_everything(value)
        assert entries(model.tree) == before, name
    assert freshness(model.pruning, held).is_fresh
    bound = certify(model.pruning, held)
    assert (bound.value, bound.method, bound.freshness) == (expected.value, expected.method, expected.freshness)


def test_reading_an_evaluation_or_limits_records_no_more_than_making_them():
    fit = Fit()
    model = secateur.Model(fit.pruning, fit.grown)
    values = [
        evaluate(model, fit.held),
        leaf_shares(fit.pruning, fit.held),
        explain(model, fit.X[:1]),
    ]
    before = entries(fit.tree)
    for value in values:
        read_everything(value)
    assert entries(fit.tree) == before


def test_one_evaluation_of_a_model_leaves_the_sample_fresh_for_it_and_two_do_not():
    fit = Fit()
    evaluate(secateur.Model(fit.pruning, fit.grown), fit.held)
    assert freshness(fit.pruning, fit.held).is_fresh
    evaluate(secateur.Model(fit.sequence[0], fit.grown), fit.held)
    assert not freshness(fit.pruning, fit.held).is_fresh


USES_OF_LABELS = {
    "the majority as labels of a pruning": lambda f: Pruning.from_cuts(f.tree, [], node_labels=f.held.majority),
    "labels": lambda f: Pruning.from_cuts(f.tree, [], node_labels=f.held.labels),
    "predictions": lambda f: Pruning.from_cuts(f.tree, [], node_labels=f.held.predictions),
    "a copy of the majority": lambda f: Pruning.from_cuts(f.tree, [], node_labels=f.held.majority.copy()),
    "the majority in another type": lambda f: Pruning.from_cuts(f.tree, [], node_labels=f.held.majority.astype(int)),
    "a pruning that gets other labels": lambda f: dataclasses.replace(f.pruning, node_labels=f.held.majority),
    "a sequence with these labels": lambda f: PruningSequence(
        f.tree, [f.tree.n_leaves], [0], steps=np.where(f.tree.is_leaf, 0, 1) * 0, node_labels=f.held.majority, rule="a"
    )[0],
    "a label rule": lambda f: Pruning.from_cuts(f.tree, [], node_labels=leaf_labels(f.grown, f.held, "prune")),
    "a label rule for both samples": lambda f: Pruning.from_cuts(
        f.tree, [], node_labels=leaf_labels(f.grown, f.held, "both")
    ),
    "a pruning rule that labels": lambda f: prune(f.tree, f.grown, f.held, rule="reduced-error", labels="prune"),
}
USES_OF_COSTS = {
    **{
        f"the costs of {rule.__name__}": lambda f, rule=rule: f.labelled(
            rule(f.tree, f.grown, cost=f.held.resubstitution_costs)[1]
        )
        for rule in (best_of_size, cost_complexity, greedy, weakest_links)
    },
    "the cost of reduced_error": lambda f: f.labelled(
        reduced_error(f.tree, None, None, cost=f.held.resubstitution_costs)
    ),
    "the cost of smallest_within": lambda f: smallest_within(f.tree, f.grown, 0.5, cost=f.held.resubstitution_costs),
    "costs after arithmetic": lambda f: f.labelled(
        reduced_error(f.tree, None, None, cost=f.held.resubstitution_costs * 1.0 + 0.5)
    ),
    "costs from node_cost": lambda f: f.labelled(
        reduced_error(f.tree, None, None, cost=node_cost(f.tree, f.held, None))
    ),
    "m-estimates": lambda f: f.labelled(reduced_error(f.tree, None, None, cost=m_estimate(f.held))),
}


@pytest.mark.parametrize("is_counted_again", [False, True])
@pytest.mark.parametrize("use", [*USES_OF_LABELS, *USES_OF_COSTS])
def test_rows_that_gave_labels_or_costs_do_not_certify_as_fresh_rows(use, is_counted_again):
    fit = Fit()
    pruning = {**USES_OF_LABELS, **USES_OF_COSTS}[use](fit)
    with pytest.raises(LeakageError):
        certify(pruning, fit.count("again") if is_counted_again else fit.held)


def test_arrays_that_carry_their_sample_are_ordinary_arrays_otherwise():
    fit = Fit()
    labels = fit.held.majority
    assert labels.dtype == np.int32
    assert not labels.flags.writeable
    assert type(np.asarray(labels)) is np.ndarray
    assert isinstance(labels.max(), np.int32)
    assert type(pickle.loads(pickle.dumps(labels))) is np.ndarray
    assert Pruning.from_cuts(fit.tree, [], node_labels=labels).seen == {"held"}
    assert type(Pruning.from_cuts(fit.tree, [], node_labels=labels).node_labels) is np.ndarray


def test_labels_of_the_sample_that_grew_the_tree_add_nothing_to_what_was_seen():
    fit = Fit()
    assert Pruning.from_cuts(fit.tree, [], node_labels=fit.grown.majority).seen == set()


SHOWINGS = {
    "repr": repr,
    "str": str,
    "print": lambda value: print(value, file=io.StringIO()),
    "format": lambda value: f"{value}",
    "_repr_html_": lambda value: value._repr_html_() if hasattr(value, "_repr_html_") else "",
    "_repr_mimebundle_": lambda value: value._repr_mimebundle_() if hasattr(value, "_repr_mimebundle_") else "",
}
ESTIMATORS = {
    "error": lambda: TreeClassifier(cv=3, cv_repeats=1, random_state=0),
    "log loss": lambda: TreeClassifier(scoring="log_loss", cv=3, cv_repeats=1, random_state=0),
    "area under the curve": lambda: TreeClassifier(scoring="roc_auc", cv=3, cv_repeats=1, random_state=0),
    "costs": lambda: TreeClassifier(costs=[[0, 3], [1, 0]], criterion="gini", cv=3, cv_repeats=1, random_state=0),
    "numbers": lambda: TreeRegressor(cv=3, cv_repeats=1, random_state=0),
}


@pytest.mark.parametrize("has_holdout", [False, True])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_showing_a_fitted_estimator_or_its_parts_records_nothing(name, has_holdout):
    (X, y), (X_holdout, y_holdout) = draw_rows(500, 0), draw_rows(400, 1)
    if name == "numbers":
        y, y_holdout = X[:, 0] + (y == "yes"), X_holdout[:, 0] + (y_holdout == "yes")
    held_out = {"X_holdout": X_holdout, "y_holdout": y_holdout} if has_holdout else {}
    estimator = ESTIMATORS[name]().fit(X, y, **held_out)
    model = estimator.model_
    held = model.holdout if has_holdout else count(model.tree, X_holdout, y_holdout, sample="held")
    values = [estimator, model, model.tree, model.grown, held, model.pruning, model.sequence, model.selection]
    for value in values:
        for way, show in SHOWINGS.items():
            before = entries(model.tree)
            show(value)
            assert entries(model.tree) == before, (type(value).__name__, way)


def test_held_out_rows_certify_another_pruning_after_a_notebook_has_shown_the_estimator():
    X_holdout, y_holdout = draw_rows(400, 1)
    estimator = ESTIMATORS["error"]().fit(*draw_rows(500, 0), X_holdout=X_holdout, y_holdout=y_holdout)
    model = estimator.model_
    estimator._repr_html_()
    other = next(member for member in model.sequence if member.n_leaves != model.pruning.n_leaves)
    assert certify(other, model.holdout).method == "test sample, exact tail"
