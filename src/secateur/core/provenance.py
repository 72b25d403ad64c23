"""Provenance: which samples and which rule made a tree, a pruning or an array, and which samples have been evaluated.

`SampleUsage` is a set of samples. Rules store one in everything they return, and `Pruning.to_tree` passes it on to
the smaller tree. `SampleArray` is an array, such as `Counts.majority`, that carries the sample it was computed from.
`certify` compares rows by their sketches, so that the names of samples do not matter.

`RuleProvenance` names the rule that made a pruning. Programs read its fields. People read its `text`, which becomes
`Pruning.rule` or `PruningSequence.rule`.

`EvaluationLog` records the samples that have been evaluated on the prunings of a tree. It is the only part of a frozen
value that changes. All trees that were cut from one tree share its log, and so do copies and deep copies of the tree.
A tree that is unpickled or loaded shares the log of a tree with the same splits that was pickled, saved or loaded
before in this process, as long as that tree exists. Growing a tree begins a new log.

Only functions that evaluate a sample write to the log: `Pruning.errors`, `PruningSequence.errors_on`,
`Counts.errors_if_leaf`, the label rules, `select`, `evaluate`, `score`, the rules and the certificates. Reading a
property never does. If a user evaluates several prunings and keeps the best,
`sequence[argmin(sequence.errors_on(held_out))]`, the log shows that `held_out` may have chosen the pruning, and
`certify` asks for a price or refuses.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args
from weakref import WeakValueDictionary

import numpy as np

from .._utils.arrays import Array, ArrayLike, write_protect
from .._utils.checks import check_name
from ..data.sketch import Sketch
from ..errors import escape_unprintable

if TYPE_CHECKING:
    from .costs import Sample
    from .pruning import Pruning
    from .sequence import PruningSequence


CostUnit = Literal[
    "none",
    "errors",
    "squared error",
    "m-estimate",
    "corrected errors",
    "estimated errors",
    "certified error",
    "split score",
    "expected cost",
    "deviance",
    "impurity",
    "other",
    "given",
]
AlphaUnit = Literal["none", "cost", "cost per row", "split score"]
COST_UNITS: tuple[CostUnit, ...] = get_args(CostUnit)
ALPHA_UNITS: tuple[AlphaUnit, ...] = get_args(AlphaUnit)


class UsedSample(NamedTuple):
    """A sample: its name and, if its rows are known, the sketch of them."""

    name: str
    sketch: Sketch | None = None


class SampleUsage(AbstractSet[str]):
    """The samples that were used to make something: a set of names that also holds sketches of the rows.

    Parameters
    ----------
    samples : iterable of UsedSample or str
        A name without a sketch is dropped if the same name occurs with a sketch.

    Examples
    --------
    >>> usage = SampleUsage(["grow"]) | {"prune"}
    >>> sorted(usage), "grow" in usage, usage == {"grow", "prune"}
    (['grow', 'prune'], True, True)
    """

    __slots__ = ("samples",)

    samples: tuple[UsedSample, ...]

    def __init__(self, samples: Iterable[UsedSample | str] = ()) -> None:
        if isinstance(samples, SampleUsage):
            self.samples = samples.samples
            return
        used = [item if isinstance(item, UsedSample) else UsedSample(str(item)) for item in samples]
        sketched_names = {sample.name for sample in used if sample.sketch is not None}
        unique = dict.fromkeys(s for s in used if s.sketch is not None or s.name not in sketched_names)
        self.samples = tuple(sorted(unique, key=lambda s: (s.name, b"" if s.sketch is None else s.sketch.digest)))

    @classmethod
    def of(cls, *samples: "Sample | None") -> "SampleUsage":
        """Return the usage of these samples (`Counts` or `Moments`); None is skipped."""
        return cls(UsedSample(sample.sample, sample.sketch) for sample in samples if sample is not None)

    def without(self, other: "SampleUsage") -> "SampleUsage":
        """Return the samples that are not in `other`, compared by name and by sketch."""
        return SampleUsage(sample for sample in self.samples if sample not in other.samples)

    def __contains__(self, name: object) -> bool:
        return any(sample.name == name for sample in self.samples)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({sample.name for sample in self.samples}))

    def __len__(self) -> int:
        return len({sample.name for sample in self.samples})

    def __or__(self, other: Iterable[Any]) -> "SampleUsage":
        added = SampleUsage(other).samples
        if not added or added == self.samples:
            return self
        return SampleUsage([*self.samples, *added])

    __ror__ = __or__

    def __hash__(self) -> int:
        return hash(frozenset(self))

    def __reduce__(self) -> tuple[object, ...]:
        return SampleUsage, (self.samples,)

    def __repr__(self) -> str:
        return escape_unprintable(f"SampleUsage({', '.join(self)})")


NO_SAMPLES = SampleUsage()


class SampleArray(np.ndarray[Any, np.dtype[Any]]):
    """A read-only array that was computed from one sample and carries the sample with it.

    Reading `Counts.majority` records nothing. A pruning that is given these labels, or a rule that is given costs of
    this kind, adds the sample to its `seen`, so that the sample cannot certify the result as if it were fresh.
    Slices, copies and arithmetic keep the sample. `np.asarray` returns the plain array.
    """

    usage: SampleUsage

    def __array_finalize__(self, source: Any) -> None:
        self.usage = getattr(source, "usage", NO_SAMPLES)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        # Sums and other reductions return plain numbers, as those of an ordinary array do.
        return array[()] if return_scalar else super().__array_wrap__(array, context, return_scalar)

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()


def sample_array(values: Array, sample: "Sample") -> Array:
    """Return `values`, write-protected, as an array that carries the sample it was computed from.

    Counts entered by hand, whose rows are not known, are trusted: the result is then an ordinary array.
    """
    if sample.n_rows is None:
        return write_protect(values)
    array = write_protect(values).view(SampleArray)
    array.usage = SampleUsage.of(sample)
    return array


def usage_of_array(values: ArrayLike | None) -> SampleUsage:
    """Return the sample that an array carries; no samples for any other value."""
    return values.usage if isinstance(values, SampleArray) else NO_SAMPLES


def add_usage_of_labels(usage: SampleUsage, labels: ArrayLike | None, history: SampleUsage) -> SampleUsage:
    """Return `usage` with the sample that `labels` carry, unless this sample is in the history of the tree."""
    return usage | labels.usage.without(history) if isinstance(labels, SampleArray) else usage


def identify_sample(sample: "Sample", *arrays: Array) -> bytes:
    """Return the identity of a sample: a hash of its name and sketch or, without a sketch, of these arrays."""
    if sample.sketch is None:
        return hash_arrays(*arrays)
    return hashlib.blake2b(sample.sample.encode(errors="replace") + sample.sketch.digest, digest_size=16).digest()


def hash_arrays(*arrays: Array) -> bytes:
    """Return a hash of 16 bytes of the contents of arrays."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(array.tobytes())
    return digest.digest()


