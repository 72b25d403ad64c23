"""Trees of other libraries, read, cut back and written: one file per neighbour.

Everything here is imported when first asked for, as the neighbours are heavy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._path import SklearnPath as SklearnPath
    from .sklearn import from_sklearn as from_sklearn
    from .sklearn import path_sklearn as path_sklearn
    from .sklearn import prune_sklearn as prune_sklearn
    from .sklearn import to_sklearn as to_sklearn

_HOME = {
    "SklearnPath": "_path",
    "from_sklearn": "sklearn",
    "path_sklearn": "sklearn",
    "prune_sklearn": "sklearn",
    "to_sklearn": "sklearn",
}

__all__ = sorted(_HOME)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
