"""The set of all prunings within a budget of the best, against enumeration."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alternatives_cases import columns_of, kept_nodes, members_by_enumeration, random_counts, random_tree
from oracles import all_prunings
from secateur import Counts, Moments, Tree, alternatives, count, grow
from secateur.analysis import Alternatives
from secateur.certifiers import count_prunings
from secateur.errors import CountsError, ParameterError, PruningError, UnsupportedError

pytestmark = pytest.mark.lane


def cases(seed, n, *, has_limit=False, max_splits=6):
    """Yield random (tree, grown, held, within, max_leaves); the limit is None unless `has_limit`."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        tree = random_tree(rng, int(rng.integers(max_splits + 1)))
        n_classes = int(rng.integers(2, 5))
        grown = random_counts(rng, tree, "grow", n_classes)
        held = random_counts(rng, tree, "prune", n_classes)
        limit = int(rng.integers(1, tree.n_leaves + 2)) if has_limit else None
        yield tree, grown, held, int(rng.integers(7)), limit


def enumerated_cases(seed, n, *, has_limit=False, max_splits=6):
    """Yield random sets of prunings with their members by enumeration; sets without members are refused, not yielded."""
    for tree, grown, held, within, limit in cases(seed, n, has_limit=has_limit, max_splits=max_splits):
        cost = held.errors_if_leaf(grown.majority)
        expected = members_by_enumeration(tree, cost, within, limit)
        if expected:
            yield alternatives(tree, grown, held, within=within, max_leaves=limit), expected, cost
        else:
            smallest = min(len(leaves) for leaves in members_by_enumeration(tree, cost, within))
            with pytest.raises(PruningError, match=f"pass max_leaves={smallest} or more"):
                alternatives(tree, grown, held, within=within, max_leaves=limit)


def leaves_of(pruning):
    return frozenset(pruning.leaves.tolist())


def test_numbers_are_those_of_a_thousand_enumerated_sets():
    for members, expected, _ in enumerated_cases(0, 1_000):
        assert members.count() == len(expected)
        assert members.log_count == pytest.approx(math.log(len(expected)), abs=1e-12)


def test_numbers_with_a_limit_on_the_leaves_are_those_of_enumeration():
    for members, expected, _ in enumerated_cases(1, 600, has_limit=True):
        assert members.count() == len(expected)
        assert members.log_count == pytest.approx(math.log(len(expected)), abs=1e-12)


@pytest.mark.parametrize("has_limit", [False, True])
def test_node_shares_are_those_of_enumeration(has_limit):
    for members, expected, _ in enumerated_cases(2, 300, has_limit=has_limit):
        n_nodes, n = members.tree.n_nodes, len(expected)
        n_split = Counter(v for leaves in expected for v in kept_nodes(members.tree, leaves))
        n_leaf = Counter(v for leaves in expected for v in leaves)

        assert members.node_shares == pytest.approx([n_split[v] / n for v in range(n_nodes)], abs=1e-13)
        assert members.leaf_shares == pytest.approx([n_leaf[v] / n for v in range(n_nodes)], abs=1e-13)
        for shares, number in ((members.node_shares, n_split), (members.leaf_shares, n_leaf)):
            assert [v for v in range(n_nodes) if shares[v] == 1] == [v for v in range(n_nodes) if number[v] == n]
            assert [v for v in range(n_nodes) if shares[v] == 0] == [v for v in range(n_nodes) if number[v] == 0]


@pytest.mark.parametrize("has_limit", [False, True])
def test_columns_are_those_of_enumeration(has_limit):
    for members, expected, cost in enumerated_cases(3, 300, has_limit=has_limit):
        tree, n = members.tree, len(expected)
        n_using = Counter(column for leaves in expected for column in columns_of(tree, leaves))
        columns = tree.tested_columns.tolist()

        assert members.column_shares == pytest.approx({f"x{c}": n_using[c] / n for c in columns}, abs=1e-13)
        assert set(members.essential_columns) == {f"x{c}" for c in columns if n_using[c] == n}
        assert set(members.dispensable_columns) == {f"x{c}" for c in columns if n_using[c] < n}
        for c in columns:
            without = [leaves for leaves in expected if c not in columns_of(tree, leaves)]
            if not without:
                with pytest.raises(PruningError, match=f"every member uses 'x{c}'"):
                    members.without(f"x{c}")
                continue
            found = leaves_of(members.without(f"x{c}"))
            assert found in without
            assert rank(found, cost) == min(rank(leaves, cost) for leaves in without)


