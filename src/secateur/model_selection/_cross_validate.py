"""cross_validate: grow a tree for each fold, and choose a member on the path of all rows.

Each member of the path of all rows is given the errors of the trees that the folds choose at the same penalty per row.
This penalty is the geometric mean of the interval of penalties in which the member is the best. The method is that of
Breiman et al. (1984).

Candidates are combinations of growing parameters. `CandidateSearch` cross-validates them and chooses the best one.
Folds come in rounds. After the first round, candidates that are clearly worse than the best one are dropped; the other
candidates are grown on the folds of the next round too.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from .._utils.arrays import Array, ArrayLike, Floats, Labels
from .._utils.checks import seed_from
from .._utils.threads import resolve_n_jobs
from ..core import PruningSequence, Sample, SampleUsage, Selection
from ..data.encoding import encode_weighted_rows
from ..data.weights import WeightedRows, used_rows, weigh_classes
from ..errors import Argument, ParameterError
from ..growers.parameters import GrowParameters
from ..growers.presorted_data import PresortedData
from ..pruners import cost_complexity
from ..routing import with_growing_rows
from ..statistics.probabilities import SHRINKAGE_STRENGTHS
from ._recipe import Allowance, allowance_of, check_scoring
from ._select import better_than_single_leaf, choose, smallest_within_difference
from .folds import (
    Fold,
    FoldLosses,
    FoldPlan,
    Progress,
    Task,
    evaluate_fold,
    grow_on_all_rows,
    mean_errors,
    mean_shrunk_losses,
    plan_folds,
    run_tasks,
)
from .losses import Scoring, complete_scoring, cost_unit, leaf_predictions

# A choice is stable if at least this share of the choices made without one of the folds agree with it.
MIN_STABLE_SHARE = 0.8
MIN_FOLDS_FOR_STABILITY = 10
TASKS_PER_THREAD = 4  # enough that no thread waits long for the last task


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
    splits: Literal["binary", "one-vs-rest", "multiway"] = "binary",
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
    groups: Labels = None,
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
        pairs of row numbers, or test rows alone, which leave all other rows for growing. With `groups`, a splitter is
        called with them, and folds that divide a group are refused.
    cv_repeats : int or "auto"
        How often rows are assigned to folds anew; the errors of all repeats are averaged. "auto" makes up to three
        repeats for up to 5,000 rows. It stops after the first repeat if that has at least ten folds and the choice
        hardly depends on any one of them, and later when one more repeat has not changed the choice. Candidates that
        are clearly worse are dropped after the first repeat. For more rows there is one repeat, and candidates are
        dropped after half of the folds. For more than a million rows only one fold is evaluated.
    stratified : bool
        Whether every fold gets the same share of each class.
    random_state : int, generator or None
        Seed of the assignment to folds, which does not depend on the order of the rows.
    select, k
        As `rule` and `k` of `select`, with two exceptions. A single leaf is not chosen if a larger tree is better in
        the folds by more than one standard error of the difference. Losses of probabilities must lie within `k`
        standard errors of their difference from the lowest loss. "1se-published" is the rule of the documents,
        without exceptions.
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
        Class probabilities that "log_loss", "brier" and "roc_auc" score. For "mixture" its m-estimates are scored.
        For "shrunk" the strength of shrinkage is chosen too, and stored in `details["shrinkage"]`. With "log_loss"
        and "brier" it is the strength of the lowest score of any member, with other scores the strength with which
        the chosen member has the lowest log loss.
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
    groups : array or column name, optional
        The group of each row, such as its patient or household: text or whole numbers. All rows of a group are in one
        fold; classes are shared evenly as far as whole groups allow. Rows of a group are not independent, so the
        standard error is that of the folds if there are at least two. A column that is named is no predictor.
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
    allowance = allowance_of("select", select, k)
    if se not in ("pooled", "folds"):
        raise ParameterError(Argument("se", se), "; 'pooled' or 'folds' is needed")
    parameters = GrowParameters(
        criterion=criterion, splits=splits, growth=growth, max_splits=max_splits, max_depth=max_depth,
        min_samples_leaf=min_samples_leaf, min_samples_split=min_samples_split,
        min_weight_fraction_leaf=min_weight_fraction_leaf, max_bins=max_bins, allow_zero=allow_zero,
        penalise_numeric=penalise_numeric, monotonic_cst=monotonic_cst, interaction_cst=interaction_cst,
        surrogates=surrogates, class_weight=class_weight, nominal=nominal,
    )  # fmt: skip
    n_workers = n_jobs if hasattr(n_jobs, "submit") else resolve_n_jobs(n_jobs)
    rows = encode_weighted_rows(
        X, y, sample_weight, target_kind=parameters.target_kind, nominal=nominal, purpose="cross-validation",
        groups=groups,
    )  # fmt: skip
    rows = weigh_classes(rows, class_weight)
    data = PresortedData.of(rows.table, rows.weight)
    score_name = check_scoring(scoring, is_class=rows.table.schema.classes is not None, has_costs=costs is not None)
    score = complete_scoring(Scoring(cost, m, costs, score_name, probabilities, penalty, size), rows)
    plan = plan_folds(cv, cv_repeats, rows, seed=seed_from(random_state), stratified=stratified)
    return CandidateSearch(
        data, parameters.candidates(), score, plan, allowance, standard_error_for(rows, plan, se), n_workers, progress
    ).run()


def standard_error_for(rows: WeightedRows, plan: FoldPlan, se: str) -> str:
    """Return which standard error is used: that of the folds for rows in groups, which are not independent."""
    return "folds" if rows.groups is not None and plan.n_folds > 1 else se


class MemberErrors(NamedTuple):
    """Cross-validated errors of the members of a path, and the choice from them.

    Parameters
    ----------
    error, se : array
        Error rate of each member, and its standard error.
    fold_error : array of shape (n_folds, n_members)
    best, chosen : int
        The member of lowest error, and the member that the rule chooses.
    """

    error: Floats
    se: Floats
    fold_error: Floats
    best: int
    chosen: int

    @property
    def chosen_error(self) -> float:
        """The error of the chosen member."""
        return float(self.error[self.chosen])

    @property
    def chosen_fold_error(self) -> Floats:
        """The error of the chosen member in each fold."""
        fold_error: Floats = self.fold_error[:, self.chosen]
        return fold_error


class CandidateResult(NamedTuple):
    """Cross-validation results of one candidate so far.

    Parameters
    ----------
    candidate : GrowParameters
        The growing parameters.
    counts : Counts or Moments
        All rows in the tree that is grown on them.
    path : PruningSequence
        The path of that tree.
    folds : list of FoldLosses
        The losses of the folds so far.
    errors : MemberErrors
        The errors of the members of the path in these folds, and the choice.
    shrinkage : int, optional
        The index of the strength of shrinkage with which probabilities were scored.
    """

    candidate: GrowParameters
    counts: Sample
    path: PruningSequence
    folds: list[FoldLosses]
    errors: MemberErrors
    shrinkage: int | None

    @property
    def summary(self) -> dict[str, Any]:
        """The growing parameters, and the leaves, error and standard error of the chosen member."""
        n_leaves, se = int(self.path.n_leaves[self.errors.chosen]), float(self.errors.se[self.errors.chosen])
        return self.candidate.tree_parameters() | {"n_leaves": n_leaves, "error": self.errors.chosen_error, "se": se}

    @property
    def rank(self) -> tuple[float, int]:
        """The error and the number of leaves of the chosen member; the candidate with the lowest rank is the best."""
        return self.errors.chosen_error, int(self.path.n_leaves[self.errors.chosen])

    def is_worse(self, best: "CandidateResult") -> bool:
        """Return whether this candidate has a higher error than the best one by more than one standard error.

        The standard error is that of the difference over the folds.
        """
        difference = self.errors.chosen_fold_error - best.errors.chosen_fold_error
        return bool(difference.mean() > difference.std(ddof=1) / np.sqrt(len(difference)))


class EvaluatedRows(NamedTuple):
    """How many rows have been held out in at least one of the folds so far.

    Parameters
    ----------
    n_rows : int
    effective_n : float
        Number of equally weighted rows that give a mean of the same precision (Kish).
    """

    n_rows: int
    effective_n: float


@dataclass(frozen=True)
class CandidateSearch:
    """The cross-validation of candidates on the same folds.

    Parameters
    ----------
    data : PresortedData
        All rows. Class weights are included in the weights.
    candidates : list of GrowParameters
        Combinations of growing parameters, without "auto".
    scoring : Scoring
    plan : FoldPlan
    allowance : Allowance
        How far above the lowest error the smallest member may be.
    se : "pooled" or "folds"
        Standard error from the losses of all rows, or from the error rates of the folds.
    n_workers : int or executor
        Number of threads, or an object with `submit`.
    progress : callable, optional
        As for `cross_validate`.
    """

    data: PresortedData
    candidates: list[GrowParameters]
    scoring: Scoring
    plan: FoldPlan
    allowance: Allowance
    se: str
    n_workers: Any
    progress: Progress

    def __post_init__(self) -> None:
        if self.scoring.score_name == "roc_auc":  # an area under the ROC curve is no mean over rows
            object.__setattr__(self, "se", "folds")
        if self.se == "folds" and self.plan.n_folds < 2:
            raise ParameterError(Argument("se", "folds"), " needs at least 2 folds; 1 is given")

    def run(self) -> Selection:
        """Return the path of all rows with the cross-validated error of each member and the choice.

        The result is that of the best candidate. After the first of several rounds, candidates that are worse than the
        best one are dropped. If the plan allows it, the search stops after the first round if the choice is stable, and
        after a later round if the choice is the same as after the round before.
        """
        is_evaluated = np.zeros(self.data.table.n_rows, np.bool_)
        results: dict[int, CandidateResult] = {}
        remaining = list(range(len(self.candidates)))
        n_grown, previous_choice = 0, None
        best = 0
        for folds in self.plan.rounds:
            is_first_round = not results
            is_evaluated[np.concatenate([fold.test for fold in folds])] = True
            rows = self._evaluated_rows(is_evaluated)
            # None stands for the tree of all rows, which is grown in the first round.
            folds_or_all: list[Fold | None] = [None, *folds] if is_first_round else [*folds]
            round_results = self._run_round([self.candidates[i] for i in remaining], folds_or_all, n_grown)
            n_grown += len(remaining) * len(folds_or_all)
            for i, candidate_results in zip(remaining, round_results, strict=True):
                if is_first_round:
                    counts, *losses = candidate_results
                    path = self._path_of_all_rows(counts)
                    results[i] = self._result(self.candidates[i], counts, path, losses, rows)
                else:
                    candidate, counts, path, losses = results[i][:4]
                    results[i] = self._result(candidate, counts, path, [*losses, *candidate_results], rows)
            best = min(remaining, key=lambda i: results[i].rank)
            choice = (best, results[best].errors.chosen)
            if self.plan.may_stop_early:
                is_stable = self._is_stable(results[best], rows) if is_first_round else choice == previous_choice
                if is_stable:
                    break
            if is_first_round and self.plan.n_all_folds > len(folds):
                remaining = [i for i in remaining if not results[i].is_worse(results[best])]
            previous_choice = choice
        return self._selection(results[best], [results[i] for i in range(len(self.candidates))], rows)

    def _evaluated_rows(self, is_evaluated: Array) -> EvaluatedRows:
        """Return the number and the effective number of the evaluated rows."""
        rows = np.flatnonzero(is_evaluated)
        if self.data.weight is None:
            return EvaluatedRows(len(rows), len(rows))
        weight = self.data.weight[rows]
        return EvaluatedRows(len(rows), float(weight.sum() ** 2 / (weight**2).sum()))

    def _run_round(
        self,
        candidates: list[GrowParameters],
        folds_or_all: Sequence[Fold | None],
        n_grown: int,
    ) -> list[list[Any]]:
        """Return a list of results for each candidate, in the order of `folds_or_all`.

        The result for a fold is its `FoldLosses`; the result for None is the counts of all rows in the tree grown on
        them. Candidates are evaluated in groups, because the candidates of one task share the preparation of its rows.
        The groups are small enough that each thread has several tasks.
        """
        if hasattr(self.n_workers, "submit"):
            n_groups = len(candidates)
        else:
            n_groups = min(len(candidates), math.ceil(TASKS_PER_THREAD * self.n_workers / len(folds_or_all)))
        group_size = math.ceil(len(candidates) / n_groups)
        groups = [tuple(candidates[i : i + group_size]) for i in range(0, len(candidates), group_size)]
        tasks: list[Task] = [
            (grow_on_all_rows, (group,)) if fold is None else (evaluate_fold, (group, self.scoring, fold))
            for fold in folds_or_all
            for group in groups
        ]
        sizes = [len(group) for _ in folds_or_all for group in groups]
        progress = self._round_progress(n_grown, len(self.candidates) * (1 + self.plan.n_all_folds))
        results = run_tasks(self.data, tasks, self.n_workers, progress, sizes=sizes)
        by_fold = [
            list(itertools.chain(*results[first : first + len(groups)]))
            for first in range(0, len(results), len(groups))
        ]
        return [list(of_candidate) for of_candidate in zip(*by_fold, strict=True)]

    def _round_progress(self, n_grown: int, n_trees: int) -> Progress:
        """Return the callback for the tasks of a round, which counts the trees of earlier rounds too."""
        progress = self.progress
        if progress is None:
            return None
        return lambda n_done, _: progress(n_grown + n_done, n_trees)

    def _path_of_all_rows(self, counts: Sample) -> PruningSequence:
        """Return the pruning path of the tree grown on all rows, with penalties per unit of weight."""
        scoring = self.scoring
        predictions = leaf_predictions(counts, scoring)
        unit = cost_unit(counts, scoring)
        path: Any = cost_complexity(
            counts.tree, None, penalty=scoring.penalty, size=scoring.size, cost=predictions.cost
        )
        parameters = path.provenance.parameters | ({"m": scoring.m} if unit == "m-estimate" else {})
        provenance = replace(
            path.provenance, parameters=parameters, cost=unit, sample=counts.sample, alpha_unit="cost per row"
        )
        alphas: Floats = path.alphas / predictions.divisor
        sequence: PruningSequence = replace(
            path, alphas=alphas, node_labels=predictions.labels, seen=SampleUsage.of(counts), provenance=provenance
        )
        return sequence

    def _result(
        self,
        candidate: GrowParameters,
        counts: Sample,
        path: PruningSequence,
        folds: list[FoldLosses],
        rows: EvaluatedRows,
    ) -> CandidateResult:
        """Return the results of a candidate: the errors of all members of its path in the folds, and the choice."""
        penalties, scored_folds, shrinkage = _penalties_of(path), folds, None
        if self.scoring.score.is_probability_score and all(fold.shrunk is not None for fold in folds):
            shrinkage = int(mean_shrunk_losses(folds, penalties).min(axis=1).argmin())
            scored_folds = [fold.with_shrinkage(shrinkage) for fold in folds]
        errors = self._member_errors(scored_folds, penalties, path.n_leaves, rows.effective_n)
        return CandidateResult(candidate, counts, path, folds, errors, shrinkage)

    def _member_errors(
        self, folds: list[FoldLosses], penalties: Floats, n_leaves: Array, effective_n: float
    ) -> MemberErrors:
        """Return the errors of the members at their penalties, and the choice of the rule."""
        # Repeats evaluate the same rows again, so they do not count as further folds.
        n_folds, k = min(self.plan.n_folds, len(folds)), self.allowance.n_standard_errors
        error, se, fold_error = mean_errors(folds, penalties, effective_n, n_folds, self.se)
        best, chosen = choose(error, se, k)
        if k == 0 or self.allowance.is_published:
            return MemberErrors(error, se, fold_error, best, chosen)
        if self.scoring.score.is_probability_score and len(fold_error) > 1:
            chosen = smallest_within_difference(best, fold_error, n_folds, k)
        elif n_leaves[chosen] == 1 and n_folds > 1:
            chosen = better_than_single_leaf(chosen, fold_error, n_folds, n_leaves)
        return MemberErrors(error, se, fold_error, best, chosen)

    def _is_stable(self, result: CandidateResult, rows: EvaluatedRows) -> bool:
        """Return whether the choice is nearly always the same when any one fold is left out."""
        folds, path = result.folds, result.path
        if len(folds) < MIN_FOLDS_FOR_STABILITY:
            return False
        if result.shrinkage is not None:
            folds = [fold.with_shrinkage(result.shrinkage) for fold in folds]
        penalties = _penalties_of(path)
        n_same = 0
        for i in range(len(folds)):
            errors = self._member_errors(folds[:i] + folds[i + 1 :], penalties, path.n_leaves, rows.effective_n)
            n_same += errors.chosen == result.errors.chosen
        return n_same >= MIN_STABLE_SHARE * len(folds)

    def _selection(self, best: CandidateResult, results: list[CandidateResult], rows: EvaluatedRows) -> Selection:
        """Return the table of the best candidate, with the summaries of all candidates.

        The history of its tree gets the sketch of the rows, which the trees of cross-validation do not need.
        """
        details, growing = self._details(best), best.candidate.tree_parameters()
        pool = tuple(result.summary for result in results) if len(results) > 1 else ()
        counts = with_growing_rows(best.counts, self.data.table, used_rows(self.data.weight))
        path = replace(best.path, tree=counts.tree, seen=SampleUsage.of(counts))
        errors = best.errors
        return Selection(
            path, errors.error, errors.se, errors.best, errors.chosen,
            select=self.allowance.name, sample="cross-validation", n=rows.n_rows,
            betas=_penalties_of(path), fold_error=errors.fold_error, counts=counts, growing=growing, pool=pool,
            details=details,
        )  # fmt: skip

    def _details(self, best: CandidateResult) -> dict[str, Any]:
        """Return how the members were evaluated, as plain values for `Selection.details`."""
        plan, scoring, folds = self.plan, self.scoring, best.folds
        details = {
            "folds": plan.n_folds,
            "repeats": len(folds) // min(plan.n_folds, len(folds)),
            "seed": plan.seed,
            "stratified": plan.is_stratified,
            "se": self.se,
            "penalty": scoring.penalty_name,
            "size": scoring.size,
            "scoring": scoring.score_name,
            "cost": scoring.path_cost,
            "m": scoring.m,
            "costs": None if scoring.costs is None else scoring.costs.tolist(),
        }
        if best.shrinkage is not None:
            return details | {"shrinkage": SHRINKAGE_STRENGTHS[best.shrinkage]}
        if any(fold.shrunk is None for fold in folds):  # the path of a fold is not nested
            return details
        # The score did not choose a strength of shrinkage, so take that of the lowest log loss of the chosen member.
        losses = mean_shrunk_losses(folds, _penalties_of(best.path))
        strength = int(losses[:, best.errors.chosen].argmin())
        details |= {"shrinkage": SHRINKAGE_STRENGTHS[strength]}
        if scoring.score.path_cost == "predictions":
            chosen_loss, lowest_loss = float(losses[strength, best.errors.chosen]), float(losses.min())
            details |= {"log_loss": chosen_loss, "least_log_loss": lowest_loss}
        return details


def _penalties_of(path: PruningSequence) -> Floats:
    """Return the penalty at which each member is compared: the geometric mean of the interval where it is the best."""
    alphas: Any = path.alphas
    penalties: Floats = np.append(np.sqrt(alphas[:-1]) * np.sqrt(alphas[1:]), np.inf)
    return penalties
