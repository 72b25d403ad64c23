"""path_table: the errors of all members of a sequence as columns."""

import numpy as np

from .._utils.arrays import Array
from ..core import Counts, Model, Sample
from ._certify_model import certify_if_fresh
from ._prune_model import selection_with_errors, sequence_of


def path_table(model: Model, holdout: Sample | None = None, *, delta: float = 0.05) -> dict[str, Array]:
    """Return the errors of every member of the model's sequence as a table.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.model_selection import Recipe, fit_model, path_table
    >>> model = fit_model(encode([[0.0], [1.0], [2.0]], target=["a", "a", "b"]), Recipe(prune=None))
    >>> {name: values.tolist() for name, values in path_table(model).items() if name != "alpha"}
    {'leaves': [2, 1], 'growing': [0.0, 0.3333333333333333], 'shown': [True, False]}
    """
    sequence = sequence_of(model)
    table: dict[str, Array] = {"leaves": sequence.n_leaves}
    if sequence.alphas is not None:
        table["alpha"] = sequence.alphas
    table["growing"] = sequence.rates_on(model.grown, model.grown)
    selection = selection_with_errors(model, sequence)
    if selection is not None and selection.sample == "cross-validation":
        table["cross_validated"], table["standard_error"] = selection.error, selection.se
    if holdout is not None:
        table["held_out"] = sequence.rates_on(holdout, model.grown)
    if isinstance(holdout, Counts) and not holdout.is_weighted:
        bounds = certify_if_fresh(sequence, holdout, delta)
        if bounds:
            table["certified"] = np.array([bound.value for bound in bounds])
    member = sequence.index_of(model.pruning)
    table["shown"] = np.arange(len(sequence)) == (-1 if member is None else member)
    return table
