"""Sketch: what a sample remembers of its rows, so that a later sample can be compared with it.

A row is known by the values of the columns that the *grown* tree tests and by its answer.
The sketch of a sample keeps the `MAX_HASHES` smallest hashes of its different rows, how often each
occurs, and the rows of each class. Sketches of parts add up to the sketch of the whole.

Numbers are hashed as float32: a file that was rounded on its way, or read by a parser that
misses the last digit, is still recognised. Words are hashed as the codes of the tree's own
schema, which all its samples share. The hash is keyed per tree. Who has the file can test
whether a row he knows in full is likely to be among a thousand of the sample; he cannot read rows.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np
import numpy.typing as npt

from .._kernels.siphash import row_hashes
from .._utils.arrays import Array, write_protect
from .._utils.immutable import Immutable
from ..errors import CountsError

MAX_HASHES = 1024
HASH_RANGE = 2**64
_START = np.frombuffer(b"somepseudorandomlygeneratedbytes", ">u8").astype(np.uint64)  # SipHash's own constants


@dataclass(frozen=True)
class RowKey:
    """How the rows of a tree's samples are hashed.

    Parameters
    ----------
    salt : bytes
        128 bits that belong to the tree.
    columns : tuple of int
        The columns that the grown tree tests, rising.

    Examples
    --------
    >>> RowKey(bytes(16), (0, 2)).columns
    (0, 2)
    """

    salt: bytes
    columns: tuple[int, ...]

    @classmethod
    def of(cls, feature: Array, *tests: Array) -> "RowKey":
        """Return the key of a grown tree: equal trees have equal keys."""
        found = hashlib.blake2b(digest_size=16)
        for array in (feature, *tests):
            found.update(np.ascontiguousarray(array).tobytes())
        return cls(found.digest(), tuple(np.unique(feature[feature >= 0]).tolist()))

    @cached_property
    def _factors(self) -> npt.NDArray[np.uint64]:
        """One odd random factor for each column."""
        random = np.frombuffer(hashlib.shake_128(self.salt).digest(8 * len(self.columns)), "<u8")
        return random.astype(np.uint64) | np.uint64(1)

    def sketch(self, blocks: Iterable[Array], answer: Array, n_classes: int | None, size: int = MAX_HASHES) -> "Sketch":
        """Return the sketch of some rows.

        Parameters
        ----------
        blocks : iterable of arrays
            The values of the key columns as numbers, some rows at a time; categories as codes,
            missing ones as NaN.
        answer : array
            Class numbers; regression: numbers.
        n_classes : int or None
            Classes, the one for unknown labels included; None for regression.
        """
        hashes = np.empty(len(answer), np.uint64)
        factor, start = self._factors, np.tile(np.frombuffer(self.salt, "<u8"), 2).astype(np.uint64) ^ _START
        first = 0
        for block in blocks:
            some = slice(first, first + len(block))
            with np.errstate(over="ignore", invalid="ignore"):
                bits = np.ascontiguousarray(block, np.float32).view(np.uint32)
                words = answer[some] if n_classes else answer[some].astype(np.float32).view(np.uint32)
            hashes[some] = row_hashes(bits, words.astype(np.uint64), factor, start)
            first += len(block)
        classes = answer.astype(np.int64) if n_classes else np.zeros(len(answer), np.int64)
        n_by_class = np.bincount(classes, minlength=n_classes or 1)
        kept, at, copies = _smallest(hashes, size)
        return Sketch(
            self,
            write_protect(kept),
            write_protect(classes[at]),
            write_protect(copies),
            write_protect(n_by_class),
            size,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Sketch(Immutable):
    """The smallest hashes of the different rows of a sample.

    Parameters
    ----------
    key : RowKey
        Only sketches of one key can be compared.
    hashes : array of uint64
        Rising; at most `size`.
    classes, copies : arrays of int
        Class of each of these rows, and how often it occurs.
    n_by_class : array of int
        Rows of each class in the whole sample, whatever their weights.
    size : int

    Examples
    --------
    >>> import numpy as np
    >>> key = RowKey(bytes(16), (0,))
    >>> first = key.sketch([np.array([[1.0], [2.0], [2.0]])], np.array([0, 1, 1]), 2)
    >>> first
    Sketch(2 of 3 rows)
    >>> first.merge(first).copies.sum()
    np.int64(6)
    """

    key: RowKey
    hashes: npt.NDArray[np.uint64]
    classes: Array
    copies: Array
    n_by_class: Array
    size: int = field(default=MAX_HASHES, compare=False)

    def __post_init__(self) -> None:
        self._freeze_arrays(hashes=np.uint64, classes=np.int64, copies=np.int64, n_by_class=np.int64)
        if not len(self.hashes) == len(self.classes) == len(self.copies) <= self.size:
            raise CountsError(
                f"a sketch of {len(self.hashes)} hashes; at most {self.size}, each with a class and a count, are needed"
            )

    @property
    def theta(self) -> int:
        """All rows with a hash below this are in the sketch."""
        return HASH_RANGE if len(self.hashes) < self.size else int(self.hashes[-1]) + 1

    @property
    def n_rows(self) -> int:
        """Rows of the sample."""
        return int(self.n_by_class.sum())

    @cached_property
    def digest(self) -> bytes:
        """Equal for equal sketches."""
        found = hashlib.blake2b(self.key.salt, digest_size=16)
        for array in (self.hashes, self.copies, self.n_by_class):
            found.update(array.tobytes())
        return found.digest()

    def merge(self, other: "Sketch") -> "Sketch":
        """Return the sketch of both samples together; any order of merging gives the same."""
        if self.key != other.key:
            raise CountsError("sketches of different trees cannot be added up")
        size = min(self.size, other.size)
        hashes, first, inverse = np.unique(
            np.concatenate([self.hashes, other.hashes]), return_index=True, return_inverse=True
        )
        copies = np.bincount(inverse, np.concatenate([self.copies, other.copies])).astype(np.int64)
        classes = np.concatenate([self.classes, other.classes])[first]
        n = max(len(self.n_by_class), len(other.n_by_class))
        n_by_class = sum(np.pad(s.n_by_class, (0, n - len(s.n_by_class))) for s in (self, other))
        return Sketch(self.key, hashes[:size], classes[:size], copies[:size], np.asarray(n_by_class), size)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Sketch({len(self.hashes):,} of {self.n_rows:,} rows)"


def merged(sketches: Iterable[Sketch | None]) -> Sketch | None:
    """Return the sketch of all samples together; None if one of them has none."""
    parts = list(sketches)
    known = [part for part in parts if part is not None]
    return reduce(Sketch.merge, known) if known and len(known) == len(parts) else None


def _smallest(hashes: Array, size: int) -> tuple[Array, Array, Array]:
    """The `size` smallest different hashes, a place of each, and how often they occur."""
    reach = 2 * size
    while True:
        is_near = slice(None) if reach >= len(hashes) else hashes <= np.partition(hashes, reach)[reach]
        rows = np.arange(len(hashes))[is_near]
        kept, first, copies = np.unique(hashes[rows], return_index=True, return_counts=True)
        if len(kept) >= size or reach >= len(hashes):
            return kept[:size], rows[first[:size]], copies[:size]
        reach *= 8
