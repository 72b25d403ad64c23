"""Growing against the naive grower, node by node; limits; odd data."""

import warnings

import numpy as np
import pytest
from hypothesis import given

from oracles import naive_grow
from secateur import grow
from secateur.growers.presort import midpoint
from secateur.routing import apply
from small_tables import (
    EXACT,
    MEASURES,
    Sample,
    assert_best_everywhere,
    column_parallel_top,
    per_criterion,
    rows_of_nodes,
    samples,
)

NUMERIC = samples(kinds=("numeric", "numeric", "flag"), missing=False)


def leaf_classes(tree, counts, X):
    return counts.tree.schema.classes[counts.majority[apply(tree, X)]].tolist()


@pytest.mark.lane
@given(NUMERIC)
def test_every_test_is_the_best_and_wins_its_ties(sample):
    tree, counts = sample.grow()

    assert_best_everywhere(sample, tree, counts, criterion="gini")


@pytest.mark.lane
@given(NUMERIC)
def test_every_test_on_counted_values_is_the_best_and_wins_its_ties(sample):
    tree, counts = sample.grow(max_bins=9)

    assert_best_everywhere(sample, tree, counts, criterion="gini")


@pytest.mark.parametrize("criterion", ["entropy", "sqrt"])
@per_criterion
@given(sample=NUMERIC)
def test_every_test_of_the_other_plain_criteria_is_the_best(criterion, sample):
    tree, counts = sample.grow(criterion=criterion)

    assert_best_everywhere(sample, tree, counts, criterion=criterion)


@pytest.mark.parametrize("criterion", sorted({*MEASURES} - {"gini", "entropy", "sqrt"}))
@per_criterion
@given(sample=samples(missing=False))
def test_every_test_of_the_rarer_criteria_is_the_best(criterion, sample):
    tree, counts = sample.grow(criterion=criterion)

    assert_best_everywhere(sample, tree, counts, criterion=criterion)


@pytest.mark.parametrize("penalise", [False, True])
@given(sample=NUMERIC)
def test_gain_ratio_takes_the_best_ratio_among_at_least_average_gains(penalise, sample):
    tree, counts = sample.grow(criterion="gain_ratio", penalise_numeric=penalise)

    assert_best_everywhere(sample, tree, counts, criterion="gain_ratio", has_threshold_penalty=penalise)


@given(sample=samples(kinds=("numeric",), weights="whole"))
def test_limits_hold_and_nothing_admissible_is_left_undone(sample):
    for max_bins in EXACT:
        tree, counts = sample.grow(max_depth=2, min_samples_leaf=3, min_samples_split=7, max_bins=max_bins)
        assert_best_everywhere(
            sample, tree, counts, criterion="gini", max_depth=2, min_samples_leaf=3, min_samples_split=7
        )
        assert tree.depth.max() <= 2
        assert counts.total[tree.is_leaf].min() >= 3 or tree.n_nodes == 1
        assert (counts.total[tree.internal] >= 7).all()


@given(samples(missing=False))
def test_the_whole_tree_is_the_naive_one(sample):
    tree, _ = sample.grow()
    naive = naive_grow(sample.naive(), criterion="gini")
    if any(len(node.get("tests", [])) > 1 for node in naive):
        return  # a tie may be broken among sets of categories that the library never looks at

    rows = rows_of_nodes(tree, sample.naive()[0])
    order, todo = [], [0]
    while todo:
        order.append(todo.pop())
        todo += naive[order[-1]]["children"][::-1]
    assert [sorted(naive[v]["rows"]) for v in order] == [sorted(r) for r in rows]


@given(samples())
def test_splitting_the_top_column_by_column_grows_the_same_tree(sample):
    plain = sample.grow()
    for max_bins in EXACT:
        with column_parallel_top():
            tree, counts = sample.grow(n_jobs=2, max_bins=max_bins)
        assert_best_everywhere(sample, tree, counts, criterion="gini")
        assert np.array_equal(tree.parent, plain[0].parent)
        assert np.array_equal(tree.feature, plain[0].feature)
        assert np.array_equal(tree.threshold, plain[0].threshold, equal_nan=True)
        assert np.array_equal(tree.branch, plain[0].branch)
        assert counts.by_class.tolist() == plain[1].by_class.tolist()


@given(samples())
def test_growing_changes_nothing_it_was_given(sample):
    before = sample.X.copy(), sample.y.copy()
    sample.X.flags.writeable = sample.y.flags.writeable = False

    sample.grow()

    assert np.array_equal(sample.X, before[0], equal_nan=True)
    assert np.array_equal(sample.y, before[1])


def test_thresholds_are_float64_midpoints_of_the_neighbours_in_the_node():
    X = np.array([[1.0], [1.1], [1.3], [7.0]], np.float32)
    tree, _ = grow(X, [0, 1, 1, 0])

    wide = X[:, 0].astype(np.float64)
    assert sorted(tree.threshold[tree.internal]) == [(wide[0] + wide[1]) / 2, (wide[2] + wide[3]) / 2]
    assert tree.threshold.dtype == np.float64


