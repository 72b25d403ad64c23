"""certify: one verb for every certificate, and an honest "best" of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

from .._utils.checks import check_name
from ..core import Bound, Counts, Pruning, PruningSequence
from ..errors import Argument, ParameterError, UnsupportedError
from ..statistics.tails import check_delta
from . import METHODS
from ._fresh import Asked, freshness, place_in
from ._path import path
from ._test_sample import test_sample


@overload
def certify(pruning_or_sequence: Pruning, counts: Counts, **options: Any) -> Bound: ...
@overload
def certify(
    pruning_or_sequence: PruningSequence | Sequence[Pruning], counts: Counts, **options: Any
) -> list[Bound]: ...
def certify(
    pruning_or_sequence: Pruning | PruningSequence | Sequence[Pruning],
    counts: Counts,
    *,
    method: str = "best",
    delta: float = 0.05,
    grown: Counts | None = None,
    sequence: PruningSequence | None = None,
    repeated: bool = False,
    **parameters: Any,
) -> Any:
    """Return a certificate of the error of a pruning, or one for each member of a sequence.

    Parameters
    ----------
    pruning_or_sequence : Pruning, PruningSequence or list of Pruning
        The bounds of a list hold all at once.
    counts : Counts
        Whole counts of a sample that did not grow the tree.
    method : str
        A name of `secateur.certifiers.METHODS`, or "best".
    delta : float
        Probability that any of the bounds may fail.
    grown : Counts, optional
        Counts of the growing sample; methods that pay for a choice made on `counts` need it.
    sequence : PruningSequence, optional
        The sequence that a pruning is a member of; "path" and "best" then pay for the choice of it.
    repeated : bool
        Whether weights count independent rows with equal values: a row of weight 3 stands for
        three rows. By default, weighted rows are refused.
    **parameters
        Passed to the method; for "best" to the methods tried (`labels`, `original`, `rng`, `draws`,
        `lam`, `mu`, `weights`, `k`).

    Returns
    -------
    Bound, or list of Bound
        One per member for a sequence, valid for all members at once. `Bound.freshness` tells
        which samples the rows were compared with.

    Raises
    ------
    LeakageError
        If the rows grew the tree; or if they pruned or chose it, or were looked at on the way, and the
        method does not pay for that. Rows are recognised by a sketch, whatever the sample is called.

    Notes
    -----
    "best" decides which methods to try before it computes them. If `counts` had no part in choosing the
    pruning, it uses the test sample certificate, which is the lowest. For a member of a sequence that
    `counts` did not shape, it uses the path. Otherwise it tries the methods below at `delta` divided by
    their number and returns the lowest bound, stated at `delta`:

    - a pruning that `counts` helped to choose: Occam with the informed and with the uniform prior, and
      the Rademacher penalty of 10 draws (and the last two within `k` if `k` is given);
    - a sequence: the path, if `counts` did not shape it, and, if `grown` is given, Occam with the
      informed prior.

    Examples
    --------
    >>> from secateur import Counts, Pruning, Tree
    >>> from secateur.certifiers import certify
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[50, 0], [0, 50]])
    >>> held = Counts.from_leaves(tree, [[90, 10], [10, 90]], sample="prune")
    >>> pruning = Pruning.from_cuts(tree, [], node_labels=grown.majority, seen={"grow"})
    >>> certify(pruning, held).method
    'test sample, exact tail'
    >>> chosen = Pruning.from_cuts(tree, [], node_labels=grown.majority, seen={"grow", "prune"})
    >>> round(certify(chosen, held, grown=grown).value, 3)
    0.162
    """
    delta = check_delta(delta)
    check_name("method", method, ("best", *METHODS))
    unknown = set(parameters) - {"labels", "original", "rng", "draws", "lam", "mu", "weights", "k"}
    if method == "best" and unknown:
        raise ParameterError(f"method='best' has no parameter {', '.join(sorted(unknown))}")
    asked: Asked = pruning_or_sequence
    if isinstance(asked, list | tuple) and asked and all(isinstance(one, Pruning) for one in asked):
        if method not in ("best", "path"):
            raise ParameterError(
                Argument("method", method), " certifies one pruning or a sequence; for a list use 'path'"
            )
        more = _only(parameters, "weights") if method == "best" else parameters
        return METHODS["path"].run(asked, counts, delta=delta, repeated=repeated, **more)
    if not isinstance(asked, Pruning | PruningSequence):
        raise UnsupportedError(
            f"a {type(asked).__name__} was given; certify takes a Pruning, a list of them, or a PruningSequence"
        )
    common = {"repeated": repeated}
    if method == "best":
        return _best(asked, counts, delta, grown, sequence, common, parameters)
    return _one(method, asked, counts, delta, grown, sequence, common | parameters)


def _one(
    method: str,
    asked: Pruning | PruningSequence,
    counts: Counts,
    delta: float,
    grown: Counts | None,
    sequence: PruningSequence | None,
    parameters: dict[str, Any],
) -> Any:
    how = METHODS[method]
    if isinstance(asked, PruningSequence) and "sequence" not in how.takes:
        able = ", ".join(repr(name) for name, one in METHODS.items() if "sequence" in one.takes)
        raise ParameterError(Argument("method", method), f" certifies one pruning; for a sequence use {able}")
    if how.pays:
        if grown is None:
            raise ParameterError(
                Argument("method", method), " needs ", Argument("grown"), ", the counts of the growing sample"
            )
        return how.run(asked.tree, grown, counts, delta=delta, pruning=asked, **parameters)
    if isinstance(asked, PruningSequence) or "pruning" in how.takes:
        return how.run(asked, counts, delta=delta, **parameters)
    if sequence is None:
        raise ParameterError(
            Argument("method", method),
            " certifies a whole sequence; pass the sequence the pruning is from, or pass ",
            Argument("sequence"),
        )
    member = place_in(sequence, asked)
    if member is None:
        raise ParameterError(Argument("method", method), ": the pruning is not a member of the sequence")
    return how.run(sequence, counts, delta=delta, **parameters)[member]


def _best(
    asked: Pruning | PruningSequence,
    counts: Counts,
    delta: float,
    grown: Counts | None,
    sequence: PruningSequence | None,
    common: dict[str, Any],
    parameters: dict[str, Any],
) -> Any:
    given = {name: value for name, value in parameters.items() if value is not None}
    known = freshness(asked, counts)
    if isinstance(asked, Pruning):
        if known.is_fresh:
            return test_sample(asked, counts, delta=delta, **common)
        for members in (sequence, known.sequence):
            place = None if members is None else place_in(members, asked)
            if members is not None and place is not None and freshness(members, counts).is_fresh:
                return path(members, counts, delta=delta, **common, **_only(given, "weights"))[place]
    tried: list[tuple[str, dict[str, Any]]] = []
    if isinstance(asked, PruningSequence) and known.is_fresh:
        tried.append(("path", _only(given, "weights")))
    if grown is not None:
        how = _only(given, "labels", "original")
        tried.append(("occam", {"prior": "informed", **how, **_only(given, "lam", "mu")}))
        if isinstance(asked, Pruning):
            within = {"prior": "within-k"} if "k" in given else {"prior": "uniform"}
            tried.append(("occam", {**within, **how, **_only(given, "k")}))
            tried.append(("rademacher", {"draws": 10, **how, **_only(given, "rng", "draws", "k")}))
    if not tried:
        known.checked()
    share = delta / len(tried)
    found = [_one(name, asked, counts, share, grown, None, common | more) for name, more in tried]
    if isinstance(asked, Pruning):
        return _least_of(found, delta)
    return [_least_of(bounds, delta) for bounds in zip(*found, strict=True)]


def _only(parameters: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: parameters[name] for name in names if name in parameters}


def _least_of(bounds: Sequence[Bound], delta: float) -> Bound:
    """The least bound, each proved at a share of delta, stated at delta; a tie goes to the first."""
    least = min(bounds, key=lambda bound: bound.value)
    if len(bounds) == 1:
        return least
    details = {**least.details, "share_of_delta": least.delta, "tried": {b.method: b.value for b in bounds}}
    return replace(least, delta=delta, method=f"{least.method}, best of {len(bounds)}", details=details)
