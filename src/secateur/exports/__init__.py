"""Exports: the pruned tree in other formats.

`EXPORTS` names them and has the facts of each: what it is, file endings, what it needs, how deep a
tree it takes. Some are to be read; the others run, and give for every row exactly what `predict`
gives: the same side of a threshold for every number, the same branch for missing values and for
categories that growing never saw. Nothing recurses, the time is linear in the size of the tree, and
names and values are quoted by the rules of each language, whatever they hold.
"""

from typing import Any

from ..data.names import check_name, check_parameters, lazily
from ._registry import EXPORTS, Export

__all__ = ["EXPORTS", "Export", "export", *(f"export_{name}" for name in EXPORTS)]  # noqa: PLE0604


def export(model: object, *, to: str, **parameters: Any) -> Any:
    """Return the pruned tree in another format.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    to : str
        A name of `secateur.exports.EXPORTS`.
    **parameters
        Parameters of the function that writes it.

    Returns
    -------
    str, or an ONNX model

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0], [4.0]], ["no", "yes"])
    >>> print(export((tree, counts), to="mermaid", feature_names=["size"]))
    flowchart TD
        n0["size #lt;= 2<br/>2 rows"]
        n1(["no<br/>1 row"])
        n0 -->|"yes"| n1
        n2(["yes<br/>1 row"])
        n0 -->|"no"| n2
    """
    check_name("to", to, EXPORTS)
    write = __getattr__(f"export_{to}")
    check_parameters(f"export {to!r}", write, parameters)
    return write(model, **parameters)


__getattr__ = lazily(__name__, {f"export_{name}": f"._{EXPORTS[name].module or name}" for name in EXPORTS})


def __dir__() -> list[str]:
    return sorted(__all__)
