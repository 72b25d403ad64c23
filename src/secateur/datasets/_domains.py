"""Random concepts: nothing to learn but the table itself."""

from collections.abc import Sequence

import numpy as np

from ..data.table import Table
from ..errors import ParameterError
from .rows import Nominal, combinations, make_table

MOST_ROWS = 10**8


def random_domain(values: Sequence[int], n_classes: int, seed: int = 0) -> Table:
    """Return every combination of nominal attributes once, each with a class drawn uniformly.

    Parameters
    ----------
    values : sequence of int
        The number of values of each attribute.
    n_classes : int
        Classes 0 to `n_classes` - 1.
    seed : int

    Returns
    -------
    Table
        Consistent: no two rows agree in all attributes.

    Examples
    --------
    >>> random_domain([3, 3, 3], 4)
    Table(27 rows, 3 nominal and 0 numeric columns, 4 classes)
    """
    sizes = tuple(int(size) for size in values)
    if not sizes or min(sizes) < 1 or np.prod([float(size) for size in sizes]) > MOST_ROWS:
        raise ParameterError(
            f"values={list(values)}; numbers of 1 or more with a product of at most {MOST_ROWS:,} needed"
        )
    if n_classes < 1:
        raise ParameterError(f"n_classes={n_classes}; at least 1 is needed")
    rows = combinations(*sizes)
    target = np.random.default_rng(seed).integers(n_classes, size=len(rows))
    columns = [Nominal(f"a{j + 1}", tuple(range(1, size + 1)), rows[:, j]) for j, size in enumerate(sizes)]
    return make_table(columns, target, range(n_classes))
