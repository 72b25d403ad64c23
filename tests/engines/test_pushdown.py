"""Push-down: the engine evaluates the tree, and the guard stops it where it differs."""

import numpy as np
import pytest
from hypothesis import given, settings

import secateur
from secateur import engines
from secateur.engines import _pushdown
from secateur.errors import DataError, SchemaError, UnsupportedError
from small_tables import samples
from versions import needs

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
parquet = pytest.importorskip("pyarrow.parquet")


def lazy_sources(table, folder):
    parquet.write_table(table, folder / "rows.parquet")
    path = folder / "rows.parquet"
    yield pl.scan_parquet(path)
    yield duckdb.connect().sql(f"SELECT * FROM read_parquet('{path}', can_have_nan=true)")


@needs("duckdb", "1.3", "read_parquet has no option can_have_nan")
def test_lazy_frames_give_the_counts_of_memory(held_out, tmp_path):
    for source in lazy_sources(held_out.table, tmp_path):
        counts, scan = engines.count(held_out.tree, source, "sold", engine="narwhals", return_scan=True)

        assert counts == held_out.counts()
        assert scan.engine == "narwhals"
        assert scan.n_verified > 2000
        assert scan.n_unseen == {"colour": held_out.table["colour"].to_pylist().count("mauve")}


@needs("duckdb", "1.3", "read_parquet has no option can_have_nan")
def test_whole_weights_give_the_counts_of_memory(plain_held_out, tmp_path):
    for source in lazy_sources(plain_held_out.table, tmp_path):
        counts = engines.count(plain_held_out.tree, source, "sold", engine="narwhals", sample_weight="times")

        assert counts == plain_held_out.weighted()
        assert counts.has_integer_weights


@settings(max_examples=15)
@given(samples())
def test_any_small_sample_is_counted_as_it_was_grown(sample):
    grown = pl.DataFrame({f"c{j}": sample.X[:, j] for j in range(sample.X.shape[1])})
    nominal = [f"c{j}" for j in sample.nominal]
    for splits in ("binary", "multiway"):
        tree, counts = secateur.grow(grown, sample.y, nominal=nominal, splits=splits)

        engine_counts = engines.count(
            tree, grown.with_columns(y=sample.y).lazy(), "y", engine="narwhals", sample="grow"
        )

        assert np.array_equal(engine_counts.by_class, counts.by_class)


def test_a_chain_of_a_hundred_tests_takes_many_stages():
    x = np.arange(101.0)
    parent = np.repeat(np.arange(0, 200, 2), 2)  # 0 tests x <= 0.5, its right child 2 tests x <= 1.5, ...
    parent = np.array([-1, *parent], np.int32)
    threshold = np.full(201, np.nan)
    threshold[0:200:2] = np.arange(0.5, 100)
    grown, _ = secateur.grow(pa.table({"x": x[:2]}), ["no", "yes"])
    feature = np.where(np.isnan(threshold), -1, 0).astype(np.int32)
    tree = secateur.Tree(parent, feature, threshold, schema=grown.schema)
    labels = np.where(x % 3 == 0, "yes", "no")

    counts = engines.count(tree, pl.LazyFrame({"x": x, "y": labels}), "y", engine="narwhals")

    assert counts == secateur.count(tree, pa.table({"x": x}), labels)


def test_a_tree_that_is_too_deep_is_refused_with_advice(monkeypatch):
    monkeypatch.setattr(_pushdown, "MAX_STAGES", 0)
    tree, _ = secateur.grow(pa.table({"x": [1.0, 2.0]}), ["no", "yes"])

    with pytest.raises(UnsupportedError, match=r"too deep to push down.*engine='duckdb'"):
        engines.count(tree, pl.LazyFrame({"x": [1.0], "y": ["no"]}), "y", engine="narwhals")


def test_the_moments_of_a_number_are_those_of_the_stream():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"x": rng.normal(size=400), "n": 1e4 + rng.normal(size=400), "w": rng.random(400)})
    tree, _ = secateur.grow(frame.select("x"), frame["n"], criterion="squared_error", max_depth=4)

    pushed = engines.count(tree, frame.lazy(), "n", engine="narwhals", sample_weight="w")
    streamed = engines.count(tree, frame.lazy(), "n", sample_weight="w")

    for name in ("weight", "mean", "sse"):
        assert np.allclose(getattr(pushed, name), getattr(streamed, name), rtol=1e-9)


# ---- the guard


def nan_file(tmp_path, n=40_000):
    """Rows of which a few late ones are NaN, in a file whose statistics do not tell of them."""
    x = np.random.default_rng(0).normal(size=n)
    x[n - 50 :] = np.nan
    parquet.write_table(pa.table({"x": x, "y": np.where(x > 0, "yes", "no").tolist()}), tmp_path / "nan.parquet")
    grown = np.array([-1.0, -0.5, 0.5, 1.0, np.nan])  # missing goes left, with the majority
    tree, _ = secateur.grow(pa.table({"x": np.repeat(grown, [3, 1, 1, 1, 9])}), ["no"] * 4 + ["yes"] * 2 + ["no"] * 9)
    return tree, tmp_path / "nan.parquet"


