"""The small form of `benchmarks/intervals.py`: intervals and sets cover as often as they state."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from secateur import Pruning, count, grow
from secateur.certifiers import prediction_intervals
from secateur.core import Calibration
from secateur.routing import apply

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "intervals.py"


@pytest.fixture(scope="module")
def simulation():
    spec = importlib.util.spec_from_file_location("interval_simulation", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    sys.modules["interval_simulation"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["interval_simulation"]


@pytest.mark.parametrize("name", ["heteroscedastic", "discrete", "heavy_tailed", "missing"])
def test_intervals_cover_as_often_as_stated(simulation, name):
    found = simulation.simulate_intervals(simulation.POPULATIONS[name], 15, 300)
    assert {key for key, shares in found.items() if is_too_low(simulation, key, shares)} == set()
    assert len(found) > 10


def test_sets_cover_as_often_as_stated(simulation):
    found = simulation.simulate_sets(15, 300)
    assert {key for key, shares in found.items() if is_too_low(simulation, key, shares)} == set()


def test_limits_on_mean_losses_hold_as_often_as_stated(simulation):
    found = simulation.simulate_certificates(8, 60, 20_000)
    assert {key for key, shares in found.items() if is_too_low(simulation, key, shares)} == set()
    assert len(found) == 6


def is_too_low(simulation, key, shares):
    stated = simulation.stated(*key)
    return stated is not None and shares.is_below(stated)


def test_the_simulation_notices_intervals_from_the_rows_that_grew_the_tree(simulation):
    rng, shares = np.random.default_rng(0), simulation.Shares()
    for _ in range(15):
        X, y = simulation.heteroscedastic(rng, 300)
        tree, grown = grow(X, y, criterion="squared_error", min_samples_leaf=3)
        pruning = Pruning.from_cuts(tree, [])
        used = Calibration(count(tree, X, y, sample="grow"), pruning.digest)
        X_new, y_new = simulation.heteroscedastic(rng, 300)
        lower, upper = prediction_intervals(pruning, grown, used).of_leaves(apply(tree, X_new)).T
        shares.add(((lower <= y_new) & (y_new <= upper)).mean())
    assert shares.is_below(0.9)
