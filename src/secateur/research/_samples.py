"""The data sets of the experiments, by the names the documents use, and what is grown on rows taken from them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import datasets
from ..core import Counts, Pruning, Tree
from ..data.table import Table
from ..growers import grow
from ..routing import count
from ._study import Config, Part

# Made from first principles: the same rows as the real sets. The first three always are, the others without a folder.
ALWAYS: dict[str, Callable[[], Table]] = {
    "tic-tac-toe": datasets.tic_tac_toe,
    "car": datasets.car,
    "kropt (generated)": datasets.krk_depth,
}
GENERATED = {**ALWAYS, "kropt": datasets.krk_depth, "nursery": datasets.nursery}
DRAWN: dict[str, Callable[..., Table]] = {"led24": datasets.led24, "waveform": datasets.waveform}


def table_of(name: str, config: Config) -> Table:
    """Return a data set: generated where it can be, else from the data folder."""
    if config.data is None or name in ALWAYS:
        return GENERATED[name]()
    return datasets.load(name, config.data)


def is_at_hand(part: Part, config: Config) -> bool:
    """Whether the data set that a part names can be had."""
    name = part.arguments.get("name")
    if name in (None, "concept", *DRAWN, *ALWAYS):
        return True
    return name in GENERATED if config.data is None else Path(config.data, f"{name}.csv.gz").is_file()


def seeds(config: Config, *numbers: int) -> int:
    """A seed made of the user's and of what it is for; different uses get different streams."""
    return int(np.random.SeedSequence([config.seed, *numbers]).generate_state(1, np.uint32)[0])


def counted(growing: Table, pruning: Table, **options: Any) -> tuple[Tree, Counts, Counts]:
    """The tree grown on one sample, and its counts on both."""
    tree, grown = grow(growing, **options)
    return tree, grown, count(tree, pruning)


def rate_on(pruning: Pruning, counts: Counts) -> float:
    """The error rate of a pruning on a sample."""
    return float(pruning.errors(counts) / counts.total[0])
