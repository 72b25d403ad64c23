"""The task of counting rows by population group where the data are: an engine sums it over batches.

A tally has the counts of all rows, and for each column the counts of each group by its name. So batches need not have
the same groups.
"""

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, write_protect
from ..core import Counts, PopulationGroups, Tree
from ..data.batch import batch_from_frame
from ..data.population import MISSING_GROUP, check_number_of_populations, code_population
from ..data.raw_column import ValueType
from ..errors import SchemaError, UnsupportedError, show
from ._count import CountTask
from ._tally import ClassTally


@dataclass(kw_only=True)
class GroupTally:
    """Number of rows of each class in each leaf, for all rows and for each population group.

    Parameters
    ----------
    total : ClassTally
        The tally of all rows.
    by_group : dict of str to dict of str to array
        For each column and group, the rows at each node that is a leaf, by class; the last column is for classes that
        the tree has not seen.
    """

    total: ClassTally
    by_group: dict[str, dict[str, Array]]

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the tally of all rows: numbers of rows, and the warnings about them."""
        if name.startswith("__") or name == "total":
            raise AttributeError(name)
        return getattr(self.total, name)

    def merge(self, other: "GroupTally") -> None:
        """Add the numbers of another tally to this one."""
        self.total.merge(other.total)
        for column, counts in other.by_group.items():
            known = self.by_group[column]
            for name, at_leaves in counts.items():
                known[name] = known[name] + at_leaves if name in known else at_leaves

    def finish(self, tree: Tree, sample: str) -> Counts:
        """Return the counts of every node, by population group."""
        populations = tuple(self._population(tree, column) for column in self.by_group)
        return replace(self.total.finish(tree, sample), populations=populations)

    def _population(self, tree: Tree, column: str) -> PopulationGroups:
        counts = self.by_group[column]
        check_number_of_populations(list(counts), column)
        names = sorted(counts, key=_order_of_name)
        by_class = [counts[name] if self.total.n_new else counts[name][:, :-1] for name in names]
        summed = [structure.sum_upwards(tree.parent, np.ascontiguousarray(of_group)) for of_group in by_class]
        return PopulationGroups(column, tuple(names), write_protect(np.stack(summed)))


def _order_of_name(name: str) -> tuple[bool, float, str]:
    """Return the key by which names are sorted: numbers first and by size, the group of missing values last."""
    try:
        number = float(name)
    except ValueError:
        number = math.inf
    return name == MISSING_GROUP, number if math.isfinite(number) else math.inf, name


@dataclass(frozen=True)
class GroupCountTask(CountTask):
    """The task of counting rows of each class in each leaf of a tree, by population group.

    Parameters
    ----------
    groups : tuple of str
        The columns of the source whose values are the groups.
    """

    groups: tuple[str, ...] = ()

    @classmethod
    def of(cls, task: CountTask, groups: tuple[str, ...], source: tuple[str, ...], where: str) -> "GroupCountTask":
        """Return a task that also counts by group; raise `SchemaError` if the source lacks a column of groups."""
        if task.schema.classes is None:
            raise UnsupportedError("counting by population group needs a classification tree")
        if task.weight is not None:
            raise UnsupportedError("counting by population group needs rows without weights: error rates count rows")
        for name in groups:
            if name not in source:
                raise SchemaError(f"{where} has no column {show(name)} (group=)")
        return cls(**{field.name: getattr(task, field.name) for field in fields(task)}, groups=groups)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names in the source of all columns that are read."""
        return tuple(dict.fromkeys((*super().columns, *self.groups)))

    @property
    def needed(self) -> dict[str, ValueType | None]:
        """The type of the values that each column must have; groups may be of any type."""
        return dict.fromkeys(self.groups) | super().needed

    def empty(self) -> Any:
        """Return the tally of no rows."""
        return GroupTally(total=super().empty(), by_group={name: {} for name in self.groups})  # type: ignore[arg-type]

    def __call__(self, batch: Any, first: int = 0) -> Any:
        """Return the tally of one batch; messages number its rows from `first`."""
        data = batch_from_frame(batch)
        tally = self.empty()
        tally.total = super().__call__(data, first)
        if tally.total.n_rows:
            data = self.labelled_rows(data)
            target, _ = self._read_target(data, first)
            leaves = self.leaves(data)
            shape = (self.tree.n_nodes, self.n_classes + 1)
            for column in self.groups:
                names, codes = code_population(data.read(column), column)
                cells = (codes * shape[0] + leaves) * shape[1] + target
                counts = np.bincount(cells, minlength=len(names) * shape[0] * shape[1]).reshape(len(names), *shape)
                tally.by_group[column] = dict(zip(names, counts, strict=True))
        return tally

    @property
    def n_classes(self) -> int:
        """Number of classes of the tree."""
        assert self.schema.classes is not None
        return len(self.schema.classes)
