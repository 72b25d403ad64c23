"""The laws that every registered rule keeps, whatever it minimises."""

import inspect
import time
from fractions import Fraction
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import all_prunings, children_of
from secateur import Counts, Model, Moments, Pruning, PruningSequence, Tree, count, grow, pruners
from secateur.errors import CountsError, ParameterError, UnsupportedError
from secateur.modelfile import dumps_model, loads_model
from secateur.pruners import RULES, prune
from strategies import counts, trees, trees_with_counts

# There are many rules: each law is tried on an eighth of the usual number of examples per rule.
few = settings(max_examples=settings.default.max_examples // 8)

NAMES = [name for name, rule in RULES.items() if find_spec(f"secateur.pruners._{rule.function}")]
HELD_OUT = [name for name in NAMES if len(RULES[name].samples) == 2]
SEQUENCES = [name for name in NAMES if RULES[name].returns == "sequence"]
# A certificate needs rows, and rows of weight 1: it says so and stops.
NEEDS_ROWS = {"certificate-optimal"}
every_rule = pytest.mark.parametrize("name", NAMES)
every_held_out_rule = pytest.mark.parametrize("name", HELD_OUT)
every_sequence = pytest.mark.parametrize("name", SEQUENCES)


def parameters(name, tree, grown):
    """What a rule cannot do without, as a function of the tree that no mirror and no renaming changes."""
    if name == "smallest-within":
        right = grown.by_class[tree.is_leaf].max(axis=1).sum()
        return {"accuracy": Fraction(9 * int(right), 10 * max(int(grown.total[0]), 1))}  # a float is rounded
    if name == "critical-value":
        return {"scores": grown.total.astype(float)}
    return {"bottom-up-srm": {"n_tests": 8}}.get(name, {})


def run(name, tree, *samples, **more):
    """The rule on as many of the samples as it takes."""
    needed = samples[: len(RULES[name].samples)]
    return prune(tree, *needed, rule=name, **parameters(name, tree, samples[0]) | more)


def members(result):
    return [result] if isinstance(result, Pruning) else list(result)


def leaves_on_paths(pruning):
    """How many leaves of the pruning each path from the root to an original leaf meets."""
    tree = pruning.tree
    met = np.zeros(tree.n_nodes, int)
    for v in range(tree.n_nodes):
        met[v] = pruning.is_leaf[v] + (met[tree.parent[v]] if v else 0)
    return met[tree.is_leaf].tolist()


def keys(result, *samples):
    """Leaves and errors of every member."""
    return [(pruning.n_leaves, *(pruning.errors(sample) for sample in samples)) for pruning in members(result)]


def is_filled(case):
    """Whether every sample has an example; growing one from nothing means nothing."""
    return all(sample.total[0] > 0 for sample in case[1:])


def cases(**more):
    return trees_with_counts(("grow", "prune"), **more).filter(is_filled)


@st.composite
def cases_without_ties(draw):
    """Large random counts in which no majority, gain or excess is tied, so that no order can matter."""
    tree = draw(trees(max_internal=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    children = children_of(tree.parent.tolist())
    while True:
        shares = rng.dirichlet(np.full(3, 0.3), tree.n_leaves)
        grown, holdout = (
            Counts.from_leaves(tree, rng.poisson(100_000 * shares * rng.uniform(0.5, 1, (tree.n_leaves, 1))), sample=s)
            for s in ("grow", "prune")
        )
        label = grown.by_class.argmax(axis=1)
        # A node all of whose children predict the same could be cut for nothing: a tie by construction.
        if not all(len({label[c] for c in below}) > 1 for below in children if below):
            continue
        errors = [(sample.total - sample.by_class[range(tree.n_nodes), label]).tolist() for sample in (grown, holdout)]
        prunings = list(all_prunings(tree))
        # Two prunings of a size may err alike by chance: once in some thousand cases.
        if all(len({(len(p), sum(e[v] for v in p)) for p in prunings}) == len(prunings) for e in errors):
            return tree, grown, holdout


@every_rule
@few
@given(case=cases())
def test_every_path_has_one_leaf_and_the_tree_is_the_one_given(name, case):
    tree, *samples = case

    result = run(name, tree, *samples)

    assert isinstance(result, PruningSequence if name in SEQUENCES else Pruning)
    for pruning in members(result):
        assert pruning.tree is tree
        assert set(leaves_on_paths(pruning)) == {1}
        assert pruning.n_leaves == pruning.is_leaf.sum()


@every_rule
@few
@given(case=cases())
def test_the_inputs_are_left_alone(name, case):
    tree, *samples = case
    before = [tree.parent.copy(), *(sample.by_class.copy() for sample in samples)]

    run(name, tree, *samples)

    assert all(np.array_equal(a, b) for a, b in zip(before, [tree.parent, *(s.by_class for s in samples)], strict=True))


@every_rule
@few
@given(case=cases(max_internal=0))
def test_a_single_leaf_is_returned_as_it_is(name, case):
    prunings = members(run(name, *case))

    assert [pruning.leaves.tolist() for pruning in prunings] == [[0]]


@every_rule
@few
@given(case=cases())
def test_the_names_of_the_samples_that_shaped_the_result_are_remembered(name, case):
    seen = run(name, *case).seen

    used = {"grow", "prune"} if name in HELD_OUT else {"grow"}
    assert set(seen) == used, "pass seen=SampleUsage.of(...) with every sample that the result depends on"


@every_rule
@few
@given(case=cases())
def test_equal_arguments_have_equal_results(name, case):
    tree, *samples = case
    again = Tree.from_parents(tree.parent)

    assert run(name, tree, *samples) == run(name, again, *(Counts(again, s.by_class, s.sample) for s in samples))


@every_rule
@few
@given(case=cases_without_ties(), order=st.permutations(range(3)))
def test_other_names_for_the_classes_change_nothing(name, case, order):
    tree, *samples = case
    renamed = [Counts(tree, s.by_class[:, order], s.sample) for s in samples]

    assert keys(run(name, tree, *renamed), *renamed) == keys(run(name, tree, *samples), *samples)


@every_rule
@few
@given(case=cases_without_ties())
def test_a_mirrored_tree_is_pruned_alike(name, case):
    tree, *samples = case
    children = children_of(tree.parent.tolist())
    order, todo = [], [0]
    while todo:
        v = todo.pop()
        order.append(v)
        todo.extend(children[v])  # the last child comes off first
    new_id = {v: i for i, v in enumerate(order)}
    mirrored = Tree.from_parents([-1] + [new_id[int(tree.parent[v])] for v in order[1:]])
    there = [Counts(mirrored, s.by_class[order], s.sample) for s in samples]

    assert keys(run(name, mirrored, *there), *there) == keys(run(name, tree, *samples), *samples)


@every_sequence
@few
@given(case=cases())
def test_members_grow_smaller_and_are_nested_where_the_sequence_says_so(name, case):
    sequence = run(name, *case)

    assert (np.diff(sequence.n_leaves) < 0).all()
    assert sequence.n_leaves.tolist() == [pruning.n_leaves for pruning in sequence]
    if sequence.nested:
        prunings = members(sequence)
        assert all(smaller <= larger for larger, smaller in pairwise(prunings))


@every_sequence
@few
@given(case=cases())
def test_the_errors_of_all_members_are_those_of_each(name, case):
    sequence = run(name, *case)
    holdout = case[2]

    assert sequence.errors_on(holdout).tolist() == [pruning.errors(holdout) for pruning in sequence]
    assert sequence.errors_on(case[1]).tolist() == sequence.errors.tolist()


@pytest.mark.parametrize(("name", "which"), [(name, i) for name in NAMES for i in range(len(RULES[name].samples))])
def test_counts_of_another_tree_are_refused(name, which):
    tree, other = Tree.from_parents([-1, 0, 0]), Tree.from_parents([-1, 0, 0, 0])
    samples = [Counts.from_leaves(tree, [[2, 1], [0, 2]], sample=s) for s in ("grow", "prune")]
    given_parameters = parameters(name, tree, samples[0])
    samples[which] = Counts.from_leaves(other, [[2, 1], [0, 2], [1, 1]], sample="elsewhere")

    with pytest.raises(CountsError, match="elsewhere"):
        prune(tree, *samples[: len(RULES[name].samples)], rule=name, **given_parameters)


@every_held_out_rule
@few
@given(case=cases())
def test_an_empty_held_out_sample_is_a_sample_or_is_refused_by_name(name, case):
    tree, grown, holdout = case
    empty = Counts(tree, np.zeros_like(holdout.by_class), "prune")

    if name in NEEDS_ROWS:
        with pytest.raises(CountsError, match="prune"):
            run(name, tree, grown, empty)
        return
    result = run(name, tree, grown, empty)

    assert set(leaves_on_paths(result)) == {1}
    assert result.errors(empty) == 0


@every_held_out_rule
@few
@given(data=st.data())
def test_a_held_out_sample_may_know_fewer_classes_or_more(name, data):
    tree, grown = data.draw(trees_with_counts(("grow",)).filter(is_filled))
    n_classes = data.draw(st.sampled_from([1, 5]))
    holdout = data.draw(counts(tree, "prune", n_classes=n_classes).filter(lambda sample: sample.total[0] > 0))

    result = run(name, tree, grown, holdout)

    assert set(leaves_on_paths(result)) == {1}
    assert 0 <= result.errors(holdout) <= holdout.total[0]


@every_rule
@few
@given(case=cases())
def test_weights_that_are_whole_numbers_are_pruned_like_counts_or_refused_by_name(name, case):
    tree, *samples = case
    weighted = [Counts(tree, s.by_class.astype(float), s.sample) for s in samples]

    if name in NEEDS_ROWS:
        with pytest.raises(UnsupportedError, match="prune"):
            run(name, tree, *weighted)
        return
    assert keys(run(name, tree, *weighted), *samples) == keys(run(name, tree, *samples), *samples)


def caterpillar(depth):
    """One test under the other, the leaf on either side in turn."""
    parent, spine = [-1], 0
    for step in range(depth):
        first = len(parent)
        parent += [spine, spine]
        spine = first + step % 2
    return Tree.from_parents(parent)


@pytest.fixture(scope="module")
def deep():
    tree, rng = caterpillar(100_000), np.random.default_rng(0)
    by_class = rng.integers(0, 3, (2, tree.n_leaves, 2))
    return tree, *(Counts.from_leaves(tree, b, sample=s) for b, s in zip(by_class, ("grow", "prune"), strict=True))


def capped(name, tree, grown):
    """Parameters that bound the work of rules whose tables grow with what is asked of them."""
    least = int(grown.errors_if_leaf(grown.majority)[tree.is_leaf].sum())
    total = int(grown.total[0])
    return {
        "best-of-size": {"max_leaves": 20},
        "k-reduced-error": {"k": least + 20},
        "smallest-within": {"accuracy": Fraction(total - least - 20, total)},
    }.get(name, {})


@every_rule
def test_a_tree_of_depth_100_000_takes_seconds(name, deep):
    tree, *samples = deep
    small = caterpillar(3)
    run(name, small, *(Counts.from_leaves(small, [[2, 0], [0, 1], [1, 2], [3, 1]], sample=s.sample) for s in samples))

    began = time.process_time()
    result = run(name, tree, *samples, **capped(name, tree, samples[0]))
    took = time.process_time() - began

    ends = [result] if isinstance(result, Pruning) else [result[0], result[-1]]
    assert all(1 <= pruning.n_leaves <= tree.n_leaves for pruning in ends)
    assert took < 10


@pytest.mark.parametrize("name", RULES)
def test_the_registry_says_what_a_rule_takes(name):
    rule = RULES[name]
    function = getattr(pruners, rule.function)
    assert rule.takes_cost == ("cost" in inspect.signature(function).parameters)
    tree = Tree.from_parents([-1, 0, 0])
    moments = [Moments.from_leaves(tree, [2, 2], [1.0, 3.0], sample=sample) for sample in ("grow", "prune")]
    try:
        function(tree, *moments[: len(rule.samples)], **({"accuracy": 1} if name == "smallest-within" else {}))
        takes_moments = True
    except (AttributeError, CountsError, ParameterError):
        takes_moments = False
    assert rule.takes_moments == takes_moments


@every_rule
def test_a_rule_states_its_provenance(name):
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    grown = Counts.from_leaves(tree, [[30, 0], [29, 1], [0, 40]])
    held = Counts.from_leaves(tree, [[50, 5], [50, 5], [9, 81]], sample="prune")

    result = run(name, tree, grown, held)

    provenance = result.provenance
    assert provenance.rule == name
    assert provenance.text == result.rule
    assert provenance.tolerance in (0.0, 1e-12)
    no_sample_decides = name in ("critical-value", "equal-predictions")
    assert provenance.sample == ("" if no_sample_decides else "prune" if name in HELD_OUT else "grow")
    assert (provenance.alpha_unit != "none") == (getattr(result, "alphas", None) is not None)
    assert members(result)[0].provenance == provenance


@every_rule
def test_a_saved_model_keeps_the_provenance_of_its_rule(name):
    X = np.arange(40.0)[:, None]
    tree, grown = grow(X, X[:, 0] % 8 < 3)
    held = count(tree, X + 0.5, X[:, 0] % 8 < 3)
    pruning = members(run(name, tree, grown, held))[0]

    saved = loads_model(dumps_model(Model(pruning, grown)))

    assert saved.pruning.provenance == pruning.provenance


@pytest.mark.parametrize("name", [name for name in NAMES if RULES[name].takes_cost])
def test_a_cost_from_the_caller_is_named_as_such(name):
    tree = Tree.from_parents([-1, 0, 0])
    samples = [Counts.from_leaves(tree, [[3, 0], [1, 2]], sample=sample) for sample in ("grow", "prune")]

    provenance = run(name, tree, *samples, cost=[1.5, 0.5, 0.25]).provenance

    assert (provenance.cost, provenance.sample, provenance.tolerance) == ("given", "", 1e-12)
