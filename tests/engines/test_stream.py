"""Files and streams: every scanner gives the counts of memory, and names what it cannot read."""

import gzip
import shutil
import sys

import numpy as np
import pytest

import secateur
from secateur import engines
from secateur.errors import DataError, ParameterError, SchemaError, UnsupportedError

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

SCANNERS = ("duckdb", "polars", "pyarrow")

each_scanner = pytest.mark.parametrize("engine", SCANNERS)


def write(table, folder, *, parts=3, **options):
    """Cut a table into files."""
    folder.mkdir(parents=True, exist_ok=True)
    cuts = np.linspace(0, table.num_rows, parts + 1).astype(int)
    for k in range(parts):
        part = table.slice(cuts[k], cuts[k + 1] - cuts[k])
        parquet.write_table(part, folder / f"part-{k}.parquet", **{"row_group_size": 700, **options})
    return folder


def stump(**columns):
    """A tree with one test on the column x, grown on y."""
    grown = pa.table(columns or {"x": [1.0, 2.0, 3.0, 4.0]})
    return secateur.grow(grown, ["no", "no", "yes", "yes"])[0]


@each_scanner
def test_parquet_files_give_the_counts_of_memory(engine, held_out, tmp_path):
    folder = write(held_out.table, tmp_path)

    counts, scan = engines.count(held_out.tree, folder, "sold", engine=engine, return_scan=True)

    assert counts == held_out.counts()
    assert counts.has_integer_weights
    assert (scan.engine, scan.n_rows) == (engine, held_out.table.num_rows)
    assert scan.n_unseen == {"colour": held_out.table["colour"].to_pylist().count("mauve")}


@each_scanner
def test_whole_weights_give_the_counts_of_memory(engine, held_out, tmp_path):
    folder = write(held_out.table, tmp_path)

    assert engines.count(held_out.tree, folder, "sold", engine=engine, sample_weight="times") == held_out.weighted()


