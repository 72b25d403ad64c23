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
from .._samples import error_rate, grow_and_count
from ._claim import Evidence, NotCheckable, claim, claim_by_search, claim_on_small_trees, counterexample_unless
from ._small import N_TREES, RANDOM_TREES_ENUMERATED, Case, cost_of, failing_cases, perfect_tree, prunings

VERY_SMALL_TREES = {"n_trees": 60, "max_splits": 3}
STUMP = Tree.from_parents([-1, 0, 0])
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
    chances = np.array([[0.4, 0.1], [0.2, 0.3]])  # of (leaf, class)
    rules = np.array([(0, 1), (0, 0), (1, 1)])  # three hypotheses: the leaves' labels, and one label
    truth = [math.fsum(chances[leaf, 1 - rule[leaf]] for leaf in (0, 1)) for rule in rules]
    n = 3
    signs = np.array(list(product((-1, 1), repeat=n)))
    gap = penalty = 0.0
    for rows in product(product((0, 1), (0, 1)), repeat=n):
        chance = math.prod(chances[row] for row in rows)
        leaves, classes = np.transpose(rows)
        losses = (rules[:, leaves] != classes).astype(float)
        gap += chance * abs(truth - losses.mean(axis=1)).max()
        penalty += chance * abs(losses @ signs.T / n).max(axis=0).mean()
    text = f"a stump, every sample of 3 rows and every sign: {gap:.4f} <= {2 * penalty:.4f}"
    return Evidence(text, counterexample_unless(gap <= 2 * penalty))


