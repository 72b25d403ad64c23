"""A batch of rows in memory, whatever library holds it, and its columns as numbers or codes.

pyarrow tables are read straight from their buffers; all else goes through narwhals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.columns import Given, Numbers, read_series
from ..data.remarks import listed
from ..errors import DataError, SchemaError, UnsupportedError


@dataclass(frozen=True)
class Batch:
    """Rows of one frame; `arrow` is its pyarrow table, `frame` a narwhals frame where there is none."""

    names: tuple[str, ...]
    n_rows: int
    arrow: Any = None
    frame: Any = None

    def check_has(self, names: Sequence[str]) -> None:
        """Refuse a batch without one of these columns."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise SchemaError(
                f"a partition lacks the columns {listed(missing)} (it has {listed(self.names)}); "
                "every partition needs the same columns"
            )


def as_batch(data: Any) -> Batch:
    """Return the batch behind a pyarrow batch or table, a polars or pandas frame, or a batch."""
    if isinstance(data, Batch):
        return data
    kind = type(data).__module__.partition(".")[0]
    if kind == "pyarrow" or (kind == "polars" and _has_pyarrow()):
        import pyarrow as pa

        table = data.to_arrow() if kind == "polars" else data
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        _check_names(table.column_names)
        return Batch(tuple(table.column_names), table.num_rows, arrow=table)
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError as error:
        raise UnsupportedError(f"a partition is a {type(data).__name__}; a data frame is needed") from error
    names = [str(name) for name in frame.columns]
    _check_names(names)
    return Batch(tuple(names), len(frame), frame=frame)


def read_column(batch: Batch, name: str) -> Given:
    """Read one column of a batch."""
    import narwhals.stable.v2 as nw

    if batch.arrow is None:
        return read_series(batch.frame[:, batch.names.index(name)], name)
    import pyarrow as pa

    column = batch.arrow.column(name)
    if pa.types.is_floating(column.type) and column.null_count == 0:
        return Numbers(column.to_numpy())
    if pa.types.is_floating(column.type):
        gaps = column.is_null().to_numpy()
        return Numbers(np.where(gaps, np.nan, column.to_numpy()))
    if pa.types.is_integer(column.type) and column.null_count == 0:
        return Numbers(column.to_numpy())
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    return read_series(nw.from_native(column, series_only=True), name)


def _check_names(names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"column names must differ; more than once: {listed(twice)}; rename them")


def _has_pyarrow() -> bool:
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None
