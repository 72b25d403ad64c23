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
    parts = [buffers_of(chunk) for chunk in column.chunks] or [(np.zeros(0, NUMPY[str(column.type)]), None)]
    values = np.concatenate([part for part, _ in parts]) if len(parts) > 1 else parts[0][0]
    if not column.null_count:
        return values, None
    gaps = [np.zeros(len(part), bool) if is_missing is None else is_missing for part, is_missing in parts]
    is_missing = np.concatenate(gaps)
    if values.dtype.kind == "f":
        return np.where(is_missing, values.dtype.type(np.nan), values), None
    return np.where(is_missing, values.dtype.type(0), values), is_missing


def matrix_of(table: Frame) -> Array | None:
    """A pyarrow table of one type of numbers as one matrix; None of others, and of whole numbers with gaps."""
    types = set(table.schema.types)
    dtype = NUMPY.get(str(types.pop())) if len(types) == 1 else None
    if dtype is None or (np.dtype(dtype).kind != "f" and any(column.null_count for column in table.columns)):
        return None
    matrix = np.empty((table.num_columns, len(table)), dtype)
    for line, column in zip(matrix, table.columns, strict=True):
        line[:] = numbers_of(column)[0]
    return matrix.T


def buffers_of(array: Series) -> tuple[Array, Array | None]:
    """The numbers of a pyarrow array and where it is null."""
    valid, data = array.buffers()
    some = slice(array.offset, array.offset + len(array))
    dtype = NUMPY[str(array.type)]
    values = np.zeros(len(array), dtype) if data is None else np.frombuffer(data, dtype, count=some.stop)[some]
    if not array.null_count:
        return values, None
    return values, np.unpackbits(np.frombuffer(valid, np.uint8), count=some.stop, bitorder="little")[some] == 0
