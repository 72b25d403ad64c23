"""Mansour, lecture notes on growing and pruning decision trees; after Kearns and Mansour (1998)."""

import math
from collections.abc import Iterator
from itertools import combinations, product
from typing import Literal

import numpy as np

from ... import analysis
from ...core import Counts, Pruning, Tree
from ...growers import grow
from ...pruners import bottom_up_srm, global_srm, global_srm_prunings, global_srm_table, reduced_error, srm_penalty
from .._srm import N_ATTRIBUTES, Concept
from ._claim import Evidence, claim, claim_by_search, claim_on_small_trees, counterexample_unless
from ._small import N_TREES, RANDOM_TREES_ENUMERATED, Case, cost_of, failing_cases

COSTS: tuple[Literal["gini", "entropy", "sqrt"], ...] = ("gini", "entropy", "sqrt")
STUMP = Tree.from_parents([-1, 0, 0])
GRID = np.linspace(0, 1, 41)
# The constants of the printed statements, by name, so that a test can check that another constant would be noticed.
SHARE_OF_LEMMA_12_1 = 3
N_DEVIATIONS = 2.0  # the factor c with which the penalty covers the deviation of the tree and that of the leaf
TREES_PER_TEST = 4  # the factor c of the number of trees
LEAST_EXPONENT_OF_LEMMA_12_2 = math.log(2)
RATE_OF_LEMMA_12_4 = 12
LABELLINGS_PER_ROW = 2


@claim(
    place="section 12.1.2, Figure 12.3",
    library="analysis.split_drop('error', ...)",
    says="The error does not improve if a split classifies half of the rows perfectly: it is 0.2 before and after.",
)
def error_ignores_a_perfect_half_split() -> Evidence:
    drops = [analysis.split_drop(name, 0.5, 0.6, 1.0) for name in ("error", "gini")]
    counterexamples = counterexample_unless(drops[0] == 0 and abs(drops[1] - 0.08) < 1e-12, str(drops))
    return Evidence(f"drops {drops[0]:.2f} and, for gini, {drops[1]:.2f} from 0.32 to 0.24", counterexamples)


@claim(
    place="section 12.1.2",
    library="analysis.criterion_value",
    says="Cost functions are symmetric, convex, and at least the error.",
)
def cost_functions_are_symmetric_and_bent() -> Evidence:
    def counterexamples(sign: int) -> Iterator[str]:
        for name in COSTS:
            values = [analysis.criterion_value(name, q) for q in GRID]
            second_differences = np.diff(values, n=2)  # not negative where the function is convex
            if (sign * second_differences < -1e-12).any():
                yield f"{name} bends the other way: G(1/2) = 0.5 lies above G(0) = G(1) = 0"
            if any(abs(v - w) > 1e-12 for v, w in zip(values, reversed(values), strict=True)):
                yield f"{name} is not symmetric"
            if any(v < min(q, 1 - q) - 1e-12 for q, v in zip(GRID, values, strict=True)):
                yield f"{name} is below the error"

    return Evidence(
        "gini, entropy, sqrt on 41 points", counterexamples(1), "concave in place of convex", counterexamples(-1)
    )


@claim(
    place="section 12.1.3",
    library="analysis.split_drop",
    says="A split of leaf l lowers the cost of the tree by G(q) - (tau G(r) + (1 - tau) G(p)).",
)
def drop_of_a_split() -> Evidence:
    def counterexamples(*, is_weighted: bool) -> Iterator[str]:
        """Yield trees of two leaves whose first leaf is split and whose cost falls by another amount."""
        for name, weight, tau, r, p in product(COSTS, (0.3, 1.0), (0.25, 0.5), (0.1, 0.6), (0.4, 1.0)):
            q = tau * r + (1 - tau) * p
            cost = [analysis.criterion_value(name, share) for share in (q, r, p, 0.3)]
            before = weight * cost[0] + (1 - weight) * cost[3]
            after = weight * tau * cost[1] + weight * (1 - tau) * cost[2] + (1 - weight) * cost[3]
            claimed = analysis.split_drop(name, tau, r, p) * (weight if is_weighted else 1)
            if abs(before - after - claimed) > 1e-12:
                yield f"{name}, a leaf with {weight:.0%} of the inputs: {before - after:.4f}, claimed {claimed:.4f}"

    return Evidence(
        "three costs, 16 splits",
        counterexamples(is_weighted=False),
        "times Prob[l]: the cost of a tree is a mean over its leaves",
        counterexamples(is_weighted=True),
    )


