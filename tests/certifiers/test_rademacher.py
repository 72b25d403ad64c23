"""Rademacher penalties against enumeration of prunings, labels and signs."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings
from secateur import Counts, Pruning, Tree
from secateur.certifiers import draw_signs, rademacher, rademacher_over_k, signed_extremes
from secateur.errors import CountsError, LeakageError, ParameterError, UnsupportedError
from secateur.pruners import k_reduced_error
from strategies import trees_with_counts

WORKED = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
GROWN = Counts.from_leaves(WORKED, [[2, 1], [0, 2], [2, 0], [0, 1]])
HELD = Counts.from_leaves(WORKED, [[1, 2], [2, 0], [0, 1], [0, 2]], sample="prune")
# Signs in the leaves: (0,-)(1,-)(1,+) | (0,+)(0,-) | (1,-) | (1,+)(1,+), as (class, sign).


def added_up(tree, at_leaves):
    """Leaf rows summed into all nodes, by the definition."""
    own = np.zeros((tree.n_nodes, len(at_leaves[0])), np.int64)
    own[tree.is_leaf] = at_leaves
    return np.array([own[v : tree.end[v]].sum(axis=0) for v in range(tree.n_nodes)])


def hypotheses(tree, grown, n_classes, labels, original, k=None):
    """Every pruning of the class as {leaf: label}."""
    errors = grown.total[:, None] - np.pad(grown.by_class, ((0, 0), (0, n_classes - grown.n_classes)))
    for leaves in all_prunings(tree):
        choices = [
            range(n_classes)
            if labels == "prune" and (original == "relabel" or not tree.is_leaf[v])
            else [int(grown.majority[v])]
            for v in sorted(leaves)
        ]
        for chosen in product(*choices):
            if k is None or sum(errors[v, c] for v, c in zip(sorted(leaves), chosen, strict=True)) <= k:
                yield dict(zip(sorted(leaves), chosen, strict=True))


def enumerated(tree, grown, signs, labels="grow", original="fixed", k=None):
    sums = [
        sum(signs[v].sum() - (signs[v, c] if c < signs.shape[1] else 0) for v, c in h.items())
        for h in hypotheses(tree, grown, max(grown.n_classes, signs.shape[1]), labels, original, k)
    ]
    return max(sums), min(sums)


@st.composite
def signed_cases(draw):
    tree, grown, held = draw(trees_with_counts(("grow", "prune"), max_internal=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    return tree, grown, held, draw_signs(held, rng)


def test_the_worked_node_example():
    signs = added_up(WORKED, [[-1, 0], [0, 0], [0, -1], [0, 2]])
    assert signed_extremes(WORKED, GROWN, signs) == (1, -2)
    assert signed_extremes(WORKED, GROWN, signs, k=1) == (-1, -1)
    assert signed_extremes(WORKED, GROWN, signs, labels="prune", original="relabel")[0] == 2


def test_the_additive_terms_at_delta_001_and_1000_rows():
    tree = Tree.from_parents([-1])  # one hypothesis: hi = lo, so the centred penalty is 0
    grown = Counts.from_leaves(tree, [[5, 1]])
    held = Counts.from_leaves(tree, [[900, 100]], sample="prune")
    centred = rademacher(tree, grown, held, delta=0.01, draws=4, rng=0)
    printed = rademacher(tree, grown, held, delta=0.01, form="printed", rng=0)
    assert centred.complexity == 0
    assert round(centred.value - 0.1, 4) == 0.1440
    assert round(printed.details["slack"], 4) == 0.2573
    assert printed.complexity == max(printed.details["hi"][0], -printed.details["lo"][0]) / 1000


@pytest.mark.lane
@given(signed_cases())
def test_hi_and_lo_are_those_of_the_list(case):
    tree, grown, _, signs = case
    assert signed_extremes(tree, grown, signs) == enumerated(tree, grown, signs)
    for original in ("fixed", "relabel"):
        extremes = signed_extremes(tree, grown, signs, labels="prune", original=original)
        assert extremes == enumerated(tree, grown, signs, "prune", original)


@pytest.mark.lane
@given(signed_cases())
def test_within_k_hi_and_lo_are_those_of_the_list(case):
    tree, grown, _, signs = case
    errors = grown.errors_if_leaf(grown.majority)
    for k in range(int(errors[tree.is_leaf].sum()), int(errors[0]) + 2):
        assert signed_extremes(tree, grown, signs, k=k) == enumerated(tree, grown, signs, k=k)
        for how in ({"labels": "prune", "original": "fixed"}, {"labels": "prune", "original": "relabel"}):
            assert signed_extremes(tree, grown, signs, k=k, **how) == enumerated(tree, grown, signs, k=k, **how)


@given(signed_cases())
def test_a_larger_class_has_a_larger_range(case):
    tree, grown, _, signs = case
    errors = grown.errors_if_leaf(grown.majority)
    ks = range(int(errors[tree.is_leaf].sum()), int(errors[0]) + 1)
    classes = [{"k": k} for k in ks] + [{}, {"labels": "prune"}, {"labels": "prune", "original": "relabel"}]
    found = [signed_extremes(tree, grown, signs, **c) for c in classes]
    assert all(lo <= hi for hi, lo in found)
    assert all(a[0] <= b[0] and a[1] >= b[1] for a, b in pairwise(found))


@given(signed_cases())
def test_reversing_all_signs_swaps_hi_and_lo(case):
    tree, grown, _, signs = case
    for labels in ("grow", "prune"):
        hi, lo = signed_extremes(tree, grown, signs, labels=labels)
        assert signed_extremes(tree, grown, -signs, labels=labels) == (-lo, -hi)


@given(trees_with_counts(("grow", "prune"), max_internal=3, max_count=2), st.integers(0, 2**20))
def test_the_published_recipe_with_complement_labels_gives_the_same(case, seed):
    tree, grown, held = case
    rng = np.random.default_rng(seed)
    examples = [  # (leaf, class, sign), one per held-out example
        (int(v), c, int(rng.choice([-1, 1])))
        for v in tree.leaves
        for c in range(held.n_classes)
        for _ in range(held.by_class[v, c])
    ]
    signs = np.zeros((tree.n_nodes, held.n_classes), np.int64)
    for leaf, c, r in examples:
        for v in range(tree.n_nodes):
            signs[v, c] += r * (v <= leaf < tree.end[v])

    def fewest_errors(flipped):
        """Least number of errors when examples of that sign are labelled `not y`."""
        return min(
            sum(
                (next(c for v, c in h.items() if v <= leaf < tree.end[v]) == y) == (r == flipped)
                for leaf, y, r in examples
            )
            for h in hypotheses(tree, grown, held.n_classes, "grow", "fixed")
        )

    hi, lo = signed_extremes(tree, grown, signs)
    assert hi == sum(r == 1 for _, _, r in examples) - fewest_errors(flipped=1)
    assert -lo == sum(r == -1 for _, _, r in examples) - fewest_errors(flipped=-1)


@given(trees_with_counts(("grow", "prune"), max_internal=4), st.integers(0, 99))
def test_the_bound_is_the_sum_of_its_stated_parts(case, seed):
    tree, grown, held = case
    n = int(held.total[0])
    if n == 0:
        return
    bound = rademacher(tree, grown, held, delta=0.1, draws=3, rng=seed)
    errors = held.errors_if_leaf(grown.majority)
    fewest = min(sum(errors[v] for v in leaves) for leaves in all_prunings(tree))
    spread = np.mean(np.subtract(bound.details["hi"], bound.details["lo"])) / n
    assert bound.errors == fewest
    assert bound.details["unclipped"] == pytest.approx(fewest / n + spread + 3 * math.sqrt(math.log(10) / (2 * n)))
    assert bound.value == min(1, bound.details["unclipped"])
    again = rademacher(tree, grown, held, delta=0.1, draws=3, rng=bound.details["seed"])
    assert again.details["hi"] == bound.details["hi"]


@given(trees_with_counts(("grow", "prune"), max_internal=4), st.integers(0, 99))
def test_centred_is_never_above_printed_on_the_same_draw(case, seed):
    tree, grown, held = case
    if held.total[0] == 0:
        return
    centred, printed = (rademacher(tree, grown, held, form=form, rng=seed) for form in ("centred", "printed"))
    assert centred.complexity <= printed.complexity + 1e-15
    assert centred.details["unclipped"] < printed.details["unclipped"]


@given(trees_with_counts(("grow", "prune"), max_internal=4))
def test_without_a_pruning_the_fewest_errors_of_the_class_are_certified(case):
    tree, grown, held = case
    if held.total[0] == 0:
        return
    errors = grown.errors_if_leaf(grown.majority)

    def fewest(*, labels="grow", original="fixed", k=None):
        return min(
            sum(held.total[v] - held.by_class[v, c] for v, c in h.items())
            for h in hypotheses(tree, grown, grown.n_classes, labels, original, k)
        )

    for k in range(int(errors[tree.is_leaf].sum()), int(errors[0]) + 1):
        assert rademacher(tree, grown, held, k=k, rng=0).errors == fewest(k=k)
    assert rademacher(tree, grown, held, rng=0, labels="prune").errors == fewest(labels="prune")
    relabelled = rademacher(tree, grown, held, rng=0, labels="prune", original="relabel")
    assert relabelled.errors == fewest(labels="prune", original="relabel")


def test_signs_are_fair_and_independent_between_cells():
    held = Counts.from_leaves(Tree.from_parents([-1, 0, 0]), [[40, 0], [3, 9]], sample="prune")
    rng = np.random.default_rng(0)
    draws = np.array([draw_signs(held, rng)[1:] for _ in range(4000)])
    assert np.abs(draws.mean(axis=0)).max() < 5 * math.sqrt(40 / 4000)
    np.testing.assert_allclose(draws.var(axis=0), [[40, 0], [3, 9]], rtol=0.1)
    assert abs(np.corrcoef(draws[:, 1, 0], draws[:, 1, 1])[0, 1]) < 5 / math.sqrt(4000)


def test_more_draws_steady_the_penalty():
    rng = np.random.default_rng(5)
    held = Counts.from_leaves(WORKED, [[50, 20], [30, 30], [10, 40], [5, 60]], sample="prune")
    one = np.std([rademacher(WORKED, GROWN, held, rng=rng).complexity for _ in range(200)])
    many = np.std([rademacher(WORKED, GROWN, held, draws=16, rng=rng).complexity for _ in range(200)])
    assert many < one / 2


@pytest.mark.parametrize("draws", [0, -1, 1.5, "auto", [1, 2], True, None])
def test_draws_that_are_not_fixed_in_advance_are_refused(draws):
    with pytest.raises(ParameterError, match="fixed in advance"):
        rademacher(WORKED, GROWN, HELD, draws=draws)


def test_the_fixed_label_penalty_is_refused_for_labels_chosen_on_the_held_out_sample():
    labels = HELD.majority
    chosen = Pruning.from_cuts(WORKED, [1, 4], node_labels=labels, seen={"grow", "prune"})
    with pytest.raises(LeakageError, match="labels='prune'"):
        rademacher(WORKED, GROWN, HELD, pruning=chosen)
    cut_labels = np.where(WORKED.is_leaf, GROWN.majority, labels)
    at_cuts = Pruning.from_cuts(WORKED, [1, 4], node_labels=cut_labels)
    assert rademacher(WORKED, GROWN, HELD, pruning=at_cuts, labels="prune").certified
    with pytest.raises(LeakageError, match="original='relabel'"):
        rademacher(WORKED, GROWN, HELD, pruning=chosen, labels="prune")
    assert rademacher(WORKED, GROWN, HELD, pruning=chosen, labels="prune", original="relabel").certified


def test_a_pruning_outside_the_class_is_refused():
    one_leaf = Pruning.from_cuts(WORKED, [0], node_labels=GROWN.majority)
    assert rademacher(WORKED, GROWN, HELD, pruning=one_leaf, k=4).errors == one_leaf.errors(HELD)
    with pytest.raises(ParameterError, match="4 growing errors, more than k=3"):
        rademacher(WORKED, GROWN, HELD, pruning=one_leaf, k=3)
    with pytest.raises(ParameterError, match="already has 1 growing errors"):
        rademacher(WORKED, GROWN, HELD, k=0)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, math.nan, "0.05", True])
def test_delta_outside_its_range_is_refused(delta):
    with pytest.raises(ParameterError, match="delta"):
        rademacher(WORKED, GROWN, HELD, delta=delta)


def test_other_misuse_is_refused_with_the_reason():
    with pytest.raises(LeakageError, match="grew the tree"):
        rademacher(WORKED, GROWN, GROWN)
    with pytest.raises(ParameterError, match="form"):
        rademacher(WORKED, GROWN, HELD, form="other")
    with pytest.raises(ParameterError, match="labels"):
        rademacher(WORKED, GROWN, HELD, labels="other")
    with pytest.raises(ParameterError, match="original"):
        rademacher(WORKED, GROWN, HELD, original="other")
    with pytest.raises(ParameterError, match="pass pruning"):
        rademacher(WORKED, GROWN, HELD, labels="prune", k=3)
    with pytest.raises(ParameterError, match="ks is empty"):
        rademacher_over_k(WORKED, GROWN, HELD, ks=[])
    with pytest.raises(CountsError, match="signs have shape"):
        signed_extremes(WORKED, GROWN, np.zeros((3, 2), np.int64))
    with pytest.raises(UnsupportedError, match="weight"):
        rademacher(WORKED, GROWN, Counts(WORKED, HELD.by_class * 0.5, "prune"))
    with pytest.raises(CountsError, match="no rows"):
        rademacher(WORKED, GROWN, Counts(WORKED, HELD.by_class * 0, "prune"))
    other = Tree.from_parents([-1, 0, 0])
    with pytest.raises(CountsError, match="another tree"):
        rademacher(other, GROWN, HELD)
    with pytest.raises(CountsError, match="another tree"):
        rademacher(WORKED, GROWN, HELD, pruning=Pruning.from_cuts(other, [], node_labels=[0, 0, 1]))
    with pytest.raises(CountsError, match="no classes"):
        rademacher(WORKED, GROWN, HELD, pruning=Pruning.from_cuts(WORKED, []))


def test_free_labels_are_paid_for_within_k():
    free = {"labels": "prune", "original": "relabel", "rng": 0}
    pruning = k_reduced_error(WORKED, GROWN, HELD, k=3, labelled=True)
    bound = rademacher(WORKED, GROWN, HELD, k=3, pruning=pruning, **free)
    assert bound.errors == pruning.errors(HELD)
    assert bound.complexity <= rademacher(WORKED, GROWN, HELD, pruning=pruning, **free).complexity
    spent = int(sum(GROWN.errors_if_leaf(pruning.node_labels)[pruning.leaves]))
    with pytest.raises(ParameterError, match=f"{spent} growing errors, more than k={spent - 1}"):
        rademacher(WORKED, GROWN, HELD, k=spent - 1, pruning=pruning, **free)


@given(trees_with_counts(("grow", "prune"), max_internal=3).filter(lambda case: case[2].total[0] > 0))
def test_choosing_k_costs_its_share_of_delta_and_nothing_else(case):
    tree, grown, held = case
    errors = grown.errors_if_leaf(grown.majority)
    ks = range(int(errors[tree.is_leaf].sum()), int(errors[0]) + 1)
    best = rademacher_over_k(tree, grown, held, ks=ks, delta=0.1, rng=0)
    each = [rademacher(tree, grown, held, k=k, delta=0.1 / len(ks), rng=0) for k in ks]
    assert best.details["unclipped"] == min(bound.details["unclipped"] for bound in each)
    assert best.errors == k_reduced_error(tree, grown, held, k=best.details["k"]).errors(held)
    assert best.delta == 0.1
