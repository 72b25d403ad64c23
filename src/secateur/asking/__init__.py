"""What people ask of a fitted model: a summary, the reasons for one answer, how good it is on other rows."""

from typing import TYPE_CHECKING

from ..data.names import lazily

if TYPE_CHECKING:  # what they are, for type checkers
    from ._evaluate import Evaluation, evaluate
    from ._explain import Explanation, explain
    from ._summary import Summary, errors, importances, measured, summary

_HOMES = {
    **dict.fromkeys(("Evaluation", "evaluate"), "._evaluate"),
    **dict.fromkeys(("Explanation", "explain"), "._explain"),
    **dict.fromkeys(("Summary", "errors", "importances", "measured", "summary"), "._summary"),
}
__all__ = [
    "Evaluation", "Explanation", "Summary", "errors", "evaluate", "explain", "importances", "measured", "summary",
]  # fmt: skip
__getattr__ = lazily(__name__, _HOMES)
