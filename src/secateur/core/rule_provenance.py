"""Structured provenance of a pruning: which rule made it, from which cost, on which sample.

Every pruning rule fills one `RuleProvenance` and stores it in the `Pruning` or `PruningSequence` that it returns.
Programs read its fields. People read its `text`, which becomes `Pruning.rule` or `PruningSequence.rule`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from .._utils.checks import check_name

CostUnit = Literal[
    "none",
    "errors",
    "squared error",
    "m-estimate",
    "corrected errors",
    "estimated errors",
    "certified error",
    "split score",
    "expected cost",
    "deviance",
    "impurity",
    "other",
    "given",
]
AlphaUnit = Literal["none", "cost", "cost per row", "split score"]
COST_UNITS: tuple[CostUnit, ...] = get_args(CostUnit)
ALPHA_UNITS: tuple[AlphaUnit, ...] = get_args(AlphaUnit)


@dataclass(frozen=True)
class RuleProvenance:
    """Which pruning rule made a pruning, with its parameters and the cost that decided.

    Parameters
    ----------
    rule : str
        Name of the rule in `secateur.pruners.RULES`.
    parameters : dict
        Parameters of the call, as plain values.
    cost : str
        Unit of the cost that the rule compared: "errors", "squared error", "m-estimate" (an error per row of the whole
        sample), "corrected errors" (with half an error added for each leaf), "estimated errors" (an upper limit),
        "certified error", "split score", "expected cost" (of a cost matrix), "deviance" (log loss), "impurity" (Gini),
        "other" (a unit that only this rule has; its documentation states it), or "given" where the caller passed one
        number per node. "none" where no cost decided.
    sample : str
        Name of the sample on which the cost was computed; empty where the caller passed the cost.
    tolerance : float
        Costs tie if they differ by at most this share of the largest cost; 0 where costs are compared exactly.
    alpha_unit : str
        Unit of the `alphas` of a sequence: "cost", "cost per row" (the cost divided by the weight of the growing
        sample), or "split score". "none" where there are no alphas.
    edits : tuple of str
        Changes of the pruning after the rule, in order: "snip", "restore", "union", "intersection",
        "equal-predictions".
    text : str
        The rule and its parameters in words; the name of the rule by default.

    Examples
    --------
    >>> provenance = RuleProvenance("minimum-error", {"m": 2.0}, "m-estimate", "grow", text="minimum error, m = 2")
    >>> provenance.parameters["m"], provenance.cost, provenance.sample
    (2.0, 'm-estimate', 'grow')
    >>> provenance.with_edit("snip").edits
    ('snip',)
    """

    rule: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    cost: CostUnit = "none"
    sample: str = ""
    tolerance: float = 0.0
    alpha_unit: AlphaUnit = "none"
    edits: tuple[str, ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        check_name("cost", self.cost, COST_UNITS, alternative=" (other: a unit that only this rule has)")
        check_name("alpha_unit", self.alpha_unit, ALPHA_UNITS)
        parameters = {name: _plain_value(value) for name, value in self.parameters.items()}
        object.__setattr__(self, "parameters", parameters)
        object.__setattr__(self, "text", self.text or self.rule)

    def with_edit(self, edit: str) -> "RuleProvenance":
        """Return the provenance of the pruning after one more change."""
        return replace(self, edits=(*self.edits, edit))


def _plain_value(value: Any) -> Any:
    """Return a parameter without NumPy's types, so that a model file can hold it."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    return tuple(value) if isinstance(value, list) else value
