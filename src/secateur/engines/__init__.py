"""Engines count and grow on rows where they are stored: in memory, in large files, in a database or on a cluster.

Pruning rules and certificates need only the number of held-out rows of each class in each leaf, which is a sum over
partitions. An engine reads the rows, or sends the task to them; the kernels of this package route the rows. On whole
numbers the result equals that of `secateur.count` exactly, whatever the engine, the order of the rows and the
partitions.

    engine              source                                      how the rows are counted
    memory              arrays, eager frames                        by our kernel
    duckdb, polars,     Parquet and CSV: a file, folder, pattern    scanned as Arrow batches, which our kernel
    pyarrow             or list; Arrow streams, lazy frames         counts
    narwhals            lazy frames and tables of warehouses        the tree as expressions, compared with our
                                                                    kernel on a sample of rows
    dask                files, Dask frames, lists of partitions     by one task per partition, merged in a tree
    spark               Spark frames                                by mapInArrow, then a sum
"""

from typing import TYPE_CHECKING

from .._utils.lazy import lazy_getattr
from .registry import ENGINES, Engine

if TYPE_CHECKING:
    from ._bin import Bins as Bins
    from ._count import Scan as Scan
    from ._count import count as count
    from ._count import count as counts
    from ._grow import grow as grow

__all__ = ["ENGINES", "Bins", "Engine", "Scan", "count", "counts", "grow"]

__getattr__ = lazy_getattr(
    __name__,
    {"Bins": "._bin", "Scan": "._count", "count": "._count", "counts": "._count", "grow": "._grow"},
)
