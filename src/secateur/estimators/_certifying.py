"""The methods of the estimators that use fresh rows: to certify the tree, prune it to a target, or calibrate it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

from .. import model_selection
from .._utils.arrays import ArrayLike, Labels, Rows
from ..data.groups import split_off_groups
from ..errors import DataError, ParameterError
from ..routing import count, count_groups
from ..statistics.repeats import RepeatRule
from ._arguments import check_target, seed_of, stored_groups_column

if TYPE_CHECKING:
    from ..core import GroupRates, Model


class CertifyingMixin:
    """The methods of the estimators that use fresh rows; not for direct use."""

    if TYPE_CHECKING:  # what the estimators have
        random_state: Any
        repeats: RepeatRule

        @property
        def model_(self) -> Model: ...
        def _with_model(self, model: Model) -> Self: ...

    def prune_to(
        self,
        *,
        n_leaves: int | None = None,
        alpha: float | None = None,
        accuracy: float | None = None,
        certified_error: float | None = None,
        X: Rows = None,
        y: Labels = None,
        delta: float | None = None,
        repeats: RepeatRule | None = None,
        group: Labels = None,
        max_gap: float | None = None,
        rate: str | None = None,
        positive: object = None,
    ) -> Self:
        """Return a new fitted estimator, pruned to another member of `sequence_` without growing again.

        Parameters
        ----------
        n_leaves : int
            Return a pruning with exactly this number of leaves: a member, or else the best of all prunings of that
            size. If there is none, return the largest smaller one and warn.
        alpha : float
            Return the best member for this penalty per leaf. The penalty is in errors per row: like `ccp_alpha` of
            scikit-learn, but with errors instead of impurity.
        accuracy : float
            Return the smallest member with at least this accuracy. Accuracy is measured by cross-validation if the tree
            was cross-validated, otherwise on held-out rows if there are any, otherwise on growing rows.
        certified_error : float
            Return the smallest member that is certified to have at most this error, a target that you state without
            looking at the certifying rows. For classifiers. If the rows were evaluated before, the certificate holds
            for all members at once, and its limits are higher. If no member is certified, there is a warning,
            `certificate_.certified` is False, and the tree is the one of lowest cross-validated error (without
            cross-validation, the largest).
        X, y : optional
            With `certified_error`: fresh rows to certify with, in place of the held-out rows of the estimator.
        delta, repeats : optional
            With `certified_error`: as for `secateur.certify`; by default the parameters of the estimator.
        group : str, array-like, dict of str to either, or list of str, optional
            With `X` and `y`: the population group of each row, such as women and men, as for `secateur.count_groups`.
            The error is then certified to be at most `certified_error` in every group.
        max_gap, rate, positive : optional
            With `group`: the largest difference of a rate between two groups, as for `certifiers.fixed_sequence`, alone
            or beside `certified_error`.
        """
        model = self.model_
        if certified_error is None and max_gap is None:
            if any(value is not None for value in (X, y, delta, repeats, group, rate, positive)):
                raise ParameterError(
                    "X, y, delta, repeats, group, rate and positive go with certified_error (or max_gap), which is not "
                    "given"
                )
            return self._with_model(model_selection.prune_to(model, n_leaves=n_leaves, alpha=alpha, accuracy=accuracy))
        if y is not None and X is None:
            raise DataError("y is given without X; pass both, or neither")
        if (group is not None or max_gap is not None) and (X is None or group is None):
            raise ParameterError("group and max_gap need fresh rows with their groups: pass X=, y= and group=")
        if X is not None:
            holdout = self._count_fresh_rows(X, y, group)
            model = replace(model, holdout=holdout, group_rates=())
        smaller = model_selection.prune_to(
            model, n_leaves=n_leaves, alpha=alpha, accuracy=accuracy, certified_error=certified_error,
            delta=getattr(self, "delta", 0.05) if delta is None else delta,
            repeats=getattr(self, "repeats", "errors") if repeats is None else repeats,
            per_group=group is not None and certified_error is not None, max_gap=max_gap, rate=rate, positive=positive,
        )  # fmt: skip
        return self._with_model(smaller)

    def certified_on(
        self,
        X: Rows,
        y: Labels,
        sample_weight: ArrayLike | None = None,
        *,
        method: str = "best",
        delta: float = 0.05,
        sample: str = "certify",
        repeated: bool = False,
        repeats: RepeatRule = "errors",
        groups: Labels = None,
        group_error: Literal["share", "any"] = "share",
        target_range: Sequence[float] | None = None,
        max_residual: float | None = None,
        group: Labels = None,
        positive: object = None,
    ) -> Self:
        """Return a new fitted estimator with a certificate from fresh rows; the tree does not change.

        Parameters
        ----------
        X, y
            Rows that had no part in growing, pruning or choosing the tree. `LeakageError` is raised if more of them
            than chance explains are equal to rows that had a part.
        sample_weight, repeated
            Whole-number weights, and whether they count independent rows: see `secateur.certify`.
        method, delta, repeats
            As for `secateur.certify`.
        sample : str
            Name of the sample. It must not be the name of a sample that was used before.
        groups : array or column name, optional
            The group of each row, as in `fit`. It is needed if the tree was fitted with groups; by default it is the
            column that `fit` used. No group may have rows among those that made the tree.
        group_error : "share" or "any"
            The loss of a group: its share of wrong rows, or 1 if any of its rows is wrong; see `secateur.certify`.
        target_range, max_residual : optional
            For `TreeRegressor`: the range of targets, or the largest possible difference between a target and its
            prediction, stated without looking at these rows; by default the one that the estimator was given.
        group : str, array-like, dict of str to either, or list of str, optional
            The population group of each row, such as women and men, as for `secateur.count_groups`: not the groups of
            rows that belong together. `group_rates_` of the result then has the certified rates of the groups
            (`secateur.certify_groups`), which hold at once with probability `1 - delta`.
        positive : class, optional
            With `group`: the positive class, as for `secateur.certify_groups`.
        """
        model = self.model_
        if target_range is None and max_residual is None:
            target_range, max_residual = getattr(self, "target_range", None), getattr(self, "max_residual", None)
        if group is None and positive is not None:
            raise ParameterError("positive goes with group, which is not given")
        if groups is None:
            groups = stored_groups_column(X, model)
        if group is None:
            X, labels = split_off_groups(X, groups)
            target = check_target(y, self)
            holdout = count(model.tree, X, target, sample_weight=sample_weight, sample=sample, groups=labels)
        else:
            if groups is not None or sample_weight is not None:
                raise ParameterError(
                    "group divides independent rows without weights into populations; it cannot go with groups, for "
                    "rows that belong together, or with sample_weight"
                )
            holdout = self._count_fresh_rows(X, y, group, sample)
        model = replace(model, holdout=holdout, group_rates=())
        bound = model_selection.certify_model(
            model, method=method, delta=delta, seed=seed_of(self.random_state), repeated=repeated,
            repeats=repeats, group_error=group_error, target_range=target_range, max_residual=max_residual,
        )  # fmt: skip
        rates: tuple[GroupRates, ...] = ()
        if group is not None:
            rates = model_selection.certify_model_groups(model, positive=positive, delta=delta, repeats=repeats)
        certified = replace(model, certificate=bound, group_rates=rates)
        return self._with_model(model_selection.calibrate_if_fresh(certified, repeats))

    def _count_fresh_rows(self, X: Rows, y: Labels, group: Labels, sample: str = "certify") -> Any:
        """Return the counts of rows that are to certify the tree, by population group if `group` is given."""
        target = check_target(y, self)
        if group is None:
            return count(self.model_.tree, X, target, sample=sample)
        return count_groups(self.model_.tree, X, target, group=group, sample=sample)

    def calibrated_on(
        self,
        X: Rows,
        y: Labels,
        sample_weight: ArrayLike | None = None,
        *,
        sample: str = "calibrate",
        repeats: RepeatRule | None = None,
    ) -> Self:
        """Return a new fitted estimator whose prediction intervals, or sets, come from other rows.

        Neither the tree nor the certificate changes.

        Parameters
        ----------
        X, y
            Rows that had no part in growing, pruning or choosing the tree. `LeakageError` is raised if more of them
            than chance explains are equal to rows that had a part.
        sample_weight : array, optional
            Rows of weight 0 are left out. Other weights than 0 and 1 are refused, because each row counts once.
        sample : str
            Name of the sample. It must not be the name of a sample that was used before.
        repeats : "errors" or "independent", optional
            How rows that occur more than once are treated: rows that may be copies count as not covered, or equal rows
            are independent draws. By default the parameter of the estimator.
        """
        model = self.model_
        X, labels = split_off_groups(X, stored_groups_column(X, model))
        target = check_target(y, self)
        rows = count(model.tree, X, target, sample_weight=sample_weight, sample=sample, groups=labels)
        rule: RepeatRule = self.repeats if repeats is None else repeats
        return self._with_model(model_selection.calibrate_model(model, rows, rule))
