"""Spark: `mapInArrow` counts in each task, `groupBy` adds up. Counting only, data frames only.

The task travels in the function's closure, so that this works without a SparkContext (Spark
Connect, serverless). What comes back from a task is sparse: slot and sum, for slots that occur.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..data.sketch import SIZE, RowKey, Sketch
from ..errors import DataError, SchemaError, SecateurError, UnsupportedError
from ..routing import ClassTally, CountTask
from .registry import Elsewhere

# Sums by kind: counts (slot = limb, node and class in one number), unseen categories by column, rows, new labels;
# of the sketch, copies by hash (label = class) and rows by class.
LIMB, COLUMN, ROWS, LABEL, HASH, CLASS = range(6)
NUMBERS = ("n_rows", "n_new", "n_used", "n_unlabelled")  # of a tally: slots of ROWS; the slot after them is for limbs
SUMS = "kind int, slot long, label string, value long"
FAULT = "secateur refuses these rows: "


def count_on(source: Elsewhere, task: CountTask) -> ClassTally:
    """Return the tally of a Spark data frame."""
    if not hasattr(source, "mapInArrow"):
        raise UnsupportedError(
            f"engine='spark' needs a Spark data frame with mapInArrow (3.3 or newer); found {type(source).__name__}"
        )
    if task.schema.classes is None:
        raise UnsupportedError(
            "a numeric target cannot be counted on Spark; use engine='narwhals', or 'dask' or 'duckdb' on the files"
        )
    chosen = source.select(*("`" + name.replace("`", "``") + "`" for name in task.columns))
    try:
        sums = chosen.mapInArrow(runner(task), SUMS).groupBy("kind", "slot", "label").sum("value").collect()
    except SecateurError:
        raise
    except Exception as error:  # Spark's own errors have no common base
        raise _told(error) from error
    return _tally(task, sums)


def runner(task: CountTask) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that a Spark task runs on its batches."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        total: Any = task.empty()
        for batch in batches:
            try:
                total.merge(task(batch))
            except SecateurError as error:  # only the text of an error comes back
                raise ValueError(f"{FAULT}{error}") from error
        rows = list(_rows(total))
        kinds, slots, labels, values = zip(*rows, strict=True)
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(kinds, pa.int32()),
                pa.array(slots, pa.int64()),
                pa.array(labels, pa.string()),
                pa.array(values, pa.int64()),
            ],
            names=["kind", "slot", "label", "value"],
        )

    return run


def _rows(tally: ClassTally) -> Iterator[tuple[int, int, str | None, int]]:
    size = tally.limbs[0].size
    for k, limb in enumerate(tally.limbs):
        flat = limb.ravel()
        for slot in np.flatnonzero(flat).tolist():
            yield LIMB, k * size + slot, None, int(flat[slot])
    for j, n in enumerate(tally.n_unseen.tolist()):
        yield COLUMN, j, None, n
    for slot, name in enumerate(NUMBERS):
        yield ROWS, slot, None, getattr(tally, name)
    yield ROWS, len(NUMBERS), None, len(tally.limbs) - 1  # above 0 if any weight was a fraction
    if tally.sketch is not None:
        yield from _sketched(tally.sketch)
    for label in tally.new_labels:
        yield LABEL, 0, label, 1


def _sketched(sketch: Sketch) -> Iterator[tuple[int, int, str | None, int]]:
    """The hashes of a part with their class and number, which may be added up over parts."""
    codes = sketch.hashes.view(np.int64)
    for code, c, n in zip(codes.tolist(), sketch.classes.tolist(), sketch.copies.tolist(), strict=True):
        yield HASH, code, str(c), n
    for c, n in enumerate(sketch.n_by_class.tolist()):
        yield CLASS, c, None, n


def _joined(key: RowKey, hashes: list[tuple[int, int, int]], n_by_class: dict[int, int]) -> Sketch:
    """The sketch of all parts: the smallest hashes of the whole are among the smallest of each part."""
    codes, classes, copies = np.array(sorted(hashes), np.int64).reshape(-1, 3).T
    code = codes.view(np.uint64)
    order = np.argsort(code)[:SIZE]
    n = np.zeros(max(n_by_class, default=0) + 1, np.int64)
    n[list(n_by_class)] = list(n_by_class.values())
    return Sketch(key, code[order], classes[order], copies[order], n)


def _tally(task: CountTask, sums: list[tuple[int, int, str, int]]) -> ClassTally:
    tally = task.empty()
    assert isinstance(tally, ClassTally)
    labels = []
    hashes: list[tuple[int, int, int]] = []
    n_by_class: dict[int, int] = {}
    size = tally.limbs[0].size
    for kind, slot, label, value in sums:
        if kind == LIMB:
            while len(tally.limbs) <= slot // size:
                tally.limbs.append(np.zeros_like(tally.limbs[0]))
            tally.limbs[slot // size].ravel()[slot % size] = value
        elif kind == COLUMN:
            tally.n_unseen[slot] = value
        elif kind == LABEL:
            labels.append(label)
        elif kind == HASH:
            hashes.append((slot, int(label), value))
        elif kind == CLASS:
            n_by_class[slot] = value
        elif slot < len(NUMBERS):
            setattr(tally, NUMBERS[slot], value)
        elif value and len(tally.limbs) == 1:
            tally.limbs.append(np.zeros_like(tally.limbs[0]))
    tally.new_labels = tuple(sorted(labels)[:5])
    if task.is_sketched and tally.n_used:
        tally.sketch = _joined(task.tree.row_key, hashes, n_by_class)
    return tally


def _told(error: Exception) -> DataError:
    """Return a Spark error as ours: Spark hands on only its text."""
    text = str(error)
    if FAULT in text:
        reason = text.partition(FAULT)[2].splitlines()[0]
        return SchemaError(reason) if "column" in reason else DataError(reason)
    if "No module named 'secateur'" in text:
        return DataError(
            "the Spark workers cannot import secateur; install it on every node (PYSPARK_PYTHON names their Python)"
        )
    return DataError(f"Spark could not count the rows: {' '.join(text.split())[:500]}")
