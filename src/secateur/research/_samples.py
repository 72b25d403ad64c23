"""Data sets of the experiments by the names that the documents use, and trees grown on samples of them."""

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

# Sets that can be generated with the same rows as the published files. Those of ALWAYS_GENERATED are generated in every
# run, the others of GENERATED only if there is no data folder.
ALWAYS_GENERATED: dict[str, Callable[[], Table]] = {
    "tic-tac-toe": datasets.tic_tac_toe,
    "car": datasets.car,
    "kropt (generated)": datasets.krk_depth,
}
GENERATED = {**ALWAYS_GENERATED, "kropt": datasets.krk_depth, "nursery": datasets.nursery}
RANDOM_SETS: dict[str, Callable[..., Table]] = {"led24": datasets.led24, "waveform": datasets.waveform}


def load_table(name: str, config: Config) -> Table:
    """Return a data set: from the data folder if there is one, unless the set is always generated."""
    if config.data is None or name in ALWAYS_GENERATED:
        return GENERATED[name]()
    return datasets.load(name, config.data)


def is_available(part: Part, config: Config) -> bool:
    """Return whether the data set of a part can be generated or is in the data folder."""
    name = part.arguments.get("name")
    if name in (None, "concept", *RANDOM_SETS, *ALWAYS_GENERATED):
        return True
    return name in GENERATED if config.data is None else Path(config.data, f"{name}.csv.gz").is_file()


def derive_seed(config: Config, *numbers: int) -> int:
    """Return a seed for one use, derived from the user's seed and the numbers that identify the use."""
    return int(np.random.SeedSequence([config.seed, *numbers]).generate_state(1, np.uint32)[0])


def grow_and_count(growing: Table, pruning: Table, **options: Any) -> tuple[Tree, Counts, Counts]:
    """Grow a tree on one sample and return it with its counts on both samples."""
    tree, grown = grow(growing, **options)
    return tree, grown, count(tree, pruning)


def error_rate(pruning: Pruning, counts: Counts) -> float:
    """Return the error rate of a pruning on a sample."""
    return float(pruning.errors(counts) / counts.total[0])
