"""Questions about a fitted tree: its view, text, summary, explanation of a row, evaluation on other rows."""

from typing import TYPE_CHECKING

from .._utils.names import lazily

if TYPE_CHECKING:  # what they are, for type checkers
    from ._evaluation import Evaluation, evaluate
    from ._explanation import Explanation, explain
    from ._summary import Summary, errors, importances, measured, summary

_HOMES = {
    **dict.fromkeys(("Evaluation", "evaluate"), "._evaluation"),
    **dict.fromkeys(("Explanation", "explain"), "._explanation"),
    **dict.fromkeys(("Summary", "errors", "importances", "measured", "summary"), "._summary"),
}
__all__ = [
    "Evaluation", "Explanation", "Summary", "errors", "evaluate", "explain", "importances", "measured", "summary",
]  # fmt: skip
__getattr__ = lazily(__name__, _HOMES)
