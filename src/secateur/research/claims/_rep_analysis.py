"""Elomaa and Kaariainen, An Analysis of Reduced Error Pruning (2001)."""

import math
from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np

from ... import analysis
from ...core import LabelRule, Tree, leaf_labels
from ...growers import grow
from ...pruners import iterative_reduced_error, reduced_error
from ...routing import count
from ._claim import Answer, at, each, search, unless
from ._small import LISTED, N_TREES, Case, cases, cost_of, prunings, told

LABELS: tuple[LabelRule, ...] = ("grow", "prune", "both")


FOUR_LEAVES = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
FIGURE_1 = Case.of(FOUR_LEAVES, [[5, 0], [0, 2], [0, 3], [2, 0]], [[0, 1], [0, 1], [2, 0], [1, 0]])


@at("section 2.1", "pruners.iterative_reduced_error")
def _() -> Answer:
    """cutting the node that helps most, again and again, misses the best pruning"""
    one = Case.of(FOUR_LEAVES, [[2, 0], [0, 1], [0, 3], [1, 0]], [[0, 1], [2, 0], [0, 0], [0, 2]])
    rules = (iterative_reduced_error, reduced_error)
    found = [rule(one.tree, one.grown, one.held).errors(one.held) for rule in rules]
    return f"{one}: {found[0]} errors, reduced error pruning {found[1]}", unless(found[0] > found[1], "equal")


@at("section 2.2, Figure 1", "pruners.reduced_error")
def _() -> Answer:
    """labels from growing: the root is cut though neither child is; from pruning: both children, not the root"""
    one = FIGURE_1
    by_grow, by_prune = (reduced_error(one.tree, one.grown, one.held, labels=labels) for labels in LABELS[:2])
    shown = (by_grow.cuts.tolist(), by_grow.errors(one.held), by_prune.cuts.tolist(), by_prune.errors(one.held))
    wrong = unless(shown == ([0], 2, [1, 4], 0), str(shown))
    return f"cuts {shown[0]} with {shown[1]} errors, cuts {shown[2]} with {shown[3]}", wrong


@at("section 2.2", "pruners.reduced_error(labels='both')")
def _() -> Answer:
    """labels from both samples cannot be told from labels of the growing sample"""
    one = FIGURE_1
    leaves = [reduced_error(one.tree, one.grown, one.held, labels=labels).n_leaves for labels in ("grow", "both")]
    return "the tree of Figure 1", unless(leaves[0] == leaves[1], f"1 leaf by growing labels, {leaves[1]} by both")


@each(1, "section 2.3", "pruners.reduced_error")
def _(one: Case) -> object:
    """subtrees without a pruning example are always cut"""
    found = (reduced_error(one.tree, one.grown, one.held, labels=labels) for labels in LABELS)
    return not any((pruned.is_kept & ~one.tree.is_leaf & (one.held.total == 0)).any() for pruned in found)


@each(7, "Table 1", "pruners.reduced_error(labels='prune')", "random trees, the listing written out")
def _(one: Case) -> object:
    """the listing: errors of the children against those of the majority of the pruning examples"""
    error = np.where(one.tree.is_leaf, one.held_errors, 0)
    is_cut = False
    for v in reversed(one.tree.internal.tolist()):  # ends at the root
        below = int(error[one.tree.parent == v].sum())
        as_leaf = int(one.held.by_class[v].min())
        is_cut = below >= as_leaf
        error[v] = min(below, as_leaf)
    found = reduced_error(one.tree, one.grown, one.held, labels="prune")
    return found.errors(one.held) == error[0] and is_cut == (found.n_leaves == 1)


@each(2, "Theorem 1", "pruners.reduced_error", f"{LISTED}, three labellings")
def _(one: Case) -> object:
    """the result is the smallest of the most accurate prunings, under any labelling"""

    def is_best(labels: LabelRule) -> bool:
        errors = one.held.errors_if_leaf(leaf_labels(one.grown, one.held, labels))
        found = reduced_error(one.tree, one.grown, one.held, labels=labels)
        best = min((cost_of(leaves, errors), len(leaves)) for leaves in one.prunings)
        return (found.cost(errors), found.n_leaves) == best

    return all(map(is_best, LABELS))


