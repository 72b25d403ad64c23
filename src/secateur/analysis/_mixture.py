"""All prunings of a tree at once, each weighted by its number of errors.

The prior is that of a random pruning: from the root down, each internal node is cut or kept with probability 1/2 each,
unless one of its ancestors was cut. The weight of a pruning with e errors is its prior probability times beta^e.
Although a tree often has astronomically many prunings, the sum of their weights is computed node by node. If node v
makes e_v errors as a leaf,

    Z(v) = beta^e_v                                                  at an original leaf,
    Z(v) = beta^e_v / 2 + (product of Z over the children) / 2       at an internal node,

and Z(root) is the sum. A pruning has exactly one leaf on the path of a row, and predicts what that leaf predicts. The
mean prediction of all prunings therefore depends only on the nodes of that path.

Helmbold and Schapire (1997); Willems, Shtarkov and Tjalkens (1995).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .._kernels import voting
from .._utils.arrays import Array, ArrayLike, Floats, Ints, LongsOrFloats, immutable_array, write_protect
from ..core import Counts, Tree
from ..errors import CountsError, ParameterError, TreeError


def mixture(
    tree: Tree,
    counts: Counts,
    beta: float,
    *,
    labels: ArrayLike | None = None,
    node_proba: ArrayLike | None = None,
) -> "Mixture":
    """Return the mixture of all prunings, weighted by their errors on a sample.

    Parameters
    ----------
    tree : Tree
        The tree; it is not changed.
    counts : Counts
        The sample on which errors are counted.
    beta : float
        Weight of one error, above 0 and at most 1; with 1, the weights are the prior.
    labels : array of int, optional
        Class of each node as a leaf; the majority in `counts` by default.
    node_proba : array of shape (n_nodes, n_classes), optional
        Class probabilities that each node predicts as a leaf. By default 1 for its label; class frequencies give
        smoother predictions.

    Returns
    -------
    Mixture
        Its votes equal those of an enumeration of all prunings, up to rounding.

    Notes
    -----
    O(n_nodes n_classes); all weights are kept as logarithms.

    Examples
    --------
    The root makes 3 errors as a leaf, its children make 1 and 0:

    >>> import math
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> counts = Counts.from_leaves(tree, [[3, 1], [0, 2]])
    >>> all_prunings = mixture(tree, counts, math.exp(-1))
    >>> round(math.exp(all_prunings.log_weight), 5), round(float(all_prunings.cut_probability[0]), 4)
    (0.20883, 0.1192)
    >>> round(all_prunings.expected_errors, 4)
    1.2384
    >>> all_prunings.predict_proba([2]).round(4).tolist()
    [[0.1192, 0.8808]]
    """
    counts.check_fits(tree)
    if not 0 < beta <= 1:
        raise ParameterError(f"beta={beta}; a number above 0 and at most 1 is needed")
    labels = counts.majority if labels is None else labels
    errors = counts.errors_if_leaf(labels)
    node_labels: Ints = immutable_array(np.asarray(labels), np.int32)
    n_classes = max(counts.n_classes, int(node_labels.max()) + 1)
    probabilities = np.eye(n_classes)[node_labels] if node_proba is None else _check_node_proba(tree, node_proba)
    log_z = voting.log_weights(tree.parent, tree.end, errors * math.log(beta))
    return Mixture(tree, beta, node_labels, errors, write_protect(probabilities), write_protect(log_z))


@dataclass(frozen=True, eq=False, repr=False)
class Mixture:
    """All prunings of a tree, weighted; created by `mixture`.

    Parameters
    ----------
    tree : Tree
    beta : float
        Weight of one error.
    labels : array of int
        Class of each node as a leaf.
    errors : array
        Errors of each node as a leaf.
    node_proba : array of shape (n_nodes, n_classes)
        Class probabilities that each node predicts as a leaf.
    log_z : array
        ln of the summed weight of all prunings of the subtree at each node.
    """

    tree: Tree
    beta: float
    labels: Ints
    errors: LongsOrFloats
    node_proba: Floats
    log_z: Floats

    @property
    def log_weight(self) -> float:
        """ln of the summed weight of all prunings of the tree."""
        return float(self.log_z[0])

    @cached_property
    def cut_probability(self) -> Floats:
        """Probability that each node is a leaf, given that no ancestor is a leaf; 1 at original leaves."""
        log_weight = self.errors * math.log(self.beta)
        return write_protect(voting.cut_probabilities(self.tree.end, log_weight, self.log_z))

    @cached_property
    def expected_errors(self) -> float:
        """Mean errors, on the sample, of a pruning drawn from the mixture."""
        cost = self.errors.astype(np.float64)
        return float(voting.expected_cost(self.tree.parent, self.cut_probability, cost)[0])

    @property
    def kl(self) -> float:
        """Kullback-Leibler divergence of the mixture from its prior, in nats."""
        return max(0.0, self.expected_errors * math.log(self.beta) - self.log_weight)

    def votes(self, leaf: int) -> Floats:
        """Return the votes of all prunings, by class, about a row that reaches an original leaf; O(depth)."""
        return voting.votes_on_path(_path(self.tree, leaf), self.cut_probability, self.node_proba)

    def predict_proba(self, leaves: ArrayLike) -> Floats:
        """Return the votes about rows that reach the given original leaves.

        Parameters
        ----------
        leaves : array of int
            The original leaf of each row.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Rows sum to 1. The first call computes the votes at all leaves, O(n_nodes n_classes).
        """
        reached = np.asarray(leaves)
        _check_leaves(self.tree, reached)
        return np.asarray(self._votes_of_nodes[reached])

    def predict(self, leaves: ArrayLike) -> npt.NDArray[np.intp]:
        """Return the class with most votes at each of the given original leaves; in a tie, the lowest."""
        return np.asarray(self.predict_proba(leaves).argmax(axis=1))

    def online(self) -> "OnlineMixture":
        """Return a copy that learns from one row at a time."""
        return OnlineMixture(self)

    @cached_property
    def _votes_of_nodes(self) -> Floats:
        """The votes at every node; they are complete at the original leaves."""
        return write_protect(voting.votes_downwards(self.tree.parent, self.cut_probability, self.node_proba))

    def __repr__(self) -> str:
        return f"Mixture(all prunings of {self.tree}, beta={self.beta:.6g}, expected errors {self.expected_errors:.6g})"


class OnlineMixture:
    """A mixture of all prunings that is updated row by row, in O(depth) per row.

    Parameters
    ----------
    start : Mixture
        The mixture to start from; it is not changed. The labels of the nodes stay the same.

    Notes
    -----
    An update changes only the weights on the path of the row. The result equals `mixture` on all rows seen so far,
    under the same labels. Suppose each row is predicted by a pruning drawn from the mixture of the rows before it.
    The mean number of errors is then, for every pruning P at once, at most

        (ln(1/beta) * errors of P + ln 2 * decisions of P) / (1 - beta)

    The decisions of P are the internal nodes of the tree that P keeps or cuts; nodes below a cut do not count. If P
    keeps a node, each child that is not an original leaf is one more decision.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> empty = Counts.from_leaves(tree, [[0, 0], [0, 0]])
    >>> learner = mixture(tree, empty, 0.5, labels=[0, 0, 1]).online()
    >>> learner.votes(2).tolist()
    [0.5, 0.5]
    >>> learner.update(2, 1)
    >>> learner.votes(2).round(4).tolist()
    [0.3333, 0.6667]
    """

    def __init__(self, start: Mixture) -> None:
        self.tree = start.tree
        self.beta = start.beta
        self.labels = start.labels
        self.node_proba = start.node_proba
        self._errors = start.errors.copy()
        self._log_weight = start.errors * math.log(start.beta)
        self._log_z = start.log_z.copy()
        self._cut_probability = start.cut_probability.copy()

    def votes(self, leaf: int) -> Floats:
        """Return the votes of all prunings, by class, about a row that reaches an original leaf."""
        return voting.votes_on_path(_path(self.tree, leaf), self._cut_probability, self.node_proba)

    def update(self, leaf: int, label: int) -> None:
        """Learn from one row: the original leaf that it reaches, and its class."""
        path = _path(self.tree, leaf)
        if label < 0:
            raise ParameterError(f"label={label}; a class number from 0 is needed")
        mistaken = path[self.labels[path] != label]
        self._errors[mistaken] += 1
        self._log_weight[mistaken] = self._errors[mistaken] * math.log(self.beta)
        voting.update_path(path, self.tree.end, self._log_weight, self._log_z, self._cut_probability)

    def snapshot(self) -> Mixture:
        """Return the current mixture."""
        return Mixture(
            self.tree,
            self.beta,
            self.labels,
            immutable_array(self._errors),
            self.node_proba,
            immutable_array(self._log_z),
        )


def _check_node_proba(tree: Tree, values: ArrayLike) -> Floats:
    """Return the checked class probabilities of every node."""
    array = np.array(values, dtype=np.float64)
    if array.ndim != 2 or len(array) != tree.n_nodes:
        raise CountsError(f"node_proba has shape {array.shape}; ({tree.n_nodes}, number of classes) is needed")
    invalid = np.flatnonzero(~((array >= 0).all(axis=1) & (np.abs(array.sum(axis=1) - 1) < 1e-9)))
    if len(invalid):
        raise CountsError(
            f"node_proba of node {invalid[0]} is {array[invalid[0]].tolist()}; probabilities that sum to 1 are needed"
        )
    return array


def _path(tree: Tree, leaf: int) -> Ints:
    """Return the nodes from an original leaf up to the root."""
    _check_leaves(tree, np.asarray([leaf]))
    return voting.path_to_root(tree.parent, int(leaf))


def _check_leaves(tree: Tree, leaves: Array) -> None:
    """Refuse numbers that are not those of original leaves."""
    if leaves.ndim != 1 or leaves.dtype.kind not in "iu":
        raise TreeError(f"leaves have shape {leaves.shape} of {leaves.dtype}; a list of node ids is needed")
    is_outside = (leaves < 0) | (leaves >= tree.n_nodes)
    if is_outside.any():
        raise TreeError(f"node {leaves[is_outside][0]} does not exist; ids run from 0 to {tree.n_nodes - 1}")
    is_internal = ~tree.is_leaf[leaves]
    if is_internal.any():
        raise TreeError(f"node {leaves[is_internal][0]} is not an original leaf; rows end at leaves")
