"""Grow decision trees and cut them back, with a certificate of their error."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bound import Bound as Bound
    from .certifiers import certify as certify
    from .counts import Counts as Counts
    from .encoding import encode as encode
    from .errors import SecateurError as SecateurError
    from .estimators import TreeClassifier as TreeClassifier
    from .growers import grow as grow
    from .pruners import prune as prune
    from .pruning import Pruning as Pruning
    from .routing import count as count
    from .sequence import PruningSequence as PruningSequence
    from .table import Column as Column
    from .table import Schema as Schema
    from .table import Table as Table
    from .text import export_rules as export_rules
    from .text import export_text as export_text
    from .tree import Tree as Tree

__version__ = "0.1.0"

# Where each public name lives; the module is imported when the name is first used, so
# that `import secateur` stays instant.
_HOME = {
    "Bound": "bound",
    "Column": "table",
    "Counts": "counts",
    "Pruning": "pruning",
    "PruningSequence": "sequence",
    "Schema": "table",
    "SecateurError": "errors",
    "Table": "table",
    "Tree": "tree",
    "TreeClassifier": "estimators",
    "certify": "certifiers",
    "count": "routing",
    "encode": "encoding",
    "export_rules": "text",
    "export_text": "text",
    "grow": "growers",
    "prune": "pruners",
}
_MODULES = (
    "analysis",
    "certifiers",
    "datasets",
    "errors",
    "estimators",
    "growers",
    "plot",
    "pruners",
    "routing",
    "text",
)

__all__ = sorted(_HOME)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
