"""The data sets of the experiments, by the names the documents use, and rows taken from them."""

from collections.abc import Callable

import numpy as np

from .. import datasets
from ..data.arrays import Array, sealed
from ..data.table import Table
from ._study import Config

# Made from first principles: the same rows as the real sets, in another order.
GENERATED: dict[str, Callable[[], Table]] = {"tic-tac-toe": datasets.tic_tac_toe, "car": datasets.car}


def table_of(name: str, config: Config) -> Table:
    """Return a data set: generated where it can be, else from the data folder."""
    if name in GENERATED:
        return GENERATED[name]()
    assert config.data is not None
    return datasets.load(name, config.data)


def take(table: Table, rows: Array) -> Table:
    """Return some rows of a table."""
    columns = tuple(sealed(column[rows]) for column in table.columns)
    target = None if table.target is None else sealed(table.target[rows])
    matrix = None if table.matrix is None else sealed(table.matrix[rows])
    return Table(table.schema, columns, target, matrix)


def seeds(config: Config, *numbers: int) -> int:
    """A seed made of the user's and of what it is for; different uses get different streams."""
    return int(np.random.SeedSequence([config.seed, *numbers]).generate_state(1, np.uint32)[0])
