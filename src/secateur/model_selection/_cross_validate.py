"""cross_validate: grow a tree for each fold, and choose a member on the path of all rows.

A member of the path of all rows is compared with the trees of the folds at the same penalty per row: the geometric mean
of the interval of penalties in which the member is the best. Breiman et al. (1984).
"""

from dataclasses import replace
from typing import Any, Literal

from .._utils.arrays import ArrayLike
from .._utils.threads import resolve_n_jobs
from ..core import SampleUsage, Selection
from ..errors import Argument, ParameterError
from ..growers.growing_rows import WeightedRows, read_growing_rows
from ..growers.parameters import GrowParameters
from ..growers.presorted_data import PresortedData
from ..routing import with_growing_rows
from ._candidate_search import CandidateSearch, ChoiceRule
from ._registry import check_scoring, n_standard_errors
from .folds import FoldPlan, plan_folds, seed_from
from .losses import Scoring, complete_scoring
from .tasks import Progress


def cross_validate(
    X: Any,
    y: Any = None,
    *,
    cv: Any = 10,
    cv_repeats: int | Literal["auto"] = 1,
    stratified: bool = True,
    random_state: Any = 0,
    select: str = "1se",
    k: float | None = None,
    se: Literal["pooled", "folds"] = "pooled",
    penalty: Any = "leaves",
    size: Literal["leaves", "nodes"] = "leaves",
    cost: Literal["errors", "m-estimate"] = "errors",
    m: float = 2.0,
    costs: ArrayLike | None = None,
    scoring: str | None = None,
    probabilities: str = "shrunk",
    criterion: str = "gini",
    splits: Literal["binary", "multiway"] = "binary",
    growth: Literal["depth-first", "best-first"] = "depth-first",
    max_splits: int | None = None,
    max_depth: int | None = None,
    min_samples_leaf: int | Literal["auto"] = 1,
    min_samples_split: int = 2,
    min_weight_fraction_leaf: float = 0.0,
    max_bins: int | None = None,
    allow_zero: bool | None = None,
    penalise_numeric: bool = False,
    monotonic_cst: Any = None,
    interaction_cst: Any = None,
    surrogates: int = 0,
    sample_weight: ArrayLike | None = None,
    class_weight: dict[Any, float] | Literal["balanced"] | None = None,
    nominal: Any = None,
    n_jobs: Any = None,
    progress: Progress = None,
) -> Selection:
    """Return the cost-complexity path of the rows, with the cross-validated error of each member and the choice.

    Parameters
    ----------
    X : array, data frame, path or Table
        The rows; a `Table` with a target needs no `y`.
    y : array or column name
        The class of each row; a number with criterion "squared_error".
    cv : int, splitter or list
        Number of folds, an object with `split(X, y)` as in scikit-learn, (train, test)
        pairs of row numbers, or test rows alone, which leave all other rows for growing.
    cv_repeats : int or "auto"
        How often rows are assigned to folds anew; the errors of all repeats are averaged. "auto" repeats up to three
        times for up to 5,000 rows. It stops when the choice of the first ten folds hardly depends on any one of them,
        or when one more repeat has not changed the choice, and it drops candidates that are worse. For more rows it
        drops candidates after half of the folds. For more than a million rows it evaluates one fold only.
    stratified : bool
        Whether every fold gets the same share of each class.
    random_state : int, generator or None
        Seed of the assignment to folds, which does not depend on the order of the rows.
    select, k
        As `rule` and `k` of `select`.
    se : "pooled" or "folds"
        Standard error of an error rate e: sqrt(e (1 - e) / n) with n rows; or the standard deviation of the error
        rates of the folds over the root of the number of folds. For costs and squared errors, the pooled standard
        error is the standard deviation of the losses over sqrt(n).
    penalty, size
        As for `pruners.cost_complexity`.
    cost : "errors" or "m-estimate"
        What the path weighs against size: errors on the growing rows, or their m-estimate with
        `m` added rows. Held-out rows are always evaluated by their errors.
    m : float
        Rows that the m-estimate adds.
    costs : array of shape (n_classes, n_classes), optional
        Cost of predicting class j for a row of class i, in place of errors: leaves then
        predict the class of lowest cost.
    scoring : str, optional
        Score of the held-out rows, a name of `model_selection.SCORES`. None is "error", with `costs` "cost", and
        "squared_error" for numbers. For "log_loss" the path weighs the deviance of the growing rows against leaves,
        for "brier" and "roc_auc" their Gini impurity. With "balanced_error", leaves predict the class with the lowest
        balanced error. "roc_auc" uses the standard error of the folds. For "log_loss" and "brier", a member is
        within one standard error if its difference from the best is at most one standard error of the difference.
    probabilities : {"shrunk", "frequency", "m-estimate", "mixture"}
        Class probabilities that "log_loss", "brier" and "roc_auc" score (a mixture by its m-estimates). The strength
        of shrinkage is chosen too, by the log loss (or Brier score) of the choice: `details["shrinkage"]`.
    criterion, min_samples_leaf
        As for `grow`, or "auto": grow a candidate with each of gini and sqrt, with at least 1, 2 and 5 rows in a leaf,
        on the same folds. The candidate whose choice has the lowest error wins; ties go to fewer leaves, then to the
        first candidate.
    splits, growth, max_splits, max_depth, min_samples_split, min_weight_fraction_leaf, \
max_bins, allow_zero, penalise_numeric, monotonic_cst, interaction_cst, surrogates, nominal
        As for `grow`.
    sample_weight : array, optional
        Weight of each row, in growing and evaluation. A row is in one fold with all its weight, and
        is one row in the standard error, whatever its weight.
    class_weight : dict or "balanced", optional
        Factor on the weights of each class; "balanced" is computed once, from all rows.
    n_jobs : int, executor or None
        Number of threads (-1: one per core), or an object with `submit`, such as an executor of
        processes or a client of Dask. The result does not depend on it.
    progress : callable, optional
        Called with (trees grown, trees to grow).

    Returns
    -------
    Selection
        `sequence` is the path of all rows. `alphas` and `betas` are penalties per row (per unit
        of weight), so that they mean the same for any number of rows. `growing` has the growing parameters of the
        winner, `pool` all candidates. If a rule of standard errors would choose a single leaf, but another
        member is better by more than one standard error of the difference over the folds, the smallest such member
        is chosen.

    Notes
    -----
    Columns are encoded and sorted once. A fold costs one growth, one routing of its held-out
    rows, and O(n_nodes log n_nodes); the cost does not depend on the number of penalties.

    Examples
    --------
    >>> import numpy as np
    >>> from secateur.model_selection import cross_validate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> y = (X[:, 0] > 0) ^ (rng.random(300) < 0.1)
    >>> selection = cross_validate(X, y)
    >>> selection.pruning.n_leaves, selection.sequence.n_leaves[0].item() > 20
    (2, True)
    >>> selection.error[selection.chosen].round(2).item()
    0.15
    """
    rule = ChoiceRule(n_standard_errors("select", select, k), se)
    parameters = GrowParameters(
        criterion=criterion, splits=splits, growth=growth, max_splits=max_splits, max_depth=max_depth,
        min_samples_leaf=min_samples_leaf, min_samples_split=min_samples_split,
        min_weight_fraction_leaf=min_weight_fraction_leaf, max_bins=max_bins, allow_zero=allow_zero,
        penalise_numeric=penalise_numeric, monotonic_cst=monotonic_cst, interaction_cst=interaction_cst,
        surrogates=surrogates, class_weight=class_weight, nominal=nominal,
    )  # fmt: skip
    rows = read_growing_rows(X, y, sample_weight, parameters, purpose="cross-validation")
    score_name = check_scoring(scoring, is_class=rows.table.schema.classes is not None, has_costs=costs is not None)
    scores = complete_scoring(Scoring(cost, m, costs, score_name, probabilities, penalty, size), rows)
    plan = plan_folds(cv, cv_repeats, rows, seed=seed_from(random_state), stratified=stratified)
    return cross_validate_candidates(rows, parameters, plan, scores, rule, n_jobs=n_jobs, progress=progress)


