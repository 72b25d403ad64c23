import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings, children_of, keep_vector, n_nodes_of
from secateur import Counts, Tree
from secateur.core.counts import leaf_labels
from secateur.errors import CountsError, ParameterError
from secateur.pruners import reduced_error
from strategies import counts, trees_with_counts

VARIANTS = list(itertools.product(("grow", "prune", "both"), ("fixed", "relabel")))
SAMPLES = ("grow", "prune")


def labels_by_the_table(tree, grown, holdout, labels, original):
    """The label of every node as a leaf, read off the table of label rules."""
    children = children_of(tree.parent.tolist())
    g, p = grown.by_class.tolist(), holdout.by_class.tolist()
    by_growing, result = [], []
    for v in range(tree.n_nodes):
        if sum(g[v]):
            by_growing.append(g[v].index(max(g[v])))
        else:
            by_growing.append(by_growing[tree.parent[v]] if v else 0)
        votes = {"grow": g[v], "prune": p[v], "both": [a + b for a, b in zip(g[v], p[v], strict=True)]}[labels]
        tied = [c for c, votes_for in enumerate(votes) if votes_for == max(votes)]
        if labels == "grow" or sum(votes) == 0 or by_growing[v] in tied or (original == "fixed" and not children[v]):
            result.append(by_growing[v])
        else:
            result.append(tied[0])
    return result


def named(variant):
    return dict(zip(("labels", "original"), variant, strict=True))


def errors_as_leaf(holdout, labels):
    return [sum(row) - row[label] for row, label in zip(holdout.by_class.tolist(), labels, strict=True)]


def ranked(tree, cost):
    """(cost, leaves, leaf set) of every pruning."""
    return [(sum(cost[v] for v in leaves), len(leaves), leaves) for leaves in all_prunings(tree)]


@given(variant=st.sampled_from(VARIANTS), case=trees_with_counts(SAMPLES))
def test_labels_are_those_of_the_table(variant, case):
    assert leaf_labels(*case[1:], *variant).tolist() == labels_by_the_table(*case, *variant)


@given(variant=st.sampled_from(VARIANTS), case=trees_with_counts(SAMPLES))
def test_no_pruning_errs_less_and_the_one_that_errs_as_little_with_fewest_leaves_is_returned(variant, case):
    tree, _, holdout = case
    cost = errors_as_leaf(holdout, labels_by_the_table(*case, *variant))
    everything = ranked(tree, cost)
    least = min(everything)[:2]

    pruning = reduced_error(*case, **named(variant))

    assert pruning.errors(holdout) == least[0]
    assert [set(leaves) for *key, leaves in everything if tuple(key) == least] == [set(pruning.leaves.tolist())]


@given(variant=st.sampled_from(VARIANTS), case=trees_with_counts(SAMPLES))
def test_the_result_is_a_pruning_of_every_other_minimiser_and_has_the_fewest_nodes(variant, case):
    tree, _, holdout = case
    cost = errors_as_leaf(holdout, labels_by_the_table(*case, *variant))

    pruning = reduced_error(*case, **named(variant))

    kept = keep_vector(tree, set(pruning.leaves.tolist()))
    for errors, _, leaves in ranked(tree, cost):
        if errors == pruning.errors(holdout):
            other = keep_vector(tree, leaves)
            assert all(is_kept_in_other for is_kept, is_kept_in_other in zip(kept, other, strict=True) if is_kept)
            assert pruning.n_nodes <= n_nodes_of(tree, leaves)


@given(variant=st.sampled_from(VARIANTS), case=trees_with_counts(SAMPLES, max_count=1))
def test_subtrees_that_no_held_out_row_reaches_are_cut(variant, case):
    _, _, holdout = case

    pruning = reduced_error(*case, **named(variant))

    assert (holdout.total[pruning.is_kept] > 0).all()


@given(case=trees_with_counts(SAMPLES, max_internal=3, max_count=2))
def test_under_prune_labels_no_labelling_of_the_cut_leaves_does_better(case):
    tree, grown, holdout = case
    n_classes = grown.n_classes
    fixed = grown.majority.tolist()
    best = min(
        sum(
            sum(row := holdout.by_class[v].tolist()) - row[fixed[v] if tree.is_leaf[v] else label]
            for v, label in zip(sorted(leaves), given_labels, strict=True)
        )
        for leaves in all_prunings(tree)
        for given_labels in itertools.product(range(n_classes), repeat=len(leaves))
    )

    assert reduced_error(tree, grown, holdout, labels="prune").errors(holdout) == best


