"""cross_validate: grow a tree for each fold, and choose on the path of all rows.

The paths of the folds are compared with that of all rows at the same penalty per row: for
each member the geometric mean of the interval in which it is the best. Breiman et al. (1984).
"""

import itertools
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..data.arrays import Floats
from ..data.table import Table
from ..errors import ParameterError
from ..growers.folds import Ground
from ..growers.settings import Settings, settings_of
from ..nouns.choice import Selection
from ..nouns.counts import Counts
from ..nouns.moments import Moments
from ..nouns.seen import Seen
from ..nouns.sequence import PruningSequence
from ..pruners import cost_complexity
from ..routing import remembered
from ._registry import n_standard_errors
from ._rules import choose, rule_name
from ._sample import rows_of
from ._score import Fold, Path, grow_all, score_fold
from ._splits import Split, seed_of, splits_of
from .losses import answers_of, losses_of
from .run import Progress, n_threads, run_all

POOL = {"criterion": ("gini", "entropy", "sqrt"), "min_samples_leaf": (1, 2, 5)}  # what "auto" tries
FEW_ROWS = 10_000  # up to so many, folds are dealt three times


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
    costs: npt.ArrayLike | None = None,
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
    sample_weight: npt.ArrayLike | None = None,
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
        How often the folds are dealt anew; their errors are pooled. See `auto_repeats`.
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
    criterion, min_samples_leaf
        As for `grow`, or "auto": grow with each of gini, entropy and sqrt, at least 1, 2 and 5
        rows a leaf, on the same folds; take the way whose choice has the least error (the
        fewest leaves, the first).
    splits, growth, max_splits, max_depth, min_samples_split, min_weight_fraction_leaf, \
max_bins, allow_zero, penalise_numeric, nominal
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
        growing parameters, `pool` all ways that were tried.

    Notes
    -----
    Columns are coded and sorted once. A fold costs one growth, one routing of its held-out
    rows, and O(n_nodes log n_nodes); nothing depends on the number of penalties.

    Examples
    --------
    >>> import numpy as np
    >>> from secateur.selection import cross_validate
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
    growing = {
        "criterion": criterion, "splits": splits, "growth": growth, "max_splits": max_splits,
        "max_depth": max_depth, "min_samples_leaf": min_samples_leaf, "min_samples_split": min_samples_split,
        "min_weight_fraction_leaf": min_weight_fraction_leaf, "max_bins": max_bins, "allow_zero": allow_zero,
        "penalise_numeric": penalise_numeric,
    }  # fmt: skip
    ways = _ways(growing)
    table, weight = rows_of(X, y, sample_weight, class_weight, nominal, criterion)
    n_repeats = _n_repeats(cv_repeats, table.n_rows, cv)
    seed = seed_of(random_state)
    n_classes = None if table.schema.classes is None else len(table.schema.classes)
    path = Path(losses_of(cost, m, costs, n_classes), penalty, size)
    is_used = None if weight is None or (weight > 0).all() else weight > 0
    parts, n_folds = splits_of(cv, table, is_used, repeats=n_repeats, seed=seed, stratified=stratified)
    if se == "folds" and n_folds < 2:
        raise ParameterError("se='folds' needs at least 2 folds; 1 is given")
    ground = Ground.of(table, weight)
    members = _members(ground, ways, path, parts, n_jobs, progress)
    judged = np.flatnonzero(np.bincount(np.concatenate([part.test for part in parts])))
    n_rows, n_worth = len(judged), _n_worth(weight, judged)
    details = {
        "folds": n_folds, "repeats": n_repeats, "seed": seed, "stratified": bool(stratified), "se": se,
        "penalty": penalty if isinstance(penalty, str) else getattr(penalty, "__name__", repr(penalty)),
        "size": size, "cost": cost, "m": float(m), "costs": None if costs is None else np.asarray(costs).tolist(),
    }  # fmt: skip
    tables = []
    for (way, _), (sequence, counts, found) in zip(ways, members, strict=True):
        error, spread, by_fold = _measured(found, _betas(sequence.alphas), n_worth, n_folds, se)
        best, chosen = choose(error, spread, n_errors)
        tables.append(
            Selection(
                sequence, error, spread, best, chosen, rule_name(n_errors), "cross-validation", n_rows,
                betas=_betas(sequence.alphas), fold_error=by_fold, counts=counts, growing=way, details=details,
            )
        )  # fmt: skip
    winner = min(tables, key=lambda table: (table.error[table.chosen], table.sequence.n_leaves[table.chosen]))
    winner = _remembered(winner, table, is_used)
    return replace(winner, pool=tuple(_line(table) for table in tables)) if len(tables) > 1 else winner