@claim(
    place="section 12.1.4",
    library="growers.grow(growth='best-first')",
    says="Each step of the algorithm splits the leaf by the test for which the cost of the tree falls most.",
)
def top_down_algorithm() -> Evidence:
    def counterexamples() -> Iterator[str]:
        for seed in range(5):
            random = np.random.default_rng(seed)
            X, y = random.integers(0, 4, (24, 3)), random.integers(0, 2, 24)
            costs = [_tree_cost(grow(X, y, growth="best-first", max_splits=t, criterion="gini")[1]) for t in range(5)]
            leaves = [np.arange(24)]
            for t in range(4):
                drop, leaf, is_left = max(_drops(X, y, leaves), key=lambda option: option[0])
                if abs(costs[t] - costs[t + 1] - drop) > 1e-9:
                    yield f"sample {seed}, step {t + 1}: {costs[t] - costs[t + 1]:.4f}, best {drop:.4f}"
                    break
                rows = leaves.pop(leaf)
                leaves += [rows[is_left], rows[~is_left]]

    return Evidence("5 samples of 24 rows, 4 steps each, all leaves and thresholds tried", counterexamples())


def _gini(y: np.ndarray) -> float:
    """Return 2 q (1 - q) times the number of rows."""
    return 2 * float(y.sum()) * (1 - float(y.mean())) if len(y) else 0.0


def _drops(X: np.ndarray, y: np.ndarray, leaves: list[np.ndarray]) -> Iterator[tuple[float, int, np.ndarray]]:
    """Yield for each leaf and threshold the drop of the cost, the leaf, and which of its rows go left."""
    for leaf, rows in enumerate(leaves):
        for column, threshold in product(range(X.shape[1]), range(3)):
            is_left = X[rows, column] <= threshold
            parts = _gini(y[rows[is_left]]) + _gini(y[rows[~is_left]])
            yield _gini(y[rows]) - parts, leaf, is_left


def _tree_cost(counts: Counts) -> float:
    """Return the sum of 2 q (1 - q) over the leaves, weighted by their rows."""
    by_class = counts.by_class[counts.tree.is_leaf]
    return float((2 * by_class[:, 0] * by_class[:, 1] / by_class.sum(axis=1)).sum())


@claim(
    place="section 12.1.4, Figure 12.4",
    library="analysis.criterion_value; secateur reproduce srm --figure 12.4",
    says="gini <= entropy / 2 <= sqrt(q(1 - q)), and all are above the error.",
)
def order_of_the_cost_functions() -> Evidence:
    costs: tuple[Literal["error", "gini", "entropy", "sqrt"], ...] = ("error", *COSTS)
    values = {q: [analysis.criterion_value(name, q) for name in costs] for q in GRID}
    unordered = [q for q, of_q in values.items() if of_q != sorted(of_q)]
    return Evidence("41 points", [f"q = {q:g}" for q in unordered if q not in (0, 0.5, 1)])  # all are equal there


@claim_by_search(
    place="section 12.1.5",
    library="analysis.drop_lower_bound",
    says="A split with advantage gamma lowers gini by at least 16 gamma^2 (q(1 - q))^2.",
    checked="1,690 splits; 32 in place of 16 holds too",
)
def drop_of_gini_under_weak_learning() -> Iterator[str]:
    for tau, r, p in product(np.linspace(0.05, 0.95, 10), np.linspace(0.02, 0.98, 13), np.linspace(0.02, 0.98, 13)):
        q = tau * r + (1 - tau) * p
        gamma = analysis.weak_learning_advantage(tau, r, p)
        drop = analysis.split_drop("gini", tau, r, p)
        if drop < 16 * (gamma * q * (1 - q)) ** 2 - 1e-12 or drop < analysis.drop_lower_bound("gini", gamma, q) - 1e-12:
            yield f"tau = {tau}, r = {r}, p = {p}"