def rank(leaves, cost):
    return sum(int(cost[v]) for v in leaves), len(leaves)


@pytest.mark.parametrize("has_limit", [False, True])
def test_extremes_are_those_of_enumeration(has_limit):
    rng = np.random.default_rng(4)
    for members, expected, cost in enumerated_cases(4, 200, has_limit=has_limit):
        tree = members.tree
        whole, real = rng.integers(9, size=tree.n_nodes), rng.random(tree.n_nodes)
        other = random_counts(rng, tree, "other")
        on_other = other.unrecorded_errors_if_leaf(members.node_labels)
        for found, node_value in (
            (members.extremes(), np.ones(tree.n_nodes, int)),
            (members.extremes(whole), whole),
            (members.extremes(real), real),
            (members.extremes(other), on_other),
        ):
            values = {leaves: sum(node_value[v] for v in leaves) for leaves in expected}
            assert found.least == pytest.approx(min(values.values()), abs=1e-12)
            assert found.greatest == pytest.approx(max(values.values()), abs=1e-12)
            assert values[leaves_of(found.least_member)] == pytest.approx(found.least, abs=1e-12)
            assert values[leaves_of(found.greatest_member)] == pytest.approx(found.greatest, abs=1e-12)
        for column in tree.tested_columns.tolist():
            uses = [sum(tree.feature[v] == column for v in kept_nodes(tree, leaves)) for leaves in expected]
            found = members.extremes(column=f"x{column}")
            assert (found.least, found.greatest) == (min(uses), max(uses))
        assert members.n_leaves == (min(map(len, expected)), max(map(len, expected)))
        assert rank(leaves_of(members.best), cost) == min(rank(leaves, cost) for leaves in expected)
        smallest = min((len(leaves), *rank(leaves, cost)) for leaves in expected)
        assert (members.smallest().n_leaves, members.smallest().cost(cost)) == smallest[:2]


@given(st.integers(0, 10**6))
def test_given_costs_and_costs_of_one_sample_count_alike(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 5)
    grown = random_counts(rng, tree, "grow", 3)
    errors = np.asarray(grown.resubstitution_costs)
    members = alternatives(tree, grown, within=3)

    assert members.count() == len(members_by_enumeration(tree, errors, 3))
    assert alternatives(tree, None, cost=errors, within=3).count() == members.count()
    # A common factor of all costs changes nothing if the budget has it, too.
    assert alternatives(tree, None, cost=7_000_000 * errors, within=7_000_000 * 3 + 5).count() == members.count()
    assert alternatives(tree, None, cost=errors.astype(float), within=3).count() == members.count()


def test_random_members_are_uniform():
    tree = Tree.from_parents([-1, 0, 1, 1, 2, 2, 1, 0, 7, 7, 7])
    held = Counts.from_leaves(tree, [[3, 1], [1, 2], [1, 0], [0, 1], [2, 2], [1, 0], [0, 0]])
    for limit, n in ((None, 8_000), (6, 4_000)):
        members = alternatives(tree, held, within=3, max_leaves=limit)
        expected = members_by_enumeration(tree, members.node_cost, 3, limit)
        drawn = Counter(leaves_of(member) for member in members.sample(n, random_state=0))
        assert set(drawn) == set(expected)
        assert len(expected) > 4
        mean = n / len(expected)
        chi_square = sum((number - mean) ** 2 / mean for number in drawn.values())
        # Mean and variance of chi-square are its degrees of freedom and twice as many.
        degrees = len(expected) - 1
        assert chi_square < degrees + 5 * math.sqrt(2 * degrees)


