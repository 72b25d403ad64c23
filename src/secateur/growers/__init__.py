"""Grow a tree on rows with a target.

`CRITERIA` lists the splitting criteria. Growing, the engines, the command line, the reference and the tests read this
table; CONTRIBUTING.md describes how to add a criterion. `GrowParameters` in `parameters.py` declares the parameters.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .._utils.lazy import lazy_getattr

if TYPE_CHECKING:
    from ._grow import grow as grow


@dataclass(frozen=True)
class Criterion:
    """An entry of `CRITERIA`: the kind of target that a criterion is for, and how it is computed.

    Parameters
    ----------
    formula : str
        The impurity of a node as a function of its class shares p, in words; for numbers, of the target.
    target : "class" or "number"
    kernel : str
        Name of the criterion in `_kernels/criteria.py`; by default its name in `CRITERIA`.
    is_ratio : bool
        Whether the gain is divided by the information of the split.
    is_streamed : bool
        Whether `_kernels/code_splits.py` can score splits by the criterion from the class counts of bins, as growing
        out of core needs.
    """

    formula: str
    target: Literal["class", "number"] = "class"
    kernel: str = ""
    is_ratio: bool = False
    is_streamed: bool = False


CRITERIA = {
    "gini": Criterion("sum of p (1 - p)", is_streamed=True),
    "entropy": Criterion("half the sum of -p log2 p", is_streamed=True),
    "sqrt": Criterion("half the sum of sqrt(p (1 - p))", is_streamed=True),
    "sqrt_pairs": Criterion("sum of sqrt(p q) over pairs of classes"),
    "error": Criterion("1 - the largest p"),
    "gain_ratio": Criterion("that of entropy", kernel="entropy", is_ratio=True),
    "squared_error": Criterion("variance of the target", "number"),
}
__getattr__ = lazy_getattr(__name__, {"grow": "._grow"})
__all__ = ["CRITERIA", "Criterion", "grow"]
