"""Certificates hold in every flow: enough runs of each to refute a failure rate of 20 %.

Each flow is run until the sequential test of `sequential.py` decides, with fixed seeds, so that the outcome never
changes. A flow whose certificates (delta .1) fail with a rate of .1 or less is refuted with probability at most .001.
One that fails with a rate of .2 or more is accepted with probability at most .05, of .3 or more with less than .001.
`benchmarks/coverage.py` runs the flows thousands of times, on more populations.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sequential import is_refuted

SPEC = importlib.util.spec_from_file_location("flows", Path(__file__).parents[2] / "benchmarks" / "flows.py")
flows = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(flows)


def is_flow_refuted(flow, population, seed):
    return is_refuted(flows.iter_failures(flows.FLOWS[flow], flows.POPULATIONS[population], seed))


@pytest.mark.filterwarnings("ignore:every row has the class", "ignore:.*they count as errors")
@pytest.mark.parametrize("flow", flows.FLOWS)
def test_no_flow_is_refuted_on_noise(flow, capsys):
    """On noise a tree that has memorised its rows, or was chosen by them, is wrong most often: in half of all rows."""
    assert not is_flow_refuted(flow, "noise", seed=1)


@pytest.mark.filterwarnings("ignore:every row has the class")
@pytest.mark.parametrize("flow", ["fit, certify", "fit, select='certificate'", "fit, reduced-error", "certified_on"])
def test_no_flow_is_refuted_where_there_is_something_to_learn(flow):
    assert not is_flow_refuted(flow, "noisy", seed=1)


@pytest.mark.filterwarnings("ignore:every row has the class")
@pytest.mark.parametrize("flow", ["fit, certify", "fit, certify, most rows aside", "fit, reduced-error"])
def test_many_classes_are_no_easier_to_certify(flow):
    """If held-out rows had the class shares of the growing rows, a quarter of these certificates would be false."""
    assert not is_flow_refuted(flow, "26 classes of noise", seed=2)


@pytest.mark.parametrize(("rate", "refuted"), [(0.02, False), (0.1, False), (0.2, True), (0.3, True)])
def test_the_sequential_test_decides_as_often_wrongly_as_it_states(rate, refuted):
    rng = np.random.default_rng(0)
    n_refuted = sum(is_refuted(rng.random(1000) < rate) for _ in range(2000))
    n_wrong = 2000 - n_refuted if refuted else n_refuted
    stated = {0.02: 0.001, 0.1: 0.001, 0.2: 0.05, 0.3: 0.001}[rate]
    assert n_wrong <= 2000 * stated + 3 * (2000 * stated) ** 0.5
