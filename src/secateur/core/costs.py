"""The cost of each node as a leaf, and the change of the total cost by a cut at each node.

A *cost* is one number per node that is additive over leaves: errors on a sample, m-estimates, losses under a cost
matrix, squared errors. Let `full` be the cost of the uncut subtree of each node, and `excess = cost - full`. Then
every pruning P has

    cost(P) = full[root] + sum of excess over the cuts of P.

For `Moments`, which replace `Counts` in regression, the cost of a node is the squared error of predicting the mean of
the growing rows in the node. On a held-out sample, the mean is still that of the growing rows.
"""

from typing import Any

import numpy as np

from .._kernels import structure
from .._utils.arrays import ArrayLike, Floats, Ints, LongsOrFloats, immutable_array, write_protect
from ..errors import CountsError, ParameterError
from .counts import Counts
from .moments import Moments
from .provenance import CostUnit, RuleProvenance, SampleUsage, usage_of_array
from .tree import Tree

Sample = Counts | Moments
RELATIVE_TOLERANCE = 1e-12  # real costs tie if they differ by at most this share of the largest cost
MAX_INT_COST_SUM = 2**61  # below this limit, sums and differences of integer costs fit into 64 bits


def node_cost(tree: Tree, counts: Sample | None, cost: ArrayLike | None) -> LongsOrFloats:
    """Return the cost of each node as a leaf: `cost` if it is given, else the errors or squared errors of `counts`.

    Integer costs stay int64, so that ties are exact. For the squared errors of `Moments`, see
    `Moments.resubstitution_costs`. Errors of `counts` are recorded as an evaluation in the tree's log.
    """
    if counts is not None:
        counts.check_fits(tree)
    if cost is not None:
        return _checked_cost(tree, cost)
    if counts is None:
        raise CountsError("counts are None and no cost is given; pass one of them")
    if counts.has_classes:
        counts.tree.evaluation_log.record_nodes(counts)
    return np.asarray(counts.resubstitution_costs)


def sample_usage_of(tree: Tree, *samples: Sample | None, cost: ArrayLike | None = None) -> SampleUsage:
    """Return the samples that the result of a rule depends on, from the samples and the cost passed to the rule.

    An array passed as `cost` may have been computed from any sample that has been evaluated on this tree so far, so
    all of these samples count as used. If `cost` is a `SampleArray`, so does the sample from which it was computed.
    """
    usage = SampleUsage.of(*samples)
    return usage if cost is None else usage | tree.evaluation_log.possible_choosers | usage_of_array(cost)


def labels_of(counts: Sample | None) -> Ints | None:
    """Return the class that each node predicts as a leaf; None without counts, or if the target is a number."""
    return None if counts is None else counts.labels


def cost_result_fields(
    rule: str, tree: Tree, counts: Sample | None, cost: ArrayLike | None, node_costs: LongsOrFloats, **fields: Any
) -> dict[str, Any]:
    """Return what a rule that minimises a cost states about its result: labels, used samples and provenance.

    `tree`, `counts` and `cost` are the arguments of the rule; the others are as for `cost_provenance`.
    """
    return {
        "node_labels": labels_of(counts),
        "seen": sample_usage_of(tree, counts, cost=cost),
        "provenance": cost_provenance(rule, counts, cost, node_costs, **fields),
    }


def cost_provenance(
    rule: str, sample: Sample | None, cost: ArrayLike | None, node_costs: LongsOrFloats, **fields: Any
) -> RuleProvenance:
    """Return the provenance of a rule that minimises the summed cost of the leaves.

    Parameters
    ----------
    rule : str
        Name in `secateur.pruners.RULES`.
    sample : Counts, Moments or None
        The sample whose errors (or squared errors) the rule compares, unless the caller passed `cost`.
    cost : array or None
        The cost that the caller passed.
    node_costs : array
        The cost of each node as a leaf, as the rule compares it.
    **fields
        Further fields of `RuleProvenance`.
    """
    unit: CostUnit = "given"
    sample_name = ""
    if cost is None and sample is not None:
        unit = "errors" if sample.has_classes else "squared error"
        sample_name = sample.sample
    tolerance = 0.0 if node_costs.dtype.kind == "i" else RELATIVE_TOLERANCE
    return RuleProvenance(rule, cost=unit, sample=sample_name, tolerance=tolerance, **fields)


