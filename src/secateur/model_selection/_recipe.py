"""Recipe: how a model is made; FitPlan: the steps that follow from a recipe for one table.

The tables `CHOICES` and `SCORES` list the ways to choose a member of a sequence, and the scores by which members are
compared. `Recipe` names one of each, and `make_plan` checks them.
"""

import numbers
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from .._utils.checks import check_name
from .._utils.threads import resolve_n_jobs
from ..core import Model
from ..data.table import Table
from ..errors import Argument, DataError, ParameterError, UnsupportedError, show
from ..growers.monotone import column_signs
from ..growers.parameters import DECLARATIONS, GrowParameters, is_auto
from ..pruners import RULES, Rule
from ..statistics.freshness import REPEAT_RULES

_STANDARD_ERRORS = re.compile(r"(\d+(?:\.\d+)?|\.\d+)se(-published)?")
# Scores that can be computed from the counts of held-out rows in the nodes.
HELD_OUT_SCORES = ("error", "cost", "balanced_error", "squared_error")


class Allowance(NamedTuple):
    """How far above the lowest error the smallest member may be.

    Parameters
    ----------
    n_standard_errors : float
        Standard errors of the lowest error.
    is_published : bool
        Whether the rule is that of the documents, which compares errors only. Ours also refuses a single leaf where
        the folds show that a larger tree is better, and compares losses of probabilities by their differences.
    """

    n_standard_errors: float = 0.0
    is_published: bool = False

    @property
    def name(self) -> str:
        """The value of `select` that requests it."""
        return f"{self.n_standard_errors:g}se{'-published' if self.is_published else ''}"


@dataclass(frozen=True)
class Choice:
    """An entry of `CHOICES`: which member is chosen, and which data the choice needs.

    Parameters
    ----------
    description : str
        The chosen member, in a few words.
    allowance : Allowance, optional
        For a choice by errors: how far above the lowest error the smallest member may be.
    form : str
        For a choice that is requested by a number or a pattern rather than by its name: a description with an example.
    needs_holdout : bool
        Whether rows must be held out for the choice.
    uses_cross_validation : bool
        Whether members are compared by cross-validation if the pruning rule is "cost-complexity", and on held-out
        rows for other rules.
    """

    description: str
    allowance: Allowance | None = None
    form: str = ""
    needs_holdout: bool = False
    uses_cross_validation: bool = True


CHOICES = {
    "1se": Choice("the smallest tree within one standard error of the lowest error", Allowance(1.0)),
    "1se-published": Choice(
        "the same to the letter of the documents, so that it may be a single leaf that is clearly worse",
        Allowance(1.0, is_published=True),
    ),
    "0se": Choice("the tree of lowest error", Allowance()),
    "kse": Choice("the smallest tree within k standard errors of the lowest error", form="a multiple such as 0.25se"),
    "holdout": Choice(
        "the tree of lowest error on held-out rows", Allowance(), needs_holdout=True, uses_cross_validation=False
    ),
    "min-error": Choice("the same as holdout", Allowance(), needs_holdout=True, uses_cross_validation=False),
    "certificate": Choice("the tree with the lowest certified error", needs_holdout=True),
    "certified": Choice("the smallest tree certified below target_error", needs_holdout=True),
    "accuracy": Choice("the smallest tree with this accuracy", form="an accuracy such as 0.9"),
    "leaves": Choice(
        "the tree with this number of leaves", form="a number of leaves such as 12", uses_cross_validation=False
    ),
}


CHOICE_NAMES = tuple(name for name, choice in CHOICES.items() if not choice.form)


@dataclass(frozen=True)
class Score:
    """An entry of `SCORES`; lower values are better.

    Parameters
    ----------
    description : str
        The definition, in a few words.
    target : "class" or "number"
    path_cost : str
        Cost on the growing rows that the cost-complexity path weighs against the number of leaves: "predictions"
        (errors, their m-estimates, or costs), "deviance", "impurity", or "squares" (squared errors).
    is_probability_score : bool
        Whether the score is a mean over the rows of a loss of their class probabilities.
    """

    description: str
    target: str = "class"
    path_cost: str = "predictions"
    is_probability_score: bool = False


