"""TreeEstimator: the common base of both estimators, with fitting and the methods of the fitted tree."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import model_selection
from .._utils.arrays import Array, ArrayLike, Category, Floats, Ints, Labels, Rows
from .._utils.checks import check_dict, check_int, check_name
from .._utils.progress import progress_bar
from .._utils.warn import warn
from ..core import Bound, GroupRates, Model, Pruning, PruningSequence, Selection, Tree
from ..data.batch import open_batch
from ..data.encoding import encode
from ..data.groups import drop_column, split_off_groups
from ..data.table import Table
from ..data.target import TargetKind
from ..errors import DataError, TreeError
from ..inspection import Evaluation, Explanation, Summary, evaluate, explain, importances, reason_codes, summary
from ..inspection.text import export_rules, export_text
from ..model_selection._recipe import plain_values
from ..model_selection.alternatives import with_pruning
from ..routing import count, decision_path, prediction
from ..statistics import PROBABILITIES
from ..statistics.repeats import RepeatRule
from ._arguments import check_no_foreign_parameter, check_target, effective_n_jobs, seed_of, stored_groups_column
from ._by_hand import HandGrowingMixin
from ._certifying import CertifyingMixin

if TYPE_CHECKING:
    from ..report import Governance, Report


class TreeEstimator(CertifyingMixin, HandGrowingMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of `TreeClassifier` and `TreeRegressor`; not for direct use."""

    _model: Model
    tree_: Tree
    pruning_: Pruning
    sequence_: PruningSequence | None
    selection_: Selection | None
    certificate_: Bound | None
    group_rates_: tuple[GroupRates, ...]
    n_features_in_: int
    repeats: RepeatRule

    _target_kind: TargetKind = "class"

    def __new__(cls, *_: Any, **parameters: Any) -> Self:
        """Make an estimator; raise an error for a parameter that only scikit-learn's trees have."""
        check_no_foreign_parameter(cls.__name__, parameters)
        estimator: Self = super().__new__(cls)
        return estimator

    def fit(
        self,
        X: Rows,
        y: Labels,
        sample_weight: ArrayLike | None = None,
        *,
        groups: Labels = None,
        X_holdout: Rows = None,
        y_holdout: Labels = None,
        groups_holdout: Labels = None,
    ) -> Self:
        """Grow and prune the tree, and choose its size.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        y : array of shape (n_rows,)
            The class of each row: text, booleans or whole numbers. For `TreeRegressor` finite numbers.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row. In growing, a whole-number weight is the same as repeating the row; rows of weight 0
            have no influence. A row is held out or assigned to a fold with all its weight.
        groups : array of shape (n_rows,) or column name, optional
            The group of each row, if rows belong together, such as the visits of a patient: text or whole numbers. All
            rows of a group are held out, or assigned to a fold, together, and a certificate counts groups as
            independent draws. If `groups` names a column of `X`, the tree does not split on this column.
        X_holdout, y_holdout : optional
            Fresh rows to prune, choose or certify with, in place of a share of `X`.
        groups_holdout : array, optional
            The group of each row of `X_holdout`. It is needed if `groups` is an array; if `groups` names a column, the
            groups are read from that column. No group may have rows in both `X` and `X_holdout`.

        Returns
        -------
        self
        """
        parameters = self.get_params(deep=False)
        y = check_target(y, self)
        if X_holdout is None and y_holdout is not None:
            raise DataError("y_holdout is given without X_holdout; pass both, or neither")
        groups_column = groups if isinstance(groups, str) else None
        X, groups = split_off_groups(X, groups, self.nominal)
        if self.verbose is not None and not isinstance(self.verbose, bool):
            check_int("verbose", self.verbose, 0)
        recipe = self._recipe()
        with progress_bar("growing and cross-validating", self.verbose) as progress:
            table = encode(
                X, target=y, nominal=self.nominal, sample_weight=sample_weight, target_kind=self._target_kind
            )
            held_out = None
            if X_holdout is not None:
                if groups_column is not None:
                    X_holdout, groups_holdout = split_off_groups(X_holdout, groups_column)
                labels = check_target(y_holdout, self, "y_holdout")
                held_out = encode(X_holdout, schema=table.schema, target=labels)
            stored = plain_values(parameters)
            model = model_selection.fit_model(
                table, recipe, sample_weight=sample_weight, held_out=held_out, groups=groups,
                held_out_groups=groups_holdout, progress=progress,
            )  # fmt: skip
        if groups_column is not None:
            model = replace(model, metadata={**model.metadata, "groups_column": groups_column})
        self._set_model(replace(model, parameters={"estimator": type(self).__name__, **stored}))
        return self

    def _recipe(self) -> model_selection.Recipe:
        """Return how the estimator fits, from its parameters."""
        parameters = self.get_params(deep=False)
        check_name("probabilities", parameters.get("probabilities", "shrunk"), PROBABILITIES)
        return model_selection.Recipe.of(
            parameters, n_jobs=effective_n_jobs(self.n_jobs), seed=seed_of(self.random_state),
            prune_parameters=check_dict("prune_parameters", self.prune_parameters),
        )  # fmt: skip

    @property
    def model_(self) -> Model:
        """All parts of the fitted tree as one frozen `Model`.

        Methods read the property once, because another thread may fit the estimator in between.
        """
        if "_model" not in self.__dict__:
            check_is_fitted(self)
        return self._model

    def predict(self, X: Rows) -> Array:
        """Return the prediction for each row: its class, or the mean of its leaf."""
        model = self.model_
        return prediction.predict(model, self._open(X, model))

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Return a fitted estimator for a `Model`, with the parameters stored in the model."""
        known = cls._get_param_names()
        estimator = cls(**{name: value for name, value in model.parameters.items() if name in known})
        estimator._set_model(model)
        return estimator

    @classmethod
    def from_sklearn(cls, estimator: Any, X: Rows = None, y: Labels = None) -> Self:
        """Return a fitted estimator for a fitted scikit-learn tree; see `secateur.interop.from_sklearn`."""
        from ..interop import from_sklearn

        return cls.from_model(from_sklearn(estimator, X, y))

    def apply(self, X: Rows) -> Ints:
        """Return the leaf that each row reaches, as a node number of the grown tree."""
        model = self.model_
        return prediction.predict_leaf(model, self._open(X, model))

    def decision_path(self, X: Rows) -> Any:
        """Return the nodes that each row visits, as a sparse matrix of shape (n_rows, n_nodes of the grown tree).

        scikit-learn's setting `sparse_interface` decides between a sparse matrix and a sparse array.
        """
        model = self.model_
        leaves = prediction.predict_leaf(model, self._open(X, model))
        offsets, nodes = decision_path(model.tree, leaves)
        is_array = get_config().get("sparse_interface") == "sparray"
        shape = (len(offsets) - 1, model.tree.n_nodes)
        return (csr_array if is_array else csr_matrix)((np.ones(len(nodes), np.int64), nodes, offsets), shape=shape)

    def get_depth(self) -> int:
        """Return the depth of the pruned tree."""
        return int(self.model_.pruned_tree.depth.max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the pruned tree."""
        return self.model_.pruning.n_leaves

    @property
    def feature_importances_(self) -> Floats:
        """The share of each column in the total drop of the criterion.

        All shares are 0 if the tree is a single leaf. With the criterion gain ratio, the shares are those in the total
        drop of the entropy. As with all impurity-based importances, columns with many different values are favoured.
        """
        return importances(self.model_)

    def snip(self, node: int) -> Self:
        """Return a new fitted estimator, cut at one more node of `tree_`."""
        return self._with_model(model_selection.snip(self.model_, node))

    def with_pruning(self, pruning: Pruning) -> Self:
        """Return a new fitted estimator with another pruning of `tree_`, such as a member of `alternatives()`.

        It has no certificate.

        Examples
        --------
        >>> from secateur import Pruning, TreeClassifier
        >>> model = TreeClassifier(select=None).fit([[1.0], [2.0], [4.0], [5.0]], ["no", "no", "yes", "yes"])
        >>> model.with_pruning(Pruning.from_cuts(model.tree_, [0])).get_n_leaves()
        1
        """
        return self._with_model(with_pruning(self.model_, pruning))

    def summary(self) -> Summary:
        """Return a summary to print: sizes, prunings near the chosen one, errors, importances and the certificate.

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
        X: Rows = None,
        y: Labels = None,
        sample_weight: ArrayLike | None = None,
    ) -> Explanation:
        """Explain the prediction for one row, how certain it is, and the nearest change to another prediction.

        The parameters are those of `secateur.inspection.explain`. With the rows that were passed to `fit` as `X`, `y`
        and `sample_weight`, the explanation also states what else the nodes on the path could have asked.

        Examples
        --------
        >>> from secateur import TreeClassifier
        >>> model = TreeClassifier(select=None).fit([[1.0], [2.0], [4.0], [5.0]], ["no", "no", "yes", "yes"])
        >>> print(model.explain([1.5]))
        x0 is 1.5: x0 <= 3
        prediction: no (leaf 1, 2 rows: no 100.0 %, yes 0.0 %)
        to change it: x0 above 3 (is 1.5) would give yes
        """
        model = self.model_
        growing = None if X is None else self._rows_of_candidates(model, X, y, sample_weight)
        return explain(model, row, index=index, actionable=actionable, wanted=wanted, delta=delta, growing=growing)

    def reasons(
        self,
        X: Rows,
        *,
        favourable: Category = None,
        n: int = 4,
        texts: Mapping[str, str] | str | os.PathLike[str] | None = None,
        actionable: Sequence[str] | None = None,
    ) -> Any:
        """Return why predictions are unfavourable, and the nearest change to a favourable one, for many rows at once.

        Each reason is a column, the value of the row, the values needed, and how much the tests of the column moved the
        estimate. The parameters are those of `secateur.inspection.reason_codes`.

        Returns
        -------
        data frame or ReasonCodes
            For a data frame, one of the same library with one row for each row of `X`; otherwise a `ReasonCodes`.

        Examples
        --------
        >>> from secateur import TreeClassifier
        >>> model = TreeClassifier(select=None).fit([[1.0], [2.0], [4.0], [5.0]], ["no", "no", "yes", "yes"])
        >>> print(model.reasons([[1.5], [4.5]], favourable="yes")[0][0])
        x0: 1.5, needed: above 3
        """
        import narwhals.stable.v2 as nw

        model = self.model_
        codes = reason_codes(
            model, self._open(X, model), favourable=favourable, n=n, texts=texts, actionable=actionable
        )
        is_frame = isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)
        return codes.to_frame_like(X) if is_frame else codes

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
        X, labels = split_off_groups(X, stored_groups_column(X, model))
        counts = count(
            model.tree, X, check_target(y, self), sample_weight=sample_weight, sample="evaluate", groups=labels
        )
        return evaluate(model, counts, positive=positive, false_positive=false_positive, false_negative=false_negative)

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        title: str | None = None,
        *,
        X: Rows = None,
        y: Labels = None,
        monitor: Any = None,
    ) -> "Report":
        """Return the interactive report of the tree, for a notebook; with a path, also write it to a file.

        With the growing rows as `X` and `y`, the report shows their distribution at each split; see
        `secateur.write_report`. With a `Monitor`, or the path of its state file, it shows what the monitor has found.
        """
        from ..plot.distribution import encode_shown_rows
        from ..report import Report

        table = encode_shown_rows(
            self.model_.tree, None if X is None else (X, None if y is None else check_target(y, self))
        )
        report = Report(self.model_, title, is_estimator=True, table=table, monitor=monitor)
        if path is not None:
            report.save(path)
        return report

    def governance(self, path: str | os.PathLike[str] | None = None, **options: Any) -> "Governance":
        """Return all that is known about the fitted tree, for those who must answer for it; with a path, also write it.

        The ending of the path decides the format: .md, .html or .json. The options are those of
        `secateur.report.governance`: `purpose`, `owner`, `date`, `fit_date`, `title`, `data`, `model_file`, `monitor`.

        Examples
        --------
        >>> from secateur import TreeClassifier
        >>> model = TreeClassifier(select=None).fit([[1.0], [2.0], [4.0], [5.0]], ["no", "no", "yes", "yes"])
        >>> model.governance(owner="Credit risk", date="2026-03-01")
        Governance('Audit file: TreeClassifier', 13 sections)
        """
        from ..report import governance

        file = governance(self, **options)
        if path is not None:
            file.save(path)
        return file

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
        from ..inspection.sentences import describe_scores
        from ..report import picture

        model = self.model_
        sentence = " ".join([f"{model.pruning.n_leaves:,} of {model.tree.n_leaves:,} leaves.", *describe_scores(model)])
        if model.certificate is not None:
            sentence += f" {model.certificate}"
        return f"<div>{picture(model)}<p>{escape(sentence)}</p></div>{table}"

    def save(self, path: str | os.PathLike[str], *, sketch: bool = True) -> None:
        """Write the fitted estimator to a file that `secateur.load` reads; `.gz` compresses it.

        With `sketch=False` the file contains no hashes of rows and no targets of held-out rows, and later certificates
        state that freshness was not checked; see `secateur.modelfile.save_model`.
        """
        from ..modelfile import save_model

        save_model(self.model_, path, sketch=sketch)

    def to_sklearn(self) -> Any:
        """Return a scikit-learn tree with the same predictions; see `secateur.interop.to_sklearn`."""
        from ..interop import to_sklearn

        return to_sklearn(self.model_)

    def export_text(self, **options: Any) -> str:
        """Return the tree as text; the parameters are those of `secateur.inspection.text.export_text`."""
        model = self.model_
        return export_text(model.tree, model.grown, pruning=model.pruning, **options)

    def export_rules(self, **options: Any) -> str:
        """Return one rule per leaf as text; the parameters are those of `secateur.inspection.text.export_rules`."""
        model = self.model_
        return export_rules(model.tree, model.grown, pruning=model.pruning, **options)

    def export(self, to: str, **parameters: Any) -> Any:
        """Return the tree in another format; `secateur.exports.EXPORTS` lists the formats.

        Exported probabilities are those of `predict_proba`.
        """
        from ..exports import EXPORTS, export

        if self._target_kind == "class" and to in EXPORTS and EXPORTS[to].runs:
            shares = prediction.node_probabilities(self.model_, kind=self.probabilities)
            parameters = {"probabilities": shares, **parameters}
        return export(self.model_, to=to, **parameters)

    def export_dot(self, **parameters: Any) -> str:
        """Return the tree for Graphviz; see `secateur.exports`."""
        return str(self.export("dot", **parameters))

    def export_sql(self, **parameters: Any) -> str:
        """Return the tree as a SQL query that predicts the same; see `secateur.exports`."""
        return str(self.export("sql", **parameters))

    def export_json(self) -> str:
        """Return the text of the model file; `secateur.load` reads it from a file."""
        from ..modelfile import dumps_model

        return dumps_model(self.model_).decode()

    def __sklearn_tags__(self) -> Any:
        """Return the tags from which scikit-learn's estimator checks learn what input is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        # Cells may be text, but the tag would promise that they may be any object.
        tags.input_tags.string = False
        tags.input_tags.sparse = True
        tags.array_api_support = False
        return tags

    def _set_model(self, model: Model) -> None:
        """Set all fitted attributes in one step, so that other threads never see attributes of two trees."""
        schema = model.tree.schema
        if schema is None:
            raise TreeError("the tree is a bare structure without columns; an estimator needs a tree with splits")
        fitted: dict[str, Any] = {
            "_model": model, "tree_": model.tree, "counts_": model.grown, "pruning_": model.pruning,
            "holdout_": model.holdout, "sequence_": model.sequence, "selection_": model.selection,
            "certificate_": model.certificate, "group_rates_": model.group_rates, "n_features_in_": len(schema.columns),
        }  # fmt: skip
        if schema.has_names:
            fitted["feature_names_in_"] = np.array(schema.names, object)
        else:
            self.__dict__.pop("feature_names_in_", None)
        if schema.classes is not None:
            fitted |= {"classes_": schema.classes, "n_classes_": len(schema.classes)}
        self.__dict__.update(fitted)

    def _with_model(self, model: Model) -> Self:
        """Return a new estimator with the same parameters and another fitted model."""
        estimator = type(self)(**self.get_params(deep=False))
        estimator._set_model(model)  # noqa: SLF001 a method of the same class
        return estimator

    def _open(self, X: Rows, model: Model) -> Any:
        """Return X in a form that `encode` accepts; warn if only one of X and the fitted data has column names.

        The warnings have the words of scikit-learn's estimators, because its estimator checks require them.
        """
        if isinstance(X, Table | str | os.PathLike):
            return X
        batch = None if isinstance(X, np.ndarray | list | tuple) else open_batch(X)
        groups_column = stored_groups_column(batch, model)
        if batch is not None and groups_column is not None:
            batch = drop_column(batch, groups_column)
        has_names = batch is not None and batch.has_names
        was_fitted_with_names = model.tree.schema is not None and model.tree.schema.has_names
        estimator = type(self).__name__
        if has_names and not was_fitted_with_names:
            warn(f"X has feature names, but {estimator} was fitted without feature names")
        if not has_names and was_fitted_with_names:
            warn(f"X does not have valid feature names, but {estimator} was fitted with feature names")
        return X if batch is None else batch
