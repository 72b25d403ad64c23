"""Elomaa and Kaariainen, An Analysis of Reduced Error Pruning (2001)."""

from collections.abc import Iterator

import numpy as np

from ...analysis import fringe, safe_nodes
from ...data.arrays import Ints
from ...nouns import Counts, LabelRule, Pruning, Tree, leaf_labels
from ...pruners import iterative_reduced_error, reduced_error
from ._claim import Answer, Book, at, search, unless
from ._small import N_TREES, cases, cost_of, prunings, told

BOOK = Book("rep-analysis")
LABELS: tuple[LabelRule, ...] = ("grow", "prune", "both")
ENUMERATED = f"{N_TREES} random trees, all prunings listed"


def _figure_1() -> tuple[Tree, Counts, Counts]:
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    grown = Counts.from_leaves(tree, [[5, 0], [0, 2], [0, 3], [2, 0]])
    return tree, grown, Counts.from_leaves(tree, [[0, 1], [0, 1], [2, 0], [1, 0]], sample="prune")


@BOOK.claim("cutting the node that helps most, again and again, misses the best pruning")
@at("section 2.1", "pruners.iterative_reduced_error")
def _() -> Answer:
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    grown = Counts.from_leaves(tree, [[2, 0], [0, 1], [0, 3], [1, 0]])
    held = Counts.from_leaves(tree, [[0, 1], [2, 0], [0, 0], [0, 2]], sample="prune")
    found = [rule(tree, grown, held).errors(held) for rule in (iterative_reduced_error, reduced_error)]
    wrong = unless(found[0] > found[1], "equal")
    return f"{told(tree, grown, held)}: {found[0]} errors, reduced error pruning {found[1]}", wrong


@BOOK.claim("labels from growing: the root is cut though neither child is; from pruning: both children, not the root")
@at("section 2.2, Figure 1", "pruners.reduced_error")
def _() -> Answer:
    tree, grown, held = _figure_1()
    by_grow, by_prune = (reduced_error(tree, grown, held, labels=labels) for labels in LABELS[:2])
    shown = (by_grow.cuts.tolist(), by_grow.errors(held), by_prune.cuts.tolist(), by_prune.errors(held))
    wrong = unless(shown == ([0], 2, [1, 4], 0), str(shown))
    return f"cuts {shown[0]} with {shown[1]} errors, cuts {shown[2]} with {shown[3]}", wrong


@BOOK.claim("labels from both samples cannot be told from labels of the growing sample")
@at("section 2.2", "pruners.reduced_error(labels='both')")
def _() -> Answer:
    tree, grown, held = _figure_1()
    leaves = [reduced_error(tree, grown, held, labels=labels).n_leaves for labels in ("grow", "both")]
    return "the tree of Figure 1", unless(leaves[0] == leaves[1], f"1 leaf by growing labels, {leaves[1]} by both")


@BOOK.claim("subtrees without a pruning example are always cut")
@search("section 2.3", "pruners.reduced_error", f"{N_TREES} random trees")
def _() -> Iterator[str]:
    for tree, grown, held in cases(1):
        for labels in LABELS:
            kept = reduced_error(tree, grown, held, labels=labels).is_kept & ~tree.is_leaf
            if (kept & (held.total == 0)).any():
                yield told(tree, grown, held)


@BOOK.claim("the listing: errors of the children against those of the majority of the pruning examples")
@search("Table 1", "pruners.reduced_error(labels='prune')", f"{N_TREES} random trees, the listing written out")
def _() -> Iterator[str]:
    for tree, grown, held in cases(7):
        error = np.zeros(tree.n_nodes, np.int64)
        cut = np.zeros(tree.n_nodes, bool)
        for v in range(tree.n_nodes - 1, -1, -1):
            below = int(error[tree.parent == v].sum())
            as_leaf = int(held.by_class[v].min())
            if tree.is_leaf[v]:
                error[v] = held.total[v] - held.by_class[v, grown.majority[v]]
            else:
                cut[v] = below >= as_leaf
                error[v] = as_leaf if cut[v] else below
        found = reduced_error(tree, grown, held, labels="prune")
        if found.errors(held) != error[0] or bool(cut[0]) != (found.n_leaves == 1):
            yield told(tree, grown, held)


@BOOK.claim("the result is the smallest of the most accurate prunings, under any labelling")
@search("Theorem 1", "pruners.reduced_error", f"{ENUMERATED}, three labellings")
def _() -> Iterator[str]:
    for tree, grown, held in cases(2):
        for labels in LABELS:
            errors = held.errors_if_leaf(leaf_labels(grown, held, labels))
            best = min((cost_of(leaves, errors), len(leaves)) for leaves in prunings(tree))
            found = reduced_error(tree, grown, held, labels=labels)
            if (found.cost(errors), found.n_leaves) != best:
                yield told(tree, grown, held)


def _safe_case(seed: int) -> Iterator[tuple[Tree, Counts, Counts, Pruning, Ints]]:
    for tree, grown, held in cases(seed, 4 * N_TREES, most_tests=6):
        yield tree, grown, held, reduced_error(tree, grown, held, labels="prune"), safe_nodes(tree)


@BOOK.claim("with labels from pruning, a test without leaves as children stays if a child still tests something")
@search("Theorem 2, Corollary 3", "pruners.reduced_error(labels='prune')", f"{4 * N_TREES} random trees")
def _() -> Iterator[str]:
    for tree, grown, held, found, _ in _safe_case(3):
        has_leaf = np.zeros(tree.n_nodes, bool)
        has_leaf[tree.parent[tree.leaves[tree.leaves > 0]]] = True
        is_test = found.is_kept & ~found.is_leaf
        above = tree.parent[1:][is_test[1:]]
        if (~has_leaf[above] & ~is_test[above]).any():
            yield told(tree, grown, held)


@BOOK.claim("safe nodes, with a parent in the interior, are the leaves of a pruning")
@at("section 4, Figure 2", "analysis.safe_nodes")
def _() -> Answer:
    def printed(tree: Tree) -> set[int]:
        inside = fringe(tree)
        return {v for v in range(1, tree.n_nodes) if inside[v] and not inside[tree.parent[v]]}

    trees = [tree for tree, *_ in cases(4)]
    return (
        f"{N_TREES} random trees",
        (f"root in the fringe, no safe node: {told(tree)}" for tree in trees if not printed(tree)),
        "the root is safe if it is in the fringe",
        (told(tree) for tree in trees if frozenset(safe_nodes(tree).tolist()) not in prunings(tree)),
    )


@BOOK.claim("one leaf is left if and only if all safe nodes are cut and share the majority class")
@search(
    "Theorem 4",
    "analysis.safe_nodes, pruners.reduced_error",
    f"{4 * N_TREES} random trees, the root safe if it is in the fringe",
)
def _() -> Iterator[str]:
    for tree, grown, held, found, safe in _safe_case(5):
        counts = held.by_class[safe]
        agree = any((counts[:, c] == counts.max(axis=1)).all() for c in range(counts.shape[1]))
        is_cut = not (found.is_kept & ~found.is_leaf)[safe].any()
        if (found.n_leaves == 1) != (is_cut and agree):
            yield told(tree, grown, held)
