"""Find the stops of the slider: the members of a sequence, and prunings of interest that are not members."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from .._utils.arrays import ArrayLike, Floats, Longs, LongsOrFloats, equal_values
from ..certifiers import path
from ..core import Counts, Model, Pruning, PruningSequence, Selection
from ..core.class_names import as_one_line
from ..errors import SecateurError
from ..pruners import cost_complexity
from ._node_costs import costs_of
from ._numbers import Entries, round_values

MAX_UNNESTED_STOPS = 400  # each member of a sequence that is not nested is stored with its changes
DEFAULT_DELTA = 0.05
NOT_A_MEMBER = -1


@dataclass(frozen=True)
class NamedPruning:
    """A pruning that is not a member of the sequence, with the name that the page gives it."""

    name: str
    pruning: Pruning


@dataclass(frozen=True)
class Stops:
    """The stops of the slider, the largest tree first.

    Parameters
    ----------
    member : list of int
        The member of the sequence at each stop; -1 at stops of other prunings.
    other_prunings : dict of int to NamedPruning
        For each stop that is not a member, its pruning.
    fitted : int
        The stop of the model's own pruning.
    """

    member: list[int]
    other_prunings: dict[int, NamedPruning]
    fitted: int


def default_sequence(model: Model) -> PruningSequence:
    """Return the cost-complexity sequence of the growing sample, for a model without a sequence."""
    if model.is_classifier:
        return cost_complexity(model.tree, model.class_grown)
    sequence = cost_complexity(model.tree, None, cost=costs_of(model, model.grown))
    assert sequence.provenance is not None
    provenance = replace(sequence.provenance, cost="squared error", sample=model.grown.sample)
    return replace(sequence, provenance=provenance)


def find_stops(model: Model, sequence: PruningSequence) -> Stops:
    """Return the stops: the members, and the grown tree and the model's own pruning where they are no members."""
    fitted_member = sequence.index_of(model.pruning)
    others = []
    if fitted_member is None:
        is_whole = model.pruning.n_leaves == model.tree.n_leaves
        others.append(NamedPruning("as fitted, the whole tree" if is_whole else "as fitted", model.pruning))
    if max(sequence.n_leaves[0], model.pruning.n_leaves) < model.tree.n_leaves:
        others.append(NamedPruning("as grown", Pruning.from_cuts(model.tree, [])))
    # Larger trees come first; of equal sizes, prunings that are not members come first.
    entries = [(-int(sequence.n_leaves[i]), 1, int(i)) for i in _listed_members(model, sequence, fitted_member)]
    other_entries = {(-other.pruning.n_leaves, 0, NOT_A_MEMBER): other for other in others}
    entries = sorted([*entries, *other_entries])
    if fitted_member is None:
        fitted_entry = (-model.pruning.n_leaves, 0, NOT_A_MEMBER)
    else:
        fitted_entry = (-int(sequence.n_leaves[fitted_member]), 1, fitted_member)
    return Stops(
        member=[member for *_, member in entries],
        other_prunings={stop: other_entries[entry] for stop, entry in enumerate(entries) if entry in other_entries},
        fitted=entries.index(fitted_entry),
    )


def _listed_members(model: Model, sequence: PruningSequence, fitted_member: int | None) -> Longs:
    """Return the members that become stops: all, or some of a long sequence that is not nested."""
    n_members = len(sequence)
    if sequence.steps is not None or n_members <= MAX_UNNESTED_STOPS:
        return np.arange(n_members)
    # Distances grow from the small trees at the end, because readers look at these most.
    distances = np.geomspace(1, n_members, MAX_UNNESTED_STOPS) - 1
    listed = [*(n_members - 1 - distances.astype(int)), 0, fitted_member or 0]
    if model.selection is not None:
        listed += [model.selection.best, model.selection.chosen]
    return np.unique(listed)


