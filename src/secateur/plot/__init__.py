"""Figures of trees, prunings and bounds: each is an object with its data as attributes and a method that draws them.

A display stores the numbers it shows as plain arrays. `plot(ax=None)` draws them, sets `ax_` and `figure_`, and
returns the display. matplotlib is imported only when a figure is drawn.

    TreeDisplay                  the tree: boxes, branches or an icicle, by its size
    LeavesDisplay                classes or mean of each leaf
    LeafCalibrationDisplay       predicted and observed class shares of the leaves, with limits
    RankingDisplay               ROC, precision and recall, or lift, from counts
    ImportancesDisplay           importances of the columns
    PruningPathDisplay           error against size, on every sample
    SelectionDisplay             the errors by which a size was chosen, with the 1-SE line
    RulesDisplay                 pruning rules compared: error on new rows against size
    CertificatesDisplay          certificates side by side
    BoundCurvesDisplay           certificates against the number of rows
    MonitorDisplay               evidence against a certificate over the rows that arrive, and for each leaf
    AlternativesDisplay          a pruning, coloured by how many equally good prunings agree with each split
    ChangesDisplay               error on new rows against the number of changes of a deployed tree
    StabilityDisplay             how often splits return in trees of subsamples, and their sizes
    PruningProbabilityDisplay    exact probability that noise is pruned to one leaf
    NoiseBoundDisplay            a published bound on that probability, and where it fails

`plot(thing)` chooses the display by the type of its argument.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from .._utils.checks import check_name
from ..analysis import Alternatives
from ..core import Bound, Counts, Model, Moments, Pruning, PruningSequence, Selection, Tree
from ..core.stability import Stability
from ..errors import UnsupportedError
from ..pruners import ChangeFront
from ..statistics.monitor_status import MonitorStatus
from ._alternatives import AlternativesDisplay
from ._bars import ImportancesDisplay, LeavesDisplay
from ._changes import ChangesDisplay
from ._comparison import BoundCurvesDisplay, CertificatesDisplay, RulesDisplay
from ._evaluation import LeafCalibrationDisplay, RankingDisplay
from ._monitoring import MonitorDisplay
from ._noise import NoiseBoundDisplay, PruningProbabilityDisplay
from ._sequence import PruningPathDisplay, SelectionDisplay
from ._stability import StabilityDisplay
from ._tree import TreeDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "AlternativesDisplay",
    "BoundCurvesDisplay",
    "CertificatesDisplay",
    "ChangesDisplay",
    "ImportancesDisplay",
    "LeafCalibrationDisplay",
    "LeavesDisplay",
    "MonitorDisplay",
    "NoiseBoundDisplay",
    "PruningPathDisplay",
    "PruningProbabilityDisplay",
    "RankingDisplay",
    "RulesDisplay",
    "SelectionDisplay",
    "StabilityDisplay",
    "TreeDisplay",
    "plot",
]

_MODEL_DISPLAYS: dict[str, Callable[..., Any]] = {
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
    thing : estimator, Model, Tree, Counts, Moments, Pruning, PruningSequence, Selection, Monitor, Update, Stability, \
    Alternatives, Bound, Bounds
        The object to draw. A tree or a pruning is drawn with the sample `counts=`; counts are drawn in their own tree.
    ax : axes, optional
        The axes to draw on; a new figure by default.
    kind : "tree", "path", "selection", "leaves", "calibration", "ranking" or "importances", optional
        The display of an estimator or a model; by default the tree. For a tree, counts or a
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
    """Return the display for the type of `thing`."""
    if kind is not None:
        check_name("kind", kind, _MODEL_DISPLAYS)
    if isinstance(getattr(thing, "model_", thing), Model):
        return _MODEL_DISPLAYS[kind or "tree"](thing, **options)
    if isinstance(thing, Tree | Counts | Moments | Pruning):
        return _tree_display(thing, kind, options)
    if isinstance(thing, PruningSequence):
        return PruningPathDisplay.from_sequence(thing, *options.pop("samples", ()), **options)
    if isinstance(thing, Selection):
        return SelectionDisplay.from_selection(thing, **options)
    status: Any = getattr(thing, "status", thing)  # of a monitor, whose class is in a layer above this one
    status = status() if callable(status) else status
    if isinstance(status, MonitorStatus):
        return MonitorDisplay.from_status(status, **options)
    front: Any = getattr(thing, "front", thing)  # of an update, whose class is in a layer above this one
    if isinstance(front, ChangeFront):
        choice = {name: getattr(thing, name) for name in ("cv_errors", "chosen") if front is not thing}
        return ChangesDisplay.from_front(front, **{**choice, **options})
    if isinstance(thing, Stability):
        return StabilityDisplay.from_stability(thing, **options)
    if isinstance(thing, Alternatives):
        return AlternativesDisplay.from_alternatives(thing, **options)
    bounds = _as_bounds(thing)
    if bounds:
        is_one_sample = len({bound.n for bound in bounds}) == 1
        return (CertificatesDisplay if is_one_sample else BoundCurvesDisplay).from_bounds(bounds)
    raise UnsupportedError(
        f"a {type(thing).__name__} cannot be drawn; a fitted estimator, Model, Tree, Counts, Pruning, "
        "PruningSequence, Selection, Monitor, Update, Stability, Alternatives or Bounds are needed"
    )


def _tree_display(thing: Tree | Counts | Moments | Pruning, kind: str | None, options: dict[str, Any]) -> Any:
    """Return the display of a tree, of the tree of a sample, or of a pruned tree."""
    from_tree = LeavesDisplay.from_tree if kind == "leaves" else TreeDisplay.from_tree
    if isinstance(thing, Tree):
        return from_tree(thing, options.pop("counts", None), **options)
    if isinstance(thing, Pruning):
        return from_tree(thing.tree, options.pop("counts", None), **{"pruning": thing, **options})
    return from_tree(thing.tree, thing, **options)


def _as_bounds(thing: object) -> list[Bound]:
    """Return one bound, or an iterable of bounds, as a list; empty for anything else."""
    if isinstance(thing, Bound):
        return [thing]
    if not isinstance(thing, Iterable) or isinstance(thing, str | bytes):
        return []
    entries = list(thing)
    return entries if all(isinstance(entry, Bound) for entry in entries) else []
