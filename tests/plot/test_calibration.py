"""CalibrationDisplay: its numbers against rows counted by hand, and what it refuses."""

import numpy as np
import pytest

from secateur import TreeClassifier, TreeRegressor
from secateur.errors import UnsupportedError
from secateur.plot import CalibrationDisplay

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 2))
Y = np.where(rng.random(400) < 1 / (1 + np.exp(-2 * X[:, 0])), "yes", "no")
MODEL = TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(X[:200], Y[:200])


def test_each_leaf_is_a_point_of_what_it_says_and_what_is_seen():
    display = CalibrationDisplay.from_estimator(MODEL, X[200:], Y[200:], positive="yes").plot()
    leaves, said = MODEL.apply(X[200:]), MODEL.predict_proba(X[200:])[:, 1]
    order = np.unique(leaves)
    assert display.said.tolist() == [said[leaves == leaf][0] for leaf in order]
    assert display.seen.tolist() == [np.mean(Y[200:][leaves == leaf] == "yes") for leaf in order]
    assert display.rows.sum() == 200
    assert display.mean_gap == pytest.approx(
        np.mean([abs(display.said - display.seen)[list(order).index(v)] for v in leaves])
    )
    assert "yes" in display.ax_.get_xlabel()


def test_the_kind_of_probabilities_can_be_chosen():
    plain = CalibrationDisplay.from_estimator(MODEL, X[:200], Y[:200], probabilities="frequency")
    assert plain.mean_gap == pytest.approx(0)


def test_numbers_have_no_calibration():
    model = TreeRegressor(cv=3).fit(X, X[:, 0])
    with pytest.raises(UnsupportedError, match="class probabilities"):
        CalibrationDisplay.from_estimator(model, X, X[:, 0])
