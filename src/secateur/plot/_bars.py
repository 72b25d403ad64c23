"""Figures of bars: the classes or the mean of each leaf, and the importance of each column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from .._utils.arrays import Array, Floats, Ints
from .._utils.checks import check_int
from ..core import Counts, Moments, Pruning, Tree, as_model
from ..errors import ParameterError, UnsupportedError
from ..growers.importance import column_importances, node_gains
from ..inspection.wording import column_names, rows_text
from ._tree import PrunedDisplay, shown_tree
from .display import BLUE, Axes, ModelDisplay, class_colours, class_legend, elide


@dataclass
class LeavesDisplay(PrunedDisplay):
    """Each leaf as a bar: its class shares, or for regression its mean and standard deviation.

    For classes, a bar is stacked, and higher if the leaf has more rows.

    Made by `from_estimator`, `from_model` or `from_tree`.

    Parameters
    ----------
    node : array of int
        Number in the grown tree of the leaf of each bar. If some leaves are not shown, the last bar of a classifier is
        their sum, with the number -1.
    rows : array
        Number of rows of each bar, or their weight.
    by_class : array of shape (n_bars, n_classes), optional
        Rows of each class in each bar; None for regression.
    mean, deviation : arrays, optional
        For regression, the mean and the standard deviation of each leaf.
    text : list of str
        The label of each bar.
    class_names : list of str

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> display = LeavesDisplay.from_tree(tree, Counts.from_leaves(tree, [[3, 1], [0, 2]]))
    >>> display.node.tolist(), display.by_class.tolist(), display.text[0]
    ([1, 2], [[3, 1], [0, 2]], 'leaf 1: 0, 4 rows')
    """

    node: Ints
    rows: Array
    by_class: Array | None
    mean: Floats | None
    deviation: Floats | None
    text: list[str]
    class_names: list[str]

    @classmethod
    def from_tree(
        cls,
        tree: Tree,
        counts: Counts | Moments,
        *,
        pruning: Pruning | None = None,
        class_names: Sequence[str] | None = None,
        max_leaves: int = 40,
        decimals: int | None = None,
    ) -> Self:
        """Return the display of the leaves of a tree.

        Parameters
        ----------
        tree : Tree
        counts : Counts or Moments
        pruning : Pruning, optional
            Show the leaves of this pruning.
        class_names : sequence of str, optional
        max_leaves : int
            The leaves with the most rows are shown; the others are summed in one bar.
        decimals : int, optional
            Digits after the point of means.
        """
        if not check_int("max_leaves", max_leaves, 0):
            raise ParameterError(f"max_leaves={max_leaves}; at least one leaf is needed")
        if counts is None:
            raise ParameterError("counts are needed: the figure shows the rows in each leaf")
        view = shown_tree(tree, counts, pruning=pruning, class_names=class_names, decimals=decimals)
        sample, leaves = view.sample, view.tree.leaves
        assert sample is not None
        largest = np.argsort(-sample.total[leaves], kind="stable")[:max_leaves]
        kept = leaves[np.sort(largest)]  # in the order of the tree
        rest = np.setdiff1d(leaves, kept)
        node, rows = view.tree.ids[kept], sample.total[kept]
        text = [f"leaf {view.tree.ids[v]}: {elide(view.prediction(v), 24)}, {view.rows_text(v)}" for v in kept.tolist()]
        by_class = mean = deviation = None
        rest_rows = sample.total[rest].sum()
        if isinstance(sample, Moments):
            mean, deviation = sample.mean[kept], np.sqrt(sample.sse[kept] / np.maximum(rows, 1e-300))
        else:
            by_class = sample.by_class[kept]
            if len(rest):
                node, rows = np.append(node, -1), np.append(rows, rest_rows)
                by_class = np.vstack([by_class, sample.by_class[rest].sum(axis=0)])
        if len(rest):
            text.append(f"+{len(rest):,} more leaves, {rows_text(rest_rows, is_whole=sample.has_integer_weights)}")
        return cls(node, rows, by_class, mean, deviation, text, view.classes)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw one bar per leaf, in the order of the tree, as high as its share of the rows."""
        n = len(self.text)
        axes = self._prepare_axes(ax, (8.2, 1.3 + 0.27 * n))
        y = np.arange(len(self.rows))
        # The bar of the remaining leaves may have far more rows; it is drawn no higher than the largest leaf.
        max_rows = float(self.rows[self.node >= 0].max()) or 1.0
        height = 0.12 + 0.8 * np.minimum(self.rows / max_rows, 1)
        if self.by_class is not None:
            shares = self.by_class / np.maximum(self.rows, 1e-300)[:, None]
            left = np.cumsum(shares, axis=1) - shares
            for c, colour in enumerate(class_colours(shares.shape[1])):
                axes.barh(y, shares[:, c], height, left[:, c], color=colour, edgecolor="white", linewidth=0.4)
            axes.set(xlabel="share of the class in the leaf (height: rows)", xlim=(0, 1))
            legend_position = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
            n_columns = -(-len(self.class_names) // max(8, n))  # a column of the legend is as long as the figure
            class_legend(axes, self.class_names, ncols=n_columns, n_letters=18, **legend_position)
        elif self.mean is not None and self.deviation is not None:
            axes.errorbar(
                self.mean, y, xerr=self.deviation, fmt="none", ecolor="#9cc3dd", elinewidth=2.2, capsize=0, zorder=1
            )
            axes.scatter(self.mean, y, s=20 + 140 * self.rows / max_rows, color=BLUE, zorder=2)
            axes.set_xlabel("mean and one standard deviation in the leaf (area: rows)")
        return self._label_bars(self.text, "What is in each leaf")


@dataclass
class ImportancesDisplay(ModelDisplay):
    """The share of each column in the gains of the tests of a pruned tree, largest first.

    Made by `from_estimator` or `from_model`.

    Parameters
    ----------
    names : list of str
        Names of the columns.
    shares : array of float
        The share of each column.
    n_more : int
        Number of columns that are left out, each with a smaller share.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], ["no", "yes", "yes"])
    >>> display = ImportancesDisplay.from_model((tree, counts))
    >>> display.names, display.shares.tolist()
    (['x0'], [1.0])
    """

    names: list[str]
    shares: Floats
    n_more: int

    @classmethod
    def from_model(cls, model: object, *, max_columns: int = 20) -> Self:
        """Return the display of a model's columns, without those that no test uses."""
        fitted = as_model(model, done="drawn")
        gains = node_gains(fitted)
        if not fitted.tree.has_tests or np.isnan(gains[fitted.pruning.is_kept]).any():
            raise UnsupportedError(
                f"the gains of the tests of {fitted.tree} are not known; grow the tree with secateur"
            )
        names, shares = column_names(fitted.tree, None), column_importances(fitted, gains)
        order = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares)]
        shown = order[:max_columns]
        return cls([names[j] for j in shown], shares[shown], len(order) - len(shown))

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw one bar per column."""
        n = len(self.names)
        axes = self._prepare_axes(ax, (6.4, 1.2 + 0.28 * max(n, 1)))
        axes.barh(np.arange(n), self.shares, 0.7, color=BLUE)
        more = f" ({self.n_more:,} more columns)" if self.n_more else ""
        axes.set_xlabel(f"importance: share of the gain of all tests{more}")
        return self._label_bars([elide(name, 30) for name in self.names], "Importances of the columns")
