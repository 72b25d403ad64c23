"""The penalty at which each node collapses, by one sweep from the leaves to the root.

Lowering the penalty opens tests one group after another. A finished subtree is a heap of
such *events*: "below `gain / size` something opens, the cost falls by `gain`, the size
rises by `size`". At a node the heaps of the children are merged, and events that open no
later than the node itself are fused into its own: each is taken out once, so the sweep is
O(n log n) whatever the depth. An event has the number of the node that made it.

Keys of whole-number costs are `whole + rest / size` with 0 <= rest < size < 2^31: the parts
compare exactly in 64 bits however large the costs are. The sweep itself is in `collapse.py`.
"""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from .collapse import envelope, member_sums, nested_steps, owners_real, owners_whole, sweep_real, sweep_whole

__all__ = ["collapse_events", "lower_envelope", "member_sums", "nested_path", "ranked_ratios"]

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Sums = npt.NDArray[Any]

# Real costs are sums of rounded numbers: ratios this close are the same ratio.
TOLERANCE = 1e-12


def collapse_events(parent: Ints, weight: Longs, cost: Sums) -> tuple[Sums, Longs, Ints]:
    """Return (gain, size, owner): node v collapses at penalty `gain[o] / size[o]`, o = `owner[v]`.

    `weight` is what opening a node adds to the size (0 marks a leaf, whose owner is -1).
    An owner is a node that collapses before its parent does; it owns itself.
    """
    gain: Sums
    if cost.dtype.kind == "i":
        whole, rest, gain, size = sweep_whole(parent, weight, cost)
        return gain, size, owners_whole(parent, size, whole, rest)
    ratio, gain, size = sweep_real(parent, weight, cost)
    return gain, size, owners_real(parent, size, ratio)


def nested_path(parent: Ints, weight: Longs, cost: Sums) -> tuple[Ints, Floats]:
    """Return (steps, alphas): the first minimiser of cost + alpha * size in which each node is a leaf or gone."""
    gain, size, owner = collapse_events(parent, weight, cost)
    if not _needs_fractions(gain, size):
        return nested_steps(gain, size, owner)
    links = np.flatnonzero((owner == np.arange(len(parent))) & (gain > 0))  # the others are shut from the first on
    rank, ratios = _ranked_fractions(gain[links], size[links])
    steps = np.zeros(len(parent), np.int32)
    steps[links] = rank + 1
    return np.where(owner >= 0, steps[owner], 0).astype(np.int32), np.append(0.0, ratios)


def ranked_ratios(gain: Sums, size: Longs) -> tuple[Longs, Floats]:
    """Return (rank, values): the distinct ratios `gain / size` in rising order, and the place of each.

    Whole numbers: exact places, values rounded once (two values may print alike). Real
    numbers: a ratio within the tolerance of the one below it counts as the same.
    """
    if _needs_fractions(gain, size):
        return _ranked_fractions(gain, size)
    ratio = gain / size
    order = np.argsort(ratio)
    values, g, s = ratio[order], gain[order], size[order]
    is_new = np.ones(len(order), np.bool_)
    if gain.dtype.kind == "f":
        is_new[1:] = np.diff(values) > TOLERANCE * np.abs(values[1:])
    else:
        # Different ratios differ by 1 / (gain * size) of their value at least, which is more than a float
        # rounds away as long as gain * size < 2^51: the order of the floats is the true order.
        is_new[1:] = g[1:] * s[:-1] != g[:-1] * s[1:]
    rank = np.empty(len(order), np.int64)
    rank[order] = np.cumsum(is_new) - 1
    return rank, values[is_new]


def _needs_fractions(gain: Sums, size: Longs) -> bool:
    """Whether floats could confuse the ratios of whole numbers."""
    return gain.dtype.kind == "i" and float(np.abs(gain).max(initial=0)) * float(size.max(initial=0)) >= 2.0**51


def _ranked_fractions(gain: Longs, size: Longs) -> tuple[Longs, Floats]:
    """The same for numbers so large that floats could confuse them."""
    from fractions import Fraction

    exact = [Fraction(g, s) for g, s in zip(gain.tolist(), size.tolist(), strict=True)]
    rising = sorted(set(exact))
    place = {ratio: i for i, ratio in enumerate(rising)}
    return np.array([place[ratio] for ratio in exact], np.int64), np.array([float(ratio) for ratio in rising])


def envelope_of_whole_numbers(penalty: list[int], cost: list[int]) -> list[int]:
    """Members that minimise `cost + alpha * penalty` for some alpha, in rising order of alpha.

    Points come in falling order of penalty, the first has the least cost. Of points on
    one line the last, the smallest, is taken. Exact: Python's integers have no limit.
    """
    chosen = [0]
    for j in range(1, len(penalty)):
        while len(chosen) > 1:
            i, k = chosen[-2], chosen[-1]
            # The step i -> k is no flatter than k -> j: k is never the only one chosen.
            if (cost[k] - cost[i]) * (penalty[k] - penalty[j]) < (cost[j] - cost[k]) * (penalty[i] - penalty[k]):
                break
            chosen.pop()
        chosen.append(j)
    return chosen


def lower_envelope(penalty: Sums, cost: Sums) -> tuple[Longs, Floats]:
    """Return (members, alphas) of the envelope of `cost + alpha * penalty`; ties to the smallest.

    Points in falling order of penalty, the first of least cost. Exact when both are whole.
    """
    if penalty.dtype.kind == "i" and cost.dtype.kind == "i":
        x, y = penalty.tolist(), cost.tolist()
        chosen = envelope_of_whole_numbers(x, y)
    else:
        x, y = penalty.astype(np.float64), cost.astype(np.float64)
        chosen = envelope(x, y).tolist()
    alphas = [0.0] + [(y[k] - y[i]) / (x[i] - x[k]) for i, k in itertools.pairwise(chosen)]
    return np.array(chosen, np.int64), np.array(alphas, np.float64)
