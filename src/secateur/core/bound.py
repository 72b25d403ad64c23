"""Bound: a certificate of the error of a pruned tree, and the sentence that states it."""

from dataclasses import asdict, dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from html import escape
from typing import Any, Literal

from ..errors import ParameterError, escape_unprintable, show

GAP = "gap of"  # with which the quantity of a limit on the difference of a rate between population groups begins
ERROR_IN_GROUPS = "error in every group of"  # and that of a limit on the error in each population group
GROUPS_IN_ERROR = "share of groups with an error"  # the quantity of a limit on groups that must be right in all rows
LOSSES_OF_NUMBERS = ("mean absolute error", "mean squared error")
AMOUNTS = ("cost", *LOSSES_OF_NUMBERS)  # quantities that are not shares of rows; `Bound.scale` is their largest value


@dataclass(frozen=True)
class Bound:
    """A certificate: an upper limit on the error on new rows, with all numbers needed to verify it.

    Parameters
    ----------
    value : float
        With probability at least `1 - delta` the true error is at most this.
    delta : float
        Probability, over samples, that the limit is too low.
    method : str
        Name of the method that computed the limit, with its options.
    n : int
        Number of independent draws from which the limit was computed: rows, or groups of rows.
    errors : int or float
        Errors of the pruning on that sample. With groups, the sum over the groups of their shares of wrong rows (or the
        number of groups with a wrong row), so that `rate` is their mean.
    complexity : float
        The price of choosing: ln of the number of candidates, ln 1/prior, KL divergence or penalty.
    certified : bool
        Whether the limit is a guarantee under the stated assumptions.
    reason : str
        Why the limit is not a guarantee, if `certified` is False.
    sample : str
        Name of the sample.
    details : dict
        Further numbers from which `value` follows; they depend on the method.
    predictor : str
        The predictor that the limit applies to, if it is not the pruned tree itself.
    quantity : str
        The quantity that the limit is on: "error", "cost", "false positive rate", ...
    scale : float
        Largest possible value of the quantity: 1 for a rate, the largest entry of the matrix for a cost, the largest
        possible loss of a row for a mean absolute or squared error.
    freshness : str
        With which samples the rows were compared, or why they could not be compared.
    is_checked : bool
        Whether rows that were used before would have been recognised. If not, `freshness` states why.
    n_repeated : int
        Number of rows that count as errors besides `errors`, because they repeat other rows and may be copies.
    repeats : str
        How rows that occur more than once were judged. "natural": they repeat by chance. "copies": they were copied.
        "in doubt": neither is clear. "independent": the caller states that all rows are independent draws. "unknown":
        the rows were not compared. Empty: the method does not examine repeated rows.
    repeats_text : str
        The judgement in words; empty if there is nothing to state.
    copies_detectable : bool
        Whether copies of some of the rows would have been noticed. If rows have few distinct values, they would not.
    unit : str
        What is counted as one draw: "row", or "group" for rows that belong together.
    n_rows : int
        With groups, the number of rows in the groups; otherwise 0.
    covers_choice : bool
        Whether the limit holds for several candidates at once at no price in `complexity`, so that the rows may have
        chosen among them. If `complexity` is above 0, the price covers a choice, too.
    assumes : str
        What the limit assumes besides fresh and independent rows, such as "every target is from 0 to 100". Empty if
        nothing.
    stated : str
        For a bound that was read and could not be computed again from counts: where it was read, such as "the model
        file". Empty for all other bounds.

    Examples
    --------
    >>> print(Bound(0.123, 0.05, "test sample", 10_000, 1_100))
    With 95 % confidence the error on new rows like these is at most 12.3 %, from 10,000
    held-out rows (method: test sample); assumes rows are independent and identically distributed
    and were not used to choose the tree.
    >>> print(Bound(0.2, 0.05, "quarter bit", 500, 60, certified=False, reason="the prior is not one"))
    Not a guarantee (the prior is not one): quarter bit gives 20 % for 500 held-out rows at nominal confidence 95 %.
    """

    value: float
    delta: float
    method: str
    n: int
    errors: int | float
    complexity: float = 0.0
    certified: bool = True
    reason: str = ""
    sample: str = ""
    details: dict[str, Any] = field(default_factory=dict, compare=False)
    predictor: str = ""
    quantity: str = "error"
    scale: float = 1.0
    freshness: str = ""
    is_checked: bool = True
    n_repeated: int = 0
    repeats: str = ""
    repeats_text: str = ""
    copies_detectable: bool = False
    unit: str = "row"
    n_rows: int = 0
    covers_choice: bool = False
    assumes: str = ""
    stated: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.value <= self.scale:
            raise ParameterError(f"value={self.value}; a number between 0 and {self.scale:g} is needed")
        if not 0 < self.delta < 1:
            raise ParameterError(f"delta={self.delta}; a failure probability between 0 and 1, both excluded, is needed")
        if not self.certified and not self.reason:
            raise ParameterError("certified=False and reason=''; a reason is needed: why the limit is not a guarantee")
        if self.unit not in ("row", "group"):
            raise ParameterError(f"unit={show(self.unit)}; 'row' or 'group' is needed")

    @property
    def rate(self) -> float:
        """The error rate on the sample."""
        return self.errors / self.n if self.n else 0.0

    @property
    def is_amount(self) -> bool:
        """Whether the quantity is an amount, such as a cost or a mean squared error, and not a share."""
        return self.quantity in AMOUNTS

    @property
    def repeat_rule(self) -> Literal["errors", "independent"]:
        """The value of `repeats=` with which this bound was computed, for further limits from the same rows."""
        return "independent" if self.repeats == "independent" else "errors"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name.

        Examples
        --------
        >>> Bound(0.123, 0.05, "test sample", 10_000, 1_100).to_dict()["errors"]
        1100
        """
        return asdict(self)

    def __str__(self) -> str:
        prefix = f"Stated in {self.stated} and not checked: " if self.stated else ""
        return escape_unprintable(prefix + self._sentence)

    def _repr_html_(self) -> str:
        """Return the sentence for a notebook."""
        return f"<p>{escape(str(self))}</p>"

    @property
    def _assumed_use(self) -> str:
        """What the limit assumes about the use of the rows. No log can prove it: a choice by eye leaves no record."""
        if self.complexity > 0 or self.covers_choice:
            return "chose the tree at most among the prunings that the limit covers"
        chosen = "classifier" if self.method.startswith("predictions") else "tree"
        return f"were not used to choose the {chosen}"

    @property
    def _sentence(self) -> str:
        """The bound as a sentence, without the remark that it was not checked."""
        # The limit is rounded up and the confidence down, so that the sentence stays true.
        value = Decimal(repr(float(self.value)))
        limit = _digits(value, ROUND_CEILING, 3) if self.is_amount else percent(value, ROUND_CEILING, 3)
        if self.quantity.startswith(GAP):
            limit = f"{limit.removesuffix(' %')} percentage points"
        confidence = percent(1 - Decimal(repr(float(self.delta))), ROUND_FLOOR, 6)
        rows = f"{self.n:,} held-out {self.unit}{'s' if self.n != 1 else ''}"
        if self.unit == "group":
            rows += f" of {self.n_rows:,} rows"
        if not self.certified:
            return (
                f"Not a guarantee ({self.reason}): {self.method} gives {limit} "
                f"for {rows} at nominal confidence {confidence}."
            )
        subject = f"the {self.quantity} of {self.predictor}" if self.predictor else f"the {self.quantity}"
        assumption = f"independent and identically distributed and {self._assumed_use}"
        if not self.is_checked:
            assumption = (
                f"independent, identically distributed and not used before ({self.freshness}) and {self._assumed_use}"
            )
        remark = f"; {self.repeats_text}" if self.repeats_text else ""
        assumes = f"{self.assumes} (stated beforehand) and " if self.assumes else ""
        population = "on new rows like these"
        if self.unit == "group":
            is_share = self.quantity == GROUPS_IN_ERROR
            population = "among new groups like these" if is_share else "of a random row of a new group like these"
        return (
            f"With {confidence} confidence {subject} {population} is at most {limit}, "
            f"from {rows} (method: {self.method}); assumes {assumes}{self.unit}s are {assumption}{remark}."
        )


def percent(share: Decimal, rounding: str, n_digits: int) -> str:
    """Return a share in percent, rounded to `n_digits` significant digits."""
    return _digits(100 * share, rounding, n_digits) + " %"


def _digits(number: Decimal, rounding: str, n_digits: int) -> str:
    """Return a number rounded to `n_digits` significant digits, without trailing zeros."""
    last_digit = Decimal(1).scaleb(number.adjusted() - n_digits + 1) if number else Decimal(1)
    text = f"{number.quantize(last_digit, rounding=rounding):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
