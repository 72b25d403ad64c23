"""Bound: a certificate of the error of a pruned tree, and how it reads."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Bound:
    """An upper limit on the error on new rows, and everything needed to check it.

    Parameters
    ----------
    value : float
        With probability at least `1 - delta` the true error is at most this.
    delta : float
    method : str
    n : int
        Rows of the sample it was computed from.
    errors : int or float
        Errors of the pruning on that sample.
    complexity : float
        What the choice cost: ln of the number of candidates, ln 1/prior, KL or penalty.
    certified : bool
        Whether the limit is a guarantee under the stated assumptions.
    reason : str
        If not certified: why.
    sample : str
        Name of the sample.
    details : dict
        Further numbers of the method.

    Examples
    --------
    >>> print(Bound(0.123, 0.05, "test sample", 10_000, 1_100))
    With 95 % confidence the error on new rows like these is at most 12.3 %, from 10,000 held-out rows (method: test sample); assumes rows are independent and drawn alike.
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

    def __str__(self) -> str:
        confidence = f"{100 * (1 - self.delta):.6g} %"
        if not self.certified:
            return (
                f"Not a guarantee ({self.reason}): {self.method} gives {100 * self.value:.3g} % "
                f"for {self.n:,} held-out rows at nominal confidence {confidence}."
            )
        return (
            f"With {confidence} confidence the error on new rows like these is at most {100 * self.value:.3g} %, "
            f"from {self.n:,} held-out rows (method: {self.method}); assumes rows are independent and drawn alike."
        )