def test_random_members_follow_the_seed():
    tree = random_tree(np.random.default_rng(0), 12)
    members = alternatives(tree, random_counts(np.random.default_rng(1), tree, "grow"), within=9)

    def digests(random_state):
        return [member.digest for member in members.sample(20, random_state)]

    assert digests(5) == digests(5) != digests(6)
    assert digests(np.random.default_rng(5)) == digests(np.random.default_rng(5))
    assert members.sample(0) == []
    generator = np.random.default_rng(5)
    assert [m.digest for m in members.sample(20, generator)] != [m.digest for m in members.sample(20, generator)]


def test_class_shares_of_rows_are_those_of_enumeration():
    rng = np.random.default_rng(7)
    X = rng.integers(5, size=(60, 3)).astype(float)
    y = rng.integers(3, size=60)
    tree, grown = grow(X[:30], y[:30], growth="best-first", max_splits=7, min_samples_leaf=2)
    held = count(tree, X[30:], y[30:])
    members = alternatives(tree, grown, held, within=2)
    expected = members_by_enumeration(tree, members.node_cost, 2)
    leaf_of_row = [leaf_of(tree, row) for row in X]
    shares = np.zeros((len(X), 3))
    for leaves in expected:
        for row, leaf in enumerate(leaf_of_row):
            shares[row, grown.majority[node_on_path(tree, leaves, leaf)]] += 1 / len(expected)
    best = [grown.majority[node_on_path(tree, leaves_of(members.best), leaf)] for leaf in leaf_of_row]

    assert members.class_shares(X) == pytest.approx(shares)
    assert members.ambiguity(X) == pytest.approx(1 - shares[np.arange(len(X)), best], abs=1e-12)
    assert 0 < members.ambiguity(X).max() < 1


def leaf_of(tree, row):
    v = 0
    while not tree.is_leaf[v]:
        first, second = tree.children(v)
        v = first if row[tree.feature[v]] <= tree.threshold[v] else second
    return v


def node_on_path(tree, leaves, v):
    while v not in leaves:
        v = int(tree.parent[v])
    return v


def complete_tree(depth):
    """Return the complete binary tree of a depth."""
    parent = [-1]
    for v in range(2**depth - 1):
        parent += [v, v]
    return Tree.from_parents(parent)


def test_numbers_far_beyond_floats_are_exact():
    tree = complete_tree(17)
    empty = Counts.from_leaves(tree, np.zeros((tree.n_leaves, 2), int))
    members = alternatives(tree, empty, within=0)  # all prunings tie
    assert members.log_count / math.log(10) > 20_000
    assert members.log_count == pytest.approx(count_prunings(tree, log=True), rel=1e-12)
    # At least half of all prunings of a subtree split a node whose subtree has more than 2 prunings.
    assert members.node_shares[0] == np.nextafter(1.0, 0.0)
    assert members.leaf_shares[0] == math.ulp(0.0)

    smaller = complete_tree(12)
    members = alternatives(smaller, Counts.from_leaves(smaller, np.zeros((smaller.n_leaves, 2), int)), within=0)
    assert members.count() == count_prunings(smaller)


def unlocking_forest(n_subtrees, depth):
    """Return a root with subtrees whose first split costs 1 and unlocks a tied complete tree, and its node costs."""
    block = complete_tree(depth)
    parent, cost = [-1], [10**6]
    for _ in range(n_subtrees):
        first = len(parent)
        parent += [0, *(block.parent[1:] + first).tolist()]
        # The complete tree below costs 1 more than the subtree as a leaf, wherever it is cut.
        at_leaf = 2.0 ** -block.depth.astype(float) * 2**depth
        cost += [2**depth - 1, *at_leaf[1:].astype(int).tolist()]
    return Tree(np.array(parent)), np.array(cost)


@pytest.mark.parametrize("depth", [5, 10, 12])
def test_tables_wider_than_the_range_of_floats_are_exact(depth):
    # With depth 10, an excess of 1 multiplies the number of prunings by 10^181; with depth 12, by 10^725.
    tree, cost = unlocking_forest(3, depth)
    n_unlocked = count_prunings(complete_tree(depth)) - 1
    members = alternatives(tree, None, cost=cost, within=2)
    expected = sum(math.comb(3, j) * n_unlocked**j for j in range(3))
    share = Fraction(n_unlocked + 2 * n_unlocked**2, expected)  # of members that split the first subtree

    assert members.count() == expected
    assert members.log_count == pytest.approx(math.log(expected), rel=1e-12)
    assert members.node_shares[1] == pytest.approx(float(share), rel=1e-12)
    assert members.leaf_shares[1] == pytest.approx(float(1 - share), rel=1e-12)
    n_split = [int(member.is_kept[[1, tree.end[1], tree.end[tree.end[1]]]].sum()) for member in members.sample(50, 0)]
    assert Counter(n_split).most_common(1)[0][0] == 2
    if depth < 10:
        assert alternatives(tree, None, cost=cost, within=2, max_leaves=10**6).count() == expected


