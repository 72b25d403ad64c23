"""Functions that compute results of the theory: why trees overfit noise, and what pruning can do about it.

There are four groups of functions, one for each question.

*Does reduced error pruning recognise pure noise?* `fringe`, `interior` and `safe_nodes` find where pruning can act.
`one_leaf_probability` and `one_leaf_probability_uniform` return the exact probability that a tree becomes one leaf. The
functions named `printed_...` are the published approximations, for comparison; their docstrings state the corrections.
The functions `deviation_...` bound how far numbers of safe nodes deviate from their means.
`rep_noise_experiment` and `noise_growth_experiment` simulate.

*How fast does a tree learn if every leaf has a weakly useful test?* `weak_learning_advantage`, `split_drop`,
`drop_lower_bound`, `training_error_bound`, `sqrt_error_bound`, `weak_learning_steps`.

*Why choose a single pruning?* `mixture` lets all prunings vote.

*Which parts of a tree are needed?* `alternatives` returns the set of all prunings that are about as good as the best.
"""

from ._alternatives import Alternatives, Extremes, alternatives
from ._deviations import deviation_at_most, deviation_counted, deviation_empty, printed_deviation_counted
from ._mixture import Mixture, OnlineMixture, mixture
from ._one_leaf import earlier_pruning_probability, one_leaf_probability, one_leaf_probability_uniform
from ._printed import (
    best_c,
    expected_empty,
    expected_safe_nodes_at_most,
    printed_bound_general,
    printed_bound_uniform,
    printed_empty,
    printed_safe_nodes_at_most,
    valid_bound_general,
)
from ._simulations import (
    NoiseExperiment,
    NoiseGrowth,
    clopper_pearson,
    expected_noise_leaves,
    noise_growth_experiment,
    rep_noise_experiment,
)
from ._srm_bound import srm_excess_bound
from ._structure import fringe, interior, safe_nodes
from ._weak_learning import (
    criterion_value,
    drop_lower_bound,
    split_drop,
    sqrt_error_bound,
    training_error_bound,
    weak_learning_advantage,
    weak_learning_steps,
)

__all__ = [
    "Alternatives",
    "Extremes",
    "Mixture",
    "NoiseExperiment",
    "NoiseGrowth",
    "OnlineMixture",
    "alternatives",
    "best_c",
    "clopper_pearson",
    "criterion_value",
    "deviation_at_most",
    "deviation_counted",
    "deviation_empty",
    "drop_lower_bound",
    "earlier_pruning_probability",
    "expected_empty",
    "expected_noise_leaves",
    "expected_safe_nodes_at_most",
    "fringe",
    "interior",
    "mixture",
    "noise_growth_experiment",
    "one_leaf_probability",
    "one_leaf_probability_uniform",
    "printed_bound_general",
    "printed_bound_uniform",
    "printed_deviation_counted",
    "printed_empty",
    "printed_safe_nodes_at_most",
    "rep_noise_experiment",
    "safe_nodes",
    "split_drop",
    "sqrt_error_bound",
    "srm_excess_bound",
    "training_error_bound",
    "valid_bound_general",
    "weak_learning_advantage",
    "weak_learning_steps",
]
