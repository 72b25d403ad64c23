"""Bohanec and Bratko, Trading Accuracy for Simplicity in Decision Trees (1994)."""

import math
from itertools import chain, combinations

import numpy as np

from ...certifiers import count_prunings
from ...core import m_estimate
from ...datasets import car, random_domain
from ...pruners import best_of_size, greedy, smallest_within, weakest_links
from .._accuracy_simplicity import compare_methods
from .._by_hand import best_cuts, krk_tree, nine_tests
from .._opt_beyond import SEQUENCE_METHODS, choose_under_noise, errors_by_size, grow_by_id3
from .._study import Config, Result
from ._claim import Evidence, NotCheckable, claim, claim_on_small_trees, counterexample_unless
from ._small import N_TREES, RANDOM_TREES_ENUMERATED, Case, cost_of, failing_cases, perfect_tree, prunings


@claim(
    place="section 1.2, Figures 2 to 4",
    library="pruners.best_of_size; secateur reproduce accuracy-simplicity --figure 4",
    says=(
        "4 leaves classify 98.45 % of all king-rook-king positions correctly, and 5 leaves 99.57 %. 12 of the "
        "21 nodes contribute less than 0.5 %."
    ),
)
def few_leaves_decide_king_rook_king() -> Evidence:
    tree, counts = krk_tree()
    best = errors_by_size(best_of_size(tree, counts))
    accuracy = {n: round(100 * (1 - e / 262144), 2) for n, e in best.items()}
    counterexamples = counterexample_unless(
        (accuracy[4], accuracy[5], tree.n_nodes) == (98.45, 99.57, 21), str(accuracy)
    )
    return Evidence(f"262,144 positions: {accuracy[4]}, {accuracy[5]} %", counterexamples)


@claim_on_small_trees(
    seed=1,
    place="Property 1",
    library="pruners",
    says="Pruning never lowers the number of errors on the rows that grew the tree.",
    checked="random trees, every subtree",
)
def pruning_never_lowers_growing_errors(case: Case) -> object:
    inner, errors = case.tree.internal.tolist(), case.errors
    return all(errors[v] >= cost_of(leaves, errors) for v in inner for leaves in prunings(case.tree, v))


@claim_on_small_trees(
    seed=2,
    place="Property 2",
    library="pruners.best_of_size",
    says="The errors that a cut adds depend on its own subtree only.",
    checked="random trees: added errors of disjoint cuts sum up",
)
def cuts_add_errors_independently(case: Case) -> object:
    best = best_of_size(case.tree, case.grown)
    return bool((best.costs_on(case.errors) == best.errors).all())


@claim_on_small_trees(
    seed=7,
    place="sections 2 and 3",
    library="pruners.smallest_within",
    says="The smallest pruned tree with at least a given accuracy is the first of OPT's trees that reaches it.",
    checked=RANDOM_TREES_ENUMERATED,
)
def smallest_tree_within_an_accuracy(case: Case) -> object:
    n, lowest = float(case.grown.total[0]), case.lowest_costs(case.errors)
    for accuracy in (0.5, 0.75, 0.9, 1.0):
        reaching = [size for size, errors in lowest.items() if n - errors >= accuracy * n]
        if not reaching:
            continue
        pruning = smallest_within(case.tree, case.grown, accuracy)
        by_opt = next(p for p in reversed(list(best_of_size(case.tree, case.grown))) if p.n_leaves == min(reaching))
        if pruning.n_leaves != min(reaching) or n - by_opt.cost(case.errors) < accuracy * n:
            return False
    return True


@claim(
    place="section 3.1",
    library="certifiers.count_prunings",
    says="A complete binary tree of height h has floor(b^(2^h)) prunings, b = 1.5028.",
)
def number_of_prunings_of_a_complete_tree() -> Evidence:
    counts = {h: count_prunings(perfect_tree(h)) for h in range(1, 6)}

    def counterexamples(b: float) -> list[str]:
        claimed = {h: math.floor(b**2**h) for h in counts}
        return [f"h = {h}: {claimed[h]}, there are {n}" for h, n in counts.items() if claimed[h] != n]

    return Evidence(
        f"heights 1 to 5: {list(counts.values())}",
        counterexamples(1.5028),
        "with more digits, b = 1.5028368010497565",
        counterexamples(1.5028368010497565),
    )


