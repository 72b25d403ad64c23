"""Counting of a Spark data frame: `mapInArrow` counts the rows of each task, and a second one merges the tallies.

The task is sent as a closure of the mapped function, so that no SparkContext is needed (Spark Connect, serverless). A
Spark task returns its tally compressed, since most numbers in a large tally are 0.
"""

import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from ..errors import DataError, SchemaError, SecateurError, UnsupportedError
from ..routing import ClassTally, CountTask, merge_tallies
from .registry import ExternalData, translate_errors

N_MERGED_TALLIES = 8  # tallies that are returned to the driver
ERROR_MARK = "secateur refuses these rows: "


def count_on_spark(source: ExternalData, task: CountTask) -> ClassTally:
    """Return the tally of a Spark data frame."""
    if not hasattr(source, "mapInArrow"):
        raise UnsupportedError(
            f"engine='spark' needs a Spark data frame with mapInArrow (3.3 or newer); found {type(source).__name__}"
        )
    if task.schema.classes is None:
        raise UnsupportedError(
            "a numeric target cannot be counted on Spark; use engine='narwhals', or 'dask' or 'duckdb' on the files"
        )
    columns = source.select(*("`" + name.replace("`", "``") + "`" for name in task.columns))
    with translate_errors(_translate):
        count_batches = tally_summer(task, lambda batch: [task(batch)])
        merge_batches = tally_summer(task, unpack_tallies)
        tallies = columns.mapInArrow(count_batches, "tally binary").repartition(N_MERGED_TALLIES)
        rows = tallies.mapInArrow(merge_batches, "tally binary").collect()
    return merge_tallies(_unpack(packed) for (packed,) in rows)  # type: ignore[no-any-return]


def tally_summer(
    task: CountTask, tallies_of: Callable[[Any], Iterable[Any]]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that a Spark task runs on its batches: it sums the tallies `tallies_of(batch)`."""

    def sum_tallies(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        try:
            tallies = (tally for batch in batches for tally in tallies_of(batch))
            total = merge_tallies(chain([task.empty()], tallies))
        except SecateurError as error:  # Spark returns only the text of an error
            raise ValueError(f"{ERROR_MARK}{error}") from error
        yield pa.record_batch({"tally": [zlib.compress(pickle.dumps(total), 1)]})

    return sum_tallies


def unpack_tallies(batch: Any) -> Iterator[ClassTally]:
    """Return the tallies that are the rows of a batch."""
    return map(_unpack, batch["tally"].to_pylist())


def _unpack(packed: bytes) -> ClassTally:
    return pickle.loads(zlib.decompress(packed))  # type: ignore[no-any-return]  # noqa: S301 written by this package


def _translate(error: Exception, message: str) -> DataError:
    """Return the error of this package for an error of Spark, which contains only the text of the original error."""
    text = str(error)
    if ERROR_MARK in text:
        reason = text.partition(ERROR_MARK)[2].splitlines()[0]
        return SchemaError(reason) if "column" in reason else DataError(reason)
    if "No module named 'secateur'" in text:
        return DataError(
            "the Spark workers cannot import secateur; install it on every node (PYSPARK_PYTHON names their Python)"
        )
    return DataError(f"Spark could not count the rows: {message}")
