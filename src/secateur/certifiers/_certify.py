"""certify: one function for every certificate, and a choice of the best that pays for having tried several."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

from .._utils.checks import check_name
from ..core import Bound, Counts, Moments, Pruning, PruningSequence, Sample, SampleUsage
from ..errors import Argument, ParameterError, UnsupportedError
from ..statistics.freshness import Freshness, compare_samples
from ..statistics.repeats import RepeatRule, Repeats
from ..statistics.tails import check_delta
from . import METHODS, METHODS_FOR_NUMBERS
from ._fresh import check_kinds, freshness, index_in
from ._groups import GroupError, check_group_error


@overload
def certify(pruning_or_sequence: Pruning, counts: Sample, **options: Any) -> Bound: ...
@overload
def certify(
    pruning_or_sequence: PruningSequence | Sequence[Pruning], counts: Counts, **options: Any
) -> list[Bound]: ...
def certify(
    pruning_or_sequence: Pruning | PruningSequence | Sequence[Pruning],
    counts: Sample,
    *,
    method: str = "best",
    delta: float = 0.05,
    grown: Sample | None = None,
    sequence: PruningSequence | None = None,
    repeated: bool = False,
    repeats: Repeats | RepeatRule = "errors",
    group_error: GroupError = "share",
    **parameters: Any,
) -> Any:
    """Return a certificate of the error of a pruning, or one certificate per member of a sequence.

    Parameters
    ----------
    pruning_or_sequence : Pruning, PruningSequence or list of Pruning
        What is certified. All bounds of a list or a sequence hold at once.
    counts : Counts or Moments
        Integer counts of a sample that did not grow the tree; for a regression tree its moments.
    method : str
        A name of `secateur.certifiers.METHODS`, or "best". For a regression tree "absolute-error", which is its
        "best", or "squared-error".
    delta : float
        Probability, over samples, that any of the bounds is too low.
    grown : Counts, optional
        Counts of the growing sample; methods that pay for a choice made on `counts` need it. For a regression tree its
        moments, which contain the predictions.
    sequence : PruningSequence, optional
        The sequence that the pruning is a member of. "path" and "best" can then pay for the choice of the member.
    repeated : bool
        Whether weights count independent rows with equal values, so that a row of weight 3 stands for three rows. By
        default, weighted rows are refused.
    repeats : "errors", "independent" or Repeats
        How to treat rows of the sample that repeat another row of it, or a row of a sample that shaped the tree.
        "errors": they count as errors if they may be copies. The numbers of rows that occur once, twice and so on
        decide this. "independent": you state that equal rows are independent draws; the certificate then names this
        assumption. A `secateur.statistics.repeats.Repeats` is the result of an earlier examination.
    group_error : "share" or "any"
        For a sample with groups (`groups=` of `count`), which then are the independent draws: the loss of a group.
        "share": its share of wrong rows, so that the certificate is about a random row of a random new group. "any": 1
        if any of its rows is wrong, so that it is about the share of new groups with an error.
    **parameters
        Parameters of the method. A regression tree needs `target_range` or `max_residual`, a range that you state
        without looking at the sample; see `secateur.certifiers.absolute_error`. For classes with "best": `labels`,
        `original`, `rng`, `draws`, `lam`, `mu`, `weights` and `k`, which are passed to the methods that are tried.

    Returns
    -------
    Bound, or list of Bound
        One per member for a sequence or a list. `Bound.freshness` states with which samples the rows were compared.

    Raises
    ------
    LeakageError
        If the rows grew the tree. Also if the rows pruned or chose the tree, or may have chosen it because they were
        evaluated on other prunings, and the method does not pay for a choice. Rows are recognised by sketches, so
        the name of the sample does not matter.

    Notes
    -----
    "best" decides which methods to try before any bound is computed. If `counts` had no part in choosing the pruning,
    it uses the test sample certificate, which is the lowest. For a member of a sequence that was made without
    `counts`, it uses the path. Otherwise it tries the methods below, each at `delta` divided by their number, and
    returns the lowest bound, stated at `delta`:

    - a pruning that `counts` helped to choose: Occam with the informed and with the uniform prior, and
      the Rademacher penalty of 10 draws, unless the sample has groups (and the last two within `k` if `k` is given);
    - a sequence: the path, if the sequence was made without `counts`; and, if `grown` is given, Occam with the
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
    if isinstance(counts, Moments):
        if repeated:
            raise ParameterError(
                Argument("repeated", True), " is for classes; pass the rows of a regression one by one"
            )
        row_options = {"delta": delta, "repeats": repeats, "group_error": group_error}
        return _certify_numbers(pruning_or_sequence, counts, method, grown, {**row_options, **parameters})
    if method in METHODS_FOR_NUMBERS:
        raise UnsupportedError(
            Argument("method", method), " certifies a regression tree, from the moments of a sample; these are counts"
        )
    if method == "best":
        _check_parameters_of_best(parameters)
    if _is_list_of_prunings(pruning_or_sequence):
        if method not in ("best", "path"):
            raise ParameterError(
                Argument("method", method), " certifies one pruning or a sequence; for a list use 'path'"
            )
        path_parameters = _select(parameters, "weights") if method == "best" else parameters
        prunings: Sequence[Pruning] = pruning_or_sequence  # type: ignore[assignment]
        with prunings[0].tree.evaluation_log.lock:
            return METHODS["path"].run(
                prunings, counts, delta=delta, repeated=repeated, repeats=repeats, group_error=group_error,
                **path_parameters,
            )  # fmt: skip
    if not isinstance(pruning_or_sequence, Pruning | PruningSequence):
        raise UnsupportedError(
            f"a {type(pruning_or_sequence).__name__} was given; certify takes a Pruning, a list of them, or a "
            "PruningSequence"
        )
    grown_counts = grown if isinstance(grown, Counts) else None
    request = _Request(pruning_or_sequence, counts, delta, grown_counts, sequence, repeated, repeats, group_error)
    # No other thread may evaluate the sample between the check that its rows are fresh and the record of their use.
    with pruning_or_sequence.tree.evaluation_log.lock:
        return _certify_best(request, parameters) if method == "best" else _certify_by(method, request, parameters)


