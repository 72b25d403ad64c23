"""The fixed sequence: the smallest pruning below a stated target, at no price for the prunings tested before it."""

import numpy as np
import pytest
from scipy import stats

import secateur
from secateur import Counts, Pruning, PruningSequence, Tree
from secateur.certifiers import betting_upper, fixed_sequence, freshness, path
from secateur.errors import CountsError, LeakageError, ParameterError, UnsupportedError
from secateur.model_selection import select
from secateur.routing.prediction import predict

TREE = Tree.from_parents([-1, 0, 1, 1, 0])
LABELS = np.array([0, 0, 0, 1, 1])
SEQUENCE = PruningSequence(TREE, [3, 2, 1], [3, 10, 22], steps=[2, 1, 0, 0, 0], node_labels=LABELS, seen={"grow"})
ERRORS = [25, 30, 305]  # of the three members in the 500 rows of `held_out`


def held_out(name):
    """The rows of a sample; its name is part of its identity, so that tests do not know of one another."""
    counts = Counts.from_leaves(TREE, [[180, 10], [5, 10], [10, 285]], sample=name)
    assert [SEQUENCE[i].cost(counts.unrecorded_errors_if_leaf(LABELS)) for i in range(3)] == ERRORS
    return counts


def test_members_are_accepted_by_exact_p_values_until_the_first_that_is_not():
    p_values = stats.binom.cdf(ERRORS, 500, 0.1)
    assert (p_values <= 0.05).tolist() == [True, True, False]

    pruning, bound = fixed_sequence(SEQUENCE, target=0.1).certify(held_out("s0"))

    assert pruning == SEQUENCE[1]
    assert "s0" in pruning.seen
    assert (bound.value, bound.delta, bound.method, bound.quantity) == (0.1, 0.05, "fixed sequence", "error")
    assert (bound.certified, bound.errors, bound.n, bound.complexity) == (True, ERRORS[1], 500, 0)
    assert bound.details["p_values"] == pytest.approx(p_values)
    assert (bound.details["accepted"], bound.details["stopped_at"]) == ([0, 1], 2)


def test_nothing_after_a_member_that_fails_is_accepted():
    """Member 1 alone would be accepted, but it comes after member 2."""
    plan = fixed_sequence(SEQUENCE, target=0.1, order=[0, 2, 1])

    pruning, bound = plan.certify(held_out("s1"))

    assert pruning == SEQUENCE[0]
    assert (bound.details["accepted"], bound.details["stopped_at"]) == ([0], 2)


def test_if_the_first_fails_the_reason_states_its_test_sample_limit():
    limit = stats.beta.ppf(0.95, ERRORS[0] + 1, 500 - ERRORS[0])

    pruning, bound = fixed_sequence(SEQUENCE, target=0.05).certify(held_out("s2"))

    assert pruning is None
    assert not bound.certified
    assert bound.value == bound.details["limit_of_first"] == pytest.approx(limit)
    assert f"limit of {np.ceil(limit * 1e4) / 100:g} %" in bound.reason
    assert "target of 5 %" in bound.reason
    # This limit is the lowest target that would have been met.
    assert fixed_sequence(SEQUENCE, target=bound.value).certify(held_out("other"))[0] is not None


def test_several_targets_stated_beforehand_divide_delta():
    results = fixed_sequence(SEQUENCE, target=(0.08, 0.1)).certify(held_out("s3"))

    for (_, bound), target in zip(results, (0.08, 0.1), strict=True):
        accepted = stats.binom.cdf(ERRORS, 500, target) <= 0.025
        assert bound.details["accepted"] == np.flatnonzero(accepted.cumprod()).tolist()
        assert bound.complexity == pytest.approx(np.log(2))
        assert bound.delta == 0.05


def test_shares_start_again_after_a_member_that_fails():
    """The order 2, 0, 1: member 2 fails; member 0 has half of delta and passes it on to member 1."""
    plan = fixed_sequence(SEQUENCE, target=0.1, order=[2, 0, 1], shares=[0.5, 0.5, 0])

    pruning, bound = plan.certify(held_out("s4"))

    assert (stats.binom.cdf(ERRORS, 500, 0.1) <= 0.025).tolist() == [True, True, False]
    assert pruning == SEQUENCE[1]
    assert bound.details["accepted"] == [0, 1]
    assert bound.complexity == pytest.approx(np.log(2))


def test_the_default_order_begins_at_the_best_member_of_a_selection():
    chosen_on = Counts.from_leaves(TREE, [[18, 10], [15, 10], [1, 28]], sample="choose")
    _, selection = select(SEQUENCE, chosen_on)
    assert selection.best == 1

    assert fixed_sequence(selection, target=0.1).order == (1, 2)
    assert fixed_sequence(SEQUENCE, target=0.1).order == (0, 1, 2)


