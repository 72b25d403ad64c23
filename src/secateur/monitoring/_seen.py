"""Recognise rows that are handed to a monitor twice: by the ids of rows, or by the digest of a whole batch.

Equal rows are natural, so single rows are never recognised by their values. A batch is recognised by the multiset of
its rows (their sketch), and by its counts. It counts as handed in twice only if chance cannot explain that an
independent batch is equal: the probability of a multiset is at most that under its own frequencies,
n! / prod k! prod (k/n)^k.
"""

import hashlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._utils.arrays import Array
from ..core import Counts
from ..data.groups import hash_groups
from ..data.target import read_labels
from ..errors import Argument, DataError, Wording, show

MAX_CHANCE = 1e-12  # largest probability of an equal batch at which a batch is recognised
MAX_DIGESTS = 20_000  # of batches; the oldest are forgotten
MAX_IDS = 1_000_000  # of rows; the oldest are forgotten
MAX_NAMED_IDS = 5  # in messages
ID_NAME = Wording("ids", "--ids")


class SeenRows:
    """The ids of rows, and the digests of batches, that a monitor has counted.

    Parameters
    ----------
    ids : iterable of int
        Hashes of the ids of rows, oldest first.
    digests : dict of str to int
        The number of the batch of each digest, oldest first.
    """

    def __init__(self, ids: Any = (), digests: dict[str, int] | None = None) -> None:
        self.ids: dict[int, None] = dict.fromkeys(ids)
        self.digests: dict[str, int] = dict(digests or {})

    def hash_ids(self, ids: Any, n_rows: int) -> list[int]:
        """Return the hashes of the ids of a batch; raise `DataError` if one occurs twice or was counted before."""
        column = read_labels(list(ids) if isinstance(ids, range) else ids, "ids")
        if column.missing_mask.any():
            row = int(np.flatnonzero(column.missing_mask)[0])
            raise DataError(ID_NAME, f" is missing in row {row}; every row needs an id: nothing was counted")
        hashes: list[int] = hash_groups(column, n_rows, ID_NAME).tolist()
        new: set[int] = set()
        repeated = []
        for row, value in enumerate(hashes):
            if value in self.ids or value in new:
                repeated.append(row)
            new.add(value)
        if repeated:
            names = ", ".join(show(_item(ids, row)) for row in repeated[:MAX_NAMED_IDS])
            more = ", ..." if len(repeated) > MAX_NAMED_IDS else ""
            raise DataError(
                f"{len(repeated):,} of the {n_rows:,} rows have ids that were handed in before, or occur twice "
                f"({names}{more}); nothing was counted: remove these rows"
            )
        return hashes

    def check_batch(self, counts: Counts) -> None:
        """Raise `DataError` if an equal batch was counted before and chance does not explain it."""
        for digest in digests_of(counts):
            number = self.digests.get(digest)
            if number is not None:
                raise DataError(
                    f"the rows of {show(counts.sample)} were handed in before, as batch {number}, and chance does not "
                    "explain an equal batch; nothing was counted: leave them out or, if they are other rows, pass ",
                    Argument("ids"),
                )

    def add(self, counts: Counts, number: int, id_hashes: list[int] | None) -> None:
        """Store a batch that was counted: the ids of its rows if they are known, and its digests."""
        if id_hashes is not None:
            self.ids.update(dict.fromkeys(id_hashes))
        for digest in digests_of(counts):
            self.digests[digest] = number
        for stored, limit in ((self.ids, MAX_IDS), (self.digests, MAX_DIGESTS)):
            while len(stored) > limit:
                del stored[next(iter(stored))]  # type: ignore[arg-type]


def digests_of(counts: Counts) -> Iterator[str]:
    """Yield the digests of a batch that would recognise it: of its rows if they are known, and of its counts."""
    n = int(counts.total[0])
    sketch = counts.sketch
    if sketch is not None:
        copies = np.append(sketch.copies, max(0, n - int(sketch.copies.sum())))
        if log_chance_of_equal(copies) <= math.log(MAX_CHANCE):
            yield f"r{sketch.digest.hex()}"
    cells = np.ascontiguousarray(counts.by_class[counts.tree.is_leaf], "<i8")
    if log_chance_of_equal(cells.ravel()) <= math.log(MAX_CHANCE):
        yield f"c{hashlib.blake2b(cells.tobytes(), digest_size=16).hexdigest()}"


def log_chance_of_equal(copies: Array) -> float:
    """Return ln of an upper limit on the probability that an independent batch has the same rows equally often.

    Parameters
    ----------
    copies : array of int
        How often each different row occurs in the batch.

    Examples
    --------
    >>> log_chance_of_equal(np.array([5]))
    0.0
    >>> round(math.exp(log_chance_of_equal(np.array([1, 1]))), 12)
    0.5
    """
    from scipy.special import gammaln

    k = copies[copies > 0].astype(float)
    n = k.sum()
    if len(k) < 2:
        return 0.0
    return float(gammaln(n + 1) - gammaln(k + 1).sum() + (k * np.log(k / n)).sum())


def _item(ids: Any, row: int) -> object:
    """Return the id of a row, for a message."""
    from ..data.raw_column import CategoryColumn, NumberColumn, original_values

    values = original_values(ids) if isinstance(ids, CategoryColumn | NumberColumn) else np.asarray(ids)
    value = values[row]
    return value.item() if hasattr(value, "item") else value