def _certify_numbers(
    pruning: Any, moments: Moments, method: str, grown: Sample | None, parameters: dict[str, Any]
) -> Bound:
    """Return the certificate of the mean loss of a regression tree."""
    name = "absolute-error" if method == "best" else method
    if name not in METHODS_FOR_NUMBERS:
        raise UnsupportedError(
            Argument("method", method),
            f" certifies error rates of classes; the mean loss of numbers is certified by "
            f"{' or '.join(METHODS_FOR_NUMBERS)}",
        )
    pruning = check_kinds(pruning, moments, Moments)
    if "values" not in parameters:
        if not isinstance(grown, Moments):
            raise ParameterError(
                Argument("method", name),
                " needs ",
                Argument("grown"),
                ", the moments of the growing sample, whose means are the predictions",
            )
        grown.check_fits(pruning.tree)
        parameters = {"values": grown.mean, **parameters}
    bound: Bound = METHODS[name].run(pruning, moments, **parameters)
    return bound


@dataclass(frozen=True)
class _Request:
    """The arguments of `certify` that all methods share."""

    pruning: Pruning | PruningSequence
    counts: Counts
    delta: float
    grown: Counts | None
    sequence: PruningSequence | None
    repeated: bool
    repeats: Repeats | RepeatRule
    group_error: GroupError


def _check_parameters_of_best(parameters: dict[str, Any]) -> None:
    unknown = set(parameters) - {"labels", "original", "rng", "draws", "lam", "mu", "weights", "k"}
    if unknown:
        raise ParameterError(f"method='best' has no parameter {', '.join(sorted(unknown))}")


def _is_list_of_prunings(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(item, Pruning) for item in value)


def _certify_by(name: str, request: _Request, parameters: dict[str, Any]) -> Any:
    """Return the bounds of one method of `METHODS`; raise `ParameterError` if it does not fit the request."""
    method, pruning = METHODS[name], request.pruning
    options = {"delta": request.delta, "repeated": request.repeated, "repeats": request.repeats, **parameters}
    check_group_error(request.group_error, request.counts)
    if request.counts.grouped is not None and method.takes_groups:
        options["group_error"] = request.group_error
    if isinstance(pruning, PruningSequence) and "sequence" not in method.takes:
        names = ", ".join(repr(other) for other, entry in METHODS.items() if "sequence" in entry.takes)
        raise ParameterError(Argument("method", name), f" certifies one pruning; for a sequence use {names}")
    if method.covers_choice:
        if request.grown is None:
            raise ParameterError(
                Argument("method", name), " needs ", Argument("grown"), ", the counts of the growing sample"
            )
        return method.run(pruning.tree, request.grown, request.counts, pruning=pruning, **options)
    if isinstance(pruning, PruningSequence) or "pruning" in method.takes:
        return method.run(pruning, request.counts, **options)
    if request.sequence is None:
        raise ParameterError(
            Argument("method", name),
            " certifies a whole sequence; pass the sequence the pruning is from, or pass ",
            Argument("sequence"),
        )
    member = index_in(request.sequence, pruning)
    if member is None:
        raise ParameterError(Argument("method", name), ": the pruning is not a member of the sequence")
    return method.run(request.sequence, request.counts, **options)[member]


