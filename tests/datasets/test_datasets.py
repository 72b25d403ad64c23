"""Generators against what is published of their data sets, and against slow twins that play by the rules."""

from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secateur
from secateur import datasets
from secateur.datasets._noisy import PEAKS, SEGMENTS
from secateur.errors import DataError, ParameterError

COMPLETE = {
    "tic_tac_toe": datasets.tic_tac_toe,
    "balance_scale": datasets.balance_scale,
    "monks-1": lambda: datasets.monks(1),
    "monks-2": lambda: datasets.monks(2),
    "monks-3": lambda: datasets.monks(3),
    "car": datasets.car,
    "krk_legality": datasets.krk_legality,
    "krk_depth": cache(datasets.krk_depth),
}


def by_class(table):
    return dict(zip(table.schema.classes.tolist(), np.bincount(table.target).tolist(), strict=True))


def rows_of(table):
    """Attribute values of each row as a tuple, and its class."""
    columns = [table.values(name).tolist() for name in table.names]
    return list(zip(*columns, strict=True)), table.schema.classes[table.target].tolist()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tic_tac_toe", {"positive": 626, "negative": 332}),
        ("balance_scale", {"L": 288, "B": 49, "R": 288}),
        ("monks-1", {0: 216, 1: 216}),
        ("monks-2", {0: 290, 1: 142}),
        ("monks-3", {0: 204, 1: 228}),
        ("car", {"unacc": 1210, "acc": 384, "good": 69, "vgood": 65}),
        ("krk_legality", {"illegal": 86976, "legal": 262144 - 86976}),
    ],
)
def test_the_classes_have_the_published_numbers_of_rows(name, expected):
    assert by_class(COMPLETE[name]()) == expected


def test_the_depths_of_krk_have_the_published_numbers_of_rows():
    counts = [2796, 27, 78, 246, 81, 198, 471, 592, 683, 1433, 1712, 1985, 2854, 3597, 4194, 4553, 2166, 390]

    rows_of_class = by_class(COMPLETE["krk_depth"]())

    assert list(rows_of_class.values()) == counts
    assert list(rows_of_class)[:3] == ["draw", "zero", "one"]


@pytest.mark.parametrize("name", COMPLETE)
def test_no_two_rows_are_alike(name):
    columns = np.column_stack([np.asarray(column, np.int64) for column in COMPLETE[name]().columns])

    assert len(np.unique(columns, axis=0)) == len(columns)


def test_the_boards_of_tic_tac_toe_are_those_that_games_end_with():
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    ends = {}

    def play(board, player, seen):
        winner = next((board[a] for a, b, c in lines if board[a] != "b" and board[a] == board[b] == board[c]), None)
        if winner or "b" not in board:
            ends[board] = "positive" if winner == "x" else "negative"
            return
        for cell in range(9):
            if board[cell] == "b":
                later = (*board[:cell], player, *board[cell + 1 :])
                if later not in seen:
                    seen.add(later)
                    play(later, "o" if player == "x" else "x", seen)

    play(("b",) * 9, "x", set())

    assert dict(zip(*rows_of(datasets.tic_tac_toe()), strict=True)) == ends


def test_the_larger_moment_wins_the_balance():
    table = datasets.balance_scale()
    left = table.values("left_weight") * table.values("left_distance")
    right = table.values("right_weight") * table.values("right_distance")

    said = table.schema.classes[table.target]

    assert (np.sign(left - right) == np.select([said == "L", said == "R"], [1, -1], 0)).all()


def test_every_car_is_judged_by_the_three_printed_tables():
    price = {("vhigh", "vhigh"): 0, ("low", "low"): 3, ("med", "med"): 2, ("high", "vhigh"): 0, ("med", "low"): 3}
    rows, classes = rows_of(datasets.car())
    judged = dict(zip(rows, classes, strict=True))

    assert judged["low", "low", "4", "4", "big", "high"] == "vgood"
    assert judged["low", "low", "4", "4", "small", "high"] == "good"  # comfort 1, so tech 2
    assert judged["low", "low", "2", "more", "small", "high"] == "unacc"  # comfort 0
    assert {c for row, c in judged.items() if row[3] == "2" or row[5] == "low"} == {"unacc"}
    for (buying, maint), level in price.items():
        best = judged[buying, maint, "5more", "more", "big", "high"]
        assert best == ["unacc", "acc", "vgood", "vgood"][level]


def test_legality_of_krk_agrees_with_walking_the_board():
    """From the rook outwards, square by square, until something is in the way."""

    def walked(king, rook, other):
        if king == rook or max(abs(king[0] - other[0]), abs(king[1] - other[1])) <= 1 or rook == other:
            return "illegal"
        for df, dr in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            f, r = rook
            while 0 <= f + df < 8 and 0 <= r + dr < 8:
                f, r = f + df, r + dr
                if (f, r) == other:
                    return "illegal"
                if (f, r) == king:
                    break
        return "legal"

    table = datasets.krk_legality()
    some = np.random.default_rng(0).choice(table.n_rows, 5000, replace=False)
    for row in some.tolist():
        (wf, wr, rf, rr, bf, br) = (int(column[row]) for column in table.columns)
        expected = walked((wf, wr - 1), (rf, rr - 1), (bf, br - 1))
        assert table.schema.classes[table.target[row]] == expected


@pytest.mark.parametrize(
    ("pieces", "depth"),
    [
        (("d", 3, "h", 1, "d", 1), "zero"),  # the rook holds the first rank, the white king the second
        (("d", 3, "e", 1, "d", 1), "draw"),  # the rook stands unguarded beside the black king
        (("c", 2, "b", 2, "a", 1), "draw"),  # stalemate: not in check, and a2, b1 and b2 are covered
        (("c", 2, "a", 8, "a", 1), "zero"),  # the rook holds the a file, the white king b1 and b2
    ],
)
def test_krk_positions_judged_by_eye(pieces, depth):
    rows, classes = rows_of(COMPLETE["krk_depth"]())

    assert classes[rows.index(pieces)] == depth


