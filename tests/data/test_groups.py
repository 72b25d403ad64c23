"""Labels of groups of any type, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from secateur import encode
from secateur.data.groups import check_groups_differ, hash_groups, split_off_groups
from secateur.errors import DataError, LeakageError, ParameterError


@pytest.mark.parametrize(
    "labels",
    [
        np.array([7, 3, 7, 5]),
        ["7", "3", "7", "5"],
        pd.Series([7.0, 3.0, 7.0, 5.0]),
        pd.Categorical(["7", "3", "7", "5"]),
        pd.Series([7, 3, 7, 5], dtype="Int64"),
        pl.Series([7, 3, 7, 5]),
        np.array([[7], [3], [7], [5]]),
    ],
    ids=["integers", "text", "floats", "categorical", "nullable", "polars", "column vector"],
)
@pytest.mark.filterwarnings("ignore:groups is a column vector")
def test_equal_labels_have_equal_hashes_whatever_their_type(labels):
    hashes = hash_groups(labels, 4)
    assert hashes.tolist() == hash_groups(["7", "3", "7", "5"]).tolist()
    assert len(set(hashes.tolist())) == 3


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1.5, 2.0], r"1\.5 \(row 0\)"),
        ([1.0, np.inf], "inf"),
        ([1.0, np.nan], r"missing in 1 rows \(first row 1\)"),
        (["a", None], r"missing in 1 rows \(first row 1\)"),
        (["a", "b", "c"], "3 labels for 2 rows"),
        (pd.Categorical([0.5, 1.0]), "0.5"),
        ("a", "'a'; the label of a group is needed for each row"),
        (None, "None; the label of a group is needed for each row"),
        (3, "3; the label"),
    ],
)
def test_labels_that_name_no_group_are_refused(labels, message):
    with pytest.raises(DataError, match=message):
        hash_groups(labels, 2)


def test_a_named_column_is_split_off():
    frame = pd.DataFrame({"a": [1.0, 2.0], "who": ["x", "y"]})
    rest, labels = split_off_groups(frame, "who")
    assert encode(rest).schema.names == ("a",)
    assert hash_groups(labels).tolist() == hash_groups(["x", "y"]).tolist()
    with pytest.raises(ParameterError, match="groups='whom' is not a column; the columns are 'a', 'who'"):
        split_off_groups(frame, "whom")
    with pytest.raises(ParameterError, match="with a Table"):
        split_off_groups(encode(frame), "who")


def test_a_group_on_both_sides_is_refused():
    growing, held_out = hash_groups(["a", "b", "b"]), hash_groups(["c", "b"])
    with pytest.raises(LeakageError, match=r"1 groups .*held-out row 1 and growing row 1"):
        check_groups_differ(growing, held_out)
    check_groups_differ(growing, held_out[:1])
    check_groups_differ(None, held_out)
