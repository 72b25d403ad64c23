"""What is said about text: dates whose order is unclear, and text that is no text."""

import warnings

import numpy as np
import pytest

import secateur
from secateur.errors import SecateurError


def read(cells, tmp_path):
    """Return the warnings about a column of a text file that a model is fitted on."""
    import pandas as pd

    path = tmp_path / "rows.csv"
    pd.DataFrame({"day": cells, "size": range(len(cells))}).to_csv(path, index=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        secateur.encode(str(path))
    return " | ".join(str(warning.message) for warning in caught)


def test_dates_that_mean_the_same_in_both_orders_are_not_said_to_be_unclear(tmp_path):
    text = read(["05/05/2020", "06/06/2021", "07/07/2022", "08/08/2020"], tmp_path)

    assert "day" in text
    assert "day first" not in text


def test_dates_that_may_be_in_both_orders_are_said_to_be_read_with_the_day_first(tmp_path):
    assert "'05/06/2020' is read with the day first" in read(["05/06/2020", "06/06/2021", "07/07/2022"], tmp_path)


def test_text_that_cannot_be_written_is_refused_in_columns_of_objects():
    X = np.array([["a", 1.0], ["\ud800", 2.0], [None, 3.0]], object)

    with pytest.raises(SecateurError, match="holds the text"):
        secateur.encode(X)
