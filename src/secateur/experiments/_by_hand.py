"""Two trees of the documents, written down test by test."""

import numpy as np

from ..data.arrays import Bools, Floats, Ints
from ..datasets import krk_legality
from ..datasets.rows import Nominal, make_table
from ..nouns import Counts, Tree
from ..routing import count

NINE_NAMES = "ABEFCGHDI"  # the tests in pre-order
# Rows of each leaf, left to right, one letter per row.
NINE_LEAVES = "a a b b b a a b a b aaa b a bb b"

# Each test, its yes-branch and its no-branch: a test again, or an answer.
KRK_TESTS: dict[str, tuple[str, str]] = {
    "kings touch": ("illegal", "rook and black king on one file"),
    "rook and black king on one file": ("white king on that file", "rook and black king on one rank"),
    "white king on that file": ("white king between, above the rook", "illegal"),
    "white king between, above the rook": ("legal", "white king between, below the rook"),
    "white king between, below the rook": ("legal", "illegal"),
    "rook and black king on one rank": ("white king on that rank", "white king on the rook"),
    "white king on that rank": ("white king between, right of the rook", "illegal"),
    "white king between, right of the rook": ("legal", "white king between, left of the rook"),
    "white king between, left of the rook": ("legal", "illegal"),
    "white king on the rook": ("illegal", "legal"),
}


def nine_tests() -> tuple[Tree, Counts]:
    """Return the example of Bohanec and Bratko: nine tests, 15 leaves, 18 rows of two classes."""
    shape = {"A": "BCD", "B": "EF", "C": "GH.", "D": "I..", "E": "...", "F": "...", "G": "..", "H": "..", "I": ".."}
    parent: list[int] = []
    todo = [("A", -1)]
    while todo:
        name, above = todo.pop()
        at = len(parent)
        parent.append(above)
        todo += [(child, at) for child in reversed(shape.get(name, ""))]
    tree = Tree.from_parents(parent)
    leaves = [[rows.count("a"), rows.count("b")] for rows in NINE_LEAVES.split()]
    return tree, Counts.from_leaves(tree, leaves)


def krk_tree() -> tuple[Tree, Counts]:
    """Return the king-rook-king tree and its counts on all 262,144 positions.

    Its tests are no columns of the positions, so they are computed first, one boolean each.
    """
    positions = krk_legality()
    tests = _krk_columns(*(np.asarray(column) for column in positions.columns))
    assert positions.target is not None
    assert positions.schema.classes is not None
    table = make_table(
        [Nominal(name, ("no", "yes"), tests[name].astype(np.int32)) for name in KRK_TESTS],
        positions.target,
        positions.schema.classes.tolist(),
    )
    parent, feature = _pre_order()
    is_test = feature >= 0
    tree = Tree(
        parent=parent,
        feature=feature,
        branch_start=np.append(0, 2 * np.cumsum(is_test)).astype(np.int64),
        branch=np.tile(np.array([1, 0], np.uint16), int(is_test.sum())),  # no is the second child, yes the first
        schema=table.schema,
    )
    return tree, count(tree, table, sample="grow")


def _pre_order() -> tuple[Ints, Ints]:
    names = list(KRK_TESTS)
    parent: list[int] = []
    feature: list[int] = []
    todo = [(names[0], -1)]
    while todo:
        name, above = todo.pop()
        at = len(parent)
        parent.append(above)
        feature.append(names.index(name) if name in KRK_TESTS else -1)
        todo += [(child, at) for child in reversed(KRK_TESTS.get(name, ()))]
    return np.array(parent, np.int32), np.array(feature, np.int32)


def _krk_columns(
    king_file: Ints, king_rank: Floats,
    rook_file: Ints, rook_rank: Floats,
    other_file: Ints, other_rank: Floats,
) -> dict[str, Bools]:  # fmt: skip
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
