import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings, children_of, keep_vector, n_nodes_of
from secateur import Counts, Tree
from secateur.errors import CountsError, ParameterError, PruningError
from secateur.pruners import k_limit, k_reduced_error, k_reduced_error_path, reduced_error
from strategies import counts, trees_with_counts

SAMPLES = ("grow", "prune")


def errors_as_leaf(sample, labels):
    return [sum(row) - row[label] for row, label in zip(sample.by_class.tolist(), labels, strict=True)]


def every_pruning(tree, grown, holdout):
    """(growing errors, held-out errors, leaves, keep vector, leaf set) of every pruning."""
    labels = grown.majority.tolist()
    on_grown, on_holdout = errors_as_leaf(grown, labels), errors_as_leaf(holdout, labels)
    for leaves in all_prunings(tree):
        growing = sum(on_grown[v] for v in leaves)
        yield growing, sum(on_holdout[v] for v in leaves), len(leaves), keep_vector(tree, leaves), leaves


def optimum(everything, k):
    """Least (errors, leaves), then the largest keep vector, among those within k."""
    within = [p for p in everything if p[0] <= k]
    return min(within, key=lambda p: (p[1], p[2], tuple(not kept for kept in p[3])))


@given(case=trees_with_counts(SAMPLES, max_internal=6))
def test_every_k_gives_the_optimum_of_its_class_and_the_tie_rule_decides(case):
    tree, grown, holdout = case
    everything = list(every_pruning(*case))
    least, most = min(everything)[0], max(everything)[0]

    for k in range(least, most + 2):
        _, errors, n_leaves, _, leaves = optimum(everything, k)
        pruning = k_reduced_error(tree, grown, holdout, k=k)
        assert (pruning.errors(holdout), pruning.n_leaves) == (errors, n_leaves)
        assert set(pruning.leaves.tolist()) == leaves
        assert pruning.errors(grown) <= k


@given(case=trees_with_counts(SAMPLES, max_internal=6))
def test_the_path_holds_the_optimum_of_every_k(case):
    tree, grown, holdout = case
    everything = list(every_pruning(*case))
    path = k_reduced_error_path(tree, grown, holdout)

    assert path.ks.tolist() == list(range(min(everything)[0], max(everything)[0] + 1))
    for k, errors, n_leaves in zip(path.ks, path.errors, path.n_leaves, strict=True):
        best = optimum(everything, k)
        assert (errors, n_leaves) == best[1:3]
        assert set(path.pruning(k).leaves.tolist()) == best[4]


@given(case=trees_with_counts(SAMPLES, max_internal=6))
def test_of_equal_errors_the_fewest_nodes_decide_if_the_size_is_nodes(case):
    tree, grown, holdout = case
    everything = list(every_pruning(*case))
    path = k_reduced_error_path(tree, grown, holdout, size="nodes")

    for i, k in enumerate(path.ks):
        within = [p for p in everything if p[0] <= k]
        best = min(within, key=lambda p: (p[1], n_nodes_of(tree, p[4]), tuple(not kept for kept in p[3])))
        pruning = k_reduced_error(tree, grown, holdout, k=k, size="nodes")
        assert set(pruning.leaves.tolist()) == best[4]
        assert (path.errors[i], path.sizes[i], path.n_leaves[i]) == (best[1], n_nodes_of(tree, best[4]), best[2])
    assert (np.diff(path.sequence.n_leaves) <= 0).all()


def test_leaves_and_nodes_disagree_on_a_multiway_tree():
    # Node 1 is one split of five branches, node 7 three nested splits of two. Cutting either adds one growing error.
    # The cut at 1 removes 4 leaves and 5 nodes, the cut at 7 removes 3 leaves and 6 nodes.
    tree = Tree.from_parents([-1, 0, 1, 1, 1, 1, 1, 0, 7, 8, 9, 9, 8, 7])
    grown = Counts.from_leaves(tree, [[1, 0]] * 4 + [[0, 1]] * 2 + [[1, 0]] * 3)
    holdout = Counts.from_leaves(tree, [[0, 0]] * 9, sample="prune")

    by_size = {size: k_reduced_error(tree, grown, holdout, k=1, size=size) for size in ("leaves", "nodes")}

    assert (by_size["leaves"].n_leaves, by_size["nodes"].n_leaves) == (5, 6)
    assert (by_size["leaves"].n_nodes, by_size["nodes"].n_nodes) == (9, 8)
    with pytest.raises(ParameterError, match="size='depth'"):
        k_reduced_error(tree, grown, holdout, size="depth")


