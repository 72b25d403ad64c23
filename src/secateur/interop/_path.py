"""path_sklearn: the cost-complexity path of a fitted scikit-learn tree as fitted trees, without refitting."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from .._utils.arrays import ArrayLike, Floats, Labels, Rows
from ..core import PruningSequence
from ..errors import ParameterError, show
from ..pruners import cost_complexity
from ._counting import growing_sample
from ._records import Estimator
from ._sklearn_tree import SklearnTree, pruned_estimator, read_fitted_tree


@dataclass(frozen=True, eq=False, repr=False)
class SklearnPath:
    """The cost-complexity path of a fitted scikit-learn tree, largest first.

    Parameters
    ----------
    sequence : PruningSequence
        The path as a sequence of prunings; `sequence.alphas` is in units of the cost.
    ccp_alphas : array of float
        The least penalty per leaf, as a share of the rows, at which each member is chosen. These are
        scikit-learn's `ccp_alphas`, with equal ones listed once.
    impurities : array of float
        The impurity (with `cost="errors"`, the error rate) of each member on the growing rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> path = path_sklearn(DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True)))
    >>> path
    SklearnPath(7 trees, 9 to 1 leaves)
    >>> [int(tree.get_n_leaves()) for tree in path]
    [9, 7, 5, 4, 3, 2, 1]
    """

    sequence: PruningSequence
    ccp_alphas: Floats
    impurities: Floats
    _foreign: SklearnTree

    def tree(self, index: int) -> Estimator:
        """Return member `index` as a fitted estimator of the class of the original."""
        return pruned_estimator(self._foreign, replace(self.sequence[index], node_labels=None))

    def at(self, ccp_alpha: float) -> Estimator:
        """Return the estimator that fitting with this `ccp_alpha` would give."""
        if not ccp_alpha >= 0:
            raise ParameterError(f"ccp_alpha={ccp_alpha}; a number of 0 or more is needed")
        return self.tree(int((self.ccp_alphas <= ccp_alpha).sum()) - 1)

    def __getitem__(self, index: int) -> Estimator:
        return self.tree(index)

    def __len__(self) -> int:
        return len(self.sequence)

    def __iter__(self) -> Iterator[Estimator]:
        return (self.tree(i) for i in range(len(self)))

    def __repr__(self) -> str:
        leaves = self.sequence.n_leaves
        return f"SklearnPath({len(self):,} trees, {leaves[0]:,} to {leaves[-1]:,} leaves)"


def path_sklearn(
    estimator: Estimator,
    X: Rows = None,
    y: Labels = None,
    *,
    sample_weight: ArrayLike | None = None,
    cost: Literal["impurity", "errors"] = "impurity",
) -> SklearnPath:
    """Return the cost-complexity path of a fitted scikit-learn tree without refitting it.

    Parameters
    ----------
    estimator : DecisionTree or ExtraTree, classifier or regressor
        Fitted; it is not changed.
    X, y : array or data frame; array, optional
        The rows it was fitted on; needed only with `cost="errors"` and only if the tree does
        not store its counts (class weights, monotonic constraints).
    sample_weight : array, optional
        Weights of these rows.
    cost : "impurity" or "errors"
        The cost of a leaf: its impurity, as in scikit-learn's `cost_complexity_pruning_path`,
        or the rows it misclassifies, as in the book by Breiman et al. (1984). For a
        regressor, both mean the summed loss of its criterion.

    Returns
    -------
    SklearnPath
        Indexing returns fitted estimators. Where scikit-learn lists several trees whose penalties differ only by
        rounding, the path has one member, the last of them. If you choose a member by its error on some rows, these
        rows cannot certify it: errors that scikit-learn computes are not recorded.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> whole = DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> path = path_sklearn(whole)
    >>> path.ccp_alphas.round(4).tolist()
    [0.0, 0.0065, 0.0089, 0.0131, 0.0297, 0.2598, 0.3333]
    >>> int(path.at(0.05).get_n_leaves())
    3
    """
    foreign = read_fitted_tree(estimator)
    if cost not in ("impurity", "errors"):
        raise ParameterError(f"cost={show(cost)}; 'impurity' or 'errors' is needed")
    total = 1.0
    if cost == "impurity":
        sequence = _merge_rounding_members(cost_complexity(foreign.tree, None, cost=foreign.risk))
    else:
        is_counted = foreign.is_classifier or foreign.is_monotonic
        sample = growing_sample(foreign, X, y, sample_weight) if is_counted else None
        counts = sample if foreign.is_classifier else None
        sequence = cost_complexity(foreign.tree, counts, cost=foreign.costs(sample))
        total = float(foreign.weight[0] if sample is None else sample.total[0])
    assert sequence.alphas is not None
    return SklearnPath(sequence, sequence.alphas / total, sequence.errors / total, foreign)


def _merge_rounding_members(sequence: PruningSequence) -> PruningSequence:
    """Merge the first member with those whose penalty is zero except for rounding."""
    assert sequence.alphas is not None
    assert sequence.steps is not None
    n = int(np.count_nonzero(sequence.alphas[1:] <= 1e-12 * sequence.errors[-1]))
    return replace(
        sequence,
        n_leaves=sequence.n_leaves[n:],
        errors=sequence.errors[n:],
        alphas=np.append(0.0, sequence.alphas[n + 1 :]),
        steps=np.maximum(sequence.steps - n, 0),
    )
