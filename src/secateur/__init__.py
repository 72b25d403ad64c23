"""Grow decision trees and cut them back, with a certificate of their error."""

from importlib import import_module

__version__ = "0.1.0"

TYPE_CHECKING = False  # that of `typing`, which is the better part of starting a command
if TYPE_CHECKING:
    from typing import Any

    from .certifiers import certify as certify
    from .data.encoding import encode as encode
    from .data.table import Column as Column
    from .data.table import Schema as Schema
    from .data.table import Table as Table
    from .errors import SecateurError as SecateurError
    from .estimators import TreeClassifier as TreeClassifier
    from .estimators import TreeRegressor as TreeRegressor
    from .estimators import load as load
    from .growers import grow as grow
    from .interop import (
        from_sklearn as from_sklearn,
    )
    from .interop import (
        path_sklearn as path_sklearn,
    )
    from .interop import (
        prune_sklearn as prune_sklearn,
    )
    from .interop import (
        to_sklearn as to_sklearn,
    )
    from .nouns import (
        Bound as Bound,
    )
    from .nouns import (
        Counts as Counts,
    )
    from .nouns import (
        Model as Model,
    )
    from .nouns import (
        Moments as Moments,
    )
    from .nouns import (
        Pruning as Pruning,
    )
    from .nouns import (
        PruningSequence as PruningSequence,
    )
    from .nouns import (
        Selection as Selection,
    )
    from .nouns import (
        Tree as Tree,
    )
    from .pruners import prune as prune
    from .report import write_report as write_report
    from .routing import count as count
    from .selection import cross_validate as cross_validate
    from .selection import select as select
    from .show.text import export_rules as export_rules
    from .show.text import export_text as export_text

# Where each public name lives; the module is imported when the name is first used, so
# that `import secateur` stays instant.
_HOMES = {
    "certifiers": ["certify"],
    "data.encoding": ["encode"],
    "data.table": ["Column", "Schema", "Table"],
    "errors": ["SecateurError"],
    "estimators": ["TreeClassifier", "TreeRegressor", "load"],
    "growers": ["grow"],
    "interop": ["from_sklearn", "path_sklearn", "prune_sklearn", "to_sklearn"],
    "nouns": ["Bound", "Counts", "Model", "Moments", "Pruning", "PruningSequence", "Selection", "Tree"],
    "pruners": ["prune"],
    "report": ["write_report"],
    "routing": ["count"],
    "selection": ["cross_validate", "select"],
    "show.text": ["export_rules", "export_text"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
# Documented modules: reachable as attributes without importing them first.
_MODULES = {
    name: name
    for name in (
        "analysis", "asking", "certifiers", "datasets", "engines", "errors", "estimators", "experiments", "exports",
        "fitting", "growers", "interop", "modelfile", "plot", "prediction", "pruners", "report", "routing", "selection",
    )
} | {"costs": "nouns.costs", "dealing": "data.dealing", "text": "show.text"}  # fmt: skip

__all__ = sorted(_HOME)  # noqa: PLE0605


def __getattr__(name: str) -> "Any":
    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f"{__name__}.{_MODULES[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
