"""Labels become class numbers, and what is no label is refused with its row."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.data.raw_column import read_objects
from secateur.data.screening import looks_continuous
from secateur.data.target import encode_target
from secateur.data.weights import check_weights
from secateur.errors import DataError, SchemaError, UnsupportedError

ANY_LABELS = st.one_of(
    st.lists(st.text(max_size=2), min_size=1, max_size=8),
    st.lists(st.booleans(), min_size=1, max_size=8),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8),
    st.lists(st.integers(-3, 3), min_size=1, max_size=8),
    st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=8),
)


@given(ANY_LABELS)
def test_classes_are_the_sorted_distinct_labels_and_codes_give_the_labels_back(labels):
    codes, classes = encode_target(labels)

    assert classes.tolist() == sorted(set(labels))
    assert classes[codes].tolist() == labels
    assert codes.dtype == np.int32
    assert not codes.flags.writeable
    assert not classes.flags.writeable


@pytest.mark.parametrize("dtype", ["i1", "u1", ">i4", "u8", "i8", ">f8", "f4", "f2", object])
def test_whole_numbers_of_any_type_give_the_same_codes(dtype):
    codes, classes = encode_target(np.array([7, 3, 7, 5]).astype(dtype))

    assert codes.tolist() == [2, 0, 2, 1]
    assert classes.tolist() == [3, 5, 7]


def test_labels_beyond_2_to_the_53_stay_apart():
    assert encode_target(np.array([2**63, 2**63 + 1], np.uint64))[0].tolist() == [0, 1]


def test_the_whole_range_of_a_small_type_fits():
    codes, classes = encode_target(np.arange(-128, 128).astype(np.int8))

    assert codes.tolist() == list(range(256))
    assert classes.tolist() == list(range(-128, 128))


def test_classes_keep_the_type_of_the_labels():
    assert encode_target(np.array([1, 2], np.int16))[1].dtype == np.int16
    assert encode_target(np.array([True, False]))[1].dtype == bool
    assert encode_target(np.array(["a", "bc"]))[1].dtype == "<U2"
    assert encode_target(np.array(["a", "bc"], object))[1].dtype == object


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype=object),
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series(pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"])),
        pl.Series(["b", "a", "b"]),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pl.Series(["b", "a", "b"], dtype=pl.Enum(["c", "b", "a"])),
        pa.array(["b", "a", "b"]),
        pa.array(["b", "a", "b"]).dictionary_encode(),
        pa.chunked_array([["b"], ["a", "b"]]).dictionary_encode(),
        ("b", "a", "b"),
    ],
)
def test_every_kind_of_series_gives_the_classes_that_occur_sorted(labels):
    codes, classes = encode_target(labels)

    assert codes.tolist() == [1, 0, 1]
    assert classes.tolist() == ["a", "b"]


def test_an_object_that_can_be_an_array_is_one():
    class Labels:
        def __array__(self, dtype=None, copy=None):
            return np.array([3, 1])

    assert encode_target(Labels())[1].tolist() == [1, 3]


def test_booleans_of_a_frame_are_booleans():
    codes, classes = encode_target(pl.Series([True, True]))

    assert (codes.tolist(), classes.tolist(), classes.dtype) == ([0, 0], [True], np.dtype(bool))


@pytest.mark.parametrize(
    "column", [np.array([[1], [0]]), [[1], [0]], pd.DataFrame({"y": [1, 0]}), pl.DataFrame({"y": [1, 0]})]
)
def test_a_column_vector_is_read_with_a_warning(column):
    with pytest.warns(UserWarning, match="column vector"):
        codes, _ = encode_target(column)
    assert codes.tolist() == [1, 0]


@pytest.mark.parametrize(
    "labels",
    [
        [1.0, np.nan, 0.0],
        ["a", None, "b"],
        np.array(["a", np.nan, "b"], object),
        np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        pd.Series(["a", None, "b"]),
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Series(["a", None, "b"], dtype="category"),
        pl.Series([1, None, 2]),
        pa.array(["a", None, "b"]).dictionary_encode(),
    ],
)
def test_a_missing_label_is_refused_with_its_row(labels):
    with pytest.raises(DataError, match=r"y contains NaN: the target is missing in 1 rows \(rows 1\)"):
        encode_target(labels)


def test_only_the_first_five_rows_are_named():
    with pytest.raises(DataError, match=re.escape("in 7 rows (rows 0, 1, 2, 3, 4, ...)")):
        encode_target([np.nan] * 7 + [1.0])


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ([], "0 labels"),
        ([1.0, np.inf], "contains infinity"),
        (np.array([1, np.inf], object), "contains infinity"),
        ([0.5, 1.0], "continuous .*use TreeRegressor"),
        (pd.Series([0.5, 1.0], dtype="category"), "continuous .*use TreeRegressor"),
        ([1, "a"], "mixes number and text values: 1 .row 0., 'a' .row 1."),
        ([True, 2.5, "a"], "mixes"),
        ([[1, 2], [3, 4]], "shape .2, 2."),
        (np.zeros((2, 1, 1)), "shape .2, 1, 1."),
        (np.array(3), "shape .."),
        (pd.DataFrame({"a": [1], "b": [2]}), "2 columns"),
        ([[1], [2, 3]], "ragged"),
        (np.array([1j]), "Complex data not supported"),
        (np.array(["2020"], "M8[D]"), "dates or times"),
        (pd.Series(pd.to_datetime(["2020"])), "dates or times"),
        (np.array([b"a"]), "decode"),
    ],
)
def test_invalid_labels_are_refused(labels, says):
    with pytest.raises(DataError, match=says):
        encode_target(labels)


@pytest.mark.parametrize("labels", [{"a": 1}, pl.LazyFrame({"a": [1]}), np.array([{"a": 1}], object)])
def test_objects_that_hold_no_labels_are_a_type_error(labels):
    with pytest.raises(UnsupportedError):
        encode_target(labels)


def test_sparse_labels_are_refused_with_advice():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(UnsupportedError, match="toarray"):
        encode_target(sparse.csr_array(np.eye(2)))


def test_very_many_classes_are_a_warning():
    with pytest.warns(UserWarning, match="1,001 classes"):
        encode_target(np.arange(1001))


@pytest.mark.parametrize(
    ("labels", "classes"), [([1, 0], [0, 1]), ([1.0, 0.0], [0, 1]), ([True, False], [0, 1]), ([1, 0], [False, True])]
)
def test_later_labels_are_known_by_value_whatever_their_type(labels, classes):
    assert encode_target(labels, classes=classes)[0].tolist() == [1, 0]


def test_classes_need_not_all_occur_later():
    assert encode_target(["c"], classes=["a", "b", "c"])[0].tolist() == [2]


def test_unknown_classes_share_one_number_and_are_named_in_one_warning():
    with pytest.warns(UserWarning, match="'x', 'z'") as told:
        codes, classes = encode_target(["z", "a", "x"], classes=np.array(["a", "b"]))
    assert codes.tolist() == [2, 0, 2]
    assert classes.tolist() == ["a", "b"]
    assert len(told) == 1


@pytest.mark.parametrize(("labels", "classes"), [(["1"], [1, 2]), ([1], ["1", "2"])])
def test_text_is_never_a_number(labels, classes):
    with pytest.raises(SchemaError, match=f"y holds {labels[0]!r}, but the classes of the tree are {classes[0]!r}"):
        encode_target(labels, classes=classes)


def test_no_weights_are_no_weights():
    assert check_weights(None, 3) is None


@pytest.mark.parametrize(
    "weights", [[1, 0, 2], (1.0, 0.0, 2.0), pd.Series([1, 0, 2]), np.array([1, 0, 2], ">f4"), pl.Series([1, 0, 2])]
)
def test_weights_become_read_only_floats(weights):
    checked = check_weights(weights, 3)

    assert checked.tolist() == [1, 0, 2]
    assert checked.dtype == np.float64
    assert not checked.flags.writeable


def test_the_callers_weights_are_not_touched():
    weights = np.ones(3)
    check_weights(weights, 3)
    weights[0] = 2


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1, -1, 1], "row 1 is -1.0"),
        ([1, np.nan, 1], "row 1 is nan"),
        ([1, 1, np.inf], "row 2 is inf"),
        ([0, 0, 0], "sample_weight is zero"),
        ([1, 2], r"shape \(2,\); 3 numbers"),
        ([[1], [2], [3]], r"shape \(3, 1\)"),
        (1.0, r"shape \(\)"),
        (["a", "b", "c"], "not numbers"),
        ([[1], [2, 3], 4], "sample_weight is ragged"),
        ([1, 2**53, 1], "rescale"),
        ([0.5, 2**53, 1], "rescale"),
        ([0.3e18, 0.7e18, 1.1], "rescale"),
        ([1e308, 1e308, 1], "adds up to inf"),
        ([1e-41, 0, 0], "rescale"),
    ],
)
def test_weights_that_are_no_weights_are_refused(weights, says):
    with pytest.raises(DataError, match=says):
        check_weights(weights, 3)


@pytest.mark.parametrize(("values", "is_continuous"), [([0.5, 1.5], True), ([0.0, 1.0], False), ([0.0, np.nan], False)])
def test_a_target_with_fractions_looks_continuous(values, is_continuous):
    assert looks_continuous(np.array(values * 20)) is is_continuous


def test_a_value_of_an_unsupported_type_is_named_wherever_it_is():
    with pytest.raises(UnsupportedError, match="row 1: 2j is a complex"):
        read_objects(np.array([1.0, 2j], object), "size")


@pytest.mark.parametrize(
    ("n_rows", "n_distinct", "is_continuous"),
    [
        (3000, 20, False),
        (3000, 2900, True),
        (60, 20, False),
        (40, 40, True),
    ],
)
def test_very_many_different_whole_numbers_look_continuous(n_rows, n_distinct, is_continuous):
    values = np.arange(n_rows) % n_distinct
    assert looks_continuous(values) is is_continuous
    assert looks_continuous(values.astype(float)) is is_continuous
    assert not looks_continuous(values.astype(str))