@given(case=trees_with_counts(SAMPLES, max_internal=6))
def test_the_errors_of_a_path_never_rise_and_end_at_reduced_error_pruning(case):
    tree, grown, holdout = case
    path = k_reduced_error_path(tree, grown, holdout)

    assert (np.diff(path.errors) <= 0).all()
    assert path.pruning(path.ks[-1]) == reduced_error(tree, grown, holdout)
    assert path.pruning(path.ks[-1] + 5) == reduced_error(tree, grown, holdout)


@given(case=trees_with_counts(SAMPLES, max_internal=6))
def test_every_optimum_keeps_what_reduced_error_pruning_keeps(case):
    everything = list(every_pruning(*case))
    kept = keep_vector(case[0], set(reduced_error(*case).leaves.tolist()))

    for k in range(min(everything)[0], max(everything)[0] + 1):
        best = optimum(everything, k)
        for p in everything:
            if p[0] <= k and p[1:3] == best[1:3]:
                assert all(
                    integer_path for weighted_path, integer_path in zip(kept, p[3], strict=True) if weighted_path
                )


@given(case=trees_with_counts(SAMPLES, max_internal=6))
def test_the_sequence_holds_the_different_optima_largest_first(case):
    tree, grown, holdout = case
    path = k_reduced_error_path(tree, grown, holdout)
    sequence = path.sequence

    expected = {(e, n) for e, n in zip(path.errors.tolist(), path.n_leaves.tolist(), strict=True)}
    members = list(zip(sequence.errors.tolist(), sequence.n_leaves.tolist(), strict=True))
    assert set(members) == expected
    assert len(members) == len(expected)
    assert (np.diff(sequence.n_leaves) <= 0).all()
    assert sequence.errors_on(holdout).tolist() == sequence.errors.tolist()
    for pruning, k in zip(sequence, path.sequence_ks.tolist(), strict=True):
        assert pruning == path.pruning(k)
        key = (pruning.errors(holdout), pruning.n_leaves)
        assert k == min(j for j, *pair in zip(path.ks, path.errors, path.n_leaves, strict=True) if tuple(pair) == key)


@given(case=trees_with_counts(SAMPLES, max_internal=5), data=st.data())
def test_a_path_up_to_max_k_is_the_beginning_of_the_full_path(case, data):
    full_path = k_reduced_error_path(*case)
    max_k = data.draw(st.integers(int(full_path.ks[0]), int(full_path.ks[-1])))

    part = k_reduced_error_path(*case, max_k=max_k)

    assert part.ks.tolist() == list(range(full_path.ks[0], max_k + 1))
    assert part.errors.tolist() == full_path.errors[: len(part)].tolist()
    assert part.pruning(max_k) == full_path.pruning(max_k)


@given(case=trees_with_counts(SAMPLES, max_internal=5))
def test_parts_of_an_optimum_are_optimal_for_every_share_of_the_budget(case):
    """The decomposition theorem, for roots with two children."""
    tree, grown, holdout = case
    children = children_of(tree.parent.tolist())[0]
    if len(children) != 2:
        return
    labels = grown.majority.tolist()
    on_grown, on_holdout = errors_as_leaf(grown, labels), errors_as_leaf(holdout, labels)

    def keys(v):
        for leaves in all_prunings(tree, v):
            yield sum(on_grown[u] for u in leaves), (sum(on_holdout[u] for u in leaves), len(leaves))

    def best(v, budget):
        return min(key for growing, key in keys(v) if growing <= budget)

    path = k_reduced_error_path(tree, grown, holdout)
    for k in path.ks.tolist():
        leaves = path.pruning(k).leaves
        if len(leaves) == 1:
            continue
        parts = [[u for u in leaves.tolist() if c <= u < tree.end[c]] for c in children]
        growing = [sum(on_grown[u] for u in part) for part in parts]
        held = [(sum(on_holdout[u] for u in part), len(part)) for part in parts]
        for first in range(growing[0], k - growing[1] + 1):
            assert held == [best(children[0], first), best(children[1], k - first)]


# [[(2,1|1,2) (0,2|2,0)] [(2,0|0,1) (0,1|0,2)]]
FOUR_LEAVES = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
GROWN = Counts.from_leaves(FOUR_LEAVES, [[2, 1], [0, 2], [2, 0], [0, 1]])
HELD_OUT = Counts.from_leaves(FOUR_LEAVES, [[1, 2], [2, 0], [0, 1], [0, 2]], sample="prune")


