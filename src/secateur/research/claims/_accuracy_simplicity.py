"""Bohanec and Bratko, Trading Accuracy for Simplicity in Decision Trees (1994)."""

import math
from itertools import chain, combinations

import numpy as np

from ...certifiers import count_prunings
from ...datasets import car, random_domain
from ...pruners import best_of_size, greedy, smallest_within, weakest_links
from .._accuracy_simplicity import compared_ways
from .._by_hand import best_cuts, krk_tree, nine_tests
from .._opt_beyond import WAYS, grown_by_id3, least_errors, m_estimates, noisy
from .._study import Config, Result
from ._claim import Answer, at, each, unless
from ._small import LISTED, N_TREES, Case, cost_of, failing, perfect_tree, prunings


@at("section 1.2, Figures 2 to 4", "pruners.best_of_size; secateur reproduce accuracy-simplicity --figure 4")
def _() -> Answer:
    """4 leaves decide 98.45 % of all king-rook-king positions, 5 leaves 99.57 %; 12 of 21 nodes give less than 0.5 %"""
    tree, counts = krk_tree()
    best = least_errors(best_of_size(tree, counts))
    accuracy = {n: round(100 * (1 - e / 262144), 2) for n, e in best.items()}
    wrong = unless((accuracy[4], accuracy[5], tree.n_nodes) == (98.45, 99.57, 21), str(accuracy))
    return f"262,144 positions: {accuracy[4]}, {accuracy[5]} %", wrong


@each(1, "Property 1", "pruners", "random trees, every subtree")
def _(one: Case) -> object:
    """pruning never lowers the errors on the examples of the tree"""
    inner, errors = one.tree.internal.tolist(), one.errors
    return all(errors[v] >= cost_of(leaves, errors) for v in inner for leaves in prunings(one.tree, v))


@each(2, "Property 2", "pruners.best_of_size", "random trees: added errors of disjoint cuts sum up")
def _(one: Case) -> object:
    """what a cut adds depends on its own subtree only"""
    best = best_of_size(one.tree, one.grown)
    return bool((best.costs_on(one.errors) == best.errors).all())


@at("section 3.1", "certifiers.count_prunings")
def _() -> Answer:
    """a complete binary tree of height h has floor(b^(2^h)) prunings, b = 1.5028"""
    counts = {h: count_prunings(perfect_tree(h)) for h in range(1, 6)}

    def wrong(b: float) -> list[str]:
        claimed = {h: math.floor(b**2**h) for h in counts}
        return [f"h = {h}: {claimed[h]}, there are {n}" for h, n in counts.items() if claimed[h] != n]

    found = f"heights 1 to 5: {list(counts.values())}"
    return found, wrong(1.5028), "with more digits, b = 1.5028368010497565", wrong(1.5028368010497565)


@each(3, "section 3.3, Figure 7", "pruners.best_of_size", f"{LISTED}; sizes that no pruning has are absent")
def _(one: Case) -> object:
    """OPT finds the most accurate pruned tree of every size"""
    return least_errors(best_of_size(one.tree, one.grown)) == one.least(one.errors)


@at("section 3.4, Table 1", "secateur reproduce accuracy-simplicity --figure 'table 1'")
def _() -> Answer:
    """no tree of two leaves; more accurate with 4 leaves than with 5; F is cut at 13 and back at 12, 11 and 8"""
    best = best_cuts(*nine_tests())
    is_cut = ["F" in best[n][1] for n in (13, 12, 11, 8)]
    is_so = 2 not in best and best[4][0] < best[5][0] and is_cut == [True, False, False, False]
    return "the example of nine tests, reconstructed from the text", unless(is_so, str(best))


PAIRS = "random trees: pairs of leaves by lowest common ancestor; so for every tree, not only complete ones"


@each(4, "section 3.5", "pruners.best_of_size", PAIRS, most_tests=12)
def _(one: Case) -> object:
    """OPT takes time quadratic in the leaves of a complete tree"""
    n_steps = 0
    for v in one.tree.internal.tolist():
        sizes = [int(one.tree.is_leaf[c : one.tree.end[c]].sum()) for c in one.tree.children(v)]
        n_steps += sum(a * b for a, b in combinations(sizes, 2))  # pairs of leaves whose lowest common ancestor is v
    return n_steps <= one.tree.n_leaves**2 / 2


@at("section 4.2, Table 2", "pruners.greedy; secateur reproduce accuracy-simplicity --figure 'table 2'")
def _() -> Answer:
    """GREEDY cuts D, E, F, B first; at six leaves it has 72.22 %, the best tree 77.78 %"""
    made = [least_errors(rule(*nine_tests())) for rule in (greedy, best_of_size)]
    at_six = [round(100 * (1 - of[6] / 18), 2) for of in made]
    return f"leaves {list(made[0])}", unless(at_six == [72.22, 77.78], str(at_six[0]))


