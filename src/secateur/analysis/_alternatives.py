"""All prunings that are about as good as the best one: how many, which nodes and columns they need, and members.

In the literature such a set is called a Rashomon set. For prunings of one tree and whole-number costs it can be counted
exactly, although it often has more members than there are atoms: see `_kernels/excess_tables.py`.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from .._kernels import bottom_up, structure
from .._utils.arrays import ArrayLike, Bools, Floats, Ints, Longs, LongsOrFloats, Rows, write_protect
from .._utils.checks import check_int, did_you_mean, seed_from
from ..core import (
    Counts,
    Moments,
    Pruning,
    RuleProvenance,
    Sample,
    SampleUsage,
    Tree,
    cost_provenance,
    node_cost,
    sample_usage_of,
)
from ..errors import Argument, CountsError, ParameterError, PruningError, UnsupportedError, show
from ..routing import apply
from ._alternatives_text import describe_budget, describe_set
from ._exact_count import count_exactly
from ._excess import ExcessTables


def alternatives(
    tree: Tree,
    counts: Sample | None,
    holdout: Counts | None = None,
    *,
    within: float,
    max_leaves: int | None = None,
    labels: ArrayLike | None = None,
    cost: ArrayLike | None = None,
) -> "Alternatives":
    """Return the set of all prunings whose errors are within a budget of the best pruning.

    Parameters
    ----------
    tree : Tree
        The grown tree.
    counts : Counts
        The sample that determines the labels and, without `holdout`, the errors: usually the growing sample.
    holdout : Counts, optional
        The sample on which errors are counted. Labels are then fixed by `counts`.
    within : int or float
        How many errors more than the best pruning a member may make. An int is a number of errors; a float is a share
        of the rows: `within=1` is one error, and `within=0.01` one percentage point.
    max_leaves : int, optional
        The greatest number of leaves of a member. The best pruning, from which the budget counts, may have more.
    labels : array of int, optional
        The class of each node as a leaf; by default the majority of `counts`.
    cost : array of int, optional
        The cost of each node as a leaf, in place of errors. Members are then within `within` of the least cost.

    Returns
    -------
    Alternatives

    Raises
    ------
    UnsupportedError
        If costs are not whole numbers: weighted errors, squared errors, or real costs.
    PruningError
        If no pruning with at most `max_leaves` leaves is within the budget.

    Notes
    -----
    O(min(n_nodes E^2, rows E)) for a budget of E errors; with `max_leaves`, times the square of the numbers of leaves
    that subtrees can have.

    Prunings are counted by their splits: two prunings that predict the same, because one of them has a split with the
    same class in both branches, are two members.

    The set uses up its sample. Every member carries the sample in `seen`: `certify` accepts it on other rows, and on
    the same rows only with a method that pays for a choice among all prunings.

    Examples
    --------
    >>> from secateur import Counts, Tree, alternatives
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    >>> grown = Counts.from_leaves(tree, [[9, 1], [3, 5], [2, 6], [4, 3]])
    >>> held = Counts.from_leaves(tree, [[8, 1], [4, 4], [2, 5], [3, 3]], sample="prune")
    >>> members = alternatives(tree, grown, held, within=1)
    >>> members.count(), members.best
    (4, Pruning(2 of 4 leaves, cuts at 1, 4))
    >>> members.node_shares.tolist()
    [1.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.0]
    """
    if isinstance(counts, Moments) or isinstance(holdout, Moments):
        raise UnsupportedError(
            "Moments were given: squared errors are real numbers, and prunings within a budget can be counted only for "
            "whole-number costs; pass cost=, the costs rounded to multiples of a unit, such as "
            "np.rint(moments.resubstitution_costs / unit).astype(int)"
        )
    for given in (counts, holdout):
        if given is not None:
            given.check_fits(tree)
    sample = counts if holdout is None else holdout
    if labels is None and counts is not None:
        labels = counts.labels
    node_labels = None if labels is None else np.asanyarray(labels)
    costs = _whole_costs(tree, sample, node_labels, cost)
    n_rows = None if sample is None else int(sample.total[0])
    budget = _budget(within, n_rows)
    if max_leaves is not None:
        check_int("max_leaves", max_leaves, 1, alternative=", or None,")
    tables = ExcessTables.of(tree, costs, budget, max_leaves)
    provenance = cost_provenance(
        "alternatives", sample, cost, costs, parameters={"within": budget, "max_leaves": max_leaves},
        text=describe_budget(budget, max_leaves, cost is None, sample),
    )  # fmt: skip
    usage = sample_usage_of(tree, counts, holdout, cost=cost)
    members = Alternatives(
        tree, costs, within, budget, max_leaves, n_rows, node_labels, usage, provenance, tables,
        is_held_out=holdout is not None,
    )  # fmt: skip
    if math.isinf(members.log_count):
        assert max_leaves is not None  # without a limit, the best pruning is a member
        smallest = ExcessTables.of(tree, costs, budget, None).least(np.ones(tree.n_nodes, np.int64))
        assert smallest is not None
        raise PruningError(
            f"no pruning with at most {max_leaves} leaves is within {budget} of the best; the smallest that is has "
            f"{smallest.value} leaves: pass max_leaves={smallest.value} or more, or a greater within"
        )
    return members


@dataclass(frozen=True)
class Extremes:
    """The least and the greatest value over a set of prunings, each with a member that has it.

    Parameters
    ----------
    least, greatest : int or float
    least_member, greatest_member : Pruning
    """

    least: int | float
    greatest: int | float
    least_member: Pruning
    greatest_member: Pruning

    def __str__(self) -> str:
        return f"{self.least:,.10g} to {self.greatest:,.10g}"


@dataclass(frozen=True, eq=False, repr=False)
class Alternatives:
    """All prunings of a tree that are about as good as the best; created by `alternatives`.

    Parameters
    ----------
    tree : Tree
    node_cost : array of int
        The cost of each node as a leaf.
    within : int or float
        How much more than the best pruning a member may cost, as it was given: errors, or a share of the rows.
    budget : int
        The same in errors.
    max_leaves : int or None
        The greatest number of leaves of a member.
    n_rows : int or None
        Number of rows on which errors were counted; None if costs were given without counts.
    node_labels : array of int or None
        The class that each node predicts as a leaf.
    seen : SampleUsage
        The samples that the set was computed from, and that every member has seen.
    provenance : RuleProvenance
        Describes the set; members have it with a parameter `member`, which says how the member was chosen.
    tables : ExcessTables
        The numbers of prunings of all subtrees.
    is_held_out : bool
        Whether errors were counted on held-out rows.
    """

    tree: Tree
    node_cost: Longs
    within: float
    budget: int
    max_leaves: int | None
    n_rows: int | None
    node_labels: Ints | None
    seen: SampleUsage
    provenance: RuleProvenance
    tables: ExcessTables
    is_held_out: bool = False

    @property
    def log_count(self) -> float:
        """The natural logarithm of the number of members, with a relative error of about 1e-12."""
        return self.tables.total.log

    @property
    def least_cost(self) -> int:
        """The cost (the errors) of the best pruning."""
        return self.tables.least_cost

    def count(self) -> int:
        """Return the exact number of members, as a Python integer of any length.

        Raises
        ------
        UnsupportedError
            If counting would take more than about a minute or 1 GB; `log_count` has no such limit.
        """
        return count_exactly(self.tables)

    @cached_property
    def best(self) -> Pruning:
        """The pruning of least cost with the fewest leaves; with `max_leaves`, among those of at most this size."""
        if self.max_leaves is None:
            is_cut = bottom_up.cheapest_subtree(self.tree.parent, self.node_cost)
            return self._member(is_cut, "least cost")
        least = self.tables.least(np.ones(self.tree.n_nodes, np.int64), by_excess=True)
        assert least is not None
        return self._member(least.is_cut, "least cost")

    def smallest(self) -> Pruning:
        """Return the member with the fewest leaves; of several, one of least cost."""
        return self._leaves.least_member

    @property
    def n_leaves(self) -> tuple[int, int]:
        """The least and the greatest number of leaves of a member."""
        return int(self._leaves.least), int(self._leaves.greatest)

    def sample(self, n: int, random_state: Any = None) -> list[Pruning]:
        """Return random members, drawn independently; all members have the same chance.

        Parameters
        ----------
        n : int
            Number of members; a member can be drawn more than once.
        random_state : int, Generator, RandomState or None
            The seed, or a generator that is used and advanced. With None, each call draws others.
        """
        n = check_int("n", n, 0)
        generator = np.random.default_rng(seed_from(random_state))
        seeds = generator.integers(2**63, size=n).tolist()
        return [self._member(self.tables.draw_cuts(seed), "random") for seed in seeds]

    @property
    def node_shares(self) -> Floats:
        """The share of members in which each node is split; exactly 1 only if it is in all, and 0 only if in none."""
        return self.tables.shares[0]

    @property
    def leaf_shares(self) -> Floats:
        """The share of members in which each node is a leaf."""
        return self.tables.shares[1]

    @cached_property
    def column_shares(self) -> dict[str, float]:
        """The share of members that use each column that the tree uses, by name, greatest first.

        A member uses a column if it keeps a split on the column, or with a surrogate on the column. A share is exactly
        1 only if all members use the column, and 0 only if none does.
        """
        shares = {}
        for name, is_used in self._uses.items():
            at_least = float(self.node_shares[is_used].max())  # rounding cannot make the share less than a node's
            share_without = self.tables.share_without(is_used)
            share = max(1.0 - share_without, at_least) if at_least > 0 else 0.0
            shares[name] = share if share_without == 0 else min(share, float(np.nextafter(1.0, 0.0)))
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    @property
    def essential_columns(self) -> list[str]:
        """The columns that every member uses."""
        return [name for name, share in self.column_shares.items() if share == 1]

    @property
    def dispensable_columns(self) -> list[str]:
        """The columns of the tree that some member does without, those that the fewest members use first.

        Each of them can be left out, though not necessarily all at once: `without` takes several.
        """
        return [name for name, share in reversed(self.column_shares.items()) if share < 1]

    def without(self, *columns: str) -> Pruning:
        """Return the member of least cost that uses none of the given columns; of several, one with the fewest leaves.

        Raises
        ------
        PruningError
            If every member uses one of the columns; the message states the cost of doing without them.
        """
        is_used = np.zeros(self.tree.n_nodes, bool)
        for column in columns:
            is_used |= self._uses_of(column)
        least = self.tables.least(np.ones(self.tree.n_nodes, np.int64), is_used, by_excess=True)
        named = " or ".join(show(str(column)) for column in columns)
        if least is None:
            raise PruningError(self._needed_message(is_used, named))
        return self._member(least.is_cut, f"without {named}")

    def extremes(
        self, cost: Literal["leaves"] | Sample | ArrayLike = "leaves", *, column: str | None = None
    ) -> Extremes:
        """Return the least and the greatest value of an additive quantity over all members.

        Parameters
        ----------
        cost : "leaves", Counts or array
            "leaves": the number of leaves. `Counts` of another sample, or of a group of rows: the errors on it; the
            evaluation is recorded, and the members that are returned have seen the sample. An array: its sum
            over the leaves.
        column : str, optional
            Name of a column: the number of splits that use it, in place of `cost`.

        Returns
        -------
        Extremes
            If several members have the value, the one that is returned is among those of least cost.
        """
        offset: int | float = 0
        usage = self.seen
        what = "value"
        if column is not None:
            n_uses = structure.sum_upwards(self.tree.parent, self._uses_of(column).astype(np.int64)[:, None])[:, 0]
            # The uses at and below a leaf are those that the member does without.
            value, offset, what = -n_uses, int(n_uses[0]), f"uses of {show(column)}"
        elif isinstance(cost, str):
            if cost != "leaves":
                raise ParameterError(Argument("cost", cost), "; 'leaves', Counts, or one number per node is needed")
            value, what = np.ones(self.tree.n_nodes, np.int64), "leaves"
        elif isinstance(cost, Counts | Moments):
            value, what = self._costs_on(cost), f"errors on {show(cost.sample)}"
            usage = usage | SampleUsage.of(cost)
        else:
            value = node_cost(self.tree, None, cost)
            usage = usage | sample_usage_of(self.tree, cost=cost)
        least, greatest = self.tables.least(value), self.tables.least(-value)
        assert least is not None
        assert greatest is not None
        return Extremes(
            least.value + offset,
            offset - greatest.value,
            self._member(least.is_cut, f"fewest {what}", usage),
            self._member(greatest.is_cut, f"most {what}", usage),
        )

    def class_shares(self, X: Rows) -> Floats:
        """Return the share of members that give each row each class, as an array of shape (n_rows, n_classes).

        Examples
        --------
        >>> import secateur
        >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
        >>> secateur.alternatives(tree, grown, within=1).class_shares([[0.0], [9.0]]).tolist()
        [[1.0, 0.0], [0.5, 0.5]]
        """
        return np.asarray(self._shares_of_classes[apply(self.tree, X)])

    def ambiguity(self, X: Rows) -> Floats:
        """Return, for each row, the share of members that give it another class than the best pruning does.

        Examples
        --------
        >>> import secateur
        >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
        >>> secateur.alternatives(tree, grown, within=1).ambiguity([[0.0], [9.0]]).tolist()
        [0.0, 0.5]
        """
        leaves = apply(self.tree, X)
        shares = self._shares_of_classes[leaves]
        labels = self.best.labels
        # On every path of the tree the best pruning has one leaf.
        chosen = structure.sum_downwards(self.tree.parent, np.maximum(labels, 0.0)[:, None])[leaves, 0].astype(np.int64)
        others = shares.copy()
        others[np.arange(len(leaves)), chosen] = 0.0
        ambiguity: Floats = np.minimum(others.sum(axis=1), 1.0)
        return ambiguity

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the set as plain values."""
        fewest, most = self.n_leaves
        return {
            "log10_count": self.log_count / math.log(10),
            "best_cost": self.least_cost,
            "within": self.budget,
            "rows": self.n_rows,
            "max_leaves": self.max_leaves,
            "fewest_leaves": fewest,
            "most_leaves": most,
            "best_leaves": self.best.n_leaves,
            "column_shares": self.column_shares,
            "essential_columns": self.essential_columns,
            "dispensable_columns": self.dispensable_columns,
        }

    def __str__(self) -> str:
        return describe_set(self)

    def __repr__(self) -> str:
        log10 = self.log_count / math.log(10)
        return f"Alternatives(10^{log10:.1f} prunings within {self.budget:,} of the best, {self.tree})"

    @cached_property
    def _leaves(self) -> Extremes:
        """The least and the greatest number of leaves."""
        return self.extremes("leaves")

    @cached_property
    def _uses(self) -> dict[str, Bools]:
        """For each column that the tree uses, the nodes whose split or surrogates compare it."""
        tree = self.tree
        node_of_split = np.arange(tree.n_nodes)
        if tree.surrogates is not None:
            of_surrogates = np.repeat(np.arange(tree.n_nodes), np.diff(tree.surrogates.start))
            node_of_split = np.append(node_of_split, of_surrogates)
        uses = {}
        for position, column in enumerate(tree.tested_columns.tolist()):
            is_used = np.zeros(tree.n_nodes, bool)
            is_used[node_of_split[tree.tested_position == position]] = True
            uses[f"x{column}" if tree.schema is None else tree.schema.names[column]] = is_used
        return uses

    @cached_property
    def _shares_of_classes(self) -> Floats:
        """At each leaf of the tree, the share of members that give each class to its rows."""
        if self.node_labels is None:
            raise CountsError("the set was made from costs alone and has no classes; pass counts to alternatives")
        n_classes = int(self.node_labels.max()) + 1
        if self.tree.schema is not None and self.tree.schema.classes is not None:
            n_classes = max(n_classes, len(self.tree.schema.classes))
        shares = np.zeros((self.tree.n_nodes, n_classes))
        shares[np.arange(self.tree.n_nodes), self.node_labels] = self.leaf_shares
        return write_protect(np.minimum(structure.sum_downwards(self.tree.parent, shares), 1.0))

    def _costs_on(self, sample: Sample) -> LongsOrFloats:
        """Return the errors on another sample of each node as a leaf, and record the evaluation."""
        sample.check_fits(self.tree)
        if isinstance(sample, Moments) or self.node_labels is None:
            raise UnsupportedError(
                "errors on another sample need classes: pass Counts, and pass counts to alternatives, too"
            )
        return np.asarray(sample.errors_if_leaf(self.node_labels))

    def _uses_of(self, column: str) -> Bools:
        """Return the nodes that use a column; none if the tree does not use it. Raise `ParameterError` if unknown."""
        if column in self._uses:
            return self._uses[column]
        names: list[str] | tuple[str, ...] = list(self._uses) if self.tree.schema is None else self.tree.schema.names
        if column not in names:
            raise ParameterError(f"the tree was grown without a column {show(column)}{did_you_mean(column, names)}")
        return np.zeros(self.tree.n_nodes, bool)

    def _needed_message(self, is_used: Bools, columns: str) -> str:
        """Return the message that no member does without columns, with the cost of doing without them."""
        # A cost above all others below the nodes that use the columns makes leaves of these nodes.
        n_above = structure.sum_downwards(self.tree.parent, is_used.astype(float)[:, None])[:, 0] - is_used
        cost = np.where(n_above > 0, self.node_cost.max() + 1, self.node_cost)
        best = Pruning.from_cuts(self.tree, bottom_up.cheapest_subtree(self.tree.parent, cost))
        excess = int(best.cost(self.node_cost)) - self.least_cost
        unit = " more errors" if self.provenance.cost == "errors" else " more cost"
        limit = "" if self.max_leaves is None else f" (whatever its size, where {self.max_leaves:,} leaves are allowed)"
        return (
            f"every member uses {columns}; the best pruning without{limit} has {excess:,}{unit} than the best of all: "
            f"pass within={excess} or more"
        )

    def _member(self, is_cut: Bools, choice: str, usage: SampleUsage | None = None) -> Pruning:
        """Return a member as a pruning that states how it was chosen."""
        provenance = replace(
            self.provenance, parameters={**self.provenance.parameters, "member": choice},
            text=f"{self.provenance.text}: {choice}",
        )  # fmt: skip
        return Pruning.from_cuts(
            self.tree, is_cut, node_labels=self.node_labels, seen=self.seen if usage is None else usage,
            provenance=provenance,
        )  # fmt: skip


