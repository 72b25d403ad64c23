"""Columns of pyarrow as NumPy reads them: views of their buffers, since pyarrow's own way imports pandas."""

import numpy as np

from .._utils.arrays import Array, Frame, Series


def as_chunked_array(series: Series) -> Series:
    import pyarrow as pa

    arrow = series.to_arrow()
    return arrow if isinstance(arrow, pa.ChunkedArray) else pa.chunked_array([arrow])


def numbers_and_mask(column: Series) -> tuple[Array, Array | None]:
    """The numbers of a column of pyarrow, and which of them are missing where NaN does not say it."""
    values = _values(column)
    if not column.null_count:
        return values, None
    is_missing, is_float = _values(column.is_null().cast("uint8")).view(bool), values.dtype.kind == "f"
    return np.where(is_missing, values.dtype.type(np.nan if is_float else 0), values), None if is_float else is_missing


def as_matrix(table: Frame) -> Array | None:
    """A pyarrow table of one type of numbers as one matrix; None of others, and of whole numbers with gaps."""
    from pyarrow import types

    kind = table.schema.types[0] if len(set(table.schema.types)) == 1 else None
    if kind is None or not (types.is_integer(kind) or types.is_float32(kind) or types.is_float64(kind)):
        return None
    columns = [numbers_and_mask(column) for column in table.columns]
    return np.stack([values for values, _ in columns]).T if all(gaps is None for _, gaps in columns) else None


def _values(column: Series) -> Array:
    """What is in the buffer of numbers, also where a null stands."""
    import pyarrow as pa

    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    data = array.buffers()[1]
    return np.from_dlpack(pa.Array.from_buffers(array.type, len(array), [None, data], offset=array.offset))
