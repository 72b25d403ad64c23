"""Estimators: `certified_on(group=)` and `prune_to(group=)` are thin around the functions."""

import numpy as np
import pandas as pd
import pytest

import secateur
from secateur import TreeClassifier, TreeRegressor
from secateur.errors import LeakageError, ParameterError, SecateurError, UnsupportedError
from secateur.model_selection.alternatives import with_pruning

RNG = np.random.default_rng(5)
X = pd.DataFrame(RNG.normal(size=(1400, 2)), columns=["income", "age"])
Y = np.where(X["income"] + RNG.normal(scale=0.7, size=1400) > 0, "paid", "default")
SEX = np.where(RNG.random(1400) < 0.4, "f", "m")
FRESH = X[600:].assign(sex=SEX[600:])


@pytest.fixture
def model():
    return TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(X[:600], Y[:600])


def test_group_rates_are_those_of_the_functions(model):
    certified = model.certified_on(FRESH, Y[600:], group="sex", positive="default", delta=0.1)

    other = TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(X[:600], Y[:600])
    counts = secateur.count_groups(other.tree_, FRESH, Y[600:], group="sex")
    (rates,) = certified.group_rates_
    assert rates == secateur.certify_groups(other.pruning_, counts, positive="default", delta=0.1)
    bound = other.certified_on(X[600:], Y[600:], delta=0.1).certificate_
    assert certified.certificate_ == bound
    assert model.group_rates_ == ()


def test_the_smallest_tree_in_every_group_is_that_of_the_plan(model):
    small = model.prune_to(certified_error=0.35, X=FRESH, y=Y[600:], group="sex")

    other = TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(X[:600], Y[:600])
    counts = secateur.count_groups(other.tree_, FRESH, Y[600:], group="sex")
    plan = secateur.certifiers.fixed_sequence(other.selection_, target=0.35, per_group=True)
    pruning, bound = plan.certify(counts)
    assert small.pruning_ == pruning
    assert small.certificate_ == bound
    assert bound.certified


def test_a_gap_alone_or_with_a_target(model):
    options = {"X": FRESH, "y": Y[600:], "group": "sex", "max_gap": 0.25, "rate": "selection rate"}
    small = model.prune_to(**options)

    assert small.certificate_.value == 0.25
    assert small.certificate_.quantity == "gap of the selection rate between groups of 'sex'"
    again = TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(X[:600], Y[:600])
    both = again.prune_to(certified_error=0.35, **options)
    assert both.certificate_.quantity == "error in every group of 'sex'"
    assert "with a gap of the selection rate" in both.certificate_.method


def test_a_second_target_on_the_same_rows_is_refused(model):
    small = model.prune_to(certified_error=0.35, X=FRESH, y=Y[600:], group="sex")

    for again in (model, small):
        with pytest.raises(LeakageError, match="was used for another plan before"):
            again.prune_to(certified_error=0.34, X=FRESH, y=Y[600:], group="sex")


def test_an_unmet_target_is_reported(model):
    with pytest.warns(UserWarning, match="no pruning is certified below the target of 5 % in every group of 'sex'"):
        small = model.prune_to(certified_error=0.05, X=FRESH, y=Y[600:], group="sex")

    assert not small.certificate_.certified


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group": "sex"}, "go with certified_error"),
        ({"certified_error": 0.3, "group": "sex"}, "need fresh rows with their groups"),
        ({"max_gap": 0.3, "rate": "error"}, "need fresh rows with their groups"),
        ({"max_gap": 0.3, "X": FRESH, "y": Y[600:], "group": "sex"}, "max_gap=0.3 needs rate"),
        ({"n_leaves": 3, "max_gap": 0.3, "rate": "error", "X": FRESH, "y": Y[600:], "group": "sex"}, "exactly one"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(model, options, message):
    with pytest.raises(ParameterError, match=message):
        model.prune_to(**options)


def test_groups_of_rows_that_belong_together_do_not_mix(model):
    with pytest.raises(ParameterError, match="it cannot go with groups, for rows that belong together"):
        model.certified_on(FRESH, Y[600:], group="sex", groups=np.arange(800) // 2)
    with pytest.raises(ParameterError, match="or with sample_weight"):
        model.certified_on(FRESH, Y[600:], np.ones(800), group="sex")
    with pytest.raises(ParameterError, match="positive goes with group"):
        model.certified_on(X[600:], Y[600:], positive="paid")
    patients = TreeClassifier(criterion="gini", cv=3).fit(X[:600], Y[:600], groups=np.arange(600) // 2)
    with pytest.raises(SecateurError, match="fitted on groups of rows that belong together"):
        patients.certified_on(FRESH, Y[600:], group="sex")


def test_a_regression_tree_has_no_group_rates():
    model = TreeRegressor(cv=3).fit(X[:600], X["income"][:600])
    with pytest.raises(UnsupportedError, match="error rates of groups need classes"):
        model.certified_on(FRESH, X["income"][600:], group="sex")


def test_rows_that_the_estimator_held_out_are_refused():
    model = TreeClassifier(criterion="gini", cv=3, cv_repeats=1, certify=True).fit(X, Y)
    with pytest.raises(LeakageError, match="occur in sample 'grow'"):
        model.certified_on(X.assign(sex=SEX), Y, group="sex")


def test_another_tree_made_from_a_certified_one_has_no_group_rates(model):
    certified = model.certified_on(FRESH[:400], Y[600:1000], group="sex")
    later, y_later = X[1000:], Y[1000:]

    others = [
        certified.prune_to(n_leaves=1).model_,
        certified.snip(0).model_,
        with_pruning(certified.model_, certified.sequence_[-1]),
        secateur.update(certified, later, y_later).model(),
        secateur.update(certified, later, y_later, regrow=True).model(),
        certified.edit([{"action": "leaf", "node": 0}], X[:600], Y[:600]).model_,
    ]

    assert certified.group_rates_
    assert [other.group_rates for other in others] == [()] * len(others)
