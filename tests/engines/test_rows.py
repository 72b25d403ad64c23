"""Samples know their rows whatever the engine, the order and the partitioning; a database that counts by itself does not."""

import numpy as np
import pytest

import secateur
from secateur import Pruning, certify, engines
from secateur.engines._spark import tally_summer, unpack_tallies
from secateur.errors import LeakageError
from secateur.routing import merge_tallies, plan_count

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def files(held_out, tmp_path):
    """The rows in three files of different sizes."""
    for i, (start, n) in enumerate([(0, 10), (10, 2000), (2010, 990)]):
        parquet.write_table(held_out.table.slice(start, n), tmp_path / f"{i}.parquet")
    return tmp_path


@pytest.mark.parametrize("engine", ["duckdb", "polars", "pyarrow"])
@pytest.mark.filterwarnings("ignore:.*beyond 2")
def test_the_sketch_of_files_is_that_of_rows_in_memory(engine, held_out, files):
    pytest.importorskip(engine)
    expected = held_out.counts()

    counts = engines.count(held_out.tree, files, "sold", engine=engine)

    assert counts.sketch == expected.sketch
    assert counts.n_rows == expected.n_rows == len(held_out.table)


@pytest.mark.filterwarnings("ignore:.*beyond 2")
def test_the_sketch_is_the_same_for_frames_streams_and_weights(held_out):
    expected = held_out.counts().sketch

    assert engines.count(held_out.tree, held_out.table, "sold").sketch == expected
    stream = pa.RecordBatchReader.from_batches(held_out.table.schema, held_out.table.to_batches(max_chunksize=70))
    assert engines.count(held_out.tree, stream, "sold").sketch == expected
    weighted = engines.count(held_out.tree, held_out.table, "sold", sample_weight="times")
    assert weighted.sketch == held_out.weighted().sketch
    assert weighted.n_rows == int(np.count_nonzero(held_out.table["times"].to_numpy()))
    assert weighted.is_weighted


@pytest.mark.filterwarnings("ignore:.*beyond 2")
def test_the_sums_of_spark_workers_add_up_to_the_sketch(plain_held_out):
    task = plan_count(
        plain_held_out.tree, tuple(plain_held_out.table.column_names), "sold", None, "majority-branch", "rows"
    )
    batches = plain_held_out.table.to_batches(max_chunksize=400)
    each = tally_summer(task, lambda batch: [task(batch)])
    (batch,) = tally_summer(task, unpack_tallies)(iter(part for batch in batches for part in each(iter([batch]))))

    (found,) = unpack_tallies(batch)

    assert found.sketch == merge_tallies(map(task, batches)).sketch == plain_held_out.counts().sketch
    assert found.n_used == len(plain_held_out.table)


@pytest.mark.filterwarnings("ignore:.*beyond 2")
def test_a_smaller_tree_reads_the_columns_that_tell_rows_apart_if_they_are_there(plain_held_out):
    tree, table = plain_held_out.tree, plain_held_out.table
    small = Pruning.from_cuts(tree, np.flatnonzero(tree.depth == 1)).to_tree()

    assert engines.count(small, table, "sold").sketch == plain_held_out.counts().sketch
    _, scan = engines.count(small, table, "sold", return_scan=True)
    assert scan.n_unseen == {"colour": table["colour"].to_pylist().count("mauve")}
    few = table.select([tree.schema.names[int(small.feature[0])], "sold"])
    assert engines.count(small, few, "sold").sketch is None


def test_counts_of_a_database_have_no_sketch_and_the_certificate_states_it():
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2))
    rows = polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "sold": X[:, 0] > rng.normal(size=400)})
    tree, grown = secateur.grow(rows[:200].drop("sold"), rows[:200]["sold"].to_numpy())
    unpruned = Pruning.from_cuts(tree, [], node_labels=grown.majority)

    pushed = engines.count(tree, rows[200:].lazy(), "sold", engine="narwhals", sample="test")

    assert (pushed.sketch, pushed.n_rows) == (None, 200)
    assert "not checked: sample 'test' has no sketch" in str(certify(unpruned, pushed))
    with pytest.raises(LeakageError, match="grew the tree"):
        certify(unpruned, engines.count(tree, rows[:200].lazy(), "sold", engine="polars", sample="test"))


def test_a_tree_grown_out_of_core_has_a_sketch_of_its_growing_rows(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 3))
    table = pa.table({**{f"x{j}": X[:, j] for j in range(3)}, "sold": (X[:, 0] > rng.normal(size=500)).astype(int)})
    parquet.write_table(table, tmp_path / "rows.parquet")

    tree, grown = engines.grow(tmp_path / "rows.parquet", "sold", max_depth=4)

    assert grown.sketch == engines.count(tree, table, "sold").sketch
    assert tree.history.samples[0].sketch == grown.sketch
    with pytest.raises(LeakageError, match="grew the tree"):
        certify(
            Pruning.from_cuts(tree, [], node_labels=grown.majority),
            engines.count(tree, table.slice(0, 400), "sold", sample="test"),
        )


def test_a_single_leaf_needs_no_column_but_the_target(tmp_path):
    tree, _ = secateur.grow(pa.table({"x": [1.0, 1.0]}), ["no", "yes"])
    parquet.write_table(pa.table({"sold": ["no", "no", "yes"]}), tmp_path / "rows.parquet")

    counts, scan = engines.count(tree, tmp_path, "sold", return_scan=True)

    assert counts.by_class.tolist() == [[2, 1]]
    assert (scan.n_rows, scan.n_unseen) == (3, {})
