"""The tree as a Mermaid flowchart, as Markdown pages show it."""

from collections.abc import Sequence

from ._picture import boxes

# Letters that Mermaid, its Markdown or the HTML it makes would read as its own.
_SPECIAL = {ord(letter): f"#{ord(letter)};" for letter in "#`\\*_~[]|;%$"} | {
    ord("&"): "#amp;",
    ord('"'): "#quot;",
    ord("<"): "#lt;",
    ord(">"): "#gt;",
}


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
        Tests below this depth (0: the root) are left out; "..." and the number of leaves stand for them.
    decimals : int, optional
        Digits after the point of thresholds and means, as for `export_text`.

    Returns
    -------
    str
        Node `n7` is node 7 of the grown tree.

    Notes
    -----
    Mermaid draws at most 500 edges and 50,000 letters unless its `maxEdges` and `maxTextSize`
    are raised: `max_depth` keeps a large tree below that.

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
    for box in boxes(model, feature_names, class_names, max_depth, decimals):
        label = "<br/>".join(map(quoted, box.lines))
        lines.append(f'    n{box.node}(["{label}"])' if box.is_leaf else f'    n{box.node}["{label}"]')
        if box.parent is not None:
            lines.append(f'    n{box.parent} -->|"{quoted(box.edge)}"| n{box.node}')
    return "\n".join(lines)


def quoted(text: str) -> str:
    """Text inside the double quotes of a label."""
    return text.translate(_SPECIAL)
