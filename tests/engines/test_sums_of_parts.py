"""Counts add up: rows where a predicate is true, false or missing are all rows, on every engine.

Each test draws a table, a tree and predicates at random. The seed is part of the name of the test.
"""

import numpy as np
import pytest

import secateur
from secateur import engines

pa = pytest.importorskip("pyarrow")
pytest.importorskip("polars")

import pyarrow.compute as pc  # noqa: E402

from engine_places import PLACES, put, require, thread_client  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

each_place = pytest.mark.parametrize("place", PLACES)
each_seed = pytest.mark.parametrize("seed", range(3))
N_ROWS = 90


@pytest.fixture(scope="module")
def client():
    with thread_client() as client:
        yield client


def random_table(rng, n_rows=N_ROWS):
    """Return rows with numbers (some null, some NaN, some infinite), categories, booleans, a target and weights."""
    size = np.round(rng.normal(size=n_rows), 1)
    size[rng.random(n_rows) < 0.1] = np.nan
    size[rng.random(n_rows) < 0.05] = rng.choice([-np.inf, np.inf])
    colours = ["red", "blue", "", "o'hara", None]
    return pa.table(
        {
            "size": pa.array(size, mask=rng.random(n_rows) < 0.1),
            "whole": pa.array(rng.integers(-3, 4, n_rows), mask=rng.random(n_rows) < 0.1),
            "colour": pa.array([colours[k] for k in rng.integers(0, 5, n_rows)]),
            "truth": pa.array(rng.random(n_rows) < 0.5, mask=rng.random(n_rows) < 0.1),
            "sold": pa.array([["no", "perhaps", "yes"][k] for k in rng.integers(0, 3, n_rows)]),
            "times": pa.array(rng.integers(0, 4, n_rows)),
        }
    )


def features(table):
    return table.drop_columns(["sold", "times"])


def random_tree(rng):
    table = random_table(rng)
    splits = str(rng.choice(["binary", "multiway"]))
    with pytest.warns(UserWarning, match="infinite") if _has_infinite(table) else _no_warnings():
        return secateur.grow(features(table), table["sold"].to_pylist(), splits=splits, min_samples_leaf=3)[0]


def _has_infinite(table):
    return bool(np.isinf(table["size"].to_numpy()).any())


def _no_warnings():
    import warnings

    return warnings.catch_warnings()


def random_predicate(rng, table):
    """Return for each row whether a random comparison is true, false or missing."""
    name = str(rng.choice(["size", "whole", "colour", "truth"]))
    value = rng.choice([x for x in table[name].to_pylist() if x is not None])
    value = value.item() if isinstance(value, np.generic) else value
    compare = {
        "size": [pc.less, pc.greater_equal, pc.not_equal], "whole": [pc.less, pc.greater_equal, pc.equal],
        "colour": [pc.equal, pc.less], "truth": [pc.equal],
    }[name]  # fmt: skip
    result = compare[rng.integers(len(compare))](table[name], value)
    if rng.random() < 0.5:
        result = pc.and_kleene(result, pc.greater(table["whole"], 0))
    return result


def parts_of(table, predicate):
    """Return the rows where a predicate is true, those where it is false, and those where it is missing."""
    return [
        table.filter(pc.fill_null(predicate, False)),
        table.filter(pc.fill_null(pc.invert(predicate), False)),
        table.filter(pc.is_null(predicate)),
    ]


@pytest.fixture
def count(request, place, tmp_path):
    """Return a function that counts a table in a place; `more` are arguments of `put` and `engines.count`."""
    require(place)

    def counted(tree, table, *, first_rows=3, batch_rows=7, **more):
        source, options = put(table, place, tmp_path, request, first_rows, batch_rows)
        return engines.count(tree, source, "sold", ignore=["times"], **options, **more)

    return counted


@pytest.mark.filterwarnings("ignore:.*(is|are) infinite")
@each_seed
@each_place
def test_the_parts_of_a_predicate_add_up_to_all_rows(place, seed, count):
    rng = np.random.default_rng(seed)
    tree, table = random_tree(rng), random_table(rng)
    everything = count(tree, table).by_class
    in_memory = secateur.count(tree, features(table), table["sold"].to_pylist()).by_class
    assert np.array_equal(everything, in_memory)
    for _ in range(2):
        parts = [part for part in parts_of(table, random_predicate(rng, table)) if part.num_rows]
        assert sum(part.num_rows for part in parts) == N_ROWS

        assert np.array_equal(sum(count(tree, part).by_class for part in parts), everything)


@pytest.mark.filterwarnings("ignore:.*(is|are) infinite")
@each_seed
@each_place
def test_the_weighted_parts_of_a_predicate_add_up_too(place, seed, count, request, tmp_path):
    rng = np.random.default_rng(100 + seed)
    tree, table = random_tree(rng), random_table(rng)

    def weighted(rows):
        source, options = put(rows, place, tmp_path, request)
        return engines.count(tree, source, "sold", sample_weight="times", **options).by_class

    parts = [part for part in parts_of(table, random_predicate(rng, table)) if pc.sum(part["times"]).as_py()]

    assert np.array_equal(sum(weighted(part) for part in parts), weighted(table))


@pytest.mark.filterwarnings("ignore:.*(is|are) infinite")
@each_seed
@each_place
def test_every_row_twice_doubles_all_counts(place, seed, count):
    rng = np.random.default_rng(200 + seed)
    tree, table = random_tree(rng), random_table(rng)

    doubled = count(tree, pa.concat_tables([table, table])).by_class

    assert np.array_equal(doubled, 2 * count(tree, table).by_class)


@pytest.mark.filterwarnings("ignore:.*(is|are) infinite")
@each_seed
@each_place
def test_the_order_of_rows_columns_and_partitions_changes_nothing(place, seed, count):
    rng = np.random.default_rng(300 + seed)
    tree, table = random_tree(rng), random_table(rng)
    shuffled = table.take(rng.permutation(N_ROWS)).select(rng.permutation(table.column_names).tolist())

    expected = count(tree, table)
    counts = count(tree, shuffled, first_rows=int(rng.integers(1, N_ROWS)), batch_rows=int(rng.integers(1, N_ROWS)))

    assert counts == expected
    assert counts.sketch == expected.sketch
