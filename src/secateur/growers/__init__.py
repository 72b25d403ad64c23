"""Growing: from a table to a tree that fits its sample.

`CRITERIA` names the splitting criteria. CONTRIBUTING.md says what a new one needs; what stands in its line here
is all that growing, the engines, the command, the reference and the tests need to know of it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .._utils.lazy import lazy_getattr

if TYPE_CHECKING:
    from ._grow import grow as grow


@dataclass(frozen=True)
class Criterion:
    """An entry of `CRITERIA`: the target a criterion is for, and how it is computed.

    Parameters
    ----------
    formula : str
        The impurity of a node, for its class shares p, or what takes its place.
    target : "class" or "number"
        What it measures the purity of.
    kernel : str
        Its name in `_kernels/criteria.py`; its own by default.
    is_ratio : bool
        Whether the gain is divided by the information of the split.
    is_streamed : bool
        Whether `_kernels/code_splits.py` scores it from the sums of bins, as `engines.grow` needs.
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