SCORES = {
    "error": Score("share of wrong predictions"),
    "cost": Score("mean cost of the predictions under costs="),
    "balanced_error": Score("share of wrong predictions in each class, averaged over the classes"),
    "log_loss": Score("mean of minus the log of the true class's probability", "class", "deviance", True),
    "brier": Score("mean squared error of the probabilities; halved for two classes", "class", "impurity", True),
    "roc_auc": Score("1 - area under the ROC curve; of each class against the rest, averaged", path_cost="impurity"),
    "squared_error": Score("mean squared error", "number", "squares"),
    "absolute_error": Score("mean absolute error", "number", "squares"),
}


@dataclass(frozen=True)
class Recipe:
    """How to fit a model to a table: the parameters of the estimators, under the same names.

    Parameters
    ----------
    growing : dict
        Parameters of `grow` by name; None is the default, and `criterion` and `min_samples_leaf` may be "auto".
    prune : str or None
        A rule of `secateur.pruners.RULES`; None does not prune.
    prune_parameters : dict
        Further parameters of the rule.
    penalty : str or callable
        Penalty of cost-complexity pruning.
    select : str, float, int or None
        How a member of a sequence is chosen.
    target_error : float, optional
        For `select="certified"`: the error below which the smallest tree is to be certified.
    cv, cv_repeats
        Folds of cross-validation, and how often rows are assigned to folds.
    holdout : float
        Share of the rows to hold out if a step needs held-out rows.
    certify : str, bool or None
        Method of the certificate; True is "best", and None or False is no certificate.
    delta : float
        Allowed probability that the certificate fails.
    target_range, max_residual
        For a certificate of numbers: the range of the target, or the largest possible residual, stated beforehand.
    repeats : str
        How the certificate treats rows that occur more than once: "errors" counts the rows that may be copies as
        errors; "independent" takes all rows for independent draws.
    costs : array, optional
        Cost of predicting class j for a row of class i.
    scoring : str, optional
        Score by which members of a sequence are compared, a name of `secateur.model_selection.SCORES`.
    probabilities : str
        Class probabilities of the model, which some scores use.
    seed : int
        Seed for folds and held-out rows.
    n_jobs : int, executor or None
    """

    growing: dict[str, Any] = field(default_factory=dict)
    prune: str | None = "cost-complexity"
    prune_parameters: dict[str, Any] = field(default_factory=dict)
    penalty: Any = "leaves"
    select: Any = "1se"
    target_error: Any = None
    cv: Any = 10
    cv_repeats: Any = "auto"
    holdout: float = 1 / 3
    certify: Any = None
    delta: float = 0.05
    target_range: Any = None
    max_residual: Any = None
    repeats: str = "errors"
    costs: Any = None
    scoring: Any = None
    probabilities: str = "shrunk"
    seed: int = 0
    n_jobs: Any = None

    @classmethod
    def of(cls, parameters: Mapping[str, Any], **overrides: Any) -> "Recipe":
        """Return the recipe for parameters of an estimator, by name; `overrides` replace single fields."""
        growing = {name: parameters[name] for name in DECLARATIONS if name in parameters and name != "nominal"}
        same_names = {one.name: parameters[one.name] for one in fields(cls) if one.name in parameters}
        return cls(**{"growing": growing} | same_names | overrides)

    @classmethod
    def of_model(cls, model: Model, **overrides: Any) -> "Recipe":
        """Return the recipe by which a model was fitted, without a certificate; `overrides` replace single fields.

        For a model without parameters, it is the default recipe.
        """
        parameters = model.parameters
        seed = parameters.get("random_state")
        settings = {
            "prune_parameters": dict(parameters.get("prune_parameters") or {}),
            "certify": None,
            "n_jobs": None,
            "seed": seed if isinstance(seed, int) else 0,
        }
        return cls.of(parameters, **(settings | overrides))

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
            "certify": self.certify,
            "delta": self.delta,
            "repeats": self.repeats,
            "random_state": self.seed,
        }
        if is_classifier:
            parameters |= {
                "class_weight": self.growing.get("class_weight"),
                "probabilities": self.probabilities,
                "target_error": self.target_error,
                "costs": self.costs,
            }
        else:
            parameters |= {"target_range": self.target_range, "max_residual": self.max_residual}
        estimator = "TreeClassifier" if is_classifier else "TreeRegressor"
        return {"estimator": estimator, **plain_values(parameters)}


