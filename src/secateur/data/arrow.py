"""Numbers of pyarrow columns as NumPy arrays, read from the buffers: `to_numpy` of pyarrow would import pandas."""

import numpy as np

from .._utils.arrays import Array, Frame, Series


def as_chunked_array(series: Series) -> Series:
    """Return a narwhals series as a `ChunkedArray` of pyarrow."""
    import pyarrow as pa

    arrow = series.to_arrow()
    return arrow if isinstance(arrow, pa.ChunkedArray) else pa.chunked_array([arrow])


def numbers_and_mask(column: Series) -> tuple[Array, Array | None]:
    """Return the numbers of a pyarrow column, and the mask of its nulls.

    Nulls of floats become NaN, and the mask is then None, as it is for a column without nulls.
    """
    values = _buffer_values(column)
    if not column.null_count:
        return values, None
    is_null = _buffer_values(column.is_null().cast("uint8")).view(bool)
    if values.dtype.kind == "f":
        return np.where(is_null, values.dtype.type(np.nan), values), None
    return np.where(is_null, values.dtype.type(0), values), is_null


def as_matrix(table: Frame) -> Array | None:
    """Return a pyarrow table as one matrix, or None unless all columns have one numeric type and no integer nulls."""
    from pyarrow import types

    arrow_type = table.schema.types[0] if len(set(table.schema.types)) == 1 else None
    if arrow_type is None:
        return None
    if not (types.is_integer(arrow_type) or types.is_float32(arrow_type) or types.is_float64(arrow_type)):
        return None
    columns = [numbers_and_mask(column) for column in table.columns]
    if any(mask is not None for _, mask in columns):
        return None
    return np.stack([values for values, _ in columns]).T


def _buffer_values(column: Series) -> Array:
    """Return the contents of the buffer of numbers. Where a value is null they are arbitrary."""
    import pyarrow as pa

    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    data = array.buffers()[1]
    return np.from_dlpack(pa.Array.from_buffers(array.type, len(array), [None, data], offset=array.offset))
