"""Read and write population groups: the counts of a sample by group, and the certified rates of the groups.

A sample has the key `populations` if it was counted by `count_groups`, and a model the key `group_rates` if the rates
of its groups were certified. Counts are written for the leaves of the grown tree only.
"""

from functools import partial
from typing import Any

import numpy as np

from .._utils.arrays import Array
from ..core import GROUP_RATES, GroupRates, PopulationGroups, Tree
from ..data.population import MAX_POPULATION_GROUPS
from ..errors import ModelFileError
from ._values import (
    REQUIRED_KEYS,
    Document,
    Json,
    check_keys,
    describe,
    read_choice,
    read_fields,
    read_floats,
    read_int,
    read_ints,
    read_list,
    read_text,
    write_array,
    write_fields,
)

MAX_COLUMNS_OF_GROUPS = 100


def write_populations(populations: tuple[PopulationGroups, ...], tree: Tree, location: str) -> list[Document]:
    """Return the counts by population group at the leaves of a tree."""
    documents = []
    for i, population in enumerate(populations):
        place = f"{location}[{i}]"
        leaves = population.by_class[:, tree.is_leaf]
        by_class = [[write_array(of_class) for of_class in of_group.T] for of_group in leaves]
        names = [read_text(name, f"{place}.names") for name in population.names]
        documents.append({"column": read_text(population.column, place), "names": names, "leaves": by_class})
    return documents


def read_populations(part: Json, location: str, tree: Tree, by_class: Array) -> tuple[PopulationGroups, ...]:
    """Return the population groups of a sample with these counts of nodes; refuse groups that do not add up to them."""
    items = read_list(part, location)
    if len(items) > MAX_COLUMNS_OF_GROUPS:
        raise ModelFileError(f"{location} has {len(items):,} columns; at most {MAX_COLUMNS_OF_GROUPS} are kept")
    populations = []
    for i, item in enumerate(items):
        place = f"{location}[{i}]"
        check_keys(item, place, REQUIRED_KEYS["population"])
        names = _read_names(item["names"], f"{place}.names")
        groups = read_list(item["leaves"], f"{place}.leaves", len(names))
        counts = np.zeros((len(names), tree.n_leaves, by_class.shape[1]), np.int64)
        for g, group in enumerate(groups):
            for c, column in enumerate(read_list(group, f"{place}.leaves[{g}]", by_class.shape[1])):
                counts[g, :, c] = read_ints(column, f"{place}.leaves[{g}][{c}]", tree.n_leaves, np.int64)
        at_leaves = by_class[tree.is_leaf]
        is_too_large = counts > at_leaves  # before they are added up, so that no sum overflows
        if (counts < 0).any() or is_too_large.any() or (counts.sum(axis=0) != at_leaves).any():
            raise ModelFileError(f"{place}.leaves do not add up to the counts of the sample")
        column_name = read_text(item["column"], f"{place}.column")
        populations.append(PopulationGroups.from_leaves(tree, column_name, names, counts))
    return tuple(populations)


def write_group_rates(rates: tuple[GroupRates, ...]) -> list[Document]:
    """Return the certified rates of each column."""
    documents = []
    for i, of_column in enumerate(rates):
        place = f"group_rates[{i}]"
        written: dict[str, Any] = {
            "groups": [read_text(group, f"{place}.groups") for group in of_column.groups],
            "rates": list(of_column.rates),
            **{name: [write_array(row) for row in getattr(of_column, name)] for name in ("events", "lower", "upper")},
            "n": [write_array(row) for row in of_column.n],
            "n_rows": of_column.n_rows,
            "n_columns": of_column.n_columns,
            "column": read_text(of_column.column, place),
            "positive": read_text(of_column.positive, place),
        }
        documents.append(write_fields(of_column, place, REQUIRED_KEYS["groupRates"], **written))
    return documents


def read_group_rates(part: Json, location: str) -> list[Document]:
    """Return the fields of the certified rates of each column."""
    items = read_list(part, location)
    if len(items) > MAX_COLUMNS_OF_GROUPS:
        raise ModelFileError(f"{location} has {len(items):,} columns; at most {MAX_COLUMNS_OF_GROUPS} are kept")
    return [_read_rates_of_column(item, f"{location}[{i}]") for i, item in enumerate(items)]


def _read_rates_of_column(item: Json, location: str) -> Document:
    read_whole, read_real = partial(_read_rows, is_whole=True), partial(_read_rows, is_whole=False)
    fields = read_fields(
        item, location, REQUIRED_KEYS["groupRates"],
        column=read_text, positive=read_text, groups=_read_names, rates=_read_rates, n_rows=read_int,
        n_columns=partial(read_int, minimum=1, maximum=MAX_COLUMNS_OF_GROUPS),
        events=read_whole, n=read_whole, lower=read_real, upper=read_real,
    )  # fmt: skip
    shape = (len(fields["groups"]), len(fields["rates"]))
    for name in ("events", "n", "lower", "upper"):
        if any(len(row) != shape[1] for row in fields[name]) or len(fields[name]) != shape[0]:
            raise ModelFileError(f"{location}.{name} must have {shape[0]} rows of {shape[1]} numbers, groups and rates")
        fields[name] = np.array(fields[name])
    lower, upper = fields["lower"], fields["upper"]
    if not ((lower >= 0) & (lower <= upper) & (upper <= 1)).all():
        raise ModelFileError(f"{location}: 0 <= lower <= upper <= 1 is needed")
    if not 0 < fields["delta"] < 1:
        raise ModelFileError(f"{location}.delta is {describe(fields['delta'])}; a number between 0 and 1 is needed")
    return fields


def _read_rates(value: Json, location: str) -> list[str]:
    """Return the names of rates."""
    names = read_list(value, location)
    for i, name in enumerate(names):
        read_choice(name, f"{location}[{i}]", *GROUP_RATES)
    if len(set(names)) < len(names) or "error" not in names:
        raise ModelFileError(f"{location} must hold 'error', and no name twice")
    return names


def _read_names(value: Json, location: str) -> list[str]:
    """Return the names of population groups."""
    names = [read_text(name, f"{location}[{i}]") for i, name in enumerate(read_list(value, location))]
    if not 1 <= len(names) <= MAX_POPULATION_GROUPS or len(set(names)) < len(names):
        raise ModelFileError(f"{location} must hold 1 to {MAX_POPULATION_GROUPS} different names")
    return names


def _read_rows(value: Json, location: str, *, is_whole: bool) -> list[Array]:
    """Return lists of numbers, one for each group."""
    rows = enumerate(read_list(value, location))
    if is_whole:
        return [read_ints(row, f"{location}[{i}]", dtype=np.int64) for i, row in rows]
    return [read_floats(row, f"{location}[{i}]") for i, row in rows]
