"""What users hand to an estimator, as the verbs take it."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from .._utils.arrays import Labels
from ..errors import DataError, ParameterError
from ..model_selection.folds import seed_from


def target(y: Labels, estimator: object) -> Labels:
    """The labels as `encode` takes them; scikit-learn has its own warning for a column."""
    if y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if isinstance(y, str) or np.isscalar(y):
        raise DataError(f"y is {y!r}; one label per row is needed, not the name of a column or one value")
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return column_or_1d(y, warn=True) if len(shape) == 2 and shape[1] == 1 else y


def seed(random_state: object) -> int:
    """A whole number from what scikit-learn takes as a seed; None is 0, so that the default repeats itself."""
    return 0 if random_state is None else seed_from(random_state, most=2**31, also=", or None,")


FOREIGN = {  # parameters of scikit-learn's trees that have another name here, or another way
    "max_leaf_nodes": "select=N prunes to the best N leaves; growth='best-first' with max_splits=N-1 grows no more",
    "ccp_alpha": "select='1se' or '0se' chooses the penalty; prune_to(alpha=A) sets it, in errors per leaf and row",
    "min_impurity_decrease": "pruning decides what stays; max_depth and min_samples_leaf limit growing",
    "max_features": "every column is considered at every node; growing has no randomness",
    "splitter": "the best test is always taken; growing has no randomness",
    "priors": "class_weight={class: prior / share of the class} weighs rows so that classes have these priors",
}


def check_foreign(name: str, given: Iterable[str]) -> None:
    """Answer parameters of other trees with the way to say it here."""
    for parameter in given:
        if parameter in FOREIGN:
            raise ParameterError(f"{name} has no parameter {parameter!r}: {FOREIGN[parameter]}")


def n_jobs(given: Any) -> Any:
    """The number of threads in joblib's meaning: None is 1, or what a surrounding `parallel_config` says."""
    from joblib import effective_n_jobs

    if given is not None and (isinstance(given, bool) or not isinstance(given, int | np.integer) or given == 0):
        return given  # an executor, or what the check of fitting refuses
    return effective_n_jobs(given)
