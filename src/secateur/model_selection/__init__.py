"""Choose one tree: by cross-validation, on a held-out sample, or with all steps of fitting.

`select` chooses a member of a sequence on a sample that was not used to make the sequence. `cross_validate` grows a
tree for each fold, scores all members of its path in one pass, and applies the choice to the path of all rows; it can
also choose growing parameters. Both return the table from which they chose. `CHOICES` lists the ways to choose a
member, `SCORES` the scores.

`fit_model` makes a `Model` from rows as a `Recipe` describes. It first holds out the rows that will prune, choose or
certify. Estimators and the command line call it. The other functions make a smaller model from a fitted one.
"""

from typing import TYPE_CHECKING

from .._utils.lazy import lazy_getattr
from ._recipe import CHOICES, SCORES, Choice, Score, check_scoring, is_accuracy, is_number_of_leaves, parse_select

if TYPE_CHECKING:
    from ._calibrate_model import calibrate_if_fresh, calibrate_model, intervals_of, sets_of
    from ._certify_model import certify_model, certify_model_groups
    from ._cross_validate import cross_validate
    from ._fit_model import fit_model
    from ._growing_rows import edit_model, find_growing_rows, recipe_of, rows_of_candidates, rows_to_compare
    from ._prune_model import choose_on_holdout, path_table, prune_by_rule, prune_to, sequence_of, snip
    from ._recipe import Recipe
    from ._select import choose, select
    from .edits import Edit, edits_document, read_edits
    from .folds import auto_repeats

_MODULE_OF_NAME = {
    "auto_repeats": ".folds",
    "calibrate_if_fresh": "._calibrate_model",
    "calibrate_model": "._calibrate_model",
    "certify_model": "._certify_model",
    "certify_model_groups": "._certify_model",
    "choose": "._select",
    "choose_on_holdout": "._prune_model",
    "cross_validate": "._cross_validate",
    "Edit": ".edits",
    "edit_model": "._growing_rows",
    "edits_document": ".edits",
    "find_growing_rows": "._growing_rows",
    "fit_model": "._fit_model",
    "intervals_of": "._calibrate_model",
    "path_table": "._prune_model",
    "sequence_of": "._prune_model",
    "prune_by_rule": "._prune_model",
    "prune_to": "._prune_model",
    "read_edits": ".edits",
    "Recipe": "._recipe",
    "recipe_of": "._growing_rows",
    "rows_of_candidates": "._growing_rows",
    "rows_to_compare": "._growing_rows",
    "select": "._select",
    "sets_of": "._calibrate_model",
    "snip": "._prune_model",
}
__getattr__ = lazy_getattr(__name__, _MODULE_OF_NAME)
__all__ = [
    "CHOICES", "SCORES", "Choice", "Edit", "Recipe", "Score", "auto_repeats", "calibrate_if_fresh", "calibrate_model",
    "certify_model", "certify_model_groups", "check_scoring", "choose", "choose_on_holdout", "cross_validate",
    "edit_model", "edits_document", "find_growing_rows", "fit_model", "intervals_of", "is_accuracy",
    "is_number_of_leaves", "parse_select", "path_table", "prune_by_rule", "prune_to", "read_edits", "recipe_of",
    "rows_of_candidates", "rows_to_compare", "select", "sequence_of", "sets_of", "snip",
]  # fmt: skip
