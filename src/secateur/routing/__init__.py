"""Routing rows through a tree, and counting the rows of a sample in every node.

`count`, `count_groups` and `apply` are public. A `CountTask` is what an engine runs on every batch of rows, and a tally
is its result. The other functions are used by growers and estimators.
"""

from ._count import CountTask, count, plan_count
from ._count_groups import count_groups
from ._group_task import GroupCountTask
from ._rows import (
    apply,
    decision_path,
    moments_of,
    route_matrix,
    route_table,
    sketch_of,
    with_growing_rows,
)
from ._tally import ClassTally, NumberTally, format_new_labels, merge_tallies

__all__ = [
    "ClassTally", "CountTask", "GroupCountTask", "NumberTally", "apply", "count", "count_groups", "decision_path",
    "format_new_labels", "merge_tallies", "moments_of", "plan_count", "route_matrix", "route_table",
    "sketch_of", "with_growing_rows",
]  # fmt: skip