@each_scanner
def test_csv_files_give_the_counts_of_memory(engine, held_out, tmp_path):
    table = held_out.table.set_column(3, "colour", pa.array([v or None for v in held_out.table["colour"].to_pylist()]))
    expected = secateur.count(held_out.tree, type(held_out)(held_out.tree, table).features, table["sold"].to_pylist())
    half = table.num_rows // 2
    csv.write_csv(table.slice(0, half), tmp_path / "a.csv")
    csv.write_csv(table.slice(half), tmp_path / "b.csv")
    with (tmp_path / "b.csv").open("rb") as plain, gzip.open(tmp_path / "c.csv.gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)

    for second in ("b.csv", "c.csv.gz"):
        counts = engines.count(held_out.tree, [tmp_path / "a.csv", tmp_path / second], "sold", engine=engine)
        assert counts == expected


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_neither_the_order_of_rows_nor_the_partitioning_changes_a_count(parts, plain_held_out, tmp_path):
    order = np.random.default_rng(parts).permutation(plain_held_out.table.num_rows)
    folder = write(plain_held_out.table.take(order), tmp_path, parts=parts, row_group_size=97 * parts)

    assert engines.count(plain_held_out.tree, str(folder / "*.parquet"), "sold") == plain_held_out.counts()


def test_fractional_weights_add_up_to_the_same_sums_in_any_order(plain_held_out, tmp_path):
    rng = np.random.default_rng(1)
    weight = rng.random(plain_held_out.table.num_rows) * 10.0 ** rng.integers(-9, 9, plain_held_out.table.num_rows)
    table = plain_held_out.table.append_column("w", pa.array(weight))
    shuffled = table.take(rng.permutation(len(weight)))
    labels = np.array(table["sold"].to_pylist(), object)

    counts = engines.count(plain_held_out.tree, write(table, tmp_path / "a", parts=2), "sold", sample_weight="w")
    two = engines.count(plain_held_out.tree, write(shuffled, tmp_path / "b", parts=5), "sold", sample_weight="w")

    assert np.array_equal(counts.by_class, two.by_class)
    expected = secateur.count(plain_held_out.tree, plain_held_out.features, labels, sample_weight=weight)
    assert np.allclose(counts.by_class, expected.by_class, rtol=1e-12, atol=1e-12 * weight.sum())


@each_scanner
def test_a_class_in_only_one_file_counts_as_an_error_in_every_leaf(engine, tmp_path):
    tree = stump()
    parquet.write_table(pa.table({"x": [0.0, 9.0], "y": ["no", "yes"]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"x": [9.0, 9.5, 0.0], "y": ["maybe", "yes", "never"]}), tmp_path / "b.parquet")

    with pytest.warns(UserWarning, match=r"'maybe', 'never'.*2 rows"):
        counts = engines.count(tree, tmp_path, "y", engine=engine)

    assert counts.by_class.tolist() == [[1, 2, 2], [1, 0, 1], [0, 2, 1]]


@each_scanner
def test_empty_files_add_nothing(engine, plain_held_out, tmp_path):
    folder = write(plain_held_out.table, tmp_path)
    parquet.write_table(plain_held_out.table.slice(0, 0), folder / "empty.parquet")
    parquet.write_table(plain_held_out.table.slice(0, 0), folder / "part-1-empty.parquet")

    assert engines.count(plain_held_out.tree, folder, "sold", engine=engine) == plain_held_out.counts()


@each_scanner
def test_whole_numbers_in_one_file_and_fractions_in_the_next_are_not_rounded(engine, tmp_path):
    tree = stump()  # the threshold is 2.5
    parquet.write_table(pa.table({"x": pa.array([2, 3]), "y": ["no", "yes"]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"x": pa.array([2.4, 2.6]), "y": ["no", "yes"]}), tmp_path / "b.parquet")

    assert engines.count(tree, tmp_path, "y", engine=engine).by_class.tolist() == [[2, 2], [2, 0], [0, 2]]


@each_scanner
def test_whole_number_labels_beyond_the_exact_floats_stay_apart(engine, tmp_path):
    labels = [2**53, 2**53 + 1]
    tree, _ = secateur.grow(pa.table({"x": [1.0, 2.0]}), np.array(labels))
    parquet.write_table(
        pa.table({"x": [0.0, 0.0, 5.0], "y": [labels[0], labels[1], labels[1]]}), tmp_path / "a.parquet"
    )
    csv.write_csv(pa.table({"x": [0.0, 0.0, 5.0], "y": [labels[0], labels[1], labels[1]]}), tmp_path / "a.csv")

    for name in ("a.parquet", "a.csv"):
        assert engines.count(tree, tmp_path / name, "y", engine=engine).by_class.tolist() == [[1, 2], [1, 1], [0, 1]]


def test_a_tree_without_names_takes_columns_by_position(tmp_path):
    tree, _ = secateur.grow([[0.0, 1.0], [0.0, 2.0], [0.0, 4.0]], ["no", "no", "yes"])
    parquet.write_table(pa.table({"y": ["no", "yes"], "b": [9.0, 0.0], "a": [1.0, 9.0]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"y": ["no"], "b": [9.0]}), tmp_path / "short.parquet")

    assert engines.count(tree, tmp_path / "a.parquet", "y").by_class.tolist() == [[1, 1], [1, 0], [0, 1]]
    with pytest.raises(SchemaError, match=r"1 columns besides the target.*2 columns without names"):
        engines.count(tree, tmp_path / "short.parquet", "y")


def test_a_regression_tree_gives_the_moments_of_memory(tmp_path):
    rng = np.random.default_rng(0)
    x, number = rng.normal(size=500), 1e6 + rng.normal(size=500)
    tree, _ = secateur.grow(pa.table({"x": x}), number, criterion="squared_error", max_depth=4)
    parquet.write_table(pa.table({"x": x[:200], "n": number[:200]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"x": x[200:], "n": number[200:]}), tmp_path / "b.parquet")

    counts = engines.count(tree, tmp_path, "n")

    leaves = secateur.routing.apply(tree, pa.table({"x": x}))
    for v in range(tree.n_nodes):
        here = number[(leaves >= v) & (leaves < tree.end[v])]
        assert counts.weight[v] == len(here)
        assert np.isclose(counts.mean[v], here.mean(), rtol=1e-15)
        assert np.isclose(counts.sse[v], ((here - here.mean()) ** 2).sum(), rtol=1e-9)


def test_streams_and_lazy_frames_give_the_counts_of_memory(held_out, tmp_path):
    folder, table = write(held_out.table, tmp_path), held_out.table
    dataset = pytest.importorskip("pyarrow.dataset")
    sources = {
        "pyarrow": [table.to_reader(500), dataset.dataset(folder), dataset.dataset(folder).scanner()],
        "polars": [pl.scan_parquet(folder)],
        "duckdb": [duckdb.read_parquet(str(folder / "*.parquet"))],
        "memory": [table, table.to_pandas(), pl.from_arrow(table)],
    }
    for engine, group in sources.items():
        for source in group:
            counts, scan = engines.count(held_out.tree, source, "sold", return_scan=True)
            assert counts == held_out.counts()
            assert scan.engine == engine


def test_batches_may_have_different_dictionaries(plain_held_out):
    colour = plain_held_out.table["colour"].combine_chunks()
    pieces = [colour.slice(first, 600) for first in range(0, len(colour), 600)]
    tables = [
        plain_held_out.table.slice(600 * k, 600).set_column(3, "colour", piece.dictionary_encode())
        for k, piece in enumerate(pieces)
    ]
    batches = [table.combine_chunks().to_batches()[0] for table in tables]
    assert len({str(batch.column("colour").dictionary) for batch in batches}) > 1

    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)

    assert engines.count(plain_held_out.tree, reader, "sold") == plain_held_out.counts()


