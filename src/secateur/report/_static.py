"""The tree without scripts: a drawing and a table of rules, made here, shown when scripts are off."""

import heapq
from html import escape
from typing import Any

import numpy as np

from ..nouns.counts import Counts
from ..nouns.model import Model
from ..nouns.pruning import Pruning
from ..show.layout import tidy
from ..show.wording import class_names_of, column_names, limited, plain, thresholds_of
from ._data import delta_of
from ._reasons import costs_of, number
from ._shares import node_limits

MOST_LINES = 40  # leaves that are drawn and listed; branches with few rows are folded beyond
COLUMN, ROW = 150, 26


def static_html(model: Model) -> str:
    """Return the drawing and the tables as HTML without scripts or inline styles."""
    shown = _unfolded(model)
    return f"{_certificate(model)}\n{_drawing(model, shown)}\n{_leaves(model, shown)}"


def _unfolded(model: Model) -> Pruning:
    """The part of the pruning with most rows that has at most so many leaves."""
    pruning, tree = model.pruning, model.tree
    if pruning.n_leaves <= MOST_LINES:
        return pruning
    rows, arity = model.grown.total, tree.arity
    is_open = np.zeros(tree.n_nodes, bool)
    n_lines, waiting = 1, [(-float(rows[0]), 0)]
    while waiting:
        _, v = heapq.heappop(waiting)
        if not pruning.is_kept[v] or n_lines + arity[v] - 1 > MOST_LINES:
            continue
        is_open[v] = True
        n_lines += int(arity[v]) - 1
        for child in tree.children(v):
            heapq.heappush(waiting, (-float(rows[child]), child))
    return Pruning.from_cuts(tree, ~is_open, node_labels=pruning.node_labels)


def _certificate(model: Model) -> str:
    if model.certificate is None:
        return ""
    return f"<p>{escape(plain(str(model.certificate)))}</p>"


def _drawing(model: Model, shown: Pruning) -> str:
    tree = model.tree
    layout = tidy(tree, shown.is_leaf)
    names = column_names(tree, None)
    texts = _answers(model, shown)
    place = {int(v): (12 + int(layout.depth[v]) * COLUMN, 24 + float(layout.x[v]) * ROW)
             for v in np.flatnonzero(layout.is_shown)}  # fmt: skip
    share = model.grown.total / max(float(model.grown.total[0]), 1e-300)
    parts = []
    for v, (x, y) in place.items():
        if v:
            a, b = place[int(tree.parent[v])]
            middle = (a + x) / 2
            width = max(1.0, 16 * float(share[v]))
            parts.append(
                f'<path d="M{a} {b:g}C{middle:g} {b:g} {middle:g} {y:g} {x} {y:g}" fill="none" stroke="#7a8aa0" '
                f'stroke-opacity=".55" stroke-width="{width:.3g}"/>'
            )
    thresholds = thresholds_of(tree, 2)
    for v, (x, y) in place.items():
        if layout.is_leaf[v]:
            parts.append(f'<text x="{x + 8}" y="{y + 4:g}">{escape(texts[v])}</text>')
            continue
        test = f"node {v}" if tree.feature[v] < 0 else names[tree.feature[v]]
        test += f" <= {thresholds[v].text}" if thresholds[v].text else ""
        short = test if len(test) <= 21 else test[:20] + "…"
        parts.append(f'<circle cx="{x}" cy="{y:g}" r="4" fill="#5b6b82"/>')
        parts.append(f'<text x="{x + 4}" y="{y - 7:g}">{escape(short)}</text>')
    wide, high = 12 + layout.height * COLUMN + 330, 40 + layout.width * ROW
    return (
        f'<svg viewBox="0 0 {wide} {high:g}" width="{wide}" height="{high:g}" role="img" '
        f'aria-label="The tree as fitted, {model.pruning.n_leaves} leaves">{"".join(parts)}</svg>'
    )


def _answers(model: Model, shown: Pruning) -> dict[int, str]:
    """What each leaf that is drawn says."""
    tree, cost = model.tree, costs_of(model, model.grown)
    total = model.grown.total
    labels = model.pruning.node_labels
    classes = class_names_of(tree, None, model.grown.n_classes) if isinstance(model.grown, Counts) else []
    kept_leaves = np.append(0, np.cumsum(model.pruning.is_leaf))
    found = {}
    for v in shown.leaves.tolist():
        n_below = int(kept_leaves[tree.end[v]] - kept_leaves[v])
        if n_below > 1:
            found[v] = f"+{n_below:,} leaves, {number(total[v].item())} rows"
            continue
        if labels is not None and classes:
            answer = classes[labels[v]] if len(classes[labels[v]]) < 25 else classes[labels[v]][:24] + "…"
            error = f", {100 * cost[v] / total[v]:.1f} % wrong" if total[v] > 0 else ""
        else:
            answer, error = number(float(model.grown.mean[v])), ""  # type: ignore[union-attr]
        found[v] = f"{answer} ({number(total[v].item())} rows{error})"
    return found


def _leaves(model: Model, shown: Pruning) -> str:
    """The rules of the leaves that are drawn, as a table."""
    from ..show.text import export_rules

    tree = model.tree
    if (tree.feature[tree.internal] < 0).any():
        return ""
    labels = Pruning.from_cuts(tree, ~shown.is_kept, node_labels=model.pruning.node_labels)
    counts: Any = model.grown if isinstance(model.grown, Counts) else None
    answers = _answers(model, shown)
    limits = node_limits(model, delta_of(model))
    names = class_names_of(tree, None, len(limits.classes)) if limits else []
    lines = export_rules(tree, counts, pruning=labels).split("\n")
    rows = []
    for v, line in zip(shown.leaves.tolist(), lines, strict=True):
        condition = line.removeprefix("IF ").rsplit(" THEN ", 1)[0]
        answer = answers[v]
        if limits is not None and model.pruning.is_leaf[v]:
            answer += f", {limited(limits, v, int(model.pruning.labels[v]), names)}"
        rows.append(f"<tr><th scope=row>{v}</th><td>{escape(condition)}</td><td>{escape(answer)}</td></tr>")
    head = "<tr><th scope=col>node</th><th scope=col>rule</th><th scope=col>answer</th></tr>"
    return f"<table><caption>The tree as rules</caption><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
