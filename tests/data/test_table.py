"""The noun: what a Table refuses, answers and protects."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from secateur.data.table import Column, Schema, Table
from secateur.errors import DataError, SchemaError

SCHEMA = Schema(
    (Column("size", "numeric", has_missing=True), Column("colour", "nominal", ("red", "blue"), has_missing=True)),
    np.array(["no", "yes"]),
    has_names=True,
)


def make(size=(1.5, np.nan, 2.0), colour=(0, 2, -1), target=(0, 1, 2), **more):
    return Table(
        SCHEMA,
        (np.array(size), np.array(colour, np.int32)),
        None if target is None else np.array(target, np.int32),
        **more,
    )


def test_a_table_answers_for_its_rows_and_columns():
    table = make()

    assert (table.n_rows, table.n_columns) == (3, 2)
    assert table.names == ("size", "colour")
    assert table.kinds == ("numeric", "nominal")
    assert table.categories == ((), ("red", "blue"))
    assert table.n_unseen == (0, 0)


def test_the_repr_is_one_short_line():
    assert repr(make()) == "Table(3 rows, 1 nominal and 1 numeric columns, 2 classes)"
    assert (
        repr(Table(Schema((Column("a", "numeric"),)), (np.zeros(1),)))
        == "Table(1 row, 0 nominal and 1 numeric columns)"
    )


def test_codes_are_decoded_and_unknown_codes_become_none():
    assert make().values("colour").tolist() == ["red", None, None]
    assert make().values(0)[0] == 1.5


def test_arrays_are_read_only_views_and_the_callers_own_stay_writable():
    matrix = np.zeros((4, 2))
    schema = Schema((Column("a", "numeric"), Column("b", "numeric")))

    table = Table(schema, tuple(matrix.T), np.zeros(4, np.int32), matrix)

    for array in (*table.columns, table.target, table.matrix):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert all(np.shares_memory(column, matrix) for column in (*table.columns, table.matrix))
    assert matrix.flags.writeable


def test_equal_tables_are_equal_and_hash_alike_with_nan_equal_to_nan():
    assert make() == make()
    assert hash(make()) == hash(make())


@pytest.mark.parametrize(
    "other",
    [
        make(size=(1.5, np.nan, 3.0)),
        make(colour=(0, 2, 1)),
        make(target=(0, 1, 1)),
        make(target=None),
        make(n_unseen=(0, 1)),
        "a table",
    ],
)
def test_a_difference_in_any_part_makes_tables_unequal(other):
    assert make() != other


def test_schemas_are_equal_by_columns_names_and_classes():
    assert Schema((Column("a", "numeric"),)) == Schema((Column("a", "numeric"),))
    assert Schema((Column("a", "numeric"),)) != Schema((Column("a", "numeric"),), np.array([0, 1]))
    assert Schema((Column("a", "numeric"),)) != Schema((Column("a", "numeric"),), has_names=True)
    assert Schema((Column("a", "numeric"),)) != "a"


def test_a_table_survives_pickling():
    assert pickle.loads(pickle.dumps(make())) == make()


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ((np.zeros(2),), "1 columns given; the schema has 2"),
        ((np.zeros(2), np.zeros(2)), "'colour' is float64; a nominal column is int32"),
        ((np.zeros(2, np.float16), np.zeros(2, np.int32)), "'size' is float16; a numeric column is float32 or float64"),
        ((np.zeros(2, ">f8"), np.zeros(2, np.int32)), "'size' is >f8"),
        ((np.zeros(2), np.zeros(3, np.int32)), r"'colour' has shape \(3,\); \(2,\) is needed"),
        ((np.zeros(2), np.full(2, 3, np.int32)), "codes from 3 to 3; -1 to 2 are known"),
    ],
)
def test_columns_that_do_not_meet_the_schema_are_refused(columns, says):
    with pytest.raises(DataError, match=says):
        Table(SCHEMA, columns)


def test_a_table_without_columns_is_refused():
    with pytest.raises(SchemaError, match="at least one"):
        Table(Schema(()), ())


def test_a_target_of_another_length_or_type_is_refused():
    with pytest.raises(DataError, match="target is int32 of shape"):
        make(target=(0, 1))
    with pytest.raises(DataError, match="target is int64"):
        Table(SCHEMA, make().columns, np.zeros(3, np.int64))


def test_a_matrix_of_another_shape_is_refused():
    with pytest.raises(DataError, match=r"matrix has shape \(3, 3\); \(3, 2\) is needed"):
        make(matrix=np.zeros((3, 3)))


@pytest.mark.parametrize("module", ["data.table", "data.target", "data.encoding"])
def test_importing_loads_no_frame_library_and_no_scikit_learn(module):
    heavy = "{'narwhals', 'pandas', 'polars', 'pyarrow', 'scipy', 'sklearn'} & set(sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", f"import sys, secateur.{module}; print({heavy})"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.strip() == "set()"
