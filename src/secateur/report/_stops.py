"""Where the slider can stand: the members of a sequence and what is known of each."""

import math
from dataclasses import dataclass

import numpy as np

from ..certifiers import path
from ..data.arrays import ArrayLike, Sums
from ..errors import SecateurError
from ..nouns import Model, PruningSequence, Selection
from ..show.wording import plain
from ._numbers import Entries
from ._reasons import costs_of

MOST_MEMBERS = 400  # of a sequence that is not nested, whose members are listed cut by cut
DELTA = 0.05


@dataclass(frozen=True)
class Stops:
    """Where the slider can stand: the members of the sequence, and prunings that are not among them.

    Parameters
    ----------
    member : list of int
        The member at each stop, the largest first; -1 where it is another pruning.
    cuts : dict of int to list of int
        Of each stop that is no member: the nodes it cuts.
    names : dict of int to str
        What such a stop is called.
    fitted : int
        The stop of the model's own pruning.
    """

    member: list[int]
    cuts: dict[int, list[int]]
    names: dict[int, str]
    fitted: int

    def of_member(self, member: int) -> int:
        """The stop at which a member stands; the nearest one if it was thinned out."""
        members = np.array(self.member)
        return int(np.where(members < 0, np.iinfo(np.int64).max, np.abs(members - member)).argmin())


def own_sequence(model: Model) -> PruningSequence:
    """The cost-complexity sequence of the growing sample, for a model that came without one."""
    from ..pruners import prune

    if model.is_classifier:
        return prune(model.tree, model.grown, rule="cost-complexity")  # type: ignore[return-value]
    from ..pruners import cost_complexity

    found: PruningSequence = cost_complexity(model.tree, None, cost=costs_of(model, model.grown))
    return found


def find_stops(model: Model, sequence: PruningSequence) -> Stops:
    """Place the whole tree and the model's own pruning among the members, if they are not members."""
    n_members, n_fitted, n_grown = len(sequence), model.pruning.n_leaves, model.tree.n_leaves
    keep, fitted = np.arange(n_members), sequence.place_of(model.pruning)
    if sequence.steps is None and n_members > MOST_MEMBERS:
        even = np.geomspace(1, n_members, MOST_MEMBERS) - 1  # small trees, at the end, are looked at most
        wanted = [*(n_members - 1 - even.astype(int)), 0, fitted or 0]
        if model.selection is not None:
            wanted += [model.selection.best, model.selection.chosen]
        keep = np.unique(wanted)
    rows: list[tuple[int, int, int, str, list[int]]] = [(-int(sequence.n_leaves[i]), 1, int(i), "", []) for i in keep]
    if fitted is None:
        name = "as fitted" if n_fitted < n_grown else "as fitted, the whole tree"
        rows.append((-n_fitted, 0, -1, name, model.pruning.cuts.tolist()))
    if max(sequence.n_leaves[0], n_fitted) < n_grown:
        rows.append((-n_grown, 0, -1, "as grown", []))
    rows.sort(key=lambda row: row[:3])
    extra = [(at, row) for at, row in enumerate(rows) if row[2] < 0]
    members = [row[2] for row in rows]
    own = members.index(fitted) if fitted is not None else next(at for at, row in extra if "fitted" in row[3])
    return Stops(members, {at: row[4] for at, row in extra}, {at: row[3] for at, row in extra}, own)


def short(values: ArrayLike, n_digits: int = 7) -> list[float | None]:
    """Numbers as a list; real ones with so many digits, None where there is none."""
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        return list(array.tolist())
    return [_rounded(x, n_digits) for x in array.tolist()]


def _rounded(value: float, n_digits: int) -> float | int | None:
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{n_digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def stop_table(
    model: Model, sequence: PruningSequence, stops: Stops, costs: list[Sums], judged: Selection | None
) -> Entries:
    """One list per column, one entry per stop, the largest tree first."""

    def spread(values: ArrayLike, n_digits: int = 7) -> list[float | None]:
        """Values of members as values of stops."""
        listed = short(values, n_digits)
        return [None if m < 0 else listed[m] for m in stops.member]

    leaves = [0 if m < 0 else int(sequence.n_leaves[m]) for m in stops.member]
    for at in stops.names:
        leaves[at] = model.pruning.n_leaves if at == stops.fitted else model.tree.n_leaves
    table: Entries = {"member": stops.member, "leaves": leaves}
    if sequence.alphas is not None:
        table["alpha"] = spread(sequence.alphas)
    errors = []
    for cost in costs:
        column = spread(sequence.costs_on(cost), 12)
        for at in stops.names:
            value = model.pruning.cost(cost) if at == stops.fitted else cost[model.tree.is_leaf].sum()
            column[at] = short([value], 12)[0]
        errors.append(column)
    table["errors"] = errors
    if judged is not None:
        table |= {"cv": spread(judged.error), "se": spread(judged.se), "cv_name": plain(judged.sample)}
    bounds = _path_bounds(model, sequence)
    if bounds is not None:
        table["bound"] = spread(bounds)
    return table


def _path_bounds(model: Model, sequence: PruningSequence) -> list[float] | None:
    """A limit for every member at once, where the held-out sample did not help to make the sequence."""
    if model.holdout is None:
        return None
    holdout = model.class_holdout
    if holdout is None or sequence.node_labels is None or model.pruning.node_labels is None:
        return None
    if not np.array_equal(sequence.node_labels, model.pruning.node_labels):
        return None
    try:
        return [bound.value for bound in path(sequence, holdout, delta=delta_of(model))]
    except SecateurError:  # weights, no rows, or a sample the sequence has seen
        return None


def delta_of(model: Model) -> float:
    """The failure probability the page states its limits with."""
    if model.certificate is not None:
        return model.certificate.delta
    given = model.parameters.get("delta")
    return float(given) if isinstance(given, float | int) and 0 < given < 1 else DELTA


def marks_of(stops: Stops, judged: Selection | None) -> dict[str, int]:
    """Stops that have a name: what was fitted, what was best, the smallest within one standard error of it."""
    marks = {"fitted": stops.fitted}
    if judged is not None:
        marks |= {"best": stops.of_member(judged.best), "one_se": stops.of_member(judged.one_se)}
    return marks


def changes_of(sequence: PruningSequence, stops: Stops) -> list[list[int]]:
    """For each stop that is a member: the nodes that test something in it and not in the one before, or the reverse."""
    before = ~sequence.tree.is_leaf
    found: list[list[int]] = []
    for member in stops.member:
        if member < 0:
            found.append([])
            continue
        kept = sequence[member].is_kept
        found.append(np.flatnonzero(kept != before).tolist())
        before = kept
    return found
