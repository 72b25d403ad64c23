"""Certify the pruning of a fitted model, or all members of its sequence."""

from collections.abc import Sequence
from typing import Any

from .._utils.checks import check_name
from ..core import Bound, Counts, Model, PruningSequence
from ..errors import LeakageError, UnsupportedError
from ..statistics.repeats import RepeatRule, Repeats


def certify_model(
    model: Model,
    *,
    method: str = "best",
    delta: float = 0.05,
    seed: int = 0,
    k: int | None = None,
    repeated: bool = False,
    repeats: Repeats | RepeatRule = "errors",
) -> Bound:
    """Return the certificate of a model's pruning on its held-out sample.

    Parameters
    ----------
    model : Model
    method : str
        "best" or one of `secateur.certifiers.METHODS`. "best" uses the path certificate if the sample
        chose a member of a sequence that was made without the sample.
    delta : float
        Allowed probability that the certificate fails.
    seed : int
        Seed for the signs that the Rademacher penalty draws.
    k : int, optional
        Maximum number of growing errors of the prunings among which the rule chose.
    repeated, repeats
        As for `certify`.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.model_selection import Recipe, certify_model, fit_model
    >>> rows = [[0.0], [1.0], [2.0], [3.0]] * 60
    >>> model = fit_model(encode(rows, target=["a", "a", "b", "b"] * 60), Recipe(prune="reduced-error"))
    >>> round(certify_model(model).value, 3)
    0.058
    """
    holdout = model.class_holdout
    if holdout is None or model.class_grown is None:
        reason = "held-out rows are needed" if model.holdout is None else "squared errors have no limit to certify"
        raise UnsupportedError(f"there is no certificate: {reason}")
    from ..certifiers import METHODS, certify

    check_name("method", method, ("best", *METHODS))
    entry = METHODS.get(method)  # None for "best", which passes its parameters on to the methods that take them
    parameters: dict[str, Any] = {}
    if entry is None or entry.is_random:
        parameters["rng"] = seed
    if k is not None and (entry is None or entry.takes_k):
        parameters["k"] = k
        if method == "occam":
            parameters["prior"] = "within-k"
    return certify(
        model.pruning, holdout, method=method, delta=delta, grown=model.class_grown, sequence=model.sequence,
        repeated=repeated, repeats=repeats, **parameters,
    )  # fmt: skip


def certify_if_fresh(
    sequence: PruningSequence, holdout: Counts, delta: float, repeats: RepeatRule = "errors"
) -> Sequence[Bound]:
    """Return the certificates of all members, or none if the held-out rows are not fresh."""
    from ..certifiers import freshness, path

    if not freshness(sequence, holdout).is_fresh:
        return ()
    try:
        return path(sequence, holdout, delta=delta, repeats=repeats)
    except LeakageError:  # more than half of the rows are copies
        return ()