@dataclass(frozen=True)
class FitPlan:
    """A recipe that is checked for a table, with the decisions that follow from it.

    Parameters
    ----------
    recipe : Recipe
    parameters : GrowParameters
    scoring : str
        Name of the score.
    costs : array, optional
        Cost of predicting class j for a row of class i.
    allowance : Allowance
        How far above the lowest error the smallest member may be.
    prunes_with_holdout : bool
        Whether the pruning rule needs a held-out sample.
    is_size, is_accuracy : bool
        Whether `select` is a number of leaves, or an accuracy.
    is_cross_validated : bool
        Whether members are compared by cross-validation.
    needs_holdout : bool
        Whether rows must be held out.
    n_workers : int or executor
        Number of threads, or an object with `submit`.
    """

    recipe: Recipe
    parameters: GrowParameters
    scoring: str
    costs: Any
    allowance: Allowance
    prunes_with_holdout: bool
    is_size: bool
    is_accuracy: bool
    is_cross_validated: bool
    needs_holdout: bool
    n_workers: Any

    @property
    def is_certified(self) -> bool:
        """Whether a certificate is requested."""
        return bool(self.recipe.certify) or self.is_chosen_by_certificate

    @property
    def is_chosen_by_certificate(self) -> bool:
        """Whether the certificate chooses the member."""
        return isinstance(self.recipe.select, str) and self.recipe.select in ("certificate", "certified")

    @property
    def has_explicit_folds(self) -> bool:
        """Whether `cv` names the rows of each fold by their numbers in the table."""
        return self.is_cross_validated and not isinstance(self.recipe.cv, int | np.integer)


def make_plan(recipe: Recipe, table: Table) -> FitPlan:
    """Return the plan for fitting a table by a recipe, or raise an error that says what is wrong with the recipe."""
    if table.target is None:
        raise DataError("the table has no target; growing needs the class or number of each row")
    is_class = table.schema.classes is not None
    _check_values(recipe)
    rule = _rule_of(recipe)
    choice = parse_select(recipe.select)
    has_sequence = _returns_sequence(recipe, rule)
    can_cross_validate = choice is not None and choice.uses_cross_validation
    is_cross_validated = can_cross_validate and recipe.prune == "cost-complexity"
    if is_cross_validated and isinstance(recipe.cv, int | np.integer) and recipe.cv < 2:
        raise ParameterError(Argument("cv", recipe.cv), "; 2 folds or more are needed")
    if recipe.costs is not None and not is_class:
        raise ParameterError(Argument("costs"), " is for classification; a regression has no classes")
    _check_target_error(recipe, choice, has_sequence=has_sequence)
    _check_certify(recipe, choice, is_class=is_class)
    scoring = check_scoring(recipe.scoring, is_class=is_class, has_costs=recipe.costs is not None)
    if has_sequence and choice is not None:
        _check_choice(recipe, choice, scoring, is_cross_validated=is_cross_validated)
    parameters = GrowParameters.of(recipe.growing)
    parameters.check_target_kind("class" if is_class else "number")
    if is_auto(parameters.min_samples_leaf) and (is_class or parameters.min_weight_fraction_leaf):
        # Cross-validation chooses the leaf size for numbers only, and only if no minimum weight limits leaves.
        parameters = replace(parameters, min_samples_leaf=1)
    if parameters.monotonic_cst is not None:
        column_signs(parameters.monotonic_cst, table.schema)
    prunes_with_holdout = rule is not None and rule.needs_holdout
    chooses_on_holdout = (
        has_sequence
        and choice is not None
        and (choice.needs_holdout or (can_cross_validate and not is_cross_validated))
    )
    return FitPlan(
        recipe=recipe,
        parameters=parameters,
        scoring=scoring,
        costs=recipe.costs,
        allowance=(choice and choice.allowance) or Allowance(),
        prunes_with_holdout=prunes_with_holdout,
        is_size=choice is CHOICES["leaves"],
        is_accuracy=choice is CHOICES["accuracy"],
        is_cross_validated=is_cross_validated,
        needs_holdout=bool(recipe.certify) or prunes_with_holdout or chooses_on_holdout,
        n_workers=recipe.n_jobs if hasattr(recipe.n_jobs, "submit") else resolve_n_jobs(recipe.n_jobs),
    )


