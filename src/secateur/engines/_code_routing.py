"""Route rows as codes through the splits found so far, and group them by node."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .._kernels import growing, histograms
from .._utils.arrays import Array
from ..growers.tree_tables import GrowingTables


class CodeSplits(NamedTuple):
    """The splits of a growing tree on codes, in the order of the parameters of `histograms.route_codes`.

    Parameters
    ----------
    feature : array of int64
        Column of each split; -1 for a node without a split.
    below : array of int64
        Numeric splits: the highest code that goes left.
    default : array of int64
        Child of missing numbers.
    branch_start : array of int64
        Nominal splits: where the children of the categories begin in `branch`; else -1.
    branch : array of uint16
    first_child : array of int64
    missing : array of int64
        Code of missing numbers in each column; -1 if there are none.
    """

    feature: Array
    below: Array
    default: Array
    branch_start: Array
    branch: Array
    first_child: Array
    missing: Array


def splits_of(tables: GrowingTables, missing: Array) -> CodeSplits:
    """Return the splits of the tables of a growing tree; `missing` has the code of missing numbers of each column."""
    nodes = tables.nodes
    return CodeSplits(
        feature=np.where(nodes[:, growing.SPLIT_STEP] >= 0, nodes[:, growing.SLOT], -1),
        below=nodes[:, growing.BELOW].copy(),
        default=nodes[:, growing.DEFAULT_CHILD].copy(),
        branch_start=nodes[:, growing.BRANCH_START].copy(),
        branch=tables.branch,
        first_child=nodes[:, growing.FIRST_CHILD].copy(),
        missing=missing,
    )


class RoutedRows(NamedTuple):
    """Rows grouped by slot.

    Parameters
    ----------
    node : array of int32
        The node that each row reaches.
    rows : array of int64
        Rows whose node has a slot, slot by slot.
    start : array of int64
        Where each slot begins in `rows`, and the number of rows.
    """

    node: Array
    rows: Array
    start: Array


@dataclass(frozen=True)
class CodeRouting:
    """Splits, and the slot in which the rows of a node are collected.

    Parameters
    ----------
    splits : CodeSplits
    slot_of_node : array of int32
        Slot of each node; -1 for nodes whose rows are not needed.
    n_slots : int
    """

    splits: CodeSplits = field(repr=False)
    slot_of_node: Array = field(repr=False)
    n_slots: int

    def route(self, codes: Array) -> RoutedRows:
        """Return the node that each row reaches, and the rows grouped by slot."""
        node = np.empty(len(codes), np.int32)
        histograms.route_codes(codes, *self.splits, node)
        rows, start = histograms.group_rows_by_slot(node, self.slot_of_node, self.n_slots)
        return RoutedRows(node, rows, start)
