"""Grow one tree from prepared rows: the path that classification and regression share."""

from dataclasses import dataclass, replace

from .._kernels import growing
from ..core import Counts, Tree
from .grow_target import GrowTarget
from .grower import Grower
from .prepared_columns import PreparedColumns
from .surrogate import prepare_surrogate_search, with_surrogates
from .tree_assembly import AssemblyOptions, RowValues, assemble_tree
from .worker import Workers


@dataclass(frozen=True)
class PreparedRows:
    """Rows ready for one growth.

    Parameters
    ----------
    columns : PreparedColumns
        The columns, which the growth may change.
    target : GrowTarget
    row_values : RowValues
    score_exponent : int
        Scores are multiplied by 2 to this power; see `AssemblyOptions`.
    """

    columns: PreparedColumns
    target: GrowTarget
    row_values: RowValues
    score_exponent: int = 0


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
    grown = Grower(columns, prepared.target, limits, workers, search).run()
    tree, counts = assemble_tree(grown, columns, row_values, assembly)
    if not n_surrogates:
        return tree, counts
    tree = with_surrogates(tree, grown, columns)
    return tree, replace(counts, tree=tree)
