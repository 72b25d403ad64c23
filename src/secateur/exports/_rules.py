"""The tree that predicts as rules; all words are those of `secateur.export_rules`."""

from typing import Any

from ..nouns import as_model
from ..show import text


def export_rules(model: object, **parameters: Any) -> str:
    """Return the pruned tree as rules, one line for each leaf.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    **parameters
        Of `secateur.export_rules`.

    Examples
    --------
    >>> import secateur
    >>> print(export_rules(secateur.grow([[1.0], [4.0]], ["no", "yes"]), feature_names=["size"]))
    IF size <= 2 THEN no (1 row, error 0.0%)
    IF size > 2 THEN yes (1 row, error 0.0%)
    """
    found = as_model(model, done="exported")
    return text.export_rules(found.tree, found.grown, **{"pruning": found.pruning, **parameters})
