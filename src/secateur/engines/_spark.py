"""Spark: `mapInArrow` counts in each task, `groupBy` adds up. Counting only, data frames only.

The task travels in the function's closure, so that this works without a SparkContext (Spark
Connect, serverless). What comes back from a task is sparse: slot and sum, for slots that occur.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..encoding import Unseen
from ..errors import DataError, SchemaError, SecateurError, UnsupportedError
from ..tree import Tree
from ._task import CountTask, plan

# Sums by kind: counts (slot = limb, node and class in one number), unseen categories by column, rows, new labels.
LIMB, COLUMN, ROWS, LABEL = 0, 1, 2, 3
SUMS = "kind int, slot long, label string, value long"
FAULT = "secateur refuses these rows: "


def count_spark(tree: Tree, source: Any, target: str, weight: str | None, unseen: Unseen) -> Any:
    """Return the tally of a Spark data frame."""
    if not hasattr(source, "mapInArrow"):
        raise UnsupportedError(
            f"engine='spark' needs a Spark data frame with mapInArrow (3.3 or newer); found {type(source).__name__}"
        )
    names = tuple(source.columns)
    task = plan(tree, names, target, weight, unseen, "the Spark frame")
    if task.classes is None:
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

        total = task.empty()
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


def _rows(tally: Any) -> Iterator[tuple[int, int, str | None, int]]:
    size = tally.limbs[0].size
    for k, limb in enumerate(tally.limbs):
        flat = limb.ravel()
        for slot in np.flatnonzero(flat).tolist():
            yield LIMB, k * size + slot, None, int(flat[slot])
    for j, n in enumerate(tally.n_unseen.tolist()):
        yield COLUMN, j, None, n
    yield ROWS, 0, None, tally.n_rows
    yield ROWS, 1, None, tally.n_new
    yield ROWS, 2, None, len(tally.limbs) - 1  # above 0 if any weight was a fraction
    for label in tally.new_labels:
        yield LABEL, 0, label, 1


def _tally(task: CountTask, sums: list[Any]) -> Any:
    tally: Any = task.empty()
    labels = []
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
        elif slot == 0:
            tally.n_rows = value
        elif slot == 1:
            tally.n_new = value
        elif value and len(tally.limbs) == 1:
            tally.limbs.append(np.zeros_like(tally.limbs[0]))
    tally.new_labels = tuple(sorted(labels)[:5])
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
