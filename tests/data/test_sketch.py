"""What a sample remembers of its rows: the hash, the smallest hashes, and that nothing depends on the order."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur import count, encode, grow
from secateur.data.sketch import HASH_RANGE, MAX_HASHES, RowKey, Sketch, merge_sketches
from secateur.errors import CountsError

KEY = RowKey(bytes(range(16)), (0, 1, 3))


def slow_hash(row, answer, key):
    """The definition, with Python's whole numbers: factors join the float32 patterns, SipHash-1-3 takes in two words."""
    mask = 2**64 - 1
    factors = hashlib.shake_128(key.salt).digest(8 * len(key.columns))
    joined = 0
    for j, cell in enumerate(row):
        value = np.float32(np.nan) if np.isnan(cell) else np.float32(cell) + np.float32(0)
        factor = int.from_bytes(factors[8 * j : 8 * j + 8], "little") | 1
        joined = (joined + factor * int(value.view(np.uint32))) & mask
    k0, k1 = (int.from_bytes(key.salt[i : i + 8], "little") for i in (0, 8))
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def turned(x, bits):
        return ((x << bits) | (x >> (64 - bits))) & mask

    def rounds():
        v[0] = (v[0] + v[1]) & mask
        v[1] = turned(v[1], 13) ^ v[0]
        v[0] = turned(v[0], 32)
        v[2] = (v[2] + v[3]) & mask
        v[3] = turned(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & mask
        v[3] = turned(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & mask
        v[1] = turned(v[1], 17) ^ v[2]
        v[2] = turned(v[2], 32)

    for word in (joined, answer):
        v[3] ^= word
        rounds()
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(3):
        rounds()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


@pytest.mark.lane
def test_the_hashes_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * 10.0 ** rng.integers(-30, 30, (40, 3))
    X[3, 1], X[4, 2], X[5, 0], X[6, 0] = np.nan, -0.0, np.inf, 1e300
    y = rng.integers(0, 3, 40)

    sketch = KEY.sketch([X[:15], X[15:]], y, 4)

    with np.errstate(over="ignore"):
        assert sketch.hashes.tolist() == sorted(slow_hash(row, int(c), KEY) for row, c in zip(X, y, strict=True))
    assert sketch.n_by_class.tolist() == np.bincount(y, minlength=4).tolist()


def test_rounded_rows_are_recognised():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.zeros(200, np.int64)
    halves, decimals = X.astype(np.float16).astype(float), X.round(6)

    exact, of_halves, of_decimals = (KEY.sketch([rows], y, 2) for rows in (X, halves, decimals))

    def n_shared(one, other):
        return len(np.intersect1d(one.hashes, other.hashes))

    assert n_shared(exact, of_halves) == n_shared(exact, of_decimals) == 0
    assert n_shared(exact.rounded[0], of_decimals.rounded[0]) > 150
    assert n_shared(exact.rounded[1], of_halves.rounded[1]) > 195
    assert n_shared(exact.rounded[0], of_halves.rounded[0]) < 10


def test_values_that_float32_cannot_tell_apart_are_the_same_row():
    X = np.array([[0.1, -0.0, np.nan]])
    rounded = X.astype(np.float32).astype(np.float64)
    odd = np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0]
    again = np.array([[np.nextafter(rounded[0, 0], 1), 0.0, odd]])

    one, two = (KEY.sketch([rows], np.zeros(1, np.int32), 2) for rows in (rounded, again))

    assert one == two


@given(st.integers(0, 10**6), st.integers(1, 400), st.integers(1, 6), st.sampled_from([8, 64, MAX_HASHES]))
def test_merging_sketches_of_parts_in_any_order_gives_the_sketch_of_the_sample(seed, n, n_parts, size):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, rng.integers(2, 30), (n, 3)).astype(float), rng.integers(0, 2, n)
    part = rng.integers(0, n_parts, n)

    full_sketch = KEY.sketch([X], y, 2, size=size)
    sketches = [KEY.sketch([X[part == p]], y[part == p], 2, size=size) for p in rng.permutation(n_parts)]

    merged = merge_sketches(sketches)
    assert merged == full_sketch
    assert merged.rounded == full_sketch.rounded
    assert [len(rounded.hashes) > 0 for rounded in full_sketch.rounded] == [True, True, True]
    assert full_sketch.theta == (HASH_RANGE if len(full_sketch.hashes) < size else int(full_sketch.hashes[-1]) + 1)
    assert full_sketch.copies.sum() <= n == full_sketch.n_rows


