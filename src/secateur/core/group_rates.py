"""GroupRates: error rates of population groups, with limits that all hold at once, and the gaps between groups."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property
from html import escape
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from .._utils.arrays import Floats, Immutable, Longs, write_protect
from .._utils.checks import check_name
from ..errors import CountsError, ParameterError, escape_unprintable, show
from .bound import percent
from .population_groups import index_of_group

RateName = Literal["error", "false positive rate", "false negative rate", "selection rate"]
# Each rate, with the rows of a group among which it counts. "Selected" rows are those predicted as the positive class.
GROUP_RATES: dict[str, str] = {
    "error": "rows predicted wrongly, of all rows",
    "false positive rate": "rows predicted positive, of the rows of the other classes",
    "false negative rate": "rows not predicted positive, of the rows of the positive class",
    "selection rate": "rows predicted positive, of all rows",
}


class GroupRate(NamedTuple):
    """A rate of one population group.

    Parameters
    ----------
    group, rate : str
        Names of the group and the rate.
    events, n : int
        Number of rows that the rate counts, and number of rows among which it counts.
    value : float
        Their quotient; NaN if there are no rows.
    lower, upper : float
        Limits on the rate among new rows; 0 and 1 if there are no rows.
    """

    group: str
    rate: str
    events: int
    n: int
    value: float
    lower: float
    upper: float


class GroupGap(NamedTuple):
    """The difference of a rate between two population groups.

    Parameters
    ----------
    rate, first, second : str
        Names of the rate and the groups.
    difference : float
        The rate of the first group minus that of the second in the sample; NaN if one of them has no rows.
    lower, upper : float
        Limits on this difference among new rows.
    limit : float
        The certified gap: an upper limit on the difference, whichever of the two rates is higher.
    """

    rate: str
    first: str
    second: str
    difference: float
    lower: float
    upper: float
    limit: float


@dataclass(frozen=True, eq=False, repr=False)
class GroupRates(Immutable):
    """Rates of all population groups of a column, with limits that hold at once, as `certify_groups` returns them.

    Parameters
    ----------
    column : str
        The column whose values are the groups.
    groups : tuple of str
        Names of the groups.
    rates : tuple of str
        Names of the rates, among those of `GROUP_RATES`.
    events, n : array of shape (groups, rates)
        Number of rows that each rate counts, and number of rows among which it counts.
    lower, upper : array of shape (groups, rates)
        With probability at least `1 - delta`, all rates among new rows lie between their limits.
    delta : float
        Probability, over samples, that some rate is outside its limits.
    positive : str
        Name of the positive class; empty if there is only the error.
    n_rows : int
        Number of rows of the sample.
    method, sample, freshness, is_checked, n_repeated, repeats, repeats_text, copies_detectable
        As for `Bound`.
    n_columns : int
        Number of columns whose groups were certified together; the limits of all columns hold at once.
    stated : str
        As for `Bound`.
    pruning : bytes
        The digest of the pruning that was certified.

    Examples
    --------
    >>> limits = {"lower": [[0.2], [0.12]], "upper": [[0.42], [0.3]]}
    >>> rates = GroupRates("sex", "fm", ["error"], [[30], [20]], [[100], [100]], **limits, delta=0.05, n_rows=200)
    >>> rates.of("f", "error")
    GroupRate(group='f', rate='error', events=30, n=100, value=0.3, lower=0.2, upper=0.42)
    >>> round(rates.largest_gap("error").limit, 2)
    0.3
    >>> print(rates)
    With 95 % confidence, all of the following holds at once on new rows like these: in each of the 2 groups of 'sex'
    the error is at most 42 %, and between two groups the error differs by at most 30 percentage points, from 200
    held-out rows (method: exact tail); assumes rows are independent and identically distributed and were not used to
    choose the tree or the column of the groups.
    """

    column: str
    groups: Sequence[str]
    rates: Sequence[str]
    events: Longs
    n: Longs
    lower: Floats
    upper: Floats
    delta: float
    positive: str = ""
    n_rows: int = 0
    method: str = "exact tail"
    sample: str = ""
    freshness: str = ""
    is_checked: bool = True
    n_repeated: int = 0
    repeats: str = ""
    repeats_text: str = ""
    copies_detectable: bool = False
    n_columns: int = 1
    stated: str = field(default="", compare=False)
    pruning: bytes = field(default=b"", compare=False)

    def __post_init__(self) -> None:
        for name in ("groups", "rates"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        self._freeze_arrays(events=np.int64, n=np.int64, lower=np.float64, upper=np.float64)
        shape = (len(self.groups), len(self.rates))
        for name in ("events", "n", "lower", "upper"):
            if getattr(self, name).shape != shape:
                raise CountsError(f"{name} has shape {getattr(self, name).shape}; {shape}, groups and rates, is needed")
        for rate in self.rates:
            check_name("rates", rate, GROUP_RATES)
        if not 0 < self.delta < 1:
            raise ParameterError(f"delta={self.delta}; a failure probability between 0 and 1, both excluded, is needed")

    @cached_property
    def value(self) -> Floats:
        """Each rate in the sample; NaN where there are no rows."""
        values = np.full(self.n.shape, math.nan)
        return write_protect(np.divide(self.events, self.n, out=values, where=self.n > 0))

    @property
    def empty_groups(self) -> tuple[str, ...]:
        """Names of the groups without rows, about which the sample says nothing."""
        is_empty = self.n.max(axis=1) == 0
        return tuple(group for group, empty in zip(self.groups, is_empty.tolist(), strict=True) if empty)

    def of(self, group: object, rate: str = "error") -> GroupRate:
        """Return one rate of one group, with its limits."""
        i, j = index_of_group(self.groups, group, self.column), self._rate_number(rate)
        numbers = [getattr(self, name)[i, j].item() for name in ("events", "n", "value", "lower", "upper")]
        return GroupRate(self.groups[i], self.rates[j], *numbers)

    def gap(self, rate: str, first: object, second: object) -> GroupGap:
        """Return the difference of a rate between two groups, with limits.

        Examples
        --------
        >>> rates = GroupRates("sex", "fm", ["error"], [[30], [20]], [[99], [99]], [[0.2], [0.1]], [[0.4], [0.3]], 0.05)
        >>> gap = rates.gap("error", "m", "f")
        >>> round(gap.lower, 2), round(gap.upper, 2), round(gap.limit, 2)
        (-0.3, 0.1, 0.3)
        """
        a, b = self.of(first, rate), self.of(second, rate)
        lower, upper = max(-1.0, a.lower - b.upper), min(1.0, a.upper - b.lower)
        return GroupGap(a.rate, a.group, b.group, a.value - b.value, lower, upper, max(-lower, upper))

    def gaps(self, rate: str | None = None) -> Iterator[GroupGap]:
        """Yield the gap between every two groups, for one rate or for all of them."""
        for name in self.rates if rate is None else (rate,):
            for first, second in combinations(self.groups, 2):
                yield self.gap(name, first, second)

    def largest_gap(self, rate: str = "error") -> GroupGap | None:
        """Return the gap with the highest limit, the group with the higher rate first; None for a single group."""
        j = self._rate_number(rate)
        limits = self.upper[:, j, None] - self.lower[None, :, j]
        np.fill_diagonal(limits, -1.0)
        if len(self.groups) < 2:
            return None
        first, second = np.unravel_index(limits.argmax(), limits.shape)
        return self.gap(rate, self.groups[int(first)], self.groups[int(second)])

    def lowest_ratio(self, rate: str = "selection rate") -> float:
        """Return a lower limit on the ratio of the rates of any two groups: the lowest divided by the highest.

        For the selection rate, this is the number that the four-fifths rule compares with .8.

        Examples
        --------
        >>> rates = GroupRates("sex", "fm", ["error"], [[30], [20]], [[99], [99]], [[0.2], [0.1]], [[0.4], [0.3]], 0.05)
        >>> round(rates.lowest_ratio("error"), 2)
        0.25
        """
        j = self._rate_number(rate)
        upper = np.broadcast_to(self.upper[None, :, j], (len(self), len(self)))
        ratios = np.divide(self.lower[:, j, None], upper, out=np.zeros(upper.shape), where=upper > 0)
        np.fill_diagonal(ratios, 1.0)
        return float(ratios.min())

    def highest(self, rate: str = "error") -> GroupRate:
        """Return the rate of the group with the highest upper limit."""
        return self.of(self.groups[int(self.upper[:, self._rate_number(rate)].argmax())], rate)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the head and the rows of a table for people: the groups of each rate, and the largest gap.

        Limits are rounded outwards, so that the table stays true.

        Examples
        --------
        >>> limits = {"lower": [[0.2], [0.125]], "upper": [[0.4], [0.3]]}
        >>> rates = GroupRates("sex", "fm", ["error"], [[30], [20]], [[99], [99]], **limits, delta=0.05)
        >>> for row in rates.table()[1]:
        ...     print(", ".join(row))
        error, f, 30 of 99, 30.3 %, 20 to 40 %
        , m, 20 of 99, 20.2 %, 12.5 to 30 %
        , largest gap, f - m, 10.1 points, at most 27.5
        """
        rows = []
        for rate in self.rates:
            of_rate = self.rows_of(rate)
            of_rate += [] if len(self) < 2 else [["largest gap", *self.gap_texts(rate)]]
            rows += [[rate if i == 0 else "", *row] for i, row in enumerate(of_rate)]
        return ["rate", self.column, "rows", "sample", "limits"], rows

    def rows_of(self, rate: str) -> list[list[str]]:
        """Return the texts of one rate of each group: the group, its rows, its rate in the sample, and the limits."""
        texts = []
        for group in self.groups:
            found = self.of(group, rate)
            value = f"{100 * found.value:.1f} %" if found.n else ""
            limits = f"{_points(found.lower, ROUND_FLOOR)} to {_points(found.upper)} %"
            texts.append([group, f"{found.events:,} of {found.n:,}", value, limits])
        return texts

    def gap_texts(self, rate: str) -> list[str]:
        """Return the texts of the largest gap: the two groups, their difference in the sample, and its limit."""
        gap = self.largest_gap(rate)
        if gap is None:
            return []
        value = "" if math.isnan(gap.difference) else f"{100 * gap.difference:.1f} points"
        return [f"{gap.first} - {gap.second}", value, f"at most {_points(gap.limit)}"]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON; a rate without rows is None."""
        groups = []
        for i, group in enumerate(self.groups):
            rates = {rate: _without_nan(self.of(group, rate)._asdict()) for rate in self.rates}
            groups.append({"group": group, "n": int(self.n[i, 0]), "rates": rates})
        largest = {rate: self.largest_gap(rate) for rate in self.rates}
        return {
            "column": self.column,
            "positive": self.positive,
            "delta": self.delta,
            "method": self.method,
            "sample": self.sample,
            "n": self.n_rows,
            "freshness": self.freshness,
            "is_checked": self.is_checked,
            "n_repeated": self.n_repeated,
            "repeats": self.repeats,
            "n_columns": self.n_columns,
            "stated": self.stated,
            "groups": groups,
            "gaps": [_without_nan(gap._asdict()) for gap in self.gaps()],
            "largest_gaps": {rate: _without_nan(gap._asdict()) for rate, gap in largest.items() if gap is not None},
            "lowest_selection_ratio": self.lowest_ratio() if "selection rate" in self.rates else None,
            "sentence": str(self),
        }

    def __len__(self) -> int:
        return len(self.groups)

    def __repr__(self) -> str:
        number = f"{len(self):,} group{'s' * (len(self) > 1)}"
        return escape_unprintable(f"GroupRates({show(self.column)}, {number}, {self.method}, delta {self.delta:g})")

    def __str__(self) -> str:
        confidence = percent(1 - Decimal(repr(float(self.delta))), ROUND_FLOOR, 6)
        scope = "" if self.n_columns == 1 else f" (with the groups of {self.n_columns} columns)"
        prefix = f"Stated in {self.stated} and not checked: " if self.stated else ""
        assumption = "independent and identically distributed"
        if not self.is_checked:
            assumption = f"independent, identically distributed and not used before ({self.freshness})"
        remark = f"; {self.repeats_text}" if self.repeats_text else ""
        empty = ""
        if self.empty_groups:
            names = ", ".join(map(show, self.empty_groups[:3])) + (", ..." if len(self.empty_groups) > 3 else "")
            empty = f"; nothing is known of {names}, without rows"
        which = "the group" if len(self) == 1 else f"each of the {len(self):,} groups"
        return escape_unprintable(
            f"{prefix}With {confidence} confidence, all of the following holds at once{scope} on new rows like "
            f"these: in {which} of {show(self.column)} the error is at most {_points(self.highest().upper)} %"
            f"{self._gap_text}, from {self.n_rows:,} held-out rows (method: {self.method}); assumes rows are "
            f"{assumption} and were not used to choose the tree or the column of the groups{empty}{remark}."
        )

    def _repr_html_(self) -> str:
        """Return the table and the sentence for a notebook."""
        head, rows = self.table()
        cells = "".join(f"<th scope='col'>{_escape(name)}</th>" for name in head)
        body = "".join("<tr>" + "".join(f"<td>{_escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table><p>{_escape(str(self))}</p>"

    @property
    def _gap_text(self) -> str:
        """The largest certified gap of each rate, as a part of the sentence."""
        gaps = [self.largest_gap(rate) for rate in self.rates]
        parts = [f"the {gap.rate} differs by at most {_points(gap.limit)}" for gap in gaps if gap is not None]
        if not parts:
            return ""
        listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        positive = f" (positive class: {show(self.positive)})" if self.positive else ""
        return f", and between two groups {listed} percentage points{positive}"

    def _rate_number(self, rate: str) -> int:
        name = rate.replace("-", " ").replace("_", " ") if isinstance(rate, str) else rate
        check_name("rate", name, self.rates)
        return list(self.rates).index(name)


def _points(share: float, rounding: str = ROUND_CEILING) -> str:
    """Return a share in percent, rounded to one decimal place; by default upwards."""
    text = f"{(100 * Decimal(repr(share))).quantize(Decimal('0.1'), rounding=rounding):f}"
    return text.removesuffix(".0")


def _escape(text: str) -> str:
    """Return a text as HTML on one line."""
    return escape(escape_unprintable(text, keep=""))


def _without_nan(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in values.items()}
