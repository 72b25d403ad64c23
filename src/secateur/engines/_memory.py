"""Rows that are in memory already: `secateur.count`, with columns by name."""

from collections.abc import Sequence
from typing import Any

from ..data.encoding import Unseen, encode
from ..errors import ParameterError
from ..nouns.counts import Counts
from ..nouns.moments import Moments
from ..nouns.tree import Tree
from ..routing import count
from ._batch import as_batch
from ._task import plan


def count_memory(
    tree: Tree, data: Any, target: Any, weight: Any, unseen: Unseen, sample: str, ignore: Sequence[str]
) -> tuple[Counts | Moments, Any]:
    """Return the counts of arrays (target and weight are arrays too) or of a frame, and its tally if there is one."""
    if isinstance(target, str):
        batch = as_batch(data)
        task = plan(tree, batch.names, target, weight, unseen, f"the {type(data).__name__}", ignore)
        tally = task(batch)
        return tally.finish(tree, sample), tally
    if ignore:
        raise ParameterError("ignore= names columns, but the target is no name; leave the columns out of the data")
    if isinstance(weight, str):
        raise ParameterError(
            f"weight={weight!r} names a column, but the target is no name; pass the weights themselves"
        )
    table = encode(data, schema=tree.schema, unseen=unseen, target=target, strict=False)
    return count(tree, table, sample_weight=weight, sample=sample), None