@claim(
    place="Lemma 3, Inequalities 1 to 3",
    library="certifiers.rademacher(form='printed')",
    says="error <= sample error + 2 R + 5 sqrt(ln(2/delta) / 2n) with probability 1 - delta.",
)
def printed_bound_holds_with_its_confidence() -> Evidence:
    random = np.random.default_rng(1)
    grown = Counts.from_leaves(STUMP, [[60, 40], [30, 70]])
    worst = []
    for _ in range(300):
        held = Counts.from_leaves(STUMP, random.multinomial(80, (0.3, 0.2, 0.15, 0.35)).reshape(2, 2), sample="prune")
        pruning = reduced_error(STUMP, grown, held)
        truth = 0.35 if pruning.n_leaves == 2 else 0.45  # the single leaf says class 1
        bounds = [
            certifiers.rademacher(STUMP, grown, held, form=form, delta=0.1, pruning=pruning, rng=random)
            for form in ("printed", "centred")
        ]
        worst.append([bound.details["unclipped"] < truth for bound in bounds])
    failed = np.sum(worst, axis=0)
    text = f"300 samples at delta = 0.1: failed {failed[0]} times"
    return Evidence(
        f"{text}; centred, with constant 3 and ln(1/delta), {failed[1]}",
        counterexample_unless(max(failed) <= 45, str(failed)),
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
def penalty_from_two_minimisations(one: Case) -> object:
    signs = certifiers.draw_signs(one.held, np.random.default_rng(2))
    signs_of_other_classes = signs.sum(axis=1) - signs[np.arange(len(signs)), one.grown.majority]
    sums = [cost_of(leaves, signs_of_other_classes) for leaves in one.prunings]
    return certifiers.signed_extremes(one.tree, one.grown, signs) == (max(sums), min(sums))


@claim_on_small_trees(
    seed=3,
    place="section 3",
    library="pruners.reduced_error",
    says="Reduced error pruning minimises the sample error over all prunings.",
    checked=RANDOM_TREES_ENUMERATED,
)
def reduced_error_minimises_the_sample_error(one: Case) -> object:
    least = min(cost_of(leaves, one.held_errors) for leaves in one.prunings)
    return reduced_error(one.tree, one.grown, one.held).errors(one.held) == least


@claim_on_small_trees(
    seed=4,
    place="section 3.1",
    library="certifiers.rademacher(k=...)",
    says="The penalty of the prunings with at most k growing errors is not larger than that of all prunings.",
)
def penalty_within_k_is_not_larger(one: Case) -> object:
    signs, ks = certifiers.draw_signs(one.held, np.random.default_rng(4)), (None, k_limit(one.grown))
    (high, low), (above, below) = (certifiers.signed_extremes(one.tree, one.grown, signs, k=k) for k in ks)
    return high - low >= above - below


@claim(
    place="section 3.1",
    library="certifiers.rademacher_over_k; secateur reproduce rademacher",
    says="Choosing k by its bound costs more than one fortunate choice.",
)
def choosing_k_by_its_bound_costs_more() -> Evidence:
    samples = grow_and_count(*datasets.split(datasets.tic_tac_toe(), 2 / 3, 1 / 3), criterion="gain_ratio")
    ks = sorted({k_limit(samples[1], factor=c) for c in (1, 1.1, 1.5, 2, 3)})
    chosen = certifiers.rademacher_over_k(*samples, ks=ks, rng=0).details["unclipped"]
    single = min(certifiers.rademacher(*samples, k=k, rng=0).details["unclipped"] for k in ks)
    text = f"tic-tac-toe: {chosen:.3f} chosen among {len(ks)}, {single:.3f} the best alone"
    return Evidence(text, counterexample_unless(chosen > single))


def _within(one: Case, k: int) -> list[tuple[float, int]]:
    """(pruning error, leaves) of the prunings within k growing errors."""
    inside = (leaves for leaves in one.prunings if cost_of(leaves, one.errors) <= k)
    return [(cost_of(leaves, one.held_errors), len(leaves)) for leaves in inside]


def _budgets(one: Case) -> range:
    return range(k_limit(one.grown, factor=1), int(one.errors[0]) + 1)


@claim(
    place="Definition 4",
    library="pruners.k_reduced_error",
    says="A k-optimal pruning exists whenever some pruning makes at most k growing errors.",
)
def k_optimal_pruning_exists() -> Evidence:
    def still(one: Case) -> bool:
        found = {k: k_reduced_error(one.tree, one.grown, one.held, k=k) for k in _budgets(one)}
        return all((of.errors(one.held), of.n_leaves) == min(_within(one, k)) for k, of in found.items())

    stump = Case.of(STUMP, [[1, 0], [0, 1]], [[0, 0], [0, 0]])
    is_met = min(_within(stump, 2)) in _within(stump, 0)  # as printed, the smallest of all that are as accurate
    shown = counterexample_unless(
        is_met, "two pure leaves, no pruning example, k = 0: the smaller tree lies outside the class"
    )
    return Evidence(
        f"{N_TREES} {RANDOM_TREES_ENUMERATED}", shown, "the size is minimised within the class", failing_cases(still, 5)
    )


PARTS = "binary trees, the definition corrected as above"


@claim_on_small_trees(
    seed=6,
    place="Theorem 5, Algorithm 6",
    library="pruners.k_reduced_error_path",
    says="An optimal pruning that keeps the root consists of optimal parts with u + v = k.",
    checked=PARTS,
    max_branches=2,
    max_splits=4,
)
def optimal_prunings_split_into_optimal_parts(one: Case) -> object:
    def key(leaves: frozenset[int]) -> tuple[float, int]:
        return cost_of(leaves, one.held_errors), len(leaves)

    def is_best(part: frozenset[int], side: list[frozenset[int]], budget: int) -> bool:
        return key(part) == min(key(x) for x in side if cost_of(x, one.errors) <= budget)

    sides = [prunings(one.tree, c) for c in one.tree.children(0)]
    for k in _budgets(one):
        best = min(_within(one, k))
        for left, right in product(*sides):
            spent = [int(cost_of(side, one.errors)) for side in (left, right)]
            divisions = range(spent[0], k - spent[1] + 1)  # every division that covers both parts
            if key(left | right) == best and not all(
                is_best(left, sides[0], u) and is_best(right, sides[1], k - u) for u in divisions
            ):
                return False
    return True


LABELLED = "pruners.k_reduced_error(labelled=True), certifiers.rademacher(labels='prune', k=...)"


@claim_on_small_trees(
    seed=8,
    place="section 4",
    library=LABELLED,
    says="An algorithm for the other ways to label leaves could be derived.",
    checked="trees, all prunings and labels listed",
    **VERY_SMALL_TREES,
)
def other_labellings_can_be_optimised(one: Case) -> object:
    def errors(counts: Counts, leaves: list[int], labels: tuple[int, ...]) -> int:
        return int((counts.total[leaves] - counts.by_class[leaves, labels]).sum())

    k = k_limit(one.grown, factor=1) + 1
    best = min(
        (errors(one.held, leaves, labels), len(leaves))
        for leaves in map(sorted, one.prunings)
        for labels in product(range(2), repeat=len(leaves))
        if errors(one.grown, leaves, labels) <= k
    )
    found = k_reduced_error(one.tree, one.grown, one.held, k=k, labelled=True)
    return (found.errors(one.held), found.n_leaves) == best


@claim(
    place="section 6.1",
    library="certifiers.count_prunings",
    says="With one bit for each inner node, the single leaf has 2^((d - 1)/2 - 1) codewords.",
)
def code_length_of_the_single_leaf() -> Evidence:
    broken = []
    for tree in (perfect_tree(2), Tree.from_parents([-1, 0, 1, 1, 0])):
        n_root = sum(0 in subset for subset in product(*[(None, v) for v in tree.internal.tolist()]))
        if n_root != 2 ** ((tree.n_nodes - 1) // 2 - 1):
            broken.append(f"{tree}: {n_root}")
    return Evidence("two trees, all subsets of the inner nodes", broken)


@claim(
    place="section 6.1",
    library="certifiers.count_prunings",
    says="A binary tree of d nodes can have 2^(d/4) prunings or more.",
)
def number_of_prunings_is_exponential() -> Evidence:
    counts = {depth: certifiers.count_prunings(perfect_tree(depth)) for depth in range(1, 6)}
    broken = [str(d) for d, n in counts.items() if n < 2 ** ((2 ** (d + 1) - 1) / 4)]
    return Evidence(f"perfect trees of depth 1 to 5: {list(counts.values())}", broken)


@claim(
    place="section 6.1",
    library="certifiers.count_prunings, occam(prior='printed')",
    says="d/4 bits encode a pruning of a tree of d nodes. No efficient way to count the prunings is known.",
)
def quarter_bit_code_and_counting() -> Evidence:
    bits = math.log2(certifiers.count_prunings(perfect_tree(5)))
    shown = counterexample_unless(bits <= 15.75, f"perfect tree of depth 5: {bits:.2f} bits, d/4 = 15.75")
    still = failing_cases(lambda one: certifiers.count_prunings(one.tree) == len(one.prunings), 9)
    return Evidence(f"{N_TREES} {RANDOM_TREES_ENUMERATED}", shown, "N(v) = 1 + product of N(child), one pass", still)


@claim_by_search(
    place="section 6.1",
    library="certifiers.occam, binomial_upper, chernoff_upper",
    says="The exact Occam bound is below its Chernoff form.",
    checked="24 settings",
)
def exact_occam_bound_is_below_chernoff() -> Iterator[str]:
    for e, n, log_pi in product((0, 10, 100, 400), (1_000, 2_000), (0.0, -3.0, -13.0)):
        log_delta = math.log(0.01) + log_pi
        if certifiers.binomial_upper(e, n, log_delta) > certifiers.chernoff_upper(e, n, log_delta):
            yield f"{e} of {n}"


@cache
def _on_a_set(name: str) -> dict[str, float]:
    """Bounds on one split of a generated set, and test errors."""
    test, growing, pruning = datasets.split(SETS[name](), 0.1, 0.6, 0.3)
    samples = grow_and_count(growing, pruning, criterion="gain_ratio")
    fresh = count(samples[0], test, sample="test")
    k = k_limit(samples[1], factor=1.1)
    found: dict[str, float] = {}
    for rule, pruned, within in (("REP", reduced_error(*samples), None), ("k-REP", k_reduced_error(*samples, k=k), k)):
        bound = certifiers.rademacher(*samples, delta=0.01, k=within, form="printed", rng=0, pruning=pruned)
        found |= {rule: bound.details["unclipped"], f"{rule} error": error_rate(pruned, fresh)}
    return {**found, "Occam": certifiers.occam(*samples, delta=0.01, pruning=reduced_error(*samples)).value}


@claim_on_small_trees(
    seed=10,
    place="section 6.2, Table 1",
    library="pruners.k_reduced_error; secateur reproduce rademacher --figure 'table 1'",
    says="Trees of k-REP are between those of REP and the unpruned trees in size.",
    checked="random trees; 150 splits of 15 sets in the experiment",
)
def k_rep_trees_lie_between_rep_and_unpruned(one: Case) -> object:
    rep, k_rep = (rule(one.tree, one.grown, one.held).n_leaves for rule in (reduced_error, k_reduced_error))
    return rep <= k_rep <= one.tree.n_leaves


@claim(
    place="section 6.2, Figure 1",
    library="secateur reproduce rademacher --figure 1",
    says=(
        "Rademacher bounds are lower on large sets, Occam bounds on small ones. Those of k-REP are mostly "
        "below those of REP."
    ),
)
def bounds_compare_as_in_figure_1() -> Evidence:
    found = {name: _on_a_set(name) for name in ("led24", "tic-tac-toe", "kropt")}
    large, small, middle = found.values()
    text = "; ".join(
        f"{name} {of['REP']:.3f}, k-REP {of['k-REP']:.3f}, Occam {of['Occam']:.3f}" for name, of in found.items()
    )
    is_so = large["REP"] < large["Occam"] and small["Occam"] < small["REP"] and middle["k-REP"] < middle["REP"]
    return Evidence(text, counterexample_unless(is_so))


@claim(
    place="section 6.2",
    library="secateur reproduce rademacher --only led24",
    says="On the LED data, the bound of k-REP is above that of REP.",
)
def k_rep_bound_is_above_rep_on_led() -> Evidence:
    found = _on_a_set("led24")
    return Evidence(
        f"60,000 rows: {found['k-REP']:.3f} and {found['REP']:.3f}",
        counterexample_unless(found["k-REP"] > found["REP"]),
    )


@claim(
    place="section 6.2",
    library="secateur reproduce rademacher (table factor)",
    says="Smaller factors c give lower bounds. At c = 1 there is no room to prune.",
)
def smaller_factors_give_lower_bounds() -> Evidence:
    samples = grow_and_count(*datasets.split(datasets.krk_depth(), 2 / 3, 1 / 3), criterion="gain_ratio")
    ks = {c: k_limit(samples[1], factor=c) for c in (1, 1.1, 2)}
    bounds = {c: certifiers.rademacher(*samples, k=k, form="printed", delta=0.01, rng=0) for c, k in ks.items()}
    found = {c: bound.details["unclipped"] for c, bound in bounds.items()}
    nodes, n_nodes = k_reduced_error(*samples, factor=1).n_nodes, samples[0].n_nodes
    shown = counterexample_unless(nodes >= n_nodes, f"kropt at c = 1: {nodes} of {n_nodes} nodes are left")
    still = counterexample_unless(list(found.values()) == sorted(found.values()), str(found))
    text = ", ".join(f"c = {c}: {value:.3f}" for c, value in found.items())
    return Evidence(f"kropt, {text}", shown, "cuts that cost no growing error remain", still)


@claim(
    place="section 6.2",
    library="secateur reproduce rademacher --figure 1",
    says="Every bound is above the test error.",
)
def every_bound_overestimates_the_test_error() -> Evidence:
    bound, error = (_on_a_set("waveform")[key] for key in ("REP", "REP error"))
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
