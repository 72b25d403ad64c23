"""Cross-validation in rounds: every round deals the folds once, and ways of growing that are behind drop out."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..data.arrays import Array, Floats
from ..errors import DataError
from ..growers.folds import Ground
from ..growers.settings import Settings
from ..nouns import Counts, Moments, PruningSequence, Seen, Selection
from ..pruners import cost_complexity
from ..statistics.probabilities import STRENGTHS
from ._rules import choose, more_than_one_leaf, rule_name, within_difference
from ._score import Fold, Path, grow_all, score_fold
from ._splits import Split
from .losses import Losses, answers_of
from .run import Progress, run_all

Way = tuple[dict[str, Any], Settings]
Sample = Counts | Moments
FIRM = 0.8  # of the folds, ten or more: leaving one of them out leaves the choice as it is


@dataclass(frozen=True)
class Field:
    """The rows, the ways of growing that compete on them, and who does the work."""

    ground: Ground
    ways: list[Way]
    path: Path
    n_jobs: Any
    progress: Progress

    def start(self, parts: list[Split], n_growths: int) -> tuple[list[Sample], list[list[Fold]]]:
        """For each way: the counts of all rows in its tree, and the folds of the first round."""
        groups, folds = self._tasks(range(len(self.ways)), parts)
        every = np.arange(self.ground.table.n_rows)
        lines = self._run(groups, [(grow_all, (group, every)) for group in groups] + folds, 0, n_growths)
        return lines[0], [list(line) for line in zip(*lines[1:], strict=True)]

    def go_on(self, left: list[int], parts: list[Split], n_done: int, n_growths: int) -> list[list[Fold]]:
        """The folds of a further round for each of the ways that are left."""
        groups, folds = self._tasks(left, parts)
        return [list(line) for line in zip(*self._run(groups, folds, n_done, n_growths), strict=True)]

    def _tasks(self, which: Any, parts: list[Split]) -> tuple[list[tuple[Settings, ...]], list[Any]]:
        groups = _groups([self.ways[i][1] for i in which], len(parts), self.n_jobs)
        return groups, [(score_fold, (group, self.path, part)) for part in parts for group in groups]

    def _run(self, groups: list[Any], tasks: list[Any], n_done: int, n_growths: int) -> list[list[Any]]:
        """Results of tasks that come group after group, put together: a line for each part, a place for each way."""
        heard = self.progress
        progress = None if heard is None else lambda done, _: heard(n_done + done, n_growths)
        results = run_all(self.ground, tasks, self.n_jobs, progress, sizes=[len(task[1][0]) for task in tasks])
        return [list(itertools.chain(*results[i : i + len(groups)])) for i in range(0, len(results), len(groups))]


def _groups(ways: list[Settings], n_parts: int, n_jobs: Any) -> list[tuple[Settings, ...]]:
    """The ways, those together that one task grows: it prepares rows once, but there must be tasks for all hands."""
    n_groups = len(ways) if hasattr(n_jobs, "submit") else min(len(ways), -(-4 * n_jobs // n_parts))
    size = -(-len(ways) // n_groups)
    return [tuple(ways[first : first + size]) for first in range(0, len(ways), size)]


class Judge(NamedTuple):
    """How the folds of a way are turned into its table and its choice."""

    losses: Losses
    weight: Any
    n_folds: int
    se: str
    n_errors: float
    details: dict[str, Any]

    def table(
        self,
        way: dict[str, Any],
        sequence: PruningSequence,
        counts: Sample,
        folds: list[Fold],
        n_rows: int,
        worth: float,
    ) -> Selection:
        """The errors of all members of the path of all rows, and the choice."""
        betas = _betas(sequence.alphas)
        details = self.details | {"repeats": len(folds) // min(self.n_folds, len(folds))}
        if self.losses.score.is_likelihood and folds[0].shrunk is not None:
            strength = int(_shrunk(folds, betas).min(axis=1).argmin())
            folds = [fold.with_strength(strength) for fold in folds]
            details |= {"shrinkage": STRENGTHS[strength]}
        error, spread, by_fold, best, chosen = self._choice(folds, betas, sequence.n_leaves, worth)
        return Selection(
            sequence, error, spread, best, chosen, rule_name(self.n_errors), "cross-validation", n_rows,
            betas=betas, fold_error=by_fold, counts=counts, growing=way, details=details,
        )  # fmt: skip

    def _choice(
        self, folds: list[Fold], betas: Floats, n_leaves: Array, worth: float
    ) -> tuple[Floats, Floats, Floats, int, int]:
        """(error, standard error, error of each fold, the member of least error, the one to take)."""
        n_folds = min(self.n_folds, len(folds))
        error, spread, by_fold = _measured(folds, betas, worth, n_folds, self.se)
        best, chosen = choose(error, spread, self.n_errors)
        if self.n_errors > 0 and self.losses.score.is_likelihood and len(by_fold) > 1:
            chosen = within_difference(best, by_fold, n_folds, self.n_errors)
        elif self.n_errors > 0:
            chosen = more_than_one_leaf(chosen, by_fold, n_folds, n_leaves)
        return error, spread, by_fold, best, chosen

    def is_firm(self, table: Selection, folds: list[Fold], worth: float) -> bool:
        """Whether the choice hangs on no single fold: without one of them it is nearly always the same."""
        assert table.betas is not None
        if len(folds) < 10:
            return False
        if "shrinkage" in table.details:
            folds = [fold.with_strength(STRENGTHS.index(table.details["shrinkage"])) for fold in folds]
        without = (folds[:i] + folds[i + 1 :] for i in range(len(folds)))
        n_same = sum(
            self._choice(rest, table.betas, table.sequence.n_leaves, worth)[-1] == table.chosen for rest in without
        )
        return n_same >= FIRM * len(folds)

    def with_shrinkage(self, table: Selection, folds: list[Fold]) -> Selection:
        """The table with the strength of shrinkage that is best for the choice, and what its log losses are then."""
        if folds[0].shrunk is None or "shrinkage" in table.details:
            return table
        assert table.betas is not None
        found = _shrunk(folds, table.betas)
        strength = int(found[:, table.chosen].argmin())
        details = table.details | {"shrinkage": STRENGTHS[strength]}
        if self.losses.score.path == "answers":
            details |= {"log_loss": float(found[strength, table.chosen]), "least_log_loss": float(found.min())}
        return replace(table, details=details)


def race(
    field: Field, rounds: Iterator[list[Split]], judge: Judge, *, n_splits: int, may_stop: bool
) -> tuple[Selection, list[Selection]]:
    """Return the table of the way that wins, and those of all ways.

    After the first of several rounds, of `n_splits` in all, ways whose choice is behind that of the first are left
    out. If it may, the race ends after the first round if its choice is firm, or when a further one has not changed it.
    """
    parts = next(rounds)
    n_growths = len(field.ways) * (1 + n_splits)
    counts, found = field.start(parts, n_growths)
    paths = [_path_of_all(sample, field.path) for sample in counts]
    left = list(range(len(field.ways)))
    tables: dict[int, Selection] = {}
    n_done = len(left) * (1 + len(parts))
    is_judged = np.zeros(field.ground.table.n_rows, np.bool_)
    before = None
    while True:
        is_judged[np.concatenate([part.test for part in parts])] = True
        judged = np.flatnonzero(is_judged)
        about = len(judged), _n_worth(judge.weight, judged)
        for i in left:
            tables[i] = judge.table(field.ways[i][0], paths[i], counts[i], found[i], *about)
        winner = min(left, key=lambda i: _rank(tables[i]))
        choice = winner, tables[winner].chosen
        if may_stop and before == choice:
            break
        if may_stop and before is None and judge.is_firm(tables[winner], found[winner], about[1]):
            break
        if before is None and n_splits > len(parts):
            left = [i for i in left if not _is_behind(tables[i], tables[winner])]
        before = choice
        parts = next(rounds, [])
        if not parts:
            break
        for i, folds in zip(left, field.go_on(left, parts, n_done, n_growths), strict=True):
            found[i] += folds
        n_done += len(left) * len(parts)
    return judge.with_shrinkage(tables[winner], found[winner]), [tables[i] for i in sorted(tables)]


def _rank(table: Selection) -> tuple[float, int]:
    return float(table.error[table.chosen]), int(table.sequence.n_leaves[table.chosen])


def _is_behind(table: Selection, first: Selection) -> bool:
    """Whether the choice of a way errs more than that of the first, by more than that difference deviates."""
    ours, theirs = table.fold_error, first.fold_error
    assert ours is not None
    assert theirs is not None
    more = ours[:, table.chosen] - theirs[:, first.chosen]
    return bool(more.mean() > more.std(ddof=1) / np.sqrt(len(more)))


def _path_of_all(counts: Counts | Moments, path: Path) -> PruningSequence:
    """The path of all rows, its penalties per unit of weight."""
    answers = answers_of(counts, path.losses)
    sequence: PruningSequence = cost_complexity(
        counts.tree, None, penalty=path.penalty, size=path.size, cost=answers.cost
    )
    assert sequence.alphas is not None
    return replace(
        sequence,
        alphas=sequence.alphas / answers.unit,
        node_labels=answers.labels,
        seen=Seen.of(counts),
    )


def _betas(alphas: Any) -> Floats:
    """The penalty at which each member is compared: the geometric mean of its interval."""
    betas: Floats = np.append(np.sqrt(alphas[:-1]) * np.sqrt(alphas[1:]), np.inf)
    return betas


def _n_worth(weight: Any, rows: Any) -> float:
    """The number of equally weighted rows that would tell as much as these (Kish)."""
    return len(rows) if weight is None else float(weight[rows].sum() ** 2 / (weight[rows] ** 2).sum())


def _shrunk(folds: list[Fold], betas: Floats) -> Floats:
    """The mean loss of shrunk probabilities, by strength and penalty."""
    summed = np.zeros((len(STRENGTHS), len(betas)))
    for fold in folds:
        assert fold.shrunk is not None
        summed += fold.shrunk[0][:, fold.members(betas)]
    return summed / sum(fold.weight for fold in folds)


def _measured(folds: list[Fold], betas: Floats, n_rows: float, n_folds: int, se: str) -> tuple[Floats, Floats, Floats]:
    """(error, standard error, error of each fold) at every penalty; folds without a score are left out."""
    folds = [fold for fold in folds if fold.weight > 0]
    if not folds:
        raise DataError("the test rows of every fold are of one class; an area under the ROC curve needs two")
    found = [fold.at(betas) for fold in folds]
    loss = np.array([first for first, _ in found])
    weight = np.array([fold.weight for fold in folds])
    error = loss.sum(axis=0) / weight.sum()
    by_fold = loss / weight[:, None]
    if se == "folds":  # repeats see the same rows again: they do not count as further folds
        return error, by_fold.std(axis=0, ddof=1) / np.sqrt(n_folds), by_fold
    mean_square = np.sum([second for _, second in found], axis=0) / weight.sum()
    return error, np.sqrt(np.maximum(mean_square - error * error, 0) / n_rows), by_fold
