"""InspectionMixin: methods that show and evaluate a fitted estimator."""

import os
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from .._utils.arrays import ArrayLike, Category, Labels, Rows
from ..core import Model
from ..inspection import Evaluation, Explanation, Summary, evaluate, explain, summary
from ..routing import count
from ._parameters import check_target

if TYPE_CHECKING:
    from ..report import Report


class InspectionMixin:
    """Methods of both estimators that show or evaluate the fitted model."""

    _model: Model

    @property
    def model_(self) -> Model:
        """All parts of the fitted tree as one frozen `Model`.

        Methods read the property once, because another thread may fit the estimator in between.
        """
        if "_model" not in self.__dict__:
            check_is_fitted(self)
        return self._model

    def summary(self) -> Summary:
        """Return a summary to print: sizes, the path around the choice, errors, importances and the certificate.

        Examples
        --------
        >>> from secateur import TreeClassifier
        >>> model = TreeClassifier(select=None).fit([[1.0], [2.0], [4.0], [5.0]], ["no", "no", "yes", "yes"])
        >>> model.summary().to_dict()["leaves"]
        2
        """
        return summary(self.model_)

    def explain(
        self,
        row: Rows,
        *,
        index: int = 0,
        actionable: Sequence[str] | None = None,
        wanted: Category = None,
        delta: float = 0.05,
    ) -> Explanation:
        """Explain the prediction for one row, how certain it is, and the nearest change to another prediction.

        The parameters are those of `secateur.inspection.explain`.

        Examples
        --------
        >>> from secateur import TreeClassifier
        >>> model = TreeClassifier(select=None).fit([[1.0], [2.0], [4.0], [5.0]], ["no", "no", "yes", "yes"])
        >>> print(model.explain([1.5]))
        x0 is 1.5: x0 <= 3
        prediction: no (leaf 1, 2 rows: no 100.0 %, yes 0.0 %)
        to change it: x0 above 3 (is 1.5) would give yes
        """
        return explain(self.model_, row, index=index, actionable=actionable, wanted=wanted, delta=delta)

    def evaluate(
        self,
        X: Rows,
        y: Labels,
        sample_weight: ArrayLike | None = None,
        *,
        positive: Category = None,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
    ) -> Evaluation:
        """Return errors, and for two classes ROC, lift, KS and the threshold of least cost, on other rows.

        The parameters are those of `secateur.inspection.evaluate`, with rows in place of counts.

        Examples
        --------
        >>> from secateur import TreeClassifier
        >>> model = TreeClassifier(select=None).fit([[1.0], [2.0], [4.0], [5.0]], ["no", "no", "yes", "yes"])
        >>> model.evaluate([[0.0], [9.0]], ["no", "yes"]).ranking.auc
        1.0
        """
        model = self.model_
        counts = count(model.tree, X, check_target(y, self), sample_weight=sample_weight, sample="evaluate")
        return evaluate(model, counts, positive=positive, false_positive=false_positive, false_negative=false_negative)

    def report(
        self, path: str | os.PathLike[str] | None = None, title: str | None = None, *, X: Rows = None, y: Labels = None
    ) -> "Report":
        """Return the interactive report of the tree, for a notebook; with a path, also write it to a file.

        With the growing rows as `X` and `y`, the report shows their distribution at each split; see
        `secateur.write_report`.
        """
        from ..plot.distribution import encode_shown_rows
        from ..report import Report

        table = encode_shown_rows(
            self.model_.tree, None if X is None else (X, None if y is None else check_target(y, self))
        )
        report = Report(self.model_, title, is_estimator=True, table=table)
        if path is not None:
            report.save(path)
        return report

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the tree with matplotlib; see `secateur.plot.TreeDisplay`."""
        from ..plot import plot

        return plot(self.model_, ax=ax, **options)

    def _html_repr(self) -> str:
        """Return the HTML for a notebook: a picture of the fitted tree and a sentence, above scikit-learn's table."""
        from sklearn.utils import estimator_html_repr

        table: str = estimator_html_repr(self)
        if not hasattr(self, "tree_"):
            return table
        from ..report import picture

        model = self.model_
        sentence = f"{model.pruning.n_leaves:,} of {model.tree.n_leaves:,} leaves."
        if model.certificate is not None:
            sentence += f" {model.certificate}"
        return f"<div>{picture(model)}<p>{escape(sentence)}</p></div>{table}"
