"""Elomaa and Kaariainen, An Analysis of Reduced Error Pruning (2001)."""

import math
from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np

from ... import analysis
from ...core import Counts, LabelRule, Tree, leaf_labels
from ...growers import grow
from ...pruners import iterative_reduced_error, reduced_error
from ...routing import count
from .._by_hand import label_rules_tree
from ._claim import Evidence, NotCheckable, claim, claim_by_search, claim_on_small_trees, counterexample_unless
from ._small import N_TREES, RANDOM_TREES_ENUMERATED, Case, cases, cost_of, describe_case, prunings

LABELS: tuple[LabelRule, ...] = ("grow", "prune", "both")


FOUR_LEAVES = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
FIGURE_1 = Case(*label_rules_tree())


@claim(
    place="section 2.1",
    library="pruners.iterative_reduced_error",
    says="Repeatedly cutting the node that helps most can miss the best pruning.",
)
def iterated_best_cuts_miss_the_best_pruning() -> Evidence:
    case = Case.of(FOUR_LEAVES, [[2, 0], [0, 1], [0, 3], [1, 0]], [[0, 1], [2, 0], [0, 0], [0, 2]])
    rules = (iterative_reduced_error, reduced_error)
    iterative_errors, best_errors = (rule(case.tree, case.grown, case.held).errors(case.held) for rule in rules)
    return Evidence(
        f"{case}: {iterative_errors} errors, reduced error pruning {best_errors}",
        counterexample_unless(iterative_errors > best_errors, "equal"),
    )


@claim(
    place="section 2.2, Figure 1",
    library="pruners.reduced_error",
    says=(
        "With labels from the growing rows, the root is cut although neither child is. With labels from the "
        "pruning rows, both children are cut and the root is not."
    ),
)
def label_rules_cut_different_nodes() -> Evidence:
    case = FIGURE_1
    by_grow, by_prune = (reduced_error(case.tree, case.grown, case.held, labels=labels) for labels in LABELS[:2])
    cuts = by_grow.cuts.tolist(), by_prune.cuts.tolist()
    errors = by_grow.errors(case.held), by_prune.errors(case.held)
    text = f"cuts {cuts[0]} with {errors[0]} errors, cuts {cuts[1]} with {errors[1]}"
    return Evidence(text, counterexample_unless(cuts == ([0], [1, 4]) and errors == (2, 0), text))


@claim(
    place="section 2.2",
    library="pruners.reduced_error(labels='both')",
    says="Labels from both samples give the same pruning as labels from the growing sample.",
)
def labels_of_both_samples_equal_growing_labels() -> Evidence:
    case = FIGURE_1
    by_grow, by_both = (reduced_error(case.tree, case.grown, case.held, labels=labels) for labels in ("grow", "both"))
    text = f"1 leaf by growing labels, {by_both.n_leaves} by both"
    return Evidence("the tree of Figure 1", counterexample_unless(by_grow.n_leaves == by_both.n_leaves, text))


@claim_on_small_trees(
    seed=1,
    place="section 2.3",
    library="pruners.reduced_error",
    says="A subtree that no pruning row reaches is always cut.",
)
def empty_subtrees_are_cut(case: Case) -> object:
    is_empty_split = ~case.tree.is_leaf & (case.held.total == 0)
    prunings_by_label = (reduced_error(case.tree, case.grown, case.held, labels=labels) for labels in LABELS)
    return not any((pruning.is_kept & is_empty_split).any() for pruning in prunings_by_label)


@claim_on_small_trees(
    seed=7,
    place="Table 1",
    library="pruners.reduced_error(labels='prune')",
    says=(
        "The printed listing compares the errors of the children with the errors of the majority class of the "
        "pruning rows."
    ),
    checked="random trees, the listing written out",
)
def printed_listing_equals_reduced_error(case: Case) -> object:
    error = np.where(case.tree.is_leaf, case.held_errors, 0)
    is_cut = False
    for v in reversed(case.tree.internal.tolist()):  # ends at the root
        below = int(error[case.tree.parent == v].sum())
        as_leaf = int(case.held.by_class[v].min())
        is_cut = below >= as_leaf
        error[v] = min(below, as_leaf)
    pruning = reduced_error(case.tree, case.grown, case.held, labels="prune")
    return pruning.errors(case.held) == error[0] and is_cut == (pruning.n_leaves == 1)


