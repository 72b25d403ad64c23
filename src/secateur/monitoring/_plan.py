"""Plan a monitor: the limit that is tested, those of the leaves, and how alpha is divided among the tests.

One half of alpha is spent on the limit on the error. Of the other half, one part pays for the limits on the shares of
wrong rows in the leaves, which are computed here from the certifying sample, and the other for their tests: an equal
half each, the latter divided in proportion to the shares of certifying rows. So an alarm, of whatever kind, is false
with probability at most delta + alpha. If no leaf can be tested, alpha is spent on the limit on the error alone.
"""

import math
import numbers
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._utils.arrays import Array, Floats
from ..certifiers import leaf_shares
from ..core import Bound, Counts, Model
from ..errors import Argument, LeakageError, ParameterError, SecateurError, UnsupportedError
from ..inspection.view import view_of
from ..statistics.monitor_status import MonitorPlan

if TYPE_CHECKING:
    from ..statistics.repeats import RepeatRule

OVERALL_SHARE_OF_ALPHA = 0.5
LIMITS_SHARE_OF_ALPHA = 0.25  # for the limits of the leaves; the rest is for their tests
MAX_RULES_IN_WORDS = 2_000  # leaves of larger trees are named by their numbers
LIMIT_REMEDY = (
    "pass ", Argument("limit"), " with the largest error that you accept, or certify the model on fresh rows first",
)  # fmt: skip


def check_alpha(alpha: object) -> float:
    """Return the failure probability of a monitor; raise `ParameterError` unless it is between 0 and 1."""
    if isinstance(alpha, bool) or not isinstance(alpha, numbers.Real) or not 0 < float(alpha) < 1:
        raise ParameterError(
            Argument("alpha", alpha), "; a probability of a false alarm between 0 and 1, both excluded, is needed"
        )
    return float(alpha)


def check_limit(limit: object) -> float:
    """Return a limit on the error; raise `ParameterError` unless it is between 0 and 1."""
    if isinstance(limit, bool) or not isinstance(limit, numbers.Real) or not 0 < float(limit) < 1:
        raise ParameterError(Argument("limit", limit), "; an error rate between 0 and 1, both excluded, is needed")
    return float(limit)


def plan_monitor(model: Model, limit: float | None, alpha: float) -> MonitorPlan:
    """Return the plan of a monitor of a model.

    Parameters
    ----------
    model : Model
        A classifying model.
    limit : float, optional
        The largest error that is accepted; by default the value of the certificate.
    alpha : float
        Probability of a false alarm if the limits hold.
    """
    check_classifier(model)
    alpha = check_alpha(alpha)
    if limit is None:
        bound = _check_certificate(model.certificate)
        limit, delta = bound.value, bound.delta
    else:
        limit, delta = check_limit(limit), 0.0
    reference = model.class_holdout or model.class_grown
    assert reference is not None
    leaves = model.pruning.leaves
    reference_rows = np.round(reference.total[leaves]).astype(np.int64)
    tests = _plan_leaf_tests(model, alpha)
    return MonitorPlan(
        limit,
        delta,
        alpha,
        overall_alpha=alpha * OVERALL_SHARE_OF_ALPHA if not tests.note else alpha,
        leaves=leaves,
        leaf_limit=tests.limit,
        leaf_alpha=tests.alpha,
        reference_rows=reference_rows,
        reference=reference.sample,
        leaf_note=tests.note,
    )


def check_classifier(model: Model) -> None:
    """Raise `UnsupportedError` for a regression model."""
    if not model.is_classifier:
        raise UnsupportedError(
            "the model predicts numbers; a monitor counts wrong classes: monitor a classifier, such as one of "
            "whether the number is above a threshold"
        )


def rules_of(model: Model) -> tuple[str, ...]:
    """Return the rule of each leaf in words; the number of the leaf if the tree has no tests or too many leaves."""
    leaves = model.pruning.leaves.tolist()
    rules = {leaf: f"leaf {leaf}" for leaf in leaves}
    is_readable = model.tree.has_tests and model.tree.surrogates is None and len(leaves) <= MAX_RULES_IN_WORDS
    if is_readable:
        view = view_of(model.tree, model.grown, pruning=model.pruning)
        for v, conditions in view.rules():
            premise = " AND ".join(conditions) or "TRUE"
            rules[int(view.node[v])] = f"IF {premise} THEN {view.prediction(v)}"
    return tuple(rules[leaf] for leaf in leaves)


def _check_certificate(bound: Bound | None) -> Bound:
    """Return a certificate that a monitor can test; raise `ParameterError` with the reason if it cannot."""
    if bound is None:
        problem = "the model has no certificate to monitor"
    elif not bound.certified:
        problem = f"the certificate of the model is not a guarantee ({bound.reason})"
    elif bound.quantity != "error" or bound.predictor:
        subject = f"the {bound.quantity}{f' of {bound.predictor}' if bound.predictor else ''}"
        problem = f"the certificate of the model is on {subject}, and a monitor counts errors of the tree"
    elif bound.unit != "row":
        problem = f"the certificate of the model counts {bound.unit}s of rows, and a monitor counts independent rows"
    elif bound.value >= 1:
        problem = "the certificate of the model is 100 %, which no rows can contradict"
    else:
        return bound
    raise ParameterError(f"{problem}; ", *LIMIT_REMEDY)


class _LeafTests(NamedTuple):
    """The limit and the part of alpha of each leaf, and why there are none."""

    limit: Floats
    alpha: Floats
    note: str = ""


def _plan_leaf_tests(model: Model, alpha: float) -> _LeafTests:
    """Return limits on the shares of wrong rows in the leaves, which hold at once, and how alpha is divided."""
    n_leaves = model.pruning.n_leaves
    none = np.full(n_leaves, math.nan), np.zeros(n_leaves)
    holdout = model.class_holdout
    if n_leaves == 1:
        return _LeafTests(*none, "the tree is a single leaf")
    if holdout is None:
        return _LeafTests(*none, "the model has no held-out rows, which limit the errors of leaves")
    try:
        lower = _lower_limits_of_predicted_class(model, holdout, alpha * LIMITS_SHARE_OF_ALPHA)
    except SecateurError as error:
        return _LeafTests(*none, f"the held-out rows do not limit the errors of leaves ({error})")
    limit = 1.0 - lower
    is_tested = (limit > 0) & (limit < 1)
    if not is_tested.any():
        return _LeafTests(*none, "no leaf has enough held-out rows for a limit below 100 %")
    rows = np.where(is_tested, holdout.total[model.pruning.leaves], 0)
    alpha_of_tests = alpha * (1 - OVERALL_SHARE_OF_ALPHA - LIMITS_SHARE_OF_ALPHA)
    return _LeafTests(np.where(is_tested, limit, math.nan), alpha_of_tests * rows / rows.sum())


def _lower_limits_of_predicted_class(model: Model, holdout: Counts, delta: float) -> Array:
    """Return a lower limit on the share of the predicted class in each leaf; all hold at once."""
    bound = model.certificate
    repeats: RepeatRule = "errors" if bound is None else bound.repeat_rule
    try:
        limits = leaf_shares(model.pruning, holdout, delta=delta, repeats=repeats)
    except LeakageError:  # the rows helped to prune: limits for all nodes of the grown tree hold, too
        limits = leaf_shares(
            model.pruning, holdout, delta=delta, over="nodes", grown=model.class_grown, repeats=repeats
        )
    leaves = model.pruning.leaves
    rows = np.searchsorted(limits.nodes, leaves)
    lower: Array = limits.lower[rows, model.pruning.labels[leaves]]
    return lower
