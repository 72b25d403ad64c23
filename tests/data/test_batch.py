"""What can be handed in: arrays, objects, frames; all give the same table, or say why not."""

import datetime as dt
import decimal
import subprocess
import sys
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.data.batch import open_batch
from secateur.data.encoding import encode
from secateur.data.table import Column, Schema, Table
from secateur.errors import DataError, ParameterError, SecateurError, UnsupportedError
from versions import needs

nan = np.nan

# -- arrays of numbers ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "read-only"])
def test_floats_are_never_copied(dtype, layout):
    base = np.arange(24, dtype=dtype).reshape(6, 4)
    data = {"C": base, "F": np.asfortranarray(base), "strided": base[::2, 1:3], "reversed": base[::-1, ::-1]}.get(
        layout, base
    )
    if layout == "read-only":
        data.flags.writeable = False

    table = encode(data)

    assert table.matrix.dtype == dtype
    assert all(np.shares_memory(array, data) for array in (table.matrix, *table.columns))
    assert np.array_equal(table.matrix, data)
    assert all(np.array_equal(column, data[:, j]) for j, column in enumerate(table.columns))
    assert table.kinds == ("numeric",) * data.shape[1]


def test_a_memory_mapped_array_is_not_copied(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(3, 2))
    data = np.load(tmp_path / "x.npy", mmap_mode="r")

    table = encode(data)

    assert np.shares_memory(table.matrix, data)
    assert type(table.matrix) is np.ndarray


@given(
    st.lists(st.lists(st.integers(-100, 100), min_size=3, max_size=3), min_size=1, max_size=6),
    st.sampled_from(["i1", "i2", "<i4", ">i4", "i8", ">i8", "f2", ">f2", "f4", ">f4", "f8", ">f8", "g", "O"]),
    st.sampled_from(["C", "F"]),
    st.sampled_from([1, -1, 2]),
)
def test_the_same_values_in_any_type_and_layout_are_the_same_table(rows, dtype, order, step):
    plain = np.array(rows, np.float64)[::step]
    data = np.array(rows, np.float64).astype(dtype, order=order)[::step]

    table = encode(data)

    assert table == encode(plain)
    assert all(column.dtype in (np.float32, np.float64) for column in table.columns)
    assert table.columns[0].dtype == (np.float32 if dtype[-2:] in ("f2", "f4") else np.float64)


@pytest.mark.parametrize("data", [[[1, 2.5], [3, 4]], ((1, 2.5), (3, 4)), [np.array([1, 2.5]), np.array([3, 4])]])
def test_lists_of_rows_are_read_as_arrays(data):
    assert encode(data) == encode(np.array([[1, 2.5], [3, 4]]))


def test_an_object_that_can_be_an_array_is_one():
    class Arrays:
        def __array__(self, dtype=None, copy=None):
            return np.eye(2)

    assert encode(Arrays()) == encode(np.eye(2))


def test_a_matrix_of_booleans_is_numeric():
    table = encode(np.array([[True, False], [True, True]]))

    assert table.kinds == ("numeric", "numeric")
    assert table.columns[1].tolist() == [0.0, 1.0]


def test_the_callers_array_is_never_written():
    data = np.array([[1.0, nan], [np.inf, 2.0]] * 100)
    before = data.copy()
    with pytest.warns(UserWarning, match="infinite"):
        encode(data, target=[0, 1] * 100, sample_weight=[0, 1] * 100)
    assert np.array_equal(data, before, equal_nan=True)
    assert data.flags.writeable


def test_missing_values_are_recorded_per_column():
    table = encode(np.array([[1.0, nan], [2.0, 3.0]]))

    assert [column.has_missing for column in table.schema.columns] == [False, True]


def test_an_overflowing_sum_is_not_taken_for_a_missing_value():
    table = encode(np.full((3, 1), 3e38, np.float32))

    assert not table.schema.columns[0].has_missing


