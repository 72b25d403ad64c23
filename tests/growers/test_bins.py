"""Bins: exact where the values are few, quantiles where they are many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur import count, grow
from secateur.growers import CRITERIA
from small_tables import samples


def table(n=3000, d=4, seed=0, n_values=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if n_values is None else rng.integers(0, n_values, (n, d)).astype(float)
    return X, (X[:, 0] + rng.normal(size=n) > X[:, 1]).astype(int)


@given(samples())
def test_columns_with_fewer_values_than_bins_are_exact(sample):
    (tree, counts), (wanted, wanted_counts) = sample.grow(max_bins=5), sample.grow()

    for name in ("parent", "feature", "branch", "default"):
        assert np.array_equal(getattr(tree, name), getattr(wanted, name))
    assert np.array_equal(tree.threshold, wanted.threshold, equal_nan=True)
    assert np.allclose(tree.score, wanted.score, rtol=1e-9, atol=1e-12, equal_nan=True)
    assert counts.by_class.tolist() == wanted_counts.by_class.tolist()


def test_more_values_than_codes_but_fewer_than_bins_are_exact():
    X, y = table(n_values=700)
    tree, counts = grow(X, y, max_bins=1000)
    wanted, wanted_counts = grow(X, y)

    assert np.array_equal(tree.parent, wanted.parent)
    assert np.array_equal(tree.feature, wanted.feature)
    assert np.array_equal(tree.threshold, wanted.threshold, equal_nan=True)
    assert counts.by_class.tolist() == wanted_counts.by_class.tolist()


@pytest.mark.parametrize("max_bins", [2, 3, 16, 255, 256, 257, 1000])
def test_there_are_at_most_so_many_bins(max_bins):
    X, y = table(d=2)
    tree, counts = grow(X, y, max_bins=max_bins)

    for j in range(2):
        assert len(set(tree.threshold[tree.feature == j])) <= max_bins - 1
    assert count(tree, X, y, sample="grow") == counts


@pytest.mark.parametrize("max_bins", [2, 10, 100])
def test_bins_hold_about_equally_many_rows(max_bins):
    x = np.random.default_rng(1).permutation(np.exp(np.arange(2000) / 100))
    y = np.random.default_rng(2).integers(0, 2, 2000)
    tree, _ = grow(x[:, None], y, max_bins=max_bins)
    edges = np.unique(tree.threshold[tree.internal])
    sizes = np.diff(np.append(0, np.searchsorted(np.sort(x), edges)))

    assert len(edges) == max_bins - 1  # random labels: every bin is cut off
    assert sizes.max() - sizes.min() <= 1


@given(st.integers(2, 40), st.integers(0, 10**6))
def test_cuts_fall_between_values_however_uneven_the_columns(max_bins, seed):
    rng = np.random.default_rng(seed)
    x = np.round(rng.exponential(size=300) ** 3, 1)
    x[rng.random(300) < 0.1] = np.nan
    y = rng.integers(0, 2, 300)
    tree, counts = grow(x[:, None], y, max_bins=max_bins)

    cuts = tree.threshold[tree.internal]
    assert not np.isin(cuts[np.isfinite(cuts)], x).any()
    assert count(tree, x[:, None], y, sample="grow") == counts


def test_thresholds_of_bins_are_midpoints_of_neighbouring_values():
    x = np.arange(1000.0) ** 2
    tree, _ = grow(x[:, None], np.random.default_rng(3).integers(0, 2, 1000), max_bins=4)

    assert sorted(tree.threshold[tree.internal]) == [(x[i - 1] + x[i]) / 2 for i in (250, 500, 750)]


def test_the_order_of_the_rows_does_not_matter_to_bins():
    X, y = table(d=2)
    order = np.random.default_rng(4).permutation(len(y))

    assert grow(X[order], y[order], max_bins=20)[0] == grow(X, y, max_bins=20)[0]


def test_a_heavy_value_has_a_bin_of_its_own_and_its_neighbours_are_kept():
    x = np.append(np.zeros(900), np.arange(1.0, 301.0))
    y = np.append(np.zeros(900, int), (np.arange(300) // 100 + 1) % 2)
    tree, counts = grow(x[:, None], y, max_bins=12)

    assert 0.5 in tree.threshold
    assert count(tree, x[:, None], y, sample="grow") == counts


@pytest.mark.lane
@pytest.mark.parametrize("criterion", [name for name, criterion in CRITERIA.items() if criterion.is_streamed])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("n_values", "least"), [(None, 1), (60, 1), (None, 7), (5, 1)])
def test_bins_counted_by_code_give_the_tree_of_bins_in_lists(criterion, n_classes, n_values, least, monkeypatch):
    X, y = table(n=700, d=11, n_values=n_values)
    y = (y + (X[:, 2] > X[:, 3])) % n_classes
    X[:, 4] = X[:, 0] > 0  # two values, and a column that varies above the first test only
    X[:, 5] = np.where(X[:, 0] > 0, 3.0, X[:, 5])
    X[:5, 6] = np.nan  # what is missing is counted in a list
    options = {"max_bins": 40, "criterion": criterion, "min_samples_leaf": least}
    tree, counts = grow(X, y, **options)
    monkeypatch.setattr("secateur.growers.presorted_data.can_count_bins", lambda *_: False)
    wanted, wanted_counts = grow(X, y, **options)

    for name in ("parent", "feature", "threshold", "default", "score"):
        assert np.array_equal(getattr(tree, name), getattr(wanted, name), equal_nan=True), name
    assert counts.by_class.tolist() == wanted_counts.by_class.tolist()
