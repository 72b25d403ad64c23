"""fit_model: grow, prune, choose and certify as one recipe says."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data import dealing
from ..data.arrays import Array, Sums
from ..data.table import Table
from ..data.target import check_weights
from ..errors import ParameterError, UnsupportedError
from ..growers import grow
from ..nouns.bound import Bound
from ..nouns.choice import Selection
from ..nouns.counts import Counts
from ..nouns.model import Model
from ..nouns.moments import Moments
from ..nouns.pruning import Pruning
from ..nouns.seen import Seen
from ..nouns.sequence import PruningSequence
from ..pruners import k_limit, prune
from ..routing import count
from ..selection import cross_validate
from ..selection._losses import cheapest, cost_matrix
from ..selection._losses import held_out as held_out_losses
from ._after import certificate_of, choose_on_holdout, labelled
from ._members import Sample, index_with_accuracy, index_with_leaves
from ._recipe import Recipe, check, is_accuracy, is_number_of_leaves, n_errors

COSTED = ("reduced-error", "best-of-size", "smallest-within", "greedy", "weakest-links", "cost-complexity")


def fit_model(
    table: Table,
    recipe: Recipe,
    *,
    weight: npt.ArrayLike | None = None,
    held_out: Table | None = None,
    held_out_weight: npt.ArrayLike | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Model:
    """Return the model that the recipe makes of a table.

    Parameters
    ----------
    table : Table
        With its target: classes, or numbers for regression.
    recipe : Recipe
    weight : array, optional
        Of the rows. Rows of weight 0 have no influence. In growing a whole weight is the same as
        repeating the row; it stays one row, which is kept aside or dealt to a fold as a whole.
    held_out : Table, optional
        Rows to prune, choose or certify with, in place of a share of `table`.
    held_out_weight : array, optional
    progress : callable, optional
        Called with (done, total) while cross-validation runs.

    Returns
    -------
    Model
        The same rows in any order give the same model, whatever the number of threads.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.fitting import Recipe, fit_model
    >>> table = encode([[0.0], [1.0], [2.0], [3.0]] * 10, target=["a", "a", "b", "b"] * 10)
    >>> fit_model(table, Recipe(growing={"criterion": "gini"}))
    Model(2 of 2 leaves, 40 rows, not certified)
    """
    check(recipe, table)
    weights = check_weights(weight, table.n_rows)
    if weights is not None and (weights == 1).all():
        weights = None
    aside, aside_weight = held_out, None
    if held_out is not None:
        aside_weight = check_weights(held_out_weight, held_out.n_rows)
    elif recipe.needs_holdout:
        used = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights)
        is_aside = dealing.hold_out(table.take(used), recipe.holdout, seed=recipe.seed)
        aside, aside_weight = _taken(table, weights, used[is_aside])
        weights = np.ones(table.n_rows) if weights is None else weights.copy()
        weights[used[is_aside]] = 0
    _check_judges(recipe, aside_weight)
    if not recipe.has_given_folds and weights is not None:  # given folds name rows by their number
        table, weights = _taken(table, weights, np.flatnonzero(weights))
        weights = None if (weights == 1).all() else weights
    work = _Work(recipe, table, weights)
    work.grow(progress)
    if aside is not None:
        work.holdout = count(work.grown.tree, aside, sample_weight=aside_weight)
    work.prune()
    n_rows = table.n_rows if weights is None else int(np.count_nonzero(weights))
    facts = {"rows": n_rows, "columns": table.n_columns, "held_out_rows": 0 if aside is None else aside.n_rows}
    return work.model(facts)


class _Work:
    """The steps of one fit, each of which sets what the next one needs."""

    selection: Selection | None = None
    sequence: PruningSequence | None = None
    holdout: Sample | None = None
    bound: Bound | None = None  # where choosing was certifying
    pruning: Pruning
    grown: Sample

    def __init__(self, recipe: Recipe, table: Table, weight: Any) -> None:
        self.recipe, self.table, self.weight = recipe, table, weight

    def grow(self, progress: Any) -> None:
        """Grow the tree; with cross-validation also its path and the table to choose from."""
        recipe = self.recipe
        growing = {name: value for name, value in recipe.growing.items() if value is not None}
        is_named = self.table.schema.classes is not None and not _is_auto(growing.get("criterion"))
        if _is_auto(growing.get("min_samples_leaf")) and (is_named or growing.get("min_weight_fraction_leaf")):
            growing["min_samples_leaf"] = 1  # the plain tree; or a least weight says how small a leaf may be
        if recipe.is_cross_validated and _can_cross_validate(self.table, recipe.cv):
            self._cross_validate(growing, progress)
            return
        defaults = {"criterion": "gini", "min_samples_leaf": 1}
        growing |= {name: value for name, value in defaults.items() if _is_auto(growing.get(name))}
        n_jobs = None if hasattr(recipe.n_jobs, "submit") else recipe.n_jobs
        self.grown = grow(self.table, sample_weight=self.weight, n_jobs=n_jobs, **growing)[1]

    def _cross_validate(self, growing: dict[str, Any], progress: Any) -> None:
        recipe, how = self.recipe, self.recipe.select
        k = n_errors(how)
        is_pool = _is_auto(growing.get("criterion")) or _is_auto(growing.get("min_samples_leaf"))
        is_plain = not is_pool or self.table.schema.classes is None
        found = cross_validate(
            self.table,
            folds=min(recipe.cv, self.table.n_rows) if isinstance(recipe.cv, int | np.integer) else recipe.cv,
            repeats=recipe.cv_repeats,
            random_state=recipe.seed,
            rule="0se" if k is None else "kse",
            k=k,
            penalty=recipe.penalty,
            cost="errors" if is_plain else "m-estimate",
            costs=recipe.costs,
            sample_weight=self.weight,
            n_jobs=recipe.n_jobs,
            progress=progress,
            **growing,
        )
        assert found.counts is not None
        self.grown, self.sequence, self.selection = found.counts, found.sequence, found
        if is_accuracy(how):
            chosen = index_with_accuracy(found.sequence, found.error, "cross-validation", how, self.grown)
            self.selection = replace(found, chosen=chosen, rule=f"accuracy {how:g}")

    def prune(self) -> None:
        """Prune by the rule, and choose if it gives a sequence."""
        recipe, grown = self.recipe, self.grown
        labels, grown_cost, held_cost = self._costs()
        if recipe.prune is None:
            self.pruning = self._whole(labels)
            return
        if self.sequence is None:
            result = self._run_rule(grown_cost, held_cost)
            result = replace(result, node_labels=labels) if recipe.costs is not None else result
            if isinstance(result, Pruning):
                self.pruning = labelled(result, labels)
                return
            self.sequence = result
        how = recipe.select
        if how is None:
            self.pruning = self._whole(labels)
        elif is_number_of_leaves(how):
            self.pruning = self.sequence[index_with_leaves(self.sequence, how)]
        elif how == "certificate":
            self._choose_by_certificate()
        elif self.selection is not None:
            self.pruning = self.selection.pruning
        elif self.holdout is None:  # too few rows to cross-validate
            self.pruning = self.sequence[0]
        else:
            k = n_errors(how)
            model = Model(self._whole(labels), grown, self.holdout, self.sequence)
            model = choose_on_holdout(model, rule="0se" if k is None else "kse", k=k, costs=recipe.costs)
            self.pruning, self.selection = model.pruning, model.selection
            if is_accuracy(how):
                assert self.selection is not None
                index = index_with_accuracy(self.sequence, self.selection.error, "held-out rows", how, grown)
                self.selection = replace(self.selection, chosen=index, rule=f"accuracy {how:g}")
                self.pruning = self.selection.pruning

    def model(self, facts: dict[str, Any]) -> Model:
        """All parts, with the certificate if one was asked for."""
        recipe = self.recipe
        model = Model(self.pruning, self.grown, self.holdout, self.sequence, self.selection, self.bound, facts=facts)
        if self.bound is not None or not recipe.certify:
            return model
        k = None
        if recipe.prune == "k-reduced-error" and isinstance(self.grown, Counts):  # the class the choice was made from
            given = {
                name: recipe.prune_parameters[name]
                for name in ("k", "factor", "rate")
                if name in recipe.prune_parameters
            }
            k = k_limit(self.grown, **given)
        method = "best" if recipe.certify is True else recipe.certify
        return replace(
            model, certificate=certificate_of(model, method=method, delta=recipe.delta, seed=recipe.seed, k=k)
        )

    def _whole(self, labels: Any) -> Pruning:
        return Pruning.from_cuts(self.grown.tree, [], node_labels=labels, seen=Seen.of(self.grown), rule="none")

    def _costs(self) -> tuple[Any, Sums | None, Sums | None]:
        """The class of each node, and what nodes cost as leaves on both samples where errors do not say it."""
        grown, holdout = self.grown, self.holdout
        if isinstance(grown, Moments):
            return None, None, None
        if self.recipe.costs is None:
            return grown.majority, None, None
        costs = cost_matrix(self.recipe.costs, grown.n_classes)
        labels = cheapest(grown, costs)
        own, _ = held_out_losses(grown.by_class, labels, costs)
        held = None
        if isinstance(holdout, Counts):
            held, _ = held_out_losses(holdout.by_class, labels, costs)
        return labels, own, held

    def _run_rule(self, grown_cost: Sums | None, held_cost: Sums | None) -> Any:
        recipe = self.recipe
        assert recipe.prune is not None
        parameters = dict(recipe.prune_parameters)
        samples: tuple[Any, ...] = (self.grown, self.holdout) if recipe.rule_sees_holdout else (self.grown,)
        if grown_cost is not None:
            if recipe.prune not in COSTED:
                raise UnsupportedError(
                    f"prune={recipe.prune!r} does not work with costs=; use one of {', '.join(COSTED)}"
                )
            parameters["cost"] = held_cost if recipe.rule_sees_holdout else grown_cost
        if recipe.prune == "cost-complexity":
            parameters.setdefault("penalty", recipe.penalty)
        if recipe.prune == "smallest-within" and "accuracy" not in parameters:
            if not is_accuracy(recipe.select):
                raise ParameterError("prune='smallest-within' needs an accuracy; say select=0.9, for example")
            parameters["accuracy"] = recipe.select
        if recipe.prune == "certificate-optimal":
            parameters.setdefault("delta", recipe.delta)
        result = prune(self.grown.tree, *samples, rule=recipe.prune, **parameters)
        if recipe.prune == "cost-complexity":  # penalties per row mean the same for any number of rows
            assert isinstance(result, PruningSequence)
            assert result.alphas is not None
            result = replace(result, alphas=result.alphas / self.grown.total[0])
        return replace(result, seen=Seen.of(*samples))

    def _choose_by_certificate(self) -> None:
        sequence, holdout = self.sequence, self.holdout
        if not isinstance(holdout, Counts):
            raise UnsupportedError("select='certificate' is for classification; use '1se' or 'holdout'")
        assert sequence is not None
        from ..certifiers import cross_validation_weights, least_bound, path

        weights = None
        if self.selection is not None:
            weights = cross_validation_weights(self.selection.error, self.selection.se)
        self.bound = least_bound(path(sequence, holdout, delta=self.recipe.delta, weights=weights))
        index = self.bound.details["member"]
        if self.selection is not None:
            self.selection = replace(self.selection, chosen=index, rule="certificate")
        pruning = sequence[index]
        self.pruning = replace(pruning, seen=pruning.seen | Seen.of(holdout))


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _can_cross_validate(table: Table, cv: Any) -> bool:
    """Whether there is anything to learn from folds: two rows of two kinds at least."""
    target = table.target
    assert target is not None
    return table.n_rows >= 2 and bool((target != target[0]).any()) and not (isinstance(cv, int) and cv < 2)


def _taken(table: Table, weight: Any, rows: Array) -> tuple[Table, Any]:
    """Some rows, each with all its weight."""
    return table.take(rows), None if weight is None else weight[rows]


def _check_judges(recipe: Recipe, weight: Any) -> None:
    """Refuse weighted rows where they are to certify, before anything is grown."""
    if weight is None or not recipe.is_certified or (weight[weight > 0] == 1).all():
        return
    raise UnsupportedError(
        f"the {np.count_nonzero(weight):,} rows kept aside to certify have weights (sample_weight, of total weight "
        f"{weight.sum():,.6g}), and a certificate counts independent rows, each once: fit without certify and certify "
        "on rows of weight 1 (certified_on, X_holdout), or, if a weight of 3 means three independent rows with the "
        "same values, hand them over as rows"
    )
