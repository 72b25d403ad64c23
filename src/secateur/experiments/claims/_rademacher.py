"""Kaariainen, Malinen and Elomaa, Selective Rademacher Penalization and REP of Decision Trees (2004)."""

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from ... import datasets
from ...certifiers import draw_signs, rademacher, rademacher_over_k, signed_extremes
from ...growers import grow
from ...nouns import Counts, Tree
from ...pruners import k_limit, k_reduced_error, reduced_error
from ...routing import count
from ._claim import Answer, Book, at, search, unless
from ._small import N_TREES, cases, cost_of, prunings, told

BOOK = Book("rademacher")
ENUMERATED = f"{N_TREES} random trees, all prunings listed"
STUMP = Tree.from_parents([-1, 0, 0])


@BOOK.claim("E sup |error - sample error| <= 2 E R_n")
@at("Theorem 1", "certifiers.rademacher")
def _() -> Answer:
    chances = np.array(
        [[0.4, 0.1], [0.2, 0.3]]
    )  # of (leaf, class); three hypotheses: the leaves' labels, and one label
    rules = [(0, 1), (0, 0), (1, 1)]
    n = 3
    gap = penalty = 0.0
    for rows in product(product((0, 1), (0, 1)), repeat=n):
        chance = math.prod(chances[row] for row in rows)
        losses = np.array([[float(rule[leaf] != y) for leaf, y in rows] for rule in rules])
        truth = np.array(
            [sum(chances[leaf, y] * (rule[leaf] != y) for leaf in (0, 1) for y in (0, 1)) for rule in rules]
        )
        gap += chance * abs(truth - losses.mean(axis=1)).max()
        signs = np.array(list(product((-1, 1), repeat=n)))
        penalty += chance * abs(losses @ signs.T / n).max(axis=0).mean()
    return (
        f"a stump, every sample of 3 rows and every sign: {gap:.4f} <= {2 * penalty:.4f}",
        unless(gap <= 2 * penalty, "no"),
    )


@BOOK.claim("error <= sample error + 2 R + 5 sqrt(ln(2/delta) / 2n) with probability 1 - delta")
@at("Lemma 3, Inequalities 1 to 3", "certifiers.rademacher(form='printed')")
def _() -> Answer:
    random = np.random.default_rng(1)
    grown = Counts.from_leaves(STUMP, [[60, 40], [30, 70]])
    worst = []
    for _ in range(300):
        held = Counts.from_leaves(STUMP, random.multinomial(80, (0.3, 0.2, 0.15, 0.35)).reshape(2, 2), sample="prune")
        pruning = reduced_error(STUMP, grown, held)
        truth = 0.35 if pruning.n_leaves == 2 else 0.45  # the single leaf says class 1
        printed, centred = (
            rademacher(STUMP, grown, held, form=form, delta=0.1, pruning=pruning, rng=random)
            for form in ("printed", "centred")
        )
        worst.append((printed.details["unclipped"] < truth, centred.details["unclipped"] < truth))
    failed = np.sum(worst, axis=0)
    text = (
        f"300 samples at delta = 0.1: failed {failed[0]} times; centred, with constant 3 and ln(1/delta), {failed[1]}"
    )
    return text, unless(max(failed) <= 45, str(failed))


@BOOK.claim("R from two minimisations of the error on relabelled examples, complement classes for several")
@search("section 2", "certifiers.signed_extremes", "60 trees of three classes, all prunings listed")
def _() -> Iterator[str]:
    random = np.random.default_rng(2)
    for tree, grown, held in cases(2, 60, n_classes=3, most_tests=3):
        signs = draw_signs(held, random)
        sums = [sum(int(signs[v].sum() - signs[v, grown.majority[v]]) for v in leaves) for leaves in prunings(tree)]
        if signed_extremes(tree, grown, signs) != (max(sums), min(sums)):
            yield told(tree, grown, held)


@BOOK.claim("reduced error pruning minimises the sample error over all prunings")
@search("section 3", "pruners.reduced_error", ENUMERATED)
def _() -> Iterator[str]:
    for tree, grown, held in cases(3):
        errors = held.errors_if_leaf(grown.majority)
        if reduced_error(tree, grown, held).errors(held) != min(cost_of(leaves, errors) for leaves in prunings(tree)):
            yield told(tree, grown, held)


@BOOK.claim("the penalty of the prunings within k growing errors is not larger")
@search("section 3.1", "certifiers.rademacher(k=...)", f"{N_TREES} random trees")
def _() -> Iterator[str]:
    random = np.random.default_rng(4)
    for tree, grown, held in cases(4):
        signs = draw_signs(held, random)
        (high, low), (above, below) = (signed_extremes(tree, grown, signs, k=k) for k in (None, k_limit(grown)))
        if high - low < above - below:
            yield told(tree, grown, held)


