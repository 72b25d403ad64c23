"""TreeRegressor: a small, well-chosen regression tree."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin

from .._utils.arrays import ArrayLike, Columns
from ..core import Moments
from ..data.target import TargetKind
from ._base import TreeEstimator


class TreeRegressor(RegressorMixin, TreeEstimator):  # type: ignore[misc]
    """A decision tree regressor that is pruned by squared error.

    By default, three trees are grown (with at least 1, 2 or 5 rows in a leaf), the pruning path of
    each is cross-validated, and the smallest tree within one standard error of the best is kept.

    Parameters
    ----------
    criterion : {"squared_error"}
    min_samples_leaf : int or "auto"
        Minimum number of rows in a leaf. "auto" lets cross-validation choose between 1, 2 and
        5; without cross-validation it is 1.
    prune : {"cost-complexity", "best-of-size", "reduced-error", "greedy", "weakest-links", ...} or None
        A rule that supports regression.
    select : {"1se", "1se-published", "0se", "holdout"}, float, int or None
        As for `TreeClassifier`; a float is the minimum R squared.
    scoring : {"squared_error", "absolute_error"}, optional
        The score that the chosen tree minimises; None is "squared_error". Leaves always predict means.
    splits, growth, max_splits, max_depth, min_samples_split, min_weight_fraction_leaf, max_bins, \
monotonic_cst, interaction_cst, surrogates
        As for `TreeClassifier`.
    prune_parameters, penalty, cv, cv_repeats, holdout, nominal, random_state, n_jobs, verbose
        As for `TreeClassifier`.

    Attributes
    ----------
    tree_, pruning_, sequence_, selection_, model_
        As for `TreeClassifier`.
    counts_, holdout_ : Moments
        Weight, mean and squared error in each node of `tree_`.
    certificate_ : None
        Squared errors cannot be certified.

    Examples
    --------
    >>> from secateur import TreeRegressor
    >>> X = [[float(i % 20)] for i in range(100)]
    >>> y = [1.0 if x < 10 else 3.0 for (x,) in X]
    >>> model = TreeRegressor().fit(X, y)
    >>> model.get_n_leaves(), model.predict([[0.0], [15.0]]).tolist()
    (2, [1.0, 3.0])
    """

    counts_: Moments
    holdout_: Moments | None
    _target_kind: TargetKind = "number"

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        min_samples_leaf: int | Literal["auto"] = "auto",
        splits: Literal["binary", "one-vs-rest", "multiway"] = "binary",
        growth: Literal["depth-first", "best-first"] = "depth-first",
        max_splits: int | None = None,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_weight_fraction_leaf: float = 0.0,
        max_bins: int | None = None,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        interaction_cst: str | Iterable[Iterable[int | str]] | None = None,
        surrogates: int = 0,
        prune: str | None = "cost-complexity",
        prune_parameters: dict[str, Any] | None = None,
        penalty: str | Callable[[int], float] = "leaves",
        select: str | float | None = "1se",
        cv: Any = 10,
        cv_repeats: int | Literal["auto"] = "auto",
        scoring: Literal["squared_error", "absolute_error"] | None = None,
        holdout: float = 1 / 3,
        nominal: Columns | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf
        self.splits = splits
        self.growth = growth
        self.max_splits = max_splits
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.surrogates = surrogates
        self.prune = prune
        self.prune_parameters = prune_parameters
        self.penalty = penalty
        self.select = select
        self.cv = cv
        self.cv_repeats = cv_repeats
        self.scoring = scoring
        self.holdout = holdout
        self.nominal = nominal
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