@each(3, "Theorem 2, Corollary 3", "pruners.reduced_error(labels='prune')", n_trees=4 * N_TREES, most_tests=6)
def _(one: Case) -> object:
    """with labels from pruning, a test without leaves as children stays if a child still tests something"""
    found = reduced_error(one.tree, one.grown, one.held, labels="prune")
    has_leaf = np.zeros(one.tree.n_nodes, bool)
    has_leaf[one.tree.parent[one.tree.leaves]] = True
    is_test = found.is_kept & ~found.is_leaf
    above = one.tree.parent[1:][is_test[1:]]
    return bool((has_leaf[above] | is_test[above]).all())


@at("section 4, Figure 2", "analysis.safe_nodes")
def _() -> Answer:
    """safe nodes, with a parent in the interior, are the leaves of a pruning"""

    def has_printed(tree: Tree) -> bool:
        inside = analysis.fringe(tree)
        return bool((inside[1:] & ~inside[tree.parent[1:]]).any())

    trees = [case.tree for case in cases(4)]
    return (
        f"{N_TREES} random trees",
        (f"root in the fringe, no safe node: {told(tree)}" for tree in trees if not has_printed(tree)),
        "the root is safe if it is in the fringe",
        (told(tree) for tree in trees if frozenset(analysis.safe_nodes(tree).tolist()) not in prunings(tree)),
    )


IN_FRINGE = "random trees, the root safe if it is in the fringe"


@each(5, "Theorem 4", "analysis.safe_nodes, pruners.reduced_error", IN_FRINGE, n_trees=4 * N_TREES, most_tests=6)
def _(one: Case) -> object:
    """one leaf is left if and only if all safe nodes are cut and share the majority class"""
    found, safe = reduced_error(one.tree, one.grown, one.held, labels="prune"), analysis.safe_nodes(one.tree)
    counts = one.held.by_class[safe]
    agree = (counts == counts.max(axis=1, keepdims=True)).all(axis=0).any()
    is_cut = not (found.is_kept & ~found.is_leaf)[safe].any()
    return (found.n_leaves == 1) == (is_cut and agree)


def _tail(m: int, q: float, h: float) -> float:
    return sum(math.comb(m, x) * q**x * (1 - q) ** (m - x) for x in range(max(0, math.ceil(h)), m + 1))


