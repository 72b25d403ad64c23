"""LeafShares: limits on the class shares in the leaves of a tree, all of which hold at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._utils.arrays import ArrayLike, Floats, Ints, Longs, immutable_array, reduce_to_fields, write_protect
from ..errors import ParameterError, escape_unprintable, show
from .bound import Bound

MAX_LISTED_VALUES = 20  # in messages


@dataclass(frozen=True, eq=False, repr=False)
class LeafShares:
    """The share of each class among the rows of a sample in each leaf, with limits on its share among new rows.

    Parameters
    ----------
    nodes : array of int
        The leaves (or nodes) that have limits, as numbers of the grown tree, in order.
    count : array of shape (nodes, classes)
        Number of rows of the sample in each node and of each class.
    lower, upper : array of shape (nodes, classes)
        With probability at least `1 - delta`, every share among new rows lies between its two limits.
    classes : sequence of str
        Names of the classes.
    delta : float
        Probability, over samples, that some share is outside its limits.
    method, sample, freshness, is_checked, n_repeated, repeats, repeats_text, copies_detectable
        As for `Bound`.
    covers_choice : bool
        As for `Bound`: whether the limits hold for all nodes at once, so that the rows may have chosen the leaves.
    displayed_class : str
        The class whose share is shown at every leaf, in texts and in rule lists. If it is empty and there are two
        classes, each leaf shows the class that it does not predict; with more classes, the class that it predicts.

    Examples
    --------
    >>> limits = LeafShares([1, 2], [[9, 1], [0, 5]], [[0.5, 0], [0, 0.4]], [[1, 0.5], [0.6, 1]], ["no", "yes"], 0.05)
    >>> limits.share.tolist(), limits.n.tolist()
    ([[0.9, 0.1], [0.0, 1.0]], [10, 5])
    >>> limits.of(1, "yes")
    (0.1, 0.0, 0.5)
    """

    nodes: Ints
    count: Longs
    lower: Floats
    upper: Floats
    classes: Sequence[str]
    delta: float
    method: str = "exact tail"
    sample: str = ""
    freshness: str = ""
    is_checked: bool = True
    n_repeated: int = 0
    repeats: str = ""
    repeats_text: str = ""
    copies_detectable: bool = False
    displayed_class: str = ""
    covers_choice: bool = False

    def __post_init__(self) -> None:
        for name, dtype in (("nodes", np.int32), ("count", np.int64), ("lower", np.float64), ("upper", np.float64)):
            object.__setattr__(self, name, immutable_array(getattr(self, name), dtype))
        object.__setattr__(self, "classes", tuple(self.classes))
        shape = (len(self.nodes), len(self.classes))
        for name in ("count", "lower", "upper"):
            if getattr(self, name).shape != shape:
                raise ParameterError(
                    f"{name} has shape {getattr(self, name).shape}; {shape}, leaves and classes, is needed"
                )
        if (np.diff(self.nodes) <= 0).any():
            raise ParameterError("nodes must rise, each leaf once")

    @cached_property
    def n(self) -> Longs:
        """Number of rows of the sample in each leaf."""
        return write_protect(self.count.sum(axis=1))

    @cached_property
    def share(self) -> Floats:
        """Share of each class in each leaf of the sample; NaN in a leaf without rows."""
        n = self.n[:, None].astype(float)
        return write_protect(np.divide(self.count, n, out=np.full(self.count.shape, math.nan), where=n > 0))

    def of(self, node: int, label: object) -> tuple[float, float, float]:
        """Return the share of a class in a leaf of the sample, its lower limit and its upper limit."""
        i, c = self._row(node), class_number(self.classes, label)
        return float(self.share[i, c]), float(self.lower[i, c]), float(self.upper[i, c])

    def bound(self, node: int, label: object) -> Bound:
        """Return the limit on the share of a class in a leaf as a `Bound`; `details` has the lower limit.

        Parameters
        ----------
        node : int
            A leaf, as a number of the grown tree.
        label : class
            The name of the class.

        Examples
        --------
        >>> limits = LeafShares([0], [[1111, 89]], [[0.904, 0]], [[1, 0.096]], ["repaid", "defaulted"], 0.05)
        >>> print(limits.bound(0, "defaulted"))
        With 95 % confidence the share of 'defaulted' in leaf 0 on new rows like these is at most
        9.6 %, from 1,200 held-out rows (method: exact tail); assumes rows are independent and identically distributed
        and were not used to choose the tree.
        """
        i, c = self._row(node), class_number(self.classes, label)
        return Bound(
            value=float(self.upper[i, c]),
            delta=self.delta,
            method=self.method,
            n=int(self.n[i]),
            errors=int(self.count[i, c]),
            sample=self.sample,
            details={"leaf": int(node), "class": self.classes[c], "lower": float(self.lower[i, c])},
            quantity=f"share of {show(self.classes[c])} in leaf {int(node)}",
            freshness=self.freshness,
            is_checked=self.is_checked,
            n_repeated=self.n_repeated,
            repeats=self.repeats,
            repeats_text=self.repeats_text,
            copies_detectable=self.copies_detectable,
            covers_choice=self.covers_choice,
        )

    def with_displayed_class(self, label: object) -> "LeafShares":
        """Return the same limits with another class whose shares are displayed.

        Examples
        --------
        >>> limits = LeafShares([0], [[1111, 89]], [[0.904, 0]], [[1, 0.096]], ["repaid", "defaulted"], 0.05)
        >>> limits.with_displayed_class("defaulted").displayed_class
        'defaulted'
        """
        return replace(self, displayed_class=self.classes[class_number(self.classes, label)])

    def check_covers(self, nodes: ArrayLike) -> None:
        """Raise `ParameterError` unless all the given leaves have limits."""
        missing = np.setdiff1d(np.asarray(nodes), self.nodes)
        if len(missing):
            raise ParameterError(
                f"there are no limits for leaf {missing[0]}; compute them with leaf_shares(pruning, counts) of the "
                'same pruning, or with over="nodes"'
            )

    def restrict_to(self, nodes: ArrayLike) -> "LeafShares":
        """Return the limits of the given leaves only; they hold as before."""
        rows = [self._row(int(v)) for v in np.unique(np.asarray(nodes))]
        return replace(self, **{name: getattr(self, name)[rows] for name in ("nodes", "count", "lower", "upper")})

    def __len__(self) -> int:
        return len(self.nodes)

    __reduce__ = reduce_to_fields

    def __repr__(self) -> str:
        return escape_unprintable(
            f"LeafShares({len(self):,} {'leaf' if len(self) == 1 else 'leaves'}, {len(self.classes)} classes, "
            f"{self.method}, delta {self.delta:g})"
        )

    def _row(self, node: int) -> int:
        """Return the position of a node in `nodes`."""
        i = int(np.searchsorted(self.nodes, node))
        if i == len(self.nodes) or self.nodes[i] != node:
            raise ParameterError(
                f"node {show(node)} has no limits here; there are some for {_format_list(self.nodes.tolist())}"
            )
        return i


def class_number(names: Sequence[str], label: object) -> int:
    """Return the number of the class with a name; raise `ParameterError` if there is none."""
    if str(label) not in names:
        raise ParameterError(f"class {show(label)} is not known; the classes are {_format_list(names)}")
    return list(names).index(str(label))


def _format_list(values: Sequence[object]) -> str:
    suffix = ", ..." if len(values) > MAX_LISTED_VALUES else ""
    return ", ".join(map(show, values[:MAX_LISTED_VALUES])) + suffix
