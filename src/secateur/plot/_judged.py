"""What figures of a judged tree share: the leaves of a model, one class of it, and the sample that judges."""

from dataclasses import dataclass

import numpy as np

from ..data.arrays import Array, Floats, Ints
from ..data.names import check_name
from ..errors import ParameterError, UnsupportedError
from ..nouns import Counts, Model, as_model
from ..show.view import view_of
from ..statistics.probabilities import node_probabilities


@dataclass(frozen=True)
class Judged:
    """The leaves of a classifying model: what each says of one class, and what a sample holds there."""

    leaves: Ints
    said: Floats
    positive: Array
    rows: Array
    class_name: str
    sample: str


def judged_leaves(model: object, positive: object = None, sample: Counts | None = None) -> Judged:
    """Return the leaves of a model with one class counted on a sample.

    Parameters
    ----------
    model : estimator or Model
    positive : str, optional
        The class, by its name; by default the last.
    sample : Counts, optional
        By default the held-out rows of the model, or those of growing if it has none.
    """
    found: Model = as_model(model, done="drawn")
    if not found.is_classifier:
        raise UnsupportedError("a regression tree has no classes to rank; draw its leaves with kind='leaves'")
    judge = sample if sample is not None else found.holdout if found.holdout is not None else found.grown
    if not isinstance(judge, Counts):
        raise ParameterError(f"sample is a {type(judge).__name__}; Counts are needed, as count returns")
    judge.check_fits(found.tree)
    names = view_of(found.tree, found.grown, n_classes=judge.n_classes).classes
    wanted = names[-1] if positive is None else str(positive)
    check_name("positive", wanted, names)
    c = names.index(wanted)
    leaves, grown = found.pruning.leaves, found.grown

    def counted(counts: Counts) -> Array:
        return counts.by_class[leaves, c] if c < counts.n_classes else np.zeros(len(leaves), np.int64)

    said = node_probabilities(found)[leaves, c] if c < grown.n_classes else np.zeros(len(leaves))
    return Judged(leaves, said, counted(judge), judge.total[leaves], names[c], judge.sample)
