"""Growing: from a table to a tree that fits its sample.

`CRITERIA` names the splitting criteria. A new one is a branch in `_kernels/criteria.py`, one line here, one
test; what stands in its line is all that growing, the engines, the command and the tests need to know of it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..data.names import lazily

if TYPE_CHECKING:
    from ._grow import grow as grow


@dataclass(frozen=True)
class Criterion:
    """An entry of `CRITERIA`: the target a criterion is for, and how it is computed.

    Parameters
    ----------
    target : "class" or "number"
        What it measures the purity of.
    kernel : str
        Its name in `_kernels/criteria.py`; its own by default.
    is_ratio : bool
        Whether the gain is divided by the information of the split.
    is_streamed : bool
        Whether `_kernels/code_cuts.py` scores it from the sums of bins, as `engines.grow` needs.
    """

    target: Literal["class", "number"] = "class"
    kernel: str = ""
    is_ratio: bool = False
    is_streamed: bool = False


CRITERIA = {
    "gini": Criterion(is_streamed=True),
    "entropy": Criterion(is_streamed=True),
    "sqrt": Criterion(is_streamed=True),
    "sqrt_pairs": Criterion(),
    "error": Criterion(),
    "gain_ratio": Criterion(kernel="entropy", is_ratio=True),
    "squared_error": Criterion("number"),
}
__getattr__ = lazily(__name__, {"grow": "._grow"})
__all__ = ["CRITERIA", "Criterion", "grow"]