@pytest.mark.parametrize("low", [-np.inf, -1e308, -1.0, 0.0, 1.0, 1.0 + 2**-52, 1e308])
def test_a_threshold_between_neighbouring_numbers_is_below_the_higher(low):
    high = np.nextafter(low, np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        threshold = midpoint(np.array([low, low]), np.array([high, np.inf]))
    assert (threshold >= low).all()
    assert (threshold < [high, np.inf]).all()


def test_a_leaf_may_have_exactly_the_minimum_share_of_the_weight():
    for fraction, n_rows in ((0.5, 2), (0.3, 10), (0.1, 30)):
        x = np.arange(n_rows)
        y = x < round(fraction * n_rows)
        assert grow(x[:, None], y, min_weight_fraction_leaf=fraction)[0].n_leaves == 2


@pytest.mark.parametrize("max_bins", EXACT)
@given(sample=samples())
def test_multiway_trees_are_the_same_whatever_the_number_of_rows_at_the_top(max_bins, sample):
    wanted = sample.grow(splits="multiway", max_bins=max_bins)
    with column_parallel_top():
        assert sample.grow(splits="multiway", max_bins=max_bins, n_jobs=2) == wanted


@pytest.mark.lane
def test_exclusive_or_is_learned_depth_first_and_left_alone_best_first():
    X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]

    tree, counts = grow(X, y)
    assert tree.n_leaves == 4
    assert leaf_classes(tree, counts, X) == y
    assert grow(X, y, growth="best-first")[0].n_nodes == 1
    assert grow(X, y, growth="best-first", allow_zero=True)[0].n_leaves == 4
    assert grow(X, y, allow_zero=False)[0].n_nodes == 1


@pytest.mark.parametrize("criterion", ["entropy", "sqrt", "sqrt_pairs", "error", "gain_ratio"])
def test_exclusive_or_under_the_other_criteria(criterion):
    X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 3  # repeated: gain ratio needs two rows in a branch
    y = [0, 1, 1, 0] * 3

    tree, counts = grow(X, y, criterion=criterion)
    assert leaf_classes(tree, counts, X) == y
    assert grow(X, y, criterion=criterion, growth="best-first")[0].n_nodes == 1


def test_of_equal_columns_the_first_is_tested():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 1))
    y = rng.integers(0, 3, 300)

    for copy in (x, -x, np.exp(x)):  # equal, mirrored, bent
        for columns in ([x, copy], [np.ones_like(x), x, copy]):
            tree, _ = grow(np.hstack(columns), y)
            assert set(tree.feature[tree.internal]) == {len(columns) - 2}


def test_of_equal_thresholds_the_lower_is_taken():
    tree, _ = grow([[1.0], [2.0], [3.0]], [0, 1, 0])

    assert tree.threshold[0] == 1.5


@pytest.mark.lane
def test_constant_and_all_missing_columns_are_never_tested():
    x = np.arange(6.0)
    X = np.column_stack([np.full(6, 3.0), np.full(6, np.nan), x])
    tree, _ = grow(X, [0, 1, 0, 1, 0, 1])

    assert set(tree.feature[tree.internal]) == {2}
    assert grow(X[:, :2], [0, 1, 0, 1, 0, 1])[0].n_nodes == 1


def test_equal_rows_with_conflicting_labels_stay_together():
    tree, counts = grow([[1.0, 2.0]] * 5 + [[2.0, 2.0]], [0, 1, 1, 0, 1, 0])

    assert tree.n_leaves == 2
    assert counts.by_class.tolist() == [[3, 3], [2, 3], [1, 0]]


@pytest.mark.filterwarnings("ignore:.*class:UserWarning")
def test_one_class_is_one_leaf():
    tree, counts = grow([[1.0], [2.0]], ["a", "a"])

    assert tree.n_nodes == 1
    assert counts.by_class.tolist() == [[2]]


@pytest.mark.filterwarnings("ignore:.*class:UserWarning")
def test_one_row_is_one_leaf():
    tree, counts = grow([[1.0, np.nan]], [7])

    assert tree.n_nodes == 1
    assert counts.by_class.tolist() == [[1]]


@pytest.mark.parametrize(
    "labels",
    [["yes", "no"], [3, -7], [True, False], [1.0, 0.0], np.array(["yes", "no"], object), np.array(["b", "a"])],
)
def test_labels_of_every_type_come_back_as_they_were(labels):
    y = np.asarray(labels)[[0, 1, 1, 0]]
    X = [[1.0], [2.0], [3.0], [4.0]]
    tree, counts = grow(X, y)

    assert leaf_classes(tree, counts, X) == y.tolist()


