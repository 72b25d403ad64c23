"""Dask: a real cluster of two worker processes, its faults and its failures."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import secateur
from secateur import engines
from secateur.engines import _dask
from secateur.errors import DataError, ParameterError, SchemaError, UnsupportedError

distributed = pytest.importorskip("distributed")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


def write(table, folder, parts):
    cuts = np.linspace(0, table.num_rows, parts + 1).astype(int)
    for k in range(parts):
        parquet.write_table(table.slice(cuts[k], cuts[k + 1] - cuts[k]), folder / f"{k:02d}.parquet")
    return folder


def test_files_give_the_counts_of_memory(client, plain_held_out, tmp_path):
    told = []
    folder = write(plain_held_out.table, tmp_path, parts=11)  # more than one level of sums

    counts, scan = engines.count(
        plain_held_out.tree,
        folder,
        "sold",
        engine="dask",
        client=client,
        progress=lambda *at: told.append(at),
        return_scan=True,
    )

    assert counts == plain_held_out.counts()
    assert counts.sketch == plain_held_out.counts().sketch
    assert scan.n_unseen == {"colour": plain_held_out.table["colour"].to_pylist().count("mauve")}
    assert told[-1][1] == 11


def test_frames_and_lists_of_partitions_give_the_counts_of_memory(client, plain_held_out):
    dataframe = pytest.importorskip("dask.dataframe")
    table = plain_held_out.table
    pandas = table.to_pandas().astype({"node": "boolean"})  # Dask makes text of booleans with gaps
    frame = dataframe.from_pandas(pandas, npartitions=3)
    futures = [
        client.submit(table.slice, first, 1000, pure=False) for first in range(0, 4000, 1000)
    ]  # the last is empty

    assert engines.count(plain_held_out.tree, frame, "sold") == plain_held_out.counts()
    assert engines.count(plain_held_out.tree, frame, "sold", sample_weight="times") == plain_held_out.weighted()
    assert engines.count(plain_held_out.tree, futures, "sold", engine="dask") == plain_held_out.counts()


def test_a_partition_that_lacks_a_column_is_refused(client, plain_held_out):
    table = plain_held_out.table
    parts = [client.submit(table.slice, 0, 9, pure=False), client.submit(table.drop, ["size"], pure=False)]

    with pytest.raises(SchemaError, match="a partition lacks the columns 'size'"):
        engines.count(plain_held_out.tree, parts, "sold", client=client)


def test_a_file_that_spoils_on_a_worker_is_named(client, plain_held_out, tmp_path):
    folder = tmp_path
    parquet.write_table(plain_held_out.table, folder / "a.parquet")
    parquet.write_table(plain_held_out.table, folder / "b.parquet", compression="zstd", use_dictionary=False)
    spoilt = bytearray((folder / "b.parquet").read_bytes())
    spoilt[30:3000] = b"\xff" * 2970
    (folder / "b.parquet").write_bytes(spoilt)

    with pytest.raises(DataError, match=r"b\.parquet cannot be read by"):
        engines.count(plain_held_out.tree, folder, "sold", engine="dask", client=client)


def _kill_first_worker(part, task):
    """Count a partition; the first call kills its worker process."""
    mark, frame = part
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGKILL)
    except FileExistsError:
        time.sleep(0.1)
    return task(frame)


def test_growing_continues_after_a_worker_is_killed(client, plain_held_out, tmp_path):
    from secateur.routing import plan_count

    table = plain_held_out.table
    task = plan_count(plain_held_out.tree, tuple(table.column_names), "sold", None, "majority-branch", "the table")
    mark = str(tmp_path / "killed")
    parts = [(mark, table.slice(first, 300)) for first in range(0, 3000, 300)]

    tally = _dask.Cluster(client, parts, timeout=60).sum_results(_kill_first_worker, parts, task)

    assert Path(mark).exists()
    assert tally.finish(plain_held_out.tree, "prune") == plain_held_out.counts()


def test_a_scheduler_that_dies_is_reported_without_hanging(plain_held_out, tmp_path):
    folder = write(plain_held_out.table, tmp_path, parts=1)
    options = {"n_workers": 0, "processes": False, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster:  # without a worker nothing is ever done
        client = distributed.Client(cluster, set_as_default=False, timeout=5)
        killer = threading.Timer(0.5, cluster.close)
        killer.start()
        began = time.monotonic()

        with pytest.raises(DataError, match=r"no longer answers.*nothing was counted"):
            engines.count(plain_held_out.tree, folder, "sold", engine="dask", client=client, timeout=2)

        killer.join()
    with pytest.raises(DataError, match="no longer answers"):
        engines.count(plain_held_out.tree, folder, "sold", engine="dask", client=client, timeout=2)
    assert time.monotonic() - began < 20
    client.close()


def test_an_unreachable_scheduler_is_reported(plain_held_out, tmp_path):
    folder = write(plain_held_out.table, tmp_path, parts=1)

    with pytest.raises(DataError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9"):
        engines.count(plain_held_out.tree, folder, "sold", engine="dask", client="tcp://127.0.0.1:9", timeout=1)


def test_a_collection_without_columns_is_refused(client):
    array = pytest.importorskip("dask.array")
    tree, _ = secateur.grow(pa.table({"x": [1.0, 2.0]}), ["no", "yes"])

    with pytest.raises(UnsupportedError, match="no named columns"):
        engines.count(tree, array.zeros((3, 1)), "y", client=client)


def test_a_missing_client_is_reported_with_advice(plain_held_out, tmp_path, monkeypatch):
    def nobody(timeout):
        raise ValueError("No global client found")

    monkeypatch.setattr(distributed, "get_client", nobody)
    with pytest.raises(ParameterError, match=r"pass client=distributed\.Client"):
        engines.count(plain_held_out.tree, write(plain_held_out.table, tmp_path, 1), "sold", engine="dask")
