"""The example of nine tests, figure by figure."""

from fractions import Fraction

import numpy as np

from ..certifiers import count_prunings, count_prunings_by_size, count_prunings_within
from ..nouns import PruningSequence
from ..pruners import best_of_size, greedy, smallest_within, weakest_links
from ._by_hand import NINE_NAMES, nine_tests
from ._published import (
    NINE_BY_LEAVES,
    NINE_GREEDY,
    NINE_MCC0,
    NINE_MCC1,
    NINE_SMALLEST,
    NINE_TESTS,
    NINE_WITHIN,
)
from ._sheets import Row, Sheet
from ._study import Config, Result


def nine_tests_part(config: Config) -> Result:  # noqa: ARG001 the signature of parts
    """Return the best prunings, what the quicker ways do, and how many prunings there are."""
    tree, counts = nine_tests()
    names = dict(zip(tree.internal.tolist(), NINE_NAMES, strict=True))
    best = best_of_size(tree, counts)
    mcc1 = weakest_links(tree, counts, every_cut=True)
    assert mcc1.alphas is not None
    ratios = [str(Fraction(alpha).limit_denominator(100)) for alpha in mcc1.alphas.tolist()]
    by_size = count_prunings_by_size(tree)
    return {
        "best": {
            str(n_leaves): [errors, " ".join(sorted(names[v] for v in pruning.cuts.tolist()))]
            for n_leaves, errors, pruning in zip(best.n_leaves.tolist(), best.errors.tolist(), best, strict=True)
        },
        "GREEDY": _told(greedy(tree, counts), names, None),
        "MCC1": _told(mcc1, names, ratios),
        "MCC0": ", ".join(map(str, weakest_links(tree, counts).n_leaves.tolist())),
        "smallest": {a: smallest_within(tree, counts, a).n_leaves for a in NINE_SMALLEST},
        "prunings": int(count_prunings(tree)),
        "by leaves": " ".join(f"{j}:{int(n)}" for j, n in enumerate(by_size) if n),
        "within": " ".join(str(count_prunings_within(tree, counts, k)) for k in range(10)),
    }


def nine_tests_sheets(found: Result) -> list[Sheet]:
    """The table of best prunings, and everything else that is printed about the example."""
    rows: list[Row] = []
    for n_leaves, (errors, cuts) in NINE_TESTS.items():
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
    told = {
        "GREEDY: cut, leaves, errors": (NINE_GREEDY, found["GREEDY"], "D, E, F, B first; 6 leaves at 72.22 %"),
        "MCC1: cut, leaves, errors, ratio": (NINE_MCC1, found["MCC1"], "six trees, all optimal"),
        "MCC0: leaves": (NINE_MCC0, found["MCC0"], "four trees"),
        **{f"leaves for accuracy {a}": (n, found["smallest"][a], "") for a, n in NINE_SMALLEST.items()},
        "prunings": (76, found["prunings"], ""),
        "prunings by leaves": (NINE_BY_LEAVES, found["by leaves"], ""),
        "prunings within 0 to 9 errors": (NINE_WITHIN, found["within"], ""),
    }
    more = [(name, expected, ours, expected == ours, words) for name, (expected, ours, words) in told.items()]
    return [
        Sheet("nine-tests", "Nine tests: the best pruning of each size (Table 1)", head, rows),
        Sheet(
            "nine-tests-ways",
            "Nine tests: other algorithms (Tables 2 and 3), and numbers of prunings",
            ("what", "reconstructed from the text", "ours", "same", "in the text"),
            more,
        ),
    ]


def _in_the_text(n_leaves: int, best: Result) -> tuple[str, bool | None]:
    """What the text says of a size, and whether it holds; the body of Table 1 is not in our copy."""
    errors, cuts = best[str(n_leaves)]
    if n_leaves == 13:
        return "cut at F", "F" in cuts
    if n_leaves in (12, 11, 8):
        return "F is back", "F" not in cuts
    if n_leaves == 6:
        return "77.78 %", round(100 * (1 - errors / 18), 2) == 77.78
    if n_leaves == 4:
        return "more accurate than 5 leaves, a pruning of 6", errors < best["5"][0] and set(best["6"][1]) <= set(cuts)
    return "", None


def _told(sequence: PruningSequence, names: dict[int, str], ratios: list[str] | None) -> str:
    """Each member: the test cut last, leaves, errors, and the ratio if there is one."""
    tree = sequence.tree
    kept = ~tree.is_leaf
    told = []
    for i, pruning in enumerate(sequence):
        gone = np.flatnonzero(kept & ~pruning.is_kept)
        kept = pruning.is_kept
        ratio = f" {ratios[i]}" if ratios else ""
        told.append(f"{names[int(gone[0])]} {sequence.n_leaves[i]} {sequence.errors[i]}{ratio}")
    return ", ".join(told)
