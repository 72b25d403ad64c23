"""Freshness: whether the rows of a sample were used before, and whether they can be counted as independent rows.

A certificate counts independent rows. It needs rows of weight 1, none of which was used to make the tree (or a method
that pays for the use). This module compares the sketches of samples and words the refusals. Evaluations, which the
tree's log records, are checked in `certifiers/_fresh.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._utils.arrays import LongsOrFloats
from .._utils.checks import check_name
from .._utils.warn import warn
from ..core import Counts, GroupedRows, PruningSequence, Sample, SampleUsage, Tree, UsedSample
from ..core.provenance import NO_SAMPLES
from ..errors import Argument, CountsError, LeakageError, MessagePart, UnsupportedError, Wording, show
from .overlap import Overlap, overlap
from .repeats import RepeatRule, Repeats, find_repeats
from .tails import check_delta

NO_REUSE = "no re-use found"
COPIES_REMEDY = (
    ": drop duplicate rows before the rows are divided, state which rows belong together (",
    Argument("groups"),
    ") or, if equal rows are independent draws, pass ",
    Argument("repeats", "independent"),
)
REPEAT_RULES = ("errors", "independent")


@dataclass(frozen=True)
class CertifyingRows:
    """The rows from which a certificate is computed.

    Parameters
    ----------
    n : int
        Number of independent draws: of rows or, if the sample has groups, of groups.
    delta : float
        The failure probability that is left for the limit, after the number of repeated rows was estimated.
    repeats : Repeats
        What is known about rows that occur more than once.
    bound_fields : dict
        The fields of a `Bound` about its rows.
    """

    n: int
    delta: float
    repeats: Repeats
    bound_fields: dict[str, Any] = field(hash=False)

    def add_repeated(self, errors: LongsOrFloats | float) -> Any:
        """Return numbers of rows that are wrong or repeat others, at most `n`: repeated rows count as errors."""
        return np.minimum(errors + self.repeats.n_errors, self.n)


@dataclass(frozen=True)
class Freshness:
    """The result of checking whether the rows of a sample were used before.

    Parameters
    ----------
    leak : str
        If rows of the sample were used to make the pruning that they are to certify: the message that refuses them.
        Otherwise empty.
    prior_evaluation : str
        If the sample may have chosen the pruning, because it was evaluated on others: the message that refuses it.
        Otherwise empty.
    sequence : PruningSequence or None
        If the pruning can only have been chosen among the members of one sequence: this sequence. Its path certificate
        pays for the choice.
    text : str
        With which samples the rows were compared, or why they could not be compared: `Bound.freshness`.
    is_checked : bool
        Whether the comparison would have found rows that were used before.
    used : SampleUsage
        The samples with which the rows were compared.
    doubt : str
        Why the rows may have been used before, though they are not refused; empty if nothing suggests it.
    """

    leak: str = ""
    prior_evaluation: str = ""
    sequence: PruningSequence | None = None
    text: str = ""
    is_checked: bool = False
    used: SampleUsage = NO_SAMPLES
    doubt: str = ""

    @property
    def is_fresh(self) -> bool:
        """Whether the sample can certify without a price for a choice."""
        return not (self.leak or self.prior_evaluation)

    def check_fresh(self) -> "Freshness":
        """Return this object; raise `LeakageError` if the sample is not fresh."""
        if not self.is_fresh:
            raise LeakageError(self.leak or self.prior_evaluation)
        return self

    def certifying_rows(
        self,
        counts: Sample,
        subject: str,
        delta: float,
        *,
        repeated: bool = False,
        repeats: Repeats | RepeatRule = "errors",
        warns: bool = True,
        takes_groups: bool = False,
    ) -> CertifyingRows:
        """Return the rows of a certificate, with those that count as errors because they repeat others.

        Parameters
        ----------
        counts, subject, repeated, takes_groups
            As for `count_rows`, which refuses weighted rows.
        delta : float
            The failure probability of the certificate.
        repeats : "errors", "independent" or Repeats
            "errors": repeated rows count as errors if they may be copies. "independent": they are independent draws. A
            `Repeats` is the result of an earlier examination, which is not repeated.
        warns : bool
            Whether to warn if rows may have been used before or are copies. There is no warning if `repeats` is a
            `Repeats`.

        Raises
        ------
        LeakageError
            If more than half of the rows are copies.
        """
        delta = check_delta(delta)
        n = count_rows(counts, subject, repeated=repeated, takes_groups=takes_groups)
        found = self.find_repeats(counts, delta, repeats)
        if found.is_refused:
            raise LeakageError(
                f"{_describe_copies(counts, found)}; more than half, so they certify nothing", *COPIES_REMEDY
            )
        if warns and not isinstance(repeats, Repeats):
            self.warn(counts, found)
        text = self.text
        if found.text and self.is_checked:
            text = f"{text.removesuffix(NO_REUSE)}{found.text}"
        elif found.n_errors:
            text = f"{text}; {found.text}"
        fields = {
            "delta": delta,
            "n": n,
            "sample": counts.sample,
            "freshness": text,
            "is_checked": self.is_checked,
            "n_repeated": found.n_errors,
            "repeats": found.verdict,
            "repeats_text": found.text,
            "copies_detectable": found.copies_detectable,
        }
        if counts.grouped is not None:
            fields |= {"unit": "group", "n_rows": counts.grouped.n_rows}
        return CertifyingRows(n, delta - found.delta, found, fields)

    def warn(self, counts: Sample, found: Repeats) -> None:
        """Warn if the rows may have been used before, or if they are copies, which count as errors."""
        if found.verdict == "copies" and found.n_errors:
            warn(f"{_describe_copies(counts, found)}; they count as errors in the certificate", *COPIES_REMEDY)
        elif self.doubt:
            warn(f"{self.doubt}: are they fresh rows?")

    def find_repeats(self, counts: Sample, delta: float, repeats: Repeats | RepeatRule = "errors") -> Repeats:
        """Return what is known about repeated rows; the parameters are those of `certifying_rows`."""
        if isinstance(repeats, Repeats):
            return repeats
        check_name("repeats", repeats, REPEAT_RULES)
        sketch = counts.sketch
        if sketch is None:
            found = Repeats()
        else:
            used = [sample.sketch for sample in self.used.samples if sample.sketch is not None]
            found = find_repeats([other for other in used if other.key == sketch.key], sketch, delta)
        # A weight of 3 that stands for 3 independent rows states that equal rows are independent draws.
        return found.as_independent() if repeats == "independent" or counts.is_weighted else found


def compare_samples(used: SampleUsage, counts: Sample, *, refuses_name: bool = False) -> Freshness:
    """Return the freshness of a sample, given the samples that were used to make the tree.

    Parameters
    ----------
    used : SampleUsage
        The samples that were used.
    counts : Counts or Moments
        The sample that is to certify.
    refuses_name : bool
        If the rows of a used sample cannot be compared: whether to refuse a sample with the same name.
    """
    without_sketch: list[str] = []
    undetectable: list[str] = []
    compared: list[str] = []
    doubt = ""
    for sample in used.samples:
        result = sample_overlap(sample, counts)
        if result is None:
            if refuses_name and sample.name == counts.sample:
                return Freshness(f"sample {show(counts.sample)} grew the tree; certify on rows that did not")
            without_sketch.append(sample.name)
            continue
        if result.is_refused:
            return Freshness(_describe_leak(sample, counts, result))
        if result.is_doubtful:
            doubt = f"{_describe_shared_rows(sample, counts, result)}; this is more than one would expect"
        (compared if result.is_detectable else undetectable).append(sample.name)
    if counts.sketch is None:
        return Freshness(text=f"not checked: sample {show(counts.sample)} has no sketch of its rows", used=used)
    if without_sketch:
        return Freshness(text=f"not checked: the rows of {_format_names(without_sketch)} are not known", used=used)
    if doubt:
        return Freshness(text=doubt, used=used, doubt=doubt)
    if undetectable:
        text = "re-use could not have been detected: rows are not distinct enough"
        return Freshness(text=f"{text} to compare with {_format_names(undetectable)}", used=used)
    if not compared:
        return Freshness(text="not checked: the samples that made the tree are not known", used=used)
    text = f"compared with the rows of {_format_names(compared)}: {NO_REUSE}"
    return Freshness(text=text, is_checked=True, used=used)


def warn_of_shared_rows(used: SampleUsage, counts: Sample, purpose: str) -> None:
    """Warn if more rows of a held-out sample than chance explains are among rows that were used before.

    Parameters
    ----------
    used : SampleUsage
        The samples that were used to make the tree.
    counts : Counts or Moments
        The held-out sample.
    purpose : str
        What the sample is for, such as "to prune": the end of the message.
    """
    for sample in used.samples:
        result = sample_overlap(sample, counts)
        if result is not None and result.is_refused:
            warn(
                f"{_describe_shared_rows(sample, counts, result)}; the tree has learnt these rows, so their "
                f"errors are too low {purpose}: hold out rows that did not grow the tree"
            )


def count_rows(counts: Sample, subject: str, *, repeated: bool = False, takes_groups: bool = False) -> int:
    """Return the number of independent draws of a sample: its rows or, if rows belong together, their groups.

    Parameters
    ----------
    counts : Counts or Moments
        The sample.
    subject : str
        What is to be computed from the rows, such as "a test sample": the subject of the refusals.
    repeated : bool
        Whether a row of weight 3 stands for three independent rows with equal values; only for classes.
    takes_groups : bool
        Whether the limit can be computed from groups.

    Raises
    ------
    UnsupportedError
        If rows have weights, unless `repeated` is true and the weights are whole numbers. If rows belong to groups,
        unless `takes_groups` is true.
    CountsError
        If there are no rows.
    """
    takes_weights = repeated and counts.has_classes
    if not counts.has_integer_weights or (counts.is_weighted and not takes_weights):
        n_rows = f" ({counts.n_rows:,} rows of total weight {counts.total[0]:,.6g})" if counts.n_rows else ""
        raise UnsupportedError(
            f"sample {show(counts.sample)} has weights{n_rows}; {subject} counts independent rows, each once: "
            "certify on rows without weights; ",
            *_remedy_for_weights(counts),
        )
    n = int(counts.total[0])
    if n == 0:
        raise CountsError(f"sample {show(counts.sample)} has no rows; {subject} needs at least one")
    return n if counts.grouped is None else _count_groups(counts, counts.grouped, subject, takes_groups=takes_groups)


def _remedy_for_weights(counts: Sample) -> list[MessagePart]:
    """Return what else can be done with weighted rows, in words."""
    if not counts.has_classes:
        return ["if a weight of 3 means 3 independent rows with the same values, pass them as separate rows"]
    remedy: list[MessagePart] = []
    if counts.has_integer_weights:
        meaning = " if a weight of 3 means 3 independent rows with the same values; "
        remedy = ["pass ", Wording("repeated=True", "--repeated"), meaning]
    return [*remedy, "or bound the weighted error itself with certifiers.importance_weighted"]


def _count_groups(counts: Sample, grouped: GroupedRows, subject: str, *, takes_groups: bool) -> int:
    """Return the number of groups of a sample; raise `UnsupportedError` if they cannot be counted."""
    if not grouped.is_known:
        raise UnsupportedError(
            f"the rows of sample {show(counts.sample)} belong to groups, which are not stored in files: certify on "
            "rows with their groups (",
            Argument("groups"),
            ")",
        )
    if not takes_groups:
        raise UnsupportedError(
            f"sample {show(counts.sample)} has groups, and {subject} counts rows as independent draws, which rows of "
            "one group are not; with groups use a test sample, path or Occam certificate, or certified_cost, or draw "
            "one row of each group"
        )
    if counts.is_weighted:
        raise UnsupportedError(
            f"sample {show(counts.sample)} has weights and groups; {subject} counts groups of rows without weights"
        )
    return grouped.n_groups


def check_samples(
    tree: Tree,
    grown: Counts,
    holdout: Counts,
    subject: str,
    delta: float,
    *,
    repeated: bool = False,
    repeats: Repeats | RepeatRule = "errors",
    warns: bool = True,
    takes_groups: bool = False,
) -> CertifyingRows:
    """Return the held-out rows of a certificate that pays for every choice made with them.

    Such a certificate only requires that the rows did not grow the tree. The parameters are those of
    `Freshness.certifying_rows`.

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
            f"sample {show(holdout.sample)} grew the tree; {subject} needs a sample that did not "
            "(count it with another name)"
        )
    # Weights and groups are refused before rows that were used.
    count_rows(holdout, subject, repeated=repeated, takes_groups=takes_groups)
    freshness = compare_samples(tree.history | SampleUsage.of(grown), holdout).check_fresh()
    return freshness.certifying_rows(
        holdout, subject, delta, repeated=repeated, repeats=repeats, warns=warns, takes_groups=takes_groups
    )


