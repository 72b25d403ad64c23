"""Columns of pyarrow as NumPy reads them: views of their buffers, since pyarrow's own way imports pandas."""

import numpy as np

from .arrays import Array, Frame, Series

# Number types of pyarrow, by name, whose buffers NumPy reads as they are.
_WIDTHS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
NUMPY = {**{name: np.dtype(name) for name in _WIDTHS}, "float": np.dtype("float32"), "double": np.dtype("float64")}


def column_of(series: Series) -> Series:
    import pyarrow as pa

    arrow = series.to_arrow()
    return arrow if isinstance(arrow, pa.ChunkedArray) else pa.chunked_array([arrow])


def numbers_of(column: Series) -> tuple[Array, Array | None]:
    """The numbers of a column of pyarrow, and which of them are missing where NaN does not say it."""
    if not column.null_count:
        return array_of(column), None
    if NUMPY[str(column.type)].kind == "f":
        return array_of(column.fill_null(np.nan)), None
    return array_of(column.fill_null(0)), array_of(column.is_null().cast("uint8")).view(bool)


def array_of(column: Series) -> Array:
    """The numbers of an array or a column of pyarrow without gaps."""
    if hasattr(column, "chunks"):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    dtype = NUMPY[str(column.type)]
    start = column.offset * dtype.itemsize
    return np.frombuffer(column.buffers()[1], dtype, len(column), start) if len(column) else np.zeros(0, dtype)


def matrix_of(table: Frame) -> Array | None:
    """A pyarrow table of one type of numbers as one matrix; None of others, and of whole numbers with gaps."""
    types = set(table.schema.types)
    dtype = NUMPY.get(str(types.pop())) if len(types) == 1 else None
    if dtype is None or (dtype.kind != "f" and any(column.null_count for column in table.columns)):
        return None
    matrix = np.empty((table.num_columns, len(table)), dtype)
    for line, column in zip(matrix, table.columns, strict=True):
        line[:] = numbers_of(column)[0]
    return matrix.T
