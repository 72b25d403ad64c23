"""How a bound reads: true when rounded, plain when it is no guarantee."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur import Bound
from secateur.errors import ParameterError


def test_the_sentence_of_the_issue():
    assert str(Bound(0.123, 0.05, "test sample", 10_000, 1_100)) == (
        "With 95 % confidence the error on new rows like these is at most 12.3 %, from 10,000 held-out rows "
        "(method: test sample); assumes rows are independent and identically distributed and were not used to choose "
        "the tree."
    )


@given(st.floats(0, 1), st.floats(1e-12, 1 - 1e-12))
def test_the_sentence_never_promises_more_than_the_bound(value, delta):
    words = str(Bound(value, delta, "m", 5, 0)).split()
    assert Decimal(words[1]) <= 100 * (1 - Decimal(repr(delta)))
    assert float(words[words.index("most") + 1]) >= 100 * value * (1 - 1e-15)
    assert float(words[words.index("most") + 1]) <= max(100 * value * 1.011, 1e-300)


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0 %"), (1, "100 %"), (0.12301, "12.4 %"), (0.5, "50 %"), (0.00012345, "0.0124 %")]
)
def test_limits_are_rounded_up_to_three_digits(value, shown):
    assert f"at most {shown}, from 1 held-out row (" in str(Bound(value, 0.05, "m", 1, 0))


def test_the_sentence_of_a_bound_without_guarantee_begins_with_the_reason():
    bound = Bound(0.2, 0.05, "quarter bit", 500, 60, certified=False, reason="it is no prior")
    assert str(bound).startswith("Not a guarantee (it is no prior): ")
    assert "confidence the error" not in str(bound)


def test_the_predictor_is_named_if_it_is_not_the_pruned_tree():
    assert "the error of a random pruning on new rows" in str(Bound(0.2, 0.05, "m", 9, 1, predictor="a random pruning"))


def test_all_fields_come_out_by_name():
    bound = Bound(0.2, 0.05, "m", 10, 1, 0.7, sample="prune", details={"k": 3})
    assert Bound(**bound.to_dict()) == bound
    assert bound.rate == 0.1
    assert Bound(1.0, 0.05, "m", 0, 0).rate == 0


@pytest.mark.parametrize(
    "wrong", [{"value": 1.1}, {"value": float("nan")}, {"delta": 0}, {"delta": 1}, {"certified": False}]
)
def test_inconsistent_fields_of_a_bound_are_refused(wrong):
    with pytest.raises(ParameterError):
        Bound(**{"value": 0.1, "delta": 0.05, "method": "m", "n": 5, "errors": 1} | wrong)


@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        ({"value": 0.12341}, "12.4 %"),
        ({"value": 0.0}, "0 %"),
        ({"value": 12.341, "quantity": "cost", "scale": 20.0}, "12.4"),
        ({"value": 1234.1, "quantity": "cost", "scale": 2000.0}, "1,240"),
    ],
)
def test_limits_have_three_digits_and_are_rounded_up(fields, limit):
    assert f"at most {limit}, from" in str(Bound(delta=0.05, method="m", n=9, errors=0, **fields))


def test_the_confidence_has_six_digits_and_is_rounded_down():
    assert str(Bound(0.1, 0.0012345678, "m", 9, 0)).startswith("With 99.8765 % confidence")


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, float("nan")])
def test_a_failure_probability_that_is_none_is_refused(delta):
    with pytest.raises(ParameterError, match="delta="):
        Bound(0.2, delta, "m", 10, 1)


def test_the_error_rate_of_no_rows_is_zero():
    assert Bound(1.0, 0.05, "m", 0, 0).rate == 0.0


def test_a_bound_whose_rows_were_not_checked_says_what_it_assumes_of_them():
    assert "not used before" in str(Bound(0.2, 0.05, "m", 10, 1, is_checked=False))
    assert "not used before" not in str(Bound(0.2, 0.05, "m", 10, 1))