def test_the_worked_example_has_these_prunings():
    table = {p[3]: p[:3] for p in every_pruning(FOUR_LEAVES, GROWN, HELD_OUT)}

    assert table == {
        (False, False, False): (4, 5, 1),
        (True, False, False): (3, 6, 2),
        (True, False, True): (2, 4, 3),
        (True, True, False): (2, 7, 3),
        (True, True, True): (1, 5, 4),
    }
    assert [sum(growing <= k for growing, *_ in table.values()) for k in range(5)] == [0, 1, 3, 4, 5]


def test_the_worked_example():
    path = k_reduced_error_path(FOUR_LEAVES, GROWN, HELD_OUT)

    assert path.ks.tolist() == [1, 2, 3, 4]
    assert path.errors.tolist() == [5, 4, 4, 4]
    assert path.n_leaves.tolist() == [4, 3, 3, 3]
    assert path.pruning(2).cuts.tolist() == [1]
    assert repr(path) == "KPath(k from 1 to 4, 2 different optima)"


def test_a_limit_below_the_growing_errors_is_refused_and_the_least_one_named():
    with pytest.raises(PruningError, match="least possible k is 1"):
        k_reduced_error(FOUR_LEAVES, GROWN, HELD_OUT, k=0)
    with pytest.raises(PruningError, match="least possible k is 1"):
        k_reduced_error(FOUR_LEAVES, GROWN, HELD_OUT, rate=0.1)
    with pytest.raises(PruningError, match="least possible k is 1"):
        k_reduced_error_path(FOUR_LEAVES, GROWN, HELD_OUT, max_k=0)


def test_the_smallest_case_without_an_optimum_as_printed_has_one():
    # Two pure leaves of different classes, no held-out data, k = 0: only the full tree is within the limit.
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[1, 0], [0, 1]])
    empty = Counts.from_leaves(tree, [[0, 0], [0, 0]], sample="prune")

    assert k_reduced_error(tree, grown, empty, k=0).n_leaves == 2
    assert k_reduced_error(tree, grown, empty, k=1).n_leaves == 1


# A cut at node 1 charges 1 and removes three leaves; one at node 6 charges 2 and removes a leaf and an error.
SIX_LEAVES = Tree.from_parents([-1, 0, 1, 1, 1, 1, 0, 6, 6])
SIX_GROWN = Counts.from_leaves(SIX_LEAVES, [[9, 0], [0, 1], [9, 0], [9, 0], [0, 9], [2, 0]])
SIX_HELD_OUT = Counts.from_leaves(SIX_LEAVES, [[1, 0], [0, 0], [1, 0], [1, 0], [0, 3], [0, 1]], sample="prune")


def test_a_larger_limit_can_give_more_leaves():
    path = k_reduced_error_path(SIX_LEAVES, SIX_GROWN, SIX_HELD_OUT, max_k=3)

    assert path.errors.tolist() == [1, 1, 0, 0]
    assert path.n_leaves.tolist() == [6, 3, 5, 2]
    assert path.sequence.n_leaves.tolist() == [6, 5, 3, 2]
    assert path.sequence_ks.tolist() == [0, 2, 1, 3]


def noisy_leaves(n_errors):
    """Two leaves that make `n_errors` growing errors between them and do not matter otherwise."""
    tree = Tree.from_parents([-1, 0, 0])
    return tree, Counts.from_leaves(tree, [[100, n_errors], [0, 1]])


@pytest.mark.parametrize(("factor", "k"), [(1.1, 11), (1, 10), (1.19, 11), (1.2, 12), (Fraction(13, 10), 13)])
def test_a_factor_is_the_decimal_number_that_is_written(factor, k):
    # A cut charges 1, so that it is allowed from k = 11 on: 1.1 * 10 must be 11 and not 11.000000000000002 or less.
    tree, grown = noisy_leaves(10)
    empty = Counts.from_leaves(tree, [[0, 0], [0, 0]], sample="prune")

    pruning = k_reduced_error(tree, grown, empty, factor=factor)

    assert pruning == k_reduced_error(tree, grown, empty, k=k)
    assert pruning.n_leaves == (1 if k >= 11 else 2)


