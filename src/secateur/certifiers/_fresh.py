"""Whether a sample is fresh for a pruning: it had no part in growing, pruning or choosing the pruning.

`freshness` compares the rows with those of all samples that were used to make the pruning, and reads in the tree's
evaluation log whether the rows were evaluated on other prunings, among which they may have chosen.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from ..core import (
    Counts,
    EvaluationLog,
    EvaluationRecord,
    Moments,
    Pruning,
    PruningSequence,
    Sample,
    SampleUsage,
    Tree,
    UsedSample,
)
from ..core.provenance import find_evaluated_sequence
from ..data.sketch import HASH_RANGE, merge_sketches
from ..errors import ParameterError, UnsupportedError, show
from ..statistics.freshness import CertifyingRows, Freshness, compare_samples, sample_overlap
from ..statistics.repeats import RepeatRule, Repeats
from ..statistics.tails import check_delta
from . import METHODS

_METHODS_FOR_USED_ROWS = ", ".join(name for name, method in METHODS.items() if method.covers_choice)

MIN_POOLED_SAMPLES = 2  # a single sample is compared by itself

Certifiable = Pruning | PruningSequence | Sequence[Pruning]


def freshness(pruning_or_sequence: Certifiable, counts: Sample) -> Freshness:
    """Return whether a sample is fresh for a pruning, for a list of prunings or for a sequence.

    Parameters
    ----------
    pruning_or_sequence : Pruning, PruningSequence or list of Pruning
        What the sample is to certify.
    counts : Counts or Moments
        The sample.

    Returns
    -------
    Freshness
        `is_fresh`, and the reason if it is not: `leak` if the rows were used to make the prunings,
        `prior_evaluation` if they were evaluated on other prunings. `text` states with which samples the rows were
        compared.

    Examples
    --------
    >>> import numpy as np, secateur
    >>> from secateur.certifiers import freshness
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> tree, grown = secateur.grow(X[:200], X[:200, 0] > 0)
    >>> uncut = secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority)
    >>> print(freshness(uncut, secateur.count(tree, X[200:], X[200:, 0] > 0)).text)
    compared with the rows of 'grow': no re-use found
    >>> print(freshness(uncut, secateur.count(tree, X[100:200], X[100:200, 0] > 0)).leak)
    about 100 (96 to 100) of the 100 rows of sample 'prune' occur in sample 'grow', where chance explains 0: rows
    that grew the tree cannot certify it; certify on rows that did not
    """
    members: list[Pruning | PruningSequence]
    if isinstance(pruning_or_sequence, Pruning | PruningSequence):
        members = [pruning_or_sequence]
    else:
        members = list(pruning_or_sequence) if isinstance(pruning_or_sequence, Iterable) else []
    if not members or not all(isinstance(member, Pruning | PruningSequence) for member in members):
        raise ParameterError(f"the pruning is {show(pruning_or_sequence)}; a Pruning, or a sequence of them, is needed")
    if not isinstance(counts, Counts | Moments):
        raise ParameterError(f"the counts are {show(counts)}; the Counts of held-out rows are needed, as count returns")
    tree = members[0].tree
    seen = SampleUsage()
    for member in members:
        seen = seen | member.seen
    of_growing = compare_samples(tree.history, counts, refuses_name=counts.sample not in seen)
    if of_growing.leak:
        return of_growing
    if counts.sample in seen:
        is_sequence = isinstance(pruning_or_sequence, PruningSequence)
        use = "helped to make this sequence" if is_sequence else "already helped to choose it"
        return Freshness(
            f"sample {show(counts.sample)} {use} (seen: {', '.join(seen)}); certify on rows that did not"
            f"{_paying_remedy(counts)}"
        )
    of_all = compare_samples(tree.history | seen, counts)
    if of_all.leak:
        return Freshness(f"{of_all.leak}{_paying_remedy(counts, ', as they only pruned it,')}")
    prior_evaluation, sequence = _find_prior_evaluation(pruning_or_sequence, members, tree, counts)
    return replace(of_all, prior_evaluation=prior_evaluation, sequence=sequence)


def _find_prior_evaluation(
    pruning_or_sequence: Certifiable, members: Sequence[Any], tree: Tree, counts: Sample
) -> tuple[str, PruningSequence | None]:
    """Return `prior_evaluation` and `sequence` of the `Freshness` of a sample, from the evaluation logs.

    The result is ("", None) if the logs of the tree and of the sample's tree record no evaluation on other prunings.
    """
    records = _records_of(tree, counts)
    pooled = _pool_small_samples([record for _, record in records], tree, counts)
    for sample_id, record in [*records, *pooled]:
        if not (_covers_other_prunings(record, pruning_or_sequence, members) and _is_same(sample_id, record, counts)):
            continue
        if isinstance(pruning_or_sequence, PruningSequence):
            return _describe_evaluation(counts, "other sequences"), None
        return _describe_evaluation(counts, "other prunings"), _paying_sequence(record, pruning_or_sequence)
    return "", None


def _records_of(tree: Tree, counts: Sample) -> list[tuple[bytes, EvaluationRecord]]:
    """Return the records of the tree's log and, if it is another one, of the log of the sample's tree."""
    logs: list[EvaluationLog] = [tree.evaluation_log]
    if counts.tree.evaluation_log is not tree.evaluation_log:
        logs.append(counts.tree.evaluation_log)
    return [item for log in logs for item in log.snapshot()]


def evaluations_of(tree: Tree, counts: Sample) -> list[EvaluationRecord]:
    """Return the records of the evaluations of a sample on any pruning of a tree."""
    records = _records_of(tree, counts)
    records += _pool_small_samples([record for _, record in records], tree, counts)
    return [record for sample_id, record in records if _is_same(sample_id, record, counts)]


def _pool_small_samples(
    records: Sequence[EvaluationRecord], tree: Tree, counts: Sample
) -> list[tuple[bytes, EvaluationRecord]]:
    """Return one record of all small samples that share rows with `counts`; none if there are fewer than two.

    Rows that are evaluated a few at a time are not recognised among those that certify: five common rows may be due to
    chance. All of them together are. A sample is small if its sketch holds all its rows. Rows that shaped the tree are
    left out, because they are compared by themselves.
    """
    if counts.sketch is None:
        return []
    shaped = {used.sketch.digest for used in tree.history.samples if used.sketch is not None}
    small, sketches = [], []
    for record in records:
        sketch = record.sample.sketch
        if sketch is None or sketch.key != tree.row_key or sketch.theta < HASH_RANGE or sketch.digest in shaped:
            continue
        if np.isin(sketch.hashes, counts.sketch.hashes).any():
            small.append(record)
            sketches.append(replace(sketch, rounded=()))
    if len(small) < MIN_POOLED_SAMPLES:
        return []
    sample = UsedSample(small[0].sample.name, merge_sketches(sketches))
    return [(b"", replace(reduce(EvaluationRecord.merge, small), sample=sample))]


def _covers_other_prunings(record: EvaluationRecord, pruning_or_sequence: Certifiable, members: Sequence[Any]) -> bool:
    """Return whether a sample was evaluated on other prunings than those that it is to certify."""
    if isinstance(pruning_or_sequence, PruningSequence):
        return record.has_other_sequences or record.sequence not in (None, pruning_or_sequence.digest)
    if record.may_have_chosen:
        return True
    return record.pruning not in (None, *(pruning.digest for pruning in members))


def _paying_sequence(record: EvaluationRecord, pruning: Certifiable) -> PruningSequence | None:
    """Return the only sequence a sample was evaluated on, if it exists and `pruning` is a member of it; else None."""
    if record.sequence is None or record.has_other_sequences:
        return None
    sequence = find_evaluated_sequence(record.sequence)
    if sequence is None or not isinstance(pruning, Pruning) or index_in(sequence, pruning) is None:
        return None
    return sequence


def index_in(sequence: PruningSequence, pruning: Pruning) -> int | None:
    """Return the number of the member of a sequence with the leaves and labels of a pruning; None if there is none."""
    if not sequence.tree.same_structure(pruning.tree):
        return None
    index = sequence.index_of(pruning)
    return index if index is not None and sequence[index].digest == pruning.digest else None


def _is_same(sample_id: bytes, record: EvaluationRecord, counts: Sample) -> bool:
    """Return whether a record is about the sample `counts`: by its identity, or because most rows are the same."""
    if sample_id == counts.sample_id:
        return True
    result = sample_overlap(record.sample, counts)
    return result is not None and result.is_refused


def _describe_evaluation(counts: Sample, evaluated: str) -> str:
    return (
        f"sample {show(counts.sample)} was evaluated on {evaluated} of this tree, so it may have chosen this one; "
        "certify on rows that were not evaluated before"
        + (", certify all candidates together (a sequence, or a list of prunings)" if counts.has_classes else "")
        + _paying_remedy(counts)
    )


def _paying_remedy(counts: Sample, reason: str = "") -> str:
    """Return the methods that accept used rows, to be added to a refusal; there are none for numbers."""
    if not counts.has_classes:
        return ""
    return f", or{reason} pass grown= to use a method that pays for the choice ({_METHODS_FOR_USED_ROWS})"


def check_fresh_rows(
    pruning_or_sequence: Certifiable,
    counts: Sample,
    subject: str,
    delta: float,
    *,
    repeated: bool = False,
    repeats: Repeats | RepeatRule = "errors",
    takes_groups: bool = False,
    kind: type[Sample] = Counts,
) -> CertifyingRows:
    """Return the rows of a certificate (`Freshness.certifying_rows`), which must be fresh.

    The evaluation log records that the rows were evaluated on the pruning, if it is a single one.

    Parameters
    ----------
    pruning_or_sequence : Pruning, PruningSequence or list of Pruning
        What is certified.
    counts : Counts
        The sample that certifies.
    subject : str
        The certificate, such as "a test sample": the subject of the refusals.
    delta, repeated, repeats
        As for `certify`.
    takes_groups : bool
        Whether the limit can be computed from groups.
    kind : type
        `Counts`, or `Moments` for a limit on the losses of numbers.
    """
    check_delta(delta)
    options: dict[str, Any] = {"repeated": repeated, "repeats": repeats, "takes_groups": takes_groups}
    if isinstance(pruning_or_sequence, PruningSequence | list | tuple):
        result = freshness(pruning_or_sequence, counts).check_fresh()
        return result.certifying_rows(counts, subject, delta, **options)
    pruning = check_kinds(pruning_or_sequence, counts, kind)
    log = pruning.tree.evaluation_log
    with log.lock:
        result = freshness(pruning, counts).check_fresh()
        rows = result.certifying_rows(counts, subject, delta, **options)
        log.record_pruning(counts, pruning)
    return rows


def check_rows_did_not_grow(
    pruning: Pruning,
    counts: Counts,
    grown: Counts | None,
    subject: str,
    delta: float,
    *,
    repeated: bool = False,
    repeats: Repeats | RepeatRule = "errors",
) -> CertifyingRows:
    """Return the rows of a certificate (`Freshness.certifying_rows`), which must not have grown the tree.

    For limits that hold for all prunings of the grown tree at once: the rows may have chosen among the prunings.
    Parameters are as for `check_fresh_rows`. `grown` is needed if the rows helped to make the pruning and the tree does
    not know the rows that grew it.
    """
    check_kinds(pruning, counts)
    if grown is not None:
        grown.check_fits(pruning.tree)
    growing_samples = pruning.tree.history | SampleUsage.of(grown)
    if not growing_samples and counts.sample in pruning.seen:
        raise ParameterError(
            f"sample {show(counts.sample)} helped to make the pruning; pass grown=, the counts of the growing sample, "
            "to show that it did not grow the tree"
        )
    result = compare_samples(growing_samples, counts, refuses_name=True).check_fresh()
    pruning.tree.evaluation_log.record_nodes(counts)
    return result.certifying_rows(counts, subject, delta, repeated=repeated, repeats=repeats)


def check_kinds(pruning: object, counts: object, kind: type[Sample] = Counts) -> Pruning:
    """Return the pruning; raise if it is not a `Pruning`, or if `counts` are not of this kind, or of another tree."""
    if not isinstance(pruning, Pruning):
        raise UnsupportedError(f"a {type(pruning).__name__} was given; a Pruning is needed, such as sequence[3]")
    if isinstance(counts, Moments) and kind is Counts:
        raise UnsupportedError(
            "Moments were given as counts; only class counts certify an error rate: the mean loss of a regression tree "
            "is certified by the methods 'absolute-error' and 'squared-error'"
        )
    if not isinstance(counts, kind):
        raise UnsupportedError(f"a {type(counts).__name__} was given as counts; {kind.__name__} are needed")
    counts.check_fits(pruning.tree)
    return pruning
