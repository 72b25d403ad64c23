"""TreeClassifier: a small, well-chosen decision tree for classification."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from .._utils.arrays import Array, ArrayLike, Category, Columns, Floats, Labels, Rows
from ..core import Counts, PredictionSets
from ..data.encoding import encode
from ..data.target import class_numbers, read_labels
from ..errors import DataError, SecateurError
from ..model_selection import sets_of
from ..model_selection.alternatives import alternatives_of
from ..routing import count, prediction
from ._arguments import check_target
from ._base import TreeEstimator

if TYPE_CHECKING:
    from ..analysis import Alternatives


class TreeClassifier(ClassifierMixin, TreeEstimator):  # type: ignore[misc]
    """A decision tree classifier that is pruned and, on request, certified.

    By default, two trees are grown (by gini and by sqrt), the pruning path of each is cross-validated,
    and the smallest tree within one standard error of the best is kept. A single leaf is not kept if
    a split lowers the error by more than the standard error of the difference.
    With `criterion="gini"` only one tree is grown, in about half the time.

    Parameters
    ----------
    criterion : str
        Splitting criterion. A name of `secateur.growers.CRITERIA` for classes ("gini", "entropy", ...), or "auto",
        which lets cross-validation choose between gini and sqrt; without cross-validation it is gini.
    min_samples_leaf : int or "auto"
        Minimum number of rows in a leaf. "auto" is 1.
    splits : {"binary", "one-vs-rest", "multiway"}
        How nominal columns are split: into two sets of categories, into one category and the rest, or into one branch
        per category.
    growth : {"depth-first", "best-first"}
        Order in which nodes are split; it matters with a maximum number of splits. Best-first always splits the
        leaf with the largest drop of the criterion.
    max_splits : int, optional
        Maximum number of splits, for best-first growth.
    max_depth : int, optional
        Maximum depth of the tree. A single leaf has depth 0.
    min_samples_split : int
        Minimum number of rows in a node that is split.
    min_weight_fraction_leaf : float
        Minimum share of the total weight in a leaf. Use it with class weights, so that rows of
        a class with a small weight do not form a leaf by themselves.
    max_bins : int, optional
        Maximum number of bins of a numeric column; without it every threshold is tried.
    monotonic_cst : array or dict, optional
        Columns in which predictions may only rise (1) or only fall (-1). One number for each column, or a dict from
        column names; 0 is no constraint. With 1, neither `predict` nor the probability of the second class ("shrunk" or
        "frequency") falls when the value of the column rises; with -1, neither rises. Only for two classes and numeric
        columns. The constraint holds for the pruned tree and for any smaller pruning of it.
    interaction_cst : list of groups, "pairwise" or "no_interactions", optional
        Groups of columns that may be split on together on the way to a leaf. Columns are given by name or number.
        Columns in no group form one more group, as in scikit-learn's histogram-based estimators.
    surrogates : int
        Maximum number of surrogates per node, for rows whose tested value is missing. As in R's rpart, where the
        default is 5; see `grow`.
    prune : str or None
        A rule of `secateur.pruners.RULES`; None does not prune. Rules that return one pruning
        ("reduced-error", "error-based", ...) ignore `select`.
    prune_parameters : dict, optional
        Parameters of the rule, such as `{"confidence": 0.1}`.
    penalty : {"leaves", "sqrt", "log"} or callable
        Penalty on size in cost-complexity pruning.
    select : {"1se", "1se-published", "0se", "holdout", "certificate", "certified"}, float, int or None
        How a member of a sequence of prunings is chosen:

        - "1se": the smallest within one standard error of the lowest error (also "0.25se",
          "2se", ...); "0se": the lowest error. By cross-validation for "cost-complexity", on
          held-out rows for other sequences. "1se" refuses a single leaf if a larger tree is better in the folds by
          more than one standard error of the difference.
        - "1se-published": the published rule, without this exception.
        - "holdout": the lowest error on held-out rows.
        - "certificate": the lowest limit that holds for all members at once, which is then `certificate_`. The limit
          of the tree that cross-validation chooses is usually lower: `select="0se", certify=True`.
        - "certified": the smallest that is certified on held-out rows to have at most the error `target_error`.
        - a float: the smallest with at least this accuracy, measured on the same rows as for "1se".
        - an int: the pruning with exactly this number of leaves, as with `prune_to`. For 2 to 8 leaves, up to
          100,000 rows and default growing and pruning parameters (class weights and monotone constraints are allowed),
          a tree grown with lookahead is a candidate too.
        - None: the grown tree; use `prune_to` to prune it later.
    target_error : float, optional
        For `select="certified"`: an error that you state beforehand. Members are tested from the one of lowest
        cross-validated error towards fewer leaves; testing many members does not make the limits higher. If not even
        the first is certified, the tree is the first, `certificate_.certified` is False, and there is a warning.
    cv : int, splitter or list of folds
        The folds of cross-validation.
    cv_repeats : int or "auto"
        Number of repeats of cross-validation, at most 1,000. "auto" repeats cross-validation up to 3 times for up to
        5,000 rows, until the choice stays the same, and drops criteria that are worse. With more rows, "auto" is 1,
        and worse criteria are dropped after half of the folds. With more than a million rows, only one fold is
        evaluated.
    scoring : {"error", "cost", "balanced_error", "log_loss", "brier", "roc_auc"}, optional
        The score that the chosen tree minimises; None is "error", or "cost" with `costs`. For "log_loss",
        "brier" and "roc_auc" the path is pruned by deviance or Gini impurity instead of errors. With "balanced_error"
        leaves predict the class with the lowest balanced error. If a class is rare, use "log_loss", "brier", "roc_auc"
        or "balanced_error".
    probabilities : {"shrunk", "frequency", "m-estimate", "mixture"}
        What `predict_proba` returns; `predict` does not depend on it.

        - "shrunk": the class shares in the leaf of the row, shrunk towards those of the nodes above the leaf, with the
          strength that cross-validation found best.
        - "frequency": the class shares in the leaf.
        - "m-estimate": the class shares in the leaf after two rows with the class shares of the root are added.
        - "mixture": the mean over all prunings of the pruned tree, weighted by their growing errors.
    holdout : float
        Share of the rows to hold out if a rule, the selection or a certificate needs held-out
        rows and none are passed to `fit`.
    certify : str or True, optional
        Method of the certificate, "best" or a name of `secateur.certifiers.METHODS`; True is "best". The rows for the
        certificate are held out before growing.
    delta : float
        Allowed probability that the certificate fails.
    repeats : {"errors", "independent"}
        How the certificate treats rows that occur more than once. "errors": rows that may be copies count as errors;
        whether they may be copies is judged from the numbers of rows that occur once, twice and so on. "independent":
        you state that equal rows are independent draws.
    costs : array of shape (n_classes, n_classes), optional
        Cost of predicting class j for a row of class i, classes sorted. Leaves then predict the
        class with the lowest expected cost, and pruning minimises the cost instead of errors.
    class_weight : dict or "balanced", optional
        Weight of each class; balanced gives all classes the same total weight.
    nominal : list of names or positions, optional
        Columns of numbers to read as categories. Columns of text, of booleans and of categorical types are always
        read as categories.
    random_state : None, int or RandomState
        Seed for folds and held-out rows; None is 0. Growing has no randomness.
    n_jobs : int, executor or None
        Number of threads, as in joblib: None is 1 unless a `joblib.parallel_config` sets it,
        -1 uses all cores. The tree does not depend on it.
    verbose : int
        Above 0, progress is shown on standard error: a bar on a terminal, otherwise a line every two seconds. At 0,
        a terminal shows a bar after two seconds.

    Attributes
    ----------
    tree_ : Tree
        The grown tree. All node numbers refer to it.
    counts_ : Counts
        Counts of the growing sample.
    pruning_ : Pruning
        The pruned tree, which predicts.
    sequence_ : PruningSequence or None
        The sequence that `pruning_` is a member of.
    selection_ : Selection or None
        The table from which `pruning_` was chosen; `pool` contains all criteria and leaf sizes that were tried.
    holdout_ : Counts or None
        Counts of the held-out sample.
    certificate_ : Bound or None
    group_rates_ : tuple of GroupRates
        The certified rates of population groups, such as women and men, if `certified_on` was called with `group`.
    model_ : Model
        Everything that `fit` found (the tree, the pruning, the counts, the certificate and more) as one frozen object.
    classes_ : array
        The class labels, sorted, in their original type.
    n_classes_, n_features_in_ : int
    feature_names_in_ : array of str
        Only if `X` had column names.
    feature_importances_ : array
        See the property.

    Notes
    -----
    Columns of a data frame are matched by name, in any order. Numbers may be missing (NaN) and
    are compared in float64.

    The same rows in any order give the same tree: folds and held-out rows depend on the values
    of the rows and on the seed, not on their position.

    If `fit` fails or is interrupted, the estimator does not change.

    Examples
    --------
    >>> from secateur import TreeClassifier
    >>> X = [["sunny", 30.0], ["sunny", 18.0], ["rain", 20.0], ["rain", 12.0], ["sunny", 21.0]] * 20
    >>> y = ["stay", "go", "stay", "stay", "go"] * 20
    >>> model = TreeClassifier().fit(X, y)
    >>> model.get_n_leaves(), model.score(X, y)
    (3, 1.0)
    >>> model.predict([["sunny", 15.0], ["rain", 19.0]]).tolist()
    ['go', 'stay']
    >>> print(model.prune_to(n_leaves=2).export_text(feature_names=["sky", "degrees"]))
    |--- sky = rain
    |   |--- class: stay (40 rows, 0 errors)
    |--- sky = sunny
    |   |--- class: go (60 rows, 20 errors)

    k-REP with a Rademacher certificate, as in Kääriäinen, Malinen and Elomaa (2004):

    >>> certified = TreeClassifier(prune="k-reduced-error", certify="rademacher").fit(X, y)
    >>> certified.certificate_.method
    'Rademacher penalty, centred, within 0 growing errors'
    """

    counts_: Counts
    holdout_: Counts | None
    classes_: Array
    n_classes_: int

    def __init__(
        self,
        *,
        criterion: str = "auto",
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
        target_error: float | None = None,
        cv: Any = 10,
        cv_repeats: int | Literal["auto"] = "auto",
        scoring: str | None = None,
        probabilities: prediction.Probabilities = "shrunk",
        holdout: float = 1 / 3,
        certify: str | bool | None = None,
        delta: float = 0.05,
        repeats: Literal["errors", "independent"] = "errors",
        costs: ArrayLike | None = None,
        class_weight: dict[Category, float] | Literal["balanced"] | None = None,
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
        self.target_error = target_error
        self.cv = cv
        self.cv_repeats = cv_repeats
        self.scoring = scoring
        self.probabilities = probabilities
        self.holdout = holdout
        self.certify = certify
        self.delta = delta
        self.repeats = repeats
        self.costs = costs
        self.class_weight = class_weight
        self.nominal = nominal
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def score(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on rows.

        Like `evaluate`, this records in the evaluation log of `tree_` that the rows were evaluated. After several
        prunings were scored on the same rows, you may have chosen one by its score; a certificate from these rows
        therefore holds for all of them at once, and its limit is higher.
        """
        from sklearn.metrics import accuracy_score

        model = self.model_
        schema = model.tree.schema
        assert schema is not None  # every estimator has columns
        table = encode(self._open(X, model), schema=schema)
        labels = read_labels(check_target(y, self))
        target, _ = class_numbers(labels, np.asarray(schema.classes))
        if len(target) != table.n_rows:
            raise DataError(f"X has {table.n_rows:,} rows but y has {len(target):,} labels; one per row is needed")
        accuracy: float = accuracy_score(y, prediction.predict(model, table), sample_weight=sample_weight)
        with suppress(SecateurError):  # rows that cannot be counted cannot certify the tree either
            counts = count(model.tree, replace(table, target=target), sample_weight=sample_weight, sample="evaluate")
            model.tree.evaluation_log.record_pruning(counts, model.pruning)
        return accuracy

    def alternatives(
        self, X: Rows = None, y: Labels = None, *, within: float = 0.01, max_leaves: int | None = None
    ) -> "Alternatives":
        """Return the set of all prunings of `tree_` that are about as good as the best on held-out rows.

        Parameters
        ----------
        X, y : optional
            Rows that did not grow the tree, in place of the held-out rows of the estimator.
        within, max_leaves
            As for `secateur.alternatives`: `within=100` is 100 errors, and `within=0.01` one percentage point.

        Examples
        --------
        >>> import numpy as np
        >>> from secateur import TreeClassifier
        >>> X = np.random.default_rng(0).random((300, 2))
        >>> model = TreeClassifier(prune="reduced-error", random_state=0).fit(X, X[:, 0] > 0.5)
        >>> print(model.alternatives(within=0.02))
        1 pruning is within 2.0 percentage points (2 errors) of the best on 100 held-out rows, with 2 leaves; x0 is in
        all of them
        """
        model = self.model_
        if (X is None) != (y is None):
            raise DataError("only one of X and y is given; pass both, or neither")
        holdout = None if X is None else count(model.tree, X, check_target(y, self), sample="alternatives")
        return alternatives_of(model, holdout, within=within, max_leaves=max_leaves)

    def predict_proba(self, X: Rows) -> Floats:
        """Return the probability of each class, in the order of `classes_`, for each row: see `probabilities`."""
        model = self.model_
        return prediction.predict_proba(model, self._open(X, model), kind=self.probabilities)

    def predict_set(
        self,
        X: Rows,
        coverage: float = 0.9,
        *,
        confidence: float | None = None,
        by: Literal["leaf", "all"] = "leaf",
    ) -> Array:
        """Return the set of likely classes of each row, as an array of tuples.

        The sets come from held-out rows that had no part in making the tree: those of the certificate, or those of
        `calibrated_on`. The first class of a set has the largest share of growing rows in the leaf. `prediction_sets`
        states the guarantee in words.

        Parameters
        ----------
        X : array or data frame
        coverage : float
            The share of new rows whose class is in the set.
        confidence, by
            As for `TreeRegressor.predict_interval`.

        Examples
        --------
        >>> import numpy as np
        >>> from secateur import TreeClassifier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(900, 1))
        >>> y = np.where(rng.random(900) < np.where(X[:, 0] < 0.5, 0.98, 0.7), "stay", "go")
        >>> model = TreeClassifier(select=2).fit(X[:600], y[:600]).calibrated_on(X[600:], y[600:])
        >>> model.predict_set([[0.2], [0.9]], coverage=0.9).tolist()
        [('stay',), ('stay', 'go')]
        """
        sets = self.prediction_sets(coverage, confidence=confidence, by=by)
        return sets.of_leaves(self.apply(X))

    def prediction_sets(
        self, coverage: float = 0.9, *, confidence: float | None = None, by: Literal["leaf", "all"] = "leaf"
    ) -> PredictionSets:
        """Return the sets of all leaves, with their guarantee in words (`guarantee`).

        The parameters are those of `predict_set`.
        """
        return sets_of(self.model_, coverage=coverage, confidence=confidence, by=by)

    def predict_log_proba(self, X: Rows) -> Floats:
        """Return the natural logarithm of `predict_proba`; -inf where a share is 0."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.predict_proba(X))
        return logs