@pytest.mark.parametrize(("rate", "n_leaves"), [(0.1, 1), (0.0999, 2)])
def test_a_rate_is_a_share_of_the_growing_sample(rate, n_leaves):
    # 110 examples, 10 growing errors, 11 after the cut: a tenth of the sample allows it.
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[99, 10], [0, 1]])
    empty = Counts.from_leaves(tree, [[0, 0], [0, 0]], sample="prune")

    assert k_reduced_error(tree, grown, empty, rate=rate).n_leaves == n_leaves


def test_without_growing_errors_every_factor_allows_none():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[5, 0], [0, 1]])
    empty = Counts.from_leaves(tree, [[0, 0], [0, 0]], sample="prune")

    assert k_reduced_error(tree, grown, empty, factor=100.0).n_leaves == 2


def stopped_errors(tree, grown):
    """Growing errors of the tree without the tests of which not two children hold 2 examples, walked from the root."""
    children, errors, todo = children_of(tree.parent.tolist()), 0, [0]
    while todo:
        v = todo.pop()
        if sum(grown.by_class[c].sum() >= 2 for c in children[v]) >= 2:
            todo += children[v]
        else:
            errors += int(grown.by_class[v].sum() - grown.by_class[v, grown.majority[v]])
    return errors


@given(trees_with_counts(("grow", "prune"), max_count=3))
def test_without_a_limit_k_is_what_the_authors_would_have_taken(case):
    tree, grown, holdout = case
    k = 11 * stopped_errors(tree, grown) // 10

    assert k_limit(grown) == k
    assert k_reduced_error(tree, grown, holdout) == k_reduced_error(tree, grown, holdout, k=k)


@given(trees_with_counts(("grow",), max_count=3))
def test_a_tree_that_was_stopped_has_the_published_limit(case):
    tree, grown = case
    doubled = Counts.from_leaves(tree, 2 * grown.by_class[tree.is_leaf] + [2, 0, 0][: grown.n_classes])
    assert k_limit(doubled) == k_limit(doubled, factor=1.1)


def test_a_pure_tree_may_be_pruned_and_the_rule_says_within_which_k():
    # Noise: 20 leaves of one row each, of either class, beside 60 rows that are easy.
    chain = [-1]
    for i in range(19):
        chain += [2 * i, 2 * i]
    tree = Tree.from_parents(chain)
    rows = [[60, 0]] + [[i % 2, 1 - i % 2] for i in range(19)]
    grown = Counts.from_leaves(tree, rows)
    fresh = Counts.from_leaves(tree, [[5, 0]] * 20, sample="prune")

    pruning = k_reduced_error(tree, grown, fresh)

    assert k_limit(grown, factor=1.1) == 0
    assert k_limit(grown) > 0
    assert pruning.n_leaves < tree.n_leaves
    assert f"k={k_limit(grown)} " in pruning.rule
    assert "rows, 0 uncut" in pruning.rule
    for parameters, text in (
        ({"rate": 0.2}, "rate=0.2, k=15"),
        ({"factor": 1.5}, "factor=1.5, k=0"),
        ({"k": 3}, "k=3"),
    ):
        assert text in k_reduced_error(tree, grown, fresh, **parameters).rule


# The labelled class: every leaf may take any class.


def every_labelled(tree, grown, holdout):
    n_classes = max(grown.n_classes, holdout.n_classes)
    by = [np.pad(s.by_class, ((0, 0), (0, n_classes - s.n_classes))).tolist() for s in (grown, holdout)]
    for leaves in all_prunings(tree):
        for labels in itertools.product(range(n_classes), repeat=len(leaves)):
            pairs = list(zip(sorted(leaves), labels, strict=True))
            growing, held = (sum(sum(rows[v]) - rows[v][c] for v, c in pairs) for rows in by)
            yield growing, (held, len(leaves)), dict(pairs)


def preference(tree, grown, labels):
    """What the walk prefers, from the left: keep; else the growing class, else the lowest."""
    majority, leaves = grown.majority.tolist(), set(labels)
    kept = dict(zip(tree.internal.tolist(), keep_vector(tree, leaves), strict=True))
    return [
        (0,) if kept.get(v, False) else (1, labels[v] != majority[v], labels[v])
        for v in range(tree.n_nodes)
        if v in labels or kept.get(v, False)
    ]


