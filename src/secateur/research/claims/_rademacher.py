"""Kaariainen, Malinen and Elomaa, Selective Rademacher Penalization and REP of Decision Trees (2004)."""

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import numpy as np

from ... import certifiers, datasets
from ...core import Counts, Tree
from ...data.table import Table
from ...pruners import k_limit, k_reduced_error, reduced_error
from ...routing import count
from .._bounds import REPEATS
from .._samples import error_rate, grow_and_count
from ._claim import Evidence, NotCheckable, claim, claim_by_search, claim_on_small_trees, counterexample_unless
from ._small import N_TREES, RANDOM_TREES_ENUMERATED, Case, cost_of, failing_cases, perfect_tree, prunings

VERY_SMALL_TREES = {"n_trees": 60, "max_splits": 3}
STUMP = Tree.from_parents([-1, 0, 0])
PENALTY_FACTOR = 2.0  # of Theorem 1
BUDGET_OF_BOTH_PARTS = 0  # of Theorem 5: u + v less k
SETS: dict[str, Callable[[], Table]] = {
    "kropt": datasets.krk_depth,
    "led24": lambda: datasets.led24(60_000),
    "tic-tac-toe": datasets.tic_tac_toe,
    "waveform": lambda: datasets.waveform(3_000),
}


@claim(
    place="Theorem 1",
    library="certifiers.rademacher",
    says="E sup |error - sample error| <= 2 E R_n.",
)
def expected_deviation_is_at_most_twice_the_rademacher_average() -> Evidence:
    probability = np.array([[0.4, 0.1], [0.2, 0.3]])  # of each leaf and class
    hypotheses = np.array([(0, 1), (0, 0), (1, 1)])  # the labels of both leaves
    true_errors = [math.fsum(probability[leaf, 1 - labels[leaf]] for leaf in (0, 1)) for labels in hypotheses]
    n = 3
    signs = np.array(list(product((-1, 1), repeat=n)))
    gap = penalty = 0.0
    for rows in product(product((0, 1), (0, 1)), repeat=n):
        sample_probability = math.prod(probability[row] for row in rows)
        leaves, classes = np.transpose(rows)
        losses = (hypotheses[:, leaves] != classes).astype(float)
        gap += sample_probability * abs(true_errors - losses.mean(axis=1)).max()
        penalty += sample_probability * abs(losses @ signs.T / n).max(axis=0).mean()
    limit = PENALTY_FACTOR * penalty
    text = f"a stump, every sample of 3 rows and every sign: {gap:.4f} <= {limit:.4f}"
    return Evidence(text, counterexample_unless(gap <= limit, text))


@claim(
    place="Lemma 3, Inequalities 1 to 3",
    library="certifiers.rademacher(form='printed')",
    says="error <= sample error + 2 R + 5 sqrt(ln(2/delta) / 2n) with probability 1 - delta.",
)
def printed_bound_holds_with_its_confidence() -> Evidence:
    random = np.random.default_rng(1)
    grown = Counts.from_leaves(STUMP, [[60, 40], [30, 70]])
    is_below = []  # for each sample, whether each form of the bound is below the true error
    for _ in range(300):
        held = Counts.from_leaves(STUMP, random.multinomial(80, (0.3, 0.2, 0.15, 0.35)).reshape(2, 2), sample="prune")
        pruning = reduced_error(STUMP, grown, held)
        truth = 0.35 if pruning.n_leaves == 2 else 0.45  # the single leaf says class 1
        bounds = [
            certifiers.rademacher(STUMP, grown, held, form=form, delta=0.1, pruning=pruning, rng=random)
            for form in ("printed", "centred")
        ]
        is_below.append([bound.details["unclipped"] < truth for bound in bounds])
    n_failures = np.sum(is_below, axis=0)
    text = f"300 samples at delta = 0.1: failed {n_failures[0]} times"
    return Evidence(
        f"{text}; centred, with constant 3 and ln(1/delta), {n_failures[1]}",
        counterexample_unless(max(n_failures) <= 45, str(n_failures)),  # 30 are expected at most
    )


