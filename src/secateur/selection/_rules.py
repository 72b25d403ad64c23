"""Which member to take when the error of each and its standard error are known."""

import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError

_NAMED = re.compile(r"(\d+(?:\.\d+)?|\.\d+)se")
_TOLERANCE = 1e-12  # error rates are rounded quotients: nearer ones are tied


def choose(error: npt.ArrayLike, se: npt.ArrayLike, k: float = 0.0) -> tuple[int, int]:
    """Return the member with the lowest error, and the smallest member within `k` standard errors of it.

    Parameters
    ----------
    error, se : array
        Of each member, largest tree first; `se` may be NaN where `k` is 0.
    k : float
        0 takes the member of least error itself.

    Returns
    -------
    (int, int)
        Of equal errors the last, the smallest tree. The limit itself is within the limit, so
        that an error of 0 is chosen too.

    Examples
    --------
    >>> choose([0.125, 0.115, 0.11, 0.12, 0.15], [0.023, 0.023, 0.022, 0.023, 0.025], k=1)
    (2, 3)
    """
    rates, spread = np.asarray(error, np.float64), np.asarray(se, np.float64)
    if rates.ndim != 1 or rates.shape != spread.shape or not len(rates):
        raise ParameterError(
            f"errors of shape {rates.shape} and standard errors of {spread.shape}; one of each per member"
        )
    least = rates.min()
    best = int(np.flatnonzero(rates <= least * (1 + _TOLERANCE))[-1])
    if k == 0:
        return best, best
    limit = least + k * spread[best]
    if not math.isfinite(limit):
        raise ParameterError(f"the standard error of member {best} is {spread[best]}; k={k:g} needs a finite one")
    return best, int(np.flatnonzero(rates <= limit * (1 + _TOLERANCE))[-1])


def n_standard_errors(what: str, rule: Any, k: float | None) -> float:
    """Return the k of what parameter `what` was given: "min-error", "0se", "0.25se" and so on, or "kse" with `k`."""
    if rule == "kse":
        is_number = isinstance(k, int | float | np.number) and not isinstance(k, bool) and 0 <= k < np.inf
        if k is None or not is_number:
            raise ParameterError(f"{what}='kse' with k={k!r}; a number of standard errors, 0 or more, is needed")
        return float(k)
    if k is not None:
        raise ParameterError(f"k={k!r} goes with {what}='kse', not with {rule!r}")
    if rule == "min-error":
        return 0.0
    named = _NAMED.fullmatch(rule) if isinstance(rule, str) else None
    if named is None:
        raise ParameterError(f"{what}={rule!r}; one of 'min-error', '0se', '1se' or 'kse' with k= is needed")
    return float(named[1])


def rule_name(k: float) -> str:
    """The name under which a selection remembers its rule."""
    return f"{k:g}se"