@given(case=trees_with_counts(SAMPLES, max_internal=3, max_count=2), extra=st.integers(0, 4))
def test_labelled_is_the_optimum_over_all_prunings_with_any_labels(case, extra):
    tree, grown, holdout = case
    everything = list(every_labelled(*case))
    k = min(growing for growing, *_ in everything) + extra
    within = [(key, preference(tree, grown, labels), labels) for growing, key, labels in everything if growing <= k]
    key, _, labels = min(within, key=lambda x: x[:2])

    pruning = k_reduced_error(tree, grown, holdout, k=k, labelled=True)

    assert (pruning.errors(holdout), pruning.n_leaves) == key
    assert {v: int(pruning.labels[v]) for v in pruning.leaves.tolist()} == labels
    assert pruning.errors(grown) <= k
    assert "labelled" in pruning.rule


@given(case=trees_with_counts(SAMPLES, max_internal=5))
def test_labelled_is_never_worse_and_without_a_limit_labels_by_the_held_out_sample(case):
    tree, grown, holdout = case

    unlimited = k_reduced_error(tree, grown, holdout, k=10**9, labelled=True)

    assert k_reduced_error(*case, labelled=True).errors(holdout) <= k_reduced_error(*case).errors(holdout)
    expected = reduced_error(tree, grown, holdout, labels="prune", original="relabel")
    assert unlimited.errors(holdout) == expected.errors(holdout)
    assert unlimited.leaves.tolist() == expected.leaves.tolist()


# Weights and samples of other shapes.


@given(case=trees_with_counts(SAMPLES, max_internal=5), extra=st.integers(0, 4), labelled=st.booleans())
def test_weighted_held_out_counts_give_the_cuts_of_the_whole_ones(case, extra, labelled):
    tree, grown, holdout = case
    weighted = Counts.from_leaves(tree, holdout.by_class[tree.is_leaf] * 0.1, sample="prune")
    k = int(grown.errors_if_leaf(grown.majority)[tree.is_leaf].sum()) + extra

    pruning = k_reduced_error(tree, grown, weighted, k=k, labelled=labelled)

    assert pruning == k_reduced_error(tree, grown, holdout, k=k, labelled=labelled)
    assert "1e-12" in pruning.note


@given(case=trees_with_counts(SAMPLES, max_internal=5))
def test_growing_weights_may_be_whole_numbers(case):
    tree, grown, holdout = case
    doubled = Counts.from_leaves(tree, grown.by_class[tree.is_leaf] * 2.0)
    full_path = Counts.from_leaves(tree, grown.by_class[tree.is_leaf] * 2)

    weighted_path, integer_path = (
        k_reduced_error_path(tree, doubled, holdout),
        k_reduced_error_path(tree, full_path, holdout),
    )

    assert weighted_path.ks.tolist() == integer_path.ks.tolist()
    assert weighted_path.errors.tolist() == integer_path.errors.tolist()
    assert weighted_path.pruning(weighted_path.ks[0]) == integer_path.pruning(integer_path.ks[0])


def test_growing_errors_need_not_be_whole_if_what_cuts_add_is():
    # The leaves make 0.5 errors; the cut adds exactly one.
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[5.0, 0.5], [0.0, 1.0]])
    empty = Counts.from_leaves(tree, [[0, 0], [0, 0]], sample="prune")

    path = k_reduced_error_path(tree, grown, empty)

    assert path.ks.tolist() == [0.5, 1.5]
    assert path.n_leaves.tolist() == [2, 1]
    assert [k_reduced_error(tree, grown, empty, k=k).n_leaves for k in (0.5, 1.49, 1.5)] == [2, 2, 1]


def test_growing_weights_with_fractional_charges_are_refused_with_advice():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[5.0, 0.0], [0.0, 0.3]])

    with pytest.raises(CountsError, match="scale the weights"):
        k_reduced_error(tree, grown, Counts.from_leaves(tree, [[0, 0], [0, 0]]), k=1)


def test_held_out_counts_too_large_to_pack_are_refused_with_advice():
    tree = Tree.from_parents([-1] + [0] * 600)
    grown = Counts.from_leaves(tree, [[1, 0]] * 599 + [[0, 1]])
    huge = Counts.from_leaves(tree, [[1, 0]] * 599 + [[2**53 - 600, 0]], sample="prune")

    with pytest.raises(CountsError, match="divide the counts"):
        k_reduced_error(tree, grown, huge, k=0)