def _check_values(recipe: Recipe) -> None:
    """Raise `ParameterError` for a value that no plan can use, whether or not the plan of this recipe needs it."""
    for name, share in (("holdout", recipe.holdout), ("delta", recipe.delta)):
        is_number = isinstance(share, numbers.Real) and not isinstance(share, bool)
        if not is_number or not 0 < share < 1:
            needed = "a share of the rows" if name == "holdout" else "a probability"
            raise ParameterError(Argument(name, share), f"; {needed} above 0 and below 1 is needed")
    check_name("repeats", recipe.repeats, REPEAT_RULES)
    if not isinstance(recipe.penalty, str) and not callable(recipe.penalty):
        raise ParameterError(Argument("penalty", recipe.penalty), "; the name of a penalty, or a function, is needed")


def _check_certify(recipe: Recipe, choice: Choice | None, *, is_class: bool) -> None:
    """Raise an error if the method of the certificate, or the range that it needs, does not suit the target."""
    if not is_class and choice in (CHOICES["certificate"], CHOICES["certified"]):
        raise UnsupportedError(
            Argument("select", recipe.select),
            " is for classification; use '1se', and ",
            Argument("certify", True),
            " for a certificate of the tree that it chooses",
        )
    if is_class and not (recipe.target_range is None and recipe.max_residual is None):
        name = "max_residual" if recipe.target_range is None else "target_range"
        raise ParameterError(Argument(name), " is for a numeric target; the error rate of classes needs no range")
    if recipe.certify is None:
        return
    from ..certifiers import METHODS_FOR_CLASSES, METHODS_FOR_NUMBERS  # most fits need no certificate
    from ..certifiers._mean_loss import check_stated_range

    if not isinstance(recipe.certify, bool | np.bool_):
        methods = METHODS_FOR_CLASSES if is_class else METHODS_FOR_NUMBERS
        check_name("certify", recipe.certify, ("best", *methods), alternative=", True, False or None")
    if not is_class and recipe.certify:
        check_stated_range(recipe.target_range, recipe.max_residual)


def _check_target_error(recipe: Recipe, choice: Choice | None, *, has_sequence: bool) -> None:
    """Raise `ParameterError` unless there is a target if and only if members are certified below it."""
    target = recipe.target_error
    if choice is not CHOICES["certified"]:
        if target is not None:
            raise ParameterError(
                Argument("target_error", target),
                " goes with ",
                Argument("select", "certified"),
                ", not with ",
                Argument("select", recipe.select),
            )
        return
    if isinstance(target, bool) or not isinstance(target, numbers.Real) or not 0 < float(target) < 1:
        raise ParameterError(
            Argument("select", "certified"),
            " needs an error above 0 and below 1 that the tree is certified not to exceed, but ",
            Argument("target_error", target),
            " was given",
        )
    if not has_sequence:
        raise ParameterError(
            Argument("select", "certified"),
            " needs a pruning rule that makes a sequence, such as 'cost-complexity', not ",
            Argument("prune", recipe.prune),
        )


def _rule_of(recipe: Recipe) -> Rule | None:
    """Return the entry of `RULES` for the recipe, or None if it does not prune."""
    if recipe.prune is None:
        return None
    check_name("prune", recipe.prune, RULES)
    return RULES[recipe.prune]