@claim_on_small_trees(
    seed=2,
    place="Theorem 1",
    library="pruners.reduced_error",
    says="The result is the smallest of the most accurate prunings, whatever the labels.",
    checked=f"{RANDOM_TREES_ENUMERATED}, three labellings",
)
def result_is_the_smallest_most_accurate_pruning(case: Case) -> object:
    def is_best(labels: LabelRule) -> bool:
        errors = case.held.errors_if_leaf(leaf_labels(case.grown, case.held, labels))
        pruning = reduced_error(case.tree, case.grown, case.held, labels=labels)
        best = min((cost_of(leaves, errors), len(leaves)) for leaves in case.prunings)
        return (pruning.cost(errors), pruning.n_leaves) == best

    return all(map(is_best, LABELS))


@claim_on_small_trees(
    seed=3,
    place="Theorem 2, Corollary 3",
    library="pruners.reduced_error(labels='prune')",
    says=(
        "With labels from the pruning rows, a split without leaves as children stays if one of its children "
        "stays a split."
    ),
    n_trees=4 * N_TREES,
    max_splits=6,
)
def inner_splits_stay_above_kept_splits(case: Case) -> object:
    tree = case.tree
    stays = {v: _stays_a_split(case, v) for v in tree.internal.tolist()}
    for v, is_split in stays.items():
        children = list(tree.children(v))
        is_inner = not tree.is_leaf[children].any()
        if is_inner and any(stays[c] for c in children) and not is_split:
            return False
    return True


def _stays_a_split(case: Case, v: int) -> bool:
    """Return whether node v stays a split if the tree below it is pruned by itself."""
    end = int(case.tree.end[v])
    subtree = Tree.from_parents([-1, *(case.tree.parent[v + 1 : end] - v)])
    samples = (
        Counts.from_leaves(subtree, counts.by_class[v:end][subtree.is_leaf], sample=counts.sample)
        for counts in (case.grown, case.held)
    )
    return reduced_error(subtree, *samples, labels="prune").n_leaves > 1


@claim(
    place="section 4, Figure 2",
    library="analysis.safe_nodes",
    says="The safe nodes (fringe nodes whose parent is in the interior) are the leaves of a pruning.",
)
def safe_nodes_are_the_leaves_of_a_pruning() -> Evidence:
    def has_safe_node_as_printed(tree: Tree) -> bool:
        is_in_fringe = analysis.fringe(tree)
        return bool((is_in_fringe[1:] & ~is_in_fringe[tree.parent[1:]]).any())

    def are_leaves_of_a_pruning(tree: Tree) -> bool:
        return frozenset(analysis.safe_nodes(tree).tolist()) in prunings(tree)

    trees = [case.tree for case in cases(4)]
    without = (describe_case(tree) for tree in trees if not has_safe_node_as_printed(tree))
    return Evidence(
        f"{N_TREES} random trees",
        (f"root in the fringe, no safe node: {description}" for description in without),
        "the root is safe if it is in the fringe",
        (describe_case(tree) for tree in trees if not are_leaves_of_a_pruning(tree)),
    )


IN_FRINGE = "random trees, the root safe if it is in the fringe"


@claim_on_small_trees(
    seed=5,
    place="Theorem 4",
    library="analysis.safe_nodes, pruners.reduced_error",
    says="The tree is pruned to one leaf if and only if all safe nodes are cut and have the same majority class.",
    checked=IN_FRINGE,
    n_trees=4 * N_TREES,
    max_splits=6,
)
def one_leaf_needs_cut_safe_nodes_of_one_class(case: Case) -> object:
    pruning = reduced_error(case.tree, case.grown, case.held, labels="prune")
    safe_nodes = analysis.safe_nodes(case.tree)
    counts = case.held.by_class[safe_nodes]
    is_majority_class = counts == counts.max(axis=1, keepdims=True)
    have_common_majority = is_majority_class.all(axis=0).any()
    are_cut = not (pruning.is_kept & ~pruning.is_leaf)[safe_nodes].any()
    return (pruning.n_leaves == 1) == (are_cut and have_common_majority)


def _tail(m: int, q: float, h: float) -> float:
    """Return the probability that a binomial number of m draws with probability q is at least h."""
    return sum(math.comb(m, x) * q**x * (1 - q) ** (m - x) for x in range(max(0, math.ceil(h)), m + 1))


def _phi(x: float) -> float:
    """Return the distribution function of the standard normal distribution."""
    return (1 + math.erf(x / math.sqrt(2))) / 2


