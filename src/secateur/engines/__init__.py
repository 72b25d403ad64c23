"""Count a sample where it is: in memory, in files larger than memory, in a database, on a cluster.

All that pruning and certifying need of held-out rows is how many of each class reach each
leaf: one sum over partitions. Existing engines read the rows and carry the task to them;
our kernel routes them. On whole numbers the result equals `secateur.count` exactly, whatever
the engine, the order of the rows and the partitioning.

    engine              source                                        how
    memory              arrays, eager frames                          our kernel
    duckdb, polars,     Parquet and CSV: a file, folder, pattern      scanned as Arrow batches
    pyarrow             or list; Arrow streams, lazy frames           into our kernel
    narwhals            lazy frames and warehouse tables              the tree as expressions, checked
                                                                      against our kernel on sampled rows
    dask                files, Dask frames, lists of partitions       tasks, added in a tree
    spark               Spark frames                                  mapInArrow, then a sum
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
