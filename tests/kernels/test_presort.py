"""Sorting of columns, against NumPy's."""

import numpy as np
import pytest

from secateur._kernels import packing, presort

RNG = np.random.default_rng(0)
COLUMNS = {
    "normal": RNG.normal(size=9000),
    "few": RNG.normal(size=700),
    "some": RNG.normal(size=3000),
    "missing": np.where(RNG.random(5000) < 0.2, np.nan, RNG.normal(size=5000)),
    "zeros of both signs": np.where(RNG.random(5000) < 0.5, -0.0, 0.0) + RNG.integers(0, 2, 5000) * 1e-3,
    "one": np.array([0.25]),
    "equal": np.full(5000, 0.3),
    "infinite": np.append(RNG.normal(size=5000), [np.inf, -np.inf, np.nan]),
    # The highest bits tell few of these apart, so that all bits are needed.
    "far and near": np.append(1 + np.arange(6000)[::-1] * 2.0**-23, [-1e30, 1e30]),
    "far and nearer": np.append(1 + np.arange(6000)[::-1] * 2.0**-52, [-1e300, 1e300]),
}


@pytest.mark.lane
@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("entry", [np.uint32, np.uint64])
@pytest.mark.filterwarnings("ignore:overflow")
def test_entries_are_in_order_of_value_then_row(name, dtype, entry):
    values = COLUMNS[name].astype(dtype)
    n = len(values)
    labels = (np.arange(n) * 7 % 5).astype(np.int32)
    out = np.empty((1, n), entry)
    [[n_values, n_missing]] = presort.sort_columns(
        values[:, None], np.zeros(1, np.int64), np.empty((1, n), dtype), labels, 4, out
    )
    order = np.argsort(values + 0.0, kind="stable")
    in_order = values[order]
    differs = np.append(False, (in_order[1:] != in_order[:-1]) & ~np.isnan(in_order[:-1]))

    assert (out[0] >> entry(4)).tolist() == order.tolist()
    assert ((out[0] & entry(15)) >> entry(1)).tolist() == labels[order].tolist()
    assert (out[0] & entry(1)).tolist() == differs.tolist()
    assert n_missing == np.isnan(values).sum()
    assert n_values == len(np.unique(values[~np.isnan(values)]))


@pytest.mark.lane
@pytest.mark.parametrize("name", COLUMNS)
def test_rows_are_in_order_of_value(name):
    values = COLUMNS[name]

    assert presort.sorted_rows(values).tolist() == np.argsort(values + 0.0, kind="stable").tolist()


@pytest.mark.lane
@pytest.mark.parametrize("third", [None, 0, 1500, 2999])
def test_a_third_value_is_found_wherever_it_stands(third):
    column = np.tile(np.array([3.0, 1.0], np.float32), 1500)
    if third is not None:
        column[third] = 2.0
    alone = packing.find_two_valued(column[:, None])
    beside = packing.find_two_valued(np.column_stack([column, column[::-1]]))

    assert alone[0].tolist() == [2 if third is None else 0]
    assert beside[0].tolist() == [2 if third is None else 0] * 2
    if third is None:
        assert (alone[1].tolist(), alone[2].tolist()) == ([1.0], [3.0])