def describe_used_rows(used: SampleUsage, sample: Sample) -> str:
    """Return which rows of a sample occur in the samples that were used, in words; empty if none are recognised."""
    for used_sample in used.samples:
        result = sample_overlap(used_sample, sample)
        if result is not None and result.is_refused:
            return _describe_shared_rows(used_sample, sample, result)
    return ""


def sample_overlap(used: UsedSample, counts: Sample) -> Overlap | None:
    """Return the overlap of the rows of two samples; None if their sketches are missing or cannot be compared."""
    sketch = counts.sketch
    if sketch is None or used.sketch is None or sketch.key != used.sketch.key:
        return None
    return overlap(used.sketch, sketch)


def _describe_copies(counts: Sample, found: Repeats) -> str:
    """Return the number of copies in a sample, in words."""
    about = "" if found.n_errors == found.n_seen else "about "
    number = f"{about}{min(found.n_twins, found.n_errors):,} of the {found.n_rows:,} rows"
    return (
        f"{number} of sample {show(counts.sample)} {'are' if found.verdict == 'copies' else 'may be'} copies "
        "of rows of the samples that shaped the tree, or of one another: more rows occur twice than chance explains"
    )


def _describe_leak(used: UsedSample, counts: Sample, result: Overlap) -> str:
    use = "grew the tree" if used.name == "grow" else "shaped the tree"
    shared = _describe_shared_rows(used, counts, result)
    return f"{shared}: rows that {use} cannot certify it; certify on rows that did not"


def _describe_shared_rows(used: UsedSample, counts: Sample, result: Overlap) -> str:
    name = f"{show(used.name)}{', up to the rounding of numbers' if result.is_rounded else ''}"
    return (
        f"about {result.n_shared:,.0f} ({result.low:,.0f} to {result.high:,.0f}) of the {result.n_rows:,} rows of "
        f"sample {show(counts.sample)} occur in sample {name}, where chance explains {result.n_chance:,.0f}"
    )


def _format_names(names: Sequence[str]) -> str:
    quoted = [show(name) for name in sorted(set(names))]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