@given(case=trees_with_counts(SAMPLES))
def test_the_full_tree_with_relabelled_leaves_is_a_minimiser(case):
    tree, grown, holdout = case
    least_at_leaves = sum(sum(row) - max(row) for row in holdout.by_class[tree.is_leaf].tolist())

    assert reduced_error(tree, grown, holdout, labels="prune", original="relabel").errors(holdout) == least_at_leaves


# [[(5,0|0,1) (0,2|0,1)] [(0,3|2,0) (2,0|1,0)]]: leaf = growing|pruning counts of classes - and +.
FOUR_LEAVES = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
GROWN = Counts.from_leaves(FOUR_LEAVES, [[5, 0], [0, 2], [0, 3], [2, 0]])
HELD_OUT = Counts.from_leaves(FOUR_LEAVES, [[0, 1], [0, 1], [2, 0], [1, 0]], sample="prune")


@pytest.mark.parametrize(
    ("labels", "cuts", "errors", "n_leaves"), [("grow", [0], 2, 1), ("prune", [1, 4], 0, 2), ("both", [4], 1, 3)]
)
def test_the_worked_example(labels, cuts, errors, n_leaves):
    pruning = reduced_error(FOUR_LEAVES, GROWN, HELD_OUT, labels=labels)

    assert pruning.cuts.tolist() == cuts
    assert pruning.errors(HELD_OUT) == errors
    assert pruning.n_leaves == n_leaves


def test_the_worked_example_has_the_labels_and_errors_it_starts_from():
    assert GROWN.majority[[0, 1, 4]].tolist() == [0, 0, 1]
    assert HELD_OUT.errors_if_leaf(GROWN.majority)[FOUR_LEAVES.is_leaf].tolist() == [1, 0, 2, 0]
    assert reduced_error(FOUR_LEAVES, GROWN, HELD_OUT).labels[0] == 0


# Structure theorems: labels = prune, original leaves fixed.


def in_fringe(tree):
    """Nodes with an original leaf among their children, and all their descendants."""
    children = children_of(tree.parent.tolist())
    is_in_fringe = []
    for v in range(tree.n_nodes):
        above = v > 0 and is_in_fringe[tree.parent[v]]
        is_in_fringe.append(above or any(not children[c] for c in children[v]))
    return is_in_fringe


def safe_nodes(tree):
    if tree.n_nodes == 1:
        return [0]
    fringe = in_fringe(tree)
    return [v for v in range(tree.n_nodes) if fringe[v] and (v == 0 or not fringe[tree.parent[v]])]


@given(case=trees_with_counts(SAMPLES, max_internal=8, max_count=2))
def test_a_node_without_a_leaf_child_is_not_cut_while_a_child_is_internal(case):
    tree, grown, holdout = case
    children = children_of(tree.parent.tolist())
    is_cut = cuts_of_a_sweep(tree, errors_as_leaf(holdout, labels_by_the_table(*case, "prune", "fixed")))
    pruning = reduced_error(tree, grown, holdout, labels="prune")

    for v in tree.internal.tolist():
        if all(children[c] for c in children[v]) and not all(is_cut[c] for c in children[v]):
            assert pruning.is_kept[v] or any(pruning.is_leaf[a] for a in path_above(tree, v))
            assert not is_cut[v]


@given(case=trees_with_counts(SAMPLES, max_internal=8, max_count=2))
def test_with_relabelled_leaves_a_node_is_cut_iff_its_children_are_leaves_that_share_a_majority(case):
    tree, grown, holdout = case
    children = children_of(tree.parent.tolist())
    cost = errors_as_leaf(holdout, labels_by_the_table(*case, "prune", "relabel"))
    is_cut = cuts_of_a_sweep(tree, cost)

    for v in tree.internal.tolist():
        are_leaves = all(is_cut[c] or not children[c] for c in children[v])
        rows = [holdout.by_class[c].tolist() for c in children[v]]
        share = any(all(row[k] == max(row) for row in rows) for k in range(grown.n_classes))
        assert is_cut[v] == (are_leaves and share)
    pruning = reduced_error(tree, grown, holdout, labels="prune", original="relabel")
    topmost = [v for v in tree.internal.tolist() if is_cut[v] and not any(is_cut[a] for a in path_above(tree, v))]
    assert pruning.cuts.tolist() == topmost


def cuts_of_a_sweep(tree, cost):
    """Which internal nodes the bottom-up sweep turns into leaves when it reaches them."""
    children = children_of(tree.parent.tolist())
    is_cut, best = [False] * tree.n_nodes, list(cost)
    for v in reversed(range(tree.n_nodes)):
        if children[v]:
            below = sum(best[c] for c in children[v])
            is_cut[v], best[v] = cost[v] <= below, min(cost[v], below)
    return is_cut


def path_above(tree, v):
    while v > 0:
        v = int(tree.parent[v])
        yield v


