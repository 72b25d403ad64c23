"""Collect what the page shows of a model: its sequence, costs, stops, limits and rows.

The model is read once, by `read_model`. The other modules write the result: `_data` as the data block with the model
card, `_reasons` as sentences, and `_static` as HTML for readers without scripts.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._utils.arrays import Floats, Longs, LongsOrFloats, equal_values
from ..certifiers import leaf_shares, path
from ..core import (
    Counts,
    LeafShares,
    Model,
    Pruning,
    PruningSequence,
    RuleProvenance,
    Sample,
    SampleUsage,
    Selection,
    m_estimate,
)
from ..data.table import Table
from ..errors import SecateurError
from ..growers.importance import node_gains
from ..inspection.currency import (
    Currency,
    SampleRole,
    currency_of,
    growing_role,
    holdout_role,
    node_losses,
    rows_text,
    scores_along,
)
from ..inspection.sentences import SentenceInputs, sentence_inputs
from ..inspection.view import TreeView, view_of
from ..inspection.wording import format_number, round_values
from ..plot.distribution import Bars, known_values, node_bars
from ..pruners import cost_complexity
from ..statistics.node_losses import estimated_costs, node_deviances, node_impurities, prediction_losses
from ..statistics.repeats import RepeatRule

Entries = dict[str, Any]  # plain values of the data block, by name

MAX_UNNESTED_STOPS = 400  # each member of a sequence that is not nested is stored with its changes
MAX_TESTS_WITH_BARS = 128  # those with most rows
DEFAULT_DELTA = 0.05
NOT_A_MEMBER = -1


@dataclass(frozen=True, eq=False)
class ShownSample:
    """A sample of the model, with the costs of nodes and prunings on the sample.

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
    sentence_inputs : SentenceInputs
        What the sentences that state scores on this sample need.
    sequence_role : SampleRole
        What the rows were used for in making the members of the sequence.
    rows : str
        The rows in words, without what they were used for.
    losses : array or None
        The loss of each node as a leaf, in the currency of the model (the score that chose it). None if the currency is
        the error, or if it cannot be computed as a sum over leaves.
    member_scores : array or None
        The score of each member of the sequence in the currency. None if the currency is the error, or if the score
        cannot be computed.
    """

    name: str
    sample: Sample
    costs: LongsOrFloats
    member_costs: LongsOrFloats
    fitted_cost: float
    sentence_inputs: SentenceInputs
    sequence_role: SampleRole
    rows: str
    losses: LongsOrFloats | None
    member_scores: Floats | None


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
    currency : Currency
        The score that chose the tree.
    selection : Selection, optional
        The selection of the model, if it has one score for each member of the sequence.
    bounds : list of float, optional
        A limit on the error of each member, valid for all at once; None if the held-out sample gives none.
    limits : LeafShares, optional
        Limits on the class shares of all nodes.
    rows : dict, optional
        The distributions of the columns of `table`.
    table : Table, optional
        The rows that the caller passed to be shown.
    """

    model: Model
    view: TreeView
    samples: tuple[ShownSample, ...]
    sequence: PruningSequence
    costs: "NodeCosts"
    gains: Floats
    stops: "Stops"
    currency: Currency
    selection: Selection | None
    bounds: list[float] | None
    limits: LeafShares | None
    rows: Entries | None
    table: Table | None


def read_model(model: Model, table: Table | None = None) -> ShownModel:
    """Return what the page shows of a model, with the distributions of the rows of `table`."""
    # The roles depend on earlier evaluations. They are read first, because the page itself evaluates many prunings.
    sequence = default_sequence(model) if model.sequence is None else model.sequence
    role, role_in_sequence = holdout_role(model), holdout_role(model, sequence)
    limits, grown_role = node_limits(model), growing_role(model)
    samples = [_read_sample(model, sequence, "growing", model.grown, (grown_role, grown_role))]
    if model.holdout is not None and role is not None and role_in_sequence is not None:
        samples.append(_read_sample(model, sequence, "held-out", model.holdout, (role, role_in_sequence)))
    selection = model.selection
    if selection is not None and len(selection.sequence) != len(sequence):
        selection = None
    n_classes = max(shown.sample.n_labels for shown in samples)
    return ShownModel(
        model=model,
        samples=tuple(samples),
        sequence=with_alphas_per_row(sequence, float(model.grown.total[0]) or 1.0),
        costs=deciding_costs(model, sequence),
        stops=find_stops(model, sequence),
        currency=currency_of(model),
        selection=selection,
        bounds=_path_bounds(model, sequence),
        limits=limits,
        gains=node_gains(model),
        view=view_of(model.tree, n_classes=n_classes),
        rows=None if table is None else row_distributions(model, table),
        table=table,
    )


