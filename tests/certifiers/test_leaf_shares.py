"""Class shares of leaves: limits that hold for all at once."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import secateur
from secateur import Counts, Moments, Pruning, Tree
from secateur.certifiers import LeafShares, certify, leaf_shares
from secateur.core.leaf_shares import class_number
from secateur.errors import CountsError, LeakageError, ParameterError, UnsupportedError

TREE = Tree.from_parents([-1, 0, 1, 1, 0])
LABELS = [0, 0, 0, 1, 1]
GROWN = Counts.from_leaves(TREE, [[20, 1], [2, 9], [0, 30]])
FRESH = Counts.from_leaves(TREE, [[40, 5], [10, 30], [0, 12]], sample="test")
WHOLE = Pruning.from_cuts(TREE, [], node_labels=LABELS, seen={"grow"})


def upper(hits, n, delta):
    return 1.0 if hits == n else stats.beta.ppf(1 - delta, hits + 1, n - hits)


def lower(hits, n, delta):
    return 0.0 if hits == 0 else stats.beta.ppf(delta, hits, n - hits + 1)


def test_two_classes_have_one_limit_for_each_class_and_leaf():
    limits = leaf_shares(WHOLE, FRESH, delta=0.1)

    side = (1 - 0.9 ** (1 / 3)) / 2
    assert limits.nodes.tolist() == [2, 3, 4]
    assert limits.count.tolist() == [[40, 5], [10, 30], [0, 12]]
    for i, (a, b) in enumerate([(40, 5), (10, 30), (0, 12)]):
        assert limits.upper[i].tolist() == pytest.approx([upper(a, a + b, side), upper(b, a + b, side)])
        assert limits.lower[i].tolist() == pytest.approx([lower(a, a + b, side), lower(b, a + b, side)])


def test_more_classes_have_two_limits_each():
    tree = Tree.from_parents([-1])
    limits = leaf_shares(Pruning.from_cuts(tree, []), Counts.from_leaves(tree, [[10, 5, 1]], sample="test"), delta=0.12)

    assert limits.upper[0].tolist() == pytest.approx([upper(k, 16, 0.02) for k in (10, 5, 1)])
    assert limits.lower[0].tolist() == pytest.approx([lower(k, 16, 0.02) for k in (10, 5, 1)])


def test_a_leaf_without_rows_has_trivial_limits_and_no_share_of_delta():
    empty = Counts.from_leaves(TREE, [[40, 5], [0, 0], [0, 12]], sample="test")
    limits = leaf_shares(WHOLE, empty)

    assert limits.lower[1].tolist() == [0, 0]
    assert limits.upper[1].tolist() == [1, 1]
    assert np.isnan(limits.share[1]).all()
    assert limits.upper[0, 1] == pytest.approx(upper(5, 45, (1 - 0.95**0.5) / 2))
    bound = limits.bound(3, 1)
    assert (bound.value, bound.n) == (1, 0)


def test_over_nodes_every_node_of_the_grown_tree_shares_delta():
    one_leaf = Pruning.from_cuts(TREE, [0], node_labels=LABELS, seen={"grow"})
    limits = leaf_shares(one_leaf, FRESH, over="nodes")

    assert limits.nodes.tolist() == [0, 1, 2, 3, 4]
    assert limits.upper[1, 1] == pytest.approx(upper(35, 85, 0.05 / 5 / 2))
    assert limits.method.endswith("5 nodes at once")
    assert "chose the tree at most among the prunings" in str(replace(limits, method="another name").bound(1, 1))
    assert "were not used to choose the tree" in str(leaf_shares(one_leaf, FRESH).bound(0, 1))
    limits.check_covers([0, 3])
    with pytest.raises(ParameterError, match="no limits for leaf 3"):
        leaf_shares(one_leaf, FRESH).check_covers([0, 3])


def test_rows_that_chose_the_pruning_certify_nodes_but_not_leaves():
    chosen = Pruning.from_cuts(TREE, [1], node_labels=LABELS, seen={"grow", "test"})
    fresh = Pruning.from_cuts(TREE, [1], node_labels=LABELS, seen={"grow"})

    with pytest.raises(LeakageError, match="already helped"):
        leaf_shares(chosen, FRESH)
    with pytest.raises(ParameterError, match="pass grown="):
        leaf_shares(chosen, FRESH, over="nodes")
    shares = leaf_shares(chosen, FRESH, over="nodes", grown=GROWN)
    assert np.array_equal(shares.upper, leaf_shares(fresh, FRESH, over="nodes").upper)
    with pytest.raises(LeakageError, match="'grow' grew the tree"):
        leaf_shares(chosen, GROWN, over="nodes", grown=GROWN)


def test_shares_are_found_by_leaf_and_class_name():
    tree, grown = secateur.grow([[0.0], [1.0]], ["bad", "good"])
    pruning = Pruning.from_cuts(tree, [], node_labels=grown.majority, seen={"grow"})
    X, y = np.append(np.linspace(0.01, 0.4, 50), np.linspace(0.6, 0.99, 50))[:, None], ["bad"] * 40 + ["good"] * 60
    limits = leaf_shares(pruning, secateur.count(tree, X, y, sample="test"))
    bound = limits.bound(1, "good")

    assert (bound.errors, bound.n, bound.details["class"]) == (10, 50, "good")
    assert limits.of(1, "good") == (0.2, bound.details["lower"], bound.value)
    assert "the share of 'good' in leaf 1 on new rows like these is at most" in str(bound)
    with pytest.raises(ParameterError, match="node 0 has no limits here; there are some for 1, 2"):
        limits.bound(0, "good")
    with pytest.raises(ParameterError, match="the classes are 'bad', 'good'"):
        limits.bound(1, "ugly")


@pytest.mark.parametrize("over", ["leaves", "nodes"])
def test_rows_whose_shares_are_known_certify_no_other_pruning(over):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] + rng.normal(size=400) > 0
    tree, grown = secateur.grow(X[:200], y[:200], max_depth=3)
    held_out = secateur.count(tree, X[200:], y[200:], sample="held out")
    uncut, stump = (Pruning.from_cuts(tree, cuts, node_labels=grown.majority) for cuts in ([], [0]))
    leaf_shares(uncut, held_out, over=over)

    with pytest.raises(LeakageError, match="was evaluated on other prunings"):
        certify(stump, held_out, method="test-sample")


@pytest.mark.parametrize("is_checked", [True, False])
def test_a_bound_of_one_share_states_all_that_is_known_about_the_rows(is_checked):
    about_rows = {
        "sample": "later", "freshness": "compared with the rows of 'grow'", "is_checked": is_checked, "n_repeated": 3,
        "repeats": "in doubt", "repeats_text": "3 of 50 rows occur twice", "copies_detectable": True,
    }  # fmt: skip
    limits = LeafShares([1], [[40, 10]], [[0.6, 0.1]], [[0.9, 0.4]], ["bad", "good"], 0.05, **about_rows)
    bound = limits.bound(1, "bad")
    assert {name: getattr(bound, name) for name in about_rows} == about_rows


@pytest.mark.parametrize(("n_classes", "end"), [(20, "'c19'"), (21, "'c19', ...")])
def test_at_most_twenty_classes_are_listed_in_a_message(n_classes, end):
    with pytest.raises(ParameterError) as refused:
        class_number([f"c{i}" for i in range(n_classes)], "x")
    assert str(refused.value).endswith(end)


def test_limits_can_be_copied_restricted_and_printed():
    limits = leaf_shares(WHOLE, FRESH)
    other = copy.deepcopy(limits)

    assert np.array_equal(other.upper, limits.upper)
    assert repr(limits) == "LeafShares(3 leaves, 2 classes, leaf shares, exact tail, 3 leaves at once, delta 0.05)"
    some = limits.restrict_to([4, 2])
    assert some.nodes.tolist() == [2, 4]
    assert some.of(4, 1) == limits.of(4, 1)
    with pytest.raises(ValueError, match="read-only"):
        limits.upper[0, 0] = 0
    with pytest.raises(ParameterError, match="upper has shape"):
        LeafShares([0], [[1, 2]], [[0, 0]], [[1]], ["a", "b"], 0.05)
    with pytest.raises(ParameterError, match="nodes must rise"):
        LeafShares([1, 0], [[1], [1]], [[0], [0]], [[1], [1]], ["a"], 0.05)


def chance_of_leaves(rng, n_leaves, n_classes):
    chance = rng.dirichlet(np.ones(n_leaves))[:, None] * rng.dirichlet(np.ones(n_classes), n_leaves)
    return chance / chance.sum()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_over_leaves_all_limits_hold_at_once(n_classes):
    rng = np.random.default_rng(n_classes)
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4, 4])
    pruning = Pruning.from_cuts(tree, [])
    chance = chance_of_leaves(rng, tree.n_leaves, n_classes)
    true = chance / chance.sum(axis=1, keepdims=True)
    runs, delta, failed = 400, 0.1, 0
    for _ in range(runs):
        drawn = rng.multinomial(500, chance.ravel()).reshape(chance.shape)
        limits = leaf_shares(pruning, Counts.from_leaves(tree, drawn, sample="test"), delta=delta)
        failed += bool(((true < limits.lower) | (true > limits.upper)).any())

    assert failed <= stats.binom.ppf(0.999, runs, delta)


def test_limits_over_nodes_hold_for_the_worst_leaf_that_the_sample_can_choose():
    rng = np.random.default_rng(9)
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4, 4])
    chance = chance_of_leaves(rng, tree.n_leaves, 2)
    truth = Counts.from_leaves(tree, chance, sample="truth")
    true = truth.by_class / truth.total[:, None]
    runs, delta, failed, failed_alone = 400, 0.1, 0, 0
    for _ in range(runs):
        drawn = rng.multinomial(300, chance.ravel()).reshape(chance.shape)
        counts = Counts.from_leaves(tree, drawn, sample="prune")
        limits = leaf_shares(Pruning.from_cuts(tree, []), counts, delta=delta, over="nodes")
        failed += bool(((true < limits.lower) | (true > limits.upper)).any())
        single = secateur.certifiers.binomial_upper(counts.by_class, counts.total[:, None], math.log(delta))
        failed_alone += bool((true > single).any())

    most = stats.binom.ppf(0.999, runs, delta)
    assert failed <= most < failed_alone


def test_a_chain_of_many_nodes_is_supported():
    n = 50_000
    tree = Tree.from_parents(np.append(-1, np.repeat(np.arange(0, 2 * n, 2), 2)))
    counts = Counts.from_leaves(tree, np.tile([[3, 1]], (tree.n_leaves, 1)), sample="test")

    assert len(leaf_shares(Pruning.from_cuts(tree, []), counts, over="nodes")) == tree.n_nodes


def test_over_must_be_one_of_two():
    with pytest.raises(ParameterError, match="'leaves' or 'nodes'"):
        leaf_shares(WHOLE, FRESH, over="tree")


@pytest.mark.parametrize("over", ["leaves", "nodes"])
def test_moments_and_counts_of_another_tree_are_refused(over):
    moments = Moments.from_leaves(TREE, [3, 4, 5], [0.0, 1.0, 2.0], [0.5, 0.5, 0.5], sample="test")
    with pytest.raises(UnsupportedError, match="class counts"):
        leaf_shares(WHOLE, moments, over=over)
    other = Counts.from_leaves(Tree.from_parents([-1, 0, 0]), [[5, 1], [2, 9]], sample="test")
    with pytest.raises(CountsError, match="tree"):
        leaf_shares(WHOLE, other, over=over)
    with pytest.raises(UnsupportedError, match="a Pruning is needed"):
        leaf_shares([WHOLE], FRESH, over="nodes")


def test_leaves_must_be_unique_and_one_row_gives_a_share():
    one = ([[1, 0], [2, 2]], [[0, 0], [0, 0]], [[1, 1], [1, 1]], ["a", "b"], 0.05)
    assert LeafShares([1, 2], *one).share.tolist() == [[1, 0], [0.5, 0.5]]
    for nodes in ([1, 1], [2, 1]):
        with pytest.raises(ParameterError, match="nodes must rise"):
            LeafShares(nodes, *one)


def test_a_leaf_alone_with_one_class_pays_for_one_limit_only():
    leaf = Tree.from_parents([-1])
    unpruned = Pruning.from_cuts(leaf, [], node_labels=[0], seen={"grow"})
    limits = leaf_shares(unpruned, Counts.from_leaves(leaf, [[30]], sample="test"))
    assert limits.lower[0, 0] == pytest.approx(0.05 ** (1 / 30))
    assert "at once" not in limits.method
    tree = Tree.from_parents([-1, 0, 0])
    both = Pruning.from_cuts(tree, [], node_labels=[0, 0, 0], seen={"grow"})
    limits = leaf_shares(both, Counts.from_leaves(tree, [[1], [30]], sample="test"))
    assert "2 leaves at once" in limits.method
    each = 1 - 0.95**0.5  # both hold with probability 0.95
    assert limits.lower[:, 0] == pytest.approx([each, each ** (1 / 30)])
