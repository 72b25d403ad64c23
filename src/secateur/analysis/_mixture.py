"""All prunings of a tree at once, each weighted by how few errors it makes.

The prior tosses a fair coin at every internal node that is reached, "cut or keep"; a
pruning that errs e times weighs beta^e times its prior. The sum over the (often
astronomically many) prunings factors over the tree:

    Z(leaf) = beta^e,      Z(v) = beta^e_v / 2 + (product of Z over the children) / 2,

and the vote of all prunings about a row is collected on the row's path alone, because a
pruning says what the one leaf on that path says. Helmbold and Schapire (1997); Willems,
Shtarkov and Tjalkens (1995).
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
        It is not changed.
    counts : Counts
        The sample on which the prunings err.
    beta : float
        Weight of one error, above 0 and at most 1; 1 leaves the prior as it is.
    labels : array of int, optional
        Class of each node as a leaf; the majority in `counts` by default.
    node_proba : array of shape (n_nodes, n_classes), optional
        What each node says as a leaf. By default all on its label; class frequencies make
        smoother probabilities.

    Returns
    -------
    Mixture
        Its votes are those of the enumerated prunings, exactly up to rounding.

    Notes
    -----
    O(n_nodes n_classes), all in logs.

    Examples
    --------
    A node that errs 3 times as a leaf, its children 1 and 0 times:

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
    given = counts.majority if labels is None else labels
    errors = counts.errors_if_leaf(given)
    chosen: Ints = immutable_array(np.asarray(given), np.int32)
    n_classes = max(counts.n_classes, int(chosen.max()) + 1)
    says = np.eye(n_classes)[chosen] if node_proba is None else _node_proba(tree, node_proba)
    log_z = voting.log_weights(tree.parent, tree.end, errors * math.log(beta))
    return Mixture(tree, beta, chosen, errors, write_protect(says), write_protect(log_z))


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
        What each node says as a leaf.
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
        """Probability that each node is a leaf, given that it is not under one; 1 at original leaves."""
        own = self.errors * math.log(self.beta)
        return write_protect(voting.cut_probabilities(self.tree.end, own, self.log_z))

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
            Rows sum to 1. The first call makes the table of all leaves, O(n_nodes n_classes).
        """
        reached = np.asarray(leaves)
        _check_leaves(self.tree, reached)
        return np.asarray(self._table[reached])

    def predict(self, leaves: ArrayLike) -> npt.NDArray[np.intp]:
        """Return the class with most votes at each of the given original leaves; the lowest on a tie."""
        return np.asarray(self.predict_proba(leaves).argmax(axis=1))

    def online(self) -> "OnlineMixture":
        """Return a copy that learns from one row at a time."""
        return OnlineMixture(self)

    @cached_property
    def _table(self) -> Floats:
        return write_protect(voting.votes_downwards(self.tree.parent, self.cut_probability, self.node_proba))

    def __repr__(self) -> str:
        return f"Mixture(all prunings of {self.tree}, beta={self.beta:.6g}, expected errors {self.expected_errors:.6g})"


class OnlineMixture:
    """A mixture of all prunings that is updated row by row, in O(depth) per row.

    Parameters
    ----------
    start : Mixture
        Where to start from; it is not changed. The labels of the nodes stay as they are.

    Notes
    -----
    Only weights on the path of the row change. The result equals `mixture` on all rows
    seen so far under the same labels. Predicting each row from the mixture of those
    before it, by a pruning drawn at random, errs at most

        (ln(1/beta) * errors of P + (internal nodes of P that are kept or cut) * ln 2) / (1 - beta)

    times in the mean, for every pruning P at once. A node with many children costs their
    number too.

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
        self._own = start.errors * math.log(start.beta)
        self._log_z = start.log_z.copy()
        self._cut = start.cut_probability.copy()

    def votes(self, leaf: int) -> Floats:
        """Return the votes of all prunings, by class, about a row that reaches an original leaf."""
        return voting.votes_on_path(_path(self.tree, leaf), self._cut, self.node_proba)

    def update(self, leaf: int, label: int) -> None:
        """Take in one row: the original leaf it reaches and its class."""
        path = _path(self.tree, leaf)
        if label < 0:
            raise ParameterError(f"label={label}; a class number from 0 is needed")
        wrong = path[self.labels[path] != label]
        self._errors[wrong] += 1
        self._own[wrong] = self._errors[wrong] * math.log(self.beta)
        voting.update_path(path, self.tree.end, self._own, self._log_z, self._cut)

    def snapshot(self) -> Mixture:
        """Return the mixture as it stands now."""
        return Mixture(
            self.tree,
            self.beta,
            self.labels,
            immutable_array(self._errors),
            self.node_proba,
            immutable_array(self._log_z),
        )


def _node_proba(tree: Tree, values: ArrayLike) -> Floats:
    array = np.array(values, dtype=np.float64)
    if array.ndim != 2 or len(array) != tree.n_nodes:
        raise CountsError(f"node_proba has shape {array.shape}; ({tree.n_nodes}, number of classes) is needed")
    wrong = np.flatnonzero(~((array >= 0).all(axis=1) & (np.abs(array.sum(axis=1) - 1) < 1e-9)))
    if len(wrong):
        raise CountsError(
            f"node_proba of node {wrong[0]} is {array[wrong[0]].tolist()}; probabilities that sum to 1 are needed"
        )
    return array


def _path(tree: Tree, leaf: int) -> Ints:
    _check_leaves(tree, np.asarray([leaf]))
    return voting.path_to_root(tree.parent, int(leaf))


def _check_leaves(tree: Tree, leaves: Array) -> None:
    if leaves.ndim != 1 or leaves.dtype.kind not in "iu":
        raise TreeError(f"leaves have shape {leaves.shape} of {leaves.dtype}; a list of node ids is needed")
    wrong = (leaves < 0) | (leaves >= tree.n_nodes)
    if wrong.any():
        raise TreeError(f"node {leaves[wrong][0]} does not exist; ids run from 0 to {tree.n_nodes - 1}")
    inner = ~tree.is_leaf[leaves]
    if inner.any():
        raise TreeError(f"node {leaves[inner][0]} is not an original leaf; rows end at leaves")
