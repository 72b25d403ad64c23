"""Selective Rademacher penalisation: sizes, test errors and error bounds of REP and k-REP.

Kaariainen, Malinen and Elomaa (2004), section 6, Table 1 and Figure 1. Ten random splits of each
set: a tenth to test, the rest two to one for growing and pruning. Trees are binary with the gain
ratio of C4.5 (a test must beat the mean gain, and leave two examples on each side), which is what
the study grew; nominal columns are parted in two sets of values. Beside these, what the text says in words: the
factor c, the choice of k, labels, and proportions (sections 3.1, 4, 6.2 and 7; 3.1 and 7 only propose).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import datasets
from ..certifiers import draw_signs, rademacher_over_k, signed_extremes
from ..core import Counts, Tree
from ..data.table import Table
from ..pruners import k_limit, k_reduced_error, reduced_error
from ..routing import count
from ._bounds import BOUNDS, DELTA, FACTOR, TREE_OF_BOUND, best_on_path, measure_bounds, rademacher_bounds
from ._samples import RANDOM_SETS, derive_seed, error_rate, grow_and_count, load_table
from ._sheets import CYCLE, Row, Sheet, comparison_cells, mean, new_figure, printed_figures
from ._study import Config, Part, Result, collect_values, results_under

N_SPLITS = 10
LED_ROWS = 300_000
# The largest first, so that threads end together.
SETS = (
    "covertype", "led24", "census-income", "isolet", "adult", "connect-4", "kropt", "letter", "musk2", "mushroom",
    "nursery", "optdigits", "pendigits", "page-blocks", "anneal",
)  # fmt: skip
SIZES = ("unpruned", "k-REP", "REP")
PLACES = {"Table 1": (("",), ("nodes",)), "Figure 1": (("",), ("bounds", "errors"))}
# Of the two phases.
QUICK_SETS = ("kropt", "letter", "nursery", "page-blocks", "pendigits")
FACTORS = (1.0, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0)
SHARES = (0.1, 0.2, 1 / 3, 0.5, 0.7)  # of the rows that are not for testing, to prune
N_EXTRA_SPLITS = 3
Samples = tuple[Tree, Counts, Counts, Counts]  # the tree, its growing, pruning and test sample
LABELLINGS: dict[str, dict[str, Any]] = {
    "growing": {},
    "cuts by pruning": {"labels": "prune"},
    "all by pruning": {"labels": "prune", "original": "relabel"},
}


def parts(config: Config) -> list[Part]:
    """One part per data set."""
    if config.quick:
        quick = (("kropt (generated)", 0), ("tic-tac-toe", 0), ("led24", 6_000), ("waveform", 3_000))
        made = [Part(name, one_set, {"name": name, "n_splits": 2, "n_rows": rows}) for name, rows in quick]
        return [*made, Part("phases-tic-tac-toe", by_phase, {"name": "tic-tac-toe", "n_splits": 1})]
    rows = {"led24": LED_ROWS}
    made = [Part(name, one_set, {"name": name, "n_splits": N_SPLITS, "n_rows": rows.get(name, 0)}) for name in SETS]
    return made + [Part(f"phases-{name}", by_phase, {"name": name, "n_splits": N_EXTRA_SPLITS}) for name in QUICK_SETS]


def one_set(config: Config, name: str, n_splits: int, n_rows: int) -> Result:
    """Return what was measured on every split of one data set, one list per quantity."""
    table = _table(name, n_rows, config)
    runs = []
    for i in range(n_splits):
        test, growing, pruning = datasets.split(table, 0.1, 0.6, 0.3, seed=derive_seed(config, 1, i))
        samples = grow_and_count(growing, pruning, criterion="gain_ratio")
        runs.append(measure_bounds(*samples, count(samples[0], test, sample="test"), seed=derive_seed(config, 2, i)))
    return {"rows": table.n_rows, **collect_values(runs)}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """Table 1, test errors, bounds, the findings, and what the text says of the two phases."""
    phases, results = _apart(results)
    names = sorted(results)
    made = [_nodes(names, results), _errors(names, results), _bounds(names, results), _findings(names, results)]
    return [*made, *_phase_sheets(phases)]


def _apart(results: dict[str, Result]) -> tuple[dict[str, Result], dict[str, Result]]:
    """The parts about the two phases by the name of their set, and the others."""
    return results_under(results, "phases-"), {
        key: one for key, one in results.items() if not key.startswith("phases-")
    }


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw the bounds of every set beside the test error of their own tree, then the phases."""
    phases, results = _apart(results)
    if phases:
        _draw_phases(phases, folder)
    names = sorted(results, key=lambda name: results[name]["rows"])
    drawn = (("REP",), ("k-REP",), ("path", "informed", "PAC-Bayes"))
    with new_figure(folder / "bounds.png", (3, 1), (10, 11), ncols=3) as axes:
        for ax, trees in zip(axes, drawn, strict=True):
            styles = zip((*CYCLE, *CYCLE), "^vDsP<>X*", strict=False)
            for tree in trees:
                colour = next(styles)[0] if len(trees) > 1 else "k"
                for key, label in BOUNDS[tree].items():
                    one, mark = (colour, "^") if len(trees) > 1 else next(styles)
                    values = [min(1.0, mean(results[name][key])) for name in names]
                    ax.plot(values, mark, color=one, label=label, ls=":", lw=0.8)
                values = [mean(results[name][f"test error, {tree}"]) for name in names]
                ax.plot(values, "o", color=colour, mfc="none", label=f"test error, {tree}")
            ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
            title = "bounds (cut at 1) above the test error of the same tree, small sets to large"
            ylim = (0, 1.02 if len(trees) == 1 else None)
            ax.set(ylabel="error", ylim=ylim, title=f"{', '.join(trees)}: {title}")


