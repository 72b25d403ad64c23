"""Certificates: upper limits on the error of a pruned tree that hold with probability 1 - delta.

Pure functions of a tree and of counts. What they pay for the choice of the pruning, from
the cheapest:

    test_sample   nothing; the sample must be fresh
    path          ln of the number of members of a sequence made from the growing sample
    occam         ln 1/prior of the pruning; any pruning, chosen in any way
    pac_bayes     KL of a mixture of prunings to the prior
    rademacher    how well the class follows coin tosses

Limits on other things than the error, from rows that no choice has seen:

    certified_cost        the expected cost of a row, for a cost matrix
    class_rates           the error among rows of each class: false positives, false negatives
    leaf_shares           the class shares in every leaf, all at once
    importance_weighted   the error where new rows will come from, if these come from elsewhere

`certify` is the one door to all of them. A `Bound` that is not a guarantee says so.
"""

from ..nouns.shares import LeafShares
from ..statistics.freshness import Freshness
from ..statistics.tails import binomial_upper, chernoff_upper, kl_upper, log_binomial_tail
from ._betting import betting_upper
from ._certify import METHODS, certify
from ._cost import certified_cost
from ._counting import count_prunings, count_prunings_by_size, count_prunings_within
from ._fresh import freshness
from ._importance import importance_weighted
from ._leaf_shares import leaf_shares
from ._occam import occam
from ._pac_bayes import pac_bayes
from ._path import cross_validation_weights, least_bound, path
from ._rademacher import draw_signs, rademacher, signed_extremes
from ._rates import class_rates
from ._test_sample import test_sample

__all__ = [
    "METHODS",
    "Freshness",
    "LeafShares",
    "betting_upper",
    "binomial_upper",
    "certified_cost",
    "certify",
    "chernoff_upper",
    "class_rates",
    "count_prunings",
    "count_prunings_by_size",
    "count_prunings_within",
    "cross_validation_weights",
    "draw_signs",
    "freshness",
    "importance_weighted",
    "kl_upper",
    "leaf_shares",
    "least_bound",
    "log_binomial_tail",
    "occam",
    "pac_bayes",
    "path",
    "rademacher",
    "signed_extremes",
    "test_sample",
]
