"""Cross-validation in rounds: every round deals the folds once, and ways of growing that are behind drop out.

The held-out loss of a fold's tree is a step function of the penalty: it changes where its path does. A fold is
therefore the steps of its path and the loss between them, whatever penalties it will be asked about; folds need to
know nothing of each other, and every tree on a path is scored in one pass.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._kernels import structure
from .._kernels.shrinkage import shrunk_losses
from .._kernels.weakest_link import member_sums, nested_path
from .._utils.arrays import Array, Floats, LongsOrFloats
from ..core import PruningSequence, Sample, SampleUsage, Selection, Tree
from ..errors import DataError
from ..growers.parameters import GrowParameters
from ..growers.presorted_data import PresortedData
from ..growers.validation_rows import ValidationRows
from ..pruners import cost_complexity
from ..statistics.probabilities import DEFAULT_SHRINKAGE, SHRINKAGE_STRENGTHS, shares_of
from ._select import TOLERANCE, choose
from .folds import Fold
from .losses import LEAST, Losses, area_losses, cost_unit, held_out, leaf_predictions, likelihood_losses
from .tasks import Progress, run_tasks

FIRM = 0.8  # of the folds, ten or more: leaving one of them out leaves the choice as it is


class FoldLosses(NamedTuple):
    """Held-out losses of every tree on the path of one fold.

    `alphas` (per unit of weight) say from which penalty on each tree is the best; `loss` and
    `square` are sums over the held-out rows, `weight` is their weight. `square` is None where
    losses are 0 or 1. `shrunk` holds the same two sums for shrunk probabilities, a line for each
    of `SHRINKAGE_STRENGTHS`: Brier scores if these are asked for, else log losses.
    """

    alphas: Floats
    loss: LongsOrFloats
    square: LongsOrFloats | None
    weight: float
    shrunk: tuple[Floats, Floats] | None = None

    def at(self, betas: Floats) -> tuple[LongsOrFloats, LongsOrFloats]:
        """Return the sums of losses and of their squares at the given penalties."""
        member = self.members(betas)
        return self.loss[member], (self.loss if self.square is None else self.square)[member]

    def members(self, betas: Floats) -> Array:
        """Return the tree that is the best at each penalty."""
        found: Array = np.searchsorted(self.alphas, betas * (1 + TOLERANCE), side="right") - 1
        return found

    def with_strength(self, at: int) -> "FoldLosses":
        """Return the losses of the probabilities shrunk by one of the strengths."""
        assert self.shrunk is not None
        return self._replace(loss=self.shrunk[0][at], square=self.shrunk[1][at])


class CandidateResult(NamedTuple):
    """How a way of growing stands in the race: its folds so far, and what they say of its path of all rows."""

    folds: list[FoldLosses]
    table: Selection

    @property
    def line(self) -> dict[str, Any]:
        """How it grows, with the size, the error and the standard error of its choice."""
        table, at = self.table, self.table.chosen
        n_leaves, error, se = int(table.sequence.n_leaves[at]), float(table.error[at]), float(table.se[at])
        return table.growing | {"n_leaves": n_leaves, "error": error, "se": se}

    def is_worse(self, first: "CandidateResult") -> bool:
        """Whether its choice errs more than that of the first, by more than that difference deviates."""
        ours, theirs = (np.asarray(way.table.fold_error)[:, way.table.chosen] for way in (self, first))
        more = ours - theirs
        return bool(more.mean() > more.std(ddof=1) / np.sqrt(len(more)))


class CandidateSearch(NamedTuple):
    """The rows, how ways of growing on them are judged by their folds, and who does the work."""

    ground: PresortedData
    losses: Losses
    n_folds: int
    se: str
    n_errors: float
    details: dict[str, Any]
    n_jobs: Any
    progress: Progress

    def run(
        self,
        pool: list[GrowParameters],
        rounds: Iterable[list[Fold]],
        *,
        n_splits: int,
        may_stop: bool,
    ) -> tuple[Selection, list[CandidateResult]]:
        """Return the table of the way of growing that wins, and how all stand.

        After the first of several rounds, of `n_splits` in all, ways whose choice is behind that of the first are left
        out. If it may, the race ends after the first round if its choice is firm, or when a further one has not
        changed it.
        """
        weight, n_done, before = self.ground.weight, 0, None
        is_judged = np.zeros(self.ground.table.n_rows, np.bool_)
        left, n_growths = list(range(len(pool))), len(pool) * (1 + n_splits)
        ways: dict[int, CandidateResult] = {}
        for parts in rounds:
            is_judged[np.concatenate([part.test for part in parts])] = True
            judged = np.flatnonzero(is_judged)
            # The number of equally weighted rows that would tell as much as these (Kish).
            worth = len(judged) if weight is None else float(weight[judged].sum() ** 2 / (weight[judged] ** 2).sum())
            asked = parts if ways else [None, *parts]
            grown = self._grown([pool[i] for i in left], asked, n_done, n_growths)
            for i, found in zip(left, grown, strict=True):
                if i not in ways:
                    path, counts, folds = self._path(found[0]), found[0], list(found[1:])
                else:
                    table = ways[i].table
                    path, counts, folds = table.sequence, table.counts, [*ways[i].folds, *found]
                ways[i] = CandidateResult(
                    folds, self._table(pool[i].tree_parameters(), path, counts, folds, len(judged), worth)
                )
            n_done += len(left) * len(asked)
            winner = min(left, key=lambda i: (ways[i].line["error"], ways[i].line["n_leaves"]))
            choice = winner, ways[winner].table.chosen
            if may_stop and (self._is_firm(ways[winner], worth) if before is None else before == choice):
                break
            if before is None and n_splits > len(parts):
                left = [i for i in left if not ways[i].is_worse(ways[winner])]
            before = choice
        return self._with_shrinkage(ways[winner]), [ways[i] for i in range(len(pool))]

    def _path(self, counts: Sample) -> PruningSequence:
        """The path of all rows, its penalties per unit of weight."""
        losses = self.losses
        answers = leaf_predictions(counts, losses)
        path: Any = cost_complexity(counts.tree, None, penalty=losses.penalty, size=losses.size, cost=answers.cost)
        alphas: Floats = path.alphas / answers.unit
        unit = cost_unit(counts, losses)
        parameters = path.provenance.parameters | ({"m": losses.m} if unit == "m-estimate" else {})
        provenance = replace(
            path.provenance, parameters=parameters, cost=unit, sample=counts.sample, alpha_unit="cost per row"
        )
        return replace(  # type: ignore[no-any-return]
            path, alphas=alphas, node_labels=answers.labels, seen=SampleUsage.of(counts), provenance=provenance
        )

    def _grown(
        self, ways: list[GrowParameters], parts: Sequence[Fold | None], n_done: int, n_growths: int
    ) -> Iterable[tuple[Any, ...]]:
        """For each way, what it gives for every part: a fold; for None the counts of all rows.

        Ways that one task grows share the preparation of its rows, but there must be tasks for all hands.
        """
        n_ways, n_jobs, heard = len(ways), self.n_jobs, self.progress
        n_groups = n_ways if hasattr(n_jobs, "submit") else min(n_ways, -(-4 * n_jobs // len(parts)))
        size = -(-n_ways // n_groups)
        groups = [tuple(ways[first : first + size]) for first in range(0, n_ways, size)]
        tasks: list[Any] = [
            (grow_all, (group,)) if part is None else (score_fold, (group, self.losses, part))
            for part in parts
            for group in groups
        ]
        progress = None if heard is None else lambda done, _: heard(n_done + done, n_growths)
        results = run_tasks(self.ground, tasks, n_jobs, progress, sizes=[len(task[1][0]) for task in tasks])
        starts = range(0, len(results), len(groups))
        return zip(*(itertools.chain(*results[i : i + len(groups)]) for i in starts), strict=True)

    def _table(
        self,
        growing: dict[str, Any],
        path: PruningSequence,
        counts: Sample | None,
        folds: list[FoldLosses],
        n_rows: int,
        worth: float,
    ) -> Selection:
        """The errors of all members of the path of all rows, and the choice."""
        alphas: Any = path.alphas
        betas = np.append(np.sqrt(alphas[:-1]) * np.sqrt(alphas[1:]), np.inf)  # geometric means of the intervals
        details = self.details | {"repeats": len(folds) // min(self.n_folds, len(folds))}
        if self.losses.score.is_likelihood and folds[0].shrunk is not None:
            strength = int(_shrunk(folds, betas).min(axis=1).argmin())
            folds = [fold.with_strength(strength) for fold in folds]
            details |= {"shrinkage": SHRINKAGE_STRENGTHS[strength]}
        error, spread, by_fold, best, chosen = self._choice(folds, betas, path.n_leaves, worth)
        return Selection(
            path, error, spread, best, chosen, f"{self.n_errors:g}se", "cross-validation", n_rows,
            betas=betas, fold_error=by_fold, counts=counts, growing=growing, details=details,
        )  # fmt: skip

    def _choice(
        self, folds: list[FoldLosses], betas: Floats, n_leaves: Array, worth: float
    ) -> tuple[Floats, Floats, Floats, int, int]:
        """(error, standard error, error of each fold, the member of least error, the one to take)."""
        n_folds = min(self.n_folds, len(folds))  # repeats see the same rows again: they do not count as further folds
        error, spread, by_fold = _measured(folds, betas, worth, n_folds, self.se)
        best, chosen = choose(error, spread, self.n_errors)
        if self.n_errors > 0 and self.losses.score.is_likelihood and len(by_fold) > 1:
            chosen = _within_difference(best, by_fold, n_folds, self.n_errors)
        elif self.n_errors > 0 and n_leaves[chosen] == 1 and n_folds > 1:
            chosen = _more_than_one_leaf(chosen, by_fold, n_folds, n_leaves)
        return error, spread, by_fold, best, chosen

    def _is_firm(self, way: CandidateResult, worth: float) -> bool:
        """Whether the choice hangs on no single fold: without one of them it is nearly always the same."""
        folds, table, betas = way.folds, way.table, way.table.betas
        if len(folds) < 10 or betas is None:
            return False
        if "shrinkage" in table.details:
            folds = [fold.with_strength(SHRINKAGE_STRENGTHS.index(table.details["shrinkage"])) for fold in folds]
        without = (folds[:i] + folds[i + 1 :] for i in range(len(folds)))
        n_same = sum(self._choice(rest, betas, table.sequence.n_leaves, worth)[-1] == table.chosen for rest in without)
        return n_same >= FIRM * len(folds)

    def _with_shrinkage(self, way: CandidateResult) -> Selection:
        """Its table with the strength of shrinkage that is best for the choice, and what its log losses are then."""
        table = way.table
        if way.folds[0].shrunk is None or "shrinkage" in table.details or table.betas is None:
            return table
        found = _shrunk(way.folds, table.betas)
        strength = int(found[:, table.chosen].argmin())
        details = table.details | {"shrinkage": SHRINKAGE_STRENGTHS[strength]}
        if self.losses.score.path == "answers":
            details |= {"log_loss": float(found[strength, table.chosen]), "least_log_loss": float(found.min())}
        return replace(table, details=details)


def _shrunk(folds: list[FoldLosses], betas: Floats) -> Floats:
    """The mean loss of shrunk probabilities, by strength and penalty."""
    summed = np.zeros((len(SHRINKAGE_STRENGTHS), len(betas)))
    for fold in folds:
        assert fold.shrunk is not None
        summed += fold.shrunk[0][:, fold.members(betas)]
    return summed / sum(fold.weight for fold in folds)


def _measured(
    folds: list[FoldLosses], betas: Floats, n_rows: float, n_folds: int, se: str
) -> tuple[Floats, Floats, Floats]:
    """(error, standard error, error of each fold) at every penalty; folds without a score are left out."""
    folds = [fold for fold in folds if fold.weight > 0]
    if not folds:
        raise DataError("the test rows of every fold are of one class; an area under the ROC curve needs two")
    loss, square = (np.array(sums) for sums in zip(*(fold.at(betas) for fold in folds), strict=True))
    weight = np.array([fold.weight for fold in folds])
    error = loss.sum(axis=0) / weight.sum()
    by_fold = loss / weight[:, None]
    if se == "folds":
        return error, by_fold.std(axis=0, ddof=1) / np.sqrt(n_folds), by_fold
    mean_square = square.sum(axis=0) / weight.sum()
    return error, np.sqrt(np.maximum(mean_square - error * error, 0) / n_rows), by_fold


def _more_than_one_leaf(chosen: int, by_fold: Floats, n_folds: int, n_leaves: Array) -> int:
    """Return the chosen member, a single leaf, unless a member errs less by more than that difference deviates.

    Its standard error is that over the folds, in which both err on the same rows: it is often much below that of
    either error, by which a single leaf is within the limit. Then the smallest such member is taken.
    """
    gain = by_fold[:, [chosen]] - by_fold
    beats = (gain.mean(axis=0) > gain.std(axis=0, ddof=1) / math.sqrt(n_folds)) & (n_leaves > 1)
    return int(np.flatnonzero(beats)[-1]) if beats.any() else chosen


def _within_difference(best: int, by_fold: Floats, n_folds: int, k: float) -> int:
    """Return the smallest member that is worse than the best by at most `k` standard errors of the difference.

    They are those over the folds. Losses of probabilities differ from row to row much more than from tree to tree:
    by the standard error of a mean of them trees would be within the limit that every fold finds worse.
    """
    more = by_fold - by_fold[:, [best]]
    limit = k * more.std(axis=0, ddof=1) / math.sqrt(n_folds)
    return int(np.flatnonzero(more.mean(axis=0) <= limit * (1 + TOLERANCE))[-1])


def grow_all(ground: PresortedData, ways: tuple[GrowParameters, ...]) -> list[Sample]:
    """Return the counts of all rows in the tree of each way of growing."""
    part = ground.subset(np.arange(ground.table.n_rows))
    return [part.grow(parameters)[1] for parameters in ways]


def score_fold(
    ground: PresortedData, ways: tuple[GrowParameters, ...], losses: Losses, split: Fold
) -> list[FoldLosses]:
    """Return the held-out losses of every tree that one fold gives, for each way of growing."""
    part, judges = ground.subset(split.train), ground.validation_rows(split.test)
    return [_scored(*part.grow(parameters, has_rounded=False), judges, losses) for parameters in ways]


def _scored(tree: Tree, counts: Sample, judges: ValidationRows, losses: Losses) -> FoldLosses:
    answers = leaf_predictions(counts, losses)
    added: Any
    steps: Any
    alphas: Any
    if losses.penalty == losses.size == "leaves" and losses.costs is None:
        # What `cost_complexity` would return, without a sequence that nobody will see.
        steps, alphas = nested_path(tree.parent, structure.added_leaves(tree.parent), answers.cost)
        added = partial(member_sums, tree.parent, steps, n_members=len(alphas))
    else:
        sequence = cost_complexity(tree, None, penalty=losses.penalty, size=losses.size, cost=answers.cost)
        steps, alphas, added = sequence.steps, sequence.alphas, sequence.costs_on
    alphas = alphas / answers.unit
    if not counts.has_classes:
        first, second, weight = judges.loss_sums(tree, answers.answer, is_absolute=losses.scoring == "absolute_error")
        return FoldLosses(alphas, added(first), added(second), weight)
    held = judges.count(tree)
    weight = float(held[0].sum())
    shrunk = None
    if steps is not None and losses.probabilities == "shrunk":
        of = counts.by_class.astype(np.float64), held.astype(np.float64), np.array(SHRINKAGE_STRENGTHS)
        shrunk = shrunk_losses(tree.parent, steps, *of, len(alphas), LEAST, losses.scoring == "brier")
        if losses.score.is_likelihood:
            at = SHRINKAGE_STRENGTHS.index(DEFAULT_SHRINKAGE)
            return FoldLosses(alphas, shrunk[0][at], shrunk[1][at], weight, shrunk)
    if losses.score.path == "answers":
        loss, square = held_out(held, answers.answer, losses.costs if losses.scoring != "error" else None)
        return FoldLosses(alphas, added(loss), None if square is None else added(square), weight, shrunk)
    kind = "m-estimate" if losses.probabilities == "mixture" else losses.probabilities
    shares = shares_of(tree.parent, counts.by_class, kind=kind)
    if losses.scoring == "roc_auc":
        members, areas = area_losses(tree.parent, steps, len(alphas), held, shares)
        is_known = not np.isnan(areas).any()
        shrunk = None if shrunk is None else (shrunk[0][:, members], shrunk[1][:, members])
        return FoldLosses(alphas[members], areas if is_known else np.zeros(len(areas)), None, float(is_known), shrunk)
    loss, square = likelihood_losses(held, shares, losses.scoring)
    return FoldLosses(alphas, added(loss), added(square), weight)
