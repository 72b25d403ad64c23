"""Wrong implementations, one or more for each claim, that the check of the claim must notice.

A check that cannot fail is worth nothing. A fault replaces one name in the module of a claim, such as a pruning rule,
by something wrong; the verdict on the claim must then change. `tests/research/test_claims.py` runs them all, and the
page "Where is it?" states for each claim what its check rejects.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from itertools import combinations_with_replacement, cycle, product
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ... import analysis, certifiers
from ...core import Pruning
from ...growers import grow
from ...pruners import best_of_size, greedy, iterative_reduced_error, printed_cost_complexity, reduced_error
from ._claim import Claim, Finding, verify
from ._subadditive import bumpy_penalty


class Fault(NamedTuple):
    """A wrong implementation.

    Parameters
    ----------
    description : str
        What the check works with instead of the right implementation.
    replaced : str
        A name in the module of the claim: "reduced_error", or "analysis.safe_nodes" of a package imported there.
    make : callable
        Returns the replacement of what has this name.
    """

    description: str
    replaced: str
    make: Callable[[Any], Any]


def check_with_fault(claim: Claim) -> Finding:
    """Return the finding on a claim while its fault replaces the right implementation."""
    with _installed(FAULTS[claim.name], claim.document):
        return verify(claim)


@contextmanager
def _installed(fault: Fault, document: str) -> Iterator[None]:
    """Replace the name of a fault in the module of a document's claims, and restore it at the end."""
    owner: Any = import_module(f"._{document.replace('-', '_')}", __package__)
    *path, name = fault.replaced.split(".")
    for part in path:
        owner = getattr(owner, part)
    right = getattr(owner, name)
    setattr(owner, name, fault.make(right))
    try:
        yield
    finally:
        setattr(owner, name, right)


def _uncut(tree: Any, counts: Any, *_: Any, **__: Any) -> Pruning:
    """Return the pruning without cuts, in place of the result of a rule."""
    return Pruning.from_cuts(tree, [], node_labels=counts.majority)


def _one_leaf(tree: Any, counts: Any, *_: Any, **__: Any) -> Pruning:
    """Return the pruning to one leaf, in place of the result of a rule."""
    return Pruning.from_cuts(tree, [0], node_labels=counts.majority)


def _constant(value: Any) -> Callable[[Any], Any]:
    """Return a `make` that replaces anything by a value."""
    return lambda _: value


def _without_labels(rule: Any) -> Any:
    """Return reduced error pruning that ignores its parameter `labels`."""
    return lambda tree, grown, held, labels="grow": rule(tree, grown, held)  # noqa: ARG005


def _power(exponent: float) -> Callable[[Any], Any]:
    """Return a `make` for a probability that falls faster, or more slowly, than it should."""
    return lambda right: lambda *arguments: right(*arguments) ** exponent


def _scaled(factor: float) -> Callable[[Any], Any]:
    """Return a `make` for a number that is wrong by a factor."""
    return lambda right: lambda *arguments, **options: factor * right(*arguments, **options)


def _exchanged(first: str, second: str) -> Callable[[Any], Any]:
    """Return a `make` for a function whose result is a dict: two of its entries change places."""

    def make(right: Any) -> Any:
        def faulty(*arguments: Any) -> Any:
            found = right(*arguments)
            return {**found, first: found[second], second: found[first]}

        return faulty

    return make