def test_infinities_are_ordered_as_values():
    X = np.array([[-np.inf], [0.0], [1.0], [np.inf]])
    with pytest.warns(UserWarning, match="infinite"):
        tree, counts = grow(X, [1, 0, 0, 1])

    assert counts.majority[apply(tree, X)].tolist() == [1, 0, 0, 1]
    assert sorted(tree.threshold[tree.internal]) == [-np.inf, 1.0]


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, np.nextafter(1.0, 2)),
        (-np.nextafter(1.0, 2), -1.0),
        (0.0, 5e-324),
        (-5e-324, 0.0),
        (5e-324, 1e-323),
        (1.5e-323, 2.5e-323),
        (1e300, 1.7e308),
        (-1.7e308, 1.7e308),
        (np.nextafter(np.inf, 0), np.inf),
        (-np.inf, np.inf),
        (float(2**53), float(2**53 + 2)),
    ],
)
@pytest.mark.filterwarnings("ignore:column 'x0' is infinite")
def test_the_nearest_and_the_farthest_values_are_told_apart(low, high):
    alone, with_a_gap = np.array([[low], [high]]), np.array([[low], [high], [np.nan]])
    for X, y in ((alone, [0, 1]), (with_a_gap, [0, 1, 2])):  # two values; sorted values
        for max_bins in EXACT:
            tree, counts = grow(X, y, max_bins=max_bins)
            assert any(low <= t < high for t in tree.threshold[tree.internal])
            assert counts.majority[apply(tree, X)].tolist() == y


def test_the_two_zeros_are_one_value():
    for max_bins in EXACT:
        tree, _ = grow([[-0.0], [0.0], [1.0]], [0, 1, 1], max_bins=max_bins)
        assert tree.threshold.tolist()[0] == 0.5
        assert tree.n_leaves == 2
        tree, counts = grow([[-0.0], [0.0], [1.0], [2.0]], [0, 1, 1, 2], max_bins=max_bins)
        assert sorted(tree.threshold[tree.internal]) == [0.5, 1.5]
        assert [1, 1, 0] in counts.by_class.tolist()


def test_integers_that_float32_cannot_hold_are_split():
    X = np.array([[2**24], [2**24 + 1], [2**24 + 2], [2**52 + 1]])
    tree, counts = grow(X, [0, 1, 0, 1])

    assert counts.majority[apply(tree, X)].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("convert", [np.float16, np.float32, ">f8", ">f4", np.int16, ">i4"])
def test_any_type_gives_the_tree_of_the_same_values_in_float64(convert):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 50, (60, 3)).astype(float), rng.integers(0, 2, 60)

    assert grow(X.astype(convert), y)[0] == grow(X, y)[0]


def test_any_layout_gives_the_same_tree():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(300, 6)), rng.integers(0, 2, 300)
    wanted = grow(X, y)[0]
    wide = np.zeros((600, 12))
    wide[::2, 1::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False

    for same in (np.asfortranarray(X), wide[::2, 1::2], X[::-1][::-1], frozen, X[:, ::-1][:, ::-1], X.tolist()):
        assert grow(same, y)[0] == wanted


def test_float32_and_float64_of_the_same_values_give_the_same_tree():
    rng = np.random.default_rng(5)
    narrow, y = rng.normal(size=(700, 4)).astype(np.float32), rng.integers(0, 3, 700)

    assert grow(narrow, y)[0] == grow(narrow.astype(np.float64), y)[0]


def test_alternating_classes_grow_a_chain_as_deep_as_the_data():
    n = 20_000
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    tree, counts = grow(X, y)

    assert tree.n_leaves == n
    assert tree.depth.max() > n // 4
    assert counts.majority[apply(tree, X)].tolist() == y.tolist()


def test_sorted_and_counted_values_give_the_same_tree():
    rng = np.random.default_rng(6)
    for n_values in (3, 50, 255, 256, 257, 700):
        x = rng.permutation(np.repeat(np.arange(n_values, dtype=float), 2))
        sample = Sample(x[:, None], rng.integers(0, 3, len(x)))
        wanted, counts = sample.grow()
        tree, others = sample.grow(max_bins=n_values)
        assert np.array_equal(tree.threshold, wanted.threshold, equal_nan=True)
        assert others.by_class.tolist() == counts.by_class.tolist()


@pytest.mark.parametrize("n_columns", [1, 5, 33])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_two_valued_columns_are_counted_right_in_large_nodes(n_columns, n_classes):
    rng = np.random.default_rng(n_columns)
    X = (rng.random((700, n_columns)) < rng.random(n_columns)) * 2.0 - 1
    y = (X[:, 0] > 0) * (rng.random(700) < 0.4) + (n_classes == 3) * (rng.random(700) < 0.1)
    X[:, -1] = np.where(rng.random(700) < 0.3, 1.0, X[:, -1])
    for nominal in ((), tuple(range(0, n_columns, 2))):
        sample = Sample(X, y.astype(int), nominal)
        tree, counts = sample.grow(max_depth=2)
        assert_best_everywhere(sample, tree, counts, criterion="gini", max_depth=2)


def test_more_columns_than_bits_in_a_word():
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(200, 140)), rng.integers(0, 2, 200)
    constant = [0, 3, 62, 63, 64, 65, 127, 128, 139]
    X[:, constant] = 1.0
    tree, counts = grow(X, y)
    slim, slim_counts = grow(np.delete(X, constant, axis=1), y)

    assert np.array_equal(tree.threshold, slim.threshold, equal_nan=True)
    assert counts.by_class.tolist() == slim_counts.by_class.tolist()
