"""Growing out of core: the tree of `secateur.grow` with the same bins, whatever the partitioning."""

import os
import signal
import threading
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secateur
from secateur import engines
from secateur.data.batch import Batch
from secateur.data.raw_column import NumberColumn
from secateur.engines import Bins, _level_growth, _order_statistics, _passes
from secateur.errors import DataError, ParameterError, SchemaError, UnsupportedError
from small_tables import samples
from versions import needs

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

FIELDS = ("parent", "feature", "threshold", "rounded", "branch_start", "branch", "default", "score")


def assert_same(found, expected):
    """Equal to the last bit: structure, tests, scores, what the columns are, and counts."""
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(found[0], name), getattr(expected[0], name), err_msg=name)
    assert found[0].schema == expected[0].schema
    assert found[1] == expected[1]


def table_of(n_rows, seed=0, n_classes=2):
    """Columns of every kind, with gaps, ties and more values than bins."""
    rng = np.random.default_rng(seed)
    size = rng.lognormal(size=n_rows)
    size[rng.random(n_rows) < 0.05] = np.nan
    colour = rng.choice(["red", "blue", "green", "", "mauve", "grey"], n_rows)
    score = np.nan_to_num(size) + (colour == "red") + rng.normal(size=n_rows)
    return pa.table(
        {
            "size": pa.array(size, mask=rng.random(n_rows) < 0.03),  # NaN and null mixed
            "age": rng.integers(0, 90, n_rows),
            "rounded": rng.normal(size=n_rows).round(1).astype(np.float32),
            "flag": rng.integers(0, 2, n_rows).astype(float),
            "colour": pa.array(colour, mask=rng.random(n_rows) < 0.05),
            "is_new": rng.random(n_rows) < 0.3,
            "constant": np.ones(n_rows),
            "y": pa.array(np.array(["c", "a", "b"])[np.digitize(score, np.linspace(1, 2, n_classes - 1))]),
        }
    )


def in_memory(table, **rules):
    return secateur.grow(table.drop_columns(["y"]), np.array(table["y"].to_pylist(), object), **rules)


def write(table, folder, cuts, row_group_size=None):
    folder.mkdir(exist_ok=True)
    cuts = [0, *sorted(cuts), table.num_rows]
    for k in range(len(cuts) - 1):
        part = table.slice(cuts[k], cuts[k + 1] - cuts[k])
        parquet.write_table(part, folder / f"{k:02d}.parquet", row_group_size=row_group_size)
    return folder


@pytest.mark.lane
@given(sample=samples(max_rows=14), rules=st.fixed_dictionaries({
    "criterion": st.sampled_from(["gini", "entropy", "sqrt"]),
    "max_bins": st.sampled_from([2, 3, 255]),
    "max_depth": st.sampled_from([None, 2]),
    "min_samples_leaf": st.sampled_from([1, 2]),
}), finish_rows=st.sampled_from([0, 48, 10**6]))  # fmt: skip
def test_any_small_table_gives_the_tree_of_memory(sample, rules, finish_rows):
    expected = sample.grow(**rules)

    streamed = engines.grow(sample.X, sample.y, nominal=list(sample.nominal), finish_rows=finish_rows, **rules)

    assert_same(streamed, expected)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "sqrt"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_large_table_gives_the_tree_of_memory_for_any_number_of_finish_rows(criterion, n_classes):
    table = table_of(3000, n_classes=n_classes)
    rules = {"criterion": criterion, "max_bins": 20, "min_samples_leaf": 3}
    expected = in_memory(table, **rules)

    for finish_rows in (0, 1600, 10**6):  # levels only; levels, then nodes of 100 rows; in memory from the root on
        assert_same(engines.grow(table, "y", finish_rows=finish_rows, **rules), expected)


@pytest.mark.filterwarnings("ignore:column 'id' has 9,000 categories")
def test_many_categories_give_the_tree_of_memory():
    """They are tested only near the root, also in the parts that are finished from rows."""
    rng = np.random.default_rng(4)
    words = [f"u{k}" for k in rng.permutation(np.resize(np.arange(9000), 18_000))]
    rules = {"criterion": "gini", "min_samples_leaf": 2, "max_bins": 20}
    table = pa.table({"id": words, "x": rng.normal(size=18_000), "y": rng.integers(0, 2, 18_000)})
    expected = in_memory(table, **rules)
    assert expected[0].depth[expected[0].feature == 0].max() == 10
    for finish_rows in (0, 2000):
        assert_same(engines.grow(table, "y", finish_rows=finish_rows, **rules), expected)