def _table(name: str, n_rows: int, config: Config) -> Table:
    return RANDOM_SETS[name](n_rows, seed=derive_seed(config, 0)) if name in RANDOM_SETS else load_table(name, config)


def _nodes(names: list[str], results: dict[str, Result]) -> Sheet:
    head = ("set", "rows", *(text for size in SIZES for text in (f"{size}, published", "ours", "difference")))
    rows, printed = [], printed_figures("nodes")
    for name in names:
        one = results[name]
        theirs = {} if name == "led24" and one["rows"] != LED_ROWS else printed.get(name, {})
        ours = {key: mean(one[key]) for key in (f"nodes, {size}" for size in SIZES)}
        rows.append((name, one["rows"], *comparison_cells(theirs, ours)))
    return Sheet("nodes", "Nodes of the tree, mean over the splits", head, rows, decimals=1)


def _errors(names: list[str], results: dict[str, Result]) -> Sheet:
    kinds = ("unpruned", "k-REP", "REP", "informed", "path")
    rows = [(name, *(100 * mean(results[name][f"test error, {kind}"]) for kind in kinds)) for name in names]
    return Sheet("errors", "Test error in percent, mean over the splits", ("set", *kinds), rows, decimals=2)


def _bounds(names: list[str], results: dict[str, Result]) -> Sheet:
    columns = {}
    for tree, bounds in BOUNDS.items():
        columns[f"test error, {tree}"] = f"{tree}: test error"
        columns |= {key: f"{tree}: {label}" if len(bounds) > 1 else f"{tree}: bound" for key, label in bounds.items()}
    rows = [(name, *(mean(results[name][key]) for key in columns)) for name in names]
    title = f"Test error of each tree and bounds on its error at delta = {DELTA:g}, means over the splits"
    note = (
        "The columns after a test error are bounds for that tree. d/4 is the published number of prunings, which is "
        "too small: bounds with it are not guarantees. PAC-Bayes bounds a pruning drawn at random from a mixture; its "
        "test error is the mean over the mixture."
    )
    return Sheet("bounds", title, ("set", *columns.values()), rows, note, decimals=3)