@claim_by_search(
    place="Lemma 12.1",
    library="analysis.training_error_bound",
    says="Some leaf has a weight of at least 1/(3t) of the error, and an error of at least a third of it.",
    checked="3,000 random trees of 2 to 8 leaves",
)
def some_leaf_has_weight_and_error() -> Iterator[str]:
    random = np.random.default_rng(1)
    for _ in range(3_000):
        t = int(random.integers(1, 8))
        weight = random.dirichlet(np.full(t + 1, 0.5))
        errors = random.random(t + 1) / 2
        total = float(weight @ errors)
        is_heavy = weight >= total / (SHARE_OF_LEMMA_12_1 * t)
        if total > 0 and not (is_heavy & (errors >= total / SHARE_OF_LEMMA_12_1)).any():
            yield f"weights {weight.round(3).tolist()}, errors {errors.round(3).tolist()}"


@claim(
    place="section 12.1.5",
    library="analysis.weak_learning_steps('gini', ...)",
    says="With gini, 2^(c / (gamma^2 eps^2)) splits reach the error eps.",
)
def splits_needed_with_gini() -> Evidence:
    """Compare the exponents of the bound in the library, which proves a little more, with the printed order."""

    def exponent(gamma: float, eps: float) -> float:
        return analysis.weak_learning_steps("gini", gamma, eps, log=True) / math.log(2)

    settings = list(product((0.05, 0.1, 0.3), (0.2, 0.05, 0.01)))
    constants = [exponent(gamma, eps) * (gamma * eps) ** 2 for gamma, eps in settings]
    ratio = exponent(0.05, 0.01) / exponent(0.1, 0.01)
    holds = max(constants) <= 0.05 and abs(ratio - 4) < 1e-9
    text = f"the exponents are at most {max(constants):.3f} / (gamma eps)^2; half the advantage, {ratio:.0f} times"
    return Evidence(f"9 settings: {text}", counterexample_unless(holds, text))


@claim(
    place="section 12.1.5",
    library="analysis.weak_learning_steps",
    says=(
        "The number of splits needed is 2^((c / gamma^2) / log^2(1/eps)) for entropy and (1/eps)^(c / gamma) for sqrt."
    ),
)
def splits_needed_under_weak_learning() -> Evidence:
    def log_steps(name: Literal["entropy", "sqrt"], gamma: float, eps: float) -> float:
        return analysis.weak_learning_steps(name, gamma, eps, log=True)

    entropy = [log_steps("entropy", 0.1, eps) for eps in (0.2, 0.05, 0.01)]
    ratio_at_half_advantage = log_steps("sqrt", 0.05, 0.01) / log_steps("sqrt", 0.1, 0.01)
    text = f"ln of the splits rises from {entropy[0]:.0f} to {entropy[2]:.0f} as eps falls"
    return Evidence(
        "three eps; half the advantage",
        counterexample_unless(entropy[2] <= entropy[0], f"entropy: {text}; as printed it falls"),
        "log^2(1/eps) in the numerator, and c / gamma^2 for sqrt (half the advantage, four times the exponent)",
        counterexample_unless(3.9 < ratio_at_half_advantage < 4.1, f"{ratio_at_half_advantage}"),
    )


@claim(
    place="section 12.2.1, Figure 12.5",
    library="pruners.reduced_error",
    says="The subtree at X4 makes 2 errors on the pruning rows and the leaf in its place 1, so the subtree is cut.",
)
def worked_example_of_reduced_error() -> Evidence:
    case = Case.of(STUMP, [[0, 3], [1, 0]], [[0, 2], [1, 2]])
    pruning = reduced_error(case.tree, case.grown, case.held)
    before, after = int(case.held_errors[1:].sum()), pruning.errors(case.held)
    return Evidence(
        f"{before} errors, {after} as a leaf",
        counterexample_unless((before, after, pruning.n_leaves) == (2, 1, 1), "kept"),
    )


