"""Sketch: a summary of the rows of a sample, which shows whether two samples share rows.

A row is identified by its target and its values in the columns that the *grown* tree tests. The sketch of a sample
keeps the `MAX_HASHES` smallest hashes of its distinct rows, how often each of these rows occurs, and the number of rows
of each class. Sketches of parts of a sample can be merged into the sketch of the sample.

Numbers are hashed as float32. A row is then recognised even if a parser has read the last digit differently. Two more
sketches hash the rows with numbers rounded to about five and about three significant digits. They recognise most rows
that were rounded on the way, such as to six decimals or to float16. A last sketch, of about one digit, recognises no
rows: it shows how many rounded rows are equal by chance. Categories are hashed as their codes in the schema
of the tree, which all samples of the tree share.

The key of the hash belongs to the tree and is stored with it. Somebody who has the model file and knows a row in full
can test whether the row is likely to be among the thousand rows in the sketch. The rows themselves cannot be
reconstructed from a sketch.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np
import numpy.typing as npt

from .._kernels.siphash import row_hashes
from .._utils.arrays import Array, Immutable, write_protect
from ..errors import CountsError

MAX_HASHES = 1024  # in a sketch
MAX_ROUNDED_HASHES = 256  # in a sketch of rounded rows, unless the sketch of the rows is larger than usual
N_ROUNDED = 3  # sketches of rounded rows: to about five, three and one significant digits
N_RECOGNISED = 2  # of these sketches, the first ones, in which rows are recognised
HASH_RANGE = 2**64  # hashes are whole numbers below this one
_START = np.frombuffer(b"somepseudorandomlygeneratedbytes", ">u8").astype(np.uint64)  # the constants of SipHash


@dataclass(frozen=True)
class RowKey:
    """The columns that identify a row of a tree's samples, and the key with which rows are hashed.

    Parameters
    ----------
    salt : bytes
        128 bits that belong to the tree.
    columns : tuple of int
        The columns that the grown tree tests, in ascending order.

    Examples
    --------
    >>> RowKey(bytes(16), (0, 2)).columns
    (0, 2)
    """

    salt: bytes
    columns: tuple[int, ...]

    @classmethod
    def of(cls, feature: Array, *split_arrays: Array) -> "RowKey":
        """Return the key of a grown tree: a hash of the arrays of its splits. Equal trees have equal keys."""
        digest = hashlib.blake2b(digest_size=16)
        for array in (feature, *split_arrays):
            digest.update(np.ascontiguousarray(array).tobytes())
        return cls(digest.digest(), tuple(np.unique(feature[feature >= 0]).tolist()))

    @cached_property
    def _factors(self) -> npt.NDArray[np.uint64]:
        """One odd random factor for each column."""
        random = np.frombuffer(hashlib.shake_128(self.salt).digest(8 * len(self.columns)), "<u8")
        return random.astype(np.uint64) | np.uint64(1)

    def sketch(
        self,
        blocks: Iterable[Array],
        target: Array,
        n_classes: int | None,
        size: int = MAX_HASHES,
        groups: Array | None = None,
    ) -> "Sketch":
        """Return the sketch of rows.

        Parameters
        ----------
        blocks : iterable of arrays
            The values of the key columns as numbers, in blocks of consecutive rows. Categories are codes, and missing
            values are NaN.
        target : array
            Class numbers, or numbers for regression.
        n_classes : int or None
            The number of classes, including one for unknown labels; None for regression.
        size : int
            The largest number of hashes.
        groups : array, optional
            The group of each row. Equal rows of one group are taken as one row.
        """
        hashes = np.empty((1 + N_ROUNDED, len(target)), np.uint64)  # of the rows, and of their rounded numbers
        factors = self._factors
        start = np.tile(np.frombuffer(self.salt, "<u8"), 2).astype(np.uint64) ^ _START
        first = 0
        for block in blocks:
            rows = slice(first, first + len(block))
            with np.errstate(over="ignore", invalid="ignore"):
                value_bits = np.ascontiguousarray(block, np.float32).view(np.uint32)
                target_bits = target[rows] if n_classes else target[rows].astype(np.float32).view(np.uint32)
            hashes[:, rows] = row_hashes(value_bits, target_bits.astype(np.uint64), factors, start, not n_classes)
            first += len(block)
        classes = target.astype(np.int64) if n_classes else np.zeros(len(target), np.int64)
        samples = [_first_of_groups(hashes_of_key, classes, groups) for hashes_of_key in hashes]
        n_by_class = write_protect(np.bincount(samples[0][1], minlength=n_classes or 1))
        n_rounded = size if size > MAX_HASHES else min(size, MAX_ROUNDED_HASHES)
        sketches = tuple(self._sketch_of(*sample, n_by_class, n_rounded) for sample in samples[1:])
        return self._sketch_of(*samples[0], n_by_class, size, sketches)

    def _sketch_of(
        self, hashes: Array, classes: Array, n_by_class: Array, size: int, rounded: "tuple[Sketch, ...]" = ()
    ) -> "Sketch":
        """Return the sketch of rows with the given hashes."""
        smallest, rows_of_hashes, copies = _smallest_hashes(hashes, size)
        return Sketch(
            self,
            write_protect(smallest),
            write_protect(classes[rows_of_hashes]),
            write_protect(copies),
            n_by_class,
            size,
            rounded,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Sketch(Immutable):
    """The smallest hashes of the distinct rows of a sample.

    Parameters
    ----------
    key : RowKey
        Only sketches with the same key can be compared.
    hashes : array of uint64
        In ascending order; at most `size`.
    classes : array of int
        The class of the row of each hash.
    copies : array of int
        How often the row of each hash occurs.
    n_by_class : array of int
        The number of rows of each class in the whole sample, whatever their weights. If the rows belong to groups,
        equal rows of one group are one row.
    size : int
        The largest number of hashes.
    rounded : tuple of Sketch
        The sketches of the same rows after their numbers were rounded to about five, three and one digits. It is empty
        in these sketches themselves, and shorter or empty in sketches from earlier files.

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
    rounded: "tuple[Sketch, ...]" = field(default=(), compare=False)

    def __post_init__(self) -> None:
        self._freeze_arrays(hashes=np.uint64, classes=np.int64, copies=np.int64, n_by_class=np.int64)
        if not len(self.hashes) == len(self.classes) == len(self.copies) <= self.size:
            raise CountsError(
                f"a sketch of {len(self.hashes)} hashes; at most {self.size}, each with a class and a count, are needed"
            )

    @property
    def theta(self) -> int:
        """The sketch contains all rows whose hash is below this number."""
        return HASH_RANGE if len(self.hashes) < self.size else int(self.hashes[-1]) + 1

    @property
    def n_rows(self) -> int:
        """Number of rows of the sample."""
        return int(self.n_by_class.sum())

    @cached_property
    def digest(self) -> bytes:
        """A hash of the sketch, which is equal for equal sketches."""
        digest = hashlib.blake2b(self.key.salt, digest_size=16)
        for array in (self.hashes, self.copies, self.n_by_class):
            digest.update(array.tobytes())
        return digest.digest()

    def merge(self, other: "Sketch") -> "Sketch":
        """Return the sketch of the rows of both samples. The order of merging makes no difference."""
        if self.key != other.key:
            raise CountsError("sketches of different trees cannot be added up")
        size = min(self.size, other.size)
        hashes, first, inverse = np.unique(
            np.concatenate([self.hashes, other.hashes]), return_index=True, return_inverse=True
        )
        copies = np.bincount(inverse, np.concatenate([self.copies, other.copies])).astype(np.int64)
        classes = np.concatenate([self.classes, other.classes])[first]
        n_classes = max(len(self.n_by_class), len(other.n_by_class))
        n_by_class = np.zeros(n_classes, np.int64)
        for sketch in (self, other):
            n_by_class[: len(sketch.n_by_class)] += sketch.n_by_class
        # Of a sketch from an earlier file, which has fewer sketches of rounded rows, only those can be merged.
        rounded = tuple(one.merge(another) for one, another in zip(self.rounded, other.rounded, strict=False))
        return Sketch(self.key, hashes[:size], classes[:size], copies[:size], n_by_class, size, rounded)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Sketch({len(self.hashes):,} of {self.n_rows:,} rows)"


