"""Recipe: how a model is to be made, and what follows from it."""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.names import check_name
from ..data.table import Table
from ..errors import DataError, ParameterError
from ..pruners import RULES

_SE = re.compile(r"(\d+(?:\.\d+)?)se")


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
    seed: int = 0
    n_jobs: Any = None

    @property
    def is_sequence(self) -> bool:
        """Whether the rule gives a sequence to choose from."""
        if self.prune is None:
            return False
        return RULES[self.prune].returns == "sequence" and self.prune_parameters.get("threshold") is None

    @property
    def rule_sees_holdout(self) -> bool:
        """Whether the rule prunes with held-out rows."""
        return self.prune is not None and RULES[self.prune].needs_holdout

    @property
    def is_cross_validated(self) -> bool:
        """Whether cross-validation measures the members."""
        measured = self.select == "certificate" or n_errors(self.select) is not None or is_accuracy(self.select)
        return self.prune == "cost-complexity" and measured

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
        if not self.is_sequence or self.select is None or is_number_of_leaves(self.select):
            return False
        return not self.is_cross_validated or self.select == "certificate"


def check(recipe: Recipe, table: Table) -> None:
    if table.target is None:
        raise DataError("the table has no target; growing needs the class or number of each row")
    if recipe.prune is not None:
        check_name("prune", recipe.prune, RULES)
    how = recipe.select
    known = how in (None, "holdout", "certificate", "min-error") or n_errors(how) is not None
    if not (known or is_accuracy(how) or is_number_of_leaves(how)):
        raise ParameterError(
            f"select={how!r}; '1se', '0se' or another number of standard errors, 'holdout', 'certificate', "
            "an accuracy between 0 and 1, a whole number of leaves, or None is needed"
        )
    if isinstance(recipe.cv, int | np.integer) and recipe.is_cross_validated and recipe.cv < 2:
        raise ParameterError(f"cv={recipe.cv}; 2 folds or more are needed")
    if recipe.costs is not None and table.schema.classes is None:
        raise ParameterError("costs= is for classification; a regression has no classes")


def n_errors(how: Any) -> float | None:
    """k of a k-SE rule, or None."""
    found = _SE.fullmatch(how) if isinstance(how, str) else None
    return float(found[1]) if found else None


def is_accuracy(how: Any) -> bool:
    return isinstance(how, float | np.floating) and bool(0 < how <= 1)


def is_number_of_leaves(how: Any) -> bool:
    return isinstance(how, int | np.integer) and not isinstance(how, bool) and bool(how >= 1)
