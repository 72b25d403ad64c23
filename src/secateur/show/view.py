"""A tree as text shows it: the one that is left of it, with all names and numbers turned to text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.arrays import Array, Ints
from ..errors import ParameterError, PruningError
from ..nouns.counts import Counts
from ..nouns.moments import Moments
from ..nouns.pruning import Pruning
from ..nouns.shares import LeafShares
from ..nouns.tree import Tree
from .wording import Range, Threshold, among, answered, class_names_of, column_names, covered, limited, thresholds_of


@dataclass(frozen=True)
class Shown:
    """The tree as it will be shown, with all names and numbers turned to text."""

    tree: Tree
    counts: Counts | Moments | None
    labels: Ints | None
    errors: Array | None
    columns: list[str]
    classes: list[str]
    thresholds: list[Threshold]
    decimals: int
    limits: LeafShares | None
    nodes: Ints  # numbers of the shown nodes in the tree as given, by which limits go

    @classmethod
    def of(
        cls,
        tree: Tree,
        counts: Counts | Moments | None,
        pruning: Pruning | None,
        limits: LeafShares | None,
        feature_names: Sequence[str] | None,
        class_names: Sequence[str] | None,
        decimals: int,
    ) -> "Shown":
        if counts is not None:
            counts.check_fits(tree)
        labels = counts.majority if isinstance(counts, Counts) else None
        nodes = np.arange(tree.n_nodes, dtype=np.int32)
        if pruning is not None:
            if not pruning.tree.same_structure(tree):
                raise PruningError(f"the pruning is of another tree ({pruning.tree}, not {tree})")
            labels = labels if pruning.node_labels is None else pruning.node_labels
            is_here = pruning.is_kept | pruning.is_leaf
            labels, nodes = None if labels is None else labels[is_here], nodes[is_here]
            tree, counts = (pruning.to_tree(), None) if counts is None else pruning.to_tree(counts)
        errors = counts.errors_if_leaf(labels) if isinstance(counts, Counts) and labels is not None else None
        if limits is not None:
            if isinstance(counts, Moments):
                raise ParameterError("limits are of class shares; the leaves of a regression tree have none")
            limits.check_covers(nodes[tree.is_leaf])
        columns = column_names(tree, feature_names)
        n_classes = max(counts.n_classes if isinstance(counts, Counts) else 0, len(limits.classes) if limits else 0)
        n_classes = n_classes if labels is None else max(n_classes, int(labels.max()) + 1)
        classes = class_names_of(tree, class_names, n_classes)
        written = thresholds_of(tree, decimals)
        return cls(tree, counts, labels, errors, columns, classes, written, decimals, limits, nodes)

    def name_of(self, v: int) -> str:
        """The class or value of a leaf, or its number in the tree as grown."""
        if isinstance(self.counts, Moments):
            return answered(float(self.counts.mean[v]), self.decimals)
        return f"leaf {self.tree.ids[v]}" if self.labels is None else self.classes[self.labels[v]]

    def limit(self, v: int) -> str:
        """What is known of the class shares of a leaf, to be put behind its line."""
        if self.limits is None:
            return ""
        label = None if self.labels is None else int(self.labels[v])
        return f", {limited(self.limits, int(self.nodes[v]), label, self.classes)}"

    def leaf(self, v: int, *, show_weights: bool) -> str:
        """The line of a leaf in a drawing."""
        if isinstance(self.counts, Moments):
            value = f"value: {self.conclusion(v)}"
            return f"weight: {self.counts.weight[v]:,.10g} value: {self.name_of(v)}" if show_weights else value
        name = self.name_of(v) if self.labels is None else f"class: {self.name_of(v)}"
        if self.counts is None or self.errors is None:
            return name
        if show_weights:
            digits = "d" if self.counts.is_whole else f".{self.decimals}f"
            return f"weights: [{', '.join(format(x, digits) for x in self.counts.by_class[v])}] {name}"
        errors = self.errors[v]
        wrong = ("1 error" if errors == 1 else f"{errors:,} errors") if self.counts.is_whole else f"{errors:,.4g} wrong"
        return f"{name} ({covered(self.counts, v)}, {wrong})"

    def conclusion(self, v: int) -> str:
        """What a rule concludes."""
        if isinstance(self.counts, Moments):
            weight, spread = self.counts.weight[v], self.counts.spread[v]
            error = f", mean squared error {spread / weight:.4g}" if weight > 0 else ""
            return f"{self.name_of(v)} ({covered(self.counts, v)}{error})"
        if self.counts is None or self.errors is None:
            return self.name_of(v)
        total = self.counts.total[v]
        share = f", error {self.errors[v] / total:.1%}" if total > 0 else ""
        return f"{self.name_of(v)} ({covered(self.counts, v)}{share})"

    def condition(self, column: int, known: Any) -> str:
        """What a rule asks of one column; empty if nothing."""
        name, gaps = self.columns[column], self.has_gaps(column)
        if not isinstance(known, Range):
            return among(name, np.flatnonzero(known), self.categories(column), gaps=gaps)
        if not known.is_known_in:
            return f"{name} is missing" if known.is_missing_in else f"{name} > inf"
        low, high = known.low.text, known.high.text
        if not (low or high):
            return "" if known.is_missing_in else f"{name} is known"
        text = f"{name} <= {high}" if high else f"{name} > {low}"
        text = f"{low} < {text}" if low and high else text
        return f"{text} or missing" if gaps and known.is_missing_in else text

    def has_gaps(self, column: int) -> bool:
        """Whether the column had missing values in growing."""
        return self.tree.schema is not None and self.tree.schema.columns[column].has_missing

    def categories(self, column: int) -> Sequence[Any] | None:
        """The categories behind the codes of a column, if known."""
        return None if self.tree.schema is None else self.tree.schema.columns[column].categories
