"""The prunings of a fitted model that are about as good as the best, and the model of one of them."""

from dataclasses import replace

from ..analysis import Alternatives, alternatives
from ..core import Counts, Model, Pruning, Sample
from ..errors import Argument, CountsError, ParameterError, PruningError, UnsupportedError, show
from ..statistics.freshness import warn_of_shared_rows


def alternatives_of(
    model: Model, holdout: Sample | None = None, *, within: float = 0.01, max_leaves: int | None = None
) -> Alternatives:
    """Return the set of all prunings of a classifying model that are about as good as the best on held-out rows.

    Parameters
    ----------
    model : Model
    holdout : Counts, optional
        Counts of held-out rows; by default those of the model.
    within, max_leaves
        As for `secateur.alternatives`.

    Examples
    --------
    >>> from secateur import Counts, Model, Pruning, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[9, 1], [2, 8]])
    >>> held = Counts.from_leaves(tree, [[4, 1], [1, 3]], sample="prune")
    >>> model = Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown, held)
    >>> print(alternatives_of(model, within=2))
    2 prunings are within 22.2 percentage points (2 errors) of the best on 9 held-out rows, with 1 to 2 leaves
    """
    holdout = model.holdout if holdout is None else holdout
    if not isinstance(model.grown, Counts) or not isinstance(holdout, Counts | None):
        raise UnsupportedError(
            "the model predicts numbers; prunings within a budget can be counted only for whole-number costs: call "
            "secateur.alternatives with cost=, squared errors rounded to multiples of a unit"
        )
    if model.parameters.get("costs") is not None:
        raise UnsupportedError(
            "the tree was chosen by a matrix of costs, and this set counts errors; call secateur.alternatives with "
            "cost=, the cost of each node as a leaf in whole numbers"
        )
    if holdout is None:
        raise CountsError(
            "the model has no held-out rows, and on the growing rows the largest tree is the best; pass rows that did "
            "not grow the tree (",
            Argument("holdout"),
            ")",
        )
    warn_of_shared_rows(model.tree.history, holdout, "to compare prunings")
    return alternatives(
        model.tree, model.grown, holdout, within=within, max_leaves=max_leaves, labels=model.pruning.node_labels
    )


def with_pruning(model: Model, pruning: Pruning, holdout: Sample | None = None) -> Model:
    """Return the model with another pruning of its tree, without a certificate.

    Parameters
    ----------
    model : Model
    pruning : Pruning
        For example a member of `alternatives_of(model)`.
    holdout : Counts, optional
        The held-out sample that chose the pruning, in place of that of the model.

    Examples
    --------
    >>> from secateur import Counts, Model, Pruning, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[9, 1], [2, 8]])
    >>> model = Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> with_pruning(model, Pruning.from_cuts(tree, [0]))
    Model(1 of 2 leaves, 20 rows, not certified)
    """
    if not isinstance(pruning, Pruning):
        raise ParameterError(f"pruning={show(pruning)}; a Pruning is needed")
    if not pruning.tree.same_structure(model.tree):
        raise PruningError(f"the pruning is of another tree ({pruning.tree}, not {model.tree})")
    if pruning.node_labels is None:
        pruning = replace(pruning, node_labels=model.pruning.node_labels)
    holdout = model.holdout if holdout is None else holdout
    return replace(model, pruning=pruning, holdout=holdout, selection=None, certificate=None, group_rates=())