@claim(
    place="Lemma 5",
    library="statistics.tails",
    says="Slud's inequality: Pr[X >= h] >= 1 - Phi((h - mq) / sqrt(mq(1 - q))) for mq <= h <= m(1 - q).",
)
def slud_inequality() -> Evidence:
    def counterexamples(step: float) -> Iterator[str]:
        for m, q in product(range(1, 41), (0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5)):
            for h in np.arange(math.ceil(m * q / step) * step, m * (1 - q) + 1e-9, step):
                claimed = 1 - _phi((h - m * q) / math.sqrt(m * q * (1 - q)))
                if _tail(m, q, h) < claimed - 1e-12:
                    yield f"m = {m}, q = {q:g}, h = {h:g}: {_tail(m, q, h):.4f} < {claimed:.4f}"

    return Evidence(
        "m up to 40, seven q",
        counterexamples(0.5),
        "for whole h (the text applies it to h = n/2)",
        counterexamples(1.0),
    )


@claim(
    place="Inequality 1",
    library="analysis.printed_bound_general",
    says="Pr[X > n/2] >= 1 - Phi((p - 1/2) n / sqrt(n p (1 - p))).",
)
def majority_probability_bound() -> Evidence:
    claimed = 1 - _phi(0.1 * 2 / math.sqrt(2 * 0.24))
    exact = _tail(2, 0.4, 2)
    text = f"Pr[X > 1] = {exact:.4f}, claimed at least {claimed:.4f}: ties are lost"
    return Evidence("n = 2, p = 0.6", counterexample_unless(exact >= claimed, text))


