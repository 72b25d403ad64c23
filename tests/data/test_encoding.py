"""encode: what columns mean, the target, and later data that must meet the growing table."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.data.encoding import encode
from secateur.data.table import Column
from secateur.errors import DataError, ParameterError, SchemaError

nan = np.nan

# -- nominal columns -----------------------------------------------------------------


def test_numbers_named_by_the_caller_are_categories_in_rising_order():
    table = encode(np.array([[10, 1.5], [2, 2.5], [10, 3.5]]), nominal=np.array([0]))

    assert table.categories == ((2, 10), ())
    assert table.columns[0].tolist() == [1, 0, 1]
    assert table.matrix is None


def test_rows_of_weight_zero_add_no_category():
    data = pd.DataFrame({"a": ["x", "zero", None, "y"]})

    table = encode(data, sample_weight=[1, 0, 0, 2])

    assert table.schema.columns[0] == Column("a", "nominal", ("x", "y"), has_missing=False)
    assert table.columns[0].tolist() == [0, -1, -1, 1]
    assert table.n_unseen == (0,)


def test_declared_categories_stay_whatever_the_weights():
    data = pd.DataFrame({"a": pd.Categorical(["x", "y"])})

    assert encode(data, sample_weight=[1, 0]).columns[0].tolist() == [0, 1]


@given(st.data())
def test_rows_of_weight_zero_might_as_well_not_be_there(data):
    rows = data.draw(
        st.lists(st.tuples(st.sampled_from(["a", "b", "c", None]), st.sampled_from([1.0, nan])), min_size=1)
    )
    weights = data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows)).filter(any))
    kept = [i for i, weight in enumerate(weights) if weight]

    table = encode(np.array(rows, object), sample_weight=weights, nominal=[0], numeric=[1])
    without = encode(np.array([rows[i] for i in kept], object), nominal=[0], numeric=[1])

    assert table.schema == without.schema
    assert table.columns[0][kept].tolist() == without.columns[0].tolist()


def test_very_many_categories_are_a_warning():
    with pytest.warns(UserWarning, match="'x0' has 1,001 categories"):
        encode([[f"id {i}"] for i in range(1001)])
    encode([[f"id {i}"] for i in range(1000)])


@pytest.mark.parametrize("pair", [("Red", "red"), ("red", "red "), ("\u00e9", "e\u0301")])
def test_categories_that_look_alike_stay_apart_with_a_warning(pair):
    with pytest.warns(UserWarning, match="differ only by case, spaces or Unicode form") as told:
        table = encode([[pair[0]], [pair[1]], ["blue"]])
    assert len(table.categories[0]) == 3
    assert all(repr(word) in str(told[0].message) for word in pair)


def test_warnings_point_at_the_callers_line():
    with pytest.warns(UserWarning, match="looks numeric") as told:
        encode([["1"]])
    assert told[0].filename == __file__


# -- the target ----------------------------------------------------------------------


@pytest.mark.parametrize("target", ["y", 1, -2, np.int64(1)])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_can_be_the_target(frame, target):
    table = encode(frame({"a": [1.0, 2.0], "y": ["no", "yes"], "b": [0.5, 0.5]}), target=target)

    assert table.names == ("a", "b")
    assert table.target.tolist() == [0, 1]
    assert table.schema.classes.tolist() == ["no", "yes"]


def test_the_target_column_of_an_array_leaves_a_view_of_the_rest():
    data = np.array([[1.0, 2.0, 0.0], [3.0, 4.0, 1.0]])

    last, middle = encode(data, target=2), encode(data, target=1)

    assert np.shares_memory(last.matrix, data)
    assert last.matrix.tolist() == [[1, 2], [3, 4]]
    assert middle.names == ("x0", "x2")
    assert middle.matrix is None
    assert all(np.shares_memory(column, data) for column in middle.columns)


def test_the_first_column_can_be_the_target_of_an_array():
    table = encode(np.array([[0.0, 2.0, 3.0], [1.0, 5.0, 6.0]]), target=0)

    assert table.matrix.tolist() == [[2, 3], [5, 6]]
    assert table.columns[0].tolist() == [2, 5]


def test_positions_count_the_columns_as_given():
    table = encode([[0, 5, 6], [1, 5, 7]], target=0, nominal=[2])

    assert table.kinds == ("numeric", "nominal")


@pytest.mark.parametrize("target", [["a", "b"], np.array(["a", "b"]), pd.Series(["a", "b"]), pl.Series(["a", "b"])])
def test_labels_can_come_apart_from_the_data(target):
    assert encode(np.eye(2), target=target).target.tolist() == [0, 1]


def test_labels_of_another_length_are_refused_with_both_lengths():
    with pytest.raises(DataError, match=r"X has 2 rows but y has 3 labels \(inconsistent numbers of samples"):
        encode(np.eye(2), target=[0, 1, 1])


def test_weights_of_another_length_are_refused():
    with pytest.raises(DataError, match="sample_weight"):
        encode(np.eye(2), sample_weight=[1, 1, 1])


def test_nothing_but_the_target_is_refused():
    with pytest.raises(DataError, match=r"0 feature\(s\)"):
        encode(pd.DataFrame({"y": [1, 2]}), target="y")


def test_one_row_is_enough():
    assert encode([[1.0]], target=["a"]).n_rows == 1


# -- later data ----------------------------------------------------------------------

GROWN = encode(
    pd.DataFrame({"colour": ["red", "blue", None], "size": [1.0, 2.0, 3.0], "old": [True, False, True]}),
    target=["y", "n", "y"],
)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("schema", [GROWN, GROWN.schema])
def test_later_columns_are_matched_by_name_and_reordered(frame, schema):
    later = encode(frame({"old": [False, None], "size": [nan, 4], "colour": ["blue", None]}), schema=schema)

    assert later.schema == GROWN.schema
    assert later.columns[0].tolist() == [0, 2]
    assert np.array_equal(later.columns[1], [nan, 4], equal_nan=True)
    assert later.columns[2].tolist() == [0, -1]
    assert later.n_unseen == (0, 0, 0)


@given(st.permutations(["colour", "size", "old"]), st.sampled_from(["pandas", "polars"]), st.data())
def test_the_order_of_later_columns_does_not_matter(order, library, data):
    n_rows = data.draw(st.integers(1, 4))
    columns = {
        "colour": data.draw(
            st.lists(st.sampled_from(["red", "blue", "green", None]), min_size=n_rows, max_size=n_rows)
        ),
        "size": data.draw(st.lists(st.floats(), min_size=n_rows, max_size=n_rows)),
        "old": data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)),
    }
    frame = pd.DataFrame if library == "pandas" else pl.DataFrame

    assert encode(frame(columns)[order], schema=GROWN) == encode(frame(columns), schema=GROWN)


def test_the_schema_is_the_very_same_object():
    assert encode([["red", 1.0, True]], schema=GROWN).schema is GROWN.schema


def later(**changes):
    return pd.DataFrame({"colour": ["red"], "size": [1.0], "old": [True]} | changes)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (later().drop(columns=["size", "old"]), "X lacks the columns 'size', 'old'"),
        (later().rename(columns={"size": "Size"}), r"X lacks the columns 'size'.*X has 'Size' instead"),
        (
            later(extra=[1], more=[2]),
            "X has the columns 'extra', 'more', which the tree was not grown on.*strict=False",
        ),
        (later(size=["1.0"]), r"'size' holds text \('1.0'\), but held numbers.*numeric=\['size'\]"),
        (later(size=[True]), "'size' holds booleans"),
        (later(colour=[1]), r"'colour' holds numbers \(1\), but held categories such as 'blue', 'red'"),
        (later(colour=[True]), "'colour' holds booleans"),
        (later(old=[1]), "'old' holds numbers"),
        (later(old=["True"]), "'old' holds text"),
        (np.zeros((2, 2)), "X has 2 features, but secateur is expecting 3 features as input"),
        (np.zeros((2, 3)), "'colour' holds numbers"),
    ],
)
def test_later_data_that_does_not_meet_the_schema_is_refused(data, says):
    with pytest.raises(SchemaError, match=says):
        encode(data, schema=GROWN)


@pytest.mark.parametrize("data", [np.zeros((0, 3)), np.zeros(3)])
def test_later_data_is_checked_like_any_other(data):
    with pytest.raises(DataError, match=r"0 sample|Reshape"):
        encode(data, schema=GROWN)


def test_extra_columns_can_be_ignored():
    assert encode(later(extra=[1]), schema=GROWN, strict=False) == encode(later(), schema=GROWN)


def test_the_target_is_not_an_extra_column():
    table = encode(later(label=["y"]), schema=GROWN, target="label")

    assert table.target.tolist() == [1]


def test_later_labels_use_the_growing_classes():
    with pytest.warns(UserWarning, match="classes the tree has not seen .'maybe'"):
        table = encode(later(), schema=GROWN, target=["maybe"])
    assert table.target.tolist() == [2]
    assert table.schema is GROWN.schema


def test_a_schema_without_classes_takes_those_of_the_data():
    grown = encode(np.eye(2))

    assert encode(np.eye(2), schema=grown, target=["a", "b"]).schema.classes.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "unnamed", [np.array([["red", 1.0, True]], object), [["red", 1.0, True]], pd.DataFrame([["red", 1.0, True]])]
)
def test_data_without_names_is_matched_by_position(unnamed):
    assert encode(unnamed, schema=GROWN) == encode(later(), schema=GROWN)


def test_named_data_meets_an_unnamed_schema_by_position():
    grown = encode(np.eye(2))

    assert encode(pd.DataFrame({"b": [1.0], "a": [2.0]}), schema=grown).columns[0].tolist() == [1.0]


def test_later_floats_are_not_copied():
    data = np.ones((3, 2), np.float32)

    assert np.shares_memory(encode(data, schema=encode(np.eye(2))).matrix, data)


@pytest.mark.parametrize(("unseen", "code"), [("majority-branch", -1), ("missing", 2)])
def test_unseen_categories_are_counted_and_follow_the_rule(unseen, code):
    table = encode(later(colour=["green"]), schema=GROWN, unseen=unseen)

    assert table.columns[0].tolist() == [code]
    assert table.n_unseen == (1, 0, 0)


def test_an_unseen_category_is_not_missing_in_a_column_without_missing_values():
    grown = encode([["a"], ["b"]])

    assert encode([["c"], [None]], schema=grown, unseen="missing").columns[0].tolist() == [-1, -1]


def test_unseen_categories_can_be_refused():
    with pytest.raises(SchemaError, match=re.escape("column 'colour': 'green' in 1 rows (first row 0)")):
        encode(later(colour=["green"]), schema=GROWN, unseen="error")
    encode(later(colour=[None]), schema=GROWN, unseen="error")


@pytest.mark.parametrize("nothing", [None, nan, pd.NA])
def test_a_column_with_nothing_in_it_meets_any_kind(nothing):
    frame = later(colour=[nothing], size=[nothing], old=[nothing])
    table = encode(frame, schema=GROWN)

    assert table.columns[0].tolist() == [2]
    assert np.isnan(table.columns[1]).all()
    assert table.columns[2].tolist() == [-1]


def test_a_text_column_with_nothing_in_it_meets_a_numeric_one():
    frame = later(size=pd.array([None], dtype="string"))

    assert np.isnan(encode(frame, schema=GROWN).columns[1]).all()


def test_categories_are_known_by_value_not_by_code():
    grown = encode(pd.DataFrame({"c": pd.Categorical(["a", "b"], categories=["a", "b"])}))
    other = pd.DataFrame({"c": pd.Categorical(["a", "b", "c"], categories=["c", "b", "a"])})

    table = encode(other, schema=grown)

    assert table.columns[0].tolist() == [0, 1, -1]
    assert encode(pl.DataFrame({"c": ["b"]}), schema=grown).columns[0].tolist() == [1]


def test_numbers_are_the_same_category_in_any_type():
    grown = encode(np.array([[1], [2]]), nominal=[0])

    for data in (np.array([[2.0]]), np.array([[2]], object), pd.DataFrame([[2]], dtype="Int8")):
        assert encode(data, schema=grown).columns[0].tolist() == [1]
    with pytest.raises(SchemaError, match="'x0' holds text"):
        encode([["2"]], schema=grown)


def test_text_in_later_data_is_converted_only_on_request():
    grown = encode([["1"], ["2"]], numeric=[0])

    assert encode([["3"]], schema=grown, numeric=[0]).columns[0].tolist() == [3]
    with pytest.raises(SchemaError):
        encode([["3"]], schema=grown)


def test_a_kind_that_contradicts_the_schema_is_refused():
    with pytest.raises(ParameterError, match="'size' is asked for as nominal, but the tree was grown on it as numeric"):
        encode(later(), schema=GROWN, nominal=["size"])


@pytest.mark.filterwarnings("error")
def test_later_data_is_not_remarked_upon():
    grown = encode([["1", 1.0], ["2", 2.0]], nominal=[0])
    encode([["1", np.inf], ["3", np.inf]], schema=grown)


# -- tables --------------------------------------------------------------------------


def test_a_table_is_encoded_already():
    assert encode(GROWN) is GROWN
    assert encode(GROWN, schema=GROWN) is GROWN
    assert encode(GROWN, target=["a", "b", "c"]).schema.classes.tolist() == ["a", "b", "c"]
    assert encode(
        encode(later()[["colour", "size", "old"]], schema=GROWN), schema=GROWN, target=["y"]
    ).target.tolist() == [1]


def test_a_table_of_another_schema_is_refused():
    with pytest.raises(SchemaError, match="another schema"):
        encode(encode(np.eye(2)), schema=GROWN)
    with pytest.raises(SchemaError, match="other classes"):
        encode(encode(np.eye(2), target=[0, 1]), schema=encode(np.eye(2), target=["a", "b"]))
    with pytest.raises(ParameterError, match="encoded already"):
        encode(GROWN, nominal=["size"])


def test_a_table_without_classes_takes_those_of_the_schema():
    bare, grown = encode(np.eye(2)), encode(np.eye(2), target=["a", "b"])

    assert encode(bare, schema=grown).schema is grown.schema
    assert encode(bare, schema=grown, target=["b", "b"]).target.tolist() == [1, 1]
    assert encode(grown, schema=bare) is grown
