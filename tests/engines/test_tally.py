"""Tallies are additive: any cut of the rows, any order of adding, gives the same sums."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secateur
from secateur.errors import DataError
from secateur.routing import merge_tallies, plan_count
from small_tables import samples

pl = pytest.importorskip("polars")


def planned(sample):
    """The task of counting the rows of a sample as frames, and the frame."""
    grown = pl.DataFrame({f"c{j}": sample.X[:, j] for j in range(sample.X.shape[1])})
    frame = grown.with_columns(y=sample.y)
    if sample.weight is not None:
        frame = frame.with_columns(w=sample.weight.astype(float))
    tree, counts = secateur.grow(
        grown, sample.y, nominal=[f"c{j}" for j in sample.nominal], sample_weight=sample.weight
    )
    weight = None if sample.weight is None else "w"
    return plan_count(tree, tuple(frame.columns), "y", weight, "majority-branch", "the frame"), frame, tree, counts


@st.composite
def cuts(draw, **kinds):
    sample = draw(samples(**kinds))
    order = draw(st.permutations(range(len(sample.y))))
    return sample, order, sorted(draw(st.lists(st.integers(0, len(sample.y)), max_size=4)))


@given(cuts())
def test_merged_tallies_of_parts_give_the_counts_of_the_sample(drawn):
    sample, order, edges = drawn
    task, frame, tree, counts = planned(sample)
    shuffled = frame[list(order)]

    bounds = [0, *edges, len(frame)]
    parts = [task(shuffled[a:b]) for a, b in pairwise(bounds)]

    assert np.array_equal(merge_tallies(parts).finish(tree, "grow").by_class, counts.by_class)


@given(cuts(weights="fractional"))
def test_fractional_weights_do_not_depend_on_the_cut(drawn):
    sample, order, edges = drawn
    task, frame, tree, counts = planned(sample)
    shuffled = frame[list(order)]

    bounds = [0, *edges, len(frame)]
    parts = [task(shuffled[a:b]) for a, b in pairwise(bounds)]
    found = merge_tallies(reversed(parts)).finish(tree, "grow")

    assert np.array_equal(found.by_class, task(frame).finish(tree, "grow").by_class)
    assert np.allclose(found.by_class, counts.by_class, rtol=1e-13, atol=1e-13)


def test_a_task_that_has_travelled_counts_as_before_with_the_same_kernels():
    X = np.random.default_rng(0).normal(size=(200, 3))
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": (X[:, 0] > 0).astype(int)})
    tree, counts = secateur.grow(frame.select("a", "b"), frame["y"])
    task = plan_count(tree, ("a", "b", "y"), "y", None, "majority-branch", "the frame")

    travelled = pickle.loads(pickle.dumps(task))

    assert np.array_equal(travelled(frame).finish(tree, "grow").by_class, counts.by_class)
    assert not travelled.tree.feature.flags.writeable


def test_a_task_contains_only_what_workers_need():
    X = np.random.default_rng(0).normal(size=(2000, 3))
    columns = {f"other{j}": ["x", "y"] * 1000 for j in range(50)}
    frame = pl.DataFrame({"a": X[:, 0], **columns})
    tree, _ = secateur.grow(frame, (X[:, 0] > 0).astype(int))

    task = plan_count(tree, (*frame.columns, "y"), "y", None, "majority-branch", "the frame")

    assert task.columns == ("a", "y")
    assert len(pickle.dumps(task)) < 5000


def test_weights_whose_sum_wraps_around_are_refused_wherever_it_happens():
    tree, _ = secateur.grow(pl.DataFrame({"x": [0.0, 1.0]}), ["a", "b"])
    task = plan_count(tree, ("x", "y", "w"), "y", "w", "majority-branch", "the frame")
    n, most = 2**11, 2.0**53 - 1
    rest = [1000.0, 1000.0, 1000.0]  # n * most + 3,000 is 952 in 64 bits
    rows = pl.DataFrame({"x": [0.0] * (n + 3), "y": ["a"] * (n + 3), "w": [most] * n + rest})

    with pytest.raises(DataError, match=r"2\*\*53 or more.*common factor"):
        task(rows)
    with pytest.raises(DataError, match=r"2\*\*53 or more.*common factor"):
        merge_tallies(task(rows[i : i + 1]) for i in range(len(rows)))
