"""How much each test of a tree, and so each column, gained in growing."""

import numpy as np

from ..data.arrays import Floats
from ..nouns.counts import Counts
from ..nouns.moments import Moments
from ..nouns.pruning import Pruning
from ..nouns.tree import Tree

__all__ = ["column_importances", "node_gains"]


def node_gains(tree: Tree, grown: Counts | Moments, *, is_ratio: bool = False) -> Floats:
    """Return how much the criterion fell at each test, times its rows; NaN at leaves and where growing is unknown.

    Parameters
    ----------
    tree : Tree
    grown : Counts or Moments
        The growing sample.
    is_ratio : bool
        Whether the tree was grown by a ratio: then the drop behind the ratio counts.
    """
    gains = np.where(tree.is_leaf, np.nan, tree.score * grown.total)
    if is_ratio and isinstance(grown, Counts):
        gains = gains * _split_information(grown)
    found: Floats = np.maximum(gains, 0)
    return found


def column_importances(pruning: Pruning, gains: Floats, n_columns: int) -> Floats:
    """Return the share of each column in the gains of the tests that a pruning keeps; all 0 if there are none.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], ["no", "yes", "yes"])
    >>> column_importances(Pruning.from_cuts(tree, []), node_gains(tree, counts), 2).tolist()
    [1.0, 0.0]
    """
    at = np.flatnonzero(pruning.is_kept)
    summed = np.bincount(pruning.tree.feature[at], gains[at], minlength=n_columns)
    total = summed.sum()
    shares: Floats = summed / (total if total > 0 else 1.0)
    return shares


def _split_information(counts: Counts) -> Floats:
    """The entropy, in bits, of how each node's rows fall on its children."""
    parent, total = counts.tree.parent[1:], counts.total
    share = total[1:] / np.maximum(total[parent], 1e-300)
    bits = -share * np.log2(np.where(share > 0, share, 1))
    information: Floats = np.bincount(parent, weights=bits, minlength=len(total)).astype(np.float64)
    return information
