"""Put the rows of a pyarrow table where each engine reads them."""

from contextlib import contextmanager

import pytest

SCANNERS = ("duckdb", "polars", "pyarrow")
PLACES = ("memory", *SCANNERS, "polars lazy", "stream", "narwhals", "dask")


def require(place):
    """Skip the test if the library of a place is not installed."""
    if place in (*SCANNERS, "dask"):
        pytest.importorskip("distributed" if place == "dask" else place)


def put(table, place, folder, request, first_rows=3, batch_rows=2):
    """Return the source that holds a table in a place, and the arguments that choose its engine.

    Parameters
    ----------
    table : pyarrow.Table
    place : str
        One of PLACES.
    folder : Path
        Where files are written: two Parquet files, the first with `first_rows` rows.
    request : pytest.FixtureRequest
        Gives the Dask client, the fixture `client`.
    first_rows, batch_rows : int
        How the rows are split into files, or into batches of a stream.
    """
    if place == "memory":
        return table, {}
    if place in ("polars lazy", "narwhals"):
        import polars as pl

        return pl.from_arrow(table).lazy(), {"engine": "polars" if place == "polars lazy" else "narwhals"}
    if place == "stream":
        return table.to_reader(batch_rows), {}
    from pyarrow import parquet

    folder.mkdir(exist_ok=True)
    parquet.write_table(table.slice(0, first_rows), folder / "0.parquet")
    parquet.write_table(table.slice(first_rows), folder / "1.parquet")
    more = {"client": request.getfixturevalue("client")} if place == "dask" else {}
    return folder, {"engine": place, **more}


@contextmanager
def thread_client():
    """Give a Dask client whose only worker is in this process."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "processes": False, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client