@claim_on_small_trees(
    seed=3,
    place="section 3.3, Figure 7",
    library="pruners.best_of_size",
    says="OPT finds the most accurate pruned tree of every size.",
    checked=f"{RANDOM_TREES_ENUMERATED}; sizes that no pruning has are absent",
)
def opt_finds_the_best_tree_of_every_size(case: Case) -> object:
    return errors_by_size(best_of_size(case.tree, case.grown)) == case.lowest_costs(case.errors)


@claim(
    place="section 3.4, Table 1",
    library="secateur reproduce accuracy-simplicity --figure 'table 1'",
    says=(
        "In the worked example there is no tree with two leaves, a tree with 4 leaves is more accurate than "
        "the best with 5, and F is cut at 13 leaves but kept at 12, 11 and 8."
    ),
)
def worked_example_of_opt() -> Evidence:
    best = best_cuts(*nine_tests())
    is_cut = ["F" in best[n][1] for n in (13, 12, 11, 8)]
    holds = 2 not in best and best[4][0] < best[5][0] and is_cut == [True, False, False, False]
    return Evidence("the example of nine tests, reconstructed from the text", counterexample_unless(holds, str(best)))


@claim_on_small_trees(
    seed=4,
    place="section 3.5",
    library="pruners.best_of_size",
    says="OPT takes time quadratic in the number of leaves of a complete tree.",
    checked="random trees: pairs of leaves by lowest common ancestor; so for every tree, not only complete ones",
    max_splits=12,
)
def opt_is_quadratic(case: Case) -> object:
    n_steps = 0
    for v in case.tree.internal.tolist():
        sizes = [int(case.tree.is_leaf[c : case.tree.end[c]].sum()) for c in case.tree.children(v)]
        n_steps += sum(a * b for a, b in combinations(sizes, 2))  # pairs of leaves whose lowest common ancestor is v
    return n_steps <= case.tree.n_leaves**2 / 2


@claim(
    place="section 4.2, Table 2",
    library="pruners.greedy; secateur reproduce accuracy-simplicity --figure 'table 2'",
    says="GREEDY first cuts D, E, F and B. With six leaves it has 72.22 %, and the best tree 77.78 %.",
)
def worked_example_of_greedy() -> Evidence:
    greedy_errors, best_errors = (errors_by_size(rule(*nine_tests())) for rule in (greedy, best_of_size))
    percents = [round(100 * (1 - errors[6] / 18), 2) for errors in (greedy_errors, best_errors)]  # with six leaves
    return Evidence(
        f"leaves {list(greedy_errors)}", counterexample_unless(percents == [72.22, 77.78], str(percents[0]))
    )


@claim(
    place="section 4.3, Table 3",
    library="pruners.weakest_links; secateur reproduce accuracy-simplicity --figure 'table 3'",
    says="MCC1 offers six trees and MCC0 four. Every tree of MCC is the best of its size.",
)
def worked_example_of_mcc() -> Evidence:
    sizes = [len(weakest_links(*nine_tests(), every_cut=every)) for every in (True, False)]

    def is_best(case: Case) -> bool:
        mcc1 = errors_by_size(weakest_links(case.tree, case.grown, every_cut=True))
        best = errors_by_size(best_of_size(case.tree, case.grown))
        return mcc1.items() <= best.items()

    counterexamples = chain(counterexample_unless(sizes == [6, 4], str(sizes)), failing_cases(is_best, 5))
    return Evidence(f"the example, and {N_TREES} random trees; the document gives no proof", counterexamples)