def test_only_the_columns_that_are_needed_are_read(tmp_path):
    tree = stump()
    parquet.write_table(
        pa.table({"x": [1.0], "y": ["no"], "when": pa.array([0], pa.timestamp("s"))}), tmp_path / "a.parquet"
    )
    parquet.write_table(pa.table({"x": [9.0], "y": ["no"]}), tmp_path / "b.parquet")

    assert engines.count(tree, tmp_path, "y").by_class.tolist() == [[2, 0], [1, 0], [1, 0]]


def test_progress_is_reported_up_to_the_last_row(plain_held_out, tmp_path):
    told = []

    engines.count(
        plain_held_out.tree, write(plain_held_out.table, tmp_path), "sold", progress=lambda *a: told.append(a)
    )

    assert told[-1] == (plain_held_out.table.num_rows,) * 2
    assert told == sorted(told)


def test_nothing_is_printed(plain_held_out, tmp_path, capfd):
    folder = write(plain_held_out.table, tmp_path)
    for engine in SCANNERS:
        engines.count(plain_held_out.tree, folder, "sold", engine=engine)

    assert capfd.readouterr() == ("", "")


def test_hidden_files_and_marks_of_other_tools_are_left_out(tmp_path):
    parquet.write_table(pa.table({"x": [1.0], "y": ["no"]}), tmp_path / "a.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".b.parquet").write_bytes(b"half")
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "c.parquet").write_bytes(b"half")

    assert engines.count(stump(), tmp_path, "y").total[0] == 1


def test_duckdb_is_preferred_and_the_others_stand_in_for_it(monkeypatch):
    from secateur.engines import registry

    absent = set()
    monkeypatch.setattr(registry, "find_spec", lambda name: None if name in absent else name)

    def chosen(engine="auto"):
        return registry.engine_for("a.parquet", "files", engine)

    assert chosen() == "duckdb"
    absent.add("duckdb")
    assert chosen() == "polars"
    absent.add("polars")
    assert chosen() == "pyarrow"
    with pytest.raises(UnsupportedError, match="engine='duckdb' needs duckdb and pyarrow"):
        chosen("duckdb")
    absent.add("pyarrow")
    with pytest.raises(UnsupportedError, match="one of duckdb with pyarrow, polars, pyarrow"):
        chosen()


def test_polars_alone_is_enough(plain_held_out, tmp_path, monkeypatch):
    from secateur.data import raw_column
    from secateur.engines import _data_file

    def absent(path):
        raise ImportError(path)

    monkeypatch.setattr(raw_column.sys, "modules", {k: v for k, v in sys.modules.items() if k != "pyarrow"})
    monkeypatch.setattr(_data_file, "_read_footer_with_pyarrow", absent)

    counts = engines.count(plain_held_out.tree, write(plain_held_out.table, tmp_path), "sold", engine="polars")

    assert counts == plain_held_out.counts()


# ---- what cannot be counted


@each_scanner
def test_a_truncated_parquet_file_is_named(engine, plain_held_out, tmp_path):
    folder = write(plain_held_out.table, tmp_path)
    half = (folder / "part-1.parquet").read_bytes()[:5000]
    (folder / "part-1.parquet").write_bytes(half)

    with pytest.raises(DataError, match=r"part-1\.parquet.*Parquet.*replace or remove it"):
        engines.count(plain_held_out.tree, folder, "sold", engine=engine)


@each_scanner
def test_a_parquet_file_with_a_spoilt_page_is_named(engine, plain_held_out, tmp_path):
    folder = write(plain_held_out.table, tmp_path, compression="zstd", use_dictionary=False)
    spoilt = bytearray((folder / "part-2.parquet").read_bytes())
    spoilt[30:3000] = b"\xff" * 2970  # the first column; the end of the file, which names the columns, is whole
    (folder / "part-2.parquet").write_bytes(spoilt)

    with pytest.raises(DataError, match=rf"part-2\.parquet cannot be read by {engine}"):
        engines.count(plain_held_out.tree, folder, "sold", engine=engine)