def test_verification_refuses_duckdb_when_it_treats_nan_as_a_number(tmp_path):
    tree, path = nan_file(tmp_path)
    connection = duckdb.connect()
    believes = connection.sql(f"SELECT count(*) FROM read_parquet('{path}') WHERE isnan(x)").fetchall()[0][0]
    if believes == 50:
        pytest.skip(f"DuckDB {duckdb.__version__} finds NaN without can_have_nan")

    with pytest.raises(DataError, match=r"duckdb sends the row \(x=nan\).*nothing was counted.*can_have_nan=true"):
        engines.count(tree, connection.sql(f"FROM read_parquet('{path}')"), "y", engine="narwhals")


@needs("duckdb", "1.3", "read_parquet has no option can_have_nan")
def test_the_same_file_is_right_with_can_have_nan_and_as_a_stream(tmp_path):
    tree, path = nan_file(tmp_path)
    table = parquet.read_table(path)
    expected = secateur.count(tree, table.select(["x"]), table["y"].to_pylist())

    relation = duckdb.connect().sql(f"FROM read_parquet('{path}', can_have_nan=true)")

    assert engines.count(tree, relation, "y", engine="narwhals") == expected
    assert engines.count(tree, path, "y", engine="duckdb") == expected
    assert engines.count(tree, duckdb.connect().sql(f"FROM read_parquet('{path}')"), "y") == expected


def test_verification_finds_a_single_row_next_to_a_threshold(monkeypatch):
    n = 20_000
    x = np.linspace(-1.0, 1.0, n)
    tree, _ = secateur.grow(pa.table({"x": x}), (x > 0.5).astype(int))
    edge = float(tree.threshold[0])
    x[n - 1] = np.nextafter(edge, 1)
    frame = pl.DataFrame({"x": x, "y": (x > edge).astype(int)})
    rounded = np.float64(np.nextafter(edge, 1))  # an engine whose literal is one step too large

    def wrong(task, v, moves):
        import narwhals.stable.v2 as nw

        return nw.when(nw.col("test0") > rounded).then(moves[2]).otherwise(moves[1])

    monkeypatch.setattr(_pushdown, "_destination", wrong)
    with pytest.raises(DataError, match=r"polars sends the row .* to node 1, secateur sends it to node 2"):
        engines.count(tree, frame.lazy(), "y", engine="narwhals")


def test_rows_with_a_rare_missing_value_are_verified(monkeypatch):
    n = 5000
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=n), rng.normal(size=n)
    tree, _ = secateur.grow(pa.table({"a": a, "b": b}), ((a > 0) ^ (b > 0)).astype(int), max_depth=6)
    a[2500:4500] = np.nan
    b[n - 1] = np.nan
    compared = []
    compare = _pushdown._compare_leaves
    monkeypatch.setattr(_pushdown, "_compare_leaves", lambda rows, *rest: compared.append(rows) or compare(rows, *rest))

    engines.count(tree, pl.LazyFrame({"a": a, "b": b, "y": [0] * n}), "y", engine="narwhals")

    names = sorted({int(j) for j in tree.feature if j >= 0})
    assert names == [0, 1]
    assert any(rows["raw1"].is_nan().any() for rows in compared[1:])


# ---- what cannot be counted


@pytest.mark.parametrize(
    ("columns", "error", "says"),
    [
        ({"x": [1.0], "y": [None]}, DataError, "0 rows with a target"),
        ({"x": ["a"], "y": ["no"]}, SchemaError, "'x' is String, but number is needed"),
        ({"z": [1.0], "y": ["no"]}, SchemaError, "lacks the columns 'x'"),
        ({"x": [1.0]}, SchemaError, "no column 'y'"),
        ({"x": [1.0], "y": ["no"], "w": [-1.0]}, DataError, "weight 'w' is missing, negative or infinite in 1 rows"),
        ({"x": [1.0], "y": ["no"], "w": [float("nan")]}, DataError, "weight 'w' is missing"),
    ],
)
def test_rows_that_cannot_be_counted_are_refused(columns, error, says):
    tree, _ = secateur.grow(pa.table({"x": [1.0, 2.0]}), ["no", "yes"])
    frame = pl.LazyFrame(columns, schema_overrides={"y": pl.String} if "y" in columns else None)

    with pytest.raises(error, match=says):
        engines.count(tree, frame, "y", engine="narwhals", sample_weight="w" if "w" in columns else None)


def test_new_classes_count_as_errors_with_a_warning():
    tree, _ = secateur.grow(pa.table({"x": [1.0, 2.0]}), ["no", "yes"])

    with pytest.warns(UserWarning, match="'maybe'"):
        counts = engines.count(tree, pl.LazyFrame({"x": [0.0, 9.0], "y": ["maybe", "yes"]}), "y", engine="narwhals")

    assert counts.by_class.tolist() == [[0, 1, 1], [0, 0, 1], [0, 1, 0]]


def test_a_failing_query_raises_our_error():
    tree, _ = secateur.grow(pa.table({"x": [1.0, 2.0]}), ["no", "yes"])
    frame = pl.LazyFrame({"t": ["1", "much"], "y": ["no", "no"]}).select("y", x=pl.col("t").cast(pl.Float64))

    with pytest.raises(DataError, match=r"cannot evaluate the tree.*much"):
        engines.count(tree, frame, "y", engine="narwhals")