@dataclass(frozen=True)
class _StopColumn:
    """Turn values of the members of a sequence into values of the stops."""

    stops: Stops

    def fill(
        self, values: ArrayLike, n_digits: int = 7, value_of: Callable[[Pruning], float] | None = None
    ) -> list[float | None]:
        """Return one rounded value per stop; stops that are not members have that of `value_of`, or None."""
        of_members = round_values(values, n_digits)
        column: list[float | None] = []
        for stop, member in enumerate(self.stops.member):
            if member != NOT_A_MEMBER:
                column.append(of_members[member])
            elif value_of is None:
                column.append(None)
            else:
                column += round_values([value_of(self.stops.other_prunings[stop].pruning)], n_digits)
        return column


def stop_table(
    model: Model,
    sequence: PruningSequence,
    stops: Stops,
    costs: list[LongsOrFloats],
    selection: Selection | None,
    alphas: Floats | None,
) -> Entries:
    """Return the numbers of all stops, as one list per column.

    Parameters
    ----------
    model : Model
    sequence : PruningSequence
    stops : Stops
    costs : list of arrays
        For each sample, the cost of each node as a leaf.
    selection : Selection, optional
        The selection whose errors are listed.
    alphas : array, optional
        The penalty of each member, per row.
    """
    column = _StopColumn(stops)
    n_leaves = column.fill(sequence.n_leaves, value_of=lambda pruning: pruning.n_leaves)
    table: Entries = {"member": stops.member, "leaves": n_leaves}
    if alphas is not None:
        table["alpha"] = column.fill(alphas)
    table["errors"] = [column.fill(sequence.costs_on(cost), 12, _cost_function(cost)) for cost in costs]
    if selection is not None:
        errors, standard_errors = column.fill(selection.error), column.fill(selection.se)
        table |= {"cv": errors, "se": standard_errors, "cv_name": as_one_line(selection.sample)}
    bounds = _path_bounds(model, sequence)
    if bounds is not None:
        table["bound"] = column.fill(bounds)
    return table


def _cost_function(cost: LongsOrFloats) -> Callable[[Pruning], float]:
    return lambda pruning: pruning.cost(cost)


def _path_bounds(model: Model, sequence: PruningSequence) -> list[float] | None:
    """Return a limit on the error of each member, valid for all at once; None if the held-out sample gives none."""
    holdout, labels = model.holdout, sequence.node_labels
    if not isinstance(holdout, Counts) or labels is None or not equal_values(labels, model.pruning.node_labels):
        return None
    with suppress(SecateurError):  # the rows have weights, there are none, or they were used to make the sequence
        return [bound.value for bound in path(sequence, holdout, delta=delta_of(model))]
    return None


def delta_of(model: Model) -> float:
    """Return the failure probability of the limits on the page: that of the certificate or of the parameters."""
    if model.certificate is not None:
        return model.certificate.delta
    delta = model.parameters.get("delta")
    return float(delta) if isinstance(delta, float | int) and 0 < delta < 1 else DEFAULT_DELTA


def named_stops(stops: Stops, selection: Selection | None) -> dict[str, int]:
    """Return the stops with a name: "fitted", and with a selection "best" and "one_se".

    Where a long sequence is thinned out, the stop nearest to a member takes its name.
    """
    named = {"fitted": stops.fitted}
    if selection is not None:
        members = np.array(stops.member)
        for name, member in (("best", selection.best), ("one_se", selection.one_se)):
            named[name] = int(np.where(members < 0, np.inf, np.abs(members - member)).argmin())
    return named


def changed_nodes(sequence: PruningSequence, stops: Stops) -> list[list[int]]:
    """Return for each stop the nodes that are internal there but not at the previous stop, or the reverse.

    The stop before the first one has all tests of the grown tree; stops that are not members count as unchanged.
    """
    previous, changes = ~sequence.tree.is_leaf, []
    for member in stops.member:
        is_internal = previous if member == NOT_A_MEMBER else sequence[member].is_kept
        changes.append(np.flatnonzero(is_internal != previous).tolist())
        previous = is_internal
    return changes