def test_a_column_that_changes_its_kind_between_files_is_named(tmp_path):
    parquet.write_table(pa.table({"x": [1.0], "y": ["no"]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"x": ["1.0"], "y": ["no"]}), tmp_path / "b.parquet")

    with pytest.raises(SchemaError, match=r"b\.parquet: column 'x' is string.*number is needed; convert"):
        engines.count(stump(), tmp_path, "y")


@each_scanner
def test_a_column_without_a_value_in_one_file_is_missing_there(engine, tmp_path):
    parquet.write_table(pa.table({"x": [1.0, 4.0], "y": ["no", "yes"]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"x": pa.nulls(3), "y": ["no", "yes", "yes"]}), tmp_path / "b.parquet")
    rows = np.array([[1.0], [4.0], [np.nan], [np.nan], [np.nan]])

    counts = engines.count(stump(), tmp_path, "y", engine=engine)

    assert counts == secateur.count(stump(), rows, ["no", "yes", "no", "yes", "yes"])


def test_a_column_that_is_missing_in_one_file_is_named(tmp_path):
    parquet.write_table(pa.table({"x": [1.0], "y": ["no"]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"z": [1.0], "y": ["no"]}), tmp_path / "b.parquet")

    with pytest.raises(SchemaError, match=r"b\.parquet lacks the columns 'x', unlike .*a\.parquet"):
        engines.count(stump(), tmp_path, "y")


def test_a_date_in_a_column_of_numbers_is_refused(tmp_path):
    parquet.write_table(pa.table({"x": pa.array([0], pa.timestamp("s")), "y": ["no"]}), tmp_path / "a.parquet")

    with pytest.raises(SchemaError, match=r"'x' is timestamp\[.*number is needed"):
        engines.count(stump(), tmp_path, "y")


@pytest.mark.parametrize(
    ("target", "weight", "says"),
    [
        ("sold", None, "no column 'sold'.*its columns are 'x', 'y'"),
        ("y", "times", r"no column 'times' \(sample_weight=\)"),
    ],
)
def test_a_missing_target_or_weight_column_is_named(target, weight, says, tmp_path):
    parquet.write_table(pa.table({"x": [1.0], "y": ["no"]}), tmp_path / "a.parquet")

    with pytest.raises(SchemaError, match=says):
        engines.count(stump(), tmp_path, target, sample_weight=weight)


@each_scanner
def test_a_missing_target_is_refused_with_its_row(engine, tmp_path):
    parquet.write_table(pa.table({"x": [1.0] * 5, "y": ["no"] * 5}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"x": [1.0] * 3, "y": ["no", None, None]}), tmp_path / "b.parquet")

    with pytest.raises(DataError, match=r"target 'y' is missing in 2 rows \(rows 6, 7\)"):
        engines.count(stump(), tmp_path, "y", engine=engine, missing_target="error")


def test_labels_of_another_kind_are_refused(tmp_path):
    parquet.write_table(pa.table({"x": [1.0], "y": [1]}), tmp_path / "a.parquet")

    with pytest.raises(SchemaError, match=r"column 'y' is int64.*text is needed"):
        engines.count(stump(), tmp_path, "y")


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), None, 2.0**53])
def test_a_weight_that_is_no_weight_is_refused_with_its_row(bad, tmp_path):
    parquet.write_table(pa.table({"x": [1.0, 2.0], "y": ["no", "no"], "w": [1.0, bad]}), tmp_path / "a.parquet")

    with pytest.raises(DataError, match="weight 'w' of row 1"):
        engines.count(stump(), tmp_path, "y", sample_weight="w")


def test_weights_that_are_all_zero_are_refused(tmp_path):
    parquet.write_table(pa.table({"x": [1.0], "y": ["no"], "w": [0]}), tmp_path / "a.parquet")

    with pytest.raises(DataError, match="every weight is zero"):
        engines.count(stump(), tmp_path, "y", sample_weight="w")


def test_unseen_categories_can_be_refused(plain_held_out, tmp_path):
    with pytest.raises(SchemaError, match=r"'colour'.*'mauve'"):
        engines.count(plain_held_out.tree, write(plain_held_out.table, tmp_path), "sold", unseen="error")