@claim_on_small_trees(
    seed=8,
    place="section 5.1, Figure 9",
    library="pruners.best_of_size(monotone=True)",
    says=(
        "Trees that are less accurate than a smaller one are removed, and a size without a tree has the accuracy of "
        "the first smaller tree. Accuracy then rises with size."
    ),
    checked=RANDOM_TREES_ENUMERATED,
)
def adjusted_sequences_are_monotone(case: Case) -> object:
    sequence = best_of_size(case.tree, case.grown, monotone=True)
    errors = dict(zip(sequence.n_leaves.tolist(), sequence.errors.tolist(), strict=True))
    lowest = case.lowest_costs(case.errors)
    adjusted = {j: min(e for size, e in lowest.items() if size <= j) for j in range(1, case.tree.n_leaves + 1)}
    return errors == adjusted


@claim(
    place="section 5.1",
    library="growers.grow(criterion='entropy', splits='multiway')",
    says="ID3 splits every node by the attribute of largest information gain, until its rows are of one class.",
)
def id3_takes_the_largest_gain() -> Evidence:
    table = random_domain([2, 3, 3], 3, seed=1)
    tree, _ = grow_by_id3(table)
    columns, y = np.array(table.columns), np.array(table.required_target)

    def entropy(rows: np.ndarray) -> float:
        shares = np.bincount(y[rows]) / len(rows)
        return -len(rows) * math.fsum(share * math.log2(share) for share in shares.tolist() if share > 0)

    def gain(rows: np.ndarray, attribute: int) -> float:
        values = columns[attribute, rows]
        return entropy(rows) - sum(entropy(rows[values == value]) for value in np.unique(values))

    rows_of = {0: np.arange(table.n_rows)}
    counterexamples = []
    for v in range(tree.n_nodes):
        rows = rows_of[v]
        if tree.is_leaf[v]:
            counterexamples += [f"leaf {v} is impure"] if len(np.unique(y[rows])) > 1 else []
            continue
        largest = max(gain(rows, attribute) for attribute in range(len(columns)))
        chosen = gain(rows, int(tree.feature[v]))
        if chosen < largest - 1e-9:
            counterexamples.append(f"node {v}: gain {chosen:.3f}, largest {largest:.3f}")
        for value, child in enumerate(tree.children(v)):
            rows_of[child] = rows[columns[tree.feature[v], rows] == value]
    return Evidence(f"a random domain of 18 rows, {len(tree.internal)} splits", counterexamples)


def _compare_on_domains(values: list[int], n: int = 60) -> list[Result]:
    """Return the results of `compare_methods` on n random domains whose attributes have the given numbers of values."""
    return [compare_methods(*grow_by_id3(random_domain(values, 4, seed=i))) for i in range(n)]


@claim(
    place="section 5.2, Figure 10",
    library="secateur reproduce accuracy-simplicity --figure 10",
    says="On random domains MCC0 is clearly below the other methods. About 20 of 27 leaves give 90 %.",
)
def mcc0_is_worst_on_random_domains() -> Evidence:
    comparisons = _compare_on_domains([3, 3, 3])
    means = {
        method: float(np.mean([comparison["accuracy"][method].mean() for comparison in comparisons]))
        for method in SEQUENCE_METHODS
    }
    leaves = float(np.mean([comparison["for 90 %"] for comparison in comparisons]))
    text = ", ".join(f"{method} {100 * value:.1f}" for method, value in means.items())
    counterexamples = counterexample_unless(means["MCC0"] < means["MCC1"] - 0.03 and 18 < leaves < 23)
    return Evidence(f"60 domains: {text} %; {leaves:.1f} leaves for 90 %", counterexamples)


