"""Where the slider can stand: the members of a sequence and what is known of each."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from .._utils.arrays import ArrayLike, Floats, LongsOrFloats, equal_values
from ..certifiers import path
from ..core import Counts, Model, Pruning, PruningSequence, Selection
from ..core.class_names import plain
from ..errors import SecateurError
from ..pruners import cost_complexity
from ._numbers import Entries, short
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
    others : dict of int to (str, Pruning)
        Of each stop that is no member: what it is called, and its pruning.
    fitted : int
        The stop of the model's own pruning.
    """

    member: list[int]
    others: dict[int, tuple[str, Pruning]]
    fitted: int


def own_sequence(model: Model) -> PruningSequence:
    """The cost-complexity sequence of the growing sample, for a model that came without one."""
    cost = None if model.is_classifier else costs_of(model, model.grown)
    return cost_complexity(model.tree, model.class_grown, cost=cost)


def find_stops(model: Model, sequence: PruningSequence) -> Stops:
    """Place the whole tree and the model's own pruning among the members, if they are not members."""
    n_members, n_fitted, n_grown = len(sequence), model.pruning.n_leaves, model.tree.n_leaves
    keep, fitted = np.arange(n_members), sequence.index_of(model.pruning)
    if sequence.steps is None and n_members > MOST_MEMBERS:
        even = np.geomspace(1, n_members, MOST_MEMBERS) - 1  # small trees, at the end, are looked at most
        wanted = [*(n_members - 1 - even.astype(int)), 0, fitted or 0]
        if model.selection is not None:
            wanted += [model.selection.best, model.selection.chosen]
        keep = np.unique(wanted)
    places = [(-int(sequence.n_leaves[i]), 1, int(i)) for i in keep]
    others: dict[tuple[int, int, int], tuple[str, Pruning]] = {}
    if fitted is None:
        name = "as fitted" if n_fitted < n_grown else "as fitted, the whole tree"
        others[-n_fitted, 0, -1] = name, model.pruning
    if max(sequence.n_leaves[0], n_fitted) < n_grown:
        others[-n_grown, 0, -1] = "as grown", Pruning.from_cuts(model.tree, [])
    places = sorted([*places, *others])
    own = (-n_fitted, 0, -1) if fitted is None else (-int(sequence.n_leaves[fitted]), 1, fitted)
    listed = {at: others[place] for at, place in enumerate(places) if place in others}
    return Stops([member for *_, member in places], listed, places.index(own))


def stop_table(
    model: Model,
    sequence: PruningSequence,
    stops: Stops,
    costs: list[LongsOrFloats],
    judged: Selection | None,
    alphas: Floats | None,
) -> Entries:
    """One list per column, one entry per stop, the largest tree first; `alphas` are per row."""

    def spread(
        values: ArrayLike, n_digits: int = 7, of_other: Callable[[Pruning], float] = lambda _: math.nan
    ) -> list[float | None]:
        """Values of members as values of stops."""
        others = {at: short([of_other(pruning)], n_digits)[0] for at, (_, pruning) in stops.others.items()}
        listed = short(values, n_digits)
        return [others[at] if m < 0 else listed[m] for at, m in enumerate(stops.member)]

    leaves = spread(sequence.n_leaves, of_other=lambda pruning: pruning.n_leaves)
    table: Entries = {"member": stops.member, "leaves": leaves}
    if alphas is not None:
        table["alpha"] = spread(alphas)
    table["errors"] = [
        spread(sequence.costs_on(cost), 12, lambda pruning, cost=cost: pruning.cost(cost))  # type: ignore[misc]
        for cost in costs
    ]
    if judged is not None:
        table |= {"cv": spread(judged.error), "se": spread(judged.se), "cv_name": plain(judged.sample)}
    bounds = _path_bounds(model, sequence)
    if bounds is not None:
        table["bound"] = spread(bounds)
    return table


def _path_bounds(model: Model, sequence: PruningSequence) -> list[float] | None:
    """A limit for every member at once, where the held-out sample did not help to make the sequence."""
    holdout, labels = model.holdout, sequence.node_labels
    if not isinstance(holdout, Counts) or labels is None or not equal_values(labels, model.pruning.node_labels):
        return None
    with suppress(SecateurError):  # weights, no rows, or a sample the sequence has seen
        return [bound.value for bound in path(sequence, holdout, delta=delta_of(model))]
    return None


def delta_of(model: Model) -> float:
    """The failure probability the page states its limits with."""
    if model.certificate is not None:
        return model.certificate.delta
    given = model.parameters.get("delta")
    return float(given) if isinstance(given, float | int) and 0 < given < 1 else DELTA


def marks_of(stops: Stops, judged: Selection | None) -> dict[str, int]:
    """Stops that have a name: what was fitted, what was best, the smallest within one standard error of it.

    Of a member that was thinned out it is the nearest stop.
    """
    marks = {"fitted": stops.fitted}
    if judged is not None:
        members = np.array(stops.member)
        for name, member in (("best", judged.best), ("one_se", judged.one_se)):
            marks[name] = int(np.where(members < 0, np.inf, np.abs(members - member)).argmin())
    return marks


def changes_of(sequence: PruningSequence, stops: Stops) -> list[list[int]]:
    """For each stop that is a member: the nodes that test something in it and not in the one before, or the reverse."""
    before, found = ~sequence.tree.is_leaf, []
    for member in stops.member:
        kept = before if member < 0 else sequence[member].is_kept
        found.append(np.flatnonzero(kept != before).tolist())
        before = kept
    return found
