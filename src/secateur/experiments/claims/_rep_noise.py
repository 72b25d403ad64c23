"""Elomaa and Kaariainen (2001), sections 3 and 5 to 8: how likely noise is pruned to one leaf."""

import math
from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np

from ...analysis import (
    best_c,
    deviation_at_most,
    deviation_counted,
    deviation_empty,
    earlier_pruning_probability,
    expected_empty,
    expected_noise_leaves,
    expected_safe_nodes_at_most,
    noise_growth_experiment,
    one_leaf_probability,
    one_leaf_probability_uniform,
    printed_bound_general,
    printed_bound_uniform,
    printed_deviation_counted,
    printed_empty,
    printed_safe_nodes_at_most,
    rep_noise_experiment,
    valid_bound_general,
)
from ...growers import grow
from ...routing import count
from ._claim import Answer, Book, at, search, unless

BOOK = Book("rep-analysis")


def _tail(m: int, q: float, h: float) -> float:
    return sum(math.comb(m, x) * q**x * (1 - q) ** (m - x) for x in range(max(0, math.ceil(h)), m + 1))


def _phi(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


@BOOK.claim("Slud: Pr[X >= h] >= 1 - Phi((h - mq) / sqrt(mq(1 - q))) for mq <= h <= m(1 - q)")
@at("Lemma 5", "statistics.tails")
def _() -> Answer:
    def wrong(step: float) -> Iterator[str]:
        for m, q in product(range(1, 41), (0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5)):
            for h in np.arange(math.ceil(m * q / step) * step, m * (1 - q) + 1e-9, step):
                claimed = 1 - _phi((h - m * q) / math.sqrt(m * q * (1 - q)))
                if _tail(m, q, h) < claimed - 1e-12:
                    yield f"m = {m}, q = {q:g}, h = {h:g}: {_tail(m, q, h):.4f} < {claimed:.4f}"

    return "m up to 40, seven q", wrong(0.5), "for whole h (the text applies it to h = n/2)", wrong(1.0)


@BOOK.claim("Pr[X > n/2] >= 1 - Phi((p - 1/2) n / sqrt(n p (1 - p)))")
@at("Inequality 1", "analysis.printed_bound_general")
def _() -> Answer:
    below = 1 - _phi(0.1 * 2 / math.sqrt(2 * 0.24))
    text = f"Pr[X > 1] = {_tail(2, 0.4, 2):.4f}, claimed at least {below:.4f}: ties are lost"
    return "n = 2, p = 0.6", unless(_tail(2, 0.4, 2) >= below, text)


@BOOK.claim("the probability of one leaf is at most Phi(...)^(k/2)")
@at("Equation 2", "analysis.printed_bound_general, valid_bound_general")
def _() -> Answer:
    exact, printed = one_leaf_probability([2] * 10, 0.6), printed_bound_general(20, 10, 0.6)
    settings = [(n, k, p) for n, k, p in product((12, 20, 30), (3, 5, 10), (0.55, 0.6, 0.8)) if n >= k]
    still = (
        f"n = {n}, k = {k}, p = {p}"
        for n, k, p in settings
        if valid_bound_general(n, k, p) < one_leaf_probability([n // k + (i < n % k) for i in range(k)], p) - 1e-12
    )
    shown = unless(exact <= printed, f"ten safe nodes of two examples, p = 0.6: {exact:.4f} > {printed:.4f}")
    return "27 settings", shown, "with the largest Pr[Bin(j, 1 - p) <= j/2], j <= r, in place of Phi", still


@BOOK.claim("equation 2 falls exponentially with k at constant r, and the more the closer p is to 1/2")
@at("section 5.2", "analysis.printed_bound_general")
def _() -> Answer:
    rates = [math.log(printed_bound_general(5 * k, k, 0.6)) / k for k in (10, 20, 40)]
    by_p = [printed_bound_general(100, 20, p) for p in (0.55, 0.6, 0.7, 0.8)]
    wrong = unless(max(rates) - min(rates) < 1e-9 and by_p == sorted(by_p), str(rates))
    return "log of the bound over k; four p", wrong


@BOOK.claim("a tree that fits noise on one attribute has 2(t - 1)p(1 - p) + 1 leaves on average")
@at("Theorem 6, Equation 3", "analysis.expected_noise_leaves")
def _() -> Answer:
    p, t = 0.3, 8
    exact = sum(
        p ** sum(y) * (1 - p) ** (t - sum(y)) * (1 + sum(a != b for a, b in pairwise(y)))
        for y in product((0, 1), repeat=t)
    )
    random = np.random.default_rng(6)
    sizes = []
    for _ in range(40):
        y = (random.random(60) < p).astype(int)
        if 0 < y.sum() < 60:
            sizes.append(grow(np.arange(60.0)[:, None], y)[0].n_leaves - 1 - int((y[1:] != y[:-1]).sum()))
    broken = unless(abs(exact - expected_noise_leaves(t, p)) < 1e-12, f"{exact}")
    still = [f"{size} more" for size in sizes if size]
    return "all 256 labellings of 8 examples; 40 trees grown with gini", broken or still


@BOOK.claim("conjecture: the number of safe nodes grows in proportion to the leaves")
@at("sections 5.3 and 5.4", "analysis.noise_growth_experiment; secateur reproduce rep-analysis")
def _() -> Answer:
    found = noise_growth_experiment([250, 4_000], 0.7, grow=grow, count=count, repeats=5, seed=0)
    leaves, safe = found.grown_leaves.mean(axis=1), found.safe_nodes.mean(axis=1)
    text = f"one attribute, gini: leaves {leaves[0]:.0f} to {leaves[1]:.0f}, safe nodes {safe[0]:.1f} to {safe[1]:.1f}"
    wrong = unless(safe[1] >= 8 * safe[0], text)
    return "250 and 4,000 examples; with several attributes they do grow, see the experiment", wrong


@BOOK.claim("pruned trees grow linearly with the sample when classes are noise")
@at("section 5.3", "analysis.noise_growth_experiment")
def _() -> Answer:
    found = noise_growth_experiment(
        [500, 1_000, 2_000], 0.6, grow=grow, count=count, repeats=5, seed=1
    ).pruned_leaves.mean(axis=1)
    wrong = unless(1.5 < found[1] / found[0] < 2.7 and 1.5 < found[2] / found[1] < 2.7, str(found))
    return f"leaves after pruning {found.tolist()} of 500, 1,000, 2,000 examples", wrong


@BOOK.claim("about k Phi(...) safe nodes receive at most cn/k examples")
@at("Equation 4", "analysis.printed_safe_nodes_at_most, expected_safe_nodes_at_most")
def _() -> Answer:
    printed, exact = printed_safe_nodes_at_most(500, 100, 1), expected_safe_nodes_at_most(500, 100, 1)
    text = unless(abs(printed - exact) <= 5, f"n = 500, k = 100, c = 1: {printed:.1f}, exactly {exact:.1f}")
    brute = sum(100 * math.comb(500, j) * 0.01**j * 0.99 ** (500 - j) for j in range(6))
    return "the setting of Figure 3", text, "the binomial itself", unless(abs(brute - exact) < 1e-9, f"{brute}")


def _occupancies(n: int, k: int) -> Iterator[np.ndarray]:
    for where in product(range(k), repeat=n):
        yield np.bincount(where, minlength=k)


@BOOK.claim("expected number of empty bins, and the bound on its deviation")
@search(
    "Theorem 7",
    "analysis.expected_empty, printed_empty, deviation_empty",
    "every way to throw 4 to 6 balls into 3 to 5 bins",
)
def _() -> Iterator[str]:
    for n, k in ((6, 3), (5, 4), (4, 5)):
        empty = np.array([(one == 0).sum() for one in _occupancies(n, k)])
        if abs(empty.mean() - expected_empty(n, k)) > 1e-9 or printed_empty(n, k) < expected_empty(n, k):
            yield f"n = {n}, k = {k}: mean {empty.mean()}"
        for x in (0.5, 1, 1.5, 2, 3):
            if (abs(empty - empty.mean()) >= x).mean() > deviation_empty(n, k, x) + 1e-12:
                yield f"n = {n}, k = {k}, x = {x}"


@BOOK.claim("the probability of one leaf is at most Phi(...)^P, P replaced by its mean")
@at("Equation 5", "analysis.printed_bound_uniform, one_leaf_probability_uniform")
def _() -> Answer:
    printed, exact = printed_bound_uniform(500, 100, 0.6), one_leaf_probability_uniform(500, 100, 0.6)
    wrong = unless(printed >= exact, f"{printed:.1e} < {exact:.1e}, the exact probability; a^P is convex in P")
    return "n = 500, k = 100, p = 0.6, the best c", wrong


@BOOK.claim("the best case for the bound puts one example into every safe node but one")
@search("section 6", "analysis.one_leaf_probability", "all occupancies of 3 settings")
def _() -> Iterator[str]:
    for n, k, p in ((9, 3, 0.6), (10, 4, 0.7), (9, 3, 0.9)):
        options = [s for s in product(range(1, n), repeat=k) if sum(s) == n]
        least = min(options, key=lambda s: one_leaf_probability(list(s), p))
        if sorted(least)[:-1] != [1] * (k - 1):
            yield f"n = {n}, k = {k}, p = {p}: {sorted(least)}"


@BOOK.claim("the strictest bound has c around 1.0 to 1.5; the bound climbs steeply from p = 0.75")
@at("section 6.1, Figure 3", "analysis.best_c; secateur reproduce rep-analysis --figure 3")
def _() -> Answer:
    best = {p: best_c(500, 100, p) for p in (0.6, 0.7, 0.75, 0.8)}
    steep = 20 * printed_bound_uniform(500, 100, 0.75) < printed_bound_uniform(500, 100, 0.8)
    outside = [f"p = {p}: best c = {c}" for p, c in best.items() if not 1.0 <= c <= 1.5]
    return (
        f"best c {best}",
        outside,
        "for p from 0.7 to 0.8",
        unless(steep and outside == ["p = 0.6: best c = 1.72"], "elsewhere"),
    )


@BOOK.claim("deviations of Q, R and P from their means, by McDiarmid's inequality")
@search(
    "section 6.2, Theorem 8",
    "analysis.deviation_at_most, deviation_empty, deviation_counted",
    "every way to throw 5 or 6 balls; the second term of P is not needed",
)
def _() -> Iterator[str]:
    for n, k, c in ((6, 3, 1.0), (5, 4, 1.5)):
        small = np.array([(one <= c * n / k).sum() for one in _occupancies(n, k)])
        counted = small - np.array([(one == 0).sum() for one in _occupancies(n, k)])
        for x in (0.5, 1, 2, 3):
            for values, bound in ((small, deviation_at_most(n, x)), (counted, deviation_counted(n, x))):
                if (abs(values - values.mean()) >= x).mean() > bound + 1e-12:
                    yield f"n = {n}, k = {k}, x = {x}"
            if deviation_counted(n, x) > printed_deviation_counted(n, k, x) + 1e-12:
                yield f"printed below ours at n = {n}, x = {x}"


@BOOK.claim("earlier model: likely cut before anything below is, and ever less with the depth of the first leaves")
@at("section 3", "analysis.earlier_pruning_probability")
def _() -> Answer:
    before = [earlier_pruning_probability(n, 0.7) for n in (10, 100, 1_000)]
    deep = [earlier_pruning_probability(200, 0.7, depth=d) for d in range(7)]
    wrong = unless(min(before) > 0.5 and before == sorted(before) and deep == sorted(deep, reverse=True), "no")
    return f"before {before[0]:.2f} to {before[2]:.2f}; depth 0 to 6: {deep[0]:.2f} to {deep[-1]:.1e}", wrong


@BOOK.claim("with original leaves relabelled, the analysis applies with leaves in place of safe nodes")
@at("sections 7 and 8", "analysis.rep_noise_experiment(relabel=True)")
def _() -> Answer:
    one = rep_noise_experiment(60, 8, 0.7, repeats=600, seed=0, relabel=True, shape="random")
    wrong = unless(one.low <= one.exact <= one.high, str(one))
    return f"{one.frequency:.3f} of 600 trees, exactly {one.exact:.3f}", wrong


@BOOK.claim("a unified analysis of pruning algorithms may be impossible")
@at("section 8", "")
def _() -> Answer:
    return "an opinion"
