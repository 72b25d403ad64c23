"""Draw the tree and list its rules as HTML without scripts, for readers whose browser runs none."""

import heapq
from dataclasses import dataclass
from html import escape

import numpy as np

from ..core import LeafShares, Model, Pruning
from ..core.class_names import as_one_line
from ..inspection.view import TreeView, view_of
from ..inspection.wording import share_limit_text
from ._groups import static_groups
from ._shown import ShownModel

MAX_STATIC_LEAVES = 40  # larger trees are drawn with folded branches
MAX_LEAF_CHARACTERS, MAX_TEST_CHARACTERS = 60, 21
LEVEL_PIXELS, LINE_PIXELS = 150, 26
MAX_BRANCH_PIXELS = 16
LEAF_TEXT_PIXELS = 330


def static_html(shown: ShownModel) -> str:
    """Return the certificate, the drawing and the table of rules of a model as HTML without scripts."""
    model = shown.model
    drawing = _Drawing.of(model, MAX_STATIC_LEAVES)
    certificate = "" if model.certificate is None else f"<p>{escape(as_one_line(str(model.certificate)))}</p>"
    return f"{certificate}\n{static_groups(model)}\n{drawing.svg()}\n{drawing.rules_table(shown.limits)}"


def picture(model: Model, n_leaves: int = 12) -> str:
    """Return a small drawing of the tree as SVG, with at most `n_leaves` leaves or folded branches."""
    return _Drawing.of(model, n_leaves).svg()


def _fold_small_branches(model: Model, max_leaves: int) -> Pruning:
    """Return the pruning of a model, cut to at most `max_leaves` leaves; nodes with more rows are opened first."""
    pruning, tree = model.pruning, model.tree
    if pruning.n_leaves <= max_leaves:
        return pruning
    rows, arity = model.grown.total, tree.arity
    is_open = np.zeros(tree.n_nodes, bool)
    n_leaves, queue = 1, [(-float(rows[0]), 0)]
    while queue:
        _, v = heapq.heappop(queue)
        if not pruning.is_kept[v] or n_leaves + arity[v] - 1 > max_leaves:
            continue
        is_open[v] = True
        n_leaves += int(arity[v]) - 1
        for child in tree.children(v):
            heapq.heappush(queue, (-float(rows[child]), child))
    return Pruning.from_cuts(tree, ~is_open, node_labels=pruning.node_labels)


@dataclass(frozen=True)
class _Drawing:
    """The drawn part of a model and its texts.

    Parameters
    ----------
    model : Model
    view : TreeView
        The drawn nodes.
    texts : list of str
        The test of each internal node, and the conclusion of each leaf or folded branch.
    rules : list of (int, list of str)
        Each leaf and the conditions on its path; empty for a tree without tests.
    """

    model: Model
    view: TreeView
    texts: list[str]
    rules: list[tuple[int, list[str]]]

    @classmethod
    def of(cls, model: Model, max_leaves: int) -> "_Drawing":
        """Return the drawing of the pruned tree with at most `max_leaves` leaves or folded branches."""
        view = view_of(model.tree, model.grown, pruning=_fold_small_branches(model, max_leaves))
        ends = np.append(0, np.cumsum(model.pruning.is_leaf))
        n_leaves_below = (ends[model.tree.end] - ends[:-1])[view.node]
        texts = []
        for v, is_leaf in enumerate(view.tree.is_leaf.tolist()):
            if not is_leaf:
                texts.append(view.test_text(v))
            elif n_leaves_below[v] > 1:
                texts.append(f"+{n_leaves_below[v]:,} leaves, {view.rows_text(v)}")
            else:
                texts.append(view.conclusion(v))
        return cls(model, view, texts, list(view.rules()) if view.tree.has_tests else [])

    def svg(self) -> str:
        """Return the tree as SVG: the root at the left, branches as wide as their share of the rows."""
        tree, view = self.view.tree, self.view
        x, y = (12 + tree.depth * LEVEL_PIXELS).tolist(), (24 + view.position * LINE_PIXELS).tolist()
        total = self.model.grown.total
        share = total[view.node] / max(float(total[0]), 1e-300)
        parts = []
        for v in range(1, tree.n_nodes):
            p = int(tree.parent[v])
            middle, width = (x[p] + x[v]) / 2, max(1.0, MAX_BRANCH_PIXELS * float(share[v]))
            parts.append(
                f'<path d="M{x[p]} {y[p]:g}C{middle:g} {y[p]:g} {middle:g} {y[v]:g} {x[v]} {y[v]:g}" fill="none" '
                f'stroke="#7a8aa0" stroke-opacity=".55" stroke-width="{width:.3g}"/>'
            )
        for v, text in enumerate(self.texts):
            if tree.is_leaf[v]:
                parts.append(f'<text x="{x[v] + 8}" y="{y[v] + 4:g}">{_clip(text, MAX_LEAF_CHARACTERS)}</text>')
                continue
            parts.append(f'<circle cx="{x[v]}" cy="{y[v]:g}" r="4" fill="#5b6b82"/>')
            parts.append(f'<text x="{x[v] + 4}" y="{y[v] - 7:g}">{_clip(text, MAX_TEST_CHARACTERS)}</text>')
        width = 12 + int(tree.depth.max()) * LEVEL_PIXELS + LEAF_TEXT_PIXELS
        height = 40 + (tree.n_leaves - 1) * LINE_PIXELS
        return (
            f'<svg viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}" role="img" '
            f'aria-label="The tree as fitted, {self.model.pruning.n_leaves} leaves">{"".join(parts)}</svg>'
        )

    def rules_table(self, limits: LeafShares | None) -> str:
        """Return the rules of the drawn leaves as an HTML table; empty for a tree without tests."""
        if not self.rules:
            return ""
        pruning = self.model.pruning
        rows = []
        for v, conditions in self.rules:
            node, conclusion = int(self.view.node[v]), self.texts[v]
            if limits is not None and pruning.is_leaf[node]:
                conclusion += f", {share_limit_text(limits, node, int(pruning.labels[node]), self.view.classes)}"
            rule = escape(" AND ".join(conditions) or "TRUE")
            rows.append(f"<tr><th scope=row>{node}</th><td>{rule}</td><td>{escape(conclusion)}</td></tr>")
        head = "<tr><th scope=col>node</th><th scope=col>rule</th><th scope=col>prediction</th></tr>"
        caption = "<caption>The tree as rules</caption>"
        return f"<table>{caption}<thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _clip(text: str, max_characters: int) -> str:
    """Return text for HTML with at most this number of characters."""
    return escape(text if len(text) <= max_characters else text[: max_characters - 1] + "…")
