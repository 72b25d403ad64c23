"""The tree as a Graphviz drawing."""

from collections.abc import Sequence
from functools import lru_cache

from ._picture import boxes

# Those of the figures, told apart also by the colour-blind (Okabe and Ito). A leaf is whiter the more
# classes are mixed in it.
PALETTE = ((0, 114, 178), (230, 159, 0), (0, 158, 115), (213, 94, 0), (204, 121, 167), (86, 180, 233), (240, 228, 66))


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
        Tests below this depth (0: the root) are left out; "..." and the number of leaves stand for them.
    decimals : int, optional
        Digits after the point of thresholds and means, as for `export_text`.
    filled : bool
        Whether leaves have the colour of their class, paler the more classes are mixed.

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
    for box in boxes(model, feature_names, class_names, max_depth, decimals):
        label = r"\n".join(map(quoted, box.lines))
        fill = f', fillcolor="{_colour(box.colour, box.purity)}"' if filled and box.colour is not None else ""
        lines.append(f'    n{box.node} [label="{label}"{fill}];')
        if box.parent is not None:
            lines.append(f'    n{box.parent} -> n{box.node} [label="{quoted(box.edge)}"];')
    return "\n".join([*lines, "}"])


def quoted(text: str) -> str:
    """Text inside the double quotes of a label: Graphviz reads backslashes, quotes and HTML entities."""
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


@lru_cache(maxsize=1024)
def _colour(number: int, purity: float) -> str:
    paleness = 0.85 - 0.6 * purity
    return "#" + "".join(f"{round(part + (255 - part) * paleness):02x}" for part in PALETTE[number % len(PALETTE)])
