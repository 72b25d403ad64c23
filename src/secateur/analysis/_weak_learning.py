"""How fast best-first growth must succeed if every leaf has a slightly useful test.

There are two classes. A node with proportion q of class 1 is split: the share `tau` of its rows goes to a side with
proportion r, the rest to a side with proportion p, so q = tau r + (1 - tau) p. Let the rows of the node be weighted so
that both classes have the same weight, and let the split predict one class on each side. Its error is then 1/2 - gamma,
and gamma is called the *advantage* of the split. The advantage bounds the drop of the criterion from below:

    gini     2 q (1 - q)            drop >= 32 gamma^2 (q (1 - q))^2   = 8 gamma^2 G^2
    entropy  H2(q) / 2              drop >= (4 / ln 2) gamma^2 q (1 - q)
    sqrt     sqrt(q (1 - q))        drop >= (1 - sqrt(1 - 4 gamma^2)) G >= 2 gamma^2 G

Each right-hand side is a convex, rising function phi of the criterion G of the node, with phi(0) = 0. Let G_t be the
criterion of a best-first tree after t splits: the mean of G over its t + 1 leaves, weighted by their rows. A split of
the best leaf lowers G_t by at least phi(G_t) / (t + 1), and since G_0 <= 1/2

    error <= G_t <= eps   as soon as   ln(t + 1) >= integral from eps to 1/2 of dG / phi(G),

which has a closed form for all three criteria. Kearns and Mansour (1999). The constants are the largest possible, and
the closed forms are sharper than the published orders (for gini, 1/eps in the exponent instead of 1/eps^2).
"""

import math
from collections.abc import Callable
from typing import Literal

from .._utils.checks import check_int, check_name
from ..errors import ParameterError
from ._checks import check_between

Criterion = Literal["gini", "entropy", "sqrt"]
AnyCriterion = Literal["gini", "entropy", "sqrt", "error"]


def weak_learning_advantage(tau: float, r: float, p: float) -> float:
    """Return the advantage of a binary split over guessing, on the balanced node.

    Parameters
    ----------
    tau : float
        Share of the node that goes to the first side.
    r, p : float
        Proportion of class 1 on the first and on the second side.

    Returns
    -------
    float
        gamma = tau (1 - tau) abs(r - p) / (2 q (1 - q)), from 0 to 1/2.

    Notes
    -----
    Mansour's notes, section 12.1.5.

    Examples
    --------
    >>> round(weak_learning_advantage(0.5, 0.6, 1.0), 4)
    0.3125
    """
    q = _proportion(tau, r, p)
    if q in (0, 1):
        raise ParameterError(f"tau={tau}, r={r}, p={p}: the node is pure (q={q:g}); it has nothing left to split")
    return min(0.5, tau * (1 - tau) * abs(r - p) / (2 * q * (1 - q)))


def criterion_value(criterion: AnyCriterion, q: float) -> float:
    """Return the criterion of a node with proportion `q` of class 1.

    Parameters
    ----------
    criterion : "gini", "entropy", "sqrt" or "error"
        Scaled to 1/2 at q = 1/2.
    q : float

    Notes
    -----
    Mansour's notes, section 12.1.4, Figure 12.4. All are symmetric, concave (the notes say convex) and at least
    min(q, 1 - q). The error equals min(q, 1 - q), so a split whose sides have the same majority does not change it.

    Examples
    --------
    >>> [round(criterion_value(name, 0.2), 4) for name in ("error", "gini", "entropy", "sqrt")]
    [0.2, 0.32, 0.361, 0.4]
    """
    check_name("criterion", criterion, _CRITERION_FUNCTIONS)
    return _CRITERION_FUNCTIONS[criterion](float(check_between("q", q, 0, 1)))


def split_drop(criterion: AnyCriterion, tau: float, r: float, p: float) -> float:
    """Return by how much a binary split lowers the criterion of its node.

    Parameters
    ----------
    criterion : "gini", "entropy", "sqrt" or "error"
        Scaled to 1/2 at q = 1/2.
    tau, r, p : float
        The split, as for `weak_learning_advantage`.

    Returns
    -------
    float
        G(q) - tau G(r) - (1 - tau) G(p), not weighted by the share of the node in the sample.

    Notes
    -----
    Mansour's notes, sections 12.1.2 to 12.1.4.

    Examples
    --------
    >>> [round(split_drop(name, 0.5, 0.6, 1.0), 4) for name in ("gini", "entropy", "sqrt", "error")]
    [0.08, 0.1182, 0.1551, 0.0]
    """
    q = _proportion(tau, r, p)
    if criterion == "gini":
        return 2 * tau * (1 - tau) * (r - p) ** 2  # the same formula without cancellation
    below = tau * criterion_value(criterion, r) + (1 - tau) * criterion_value(criterion, p)
    return max(0.0, criterion_value(criterion, q) - below)  # G is concave, so a negative value is a rounding error


