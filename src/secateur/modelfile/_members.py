"""Members of a sequence that is not nested, as what changes from one to the next.

A member is the set of nodes that test something. Neighbours differ in few nodes, so the
changes of all members together are about as many as the nodes, where the sets themselves
would be as many as nodes times members.
"""

from dataclasses import dataclass

import numpy as np

from ..data.arrays import Bools, Ints, Longs
from ..errors import ModelFileError
from ..nouns.sequence import PruningSequence
from ._prove import MOST_CELLS

MOST_CHANGES = 20_000_000


@dataclass(frozen=True, eq=False)
class Members:
    """The `rebuild` of a sequence: calling it with i gives the leaves of member i.

    `changes[start[i]:start[i + 1]]` are the nodes that test in member i but not in the one
    before it, or the other way round; before the first comes the whole tree.
    """

    parent: Ints
    is_leaf: Bools
    start: Longs
    changes: Ints

    def __call__(self, index: int) -> Bools:
        n_times = np.bincount(self.changes[: self.start[index + 1]], minlength=len(self.parent))
        is_kept = ~self.is_leaf ^ (n_times % 2 == 1)
        leaves: Bools = ~is_kept
        leaves[1:] &= is_kept[self.parent[1:]]
        return leaves


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
