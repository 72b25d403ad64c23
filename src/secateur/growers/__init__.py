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
    """An entry of `CRITERIA`: the kind of target that a splitting criterion is for, and how the kernels compute it.

    Parameters
    ----------
    formula : str
        The impurity of a node: a formula of its class shares p, or a description.
    target : "class" or "number"
        The kind of target that the criterion is for.
    impurity : str
        Name of the impurity function in `_kernels/criteria.py`; empty if it is the name of the criterion.
    is_ratio : bool
        Whether the gain is divided by the information of the split.
    is_streamed : bool
        Whether `engines.grow` supports the criterion: `_kernels/bin_splits.py` then scores splits from bin counts.
    """

    formula: str
    target: Literal["class", "number"] = "class"
    impurity: str = ""
    is_ratio: bool = False
    is_streamed: bool = False


CRITERIA = {
    "gini": Criterion("sum of p (1 - p)", is_streamed=True),
    "entropy": Criterion("half the sum of -p log2 p", is_streamed=True),
    "sqrt": Criterion("half the sum of sqrt(p (1 - p))", is_streamed=True),
    "sqrt_pairs": Criterion("sum of sqrt(p q) over pairs of classes"),
    "error": Criterion("1 - the largest p"),
    "gain_ratio": Criterion("that of entropy", impurity="entropy", is_ratio=True),
    "squared_error": Criterion("variance of the target", "number"),
}
__getattr__ = lazy_getattr(__name__, {"grow": "._grow"})
__all__ = ["CRITERIA", "Criterion", "grow"]
