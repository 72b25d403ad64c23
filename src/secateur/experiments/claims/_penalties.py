"""Garcia-Moratilla, Martinez-Munoz and Suarez, Evaluation of Pruning with Subadditive Penalties (2006)."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np

from ... import datasets
from ...data.arrays import Array
from ...nouns import Counts, Selection, Tree
from ...pruners import best_of_size, cost_complexity, printed_cost_complexity
from ...routing import count
from ...selection import choose, cross_validate
from ._claim import Answer, Book, at, search, unless
from ._small import N_TREES, cases, cost_of, prunings, told

BOOK = Book("subadditive")
Named = Literal["leaves", "sqrt", "log"]


def _bumpy(sizes: Array) -> Array:
    """Strictly rising and subadditive, not concave: 1, 1.9, 2, then 2 more for every three leaves."""
    before, at = np.divmod(np.asarray(sizes, int) - 1, 3)
    return np.asarray(2.0 * before + np.array([1.0, 1.9, 2.0])[at])


@BOOK.claim("each tree of the family minimises cost + alpha * penalty between two rising thresholds")
@search("Equations 1 and 2", "pruners.cost_complexity", f"{N_TREES} random trees, all prunings listed")
def _() -> Iterator[str]:
    for tree, grown, _ in cases(1):
        errors = grown.errors_if_leaf(grown.majority)
        family = cost_complexity(tree, grown)
        assert family.alphas is not None
        if (np.diff(family.alphas) <= 0).any():
            yield told(tree, grown)
        for alpha, one in zip(family.alphas.tolist(), family, strict=True):
            least = min(cost_of(x, errors) + alpha * len(x) for x in prunings(tree))
            if one.cost(errors) + alpha * one.n_leaves > least + 1e-9:
                yield told(tree, grown)


@BOOK.claim("the families of additive and of subadditive penalties are unique and nested")
@at("Equation 3", "pruners.cost_complexity (nested)")
def _() -> Answer:
    def wrong(penalty: Named | Callable[[Array], Array]) -> Iterator[str]:
        for tree, grown, _ in cases(2, 2 * N_TREES):
            errors, every = grown.errors_if_leaf(grown.majority), prunings(tree)
            family = list(cost_complexity(tree, grown, penalty=penalty))
            for one in family[1:]:
                twins = sum(len(x) == one.n_leaves and cost_of(x, errors) == one.cost(errors) for x in every)
                if twins > 1:
                    yield f"penalty 1, 1.9, 2, 3, ...: {twins} trees of {one.n_leaves} leaves on {told(tree, grown)}"
            for large, small in pairwise(family):
                if (small.is_kept & ~large.is_kept).any():
                    yield f"penalty 1, 1.9, 2, 3, ...: not nested on {told(tree, grown)}"

    return (
        f"{2 * N_TREES} random trees, all prunings listed",
        wrong(_bumpy),
        "for concave penalties",
        [*wrong("sqrt"), *wrong("log")],
    )


@BOOK.claim("the family of a subadditive penalty is a subset of the additive family")
@at("section 2", "pruners.cost_complexity")
def _() -> Answer:
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    counts = Counts.from_leaves(tree, [[2, 1], [0, 2], [2, 0], [0, 1]])
    linear, bumpy = (cost_complexity(tree, counts, penalty=p).n_leaves.tolist() for p in ("leaves", _bumpy))

    def still() -> Iterator[str]:
        for tree, grown, _ in cases(3, 2 * N_TREES):
            inside = {one.is_leaf.tobytes() for one in cost_complexity(tree, grown)}
            for penalty in ("sqrt", "log"):
                if any(one.is_leaf.tobytes() not in inside for one in cost_complexity(tree, grown, penalty=penalty)):
                    yield told(tree, grown)

    shown = unless(
        set(bumpy) <= set(linear),
        f"penalty 1, 1.9, 2, 3, ... on {told(tree, counts)}: sizes {bumpy}, additive {linear}",
    )
    return f"{2 * N_TREES} random trees", shown, "for concave penalties", still()


@BOOK.claim("the listing finds the pruning of least cost of every size, for binary trees")
@search(
    "Figure 1",
    "pruners.best_of_size",
    f"{N_TREES} binary trees, all prunings listed; its loop limit reads min(|T_l|, k - 1)",
)
def _() -> Iterator[str]:
    for tree, grown, _ in cases(4, arity=2):
        errors = grown.errors_if_leaf(grown.majority)
        best = best_of_size(tree, grown)
        for n, e in zip(best.n_leaves.tolist(), best.errors.tolist(), strict=True):
            if e != min(cost_of(x, errors) for x in prunings(tree) if len(x) == n):
                yield told(tree, grown)


@BOOK.claim("the listing finds the family, with strictly rising thresholds")
@at("Figure 2", "pruners.printed_cost_complexity")
def _() -> Answer:
    tree = Tree.from_parents([-1, 0, 0, 2, 2])
    counts = Counts.from_leaves(tree, [[0, 1], [2, 0], [0, 1]])
    printed, ours = printed_cost_complexity(tree, counts), cost_complexity(tree, counts)
    assert printed.alphas is not None
    sizes = printed.n_leaves.tolist(), printed.alphas.tolist(), ours.n_leaves.tolist()
    shown = f"{told(tree, counts)}: sizes {sizes[0]} at {sizes[1]}, the family is {sizes[2]}"

    def still() -> Iterator[str]:
        for tree, grown, _ in cases(5):
            alphas = cost_complexity(tree, grown).alphas
            if alphas is None or (np.diff(alphas) <= 0).any():
                yield told(tree, grown)

    return (
        f"{N_TREES} random trees",
        unless(len(printed) <= len(ours), shown),
        "of equal ratios the smallest tree",
        still(),
    )


@BOOK.claim("1SE takes the smallest tree with an error below the least error plus one standard error")
@at("section 3, step 4", "selection.choose")
def _() -> Answer:
    error, se = np.array([0.1, 0.0, 0.2]), np.array([0.03, 0.0, 0.04])
    below = np.flatnonzero(error < error.min() + se[error.argmin()]).tolist()
    found = choose(error, se, 1.0)[1]
    return (
        "a least error of 0",
        unless(below, "with a least error of 0 nothing is below it"),
        '"<=" in place of "<"',
        unless(found == 1, str(found)),
    )


@cache
def _choices(name: str, penalty: Named) -> list[Selection]:
    make = datasets.led24 if name == "led24" else datasets.waveform
    return [cross_validate(make(200, seed=i), penalty=penalty, select="0se", random_state=i) for i in range(12)]


def _same(name: str, penalty: Named) -> int:
    pairs = zip(_choices(name, penalty), _choices(name, "leaves"), strict=True)
    return sum(a.pruning.n_leaves == b.pruning.n_leaves for a, b in pairs)


@BOOK.claim("families are smaller under the square root, and both penalties choose the same tree mostly")
@at("section 3, Table 3", "secateur reproduce subadditive --figure 'table 3'")
def _() -> Answer:
    pairs = zip(_choices("led24", "sqrt"), _choices("led24", "leaves"), strict=True)
    smaller = [len(a.sequence) <= len(b.sequence) for a, b in pairs]
    same = _same("led24", "sqrt")
    return (
        f"12 draws of led24: same tree {same} times; 1,000 runs in the experiment, where two counts differ unexplained",
        unless(all(smaller) and same >= 6, f"{same} of 12"),
    )


@BOOK.claim("no systematic difference in test error between the two penalties")
@at("section 4, Table 2", "secateur reproduce subadditive --figure 'table 2'")
def _() -> Answer:
    gaps = []
    for i, (a, b) in enumerate(zip(_choices("led24", "sqrt"), _choices("led24", "leaves"), strict=True)):
        fresh = count(a.tree, datasets.led24(2_000, seed=1_000 + i), sample="test")
        other = count(b.tree, datasets.led24(2_000, seed=1_000 + i), sample="test")
        gaps.append(float(a.pruning.errors(fresh) / fresh.total[0] - b.pruning.errors(other) / other.total[0]))
    spread = float(np.std(gaps, ddof=1) / np.sqrt(len(gaps)))
    wrong = unless(abs(np.mean(gaps)) <= 3 * spread + 1e-12, "no")
    return f"12 draws of led24: {100 * np.mean(gaps):.2f} +- {100 * spread:.2f} points", wrong


@BOOK.claim("the conclusion should hold for other subadditive penalties")
@at("section 4", "secateur reproduce subadditive (table third)")
def _() -> Answer:
    same = _same("waveform", "log")
    text = f"logarithm: the same tree as with the additive penalty in {same} of 12 draws of waveform"
    wrong = unless(same >= 6, text)
    return f"the square root: {_same('waveform', 'sqrt')} of 12; test errors are in the experiment", wrong


@BOOK.claim("sizes are printed without saying whether they are nodes or leaves")
@at("section 3", "secateur reproduce subadditive")
def _() -> Answer:
    return "as nodes they agree with ours within 6 %, as leaves they would be half"
