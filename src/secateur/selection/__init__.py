"""Choosing one tree of a sequence: on a held-out sample, or by cross-validation.

`select` looks at a sample that the sequence has not seen. `cross_validate` grows a tree for
each fold, scores every member of its path in one pass, and carries the choice over to the
path of all rows; it can also choose how to grow. Both return the table they chose from.
`CHOICES` names the ways to choose, `SCORES` what is least in the best member.
"""

from typing import TYPE_CHECKING

from ..data.names import lazily
from ._registry import CHOICES, SCORES, Choice, Score, choice_of, is_accuracy, is_number_of_leaves, scoring_of

if TYPE_CHECKING:
    from ._cross_validate import auto_repeats, cross_validate
    from ._select import choose, select

_HOMES = dict.fromkeys(["auto_repeats", "cross_validate"], "._cross_validate")
_HOMES |= {"choose": "._select", "select": "._select"}
__getattr__ = lazily(__name__, _HOMES)
__all__ = [
    "CHOICES", "SCORES", "Choice", "Score", "auto_repeats", "choice_of", "choose", "cross_validate", "is_accuracy",
    "is_number_of_leaves", "scoring_of", "select",
]  # fmt: skip
