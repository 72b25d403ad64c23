"""Growing by hand: the candidate splits of a node, and edits of a fitted tree."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .. import model_selection
from .._utils.arrays import ArrayLike, Labels, Rows
from ..core import Model, as_model
from ..data.encoding import encode
from ..data.groups import split_off_groups
from ..data.table import Table
from ..errors import DataError
from ..inspection import NodeCandidates, list_candidates
from ..model_selection.edits import Edit
from ._arguments import check_target, stored_groups_column

if TYPE_CHECKING:
    from ._base import TreeEstimator

EditsLike = str | os.PathLike[str] | dict[str, Any] | Edit | Iterable[Edit | dict[str, Any]]


class HandGrowingMixin:
    """The methods of the estimators for growing by hand; not for direct use."""

    def candidates(
        self: Any,
        node: int,
        X: Rows,
        y: Labels,
        sample_weight: ArrayLike | None = None,
        *,
        groups: Labels = None,
        per_column: int = 1,
        sample: str | None = None,
    ) -> NodeCandidates:
        """Return the splits that a node of the grown tree could have, ranked as growing compares them.

        Parameters
        ----------
        node : int
            Number of the node in the grown tree; the root is 0.
        X, y, sample_weight, groups
            The rows, weights and groups that were passed to `fit`. Rows that `fit` held out are left out.
        per_column : int
            Maximum number of thresholds of one numeric column; by default, the best one.
        sample : str, optional
            Name of a sample of other rows. The splits are then compared on all rows of `X`, and the evaluation log of
            the tree records that these rows may choose splits: they cannot certify a tree that is edited afterwards.

        Returns
        -------
        NodeCandidates
            The best split of each column that satisfies the growing parameters, such as `min_samples_leaf` and
            `monotonic_cst`. The first one is the split that growing chooses, with its rule for ties.

        Examples
        --------
        >>> from secateur import TreeClassifier
        >>> X, y = [[1.0, 7.0], [2.0, 9.0], [4.0, 8.0], [5.0, 6.0]], ["no", "no", "yes", "yes"]
        >>> model = TreeClassifier(select=None, criterion="gini").fit(X, y)
        >>> for split in model.candidates(0, X, y):
        ...     print(split.text, split.rows, round(split.share, 3), split.is_current)
        x0 <= 3 (2.0, 2.0) 1.0 True
        x1 <= 6 (1.0, 3.0) 0.333 False
        """
        model: Model = self.model_
        rows, parameters = self._rows_of_candidates(model, X, y, sample_weight, groups=groups, sample=sample)
        return list_candidates(model.tree, node, rows, parameters, per_column=per_column, sample=sample)

    def _rows_of_candidates(
        self: Any,
        model: Model,
        X: Rows,
        y: Labels,
        sample_weight: ArrayLike | None,
        *,
        groups: Labels = None,
        sample: str | None = None,
    ) -> Any:
        """Return the rows on which the splits of a node are compared, and the parameters of growing."""
        table, groups = _encode_as_fitted(self, model, X, y, groups)
        return model_selection.rows_of_candidates(
            model, table, self._recipe(), sample_weight=sample_weight, groups=groups, sample=sample
        )

    def edit(
        self: Any,
        edits: EditsLike,
        X: Rows,
        y: Labels,
        sample_weight: ArrayLike | None = None,
        *,
        groups: Labels = None,
        X_holdout: Rows = None,
        y_holdout: Labels = None,
        groups_holdout: Labels = None,
    ) -> Any:
        """Return a new fitted estimator whose grown tree is changed by hand; all else follows the usual rules.

        The edited tree is pruned, chosen and certified as `fit` does with the parameters of the estimator.

        Parameters
        ----------
        edits : list of Edit or dict, or path
            What to change, in order; see `secateur.model_selection.Edit`. A path names a JSON file, as the report
            writes it.
        X, y, sample_weight, groups, X_holdout, y_holdout, groups_holdout
            As they were passed to `fit`.

        Returns
        -------
        TreeClassifier or TreeRegressor
            `model_.metadata["edits"]` lists the edits. Nodes below which nothing was edited are unchanged. The size is
            chosen as in `fit`: with cross-validation, the tree of each fold has the tests above the edited nodes and
            the edits, and all else is grown on the training rows of the fold; a split that states only its column gets
            the best threshold of these rows.

        Notes
        -----
        A choice that was made by looking at growing rows is part of growing. Rows of other samples that were looked at
        (`looked_at` of an edit, or `candidates` with a `sample`) count as rows that grew the tree: they cannot certify
        it. Held-out rows that were evaluated on the tree before the edits certify the edited tree only by a method that
        pays for a choice.

        Examples
        --------
        >>> from secateur import TreeClassifier
        >>> X, y = [[1.0, 7.0], [2.0, 9.0], [4.0, 8.0], [5.0, 6.0]], ["no", "no", "yes", "yes"]
        >>> model = TreeClassifier(select=None, criterion="gini").fit(X, y)
        >>> edited = model.edit([{"action": "split", "node": 0, "column": "x1"}], X, y)
        >>> edited.tree_.feature.tolist(), edited.tree_.threshold[0].item()
        ([1, -1, 0, -1, -1], 6.5)
        >>> edited.model_.metadata["edits"][0]["text"]
        'split node 0 by x1'
        """
        model: Model = self.model_
        if X_holdout is None and y_holdout is not None:
            raise DataError("y_holdout is given without X_holdout; pass both, or neither")
        groups_column = groups if isinstance(groups, str) else model.metadata.get("groups_column")
        table, groups = _encode_as_fitted(self, model, X, y, groups)
        held_out = None
        if X_holdout is not None:
            if groups_column is not None:
                X_holdout, groups_holdout = split_off_groups(X_holdout, groups_column)
            held_out = encode(X_holdout, schema=table.schema, target=check_target(y_holdout, self, "y_holdout"))
        edited = model_selection.edit_model(
            model, edits, table, self._recipe(), sample_weight=sample_weight, groups=groups, held_out=held_out,
            held_out_groups=groups_holdout,
        )  # fmt: skip
        return self._with_model(edited)


def _encode_as_fitted(
    estimator: "TreeEstimator", model: Model, X: Rows, y: Labels, groups: Labels
) -> tuple[Table, Any]:
    """Return rows in the schema of a fitted tree, and their groups."""
    if groups is None:
        groups = stored_groups_column(X, model)
    X, labels = split_off_groups(X, groups)
    return encode(X, schema=model.tree.schema, target=check_target(y, estimator)), labels


def candidates(
    model: Any, node: int, X: Rows, y: Labels, sample_weight: ArrayLike | None = None, **options: Any
) -> Any:
    """Return the ranked candidate splits of a node of a fitted tree; see `TreeClassifier.candidates`.

    Parameters
    ----------
    model : estimator or Model
    node, X, y, sample_weight, **options
        As for the method.

    Examples
    --------
    >>> import secateur
    >>> X, y = [[1.0, 7.0], [2.0, 9.0], [4.0, 8.0], [5.0, 6.0]], ["no", "no", "yes", "yes"]
    >>> model = secateur.TreeClassifier(select=None, criterion="gini").fit(X, y)
    >>> [(split.column, split.threshold, split.is_current) for split in secateur.candidates(model, 0, X, y)]
    [('x0', 3.0, True), ('x1', 6.5, False)]
    """
    return _as_estimator(model).candidates(node, X, y, sample_weight, **options)


def edit(
    model: Any, edits: EditsLike, X: Rows, y: Labels, sample_weight: ArrayLike | None = None, **options: Any
) -> Any:
    """Return a fitted model whose grown tree is changed by hand; see `TreeClassifier.edit`.

    Parameters
    ----------
    model : estimator or Model
    edits, X, y, sample_weight, **options
        As for the method.

    Returns
    -------
    estimator or Model
        A value of the same class as `model`.

    Examples
    --------
    >>> import secateur
    >>> X, y = [[1.0, 7.0], [2.0, 9.0], [4.0, 8.0], [5.0, 6.0]], ["no", "no", "yes", "yes"]
    >>> model = secateur.TreeClassifier(select=None, criterion="gini").fit(X, y)
    >>> edited = secateur.edit(model, [{"action": "forbid", "node": 0, "column": "x0"}], X, y)
    >>> edited.tree_.feature.tolist()
    [1, -1, 1, -1, 1, -1, -1]
    """
    edited = _as_estimator(model).edit(edits, X, y, sample_weight, **options)
    return edited if hasattr(model, "model_") else edited.model_


def _as_estimator(model: Any) -> Any:
    """Return a fitted estimator for an estimator or a Model."""
    if hasattr(model, "model_"):
        return model
    from . import TreeClassifier, TreeRegressor

    fitted = as_model(model, done="edited")
    return TreeClassifier.from_model(fitted) if fitted.is_classifier else TreeRegressor.from_model(fitted)
