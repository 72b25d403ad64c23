"""Grow a tree from rows with a target, in memory."""

from typing import Any, Literal

from .._utils.arrays import ArrayLike
from .._utils.threads import resolve_n_jobs
from ..core import Tree
from ..data.encoding import encode_weighted_rows
from ..data.weights import weigh_classes
from .parameters import GrowParameters
from .presorted_data import grow_rows


def grow(
    X: Any,
    y: Any = None,
    *,
    criterion: str = "gini",
    splits: Literal["binary", "one-vs-rest", "multiway"] = "binary",
    growth: Literal["depth-first", "best-first"] = "depth-first",
    max_splits: int | None = None,
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    min_samples_split: int = 2,
    min_weight_fraction_leaf: float = 0.0,
    max_bins: int | None = None,
    allow_zero: bool | None = None,
    penalise_numeric: bool = False,
    monotonic_cst: Any = None,
    interaction_cst: Any = None,
    surrogates: int = 0,
    sample_weight: ArrayLike | None = None,
    class_weight: dict[Any, float] | Literal["balanced"] | None = None,
    nominal: Any = None,
    n_jobs: int | None = None,
) -> tuple[Tree, Any]:
    """Grow a tree on rows with a target, and return the tree with the counts of the rows in its nodes.

    Parameters
    ----------
    X : array, data frame, path or Table
        The rows; a `Table` with a target needs no `y`.
    y : array or column name
        The class of each row; with "squared_error", a number.
    criterion : str
        Splitting criterion. A name of `secateur.growers.CRITERIA`. "error" is for demonstration, because it misses
        useful splits. "squared_error" grows a regression tree, whose leaves predict the mean of their rows.
    splits : {"binary", "one-vs-rest", "multiway"}
        How nominal columns are split: into two sets of categories, into one category and the rest, or into one branch
        per category. Numeric columns are always compared with a threshold.
    growth : {"depth-first", "best-first"}
        Order in which nodes are split; it matters with a maximum number of splits. Best-first always splits the leaf
        with the largest drop of the criterion, and records the order in `tree.split_order`.
    max_splits : int, optional
        Maximum number of splits, for best-first growth.
    max_depth : int, optional
        Maximum depth of the tree. A single leaf has depth 0.
    min_samples_leaf : int
        Minimum number of rows in a leaf. Whole-number weights count as repetitions; with other weights, rows are
        counted.
    min_samples_split : int
        Minimum number of rows in a node that is split. Rows are counted as for `min_samples_leaf`.
    min_weight_fraction_leaf : float
        Minimum share of the total weight in a leaf. From 0 to 0.5. With weights that are not whole numbers, it
        replaces `min_samples_leaf` and `min_samples_split`.
    max_bins : int, optional
        Maximum number of bins of a numeric column; without it every threshold is tried. The values of a column with
        more values are put into bins with about equal numbers of rows, and thresholds lie between bins.
    allow_zero : bool, optional
        Whether an impure node is split when no split lowers the criterion. By default, yes for depth-first growth and
        no for best-first.
    penalise_numeric : bool
        Whether gain ratio subtracts log2(values - 1) / rows from the gain of numeric splits.
    monotonic_cst : array or dict, optional
        Columns in which predictions may only rise (1) or only fall (-1). One number for each column, or a dict from
        column names; 0 is no constraint. All else being equal, the prediction (for two classes, the share of the
        second) then never falls, or never rises, as the column rises. Only for numeric columns, and for two classes
        or numbers. Splits of these columns keep the order, and every node predicts its share or mean within limits
        that these splits set, so that all prunings of the tree are in this order; missing values have no order.
    interaction_cst : list of groups, "pairwise" or "no_interactions", optional
        Groups of columns that may be split on together on the way to a leaf. Columns are given by name or number.
        Columns in no group form one more group. "pairwise" allows any two columns, "no_interactions" one column.
    surrogates : int
        Maximum number of surrogates per node, for rows whose tested value is missing. The surrogates that agree best
        with the split of the node decide first, and the default child takes the remaining rows. The subtree of a child
        is also grown on the rows that surrogates send there. Only for binary, depth-first trees without bins.
    sample_weight : array, optional
        Weight of each row. Rows of weight 0 have no influence. A whole-number weight is the
        same as repeating the row.
    class_weight : dict or "balanced", optional
        Weight of each class; balanced gives all classes the same total weight.
    nominal : list, optional
        Columns of numbers to read as categories.
    n_jobs : int, optional
        Number of threads; -1 uses all cores. The tree does not depend on it.

    Returns
    -------
    (Tree, Counts) or (Tree, Moments)
        Counts (regression: `Moments`) of the sample "grow". Among tied splits, the lower column wins, then the lower
        threshold or the set of categories that comes first. There is no randomness: the same
        rows in any order give the same tree.

    Notes
    -----
    Columns are sorted once; a level of the tree costs O(rows x columns).
    At every threshold, the rows with a missing number are tried on both sides. The split of missing from known numbers
    is also tried. A missing category counts as one more category. Scores that differ by less than 1e-12 of the node's
    impurity are tied.

    In a node with at most 10 categories, the best set of categories is found. In a node with more categories, only some
    sets are tried: the categories are ordered by the share of a class, or by the mean of the target, and the first
    categories of this order are split from the others. With two classes or "squared_error", the best of all sets is
    among the tried ones, unless one of its children would be smaller than the minimum. With more than two classes, the
    best set may be missed.

    A column of more than 1,000 categories is split only at depths d where `2**d` times the number of categories is at
    most 2**24: down to depth 13 with 2,000 categories, 7 with 100,000, 4 with a million. A split stores a branch for
    every category, so without this limit the memory would grow with rows times categories.

    "squared_error" subtracts the median from the target, so that a large offset costs no accuracy.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0], [2.0], [4.0], [5.0]], ["no", "no", "yes", "no"])
    >>> tree
    Tree(3 leaves, 5 nodes, depth 2)
    >>> tree.threshold.tolist()
    [3.0, nan, 4.5, nan, nan]
    >>> counts
    Counts('grow', 4 in 2 classes, 5 nodes)
    >>> tree, moments = secateur.grow([[1.0], [2.0], [4.0]], [3.0, 3.0, 9.0], criterion="squared_error")
    >>> moments.mean.tolist(), moments.sse.tolist()
    ([5.0, 3.0, 9.0], [24.0, 0.0, 0.0])
    """
    parameters = GrowParameters(
        criterion=criterion, splits=splits, growth=growth, max_splits=max_splits, max_depth=max_depth,
        min_samples_leaf=min_samples_leaf, min_samples_split=min_samples_split,
        min_weight_fraction_leaf=min_weight_fraction_leaf, max_bins=max_bins, allow_zero=allow_zero,
        penalise_numeric=penalise_numeric, monotonic_cst=monotonic_cst, interaction_cst=interaction_cst,
        surrogates=surrogates, class_weight=class_weight, nominal=nominal,
    )  # fmt: skip
    n_threads = resolve_n_jobs(n_jobs)
    parameters.check_values()
    rows = encode_weighted_rows(
        X, y, sample_weight, target_kind=parameters.target_kind, nominal=nominal, purpose="growing"
    )
    grown = grow_rows(weigh_classes(rows, class_weight).drop_weightless(), parameters, n_threads)
    return grown.tree, grown