def test_rows_of_weight_zero_add_no_missing_value_to_the_schema():
    table = encode(np.array([[1.0], [nan], [2.0]]), sample_weight=[1, 0, 1])

    assert not table.schema.columns[0].has_missing


def test_a_masked_cell_is_missing():
    floats = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]])
    words = np.ma.array(np.array([["a"], ["b"]], object), mask=[[0], [1]])

    assert encode(floats) == encode(np.array([[1.0, nan], [3.0, 4.0]]))
    assert encode(floats.astype(int)) == encode(np.array([[1.0, nan], [3.0, 4.0]]))
    assert encode(words) == encode([["a"], [None]])
    assert encode(np.ma.array([[1, 2]])) == encode([[1, 2]])


def test_a_few_infinite_values_are_values_and_many_a_warning():
    column = np.arange(200.0)[:, None]
    column[:2] = np.inf
    assert encode(column).columns[0][0] == np.inf
    column[2] = -np.inf
    with pytest.warns(UserWarning, match="'x0' is infinite in 3 of 200 rows"):
        encode(column)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_whole_numbers_that_merge_as_floats_are_a_warning(dtype):
    data = np.array([[1, 2**53 + 1], [2, 2**53]], dtype)
    with pytest.warns(UserWarning, match="'x1' holds whole numbers beyond") as told:
        encode(data)
    assert len(told) == 1
    with pytest.warns(UserWarning, match="'b' holds whole numbers beyond"):
        encode(pd.DataFrame(data, columns=["a", "b"]))
    encode(data - 1)


def test_large_whole_numbers_stay_apart_as_categories():
    data = pd.DataFrame({"id": pd.array([2**53 + 1, 2**53, None], dtype="Int64")})

    table = encode(data, nominal=["id"])

    assert table.categories == ((2**53, 2**53 + 1),)
    assert table.columns[0].tolist() == [1, 0, 2]


# -- arrays and lists of objects -----------------------------------------------------


def test_object_columns_are_judged_one_by_one():
    table = encode([["a", 1, True, None], ["b", None, False, None], [None, 2.5, None, None]])

    assert table.kinds == ("nominal", "numeric", "nominal", "numeric")
    assert table.categories == (("a", "b"), (), (False, True), ())
    assert table.columns[0].tolist() == [0, 1, 2]
    assert table.columns[2].tolist() == [1, 0, 2]
    assert np.array_equal(table.columns[1], [1, nan, 2.5], equal_nan=True)
    assert np.isnan(table.columns[3]).all()


def test_numbers_of_any_python_type_are_numbers():
    table = encode(np.array([[1], [2.5], [decimal.Decimal("0.5")], [Fraction(1, 4)], [np.float32(2)], [nan]], object))

    assert np.array_equal(table.columns[0], [1, 2.5, 0.5, 0.25, 2, nan], equal_nan=True)


@pytest.mark.parametrize("gap", [None, nan, np.float64(nan), pd.NA, pd.NaT])
def test_every_mark_for_missing_is_missing(gap):
    cells = np.empty((3, 3), object)
    cells[:] = [["a", 1, True], [gap, gap, gap], ["b", 2, False]]

    table = encode(cells)

    assert table.columns[0].tolist() == [0, 2, 1]
    assert np.isnan(table.columns[1]).tolist() == [False, True, False]
    assert table.columns[2].tolist() == [1, 2, 0]


def test_the_empty_string_is_a_value():
    assert encode([["", "x"], ["a", "y"]]).categories[0] == ("", "a")


def test_text_arrays_are_nominal():
    for array in (np.array([["b"], ["a"]]), np.array([["b"], ["a"]], np.dtypes.StringDType())):
        assert encode(array).columns[0].tolist() == [1, 0]


def test_text_that_looks_numeric_is_nominal_with_a_warning():
    with pytest.warns(UserWarning, match=r"'x0' is text that looks numeric \('1', '2.5'\).*numeric=\['x0'\]"):
        table = encode([["1"], ["2.5"]])
    assert table.kinds == ("nominal",)
    assert encode([["1"], ["2.5"]], nominal=[0]) == table