def merge_sketches(sketches: Iterable[Sketch | None]) -> Sketch | None:
    """Return the sketch of all samples together, or None if one of them has no sketch."""
    known = []
    for sketch in sketches:
        if sketch is None:
            return None
        known.append(sketch)
    return reduce(Sketch.merge, known) if known else None


def _first_of_groups(hashes: Array, classes: Array, groups: Array | None) -> tuple[Array, Array]:
    """Return the hashes and classes of the rows, without rows that repeat the hash of an earlier row of their group."""
    if groups is None:
        return hashes, classes
    order = np.lexsort((hashes, groups))
    is_new = np.ones(len(order), bool)
    is_new[1:] = (np.diff(hashes[order]) != 0) | (np.diff(groups[order]) != 0)
    rows = np.sort(order[is_new])
    return hashes[rows], classes[rows]


def _smallest_hashes(hashes: Array, size: int) -> tuple[Array, Array, Array]:
    """Return the `size` smallest distinct hashes, a row with each of them, and how often they occur.

    Only the rows with small hashes are sorted: about `n_candidates`, because hashes are uniform. If they hold too few
    distinct hashes, more rows are taken.
    """
    n_candidates = 2 * size
    while True:
        are_all_rows = n_candidates >= len(hashes)
        if are_all_rows:
            rows = np.arange(len(hashes))
        else:
            rows = np.flatnonzero(hashes < np.uint64(HASH_RANGE * n_candidates // len(hashes)))
        distinct, first, copies = np.unique(hashes[rows], return_index=True, return_counts=True)
        if len(distinct) >= size or are_all_rows:
            return distinct[:size], rows[first[:size]], copies[:size]
        n_candidates *= 8