@claim_on_small_trees(
    seed=2,
    place="section 2",
    library="certifiers.signed_extremes",
    says=(
        "R follows from two minimisations of the error on relabelled rows, with complement classes if there "
        "are more than two."
    ),
    checked="trees of three classes, all prunings listed",
    n_classes=3,
    **VERY_SMALL_TREES,
)
def penalty_from_two_minimisations(case: Case) -> object:
    signs = certifiers.draw_signs(case.held, np.random.default_rng(2))
    signs_of_other_classes = signs.sum(axis=1) - signs[np.arange(len(signs)), case.grown.majority]
    sums = [cost_of(leaves, signs_of_other_classes) for leaves in case.prunings]
    return certifiers.signed_extremes(case.tree, case.grown, signs) == (max(sums), min(sums))


@claim_on_small_trees(
    seed=3,
    place="section 3",
    library="pruners.reduced_error",
    says="Reduced error pruning minimises the sample error over all prunings.",
    checked=RANDOM_TREES_ENUMERATED,
)
def reduced_error_minimises_the_sample_error(case: Case) -> object:
    least = min(cost_of(leaves, case.held_errors) for leaves in case.prunings)
    return reduced_error(case.tree, case.grown, case.held).errors(case.held) == least


@claim_on_small_trees(
    seed=4,
    place="section 3.1",
    library="certifiers.rademacher(k=...)",
    says="The penalty of the prunings with at most k growing errors is not larger than that of all prunings.",
)
def penalty_within_k_is_not_larger(case: Case) -> object:
    signs = certifiers.draw_signs(case.held, np.random.default_rng(4))
    high, low = certifiers.signed_extremes(case.tree, case.grown, signs)
    high_within_k, low_within_k = certifiers.signed_extremes(case.tree, case.grown, signs, k=k_limit(case.grown))
    return high - low >= high_within_k - low_within_k


@claim(
    place="section 3.1",
    library="certifiers.rademacher_over_k; secateur reproduce rademacher",
    says="Choosing k by its bound costs more than one fortunate choice.",
)
def choosing_k_by_its_bound_costs_more() -> Evidence:
    samples = grow_and_count(*datasets.split(datasets.tic_tac_toe(), 2 / 3, 1 / 3), criterion="gain_ratio")
    ks = sorted({k_limit(samples[1], factor=c) for c in (1, 1.1, 1.5, 2, 3)})
    chosen = certifiers.rademacher_over_k(*samples, ks=ks, rng=0, repeats=REPEATS).details["unclipped"]
    single = min(certifiers.rademacher(*samples, k=k, rng=0, repeats=REPEATS).details["unclipped"] for k in ks)
    text = f"tic-tac-toe: {chosen:.3f} chosen among {len(ks)}, {single:.3f} the best alone"
    return Evidence(text, counterexample_unless(chosen > single))


def _within(case: Case, k: int) -> list[tuple[float, int]]:
    """Return the pruning errors and the number of leaves of each pruning with at most k growing errors."""
    within_k = (leaves for leaves in case.prunings if cost_of(leaves, case.errors) <= k)
    return [(cost_of(leaves, case.held_errors), len(leaves)) for leaves in within_k]


def _budgets(case: Case) -> range:
    """Return all k from the growing errors of the uncut tree to those of the root as a leaf."""
    return range(k_limit(case.grown, factor=1), int(case.errors[0]) + 1)


