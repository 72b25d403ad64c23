"""Small CSV files that are read without a library are read as pyarrow reads them."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv

from secateur import encode
from secateur.data.files import MAX_SMALL_FILE_BYTES, read_small_file
from secateur.data.text_file import TextFile
from secateur.data.text_options import TextOptions

CELLS = [
    "1", "0", "-3", "2.5", "1e5", "-0", "0.1", "123456789012345678", "9007199254740993", "1234567890.123456789", "red",
    "blue", "a b", "e5", "",
]  # fmt: skip
ODD = [
    "nan", "NaN", "inf", "-inf", "Infinity", "true", "False", "null", "NA", "2020-01-01", "12:30", "007", "+1", ".5", "5.",
    "0x1f", " 4", "4 ", "1_000", "é", "12345678901234567890", "1e999", "2020-01-01 10:00:00", "-", "#", "1,5",
]  # fmt: skip


def by_pyarrow(path, na=("",), text=()):
    options = arrow_csv.ConvertOptions(
        null_values=list(na), strings_can_be_null=True, column_types=dict.fromkeys(text, pa.string())
    )
    parsing = arrow_csv.ParseOptions(delimiter=";", newlines_in_values=True)
    return arrow_csv.read_csv(path, parse_options=parsing, convert_options=options)


def by_us(path, na=("",), text=()):
    names = tuple(path.read_text().partition("\n")[0].split(";"))
    return read_small_file(TextFile(str(path), names, TextOptions(";", tuple(na), decimal=".")), text)


@st.composite
def tables(draw):
    """Columns of numbers, of words and of anything."""
    kinds = [CELLS[:10], [*CELLS[:10], ""], CELLS[10:], CELLS, CELLS + ODD]
    n = draw(st.integers(1, 6))
    return [draw(st.lists(st.sampled_from(draw(st.sampled_from(kinds))), min_size=n, max_size=n)) for _ in range(2)]


@settings(max_examples=4 * settings.default.max_examples)
@given(columns=tables(), na=st.sampled_from([("",), ("", "NA"), ("red",)]), text=st.sampled_from([(), ("x0",)]))
def test_small_files_are_read_as_pyarrow_reads_them(tmp_path_factory, columns, na, text):
    path = tmp_path_factory.mktemp("plain") / "rows.csv"
    lines = ["x0;x1;key", *(";".join([*row, "k"]) for row in zip(*columns, strict=True))]
    path.write_text("\n".join(lines) + "\n")
    found = by_us(path, na, text)
    if found is None:
        return
    expected = by_pyarrow(path, na, text)
    assert list(found) == expected.column_names
    for column, other in zip(found.values(), expected.columns, strict=True):
        if hasattr(column, "categories"):
            assert pa.types.is_string(other.type)
            values = [None if code < 0 else column.categories[code] for code in column.codes.tolist()]
            assert list(column.categories) == sorted(set(column.categories))
            assert values == other.to_pylist()
        else:
            assert column.values.dtype == other.type.to_pandas_dtype()
            missing = np.isnan(column.values) if column.null_mask is None else column.null_mask
            values = [None if gap else x for x, gap in zip(column.values.tolist(), missing.tolist(), strict=True)]
            assert values == other.to_pylist()
            assert [str(x) for x in values] == [str(x) for x in other.to_pylist()]


@pytest.mark.parametrize("cells", [["1", "-2"], ["1.5", ""], ["red", "7"], ["a", ""], ["0.25", "3e-4"]])
def test_plain_columns_are_read_without_a_library(tmp_path, cells):
    path = tmp_path / "rows.csv"
    path.write_text("x;key\n" + "".join(f"{cell};k\n" for cell in cells))
    assert by_us(path) is not None


@pytest.mark.parametrize("cell", [cell for cell in ODD if cell not in ("1,5", "12345678901234567890")])
def test_a_column_in_doubt_is_left_to_a_library(tmp_path, cell):
    path = tmp_path / "rows.csv"
    path.write_text(f"x;key\n{cell};k\n")
    assert by_us(path) is None


@pytest.mark.parametrize(
    "content",
    ['x;y\n"1";2\n', "x;y\n1;2\n\n3;4\n", "x;y\n1;2;3\n", "x;y\n", "x;y\n1;2\r3;4\n"],
)  # fmt: skip
def test_a_file_that_is_not_plain_is_left_to_a_library(tmp_path, content):
    path = tmp_path / "rows.csv"
    path.write_bytes(content.encode())
    assert by_us(path) is None


def test_a_large_file_is_left_to_a_library(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x;y\n" + "1;2\n" * (MAX_SMALL_FILE_BYTES // 4 + 1))
    assert by_us(path) is None


def test_a_table_is_the_same_with_every_reader(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("size;colour;n;answer\r\n" + "1.5;red;3;yes\r\n2;;4;no\r\n;blue;5;no\r\n" * 3)
    assert encode(path, target="answer", nominal=["n"]) == encode(by_pyarrow(path), target="answer", nominal=["n"])
    known = encode(path, target="answer").schema
    assert encode(path, schema=known, target="answer") == encode(by_pyarrow(path), schema=known, target="answer")


def test_a_small_file_needs_no_library(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("size;answer\n1.5;yes\n2;no\n")
    code = f"import sys; from secateur import encode; encode({str(path)!r}, target='answer'); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"pyarrow", "polars", "pandas", "narwhals"}.isdisjoint(modules)


def test_pyarrow_reads_a_file_with_missing_values_without_pandas(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("size;n;colour;answer\n" + "1.5;3;red;yes\n;;;no\n" * (MAX_SMALL_FILE_BYTES // 20 + 1))
    code = f"import sys; from secateur import encode; encode({str(path)!r}, target='answer'); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "pyarrow" in modules
    assert "pandas" not in modules


def test_a_column_without_a_name_gets_its_number(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,,y\n" + "1,2,u\n3,4,v\n" * 5)
    assert encode(path, target="y").schema.names == ("a", "column2")
