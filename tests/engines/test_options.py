"""What an option means it means on every engine: the same rows, the same options, the same counts."""

import numpy as np
import pytest

import secateur
from engine_places import PLACES, SCANNERS, put, require, thread_client
from secateur import engines
from secateur.errors import DataError, SchemaError

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

each_place = pytest.mark.parametrize("place", PLACES)
each_scanner = pytest.mark.parametrize("engine", [*SCANNERS, "dask"])


@pytest.fixture(scope="module")
def client():
    with thread_client() as client:
        yield client


@pytest.fixture
def where(request, place, tmp_path):
    """A function: (rows of a pyarrow table) to (the source in that place, the arguments that choose its engine)."""
    require(place)
    return lambda table: put(table, place, tmp_path, request)


GROWN = {
    "size": [1.0, 2.0, None, 4.0, 5.0, 6.0, 7.0, 8.0],
    "colour": ["red", "blue", "red", "blue", None, "red", "blue", "red"],
    "truth": [True, False, True, None, False, True, True, False],
}
SOLD = ["no", "no", "yes", "yes", "no", "no", "yes", "no"]  # a tree of these tests all three columns
LATER = {
    "size": [0.5, None, 3.0, float("nan"), 9.0, 5.5, 2.5],
    "colour": ["red", "blue", "mauve", None, "mauve", "red", "blue"],
    "truth": [None, True, False, True, True, False, False],
    "sold": ["no", "yes", "no", "yes", "perhaps", "no", "yes"],
    "times": [1, 0, 2, 3, 1, 0, 5],
}


def tree_of(columns=GROWN, **options):
    return secateur.grow(pa.table(columns), SOLD, min_samples_leaf=1, **options)[0]


@pytest.mark.filterwarnings("ignore:.*classes the tree has not seen")
@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("unseen", ["majority-branch", "missing"])
@each_place
def test_unseen_categories_missing_values_and_new_classes_are_the_same_on_all_engines(place, unseen, splits, where):
    tree, table = tree_of(splits=splits), pa.table(LATER)
    features = table.select(["size", "colour", "truth"])
    expected = secateur.count(tree, secateur.encode(features, schema=tree.schema, unseen=unseen), LATER["sold"])
    source, engine = where(table)

    counts = engines.count(tree, source, "sold", unseen=unseen, **engine)

    assert counts == expected
    assert place == "narwhals" or counts.sketch == expected.sketch


@pytest.mark.filterwarnings("ignore:.*classes the tree has not seen")
@each_place
def test_weights_are_the_same_everywhere(place, where):
    tree, table = tree_of(), pa.table(LATER)
    features = table.select(["size", "colour", "truth"])
    expected = secateur.count(tree, features, LATER["sold"], sample_weight=LATER["times"])
    source, engine = where(table)

    counts = engines.count(tree, source, "sold", sample_weight="times", **engine)

    assert counts == expected
    assert counts.n_rows == expected.n_rows == 5
    assert place == "narwhals" or counts.sketch == expected.sketch


@each_place
def test_declared_categories_are_known_by_their_values_everywhere(place, where):
    colour = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1, 2, 0, 1, 0]), ["red", "blue", "green"])
    tree = tree_of({**GROWN, "colour": colour})
    other = pa.DictionaryArray.from_arrays(pa.array([2, 1, 0, None, 0, 2, 1]), ["mauve", "blue", "red"])
    table = pa.table({**LATER, "colour": other, "sold": ["no", "yes"] * 3 + ["no"]})
    expected = secateur.count(tree, table.select(["size", "colour", "truth"]), table["sold"].to_pylist())
    source, engine = where(table)

    assert engines.count(tree, source, "sold", **engine) == expected


@each_place
def test_a_missing_target_is_refused_everywhere(place, where):
    source, engine = where(pa.table({**LATER, "sold": ["no", "yes", None, "no", "no", None, "no"]}))

    with pytest.raises(DataError, match=r"'sold' is missing in"):
        engines.count(tree_of(), source, "sold", missing_target="error", **engine)


@each_place
def test_rows_without_a_target_are_left_out_everywhere(place, where):
    tree, sold = tree_of(), ["no", "yes", None, "no", "no", None, "no"]
    kept = [k for k, label in enumerate(sold) if label]
    expected = secateur.count(
        tree, pa.table(LATER).select(["size", "colour", "truth"]).take(kept), [sold[k] for k in kept]
    )
    source, engine = where(pa.table({**LATER, "sold": sold}))

    with pytest.warns(UserWarning, match="2 of 7 rows have no target 'sold' and are left out"):
        assert engines.count(tree, source, "sold", **engine) == expected


