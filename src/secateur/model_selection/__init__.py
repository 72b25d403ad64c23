"""Choosing one tree: by cross-validation, on a held-out sample, or as a whole fit prescribes.

`select` chooses a member of a sequence on a sample that the sequence has not used. `cross_validate` grows a tree
for each fold, scores every member of its path in one pass, and applies the choice to the path of all rows; it can
also choose growing parameters. Both return the table they chose from. `CHOICES` names the rules of choice, `SCORES`
the scores.

`fit_model` makes a `Model` from rows as a `Recipe` describes, holding out the rows that will prune, choose or certify
before anything else uses them. The other functions make a smaller model from a fitted one. Estimators and the command
line call these functions.
"""

from typing import TYPE_CHECKING

from .._utils.lazy import lazy_getattr
from ._registry import CHOICES, SCORES, Choice, Score, check_scoring, is_accuracy, is_number_of_leaves, parse_select

if TYPE_CHECKING:
    from ._cross_validate import auto_repeats, cross_validate
    from ._fit_model import fit_model
    from ._prune_model import certify_model, choose_on_holdout, path_table, prune_by_rule, prune_to, snip
    from ._recipe import Recipe
    from ._select import choose, select

_HOMES = {
    **dict.fromkeys(("auto_repeats", "cross_validate"), "._cross_validate"),
    **dict.fromkeys(("choose", "select"), "._select"),
    **dict.fromkeys(
        ("certify_model", "choose_on_holdout", "path_table", "prune_to", "prune_by_rule", "snip"), "._prune_model"
    ),
    "fit_model": "._fit_model",
    "Recipe": "._recipe",
}
__getattr__ = lazy_getattr(__name__, _HOMES)
__all__ = [
    "CHOICES",
    "SCORES",
    "Choice",
    "Recipe",
    "Score",
    "auto_repeats",
    "certify_model",
    "check_scoring",
    "choose",
    "choose_on_holdout",
    "cross_validate",
    "fit_model",
    "is_accuracy",
    "is_number_of_leaves",
    "parse_select",
    "path_table",
    "prune_by_rule",
    "prune_to",
    "select",
    "snip",
]  # fmt: skip
