"""prune_sklearn: apply any pruning rule to a fitted tree or forest of scikit-learn, without refitting."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.tree import BaseDecisionTree

from .._utils.arrays import Array, ArrayLike, Labels, LongsOrFloats, Rows
from .._utils.checks import check_name
from ..core import Counts, Pruning, PruningSequence, Sample, SampleUsage, UsedSample
from ..errors import CountsError, ParameterError, UnsupportedError, show
from ..pruners import RULES, prune
from ._counting import (
    STANDARD_ERRORS_ALLOWED,
    HeldOutRows,
    count_growing_rows,
    count_held_out_rows,
    route_rows,
    sketch_of_rows,
)
from ._records import Estimator
from ._sklearn_tree import SklearnTree, fitted_trees, pruned_estimator, pruned_forest

# Rules that need only the cost of each node as a leaf and so prune regressors too. "smallest-within" needs an accuracy.
REGRESSION_RULES = tuple(name for name, rule in RULES.items() if rule.takes_moments and name != "smallest-within")


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
        A fitted estimator with one output; it is not changed. Every tree of a forest is pruned independently of the
        others, with the counts of the rows it was grown on.
    X, y : array or data frame; array, optional
        *Held-out rows*, for rules that need them ("reduced-error") and to choose from a
        sequence when neither `alpha` nor `n_leaves` is given. Otherwise *the rows the
        estimator was fitted on*, used only if the tree does not store its counts (class
        weights, monotonic constraints).
    rule : str
        A name of `secateur.pruners.RULES`. Regressors take "cost-complexity",
        "best-of-size", "greedy", "weakest-links", "reduced-error" and "critical-value".
    sample_weight : array, optional
        Weights of the rows of X.
    alpha : float, optional
        For a sequence: the member that is the best at this penalty per leaf, as a share of the rows. With a `cost`
        other than "errors", the penalty is in units of that cost.
    n_leaves : int, optional
        For a sequence: the largest member with at most this number of leaves.
    select : "min-error" (or "0se"), or "1se"
        For a sequence, if neither `alpha` nor `n_leaves` is given. "min-error" is the smallest member of least
        held-out error; "1se" is the smallest member within one standard error of it.
    growing : tuple (X, y) or (X, y, sample_weight), optional
        The rows the estimator was fitted on, if X and y are held-out rows and the tree does not
        store its counts.
    **parameters
        Passed to the rule. `cost` may be "errors" (the default: misclassified rows; for
        regressors the summed loss of their criterion), "impurity" (as in scikit-learn: `alpha` is
        then a `ccp_alpha`), or one number per node of `estimator.tree_`.

    Returns
    -------
    estimator
        The pruned estimator, of the same class and with the same parameters, so that `clone` and `fit` grow the
        unpruned tree again. It contains sketches of the rows of this call, by which `from_sklearn` recognises rows that
        pruned the tree; a forest contains only the names of the samples. Node statistics are those of the growing rows.
        For a leaf whose class was chosen by held-out rows, `tree_.value` has the class shares of the held-out rows.

    Notes
    -----
    The held-out error of a regressor is the squared error, or the absolute error if its criterion is "absolute_error".
    With class weights, the growing rows are counted with the same weights, so that a cut has the cost
    that it had in growing. Unless the rule takes the classes of leaves from held-out rows, every node predicts what it
    predicts in `estimator.tree_`.

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
    call = _PruneCall(rule, alpha, n_leaves, select, parameters)
    trees = fitted_trees(estimator)
    call.check(X, y)
    if sample_weight is not None and X is None:
        raise ParameterError("sample_weight is given without X; it is the weight of the rows of X")
    is_held_out = X is not None and call.needs_held_out
    if growing is None and X is not None and not is_held_out:
        growing = (X, y, sample_weight)
    grown: list[Sample | None] = [None] * len(trees)
    if any(map(call.needs_rows, trees)):
        grown = _count_growing_rows(trees, growing, is_held_out)
    held_out: list[HeldOutRows | None] = [None] * len(trees)
    if is_held_out:
        leaves = route_rows(trees, X)
        held_out = [count_held_out_rows(trees[i], leaves[i], y, sample_weight) for i in range(len(trees))]
    used = _used_samples(trees, growing, (X, y, sample_weight) if is_held_out else None)
    pruned = [call.prune(*parts, used) for parts in zip(trees, grown, held_out, strict=True)]
    return pruned[0] if isinstance(estimator, BaseDecisionTree) else pruned_forest(estimator, pruned)


def _used_samples(
    trees: list[SklearnTree], growing: tuple[Any, ...] | None, held_out: tuple[Any, ...] | None
) -> SampleUsage:
    """Return the samples that a call used, with sketches of their rows; without sketches for the trees of a forest.

    A sketch for each tree would make a forest much larger. Without one, certificates of the trees state that freshness
    was not checked.
    """
    samples = []
    for name, rows in (("grow", growing), ("prune", held_out)):
        if rows is not None:
            sketch = sketch_of_rows(trees[0], *rows) if len(trees) == 1 else None
            samples.append(UsedSample(name, sketch))
    return SampleUsage(samples)


def _count_growing_rows(
    trees: list[SklearnTree], growing: tuple[Any, ...] | None, is_held_out: bool
) -> list[Sample | None]:
    """Return the growing sample of each tree, counted from the growing rows; raise an error if they are not given."""
    if growing is None:
        reason = next(foreign.missing_counts_reason for foreign in trees if foreign.missing_counts_reason)
        raise CountsError(reason + (" (as growing=(X, y): X and y are held-out rows here)" if is_held_out else ""))
    if not isinstance(growing, tuple) or len(growing) not in (2, 3):
        raise ParameterError("growing is not a tuple; (X, y) or (X, y, sample_weight) of the fitted rows is needed")
    X, y, weight = (*growing, None)[:3]
    leaves = route_rows(trees, X)
    return [count_growing_rows(trees[i], leaves[i], y, weight) for i in range(len(trees))]


@dataclass(frozen=True)
class _PruneCall:
    """The arguments of one call of `prune_sklearn`, without its data."""

    rule: str
    alpha: float | None
    n_leaves: int | None
    select: str
    parameters: dict[str, Any]

    @property
    def is_sequence(self) -> bool:
        """Whether the rule returns a sequence, from which a member is chosen."""
        return RULES[self.rule].returns == "sequence" and self.parameters.get("threshold") is None

    @property
    def needs_held_out(self) -> bool:
        """Whether the call needs held-out rows; X and y are then the held-out rows, and otherwise growing rows."""
        chooses_by_error = self.is_sequence and self.alpha is None and self.n_leaves is None
        return RULES[self.rule].needs_holdout or chooses_by_error

    def check(self, X: Rows, y: Labels) -> None:
        """Raise an error for arguments that are not valid together."""
        check_name("rule", self.rule, RULES)
        check_name("select", self.select, STANDARD_ERRORS_ALLOWED)
        if (X is None) != (y is None):
            raise ParameterError(f"{'X' if X is None else 'y'} is None; X and y go together")
        self._check_member()
        if self.needs_held_out and X is None:
            more = ", or alpha= or n_leaves=" if self.is_sequence else ""
            raise ParameterError(f"rule {show(self.rule)} needs held-out rows X, y{more}")
        cost = self.parameters.get("cost")
        if isinstance(cost, str) and cost not in ("errors", "impurity"):
            raise ParameterError(f"cost={show(cost)}; 'errors', 'impurity' or one number per node is needed")

    def _check_member(self) -> None:
        """Raise an error unless `alpha` and `n_leaves` choose at most one member of a sequence."""
        if self.alpha is not None and self.n_leaves is not None:
            raise ParameterError("alpha and n_leaves exclude each other; pass one of them")
        if not self.is_sequence and not (self.alpha is self.n_leaves is None):
            raise ParameterError(
                f"rule {show(self.rule)} returns one pruning; alpha and n_leaves choose from a sequence"
            )
        if self.n_leaves is not None and not (isinstance(self.n_leaves, int | np.integer) and self.n_leaves >= 1):
            raise ParameterError(f"n_leaves={show(self.n_leaves)}; a whole number of 1 or more is needed")

    def needs_rows(self, foreign: SklearnTree) -> bool:
        """Return whether the growing rows of a tree must be counted again."""
        if not foreign.missing_counts_reason or self._has_other_cost:
            return False
        return foreign.is_classifier or (foreign.is_monotonic and not RULES[self.rule].needs_holdout)

    @property
    def _has_other_cost(self) -> bool:
        """Whether the rule compares costs other than errors: scores of splits, impurity, or costs from the caller."""
        return self.rule == "critical-value" or not _is_error_cost(self.parameters.get("cost"))

    def prune(
        self, foreign: SklearnTree, grown: Sample | None, held_out: HeldOutRows | None, used: SampleUsage
    ) -> Estimator:
        """Return the pruned estimator.

        Parameters
        ----------
        foreign : SklearnTree
            The fitted tree.
        grown : Counts or Moments, optional
            The growing sample, if it was counted again.
        held_out : HeldOutRows, optional
            The held-out rows, counted in the tree.
        used : SampleUsage
            The samples of the call, with sketches of their rows.
        """
        if grown is None and foreign.is_classifier and not foreign.missing_counts_reason:
            grown = foreign.stored_sample()
        result = self._apply_rule(foreign, grown, held_out)
        if isinstance(result, PruningSequence):
            if result.alphas is not None and not self._has_other_cost:
                n_rows = (foreign.weight if grown is None else grown.total)[0]
                result = replace(result, alphas=result.alphas / n_rows)
            result = self._choose_member(result, held_out)
        if not isinstance(result, Pruning):
            raise UnsupportedError(
                "raise_subtrees=True moves tests to other rows, so the result is not a pruning of the estimator"
            )
        samples = (grown, held_out.sample if held_out else None)
        counts = tuple(sample for sample in samples if isinstance(sample, Counts))
        return pruned_estimator(foreign, result, counts, used)

    def _apply_rule(self, foreign: SklearnTree, grown: Any, held_out: HeldOutRows | None) -> Pruning | PruningSequence:
        """Return the result of the rule; raise an error if the tree is a regressor and the rule does not support it."""
        takes_cost = self.rule in REGRESSION_RULES
        if not (foreign.is_classifier or takes_cost or self.rule == "critical-value"):
            raise UnsupportedError(
                f"rule {show(self.rule)} counts classes; {type(foreign.estimator).__name__} predicts numbers. "
                f"Regressors support {', '.join(REGRESSION_RULES)} and critical-value"
            )
        parameters = dict(self.parameters)
        cost: Any = parameters.pop("cost", None) if foreign.is_classifier or takes_cost else None
        if not _is_error_cost(cost):
            parameters["cost"] = _node_cost(foreign, cost)
        elif takes_cost:
            parameters |= self._cost_of_predictions(foreign, grown, held_out)
        samples: list[Any] = [grown]
        if held_out is not None and RULES[self.rule].needs_holdout:
            samples.append(held_out.sample)
        if not foreign.is_classifier:
            samples = [None] * len(samples)
        return prune(foreign.tree, *samples, rule=self.rule, **parameters)

    def _cost_of_predictions(
        self, foreign: SklearnTree, grown: Any, held_out: HeldOutRows | None
    ) -> dict[str, LongsOrFloats]:
        """Return the parameter `cost` of the rule if some leaf does not predict the majority of its rows; else nothing.

        Regressors have no majority, and monotonic constraints clip class shares. The cost is that of the predictions
        that the leaves of the pruned estimator will make.
        """
        if foreign.is_classifier and (foreign.labels == grown.majority).all():
            return {}
        if held_out is None or self.rule != "reduced-error":
            return {"cost": foreign.costs(grown)}
        takes_labels_of_growing = self.parameters.get("labels", "grow") == "grow"
        return {"cost": held_out.cost} if takes_labels_of_growing or not foreign.is_classifier else {}

    def _choose_member(self, sequence: PruningSequence, held_out: HeldOutRows | None) -> Pruning:
        """Return the member for the penalty, for the number of leaves, or of least held-out error."""
        if self.alpha is not None:
            return sequence.at(self.alpha)
        if self.n_leaves is not None:
            small_enough = np.flatnonzero(sequence.n_leaves <= self.n_leaves)
            if not len(small_enough):
                raise ParameterError(
                    f"n_leaves={self.n_leaves}; the smallest tree of the sequence has {sequence.n_leaves.min()}"
                )
            return sequence[int(small_enough[np.argmax(sequence.n_leaves[small_enough])])]
        assert held_out is not None  # checked by `check`
        return held_out.choose(sequence, self.select)


def _is_error_cost(cost: object) -> bool:
    """Return whether the cost of a leaf is its errors, which is the default."""
    return cost is None or (isinstance(cost, str) and cost == "errors")


def _node_cost(foreign: SklearnTree, cost: str | ArrayLike) -> Array:
    """Return the cost of each node in pre-order: scikit-learn's risk, or the numbers that the caller passed."""
    if isinstance(cost, str):
        return foreign.risk
    costs = np.asarray(cost)
    if costs.shape != (len(foreign.records.nodes),):
        raise ParameterError(
            f"cost has shape {costs.shape}; one number per node of estimator.tree_, ({len(foreign.records.nodes)},), "
            "is needed"
        )
    in_preorder: Array = costs[foreign.order]
    return in_preorder