@claim(
    place="Definition 4",
    library="pruners.k_reduced_error",
    says="A k-optimal pruning exists whenever some pruning makes at most k growing errors.",
)
def k_optimal_pruning_exists() -> Evidence:
    def holds_as_corrected(case: Case) -> bool:
        for k in _budgets(case):
            pruning = k_reduced_error(case.tree, case.grown, case.held, k=k)
            if (pruning.errors(case.held), pruning.n_leaves) != min(_within(case, k)):
                return False
        return True

    # As printed, the size is minimised over all prunings that are as accurate, also those with more than k errors.
    stump = Case.of(STUMP, [[1, 0], [0, 1]], [[0, 0], [0, 0]])
    holds_as_printed = min(_within(stump, 2)) in _within(stump, 0)
    text = "two pure leaves, no pruning example, k = 0: the smaller tree lies outside the class"
    return Evidence(
        f"{N_TREES} {RANDOM_TREES_ENUMERATED}",
        counterexample_unless(holds_as_printed, text),
        "the size is minimised within the class",
        failing_cases(holds_as_corrected, 5),
    )


@claim_on_small_trees(
    seed=6,
    place="Theorem 5, Algorithm 6",
    library="pruners.k_reduced_error_path",
    says="An optimal pruning that keeps the root consists of optimal parts with u + v = k.",
    checked="binary trees, the definition corrected as above",
    max_branches=2,
    max_splits=4,
)
def optimal_prunings_split_into_optimal_parts(case: Case) -> object:
    def errors_and_size(leaves: frozenset[int]) -> tuple[float, int]:
        return cost_of(leaves, case.held_errors), len(leaves)

    def is_best(part: frozenset[int], options: list[frozenset[int]], budget: int) -> bool:
        """Return whether no option within the budget is better than the part."""
        within_budget = (leaves for leaves in options if cost_of(leaves, case.errors) <= budget)
        return errors_and_size(part) == min(map(errors_and_size, within_budget))

    left_options, right_options = (prunings(case.tree, child) for child in case.tree.children(0))
    for k in _budgets(case):
        best = min(_within(case, k))
        for left, right in product(left_options, right_options):
            left_errors, right_errors = (int(cost_of(part, case.errors)) for part in (left, right))
            divisions = range(left_errors, k - right_errors + 1)  # every u and v = k - u that cover both parts
            if errors_and_size(left | right) == best and not all(
                is_best(left, left_options, u) and is_best(right, right_options, k - u + BUDGET_OF_BOTH_PARTS)
                for u in divisions
            ):
                return False
    return True


@claim_on_small_trees(
    seed=8,
    place="section 4",
    library="pruners.k_reduced_error(labelled=True), certifiers.rademacher(labels='prune', k=...)",
    says="An algorithm for the other ways to label leaves could be derived.",
    checked="trees, all prunings and labels listed",
    **VERY_SMALL_TREES,
)
def other_labellings_can_be_optimised(case: Case) -> object:
    def errors(counts: Counts, leaves: list[int], labels: tuple[int, ...]) -> int:
        return int((counts.total[leaves] - counts.by_class[leaves, labels]).sum())

    k = k_limit(case.grown, factor=1) + 1
    best = min(
        (errors(case.held, leaves, labels), len(leaves))
        for leaves in map(sorted, case.prunings)
        for labels in product(range(2), repeat=len(leaves))
        if errors(case.grown, leaves, labels) <= k
    )
    pruning = k_reduced_error(case.tree, case.grown, case.held, k=k, labelled=True)
    return (pruning.errors(case.held), pruning.n_leaves) == best