def _whole_costs(tree: Tree, sample: Counts | None, labels: ArrayLike | None, cost: ArrayLike | None) -> Longs:
    """Return the cost of each node as a leaf as integers; raise `UnsupportedError` for other numbers."""
    if cost is not None:
        costs = node_cost(tree, None, cost)
    elif sample is None or labels is None:
        raise CountsError("errors need counts, and labels or the growing counts; pass counts, or cost")
    else:
        costs = np.asarray(sample.errors_if_leaf(labels))
    if costs.dtype.kind == "i":
        return costs
    if cost is None:
        name = show("" if sample is None else sample.sample)
        raise UnsupportedError(
            f"sample {name} has weights that are not whole numbers; prunings within a budget can be counted only for "
            "whole-number costs: count the sample without weights, or pass cost=, the weighted errors rounded to "
            "multiples of a unit, such as np.rint(errors / unit).astype(int)"
        )
    rest = np.flatnonzero((costs != np.rint(costs)) | (costs >= 2.0**53))
    if len(rest):
        raise UnsupportedError(
            f"cost of node {rest[0]} is {show(costs[rest[0]])}; prunings within a budget can be counted only for "
            "whole-number costs below 2**53: round the costs to multiples of a unit, such as "
            "np.rint(cost / unit).astype(int), and divide within by the unit, too"
        )
    return node_cost(tree, None, costs.astype(np.int64))


def _budget(within: Any, n_rows: int | None) -> int:
    """Return the budget as a number of errors."""
    is_number = isinstance(within, Real) and not isinstance(within, bool)
    if is_number and math.isfinite(within) and within >= 0:
        if isinstance(within, Integral):
            return int(within)
        if float(within) <= 1:
            if n_rows is None:
                raise ParameterError(
                    Argument("within", within), " is a share of the rows, but only costs are given; pass a whole "
                    "number, in units of the cost, or counts"
                )  # fmt: skip
            return math.floor(Fraction(str(float(within))) * n_rows)
    raise ParameterError(
        Argument("within", within), "; a number of errors (a whole number of 0 or more), or a share of the rows (a "
        "decimal number from 0 to 1), is needed"
    )  # fmt: skip