def _read_sample(
    model: Model, sequence: PruningSequence, name: str, sample: Sample, roles: tuple[SampleRole, SampleRole]
) -> ShownSample:
    """Return what the tree, the members of a sequence and the model's own pruning cost on a sample.

    `roles` are those for the model's own pruning and for the members of the sequence.
    """
    costs, currency = costs_of(model, sample), currency_of(model)
    return ShownSample(
        name=name,
        sample=sample,
        costs=costs,
        member_costs=sequence.costs_on(costs),
        fitted_cost=model.pruning.cost(costs),
        sentence_inputs=sentence_inputs(model, sample, roles[0]),
        sequence_role=roles[1],
        rows=rows_text(sample, f"{name} rows"),
        losses=None if currency.is_error else node_losses(currency, model, sample),
        member_scores=None if currency.is_error else scores_along(currency, model, sequence, sample),
    )


def node_limits(model: Model) -> LeafShares | None:
    """Return limits on the class shares of every node from the held-out sample; None where there are none.

    The limits hold for all nodes of the grown tree at once. They therefore hold for the leaves of every pruning that a
    reader chooses on the page.
    """
    grown, holdout = model.grown, model.holdout
    if not (isinstance(grown, Counts) and isinstance(holdout, Counts)):
        return None
    n_lacking = grown.n_classes - holdout.n_classes
    if n_lacking > 0:  # the page shows the classes of both samples
        holdout = replace(holdout, by_class=np.pad(holdout.by_class, ((0, 0), (0, n_lacking))))
    with suppress(SecateurError):  # the rows have weights, there are none, or they grew the tree
        options: dict[str, Any] = {"delta": delta_of(model), "repeats": _repeat_rule_of(model)}
        limits: LeafShares = leaf_shares(model.pruning, holdout, over="nodes", grown=grown, **options)
        return limits
    return None


def delta_of(model: Model) -> float:
    """Return the failure probability of the limits on the page: that of the certificate or of the parameters."""
    if model.certificate is not None:
        return model.certificate.delta
    delta = model.parameters.get("delta")
    return float(delta) if isinstance(delta, float | int) and 0 < delta < 1 else DEFAULT_DELTA


