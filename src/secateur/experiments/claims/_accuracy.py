"""Bohanec and Bratko, Trading Accuracy for Simplicity in Decision Trees (1994)."""

import math
from collections.abc import Iterator

import numpy as np

from ...certifiers import count_prunings
from ...datasets import car, random_domain
from ...nouns import Counts, Tree
from ...pruners import best_of_size, greedy, smallest_within, weakest_links
from .._accuracy_simplicity import _compared
from .._by_hand import NINE_NAMES, krk_tree, nine_tests
from .._opt_beyond import grown_by_id3, m_estimates, noisy
from .._study import Config, Result
from ._bounds import perfect_tree
from ._claim import Answer, Book, at, search, unless
from ._small import N_TREES, cases, cost_of, prunings, told

BOOK = Book("accuracy-simplicity")


@BOOK.claim(
    "4 leaves decide 98.45 % of all king-rook-king positions, 5 leaves 99.57 %; 12 of 21 nodes give less than 0.5 %"
)
@at("section 1.2, Figures 2 to 4", "pruners.best_of_size; secateur reproduce accuracy-simplicity --figure 4")
def _() -> Answer:
    tree, counts = krk_tree()
    best = best_of_size(tree, counts)
    accuracy = {int(n): round(100 * (1 - e / 262144), 2) for n, e in zip(best.n_leaves, best.errors, strict=True)}
    wrong = unless((accuracy[4], accuracy[5], tree.n_nodes) == (98.45, 99.57, 21), str(accuracy))
    return f"262,144 positions: {accuracy[4]}, {accuracy[5]} %", wrong


@BOOK.claim("pruning never lowers the errors on the examples of the tree")
@search("Property 1", "pruners", f"{N_TREES} random trees, every subtree")
def _() -> Iterator[str]:
    for tree, grown, _ in cases(1):
        errors = grown.errors_if_leaf(grown.majority)
        if any(errors[v] < cost_of(leaves, errors) for v in tree.internal for leaves in prunings(tree, int(v))):
            yield told(tree, grown)


@BOOK.claim("what a cut adds depends on its own subtree only")
@search("Property 2", "pruners.best_of_size", f"{N_TREES} random trees: added errors of disjoint cuts sum up")
def _() -> Iterator[str]:
    for tree, grown, _ in cases(2):
        best, errors = best_of_size(tree, grown), grown.errors_if_leaf(grown.majority)
        if any(one.cost(errors) != e for one, e in zip(best, best.errors, strict=True)):
            yield told(tree, grown)


@BOOK.claim("a complete binary tree of height h has floor(b^(2^h)) prunings, b = 1.5028")
@at("section 3.1", "certifiers.count_prunings")
def _() -> Answer:
    counts = [count_prunings(perfect_tree(h)) for h in range(1, 6)]
    printed = [
        f"h = {h}: {math.floor(1.5028**2**h)}, there are {n}"
        for h, n in enumerate(counts, 1)
        if math.floor(1.5028**2**h) != n
    ]
    still = [str(n) for h, n in enumerate(counts, 1) if math.floor(1.5028368010497565**2**h) != n]
    return f"heights 1 to 5: {counts}", printed, "with more digits, b = 1.5028368010497565", still


@BOOK.claim("OPT finds the most accurate pruned tree of every size")
@search(
    "section 3.3, Figure 7",
    "pruners.best_of_size",
    f"{N_TREES} random trees, all prunings listed; sizes that no pruning has are absent",
)
def _() -> Iterator[str]:
    for tree, grown, _ in cases(3):
        errors = grown.errors_if_leaf(grown.majority)
        least: dict[int, float] = {}
        for leaves in prunings(tree):
            least[len(leaves)] = min(least.get(len(leaves), math.inf), cost_of(leaves, errors))
        best = best_of_size(tree, grown)
        if dict(zip(best.n_leaves.tolist(), best.errors.tolist(), strict=True)) != least:
            yield told(tree, grown)


