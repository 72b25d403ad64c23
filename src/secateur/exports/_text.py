"""The tree that predicts as text; all words are those of `secateur.export_text`."""

from typing import Any

from ..nouns import as_model
from ..show import text


def export_text(model: object, **parameters: Any) -> str:
    """Return a drawing of the pruned tree, one line for each branch and each leaf.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    **parameters
        Of `secateur.export_text`.

    Examples
    --------
    >>> import secateur
    >>> print(export_text(secateur.grow([[1.0], [4.0]], ["no", "yes"]), feature_names=["size"]))
    |--- size <= 2
    |   |--- class: no (1 row, 0 errors)
    |--- size > 2
    |   |--- class: yes (1 row, 0 errors)
    """
    found = as_model(model, done="exported")
    return text.export_text(found.tree, found.grown, **{"pruning": found.pruning, **parameters})
