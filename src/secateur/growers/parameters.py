"""GrowParameters: every parameter of growing a tree, declared once.

A field of `GrowParameters` states the name, type and default of a parameter. Its `Declaration` states the allowed
values and describes the parameter in one line. Command options, tables of the documentation, parameters in model files
and error messages are made from the declarations. `grow`, `cross_validate`, `engines.grow` and both estimators
keep explicit signatures, for type checkers, `help` and scikit-learn's `clone`; a test compares their names, defaults
and docstrings with the declarations.

The functions at the end translate checked parameters into what the kernels read: limits and criterion.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any, Literal, Self

import numpy as np

from .._kernels import growing
from .._kernels.criteria import CriterionSpec, entropy_table
from .._utils.arrays import Array
from .._utils.checks import AllowedValues, OneOf, RealNumber, TrueOrFalse, WholeNumber
from ..data.target import TargetKind
from ..errors import Argument, ParameterError, UnsupportedError
from . import CRITERIA
from .interaction import normalize_groups

MAX_BINS = 2**16 - 1  # Kernels store the bin of a value in 16 bits, and one code stands for missing values.
NO_LIMIT = 2**60  # Larger than any depth or number of splits.
MAX_CODED_CLASSES = 4  # With more classes, a small node has more counters per bin than rows.
MAX_COUNTED_BINS = 255  # The codes of counted bins have 8 bits.
WEIGHT_TOLERANCE = 1e-9  # Relative. Totals of weights depend on the order of summation.


@dataclass(frozen=True)
class ClassWeights:
    """Allowed values of `class_weight`: a weight for each class."""

    def check(self, name: str, value: Any) -> None:
        """Raise `ParameterError` unless the value is a dict, "balanced" or None; its classes are checked later."""
        is_balanced = isinstance(value, str) and value == "balanced"
        if value is not None and not isinstance(value, dict) and not is_balanced:
            raise ParameterError(Argument(name, value), f"; {self} is needed")

    def __str__(self) -> str:
        return "a dict from class to weight, 'balanced' or None"


@dataclass(frozen=True)
class Columns:
    """Allowed values of a parameter that names columns, described in words. Names are checked once there is a table."""

    description: str

    def check(self, name: str, value: Any) -> None:
        """Accept any value, because the columns are not known yet."""

    def __str__(self) -> str:
        return self.description


@dataclass(frozen=True)
class Declaration:
    """The declaration of one growing parameter: its default, allowed values and description.

    Parameters
    ----------
    name : str
        Name of the parameter in Python. The command-line option has hyphens in place of underscores.
    default : object
        Default of the parameter in `grow`.
    description : str
        What the parameter does, in one sentence.
    allowed : AllowedValues
        The check of a value, and its description in error messages.
    searched : tuple
        The values that cross-validation tries if the parameter is "auto"; empty if "auto" is not allowed.
    auto_description : str
        The meaning of "auto", in one sentence.
    shapes_tree : bool
        Whether the parameter controls the growth of a tree. The other parameters control how rows are read or weighted.
    is_in_estimators : bool
        Whether the estimators have the parameter.
    """

    name: str
    default: Any
    description: str
    allowed: AllowedValues
    searched: tuple[Any, ...] = ()
    auto_description: str = ""
    shapes_tree: bool = True
    is_in_estimators: bool = True

    def is_default(self, value: Any) -> bool:
        """Return whether a value, which may be an array, is the default."""
        if self.default is None:
            return value is None
        return isinstance(value, str | int | float) and value == self.default

    def check(self, value: Any) -> None:
        """Raise `ParameterError` unless the parameter may have this value."""
        if not (self.searched and is_auto(value)):
            self.allowed.check(self.name, value)


def is_auto(value: Any) -> bool:
    """Return whether a value of any type is the word "auto", which leaves the choice to cross-validation."""
    return isinstance(value, str) and value == "auto"


def _declare(description: str, allowed: AllowedValues, **more: Any) -> dict[str, Any]:
    """Return the metadata of a dataclass field: all fields of its `Declaration` except name and default."""
    return {"description": description, "allowed": allowed, **more}


@dataclass(frozen=True, kw_only=True)
class GrowParameters:
    """The parameters of growing a tree. Values are checked on creation; `grow` documents each parameter in detail.

    `criterion` and `min_samples_leaf` may be "auto". `candidates` replaces "auto" by the values to try before any tree
    is grown.

    Examples
    --------
    >>> GrowParameters(max_depth=3).max_depth
    3
    >>> GrowParameters(max_depth=-1)
    Traceback (most recent call last):
    secateur.errors.ParameterError: max_depth=-1; a whole number of 0 or more or None is needed
    """

    criterion: str = field(
        default="gini",
        metadata=_declare(
            "Splitting criterion.",
            OneOf(tuple(CRITERIA)),
            searched=("gini", "sqrt"),
            auto_description="auto lets cross-validation choose between gini and sqrt.",
        ),
    )
    splits: Literal["binary", "one-vs-rest", "multiway"] = field(
        default="binary",
        metadata=_declare(
            "How nominal columns are split: into two sets of categories, into one category and the rest, or into one "
            "branch per category.",
            OneOf(("binary", "one-vs-rest", "multiway")),
        ),
    )
    growth: Literal["depth-first", "best-first"] = field(
        default="depth-first",
        metadata=_declare(
            "Order in which nodes are split; it matters with a maximum number of splits.",
            OneOf(("depth-first", "best-first")),
        ),
    )
    max_splits: int | None = field(
        default=None,
        metadata=_declare("Maximum number of splits, for best-first growth.", WholeNumber(0, is_optional=True)),
    )
    max_depth: int | None = field(
        default=None, metadata=_declare("Maximum depth of the tree.", WholeNumber(0, is_optional=True))
    )
    min_samples_leaf: int | Literal["auto"] = field(
        default=1,
        metadata=_declare(
            "Minimum number of rows in a leaf.",
            WholeNumber(1),
            searched=(1, 2, 5),
            auto_description="auto is 1 for classes; for numbers, cross-validation chooses between 1, 2 and 5.",
        ),
    )
    min_samples_split: int = field(
        default=2, metadata=_declare("Minimum number of rows in a node that is split.", WholeNumber(2))
    )
    min_weight_fraction_leaf: float = field(
        default=0.0, metadata=_declare("Minimum share of the total weight in a leaf.", RealNumber(0, 0.5))
    )
    max_bins: int | None = field(
        default=None,
        metadata=_declare(
            "Maximum number of bins of a numeric column; without it every threshold is tried.",
            WholeNumber(2, MAX_BINS, is_optional=True),
        ),
    )
    allow_zero: bool | None = field(
        default=None,
        metadata=_declare(
            "Whether an impure node is split when no split lowers the criterion.",
            TrueOrFalse(is_optional=True),
            is_in_estimators=False,
        ),
    )
    penalise_numeric: bool = field(
        default=False,
        metadata=_declare(
            "Whether gain ratio subtracts log2(values - 1) / rows from the gain of numeric splits.",
            TrueOrFalse(),
            is_in_estimators=False,
        ),
    )
    monotonic_cst: Any = field(
        default=None,
        metadata=_declare(
            "Columns in which predictions may only rise (1) or only fall (-1).",
            Columns("-1, 0 or 1 for each column, a dict from columns to these, or None"),
        ),
    )
    interaction_cst: Any = field(
        default=None,
        metadata=_declare(
            "Groups of columns that may be split on together on the way to a leaf.",
            Columns('a list of groups of columns, "pairwise", "no_interactions" or None'),
        ),
    )
    surrogates: int = field(
        default=0,
        metadata=_declare(
            "Maximum number of surrogates per node, for rows whose tested value is missing.", WholeNumber(0)
        ),
    )
    class_weight: dict[Any, float] | Literal["balanced"] | None = field(
        default=None,
        metadata=_declare(
            "Weight of each class; balanced gives all classes the same total weight.",
            ClassWeights(),
            shapes_tree=False,
        ),
    )
    nominal: Any = field(
        default=None,
        metadata=_declare(
            "Columns of numbers to read as categories.", Columns("a list of columns or None"), shapes_tree=False
        ),
    )

    def __post_init__(self) -> None:
        for name, declaration in DECLARATIONS.items():
            declaration.check(getattr(self, name))
        if isinstance(self.monotonic_cst, np.ndarray):
            object.__setattr__(self, "monotonic_cst", self.monotonic_cst.tolist())
        if self.interaction_cst is not None:
            object.__setattr__(self, "interaction_cst", normalize_groups(self.interaction_cst))
        if self.max_splits is not None and self.growth != "best-first":
            raise ParameterError(Argument("max_splits", self.max_splits), " needs ", Argument("growth", "best-first"))
        if self.class_weight is not None and self.target_kind == "number":
            raise ParameterError(
                Argument("class_weight", self.class_weight),
                " with ",
                Argument("criterion", self.criterion),
                ": a numeric target has no classes",
            )
        if self.surrogates:
            self._check_surrogates()

    def _check_surrogates(self) -> None:
        """Raise `UnsupportedError` for a parameter that growing with surrogates does not support."""
        for name in self.changed_names():
            if name in UNSUPPORTED_WITH_SURROGATES:
                raise UnsupportedError(
                    Argument("surrogates", self.surrogates),
                    " with ",
                    Argument(name, getattr(self, name)),
                    " is not supported; omit one of them",
                )

    @property
    def target_kind(self) -> TargetKind:
        """Whether the criterion is for classes or for numbers; "auto" is for classes."""
        return "class" if is_auto(self.criterion) else CRITERIA[self.criterion].target

    def check_target_kind(self, kind: TargetKind) -> None:
        """Raise `ParameterError` if the criterion is for another kind of target."""
        if self.target_kind != kind:
            allowed = "a criterion for classes" if kind == "class" else "'squared_error'"
            raise ParameterError(
                Argument("criterion", self.criterion), f"; the target is a {kind}, so {allowed} is needed"
            )

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the parameters with values by name, where None stands for the default."""
        return cls(**{name: value for name, value in values.items() if value is not None})

    def changed_names(self) -> list[str]:
        """Return the names of the parameters whose values are not the defaults."""
        return [name for name, declaration in DECLARATIONS.items() if not declaration.is_default(getattr(self, name))]

    def searched_names(self) -> list[str]:
        """Return the names of the parameters that are "auto"."""
        return [name for name in DECLARATIONS if is_auto(getattr(self, name))]

    def candidates(self) -> list[Self]:
        """Return the combinations of values that cross-validation tries where parameters are "auto".

        Examples
        --------
        >>> [candidate.criterion for candidate in GrowParameters(criterion="auto").candidates()]
        ['gini', 'sqrt']
        """
        names = self.searched_names()
        if not names:
            return [self]
        combinations = product(*(DECLARATIONS[name].searched for name in names))
        return [replace(self, **dict(zip(names, values, strict=True))) for values in combinations]

    def without_search(self) -> Self:
        """Return the parameters with the defaults of `grow` in place of "auto"."""
        return replace(self, **{name: DECLARATIONS[name].default for name in self.searched_names()})

    def check_values(self) -> None:
        """Raise `ParameterError` if a parameter is "auto", because one tree needs a value."""
        for name in self.searched_names():
            DECLARATIONS[name].allowed.check(name, "auto")

    def tree_parameters(self) -> dict[str, Any]:
        """Return the parameters that decide how a tree is grown on rows, by name."""
        return {name: getattr(self, name) for name, declaration in DECLARATIONS.items() if declaration.shapes_tree}


