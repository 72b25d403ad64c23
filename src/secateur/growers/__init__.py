"""Growing: from a table to a tree that fits its sample."""

import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._kernels import criteria
from .._kernels import grow_parts as parts
from ..counts import Counts
from ..encoding import encode
from ..errors import DataError, ParameterError
from ..labels import check_weights, summable
from ..table import Table
from ..tree import Tree
from ._assemble import assemble
from ._prepare import prepare, rows_used
from ._run import Grower

Criterion = Literal["gini", "entropy", "sqrt", "sqrt_pairs", "error", "gain_ratio"]
CRITERIA = ("gini", "entropy", "sqrt", "sqrt_pairs", "error", "gain_ratio")

__all__ = ["CRITERIA", "grow"]

_NO_LIMIT = 2**60


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
    sample_weight: npt.ArrayLike | None = None,
    class_weight: dict[Any, float] | Literal["balanced"] | None = None,
    nominal: Any = None,
    n_jobs: int | None = None,
) -> tuple[Tree, Counts]:
    """Return a tree grown on a sample, and the sample's counts in it.

    Parameters
    ----------
    X : array, data frame, path or Table
        The rows; a `Table` with a target needs no `y`.
    y : array or column name
        The class of each row.
    criterion : {"gini", "entropy", "sqrt", "sqrt_pairs", "error", "gain_ratio"}
        What a test should lower most. "error" is for demonstration: it is blind to useful tests.
    splits : {"binary", "multiway"}
        Nominal columns: a set of categories against the rest, or one child per category.
        Numeric columns are always compared with a threshold.
    growth : {"depth-first", "best-first"}
        Best-first splits the leaf with the largest drop next, and records the step in
        `tree.birth`.
    max_splits, max_depth : int, optional
        Number of tests in all (best-first only) and on a path.
    min_samples_leaf, min_samples_split : int
        Least number of examples in a child, and in a node to be split. Whole-number weights
        count as repetitions; with other weights rows are counted.
    min_weight_fraction_leaf : float
        Least share of the whole weight in a child, from 0 to 0.5. With weights that are not
        whole it takes the place of `min_samples_leaf` and `min_samples_split`.
    max_bins : int, optional
        None considers every threshold. A number puts the values of each numeric column with
        more values into as many bins of about equally many rows, and cuts between bins only.
    allow_zero : bool, optional
        Whether an impure node is split when no test lowers the criterion. By default yes
        depth-first, no best-first.
    penalise_numeric : bool
        With gain ratio: take log2(values - 1) / examples off the gain of numeric tests.
    sample_weight : array, optional
        Weight of each row. Rows of weight 0 have no influence. A whole-number weight is the
        same as repeating the row.
    class_weight : dict or "balanced", optional
        Factor on the weights of each class; "balanced" makes all classes weigh the same.
    nominal : list, optional
        Columns of numbers to be read as categories.
    n_jobs : int, optional
        Threads; -1 for one per core. The tree does not depend on it.

    Returns
    -------
    (Tree, Counts)
        Counts of the sample "grow". Of tied tests the lower column wins, then the lower
        threshold or the set of categories that comes first. There is no randomness: the same
        rows in any order give the same tree.

    Notes
    -----
    Columns are sorted once; a level of the tree costs O(rows x columns).
    Missing numbers are tried on both sides of every threshold and by themselves; a missing
    category is a category of its own. Scores nearer than 1e-12 of the node's impurity are tied.

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
    """
    limits, ratio = _limits(
        criterion, splits, growth, max_splits, max_depth,
        min_samples_leaf, min_samples_split, allow_zero, penalise_numeric,
    )  # fmt: skip
    _check_bins(max_bins)
    weight = None if sample_weight is None else np.asarray(sample_weight)
    table = encode(X, target=y, nominal=nominal, weights=None if isinstance(X, Table) else weight)
    if table.target is None or table.schema.classes is None:
        raise DataError("y is None and the table has no target; growing needs the class of each row")
    n_jobs = _n_threads(n_jobs)
    weight = check_weights(weight, table.n_rows)
    weight = check_weights(_times_class_weight(weight, table, class_weight), table.n_rows)
    table, weight = rows_used(table, weight)
    if weight is not None:
        weight = None if (weight == 1).all() else summable(weight)
    target, classes = table.target, table.schema.classes
    assert target is not None
    assert classes is not None
    n_classes = len(classes)
    if np.count_nonzero(np.bincount(target, minlength=n_classes)) == 1:
        only = classes[target[0]]
        warnings.warn(f"every row has the class {only!r}; the tree is one leaf", UserWarning, stacklevel=2)
    is_whole = weight is None or bool((weight == np.rint(weight)).all())
    exponent = 0
    if weight is not None and not is_whole:  # products of very small or large weights would leave the range
        exponent = int(np.frexp(weight.sum())[1])
        weight = np.ldexp(weight, -exponent)
    limits, by_weight = _with_least_weight(limits, min_weight_fraction_leaf, weight, table.n_rows, is_whole)
    with ThreadPoolExecutor(n_jobs) if n_jobs > 1 else _Inline() as pool:
        is_plain = weight is None and criterion in ("gini", "entropy", "sqrt")
        data = prepare(
            table,
            weight,
            max_bins=max_bins,
            multiway=limits.multiway,
            is_plain=is_plain,
            pool=pool,
            by_weight=by_weight,
        )
        measure = _criterion(criterion, table.n_rows, n_classes, is_plain)
        grower = Grower(measure, data, None if is_plain else ratio, limits, n_classes, pool, n_jobs)
        grown = grower.run(np.bincount(target, weight, minlength=n_classes).astype(float), table.n_rows)
    return assemble(grown, data, table, is_whole=is_whole, has_births=limits.best_first, exponent=exponent)


