"""Recipe: how a model is to be made, and what follows from it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.names import check_name
from ..data.table import Table
from ..errors import DataError, ParameterError
from ..pruners import RULES
from ..selection import Choice, choice_of


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
        Of cost-complexity pruning.
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
        What members of a sequence are judged by, a name of `secateur.selection.SCORES`.
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

    @property
    def is_sequence(self) -> bool:
        """Whether the rule gives a sequence to choose from."""
        if self.prune is None:
            return False
        return RULES[self.prune].returns == "sequence" and self.prune_parameters.get("threshold") is None

    @property
    def choice(self) -> Choice | None:
        """What is known of the way to choose."""
        return choice_of(self.select)

    @property
    def k(self) -> float:
        """The standard errors above the least error that a choice by errors allows for."""
        return 0.0 if self.choice is None else self.choice.k or 0.0

    @property
    def rule_sees_holdout(self) -> bool:
        """Whether the rule prunes with held-out rows."""
        return self.prune is not None and RULES[self.prune].needs_holdout

    @property
    def is_cross_validated(self) -> bool:
        """Whether cross-validation measures the members."""
        choice = self.choice
        return self.prune == "cost-complexity" and choice is not None and choice.is_measured

    @property
    def has_given_folds(self) -> bool:
        """Whether folds are given as numbers of rows."""
        return self.is_cross_validated and not isinstance(self.cv, int | np.integer)

    @property
    def is_certified(self) -> bool:
        """Whether the held-out rows give a certificate."""
        return bool(self.certify) or self.select == "certificate"

    @property
    def needs_holdout(self) -> bool:
        """Whether rows must be held out."""
        if self.certify or self.rule_sees_holdout:
            return True
        choice = self.choice
        if not self.is_sequence or choice is None:
            return False
        return choice.needs_holdout or (choice.is_measured and not self.is_cross_validated)


def check(recipe: Recipe, table: Table) -> None:
    if table.target is None:
        raise DataError("the table has no target; growing needs the class or number of each row")
    if recipe.prune is not None:
        check_name("prune", recipe.prune, RULES)
    choice_of(recipe.select)
    if isinstance(recipe.cv, int | np.integer) and recipe.is_cross_validated and recipe.cv < 2:
        raise ParameterError(f"cv={recipe.cv}; 2 folds or more are needed")
    if recipe.costs is not None and table.schema.classes is None:
        raise ParameterError("costs= is for classification; a regression has no classes")
