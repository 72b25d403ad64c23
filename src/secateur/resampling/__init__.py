"""Fit a model again on other rows, to find out what in it depends on the rows.

_stability    subsamples: agreement of predictions, splits near the top that return, sizes
"""

from typing import TYPE_CHECKING

from .._utils.lazy import lazy_getattr

if TYPE_CHECKING:
    from ..core.stability import SplitStability as SplitStability
    from ..core.stability import Stability as Stability
    from ._stability import stability as stability

__all__ = ["SplitStability", "Stability", "stability"]

__getattr__ = lazy_getattr(
    __name__,
    {
        "SplitStability": "..core.stability",
        "Stability": "..core.stability",
        "stability": "._stability",
    },
)
