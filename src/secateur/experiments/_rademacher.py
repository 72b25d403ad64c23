"""Selective Rademacher penalisation: sizes, test errors and error bounds of REP and k-REP.

Kaariainen, Malinen and Elomaa (2004), section 6, Table 1 and Figure 1. Ten random splits of each
set: a tenth to test, the rest two to one for growing and pruning. Trees are binary with the gain
ratio of C4.5 (a test must beat the mean gain, and leave two examples on each side), which is what
the study grew; nominal columns are parted in two sets of values.
"""

from pathlib import Path

from .. import datasets
from ..data.table import Table
from ..routing import count
from ._bounds import BOUNDS, DELTA, OWN_TREE, measured
from ._samples import DRAWN, counted, seeds, table_of
from ._sheets import CYCLE, Sheet, beside, drawing, mean, published
from ._study import Config, Part, Result, collected, under
from ._two_phase import N_SPLITS as FEW_SPLITS
from ._two_phase import SETS as FEW_SETS
from ._two_phase import draw_two_phase, two_phase, two_phase_sheets

N_SPLITS = 10
LED_ROWS = 300_000
# The largest first, so that threads end together.
SETS = (
    "covertype", "led24", "census-income", "isolet", "adult", "connect-4", "kropt", "letter", "musk2", "mushroom",
    "nursery", "optdigits", "pendigits", "page-blocks", "anneal",
)  # fmt: skip
SIZES = ("unpruned", "k-REP", "REP")
PLACES = {"Table 1": (("",), ("nodes",)), "Figure 1": (("",), ("bounds", "errors"))}


def parts(config: Config) -> list[Part]:
    """One part per data set."""
    if config.quick:
        quick = (("kropt (generated)", 0), ("tic-tac-toe", 0), ("led24", 6_000), ("waveform", 3_000))
        made = [Part(name, one_set, {"name": name, "n_splits": 2, "n_rows": rows}) for name, rows in quick]
        return [*made, Part("phases-tic-tac-toe", by_phase, {"name": "tic-tac-toe", "n_splits": 1})]
    rows = {"led24": LED_ROWS}
    made = [Part(name, one_set, {"name": name, "n_splits": N_SPLITS, "n_rows": rows.get(name, 0)}) for name in SETS]
    return made + [Part(f"phases-{name}", by_phase, {"name": name, "n_splits": FEW_SPLITS}) for name in FEW_SETS]


def by_phase(config: Config, name: str, n_splits: int) -> Result:
    """Return bounds by factor, by labelling and by proportion of the two phases."""
    return two_phase(config, _table(name, 0, config), n_splits)


def one_set(config: Config, name: str, n_splits: int, n_rows: int) -> Result:
    """Return what was measured on every split of one data set, one list per quantity."""
    table = _table(name, n_rows, config)
    runs = []
    for i in range(n_splits):
        test, growing, pruning = datasets.split(table, 0.1, 0.6, 0.3, seed=seeds(config, 1, i))
        samples = counted(growing, pruning, criterion="gain_ratio")
        runs.append(measured(*samples, count(samples[0], test, sample="test"), seed=seeds(config, 2, i)))
    return {"rows": table.n_rows, **collected(runs)}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """Table 1, test errors, bounds, the findings, and what the text says of the two phases."""
    phases, results = _apart(results)
    names = sorted(results)
    made = [_nodes(names, results), _errors(names, results), _bounds(names, results), _findings(names, results)]
    return [*made, *two_phase_sheets(phases)]


def _apart(results: dict[str, Result]) -> tuple[dict[str, Result], dict[str, Result]]:
    """The parts about the two phases by the name of their set, and the others."""
    return under(results, "phases-"), {key: one for key, one in results.items() if not key.startswith("phases-")}


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw the bounds of every set beside the test error of their own tree, then the phases."""
    phases, results = _apart(results)
    if phases:
        draw_two_phase(phases, folder)
    names = sorted(results, key=lambda name: results[name]["rows"])
    drawn = (("REP",), ("k-REP",), ("path", "informed", "PAC-Bayes"))
    with drawing(folder / "bounds.png", (3, 1), (10, 11), ncols=3) as axes:
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
    return DRAWN[name](n_rows, seed=seeds(config, 0)) if name in DRAWN else table_of(name, config)


def _nodes(names: list[str], results: dict[str, Result]) -> Sheet:
    head = ("set", "rows", *(text for size in SIZES for text in (f"{size}, published", "ours", "difference")))
    rows, printed = [], published("nodes")
    for name in names:
        one = results[name]
        theirs = {} if name == "led24" and one["rows"] != LED_ROWS else printed.get(name, {})
        ours = {key: mean(one[key]) for key in (f"nodes, {size}" for size in SIZES)}
        rows.append((name, one["rows"], *beside(theirs, ours)))
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
        for bound, tree in OWN_TREE.items()
        for value, error in zip(of_set[bound], of_set[f"test error, {tree}"], strict=True)
        if value < error
    ]
    tightest = [name for name in names if of(name, "path") <= min(of(name, bound) for bound in OWN_TREE)]
    n_below = f"{len(below)} of {n_splits * len(OWN_TREE):,}" + (f": {'; '.join(below)}" if below else "")
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
