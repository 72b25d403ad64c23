"""A genuine smaller scikit-learn tree from a fitted one and a pruning of it.

The kept nodes keep their statistics; cut nodes become leaves as scikit-learn writes them.
In-place editing would leave dead nodes behind, which other tools visit.
"""

import copy
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..data.arrays import Floats, Sums
from ..nouns import Counts, Pruning
from ._nodes import Estimator, blank_nodes
from ._read import Foreign

_OF_TESTS = ("left_child", "right_child", "feature", "threshold", "split_value", "missing_go_to_left")
_AFTER_FIT = ("oob_score_", "oob_decision_function_", "oob_prediction_")  # what a forest measured with its old trees


def pruned_estimator(foreign: Foreign, pruning: Pruning, samples: tuple[Counts, ...] = ()) -> Estimator:
    """Return the estimator with the pruned tree.

    Parameters
    ----------
    foreign : Foreign
    pruning : Pruning
        Of `foreign.tree`. Leaves whose class is not the one the scikit-learn node answers are
        given the class shares of another sample that do.
    samples : tuple of Counts
        The growing and the held-out sample that the classes may have come from.
    """
    is_here = pruning.is_kept | pruning.is_leaf
    here, is_leaf = foreign.order[is_here], pruning.is_leaf[is_here]
    old = foreign.records.nodes
    nodes = blank_nodes(len(here), old.dtype)
    for name in old.dtype.names or ():
        rows = ~is_leaf if name in _OF_TESTS else slice(None)
        nodes[name][rows] = old[name][here][rows]
    place = np.full(len(old), -1, np.int64)
    place[here] = np.arange(len(here))
    for name in ("left_child", "right_child"):
        nodes[name][~is_leaf] = place[nodes[name][~is_leaf]]
    values = foreign.records.values[here].copy()
    values[is_leaf, 0] = _answers(foreign, pruning, samples)[pruning.is_leaf]
    depth = int(foreign.tree.depth[is_here].max())
    smaller = replace(foreign.records, nodes=nodes, values=np.ascontiguousarray(values)).build(depth)
    estimator = copy.copy(foreign.estimator)
    estimator.tree_ = smaller
    return estimator


def pruned_forest(forest: Estimator, trees: list[Estimator]) -> Estimator:
    """Return the forest with these trees; scores that its old trees earned are left out."""
    smaller = copy.copy(forest)
    smaller.estimators_ = trees
    for name in _AFTER_FIT:
        if hasattr(smaller, name):
            delattr(smaller, name)
    return smaller


def deciding(shares: Floats, label: int, samples: Iterable[Sums]) -> Floats:
    """Return class shares whose first largest is `label`: those of a sample that has it so, else these, just raised."""
    for rows in samples:
        if rows.any() and int(rows.argmax()) == label:
            return np.asarray(rows / rows.sum())
    if int(shares.argmax()) == label:
        return shares
    raised = shares.copy()
    raised[label] = shares.max() * (1 + 1e-9)
    return np.asarray(raised / raised.sum())


def _answers(foreign: Foreign, pruning: Pruning, samples: tuple[Counts, ...]) -> Floats:
    """What each node of the pruning answers as a leaf: the values of the tree, unless another class was decided."""
    answers = foreign.values.copy()
    if pruning.node_labels is None or not samples:
        return answers
    held_out = [sample.by_class[:, : answers.shape[1]] for sample in samples[1:]]
    candidates = [*held_out, *(rows + samples[0].by_class for rows in held_out)]
    for v in np.flatnonzero(pruning.is_leaf & (pruning.node_labels != samples[0].majority)):
        answers[v] = deciding(answers[v], int(pruning.node_labels[v]), [rows[v] for rows in candidates])
    return answers