@pytest.mark.parametrize("is_left", [True, False])
def test_a_chain_of_100_000_splits_passes(is_left):
    n = 100_000
    inner = np.arange(n)
    if is_left:  # the first child continues the chain
        parent = np.concatenate([[-1], inner, inner[::-1]])
    else:
        parent = np.concatenate([[-1], np.repeat(2 * inner, 2)])[: 2 * n + 1]
    tree = Tree(parent)
    rng = np.random.default_rng(0)
    held = Counts.from_leaves(tree, rng.integers(2, size=(tree.n_leaves, 2)))
    members = alternatives(tree, held, within=5)

    assert 0 < members.log_count < math.inf
    assert members.node_shares[0] == 1
    assert all(member.cost(members.node_cost) <= members.least_cost + 5 for member in members.sample(2, 0))
    assert members.n_leaves[0] <= members.best.n_leaves <= members.n_leaves[1]
    assert members.count().bit_length() == math.floor(members.log_count / math.log(2)) + 1


def test_the_budget_is_a_number_of_errors_or_a_share_of_the_rows():
    tree = Tree.from_parents([-1, 0, 0])
    held = Counts.from_leaves(tree, [[70, 30], [20, 80]])

    assert alternatives(tree, held, within=1).budget == 1
    assert alternatives(tree, held, within=0.29).budget == 58  # .29 * 200 is 57.99... in floats
    assert alternatives(tree, held, within=np.float32(0.5)).budget == 100
    assert alternatives(tree, held, within=1.0).budget == 200
    assert alternatives(tree, held, within=np.int64(3)).budget == 3


@pytest.mark.parametrize("within", [-1, -0.1, 1.5, math.nan, math.inf, True, "5", None, [1]])
def test_other_budgets_are_refused(within):
    tree = Tree.from_parents([-1, 0, 0])
    with pytest.raises(ParameterError, match=r"within=.*number of errors"):
        alternatives(tree, Counts.from_leaves(tree, [[1, 0], [0, 1]]), within=within)


def test_costs_that_are_not_whole_are_refused_by_name():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[1, 0], [0, 1]])
    weighted = Counts.from_leaves(tree, [[1.5, 0], [0, 1]], sample="prune")
    moments = Moments(tree, np.array([2.0, 1, 1]), np.zeros(3), np.zeros(3), "grow")

    with pytest.raises(UnsupportedError, match=r"sample 'prune' has weights that are not whole.*rint"):
        alternatives(tree, weighted, within=1)
    with pytest.raises(UnsupportedError, match="sample 'prune' has weights that are not whole"):
        alternatives(tree, counts, weighted, within=1)
    with pytest.raises(UnsupportedError, match=r"cost of node 1 is 0\.5.*round the costs"):
        alternatives(tree, counts, within=1, cost=[2, 0.5, 1])
    with pytest.raises(UnsupportedError, match=r"Moments.*round"):
        alternatives(tree, moments, within=1)
    with pytest.raises(ParameterError, match="share of the rows, but only costs"):
        alternatives(tree, None, within=0.1, cost=[2, 1, 1])
    with pytest.raises(CountsError, match="errors need counts, and labels"):
        alternatives(tree, None, counts, within=1)


def test_tables_that_do_not_fit_are_refused():
    tree = Tree.from_parents([-1, 0, 0, 1, 1])
    cost = np.array([10**12 + 1, 1, 1, 3, 4])
    with pytest.raises(ParameterError, match=r"entries, more than .*pass a smaller within"):
        alternatives(tree, None, within=10**12, cost=cost)
    assert alternatives(tree, None, within=10**6, cost=cost).count() == 2

    large = complete_tree(17)
    held = Counts.from_leaves(large, np.random.default_rng(0).integers(3, size=(large.n_leaves, 2)))
    with pytest.raises(ParameterError, match="max_leaves"):
        alternatives(large, held, within=1_000, max_leaves=20_000)


