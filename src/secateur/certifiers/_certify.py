"""certify: one verb for every certificate, and an honest "best" of them."""

from collections.abc import Sequence
from typing import Any

from ..bound import Bound
from ..counts import Counts
from ..errors import LeakageError, ParameterError, UnsupportedError
from ..pruning import Pruning
from ..sequence import PruningSequence
from ._checks import check_delta
from ._occam import occam
from ._pac_bayes import pac_bayes
from ._path import path
from ._rademacher import rademacher
from ._test_sample import test_sample

METHODS = ("best", "test-sample", "path", "occam", "rademacher", "pac-bayes")


def certify(
    pruning_or_sequence: Pruning | PruningSequence,
    counts: Counts,
    *,
    method: str = "best",
    delta: float = 0.05,
    grown: Counts | None = None,
    **parameters: Any,
) -> Any:
    """Return a certificate of the error of a pruning, or one for each member of a sequence.

    Parameters
    ----------
    pruning_or_sequence : Pruning or PruningSequence
    counts : Counts
        Whole counts of a sample that did not grow the tree.
    method : str
        "test-sample", "path", "occam", "rademacher", "pac-bayes", or "best".
    delta : float
        Failure probability of the whole answer.
    grown : Counts, optional
        Counts of the growing sample; methods that pay for a choice made on `counts` need it.
    **parameters
        Passed to the method; for "best" to the methods tried (`labels`, `original`, `rng`, `draws`,
        `lam`, `mu`, `weights`, `k`).

    Returns
    -------
    Bound, or list of Bound
        One per member for a sequence, valid for all members at once.

    Notes
    -----
    "best" does not look before it splits. A pruning that has not seen `counts` gets the test
    sample certificate, which no other can beat. Otherwise the methods below are tried at
    `delta` divided by their number, and the least bound is returned, stated at `delta`:

    - a pruning that has seen `counts`: Occam with the informed and with the uniform prior, and
      the Rademacher penalty of 10 draws (and the last two within `k` if `k` is given);
    - a sequence: the path, if it has not seen `counts`, and, if `grown` is given, Occam with the
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
    if not isinstance(pruning_or_sequence, Pruning | PruningSequence):
        raise UnsupportedError(
            f"a {type(pruning_or_sequence).__name__} was given; certify takes a Pruning or a PruningSequence"
        )
    if method not in METHODS:
        raise ParameterError(f"method={method!r}; one of {', '.join(map(repr, METHODS))} is needed")
    if method == "best":
        return _best(pruning_or_sequence, counts, delta, grown, parameters)
    return _one(method, pruning_or_sequence, counts, delta, grown, parameters)


def _one(
    method: str,
    asked: Pruning | PruningSequence,
    counts: Counts,
    delta: float,
    grown: Counts | None,
    parameters: dict[str, Any],
) -> Any:
    if method == "test-sample":
        if isinstance(asked, PruningSequence):
            raise ParameterError("method='test-sample' certifies one pruning; use method='path' for a sequence")
        return test_sample(asked, counts, delta=delta, **parameters)
    if method == "path":
        if isinstance(asked, Pruning):
            raise ParameterError("method='path' certifies a whole sequence; hand over the sequence the pruning is from")
        return path(asked, counts, delta=delta, **parameters)
    if grown is None:
        raise ParameterError(
            f"method={method!r} needs grown=, the counts of the growing sample: they say what it pays for"
        )
    if method == "pac-bayes":
        if isinstance(asked, PruningSequence):
            raise ParameterError("method='pac-bayes' certifies one pruning; use 'path' or 'occam' for a sequence")
        return pac_bayes(asked.tree, grown, counts, delta=delta, pruning=asked, **parameters)
    function = occam if method == "occam" else rademacher
    return function(asked.tree, grown, counts, delta=delta, pruning=asked, **parameters)


def _best(
    asked: Pruning | PruningSequence, counts: Counts, delta: float, grown: Counts | None, parameters: dict[str, Any]
) -> Any:
    unknown = set(parameters) - {"labels", "original", "rng", "draws", "lam", "mu", "weights", "k"}
    if unknown:
        raise ParameterError(f"method='best' does not know {', '.join(sorted(unknown))}")
    given = {name: value for name, value in parameters.items() if value is not None}
    is_fresh = counts.sample not in asked.seen
    if isinstance(asked, Pruning) and is_fresh:
        return test_sample(asked, counts, delta=delta)
    tried: list[tuple[str, dict[str, Any]]] = []
    if isinstance(asked, PruningSequence) and is_fresh:
        tried.append(("path", _only(given, "weights")))
    if grown is not None:
        how = _only(given, "labels", "original")
        tried.append(("occam", {"prior": "informed", **how, **_only(given, "lam", "mu")}))
        if isinstance(asked, Pruning):
            within = {"prior": "within-k"} if "k" in given else {"prior": "uniform"}
            tried.append(("occam", {**within, **how, **_only(given, "k")}))
            tried.append(("rademacher", {"draws": 10, **how, **_only(given, "rng", "draws", "k")}))
    if not tried:
        raise LeakageError(
            f"sample {counts.sample!r} has been seen already (seen: {', '.join(sorted(asked.seen))}); certify on "
            "a sample it has not seen, or pass grown= so that the choice can be paid for"
        )
    share = delta / len(tried)
    found = [_one(name, asked, counts, share, grown, more) for name, more in tried]
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
    return Bound(
        value=least.value,
        delta=delta,
        method=f"{least.method}, best of {len(bounds)}",
        n=least.n,
        errors=least.errors,
        complexity=least.complexity,
        sample=least.sample,
        details=details,
    )