def drop_lower_bound(criterion: Criterion, gamma: float, q: float) -> float:
    """Return a lower bound on the drop of the criterion for a given advantage.

    Parameters
    ----------
    criterion : "gini", "entropy" or "sqrt"
    gamma : float
        Advantage of the split, from 0 to 1/2.
    q : float
        Proportion of class 1 in the node.

    Returns
    -------
    float
        At most the `split_drop` of every split with that advantage. The constants (32, 4/ln 2, 2) are the best
        possible: at q = 1/2 and tau = 1/2, bound and drop have the ratio 1 in the limit of small gamma.

    Notes
    -----
    Mansour's notes, section 12.1.5.

    Let a and b be the shares of the two classes that go to the first side; then abs(a - b) is 2 gamma. Gini: the drop
    equals 8 gamma^2 (q (1 - q))^2 / (tau (1 - tau)), and tau (1 - tau) is at most 1/4. Entropy: the drop is half a
    mutual information, to which Pinsker's inequality applies. Sqrt: the drop is G(q) times a squared Hellinger
    distance, which is at least 1 - sqrt(1 - 4 gamma^2), and that is at least 2 gamma^2. The published constant for
    gini, 16, is valid but half of the best possible.

    Examples
    --------
    >>> [round(drop_lower_bound(name, 0.3125, 0.8), 4) for name in ("gini", "entropy", "sqrt")]
    [0.08, 0.0902, 0.0878]
    """
    _impurity(criterion)
    gamma = float(check_between("gamma", gamma, 0, 0.5))
    variance = float(check_between("q", q, 0, 1)) * (1 - q)
    if criterion == "gini":
        return 32 * gamma**2 * variance**2
    if criterion == "entropy":
        return 4 / math.log(2) * gamma**2 * variance
    return _sqrt_rate(gamma) * math.sqrt(variance)


def training_error_bound(criterion: Criterion, t: int, gamma: float) -> float:
    """Return a bound on the training error of a best-first tree after `t` splits.

    Parameters
    ----------
    criterion : "gini", "entropy" or "sqrt"
        The criterion that chose the splits.
    t : int
        Number of splits; the tree has t + 1 leaves.
    gamma : float
        Advantage that every impure leaf offered, from 0 to 1/2.

    Returns
    -------
    float
        gini: 1 / (2 + 8 gamma^2 ln(t + 1)). entropy: H2(1 / (1 + e^z)) / 2 with
        z = 4 gamma sqrt(ln(t + 1)). sqrt: (t + 1)^(-x) / 2 with x = 1 - sqrt(1 - 4 gamma^2).

    Notes
    -----
    Mansour's notes, section 12.1.5.

    Examples
    --------
    >>> [round(training_error_bound(name, 1000, 0.25), 3) for name in ("gini", "entropy", "sqrt")]
    [0.183, 0.178, 0.198]
    """
    impurity = _impurity(criterion)
    log_leaves = math.log1p(check_int("t", t, 0))
    gamma = float(check_between("gamma", gamma, 0, 0.5))
    if criterion == "gini":
        return 1 / (2 + 8 * gamma**2 * log_leaves)
    if criterion == "entropy":
        return impurity(1 / (1 + math.exp(4 * gamma * math.sqrt(log_leaves))))
    return math.exp(-_sqrt_rate(gamma) * log_leaves) / 2


def sqrt_error_bound(t: int, gamma: float, *, simple: bool = False) -> float:
    """Return the bound of `training_error_bound` for the square-root criterion.

    Parameters
    ----------
    t : int
        Number of splits.
    gamma : float
        Advantage that every impure leaf offered, from 0 to 1/2.
    simple : bool
        Whether to use the exponent 2 gamma^2 instead of 1 - sqrt(1 - 4 gamma^2). The bound is shorter to write, and
        never smaller.

    Returns
    -------
    float

    Examples
    --------
    >>> round(sqrt_error_bound(1000, 0.25), 4), round(sqrt_error_bound(1000, 0.25, simple=True), 4)
    (0.1981, 0.2108)
    """
    if not simple:
        return training_error_bound("sqrt", t, gamma)
    gamma = float(check_between("gamma", gamma, 0, 0.5))
    return math.exp(-2 * gamma**2 * math.log1p(check_int("t", t, 0))) / 2


