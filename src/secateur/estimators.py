"""TreeClassifier: the verbs behind the interface that users of scikit-learn know.

Thin on purpose: `fit` is `grow`, `predict` is `routing.apply` and a look at the counts. This
is the only module that imports scikit-learn, and it is imported when first asked for.
"""

import os
import warnings
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, csr_matrix
from scipy.special import entr
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ._kernels import structure
from ._sources import open_source
from .analysis import mixture
from .counts import Counts
from .encoding import encode
from .errors import DataError, ParameterError
from .growers import grow
from .routing import apply, decision_path
from .table import Table
from .text import export_rules, export_text
from .tree import Ints, Tree

__all__ = ["TreeClassifier"]

Floats = npt.NDArray[np.float64]

MIXTURE_BETA = 0.5  # weight of a pruning with one more growing error


class TreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree for classification, with the interface of scikit-learn.

    Parameters
    ----------
    criterion : {"gini", "entropy", "sqrt", "sqrt_pairs", "error", "gain_ratio"}
        What a test should lower most.
    splits : {"binary", "multiway"}
        Nominal columns: a set of categories against the rest, or one child per category.
    growth : {"depth-first", "best-first"}
        Best-first splits the leaf with the largest drop next.
    max_splits : int, optional
        Number of tests in all; for best-first growth.
    max_depth : int, optional
        Number of tests on a path.
    min_samples_leaf, min_samples_split : int
        Least number of examples in a child, and in a node to be split.
    min_weight_fraction_leaf : float
        Least share of the whole weight in a child. With class weights this is the limit that
        matters: rows of a class that weighs next to nothing then cannot make a leaf.
    max_bins : int, optional
        None considers every threshold; a number cuts between so many bins only.
    class_weight : dict or "balanced", optional
        Factor on the weights of each class; "balanced" makes all classes weigh the same.
    nominal : list of names or positions, optional
        Columns of numbers to be read as categories. Columns of text, truth values and
        categorical types are read so anyway.
    prune : None
        The whole tree is kept.
    probabilities : {"frequency", "mixture"}
        What `predict_proba` returns: the class shares in the row's leaf, or the mean of the
        shares over all prunings of the tree, each weighted by how few growing errors it makes
        (half for every further one). The classes predicted are those of the leaves either way.
    random_state : None, int or RandomState
        Without effect: growing has no randomness. Taken because tools that set the seed of
        every step expect it.
    n_jobs : int, optional
        Threads; -1 for one per core. The tree does not depend on it.

    Attributes
    ----------
    tree_ : Tree
        Structure and tests.
    counts_ : Counts
        The growing sample in the nodes of the tree.
    classes_ : array
        The class labels, sorted, of the type they were given in.
    n_classes_, n_features_in_ : int
    feature_names_in_ : array of str
        Only if `X` had column names.
    feature_importances_ : array
        See the property.

    Notes
    -----
    Columns of a data frame are matched by name, in whatever order they come. Numbers may be
    missing (NaN), and are compared in float64: a threshold means what it says.

    An interrupted or failed `fit` changes nothing: the estimator stays unfitted, or keeps the
    tree of the last `fit` that ended.

    Examples
    --------
    >>> from secateur.estimators import TreeClassifier
    >>> X = [["sunny", 30.0], ["sunny", 18.0], ["rain", 20.0], ["rain", 12.0], ["sunny", 21.0]]
    >>> y = ["stay", "go", "stay", "stay", "go"]
    >>> model = TreeClassifier(criterion="entropy").fit(X, y)
    >>> model.tree_, model.score(X, y)
    (Tree(3 leaves, 5 nodes, depth 2), 1.0)
    >>> model.predict([["sunny", 15.0], ["rain", 19.0]]).tolist()
    ['go', 'stay']
    >>> print(model.export_text(feature_names=["sky", "degrees"]))
    |--- sky = rain
    |   |--- class: stay (2 rows, 0 errors)
    |--- sky = sunny
    |   |--- degrees <= 25.50
    |   |   |--- class: go (2 rows, 0 errors)
    |   |--- degrees > 25.50
    |   |   |--- class: stay (1 row, 0 errors)
    """

    _doc_link_module = "secateur"
    _doc_link_template = "https://secateur.readthedocs.io/en/stable/reference/{estimator_module}.{estimator_name}.html"

    tree_: Tree
    counts_: Counts
    classes_: npt.NDArray[Any]
    n_classes_: int
    n_features_in_: int

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splits: Literal["binary", "multiway"] = "binary",
        growth: Literal["depth-first", "best-first"] = "depth-first",
        max_splits: int | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_samples_split: int = 2,
        min_weight_fraction_leaf: float = 0.0,
        max_bins: int | None = None,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        nominal: Any = None,
        prune: None = None,
        probabilities: Literal["frequency", "mixture"] = "frequency",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splits = splits
        self.growth = growth
        self.max_splits = max_splits
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.nominal = nominal
        self.prune = prune
        self.probabilities = probabilities
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        y : array of shape (n_rows,)
            The class of each row: text, truth values or whole numbers.
        sample_weight : array of shape (n_rows,), optional
            A whole-number weight is the same as repeating the row; rows of weight 0 have no
            influence.

        Returns
        -------
        self
        """
        if self.prune is not None:
            raise ParameterError(f"prune={self.prune!r} is not there yet; None keeps the whole tree")
        if self.probabilities not in ("frequency", "mixture"):
            raise ParameterError(f"probabilities={self.probabilities!r}; 'frequency' or 'mixture' is needed")
        table = encode(X, target=_labels(y), nominal=self.nominal, weights=sample_weight)
        tree, counts = grow(
            table,
            criterion=self.criterion,
            splits=self.splits,
            growth=self.growth,
            max_splits=self.max_splits,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            min_samples_split=self.min_samples_split,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            max_bins=self.max_bins,
            sample_weight=sample_weight,
            class_weight=self.class_weight,
            n_jobs=self.n_jobs,
        )
        self._keep(tree, counts)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each row: the most frequent one in its leaf, the first of equals."""
        leaves = self.apply(X)
        labels: npt.NDArray[Any] = self.classes_[self.counts_.majority[leaves]]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, in the order of `classes_`, for each row.

        The shares in the row's leaf, or the mixture of all prunings: see `probabilities`. A
        leaf that no growing example reached has the shares of its parent.
        """
        leaves = self.apply(X)
        if self.probabilities == "mixture":
            return mixture(self.tree_, self.counts_, MIXTURE_BETA, node_proba=self._shares()).predict_proba(leaves)
        return self._shares()[leaves]

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the natural logarithm of `predict_proba`; -inf where a share is 0."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.predict_proba(X))
        return logs

    def apply(self, X: Any) -> Ints:
        """Return the number of the leaf that each row reaches."""
        check_is_fitted(self)
        self._check_names(X)
        return apply(self.tree_, X)

    def decision_path(self, X: Any) -> Any:
        """Return which nodes each row visits, as a sparse matrix of shape (n_rows, n_nodes).

        A matrix or an array, as scikit-learn's setting `sparse_interface` says.
        """
        leaves = self.apply(X)
        offsets, nodes = decision_path(self.tree_, leaves)
        wants_array = get_config().get("sparse_interface") == "sparray"
        shape = (len(offsets) - 1, self.tree_.n_nodes)
        return (csr_array if wants_array else csr_matrix)((np.ones(len(nodes), np.int64), nodes, offsets), shape=shape)

    def get_depth(self) -> int:
        """Return the largest number of tests on a path."""
        check_is_fitted(self)
        return int(self.tree_.depth.max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> Floats:
        """The share of each column in what all tests together take off the criterion.

        Zero everywhere if the tree is a single leaf. Under gain ratio the drop of the entropy
        counts. Columns with many different values are favoured, as always with such numbers.
        """
        check_is_fitted(self)
        at = self.tree_.internal
        drop = self.tree_.score[at] * self.counts_.total[at]
        if self._is_ratio:
            drop = drop * _split_information(self.counts_)[at]
        summed = np.bincount(self.tree_.feature[at], np.maximum(drop, 0), minlength=self.n_features_in_)
        total = summed.sum()
        importances: Floats = summed / (total if total > 0 else 1.0)
        return importances

    def export_text(
        self,
        *,
        feature_names: Any = None,
        class_names: Any = None,
        max_depth: int | None = None,
        decimals: int = 2,
        show_weights: bool = False,
    ) -> str:
        """Return the tree as text; the parameters are those of `secateur.text.export_text`."""
        check_is_fitted(self)
        return export_text(
            self.tree_,
            self.counts_,
            feature_names=feature_names,
            class_names=class_names,
            max_depth=max_depth,
            decimals=decimals,
            show_weights=show_weights,
        )

    def export_rules(self, *, feature_names: Any = None, class_names: Any = None, decimals: int = 2) -> str:
        """Return one rule per leaf as text; the parameters are those of `secateur.text.export_rules`."""
        check_is_fitted(self)
        return export_rules(
            self.tree_, self.counts_, feature_names=feature_names, class_names=class_names, decimals=decimals
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        # Words are taken, but the tag promises more: that any object in a cell is.
        tags.input_tags.string = False
        tags.input_tags.sparse = False
        tags.array_api_support = False
        return tags

    def _keep(self, tree: Tree, counts: Counts) -> None:
        """Set all fitted attributes, none of which can fail."""
        schema = tree.schema
        assert schema is not None
        assert schema.classes is not None
        if schema.has_names:
            self.feature_names_in_ = np.array(schema.names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_features_in_ = len(schema.columns)
        self.classes_ = schema.classes
        self.n_classes_ = len(schema.classes)
        self._is_ratio = self.criterion == "gain_ratio"
        self.counts_ = counts
        self.tree_ = tree

    def _check_names(self, X: Any) -> None:
        """Warn, in the words of scikit-learn, when names came only once; `encode` compares them."""
        if isinstance(X, Table | str | os.PathLike):
            return
        has_names = not isinstance(X, np.ndarray | list | tuple) and open_source(X).has_names
        name = type(self).__name__
        if has_names and not hasattr(self, "feature_names_in_"):
            warnings.warn(f"X has feature names, but {name} was fitted without feature names", stacklevel=3)
        if not has_names and hasattr(self, "feature_names_in_"):
            warnings.warn(
                f"X does not have valid feature names, but {name} was fitted with feature names", stacklevel=3
            )

    def _shares(self) -> Floats:
        """Class shares of each node, or of its nearest ancestor with examples: multiway tests make empty leaves."""
        by_class = self.counts_.by_class
        is_empty = self.counts_.total == 0
        if is_empty.any():
            nodes = np.arange(self.tree_.n_nodes, dtype=np.int32)
            by_class = by_class[structure.inherit_labels(self.tree_.parent, nodes, is_empty)]
        shares: Floats = by_class / by_class.sum(axis=1, keepdims=True)
        return shares


def _labels(y: Any) -> Any:
    """The labels as `encode` takes them; scikit-learn has its own warning for a column."""
    if y is None:
        raise DataError("TreeClassifier requires y to be passed, but the target y is None")
    if isinstance(y, str) or np.isscalar(y):
        raise DataError(f"y is {y!r}; one label per row is needed, not the name of a column or one value")
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return column_or_1d(y, warn=True) if len(shape) == 2 and shape[1] == 1 else y


def _split_information(counts: Counts) -> Floats:
    """The entropy, in bits, of how each node's examples fall on its children."""
    parent, total = counts.tree.parent[1:], counts.total
    share = total[1:] / np.maximum(total[parent], 1e-300)
    information: Floats = np.bincount(parent, entr(share), minlength=len(total)) / np.log(2)
    return information
