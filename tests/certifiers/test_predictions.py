"""The certificate of any classifier, from its predictions."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from secateur import certify_predictions
from secateur.certifiers import betting_upper
from secateur.errors import DataError, ParameterError, UnsupportedError

TRUE = np.repeat([0, 1], [60, 40])
PREDICTED = np.repeat([0, 1], [52, 48])  # eight errors


@pytest.mark.parametrize("delta", [0.05, 0.001])
def test_the_limit_is_that_of_clopper_and_pearson(delta):
    bound = certify_predictions(TRUE, PREDICTED, delta=delta)

    assert bound.value == pytest.approx(stats.beta.ppf(1 - delta, 8 + 1, 100 - 8))
    assert (bound.errors, bound.n, bound.quantity, bound.certified) == (8, 100, "error", True)
    assert not bound.is_checked
    assert "not used before (not checked" in " ".join(str(bound).split())


@pytest.mark.parametrize(
    "convert",
    [
        list,
        lambda y: y.astype(float),
        lambda y: y == 1,
        lambda y: pd.Series(y, index=range(100, 200)),
        lambda y: y.reshape(-1, 1),
        lambda y: pd.Series(y, dtype="category"),
    ],
)
@pytest.mark.filterwarnings("ignore:y_pred is a column vector")
def test_labels_are_compared_by_value_and_position(convert):
    assert certify_predictions(TRUE, convert(PREDICTED)).errors == 8


def test_texts_are_labels_and_a_predicted_class_that_does_not_occur_is_an_error():
    assert certify_predictions(["a", "b", "a"], ["a", "b", "c"]).errors == 1


@pytest.mark.parametrize(
    ("true", "predicted", "message"),
    [
        ([0, 1], [0], "y_true has 2 labels and y_pred 1"),
        ([0, 1], ["0", "1"], "text and numbers are never equal"),
        ([0, 1], [0.3, 0.9], "y_pred"),
        ([0, 1], [[0.3, 0.7], [0.9, 0.1]], r"y_pred has shape \(2, 2\)"),
        ([0, 1], [0, np.nan], "y_pred is missing in 1 rows"),
        ([0, None], [0, 1], "y_true is missing in 1 rows"),
        (["no", "yes"], ["0", "1"], "no prediction is a class of y_true"),
        ([], [], "0 labels"),
    ],
)
def test_predictions_that_cannot_be_compared_are_refused(true, predicted, message):
    with pytest.raises(DataError, match=message):
        certify_predictions(true, predicted)


def test_weights_and_impossible_confidence_are_refused():
    with pytest.raises(UnsupportedError, match="counts independent rows"):
        certify_predictions(TRUE, PREDICTED, sample_weight=np.ones(100))
    with pytest.raises(ParameterError, match="delta=0"):
        certify_predictions(TRUE, PREDICTED, delta=0)


def test_with_groups_the_shares_of_wrong_rows_are_the_losses():
    groups = np.arange(100) // 4  # rows 52 to 59 are wrong: all rows of groups 13 and 14

    bound = certify_predictions(TRUE, PREDICTED, groups=groups)

    assert bound.value == pytest.approx(betting_upper([0, 1], [23, 2], math.log(0.05)))
    assert (bound.n, bound.unit, bound.n_rows, bound.errors) == (25, "group", 100, 2)
    assert bound.value > certify_predictions(TRUE, PREDICTED).value


def test_false_limits_are_at_most_delta():
    rng = np.random.default_rng(3)
    n_runs, true_error, delta = 4000, 0.13, 0.1
    y = np.tile([0, 1], 75)
    false_ones = 0
    for _ in range(n_runs):
        is_wrong = rng.random(len(y)) < true_error
        false_ones += certify_predictions(y, np.where(is_wrong, 1 - y, y), delta=delta).value < true_error
    assert n_runs * delta / 3 < false_ones <= stats.binom.ppf(0.999, n_runs, delta)