def cross_validate_candidates(
    rows: WeightedRows,
    parameters: GrowParameters,
    plan: FoldPlan,
    scoring: Scoring,
    rule: ChoiceRule,
    *,
    n_jobs: Any,
    progress: Progress,
) -> Selection:
    """Return the path of all rows with the cross-validated error of each member and the choice.

    This is `cross_validate` after its arguments have been read and checked.

    Parameters
    ----------
    rows : WeightedRows
        Class weights are included in the weights.
    parameters : GrowParameters
        Parameters that are "auto" make several candidates.
    plan : FoldPlan
    scoring : Scoring
    rule : ChoiceRule
    n_jobs, progress
        As for `cross_validate`.
    """
    if scoring.score_name == "roc_auc":
        rule = replace(rule, se="folds")  # an area is not a mean over rows
    if rule.se == "folds" and plan.n_folds < 2:
        raise ParameterError(Argument("se", "folds"), " needs at least 2 folds; 1 is given")
    n_workers = n_jobs if hasattr(n_jobs, "submit") else resolve_n_jobs(n_jobs)
    details = _details(plan, scoring, rule)
    data = PresortedData.of(rows.table, rows.weight)
    search = CandidateSearch(data, scoring, plan, rule, details, n_workers, progress)
    table, results = search.run(parameters.candidates())
    counts = with_growing_rows(table.counts, rows.table, rows.is_used())
    sequence = replace(table.sequence, tree=counts.tree, seen=SampleUsage.of(counts))
    pool = tuple(result.summary for result in results) if len(results) > 1 else ()
    return replace(table, counts=counts, sequence=sequence, pool=pool)


def _details(plan: FoldPlan, scoring: Scoring, rule: ChoiceRule) -> dict[str, Any]:
    """Return how the members were evaluated, as plain values for `Selection.details`."""
    return {
        "folds": plan.n_folds,
        "repeats": plan.n_repeats,
        "seed": plan.seed,
        "stratified": plan.is_stratified,
        "se": rule.se,
        "penalty": scoring.penalty_name,
        "size": scoring.size,
        "scoring": scoring.score_name,
        "cost": scoring.path_cost,
        "m": scoring.m,
        "costs": None if scoring.costs is None else scoring.costs.tolist(),
    }
