"""Figures: each a small object with its data as attributes and a method that draws them.

A display is made from numbers or nouns, keeps what it will show as plain arrays, and draws on
`plot(ax=None)`, which sets `ax_` and `figure_` and returns the display. matplotlib is imported
when something is drawn, not before.

    TreeDisplay                  the tree: boxes, branches or an icicle, by its size
    LeavesDisplay                what is in each leaf
    LeafCalibrationDisplay       predicted and observed class shares of the leaves, with limits
    RankingDisplay               ROC, precision and recall, or lift, from counts
    ImportancesDisplay           importances of the columns
    PruningPathDisplay           error against size, on every sample
    SelectionDisplay             the errors a size was chosen by, with the 1-SE line
    RulesDisplay                 pruning rules compared: error on new rows against size
    CertificatesDisplay          certificates side by side
    BoundCurvesDisplay           certificates against the number of rows
    PruningProbabilityDisplay    how likely noise is pruned to one leaf, exactly
    NoiseBoundDisplay            the same as published, where it holds and where it fails

`plot(thing)` picks one by what it is given.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from .._utils.checks import check_name
from ..core import Bound, Counts, Model, Moments, Pruning, PruningSequence, Selection, Tree
from ..errors import UnsupportedError
from ._bars import ImportancesDisplay, LeavesDisplay
from ._comparison import BoundCurvesDisplay, CertificatesDisplay, RulesDisplay
from ._evaluation import LeafCalibrationDisplay, RankingDisplay
from ._noise import NoiseBoundDisplay, PruningProbabilityDisplay
from ._sequence import PruningPathDisplay, SelectionDisplay
from ._tree import TreeDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "BoundCurvesDisplay",
    "CertificatesDisplay",
    "ImportancesDisplay",
    "LeafCalibrationDisplay",
    "LeavesDisplay",
    "NoiseBoundDisplay",
    "PruningPathDisplay",
    "PruningProbabilityDisplay",
    "RankingDisplay",
    "RulesDisplay",
    "SelectionDisplay",
    "TreeDisplay",
    "plot",
]

_OF_MODELS: dict[str, Callable[..., Any]] = {
    "tree": TreeDisplay.from_model,
    "path": PruningPathDisplay.from_model,
    "selection": SelectionDisplay.from_model,
    "leaves": LeavesDisplay.from_model,
    "calibration": LeafCalibrationDisplay.from_model,
    "ranking": RankingDisplay.from_model,
    "importances": ImportancesDisplay.from_model,
}


Kind = Literal["tree", "path", "selection", "leaves", "calibration", "ranking", "importances"]


def plot(thing: object, ax: "Axes | None" = None, *, kind: Kind | None = None, **options: Any) -> Any:
    """Draw an object and return its display.

    Parameters
    ----------
    thing : estimator, Model, Tree, Counts, Moments, Pruning, PruningSequence, Selection, Bound or several Bounds
        A tree is drawn with `counts=`, a pruning too; counts are drawn on their own tree.
    ax : axes, optional
        A new figure by default.
    kind : "tree", "path", "selection", "leaves", "calibration", "ranking" or "importances", optional
        What to draw of an estimator or a model; by default the tree. For a tree, counts or a
        pruning, "leaves" draws the content of the leaves.
    **options
        Passed to the `from_...` method of the display.

    Returns
    -------
    object
        The display: `TreeDisplay`, `LeavesDisplay` or another of this module.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> plot(tree, counts=counts).ax_.texts[1].get_text().splitlines()[1]
    'no'
    """
    return _display(thing, kind, options).plot(ax)


def _display(thing: object, kind: str | None, options: dict[str, Any]) -> Any:
    if kind is not None:
        check_name("kind", kind, _OF_MODELS)
    if isinstance(getattr(thing, "model_", thing), Model):
        return _OF_MODELS[kind or "tree"](thing, **options)
    drawn = LeavesDisplay.from_tree if kind == "leaves" else TreeDisplay.from_tree
    if isinstance(thing, Tree):
        return drawn(thing, options.pop("counts", None), **options)
    if isinstance(thing, Counts | Moments):
        return drawn(thing.tree, thing, **options)
    if isinstance(thing, Pruning):
        return drawn(thing.tree, options.pop("counts", None), **{"pruning": thing, **options})
    if isinstance(thing, PruningSequence):
        return PruningPathDisplay.from_sequence(thing, *options.pop("samples", ()), **options)
    if isinstance(thing, Selection):
        return SelectionDisplay.from_selection(thing, **options)
    if isinstance(thing, Bound):
        return CertificatesDisplay.from_bounds([thing])
    if isinstance(thing, Iterable) and not isinstance(thing, str | bytes):
        listed = list(thing)
        if listed and all(isinstance(entry, Bound) for entry in listed):
            is_one_sample = len({entry.n for entry in listed}) == 1
            return (CertificatesDisplay if is_one_sample else BoundCurvesDisplay).from_bounds(listed)
    raise UnsupportedError(
        f"a {type(thing).__name__} cannot be drawn; a fitted estimator, Model, Tree, Counts, Pruning, "
        "PruningSequence, Selection or Bounds are needed"
    )
