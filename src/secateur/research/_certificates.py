"""All certificates computed on the same samples, so that their bounds can be compared.

The samples are generated (five uniform attributes, a concept of three tests, labels that are wrong with a known
probability) or real. Trees are grown with gini until all leaves are pure. Each bound holds with probability
1 - DELTA = .99. Bounds on a tree that was chosen are higher than bounds on a fixed tree; the certificates differ in how
much they add for the choice.
"""

from pathlib import Path
from typing import Any

import numpy as np

from .. import datasets
from .._utils.arrays import Floats
from ..certifiers import cross_validation_weights, least_bound, path
from ..data.table import Table
from ..datasets.tables import make_table
from ..model_selection import cross_validate
from ..routing import count
from ._bounds import DELTA, REPEATS, TREE_OF_BOUND, measure_bounds
from ._samples import derive_seed, error_rate, grow_and_count, load_table
from ._sheets import (
    CYCLE,
    Sheet,
    available_sentences,
    draw_means,
    mean,
    new_figure,
    printed_and_ours,
    printed_figures,
    value_range,
)
from ._study import Config, Part, Result, collect_values, results_under

PLACES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}  # no figure or table of a document is reproduced
SETS = (
    "adult", "australian", "connect-4", "german", "kropt", "letter", "mushroom", "nursery", "page-blocks",
    "pendigits", "tic-tac-toe", "vehicle",
)  # fmt: skip
TEST_ROWS = 20_000  # of a generated setting
# Columns of the tables: the heading, and the name of the result.
COLUMNS = {
    "nodes": "nodes, unpruned",
    "REP error": "pruning error, REP",
    "published Rademacher": "printed Rademacher, REP",
    "centred Rademacher": "centred Rademacher, REP",
    "Occam, d/4 (invalid)": "quarter bit, REP",
    "exact Occam": "uniform, REP",
    "PAC-Bayes": "PAC-Bayes",
    "informed prior": "informed, best",
    "path": "path",
    "weighted path": "path, weighted",
    "path, choice unpaid (invalid)": "unpaid, path",
}
# The columns that are bounds on the error: neither sizes, nor the last column, whose bound ignores the choice.
BOUNDS = list(COLUMNS.items())[2:10]


def parts(config: Config) -> list[Part]:
    """Return one part per generated setting, and one per real set."""
    n_settings, n_samples, names = (2, 2, ()) if config.quick else (3, 20, SETS)
    made = []
    for i, printed in enumerate(list(printed_figures("certificates").values())[:n_settings]):
        arguments = {key: printed[key] for key in ("n_grow", "n_prune", "noise")}
        made.append(Part(f"generated-{i}", measure_generated_samples, {**arguments, "n_samples": n_samples}))
    return made + [Part(f"real-{name}", measure_real_splits, {"name": name, "n_splits": 10}) for name in names]


def measure_generated_samples(config: Config, n_grow: int, n_prune: int, noise: float, n_samples: int) -> Result:
    """Return sizes, errors and bounds on samples of a known concept: a list per quantity, a number per sample."""
    runs = []
    for i in range(n_samples):
        random = np.random.default_rng(derive_seed(config, 1, n_grow, round(100 * noise), i))
        samples = [_draw_sample(n, noise, random) for n in (n_grow, n_prune, TEST_ROWS)]
        runs.append(_measure_certificates(*samples, seed=derive_seed(config, 2, n_grow, i)))
    return {"n_grow": n_grow, "n_prune": n_prune, "noise": noise, **collect_values(runs)}


