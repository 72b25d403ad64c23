"""Moments that no rows can have are refused, and the moments of any rows are accepted."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from secateur import TreeClassifier, TreeRegressor, from_sklearn, select
from secateur.errors import CountsError, DataError, ModelFileError
from secateur.modelfile import dumps_model, loads_model

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 2)).round(1)
Y = X[:, 0] + RNG.normal(size=80)


@pytest.fixture(scope="module")
def fitted():
    return TreeRegressor(select="holdout", max_depth=3).fit(X, Y)


def changed(fitted, where, change):
    document = json.loads(dumps_model(fitted.model_))
    *above, last = where.split(".")
    part = document
    for key in above:
        part = part[key]
    part[last] = change(part[last])
    return json.dumps(document).encode()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["ours", "foreign"])
@given(
    seed=st.integers(0, 10**6),
    power=st.integers(-140, 140),
    offset=st.sampled_from([0.0, 1.0, 1e4, 1e8, 1e15]),
    weights=st.sampled_from([None, 0.5, 3.0]),
)
def test_moments_of_any_rows_are_kept(kind, seed, power, offset, weights):
    """Targets and weights of all sizes are accepted; scikit-learn computes squared errors as differences of large sums."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(rng.integers(5, 60), 2)).round(1)
    y = (rng.normal(size=len(rows)) * rng.choice([1, 1e-7, 1e7], len(rows)) + offset) * 10.0**power
    weight = None if weights is None else np.exp(weights * rng.normal(size=len(rows)))
    try:
        if kind == "ours":
            fit = TreeRegressor(prune=None).fit(rows, y, sample_weight=weight)
        else:
            fit = from_sklearn(DecisionTreeRegressor().fit(rows, y, sample_weight=weight))
    except (CountsError, DataError):  # a square that is no number
        return

    text = dumps_model(fit)

    assert dumps_model(loads_model(text)) == text


@pytest.mark.parametrize("sample", ["grown", "holdout"])
@pytest.mark.parametrize(
    ("name", "says"), [("mean", "not the mean of the children"), ("sse", "not that of the children")]
)
@pytest.mark.parametrize("factor", [1 + 1e-6, 0.5, 1e9])
def test_moments_that_are_not_those_of_the_children_are_refused(fitted, sample, name, says, factor):
    with pytest.raises(ModelFileError, match=rf"{sample}\.{name}\[0\] is .*; it is {says}"):
        loads_model(changed(fitted, f"{sample}.{name}", lambda values: [values[0] * factor, *values[1:]]))


def test_a_leaf_whose_mean_contradicts_its_parent_is_refused(fitted):
    with pytest.raises(ModelFileError, match=r"grown\.mean"):
        loads_model(changed(fitted, "grown.mean", lambda values: [*values[:-1], values[-1] + 5]))


def test_a_held_out_sample_without_rows_is_read(fitted):
    sample = json.loads(dumps_model(fitted.model_))["holdout"]
    nothing = {name: [0.0] * len(sample["weight"]) for name in ("weight", "mean", "sse")}
    empty = {**sample, **nothing, "n_rows": 0, "sketch": None, "rows": {"leaf": [], "target": []}}
    document = json.loads(dumps_model(fitted.model_)) | {"holdout": empty, "selection": None}

    assert not loads_model(json.dumps(document).encode()).holdout.weight.any()


@pytest.mark.parametrize("name", ["weight", "mean", "sse"])
def test_held_out_moments_of_too_few_nodes_are_refused_by_name(fitted, name):
    with pytest.raises(ModelFileError, match=rf"holdout\.{name} has 14 entries; 15 are needed"):
        loads_model(changed(fitted, f"holdout.{name}", lambda values: values[:-1]))


def test_a_numeric_target_has_no_error_rate(fitted):
    bound = {
        "value": 0.01, "delta": 0.05, "method": "test sample", "n": 100, "errors": 0, "complexity": 0.0, "certified": True,
        "reason": "", "sample": "elsewhere", "predictor": "", "quantity": "error", "scale": 1.0, "freshness": "",
        "is_checked": False, "details": {},
    }  # fmt: skip
    with pytest.raises(ModelFileError, match=r"quantity is 'error', which a model of a numeric target does not have"):
        loads_model(changed(fitted, "certificate", lambda _: bound))


def test_errors_of_a_choice_that_the_held_out_sample_contradicts_are_refused(fitted):
    with pytest.raises(ModelFileError, match=r"selection.error\[0\] is .* on sample 'prune'; the file holds"):
        loads_model(changed(fitted, "selection.error", lambda values: [values[0] * 1.01, *values[1:]]))
    with pytest.raises(ModelFileError, match=r"selection.best is 0, whose error is .*; others have a lower error"):
        loads_model(changed(fitted, "selection.best", lambda _: 0))


def test_a_choice_by_given_costs_is_kept_if_its_details_state_them():
    model = TreeClassifier(select="holdout", max_depth=3).fit(X, Y > 0).model_
    _, chosen = select(model.sequence, model.holdout, costs=[[0, 5], [1, 0]])

    assert loads_model(dumps_model(replace(model, selection=chosen))).selection == chosen
    document = json.loads(dumps_model(replace(model, selection=chosen)))
    document["selection"]["details"] = {}  # early files did not note costs
    with pytest.raises(
        ModelFileError, match=r'selection.error\[0\] is .*add "loss": "given costs" to selection.details'
    ):
        loads_model(json.dumps(document).encode())
    document["selection"]["details"] = {"loss": "given costs"}
    loads_model(json.dumps(document).encode())