@claim(
    place="section 12.2.2",
    library="pruners.global_srm_table, global_srm_prunings",
    says="The recursion gives the smallest pruning with at most k errors; the children share 1 to k errors.",
)
def recursion_finds_the_smallest_pruning() -> Evidence:
    def least_size_within(case: Case, max_errors: int) -> int:
        return min((len(x) for x in case.prunings if cost_of(x, case.errors) <= max_errors), default=0)

    def holds_as_corrected(case: Case) -> object:
        sizes = global_srm_table(case.tree, case.grown, size="leaves").size.tolist()
        smallest = global_srm_prunings(case.tree, case.grown, size="leaves")
        is_least = sizes == [least_size_within(case, max_errors) for max_errors in range(len(sizes))]
        return is_least and (smallest.costs_on(case.errors) == smallest.errors).all()

    # The printed recursion on a stump with two pure leaves, for k = 0 and 1 errors. As printed, a pure leaf has size 1
    # at 0 errors and no size elsewhere, and the errors i of the first child run from 1 to k.
    size_of_leaf = {0: 1.0}
    size_without_cut = [
        min(
            (size_of_leaf.get(i, math.inf) + size_of_leaf.get(k - i, math.inf) + 1 for i in range(1, k + 1)),
            default=math.inf,
        )
        for k in (0, 1)
    ]
    printed = [size_without_cut[0], 1.0]  # with one error, the root can be cut
    table = global_srm_table(STUMP, Counts.from_leaves(STUMP, [[1, 0], [0, 1]])).size.tolist()
    return Evidence(
        f"{N_TREES} {RANDOM_TREES_ENUMERATED}",
        counterexample_unless(printed == table, f"two pure leaves: sizes {printed} for 0 and 1 errors"),
        "shares from 0, and a leaf of l errors serves every d >= l: sizes 3, 1",
        failing_cases(holds_as_corrected, 2),
    )


@claim_on_small_trees(
    seed=3,
    place="section 12.2.2",
    library="pruners.global_srm",
    says="T* minimises error + sqrt(k_d / m) over d.",
    checked="random trees: found on the additive path, without the table",
)
def global_srm_minimises_the_penalised_error(case: Case) -> object:
    m = int(case.grown.total[0])
    least = min(cost_of(x, case.errors) / m + math.sqrt(len(x) / m) for x in case.prunings)
    pruning = global_srm(case.tree, case.grown, size="leaves")
    return pruning.cost(case.errors) / m + math.sqrt(pruning.n_leaves / m) <= least + 1e-12


@claim_on_small_trees(
    seed=4,
    place="Equation 12.1",
    library="pruners.bottom_up_srm",
    says="One pass from the leaves replaces what is left of a subtree by a leaf iff its errors plus alpha reach those.",
    checked="binary trees, the pass written out",
    max_branches=2,
)
def bottom_up_pass(case: Case) -> object:
    tree, scale = case.tree, 0.4  # the penalty at its full size cuts nearly every small tree
    counts = Counts(tree, 40 * case.grown.by_class)
    as_leaf = counts.resubstitution_costs
    n_left, errors = np.zeros(tree.n_nodes, int), np.array(as_leaf, float)
    is_cut = tree.is_leaf.copy()
    for v in reversed(tree.internal.tolist()):
        children = list(tree.children(v))
        n_internal, below = 1 + n_left[children].sum(), errors[children].sum()
        n_rows = int(counts.total[v])
        alpha = scale * srm_penalty(n_rows, int(tree.depth[v]), int(n_internal), n_tests=20).value
        is_cut[v] = below / n_rows + alpha >= as_leaf[v] / n_rows
        n_left[v], errors[v] = (0, as_leaf[v]) if is_cut[v] else (n_internal, below)
    pruning = bottom_up_srm(tree, counts, n_tests=20, scale=scale)
    return pruning.n_nodes == 2 * n_left[0] + 1 and pruning.errors(counts) == errors[0]


