"""CSV and Parquet files give the table that their frame gives, whoever reads them."""

import gzip
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from secateur.data.encoding import encode
from secateur.errors import DataError, SchemaError, UnsupportedError

nan = np.nan
LIBRARIES = ("pyarrow", "polars", "pandas")
FRAME = pd.DataFrame(
    {"colour": ["red", "blue", None], "size": [1.5, nan, 3.0], "n": [1, 2, 3], "old": [True, False, True]}
)
TEXT = "colour,size,n,old\nred,1.5,1,true\nblue,,2,false\n,3.0,3,true\n"


@pytest.fixture(params=LIBRARIES)
def library(request, monkeypatch):
    """Run the test once with each reader, the others being away."""
    monkeypatch.setattr("secateur.data.files.READERS", (request.param,))
    return request.param


@pytest.fixture
def write(tmp_path):
    def write(text, name="data.csv", encoding="utf-8"):
        path = tmp_path / name
        content = text.encode(encoding)
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("data.csv", TEXT),
        ("DATA.CSV", TEXT),
        ("data.csv.gz", TEXT),
        ("data.csv", TEXT.replace(",", ";")),
        ("data.csv", TEXT.replace(",", "\t")),
        ("data.tsv", TEXT.replace(",", "\t")),
        ("data.csv", "\ufeff" + TEXT),
        ("data.csv", TEXT.replace("\n", "\r\n")),
    ],
)
@pytest.mark.usefixtures("library")
def test_a_csv_file_gives_the_table_of_its_frame(write, name, text):
    assert encode(write(text, name)) == encode(FRAME)


@pytest.mark.usefixtures("library")
def test_a_path_may_be_text(write):
    assert encode(str(write(TEXT))) == encode(FRAME)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("ending", [".parquet", ".pq"])
def test_a_parquet_file_gives_the_table_of_its_frame(tmp_path, ending):
    path = tmp_path / f"data{ending}"
    FRAME.to_parquet(path)

    assert encode(path) == encode(FRAME)


def test_parquet_chunks_with_different_dictionaries_are_one_column(tmp_path):
    with pa.parquet.ParquetWriter(
        tmp_path / "d.parquet", pa.schema({"c": pa.dictionary(pa.int32(), pa.string())})
    ) as writer:
        for words in (["b", None], ["a", "b"]):
            writer.write_table(pa.table({"c": pa.array(words).dictionary_encode()}))

    table = encode(tmp_path / "d.parquet")

    assert table.values("c").tolist() == ["b", None, "a", "b"]


@pytest.mark.usefixtures("library")
def test_the_target_is_a_column_of_the_file(write):
    table = encode(write(TEXT), target="old")

    assert table.names == ("colour", "size", "n")
    assert table.schema.classes.tolist() == [False, True]


@pytest.mark.usefixtures("library")
def test_marks_for_missing_can_be_named_and_na_is_otherwise_a_word(write):
    path = write("a,b\nNA,1\nx,?\ny,2\n")

    table = encode(path, na=["?"])

    assert table.categories[0] == ("NA", "x", "y")
    assert np.array_equal(table.columns[1], [1, nan, 2], equal_nan=True)
    assert encode(path, na=["?", "NA"]).categories[0] == ("x", "y")


@pytest.mark.usefixtures("library")
def test_quoted_cells_may_hold_delimiters_and_lines(write):
    table = encode(write('a,b\n"x, y",1\n"two\nlines",2\n"said ""no""",3\n'))

    assert table.categories[0] == ('said "no"', "two\nlines", "x, y")


@pytest.mark.usefixtures("library")
def test_a_delimiter_can_be_named(write):
    assert encode(write(TEXT.replace(",", "|")), delimiter="|") == encode(FRAME)


@pytest.mark.usefixtures("library")
def test_a_file_without_a_header_takes_names(write):
    path = write(TEXT.partition("\n")[2])

    assert encode(path, names=["colour", "size", "n", "old"]) == encode(FRAME)


@pytest.mark.usefixtures("library")
def test_one_column_needs_no_delimiter(write):
    assert encode(write("a\n1\n2\n")).columns[0].tolist() == [1, 2]


@pytest.mark.usefixtures("library")
def test_later_text_that_looks_like_numbers_is_still_text(write):
    grown = encode(write("zip,x\n01,1\nA,2\n2,3\n", "grow.csv"))

    later = encode(write("x,zip\n5,2\n6,01\n7,3\n", "later.csv"), schema=grown)

    assert later.values("zip").tolist() == ["2", "01", None]
    assert later.n_unseen == (1, 0)


@pytest.mark.usefixtures("library")
def test_a_later_file_that_lacks_a_column_is_refused_by_name(write):
    grown = encode(write("colour,x\nred,1\nblue,2\n", "grow.csv"))

    with pytest.raises(SchemaError, match="X lacks the columns 'colour'"):
        encode(write("x\n1\n", "later.csv"), schema=grown)


@pytest.mark.usefixtures("library")
def test_later_words_in_a_numeric_column_are_refused(write):
    grown = encode(write("x\n1\n2\n", "grow.csv"))

    with pytest.raises(SchemaError, match="'x' holds text"):
        encode(write("x\n1\nmany\n", "later.csv"), schema=grown)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b,a\n1,2,3\n", "data.csv: column names must be unique; repeated: 'a'"),
        ("", "no first line"),
        ("a,b\n", r"0 sample\(s\)"),
    ],
)
def test_a_file_that_is_no_table_is_refused(write, text, says):
    with pytest.raises(DataError, match=says):
        encode(write(text))


def test_a_row_of_another_length_is_refused_with_the_file_and_the_row(write):
    with pytest.raises(DataError, match=r"data.csv, row 3: 3 cells where 2 are needed \('3', '4', '5'\); correct it"):
        encode(write("a,b\n1,2\n3,4,5\n"))


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", ["data.parquet", "data.csv.gz"])
def test_a_broken_file_is_refused_by_name(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"this is neither")
    with pytest.raises(DataError, match=name):
        encode(path)


def test_paths_that_cannot_be_read_are_named_in_full(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"folder.csv holds no file that ends in \.csv"):
        encode(tmp_path / "folder.csv")
    with pytest.raises(DataError, match=r"no file absent.csv \(looked for /.*absent.csv\)"):
        encode("absent.csv")
    with pytest.raises(DataError, match="is remote; download it"):
        encode("https://example.org/data.csv")
    with pytest.raises(UnsupportedError, match=r"'data\.xlsx' ends in none of \.csv"):
        encode("data.xlsx")


def test_a_file_we_may_not_open_is_refused(write, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = write(TEXT)
    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(DataError, match=r"data.csv cannot be read \(Permission denied\)"):
        encode(path)


def test_without_a_reader_the_extra_is_named(write, monkeypatch):
    for name in LIBRARIES:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UnsupportedError, match=r"needs one of pyarrow, polars, pandas.*secateur\[arrow\]"):
        encode(write(TEXT))


def test_readers_are_tried_in_order(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(pl, "read_csv", lambda *_, **__: pl.DataFrame({"read by": ["polars"]}))

    assert encode(write(TEXT)).categories == (("polars",),)
