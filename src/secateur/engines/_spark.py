"""Spark: `mapInArrow` counts in each task, and once more adds up. Counting only, data frames only.

The task travels in the function's closure, so that this works without a SparkContext (Spark
Connect, serverless). What comes back from a task is its tally, packed: most of a large one is zeros.
"""

import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from ..errors import DataError, SchemaError, SecateurError, UnsupportedError
from ..routing import ClassTally, CountTask, merge_tallies
from .registry import ExternalData, translate_errors

N_SUMS = 8  # tallies that come back to be added up here
FAULT = "secateur refuses these rows: "


def count_on(source: ExternalData, task: CountTask) -> ClassTally:
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
    with translate_errors(_told):
        tallies = chosen.mapInArrow(summing(task, lambda batch: [task(batch)]), "tally binary").repartition(N_SUMS)
        sums = tallies.mapInArrow(summing(task, tallies_in), "tally binary").collect()
    return merge_tallies(unpacked(tally) for (tally,) in sums)  # type: ignore[no-any-return]


def summing(task: CountTask, tallies: Callable[[Any], Iterable[Any]]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that a Spark task runs on its batches: the sum of the tallies of each."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        try:
            total = merge_tallies(chain([task.empty()], (tally for batch in batches for tally in tallies(batch))))
        except SecateurError as error:  # only the text of an error comes back
            raise ValueError(f"{FAULT}{error}") from error
        yield pa.record_batch({"tally": [zlib.compress(pickle.dumps(total), 1)]})

    return run


def tallies_in(batch: Any) -> Iterator[ClassTally]:
    """Return the tallies that are the rows of a batch."""
    return map(unpacked, batch["tally"].to_pylist())


def unpacked(tally: bytes) -> ClassTally:
    """Return a tally that a Spark task has packed."""
    return pickle.loads(zlib.decompress(tally))  # type: ignore[no-any-return]  # noqa: S301 our own


def _told(error: Exception, words: str) -> DataError:
    """Return a Spark error as ours: Spark hands on only its text."""
    text = str(error)
    if FAULT in text:
        reason = text.partition(FAULT)[2].splitlines()[0]
        return SchemaError(reason) if "column" in reason else DataError(reason)
    if "No module named 'secateur'" in text:
        return DataError(
            "the Spark workers cannot import secateur; install it on every node (PYSPARK_PYTHON names their Python)"
        )
    return DataError(f"Spark could not count the rows: {words}")
