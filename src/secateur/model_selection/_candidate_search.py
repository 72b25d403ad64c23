"""CandidateSearch: cross-validate candidates, which are combinations of growing parameters, and choose the best one.

Folds come in rounds. After the first round, candidates that are clearly worse than the best one are dropped; the other
candidates are grown on the folds of the next round too.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import Array, Floats
from ..core import PruningSequence, Sample, SampleUsage, Selection
from ..errors import Argument, ParameterError
from ..growers.parameters import GrowParameters
from ..growers.presorted_data import PresortedData
from ..pruners import cost_complexity
from ..statistics.probabilities import SHRINKAGE_STRENGTHS
from ._fold_losses import FoldLosses, evaluate_fold, grow_on_all_rows, mean_errors, mean_shrunk_losses
from ._select import better_than_single_leaf, choose, smallest_within_difference
from .folds import Fold, FoldPlan
from .losses import Scoring, cost_unit, leaf_predictions
from .tasks import Progress, Task, run_tasks

MIN_STABLE_SHARE = 0.8  # of the choices that leave one fold out, those that must agree with the choice of all folds
MIN_FOLDS_FOR_STABILITY = 10
TASKS_PER_THREAD = 4  # enough that no thread waits long for the last task


@dataclass(frozen=True)
class ChoiceRule:
    """How a member is chosen from cross-validated errors.

    Parameters
    ----------
    n_standard_errors : float
        Standard errors above the lowest error that the smallest member may be.
    se : "pooled" or "folds"
        Standard error from the losses of all rows, or from the error rates of the folds.
    """

    n_standard_errors: float
    se: str

    def __post_init__(self) -> None:
        if self.se not in ("pooled", "folds"):
            raise ParameterError(Argument("se", self.se), "; 'pooled' or 'folds' is needed")


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


class CandidateResult(NamedTuple):
    """Cross-validation results of one candidate so far: the losses of its folds, and the table of its path."""

    folds: list[FoldLosses]
    table: Selection

    @property
    def summary(self) -> dict[str, Any]:
        """The growing parameters, and the leaves, error and standard error of the chosen member."""
        table, chosen = self.table, self.table.chosen
        return table.growing | {
            "n_leaves": int(table.sequence.n_leaves[chosen]),
            "error": float(table.error[chosen]),
            "se": float(table.se[chosen]),
        }

    def is_worse(self, best: "CandidateResult") -> bool:
        """Return whether this candidate has a higher error than the best one by more than one standard error.

        The standard error is that of the difference over the folds.
        """
        difference = self._chosen_fold_errors() - best._chosen_fold_errors()  # noqa: SLF001 the same class
        return bool(difference.mean() > difference.std(ddof=1) / np.sqrt(len(difference)))

    def _chosen_fold_errors(self) -> Floats:
        """Return the error of the chosen member in each fold."""
        errors: Floats = np.asarray(self.table.fold_error)[:, self.table.chosen]
        return errors


class EvaluatedRows(NamedTuple):
    """The rows that are held out in a fold so far.

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
    """What stays constant while candidates are cross-validated.

    Parameters
    ----------
    data : PresortedData
    scoring : Scoring
    plan : FoldPlan
    rule : ChoiceRule
    details : dict
        Facts about the cross-validation for `Selection.details`.
    n_jobs : int or executor
    progress : callable, optional
    """

    data: PresortedData
    scoring: Scoring
    plan: FoldPlan
    rule: ChoiceRule
    details: dict[str, Any]
    n_jobs: Any
    progress: Progress

    def run(self, candidates: list[GrowParameters]) -> tuple[Selection, list[CandidateResult]]:
        """Return the table of the best candidate, and the results of all candidates.

        After the first of several rounds, candidates that are worse than the best one are dropped. If the plan allows
        it, the search stops after the first round if the choice is stable, and after a later round if the choice is
        the same as after the round before.
        """
        is_evaluated = np.zeros(self.data.table.n_rows, np.bool_)
        results: dict[int, CandidateResult] = {}
        remaining = list(range(len(candidates)))
        n_grown, previous_choice = 0, None
        best = 0
        for folds in self.plan.rounds:
            is_first_round = not results
            is_evaluated[np.concatenate([fold.test for fold in folds])] = True
            rows = self._evaluated_rows(is_evaluated)
            parts: list[Fold | None] = [None, *folds] if is_first_round else [*folds]
            round_results = self._run_round([candidates[i] for i in remaining], parts, n_grown, len(candidates))
            n_grown += len(remaining) * len(parts)
            for i, part_results in zip(remaining, round_results, strict=True):
                if is_first_round:
                    results[i] = self._first_result(candidates[i], part_results[0], part_results[1:], rows)
                else:
                    results[i] = self._extended_result(results[i], part_results, rows)
            best = min(remaining, key=lambda i: (results[i].summary["error"], results[i].summary["n_leaves"]))
            choice = (best, results[best].table.chosen)
            if self.plan.may_stop_early:
                is_stable = self._is_stable(results[best], rows) if is_first_round else choice == previous_choice
                if is_stable:
                    break
            if is_first_round and self.plan.n_all_folds > len(folds):
                remaining = [i for i in remaining if not results[i].is_worse(results[best])]
            previous_choice = choice
        return self._with_shrinkage(results[best]), [results[i] for i in range(len(candidates))]

    def _evaluated_rows(self, is_evaluated: Array) -> EvaluatedRows:
        """Return the number and the effective number of the evaluated rows."""
        rows = np.flatnonzero(is_evaluated)
        if self.data.weight is None:
            return EvaluatedRows(len(rows), len(rows))
        weight = self.data.weight[rows]
        return EvaluatedRows(len(rows), float(weight.sum() ** 2 / (weight**2).sum()))

    def _run_round(
        self, candidates: list[GrowParameters], parts: Sequence[Fold | None], n_grown: int, n_candidates: int
    ) -> list[list[Any]]:
        """Return the results of each candidate for every part: fold losses, or for None the counts of all rows.

        Candidates in the same task share the preparation of its rows. There are at least as many tasks as the threads
        can share well.
        """
        if hasattr(self.n_jobs, "submit"):
            n_groups = len(candidates)
        else:
            n_groups = min(len(candidates), math.ceil(TASKS_PER_THREAD * self.n_jobs / len(parts)))
        group_size = math.ceil(len(candidates) / n_groups)
        groups = [tuple(candidates[i : i + group_size]) for i in range(0, len(candidates), group_size)]
        tasks = [self._task(group, part) for part in parts for group in groups]
        sizes = [len(group) for _ in parts for group in groups]
        progress = self._round_progress(n_grown, n_candidates * (1 + self.plan.n_all_folds))
        results = run_tasks(self.data, tasks, self.n_jobs, progress, sizes=sizes)
        by_part = [
            list(itertools.chain(*results[first : first + len(groups)]))
            for first in range(0, len(results), len(groups))
        ]
        return [list(of_candidate) for of_candidate in zip(*by_part, strict=True)]

    def _task(self, group: tuple[GrowParameters, ...], part: Fold | None) -> Task:
        """Return the task that grows a group of candidates on all rows (None) or on a fold."""
        if part is None:
            return grow_on_all_rows, (group,)
        return evaluate_fold, (group, self.scoring, part)

    def _round_progress(self, n_grown: int, n_trees: int) -> Progress:
        """Return the callback for the tasks of a round, which counts the trees of earlier rounds too."""
        progress = self.progress
        if progress is None:
            return None
        return lambda n_done, _: progress(n_grown + n_done, n_trees)

    def _first_result(
        self, candidate: GrowParameters, counts: Sample, folds: list[FoldLosses], rows: EvaluatedRows
    ) -> CandidateResult:
        """Return the result of a candidate after the first round, with the path of its tree of all rows."""
        path = self._path_of_all_rows(counts)
        return CandidateResult(folds, self._table(candidate.tree_parameters(), path, counts, folds, rows))

    def _extended_result(
        self, result: CandidateResult, folds: list[FoldLosses], rows: EvaluatedRows
    ) -> CandidateResult:
        """Return the result of a candidate after one more round."""
        table, all_folds = result.table, [*result.folds, *folds]
        return CandidateResult(all_folds, self._table(table.growing, table.sequence, table.counts, all_folds, rows))

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

    def _table(
        self,
        growing: dict[str, Any],
        path: PruningSequence,
        counts: Sample | None,
        folds: list[FoldLosses],
        rows: EvaluatedRows,
    ) -> Selection:
        """Return the cross-validated errors of all members of the path of all rows, with the choice."""
        penalties = _penalties_of(path)
        details = self.details | {"repeats": len(folds) // min(self.plan.n_folds, len(folds))}
        if self.scoring.score.is_probability_score and folds[0].shrunk is not None:
            strength = int(mean_shrunk_losses(folds, penalties).min(axis=1).argmin())
            folds = [fold.with_shrinkage(strength) for fold in folds]
            details |= {"shrinkage": SHRINKAGE_STRENGTHS[strength]}
        errors = self._member_errors(folds, penalties, path.n_leaves, rows.effective_n)
        return Selection(
            path, errors.error, errors.se, errors.best, errors.chosen,
            select=f"{self.rule.n_standard_errors:g}se", sample="cross-validation", n=rows.n_rows, betas=penalties,
            fold_error=errors.fold_error, counts=counts, growing=growing, details=details,
        )  # fmt: skip

    def _member_errors(
        self, folds: list[FoldLosses], penalties: Floats, n_leaves: Array, effective_n: float
    ) -> MemberErrors:
        """Return the errors of the members at their penalties, and the choice of the rule."""
        # Repeats evaluate the same rows again, so they do not count as further folds.
        n_folds = min(self.plan.n_folds, len(folds))
        error, se, fold_error = mean_errors(folds, penalties, effective_n, n_folds, self.rule.se)
        best, chosen = choose(error, se, self.rule.n_standard_errors)
        if self.rule.n_standard_errors > 0 and self.scoring.score.is_probability_score and len(fold_error) > 1:
            chosen = smallest_within_difference(best, fold_error, n_folds, self.rule.n_standard_errors)
        elif self.rule.n_standard_errors > 0 and n_leaves[chosen] == 1 and n_folds > 1:
            chosen = better_than_single_leaf(chosen, fold_error, n_folds, n_leaves)
        return MemberErrors(error, se, fold_error, best, chosen)

    def _is_stable(self, result: CandidateResult, rows: EvaluatedRows) -> bool:
        """Return whether the choice is nearly always the same when any one fold is left out."""
        folds, table, penalties = result.folds, result.table, result.table.betas
        if len(folds) < MIN_FOLDS_FOR_STABILITY or penalties is None:
            return False
        if "shrinkage" in table.details:
            strength = SHRINKAGE_STRENGTHS.index(table.details["shrinkage"])
            folds = [fold.with_shrinkage(strength) for fold in folds]
        n_same = 0
        for i in range(len(folds)):
            other_folds = folds[:i] + folds[i + 1 :]
            errors = self._member_errors(other_folds, penalties, table.sequence.n_leaves, rows.effective_n)
            n_same += errors.chosen == table.chosen
        return n_same >= MIN_STABLE_SHARE * len(folds)

    def _with_shrinkage(self, result: CandidateResult) -> Selection:
        """Return the table with the best strength of shrinkage for the chosen member, and the log losses with it."""
        table = result.table
        if result.folds[0].shrunk is None or "shrinkage" in table.details or table.betas is None:
            return table
        losses = mean_shrunk_losses(result.folds, table.betas)
        strength = int(losses[:, table.chosen].argmin())
        details = table.details | {"shrinkage": SHRINKAGE_STRENGTHS[strength]}
        if self.scoring.score.path_cost == "predictions":
            details |= {"log_loss": float(losses[strength, table.chosen]), "least_log_loss": float(losses.min())}
        return replace(table, details=details)


def _penalties_of(path: PruningSequence) -> Floats:
    """Return the penalty at which each member is compared: the geometric mean of the interval where it is the best."""
    alphas: Any = path.alphas
    penalties: Floats = np.append(np.sqrt(alphas[:-1]) * np.sqrt(alphas[1:]), np.inf)
    return penalties
