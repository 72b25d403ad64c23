"""Importance: how much each split of a tree, and each column, lowered the criterion of growing."""

import numpy as np

from .._utils.arrays import Floats
from ..core import Model, NodeStatistics
from . import CRITERIA

MIN_WEIGHT = 1e-300  # Replaces a node weight of 0 in divisions.


def node_gains(model: Model) -> Floats:
    """Return the gain of each split times its rows; NaN at leaves, and where the tree has no scores.

    Trees grown by the gain ratio store ratios as scores; the gain is then the ratio times the information of the split.
    The criterion of the tree is the one that cross-validation chose, or else the parameter of the model.
    """
    tree, grown = model.tree, model.grown
    names = [model.parameters.get("criterion"), model.selection and model.selection.growing.get("criterion")]
    gains = np.where(tree.is_leaf, np.nan, tree.score * grown.total)
    if any(isinstance(name, str) and name in CRITERIA and CRITERIA[name].is_ratio for name in names):
        gains = gains * _split_information(grown)
    not_negative: Floats = np.maximum(gains, 0)
    return not_negative


def column_importances(model: Model, gains: Floats) -> Floats:
    """Return the share of each column in the gains of the splits that are kept; all 0 if no split gains anything.

    Parameters
    ----------
    model : Model
    gains : array of float
        The result of `node_gains`.

    Examples
    --------
    >>> import secateur
    >>> from secateur.core.model import as_model
    >>> model = as_model(secateur.grow([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], ["no", "yes", "yes"]))
    >>> column_importances(model, node_gains(model)).tolist()
    [1.0, 0.0]
    """
    tree, kept = model.tree, np.flatnonzero(model.pruning.is_kept)
    n_columns = len(tree.schema.columns) if tree.schema is not None else int(tree.feature.max()) + 1
    summed = np.bincount(tree.feature[kept], gains[kept], minlength=n_columns)
    total = summed.sum()
    shares: Floats = summed / (total if total > 0 else 1.0)
    return shares


def _split_information(grown: NodeStatistics) -> Floats:
    """Return the entropy, in bits, of the shares of the rows of each node that go to its children."""
    parent, total = grown.tree.parent[1:], grown.total
    share = total[1:] / np.maximum(total[parent], MIN_WEIGHT)
    bits = -share * np.log2(np.where(share > 0, share, 1))
    information: Floats = np.bincount(parent, weights=bits, minlength=len(total)).astype(np.float64)
    return information
