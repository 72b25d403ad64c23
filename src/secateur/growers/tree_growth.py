"""Grow one tree from prepared rows: the path that classification and regression share."""

from dataclasses import replace
from typing import NamedTuple

from .._kernels import growing
from ..core import Counts, Tree
from .grow_target import GrowTarget
from .grower import Grower
from .prepared_columns import PreparedColumns
from .surrogate import prepare_surrogate_search, with_surrogates
from .tree_assembly import AssemblyOptions, RowValues, assemble_tree
from .worker import Workers


class PreparedRows(NamedTuple):
    """Rows ready for one growth.

    Parameters
    ----------
    columns : PreparedColumns
        The columns.
    target : GrowTarget
    row_values : RowValues
    score_exponent : int
        Scores are multiplied by 2 to this power; see `AssemblyOptions`.
    is_shared : bool
        Whether the columns are needed again. The growth then changes a copy of their lists.
    """

    columns: PreparedColumns
    target: GrowTarget
    row_values: RowValues
    score_exponent: int = 0
    is_shared: bool = False


def grow_tree(
    prepared: PreparedRows,
    limits: growing.GrowLimits,
    workers: Workers,
    assembly: AssemblyOptions,
    *,
    n_surrogates: int,
) -> tuple[Tree, Counts]:
    """Grow a tree and return it with the counts of its rows.

    Parameters
    ----------
    prepared : PreparedRows
    limits : GrowLimits
    workers : Workers
    assembly : AssemblyOptions
    n_surrogates : int
        Maximum number of surrogate splits per node.
    """
    columns, row_values = prepared.columns, prepared.row_values
    search = prepare_surrogate_search(columns, row_values, n_surrogates) if n_surrogates else None
    changed_columns = columns.copy() if prepared.is_shared else columns
    grown = Grower(changed_columns, prepared.target, limits, workers, search).run()
    tree, counts = assemble_tree(grown, columns, row_values, assembly)
    if not n_surrogates:
        return tree, counts
    tree = with_surrogates(tree, grown, columns)
    return tree, replace(counts, tree=tree)
