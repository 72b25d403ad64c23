"""The additive rules on regression trees: optimal over all prunings, in squared error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings
from secateur import Counts, Moments, Tree, count, grow, prune, pruners
from secateur.errors import CountsError, ParameterError, PruningError, UnsupportedError
from strategies import trees

SQUARED = ("best-of-size", "cost-complexity", "greedy", "reduced-error", "smallest-within", "weakest-links")


@st.composite
def moments(draw, tree, sample="grow", least=1):
    """Whole numbers at the leaves, so that sums are exact but for the means."""
    n = tree.n_leaves
    weight = draw(st.lists(st.integers(least, 3), min_size=n, max_size=n))
    mean = draw(st.lists(st.integers(-4, 4), min_size=n, max_size=n))
    sse = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return Moments.from_leaves(tree, weight, mean, sse, sample=sample)


@st.composite
def cases(draw, samples=("grow",)):
    tree = draw(trees(max_internal=4))
    return tree, *(draw(moments(tree, sample, least=int(sample == "grow"))) for sample in samples)


def cost_of(leaves, cost):
    return sum(cost[v] for v in leaves)


@given(cases())
def test_cost_complexity_minimises_penalised_squared_error_at_every_alpha(case):
    tree, grown = case
    path = prune(tree, grown)

    assert path.node_labels is None
    assert path.seen == {"grow"}
    assert path.nested
    middle = [(a + b) / 2 for a, b in zip(path.alphas, [*path.alphas[1:], path.alphas[-1] + 2], strict=True)]
    for alpha in [*path.alphas, *middle]:
        pruning = path.at(alpha)
        value = min(cost_of(leaves, grown.sse) + alpha * len(leaves) for leaves in all_prunings(tree))
        assert pruning.cost(grown.sse) + alpha * pruning.n_leaves == pytest.approx(value, abs=1e-9)


@given(cases())
def test_cost_complexity_starts_with_the_smallest_pruning_of_least_cost(case):
    tree, grown = case
    costs = [(cost_of(leaves, grown.sse), len(leaves)) for leaves in all_prunings(tree)]
    least = min(costs)[0]

    assert prune(tree, grown)[0].n_leaves == min(n for cost, n in costs if cost <= least + 1e-9)


@given(cases())
def test_best_of_size_has_the_least_squared_error_of_every_size(case):
    tree, grown = case
    best = {}
    for leaves in all_prunings(tree):
        best[len(leaves)] = min(best.get(len(leaves), np.inf), cost_of(leaves, grown.sse))
    sequence = prune(tree, grown, rule="best-of-size")

    assert sequence.n_leaves.tolist() == sorted(best, reverse=True)
    assert sequence.errors == pytest.approx([best[n] for n in sorted(best, reverse=True)], abs=1e-9)


@given(cases(), st.integers(0, 10))
def test_smallest_within_explains_the_share_asked_for_with_fewest_leaves(case, tenths):
    tree, grown = case
    allowed = (1 - tenths / 10) * grown.sse[0] + 1e-9
    enough = [leaves for leaves in all_prunings(tree) if cost_of(leaves, grown.sse) <= allowed]
    if enough:
        pruning = prune(tree, grown, rule="smallest-within", accuracy=tenths / 10)
        assert pruning.n_leaves == min(map(len, enough))
        assert pruning.cost(grown.sse) <= allowed
    else:
        with pytest.raises(PruningError, match="out of reach"):
            prune(tree, grown, rule="smallest-within", accuracy=tenths / 10)


@given(cases())
def test_greedy_and_weakest_links_come_down_to_the_root(case):
    tree, grown = case
    for rule in ("greedy", "weakest-links"):
        sequence = prune(tree, grown, rule=rule)
        assert sequence[len(sequence) - 1].n_leaves == 1
        for pruning, cost in zip(sequence, sequence.errors, strict=True):
            assert pruning.cost(grown.sse) == pytest.approx(cost, abs=1e-9)


@given(cases(("grow", "prune")))
def test_reduced_error_is_the_smallest_pruning_of_least_held_out_squared_error(case):
    tree, grown, holdout = case
    cost = [holdout.sse[v] + holdout.weight[v] * (holdout.mean[v] - grown.mean[v]) ** 2 for v in range(tree.n_nodes)]
    every = [(cost_of(leaves, cost), len(leaves)) for leaves in all_prunings(tree)]
    least = min(every)[0]
    pruning = prune(tree, grown, holdout, rule="reduced-error")

    assert pruning.cost(np.array(cost)) == pytest.approx(least, abs=1e-9)
    assert pruning.n_leaves == min(n for c, n in every if c <= least + 1e-9)
    assert pruning.seen == {"grow", "prune"}


def test_empty_subtrees_can_be_kept_whatever_the_scale():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    grown = Moments.from_leaves(tree, [1, 1, 1], [-1e9, 1.0, 1e9])
    holdout = Moments.from_leaves(tree, [0, 0, 2], [0.0, 0.0, 1e9], sample="prune")

    assert prune(tree, grown, holdout, rule="reduced-error").n_leaves == 2
    assert prune(tree, grown, holdout, rule="reduced-error", keep_empty=True).n_leaves == 3


def test_a_subtree_that_gains_only_rounding_is_cut():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (300, 3)) * 1.0
    exact = X[:, 0] * 0.1
    noisy = exact * (1 + rng.choice([0, 2.0**-52, -(2.0**-52)], 300))
    tree, grown = grow(X, noisy, criterion="squared_error")

    assert tree.n_leaves > 6  # the noise was told apart in growing
    assert prune(tree, grown)[0].n_leaves == 6
    assert prune(tree, grown, rule="smallest-within", accuracy=1).n_leaves == 6
    held_out = count(tree, X, exact)
    assert prune(tree, grown, held_out, rule="reduced-error").n_leaves <= 6


def test_the_path_of_scikit_learn_has_the_same_penalties():
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3)).astype(np.float32)
    y = X[:, 0] + rng.normal(size=200)
    sklearn_tree = DecisionTreeRegressor(random_state=0).cost_complexity_pruning_path(X, y)
    tree, grown = grow(X, y, criterion="squared_error")
    path = prune(tree, grown)

    assert path.alphas / 200 == pytest.approx(sklearn_tree.ccp_alphas, rel=1e-6, abs=1e-12)
    assert path.errors / 200 == pytest.approx(sklearn_tree.impurities, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("rule", sorted(set(pruners.RULES) - set(SQUARED)))
def test_rules_that_need_classes_refuse_moments_and_name_those_that_work(rule):
    X, y = [[1.0], [2.0], [3.0]], [1.0, 2.0, 5.0]
    tree, grown = grow(X, y, criterion="squared_error")
    samples = [grown, count(tree, X, y)][: len(pruners.RULES[rule].samples)]

    with pytest.raises(UnsupportedError) as caught:
        prune(tree, *samples, rule=rule)

    assert all(name in str(caught.value) for name in (rule, *SQUARED))
    with pytest.raises(UnsupportedError, match="number"):
        pruners.RULES[rule].run(tree, *samples)


def test_counts_and_moments_do_not_mix():
    tree = Tree.from_parents([-1, 0, 0])
    grown, counts = Moments.from_leaves(tree, [1, 1], [1.0, 2.0]), Counts.from_leaves(tree, [[1, 0], [0, 1]])

    for samples in ((grown, counts), (counts, grown)):
        with pytest.raises(CountsError, match="both"):
            prune(tree, *samples, rule="reduced-error")
    with pytest.raises(ParameterError, match="means of the growing sample"):
        prune(tree, grown, grown, rule="reduced-error", labels="prune")


def test_accuracy_on_an_empty_sample_means_nothing():
    tree = Tree.from_parents([-1, 0, 0])
    with pytest.raises(CountsError, match="empty"):
        prune(tree, Moments.from_leaves(tree, [0, 0], [0, 0]), rule="smallest-within", accuracy=0.5)


def test_a_constant_target_is_explained_by_one_leaf():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Moments.from_leaves(tree, [2, 2], [5.0, 5.0])

    assert prune(tree, grown, rule="smallest-within", accuracy=1).n_leaves == 1
    assert len(prune(tree, grown)) == 1


def test_a_chain_of_a_hundred_thousand_levels_is_pruned():
    n = 100_000
    parent = np.concatenate([[-1], np.repeat(np.arange(0, 2 * n, 2), 2)])
    tree = Tree.from_parents(parent)
    y = np.random.default_rng(0).normal(size=tree.n_leaves)
    grown = Moments.from_leaves(tree, np.ones(tree.n_leaves), y)

    path = prune(tree, grown)

    assert tree.depth.max() == n
    assert path[len(path) - 1].n_leaves == 1
    assert prune(tree, grown, grown, rule="reduced-error").n_leaves == tree.n_leaves


def test_costs_need_no_held_out_moments():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Moments.from_leaves(tree, [2, 2], [1.0, 3.0])
    pruning = pruners.reduced_error(tree, grown, None, cost=[1.0, 0.2, 0.2])
    assert (pruning.n_leaves, pruning.node_labels) == (2, None)
