"""Simulated pruning of pure noise against the formulas."""

from itertools import pairwise
from math import comb

import numpy as np
import pytest

from oracles import children_of
from secateur import Counts, Tree, count, grow
from secateur.analysis import (
    clopper_pearson,
    expected_noise_leaves,
    noise_growth_experiment,
    one_leaf_probability_uniform,
    rep_noise_experiment,
)
from secateur.errors import CountsError, ParameterError


@pytest.mark.parametrize("shape", ["perfect", "random"])
@pytest.mark.parametrize(("n", "k", "p"), [(60, 8, 0.7), (40, 12, 0.8), (200, 30, 0.9), (9, 1, 0.6)])
def test_the_exact_probability_is_in_the_interval_when_safe_subtrees_are_cut(n, k, p, shape):
    experiment = rep_noise_experiment(n, k, p, repeats=400, seed=3, shape=shape, confidence=0.999)

    assert experiment.low <= experiment.exact <= experiment.high


@pytest.mark.parametrize("occupancy", [[2] * 10, [1, 3, 5, 11], [0, 4, 0, 9]])
def test_the_exact_probability_is_in_the_interval_for_given_occupancies(occupancy):
    experiment = rep_noise_experiment(
        sum(occupancy), len(occupancy), 0.6, occupancy=occupancy, repeats=400, seed=4, confidence=0.999
    )

    assert experiment.low <= experiment.exact <= experiment.high


@pytest.mark.parametrize(("n", "k", "p"), [(60, 8, 0.7), (40, 4, 0.8)])
def test_subtrees_that_may_survive_make_one_leaf_rarer(n, k, p):
    experiment = rep_noise_experiment(n, k, p, repeats=800, seed=5, force_cuts=False, confidence=0.999)

    assert experiment.high < experiment.exact


def test_the_printed_formula_fails_in_simulation_where_ties_are_common():
    experiment = rep_noise_experiment(20, 10, 0.6, occupancy=[2] * 10, repeats=2000, seed=6, confidence=0.99)

    assert experiment.printed_general == pytest.approx(0.1238, abs=5e-5)
    assert experiment.printed_general < experiment.low
    assert experiment.valid_general > experiment.high


def test_the_same_seed_gives_the_same_result():
    first, second = (rep_noise_experiment(50, 7, 0.65, repeats=50, seed=11, shape="random") for _ in range(2))

    assert first == second
    assert str(first).startswith(f"{first.n_one_leaf} of 50 trees became one leaf")


def test_formulas_that_do_not_apply_are_not_numbers():
    single = rep_noise_experiment(5, 1, 0.6, repeats=5, seed=0)
    sparse = rep_noise_experiment(2, 4, 0.6, repeats=5, seed=0)

    assert np.isnan([single.printed_uniform, single.printed_c, sparse.valid_general]).all()


def binomial_tail(k, n, p):
    return sum(comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1))


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (3, 10), (10, 10), (7, 23)])
def test_the_interval_ends_where_a_tail_holds_half_of_the_risk(successes, n):
    low, high = clopper_pearson(successes, n, 0.9)

    assert low == 0 if successes == 0 else binomial_tail(successes, n, low) == pytest.approx(0.05)
    assert high == 1 if successes == n else 1 - binomial_tail(successes + 1, n, high) == pytest.approx(0.05)


class NoiseGrower:
    """A slow grower for one attribute: gini, every cut tried, until pure."""

    def __init__(self):
        self.n_changes = []

    def grow(self, X, y):
        order = np.argsort(X[:, 0])
        x, y = X[order, 0], y[order]
        self.n_changes.append(int((y[1:] != y[:-1]).sum()))
        parent, spans, cut_at = [], [], {}
        todo = [(0, len(x), -1)]
        while todo:
            start, stop, above = todo.pop()
            v = len(parent)
            parent.append(above)
            spans.append((start, stop))
            if len(set(y[start:stop])) > 1:
                cut = min(range(start + 1, stop), key=lambda i: self._gini(y[start:i]) + self._gini(y[i:stop]))
                cut_at[v] = (x[cut - 1] + x[cut]) / 2
                todo += [(cut, stop, v), (start, cut, v)]
        tree = Tree.from_parents(parent)
        self.cuts = sorted(cut_at.values())
        return tree, self._counted(tree, X, y[np.argsort(order)], "grow")

    def count(self, tree, X, y):
        return self._counted(tree, X, y, "prune")

    def _gini(self, y):
        return 2 * y.sum() * (len(y) - y.sum()) / len(y)

    def _counted(self, tree, X, y, sample):
        leaf = np.searchsorted(self.cuts, X[:, 0])  # leaves in pre-order go up with x
        return Counts.from_leaves(
            tree, np.bincount(2 * leaf + y, minlength=2 * tree.n_leaves).reshape(-1, 2), sample=sample
        )


