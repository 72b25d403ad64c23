"""The limit on growing errors of k-REP: how many a pruning may make, and how many its cuts may add.

Let `min_errors` be the growing errors of the uncut tree; no pruning has fewer. A cut *charges* the growing errors
that it adds. A pruning makes at most k growing errors exactly if the charges of its cuts add up to at most the
*budget* k - min_errors. Numbers are exact fractions, so that 1.1 times 10 is 11.
"""

import math
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import Longs, LongsOrFloats
from ..core import Counts, Pruning, Tree, excess_cost, full_cost
from ..errors import CountsError, ParameterError, PruningError, show

DEFAULT_FACTOR = 1.1  # the published choice
# The authors of k-REP grew with C4.5, which accepts only tests with at least this many rows in two or more branches.
MIN_BRANCH_ROWS = 2
WHOLE_NUMBER_TOLERANCE = 1e-6  # sums of weights this close to a whole number are meant to be that number


class GrowingLimit(NamedTuple):
    """The number of growing errors that a pruning may make, and the parameters that state it, as text."""

    value: Fraction
    text: str


def growing_limit(
    grown: Counts, min_errors: Fraction, k: float | None, factor: float | None, rate: float | None
) -> GrowingLimit:
    """Return the limit that the parameters of `k_reduced_error` state; at most one of the three is given."""
    parameters = {"k": k, "factor": factor, "rate": rate}
    given = [f"{name}={value}" for name, value in parameters.items() if value is not None]
    if len(given) > 1:
        raise ParameterError(f"{' and '.join(given)} exclude each other; pass one of them")
    if k is not None:
        return GrowingLimit(exact_number("k", k), f"k={k}")
    if rate is not None:
        return _limit_of_rate(grown, rate)
    return _limit_of_factor(grown, min_errors, factor)


def _limit_of_rate(grown: Counts, rate: float) -> GrowingLimit:
    """Return a fraction of the growing sample as the limit."""
    share = exact_number("rate", rate)
    if not 0 <= share <= 1:
        raise ParameterError(f"rate={rate}; a fraction of the growing sample, from 0 to 1, is needed")
    limit = share * exact_number("total", grown.total[0])
    return GrowingLimit(limit, f"rate={rate}, k={math.floor(limit)}")


def _limit_of_factor(grown: Counts, min_errors: Fraction, factor: float | None) -> GrowingLimit:
    """Return a multiple of the growing errors of the uncut tree as the limit.

    Without a factor, the limit is `DEFAULT_FACTOR` times the growing errors of the tree as C4.5 would have stopped it.
    """
    times = exact_number("factor", DEFAULT_FACTOR if factor is None else factor)
    if times < 1:
        raise ParameterError(
            f"factor={factor} allows fewer growing errors than the uncut tree makes; 1 or more is needed"
        )
    base, remark = min_errors, ""
    if factor is None:
        base = _errors_of_stopped_tree(grown)
        if base != min_errors:
            remark = f" if stopped at {MIN_BRANCH_ROWS} rows, {number_text(min_errors)} uncut"
    limit = times * base
    text = f"factor={float(times):g}, k={math.floor(limit)} (growing errors: {number_text(base)}{remark})"
    return GrowingLimit(limit, text)


def _errors_of_stopped_tree(grown: Counts) -> Fraction:
    """Return the growing errors of the tree cut where fewer than two branches have enough rows, as C4.5 stops."""
    tree = grown.tree
    is_large = grown.total[1:] >= MIN_BRANCH_ROWS
    n_large = np.bincount(tree.parent[1:], weights=is_large, minlength=tree.n_nodes)
    stopped = Pruning.from_cuts(tree, ~tree.is_leaf & (n_large < 2))
    return exact_number("growing errors", stopped.cost(grown.errors_if_leaf(grown.majority)))


def budget_of(limit: Fraction, min_errors: Fraction, text: str) -> int:
    """Return how many growing errors the cuts may add; refuse a limit that no pruning meets."""
    slack = Fraction(0) if min_errors.denominator == 1 else Fraction(WHOLE_NUMBER_TOLERANCE)
    budget = math.floor(limit - min_errors + slack)
    if budget < 0:
        raise PruningError(
            f"{text}: at most {number_text(limit)} growing errors are allowed, but the uncut tree already makes "
            f"{number_text(min_errors)} and no pruning makes fewer; the least possible k is {number_text(min_errors)}"
        )
    return budget


def charges_of_cuts(tree: Tree, grown: Counts) -> tuple[Longs, Fraction]:
    """Return the growing errors that a cut at each node adds, and those of the uncut tree."""
    grown.check_fits(tree)
    errors = grown.errors_if_leaf(grown.majority)
    min_errors = exact_number("growing errors", full_cost(tree, errors)[0])
    return as_whole_numbers(excess_cost(tree, errors), grown), min_errors


def as_whole_numbers(excess: LongsOrFloats, grown: Counts) -> Longs:
    """Return the growing errors that cuts add as whole numbers; refuse weighted errors that are not whole."""
    if grown.has_integer_weights:
        return excess
    charge = np.rint(excess)
    deviation = np.abs(excess - charge)
    v = int(deviation.argmax())
    if deviation[v] > WHOLE_NUMBER_TOLERANCE:
        raise CountsError(
            f"a cut at node {v} adds {excess[v]:g} weighted errors on sample {show(grown.sample)}; k-REP "
            "spends its budget "
            "in whole errors: count the growing sample without weights, or scale the weights to whole numbers"
        )
    return charge.astype(np.int64)


def exact_number(name: str, value: Any) -> Fraction:
    """Return a finite number as the decimal number that it is written as: 1.1 is eleven tenths."""
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Real) and math.isfinite(value):
        return Fraction(repr(float(value)))
    raise ParameterError(f"{name}={show(value)}; a finite number is needed")


def number_text(value: Fraction) -> str:
    """Return a number for a message."""
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"
