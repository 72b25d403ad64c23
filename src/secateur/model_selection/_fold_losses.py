"""FoldLosses: the held-out losses of all trees on the pruning path of one fold.

The held-out loss of the tree of a fold is a step function of the penalty, which changes only where its path does. The
result for a fold is therefore the penalties of its path and one loss for each tree on the path. Folds are computed
independently of each other and of the path of all rows, and all trees of a path are scored in one pass.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._kernels import structure
from .._kernels.shrinkage import shrunk_losses
from .._kernels.weakest_link import member_sums, nested_path
from .._utils.arrays import Array, Floats, LongsOrFloats
from ..core import Sample, Tree
from ..errors import DataError
from ..growers.parameters import GrowParameters
from ..growers.presorted_data import PresortedData, ValidationRows
from ..pruners import cost_complexity
from ..statistics.probabilities import DEFAULT_SHRINKAGE, SHRINKAGE_STRENGTHS, class_shares
from ._select import TOLERANCE
from .folds import Fold
from .losses import (
    MIN_PROBABILITY,
    NodeLosses,
    NodePredictions,
    Scoring,
    area_losses,
    leaf_predictions,
    prediction_losses,
    probability_losses,
)


class FoldLosses(NamedTuple):
    """Held-out losses of every tree on the pruning path of one fold.

    Parameters
    ----------
    alphas : array
        Penalty, per unit of weight, from which on each tree of the path is the best.
    loss, square : array
        Sums over the held-out rows of the losses of each tree, and of the squared losses. `square` is None if all
        losses are 0 or 1, so that both sums are equal.
    weight : float
        Total weight of the held-out rows; 0 if the rows have no score, such as an area for a single class.
    shrunk : pair of arrays of shape (n_strengths, n_trees), optional
        The same two sums for class probabilities shrunk by each of `SHRINKAGE_STRENGTHS`: sums of Brier scores if
        "brier" is the score, else of log losses.
    """

    alphas: Floats
    loss: LongsOrFloats
    square: LongsOrFloats | None
    weight: float
    shrunk: tuple[Floats, Floats] | None = None

    def trees_at(self, penalties: Floats) -> Array:
        """Return the index of the best tree on the path at each penalty."""
        tree_index: Array = np.searchsorted(self.alphas, penalties * (1 + TOLERANCE), side="right") - 1
        return tree_index

    def sums_at(self, penalties: Floats) -> tuple[LongsOrFloats, LongsOrFloats]:
        """Return the sums of losses and of squared losses at each penalty."""
        tree_index = self.trees_at(penalties)
        square = self.loss if self.square is None else self.square
        return self.loss[tree_index], square[tree_index]

    def with_shrinkage(self, strength_index: int) -> "FoldLosses":
        """Return the losses of probabilities shrunk by `SHRINKAGE_STRENGTHS[strength_index]`."""
        assert self.shrunk is not None
        loss, square = self.shrunk
        return self._replace(loss=loss[strength_index], square=square[strength_index])


def mean_errors(
    folds: Sequence[FoldLosses], penalties: Floats, n_rows: float, n_folds: int, se: str
) -> tuple[Floats, Floats, Floats]:
    """Return the error, its standard error, and the error of each fold, at every penalty.

    Folds of weight 0 have no score and are left out.
    """
    folds = [fold for fold in folds if fold.weight > 0]
    if not folds:
        raise DataError("the test rows of every fold are of one class; an area under the ROC curve needs two")
    loss, square = (np.array(sums) for sums in zip(*(fold.sums_at(penalties) for fold in folds), strict=True))
    weight = np.array([fold.weight for fold in folds])
    error = loss.sum(axis=0) / weight.sum()
    fold_error = loss / weight[:, None]
    if se == "folds":
        return error, fold_error.std(axis=0, ddof=1) / np.sqrt(n_folds), fold_error
    mean_square = square.sum(axis=0) / weight.sum()
    return error, np.sqrt(np.maximum(mean_square - error * error, 0) / n_rows), fold_error


def mean_shrunk_losses(folds: Sequence[FoldLosses], penalties: Floats) -> Floats:
    """Return the mean loss of shrunk probabilities, for each strength of shrinkage and each penalty."""
    total = np.zeros((len(SHRINKAGE_STRENGTHS), len(penalties)))
    for fold in folds:
        assert fold.shrunk is not None
        total += fold.shrunk[0][:, fold.trees_at(penalties)]
    return total / sum(fold.weight for fold in folds)


def grow_on_all_rows(data: PresortedData, candidates: tuple[GrowParameters, ...]) -> list[Sample]:
    """Return the counts of all rows in the tree that each candidate grows on them."""
    subset = data.subset(np.arange(data.table.n_rows))
    samples = []
    for candidate in candidates:
        _, counts = subset.grow(candidate)
        samples.append(counts)
    return samples


def evaluate_fold(
    data: PresortedData, candidates: tuple[GrowParameters, ...], scoring: Scoring, fold: Fold
) -> list[FoldLosses]:
    """Return the held-out losses of the trees that each candidate grows on the training rows of a fold."""
    subset, validation = data.subset(fold.train), data.validation_rows(fold.test)
    losses = []
    for candidate in candidates:
        tree, counts = subset.grow(candidate, has_rounded=False)
        losses.append(_evaluate_path(tree, counts, validation, scoring))
    return losses


class _FoldPath(NamedTuple):
    """The pruning path of the tree of a fold.

    `steps` is the member of the path from which on each node is a leaf or pruned; None if the path is not nested.
    `sum_members` adds a loss per node to a loss per member of the path.
    """

    alphas: Floats
    steps: Array | None
    sum_members: Callable[[Any], Any]


def _evaluate_path(tree: Tree, counts: Sample, validation: ValidationRows, scoring: Scoring) -> FoldLosses:
    """Return the held-out losses of every tree on the pruning path of a grown tree."""
    validation_counts = validation.count(tree) if counts.has_classes else None
    predictions = leaf_predictions(counts, scoring)
    path = _prune_fold(tree, predictions, scoring)
    if validation_counts is not None:
        return _class_losses(tree, counts, validation_counts, path, predictions, scoring)
    is_absolute = scoring.score_name == "absolute_error"
    loss, square, weight = validation.loss_sums(tree, predictions.prediction, is_absolute=is_absolute)
    return FoldLosses(path.alphas, path.sum_members(loss), path.sum_members(square), weight)


def _prune_fold(tree: Tree, predictions: NodePredictions, scoring: Scoring) -> _FoldPath:
    """Return the cost-complexity path of a tree, with penalties per unit of weight."""
    if scoring.penalty == scoring.size == "leaves" and scoring.costs is None:
        # The same path as from `cost_complexity`, without the time to make a PruningSequence.
        n_added_leaves = structure.added_leaves(tree.parent)
        steps, alphas = nested_path(tree.parent, n_added_leaves, predictions.cost)
        sum_members = partial(member_sums, tree.parent, steps, n_members=len(alphas))
        return _FoldPath(alphas / predictions.divisor, steps, sum_members)
    path: Any = cost_complexity(tree, None, penalty=scoring.penalty, size=scoring.size, cost=predictions.cost)
    return _FoldPath(path.alphas / predictions.divisor, path.steps, path.costs_on)


def _class_losses(
    tree: Tree,
    counts: Any,
    validation_counts: LongsOrFloats,
    path: _FoldPath,
    predictions: NodePredictions,
    scoring: Scoring,
) -> FoldLosses:
    """Return the held-out losses of every tree on a path for a class target.

    Parameters
    ----------
    tree : Tree
    counts : Counts
        Training rows of the fold in the tree.
    validation_counts : array of shape (n_nodes, n_classes)
        Held-out rows of each class in each node.
    path, predictions, scoring
    """
    weight = float(validation_counts[0].sum())
    shrunk = None
    if path.steps is not None and scoring.probabilities == "shrunk":
        is_brier = scoring.score_name == "brier"
        shrunk = shrunk_losses(
            tree.parent, path.steps, counts.by_class.astype(np.float64), validation_counts.astype(np.float64),
            np.array(SHRINKAGE_STRENGTHS), len(path.alphas), MIN_PROBABILITY, is_brier,
        )  # fmt: skip
        if scoring.score.is_probability_score:
            default = SHRINKAGE_STRENGTHS.index(DEFAULT_SHRINKAGE)
            return FoldLosses(path.alphas, shrunk[0][default], shrunk[1][default], weight, shrunk)
    if scoring.score.path_cost == "predictions":
        costs = None if scoring.score_name == "error" else scoring.costs
        losses = prediction_losses(validation_counts, predictions.prediction, costs)
        return _sum_over_members(path, losses, weight, shrunk)
    kind = "m-estimate" if scoring.probabilities == "mixture" else scoring.probabilities
    shares = class_shares(tree.parent, counts.by_class, kind=kind)
    if scoring.score_name == "roc_auc":
        return _area_fold_losses(tree, path, validation_counts, shares, shrunk)
    return _sum_over_members(path, probability_losses(validation_counts, shares, scoring.score_name), weight, None)


def _sum_over_members(path: _FoldPath, losses: NodeLosses, weight: float, shrunk: Any) -> FoldLosses:
    """Return losses per node as losses per tree of the path."""
    square = None if losses.square is None else path.sum_members(losses.square)
    return FoldLosses(path.alphas, path.sum_members(losses.loss), square, weight, shrunk)


def _area_fold_losses(
    tree: Tree, path: _FoldPath, validation_counts: LongsOrFloats, shares: Floats, shrunk: Any
) -> FoldLosses:
    """Return 1 - area under the ROC curve of trees on a path; a fold whose rows are of one class has weight 0."""
    assert path.steps is not None
    members, losses = area_losses(tree.parent, path.steps, len(path.alphas), validation_counts, shares)
    if shrunk is not None:
        shrunk = shrunk[0][:, members], shrunk[1][:, members]
    if np.isnan(losses).any():
        return FoldLosses(path.alphas[members], np.zeros(len(losses)), None, 0.0, shrunk)
    return FoldLosses(path.alphas[members], losses, None, 1.0, shrunk)