@pytest.mark.parametrize("engine", ["duckdb", "polars", "pyarrow"])
def test_files_give_the_tree_of_memory_whatever_the_cuts_and_the_order(engine, tmp_path):
    pytest.importorskip(engine)
    table = table_of(2000, seed=1)
    rules = {"max_bins": 15, "min_samples_leaf": 4}
    expected = in_memory(table, **rules)
    rng = np.random.default_rng(3)

    for k, cuts in enumerate(([], [3, 700, 700, 1999], [500, 1000, 1500])):  # 700 twice: an empty file
        mixed = table.take(rng.permutation(table.num_rows)) if k else table
        folder = write(mixed, tmp_path / str(k), cuts, row_group_size=150)
        streamed = engines.grow(folder, "y", engine=engine, finish_rows=800, n_jobs=1 + k, **rules)
        assert_same(streamed, expected)


@needs("duckdb", "1.3", "read_parquet has no option can_have_nan")
def test_lazy_frames_datasets_and_relations_are_read_where_they_are(tmp_path):
    polars, dataset = pytest.importorskip("polars"), pytest.importorskip("pyarrow.dataset")
    duckdb = pytest.importorskip("duckdb")
    table = table_of(600, seed=2)
    folder = write(table, tmp_path / "data", [300])
    expected = in_memory(table, max_bins=9)

    for source in (
        polars.scan_parquet(folder / "*.parquet"),
        dataset.dataset(folder),
        duckdb.connect().sql(f"select * from read_parquet('{folder}/*.parquet', can_have_nan=true)"),
    ):
        assert_same(engines.grow(source, "y", max_bins=9), expected)


def test_the_counts_are_those_of_routing_the_rows():
    table = table_of(1500, seed=4)

    tree, counts = engines.grow(table, "y", max_bins=7, finish_rows=0, max_depth=6)

    labels = np.array(table["y"].to_pylist(), object)
    assert secateur.count(tree, table.drop_columns(["y"]), labels, sample="grow") == counts
    assert tree.depth.max() == 6


def test_codes_on_disk_and_many_passes_a_level_change_nothing(tmp_path):
    table = table_of(1200, seed=5)
    expected = engines.grow(table, "y", max_bins=12)
    folder = write(table, tmp_path / "data", [400, 800])
    (tmp_path / "codes").mkdir()

    with mock.patch.object(_passes, "MAX_MEMORY_BYTES", 0), mock.patch.object(_level_growth, "MAX_HISTOGRAM_BYTES", 1):
        streamed = engines.grow(folder, "y", max_bins=12, finish_rows=320, folder=str(tmp_path / "codes"))

    assert_same(streamed, expected)
    assert list((tmp_path / "codes").iterdir()) == []


@pytest.mark.lane
@pytest.mark.filterwarnings("ignore:column 'x0' is infinite")
@given(
    st.lists(
        st.sampled_from([0.0, -0.0, 1.0, 1.0 + 2**-52, -np.inf, np.inf, 5e-324, 1e300, 3.25]) | st.floats(), min_size=2
    ),
    st.integers(2, 9),
)
def test_bins_are_those_of_memory(values, n_bins):
    column = np.array(values)
    labels = (np.arange(len(values)) % 2).tolist()
    X = np.column_stack([column, np.arange(len(values))])

    with mock.patch.object(
        _order_statistics, "MAX_COLLECTED_KEYS", 3
    ):  # so that bits are counted, and the last few values collected
        streamed = engines.grow(X, labels, max_bins=n_bins, n_jobs=1, finish_rows=0)

    assert_same(streamed, secateur.grow(X, labels, max_bins=n_bins))


def test_order_statistics_are_exact_when_nothing_is_collected():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=3000), np.repeat(rng.normal(), 900), rng.integers(0, 5, 500)])
    top = np.zeros(1 << 16, np.int64)
    keys = _order_statistics.ranks.sort_keys(values)
    np.add.at(top, (keys >> np.uint64(48)).astype(int), 1)
    wanted = np.array([0, 17, 2000, 3500, 4399])
    search = _order_statistics.OrderStatisticSearch.begin("x", wanted, top)
    n_passes = 0

    with mock.patch.object(_order_statistics, "MAX_COLLECTED_KEYS", -1):
        while not search.is_done:
            task = _order_statistics.RankTask((search.next_query(),))
            seen = task.start()
            task.add(seen, Batch(("x",), True, len(values), (lambda: NumberColumn(values),)), 0)
            search.learn(seen[0])
            n_passes += 1

    np.testing.assert_array_equal(search.values(), np.sort(values)[wanted])
    assert n_passes <= 4  # 12 bits at a time after the first 16