def _certify_best(request: _Request, parameters: dict[str, Any]) -> Any:
    """Return the bound (for a sequence, the bounds) of method="best"."""
    pruning, counts = request.pruning, request.counts
    options = {name: value for name, value in parameters.items() if value is not None}
    result = freshness(pruning, counts)
    if isinstance(pruning, Pruning):
        if result.is_fresh:
            return _certify_by("test-sample", request, {})
        bound = _certify_as_member(request, pruning, result.sequence, options)
        if bound is not None:
            return bound
    methods = _methods_to_try(request, options, is_fresh=result.is_fresh)
    if not methods:
        result.check_fresh()
    share = request.delta / len(methods)
    compared = _compare_with_all(request, result.used)
    repeats = compared.find_repeats(counts, share, request.repeats)
    request_with_share = replace(request, delta=share, sequence=None, repeats=repeats)
    bounds = [_certify_by(name, request_with_share, method_options) for name, method_options in methods]
    if not isinstance(request.repeats, Repeats):
        compared.warn(counts, repeats)  # once, not for every method
    if isinstance(pruning, Pruning):
        return _least_of(bounds, request.delta)
    return [_least_of(bounds_of_member, request.delta) for bounds_of_member in zip(*bounds, strict=True)]


def _compare_with_all(request: _Request, compared: SampleUsage) -> Freshness:
    """Return the freshness of the rows for several methods, given the samples with which they were compared."""
    used = compared | request.pruning.tree.history
    if request.grown is not None:
        used = used | SampleUsage.of(request.grown)
    return compare_samples(used, request.counts)


def _certify_as_member(
    request: _Request, pruning: Pruning, evaluated_sequence: PruningSequence | None, options: dict[str, Any]
) -> Bound | None:
    """Return the path certificate of a pruning as a member of a sequence; None if it is in no suitable sequence.

    The sequences are the one passed by the user and the one on which the sample was evaluated.
    """
    for sequence in (request.sequence, evaluated_sequence):
        member = None if sequence is None else index_in(sequence, pruning)
        if sequence is not None and member is not None and freshness(sequence, request.counts).is_fresh:
            weights = _select(options, "weights")
            bounds: list[Bound] = _certify_by("path", replace(request, pruning=sequence), weights)
            return bounds[member]
    return None


def _methods_to_try(request: _Request, options: dict[str, Any], *, is_fresh: bool) -> list[tuple[str, dict[str, Any]]]:
    """Return the methods that method="best" compares, with their parameters."""
    is_sequence = isinstance(request.pruning, PruningSequence)
    methods: list[tuple[str, dict[str, Any]]] = []
    if is_sequence and is_fresh:
        methods.append(("path", _select(options, "weights")))
    if request.grown is None:
        return methods
    labelling = _select(options, "labels", "original")
    methods.append(("occam", {"prior": "informed", **labelling, **_select(options, "lam", "mu")}))
    if not is_sequence:
        prior = "within-k" if "k" in options else "uniform"
        methods.append(("occam", {"prior": prior, **labelling, **_select(options, "k")}))
        if request.counts.grouped is None:
            methods.append(("rademacher", {"draws": 10, **labelling, **_select(options, "rng", "draws", "k")}))
    return methods


def _select(parameters: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the named parameters, as far as they are given."""
    return {name: parameters[name] for name in names if name in parameters}


def _least_of(bounds: Sequence[Bound], delta: float) -> Bound:
    """Return the least bound, stated at `delta`; each holds at an equal share of delta. A tie goes to the first."""
    least = min(bounds, key=lambda bound: bound.value)
    if len(bounds) == 1:
        return least
    tried = {bound.method: bound.value for bound in bounds}
    details = {**least.details, "share_of_delta": least.delta, "tried": tried}
    return replace(least, delta=delta, method=f"{least.method}, best of {len(bounds)}", details=details)