@given(case=trees_with_counts(SAMPLES, max_internal=8, max_count=2))
def test_one_leaf_remains_iff_safe_nodes_are_cut_and_share_a_most_frequent_class(case):
    tree, grown, holdout = case
    safe = safe_nodes(tree)
    children = children_of(tree.parent.tolist())
    is_cut = cuts_of_a_sweep(tree, errors_as_leaf(holdout, labels_by_the_table(*case, "prune", "fixed")))
    rows = [holdout.by_class[v].tolist() for v in safe]
    share = any(all(row[k] == max(row) for row in rows) for k in range(grown.n_classes))

    pruning = reduced_error(tree, grown, holdout, labels="prune")

    assert (pruning.n_leaves == 1) == (all(is_cut[v] or not children[v] for v in safe) and share)


def test_the_root_is_the_only_safe_node_of_a_tree_whose_root_has_a_leaf():
    assert safe_nodes(Tree.from_parents([-1, 0, 1, 1, 0])) == [0]
    assert safe_nodes(FOUR_LEAVES) == [1, 4]


@pytest.mark.parametrize("variant", [("grow", "fixed"), ("prune", "relabel")])
@given(case=trees_with_counts(SAMPLES))
def test_pruning_the_pruned_tree_again_cuts_nothing(variant, case):
    tree, grown, holdout = case
    once = reduced_error(tree, grown, holdout, **named(variant))

    again = reduced_error(*once.to_tree(grown, holdout), **named(variant))

    assert again.n_leaves == once.n_leaves


@given(case=trees_with_counts(SAMPLES))
def test_pruning_again_with_the_labels_the_leaves_have_now_cuts_nothing(case):
    tree, grown, holdout = case
    once = reduced_error(tree, grown, holdout, labels="prune")
    small, holdout_there = once.to_tree(holdout)
    kept = once.node_labels[small.ids]

    again = reduced_error(small, None, None, cost=holdout_there.errors_if_leaf(kept))

    assert again.n_leaves == once.n_leaves


@given(variant=st.sampled_from(VARIANTS), case=trees_with_counts(SAMPLES), data=st.data())
def test_a_further_row_in_an_empty_cut_subtree_never_lowers_the_errors(variant, case, data):
    tree, grown, holdout = case
    pruning = reduced_error(tree, grown, holdout, **named(variant))
    empty = [v for v in pruning.cuts.tolist() if holdout.total[v] == 0]
    if not empty:
        return
    v = data.draw(st.sampled_from(empty))
    leaf = data.draw(st.sampled_from([u for u in tree.leaves.tolist() if v <= u < tree.end[v]]))
    more = holdout.by_class[tree.is_leaf].copy()
    more[tree.leaves.tolist().index(leaf), data.draw(st.integers(0, grown.n_classes - 1))] += 1
    held = Counts.from_leaves(tree, more, sample="prune")

    further = reduced_error(tree, grown, held, **named(variant))

    assert further.errors(held) >= pruning.errors(holdout)


@given(variant=st.sampled_from(VARIANTS), case=trees_with_counts(SAMPLES), data=st.data())
def test_the_order_of_children_does_not_matter(variant, case, data):
    tree, grown, holdout = case
    children = children_of(tree.parent.tolist())
    shuffled = [data.draw(st.permutations(c)) for c in children]
    order, todo = [], [0]
    while todo:
        v = todo.pop()
        order.append(v)
        todo.extend(reversed(shuffled[v]))
    new_id = {v: i for i, v in enumerate(order)}
    turned = Tree.from_parents([-1] + [new_id[int(tree.parent[v])] for v in order[1:]])
    there = [Counts(turned, c.by_class[order], c.sample) for c in (grown, holdout)]

    pruning = reduced_error(tree, grown, holdout, **named(variant))
    mirrored = reduced_error(turned, *there, **named(variant))

    assert {order[v] for v in mirrored.leaves.tolist()} == set(pruning.leaves.tolist())


@given(case=trees_with_counts(SAMPLES, max_count=1))
def test_keep_empty_is_best_among_the_prunings_that_cut_no_empty_node(case):
    tree, grown, holdout = case
    cost = errors_as_leaf(holdout, grown.majority.tolist())
    total = holdout.total.tolist()
    allowed = [key[:2] for key in ranked(tree, cost) if not any(total[v] == 0 and not tree.is_leaf[v] for v in key[2])]

    pruning = reduced_error(tree, grown, holdout, keep_empty=True)

    assert (pruning.errors(holdout), pruning.n_leaves) == min(allowed)
    assert "keep_empty" in pruning.rule


