"""Doubts about the rows of a certificate are said once, and copies are said with the remedy."""

import warnings

import numpy as np
import pytest

import secateur
from secateur.errors import SecateurWarning
from secateur.statistics.freshness import Freshness
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
