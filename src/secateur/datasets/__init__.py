"""Data sets that are computed, and readers of real data sets.

A computed data set needs no download and is the same on every machine. Each function returns a `Table` with a target.
There are three families, one module each:

    _concepts  a class for each combination of a few attributes: balance_scale, monks, car, nursery, random_domain
    _games     every position of a small game: tic_tac_toe, krk_legality, krk_depth
    _noisy     random samples of a known distribution: led24, waveform, noise

`load` reads a real data set from a folder, which `secateur.research.build_data` fills. `fetch` downloads a data set
from OpenML. `split` splits the rows of any table into parts, for instance to grow, to prune and to certify.
"""

from ._concepts import balance_scale, car, monks, nursery, random_domain
from ._games import krk_depth, krk_legality, tic_tac_toe
from ._noisy import led24, noise, waveform
from ._real import fetch, load
from .tables import split

__all__ = [
    "balance_scale",
    "car",
    "fetch",
    "krk_depth",
    "krk_legality",
    "led24",
    "load",
    "monks",
    "noise",
    "nursery",
    "random_domain",
    "split",
    "tic_tac_toe",
    "waveform",
]