def weak_learning_steps(criterion: Criterion, gamma: float, eps: float, *, log: bool = False) -> float:
    """Return a number of best-first splits that suffices for a training error of `eps`.

    Parameters
    ----------
    criterion : "gini", "entropy" or "sqrt"
        The criterion that chooses the splits.
    gamma : float
        Advantage that every impure leaf offers, above 0, at most 1/2.
    eps : float
        Training error to reach, above 0.
    log : bool
        Whether to return ln(steps + 1), before rounding up; the numbers soon become astronomical.

    Returns
    -------
    float
        A whole number, or inf if it exceeds the largest float. ln(steps + 1) is, for
        gini: (1/eps - 2) / (8 gamma^2); entropy: logit(q)^2 / (16 gamma^2) where
        H2(q) / 2 = eps; sqrt: ln(1 / (2 eps)) / (1 - sqrt(1 - 4 gamma^2)).

    Notes
    -----
    Mansour's notes, section 12.1.5.

    The published orders are 2^O(1/(gamma eps)^2), 2^O(log^2(1/eps) / gamma^2) and
    (1/eps)^O(1/gamma^2). Some accounts misprint the second with log^2(1/eps) in the denominator, and the third with
    1/gamma in the exponent.

    Examples
    --------
    >>> [weak_learning_steps(name, 0.25, 0.15) for name in ("gini", "entropy", "sqrt")]
    [11308.0, 3961.0, 7995.0]
    """
    _impurity(criterion)
    gamma = float(check_between("gamma", gamma, 0, 0.5))
    eps = float(check_between("eps", eps, 0, 1))
    if gamma == 0 or eps == 0:
        raise ParameterError(f"gamma={gamma:g}, eps={eps:g}; both must be above 0, or no number of splits is enough")
    log_leaves = 0.0 if eps >= 0.5 else _log_leaves_needed(criterion, gamma, eps)
    if log:
        return log_leaves
    if log_leaves > 700:
        return math.inf
    # A value that is a whole number up to rounding must not be rounded up to the next one.
    return float(math.ceil(math.expm1(log_leaves) * (1 - 1e-12)))


def _log_leaves_needed(criterion: Criterion, gamma: float, eps: float) -> float:
    """Return ln(steps + 1) for a training error below 1/2."""
    if criterion == "gini":
        return (1 / eps - 2) / (8 * gamma**2)
    if criterion == "sqrt":
        return -math.log(2 * eps) / _sqrt_rate(gamma)
    half_entropy = _impurity("entropy")
    low, high = 0.0, 800.0  # z is the logit of the larger class; e^-800 underflows
    for _ in range(200):
        z = (low + high) / 2
        low, high = (z, high) if half_entropy(1 / (1 + math.exp(min(z, 700.0)))) > eps else (low, z)
    return high**2 / (16 * gamma**2)


def _sqrt_rate(gamma: float) -> float:
    """Return 1 - sqrt(1 - 4 gamma^2), computed without cancellation."""
    square = 4 * gamma**2
    return square / (1 + math.sqrt(1 - square))


def _proportion(tau: float, r: float, p: float) -> float:
    """Return the proportion of class 1 in a node with a checked split."""
    check_between("tau", tau, 0, 1)
    check_between("r", r, 0, 1)
    check_between("p", p, 0, 1)
    return tau * r + (1 - tau) * p


def _impurity(criterion: str) -> Callable[[float], float]:
    """Return the function of a named criterion."""
    check_name("criterion", criterion, _IMPURITY_FUNCTIONS)
    return _IMPURITY_FUNCTIONS[criterion]


def _entropy(q: float) -> float:
    """Return half the binary entropy in bits."""
    return sum(x * -math.log2(x) for x in (q, 1 - q) if x > 0) / 2


_IMPURITY_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "gini": lambda q: 2 * q * (1 - q),
    "entropy": _entropy,
    "sqrt": lambda q: math.sqrt(q * (1 - q)),
}
_CRITERION_FUNCTIONS: dict[str, Callable[[float], float]] = {**_IMPURITY_FUNCTIONS, "error": lambda q: min(q, 1 - q)}
