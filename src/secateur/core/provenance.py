"""Seen and Ledger: which samples shaped a tree or a pruning, and which have been looked at.

Two books, one for each way in which rows can enter a tree:

    Seen     frozen; the samples that grew, pruned or chose something. Rules write it into what
             they return, and `Pruning.to_tree` hands it on to the smaller tree.
    Ledger   grows; which questions each sample has answered about one tree. The questions write
             it themselves: `errors_on`, `errors`, `errors_if_leaf`, `select`. A choice made by
             hand, `sequence[argmin(sequence.errors_on(held_out))]`, leaves its trace here.

`certify` reads both, and compares rows by their sketches, so that names do not matter.
"""

import hashlib
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from .._utils.arrays import Array
from ..data.sketch import Sketch
from ..errors import escape_unprintable

if TYPE_CHECKING:
    from .costs import Sample
    from .pruning import Pruning
    from .sequence import PruningSequence


class UsedSample(NamedTuple):
    """A sample by its name and, where there is one, the sketch of its rows."""

    name: str
    sketch: Sketch | None = None


class SampleUsage(AbstractSet[str]):
    """The samples that shaped something: a set of names that also knows their rows.

    Parameters
    ----------
    samples : iterable of SeenSample or str

    Examples
    --------
    >>> seen = SampleUsage(["grow"]) | {"prune"}
    >>> sorted(seen), "grow" in seen, seen == {"grow", "prune"}
    (['grow', 'prune'], True, True)
    """

    __slots__ = ("samples",)

    samples: tuple[UsedSample, ...]

    def __init__(self, samples: Iterable[UsedSample | str] = ()) -> None:
        given = samples.samples if isinstance(samples, SampleUsage) else samples
        marks = [one if isinstance(one, UsedSample) else UsedSample(str(one)) for one in given]
        known = {sample_id.name for sample_id in marks if sample_id.sketch is not None}
        kept = dict.fromkeys(m for m in marks if m.sketch is not None or m.name not in known)
        self.samples = tuple(sorted(kept, key=lambda m: (m.name, b"" if m.sketch is None else m.sketch.digest)))

    @classmethod
    def of(cls, *samples: "Sample | None") -> "SampleUsage":
        """Return the set of these samples (`Counts` or `Moments`; None is passed over)."""
        return cls(UsedSample(sample.sample, sample.sketch) for sample in samples if sample is not None)

    def __contains__(self, name: object) -> bool:
        return any(sample.name == name for sample in self.samples)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({sample.name for sample in self.samples}))

    def __len__(self) -> int:
        return len({sample.name for sample in self.samples})

    def __or__(self, other: Iterable[Any]) -> "SampleUsage":
        return SampleUsage([*self.samples, *SampleUsage(other).samples])

    __ror__ = __or__

    def __hash__(self) -> int:
        return hash(frozenset(self))

    def __reduce__(self) -> tuple[object, ...]:
        return SampleUsage, (self.samples,)

    def __repr__(self) -> str:
        return escape_unprintable(f"Seen({', '.join(self)})")


@dataclass
class EvaluationRecord:
    """The questions that one sample has answered about one tree.

    `pruning` is the digest of the only pruning whose errors were asked for, `sequence` the first
    sequence; `is_several` says that there were others, `is_open` that more was told: the errors of
    single nodes, or of several prunings.
    """

    sample: UsedSample
    pruning: bytes | None = None
    sequence: "PruningSequence | None" = None
    is_open: bool = False
    is_several: bool = False


@dataclass(eq=False)
class EvaluationLog:
    """Which samples have been looked at, on one tree and on all trees that were cut from it.

    Examples
    --------
    >>> EvaluationLog().records
    {}
    """

    records: dict[bytes, EvaluationRecord] = field(default_factory=dict)

    def record(
        self,
        sample: "Sample",
        *,
        pruning: "Pruning | None" = None,
        sequence: "PruningSequence | None" = None,
        is_asked: bool = False,
    ) -> None:
        """Note that a sample told how one pruning, one sequence, or (neither) every node fares.

        Counts that were made by hand, of which no rows are known, are taken at their word: of them
        only an explicit question (`is_asked`) is noted.
        """
        if sample.n_rows is None and not is_asked:
            return
        record = self.records.setdefault(sample.sample_id, EvaluationRecord(UsedSample(sample.sample, sample.sketch)))
        if sequence is not None:
            record.is_several |= record.sequence not in (None, sequence)
            record.sequence = record.sequence or sequence
        elif pruning is None:
            record.is_open = True
        elif not record.is_open:
            digest = pruning.digest
            record.is_open = record.pruning not in (None, digest)
            record.pruning = digest

    @property
    def open(self) -> SampleUsage:
        """The samples that have told more than how one pruning fares."""
        return SampleUsage(
            record.sample for record in self.records.values() if record.is_open or record.sequence is not None
        )

    def __reduce__(self) -> tuple[object, ...]:
        # A sequence is not taken along: that it was looked at is.
        records = {
            sample_id: replace(record, sequence=None, is_open=record.is_open or record.sequence is not None)
            for sample_id, record in self.records.items()
        }
        return EvaluationLog, (records,)


NO_SAMPLES = SampleUsage()


def sample_id_of(sample: "Sample", *arrays: Array) -> bytes:
    """The mark of a sample: of its name and sketch, or of the arrays it has counted."""
    if sample.sketch is None:
        return digest_of(*arrays)
    return hashlib.blake2b(sample.sample.encode(errors="replace") + sample.sketch.digest, digest_size=16).digest()


def digest_of(*arrays: Array) -> bytes:
    """A short hash of arrays."""
    found = hashlib.blake2b(digest_size=16)
    for array in arrays:
        found.update(array.tobytes())
    return found.digest()
