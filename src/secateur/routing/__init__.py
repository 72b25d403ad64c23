"""Where rows end up: routing them through a tree, and counting what arrives.

`count` and `apply` are the public verbs. A `CountTask` is counting as engines carry it to batches
of rows, and a tally what comes back; the other names serve growers and estimators.
"""

from ._count import CountTask, count, plan
from ._rows import apply, decision_path, moments_of, remembered, route_from, route_in, sketch_of, with_history
from ._tally import ClassTally, NumberTally, merged, shown_labels

__all__ = [
    "ClassTally", "CountTask", "NumberTally", "apply", "count", "decision_path", "merged", "moments_of", "plan",
    "remembered", "route_from", "route_in", "shown_labels", "sketch_of", "with_history",
]  # fmt: skip
