"""The changes of a sequence that is not nested, found for its file, or refused where that takes too long."""

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelFileError
from ..nouns import Members, PruningSequence

if TYPE_CHECKING:
    from ..data.arrays import Bools, Ints, Longs

MOST_CELLS = 1 << 31  # members x nodes
MOST_CHANGES = 20_000_000


def members_of(sequence: PruningSequence) -> Members:
    """The changes of a sequence that is not stored as steps; refused where they are too many."""
    if isinstance(sequence.rebuild, Members):
        return sequence.rebuild
    tree = sequence.tree
    if len(sequence) * tree.n_nodes > MOST_CELLS:
        raise _too_large(sequence, f"{len(sequence) * tree.n_nodes:,} nodes to look at; at most {MOST_CELLS:,} are")
    before: Bools = ~tree.is_leaf
    found: list[Longs] = []
    start = [0]
    for member in sequence:
        found.append(np.flatnonzero(member.is_kept != before))
        before = member.is_kept
        start.append(start[-1] + len(found[-1]))
        if start[-1] > MOST_CHANGES:
            raise _too_large(sequence, f"more than {MOST_CHANGES:,} changes between them")
    changes: Ints = np.concatenate([np.zeros(0, np.int32), *found], dtype=np.int32)
    return Members(tree.parent, tree.is_leaf, np.array(start, np.int64), changes)


def _too_large(sequence: PruningSequence, why: str) -> ModelFileError:
    return ModelFileError(
        f"the sequence has {len(sequence):,} members that are not nested ({why}); make it shorter (max_leaves=), "
        "or save the model without it: dataclasses.replace(model, sequence=None, selection=None)"
    )
