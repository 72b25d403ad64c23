"""Certificates: upper limits on the error of a pruned tree that hold with probability 1 - delta.

Every certificate is a function of a tree and of counts. If the rows that certify a pruning have also chosen it, the
limit must be raised. The certificates differ in the choice that the rows may make, and in what determines by how much
the limit is raised:

    function      choice                                        the limit is raised by
    test_sample   none                                          nothing
    path          a member of a sequence made without the rows  ln of the number of members
    occam         any pruning                                   ln 1/prior of the pruning
    pac_bayes     a mixture of prunings                         KL divergence of the mixture from the prior
    rademacher    any pruning                                   how well the prunings fit random labels

With a target that is stated beforehand instead of a choice, `fixed_sequence` finds the smallest pruning that is
certified below the target: prunings are tested in a fixed order, at no price for their number.

The following functions limit other quantities than the error, and need fresh rows:

    absolute_error        the mean absolute error of a regression tree, for a range stated beforehand
    squared_error         the same for the mean squared error
    certified_cost        the expected cost of a row, for a cost matrix
    class_rates           the error among the rows of each class: false positives, false negatives
    certify_groups        error rates of population groups, such as women and men, and the gaps between them
    leaf_shares           the class shares in every leaf, all at once
    importance_weighted   the error in another population, for known importance weights

`calibrate` accepts fresh rows for `prediction_intervals` and `prediction_sets`, which contain the target of a new row
with a stated probability.

`certify_predictions` certifies any classifier on rows that `certified_split` held out before anything was fitted.
`compare_models` compares two classifiers on the same fresh rows.

`METHODS` lists the limits on the error, of classes or of numbers, which `certify` calls by name. To add one, write one
file, one line here and one test.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._utils.checks import check_parameters
from .._utils.lazy import lazy_getattr
from ..errors import show

if TYPE_CHECKING:
    from ..core.group_rates import GroupRates as GroupRates
    from ..core.leaf_shares import LeafShares as LeafShares
    from ..statistics.freshness import Freshness as Freshness
    from ..statistics.tails import binomial_upper as binomial_upper
    from ..statistics.tails import chernoff_upper as chernoff_upper
    from ..statistics.tails import kl_upper as kl_upper
    from ..statistics.tails import log_binomial_tail as log_binomial_tail
    from ._absolute_error import absolute_error as absolute_error
    from ._betting import betting_upper as betting_upper
    from ._calibrate import calibrate as calibrate
    from ._certify import certify as certify
    from ._certify_groups import certify_groups as certify_groups
    from ._compare_models import ModelComparison as ModelComparison
    from ._compare_models import compare_models as compare_models
    from ._compare_models import limit_difference as limit_difference
    from ._compare_models import mcnemar_p_value as mcnemar_p_value
    from ._cost import certified_cost as certified_cost
    from ._counting import count_prunings as count_prunings
    from ._counting import count_prunings_by_size as count_prunings_by_size
    from ._counting import count_prunings_within as count_prunings_within
    from ._fixed_sequence import FixedSequencePlan as FixedSequencePlan
    from ._fixed_sequence import fixed_sequence as fixed_sequence
    from ._fresh import freshness as freshness
    from ._importance import importance_weighted as importance_weighted
    from ._leaf_shares import leaf_shares as leaf_shares
    from ._occam import occam as occam
    from ._pac_bayes import pac_bayes as pac_bayes
    from ._path import cross_validation_weights as cross_validation_weights
    from ._path import least_bound as least_bound
    from ._path import path as path
    from ._prediction_intervals import prediction_intervals as prediction_intervals
    from ._prediction_sets import prediction_sets as prediction_sets
    from ._predictions import certify_predictions as certify_predictions
    from ._rademacher import draw_signs as draw_signs
    from ._rademacher import rademacher as rademacher
    from ._rademacher import rademacher_over_k as rademacher_over_k
    from ._rademacher import signed_extremes as signed_extremes
    from ._rates import class_rates as class_rates
    from ._split import CertifiedSplit as CertifiedSplit
    from ._split import certified_split as certified_split
    from ._squared_error import squared_error as squared_error
    from ._test_sample import test_sample as test_sample


@dataclass(frozen=True)
class Method:
    """An entry of `METHODS`: the function of a certificate, and what it needs.

    Parameters
    ----------
    function : str
        Name of the function; it is defined in the file `_function.py`.
    takes : tuple of str
        What it certifies: "pruning", "sequence" or both.
    covers_choice : bool
        Whether the held-out sample may have chosen the pruning before. The function is then called as
        `function(tree, grown, holdout, pruning=..., delta=...)`, otherwise as `function(pruning, holdout, delta=...)`.
    is_random : bool
        Whether the function draws random numbers, from `rng=`.
    takes_groups : bool
        Whether it can be computed for rows that belong to groups.
    takes_k : bool
        Whether the function has a parameter `k=`, which states that the pruning was chosen among those with at most k
        growing errors.
    target : str
        "class", or "number" for a limit on the mean loss of a regression tree, from `Moments`.
    """

    function: str
    takes: tuple[str, ...] = ("pruning", "sequence")
    covers_choice: bool = True
    is_random: bool = False
    takes_groups: bool = False
    takes_k: bool = False
    target: str = "class"

    def run(self, *samples: Any, **parameters: Any) -> Any:
        """Call the function of the certificate; raise `ParameterError` for a parameter that it does not have."""
        method = __getattr__(self.function)
        check_parameters(f"method {show(self.function.replace('_', '-'))}", method, parameters, len(samples))
        return method(*samples, **parameters)


METHODS = {
    "test-sample": Method("test_sample", ("pruning",), covers_choice=False, takes_groups=True),
    "path": Method("path", ("sequence",), covers_choice=False, takes_groups=True),
    "occam": Method("occam", takes_groups=True, takes_k=True),
    "rademacher": Method("rademacher", is_random=True, takes_k=True),
    "pac-bayes": Method("pac_bayes", ("pruning",)),
    "absolute-error": Method("absolute_error", ("pruning",), covers_choice=False, takes_groups=True, target="number"),
    "squared-error": Method("squared_error", ("pruning",), covers_choice=False, takes_groups=True, target="number"),
}
METHODS_FOR_CLASSES = tuple(name for name, method in METHODS.items() if method.target == "class")
METHODS_FOR_NUMBERS = tuple(name for name, method in METHODS.items() if method.target == "number")
# For each public name, the module that defines it. The functions of `METHODS` come first, then all other names.
_HOMES = {method.function: f"._{method.function}" for method in METHODS.values()} | {
    "CertifiedSplit": "._split",
    "FixedSequencePlan": "._fixed_sequence",
    "Freshness": "..statistics.freshness",
    "GroupRates": "..core.group_rates",
    "LeafShares": "..core.leaf_shares",
    "ModelComparison": "._compare_models",
    "betting_upper": "._betting",
    "binomial_upper": "..statistics.tails",
    "calibrate": "._calibrate",
    "certified_cost": "._cost",
    "certified_split": "._split",
    "certify": "._certify",
    "certify_groups": "._certify_groups",
    "certify_predictions": "._predictions",
    "chernoff_upper": "..statistics.tails",
    "class_rates": "._rates",
    "compare_models": "._compare_models",
    "count_prunings": "._counting",
    "count_prunings_by_size": "._counting",
    "count_prunings_within": "._counting",
    "cross_validation_weights": "._path",
    "draw_signs": "._rademacher",
    "fixed_sequence": "._fixed_sequence",
    "freshness": "._fresh",
    "importance_weighted": "._importance",
    "kl_upper": "..statistics.tails",
    "leaf_shares": "._leaf_shares",
    "least_bound": "._path",
    "limit_difference": "._compare_models",
    "log_binomial_tail": "..statistics.tails",
    "mcnemar_p_value": "._compare_models",
    "prediction_intervals": "._prediction_intervals",
    "prediction_sets": "._prediction_sets",
    "rademacher_over_k": "._rademacher",
    "signed_extremes": "._rademacher",
}
__getattr__ = lazy_getattr(__name__, _HOMES)
__all__ = ["METHODS", "METHODS_FOR_CLASSES", "METHODS_FOR_NUMBERS", "Method", *_HOMES]  # noqa: PLE0604
