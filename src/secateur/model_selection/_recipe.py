"""Recipe: how a model is to be made, and what follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .._utils.checks import check_name
from ..data.table import Table
from ..errors import DataError, ParameterError, UnsupportedError
from ..growers.parameters import DECLARATIONS
from ..pruners import RULES
from ._registry import CHOICES, check_scoring, parse_select


@dataclass(frozen=True)
class Recipe:
    """How to fit a model to a table: the parameters of the estimators, by the same names.

    Parameters
    ----------
    growing : dict
        Parameters of `grow`; `criterion` and `min_samples_leaf` may be "auto".
    prune : str or None
        A rule of `secateur.pruners.RULES`; None keeps the whole tree.
    prune_parameters : dict
        Further parameters of the rule.
    penalty : str or callable
        Penalty of cost-complexity pruning.
    select : str, float, int or None
        How a member of a sequence is chosen.
    cv, cv_repeats
        Folds of cross-validation, and how often they are dealt.
    holdout : float
        Share of the rows to hold out if a step needs them.
    certify : str, bool or None
        Method of the certificate.
    delta : float
    costs : array, optional
        What it costs to answer class j for a row of class i.
    scoring : str, optional
        What members of a sequence are judged by, a name of `secateur.model_selection.SCORES`.
    probabilities : str
        Of the model, where `scoring` judges them.
    seed : int
    n_jobs : int, executor or None
    """

    growing: dict[str, Any] = field(default_factory=dict)
    prune: str | None = "cost-complexity"
    prune_parameters: dict[str, Any] = field(default_factory=dict)
    penalty: Any = "leaves"
    select: Any = "1se"
    cv: Any = 10
    cv_repeats: Any = "auto"
    holdout: float = 1 / 3
    certify: Any = None
    delta: float = 0.05
    costs: Any = None
    scoring: Any = None
    probabilities: str = "shrunk"
    seed: int = 0
    n_jobs: Any = None

    @classmethod
    def of(cls, parameters: Mapping[str, Any], **others: Any) -> "Recipe":
        """Return the recipe that parameters of the estimators describe; `others` come first."""
        growing = {name: parameters[name] for name in DECLARATIONS if name in parameters and name != "nominal"}
        same = {one.name: parameters[one.name] for one in fields(cls) if one.name in parameters}
        return cls(**{"growing": growing} | same | others)

    def estimator_parameters(self, *, is_classifier: bool) -> dict[str, Any]:
        """Return the parameters of the estimator that fits by this recipe, as plain values for a model file.

        `n_jobs` and `verbose` are left out because results do not depend on them; `nominal`, because the columns of
        a table are encoded before a recipe is used.
        """
        growing = {
            name: self.growing.get(name, declaration.default)
            for name, declaration in DECLARATIONS.items()
            if declaration.is_in_estimators and name not in ("nominal", "class_weight")
        }
        parameters = growing | {
            "prune": self.prune,
            "prune_parameters": self.prune_parameters or None,
            "penalty": self.penalty,
            "select": self.select,
            "cv": self.cv,
            "cv_repeats": self.cv_repeats,
            "scoring": self.scoring,
            "holdout": self.holdout,
            "random_state": self.seed,
        }
        if is_classifier:
            parameters |= {
                "class_weight": self.growing.get("class_weight"),
                "probabilities": self.probabilities,
                "certify": self.certify,
                "delta": self.delta,
                "costs": self.costs,
            }
        estimator = "TreeClassifier" if is_classifier else "TreeRegressor"
        return {"estimator": estimator, **{name: plain_value(value) for name, value in parameters.items()}}


@dataclass(frozen=True)
class FitPlan(Recipe):
    """A recipe, checked for a table, and what follows from it.

    Parameters
    ----------
    sees_holdout : bool
        Whether the rule prunes with held-out rows.
    is_size, is_accuracy : bool
        Whether `select` is a number of leaves, or an accuracy.
    k : float
        The standard errors above the least error that a choice by errors allows for.
    is_cross_validated : bool
        Whether cross-validation measures the members.
    needs_holdout : bool
        Whether rows must be held out.
    """

    sees_holdout: bool = False
    is_size: bool = False
    is_accuracy: bool = False
    k: float = 0.0
    is_cross_validated: bool = False
    needs_holdout: bool = False


def make_plan(recipe: Recipe, table: Table) -> FitPlan:
    """Return the recipe with all that the steps of fitting ask of it, or raise what is wrong with it."""
    if table.target is None:
        raise DataError("the table has no target; growing needs the class or number of each row")
    is_class = table.schema.classes is not None
    rule = None
    if recipe.prune is not None:
        check_name("prune", recipe.prune, RULES)
        rule = RULES[recipe.prune]
    choice = parse_select(recipe.select)
    is_measured = choice is not None and choice.is_measured
    is_cross_validated = is_measured and recipe.prune == "cost-complexity"
    if isinstance(recipe.cv, int | np.integer) and is_cross_validated and recipe.cv < 2:
        raise ParameterError(f"cv={recipe.cv}; 2 folds or more are needed")
    if recipe.costs is not None and not is_class:
        raise ParameterError("costs= is for classification; a regression has no classes")
    is_sequence = rule is not None and rule.returns == "sequence" and recipe.prune_parameters.get("threshold") is None
    scoring = check_scoring(recipe.scoring, is_class=is_class, has_costs=recipe.costs is not None)
    is_size, is_accuracy = choice is CHOICES["leaves"], choice is CHOICES["accuracy"]
    if is_sequence and choice is not None and not is_size:
        if not is_cross_validated and scoring not in ("error", "cost", "balanced_error", "squared_error"):
            raise UnsupportedError(
                f"scoring={scoring!r} is measured by cross-validation: use prune='cost-complexity' with select='1se' "
                f"or '0se', not prune={recipe.prune!r} with select={recipe.select!r}"
            )
        if is_accuracy and scoring not in ("error", "squared_error"):
            raise UnsupportedError(
                f"select={recipe.select:g} is an accuracy, and scoring={scoring!r} measures none: leave scoring and "
                "costs out, or choose with select='1se' or '0se'"
            )
    sees_holdout = rule is not None and rule.needs_holdout
    return FitPlan(
        **vars(recipe) | {"scoring": scoring},
        sees_holdout=sees_holdout,
        is_size=is_size,
        is_accuracy=is_accuracy,
        k=0.0 if choice is None else choice.k or 0.0,
        is_cross_validated=is_cross_validated,
        needs_holdout=bool(recipe.certify)
        or sees_holdout
        or (is_sequence and choice is not None and (choice.needs_holdout or (is_measured and not is_cross_validated))),
    )


def plain_value(value: object) -> object:
    """Return a value of a parameter as a model file stores it: numbers, text, lists and dicts of them, else `repr`."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, dict):
        return {plain_value(name): plain_value(item) for name, item in value.items()}
    return value if value is None or isinstance(value, str | bool | int | float) else repr(value)
