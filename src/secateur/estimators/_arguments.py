"""Check the arguments of the estimators, and translate them to those of `model_selection`."""

from collections.abc import Iterable
from typing import Any

import joblib
import numpy as np
from sklearn.utils.validation import column_or_1d

from .._utils.arrays import Labels, Rows
from .._utils.checks import seed_from
from ..core import Model
from ..data.batch import open_batch
from ..data.table import Table
from ..errors import DataError, ParameterError, show

# Parameters of scikit-learn's trees that the estimators do not have, and what to use instead.
REPLACEMENTS = {
    "max_leaf_nodes": "select=N prunes to the best N leaves; growth='best-first' with max_splits=N-1 grows no more",
    "ccp_alpha": "select='1se' or '0se' chooses the penalty; prune_to(alpha=A) sets it, in errors per leaf and row",
    "min_impurity_decrease": "pruning decides which splits are kept; max_depth and min_samples_leaf limit growing",
    "max_features": "every column is considered at every node; growing has no randomness",
    "splitter": "the best split is always taken; growing has no randomness",
    "priors": "class_weight={class: prior / share of the class} weighs rows so that classes have these priors",
}


def stored_groups_column(X: Rows, model: Model) -> str | None:
    """Return the name of the column of groups that was used in fitting, if `X` has a column of this name."""
    name = model.metadata.get("groups_column")
    if name is None or X is None or isinstance(X, Table | np.ndarray | list | tuple):
        return None
    batch = open_batch(X)
    return str(name) if batch.has_names and name in batch.names else None


def check_no_foreign_parameter(estimator: str, names: Iterable[str]) -> None:
    """Raise `ParameterError` for a parameter that only scikit-learn's trees have, and name the replacement."""
    for name in names:
        if name in REPLACEMENTS:
            raise ParameterError(f"{estimator} has no parameter {show(name)}: {REPLACEMENTS[name]}")


def check_target(y: Labels, estimator: object, name: str = "y") -> Labels:
    """Return one label per row, or raise `DataError`; messages call the labels `name`.

    A target of shape (n_rows, 1) is flattened with scikit-learn's function, so that the warning is scikit-learn's.
    """
    if y is None:
        raise DataError(f"{type(estimator).__name__} requires {name} to be passed, but the target {name} is None")
    if isinstance(y, str | bytes | bytearray) or np.isscalar(y):
        raise DataError(f"{name} is {show(y)}; one label per row is needed, not the name of a column or one value")
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) != 2 or shape[1] != 1:
        return y
    try:
        return column_or_1d(y, warn=True)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} cannot be read as one column ({error}); pass an array of shape (n,)") from error


def seed_of(random_state: object) -> int:
    """Return the seed for a value of `random_state`; None is 0, so that a fit with default parameters is repeatable."""
    return 0 if random_state is None else seed_from(random_state, limit=2**31, alternative=", or None,")


def effective_n_jobs(n_jobs: Any) -> Any:
    """Return the number of threads as joblib counts them: None is 1, or the value of a `joblib.parallel_config`.

    An executor is returned unchanged, and so is an invalid value, which fitting refuses.
    """
    is_number = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool) and n_jobs != 0
    return joblib.effective_n_jobs(n_jobs) if n_jobs is None or is_number else n_jobs
