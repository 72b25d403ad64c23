"""What the drawings share: the words in each box and on each edge, before any quoting."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..nouns import as_model
from ..show.view import TreeView, view_of


class Box(NamedTuple):
    """One node of a drawing, by its number in the grown tree, and the edge that leads to it."""

    node: int
    lines: list[str]
    parent: int | None
    edge: str
    is_leaf: bool
    colour: int | None  # the class of a leaf
    purity: float  # the share of that class


def boxes(
    model: object,
    feature_names: Sequence[str] | None,
    class_names: Sequence[str] | None,
    max_depth: int | None,
    decimals: int | None,
) -> Iterator[Box]:
    """The nodes in order, parents first."""
    found = as_model(model, done="exported")
    view = view_of(
        found.tree,
        found.grown,
        pruning=found.pruning,
        feature_names=feature_names,
        class_names=class_names,
        max_depth=max_depth,
        decimals=decimals,
    )
    is_leaf, total = view.tree.is_leaf.tolist(), found.grown.total[view.node].tolist()
    nodes, parent = view.node.tolist(), view.tree.parent.tolist()
    for v, node in enumerate(nodes):
        lines = [view.answer(v) if is_leaf[v] else view.test(v), view.size(v)]
        colour, purity = None, 0.0
        if view.n_hidden[v]:
            lines = [f"... {view.n_hidden[v]:,} leaves"]
        elif is_leaf[v] and view.label is not None and view.wrong is not None:
            colour = int(view.label[v])
            purity = 1 - view.wrong[v] / total[v] if total[v] > 0 else 0.0
        is_end = is_leaf[v] and not view.n_hidden[v]
        yield Box(node, lines, nodes[parent[v]] if v else None, _edge(view, v), is_end, colour, purity)


def _edge(view: TreeView, v: int) -> str:
    """What leads to a node, where its parent's box names the test."""
    p = int(view.tree.parent[v])
    if p < 0 or view.tree.feature[p] < 0:
        return "" if p < 0 else str(view.child[v])
    column = int(view.tree.feature[p])
    if view.is_nominal[p]:
        return view.known(v).removeprefix(view.columns[column]).strip()
    word = "no" if view.child[v] else "yes"
    says_it = view.child[v] == 1 and view.threshold[p] == "inf"  # not known is missing
    goes_here = view.ways.is_missing_in[v] and view.has_gaps(column) and not says_it
    return f"{word} or missing" if goes_here else word