def test_the_result_records_the_samples_that_it_used():
    pruning = reduced_error(FOUR_LEAVES, GROWN, HELD_OUT, labels="both")

    assert pruning.seen == {"grow", "prune"}
    assert pruning.rule.startswith("reduced-error")
    assert "keep_empty" not in pruning.rule


def test_costs_need_no_counts_and_give_no_classes():
    pruning = reduced_error(FOUR_LEAVES, None, None, cost=[9.5, 2.0, 1.0, 1.0, 3.0, 1.0, 1.5])

    assert pruning.cuts.tolist() == [1]  # 2 <= 1 + 1, a tie cuts; 3 > 2.5 and 9.5 > 4.5 stay
    assert pruning.node_labels is None
    assert pruning.seen == frozenset()
    assert "1e-12" in pruning.note


def test_costs_with_a_growing_sample_keep_its_classes():
    pruning = reduced_error(FOUR_LEAVES, GROWN, None, cost=np.arange(7)[::-1])

    assert pruning.node_labels.tolist() == GROWN.majority.tolist()


@given(case=trees_with_counts(SAMPLES))
def test_weights_give_the_cuts_of_the_whole_counts(case):
    tree, grown, holdout = case
    weighted = Counts.from_leaves(tree, holdout.by_class[tree.is_leaf] * 0.1, sample="prune")

    assert reduced_error(tree, grown, weighted) == reduced_error(tree, grown, holdout)


@given(data=st.data(), case=trees_with_counts(("grow",), max_classes=2))
def test_a_held_out_sample_with_a_class_never_grown_errs_on_it(data, case):
    tree, grown = case
    holdout = data.draw(counts(tree, "prune", n_classes=4))
    cost = errors_as_leaf(holdout, grown.majority.tolist())

    assert reduced_error(tree, grown, holdout).errors(holdout) == min(ranked(tree, cost))[0]
    assert reduced_error(tree, grown, holdout, labels="prune", original="relabel").errors(holdout) == sum(
        sum(row) - max(row[: grown.n_classes]) for row in holdout.by_class[tree.is_leaf].tolist()
    )


@pytest.mark.parametrize(
    ("arguments", "parameters", "error", "words"),
    [
        ((None, HELD_OUT), {}, CountsError, "grown is None"),
        ((GROWN, None), {}, CountsError, "holdout is None"),
        ((GROWN, None), {"labels": "prune", "cost": np.ones(7)}, CountsError, "holdout is None"),
        ((GROWN, None), {"keep_empty": True, "cost": np.ones(7)}, ParameterError, "keep_empty"),
        ((GROWN, HELD_OUT), {"labels": "neither"}, ParameterError, "neither"),
        ((GROWN, HELD_OUT), {"original": "gone"}, ParameterError, "gone"),
        ((GROWN, HELD_OUT), {"cost": [1.0, 2.0]}, ParameterError, "shape"),
        ((GROWN, HELD_OUT), {"cost": np.full(7, np.nan)}, ParameterError, "nan"),
        ((GROWN, HELD_OUT), {"cost": -np.ones(7)}, ParameterError, "-1"),
    ],
)
def test_what_cannot_be_pruned_is_refused(arguments, parameters, error, words):
    with pytest.raises(error, match=words):
        reduced_error(FOUR_LEAVES, *arguments, **parameters)


@pytest.mark.parametrize("which", [0, 1])
def test_counts_of_another_tree_are_refused(which):
    samples = [GROWN, HELD_OUT]
    samples[which] = Counts.from_leaves(Tree.from_parents([-1, 0, 0]), [[1, 0], [0, 1]], sample="elsewhere")

    with pytest.raises(CountsError, match="elsewhere"):
        reduced_error(FOUR_LEAVES, *samples)


def test_weights_count_as_equal_to_a_part_of_the_total_weight_not_of_the_errors():
    """The errors differ by 1e-10, more than rounding of errors of about 1, but less than that of a million rows."""
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[3, 0], [0, 2]])
    for total, n_leaves in ((1e6, 1), (1.0, 2)):
        holdout = Counts.from_leaves(tree, [[total, 0.3], [0.2, 0.2 + 1e-10]], sample="prune")

        assert reduced_error(tree, grown, holdout).n_leaves == n_leaves


def test_costs_are_compared_with_one_another_however_small():
    assert reduced_error(Tree.from_parents([-1, 0, 0]), None, None, cost=[3e-13, 1e-13, 1e-13]).n_leaves == 2


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({}, "reduced-error"),
        ({"labels": "prune"}, "reduced-error, labels=prune"),
        ({"labels": "both", "original": "relabel"}, "reduced-error, labels=both, original=relabel"),
    ],
)
def test_the_rule_names_what_is_not_the_default(parameters, name):
    assert reduced_error(FOUR_LEAVES, GROWN, HELD_OUT, **parameters).rule == name