def test_a_source_without_rows_is_refused(tmp_path):
    parquet.write_table(
        pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], pa.string())}), tmp_path / "a.parquet"
    )

    with pytest.raises(DataError, match="0 rows"):
        engines.count(stump(), tmp_path, "y")


def test_paths_that_do_not_exist_are_named(tmp_path):
    (tmp_path / "notes.doc").touch()
    (tmp_path / "a.csv").write_text("x,y\n1,no\n")
    parquet.write_table(pa.table({"x": [1.0], "y": ["no"]}), tmp_path / "a.parquet")
    (tmp_path / "empty").mkdir()
    cases = {
        tmp_path / "empty": (DataError, "holds no file that ends in"),
        tmp_path / "nowhere.parquet": (DataError, "no file or folder .*nowhere"),
        str(tmp_path / "*.pq"): (DataError, r"no file matches .*\*\.pq"),
        tmp_path / "notes.doc": (UnsupportedError, "ends in none of"),
        str(tmp_path / "n*"): (UnsupportedError, "matches .*notes.doc"),
        tmp_path: (DataError, "is CSV and .* is Parquet"),
        (tmp_path / "a.csv", tmp_path / "a.csv"): (DataError, "more than once"),
    }
    for source, (error, says) in cases.items():
        with pytest.raises(error, match=says):
            engines.count(stump(), list(source) if isinstance(source, tuple) else source, "y")


@each_scanner
def test_text_among_the_numbers_of_a_csv_file_is_refused(engine, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,no\nmuch,yes\n")

    with pytest.raises(DataError, match=r"a\.csv: column 'x' holds 'much'; a number is needed"):
        engines.count(stump(), tmp_path / "a.csv", "y", engine=engine)


@each_scanner
def test_a_ragged_row_of_a_csv_file_is_refused(engine, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,no\n2,yes,3,4\n")

    with pytest.raises(DataError, match=rf"a\.csv cannot be read by {engine}"):
        engines.count(stump(), tmp_path / "a.csv", "y", engine=engine)


@each_scanner
def test_csv_files_with_other_marks_are_read(engine, tmp_path):
    (tmp_path / "a.csv").write_bytes('\ufeffx;y\r\n1;no\r\n3;"yes"\r\n;"no"\r\n'.encode())

    assert engines.count(stump(), tmp_path / "a.csv", "y", engine=engine).by_class[0].tolist() == [2, 1]


@each_scanner
def test_booleans_of_a_csv_file_are_read_and_other_words_refused(engine, tmp_path):
    tree = stump(x=[True, True, False, False])
    (tmp_path / "a.csv").write_text("x,y\nTrue,no\nfalse,yes\n,no\n")
    (tmp_path / "b.csv").write_text("x,y\nperhaps,no\n")

    assert engines.count(tree, tmp_path / "a.csv", "y", engine=engine).by_class[0].tolist() == [2, 1]
    with pytest.raises(SchemaError, match=r"b\.csv: column 'x' holds 'perhaps'; true or false"):
        engines.count(tree, tmp_path / "b.csv", "y", engine=engine)


def test_engines_that_cannot_count_a_source_say_which_can(tmp_path):
    parquet.write_table(pa.table({"x": [1.0], "y": ["no"]}), tmp_path / "a.parquet")
    tree, frame = stump(), pa.table({"x": [1.0], "y": ["no"]})

    with pytest.raises(ParameterError, match="engine='ray'; one of 'auto', 'memory'"):
        engines.count(tree, frame, "y", engine="ray")
    with pytest.raises(UnsupportedError, match="engine='duckdb' cannot read a Table; 'memory' can"):
        engines.count(tree, frame, "y", engine="duckdb")
    for engine, says in {"memory": "read them with", "narwhals": "lazy frame", "spark": r"spark\.read"}.items():
        with pytest.raises(UnsupportedError, match=says):
            engines.count(tree, tmp_path, "y", engine=engine)
    with pytest.raises(UnsupportedError, match="tree is a str"):
        engines.count("tree", frame, "y")
    with pytest.raises(ParameterError, match="target is a list"):
        engines.count(tree, tmp_path, ["no"])
    with pytest.raises(ParameterError, match="n_jobs=0"):
        engines.count(tree, frame, "y", n_jobs=0)


def test_arrays_with_their_labels_are_counted_in_memory():
    tree = stump()

    counts = engines.count(tree, np.array([[1.0], [9.0]]), ["no", "yes"], sample_weight=[2, 3])

    assert counts.by_class.tolist() == [[2, 3], [2, 0], [0, 3]]