DECLARATIONS = {
    parameter.name: Declaration(parameter.name, parameter.default, **parameter.metadata)
    for parameter in fields(GrowParameters)
}
UNSUPPORTED_WITH_SURROGATES = (
    "splits", "growth", "max_bins", "min_weight_fraction_leaf", "monotonic_cst", "interaction_cst"
)  # fmt: skip


def limits_of(parameters: GrowParameters) -> growing.GrowLimits:
    """Return the limits on depth, splits and leaf sizes as the kernels read them; no parameter may be "auto"."""
    max_depth, max_splits = parameters.max_depth, parameters.max_splits
    is_best_first = parameters.growth == "best-first"
    return growing.GrowLimits(
        max_depth=NO_LIMIT if max_depth is None else min(int(max_depth), NO_LIMIT),
        max_splits=NO_LIMIT if max_splits is None else min(int(max_splits), NO_LIMIT),
        min_leaf_size=float(parameters.min_samples_leaf),
        min_split_size=float(parameters.min_samples_split),
        allows_zero_gain=not is_best_first if parameters.allow_zero is None else parameters.allow_zero,
        is_multiway=parameters.splits == "multiway",
        is_one_vs_rest=parameters.splits == "one-vs-rest",
        is_best_first=is_best_first,
        is_gain_ratio=CRITERIA[parameters.criterion].is_ratio,
        penalises_numeric=parameters.penalise_numeric,
    )