def measure_real_splits(config: Config, name: str, n_splits: int) -> Result:
    """Return sizes, errors and bounds on random splits of a real set: a list per quantity, a number per split.

    Half of the rows are for growing, a quarter for pruning and a quarter for testing.
    """
    table = load_table(name, config)
    runs = []
    for i in range(n_splits):
        samples = datasets.split(table, 0.5, 0.25, 0.25, seed=derive_seed(config, 3, i))
        runs.append(_measure_certificates(*samples, seed=derive_seed(config, 4, i)))
    return {"rows": table.n_rows, **collect_values(runs)}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """Return the tables: generated samples beside the reference figures, real sets, and a ranking of the bounds."""
    made = []
    if generated := results_under(results, "generated-"):
        made.append(_generated_sheet(generated))
    if real := results_under(results, "real-"):
        made.append(_real_sheet(real))
    return [*made, _ranking_sheet(results)]


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw the mean bounds of every generated setting and real set, and the test error of REP."""
    names = [_describe_setting(key, result) for key, result in results.items()]
    with new_figure(folder / "certificates.png", size=(12, 5)) as (ax,):
        for i, ((label, key), colour, marker) in enumerate(zip(BOUNDS, (*CYCLE, "0.5", "k"), "^v<>sDPX", strict=True)):
            x = [position + 0.08 * (i - 3.5) for position in range(len(names))]
            samples = [[min(1.0, bound) for bound in result[key]] for result in results.values()]
            draw_means(ax, x, samples, marker, spread=value_range, ms=4, color=colour, label=label)
        test_errors = [mean(result["test error, REP"]) for result in results.values()]
        ax.plot(test_errors, "k_", ms=20, label="test error, REP")
        ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
        title = f"Bounds on the error at delta = {DELTA:g}, cut at 1, with the range over the samples"
        ax.set(ylabel="error", title=title, ylim=(0, 1.02))


def _describe_setting(key: str, result: Result) -> str:
    """Return the name of a real set, or the rows and the noise of a generated setting."""
    if key.startswith("real-"):
        return key.removeprefix("real-")
    return f"{result['n_grow']:,} rows, noise {result['noise']:g}"


def findings(results: dict[str, Result]) -> list[str]:
    """Return what was found: the lowest bound, its distance to the test error, and the price of choosing."""
    if not results:
        return []
    return available_sentences(results, _describe_lowest, _describe_validity, _describe_price)


def _describe_lowest(results: dict[str, Result]) -> str:
    """Return a sentence on the certificate that is lowest in most samples."""
    sheet = _ranking_sheet(results)
    lowest = max(sheet.rows, key=lambda row: row[3])
    return f'The bound of the certificate "{lowest[0]}" is lowest most often: in {lowest[3]} of {lowest[1]} samples.'


def _describe_validity(results: dict[str, Result]) -> str:
    """Return a sentence on the bounds that are below the test error of their tree."""
    rows = _ranking_sheet(results).rows
    n_below, n_bounds = sum(row[2] for row in rows), sum(row[1] for row in rows)
    return (
        f"Of {n_bounds:,} valid bounds, {n_below} are below the test error of their tree, which is measured on other "
        f"rows; at delta = {DELTA:g} at most {DELTA * n_bounds:.0f} true errors are expected above their bound."
    )


def _describe_price(results: dict[str, Result]) -> str:
    """Return a sentence on how much each kind of bound adds to the test error of its tree."""
    gaps = {}
    for label in ("path", "PAC-Bayes", "informed prior", "exact Occam", "published Rademacher"):
        key = COLUMNS[label]
        test_error = f"test error, {TREE_OF_BOUND[key]}"
        gaps[label] = mean([mean(result[key]) - mean(result[test_error]) for result in results.values()])
    listed = ", ".join(f"{100 * gap:.1f} for {label}" for label, gap in gaps.items())
    return f"Above the test error of its tree, a bound lies on average by percentage points: {listed}."


def _measure_certificates(growing: Table, pruning: Table, test: Table, *, seed: int) -> dict[str, float]:
    """Grow a tree and return the results of `measure_bounds` and of the weighted path certificate.

    The weights of the path come from a cross-validation of the growing sample.
    """
    samples = grow_and_count(growing, pruning)
    found = measure_bounds(*samples, count(samples[0], test, sample="test"), seed=seed)
    selection = cross_validate(growing, select="0se", random_state=seed)
    weights = cross_validation_weights(selection.error, selection.se)
    # Cross-validation has grown the same tree again. Its rows are counted anew, since `measure_bounds` has already used
    # the counts of the first tree, and a certificate refuses counts that were used before.
    tree = selection.sequence.tree
    bounds = path(selection.sequence, count(tree, pruning), delta=DELTA, weights=weights, repeats=REPEATS)
    best = least_bound(bounds)
    error = error_rate(selection.sequence[best.details["member"]], count(tree, test, sample="test"))
    return {**found, "path, weighted": best.value, "test error, path, weighted": error}


def _draw_sample(n: int, noise: float, random: np.random.Generator) -> Table:
    """Return n rows of the concept; each label is wrong with probability `noise`."""
    X = random.random((n, 5))
    y = ((X[:, 0] > 0.5) & (X[:, 1] > 0.3)) | (X[:, 2] > 0.7)
    return make_table({f"x{j + 1}": None for j in range(5)}, X.T, y ^ (random.random(n) < noise), (0, 1))


def _generated_sheet(results: dict[str, Result]) -> Sheet:
    """Return our mean bounds on generated samples beside the reference figures: a row per quantity."""
    head = ["rows to grow / prune / noise:"]
    rows: list[list[Any]] = [[label] for label in COLUMNS]
    for result in results.values():
        setting = f"{result['n_grow']} / {result['n_prune']} / {result['noise']:g}"
        reference = printed_figures("certificates")[setting]
        head += [f"{setting}, reference", "ours", "difference"]
        for row, name in zip(rows, COLUMNS.values(), strict=True):
            row.extend(printed_and_ours(reference.get(name), mean(result[name])))
    title = "Generated samples: mean bounds on the error at delta = 0.01"
    return Sheet("generated", title, head, rows, decimals=3)


def _real_sheet(results: dict[str, Result]) -> Sheet:
    """Return the mean bounds on real sets: a row per set."""
    shown = ("test error, REP", "test error, path, weighted", *COLUMNS.values())
    rows = [(name, result["rows"], *(mean(result[key]) for key in shown)) for name, result in results.items()]
    head = ("set", "rows", "test error, REP", "test error, path", *COLUMNS)
    title = "Real data sets: mean bounds on the error over 10 splits at delta = 0.01"
    return Sheet("real", title, head, rows, decimals=3)


def _ranking_sheet(results: dict[str, Result]) -> Sheet:
    """Return in how many samples each valid bound was below the test error, and in how many it was the lowest."""
    valid = {label: key for label, key in BOUNDS if key != "quarter bit, REP"}
    tree_of_bound = {**TREE_OF_BOUND, "path, weighted": "path, weighted"}

    def values_of_all_samples(key: str) -> Floats:
        return np.concatenate([result[key] for result in results.values()])

    lowest = np.min([values_of_all_samples(key) for key in valid.values()], axis=0)
    rows = []
    for label, key in valid.items():
        bounds = values_of_all_samples(key)
        test_errors = values_of_all_samples(f"test error, {tree_of_bound[key]}")
        rows.append((label, len(bounds), int((bounds < test_errors).sum()), int((bounds <= lowest).sum())))
    head = ("certificate", "samples", "below the test error", "least of all")
    return Sheet("ranking", "Which bound is lowest, by sample", head, rows)
