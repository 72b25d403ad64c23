"""Every certificate on the same samples: what each way of paying for a choice costs.

Generated samples first (five uniform attributes, a concept of three tests, labels wrong with a
known probability), then real sets. Trees are grown with gini until pure; everything at delta = .01.
"""

from pathlib import Path

import numpy as np

from .. import datasets
from ..certifiers import cross_validation_weights, least_bound, path
from ..data.table import Table
from ..datasets.rows import Numeric, make_table
from ..growers import grow
from ..routing import count
from ..selection import cross_validate
from ._bounds import OWN_TREE, measured
from ._figures import CYCLE, canvas, labelled, save
from ._published import CERTIFICATES
from ._samples import seeds, table_of
from ._sheets import Sheet, compared, mean
from ._study import Config, Part, Result, collected, under

DELTA = 0.01
PLACES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}  # no document has these
SETS = (
    "adult", "australian", "connect-4", "german", "kropt", "letter", "mushroom", "nursery", "page-blocks",
    "pendigits", "tic-tac-toe", "vehicle",
)  # fmt: skip
TEST_ROWS = 20_000
# Columns of the table: our words, what was measured, where the reference figure stands.
COLUMNS = (
    ("nodes", "nodes, unpruned", 0),
    ("REP error", "pruning error, REP", 1),
    ("(A)", "printed Rademacher, REP", 2),
    ("(B) x 10", "centred Rademacher, REP", 3),
    ("d/4 (invalid)", "quarter bit, REP", 4),
    ("4: uniform", "uniform, REP", 5),
    ("3: PAC-Bayes", "PAC-Bayes", 6),
    ("2: informed", "informed, best", 7),
    ("1: path", "path", 8),
    ("path, CV weights", "path, weighted", None),
    ("path, choice unpaid (invalid)", "unpaid, path", 9),
)


def parts(config: Config) -> list[Part]:
    """One part per generated setting, one per real set."""
    settings = list(CERTIFICATES)[:2] if config.quick else list(CERTIFICATES)
    n_samples, n_splits = (2, 0) if config.quick else (20, 10)
    made = [
        Part(f"generated-{i}", generated, {"n_grow": a, "n_prune": b, "noise": noise, "n_samples": n_samples})
        for i, (a, b, noise) in enumerate(settings)
    ]
    if config.quick:
        return made
    return [*made, *(Part(f"real-{name}", real, {"name": name, "n_splits": n_splits}) for name in SETS)]


def generated(config: Config, n_grow: int, n_prune: int, noise: float, n_samples: int) -> Result:
    """Return what was measured on samples of a known concept, one list per quantity."""
    runs = []
    for i in range(n_samples):
        random = np.random.default_rng(seeds(config, 1, n_grow, round(100 * noise), i))
        samples = [_draw(n, noise, random) for n in (n_grow, n_prune, TEST_ROWS)]
        runs.append(_one(*samples, seed=seeds(config, 2, n_grow, i)))
    return {"n_grow": n_grow, "n_prune": n_prune, "noise": noise, **collected(runs)}


