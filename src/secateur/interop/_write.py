"""A genuine smaller scikit-learn tree from a fitted one and a pruning of it.

The kept nodes keep their statistics; cut nodes become leaves as scikit-learn writes them.
In-place editing would leave dead nodes behind, which other tools visit.
"""

import copy
from dataclasses import replace

import numpy as np

from ..data.arrays import Floats, Sums
from ..nouns import Counts, Pruning
from ._nodes import Estimator, blank_nodes
from ._read import Foreign

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
    here = foreign.order[is_here]
    old = foreign.records.nodes
    nodes = blank_nodes(len(here), old.dtype)
    names = old.dtype.names or ()
    for name in names:
        nodes[name] = old[name][here]
    place = np.full(len(old), -1, np.int64)
    place[here] = np.arange(len(here))
    is_leaf = pruning.is_leaf[is_here]
    for name in ("left_child", "right_child"):
        nodes[name] = place[old[name][here]]
    split = [name for name in ("feature", "threshold", "split_value", "missing_go_to_left") if name in names]
    leaf = blank_nodes(1, old.dtype)
    for name in ("left_child", "right_child", *split):
        nodes[name][is_leaf] = leaf[name][0]
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


def leaning(shares: Floats, label: int) -> Floats:
    """Return class shares whose first largest is `label`: unchanged if they are so, else raised just above the rest."""
    if int(shares.argmax()) == label:
        return shares
    raised = shares.copy()
    raised[label] = shares.max() * (1 + 1e-9)
    return np.asarray(raised / raised.sum())


def shares_of(rows: Sums) -> Floats:
    """Return class counts as shares; NaN where there are none."""
    total = rows.sum(axis=-1, keepdims=True)
    shares: Floats = np.divide(rows, total, out=np.full(rows.shape, np.nan), where=total > 0)
    return shares


def _answers(foreign: Foreign, pruning: Pruning, samples: tuple[Counts, ...]) -> Floats:
    """What each node of the pruning answers as a leaf: the values of the tree, unless another class was decided."""
    values = foreign.values
    if pruning.node_labels is None or not samples:
        return values
    usual = samples[0].majority
    changed = np.flatnonzero(pruning.is_leaf & (pruning.node_labels != usual))
    if not len(changed):
        return values
    assert foreign.classes is not None
    n_classes = len(foreign.classes)
    answers = values.copy()
    held_out = [sample.by_class[:, :n_classes] for sample in samples[1:]]
    candidates = [*held_out, *(rows + samples[0].by_class for rows in held_out)]
    for v in changed:
        label = int(pruning.node_labels[v])
        fitting = [rows[v] for rows in candidates if rows[v].any() and int(rows[v].argmax()) == label]
        answers[v] = shares_of(fitting[0]) if fitting else leaning(values[v], label)
    return answers
