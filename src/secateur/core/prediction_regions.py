"""Prediction intervals and prediction sets of the leaves of a pruned tree, with their guarantee in words."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._utils.arrays import Array, Floats, Immutable, Ints, Longs, write_protect
from ..errors import escape_unprintable


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PredictionRegions(Immutable):
    """The common part of `PredictionIntervals` and `PredictionSets`.

    Parameters
    ----------
    coverage : float
        The share of new rows that the regions contain.
    confidence : float or None
        Confidence that this share is reached; None for a probability over the calibrating rows and a new row together.
    leaves : array of int
        The leaves of the pruned tree, as nodes of the grown tree.
    unit : array of int
        The unit of each leaf. A unit is a leaf, or several leaves that are pooled because some have too few rows; the
        guarantee holds for the rows of each unit.
    n_rows : array of int
        Number of calibrating rows of each unit.
    min_rows : int
        Number of rows that a unit needs; with fewer, its region is unbounded.
    by : str
        "leaf", or "all" if all leaves were pooled.
    sample : str
        Name of the calibrating sample.
    freshness, is_checked, repeats_text, stated
        As for `Calibration`.
    """

    coverage: float
    confidence: float | None
    leaves: Ints
    unit: Longs
    n_rows: Longs
    min_rows: int
    by: str
    sample: str
    freshness: str
    is_checked: bool
    repeats_text: str = ""
    stated: str = ""

    contains: ClassVar[str] = ""  # what a region contains, for the guarantee: "the interval contains the target"

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.n_rows)

    @cached_property
    def n_leaves(self) -> Longs:
        """Number of leaves of each unit."""
        counted: Longs = np.bincount(self.unit, minlength=self.n_units)
        return counted

    @property
    def is_bounded(self) -> Array:
        """Whether the region of each unit excludes anything."""
        return self.n_rows >= self.min_rows

    @property
    def kind(self) -> str:
        """The kind of the guarantee: "conformal", or "tolerance" with a confidence."""
        return "conformal" if self.confidence is None else "tolerance"

    @property
    def guarantee(self) -> str:
        """The guarantee as a sentence: what is covered, for which rows, and what it assumes."""
        rows = f"{int(self.n_rows.sum()):,} held-out rows"
        share = f"{100 * self.coverage:.10g} %"
        if self.confidence is None:
            text = (
                f"With a probability of at least {share}, over the draw of the {rows} and of a new row like these, "
                f"{self.contains} of the new row"
            )
        else:
            text = (
                f"With {100 * self.confidence:.10g} % confidence, over the draw of the {rows}, {self.contains} for at "
                f"least {share} of new rows like these"
            )
        assumed = "rows are independent and identically distributed and were not used to choose the tree"
        if not self.is_checked:
            assumed = f"rows are independent, identically distributed and not used before ({self.freshness})"
        remarks = [self._unit_text, self._unbounded_text, f"assumes {assumed}", self.repeats_text]
        prefix = f"Stated in {self.stated} and not checked: " if self.stated else ""
        return escape_unprintable(f"{prefix}{'; '.join(filter(None, [text, *remarks]))}.")

    @property
    def _unit_text(self) -> str:
        """For which rows the guarantee holds, in words."""
        if len(self.leaves) == 1:
            return ""
        if self.n_units == 1:
            pooled = "" if self.by == "all" else ", because too few rows are expected in single leaves"
            return f"it holds over the rows of all {len(self.leaves):,} leaves together, not in each{pooled}"
        separately = "" if self.confidence is None else " by itself, not in all at once"
        text = f"it holds in each leaf{separately}"
        is_pooled = self.n_leaves > 1
        if is_pooled.any():
            n_pooled, n_units = int(self.n_leaves[is_pooled].sum()), int(is_pooled.sum())
            units = "one unit" if n_units == 1 else f"{n_units:,} units"
            text += f", but {n_pooled:,} of the {len(self.leaves):,} leaves are pooled into {units}, because too few "
            text += "rows are expected in some, and it holds over the rows of a unit together"
        return text

    @property
    def _unbounded_text(self) -> str:
        n_unbounded = int((~self.is_bounded).sum())
        if not n_unbounded:
            return ""
        units = "the only unit has" if self.n_units == 1 else f"{n_unbounded:,} of {self.n_units:,} units have"
        return f"{units} fewer than the {self.min_rows:,} held-out rows needed: unbounded there"

    def unit_of(self, leaf: int) -> list[int]:
        """Return the leaves of the unit of a leaf.

        Parameters
        ----------
        leaf : int
            A leaf of the pruned tree, as a node of the grown tree.
        """
        own_unit = self.unit[self._positions(np.array([leaf]))[0]]
        leaves: list[int] = self.leaves[self.unit == own_unit].tolist()
        return leaves

    def _positions(self, leaves: Array) -> Array:
        """Return the position in `leaves` of the leaf that each row reaches."""
        return np.searchsorted(self.leaves, leaves)

    def _describe_unit(self, leaf: int) -> dict[str, Any]:
        unit = self.unit[leaf].item()
        return {"leaf": self.leaves[leaf].item(), "unit": unit, "rows": self.n_rows[unit].item()}

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee and one entry per leaf: its region, its unit, and the number of rows of the unit."""
        return {
            "coverage": self.coverage,
            "confidence": self.confidence,
            "kind": self.kind,
            "by": self.by,
            "sample": self.sample,
            "min_rows": self.min_rows,
            "guarantee": self.guarantee,
            "leaves": [self._describe_leaf(leaf) for leaf in range(len(self.leaves))],
        }

    def _describe_leaf(self, leaf: int) -> dict[str, Any]:
        raise NotImplementedError

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({100 * self.coverage:g} %, {len(self.leaves):,} leaves in {self.n_units:,} units, {self.kind})"

    def __str__(self) -> str:
        return self.guarantee


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PredictionIntervals(PredictionRegions):
    """Prediction intervals of the leaves of a regression tree.

    Parameters
    ----------
    lower, upper : array of float
        The ends of the interval of each leaf; infinite where it is unbounded.
    is_symmetric : bool
        Whether each interval extends equally far on both sides of the prediction.
    """

    lower: Floats
    upper: Floats
    is_symmetric: bool = True

    contains: ClassVar[str] = "the interval contains the target"

    def of_leaves(self, leaves: Array) -> Floats:
        """Return the lower and upper end for each row, given the leaf that it reaches, as an array of two columns."""
        positions = self._positions(leaves)
        return write_protect(np.column_stack([self.lower[positions], self.upper[positions]]))

    def _describe_leaf(self, leaf: int) -> dict[str, Any]:
        ends = {"lower": self.lower[leaf].item(), "upper": self.upper[leaf].item()}
        return self._describe_unit(leaf) | {key: end if np.isfinite(end) else None for key, end in ends.items()}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PredictionSets(PredictionRegions):
    """Prediction sets of the leaves of a classification tree.

    Parameters
    ----------
    classes : tuple
        The classes, in their original type.
    order : array of int, shape (n_leaves, n_classes)
        The numbers of the classes in each leaf, from the largest share of growing rows to the smallest.
    size : array of int
        Number of classes in the set of each leaf: the first of its order. All classes where it is unbounded.
    is_limited : array of bool
        Whether the guarantee holds for each unit.
    """

    classes: tuple[Any, ...]
    order: Ints
    size: Longs
    is_limited: Array

    contains: ClassVar[str] = "the set contains the class"

    @property
    def is_bounded(self) -> Array:
        """Whether the guarantee holds for the set of each unit. If not, the set contains all classes."""
        return self.is_limited

    @property
    def _unbounded_text(self) -> str:
        n_unbounded = int((~self.is_bounded).sum())
        if not n_unbounded:
            return ""
        units = "the set" if self.n_units == 1 else f"in {n_unbounded:,} of {self.n_units:,} units the set"
        return (
            f"{units} contains all classes without a guarantee, because there are fewer than the {self.min_rows:,} "
            "held-out rows needed or too many rows of classes that growing did not see"
        )

    @cached_property
    def sets(self) -> Array:
        """The set of each leaf: a tuple of classes, the one with the largest growing share first."""
        sets = np.empty(len(self.leaves), object)
        for leaf, (order, size) in enumerate(zip(self.order.tolist(), self.size.tolist(), strict=True)):
            sets[leaf] = tuple(self.classes[c] for c in order[:size])
        return write_protect(sets)

    def of_leaves(self, leaves: Array) -> Array:
        """Return the set of classes for each row, given the leaf that it reaches, as an array of tuples."""
        return self.sets[self._positions(leaves)]

    def _describe_leaf(self, leaf: int) -> dict[str, Any]:
        return self._describe_unit(leaf) | {"set": list(self.sets[leaf])}