@BOOK.claim("choosing k by its bound costs more than one fortunate choice")
@at("section 3.1", "certifiers.rademacher_over_k; secateur reproduce rademacher")
def _() -> Answer:
    growing, pruning = datasets.split(datasets.tic_tac_toe(), 2 / 3, 1 / 3)
    tree, grown = grow(growing, criterion="gain_ratio")
    held = count(tree, pruning)
    ks = sorted({k_limit(grown, factor=c) for c in (1, 1.1, 1.5, 2, 3)})
    chosen = rademacher_over_k(tree, grown, held, ks=ks, rng=0).details["unclipped"]
    single = min(rademacher(tree, grown, held, k=k, rng=0).details["unclipped"] for k in ks)
    return (
        f"tic-tac-toe: {chosen:.3f} chosen among {len(ks)}, {single:.3f} the best alone",
        unless(chosen > single, "no"),
    )


def _two_keys(tree: Tree, grown: Counts, held: Counts, k: int) -> tuple[list[tuple[float, int]], bool]:
    """(pruning error, leaves) within k growing errors; whether the printed definition is met by one of them."""
    by_grow, by_prune = (counts.errors_if_leaf(grown.majority) for counts in (grown, held))
    every = [(cost_of(one, by_grow), cost_of(one, by_prune), len(one)) for one in prunings(tree)]
    inside = [(error, size) for growing, error, size in every if growing <= k]
    least = min((error for error, _ in inside), default=None)
    smallest = min((size for _, error, size in every if error == least), default=None)
    return inside, (least, smallest) in inside


@BOOK.claim("a k-optimal pruning exists whenever some pruning makes at most k growing errors")
@at("Definition 4", "pruners.k_reduced_error")
def _() -> Answer:
    grown = Counts.from_leaves(STUMP, [[1, 0], [0, 1]])
    held = Counts.from_leaves(STUMP, [[0, 0], [0, 0]], sample="prune")
    _, is_met = _two_keys(STUMP, grown, held, 0)

    def still() -> Iterator[str]:
        for tree, grown, held in cases(5):
            for k in range(k_limit(grown, factor=1), int(grown.errors_if_leaf(grown.majority)[0]) + 1):
                found = k_reduced_error(tree, grown, held, k=k)
                if (found.errors(held), found.n_leaves) != min(_two_keys(tree, grown, held, k)[0]):
                    yield told(tree, grown, held)

    shown = unless(is_met, "two pure leaves, no pruning example, k = 0: the smaller tree lies outside the class")
    return ENUMERATED, shown, "the size is minimised within the class", still()


@BOOK.claim("an optimal pruning that keeps the root splits into optimal parts for u + v = k")
@search(
    "Theorem 5, Algorithm 6",
    "pruners.k_reduced_error_path",
    f"{N_TREES} binary trees, the definition corrected as above",
)
def _() -> Iterator[str]:
    for tree, grown, held in cases(6, arity=2, most_tests=4):
        by_grow, by_prune = (counts.errors_if_leaf(grown.majority) for counts in (grown, held))
        sides = [prunings(tree, c) for c in np.flatnonzero(tree.parent == 0).tolist()]
        for k in range(k_limit(grown, factor=1), int(by_grow[0]) + 1):
            best = min(_two_keys(tree, grown, held, k)[0])
            for left, right in product(*sides):
                spent = [int(cost_of(side, by_grow)) for side in (left, right)]
                key = (cost_of(left | right, by_prune), len(left | right))
                if sum(spent) > k or key != best:
                    continue
                for u in range(spent[0], k - spent[1] + 1):  # every division that covers both parts
                    for side, part, budget in ((sides[0], left, u), (sides[1], right, k - u)):
                        keys = [(cost_of(x, by_prune), len(x)) for x in side if cost_of(x, by_grow) <= budget]
                        if (cost_of(part, by_prune), len(part)) != min(keys):
                            yield told(tree, grown, held)


@BOOK.claim("an algorithm for the other labellings could be derived")
@search(
    "section 4",
    "pruners.k_reduced_error(labelled=True), certifiers.rademacher(labels='prune', k=...)",
    "60 trees, all prunings and labels listed",
)
def _() -> Iterator[str]:
    for tree, grown, held in cases(8, 60, most_tests=3):
        k = k_limit(grown, factor=1) + 1
        labels = range(2)
        best = min(
            (
                sum(int(held.total[v] - held.by_class[v, c]) for v, c in zip(leaves, chosen, strict=True)),
                len(leaves),
            )
            for leaves in map(sorted, prunings(tree))
            for chosen in product(labels, repeat=len(leaves))
            if sum(int(grown.total[v] - grown.by_class[v, c]) for v, c in zip(leaves, chosen, strict=True)) <= k
        )
        found = k_reduced_error(tree, grown, held, k=k, labelled=True)
        if (found.errors(held), found.n_leaves) != best:
            yield told(tree, grown, held)
