"""Nodes of many rows, whose scans pass over whole blocks, and columns that are counted many at a time."""

import numpy as np
import pandas as pd
import pytest

from oracles import naive_impurity
from secateur import grow
from secateur._kernels import growing
from secateur.growers import prepared_columns, presort, presorted_data
from small_tables import column_parallel_top


def naive_cut(X, y, criterion):
    """(drop per row, column, threshold) of the best cut, from the definition; the first of equals."""
    best = (-np.inf, -1, np.nan)
    n, before = len(y), impurity(criterion, y)
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable")
        values = X[order, j].astype(float)
        for i in np.flatnonzero(np.diff(values)) + 1:
            drop = before - impurity(criterion, y[order[:i]]) * i / n
            drop -= impurity(criterion, y[order[i:]]) * (n - i) / n
            if drop > best[0] + 1e-11:
                best = (drop, j, values[i - 1] / 2 + values[i] / 2)
    return best


def impurity(criterion, y):
    if criterion == "squared_error":
        return float(np.var(y))
    return naive_impurity(criterion, np.bincount(y).tolist()) / len(y)


def table(n, n_classes, *, n_values, strength, seed=0):
    """Three columns, of which the last one tells something about the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.integers(0, n_values, (n, 3)).astype(np.float32)
    X[:, 2] += np.floor(strength * n_values * y / n_classes)
    return X, y


@pytest.mark.lane
@pytest.mark.parametrize("criterion", ["gini", "sqrt", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("n_values", [6, 5000])
def test_the_first_cut_of_many_rows_is_the_best_of_all(criterion, n_classes, n_values):
    X, y = table(900, n_classes, n_values=n_values, strength=0.3)
    tree, _ = grow(X, y, criterion=criterion, max_depth=1)
    drop, column, threshold = naive_cut(X, y, criterion)

    assert (tree.feature[0], tree.threshold[0]) == (column, threshold)
    assert tree.score[0] == pytest.approx(drop, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("strength", [0.0, 0.02, 1.0])
def test_no_block_that_holds_the_best_cut_is_passed_over(seed, strength):
    for n_classes in (2, 4):
        X, y = table(1500, n_classes, n_values=300, strength=strength, seed=seed)
        for criterion in ("gini", "sqrt"):
            tree, _ = grow(X, y, criterion=criterion, max_depth=1)

            assert tree.score[0] == pytest.approx(naive_cut(X, y, criterion)[0], rel=1e-9)


@pytest.mark.lane
@pytest.mark.parametrize("n", [2, 3, 24, 25, 70, 400])
@pytest.mark.parametrize("n_values", [2, 3, 1000])
def test_the_first_cut_of_numbers_is_the_best_of_all(n, n_values):
    rng = np.random.default_rng(n)
    X = rng.integers(0, n_values, (n, 4)) * 0.5
    y = np.floor(4 * rng.normal(size=n)) + X[:, 1]
    tree, _ = grow(X, y, criterion="squared_error", max_depth=1)
    drop, column, threshold = naive_cut(X, y, "squared_error")

    assert tree.n_nodes == (3 if column >= 0 and np.ptp(y) > 0 else 1)
    if tree.n_nodes == 3:
        assert (tree.feature[0], tree.threshold[0]) == (column, threshold)
        assert tree.score[0] == pytest.approx(drop, rel=1e-9)


@pytest.mark.lane
@pytest.mark.parametrize("n", [3, 90, 255, 256])
@pytest.mark.parametrize("n_columns", [3, 70])
def test_two_valued_columns_of_few_rows_are_counted_like_those_of_many(n, n_columns):
    rng = np.random.default_rng(n)
    X = (rng.random((n, n_columns)) < 0.4).astype(np.float32)
    y = np.append([0, 1], rng.integers(0, 4, n - 2))
    X[0], X[1] = 0, 1  # no column is constant
    tree, _ = grow(X, y, max_depth=1)
    drop, column, threshold = naive_cut(X, y, "gini")

    assert (tree.feature[0], tree.threshold[0]) == (column, threshold)
    assert tree.score[0] == pytest.approx(drop, rel=1e-9)


@pytest.mark.lane
def test_a_column_after_a_perfect_test_is_still_split_right():
    # Column 0 settles the root; below it nothing is left to do, whatever the equal values of column 1.
    X = np.array([[0, 1], [0, 1], [0, 2], [1, 2], [1, 2], [1, 1]], np.float32)
    tree, moments = grow(X, [5.0, 5.0, 5.0, 9.0, 9.0, 9.0], criterion="squared_error")

    assert tree.n_nodes == 3
    assert moments.mean.tolist() == [7, 5, 9]


@pytest.mark.lane
@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("n_codes", [[3] * 11, [300, 3, 3, 2, 300]])
def test_categories_in_one_word_do_not_mix(n_codes, criterion, splits):
    rng = np.random.default_rng(len(n_codes))
    codes = np.column_stack([np.unique(rng.integers(0, m, 700), return_inverse=True)[1] for m in n_codes])
    y = (codes[:, 1] == 2) ^ (codes[:, -1] % 3 == 1)
    tree, sums = grow(codes, y * 1, nominal=[*range(len(n_codes))], criterion=criterion, splits=splits)
    children = [np.flatnonzero(tree.parent == v) for v in range(tree.n_nodes)]
    ones = np.zeros(tree.n_nodes)
    rows = np.zeros(tree.n_nodes)
    for row, is_one in zip(codes, y, strict=True):  # walk down, a row at a time
        v = 0
        while True:
            rows[v] += 1
            ones[v] += is_one
            if tree.is_leaf[v]:
                break
            v = children[v][tree.branch[tree.branch_start[v] + row[tree.feature[v]]]]

    assert tree.n_nodes > 3
    if criterion == "gini":
        assert sums.by_class.tolist() == np.column_stack([rows - ones, ones]).tolist()
    else:
        assert sums.mean[rows > 0] == pytest.approx(ones[rows > 0] / rows[rows > 0])
    assert np.minimum(ones, rows - ones)[tree.is_leaf].sum() == 0


def test_codes_take_the_bits_that_they_need():
    assert [growing.bits_per_code(most) for most in (2, 256, 257, 65536, 65537)] == [8, 8, 16, 16, 32]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"growth": "best-first", "max_splits": 12},
        {"splits": "multiway"},
        {"criterion": "entropy", "max_bins": 16},
        {"surrogates": 1},
    ],
    ids=str,
)
def test_entries_of_64_bits_give_the_tree_of_entries_of_32_bits(parameters, monkeypatch):
    """Row and class fit into 32 bits unless there are thousands of classes and many rows, so the type is forced here."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"a": rng.normal(size=700), "b": rng.integers(0, 9, 700), "c": rng.choice(list("uvwx"), 700)})
    frame["d"] = rng.random(700) < 0.5
    y = rng.integers(0, 3, 700) + 2 * (frame["a"] > 0.3)
    tree, counts = grow(frame, y, **parameters)
    label = presort.label_rows
    used = []

    def label_widely(classes, n_classes):
        used.append(n_classes)
        return label(classes, n_classes)._replace(entry_type=np.uint64)

    for module in (presort, prepared_columns, presorted_data):
        if hasattr(module, "label_rows"):
            monkeypatch.setattr(module, "label_rows", label_widely)
    wide_tree, wide_counts = grow(frame, y, **parameters)
    with column_parallel_top():
        top_tree, _ = grow(frame, y, **parameters)

    assert used
    assert wide_tree == top_tree == tree
    assert (wide_counts.by_class == counts.by_class).all()


