"""What the page shows of a model, read from the model once: its sequence, costs, stops, limits and rows.

The other modules write it down: `_data` as the data block with the model card, `_reasons` as sentences, and `_static`
as HTML for readers without scripts.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.arrays import Floats, Longs, LongsOrFloats, equal_values
from ..certifiers import leaf_shares, path
from ..core import Counts, LeafShares, Model, Pruning, PruningSequence, RuleProvenance, Sample, Selection, m_estimate
from ..data.table import Table
from ..errors import SecateurError
from ..growers.importance import node_gains
from ..inspection.view import TreeView, view_of
from ..inspection.wording import format_number, round_values
from ..plot.distribution import Bars, known_values, node_bars
from ..pruners import cost_complexity

Entries = dict[str, Any]  # plain values of the data block, by name

MAX_UNNESTED_STOPS = 400  # each member of a sequence that is not nested is stored with its changes
MAX_TESTS_WITH_BARS = 250  # those with most rows
DEFAULT_DELTA = 0.05
NOT_A_MEMBER = -1


@dataclass(frozen=True, eq=False)
class ShownSample:
    """A sample of the model, with what the tree and its prunings cost on it.

    Parameters
    ----------
    name : str
        The name that the page gives the sample.
    sample : Counts or Moments
    costs : array
        The cost of each node as a leaf.
    member_costs : array
        The cost of each member of the sequence.
    fitted_cost : float
        The cost of the model's own pruning.
    """

    name: str
    sample: Sample
    costs: LongsOrFloats
    member_costs: LongsOrFloats
    fitted_cost: float


@dataclass(frozen=True, eq=False)
class ShownModel:
    """What the page shows of a model, made by `read_model`.

    Parameters
    ----------
    model : Model
    view : TreeView
        The texts of the grown tree.
    samples : tuple of ShownSample
        The growing sample and, if there is one, the held-out sample.
    sequence : PruningSequence
        The sequence of the slider, with penalties per row of the growing sample.
    costs : NodeCosts
        The costs that the rule of the sequence compared.
    gains : array
        How much the split of each node lowers the criterion.
    stops : Stops
        The stops of the slider.
    selection : Selection, optional
        The selection of the model, if it measured the errors of the members of the sequence.
    bounds : list of float, optional
        A limit on the error of each member, valid for all at once; None if the held-out sample gives none.
    limits : LeafShares, optional
        Limits on the class shares of all nodes.
    rows : dict, optional
        The distributions of the given rows.
    table : Table, optional
        The given rows.
    """

    model: Model
    view: TreeView
    samples: tuple[ShownSample, ...]
    sequence: PruningSequence
    costs: "NodeCosts"
    gains: Floats
    stops: "Stops"
    selection: Selection | None
    bounds: list[float] | None
    limits: LeafShares | None
    rows: Entries | None
    table: Table | None


def read_model(model: Model, table: Table | None = None) -> ShownModel:
    """Return what the page shows of a model, with the distributions of the rows of `table`."""
    limits = node_limits(model)
    sequence = default_sequence(model) if model.sequence is None else model.sequence
    samples = [_read_sample(model, sequence, "growing", model.grown)]
    if model.holdout is not None:
        samples.append(_read_sample(model, sequence, "held-out", model.holdout))
    selection = model.selection
    if selection is not None and not (selection.is_error and len(selection.sequence) == len(sequence)):
        selection = None
    n_classes = max(shown.sample.n_labels for shown in samples)
    return ShownModel(
        model=model,
        samples=tuple(samples),
        sequence=with_alphas_per_row(sequence, float(model.grown.total[0]) or 1.0),
        costs=deciding_costs(model, sequence),
        stops=find_stops(model, sequence),
        selection=selection,
        bounds=_path_bounds(model, sequence),
        limits=limits,
        gains=node_gains(model),
        view=view_of(model.tree, n_classes=n_classes),
        rows=None if table is None else row_distributions(model, table),
        table=table,
    )


def _read_sample(model: Model, sequence: PruningSequence, name: str, sample: Sample) -> ShownSample:
    """Return what the tree, the members of a sequence and the model's own pruning cost on a sample."""
    costs = costs_of(model, sample)
    return ShownSample(name, sample, costs, sequence.costs_on(costs), model.pruning.cost(costs))


def node_limits(model: Model) -> LeafShares | None:
    """Return limits on the class shares of every node from the held-out sample; None where there are none.

    They hold for all nodes of the grown tree at once, so for the leaves of every stop of the slider and
    of every tree cut by hand after looking.
    """
    grown, holdout = model.grown, model.holdout
    if not (isinstance(grown, Counts) and isinstance(holdout, Counts)):
        return None
    n_lacking = grown.n_classes - holdout.n_classes
    if n_lacking > 0:  # the page shows the classes of both samples
        holdout = replace(holdout, by_class=np.pad(holdout.by_class, ((0, 0), (0, n_lacking))))
    with suppress(SecateurError):  # the rows have weights, there are none, or they grew the tree
        limits: LeafShares = leaf_shares(model.pruning, holdout, delta=delta_of(model), over="nodes", grown=grown)
        return limits
    return None


def delta_of(model: Model) -> float:
    """Return the failure probability of the limits on the page: that of the certificate or of the parameters."""
    if model.certificate is not None:
        return model.certificate.delta
    delta = model.parameters.get("delta")
    return float(delta) if isinstance(delta, float | int) and 0 < delta < 1 else DEFAULT_DELTA