def test_numbers_with_a_few_words_among_them_are_a_warning():
    with pytest.warns(UserWarning, match="looks numeric but for '\\?'"):
        encode([[str(i)] for i in range(10)] + [["?"]])


def test_text_becomes_numbers_on_request():
    table = encode([["1"], [" 2.5 "], [None], ["-1e3"]], numeric=["x0"])

    assert np.array_equal(table.columns[0], [1, 2.5, nan, -1000], equal_nan=True)


@pytest.mark.parametrize("word", ["two", "", "1_000", "1,5"])
def test_text_that_is_no_number_is_refused_with_its_row(word):
    with pytest.raises(DataError, match=f"column 'x0', row 2: {word!r} is not a number"):
        encode([["1"], ["2"], [word]], numeric=[0])


@given(st.lists(st.text(max_size=3) | st.none(), min_size=1, max_size=12))
@pytest.mark.filterwarnings("ignore")
def test_codes_and_categories_give_the_words_back(words):
    table = encode([[word] for word in words], nominal=[0])

    assert table.values(0).tolist() == words
    assert table.categories[0] == tuple(sorted({word for word in words if word is not None}))
    assert table.schema.columns[0].has_missing == (None in words)


@given(st.lists(st.integers(-(2**62), 2**62) | st.none(), min_size=1, max_size=12), st.booleans())
def test_numbers_named_nominal_give_the_numbers_back(numbers, in_frame):
    data = pd.DataFrame({"x0": pd.array(numbers, dtype="Int64")}) if in_frame else [[number] for number in numbers]

    table = encode(data, nominal=["x0"])

    assert table.values(0).tolist() == numbers
    assert table.categories[0] == tuple(sorted({number for number in numbers if number is not None}))


# -- what no tree can use ------------------------------------------------------------

