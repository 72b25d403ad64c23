"""What the study of Rademacher penalties says in words: the factor c, the choice of k, labels, and proportions.

Kaariainen, Malinen and Elomaa (2004), sections 3.1, 4, 6.2 and 7. Sections 3.1 and 7 only propose.
"""

from pathlib import Path

import numpy as np

from .. import datasets
from ..certifiers import draw_signs, least_bound, path, rademacher, rademacher_over_k, signed_extremes
from ..data.table import Table
from ..growers import grow
from ..nouns import Counts, Pruning, Tree
from ..pruners import cost_complexity, k_limit, k_reduced_error, reduced_error
from ..routing import count
from ._bounds import DRAWS, FACTOR, rate_on
from ._figures import CYCLE, canvas, save, tidied
from ._samples import seeds
from ._sheets import Sheet, mean
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


def two_phase(config: Config, table: Table, delta: float, n_splits: int) -> Result:
    """Return bounds and errors by factor, by share for pruning, and penalties by labelling, one row per split."""
    runs = []
    for i in range(n_splits):
        seed = seeds(config, 7, i)
        samples = _samples(config, table, 1 / 3, i)
        tree, grown, held, test = samples
        ks = sorted({k_limit(grown, factor=c) for c in FACTORS})
        best = rademacher_over_k(tree, grown, held, ks=ks, delta=delta, form="printed", rng=seed)
        pruning = k_reduced_error(tree, grown, held, k=best.details["k"])
        one = {
            "factor": [_with_factor(samples, c, delta, seed) for c in FACTORS],
            "chosen": [best.details["k"] / max(ks[0], 1), best.details["unclipped"], rate_on(pruning, test)],
            "share": [_with_share(_samples(config, table, share, i), delta, seed) for share in SHARES],
            "penalty": _penalties(tree, grown, held, k_limit(grown, factor=FACTOR), seed),
        }
        runs.append(one)
    return {"rows": table.n_rows, **collected(runs)}


def _samples(config: Config, table: Table, share: float, i: int) -> Samples:
    test, growing, pruning = datasets.split(table, 0.1, 0.9 * (1 - share), 0.9 * share, seed=seeds(config, 1, i))
    tree, grown = grow(growing, criterion="gain_ratio")
    return tree, grown, count(tree, pruning), count(tree, test, sample="test")


def _with_factor(samples: Samples, c: float, delta: float, seed: int) -> list[float]:
    """(A), (B), test error and nodes of k-REP with k = c times the growing errors."""
    tree, grown, held, test = samples
    pruning = k_reduced_error(tree, grown, held, factor=c)
    return [
        *_both_forms(samples, pruning, delta, seed, k_limit(grown, factor=c)),
        rate_on(pruning, test),
        pruning.n_nodes,
    ]


def _with_share(samples: Samples, delta: float, seed: int) -> list[float]:
    """(A), (B), path certificate and test error of REP, test error on the path, nodes."""
    tree, grown, held, test = samples
    pruning, family = reduced_error(tree, grown, held), cost_complexity(tree, grown)
    member = least_bound(path(family, held, delta=delta))
    errors = [rate_on(one, test) for one in (pruning, family[member.details["member"]])]
    return [*_both_forms(samples, pruning, delta, seed), member.value, *errors, pruning.n_nodes]


def _both_forms(samples: Samples, pruning: Pruning, delta: float, seed: int, k: int | None = None) -> list[float]:
    """The bounds (A) and (B) on a pruning."""
    found = (
        rademacher(*samples[:3], k=k, delta=delta, draws=draws, form=form, rng=seed, pruning=pruning)
        for form, draws in (("printed", 1), ("centred", DRAWS))
    )
    return [bound.details["unclipped"] for bound in found]


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
    by_factor = tuple(
        (name, c, *_means(one["factor"], j)) for name, one in results.items() for j, c in enumerate(FACTORS)
    )
    at = FACTORS.index(FACTOR)
    chosen = tuple(
        (name, mean([row[0] for row in one["chosen"]]), mean([row[1] for row in one["chosen"]]),
         _means(one["factor"], at)[0], min(_means(one["factor"], j)[0] for j in range(len(FACTORS))),
         mean([row[2] for row in one["chosen"]]), _means(one["factor"], at)[2])
        for name, one in results.items()
    )  # fmt: skip
    penalties = tuple((name, *np.mean(one["penalty"], axis=0).tolist()) for name, one in results.items())
    by_share = tuple(
        (name, f"{100 * share:.0f} %", *_means(one["share"], j))
        for name, one in results.items()
        for j, share in enumerate(SHARES)
    )
    return [
        Sheet("factor", "k-REP by factor c: bounds, test error, nodes",
              ("set", "c", "(A)", "(B)", "test error", "nodes"), by_factor, decimals=3),
        Sheet("choice", "The factor chosen by the least bound (A), delta shared by all factors",
              ("set", "c chosen", "(A) chosen", f"(A) at {FACTOR}", "least (A), choice unpaid (invalid)",
               "test error, chosen", f"test error at {FACTOR}"), chosen, decimals=3),
        Sheet("labellings", f"Penalty of all prunings, and within k = {FACTOR} times the growing errors, by labelling",
              ("set", *(f"{name}, {what}" for name in LABELLINGS for what in ("all", "within k"))), penalties,
              decimals=4),
        Sheet("proportion", "Bounds and errors by share of the rows kept for pruning",
              ("set", "to prune", "(A) REP", "(B) REP", "path", "test error, REP", "test error, path", "nodes, REP"),
              by_share, decimals=3),
    ]  # fmt: skip


def draw_two_phase(results: dict[str, Result], folder: Path) -> None:
    """Draw bound and test error against the factor, and against the share for pruning."""
    figure, axes = canvas(1, 2, (11, 4.4))
    for ax, key, xs, bound, error in ((axes[0, 0], "factor", FACTORS, 0, 2), (axes[0, 1], "share", SHARES, 0, 3)):
        for (name, one), colour in zip(results.items(), (*CYCLE, "k"), strict=False):
            for column, style, what in ((bound, "o-", "(A)"), (error, "o:", "test")):
                values = [_means(one[key], j)[column] for j in range(len(xs))]
                ax.plot(xs, values, style, ms=3, color=colour, label=f"{name}, {what}")
        ax.set(ylabel="error", ylim=(0, None), xlabel="factor c" if key == "factor" else "share of the rows to prune")
        ax.set_title("k-REP" if key == "factor" else "REP")
        tidied(ax)
    axes[0, 0].set_xscale("log")
    axes[0, 1].legend(frameon=False, fontsize=7, ncols=2)
    save(figure, folder / "factor-and-proportion.png")


def _means(splits: list[list[list[float]]], at: int) -> list[float]:
    return [mean(column) for column in zip(*(split[at] for split in splits), strict=True)]
