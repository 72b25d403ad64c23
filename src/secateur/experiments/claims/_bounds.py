"""Kaariainen, Malinen and Elomaa (2004), sections 6 and 7: the number of prunings, and what was observed."""

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

from ... import datasets
from ...certifiers import binomial_upper, chernoff_upper, count_prunings, occam, rademacher
from ...data.table import Table
from ...growers import grow
from ...nouns import Tree
from ...pruners import k_limit, k_reduced_error, reduced_error
from ...routing import count
from ._claim import Answer, Book, at, search, unless
from ._small import N_TREES, cases, prunings, told

BOOK = Book("rademacher")
ENUMERATED = f"{N_TREES} random trees, all prunings listed"
SETS: dict[str, Callable[[], Table]] = {
    "kropt": datasets.krk_depth,
    "led24": lambda: datasets.led24(60_000),
    "tic-tac-toe": datasets.tic_tac_toe,
    "waveform": lambda: datasets.waveform(3_000),
}


def perfect_tree(depth: int) -> Tree:
    parent: list[int] = []
    todo = [(0, -1)]
    while todo:
        level, above = todo.pop()
        parent.append(above)
        todo += [(level + 1, len(parent) - 1)] * 2 if level < depth else []
    return Tree.from_parents(parent)


@BOOK.claim("the single leaf has 2^((d - 1)/2 - 1) codewords of a bit per inner node")
@at("section 6.1", "certifiers.count_prunings")
def _() -> Answer:
    broken = []
    for tree in (perfect_tree(2), Tree.from_parents([-1, 0, 1, 1, 0])):
        inner = tree.internal.tolist()
        n_root = sum(0 in subset for subset in product(*[(None, v) for v in inner]))
        if n_root != 2 ** ((tree.n_nodes - 1) // 2 - 1):
            broken.append(f"{tree}: {n_root}")
    return "two trees, all subsets of the inner nodes", broken


@BOOK.claim("a binary tree of d nodes can have at least 2^(d/4) prunings")
@at("section 6.1", "certifiers.count_prunings")
def _() -> Answer:
    counts = {depth: count_prunings(perfect_tree(depth)) for depth in range(1, 6)}
    return f"perfect trees of depth 1 to 5: {list(counts.values())}", [
        str(d) for d, n in counts.items() if n < 2 ** ((2 ** (d + 1) - 1) / 4)
    ]


@BOOK.claim("d/4 bits encode a pruning of a tree of d nodes; no efficient way to count prunings is known")
@at("section 6.1", "certifiers.count_prunings, occam(prior='printed')")
def _() -> Answer:
    bits = math.log2(count_prunings(perfect_tree(5)))

    def still() -> Iterator[str]:
        for tree, *_ in cases(9):
            if count_prunings(tree) != len(prunings(tree)):
                yield told(tree)

    return (
        ENUMERATED,
        unless(bits <= 15.75, f"perfect tree of depth 5: {bits:.2f} bits, d/4 = 15.75"),
        "N(v) = 1 + product of N(child), one pass",
        still(),
    )


@BOOK.claim("the exact Occam bound is below the Chernoff form")
@search("section 6.1", "certifiers.occam, binomial_upper, chernoff_upper", "24 settings")
def _() -> Iterator[str]:
    for e, n, log_pi in product((0, 10, 100, 400), (1_000, 2_000), (0.0, -3.0, -13.0)):
        if binomial_upper(e, n, math.log(0.01) + log_pi) > chernoff_upper(e, n, math.log(0.01) + log_pi):
            yield f"{e} of {n}"


@cache
def _on_a_set(name: str) -> tuple[dict[str, float], dict[str, float]]:
    """Bounds, test errors and sizes on one split of a generated set."""
    table = SETS[name]()
    test, growing, pruning = datasets.split(table, 0.1, 0.6, 0.3)
    tree, grown = grow(growing, criterion="gain_ratio")
    held, fresh = count(tree, pruning), count(tree, test, sample="test")
    k = k_limit(grown, factor=1.1)
    pruned = {"REP": reduced_error(tree, grown, held), "k-REP": k_reduced_error(tree, grown, held, k=k)}
    bounds = {}
    for rule, within in (("REP", None), ("k-REP", k)):
        bound = rademacher(tree, grown, held, delta=0.01, k=within, form="printed", rng=0, pruning=pruned[rule])
        bounds[rule] = bound.details["unclipped"]
    bounds["Occam"] = occam(tree, grown, held, delta=0.01, pruning=pruned["REP"]).value
    return bounds, {rule: float(pruning.errors(fresh) / fresh.total[0]) for rule, pruning in pruned.items()}


@BOOK.claim("k-REP trees lie between REP trees and unpruned trees in size")
@search(
    "section 6.2, Table 1",
    "pruners.k_reduced_error; secateur reproduce rademacher --figure 'table 1'",
    f"{N_TREES} random trees; 150 splits of 15 sets in the experiment",
)
def _() -> Iterator[str]:
    for tree, grown, held in cases(10):
        rep, k_rep = reduced_error(tree, grown, held), k_reduced_error(tree, grown, held)
        if not rep.n_leaves <= k_rep.n_leaves <= tree.n_leaves:
            yield told(tree, grown, held)


@BOOK.claim("Rademacher bounds are lower on large sets, Occam bounds on small ones; k-REP's below REP's mostly")
@at("section 6.2, Figure 1", "secateur reproduce rademacher --figure 1")
def _() -> Answer:
    large, _ = _on_a_set("led24")
    small, _ = _on_a_set("tic-tac-toe")
    middle, _ = _on_a_set("kropt")
    text = "; ".join(
        f"{name} {of['REP']:.3f}, k-REP {of['k-REP']:.3f}, Occam {of['Occam']:.3f}"
        for name, of in (("led24", large), ("tic-tac-toe", small), ("kropt", middle))
    )
    return text, unless(
        large["REP"] < large["Occam"] and small["Occam"] < small["REP"] and middle["k-REP"] < middle["REP"], "no"
    )


@BOOK.claim("on LED the bound of k-REP is above that of REP")
@at("section 6.2", "secateur reproduce rademacher --only led24")
def _() -> Answer:
    bounds, _ = _on_a_set("led24")
    return f"60,000 rows: {bounds['k-REP']:.3f} and {bounds['REP']:.3f}", unless(bounds["k-REP"] > bounds["REP"], "no")


@BOOK.claim("smaller factors c give lower bounds; at c = 1 there is no room to prune")
@at("section 6.2", "secateur reproduce rademacher (table factor)")
def _() -> Answer:
    growing, pruning = datasets.split(datasets.krk_depth(), 2 / 3, 1 / 3)
    tree, grown = grow(growing, criterion="gain_ratio")
    held = count(tree, pruning)
    found = {
        c: rademacher(tree, grown, held, k=k_limit(grown, factor=c), form="printed", delta=0.01, rng=0).details[
            "unclipped"
        ]
        for c in (1, 1.1, 2)
    }
    nodes = k_reduced_error(tree, grown, held, factor=1).n_nodes
    shown = unless(nodes >= tree.n_nodes, f"kropt at c = 1: {nodes} of {tree.n_nodes} nodes are left")
    still = unless(list(found.values()) == sorted(found.values()), str(found))
    return (
        "kropt, " + ", ".join(f"c = {c}: {value:.3f}" for c, value in found.items()),
        shown,
        "cuts that cost no growing error remain",
        still,
    )


@BOOK.claim("every bound overestimates the test error")
@at("section 6.2", "secateur reproduce rademacher --figure 1")
def _() -> Answer:
    bounds, errors = _on_a_set("waveform")
    wrong = unless(bounds["REP"] > errors["REP"], "no")
    return f"waveform, REP {errors['REP']:.3f}, bound {bounds['REP']:.3f}; 1,350 cases in the experiment", wrong


@BOOK.claim("McDiarmid's bounded difference inequality")
@at("Lemma 2", "analysis.deviation_at_most")
def _() -> Answer:
    return "cited, not proved; its use on empty bins is checked under the first document, Theorem 8"


@BOOK.claim("time cubic in the growing examples, exponential in the number of outcomes")
@at("section 4", "pruners.k_reduced_error")
def _() -> Answer:
    return "upper limits on time; ours takes nodes times budget, whatever the number of outcomes"


@BOOK.claim("better ways to tune c and to divide the rows are future work")
@at("section 7", "secateur reproduce rademacher (tables choice, proportion)")
def _() -> Answer:
    return "a plan; both tables are in the experiment"
