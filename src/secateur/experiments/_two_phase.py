"""What the study of Rademacher penalties says in words: the factor c, the choice of k, labels, and proportions.

Kaariainen, Malinen and Elomaa (2004), sections 3.1, 4, 6.2 and 7. Sections 3.1 and 7 only propose.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .. import datasets
from ..certifiers import draw_signs, rademacher_over_k, signed_extremes
from ..data.table import Table
from ..nouns import Counts, Tree
from ..pruners import k_limit, k_reduced_error, reduced_error
from ..routing import count
from ._bounds import DELTA, FACTOR, best_on_path, penalised
from ._samples import counted, rate_on, seeds
from ._sheets import CYCLE, Row, Sheet, drawing, mean
from ._study import Config, Result, collected

SETS = ("kropt", "letter", "nursery", "page-blocks", "pendigits")
FACTORS = (1.0, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0)
SHARES = (0.1, 0.2, 1 / 3, 0.5, 0.7)  # of the rows that are not for testing, to prune
N_SPLITS = 3
Samples = tuple[Tree, Counts, Counts, Counts]  # the tree, its growing, pruning and test sample
LABELLINGS = {
    "growing": {},
    "cuts by pruning": {"labels": "prune"},
    "all by pruning": {"labels": "prune", "original": "relabel"},
}


def two_phase(config: Config, table: Table, n_splits: int) -> Result:
    """Return bounds and errors by factor, by share for pruning, and penalties by labelling, one row per split."""
    runs = []
    for i in range(n_splits):
        seed = seeds(config, 7, i)
        tree, grown, held, test = samples = _samples(config, table, 1 / 3, i)
        ks = sorted({k_limit(grown, factor=c) for c in FACTORS})
        best = rademacher_over_k(tree, grown, held, ks=ks, delta=DELTA, form="printed", rng=seed)
        k, bound = (best.details[key] for key in ("k", "unclipped"))
        one = {
            "factor": [_with_factor(samples, c, seed) for c in FACTORS],
            "chosen": [k / max(ks[0], 1), bound, rate_on(k_reduced_error(tree, grown, held, k=k), test)],
            "share": [_with_share(_samples(config, table, share, i), seed) for share in SHARES],
            "penalty": _penalties(tree, grown, held, k_limit(grown, factor=FACTOR), seed),
        }
        runs.append(one)
    return {"rows": table.n_rows, **collected(runs)}


def _samples(config: Config, table: Table, share: float, i: int) -> Samples:
    test, *rest = datasets.split(table, 0.1, 0.9 * (1 - share), 0.9 * share, seed=seeds(config, 1, i))
    tree, grown, held = counted(*rest, criterion="gain_ratio")
    return tree, grown, held, count(tree, test, sample="test")


def _with_factor(samples: Samples, c: float, seed: int) -> list[float]:
    """(A), (B), test error and nodes of k-REP with k = c times the growing errors."""
    tree, grown, held, test = samples
    pruning = k_reduced_error(tree, grown, held, factor=c)
    bounds = penalised(tree, grown, held, pruning, (seed, seed), k_limit(grown, factor=c))
    return [*bounds, rate_on(pruning, test), pruning.n_nodes]


def _with_share(samples: Samples, seed: int) -> list[float]:
    """(A), (B), path certificate and test error of REP, test error on the path, nodes."""
    tree, grown, held, test = samples
    pruning = reduced_error(tree, grown, held)
    member, on_path = best_on_path(tree, grown, held)
    errors = [rate_on(one, test) for one in (pruning, on_path)]
    return [*penalised(tree, grown, held, pruning, (seed, seed)), member.value, *errors, pruning.n_nodes]


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


def two_phase_sheets(results: dict[str, Result]) -> list[Sheet]:
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


def draw_two_phase(results: dict[str, Result], folder: Path) -> None:
    """Draw bound and test error against the factor, and against the share for pruning."""
    with drawing(folder / "factor-and-proportion.png", (1, 2), (11, 4.4), fontsize=7, ncols=2) as axes:
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