def limits_with_min_weight(
    limits: growing.GrowLimits, fraction: float, weight: Array | None, n_rows: int, is_whole: bool
) -> tuple[growing.GrowLimits, bool]:
    """Return the limits with the minimum weight of a leaf, and whether the limits count weights instead of rows.

    Parameters
    ----------
    limits : GrowLimits
        Limits that count rows.
    fraction : float
        The parameter `min_weight_fraction_leaf`: minimum share of the total weight in a leaf.
    weight : array, optional
        Weight of each row; None is 1 each.
    n_rows : int
    is_whole : bool
        Whether all weights are whole numbers, which count as repetitions of a row.
    """
    if fraction == 0:
        return limits, False
    total = float(n_rows if weight is None else weight.sum())
    min_weight = fraction * (1 - WEIGHT_TOLERANCE) * total
    if is_whole:
        return limits._replace(min_leaf_size=max(limits.min_leaf_size, min_weight)), False
    if limits.min_leaf_size > 1 or limits.min_split_size > 2:
        raise ParameterError(
            Argument("min_weight_fraction_leaf", fraction),
            " with weights that are not whole numbers replaces the minimum numbers of rows; use ",
            Argument("min_samples_leaf", 1),
            " and ",
            Argument("min_samples_split", 2),
        )
    # A node lighter than two children of minimum weight is never split, so a minimum weight of the node adds nothing.
    return limits._replace(min_leaf_size=min_weight, min_split_size=0.0), True


def can_count_bins(parameters: GrowParameters, n_classes: int) -> bool:
    """Return whether kernels count the rows of each bin and class and score splits from these counts.

    This needs few bins, few classes, binary splits, and a criterion that is computed from class counts.
    """
    has_few_bins = parameters.max_bins is not None and parameters.max_bins <= MAX_COUNTED_BINS
    is_streamed = CRITERIA[parameters.criterion].is_streamed
    return is_streamed and has_few_bins and n_classes <= MAX_CODED_CLASSES and parameters.splits != "multiway"


def kernel_criterion(name: str, n_rows: int, is_plain: bool) -> CriterionSpec:
    """Return a criterion as the kernels read it.

    Parameters
    ----------
    name : str
        A key of `CRITERIA`.
    n_rows : int
        Number of rows of the sample, which is the length of the table for entropy.
    is_plain : bool
        Whether every row has weight 1.
    """
    impurity = CRITERIA[name].impurity or name
    if is_plain and impurity == "entropy":
        return entropy_table(n_rows)
    return CriterionSpec(impurity)