def test_columns_of_two_values_beyond_the_first_64_are_split_like_the_others():
    rng = np.random.default_rng(5)
    X = (rng.random((600, 150)) < 0.5).astype(np.float32)
    y = X[:, 3].astype(int) + 2 * (X[:, 70] > X[:, 3]) + 3 * X[:, 140].astype(int)
    tree, _ = grow(X, y)

    assert set(tree.feature[tree.feature >= 0].tolist()) == {3, 70, 140}
    few, _ = grow(X[:, [3, 70, 140]], y)
    assert np.array([3, 70, 140])[few.feature[few.feature >= 0]].tolist() == tree.feature[tree.feature >= 0].tolist()
    assert few.parent.tolist() == tree.parent.tolist()


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "entry_type"),
    [
        (100, 3, np.uint32),
        (1 << 17, 1 << 14, np.uint32),
        (1 << 17, (1 << 14) + 1, np.uint64),
        (1 << 18, 1 << 14, np.uint64),
    ],
)
def test_entries_have_64_bits_where_row_class_and_flag_need_more_than_32(n_rows, n_classes, entry_type):
    labels = presort.label_rows(np.zeros(n_rows, np.int32), n_classes)
    assert labels.entry_type is entry_type
    assert (n_rows - 1 << labels.shift | n_classes - 1 << 1 | 1) <= np.iinfo(entry_type).max
