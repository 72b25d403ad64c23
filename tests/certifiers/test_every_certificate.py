"""The laws that every registered certificate of classes keeps; those of numbers are in test_mean_loss.py."""

import inspect

import numpy as np
import pytest
from scipy.stats import binom

from secateur import Counts, Pruning, Tree, certifiers, count, grow, prune
from secateur.certifiers import METHODS, METHODS_FOR_CLASSES, certify
from secateur.errors import LeakageError, UnsupportedError

every_method = pytest.mark.parametrize("name", METHODS_FOR_CLASSES)

TREE = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
GROWN = Counts.from_leaves(TREE, [[9, 1], [2, 7], [6, 5], [1, 9]])


@pytest.fixture(autouse=True)
def forget_evaluations():
    """Clear the evaluation log of the tree, so that the evaluations of one test do not count in the next."""
    TREE.evaluation_log.records.clear()


def certifiable_of(name, grown, seen=("grow",)):
    """A pruning, or the path of the growing sample where the method certifies sequences only."""
    if "pruning" in METHODS[name].takes:
        return Pruning.from_cuts(grown.tree, [4], node_labels=grown.majority, seen=set(seen))
    return prune(grown.tree, grown)


def bounds(name, subject, counts, grown, **parameters):
    """What the method says, as a list."""
    parameters |= {"rng": 0} if METHODS[name].is_random else {}
    result = certify(subject, counts, method=name, grown=grown, **parameters)
    return result if isinstance(result, list) else [result]


def errors_of(subject, counts):
    members = [subject] if isinstance(subject, Pruning) else list(subject)
    return [int(counts.unrecorded_errors_if_leaf(member.node_labels)[member.is_leaf].sum()) for member in members]


def sample_of(rng, n, noise, name="prune"):
    """A sample whose classes do not depend on the leaf but for `noise` of one half."""
    leaves = np.bincount(rng.integers(0, 4, n), minlength=4)
    ones = rng.binomial(leaves, noise)
    labels = GROWN.majority[TREE.is_leaf]
    wrong = np.where(labels == 0, ones, leaves - ones)
    return Counts.from_leaves(TREE, np.stack([leaves - wrong, wrong], axis=1), sample=name)


@every_method
def test_a_bound_is_at_least_the_error_it_saw_and_at_most_one(name):
    held = sample_of(np.random.default_rng(0), 400, 0.2)
    subject = certifiable_of(name, GROWN)
    for bound, errors in zip(bounds(name, subject, held, GROWN), errors_of(subject, held), strict=True):
        assert errors / 400 <= bound.value <= 1
        assert bound.certified, f"METHODS lists guarantees; {name!r} returned a bound with certified=False"


@every_method
def test_a_bound_begins_with_the_name_of_its_method_so_that_files_can_recompute_it(name):
    held = sample_of(np.random.default_rng(0), 400, 0.2)
    for bound in bounds(name, certifiable_of(name, GROWN), held, GROWN):
        begins = bound.method.lower().replace(" ", "-")
        assert begins.startswith(name), (
            f"Bound.method {bound.method!r} must begin with {name!r}, with spaces for hyphens"
        )


@every_method
def test_more_confidence_never_gives_a_smaller_bound(name):
    held = sample_of(np.random.default_rng(1), 400, 0.2)
    subject = certifiable_of(name, GROWN)
    values = [[b.value for b in bounds(name, subject, held, GROWN, delta=delta)] for delta in (0.2, 0.05, 0.001)]
    assert (np.diff(values, axis=0) >= 0).all()


@every_method
def test_the_same_call_gives_the_same_bound(name):
    held = sample_of(np.random.default_rng(2), 300, 0.3)
    subject = certifiable_of(name, GROWN)
    assert bounds(name, subject, held, GROWN) == bounds(name, subject, held, GROWN)


@every_method
def test_the_growing_sample_certifies_nothing(name):
    with pytest.raises(LeakageError):
        bounds(name, certifiable_of(name, GROWN), GROWN, GROWN)


@every_method
def test_a_sample_that_chose_certifies_only_with_a_method_that_pays(name):
    held = sample_of(np.random.default_rng(3), 300, 0.2)
    subject = certifiable_of(name, GROWN, seen=("grow", "prune"))
    if METHODS[name].covers_choice or not isinstance(subject, Pruning):
        assert bounds(name, subject, held, GROWN)
    else:
        with pytest.raises(LeakageError):
            bounds(name, subject, held, GROWN)


@every_method
def test_weights_certify_only_as_stated_repetitions(name):
    held = sample_of(np.random.default_rng(4), 300, 0.2)
    weighted = Counts(TREE, held.by_class * 3, "prune", n_rows=300)
    with pytest.raises(UnsupportedError):
        bounds(name, certifiable_of(name, GROWN), weighted, GROWN)
    assert bounds(name, certifiable_of(name, GROWN), weighted, GROWN, repeated=True)


@every_method
def test_the_bound_of_a_sample_that_chose_the_pruning_fails_no_more_often_than_delta(name):
    """The least error of all prunings is chosen on the sample that certifies; where that is refused, a fixed one."""
    rng = np.random.default_rng(5)
    n_runs, delta, noise, failures = 300, 0.2, 0.5, 0  # the error of every pruning is one half
    for _ in range(n_runs):
        grown = Counts.from_leaves(TREE, rng.multinomial(40, [1 / 8] * 8).reshape(4, 2))
        held = sample_of(rng, 60, noise)
        subject = (
            prune(TREE, grown, held, rule="reduced-error")
            if METHODS[name].covers_choice
            else certifiable_of(name, grown)
        )
        failures += min(bound.value for bound in bounds(name, subject, held, grown, delta=delta)) < noise
    assert failures <= binom.isf(1e-6, n_runs, delta)


def test_every_certificate_has_delta_005_and_refuses_weights_by_default():
    public = [getattr(certifiers, name) for name in certifiers.__all__]
    functions = [value for value in public if inspect.isfunction(value)]
    parameters = [p for function in functions for p in inspect.signature(function).parameters.values()]
    assert {p.default for p in parameters if p.name == "delta"} == {0.05}
    assert {p.default for p in parameters if p.name == "repeated"} == {False}


@pytest.mark.parametrize("name", [name for name in METHODS_FOR_CLASSES if not METHODS[name].covers_choice])
def test_rows_that_certified_one_pruning_without_a_price_do_not_certify_another(name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), rng.integers(0, 2, 400)
    tree, grown = grow(X[:200], y[:200], max_depth=3)
    sequence, held = prune(tree, grown), count(tree, X[200:], y[200:])
    first, second = (
        (sequence[0], sequence[1])
        if "pruning" in METHODS[name].takes
        else (sequence, prune(tree, grown, rule="greedy"))
    )

    certify(first, held, method=name)
    with pytest.raises(LeakageError, match="was evaluated on other"):
        certify(second, held, method=name)
