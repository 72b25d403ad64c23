"""Tasks of counting rows batch by batch: weighted numbers, and trees that were cut from larger ones."""

import numpy as np
import pytest

import secateur
from secateur.routing import plan_count

pl = pytest.importorskip("polars")


def test_moments_of_weighted_numbers_are_those_of_repeated_rows():
    tree, _ = secateur.grow(pl.DataFrame({"x": [0.0, 1.0]}), [1.0, 5.0], criterion="squared_error")
    x, y, weight = [0.0, 0.0, 1.0, 1.0], [1.0, 4.0, 3.0, 7.0], [2, 1, 1, 3]
    task = plan_count(tree, ("x", "y", "w"), "y", "w")

    moments = task(pl.DataFrame({"x": x, "y": y, "w": weight})).finish(tree, "test")

    repeated = np.repeat(y, weight)
    low = repeated[np.repeat(x, weight) == 0.0]
    high = repeated[np.repeat(x, weight) == 1.0]
    for v, rows in enumerate((repeated, low, high)):
        assert moments.mean[v] == pytest.approx(rows.mean())
        assert moments.sse[v] == pytest.approx(((rows - rows.mean()) ** 2).sum())


def test_surrogates_read_their_own_column_when_an_untested_column_comes_first():
    frame = pl.DataFrame({"constant": [0.0] * 4, "x": [1.0, 2.0, 3.0, 4.0], "twin": [5.0, 6.0, 8.0, 9.0]})
    tree, _ = secateur.grow(frame, ["a", "a", "b", "b"], surrogates=1)
    task = plan_count(tree, (*frame.columns, "y"), "y")

    batch = pl.DataFrame({"constant": [0.0, 0.0], "x": [None, None], "twin": [5.0, 9.0]}, schema=frame.schema)

    assert task.leaves(batch).tolist() == [1, 2]


@pytest.fixture(name="cut_tree")
def fixture_cut_tree():
    """Return a tree that tests only x, cut from a tree that also tests z."""
    frame = pl.DataFrame({"x": [0.0, 0.0, 1.0, 1.0] * 3, "z": [0.0, 1.0, 0.0, 1.0] * 3})
    tree, grown = secateur.grow(frame, ["a", "a", "b", "c"] * 3)
    assert sorted(tree.tested_columns) == [0, 1]
    return secateur.Pruning.from_cuts(tree, [int(tree.internal[-1])], node_labels=grown.majority).to_tree()


def test_a_cut_tree_sketches_rows_that_have_all_columns_of_its_key(cut_tree):
    batch = pl.DataFrame({"x": [0.0, 1.0, 1.0], "z": [0.0, 0.0, 1.0], "y": ["a", "b", "c"]})

    found = plan_count(cut_tree, ("x", "z", "y"), "y")(batch).finish(cut_tree, "test")

    assert found.sketch == secateur.count(cut_tree, batch.select("x", "z"), batch["y"]).sketch


def test_a_cut_tree_counts_rows_that_lack_a_column_of_its_key_without_a_sketch(cut_tree):
    batch = pl.DataFrame({"x": [0.0, 1.0, 1.0], "y": ["a", "b", "c"]})

    found = plan_count(cut_tree, ("x", "y"), "y")(batch).finish(cut_tree, "test")

    assert found.by_class.tolist() == [[1, 1, 1], [1, 0, 0], [0, 1, 1]]
    assert found.sketch is None
