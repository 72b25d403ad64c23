"""ImportancesDisplay: how much the tests on each column gained."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from ..data.arrays import Floats
from ..errors import UnsupportedError
from ..growers.importances import column_importances, node_gains
from ..nouns import as_model
from ..show.wording import column_names
from .parts import BLUE, LITERAL, ModelDisplay, elided, tidied

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class ImportancesDisplay(ModelDisplay):
    """The share of each column in the gains of the tests of a pruned tree, largest first.

    Made by `from_estimator` or `from_model`.

    Parameters
    ----------
    names : list of str
    shares : array of float
    n_more : int
        Columns that are left out, each with a smaller share.

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
        found = as_model(model, done="drawn")
        gains = node_gains(found)
        kept = found.pruning.is_kept
        if not found.tree.has_tests or np.isnan(gains[kept]).any():
            raise UnsupportedError(f"the gains of the tests of {found.tree} are not known; grow the tree with secateur")
        names = column_names(found.tree, None)
        shares = column_importances(found, gains)
        order = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares)]
        shown = order[:max_columns]
        return cls([names[j] for j in shown], shares[shown], len(order) - len(shown))

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw one bar per column."""
        n = len(self.names)
        axes = self._on(ax, (6.4, 1.2 + 0.28 * max(n, 1)))
        axes.barh(np.arange(n), self.shares, 0.7, color=BLUE)
        axes.set_yticks(np.arange(n), [elided(name, 30) for name in self.names], fontsize=8, **LITERAL)
        axes.set_ylim(max(n, 1) - 0.4, -0.6)
        more = f" ({self.n_more:,} more columns)" if self.n_more else ""
        axes.set_xlabel(f"importance: share of the gain of all tests{more}")
        axes.set_title("Importances of the columns", fontsize=11)
        tidied(axes)
        axes.grid(visible=False, axis="y")
        return self
