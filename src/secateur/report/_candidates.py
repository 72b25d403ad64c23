"""The ranked candidate splits of the largest nodes, for the part of the page in which a tree is grown by hand.

They are computed when the page is written, and only for a limited number of nodes, so that the page stays small. The
page states a split by its column only: `edit` then finds the split that is listed here.
"""

from typing import Any

import numpy as np

from ..core import Model
from ..core.class_names import as_one_line
from ..data.table import Table
from ..errors import SecateurError
from ..growers.candidate_splits import NodeRows
from ..growers.subtree import GrowingRows, leaves_of
from ..inspection import CandidateSplit
from ..inspection._candidates import describe_candidates
from ..inspection.wording import round_values
from ..model_selection import recipe_of, rows_of_candidates
from ..model_selection.edits import FILE_FORMAT, FILE_VERSION, tree_key

MAX_NODES = 64  # those with most rows
MAX_SPLITS = 8  # per node, besides the split of the tree
MAX_SEARCHES = 1_500  # nodes times columns
MAX_CELLS = 20_000_000  # rows times columns, of all nodes
MAX_LETTERS = 48  # of a condition
NOT_GIVEN = "The page was written without the rows that grew the tree, so that it cannot rank the splits of a node."
NO_TARGET = "The page was written without the target of the rows, so that it cannot rank the splits of a node."


def hand_entries(model: Model, table: Table | None) -> dict[str, Any] | None:
    """Return what the page needs to write a file of edits; None for a tree whose nodes cannot be edited.

    Parameters
    ----------
    model : Model
    table : Table, optional
        The rows that grew the tree. Without them, there are no ranked splits.
    """
    tree = model.tree
    if tree.schema is None or not tree.has_tests or tree.n_nodes == 1:
        return None
    entries: dict[str, Any] = {"format": FILE_FORMAT, "version": FILE_VERSION, "tree": tree_key(tree), "nodes": {}}
    if table is None or table.target is None:
        return entries | {"why_not": NOT_GIVEN if table is None else NO_TARGET}
    try:
        rows, parameters = rows_of_candidates(model, table, recipe_of(model))
    except (SecateurError, TypeError) as error:  # other rows, or parameters that a model does not store
        return entries | {"why_not": f"The splits of a node cannot be ranked: {' '.join(str(error).split())}"}
    growing = GrowingRows(rows)
    leaf = leaves_of(tree, rows.table)
    for v in _searched_nodes(model, rows.table):
        found = describe_candidates(tree, v, NodeRows.of(tree, v, growing, parameters, leaf))
        listed = [split for i, split in enumerate(found) if i < MAX_SPLITS or split.is_current]
        entries["nodes"][str(v)] = {
            "gain": round_values([max((split.gain for split in found), default=0.0)], 4)[0],
            "n": len(found),
            "splits": [_entry(split, tree.schema.names.index(split.column)) for split in listed],
        }
    return entries | {"criterion": parameters.criterion}


def _searched_nodes(model: Model, table: Table) -> list[int]:
    """Return the nodes whose splits are ranked: those with most rows, as far as the search takes seconds."""
    internal, n_columns = model.tree.internal, table.n_columns
    by_rows = internal[np.argsort(-model.grown.total[internal], kind="stable")]
    nodes = by_rows[: min(MAX_NODES, MAX_SEARCHES // n_columns)]
    share = model.grown.total[nodes] / model.grown.total[0]
    is_affordable = np.cumsum(share) * table.n_rows * n_columns <= MAX_CELLS
    return [int(v) for v in nodes[is_affordable]]


def _entry(split: CandidateSplit, column: int) -> list[Any]:
    """Return a split as [column, condition, share of the best gain, rows of each child], and 1 if the tree has it."""
    condition = split.text.removeprefix(as_one_line(split.column)).strip()
    if len(condition) > MAX_LETTERS:
        condition = f"{condition[: MAX_LETTERS - 1]}…"
    entry = [column, condition, round_values([split.share], 3)[0], round_values(split.rows, 6)]
    return [*entry, 1] if split.is_current else entry
