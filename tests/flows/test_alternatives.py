"""The set of good prunings uses up its sample: members are certified elsewhere, or at the price of the choice."""

import math

import numpy as np
import pytest

from secateur import TreeClassifier, alternatives, certify, count, grow, load
from secateur.certifiers import METHODS, binomial_upper, freshness
from secateur.errors import CountsError, DataError, LeakageError, ParameterError, PruningError, UnsupportedError

DELTA = 0.1


def noise(rng, n):
    return rng.random((n, 3)), rng.integers(2, size=n)


def noise_set(seed, within=0.05, n_grow=150, n_held=100):
    """Return a set of prunings of a tree grown on noise, whose true errors are all 1/2, and both samples."""
    rng = np.random.default_rng([7, seed])
    tree, grown = grow(*noise(rng, n_grow))
    held = count(tree, *noise(rng, n_held))
    return alternatives(tree, grown, held, within=within), grown, held


def members_of(members):
    """Return one member by each way of choosing."""
    extremes = members.extremes(np.arange(members.tree.n_nodes))
    return {
        "best": members.best,
        "smallest": members.smallest(),
        "random": members.sample(1, 0)[0],
        "without": members.without(),
        "least": extremes.least_member,
        "greatest": extremes.greatest_member,
    }


def test_members_carry_the_sample_and_state_the_choice():
    members, _, held = noise_set(0)
    for pruning in members_of(members).values():
        assert set(pruning.seen) == {"grow", "prune"}
        provenance = pruning.provenance
        assert (provenance.rule, provenance.cost, provenance.sample) == ("alternatives", "errors", "prune")
        assert provenance.parameters["within"] == members.budget
        assert provenance.text.startswith("chosen among all prunings within 5 errors of the best on 'prune': ")
        assert not freshness(pruning, held).is_fresh
    assert members_of(members)["random"].provenance.parameters["member"] == "random"


def test_the_same_rows_are_refused_unless_the_method_pays_for_the_choice():
    members, grown, held = noise_set(0)
    for pruning in members_of(members).values():
        with pytest.raises(LeakageError, match="'prune' already helped to choose it"):
            certify(pruning, held)
        with pytest.raises(LeakageError):
            certify(pruning, held, method="test-sample")
        price = certify(pruning, held, grown=grown, method="occam", delta=DELTA)
        assert price.value > binomial_upper(pruning.cost(members.node_cost), 100, math.log(DELTA))


def test_the_log_knows_that_the_sample_may_have_chosen_any_pruning():
    """Whoever reads the set can cut the tree by hand: also that pruning is refused."""
    members, _, held = noise_set(1)
    by_hand = members.best.snip(int(np.flatnonzero(members.best.is_kept)[-1]))
    rebuilt = type(by_hand).from_cuts(members.tree, by_hand.cuts, node_labels=members.node_labels)
    with pytest.raises(LeakageError, match="was evaluated on other prunings"):
        certify(rebuilt, held)


def test_a_sample_of_extremes_is_used_up_too():
    members, grown, _ = noise_set(2)
    rng = np.random.default_rng(0)
    second = count(members.tree, *noise(rng, 100), sample="second")
    member = members.extremes(second).least_member
    assert set(member.seen) == {"grow", "prune", "second"}
    with pytest.raises(LeakageError):
        certify(member, second)
    assert certify(member, second, grown=grown).method.startswith("Occam")
    fresh = count(members.tree, *noise(rng, 100), sample="fresh")
    assert certify(member, fresh).method.startswith("test sample")


def test_on_noise_the_price_is_needed_and_paid():
    """Without the price the limit is false in every run: the best of very many prunings looks good by chance."""
    n_runs, n_false_without, n_false = 30, 0, 0
    for seed in range(n_runs):
        members, grown, held = noise_set(seed, n_grow=800, n_held=400)
        best = members.best
        n_false_without += binomial_upper(best.cost(members.node_cost), 400, math.log(DELTA)) < 0.5
        n_false += certify(best, held, grown=grown, method="occam", delta=DELTA).value < 0.5
    assert n_false_without == n_runs
    assert n_false <= DELTA * n_runs


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.covers_choice])
def test_every_method_that_pays_accepts_a_member(method):
    members, grown, held = noise_set(3)
    bound = certify(members.smallest(), held, grown=grown, method=method, delta=DELTA)
    assert bound.value >= 0.5


def test_a_member_of_a_file_has_still_seen_the_rows(tmp_path):
    rng = np.random.default_rng(0)
    X, y = noise(rng, 300)
    model = TreeClassifier(criterion="gini", cv=3, prune="reduced-error", random_state=0).fit(X, y)
    held = noise(rng, 100)
    members = model.alternatives(*held, within=0.1)
    small = model.with_pruning(members.sample(1, 0)[0])
    small.save(tmp_path / "small.json")
    loaded = load(tmp_path / "small.json")

    assert loaded.pruning_ == small.pruning_
    assert loaded.pruning_.provenance == small.pruning_.provenance
    assert (loaded.certificate_, loaded.selection_) == (None, None)
    for estimator in (small, loaded):
        with pytest.raises(LeakageError):
            estimator.certified_on(*held, method="test-sample")
    assert str(loaded.summary())
    assert loaded.export_text()


def test_the_estimator_uses_held_out_or_given_rows():
    rng = np.random.default_rng(0)
    X, y = noise(rng, 300)
    y = (X[:, 0] > 0.5).astype(int)
    model = TreeClassifier(criterion="gini", prune="reduced-error", random_state=0).fit(X, y)
    assert model.alternatives(within=3).n_rows == model.holdout_.total[0]
    assert model.alternatives(X[:50] + 0.001, y[:50], within=3).n_rows == 50
    without = TreeClassifier(criterion="gini", cv=3).fit(X, y)
    with pytest.raises(CountsError, match="no held-out rows"):
        without.alternatives()
    with pytest.raises(DataError, match="only one of X and y"):
        model.alternatives(X)
    with pytest.warns(UserWarning, match="the tree has learnt these rows"):
        without.alternatives(X, y)


def test_models_that_do_not_count_errors_are_refused():
    rng = np.random.default_rng(0)
    X, y = noise(rng, 300)
    costs = TreeClassifier(criterion="gini", cv=3, costs=[[0, 1], [5, 0]]).fit(X, y)
    with pytest.raises(UnsupportedError, match="matrix of costs"):
        costs.alternatives(*noise(rng, 50))


def test_an_estimator_takes_a_pruning_of_its_tree_only():
    rng = np.random.default_rng(0)
    X, y = noise(rng, 300)
    model = TreeClassifier(criterion="gini", prune="reduced-error", random_state=0).fit(X, y)
    member = model.alternatives(within=3).smallest()
    other = TreeClassifier(criterion="gini", prune="reduced-error", random_state=0).fit(X[:200], y[:200])
    assert model.with_pruning(member).pruning_ == member
    with pytest.raises(PruningError, match="another tree"):
        other.with_pruning(member)
    with pytest.raises(ParameterError, match="pruning="):
        model.with_pruning(3)
