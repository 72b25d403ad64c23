"""Pipelines with a supervised first step: rows held out before anything is fitted certify them, later rows do not."""

import numpy as np
import pytest
from scipy import stats
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder
from sklearn.tree import DecisionTreeClassifier

from secateur import TreeClassifier, certified_split, certify_predictions

N_RUNS, DELTA = 40, 0.1
MOST_FAILURES = stats.binom.ppf(0.999, N_RUNS, DELTA)


def noise(rng, step):
    """Rows whose classes are coin tosses, so that every classifier has an error of one half."""
    y = rng.integers(0, 2, 200)
    if step == "SelectKBest":
        return SelectKBest(f_classif, k=10), rng.normal(size=(200, 800)), y
    return TargetEncoder(random_state=0), rng.integers(0, 150, size=(200, 2)).astype(str), y


@pytest.mark.filterwarnings("ignore:.*random_state.*deprecated")
@pytest.mark.parametrize("step", ["SelectKBest", "TargetEncoder"])
def test_rows_held_out_before_the_first_step_certify_noise_falsely_at_most_delta_times(step):
    rng = np.random.default_rng(5)
    false_ones = 0
    for _ in range(N_RUNS):
        first, X, y = noise(rng, step)
        X_fit, X_certify, y_fit, y_certify = certified_split(X, y)
        model = make_pipeline(first, DecisionTreeClassifier(max_depth=3)).fit(X_fit, y_fit)
        false_ones += certify_predictions(y_certify, model.predict(X_certify), delta=DELTA).value < 0.5
    assert false_ones <= MOST_FAILURES


def test_rows_that_the_first_step_saw_certify_noise_falsely_most_of_the_time():
    """The mistake that `certified_split` avoids: the classifier holds rows out after the columns were chosen on them."""
    rng = np.random.default_rng(6)
    false_ones = 0
    for _ in range(N_RUNS):
        first, X, y = noise(rng, "SelectKBest")
        tree = TreeClassifier(criterion="gini", cv=3, cv_repeats=1, certify=True, delta=DELTA)
        model = make_pipeline(first, tree).fit(X, y)
        false_ones += model[-1].certificate_.value < 0.5
    assert false_ones > MOST_FAILURES
