"""Engines whose batches are reordered, repeated, lost or broken off, at random.

The seeds of a run are those of FAULT_SEEDS, by default the same on every run; the seed is part of the name of a test
that fails: `FAULT_SEEDS=17,18 pytest tests/engines/test_faults.py`.
"""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import secateur
from secateur import engines
from secateur.engines import _source
from secateur.errors import DataError

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

SEEDS = [int(seed) for seed in os.environ.get("FAULT_SEEDS", "1,2,3").split(",")]
SCANNERS = ("duckdb", "polars", "pyarrow")
N_ROWS, N_BATCHES = 240, 8

each_seed = pytest.mark.parametrize("seed", SEEDS)
each_scanner = pytest.mark.parametrize("engine", SCANNERS)


class EngineBrokeError(Exception):
    """The error of an engine that dies in the middle of a scan."""


class FaultyBatches:
    """Give the batches of an engine with one fault at a random place.

    Parameters
    ----------
    fault : {"reorder", "duplicate", "drop", "kill"}
    seed : int
    """

    def __init__(self, fault, seed):
        self.fault, self.rng = fault, np.random.default_rng(seed)

    def of(self, batches):
        batches = list(batches)
        at = int(self.rng.integers(len(batches)))
        if self.fault == "reorder":
            batches = [batches[k] for k in self.rng.permutation(len(batches))]
        elif self.fault == "duplicate":
            batches.insert(int(self.rng.integers(len(batches) + 1)), batches[at])
        elif self.fault == "drop":
            del batches[at]
        for k, batch in enumerate(batches):
            if self.fault == "kill" and k == at:
                raise EngineBrokeError("the engine is gone")
            yield batch


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    size = rng.normal(size=N_ROWS)
    sold = np.where((size > 0.2) ^ (rng.random(N_ROWS) < 0.2), "yes", "no")
    return pa.table({"size": size, "colour": rng.choice(["red", "blue"], N_ROWS), "sold": sold})


@pytest.fixture(scope="module")
def tree(table):
    return secateur.grow(table.drop_columns(["sold"]), table["sold"].to_pylist(), min_samples_leaf=5)[0]


@pytest.fixture(scope="module")
def expected(tree, table):
    return secateur.count(tree, table.drop_columns(["sold"]), table["sold"].to_pylist())


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    """Parquet files of 30 rows, so that every engine gives several batches."""
    path = tmp_path_factory.mktemp("parquet")
    for k, first in enumerate(range(0, N_ROWS, N_ROWS // N_BATCHES)):
        parquet.write_table(table.slice(first, N_ROWS // N_BATCHES), path / f"{k}.parquet")
    return path


@pytest.fixture
def break_scan(monkeypatch):
    """A function that gives the batches of all scans one fault."""

    def apply(fault, seed):
        scan = _source.scan_files

        def faulty(task, files, engine):  # file by file, because an engine may join small files to one batch
            yield from FaultyBatches(fault, seed).of(b for file in files for b in scan(task, [file], engine))

        monkeypatch.setattr(_source, "scan_files", faulty)

    return apply


@each_seed
@each_scanner
def test_the_order_of_batches_does_not_matter(engine, seed, tree, folder, expected, break_scan):
    pytest.importorskip(engine)
    break_scan("reorder", seed)

    assert engines.count(tree, folder, "sold", engine=engine) == expected


@each_seed
@each_scanner
def test_an_engine_that_breaks_off_is_an_error_and_no_count(engine, seed, tree, folder, break_scan):
    pytest.importorskip(engine)
    break_scan("kill", seed)

    with pytest.raises((DataError, EngineBrokeError), match="the engine is gone"):
        engines.count(tree, folder, "sold", engine=engine)


@each_seed
@pytest.mark.parametrize(("fault", "n_read"), [("drop", 210), ("duplicate", 270)])
@each_scanner
def test_a_lost_or_repeated_batch_of_files_that_state_their_rows_is_noticed(
    engine, fault, n_read, seed, tree, folder, break_scan
):
    pytest.importorskip(engine)
    break_scan(fault, seed)

    with pytest.raises(DataError, match=f"{n_read} rows were read, but the files state 240; nothing was counted"):
        engines.count(tree, folder, "sold", engine=engine)


@each_seed
@pytest.mark.parametrize("fault", ["drop", "duplicate"])
def test_growing_notices_a_lost_or_repeated_batch(fault, seed, folder, break_scan):
    break_scan(fault, seed)

    with pytest.raises(DataError, match="rows were read, but the files state 240"):
        engines.grow(folder, "sold", engine="pyarrow")


@each_seed
def test_growing_does_not_depend_on_the_order_of_batches(seed, folder, break_scan):
    tree, counts = engines.grow(folder, "sold", engine="pyarrow")
    break_scan("reorder", seed)

    other_tree, other_counts = engines.grow(folder, "sold", engine="pyarrow")

    assert other_tree == tree
    assert other_counts == counts


@each_seed
@pytest.mark.parametrize("fault", ["reorder", "kill", "drop", "duplicate"])
def test_a_stream_is_counted_as_it_is_given(fault, seed, tree, table, expected):
    """A stream states no number of rows: a lost or repeated batch cannot be noticed, but rows are counted in `n_rows`."""
    batches = table.to_batches(max_chunksize=N_ROWS // N_BATCHES)
    reader = pa.RecordBatchReader.from_batches(table.schema, FaultyBatches(fault, seed).of(batches))
    if fault == "kill":
        with pytest.raises((DataError, EngineBrokeError), match="the engine is gone"):
            engines.count(tree, reader, "sold")
        return

    counts, scan = engines.count(tree, reader, "sold", return_scan=True)

    assert scan.n_rows == counts.n_rows == {"reorder": 240, "drop": 210, "duplicate": 270}[fault]
    assert (counts == expected) == (fault == "reorder")


def kill_at(part, task):
    """Run a task on a part; the marked part kills its worker process the first time."""
    mark, frame = part
    if mark:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            time.sleep(0.1)
    return task(frame)


@pytest.mark.parametrize("seed", SEEDS[:1])
def test_a_partition_whose_worker_is_killed_is_counted_once(seed, client, tree, table, expected, tmp_path):
    from secateur.engines import _dask
    from secateur.routing import plan_count

    rng = np.random.default_rng(seed)
    task = plan_count(tree, tuple(table.column_names), "sold", None, "majority-branch", "the table")
    firsts = rng.permutation(range(0, N_ROWS, 30)).tolist()
    victim = int(rng.choice(firsts))
    mark = str(tmp_path / "killed")
    parts = [(mark if first == victim else "", table.slice(first, 30)) for first in firsts]

    tally = _dask.Cluster(client, parts, timeout=60).sum_results(kill_at, parts, task)

    assert Path(mark).exists()
    assert tally.finish(tree, expected.sample) == expected


@each_seed
@pytest.mark.parametrize("fault", ["reorder", "drop", "duplicate"])
def test_dask_notices_files_that_are_lost_or_counted_twice(fault, seed, client, tree, folder, expected, monkeypatch):
    from secateur.engines import _dask

    def faulty(self, client, parts, timeout):
        create(self, client, list(FaultyBatches(fault, seed).of(parts)), timeout)

    create = _dask.Cluster.__init__
    monkeypatch.setattr(_dask.Cluster, "__init__", faulty)
    if fault == "reorder":
        assert engines.count(tree, folder, "sold", engine="dask", client=client) == expected
        return

    with pytest.raises(DataError, match="rows were read, but the files state 240"):
        engines.count(tree, folder, "sold", engine="dask", client=client)