@claim(
    place="section 6.1",
    library="certifiers.count_prunings",
    says="With one bit for each inner node, the single leaf has 2^((d - 1)/2 - 1) codewords.",
)
def code_length_of_the_single_leaf() -> Evidence:
    trees = (perfect_tree(2), Tree.from_parents([-1, 0, 1, 1, 0]))
    n_codewords = [_n_codewords_of_the_single_leaf(tree) for tree in trees]
    counterexamples = [
        f"{tree}: {n}" for tree, n in zip(trees, n_codewords, strict=True) if n != 2 ** ((tree.n_nodes - 1) // 2 - 1)
    ]
    return Evidence("two trees, all subsets of the inner nodes", counterexamples)


def _n_codewords_of_the_single_leaf(tree: Tree) -> int:
    """Return how many sets of cut nodes contain the root, and so stand for the single leaf."""
    codewords = product(*[(None, v) for v in tree.internal.tolist()])
    return sum(0 in codeword for codeword in codewords)


@claim(
    place="section 6.1",
    library="certifiers.count_prunings",
    says="A binary tree of d nodes can have 2^(d/4) prunings or more.",
)
def number_of_prunings_is_exponential() -> Evidence:
    counts = {depth: certifiers.count_prunings(perfect_tree(depth)) for depth in range(1, 6)}
    counterexamples = []
    for depth, n_prunings in counts.items():
        n_nodes = 2 ** (depth + 1) - 1
        if n_prunings < 2 ** (n_nodes / 4):
            counterexamples.append(str(depth))
    return Evidence(f"perfect trees of depth 1 to 5: {list(counts.values())}", counterexamples)


@claim(
    place="section 6.1",
    library="certifiers.count_prunings, occam(prior='printed')",
    says="d/4 bits encode a pruning of a tree of d nodes. No efficient way to count the prunings is known.",
)
def quarter_bit_code_and_counting() -> Evidence:
    bits = math.log2(certifiers.count_prunings(perfect_tree(5)))
    return Evidence(
        f"{N_TREES} {RANDOM_TREES_ENUMERATED}",
        counterexample_unless(bits <= 15.75, f"perfect tree of depth 5: {bits:.2f} bits, d/4 = 15.75"),
        "N(v) = 1 + product of N(child), one pass",
        failing_cases(lambda case: certifiers.count_prunings(case.tree) == len(case.prunings), 9),
    )


@claim_by_search(
    place="section 6.1",
    library="certifiers.occam, binomial_upper, chernoff_upper",
    says="The exact Occam bound is below its Chernoff form.",
    checked="24 settings",
)
def exact_occam_bound_is_below_chernoff() -> Iterator[str]:
    for errors, n, log_prior in product((0, 10, 100, 400), (1_000, 2_000), (0.0, -3.0, -13.0)):
        log_delta = math.log(0.01) + log_prior
        if certifiers.binomial_upper(errors, n, log_delta) > certifiers.chernoff_upper(errors, n, log_delta):
            yield f"{errors} of {n}"


@cache
def _bounds_on_set(name: str) -> dict[str, float]:
    """Return the Rademacher bounds and the test errors of REP and k-REP, and the Occam bound, on one split of a set."""
    test, *growing_and_pruning = datasets.split(SETS[name](), 0.1, 0.6, 0.3)
    samples = grow_and_count(*growing_and_pruning, criterion="gain_ratio")
    fresh = count(samples[0], test, sample="test")
    k = k_limit(samples[1], factor=1.1)
    rep, k_rep = reduced_error(*samples), k_reduced_error(*samples, k=k)
    measured: dict[str, float] = {}
    for rule, pruning, limit in (("REP", rep, None), ("k-REP", k_rep, k)):
        bound = certifiers.rademacher(
            *samples, delta=0.01, k=limit, form="printed", rng=0, pruning=pruning, repeats=REPEATS
        )
        measured[rule] = bound.details["unclipped"]
        measured[f"{rule} error"] = error_rate(pruning, fresh)
    measured["Occam"] = certifiers.occam(*samples, delta=0.01, pruning=rep, repeats=REPEATS).value
    return measured


@claim_on_small_trees(
    seed=10,
    place="section 6.2, Table 1",
    library="pruners.k_reduced_error; secateur reproduce rademacher --figure 'table 1'",
    says="Trees of k-REP are between those of REP and the unpruned trees in size.",
    checked="random trees; 150 splits of 15 sets in the experiment",
)
def k_rep_trees_lie_between_rep_and_unpruned(case: Case) -> object:
    rep, k_rep = (rule(case.tree, case.grown, case.held).n_leaves for rule in (reduced_error, k_reduced_error))
    return rep <= k_rep <= case.tree.n_leaves


@claim(
    place="section 6.2, Figure 1",
    library="secateur reproduce rademacher --figure 1",
    says=(
        "Rademacher bounds are lower on large sets, Occam bounds on small ones. Those of k-REP are mostly "
        "below those of REP."
    ),
)
def bounds_compare_as_in_figure_1() -> Evidence:
    bounds_of_set = {name: _bounds_on_set(name) for name in ("led24", "tic-tac-toe", "kropt")}
    large, small, middle = bounds_of_set.values()
    text = "; ".join(
        f"{name} {bounds['REP']:.3f}, k-REP {bounds['k-REP']:.3f}, Occam {bounds['Occam']:.3f}"
        for name, bounds in bounds_of_set.items()
    )
    holds = large["REP"] < large["Occam"] and small["Occam"] < small["REP"] and middle["k-REP"] < middle["REP"]
    return Evidence(text, counterexample_unless(holds))


@claim(
    place="section 6.2",
    library="secateur reproduce rademacher --only led24",
    says="On the LED data, the bound of k-REP is above that of REP.",
)
def k_rep_bound_is_above_rep_on_led() -> Evidence:
    bounds = _bounds_on_set("led24")
    text = f"60,000 rows: {bounds['k-REP']:.3f} and {bounds['REP']:.3f}"
    return Evidence(text, counterexample_unless(bounds["k-REP"] > bounds["REP"]))


@claim(
    place="section 6.2",
    library="secateur reproduce rademacher (table factor)",
    says="Smaller factors c give lower bounds. At c = 1 there is no room to prune.",
)
def smaller_factors_give_lower_bounds() -> Evidence:
    samples = grow_and_count(*datasets.split(datasets.krk_depth(), 2 / 3, 1 / 3), criterion="gain_ratio")
    bounds: dict[float, float] = {}
    for c in (1, 1.1, 2):
        k = k_limit(samples[1], factor=c)
        bound = certifiers.rademacher(*samples, k=k, form="printed", delta=0.01, rng=0, repeats=REPEATS)
        bounds[c] = bound.details["unclipped"]
    n_nodes, n_kept = samples[0].n_nodes, k_reduced_error(*samples, factor=1).n_nodes
    text = ", ".join(f"c = {c}: {bound:.3f}" for c, bound in bounds.items())
    return Evidence(
        f"kropt, {text}",
        counterexample_unless(n_kept >= n_nodes, f"kropt at c = 1: {n_kept} of {n_nodes} nodes are left"),
        "cuts that cost no growing error remain",
        counterexample_unless(list(bounds.values()) == sorted(bounds.values()), str(bounds)),
    )


@claim(
    place="section 6.2",
    library="secateur reproduce rademacher --figure 1",
    says="Every bound is above the test error.",
)
def every_bound_overestimates_the_test_error() -> Evidence:
    bound, error = (_bounds_on_set("waveform")[key] for key in ("REP", "REP error"))
    return Evidence(
        f"waveform, REP {error:.3f}, bound {bound:.3f}; 1,350 cases in the experiment",
        counterexample_unless(bound > error),
    )


@claim(
    place="Lemma 2",
    library="analysis.deviation_at_most",
    says="McDiarmid's inequality for functions with bounded differences.",
)
def mcdiarmid_inequality() -> NotCheckable:
    return NotCheckable("cited, not proved; its use on empty bins is checked under the first document, Theorem 8")


@claim(
    place="section 4",
    library="pruners.k_reduced_error",
    says="The time is cubic in the growing rows and exponential in the number of branches of a split.",
)
def time_is_cubic_in_the_rows() -> NotCheckable:
    return NotCheckable("upper limits on time; ours takes nodes times budget, whatever the number of outcomes")


@claim(
    place="section 7",
    library="secateur reproduce rademacher (tables choice, proportion)",
    says="Better ways to tune c and to divide the rows are future work.",
)
def tuning_and_dividing_are_future_work() -> NotCheckable:
    return NotCheckable("a plan; both tables are in the experiment")