@dataclass(frozen=True)
class RuleProvenance:
    """Which pruning rule made a pruning, with its parameters and the cost that decided.

    Parameters
    ----------
    rule : str
        Name of the rule in `secateur.pruners.RULES`.
    parameters : dict
        Parameters of the call, as plain values.
    cost : str
        Unit of the cost that the rule compared: "errors", "squared error", "m-estimate" (estimated errors, divided by
        the number of rows of the whole sample), "corrected errors" (with half an error added for each leaf),
        "estimated errors" (an upper limit), "certified error", "split score", "expected cost" (of a cost matrix),
        "deviance" (log loss), "impurity" (Gini), "other" (a unit that only this rule has; its documentation states it),
        or "given" where the caller passed one number per node. "none" where no cost decided.
    sample : str
        Name of the sample on which the cost was computed; empty where the caller passed the cost.
    tolerance : float
        Costs tie if they differ by at most this share of the largest cost; 0 where costs are compared exactly.
    alpha_unit : str
        Unit of the `alphas` of a sequence: "cost", "cost per row" (the cost divided by the weight of the growing
        sample), or "split score". "none" where there are no alphas.
    edits : tuple of str
        Changes of the pruning after the rule, in order: "snip", "restore", "union", "intersection",
        "equal-predictions".
    text : str
        The rule and its parameters in words; the name of the rule by default.

    Examples
    --------
    >>> provenance = RuleProvenance("minimum-error", {"m": 2.0}, "m-estimate", "grow", text="minimum error, m = 2")
    >>> provenance.parameters["m"], provenance.cost, provenance.sample
    (2.0, 'm-estimate', 'grow')
    >>> provenance.with_edit("snip").edits
    ('snip',)
    """

    rule: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    cost: CostUnit = "none"
    sample: str = ""
    tolerance: float = 0.0
    alpha_unit: AlphaUnit = "none"
    edits: tuple[str, ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        check_name("cost", self.cost, COST_UNITS, alternative=" (other: a unit that only this rule has)")
        check_name("alpha_unit", self.alpha_unit, ALPHA_UNITS)
        parameters = {name: _plain_value(value) for name, value in self.parameters.items()}
        object.__setattr__(self, "parameters", parameters)
        object.__setattr__(self, "text", self.text or self.rule)

    def with_edit(self, edit: str) -> "RuleProvenance":
        """Return the provenance of the pruning after one more change."""
        return replace(self, edits=(*self.edits, edit))


def _plain_value(value: Any) -> Any:
    """Return a parameter without NumPy's types, so that a model file can hold it."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class EvaluationRecord:
    """How one sample has been evaluated on the prunings of one tree.

    Parameters
    ----------
    sample : UsedSample
        The sample that was evaluated.
    pruning : bytes, optional
        Digest of the pruning that was last evaluated by itself. It is no longer updated once `is_unrestricted` is true.
    sequence : bytes, optional
        Digest of the first sequence on which the sample was evaluated, all members together.
    is_unrestricted : bool
        Whether the errors of single nodes, or of several prunings by themselves, are known, so that the sample may have
        chosen any pruning.
    has_other_sequences : bool
        Whether the sample was evaluated on further sequences, too.
    chose_splits : bool
        Whether candidate splits of nodes were computed on the sample, so that it may choose the splits of a tree that
        is grown on by hand.
    """

    sample: UsedSample
    pruning: bytes | None = None
    sequence: bytes | None = None
    is_unrestricted: bool = False
    has_other_sequences: bool = False
    chose_splits: bool = False

    @property
    def may_have_chosen(self) -> bool:
        """Whether the sample was evaluated on more than one pruning."""
        return self.is_unrestricted or self.sequence is not None

    def add_pruning(self, digest: bytes) -> "EvaluationRecord":
        """Return the record after the evaluation of one pruning by itself."""
        if self.is_unrestricted:
            return self
        return replace(self, pruning=digest, is_unrestricted=self.pruning not in (None, digest))

    def add_sequence(self, digest: bytes) -> "EvaluationRecord":
        """Return the record after the evaluation of all members of a sequence."""
        has_others = self.has_other_sequences or self.sequence not in (None, digest)
        return replace(self, sequence=self.sequence or digest, has_other_sequences=has_others)

    def merge(self, other: "EvaluationRecord") -> "EvaluationRecord":
        """Return the record of the evaluations of both records, which are of the same sample."""
        merged = self if other.pruning is None else self.add_pruning(other.pruning)
        merged = merged if other.sequence is None else merged.add_sequence(other.sequence)
        return replace(
            merged,
            is_unrestricted=merged.is_unrestricted or other.is_unrestricted,
            has_other_sequences=merged.has_other_sequences or other.has_other_sequences,
            chose_splits=merged.chose_splits or other.chose_splits,
        )

    def of_edited_tree(self) -> "EvaluationRecord":
        """Return the record as that of a tree that was grown on by hand: the prunings are those of another tree."""
        return replace(self, pruning=_foreign_digest(self.pruning), sequence=_foreign_digest(self.sequence))


@dataclass(eq=False)
class EvaluationLog:
    """The samples that have been evaluated on one tree, on its copies, and on all trees that were cut from them.

    Parameters
    ----------
    records : dict of bytes to EvaluationRecord
        One record per sample; the key is the identity of the sample (`Counts.sample_id`). Logs that share their
        records have the same dictionary.

    Examples
    --------
    >>> EvaluationLog().records
    {}
    """

    records: dict[bytes, EvaluationRecord] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lock = RLock()  # held while records change, and while a certificate is computed
        self._origin: EvaluationLog | None = None  # the log whose records this one shares; None: they are its own
        self._key: bytes | None = None  # the key that `offer` was called with

    def snapshot(self) -> list[tuple[bytes, EvaluationRecord]]:
        """Return the records as a list that no other thread changes."""
        with self.lock:
            return list(self.records.items())

    def record_nodes(self, sample: "Sample") -> None:
        """Record that the errors or labels of single nodes on a sample are known."""
        if _has_known_rows(sample):
            self._update(sample, lambda record: replace(record, is_unrestricted=True))

    def record_pruning(self, sample: "Sample", pruning: "Pruning") -> None:
        """Record that the errors of one pruning on a sample are known."""
        if _has_known_rows(sample):
            self._update(sample, lambda record: record.add_pruning(pruning.digest))

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
        if _has_known_rows(sample) or include_entered_by_hand:
            digest = register_sequence(sequence)
            self._update(sample, lambda record: record.add_sequence(digest))

    def record_candidates(self, sample: "Sample") -> None:
        """Record that candidate splits were computed on a sample, which shows more than the errors of all nodes."""
        if _has_known_rows(sample):
            self._update(sample, lambda record: replace(record, is_unrestricted=True, chose_splits=True))

    def add(self, sample_id: bytes, record: EvaluationRecord) -> None:
        """Add the record of a sample, for instance from a file, to what is known about this sample."""
        with self.lock:
            known = self.records.get(sample_id)
            self.records[sample_id] = record if known is None else known.merge(record)

    @property
    def possible_choosers(self) -> SampleUsage:
        """The samples that may have chosen a pruning: those evaluated on more than one pruning."""
        return SampleUsage(record.sample for _, record in self.snapshot() if record.may_have_chosen)

    def offer(self, key: bytes) -> None:
        """Share this log from now on with trees that are unpickled or loaded and `join` under the same key."""
        with _offers_lock:
            self._key = key
            _offered_logs[key] = self if self._origin is None else self._origin

    def join(self, key: bytes) -> None:
        """Share the log that was last offered under this key; if there is none, offer this one.

        The records of this log are added to those of the shared one.
        """
        with _offers_lock:  # two threads that load one tree must not both find no log
            origin = _offered_logs.get(key)
            if origin is None:
                self.offer(key)
                return
            if origin.records is self.records:
                return
            own_records = self.records
            self._origin, self._key, self.records, self.lock = origin, key, origin.records, origin.lock
        for sample_id, record in own_records.items():
            self.add(sample_id, record)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _restore_log, (dict(self.snapshot()), self._key)

    def _update(self, sample: "Sample", change: Callable[[EvaluationRecord], EvaluationRecord]) -> None:
        """Replace the record of a sample by the changed one; a sample without a record has an empty one."""
        sample_id = sample.sample_id
        with self.lock:
            record = self.records.get(sample_id, EvaluationRecord(UsedSample(sample.sample, sample.sketch)))
            self.records[sample_id] = change(record)


# The logs of trees that were pickled, saved or loaded and are alive, by the key that `EvaluationLog.offer` was given.
_offered_logs: "WeakValueDictionary[bytes, EvaluationLog]" = WeakValueDictionary()
_offers_lock = RLock()
# Sequences on which samples were evaluated, by their digests. A record does not refer to the sequence itself, because
# the sequence contains the tree, and the tree its log.
_evaluated_sequences: "WeakValueDictionary[bytes, PruningSequence]" = WeakValueDictionary()


def register_sequence(sequence: "PruningSequence") -> bytes:
    """Return the digest of a sequence, by which the sequence is found as long as it exists."""
    _evaluated_sequences[sequence.digest] = sequence
    return sequence.digest


def find_evaluated_sequence(digest: bytes) -> "PruningSequence | None":
    """Return a sequence with this digest on which a sample was evaluated; None if it no longer exists."""
    return _evaluated_sequences.get(digest)


def _restore_log(records: dict[bytes, EvaluationRecord], key: bytes | None) -> EvaluationLog:
    """Return the log of an unpickled tree, which shares the records of a living copy of the tree if there is one."""
    log = EvaluationLog(dict(records))
    if key is not None:
        log.join(key)
    return log


def _foreign_digest(digest: bytes | None) -> bytes | None:
    """Return a digest that no pruning and no sequence of an edited tree has, in place of that of another tree."""
    return None if digest is None else hashlib.blake2b(b"other tree" + digest, digest_size=16).digest()


def _has_known_rows(sample: "Sample") -> bool:
    return sample.n_rows is not None