TODAY = dt.datetime(2020, 1, 2)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (np.zeros(3), "Reshape your data"),
        ([1.0, 2.0], "Reshape your data"),
        (np.float64(3), "Reshape your data"),
        (pd.Series([1.0]), "Reshape your data"),
        (pl.Series([1.0]), "Reshape your data"),
        (np.zeros((2, 2, 2)), "Expected 2D array, got 3D array"),
        ([[1, 2], [3]], "ragged"),
        (np.array([[1j]]), "Complex data not supported"),
        (pd.DataFrame({"a": [1j]}), "Complex data not supported"),
        (np.array([["2020"]], "M8[D]"), "dates or times"),
        (np.array([[1]], "m8[s]"), "dates or times"),
        ([[TODAY]], "date or a time"),
        (pd.DataFrame({"a": [TODAY]}), "column 'a' holds dates or times"),
        (pd.DataFrame({"a": [dt.timedelta(1)]}), "column 'a' holds dates or times"),
        (pd.DataFrame({"a": [TODAY]}, dtype=object), "date or a time"),
        (pl.DataFrame({"a": [TODAY.date()]}), "column 'a' holds dates or times"),
        (pa.table({"a": [TODAY]}), "column 'a' holds dates or times"),
        (pl.DataFrame({"a": [[1]]}), r"column 'a' holds List\(Int64\)"),
        (pa.table({"a": [{"b": 1}]}), "column 'a' holds Struct"),
        (pa.table({"a": [b"b"]}), "column 'a' holds Binary"),
        (pd.DataFrame({"a": pd.cut([1, 2, 3], 2)}), "column 'a' has the categories Interval"),
        (pd.DataFrame({"a": pd.Categorical([1, "a"])}), "all text, all numbers"),
        (np.array([[b"a"]]), "decode"),
        (np.zeros((2, 1), [("a", float)]), "numbers or text are needed"),
        ([["a"], [1]], r"'x0' mixes number and text values: 'a' \(row 0\), 1 \(row 1\)"),
        ([[True], [2.5]], None),
        (np.array([[True], [2.5]], object), "mixes boolean and number"),
        ([[10**400]], "64 bits"),
        (np.zeros((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\."),
        (np.zeros((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required\."),
        (pd.DataFrame({"a": []}), r"0 sample\(s\)"),
        (pd.DataFrame(index=[1, 2]), r"0 feature\(s\)"),
        ([], "Reshape your data"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "repeated: 'a'"),
        (pa.table([[1], [2]], names=["a", "a"]), "repeated: 'a'"),
        (pd.DataFrame([[1, 2]], columns=[0, 0]), "repeated: 0"),
        (pd.DataFrame([[1, 2]], columns=["a", 3]), r"found 3 \(int\)"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "tuple"),
    ],
)
def test_unsupported_columns_are_refused(data, says):
    if says is None:
        assert encode(data).columns[0].tolist() == [1, 2.5]
        return
    with pytest.raises(DataError, match=says):
        encode(data)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (pl.LazyFrame({"a": [1]}), r"\.collect\(\)"),
        ({"a": [1]}, "X is a dict"),
        (3, "X is a int"),
        (None, "X is a NoneType"),
        (
            np.array([[{"foo": "bar"}]], object),
            "row 0: {'foo': 'bar'} is a dict; the argument must be a string or a number",
        ),
    ],
)
def test_a_type_we_do_not_take_is_a_type_error(data, says):
    with pytest.raises(UnsupportedError, match=says):
        encode(data)


def test_sparse_data_is_that_of_its_array():
    sparse = pytest.importorskip("scipy.sparse")
    for data in (sparse.csr_array(np.eye(2)), sparse.csc_matrix(np.eye(2)), sparse.coo_array(np.eye(2, dtype=bool))):
        assert encode(data) == encode(np.eye(2))


# -- frames --------------------------------------------------------------------------

WORDS = ["b", None, "a", "b"]
TRUTHS = [True, None, False, True]
WHOLES = [3, None, 1, 2]
FLOATS = [0.5, nan, None, -1.0]


def frames():
    """The same four columns in every library and type that can hold them."""
    chunks = [pa.array(WORDS[:2]).dictionary_encode(), pa.array(WORDS[2:]).dictionary_encode()]
    return {
        "pandas": pd.DataFrame({"w": WORDS, "t": pd.array(TRUTHS, dtype="boolean"), "i": WHOLES, "f": FLOATS}),
        "pandas objects": pd.DataFrame({"w": WORDS, "t": TRUTHS, "i": WHOLES, "f": FLOATS}, dtype=object),
        "pandas nullable": pd.DataFrame(
            {
                "w": pd.array(WORDS, dtype="string[python]"),
                "t": pd.array(TRUTHS, dtype="boolean"),
                "i": pd.array(WHOLES, dtype="Int16"),
                "f": pd.array([0.5, None, None, -1.0], dtype="Float64"),
            }
        ),
        "pandas arrow": pa.table({"w": WORDS, "t": TRUTHS, "i": WHOLES, "f": FLOATS}).to_pandas(
            types_mapper=pd.ArrowDtype
        ),
        "polars": pl.DataFrame({"w": WORDS, "t": TRUTHS, "i": WHOLES, "f": FLOATS}),
        "polars categorical": pl.DataFrame(
            {
                "w": pl.Series(WORDS, dtype=pl.Categorical),
                "t": TRUTHS,
                "i": pl.Series(WHOLES, dtype=pl.Int128),
                "f": FLOATS,
            }
        ),
        "polars objects": pl.DataFrame(
            {
                "w": pl.Series(WORDS, dtype=pl.Object),
                "t": TRUTHS,
                "i": pl.Series(WHOLES, dtype=pl.Decimal(9, 2)),
                "f": FLOATS,
            }
        ),
        "pyarrow": pa.table({"w": WORDS, "t": TRUTHS, "i": WHOLES, "f": FLOATS}),
        "pyarrow dictionary": pa.table({"w": pa.chunked_array(chunks), "t": TRUTHS, "i": WHOLES, "f": FLOATS}),
        "pyarrow views": pa.table({"w": pa.array(WORDS, pa.string_view()), "t": TRUTHS, "i": WHOLES, "f": FLOATS}),
        "pandas arrow dictionary": pa.table(
            {"w": pa.chunked_array(chunks), "t": TRUTHS, "i": WHOLES, "f": FLOATS}
        ).to_pandas(types_mapper=pd.ArrowDtype),
        "pyarrow batch": pa.record_batch({"w": WORDS, "t": TRUTHS, "i": WHOLES, "f": FLOATS}),
    }


@pytest.mark.parametrize("library", frames())
def test_every_frame_library_gives_the_same_table(library):
    table = encode(frames()[library])

    assert table.schema == Schema(
        (
            Column("w", "nominal", ("a", "b"), has_missing=True),
            Column("t", "nominal", (False, True), has_missing=True),
            Column("i", "numeric", (), has_missing=True),
            Column("f", "numeric", (), has_missing=True),
        ),
        has_names=True,
    )
    assert table.columns[0].tolist() == [1, 2, 0, 1]
    assert table.columns[1].tolist() == [1, 2, 0, 1]
    assert np.array_equal(table.columns[2], [3, nan, 1, 2], equal_nan=True)
    assert np.array_equal(table.columns[3], [0.5, nan, nan, -1], equal_nan=True)


def test_encoding_the_growing_data_again_gives_the_growing_table():
    for library, frame in frames().items():
        table = encode(frame)
        assert encode(frame, schema=table) == table, library


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_text_is_read_the_same_without_pyarrow(library, monkeypatch):
    frame = frames()[library]
    expected = encode(frame)
    reads = []
    monkeypatch.setattr("secateur.data.raw_column.read_objects", _spy(reads))
    monkeypatch.setattr("secateur.data.raw_column.sys", type("sys", (), {"modules": {}}))

    assert encode(frame) == expected
    assert reads == ["w"]


def _spy(reads):
    from secateur.data.raw_column import read_objects

    def read(cells, name):
        reads.append(name)
        return read_objects(cells, name)

    return read


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(["b", None, "a"], categories=["c", "b", "a"])),
        pd.Series(pd.Categorical(["b", None, "a"], categories=["c", "b", "a"], ordered=True)),
        pl.Series(["b", None, "a"], dtype=pl.Enum(["c", "b", "a"])),
        pa.DictionaryArray.from_arrays(pa.array([1, None, 2]), ["c", "b", "a"], ordered=True),
    ],
)
def test_declared_categories_are_kept_in_their_order(column):
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[type(column).__module__.split(".")[0]]

    table = encode(frame({"c": column}))

    assert table.categories == (("c", "b", "a"),)
    assert table.columns[0].tolist() == [1, 3, 2]


