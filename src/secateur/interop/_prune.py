"""prune_sklearn: any pruning rule on a fitted tree or forest of scikit-learn, without refitting."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.tree import BaseDecisionTree

from .._utils.arrays import Array, ArrayLike, Labels, Rows
from .._utils.checks import check_name
from ..core import Counts, Pruning, PruningSequence, Sample
from ..errors import CountsError, ParameterError, UnsupportedError
from ..pruners import RULES, prune
from ._counting import CHOICES, HeldOut, held_out, recounted, routed
from ._foreign import Foreign, members, pruned_estimator, pruned_forest
from ._nodes import Estimator

# Rules that ask only for what a node costs as a leaf, and so prune regressors too; an accuracy asks for the rows.
COSTED = tuple(name for name, rule in RULES.items() if rule.takes_moments and name != "smallest-within")


def prune_sklearn(
    estimator: Estimator,
    X: Rows = None,
    y: Labels = None,
    *,
    rule: str = "cost-complexity",
    sample_weight: ArrayLike | None = None,
    alpha: float | None = None,
    n_leaves: int | None = None,
    select: Literal["min-error", "0se", "1se"] = "min-error",
    growing: tuple[Any, ...] | None = None,
    **parameters: Any,
) -> Estimator:
    """Prune a fitted scikit-learn tree or forest without refitting it.

    Parameters
    ----------
    estimator : DecisionTree, ExtraTree, RandomForest or ExtraTrees, classifier or regressor
        Fitted, with one output; it is not changed. In a forest, every tree is pruned on its own,
        by the counts of the rows it was grown on.
    X, y : array or data frame; array, optional
        *Held-out rows*, for rules that ask for them ("reduced-error") and to choose from a
        sequence when neither `alpha` nor `n_leaves` is given. Otherwise *the rows the
        estimator was fitted on*, looked at only if the tree does not hold its counts (class
        weights, monotonic constraints).
    rule : str
        A name of `secateur.pruners.RULES`. Regressors take "cost-complexity",
        "best-of-size", "greedy", "weakest-links", "reduced-error" and "critical-value".
    sample_weight : array, optional
        Weights of the rows of X.
    alpha : float, optional
        For a sequence: the member chosen at this penalty per leaf, as a share of the rows, as everywhere. With a
        `cost` of its own it is in units of that.
    n_leaves : int, optional
        For a sequence: the largest member with at most this number of leaves.
    select : "min-error" (or "0se"), or "1se"
        For a sequence, if X and y choose: the member of least held-out error, the smallest
        of equals, or the smallest within one standard error of it.
    growing : tuple (X, y) or (X, y, sample_weight), optional
        The rows the estimator was fitted on, if X and y are held-out rows and the tree does not
        hold its counts.
    **parameters
        Passed to the rule. `cost` may be "errors" (the default: misclassified rows; for
        regressors the loss of their criterion, summed), "impurity" (scikit-learn's: `alpha` is
        then a `ccp_alpha`), or one number per node of `estimator.tree_`.

    Returns
    -------
    estimator
        Of the same class, with the same parameters, so that `clone` and `fit` would grow the
        whole tree again. Node statistics are those of the growing rows. A leaf that a rule
        labelled by held-out rows has their class shares in `tree_.value`.

    Notes
    -----
    Held-out regression error is squared error; absolute error under that criterion. Under
    class weights the growing rows are counted under the same weights, so that a cut costs what
    it cost in growing. Classes and values of all nodes are the tree's own.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> whole = DecisionTreeClassifier(random_state=0).fit(X[::2], y[::2])
    >>> small = prune_sklearn(whole, X[1::2], y[1::2], rule="reduced-error")
    >>> type(small).__name__, int(whole.get_n_leaves()), int(small.get_n_leaves())
    ('DecisionTreeClassifier', 6, 4)
    >>> int(prune_sklearn(whole, n_leaves=3).get_n_leaves())
    3
    """
    job = _Job(rule, alpha, n_leaves, select, parameters)
    trees = members(estimator)
    job.check(X, y)
    if sample_weight is not None and X is None:
        raise ParameterError("sample_weight is given without X; it is the weight of the rows of X")
    is_held_out = X is not None and job.needs_held_out
    fresh = routed(trees, X) if is_held_out else None
    if growing is None and X is not None and not is_held_out:
        growing = (X, y, sample_weight)
    again = _again(trees, growing, is_held_out) if any(map(job.needs_rows, trees)) else None
    smaller = []
    for i, foreign in enumerate(trees):
        grown = None if again is None else again(i)
        rows = None if fresh is None else held_out(foreign, fresh[i], y, sample_weight)
        smaller.append(job.pruned(foreign, grown, rows))
    return smaller[0] if isinstance(estimator, BaseDecisionTree) else pruned_forest(estimator, smaller)


def _again(trees: list[Foreign], growing: tuple[Any, ...] | None, is_held_out: bool) -> Callable[[int], Sample]:
    """Return what counts the growing rows again in tree i."""
    if growing is None:
        reason = next(foreign.missing_counts for foreign in trees if foreign.missing_counts)
        raise CountsError(reason + (" (as growing=(X, y): X and y are held-out rows here)" if is_held_out else ""))
    if not isinstance(growing, tuple) or len(growing) not in (2, 3):
        raise ParameterError("growing is not a tuple; (X, y) or (X, y, sample_weight) of the fitted rows is needed")
    X, y, weight = (*growing, None)[:3]
    leaves = routed(trees, X)
    return lambda i: recounted(trees[i], leaves[i], y, weight)


@dataclass(frozen=True)
class _Job:
    """One call of `prune_sklearn`, without its data."""

    rule: str
    alpha: float | None
    n_leaves: int | None
    select: str
    parameters: dict[str, Any]

    @property
    def is_sequence(self) -> bool:
        """Whether the rule gives a sequence to choose from."""
        return RULES[self.rule].returns == "sequence" and self.parameters.get("threshold") is None

    @property
    def needs_held_out(self) -> bool:
        """Whether X and y are held-out rows."""
        is_asked = RULES[self.rule].needs_holdout
        return is_asked or (self.is_sequence and self.alpha is None and self.n_leaves is None)

    def check(self, X: Rows, y: Labels) -> None:
        """Refuse calls that cannot be answered."""
        check_name("rule", self.rule, RULES)
        check_name("select", self.select, CHOICES)
        if (X is None) != (y is None):
            raise ParameterError(f"{'X' if X is None else 'y'} is None; X and y go together")
        if self.alpha is not None and self.n_leaves is not None:
            raise ParameterError("alpha and n_leaves exclude each other; pass one of them")
        if not self.is_sequence and not (self.alpha is self.n_leaves is None):
            raise ParameterError(f"rule {self.rule!r} returns one pruning; alpha and n_leaves choose from a sequence")
        if self.n_leaves is not None and not (isinstance(self.n_leaves, int | np.integer) and self.n_leaves >= 1):
            raise ParameterError(f"n_leaves={self.n_leaves!r}; a whole number of 1 or more is needed")
        if self.needs_held_out and X is None:
            more = ", or alpha= or n_leaves=" if self.is_sequence else ""
            raise ParameterError(f"rule {self.rule!r} needs held-out rows X, y{more}")
        cost = self.parameters.get("cost")
        if isinstance(cost, str) and cost not in ("errors", "impurity"):
            raise ParameterError(f"cost={cost!r}; 'errors', 'impurity' or one number per node is needed")

    def needs_rows(self, foreign: Foreign) -> bool:
        """Whether the growing rows must be counted again."""
        if not foreign.missing_counts or self._cost_is_known:
            return False
        return foreign.is_classifier or (foreign.is_monotonic and not RULES[self.rule].needs_holdout)

    @property
    def _cost_is_known(self) -> bool:
        return self.rule == "critical-value" or not _is_errors(self.parameters.get("cost"))

    def pruned(self, foreign: Foreign, grown: Sample | None, rows: HeldOut | None) -> Estimator:
        """Return the smaller estimator."""
        if grown is None and foreign.is_classifier and not foreign.missing_counts:
            grown = foreign.own_sample()
        result = self._result(foreign, grown, rows)
        if isinstance(result, PruningSequence):
            if result.alphas is not None and not self._cost_is_known:
                result = replace(result, alphas=result.alphas / (foreign.weight if grown is None else grown.total)[0])
            result = self._chosen(result, rows)
        if not isinstance(result, Pruning):
            raise UnsupportedError(
                "raise_subtrees=True moves tests to other rows, so the result is not a pruning of the estimator"
            )
        samples = (grown, rows.sample if rows else None)
        return pruned_estimator(foreign, result, tuple(sample for sample in samples if isinstance(sample, Counts)))

    def _result(self, foreign: Foreign, grown: Any, rows: HeldOut | None) -> Pruning | PruningSequence:
        is_classifier, is_costed, is_held_out = foreign.is_classifier, self.rule in COSTED, self.rule == "reduced-error"
        if not (is_classifier or is_costed or self.rule == "critical-value"):
            raise UnsupportedError(
                f"rule {self.rule!r} counts classes; {type(foreign.estimator).__name__} predicts numbers. Regressors "
                f"support {', '.join(COSTED)} and critical-value"
            )
        parameters = dict(self.parameters)
        cost: Any = parameters.pop("cost", None) if is_classifier or is_costed else None
        if not _is_errors(cost):
            parameters["cost"] = _node_cost(foreign, cost)
        # Clipped by a monotonic constraint: the cost must be that of what the leaf will answer.
        elif is_costed and not (is_classifier and (foreign.labels == grown.majority).all()):
            if rows is None or not is_held_out:
                parameters["cost"] = foreign.costs(grown)
            elif not is_classifier or parameters.get("labels", "grow") == "grow":
                parameters["cost"] = rows.cost
        samples: list[Any] = [grown] if rows is None or not RULES[self.rule].needs_holdout else [grown, rows.sample]
        return prune(foreign.tree, *(samples if is_classifier else [None] * len(samples)), rule=self.rule, **parameters)

    def _chosen(self, sequence: PruningSequence, rows: HeldOut | None) -> Pruning:
        if self.alpha is not None:
            return sequence.at(self.alpha)
        if self.n_leaves is not None:
            fitting = np.flatnonzero(sequence.n_leaves <= self.n_leaves)
            if not len(fitting):
                raise ParameterError(
                    f"n_leaves={self.n_leaves}; the smallest tree of the sequence has {sequence.n_leaves.min()}"
                )
            return sequence[int(fitting[np.argmax(sequence.n_leaves[fitting])])]
        assert rows is not None  # by `check`
        return rows.choose(sequence, self.select)


def _is_errors(cost: object) -> bool:
    """Whether a leaf costs its errors: the default."""
    return cost is None or (isinstance(cost, str) and cost == "errors")


def _node_cost(foreign: Foreign, cost: str | ArrayLike) -> Array:
    """A cost per node of ours: scikit-learn's risk, or what the caller gives in scikit-learn's numbering."""
    if isinstance(cost, str):
        return foreign.risk
    given = np.asarray(cost)
    if given.shape != (len(foreign.records.nodes),):
        raise ParameterError(
            f"cost has shape {given.shape}; one number per node of estimator.tree_, ({len(foreign.records.nodes)},), "
            "is needed"
        )
    ours: Array = given[foreign.order]
    return ours
