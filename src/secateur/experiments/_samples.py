"""The data sets of the experiments, by the names the documents use, and rows taken from them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from .. import datasets
from ..data.table import Table
from ._study import Config, Part

# Made from first principles: the same rows as the real sets. The first two always are, the others without a folder.
ALWAYS: dict[str, Callable[[], Table]] = {"tic-tac-toe": datasets.tic_tac_toe, "car": datasets.car}
GENERATED = {**ALWAYS, "kropt": datasets.krk_depth, "nursery": datasets.nursery}
DRAWN = ("led24", "waveform", "kropt (generated)", "concept")


def table_of(name: str, config: Config) -> Table:
    """Return a data set: generated where it can be, else from the data folder."""
    if config.data is None or name in ALWAYS:
        return GENERATED[name]()
    return datasets.load(name, config.data)


def is_at_hand(part: Part, config: Config) -> bool:
    """Whether the data set that a part names can be had."""
    name = part.arguments.get("name")
    if name is None or name in DRAWN or name in ALWAYS:
        return True
    if config.data is None:
        return name in GENERATED
    return Path(config.data, f"{name}.csv.gz").is_file()


def seeds(config: Config, *numbers: int) -> int:
    """A seed made of the user's and of what it is for; different uses get different streams."""
    return int(np.random.SeedSequence([config.seed, *numbers]).generate_state(1, np.uint32)[0])
