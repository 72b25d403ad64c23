"""Documents of older versions, as the reader of today takes them."""

from ._text import Document
from ._write import MODEL_FORMAT

_NEW = {"quantity": "error", "scale": 1.0, "freshness": "", "is_checked": True}  # of certificates, in version 2


def from_version_1(document: Document) -> Document:
    """A document of version 1, as one that knows nothing of the rows behind it."""
    if document.get("version") != 1:
        return document
    unknown = {"n_rows": None, "sketch": None}
    new: Document = {"rows": None} if document.get("format") == MODEL_FORMAT else {"key": None}
    for name in ("grown", "holdout", "counts"):
        if isinstance(document.get(name), dict):
            new[name] = document[name] | unknown
    selection = document.get("selection")
    if isinstance(selection, dict):
        judge, counts = selection.get("sample"), selection.get("counts")
        new["selection"] = {"judges": [] if judge == "cross-validation" else [judge], **selection}
        if isinstance(counts, dict):
            new["selection"]["counts"] = counts | unknown
    if isinstance(document.get("certificate"), dict):
        new["certificate"] = _NEW | document["certificate"]
    return document | new
