"""What else could a node have asked? The ranked candidate splits of a node, in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.arrays import Array, Category
from .._utils.checks import check_int
from ..core import Counts, Tree
from ..data.weights import WeightedRows
from ..errors import ParameterError, show
from ..growers.candidate_splits import NodeRows, ScoredSplit, rank_splits
from ..growers.parameters import GrowParameters
from ..growers.subtree import GrowingRows
from .view import view_of
from .wording import format_measure, format_percent, rows_text

MAX_TEXT = 100  # characters of a test in a printed table


@dataclass(frozen=True)
class CandidateSplit:
    """A split that a node could have.

    Parameters
    ----------
    column : str
        Name of the column.
    threshold : float, optional
        For a numeric column: rows up to the threshold go to the first child. Infinite where the split separates present
        from missing values. None for a nominal column.
    categories : tuple of tuples, optional
        For a nominal column: the categories of each child that occur in the node; None stands for missing values. None
        for a numeric column.
    gain : float
        Decrease of the criterion by the split, per row of the node; with "gain_ratio", the ratio.
    share : float
        The gain as a share of the largest gain in the list.
    rows : tuple of float
        Number of rows in each child, or their weight.
    is_current : bool
        Whether the tree has this split.
    text : str
        The test that leads to the first child, in words.
    """

    column: str
    threshold: float | None
    categories: tuple[tuple[Category, ...], ...] | None
    gain: float
    share: float
    rows: tuple[float, ...]
    is_current: bool
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return the split as plain values."""
        values = dict(vars(self)) | {"rows": list(self.rows)}
        if self.threshold is not None and not np.isfinite(self.threshold):
            values["threshold"] = "inf"
        if self.categories is not None:
            values["categories"] = [list(of_child) for of_child in self.categories]
        return values


@dataclass(frozen=True)
class NodeCandidates:
    """The ranked candidate splits of one node.

    Parameters
    ----------
    node : int
        Number of the node in the grown tree.
    sample : str
        Name of the sample on which the splits were compared.
    criterion : str
    n_rows : float
        Number of rows in the node, or their weight.
    splits : tuple of CandidateSplit
        The best split first. On the growing rows it is the one that the grower would choose.
    """

    node: int
    sample: str
    criterion: str
    n_rows: float
    splits: tuple[CandidateSplit, ...]

    def __len__(self) -> int:
        return len(self.splits)

    def __getitem__(self, index: int) -> CandidateSplit:
        return self.splits[index]

    def __iter__(self) -> Iterator[CandidateSplit]:
        return iter(self.splits)

    def to_dict(self) -> dict[str, Any]:
        """Return the list as plain values."""
        return {**vars(self), "splits": [split.to_dict() for split in self.splits]}

    def __str__(self) -> str:
        is_whole = float(self.n_rows).is_integer()
        head = f"node {self.node}, {rows_text(self.n_rows, is_whole=is_whole)} of sample {show(self.sample)}"
        if not self.splits:
            return f"{head}: no split is possible"
        lines = [f"{head}: splits by {self.criterion}, the best first (* is the split of the tree)"]
        for split in self.splits:
            counts = " + ".join(f"{n:,.10g}" if is_whole else f"{n:,.4g}" for n in split.rows)
            text = split.text if len(split.text) <= MAX_TEXT else f"{split.text[:MAX_TEXT]}..."
            lines.append(
                f"{'*' if split.is_current else ' '} {format_percent(split.share):>7}  "
                f"gain {format_measure(split.gain, 4):>9}  {text}  ({counts})"
            )
        return "\n".join(lines)

    __repr__ = __str__


def list_candidates(
    tree: Tree,
    node: int,
    rows: WeightedRows,
    parameters: GrowParameters,
    *,
    per_column: int = 1,
    sample: str | None = None,
) -> NodeCandidates:
    """Return the ranked candidate splits of a node.

    Parameters
    ----------
    tree : Tree
    node : int
    rows : WeightedRows
        The rows on which splits are compared, as `secateur.model_selection.rows_of_candidates` returns them.
    parameters : GrowParameters
        Parameters of growing, without "auto".
    per_column : int
        Maximum number of thresholds of one numeric column.
    sample : str, optional
        Name of the sample of the rows; None stands for the growing rows.

    Examples
    --------
    >>> import secateur
    >>> from secateur.data.weights import WeightedRows
    >>> from secateur.growers.parameters import GrowParameters
    >>> table = secateur.encode([[1.0], [2.0], [4.0]], names=["size"], target=["a", "a", "b"])
    >>> tree, _ = secateur.grow(table)
    >>> list_candidates(tree, 0, WeightedRows(table, None), GrowParameters())[0].text
    'size <= 3'
    """
    node = check_node(tree, node)
    per_column = check_int("per_column", per_column, 1)
    of_node = NodeRows.of(tree, node, GrowingRows(rows), parameters)
    return describe_candidates(tree, node, of_node, per_column=per_column, sample=sample)


def describe_candidates(
    tree: Tree, node: int, of_node: NodeRows, *, per_column: int = 1, sample: str | None = None
) -> NodeCandidates:
    """Return the ranked candidate splits of a node whose rows are known."""
    ranked = rank_splits(tree, node, of_node, per_column=per_column)
    best = max((split.gain for split in ranked), default=0.0)
    splits = tuple(_in_words(split, of_node, split.gain / best if best > 0 else 1.0) for split in ranked)
    weight = float(np.ldexp(of_node.growing.weights(of_node.rows).sum(), of_node.growing.scaled.exponent))
    return NodeCandidates(node, "grow" if sample is None else sample, of_node.parameters.criterion, weight, splits)


def check_node(tree: Tree, node: object) -> int:
    """Return the number of a node; raise `ParameterError` if the tree has no such node."""
    number = check_int("node", node, 0)
    if number >= tree.n_nodes:
        raise ParameterError(f"node={number}; the grown tree has the nodes 0 to {tree.n_nodes - 1}")
    return number


def _in_words(split: ScoredSplit, of_node: NodeRows, share: float) -> CandidateSplit:
    """Return a split with the names of its column and categories."""
    column = of_node.table.schema.columns[split.feature]
    categories = None
    if column.kind == "nominal":
        categories = tuple(
            tuple(_category(column.categories, code) for code in _codes(of_node, split.feature, rows))
            for rows in of_node.children_of(split.stump)
        )
    return CandidateSplit(
        column=column.name,
        threshold=None if column.kind == "nominal" else split.threshold,
        categories=categories,
        gain=split.gain,
        share=share,
        rows=split.weights,
        is_current=split.is_current,
        text=_test_text(split.stump),
    )


def _codes(of_node: NodeRows, feature: int, rows: Array) -> list[int]:
    """Return the codes of a nominal column that occur among some rows."""
    codes: list[int] = np.unique(of_node.table.columns[feature][rows]).tolist()
    return codes


def _category(categories: tuple[Category, ...], code: int) -> Category:
    return categories[code] if 0 <= code < len(categories) else None


def _test_text(stump: Tree) -> str:
    """Return the condition of the first child of a split."""
    empty = Counts(stump, np.zeros((stump.n_nodes, 1), np.int64))
    return view_of(stump, empty).branch_text(1)
