"""Grow decision trees and cut them back, with a certificate of their error."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from .bound import Bound as Bound
    from .certifiers import certify as certify
    from .choice import Selection as Selection
    from .counts import Counts as Counts
    from .encoding import encode as encode
    from .errors import SecateurError as SecateurError
    from .estimators import TreeClassifier as TreeClassifier
    from .estimators import TreeRegressor as TreeRegressor
    from .estimators import load as load
    from .growers import grow as grow
    from .interop import from_sklearn as from_sklearn
    from .interop import path_sklearn as path_sklearn
    from .interop import prune_sklearn as prune_sklearn
    from .interop import to_sklearn as to_sklearn
    from .model import Model as Model
    from .moments import Moments as Moments
    from .pruners import prune as prune
    from .pruning import Pruning as Pruning
    from .report import write_report as write_report
    from .routing import count as count
    from .selection import cross_validate as cross_validate
    from .selection import select as select
    from .sequence import PruningSequence as PruningSequence
    from .table import Column as Column
    from .table import Schema as Schema
    from .table import Table as Table
    from .text import export_rules as export_rules
    from .text import export_text as export_text
    from .tree import Tree as Tree

# Where each public name lives; the module is imported when the name is first used, so
# that `import secateur` stays instant.
_HOME = {
    "Bound": "bound",
    "Column": "table",
    "Counts": "counts",
    "Model": "model",
    "Moments": "moments",
    "Pruning": "pruning",
    "PruningSequence": "sequence",
    "Schema": "table",
    "Selection": "choice",
    "SecateurError": "errors",
    "Table": "table",
    "Tree": "tree",
    "TreeClassifier": "estimators",
    "TreeRegressor": "estimators",
    "certify": "certifiers",
    "count": "routing",
    "cross_validate": "selection",
    "encode": "encoding",
    "export_rules": "text",
    "export_text": "text",
    "from_sklearn": "interop",
    "grow": "growers",
    "load": "estimators",
    "path_sklearn": "interop",
    "prune": "pruners",
    "prune_sklearn": "interop",
    "select": "selection",
    "to_sklearn": "interop",
    "write_report": "report",
}
_MODULES = (
    "analysis",
    "certifiers",
    "datasets",
    "engines",
    "errors",
    "estimators",
    "experiments",
    "exports",
    "fitting",
    "growers",
    "interop",
    "layout",
    "modelfile",
    "plot",
    "prediction",
    "pruners",
    "report",
    "routing",
    "selection",
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
