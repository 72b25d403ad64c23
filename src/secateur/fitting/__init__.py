"""From rows to a Model, and from a Model to a smaller one.

This is what the estimators and the command line do; the steps are the public verbs, in the
one order that keeps certificates true: rows that will certify or prune are put aside before
anything looks at them.
"""

from ._after import certificate_of, choose_on_holdout, path_table, prune_to, pruned_by, snip
from ._fit import fit_model
from ._recipe import Recipe

__all__ = [
    "Recipe", "certificate_of", "choose_on_holdout", "fit_model", "path_table", "prune_to", "pruned_by",
    "snip",
]  # fmt: skip