@claim(
    place="section 5.2",
    library="secateur reproduce accuracy-simplicity (table claims)",
    says="With 2, 3 and 3 values, GREEDY finds the sequence of OPT in 67 of 100 domains.",
)
def greedy_equals_opt_on_most_domains() -> Evidence:
    comparisons = _compare_on_domains([2, 3, 3], 100)
    n_equal_curves = sum(comparison["GREEDY curve equals OPT"] for comparison in comparisons)
    n_optimal = sum(comparison["every GREEDY tree optimal"] for comparison in comparisons)
    text = f"{n_equal_curves} of 100 have as good a tree for every size"
    return Evidence(
        "100 domains",
        counterexample_unless(55 <= n_equal_curves <= 79, text),
        f"read as: every tree of GREEDY is the best of its size ({n_optimal} of 100)",
        counterexample_unless(55 <= n_optimal <= 79, str(n_optimal)),
    )


@claim(
    place="section 5.2",
    library="secateur reproduce accuracy-simplicity (table uniformity)",
    says="GREEDY loses more where attributes have unequal numbers of values.",
)
def greedy_loses_on_unequal_domains() -> Evidence:
    gaps = []
    for values in ([3, 3, 3], [2, 3, 4]):
        accuracies = [comparison["accuracy"] for comparison in _compare_on_domains(values)]
        gaps.append(float(np.mean([(accuracy["OPT"] - accuracy["GREEDY"]).mean() for accuracy in accuracies])))
    text = f"mean gap {100 * gaps[0]:.2f} points with 3, 3, 3 values, {100 * gaps[1]:.2f} with 2, 3, 4"
    return Evidence(text, counterexample_unless(gaps[1] > gaps[0]))


@claim(
    place="section 5.3, Figure 11",
    library="secateur reproduce accuracy-simplicity --figure 11",
    says="Real decision tables need far fewer leaves than random ones for 90 %.",
)
def real_tables_need_fewer_leaves() -> Evidence:
    tree, counts = grow_by_id3(car())
    needed = smallest_within(tree, counts, "0.9").n_leaves
    text = f"car, generated from its model: {needed} of {tree.n_leaves} leaves; random domains 21 of 25"
    return Evidence(text, counterexample_unless(needed < tree.n_leaves / 3))


@claim(
    place="section 5.3",
    library="secateur reproduce accuracy-simplicity (table times)",
    says="OPT takes 0.02 to 0.13 seconds for trees of 20 to 80 leaves.",
)
def pruning_times() -> NotCheckable:
    return NotCheckable("a PC of 1993; our times are in the experiment")


@claim_on_small_trees(
    seed=6,
    place="section 6",
    library="pruners.best_of_size(cost=...)",
    says="OPT is optimal for every error that adds up over subtrees, such as m-estimates.",
    checked=RANDOM_TREES_ENUMERATED,
)
def opt_is_optimal_for_additive_costs(case: Case) -> object:
    costs = m_estimate(case.grown)
    found_costs = errors_by_size(best_of_size(case.tree, case.grown, cost=costs))
    lowest_costs = case.lowest_costs(costs)
    return all(abs(cost - lowest_costs[n_leaves]) <= 1e-9 for n_leaves, cost in found_costs.items())


@claim(
    place="section 6",
    library="secateur reproduce accuracy-simplicity (table noise)",
    says=(
        "Under noise, OPT is at least as good as MCC on the rows that choose the tree, and very similar on new rows."
    ),
)
def opt_and_mcc_under_noise() -> Evidence:
    chosen = choose_under_noise(Config(None, True, 0), "tic-tac-toe", 8)

    def opt_is_worse(cost: str) -> list[str]:
        """Return a description of each sample on whose pruning rows OPT has more errors than MCC1."""
        descriptions = []
        for (opt, *_), (mcc1, *_) in zip(chosen[f"{cost}, OPT"], chosen[f"{cost}, MCC1"], strict=True):
            if opt > mcc1 + 1e-12:
                descriptions.append(f"errors {100 * opt:.1f} % against {100 * mcc1:.1f} % of MCC1, sequences by {cost}")
        return descriptions

    return Evidence(
        "8 samples of tic-tac-toe with noise",
        opt_is_worse("growing errors"),
        "sequences made from the errors on those examples",
        opt_is_worse("pruning errors"),
    )
