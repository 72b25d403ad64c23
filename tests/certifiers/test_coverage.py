"""The small form of `benchmarks/coverage.py`: no certified bound fails more often than delta."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from secateur.certifiers import binomial_upper

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "coverage.py"


@pytest.fixture(scope="module")
def coverage():
    spec = importlib.util.spec_from_file_location("coverage_simulation", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    sys.modules["coverage_simulation"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["coverage_simulation"]


@pytest.mark.parametrize("index", range(5))
def test_no_certified_bound_fails_more_often_than_delta(coverage, index):
    n_runs = 14
    concept = coverage.concepts()[index]
    table = coverage.simulate(concept, n_runs)
    limit = coverage.most_failures(n_runs)
    assert {method: row[0] for method, row in table.items() if row[0] > limit} == {}
    assert len(table) > 25


@pytest.mark.parametrize("index", range(2))
def test_no_importance_weighted_bound_fails_more_often_than_delta(coverage, index):
    n_runs = 14
    table = coverage.simulate(coverage.shifts()[index], n_runs)
    assert max(row[0] for row in table.values()) <= coverage.most_failures(n_runs)


def test_the_simulation_detects_a_bound_that_ignores_the_choice(coverage):
    """Clopper-Pearson on the sample that chose the pruning fails far too often on pure noise."""
    concept = coverage.concepts()[0]
    rng = np.random.default_rng(0)
    n_runs, failures = 60, 0
    for _ in range(n_runs):
        grown, held = concept.draw(rng, concept.n_grow, "grow"), concept.draw(rng, concept.n_prune, "prune")
        cost = held.errors_if_leaf(grown.majority) / concept.n_prune
        chosen = coverage.cut_where(concept.tree, cost, grown.majority)
        errors = int(chosen.errors(held))
        bound = binomial_upper(errors, concept.n_prune, np.log(coverage.DELTA))
        failures += chosen.errors(concept.truth()) > bound
    assert failures > coverage.most_failures(n_runs)
