"""Certify the pruning of a fitted model, or all members of its sequence."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._utils.checks import check_name
from ..core import Bound, Counts, GroupRates, Model, PruningSequence, Sample
from ..errors import Argument, LeakageError, ParameterError, UnsupportedError, Wording, show
from ..statistics.repeats import RepeatRule, Repeats

if TYPE_CHECKING:
    from ..certifiers._groups import GroupError


def certify_model(
    model: Model,
    *,
    method: str = "best",
    delta: float = 0.05,
    seed: int = 0,
    k: int | None = None,
    repeated: bool = False,
    repeats: Repeats | RepeatRule = "errors",
    group_error: "GroupError" = "share",
    target_range: Any = None,
    max_residual: float | None = None,
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
    repeated, repeats, group_error
        As for `certify`.
    target_range, max_residual
        For a regression tree: a range stated beforehand, as for `secateur.certifiers.absolute_error`.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.model_selection import Recipe, certify_model, fit_model
    >>> rows = [[0.0], [1.0], [2.0], [3.0]] * 60
    >>> model = fit_model(encode(rows, target=["a", "a", "b", "b"] * 60), Recipe(prune="reduced-error"))
    >>> round(certify_model(model).value, 3)
    0.058
    """
    holdout = model.holdout
    if holdout is None:
        raise UnsupportedError("there is no certificate: held-out rows are needed")
    from ..certifiers import METHODS, METHODS_FOR_CLASSES, METHODS_FOR_NUMBERS, certify

    check_groups_given(model, holdout)
    check_name("method", method, ("best", *(METHODS_FOR_CLASSES if model.is_classifier else METHODS_FOR_NUMBERS)))
    if not model.is_classifier:
        return certify(
            model.pruning, holdout, method=method, delta=delta, grown=model.grown, repeated=repeated, repeats=repeats,
            group_error=group_error, target_range=target_range, max_residual=max_residual,
        )  # fmt: skip
    if target_range is not None or max_residual is not None:
        name = "max_residual" if target_range is None else "target_range"
        raise ParameterError(Argument(name), " is for a numeric target; the error rate of classes needs no range")
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
        repeated=repeated, repeats=repeats, group_error=group_error, **parameters,
    )  # fmt: skip


def certify_model_groups(
    model: Model, *, positive: object = None, delta: float = 0.05, repeats: Repeats | RepeatRule = "errors"
) -> tuple[GroupRates, ...]:
    """Return the certified rates of the population groups of a model's held-out sample, one entry per column.

    Parameters
    ----------
    model : Model
        A model whose held-out sample was counted by `count_groups`.
    positive, delta, repeats
        As for `certify_groups`.
    """
    from ..certifiers import certify_groups

    if model.class_holdout is None:
        raise UnsupportedError("population groups can be certified for a classifier with held-out rows")
    check_groups_given(model, model.class_holdout)
    found = certify_groups(model.pruning, model.class_holdout, positive=positive, delta=delta, repeats=repeats)
    return found if isinstance(found, tuple) else (found,)


def check_groups_given(model: Model, holdout: Sample) -> None:
    """Raise `UnsupportedError` if the tree was fitted on groups and the sample that is to certify it has none."""
    if model.metadata.get("groups") and holdout.grouped is None:
        raise UnsupportedError(
            f"the tree was fitted on groups of rows that belong together, but sample {show(holdout.sample)} has none: ",
            "pass ",
            Argument("groups"),
            Wording(" (a label of its own for every row, if each row stands alone)", ""),
        )


def certify_if_fresh(
    sequence: PruningSequence, holdout: Counts, delta: float, repeats: RepeatRule = "errors"
) -> Sequence[Bound]:
    """Return the certificates of all members, or none if the held-out rows are not fresh."""
    from ..certifiers import freshness, path

    if not freshness(sequence, holdout).is_fresh:
        return ()
    try:
        return path(sequence, holdout, delta=delta, repeats=repeats)
    except (LeakageError, UnsupportedError):  # more than half of the rows are copies, or groups are not known
        return ()