def test_the_smallest_hashes_of_the_different_rows_are_kept_with_their_numbers():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 60, (50_000, 3)).astype(float), rng.integers(0, 2, 50_000)

    sketch = KEY.sketch(iter([X[:20_000], X[20_000:]]), y, 2)

    rows, first, n = np.unique(np.column_stack([X, y]), axis=0, return_index=True, return_counts=True)
    every = KEY.sketch([X[first]], y[first], 2, size=len(rows))
    order = {h: c for h, c in zip(every.hashes.tolist(), every.classes.tolist(), strict=True)}
    assert sketch.hashes.tolist() == sorted(order)[:MAX_HASHES]
    assert [order[h] for h in sketch.hashes.tolist()] == sketch.classes.tolist()
    assert sketch.copies.sum() == pytest.approx(n.mean() * MAX_HASHES, rel=0.1)


def test_sketches_of_different_trees_do_not_add_up():
    one = KEY.sketch([np.zeros((1, 3))], np.zeros(1, np.int64), 2)
    two = RowKey(bytes(16), KEY.columns).sketch([np.zeros((1, 3))], np.zeros(1, np.int64), 2)

    with pytest.raises(CountsError, match="different trees"):
        one.merge(two)
    with pytest.raises(CountsError, match="at most 1"):
        Sketch(KEY, [1, 2], [0, 0], [1, 1], [2], size=1)


def frame_like(X, order):
    import pandas as pd

    return pd.DataFrame(X, columns=list("abcd"))[[*order]]


def test_the_sketch_of_counts_does_not_depend_on_order_columns_and_weights():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.where(np.nan_to_num(X[:, 0]) > 0, "yes", "no")
    tree, grown = grow(frame_like(X[:200], "abcd"), y[:200])
    shuffled = rng.permutation(100)

    plain = count(tree, frame_like(X[200:], "abcd"), y[200:])
    other = count(tree, frame_like(X[200:][shuffled], "dbca"), y[200:][shuffled], sample_weight=rng.integers(1, 5, 100))

    assert plain.sketch == other.sketch != grown.sketch
    assert (plain.n_rows, other.n_rows, grown.n_rows) == (100, 100, 200)
    assert not plain.is_weighted
    assert other.is_weighted
    assert tree.history == {"grow"}
    assert tree.history.samples[0].sketch == grown.sketch


def test_rows_of_weight_zero_are_not_in_the_sketch():
    X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    tree, _ = grow(X, y)

    some = count(tree, X, y, sample_weight=[1] * 6 + [0] * 4)

    assert some.sketch == count(tree, X[:6], y[:6]).sketch
    assert some.n_rows == 6
    assert not some.is_weighted


def test_a_sample_without_a_sketch_is_still_known_by_its_number_of_rows():
    tree, _ = grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])

    counts = count(tree, [[0.0], [5.0]], ["no", "yes"], sample_weight=[3, 1], sketch=False)

    assert counts.sketch is None
    assert counts.n_rows == 2
    assert counts.is_weighted


def test_equal_trees_have_equal_sketches_and_other_trees_different_ones():
    X, y = np.arange(40.0)[:, None], np.arange(40) // 10 % 2
    one, again, other = (grow(X, y, max_depth=depth)[1].sketch for depth in (5, 5, 1))

    assert one == again
    assert one.key != other.key
    assert encode(X, target=y).n_rows == one.n_rows == other.n_rows