def real(config: Config, name: str, n_splits: int) -> Result:
    """Return what was measured on random splits of a real set: half to grow, a quarter to prune, a quarter to test."""
    table = table_of(name, config)
    runs = (
        _one(*datasets.split(table, 0.5, 0.25, 0.25, seed=seeds(config, 3, i)), seed=seeds(config, 4, i))
        for i in range(n_splits)
    )
    return {"rows": table.n_rows, **collected(runs)}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """The reference figures beside ours, then the real sets and who wins."""
    shown = [
        make(found)
        for prefix, make in (("generated-", _generated), ("real-", _real))
        if (found := under(results, prefix))
    ]
    return [*shown, _held(results)]


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw the bounds of every sample size and set beside the test error of REP."""
    figure, axes = canvas(1, 1, (10, 5))
    ax = axes[0, 0]
    for (label, key, _), colour, mark in zip(COLUMNS[2:10], (*CYCLE, "0.5", "k"), "^v<>sDPX", strict=True):
        ax.plot([min(1.0, mean(one[key])) for one in results.values()], mark, color=colour, label=label)
    ax.plot([mean(one["test error, REP"]) for one in results.values()], "k_", ms=14, label="test error, REP")
    ax.set_xticks(range(len(results)), [key.removeprefix("real-") for key in results], rotation=45, ha="right")
    ax.set(ylabel="error", title=f"Bounds on the error at delta = {DELTA:g}, cut at 1", ylim=(0, 1.02))
    labelled(ax, ncols=3)
    save(figure, folder / "certificates.png")


def _one(growing: Table, pruning: Table, fresh: Table, *, seed: int) -> dict[str, float]:
    tree, grown = grow(growing)
    held, test = count(tree, pruning), count(tree, fresh, sample="test")
    found = measured(tree, grown, held, test, delta=DELTA, seed=seed)
    # Weights from a cross-validation of the growing sample: the path is the one that `measured` certifies.
    table = cross_validate(growing, select="0se", random_state=seed)
    weights = cross_validation_weights(table.error, table.se)
    again = table.sequence.tree  # a tree of its own: the samples have told much about the other one
    best = least_bound(path(table.sequence, count(again, pruning), delta=DELTA, weights=weights))
    found["path, weighted"] = best.value
    chosen, test = table.sequence[best.details["member"]], count(again, fresh, sample="test")
    found["test error, path, weighted"] = float(chosen.errors(test) / test.total[0])
    return found


def _draw(n: int, noise: float, random: np.random.Generator) -> Table:
    X = random.random((n, 5))
    y = ((X[:, 0] > 0.5) & (X[:, 1] > 0.3)) | (X[:, 2] > 0.7)
    return make_table([Numeric(f"x{j + 1}", X[:, j]) for j in range(5)], y ^ (random.random(n) < noise), (0, 1))


def _generated(results: dict[str, Result]) -> Sheet:
    head = ["rows to grow / prune / noise:"]
    rows: list[list[str | float | None]] = [[label] for label, _, _ in COLUMNS]
    for one in results.values():
        head += [f"{one['n_grow']} / {one['n_prune']} / {one['noise']:g}, reference", "ours", "difference"]
        printed = CERTIFICATES[one["n_grow"], one["n_prune"], one["noise"]]
        for row, (_, name, at) in zip(rows, COLUMNS, strict=True):
            row.extend(compared(None if at is None else printed[at], mean(one[name])))
    title = "Generated samples: mean bounds on the error at delta = 0.01"
    return Sheet("generated", title, head, rows, decimals=3)


def _real(results: dict[str, Result]) -> Sheet:
    shown = ("test error, REP", "test error, path, weighted", *(key for _, key, _ in COLUMNS))
    rows = [(name, one["rows"], *(mean(one[key]) for key in shown)) for name, one in results.items()]
    head = ("set", "rows", "test error, REP", "test error, path", *(label for label, _, _ in COLUMNS))
    title = "Real data sets: mean bounds on the error over 10 splits at delta = 0.01"
    return Sheet("real", title, head, rows, decimals=3)


def _held(results: dict[str, Result]) -> Sheet:
    """How often each valid bound was below the test error, and how often it was the least."""
    valid = [(label, key) for label, key, _ in COLUMNS[2:10] if key != "quarter bit, REP"]
    of = {**OWN_TREE, "path, weighted": "path, weighted"}
    rows = []
    for label, key in valid:
        n_below = n_least = n = 0
        for one in results.values():
            for i, bound in enumerate(one[key]):
                n += 1
                n_below += bound < one[f"test error, {of[key]}"][i]
                n_least += bound <= min(one[other][i] for _, other in valid)
        rows.append((label, n, n_below, n_least))
    head = ("certificate", "samples", "below the test error", "least of all")
    return Sheet("ranking", "Which bound is lowest, by sample", head, rows)