@given(data=st.data(), case=trees_with_counts(("grow",), max_classes=2, max_internal=4), labelled=st.booleans())
def test_a_held_out_sample_may_have_classes_never_grown(data, case, labelled):
    tree, grown = case
    holdout = data.draw(counts(tree, "prune", n_classes=3, max_count=2))
    k = min(growing for growing, *_ in every_pruning(tree, grown, holdout)) + 2
    searched = every_labelled if labelled else every_unlabelled
    best = min(key for growing, key, *_ in searched(tree, grown, holdout) if growing <= k)

    pruning = k_reduced_error(tree, grown, holdout, k=k, labelled=labelled)

    assert (pruning.errors(holdout), pruning.n_leaves) == best


def every_unlabelled(tree, grown, holdout):
    return ((growing, (held, n_leaves)) for growing, held, n_leaves, *_ in every_pruning(tree, grown, holdout))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"k": 3, "rate": 0.5}, "k=3 and rate=0.5"),
        ({"factor": 1.1, "rate": 0.5}, "factor=1.1 and rate=0.5"),
        ({"k": float("nan")}, "k=nan"),
        ({"k": "3"}, "k='3'"),
        ({"factor": 0.9}, "factor=0.9"),
        ({"factor": float("inf")}, "factor=inf"),
        ({"rate": 1.5}, "rate=1.5"),
        ({"rate": -0.1}, "rate=-0.1"),
    ],
)
def test_invalid_limits_are_refused(parameters, words):
    with pytest.raises(ParameterError, match=words):
        k_reduced_error(FOUR_LEAVES, GROWN, HELD_OUT, **parameters)


def test_a_path_does_not_know_what_comes_after_its_end_unless_nothing_more_can_come():
    path = k_reduced_error_path(SIX_LEAVES, SIX_GROWN, SIX_HELD_OUT, max_k=1)

    with pytest.raises(PruningError, match="larger max_k"):
        path.pruning(2)
    assert path.pruning(3) == reduced_error(SIX_LEAVES, SIX_GROWN, SIX_HELD_OUT)


def test_a_path_has_nothing_before_its_beginning():
    with pytest.raises(PruningError, match="least possible k is 1"):
        k_reduced_error_path(FOUR_LEAVES, GROWN, HELD_OUT).pruning(0)


@pytest.mark.parametrize("function", [k_reduced_error, k_reduced_error_path])
@pytest.mark.parametrize("which", [0, 1])
def test_counts_of_another_tree_are_refused(function, which):
    samples = [GROWN, HELD_OUT]
    samples[which] = Counts.from_leaves(Tree.from_parents([-1, 0, 0]), [[1, 0], [0, 1]], sample="elsewhere")

    with pytest.raises(CountsError, match="elsewhere"):
        function(FOUR_LEAVES, *samples)


def test_the_result_records_the_samples_that_it_used():
    for labelled in (False, True):
        pruning = k_reduced_error(FOUR_LEAVES, GROWN, HELD_OUT, k=2, labelled=labelled)
        assert pruning.seen == {"grow", "prune"}
        assert "k=2" in pruning.rule
    assert k_reduced_error_path(FOUR_LEAVES, GROWN, HELD_OUT).sequence.seen == {"grow", "prune"}


def test_labelled_weights_count_as_equal_to_a_part_of_the_total_weight():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[3, 0], [0, 2]])
    for total, n_leaves in ((1e6, 1), (1.0, 2)):
        holdout = Counts.from_leaves(tree, [[total, 0.3], [0.2, 0.2 + 1e-10]], sample="prune")
        assert k_reduced_error(tree, grown, holdout, k=2, labelled=True).n_leaves == n_leaves


def test_a_rate_may_be_nothing_or_all():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[3, 0], [0, 2]])
    assert [k_limit(grown, rate=rate) for rate in (0, 1)] == [0, 5]


def test_a_child_is_large_from_two_rows_on():
    tree = Tree.from_parents([-1, 0, 0])
    leaves = ([[2, 0], [0, 2]], [[2, 0], [0, 1]])
    assert [k_limit(Counts.from_leaves(tree, at_leaves)) for at_leaves in leaves] == [0, 1]


def test_a_limit_is_rounded_down_even_close_to_a_whole_number():
    grown = Counts.from_leaves(Tree.from_parents([-1, 0, 0]), [[3, 0], [0, 2]])
    assert [k_limit(grown, k=k) for k in (1 - 1e-12, 1.0, 1 + 1e-12)] == [0, 1, 1]
