"""Dealing: by seed and content, never by position; equal parts, equal shares of each class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur import encode
from secateur.data.fold_assignment import assign_folds, draw_holdout
from secateur.data.groups import hash_groups
from secateur.errors import DataError, ParameterError


def table_of(n, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 3)).astype(float)
    X[rng.random((n, 3)) < 0.1] = np.nan
    return X, rng.integers(0, n_classes, n)


def as_sets(X, y, parts):
    """The rows of each part as a multiset."""
    return [sorted(map(repr, np.column_stack([X, y])[parts == p].tolist())) for p in np.unique(parts)]


@given(st.integers(4, 60), st.integers(2, 4), st.integers(0, 5))
def test_fold_assignment_does_not_depend_on_the_order_of_rows(n, n_parts, seed):
    X, y = table_of(n, seed=seed)
    order = np.random.default_rng(seed + 1).permutation(n)
    first = assign_folds(encode(X, target=y), n_parts, seed=seed)
    second = assign_folds(encode(X[order], target=y[order]), n_parts, seed=seed)
    assert as_sets(X, y, first) == as_sets(X[order], y[order], second)
    aside, again = draw_holdout(encode(X, target=y), 0.3), draw_holdout(encode(X[order], target=y[order]), 0.3)
    assert as_sets(X, y, aside) == as_sets(X[order], y[order], again)


@given(st.integers(4, 80), st.integers(2, 5))
def test_folds_and_classes_within_folds_have_equal_sizes(n, n_parts):
    n_parts = min(n, n_parts)
    X, y = table_of(n)
    parts = assign_folds(encode(X, target=y), n_parts)
    sizes = np.bincount(parts, minlength=n_parts)
    assert sizes.max() - sizes.min() <= 1
    for c in np.unique(y):
        share = np.bincount(parts[y == c], minlength=n_parts)
        assert share.max() - share.min() <= 1


def test_seeds_and_repeats_deal_differently():
    X, y = table_of(100)
    table = encode(X, target=y)
    dealt = {assign_folds(table, 10, seed=s, repeat=r).tobytes() for s in range(3) for r in range(3)}
    assert len(dealt) == 9
    assert assign_folds(table, 10, seed=1).tobytes() == assign_folds(table, 10, seed=1).tobytes()


@given(st.integers(2, 200), st.floats(0.01, 0.99))
def test_a_held_out_share_is_that_share_of_all_rows(n, share):
    X, y = table_of(n)
    aside = draw_holdout(encode(X, target=y), share)
    assert aside.sum() == min(max(round(share * n), 1), n - 1)


@pytest.mark.parametrize("values", [2, 10**9])
def test_rows_are_held_out_as_independent_draws_whatever_the_values(values):
    """The class share of the rows kept aside varies as that of a simple random sample, with one seed throughout."""
    n, share, found = 120, 1 / 3, []
    for run in range(400):
        rng = np.random.default_rng(run)
        y = rng.integers(0, 2, n)
        aside = draw_holdout(encode(rng.integers(0, values, (n, 1)).astype(float), target=y), share)
        found.append((y[aside] == 1).sum())
    n_aside = round(share * n)
    variance = np.var(found) / (n_aside / 4)
    assert 0.8 < variance < 1.25  # chi-square with 399 degrees of freedom; stratified draws give 0.33
    assert abs(np.mean(found) - n_aside / 2) < 4 * np.sqrt(n_aside / 4 / 400)


def test_negative_zero_and_any_nan_are_one_value():
    odd = np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0]
    a = encode(np.array([[0.0], [-0.0], [np.nan], [odd]]), target=[0, 0, 1, 1])
    b = encode(np.array([[-0.0], [0.0], [odd], [np.nan]]), target=[0, 0, 1, 1])
    assert assign_folds(a, 2).tolist() == assign_folds(b, 2).tolist()


@pytest.mark.parametrize("share", [0, 1, -0.2, 1.5, True])
def test_a_share_outside_its_range_is_refused(share):
    with pytest.raises(ParameterError, match="holdout"):
        draw_holdout(encode([[1.0], [2.0]], target=[0, 1]), share)


def test_too_few_rows_are_refused():
    table = encode([[1.0]], target=[0])
    with pytest.raises(DataError, match="at least 2"):
        draw_holdout(table, 0.5)
    with pytest.raises(ParameterError, match="2 parts of 1 rows"):
        assign_folds(table, 2)


@given(st.integers(6, 120), st.integers(2, 5), st.integers(2, 40), st.integers(0, 3))
def test_no_split_divides_a_group(n, n_folds, n_groups, seed):
    X, y = table_of(n, seed=seed)
    labels = np.random.default_rng(seed).integers(0, n_groups, n)
    labels[:n_folds] = np.arange(n_folds)  # as many groups as folds
    table, groups = encode(X, target=y), hash_groups(labels)
    order = np.random.default_rng(seed + 1).permutation(n)
    shuffled = encode(X[order], target=y[order])
    folds = assign_folds(table, n_folds, seed=seed, groups=groups)
    held_out = draw_holdout(table, 0.3, seed=seed, groups=groups)
    assert sorted(set(folds)) == list(range(n_folds))
    for side in (folds, held_out):
        assert all(len(set(side[labels == label])) == 1 for label in set(labels))
    assert assign_folds(shuffled, n_folds, seed=seed, groups=groups[order]).tolist() == folds[order].tolist()
    assert draw_holdout(shuffled, 0.3, seed=seed, groups=groups[order]).tolist() == held_out[order].tolist()
    assert len(set(labels[held_out])) == min(max(round(0.3 * len(set(labels))), 1), len(set(labels)) - 1)


@pytest.mark.parametrize("n_groups", [300, 3000])
def test_folds_of_groups_share_rows_and_classes_evenly(n_groups):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_groups, 3 * n_groups)
    labels[: n_groups // 10] = 0  # one large group
    y = (rng.random(len(labels)) < 0.2).astype(int)
    table = encode(rng.normal(size=(len(labels), 1)), target=y)
    folds = assign_folds(table, 5, groups=hash_groups(labels))
    for rows in (np.ones(len(y), bool), y == 0, y == 1):
        sizes = np.bincount(folds[rows], minlength=5)
        assert sizes.max() - sizes.min() <= 0.02 * rows.sum()


def test_single_rows_as_groups_are_shared_as_evenly_as_rows():
    X, y = table_of(103)
    folds = assign_folds(encode(X, target=y), 4, groups=hash_groups(np.arange(103)))
    for rows in (np.ones(103, bool), y == 0, y == 1, y == 2):
        sizes = np.bincount(folds[rows], minlength=4)
        assert sizes.max() - sizes.min() <= 1 + (rows.sum() == 103)


def test_too_few_groups_are_refused():
    table = encode([[1.0], [2.0], [3.0]], target=[0, 1, 0])
    with pytest.raises(DataError, match="all 3 rows are of one group"):
        draw_holdout(table, 0.5, groups=hash_groups([1, 1, 1]))
    with pytest.raises(ParameterError, match="3 parts of 2 groups"):
        assign_folds(table, 3, groups=hash_groups([1, 1, 2]))