def test_an_exact_number_that_would_not_fit_is_refused():
    tree = complete_tree(14)
    held = Counts.from_leaves(tree, np.random.default_rng(0).integers(3, size=(tree.n_leaves, 2)))
    members = alternatives(tree, held, within=20_000)
    with pytest.raises(UnsupportedError, match="log_count"):
        members.count()


@pytest.mark.parametrize("max_leaves", [None, 45, 70])
def test_exact_numbers_of_larger_trees_agree_with_their_logarithms(max_leaves):
    rng = np.random.default_rng(3)
    tree = random_tree(rng, 80)
    members = alternatives(tree, random_counts(rng, tree, "grow", 3), within=25, max_leaves=max_leaves)
    assert members.log_count > 9
    assert math.log(members.count()) == pytest.approx(members.log_count, rel=1e-13)


def test_unknown_columns_and_quantities_are_refused():
    tree = random_tree(np.random.default_rng(0), 4)
    members = alternatives(tree, random_counts(np.random.default_rng(0), tree, "grow"), within=3)
    with pytest.raises(ParameterError, match="without a column 'age'"):
        members.without("age")
    with pytest.raises(ParameterError, match="without a column 'age'"):
        members.extremes(column="age")
    with pytest.raises(ParameterError, match="cost='size'"):
        members.extremes("size")
    with pytest.raises(ParameterError, match="n=-1"):
        members.sample(-1)
    with pytest.raises(ParameterError, match="random_state='a'"):
        members.sample(1, random_state="a")


def test_a_set_made_of_costs_has_no_classes():
    tree, _ = grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    members = alternatives(tree, None, within=1, cost=np.where(tree.is_leaf, 0, 1))
    with pytest.raises(CountsError, match="has no classes"):
        members.ambiguity([[1.0]])
    with pytest.raises(UnsupportedError, match="need classes"):
        members.extremes(Counts.from_leaves(tree, [[1, 0], [0, 1]]))
    assert members.best.node_labels is None


def test_the_sentence_states_number_budget_leaves_and_columns():
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    y = (X[:, 1] > 0.5) ^ (rng.random(400) < 0.1)
    tree, grown = grow(X[:200], y[:200])
    members = alternatives(tree, grown, count(tree, X[200:], y[200:]), within=0.01)
    fewest, most = members.n_leaves

    assert isinstance(members, Alternatives)
    text = str(members)
    assert "within 1.0 percentage point (2 errors) of the best on 200 held-out rows" in text
    assert f"with {fewest} to {most} leaves; x1 is in all of them; x0 and x2 can each be left out" in text
    assert text.startswith((f"{members.count():,} prunings are", "About 10^"))
    alone = alternatives(Tree.from_parents([-1]), Counts.from_leaves(Tree.from_parents([-1]), [[3, 1]]), within=0)
    assert str(alone) == (
        "1 pruning is within 0.0 percentage points (0 errors) of the best on the 4 rows of sample 'grow', with 1 leaf"
    )


def test_columns_of_surrogates_count_as_used():
    rng = np.random.default_rng(1)
    X = rng.random((200, 2))
    X[:, 1] = X[:, 0] + rng.normal(0, 0.05, 200)
    y = X[:, 0] > 0.5
    tree, grown = grow(X, y, max_depth=1, surrogates=1)
    assert tree.feature[0] == 0
    assert tree.surrogates.feature.tolist() == [1]
    members = alternatives(tree, grown, within=2)

    assert members.essential_columns == ["x0", "x1"]
    with pytest.raises(PruningError, match="every member uses 'x1'"):
        members.without("x1")


def test_all_prunings_are_members_within_the_greatest_budget():
    tree, grown, *_ = next(cases(9, 1))
    members = alternatives(tree, grown, within=10**15)
    assert members.count() == count_prunings(tree) == len(list(all_prunings(tree)))
