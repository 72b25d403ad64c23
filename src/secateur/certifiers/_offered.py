"""May these rows certify this pruning? The one place where costs, rates, shares and weights ask."""

from typing import Any

from ..errors import ParameterError, UnsupportedError
from ..nouns import Counts, Pruning, Seen
from ..statistics.freshness import compared
from ._fresh import freshness


def offered_fresh(pruning: Pruning, counts: Counts) -> dict[str, Any]:
    """Refuse rows that shaped or chose the pruning; return what is known of their freshness, as a `Bound` states it."""
    check_kinds(pruning, counts)
    found = freshness(pruning, counts).checked()
    pruning.tree.ledger.look(counts, pruning=pruning)
    return found.about


def offered_after_growing(pruning: Pruning, counts: Counts, grown: Counts | None) -> dict[str, Any]:
    """The same where only growing matters: a sample that chose among prunings of the grown tree may certify."""
    check_kinds(pruning, counts)
    if grown is not None:
        grown.check_fits(pruning.tree)
    known = pruning.tree.history | Seen.of(grown)
    if not known and counts.sample in pruning.seen:
        raise ParameterError(
            f"sample {counts.sample!r} helped to make the pruning; pass grown=, the counts of the growing sample, "
            "to show that it did not grow the tree"
        )
    found = compared(known, counts, is_named=True).checked()
    pruning.tree.ledger.look(counts)
    return found.about


def check_kinds(pruning: Pruning, counts: Counts) -> None:
    """Refuse what is not a pruning and class counts of its tree."""
    if not isinstance(pruning, Pruning):
        raise UnsupportedError(f"a {type(pruning).__name__} was given; a Pruning is needed, such as sequence[3]")
    if not isinstance(counts, Counts):
        raise UnsupportedError(
            f"a {type(counts).__name__} was given as counts; only class counts certify: a regression tree has "
            "no error rates"
        )
    counts.check_fits(pruning.tree)