@claim(
    place="section 12.2.3",
    library="pruners.bottom_up_srm(form='vc')",
    says="The VC dimensions of paths and trees can take the place of the sizes of the classes.",
)
def vc_form_of_the_penalty() -> Evidence:
    """Compare the number of labellings by thresholds on d columns and m rows with the one that the form counts."""

    def n_labellings(m: int, d: int) -> int:
        random = np.random.default_rng(0)
        X = random.random((m, d))
        tests = {tuple(X[:, j] <= cut) for j in range(d) for cut in (-1.0, *X[:, j])}
        return len(tests | {tuple(not went for went in test) for test in tests})

    settings = list(product((1, 3, 10), (1, 2, 5)))
    counterexamples = [
        f"{m} rows, {d} columns: {n_labellings(m, d)}"
        for m, d in settings
        if n_labellings(m, d) > LABELLINGS_PER_ROW * d * (m + 1)
    ]
    penalty = srm_penalty(1_000, 0, 1, n_tests=20 * 2_001, form="vc").value
    text = f"9 settings: at most 2 d (m + 1) labellings by thresholds; 1,000 rows, 20 columns: penalty {penalty:.3f}"
    return Evidence(text, counterexamples)


@claim(
    place="Equation 12.2",
    library="pruners.srm_penalty",
    says="With some c > 1, the penalty makes every subtree that is kept better than its leaf.",
)
def penalty_makes_kept_subtrees_better() -> Evidence:
    def counterexamples(c: float) -> Iterator[str]:
        """Yield settings in which the penalty is smaller than the deviations of the tree and of the leaf together."""
        for m, depth, n_tests in product((100, 1_000), (0, 2, 5), (2, 20)):
            log_paths = depth * math.log(2 * n_tests)
            log_trees, log_leaves = math.log(n_tests) + 2 * math.log(2), math.log(2)
            of_tree, of_leaf = (
                math.sqrt((log_paths + log_number + math.log(m / 0.05)) / m) for log_number in (log_trees, log_leaves)
            )
            if c * of_tree < of_tree + of_leaf:
                yield f"c = {c}, {m} examples: {c * of_tree:.3f} against deviations {of_tree:.3f} + {of_leaf:.3f}"

    ours = srm_penalty(1000, 0, 1, n_tests=20)[2]
    text = f"12 settings; the explicit penalty of the library at 1,000 examples is {ours:.3f}"
    return Evidence(
        text, counterexamples(1.5), "c = 2: the tree's deviation and the leaf's", counterexamples(N_DEVIATIONS)
    )


@claim(
    place="section 12.2.3",
    library="pruners.srm_penalty",
    says="There are 2^(l - 1) C(n, l) <= n^l conjunctions of l of n tests.",
)
def number_of_conjunctions() -> Evidence:
    n, length = 4, 2
    exact = len(list(product(combinations(range(n), length), product((0, 1), repeat=length))))
    chosen = math.comb(n, length)
    text = f"{exact}, printed {2 ** (length - 1) * chosen} <= {n**length}"
    return Evidence(
        "4 tests, 2 of them, each yes or no",
        counterexample_unless(exact <= n**length, text),
        "2^l C(n, l) <= (2n)^l",
        counterexample_unless(exact == 2**length * chosen <= (2 * n) ** length),
    )


@claim(
    place="section 12.2.3",
    library="pruners.srm_penalty",
    says="There are at most (c, d)^n trees of n nodes over d tests.",
)
def number_of_trees() -> Evidence:
    counterexamples = []
    for n_internal, d in product(range(1, 9), (1, 2, 10)):
        n_leaves = n_internal + 1
        n_shapes = math.comb(2 * n_internal, n_internal) // n_leaves  # a Catalan number
        n_trees = n_shapes * d**n_internal * 2**n_leaves
        if n_trees > (TREES_PER_TEST * d) ** (n_internal + n_leaves):
            counterexamples.append(f"{n_internal} tests of {d}")
    return Evidence("Catalan numbers times tests times labels, read as (c d)^n with c = 4", counterexamples)


@claim(
    place="Lemma 12.2, Equations 12.3 to 12.7",
    library="statistics.tails",
    says="Pr[|error - sample error| >= x] <= exp(-x^2 m).",
)
def deviation_of_the_sample_error() -> Evidence:
    def counterexamples(least: float) -> Iterator[str]:
        for m, p, x in product((1, 2, 5, 20, 60), (0.1, 0.3, 0.5), (0.1, 0.2, 0.3, 0.5)):
            tail = sum(math.comb(m, k) * p**k * (1 - p) ** (m - k) for k in range(m + 1) if abs(k / m - p) >= x - 1e-12)
            if x * x * m >= least and tail > math.exp(-x * x * m) + 1e-12:
                yield f"m = {m}, p = {p}, x = {x}: {tail:.3f} > {math.exp(-x * x * m):.3f}"

    return Evidence(
        "60 settings",
        counterexamples(0),
        "where x^2 m >= ln 2 (Hoeffding: 2 exp(-2 x^2 m))",
        counterexamples(LEAST_EXPONENT_OF_LEMMA_12_2),
    )


