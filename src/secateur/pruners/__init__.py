"""Pruning rules: pure functions of (tree, counts, parameters), one file per rule.

`RULES` lists them. A new rule is one file, one line and one import here, and one test. The command line, the reference,
the benchmarks and the laws in `tests/pruners/test_every_pruner.py` read what they need from that line.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from .._utils.checks import check_name, check_parameters
from .._utils.lazy import lazy_getattr
from ..errors import CountsError, ParameterError, UnsupportedError, show

if TYPE_CHECKING:
    from ..core import Pruning, PruningSequence, Sample, Tree
    from ._best_of_size import best_of_size as best_of_size
    from ._bottom_up_srm import bottom_up_srm as bottom_up_srm
    from ._bottom_up_srm import srm_penalty as srm_penalty
    from ._certificate_optimal import certificate_optimal as certificate_optimal
    from ._cost_complexity import cost_complexity as cost_complexity
    from ._cost_complexity import printed_cost_complexity as printed_cost_complexity
    from ._critical_value import critical_value as critical_value
    from ._error_based import error_based as error_based
    from ._fewest_changes import ChangeFront as ChangeFront
    from ._fewest_changes import changed_nodes as changed_nodes
    from ._fewest_changes import fewest_changes as fewest_changes
    from ._global_srm import global_srm as global_srm
    from ._global_srm import global_srm_prunings as global_srm_prunings
    from ._global_srm import global_srm_table as global_srm_table
    from ._greedy import greedy as greedy
    from ._iterative_reduced_error import iterative_reduced_error as iterative_reduced_error
    from ._k_path import KPath as KPath
    from ._k_reduced_error import k_limit as k_limit
    from ._k_reduced_error import k_reduced_error as k_reduced_error
    from ._k_reduced_error import k_reduced_error_path as k_reduced_error_path
    from ._merge_equal_leaves import merge_equal_leaves as merge_equal_leaves
    from ._minimum_error import minimum_error as minimum_error
    from ._pessimistic import pessimistic as pessimistic
    from ._reduced_error import reduced_error as reduced_error
    from ._smallest_within import smallest_within as smallest_within
    from ._weakest_links import weakest_links as weakest_links


@dataclass(frozen=True)
class Rule:
    """An entry of `RULES`: the function of a rule, and what it needs.

    Parameters
    ----------
    function : str
        Name of the function. The module has the same name with an underscore before it, because a module of exactly
        this name would replace the function as an attribute of the package.
    samples : tuple of str
        The samples that the function takes, in order: "grown", or "grown" and "holdout".
    returns : "pruning" or "sequence"
        Whether the function returns one `Pruning` or a `PruningSequence`.
    takes_moments : bool
        Whether the function works for regression trees too, on `Moments` instead of `Counts`.
    takes_cost : bool
        Whether the function takes `cost=`, one number per node, instead of errors.
    penalty : "cost" or "criterion", optional
        What the `alphas` of the sequence measure. "cost": cost per unit of size; `fit` and the command line divide it
        by the number of rows. "criterion": thresholds of the split criterion. None for rules without alphas.
    """

    function: str
    samples: tuple[str, ...] = ("grown",)
    returns: Literal["pruning", "sequence"] = "pruning"
    takes_moments: bool = False
    takes_cost: bool = False
    penalty: Literal["cost", "criterion"] | None = None

    @cached_property
    def needs_holdout(self) -> bool:
        """Whether the rule prunes with held-out rows."""
        return "holdout" in self.samples

    def run(self, tree: "Tree", *counts: "Sample", **parameters: Any) -> Any:
        """Call the function of the rule, after a check of its parameters."""
        rule = __getattr__(self.function)
        check_parameters(f"rule {show(self.function.replace('_', '-'))}", rule, parameters, 1 + len(self.samples))
        return rule(tree, *counts, **parameters)


_HELD_OUT = ("grown", "holdout")
RULES = {
    "reduced-error": Rule("reduced_error", _HELD_OUT, takes_moments=True, takes_cost=True),
    "iterative-reduced-error": Rule("iterative_reduced_error", _HELD_OUT),
    "k-reduced-error": Rule("k_reduced_error", _HELD_OUT),
    "best-of-size": Rule("best_of_size", returns="sequence", takes_moments=True, takes_cost=True),
    "smallest-within": Rule("smallest_within", takes_moments=True, takes_cost=True),
    "greedy": Rule("greedy", returns="sequence", takes_moments=True, takes_cost=True),
    "weakest-links": Rule("weakest_links", returns="sequence", takes_moments=True, takes_cost=True, penalty="cost"),
    "cost-complexity": Rule("cost_complexity", returns="sequence", takes_moments=True, takes_cost=True, penalty="cost"),
    "global-srm": Rule("global_srm", takes_cost=True),
    "bottom-up-srm": Rule("bottom_up_srm"),
    "pessimistic": Rule("pessimistic"),
    "minimum-error": Rule("minimum_error"),
    "critical-value": Rule("critical_value", returns="sequence", penalty="criterion"),
    "error-based": Rule("error_based"),
    "equal-predictions": Rule("merge_equal_leaves"),
    "certificate-optimal": Rule("certificate_optimal", _HELD_OUT),
}
# The module of every public name: first the rules, then the other functions and classes.
_MODULE_OF = {rule.function: f"._{rule.function}" for rule in RULES.values()} | {
    "ChangeFront": "._fewest_changes",
    "KPath": "._k_path",
    "changed_nodes": "._fewest_changes",
    "fewest_changes": "._fewest_changes",
    "k_limit": "._k_reduced_error",
    "k_reduced_error_path": "._k_reduced_error",
    "srm_penalty": "._bottom_up_srm",
    "global_srm_prunings": "._global_srm",
    "global_srm_table": "._global_srm",
    "printed_cost_complexity": "._cost_complexity",
}


__getattr__ = lazy_getattr(__name__, _MODULE_OF)
__all__ = ["RULES", "Rule", "prune", *_MODULE_OF]  # noqa: PLE0604


def prune(
    tree: "Tree", *counts: "Sample", rule: str = "cost-complexity", **parameters: Any
) -> "Pruning | PruningSequence":
    """Prune a tree by the named rule.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    *counts : Counts or Moments
        The samples of the rule: the growing sample, then the held-out sample if the rule needs one. The samples of a
        regression tree are `Moments`, whose costs are squared errors; rules that need classes refuse them.
    rule : str
        A name of `secateur.pruners.RULES`.
    **parameters
        Passed to the rule.

    Returns
    -------
    Pruning or PruningSequence

    Examples
    --------
    >>> from secateur import Counts, Tree, prune
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> prune(tree, Counts.from_leaves(tree, [[3, 0], [1, 2]]))
    PruningSequence(2 prunings, 2 to 1 leaves, nested)
    """
    check_name("rule", rule, RULES)
    needed = RULES[rule].samples
    if len(counts) != len(needed):
        raise CountsError(f"rule {show(rule)} needs {len(needed)} counts ({', '.join(needed)}); {len(counts)} given")
    from ..core import Tree
    from ..core.node_statistics import NodeStatistics

    if not isinstance(tree, Tree):
        raise ParameterError(f"the tree is {show(tree)}; a Tree is needed, such as grow returns")
    for sample in counts:
        if not isinstance(sample, NodeStatistics | None):
            raise ParameterError(f"the counts are {show(sample)}; Counts or Moments, as count returns, are needed")
    moments = [sample for sample in counts if sample is not None and not sample.has_classes]
    if moments and not RULES[rule].takes_moments:
        regression_rules = ", ".join(name for name, entry in RULES.items() if entry.takes_moments)
        raise UnsupportedError(
            f"rule {show(rule)} needs classes, but the target of sample {show(moments[0].sample)} is a number; "
            f"the rules for regression trees are: {regression_rules}"
        )
    result: Pruning | PruningSequence = RULES[rule].run(tree, *counts, **parameters)
    return result
