"""Data sets with every position of a small game, whose class follows from the rules of the game.

Squares of the chess board are numbered file by file: square = 8 * file + rank, both from 0.
A position is one index into arrays of shape (64, 64, 64): white king, white rook, black king. The variables `king`,
`rook` and `other` hold their squares.
"""

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Bools, Ints, Longs
from ..data.table import Table
from .tables import all_combinations, make_table

_FILE, _RANK = np.divmod(np.arange(64), 8)
_KING_STEPS = tuple((df, dr) for df in (-1, 0, 1) for dr in (-1, 0, 1) if (df, dr) != (0, 0))
_ROOK_STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen",
)  # fmt: skip


def tic_tac_toe() -> Table:
    """Return all 958 boards at the end of a game that x begins. The class is positive if x has won.

    Returns
    -------
    Table
        Nine nominal columns with the values x, o and b (blank), row by row.

    Examples
    --------
    >>> import numpy as np
    >>> table = tic_tac_toe()
    >>> dict(zip(table.schema.classes.tolist(), np.bincount(table.target).tolist()))
    {'negative': 332, 'positive': 626}
    """
    boards = all_combinations(*[3] * 9)
    x, o = boards == 0, boards == 1
    lines = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])
    x_has_line, o_has_line = (player[:, lines].all(axis=2).any(axis=1) for player in (x, o))
    ahead = x.sum(axis=1) - o.sum(axis=1)
    x_won = x_has_line & ~o_has_line & (ahead == 1)
    o_won = o_has_line & ~x_has_line & (ahead == 0)
    drawn = ~x_has_line & ~o_has_line & (boards != 2).all(axis=1) & (ahead == 1)
    is_end = x_won | o_won | drawn
    names = [f"{row}_{column}" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")]
    return make_table(dict.fromkeys(names, "xob"), boards[is_end].T, x_won[is_end], ("negative", "positive"))


def krk_legality() -> Table:
    """Return all 262,144 placements of king and rook against king, with white to move, as legal or illegal.

    Returns
    -------
    Table
        For each piece its file, nominal a to h, and its rank, numeric 1 to 8. In the 86,976 illegal rows the kings are
        on the same square or on neighbouring squares, the rook is on the square of a king, or the rook attacks the
        black king although it is white's turn.

    Examples
    --------
    >>> int((krk_legality().target == 0).sum())
    86976
    """
    king, rook, other = all_combinations(64, 64, 64).T
    is_illegal = _is_adjacent()[king, other] | (king == rook) | _is_attacked_by_rook()[rook, other, king]
    return _krk_table(king, rook, other, ~is_illegal, ("illegal", "legal"))


def krk_depth() -> Table:
    """Return the 28,056 positions of king and rook against king, black to move, with the moves to mate.

    Returns
    -------
    Table
        For each piece its file, nominal a to h, and its rank, numeric 1 to 8. The classes are draw and zero to sixteen:
        the number of white's moves to mate under best play. Only one of several positions that are mirror images is
        listed: the white king is in the triangle a1-d1-d4; if it is on the diagonal a1-h8, the black king is on or
        below the diagonal; and if both kings are on it, the rook is on or below it.

    Notes
    -----
    Retrograde analysis, about a second. Bain and Hoff (1994) for the data set.

    Examples
    --------
    >>> krk_depth()
    Table(28,056 rows, 3 nominal and 3 numeric columns, 18 classes)
    """
    king, rook, other = all_combinations(64, 64, 64).T
    below = _FILE - _RANK  # how many squares a square is below the diagonal
    is_listed = (_FILE[king] < 4) & (below[king] >= 0) & _is_position().ravel()
    is_listed &= (below[king] > 0) | (below[other] > 0) | ((below[other] == 0) & (below[rook] >= 0))
    chosen = np.flatnonzero(is_listed)
    depth = _moves_to_mate().ravel()[chosen]
    return _krk_table(king[chosen], rook[chosen], other[chosen], depth + 1, ("draw", *_WORDS))


def _krk_table(
    king: Longs, rook: Longs, other: Longs, target: npt.NDArray[np.integer], classes: tuple[str, ...]
) -> Table:
    """Return the table of some positions, given the squares of the white king, the rook and the black king."""
    values: dict[str, str | None] = {}
    for piece in ("white_king", "white_rook", "black_king"):
        values |= {f"{piece}_file": "abcdefgh", f"{piece}_rank": None}
    columns = [column for square in (king, rook, other) for column in (_FILE[square], _RANK[square] + 1)]
    return make_table(values, columns, target, classes)


def _is_adjacent() -> Bools:
    """Return, for each pair of squares [a, b], whether they are neighbours or the same square."""
    distance = np.maximum(abs(_FILE[:, None] - _FILE), abs(_RANK[:, None] - _RANK))
    return np.asarray(distance <= 1)


def _is_attacked_by_rook() -> Bools:
    """Return, for each [rook, square, king], whether the rook is on the line of the square and no king is between.

    The result is also true if rook and square are the same.
    """
    rook, square, king = np.ogrid[:64, :64, :64]
    shares_file, shares_rank = _FILE[rook] == _FILE[square], _RANK[rook] == _RANK[square]
    is_file_blocked = (_FILE[king] == _FILE[rook]) & _is_between(_RANK[rook], _RANK[king], _RANK[square])
    is_rank_blocked = (_RANK[king] == _RANK[rook]) & _is_between(_FILE[rook], _FILE[king], _FILE[square])
    return np.asarray((shares_file & ~is_file_blocked) | (shares_rank & ~is_rank_blocked))


def _is_between(a: Longs, middle: Longs, b: Longs) -> Bools:
    """Return whether `middle` is strictly between `a` and `b`."""
    return np.asarray((np.minimum(a, b) < middle) & (middle < np.maximum(a, b)))


def _is_position() -> Bools:
    """Return, for each position, whether it is possible with black to move."""
    king, rook, other = np.ogrid[:64, :64, :64]
    return np.asarray(~_is_adjacent()[king, other] & (king != rook) & (rook != other))


def _moves_to_mate() -> npt.NDArray[np.int8]:
    """Return, for each position with black to move, the number of white's moves to mate; -1 if white cannot force it.

    The search goes backwards from mate in layers. Layer 0 holds the positions in which black is mated. Layer d holds
    all further positions in which every move of black leads to a position from which white can reach a lower layer.
    """
    is_position = _is_position()
    white_moves = _white_moves(is_position)
    black_moves, can_move, can_take_rook = _black_moves(is_position)
    king, rook, other = np.ogrid[:64, :64, :64]
    in_check = _is_attacked_by_rook()[rook, other, king]
    depth = np.full((64, 64, 64), -1, np.int8)
    depth[is_position & ~can_move & in_check] = 0
    is_won = np.zeros((64, 64, 64), np.bool_)  # white to move
    layer = -1
    while layer < depth.max():  # until a layer is empty
        layer = int(depth.max())
        # The last entry of `is_reached` and `loses` is for moves that do not exist.
        is_reached = np.append(depth.ravel() == layer, False)
        for targets in white_moves:
            is_won |= is_reached[targets]
        loses = np.append(is_won.ravel(), True)
        is_lost = is_position & can_move & ~can_take_rook & (depth < 0)
        for targets in black_moves:
            is_lost &= loses[targets]
        depth[is_lost] = layer + 1
    return depth


def _step(square: Longs, step: tuple[int, int], length: int = 1) -> tuple[Longs, Bools]:
    """Return the square to which a step leads, and whether it is on the board."""
    to_file, to_rank = _FILE[square] + length * step[0], _RANK[square] + length * step[1]
    is_on = (to_file >= 0) & (to_file < 8) & (to_rank >= 0) & (to_rank < 8)
    return np.where(is_on, 8 * to_file + to_rank, 0), np.asarray(is_on)


def _index(is_move: Bools, king: Longs, rook: Longs, other: Longs) -> Ints:
    """Return the position to which a move leads, or 64 ** 3 where the move does not exist."""
    return np.where(is_move, (king * 64 + rook) * 64 + other, 64**3).astype(np.int32)


def _white_moves(is_position: Bools) -> list[Ints]:
    """Return, for each move of white, the positions to which it leads from each position."""
    king, rook, other = np.ogrid[:64, :64, :64]
    moves = []
    for step in _KING_STEPS:
        to, is_on = _step(king, step)
        moves.append(_index(is_on & is_position[to, rook, other], to, rook, other))
    for step in _ROOK_STEPS:
        is_clear = np.ones((64, 64, 64), np.bool_)
        for length in range(1, 8):
            to, is_on = _step(rook, step, length)
            is_clear = is_clear & is_on & (to != king) & (to != other)
            moves.append(_index(is_clear & is_position[king, to, other], king, to, other))
    return moves


def _black_moves(is_position: Bools) -> tuple[list[Ints], Bools, Bools]:
    """Return the positions to which each move of black leads, whether it has a move, and whether one takes the rook."""
    king, rook, other = np.ogrid[:64, :64, :64]
    is_adjacent, is_attacked = _is_adjacent(), _is_attacked_by_rook()
    can_move, can_take_rook = np.zeros((64, 64, 64), np.bool_), np.zeros((64, 64, 64), np.bool_)
    moves = []
    for step in _KING_STEPS:
        to, is_on = _step(other, step)
        is_free = is_on & ~is_adjacent[king, to]
        takes_rook = is_free & (to == rook)  # a rook next to its king is protected: then `is_free` is False
        # The black king has left its square, so only the white king can shield it from the rook.
        is_quiet_move = is_free & (to != rook) & ~is_attacked[rook, to, king]
        moves.append(_index(is_quiet_move & is_position, king, rook, to))
        can_move |= is_quiet_move | takes_rook
        can_take_rook |= takes_rook
    return moves, can_move, can_take_rook