@at("section 4.3, Table 3", "pruners.weakest_links; secateur reproduce accuracy-simplicity --figure 'table 3'")
def _() -> Answer:
    """MCC1 has six trees, MCC0 four; every tree of MCC is the best of its size"""
    sizes = [len(weakest_links(*nine_tests(), every_cut=every)) for every in (True, False)]

    def is_best(one: Case) -> bool:
        made = weakest_links(one.tree, one.grown, every_cut=True), best_of_size(one.tree, one.grown)
        found, best = (least_errors(sequence).items() for sequence in made)
        return found <= best

    wrong = chain(unless(sizes == [6, 4], str(sizes)), failing(is_best, 5))
    return f"the example, and {N_TREES} random trees; the document gives no proof", wrong


def _domains(values: list[int], n: int = 60) -> list[Result]:
    return [compared_ways(*grown_by_id3(random_domain(values, 4, seed=i))) for i in range(n)]


@at("section 5.2, Figure 10", "secateur reproduce accuracy-simplicity --figure 10")
def _() -> Answer:
    """MCC0 is clearly below the others in random domains; about 20 of 27 leaves give 90 %"""
    found = _domains([3, 3, 3])
    means = {way: float(np.mean([one["accuracy"][way].mean() for one in found])) for way in WAYS}
    leaves = float(np.mean([one["for 90 %"] for one in found]))
    text = ", ".join(f"{way} {100 * value:.1f}" for way, value in means.items())
    wrong = unless(means["MCC0"] < means["MCC1"] - 0.03 and 18 < leaves < 23)
    return f"60 domains: {text} %; {leaves:.1f} leaves for 90 %", wrong


@at("section 5.2", "secateur reproduce accuracy-simplicity (table claims)")
def _() -> Answer:
    """with 2, 3 and 3 values GREEDY finds the sequence of OPT in 67 of 100 domains"""
    found = _domains([2, 3, 3], 100)
    curve, trees = (sum(one[key] for one in found) for key in ("GREEDY curve equals OPT", "every GREEDY tree optimal"))
    shown = unless(55 <= curve <= 79, f"{curve} of 100 have as good a tree for every size")
    reading = f"read as: every tree of GREEDY is the best of its size ({trees} of 100)"
    return "100 domains", shown, reading, unless(55 <= trees <= 79, str(trees))


@at("section 5.2", "secateur reproduce accuracy-simplicity (table uniformity)")
def _() -> Answer:
    """GREEDY gives more away where attributes have unequal numbers of values"""
    gaps = [
        float(np.mean([(one["accuracy"]["OPT"] - one["accuracy"]["GREEDY"]).mean() for one in _domains(v)]))
        for v in ([3, 3, 3], [2, 3, 4])
    ]
    text = f"mean gap {100 * gaps[0]:.2f} points with 3, 3, 3 values, {100 * gaps[1]:.2f} with 2, 3, 4"
    return text, unless(gaps[1] > gaps[0])


@at("section 5.3, Figure 11", "secateur reproduce accuracy-simplicity --figure 11")
def _() -> Answer:
    """real decision tables need far fewer leaves than random ones for 90 %"""
    tree, counts = grown_by_id3(car())
    needed = smallest_within(tree, counts, "0.9").n_leaves
    text = f"car, generated from its model: {needed} of {tree.n_leaves} leaves; random domains 21 of 25"
    return text, unless(needed < tree.n_leaves / 3)


@at("section 5.3", "secateur reproduce accuracy-simplicity (table times)")
def _() -> Answer:
    """pruning takes 0.02 to 0.13 seconds for OPT with 20 to 80 leaves"""
    return "a PC of 1993; our times are in the experiment"


@each(6, "section 6", "pruners.best_of_size(cost=...)", LISTED)
def _(one: Case) -> object:
    """OPT is optimal for every error that combines over subtrees, such as m-estimates"""
    costs = m_estimates(one.grown)
    found, least = least_errors(best_of_size(one.tree, one.grown, cost=costs)), one.least(costs)
    return all(abs(e - least[n]) <= 1e-9 for n, e in found.items())


@at("section 6", "secateur reproduce accuracy-simplicity (table noise)")
def _() -> Answer:
    """under noise OPT is at least as good as MCC on the examples that choose, and very similar on new ones"""
    found = noisy(Config(None, True, 0), "tic-tac-toe", 8)

    def worse(cost: str) -> list[str]:
        pairs = zip(found[f"{cost}, OPT"], found[f"{cost}, MCC1"], strict=True)
        return [
            f"errors {100 * a[0]:.1f} % against {100 * b[0]:.1f} % of MCC1, sequences by {cost}"
            for a, b in pairs
            if a[0] > b[0] + 1e-12
        ]

    correction = "sequences made from the errors on those examples"
    return "8 samples of tic-tac-toe with noise", worse("growing errors"), correction, worse("pruning errors")
