"""MonitorStatus: what the labelled rows that a monitor has counted say about a certificate."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from .._utils.arrays import Floats, Immutable, Ints, Longs
from ..errors import escape_unprintable
from .anytime import confidence_sequence
from .row_shares import NOTE, RowShares

MAX_LOG_EVIDENCE = 700.0  # exp of more is not a finite float
MAX_NAMED_LEAVES = 3  # in the sentence


@dataclass(frozen=True, eq=False)
class MonitorPlan(Immutable):
    """What a monitor tests. It is fixed before the first row is counted, and never depends on the rows.

    Parameters
    ----------
    limit : float
        The limit on the error that is tested.
    delta : float
        Probability that the limit was too low from the beginning; 0 for a limit that the user states.
    alpha : float
        Probability that the monitor contradicts a limit that holds, over all times at which somebody looks.
    overall_alpha : float
        The part of `alpha` that is spent on the test of the limit.
    leaves : array of int
        The leaves of the pruned tree, as node numbers of the grown tree.
    leaf_limit : array of float
        The limit on the share of wrong rows in each leaf; NaN for a leaf that is not tested.
    leaf_alpha : array of float
        The part of `alpha` that is spent on the test of each leaf; 0 for a leaf that is not tested.
    reference_rows : array of int
        Number of rows in each leaf of the sample with which the shares of rows are compared.
    reference : str
        Name of this sample.
    leaf_note : str
        Why no leaf is tested; empty if some are.
    """

    limit: float
    delta: float
    alpha: float
    overall_alpha: float
    leaves: Ints
    leaf_limit: Floats
    leaf_alpha: Floats
    reference_rows: Longs
    reference: str
    leaf_note: str = ""

    def __post_init__(self) -> None:
        self._freeze_arrays(leaves=np.int32, leaf_limit=float, leaf_alpha=float, reference_rows=np.int64)

    @property
    def risk(self) -> float:
        """The probability of a false alarm: that the limit was too low, or that the monitor errs."""
        return self.delta + self.alpha


@dataclass(frozen=True)
class LeafStatus:
    """What the rows of one leaf say about the limit on its share of wrong rows.

    Parameters
    ----------
    leaf : int
        The leaf, as a node number of the grown tree.
    rule : str
        The rule of the leaf, in words.
    n, errors : int
        Number of rows that have reached the leaf, and of wrong ones among them.
    limit : float or None
        The limit; None for a leaf that is not tested.
    alpha : float
        The part of the failure probability that is spent on the leaf.
    log_evidence : float
        ln of the largest evidence against the limit at any look.
    """

    leaf: int
    rule: str
    n: int
    errors: int
    limit: float | None
    alpha: float
    log_evidence: float

    @property
    def evidence(self) -> float:
        """The largest evidence against the limit at any look; at most 1e304."""
        return math.exp(min(self.log_evidence, MAX_LOG_EVIDENCE))

    @property
    def is_contradicted(self) -> bool:
        """Whether the evidence has reached 1 / alpha: the rule has broken."""
        return self.limit is not None and self.log_evidence >= -math.log(self.alpha)

    def to_dict(self) -> dict[str, Any]:
        """Return all values by name."""
        values = {name: getattr(self, name) for name in ("leaf", "rule", "n", "errors", "limit", "alpha", "evidence")}
        return {**values, "is_contradicted": self.is_contradicted}

    def __str__(self) -> str:
        rows = f"{_number(self.errors, 'error')} in {_number(self.n, 'row')}"
        limit = "not tested" if self.limit is None else f"limit {format_limit(self.limit)}"
        verdict = ": contradicted" if self.is_contradicted else ""
        return escape_unprintable(f"leaf {self.leaf}, {self.rule}: {rows}, {limit}{verdict}")


@dataclass(frozen=True, eq=False)
class MonitorStatus(Immutable):
    """What the rows counted so far say about a limit on the error of a tree; `str()` is one sentence.

    Parameters
    ----------
    plan : MonitorPlan
        The limits that are tested.
    rules : sequence of str
        The rule of each leaf, in words.
    leaf_rows, leaf_errors : arrays of int
        Number of rows in each leaf, and of wrong ones among them.
    log_evidence : float
        ln of the largest evidence against the limit at any look.
    leaf_log_evidence : array of float
        The same for the limit of each leaf.
    looks : array of shape (looks, 3)
        The number of rows, of errors, and ln of the evidence at the looks that were kept.

    Examples
    --------
    >>> plan = MonitorPlan(0.12, 0.025, 0.05, 0.025, [0], [math.nan], [0.0], [1000], "prune")
    >>> status = MonitorStatus(plan, ["every row"], [200], [40], 4.07, [0.0], [[200, 40, 4.07]])
    >>> status.n, status.errors, round(status.evidence), status.is_contradicted
    (200, 40, 59, True)
    >>> print(status)
    The limit of 12 % on the error is contradicted after 200 rows with 40 errors (20 %): evidence 58.6, where 40 is
    needed; either the limit was too low from the beginning (probability at most 2.5 %), or the rows have changed, or
    this is a false alarm of the monitor (at most 5 %): total risk 7.5 %.
    """

    plan: MonitorPlan
    rules: Sequence[str]
    leaf_rows: Longs
    leaf_errors: Longs
    log_evidence: float
    leaf_log_evidence: Floats
    looks: Floats

    def __post_init__(self) -> None:
        self._freeze_arrays(leaf_rows=np.int64, leaf_errors=np.int64, leaf_log_evidence=float, looks=float)
        object.__setattr__(self, "rules", tuple(self.rules))

    @cached_property
    def n(self) -> int:
        """Number of rows so far."""
        return int(self.leaf_rows.sum())

    @cached_property
    def errors(self) -> int:
        """Number of wrong rows so far."""
        return int(self.leaf_errors.sum())

    @property
    def limit(self) -> float:
        """The limit on the error that is tested."""
        return self.plan.limit

    @property
    def evidence(self) -> float:
        """The largest evidence against the limit at any look; at most 1e304."""
        return math.exp(min(self.log_evidence, MAX_LOG_EVIDENCE))

    @property
    def needed_evidence(self) -> float:
        """The evidence at which the limit is contradicted."""
        return 1 / self.plan.overall_alpha

    @property
    def is_contradicted(self) -> bool:
        """Whether the evidence has reached `needed_evidence`: the limit on the error is contradicted."""
        return self.log_evidence >= -math.log(self.plan.overall_alpha)

    @property
    def is_alarm(self) -> bool:
        """Whether the limit on the error, or the limit of a leaf, is contradicted."""
        return self.is_contradicted or bool(self.broken_leaves)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Limits on the error among the rows counted, with confidence 1 - alpha at all looks at once."""
        return confidence_sequence(self.errors, self.n, self.plan.alpha)

    @cached_property
    def leaves(self) -> tuple[LeafStatus, ...]:
        """The status of each leaf."""
        leaves = []
        for i, leaf in enumerate(self.plan.leaves.tolist()):
            limit = float(self.plan.leaf_limit[i])
            leaves.append(
                LeafStatus(
                    leaf,
                    self.rules[i],
                    int(self.leaf_rows[i]),
                    int(self.leaf_errors[i]),
                    None if math.isnan(limit) else limit,
                    float(self.plan.leaf_alpha[i]),
                    float(self.leaf_log_evidence[i]),
                )
            )
        return tuple(leaves)

    @cached_property
    def broken_leaves(self) -> tuple[LeafStatus, ...]:
        """The leaves whose limit is contradicted: the rules that have broken."""
        return tuple(leaf for leaf in self.leaves if leaf.is_contradicted)

    @cached_property
    def shares(self) -> RowShares:
        """The rows in each leaf, compared with those of the certifying sample. It does not refute the certificate."""
        return RowShares(self.plan.reference_rows, self.leaf_rows, self.plan.reference)

    def to_dict(self) -> dict[str, Any]:
        """Return all values by name, as plain values."""
        lower, upper = self.interval
        shares = self.shares
        return {
            "n": self.n,
            "errors": self.errors,
            "limit": self.plan.limit,
            "delta": self.plan.delta,
            "alpha": self.plan.alpha,
            "risk": self.plan.risk,
            "evidence": self.evidence,
            "needed_evidence": self.needed_evidence,
            "is_contradicted": self.is_contradicted,
            "is_alarm": self.is_alarm,
            "interval": [lower, upper],
            "leaves": [
                {**leaf.to_dict(), "rows_before": before}
                for leaf, before in zip(self.leaves, shares.before.tolist(), strict=True)
            ],
            "leaf_note": self.plan.leaf_note,
            "shares": {
                "sample": shares.sample,
                "psi": shares.psi,
                "size": shares.size,
                "p_value": shares.p_value,
                "method": shares.method,
                "note": NOTE,
            },
            "sentence": str(self),
        }

    def __str__(self) -> str:
        return escape_unprintable(f"{self._verdict}{self._broken_rules}; {self._risk}.")

    def _repr_html_(self) -> str:
        """Return the sentence for a notebook."""
        return f"<p>{escape(str(self))}</p>"

    @property
    def _verdict(self) -> str:
        """Whether the limit is contradicted, after how many rows, and how close it is."""
        verdict = "contradicted" if self.is_contradicted else "not contradicted"
        share = f" ({100 * self.errors / self.n:.3g} %)" if self.n else ""
        lower, upper = self.interval
        interval = ""
        if self.n and not self.is_contradicted:
            confidence = f"{100 * (1 - self.plan.alpha):.6g} %"
            ends = f"{math.floor(1000 * lower) / 10:.1f} % and {format_limit(upper)}"
            interval = f"; with {confidence} confidence the error is between {ends}"
        return (
            f"The limit of {format_limit(self.limit)} on the error is {verdict} after {_number(self.n, 'row')} with "
            f"{_number(self.errors, 'error')}{share}: evidence {self.evidence:.3g}, where {self.needed_evidence:.3g} "
            f"is needed{interval}"
        )

    @property
    def _broken_rules(self) -> str:
        """The leaves whose limits are contradicted, in words; empty if there are none."""
        broken = self.broken_leaves
        if not broken:
            return ""
        texts = [
            f"{leaf.rule} ({_number(leaf.errors, 'error')} in {_number(leaf.n, 'row')}, "
            f"limit {format_limit(leaf.limit or 0.0)})"
            for leaf in broken[:MAX_NAMED_LEAVES]
        ]
        rest = f" and {len(broken) - MAX_NAMED_LEAVES} more" if len(broken) > MAX_NAMED_LEAVES else ""
        return f"; the rules that have broken: {', '.join(texts)}{rest}"

    @property
    def _risk(self) -> str:
        """The probabilities of a false alarm, in words."""
        plan = self.plan
        delta, alpha, risk = (f"{100 * p:.6g} %" for p in (plan.delta, plan.alpha, plan.risk))
        if not self.is_alarm:
            return (
                f"the total risk of a false alarm is {risk} (delta {delta} of the limit + alpha {alpha} of the monitor)"
            )
        too_low = f"the limit was too low from the beginning (probability at most {delta}), or " if plan.delta else ""
        return (
            f"either {too_low}the rows have changed, or this is a false alarm of the monitor (at most {alpha}): "
            f"total risk {risk}"
        )


def _number(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def format_limit(share: float) -> str:
    """Return a limit in percent, rounded up to three digits, so that the text is a limit too."""
    value = 100 * Decimal(repr(share))
    if not value:
        return "0 %"
    text = f"{value.quantize(Decimal(1).scaleb(value.adjusted() - 2), rounding=ROUND_CEILING):f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"
