"""Growing for a few leaves: of greedy trees cut back to them, and one that looks ahead, the one that errs least."""

from typing import Any

from ..data.table import Table
from ..growers import grow
from ..growers.lookahead import can_look_ahead, grow_ahead
from ..growers.settings import times_class_weight
from ..nouns import Sample
from ..pruners import best_of_size
from ._recipe import Plan

FREE = {"min_samples_split": 2, "min_weight_fraction_leaf": 0.0, "splits": "binary", "growth": "depth-first",
        "surrogates": 0}  # fmt: skip


def looks_ahead(recipe: Plan, table: Table) -> bool:
    """Whether a few leaves are asked for, and nothing else that a tree must meet."""
    given = {name: value for name, value in recipe.growing.items() if value is not None}
    is_free = given.pop("criterion", None) == "auto" and given.pop("min_samples_leaf", "auto") in ("auto", 1)
    given.pop("class_weight", None)
    return (
        is_free
        and all(name in FREE and value == FREE[name] for name, value in given.items())
        and recipe.prune == "cost-complexity"
        and recipe.costs is None
        and table.schema.classes is not None
        and recipe.is_size
        and can_look_ahead(table, recipe.select)
    )


def few_leaves(table: Table, weight: Any, growing: dict[str, Any], n_leaves: int) -> Sample:
    """The growing sample in the tree whose best pruning of so many leaves errs least: greedy ones win no tie."""
    found: list[Sample] = [
        grow(table, sample_weight=weight, **growing | {"criterion": name})[1] for name in ("gini", "sqrt")
    ]
    paths = [best_of_size(sample.tree, sample, max_leaves=n_leaves) for sample in found]
    if found[0].total[0] > 0 and any(path.n_leaves[0] == n_leaves for path in paths):
        also = [path[0].to_tree() for path in paths]
        weight = times_class_weight(weight, table, growing.get("class_weight"))
        ahead = grow_ahead(table, weight, n_leaves, also)
        if ahead is not None:
            found.insert(0, ahead)
            paths.insert(0, best_of_size(ahead.tree, ahead, max_leaves=n_leaves))
    least = min(range(len(found)), key=lambda i: (-paths[i].n_leaves[0], paths[i].errors[0]))
    return found[least]
