"""Names of classes as one line of text each."""

from collections.abc import Sequence

from ..errors import ParameterError, escape_unprintable
from .tree import Tree


def plain(text: str) -> str:
    """Return a text on one line: characters that would break the line or turn its direction are escaped."""
    return escape_unprintable(text.replace("\\", "\\\\"), keep="")


def class_names_of(tree: Tree, given: Sequence[str] | None, n_classes: int) -> list[str]:
    """Return the names of all classes of a sample, which may hold classes that the tree does not know."""
    known = None if tree.schema is None else tree.schema.classes
    n_known = n_classes if known is None else len(known)
    if given is not None and (isinstance(given, str) or (n_known and len(given) not in (n_known, n_classes))):
        raise ParameterError(f"class_names holds {len(given)} names; the tree has {n_known} classes")
    labels = given if given is not None else range(n_classes) if known is None else known.tolist()
    return [plain(str(label)) for label in labels] + [f"unknown class {c}" for c in range(len(labels), n_classes)]
