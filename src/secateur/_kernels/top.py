"""The parts of growing that the top of a large tree calls one by one from Python.

Inside a tree they are inner kernels, which cannot be called from Python.
"""

from typing import Any

from . import evaluate, grow
from ._jit import njit


@njit
def best_of_lists(
    criterion: Any, lists: Any, weights: Any, ratio: Any, limits: Any, node: Any, reals: Any, slots: Any, scratch: Any
) -> Any:
    """`evaluate.best_of_lists`."""
    return evaluate.best_of_lists(criterion, lists, weights, ratio, limits, node, reals, slots, scratch)


@njit
def best_of_codes(
    criterion: Any,
    lists: Any,
    codes: Any,
    weights: Any,
    ratio: Any,
    limits: Any,
    node: Any,
    reals: Any,
    slots: Any,
    scratch: Any,
) -> Any:
    """`evaluate.best_of_codes`."""
    return evaluate.best_of_codes(criterion, lists, codes, weights, ratio, limits, node, reals, slots, scratch)


@njit
def best_of_bits(
    criterion: Any, lists: Any, codes: Any, weights: Any, ratio: Any, limits: Any, node: Any, reals: Any, scratch: Any
) -> Any:
    """`evaluate.best_of_bits`."""
    return evaluate.best_of_bits(criterion, lists, codes, weights, ratio, limits, node, reals, scratch)


@njit
def better_test(a: Any, b: Any, feature: Any, base: Any) -> Any:
    """`evaluate.better_test`."""
    return evaluate.better_test(a, b, feature, base)


@njit
def node_impurity(criterion: Any, reals: Any) -> Any:
    """`evaluate.node_impurity`."""
    return evaluate.node_impurity(criterion, reals)


@njit
def assign_children(lists: Any, codes: Any, weights: Any, node: Any, branch: Any, child_of: Any, scratch: Any) -> Any:
    """`grow.assign_children`."""
    return grow.assign_children(lists, codes, weights, node, branch, child_of, scratch)


@njit
def add_children(limits: Any, scratch: Any, nodes: Any, reals: Any, v: Any, first: Any) -> Any:
    """`grow.add_children`."""
    return grow.add_children(limits, scratch, nodes, reals, v, first)


@njit
def partition_slots(
    lists: Any, codes: Any, node: Any, slots: Any, keep: Any, child_of: Any, scratch: Any, force_ties: Any
) -> Any:
    """`grow.partition_slots`."""
    return grow.partition_slots(lists, codes, node, slots, keep, child_of, scratch, force_ties)
