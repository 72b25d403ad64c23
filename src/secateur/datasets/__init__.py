"""Data sets made from first principles: no download, no file, the same on every machine.

Each function returns a `Table` with its target. Three families, one file each:

    concepts   a class for each combination of a few attributes: balance_scale, monks, car, nursery, random_domain
    games      every position of a small game: tic_tac_toe, krk_legality, krk_depth
    noisy      samples of a known distribution, by seed: led24, waveform, noise

`load` reads real sets from a folder, which `secateur.research.build_data` fills; `fetch` gets them from OpenML.

`split` deals the rows of any table out into parts, for instance to grow, to prune and to
certify.
"""

from ._concepts import balance_scale, car, monks, nursery, random_domain
from ._games import krk_depth, krk_legality, tic_tac_toe
from ._noisy import led24, noise, waveform
from ._real import fetch, load
from ._tables import split

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
