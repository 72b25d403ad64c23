"""Rules refuse samples that they cannot use, and the printed family takes the same penalties as the true one."""

import pytest

from secateur import Counts, Pruning, Tree, prune
from secateur.errors import CountsError
from secateur.pruners import cost_complexity, merge_equal_leaves, printed_cost_complexity

TREE = Tree.from_parents([-1, 0, 0, 2, 2])
COUNTS = Counts.from_leaves(TREE, [[0, 1], [2, 0], [0, 1]])


@pytest.mark.parametrize(("rule", "samples"), [("reduced-error", (COUNTS, COUNTS, COUNTS)), ("cost-complexity", ())])
def test_a_wrong_number_of_samples_is_refused(rule, samples):
    with pytest.raises(CountsError, match=f"rule '{rule}' needs .* counts .*; {len(samples)} given"):
        prune(TREE, *samples, rule=rule)


def test_the_printed_family_takes_a_penalty_that_is_a_function():
    path = printed_cost_complexity(TREE, COUNTS, penalty=lambda size: size)
    named = printed_cost_complexity(TREE, COUNTS, penalty="leaves")

    assert path.n_leaves.tolist() == named.n_leaves.tolist() == [3, 2, 1]
    assert path.alphas.tolist() == named.alphas.tolist() == [0, 1, 1]
    assert cost_complexity(TREE, COUNTS, penalty=lambda size: size).n_leaves.tolist() == [3, 1]


def test_merging_equal_leaves_of_a_pruning_without_a_rule_is_named_after_the_merging():
    by_hand = Pruning.from_cuts(TREE, [2], node_labels=[0, 1, 0, 0, 1])

    merged = merge_equal_leaves(TREE, None, pruning=by_hand)

    assert by_hand.rule == ""
    assert merged.rule == "equal-predictions"
