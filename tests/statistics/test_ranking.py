"""Curves from counts in leaves are those of the rows themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from secateur.errors import DataError, ParameterError
from secateur.statistics.ranking import Ranking, ranking_of

groups = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]), st.integers(0, 9), st.integers(0, 9)),
    min_size=1,
    max_size=8,
).filter(lambda found: sum(g[1] for g in found) and sum(g[2] for g in found))


def rows_of(found):
    scores = [s for s, good, bad in found for _ in range(good + bad)]
    labels = [k for _, good, bad in found for k in [1] * good + [0] * bad]
    return np.array(labels), np.array(scores)


@given(groups)
def test_the_curves_are_those_of_the_rows(found):
    labels, scores = rows_of(found)
    ranking = ranking_of(*map(np.array, zip(*found, strict=True)))

    fpr, tpr, thresholds = roc_curve(labels, scores, drop_intermediate=False)
    precision, _, _ = precision_recall_curve(labels, scores)

    assert ranking.auc == pytest.approx(roc_auc_score(labels, scores))
    assert ranking.average_precision == pytest.approx(average_precision_score(labels, scores))
    assert ranking.recall == pytest.approx(tpr)
    assert ranking.false_positive_rate == pytest.approx(fpr)
    assert ranking.score == pytest.approx(thresholds[1:])
    assert ranking.precision[::-1] == pytest.approx(precision[:-1])
    assert ranking.ks == pytest.approx(max(tpr - fpr))


@given(groups, st.floats(0, 10), st.floats(0, 10))
def test_no_threshold_costs_less(found, wrong, missed):
    labels, scores = rows_of(found)
    ranking = ranking_of(*map(np.array, zip(*found, strict=True)))

    best = ranking.threshold(false_positive=wrong, false_negative=missed)
    costs = [
        wrong * ((scores >= t) & (labels == 0)).sum() + missed * ((scores < t) & (labels == 1)).sum()
        for t in [*scores, np.inf]
    ]

    assert best.cost == pytest.approx(min(costs))
    taken = scores >= best.score
    assert (best.true_positive, best.false_positive) == ((taken & (labels == 1)).sum(), (taken & (labels == 0)).sum())
    assert (best.false_negative, best.true_negative) == ((~taken & (labels == 1)).sum(), (~taken & (labels == 0)).sum())


@given(groups, st.integers(1, 5))
def test_bands_hold_all_rows_and_end_at_all(found, n_bands):
    ranking = ranking_of(*map(np.array, zip(*found, strict=True)))

    bands = ranking.bands(n_bands)

    assert len(bands) <= n_bands
    assert sum(band["rows"] for band in bands) == ranking.n_positive + ranking.n_negative
    assert (bands[-1]["recall"], bands[-1]["rows_so_far"], bands[-1]["lift_so_far"]) == pytest.approx((1, 1, 1))
    assert max(band["ks"] for band in bands) <= ranking.ks + 1e-12


def test_weights_of_either_kind_need_not_be_whole_numbers():
    for kinds in ([1, 2], [0.25, 1.5]), ([0.25, 1.5], [1, 2]):
        ranking = ranking_of([0.9, 0.1], *kinds)
        assert (ranking.positive.tolist(), ranking.negative.tolist()) == (kinds[0], kinds[1])


def test_a_sample_of_one_kind_has_no_ranking():
    with pytest.raises(DataError, match="no positive rows"):
        ranking_of([0.5], [0], [3])
    with pytest.raises(ParameterError, match="must fall"):
        Ranking([0.1, 0.2], [1, 1], [1, 1])
    with pytest.raises(ParameterError, match="false_positive=-1"):
        ranking_of([0.5], [1], [3]).threshold(false_positive=-1)
    with pytest.raises(ParameterError, match="one number for each group"):
        ranking_of([0.5, 0.1], [1], [3])
    with pytest.raises(ParameterError, match="n_bands=0; 1 or more"):
        ranking_of([0.5], [1], [3]).bands(0)