def _with_entry(**entries: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a `make` for a function whose result is a dict: entries are computed from the right result instead."""

    def make(right: Any) -> Any:
        def faulty(*arguments: Any) -> Any:
            found = right(*arguments)
            return {**found, **{name.replace("_", " "): entry(found) for name, entry in entries.items()}}

        return faulty

    return make


def _with_attribute(name: str, value: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a `make` for a function whose result has a wrong attribute; all others are those of the right result."""

    def make(right: Any) -> Any:
        def faulty(*arguments: Any, **options: Any) -> Any:
            found = right(*arguments, **options)

            class FaultyResult:
                def __getattr__(self, other: str) -> Any:
                    return value(found) if other == name else getattr(found, other)

            return FaultyResult()

        return faulty

    return make


def _accuracy_of(method: str, other: str) -> Callable[[Any], Any]:
    """Return a `make` for a comparison of methods in which one method has the accuracy of another."""
    return _with_entry(accuracy=lambda found: {**found["accuracy"], method: found["accuracy"][other]})


def _share_of_added(share: float) -> Callable[[Any], Any]:
    """Return a `make` for a bound that adds only a share of what it should to the error on the sample."""

    def make(right: Any) -> Any:
        def faulty(tree: Any, grown: Any, held: Any, *, pruning: Any, **options: Any) -> Any:
            sample_error = pruning.errors(held) / held.total[0]
            added = right(tree, grown, held, pruning=pruning, **options).details["unclipped"] - sample_error
            return SimpleNamespace(details={"unclipped": sample_error + share * added})

        return faulty

    return make


def _choice_without_price(right: Any) -> Any:  # noqa: ARG001
    """Return a choice of k that pays nothing for having chosen."""

    def faulty(*samples: Any, ks: Any, **options: Any) -> Any:
        values = [certifiers.rademacher(*samples, k=k, **options).details["unclipped"] for k in ks]
        return SimpleNamespace(details={"unclipped": min(values)})

    return faulty


def _wider_within_k(right: Any) -> Any:
    """Return extremes of signed sums that are doubled if the growing errors are limited."""

    def faulty(tree: Any, grown: Any, signs: Any, k: Any = None) -> Any:
        high, low = right(tree, grown, signs, k=k)
        return (high, low) if k is None else (2 * high + 1, 2 * low - 1)

    return faulty


def _exact_for_another_p(right: Any) -> Any:
    """Return an experiment whose exact probability is for a larger share of the majority class."""

    def faulty(n: int, k: int, p: float, **options: Any) -> Any:
        found, exact = right(n, k, p, **options), right(n, k, p + 0.05, **options).exact
        return SimpleNamespace(low=found.low, high=found.high, frequency=found.frequency, exact=exact)

    return faulty


def _opt_with_more_errors(right: Any) -> Any:
    """Return a comparison in which OPT makes a thousandth more errors on the rows that choose the tree."""

    def faulty(*arguments: Any) -> Any:
        found, key = right(*arguments), "pruning errors, OPT"
        return {**found, key: [(opt + 0.001, *others) for opt, *others in found[key]]}

    return faulty


def _thresholds_too_high(right: Any) -> Any:
    """Return families of prunings whose thresholds are one and a half times as high as they should be."""

    def faulty(*arguments: Any, **options: Any) -> Any:
        family = right(*arguments, **options)
        return replace(family, alphas=family.alphas * 1.5)

    return faulty


def _errors_of_square_root_raised(right: Any) -> Any:
    """Return error rates to which three points are added at every other call, that of the square root penalty."""
    added = cycle((0.03, 0.0))
    return lambda *arguments: right(*arguments) + next(added)


FAULTS: dict[str, Fault] = {
    # An Analysis of Reduced Error Pruning
    "iterated_best_cuts_miss_the_best_pruning": Fault(
        "reduced error pruning in place of iterated cuts", "iterative_reduced_error", _constant(reduced_error)
    ),
    "label_rules_cut_different_nodes": Fault("a rule that ignores the labels", "reduced_error", _without_labels),
    "labels_of_both_samples_equal_growing_labels": Fault(
        "a rule that ignores the labels", "reduced_error", _without_labels
    ),
    "empty_subtrees_are_cut": Fault(
        "a rule that keeps empty subtrees", "reduced_error",
        lambda right: lambda *arguments, **options: right(*arguments, keep_empty=True, **options),
    ),
    "printed_listing_equals_reduced_error": Fault("a rule that ignores the labels", "reduced_error", _without_labels),
    "result_is_the_smallest_most_accurate_pruning": Fault(
        "iterated cuts", "reduced_error", _constant(iterative_reduced_error)
    ),
    "inner_splits_stay_above_kept_splits": Fault("labels of the growing rows", "reduced_error", _without_labels),
    "safe_nodes_are_the_leaves_of_a_pruning": Fault(
        "safe nodes without the first one", "analysis.safe_nodes", lambda right: lambda tree: right(tree)[1:]
    ),
    "one_leaf_needs_cut_safe_nodes_of_one_class": Fault(
        "safe nodes without the last one", "analysis.safe_nodes", lambda right: lambda tree: right(tree)[:-1]
    ),
    "slud_inequality": Fault(
        "the probability of more than h in place of at least h", "_tail",
        lambda right: lambda m, q, h: right(m, q, h + 1),
    ),
    "majority_probability_bound": Fault(
        "ties that count as a majority", "_tail", lambda right: lambda m, q, h: right(m, q, h - 1)
    ),
    "one_leaf_bound_for_any_occupancy": Fault(
        "the printed bound in place of the corrected one", "analysis.valid_bound_general",
        lambda _: analysis.printed_bound_general,
    ),
    "one_leaf_bound_falls_exponentially": Fault(
        "a bound that falls with the square root of k", "analysis.printed_bound_general",
        lambda right: lambda n, k, p: right(n, k, p) ** (1 / np.sqrt(k)),
    ),
    "expected_leaves_of_fitted_noise": Fault(
        "t in place of t - 1", "analysis.expected_noise_leaves", lambda right: lambda t, p: right(t + 1, p)
    ),
    "safe_nodes_grow_with_the_leaves": Fault(
        "as many safe nodes as leaves", "analysis.noise_growth_experiment",
        _with_attribute("safe_nodes", lambda found: found.grown_leaves),
    ),
    "pruned_trees_of_noise_grow_linearly": Fault(
        "the square root of the leaves", "analysis.noise_growth_experiment",
        _with_attribute("pruned_leaves", lambda found: np.sqrt(found.pruned_leaves)),
    ),
    "expected_safe_nodes_with_few_rows": Fault(
        "fewer than cn/k rows in place of at most", "analysis.expected_safe_nodes_at_most",
        lambda right: lambda n, k, c: right(n, k, 0.99 * c),
    ),
    "expected_empty_bins": Fault(
        "the mean for one ball more", "analysis.expected_empty", lambda right: lambda n, k: right(n + 1, k)
    ),
    "one_leaf_bound_for_uniform_occupancy": Fault(
        "ten times the bound", "analysis.printed_bound_uniform", _scaled(10)
    ),
    "one_row_in_all_safe_nodes_but_one_is_best_for_the_bound": Fault(
        "the probability of more than one leaf", "analysis.one_leaf_probability",
        lambda right: lambda occupancy, p: 1 - right(occupancy, p),
    ),
    "best_c_of_the_uniform_bound": Fault(
        "c that is 0.6 too large", "analysis.best_c", lambda right: lambda *arguments: right(*arguments) + 0.6
    ),
    "deviations_by_mcdiarmid": Fault("the twelfth power of the bound", "analysis.deviation_at_most", _power(12)),
    "earlier_model_of_pruning_probability": Fault(
        "the probability of the opposite", "analysis.earlier_pruning_probability",
        lambda right: lambda *arguments, **options: 1 - right(*arguments, **options),
    ),
    "relabelled_leaves_replace_safe_nodes": Fault(
        "the exact probability at p = 0.75 in place of 0.7", "analysis.rep_noise_experiment", _exact_for_another_p
    ),
    # Selective Rademacher Penalization
    "expected_deviation_is_at_most_twice_the_rademacher_average": Fault(
        "half the average in place of twice", "PENALTY_FACTOR", _constant(0.5)
    ),
    "printed_bound_holds_with_its_confidence": Fault(
        "a twentieth of what the bound adds to the sample error", "certifiers.rademacher", _share_of_added(0.05)
    ),
    "penalty_from_two_minimisations": Fault(
        "the maximum in place of both extremes", "certifiers.signed_extremes",
        lambda right: lambda *arguments: (right(*arguments)[0], -right(*arguments)[0]),
    ),
    "reduced_error_minimises_the_sample_error": Fault("the uncut tree", "reduced_error", _constant(_uncut)),
    "penalty_within_k_is_not_larger": Fault(
        "twice the penalty within k", "certifiers.signed_extremes", _wider_within_k
    ),
    "choosing_k_by_its_bound_costs_more": Fault(
        "a choice of k without its price", "certifiers.rademacher_over_k", _choice_without_price
    ),
    "k_optimal_pruning_exists": Fault(
        "a rule that ignores k", "k_reduced_error",
        lambda right: lambda tree, grown, held, k: reduced_error(tree, grown, held),  # noqa: ARG005
    ),
    "optimal_prunings_split_into_optimal_parts": Fault(
        "parts for u + v = k + 1", "BUDGET_OF_BOTH_PARTS", _constant(1)
    ),
    "other_labellings_can_be_optimised": Fault(
        "growing labels only", "k_reduced_error",
        lambda right: lambda tree, grown, held, k, labelled: right(tree, grown, held, k=k),  # noqa: ARG005
    ),
    "code_length_of_the_single_leaf": Fault(
        "all sets of cut nodes", "_n_codewords_of_the_single_leaf",
        lambda right: lambda tree: 2 ** len(tree.internal),  # noqa: ARG005
    ),
    "number_of_prunings_is_exponential": Fault(
        "the number of leaves", "certifiers.count_prunings", _constant(lambda tree: tree.n_leaves)
    ),
    "quarter_bit_code_and_counting": Fault(
        "a count without the uncut tree", "certifiers.count_prunings", lambda right: lambda tree: right(tree) - 1
    ),
    "exact_occam_bound_is_below_chernoff": Fault(
        "a tenth of delta for the exact bound", "certifiers.binomial_upper",
        lambda right: lambda errors, n, log_delta: right(errors, n, log_delta - np.log(10)),
    ),
    "k_rep_trees_lie_between_rep_and_unpruned": Fault("one leaf", "k_reduced_error", _constant(_one_leaf)),
    "bounds_compare_as_in_figure_1": Fault(
        "Occam and Rademacher bounds exchanged", "_bounds_on_set", _exchanged("REP", "Occam")
    ),
    "k_rep_bound_is_above_rep_on_led": Fault(
        "REP and k-REP exchanged", "_bounds_on_set", _exchanged("REP", "k-REP")
    ),
    "smaller_factors_give_lower_bounds": Fault(
        "larger limits for smaller factors", "k_limit",
        lambda right: lambda grown, factor: right(grown, factor=3 - factor),
    ),
    "every_bound_overestimates_the_test_error": Fault(
        "the test error in place of the bound", "_bounds_on_set", _with_entry(REP=lambda found: found["REP error"])
    ),
    # Trading Accuracy for Simplicity
    "few_leaves_decide_king_rook_king": Fault(
        "sizes that are one leaf too large", "errors_by_size",
        lambda right: lambda sequence: {n + 1: errors for n, errors in right(sequence).items()} | {4: 0},
    ),
    "pruning_never_lowers_growing_errors": Fault(
        "labels of other rows", "Case.errors",
        _constant(property(lambda case: case.grown.errors_if_leaf(case.held.majority))),
    ),
    "cuts_add_errors_independently": Fault(
        "one error more for each cut", "best_of_size",
        _with_attribute("errors", lambda found: found.errors + np.arange(len(found))),
    ),
    "smallest_tree_within_an_accuracy": Fault(
        "one error more than allowed", "smallest_within",
        lambda right: lambda tree, counts, accuracy: right(tree, counts, max(0, accuracy - 1 / counts.total[0])),
    ),
    "adjusted_sequences_are_monotone": Fault(
        "the sequence without adjustments", "best_of_size",
        lambda right: lambda tree, counts, monotone: right(tree, counts),  # noqa: ARG005
    ),
    "id3_takes_the_largest_gain": Fault(
        "gain ratio in place of gain", "grow_by_id3",
        _constant(lambda table: grow(table, criterion="gain_ratio", splits="multiway")),
    ),
    "number_of_prunings_of_a_complete_tree": Fault(
        "a count without the uncut tree", "count_prunings", lambda right: lambda tree: right(tree) - 1
    ),
    "opt_finds_the_best_tree_of_every_size": Fault("GREEDY", "best_of_size", _constant(greedy)),
    "worked_example_of_opt": Fault(
        "a tree of two leaves", "best_cuts", lambda right: lambda *arguments: {**right(*arguments), 2: (0, "")}
    ),
    "opt_is_quadratic": Fault(
        "every pair of branches twice, and each with itself", "combinations",
        _constant(lambda sizes, _: product(sizes, sizes)),
    ),
    "worked_example_of_greedy": Fault("OPT", "greedy", _constant(best_of_size)),
    "worked_example_of_mcc": Fault(
        "GREEDY", "weakest_links", _constant(lambda tree, counts, every_cut: greedy(tree, counts))  # noqa: ARG005
    ),
    "mcc0_is_worst_on_random_domains": Fault(
        "MCC0 with the accuracy of OPT", "compare_methods", _accuracy_of("MCC0", "OPT")
    ),
    "greedy_equals_opt_on_most_domains": Fault(
        "every tree of GREEDY optimal", "compare_methods",
        lambda right: lambda *arguments: {**right(*arguments), "every GREEDY tree optimal": True},
    ),
    "greedy_loses_on_unequal_domains": Fault(
        "GREEDY with the accuracy of OPT", "compare_methods", _accuracy_of("GREEDY", "OPT")
    ),
    "real_tables_need_fewer_leaves": Fault("the uncut tree", "smallest_within", _constant(_uncut)),
    "opt_is_optimal_for_additive_costs": Fault(
        "OPT for errors in place of m-estimates", "best_of_size",
        lambda right: lambda tree, counts, cost: right(tree, counts),  # noqa: ARG005
    ),
    "opt_and_mcc_under_noise": Fault(
        "OPT with a thousandth more errors", "choose_under_noise", _opt_with_more_errors
    ),
    # Lecture notes
    "error_ignores_a_perfect_half_split": Fault(
        "gini in place of the error", "analysis.split_drop",
        lambda right: lambda name, *arguments: right("gini", *arguments),  # noqa: ARG005
    ),
    "cost_functions_are_symmetric_and_bent": Fault("half the cost", "analysis.criterion_value", _scaled(0.5)),
    "order_of_the_cost_functions": Fault(
        "gini and the square root exchanged", "analysis.criterion_value",
        lambda right: lambda name, q: right({"gini": "sqrt", "sqrt": "gini"}.get(name, name), q),
    ),
    "drop_of_a_split": Fault(
        "tau and 1 - tau exchanged", "analysis.split_drop",
        lambda right: lambda name, tau, r, p: right(name, 1 - tau, r, p),
    ),
    "top_down_algorithm": Fault(
        "the criterion sqrt in place of gini", "grow",
        lambda right: lambda X, y, **options: right(X, y, **{**options, "criterion": "sqrt"}),
    ),
    "splits_needed_with_gini": Fault(
        "gamma in place of its square", "analysis.weak_learning_steps",
        lambda right: lambda name, gamma, eps, log: gamma * right(name, gamma, eps, log=log),
    ),
    "bottom_up_pass": Fault(
        "half the penalty", "bottom_up_srm",
        lambda right: lambda *arguments, scale, **options: right(*arguments, scale=scale / 2, **options),
    ),
    "vc_form_of_the_penalty": Fault("d (m + 1) labellings", "LABELLINGS_PER_ROW", _constant(1)),
    "drop_of_gini_under_weak_learning": Fault("three times the bound", "analysis.drop_lower_bound", _scaled(3)),
    "some_leaf_has_weight_and_error": Fault("1 in place of 3", "SHARE_OF_LEMMA_12_1", _constant(1)),
    "splits_needed_under_weak_learning": Fault(
        "the square root of the advantage", "analysis.weak_learning_steps",
        lambda right: lambda name, gamma, eps, log: right(name, gamma**0.5, eps, log=log),
    ),
    "worked_example_of_reduced_error": Fault("the uncut tree", "reduced_error", _constant(_uncut)),
    "recursion_finds_the_smallest_pruning": Fault(
        "sizes that are one leaf too large", "global_srm_table",
        lambda right: lambda *arguments, **options: right(*arguments, **options)._replace(
            size=right(*arguments, **options).size + bool(options)
        ),
    ),
    "global_srm_minimises_the_penalised_error": Fault(
        "no penalty", "global_srm", lambda right: lambda *arguments, **options: right(*arguments, c=0.0, **options)
    ),
    "penalty_makes_kept_subtrees_better": Fault("c = 1.9", "N_DEVIATIONS", _constant(1.9)),
    "number_of_conjunctions": Fault(
        "tests that may be used twice", "combinations", _constant(combinations_with_replacement)
    ),
    "number_of_trees": Fault("c = 1", "TREES_PER_TEST", _constant(1)),
    "deviation_of_the_sample_error": Fault(
        "where x^2 m >= ln 2 / 10", "LEAST_EXPONENT_OF_LEMMA_12_2", _constant(np.log(2) / 10)
    ),
    "bottom_up_result_lies_in_the_best_pruning": Fault(
        "no penalty", "bottom_up_srm", lambda right: lambda *arguments: right(*arguments, scale=0.0)
    ),
    "lower_tail_of_the_sample_share": Fault("exp(-pm / 2)", "RATE_OF_LEMMA_12_4", _constant(2)),
    "excess_over_the_best_pruning": Fault("one leaf", "bottom_up_srm", _constant(_one_leaf)),
    # Subadditive penalties
    "family_minimises_cost_plus_penalty": Fault(
        "thresholds that are half as high again", "cost_complexity", _thresholds_too_high
    ),
    "families_are_unique_and_nested": Fault("a penalty that is not concave", "CONCAVE", _constant((bumpy_penalty,))),
    "subadditive_family_is_a_subset": Fault("a penalty that is not concave", "CONCAVE", _constant((bumpy_penalty,))),
    "listing_finds_the_best_pruning_of_every_size": Fault("GREEDY", "best_of_size", _constant(greedy)),
    "printed_listing_finds_the_family": Fault(
        "the printed listing in place of ours", "cost_complexity", _constant(printed_cost_complexity)
    ),
    "geometric_mean_lies_in_the_interval": Fault(
        "the upper end of the interval", "_geometric_mean", _constant(lambda low, high: high)  # noqa: ARG005
    ),
    "cross_validated_errors_of_the_family": Fault(
        "thresholds that are half as high again", "cost_complexity", _thresholds_too_high
    ),
    "characteristics_of_the_sets": Fault(
        "led24 without the attributes of noise", "RANDOM_SETS",
        lambda right: {**right, "led24": lambda n: SimpleNamespace(
            n_rows=n, columns=right["led24"](n).columns[:7], required_target=right["led24"](n).required_target
        )},
    ),
    "one_se_takes_the_smallest_tree_within": Fault(
        "the largest tree within", "choose", _constant(lambda error, se, k: (1, 0))  # noqa: ARG005
    ),
    "families_and_choices_of_table_3": Fault(
        "both penalties exchanged", "_selections",
        lambda right: lambda name, penalty: right(name, {"sqrt": "leaves", "leaves": "sqrt"}[penalty]),
    ),
    "no_difference_in_test_error": Fault(
        "three points more for the square root", "error_rate", _errors_of_square_root_raised
    ),
    "conclusion_for_other_penalties": Fault(
        "the square root in place of the logarithm", "CONCAVE", _constant(("sqrt", "sqrt"))
    ),
}  # fmt: skip
