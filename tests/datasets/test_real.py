"""Real data sets from a folder, and generated ones against the real copies where they are at hand."""

import csv
import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from secateur import datasets
from secateur.errors import DataError

REAL = Path(__file__).parents[3] / "shared" / "data"
here = pytest.mark.skipif(not (REAL / "SCHEMA.json").exists(), reason="the real data sets are not at hand")

KINDS = {"size": "numeric", "colour": {"nominal": ["red", "blue", "green"]}, "code": {"nominal": ["1", "2"]}}
ROWS = "colour,size,code,class\nblue,1.5,2,good\n,,1,bad\nred,3,1,good\n"


@pytest.fixture
def folder(tmp_path):
    def write(text=ROWS, kinds=KINDS):
        (tmp_path / "SCHEMA.json").write_text(json.dumps({"toys": {"columns": kinds}}))
        (tmp_path / "toys.csv.gz").write_bytes(text if isinstance(text, bytes) else gzip.compress(text.encode()))
        return tmp_path

    return write


def test_columns_follow_the_schema_in_order_and_categories(folder):
    table = datasets.load("toys", folder())

    assert table.names == ("size", "colour", "code")
    assert table.categories == ((), ("red", "blue", "green"), ("1", "2"))
    assert table.values("colour").tolist() == ["blue", None, "red"]
    assert table.values("code").tolist() == ["2", "1", "1"]
    assert np.array_equal(table.values("size"), [1.5, np.nan, 3.0], equal_nan=True)
    assert [column.has_missing for column in table.schema.columns] == [True, True, False]
    assert table.schema.classes.tolist() == ["bad", "good"]
    assert table.target.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("text", "kinds", "says"),
    [
        (ROWS.replace("blue", "pink"), KINDS, r"'colour' holds 'pink'"),
        (ROWS.replace("1.5", "many"), KINDS, r"'size' should hold numbers and holds 'many'"),
        (ROWS.replace("size", "length"), KINDS, r"no column 'size'"),
        (ROWS.replace("class", "answer"), KINDS, r"no column 'class'"),
        (ROWS.replace("bad", ""), KINDS, r"'class' has 1 empty cells"),
        (b"this is not gzip", KINDS, r"toys\.csv\.gz cannot be read"),
        (gzip.compress(ROWS.encode(), mtime=0)[:20], KINDS, r"toys\.csv\.gz"),
        (ROWS + "red,1\n", KINDS, r"toys\.csv\.gz"),
        ("", KINDS, r"toys\.csv\.gz"),
        (ROWS, {"size": "number"}, r'needs "columns"'),
        (ROWS, {}, r'needs "columns"'),
    ],
)
def test_a_file_that_does_not_fit_the_schema_is_refused(folder, text, kinds, says):
    with pytest.raises(DataError, match=says):
        datasets.load("toys", folder(text, kinds))


def test_unknown_names_and_folders_are_reported(folder, tmp_path):
    folder()
    with pytest.raises(DataError, match="did you mean 'toys'"):
        datasets.load("toy", tmp_path)
    with pytest.raises(DataError, match="it knows toys"):
        datasets.load("xyz", tmp_path)
    with pytest.raises(DataError, match=r"SCHEMA\.json cannot be read"):
        datasets.load("toys", tmp_path / "no")
    (tmp_path / "toys.csv.gz").unlink()
    with pytest.raises(DataError, match=r"no file .*toys\.csv\.gz"):
        datasets.load("toys", tmp_path)
    (tmp_path / "SCHEMA.json").write_text("{")
    with pytest.raises(DataError, match="is not JSON"):
        datasets.load("toys", tmp_path)


def rows_of(table):
    """Rows as a multiset: the values as text, the class last."""
    columns = [table.values(j).tolist() for j in range(table.n_columns)]
    texts = [[str(int(v)) if isinstance(v, float) else str(v) for v in column] for column in columns]
    return Counter(zip(*texts, map(str, table.schema.classes[table.target].tolist()), strict=True))


@here
@pytest.mark.parametrize(
    ("name", "generate"),
    [
        ("tic-tac-toe", datasets.tic_tac_toe),
        ("balance-scale", datasets.balance_scale),
        ("car", datasets.car),
        ("kropt", datasets.krk_depth),
        ("nursery", datasets.nursery),
        ("monks-1-test", lambda: datasets.monks(1)),
        ("monks-2-test", lambda: datasets.monks(2)),
        ("monks-3-test", lambda: datasets.monks(3)),
    ],
)
def test_a_generated_set_has_the_rows_of_the_real_one(name, generate):
    assert rows_of(generate()) == rows_of(datasets.load(name, REAL))


@here
@pytest.mark.parametrize("name", ["anneal", "breast-cancer", "german", "hepatitis", "mushroom", "new-thyroid"])
def test_a_real_set_is_read_as_the_file_has_it(name):
    table = datasets.load(name, REAL)
    with gzip.open(REAL / f"{name}.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file))

    assert Counter(row["class"] for row in rows) == Counter(table.schema.classes[table.target].tolist())
    for at, column in enumerate(table.names):
        cells = [row[column] for row in rows]
        if table.kinds[at] == "nominal":
            assert [cell or None for cell in cells] == table.values(at).tolist()
        else:
            numbers = np.array([float(cell) if cell else np.nan for cell in cells])
            assert np.array_equal(numbers, table.values(at), equal_nan=True)
