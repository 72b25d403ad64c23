"""grow: from a table to a tree that fits its sample."""

import warnings
from typing import Any, Literal

import numpy as np

from .._utils.arrays import ArrayLike
from .._utils.threads import StoppableThreadPool
from ..core import Tree
from ..data.encoding import encode
from ..data.table import Table
from ..data.weights import check_weights
from ..errors import DataError, ParameterError
from ..routing import with_growing_rows
from . import CRITERIA
from .kernel_arguments import InlinePool, apply_class_weight, resolve_n_jobs, settings_of
from .prepare import rows_used
from .presorted_data import PresortedData


def grow(
    X: Any,
    y: Any = None,
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
    """Grow a tree on a sample and return it with the counts of the sample.

    Parameters
    ----------
    X : array, data frame, path or Table
        The rows; a `Table` with a target needs no `y`.
    y : array or column name
        The class of each row; with "squared_error", a number.
    criterion : str
        Splitting criterion: a name of `secateur.growers.CRITERIA`. "error" is for demonstration,
        because it misses useful tests. "squared_error" grows a regression tree, whose leaves
        predict the mean of their rows.
    splits : {"binary", "multiway"}
        Nominal columns: a set of categories against the rest, or one child per category.
        Numeric columns are always compared with a threshold.
    growth : {"depth-first", "best-first"}
        Best-first splits the leaf with the largest drop next, and records the step in
        `tree.birth`.
    max_splits, max_depth : int, optional
        Maximum number of tests (best-first only), and of tests on a path from the root.
    min_samples_leaf, min_samples_split : int
        Minimum number of rows in a child, and in a node to be split. Whole-number weights
        count as repetitions; with other weights, rows are counted.
    min_weight_fraction_leaf : float
        Minimum share of the total weight in a child, from 0 to 0.5. With weights that are not
        whole numbers, it replaces `min_samples_leaf` and `min_samples_split`.
    max_bins : int, optional
        None considers every threshold. A number puts the values of each numeric column with
        more values into that number of bins with about equal numbers of rows, and cuts only between bins.
    allow_zero : bool, optional
        Whether an impure node is split when no test lowers the criterion. By default, yes
        for depth-first growth and no for best-first.
    penalise_numeric : bool
        With gain ratio: subtract log2(values - 1) / examples from the gain of numeric tests.
    monotonic_cst : array or dict, optional
        1, -1 or 0 for each column (or for some, by name): whether the prediction (for two classes, the
        share of the second) never falls, never rises, or may do either as the column rises, all else being
        equal. Only for numeric columns, and two classes or numbers. Tests that violate it are cut after growing.
    interaction_cst : list of groups, "pairwise" or "no_interactions", optional
        Columns, by name or number, that may be tested together: all tests on the way to a leaf are of columns of
        one group. Columns in no group form one more. "pairwise" allows every two, "no_interactions" one column.
    surrogates : int
        Maximum number of surrogate tests per node, for rows whose tested number is missing. Those that agree best
        with the node's own test decide first, and the default child takes the rest. Subtrees are grown on the
        rows that surrogates send there. Only for binary, depth-first trees without bins.
    sample_weight : array, optional
        Weight of each row. Rows of weight 0 have no influence. A whole-number weight is the
        same as repeating the row.
    class_weight : dict or "balanced", optional
        Weight of each class; "balanced" gives all classes the same total weight.
    nominal : list, optional
        Columns of numbers to be read as categories.
    n_jobs : int, optional
        Number of threads; -1 uses all cores. The tree does not depend on it.

    Returns
    -------
    (Tree, Counts) or (Tree, Moments)
        Counts (regression: `Moments`) of the sample "grow". Among tied tests, the lower column wins, then the lower
        threshold or the set of categories that comes first. There is no randomness: the same
        rows in any order give the same tree.

    Notes
    -----
    Columns are sorted once; a level of the tree costs O(rows x columns).
    Missing numbers are tried on both sides of every threshold and on their own; a missing
    category is a category of its own. Scores nearer than 1e-12 of the node's impurity are tied.

    The best set of categories is found, with two exceptions in nodes with more than
    10 categories. With more than two classes, only prefixes of the order by the share of some class
    are tried. With two classes, or "squared_error", the best of all sets is
    a prefix of the order by that share, or by the mean, and is found; but if the minimum size of a
    child rules it out, only the other prefixes are tried.

    A column of more than 1,000 categories is tested only down to the depth d at which `2**d` times
    its categories are 2**24: to depth 13 with 2,000, 7 with 100,000, 4 with a million. A test keeps a
    branch for every category, so without a limit an identifier takes rows times categories.

    "squared_error" takes targets relative to their median, so that large offsets lose nothing.

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
    settings = settings_of(
        criterion=criterion, splits=splits, growth=growth, max_splits=max_splits, max_depth=max_depth,
        min_samples_leaf=min_samples_leaf, min_samples_split=min_samples_split,
        min_weight_fraction_leaf=min_weight_fraction_leaf, max_bins=max_bins, allow_zero=allow_zero,
        penalise_numeric=penalise_numeric, monotonic_cst=monotonic_cst, interaction_cst=interaction_cst,
        surrogates=surrogates,
    )  # fmt: skip
    weight = None if sample_weight is None else np.asarray(sample_weight)
    kind = CRITERIA[criterion].target
    given = None if isinstance(X, Table) else weight
    table = encode(X, target=y, target_kind=kind, nominal=nominal, sample_weight=given)
    if table.target is None:
        raise DataError(f"y is None and the table has no target; growing needs the {kind} of each row")
    if kind == "number" and class_weight is not None:
        raise ParameterError(
            f"class_weight={class_weight!r} with criterion={criterion!r}: a numeric target has no classes"
        )
    n_jobs = resolve_n_jobs(n_jobs)
    weight = check_weights(weight, table.n_rows)
    if class_weight is not None:
        weight = check_weights(apply_class_weight(weight, table, class_weight), table.n_rows)
    table, weight = rows_used(table, weight)
    target, classes = table.target, table.schema.classes
    if classes is not None and target is not None and (target == target[0]).all():
        only = classes[target[0]]
        warnings.warn(f"every row has the class {only!r}; the tree is one leaf", UserWarning, stacklevel=2)
    with StoppableThreadPool(n_jobs) if n_jobs > 1 else InlinePool() as pool:
        sample = PresortedData(table, weight).whole().grow(settings, pool=pool, n_jobs=n_jobs)[1]
    grown = with_growing_rows(sample, table)
    return grown.tree, grown