def _nine() -> tuple[dict[int, tuple[int, str]], Tree, Counts]:
    tree, counts = nine_tests()
    names = dict(zip(tree.internal.tolist(), NINE_NAMES, strict=True))
    best = best_of_size(tree, counts)
    found = {
        int(n): (int(e), "".join(sorted(names[v] for v in one.cuts.tolist())))
        for n, e, one in zip(best.n_leaves, best.errors, best, strict=True)
    }
    return found, tree, counts


@BOOK.claim("no tree of two leaves; more accurate with 4 leaves than with 5; F is cut at 13 and back at 12, 11 and 8")
@at("section 3.4, Table 1", "secateur reproduce accuracy-simplicity --figure 'table 1'")
def _() -> Answer:
    best, _, _ = _nine()
    is_so = (
        2 not in best
        and best[4][0] < best[5][0]
        and "F" in best[13][1]
        and not any("F" in best[n][1] for n in (12, 11, 8))
    )
    return "the example of nine tests, reconstructed from the text", unless(is_so, str(best))


@BOOK.claim("OPT takes time quadratic in the leaves of a complete tree")
@search(
    "section 3.5",
    "pruners.best_of_size",
    f"{N_TREES} random trees: pairs of leaves by lowest common ancestor; so for every tree, not only complete ones",
)
def _() -> Iterator[str]:
    for tree, *_ in cases(4, most_tests=12):
        sizes = np.array([int(tree.is_leaf[v : tree.end[v]].sum()) for v in range(tree.n_nodes)])
        n_steps = 0
        for v in tree.internal.tolist():
            joined = 0
            for c in np.flatnonzero(tree.parent == v).tolist():
                n_steps += joined * int(sizes[c])  # pairs of leaves whose lowest common ancestor is v
                joined += int(sizes[c])
        if n_steps > tree.n_leaves**2 / 2:
            yield f"{tree}: {n_steps} steps"


@BOOK.claim("GREEDY cuts D, E, F, B first; at six leaves it has 72.22 %, the best tree 77.78 %")
@at("section 4.2, Table 2", "pruners.greedy; secateur reproduce accuracy-simplicity --figure 'table 2'")
def _() -> Answer:
    best, tree, counts = _nine()
    found = greedy(tree, counts)
    at_six = round(100 * (1 - int(found.errors[found.n_leaves.tolist().index(6)]) / 18), 2)
    wrong = unless(at_six == 72.22 and round(100 * (1 - best[6][0] / 18), 2) == 77.78, str(at_six))
    return f"leaves {found.n_leaves.tolist()}", wrong


@BOOK.claim("MCC1 has six trees, MCC0 four; every tree of MCC is the best of its size")
@at("section 4.3, Table 3", "pruners.weakest_links; secateur reproduce accuracy-simplicity --figure 'table 3'")
def _() -> Answer:
    _, tree, counts = _nine()
    sizes = [len(weakest_links(tree, counts, every_cut=every)) for every in (True, False)]

    def wrong() -> Iterator[str]:
        if sizes != [6, 4]:
            yield str(sizes)
        for tree, grown, _ in cases(5):
            best = best_of_size(tree, grown)
            least = dict(zip(best.n_leaves.tolist(), best.errors.tolist(), strict=True))
            found = weakest_links(tree, grown, every_cut=True)
            if any(least[n] != e for n, e in zip(found.n_leaves.tolist(), found.errors.tolist(), strict=True)):
                yield told(tree, grown)

    return f"the example, and {N_TREES} random trees; the document gives no proof", wrong()


def _domains(values: list[int], n: int = 60) -> list[Result]:
    return [_compared(*grown_by_id3(random_domain(values, 4, seed=i))) for i in range(n)]


