"""Exports: the pruned tree in other formats.

`EXPORTS` lists the formats: for each a description, the file endings, the package it needs and the deepest tree that it
supports. Some formats are for people to read. The others run, and return for every row exactly what `predict` returns:
the same side of a threshold for every number, and the same branch for missing values and for categories that growing
never saw. No export recurses, the time is linear in the size of the tree, and names and values are quoted by the rules
of each language, whatever characters they contain.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._utils.checks import check_name, check_parameters
from .._utils.lazy import lazy_getattr
from ..errors import show

if TYPE_CHECKING:
    from ._c import export_c as export_c
    from ._onnx import export_onnx as export_onnx
    from ._pictures import export_dot as export_dot
    from ._pictures import export_mermaid as export_mermaid
    from ._pmml import export_pmml as export_pmml
    from ._python import export_python as export_python
    from ._sql import export_sql as export_sql
    from ._text import export_rules as export_rules
    from ._text import export_text as export_text


@dataclass(frozen=True)
class Export:
    """An entry of `EXPORTS`: the description of one export. The function that writes it is `export_NAME`.

    Parameters
    ----------
    description : str
        A few words for lists.
    endings : tuple of str
        File name endings, the usual one first.
    runs : bool
        Whether the result predicts, so that the function takes `probabilities=`; otherwise it is for people to read.
    is_binary : bool
        Whether the file is binary. The function then returns an object with the method `SerializeToString`, else text.
    needs : str
        The optional dependency of secateur that must be installed, as in `pip install secateur[onnx]`; empty for none.
    max_levels : int, optional
        The deepest tree that can be exported.
    module : str
        The name of the module of the function, without its underscore; by default the name of the export.
    """

    description: str
    endings: tuple[str, ...]
    runs: bool = True
    is_binary: bool = False
    needs: str = ""
    max_levels: int | None = None
    module: str = ""


EXPORTS = {
    "text": Export("the tree as plain text", (".txt",), runs=False),
    "rules": Export("a rule for each leaf", (".rules",), runs=False, module="text"),
    "dot": Export("a drawing for Graphviz", (".dot", ".gv"), runs=False, module="pictures"),
    "mermaid": Export("a flowchart for Markdown pages", (".mmd",), runs=False, module="pictures"),
    "sql": Export("a query that adds the prediction to every row", (".sql",), max_levels=7200),
    "python": Export("a module that needs only Python", (".py",)),
    "c": Export("a file of C99", (".c",)),
    "pmml": Export("a PMML document", (".pmml",), max_levels=1000),
    "onnx": Export("an ONNX model", (".onnx",), is_binary=True, needs="onnx", max_levels=1000),
}
__getattr__ = lazy_getattr(__name__, {f"export_{name}": f"._{EXPORTS[name].module or name}" for name in EXPORTS})
__all__ = ["EXPORTS", "Export", "export", *(f"export_{name}" for name in EXPORTS)]  # noqa: PLE0604


def export(model: object, *, to: str, **parameters: Any) -> Any:
    """Return the pruned tree in another format.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    to : str
        A name of `secateur.exports.EXPORTS`.
    **parameters
        Parameters of the function `export_NAME`.

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
    check_parameters(f"export {show(to)}", write, parameters)
    return write(model, **parameters)


def __dir__() -> list[str]:
    return sorted(__all__)
