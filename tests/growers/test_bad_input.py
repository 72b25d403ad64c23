"""Bad input: a named error that says what was found, or the documented answer; never a wrong tree."""

import warnings

import numpy as np
import pytest

from secateur import encode, grow
from secateur.errors import DataError, ParameterError, SecateurError, UnsupportedError

X = np.array([[1.0, 5.0], [2.0, 3.0], [3.0, 4.0], [4.0, 1.0]])
Y = [0, 1, 0, 1]


@pytest.mark.lane
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("criterion", "ginni"),
        ("criterion", None),
        ("criterion", 3),
        ("splits", "ternary"),
        ("splits", None),
        ("growth", "breadth-first"),
        ("growth", None),
        ("max_splits", -1),
        ("max_splits", 2.5),
        ("max_splits", "many"),
        ("max_depth", -1),
        ("max_depth", 1.5),
        ("max_depth", True),
        ("min_samples_leaf", 0),
        ("min_samples_leaf", 0.1),
        ("min_samples_leaf", None),
        ("min_samples_split", 1),
        ("min_samples_split", "2"),
        ("min_samples_split", None),
        ("max_bins", 1),
        ("max_bins", 2**16),
        ("max_bins", 12.0),
        ("n_jobs", 0),
        ("n_jobs", 1.5),
        ("n_jobs", True),
        ("allow_zero", "yes"),
        ("penalise_numeric", "yes"),
        ("class_weight", "even"),
        ("class_weight", 5),
        ("class_weight", {7: 1.0}),
        ("class_weight", {0: -1.0}),
        ("class_weight", {0: np.nan}),
        ("class_weight", {0: np.inf}),
        ("class_weight", {0: "heavy"}),
        ("min_weight_fraction_leaf", "0.1"),
        ("min_weight_fraction_leaf", [0.1]),
        ("nominal", 1.5),
    ],
)
def test_a_parameter_out_of_range_is_named_with_its_value(parameter, value):
    rules = {"growth": "best-first"} if parameter == "max_splits" else {}
    with pytest.raises(ParameterError) as caught:
        grow(X, Y, **{parameter: value}, **rules)

    assert parameter in str(caught.value)
    shown = next(iter(value)) if isinstance(value, dict) else value
    assert str(shown) in str(caught.value)


def test_a_number_of_splits_needs_an_order_to_stop_in():
    with pytest.raises(ParameterError, match=r"max_splits=3.*best-first"):
        grow(X, Y, max_splits=3)


@pytest.mark.lane
@pytest.mark.parametrize(
    ("weight", "says"),
    [
        ([1, -1, 1, 1], "row 1 is -1"),
        ([1, 1, np.nan, 1], "row 2 is nan"),
        ([1, 1, 1, np.inf], "row 3 is inf"),
        ([0, 0, 0, 0], "zero"),
        ([1, 1], "4 numbers"),
        ([[1], [1], [1], [1]], "4 numbers"),
        (["a", "b", "c", "d"], "not numbers"),
        ([2.0**52, 2.0**52, 1, 1], "rescale"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(weight, says):
    with pytest.raises(DataError, match=says):
        grow(X, Y, sample_weight=weight)


@pytest.mark.parametrize("factor", [0.0, 1e19, 2.0**60])
def test_class_weights_meet_the_rules_of_weights(factor):
    with pytest.raises((DataError, ParameterError), match="weight"):
        grow(X, Y, class_weight={0: factor, 1: factor})


@pytest.mark.parametrize(
    ("rows", "labels", "error", "says"),
    [
        (np.zeros((0, 2)), [], DataError, "0 sample"),
        (np.zeros((4, 0)), Y, DataError, "0 feature"),
        (X[:, 0], Y, DataError, "reshape"),
        (X[None], Y, DataError, "dim|shape"),
        (X, Y[:3], DataError, "4 rows.*3 labels"),
        (X, [0, np.nan, 1, 0], DataError, "row.*1"),
        (X, [0, None, 1, 0], DataError, "row.*1"),
        (X, [0, np.inf, 1, 0], DataError, "infinity"),
        (X, [0.5, 1.5, 2.5, 0.1], DataError, "TreeRegressor"),
        (X, None, DataError, "y"),
        (X, [[0, 1], [1, 0], [0, 1], [1, 1]], DataError, "shape"),
        (X.astype(complex), Y, SecateurError, "complex"),
        (X.astype("M8[s]"), Y, SecateurError, "date|time"),
        ([[1.0, 2.0], [3.0]], [0, 1], SecateurError, ""),
    ],
)
def test_rows_and_labels_that_cannot_be_used_are_refused(rows, labels, error, says):
    with pytest.raises(error, match=f"(?i){says}"):
        grow(rows, labels)


def test_labels_of_mixed_kinds_are_refused():
    with pytest.raises(SecateurError):
        grow(X, np.array([1, "a", 1, "a"], object))


def test_a_column_of_labels_is_taken_with_a_warning():
    with pytest.warns(UserWarning, match="column vector"):
        grown = grow(X, np.array(Y)[:, None])

    assert grown == grow(X, Y)


def test_one_class_is_taken_with_a_warning():
    with pytest.warns(UserWarning, match="class"):
        tree, _ = grow(X, [1, 1, 1, 1])

    assert tree.n_nodes == 1


def test_too_many_branches_are_refused_with_advice():
    codes = np.arange(1500)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(UnsupportedError, match=r"1,500 categories.*splits='binary'"):
            grow(codes, np.arange(1500) % 2, nominal=[0], splits="multiway")


def test_duplicate_column_names_are_refused():
    pd = pytest.importorskip("pandas")

    with pytest.raises(DataError, match="size"):
        grow(pd.DataFrame(X, columns=["size", "size"]), Y)


def test_a_column_to_be_nominal_must_exist():
    with pytest.raises(ParameterError, match="nominal=9"):
        grow(X, Y, nominal=[9])


def test_labels_beside_a_table_are_not_ignored():
    table = encode(X, target=Y)

    assert grow(table, [1, 1, 0, 0]) == grow(X, [1, 1, 0, 0])
    with pytest.raises(DataError, match="labels"):
        grow(encode(X), [1, 0])


def test_a_table_without_labels_needs_them():
    with pytest.raises(DataError, match="target"):
        grow(encode(X))


def test_columns_to_be_nominal_are_not_ignored_beside_a_table():
    with pytest.raises(ParameterError, match="nominal"):
        grow(encode(X, target=Y), nominal=[0])


def test_after_an_error_growing_works_as_before():
    wanted = grow(X, Y)
    with pytest.raises(DataError):
        grow(X, [0, np.nan, 1, 0])

    assert grow(X, Y) == wanted


def test_an_array_of_class_weights_is_refused_by_name():
    """It was compared with a text, which is an array of booleans."""
    with pytest.raises(ParameterError, match=r"class_weight=array"):
        grow(X, Y, class_weight=np.array([1, 2]))


def test_limits_beyond_64_bits_are_no_limits():
    for growth in ("depth-first", "best-first"):
        assert grow(X, Y, growth=growth, max_depth=10**30)[0] == grow(X, Y, growth=growth)[0]
