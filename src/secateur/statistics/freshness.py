"""Freshness: whether the rows of a sample were used before, and whether they can be counted as independent rows.

A certificate counts independent rows. It needs rows of weight 1, none of which was used to make the tree (or a method
that pays for the use). This module compares the sketches of samples and words the refusals. Evaluations, which the
tree's log records, are checked in `certifiers/_fresh.py`.
"""

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
    """The result of checking whether the rows of a sample were used before.

    Parameters
    ----------
    leak : str
        Why the sample has been used to make what it is to certify; empty if it has not.
    prior_evaluation : str
        Why the sample may have chosen what it is to certify; empty if it may not.
    sequence : PruningSequence or None
        The sequence whose members may have been chosen among, if it is the only one. A path certificate of this
        sequence pays for the choice.
    text : str
        With which samples the rows were compared, or why they could not be compared: `Bound.freshness`.
    is_checked : bool
        Whether the comparison would have found rows that were used before.
    """

    leak: str = ""
    prior_evaluation: str = ""
    sequence: PruningSequence | None = None
    text: str = ""
    is_checked: bool = False

    @property
    def is_fresh(self) -> bool:
        """Whether a certificate from the sample has no price."""
        return not (self.leak or self.prior_evaluation)

    def check_fresh(self) -> "Freshness":
        """Return this object; raise `LeakageError` if the sample is not fresh."""
        if not self.is_fresh:
            raise LeakageError(self.leak or self.prior_evaluation)
        return self

    def bound_fields(self, counts: Counts, subject: str, delta: float, *, repeated: bool = False) -> dict[str, Any]:
        """Return the fields of a `Bound` about its rows: delta, n, sample, freshness and is_checked.

        `subject` and `repeated` are those of `count_rows`, which refuses weighted rows.
        """
        return {
            "delta": check_delta(delta),
            "n": count_rows(counts, subject, repeated=repeated),
            "sample": counts.sample,
            "freshness": self.text,
            "is_checked": self.is_checked,
        }


def compare_samples(used: SampleUsage, counts: Counts, *, refuses_name: bool = False) -> Freshness:
    """Return the freshness of a sample, given the samples that were used to make the tree.

    Parameters
    ----------
    used : SampleUsage
        The samples that were used.
    counts : Counts
        The sample that is to certify.
    refuses_name : bool
        Whether the name of a used sample is refused, too, where the rows cannot be compared.
    """
    without_sketch: list[str] = []
    undetectable: list[str] = []
    compared: list[str] = []
    for sample in used.samples:
        result = sample_overlap(sample, counts)
        if result is None:
            if refuses_name and sample.name == counts.sample:
                return Freshness(f"sample {counts.sample!r} grew the tree; certify on rows that did not")
            without_sketch.append(sample.name)
            continue
        if result.is_refused:
            return Freshness(_describe_leak(sample, counts, result))
        if result.is_doubtful:
            shared = _describe_shared_rows(sample, counts, result)
            warn(f"{shared}; this is more than one would expect: are they fresh rows?")
        (compared if result.is_detectable else undetectable).append(sample.name)
    if counts.sketch is None:
        return Freshness(text=f"not checked: sample {counts.sample!r} has no sketch of its rows")
    if without_sketch:
        return Freshness(text=f"not checked: the rows of {_format_names(without_sketch)} are not known")
    if undetectable:
        text = "re-use could not have been detected: rows are not distinct enough"
        return Freshness(text=f"{text} to compare with {_format_names(undetectable)}")
    if not compared:
        return Freshness(text="not checked: the samples that made the tree are not known")
    return Freshness(text=f"compared with the rows of {_format_names(compared)}: no re-use found", is_checked=True)


def count_rows(counts: Counts, subject: str, *, repeated: bool = False) -> int:
    """Return the number of rows of a sample, each of which must be one independent draw.

    Parameters
    ----------
    counts : Counts
        The sample.
    subject : str
        What is to be computed from the rows, such as "a test sample": the subject of the refusals.
    repeated : bool
        Whether integer weights count independent rows with equal values.

    Raises
    ------
    UnsupportedError
        If rows have weights, unless these are repetitions.
    CountsError
        If there are no rows.
    """
    if not counts.has_integer_weights or (counts.is_weighted and not repeated):
        n_rows = f" ({counts.n_rows:,} rows of total weight {counts.total[0]:,.6g})" if counts.n_rows else ""
        remedy = ""
        if counts.has_integer_weights:
            remedy = "pass repeated=True if a weight of 3 means 3 independent rows with the same values; "
        raise UnsupportedError(
            f"sample {counts.sample!r} has weights{n_rows}; {subject} counts independent rows, each once: certify on "
            f"rows without weights; {remedy}or bound the weighted error itself with certifiers.importance_weighted"
        )
    n = int(counts.total[0])
    if n == 0:
        raise CountsError(f"sample {counts.sample!r} has no rows; {subject} needs at least one")
    return n


def check_samples(
    tree: Tree, grown: Counts, holdout: Counts, subject: str, delta: float, *, repeated: bool = False
) -> dict[str, Any]:
    """Return the fields of a `Bound` about its held-out rows (`Freshness.bound_fields`).

    For certificates that pay for any choice made with the held-out rows: it is enough that the rows did not grow the
    tree.

    Raises
    ------
    LeakageError
        If held-out rows grew the tree.
    CountsError
        If a sample was counted on another tree.
    """
    check_delta(delta)
    grown.check_fits(tree)
    holdout.check_fits(tree)
    if grown.sample == holdout.sample:
        raise LeakageError(
            f"sample {holdout.sample!r} grew the tree; {subject} needs a sample that did not "
            "(count it with another name)"
        )
    count_rows(holdout, subject, repeated=repeated)  # weights are refused before rows that were used
    freshness = compare_samples(tree.history | SampleUsage.of(grown), holdout).check_fresh()
    return freshness.bound_fields(holdout, subject, delta, repeated=repeated)


def sample_overlap(used: UsedSample, counts: Counts) -> Overlap | None:
    """Return the overlap of the rows of two samples; None if their sketches are missing or cannot be compared."""
    sketch = counts.sketch
    if sketch is None or used.sketch is None or sketch.key != used.sketch.key:
        return None
    return overlap(used.sketch, sketch)


def _describe_leak(used: UsedSample, counts: Counts, result: Overlap) -> str:
    use = "grew the tree" if used.name == "grow" else "shaped the tree"
    shared = _describe_shared_rows(used, counts, result)
    return f"{shared}: rows that {use} cannot certify it; certify on rows that did not"


def _describe_shared_rows(used: UsedSample, counts: Counts, result: Overlap) -> str:
    return (
        f"about {result.n_shared:,.0f} ({result.low:,.0f} to {result.high:,.0f}) of the {result.n_rows:,} rows of "
        f"sample {counts.sample!r} occur in sample {used.name!r}, where chance explains {result.n_chance:,.0f}"
    )


def _format_names(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in sorted(set(names))]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
