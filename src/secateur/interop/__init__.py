"""Read, prune and write the trees of other libraries; one module per library.

Names are imported when they are first used, because the other libraries are slow to import.
"""

from typing import TYPE_CHECKING

from .._utils.lazy import lazy_getattr

if TYPE_CHECKING:
    from ._path import SklearnPath as SklearnPath
    from .sklearn import from_sklearn as from_sklearn
    from .sklearn import path_sklearn as path_sklearn
    from .sklearn import prune_sklearn as prune_sklearn
    from .sklearn import to_sklearn as to_sklearn

__all__ = ["SklearnPath", "from_sklearn", "path_sklearn", "prune_sklearn", "to_sklearn"]

__getattr__ = lazy_getattr(__name__, dict.fromkeys(__all__, ".sklearn"))