def test_categories_may_be_numbers():
    pandas = encode(pd.DataFrame({"c": pd.Categorical([3, 1, None])}))
    arrow = encode(pa.table({"c": pa.array([3, 1, None]).dictionary_encode()}))

    assert pandas.categories == arrow.categories == ((1, 3),)
    assert pandas.columns[0].tolist() == arrow.columns[0].tolist() == [1, 0, 2]


@needs("narwhals", "2.20", "there is no Float16")
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_float32_stays_float32_and_half_becomes_float32(frame):
    table = encode(
        frame({"a": np.array([1, 2], np.float32), "b": np.array([1, 2], np.float16), "c": np.array([1, 2], np.uint8)})
    )

    assert [column.dtype.name for column in table.columns] == ["float32", "float32", "float64"]


def test_numeric_columns_of_pandas_are_not_copied():
    frame = pd.DataFrame({"a": np.arange(3.0), "b": ["x", "y", "x"]})

    assert np.shares_memory(encode(frame).columns[0], frame["a"].to_numpy())


@pytest.mark.parametrize(
    "frame", [pd.DataFrame({"a": [None, None]}), pl.DataFrame({"a": [None, None]}), pa.table({"a": pa.nulls(2)})]
)
def test_a_column_of_nothing_is_numeric_and_missing(frame):
    table = encode(frame)

    assert table.kinds == ("numeric",)
    assert np.isnan(table.columns[0]).all()
    assert table.schema.columns[0].has_missing


