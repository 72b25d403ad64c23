"""What the drawings share: the words in each box and on each edge, before any quoting."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import ParameterError
from ..nouns.counts import Counts
from ..show.wording import Threshold, among, class_names_of, column_names, thresholds_of
from ._walk import Exported


class Box(NamedTuple):
    """One node of a drawing, by its number in the grown tree, and the edge that leads to it."""

    node: int
    lines: list[str]
    parent: int | None
    edge: str
    is_leaf: bool
    colour: int | None  # the class of a leaf
    purity: float  # the share of that class


@dataclass(frozen=True)
class Picture:
    """A tree in words."""

    exported: Exported
    names: list[str]
    classes: list[str]
    thresholds: list[Threshold]
    max_depth: int | None

    @classmethod
    def of(
        cls,
        model: Any,
        feature_names: Sequence[str] | None,
        class_names: Sequence[str] | None,
        max_depth: int | None,
        decimals: int,
    ) -> "Picture":
        for name, value in (("max_depth", max_depth), ("decimals", decimals)):
            if name == "max_depth" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
                raise ParameterError(f"{name}={value!r}; a whole number of 0 or more is needed")
        exported = Exported.of(model, runs=False)
        grown, tree = exported.model.grown, exported.tree
        labels = exported.model.pruning.labels
        n_classes = max(grown.n_classes, int(labels.max()) + 1) if isinstance(grown, Counts) else 0
        classes = class_names_of(tree, class_names, n_classes) if n_classes else []
        return cls(exported, column_names(tree, feature_names), classes, thresholds_of(tree, decimals), max_depth)

    def boxes(self) -> Iterator[Box]:
        """The nodes in order, parents first."""
        exported, tree = self.exported, self.exported.tree
        nodes, depth, end = exported.nodes, tree.depth.tolist(), tree.end.tolist()
        parent = tree.parent.tolist()
        n_before = [0] * tree.n_nodes  # children of each node met so far
        v = 0
        while v < tree.n_nodes:
            p, above, edge = parent[v], None, ""
            if p >= 0:
                above, edge = nodes[p], self._edge(p, n_before[p])
                n_before[p] += 1
            if self.max_depth is not None and depth[v] > self.max_depth:
                yield Box(nodes[v], ["..."], above, edge, is_leaf=False, colour=None, purity=0.0)
                v = end[v]
                continue
            yield self._box(v, above, edge)
            v += 1

    def _box(self, v: int, above: int | None, edge: str) -> Box:
        exported, grown = self.exported, self.exported.model.grown
        node = exported.nodes[v]
        is_leaf = not exported.children[v]
        colour, purity = None, 0.0
        if not is_leaf:
            head = self._test(v)
        elif isinstance(grown, Counts):
            colour = int(exported.model.pruning.labels[node])
            head = self.classes[colour]
            inside = grown.by_class[node, colour] if colour < grown.n_classes else 0
            purity = float(inside / grown.total[node]) if grown.total[node] > 0 else 0.0
        else:
            head = f"{grown.mean[node]:.6g}"
        total = grown.total[node]
        rows = "1 row" if total == 1 else f"{total:,.10g} rows"
        return Box(node, [head, rows], above, edge, is_leaf, colour, purity)

    def _test(self, v: int) -> str:
        column = self.exported.feature[v]
        if column < 0:
            return f"node {self.exported.nodes[v]}"
        if self.exported.is_nominal[v]:
            return self.names[column]
        if self.thresholds[v].value == np.inf:
            return f"{self.names[column]} is known"
        return f"{self.names[column]} <= {self.thresholds[v].text}"

    def _edge(self, p: int, child: int) -> str:
        """What leads from node `p` to its child of that number."""
        exported, tree = self.exported, self.exported.tree
        column = exported.feature[p]
        if column < 0:
            return str(child)
        about = exported.columns[column] if exported.columns else None
        has_gaps = about is not None and about.has_missing
        if exported.is_nominal[p]:
            codes = np.flatnonzero(tree.branch[tree.branch_start[p] : tree.branch_start[p + 1]] == child)
            if len(codes) == 0:
                return "other"
            return among("", codes, None if about is None else about.categories, gaps=has_gaps).strip()
        word = "no" if child else "yes"
        says_it = child == 1 and self.thresholds[p].value == np.inf  # not known is missing
        goes_here = child == tree.default[p] and has_gaps and not says_it
        return f"{word} or missing" if goes_here else word
