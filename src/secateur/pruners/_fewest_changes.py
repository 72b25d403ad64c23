"""The prunings nearest to a deployed one: the fewest errors on new rows for every number of changes.

A node is a *split*, a *leaf* or *absent* in a pruning. A node counts as a change if its status differs between the two
prunings, or if it is a leaf of both and its label differs. So the distance between two prunings is the number of
entries in which the lists (status and label of every node) differ. Examples, on the tree

        0
       / \\
      1   4         0, 1 are splits; 2, 3 and 4 are leaves of the grown tree
     / \\
    2   3

    from                   to                        changes
    leaves 2, 3, 4         leaves 1, 4               3: node 1 becomes a leaf, nodes 2 and 3 go
    leaves 1, 4            leaves 2, 3, 4            3: node 1 is split, nodes 2 and 3 come
    leaves 1, 4            the same, new label at 4  1
    leaves 2, 3, 4         leaf 0                    5: node 0 becomes a leaf, nodes 1 to 4 go
    leaf 0                 leaves 1, 4               3: node 0 is split, nodes 1 and 4 come
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from .._utils.arrays import Bools, Longs, LongsOrFloats, write_protect
from .._utils.checks import check_int, check_name
from ..core import Counts, Pruning, RuleProvenance, SampleUsage
from ..errors import CountsError, ParameterError, UnsupportedError, show
from ._change_options import ChangeOptions, node_options, row_options
from ._change_table import ChangeProblem, ChangeTable

ChangeUnit = Literal["nodes", "rows"]


def fewest_changes(
    deployed: Pruning,
    grown: Counts,
    counts: Counts,
    *,
    distance: ChangeUnit = "nodes",
    max_changes: int | None = None,
    convex: bool | None = None,
) -> "ChangeFront":
    """Return the prunings of one tree with the fewest errors on new rows for every number of changes.

    Parameters
    ----------
    deployed : Pruning
        The pruning in use, with labels.
    grown : Counts
        The growing sample, which decides ties between labels.
    counts : Counts
        The new rows, counted in the grown tree.
    distance : "nodes" or "rows"
        What a change is: a node whose status (split, leaf or absent) differs, or that is a leaf of both prunings with
        another label; or a new row whose prediction differs.
    max_changes : int, optional
        Largest number of changes; by default as many as lower the errors.
    convex : bool, optional
        Whether to return only the corners of the lower convex hull of (changes, errors), which is quicker for large
        trees.
        By default only if the whole front would take more than a few seconds.

    Returns
    -------
    ChangeFront
        The first member is the deployed pruning. Each further one has fewer errors and more changes than the one
        before, and no pruning with at most as many changes has fewer errors. A leaf that is new, or whose label
        changes, has the majority of the new rows; ties go to the growing label, then to the lowest class.

        With `distance="rows"`, ties between prunings go to the one with fewer changed nodes. Remaining ties: the
        pruning that, at the first node in pre-order in which they differ, has a split, or else the label with fewer
        changes; on the convex part, the smallest.

    Notes
    -----
    Time is nodes x changes for the whole front, and nearly linear in the nodes for the convex part. The log of the tree
    records that the new rows were evaluated, and each member has them in `seen`: they cannot certify a member as if
    they were fresh.

    Examples
    --------
    >>> from secateur import Counts, Pruning, Tree
    >>> from secateur.pruners import fewest_changes
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> grown = Counts.from_leaves(tree, [[8, 2], [3, 7], [1, 9]])
    >>> deployed = Pruning.from_cuts(tree, [1], node_labels=grown.majority)
    >>> front = fewest_changes(deployed, grown, Counts.from_leaves(tree, [[9, 1], [1, 6], [5, 4]], sample="new"))
    >>> front.n_changes.tolist(), front.errors.tolist()
    ([0, 1, 3, 4], [12, 11, 7, 6])
    >>> front.within(3)
    Pruning(3 of 3 leaves, no cut)
    """
    check_name("distance", distance, get_args(ChangeUnit))
    if max_changes is not None:
        check_int("max_changes", max_changes, 0)
    _check_samples(deployed, grown, counts)
    make_options = node_options if distance == "nodes" else row_options
    options = make_options(deployed, grown, counts)
    problem = ChangeProblem(deployed.tree, options, int(counts.total[0]))
    limit = problem.max_changes if max_changes is None else int(max_changes)
    if convex is None:
        convex = not problem.is_quick(limit)
    table = problem.convex_part(limit) if convex else problem.table(limit)
    deployed.tree.evaluation_log.record_nodes(counts)
    return ChangeFront(
        deployed, counts, distance, write_protect(table.changes), write_protect(table.errors), table.is_convex,
        options, table,
    )  # fmt: skip


def _check_samples(deployed: Pruning, grown: Counts, counts: Counts) -> None:
    """Raise an error unless the pruning has labels, and the samples are classes of its tree in whole numbers."""
    for sample in (grown, counts):
        if not isinstance(sample, Counts):
            raise UnsupportedError(
                f"{show(sample)} was given; changes are counted against errors of classes, so Counts are needed"
            )
        sample.check_fits(deployed.tree)
    if deployed.node_labels is None:
        raise ParameterError("the deployed pruning has no classes; pass node_labels, such as those of its model")
    if not counts.has_integer_weights:
        raise CountsError(
            f"sample {show(counts.sample)} has weights that are not whole numbers; changes are exchanged for errors "
            "exactly, so rows of weight 1 are needed"
        )
    if not counts.total[0]:
        raise CountsError(f"sample {show(counts.sample)} has no rows; new rows are needed to compare prunings")


@dataclass(frozen=True, eq=False, repr=False)
class ChangeFront:
    """The fewest errors on new rows for every number of changes of a deployed pruning: see `fewest_changes`.

    Parameters
    ----------
    deployed : Pruning
        The pruning in use, which is the first member.
    counts : Counts
        The new rows.
    distance : "nodes" or "rows"
        What a change is.
    n_changes, errors : arrays
        Changes and errors on the new rows of each member; the changes rise, the errors fall.
    is_convex : bool
        Whether the members are only those on the lower convex hull of changes and errors.
    """

    deployed: Pruning
    counts: Counts
    distance: ChangeUnit
    n_changes: Longs
    errors: LongsOrFloats
    is_convex: bool
    _options: ChangeOptions
    _table: ChangeTable

    def __len__(self) -> int:
        return len(self.n_changes)

    def __getitem__(self, member: int) -> Pruning:
        """Return a member as a pruning; the new rows are in its `seen`."""
        number = range(len(self))[member]
        deployed = self.deployed
        solution = self._table.solve(number)
        labels = np.array(deployed.node_labels)
        leaves = np.flatnonzero(solution.is_leaf)
        labels[leaves] = self._options.label[solution.option[leaves]]
        parameters = {"distance": self.distance, "max_changes": int(self.n_changes[number])}
        provenance = RuleProvenance(
            "fewest-changes", parameters, "errors", self.counts.sample,
            text=f"fewest errors within {self.n_changes[number]:,} changes of {self.distance}",
        )  # fmt: skip
        return Pruning(
            deployed.tree,
            write_protect(solution.is_leaf),
            labels,
            seen=deployed.seen | SampleUsage.of(self.counts),
            provenance=provenance,
        )

    def index_within(self, max_changes: int) -> int:
        """Return the member with the fewest errors among those with at most `max_changes` changes."""
        check_int("max_changes", max_changes, 0)
        return int(np.searchsorted(self.n_changes, max_changes, side="right")) - 1

    def within(self, max_changes: int) -> Pruning:
        """Return the pruning with the fewest errors among those with at most `max_changes` changes."""
        return self[self.index_within(max_changes)]

    def __repr__(self) -> str:
        rows = f"{self.counts.total[0]:,} rows"
        kind = " on the convex hull" if self.is_convex else ""
        return (
            f"ChangeFront({len(self):,} prunings{kind}, 0 to {self.n_changes[-1]:,} changes of {self.distance}, "
            f"{self.errors[0]:,} to {self.errors[-1]:,} errors of {rows})"
        )


def changed_nodes(deployed: Pruning, pruning: Pruning) -> Bools:
    """Return which nodes differ: in their status (split, leaf or absent), or as leaves of both in their label.

    Parameters
    ----------
    deployed, pruning : Pruning
        Prunings of one tree, with labels.

    Examples
    --------
    >>> from secateur import Pruning, Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> deployed = Pruning.from_cuts(tree, [1], node_labels=[0, 0, 0, 1, 1])
    >>> changed_nodes(deployed, deployed.restore(1)).tolist()
    [False, True, True, True, False]
    """
    is_other_status = (deployed.is_leaf != pruning.is_leaf) | (deployed.is_kept != pruning.is_kept)
    differs: Bools = is_other_status | (deployed.labels != pruning.labels)
    return differs
