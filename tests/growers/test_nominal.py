"""Nominal columns: a set of categories against the rest, or one child per category."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur import Column, Schema, Table, count, encode, grow
from secateur.routing import apply
from small_tables import CRITERIA, MEASURES, Sample, assert_best_everywhere, per_criterion, rows_of_nodes, samples

NOMINAL = ("nominal", "nominal", "pair", "numeric")


def letters(words):
    return np.array([list(word) for word in words], object)


@pytest.mark.lane
@given(samples(kinds=NOMINAL))
def test_no_set_of_categories_is_better(sample):
    tree, counts = sample.grow()

    assert_best_everywhere(sample, tree, counts, criterion="gini")


@pytest.mark.parametrize("criterion", MEASURES[1:])
@per_criterion
@given(sample=samples(kinds=NOMINAL))
def test_no_set_of_categories_is_better_under_the_other_criteria(criterion, sample):
    tree, counts = sample.grow(criterion=criterion)

    assert_best_everywhere(sample, tree, counts, criterion=criterion)


@pytest.mark.parametrize("criterion", CRITERIA)
@per_criterion
@given(data=st.data(), least=st.integers(2, 4), weights=st.sampled_from([None, "whole"]))
def test_no_set_of_categories_that_leaves_both_children_large_enough_is_better(criterion, data, least, weights):
    sample = data.draw(samples(kinds=NOMINAL, weights=weights))
    tree, counts = sample.grow(criterion=criterion, min_samples_leaf=least)

    assert_best_everywhere(sample, tree, counts, criterion=criterion, min_samples_leaf=least)


@pytest.mark.lane
def test_a_set_that_is_no_start_of_the_order_is_found_if_the_starts_are_too_small():
    # Shares of class 1: a 0, b 1/2, c 1. The starts {a} and {a, b} leave a child of 2 rows; {a, c} leaves 4 and 4.
    X, y = letters("aabbbbcc"), [0, 0, 0, 0, 1, 1, 1, 1]
    tree, _ = grow(X, y, min_samples_leaf=3, max_depth=1)

    assert tree.branch.tolist() == [0, 1, 0]


@given(sample=samples(kinds=NOMINAL))
def test_no_set_of_categories_has_a_better_gain_ratio(sample):
    tree, counts = sample.grow(criterion="gain_ratio")

    assert_best_everywhere(sample, tree, counts, criterion="gain_ratio")


@pytest.mark.lane
@pytest.mark.parametrize("criterion", CRITERIA)
@per_criterion
@given(data=st.data(), least=st.integers(1, 3), weights=st.sampled_from([None, "whole"]))
def test_no_split_of_one_category_from_the_rest_is_better(criterion, data, least, weights):
    sample = data.draw(samples(kinds=NOMINAL, weights=weights))
    tree, counts = sample.grow(criterion=criterion, splits="one-vs-rest", min_samples_leaf=least)

    assert_best_everywhere(sample, tree, counts, criterion=criterion, one_vs_rest=True, min_samples_leaf=least)


def test_one_category_is_split_from_the_rest_however_many_there_are():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 100, (2000, 2)).astype(float)
    y = (codes[:, 0] == 77) | ((codes[:, 1] > 60) & (rng.random(2000) < 0.5))
    tree, _ = grow(codes, y, nominal=[0, 1], splits="one-vs-rest", max_depth=6)

    rows = rows_of_nodes(tree, codes.T.tolist())
    for v in tree.internal:
        column = codes[:, tree.feature[v]]
        assert min(len(set(column[rows[child]])) for child in tree.children(v)) == 1
    assert tree.feature[0] == 0
    assert tree.n_leaves > 10


@pytest.mark.parametrize("criterion", ["gini", "gain_ratio"])
@per_criterion
@given(sample=samples(kinds=NOMINAL))
def test_no_multiway_test_is_better(criterion, sample):
    tree, counts = sample.grow(criterion=criterion, splits="multiway")

    assert_best_everywhere(sample, tree, counts, criterion=criterion, multiway=True)


@pytest.mark.lane
@given(sample=samples(kinds=NOMINAL))
def test_multiway_children_have_the_minimum_number_of_rows(sample):
    tree, counts = sample.grow(splits="multiway", min_samples_leaf=2)

    assert_best_everywhere(sample, tree, counts, criterion="gini", multiway=True, min_samples_leaf=2)


def test_a_multiway_column_is_not_used_again_below():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (300, 4)).astype(float), rng.integers(0, 3, 300)
    tree, _ = grow(X, y, nominal=[0, 1, 2, 3], splits="multiway")

    assert tree.n_nodes > 10
    for v in tree.internal:
        u = tree.parent[v]
        while u >= 0:
            assert tree.feature[u] != tree.feature[v]
            u = tree.parent[u]


def test_a_declared_value_without_rows_is_an_empty_leaf_with_the_label_of_its_parent():
    pd = pytest.importorskip("pandas")
    column = pd.Categorical(["a", "a", "a", "c"], categories=["a", "b", "c"])
    tree, counts = grow(pd.DataFrame({"x": column}), ["n", "n", "n", "y"], splits="multiway")

    assert tree.arity[0] == 3
    assert counts.by_class.tolist() == [[3, 1], [3, 0], [0, 0], [0, 1]]
    assert counts.majority.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_of_equal_sets_the_one_that_comes_first_is_taken(n_classes):
    # a against b, c and a, b against c drop equally (mirror images of one another).
    X = [["a"], ["a"], ["b"], ["b"], ["c"], ["c"]]
    y = [0, 0, 0, 1, 1, 1] if n_classes == 2 else [0, 0, 2, 2, 1, 1]
    tree, _ = grow(np.array(X, object), y)

    assert tree.branch[:3].tolist() == [0, 1, 1]


def test_the_lowest_category_present_goes_to_the_first_child():
    X, y = letters("abcdabcd"), [1, 0, 1, 0, 1, 0, 1, 0]
    tree, _ = grow(X, y)

    assert tree.branch.tolist() == [0, 1, 0, 1]


def test_a_binary_test_may_use_a_column_again_below():
    X, y = letters("abcabc"), [0, 1, 2, 0, 1, 2]
    tree, counts = grow(X, y)

    assert tree.feature[tree.internal].tolist() == [0, 0]
    assert counts.majority[apply(tree, X)].tolist() == y


def best_set_by_brute_force(codes, y, n_codes):
    """Least weighted gini over all sets of categories."""
    table = np.zeros((n_codes, 2))
    np.add.at(table, (codes, y), 1)
    chosen = (np.arange(1, 2 ** (n_codes - 1))[:, None] >> np.arange(n_codes)) & 1
    left = chosen @ table
    right = table.sum(axis=0) - left
    size = left.sum(axis=1), right.sum(axis=1)
    after = sum(2 * side[:, 0] * side[:, 1] / n for side, n in zip((left, right), size, strict=True))
    total = table.sum(axis=0)
    return 2 * total[0] * total[1] / total.sum() - after.min()


@pytest.mark.parametrize("seed", range(5))
def test_with_two_classes_the_best_of_twelve_categories_is_found(seed):
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(12), rng.integers(0, 12, 200))
    y = (rng.random(212) < rng.random(12)[codes]).astype(int)
    tree, _ = grow(codes[:, None], y, nominal=[0], max_depth=1)

    assert tree.score[0] * 212 == pytest.approx(best_set_by_brute_force(codes, y, 12), rel=1e-12)


@pytest.mark.lane
@pytest.mark.parametrize("seed", range(5))
def test_the_best_of_many_columns_is_found_and_of_equal_columns_the_lowest(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 5, (90, 9))
    y = ((codes[:, 3] > 2) ^ (rng.random(90) < 0.3)).astype(int)
    codes = codes[:, rng.integers(0, 9, 21)]  # some stand there twice, and not in one word
    drops = [best_set_by_brute_force(codes[:, j], y, 5) for j in range(21)]
    tree, _ = grow(codes, y, nominal=[*range(21)])

    best = max(drops)
    assert tree.score[0] * 90 == pytest.approx(best, abs=1e-9)
    assert tree.feature[0] == next(j for j in range(21) if drops[j] > best - 1e-9)


def admissible(codes, least):
    """Every set of categories with code 0, as a mask of rows, that leaves at least `least` rows on both sides."""
    present = sorted(set(codes.tolist()))
    for n in range(len(present) - 1):
        for chosen in combinations(present[1:], n):
            taken = np.zeros(present[-1] + 1, bool)
            taken[[present[0], *chosen]] = True
            is_in = taken[codes]
            if least <= is_in.sum() <= len(codes) - least:
                yield is_in


def gini_drop(y, is_in):
    """What a set of categories takes off the gini impurity times the rows, from class counts alone."""

    def impurity(some):
        return 2 * some.sum() * (len(some) - some.sum()) / len(some)

    return impurity(y) - impurity(y[is_in]) - impurity(y[~is_in])


def squares_drop(y, is_in):
    """The same of the squared error."""
    return sum(len(some) * (some.mean() - y.mean()) ** 2 for some in (y[is_in], y[~is_in]))


@pytest.mark.parametrize(("criterion", "drop"), [("gini", gini_drop), ("squared_error", squares_drop)])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_all_large_enough_sets_of_ten_categories_is_found(criterion, drop, seed):
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(10), rng.integers(0, 10, 30))
    y = (rng.random(40) < rng.random(10)[codes]).astype(float)
    if criterion == "squared_error":
        y = np.round(4 * y + rng.normal(size=40), 2)
    for least in (5, 12, 18, 20):
        best = max((drop(y, is_in) for is_in in admissible(codes, least)), default=None)
        tree, _ = grow(codes[:, None], y, nominal=[0], criterion=criterion, max_depth=1, min_samples_leaf=least)

        if tree.n_nodes == 1:
            assert best is None
        else:
            assert drop(y, tree.branch[codes] == 0) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize(("criterion", "drop"), [("gini", gini_drop), ("squared_error", squares_drop)])
@pytest.mark.parametrize("seed", range(4))
def test_of_eleven_categories_the_best_set_is_found_unless_it_is_too_small(criterion, drop, seed):
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(11), rng.integers(0, 11, 33))
    y = (rng.random(44) < rng.random(11)[codes]).astype(float)
    drops = [(is_in.sum(), drop(y, is_in)) for is_in in admissible(codes, 1)]
    best = max(one for _, one in drops)
    for least in (2, 12, 20):
        tree, _ = grow(codes[:, None], y, nominal=[0], criterion=criterion, max_depth=1, min_samples_leaf=least)
        found = None if tree.n_nodes == 1 else drop(y, tree.branch[codes] == 0)
        best_allowed = max(one for n, one in drops if least <= n <= 44 - least)
        order = np.argsort([y[codes == k].mean() for k in range(11)], kind="stable")
        starts = [np.isin(codes, order[:n]) for n in range(1, 11)]
        best_start = max((drop(y, s) for s in starts if least <= s.sum() <= 44 - least), default=None)

        if best_allowed == pytest.approx(best, rel=1e-9):
            assert found == pytest.approx(best, rel=1e-9)
        else:
            assert (
                found is None if best_start is None else best_start * (1 - 1e-9) <= found <= best_allowed * (1 + 1e-9)
            )


@pytest.mark.parametrize("n_categories", [10, 11, 40, 64, 70])
def test_many_categories_with_many_classes_are_split_cleanly_where_one_class_stands_apart(n_categories):
    codes = np.repeat(np.arange(n_categories), 3)
    y = np.where(codes % 2 == 0, 0, 1 + codes % 3)
    tree, counts = grow(codes[:, None], y, nominal=[0], max_depth=1)

    assert sorted(counts.by_class[1:, 0].tolist()) == [0, 3 * len(range(0, n_categories, 2))]
    assert len(set(tree.branch[::2])) == 1
    assert len(set(tree.branch[1::2])) == 1


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2)), min_size=6, max_size=30))
def test_gain_ratio_of_a_two_value_nominal_test_is_that_of_the_same_binary_test(rows):
    x = np.array([[float(a)] for a, _ in rows])
    y = np.array([0, 1, 2, *(c for _, c in rows[3:])])
    rules = {"criterion": "gain_ratio", "max_depth": 1}
    nominal = [grow(x, y, nominal=[0], splits=splits, **rules) for splits in ("binary", "multiway")]
    numeric = grow(x, y, **rules)

    for tree, counts in nominal:
        assert tree.n_nodes == numeric[0].n_nodes
        assert counts.by_class.tolist() == numeric[1].by_class.tolist()
        assert np.allclose(tree.score, numeric[0].score, rtol=1e-12, equal_nan=True)


def test_unseen_categories_follow_the_child_with_most_growing_examples():
    X, y = letters("aabbbcc"), [0, 0, 1, 1, 1, 0, 0]
    tree, _ = grow(X, y)

    assert tree.branch.tolist() == [0, 1, 0]
    assert apply(tree, letters("zab")).tolist() == [1, 1, 2]
    tree, _ = grow(letters("aabbb"), [0, 0, 1, 1, 1])
    assert apply(tree, letters("zab")).tolist() == [2, 1, 2]


@pytest.mark.parametrize("splits", ["binary", "one-vs-rest", "multiway"])
def test_of_equal_children_unseen_categories_follow_the_first(splits):
    tree, _ = grow(letters("aabb"), [0, 0, 1, 1], splits=splits)

    assert apply(tree, letters("z")).tolist() == [1]


def test_a_category_unseen_in_the_node_follows_the_child_with_most_examples():
    # Under the right child of column 1, category c of column 0 does not occur.
    X = letters(["ax", "ax", "cx", "cx", "ay", "ay", "by", "by", "by", "cx", "ay"])
    y = [0, 0, 0, 0, 1, 1, 2, 2, 2, 0, 1]
    tree, counts = grow(X, y)
    leaf = apply(tree, letters(["cy"]))[0]

    assert tree.feature[0] == 1
    parent = tree.parent[leaf]
    assert tree.feature[parent] == 0
    assert counts.total[leaf] == max(counts.total[c] for c in tree.children(parent))


def test_a_missing_category_is_a_value_of_its_own_when_growing_saw_it():
    X = np.array([["a"], [None], ["b"], [None], ["a"], ["b"]], object)
    tree, counts = grow(X, [0, 1, 0, 1, 0, 0])

    assert tree.n_leaves == 2
    assert counts.majority[apply(tree, X)].tolist() == [0, 1, 0, 1, 0, 0]
    tree, _ = grow(X, [0, 1, 2, 1, 0, 2], splits="multiway")
    assert tree.arity[0] == 3


def test_a_missing_category_that_growing_did_not_see_follows_the_larger_child():
    tree, _ = grow(letters("aabbb"), [0, 0, 1, 1, 1])

    assert apply(tree, np.array([[None]], object)).tolist() == [2]


@pytest.mark.filterwarnings("ignore:column 'x0' has 10,000 categories")
def test_ten_thousand_categories():
    rng = np.random.default_rng(2)
    codes = rng.permutation(np.repeat(np.arange(10_000), 2))
    y = (codes * 7919 % 10_007) % 2
    X = np.array([f"c{c}" for c in codes], object)[:, None]
    tree, counts = grow(X, y)

    assert tree.n_leaves == 2  # class is a function of the category
    assert counts.majority[apply(tree, X)].tolist() == y.tolist()


def test_categories_by_the_thousand_with_three_classes():
    rng = np.random.default_rng(3)
    codes, y = rng.integers(0, 900, 3000), rng.integers(0, 3, 3000)
    tree, counts = grow(codes[:, None], y, nominal=[0])

    assert count(tree, codes[:, None], y, sample="grow") == counts


@pytest.mark.lane
def test_sixty_four_categories_and_the_bits_above():
    for n in (62, 63, 64, 65, 130):
        codes = np.arange(n)
        y = (codes * 5 // 3) % 2
        tree, counts = grow(codes[:, None], y, nominal=[0])
        assert tree.n_leaves == 2
        assert counts.majority[apply(tree, codes[:, None])].tolist() == y.tolist()
        assert tree.branch[0] == 0


def test_declared_categories_may_have_any_order_and_the_tree_uses_their_codes():
    schema = Schema((Column("x", "nominal", ("z", "a", "m")),), np.array([0, 1]))
    table = Table(schema, (np.array([0, 1, 2, 0], np.int32),), np.array([0, 1, 0, 0], np.int32))
    tree, counts = grow(table)

    assert tree.branch.tolist() == [0, 1, 0]
    assert counts.by_class.tolist() == [[3, 1], [3, 0], [0, 1]]


@given(samples(kinds=("nominal", "pair"), classes=(2,)))
def test_two_classes_swapped_swap_the_counts_only(sample):
    tree, counts = sample.grow(min_samples_leaf=2)
    swapped = Sample(sample.X, 1 - sample.y, sample.nominal)
    other, other_counts = swapped.grow(min_samples_leaf=2)

    assert np.array_equal(tree.parent, other.parent)
    assert tree.branch.tolist() == other.branch.tolist()
    assert tree.default.tolist() == other.default.tolist()
    assert other_counts.by_class.tolist() == counts.by_class[:, ::-1].tolist()


def test_two_classes_swapped_do_not_change_a_set_that_only_ties():
    # Shares .1, .1 and .3 of class 1: no set lowers the error, all of them tie.
    X, y = letters("a" * 10 + "b" * 10 + "c" * 10), np.array([1] + [0] * 9 + [1] + [0] * 9 + [1] * 3 + [0] * 7)
    tree, _ = grow(X, y, criterion="error", max_depth=1)
    other, _ = grow(X, 1 - y, criterion="error", max_depth=1)

    assert tree.branch.tolist() == other.branch.tolist() == [0, 1, 1]


def test_a_table_can_be_grown_on_with_labels_apart():
    X, y = letters("aabbb"), [0, 0, 1, 1, 1]

    assert grow(encode(X), y) == grow(X, y)


def identifiers(n_categories, n_rows):
    """Rows of many categories, each with its own mean: every test of theirs helps."""
    rng = np.random.default_rng(n_categories)
    codes = rng.permutation(np.resize(np.arange(n_categories), n_rows)).astype(np.int32)
    columns = Column("id", "nominal", tuple(f"u{k}" for k in range(n_categories))), Column("x", "numeric")
    return Table(
        Schema(columns, has_numeric_target=True), (codes, rng.normal(size=n_rows)), target=rng.normal(size=n_rows)
    )


@pytest.mark.parametrize(("n_categories", "deepest"), [(1001, 14), (5000, 11)])
def test_a_column_of_many_categories_is_tested_only_near_the_root(n_categories, deepest):
    tree = grow(identifiers(n_categories, 8000), criterion="squared_error")[0]
    depth = tree.depth[tree.feature == 0]
    assert depth.max() == deepest
    assert len(tree.branch) <= 2 << 24


def test_a_thousand_categories_are_tested_at_any_depth():
    tree = grow(identifiers(1000, 8000), criterion="squared_error")[0]
    assert tree.depth[tree.feature == 0].max() > 14


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_limit_of_many_categories_does_not_depend_on_threads(n_jobs):
    table = identifiers(3000, 6000)
    alone = grow(table, criterion="squared_error")[0]
    assert grow(table, criterion="squared_error", n_jobs=n_jobs)[0] == alone
