"""Doubts about the rows of a certificate are said once, and copies are said with the remedy."""

import warnings

import numpy as np
import pytest

import secateur
from secateur import Counts, Tree, TreeClassifier, certify, count
from secateur.core.provenance import SampleUsage
from secateur.errors import SecateurWarning
from secateur.statistics.freshness import Freshness, compare_samples
from secateur.statistics.repeats import Repeats


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    tree, _ = secateur.grow(X, y)
    return secateur.count(tree, rng.normal(size=(40, 2)), rng.integers(0, 2, 40), sample="later")


def test_a_doubt_is_a_warning(counts):
    freshness = Freshness(text="3 of 40 rows occur in 'grow'", doubt="3 of 40 rows occur in 'grow'")

    with pytest.warns(SecateurWarning, match=r"3 of 40 rows occur in 'grow': are they fresh rows\?"):
        freshness.certifying_rows(counts, "a test sample", 0.05)


def test_rows_without_a_doubt_give_no_warning(counts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Freshness(text="compared", is_checked=True).certifying_rows(counts, "a test sample", 0.05)


@pytest.mark.parametrize("options", [{"warns": False}, {"repeats": Repeats()}])
def test_a_doubt_that_was_said_already_is_not_said_again(counts, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Freshness(text="doubt", doubt="doubt").certifying_rows(counts, "a test sample", 0.05, **options)


def test_the_price_of_counting_repeated_rows_is_taken_from_the_failure_probability(counts):
    known = Repeats(verdict="in doubt", n_rows=40, n_errors=3, delta=0.01)

    rows = Freshness(text="compared", is_checked=True).certifying_rows(counts, "a sample", 0.05, repeats=known)

    assert rows.delta == pytest.approx(0.04)
    assert rows.bound_fields["delta"] == 0.05


def test_the_name_of_a_used_sample_is_refused_only_on_request():
    tree = Tree.from_parents([-1, 0, 0])
    used = SampleUsage.of(Counts.from_leaves(tree, [[5, 1], [1, 5]], sample="mine"))
    same_name = Counts.from_leaves(tree, [[4, 2], [2, 4]], sample="mine")

    assert compare_samples(used, same_name).leak == ""
    assert "sample 'mine' grew the tree" in compare_samples(used, same_name, refuses_name=True).leak


def test_fit_counts_copies_exactly_where_sketches_hold_a_part_of_the_rows():
    rng = np.random.default_rng(0)
    X, fresh = rng.normal(size=(2500, 2)), rng.normal(size=(2000, 2))
    fresh[:300] = fresh[300:600]
    y, labels = X[:, 0] > 0, fresh[:, 0] > 0
    n_copies = 2000 - len(np.unique(fresh[:, 0].astype(np.float32)))  # the only column that the tree tests
    model = TreeClassifier(prune=None, criterion="gini", max_depth=1, certify=True)
    with pytest.warns(UserWarning, match=rf"^{n_copies} of the 2,000 rows .* are copies"):
        model.fit(X, y, X_holdout=fresh, y_holdout=labels)

    assert model.certificate_.n_repeated == n_copies
    assert model.certificate_.details["log_delta"] == pytest.approx(np.log(0.05))  # nothing was paid for an estimate
    estimated = certify(model.pruning_, count(model.tree_, fresh, labels, sample="again"), method="test-sample")
    assert estimated.n_repeated > n_copies