def test_an_unsupported_object_at_the_end_of_a_column_is_found():
    frame = pd.DataFrame({"a": pd.Series(["x"] * 500 + [1], dtype=object)})
    with pytest.raises(DataError, match=r"1 \(row 500\)"):
        encode(frame)


def test_sparse_pandas_columns_are_read_as_their_values():
    assert encode(pd.DataFrame({"a": pd.arrays.SparseArray([1.0, 0.0])})).columns[0].tolist() == [1, 0]


def test_a_duckdb_relation_is_read():
    duckdb = pytest.importorskip("duckdb")
    table = encode(duckdb.sql("select 1.5 as a, 'x' as b"))
    assert table.names == ("a", "b")
    assert table.kinds == ("numeric", "nominal")


def test_a_default_range_of_columns_is_no_names():
    table = encode(pd.DataFrame([[1.0, 2.0]]))

    assert table.names == ("x0", "x1")
    assert not table.schema.has_names
    assert encode(pd.DataFrame([[1.0, 2.0]]), names=["a", "b"]).names == ("a", "b")


def test_unusual_column_names_are_accepted():
    names = ["leaf", "node", 'a "b"', "select", "a.b", "é\n", "</script>", ""]
    assert encode(pd.DataFrame([[1.0] * 8], columns=names)).names == tuple(names)


def test_names_for_an_array_are_names():
    table = encode(np.eye(2), names=["a", "b"])

    assert table.names == ("a", "b")
    assert table.schema.has_names


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"names": ["a"]}, "1 names given for 2 columns"),
        ({"nominal": ["z"]}, "nominal='z' is not a column; the columns are 'x0', 'x1'"),
        ({"nominal": [2]}, "nominal=2 is not a column; there are 2"),
        ({"numeric": [1.5]}, "numeric holds 1.5"),
        ({"nominal": [True, False]}, "nominal holds True"),
        ({"nominal": [0], "numeric": ["x0"]}, "both as nominal and as numeric"),
        ({"target": "z"}, "target='z' is not a column"),
        ({"unseen": "stop"}, "unseen='stop'"),
    ],
)
def test_a_parameter_that_names_nothing_is_refused(options, says):
    with pytest.raises(ParameterError, match=says):
        encode(np.eye(2), **options)


def test_names_of_a_frame_are_not_overwritten():
    with pytest.raises(ParameterError, match="names of its own"):
        encode(pd.DataFrame({"a": [1]}), names=["b"])
    with pytest.raises(ParameterError, match="2 names given for 1"):
        encode(pd.DataFrame([[1]]), names=["a", "b"])


def test_names_that_are_equal_or_no_text_are_refused():
    with pytest.raises(DataError, match="repeated: 'a'"):
        encode(np.eye(2), names=["a", "a"])
    with pytest.raises(DataError, match="must all be text"):
        encode(np.eye(2), names=["a", 1])


def test_negative_positions_count_from_the_end():
    assert encode(np.eye(3), nominal=[-1]) == encode(np.eye(3), nominal="x2") == encode(np.eye(3), nominal=2)


def test_reading_arrays_does_not_import_pandas():
    code = "import sys, secateur.data.encoding as e; e.encode([['a', 1]], target=[0]); print('narwhals' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "False"


TYPES = ("f2", "f4", "f8", ">f8", "i1", "i4", "i8", "u8", "bool", "Int64", "Float64", "category", "text", "object")
VALUES = (0, 1, 2, 3, 2**53 + 1, float("nan"), float("inf"), -0.0, "green")


