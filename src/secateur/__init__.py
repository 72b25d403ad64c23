"""Grow decision trees and cut them back, with a certificate of their error."""

from importlib import import_module

__version__ = "0.2.0"

TYPE_CHECKING = (
    False  # type checkers take it for `typing.TYPE_CHECKING`; importing `typing` would slow down every start
)
if TYPE_CHECKING:
    from typing import Any

    from .analysis import alternatives
    from .certifiers import certified_split, certify, certify_groups, certify_predictions, compare_models
    from .core import Bound, Counts, Model, Moments, Pruning, PruningSequence, Selection, Tree
    from .data.encoding import encode
    from .data.table import Column, Schema, Table
    from .errors import SecateurError
    from .estimators import TreeClassifier, TreeRegressor, candidates, edit, load
    from .growers import grow
    from .inspection.text import export_rules, export_text
    from .interop import from_sklearn, path_sklearn, prune_sklearn, to_sklearn
    from .model_selection import cross_validate, select
    from .monitoring import Monitor
    from .pruners import prune
    from .report import write_report
    from .resampling import stability
    from .routing import count, count_groups
    from .updating import update

__all__ = [
    "Bound", "Column", "Counts", "Model", "Moments", "Monitor", "Pruning", "PruningSequence", "Schema", "SecateurError",
    "Selection", "Table", "Tree", "TreeClassifier", "TreeRegressor", "alternatives", "candidates", "certified_split",
    "certify", "certify_groups", "certify_predictions", "compare_models", "count", "count_groups", "cross_validate",
    "edit", "encode", "export_rules", "export_text", "from_sklearn", "grow", "load", "path_sklearn", "prune",
    "prune_sklearn", "select", "stability", "to_sklearn", "update", "write_report",
]  # fmt: skip

# The module of each public name. It is imported when the name is first used, so that `import secateur` is fast.
_NAMES_OF_MODULE = {
    "analysis": ["alternatives"],
    "certifiers": ["certified_split", "certify", "certify_groups", "certify_predictions", "compare_models"],
    "data.encoding": ["encode"],
    "data.table": ["Column", "Schema", "Table"],
    "errors": ["SecateurError"],
    "estimators": ["TreeClassifier", "TreeRegressor", "candidates", "edit", "load"],
    "growers": ["grow"],
    "interop": ["from_sklearn", "path_sklearn", "prune_sklearn", "to_sklearn"],
    "core": ["Bound", "Counts", "Model", "Moments", "Pruning", "PruningSequence", "Selection", "Tree"],
    "pruners": ["prune"],
    "report": ["write_report"],
    "resampling": ["stability"],
    "routing": ["count", "count_groups"],
    "model_selection": ["cross_validate", "select"],
    "monitoring": ["Monitor"],
    "updating": ["update"],
    "inspection.text": ["export_rules", "export_text"],
}
_MODULE_OF_NAME = {name: module for module, names in _NAMES_OF_MODULE.items() for name in names}
# Documented modules, which are imported when they are first used as attributes.
_MODULES = {
    name: name
    for name in (
        "analysis", "certifiers", "datasets", "engines", "errors", "estimators", "exports", "growers", "inspection",
        "interop", "model_selection", "modelfile", "monitoring", "plot", "pruners", "report", "resampling",
        "research", "routing", "updating",
    )
} | {
    "costs": "core.costs", "fold_assignment": "data.fold_assignment", "prediction": "routing.prediction",
    "text": "inspection.text",
}  # fmt: skip


def __getattr__(name: str) -> "Any":
    if name in _MODULE_OF_NAME:
        value = getattr(import_module(f"{__name__}.{_MODULE_OF_NAME[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f"{__name__}.{_MODULES[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF_NAME, *_MODULES})
