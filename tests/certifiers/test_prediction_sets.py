"""Prediction sets: naive values, exact coverage over all samples, unseen classes, ties, pooling, misuse, files."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from secateur import Counts, Pruning, Tree, TreeClassifier, TreeRegressor
from secateur.certifiers import calibrate, prediction_sets
from secateur.core import Calibration
from secateur.errors import LeakageError, ParameterError, UnsupportedError
from secateur.modelfile import dumps_model, loads_model

CLASSES = np.array(["go", "rest", "stay", "talk"])


def population(rng, n):
    X = rng.uniform(size=(n, 2))
    shares = np.where(X[:, :1] < 0.5, [0.7, 0.2, 0.05, 0.05], [0.1, 0.2, 0.3, 0.4])
    return X, CLASSES[(rng.random((n, 1)) > shares.cumsum(axis=1)).sum(axis=1).clip(max=3)]


def by_hand(tree, grown_rows, held_out_rows):
    """A pruning without cuts, growing counts and a calibration, from the classes of the rows of each leaf."""
    pruning = Pruning.from_cuts(tree, [])
    held_out = Counts.from_leaves(tree, held_out_rows, sample="fresh")
    return pruning, Counts.from_leaves(tree, grown_rows), Calibration(held_out, pruning.digest)


def naive_set(grown_row, held_out_row, coverage):
    """The classes of a leaf up to the rank of its true classes, row by row."""
    ranked = sorted(range(len(grown_row)), key=lambda c: (-grown_row[c], c))
    rank_of = {c: i + 1 for i, c in enumerate(ranked)}
    ranks = sorted(rank_of.get(c, len(grown_row) + 1) for c, n in enumerate(held_out_row) for _ in range(n))
    k = math.ceil(Fraction(str(coverage)) * (len(ranks) + 1))
    size = len(grown_row) if k > len(ranks) else min(ranks[k - 1], len(grown_row))
    return tuple(ranked[:size])


@pytest.mark.parametrize("coverage", [0.3, 0.5, 0.8, 0.9, 0.97])
@pytest.mark.parametrize("seed", range(5))
def test_a_set_has_the_first_classes_up_to_the_rank_that_covers(coverage, seed):
    rng = np.random.default_rng(seed)
    tree = Tree.from_parents([-1, 0, 0, 0])
    grown_rows = 1000 * rng.integers(2, 5, (3, 4))  # with ties
    held_out_rows = rng.integers(30, 60, (3, 4 + seed % 2))  # with a class that growing did not see
    sets = prediction_sets(*by_hand(tree, grown_rows, held_out_rows), coverage=coverage)
    assert sets.n_units == 3
    assert sets.sets.tolist() == [
        naive_set(*rows, coverage) for rows in zip(grown_rows.tolist(), held_out_rows.tolist(), strict=True)
    ]


@pytest.mark.parametrize("coverage", [0.4, 0.6, 0.75])
def test_the_class_of_a_new_row_is_covered_over_all_samples(coverage):
    chances, n = (0.5, 0.3, 0.2), 5
    tree, covered = Tree.from_parents([-1, 0, 0]), 0.0
    for drawn in itertools.product(range(3), repeat=n):
        chance = math.prod(chances[i] for i in drawn)
        row = np.bincount(drawn, minlength=3)
        parts = by_hand(tree, [[5, 9, 3], [0, 0, 0]], [row, [0, 0, 0]])
        sets = prediction_sets(*parts, coverage=coverage, by="all").sets[0]
        covered += chance * sum(chances[c] for c in sets)
    assert covered >= coverage - 1e-12


def test_rows_of_unseen_classes_make_a_set_unbounded_and_it_says_so():
    tree = Tree.from_parents([-1, 0, 0])
    parts = by_hand(tree, [[500, 100], [100, 500]], [[60, 10, 30], [10, 80, 0]])
    sets = prediction_sets(*parts, coverage=0.9)
    assert sets.sets.tolist() == [(0, 1), (1, 0)]
    assert sets.is_bounded.tolist() == [False, True]
    assert "in 1 of 2 units the set contains all classes without a guarantee" in str(sets)
    assert prediction_sets(*parts, coverage=0.6).sets.tolist() == [(0, 1), (1,)]


def test_too_few_rows_give_all_classes():
    tree = Tree.from_parents([-1, 0, 0])
    sets = prediction_sets(*by_hand(tree, [[50, 0, 0], [0, 50, 0]], [[4, 0, 0], [0, 4, 0]]), coverage=0.9)
    assert sets.sets.tolist() == [(0, 1, 2), (1, 0, 2)]
    assert "the set contains all classes without a guarantee, because there are fewer than the 9" in sets.guarantee


def test_leaves_with_few_rows_are_pooled_by_ranks():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    parts = by_hand(tree, [[40, 10], [5, 45], [900, 0]], [[30, 10], [40, 20], [900, 0]])
    sets = prediction_sets(*parts, coverage=0.8)
    assert sets.unit.tolist() == [0, 1, 2]
    pooled = prediction_sets(*parts, coverage=0.99)
    assert pooled.unit.tolist() == [0, 0, 0]
    assert pooled.sets.tolist() == [(0, 1), (1, 0), (0, 1)]  # 30 of 1,000 rows have the second rank


def test_an_estimator_predicts_sets():
    rng = np.random.default_rng(0)
    model = TreeClassifier(certify=True, cv=3, select=2).fit(*population(rng, 900))
    X, y = population(rng, 4000)
    for options in ({}, {"confidence": 0.9}, {"by": "all"}):
        sets = model.predict_set(X, 0.8, **options)
        assert np.mean([label in found for label, found in zip(y, sets, strict=True)]) > 0.77
    assert set(model.predict_set(X, 0.6)) == {("go",), ("talk", "stay")}
    assert model.prediction_sets().to_dict()["kind"] == "conformal"

    certified = TreeClassifier(select="certificate", cv=3).fit(*population(rng, 600))
    with pytest.raises(LeakageError, match=r"calibrated_on\(X, y\)"):
        certified.predict_set(X)
    assert len(certified.calibrated_on(X, y).predict_set(X[:3])) == 3
    with pytest.raises(UnsupportedError, match="need held-out rows"):
        TreeClassifier(cv=3).fit(*population(rng, 100)).predict_set(X)
    from secateur.model_selection import sets_of

    with pytest.raises(UnsupportedError, match="predict_interval"):
        sets_of(TreeRegressor(cv=3).fit(X[:50], X[:50, 0]).model_)


def test_certified_on_calibrates_too():
    rng = np.random.default_rng(0)
    model = TreeClassifier(cv=3, select=2).fit(*population(rng, 300)).certified_on(*population(rng, 300))
    assert model.prediction_sets().sample == "certify"


def test_a_file_keeps_the_calibration_of_classes():
    rng = np.random.default_rng(0)
    model = TreeClassifier(certify=True, cv=3).fit(*population(rng, 300)).calibrated_on(*population(rng, 300))
    X, _ = population(rng, 100)
    for sketch in (True, False):
        data = dumps_model(model.model_, sketch=sketch)
        loaded = loads_model(data)
        again = TreeClassifier.from_model(loaded)
        assert again.predict_set(X).tolist() == model.predict_set(X).tolist()
        assert bool(loaded.calibration.stated) != sketch
    document = json.loads(data)
    assert document["calibration"]["sample"]["sample"] == "calibrate"


def test_numbers_are_refused_for_sets_and_options_are_checked():
    tree = Tree.from_parents([-1, 0, 0])
    pruning, grown, rows = by_hand(tree, [[50, 0], [0, 50]], [[40, 0], [0, 40]])
    with pytest.raises(ParameterError, match="by="):
        prediction_sets(pruning, grown, rows, by="class")
    with pytest.raises(LeakageError, match="calibrate another pruning"):
        prediction_sets(Pruning.from_cuts(tree, [0]), grown, rows)
    assert calibrate(Pruning.from_cuts(tree, [], node_labels=[0, 0, 1]), replace(rows.sample)).n_repeated == 0