def _findings(names: list[str], results: dict[str, Result]) -> Sheet:
    n_splits = sum(len(results[name]["k"]) for name in names)
    n_ordered = sum(sum(results[name]["is ordered"]) for name in names)

    def of(name: str, key: str) -> float:
        return mean(results[name][key])

    def lower(this: str, that: str) -> str:
        return _listed([name for name in names if of(name, this) < of(name, that)], names)

    below = [
        f"{name}, {bound} {error:.3f} > {value:.3f}"
        for name, of_set in results.items()
        for bound, tree in TREE_OF_BOUND.items()
        for value, error in zip(of_set[bound], of_set[f"test error, {tree}"], strict=True)
        if value < error
    ]
    tightest = [name for name in names if of(name, "path") <= min(of(name, bound) for bound in TREE_OF_BOUND)]
    n_below = f"{len(below)} of {n_splits * len(TREE_OF_BOUND):,}" + (f": {'; '.join(below)}" if below else "")
    a, b = ("printed Rademacher", "centred Rademacher")
    rows = (
        ("REP tree contained in k-REP tree, contained in unpruned tree", f"{n_ordered} of {n_splits} splits"),
        ("published Rademacher below published Occam (d/4), REP", lower(f"{a}, REP", "quarter bit, REP")),
        ("centred Rademacher below exact Occam, REP", lower(f"{b}, REP", "uniform, REP")),
        ("bound of k-REP below that of REP, published Rademacher", lower(f"{a}, k-REP", f"{a}, REP")),
        ("bound of k-REP below that of REP, centred Rademacher", lower(f"{b}, k-REP", f"{b}, REP")),
        ("bounds below the test error of their own tree", n_below),
        ("the path certificate is the lowest of all", _listed(tightest, names)),
    )
    return Sheet("findings", "Findings", ("statement", "holds for"), rows)


def _listed(some: list[str], every: list[str]) -> str:
    return f"{len(some)} of {len(every)}" + (f": {', '.join(some)}" if 0 < len(some) < len(every) else "")


def by_phase(config: Config, name: str, n_splits: int) -> Result:
    """Return bounds and errors by factor, by share for pruning, and penalties by labelling, one row per split."""
    table, runs = _table(name, 0, config), []
    for i in range(n_splits):
        seed = derive_seed(config, 7, i)
        tree, grown, held, test = samples = _samples(config, table, 1 / 3, i)
        ks = sorted({k_limit(grown, factor=c) for c in FACTORS})
        best = rademacher_over_k(tree, grown, held, ks=ks, delta=DELTA, form="printed", rng=seed)
        k, bound = (best.details[key] for key in ("k", "unclipped"))
        one = {
            "factor": [_with_factor(samples, c, seed) for c in FACTORS],
            "chosen": [k / max(ks[0], 1), bound, error_rate(k_reduced_error(tree, grown, held, k=k), test)],
            "share": [_with_share(_samples(config, table, share, i), seed) for share in SHARES],
            "penalty": _penalties(tree, grown, held, k_limit(grown, factor=FACTOR), seed),
        }
        runs.append(one)
    return {"rows": table.n_rows, **collect_values(runs)}


def _samples(config: Config, table: Table, share: float, i: int) -> Samples:
    test, *rest = datasets.split(table, 0.1, 0.9 * (1 - share), 0.9 * share, seed=derive_seed(config, 1, i))
    tree, grown, held = grow_and_count(*rest, criterion="gain_ratio")
    return tree, grown, held, count(tree, test, sample="test")


def _with_factor(samples: Samples, c: float, seed: int) -> list[float]:
    """(A), (B), test error and nodes of k-REP with k = c times the growing errors."""
    tree, grown, held, test = samples
    pruning = k_reduced_error(tree, grown, held, factor=c)
    bounds = rademacher_bounds(tree, grown, held, pruning, (seed, seed), k_limit(grown, factor=c))
    return [*bounds, error_rate(pruning, test), pruning.n_nodes]


