"""Garcia-Moratilla, Martinez-Munoz and Suarez, Evaluation of Pruning with Subadditive Penalties (2006)."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from ... import datasets
from ...nouns.counts import Counts
from ...nouns.tree import Tree
from ...pruners import best_of_size, cost_complexity, printed_cost_complexity
from ...routing import count
from ...selection import choose, cross_validate
from ._claim import Book
from ._small import N_TREES, cases, cost_of, prunings, told

BOOK = Book("subadditive")


def _bumpy(sizes: Any) -> Any:
    """Strictly rising and subadditive, not concave: 1, 1.9, 2, then 2 more for every three leaves."""
    before, at = np.divmod(np.asarray(sizes, int) - 1, 3)
    return 2.0 * before + np.array([1.0, 1.9, 2.0])[at]


@BOOK.claim(
    "Equations 1 and 2",
    "each tree of the family minimises cost + alpha * penalty between two rising thresholds",
    "pruners.cost_complexity",
)
def _() -> Any:
    def wrong() -> Iterator[str]:
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

    return f"{N_TREES} random trees, all prunings listed", wrong()


@BOOK.claim(
    "Equation 3",
    "the families of additive and of subadditive penalties are unique and nested",
    "pruners.cost_complexity (nested)",
)
def _() -> Any:
    def wrong(penalty: Any) -> Iterator[str]:
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


@BOOK.claim(
    "section 2", "the family of a subadditive penalty is a subset of the additive family", "pruners.cost_complexity"
)
def _() -> Any:
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    counts = Counts.from_leaves(tree, [[2, 1], [0, 2], [2, 0], [0, 1]])
    linear, bumpy = (cost_complexity(tree, counts, penalty=p).n_leaves.tolist() for p in ("leaves", _bumpy))

    def still() -> Iterator[str]:
        for tree, grown, _ in cases(3, 2 * N_TREES):
            inside = {one.is_leaf.tobytes() for one in cost_complexity(tree, grown)}
            for penalty in ("sqrt", "log"):
                if any(one.is_leaf.tobytes() not in inside for one in cost_complexity(tree, grown, penalty=penalty)):
                    yield told(tree, grown)

    shown = (
        [f"penalty 1, 1.9, 2, 3, ... on {told(tree, counts)}: sizes {bumpy}, additive {linear}"]
        if not set(bumpy) <= set(linear)
        else []
    )
    return f"{2 * N_TREES} random trees", shown, "for concave penalties", still()


@BOOK.claim(
    "Figure 1", "the listing finds the pruning of least cost of every size, for binary trees", "pruners.best_of_size"
)
def _() -> Any:
    def wrong() -> Iterator[str]:
        for tree, grown, _ in cases(4, arity=2):
            errors = grown.errors_if_leaf(grown.majority)
            best = best_of_size(tree, grown)
            for n, e in zip(best.n_leaves.tolist(), best.errors.tolist(), strict=True):
                if e != min(cost_of(x, errors) for x in prunings(tree) if len(x) == n):
                    yield told(tree, grown)

    return f"{N_TREES} binary trees, all prunings listed; its loop limit reads min(|T_l|, k - 1)", wrong()


@BOOK.claim(
    "Figure 2", "the listing finds the family, with strictly rising thresholds", "pruners.printed_cost_complexity"
)
def _() -> Any:
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
        [shown] if len(printed) > len(ours) else [],
        "of equal ratios the smallest tree",
        still(),
    )


@BOOK.claim(
    "section 3, step 4",
    "1SE takes the smallest tree with an error below the least error plus one standard error",
    "selection.choose",
)
def _() -> Any:
    error, se = np.array([0.1, 0.0, 0.2]), np.array([0.03, 0.0, 0.04])
    below = np.flatnonzero(error < error.min() + se[error.argmin()]).tolist()
    found = choose(error, se, 1.0)[1]
    return (
        "a least error of 0",
        [] if below else ["with a least error of 0 nothing is below it"],
        '"<=" in place of "<"',
        [] if found == 1 else [str(found)],
    )


@cache
def _choices(name: str, penalty: Any) -> list[Any]:
    make = datasets.led24 if name == "led24" else datasets.waveform
    return [cross_validate(make(200, seed=i), penalty=penalty, select="0se", random_state=i) for i in range(12)]


def _same(name: str, penalty: Any) -> int:
    pairs = zip(_choices(name, penalty), _choices(name, "leaves"), strict=True)
    return sum(a.pruning.n_leaves == b.pruning.n_leaves for a, b in pairs)


@BOOK.claim(
    "section 3, Table 3",
    "families are smaller under the square root, and both penalties choose the same tree mostly",
    "secateur reproduce subadditive --figure 'table 3'",
)
def _() -> Any:
    pairs = zip(_choices("led24", "sqrt"), _choices("led24", "leaves"), strict=True)
    smaller = [len(a.sequence) <= len(b.sequence) for a, b in pairs]
    same = _same("led24", "sqrt")
    return (
        f"12 draws of led24: same tree {same} times; 1,000 runs in the experiment, where two counts differ unexplained",
        [] if all(smaller) and same >= 6 else [f"{same} of 12"],
    )


@BOOK.claim(
    "section 4, Table 2",
    "no systematic difference in test error between the two penalties",
    "secateur reproduce subadditive --figure 'table 2'",
)
def _() -> Any:
    gaps = []
    for i, (a, b) in enumerate(zip(_choices("led24", "sqrt"), _choices("led24", "leaves"), strict=True)):
        fresh = count(a.tree, datasets.led24(2_000, seed=1_000 + i), sample="test")
        other = count(b.tree, datasets.led24(2_000, seed=1_000 + i), sample="test")
        gaps.append(float(a.pruning.errors(fresh) / fresh.total[0] - b.pruning.errors(other) / other.total[0]))
    spread = float(np.std(gaps, ddof=1) / np.sqrt(len(gaps)))
    return f"12 draws of led24: {100 * np.mean(gaps):.2f} +- {100 * spread:.2f} points", [] if abs(
        np.mean(gaps)
    ) <= 3 * spread + 1e-12 else ["no"]


@BOOK.claim(
    "section 4",
    "the conclusion should hold for other subadditive penalties",
    "secateur reproduce subadditive (table third)",
)
def _() -> Any:
    same = _same("waveform", "log")
    text = f"logarithm: the same tree as with the additive penalty in {same} of 12 draws of waveform"
    return f"the square root: {_same('waveform', 'sqrt')} of 12; test errors are in the experiment", [
        text
    ] if same < 6 else []


BOOK.uncheckable(
    "section 3",
    "sizes are printed without saying whether they are nodes or leaves",
    "secateur reproduce subadditive",
    "as nodes they agree with ours within 6 %, as leaves they would be half",
)
