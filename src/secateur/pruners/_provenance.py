"""The provenance of rules that minimise a cost: errors, squared errors, or one number per node from the caller."""

from typing import Any

from .._utils.arrays import ArrayLike, LongsOrFloats
from ..core import CostUnit, RuleProvenance, Sample

RELATIVE_TOLERANCE = 1e-12  # real costs tie if they differ by at most this share of the largest cost


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
