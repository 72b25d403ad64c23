"""The tree as drawings: Graphviz, and the Mermaid flowcharts that Markdown pages show."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..core import as_model
from ..inspection.view import TreeView, view_of

# The colours of the figures, which colour-blind people can distinguish (Okabe and Ito).
PALETTE = ((0, 114, 178), (230, 159, 0), (0, 158, 115), (213, 94, 0), (204, 121, 167), (86, 180, 233), (240, 228, 66))
# Characters with a meaning in Mermaid, in its Markdown or in the HTML it makes.
_NAMED_ENTITIES = {"&": "#amp;", '"': "#quot;", "<": "#lt;", ">": "#gt;"}
_ENTITIES = str.maketrans(_NAMED_ENTITIES | {letter: f"#{ord(letter)};" for letter in "#`\\*_~[]|;%$"})


def export_dot(
    model: object,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int | None = None,
    decimals: int | None = None,
    filled: bool = True,
) -> str:
    r"""Return the pruned tree in the DOT language of Graphviz.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    feature_names, class_names : sequence of str, optional
        Names of columns and classes; by default those of the data the tree was grown on.
    max_depth : int, optional
        Tests below this depth (0: the root) are left out, and shown as "..." with the number of leaves.
    decimals : int, optional
        Digits after the decimal point of thresholds and means, as for `export_text`.
    filled : bool
        Whether leaves have the colour of their class; a colour is paler the more classes are mixed in the leaf.

    Returns
    -------
    str
        Node `n7` is node 7 of the grown tree.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0], [4.0]], ["no", "yes"])
    >>> print(export_dot((tree, counts), feature_names=['"size"'], filled=False))
    digraph tree {
        node [shape=box, style="rounded,filled", fillcolor=white, fontname=sans];
        edge [fontname=sans];
        n0 [label="\"size\" <= 2\n2 rows"];
        n1 [label="no\n1 row"];
        n0 -> n1 [label="yes"];
        n2 [label="yes\n1 row"];
        n0 -> n2 [label="no"];
    }
    """
    lines = [
        "digraph tree {",
        '    node [shape=box, style="rounded,filled", fillcolor=white, fontname=sans];',
        "    edge [fontname=sans];",
    ]
    for box in boxes(
        model, feature_names=feature_names, class_names=class_names, max_depth=max_depth, decimals=decimals
    ):
        label = r"\n".join(map(_for_dot, box.lines))
        fill = f', fillcolor="{_colour(box.colour, box.purity)}"' if filled and box.colour is not None else ""
        lines.append(f'    n{box.node} [label="{label}"{fill}];')
        if box.parent is not None:
            lines.append(f'    n{box.parent} -> n{box.node} [label="{_for_dot(box.edge)}"];')
    return "\n".join([*lines, "}"])


def _for_dot(text: str) -> str:
    """Return text for the double quotes of a label; Graphviz reads backslashes, quotes and HTML entities."""
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


@lru_cache(maxsize=1024)
def _colour(class_number: int, purity: float) -> str:
    """Return the colour of a class as #rrggbb, paler for a lower purity."""
    paleness = 0.85 - 0.6 * purity
    return "#" + "".join(
        f"{round(part + (255 - part) * paleness):02x}" for part in PALETTE[class_number % len(PALETTE)]
    )


def export_mermaid(
    model: object,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int | None = None,
    decimals: int | None = None,
) -> str:
    """Return the pruned tree as a Mermaid flowchart.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    feature_names, class_names : sequence of str, optional
        Names of columns and classes; by default those of the data the tree was grown on.
    max_depth : int, optional
        Tests below this depth (0: the root) are left out, and shown as "..." with the number of leaves.
    decimals : int, optional
        Digits after the decimal point of thresholds and means, as for `export_text`.

    Returns
    -------
    str
        Node `n7` is node 7 of the grown tree.

    Notes
    -----
    By default Mermaid draws at most 500 edges and 50,000 characters (its settings `maxEdges` and `maxTextSize`). Use
    `max_depth` to keep a large tree below these limits.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0], [4.0]], ["no", "yes"])
    >>> print(export_mermaid((tree, counts), feature_names=['"size"']))
    flowchart TD
        n0["#quot;size#quot; #lt;= 2<br/>2 rows"]
        n1(["no<br/>1 row"])
        n0 -->|"yes"| n1
        n2(["yes<br/>1 row"])
        n0 -->|"no"| n2
    """
    lines = ["flowchart TD"]
    for box in boxes(
        model, feature_names=feature_names, class_names=class_names, max_depth=max_depth, decimals=decimals
    ):
        label = "<br/>".join(map(_for_mermaid, box.lines))
        lines.append(f'    n{box.node}(["{label}"])' if box.is_leaf else f'    n{box.node}["{label}"]')
        if box.parent is not None:
            lines.append(f'    n{box.parent} -->|"{_for_mermaid(box.edge)}"| n{box.node}')
    return "\n".join(lines)


def _for_mermaid(text: str) -> str:
    """Return text for the double quotes of a label."""
    return text.translate(_ENTITIES)


class Box(NamedTuple):
    """One node of a drawing, by its number in the grown tree, and the label of the edge from its parent.

    `colour` is the number of the class of a leaf, and `purity` the share of that class.
    """

    node: int
    lines: list[str]
    parent: int | None
    edge: str
    is_leaf: bool
    colour: int | None
    purity: float


def boxes(model: object, **view_parameters: Any) -> Iterator[Box]:
    """Yield the nodes of a drawing, parents first; `view_parameters` are those of `view_of`."""
    parts = as_model(model, done="exported")
    view = view_of(parts.tree, parts.grown, pruning=parts.pruning, **view_parameters)
    is_leaf, total = view.tree.is_leaf.tolist(), parts.grown.total[view.node].tolist()
    nodes, parent = view.node.tolist(), view.tree.parent.tolist()
    for v, node in enumerate(nodes):
        lines = [view.prediction(v) if is_leaf[v] else view.test_text(v), view.rows_text(v)]
        colour, purity = None, 0.0
        if view.n_hidden[v]:
            lines = [f"... {view.n_hidden[v]:,} leaves"]
        elif is_leaf[v] and view.label is not None and view.errors is not None:
            colour = int(view.label[v])
            purity = 1 - view.errors[v] / total[v] if total[v] > 0 else 0.0
        is_end = is_leaf[v] and not view.n_hidden[v]
        yield Box(node, lines, nodes[parent[v]] if v else None, _edge(view, v), is_end, colour, purity)


def _edge(view: TreeView, v: int) -> str:
    """Return the label of the edge from the parent, whose box names the test: "yes", "no", or the categories."""
    p = int(view.tree.parent[v])
    if p < 0 or view.tree.feature[p] < 0:
        return "" if p < 0 else str(view.child[v])
    column = int(view.tree.feature[p])
    if view.is_nominal[p]:
        return view.condition(v).removeprefix(view.columns[column]).strip()
    label = "no" if view.child[v] else "yes"
    # A test against an infinite threshold asks whether the value is known, so its "no" already means missing.
    means_missing = view.child[v] == 1 and view.threshold_texts[p] == "inf"
    takes_missing = view.reachable.can_be_missing[v] and view.has_missing(column)
    return f"{label} or missing" if takes_missing and not means_missing else label