def test_given_bins_are_used_and_returned():
    table = table_of(800, seed=6)
    bins = Bins({"size": [0.5, 1.0, 2.0], "age": [30.0, 60.0]})

    tree, counts, used = engines.grow(table, "y", bins=bins, finish_rows=0, max_depth=4, return_bins=True)

    codes = table.set_column(0, "size", pa.array(bins.codes("size", table["size"].to_numpy()).astype(float)))
    codes = codes.set_column(1, "age", pa.array(bins.codes("age", table["age"].to_numpy())))
    gap = np.isnan(table["size"].to_numpy())
    codes = codes.set_column(0, "size", pa.array(np.where(gap, np.nan, codes["size"].to_numpy())))
    on_codes, their_counts = in_memory(codes, max_depth=4)
    np.testing.assert_array_equal(tree.feature, on_codes.feature)
    np.testing.assert_array_equal(counts.by_class, their_counts.by_class)
    assert used.edges["age"].tolist() == [30.0, 60.0]
    ages = np.sort(table["age"].to_numpy())
    between = {(ages[ages <= edge].max() + ages[ages > edge].min()) / 2 for edge in (30, 60)}
    assert set(tree.threshold[tree.feature == 1]) <= between


def test_the_sketch_gives_bins_of_about_equally_many_rows_in_one_pass(tmp_path):
    pytest.importorskip("datasketches")
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    table = pa.table({"x": x, "y": (x + rng.normal(size=len(x)) > 0).astype(int)})
    folder = write(table, tmp_path / "data", [7000])

    with mock.patch.object(_order_statistics.RankTask, "add", side_effect=AssertionError("a further pass")):
        _, counts, bins = engines.grow(folder, "y", max_bins=10, quantiles="sketch", max_depth=3, return_bins=True)

    shares = np.bincount(bins.codes("x", x)) / len(x)
    assert counts.total[0] == len(x)
    assert len(shares) == 10
    assert np.abs(shares - 0.1).max() < 0.01


def test_progress_is_called_with_the_number_of_settled_rows():
    told = []

    engines.grow(table_of(500), "y", finish_rows=0, progress=lambda *at: told.append(at))

    done = [n for n, _ in told]
    assert done == sorted(done)
    assert told[-1] == (500, 500)


def test_one_class_is_one_leaf():
    with pytest.warns(UserWarning, match="one leaf"):
        tree, counts = engines.grow(np.ones((3, 2)), ["a"] * 3)

    assert (tree.n_nodes, counts.by_class.tolist()) == (1, [[3]])


def test_a_class_and_a_category_seen_in_one_file_only_are_known(tmp_path):
    table = table_of(400, seed=7)
    labels, colours = table["y"].to_pylist(), table["colour"].to_pylist()
    labels[-1], colours[-1] = "z", "ochre"
    table = table.set_column(7, "y", pa.array(labels)).set_column(4, "colour", pa.array(colours))

    streamed = engines.grow(write(table, tmp_path / "data", [399]), "y")

    assert streamed[0].schema.classes.tolist() == ["a", "c", "z"]
    assert_same(streamed, in_memory(table, max_bins=255))


def test_a_column_without_a_value_in_one_file_is_missing_there(tmp_path):
    table = table_of(300, seed=8)
    folder = write(table, tmp_path / "data", [150])
    empty = table.slice(150).set_column(4, "colour", pa.nulls(150)).set_column(0, "size", pa.nulls(150))
    parquet.write_table(empty, folder / "01.parquet")
    whole = pa.concat_tables([table.slice(0, 150), empty.cast(table.schema)])

    assert_same(engines.grow(folder, "y"), in_memory(whole, max_bins=255))


def test_a_node_of_twice_the_smallest_leaf_is_split(tmp_path):
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "b", "b"]})
    folder = write(table, tmp_path / "data", [2])

    halves = engines.grow(folder, "y", finish_rows=0, min_samples_leaf=2)
    whole = engines.grow(folder, "y", finish_rows=0, min_samples_leaf=3)

    assert halves[1].by_class.tolist() == [[2, 2], [2, 0], [0, 2]]
    assert whole[1].by_class.tolist() == [[2, 2]]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (pa.array([2**53 + k for k in range(60)]), "column 'x' holds whole numbers beyond"),
        (pa.array([np.inf] * 30 + [*range(30)], pa.float64()), "column 'x' is infinite in 30 of 60 rows"),
    ],
)
def test_numbers_of_files_that_are_probably_not_meant_as_they_are_raise_a_warning(values, says, tmp_path):
    folder = write(pa.table({"x": values, "y": ["a", "b"] * 30}), tmp_path / "data", [30])

    with pytest.warns(UserWarning, match=says):
        engines.grow(folder, "y", max_depth=1)


