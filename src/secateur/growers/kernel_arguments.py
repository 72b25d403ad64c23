"""The parameters of growing: checked once, and turned into what the kernels take."""

import os
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from .._kernels import criteria
from .._kernels import grow_parts as parts
from .._utils.arrays import Array
from .._utils.checks import check_int, check_name
from ..data.table import Table
from ..data.weights import round_for_exact_sums
from ..errors import ParameterError, UnsupportedError
from . import CRITERIA

NO_LIMIT = 2**60
MAX_CODED_CLASSES = 4  # counted by bin: with more, small nodes have more counters than rows


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to us; it may be an array."""
    return isinstance(value, str) and value == "auto"


class GrowParameters(NamedTuple):
    """The growing parameters, checked."""

    criterion: str
    limits: parts.GrowLimits
    max_bins: int | None
    min_weight_fraction_leaf: float
    monotonic_cst: Any = None
    interaction_cst: Any = None
    surrogates: int = 0


def settings_of(
    *,
    criterion: str = "gini",
    splits: str = "binary",
    growth: str = "depth-first",
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
) -> GrowParameters:
    """Return the growing parameters of `grow`, checked."""
    check_name("criterion", criterion, CRITERIA)
    check_name("splits", splits, ("binary", "multiway"))
    check_name("growth", growth, ("depth-first", "best-first"))
    best_first = growth == "best-first"
    if max_splits is not None and not best_first:
        raise ParameterError(f"max_splits={max_splits} needs growth='best-first'")
    for name, limit, least in (("max_splits", max_splits, 0), ("max_depth", max_depth, 0), ("max_bins", max_bins, 2)):
        if limit is not None:
            check_int(name, limit, least, alternative=" or None")
    if max_bins is not None and max_bins > 2**16 - 1:
        raise ParameterError(f"max_bins={max_bins}; at most {2**16 - 1} fit; None considers every threshold")
    check_int("min_samples_leaf", min_samples_leaf, 1)
    check_int("min_samples_split", min_samples_split, 2)
    check_int("surrogates", surrogates, 0)
    if not (allow_zero is None or isinstance(allow_zero, bool)):
        raise ParameterError(f"allow_zero={allow_zero!r}; True, False or None is needed")
    if not isinstance(penalise_numeric, bool):
        raise ParameterError(f"penalise_numeric={penalise_numeric!r}; True or False is needed")
    limits = parts.GrowLimits(
        max_depth=NO_LIMIT if max_depth is None else min(int(max_depth), NO_LIMIT),
        max_splits=NO_LIMIT if max_splits is None else min(int(max_splits), NO_LIMIT),
        least_leaf=float(min_samples_leaf),
        least_split=float(min_samples_split),
        allow_zero=(not best_first) if allow_zero is None else allow_zero,
        multiway=splits == "multiway",
        best_first=best_first,
        is_ratio=CRITERIA[criterion].is_ratio,
        penalise_numeric=penalise_numeric,
    )
    limits_with_min_weight(limits, min_weight_fraction_leaf, None, 1, True)
    if surrogates:
        allowed = {"splits": "binary", "growth": "depth-first", "max_bins": None, "min_weight_fraction_leaf": 0}
        allowed |= {"monotonic_cst": None, "interaction_cst": None}
        given = (splits, growth, max_bins, min_weight_fraction_leaf, monotonic_cst, interaction_cst)
        for (name, needed), value in zip(allowed.items(), given, strict=True):
            if value is not needed and not (isinstance(needed, str | int) and value == needed):
                raise UnsupportedError(
                    f"surrogates={surrogates} with {name}={value!r}: surrogates support only {name}={needed!r}; "
                    "omit it, or use surrogates=0"
                )
    how = (max_bins, min_weight_fraction_leaf, monotonic_cst, interaction_cst, int(surrogates))
    return GrowParameters(criterion, limits, *how)


GROWING = tuple(signature(settings_of).parameters)  # their names, those of `grow` and of the estimators


class InlinePool:
    """The one-thread stand-in for a pool: no threads, so Ctrl-C and tracebacks stay simple."""

    def map(self, function: Any, items: Any) -> Any:
        return map(function, items)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def in_codes(settings: GrowParameters, n_classes: int) -> bool:
    """Return whether bins are counted by code: few of them, of few classes, by a criterion that takes sums of bins."""
    is_small = settings.max_bins is not None and settings.max_bins < 1 << 8 and n_classes <= MAX_CODED_CLASSES
    return CRITERIA[settings.criterion].is_streamed and is_small and not settings.limits.multiway


def kernel_criterion(name: str, n_rows: int, is_plain: bool) -> criteria.Criterion:
    """Return the criterion as the kernels take it; `is_plain`: every row weighs 1."""
    name = CRITERIA[name].kernel or name
    return criteria.entropy_table(n_rows) if is_plain and name == "entropy" else criteria.criterion_of(name)


def limits_with_min_weight(
    limits: parts.GrowLimits, fraction: float, weight: Any, n_rows: int, is_whole: bool
) -> tuple[parts.GrowLimits, bool]:
    """Return the limits with a least weight of children, and whether they are to count weights, not rows."""
    if isinstance(fraction, bool) or not isinstance(fraction, int | float | np.number) or not 0 <= fraction <= 0.5:
        raise ParameterError(f"min_weight_fraction_leaf={fraction!r}; a number from 0 to 0.5 is needed")
    if fraction == 0:
        return limits, False
    slack = 1 - 1e-9  # weights are sums in some order
    if is_whole:
        least = fraction * slack * float(n_rows if weight is None else weight.sum())
        return limits._replace(least_leaf=max(limits.least_leaf, least)), False
    if limits.least_leaf > 1 or limits.least_split > 2:
        raise ParameterError(
            f"min_weight_fraction_leaf={fraction} with weights that are not whole replaces "
            "min_samples_leaf and min_samples_split; leave them at 1 and 2"
        )
    # A node lighter than two such children is never split, so least_split has nothing to add.
    return limits._replace(least_leaf=fraction * slack * float(weight.sum()), least_split=0.0), True


def scale_weights(weight: Array | None) -> tuple[Array | None, bool, int]:
    """Return weights as kernels add them up (None: all are 1), whether they are whole, and what divided them.

    Real weights are divided by 2**exponent: products of very small or large ones would leave the range of doubles.
    """
    if weight is None or (weight == 1).all():
        return None, True, 0
    weight = round_for_exact_sums(weight)
    if (weight == np.rint(weight)).all():
        return weight, True, 0
    exponent = int(np.frexp(weight.sum())[1])
    return np.ldexp(weight, -exponent), False, exponent


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads to use: None is one, -1 one per core."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise ParameterError(f"n_jobs={n_jobs!r}; a number of threads, or -1 for one per core, is needed")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def apply_class_weight(weight: Any, table: Table, class_weight: Any) -> Any:
    """Return the row weights times the factor of the row's class."""
    if class_weight is None:
        return weight
    classes, target = table.schema.classes, table.required_target
    assert classes is not None
    if not isinstance(class_weight, dict) and not (isinstance(class_weight, str) and class_weight == "balanced"):
        raise ParameterError(
            f"class_weight={class_weight!r}; a dict from class to weight, 'balanced' or None is needed"
        )
    if not isinstance(class_weight, dict):
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