def test_the_bayes_error_of_led24_is_the_published_one():
    lit = Fraction(1, 10)
    right = 0
    for segments in product((0, 1), repeat=7):
        wrong = (np.array(segments) != SEGMENTS).sum(axis=1).tolist()
        right += max(lit**w * (1 - lit) ** (7 - w) for w in wrong) / 10

    assert float(1 - right) == pytest.approx(0.259978, abs=5e-7)


def test_the_ten_digits_light_different_segments():
    assert all((a != b).any() for a, b in combinations(SEGMENTS, 2))


def test_led24_without_noise_shows_the_digits():
    table = datasets.led24(500, noise=0.0, seed=3)

    assert (np.column_stack(table.columns[:7]) == SEGMENTS[table.target]).all()


def test_segments_lie_as_often_as_they_should_and_the_rest_are_coins():
    table = datasets.led24(40_000, noise=0.1, seed=1)
    codes = np.column_stack(table.columns)

    lies = (codes[:, :7] != SEGMENTS[table.target]).mean(axis=0)

    assert lies == pytest.approx(0.1, abs=0.0075)  # five standard deviations
    assert codes[:, 7:].mean(axis=0) == pytest.approx(0.5, abs=0.0125)
    assert codes.shape[1] == 24


def test_a_waveform_is_on_average_half_of_each_of_its_triangles():
    table = datasets.waveform(60_000, seed=2)
    values = np.column_stack(table.columns)
    for c, (a, b) in enumerate(PEAKS):
        triangles = [[max(6 - abs(i - peak), 0) for i in range(1, 22)] for peak in (a, b)]
        mean = values[table.target == c].mean(axis=0)
        assert mean == pytest.approx(np.mean(triangles, axis=0), abs=0.07)
        # one mixing share per row: at the peak of one triangle it varies by 6 / sqrt(12)
        assert values[table.target == c][:, a - 1].std() > 1.2


def test_noise_has_the_requested_share_of_ones_independent_of_the_attribute():
    table = datasets.noise(40_000, 0.7, seed=5)
    x = table.values("x")

    assert table.target.mean() == pytest.approx(0.7, abs=0.0115)
    assert table.target[x < 0.5].mean() == pytest.approx(0.7, abs=0.0165)
    assert 0 <= x.min() < x.max() < 1


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(1, 5), st.integers(0, 1000))
def test_a_random_domain_holds_every_combination_once(values, n_classes, seed):
    table = datasets.random_domain(values, n_classes, seed)
    rows, classes = rows_of(table)

    assert sorted(rows) == sorted(product(*(range(1, n + 1) for n in values)))
    assert set(classes) <= set(range(n_classes))


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: datasets.led24(50, seed=seed),
        lambda seed: datasets.waveform(50, seed=seed),
        lambda seed: datasets.noise(50, 0.5, seed=seed),
        lambda seed: datasets.random_domain([3, 4, 5], 3, seed=seed),
        lambda seed: datasets.split(datasets.car(), 0.5, seed=seed)[0],
    ],
)
def test_the_seed_decides_everything(make):
    assert make(7) == make(7)
    assert make(7) != make(8)


def test_a_tree_fits_a_complete_data_set_without_error():
    table = datasets.tic_tac_toe()

    tree, counts = secateur.grow(table)

    assert counts.errors_if_leaf(counts.majority)[tree.is_leaf].sum() == 0


@given(st.lists(st.floats(0.05, 0.4), min_size=1, max_size=2), st.integers(0, 50))
def test_split_deals_every_row_out_at_most_once(shares, seed):
    table = datasets.balance_scale()
    parts = datasets.split(table, *shares, seed=seed)

    dealt = [row for part in parts for row in rows_of(part)[0]]

    assert len(dealt) == len(set(dealt)) == round(625 * sum(shares))
    assert all(abs(part.n_rows - 625 * share) <= 1 for part, share in zip(parts, shares, strict=True))
    assert all(part.schema == table.schema for part in parts)


def test_split_keeps_rows_and_labels_together():
    table = datasets.car()
    known = dict(zip(*rows_of(table), strict=True))
    (part,) = datasets.split(table, 0.3)

    assert all(known[row] == label for row, label in zip(*rows_of(part), strict=True))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: datasets.monks(4), "problem=4"),
        (lambda: datasets.led24(0), "n=0"),
        (lambda: datasets.led24(10, noise=1.5), "noise=1.5"),
        (lambda: datasets.waveform(2.5), "n=2.5"),
        (lambda: datasets.noise(10, float("nan")), "p=nan"),
        (lambda: datasets.random_domain([], 2), r"values=\[\]"),
        (lambda: datasets.random_domain([2, 0], 2), r"values=\[2, 0\]"),
        (lambda: datasets.random_domain([1000] * 7, 2), "product"),
        (lambda: datasets.random_domain([2], 0), "n_classes=0"),
        (lambda: datasets.split(datasets.monks(1)), r"shares=\(\)"),
        (lambda: datasets.split(datasets.monks(1), 0.7, 0.7), "at most 1"),
        (lambda: datasets.split(datasets.monks(1), 0.5, -0.1), "above 0"),
    ],
)
def test_invalid_parameters_are_refused_by_name(call, says):
    with pytest.raises(ParameterError, match=says):
        call()


def test_a_share_too_small_for_a_row_is_refused():
    with pytest.raises(DataError, match="at least one row"):
        datasets.split(datasets.monks(1), 0.5, 0.0001)
