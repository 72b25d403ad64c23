"""Names of classes, each as one line of text."""

from collections.abc import Sequence

from ..errors import ParameterError, escape_unprintable
from .tree import Tree


def as_one_line(text: str) -> str:
    """Return a text with all characters escaped that would break the line or change its direction."""
    return escape_unprintable(text.replace("\\", "\\\\"), keep="")


def class_names_of(tree: Tree, class_names: Sequence[str] | None, n_classes: int) -> list[str]:
    """Return the names of all classes of a sample.

    Parameters
    ----------
    tree : Tree
        The tree whose schema names the classes by default.
    class_names : sequence of str, optional
        Names given by the user, in the order of the class numbers.
    n_classes : int
        Number of classes of the sample. It may have classes that growing did not see; these are called
        "unknown class 3" and so on.
    """
    known = None if tree.schema is None else tree.schema.classes
    n_known = n_classes if known is None else len(known)
    if class_names is None:
        labels = range(n_classes) if known is None else known.tolist()
    elif isinstance(class_names, str) or (n_known and len(class_names) not in (n_known, n_classes)):
        raise ParameterError(f"class_names holds {len(class_names)} names; the tree has {n_known} classes")
    else:
        labels = class_names
    names = [as_one_line(str(label)) for label in labels]
    return names + [f"unknown class {c}" for c in range(len(names), n_classes)]
