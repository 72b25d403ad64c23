"""The tree without scripts: a drawing and a table of rules, made here, shown when scripts are off."""

import heapq
from html import escape

import numpy as np

from ..core import LeafShares, Model, Pruning
from ..core.class_names import plain
from ..inspection.view import TreeView, view_of
from ..inspection.wording import share_limit_text

MOST_LINES = 40  # leaves that are drawn and listed; branches with few rows are folded beyond
COLUMN, ROW = 150, 26


def static_html(model: Model, limits: LeafShares | None) -> str:
    """Return the drawing and the tables as HTML without scripts or inline styles."""
    view = view_of(model.tree, model.grown, pruning=_unfolded(model))
    answers = _answers(model, view)
    certificate = "" if model.certificate is None else f"<p>{escape(plain(str(model.certificate)))}</p>"
    return f"{certificate}\n{_drawing(model, view, answers)}\n{_leaves(model, view, answers, limits)}"


def picture(model: Model, n_leaves: int = 12) -> str:
    """Return a small drawing of the tree as SVG; beyond a number of leaves, branches with few rows are folded."""
    view = view_of(model.tree, model.grown, pruning=_unfolded(model, n_leaves))
    return _drawing(model, view, _answers(model, view))


def _unfolded(model: Model, n_most: int = MOST_LINES) -> Pruning:
    """The part of the pruning with most rows that has at most so many leaves."""
    pruning, tree = model.pruning, model.tree
    if pruning.n_leaves <= n_most:
        return pruning
    rows, arity = model.grown.total, tree.arity
    is_open = np.zeros(tree.n_nodes, bool)
    n_lines, waiting = 1, [(-float(rows[0]), 0)]
    while waiting:
        _, v = heapq.heappop(waiting)
        if not pruning.is_kept[v] or n_lines + arity[v] - 1 > n_most:
            continue
        is_open[v] = True
        n_lines += int(arity[v]) - 1
        for child in tree.children(v):
            heapq.heappush(waiting, (-float(rows[child]), child))
    return Pruning.from_cuts(tree, ~is_open, node_labels=pruning.node_labels)


def _answers(model: Model, view: TreeView) -> dict[int, str]:
    """What each leaf that is drawn says; one that stands for a branch how many leaves that has."""
    ends = np.append(0, np.cumsum(model.pruning.is_leaf))
    n_below = (ends[model.tree.end] - ends[:-1])[view.node]
    return {
        v: f"+{n_below[v]:,} leaves, {view.size(v)}" if n_below[v] > 1 else view.conclusion(v)
        for v in np.flatnonzero(view.tree.is_leaf).tolist()
    }


def _drawing(model: Model, view: TreeView, answers: dict[int, str]) -> str:
    tree = view.tree
    x, y = (12 + tree.depth * COLUMN).tolist(), (24 + view.place * ROW).tolist()
    share = model.grown.total[view.node] / max(float(model.grown.total[0]), 1e-300)
    parts = []
    for v in range(1, tree.n_nodes):
        p = int(tree.parent[v])
        middle = (x[p] + x[v]) / 2
        parts.append(
            f'<path d="M{x[p]} {y[p]:g}C{middle:g} {y[p]:g} {middle:g} {y[v]:g} {x[v]} {y[v]:g}" fill="none" '
            f'stroke="#7a8aa0" stroke-opacity=".55" stroke-width="{max(1.0, 16 * float(share[v])):.3g}"/>'
        )
    for v in range(tree.n_nodes):
        if tree.is_leaf[v]:
            parts.append(f'<text x="{x[v] + 8}" y="{y[v] + 4:g}">{escape(_clipped(answers[v], 60))}</text>')
            continue
        parts.append(f'<circle cx="{x[v]}" cy="{y[v]:g}" r="4" fill="#5b6b82"/>')
        parts.append(f'<text x="{x[v] + 4}" y="{y[v] - 7:g}">{escape(_clipped(view.test(v), 21))}</text>')
    wide, high = 12 + int(tree.depth.max()) * COLUMN + 330, 40 + (tree.n_leaves - 1) * ROW
    return (
        f'<svg viewBox="0 0 {wide} {high:g}" width="{wide}" height="{high:g}" role="img" '
        f'aria-label="The tree as fitted, {model.pruning.n_leaves} leaves">{"".join(parts)}</svg>'
    )


def _clipped(text: str, n_most: int) -> str:
    return text if len(text) <= n_most else text[: n_most - 1] + "…"


def _leaves(model: Model, view: TreeView, answers: dict[int, str], limits: LeafShares | None) -> str:
    """The rules of the leaves that are drawn, as a table."""
    if not view.tree.has_tests:
        return ""
    rows = []
    for v, asked in view.rules():
        node, answer = int(view.node[v]), answers[v]
        if limits is not None and model.pruning.is_leaf[node]:
            answer += f", {share_limit_text(limits, node, int(model.pruning.labels[node]), view.classes)}"
        rule = escape(" AND ".join(asked) or "TRUE")
        rows.append(f"<tr><th scope=row>{node}</th><td>{rule}</td><td>{escape(answer)}</td></tr>")
    head = "<tr><th scope=col>node</th><th scope=col>rule</th><th scope=col>answer</th></tr>"
    return f"<table><caption>The tree as rules</caption><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
