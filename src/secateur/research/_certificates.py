"""Every certificate on the same samples: what each way of paying for a choice costs.

Generated samples first (five uniform attributes, a concept of three tests, labels wrong with a
known probability), then real sets. Trees are grown with gini until pure; everything at delta = .01.
"""

from pathlib import Path
from typing import Any

import numpy as np

from .. import datasets
from .._utils.arrays import Floats
from ..certifiers import cross_validation_weights, least_bound, path
from ..data.table import Table
from ..datasets._tables import make_table
from ..model_selection import cross_validate
from ..routing import count
from ._bounds import DELTA, TREE_OF_BOUND, measure_bounds
from ._samples import derive_seed, error_rate, grow_and_count, load_table
from ._sheets import CYCLE, Sheet, mean, new_figure, printed_and_ours, printed_figures
from ._study import Config, Part, Result, collect_values, results_under

PLACES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}  # no document has these
SETS = (
    "adult", "australian", "connect-4", "german", "kropt", "letter", "mushroom", "nursery", "page-blocks",
    "pendigits", "tic-tac-toe", "vehicle",
)  # fmt: skip
TEST_ROWS = 20_000
# Columns of the table: our words, and what was measured.
COLUMNS = {
    "nodes": "nodes, unpruned",
    "REP error": "pruning error, REP",
    "(A)": "printed Rademacher, REP",
    "(B) x 10": "centred Rademacher, REP",
    "d/4 (invalid)": "quarter bit, REP",
    "4: uniform": "uniform, REP",
    "3: PAC-Bayes": "PAC-Bayes",
    "2: informed": "informed, best",
    "1: path": "path",
    "path, CV weights": "path, weighted",
    "path, choice unpaid (invalid)": "unpaid, path",
}
BOUNDS = list(COLUMNS.items())[2:10]  # on the error; the last of the columns is not valid


def parts(config: Config) -> list[Part]:
    """One part per generated setting, one per real set."""
    n_settings, n_samples, names = (2, 2, ()) if config.quick else (3, 20, SETS)
    made = []
    for i, printed in enumerate(list(printed_figures("certificates").values())[:n_settings]):
        asked = {key: printed[key] for key in ("n_grow", "n_prune", "noise")}
        made.append(Part(f"generated-{i}", generated, {**asked, "n_samples": n_samples}))
    return made + [Part(f"real-{name}", real, {"name": name, "n_splits": 10}) for name in names]


def generated(config: Config, n_grow: int, n_prune: int, noise: float, n_samples: int) -> Result:
    """Return what was measured on samples of a known concept, one list per quantity."""
    runs = []
    for i in range(n_samples):
        random = np.random.default_rng(derive_seed(config, 1, n_grow, round(100 * noise), i))
        samples = [_draw(n, noise, random) for n in (n_grow, n_prune, TEST_ROWS)]
        runs.append(_one(*samples, seed=derive_seed(config, 2, n_grow, i)))
    return {"n_grow": n_grow, "n_prune": n_prune, "noise": noise, **collect_values(runs)}


def real(config: Config, name: str, n_splits: int) -> Result:
    """Return what was measured on random splits of a real set: half to grow, a quarter to prune, a quarter to test."""
    table = load_table(name, config)
    runs = (
        _one(*datasets.split(table, 0.5, 0.25, 0.25, seed=derive_seed(config, 3, i)), seed=derive_seed(config, 4, i))
        for i in range(n_splits)
    )
    return {"rows": table.n_rows, **collect_values(runs)}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """The reference figures beside ours, then the real sets and who wins."""
    shown = [
        make(found)
        for prefix, make in (("generated-", _generated), ("real-", _real))
        if (found := results_under(results, prefix))
    ]
    return [*shown, _held(results)]


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw the bounds of every sample size and set beside the test error of REP."""
    with new_figure(folder / "certificates.png", size=(10, 5), ncols=3) as (ax,):
        for (label, key), colour, mark in zip(BOUNDS, (*CYCLE, "0.5", "k"), "^v<>sDPX", strict=True):
            ax.plot([min(1.0, mean(one[key])) for one in results.values()], mark, color=colour, label=label)
        ax.plot([mean(one["test error, REP"]) for one in results.values()], "k_", ms=14, label="test error, REP")
        ax.set_xticks(range(len(results)), [key.removeprefix("real-") for key in results], rotation=45, ha="right")
        ax.set(ylabel="error", title=f"Bounds on the error at delta = {DELTA:g}, cut at 1", ylim=(0, 1.02))


def _one(growing: Table, pruning: Table, fresh: Table, *, seed: int) -> dict[str, float]:
    samples = grow_and_count(growing, pruning)
    found = measure_bounds(*samples, count(samples[0], fresh, sample="test"), seed=seed)
    # Weights from a cross-validation of the growing sample: the path is the one that `measure_bounds` certifies.
    table = cross_validate(growing, select="0se", random_state=seed)
    weights = cross_validation_weights(table.error, table.se)
    again = table.sequence.tree  # a tree of its own: the samples have told much about the other one
    best = least_bound(path(table.sequence, count(again, pruning), delta=DELTA, weights=weights))
    error = error_rate(table.sequence[best.details["member"]], count(again, fresh, sample="test"))
    return {**found, "path, weighted": best.value, "test error, path, weighted": error}


def _draw(n: int, noise: float, random: np.random.Generator) -> Table:
    X = random.random((n, 5))
    y = ((X[:, 0] > 0.5) & (X[:, 1] > 0.3)) | (X[:, 2] > 0.7)
    return make_table({f"x{j + 1}": None for j in range(5)}, X.T, y ^ (random.random(n) < noise), (0, 1))


def _generated(results: dict[str, Result]) -> Sheet:
    head = ["rows to grow / prune / noise:"]
    rows: list[list[Any]] = [[label] for label in COLUMNS]
    for one in results.values():
        setting = f"{one['n_grow']} / {one['n_prune']} / {one['noise']:g}"
        head += [f"{setting}, reference", "ours", "difference"]
        for row, name in zip(rows, COLUMNS.values(), strict=True):
            row.extend(printed_and_ours(printed_figures("certificates")[setting].get(name), mean(one[name])))
    title = "Generated samples: mean bounds on the error at delta = 0.01"
    return Sheet("generated", title, head, rows, decimals=3)


def _real(results: dict[str, Result]) -> Sheet:
    shown = ("test error, REP", "test error, path, weighted", *COLUMNS.values())
    rows = [(name, one["rows"], *(mean(one[key]) for key in shown)) for name, one in results.items()]
    head = ("set", "rows", "test error, REP", "test error, path", *COLUMNS)
    title = "Real data sets: mean bounds on the error over 10 splits at delta = 0.01"
    return Sheet("real", title, head, rows, decimals=3)


def _held(results: dict[str, Result]) -> Sheet:
    """How often each valid bound was below the test error, and how often it was the least."""
    valid = {label: key for label, key in BOUNDS if key != "quarter bit, REP"}
    of = {**TREE_OF_BOUND, "path, weighted": "path, weighted"}

    def every(key: str) -> Floats:
        return np.concatenate([one[key] for one in results.values()])

    least = np.min([every(key) for key in valid.values()], axis=0)
    rows = []
    for label, key in valid.items():
        bounds = every(key)
        n_below, n_least = (bounds < every(f"test error, {of[key]}")).sum(), (bounds <= least).sum()
        rows.append((label, len(bounds), int(n_below), int(n_least)))
    head = ("certificate", "samples", "below the test error", "least of all")
    return Sheet("ranking", "Which bound is lowest, by sample", head, rows)
