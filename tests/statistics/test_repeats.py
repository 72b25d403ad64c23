"""Repeated rows: the verdict on multiplicities, the twins that count as errors, and their limit from partial sketches."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from secateur.data.sketch import RowKey
from secateur.statistics.repeats import Repeats, find_repeats, judge

KEY = RowKey(bytes(16), (0,))
N_HONEST = 300


def sketch(values, size=10**6):
    X = np.asarray(values, float)[:, None]
    return KEY.sketch([X], np.zeros(len(X), np.int64), 2, size=size)


def copies_of(values):
    return np.unique(values, return_counts=True)[1]


HONEST = {
    "continuous": lambda rng: rng.normal(size=300),
    "three values": lambda rng: rng.integers(0, 3, 300),
    "sixty values": lambda rng: rng.integers(0, 60, 300),
    "as many values as rows": lambda rng: rng.integers(0, 300, 300),
    "a thousand values": lambda rng: rng.integers(0, 1000, 300),
    "a heavy tail": lambda rng: rng.zipf(1.3, 300),
    "a geometric tail": lambda rng: rng.geometric(0.02, 300),
    "a tenth of thirty values": lambda rng: np.where(rng.random(300) < 0.1, rng.integers(0, 30, 300), rng.random(300)),
}


@pytest.mark.parametrize("population", HONEST)
def test_independent_rows_are_hardly_ever_taken_for_copies(population):
    rng = np.random.default_rng(0)

    verdicts = [judge(copies_of(HONEST[population](rng)))[0] for _ in range(N_HONEST)]

    assert verdicts.count("copies") <= 4  # at a true rate of 1e-3, more happens once in 3,000 times


@pytest.mark.parametrize("times", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("population", ["continuous", "sixty values", "as many values as rows", "a heavy tail"])
def test_a_whole_table_that_is_repeated_is_recognised(population, times):
    values = HONEST[population](np.random.default_rng(1))

    assert judge(copies_of(np.repeat(values, times)))[0] == "copies"


def test_continuous_rows_are_natural_and_a_few_pairs_are_in_doubt():
    assert judge(np.ones(200, int)) == ("natural", [])
    assert judge(np.repeat([1, 2], [195, 5])) == ("in doubt", [2])
    assert judge(np.repeat([1, 3], [195, 5])) == ("in doubt", [3])


def test_many_pairs_without_triples_are_copies():
    assert judge(np.repeat([1, 2], [1000, 200]))[0] == "copies"
    assert judge(np.repeat([1, 2, 3, 4], [1000, 200, 40, 6]))[0] == "natural"


def test_pairs_of_rarer_rows_beside_frequent_rows_are_natural_unless_rows_were_doubled():
    honest, doubled = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        times = np.concatenate([rng.poisson(5, 4000), rng.poisson(1, 2000)])
        times = times[times > 0]
        honest.append(judge(times)[0])
        doubled.append(judge(times * np.where(rng.random(len(times)) < 0.2, 2, 1))[0])

    assert honest.count("natural") >= 4
    assert doubled == ["copies"] * 8


def test_twins_are_rows_that_stand_in_both_samples_or_twice_in_the_certifying_one():
    grown = sketch([*range(100), 7, 8])
    certifying = sketch([0, 1, 2, *range(200, 270), 200, 201])

    found = find_repeats([grown], certifying)

    assert found.verdict == "in doubt"
    assert (found.n_errors, found.n_within, found.n_rows) == (5, 2, 75)
    assert found.errors_by_class == (5, 0)
    assert found.text == "5 of 75 rows occur in the growing sample or more than once; they count as errors"


def test_all_twins_of_copies_count_and_more_than_half_is_refused():
    values = np.repeat(np.random.default_rng(2).normal(size=150), 2)
    np.random.default_rng(3).shuffle(values)
    grown, certifying = sketch(values[:200]), sketch(values[200:])
    n_twins = len(values[200:]) - len(set(values[200:]) - set(values[:200]))

    found = find_repeats([grown], certifying)

    assert found.verdict == "copies"
    assert found.n_errors == n_twins
    assert found.is_refused


def test_equal_sketches_of_used_samples_count_once():
    grown, certifying = sketch(np.arange(100)), sketch(np.arange(95, 195))

    assert find_repeats([grown, grown], certifying) == find_repeats([grown], certifying)


def test_the_limit_from_partial_sketches_is_below_the_number_of_twins_at_most_as_often_as_it_may_be():
    rng = np.random.default_rng(4)
    n_low = n_runs = 200
    for i in range(n_runs):
        key = RowKey(i.to_bytes(16, "little"), (0,))
        values = rng.normal(size=4000)
        values[:100] = values[2000:2100]
        parts = [
            key.sketch([part[:, None]], np.zeros(2000, np.int64), 2, size=256)
            for part in (values[2000:], values[:2000])
        ]
        found = find_repeats(parts[:1], parts[1], delta=0.5)
        assert found.verdict in ("in doubt", "copies")
        n_low -= found.n_errors >= 100
    assert n_low <= 20  # the limit costs a tenth of delta, .05; more happens once in 500 times


def test_complete_sketches_cost_no_part_of_delta():
    found = find_repeats([sketch(np.arange(100))], sketch(np.arange(95, 195)))

    assert found.delta == 0
    assert found.n_errors == found.n_seen == 5


def test_the_waiver_of_the_caller_is_stated():
    found = find_repeats([sketch(np.arange(100))], sketch(np.arange(95, 195))).as_independent()

    assert found.n_errors == found.n_seen == 0
    assert "as the caller states" in found.text


@pytest.mark.parametrize(("population", "expected"), [("continuous", True), ("sixty values", False)])
def test_copies_of_a_part_of_few_valued_rows_cannot_be_noticed(population, expected):
    rng = np.random.default_rng(5)
    values = [HONEST[population](rng) for _ in range(8)]
    grown, certifying = sketch(np.concatenate(values[:4])), sketch(np.concatenate(values[4:]))

    found = find_repeats([grown], certifying)

    assert found.copies_detectable == expected
    assert ("not distinct enough" in found.text) != expected


SPEC = importlib.util.spec_from_file_location("repeats", Path(__file__).parents[2] / "benchmarks" / "repeats.py")
lane = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(lane)
N_RUNS = 100
MAX_FALSE = 21  # of 100; at a true rate of .1, more happens once in 2,000 times


@pytest.mark.parametrize("way", lane.WAYS)
@pytest.mark.parametrize(
    "population", [name for name in lane.POPULATIONS if "mixed" in lane.POPULATIONS[name] or "300" in name]
)
def test_copies_make_no_limit_false_where_they_are_called_detectable(population, way):
    """A short form of the lane: all populations with a continuous column."""
    kind, n = lane.POPULATIONS[population]

    runs = [lane.run(kind, n, *way, np.random.default_rng([1, i])) for i in range(N_RUNS)]

    assert sum(is_false_after for _, is_false_after, _, _ in runs) <= MAX_FALSE
    if way[1] == 0 and kind == "continuous":
        assert sum(price for _, _, price, _ in runs) == 0


def test_nothing_is_known_without_sketches():
    assert Repeats().text == ""
    assert not Repeats().is_refused
