"""The pruned tree as text and as rules, with the parameters of `secateur.export_text` and `secateur.export_rules`."""

from typing import Any

from ..core import as_model
from ..inspection import text


def export_text(model: object, **parameters: Any) -> str:
    """Return a drawing of the pruned tree, one line for each branch and each leaf.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    **parameters
        Parameters of `secateur.export_text`.

    Examples
    --------
    >>> import secateur
    >>> print(export_text(secateur.grow([[1.0], [4.0]], ["no", "yes"]), feature_names=["size"]))
    |--- size <= 2
    |   |--- class: no (1 row, 0 errors)
    |--- size > 2
    |   |--- class: yes (1 row, 0 errors)
    """
    parts = as_model(model, done="exported")
    return text.export_text(parts.tree, parts.grown, **{"pruning": parts.pruning, **parameters})


def export_rules(model: object, **parameters: Any) -> str:
    """Return the pruned tree as rules, one line for each leaf.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    **parameters
        Parameters of `secateur.export_rules`.

    Examples
    --------
    >>> import secateur
    >>> print(export_rules(secateur.grow([[1.0], [4.0]], ["no", "yes"]), feature_names=["size"]))
    IF size <= 2 THEN no (1 row, error 0.0%)
    IF size > 2 THEN yes (1 row, error 0.0%)
    """
    parts = as_model(model, done="exported")
    return text.export_rules(parts.tree, parts.grown, **{"pruning": parts.pruning, **parameters})
