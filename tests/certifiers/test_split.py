"""Rows that are held out before anything is fitted."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

from secateur import certified_split
from secateur.errors import DataError, ParameterError, UnsupportedError

N = 90
ROWS = np.column_stack([np.arange(N, dtype=float), np.arange(N) % 7])
LABELS = np.arange(N) % 3


def as_list(data):
    if hasattr(data, "to_pylist"):
        return data.to_pylist()
    return np.asarray(data.toarray() if sparse.issparse(data) else data).tolist()


def frames():
    yield "array", ROWS
    yield "list", ROWS.tolist()
    yield "pandas", pd.DataFrame(ROWS, columns=["a", "b"], index=np.arange(N)[::-1])
    yield "csr", sparse.csr_matrix(ROWS)
    yield "coo", sparse.coo_array(ROWS)
    yield "texts", [f"text {i}" for i in range(N)]
    yield "images", ROWS.reshape(N, 2, 1)


@pytest.mark.parametrize(("kind", "X"), list(frames()))
def test_rows_are_divided_with_their_labels_and_keep_their_type(kind, X):
    X_fit, X_certify, y_fit, y_certify = certified_split(X, LABELS)

    assert (len(y_fit), len(y_certify)) == (60, 30)
    for part, labels in ((X_fit, y_fit), (X_certify, y_certify)):
        assert type(part) is type(X)
        numbers = [int(str(row).split()[-1]) for row in part] if kind == "texts" else np.array(as_list(part))
        numbers = np.asarray(numbers).reshape(len(labels), -1)[:, 0].astype(int)
        assert (np.asarray(labels) == numbers % 3).all()
        assert (np.diff(numbers) > 0).all()  # in the original order
    if kind == "pandas":
        assert (X_fit.index == N - 1 - X_fit["a"]).all()


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries_keep_their_type(library):
    frame_type = pytest.importorskip(library)
    columns = {"a": ROWS[:, 0], "b": ROWS[:, 1]}
    X = frame_type.DataFrame(columns) if library == "polars" else frame_type.table(columns)

    X_fit, X_certify, _, y_certify = certified_split(X, LABELS)

    assert type(X_certify) is type(X)
    numbers = [row["a"] for row in (X_certify.to_dicts() if library == "polars" else X_certify.to_pylist())]
    assert len(X_fit) == 60
    assert [number % 3 for number in numbers] == y_certify.tolist()


def test_lists_of_labels_stay_lists():
    _, _, y_fit, y_certify = certified_split(ROWS, LABELS.tolist())
    assert type(y_fit) is type(y_certify) is list


def test_the_same_data_give_the_same_split_and_other_seeds_and_data_another():
    split = certified_split(ROWS, LABELS)
    assert (certified_split(ROWS.copy(), LABELS.tolist()).X_certify == split.X_certify).all()
    assert (certified_split(ROWS, LABELS, random_state=1).X_certify != split.X_certify).any()
    changed = ROWS.copy()
    changed[0, 1] = 0.5
    assert (certified_split(changed, LABELS).X_certify[:, 0] != split.X_certify[:, 0]).any()


def test_the_size_is_the_share_and_auto_is_a_third_up_to_ten_thousand_rows():
    assert len(certified_split(ROWS, LABELS, share=0.5).y_certify) == 45
    assert len(certified_split(ROWS, LABELS, share=0.001).y_certify) == 1
    assert len(certified_split(ROWS, LABELS, share=0.999).y_certify) == N - 1
    assert len(certified_split(np.zeros((40_000, 1)), np.zeros(40_000, int)).y_certify) == 10_000


def test_all_rows_of_a_group_are_on_one_side():
    groups = np.arange(N) % 10
    split = certified_split(np.column_stack([ROWS, groups]), LABELS, groups=groups)
    fit, certify = set(split.X_fit[:, 2]), set(split.X_certify[:, 2])
    assert not fit & certify
    assert (len(fit), len(certify)) == (7, 3)


@pytest.mark.parametrize("share", [0, 1, 1.5, True, "half", None])
def test_a_share_that_leaves_nothing_is_refused(share):
    with pytest.raises(ParameterError, match="share="):
        certified_split(ROWS, LABELS, share=share)


def test_data_that_cannot_be_divided_are_refused():
    with pytest.raises(DataError, match="X has 90 rows and y 3"):
        certified_split(ROWS, [1, 2, 3])
    with pytest.raises(DataError, match="at least 2"):
        certified_split(ROWS[:1], LABELS[:1])
    for X in ("rows.csv", None, {"a": [1]}, iter([1])):
        with pytest.raises(UnsupportedError, match="rows in memory"):
            certified_split(X, LABELS)


def test_in_a_file_sorted_by_class_the_class_shares_are_those_of_a_random_draw():
    """With a draw of fixed positions, the number of certifying rows of a class would hardly vary."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(300):
        n_ones = rng.binomial(60, 0.5)
        y = np.repeat([0, 1], [60 - n_ones, n_ones])
        found.append(certified_split(rng.normal(size=(60, 1)), y, share=0.5).y_certify.sum())
    # Independent rows: the number among 30 is binomial with variance 7.5. With fixed positions it is below 4.5.
    assert stats.chi2.sf(np.var(found, ddof=1) * 299 / 7.5, 299) < 0.999
