"""TreeRegressor: a small, well-chosen regression tree."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin

from .._utils.arrays import ArrayLike, Columns, Floats, Labels, Rows
from ..core import Moments, PredictionIntervals
from ..data.target import TargetKind
from ..errors import SecateurError
from ..model_selection import intervals_of
from ..routing import count
from ._arguments import check_target
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
    certify : {"absolute-error", "squared-error"} or True, optional
        Limit the mean absolute error (also True), or the mean squared error, from rows that are held out before
        growing. The limit needs `target_range` or `max_residual`.
    target_range : (low, high), optional
        The least and the largest target that any row can have, which you know without looking at the rows, such as
        (0, 100) for a percentage. A limit on the mean error is impossible without a limit on single errors.
    max_residual : float, optional
        In place of `target_range`: the largest possible difference between a target and its prediction.
    delta : float
        Allowed probability that the certificate fails.
    repeats : {"errors", "independent"}
        As for `TreeClassifier`; rows that may be copies have the largest possible error.

    Attributes
    ----------
    tree_, pruning_, sequence_, selection_, model_
        As for `TreeClassifier`.
    counts_, holdout_ : Moments
        Weight, mean and squared error in each node of `tree_`.
    certificate_ : Bound or None
        The limit on the mean absolute or squared error.

    Examples
    --------
    >>> from secateur import TreeRegressor
    >>> X = [[float(i % 20)] for i in range(100)]
    >>> y = [1.0 if x < 10 else 3.0 for (x,) in X]
    >>> model = TreeRegressor().fit(X, y)
    >>> model.get_n_leaves(), model.predict([[0.0], [15.0]]).tolist()
    (2, [1.0, 3.0])
    >>> certified = TreeRegressor(certify=True, target_range=(0, 5), repeats="independent").fit(X, y)
    >>> print(certified.certificate_)
    With 95 % confidence the mean absolute error on new rows like these is at most ...
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
        certify: str | bool | None = None,
        target_range: Sequence[float] | None = None,
        max_residual: float | None = None,
        delta: float = 0.05,
        repeats: Literal["errors", "independent"] = "errors",
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
        self.certify = certify
        self.target_range = target_range
        self.max_residual = max_residual
        self.delta = delta
        self.repeats = repeats
        self.nominal = nominal
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict_interval(
        self,
        X: Rows,
        coverage: float = 0.9,
        *,
        confidence: float | None = None,
        symmetric: bool = True,
        by: Literal["leaf", "all"] = "leaf",
    ) -> Floats:
        """Return an interval for the target of each row, as an array of two columns: the lower and the upper end.

        The intervals come from held-out rows that had no part in making the tree: those of the certificate, or those of
        `calibrated_on`. `prediction_intervals` states the guarantee in words.

        Parameters
        ----------
        X : array or data frame
        coverage : float
            The share of new rows whose target is in the interval.
        confidence : float, optional
            Confidence that this share is reached, such as 0.95. By default, the probability that the interval contains
            the target is at least `coverage`, over the draw of the held-out rows and a new row.
        symmetric : bool
            Whether the interval extends equally far on both sides of the prediction.
        by : "leaf" or "all"
            Whether the guarantee holds in each leaf (small leaves are pooled), or over all leaves together.

        Examples
        --------
        >>> import numpy as np
        >>> from secateur import TreeRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(900, 1))
        >>> y = np.where(X[:, 0] < 0.5, 10, 20) + rng.uniform(-3, 3, size=900)
        >>> model = TreeRegressor().fit(X[:600], y[:600]).calibrated_on(X[600:], y[600:])
        >>> model.predict_interval([[0.2], [0.7]], coverage=0.9).round(1).tolist()
        [[7.3, 12.7], [17.2, 22.7]]
        """
        intervals = self.prediction_intervals(coverage, confidence=confidence, symmetric=symmetric, by=by)
        return intervals.of_leaves(self.apply(X))

    def prediction_intervals(
        self,
        coverage: float = 0.9,
        *,
        confidence: float | None = None,
        symmetric: bool = True,
        by: Literal["leaf", "all"] = "leaf",
    ) -> PredictionIntervals:
        """Return the intervals of all leaves, with their guarantee in words (`guarantee`).

        The parameters are those of `predict_interval`.

        Examples
        --------
        >>> from secateur import TreeRegressor
        >>> X = [[float(i % 20)] for i in range(100)]
        >>> y = [i % 7 + (1.0 if x < 10 else 30.0) for i, (x,) in enumerate(X)]
        >>> model = TreeRegressor().fit(X[:60], y[:60]).calibrated_on(X[60:], y[60:], repeats="independent")
        >>> print(model.prediction_intervals(0.8, by="all"))
        With a probability of at least 80 %, over the draw of the 40 held-out rows and of a new row like these, the
        interval contains the target of the new row; ...
        """
        model = self.model_
        return intervals_of(model, coverage=coverage, confidence=confidence, symmetric=symmetric, by=by)

    def score(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> float:
        """Return R squared on rows.

        As `TreeClassifier.score` does, this records in the evaluation log of `tree_` that the rows were evaluated.
        """
        r_squared: float = super().score(X, y, sample_weight)
        model = self.model_
        with suppress(SecateurError):  # rows that cannot be counted cannot certify the tree either
            moments = count(model.tree, X, check_target(y, self), sample_weight=sample_weight, sample="evaluate")
            model.tree.evaluation_log.record_pruning(moments, model.pruning)
        return r_squared