def test_a_sample_certifies_one_plan_only():
    counts = Counts.from_leaves(TREE, [[181, 10], [5, 10], [10, 285]], sample="once")
    first = fixed_sequence(SEQUENCE, target=0.1).certify(counts)

    assert fixed_sequence(SEQUENCE, target=0.1).certify(counts)[1] == first[1]
    for other in ({"target": 0.09}, {"target": 0.1, "order": [1, 2]}, {"target": (0.1, 0.2)}):
        with pytest.raises(LeakageError, match=r"was used for another plan before.*state all targets in one plan"):
            fixed_sequence(SEQUENCE, **other).certify(counts)


@pytest.fixture
def grown():
    """A tree with its path, and counts of fresh rows that are known by their sketches."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = (X[:, 0] + rng.normal(scale=0.5, size=900) > 0).astype(int)
    tree, counts = secateur.grow(X[:400], y[:400])
    sequence = secateur.prune(tree, counts)
    return sequence, lambda name, rows=slice(400, 900): secateur.count(tree, X[rows], y[rows], sample=name)


@pytest.mark.parametrize("look", ["errors_on", "errors", "path"])
def test_a_sample_that_was_evaluated_before_is_refused(grown, look):
    sequence, count = grown
    counts = count("test")
    if look == "errors_on":
        sequence.errors_on(counts)
    elif look == "errors":
        sequence[3].errors(counts)
    else:
        path(sequence, counts)

    with pytest.raises(LeakageError, match="evaluated on prunings of this tree before"):
        fixed_sequence(sequence, target=0.3).certify(count("another name"))


def test_the_log_shows_that_the_sample_was_evaluated_on_the_sequence(grown):
    sequence, count = grown
    pruning, bound = fixed_sequence(sequence, target=0.35).certify(count("test"))

    assert bound.is_checked
    assert not freshness(sequence[0], count("same rows")).is_fresh
    with pytest.raises(LeakageError):
        secateur.certify(pruning, count("test"), method="test-sample")


def test_rows_that_grew_the_tree_or_made_the_order_are_refused(grown):
    sequence, count = grown
    with pytest.raises(LeakageError):
        fixed_sequence(sequence, target=0.3).certify(count("test", slice(100, 400)))
    counts = count("test")
    order = np.argsort(counts.resubstitution_costs[: len(sequence)], kind="stable")
    with pytest.raises(LeakageError, match="'test'"):
        fixed_sequence(sequence, target=0.3, order=order).certify(counts)
    _, selection = select(sequence, counts)
    with pytest.raises(LeakageError, match="'test'"):
        fixed_sequence(selection, target=0.3).certify(counts)


def test_rows_that_may_be_copies_count_as_errors():
    rng = np.random.default_rng(1)
    fresh = rng.normal(size=(500, 3))
    X = rng.normal(size=(400, 3))
    y, y_fresh = (X[:, 0] > 0).astype(int), (fresh[:, 0] > 0).astype(int)
    tree, counts = secateur.grow(X, y)
    rows = np.append(np.arange(500), np.arange(40))
    mixed = secateur.count(tree, fresh[rows], y_fresh[rows], sample="test")
    sequence = secateur.prune(tree, counts)

    _, bound = fixed_sequence(sequence, target=0.3).certify(mixed)

    assert bound.n_repeated >= 40
    first = bound.details["p_values"][0]
    errors = int(sequence[0].cost(mixed.unrecorded_errors_if_leaf(sequence.node_labels)))
    assert first == pytest.approx(stats.binom.cdf(errors + bound.n_repeated, 540, 0.3))


@pytest.mark.parametrize("group_error", ["share", "any"])
def test_with_groups_the_limits_of_members_are_compared_with_the_target(group_error):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 2)).repeat(5, axis=0) + rng.normal(scale=0.1, size=(1500, 2))
    y, groups = (X[:, 0] > 0).astype(int), np.arange(1500) // 5
    tree, counts = secateur.grow(X[:500], y[:500], max_depth=3)
    sequence = secateur.prune(tree, counts)
    fresh = secateur.count(tree, X[500:], y[500:], sample="test", groups=groups[500:])
    target = 0.4

    _, bound = fixed_sequence(sequence, target=target).certify(fresh, group_error=group_error)

    limits, losses = [], []
    for pruning in sequence:
        is_wrong = predict(secateur.Model(pruning, counts), X[500:]) != y[500:]
        shares = is_wrong.reshape(200, 5).mean(axis=1)
        loss = shares if group_error == "share" else np.ceil(shares)
        losses.append(loss.sum())
        if group_error == "share":
            limits.append(betting_upper(*np.unique(loss, return_counts=True), np.log(0.05)))
        else:
            limits.append(stats.beta.ppf(0.95, loss.sum() + 1, 200 - loss.sum()))
    accepted = np.flatnonzero(np.cumprod(np.array(limits) <= target)).tolist()
    assert 0 < len(accepted) < len(sequence)
    assert bound.details["accepted"] == accepted
    assert bound.errors == pytest.approx(losses[accepted[-1]])
    assert (bound.unit, bound.n, bound.n_rows, bound.n_repeated) == ("group", 200, 1000, 0)
    assert bound.method.startswith("fixed sequence, ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": 0}, "target=0"),
        ({"target": 1.5}, "target=1.5"),
        ({"target": True}, "target=True"),
        ({"target": ()}, "at least one"),
        ({"target": 0.1, "order": [0, 3]}, "members from 0 to 2"),
        ({"target": 0.1, "order": [0, 0]}, "tested once"),
        ({"target": 0.1, "order": []}, "order="),
        ({"target": 0.1, "shares": [1, 0]}, "one per member tested"),
        ({"target": 0.1, "shares": [1, 0.1, 0]}, "at most 1"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        fixed_sequence(SEQUENCE, **arguments)


def test_what_is_not_a_set_of_prunings_of_one_tree_is_refused():
    with pytest.raises(UnsupportedError, match="takes a PruningSequence"):
        fixed_sequence(TREE, target=0.1)
    other = Tree.from_parents([-1, 0, 0])
    with pytest.raises(ParameterError, match="different trees"):
        fixed_sequence([SEQUENCE[0], Pruning.from_cuts(other, [])], target=0.1)
    with pytest.raises(CountsError):
        fixed_sequence(SEQUENCE, target=0.1).certify(Counts.from_leaves(other, [[1, 2], [3, 4]], sample="test"))


def test_a_list_of_prunings_is_tested_in_its_order():
    members = [SEQUENCE[1], SEQUENCE[0], SEQUENCE[2]]
    counts = Counts.from_leaves(TREE, [[182, 10], [5, 10], [10, 285]], sample="list")

    pruning, bound = fixed_sequence(members, target=0.1).certify(counts)

    assert pruning == SEQUENCE[0]
    assert bound.details["accepted"] == [0, 1]


DELTA = 0.1
N_RUNS = 1000
MOST_FAILURES = stats.binom.ppf(0.999, N_RUNS, DELTA)


def draw(rng, tree, chance, n_rows):
    drawn = rng.multinomial(n_rows, chance.ravel()).reshape(chance.shape)
    return Counts.from_leaves(tree, drawn, sample="test")


@pytest.mark.parametrize("shares", [None, "equal"])
def test_false_certificates_are_at_most_delta_on_noise_where_every_order_is_adversarial(shares):
    """All 20 labellings of a tree have an error of exactly one half, just above the target, and are uncorrelated."""
    rng = np.random.default_rng(7)
    tree = Tree.from_parents([-1, *(2 * (i // 2) for i in range(24))])
    chance = np.full((tree.n_leaves, 2), 0.5 / tree.n_leaves)
    labels = rng.integers(0, 2, size=(20, tree.n_nodes))
    prunings = [Pruning.from_cuts(tree, [], node_labels=row, seen={"grow"}) for row in labels]
    target = 0.5 - 1e-9
    plan = fixed_sequence(prunings, target=target, shares=None if shares is None else np.full(20, 1 / 20))
    false_ones = false_without_stopping = 0
    for _ in range(N_RUNS):
        counts = draw(rng, tree, chance, 301)
        false_ones += bool(plan.certify(counts, DELTA)[1].details["accepted"])
        errors = [counts.by_class[tree.is_leaf].sum() - counts.by_class[tree.is_leaf, row[tree.is_leaf]].sum()
                  for row in labels]  # fmt: skip
        false_without_stopping += bool((stats.binom.cdf(errors, 301, target) <= DELTA).any())
    assert false_ones <= MOST_FAILURES
    assert false_ones > N_RUNS * DELTA / 4  # the test is not idle
    assert false_without_stopping > 3 * MOST_FAILURES  # the simulation would notice a missing stop


def test_false_certificates_are_at_most_delta_on_a_path_whose_errors_pass_the_target():
    rng = np.random.default_rng(8)
    tree = Tree.from_parents([-1, *(2 * (i // 2) for i in range(24))])
    chance = np.full((tree.n_leaves, 2), 1 / tree.n_leaves) * [0.3, 0.7]
    chance[::2] = chance[::2, ::-1]
    truth = Counts.from_leaves(tree, chance, sample="truth")
    deepest = int(tree.depth.max())
    sequence = PruningSequence(
        tree, np.arange(deepest + 1, 0, -1), np.zeros(deepest + 1), steps=np.where(tree.is_leaf, 0, deepest - tree.depth),
        node_labels=truth.by_class.argmax(axis=1), seen={"grow"},
    )  # fmt: skip
    true_errors = sequence.costs_on(truth.unrecorded_errors_if_leaf(sequence.node_labels))
    assert (np.diff(true_errors) >= 0).all()
    target = float(true_errors[4]) - 1e-9
    plan = fixed_sequence(sequence, target=target)
    false_ones = 0
    for _ in range(N_RUNS):
        accepted = plan.certify(draw(rng, tree, chance, 2000), DELTA)[1].details["accepted"]
        false_ones += bool((true_errors[accepted] > target).any())
    assert false_ones <= MOST_FAILURES