class _Inline:
    """The one-thread stand-in for a pool: no threads, so Ctrl-C and tracebacks stay simple."""

    def map(self, function: Any, items: Any) -> Any:
        return map(function, items)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def _criterion(name: str, n_rows: int, n_classes: int, is_plain: bool) -> Any:
    if not is_plain:
        return criteria.General(criteria.GENERAL["entropy" if name == "gain_ratio" else name])
    if name == "entropy":
        return criteria.entropy_table(n_rows)
    if name == "sqrt":
        return criteria.SqrtTwo() if n_classes == 2 else criteria.Sqrt()
    return criteria.GiniTwo() if n_classes == 2 else criteria.Gini()


def _limits(
    criterion: str,
    splits: str,
    growth: str,
    max_splits: int | None,
    max_depth: int | None,
    min_samples_leaf: int,
    min_samples_split: int,
    allow_zero: bool | None,
    penalise_numeric: bool,
) -> tuple[parts.Limits, parts.Ratio]:
    _check_name("criterion", criterion, CRITERIA)
    _check_name("splits", splits, ("binary", "multiway"))
    _check_name("growth", growth, ("depth-first", "best-first"))
    best_first = growth == "best-first"
    if max_splits is not None and not best_first:
        raise ParameterError(f"max_splits={max_splits} is for growth='best-first'; depth-first has no order to stop in")
    _check_number("max_splits", max_splits, 0, or_none=True)
    _check_number("max_depth", max_depth, 0, or_none=True)
    _check_number("min_samples_leaf", min_samples_leaf, 1)
    _check_number("min_samples_split", min_samples_split, 2)
    if not (allow_zero is None or isinstance(allow_zero, bool)):
        raise ParameterError(f"allow_zero={allow_zero!r}; True, False or None is needed")
    if not isinstance(penalise_numeric, bool):
        raise ParameterError(f"penalise_numeric={penalise_numeric!r}; True or False is needed")
    limits = parts.Limits(
        max_depth=_NO_LIMIT if max_depth is None else int(max_depth),
        max_splits=_NO_LIMIT if max_splits is None else int(max_splits),
        least_leaf=float(min_samples_leaf),
        least_split=float(min_samples_split),
        allow_zero=(not best_first) if allow_zero is None else bool(allow_zero),
        multiway=splits == "multiway",
        best_first=best_first,
    )
    ratio = parts.Ratio(criterion == "gain_ratio", 2.0, bool(penalise_numeric))
    return limits, ratio


def _with_least_weight(
    limits: parts.Limits, fraction: float, weight: Any, n_rows: int, is_whole: bool
) -> tuple[parts.Limits, bool]:
    """The limits with a least weight of children, and whether they are to count weights, not rows."""
    if isinstance(fraction, bool) or not 0 <= fraction <= 0.5:
        raise ParameterError(f"min_weight_fraction_leaf={fraction!r}; a number from 0 to 0.5 is needed")
    if fraction == 0:
        return limits, False
    slack = 1 - 1e-9  # weights are sums in some order
    if is_whole:
        least = fraction * slack * float(n_rows if weight is None else weight.sum())
        return limits._replace(least_leaf=max(limits.least_leaf, least)), False
    if limits.least_leaf > 1 or limits.least_split > 2:
        raise ParameterError(
            f"min_weight_fraction_leaf={fraction} with weights that are not whole takes the place of "
            "min_samples_leaf and min_samples_split; leave them at 1 and 2"
        )
    # A node lighter than two such children is never split, so least_split has nothing to add.
    return limits._replace(least_leaf=fraction * slack * float(weight.sum()), least_split=0.0), True


def _check_name(what: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ParameterError(f"{what}={value!r}; one of {', '.join(map(repr, allowed))} is needed")


def _check_number(what: str, value: Any, least: int, *, or_none: bool = False) -> None:
    is_number = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least
    if not (is_number or (or_none and value is None)):
        also = " or None" if or_none else ""
        raise ParameterError(f"{what}={value!r}; a whole number of {least} or more{also} is needed")


def _check_bins(max_bins: Any) -> None:
    _check_number("max_bins", max_bins, 2, or_none=True)
    if max_bins is not None and max_bins > 2**16 - 1:
        raise ParameterError(f"max_bins={max_bins}; at most {2**16 - 1} fit; None considers every threshold")


def _n_threads(n_jobs: int | None) -> int:
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise ParameterError(f"n_jobs={n_jobs!r}; a number of threads, or -1 for one per core, is needed")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def _times_class_weight(weight: Any, table: Table, class_weight: Any) -> Any:
    """Row weights times the factor of the row's class."""
    if class_weight is None:
        return weight
    classes, target = table.schema.classes, table.target
    assert classes is not None
    assert target is not None
    if not isinstance(class_weight, dict) and class_weight != "balanced":
        raise ParameterError(
            f"class_weight={class_weight!r}; a dict from class to weight, 'balanced' or None is needed"
        )
    if class_weight == "balanced":
        present = np.bincount(target, weight, minlength=len(classes))
        factor = present.sum() / (np.count_nonzero(present) * np.maximum(present, 1e-300))
    else:
        known = {label: i for i, label in enumerate(classes.tolist())}
        unknown = [label for label in class_weight if label not in known]
        if unknown:
            raise ParameterError(f"class_weight names {unknown[0]!r}; the classes are {list(known)}")
        for label, value in class_weight.items():
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
                raise ParameterError(f"class_weight[{label!r}]={value!r}; a finite number of 0 or more is needed")
        factor = np.array([class_weight.get(label, 1.0) for label in known], float)
    return (1.0 if weight is None else weight) * factor[target]
