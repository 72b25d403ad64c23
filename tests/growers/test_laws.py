"""What must hold for every grown tree: the invariants of growing."""

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import naive_impurity
from secateur import count, encode, grow
from secateur.growers import grower
from secateur.growers.parameters import GrowParameters
from secateur.growers.presorted_data import PresortedData
from small_tables import CRITERIA, MEASURES, Sample, per_criterion, samples

STRICT = ("gini", "entropy", "sqrt")


def total_impurity(counts, leaves, criterion):
    """G(T): the criterion of the leaves, weighted by their share."""
    n = counts.by_class[0].sum()
    return sum(naive_impurity(criterion, row) for row in counts.by_class[leaves].tolist() if sum(row)) / n


def permuted(sample, seed):
    return sample.rows(np.random.default_rng(seed).permutation(len(sample.y)))


def same_tests(tree, other):
    """Equal but for the rounding of the scores."""
    for name in ("parent", "feature", "branch_start", "branch", "default", "split_order"):
        assert np.array_equal(getattr(tree, name), getattr(other, name))
    assert np.array_equal(tree.threshold, other.threshold, equal_nan=True)


@pytest.mark.parametrize("criterion", MEASURES)
@per_criterion
@given(sample=samples())
def test_the_total_never_rises_and_is_never_below_the_training_error(criterion, sample):
    tree, counts = sample.grow(criterion=criterion, growth="best-first", allow_zero=True)
    leaves, before = [0], total_impurity(counts, [0], criterion)
    for v in sorted(tree.internal, key=lambda v: tree.split_order[v]):
        leaves = [u for u in leaves if u != v] + list(tree.children(v))
        after = total_impurity(counts, leaves, criterion)
        error = 1 - counts.by_class[leaves].max(axis=1).sum() / len(sample.y)
        assert after <= before + 1e-12
        assert after >= error - 1e-12
        before = after


@pytest.mark.parametrize("criterion", CRITERIA)
@per_criterion
@given(sample=samples())
def test_the_score_is_the_drop_of_the_node_and_never_negative(criterion, sample):
    tree, counts = sample.grow(criterion=criterion)

    for v in tree.internal:
        assert tree.score[v] >= -1e-12
        if criterion != "gain_ratio":
            own = naive_impurity(criterion, counts.by_class[v].tolist())
            below = [counts.by_class[c].tolist() for c in tree.children(v)]
            drop = own - sum(naive_impurity(criterion, row) for row in below if sum(row))
            assert tree.score[v] * counts.total[v] == pytest.approx(drop, abs=1e-9 * counts.total[v])


@pytest.mark.parametrize("criterion", STRICT)
@per_criterion
@given(sample=samples(classes=(2,), max_rows=20))
def test_weak_learning_inequalities_hold_at_every_split(criterion, sample):
    tree, counts = sample.grow(criterion=criterion)

    for v in tree.internal:
        left, right = (counts.by_class[c] for c in tree.children(v))
        tau, r, p = left.sum() / counts.total[v], left[1] / left.sum(), right[1] / right.sum()
        q = counts.by_class[v, 1] / counts.total[v]
        assert q == pytest.approx(tau * r + (1 - tau) * p)
        gamma = tau * (1 - tau) * abs(r - p) / (2 * q * (1 - q))
        if criterion == "gini":
            assert tree.score[v] == pytest.approx(2 * tau * (1 - tau) * (r - p) ** 2, abs=1e-12)
            least = 32 * gamma**2 * (q * (1 - q)) ** 2
        elif criterion == "entropy":
            least = 4 / math.log(2) * gamma**2 * q * (1 - q)
        else:
            least = (1 - math.sqrt(max(0, 1 - 4 * gamma**2))) * math.sqrt(q * (1 - q))
            assert least >= 2 * gamma**2 * math.sqrt(q * (1 - q)) - 1e-12
        assert tree.score[v] >= least - 1e-12


@pytest.mark.parametrize("criterion", CRITERIA)
@per_criterion
@given(sample=samples(weights="whole"), seed=st.integers(0, 99))
def test_the_order_of_the_rows_does_not_matter(criterion, sample, seed):
    assert permuted(sample, seed).grow(criterion=criterion) == sample.grow(criterion=criterion)


@pytest.mark.parametrize("criterion", STRICT)
def test_the_order_of_the_rows_does_not_matter_to_a_large_table(criterion):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(2000, 3)), rng.integers(0, 30, (2000, 2)), rng.integers(0, 7, (2000, 1))])
    sample = Sample(X, rng.integers(0, 4, 2000), nominal=(5,))

    assert permuted(sample, 1).grow(criterion=criterion) == sample.grow(criterion=criterion)