def _repeat_rule_of(model: Model) -> RepeatRule:
    """Return how limits on the page take rows that occur more than once: as the certificate of the model does."""
    return "errors" if model.certificate is None else model.certificate.repeat_rule


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
    unit : str
        "errors" or "estimated errors", or the name of a cost that is not a number of rows, such as "log loss".
    sample : str
        The sample in words, such as "the growing sample".
    weight : str
        What the number of rows in a node is called: "rows", or "rows by weight".
    is_deciding : bool
        Whether the rule compared these costs; otherwise they only describe the nodes.
    """

    values: LongsOrFloats
    unit: str
    sample: str
    weight: str = "rows"
    is_deciding: bool = False

    @property
    def text(self) -> str:
        """The unit and the sample, to complete "As a leaf this node costs 5 ..."."""
        is_counted = self.unit.endswith("errors")
        return f"{self.unit} {self.sample}" if is_counted else f"in {self.unit} {self.sample}"

    @property
    def is_squared(self) -> bool:
        """Whether the cost is a squared error."""
        return self.unit == "squared error"


def costs_of(model: Model, sample: Sample) -> LongsOrFloats:
    """Return the errors (regression: squared errors) of each node as a leaf of the model, on a sample."""
    assert model.node_predictions is not None
    return sample.costs_if_leaf(model.node_predictions)


def deciding_costs(model: Model, made: PruningSequence | Pruning) -> NodeCosts:
    """Return the costs that the rule of a sequence or a pruning compared.

    If they are not known (the caller of the rule passed them, or an old model file does not name them), the result is
    the cost on the growing sample, marked as not deciding.
    """
    provenance = made.provenance
    growing = _sample_costs(model, model.grown)
    if provenance is None or provenance.edits or not equal_values(made.node_labels, model.pruning.node_labels):
        return growing
    known = _known_costs(model, provenance, made.seen)
    return growing if known is None else replace(known, is_deciding=True)


def _known_costs(model: Model, provenance: RuleProvenance, seen: SampleUsage) -> NodeCosts | None:
    """Return the costs that a provenance names; None if they cannot be computed from the samples of the model.

    Two held-out samples can have the same name. The sample of the model is the one that the rule used only if it is
    among the samples in `seen`.
    """
    sample = model.grown
    if provenance.sample != sample.sample:
        if model.holdout is None or provenance.sample != model.holdout.sample:
            return None
        sample = model.holdout
        if len(SampleUsage.of(sample).without(seen)):
            return None
    if provenance.cost in ("errors", "squared error"):
        return _sample_costs(model, sample)
    if not isinstance(sample, Counts):
        return None
    costs_of_unit = partial(NodeCosts, sample=_sample_name(model, sample), weight=_weight_name(sample))
    if provenance.cost == "m-estimate" and sample is model.grown:
        return _estimated_errors(model.class_grown or sample, provenance)
    if provenance.cost == "deviance":
        return costs_of_unit(node_deviances(sample), "log loss (of the class shares in each leaf)")
    if provenance.cost == "impurity":
        return costs_of_unit(node_impurities(sample), "Gini impurity")
    if provenance.cost == "expected cost":
        return _expected_costs(model, sample, provenance, costs_of_unit)
    return None


def _expected_costs(
    model: Model, sample: Counts, provenance: RuleProvenance, costs_of_unit: Callable[[LongsOrFloats, str], NodeCosts]
) -> NodeCosts | None:
    """Return the costs by the matrix that the provenance, selection or parameters contain; None without a matrix."""
    details = {} if model.selection is None else model.selection.details
    costs = provenance.parameters.get("costs", details.get("costs", model.parameters.get("costs")))
    labels = model.pruning.node_labels
    if costs is None or labels is None:
        return None
    scoring = provenance.parameters.get("scoring", details.get("scoring"))
    unit = "error weighted by class" if scoring == "balanced_error" else "cost"
    matrix = np.asarray(costs)
    if details.get("cost") == "m-estimate" and "costs" not in provenance.parameters and sample is model.grown:
        rows, m = float(sample.total[0]) or 1.0, float(details.get("m", 2.0))
        estimated = f"estimated {unit} (m-estimate with m = {format_number(m)})"
        return costs_of_unit(estimated_costs(sample, m, matrix) * rows, estimated)
    return costs_of_unit(prediction_losses(sample.by_class, labels, matrix).loss, unit)


def _sample_costs(model: Model, sample: Sample) -> NodeCosts:
    unit = "errors" if model.is_classifier else "squared error"
    return NodeCosts(costs_of(model, sample), unit, _sample_name(model, sample), _weight_name(sample))


def _sample_name(model: Model, sample: Sample) -> str:
    return f"on the {'growing' if sample is model.grown else 'held-out'} sample"


def _weight_name(sample: Sample) -> str:
    return "rows by weight" if sample.is_weighted else "rows"


def _estimated_errors(grown: Counts, provenance: RuleProvenance) -> NodeCosts:
    """Return the m-estimates of the errors of nodes, with the parameters that the provenance names."""
    m = float(provenance.parameters.get("m", 2.0))
    rows = float(grown.total[0]) or 1.0
    text = f"(growing sample, m-estimate with m = {format_number(m)})"
    prior = provenance.parameters.get("prior")
    prior = np.full(grown.n_classes, 1 / grown.n_classes) if prior == "uniform" else prior
    return NodeCosts(m_estimate(grown, m, prior) * rows, "estimated errors", text, _weight_name(grown))


def with_alphas_per_row(sequence: PruningSequence, rows: float) -> PruningSequence:
    """Return the sequence with its penalties divided by the number of growing rows, if they are not yet per row."""
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
    """Return the stops: all members and, if they are not members, the grown tree and the model's own pruning."""
    fitted_member = sequence.index_of(model.pruning)
    added = []
    if fitted_member is None:
        is_whole = model.pruning.n_leaves == model.tree.n_leaves
        added.append(NamedPruning("as fitted, the whole tree" if is_whole else "as fitted", model.pruning))
    if max(sequence.n_leaves[0], model.pruning.n_leaves) < model.tree.n_leaves:
        added.append(NamedPruning("as grown", Pruning.from_cuts(model.tree, [])))
    # Larger trees come first; of equal sizes, prunings that are not members come first.
    entries = [(-int(sequence.n_leaves[i]), 1, int(i)) for i in _listed_members(model, sequence, fitted_member)]
    other_entries = {(-other.pruning.n_leaves, 0, NOT_A_MEMBER): other for other in added}
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
    # The stops are densest at the small trees, at the end of the sequence, because readers look at these most.
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
        bounds = path(sequence, holdout, delta=delta_of(model), repeats=_repeat_rule_of(model))
        return [bound.value for bound in bounds]
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
    """Return the bars of one node as plain values; entries that do not apply are left out."""
    entries: Entries = {"missing": bars.n_missing}
    if bars.codes is not None:
        entries["codes"] = bars.codes
    if bars.ends is not None:
        entries["range"] = round_values(bars.ends)
    if bars.classes:
        return entries | {"classes": bars.classes, "by_class": bars.rows.tolist()}
    entries["n"] = bars.rows.sum(axis=0).tolist()  # one line, or none if no row of a class reaches the node
    if bars.mean is not None:
        entries["mean"] = round_values(bars.mean, 4)
    return entries