def _with_share(samples: Samples, seed: int) -> list[float]:
    """(A), (B), path certificate and test error of REP, test error on the path, nodes."""
    tree, grown, held, test = samples
    pruning = reduced_error(tree, grown, held)
    member, on_path = best_on_path(tree, grown, held)
    errors = [error_rate(one, test) for one in (pruning, on_path)]
    return [*rademacher_bounds(tree, grown, held, pruning, (seed, seed)), member.value, *errors, pruning.n_nodes]


def _penalties(tree: Tree, grown: Counts, held: Counts, k: int, seed: int) -> list[float]:
    """(hi - lo) / 2n for each labelling, of all prunings and of those within k."""
    n = int(held.total[0])
    found = []
    for how in LABELLINGS.values():
        for within in (None, k):
            random = np.random.default_rng(seed)
            drawn = [signed_extremes(tree, grown, draw_signs(held, random), k=within, **how) for _ in range(3)]
            found.append(mean([(hi - lo) / (2 * n) for hi, lo in drawn]))
    return found


def _phase_sheets(results: dict[str, Result]) -> list[Sheet]:
    """Bounds by factor, the price of choosing k, penalties by labelling, bounds by proportion."""
    at = FACTORS.index(FACTOR)
    chosen = []
    for name, one in results.items():
        (c, bound, error), by_factor = map(mean, zip(*one["chosen"], strict=True)), _means(one["factor"])
        others = by_factor[at][0], min(row[0] for row in by_factor)
        chosen.append((name, c, bound, *others, error, by_factor[at][2]))
    shares = [f"{100 * share:.0f} %" for share in SHARES]
    return [
        Sheet("factor", "k-REP by factor c: bounds, test error, nodes",
              ("set", "c", "(A)", "(B)", "test error", "nodes"), _by(results, "factor", FACTORS), decimals=3),
        Sheet("choice", "The factor chosen by the least bound (A), delta shared by all factors",
              ("set", "c chosen", "(A) chosen", f"(A) at {FACTOR}", "least (A), choice unpaid (invalid)",
               "test error, chosen", f"test error at {FACTOR}"), chosen, decimals=3),
        Sheet("labellings", f"Penalty of all prunings, and within k = {FACTOR} times the growing errors, by labelling",
              ("set", *(f"{name}, {what}" for name in LABELLINGS for what in ("all", "within k"))),
              [(name, *np.mean(one["penalty"], axis=0).tolist()) for name, one in results.items()], decimals=4),
        Sheet("proportion", "Bounds and errors by share of the rows kept for pruning",
              ("set", "to prune", "(A) REP", "(B) REP", "path", "test error, REP", "test error, path", "nodes, REP"),
              _by(results, "share", shares), decimals=3),
    ]  # fmt: skip


def _draw_phases(results: dict[str, Result], folder: Path) -> None:
    """Draw bound and test error against the factor, and against the share for pruning."""
    with new_figure(folder / "factor-and-proportion.png", (1, 2), (11, 4.4), fontsize=7, ncols=2) as axes:
        for ax, key, xs, error in ((axes[0], "factor", FACTORS, 2), (axes[1], "share", SHARES, 3)):
            for (name, one), colour in zip(results.items(), (*CYCLE, "k"), strict=False):
                for column, style, what in ((0, "o-", "(A)"), (error, "o:", "test")):
                    values = [row[column] for row in _means(one[key])]
                    label = f"{name}, {what}" if key == "share" else None
                    ax.plot(xs, values, style, ms=3, color=colour, label=label)
        axes[0].set(ylabel="error", ylim=(0, None), xlabel="factor c", title="k-REP", xscale="log")
        axes[1].set(ylabel="error", ylim=(0, None), xlabel="share of the rows to prune", title="REP")


def _by(results: dict[str, Result], key: str, settings: Sequence[object]) -> list[Row]:
    """A row per set and setting: the means over the splits."""
    return [
        (name, setting, *means)
        for name, one in results.items()
        for setting, means in zip(settings, _means(one[key]), strict=True)
    ]


def _means(splits: list[list[list[float]]]) -> list[list[float]]:
    """Of each setting, the means over the splits."""
    return [[mean(column) for column in zip(*one, strict=True)] for one in zip(*splits, strict=True)]
