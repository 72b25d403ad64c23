"""Inspect a fitted tree: view and text of the tree, summary, explanation of a row, evaluation on other rows."""

from typing import TYPE_CHECKING

from .._utils.lazy import lazy_getattr

if TYPE_CHECKING:
    from ._candidates import CandidateSplit, NodeCandidates, list_candidates
    from ._evaluation import Evaluation, evaluate
    from ._explanation import Explanation, explain
    from ._reason_codes import Reason, ReasonCodes, read_reason_texts, reason_codes
    from ._summary import (
        Measurement,
        Summary,
        error_on_sample,
        errors,
        importances,
        measurement_table,
        measurements,
        summary,
    )

_HOMES = {
    **dict.fromkeys(("CandidateSplit", "NodeCandidates", "list_candidates"), "._candidates"),
    **dict.fromkeys(("Evaluation", "evaluate"), "._evaluation"),
    **dict.fromkeys(("Explanation", "explain"), "._explanation"),
    **dict.fromkeys(("Reason", "ReasonCodes", "read_reason_texts", "reason_codes"), "._reason_codes"),
    **dict.fromkeys(("Summary", "errors", "importances", "error_on_sample", "summary"), "._summary"),
    **dict.fromkeys(("Measurement", "measurement_table", "measurements"), "._summary"),
}
__all__ = [
    "CandidateSplit",
    "Evaluation",
    "Explanation",
    "Measurement",
    "NodeCandidates",
    "Reason",
    "ReasonCodes",
    "Summary",
    "error_on_sample",
    "errors",
    "evaluate",
    "explain",
    "importances",
    "list_candidates",
    "measurement_table",
    "measurements",
    "read_reason_texts",
    "reason_codes",
    "summary",
]  # fmt: skip
__getattr__ = lazy_getattr(__name__, _HOMES)
