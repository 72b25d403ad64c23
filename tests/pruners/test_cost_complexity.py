"""Cost-complexity families against enumeration, for additive, concave and other penalties."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nine_tests import NODE_OF_NAME, nine_tests
from oracles import all_prunings, keep_vector, n_nodes_of
from secateur import Counts, Tree
from secateur._kernels.weakest_link import collapse_events, nested_steps
from secateur.errors import ParameterError
from secateur.pruners import best_of_size, cost_complexity, printed_cost_complexity
from strategies import counts as draw_counts
from strategies import trees, trees_with_counts


def prunings_with_numbers(tree, cost, size="leaves"):
    """(cost, size, leaf set) of every pruning."""
    measure = len if size == "leaves" else lambda leaves: n_nodes_of(tree, leaves)
    return [(sum(cost[v] for v in leaves), measure(leaves), leaves) for leaves in all_prunings(tree)]


def smallest_minimiser(prunings, alpha, penalty):
    """The leaf set; `penalty` gives exact or real numbers."""
    value = {leaves: total + alpha * penalty(size) for total, size, leaves in prunings}
    least = min(value.values())
    slack = 0 if isinstance(least, (int, Fraction)) else 1e-9 * max(abs(least), 1)
    return min((size, leaves) for _, size, leaves in prunings if value[leaves] <= least + slack)


def family_by_sizes(prunings, penalty):
    """Sizes of the family by the definition: from size k to the smallest j of least slope."""
    least = {}
    for total, size, _ in prunings:
        least[size] = min(least.get(size, total), total)
    k = min(size for size, total in least.items() if total == min(least.values()))
    sizes, alphas = [k], [0]
    while k > 1:
        slope = {j: (least[j] - least[k]) / (penalty(k) - penalty(j)) for j in least if j < k}
        low = min(slope.values())
        k = min(j for j in slope if slope[j] <= low * (1 + 1e-12))
        sizes.append(k)
        alphas.append(low)
    return sizes, alphas


@st.composite
def trees_with_costs(draw, max_cost=6, max_internal=5):
    tree = draw(trees(max_internal=max_internal))
    return tree, np.array(draw(st.lists(st.integers(0, max_cost), min_size=tree.n_nodes, max_size=tree.n_nodes)))


def test_the_penalties_at_which_the_nine_tests_would_open_and_collapse():
    tree, counts = nine_tests()
    cost = counts.errors_if_leaf(counts.majority)
    gain, size, owner = collapse_events(tree.parent, np.maximum(tree.arity.astype(np.int64) - 1, 0), cost)
    opens = {name: Fraction(int(gain[v]), int(size[v])) for name, v in NODE_OF_NAME.items()}
    collapses = {
        name: opens[next(n for n, u in NODE_OF_NAME.items() if u == owner[v])] for name, v in NODE_OF_NAME.items()
    }
    half, third = Fraction(1, 2), Fraction(1, 3)
    assert opens == {"A": 3 * half, "B": 1, "C": half, "D": third, "E": half, "F": half, "G": 1, "H": 1, "I": 1}
    assert collapses == {
        "A": 3 * half,
        "B": 1,
        "D": third,
        "I": third,
        **dict.fromkeys("CEFGH", half),
    }


def test_the_path_of_the_nine_test_tree():
    path = cost_complexity(*nine_tests())
    assert path.alphas.tolist() == [0, 1 / 3, 1 / 2, 1, 3 / 2]
    assert path.n_leaves.tolist() == [15, 12, 4, 3, 1]
    assert path.errors.tolist() == [0, 1, 5, 6, 9]
    assert path.nested
    assert [path.at(a).n_leaves for a in (0, 0.3, 1 / 3, 0.4999, 0.5, 100)] == [15, 15, 12, 12, 4, 1]


def test_the_square_root_path_of_the_nine_test_tree():
    path = cost_complexity(*nine_tests(), penalty="sqrt")
    assert path.n_leaves.tolist() == [15, 12, 4, 3, 1]
    assert path.alphas == pytest.approx([0, 2.44569, 2.73205, 3.73205, 4.09808], abs=1e-5)


def test_equal_ratios_go_to_the_smallest_size_at_once():
    tree = Tree.from_parents([-1, 0, 0, 2, 2])
    path = cost_complexity(tree, Counts.from_leaves(tree, [[0, 1], [2, 0], [0, 1]]))
    assert (path.n_leaves.tolist(), path.alphas.tolist()) == ([3, 1], [0, 1])


def test_a_subadditive_penalty_can_leave_the_additive_family():
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    counts = Counts.from_leaves(tree, [[2, 1], [0, 2], [2, 0], [0, 1]])

    def phi(j):
        return [1, 1.9, 2][(j - 1) % 3] + 2 * ((j - 1) // 3)

    assert all(phi(i + j) <= phi(i) + phi(j) for i in range(1, 9) for j in range(1, 9))
    assert cost_complexity(tree, counts).n_leaves.tolist() == [4, 1]
    assert cost_complexity(tree, counts, penalty=phi).n_leaves.tolist() == [4, 3, 1]
    cost = counts.errors_if_leaf(counts.majority)
    of_three = [total for total, size, _ in prunings_with_numbers(tree, cost) if size == 3]
    assert of_three == [2, 2]


def test_a_convex_penalty_leaves_the_additive_family_and_nesting():
    tree, counts = nine_tests()
    path = cost_complexity(tree, counts, penalty=lambda j: j * j)
    members = list(path)
    is_nested = all(b <= a for a, b in itertools.pairwise(members))
    assert not set(path.n_leaves.tolist()) <= set(cost_complexity(tree, counts).n_leaves.tolist())
    assert path.nested == is_nested == False  # noqa: E712
    sizes, alphas = family_by_sizes(
        prunings_with_numbers(tree, counts.errors_if_leaf(counts.majority).tolist()), lambda j: j * j
    )
    assert path.n_leaves.tolist() == sizes
    assert path.alphas == pytest.approx(alphas)


@given(trees_with_counts())
def test_every_node_opens_at_the_enumerated_maximum(case):
    tree, counts = case
    cost = counts.errors_if_leaf(counts.majority)
    gain, size, _ = collapse_events(tree.parent, np.maximum(tree.arity.astype(np.int64) - 1, 0), cost)
    for v in tree.internal.tolist():
        best = max(
            Fraction(int(cost[v] - sum(cost[u] for u in leaves)), len(leaves) - 1)
            for leaves in all_prunings(tree, v)
            if len(leaves) > 1
        )
        assert Fraction(int(gain[v]), int(size[v])) == best


@pytest.mark.parametrize("size", ["leaves", "nodes"])
@given(data=st.data())
def test_at_and_between_thresholds_the_member_is_the_smallest_minimiser(size, data):
    tree, cost = data.draw(trees_with_costs())
    path = cost_complexity(tree, None, cost=cost, size=size)
    prunings = prunings_with_numbers(tree, cost.tolist(), size)
    # The thresholds as exact ratios: of neighbouring members.
    sizes = [p.n_leaves if size == "leaves" else p.n_nodes for p in path]
    errors = path.errors.tolist()
    exact = [Fraction(0)] + [Fraction(errors[i + 1] - errors[i], sizes[i] - sizes[i + 1]) for i in range(len(path) - 1)]
    assert [float(a) for a in exact] == path.alphas.tolist()
    assert all(a < b for a, b in itertools.pairwise(exact))
    middles = [(a + b) / 2 for a, b in zip(exact, [*exact[1:], exact[-1] + 2], strict=True)]
    for i, pruning in enumerate(path):
        for alpha in (exact[i], middles[i]):
            _, leaves = smallest_minimiser(prunings, alpha, lambda j: j)
            assert set(pruning.leaves.tolist()) == leaves


@given(trees_with_counts())
def test_collapsing_penalties_never_rise_downwards_and_members_are_nested(case):
    tree, counts = case
    path = cost_complexity(tree, counts)
    assert (path.steps[1:] <= path.steps[tree.parent[1:]]).all()
    assert len(path) <= tree.n_leaves
    members = list(path)
    assert all(b <= a and b.n_leaves < a.n_leaves for a, b in itertools.pairwise(members))
    assert [p.errors(counts) for p in members] == path.errors.tolist()
    assert members[-1].n_leaves == 1


CONCAVE = {
    "sqrt": math.sqrt,
    "log": math.log,
    "sqrt(2j - 1)": lambda j: math.sqrt(2 * j - 1),
    "j^0.9": lambda j: j**0.9,
    "2j": lambda j: 2 * j,
}


@pytest.mark.parametrize("name", CONCAVE)
@pytest.mark.parametrize("size", ["leaves", "nodes"])
@given(data=st.data())
def test_a_concave_penalty_takes_its_members_from_the_additive_family(name, size, data):
    tree, cost = data.draw(trees_with_costs())
    penalty = name if name in ("sqrt", "log") else CONCAVE[name]
    path = cost_complexity(tree, None, cost=cost, penalty=penalty, size=size)
    additive = cost_complexity(tree, None, cost=cost, size=size)
    assert path.steps is not None
    prunings = prunings_with_numbers(tree, cost.tolist(), size)
    sizes, alphas = family_by_sizes(prunings, CONCAVE[name])
    assert [p.n_leaves if size == "leaves" else p.n_nodes for p in path] == sizes
    assert path.alphas == pytest.approx(alphas)
    assert {p.is_leaf.tobytes() for p in path} <= {p.is_leaf.tobytes() for p in additive}


@pytest.mark.lane
@pytest.mark.parametrize("size", ["leaves", "nodes"])
@given(data=st.data())
def test_other_penalties_follow_the_definition_and_say_whether_they_are_nested(size, data):
    tree, cost = data.draw(trees_with_costs())
    rises = data.draw(st.lists(st.integers(1, 9), min_size=tree.n_nodes, max_size=tree.n_nodes))
    values = np.cumsum(rises)
    path = cost_complexity(tree, None, cost=cost, size=size, penalty=lambda j: values[np.asarray(j) - 1])
    prunings = prunings_with_numbers(tree, cost.tolist(), size)
    sizes, alphas = family_by_sizes(prunings, lambda j: int(values[j - 1]))
    members = list(path)
    assert [p.n_leaves if size == "leaves" else p.n_nodes for p in members] == sizes
    assert path.n_leaves.tolist() == [p.n_leaves for p in members]
    assert path.alphas == pytest.approx(alphas)
    assert path.nested == all(b <= a for a, b in itertools.pairwise(members))
    for pruning, n in zip(members, sizes, strict=True):
        same = [(total, [not k for k in keep_vector(tree, leaves)], leaves) for total, s, leaves in prunings if s == n]
        assert set(pruning.leaves.tolist()) == min(same, key=lambda x: x[:2])[2]


@given(trees_with_counts(), st.integers(2, 6))
def test_thresholds_scale_with_the_cost(case, factor):
    tree, counts = case
    once = cost_complexity(tree, counts)
    scaled = cost_complexity(tree, Counts(tree, counts.by_class * factor))
    assert scaled.alphas == pytest.approx(once.alphas * factor)
    assert scaled.steps.tolist() == once.steps.tolist()


@pytest.mark.lane
@given(st.data())
def test_real_costs_give_the_family_of_whole_ones(data):
    tree, cost = data.draw(trees_with_costs())
    integer_result, real = cost_complexity(tree, None, cost=cost), cost_complexity(tree, None, cost=cost * 0.1)
    assert real.steps.tolist() == integer_result.steps.tolist()
    assert real.alphas == pytest.approx(integer_result.alphas * 0.1)
    assert "1e-12" in real.rule


@given(st.data())
def test_held_out_errors_of_all_members_come_from_one_pass(data):
    tree, grown, held = data.draw(trees_with_counts(samples=("grow", "prune")))
    weighted = Counts(tree, held.by_class * 0.25, sample="prune")
    path = cost_complexity(tree, grown)
    assert path.errors_on(held).tolist() == [p.errors(held) for p in path]
    assert path.errors_on(weighted) == pytest.approx([p.errors(weighted) for p in path])


@given(st.data())
def test_splits_that_hurt_on_held_out_costs_are_gone_in_the_first_member(data):
    tree = data.draw(trees())
    grown, held = data.draw(draw_counts(tree)), data.draw(draw_counts(tree, "prune"))
    cost = held.errors_if_leaf(grown.majority)
    first = cost_complexity(tree, grown, cost=cost)[0]
    _, leaves = smallest_minimiser(prunings_with_numbers(tree, cost.tolist()), Fraction(0), lambda j: j)
    assert set(first.leaves.tolist()) == leaves


def test_large_counts_are_compared_exactly():
    # Ratios (2^45 + 1) / 1 and 2^46 / 2 ... differ by less than a float can tell from their sums.
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    big = 2**56
    near = cost_complexity(tree, None, cost=np.array([2 * big + 1, big, 0, 0, 0]))
    equal = cost_complexity(tree, None, cost=np.array([2 * big, big, 0, 0, 0]))
    assert (near.n_leaves.tolist(), near.errors.tolist()) == ([3, 2, 1], [0, big, 2 * big + 1])
    assert equal.n_leaves.tolist() == [3, 1]


@given(st.lists(st.tuples(st.integers(-(2**60), 2**60), st.integers(1, 2**20)), min_size=1, max_size=8), st.data())
def test_ratios_are_ranked_exactly(pairs, data):
    pairs += [(p * k, q * k) for p, q in pairs for k in [data.draw(st.integers(1, 3))] if abs(p * k) < 2**62]
    owner = np.arange(len(pairs), dtype=np.int32)
    rank, values = nested_steps(
        np.array([p for p, _ in pairs]), np.array([q for _, q in pairs]), owner, includes_useless=True
    )
    exact = [Fraction(p, q) for p, q in pairs]
    rising = sorted(set(exact))
    assert [rising[r] for r in rank] == exact
    assert values.tolist() == [float(x) for x in rising]


@pytest.mark.large
@pytest.mark.parametrize("heavy_first", [True, False])
def test_a_chain_of_depth_100_000_takes_less_than_a_second(heavy_first):
    n = 100_000
    if heavy_first:
        tree = Tree(np.array([*range(-1, n), *range(n - 1, -1, -1)], np.int32))
    else:
        tree = Tree.from_parents(np.append(-1, np.repeat(np.arange(0, 2 * n, 2), 2)))
    counts = Counts.from_leaves(tree, np.random.default_rng(0).integers(0, 3, (tree.n_leaves, 2)))
    cost_complexity(*nine_tests())
    began = time.process_time()
    path = cost_complexity(tree, counts)
    assert time.process_time() - began < 1
    assert path.n_leaves[-1] == 1


def test_a_single_leaf_is_the_only_member_of_its_sequence():
    tree = Tree.from_parents([-1])
    for penalty in ("leaves", "sqrt", lambda j: j**2):
        path = cost_complexity(tree, Counts(tree, [[1, 2]]), penalty=penalty)
        assert (path.n_leaves.tolist(), path.alphas.tolist()) == ([1], [0])


def test_a_penalty_of_one_number_at_a_time_is_taken():
    tree, counts = nine_tests()
    path = cost_complexity(tree, counts, penalty=math.sqrt)
    assert path.alphas == pytest.approx(cost_complexity(tree, counts, penalty="sqrt").alphas)


@pytest.mark.parametrize(
    ("penalty", "says"),
    [
        (lambda j: np.minimum(j, 7), r"penalty\(7\) = 7 and penalty\(8\) = 7; a penalty must rise"),
        (lambda j: 1 / (np.asarray(j) - 4.5), r"penalty\(1\)"),
        (lambda j: np.where(np.asarray(j) > 3, np.inf, j), r"penalty\(4\) is inf"),
        (lambda j: "much", "one number per size"),
        ("leafs", "penalty='leafs'"),
    ],
)
def test_a_penalty_that_does_not_rise_is_refused_with_the_place(penalty, says):
    with pytest.raises(ParameterError, match=says):
        cost_complexity(*nine_tests(), penalty=penalty)


def test_an_unknown_size_is_refused():
    with pytest.raises(ParameterError, match="size='depth'"):
        cost_complexity(*nine_tests(), size="depth")


@pytest.mark.parametrize("alpha", [-1.0, float("nan")])
def test_a_penalty_below_zero_or_nan_is_refused(alpha):
    with pytest.raises(ParameterError, match="alpha="):
        cost_complexity(*nine_tests()).at(alpha)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_costs_that_are_negative_or_not_finite_are_refused(bad):
    tree, counts = nine_tests()
    cost = np.ones(tree.n_nodes)
    cost[3] = bad
    with pytest.raises(ParameterError, match="cost of node 3"):
        cost_complexity(tree, counts, cost=cost)


def test_the_printed_listing_repeats_thresholds_where_the_family_has_one():
    tree = Tree.from_parents([-1, 0, 0, 2, 2])
    counts = Counts.from_leaves(tree, [[0, 1], [2, 0], [0, 1]])

    printed = printed_cost_complexity(tree, counts)

    assert (printed.n_leaves.tolist(), printed.alphas.tolist()) == ([3, 2, 1], [0, 1, 1])
    assert cost_complexity(tree, counts).n_leaves.tolist() == [3, 1]


@given(trees_with_counts())
def test_the_printed_listing_holds_the_additive_family_and_only_optimal_trees(case):
    tree, counts = case
    printed, family = printed_cost_complexity(tree, counts), cost_complexity(tree, counts)
    best = dict(
        zip(best_of_size(tree, counts).n_leaves.tolist(), best_of_size(tree, counts).errors.tolist(), strict=True)
    )

    assert set(family.n_leaves.tolist()) <= set(printed.n_leaves.tolist())
    assert [best[j] for j in printed.n_leaves.tolist()] == printed.errors.tolist()
    assert all(member.errors(counts) == errors for member, errors in zip(printed, printed.errors.tolist(), strict=True))


def test_a_penalty_that_is_barely_convex_is_not_taken_for_a_concave_one():
    tree, counts = nine_tests()
    cost = counts.errors_if_leaf(counts.majority)
    for unit in (1, 0.1):
        path = cost_complexity(tree, None, cost=cost * unit, penalty=lambda j: j * (j + 1) // 2)
        sizes, alphas = family_by_sizes(prunings_with_numbers(tree, cost.tolist()), lambda j: j * (j + 1) // 2)
        assert path.n_leaves.tolist() == sizes
        assert path.alphas == pytest.approx(np.array(alphas, float) * unit)


def test_real_costs_that_differ_by_rounding_are_equal_in_the_table_too():
    tree = Tree.from_parents([-1, 0, 0])
    cost = 1e6 * np.array([0.1 + 0.2, 0.3, 0.0])
    assert cost[0] > cost[1]
    assert cost_complexity(tree, None, cost=cost, penalty=lambda j: j * j).n_leaves.tolist() == [1]


def test_the_printed_listing_follows_its_words_and_does_not_claim_to_be_nested():
    tree, counts = nine_tests()
    path = printed_cost_complexity(tree, counts)
    best = {}
    for total, size, _ in prunings_with_numbers(tree, counts.errors_if_leaf(counts.majority).tolist()):
        best[size] = min(total, best.get(size, total))
    sizes, alphas = [min(size for size in best if best[size] == min(best.values()))], [Fraction(0)]
    while sizes[-1] > 1:
        ratios = {j: Fraction(best[j] - best[sizes[-1]], sizes[-1] - j) for j in best if j < sizes[-1]}
        alphas.append(min(ratios.values()))
        sizes.append(max(j for j in ratios if ratios[j] == alphas[-1]))
    assert path.n_leaves.tolist() == sizes
    assert path.alphas.tolist() == [float(alpha) for alpha in alphas]
    assert not path.nested


def test_a_penalty_that_fails_or_gives_no_numbers_is_refused():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[3, 1], [1, 3]])

    def fails(size):
        raise ValueError(f"no penalty for {size}")

    with pytest.raises(ParameterError, match="penalty fails for a size"):
        cost_complexity(tree, counts, penalty=fails)
    with pytest.raises(ParameterError, match="one number per size is needed"):
        cost_complexity(tree, counts, penalty=lambda size: "ab")