def default_sequence(model: Model) -> PruningSequence:
    """Return the cost-complexity sequence of the growing sample, for a model without a sequence."""
    if model.is_classifier:
        return cost_complexity(model.tree, model.class_grown)
    sequence = cost_complexity(model.tree, None, cost=costs_of(model, model.grown))
    assert sequence.provenance is not None
    provenance = replace(sequence.provenance, cost="squared error", sample=model.grown.sample)
    return replace(sequence, provenance=provenance)


@dataclass(frozen=True, eq=False)
class NodeCosts:
    """The cost of each node as a leaf, with the words that the page uses for it.

    Parameters
    ----------
    values : array
        One cost per node.
    text : str
        The unit and the sample, such as "errors on the growing sample".
    is_squared : bool
        Whether the cost is a squared error.
    is_estimated : bool
        Whether the cost is an estimate of errors, not a number of rows.
    is_deciding : bool
        Whether the rule compared these costs; otherwise they only describe the nodes.
    """

    values: LongsOrFloats
    text: str
    is_squared: bool = False
    is_estimated: bool = False
    is_deciding: bool = False


def costs_of(model: Model, sample: Sample) -> LongsOrFloats:
    """Return the errors (regression: squared errors) of each node as a leaf of the model, on a sample."""
    assert model.node_predictions is not None
    return sample.costs_if_leaf(model.node_predictions)


def deciding_costs(model: Model, sequence: PruningSequence) -> NodeCosts:
    """Return the costs that the rule of a sequence compared.

    If they are not known (the caller of the rule passed them, or an old model file does not name them), the result is
    the cost on the growing sample, marked as not deciding.
    """
    provenance = sequence.provenance
    growing = _sample_costs(model, model.grown, "growing")
    if provenance is None or provenance.edits:
        return growing
    if provenance.cost == "m-estimate" and isinstance(model.grown, Counts):
        return _estimated_errors(model.grown, provenance)
    has_known_unit = provenance.cost in ("errors", "squared error")
    has_same_labels = equal_values(sequence.node_labels, model.pruning.node_labels)
    if not (has_known_unit and has_same_labels):
        return growing
    if provenance.sample == model.grown.sample:
        return replace(growing, is_deciding=True)
    if model.holdout is not None and provenance.sample == model.holdout.sample:
        return replace(_sample_costs(model, model.holdout, "held-out"), is_deciding=True)
    return growing


def _sample_costs(model: Model, sample: Sample, name: str) -> NodeCosts:
    unit = "errors" if model.is_classifier else "in squared error"
    return NodeCosts(costs_of(model, sample), f"{unit} on the {name} sample", is_squared=not model.is_classifier)


def _estimated_errors(grown: Counts, provenance: RuleProvenance) -> NodeCosts:
    m = float(provenance.parameters.get("m", 2.0))
    rows = float(grown.total[0]) or 1.0
    text = f"estimated errors (growing sample, m-estimate with m = {format_number(m)})"
    return NodeCosts(m_estimate(grown, m) * rows, text, is_estimated=True, is_deciding=True)


def with_alphas_per_row(sequence: PruningSequence, rows: float) -> PruningSequence:
    """Return the sequence with its penalties per row of the growing sample, as models have them."""
    provenance = sequence.provenance
    if sequence.alphas is None or provenance is None or provenance.alpha_unit != "cost":
        return sequence
    return replace(sequence, alphas=sequence.alphas / rows, provenance=replace(provenance, alpha_unit="cost per row"))


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


def _path_bounds(model: Model, sequence: PruningSequence) -> list[float] | None:
    """Return a limit on the error of each member, valid for all at once; None if the held-out sample gives none."""
    holdout, labels = model.holdout, sequence.node_labels
    if not isinstance(holdout, Counts) or labels is None or not equal_values(labels, model.pruning.node_labels):
        return None
    with suppress(SecateurError):  # the rows have weights, there are none, or they were used to make the sequence
        return [bound.value for bound in path(sequence, holdout, delta=delta_of(model))]
    return None


def row_distributions(model: Model, table: Table) -> Entries:
    """Return the number of rows, a summary of each tested column, and the bars of each test."""
    tree = model.tree
    internal = tree.internal
    largest = internal[np.argsort(-model.grown.total[internal], kind="stable")][:MAX_TESTS_WITH_BARS]
    bars = node_bars(tree, table, sorted(largest.tolist()))
    return {
        "n": table.n_rows,
        "columns": {str(j): column_summary(table, int(j)) for j in np.unique(tree.feature[internal])},
        "nodes": {str(v): _packed_bars(node) for v, node in bars.items()},
    }


def column_summary(table: Table, j: int) -> Entries:
    """Return the number of missing values of column `j`, and a summary of its known values.

    The summary is the range and the median of a numeric column ("low", "middle", "high"), or the code of the most
    frequent category ("common"); a column without known values has none.
    """
    values, is_known = known_values(table, j, slice(None))
    summary: Entries = {"missing": int(np.count_nonzero(~is_known))}
    if not len(values):
        return summary
    if table.schema.columns[j].kind == "nominal":
        return summary | {"common": int(np.bincount(values).argmax())}
    low, middle, high = round_values(np.quantile(values, [0, 0.5, 1], method="lower"))
    return summary | {"low": low, "middle": middle, "high": high}


def _packed_bars(bars: Bars) -> Entries:
    entries: Entries = {"missing": bars.n_missing}
    if bars.codes is not None:
        entries["codes"] = bars.codes
    if bars.ends is not None:
        entries["range"] = round_values(bars.ends)
    if bars.classes:
        return entries | {"classes": bars.classes, "by_class": bars.rows.tolist()}
    entries["n"] = bars.rows[0].tolist()
    if bars.mean is not None:
        entries["mean"] = round_values(bars.mean, 4)
    return entries