@each_place
def test_all_engines_refuse_unseen_categories_on_request(place, where):
    source, engine = where(pa.table({**LATER, "sold": ["no"] * 7}))

    with pytest.raises(SchemaError, match="colour"):
        engines.count(tree_of(), source, "sold", unseen="error", **engine)


@pytest.mark.filterwarnings("ignore:.*classes the tree has not seen")
@each_place
def test_an_ignored_column_takes_no_place_among_columns_without_names(place, where):
    X = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0], [1.0, 4.0]])
    tree, _ = secateur.grow(X, ["no", "no", "yes", "yes"])
    source, engine = where(pa.table({"id": [7.0] * 4, "a": X[:, 0], "sold": ["no", "yes"] * 2, "b": X[:, 1]}))

    counts = engines.count(tree, source, "sold", ignore=["id"], **engine)

    assert counts == secateur.count(tree, X, ["no", "yes"] * 2)
    source, engine = where(pa.table({"a": X[:, 0], "sold": ["no", "yes"] * 2, "b": X[:, 1]}))
    with pytest.raises(SchemaError, match=r"no column 'id' \(ignore=\)"):
        engines.count(tree, source, "sold", ignore=["id"], **engine)


# ---- of CSV files


def lines(folder, *, header=True, mark=",", gap="?"):
    """Rows as a CSV file, with another mark for gaps; the empty cell of a column of words is a word."""
    rows = [("size", "colour", "sold")] if header else []
    rows += [("1.5", "red", "no"), (gap, "", "yes"), ("7", gap, "no"), ("3", "blue", "yes"), (gap, gap, "no")]
    (folder / "rows.csv").write_text("".join(mark.join(row) + "\n" for row in rows))
    return folder / "rows.csv"


def expected_of(tree, names):
    size = [1.5, None, 7.0, 3.0, None]
    later = pa.table({names[0]: size, names[1]: ["red", "", None, "blue", None]})
    return secateur.count(tree, later, ["no", "yes", "no", "yes", "no"])


@each_scanner
def test_marks_of_missing_cells_are_the_same_everywhere(engine, request, tmp_path):
    pytest.importorskip("distributed" if engine == "dask" else engine)
    more = {"client": request.getfixturevalue("client")} if engine == "dask" else {}
    tree = tree_of({"size": GROWN["size"], "colour": ["", "blue", *GROWN["colour"][2:]]})
    expected = expected_of(tree, ("size", "colour"))
    path = lines(tmp_path)
    read = secateur.encode(path, schema=tree.schema, target="sold", na=["?"])
    assert secateur.count(tree, read) == expected

    assert engines.count(tree, path, "sold", engine=engine, na=["?"], **more) == expected
    assert engines.count(tree, path, "sold", engine=engine, na="?", **more) == expected


@each_scanner
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_a_messy_file_is_the_same_everywhere(engine, encoding, tmp_path):
    """Decimal commas, thousands, dates, blanks around words, NA among numbers, rows without a label, an encoding."""
    if engine == "dask":
        pytest.skip("files that are copied are read on this machine")
    pytest.importorskip(engine)
    rows = [
        f"{k}.{k}00,5;{'  rot' if k % 3 else 'grün '};{k + 1:02d}.0{k % 8 + 1}.2024;{'ja' if k % 4 else 'nein'}"
        for k in range(1, 9)
    ]
    path = tmp_path / "rows.txt"
    path.write_bytes("\n".join(["size;colour;day;sold", *rows, "NA;rot;;ja", "5,5;rot;1.1.2024;"]).encode(encoding))
    with pytest.warns(UserWarning, match="decimal comma|left out|dates|cp1252|UTF-16|read as missing"):
        table = secateur.encode(path, target="sold")
    tree, grown = secateur.grow(table, min_samples_leaf=1)
    assert table.columns[0][:2].tolist() == [1100.5, 2200.5]
    assert table.categories[1] == ("grün", "rot")
    assert (table.n_rows, table.schema.columns[2].is_date) == (9, True)

    with pytest.warns(UserWarning, match="decimal comma|left out|cp1252|UTF-16"):
        counts = engines.count(tree, path, "sold", engine=engine)

    assert counts.by_class.tolist() == grown.by_class.tolist()


@each_scanner
def test_a_file_without_a_line_of_names_and_with_another_mark_is_the_same_everywhere(engine, request, tmp_path):
    pytest.importorskip("distributed" if engine == "dask" else engine)
    more = {"client": request.getfixturevalue("client")} if engine == "dask" else {}
    names = ("column1", "column2")
    tree = tree_of({"column1": GROWN["size"], "column2": ["", "blue", *GROWN["colour"][2:]]})
    path = lines(tmp_path, header=False, mark="|", gap="-")

    counts = engines.count(tree, path, "column3", engine=engine, na=["-"], header=False, delimiter="|", **more)

    assert counts == expected_of(tree, names)
