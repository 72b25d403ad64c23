"""cross_validate: grow a tree for each fold, and choose on the path of all rows.

The paths of the folds are compared with that of all rows at the same penalty per row: for
each member the geometric mean of the interval in which it is the best. Breiman et al. (1984).
"""

import itertools
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from .._utils.arrays import ArrayLike
from .._utils.checks import check_int
from .._utils.threads import resolve_n_jobs
from ..core import SampleUsage, Selection
from ..errors import ParameterError, UnsupportedError
from ..growers.growing_rows import read_growing_rows
from ..growers.parameters import GrowParameters, is_auto
from ..growers.presorted_data import PresortedData
from ..routing import with_growing_rows
from ._candidate_search import CandidateSearch
from ._registry import n_standard_errors
from .folds import seed_from, splits_of
from .losses import losses_of
from .tasks import Progress

FEW_ROWS = 5_000  # up to so many, folds are dealt up to three times
MANY_ROWS = 1_000_000  # beyond, one fold says enough
ENOUGH = 5  # folds that tell whether a way of growing is behind


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
    """Return the cost-complexity path of a sample with the cross-validated error of every member, and the choice.

    Parameters
    ----------
    X : array, data frame, path or Table
        The rows; a `Table` with a target needs no `y`.
    y : array or column name
        The class of each row; a number with criterion "squared_error".
    cv : int, splitter or list
        Number of folds, an object with `split(X, y)` as scikit-learn has them, (train, test)
        pairs of row numbers, or test rows alone, the others being grown on.
    cv_repeats : int or "auto"
        How often the folds are dealt anew; their errors are pooled. "auto" deals up to 5,000 rows up to
        three times: it stops when the choice of the first ten folds hardly depends on any one of them, or when
        dealing again has not changed it, and drops ways of growing that are behind; of more rows it drops them
        after half of the folds. Of more than a million rows it judges by the first fold only.
    stratified : bool
        Whether every fold gets its share of each class.
    random_state : int, generator or None
        Deals the folds. The same rows in any order are dealt alike.
    select, k
        As `rule` and `k` of `select`.
    se : "pooled" or "folds"
        sqrt(e (1 - e) / n), n the number of rows; or the standard deviation of the fold rates
        over the root of the number of folds. For costs and squared errors the pooled one is
        the standard deviation of the losses over sqrt(n).
    penalty, size
        As for `pruners.cost_complexity`.
    cost : "errors" or "m-estimate"
        What the path weighs against size: errors on the growing rows, or their m-estimate with
        weight `m`. What is held out is always judged by its errors.
    m : float
    costs : array of shape (n_classes, n_classes), optional
        What it costs to answer class j for a row of class i, in place of errors: leaves then
        answer the class of least cost.
    scoring : str, optional
        What the held-out rows are judged by, a name of `selection.SCORES`; None is "error", with `costs` "cost", and
        of numbers "squared_error". For "log_loss" the path weighs the deviance against leaves, for "brier" and
        "roc_auc" the Gini impurity, all of the growing rows. With "balanced_error" leaves answer the class that
        has the least of it. "roc_auc" has the standard error of the folds. For "log_loss" and "brier" a member is
        within one standard error if that of its difference from the best, over the folds, is not below it.
    probabilities : {"shrunk", "frequency", "m-estimate", "mixture"}
        What is judged by "log_loss", "brier" and "roc_auc" (a mixture by its m-estimates). How strongly to
        shrink is chosen too, by the log loss (or Brier score) of the choice: `details["shrinkage"]`.
    criterion, min_samples_leaf
        As for `grow`, or "auto": grow with each of gini and sqrt, at least 1, 2 and 5 rows a leaf, on the
        same folds; take the way whose choice has the least error (the fewest leaves, the first).
    splits, growth, max_splits, max_depth, min_samples_split, min_weight_fraction_leaf, \
max_bins, allow_zero, penalise_numeric, monotonic_cst, interaction_cst, surrogates, nominal
        As for `grow`.
    sample_weight : array, optional
        Weight of each row, in growing and judging. A row is dealt to one fold with all its weight, and
        is one row in the standard error, whatever it weighs.
    class_weight : dict or "balanced", optional
        Factor on the weights of each class; "balanced" is computed once, from all rows.
    n_jobs : int or executor, optional
        Threads (-1: one per core), or an object with `submit`, such as an executor of
        processes or a client of dask. The result does not depend on it.
    progress : callable, optional
        Called with (trees grown, trees to grow).

    Returns
    -------
    Selection
        `sequence` is the path of all rows; `alphas` and `betas` are penalties per row (per unit
        of weight), so that they mean the same for any number of rows. `growing` holds the
        growing parameters, `pool` all ways that were tried. A rule of standard errors does not choose a
        single leaf where a member errs less by more than the standard error of the difference, taken over
        the folds: it then takes the smallest such member.

    Notes
    -----
    Columns are coded and sorted once. A fold costs one growth, one routing of its held-out
    rows, and O(n_nodes log n_nodes); nothing depends on the number of penalties.

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
    n_errors = n_standard_errors("select", select, k)
    if se not in ("pooled", "folds"):
        raise ParameterError(f"se={se!r}; 'pooled' or 'folds' is needed")
    parameters = GrowParameters(
        criterion=criterion, splits=splits, growth=growth, max_splits=max_splits, max_depth=max_depth,
        min_samples_leaf=min_samples_leaf, min_samples_split=min_samples_split,
        min_weight_fraction_leaf=min_weight_fraction_leaf, max_bins=max_bins, allow_zero=allow_zero,
        penalise_numeric=penalise_numeric, monotonic_cst=monotonic_cst, interaction_cst=interaction_cst,
        surrogates=surrogates, class_weight=class_weight, nominal=nominal,
    )  # fmt: skip
    n_jobs = n_jobs if hasattr(n_jobs, "submit") else resolve_n_jobs(n_jobs)
    rows = read_growing_rows(X, y, sample_weight, parameters, purpose="cross-validation")
    table, weight = rows.table, rows.weight
    is_dealt = isinstance(cv, int | np.integer)
    is_ours = is_auto(cv_repeats) and is_dealt  # how often folds are dealt
    if is_auto(cv_repeats):
        n_repeats = auto_repeats(table.n_rows) if is_dealt else 1
    else:
        n_repeats = check_int("cv_repeats", cv_repeats, 1, alternative=", or 'auto',")
    seed = seed_from(random_state)
    losses = losses_of(cost, m, costs, scoring, probabilities, table, weight)._replace(penalty=penalty, size=size)
    if losses.scoring == "roc_auc":
        se = "folds"  # an area is not a mean over rows
        if penalty != "leaves" or size != "leaves":
            raise UnsupportedError(f"scoring='roc_auc' with penalty={penalty!r}, size={size!r}; both must be 'leaves'")
    is_used = rows.is_used()
    rounds, n_folds = splits_of(cv, table, is_used, repeats=n_repeats, seed=seed, stratified=stratified)
    if is_ours and table.n_rows > MANY_ROWS:
        rounds, n_folds, n_repeats = iter([next(rounds)[:1]]), 1, 1
    may_stop, n_splits = is_ours and n_repeats > 1, n_folds * n_repeats
    if not may_stop:
        parts = list(itertools.chain(*rounds))
        half = len(parts) // 2 if is_ours and len(parts) >= 2 * ENOUGH else len(parts)
        rounds = filter(None, (parts[:half], parts[half:]))
    if se == "folds" and n_folds < 2:
        raise ParameterError("se='folds' needs at least 2 folds; 1 is given")
    details = {
        "folds": n_folds, "repeats": n_repeats, "seed": seed, "stratified": bool(stratified), "se": se,
        "penalty": penalty if isinstance(penalty, str) else getattr(penalty, "__name__", repr(penalty)),
        "size": size, "scoring": losses.scoring, "cost": losses.cost, "m": float(m),
        "costs": None if losses.costs is None else losses.costs.tolist(),
    }  # fmt: skip
    race = CandidateSearch(PresortedData.of(table, weight), losses, n_folds, se, n_errors, details, n_jobs, progress)
    winner, ways = race.run(parameters.candidates(), rounds, n_splits=n_splits, may_stop=may_stop)
    counts = with_growing_rows(winner.counts, table, is_used)  # what the tree must know of the rows that grew it
    sequence = replace(winner.sequence, tree=counts.tree, seen=SampleUsage.of(counts))
    lines = tuple(way.line for way in ways) if len(ways) > 1 else ()
    return replace(winner, counts=counts, sequence=sequence, pool=lines)


def auto_repeats(n_rows: int) -> int:
    """Return the default limit on repeats of cross-validation: three for up to 5,000 rows, else one.

    Examples
    --------
    >>> auto_repeats(500), auto_repeats(50_000)
    (3, 1)
    """
    return 3 if n_rows <= FEW_ROWS else 1
