"""Missing numbers: tried on both sides of every threshold, and by themselves; the better side is remembered."""

import numpy as np
import pytest
from hypothesis import given

from secateur import count, grow
from secateur.routing import apply
from small_tables import EXACT, assert_best_everywhere, samples

NAN = np.nan


@pytest.mark.lane
@given(samples(kinds=("numeric",)))
def test_no_side_for_the_missing_is_better(sample):
    tree, counts = sample.grow()

    assert_best_everywhere(sample, tree, counts, criterion="gini")


@pytest.mark.lane
@given(samples(kinds=("numeric",)))
def test_no_side_for_the_missing_is_better_among_counted_values(sample):
    tree, counts = sample.grow(max_bins=9)

    assert_best_everywhere(sample, tree, counts, criterion="gini")


@pytest.mark.parametrize("criterion", ["sqrt_pairs", "gain_ratio"])
@given(sample=samples(kinds=("numeric",), weights="whole"))
def test_no_side_for_the_missing_is_better_with_weights_and_other_criteria(criterion, sample):
    tree, counts = sample.grow(criterion=criterion)

    assert_best_everywhere(sample, tree, counts, criterion=criterion)


@pytest.mark.parametrize("max_bins", EXACT)
@pytest.mark.parametrize("missing_class", [0, 1])
def test_the_better_side_is_remembered(max_bins, missing_class):
    X = [[1.0], [2.0], [3.0], [4.0], [NAN], [NAN]]
    y = [0, 0, 1, 1, missing_class, missing_class]
    tree, counts = grow(X, y, max_bins=max_bins)

    assert tree.n_leaves == 2
    assert tree.default[0] == missing_class
    assert tree.threshold[0] == 2.5
    assert counts.majority[apply(tree, [[NAN]])].tolist() == [missing_class]


def test_present_can_be_told_from_missing():
    X = [[1.0], [2.0], [3.0], [NAN], [NAN]]
    y = [0, 0, 0, 1, 1]
    tree, counts = grow(X, y)

    assert tree.threshold[0] == np.inf
    assert tree.default[0] == 1
    assert counts.majority[apply(tree, [[1e308], [-1e308], [NAN]])].tolist() == [0, 0, 1]
    with pytest.warns(UserWarning, match="infinite"):
        tree, counts = grow([[1.0], [np.inf], [NAN], [NAN]], [0, 0, 1, 1])
    assert counts.majority[apply(tree, [[np.inf], [NAN]])].tolist() == [0, 1]


def test_a_column_of_one_value_and_gaps_is_not_constant():
    tree, _ = grow([[5.0], [5.0], [NAN], [NAN]], [0, 0, 1, 1])

    assert tree.n_leaves == 2


def test_missing_at_prediction_only_follows_the_child_with_most_growing_examples():
    large_left, _ = grow([[1.0], [2.0], [3.0]], [0, 0, 1])
    large_right, _ = grow([[1.0], [2.0], [3.0]], [0, 1, 1])
    equal, _ = grow([[1.0], [2.0]], [0, 1])

    assert apply(large_left, [[NAN]]).tolist() == [1]
    assert apply(large_right, [[NAN]]).tolist() == [2]
    assert apply(equal, [[NAN]]).tolist() == [1]


def test_missing_in_the_sample_but_not_in_the_node_follows_the_child_with_most_examples_of_the_node():
    # Column 1 takes every gap of column 0 to the left; the test on column 0 under it sees none.
    X = [[NAN, 0.0]] * 4 + [[1.0, 1.0], [2.0, 1.0], [2.0, 1.0], [3.0, 1.0]]
    y = [0, 0, 0, 0, 1, 2, 2, 2]
    tree, counts = grow(X, y)
    v = next(v for v in tree.internal if v and tree.feature[v] == 0)

    sizes = [counts.total[c] for c in tree.children(v)]
    assert tree.default[v] == int(np.argmax(sizes))


def test_gaps_written_in_any_way_are_the_same():
    pd = pytest.importorskip("pandas")
    plain = np.array([[1.0], [NAN], [3.0], [NAN], [2.0]])
    y = [0, 1, 0, 1, 1]
    wanted = grow(plain, y)[0]
    masked = np.ma.masked_array([[1.0], [9.0], [3.0], [9.0], [2.0]], mask=np.isnan(plain))
    frame = pd.DataFrame({"x0": pd.array([1, None, 3, None, 2], dtype="Int64")})

    assert grow(masked, y)[0] == wanted
    assert grow(plain.astype(np.float32), y)[0] == wanted
    assert np.array_equal(grow(frame, y)[0].threshold, wanted.threshold, equal_nan=True)
    assert np.array_equal(grow(frame, y)[0].default, wanted.default)


def test_the_sign_and_the_payload_of_a_nan_do_not_matter():
    odd = np.array([0xFFF8000000000001, 0x7FF8000000000123, 0x7FF8000000000000], np.uint64).view(np.float64)
    X = np.array([1.0, 2.0, 3.0, *odd])[:, None]
    for max_bins in EXACT:
        tree, counts = grow(X, [0, 0, 0, 1, 1, 1], max_bins=max_bins)
        assert tree.n_leaves == 2
        assert counts.by_class.tolist() == [[3, 3], [3, 0], [0, 3]]


@pytest.mark.parametrize("n_values", [20, 2000])
def test_routing_the_growing_data_with_gaps_gives_the_growing_counts(n_values):
    rng = np.random.default_rng(1)
    X = rng.integers(0, n_values, (2500, 4)).astype(float)
    X[rng.random(X.shape) < 0.2] = NAN
    y = rng.integers(0, 3, 2500)
    tree, counts = grow(X, y)

    assert count(tree, X, y, sample="grow") == counts
