"""Where rows end up: routing them through a tree, and counting what arrives.

`count` and `apply` are the public verbs. A `CountTask` is counting as engines carry it to batches
of rows, and a tally what comes back; the other names serve growers and estimators.
"""

from ._count import CountTask, count, plan
from ._rows import (
    apply,
    decision_path,
    moments_of,
    route_matrix,
    route_table,
    sketch_of,
    with_growing_rows,
    with_growing_sketch,
)
from ._tally import ClassTally, NumberTally, format_new_labels, merged

__all__ = [
    "ClassTally",
    "CountTask",
    "NumberTally",
    "apply",
    "count",
    "decision_path",
    "format_new_labels",
    "merged",
    "moments_of",
    "plan",
    "route_matrix",
    "route_table",
    "sketch_of",
    "with_growing_rows",
    "with_growing_sketch",
]  # fmt: skip
