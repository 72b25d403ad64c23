"""Garcia-Moratilla, Martinez-Munoz and Suarez, Evaluation of Pruning with Subadditive Penalties (2006)."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, pairwise
from typing import Literal

import numpy as np

from ..._utils.arrays import Array
from ...core import Counts, PruningSequence, Selection, Tree
from ...growers import grow
from ...model_selection import choose, cross_validate
from ...pruners import best_of_size, cost_complexity, printed_cost_complexity
from ...routing import count
from .._opt_beyond import errors_by_size
from .._samples import ALWAYS_GENERATED, RANDOM_SETS, error_rate
from .._subadditive import is_subset
from ._claim import Evidence, NotCheckable, claim, claim_on_small_trees, counterexample_unless
from ._small import N_TREES, RANDOM_TREES_ENUMERATED, Case, cases, cost_of, describe_case, failing_cases

PenaltyName = Literal["leaves", "sqrt", "log"]
CONCAVE: tuple[PenaltyName, ...] = ("log", "sqrt")


def bumpy_penalty(sizes: Array) -> Array:
    """Return a penalty that rises strictly and is subadditive, but not concave.

    It is 1, 1.9, 2 for one, two, three leaves, and 2 more for every three leaves more.
    """
    n_threes, rest = np.divmod(np.asarray(sizes, int) - 1, 3)
    return np.asarray(2.0 * n_threes + np.array([1.0, 1.9, 2.0])[rest])


def _rising_thresholds(family: PruningSequence) -> list[float]:
    """Return the thresholds of a family; an empty list if they do not rise strictly."""
    return [] if family.alphas is None or (np.diff(family.alphas) <= 0).any() else family.alphas.tolist()


@claim_on_small_trees(
    seed=1,
    place="Equations 1 and 2",
    library="pruners.cost_complexity",
    says="Each tree of the family minimises cost + alpha * penalty between two thresholds, which rise.",
    checked=RANDOM_TREES_ENUMERATED,
)
def family_minimises_cost_plus_penalty(case: Case) -> object:
    family = cost_complexity(case.tree, case.grown)
    alphas = _rising_thresholds(family)
    lowest_errors = case.lowest_costs(case.errors)
    for alpha, errors, n_leaves in zip(alphas, family.costs_on(case.errors), family.n_leaves, strict=True):
        minimum = min(lowest + alpha * size for size, lowest in lowest_errors.items())
        if errors + alpha * n_leaves > minimum + 1e-9:
            return False
    return bool(alphas)


@claim(
    place="Equation 3",
    library="pruners.cost_complexity (nested)",
    says="The families of additive and of subadditive penalties are unique and nested.",
)
def families_are_unique_and_nested() -> Evidence:
    def counterexamples(penalty: PenaltyName | Callable[[Array], Array]) -> Iterator[str]:
        for case in cases(2, 2 * N_TREES):
            tree_text = describe_case(case.tree, case.grown)
            family = list(cost_complexity(case.tree, case.grown, penalty=penalty))
            n_prunings = Counter((len(leaves), cost_of(leaves, case.errors)) for leaves in case.prunings)
            for member in family[1:]:
                n_equal = n_prunings[member.n_leaves, member.cost(case.errors)]
                if n_equal > 1:
                    yield f"penalty 1, 1.9, 2, 3, ...: {n_equal} trees of {member.n_leaves} leaves on {tree_text}"
            if not all(small <= large for large, small in pairwise(family)):
                yield f"penalty 1, 1.9, 2, 3, ...: not nested on {tree_text}"

    return Evidence(
        f"{2 * N_TREES} {RANDOM_TREES_ENUMERATED}",
        counterexamples(bumpy_penalty),
        "for concave penalties",
        chain(*map(counterexamples, CONCAVE)),
    )


@claim(
    place="section 2",
    library="pruners.cost_complexity",
    says="The family of a subadditive penalty is a subset of the additive family.",
)
def subadditive_family_is_a_subset() -> Evidence:
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    counts = Counts.from_leaves(tree, [[2, 1], [0, 2], [2, 0], [0, 1]])
    additive_sizes = cost_complexity(tree, counts, penalty="leaves").n_leaves.tolist()
    sizes = cost_complexity(tree, counts, penalty=bumpy_penalty).n_leaves.tolist()

    def holds_for_concave_penalties(case: Case) -> bool:
        families = (cost_complexity(case.tree, case.grown, penalty=penalty) for penalty in CONCAVE)
        return all(is_subset(family, cost_complexity(case.tree, case.grown)) for family in families)

    text = f"penalty 1, 1.9, 2, 3, ... on {describe_case(tree, counts)}: sizes {sizes}, additive {additive_sizes}"
    return Evidence(
        f"{2 * N_TREES} random trees",
        counterexample_unless(set(sizes) <= set(additive_sizes), text),
        "for concave penalties",
        failing_cases(holds_for_concave_penalties, 3, 2 * N_TREES),
    )


@claim_on_small_trees(
    seed=4,
    place="Figure 1",
    library="pruners.best_of_size",
    says="For binary trees, the listing finds the pruning of least cost of every size.",
    checked="binary trees, all prunings listed; its loop limit reads min(|T_l|, k - 1)",
    max_branches=2,
)
def listing_finds_the_best_pruning_of_every_size(case: Case) -> object:
    return errors_by_size(best_of_size(case.tree, case.grown)) == case.lowest_costs(case.errors)


@claim(
    place="Figure 2",
    library="pruners.printed_cost_complexity",
    says="The listing finds the family, with strictly rising thresholds.",
)
def printed_listing_finds_the_family() -> Evidence:
    tree = Tree.from_parents([-1, 0, 0, 2, 2])
    counts = Counts.from_leaves(tree, [[0, 1], [2, 0], [0, 1]])
    printed, ours = printed_cost_complexity(tree, counts), cost_complexity(tree, counts)
    assert printed.alphas is not None
    text = (
        f"{describe_case(tree, counts)}: sizes {printed.n_leaves.tolist()} at {printed.alphas.tolist()}, "
        f"the family is {ours.n_leaves.tolist()}"
    )
    return Evidence(
        f"{N_TREES} random trees",
        counterexample_unless(len(printed) <= len(ours), text),
        "of equal ratios the smallest tree",
        failing_cases(lambda case: _rising_thresholds(cost_complexity(case.tree, case.grown)), 5),
    )


@claim_on_small_trees(
    seed=6,
    place="section 3, step 3",
    library="pruners.cost_complexity (at)",
    says="The geometric mean of both ends of an interval of alpha stands for the tree that is optimal between them.",
)
def geometric_mean_lies_in_the_interval(case: Case) -> object:
    family = cost_complexity(case.tree, case.grown)
    assert family.alphas is not None
    intervals = pairwise([*family.alphas.tolist(), np.inf])
    chosen = [family.at(_geometric_mean(low, high)).n_leaves for low, high in intervals]
    return chosen == family.n_leaves.tolist()


def _geometric_mean(low: float, high: float) -> float:
    """Return the geometric mean of both ends of an interval of penalties; that from 0 begins with a mean of 0."""
    return high if np.isinf(high) else math.sqrt(low * high)


@claim(
    place="section 3, step 3",
    library="model_selection.cross_validate",
    says="The error at each alpha is that of the trees which the folds choose at the same alpha.",
)
def cross_validated_errors_of_the_family() -> Evidence:
    table = RANDOM_SETS["led24"](200, seed=3)
    folds = [np.arange(200)[i::4] for i in range(4)]
    selection = cross_validate(table, cv=folds, select="0se")
    assert selection.betas is not None
    n_errors = np.zeros(len(selection.betas))
    for test in folds:
        train = np.setdiff1d(np.arange(200), test)
        tree, grown = grow(table.take(train))
        held = count(tree, table.take(test), sample="test")
        family = cost_complexity(tree, grown)
        for i, beta in enumerate(selection.betas.tolist()):
            n_errors[i] += family.at(beta * len(train)).errors(held)
    difference = float(abs(n_errors / 200 - selection.error).max())
    text = f"led24, 200 rows, 4 folds, {len(n_errors)} alphas: largest difference {difference:.0e}"
    return Evidence(text, counterexample_unless(difference < 1e-12, text))


@claim(
    place="Table 1",
    library="datasets.led24, waveform, tic_tac_toe",
    says="Led24 has 24 attributes and 10 classes, Waveform 21 and 3, Tic-tac-toe 958 rows, 9 attributes and 2 classes.",
)
def characteristics_of_the_sets() -> Evidence:
    tables = {"led24": RANDOM_SETS["led24"](200), "waveform": RANDOM_SETS["waveform"](300)}
    tables["tic-tac-toe"] = ALWAYS_GENERATED["tic-tac-toe"]()
    shapes = {
        name: (table.n_rows, len(table.columns), len(np.unique(table.required_target)))
        for name, table in tables.items()
    }
    expected = {"led24": (200, 24, 10), "waveform": (300, 21, 3), "tic-tac-toe": (958, 9, 2)}
    text = "the three sets that can be generated; secateur data build checks the others"
    return Evidence(text, counterexample_unless(shapes == expected, str(shapes)))


@claim(
    place="section 3, step 4",
    library="model_selection.choose",
    says="1SE takes the smallest tree whose error is below the least error plus one standard error.",
)
def one_se_takes_the_smallest_tree_within() -> Evidence:
    error, se = np.array([0.1, 0.0, 0.2]), np.array([0.03, 0.0, 0.04])
    below = np.flatnonzero(error < error.min() + se[error.argmin()]).tolist()
    _, member = choose(error, se, 1.0)
    return Evidence(
        "a least error of 0",
        counterexample_unless(below, "with a least error of 0 nothing is below it"),
        '"<=" in place of "<"',
        counterexample_unless(member == 1, str(member)),
    )


@cache
def _selections(name: str, penalty: PenaltyName) -> list[Selection]:
    """Return what cross-validation selects at 0SE under a penalty, on each of twelve draws of a set."""
    draw = RANDOM_SETS[name]
    return [cross_validate(draw(200, seed=i), penalty=penalty, select="0se", random_state=i) for i in range(12)]


def _compare_with_additive(name: str, penalty: PenaltyName) -> tuple[list[tuple[Selection, Selection]], int]:
    """Return the selections under a penalty and the additive one on twelve draws, and how often they are one tree."""
    pairs = list(zip(_selections(name, penalty), _selections(name, "leaves"), strict=True))
    return pairs, sum(subadditive.pruning.n_leaves == additive.pruning.n_leaves for subadditive, additive in pairs)


@claim(
    place="section 3, Table 3",
    library="secateur reproduce subadditive --figure 'table 3'",
    says="Families are smaller under the square root, and both penalties mostly choose the same tree.",
)
def families_and_choices_of_table_3() -> Evidence:
    pairs, n_same = _compare_with_additive("led24", "sqrt")
    are_smaller = all(len(subadditive.sequence) <= len(additive.sequence) for subadditive, additive in pairs)
    text = f"12 draws of led24: same tree {n_same} times; 1,000 runs in the experiment"
    return Evidence(
        f"{text}, where two counts differ unexplained",
        counterexample_unless(n_same >= 6 and are_smaller, f"{n_same} of 12"),
    )


@claim(
    place="section 4, Table 2",
    library="secateur reproduce subadditive --figure 'table 2'",
    says="There is no systematic difference in test error between the two penalties.",
)
def no_difference_in_test_error() -> Evidence:
    gaps = []
    for i, pair in enumerate(_compare_with_additive("led24", "sqrt")[0]):
        test = RANDOM_SETS["led24"](2_000, seed=1_000 + i)
        sqrt_error, additive_error = (
            error_rate(selection.pruning, count(selection.tree, test, sample="test")) for selection in pair
        )
        gaps.append(sqrt_error - additive_error)
    standard_error = float(np.std(gaps, ddof=1) / np.sqrt(len(gaps)))
    counterexamples = counterexample_unless(abs(np.mean(gaps)) <= 3 * standard_error + 1e-12)
    return Evidence(
        f"12 draws of led24: {100 * np.mean(gaps):.2f} +- {100 * standard_error:.2f} points", counterexamples
    )


@claim(
    place="section 4",
    library="secateur reproduce subadditive (table third)",
    says="The conclusion should hold for other subadditive penalties.",
)
def conclusion_for_other_penalties() -> Evidence:
    log, sqrt = (_compare_with_additive("waveform", penalty)[1] for penalty in CONCAVE)
    text = f"logarithm: the same tree as with the additive penalty in {log} of 12 draws of waveform"
    return Evidence(
        f"the square root: {sqrt} of 12; test errors are in the experiment", counterexample_unless(log >= 6, text)
    )


@claim(
    place="section 3",
    library="secateur reproduce subadditive",
    says="Sizes are printed without stating whether they count nodes or leaves.",
)
def sizes_are_printed_without_unit() -> NotCheckable:
    return NotCheckable("as nodes they agree with ours within 6 %, as leaves they would be half")
