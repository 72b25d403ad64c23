"""Bohanec and Bratko, Trading Accuracy for Simplicity in Decision Trees (1994)."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...certifiers import count_prunings
from ...datasets import car, random_domain
from ...pruners import best_of_size, greedy, smallest_within, weakest_links
from .._accuracy_simplicity import _compared
from .._by_hand import NINE_NAMES, krk_tree, nine_tests
from .._opt_beyond import grown_by_id3, m_estimates, noisy
from .._study import Config
from ._bounds import perfect_tree
from ._claim import Book
from ._small import N_TREES, cases, cost_of, prunings, told

BOOK = Book("accuracy-simplicity")


@BOOK.claim(
    "section 1.2, Figures 2 to 4",
    "4 leaves decide 98.45 % of all king-rook-king positions, 5 leaves 99.57 %; 12 of 21 nodes give less than 0.5 %",
    "pruners.best_of_size; secateur reproduce accuracy-simplicity --figure 4",
)
def _() -> Any:
    tree, counts = krk_tree()
    best = best_of_size(tree, counts)
    accuracy = {int(n): round(100 * (1 - e / 262144), 2) for n, e in zip(best.n_leaves, best.errors, strict=True)}
    return f"262,144 positions: {accuracy[4]}, {accuracy[5]} %", [] if (accuracy[4], accuracy[5], tree.n_nodes) == (
        98.45,
        99.57,
        21,
    ) else [str(accuracy)]


@BOOK.claim("Property 1", "pruning never lowers the errors on the examples of the tree", "pruners")
def _() -> Any:
    def wrong() -> Iterator[str]:
        for tree, grown, _ in cases(1):
            errors = grown.errors_if_leaf(grown.majority)
            if any(errors[v] < cost_of(leaves, errors) for v in tree.internal for leaves in prunings(tree, int(v))):
                yield told(tree, grown)

    return f"{N_TREES} random trees, every subtree", wrong()


@BOOK.claim("Property 2", "what a cut adds depends on its own subtree only", "pruners.best_of_size")
def _() -> Any:
    def wrong() -> Iterator[str]:
        for tree, grown, _ in cases(2):
            best, errors = best_of_size(tree, grown), grown.errors_if_leaf(grown.majority)
            if any(one.cost(errors) != e for one, e in zip(best, best.errors, strict=True)):
                yield told(tree, grown)

    return f"{N_TREES} random trees: added errors of disjoint cuts sum up", wrong()


@BOOK.claim(
    "section 3.1",
    "a complete binary tree of height h has floor(b^(2^h)) prunings, b = 1.5028",
    "certifiers.count_prunings",
)
def _() -> Any:
    counts = [count_prunings(perfect_tree(h)) for h in range(1, 6)]
    printed = [
        f"h = {h}: {math.floor(1.5028**2**h)}, there are {n}"
        for h, n in enumerate(counts, 1)
        if math.floor(1.5028**2**h) != n
    ]
    still = [str(n) for h, n in enumerate(counts, 1) if math.floor(1.5028368010497565**2**h) != n]
    return f"heights 1 to 5: {counts}", printed, "with more digits, b = 1.5028368010497565", still


@BOOK.claim("section 3.3, Figure 7", "OPT finds the most accurate pruned tree of every size", "pruners.best_of_size")
def _() -> Any:
    def wrong() -> Iterator[str]:
        for tree, grown, _ in cases(3):
            errors = grown.errors_if_leaf(grown.majority)
            least: dict[int, float] = {}
            for leaves in prunings(tree):
                least[len(leaves)] = min(least.get(len(leaves), math.inf), cost_of(leaves, errors))
            best = best_of_size(tree, grown)
            if dict(zip(best.n_leaves.tolist(), best.errors.tolist(), strict=True)) != least:
                yield told(tree, grown)

    return f"{N_TREES} random trees, all prunings listed; sizes that no pruning has are absent", wrong()


def _nine() -> tuple[dict[int, tuple[int, str]], Any, Any]:
    tree, counts = nine_tests()
    names = dict(zip(tree.internal.tolist(), NINE_NAMES, strict=True))
    best = best_of_size(tree, counts)
    found = {
        int(n): (int(e), "".join(sorted(names[v] for v in one.cuts.tolist())))
        for n, e, one in zip(best.n_leaves, best.errors, best, strict=True)
    }
    return found, tree, counts


@BOOK.claim(
    "section 3.4, Table 1",
    "no tree of two leaves; more accurate with 4 leaves than with 5; F is cut at 13 and back at 12, 11 and 8",
    "secateur reproduce accuracy-simplicity --figure 'table 1'",
)
def _() -> Any:
    best, _, _ = _nine()
    is_so = (
        2 not in best
        and best[4][0] < best[5][0]
        and "F" in best[13][1]
        and not any("F" in best[n][1] for n in (12, 11, 8))
    )
    return "the example of nine tests, reconstructed from the text", [] if is_so else [str(best)]


@BOOK.claim("section 3.5", "OPT takes time quadratic in the leaves of a complete tree", "pruners.best_of_size")
def _() -> Any:
    def wrong() -> Iterator[str]:
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

    return (
        f"{N_TREES} random trees: pairs of leaves by lowest common ancestor; so for every tree, not only complete ones",
        wrong(),
    )


@BOOK.claim(
    "section 4.2, Table 2",
    "GREEDY cuts D, E, F, B first; at six leaves it has 72.22 %, the best tree 77.78 %",
    "pruners.greedy; secateur reproduce accuracy-simplicity --figure 'table 2'",
)
def _() -> Any:
    best, tree, counts = _nine()
    found = greedy(tree, counts)
    at_six = round(100 * (1 - int(found.errors[found.n_leaves.tolist().index(6)]) / 18), 2)
    return f"leaves {found.n_leaves.tolist()}", [] if at_six == 72.22 and round(
        100 * (1 - best[6][0] / 18), 2
    ) == 77.78 else [str(at_six)]


@BOOK.claim(
    "section 4.3, Table 3",
    "MCC1 has six trees, MCC0 four; every tree of MCC is the best of its size",
    "pruners.weakest_links; secateur reproduce accuracy-simplicity --figure 'table 3'",
)
def _() -> Any:
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


def _domains(values: list[int], n: int = 60) -> list[dict[str, Any]]:
    return [_compared(*grown_by_id3(random_domain(values, 4, seed=i))) for i in range(n)]


@BOOK.claim(
    "section 5.2, Figure 10",
    "MCC0 is clearly below the others in random domains; about 20 of 27 leaves give 90 %",
    "secateur reproduce accuracy-simplicity --figure 10",
)
def _() -> Any:
    found = _domains([3, 3, 3])
    means = {
        way: float(np.mean([one["accuracy"][way].mean() for one in found])) for way in ("OPT", "GREEDY", "MCC1", "MCC0")
    }
    leaves = float(np.mean([one["for 90 %"] for one in found]))
    text = ", ".join(f"{way} {100 * value:.1f}" for way, value in means.items())
    return f"60 domains: {text} %; {leaves:.1f} leaves for 90 %", [] if means["MCC0"] < means[
        "MCC1"
    ] - 0.03 and 18 < leaves < 23 else ["no"]


@BOOK.claim(
    "section 5.2",
    "with 2, 3 and 3 values GREEDY finds the sequence of OPT in 67 of 100 domains",
    "secateur reproduce accuracy-simplicity (table claims)",
)
def _() -> Any:
    found = _domains([2, 3, 3], 100)
    curve, trees = (sum(one[key] for one in found) for key in ("GREEDY curve equals OPT", "every GREEDY tree optimal"))
    shown = [f"{curve} of 100 have as good a tree for every size"] if not 55 <= curve <= 79 else []
    return (
        "100 domains",
        shown,
        f"read as: every tree of GREEDY is the best of its size ({trees} of 100)",
        [] if 55 <= trees <= 79 else [str(trees)],
    )


@BOOK.claim(
    "section 5.2",
    "GREEDY gives more away where attributes have unequal numbers of values",
    "secateur reproduce accuracy-simplicity (table uniformity)",
)
def _() -> Any:
    gaps = [
        float(np.mean([(one["accuracy"]["OPT"] - one["accuracy"]["GREEDY"]).mean() for one in _domains(v)]))
        for v in ([3, 3, 3], [2, 3, 4])
    ]
    return f"mean gap {100 * gaps[0]:.2f} points with 3, 3, 3 values, {100 * gaps[1]:.2f} with 2, 3, 4", [] if gaps[
        1
    ] > gaps[0] else ["no"]


@BOOK.claim(
    "section 5.3, Figure 11",
    "real decision tables need far fewer leaves than random ones for 90 %",
    "secateur reproduce accuracy-simplicity --figure 11",
)
def _() -> Any:
    tree, counts = grown_by_id3(car())
    needed = smallest_within(tree, counts, "0.9").n_leaves
    return (
        f"car, generated from its model: {needed} of {tree.n_leaves} leaves; random domains 21 of 25",
        [] if needed < tree.n_leaves / 3 else ["no"],
    )


BOOK.uncheckable(
    "section 5.3",
    "pruning takes 0.02 to 0.13 seconds for OPT with 20 to 80 leaves",
    "secateur reproduce accuracy-simplicity (table times)",
    "a PC of 1993; our times are in the experiment",
)


@BOOK.claim(
    "section 6",
    "OPT is optimal for every error that combines over subtrees, such as m-estimates",
    "pruners.best_of_size(cost=...)",
)
def _() -> Any:
    def wrong() -> Iterator[str]:
        for tree, grown, _ in cases(6):
            costs = m_estimates(grown)
            best = best_of_size(tree, grown, cost=costs)
            for n, e in zip(best.n_leaves.tolist(), best.errors.tolist(), strict=True):
                if abs(e - min(cost_of(x, costs) for x in prunings(tree) if len(x) == n)) > 1e-9:
                    yield told(tree, grown)

    return f"{N_TREES} random trees, all prunings listed", wrong()


@BOOK.claim(
    "section 6",
    "under noise OPT is at least as good as MCC on the examples that choose, and very similar on new ones",
    "secateur reproduce accuracy-simplicity (table noise)",
)
def _() -> Any:
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
