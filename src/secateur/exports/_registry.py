"""The table of exports: what there is to know of each by name. A new one is a file, a line here, a test."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Export:
    """Facts about one export; the function that writes it is `export_NAME`.

    Parameters
    ----------
    what : str
        What it is, in a few words.
    endings : tuple of str
        File name endings, the usual one first.
    runs : bool
        Whether it predicts, with the probabilities it is given; else it is to be read.
    is_binary : bool
        Whether it is bytes in a file, not text.
    needs : str
        The extra of this package that must be installed for it.
    most_levels : int, optional
        How deep a tree may be.
    module : str
        The file of the function, without its underscore, if it is not `_NAME.py`.
    """

    what: str
    endings: tuple[str, ...]
    runs: bool = True
    is_binary: bool = False
    needs: str = ""
    most_levels: int | None = None
    module: str = ""


EXPORTS = {
    "text": Export("the tree as plain text", (".txt",), runs=False),
    "rules": Export("a rule for each leaf", (".rules",), runs=False, module="text"),
    "dot": Export("a drawing for Graphviz", (".dot", ".gv"), runs=False, module="pictures"),
    "mermaid": Export("a flowchart for Markdown pages", (".mmd",), runs=False, module="pictures"),
    "sql": Export("a query that adds the answer to every row", (".sql",), most_levels=7200),
    "python": Export("a module that needs only Python", (".py",)),
    "c": Export("a file of C99", (".c",)),
    "pmml": Export("a PMML document", (".pmml",), most_levels=1000),
    "onnx": Export("an ONNX model", (".onnx",), is_binary=True, needs="onnx", most_levels=1000),
}
