"""Population groups: the values of a column, such as sex or age band, by which a sample is divided.

Population groups are not the groups of `groups.py`, whose rows belong together. Their rows are independent draws.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.arrays import Array, Category, Labels
from .._utils.warn import format_names, warn
from ..errors import Argument, DataError, ParameterError, show
from .batch import Batch
from .raw_column import CategoryColumn, NumberColumn, RawColumn, factorize
from .table import Schema
from .target import read_labels

MAX_POPULATION_GROUPS = 100  # of a column; every group takes a share of delta, so a column of numbers needs bands
MAX_NUMBERS_WITHOUT_WARNING = 20
MISSING_GROUP = "(missing)"  # the group of the rows in which the column is missing
DEFAULT_COLUMN = "group"  # the name of a column that is passed as an array without a name


@dataclass(frozen=True)
class PopulationColumn:
    """The population group of each row.

    Parameters
    ----------
    column : str
        The name of the column.
    names : tuple of str
        The names of the groups: numbers in ascending order, text sorted, and `MISSING_GROUP` last.
    codes : array of int
        The number of the group of each row.
    """

    column: str
    names: tuple[str, ...]
    codes: Array


def read_population(labels: Labels, column: str, n_rows: int, values: Sequence[Any] | None = None) -> PopulationColumn:
    """Return the population group of each row.

    Parameters
    ----------
    labels : array-like
        The value of the column in each row: text, booleans or numbers. Rows in which the value is missing form a group
        of their own.
    column : str
        The name of the column.
    n_rows : int
        The number of rows, which must have one value each.
    values : sequence, optional
        All values that are possible, in this order. A value without rows is a group without rows, and a row with
        another value is refused.

    Examples
    --------
    >>> found = read_population(["m", None, "f", "m"], "sex", 4)
    >>> found.names, found.codes.tolist()
    (('f', 'm', '(missing)'), [1, 2, 0, 1])
    >>> read_population([1.0, 2.5, 1.0], "size", 3, values=[1, "2.5", 4]).names
    ('1', '2.5', '4')
    """
    raw = read_labels(labels, f"group {show(column)}")
    if len(raw) != n_rows:
        raise DataError(f"group {show(column)} has {len(raw):,} values for {n_rows:,} rows; one per row is needed")
    names, codes = code_population(raw, column)
    if values is not None:
        names, codes = _recode(column, names, codes, values)
    check_number_of_populations(names, column)
    if isinstance(raw, NumberColumn) and len(names) > MAX_NUMBERS_WITHOUT_WARNING:
        warn(
            f"group {show(column)} has {len(names):,} different numbers, each of which is a group of its own; join "
            "them to bands, such as age bands"
        )
    return PopulationColumn(column, tuple(names), codes)


def code_population(raw: RawColumn, column: str) -> tuple[list[str], Array]:
    """Return the names of the groups in a column, and the number of the group of each row."""
    coded = factorize(raw)
    is_date = isinstance(raw, NumberColumn) and raw.is_date
    names = list(dict.fromkeys(_name_of(value, is_date=is_date) for value in coded.categories))
    if coded.missing_mask.any():
        if MISSING_GROUP in names:
            raise DataError(
                f"group {show(column)} is missing in some rows and {show(MISSING_GROUP)} in others; rename this value"
            )
        names.append(MISSING_GROUP)
    number_of = {name: i for i, name in enumerate(names)}
    codes_of_values = [number_of[_name_of(value, is_date=is_date)] for value in coded.categories]
    lookup = np.array([*codes_of_values, number_of.get(MISSING_GROUP, -1)], np.int64)  # the last for the code -1
    return names, lookup[coded.codes]


def check_number_of_populations(names: Sequence[str], column: str) -> None:
    """Raise `DataError` if a column has more groups than can be certified."""
    if len(names) > MAX_POPULATION_GROUPS:
        raise DataError(
            f"group {show(column)} has {len(names):,} different values ({format_names(names, 3)}); at most "
            f"{MAX_POPULATION_GROUPS} groups can be certified: join values, such as numbers to bands"
        )


def _recode(column: str, names: list[str], codes: Array, values: Sequence[Any]) -> tuple[list[str], Array]:
    """Return the stated names of the groups, and the codes of the rows among them."""
    if isinstance(values, str) or not np.iterable(values):
        raise ParameterError(Argument("values", values), "; a list of all values of the column is needed")
    stated = [MISSING_GROUP if value is None else _name_of(value) for value in values]
    if len(set(stated)) < len(stated) or not stated:
        raise ParameterError(Argument("values", values), "; one or more values are needed, each once")
    number_of = {name: i for i, name in enumerate(stated)}
    lookup = np.array([number_of.get(name, -1) for name in names], np.int64)
    is_unknown = lookup[codes] < 0
    if is_unknown.any():
        unknown = [names[code] for code in np.unique(codes[is_unknown])]
        raise DataError(
            f"group {show(column)} has {np.count_nonzero(is_unknown):,} rows with other values than those stated: "
            f"{format_names(unknown)}; state them, or leave these rows out"
        )
    return stated, lookup[codes]


def _name_of(value: Category, *, is_date: bool = False) -> str:
    """Return the name of the group of a value: a whole number has no decimal point."""
    if is_date:
        return str(np.datetime64(int(value), "D"))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def population_labels(group: Any, batch: Batch | None) -> dict[str, Any]:
    """Return the population group of each row, for each column by its name.

    Parameters
    ----------
    group : str, array-like, dict of str to either, or list of str
        The name of a column of the rows, the group of each row, or several of them by name.
    batch : Batch or None
        The rows; None if they are encoded, so that they have no further columns.
    """
    if group is None:
        raise ParameterError("group is None; the name of a column, or the population group of each row, is needed")
    if _names_columns(group, batch):
        group = {name: name for name in group}
    given: Mapping[Any, Any] = group if isinstance(group, Mapping) else {None: group}
    if not given:
        raise ParameterError("group is empty; at least one column is needed")
    labels = {}
    for key, value in given.items():
        if isinstance(value, str):
            labels[str(value if key is None else key)] = _read_column(batch, value)
            continue
        name = getattr(value, "name", None) if key is None else key
        labels[name if isinstance(name, str) and name else DEFAULT_COLUMN if key is None else str(key)] = value
    return labels


def _names_columns(group: Any, batch: Batch | None) -> bool:
    """Return whether `group` is a list of names of columns, and not one value per row."""
    if batch is None or not isinstance(group, list | tuple) or not group or len(group) == batch.n_rows:
        return False
    return all(isinstance(name, str) and name in batch.names for name in group)


def _read_column(batch: Batch | None, name: str) -> NumberColumn | CategoryColumn:
    """Return a column of the rows by its name."""
    if batch is None:
        raise ParameterError(f"group={show(name)} with a Table, which has been encoded; pass the group of each row")
    if name not in batch.names:
        raise ParameterError(f"group={show(name)} is not a column; the columns are {format_names(batch.names)}")
    return batch.read(name)


def drop_unneeded_columns(batch: Batch, group: Any, columns: Iterable[str], schema: Schema, target: Any) -> Batch:
    """Return the batch without the population columns that the tree was not grown on.

    Parameters
    ----------
    batch : Batch
    group : str, array-like, or dict of str to either
        As for `population_labels`.
    columns : iterable of str
        The names of the population columns.
    schema : Schema
        The columns of the tree.
    target : str or array-like
        The target, or the name of its column.
    """
    values = group.values() if isinstance(group, Mapping) else [group]  # names in a list are among `columns`
    named = {value for value in values if isinstance(value, str)} | set(columns)
    if schema.has_names and batch.has_names:
        unneeded = named - set(schema.names)
    else:
        n_features = len(batch.names) - (isinstance(target, str | int) and not isinstance(target, bool))
        unneeded = set() if n_features == len(schema.columns) else named
    if not unneeded:
        return batch
    rest = batch.select([j for j, name in enumerate(batch.names) if name not in unneeded])
    return rest if rest.matrix is None else replace(rest, matrix=np.ascontiguousarray(rest.matrix))
