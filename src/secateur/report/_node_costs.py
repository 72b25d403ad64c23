"""The cost of each node as a leaf, as the pruning rule compared it, and the cost of its branch."""

from dataclasses import dataclass, replace

import numpy as np

from .._utils.arrays import Ints, Longs, LongsOrFloats, equal_values
from ..core import Counts, Model, PruningSequence, RuleProvenance, Sample, Tree, m_estimate
from ._numbers import format_number


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


def branch_costs(tree: Tree, costs: LongsOrFloats, steps: Ints | None = None) -> tuple[LongsOrFloats, Longs]:
    """Return the cost and the number of leaves of each node's branch, just before the node becomes a leaf.

    Parameters
    ----------
    tree : Tree
    costs : array
        The cost of each node as a leaf.
    steps : array of int, optional
        The member of a nested sequence in which each node becomes a leaf. A child with a smaller step is a leaf in the
        branch of its parent; a child with the same step still has its branch. By default, all branches are as grown.
    """
    step = [0] * tree.n_nodes if steps is None else steps.tolist()
    parent, leaf_cost, is_leaf = tree.parent.tolist(), costs.tolist(), tree.is_leaf.tolist()
    zero = 0 * leaf_cost[0]  # an int or a float, as the costs are
    cost, n_leaves = [zero] * tree.n_nodes, [0] * tree.n_nodes
    for v in range(tree.n_nodes - 1, -1, -1):
        if is_leaf[v]:
            cost[v], n_leaves[v] = leaf_cost[v], 1
        if v == 0:
            break
        p = parent[v]
        is_leaf_in_branch = step[v] < step[p]
        cost[p] += leaf_cost[v] if is_leaf_in_branch else cost[v]
        n_leaves[p] += 1 if is_leaf_in_branch else n_leaves[v]
    return np.array(cost, costs.dtype), np.array(n_leaves, np.int64)


def best_branch_costs(tree: Tree, costs: LongsOrFloats) -> LongsOrFloats:
    """Return for each internal node the least cost of all prunings of its branch that keep the node."""
    parent, leaf_cost, is_leaf = tree.parent.tolist(), costs.tolist(), tree.is_leaf.tolist()
    best = [0 * leaf_cost[0]] * tree.n_nodes
    for v in range(tree.n_nodes - 1, 0, -1):
        best[parent[v]] += leaf_cost[v] if is_leaf[v] else min(leaf_cost[v], best[v])
    return np.array(best, costs.dtype)