def column_of(values, dtype):
    """A pandas column with as many of these values as its type takes."""
    numbers = [value for value in values if not isinstance(value, str)]
    if dtype in ("text", "category", "object"):
        kept = [None if value != value else str(value) for value in values]
        return pd.Series(kept, dtype={"text": "str"}.get(dtype, dtype))
    if np.dtype(dtype.lower()).kind != "f":
        numbers = [int(value) if np.isfinite(value) else 1 for value in numbers]
    numbers = (numbers or [0]) * len(values)
    most = 100 if dtype in ("i1", "f2") else 2**30 if dtype == "i4" else 2**60
    return (
        pd.Series(np.array([value if not value > most or value == np.inf else 5 for value in numbers]))
        .head(len(values))
        .astype(dtype)
    )


@st.composite
def two_frames(draw):
    """A frame to learn the columns from, and a later one: of one type or of several, in another order, or lacking one."""
    n_columns = draw(st.integers(1, 4))
    one = draw(st.sampled_from(TYPES))
    types = [one] * n_columns if draw(st.booleans()) else [draw(st.sampled_from(TYPES)) for _ in range(n_columns)]
    later = types if draw(st.booleans()) else [draw(st.sampled_from(TYPES))] * n_columns
    names = [f"c{j}" for j in range(n_columns)] if draw(st.booleans()) else list(range(n_columns))

    def frame(kinds):
        n_rows = draw(st.integers(1, 4))
        cells = [draw(st.lists(st.sampled_from(VALUES), min_size=n_rows, max_size=n_rows)) for _ in kinds]
        made = [column_of(values, kind) for values, kind in zip(cells, kinds, strict=True)]
        return pd.concat(made, axis=1, keys=names)

    second = frame(later)
    if draw(st.booleans()):
        second = second[draw(st.permutations(names))]
    if draw(st.integers(0, 5)) == 0:
        second = second.iloc[:, 1:]
    return frame(types), second


def outcome(data, **options):
    """The table or the error of `encode`, and the warnings on the way."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            table = encode(data, **options)
            result = (table, [column.dtype for column in table.columns])
        except SecateurError as error:
            result = (type(error), str(error))
    return result, [str(warning.message) for warning in told]


@given(two_frames())
def test_a_frame_read_as_one_matrix_is_the_frame_read_by_columns(frames):
    (known, _), _ = own = outcome(replace(open_batch(frames[0]), matrix=None))

    assert outcome(frames[0]) == own
    if isinstance(known, Table):
        for data in frames:
            assert outcome(data, schema=known) == outcome(replace(open_batch(data), matrix=None), schema=known)


def test_only_pandas_frames_of_one_type_of_numbers_are_one_matrix():
    numbers = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})

    assert np.shares_memory(open_batch(numbers).matrix, numbers.to_numpy())
    assert open_batch(numbers.astype({"a": "f4"})).matrix is None
    assert open_batch(numbers.astype("Float64")).matrix is None
    assert open_batch(numbers.astype("str")).matrix is None
    assert open_batch(numbers > 2).matrix is None


@given(
    st.lists(st.lists(st.none() | st.integers(0, 100), max_size=12), max_size=3),
    st.sampled_from(["int8", "uint16", "int64", "uint64", "float32", "float64", "string"]),
    st.integers(0, 3),
)
def test_chunks_slices_and_nulls_of_pyarrow_are_read_as_they_stand(chunks, kind, first):
    cells = [[None if value is None or kind != "string" else f"w{value}" for value in chunk] for chunk in chunks]
    arrays = [pa.array(cells if kind == "string" else chunk, kind) for cells, chunk in zip(cells, chunks, strict=True)]
    column = pa.chunked_array(arrays, kind).slice(first)
    expected = column.to_pylist()
    if not expected:
        return

    read = encode(pa.table({"x": column})).values("x").tolist()

    assert [None if value is None or value != value else value for value in read] == [
        float(value) if isinstance(value, int) else value for value in expected
    ]