def _remembered(selection: Selection, table: Table, is_used: Any) -> Selection:
    """The table of the way that won, with what its tree must know of the rows that grew it."""
    counts = remembered(selection.counts, table, is_used)
    sequence = replace(selection.sequence, tree=counts.tree, seen=Seen.of(counts))
    return replace(selection, counts=counts, sequence=sequence)


def auto_repeats(n_rows: int) -> int:
    """Return the default number of repeats of cross-validation: three for up to 10,000 rows, else one.

    Examples
    --------
    >>> auto_repeats(500), auto_repeats(50_000)
    (3, 1)
    """
    return 3 if n_rows <= FEW_ROWS else 1


def _ways(growing: dict[str, Any]) -> list[tuple[dict[str, Any], Settings]]:
    """The ways of growing to try, in the order of the pool."""
    choices = {name: tried for name, tried in POOL.items() if _is_auto(growing[name])}
    combined = [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]
    return [(growing | chosen, settings_of(**growing | chosen)) for chosen in combined]


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _n_repeats(repeats: Any, n_rows: int, cv: Any) -> int:
    if _is_auto(repeats):
        return auto_repeats(n_rows) if isinstance(cv, int | np.integer) else 1
    if isinstance(repeats, bool) or not isinstance(repeats, int | np.integer) or repeats < 1:
        raise ParameterError(f"cv_repeats={repeats!r}; a whole number of 1 or more, or 'auto', is needed")
    return int(repeats)


def _members(
    ground: Ground, ways: Any, path: Path, parts: list[Split], n_jobs: Any, progress: Progress
) -> list[tuple[PruningSequence, Counts | Moments, list[Fold]]]:
    """For each way of growing: the path of all rows, its counts, and the folds."""
    every = np.arange(ground.table.n_rows)
    groups = _groups([settings for _, settings in ways], len(parts), n_jobs)
    tasks: Any = [(grow_all, (group, every)) for group in groups]
    tasks += [(score_fold, (group, path, part)) for part in parts for group in groups]
    results = run_all(ground, tasks, n_jobs, progress, sizes=[len(task[1][0]) for task in tasks])
    # Ways come group after group, for all rows first, and then for one fold after the other.
    lines = [list(itertools.chain(*results[i : i + len(groups)])) for i in range(0, len(results), len(groups))]
    return [(_path_of_all(counts, path), counts, found) for counts, *found in zip(*lines, strict=True)]


def _groups(ways: list[Settings], n_parts: int, n_jobs: Any) -> list[tuple[Settings, ...]]:
    """The ways, those together that one task grows: it prepares rows once, but there must be tasks for all hands."""
    n_groups = len(ways) if hasattr(n_jobs, "submit") else min(len(ways), -(-4 * n_threads(n_jobs) // n_parts))
    size = -(-len(ways) // n_groups)
    return [tuple(ways[first : first + size]) for first in range(0, len(ways), size)]


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
        node_labels=answers.answer if isinstance(counts, Counts) else None,
        seen=Seen.of(counts),
    )


def _betas(alphas: Any) -> Floats:
    """The penalty at which each member is compared: the geometric mean of its interval."""
    betas: Floats = np.append(np.sqrt(alphas[:-1]) * np.sqrt(alphas[1:]), np.inf)
    return betas


def _n_worth(weight: Any, rows: Any) -> float:
    """The number of equally weighted rows that would tell as much as these (Kish)."""
    return len(rows) if weight is None else float(weight[rows].sum() ** 2 / (weight[rows] ** 2).sum())


def _measured(folds: list[Fold], betas: Floats, n_rows: float, n_folds: int, se: str) -> tuple[Floats, Floats, Floats]:
    """(error, standard error, error of each fold) at every penalty."""
    found = [fold.at(betas) for fold in folds]
    loss = np.array([first for first, _ in found])
    weight = np.array([fold.weight for fold in folds])
    error = loss.sum(axis=0) / weight.sum()
    by_fold = loss / weight[:, None]
    if se == "folds":  # repeats see the same rows again: they do not count as further folds
        return error, by_fold.std(axis=0, ddof=1) / np.sqrt(n_folds), by_fold
    mean_square = np.sum([second for _, second in found], axis=0) / weight.sum()
    return error, np.sqrt(np.maximum(mean_square - error * error, 0) / n_rows), by_fold


def _line(table: Selection) -> dict[str, Any]:
    """One line of the table of all ways of growing."""
    at = table.chosen
    return {
        **table.growing,
        "n_leaves": int(table.sequence.n_leaves[at]),
        "error": float(table.error[at]),
        "se": float(table.se[at]),
    }
