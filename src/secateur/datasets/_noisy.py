"""Random samples of distributions for which the smallest possible error is known."""

import numpy as np

from ..data.table import Table
from .tables import check_probability, make_table, row_generator

# The segments that each digit lights: top, upper left, upper right, middle, lower left, lower right, bottom.
_DIGITS = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
SEGMENTS = np.array([[int(is_lit) for is_lit in digit] for digit in _DIGITS.split()])
N_IRRELEVANT = 17
# Each class of the waveforms mixes two triangular waves. This lists the points at which they have their peaks.
PEAKS = ((7, 15), (7, 11), (15, 11))


def led24(n: int, noise: float = 0.1, seed: int = 0) -> Table:
    """Return digits on a faulty display: seven noisy segments and 17 columns of noise.

    Parameters
    ----------
    n : int
        Number of rows.
    noise : float
        Probability that a segment shows the wrong state.
    seed : int

    Returns
    -------
    Table
        24 nominal columns with the values 0 and 1; classes 0 to 9. The smallest possible error is .259978 if `noise`
        is .1.

    Notes
    -----
    Breiman, Friedman, Olshen and Stone (1984).

    Examples
    --------
    >>> led24(1000)
    Table(1,000 rows, 24 nominal and 0 numeric columns, 10 classes)
    """
    random = row_generator(n, seed)
    check_probability("noise", noise)
    digits = random.integers(10, size=n)
    shown = SEGMENTS[digits] ^ (random.random((n, SEGMENTS.shape[1])) < noise)
    irrelevant = random.integers(2, size=(n, N_IRRELEVANT))
    segments = ("top", "upper_left", "upper_right", "middle", "lower_left", "lower_right", "bottom")
    names = [*segments, *(f"irrelevant{j + 1}" for j in range(N_IRRELEVANT))]
    return make_table(dict.fromkeys(names, (0, 1)), np.hstack([shown, irrelevant]).T, digits, range(10))


def waveform(n: int, seed: int = 0) -> Table:
    """Return noisy mixtures of two of three triangular waves; the class is the pair.

    Parameters
    ----------
    n : int
        Number of rows.
    seed : int

    Returns
    -------
    Table
        21 numeric columns, x1 to x21; classes 0 to 2, equally likely. The smallest possible error is about .135.

    Notes
    -----
    Breiman, Friedman, Olshen and Stone (1984).

    Examples
    --------
    >>> waveform(300)
    Table(300 rows, 0 nominal and 21 numeric columns, 3 classes)
    """
    random = row_generator(n, seed)
    target = random.integers(3, size=n)
    points = np.arange(1, 22)
    waves = np.maximum(6 - np.abs(points - np.array(PEAKS)[:, :, None]), 0)  # of shape (classes, 2, points)
    share = random.random((n, 1))
    values = share * waves[target, 0] + (1 - share) * waves[target, 1] + random.standard_normal((n, len(points)))
    return make_table({f"x{i}": None for i in points.tolist()}, values.T, target, range(3))


def noise(n: int, p: float, seed: int = 0) -> Table:
    """Return rows with one attribute that is independent of the class.

    Parameters
    ----------
    n : int
        Number of rows.
    p : float
        Probability of class 1.
    seed : int

    Returns
    -------
    Table
        One numeric column x, uniform between 0 and 1. A tree with more than one leaf has learnt noise.

    Examples
    --------
    >>> noise(100, 0.7)
    Table(100 rows, 0 nominal and 1 numeric columns, 2 classes)
    """
    random = row_generator(n, seed)
    check_probability("p", p)
    values = random.random(n)
    return make_table({"x": None}, [values], random.random(n) < p, (0, 1))