@claim(
    place="Equation 2",
    library="analysis.printed_bound_general, valid_bound_general",
    says="The probability of one leaf is at most Phi(...)^(k/2).",
)
def one_leaf_bound_for_any_occupancy() -> Evidence:
    exact, printed = analysis.one_leaf_probability([2] * 10, 0.6), analysis.printed_bound_general(20, 10, 0.6)

    def is_valid(n: int, k: int, p: float) -> bool:
        even = [n // k + (i < n % k) for i in range(k)]
        return analysis.valid_bound_general(n, k, p) >= analysis.one_leaf_probability(even, p) - 1e-12

    settings = product((12, 20, 30), (3, 5, 10), (0.55, 0.6, 0.8))
    text = f"ten safe nodes of two examples, p = 0.6: {exact:.4f} > {printed:.4f}"
    return Evidence(
        "27 settings",
        counterexample_unless(exact <= printed, text),
        "with the largest Pr[Bin(j, 1 - p) <= j/2], j <= r, in place of Phi",
        (f"n = {n}, k = {k}, p = {p}" for n, k, p in settings if not is_valid(n, k, p)),
    )


@claim(
    place="section 5.2",
    library="analysis.printed_bound_general",
    says="Equation 2 falls exponentially with k if r is constant, and faster the closer p is to 1/2.",
)
def one_leaf_bound_falls_exponentially() -> Evidence:
    rates = [math.log(analysis.printed_bound_general(5 * k, k, 0.6)) / k for k in (10, 20, 40)]
    by_p = [analysis.printed_bound_general(100, 20, p) for p in (0.55, 0.6, 0.7, 0.8)]
    counterexamples = counterexample_unless(max(rates) - min(rates) < 1e-9 and by_p == sorted(by_p), str(rates))
    return Evidence("log of the bound over k; four p", counterexamples)


@claim(
    place="Theorem 6, Equation 3",
    library="analysis.expected_noise_leaves",
    says="A tree that fits noise on one attribute has 2(t - 1)p(1 - p) + 1 leaves on average.",
)
def expected_leaves_of_fitted_noise() -> Evidence:
    p, t = 0.3, 8
    expected = 0.0
    for labels in product((0, 1), repeat=t):
        probability = p ** sum(labels) * (1 - p) ** (t - sum(labels))
        expected += probability * (1 + sum(a != b for a, b in pairwise(labels)))  # one leaf more for each change
    formula_fails = counterexample_unless(abs(expected - analysis.expected_noise_leaves(t, p)) < 1e-12, f"{expected}")
    random = np.random.default_rng(6)
    n_surplus_leaves = []
    for _ in range(40):
        y = (random.random(60) < p).astype(int)
        if 0 < y.sum() < 60:
            tree, _ = grow(np.arange(60.0)[:, None], y)
            n_surplus_leaves.append(tree.n_leaves - 1 - int((y[1:] != y[:-1]).sum()))
    return Evidence(
        "all 256 labellings of 8 examples; 40 trees grown with gini",
        formula_fails or [f"{n} more" for n in n_surplus_leaves if n],
    )


@claim(
    place="sections 5.3 and 5.4",
    library="analysis.noise_growth_experiment; secateur reproduce rep-analysis",
    says="Conjecture: the number of safe nodes grows in proportion to the number of leaves.",
)
def safe_nodes_grow_with_the_leaves() -> Evidence:
    growth = analysis.noise_growth_experiment([250, 4_000], 0.7, grow=grow, count=count, repeats=5, seed=0)
    leaves, safe = growth.grown_leaves.mean(axis=1), growth.safe_nodes.mean(axis=1)
    text = f"one attribute, gini: leaves {leaves[0]:.0f} to {leaves[1]:.0f}, safe nodes {safe[0]:.1f} to {safe[1]:.1f}"
    counterexamples = counterexample_unless(safe[1] >= 8 * safe[0], text)
    return Evidence("250 and 4,000 examples; with several attributes they do grow, see the experiment", counterexamples)


@claim(
    place="section 5.3",
    library="analysis.noise_growth_experiment",
    says="If the classes are noise, the size of the pruned tree grows linearly with the sample.",
)
def pruned_trees_of_noise_grow_linearly() -> Evidence:
    growth = analysis.noise_growth_experiment([500, 1_000, 2_000], 0.6, grow=grow, count=count, repeats=5, seed=1)
    leaves = growth.pruned_leaves.mean(axis=1)
    ratios = leaves[1:] / leaves[:-1]  # 2 if the leaves grow linearly, since each sample is twice the one before
    counterexamples = counterexample_unless(((ratios > 1.5) & (ratios < 2.7)).all(), str(leaves))
    return Evidence(f"leaves after pruning {leaves.tolist()} of 500, 1,000, 2,000 examples", counterexamples)


@claim(
    place="Equation 4",
    library="analysis.printed_safe_nodes_at_most, expected_safe_nodes_at_most",
    says="About k Phi(...) safe nodes receive at most cn/k rows.",
)
def expected_safe_nodes_with_few_rows() -> Evidence:
    printed = analysis.printed_safe_nodes_at_most(500, 100, 1)
    exact = analysis.expected_safe_nodes_at_most(500, 100, 1)
    binomial = sum(100 * math.comb(500, j) * 0.01**j * 0.99 ** (500 - j) for j in range(6))
    text = f"n = 500, k = 100, c = 1: {printed:.1f}, exactly {exact:.1f}"
    return Evidence(
        "the setting of Figure 3",
        counterexample_unless(abs(printed - exact) <= 5, text),
        "the binomial itself",
        counterexample_unless(abs(binomial - exact) < 1e-9, f"{binomial}"),
    )


def _occupancies(n: int, k: int) -> np.ndarray:
    """Return the number of balls in each bin, a row for each way to throw n balls into k bins."""
    return np.array([np.bincount(bins, minlength=k) for bins in product(range(k), repeat=n)])


def _deviates_more_often(values: np.ndarray, x: float, bound: float) -> bool:
    """Return whether a larger share of the values than `bound` differs from their mean by x or more."""
    return bool((abs(values - values.mean()) >= x).mean() > bound + 1e-12)


@claim_by_search(
    place="Theorem 7",
    library="analysis.expected_empty, printed_empty, deviation_empty",
    says="The expected number of empty bins, and the bound on the deviation from it.",
    checked="every way to throw 4 to 6 balls into 3 to 5 bins",
)
def expected_empty_bins() -> Iterator[str]:
    for n, k in ((6, 3), (5, 4), (4, 5)):
        empty, mean = (_occupancies(n, k) == 0).sum(axis=1), analysis.expected_empty(n, k)
        if abs(empty.mean() - mean) > 1e-9 or analysis.printed_empty(n, k) < mean:
            yield f"n = {n}, k = {k}: mean {empty.mean()}"
        for x in (0.5, 1, 1.5, 2, 3):
            if _deviates_more_often(empty, x, analysis.deviation_empty(n, k, x)):
                yield f"n = {n}, k = {k}, x = {x}"


@claim(
    place="Equation 5",
    library="analysis.printed_bound_uniform, one_leaf_probability_uniform",
    says="The probability of one leaf is at most Phi(...)^P, where P may be replaced by its mean.",
)
def one_leaf_bound_for_uniform_occupancy() -> Evidence:
    printed = analysis.printed_bound_uniform(500, 100, 0.6)
    exact = analysis.one_leaf_probability_uniform(500, 100, 0.6)
    counterexamples = counterexample_unless(
        printed >= exact, f"{printed:.1e} < {exact:.1e}, the exact probability; a^P is convex in P"
    )
    return Evidence("n = 500, k = 100, p = 0.6, the best c", counterexamples)


@claim_by_search(
    place="section 6",
    library="analysis.one_leaf_probability",
    says="The best case for the bound is one row in every safe node but one.",
    checked="all occupancies of 3 settings",
)
def one_row_in_all_safe_nodes_but_one_is_best_for_the_bound() -> Iterator[str]:
    for n, k, p in ((9, 3, 0.6), (10, 4, 0.7), (9, 3, 0.9)):
        options = [sorted(s) for s in product(range(1, n), repeat=k) if sum(s) == n]
        least = min(options, key=lambda s: analysis.one_leaf_probability(s, p))
        if least[:-1] != [1] * (k - 1):
            yield f"n = {n}, k = {k}, p = {p}: {least}"


@claim(
    place="section 6.1, Figure 3",
    library="analysis.best_c; secateur reproduce rep-analysis --figure 3",
    says="The lowest bound has c between about 1.0 and 1.5, and the bound rises steeply from p = 0.75 on.",
)
def best_c_of_the_uniform_bound() -> Evidence:
    best = {p: analysis.best_c(500, 100, p) for p in (0.6, 0.7, 0.75, 0.8)}
    bounds = analysis.printed_bound_uniform(500, 100, [0.75, 0.8])
    outside = [f"p = {p}: best c = {c}" for p, c in best.items() if not 1.0 <= c <= 1.5]
    rises_steeply = 20 * bounds[0] < bounds[1]
    holds = rises_steeply and outside == ["p = 0.6: best c = 1.72"]
    return Evidence(f"best c {best}", outside, "for p from 0.7 to 0.8", counterexample_unless(holds, "elsewhere"))


@claim_by_search(
    place="section 6.2, Theorem 8",
    library="analysis.deviation_at_most, deviation_empty, deviation_counted",
    says="McDiarmid's inequality limits the deviations of Q, R and P from their means.",
    checked="every way to throw 4 to 6 balls; the second term of P is not needed",
)
def deviations_by_mcdiarmid() -> Iterator[str]:
    for n, k, c in ((6, 3, 1.0), (5, 4, 1.5), (4, 5, 1.0)):
        occupancies = _occupancies(n, k)
        n_small = (occupancies <= c * n / k).sum(axis=1)
        n_counted = n_small - (occupancies == 0).sum(axis=1)
        for x in (0.5, 1, 1.5, 2, 3):
            bound = analysis.deviation_counted(n, x)
            fails_for_small = _deviates_more_often(n_small, x, analysis.deviation_at_most(n, x))
            if fails_for_small or _deviates_more_often(n_counted, x, bound):
                yield f"n = {n}, k = {k}, x = {x}"
            if bound > analysis.printed_deviation_counted(n, k, x) + 1e-12:
                yield f"printed below ours at n = {n}, x = {x}"


@claim(
    place="section 3",
    library="analysis.earlier_pruning_probability",
    says=(
        "Earlier model: a node is likely to be cut before any node below it, and the less so the deeper its "
        "first leaves are."
    ),
)
def earlier_model_of_pruning_probability() -> Evidence:
    by_rows = [analysis.earlier_pruning_probability(n, 0.7) for n in (10, 100, 1_000)]
    by_depth = [analysis.earlier_pruning_probability(200, 0.7, depth=d) for d in range(7)]
    is_likely = min(by_rows) > 0.5 and by_rows == sorted(by_rows)
    text = f"before {by_rows[0]:.2f} to {by_rows[2]:.2f}; depth 0 to 6: {by_depth[0]:.2f} to {by_depth[-1]:.1e}"
    return Evidence(text, counterexample_unless(is_likely and by_depth == sorted(by_depth, reverse=True)))


@claim(
    place="sections 7 and 8",
    library="analysis.rep_noise_experiment(relabel=True)",
    says="If the original leaves are relabelled, the analysis applies with leaves in place of safe nodes.",
)
def relabelled_leaves_replace_safe_nodes() -> Evidence:
    experiment = analysis.rep_noise_experiment(60, 8, 0.7, repeats=600, seed=0, relabel=True, shape="random")
    counterexamples = counterexample_unless(experiment.low <= experiment.exact <= experiment.high, str(experiment))
    return Evidence(f"{experiment.frequency:.3f} of 600 trees, exactly {experiment.exact:.3f}", counterexamples)


@claim(
    place="section 8",
    library="",
    says="A unified analysis of pruning algorithms may be impossible.",
)
def unified_analysis_may_be_impossible() -> NotCheckable:
    return NotCheckable("an opinion")