def _phi(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


@at("Lemma 5", "statistics.tails")
def _() -> Answer:
    """Slud: Pr[X >= h] >= 1 - Phi((h - mq) / sqrt(mq(1 - q))) for mq <= h <= m(1 - q)"""

    def wrong(step: float) -> Iterator[str]:
        for m, q in product(range(1, 41), (0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5)):
            for h in np.arange(math.ceil(m * q / step) * step, m * (1 - q) + 1e-9, step):
                claimed = 1 - _phi((h - m * q) / math.sqrt(m * q * (1 - q)))
                if _tail(m, q, h) < claimed - 1e-12:
                    yield f"m = {m}, q = {q:g}, h = {h:g}: {_tail(m, q, h):.4f} < {claimed:.4f}"

    return "m up to 40, seven q", wrong(0.5), "for whole h (the text applies it to h = n/2)", wrong(1.0)


@at("Inequality 1", "analysis.printed_bound_general")
def _() -> Answer:
    """Pr[X > n/2] >= 1 - Phi((p - 1/2) n / sqrt(n p (1 - p)))"""
    below = 1 - _phi(0.1 * 2 / math.sqrt(2 * 0.24))
    text = f"Pr[X > 1] = {_tail(2, 0.4, 2):.4f}, claimed at least {below:.4f}: ties are lost"
    return "n = 2, p = 0.6", unless(_tail(2, 0.4, 2) >= below, text)


@at("Equation 2", "analysis.printed_bound_general, valid_bound_general")
def _() -> Answer:
    """the probability of one leaf is at most Phi(...)^(k/2)"""
    exact, printed = analysis.one_leaf_probability([2] * 10, 0.6), analysis.printed_bound_general(20, 10, 0.6)

    def is_valid(n: int, k: int, p: float) -> bool:
        even = [n // k + (i < n % k) for i in range(k)]
        return analysis.valid_bound_general(n, k, p) >= analysis.one_leaf_probability(even, p) - 1e-12

    settings = product((12, 20, 30), (3, 5, 10), (0.55, 0.6, 0.8))
    still = (f"n = {n}, k = {k}, p = {p}" for n, k, p in settings if not is_valid(n, k, p))
    shown = unless(exact <= printed, f"ten safe nodes of two examples, p = 0.6: {exact:.4f} > {printed:.4f}")
    return "27 settings", shown, "with the largest Pr[Bin(j, 1 - p) <= j/2], j <= r, in place of Phi", still


@at("section 5.2", "analysis.printed_bound_general")
def _() -> Answer:
    """equation 2 falls exponentially with k at constant r, and the more the closer p is to 1/2"""
    rates = [math.log(analysis.printed_bound_general(5 * k, k, 0.6)) / k for k in (10, 20, 40)]
    by_p = [analysis.printed_bound_general(100, 20, p) for p in (0.55, 0.6, 0.7, 0.8)]
    wrong = unless(max(rates) - min(rates) < 1e-9 and by_p == sorted(by_p), str(rates))
    return "log of the bound over k; four p", wrong


@at("Theorem 6, Equation 3", "analysis.expected_noise_leaves")
def _() -> Answer:
    """a tree that fits noise on one attribute has 2(t - 1)p(1 - p) + 1 leaves on average"""
    p, t = 0.3, 8
    exact = sum(
        p ** sum(y) * (1 - p) ** (t - sum(y)) * (1 + sum(a != b for a, b in pairwise(y)))
        for y in product((0, 1), repeat=t)
    )
    random = np.random.default_rng(6)
    samples = [(random.random(60) < p).astype(int) for _ in range(40)]
    more = [
        grow(np.arange(60.0)[:, None], y)[0].n_leaves - 1 - int((y[1:] != y[:-1]).sum())
        for y in samples
        if 0 < y.sum() < 60
    ]
    broken = unless(abs(exact - analysis.expected_noise_leaves(t, p)) < 1e-12, f"{exact}")
    return "all 256 labellings of 8 examples; 40 trees grown with gini", broken or [f"{n} more" for n in more if n]


@at("sections 5.3 and 5.4", "analysis.noise_growth_experiment; secateur reproduce rep-analysis")
def _() -> Answer:
    """conjecture: the number of safe nodes grows in proportion to the leaves"""
    found = analysis.noise_growth_experiment([250, 4_000], 0.7, grow=grow, count=count, repeats=5, seed=0)
    leaves, safe = found.grown_leaves.mean(axis=1), found.safe_nodes.mean(axis=1)
    text = f"one attribute, gini: leaves {leaves[0]:.0f} to {leaves[1]:.0f}, safe nodes {safe[0]:.1f} to {safe[1]:.1f}"
    wrong = unless(safe[1] >= 8 * safe[0], text)
    return "250 and 4,000 examples; with several attributes they do grow, see the experiment", wrong


@at("section 5.3", "analysis.noise_growth_experiment")
def _() -> Answer:
    """pruned trees grow linearly with the sample when classes are noise"""
    made = analysis.noise_growth_experiment([500, 1_000, 2_000], 0.6, grow=grow, count=count, repeats=5, seed=1)
    found = made.pruned_leaves.mean(axis=1)
    wrong = unless(1.5 < found[1] / found[0] < 2.7 and 1.5 < found[2] / found[1] < 2.7, str(found))
    return f"leaves after pruning {found.tolist()} of 500, 1,000, 2,000 examples", wrong


@at("Equation 4", "analysis.printed_safe_nodes_at_most, expected_safe_nodes_at_most")
def _() -> Answer:
    """about k Phi(...) safe nodes receive at most cn/k examples"""
    made = (analysis.printed_safe_nodes_at_most, analysis.expected_safe_nodes_at_most)
    printed, exact = (of(500, 100, 1) for of in made)
    text = unless(abs(printed - exact) <= 5, f"n = 500, k = 100, c = 1: {printed:.1f}, exactly {exact:.1f}")
    brute = sum(100 * math.comb(500, j) * 0.01**j * 0.99 ** (500 - j) for j in range(6))
    return "the setting of Figure 3", text, "the binomial itself", unless(abs(brute - exact) < 1e-9, f"{brute}")


def _occupancies(n: int, k: int) -> np.ndarray:
    """Every way to throw n balls into k bins: how many are in each."""
    return np.array([np.bincount(where, minlength=k) for where in product(range(k), repeat=n)])


def _strays(values: np.ndarray, x: float, bound: float) -> bool:
    return bool((abs(values - values.mean()) >= x).mean() > bound + 1e-12)


@search(
    "Theorem 7",
    "analysis.expected_empty, printed_empty, deviation_empty",
    "every way to throw 4 to 6 balls into 3 to 5 bins",
)
def _() -> Iterator[str]:
    """expected number of empty bins, and the bound on its deviation"""
    for n, k in ((6, 3), (5, 4), (4, 5)):
        empty, mean = (_occupancies(n, k) == 0).sum(axis=1), analysis.expected_empty(n, k)
        if abs(empty.mean() - mean) > 1e-9 or analysis.printed_empty(n, k) < mean:
            yield f"n = {n}, k = {k}: mean {empty.mean()}"
        for x in (0.5, 1, 1.5, 2, 3):
            if _strays(empty, x, analysis.deviation_empty(n, k, x)):
                yield f"n = {n}, k = {k}, x = {x}"


@at("Equation 5", "analysis.printed_bound_uniform, one_leaf_probability_uniform")
def _() -> Answer:
    """the probability of one leaf is at most Phi(...)^P, P replaced by its mean"""
    printed = analysis.printed_bound_uniform(500, 100, 0.6)
    exact = analysis.one_leaf_probability_uniform(500, 100, 0.6)
    wrong = unless(printed >= exact, f"{printed:.1e} < {exact:.1e}, the exact probability; a^P is convex in P")
    return "n = 500, k = 100, p = 0.6, the best c", wrong


@search("section 6", "analysis.one_leaf_probability", "all occupancies of 3 settings")
def _() -> Iterator[str]:
    """the best case for the bound puts one example into every safe node but one"""
    for n, k, p in ((9, 3, 0.6), (10, 4, 0.7), (9, 3, 0.9)):
        options = [sorted(s) for s in product(range(1, n), repeat=k) if sum(s) == n]
        least = min(options, key=lambda s: analysis.one_leaf_probability(s, p))
        if least[:-1] != [1] * (k - 1):
            yield f"n = {n}, k = {k}, p = {p}: {least}"


@at("section 6.1, Figure 3", "analysis.best_c; secateur reproduce rep-analysis --figure 3")
def _() -> Answer:
    """the strictest bound has c around 1.0 to 1.5; the bound climbs steeply from p = 0.75"""
    best = {p: analysis.best_c(500, 100, p) for p in (0.6, 0.7, 0.75, 0.8)}
    bounds = analysis.printed_bound_uniform(500, 100, [0.75, 0.8])
    outside = [f"p = {p}: best c = {c}" for p, c in best.items() if not 1.0 <= c <= 1.5]
    is_so = 20 * bounds[0] < bounds[1] and outside == ["p = 0.6: best c = 1.72"]
    return f"best c {best}", outside, "for p from 0.7 to 0.8", unless(is_so, "elsewhere")


@search(
    "section 6.2, Theorem 8",
    "analysis.deviation_at_most, deviation_empty, deviation_counted",
    "every way to throw 5 or 6 balls; the second term of P is not needed",
)
def _() -> Iterator[str]:
    """deviations of Q, R and P from their means, by McDiarmid's inequality"""
    for n, k, c in ((6, 3, 1.0), (5, 4, 1.5)):
        thrown = _occupancies(n, k)
        small = (thrown <= c * n / k).sum(axis=1)
        counted = small - (thrown == 0).sum(axis=1)
        for x in (0.5, 1, 2, 3):
            bound = analysis.deviation_counted(n, x)
            if _strays(small, x, analysis.deviation_at_most(n, x)) or _strays(counted, x, bound):
                yield f"n = {n}, k = {k}, x = {x}"
            if bound > analysis.printed_deviation_counted(n, k, x) + 1e-12:
                yield f"printed below ours at n = {n}, x = {x}"


@at("section 3", "analysis.earlier_pruning_probability")
def _() -> Answer:
    """earlier model: likely cut before anything below is, and ever less with the depth of the first leaves"""
    before = [analysis.earlier_pruning_probability(n, 0.7) for n in (10, 100, 1_000)]
    deep = [analysis.earlier_pruning_probability(200, 0.7, depth=d) for d in range(7)]
    wrong = unless(min(before) > 0.5 and before == sorted(before) and deep == sorted(deep, reverse=True))
    return f"before {before[0]:.2f} to {before[2]:.2f}; depth 0 to 6: {deep[0]:.2f} to {deep[-1]:.1e}", wrong


@at("sections 7 and 8", "analysis.rep_noise_experiment(relabel=True)")
def _() -> Answer:
    """with original leaves relabelled, the analysis applies with leaves in place of safe nodes"""
    one = analysis.rep_noise_experiment(60, 8, 0.7, repeats=600, seed=0, relabel=True, shape="random")
    wrong = unless(one.low <= one.exact <= one.high, str(one))
    return f"{one.frequency:.3f} of 600 trees, exactly {one.exact:.3f}", wrong


@at("section 8", "")
def _() -> Answer:
    """a unified analysis of pruning algorithms may be impossible"""
    return "an opinion"
