"""The sentences that say why a node was cut or kept, checked against the decisions of the rules."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from report_models import full_reason, short_reason
from secateur import Counts, Pruning, Tree, prune
from secateur.core.costs import m_estimate
from secateur.core.model import Model
from secateur.inspection.wording import format_measure, format_number, format_percent
from secateur.model_selection import prune_by_rule
from secateur.pruners import cost_complexity, greedy, minimum_error, pessimistic, reduced_error, weakest_links
from secateur.report._reasons import fitted_reasons, sequence_reasons
from secateur.report._shown import costs_of, deciding_costs, with_alphas_per_row
from strategies import trees_with_counts

EIGHT = st.builds(lambda drawn: drawn, trees_with_counts(samples=("grow", "prune"), max_internal=8, max_count=8))


def numbers(text):
    return [float(found.replace(",", "")) for found in re.findall(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?", text)]


def reasons_of(sequence, grown, holdout=None):
    """The reasons of a sequence as the page has them, in a model that has not been pruned."""
    model = Model(Pruning.from_cuts(grown.tree, [], node_labels=grown.majority), grown, holdout)
    sequence_per_row = with_alphas_per_row(sequence, float(grown.total[0]) or 1.0)
    return sequence_reasons(sequence_per_row, deciding_costs(model, sequence), grown.total)


def test_the_sentence_of_a_weakest_link_has_its_numbers():
    # Node 1 as a leaf: 1 error; its branch: 0 with 2 leaves. The root: 10 errors; before it goes node 1 is a leaf.
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    grown = Counts.from_leaves(tree, [[9, 0], [0, 1], [0, 10]])

    reasons = reasons_of(prune(tree, grown), grown)

    assert "costs 1 errors on the growing sample" in full_reason(reasons, 1)
    assert "(1 - 0) / (2 - 1) = 1 saved for each further leaf, 0.05 for each of 20 rows" in full_reason(reasons, 1)
    assert "step 1 of 2 (leaves left: 2)" in full_reason(reasons, 1)
    assert "(9 - 1) / (2 - 1) = 8 saved" in full_reason(reasons, 0)
    assert full_reason(reasons, 2) == ""


@given(EIGHT)
def test_the_branch_before_a_cut_is_the_one_of_the_member_before(drawn):
    tree, grown, _ = drawn
    sequence = prune(tree, grown)
    cost = grown.errors_if_leaf(grown.majority)
    values = reasons_of(sequence, grown).values

    for v in tree.internal.tolist():
        step = sequence.steps[v]
        before = sequence[int(step) - 1] if step else Pruning.from_cuts(tree, [])
        inside = slice(v, tree.end[v])
        assert values["branch"][v] == cost[inside][before.is_leaf[inside]].sum()
        assert values["leaves"][v] == np.count_nonzero(before.is_leaf[inside])


@given(EIGHT)
def test_nodes_that_are_cut_in_a_member_say_why_with_their_alpha(drawn):
    tree, grown, _ = drawn
    sequence = with_alphas_per_row(prune(tree, grown), float(grown.total[0]) or 1.0)
    reasons = reasons_of(prune(tree, grown), grown)

    for i, member in enumerate(sequence):
        for v in member.cuts.tolist():
            step = int(sequence.steps[v])
            assert step <= i
            if step:
                assert reasons.sentence[v] == 0
                assert reasons.values["alpha"][v] == pytest.approx(sequence.alphas[step])
            else:
                assert "save nothing" in full_reason(reasons, v)


@given(EIGHT, st.sampled_from([cost_complexity, weakest_links]))
def test_the_ratio_of_a_node_is_the_penalty_at_which_it_is_cut(drawn, rule):
    tree, grown, _ = drawn
    sequence = rule(tree, grown)
    reasons = reasons_of(sequence, grown)

    for v in tree.internal.tolist():
        if reasons.sentence[v] == 0:
            assert "charged alpha" in full_reason(reasons, v)
            assert reasons.values["ratio"][v] == pytest.approx(sequence.alphas[sequence.steps[v]])


@given(EIGHT)
def test_a_test_that_goes_with_one_above_it_names_that_one(drawn):
    tree, grown, _ = drawn
    sequence = prune(tree, grown)
    reasons = reasons_of(sequence, grown)

    for v in tree.internal[1:].tolist():
        parent = int(tree.parent[v])
        goes_with_it = sequence.steps[v] == sequence.steps[parent]
        assert (reasons.sentence[v] == 3) == goes_with_it
        if goes_with_it:
            assert sequence.steps[reasons.values["top"][v]] == sequence.steps[v]


def test_a_concave_penalty_gets_no_sentence_about_alpha():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    grown = Counts.from_leaves(tree, [[9, 0], [0, 1], [0, 10]])
    sequence = cost_complexity(tree, grown, penalty="sqrt")

    reasons = reasons_of(sequence, grown)

    assert "alpha" not in full_reason(reasons, 1)
    assert "Cutting it adds 1" in full_reason(reasons, 1)


def test_cost_complexity_gets_sentences_about_alpha_unless_equal_ratios_are_listed_one_by_one():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    grown = Counts.from_leaves(tree, [[9, 0], [0, 1], [0, 10]])
    sequence = cost_complexity(tree, grown)
    parameters = dict(sequence.provenance.parameters) | {"is_printed": True}
    listed = replace(sequence, provenance=replace(sequence.provenance, parameters=parameters))

    assert "charged alpha = 0.05 or more" in full_reason(reasons_of(sequence, grown), 1)
    assert "charged alpha" not in full_reason(reasons_of(listed, grown), 1)


@given(EIGHT)
def test_smoothed_costs_charged_per_row_are_named(drawn):
    tree, grown, _ = drawn
    assume(grown.total[0] > 0)
    sequence = cost_complexity(tree, grown, cost=m_estimate(grown, 3))
    provenance = replace(
        sequence.provenance, parameters={"penalty": "leaves", "size": "leaves", "m": 3}, cost="m-estimate",
        sample="grow", alpha_unit="cost per row",
    )  # fmt: skip

    reasons = reasons_of(replace(sequence, provenance=provenance), grown)

    for v in sequence[-1].cuts.tolist() if len(sequence) > 1 else []:
        assert reasons.values["alpha"][v] == pytest.approx(sequence.alphas[sequence.steps[v]], abs=1e-9)
        assert "charged alpha" in full_reason(reasons, v)
        assert "m-estimate with m = 3" in full_reason(reasons, v)


def test_costs_on_the_held_out_sample_are_named():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    grown = Counts.from_leaves(tree, [[9, 0], [0, 1], [0, 10]])
    holdout = Counts.from_leaves(tree, [[8, 1], [0, 3], [0, 10]], sample="prune")
    sequence = replace(cost_complexity(tree, holdout), node_labels=grown.majority)

    reasons = reasons_of(sequence, grown, holdout)

    assert "costs 4 errors on the held-out sample" in full_reason(reasons, 1)


@pytest.mark.parametrize("change", ["given cost", "edited", "old file"])
def test_nothing_is_claimed_of_a_cost_that_is_not_known(change):
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    grown = Counts.from_leaves(tree, [[9, 0], [0, 1], [0, 10]])
    cost = grown.errors_if_leaf(grown.majority)
    sequence = {
        "given cost": cost_complexity(tree, grown, cost=cost),
        "edited": replace(prune(tree, grown), provenance=prune(tree, grown).provenance.with_edit("snip")),
        "old file": replace(prune(tree, grown), provenance=None),
    }[change]

    reasons = reasons_of(sequence, grown)

    assert "alpha" not in full_reason(reasons, 1)
    assert "Cutting it adds 1" in full_reason(reasons, 1)


def test_a_sequence_without_penalties_says_what_a_cut_adds():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    grown = Counts.from_leaves(tree, [[9, 0], [0, 1], [0, 10]])
    sequence = greedy(tree, grown)

    reasons = reasons_of(sequence, grown)

    assert "rule: " + sequence.rule in full_reason(reasons, 1)


@given(EIGHT)
def test_reduced_error_compares_the_leaf_with_the_best_below(drawn):
    tree, grown, holdout = drawn
    pruning = reduced_error(tree, grown, holdout)
    model = Model(pruning, grown, holdout)
    reasons = fitted_reasons(model)
    cost = costs_of(model, holdout)

    for v in tree.internal.tolist():
        leaf, below = numbers(full_reason(reasons, v).split(". ")[0])
        # Slow and obvious: the least cost of all prunings of the branch that keep v.
        assert leaf == cost[v]
        assert below == least_that_keeps(tree, cost, v)
        if pruning.is_leaf[v]:
            assert leaf <= below
            assert "so it is cut" in full_reason(reasons, v)
        elif pruning.is_kept[v]:
            assert leaf > below
            assert "so it is kept" in full_reason(reasons, v)


def least_that_keeps(tree, cost, v):
    return sum(
        min(cost[c], least_that_keeps(tree, cost, c)) if not tree.is_leaf[c] else cost[c] for c in tree.children(v)
    )


@given(EIGHT)
def test_pessimistic_compares_corrected_errors(drawn):
    tree, grown, _ = drawn
    assume(grown.total[0] > 0)
    pruning = pessimistic(tree, grown)
    reasons = fitted_reasons(Model(pruning, grown))

    for v in pruning.cuts.tolist():
        own, se = reasons.values["own"][v], reasons.values["se"][v]
        assert own <= reasons.values["corrected"][v] + se + 1e-9
        assert "within one standard error, so it is cut" in full_reason(reasons, v)


@given(EIGHT)
def test_a_rule_without_a_sentence_of_its_own_still_says_what_a_cut_adds(drawn):
    tree, grown, _ = drawn
    assume(grown.total[0] > 0)
    pruning = minimum_error(tree, grown)
    reasons = fitted_reasons(Model(pruning, grown))

    for v in tree.internal.tolist():
        text = full_reason(reasons, v)
        assert pruning.rule in text
        assert text.endswith("kept it." if pruning.is_kept[v] else "cut it." if pruning.is_leaf[v] else "above it.")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (1234567, "1,234,567"), (-3, "-3"), (2.5, "2.5"), (101.0, "101"), (0.123456, "0.1235"),
        (0.99996, "1"), (12.3456, "12.35"), (1234.56, "1,235"), (9.9996, "10"), (0.00001234, "1.234e-5"),
        (1.5e20, "1.500e20"), (float("inf"), "inf"), (float("nan"), "nan"),
    ],
)  # fmt: skip
def test_numbers_are_written_short(value, text):
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (7, "7"), (1.0557e9, "1.06\u00a0G"), (999_999, "1.00\u00a0M"), (12_345, "12,300"), (-0.0012, "-0.00120"),
        (1.2345e-6, "1.23\u00d710⁻⁶"), (3.2e18, "3.20\u00d710¹⁸"), (0.5, "0.500"), (1e14, "100\u00a0T"), (float("nan"), "nan"),
    ],
)  # fmt: skip
def test_measured_numbers_have_three_digits(value, text):
    assert format_measure(value) == text


def test_shares_are_written_in_percent():
    assert [format_percent(x) for x in (0.0, 0.06125, 0.1345, 0.29, 1.0)] == [
        "0.00\u00a0%", "6.13\u00a0%", "13.5\u00a0%", "29.0\u00a0%", "100.0\u00a0%"
    ]  # fmt: skip


def test_the_short_sentence_states_the_errors_that_leaves_save():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    grown = Counts.from_leaves(tree, [[9, 0], [0, 1], [0, 10]])

    reasons = reasons_of(prune(tree, grown), grown)

    assert short_reason(reasons, 1, is_cut=True) == (
        "Cut because 2 leaves here save only 1 of its 1 errors in 10 rows: 1 for each further leaf, no more than a "
        "leaf costs."
    )
    assert short_reason(reasons, 0, is_cut=False) == (
        "Kept because 2 leaves here save 8 of its 9 errors in 20 rows: 8 for each further leaf, more than a leaf costs."
    )
    assert short_reason(reasons, 2, is_cut=True) == ""


@given(EIGHT)
def test_penalties_are_shown_per_row_for_rules_and_models(drawn):
    tree, grown, _ = drawn
    rows = float(grown.total[0]) or 1.0
    of_rule, of_model = prune(tree, grown), prune_by_rule("cost-complexity", grown)

    for sequence in (of_rule, of_model):
        assert with_alphas_per_row(sequence, rows).alphas.tolist() == pytest.approx(of_model.alphas.tolist())
