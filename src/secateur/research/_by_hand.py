"""Published trees, entered by hand, and the comparison of small trees with their published results.

The trees are those of Bohanec and Bratko (1994), the example of nine tests and the king-rook-king tree; of Elomaa and
Kaariainen (2001), Figures 1 and 2; and of the figures of the lecture notes.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from .. import analysis
from .._utils.arrays import Bools
from ..certifiers import count_prunings, count_prunings_by_size, count_prunings_within
from ..core import Counts, LabelRule, PruningSequence, Tree
from ..data.table import Table
from ..datasets import krk_legality
from ..datasets.tables import make_table
from ..pruners import best_of_size, greedy, reduced_error, smallest_within, weakest_links
from ..routing import count
from ._sheets import Row, Sheet, printed_figures
from ._study import Config, Result

# The example has the tests A(B(E, F), C(G, H), D(I)); children that are not listed are leaves. All nodes are in
# pre-order. NINE_LEAVES has the classes of the rows in each leaf.
NINE_NAMES = "ABEFCGHDI"
NINE_PARENTS = (-1, 0, 1, 2, 2, 2, 1, 6, 6, 6, 0, 10, 11, 11, 10, 14, 14, 10, 0, 18, 19, 19, 18, 18)
NINE_LEAVES = "a a b b b a a b a b aaa b a bb b"
# The tests of the king-rook-king tree are the columns of `_krk_columns`, in pre-order. The first child is "yes".
KRK_PARENTS = (-1, 0, 0, 2, 3, 4, 4, 6, 6, 3, 2, 10, 11, 12, 12, 14, 14, 11, 10, 18, 18)

LABEL_RULES: tuple[LabelRule, ...] = ("grow", "prune", "both")  # the rows that label the leaves
# Figure 12.2 of the notes, with the numbers of its example: the share of rows with h = 0, and the shares p and r of
# positive rows on both sides.
SHARE_OF_FALSE = 0.5
POSITIVE_SHARES = (0.6, 1.0)
SETTING_NODE = 3  # the node v of Figure 12.7


def nine_tests() -> tuple[Tree, Counts]:
    """Return the example of Bohanec and Bratko: nine tests, 15 leaves, 18 rows of two classes."""
    tree = Tree.from_parents(NINE_PARENTS)
    return tree, Counts.from_leaves(tree, [[rows.count("a"), rows.count("b")] for rows in NINE_LEAVES.split()])


def krk_tree() -> tuple[Tree, Counts]:
    """Return the king-rook-king tree and its counts on all 262,144 positions.

    The tests compare columns of the positions with one another, so a boolean column is computed for each test first.
    """
    positions = krk_legality()
    tests = _krk_columns(positions)
    assert positions.schema.classes is not None
    kinds = dict.fromkeys(tests, ("no", "yes"))
    table = make_table(kinds, tests.values(), positions.required_target, positions.schema.classes.tolist())
    is_test = ~Tree.from_parents(KRK_PARENTS).is_leaf
    n_tests = np.cumsum(is_test)
    tree = Tree(
        parent=np.array(KRK_PARENTS, np.int32),
        feature=np.where(is_test, n_tests - 1, -1).astype(np.int32),
        branch_start=np.append(0, 2 * n_tests).astype(np.int64),
        branch=np.tile(np.array([1, 0], np.uint16), len(tests)),  # no is the second child, yes the first
        schema=table.schema,
    )
    return tree, count(tree, table, sample="grow")


def _krk_columns(positions: Table) -> dict[str, Bools]:
    """Return the result of each test of the king-rook-king tree on each position."""
    king_file, king_rank, rook_file, rook_rank, other_file, other_rank = map(np.asarray, positions.columns)
    return {
        "kings touch": (abs(king_file - other_file) <= 1) & (abs(king_rank - other_rank) <= 1),
        "rook and black king on one file": rook_file == other_file,
        "white king on that file": king_file == rook_file,
        "white king between, above the rook": (rook_rank < king_rank) & (king_rank < other_rank),
        "white king between, below the rook": (rook_rank > king_rank) & (king_rank > other_rank),
        "rook and black king on one rank": rook_rank == other_rank,
        "white king on that rank": king_rank == rook_rank,
        "white king between, right of the rook": (rook_file < king_file) & (king_file < other_file),
        "white king between, left of the rook": (rook_file > king_file) & (king_file > other_file),
        "white king on the rook": (king_file == rook_file) & (king_rank == rook_rank),
    }


def best_cuts(tree: Tree, counts: Counts) -> dict[int, tuple[int, str]]:
    """Return, for each number of leaves, the errors of the best pruning and the names of its cut nodes."""
    best, names = best_of_size(tree, counts), dict(zip(tree.internal.tolist(), NINE_NAMES, strict=True))
    return {
        pruning.n_leaves: (errors, " ".join(sorted(names[v] for v in pruning.cuts.tolist())))
        for errors, pruning in zip(best.errors.tolist(), best, strict=True)
    }


def nine_tests_part(config: Config) -> Result:  # noqa: ARG001 the signature of parts
    """Return our results for the example of nine tests: best prunings, pruning sequences, and numbers of prunings."""
    tree, counts = nine_tests()
    mcc1 = weakest_links(tree, counts, every_cut=True)
    assert mcc1.alphas is not None
    return {
        "best": best_cuts(tree, counts),
        "GREEDY": _describe_members(greedy(tree, counts)),
        "MCC1": _describe_members(
            mcc1, [f" {Fraction(alpha).limit_denominator(100)}" for alpha in mcc1.alphas.tolist()]
        ),
        "MCC0": ", ".join(map(str, weakest_links(tree, counts).n_leaves.tolist())),
        "smallest": {a: smallest_within(tree, counts, a).n_leaves for a in ("0.9", "0.8", "0.75", "0.7")},
        "prunings": int(count_prunings(tree)),
        "by leaves": " ".join(f"{j}:{int(n)}" for j, n in enumerate(count_prunings_by_size(tree)) if n),
        "within": " ".join(str(count_prunings_within(tree, counts, k)) for k in range(10)),
    }


def nine_tests_sheets(results: dict[str, Result]) -> list[Sheet]:
    """Return two tables for the example of nine tests: its best prunings, and all other published results."""
    found = results["nine-tests"]
    rows: list[Row] = []
    for n_leaves, printed in printed_figures("nine-tests").items():
        errors, cuts = printed["errors"], printed["cuts"] or ""
        best = found["best"].get(str(n_leaves), [None, None])
        words, holds = _in_the_text(n_leaves, found["best"])
        rows.append((n_leaves, errors, best[0], cuts or "-", best[1] or "-", best == [errors, cuts], words, holds))
    is_impossible = "2" not in found["best"]
    ours = "impossible" if is_impossible else "found"
    rows.append((2, "impossible", ours, "", "", is_impossible, "impossible", is_impossible))
    head = (
        "leaves", "errors, reconstructed from the text", "ours", "cut at, reconstructed", "ours", "same", "in the text",
        "holds",
    )  # fmt: skip
    by_greedy, first = "D 12 1, E 10 2, F 8 3, B 7 4, G 6 5, C 3 6, A 1 9", "D, E, F, B first; 6 leaves at 72.22 %"
    mcc1, smallest = "D 12 1 1/3, C 8 3 1/2, E 6 4 1/2, F 4 5 1/2, B 3 6 1, A 1 9 3/2", found["smallest"]
    by_leaves = "1:1 3:1 4:1 5:2 6:7 7:5 8:10 9:12 10:10 11:10 12:8 13:5 14:3 15:1"
    # Name, value reconstructed from the text, our value, and the wording of the text.
    statements = (
        ("GREEDY: cut, leaves, errors", by_greedy, found["GREEDY"], first),
        ("MCC1: cut, leaves, errors, ratio", mcc1, found["MCC1"], "six trees, all optimal"),
        ("MCC0: leaves", "12, 4, 3, 1", found["MCC0"], "four trees"),
        *((f"leaves for accuracy {a}", n, smallest[a], "") for a, n in zip(smallest, (12, 8, 6, 4), strict=True)),
        ("prunings", 76, found["prunings"], ""),
        ("prunings by leaves", by_leaves, found["by leaves"], ""),
        ("prunings within 0 to 9 errors", "1 7 22 43 61 71 75 75 75 76", found["within"], ""),
    )
    more = [(name, expected, ours, expected == ours, words) for name, expected, ours, words in statements]
    title = "Nine tests: other algorithms (Tables 2 and 3), and numbers of prunings"
    columns = ("what", "reconstructed from the text", "ours", "same", "in the text")
    return [
        Sheet("nine-tests", "Nine tests: the best pruning of each size (Table 1)", head, rows),
        Sheet("nine-tests-ways", title, columns, more),
    ]


def _in_the_text(n_leaves: int, best: Result) -> tuple[str, bool | None]:
    """Return what the text states about the best pruning with `n_leaves` leaves, and whether that holds for `best`.

    The text is used because our copy of the publication lacks the body of Table 1.
    """
    errors, cuts = best[str(n_leaves)]
    is_better = errors < best["5"][0] and set(best["6"][1]) <= set(cuts)
    statements = {
        13: ("cut at F", "F" in cuts),
        **dict.fromkeys((12, 11, 8), ("F is back", "F" not in cuts)),
        6: ("77.78 %", round(100 * (1 - errors / 18), 2) == 77.78),
        4: ("more accurate than 5 leaves, a pruning of 6", is_better),
    }
    return statements.get(n_leaves, ("", None))


def _describe_members(sequence: PruningSequence, ratios: Sequence[str] | None = None) -> str:
    """Return a text that states for each member the node cut last, the number of leaves and the errors.

    If `ratios` are given, the ratio of each member follows.
    """
    names = dict(zip(sequence.tree.internal.tolist(), NINE_NAMES, strict=True))
    kept = ~sequence.tree.is_leaf
    statements = []
    for i, pruning in enumerate(sequence):
        gone = np.flatnonzero(kept & ~pruning.is_kept)
        kept = pruning.is_kept
        statements.append(f"{names[int(gone[0])]} {pruning.n_leaves} {sequence.errors[i]}{ratios[i] if ratios else ''}")
    return ", ".join(statements)


def label_rules_tree() -> tuple[Tree, Counts, Counts]:
    """Return the tree of Figure 1 of 2001 with its counts on growing rows and on pruning rows.

    The text states what is cut, and the errors. The counts are chosen to agree with it.
    """
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    grown = Counts.from_leaves(tree, [[5, 0], [0, 2], [0, 3], [2, 0]])
    return tree, grown, Counts.from_leaves(tree, [[0, 1], [0, 1], [2, 0], [1, 0]], sample="prune")


def label_rules_part(config: Config) -> Result:  # noqa: ARG001 the signature of parts
    """Return what reduced error pruning cuts of the tree of Figure 1, by the rows that label the leaves."""
    tree, grown, held = label_rules_tree()
    result: Result = {"uncut": int(held.errors_if_leaf(grown.majority)[tree.leaves].sum())}
    for labels in LABEL_RULES:
        pruning = reduced_error(tree, grown, held, labels=labels)
        result[labels] = {"cuts": pruning.cuts, "leaves": pruning.n_leaves, "errors": int(pruning.errors(held))}
    return result


def label_rules_sheet(results: dict[str, Result]) -> Sheet:
    """Return what is cut by the rows that label the leaves: a row per rule."""
    found = results["label-rules"]
    rows: list[Row] = [("not pruned", "", 4, found["uncut"])]
    for labels, of_rule in found.items():
        if labels != "uncut":
            rows.append((labels, " ".join(map(str, of_rule["cuts"])), of_rule["leaves"], of_rule["errors"]))
    note = "The nodes are numbered in pre-order: 0 is the root, 1 and 4 are its children."
    head = ("labels from", "nodes cut", "leaves", "errors on the pruning rows")
    return Sheet("label-rules", "A tree that is pruned in two ways (Figure 1)", head, rows, note)


def node_roles_tree() -> Tree:
    """Return a tree with all kinds of nodes of Figure 2 of 2001; the document draws subtrees as triangles."""
    return Tree.from_parents([-1, 0, 1, 2, 2, 1, 5, 5, 7, 7, 0, 10, 10, 12, 12])


def node_roles_part(config: Config) -> Result:  # noqa: ARG001 the signature of parts
    """Return the interior nodes, the other nodes of the fringe and the safe nodes of the tree of Figure 2."""
    tree = node_roles_tree()
    is_test, safe = ~tree.is_leaf, analysis.safe_nodes(tree)
    in_fringe = np.flatnonzero(analysis.fringe(tree) & is_test)
    return {
        "interior": np.flatnonzero(analysis.interior(tree) & is_test),
        "fringe": np.setdiff1d(in_fringe, safe),
        "safe": safe,
    }


def node_roles_sheet(results: dict[str, Result]) -> Sheet:
    """Return the nodes of Figure 2: a row per kind of node."""
    rows = [(kind, len(nodes), " ".join(map(str, nodes))) for kind, nodes in results["node-roles"].items()]
    head = ("kind", "nodes", "numbers in pre-order")
    title = "Interior, fringe without safe nodes, and safe nodes of a tree of 15 nodes (Figure 2)"
    return Sheet("node-roles", title, head, rows)


def subtree_at_x4() -> tuple[Tree, Counts, Counts]:
    """Return the subtree at X4 of Figure 12.5 of the notes, with its growing and its test rows as the text has them.

    The text has no other numbers of the tree.
    """
    tree = Tree.from_parents([-1, 0, 0])
    return tree, Counts.from_leaves(tree, [[0, 3], [1, 0]]), Counts.from_leaves(tree, [[0, 2], [1, 2]], sample="prune")


def basic_setting() -> tuple[Tree, Counts]:
    """Return a tree with counts for Figure 12.7 of the notes; `SETTING_NODE` is the node v that may be cut."""
    tree = Tree.from_parents([-1, 0, 1, 1, 3, 3, 0])
    return tree, Counts.from_leaves(tree, [[6, 1], [5, 1], [1, 7], [2, 8]])


def notes_trees_part(config: Config) -> Result:  # noqa: ARG001 the signature of parts
    """Return the numbers of the figures of trees in the lecture notes."""
    p, r = POSITIVE_SHARES
    tree, grown, held = subtree_at_x4()
    pruning = reduced_error(tree, grown, held)
    setting, counts = basic_setting()
    rows = int(counts.total[SETTING_NODE])
    below = [int(counts.resubstitution_costs[node]) for node in setting.children(SETTING_NODE)]
    return {
        "12.2: q = τp + (1 - τ)r": SHARE_OF_FALSE * p + (1 - SHARE_OF_FALSE) * r,
        "12.5: errors of the subtree at X4": int(held.errors_if_leaf(grown.majority)[tree.leaves].sum()),
        "12.6: errors after pruning": int(pruning.errors(held)),
        "12.6: leaves after pruning": pruning.n_leaves,
        "12.7: m, rows at v": rows,
        "12.7: depth of v": int(setting.depth[SETTING_NODE]),
        "12.7: n, nodes of the subtree at v": 1 + len(below),
        "12.7: error of the subtree at v": sum(below) / rows,
        "12.7: error of the best leaf at v": int(counts.resubstitution_costs[SETTING_NODE]) / rows,
    }


def notes_trees_sheet(results: dict[str, Result]) -> Sheet:
    """Return the numbers of the figures of trees in the lecture notes, beside those that the text states."""
    stated = {"12.2: q = τp + (1 - τ)r": 0.8, "12.5: errors of the subtree at X4": 2, "12.6: errors after pruning": 1}
    rows = [(name, stated.get(name), value) for name, value in results["trees"].items()]
    return Sheet("trees", "Figures of trees in the notes", ("figure and number", "in the text", "ours"), rows)
