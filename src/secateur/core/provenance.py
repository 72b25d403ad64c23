"""Provenance: which samples were used to make a tree, a pruning or an array, and how they are identified.

`SampleUsage` is a set of samples. Rules store one in everything they return, and `Pruning.to_tree` passes it on to
the smaller tree. `SampleArray` is an array, such as `Counts.majority`, that carries the sample it was computed from.
Which samples have been *evaluated* is recorded elsewhere, in the log of the tree (`evaluation_log.py`).
`certify` reads both, and compares rows by their sketches, so that the names of samples do not matter.
"""

import hashlib
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._utils.arrays import Array, ArrayLike, write_protect
from ..data.sketch import Sketch
from ..errors import escape_unprintable

if TYPE_CHECKING:
    from .costs import Sample


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
        items = samples.samples if isinstance(samples, SampleUsage) else samples
        used = [item if isinstance(item, UsedSample) else UsedSample(str(item)) for item in items]
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
        return SampleUsage([*self.samples, *SampleUsage(other).samples])

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
