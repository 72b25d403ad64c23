"""What people ask of a fitted model: a summary, the reasons for one answer, how good it is on other rows."""

from ..data.names import lazily

_HOMES = {
    "Evaluation": "._evaluate",
    "Explanation": "._explain",
    "Summary": "._summary",
    "errors": "._summary",
    "evaluate": "._evaluate",
    "explain": "._explain",
    "importances": "._summary",
    "measured": "._summary",
    "summary": "._summary",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605
__getattr__ = lazily(__name__, _HOMES)