@BOOK.claim("MCC0 is clearly below the others in random domains; about 20 of 27 leaves give 90 %")
@at("section 5.2, Figure 10", "secateur reproduce accuracy-simplicity --figure 10")
def _() -> Answer:
    found = _domains([3, 3, 3])
    means = {
        way: float(np.mean([one["accuracy"][way].mean() for one in found])) for way in ("OPT", "GREEDY", "MCC1", "MCC0")
    }
    leaves = float(np.mean([one["for 90 %"] for one in found]))
    text = ", ".join(f"{way} {100 * value:.1f}" for way, value in means.items())
    wrong = unless(means["MCC0"] < means["MCC1"] - 0.03 and 18 < leaves < 23, "no")
    return f"60 domains: {text} %; {leaves:.1f} leaves for 90 %", wrong


@BOOK.claim("with 2, 3 and 3 values GREEDY finds the sequence of OPT in 67 of 100 domains")
@at("section 5.2", "secateur reproduce accuracy-simplicity (table claims)")
def _() -> Answer:
    found = _domains([2, 3, 3], 100)
    curve, trees = (sum(one[key] for one in found) for key in ("GREEDY curve equals OPT", "every GREEDY tree optimal"))
    shown = unless(55 <= curve <= 79, f"{curve} of 100 have as good a tree for every size")
    return (
        "100 domains",
        shown,
        f"read as: every tree of GREEDY is the best of its size ({trees} of 100)",
        unless(55 <= trees <= 79, str(trees)),
    )


@BOOK.claim("GREEDY gives more away where attributes have unequal numbers of values")
@at("section 5.2", "secateur reproduce accuracy-simplicity (table uniformity)")
def _() -> Answer:
    gaps = [
        float(np.mean([(one["accuracy"]["OPT"] - one["accuracy"]["GREEDY"]).mean() for one in _domains(v)]))
        for v in ([3, 3, 3], [2, 3, 4])
    ]
    wrong = unless(gaps[1] > gaps[0], "no")
    return f"mean gap {100 * gaps[0]:.2f} points with 3, 3, 3 values, {100 * gaps[1]:.2f} with 2, 3, 4", wrong


@BOOK.claim("real decision tables need far fewer leaves than random ones for 90 %")
@at("section 5.3, Figure 11", "secateur reproduce accuracy-simplicity --figure 11")
def _() -> Answer:
    tree, counts = grown_by_id3(car())
    needed = smallest_within(tree, counts, "0.9").n_leaves
    return (
        f"car, generated from its model: {needed} of {tree.n_leaves} leaves; random domains 21 of 25",
        unless(needed < tree.n_leaves / 3, "no"),
    )


@BOOK.claim("pruning takes 0.02 to 0.13 seconds for OPT with 20 to 80 leaves")
@at("section 5.3", "secateur reproduce accuracy-simplicity (table times)")
def _() -> Answer:
    return "a PC of 1993; our times are in the experiment"


@BOOK.claim("OPT is optimal for every error that combines over subtrees, such as m-estimates")
@search("section 6", "pruners.best_of_size(cost=...)", f"{N_TREES} random trees, all prunings listed")
def _() -> Iterator[str]:
    for tree, grown, _ in cases(6):
        costs = m_estimates(grown)
        best = best_of_size(tree, grown, cost=costs)
        for n, e in zip(best.n_leaves.tolist(), best.errors.tolist(), strict=True):
            if abs(e - min(cost_of(x, costs) for x in prunings(tree) if len(x) == n)) > 1e-9:
                yield told(tree, grown)


@BOOK.claim("under noise OPT is at least as good as MCC on the examples that choose, and very similar on new ones")
@at("section 6", "secateur reproduce accuracy-simplicity (table noise)")
def _() -> Answer:
    found = noisy(Config(None, True, 0), "tic-tac-toe", 8)

    def worse(cost: str) -> list[str]:
        pairs = zip(found[f"{cost}, OPT"], found[f"{cost}, MCC1"], strict=True)
        return [
            f"errors {100 * a[0]:.1f} % against {100 * b[0]:.1f} % of MCC1, sequences by {cost}"
            for a, b in pairs
            if a[0] > b[0] + 1e-12
        ]

    return (
        "8 samples of tic-tac-toe with noise",
        worse("growing errors"),
        "sequences made from the errors on those examples",
        worse("pruning errors"),
    )