def test_a_column_that_no_tree_can_use_is_named_unless_it_is_left_out(tmp_path):
    table = pa.table({"x": [1.0, 2.0], "tags": [[1], [2, 3]], "y": ["a", "b"]})
    folder = write(table, tmp_path / "data", [1])

    with pytest.raises(SchemaError, match=r"00\.parquet: column 'tags' is list<.*numbers, text or booleans are needed"):
        engines.grow(folder, "y")

    assert engines.grow(folder, "y", columns=["x"])[0].schema.names == ("x",)


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        (lambda t: t.drop_columns(["age"]), SchemaError, "lacks the columns 'age'"),
        (lambda t: t.append_column("more", t["age"]), SchemaError, "has the columns 'more'"),
        (lambda t: t.set_column(1, "age", pa.array(["old"] * t.num_rows)), SchemaError, "'age' holds text"),
        (
            lambda t: t.set_column(7, "y", pa.array([None] * t.num_rows, pa.string())),
            DataError,
            "target 'y' is missing in 60 rows",
        ),
    ],
)
def test_a_file_unlike_the_others_is_named(tmp_path, spoil, error, words):
    table = table_of(60)
    folder = write(table, tmp_path / "data", [30])
    parquet.write_table(spoil(table), folder / "01.parquet")

    with pytest.raises(error, match=words):
        engines.grow(folder, "y")


def test_a_damaged_file_is_named(tmp_path):
    folder = write(table_of(4000), tmp_path / "data", [2000])
    raw = bytearray((folder / "01.parquet").read_bytes())
    raw[4 : len(raw) // 2] = bytes(len(raw) // 2 - 4)  # the footer is sound: only reading the rows tells
    (folder / "01.parquet").write_bytes(raw)

    with pytest.raises(DataError, match=r"01\.parquet"):
        engines.grow(folder, "y")


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"criterion": "gain_ratio"}, UnsupportedError, "use secateur.grow"),
        ({"max_bins": None}, ParameterError, "every threshold"),
        ({"quantiles": "some"}, ParameterError, "quantiles='some'"),
        ({"engine": "spark"}, ParameterError, "engine='spark'"),
        ({"n_jobs": 0}, ParameterError, "n_jobs=0"),
        ({"finish_rows": -1}, ParameterError, "finish_rows=-1"),
        ({"bins": Bins({"colour": [1.0]})}, ParameterError, "bins names 'colour'"),
    ],
)
def test_bad_parameters_are_refused(given, error, words):
    with pytest.raises(error, match=words):
        engines.grow(table_of(30), "y", **given)


def test_csv_and_streams_that_end_are_refused_with_advice(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n")

    with pytest.raises(UnsupportedError, match="sink_parquet"):
        engines.grow(tmp_path / "a.csv", "y")
    with pytest.raises(UnsupportedError, match="read only once"):
        engines.grow(pa.RecordBatchReader.from_batches(table_of(9).schema, table_of(9).to_batches()), "y")


def test_edges_that_do_not_rise_are_refused():
    with pytest.raises(ParameterError, match="rising"):
        Bins({"size": [2.0, 1.0]})


# On a cluster.


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
class TestDask:
    def test_files_and_partitions_give_the_tree_of_memory(self, client, tmp_path):
        table = table_of(2000, seed=9, n_classes=3)
        folder = write(table, tmp_path / "data", [100, 100, 900, 1500])
        futures = [
            client.submit(table.slice, first, 700, pure=False) for first in range(0, 2800, 700)
        ]  # the last is empty
        rules = {"max_bins": 15, "min_samples_leaf": 5}
        expected = in_memory(table, **rules)

        assert_same(engines.grow(folder, "y", engine="dask", client=client, finish_rows=800, **rules), expected)
        assert_same(engines.grow(futures, "y", engine="dask", client=client, finish_rows=0, **rules), expected)

    def test_the_sketch_travels(self, client, tmp_path):
        pytest.importorskip("datasketches")
        table = table_of(2000, seed=10)
        folder = write(table, tmp_path / "data", [1000])

        tree, counts, bins = engines.grow(
            folder, "y", engine="dask", client=client, quantiles="sketch", max_bins=12, max_depth=4, return_bins=True
        )

        assert_same(engines.grow(table, "y", bins=bins, max_bins=12, max_depth=4), (tree, counts))

    def test_a_partition_that_lacks_a_column_is_refused(self, client):
        table = table_of(40)
        parts = [client.submit(lambda one: one, part, pure=False) for part in (table, table.drop_columns(["age"]))]

        with pytest.raises(SchemaError, match="lacks the columns 'age'"):
            engines.grow(parts, "y", engine="dask", client=client)

    def test_growing_continues_after_a_worker_is_killed(self, client, tmp_path):
        table = table_of(2000, seed=11)
        folder = write(table, tmp_path / "data", [500, 1000, 1500])
        victims = client.run(os.getpid)
        killed = threading.Event()

        def kill(done, total):
            if not killed.is_set():
                killed.set()
                os.kill(next(iter(victims.values())), signal.SIGKILL)

        streamed = engines.grow(folder, "y", engine="dask", client=client, finish_rows=640, max_bins=15, progress=kill)

        assert killed.is_set()
        assert_same(streamed, in_memory(table, max_bins=15))