def text_with_ties(text: str, node_costs: LongsOrFloats) -> str:
    """Return the text of a rule; where costs are real numbers, it names the tolerance of ties."""
    return text if node_costs.dtype.kind == "i" else f"{text} (real costs: ties within 1e-12)"


def full_cost(tree: Tree, cost: LongsOrFloats) -> LongsOrFloats:
    """Return the cost of the uncut subtree of each node, given the cost of each node as a leaf."""
    leaf_cost = np.where(tree.is_leaf, cost, 0).astype(cost.dtype)
    return write_protect(structure.sum_upwards(tree.parent, leaf_cost[:, None])[:, 0])


def excess_cost(tree: Tree, cost: LongsOrFloats) -> LongsOrFloats:
    """Return how much a cut at each node adds to the cost of the uncut tree."""
    return write_protect(cost - full_cost(tree, cost))


def m_estimate(grown: Counts, m: float = 2.0, prior: ArrayLike | None = None) -> LongsOrFloats:
    """Return the m-estimate of the error of each node as a leaf, weighted by its share of the rows.

    Parameters
    ----------
    grown : Counts
        Counts of the growing sample. The evaluation is recorded in the tree's log.
    m : float
        Weight of the prior in rows; `m = n_classes` with a uniform prior is Laplace's estimate.
    prior : array, optional
        Class probabilities; the class frequencies at the root by default.

    Returns
    -------
    array
        Share of the rows in the node times its estimated error rate; additive over leaves.
    """
    if not 0 <= m < np.inf:
        raise ParameterError(f"m={m}; a finite number of 0 or more is needed")
    grown.tree.evaluation_log.record_nodes(grown)
    total_weight = float(grown.total[0]) or 1.0
    class_prior = grown.by_class[0] / total_weight if prior is None else np.asarray(prior, float)
    prior_errors = (1 - class_prior) * m
    if prior_errors.shape != (grown.n_classes,):
        prior_errors = np.broadcast_to(prior_errors, grown.n_classes)
    if grown.tree.estimate_limits is not None:
        return write_protect(_m_estimates_of_labels(grown, prior_errors, m, total_weight))
    return write_protect(structure.m_estimates(grown.by_class, grown.total, prior_errors, m, total_weight))


def _m_estimates_of_labels(grown: Counts, prior_errors: Floats, m: float, total_weight: float) -> Floats:
    """Return the m-estimates of the errors of each node if it predicts its majority within the limits of the tree."""
    errors = grown.unrecorded_errors_if_leaf(grown.majority) + prior_errors[grown.majority]
    rate = np.divide(errors, grown.total + m, out=np.zeros(len(errors)), where=grown.total + m > 0)
    return grown.total / total_weight * rate


def _checked_cost(tree: Tree, cost: ArrayLike) -> LongsOrFloats:
    """Return a cost given by the user as a read-only array of int64 or float64; raise `ParameterError` if invalid."""
    array = np.asarray(cost)
    is_integer = array.dtype.kind in "iu"
    if array.shape != (tree.n_nodes,) or array.dtype.kind not in "iuf":
        raise ParameterError(f"cost has shape {array.shape} of {array.dtype}; one number per node, ({tree.n_nodes},)")
    invalid = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if len(invalid):
        node = invalid[0]
        raise ParameterError(f"cost of node {node} is {array[node]}; finite numbers of 0 or more are needed")
    if is_integer and int(array.max()) * tree.n_leaves >= MAX_INT_COST_SUM:
        raise ParameterError(
            f"cost of node {array.argmax()} is {array.max()}; times {tree.n_leaves} leaves exceeds 64-bit sums; "
            "divide the costs or pass them as floats"
        )
    return immutable_array(array, np.int64 if is_integer else np.float64)