def parse_select(select: Any) -> Choice | None:
    """Return the entry of `CHOICES` for a value of `select=`; None chooses no member.

    Examples
    --------
    >>> parse_select("0.25se").allowance.n_standard_errors, parse_select(0.9).description
    (0.25, 'the smallest tree with this accuracy')
    """
    if select is None:
        return None
    if is_accuracy(select):
        return CHOICES["accuracy"]
    if is_number_of_leaves(select):
        return CHOICES["leaves"]
    multiple = _STANDARD_ERRORS.fullmatch(select) if isinstance(select, str) else None
    if multiple is not None:
        return replace(CHOICES["kse"], allowance=Allowance(float(multiple[1]), multiple[2] is not None))
    alternative = (
        ", another number of standard errors ('0.25se'), an accuracy above 0 and up to 1, a number of leaves, or None"
    )
    check_name("select", select, CHOICE_NAMES, alternative=alternative)
    return CHOICES[select]


def is_accuracy(value: Any) -> bool:
    """Return whether a value is an accuracy: a float above 0 and up to 1."""
    return isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral) and 0 < float(value) <= 1


def is_number_of_leaves(value: Any) -> bool:
    """Return whether a value is a whole number of 1 or more."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1


def _returns_sequence(recipe: Recipe, rule: Rule | None) -> bool:
    """Return whether the rule of the recipe makes a sequence, from which a member is chosen."""
    has_threshold = recipe.prune_parameters.get("threshold") is not None
    return rule is not None and rule.returns == "sequence" and not has_threshold


def check_scoring(scoring: Any, *, is_class: bool, has_costs: bool) -> str:
    """Return the checked name of a score; None is the error, or the cost if there are costs."""
    if scoring is None:
        return ("cost" if has_costs else "error") if is_class else "squared_error"
    target = "class" if is_class else "number"
    check_name("scoring", scoring, [name for name, score in SCORES.items() if score.target == target])
    if scoring == "cost" and not has_costs:
        raise ParameterError(
            Argument("scoring", "cost"),
            " needs ",
            Argument("costs"),
            ", the cost of predicting class j for a row of class i",
        )
    if scoring == "balanced_error" and has_costs:
        raise ParameterError(
            Argument("scoring", "balanced_error"),
            " and ",
            Argument("costs"),
            " exclude each other; ",
            Argument("scoring", "cost"),
            " uses the costs",
        )
    return str(scoring)


def _check_choice(recipe: Recipe, choice: Choice, scoring: str, *, is_cross_validated: bool) -> None:
    """Raise `UnsupportedError` if the score cannot decide the choice of a member."""
    if choice is CHOICES["leaves"]:
        return
    if not is_cross_validated and scoring not in HELD_OUT_SCORES:
        raise UnsupportedError(
            Argument("scoring", scoring),
            " is measured by cross-validation: use ",
            Argument("prune", "cost-complexity"),
            " with ",
            Argument("select", "1se"),
            " or '0se', not ",
            Argument("prune", recipe.prune),
            " with ",
            Argument("select", recipe.select),
        )
    if choice is CHOICES["accuracy"] and scoring not in ("error", "squared_error"):
        raise UnsupportedError(
            Argument("select", recipe.select),
            " is an accuracy, and ",
            Argument("scoring", scoring),
            " measures none: leave scoring and costs out, or choose with ",
            Argument("select", "1se"),
            " or '0se'",
        )


def allowance_of(parameter: str, value: Any, k: float | None) -> Allowance:
    """Return the allowance that a parameter requests: "1se", "0.25se", "1se-published", or "kse" with `k`."""
    if isinstance(value, str) and value == "kse":
        if isinstance(k, bool) or not isinstance(k, numbers.Real) or not 0 <= k < float("inf"):
            raise ParameterError(
                f"{parameter}='kse' with k={show(k)}; a number of standard errors, 0 or more, is needed"
            )
        return Allowance(float(k))
    if k is not None:
        raise ParameterError(f"k={show(k)} goes with {parameter}='kse', not with {show(value)}")
    multiple = _STANDARD_ERRORS.fullmatch(value) if isinstance(value, str) else None
    if multiple is not None:
        return Allowance(float(multiple[1]), multiple[2] is not None)
    names = [name for name, choice in CHOICES.items() if choice.allowance is not None]
    check_name(parameter, value, names, alternative=" or 'kse' with k=")
    return CHOICES[value].allowance or Allowance()


def plain_values(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters by name with values as a model file stores them."""
    return {name: plain_value(value) for name, value in parameters.items()}


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