@claim(
    place="Lemma 12.3",
    library="pruners.bottom_up_srm; secateur reproduce srm",
    says="With probability 1 - delta, the result is contained in the best pruning.",
)
def bottom_up_result_lies_in_the_best_pruning() -> Evidence:
    n_outside, n_leaves = 0, []
    for seed in range(10):
        pruning, best, _ = _prune_on_concept(16_000, 2, seed)
        n_outside += not pruning <= best
        n_leaves.append(pruning.n_leaves)
    return Evidence(
        f"10 samples of 16,000 of known concepts, {min(n_leaves)} to {max(n_leaves)} leaves; 360 in the experiment",
        counterexample_unless(n_outside == 0, f"{n_outside} of 10"),
    )


def _prune_on_concept(n: int, noise_tenths: int, seed: int) -> tuple[Pruning, Pruning, Counts]:
    """Return the bottom-up SRM pruning and the best pruning of a tree grown on a concept, and its exact counts."""
    random = np.random.default_rng(seed)
    concept = Concept.generate(noise_tenths, random)
    tree, counts = grow(concept.draw(n, random))
    truth = concept.exact_counts(tree)
    return bottom_up_srm(tree, counts), reduced_error(tree, counts, truth), truth


@claim_by_search(
    place="Lemma 12.4, Equations 12.10 and 12.11",
    library="statistics.tails",
    says="Pr[sample share <= p/2] <= exp(-pm / 12).",
    checked="12 settings",
)
def lower_tail_of_the_sample_share() -> Iterator[str]:
    for m, p in product((20, 50, 200), (0.05, 0.2, 0.5, 0.9)):
        tail = sum(math.comb(m, k) * p**k * (1 - p) ** (m - k) for k in range(math.floor(p * m / 2) + 1))
        if tail > math.exp(-p * m / RATE_OF_LEMMA_12_4):
            yield f"m = {m}, p = {p}"


@claim(
    place="Equations 12.13 to 12.18, Theorem 12.5",
    library="analysis.srm_excess_bound; secateur reproduce srm (table guarantee)",
    says="The error exceeds that of the best pruning by at most O(... sqrt(s/m)).",
)
def excess_over_the_best_pruning() -> Evidence:
    """Compare the excess with the bound, and how both fall as the sample grows.

    The bound is far above the excess, and above 1 on samples of this size. A rule could be much worse and still
    respect it, but its excess would not fall as fast.
    """
    counterexamples, excesses, bounds = [], [], []
    for seed in range(3):
        by_size = [_excess_and_bound(n, seed) for n in (8_000, 128_000)]
        (small, small_bound), (large, large_bound) = by_size
        if small > small_bound or large > large_bound or large / small > large_bound / small_bound:
            counterexamples.append(f"concept {seed}: excess {small:.3f} to {large:.3f}")
        excesses.append((small, large))
        bounds.append((small_bound, large_bound))
    (small, large), (small_bound, large_bound) = np.mean(excesses, axis=0), np.mean(bounds, axis=0)
    text = f"the excess falls from {small:.3f} to {large:.3f}, the bound from {small_bound:.1f} to {large_bound:.1f}"
    return Evidence(f"3 concepts, 8,000 and 128,000 rows: {text}", counterexamples)


def _excess_and_bound(n: int, seed: int) -> tuple[float, float]:
    """Return the error of bottom-up SRM pruning above that of the best pruning, and the bound on this excess."""
    pruning, best, truth = _prune_on_concept(n, 1 + seed // 2, seed)
    excess = (pruning.errors(truth) - best.errors(truth)) / truth.total[0]
    depth = int(best.tree.depth[best.leaves].max())
    return float(excess), analysis.srm_excess_bound(n, best.n_nodes, depth, n_tests=N_ATTRIBUTES)