def test_the_order_of_the_rows_does_not_matter_to_real_weights():
    rng = np.random.default_rng(1)
    sample = Sample(rng.normal(size=(600, 3)), rng.integers(0, 3, 600), weight=rng.random(600) + 0.01)
    (tree, counts), (other, other_counts) = sample.grow(), permuted(sample, 2).grow()

    same_tests(tree, other)
    assert np.allclose(counts.by_class, other_counts.by_class, rtol=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
@per_criterion
@given(sample=samples(kinds=("numeric", "numeric", "flag", "nominal", "pair")), seed=st.integers(0, 99))
def test_renaming_the_classes_renames_the_labels_only(criterion, sample, seed):
    new = np.random.default_rng(seed).permutation(sample.y.max() + 1)
    tree, counts = sample.grow(criterion=criterion)
    other, other_counts = Sample(sample.X, new[sample.y], sample.nominal).grow(criterion=criterion)

    same_tests(tree, other)
    assert np.array_equal(other_counts.by_class[:, new], counts.by_class)


@pytest.mark.lane
@pytest.mark.parametrize("criterion", STRICT)
def test_one_noisy_attribute_grows_one_leaf_more_than_class_changes(criterion):
    rng = np.random.default_rng(7)
    for m in (1, 2, 3, 10, 200, 300):
        y = (rng.random(m) < 0.7).astype(int)
        if len(set(y)) < 2:
            continue
        x = rng.permutation(m)
        tree, counts = grow(x[:, None].astype(float), y, criterion=criterion)
        changes = np.count_nonzero(np.diff(y[np.argsort(x)]))
        assert tree.n_leaves == changes + 1
        assert (counts.by_class[tree.is_leaf].min(axis=1) == 0).all()


def test_one_noisy_attribute_has_the_expected_number_of_leaves():
    rng = np.random.default_rng(8)
    leaves = [
        grow(np.arange(200.0)[:, None], (rng.random(200) < 0.7).astype(int))[0].n_leaves for _ in range(400)
    ]  # standard error of the mean: about 0.4

    assert pytest.approx(84.58) == 2 * 199 * 0.7 * 0.3 + 1
    assert np.mean(leaves) == pytest.approx(84.58, abs=2)


@pytest.mark.parametrize("bend", [np.exp, np.arctan, lambda x: x**3, lambda x: 5 * x - 2])
def test_bending_a_column_keeps_the_structure(bend):
    rng = np.random.default_rng(9)
    X, y = rng.integers(-40, 40, (600, 3)).astype(float), rng.integers(0, 2, 600)
    bent = X.copy()
    bent[:, 1] = bend(X[:, 1] / 20)
    (tree, counts), (other, other_counts) = grow(X, y), grow(bent, y)

    assert np.array_equal(tree.parent, other.parent)
    assert np.array_equal(tree.feature, other.feature)
    assert counts.by_class.tolist() == other_counts.by_class.tolist()


@given(samples(), st.sampled_from(["binary", "one-vs-rest", "multiway"]))
def test_counts_add_up_and_unpruned_trees_separate_what_can_be_separated(sample, splits):
    tree, counts = sample.grow(splits=splits)

    for v in tree.internal:
        assert counts.by_class[v].tolist() == sum(counts.by_class[c] for c in tree.children(v)).tolist()
    assert counts.by_class[0].tolist() == np.bincount(sample.y).tolist()
    rows = {}
    for x, label in zip(sample.X.tolist(), sample.y.tolist(), strict=True):
        rows.setdefault(str(x), []).append(label)
    unavoidable = sum(len(labels) - max(map(labels.count, labels)) for labels in rows.values())
    errors = counts.errors_if_leaf(counts.majority)[tree.is_leaf].sum()
    assert errors == unavoidable


@pytest.fixture(scope="module")
def large():
    """More rows than a tree without a top has; lists, codes and categories, gaps among them."""
    rng = np.random.default_rng(10)
    n = 70_000
    X = np.column_stack([rng.normal(size=(n, 9)), rng.integers(0, 20, (n, 2)), rng.integers(0, 5, (n, 2))])
    X[rng.random(n) < 0.1, 0] = np.nan
    X[rng.random(n) < 0.1, 9] = np.nan
    X[rng.random(n) < 0.1, 11] = np.nan
    signal = np.nan_to_num(X[:, 0]) + (X[:, 11] == 2) + 0.1 * np.nan_to_num(X[:, 9]) + rng.normal(size=n)
    return Sample(X, np.digitize(signal, [0.5, 1.5]), nominal=(11, 12))


def test_the_number_of_threads_does_not_matter(large):
    grown = [large.grow(n_jobs=n, max_depth=9) for n in (1, 2, 3)]

    assert grown[0] == grown[1] == grown[2]
    assert count(grown[0][0], large.X, large.y, sample="grow") == grown[0][1]


def test_splitting_the_top_column_by_column_does_not_matter(large):
    with mock.patch.object(grower, "MIN_TOP_ROWS", 10**9):
        wanted = large.grow(max_depth=9)

    assert large.grow(max_depth=9) == wanted


def test_the_number_of_threads_does_not_matter_to_plain_columns():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(2**16 + 3, 9)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X)) > 0).astype(int)
    grown = [grow(X, y, n_jobs=n) for n in (1, 2, 3)]

    assert grown[0] == grown[1] == grown[2]
    assert count(grown[0][0], X, y, sample="grow") == grown[0][1]


def test_all_rows_can_be_grown_on_twice():
    rng = np.random.default_rng(0)
    table = encode(rng.normal(size=(80, 3)), target=rng.integers(0, 2, 80))
    whole, parameters = PresortedData(table).all_rows(), GrowParameters(criterion="gini")

    (first, counts), (second, again) = whole.grow(parameters), whole.grow(parameters)

    assert first == second
    assert counts == again
