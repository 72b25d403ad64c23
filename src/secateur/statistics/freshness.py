"""Do rows certify? Each must be one draw, and fresh: what the sketches of samples say, in words and as a refusal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._utils.warn import warn
from ..core import Counts, PruningSequence, SampleUsage, Tree, UsedSample
from ..errors import CountsError, LeakageError, UnsupportedError
from .overlap import Overlap, overlap
from .tails import check_delta


@dataclass(frozen=True)
class Freshness:
    """What is known about earlier use of a sample.

    Parameters
    ----------
    leak : str
        Why the sample has shaped what is to be certified; empty if it has not.
    looked : str
        Why a choice may have been made with it; empty if not.
    sequence : PruningSequence or None
        The sequence that choice was made from: its path certificate pays.
    text, is_checked
        For the `Bound`.
    """

    leak: str = ""
    prior_evaluation: str = ""
    sequence: PruningSequence | None = None
    text: str = ""
    is_checked: bool = False

    @property
    def is_fresh(self) -> bool:
        """Whether a certificate from the sample costs nothing."""
        return not (self.leak or self.prior_evaluation)

    @property
    def about(self) -> dict[str, Any]:
        """The fields of a `Bound` that tell of freshness."""
        return {"freshness": self.text, "is_checked": self.is_checked}

    def checked(self) -> "Freshness":
        """Return this, or raise if the sample is not fresh."""
        if not self.is_fresh:
            raise LeakageError(self.leak or self.prior_evaluation)
        return self

    def rows(self, counts: Counts, what: str, delta: float, *, repeated: bool = False) -> dict[str, Any]:
        """Return the fields of a `Bound` that tell of its rows; refuse what `check_rows` does."""
        n = check_rows(counts, what, repeated=repeated)
        return {"delta": check_delta(delta), "n": n, "sample": counts.sample, **self.about}


def compared(samples: SampleUsage, counts: Counts, *, is_named: bool = False) -> Freshness:
    """Compare the rows of a sample with those of others.

    `is_named` refuses the name of one of them, too, where rows cannot be compared.
    """
    unknown: list[str] = []
    blurred: list[str] = []
    compared_with: list[str] = []
    for sample in samples.samples:
        result = overlap_with(sample, counts)
        if result is None:
            if is_named and sample.name == counts.sample:
                return Freshness(f"sample {counts.sample!r} grew the tree; certify on rows that did not")
            unknown.append(sample.name)
            continue
        if result.is_refused:
            return Freshness(_leak(sample, counts, result))
        if result.is_doubtful:
            warn(f"{_shared(sample, counts, result)}; this is more than one would expect: are they fresh rows?")
        (compared_with if result.is_detectable else blurred).append(sample.name)
    if counts.sketch is None:
        return Freshness(text=f"not checked: sample {counts.sample!r} has no sketch of its rows")
    if unknown:
        return Freshness(text=f"not checked: the rows of {_named(unknown)} are not known")
    if blurred:
        text = "re-use could not have been detected: rows are not distinct enough"
        return Freshness(text=f"{text} to compare with {_named(blurred)}")
    if not compared_with:
        return Freshness(text="not checked: the samples that made the tree are not known")
    return Freshness(text=f"compared with the rows of {_named(compared_with)}: no re-use found", is_checked=True)


def check_rows(counts: Counts, what: str, *, repeated: bool = False) -> int:
    """Return the number of rows of a sample; refuse empty samples, and weights unless they are repetitions."""
    if not counts.is_whole or (counts.is_weighted and not repeated):
        rows = f" ({counts.n_rows:,} rows of total weight {counts.total[0]:,.6g})" if counts.n_rows else ""
        way = "pass repeated=True if a weight of 3 means 3 independent rows with the same values; " * counts.is_whole
        raise UnsupportedError(
            f"sample {counts.sample!r} has weights{rows}; {what} counts independent rows, each once: certify on rows "
            f"without weights; {way}or bound the weighted error itself with certifiers.importance_weighted"
        )
    n = int(counts.total[0])
    if n == 0:
        raise CountsError(f"sample {counts.sample!r} has no rows; {what} needs at least one")
    return n


def check_samples(
    tree: Tree, grown: Counts, holdout: Counts, what: str, delta: float, *, repeated: bool = False
) -> dict[str, Any]:
    """Return what a `Bound` says of the held-out rows; refuse samples of another tree and growing rows."""
    check_delta(delta)
    grown.check_fits(tree)
    holdout.check_fits(tree)
    if grown.sample == holdout.sample:
        raise LeakageError(
            f"sample {holdout.sample!r} grew the tree; {what} needs a sample the tree has not seen "
            "(count it with another name)"
        )
    check_rows(holdout, what, repeated=repeated)  # weights are told before rows that were used
    return (
        compared(tree.history | SampleUsage.of(grown), holdout).checked().rows(holdout, what, delta, repeated=repeated)
    )


def overlap_with(sample: UsedSample, counts: Counts) -> Overlap | None:
    sketch = counts.sketch
    if sketch is None or sample.sketch is None or sketch.key != sample.sketch.key:
        return None
    return overlap(sample.sketch, sketch)


def _leak(sample: UsedSample, counts: Counts, found: Overlap) -> str:
    did = "grew the tree" if sample.name == "grow" else "shaped the tree"
    return f"{_shared(sample, counts, found)}: rows that {did} cannot certify it; certify on rows it has not seen"


def _shared(sample: UsedSample, counts: Counts, found: Overlap) -> str:
    return (
        f"about {found.n_shared:,.0f} ({found.low:,.0f} to {found.high:,.0f}) of the {found.n_rows:,} rows of sample "
        f"{counts.sample!r} stand in sample {sample.name!r}, where chance explains {found.n_chance:,.0f}"
    )


def _named(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in sorted(set(names))]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