def grown_on_noise(sizes, repeats, seed):
    grower = NoiseGrower()
    return grower, noise_growth_experiment(sizes, 0.7, grow=grower.grow, count=grower.count, repeats=repeats, seed=seed)


def test_a_pure_tree_on_one_noisy_attribute_has_a_leaf_more_than_class_changes():
    grower, growth = grown_on_noise([30, 90], 10, 1)

    assert (growth.grown_leaves.ravel() - 1).tolist() == grower.n_changes


def test_the_mean_of_those_leaves_is_as_expected():
    _, growth = grown_on_noise([150], 60, 2)
    leaves = growth.grown_leaves[0]
    error = leaves.std(ddof=1) / np.sqrt(len(leaves))

    assert growth.n_grow.tolist() == [100]
    assert abs(leaves.mean() - growth.expected_grown_leaves[0]) < 4 * error
    assert growth.expected_grown_leaves[0] == pytest.approx(expected_noise_leaves(100, 0.7))


def test_pruned_trees_grow_in_proportion_to_the_sample_and_safe_nodes_far_more_slowly():
    _, growth = grown_on_noise([60, 120, 240, 480], 12, 3)

    pruned, safe = growth.pruned_leaves.mean(axis=1), growth.safe_nodes.mean(axis=1)
    assert np.corrcoef(growth.sizes, pruned)[0, 1] > 0.98
    assert pruned[-1] > 5 * pruned[0]  # eight times the sample
    assert safe[0] < safe[-1] < 4 * safe[0]
    assert 0 < growth.slope() < growth.slope("grown_leaves")


def test_expected_leaves_of_two_hundred_rows():
    assert expected_noise_leaves(200, 0.7) == pytest.approx(84.58)


@pytest.mark.parametrize(("m", "p"), [(1, 0.3), (4, 0.3), (7, 0.5)])
def test_expected_leaves_are_one_more_than_expected_class_changes(m, p):
    mean = 0.0
    for code in range(2**m):
        y = [code >> i & 1 for i in range(m)]
        mean += p ** sum(y) * (1 - p) ** (m - sum(y)) * (1 + sum(a != b for a, b in pairwise(y)))

    assert expected_noise_leaves(m, p) == pytest.approx(mean)


def test_the_simulated_trees_have_the_requested_safe_nodes():
    from secateur.analysis import safe_nodes
    from secateur.analysis._simulations import _tree_with_safe_nodes

    for shape in ("perfect", "random"):
        for k in (1, 2, 3, 17):
            tree = _tree_with_safe_nodes(k, shape, np.random.default_rng(k), has_leaves=True)
            assert len(safe_nodes(tree)) == k
            assert all(len(c) in (0, 2) for c in children_of(tree.parent.tolist()))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"occupancy": "even"}, "occupancy='even'"),
        ({"occupancy": [5, 5]}, "2 safe nodes with 10 rows"),
        ({"shape": "tall"}, "shape='tall'"),
        ({"repeats": 0}, "repeats=0"),
        ({"confidence": 1.0}, "confidence=1.0"),
    ],
)
def test_arguments_of_the_experiment_are_checked(change, says):
    with pytest.raises(ParameterError, match=says):
        rep_noise_experiment(12, 3, 0.6, **{"repeats": 2, "seed": 0} | change)


def test_arguments_of_the_growth_experiment_are_checked():
    grower = NoiseGrower()
    for sizes, holdout in (([], 0.3), ([30], 0.0), ([30], 1.0)):
        with pytest.raises(ParameterError, match="holdout"):
            noise_growth_experiment(sizes, 0.6, grow=grower.grow, count=grower.count, holdout=holdout)
    with pytest.raises(CountsError, match="must count them all"):
        noise_growth_experiment(
            [30], 0.6, grow=grower.grow, count=lambda tree, X, y: grower.count(tree, X[:3], y[:3]), seed=0
        )


def test_more_successes_than_trials_are_refused():
    with pytest.raises(ParameterError, match="successes=3 of n=2"):
        clopper_pearson(3, 2)


def test_relabelled_leaves_agree_with_the_formula_of_safe_nodes():
    experiment = rep_noise_experiment(40, 5, 0.7, repeats=800, seed=3, relabel=True, shape="random")
    assert experiment.low <= experiment.exact <= experiment.high
    assert experiment.exact == one_leaf_probability_uniform(40, 5, 0.7)


def test_noise_may_have_several_attributes():
    seen = []

    def looked(X, y):
        seen.append(X.shape)
        return grow(X, y)

    noise_growth_experiment([60], 0.6, grow=looked, count=count, repeats=2, n_features=3, seed=0)
    assert seen == [(40, 3), (40, 3)]
