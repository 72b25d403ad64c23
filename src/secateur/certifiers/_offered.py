"""May these rows certify this pruning? The one place where costs, rates, shares and weights ask."""

from ..counts import Counts
from ..errors import LeakageError, ParameterError, UnsupportedError
from ..pruning import Pruning


def offered_fresh(pruning: Pruning, counts: Counts) -> tuple[str, bool]:
    """Refuse a sample that shaped the pruning; return what is known of its freshness, as a `Bound` states it."""
    check_kinds(pruning, counts)
    if counts.sample in pruning.seen:
        raise LeakageError(
            f"sample {counts.sample!r} already helped to choose it (seen: {', '.join(sorted(pruning.seen))}); "
            "certify on a sample it has not seen"
        )
    return "", True


def offered_after_growing(pruning: Pruning, counts: Counts, grown: Counts | None) -> tuple[str, bool]:
    """The same where only growing matters: a sample that chose among prunings of the grown tree may certify."""
    check_kinds(pruning, counts)
    if counts.sample not in pruning.seen:
        return offered_fresh(pruning, counts)
    if grown is None:
        raise ParameterError(
            f"sample {counts.sample!r} helped to make the pruning; pass grown=, the counts of the growing sample, "
            "to show that it did not grow the tree"
        )
    grown.check_fits(pruning.tree)
    if grown.sample == counts.sample:
        raise LeakageError(f"sample {counts.sample!r} grew the tree; certify on a sample the tree has not seen")
    return "", True


def check_kinds(pruning: Pruning, counts: Counts) -> None:
    """Refuse what is not a pruning and class counts of its tree."""
    if not isinstance(pruning, Pruning):
        raise UnsupportedError(f"a {type(pruning).__name__} was given; a Pruning is needed, such as sequence[3]")
    if not isinstance(counts, Counts):
        raise UnsupportedError(
            f"a {type(counts).__name__} was given as counts; only class counts certify: of a regression tree there "
            "are no error rates"
        )
    counts.check_fits(pruning.tree)
