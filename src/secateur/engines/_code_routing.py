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
    """Return the splits in the tables of a growing tree; `missing` is the code of missing numbers in each column."""
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
    """Rows grouped by the nodes that they reach.

    Parameters
    ----------
    node : array of int32
        The node that each row reaches.
    rows : array of int64
        Numbers of the rows whose node has a group, one group after the other.
    start : array of int64
        Where each group begins in `rows`. The last element is the length of `rows`.
    """

    node: Array
    rows: Array
    start: Array


@dataclass(frozen=True)
class CodeRouting:
    """Splits, and the group in which the rows of each node are collected.

    Parameters
    ----------
    splits : CodeSplits
    group_of_node : array of int32
        Group of each node; -1 for nodes whose rows are not needed.
    n_groups : int
    """

    splits: CodeSplits = field(repr=False)
    group_of_node: Array = field(repr=False)
    n_groups: int

    def route(self, codes: Array) -> RoutedRows:
        """Return the node that each row reaches, and the rows by group."""
        node = np.empty(len(codes), np.int32)
        histograms.route_codes(codes, *self.splits, node)
        rows, start = histograms.group_rows(node, self.group_of_node, self.n_groups)
        return RoutedRows(node, rows, start)
