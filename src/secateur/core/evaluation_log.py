"""EvaluationLog: which samples have been evaluated on the prunings of a tree.

The log is the only part of a frozen value that changes. All trees that were cut from one tree share its log.

Only functions that evaluate a sample write to the log: `Pruning.errors`, `PruningSequence.errors_on`,
`Counts.errors_if_leaf`, the label rules, `select`, `evaluate`, the rules and the certificates. Reading a property never
does. If a user evaluates several prunings and keeps the best, `sequence[argmin(sequence.errors_on(held_out))]`, the
log shows that `held_out` may have chosen the pruning, and `certify` asks for a price or refuses.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .provenance import SampleUsage, UsedSample

if TYPE_CHECKING:
    from .costs import Sample
    from .pruning import Pruning
    from .sequence import PruningSequence


@dataclass
class EvaluationRecord:
    """How one sample has been evaluated on the prunings of one tree.

    Parameters
    ----------
    sample : UsedSample
        The sample that was evaluated.
    pruning : bytes, optional
        Digest of the pruning, while only one pruning has been evaluated by itself.
    sequence : PruningSequence, optional
        The first sequence of which all members were evaluated together.
    is_unrestricted : bool
        Whether the errors of single nodes, or of several prunings, are known: the sample may have chosen any pruning.
    has_other_sequences : bool
        Whether members of other sequences than `sequence` were evaluated, too.
    """

    sample: UsedSample
    pruning: bytes | None = None
    sequence: "PruningSequence | None" = None
    is_unrestricted: bool = False
    has_other_sequences: bool = False


@dataclass(eq=False)
class EvaluationLog:
    """The samples that have been evaluated on one tree and on all trees that were cut from it.

    Parameters
    ----------
    records : dict of bytes to EvaluationRecord
        One record per sample; the key is the identity of the sample (`Counts.sample_id`).

    Examples
    --------
    >>> EvaluationLog().records
    {}
    """

    records: dict[bytes, EvaluationRecord] = field(default_factory=dict)

    def record_nodes(self, sample: "Sample") -> None:
        """Record that the errors or labels of single nodes on a sample are known."""
        if _has_known_rows(sample):
            self._record_of(sample).is_unrestricted = True

    def record_pruning(self, sample: "Sample", pruning: "Pruning") -> None:
        """Record that the errors of one pruning on a sample are known."""
        if not _has_known_rows(sample):
            return
        record = self._record_of(sample)
        if record.is_unrestricted:
            return
        digest = pruning.digest
        record.is_unrestricted = record.pruning not in (None, digest)
        record.pruning = digest

    def record_sequence(
        self, sample: "Sample", sequence: "PruningSequence", *, include_entered_by_hand: bool = False
    ) -> None:
        """Record that the errors of all members of a sequence on a sample are known.

        Parameters
        ----------
        sample : Counts or Moments
            The sample that was evaluated.
        sequence : PruningSequence
            The sequence it was evaluated on.
        include_entered_by_hand : bool
            Whether to record counts without known rows, too. Such counts are trusted otherwise.
        """
        if not (_has_known_rows(sample) or include_entered_by_hand):
            return
        record = self._record_of(sample)
        record.has_other_sequences |= record.sequence not in (None, sequence)
        record.sequence = record.sequence or sequence

    @property
    def possible_choosers(self) -> SampleUsage:
        """The samples that may have chosen a pruning: those evaluated on more than one pruning."""
        return SampleUsage(
            record.sample for record in self.records.values() if record.is_unrestricted or record.sequence is not None
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Sequences are not pickled. The record then states that the sample may have chosen any pruning.
        records = {
            sample_id: replace(
                record, sequence=None, is_unrestricted=record.is_unrestricted or record.sequence is not None
            )
            for sample_id, record in self.records.items()
        }
        return EvaluationLog, (records,)

    def _record_of(self, sample: "Sample") -> EvaluationRecord:
        """Return the record of a sample; enter an empty one if the sample has none."""
        return self.records.setdefault(sample.sample_id, EvaluationRecord(UsedSample(sample.sample, sample.sketch)))


def _has_known_rows(sample: "Sample") -> bool:
    return sample.n_rows is not None
